/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include "sim/shortlong.h"
#include "trace/hybrid_trace.h"

enum { TASKS_RUN = 2000 }; /* larger traces are only read */

static void check_trace(const struct hybrid_trace *trace)
{
    uint32_t tasks = 0;

    assert(trace->job_count > 0 && trace->job_count <= HYBRID_JOBS_MAX);
    for (uint32_t i = 0; i < trace->job_count; i++) {
        assert(trace->jobs[i].first == tasks && trace->jobs[i].tasks > 0);
        assert(i == 0 || trace->jobs[i - 1].arrival_ms <= trace->jobs[i].arrival_ms);
        tasks += trace->jobs[i].tasks;
    }
    assert(tasks == trace->task_count);
    for (uint32_t i = 0; i < tasks; i++)
        assert(trace->work_ms[i] >= 0 && trace->work_ms[i] <= HYBRID_WORK_MAX);
}

/* Whatever the jobs are, each task runs. */
static void check_run(const struct hybrid_trace *trace)
{
    struct shortlong_config config = shortlong_eagle(trace);
    struct shortlong_result result;

    config.short_servers = 2;
    config.long_servers = 5;
    config.rule =
        (struct short_partition_rule){ .most = 3, .threshold_ppm = 600000, .strict = true };
    config.idle_pull = trace->job_count % 2 == 0;
    config.boundary_pull = trace->task_count % 2 == 0;
    shortlong_run(&config, &result);
    assert(result.peak <= 3);
    shortlong_result_done(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct hybrid_trace trace = { 0 };
    struct error error = { "" };

    if (hybrid_trace_read((const char *)data, size, &trace, &error) < 0) {
        fuzz_check_error(&error);
        assert(trace.jobs == NULL);
        return 0;
    }
    check_trace(&trace);
    if (trace.task_count <= TASKS_RUN)
        check_run(&trace);
    hybrid_trace_done(&trace);
    return 0;
}
