/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sbatch_options.h - the options of sbatch, as far as they say what a job needs.
 *
 * Options come from a command line and from the #SBATCH lines of a script; what stands later counts, so the script is
 * read first. Options of sbatch that say nothing about size, time or place are known and passed over.
 *
 * Promises:  any text may be given. -EINVAL: 'reterr' says which option is wrong, and what it should be.
 */
#ifndef STINT_CLI_SBATCH_OPTIONS_H
#define STINT_CLI_SBATCH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/line.h"

enum { SBATCH_TEXT = 256 };

/* Numbers that were not given are 0, times -1, texts "". */
struct sbatch_options {
    uint64_t nodes, ntasks, ntasks_per_node, cpus_per_task;
    uint64_t mem_mib, mem_per_cpu_mib, tmp_mib;
    uint64_t array_size;
    int64_t limit_s;
    bool all_memory; /* --mem=0 */
    bool exclusive;
    bool no_requeue;
    char name[SBATCH_TEXT], partition[SBATCH_TEXT], account[SBATCH_TEXT], qos[SBATCH_TEXT];
    char features[SBATCH_TEXT], comment[SBATCH_TEXT];
    char gres[SBATCH_TEXT], gpus[SBATCH_TEXT], gpus_per_task[SBATCH_TEXT];
};

void sbatch_options_init(struct sbatch_options *options);

/* The words of a command line up to the first that is no option; its index is returned, 'count' if there is none. */
int sbatch_options_words(struct sbatch_options *options, const char *const *words, int count,
                         struct error *reterr);

/* The #SBATCH lines of a script, up to its first command. 'text' ends with a zero and is changed. */
int sbatch_options_script(struct sbatch_options *options, char *text, struct error *reterr);

/* "30", "30:00", "1:00:00", "2-12", "2-12:30", "2-12:30:00", as -t takes it; -1: it has no limit. */
int sbatch_time(const char *text, int64_t *ret_s);

/* The job as fields of a line (docs/reference/protocols/slurm.md, `job`). */
void sbatch_options_print(const struct sbatch_options *options, const char *user,
                          struct line_text *ret);

#endif
