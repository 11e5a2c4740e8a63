/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/worth.h"

#include "decide/test/yard.h"

/* Micro-dollars; sums of doubles may be off in the last bits. */
#define CHECK_WORTH(got, dollars) assert_int_equal((money_t)((got) + 0.5), YARD_USD(dollars))

static const struct worth_kind tau1 = { .shape = TAU1, .siblings = 1 };
static const struct worth_kind tau2 = { .shape = TAU2, .siblings = 1 };
static const struct worth_kind tau4 = { .shape = TAU4, .siblings = 1 };

struct stall {
    struct yard yard;
    struct colocation colocation;
    struct worth_rules rules;
    struct worth_group group;
};

static void stall_init(struct stall *stall)
{
    yard_init_table3(&stall->yard);
    reservation_update(&stall->yard.view);
    colocation_init(&stall->colocation, 0.95);
    stall->rules = (struct worth_rules){
        .view = &stall->yard.view,
        .colocation = &stall->colocation,
        .siblings = true,
    };
    worth_group_init(&stall->group, &stall->yard.arena);
}

static void stall_done(struct stall *stall)
{
    colocation_done(&stall->colocation);
    yard_done(&stall->yard);
}

/* A task of 'shape' beside exactly one of 'other' ran at that rate. */
static void saw_pair(struct stall *stall, uint32_t shape, uint32_t other, double rate)
{
    colocation_observe(&stall->colocation, shape, colocation_token(other), rate);
}

TEST(a_task_alone_is_worth_its_reservation_price)
{
    struct stall stall;

    stall_init(&stall);
    worth_group_add(&stall.group, tau1);

    CHECK_WORTH(worth_of(&stall.rules, &stall.group, NULL, false), 12);
    stall_done(&stall);
}

TEST(without_interference_a_set_is_worth_the_sum)
{
    struct stall stall;

    stall_init(&stall);
    stall.rules.colocation = NULL;
    worth_group_add(&stall.group, tau1);
    worth_group_add(&stall.group, tau2);

    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &tau4, false), 15.4);
    stall_done(&stall);
}

TEST(rates_of_80_and_90_percent_make_tasks_1_and_2_worth_12_3_dollars)
{
    struct stall stall;

    stall_init(&stall);
    saw_pair(&stall, TAU1, TAU2, 0.8);
    saw_pair(&stall, TAU2, TAU1, 0.9);
    worth_group_add(&stall.group, tau1);

    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &tau2, false), 12.3);
    worth_group_add(&stall.group, tau2);
    CHECK_WORTH(worth_of(&stall.rules, &stall.group, NULL, false), 12.3);
    stall_done(&stall);
}

TEST(rates_of_70_and_80_percent_make_them_worth_10_8_dollars)
{
    struct stall stall;

    stall_init(&stall);
    saw_pair(&stall, TAU1, TAU2, 0.7);
    saw_pair(&stall, TAU2, TAU1, 0.8);
    worth_group_add(&stall.group, tau1);

    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &tau2, false), 10.8);
    stall_done(&stall);
}

TEST(a_pair_never_seen_runs_at_the_default_rate)
{
    struct stall stall;

    stall_init(&stall);
    worth_group_add(&stall.group, tau1);

    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &tau2, false), 0.95 * 15);
    stall_done(&stall);
}

/* Task 1: 0.8 x 0.5; task 2: 0.9 x 0.95; task 4: 0.95 x 0.95. */
TEST(a_set_never_seen_is_the_product_of_its_pairs)
{
    struct stall stall;

    stall_init(&stall);
    saw_pair(&stall, TAU1, TAU2, 0.8);
    saw_pair(&stall, TAU1, TAU4, 0.5);
    saw_pair(&stall, TAU2, TAU1, 0.9);
    worth_group_add(&stall.group, tau1);
    worth_group_add(&stall.group, tau2);

    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &tau4, false),
                12 * 0.4 + 3 * 0.855 + 0.4 * 0.9025);
    stall_done(&stall);
}

TEST(a_set_that_was_seen_counts_as_seen_and_not_as_its_pairs)
{
    struct stall stall;

    stall_init(&stall);
    saw_pair(&stall, TAU1, TAU2, 0.8);
    colocation_observe(&stall.colocation, TAU1, colocation_token(TAU2) + colocation_token(TAU4),
                       0.6);
    worth_group_add(&stall.group, tau2);
    worth_group_add(&stall.group, tau4);

    /* Beside task 1 the other two are pairs at the default rate. */
    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &tau1, false),
                12 * 0.6 + 3 * 0.9025 + 0.4 * 0.9025);
    stall_done(&stall);
}

