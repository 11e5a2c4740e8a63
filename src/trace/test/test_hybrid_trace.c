/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/hybrid_trace.h"

#include <errno.h>
#include <string.h>

#include "base/test/check.h"

static void read_text(struct hybrid_trace *trace, const char *text)
{
    struct error error = { "" };

    if (hybrid_trace_read(text, strlen(text), trace, &error) < 0)
        fail_msg("%s", error.text);
}

TEST(a_line_is_a_job)
{
    struct hybrid_trace trace;

    read_text(&trace, "10   3   20   10 20 30\n\n65013.2 1\t0.25 0.25\r\n");
    assert_int_equal(trace.job_count, 2);
    assert_int_equal(trace.task_count, 4);
    assert_int_equal(trace.jobs[0].arrival_ms, 10000);
    assert_int_equal(trace.jobs[0].mean_ms, 20000);
    assert_int_equal(trace.jobs[0].tasks, 3);
    assert_int_equal(trace.work_ms[2], 30000);
    assert_int_equal(trace.jobs[1].arrival_ms, 65013200);
    assert_int_equal(trace.jobs[1].first, 3);
    assert_int_equal(trace.work_ms[3], 250);
    hybrid_trace_done(&trace);
}

TEST(times_are_cut_not_rounded)
{
    struct hybrid_trace trace;

    read_text(&trace, "0 2 90.9999999 4490.92270965 1.0009");
    assert_int_equal(trace.jobs[0].mean_ms, 90999);
    assert_int_equal(trace.work_ms[0], 4490922);
    assert_int_equal(trace.work_ms[1], 1000);
    hybrid_trace_done(&trace);
}

TEST(only_the_first_jobs_may_be_kept)
{
    struct hybrid_trace trace;

    read_text(&trace, "0 2 1 1 1\n1 1 1 1\n2 3 1 1 1 1\n");
    hybrid_trace_keep_first(&trace, 0);
    assert_int_equal(trace.job_count, 3);
    hybrid_trace_keep_first(&trace, 2);
    assert_int_equal(trace.job_count, 2);
    assert_int_equal(trace.task_count, 3);
    hybrid_trace_done(&trace);
}

TEST(what_is_wrong_is_named_with_its_line)
{
    static const struct {
        const char *text;
        const char *says;
        int rc;
    } cases[] = {
        { "", "no job", -EINVAL },
        { "0 1 1 1\n5\n", "line 2: the number of tasks is missing", -EINVAL },
        { "0 2 1 1\n", "line 1: the duration of a task is missing", -EINVAL },
        { "0 1 1 1 1\n", "more durations than 1", -EINVAL },
        { "0 0 1\n", "number of tasks cannot be '0'", -EINVAL },
        { "0 1 1 -1\n", "cannot be '-1'", -EINVAL },
        { "x 1 1 1\n", "the arrival cannot be 'x'", -EINVAL },
        { "5 1 1 1\n\n4 1 1 1\n", "line 3: the job arrives before", -EINVAL },
        { "0 2000000 1 1\n", "too many tasks", -E2BIG },
        { "0 1 1 4000000000\n0 1 1 4000000000\n0 4 1 4e9 4e9 4e9 4e9\n", "line 3: the tasks up to",
          -E2BIG },
        { "0 1 1 4400000000\n", "cannot be '4400000000'", -EINVAL },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct hybrid_trace trace = { 0 };
        struct error error = { "" };

        assert_int_equal(hybrid_trace_read(cases[i].text, strlen(cases[i].text), &trace, &error),
                         cases[i].rc);
        if (strstr(error.text, cases[i].says) == NULL)
            fail_msg("'%s' is not in '%s'", cases[i].says, error.text);
        assert_null(trace.jobs);
    }
}

CHECK_MAIN(RUN(a_line_is_a_job), RUN(times_are_cut_not_rounded),
           RUN(only_the_first_jobs_may_be_kept), RUN(what_is_wrong_is_named_with_its_line))
