/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each path of docs/reference/api.md, and what hostile requests get.
 */
#include "serve/api.h"

#include <inttypes.h>

#include <jansson.h>

#include "base/test/check.h"
#include "serve/api_private.h"
#include "serve/test/serve_stage.h"
#include "serve/wait_line.h"

struct answer {
    unsigned status;
    json_t *json; /* NULL: the body is no JSON */
    char allow[16];
    char text[65536];
};

/* "GET /v1/jobs?limit=3", which is cut into pieces. */
static struct api_request parse(char *line)
{
    struct api_request request = { .method = strsep(&line, " ") };

    request.path = strsep(&line, "?");
    while (line != NULL) {
        char *pair = strsep(&line, "&");
        const char *key = strsep(&pair, "=");

        if (request.argument_count < API_ARGUMENTS_MAX)
            request.arguments[request.argument_count] =
                (struct api_argument){ .key = key, .value = pair != NULL ? pair : "" };
        request.argument_count++;
    }
    return request;
}

static void ask_as(struct serve_stage *stage, const char *line, bool authorised, bool near,
                   struct answer *ret)
{
    char *copy = strdup(line);
    struct api_request request = parse(copy);
    struct api_reply reply;

    request.authorised = authorised;
    request.near = near;
    api_answer(&stage->world, &request, &reply);
    assert_non_null(reply.body);
    assert_non_null(reply.content_type);
    assert_int_equal(strlen(reply.body), reply.size);
    *ret = (struct answer){ .status = reply.status,
                            .json = json_loads(reply.body, JSON_REJECT_DUPLICATES, NULL) };
    snprintf(ret->text, sizeof(ret->text), "%s", reply.body);
    snprintf(ret->allow, sizeof(ret->allow), "%s", reply.allow != NULL ? reply.allow : "");
    if (strcmp(reply.content_type, "application/json") == 0)
        assert_non_null(ret->json);
    free(reply.body);
    free(copy);
}

/* The value at "jobs.0.user", as text; numbers in digits. Only the last ten answers stay. */
static const char *at(const struct answer *answer, const char *path)
{
    static char rooms[10][4096];
    static int next;
    char *room = rooms[next++ % 10];
    char *copy = strdup(path);
    char *rest = copy;
    const json_t *value = answer->json;

    while (rest != NULL && value != NULL) {
        const char *word = strsep(&rest, ".");

        if (json_is_array(value))
            value = json_array_get(value, strtoul(word, NULL, 10));
        else
            value = json_object_get(value, word);
    }
    free(copy);
    if (value == NULL)
        return "(none)";
    if (json_is_string(value))
        return json_string_value(value);

    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));

    snprintf(room, 4096, "%s", text);
    free(text);
    return room;
}

static void ask(struct serve_stage *stage, const char *line, struct answer *ret)
{
    ask_as(stage, line, true, true, ret);
}

/* Ask and expect an error of that status; how it begins. */
static void refuse(struct serve_stage *stage, const char *line, unsigned status, const char *text)
{
    struct answer answer;

    ask(stage, line, &answer);
    assert_int_equal(answer.status, status);
    assert_memory_equal(at(&answer, "error"), text, strlen(text));
    json_decref(answer.json);
}

