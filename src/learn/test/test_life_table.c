/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/life_table.h"

#include <math.h>

#include "base/test/check.h"

#define SECOND ((msec_t)MSEC_PER_SEC)

static const struct life_running nobody;

TEST(an_octave_has_the_ages_from_one_power_of_two_to_the_next)
{
    assert_int_equal(life_octave(0), 0);
    assert_int_equal(life_octave(1999), 0);
    assert_int_equal(life_octave(2 * SECOND), 1);
    assert_int_equal(life_octave(4 * SECOND - 1), 1);
    assert_int_equal(life_octave(1024 * SECOND), 10);
    assert_int_equal(life_octave(MSEC_NEVER), LIFE_AGES - 1);
}

TEST(without_history_a_run_ends_in_any_octave_up_to_its_limit)
{
    const struct life_table table = { 0 };
    const struct life_odds odds = life_odds_of(&table, &nobody);
    double alive = 1.0;

    /* 600 s is in the tenth octave. */
    for (uint32_t octave = 0; octave < 10; octave++) {
        const double chance = life_chance(&odds, octave, 600 * SECOND);

        assert_true(fabs(alive * chance - 0.1) < 1e-9);
        alive -= alive * chance;
    }
    assert_true(life_median(&odds, 600 * SECOND) == 32 * SECOND);
    assert_true(life_median(&odds, 12 * 3600 * SECOND) > 200 * SECOND);
}

TEST(half_of_them_end_by_the_typical_runtime)
{
    const struct life_table table = { .typical_ms = 15 * SECOND };
    const struct life_odds odds = life_odds_of(&table, &nobody);
    const struct life_table slow = { .typical_ms = 3600 * SECOND };
    const struct life_odds slow_odds = life_odds_of(&slow, &nobody);

    assert_true(life_median(&odds, 600 * SECOND) == 16 * SECOND);
    assert_true(life_median(&odds, 12 * 3600 * SECOND) == 16 * SECOND);
    assert_true(life_median(&odds, 4 * SECOND) < 4 * SECOND);
    /* It makes nothing longer. */
    assert_true(life_median(&slow_odds, 600 * SECOND) == 32 * SECOND);
}

TEST(two_short_runs_make_no_job_short_that_asked_for_hours)
{
    struct life_table table = { 0 };

    life_table_learn(&table, 3 * SECOND);
    life_table_learn(&table, 3 * SECOND);

    const struct life_odds odds = life_odds_of(&table, &nobody);

    assert_true(life_median(&odds, 12 * 3600 * SECOND) > 120 * SECOND);
}

TEST(what_was_seen_outweighs_what_was_assumed)
{
    struct life_table table = { 0 };

    for (int i = 0; i < 100; i++)
        life_table_learn(&table, 3 * SECOND);

    const struct life_odds odds = life_odds_of(&table, &nobody);

    assert_true(life_chance(&odds, 0, 600 * SECOND) < 0.02);
    assert_true(life_chance(&odds, 1, 600 * SECOND) > 0.87);
    assert_in_range(life_median(&odds, 600 * SECOND), 2 * SECOND, 4 * SECOND);
    /* Of longer runs nothing was seen. */
    assert_true(fabs(life_chance(&odds, 5, 600 * SECOND) - 1.0 / 5) < 1e-9);
}

TEST(runs_that_have_not_ended_count_up_to_their_age)
{
    struct life_table table = { 0 };
    struct life_running running = { { 0 } };

    for (int i = 0; i < 20; i++)
        life_table_learn(&table, SECOND);

    const struct life_odds ended = life_odds_of(&table, &nobody);

    running.in[6] = 100; /* a hundred have run for more than a minute */

    const struct life_odds all = life_odds_of(&table, &running);

    assert_true(life_chance(&ended, 0, 3600 * SECOND) > 0.5);
    assert_true(life_chance(&all, 0, 3600 * SECOND) < 0.2);
    assert_true(life_median(&all, 3600 * SECOND) > 60 * SECOND);
    /* Half of the octave that they are in. */
    assert_true(fabs(all.reached[6] - 50.0) < 1e-9 && fabs(all.reached[5] - 100.0) < 1e-9);
}

TEST(rates_add_up_to_the_chances)
{
    struct life_table table = { 0 };

    for (int i = 0; i < 64; i++)
        life_table_learn(&table, (i + 1) * SECOND);

    const struct life_odds odds = life_odds_of(&table, &nobody);
    double alive = 1000000.0;

    /* In steps of 10 ms, from the fourth octave's begin to its end. */
    for (msec_t age = 16 * SECOND; age < 32 * SECOND; age += 10)
        alive -= alive * life_rate(&odds, age, 600 * SECOND) * 10;

    const double chance = life_chance(&odds, 4, 600 * SECOND);

    assert_true(fabs((1 - alive / 1000000.0) - chance) < 0.02);
}

TEST(old_runs_fade)
{
    struct life_table table = { 0 };

    for (int i = 0; i < 100000; i++)
        life_table_learn(&table, SECOND);
    assert_true(table.reached[0] <= LIFE_SEEN_MOST);
    for (int i = 0; i < 4 * LIFE_SEEN_MOST; i++)
        life_table_learn(&table, 1000 * SECOND);

    const struct life_odds odds = life_odds_of(&table, &nobody);

    assert_true(life_chance(&odds, 0, 3600 * SECOND) < 0.1);
    for (uint32_t i = 0; i < LIFE_AGES; i++)
        assert_true(table.ended[i] <= table.reached[i]);
}

CHECK_MAIN(RUN(an_octave_has_the_ages_from_one_power_of_two_to_the_next),
           RUN(without_history_a_run_ends_in_any_octave_up_to_its_limit),
           RUN(half_of_them_end_by_the_typical_runtime),
           RUN(two_short_runs_make_no_job_short_that_asked_for_hours),
           RUN(what_was_seen_outweighs_what_was_assumed),
           RUN(runs_that_have_not_ended_count_up_to_their_age), RUN(rates_add_up_to_the_chances),
           RUN(old_runs_fade))
