/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capped.h - who has to wait because an account, a user, a partition or a QOS has reached a limit of its own
 * (model/caps.h). Others are not kept waiting by that.
 *
 * Of a plan, the tasks are looked at in their turn (decide/turn_order.h), a gang as a whole. One that would bring a
 * cap above its limit, counting all machines that have a task of it now or by the plan, loses its places. A task that
 * moves counts on both machines until it has moved, and comes before those that wait.
 *
 * Machines that are owned count for no cap.
 *
 * Promises:  with what is found taken out of the plan, no cap goes above its limit by it; what was above a limit before
 *            (which was lowered, say) gets no further machine.
 * Costs:     O(bound tasks + places), and a sort of the places.
 */
#ifndef STINT_DECIDE_CAPPED_H
#define STINT_DECIDE_CAPPED_H

#include <stdint.h>

#include "base/arena.h"
#include "model/caps.h"
#include "model/plan.h"
#include "model/view.h"

enum cap_reason {
    CAPPED_NOT,
    CAPPED_INSTANCES,
    CAPPED_PRICE,
    CAPPED_SPENT,
};

/* What keeps a task from its place. */
struct capped {
    enum cap_reason reason;
    uint32_t cap; /* unless CAPPED_NOT */
};

/* Of each row of the view's tasks, what keeps it from its place: 'by' is given, and those that are found are added. How
 * many were. */
uint32_t capped_find(const struct view *view, const struct caps *caps, const struct plan *plan,
                     struct arena *arena, struct capped *by);

/* Of each set of caps, whether one of them may keep somebody waiting: its budget is used up, or half of its limit would
 * be if each of its tasks that wait had a machine of its own. */
const bool *capped_sets(const struct view *view, const struct caps *caps, struct arena *arena);

/* Of those that wait, whose budget is used up; likewise. */
uint32_t capped_spent(const struct view *view, const struct caps *caps, struct capped *by);

#endif
