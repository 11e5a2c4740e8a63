/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/slurm/slurm_rank.h"

#include <string.h>

struct slurm_rank_rules slurm_rank_rules(const slurm_conf_t *conf)
{
    if (conf == NULL || conf->priority_type == NULL ||
        strstr(conf->priority_type, "multifactor") == NULL)
        return (struct slurm_rank_rules){ .is_multifactor = false };
    return (struct slurm_rank_rules){
        .is_multifactor = true,
        .accrues_always = (conf->priority_flags & PRIORITY_FLAGS_ACCRUE_ALWAYS) != 0,
        .weight_age = conf->priority_weight_age,
        .max_age_s = conf->priority_max_age,
        .period_s = conf->priority_calc_period,
    };
}

/* What age adds that Slurm does not count. */
static uint64_t age_part(const slurm_job_info_t *job, const struct slurm_rank_rules *rules,
                         time_t eligible, time_t now)
{
    const bool is_counted =
        rules->accrues_always || (job->accrue_time > 0 && job->accrue_time <= now);
    const time_t since = job->submit_time > eligible ? job->submit_time : eligible;
    const time_t until = rules->period_s > 0 ? now - now % (time_t)rules->period_s : now;

    if (is_counted || rules->max_age_s == 0 || until <= since)
        return 0;
    const uint64_t age = (uint64_t)(until - since);

    return age < rules->max_age_s ? age * rules->weight_age / rules->max_age_s : rules->weight_age;
}

uint32_t slurm_rank_placed(const char *nodes)
{
    const uint32_t most = NO_VAL - 1 - SLURM_PLACED_PRIORITY;
    uint32_t more = 0;

    for (; *nodes != '\0' && more < most; nodes++)
        more += *nodes == ',' || *nodes == ';';
    return SLURM_PLACED_PRIORITY + most - more;
}

uint32_t slurm_rank(const slurm_job_info_t *job, const struct slurm_rank_rules *rules,
                    time_t eligible, time_t now)
{
    if (job->priority == 0 || job->priority >= SLURM_PLACED_PRIORITY)
        return 0;
    if (!rules->is_multifactor)
        return UINT32_MAX - job->nice;
    const uint64_t rank = job->priority + age_part(job, rules, eligible, now);

    return rank < SLURM_PLACED_PRIORITY ? (uint32_t)rank : SLURM_PLACED_PRIORITY - 1;
}
