/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rent_ways.h - the ways to get a machine for tasks that wait, without those that others replace.
 *
 * Offers that all waiting tasks see alike and that are billed alike are one way, whatever their market. A way that another one
 * beats in every respect is left out. Of many, a few stand for all: a type gives way to one that has no less of anything and costs
 * hardly more; all are kept beside them, by price, for the choice of the machine that holds just what was put together.
 *
 * What was found is kept in a memory, and found there as long as prices, risks and refusals are the same, and the work is constrained alike;
 * and so is what resources are worth, for what was wanted last.
 *
 * Costs:   O(o + t log t + t k) for o offers and t types of which k are left (twice, if billed in two ways); for many, some times as much.
 *          O(o), a comparison of arrays, for what is kept.
 * Memory:  the arena's; of what is kept, the memory's.
 */
#ifndef STINT_DECIDE_RENT_WAYS_H
#define STINT_DECIDE_RENT_WAYS_H

#include "decide/batches.h"
#include "decide/offer_classes.h"
#include "decide/resource_price.h"
#include "decide/risk.h"

enum {
    RENT_WAYS_MAX = 96,    /* that stand for all, where many are to be few */
    RENT_WAYS_WORTHS = 64, /* sums of what is wanted whose prices are kept */
};

/* An offer, and what an hour of it costs where nothing is at stake, and where most is. */
struct rival {
    uint32_t offer;
    double least;
    double most;
    struct rival *next;
};

/* A class of offers and how it is billed. Of its open offers those that are the cheapest for some runtime: which
 * one it is to be is known only when it is known what would be done there. */
struct way {
    struct rival *rivals;
    double least; /* of any of them */
    double most;
    double share;     /* of its price that the resources of such a machine are worth */
    struct way *next; /* of the same class */
};

/* A way beside what its machines have: all are looked through for each machine. */
struct sized_way {
    struct res capacity;
    const struct way *way;
};

struct rent_ways {
    const struct view *view;
    struct arena *arena;
    struct offer_classes classes; /* of the tasks in the batches */
    struct way *rows;
    struct resource_offer
        *bundles; /* per row: what a machine has, and what it costs where most is at stake */
    uint32_t count;
    struct sized_way *sized; /* those that others stand for included; the cheapest first */
    uint32_t sized_count;
    bool has_risk; /* machines of some way may be taken away */
};

/* All that the list depends on, and the list: it is the same, to the bit, as if it were made from scratch. */
struct rent_ways_memory {
    struct arena arena;                /* of all below */
    const struct catalogue *catalogue; /* NULL: nothing is kept */
    uint32_t offer_count;
    uint32_t type_count;
    uint64_t changes; /* of the catalogue */
    money_t *price;   /* per offer, as the two below */
    msec_t *lasts;
    bool *is_open;
    struct risk_stake most;
    bool has_losses; /* machines of some offer may be taken away */
    bool choosy;
    bool few;
    struct rent_ways ways;
    struct {
        bool is_known;
        uint64_t wanted[RES_PRICED]; /* the bits of the numbers */
        struct resource_price worth;
    } worths[RENT_WAYS_WORTHS]; /* by a hash of what is wanted */
};

void rent_ways_memory_init(struct rent_ways_memory *memory);
void rent_ways_memory_done(struct rent_ways_memory *memory);

/* For the tasks that are left in the batches. 'few': no more than RENT_WAYS_MAX. 'memory' may be NULL, with the same answer; with one, what
 * is returned is valid until it is asked again. The 'share' of a way is left to the caller. */
void rent_ways_list(struct rent_ways *ways, const struct batches *batches, bool few,
                    struct rent_ways_memory *memory, struct arena *arena);

/* What resources are worth where they are got in these ways and so much is wanted: resource_price(), and kept. 'memory' is the one
 * of the list, or NULL. */
struct resource_price rent_ways_worth(const struct rent_ways *ways, const double wanted[RES_PRICED],
                                      struct rent_ways_memory *memory);

/* What is at stake for a task of the batch. */
struct risk_stake rent_stake_of(const struct view *view, const struct batch *batch);

#endif
