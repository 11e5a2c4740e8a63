/* SPDX-License-Identifier: Apache-2.0 */
/* Services that were promised machines: the scripted policy does not know of them. */
#include "control/controller.h"

#include "base/test/check.h"
#include "control/test/doubles.h"

static struct engine_event service(uint64_t first, uint32_t tasks)
{
    return (struct engine_event){
        .kind = ENGINE_JOB_ARRIVED,
        .job = { .id = 1000 + first,
                 .first_task_id = first,
                 .task_count = tasks,
                 .short_ppb = 1000000,
                 .estimate_ms = MSEC_NEVER },
    };
}

/* A service of two tasks runs; the id of its machine, which holds two more. */
static uint64_t begin(struct stage *stage)
{
    stage_init(stage);
    stage_engine(stage, service(1, 2));
    stage_decide(stage, (struct script){ 0 });

    const uint64_t machine = stage_instance(stage, 0);

    stage_acts(stage, "rent %" PRIu64 " of 0; ", machine);
    stage_running(stage, machine);
    stage_ready(stage, machine);
    stage_started(stage, 1);
    stage_started(stage, 2);
    stage->seen = stage->act_count;
    return machine;
}

TEST(a_service_gets_its_machine_whatever_the_policy_says)
{
    struct stage stage;
    const uint64_t machine = begin(&stage);

    assert_int_equal(stage_where(&stage, 1), machine);
    assert_int_equal(stage_where(&stage, 2), machine);
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    stage_done(&stage);
}

TEST(other_work_runs_beside_it_and_stops_when_it_grows)
{
    struct stage stage;
    const uint64_t machine = begin(&stage);
    struct engine_event grown = service(1, 4);

    stage_job(&stage, 11, 1, false);
    stage_job(&stage, 12, 1, false);
    stage_decide(&stage, (struct script){ 0 });
    stage_acts(&stage, "place 11 on %" PRIu64 "; place 12 on %" PRIu64 "; ", machine, machine);
    stage_started(&stage, 11);
    stage_started(&stage, 12);
    grown.kind = ENGINE_JOB_CHANGED;
    grown.changes = CHANGE_TASKS;
    stage_engine(&stage, grown);
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ 0 });
    assert_int_equal(stage_where(&stage, 3), machine);
    assert_int_equal(stage_where(&stage, 4), machine);
    assert_int_equal(stage_state(&stage, 11), TASK_WAITING);
    assert_int_equal(stage_state(&stage, 12), TASK_WAITING);
    stage_stopped(&stage, 11);
    stage_stopped(&stage, 12);
    stage_started(&stage, 3);
    stage_started(&stage, 4);
    assert_int_equal(controller_stats(stage.controller)->suspended, 2);
    stage_done(&stage);
}

TEST(work_that_may_not_be_stopped_is_left_to_the_policy)
{
    struct stage stage;

    (void)begin(&stage);
    stage_engine(&stage, (struct engine_event){ .kind = ENGINE_JOB_ARRIVED,
                                                .job = { .id = 1011,
                                                         .first_task_id = 11,
                                                         .task_count = 1,
                                                         .fixed = true,
                                                         .estimate_ms = -1 } });
    stage_decide(&stage, (struct script){ 0 });
    stage_no_acts(&stage);
    assert_int_equal(stage_state(&stage, 11), TASK_WAITING);
    stage_done(&stage);
}

TEST(what_the_service_rents_counts_in_the_limits)
{
    struct stage stage;

    stage_init(&stage);
    stage.config.max_instances = 1;
    controller_tune(stage.controller, &stage.config);
    stage_job(&stage, 11, 1, false);
    stage_engine(&stage, service(1, 2));
    stage_decide(&stage, (struct script){ .rents = { 1 },
                                          .rent_count = 1,
                                          .places = { { .task = 11 } },
                                          .place_count = 1 });
    stage_acts(&stage, "rent %" PRIu64 " of 0; ", stage_instance(&stage, 0));
    assert_int_equal(stage_state(&stage, 11), TASK_WAITING);
    assert_int_equal(
        controller_wait_of(stage.controller, view_find_task(stage_view(&stage), 11)).limit,
        LIMIT_INSTANCES);
    stage_done(&stage);
}

TEST(its_machine_is_the_policys_again_when_it_has_ended)
{
    struct stage stage;
    const uint64_t machine = begin(&stage);

    stage_finished(&stage, 1);
    stage_finished(&stage, 2);
    stage.seen = stage.act_count;
    stage_release(&stage, machine);
    stage_acts(&stage, "retire %" PRIu64 "; give back %" PRIu64 "; ", machine, machine);
    stage_done(&stage);
}

TEST(a_lost_machine_is_replaced)
{
    struct stage stage;
    const uint64_t machine = begin(&stage);

    stage_cloud(&stage, (struct cloud_event){ .kind = CLOUD_GONE, .instance = machine });
    stage.seen = stage.act_count;
    stage_decide(&stage, (struct script){ 0 });

    const uint64_t next = stage_instance(&stage, 0);

    assert_int_not_equal(next, machine);
    assert_int_equal(stage_where(&stage, 1), next);
    assert_int_equal(stage_where(&stage, 2), next);
    stage_done(&stage);
}

CHECK_MAIN(RUN(a_service_gets_its_machine_whatever_the_policy_says),
           RUN(other_work_runs_beside_it_and_stops_when_it_grows),
           RUN(work_that_may_not_be_stopped_is_left_to_the_policy),
           RUN(what_the_service_rents_counts_in_the_limits),
           RUN(its_machine_is_the_policys_again_when_it_has_ended), RUN(a_lost_machine_is_replaced))