TEST(status_tells_mode_links_counts_and_money)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/status", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "mode"), "act");
    assert_string_equal(at(&answer, "links.0.name"), "slurm");
    assert_string_equal(at(&answer, "links.1.up"), "true");
    assert_string_equal(at(&answer, "jobs.living"), "4");
    assert_string_equal(at(&answer, "tasks"), "{\"waiting\":2,\"bound\":2,\"running\":1}");
    assert_string_equal(at(&answer, "instances.ready"), "1");
    assert_string_equal(at(&answer, "instances.requested"), "2");
    assert_string_equal(at(&answer, "cost_microdollars_per_hour"), "360000");
    assert_string_equal(at(&answer, "bound.tasks"), "3");
    assert_string_equal(at(&answer, "bound.cost_microdollars_per_hour"), "1080000");
    assert_string_equal(at(&answer, "bound.bound_microdollars_per_hour"), "899999");
    assert_string_equal(at(&answer, "bound.gap"), "0.200001");
    assert_string_equal(at(&answer, "bill_microdollars"), "60000");
    /* 200000 less the bill, of which the running task owes 4100, less the second of three machines that has begun;
     * these books lack the account of its machine. */
    assert_string_equal(at(&answer, "committed_microdollars"), "300");
    assert_string_equal(at(&answer, "savings_microdollars"), "143800");
    assert_string_equal(at(&answer, "savings_baseline"), "one machine per task");
    assert_string_equal(at(&answer, "launch_failures.refused"), "1");
    assert_string_equal(at(&answer, "evictions.notice"), "2");
    assert_string_equal(at(&answer, "decision_ms_last"), "1");
    assert_string_equal(at(&answer, "open_intents"), "1");
    assert_string_equal(at(&answer, "proposals"), "2");
    assert_string_equal(at(&answer, "findings"), "2");
    assert_string_equal(at(&answer, "audit.age_ms"), "102000");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(jobs_are_listed_with_state_place_and_cost)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/jobs", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "total"), "4");
    assert_string_equal(at(&answer, "jobs.0.job"), "12_1");
    assert_string_equal(at(&answer, "jobs.0.user"), "ada");
    assert_string_equal(at(&answer, "jobs.0.name"), "fit");
    assert_string_equal(at(&answer, "jobs.0.state"), "running");
    assert_string_equal(at(&answer, "jobs.0.cpu_milli"), "2000");
    assert_string_equal(at(&answer, "jobs.0.instances"), "[\"st-1\"]");
    assert_string_equal(at(&answer, "jobs.1.job"), "20");
    assert_string_equal(at(&answer, "jobs.1.gang"), "true");
    assert_string_equal(at(&answer, "jobs.1.state"), "bound");
    assert_string_equal(at(&answer, "jobs.2.state"), "waiting");
    assert_string_equal(at(&answer, "jobs.2.cpu_milli"), "64000");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(jobs_can_be_chosen_by_user_and_state_and_cut)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/jobs?user=bob&state=waiting", &answer);
    assert_string_equal(at(&answer, "total"), "1");
    assert_string_equal(at(&answer, "jobs.0.job"), "30");
    json_decref(answer.json);
    ask(&stage, "GET /v1/jobs?limit=1", &answer);
    assert_string_equal(at(&answer, "total"), "4");
    assert_string_equal(at(&answer, "jobs.1"), "(none)");
    json_decref(answer.json);
    ask(&stage, "GET /v1/jobs?user=nobody", &answer);
    assert_string_equal(at(&answer, "jobs"), "[]");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(instances_are_listed_with_price_tasks_and_bill)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/instances", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "total"), "3");
    assert_string_equal(at(&answer, "instances.0.instance"), "st-1");
    assert_string_equal(at(&answer, "instances.0.type"), "a.large");
    assert_string_equal(at(&answer, "instances.0.zone"), "z1");
    assert_string_equal(at(&answer, "instances.0.market"), "spot");
    assert_string_equal(at(&answer, "instances.0.state"), "ready");
    assert_string_equal(at(&answer, "instances.0.tasks"), "[\"12_1\"]");
    assert_string_equal(at(&answer, "instances.0.used.cpu_milli"), "2000");
    assert_string_equal(at(&answer, "instances.0.capacity.cpu_milli"), "4000");
    /* 71 s at $0.36 an hour */
    assert_string_equal(at(&answer, "instances.0.bill_microdollars"), "7100");
    assert_string_equal(at(&answer, "instances.0.empty_since"), "null");
    assert_string_equal(at(&answer, "instances.1.state"), "requested");
    assert_string_equal(at(&answer, "instances.1.billed_since"), "null");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(the_last_plan_is_shown_in_words)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/plan", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "kind"), "plain");
    assert_string_equal(at(&answer, "full"), "null");
    assert_string_equal(at(&answer, "decision_us"), "1500");
    assert_string_equal(at(&answer, "rent_count"), "2");
    assert_string_equal(at(&answer, "rents.0.offer"), "a.large in z1, spot");
    assert_string_equal(at(&answer, "rents.0.count"), "2");
    assert_string_equal(at(&answer, "place_count"), "2");
    assert_string_equal(at(&answer, "places.0.task"), "20.0");
    assert_string_equal(at(&answer, "places.0.job"), "20");
    assert_string_equal(at(&answer, "places.0.user"), "bob");
    assert_string_equal(at(&answer, "places.0.fresh"), "true");
    assert_string_equal(at(&answer, "places.0.where"), "a.large in z1, spot");
    assert_string_equal(at(&answer, "places.0.why"), plan_reason_text(REASON_CHEAPEST_ALONE));
    assert_string_equal(at(&answer, "releases"), "[]");
    assert_string_equal(at(&answer, "wait_count"), "2");
    assert_string_equal(at(&answer, "waits.0.task"), "30");
    assert_string_equal(at(&answer, "waits.0.rule"), "no-offer");
    assert_string_equal(at(&answer, "waits.0.why"), plan_wait_text(WAIT_NO_OFFER));
    assert_string_equal(at(&answer, "waits.0.for"), "null");
    assert_string_equal(at(&answer, "waits.1.task"), "40");
    assert_string_equal(at(&answer, "waits.1.rule"), "undecided");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(a_plan_with_a_limit_has_shorter_lists_and_the_same_counts)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/plan?limit=1", &answer);
    assert_int_equal(answer.status, 200);
    assert_int_equal(json_array_size(json_object_get(answer.json, "places")), 1);
    assert_int_equal(json_array_size(json_object_get(answer.json, "waits")), 1);
    assert_string_equal(at(&answer, "place_count"), "2");
    assert_string_equal(at(&answer, "wait_count"), "2");
    json_decref(answer.json);
    ask(&stage, "GET /v1/plan?limit=0", &answer);
    assert_int_equal(answer.status, 400);
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(a_wait_by_choice_says_for_what_how_long_and_at_which_price)
{
    struct serve_stage stage;
    char text[1024];

    stage_init(&stage);

    const struct view *view = controller_view(stage.controller);
    struct plan_wait wait = plan_wait_by(WAIT_ROOM, 0);

    wait.offer = 0;
    wait.rent_offer = 1;
    wait.rent_cost = 34000;
    wait.wait_cost = 0;
    wait.until = view->now + 130 * MSEC_PER_SEC;
    serve_wait_text(&stage.world, view, &wait, 1, text, sizeof(text));
    assert_string_equal(
        text,
        "up to 2 min 10 s for capacity on st-1, free before a new machine would be ready; renting"
        " b.large, on-demand for it alone now would cost $0.034000, and waiting is free");
    wait.rule = WAIT_OFFER;
    wait.wait_cost = 8500;
    serve_wait_text(&stage.world, view, &wait, 0, text, sizeof(text));
    assert_string_equal(
        text,
        "up to 2 min 10 s for a.large in z1, spot, refused before and requested again soon; "
        "renting b.large, on-demand for it alone now would cost $0.034000, waiting $0.008500");
    wait = plan_wait_by(WAIT_PAID_ROOM, 0); /* nothing can be rented */
    wait.offer = 0;
    serve_wait_text(&stage.world, view, &wait, 1, text, sizeof(text));
    assert_string_equal(text, "for capacity on st-1, within time that is paid for anyway");
    wait = plan_wait_by(WAIT_WORTH, 0); /* both are per hour */
    wait.rent_offer = 1;
    wait.rent_cost = 34000;
    wait.wait_cost = 21000;
    serve_wait_text(&stage.world, view, &wait, 0, text, sizeof(text));
    assert_string_equal(
        text,
        "for a cheaper place: b.large, on-demand costs $0.034000 per hour now, and the job is worth $0.021000 per hour, which grows while it waits");
    wait = plan_wait_by(WAIT_YIELDED, 0);
    serve_wait_text(&stage.world, view, &wait, 0, text, sizeof(text));
    assert_string_equal(text, "it was stopped for other work");
    stage_done(&stage);
}

