/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The number that stands for a job's place in Slurm's queue. */
#include <string.h>

#include "base/test/check.h"
#include "engine/slurm/slurm_rank.h"

#define NOW ((time_t)1000000)

static const struct slurm_rank_rules rules = {
    .is_multifactor = true, .weight_age = 1000, .max_age_s = 100000, .period_s = 60
};

static slurm_job_info_t job_of(uint32_t priority, time_t submit)
{
    slurm_job_info_t job = { .priority = priority, .submit_time = submit, .nice = NICE_OFFSET };

    return job;
}

TEST(what_is_held_or_placed_has_none)
{
    slurm_job_info_t job = job_of(0, NOW - 5000);

    assert_int_equal(slurm_rank(&job, &rules, 0, NOW), 0);
    job.priority = SLURM_PLACED_PRIORITY;
    assert_int_equal(slurm_rank(&job, &rules, 0, NOW), 0);
}

TEST(age_counts_behind_the_gate)
{
    const time_t now = 1000020; /* 16,667 periods */
    slurm_job_info_t job = job_of(5000, now - 10000);

    assert_int_equal(slurm_rank(&job, &rules, 0, now), 5100);
    assert_int_equal(slurm_rank(&job, &rules, 0, now + 59), 5100);     /* by the period */
    assert_int_equal(slurm_rank(&job, &rules, now - 1000, now), 5010); /* --begin */
    job.submit_time = now - 1000000;
    assert_int_equal(slurm_rank(&job, &rules, 0, now), 6000); /* and no more than that */
    job.submit_time = now + 5;
    assert_int_equal(slurm_rank(&job, &rules, 0, now), 5000);
    job.priority = SLURM_PLACED_PRIORITY - 3;
    job.submit_time = 0;
    assert_int_equal(slurm_rank(&job, &rules, 0, now), SLURM_PLACED_PRIORITY - 1);
}

TEST(age_that_slurm_counts_itself_is_not_counted_twice)
{
    slurm_job_info_t job = job_of(5000, NOW - 10000);
    struct slurm_rank_rules always = rules;

    job.accrue_time = NOW - 9000;
    assert_int_equal(slurm_rank(&job, &rules, 0, NOW), 5000);
    job.accrue_time = 0;
    always.accrues_always = true;
    assert_int_equal(slurm_rank(&job, &always, 0, NOW), 5000);
}

TEST(with_priority_basic_only_the_nice_value_counts)
{
    const struct slurm_rank_rules basic = { .is_multifactor = false };
    slurm_job_info_t early = job_of(4294901000U, NOW - 100);
    slurm_job_info_t late = job_of(4294901001U, NOW);

    assert_int_equal(slurm_rank(&early, &basic, 0, NOW), slurm_rank(&late, &basic, 0, NOW));
    late.nice = NICE_OFFSET - 5; /* scontrol top */
    assert_true(slurm_rank(&early, &basic, 0, NOW) < slurm_rank(&late, &basic, 0, NOW));
}

TEST(the_rules_are_those_of_slurm_conf)
{
    char basic[] = "priority/basic";
    char multifactor[] = "priority/multifactor";
    slurm_conf_t conf = { .priority_type = basic, .priority_weight_age = 9 };

    assert_false(slurm_rank_rules(NULL).is_multifactor);
    assert_false(slurm_rank_rules(&conf).is_multifactor);
    conf.priority_type = multifactor;
    conf.priority_flags = PRIORITY_FLAGS_ACCRUE_ALWAYS;
    conf.priority_calc_period = 300;
    assert_true(slurm_rank_rules(&conf).is_multifactor);
    assert_true(slurm_rank_rules(&conf).accrues_always);
    assert_int_equal(slurm_rank_rules(&conf).weight_age, 9);
    assert_int_equal(slurm_rank_rules(&conf).period_s, 300);
}

TEST(who_was_placed_on_fewer_nodes_goes_first)
{
    char many[8192] = "n";

    for (int i = 0; i < 4090; i++)
        memcpy(many + 1 + i * 2, ",n", 3);
    assert_int_equal(slurm_rank_placed("a"), NO_VAL - 1);
    assert_int_equal(slurm_rank_placed("a,b"), NO_VAL - 2);
    assert_int_equal(slurm_rank_placed("a,b;c"), NO_VAL - 3);
    assert_true(slurm_rank_placed(many) >= SLURM_PLACED_PRIORITY);
    assert_true(slurm_rank_placed(many) < slurm_rank_placed("a,b;c"));
}

CHECK_MAIN(RUN(who_was_placed_on_fewer_nodes_goes_first), RUN(what_is_held_or_placed_has_none),
           RUN(age_counts_behind_the_gate), RUN(age_that_slurm_counts_itself_is_not_counted_twice),
           RUN(with_priority_basic_only_the_nice_value_counts),
           RUN(the_rules_are_those_of_slurm_conf))
