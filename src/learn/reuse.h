/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reuse.h - how often a machine that has no work gets some with the next decision.
 *
 * Where decisions are made in rounds, a machine whose last task has ended stands idle until the next one. Whether it is
 * worth its price until then depends on whether it is used then; that is counted. Machines for whose room a task waits are
 * left out: they are used for certain.
 *
 * Promises:  pure, whole numbers; a struct of zeros knows nothing, and the chance is a half. Old counts fade.
 * Costs:     O(1).
 */
#ifndef STINT_LEARN_REUSE_H
#define STINT_LEARN_REUSE_H

#include <stdint.h>

enum { REUSE_PPM = 1000000, REUSE_SEEN_MOST = 1024 };

struct reuse {
    uint64_t idle; /* machines without work at a decision */
    uint64_t used; /* those of them that got work by it */
};

static inline void reuse_note(struct reuse *reuse, uint32_t idle, uint32_t used)
{
    reuse->idle += idle;
    reuse->used += used;
    while (reuse->idle > REUSE_SEEN_MOST) {
        reuse->idle /= 2;
        reuse->used /= 2;
    }
}

/* The chance in millionths that one is used (Laplace's rule of succession). */
static inline uint32_t reuse_chance(const struct reuse *reuse)
{
    return (uint32_t)((reuse->used + 1) * REUSE_PPM / (reuse->idle + 2));
}

#endif
