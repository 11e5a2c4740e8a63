/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/avail_states.h"

#include <assert.h>
#include <string.h>

enum { WORD_BITS = 64, FIRST_ROOM = 64 };

void avail_states_init(struct avail_states *states, uint32_t offers, struct arena *arena)
{
    *states =
        (struct avail_states){ .arena = arena, .offers = offers, .words = offers / WORD_BITS + 1 };
}

static uint64_t *bits_of(const struct avail_states *states, uint32_t state)
{
    return states->gone + (size_t)state * states->words;
}

static void grow(struct avail_states *states)
{
    const struct avail_states old = *states;

    states->room = old.room > 0 ? 2 * old.room : FIRST_ROOM;
    states->gone = ARENA_ARRAY(states->arena, uint64_t, (size_t)states->room * states->words);
    states->span = ARENA_ARRAY(states->arena, msec_t, states->room);
    if (old.count > 0) {
        memcpy(states->gone, old.gone, (size_t)old.count * old.words * sizeof(*old.gone));
        memcpy(states->span, old.span, old.count * sizeof(*old.span));
    }
}

/* The state with those bits, from the last one back: what was is likely to be again. */
static uint32_t find(const struct avail_states *states, const uint64_t *bits)
{
    for (uint32_t i = states->count; i > 0; i--) {
        if (memcmp(bits_of(states, i - 1), bits, states->words * sizeof(*bits)) == 0)
            return i - 1;
    }
    return states->count;
}

void avail_states_add(struct avail_states *states, const bool *is_gone, msec_t span)
{
    assert(span >= 0);
    if (span == 0)
        return;
    if (states->count == states->room)
        grow(states);

    uint64_t *bits = bits_of(states, states->count);

    memset(bits, 0, states->words * sizeof(*bits));
    for (uint32_t i = 0; i < states->offers; i++)
        bits[i / WORD_BITS] |= (uint64_t)is_gone[i] << i % WORD_BITS;

    const uint32_t state = find(states, bits);

    if (state == states->count) {
        states->span[state] = 0;
        states->count++;
    }
    states->span[state] += span;
    states->total += span;
}

bool avail_states_is_gone(const struct avail_states *states, uint32_t state, uint32_t offer)
{
    return (bits_of(states, state)[offer / WORD_BITS] >> offer % WORD_BITS & 1) != 0;
}

msec_t avail_states_gone(const struct avail_states *states, uint32_t offer)
{
    msec_t sum = 0;

    for (uint32_t i = 0; i < states->count; i++)
        sum += avail_states_is_gone(states, i, offer) ? states->span[i] : 0;
    return sum;
}

msec_t avail_states_below(const struct avail_states *states, const int64_t *held, int64_t capacity)
{
    msec_t sum = 0;

    for (uint32_t i = 0; i < states->count; i++) {
        int64_t left = 0;

        for (uint32_t k = 0; k < states->offers && left < capacity; k++)
            left += avail_states_is_gone(states, i, k) ? 0 : held[k];
        sum += left < capacity ? states->span[i] : 0;
    }
    return sum;
}
