/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A real controller in the virtual world, with a mock of the real engine that writes down what it is
 * asked. A machine takes 10 s until it is billed, 5 s more until it is ready, and is billed for 2 s
 * after it was returned; a millisecond costs a micro-dollar, so that money and time are the same
 * number.
 */
#include "base/test/check.h"
#include "control/controller.h"
#include "daemon/shadow.h"

enum { EVENTS_MAX = 256 };

struct news {
    bool is_cloud;
    struct engine_event engine;
    struct cloud_event cloud;
};

struct stage {
    struct catalogue catalogue;
    struct shapes shapes;
    struct shadow *shadow;
    struct controller *controller;
    struct news news[EVENTS_MAX];
    uint32_t count;
    uint32_t lists; /* asked of the real engine */
    uint64_t list_key;
    uint32_t writes; /* anything else */
    uint32_t kinds[ENGINE_TASK_WITHDRAWN + 1];
    uint32_t cloud_kinds[CLOUD_LISTED + 1];
    money_t bill;
    money_t due;
    msec_t ended_at;
    msec_t now;
};

static void mock_write_one(void *self, uint64_t instance)
{
    (void)instance;
    ((struct stage *)self)->writes++;
}

static void mock_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    (void)key;
    (void)task;
    (void)instance;
    ((struct stage *)self)->writes++;
}

static void mock_stop(void *self, uint64_t key, uint64_t task)
{
    (void)key;
    (void)task;
    ((struct stage *)self)->writes++;
}

static void mock_list(void *self, uint64_t key)
{
    struct stage *stage = self;

    stage->lists++;
    stage->list_key = key;
}

static const struct engine_ops mock_engine = {
    .admit = mock_write_one,
    .retire = mock_write_one,
    .forget = mock_write_one,
    .place = mock_place,
    .queue = mock_stop,
    .stop = mock_stop,
    .list = mock_list,
};

static void on_engine(void *context, const struct engine_event *event)
{
    struct stage *stage = context;

    assert_true(stage->count < EVENTS_MAX);
    stage->news[stage->count++] = (struct news){ .engine = *event };
    stage->kinds[event->kind]++;
}

static void on_cloud(void *context, const struct cloud_event *event)
{
    struct stage *stage = context;

    assert_true(stage->count < EVENTS_MAX);
    stage->news[stage->count++] = (struct news){ .is_cloud = true, .cloud = *event };
    stage->cloud_kinds[event->kind]++;
}

static void on_settled(void *context, const struct view *view, uint32_t task, struct ledger_due due)
{
    struct stage *stage = context;

    (void)task;
    stage->due += due.cost;
    stage->ended_at = view->now;
}

static void on_bill(void *context, const struct view *view, uint32_t instance,
                    const struct ledger_bill *bill)
{
    struct stage *stage = context;

    (void)view;
    (void)instance;
    stage->bill += bill->sums.bill;
}

static struct controller *create_controller(struct stage *stage)
{
    return controller_create(&(struct controller_config){
        .policy = &policy_task_per_instance,
        .catalogue = &stage->catalogue,
        .shapes = &stage->shapes,
        .engine = shadow_engine_port(stage->shadow),
        .cloud = shadow_cloud_port(stage->shadow),
        .default_estimate_ms = MSEC_PER_HOUR,
        .default_rate = 1.0,
        .on_settled = on_settled,
        .on_bill = on_bill,
        .context = stage,
    });
}

static struct stage *begin_with(msec_t start_lag_max_ms, msec_t news_lag_ms)
{
    static struct stage stage;
    const struct machine_type type = {
        .capacity = { { 4000, 4096, 0 } },
        .acquire_ms = 10000,
        .setup_ms = 5000,
        .release_ms = 2000,
    };
    const struct price_change price = { .at = 0, .per_hour = MSEC_PER_HOUR };
    const struct offer offer = { .billing = { 1, 0 }, .price = { &price, 1 } };
    const struct shape_demand demand = { .family = FAMILY_NONE, .res = { { 1000, 1, 0 } } };

