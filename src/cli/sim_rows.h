/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim_rows.h - simulation results as rows of a report; the same columns for `sim` and `repro`.
 */
#ifndef STINT_CLI_SIM_ROWS_H
#define STINT_CLI_SIM_ROWS_H

#include "cli/report_table.h"
#include "sim/simulation.h"

struct sim_row {
    const char *policy;
    const struct sim_result *result;
    money_t base_cost; /* what 'norm_cost' is measured against; 0: missing */
    double seconds;    /* that the run took */

    /* Of a reproduction: what the paper printed; below 0: nothing. */
    double paper_norm_cost;
    double paper_jct_hours;

    /* Of several seeds, of which 'result' is the mean: the least and the greatest cost. */
    money_t cost_min;
    money_t cost_max;
};

/* Columns beside those that all have. */
enum sim_rows_what {
    SIM_ROWS_SERVICES = 1, /* for how long services were short of tasks */
    SIM_ROWS_PAPER = 2,
    SIM_ROWS_SPREAD = 4, /* of the cost of several seeds */
};

/* 'what' is a set of enum sim_rows_what. 'fine': jobs take minutes, so that hours need more digits. */
struct report_table *sim_rows_create(const char *name, unsigned what, bool fine);
void sim_rows_add(struct report_table *table, const struct sim_row *row, unsigned what);

#endif
