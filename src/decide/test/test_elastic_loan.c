/* SPDX-License-Identifier: Apache-2.0 */
/* Machines that a job of the elastic queue may use, whatever offer they are of. */
#include "decide/elastic_queue.h"

#include "decide/test/yard.h"

/* Two offers of a type that holds the task, and one that is too small; a gang of three waits. */
struct scene {
    struct yard yard;
    uint32_t own;
    uint32_t other;
    uint32_t small;
    uint32_t task;
    bool wanted[3];
    bool given[16];
};

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){ 0 };
    yard_init(&scene->yard);
    scene->own = yard_type(&scene->yard, "a", 4, 8, 0, 1.0);
    scene->other = yard_offer(&scene->yard, scene->own, 2.0);
    scene->small = yard_type(&scene->yard, "a", 1, 2, 0, 0.5);
    scene->task = yard_job(&scene->yard, yard_shape(&scene->yard, 4, 4, 0), 3, true);
}

static struct elastic_loan loan_of(const struct scene *scene)
{
    return (struct elastic_loan){
        .offer = scene->own, .task = scene->task, .wanted = scene->wanted, .given = scene->given
    };
}

TEST(idle_machines_of_its_own_offer_come_first_then_those_that_nobody_queues_for)
{
    struct scene scene;
    uint32_t machines[3];

    scene_init(&scene);
    const uint32_t other = yard_machine(&scene.yard, scene.other);
    const uint32_t own = yard_machine(&scene.yard, scene.own);
    (void)yard_machine(&scene.yard, scene.small);
    const struct elastic_loan loan = loan_of(&scene);

    assert_int_equal(elastic_queue_ready(&scene.yard.view, &loan, 3, machines), 2);
    assert_int_equal(machines[0], own);
    assert_int_equal(machines[1], other);
    assert_int_equal(elastic_queue_ready(&scene.yard.view, &loan, 1, machines), 1);
    assert_int_equal(machines[0], own);
    yard_done(&scene.yard);
}

TEST(machines_that_others_queue_for_or_have_got_are_left_alone)
{
    struct scene scene;
    uint32_t machines[3];

    scene_init(&scene);
    (void)yard_machine(&scene.yard, scene.other);
    const uint32_t own = yard_machine(&scene.yard, scene.own);
    scene.wanted[scene.own] = true;
    scene.wanted[scene.other] = true;
    const struct elastic_loan loan = loan_of(&scene);

    assert_int_equal(elastic_queue_ready(&scene.yard.view, &loan, 3, machines), 1);
    assert_int_equal(machines[0], own);
    scene.given[own] = true;
    assert_int_equal(elastic_queue_ready(&scene.yard.view, &loan, 3, machines), 0);
    yard_done(&scene.yard);
}

TEST(a_machine_that_boots_may_be_used_but_is_not_ready)
{
    struct scene scene;
    uint32_t machines[3];

    scene_init(&scene);
    const uint32_t other = yard_machine(&scene.yard, scene.other);
    view_set_state(&scene.yard.view, other, INSTANCE_BOOTING);
    const struct elastic_loan loan = loan_of(&scene);

    assert_true(elastic_queue_may_use(&scene.yard.view, &loan, other));
    assert_int_equal(elastic_queue_ready(&scene.yard.view, &loan, 3, machines), 0);
    yard_done(&scene.yard);
}

CHECK_MAIN(RUN(idle_machines_of_its_own_offer_come_first_then_those_that_nobody_queues_for),
           RUN(machines_that_others_queue_for_or_have_got_are_left_alone),
           RUN(a_machine_that_boots_may_be_used_but_is_not_ready))