    stage = (struct stage){ 0 };
    catalogue_init(&stage.catalogue);
    (void)catalogue_add_type(&stage.catalogue, "small", "s", &type);
    (void)catalogue_add_offer(&stage.catalogue, NULL, &offer);
    shapes_init(&stage.shapes);
    (void)shapes_add(&stage.shapes,
                     &(struct shape_spec){
                         .name = "one", .workload = "one", .demands = &demand, .demand_count = 1 });
    stage.shadow = shadow_create(&(struct shadow_config){
        .engine = { .ops = &mock_engine, .self = &stage },
        .catalogue = &stage.catalogue,
        .start_lag_max_ms = start_lag_max_ms,
        .news_lag_ms = news_lag_ms,
        .on_engine = on_engine,
        .on_cloud = on_cloud,
        .context = &stage,
    });
    stage.controller = create_controller(&stage);
    return &stage;
}

static struct stage *begin(void)
{
    return begin_with(0, 0);
}

static void end(struct stage *stage)
{
    assert_int_equal(stage->writes, 0);
    controller_destroy(stage->controller);
    shadow_destroy(stage->shadow);
    shapes_done(&stage->shapes);
    catalogue_done(&stage->catalogue);
}

static void hear(struct stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++) {
        const struct news news = stage->news[i];

        if (news.is_cloud)
            controller_on_cloud(stage->controller, &news.cloud);
        else
            controller_on_engine(stage->controller, &news.engine);
    }
    stage->count = 0;
}

/* Let everything happen until 'until', deciding whenever there is news. */
static void run_until(struct stage *stage, msec_t until)
{
    for (;;) {
        const msec_t wake = shadow_next_wake(stage->shadow);

        if (wake > until && stage->count == 0)
            break;
        if (stage->count == 0 && wake > stage->now)
            stage->now = wake;
        shadow_tick(stage->shadow, stage->now);
        hear(stage);
        if (controller_wants_decision(stage->controller))
            controller_decide(stage->controller, stage->now);
    }
    stage->now = until;
    shadow_tick(stage->shadow, until);
}

static void arrive(struct stage *stage, msec_t at, uint64_t id)
{
    run_until(stage, at);
    shadow_heard(stage->shadow, &(struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                        .at = at,
                                                        .job = { .id = id,
                                                                 .first_task_id = id,
                                                                 .task_count = 1,
                                                                 .arrived_at = at,
                                                                 .estimate_ms = -1 } });
}

static void say(struct stage *stage, msec_t at, enum engine_event_kind kind, uint64_t task)
{
    run_until(stage, at);
    shadow_heard(stage->shadow,
                 &(struct engine_event){ .kind = kind, .at = at, .task = task, .started_at = at });
}

TEST(a_story_has_the_bill_that_it_would_have_had)
{
    struct stage *stage = begin();

    arrive(stage, 1000, 64);
    say(stage, 3000, ENGINE_TASK_STARTED, 64);
    say(stage, 33000, ENGINE_TASK_FINISHED, 64);
    run_until(stage, 100000);

    /* Asked for at 1 s, billed from 11 s, ready at 16 s, 30 s of work, returned at 46 s. */
    assert_int_equal(stage->ended_at, 46000);
    assert_int_equal(stage->bill, 48000 - 11000);
    assert_int_equal(stage->due, 30000);
    assert_true(controller_is_idle(stage->controller));
    end(stage);
}

