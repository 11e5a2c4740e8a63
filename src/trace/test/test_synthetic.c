/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "base/limits.h"
#include "base/test/check.h"
#include "trace/synthetic.h"

static struct synthetic_spec some_spec(void)
{
    struct synthetic_spec spec = {
        .seed = 42,
        .task_count = 10000,
        .mean_gap_ms = 60000,
        .work_min_ms = 1000,
        .work_max_ms = 1000000,
        .gang_ppm = 200000,
        .gang_tasks_max = 5,
        .user_count = 3,
    };

    spec.mix = synthetic_default_mix(&spec.mix_count);
    return spec;
}

static void draw(struct trace *trace, const struct synthetic_spec *spec)
{
    struct error error = { "" };

    if (synthetic_draw(spec, trace, &error) < 0)
        fail_msg("%s", error.text);
}

TEST(the_same_spec_draws_the_same_trace)
{
    const struct synthetic_spec spec = some_spec();
    struct trace a;
    struct trace b;
    draw(&a, &spec);
    draw(&b, &spec);

    assert_int_equal(a.job_count, b.job_count);
    for (uint32_t i = 0; i < a.job_count; i++) {
        assert_int_equal(a.jobs[i].id, i);
        assert_int_equal(a.jobs[i].arrival_ms, b.jobs[i].arrival_ms);
        assert_int_equal(a.jobs[i].work_ms, b.jobs[i].work_ms);
        assert_int_equal(a.jobs[i].shape, b.jobs[i].shape);
        assert_int_equal(a.jobs[i].user, b.jobs[i].user);
        assert_int_equal(a.jobs[i].task_count, b.jobs[i].task_count);
    }
    trace_done(&a);
    trace_done(&b);
}

TEST(another_seed_draws_another_trace)
{
    struct synthetic_spec spec = some_spec();
    struct trace a;
    struct trace b;
    draw(&a, &spec);
    spec.seed++;
    draw(&b, &spec);

    assert_int_not_equal(a.jobs[0].arrival_ms, b.jobs[0].arrival_ms);
    trace_done(&a);
    trace_done(&b);
}

TEST(a_trace_has_the_qualities_that_were_asked_for)
{
    const struct synthetic_spec spec = some_spec();
    uint32_t gangs = 0;
    uint32_t below_middle = 0;
    struct trace trace;
    draw(&trace, &spec);

    assert_int_equal(trace.task_total, 10000);
    assert_int_equal(trace.users.count, 3);
    assert_int_equal(trace.shapes.count, spec.mix_count);
    for (uint32_t i = 0; i < trace.job_count; i++) {
        const struct trace_job *job = &trace.jobs[i];

        assert_true(job->work_ms >= 1000 && job->work_ms <= 1000000);
        assert_true(job->task_count >= 1 && job->task_count <= 5);
        assert_int_equal(job->gang, job->task_count > 1);
        assert_true(i == 0 || job->arrival_ms >= trace.jobs[i - 1].arrival_ms);
        gangs += job->gang;
        below_middle += job->work_ms < 31623; /* the middle, on a scale of powers */
    }

    const uint32_t count = trace.job_count;
    const msec_t gap = trace.jobs[count - 1].arrival_ms / count;

    assert_in_range(gangs, count / 5 - count / 20, count / 5 + count / 20);
    assert_in_range(below_middle, count / 2 - count / 20, count / 2 + count / 20);
    assert_in_range(gap, 57000, 63000);
    trace_done(&trace);
}

TEST(the_share_of_gangs_does_not_change_the_runtimes)
{
    struct synthetic_spec spec = some_spec();
    struct trace a;
    struct trace b;
    draw(&a, &spec);
    spec.gang_ppm = 0;
    draw(&b, &spec);

    assert_true(b.job_count == 10000);
    for (uint32_t i = 0; i < a.job_count; i++) {
        assert_int_equal(a.jobs[i].arrival_ms, b.jobs[i].arrival_ms);
        assert_int_equal(a.jobs[i].work_ms, b.jobs[i].work_ms);
        assert_int_equal(a.jobs[i].shape, b.jobs[i].shape);
    }
    trace_done(&a);
    trace_done(&b);
}

TEST(all_jobs_arrive_before_the_horizon)
{
    struct synthetic_spec spec = some_spec();
    struct trace trace;
    spec.mean_gap_ms = 0;
    spec.horizon_ms = 86400000;
    draw(&trace, &spec);

    assert_true(trace.jobs[trace.job_count - 1].arrival_ms < 86400000);
    assert_true(trace.jobs[trace.job_count / 2].arrival_ms > 40000000);
    trace_done(&trace);
}

TEST(a_spec_out_of_bounds_is_refused)
{
    struct synthetic_spec bad[8];
    struct synthetic_shape idle = { .weight = 0 };
    struct trace trace;

    for (int i = 0; i < 8; i++)
        bad[i] = some_spec();
    idle.spec = bad[0].mix[0].spec;
    bad[0].task_count = 0;
    bad[1].task_count = LIMIT_TASKS + 1;
    bad[2].work_max_ms = 10;
    bad[3].horizon_ms = 1;
    bad[4].mean_gap_ms = LIMIT_TIME_MS / 10000;
    bad[5].gang_tasks_max = 1;
    bad[6].mix_count = 0;
    bad[7].mix = &idle;
    bad[7].mix_count = 1;

    for (int i = 0; i < 8; i++) {
        struct error error = { "" };

        assert_int_equal(synthetic_draw(&bad[i], &trace, &error), -EINVAL);
        assert_string_not_equal(error.text, "");
    }
}

CHECK_MAIN(RUN(the_same_spec_draws_the_same_trace), RUN(another_seed_draws_another_trace),
           RUN(a_trace_has_the_qualities_that_were_asked_for),
           RUN(the_share_of_gangs_does_not_change_the_runtimes),
           RUN(all_jobs_arrive_before_the_horizon), RUN(a_spec_out_of_bounds_is_refused))
