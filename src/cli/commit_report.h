/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commit_report.h - print what `stint commit` found, for people or for programs.
 *
 * Table:     for each column what to buy and why, what it is worth, what is risked, and what would
 *            have been paid in the past.
 * JSON:      an array with one report per column: the sums, and one row per class.
 * CSV:       one row per column and class.
 */
#ifndef STINT_CLI_COMMIT_REPORT_H
#define STINT_CLI_COMMIT_REPORT_H

#include <stdint.h>
#include <stdio.h>

#include "cli/commit_answer.h"
#include "cli/report_table.h"

/* Print all answers and flush. A negative errno when 'out' fails. */
int commit_report_write(const struct commit_answer *answers, uint32_t count,
                        enum output_format format, FILE *out);

#endif