TEST(the_real_engine_lags_and_so_does_the_virtual_one)
{
    struct stage *stage = begin_with(2000, 100);

    arrive(stage, 1000, 64);
    say(stage, 1700, ENGINE_TASK_STARTED, 64); /* 0.7 s: so long it takes as a rule */
    say(stage, 31700, ENGINE_TASK_FINISHED, 64);
    run_until(stage, 100000);

    /* Ready at 16 s, started at 16.7 s, ended at 46.7 s, which is heard 0.1 s later. */
    assert_int_equal(stage->ended_at, 46800);
    assert_int_equal(stage->bill, 48800 - 11000);
    end(stage);
}

TEST(a_real_wait_for_room_is_no_lag)
{
    struct stage *stage = begin_with(2000, 0);

    arrive(stage, 1000, 64);
    say(stage, 10000, ENGINE_TASK_STARTED, 64);
    say(stage, 40000, ENGINE_TASK_FINISHED, 64);
    run_until(stage, 100000);

    assert_int_equal(stage->ended_at, 16000 + 2000 + 30000);
    end(stage);
}

TEST(a_task_that_really_ends_later_ends_then)
{
    struct stage *stage = begin();

    arrive(stage, 1000, 64);
    say(stage, 50000, ENGINE_TASK_FOUND, 64);
    say(stage, 60000, ENGINE_TASK_FINISHED, 64);
    run_until(stage, 100000);

    assert_int_equal(stage->ended_at, 60000);
    assert_int_equal(stage->bill, 62000 - 11000);
    end(stage);
}

TEST(a_task_that_really_began_anew_counts_from_then)
{
    struct stage *stage = begin();

    arrive(stage, 1000, 64);
    say(stage, 3000, ENGINE_TASK_STARTED, 64);
    say(stage, 10000, ENGINE_TASK_LOST, 64);
    say(stage, 12000, ENGINE_TASK_STARTED, 64);
    say(stage, 16000, ENGINE_TASK_FINISHED, 64);
    run_until(stage, 100000);

    assert_int_equal(stage->ended_at, 16000 + 4000);
    end(stage);
}

TEST(a_job_that_is_cancelled_before_it_runs_costs_only_its_machine)
{
    struct stage *stage = begin();

    arrive(stage, 1000, 64);
    say(stage, 12000, ENGINE_TASK_FINISHED, 64);
    run_until(stage, 100000);

    assert_int_equal(stage->due, 0);
    assert_int_equal(stage->bill, 14000 - 11000);
    assert_true(controller_is_idle(stage->controller));
    end(stage);
}

TEST(a_machine_that_is_given_back_before_it_runs_is_never_billed)
{
    struct stage *stage = begin();

    arrive(stage, 1000, 64);
    say(stage, 5000, ENGINE_TASK_FINISHED, 64);
    run_until(stage, 100000);

    assert_int_equal(stage->bill, 0);
    assert_int_equal(stage->cloud_kinds[CLOUD_RUNNING], 0);
    assert_true(controller_is_idle(stage->controller));
    end(stage);
}

TEST(an_audit_finds_the_virtual_world_as_it_is)
{
    struct stage *stage = begin();

    arrive(stage, 1000, 64);
    say(stage, 3000, ENGINE_TASK_STARTED, 64);
    say(stage, 33000, ENGINE_TASK_FINISHED, 64); /* really over; virtually until 46 s */
    run_until(stage, 40000);
    controller_audit(stage->controller, 40000);
    run_until(stage, 40000);
    assert_int_equal(stage->lists, 1);
    assert_int_equal(stage->cloud_kinds[CLOUD_FOUND], 1);
    shadow_heard(stage->shadow, &(struct engine_event){
                                    .kind = ENGINE_LISTED, .at = 40000, .key = stage->list_key });
    run_until(stage, 100000);

    assert_true(controller_is_audited(stage->controller));
    assert_int_equal(stage->kinds[ENGINE_TASK_FOUND], 1);
    assert_int_equal(stage->ended_at, 46000);
    assert_int_equal(stage->bill, 48000 - 11000);
    end(stage);
}

