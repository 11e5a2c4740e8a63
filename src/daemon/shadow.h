/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shadow.h - the virtual world of mode shadow: what would happen if Stint's actions were carried out.
 *
 * The real engine tells which jobs there are and how long they really run; everything else is
 * virtual. Machines are billed after the catalogue's acquire time and ready after its setup time, end
 * after its release time, and never fail. A task starts where it is put after the time that the real
 * engine takes as a rule from hearing of a job to starting it. It ends when it has run for as long as
 * the real job did: if the real job still runs, when that ends, and at the earliest then; that is
 * heard as late as news of the real engine is. So the controller's ledger is a forecast of the bill.
 * Nodes that are owned are there as well: they take virtual work while the real ones are in service.
 *
 *     real engine -> shadow_heard -> ... on_engine -> controller -> gate -> shadow's ports
 *
 * Promises:  the real ports hear of nothing but the engine's lists. Same events, same forecast; times
 *            are those of the virtual world, to the millisecond.
 * Limits:    the virtual cluster is not kept over a restart: it begins empty, and what was rented is
 *            not billed further. A task that waits longer in the real world than in the virtual one
 *            keeps its virtual machine for the difference.
 * Costs:     O(log n) an event. Memory for what lives.
 */
#ifndef STINT_DAEMON_SHADOW_H
#define STINT_DAEMON_SHADOW_H

#include <stdint.h>

#include "control/ports/cloud_port.h"
#include "control/ports/engine_port.h"

struct shadow;

struct shadow_config {
    struct engine_port engine; /* the real one, for lists */
    const struct catalogue *catalogue;
    msec_t start_lag_min_ms; /* from its placement until it runs, at the least */
    msec_t start_lag_max_ms; /* what takes longer was waiting for room; 0: tasks start at once */
    msec_t news_lag_ms;      /* from the end of a task until that is heard, on average */
    void (*on_engine)(void *context, const struct engine_event *event);
    void (*on_cloud)(void *context, const struct cloud_event *event);
    void *context;
};

struct shadow *shadow_create(const struct shadow_config *config);
void shadow_destroy(struct shadow *shadow);

struct engine_port shadow_engine_port(struct shadow *shadow);
struct cloud_port shadow_cloud_port(struct shadow *shadow);

/* What the real engine said. What the controller may know of it, and what follows, goes to on_engine. */
void shadow_heard(struct shadow *shadow, const struct engine_event *event);

/* When something happens next there; MSEC_NEVER: nothing will. */
msec_t shadow_next_wake(const struct shadow *shadow);

/* Let everything happen until 'now', which never runs backwards; actions are then at 'now'. */
void shadow_tick(struct shadow *shadow, msec_t now);

/* The daemon ends: every virtual machine is returned at once, so that its bill is in the books. */
void shadow_end(struct shadow *shadow, msec_t now);

#endif
