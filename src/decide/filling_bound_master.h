/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filling_bound_master.h - the cheapest mix of known fillings, and what each row is worth in it.
 *
 * A revised simplex method with a dense inverse: rows "at least this much", columns of positive entries.
 * It starts from one column per row that has nothing but a 1 there, so it needs no first phase.
 *
 * Promises:  prices that are optimal up to rounding. Who needs certainty checks them against all columns,
 *            known or not: that is what pricing does.
 * Costs:     O(rows^2 + entries of all columns) a step.
 */
#ifndef STINT_DECIDE_FILLING_BOUND_MASTER_H
#define STINT_DECIDE_FILLING_BOUND_MASTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

struct master_entry {
    uint32_t row;
    double value;
};

struct master_column {
    double cost;
    const struct master_entry *entries;
    uint32_t count;
};

struct master {
    struct arena *arena;
    uint32_t rows;
    const double *at_least;
    struct master_column *columns; /* the first 'rows' are the ones that it started with */
    uint32_t count;
    uint32_t room;
    uint32_t *basis;   /* per row: a column, or rows' surplus from MASTER_SURPLUS on */
    double *inverse;   /* of the basis, by rows */
    double *amount;    /* per row: of its basic column */
    double *dual;      /* per row */
    double *direction; /* of the column that enters */
};

#define MASTER_SURPLUS 0x80000000u

/* 'at_least' is above zero and outlives the master, 'alone' is what a 1 in each row alone costs. */
void master_init(struct master *master, struct arena *arena, uint32_t rows, const double *at_least,
                 const double *alone);

/* The entries are copied. */
void master_add(struct master *master, double cost, const struct master_entry *entries,
                uint32_t count);

/* One step nearer to the prices of the cheapest mix, in 'dual'; false: there is none left. A circle among equal
 * ratios never ends: who calls it counts, and has the prices of a mix after every step. */
bool master_step(struct master *master);

/* What the mix costs. */
double master_cost(const struct master *master);

#endif
