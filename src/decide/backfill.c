/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/backfill.h"

#include <assert.h>

/* When 'size' machines will be free, if 'free' are now and nothing more starts; and how many more
 * than that will be then. */
static msec_t reserve(const struct backfill_input *in, uint32_t free, uint32_t size,
                      uint32_t *ret_spare)
{
    uint64_t available = free;

    for (uint32_t i = 0; i < in->end_count;) {
        const msec_t at = in->ends[i].at;

        assert(i == 0 || in->ends[i - 1].at < at);
        while (i < in->end_count && in->ends[i].at == at)
            available += in->ends[i++].count;
        if (available >= size) {
            *ret_spare = (uint32_t)(available - size);
            return at > in->now ? at : in->now;
        }
    }
    *ret_spare = 0;
    return MSEC_NEVER;
}

struct backfill_result backfill_easy(const struct backfill_input *in)
{
    struct backfill_result result = { .free_after = in->free };
    uint32_t top = 0;

    for (; top < in->job_count && in->jobs[top].size <= result.free_after; top++) {
        in->jobs[top].starts = true;
        result.free_after -= in->jobs[top].size;
        result.any_starts = true;
    }
    result.top = top;
    result.reserved_at = in->now;
    if (top == in->job_count)
        return result;

    /*
     * Jobs that start in this very moment hold their machines until after the reservation or free
     * them before it; either way the reservation is made without counting on their end, which is
     * on the safe side: they are not among 'ends'.
     */
    uint32_t spare;

    result.reserved_at = reserve(in, result.free_after, in->jobs[top].size, &spare);
    in->jobs[top].starts = false;
    for (uint32_t i = top + 1; i < in->job_count; i++) {
        struct backfill_job *job = &in->jobs[i];
        const bool ends_before =
            result.reserved_at == MSEC_NEVER || in->now + job->runtime <= result.reserved_at;

        job->starts = job->size <= result.free_after && (ends_before || job->size <= spare);
        if (!job->starts)
            continue;
        result.any_starts = true;
        result.free_after -= job->size;
        if (!ends_before)
            spare -= job->size;
    }
    assert(result.free_after <= in->free);
    assert(result.reserved_at >= in->now);
    return result;
}
