/* SPDX-License-Identifier: Apache-2.0 */
/* Orders that make no sense: each rule, what it needs to know, and what it must let pass. */
#include "daemon/sense.h"

#include "base/test/check.h"

enum { P3 };                       /* the family of the large one */
enum { OFFER_LARGE, OFFER_SMALL }; /* 32 CPUs with 4 accelerators, and 8 */
enum { SHAPE_EITHER, SHAPE_GPU };  /* 4 CPUs anywhere, and 8 with 2 accelerators on a p3 */

struct stage {
    struct catalogue catalogue;
    struct shapes shapes;
    struct sense *sense;
    msec_t now;
    uint64_t key;
};

static void add_offer(struct catalogue *catalogue, const char *type, const char *family,
                      struct res capacity)
{
    const struct price_change price = { 0, 100 };
    const struct machine_type machine = { .capacity = capacity };
    const struct offer offer = {
        .type = catalogue_add_type(catalogue, type, family, &machine),
        .billing = { 1000, 60000 },
        .price = { &price, 1 },
    };

    (void)catalogue_add_offer(catalogue, NULL, &offer);
}

static void add_shape(struct shapes *shapes, const char *name, uint32_t family, struct res res)
{
    const struct shape_demand demand = { family, res };

    (void)shapes_add(shapes,
                     &(struct shape_spec){
                         .name = name, .workload = name, .demands = &demand, .demand_count = 1 });
}

static void stage_init(struct stage *stage)
{
    *stage = (struct stage){ .now = 1000, .key = 100 };
    catalogue_init(&stage->catalogue);
    add_offer(&stage->catalogue, "p3.8xlarge", "p3", (struct res){ { 32000, 65536, 4000 } });
    add_offer(&stage->catalogue, "c7i.2xlarge", "c7i", (struct res){ { 8000, 16384, 0 } });
    shapes_init(&stage->shapes);
    add_shape(&stage->shapes, "either", FAMILY_NONE, (struct res){ { 4000, 2048, 0 } });
    add_shape(&stage->shapes, "gpu", P3, (struct res){ { 8000, 4096, 2000 } });
    stage->sense = sense_create(&stage->catalogue, &stage->shapes);
}

static void stage_done(struct stage *stage)
{
    sense_destroy(stage->sense);
    shapes_done(&stage->shapes);
    catalogue_done(&stage->catalogue);
}

/* The last one is told. */
static void refuse(void *context, const struct gate_act *act, enum sense_verdict why, msec_t now)
{
    enum sense_verdict *verdict = context;

    (void)act;
    (void)now;
    *verdict = why;
}

static enum sense_verdict order(struct stage *stage, struct gate_act act)
{
    enum sense_verdict verdict = SENSE_GOOD;

    act.key = act.key != 0 ? act.key : ++stage->key;

    const uint32_t kept = sense_sift(stage->sense, &act, 1, ++stage->now, refuse, &verdict);

    assert_int_equal(kept, verdict == SENSE_GOOD);
    return verdict;
}

static enum sense_verdict place(struct stage *stage, uint64_t task, uint64_t instance)
{
    return order(stage,
                 (struct gate_act){ .kind = GATE_PLACE, .task = task, .instance = instance });
}

static enum sense_verdict recall(struct stage *stage, enum gate_act_kind kind, uint64_t task)
{
    return order(stage, (struct gate_act){ .kind = kind, .task = task });
}

static enum sense_verdict rent(struct stage *stage, uint64_t first, uint32_t count, uint32_t offer)
{
    return order(stage, (struct gate_act){
                            .kind = GATE_RENT, .instance = first, .count = count, .offer = offer });
}

static enum sense_verdict end(struct stage *stage, enum gate_act_kind kind, uint64_t instance)
{
    return order(stage, (struct gate_act){ .kind = kind, .instance = instance });
}

static void engine(struct stage *stage, struct engine_event event)
{
    event.at = ++stage->now;
    sense_heard_engine(stage->sense, &event);
}

static void cloud(struct stage *stage, struct cloud_event event)
{
    event.at = ++stage->now;
    sense_heard_cloud(stage->sense, &event);
}

/* A job of tasks of 4 CPUs each, of which two fit on a small machine. */
static void job(struct stage *stage, uint64_t first, uint32_t tasks, bool spread, bool fixed)
{
    engine(stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                         .job = { .id = 1000 + first,
                                                  .first_task_id = first,
                                                  .task_count = tasks,
                                                  .shape = SHAPE_EITHER,
                                                  .gang = tasks > 1,
                                                  .spread = spread,
                                                  .fixed = fixed } });
}

