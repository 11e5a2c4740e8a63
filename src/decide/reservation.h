/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reservation.h - what a task is worth: the price of the cheapest machine that holds it alone.
 *
 * The reservation price of Eva (EuroSys'25, section 4.2). It is kept per shape in the view's
 * columns 'shape_offer' and 'shape_price', so that decisions read it in O(1).
 *
 * Promises:  ties go to the offer with the lower index; offers that are blocked are passed over.
 *            Where all that hold a shape are blocked it has no offer, but the price of the cheapest
 *            of them: what runs is worth no less because no more of its kind can be had now.
 * Costs:     O(offers) for a new shape. After reservation_forget all are priced again, in a sort of the offers
 *            and, for each shape, a look at those offers that no other makes needless, up to the first that fits.
 */
#ifndef STINT_DECIDE_RESERVATION_H
#define STINT_DECIDE_RESERVATION_H

#include "model/view.h"

/* Price the shapes that have none yet. The controller calls it before each decision. */
void reservation_update(struct view *view);

/* A price changed, or an offer was blocked or is free again: all shapes are priced again. */
void reservation_forget(struct view *view);

/* The cheapest offer that is not blocked and holds all of the given shapes
 * with their counts, cheaper than 'below'; OFFER_NONE if there is none. */
struct shape_count {
    uint32_t shape;
    uint32_t count;
};

uint32_t reservation_cheapest_holding(const struct view *view, const struct shape_count *shapes,
                                      uint32_t count, money_t below);

/* Whether 'count' shapes with their counts fit an empty machine of the offer, and may run there. */
bool reservation_offer_holds(const struct view *view, uint32_t offer,
                             const struct shape_count *shapes, uint32_t count);

/* Whether the offer may be asked for now. */
static inline bool reservation_is_open(const struct view *view, uint32_t offer)
{
    return view->offer_blocked_until[offer] <= view->now;
}

/* Whether a machine of the offer would probably be refused. On demand a refusal is an accident, and soon over. */
static inline bool reservation_is_doubtful(const struct view *view, uint32_t offer)
{
    return view->catalogue->offers[offer].market == MARKET_SPOT &&
           view->now < view->offer_doubted_until[offer];
}

/* Whether a machine may be asked for now for the task, and for each of its gang that waits: these need not be alike. */
static inline bool reservation_has_offer(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];
    const bool is_mixed = view->job.gang[job] && view->job.mixed[job];

    if (view->shape_offer[view->task.shape[task]] == OFFER_NONE)
        return false;
    for (uint32_t other = is_mixed ? view->job.first_task[job] : ROW_NONE; other != ROW_NONE;
         other = view->task.sibling[other]) {
        if (view->task.state[other] == TASK_WAITING &&
            view->shape_offer[view->task.shape[other]] == OFFER_NONE)
            return false;
    }
    return true;
}

/* The reservation price of a task. */
static inline money_t reservation_price(const struct view *view, uint32_t task)
{
    return view->shape_price[view->task.shape[task]];
}

#endif
