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

/* 'with_paper' adds the paper's columns. 'fine': jobs take minutes, so that hours need more digits. */
struct report_table *sim_rows_create(const char *name, bool with_paper, bool fine);
void sim_rows_add(struct report_table *table, const struct sim_row *row, bool with_paper);

/* The same for means over several seeds, with the spread of their cost. */
struct report_table *sim_rows_create_spread(const char *name, bool fine);
void sim_rows_add_spread(struct report_table *table, const struct sim_row *row);

#endif
