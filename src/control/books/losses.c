/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What machines that the cloud takes away cost in lost work: what was expected, and what came of it.
 *
 * Lost is what the runs on such a machine had cost that were not saved when it was gone, and its boot, as another has
 * to boot in its place. A loss that the engine tells first waits until the cloud says that it has taken the machine; if
 * the machine lives on or was returned, something else was the cause.
 *
 * Expected is the same before the fact, by the rule that offers are priced by (risk_expected_redo): a machine of an offer
 * that lasts M on average is taken within any short time dt with a chance of dt/M, and what would be lost then grows
 * with the run until its next checkpoint. So a run of length r that cost c was expected to lose c * r / 2M, whether it was
 * lost or not, and a machine that lived for r and whose boot cost b was expected to lose b * r / M. Work that may be moved
 * is lost only where there is no notice. M and the share of losses with a notice are what is known when the run or the machine
 * ends, before anything is learned from that end.
 *
 * In how many cases a notice comes in time is learned here, for decisions as well (view.notice_ppm): of the runs of work that
 * may be moved on machines that the cloud took, how many were not lost. What the cloud promises counts as much as
 * PROMISE_WEIGHT runs, and what earlier processes saw as at most EARLIER_WEIGHT, so that a change is noticed.
 *
 * Machines on demand are never expected to be taken, and count in neither; nor does what a gang loses on its other
 * machines. Over many losses the two sums agree if the rates are right. Nothing is decided by the sums.
 *
 * Costs:  O(1) a run or a machine. 24 bytes a task, 8 an instance.
 */
#include "base/mem.h"
#include "control/books/books.h"
#include "decide/risk.h"

enum { PROMISE_WEIGHT = 2, EARLIER_WEIGHT = 200 };

static bool is_spot(const struct view *view, uint32_t instance)
{
    return view->catalogue->offers[view->instance.offer[instance]].market == MARKET_SPOT;
}

/* What is lost of a run if it is lost as it ends: what it did since its last checkpoint. */
static money_t unsaved(const struct view *view, uint32_t task, money_t cost, msec_t ran)
{
    const msec_t every = view->shapes->rows[view->task.shape[task]].delays.checkpoint_ms;

    return every > 0 && every < ran ? mul_div(cost, ran % every, ran) : cost;
}

/* Whether the work can be saved between a notice and the loss; of what cannot, a notice in time says nothing. */
static bool can_be_saved(const struct view *view, uint32_t task)
{
    const struct shape_delays *delays = &view->shapes->rows[view->task.shape[task]].delays;

    return !view->job.fixed[view->task.job[task]] &&
           delays->kill_ms + delays->upload_ms <= view->notice_ms;
}

/* In how many cases of a million a notice comes in time, by all that is known. */
static uint32_t notice_ppm_of(const struct books *books)
{
    const struct controller_stats *stats = &books->state->stats;
    const uint64_t promised = (uint64_t)PROMISE_WEIGHT * books->state->config.notice_ppm;
    const uint64_t saved = books->earlier_saved + stats->notice_saved;
    const uint64_t lost = books->earlier_lost + stats->notice_lost;

    return (uint32_t)((promised + saved * 1000000) / (PROMISE_WEIGHT + saved + lost));
}

/* So many more runs that may be moved were saved, or lost. */
static void learn_notice(struct books *books, uint32_t saved, uint32_t lost)
{
    books->state->stats.notice_saved += saved;
    books->state->stats.notice_lost += lost;
    books->state->view.notice_ppm = notice_ppm_of(books);
}

void losses_resume_notices(struct books *books, uint64_t saved, uint64_t lost)
{
    const uint64_t most = UINT64_MAX / EARLIER_WEIGHT / 2;
    const uint64_t known_saved = saved < most ? saved : most;
    const uint64_t known_lost = lost < most ? lost : most;
    const uint64_t sum = known_saved + known_lost;
    const bool is_cut = sum > EARLIER_WEIGHT;

    books->earlier_saved = is_cut ? known_saved * EARLIER_WEIGHT / sum : known_saved;
    books->earlier_lost = is_cut ? EARLIER_WEIGHT - books->earlier_saved : known_lost;
    books->state->view.notice_ppm = notice_ppm_of(books);
}

