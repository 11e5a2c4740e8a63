/* SPDX-License-Identifier: Apache-2.0 */
/* Why a job waits, in its admin comment: when that is written, how often, and whose comment is left alone. */
#include "engine/slurm/test/engine_world.h"

#define WAITS   "user=ann name=a state=pending run=0 hold=gate " ASKS
#define RUNS    "user=ann name=a state=running run=0 nodes=st-7 start=1794717000 " ASKS
#define FULL_12 "comment=Stint:%20full:%2012 "

static const char *reason; /* of every job; NULL: none; "": it is not known */
static uint32_t questions;

static int explain(void *context, uint64_t task, char *buf, size_t size)
{
    const struct world *world = context;
    char label[SLURM_LABEL_SIZE];

    questions++;
    if (reason == NULL)
        return 0;
    if (*reason == '\0')
        return -1;
    (void)slurm_engine_label(world->engine, task, label, sizeof(label));
    return snprintf(buf, size, "%s: %s", reason, label);
}

static int describe(void *context, uint64_t instance, char *buf, size_t size)
{
    (void)context;
    (void)instance;
    return snprintf(buf, size, "m5.large");
}

static void meet_as(struct world *world, bool observes)
{
    begin(world);
    slurm_engine_destroy(world->engine);
    struct slurm_engine_config config = config_of(world);

    config.explain = explain;
    config.describe = describe;
    config.observes = observes;
    begin_with(world, &config);
    connect_it(world);
    sent(world, "hello protocol=1\n");
    reason = "full";
    questions = 0;
}

static void after(struct world *world, msec_t ms)
{
    world->now += ms;
    tick(world);
}

TEST(a_job_that_waits_is_given_its_reason_once)
{
    struct world world;

    meet_as(&world, false);
    line(&world, "job id=12 " WAITS);
    assert_true(slurm_engine_next_wake(world.engine) == EPOCH + 2000);
    after(&world, 1999);
    sent(&world, "");
    after(&world, 1);
    sent(&world, "explain key=1 job=12 text=Stint:%20full:%2012\n");
    line(&world, "done key=1");
    for (int i = 0; i < 20; i++)
        after(&world, 1000);
    sent(&world, "");
    line(&world, "job id=12 " FULL_12 WAITS); /* as Slurm tells it back */
    for (int i = 0; i < 20; i++)
        after(&world, 1000);
    sent(&world, "");
    finish(&world);
}

TEST(a_reason_that_changes_is_written_but_not_too_often)
{
    struct world world;

    meet_as(&world, false);
    line(&world, "job id=12 " FULL_12 WAITS); /* a daemon before us wrote that */
    after(&world, 2000);
    sent(&world, "");
    reason = "boots";
    after(&world, 1000);
    sent(&world, "explain key=1 job=12 text=Stint:%20boots:%2012\n");
    line(&world, "done key=1");
    reason = "full";
    after(&world, 4999);
    sent(&world, "");
    after(&world, 1000);
    sent(&world, "explain key=2 job=12 text=Stint:%20full:%2012\n");
    line(&world, "done key=2");
    reason = "";
    after(&world, 6000);
    sent(&world, "");
    reason = NULL;
    after(&world, 1000);
    sent(&world, "explain key=3 job=12\n");
    finish(&world);
}

TEST(what_slurm_did_not_take_is_seen_in_the_next_line)
{
    struct world world;

    meet_as(&world, false);
    line(&world, "job id=12 " WAITS);
    after(&world, 2000);
    sent(&world, "explain key=1 job=12 text=Stint:%20full:%2012\n");
    line(&world, "done key=1");
    after(&world, 6000);
    sent(&world, "");
    line(&world, "job id=12 " WAITS);
    after(&world, 1000);
    sent(&world, "explain key=2 job=12 text=Stint:%20full:%2012\n");
    line(&world, "unsure key=2 code=5004 text=gone");
    line(&world, "controller state=lost");
    after(&world, 6000);
    sent(&world, "");
    line(&world, "controller state=back");
    after(&world, 1000);
    sent(&world, "explain key=3 job=12 text=Stint:%20full:%2012\n");
    finish(&world);
}

TEST(a_comment_of_the_site_is_never_changed)
{
    struct world world;

    meet_as(&world, false);
    line(&world, "job id=12 comment=stinted%20by%20hand " WAITS);
    after(&world, 10000);
    sent(&world, "");
    assert_int_equal(questions, 0);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7\n");
    line(&world, "done key=1");
    line(&world, "job id=12 comment=stinted%20by%20hand " RUNS);
    slurm_engine_cost(world.engine, slurm_engine_find(world.engine, "12"), 1000, "m5.large");
    after(&world, 10000);
    sent(&world, "");
    finish(&world);
}