TEST(in_shadow_mode_machines_are_those_of_the_forecast)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    stage.world.mode = "shadow";
    ask(&stage, "GET /v1/explain?job=12_1", &answer);
    assert_non_null(strstr(at(&answer, "text.0"), "only in Stint's forecast"));
    assert_non_null(strstr(at(&answer, "text.1"), "is running in the forecast"));
    json_decref(answer.json);
    ask(&stage, "GET /v1/explain?instance=st-1", &answer);
    assert_non_null(strstr(at(&answer, "text.0"), "only in Stint's forecast"));
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(a_running_job_is_explained_by_its_reason_and_price)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/explain?job=12_1", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "state"), "running");
    assert_string_equal(at(&answer, "waits"), "[]");
    assert_string_equal(at(&answer, "tasks.0.instance"), "st-1");
    assert_string_equal(at(&answer, "reasons.0.where"), "st-1");
    assert_string_equal(at(&answer, "reasons.0.passed_over"), "b.large, on-demand");
    assert_string_equal(at(&answer, "reasons.0.passed_over_microdollars_per_hour"), "720000");
    assert_string_equal(at(&answer, "cheapest.offer"), "a.large in z1, spot");
    assert_string_equal(at(&answer, "alone_cost_microdollars"), "60000");
    assert_string_equal(
        at(&answer, "text.1"),
        "It was put on st-1 because: the cheapest machine for this task alone. "
        "It costs $0.360000 per hour; b.large, on-demand would cost $0.720000 for the same tasks.");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(every_kind_of_waiting_has_its_word)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/explain?job=30", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "no-offer");
    assert_string_equal(at(&answer, "cheapest"), "null");
    assert_string_equal(at(&answer, "expected_cost_microdollars"), "null");
    json_decref(answer.json);
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "undecided");
    assert_string_equal(at(&answer, "expected_cost_microdollars"), "60000");
    json_decref(answer.json);
    ask(&stage, "GET /v1/explain?job=20", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "booting");
    assert_string_not_equal(at(&answer, "waits.0.until"), "null");
    json_decref(answer.json);
    ask(&stage, "GET /v1/explain?job=20.1", &answer);
    assert_string_equal(at(&answer, "waits.1.why"), "begins");
    json_decref(answer.json);
    ask(&stage, "GET /v1/explain?job=50", &answer);
    assert_string_equal(at(&answer, "state"), "held");
    assert_string_equal(at(&answer, "waits.0.why"), "held");
    json_decref(answer.json);
    stage.world.draining = true;
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "draining");
    json_decref(answer.json);
    stage_done(&stage);
}

