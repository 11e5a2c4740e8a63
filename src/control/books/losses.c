/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What machines that the cloud takes away cost in lost work: what was expected, and what came of it.
 *
 * Lost is what the runs on such a machine had cost that were not saved when it was gone, and its boot, as another has
 * to boot in its place. A loss that the engine tells first waits until the cloud says that it has taken the machine; if
 * the machine lives on or was given back, something else was the cause.
 *
 * Expected is the same before the fact, by the rule that offers are priced by (decide/risk.h): a machine of an offer
 * that lasts M on average is taken within any short time dt with a chance of dt/M, and what would be lost then grows
 * with the run. So a run of length r that cost c was expected to lose c * r / 2M, whether it was lost or not, and a
 * machine that lived for r and whose boot cost b was expected to lose b * r / M. Work that may be moved is lost only
 * where there is no notice: it counts by the share of the losses so far that had none. M is what is known when the
 * run or the machine ends, before anything is learned from that end.
 *
 * Machines on demand are never expected to be taken, and count in neither; nor does what a gang loses on its other
 * machines. Over many losses the two sums agree if the rates are right. They are figures for people: nothing is decided by them.
 *
 * Costs:  O(1) a run or a machine. 24 bytes a task, 8 an instance.
 */
#include "base/mem.h"
#include "control/books/books.h"

/* What of 'cost' is expected to be lost within 'ms' on a machine of the offer. */
static double expected(const struct books *books, uint32_t offer, money_t cost, msec_t ms)
{
    const msec_t lasts = books->state->view.offer_lasts[offer];

    return lasts == MSEC_NEVER || ms <= 0 ? 0 : (double)cost * (double)ms / (double)lasts;
}

static bool is_spot(const struct view *view, uint32_t instance)
{
    return view->catalogue->offers[view->instance.offer[instance]].market == MARKET_SPOT;
}

/* Of the losses so far, how many came without notice; one of two before there was any. */
static double unannounced(const struct books *books)
{
    const struct controller_stats *stats = &books->state->stats;

    return (double)(stats->taken_unannounced + 1) / (double)(stats->taken + 2);
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

void losses_run_ends(struct books *books, uint32_t instance, uint32_t task, msec_t at)
{
    const struct view *view = &books->state->view;

    if (task >= books->runs_room || !books->runs[task].is_on)
        return;

    struct run_cost *run = &books->runs[task];

    run->is_on = false;
    run->cost = ledger_due(books->ledger, task).cost - run->cost;

    const double share = view->job.fixed[view->task.job[task]] ? 1 : unannounced(books);

    books->state->stats.expected_loss +=
        (money_t)(share *
                  expected(books, view->instance.offer[instance], run->cost, at - run->since) / 2);
}

void losses_run_lost(struct books *books, uint32_t instance, uint32_t task)
{
    if (task >= books->runs_room || instance == ROW_NONE)
        return;

    const uint32_t known = books->at_stake_room;

    MEM_ROOM(books->at_stake, books->at_stake_room, instance + 1);
    for (uint32_t i = known; i < books->at_stake_room; i++)
        books->at_stake[i] = 0;
    books->at_stake[instance] += books->runs[task].cost;
    books->runs[task].cost = 0;
}

void losses_machine_ends(struct books *books, uint32_t instance, msec_t at, bool was_taken)
{
    struct controller_stats *stats = &books->state->stats;
    const struct view *view = &books->state->view;
    struct ledger_account account;
    money_t lost = 0;

    if (instance < books->at_stake_room) {
        lost = books->at_stake[instance];
        books->at_stake[instance] = 0;
    }
    if (!ledger_account(books->ledger, instance, &account))
        return;
    stats->expected_loss += (money_t)expected(books, view->instance.offer[instance],
                                              account.sums.boot, at - account.from);
    if (!was_taken || !is_spot(view, instance))
        return;
    stats->taken++;
    stats->taken_unannounced += !books->state->instance_notes[instance].is_noticed;
    stats->lost_cost += lost + account.sums.boot;
}
