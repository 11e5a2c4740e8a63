/* SPDX-License-Identifier: Apache-2.0 */
/*
 * avail_states.h - which offers were gone together, and for how long.
 *
 * A history of several offers, cut wherever one of them comes or goes, is a list of joint states:
 * what was gone, and the time for which exactly that was gone. Equal states are one, so the cost of a
 * question grows with the number of different states. No independence is assumed.
 *
 * Promises:  times are whole milliseconds; the shortfall of a pool is exact for the history.
 * Costs:     O(states x offers / 64) to add or ask.
 * Memory:    the arena's.
 */
#ifndef STINT_DECIDE_AVAIL_STATES_H
#define STINT_DECIDE_AVAIL_STATES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/units.h"

struct avail_states {
    struct arena *arena;
    uint32_t offers;
    uint32_t words; /* of a state's bits */
    uint32_t count;
    uint32_t room;
    uint64_t *gone; /* 'words' per state, bit i for offer i */
    msec_t *span;
    msec_t total;
};

void avail_states_init(struct avail_states *states, uint32_t offers, struct arena *arena);

/* For 'span' exactly those offers were gone for which 'is_gone' says so. */
void avail_states_add(struct avail_states *states, const bool *is_gone, msec_t span);

bool avail_states_is_gone(const struct avail_states *states, uint32_t state, uint32_t offer);

/* The time for which offer 'offer' was gone. */
msec_t avail_states_gone(const struct avail_states *states, uint32_t offer);

/* The time with less than 'capacity', where offer i has held[i] units. */
msec_t avail_states_below(const struct avail_states *states, const int64_t *held, int64_t capacity);

#endif