/* The limits are those of the daemon's configuration: both the controller and the API know them. */
static void limit(struct serve_stage *stage, uint32_t instances, money_t per_hour)
{
    stage->control.max_instances = stage->world.max_instances = instances;
    stage->control.max_price_per_hour = stage->world.max_price_per_hour = per_hour;
    controller_tune(stage->controller, &stage->control);
    stage_decide(stage);
}

TEST(a_limit_that_took_its_machine_is_a_reason_to_wait)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    limit(&stage, 3, 0);
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "limit");
    assert_string_equal(at(&answer, "waits.0.text"), "limit instances: 3 of 3 machines are rented");
    json_decref(answer.json);
    limit(&stage, 4, 0);
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "booting");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(a_price_limit_is_a_reason_to_wait)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    limit(&stage, 0, 1439999);
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "limit");
    assert_string_equal(
        at(&answer, "waits.0.text"),
        "limit dollars_per_hour: the machines cost $1.080000 of $1.439999, and its own would "
        "exceed that");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(machines_that_do_not_become_ready_are_a_reason_to_wait)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    stage.control.boot_timeout_ms = 1;
    controller_tune(stage.controller, &stage.control);
    while (controller_failed_boots(stage.controller) == 0) {
        stage.now += 2 * MSEC_PER_HOUR;
        stage_decide(&stage);
    }
    ask(&stage, "GET /v1/explain?job=20", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "no-boot");
    assert_non_null(strstr(at(&answer, "waits.0.text"), "machines never became ready"));
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(before_a_machine_has_proven_itself_no_failure_is_claimed)
{
    struct serve_stage stage;
    char text[SERVE_TEXT];

    stage_init(&stage);
    assert_int_equal(controller_failed_boots(stage.controller), 0);
    api_limit_text(&(struct api_call){ .world = &stage.world }, LIMIT_PROBE, text, sizeof(text));
    assert_string_equal(
        text,
        "no machine has become ready and done work since Stint started: Stint rents only a few "
        "until one has");
    stage_done(&stage);
}

/* What is said of the market of a job with these rules. */
static void check_market(struct job_rules rules, const char *now, const char *text)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    shapes_bind(&stage.shapes, &stage.catalogue);
    stage_arrive(
        &stage,
        (struct job_spec){ .id = 501, .first_task_id = 501, .task_count = 1, .rules = rules },
        "ada", "ruled", 1);
    stage_decide(&stage);
    ask(&stage, "GET /v1/explain?job=50", &answer);
    assert_string_equal(at(&answer, "market.now"), now);
    if (strstr(at(&answer, "text.1"), text) == NULL)
        fail_msg("%s", at(&answer, "text.1"));
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(rules_for_markets_are_explained)
{
    const msec_t hour = MSEC_PER_HOUR;

    check_market((struct job_rules){ .market = MARKET_RULE_SPOT }, "spot",
                 "Its market: spot machines only.");
    check_market((struct job_rules){ .market = MARKET_RULE_SAFE }, "on-demand",
                 "Its market: on-demand machines only.");
    check_market((struct job_rules){ .market = MARKET_RULE_SPOT, .spot_for_ms = 1200000 }, "spot",
                 "Its market: spot only until 06:21:42 UTC, then on demand.");
    check_market((struct job_rules){ .deadline = STAGE_T0 + 4 * hour }, "any",
                 "Its market: deadline 10:00:00 UTC: only on-demand machines from 09:49:00 UTC.");
    check_market((struct job_rules){ .deadline = STAGE_T0 }, "on-demand",
                 "Its market: deadline 06:00:00 UTC: only on-demand machines from 05:49:00 UTC.");
}

/* Job 40 gets its machine, which will not start it. */
TEST(a_start_that_is_tried_again_is_a_reason_to_wait)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    stage_decide(&stage);
    controller_on_cloud(stage.controller, &(struct cloud_event){ .kind = CLOUD_RUNNING,
                                                                 .at = stage.now,
                                                                 .instance = stage.rented,
                                                                 .billed_from = stage.now });
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.text"), "machine st-5 boots, expected 06:02:43 UTC");
    json_decref(answer.json);
    controller_on_engine(stage.controller, &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                                   .at = stage.now,
                                                                   .instance = stage.rented });
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "launching");
    json_decref(answer.json);
    controller_on_engine(stage.controller, &(struct engine_event){ .kind = ENGINE_TASK_LOST,
                                                                   .at = stage.now,
                                                                   .task = 401,
                                                                   .key = stage.place_key });
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "back-off");
    assert_string_equal(at(&answer, "waits.0.text"),
                        "its last start failed (1 in a row); the next try is at 06:01:48 UTC");
    json_decref(answer.json);
    stage_done(&stage);
}

