/* SPDX-License-Identifier: Apache-2.0 */
/*
 * suggest.h - which of some words was probably meant.
 *
 * Costs:  O(letters of the word times letters of a candidate) for each candidate.
 */
#ifndef STINT_CLI_SUGGEST_H
#define STINT_CLI_SUGGEST_H

#include <stdint.h>

/* How many letters have to be added, left out, changed or swapped with the next to make one word of the other; words
 * beyond 31 letters are compared by their first 31. */
uint32_t suggest_distance(const char *left, const char *right);

/* The nearest of 'count' words, the first of those that are as near; NULL: none is near, which is a third of its
 * letters but at least one. */
const char *suggest(const char *word, const char *const *words, uint32_t count);

#endif
