/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that are there though nobody asked for them: an earlier process rented them, or somebody else. The
 * cloud is right, so they are taken over; what cannot be billed goes back.
 */
#include "control/hear/hear.h"

/* A machine that nobody knew turns out to be managed by Stint. */
static uint32_t adopt(struct hearing *hear, const struct cloud_event *event)
{
    struct view *view = &hear->state->view;
    const uint32_t instance = state_add_instance(hear->state, event->instance, event->offer);

    if (event->instance >= hear->state->next_key)
        hear->state->next_key = event->instance + 1; /* never use its key again */
    view_set_ready_expected(view, instance,
                            view->now + catalogue_boot_ms(view->catalogue, event->offer));
    hear->state->instance_notes[instance].is_uncaught = true;
    hear->state->instance_notes[instance].is_short =
        hear->state->config.short_pool.most > 0; /* it may be: the next decision says */
    if (event->billed_from >= 0 && event->billed_from < view->instance.rented_at[instance])
        view->instance.rented_at[instance] = event->billed_from;
    return instance;
}

/* Its bill has ended, and yet it lives: nobody saw it for too long. Or nobody knows what it costs. It
 * cannot be billed, so it must not stay; it counts until it is gone, and what runs there may end. */
static void adopt_to_return(struct hearing *hear, const struct cloud_event *event)
{
    const uint32_t instance = adopt(hear, event);

    hear->state->instance_notes[instance].is_unbilled = true;
    state_set_instance(hear->state, instance, INSTANCE_DRAINING);
}

/* Its offer is in no catalogue any more: what runs there may end, then it goes back. */
static void leave_if_former(struct hearing *hear, uint32_t instance)
{
    struct view *view = &hear->state->view;

    if (!view->catalogue->offers[view->instance.offer[instance]].is_former)
        return;
    state_set_instance(hear->state, instance, INSTANCE_DRAINING);
}

/* All that an earlier process left is known when the first audit has ended. What turns up later and was
 * not asked for here was rented by somebody else. */
static bool is_rival(struct hearing *hear, uint64_t instance)
{
    return hear->state->stats.audits > 0 && !books_is_over(hear->books, instance) &&
           !id_set_has(&hear->state->asked, instance);
}

static void note_rival(struct hearing *hear, uint32_t offer)
{
    hear->rivals_now++;
    if (offer < hear->state->view.catalogue->offer_count)
        hear->rivals_price_now += hear->state->view.offer_price[offer];
}

static void found_unknown(struct hearing *hear, const struct cloud_event *event)
{
    if (hear->cloud_list.key == 0 || event->instance == 0) {
        hear->state->stats.late_events++;
        return;
    }
    if (is_rival(hear, event->instance)) {
        note_rival(hear, event->offer);
        return;
    }

    struct cloud_event known = *event;
    const bool is_stranger = event->offer >= hear->state->view.catalogue->offer_count;

    hear->state->stats.strangers += is_stranger;
    if (is_stranger && !hear->state->config.returns_strangers)
        return;
    if (is_stranger)
        known.offer = hear->state->config.unknown_offer;
    if (is_stranger || books_is_over(hear->books, event->instance)) {
        hear->state->stats.outlived += !is_stranger;
        adopt_to_return(hear, &known);
        return;
    }

    const uint32_t instance = adopt(hear, &known);

    hear->state->stats.adopted++;
    if (event->billed_from >= 0)
        (void)hear_billed(hear, instance, event->billed_from);
    leave_if_former(hear, instance);
    hear->state->wants_decision = true;
}

/* A restart gives it no more time to boot. But it may have done so while nobody looked, and the first lists may be wrong: so it has a
 * minute to be heard of. */
static void expect_as_before(struct hearing *hear, uint32_t instance)
{
    static const msec_t hear_ms = 60 * MSEC_PER_SEC;
    struct view *view = &hear->state->view;
    const msec_t timeout = hear->state->config.boot_timeout_ms;
    const msec_t least = view->now - timeout + (timeout < hear_ms ? timeout : hear_ms);
    const msec_t expected = view->instance.rented_at[instance] +
                            catalogue_boot_ms(view->catalogue, view->instance.offer[instance]);

    view_set_ready_expected(view, instance, expected > least ? expected : least);
}

void hear_remember(struct hearing *hear, uint64_t instance, uint32_t offer, msec_t asked_at)
{
    struct view *view = &hear->state->view;

    if (view_find_instance(view, instance) != ROW_NONE || offer >= view->catalogue->offer_count)
        return;

    const uint32_t row = adopt(hear, &(struct cloud_event){
                                         .instance = instance,
                                         .offer = offer,
                                         .billed_from = -1,
                                     });

    asked_at = asked_at > 0 ? asked_at : 0;
    if (asked_at < view->instance.rented_at[row])
        view->instance.rented_at[row] = asked_at;
    hear->state->instance_notes[row].has_booted = books_was_ready(hear->books, instance);
    if (!hear->state->instance_notes[row].has_booted)
        expect_as_before(hear, row);
    leave_if_former(hear, row);
}

void hear_remember_return(struct hearing *hear, uint64_t instance)
{
    struct view *view = &hear->state->view;
    const uint32_t row = view_find_instance(view, instance);

    if (row == ROW_NONE || !view_is_open(view, row))
        return;
    state_set_instance(hear->state, row, INSTANCE_DRAINING);
}

/* It was returned before the list was asked for, and is still there. */
static bool is_forgotten(const struct hearing *hear, uint32_t instance)
{
    const struct instance_note *note = &hear->state->instance_notes[instance];

    return hear->state->view.instance.state[instance] == INSTANCE_RETURNED &&
           !note->is_asked_again && note->returned_key <= hear->cloud_list.key;
}

void hear_cloud_found(struct hearing *hear, const struct cloud_event *event)
{
    const struct view *view = &hear->state->view;
    const uint32_t instance = view_find_instance(view, event->instance);

    if (instance == ROW_NONE) {
        found_unknown(hear, event);
        return;
    }
    hear->state->instance_notes[instance].mention = hear->state->audit;
    if (event->billed_from >= 0)
        (void)hear_billed(hear, instance, event->billed_from);
    if (hear->cloud_list.key == 0 || !is_forgotten(hear, instance))
        return;
    hear->state->instance_notes[instance].is_asked_again = true;
    hear->state->instance_notes[instance].is_unheard = true;
    hear->state->stats.returned_anew++;
    state_mark_instance(hear->state, instance);
}

/* A machine of an earlier process ended while nobody looked: its bill is still to be booked. */
void hear_unknown_gone(struct hearing *hear, const struct cloud_event *event)
{
    if (event->billed_from < 0 || event->instance == 0 ||
        event->offer >= hear->state->view.catalogue->offer_count ||
        books_is_over(hear->books, event->instance)) {
        hear->state->stats.late_events += hear->cloud_list.key == 0; /* a list tells it again */
        return;
    }

    const uint32_t instance = adopt(hear, event);

    state_set_instance(hear->state, instance, INSTANCE_RETURNED);
    hear_gone(hear, instance, event);
}
