/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine comes: it is billed, then it takes work. A machine may join by itself before anybody said that it
 * runs.
 */
#include "control/hear/hear.h"

bool hear_billed(struct hearing *hear, uint32_t instance, msec_t billed_from)
{
    struct view *view = &hear->state->view;

    if (!books_open(hear->books, instance, billed_from))
        return false;
    view_set_billed_from(view, instance, billed_from < view->now ? billed_from : view->now);
    interruptions_begin(&hear->books->knowledge.interruptions, view->instance.offer[instance],
                        view->instance.billed_from[instance]);
    books_granted(hear->books, view->instance.offer[instance]);
    if (view->instance.state[instance] == INSTANCE_READY)
        books_catch_up(hear->books, instance);
    if (view->instance.state[instance] == INSTANCE_REQUESTED)
        state_set_instance(hear->state, instance, INSTANCE_BOOTING);
    return true; /* else it was admitted by itself, or goes back already */
}

void hear_ready(struct hearing *hear, uint32_t instance, msec_t at)
{
    struct view *view = &hear->state->view;

    state_set_instance(hear->state, instance, INSTANCE_READY);
    hear->state->instance_notes[instance].ready_at = at;
    brake_boot_worked(hear->books, instance);
    books_ready(hear->books, instance, at);
    hear->state->wants_decision = true;
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        state_mark_task(hear->state, task);
        state_mark_lingering(hear->state, view->task.job[task]);
    }
}
