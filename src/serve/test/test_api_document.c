/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The examples of docs/reference/api.md have the fields that the answers have, no more and no fewer. The
 * build tells where they stand by the environment variable STINT_FORMATS.
 */
#include <jansson.h>

#include "base/test/check.h"
#include "serve/api.h"
#include "serve/test/serve_stage.h"

enum { DOCUMENT_MAX = 1 << 17 };

static char document[DOCUMENT_MAX];

static void read_document(void)
{
    static const char *const pages[] = { "api.md", "api-state.md", "api-decisions.md",
                                         "api-spending.md", "metrics.md" };
    const char *folder = getenv("STINT_FORMATS");
    size_t used = 0;

    if (folder == NULL)
        skip();
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        char path[4096];

        snprintf(path, sizeof(path), "%s/%s", folder, pages[i]);

        FILE *file = fopen(path, "r");

        assert_non_null(file);
        used += fread(document + used, 1, sizeof(document) - 1 - used, file);
        fclose(file);
    }
    document[used] = '\0';
}

/* The n-th example below the heading, as JSON. */
static json_t *example_of(const char *heading, int number)
{
    const char *at = strstr(document, heading);
    json_t *json = NULL;

    assert_non_null(at);
    for (int i = 0; i <= number; i++) {
        at = strstr(at, "```json\n");
        assert_non_null(at);
        at += strlen("```json\n");
    }

    const char *end = strstr(at, "```");

    assert_non_null(end);
    json = json_loadb(at, (size_t)(end - at), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(json);
    return json;
}

static json_t *answer_to(struct serve_stage *stage, const char *path, const char *key,
                         const char *value)
{
    struct api_request request = { .method = "GET", .path = path, .authorised = true };
    struct api_reply reply;

    if (key != NULL) {
        request.arguments[0] = (struct api_argument){ .key = key, .value = value };
        request.argument_count = 1;
    }
    api_answer(&stage->world, &request, &reply);
    assert_int_equal(reply.status, 200);

    json_t *json = json_loads(reply.body, 0, NULL);

    free(reply.body);
    assert_non_null(json);
    return json;
}

static void one_cap(void *context, void (*each)(void *to, const struct serve_cap *cap), void *to)
{
    static const struct serve_cap cap = {
        .owner = "account physics",
        .max_instances = 4,
        .max_price_per_hour = 400000,
        .budgets = { { .period = "day", .limit = 10 }, { .period = "month", .limit = 20 } },
    };

    (void)context;
    each(to, &cap);
}

/* What only some deployments have: budgets, limits of accounts, and findings that were counted. */
static void stage_init_full(struct serve_stage *stage)
{
    static const struct serve_finding_tally tally = {
        .kind = "limit", .severity = "warning", .now = 1, .appeared = 2
    };

    stage_init(stage);
    stage->world.budgets[0] = (struct serve_budget){ .period = "day", .limit = 10, .spent = 4 };
    stage->world.budget_count = 1;
    stage->world.each_cap = one_cap;
    stage->world.has_caps = true;
    stage->world.tallies = &tally;
    stage->world.tally_count = 1;
}

/* Both have the same fields at every depth; of lists, the first items are compared. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the document's examples */
static void check_fields(const json_t *example, json_t *answer, const char *where)
{
    const char *key = NULL;
    json_t *value = NULL;

    if (json_is_array(example) && json_is_array(answer)) {
        if (json_array_size(example) > 0 && json_array_size(answer) > 0)
            check_fields(json_array_get(example, 0), json_array_get(answer, 0), where);
        return;
    }
    if (!json_is_object(example) || !json_is_object(answer))
        return;
    json_object_foreach(answer, key, value)
    {
        const json_t *told = json_object_get(example, key);

        if (told == NULL)
            fail_msg("%s: the document does not tell of '%s'", where, key);
        else
            check_fields(told, value, key);
    }
    if (json_object_size(example) != json_object_size(answer))
        fail_msg("%s: the document tells of fields that are not there", where);
}

static void check(struct serve_stage *stage, const char *heading, int number, const char *path,
                  const char *key, const char *value)
{
    json_t *example = example_of(heading, number);
    json_t *answer = answer_to(stage, path, key, value);

    check_fields(example, answer, path);
    json_decref(example);
    json_decref(answer);
}

TEST(every_example_has_the_fields_of_its_answer)
{
    struct serve_stage stage;

    read_document();
    stage_init_full(&stage);
    check(&stage, "## GET /v1/status", 0, "/v1/status", NULL, NULL);
    check(&stage, "## GET /v1/jobs", 0, "/v1/jobs", NULL, NULL);
    check(&stage, "## GET /v1/instances", 0, "/v1/instances", NULL, NULL);
    check(&stage, "## GET /v1/offers", 0, "/v1/offers", NULL, NULL);
    check(&stage, "## GET /v1/plan", 0, "/v1/plan", NULL, NULL);
    check(&stage, "## GET /v1/explain", 0, "/v1/explain", "job", "12_1");
    check(&stage, "## GET /v1/explain", 0, "/v1/explain", "job", "40");
    check(&stage, "## GET /v1/explain", 1, "/v1/explain", "instance", "st-1");
    check(&stage, "## GET /v1/explain", 1, "/v1/explain", "instance", "st-900");
    check(&stage, "## GET /v1/ledger", 0, "/v1/ledger", NULL, NULL);
    check(&stage, "## GET /v1/history", 0, "/v1/history", NULL, NULL);
    check(&stage, "## GET /v1/doctor", 0, "/v1/doctor", NULL, NULL);
    check(&stage, "## GET /v1/proposals", 0, "/v1/proposals", NULL, NULL);
    stage_done(&stage);
}

TEST(every_metric_is_in_the_document_and_every_one_there_is_served)
{
    struct serve_stage stage;
    struct api_request request = { .method = "GET", .path = "/metrics", .authorised = true };
    struct api_reply reply;
    char name[128];
    uint32_t served = 0;
    uint32_t told = 0;

    read_document();
    stage_init_full(&stage);
    api_answer(&stage.world, &request, &reply);
    for (const char *at = strstr(reply.body, "# TYPE "); at != NULL; at = strstr(at, "# TYPE ")) {
        at += strlen("# TYPE ");
        snprintf(name, sizeof(name), "\n| `%.*s` |", (int)strcspn(at, " "), at);
        if (strstr(document, name) == NULL)
            fail_msg("the document does not tell of %s", name);
        served++;
    }
    for (const char *at = strstr(document, "\n| `stint_"); at != NULL;
         at = strstr(at + 1, "\n| `stint_"))
        told++;
    assert_int_equal(served, told);
    free(reply.body);
    stage_done(&stage);
}

CHECK_MAIN(RUN(every_example_has_the_fields_of_its_answer),
           RUN(every_metric_is_in_the_document_and_every_one_there_is_served))