static void runs(struct stage *stage, uint64_t task)
{
    engine(stage,
           (struct engine_event){ .kind = ENGINE_TASK_STARTED, .task = task, .key = stage->key });
}

static void found(struct stage *stage, uint64_t task, uint64_t instance, uint64_t key)
{
    engine(stage, (struct engine_event){
                      .kind = ENGINE_TASK_FOUND, .task = task, .instance = instance, .key = key });
}

TEST(two_ranks_of_a_job_never_share_a_machine)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 2, OFFER_SMALL), SENSE_GOOD);
    job(&stage, 1, 2, true, true);
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    assert_int_equal(place(&stage, 2, 5), SENSE_TOGETHER);
    assert_int_equal(place(&stage, 2, 6), SENSE_GOOD);
    stage_done(&stage);
}

TEST(a_change_that_does_not_name_it_leaves_ranks_apart)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 2, OFFER_SMALL), SENSE_GOOD);
    job(&stage, 1, 2, true, true);
    engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_CHANGED,
                                          .changes = CHANGE_PRIORITY,
                                          .job = { .id = 1001, .priority = 7 } });
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    assert_int_equal(place(&stage, 2, 5), SENSE_TOGETHER);
    engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_CHANGED,
                                          .changes = CHANGE_APART,
                                          .job = { .id = 1001 } });
    assert_int_equal(place(&stage, 2, 5), SENSE_GOOD);
    stage_done(&stage);
}

TEST(a_machine_holds_what_is_put_on_it)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 1, OFFER_SMALL), SENSE_GOOD);
    job(&stage, 1, 1, false, true);
    job(&stage, 2, 1, false, true);
    job(&stage, 3, 1, false, true);
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    runs(&stage, 1);
    assert_int_equal(place(&stage, 2, 5), SENSE_GOOD);
    assert_int_equal(place(&stage, 3, 5), SENSE_NO_ROOM);
    engine(&stage, (struct engine_event){ .kind = ENGINE_TASK_FINISHED, .task = 1 });
    assert_int_equal(place(&stage, 3, 5), SENSE_GOOD);
    stage_done(&stage);
}

TEST(a_node_has_what_the_engine_says)
{
    struct stage stage;
    struct res half = { { 4000, ENGINE_AS_TYPE, ENGINE_AS_TYPE, ENGINE_AS_TYPE, ENGINE_AS_TYPE } };

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 1, OFFER_SMALL), SENSE_GOOD);
    engine(&stage,
           (struct engine_event){
               .kind = ENGINE_NODE_READY, .instance = 5, .has_capacity = true, .capacity = half });
    job(&stage, 1, 2, false, true);
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    assert_int_equal(place(&stage, 2, 5), SENSE_NO_ROOM);
    stage_done(&stage);
}

/* A movable task that runs may have been told to go by then; what was told to go in the same moment goes. */
TEST(room_of_what_goes_is_free)
{
    struct stage stage;
    enum sense_verdict verdict = SENSE_GOOD;
    struct gate_act acts[2] = {
        { .kind = GATE_PLACE, .key = 901, .task = 3, .instance = 5 },
        { .kind = GATE_CANCEL, .key = 902, .task = 2 },
    };

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 2, OFFER_SMALL), SENSE_GOOD);
    job(&stage, 1, 1, false, true);
    job(&stage, 2, 1, false, true);
    job(&stage, 3, 1, false, false);
    job(&stage, 4, 1, false, true);
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    assert_int_equal(place(&stage, 2, 5), SENSE_GOOD);
    assert_int_equal(sense_sift(stage.sense, acts, 2, stage.now, refuse, &verdict), 2);
    assert_int_equal(place(&stage, 4, 5), SENSE_NO_ROOM);
    found(&stage, 3, 5, 901);
    assert_int_equal(place(&stage, 4, 5), SENSE_GOOD);
    stage_done(&stage);
}

TEST(a_job_runs_only_where_it_may)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 1, OFFER_SMALL), SENSE_GOOD);
    assert_int_equal(rent(&stage, 6, 1, OFFER_LARGE), SENSE_GOOD);
    engine(&stage,
           (struct engine_event){
               .kind = ENGINE_JOB_ARRIVED,
               .job = { .id = 1001, .first_task_id = 1, .task_count = 1, .shape = SHAPE_GPU } });
    assert_int_equal(place(&stage, 1, 5), SENSE_FORBIDDEN);
    assert_int_equal(place(&stage, 1, 6), SENSE_GOOD);
    engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                          .job = { .id = 1002,
                                                   .first_task_id = 2,
                                                   .task_count = 1,
                                                   .shape = SHAPE_EITHER,
                                                   .rules.market = MARKET_RULE_SPOT } });
    assert_int_equal(place(&stage, 2, 5), SENSE_FORBIDDEN);
    stage_done(&stage);
}

