/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/colocation.h"

#include "base/test/check.h"

enum { A, B, C, D };

static uint64_t beside(uint32_t shape)
{
    return colocation_token(shape);
}

static void check_rate(double got, double want)
{
    assert_true(got > want - 1e-12);
    assert_true(got < want + 1e-12);
}

TEST(a_pair_never_seen_has_the_default_rate)
{
    struct colocation table;

    colocation_init(&table, 0.95);
    colocation_observe(&table, B, beside(A), 0.5);

    check_rate(colocation_pair(&table, A, B), 0.95);
    check_rate(colocation_pair(&table, B, A), 0.5);
    colocation_done(&table);
}

TEST(a_rate_is_the_mean_of_what_was_seen)
{
    struct colocation table;

    colocation_init(&table, 0.95);
    colocation_observe(&table, A, beside(B), 0.6);
    colocation_observe(&table, A, beside(B), 0.8);
    colocation_observe(&table, A, beside(B), 0.7);

    check_rate(colocation_pair(&table, A, B), 0.7);
    colocation_done(&table);
}

TEST(a_set_is_known_by_its_members_in_any_order_and_number)
{
    struct colocation table;
    double rate = 0;

    colocation_init(&table, 0.95);
    colocation_observe(&table, A, beside(B) + beside(C) + beside(C), 0.4);

    assert_true(colocation_recorded(&table, A, beside(C) + beside(B) + beside(C), &rate));
    check_rate(rate, 0.4);
    assert_false(colocation_recorded(&table, A, beside(B) + beside(C), &rate));
    assert_false(colocation_recorded(&table, B, beside(A) + beside(C) + beside(C), &rate));
    colocation_done(&table);
}

TEST(what_was_not_recorded_leaves_the_answer_alone)
{
    struct colocation table;
    double rate = 0.123;

    colocation_init(&table, 0.95);

    assert_false(colocation_recorded(&table, A, beside(B), &rate));
    check_rate(rate, 0.123);
    colocation_done(&table);
}

TEST(a_thousand_pairs_are_kept_apart)
{
    struct colocation table;

    colocation_init(&table, 0.95);
    for (uint32_t i = 0; i < 32; i++) {
        for (uint32_t j = 0; j < 32; j++)
            colocation_observe(&table, i, beside(j), (double)(i * 32 + j) / 1024);
    }
    for (uint32_t i = 0; i < 32; i++) {
        for (uint32_t j = 0; j < 32; j++)
            check_rate(colocation_pair(&table, i, j), (double)(i * 32 + j) / 1024);
    }
    colocation_done(&table);
}

/*
 * Who of a gang is to blame.
 */

/* Three tasks of a gang, with one, three and two neighbours. */
static const struct colocation_member *gang(void)
{
    static struct colocation_member members[3];

    members[0] = (struct colocation_member){ A, 1, colocation_token(D) };
    members[1] = (struct colocation_member){ B, 3, colocation_token(D) * 3 };
    members[2] = (struct colocation_member){ C, 2, colocation_token(D) * 2 };
    return members;
}

TEST(if_none_was_recorded_the_one_with_most_neighbours_is_to_blame)
{
    struct colocation table;

    colocation_init(&table, 0.95);

    assert_int_equal(colocation_straggler(&table, gang(), 3, 0.5), 1);
    colocation_done(&table);
}

TEST(of_equally_many_neighbours_the_first_is_to_blame)
{
    struct colocation table;
    const struct colocation_member equal[] = { { A, 2, beside(C) * 2 }, { B, 2, beside(D) * 2 } };

    colocation_init(&table, 0.95);

    assert_int_equal(colocation_straggler(&table, equal, 2, 0.5), 0);
    colocation_done(&table);
}

TEST(if_all_were_recorded_the_lowest_record_is_to_blame)
{
    struct colocation table;

    colocation_init(&table, 0.95);
    colocation_observe(&table, A, gang()[0].neighbours, 0.7);
    colocation_observe(&table, B, gang()[1].neighbours, 0.9);
    colocation_observe(&table, C, gang()[2].neighbours, 0.8);

    assert_int_equal(colocation_straggler(&table, gang(), 3, 0.5), 0);
    assert_int_equal(colocation_straggler(&table, gang(), 3, 0.95), 0);
    colocation_done(&table);
}

TEST(if_all_records_lie_above_what_was_seen_an_unrecorded_one_is_to_blame)
{
    struct colocation table;

    colocation_init(&table, 0.95);
    colocation_observe(&table, B, gang()[1].neighbours, 0.8);

    assert_int_equal(colocation_straggler(&table, gang(), 3, 0.6), 2);
    colocation_done(&table);
}

TEST(if_a_record_explains_what_was_seen_the_lowest_record_is_to_blame)
{
    struct colocation table;

    colocation_init(&table, 0.95);
    colocation_observe(&table, A, gang()[0].neighbours, 0.9);
    colocation_observe(&table, C, gang()[2].neighbours, 0.6);

    assert_int_equal(colocation_straggler(&table, gang(), 3, 0.6), 2);
    assert_int_equal(colocation_straggler(&table, gang(), 3, 0.7), 2);
    colocation_done(&table);
}

CHECK_MAIN(RUN(a_pair_never_seen_has_the_default_rate), RUN(a_rate_is_the_mean_of_what_was_seen),
           RUN(a_set_is_known_by_its_members_in_any_order_and_number),
           RUN(what_was_not_recorded_leaves_the_answer_alone), RUN(a_thousand_pairs_are_kept_apart),
           RUN(if_none_was_recorded_the_one_with_most_neighbours_is_to_blame),
           RUN(of_equally_many_neighbours_the_first_is_to_blame),
           RUN(if_all_were_recorded_the_lowest_record_is_to_blame),
           RUN(if_all_records_lie_above_what_was_seen_an_unrecorded_one_is_to_blame),
           RUN(if_a_record_explains_what_was_seen_the_lowest_record_is_to_blame))