static void check_line(struct serve_stage *stage, const char *job, const char *expected)
{
    char text[80];
    const int length =
        serve_wait_line(&stage->world, stage_find(stage, job), stage->now, text, sizeof(text));

    assert_string_equal(length > 0 ? text : "", expected);
    assert_int_equal(length, strlen(expected));
}

/* A reason with figures that move. */
static size_t spent(void *context, uint64_t task, struct serve_wait *ret, size_t most)
{
    (void)context;
    (void)task;
    assert_int_equal(most, 1);
    *ret = (struct serve_wait){ .why = "owner-budget" };
    snprintf(ret->text, sizeof(ret->text), "the budget of account bio is spent: $3 of $2 today");
    return 1;
}

TEST(why_a_job_waits_fits_into_a_line_that_does_not_move)
{
    struct serve_stage stage;
    char text[80];

    stage_init(&stage);
    check_line(&stage, "30", "no machine type is large enough");
    check_line(&stage, "40", "the next decision places it");
    check_line(&stage, "12_1", "");
    check_line(&stage, "20.1", "its time has not come");
    assert_true(serve_wait_line(&stage.world, 77, stage.now, text, sizeof(text)) < 0);
    stage.world.ready = false;
    assert_true(serve_wait_line(&stage.world, 401, stage.now, text, sizeof(text)) < 0);
    stage.world.ready = true;
    limit(&stage, 3, 0);
    check_line(&stage, "40", "limit instances is reached");
    limit(&stage, 0, 1439999);
    check_line(&stage, "40", "limit dollars_per_hour is reached");
    limit(&stage, 0, 0);
    controller_on_cloud(stage.controller, &(struct cloud_event){ .kind = CLOUD_RUNNING,
                                                                 .at = stage.now,
                                                                 .instance = stage.rented,
                                                                 .billed_from = stage.now });
    check_line(&stage, "40", "waits for st-5, which boots (expected 06:02:45 UTC)");
    controller_on_engine(stage.controller, &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                                   .at = stage.now,
                                                                   .instance = stage.rented });
    check_line(&stage, "40", "waits for its start on st-5");
    controller_on_engine(stage.controller, &(struct engine_event){ .kind = ENGINE_TASK_LOST,
                                                                   .at = stage.now,
                                                                   .task = 401,
                                                                   .key = stage.place_key });
    check_line(&stage, "40", "its last start failed; the next try is at 06:01:50 UTC");
    stage.world.waits = spent;
    check_line(&stage, "40", "the budget of account bio is spent");
    stage_done(&stage);
}

