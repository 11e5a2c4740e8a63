/* SPDX-License-Identifier: Apache-2.0 */
/*
 * id_set.h - a set of 64-bit ids.
 *
 * Ids are given out in order, and most sets of them are dense: sixteen ids that follow each other share one slot of a
 * map, as bits of its value.
 *
 * Promises:  any id is allowed. There is no iteration.
 * Costs:     expected O(1); about 2 bytes an id where all are there, at most 32 where they are far apart.
 */
#ifndef STINT_BASE_ID_SET_H
#define STINT_BASE_ID_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

struct id_set {
    struct map blocks; /* by id / 16: a bit for each that is there; never 0 */
};

void id_set_init(struct id_set *set);
void id_set_done(struct id_set *set);

/* 'to' is not initialised. */
void id_set_copy(struct id_set *to, const struct id_set *from);

bool id_set_has(const struct id_set *set, uint64_t id);
void id_set_add(struct id_set *set, uint64_t id);

/* Whether it was there. */
bool id_set_remove(struct id_set *set, uint64_t id);

#endif
