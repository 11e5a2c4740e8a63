/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/wait_stats.h"

#include <assert.h>
#include <stdlib.h>

static int compare_waits(const void *a, const void *b)
{
    const msec_t *left = a;
    const msec_t *right = b;

    return *left < *right ? -1 : *left > *right;
}

static msec_t percentile(const msec_t *sorted, uint32_t count, uint32_t percent)
{
    const uint64_t rank = ((uint64_t)count * percent + 99) / 100;

    return sorted[rank - 1];
}

struct wait_stats wait_stats_of(msec_t *waits, uint32_t count)
{
    /* As base/limits.h has it, the sum of LIMIT_TASKS times passes 64 bits by far. */
    __extension__ typedef __int128 wide_t;
    wide_t sum = 0;

    if (count == 0)
        return (struct wait_stats){ 0 };
    qsort(waits, count, sizeof(*waits), compare_waits);
    assert(waits[0] >= 0);
    for (uint32_t i = 0; i < count; i++)
        sum += waits[i];
    return (struct wait_stats){
        .count = count,
        .mean_ms = (msec_t)(sum / count),
        .p50_ms = percentile(waits, count, 50),
        .p95_ms = percentile(waits, count, 95),
    };
}
