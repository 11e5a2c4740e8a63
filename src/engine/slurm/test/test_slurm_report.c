/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slurm/slurm_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"

static void becomes(const char *old, const char *wanted)
{
    char text[64];

    assert_true(slurm_report_compose(old, "0.83", text, sizeof(text)));
    assert_string_equal(text, wanted);
}

TEST(a_report_is_added_to_what_the_comment_says)
{
    becomes("", "stint:rate=0.83#1");
    becomes("mine", "mine stint:rate=0.83#1");
    becomes(" stint:move;x", "stint:move;x stint:rate=0.83#1");
}

TEST(a_report_takes_the_place_of_the_last)
{
    becomes("stint:rate=1#1", "stint:rate=0.83#2");
    becomes("stint:rate=0.83", "stint:rate=0.83#1");
    becomes("stint:move stint:rate=0.5#9 mine", "stint:move mine stint:rate=0.83#10");
    becomes("a;stint:rate=x#y;b", "a;b stint:rate=0.83#1");
    becomes("stint:rates=1", "stint:rates=1 stint:rate=0.83#1");
}

TEST(a_comment_that_is_too_long_stays)
{
    char text[24];

    assert_false(slurm_report_compose("0123456789", "0.83", text, sizeof(text)));
    assert_true(slurm_report_compose("01234", "0.83", text, sizeof(text)));
    assert_false(
        slurm_report_compose("0123456789012345678901234567890", "0.83", text, sizeof(text)));
    assert_int_equal(strlen(text), strlen("01234 stint:rate=0.83#1"));
}

TEST(only_numbers_of_jobs_are_given_to_slurm)
{
    assert_true(slurm_report_is_job("12"));
    assert_true(slurm_report_is_job("12_3"));
    assert_true(slurm_report_is_job("12+1"));
    assert_false(slurm_report_is_job(""));
    assert_false(slurm_report_is_job("_3"));
    assert_false(slurm_report_is_job("12,13"));
    assert_false(slurm_report_is_job("12 Comment=x"));
    assert_false(slurm_report_is_job("--all"));
}

TEST(a_process_knows_its_job)
{
    char job[16];
    char small[4];

    (void)unsetenv("SLURM_ARRAY_JOB_ID");
    (void)unsetenv("SLURM_ARRAY_TASK_ID");
    (void)unsetenv("SLURM_JOB_ID");
    assert_false(slurm_report_own_job(job, sizeof(job)));
    (void)setenv("SLURM_JOB_ID", "12345", 1);
    assert_true(slurm_report_own_job(job, sizeof(job)));
    assert_string_equal(job, "12345");
    assert_false(slurm_report_own_job(small, sizeof(small)));
    (void)setenv("SLURM_ARRAY_JOB_ID", "12", 1);
    (void)setenv("SLURM_ARRAY_TASK_ID", "3", 1);
    assert_true(slurm_report_own_job(job, sizeof(job)));
    assert_string_equal(job, "12_3");
}

CHECK_MAIN(RUN(a_process_knows_its_job), RUN(a_report_is_added_to_what_the_comment_says),
           RUN(a_report_takes_the_place_of_the_last), RUN(a_comment_that_is_too_long_stays),
           RUN(only_numbers_of_jobs_are_given_to_slurm))
