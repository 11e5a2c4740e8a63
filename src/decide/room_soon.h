/* SPDX-License-Identifier: Apache-2.0 */
/*
 * room_soon.h - which tasks are better off waiting for room on machines that there are.
 *
 * By the estimates it is known when tasks end and room comes free. In the order of time, the room that
 * comes free is given to tasks that wait, the longest first. A task may wait for it
 *
 *  - if it would start no later than a new machine would take it, or 'boot_wait' if that is set; or
 *  - if it would end while the machine is busy or paid for anyway, and start within 'paid_wait'.
 *
 * If the machine has to last longer for its sake, that must not cost more than new machines for all of its batch that go there, also where
 * these run on (overrun.h).
 *
 * Of work of unknown runtime some ends soon as well (ends_soon.h).
 *
 * Where decisions are made in rounds it starts with the first one after the room is free.
 *
 * Nothing is reserved: the next decision looks again, and by then a task that was promised too much has
 * waited the longer and is promised the less. Gangs and jobs that are spread do not wait here.
 *
 * Costs:   O((e + w) (log (e + w) + k)) for e tasks that end before all have found room, w that find it, and the
 *          first k = 64 batches that have tasks left. At most 1024 ends are looked at, and four for each task that
 *          may wait: where more tasks end in time, machines are rented for who has not found room by then.
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_ROOM_SOON_H
#define STINT_DECIDE_ROOM_SOON_H

#include "decide/batches.h"
#include "decide/row_map.h"
#include "decide/runtime_bins.h"
#include "decide/slot_queue.h"
#include "learn/life_table.h"
#include "model/plan.h"

struct scarcity; /* decide/scarcity.h */

struct wait_limits {
    msec_t boot_wait; /* 0: as long as a machine takes that could be rented for the task */
    msec_t paid_wait;
    double doubt; /* of runtimes, see overrun.h */
    const struct scarcity *
        scarcity; /* who waits for no crowd (crowd.h), as a limit may bind; NULL: there are no limits */
    const struct slot_price
        *slots; /* what machines cost beside their price, see slot_queue.h; NULL: nothing */
};

/* How long the task's batch may wait until a machine is rented: without regard to paid time. */
msec_t wait_for_boot(const struct view *view, const struct batch *batch,
                     const struct wait_limits *limits);

/*
 * Take those that find room soon out of the batches. 'plan' has what was placed already, 'bins' too.
 * 'odds': for work of unknown runtime. 'uses' (per instance row) becomes USE_EXPECTED where somebody waits for room, and machines that are left
 * are passed over; the plan asks to wake when the
 * first of them will have waited too long.
 */
void room_soon(struct batches *batches, const struct runtime_bins *bins,
               const struct wait_limits *limits, const struct life_odds *odds, struct plan *plan,
               struct row_map *uses);

#endif
