/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_report.h - print what `stint pool` found, for people or for programs.
 *
 * Table:  the pool, its price, what each loss would leave, the availability of levels of capacity, and
 *         what is not counted.
 * JSON:   an array of two reports: the pool with its sums, and all levels.
 * CSV:    one row per offer of the pool.
 */
#ifndef STINT_CLI_POOL_REPORT_H
#define STINT_CLI_POOL_REPORT_H

#include <stdio.h>

#include "cli/pool_answer.h"
#include "cli/report_table.h"

/* Print and flush. A negative errno when 'out' fails. */
int pool_report_write(const struct pool_answer *answer, enum output_format format, FILE *out);

/* Draw the availability by capacity, and what other targets would cost. A negative errno when 'out'
 * fails. */
int pool_chart_write(const struct pool_answer *answer, FILE *out);

#endif
