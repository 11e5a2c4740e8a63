/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every view of the page: it is whole, hostile names are text in it, and its numbers are the API's.
 */
#include "serve/page.h"

#include <inttypes.h>
#include <jansson.h>

#include "base/test/check.h"
#include "serve/history.h"
#include "serve/test/serve_stage.h"

#define HOSTILE "</td><script>alert('\"&amp;\xFF\x01\xE2\x80\xAE"

static char *answer(struct serve_stage *stage, const char *path, const char *key, const char *value,
                    unsigned *ret_status)
{
    struct api_request request = { .method = "GET", .path = path, .authorised = true };
    struct api_reply reply;

    if (key != NULL)
        request.arguments[request.argument_count++] = (struct api_argument){ key, value };
    api_answer(&stage->world, &request, &reply);
    assert_non_null(reply.body);
    assert_int_equal(strlen(reply.body), reply.size);
    *ret_status = reply.status;
    return reply.body;
}

static char *page(struct serve_stage *stage, const char *path, const char *key, const char *value)
{
    unsigned status = 0;
    char *body = answer(stage, path, key, value, &status);

    assert_int_equal(status, 200);
    return body;
}

/* The number in <data class="NAME" value="...">; fails if there is none. */
static int64_t number_of(const char *html, const char *name)
{
    char mark[64];

    snprintf(mark, sizeof(mark), "<data class=\"%s\" value=\"", name);

    const char *at = strstr(html, mark);

    if (at == NULL)
        fail_msg("no %s", name);
    return strtoll(at + strlen(mark), NULL, 10);
}

/* Whether every element is closed by its own name, as far as our pages go: void elements are known, and
 * no bare '<' or '&' stands in text. */
static bool is_well_formed(const char *html)
{
    static const char *const empty[] = { "!DOCTYPE", "meta", "link", "input", "br" };
    const char *open[64];
    size_t sizes[64];
    uint32_t depth = 0;

    for (html = strpbrk(html, "<&"); html != NULL; html = strpbrk(html + 1, "<&")) {
        const char *end = strchr(html, *html == '&' ? ';' : '>');
        const char *name = html + (html[1] == '/' ? 2 : 1);
        const size_t size = strcspn(name, " />");
        bool is_empty = end != NULL && end[-1] == '/';

        if (end == NULL || (*html == '&' && end - html > 6))
            return false;
        if (*html == '&')
            continue;
        for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++)
            is_empty = is_empty || (strlen(empty[i]) == size && memcmp(name, empty[i], size) == 0);
        if (html[1] == '/') {
            if (depth == 0 || sizes[depth - 1] != size || memcmp(open[depth - 1], name, size) != 0)
                return false;
            depth--;
        } else if (!is_empty) {
            if (depth == 64)
                return false;
            open[depth] = name;
            sizes[depth++] = size;
        }
    }
    return depth == 0;
}

static const struct {
    const char *path;
    const char *key;
    const char *value;
} views[] = {
    { "/", NULL, NULL },
    { "/time", NULL, NULL },
    { "/time", "hours", "1" },
    { "/jobs", NULL, NULL },
    { "/jobs", "user", HOSTILE },
    { "/job/12_1", NULL, NULL },
    { "/job/20", NULL, NULL },
    { "/job/30", NULL, NULL },
    { "/job/9", NULL, NULL },
    { "/machine/st-1", NULL, NULL },
    { "/machine/st-900", NULL, NULL },
    { "/find", "q", "st-1" },
    { "/find", "q", "12_1" },
    { "/ledger", NULL, NULL },
    { "/ledger", "by", "job" },
    { "/ledger", "by", "day" },
    { "/ledger", "name", HOSTILE },
    { "/doctor", NULL, NULL },
};

enum { VIEWS = sizeof(views) / sizeof(views[0]) };

