/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/blocked_wait.h"

#include "decide/reservation.h"

enum {
    TIMES_DEARER = 2,
    WAIT_MOST_MS = 180 * MSEC_PER_SEC,
};

struct blocked {
    const struct view *view;
    uint32_t *offers; /* on demand */
    uint32_t count;
};

static struct blocked find_blocked(const struct view *view, struct arena *arena)
{
    struct blocked blocked = { .view = view };

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        if (reservation_is_open(view, offer) ||
            view->catalogue->offers[offer].market != MARKET_ON_DEMAND)
            continue;
        if (blocked.offers == NULL)
            blocked.offers = ARENA_ARRAY(arena, uint32_t, view->catalogue->offer_count);
        blocked.offers[blocked.count++] = offer;
    }
    return blocked;
}

/* The cheapest that holds the shape, of equal ones that which is open first; or OFFER_NONE. */
static uint32_t cheapest(const struct blocked *blocked, uint32_t shape)
{
    const struct view *view = blocked->view;
    const struct shape_count one = { .shape = shape, .count = 1 };
    uint32_t best = OFFER_NONE;

    for (uint32_t i = 0; i < blocked->count; i++) {
        const uint32_t offer = blocked->offers[i];
        const bool is_better = best == OFFER_NONE ||
                               view->offer_price[offer] < view->offer_price[best] ||
                               (view->offer_price[offer] == view->offer_price[best] &&
                                view->offer_blocked_until[offer] < view->offer_blocked_until[best]);

        if (is_better && reservation_offer_holds(view, offer, &one, 1))
            best = offer;
    }
    return best;
}

/* How long the batch's tasks may wait for the offer, from their arrival; 0: not at all. */
static msec_t longest_wait(const struct view *view, const struct batch *batch, uint32_t offer)
{
    const money_t low = view->offer_price[offer];
    const money_t high = view->offer_price[view->shape_offer[batch->shape]];
    const msec_t span = billing_paid_span(&view->catalogue->offers[offer].billing, batch->runtime);

    if (low <= 0 || high / TIMES_DEARER < low)
        return 0;

    const double worth = (double)(high - low) / (double)low * (double)span;

    return worth < (double)WAIT_MOST_MS ? (msec_t)worth : WAIT_MOST_MS;
}

/* The oldest have waited the longest, and stand first. */
static void wait_for(struct batch *batch, const struct view *view, uint32_t offer,
                     struct plan *plan)
{
    const msec_t open_at = view->offer_blocked_until[offer]; /* MSEC_NEVER: it was withdrawn */
    const msec_t longest = longest_wait(view, batch, offer);

    while (batch->left > 0 && open_at - view->now <= longest - batch_waited(view, batch)) {
        const msec_t left = longest - batch_waited(view, batch);
        struct plan_wait wait = batch_wait(view, batch, WAIT_OFFER, batch_take_last(batch));

        wait.offer = offer;
        wait.expected = open_at;
        wait.until = view->now + left;
        wait.wait_cost = batch_charge_for(view, batch, offer);
        plan_let_wait(plan, &wait);
        if (open_at < plan->wake_at)
            plan->wake_at = open_at;
    }
}

void blocked_wait(struct batches *batches, struct plan *plan)
{
    const struct view *view = batches->view;
    const struct blocked blocked = find_blocked(view, plan->arena);

    if (blocked.count == 0)
        return;
    for (uint32_t i = 0; i < batches->count; i++) {
        struct batch *batch = &batches->rows[i];

        if (batch->left == 0 || batch->together || view->shape_offer[batch->shape] == OFFER_NONE)
            continue;

        const uint32_t offer = cheapest(&blocked, batch->shape);

        if (offer != OFFER_NONE)
            wait_for(batch, view, offer, plan);
    }
}
