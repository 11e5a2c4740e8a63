/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/at_risk.h"

#include <math.h>

#include "decide/machine_index.h"
#include "decide/reservation.h"
#include "decide/risk.h"

/* No move is so easy that it does not cost as much as this: news and actions take their time. */
static const double least_move_ms = 60000;

/* The machine is lost before the work ends with a chance of 'lost', and has then run for 'ran' (of all
 * cases: this is not divided by the chance). */
struct loss {
    double lost;
    double here; /* that it runs here, lost or not */
    double ran;
};

static struct loss loss_within(double remaining, double lasts)
{
    const double most = 12; /* as in risk_growth */
    const double x = remaining / lasts < most ? remaining / lasts : most;
    const double grown = 1 + x * risk_growth(x); /* e^x */
    const double lost = 1 - 1 / grown;

    return (
        struct loss){ .lost = lost, .here = lasts * lost, .ran = lasts * lost - x * lasts / grown };
}

/* What an hour of the task there costs: its share of what is in use. That it could be had for less elsewhere is no matter of
 * risk. */
static double price_here(const struct view *view, uint32_t task, uint32_t instance, double there)
{
    const struct res *capacity = view_capacity(view, instance);
    double used = 0;

    TASK_EACH(other, view, view->instance.first_task[instance])
    {
        used += res_dominant_share(view_taken(view, other, instance), capacity);
    }

    const double own = res_dominant_share(view_taken(view, task, instance), capacity);
    const double price = (double)view->offer_price[view->instance.offer[instance]];
    const double share = used > 0 ? price * own / used : price;

    return share < there ? share : there;
}

static uint32_t cheapest_elsewhere(const struct view *view, uint32_t task, struct risk_stake stake)
{
    const struct shape_count alone = { .shape = view->task.shape[task], .count = 1 };
    double least = HUGE_VAL;
    uint32_t best = OFFER_NONE;

    for (uint32_t offer = 0; offer < view->catalogue->offer_count; offer++) {
        const double price = risk_price(view, offer, stake);

        if (price >= least || !reservation_is_open(view, offer) ||
            !reservation_offer_holds(view, offer, &alone, 1))
            continue;
        best = offer;
        least = price;
    }
    return best;
}

bool at_risk_weigh(const struct view *view, uint32_t task, uint32_t instance,
                   struct at_risk_costs *ret)
{
    const uint32_t shape = view->task.shape[task];
    const struct shape_delays *delays = &view->shapes->rows[shape].delays;
    const msec_t remaining = runtime_of_task(view, task, RUNTIME_REMAINING);
    const struct risk_stake stake = risk_stake_of(view, shape, remaining, false);
    const uint32_t offer = cheapest_elsewhere(view, task, stake);

    if (offer == OFFER_NONE)
        return false;

    const msec_t usual = view->offer_lasts[view->instance.offer[instance]];
    const msec_t lasts = usual < AT_RISK_LASTS_MS ? usual : AT_RISK_LASTS_MS;
    const struct loss loss = loss_within((double)remaining, (double)(lasts > 0 ? lasts : 1));
    const double unsaved = risk_unsaved(view, shape, false);
    const double at_hand = (double)(view_progress(view, task) - view->task.saved_ms[task]);
    const double every = (double)delays->checkpoint_ms;
    const double stop = (double)(delays->kill_ms + delays->upload_ms);
    const double start = (double)catalogue_type_of(view->catalogue, offer)->setup_ms +
                         (double)(delays->fetch_ms + delays->build_ms + delays->init_ms);
    const double other = risk_price(view, offer, stake);
    const double there = other / (double)MSEC_PER_HOUR;
    const double here = price_here(view, task, instance, other) / (double)MSEC_PER_HOUR;
    double redo = loss.lost * at_hand + loss.ran;

    if (every > 0 && loss.lost * every / 2 < redo)
        redo = loss.lost * every / 2;
    ret->stay = here * (loss.here + loss.lost * (1 - unsaved) * stop) +
                there * (loss.lost * ((double)remaining + start) - loss.ran + unsaved * redo);
    ret->leave = here * stop + there * ((double)remaining + start);

    const double least = there * ((double)remaining + least_move_ms);

    if (ret->leave < least)
        ret->leave = least;
    return true;
}

bool at_risk_should_leave(const struct view *view, uint32_t task, uint32_t instance)
{
    struct at_risk_costs costs;

    return !view->job.fixed[view->task.job[task]] && at_risk_weigh(view, task, instance, &costs) &&
           costs.leave < costs.stay;
}
