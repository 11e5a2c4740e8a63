/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/suggest.h"

#include <stddef.h>
#include <string.h>

enum { LETTERS_MAX = 31 };

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

uint32_t suggest_distance(const char *left, const char *right)
{
    const uint32_t rows = (uint32_t)strnlen(left, LETTERS_MAX);
    const uint32_t columns = (uint32_t)strnlen(right, LETTERS_MAX);
    uint32_t cost[LETTERS_MAX + 1][LETTERS_MAX + 1];

    for (uint32_t i = 0; i <= rows; i++)
        cost[i][0] = i;
    for (uint32_t j = 0; j <= columns; j++)
        cost[0][j] = j;
    for (uint32_t i = 1; i <= rows; i++) {
        for (uint32_t j = 1; j <= columns; j++) {
            const uint32_t change = cost[i - 1][j - 1] + (left[i - 1] != right[j - 1]);

            cost[i][j] = least(change, least(cost[i - 1][j], cost[i][j - 1]) + 1);
            if (i > 1 && j > 1 && left[i - 1] == right[j - 2] && left[i - 2] == right[j - 1])
                cost[i][j] = least(cost[i][j], cost[i - 2][j - 2] + 1);
        }
    }
    return cost[rows][columns];
}

const char *suggest(const char *word, const char *const *words, uint32_t count)
{
    const char *best = NULL;
    uint32_t best_distance = UINT32_MAX;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t distance = suggest_distance(word, words[i]);
        const uint32_t near = (uint32_t)strlen(words[i]) / 3;

        if (distance <= (near > 1 ? near : 1) && distance < best_distance) {
            best = words[i];
            best_distance = distance;
        }
    }
    return best;
}
