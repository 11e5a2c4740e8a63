/* SPDX-License-Identifier: Apache-2.0 */
/* What would become of a job that is not submitted yet. */
#include <jansson.h>

#include "base/test/check.h"
#include "serve/api.h"
#include "serve/test/serve_stage.h"

static json_t *ask_again(struct serve_stage *stage, const char *job, unsigned status)
{
    const struct api_request request = {
        .method = "GET",
        .path = "/v1/estimate",
        .arguments = { { "job", job } },
        .argument_count = 1,
        .authorised = true,
        .read_only = true,
    };
    struct api_reply reply;

    api_answer(&stage->world, &request, &reply);
    assert_int_equal(reply.status, status);

    json_t *answer = json_loads(reply.body, JSON_REJECT_DUPLICATES, NULL);

    assert_non_null(answer);
    free(reply.body);
    return answer;
}

/* The same, as if nobody had asked before. */
static json_t *ask(struct serve_stage *stage, const char *job, unsigned status)
{
    stage->world.estimate_from = 0;
    return ask_again(stage, job, status);
}

static const char *text_of(const json_t *answer, const char *key)
{
    return json_string_value(json_object_get(answer, key));
}

static int64_t number_of(const json_t *answer, const char *key)
{
    assert_true(json_is_integer(json_object_get(answer, key)));
    return json_integer_value(json_object_get(answer, key));
}

static bool says(const json_t *answer, const char *part)
{
    const json_t *lines = json_object_get(answer, "text");
    const json_t *line;
    size_t i;

    json_array_foreach(lines, i, line)
    {
        if (strstr(json_string_value(line), part) != NULL)
            return true;
    }
    return false;
}

TEST(a_job_is_told_when_where_and_at_what_cost_it_would_start)
{
    struct serve_stage stage;

    stage_init(&stage);

    json_t *answer = ask(&stage, "cpus=6 mem_mib=1024 limit_s=3600", 200);
    const json_t *where = json_array_get(json_object_get(answer, "where"), 0);

    assert_string_equal(text_of(answer, "verdict"), "starts");
    assert_true(json_is_null(json_object_get(answer, "wait")));
    assert_int_equal(number_of(answer, "starts_at"), stage.now + 60000);
    assert_string_equal(text_of(where, "offer"), "b.large, on-demand");
    assert_true(json_is_null(json_object_get(where, "machine")));
    assert_int_equal(number_of(answer, "cost_microdollars"), 720000);
    assert_int_equal(number_of(answer, "limit_cost_microdollars"), 720000);
    assert_string_equal(text_of(json_object_get(answer, "estimate"), "source"), "limit");
    assert_true(says(answer, "It would start in about 60 s, on a new machine, b.large"));
    assert_true(says(answer, "time limit of 1:00:00"));
    json_decref(answer);
    stage_done(&stage);
}

TEST(what_would_be_cheaper_is_told_with_its_price)
{
    struct serve_stage stage;

    stage_init(&stage);

    /* Five CPUs need b.large; four would do on a.large, which is spot and no advice by itself. */
    json_t *answer = ask(&stage, "cpus=5 mem_mib=1024 limit_s=3600", 200);

    assert_int_equal(json_array_size(json_object_get(answer, "cheaper")), 0);
    json_decref(answer);
    stage_add_offer(&stage, "c.large", 4, MARKET_ON_DEMAND, 400000);
    controller_catalogue_changed(stage.controller);
    answer = ask(&stage, "cpus=5 mem_mib=1024 limit_s=3600", 200);

    const json_t *cheaper = json_array_get(json_object_get(answer, "cheaper"), 0);

    assert_int_equal(json_array_size(json_object_get(answer, "cheaper")), 1);
    assert_non_null(strstr(text_of(cheaper, "change"), "4 CPUs and 1024 MiB"));
    assert_int_equal(number_of(cheaper, "cost_microdollars"), 360000);
    json_decref(answer);
    stage_done(&stage);
}

TEST(a_question_changes_nothing)
{
    struct serve_stage stage;

    stage_init(&stage);

    const struct view *view = controller_view(stage.controller);
    const uint32_t tasks = view->task.living;
    const uint32_t machines = view->instance.living;
    const uint64_t rented = stage.rented;
    const uint64_t key = controller_next_key(stage.controller);
    const uint32_t shapes = stage.shapes.count;

    json_decref(ask(&stage, "cpus=6 limit_s=60 node_count=2", 200));
    assert_int_equal(view->task.living, tasks);
    assert_int_equal(view->instance.living, machines);
    assert_int_equal(stage.rented, rented);
    assert_int_equal(controller_next_key(stage.controller), key);
    assert_int_equal(stage.shapes.count, shapes);
    view_check(view);
    stage_done(&stage);
}

TEST(a_job_that_would_wait_is_told_for_what_and_until_when_at_the_least)
{
    struct serve_stage stage;

    stage_init(&stage);
    stage.control.max_instances = 3; /* as many as there are */
    stage.world.max_instances = 3;
    controller_tune(stage.controller, &stage.control);

    json_t *answer = ask(&stage, "cpus=4 limit_s=3600", 200);

    assert_string_equal(text_of(answer, "verdict"), "waits");
    assert_true(json_is_null(json_object_get(answer, "starts_at")));
    assert_true(number_of(answer, "not_before") > stage.now);
    assert_true(
        says(answer, "It would wait: jobs before it in the queue wait for the same limits"));
    assert_string_equal(text_of(json_object_get(answer, "wait"), "rule"), "limit");
    assert_non_null(strstr(text_of(json_object_get(answer, "wait"), "why"), "would delay them"));
    assert_true(says(answer, "at the earliest"));
    json_decref(answer);
    stage_done(&stage);
}

TEST(what_can_never_run_makes_no_sense_or_comes_too_often_is_told_so)
{
    struct serve_stage stage;

    stage_init(&stage);

    json_t *answer = ask(&stage, "cpus=64", 200);

    assert_string_equal(text_of(answer, "verdict"), "never");
    assert_true(says(answer, "It would never run: no machine of the catalogue holds it."));
    json_decref(answer);
    json_decref(ask(&stage, "cpus=?", 400));
    stage.world.ready = false;
    json_decref(ask(&stage, "cpus=1", 409));
    stage.world.ready = true;
    stage.world.estimate_from = stage.now + 5000;
    json_decref(ask_again(&stage, "cpus=1", 409));
    stage.now += 5000;
    json_decref(ask_again(&stage, "cpus=1", 200));
    stage.world.imagine = NULL;
    json_decref(ask(&stage, "cpus=1", 409));
    stage_done(&stage);
}

CHECK_MAIN(RUN(a_job_is_told_when_where_and_at_what_cost_it_would_start),
           RUN(what_would_be_cheaper_is_told_with_its_price), RUN(a_question_changes_nothing),
           RUN(a_job_that_would_wait_is_told_for_what_and_until_when_at_the_least),
           RUN(what_can_never_run_makes_no_sense_or_comes_too_often_is_told_so))
