/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_burst.h - for how long jobs wait for owned nodes before a machine is rented for them (decide/burst.h): what a
 * job's comment says, else the first entry of 'bursts' that is for its partition and account, else 'burst'.
 *
 *     burst: { after: 10m }
 *     bursts:
 *       - { account: rush, after: 0 }
 *       - { partition: batch, waiting_hour: 0.50 }
 *
 *     sbatch --comment=stint:burst=30m
 *
 * Memory:  in the arena of the settings that are read, or of the copy.
 */
#ifndef STINT_ENGINE_SLURM_BURST_H
#define STINT_ENGINE_SLURM_BURST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/burst_rule.h"
#include "trace/settings.h"

/* For jobs of this partition and account; NULL: of any. */
struct slurm_burst {
    const char *partition;
    const char *account;
    struct burst_rule rule;
};

struct slurm_bursts {
    struct slurm_burst *row; /* the first that holds counts */
    uint32_t count;
    struct burst_rule other; /* where none does */
};

struct slurm_job_line;

int slurm_bursts_read(const struct settings *in, const struct doc_node *map,
                      struct slurm_bursts *ret);
bool slurm_bursts_same(const struct slurm_bursts *a, const struct slurm_bursts *b);
struct slurm_bursts slurm_bursts_copy(const struct slurm_bursts *from, struct arena *arena);

/* Whether an entry of a list of rules is for the job: of the account, and of one partition that it may run in; NULL: of
 * any. */
bool slurm_burst_is_for(const struct slurm_job_line *line, const char *partition,
                        const char *account);

/* Whether the word of a comment, behind "stint:", is one of these. */
bool slurm_burst_is_word(const char *word, size_t length);

/* What holds for the job of the line. False: its comment has a word that is not understood. */
bool slurm_burst_of(const struct slurm_bursts *bursts, const struct slurm_job_line *line,
                    struct burst_rule *ret);

#endif
