/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room_order.h - machines in the order of a key, to find the first, the last or the roomiest of a range that
 * holds something.
 *
 * Entries are sorted by key, then by tie, and lie in blocks of a few dozen. Over the blocks stands a tree of which
 * each node has the most room below it, and one of the lowest keys, so that a search passes over what has no room. Between
 * blocks there are gaps, into which a block that is full is split.
 *
 * Promises:  what is found depends on the entries alone, not on how they came to be there.
 * Costs:     O(log n) to insert, to remove and to change; O(log n) to find, where the most room of a block is not
 *            made up of machines of which none has enough. 64 bytes an entry, and 160 a block.
 * Memory:    the arena's that it was given, or its own.
 */
#ifndef STINT_DECIDE_ROOM_ORDER_H
#define STINT_DECIDE_ROOM_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/units.h"
#include "model/res.h"

enum { ROOM_BLOCK = 32 };

/* Machines that lack CPUs and machines that lack memory are kept apart: the most of both together would
 * promise room that none of them has. */
enum { ROOM_KINDS = 2 };

struct room_place {
    msec_t key;
    uint64_t tie;
};

struct room_entry {
    struct room_place at;
    struct res free;
    uint32_t row;
};

/* The most room of some machines. */
struct room_most {
    struct res most[ROOM_KINDS]; /* per kind */
    int64_t sum;                 /* of all kinds together */
};

struct room_block;

struct room_order {
    struct arena *arena;       /* NULL: memory is its own */
    bool has_room;             /* else nobody asks for the room of its entries */
    struct room_block **slots; /* in order; NULL: a gap */
    struct room_place
        *low; /* a tree of the first places: node 1 is the root, leaf i is node leaves + i */
    struct room_most *most;   /* and one of the most room; NULL: nobody asks for it */
    uint32_t leaves;          /* a power of two, or 0: as many slots */
    uint32_t blocks;          /* in use */
    uint32_t count;           /* of entries */
    struct room_block *spare; /* not in use */
};

/* Without room it can be searched by place alone. */
void room_order_init(struct room_order *order, bool has_room, struct arena *arena);
void room_order_done(struct room_order *order);

/* Take the entries, which are in order, instead of those that are there. */
void room_order_fill(struct room_order *order, const struct room_entry *entries, uint32_t count);

/* The place is not taken. */
void room_order_insert(struct room_order *order, const struct room_entry *entry);

/* There is an entry at the place. */
void room_order_remove(struct room_order *order, struct room_place at);
void room_order_set_free(struct room_order *order, struct room_place at, const struct res *free);

/* The first entry at 'from' or after it, or NULL. Of use until the next change. */
const struct room_entry *room_order_next(const struct room_order *order, struct room_place from);

enum room_walk { ROOM_FIRST, ROOM_LAST, ROOM_MOST };

struct room_query {
    enum room_walk walk;
    struct room_place from; /* the range [from, to) */
    struct room_place to;
    struct res least;  /* what is taken at the least */
    int64_t sum_above; /* ROOM_MOST: only what has more room together */
    /* Whether a machine that has the least will do. */
    bool (*will_do)(const void *context, const struct room_entry *entry);
    const void *context;
};

/* The first, the last or the roomiest entry that will do, or NULL; of equally roomy ones the first. Of use until
 * the next change. */
const struct room_entry *room_order_search(const struct room_order *order,
                                           const struct room_query *query);

/* One number for "how much room": CPUs, GiB and accelerators added up, in thousandths. */
int64_t room_sum(const struct res *free);

static inline bool room_place_before(struct room_place a, struct room_place b)
{
    return a.key != b.key ? a.key < b.key : a.tie < b.tie;
}

#endif
