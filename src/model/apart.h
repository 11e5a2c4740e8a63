/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apart.h - which tasks must not be on one machine.
 *
 * A task has marks and shuns marks: two tasks keep apart if one of them shuns a mark that the other has. Of a group of which no two may
 * be on one machine, each has the group's mark and shuns it. Where one kind of work keeps away from another, the first
 * shuns a mark that the second has, and tasks of each share machines among themselves.
 *
 * What a task keeps apart from is a number (view's job.apart), the same for all tasks of its job:
 *
 *   - APART_NONE: from nothing;
 *   - below APART_GROUPS, the row of a job: its tasks from each other;
 *   - below APART_SETS, a group, by the hash of whatever tells groups apart. Two groups may have the same number: then they keep
 *     apart, too, which costs a little and is never wrong;
 *   - from there on a set of marks, each set kept once.
 *
 * Costs:   to ask O(1) for all but sets, of these O(marks of the two).
 * Memory:  owned by the sets, 8 bytes a mark; numbers are stable. A set stays, as shapes do.
 */
#ifndef STINT_MODEL_APART_H
#define STINT_MODEL_APART_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"

#define APART_NONE   UINT32_MAX
#define APART_GROUPS ((uint32_t)1 << 31)
#define APART_SETS   ((uint32_t)3 << 30)

enum { APART_MARKS_MAX = 64 }; /* of one set */

enum apart_side {
    APART_HAS = 1,
    APART_SHUNS = 2,
    APART_BOTH = 3,
};

struct apart_mark {
    uint64_t mark; /* any number */
    uint8_t sides; /* enum apart_side */
};

/* A mark as it is compared: a row of a job or a group. */
struct apart_word {
    uint32_t mark;
    uint32_t sides;
};

struct aparts {
    struct apart_word *words;
    uint32_t word_count;
    uint32_t words_room;
    uint32_t *first; /* per set: its first word; and one more, where the next set would begin */
    uint32_t set_count;
    uint32_t first_room;
    struct map by_hash; /* to find equal sets */
    uint32_t *chain;    /* next set of the same hash */
    uint32_t chain_room;
};

void aparts_init(struct aparts *aparts);
void aparts_done(struct aparts *aparts);

/* 'to' is not initialised; every set has the same number there. */
void aparts_copy(struct aparts *to, const struct aparts *from);

/* The number of a group. */
uint32_t apart_group(uint64_t mark);

/* The number for these marks, at most APART_MARKS_MAX, in any order; of a mark that is there twice, both sides. APART_NONE for none. */
uint32_t aparts_add(struct aparts *aparts, const struct apart_mark *marks, uint32_t count);

/* The number for the marks of both. */
uint32_t aparts_join(struct aparts *aparts, uint32_t a, uint32_t b);

/* The marks that the number stands for; 'room' is for one that is no set. None of APART_NONE. */
uint32_t aparts_words(const struct aparts *aparts, uint32_t apart, struct apart_word *room,
                      const struct apart_word **ret);

bool aparts_sets_meet(const struct aparts *aparts, uint32_t a, uint32_t b);

/* Whether a task with the one number must not be on a machine with a task with the other; also of one number twice. */
static inline bool aparts_meet(const struct aparts *aparts, uint32_t a, uint32_t b)
{
    if (a == APART_NONE || b == APART_NONE)
        return false;
    return a < APART_SETS && b < APART_SETS ? a == b : aparts_sets_meet(aparts, a, b);
}

#endif
