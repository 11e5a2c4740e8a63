/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/rent_trial.h"

#include <assert.h>
#include <math.h>

#include "decide/lease.h"
#include "decide/overrun.h"

/* What a task of the batch takes of the machine, or NULL. */
static inline const struct res *demand_of(const struct trial_window *window,
                                          const struct trial *trial, uint32_t row)
{
    const struct view *view = window->view;
    const struct batch *batch = window->rows[row].batch;

    if (window->rows[row].demand != NULL)
        return window->rows[row].demand;
    if (trial->instance != ROW_NONE)
        return view_shape_demand(view, batch->shape, trial->instance);
    return shape_demand_at(view->shapes, batch->shape, view->catalogue, trial->offer);
}

/* Put 'count' tasks of the batch, which take 'demand' each, onto the machine at 'at'. */
static void put(const struct trial_window *window, struct trial *trial, uint32_t row,
                const struct res *demand, uint32_t count, msec_t at)
{
    const msec_t end = at + window->rows[row].runtime;

    assert(count > 0);
    if (count == 1) {
        res_sub(&trial->free, demand);
    } else {
        for (int kind = 0; kind < RES_KINDS; kind++)
            trial->free.amount[kind] -= demand->amount[kind] * (int64_t)count;
    }
    if ((trial->used >> row & 1) == 0) {
        trial->used |= (uint64_t)1 << row;
        trial->at_once[row] = 0;
        trial->later[row] = 0;
    }
    if (end > trial->busy)
        trial->busy = end;
    if (end < trial->earliest)
        trial->earliest = end;
    if (trial->leaving_count < TRIAL_MOMENTS)
        trial->leaving[trial->leaving_count++] =
            (struct trial_leaving){ .at = end, .batch = row, .count = count };
}

/* Whether the machine has a task already that those of the batch must be apart from. It may be of another batch: of
 * another shape, or one that has run for another time. */
static bool has_apart(const struct trial_window *window, const struct trial *trial, uint32_t row)
{
    const uint32_t apart = window->rows[row].apart;

    if (apart == ROW_NONE)
        return false;
    for (uint64_t rest = trial->used; rest != 0; rest &= rest - 1) {
        const uint32_t other = fit_first(rest);
        if (view_aparts_meet(window->view, window->rows[other].apart, apart))
            return true;
    }
    return false;
}

/* How many tasks of the batch are put beside each other on what is free: as many as fit, or its share of them. */
static uint32_t fit_at_once(const struct trial_window *window, const struct trial *trial,
                            uint32_t row, const struct res *demand, bool is_share)
{
    const uint32_t left = window->rows[row].left - trial_count(trial, row);

    if (left == 0 || demand == NULL || !fit_now(demand, &trial->free) ||
        has_apart(window, trial, row))
        return 0;
    if (left == 1 || window->rows[row].batch->alone ||
        (is_share && (uint64_t)left * left <= window->left))
        return 1; /* there is no other, or a share of no more than all of them */

    const uint64_t fit = res_times(demand, &trial->free, left);

    return (uint32_t)(is_share ? (fit * left + window->left - 1) / window->left : fit);
}

/* Tasks side by side. At first each batch gets a share of the machine as large as its share of all that
 * wait, so that different tasks complement each other; then what is left is filled from the longest on. */
static void fill_at_once(const struct trial_window *window, struct trial *trial)
{
    for (int pass = 0; pass < 2; pass++) {
        uint64_t rows = fit_mask_ask(&window->fits, &trial->free);

        while (rows != 0) {
            const uint32_t row = fit_first(rows);
            const struct res *demand = demand_of(window, trial, row);
            const uint32_t fit = fit_at_once(window, trial, row, demand, pass == 0);

            if (fit > 0) {
                put(window, trial, row, demand, fit, trial->ready);
                trial->at_once[row] += fit;
            } else {
                rows &= fit_mask_ask(&window->fits, &trial->free);
            }
            rows = fit_behind(rows, row);
        }
    }
}

