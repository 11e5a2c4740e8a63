/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_write.h - write a trace as the CSV table that jobs_csv.h reads.
 *
 * Promises:  reading it back gives the same jobs, shapes, names and users, in the same order.
 * Bounds:    O(jobs * families that have demands of their own).
 */
#ifndef STINT_TRACE_TRACE_WRITE_H
#define STINT_TRACE_TRACE_WRITE_H

#include <stdio.h>

#include "base/error.h"
#include "base/names.h"
#include "trace/trace.h"

/* Write all of it to 'out' and flush. 'families' are those that the trace was read with; NULL if
 * it was read without. */
int trace_write_csv(FILE *out, const struct trace *trace, const struct names *families,
                    struct error *reterr);

#endif