TEST(what_is_placed_says_where_and_not_why_it_waited)
{
    struct world world;

    meet_as(&world, false);
    line(&world, "job id=12 " FULL_12 WAITS);
    place(&world, 5, "12", 7);
    sent(&world, "place key=1 job=12 run=0 nodes=st-7 text=stint:%20m5.large\n");
    line(&world, "done key=1");
    after(&world, 10000);
    sent(&world, "");
    line(&world, "job id=12 comment=stint:%20m5.large " RUNS);
    after(&world, 10000);
    sent(&world, "");
    line(&world, "requeued job=12 run=1");
    line(&world, "job id=12 comment=stint:%20m5.large user=ann name=a state=pending run=1 "
                 "hold=gate " ASKS);
    after(&world, 2000);
    assert_non_null(strstr(world.sent, "job=12 text=Stint:%20full:%2012\n"));
    finish(&world);
}

TEST(one_that_runs_or_is_held_says_nothing_any_more)
{
    struct world world;

    meet_as(&world, false);
    line(&world, "job id=12 " FULL_12 RUNS);
    line(&world, "job id=13 comment=Stint:%20full:%2013 user=ann name=a state=pending run=0 "
                 "hold=user " ASKS);
    line(&world, "job id=14 comment=stint:%20held%20after%205 user=ann name=a state=pending run=0 "
                 "hold=user " ASKS); /* it was given up: that stays */
    after(&world, 2000);
    sent(&world, "explain key=1 job=13\nexplain key=2 job=12\n");
    line(&world, "done key=1");
    line(&world, "done key=2");
    after(&world, 10000);
    sent(&world, "");
    finish(&world);
}

TEST(an_array_has_the_reason_of_its_first_task_that_waits)
{
    struct world world;

    meet_as(&world, false);
    line(&world, "job id=12 array=12 tasks=0-999 " WAITS);
    line(&world, "job id=13 array=12 task=0 " WAITS); /* it has a record of its own */
    after(&world, 2000);
    sent(&world, "explain key=1 job=13 text=Stint:%20full:%2012_0\n"
                 "explain key=2 job=12 text=Stint:%20full:%2012_1\n");
    line(&world, "done key=1");
    line(&world, "done key=2");
    for (int i = 0; i < 10; i++)
        after(&world, 1000);
    sent(&world, "");
    assert_true(questions < 64);
    finish(&world);
}

TEST(many_are_written_a_few_at_a_time_and_the_latest_first)
{
    struct world world;
    char text[512];
    uint32_t key = 0;

    meet_as(&world, false);
    for (int i = 0; i < 10000; i++) {
        (void)snprintf(text, sizeof(text), "job id=%d %s", 100 + i, WAITS);
        line(&world, text);
    }
    after(&world, 2000);
    for (int step = 0; step < 3; step++) {
        char *at = world.sent;

        for (int i = 0; i < 8; i++) {
            (void)snprintf(text, sizeof(text), "explain key=%u job=%d ", key + 1, 10099 - (int)key);
            assert_memory_equal(at, text, strlen(text));
            at = strchr(at, '\n') + 1;
            key++;
        }
        assert_string_equal(at, "");
        world.sent[0] = '\0';
        after(&world, 250); /* not before these are answered */
        sent(&world, "");
        for (uint32_t i = key - 7; i <= key; i++) {
            (void)snprintf(text, sizeof(text), "done key=%u", i);
            line(&world, text);
        }
        after(&world, 250);
    }
    finish(&world);
}

TEST(other_requests_go_first)
{
    struct world world;

    meet_as(&world, false);
    line(&world, "job id=12 " WAITS);
    line(&world, "job id=13 " WAITS);
    place(&world, 5, "13", 7);
    sent(&world, "place key=1 job=13 run=0 nodes=st-7 text=stint:%20m5.large\n");
    after(&world, 2000);
    sent(&world, "");
    line(&world, "done key=1");
    after(&world, 250);
    sent(&world, "explain key=2 job=12 text=Stint:%20full:%2012\n");
    finish(&world);
}

TEST(who_only_watches_writes_nothing_and_nobody_waits_for_nothing)
{
    struct world world;

    meet_as(&world, true);
    line(&world, "job id=12 " WAITS);
    after(&world, 10000);
    sent(&world, "");
    assert_int_equal(questions, 0);
    finish(&world);

    meet_as(&world, false);
    line(&world, "job id=12 " WAITS);
    line(&world, "job-gone job=12");
    after(&world, 2000);
    sent(&world, "");
    assert_true(slurm_engine_next_wake(world.engine) == MSEC_NEVER);
    finish(&world);
}

CHECK_MAIN(RUN(a_job_that_waits_is_given_its_reason_once),
           RUN(a_reason_that_changes_is_written_but_not_too_often),
           RUN(what_slurm_did_not_take_is_seen_in_the_next_line),
           RUN(a_comment_of_the_site_is_never_changed),
           RUN(what_is_placed_says_where_and_not_why_it_waited),
           RUN(one_that_runs_or_is_held_says_nothing_any_more),
           RUN(an_array_has_the_reason_of_its_first_task_that_waits),
           RUN(many_are_written_a_few_at_a_time_and_the_latest_first), RUN(other_requests_go_first),
           RUN(who_only_watches_writes_nothing_and_nobody_waits_for_nothing))