TEST(a_refused_offer_is_told_if_it_would_be_taken_before_others)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    stage.refusals[0] =
        (struct cloud_refusal){ .at = stage.now - 11000, .until = stage.now + 19000, .times = 2 };
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "undecided");
    assert_string_equal(at(&answer, "waits.1.why"), "refused");
    assert_string_equal(
        at(&answer, "waits.1.text"),
        "a.large in z1, spot: refused by the cloud at 06:01:31 UTC, no request before 06:02:01 "
        "UTC (refused 2 times)");
    assert_string_equal(at(&answer, "waits.2"), "(none)");
    json_decref(answer.json);

    /* The dearer one does not matter as long as the other is to be had. */
    stage.refusals[1] = stage.refusals[0];
    stage.refusals[0].times = 0;
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "undecided");
    assert_string_equal(at(&answer, "waits.1"), "(none)");
    json_decref(answer.json);

    stage.refusals[0] = (struct cloud_refusal){
        .at = stage.now, .until = stage.now + 30000, .times = 1, .is_quota = true
    };
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "offer-blocked");
    assert_string_equal(
        at(&answer, "waits.1.text"),
        "a.large in z1, spot: its quota was refused by the cloud at 06:01:42 UTC, no request "
        "before 06:02:12 UTC (refused 1 time)");
    assert_string_equal(at(&answer, "waits.2.why"), "refused");
    json_decref(answer.json);

    stage.refusals[0].is_placeless = true;
    ask(&stage, "GET /v1/explain?job=40", &answer);
    assert_string_equal(at(&answer, "waits.1.text"),
                        "a.large in z1, spot: 'subnets' of the configuration has no entry for its "
                        "zone");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(refused_offers_are_a_reason_to_wait)
{
    struct serve_stage stage;
    struct answer answer;
    struct cloud_event refused = { .kind = CLOUD_REFUSED };

    stage_init(&stage);
    refused.at = stage.now;
    for (refused.instance = stage.rented - 1; refused.instance <= stage.rented; refused.instance++)
        controller_on_cloud(stage.controller, &refused);
    stage_decide(&stage);
    refused.at = stage.now;
    for (uint64_t id = 1; id <= stage.rented; id++) {
        refused.instance = id;
        if (id != 1)
            controller_on_cloud(stage.controller, &refused);
    }
    ask(&stage, "GET /v1/explain?job=20", &answer);
    assert_string_equal(at(&answer, "waits.0.why"), "offer-blocked");
    assert_string_not_equal(at(&answer, "waits.0.until"), "null");
    assert_string_equal(at(&answer, "waits.2.text"),
                        "a.large in z1, spot: refused or late, no request before 06:02:42 UTC");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(an_ended_job_is_explained_from_the_books)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/explain?job=9", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "state"), "ended");
    assert_string_equal(at(&answer, "cost_microdollars"), "50000");
    assert_string_equal(at(&answer, "text.0"),
                        "Job 9 (done, of ada) has ended. It held machines for 69 s and cost "
                        "$0.050000; alone on its cheapest machine it would have cost $0.200000.");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(history_has_the_bound_of_each_step_as_far_as_it_is_known)
{
    struct serve_stage stage;
    struct answer answer;
    char line[64];

    stage_init(&stage);
    stage.now += 2 * MSEC_PER_HOUR;
    store_begin(stage.world.store);
    store_bound(stage.world.store,
                &(struct store_bound){ .at = stage.now - 1800000, .cost = 150, .least = 100 });
    store_bound(stage.world.store,
                &(struct store_bound){ .at = stage.now - 1200000, .cost = 250, .least = 200 });
    assert_int_equal(store_commit(stage.world.store, NULL), 0);

    /* A step is a minute; a bound counts for 15 of them, or until the next. */
    (void)snprintf(line, sizeof(line), "GET /v1/history?since=%" PRId64, stage.now - 96 * 60000);
    ask(&stage, line, &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "steps.65.bound_microdollars_per_hour"), "null");
    assert_string_equal(at(&answer, "steps.66.bound_microdollars_per_hour"), "100");
    assert_string_equal(at(&answer, "steps.75.bound_microdollars_per_hour"), "100");
    assert_string_equal(at(&answer, "steps.76.bound_microdollars_per_hour"), "200");
    assert_string_equal(at(&answer, "steps.90.bound_microdollars_per_hour"), "200");
    assert_string_equal(at(&answer, "steps.91.bound_microdollars_per_hour"), "null");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(instances_are_explained_living_and_gone)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/explain?instance=st-1", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "offer"), "a.large in z1, spot");
    assert_string_equal(at(&answer, "kept"), "1 task is there");
    assert_string_equal(at(&answer, "tasks.0.task"), "12_1");
    json_decref(answer.json);
    ask(&stage, "GET /v1/explain?instance=st-900", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "state"), "gone");
    assert_string_equal(at(&answer, "bill_microdollars"), "60000");
    assert_string_equal(at(&answer, "rented_because.0.why"), plan_reason_text(REASON_BEST_SCORE));
    json_decref(answer.json);
    refuse(&stage, "GET /v1/explain?instance=st-77", 404, "no instance 'st-77'");
    refuse(&stage, "GET /v1/explain?instance=st-0", 404, "no instance");
    refuse(&stage, "GET /v1/explain?instance=st-1x", 404, "no instance");
    refuse(&stage, "GET /v1/explain?instance=st-99999999999999999999999", 404, "no instance");
    refuse(&stage, "GET /v1/explain?job=nine", 404, "no job 'nine'");
    refuse(&stage, "GET /v1/explain", 400, "one of job and instance");
    refuse(&stage, "GET /v1/explain?job=1&instance=2", 400, "one of job and instance");
    stage_done(&stage);
}

