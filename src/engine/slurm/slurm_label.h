/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_label.h - the ids of jobs as Slurm's commands print them.
 *
 *     12              a job, or an array: the first of its tasks that waits
 *     12_3            a task of an array;  12_[3-9%2] and 12_[5,7] as squeue prints what waits: its first
 *     12.0            a task of a job on several nodes
 *     12+1            a component of a heterogeneous job
 *     12.batch, 12_3.extern, 12+0.interactive   steps: their job
 *
 * Promises:  pure; anything else is refused.
 */
#ifndef STINT_ENGINE_SLURM_LABEL_H
#define STINT_ENGINE_SLURM_LABEL_H

#include <stdbool.h>
#include <stdint.h>

struct slurm_label {
    uint32_t job;       /* of a component: that of the first */
    uint32_t component; /* its number */
    uint32_t index;
    uint32_t rank;
    bool is_member; /* of an array, with 'index' */
};

bool slurm_label_read(const char *text, struct slurm_label *ret);

#endif
