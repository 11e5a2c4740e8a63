/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs_csv.h - read a trace of jobs from a CSV table. docs/reference/files/jobs-csv.md has every column.
 *
 * Promises:  pure. On failure nothing is kept and 'ret' is untouched; the error names the line, the
 *            column and what would be right.
 * Bounds:    O(bytes + jobs log jobs); LIMIT_TASKS tasks, LIMIT_SHAPES shapes,
 *            JOBS_CSV_DEMANDS_MAX demand vectors.
 */
#ifndef STINT_TRACE_JOBS_CSV_H
#define STINT_TRACE_JOBS_CSV_H

#include <stddef.h>

#include "base/error.h"
#include "base/names.h"
#include "trace/trace.h"

enum { JOBS_CSV_DEMANDS_MAX = 1 << 22 }; /* of all shapes together */

/*
 * Parse the whole text into 'ret', to be freed by trace_done. 'families' are the catalogue's: the
 * demands of columns such as cpu@c7i are kept under their numbers. NULL: there are none, and such
 * a column is an error.
 */
int jobs_csv_read(const char *text, size_t length, const struct names *families, struct trace *ret,
                  struct error *reterr);

#endif
