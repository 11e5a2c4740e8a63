/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that are owned. The cloud does not know them, and the engine has them anyway: one is shown as draining until
 * the engine says that it takes work, and again when it does not.
 */
#include "control/hear/hear.h"

void hear_own(struct hearing *hear, uint64_t instance, uint32_t offer, msec_t since,
              bool catches_up)
{
    struct state *state = hear->state;

    if (view_find_instance(&state->view, instance) != ROW_NONE)
        return;

    const uint32_t row = state_add_instance(state, instance, offer);

    state->owned++;
    state->instance_notes[row].is_uncaught = catches_up;
    state->instance_notes[row].is_good = true; /* it says nothing of those that are rented */
    state_set_instance(state, row, INSTANCE_DRAINING);
    (void)hear_billed(hear, row, since);
}

void hear_disown(struct hearing *hear, uint64_t instance, msec_t at)
{
    struct state *state = hear->state;
    const uint32_t row = view_find_instance(&state->view, instance);

    if (row == ROW_NONE || !view_is_owned(&state->view, row))
        return;

    const struct cloud_event end = {
        .kind = CLOUD_GONE,
        .at = at,
        .instance = instance,
        .billed_from = state->view.instance.billed_from[row],
        .billed_to = at,
    };

    state_set_instance(state, row, INSTANCE_RETURNED);
    state_evacuate(state, row, at);
    hear_forget_present(hear, row, at);
    books_close(hear->books, row, &end);
    state->stats.instance_ms += at - state->view.instance.rented_at[row];
    view_remove_instance(&state->view, row);
    state->owned--;
}
