/* SPDX-License-Identifier: Apache-2.0 */
/* Every record is a job or left out for a reason, and every job is within the limits. */
#include "fuzz.h"

#include "base/limits.h"
#include "trace/swf.h"

static void check_log(const struct swf_log *log)
{
    const struct swf_left_out *out = &log->left_out;
    uint64_t tasks = 0;

    for (uint32_t i = 0; i < log->trace.job_count; i++) {
        const struct trace_job *job = &log->trace.jobs[i];

        assert(job->shape < log->trace.shapes.count);
        assert(job->arrival_ms >= 0 && job->arrival_ms <= LIMIT_TIME_MS);
        assert(job->work_ms > 0 && job->work_ms <= LIMIT_TIME_MS);
        assert(job->estimate_ms >= -1 && job->estimate_ms <= LIMIT_TIME_MS);
        assert(job->task_count > 0 && job->task_count <= LIMIT_TASKS_PER_JOB);
        assert(i == 0 || job->arrival_ms >= log->trace.jobs[i - 1].arrival_ms);
        tasks += job->task_count;
    }
    assert(tasks == log->trace.task_total && tasks <= LIMIT_TASKS);
    assert(log->trace.job_count + out->partial + out->never_ran + out->no_processors +
               out->no_submit + out->not_completed ==
           log->records);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct swf_options options[] = {
        { .processors_per_instance = 16, .alpha_ppm = SWF_ALPHA_ONE },
        { .processors_per_instance = 1,
          .alpha_ppm = SWF_ALPHA_MAX,
          .keep = SWF_KEEP_COMPLETED,
          .name = SWF_NAME_QUEUE,
          .arrival_from_log = true,
          .memory = true },
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
        struct swf_log log = { 0 };
        struct error error = { "" };

        if (swf_read((const char *)data, size, &options[i], &log, &error) < 0) {
            fuzz_check_error(&error);
            assert(log.trace.jobs == NULL);
            continue;
        }
        check_log(&log);
        swf_done(&log);
    }
    return 0;
}