static void add_hostile(struct serve_stage *stage)
{
    store_begin(stage->store);
    store_due(stage->store, &(struct store_due){ .task = 990,
                                                 .label = HOSTILE,
                                                 .name = HOSTILE,
                                                 .user = HOSTILE,
                                                 .cost = 7,
                                                 .ended_at = STAGE_T0 - 500 });
    store_intent_open(stage->store, &(struct store_intent){ .key = 990,
                                                            .kind = STORE_PLACE,
                                                            .task = 990,
                                                            .instance = 900,
                                                            .at = STAGE_T0 - 90000 });
    store_intent_close(stage->store, 990, STAGE_T0 - 80000, STORE_DONE);
    assert_int_equal(store_commit(stage->store, NULL), 0);
    stage_arrive(stage, (struct job_spec){ .id = 601, .first_task_id = 601, .task_count = 1 },
                 HOSTILE, HOSTILE, 1);
    stage->world.cluster = HOSTILE;
}

TEST(every_view_is_whole_and_has_no_markup_of_others)
{
    struct serve_stage stage;

    stage_init(&stage);
    add_hostile(&stage);
    for (int i = 0; i < VIEWS; i++) {
        char *html = page(&stage, views[i].path, views[i].key, views[i].value);

        if (!is_well_formed(html) || strstr(html, "<script>") != NULL ||
            strstr(html, "alert('") != NULL || strstr(html, "\x01") != NULL ||
            strstr(html, "\xE2\x80\xAE") != NULL || strstr(html, "style=") != NULL ||
            strstr(html, "onload") != NULL || strstr(html, "//") != strstr(html, "//www.w3.org"))
            fail_msg("%s: %s", views[i].path, html);
        free(html);
    }
    stage_done(&stage);
}

TEST(hostile_names_are_shown)
{
    struct serve_stage stage;

    stage_init(&stage);
    add_hostile(&stage);

    char *ledger = page(&stage, "/ledger", "by", "job");
    char *machine = page(&stage, "/machine/st-900", NULL, NULL);
    char *now = page(&stage, "/", NULL, NULL);

    assert_non_null(strstr(ledger, "&lt;/td&gt;&lt;script&gt;alert(&#39;&quot;&amp;amp;"));
    assert_non_null(strstr(machine, "&lt;/td&gt;&lt;script&gt;alert(&#39;&quot;&amp;amp;"));
    assert_non_null(strstr(now, "&lt;/td&gt;&lt;script&gt;alert(&#39;&quot;&amp;amp;"));
    free(ledger);
    free(machine);
    free(now);
    stage_done(&stage);
}

TEST(the_csv_has_no_formula_and_no_control_character)
{
    struct serve_stage stage;

    stage_init(&stage);
    store_begin(stage.store);
    store_due(stage.store, &(struct store_due){ .task = 991,
                                                .label = "=1+1",
                                                .name = "a,\"b\x1B",
                                                .user = "+x",
                                                .cost = 7,
                                                .ended_at = STAGE_T0 });
    assert_int_equal(store_commit(stage.store, NULL), 0);

    char *csv = page(&stage, "/ledger.csv", "by", "job");

    assert_memory_equal(csv, "job,user,job_name,cost_usd,alone_usd,ms,count\n", 46);
    assert_non_null(strstr(csv, "\n'=1+1,'+x,\"a,\"\"b\xEF\xBF\xBD\",0.000007,0.000000,0,1\n"));
    assert_non_null(strstr(csv, "\n9,ada,done,0.050000,0.200000,69000,1\n"));
    free(csv);
    stage_done(&stage);
}

TEST(the_numbers_are_those_of_the_api)
{
    struct serve_stage stage;

    stage_init(&stage);

    char *now = page(&stage, "/", NULL, NULL);
    char *ledger = page(&stage, "/ledger", NULL, NULL);
    char *text = page(&stage, "/v1/status", NULL, NULL);
    json_t *status = json_loads(text, 0, NULL);

#define OF_STATUS(key) json_integer_value(json_object_get(status, key))
    assert_int_equal(number_of(now, "per-hour"), OF_STATUS("cost_microdollars_per_hour"));
    assert_int_equal(number_of(now, "per-hour"), 360000);
    assert_int_equal(number_of(now, "bill"), OF_STATUS("bill_microdollars"));
    assert_int_equal(number_of(ledger, "bill"), OF_STATUS("bill_microdollars"));
    assert_int_equal(number_of(now, "savings"), OF_STATUS("savings_microdollars"));
    assert_int_equal(number_of(ledger, "savings"), OF_STATUS("savings_microdollars"));
    assert_int_equal(number_of(now, "alone"), OF_STATUS("alone_microdollars"));
#undef OF_STATUS
    json_decref(status);
    free(text);
    free(ledger);
    free(now);
    stage_done(&stage);
}

