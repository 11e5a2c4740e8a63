/* SPDX-License-Identifier: Apache-2.0 */
/*
 * word_list.h - words in a text: the partitions "a,b" of a job, the words of a comment.
 *
 * Promises:  pure; a list of NULL has no words, and the empty word is in none.
 * Costs:     O(length of the list).
 */
#ifndef STINT_BASE_WORD_LIST_H
#define STINT_BASE_WORD_LIST_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the word of 'length' bytes is in the list, whole. One of 'separators' stands between two words. */
bool word_list_has(const char *list, const char *separators, const char *word, size_t length);

#endif
