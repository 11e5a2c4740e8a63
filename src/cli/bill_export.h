/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bill_export.h - the books in formats of others: FOCUS, the FinOps Open Cost and Usage Specification, and the usage
 * table that `stint commit` reads.
 *
 * FOCUS:     version 1.0, all 43 columns, one row for each machine and day of UTC. What the books do not know is null. Three
 *            columns of our own, x_Stint...Cost, split the cost of a row into boot, idle time and work. The costs of
 *            all rows add up to the bill of the period, to the micro-dollar.
 * Usage:     for each hour and type, machine-hours on the bill, rounded to whole machines.
 * Costs:     O(machines x days), O(hours x types).
 */
#ifndef STINT_CLI_BILL_EXPORT_H
#define STINT_CLI_BILL_EXPORT_H

#include <stdio.h>

#include "store/store_report.h"

struct bill_names {
    const char *cluster;
    const char *provider; /* the name of the cloud */
    const char *region;   /* NULL: not known */
    const char *account;  /* NULL: not known */
};

int bill_export_focus(struct store *store, const struct store_period *period,
                      const struct bill_names *names, FILE *out, struct error *reterr);

int bill_export_usage(struct store *store, const struct store_period *period, FILE *out,
                      struct error *reterr);

#endif
