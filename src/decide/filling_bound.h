/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filling_bound.h - what no plan can cost less than, interference and whole tasks included.
 *
 * A filling is an offer and the tasks that share a machine of it. In an hour it costs the offer's price
 * and gives every task the progress of its rate beside the others. Whatever a plan does, it is a mix of
 * fillings, each for some time; the cheapest mix that gives every shape its amount of work is a linear
 * program. Its dual prices each shape so that no filling is worth more than its machine; amounts times
 * such prices are the bound.
 *
 * There are too many fillings to list, so they are generated: solve the program over those known
 * (filling_bound_master.h), look for the filling that is worth most at the dual prices, offer by offer
 * (filling_bound_price.h), add it, repeat. The search may stop anywhere, and then still knows a value that
 * no filling exceeds: the duals, divided by the largest such excess over a price, are valid prices. The duals of
 * the first mixes are wild, so fillings are sought at prices between them and the best valid ones so far, which
 * are those of the bound by resources at first; what is worth too much there is worth too much at the duals.
 *
 * Promises:  a true lower bound whenever it stops, for free moves, free boots and any delay, if rates are
 *            products of pairs, none above 1. Same input, same answer, to the bit, in pieces of any size.
 * Costs:     'node_most' steps of search, each O(classes x shapes) at worst: several million a second
 *            on Eva's trace (95 shapes, 9 workloads, 21 offers). Beyond the limits below there is no
 *            answer.
 */
#ifndef STINT_DECIDE_FILLING_BOUND_H
#define STINT_DECIDE_FILLING_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/units.h"
#include "decide/bound.h"
#include "model/catalogue.h"
#include "model/shape.h"

/* Of shapes, and of their number squared times the number of offers: what a look at all offers may cost. */
enum { FILLING_ROWS_MAX = 512, FILLING_LOOK_MAX = 1 << 26 };

struct filling_input {
    const struct catalogue *catalogue;
    const struct shapes *shapes;
    const money_t *price; /* per offer and hour */
    uint32_t offer_count; /* that have one; 0: all */
    const struct bound_demand *demands;
    uint32_t demand_count;

    /* A task's rate is the product over those beside it: [workload * workloads + other]. NULL: always 1. */
    const double *pair_rate;
    uint32_t workloads;
    double rate_error; /* and it may be higher than that by so much */

    uint64_t node_most;   /* steps of search, in all */
    uint64_t search_most; /* of a single search; it ends where that is not enough. 0: no limit */
};

struct filling_bound {
    money_t cost; /* no plan costs less; per hour, or for all the hours. 0: nothing is known */
    double *dual; /* per demand: what one task-hour of it costs at the margin, in micro-dollars */
    double
        mix_cost; /* of the cheapest mix that was found, at rates higher by the error: no bound is above it */
    bool is_finished; /* the bound is within 0.01 % of the best there is */
    uint64_t nodes;
    uint32_t fillings; /* generated */
};

/* What is returned lives in the arena. */
void filling_bound(const struct filling_input *input, struct arena *arena,
                   struct filling_bound *ret);

/* The same in pieces. What 'input' points to must live as long, and prices not change; catalogue and shapes may
 * grow. All memory is of the arena. */
struct filling_search *filling_begin(const struct filling_input *input, struct arena *arena);

/* So many steps more, or a few beyond, up to 'search_most' and what it takes to look at one offer; false: it has
 * ended. */
bool filling_go_on(struct filling_search *search, uint64_t steps);

/* What is known so far. */
struct filling_bound filling_so_far(const struct filling_search *search);

#endif
