/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_bound.h - the least that the work of a trace costs, whatever policy runs it.
 *
 * At the lowest price that each offer ever has, with moves, boots and waiting for nothing: the better one of
 * two bounds, by resources (decide/bound.h) and by fillings of machines with the interference of the
 * simulated world (decide/filling_bound.h).
 *
 * Promises:  no simulation of the trace costs less. Where tasks speed each other up, it is 0.
 * Costs:     'node_most' steps of search (several million a second); 0: the bound by resources alone.
 */
#ifndef STINT_SIM_WORK_BOUND_H
#define STINT_SIM_WORK_BOUND_H

#include <stdint.h>

#include "base/units.h"
#include "sim/contention.h"
#include "trace/trace.h"

/* 'contention' may be NULL: tasks do not disturb each other. */
money_t work_bound(const struct trace *trace, const struct catalogue *catalogue,
                   const struct contention *contention, uint64_t node_most);

#endif