TEST(only_what_is_there_is_placed_and_only_where_a_machine_is)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(place(&stage, 1, 5), SENSE_NO_TASK);
    job(&stage, 1, 1, false, true);
    assert_int_equal(place(&stage, 1, 5), SENSE_NO_MACHINE);
    assert_int_equal(rent(&stage, 5, 1, OFFER_SMALL), SENSE_GOOD);
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_GOOD);
    assert_int_equal(place(&stage, 1, 5), SENSE_NO_MACHINE);
    cloud(&stage, (struct cloud_event){ .kind = CLOUD_GONE, .instance = 5 });
    assert_int_equal(place(&stage, 1, 5), SENSE_NO_MACHINE);
    sense_know(stage.sense, 6, OFFER_SMALL);
    assert_int_equal(place(&stage, 1, 6), SENSE_GOOD);
    engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_WITHDRAWN, .job = { .id = 1001 } });
    assert_int_equal(recall(&stage, GATE_QUEUE, 1), SENSE_NO_TASK);
    stage_done(&stage);
}

TEST(a_fixed_job_that_runs_is_not_stopped)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 1, OFFER_SMALL), SENSE_GOOD);
    job(&stage, 1, 1, false, true);
    job(&stage, 2, 1, false, false);
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    assert_int_equal(recall(&stage, GATE_STOP, 1), SENSE_GOOD);
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    runs(&stage, 1);
    assert_int_equal(recall(&stage, GATE_STOP, 1), SENSE_FIXED);
    assert_int_equal(place(&stage, 2, 5), SENSE_GOOD);
    runs(&stage, 2);
    assert_int_equal(recall(&stage, GATE_STOP, 2), SENSE_GOOD);
    stage_done(&stage);
}

TEST(no_machine_ends_with_a_job_on_it_unless_the_cloud_takes_it)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 2, OFFER_SMALL), SENSE_GOOD);
    job(&stage, 1, 2, true, true);
    found(&stage, 1, 5, 7);
    found(&stage, 2, 6, 7);
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_IN_USE);
    assert_int_equal(end(&stage, GATE_FORGET, 5), SENSE_IN_USE);
    engine(&stage, (struct engine_event){ .kind = ENGINE_TASK_LOST, .task = 1, .key = 7 });
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_GOOD);
    cloud(&stage, (struct cloud_event){ .kind = CLOUD_NOTICE, .instance = 6 });
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 6), SENSE_GOOD);
    stage_done(&stage);
}

/* Its jobs were put back before the order left that places one there. */
TEST(a_machine_whose_node_was_given_up_may_end)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 1, OFFER_SMALL), SENSE_GOOD);
    job(&stage, 1, 1, false, true);
    engine(&stage,
           (struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = 5, .runs_on = true });
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_IN_USE);
    engine(&stage, (struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = 5 });
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    found(&stage, 1, 5, 7);
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_IN_USE);
    engine(&stage, (struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = 5 });
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_GOOD);
    stage_done(&stage);
}

TEST(a_machine_whose_node_takes_no_work_may_end_once_a_list_has_said_so)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 2, OFFER_SMALL), SENSE_GOOD);
    job(&stage, 1, 1, false, true);
    job(&stage, 2, 1, false, true);
    job(&stage, 3, 1, false, true);
    assert_int_equal(place(&stage, 1, 5), SENSE_GOOD);
    found(&stage, 2, 6, 7);
    assert_int_equal(order(&stage, (struct gate_act){ .kind = GATE_LIST_ENGINE, .key = 50 }),
                     SENSE_GOOD);
    job(&stage, 1, 1, false, true);
    engine(&stage, (struct engine_event){ .kind = ENGINE_TASK_FOUND, .task = 1, .instance = 99 });
    found(&stage, 2, 6, 7);
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_IN_USE);
    engine(&stage, (struct engine_event){ .kind = ENGINE_LISTED, .key = 50 });
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_GOOD);
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 6), SENSE_IN_USE);
    stage_done(&stage);
}

