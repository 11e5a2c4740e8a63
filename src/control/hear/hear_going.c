/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine goes: it takes no more work, or never came, or is gone.
 *
 * Costs:  O(tasks there); a look at boots once through the instances.
 */
#include "control/hear/hear.h"

void hear_instance_lost(struct hearing *hear, uint32_t instance, msec_t at)
{
    state_set_instance(hear->state, instance, INSTANCE_DRAINING);
    state_evacuate(hear->state, instance, at);
    hear_forget_present(hear, instance, at);
}

void hear_instance_left(struct hearing *hear, uint32_t instance)
{
    struct instance_note *note = &hear->state->instance_notes[instance];

    if (hear->state->view.instance.state[instance] != INSTANCE_DRAINING ||
        (!note->is_leaving && !note->is_shut)) {
        hear->state->stats.late_events++;
        return;
    }
    note->is_leaving = false;
    if (!state_is_empty(hear->state, instance))
        return; /* that news is older than this; when they have left it is asked again */
    note->has_left = true;
    state_mark_instance(hear->state, instance);
}

void hear_never(struct hearing *hear, uint32_t instance, msec_t at)
{
    state_evacuate(hear->state, instance, at);
    hear_forget_present(hear, instance, at);
    state_set_outdated(hear->state, instance, false);
    view_remove_instance(&hear->state->view, instance);
}

/* An earlier process saw it ready, or the engine has not been asked yet what became of it meanwhile. */
static bool may_have_booted(const struct hearing *hear, uint32_t instance)
{
    const struct instance_note *note = &hear->state->instance_notes[instance];

    return note->has_booted || note->is_uncaught;
}

/* Before it was ready, perhaps. */
static void gone_too_soon(struct hearing *hear, uint32_t instance, enum instance_state state,
                          msec_t at)
{
    if (state == INSTANCE_BOOTING)
        brake_boot_failed(hear->books, instance, at);
    if (state == INSTANCE_REQUESTED)
        books_block(hear->books, hear->state->view.instance.offer[instance], at,
                    hear->state->config.refused_block_ms);
}

void hear_gone(struct hearing *hear, uint32_t instance, const struct cloud_event *event)
{
    struct view *view = &hear->state->view;
    const enum instance_state state = (enum instance_state)view->instance.state[instance];

    state_mark(hear->state, MARK_GONE, view->instance.id[instance]);
    if (state != INSTANCE_RETURNED) {
        state_set_instance(hear->state, instance, INSTANCE_RETURNED); /* nothing more to return */
        if (hear->state->config.boot_timeout_ms > 0 && !may_have_booted(hear, instance))
            gone_too_soon(hear, instance, state, event->at);
        state_evacuate(hear->state, instance, event->at);
        hear_forget_present(hear, instance, event->at);
        hear->state->stats.lost++;
    }
    const bool was_taken =
        state != INSTANCE_RETURNED || hear->state->instance_notes[instance].is_noticed;

    losses_machine_ends(hear->books, instance, event->at, was_taken);
    if (view->instance.billed_from[instance] >= 0)
        interruptions_end(&hear->books->knowledge.interruptions, view->instance.offer[instance],
                          event->at, was_taken);
    books_close(hear->books, instance, event);
    if (event->at > view->instance.rented_at[instance])
        hear->state->stats.instance_ms += event->at - view->instance.rented_at[instance];
    state_set_outdated(hear->state, instance, false); /* the next one may be replaced */
    view_remove_instance(view, instance);
    if (hear->state->is_limited)
        hear->state->wants_decision = true; /* there is room for what was dropped */
}

/* An earlier process asked for it, and the cloud's last list lacks it. */
static bool is_missing_heir(const struct hearing *hear, uint32_t instance)
{
    return hear->state->instance_notes[instance].missing_since >= 0 &&
           !id_set_has(&hear->state->asked, hear->state->view.instance.id[instance]);
}

/* When it should be ready at last. */
static msec_t boot_deadline(const struct hearing *hear, uint32_t instance)
{
    const struct view *view = &hear->state->view;
    const msec_t timeout = hear->state->config.boot_timeout_ms;

    if (!brake_is_coming(view, instance))
        return MSEC_NEVER;
    if (!is_missing_heir(hear, instance))
        return view->instance.ready_expected[instance] + timeout;
    if (hear->state->instance_notes[instance].absences < HEAR_ABSENCES_MAX)
        return MSEC_NEVER; /* the end of the next list brings a decision */
    return view->instance.rented_at[instance] +
           catalogue_boot_ms(view->catalogue, view->instance.offer[instance]) + timeout;
}

/* It is not. That speaks against its boot unless it was ready once, or may have been, and went while nobody looked. */
static void give_boot_up(struct hearing *hear, uint32_t instance)
{
    const msec_t now = hear->state->view.now;

    if (is_missing_heir(hear, instance)) {
        hear->state->stats.vanished++;
    } else if (hear->state->instance_notes[instance].has_booted) {
        hear->state->stats.nodes_lost++;
    } else {
        hear->state->stats.boot_timeouts++;
        brake_boot_failed(hear->books, instance, now);
    }
    hear_instance_lost(hear, instance, now);
}

void hear_check_boots(struct hearing *hear)
{
    const struct view *view = &hear->state->view;

    if (view->now < hear->next_boot_timeout || hear->state->config.boot_timeout_ms == 0)
        return;
    INSTANCE_EACH(instance, view)
    {
        if (boot_deadline(hear, instance) <= view->now)
            give_boot_up(hear, instance);
    }
    hear->state->wants_decision = false; /* one is being made */
}

void hear_watch_boots(struct hearing *hear)
{
    const struct view *view = &hear->state->view;

    hear->next_boot_timeout = MSEC_NEVER;
    if (hear->state->config.boot_timeout_ms == 0)
        return;
    INSTANCE_EACH(instance, view)
    {
        const msec_t at = boot_deadline(hear, instance);

        if (at < hear->next_boot_timeout)
            hear->next_boot_timeout = at;
    }
}
