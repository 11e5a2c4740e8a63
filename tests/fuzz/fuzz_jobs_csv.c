/* SPDX-License-Identifier: Apache-2.0 */
/* What can be read can be written, and reads the same again. */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "trace/jobs_csv.h"
#include "trace/trace_write.h"

static char *write_text(const struct trace *trace, const struct names *families, size_t *ret_length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, ret_length);

    assert(out != NULL);
    assert(trace_write_csv(out, trace, families, NULL) == 0);
    (void)fclose(out);
    return text;
}

static void check_trace(const struct trace *trace, const struct names *families)
{
    uint64_t tasks = 0;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        const struct trace_job *job = &trace->jobs[i];

        assert(job->shape < trace->shapes.count);
        assert(job->arrival_ms >= 0 && job->arrival_ms <= LIMIT_TIME_MS);
        assert(job->work_ms >= 0 && job->work_ms <= LIMIT_TIME_MS);
        assert(i == 0 || job->arrival_ms >= trace->jobs[i - 1].arrival_ms);
        tasks += job->task_count;
    }
    assert(tasks == trace->task_total && tasks <= LIMIT_TASKS);

    struct trace again;
    size_t first_length = 0;
    size_t second_length = 0;
    char *first = write_text(trace, families, &first_length);

    assert(jobs_csv_read(first, first_length, families, &again, NULL) == 0);

    char *second = write_text(&again, families, &second_length);

    assert(first_length == second_length);
    assert(memcmp(first, second, first_length) == 0);
    trace_done(&again);
    free(first);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace trace = { 0 };
    struct error error = { "" };
    struct names families;

    names_init(&families);
    names_add(&families, "a", 1);
    names_add(&families, "b,c", 3);
    if (jobs_csv_read((const char *)data, size, &families, &trace, &error) < 0) {
        fuzz_check_error(&error);
        assert(trace.jobs == NULL);
    } else {
        check_trace(&trace, &families);
        trace_done(&trace);
    }
    names_done(&families);
    return 0;
}