TEST(what_a_list_does_not_name_is_no_more)
{
    struct stage stage;

    stage_init(&stage);
    assert_int_equal(rent(&stage, 5, 1, OFFER_SMALL), SENSE_GOOD);
    job(&stage, 1, 1, false, true);
    job(&stage, 2, 1, false, true);
    found(&stage, 1, 5, 7);
    assert_int_equal(order(&stage, (struct gate_act){ .kind = GATE_LIST_ENGINE, .key = 50 }),
                     SENSE_GOOD);
    job(&stage, 1, 1, false, true);
    engine(&stage, (struct engine_event){ .kind = ENGINE_LISTED, .key = 49 });
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_IN_USE);
    engine(&stage, (struct engine_event){ .kind = ENGINE_LISTED, .key = 50 });
    assert_int_equal(end(&stage, GATE_GIVE_BACK, 5), SENSE_GOOD);
    assert_int_equal(recall(&stage, GATE_QUEUE, 1), SENSE_GOOD);
    assert_int_equal(recall(&stage, GATE_QUEUE, 2), SENSE_NO_TASK);
    stage_done(&stage);
}

TEST(rents_stay_below_the_limits)
{
    struct stage stage;

    stage_init(&stage);
    sense_limit(stage.sense, &(struct sense_limits){ .instances = 3 });
    assert_int_equal(rent(&stage, 5, 4, OFFER_SMALL), SENSE_INSTANCES);
    assert_int_equal(rent(&stage, 5, 2, OFFER_SMALL), SENSE_GOOD);
    assert_int_equal(rent(&stage, 6, 1, OFFER_SMALL), SENSE_TWICE);
    assert_int_equal(rent(&stage, 7, 2, OFFER_SMALL), SENSE_INSTANCES);
    cloud(&stage, (struct cloud_event){ .kind = CLOUD_REFUSED, .instance = 5 });
    assert_int_equal(rent(&stage, 7, 2, OFFER_SMALL), SENSE_GOOD);
    cloud(&stage, (struct cloud_event){ .kind = CLOUD_GONE, .instance = 7, .billed_from = -1 });
    sense_never(stage.sense, 8);
    sense_limit(stage.sense, &(struct sense_limits){ .price_per_hour = 250 });
    assert_int_equal(rent(&stage, 9, 2, OFFER_SMALL), SENSE_PRICE); /* each costs 100 */
    assert_int_equal(rent(&stage, 9, 1, OFFER_SMALL), SENSE_GOOD);
    sense_limit(stage.sense, &(struct sense_limits){ .rents_nothing = true });
    assert_int_equal(rent(&stage, 10, 1, OFFER_SMALL), SENSE_HELD);
    assert_int_equal(rent(&stage, 10, 1, 77), SENSE_NO_OFFER);
    stage_done(&stage);
}

TEST(machines_of_another_process_count_while_lists_name_them)
{
    struct stage stage;

    stage_init(&stage);
    sense_limit(stage.sense, &(struct sense_limits){ .instances = 1 });
    cloud(&stage, (struct cloud_event){ .kind = CLOUD_FOUND, .instance = 5 });
    assert_int_equal(order(&stage, (struct gate_act){ .kind = GATE_LIST_CLOUD, .key = 50 }),
                     SENSE_GOOD);
    cloud(&stage, (struct cloud_event){ .kind = CLOUD_FOUND, .instance = 6 });
    cloud(&stage, (struct cloud_event){ .kind = CLOUD_LISTED, .key = 50 });
    assert_int_equal(rent(&stage, 7, 1, OFFER_SMALL), SENSE_INSTANCES);
    assert_int_equal(order(&stage, (struct gate_act){ .kind = GATE_LIST_CLOUD, .key = 51 }),
                     SENSE_GOOD);
    cloud(&stage, (struct cloud_event){ .kind = CLOUD_LISTED, .key = 51 });
    assert_int_equal(rent(&stage, 7, 1, OFFER_SMALL), SENSE_GOOD);
    stage_done(&stage);
}

TEST(every_verdict_has_a_text)
{
    for (int i = 0; i < SENSES; i++)
        assert_non_null(sense_text((enum sense_verdict)i));
}

CHECK_MAIN(RUN(two_ranks_of_a_job_never_share_a_machine),
           RUN(a_change_that_does_not_name_it_leaves_ranks_apart),
           RUN(a_machine_holds_what_is_put_on_it), RUN(a_node_has_what_the_engine_says),
           RUN(room_of_what_goes_is_free), RUN(a_job_runs_only_where_it_may),
           RUN(only_what_is_there_is_placed_and_only_where_a_machine_is),
           RUN(a_fixed_job_that_runs_is_not_stopped),
           RUN(no_machine_ends_with_a_job_on_it_unless_the_cloud_takes_it),
           RUN(a_machine_whose_node_was_given_up_may_end),
           RUN(a_machine_whose_node_takes_no_work_may_end_once_a_list_has_said_so),
           RUN(what_a_list_does_not_name_is_no_more), RUN(rents_stay_below_the_limits),
           RUN(machines_of_another_process_count_while_lists_name_them),
           RUN(every_verdict_has_a_text))