/* The next moment at which tasks leave; their room is free then. */
static msec_t next_leaving(const struct trial_window *window, struct trial *trial)
{
    uint32_t next = 0;

    for (uint32_t i = 1; i < trial->leaving_count; i++) {
        if (trial->leaving[i].at < trial->leaving[next].at)
            next = i;
    }

    const struct trial_leaving leaving = trial->leaving[next];
    const struct res *demand = demand_of(window, trial, leaving.batch);

    trial->leaving[next] = trial->leaving[--trial->leaving_count];
    for (int kind = 0; kind < RES_KINDS; kind++)
        trial->free.amount[kind] += demand->amount[kind] * (int64_t)leaving.count;
    return leaving.at;
}

/* In the time that is paid anyway, the room that comes free is used again. */
static void fill_later(const struct trial_window *window, struct trial *trial)
{
    const msec_t until = trial->busy > trial->paid ? trial->busy : trial->paid;

    if (trial->earliest > window->limits->paid_wait)
        return; /* as below, for all */
    for (uint32_t moment = 0; moment < TRIAL_MOMENTS && trial->leaving_count > 0; moment++) {
        const msec_t at = next_leaving(window, trial);

        if (at > window->limits->paid_wait)
            return; /* nobody waits that long */
        for (uint32_t row = 0; row < window->row_count; row++) {
            struct batch batch = *window->rows[row].batch;

            batch.left -= trial_count(trial, row);
            if (batch.left == 0 || batch.together || batch.apart != ROW_NONE ||
                at + batch.runtime > until ||
                at + batch_waited(window->view, &batch) > window->limits->paid_wait)
                continue;

            const struct res *demand = demand_of(window, trial, row);
            const uint32_t fit = batch_fit(&batch, demand, &trial->free);

            if (fit > 0) {
                put(window, trial, row, demand, fit, at);
                trial->later[row] += fit;
            }
        }
    }
}

/* How much longer than expected the machine is held. */
static double find_held(const struct trial_window *window, const struct trial *trial)
{
    double sum = 0;

    if (window->doubt <= 0)
        return 0;
    for (uint64_t rest = trial->used; rest != 0; rest &= rest - 1) {
        const uint32_t row = fit_first(rest);
        const struct batch *batch = window->rows[row].batch;

        if (batch->fixed)
            sum += overrun_jobs(window->view, batch, trial_count(trial, row)) *
                   overrun_of(batch->runtime, trial->busy - trial->ready, window->doubt);
    }
    return sum;
}

struct risk_stake trial_stake(const struct trial_window *window, const struct trial *trial)
{
    struct risk_mix mix = { 0 };

    if (!window->has_risk)
        return risk_mix_stake(&mix);
    for (uint64_t rest = trial->used; rest != 0; rest &= rest - 1) {
        const uint32_t row = fit_first(rest);
        const struct batch *batch = window->rows[row].batch;

        risk_mix_add(&mix, rent_stake_of(window->view, batch),
                     (double)trial_count(trial, row) * (double)(batch->runtime + 1) *
                         (double)(window->view->shape_price[batch->shape] + 1));
    }
    return risk_mix_stake(&mix);
}

double trial_charge(const struct trial_window *window, const struct trial *trial, uint32_t offer,
                    struct risk_stake stake)
{
    const struct view *view = window->view;
    const struct machine_type *type = catalogue_type_of(view->catalogue, offer);
    const struct billing_rule *rule = &view->catalogue->offers[offer].billing;
    const double again = risk_factor(view, offer, stake) - 1;
    msec_t charged;

    assert(trial->busy >= trial->ready);
    if (trial->instance == ROW_NONE)
        charged = billing_paid_span(rule, trial->busy - type->acquire_ms);
    else
        charged = trial->busy > trial->paid ? trial->busy - trial->paid : 0;
    return (double)view->offer_price[offer] *
               ((double)charged + trial->held + again * (double)(trial->busy - trial->ready)) /
               (double)MSEC_PER_HOUR +
           slot_price_hour(window->limits->slots) * (double)charged / (double)MSEC_PER_HOUR +
           (trial->instance == ROW_NONE ? (double)window->machine_cost : 0);
}

double trial_choose_offer(const struct trial_window *window, struct trial *trial)
{
    const struct risk_stake stake = trial_stake(window, trial);
    double least = trial_charge(window, trial, trial->offer, stake);

    for (const struct rival *rival = trial->rivals; rival != NULL; rival = rival->next) {
        if (rival->offer == trial->offer)
            continue;

        const double charge = trial_charge(window, trial, rival->offer, stake);

        if (charge < least) {
            trial->offer = rival->offer;
            least = charge;
        }
    }
    return least;
}

