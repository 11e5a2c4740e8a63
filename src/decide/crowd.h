/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd.h - services that come one after the other wait until there are enough of them to fill a machine.
 *
 * A crowd of services may take minutes to arrive: controllers create pods as fast as their API server lets them. Each part of it that is
 * decided by itself leaves a machine that is not full, which the next part seldom fills, and services have no end. So while the engine
 * expects more (job_spec.more_until) a machine for services is rented only if it is well used from the start. Those that would be on another one wait for the rest
 * of the crowd: until none is expected, and for half a minute from their arrival at the most. The last one that came says whether more is expected.
 *
 * Where a service is a gang nobody waits: some of it might have a machine already. Nor where a limit may bind, as that of a daemon that has yet to see its first
 * machine start: what can be had is had at once.
 *
 * Promises:  pure and deterministic. Work that has an end never waits here.
 * Costs:     crowd_until O(tasks that wait), the rest O(1).
 */
#ifndef STINT_DECIDE_CROWD_H
#define STINT_DECIDE_CROWD_H

#include "decide/batches.h"
#include "decide/scarcity.h"
#include "model/plan.h"

/* A machine on which work is worth less than this part of its charge is not well used. */
#define CROWD_WELL_USED 0.96

/* Until when more services are expected; at or before 'now': none are. */
msec_t crowd_until(const struct view *view);

/* Until when the batch waits for them, which come until 'more': as long as its oldest task that is left may; at or before 'now': it does not wait.
 * 'scarcity' may be NULL. */
msec_t crowd_patience(const struct view *view, const struct batch *batch, msec_t more,
                      const struct scarcity *scarcity);

/* The newest task of the batch waits until then, when the plan wakes. */
void crowd_wait(const struct view *view, struct batch *batch, msec_t until, struct plan *plan);

#endif