TEST(what_is_not_there_is_a_page_that_says_so)
{
    struct serve_stage stage;
    unsigned status = 0;

    stage_init(&stage);

    char *job = answer(&stage, "/job/<b>", NULL, NULL, &status);

    assert_int_equal(status, 404);
    assert_non_null(strstr(job, "no job &#39;&lt;b&gt;&#39; is known"));
    assert_true(is_well_formed(job));
    free(job);

    char *by = answer(&stage, "/ledger", "by", "moon", &status);

    assert_int_equal(status, 400);
    free(by);
    stage_done(&stage);
}

TEST(links_are_relative_to_wherever_the_page_stands)
{
    struct serve_stage stage;

    stage_init(&stage);

    char *now = page(&stage, "/", NULL, NULL);
    char *job = page(&stage, "/job/12_1", NULL, NULL);

    assert_non_null(strstr(now, "href=\"page.css\""));
    assert_non_null(strstr(job, "href=\"../page.css\""));
    assert_non_null(strstr(job, "href=\"../machine/st-1\""));
    assert_null(strstr(now, "href=\"/"));
    assert_null(strstr(job, "href=\"/"));
    free(now);
    free(job);
    stage_done(&stage);
}

TEST(spending_is_split_by_time_and_adds_up)
{
    struct serve_stage stage;
    struct history history;
    struct api_reply reply;
    const struct api_request request = { .path = "/" };
    money_t spent = 0;
    double sum = 0;

    stage_init(&stage);

    const struct api_call call = { .world = &stage.world,
                                   .view = controller_view(stage.controller),
                                   .now = stage.now,
                                   .request = &request,
                                   .reply = &reply };

    /* Half of the closed bill, which is $0.06 for the 99 s before the last one, and what st-1 owes. */
    assert_int_equal(history_spent(&call, STAGE_T0 - 50500, &spent, NULL), 0);

    const money_t owed = api_bill_now(&call, view_find_instance(call.view, 1));

    assert_true(owed > 0);
    assert_int_equal(spent, 30000 + owed);
    assert_int_equal(history_read(&call, STAGE_T0 - 50500, &history, NULL), 0);
    assert_int_equal(history.machines, 2);
    assert_int_equal(history.spent[MARKET_SPOT], spent);
    for (int i = 0; i < HISTORY_STEPS; i++)
        sum += history.steps[i].spent[MARKET_SPOT];
    assert_true(sum > (double)spent * 0.99 && sum < (double)spent * 1.01);
    stage_done(&stage);
}

TEST(days_and_months_are_those_of_utc)
{
    msec_t from = 0;
    msec_t until = 0;

    history_day(STAGE_T0, &from, &until);
    assert_int_equal(from, 1794700800000);
    assert_int_equal(until, 1794787200000);
    history_month(STAGE_T0, &from, &until);
    assert_int_equal(from, 1793491200000);
    assert_int_equal(until, 1796083200000);
}

CHECK_MAIN(RUN(every_view_is_whole_and_has_no_markup_of_others), RUN(hostile_names_are_shown),
           RUN(the_csv_has_no_formula_and_no_control_character),
           RUN(the_numbers_are_those_of_the_api), RUN(what_is_not_there_is_a_page_that_says_so),
           RUN(links_are_relative_to_wherever_the_page_stands),
           RUN(spending_is_split_by_time_and_adds_up), RUN(days_and_months_are_those_of_utc))