TEST(the_ledger_adds_up_in_every_view)
{
    static const char *const by[] = { "user", "job", "type", "day" };
    struct serve_stage stage;
    struct answer answer;
    char line[64];

    stage_init(&stage);
    for (int i = 0; i < 4; i++) {
        json_int_t sum = 0;
        size_t index = 0;
        const json_t *row = NULL;

        snprintf(line, sizeof(line), "GET /v1/ledger?by=%s", by[i]);
        ask(&stage, line, &answer);
        assert_int_equal(answer.status, 200);
        assert_string_equal(at(&answer, "by"), by[i]);
        json_array_foreach(json_object_get(answer.json, "rows"), index, row)
        {
            sum += json_integer_value(json_object_get(row, "cost_microdollars"));
            assert_int_equal(json_is_null(json_object_get(row, "alone_cost_microdollars")), i >= 2);
        }
        assert_int_equal(sum, 60000);
        assert_string_equal(at(&answer, "total.bill_microdollars"), "60000");
        assert_string_equal(at(&answer, "complete"), "true");
        json_decref(answer.json);
    }
    ask(&stage, "GET /v1/ledger", &answer);
    assert_string_equal(at(&answer, "rows.0.name"), "ada");
    assert_string_equal(at(&answer, "rows.1.name"), "(idle and boot)");
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(doctor_and_proposals_are_shown_whatever_their_bytes)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /v1/doctor", &answer);
    assert_string_equal(at(&answer, "findings.0.kind"), "unholdable");
    assert_string_equal(at(&answer, "findings.0.text"), "nothing holds ? it");
    assert_string_equal(at(&answer, "resolved.0.kind"), "link-down");
    json_decref(answer.json);
    ask(&stage, "GET /v1/proposals", &answer);
    assert_string_equal(at(&answer, "proposals.1.id"), "32");
    assert_string_equal(at(&answer, "proposals.1.why"), "null");
    assert_string_equal(at(&answer, "proposals.0.why"), plan_reason_text(REASON_BEST_SCORE));
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(proposals_are_approved_one_by_one_or_all)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "POST /v1/proposals/32/approve", &answer);
    assert_string_equal(answer.text, "{\"changed\":1}");
    json_decref(answer.json);
    assert_true(stage.proposed[0]);
    assert_false(stage.proposed[1]);
    refuse(&stage, "POST /v1/proposals/32/reject", 404, "there is no proposal 32");
    ask(&stage, "POST /v1/proposals/all/reject", &answer);
    assert_string_equal(answer.text, "{\"changed\":1}");
    json_decref(answer.json);
    ask(&stage, "POST /v1/proposals/all/reject", &answer);
    assert_string_equal(answer.text, "{\"changed\":0}");
    json_decref(answer.json);
    refuse(&stage, "POST /v1/proposals/0/reject", 404, "no such path");
    refuse(&stage, "POST /v1/proposals/x/reject", 404, "no such path");
    refuse(&stage, "POST /v1/proposals//reject", 404, "no such path");
    refuse(&stage, "POST /v1/proposals/99999999999999999999999/reject", 404, "no such path");
    refuse(&stage, "POST /v1/proposals/1/rejectx", 404, "no such path");
    stage.world.answer_proposal = NULL;
    refuse(&stage, "POST /v1/proposals/all/reject", 409, "only mode advise has proposals");
    stage_done(&stage);
}

TEST(reload_and_drain_are_handed_on)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "POST /v1/reload", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(at(&answer, "text"), "limits changed");
    json_decref(answer.json);
    assert_int_equal(stage.reloads, 1);
    stage.bad_config = true;
    refuse(&stage, "POST /v1/reload", 409, "line 3");
    ask(&stage, "POST /v1/drain", &answer);
    json_decref(answer.json);
    assert_true(stage.drained);
    ask(&stage, "POST /v1/drain?off=1", &answer);
    json_decref(answer.json);
    assert_false(stage.drained);
    refuse(&stage, "POST /v1/drain?off=yes", 400, "off must be 1");
    stage_done(&stage);
}

TEST(hostile_requests_get_an_error_in_words)
{
    struct serve_stage stage;

    stage_init(&stage);
    refuse(&stage, "GET /v1", 404, "no such path");
    refuse(&stage, "GET /v1/status/", 404, "no such path");
    refuse(&stage, "GET /v1/../v1/status", 404, "no such path");
    refuse(&stage, "GET /v1/jobs?limit=0", 400, "limit must be");
    refuse(&stage, "GET /v1/jobs?limit=-1", 400, "limit must be");
    refuse(&stage, "GET /v1/jobs?limit=10001", 400, "limit must be");
    refuse(&stage, "GET /v1/jobs?limit=99999999999999999999999999", 400, "limit must be");
    refuse(&stage, "GET /v1/jobs?limit=", 400, "limit must be");
    refuse(&stage, "GET /v1/jobs?state=dead", 400, "state must be");
    refuse(&stage, "GET /v1/jobs?users=ada", 400, "unknown argument 'users'");
    refuse(&stage, "GET /v1/jobs?user=a&user=b", 400, "'user' is given twice");
    refuse(&stage, "GET /v1/ledger?by=password", 400, "by must be");
    refuse(&stage, "GET /v1/ledger?by=user'; DROP TABLE due; --", 400, "by must be");
    refuse(&stage, "GET /v1/explain?job=9' OR '1'='1", 404, "no job");
    refuse(&stage, "GET /v1/status?a&b&c&d&e&f&g&h&i&j&k&l&m&n&o&p&q", 400, "too many");
    refuse(&stage, "GET /v1/status?\xff\xfe", 400, "unknown argument");
    stage_done(&stage);
}

