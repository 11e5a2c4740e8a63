/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/short_partition.h"

/* How many servers there must be for the ratio not to pass the threshold. */
static uint64_t servers_needed(const struct short_partition_rule *rule, uint64_t with_long)
{
    if (rule->threshold_ppm == 0)
        return with_long > 0 ? UINT64_MAX : 0;
    return (with_long * SHORT_PARTITION_PPM + rule->threshold_ppm - 1) / rule->threshold_ppm;
}

int64_t short_partition_step(const struct short_partition_rule *rule,
                             const struct short_partition_view *view)
{
    const uint64_t need = servers_needed(rule, view->with_long);
    const uint64_t transient = (uint64_t)view->booting + view->active;
    const uint64_t total = view->fixed + transient;

    if (need > total) {
        const uint64_t counted = transient + (rule->strict ? view->draining : 0);
        const uint64_t room = counted < rule->most ? rule->most - counted : 0;

        return (int64_t)(need - total < room ? need - total : room);
    }
    if (view->active == 0 || (rule->strict && need > total - 1))
        return 0;
    return -1;
}

bool short_partition_admits(msec_t cutoff_ms, const struct short_partition_job *job)
{
    if (job->limit_ms <= cutoff_ms)
        return true;
    if (job->estimate_ms == MSEC_NEVER || job->error_ppm >= SHORT_PARTITION_PPM)
        return false;
    return job->estimate_ms <=
           mul_div(cutoff_ms, SHORT_PARTITION_PPM - job->error_ppm, SHORT_PARTITION_PPM);
}

uint32_t short_partition_budget(uint32_t servers, uint32_t ratio)
{
    const uint64_t most = (uint64_t)servers * ratio;

    return most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
}
