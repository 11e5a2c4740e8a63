/* SPDX-License-Identifier: Apache-2.0 */
/*
 * explain_csv.h - every decision of a run with its reasons, as lines of a CSV table.
 *
 * A decision has one line for each thing that it changes, and then one line 'keep':
 *
 *     rent      a machine; within its decision it is called new-1, new-2, ...
 *     place     a waiting task, on a machine that there is or on a new one
 *     move      the same of a task that has a place, in 'from'
 *     release   a machine that goes back
 *     keep      how many machines stay and what they cost per hour together; if a full was weighed
 *               against a partial reconfiguration, what each would save and what moving would cost
 *
 * 'price' and 'passed_over_price' are dollars per hour for the same tasks: of a 'rent' for all that is placed there, of a task on a
 * machine that there is for its share of that machine. What was passed over is always another type or market. A 'move' says what
 * it saves until when the policy looked ahead and what it costs, as far as the policy weighs that.
 *
 * A decision that changes nothing and weighs nothing has no line.
 *
 * Promises:  same run, same bytes; a text with a comma or a quote stands in quotes (RFC 4180).
 * Costs:     O(changes + machines) a decision; nothing is kept in memory.
 */
#ifndef STINT_CLI_EXPLAIN_CSV_H
#define STINT_CLI_EXPLAIN_CSV_H

#include <stdint.h>
#include <stdio.h>

#include "model/plan.h"
#include "model/view.h"
#include "trace/trace.h"

struct explain_csv {
    FILE *out;                 /* borrowed */
    const struct trace *trace; /* of the run: ids of its jobs */
    const char *policy;        /* label of the run */
    uint64_t seed;
    uint64_t decision; /* counted from 1 */
};

/* The line that names the columns. */
void explain_csv_header(FILE *out);

/* One decision, before it is carried out. Fits sim_config.on_plan behind a cast of the context. */
void explain_csv_plan(struct explain_csv *explain, const struct view *view,
                      const struct plan *plan);

#endif