/* What so many tasks of the batch are worth, also while they run on. */
static double work_of(const struct trial_window *window, uint32_t row, uint32_t count)
{
    const struct trial_row *of = &window->rows[row];

    return (double)count * (double)of->runtime * (of->fixed ? 1 + window->doubt : 1) * of->worth /
           (double)MSEC_PER_HOUR;
}

/* Work that must not be moved may be better off alone on the machine, which has 'free', than with others that end at other times: tasks of
 * the first job of the first batch, as many as it holds. */
static void leave_alone(const struct trial_window *window, struct trial *trial,
                        const struct res *free)
{
    const struct trial_row *of = &window->rows[0];
    struct trial alone;

    if (window->doubt <= 0 || !of->fixed || of->apart != ROW_NONE ||
        (trial->used == 1 && overrun_jobs(window->view, of->batch, trial_count(trial, 0)) == 1))
        return;
    alone.rivals = trial->rivals;
    alone.offer = trial->offer;
    alone.instance = trial->instance;
    alone.ready = trial->ready;
    alone.paid = trial->paid;
    alone.busy = trial->ready + of->runtime;
    alone.used = 1;
    alone.at_once[0] = overrun_together(
        window->view, of->batch, (uint32_t)res_times(demand_of(window, trial, 0), free, of->left));
    alone.later[0] = 0;
    alone.held = find_held(window, &alone);

    const double charge = trial_choose_offer(window, &alone);
    const double work = work_of(window, 0, alone.at_once[0]);

    if (work <= trial->value * charge)
        return;
    trial->offer = alone.offer;
    trial->busy = alone.busy;
    trial->held = alone.held;
    trial->value = charge > 0 ? work / charge : HUGE_VAL;
    trial->used = 1;
    trial->at_once[0] = alone.at_once[0];
    trial->later[0] = 0;
}

bool trial_fill(const struct trial_window *window, struct trial *trial)
{
    const struct res *first = demand_of(window, trial, 0);
    const struct res free = trial->free;
    double work = 0;

    if (first == NULL || !res_fits(first, &trial->free))
        return false;
    fill_at_once(window, trial);
    fill_later(window, trial);
    trial->held = find_held(window, trial);

    const double charge = trial_choose_offer(window, trial);

    for (uint64_t rest = trial->used; rest != 0; rest &= rest - 1) {
        const uint32_t row = fit_first(rest);

        work += work_of(window, row, trial_count(trial, row));
    }

    assert(work >= 0);
    assert(charge >= 0);
    trial->value = charge > 0 ? work / charge : HUGE_VAL;
    leave_alone(window, trial, &free);
    return true;
}

/* Nothing is on the machine yet. */
static void begin(struct trial *trial, uint32_t offer, uint32_t instance, msec_t ready)
{
    trial->rivals = NULL;
    trial->offer = offer;
    trial->instance = instance;
    trial->ready = ready;
    trial->busy = 0;
    trial->held = 0;
    trial->earliest = MSEC_NEVER;
    trial->used = 0;
    trial->leaving_count = 0;
}

void trial_begin_fresh(struct trial *trial, const struct view *view, const struct rival *rivals)
{
    const uint32_t offer = rivals->offer;
    const struct machine_type *type = catalogue_type_of(view->catalogue, offer);

    begin(trial, offer, ROW_NONE, catalogue_boot_ms(view->catalogue, offer));
    trial->rivals = rivals;
    trial->paid = type->acquire_ms + billing_paid_span(&view->catalogue->offers[offer].billing, 1);
    trial->free = type->capacity;
}

void trial_begin_idle(struct trial *trial, const struct view *view, uint32_t instance)
{
    const msec_t ready = view->instance.ready_expected[instance] - view->now;

    begin(trial, view->instance.offer[instance], instance,
          view->instance.state[instance] != INSTANCE_READY && ready > 0 ? ready : 0);
    trial->paid = lease_left(view, instance);
    trial->free = *view_capacity(view, instance);
}