TEST(the_wrong_method_is_told_the_right_one)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "POST /v1/status", &answer);
    assert_int_equal(answer.status, 405);
    assert_string_equal(answer.allow, "GET");
    json_decref(answer.json);
    ask(&stage, "GET /v1/drain", &answer);
    assert_int_equal(answer.status, 405);
    assert_string_equal(answer.allow, "POST");
    json_decref(answer.json);
    assert_false(stage.drained);
    ask(&stage, "HEAD /v1/status", &answer);
    assert_int_equal(answer.status, 200);
    json_decref(answer.json);
    ask(&stage, "HEAD /v1/drain", &answer);
    assert_int_equal(answer.status, 405);
    json_decref(answer.json);
    assert_false(stage.drained);
    stage_done(&stage);
}

TEST(who_has_no_token_reads_metrics_and_health_from_near_only)
{
    static const char *const closed[] = {
        "GET /v1/status",        "GET /v1/jobs",
        "GET /v1/ledger",        "GET /nothing",
        "POST /v1/drain",        "POST /v1/reload",
        "GET /v1/explain?job=9", "POST /v1/proposals/all/approve",
    };
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++) {
        ask_as(&stage, closed[i], false, true, &answer);
        assert_int_equal(answer.status, 401);
        json_decref(answer.json);
    }
    assert_false(stage.drained);
    assert_true(stage.proposed[0]);
    ask_as(&stage, "GET /metrics", false, true, &answer);
    assert_int_equal(answer.status, 200);
    ask_as(&stage, "GET /healthz", false, true, &answer);
    assert_int_equal(answer.status, 200);
    ask_as(&stage, "GET /metrics", false, false, &answer);
    assert_int_equal(answer.status, 401);
    json_decref(answer.json);
    ask_as(&stage, "GET /healthz", false, false, &answer);
    assert_int_equal(answer.status, 401);
    json_decref(answer.json);
    stage_done(&stage);
}

TEST(health_says_what_is_missing)
{
    struct serve_stage stage;
    struct answer answer;

    stage_init(&stage);
    ask(&stage, "GET /healthz", &answer);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer.text, "ok\n");
    stage.now = STAGE_T0 + 210001;
    ask(&stage, "GET /healthz", &answer);
    assert_int_equal(answer.status, 503);
    assert_string_equal(answer.text, "audit late");
    stage.world.links[1].up = false;
    ask(&stage, "GET /healthz", &answer);
    assert_string_equal(answer.text, "link down: local");
    stage.world.ready = false;
    ask(&stage, "GET /healthz", &answer);
    assert_string_equal(answer.text, "starting");
    stage_done(&stage);
}

CHECK_MAIN(
    RUN(status_tells_mode_links_counts_and_money), RUN(jobs_are_listed_with_state_place_and_cost),
    RUN(jobs_can_be_chosen_by_user_and_state_and_cut),
    RUN(instances_are_listed_with_price_tasks_and_bill), RUN(the_last_plan_is_shown_in_words),
    RUN(a_plan_with_a_limit_has_shorter_lists_and_the_same_counts),
    RUN(in_shadow_mode_machines_are_those_of_the_forecast),
    RUN(a_running_job_is_explained_by_its_reason_and_price),
    RUN(a_wait_by_choice_says_for_what_how_long_and_at_which_price),
    RUN(every_kind_of_waiting_has_its_word), RUN(a_limit_that_took_its_machine_is_a_reason_to_wait),
    RUN(machines_that_do_not_become_ready_are_a_reason_to_wait),
    RUN(before_a_machine_has_proven_itself_no_failure_is_claimed),
    RUN(a_price_limit_is_a_reason_to_wait), RUN(rules_for_markets_are_explained),
    RUN(a_start_that_is_tried_again_is_a_reason_to_wait),
    RUN(why_a_job_waits_fits_into_a_line_that_does_not_move),
    RUN(a_refused_offer_is_told_if_it_would_be_taken_before_others),
    RUN(refused_offers_are_a_reason_to_wait), RUN(an_ended_job_is_explained_from_the_books),
    RUN(history_has_the_bound_of_each_step_as_far_as_it_is_known),
    RUN(instances_are_explained_living_and_gone), RUN(the_ledger_adds_up_in_every_view),
    RUN(doctor_and_proposals_are_shown_whatever_their_bytes),
    RUN(proposals_are_approved_one_by_one_or_all), RUN(reload_and_drain_are_handed_on),
    RUN(hostile_requests_get_an_error_in_words), RUN(the_wrong_method_is_told_the_right_one),
    RUN(who_has_no_token_reads_metrics_and_health_from_near_only), RUN(health_says_what_is_missing))
