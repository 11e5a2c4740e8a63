/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_listed.h - names in a list: the words of a comment, the partitions of a job.
 *
 * Promises:  pure; a list of NULL is empty.
 * Costs:     O(length of the list).
 */
#ifndef STINT_ENGINE_SLURM_LISTED_H
#define STINT_ENGINE_SLURM_LISTED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the word of 'length' bytes stands in the list, which has one of 'separators' between two of them. */
bool slurm_listed(const char *list, const char *separators, const char *word, size_t length);

/* Whether a rule for the partition and the account, each of which may be NULL, is for a job of 'partitions' ("a,b") and
 * 'of_account'. */
bool slurm_listed_rule(const char *partition, const char *account, const char *partitions,
                       const char *of_account);

#endif
