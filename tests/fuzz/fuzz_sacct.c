/* SPDX-License-Identifier: Apache-2.0 */
/* Every record is a job or left out for a reason; every job is within the limits and has names that
 * can be printed. */
#include "fuzz.h"

#include "base/limits.h"
#include "trace/input_text.h"
#include "trace/sacct.h"

static void check_jobs(const struct trace *trace)
{
    uint64_t tasks = 0;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];
        const struct res *demand = shape_demand_on(&trace->shapes, job->shape, 0);

        assert(job->arrival_ms >= 0 && job->arrival_ms <= LIMIT_TIME_MS);
        assert(job->work_ms > 0 && job->work_ms <= LIMIT_TIME_MS);
        assert(job->estimate_ms == -1 || job->estimate_ms >= job->work_ms);
        assert(job->estimate_ms <= LIMIT_TIME_MS);
        assert(job->task_count > 0 && job->task_count <= LIMIT_TASKS_PER_JOB);
        assert(i == 0 || job->arrival_ms >= trace->jobs[i - 1].arrival_ms);
        assert(demand->amount[RES_CPU] > 0);
        for (int kind = 0; kind < RES_KINDS; kind++)
            assert(demand->amount[kind] >= 0 && demand->amount[kind] <= LIMIT_RESOURCE);
        tasks += job->task_count;
    }
    assert(tasks == trace->task_total && tasks <= LIMIT_TASKS);
    for (uint32_t i = 0; i < trace->names.count; i++) {
        const char *name = names_text(&trace->names, i);

        assert(text_name_fault(name, strlen(name)) == NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    for (int demand = SACCT_DEMAND_REQUESTED; demand <= SACCT_DEMAND_ALLOCATED; demand++) {
        struct sacct_log log = { 0 };
        struct error error = { "" };

        if (sacct_read((const char *)data, size, (enum sacct_demand)demand, &log, &error) < 0) {
            fuzz_check_error(&error);
            assert(log.trace.jobs == NULL);
            continue;
        }

        const struct sacct_left_out *out = &log.left_out;

        check_jobs(&log.trace);
        assert(log.trace.job_count + out->pending + out->never_ran + out->no_start +
                   out->no_submit + out->no_size ==
               log.records);
        assert(log.waits.p50_ms <= log.waits.p95_ms);
        sacct_done(&log);
    }
    return 0;
}
