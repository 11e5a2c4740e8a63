/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_rank.h - a job's place in Slurm's queue, as one number: the higher, the sooner.
 *
 * With priority/multifactor that is Slurm's own priority (fair share, QOS, partition, size, nice). Slurm lets
 * age count only from the time at which a job may begin, which the gate puts off, unless slurm.conf has
 * PriorityFlags=ACCRUE_ALWAYS; so the part that age would have by now is added here, by Slurm's rule. It grows in
 * steps of PriorityCalcPeriod, as Slurm's does.
 *
 * With priority/basic the priority only says in which order jobs were last released, so the age of a job decides, and
 * before it the nice value, by which "scontrol top" works.
 *
 * Promises:  pure.
 */
#ifndef STINT_ENGINE_SLURM_RANK_H
#define STINT_ENGINE_SLURM_RANK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "engine/slurm/slurm_release.h"

/* Of a job that was placed, at least: above what any of Slurm's plugins gives, below its words for "none" and "no limit". */
#define SLURM_PLACED_PRIORITY 0xfffff000U

/* Of slurm.conf. */
struct slurm_rank_rules {
    bool is_multifactor;
    bool accrues_always;
    uint32_t weight_age;
    uint32_t max_age_s;
    uint32_t period_s;
};

struct slurm_rank_rules slurm_rank_rules(const slurm_conf_t *conf);

/* The priority of a job that was placed on these nodes, "a,b;c": the fewer, the higher. */
uint32_t slurm_rank_placed(const char *nodes);

/* The rank of a job that waits and was to begin at 'eligible'; 0: Slurm does not say, for it is held or placed. */
uint32_t slurm_rank(const slurm_job_info_t *job, const struct slurm_rank_rules *rules,
                    time_t eligible, time_t now);

#endif
