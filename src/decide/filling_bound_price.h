/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filling_bound_price.h - the filling of one offer that is worth most at given prices of the rows.
 *
 * Rows whose workloads disturb, and are disturbed by, all others alike are one class: with c classes, the
 * numbers of tasks of each class decide every rate. The search goes over these numbers, class by class. For
 * numbers that are worth a look, rates are fixed, and which rows the tasks are of is a knapsack with a
 * number of places per class.
 *
 * Where nobody disturbs anybody there is one class, and numbers do not matter: that is a knapsack alone, which
 * begins with the greedy filling.
 *
 * All prune by one argument. Weigh the kinds of resources, so that the shares of a machine's tasks add up
 * to at most 1, and charge t for the whole machine: then a filling is worth at most t, plus for each task
 * its price x rate less t x share. What is still to come has no higher rates than now. This holds for any
 * weights and any t; several are tried.
 *
 * Promises:  no filling of the offer is worth more than 'most', wherever the search stopped.
 */
#ifndef STINT_DECIDE_FILLING_BOUND_PRICE_H
#define STINT_DECIDE_FILLING_BOUND_PRICE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decide/filling_bound_master.h"
#include "model/res.h"

/* One task of a row takes so much of the machine. */
struct filling_item {
    uint32_t row;
    struct res demand; /* not nothing */
};

struct filling_offer {
    double price; /* above 0 */
    struct res capacity;
    const struct filling_item *items; /* the rows that may run there, in order */
    uint32_t item_count;
};

/* How the classes disturb each other. */
struct filling_rates {
    const uint32_t *class_of; /* per row */
    const double *rate;       /* [class * classes + other]; from 0 to 1 */
    uint32_t classes;
    double error; /* a rate may be higher by this than the product */
};

struct filling_question {
    const struct filling_offer *offer;
    const struct filling_rates *rates;
    const double *value; /* per row; what is not above zero is worth nothing */
    double above;        /* only fillings that are worth more are of interest */
    uint64_t node_most;
};

struct filling_answer {
    double most; /* no filling is worth more; at least 'above' */
    double best; /* what the best one that was found is worth; 0: none is worth more than 'above' */
    bool is_finished;
    uint64_t nodes;
    struct master_entry *entries; /* of the best one: progress by row; room for all items */
    uint32_t entry_count;
};

/* Scratch and 'entries' are of the arena. */
void filling_price(const struct filling_question *question, struct arena *arena,
                   struct filling_answer *ret);

#endif
