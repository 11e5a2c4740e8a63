/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fit_mask.h - which of up to 64 demands may fit into what is free, in one look for all of them.
 *
 * Amounts are distinguished in steps of a quarter of a power of two. For each kind and step it is kept, one bit per row, which rows ask for
 * no more than that step; a few table look-ups, joined, leave the rows that are worth a comparison.
 *
 * Promises:  a row that fits is always among them; one among them fits but for what a step hides, so it is compared.
 * Costs:     to build, O(rows + steps); to ask, O(kinds).
 * Memory:    the caller's, 1.5 KiB.
 */
#ifndef STINT_DECIDE_FIT_MASK_H
#define STINT_DECIDE_FIT_MASK_H

#include <string.h>

#include "model/res.h"

enum {
    FIT_ROWS = 64,
    FIT_STEP_BITS = 2,  /* so many of an amount's bits behind the first distinguish steps */
    FIT_FIRST_BITS = 6, /* 2^6 is added to each amount: there are no steps below */
    FIT_LAST_BITS = 22, /* amounts of nearly 2^22 and above are one step */
    FIT_STEPS = (FIT_LAST_BITS - FIT_FIRST_BITS) << FIT_STEP_BITS,
};

struct fit_mask {
    uint64_t rows[FIT_STEPS][RES_PRICED];
};

/* Grows with the amount, which is not below 0. */
static inline uint32_t fit_step(int64_t amount)
{
    const int64_t first = 1 << FIT_FIRST_BITS;
    const int64_t most = (1 << FIT_LAST_BITS) - 1 - first;
    const uint64_t shifted = (uint64_t)((amount < most ? amount : most) + first);
    const uint32_t bits = 63 - (uint32_t)__builtin_clzll(shifted);

    return (uint32_t)(shifted >> (bits - FIT_STEP_BITS)) + (bits << FIT_STEP_BITS) -
           ((FIT_FIRST_BITS + 1) << FIT_STEP_BITS);
}

static inline void fit_mask_begin(struct fit_mask *mask)
{
    memset(mask, 0, sizeof(*mask));
}

/* NULL: what the row asks for is not known, it may always fit. */
static inline void fit_mask_add(struct fit_mask *mask, uint32_t row, const struct res *demand)
{
    for (int kind = 0; kind < RES_PRICED; kind++)
        mask->rows[demand != NULL ? fit_step(demand->amount[kind]) : 0][kind] |= (uint64_t)1 << row;
}

static inline void fit_mask_end(struct fit_mask *mask)
{
    for (uint32_t step = 1; step < FIT_STEPS; step++) {
        for (int kind = 0; kind < RES_PRICED; kind++)
            mask->rows[step][kind] |= mask->rows[step - 1][kind];
    }
}

/* A bit for each row that may fit. */
static inline uint64_t fit_mask_ask(const struct fit_mask *mask, const struct res *free)
{
    uint64_t rows = ~(uint64_t)0;

    for (int kind = 0; kind < RES_PRICED; kind++)
        rows &= mask->rows[fit_step(free->amount[kind])][kind];
    return rows;
}

/* res_fits() of amounts that are not below 0, in one comparison. */
static inline bool fit_now(const struct res *demand, const struct res *free)
{
    int64_t signs = 0;

    for (int kind = 0; kind < RES_KINDS; kind++)
        signs |= free->amount[kind] - demand->amount[kind];
    return signs >= 0;
}

/* The first row of a set that is not empty, and the rows behind one. */
static inline uint32_t fit_first(uint64_t rows)
{
    return (uint32_t)__builtin_ctzll(rows);
}

static inline uint64_t fit_behind(uint64_t rows, uint32_t row)
{
    return rows & ~(((uint64_t)2 << row) - 1);
}

#endif