/* What is known of the instance, which may be new here. */
static struct at_stake *at_stake_of(struct books *books, uint32_t instance)
{
    const uint32_t known = books->at_stake_room;

    MEM_ROOM(books->at_stake, books->at_stake_room, instance + 1);
    for (uint32_t i = known; i < books->at_stake_room; i++)
        books->at_stake[i] = (struct at_stake){ 0 };
    return &books->at_stake[instance];
}

void losses_done(struct books *books)
{
    mem_free(books->runs);
    mem_free(books->at_stake);
}

void losses_run_begins(struct books *books, uint32_t task, msec_t at)
{
    const uint32_t known = books->runs_room;

    MEM_ROOM(books->runs, books->runs_room, task + 1);
    for (uint32_t i = known; i < books->runs_room; i++)
        books->runs[i] = (struct run_cost){ 0 };
    books->runs[task] = (struct run_cost){ .cost = ledger_due(books->ledger, task).cost,
                                           .since = at,
                                           .is_on = true };
}

/* So much more was expected to be lost, in micro-dollars. What is left of one waits for the next: the runs are many, and each is
 * expected to lose little. */
static void expect(struct books *books, double loss)
{
    books->expected_rest += loss;

    const money_t whole = (money_t)books->expected_rest;

    books->expected_rest -= (double)whole;
    books->state->stats.expected_loss += whole;
}

void losses_run_ends(struct books *books, uint32_t instance, uint32_t task, msec_t at)
{
    const struct view *view = &books->state->view;

    if (task >= books->runs_room || !books->runs[task].is_on)
        return;

    struct run_cost *run = &books->runs[task];
    const money_t cost = ledger_due(books->ledger, task).cost - run->cost;
    const msec_t ran = at - run->since;
    const struct risk_stake stake =
        risk_stake_of(view, view->task.shape[task], ran, view->job.fixed[view->task.job[task]]);
    const double redo = risk_expected_redo(view, view->instance.offer[instance], stake, ran);

    run->is_on = false;
    run->cost = unsaved(view, task, cost, ran);
    if (ran > 0)
        expect(books, (double)cost * redo / (double)ran);
    if (can_be_saved(view, task) && books->state->instance_notes[instance].is_noticed)
        at_stake_of(books, instance)->saved++;
}

void losses_run_lost(struct books *books, uint32_t instance, uint32_t task)
{
    if (task >= books->runs_room || instance == ROW_NONE)
        return;

    struct at_stake *stake = at_stake_of(books, instance);

    stake->cost += books->runs[task].cost;
    books->runs[task].cost = 0;
    if (can_be_saved(&books->state->view, task)) {
        stake->saved -= stake->saved > 0; /* it has ended, and was taken to be saved */
        stake->lost++;
    }
}

void losses_machine_ends(struct books *books, uint32_t instance, msec_t at, bool was_taken)
{
    struct controller_stats *stats = &books->state->stats;
    const struct view *view = &books->state->view;
    struct ledger_account account;
    const struct at_stake stake = *at_stake_of(books, instance);

    *at_stake_of(books, instance) = (struct at_stake){ 0 };
    if (!ledger_account(books->ledger, instance, &account))
        return;

    const msec_t lasts = view->offer_lasts[view->instance.offer[instance]];

    if (lasts != MSEC_NEVER && lasts > 0 && at > account.from)
        expect(books, (double)account.sums.boot * (double)(at - account.from) / (double)lasts);
    if (!was_taken || !is_spot(view, instance))
        return;
    stats->taken++;
    stats->lost_cost += stake.cost + account.sums.boot;
    learn_notice(books, stake.saved, stake.lost);
}