TEST(a_job_that_the_real_engine_forgot_ends_with_the_list)
{
    struct stage *stage = begin();

    arrive(stage, 1000, 64);
    say(stage, 3000, ENGINE_TASK_STARTED, 64);
    run_until(stage, 20000);
    controller_audit(stage->controller, 20000);
    run_until(stage, 20000);
    shadow_heard(stage->shadow, &(struct engine_event){
                                    .kind = ENGINE_LISTED, .at = 23000, .key = stage->list_key });
    run_until(stage, 100000);

    assert_int_equal(stage->ended_at, 16000 + 20000);
    assert_true(controller_is_idle(stage->controller));
    end(stage);
}

TEST(the_end_of_the_daemon_is_the_end_of_every_bill)
{
    struct stage *stage = begin();

    arrive(stage, 1000, 64);
    say(stage, 3000, ENGINE_TASK_STARTED, 64);
    run_until(stage, 21000);
    shadow_end(stage->shadow, 21000);
    hear(stage);

    assert_int_equal(stage->bill, 21000 - 11000);
    end(stage);
}

TEST(a_job_that_is_withdrawn_while_it_waits_leaves)
{
    struct stage *stage = begin();

    arrive(stage, 1000, 64);
    run_until(stage, 2000);
    shadow_heard(
        stage->shadow,
        &(struct engine_event){ .kind = ENGINE_JOB_WITHDRAWN, .at = 2000, .job = { .id = 64 } });
    run_until(stage, 100000);

    assert_int_equal(stage->bill, 0);
    assert_true(controller_is_idle(stage->controller));
    end(stage);
}

/* One node that is owned, with room for four of the tasks; a millisecond of it costs nothing. */
static void own(struct stage *stage)
{
    const uint32_t offer = catalogue_add_owned(&stage->catalogue, 0, 0);

    controller_destroy(stage->controller);
    stage->controller = create_controller(stage);
    controller_own(stage->controller, OWNED_ID_FIRST, offer, 0, false);
}

static void say_of_node(struct stage *stage, msec_t at, enum engine_event_kind kind,
                        uint64_t instance, bool runs_on)
{
    run_until(stage, at);
    shadow_heard(
        stage->shadow,
        &(struct engine_event){ .kind = kind, .at = at, .instance = instance, .runs_on = runs_on });
}

TEST(an_owned_node_is_used_first)
{
    struct stage *stage = begin();

    own(stage);
    say_of_node(stage, 500, ENGINE_NODE_READY, OWNED_ID_FIRST, false);
    for (uint64_t id = 64; id < 64 * 5; id += 64) {
        arrive(stage, 1000, id);
        say(stage, 3000, ENGINE_TASK_STARTED, id);
    }
    run_until(stage, 4000);
    assert_int_equal(stage->cloud_kinds[CLOUD_RUNNING], 0);
    for (uint64_t id = 64; id < 64 * 5; id += 64)
        say(stage, 33000, ENGINE_TASK_FINISHED, id);
    run_until(stage, 100000);
    assert_int_equal(stage->kinds[ENGINE_TASK_FINISHED], 4);
    assert_int_equal(stage->bill, 0);
    end(stage);
}

TEST(what_an_owned_node_does_not_hold_is_rented_for)
{
    struct stage *stage = begin();

    own(stage);
    say_of_node(stage, 500, ENGINE_NODE_READY, OWNED_ID_FIRST, false);
    for (uint64_t id = 64; id < 64 * 6; id += 64)
        arrive(stage, 1000, id);
    for (uint64_t id = 64; id < 64 * 6; id += 64)
        say(stage, 3000, ENGINE_TASK_STARTED, id);
    for (uint64_t id = 64; id < 64 * 6; id += 64)
        say(stage, 33000, ENGINE_TASK_FINISHED, id);
    run_until(stage, 100000);
    assert_int_equal(stage->kinds[ENGINE_TASK_FINISHED], 5);
    assert_int_equal(stage->bill, 48000 - 11000); /* as in the first story */
    end(stage);
}

