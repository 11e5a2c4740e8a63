/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix_csv.h - how fast a workload runs beside another, from a CSV table.
 *
 * The header's first field is of no interest, the others name the workloads beside which is run;
 * each row names the workload that runs, then its throughput beside each, as a share of that alone:
 * above 0, at most 2. An 'x' or an empty field was not measured. A suffix "_node0" of a name is cut.
 *
 * Promises:  pure; on failure nothing is kept and 'ret' is untouched.
 * Bounds:    O(bytes + workloads^2); LIMIT_CONTENTION_NAMES workloads.
 */
#ifndef STINT_TRACE_MATRIX_CSV_H
#define STINT_TRACE_MATRIX_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/names.h"

#define COLOCATION_RATE_MAX 2.0

struct colocation_matrix {
    struct names workloads; /* of the header, then of rows that the header does not name */
    uint32_t count;         /* of workloads */
    double *rate;           /* count * count: of the row's workload beside the column's */
};

/* Parse the whole text into 'ret', to be freed by colocation_matrix_done. What was not measured
 * becomes 'unmeasured', which is above 0 and at most COLOCATION_RATE_MAX. */
int matrix_csv_read(const char *text, size_t length, double unmeasured,
                    struct colocation_matrix *ret, struct error *reterr);

/* The throughput of 'workload' beside 'other', both numbers in matrix->workloads. */
double colocation_matrix_rate(const struct colocation_matrix *matrix, uint32_t workload,
                              uint32_t other);

void colocation_matrix_done(struct colocation_matrix *matrix);

#endif
