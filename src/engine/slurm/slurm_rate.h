/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_rate.h - how fast a job runs, as it says in the comment that its user may change while it runs:
 *
 *     scontrol update JobId=$SLURM_JOB_ID Comment=stint:rate=0.83#2
 *
 * 'stint report-rate' does that on a node (slurm_report.h). What follows '#' only makes the report another than the last,
 * as one that says the same again counts too.
 *
 * Promises:  pure. Words that are no rate are passed over: the job runs already.
 * Costs:     O(length of the comment).
 */
#ifndef STINT_ENGINE_SLURM_RATE_H
#define STINT_ENGINE_SLURM_RATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the word of a comment, behind "stint:", is a report. */
bool slurm_rate_is_word(const char *word, size_t length);

/* Whether the comment (may be NULL) has a report other than 'last', which becomes it; 0: none so far. */
bool slurm_rate_hear(const char *comment, uint32_t *last, uint32_t *ret_ppm);

#endif
