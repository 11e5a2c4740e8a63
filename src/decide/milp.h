/* SPDX-License-Identifier: Apache-2.0 */
/*
 * milp.h - an integer program, and whoever can solve it.
 *
 * The least cost of whole numbers x from 0 to 'most' with every row's sum at least its bound. Decisions
 * state their programs in this form and are handed a solver, as they are handed everything else: a
 * solver is a large library with globals and output of its own, so it stands outside of the pure
 * layers (solve/).
 */
#ifndef STINT_DECIDE_MILP_H
#define STINT_DECIDE_MILP_H

#include <stdbool.h>
#include <stdint.h>

struct milp_entry {
    uint32_t column;
    double value;
};

struct milp_row {
    const struct milp_entry *entries; /* at most one for each column */
    uint32_t entry_count;
    double at_least;
};

struct milp {
    uint32_t columns;
    const double *cost; /* per column */
    const double *most; /* per column */
    const struct milp_row *rows;
    uint32_t row_count;
    double below;       /* only a solution that costs less is of use; 0: any is */
    bool first_will_do; /* no better one need be looked for */
    bool is_small;      /* looking at nodes is faster than making fewer of them */
    double gap;         /* relative; a solution that is nearer than this to the bound will do */
    uint32_t
        node_most; /* after so many the best one so far will do; a count, so that answers repeat */
};

struct milp_answer {
    bool is_found;   /* there is a solution in 'x' */
    bool is_optimal; /* within the gap */
    bool is_none;    /* there is proof that no solution costs less than 'below', or none at all */
    uint32_t nodes;  /* that it took */
    double bound;    /* no solution costs less */
};

struct milp_solver {
    const char *name;

    /* 'x' has room for all columns. Returns 0, or a negative errno if the solver failed. */
    int (*solve)(const struct milp *milp, double *x, struct milp_answer *ret);
};

#endif