TEST(a_real_machine_that_is_not_owned_is_not_there)
{
    struct stage *stage = begin();

    own(stage);
    say_of_node(stage, 500, ENGINE_NODE_READY, 7, false);
    say_of_node(stage, 600, ENGINE_NODE_LOST, 7, false);
    assert_int_equal(stage->kinds[ENGINE_NODE_READY], 0);
    assert_int_equal(stage->kinds[ENGINE_NODE_LOST], 0);
    end(stage);
}

TEST(what_ran_on_an_owned_node_that_is_lost_starts_over)
{
    struct stage *stage = begin();

    own(stage);
    say_of_node(stage, 500, ENGINE_NODE_READY, OWNED_ID_FIRST, false);
    arrive(stage, 1000, 64);
    say(stage, 3000, ENGINE_TASK_STARTED, 64);
    say_of_node(stage, 11000, ENGINE_NODE_LOST, OWNED_ID_FIRST, false);
    say(stage, 33000, ENGINE_TASK_FINISHED, 64);
    run_until(stage, 100000);
    /* A machine is asked for at 11 s, billed from 21 s, ready at 26 s; 30 s of work. */
    assert_int_equal(stage->ended_at, 26000 + 30000);
    assert_int_equal(stage->bill, 58000 - 21000);
    end(stage);
}

TEST(what_runs_on_an_owned_node_that_drains_runs_on)
{
    struct stage *stage = begin();

    own(stage);
    say_of_node(stage, 500, ENGINE_NODE_READY, OWNED_ID_FIRST, false);
    arrive(stage, 1000, 64);
    say(stage, 3000, ENGINE_TASK_STARTED, 64);
    say_of_node(stage, 11000, ENGINE_NODE_LOST, OWNED_ID_FIRST, true);
    say(stage, 33000, ENGINE_TASK_FINISHED, 64);
    run_until(stage, 100000);
    assert_int_equal(stage->ended_at, 33000);
    assert_int_equal(stage->bill, 0);
    end(stage);
}

TEST(a_job_that_is_raised_goes_first)
{
    struct stage *stage = begin();

    own(stage);
    arrive(stage, 1000, 64);
    run_until(stage, 1000);
    shadow_heard(stage->shadow,
                 &(struct engine_event){ .kind = ENGINE_JOB_CHANGED,
                                         .at = 1000,
                                         .changes = CHANGE_PRIORITY,
                                         .job = { .id = 64, .first_task_id = 64, .priority = 9 } });
    hear(stage);
    assert_int_equal(controller_view(stage->controller)->job.priority[0], 9);
    end(stage);
}

CHECK_MAIN(RUN(a_story_has_the_bill_that_it_would_have_had),
           RUN(the_real_engine_lags_and_so_does_the_virtual_one),
           RUN(a_real_wait_for_room_is_no_lag), RUN(a_task_that_really_ends_later_ends_then),
           RUN(a_task_that_really_began_anew_counts_from_then),
           RUN(a_job_that_is_cancelled_before_it_runs_costs_only_its_machine),
           RUN(a_machine_that_is_given_back_before_it_runs_is_never_billed),
           RUN(an_audit_finds_the_virtual_world_as_it_is),
           RUN(a_job_that_the_real_engine_forgot_ends_with_the_list),
           RUN(the_end_of_the_daemon_is_the_end_of_every_bill),
           RUN(a_job_that_is_withdrawn_while_it_waits_leaves), RUN(an_owned_node_is_used_first),
           RUN(what_an_owned_node_does_not_hold_is_rented_for),
           RUN(a_real_machine_that_is_not_owned_is_not_there),
           RUN(what_ran_on_an_owned_node_that_is_lost_starts_over),
           RUN(what_runs_on_an_owned_node_that_drains_runs_on),
           RUN(a_job_that_is_raised_goes_first))