TEST(tasks_of_one_kind_disturb_each_other_but_not_themselves)
{
    struct stall stall;

    stall_init(&stall);
    saw_pair(&stall, TAU2, TAU2, 0.9);
    worth_group_add(&stall.group, tau2);
    worth_group_add(&stall.group, tau2);

    CHECK_WORTH(worth_of(&stall.rules, &stall.group, NULL, false), 2 * 3 * 0.9);
    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &tau2, false), 3 * 3 * 0.81);
    stall_done(&stall);
}

TEST(a_gang_member_counts_its_slow_down_for_the_whole_gang_if_penalised)
{
    struct stall stall;
    const struct worth_kind of_four = { .shape = TAU2, .siblings = 4 };

    stall_init(&stall);
    saw_pair(&stall, TAU2, TAU1, 0.9);
    saw_pair(&stall, TAU1, TAU2, 1.0);
    worth_group_add(&stall.group, tau1);

    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &of_four, true), 12 + 3 * 0.6);
    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &of_four, false), 12 + 3 * 0.9);
    stall_done(&stall);
}

TEST(a_penalty_does_not_make_a_task_worth_less_than_nothing)
{
    struct stall stall;
    const struct worth_kind of_four = { .shape = TAU2, .siblings = 4 };

    stall_init(&stall);
    saw_pair(&stall, TAU2, TAU1, 0.5);
    saw_pair(&stall, TAU1, TAU2, 1.0);
    worth_group_add(&stall.group, tau1);

    CHECK_WORTH(worth_of(&stall.rules, &stall.group, &of_four, true), 12);
    stall_done(&stall);
}

TEST(members_of_gangs_of_different_size_are_different_kinds_of_one_shape)
{
    struct stall stall;

    stall_init(&stall);
    const uint32_t alone = yard_job(&stall.yard, TAU2, 1, true);
    const uint32_t pair = yard_job(&stall.yard, TAU2, 2, true);
    const uint32_t loose = yard_job(&stall.yard, TAU2, 2, false);

    assert_int_equal(worth_kind_of(&stall.rules, alone).siblings, 1);
    assert_int_equal(worth_kind_of(&stall.rules, pair).siblings, 2);
    assert_int_equal(worth_kind_of(&stall.rules, loose).siblings, 1);
    stall.rules.siblings = false;
    assert_int_equal(worth_kind_of(&stall.rules, pair).siblings, 1);
    stall_done(&stall);
}

TEST(the_group_of_a_machine_is_all_that_is_bound_to_it)
{
    struct stall stall;

    stall_init(&stall);
    const uint32_t machine = yard_machine(&stall.yard, IT1);
    yard_run(&stall.yard, yard_task(&stall.yard, TAU1), machine);
    view_bind(&stall.yard.view, yard_task(&stall.yard, TAU2), machine);
    worth_group_of(&stall.rules, machine, &stall.yard.arena, &stall.group);

    assert_int_equal(stall.group.size, 2);
    CHECK_WORTH(worth_of(&stall.rules, &stall.group, NULL, false), 0.95 * 15);
    stall_done(&stall);
}

TEST(alignment_is_demand_times_room_as_shares_of_what_there_is)
{
    const struct res demand = { { 2000, 1024, 500 } };
    const struct res room = { { 4000, 4096, 0 } };
    const struct res capacity = { { 8000, 8192, 0 } };

    /* 1/4 x 1/2 and 1/8 x 1/2; there are no accelerators. */
    assert_true(worth_alignment(&demand, &room, &capacity) > 0.1874999);
    assert_true(worth_alignment(&demand, &room, &capacity) < 0.1875001);
}

CHECK_MAIN(RUN(a_task_alone_is_worth_its_reservation_price),
           RUN(without_interference_a_set_is_worth_the_sum),
           RUN(rates_of_80_and_90_percent_make_tasks_1_and_2_worth_12_3_dollars),
           RUN(rates_of_70_and_80_percent_make_them_worth_10_8_dollars),
           RUN(a_pair_never_seen_runs_at_the_default_rate),
           RUN(a_set_never_seen_is_the_product_of_its_pairs),
           RUN(a_set_that_was_seen_counts_as_seen_and_not_as_its_pairs),
           RUN(tasks_of_one_kind_disturb_each_other_but_not_themselves),
           RUN(a_gang_member_counts_its_slow_down_for_the_whole_gang_if_penalised),
           RUN(a_penalty_does_not_make_a_task_worth_less_than_nothing),
           RUN(members_of_gangs_of_different_size_are_different_kinds_of_one_shape),
           RUN(the_group_of_a_machine_is_all_that_is_bound_to_it),
           RUN(alignment_is_demand_times_room_as_shares_of_what_there_is))
