/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_ids.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"

struct id_line {
    uint64_t id;
    uint32_t line;
};

static int compare_ids(const void *a, const void *b)
{
    const struct id_line *left = a;
    const struct id_line *right = b;

    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    return left->line < right->line ? -1 : left->line > right->line;
}

static bool ids_rise(const struct trace *trace)
{
    for (uint32_t i = 1; i < trace->job_count; i++) {
        if (trace->jobs[i].id <= trace->jobs[i - 1].id)
            return false;
    }
    return true;
}

int trace_ids_check(const struct trace *trace, const uint32_t *lines, const char *word,
                    struct error *reterr)
{
    const uint32_t count = trace->job_count;
    int rc = 0;

    if (ids_rise(trace))
        return 0;

    struct id_line *ids = mem_alloc(count, sizeof(*ids));

    for (uint32_t i = 0; i < count; i++)
        ids[i] = (struct id_line){ trace->jobs[i].id, lines[i] };
    qsort(ids, count, sizeof(*ids), compare_ids);
    for (uint32_t i = 1; rc == 0 && i < count; i++) {
        if (ids[i].id == ids[i - 1].id)
            rc = error_set(reterr, -EINVAL,
                           "line %u: the %s %" PRIu64 " is that of the job in line %u too",
                           ids[i].line, word, ids[i].id, ids[i - 1].line);
    }
    mem_free(ids);
    return rc;
}
