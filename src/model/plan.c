/* SPDX-License-Identifier: Apache-2.0 */
#include "model/plan.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void plan_init(struct plan *plan, struct arena *arena)
{
    *plan = (struct plan){ .arena = arena, .wake_at = MSEC_NEVER };
}

/* A larger copy of an array that lives in an arena. */
static void *regrow(struct arena *arena, const void *old, uint32_t count, uint32_t *room,
                    size_t size)
{
    *room = *room > 0 ? *room * 2 : 16;

    void *fresh = arena_alloc(arena, *room, size);

    if (count > 0)
        memcpy(fresh, old, count * size);
    return fresh;
}

uint32_t plan_rent(struct plan *plan, uint32_t offer, struct plan_reason why)
{
    return plan_rent_with(plan, offer, 0, why);
}

uint32_t plan_rent_with(struct plan *plan, uint32_t offer, uint32_t request, struct plan_reason why)
{
    if (plan->rent_count == plan->rents_room)
        plan->rents = regrow(plan->arena, plan->rents, plan->rent_count, &plan->rents_room,
                             sizeof(*plan->rents));
    plan->rents[plan->rent_count] =
        (struct plan_rent){ .offer = offer, .request = request, .why = why };
    return plan->rent_count++;
}

static void add_place(struct plan *plan, struct plan_place place)
{
    if (plan->place_count == plan->places_room)
        plan->places = regrow(plan->arena, plan->places, plan->place_count, &plan->places_room,
                              sizeof(*plan->places));
    plan->places[plan->place_count++] = place;
}

void plan_expect_places(struct plan *plan, uint32_t more)
{
    const uint32_t count = plan->place_count;

    assert(more <= UINT32_MAX - count);
    if (plan->places_room >= count + more)
        return;

    struct plan_place *fresh = ARENA_ARRAY(plan->arena, struct plan_place, count + more);

    if (count > 0)
        memcpy(fresh, plan->places, count * sizeof(*fresh));
    plan->places = fresh;
    plan->places_room = count + more;
}

void plan_place_fresh(struct plan *plan, uint32_t task, uint32_t rent, struct plan_reason why)
{
    assert(rent < plan->rent_count);
    add_place(plan, (struct plan_place){ .task = task, .fresh = true, .target = rent, .why = why });
}

void plan_place_kept(struct plan *plan, uint32_t task, uint32_t instance, struct plan_reason why)
{
    add_place(plan, (struct plan_place){ .task = task, .target = instance, .why = why });
}

void plan_release(struct plan *plan, uint32_t instance, struct plan_reason why)
{
    if (plan->release_count == plan->releases_room)
        plan->releases = regrow(plan->arena, plan->releases, plan->release_count,
                                &plan->releases_room, sizeof(*plan->releases));
    plan->releases[plan->release_count++] =
        (struct plan_release){ .instance = instance, .why = why };
}

void plan_suspend(struct plan *plan, uint32_t task, struct plan_reason why)
{
    if (plan->suspend_count == plan->suspends_room)
        plan->suspends = regrow(plan->arena, plan->suspends, plan->suspend_count,
                                &plan->suspends_room, sizeof(*plan->suspends));
    plan->suspends[plan->suspend_count++] = (struct plan_suspend){ .task = task, .why = why };
}

void plan_let_wait(struct plan *plan, const struct plan_wait *wait)
{
    assert(wait->rule > WAIT_NONE);
    assert(wait->rule < WAIT_RULES);
    if (plan->wait_count == plan->waits_room)
        plan->waits = regrow(plan->arena, plan->waits, plan->wait_count, &plan->waits_room,
                             sizeof(*plan->waits));
    plan->waits[plan->wait_count++] = *wait;
}

struct plan_wait plan_wait_by(enum plan_wait_rule rule, uint32_t task)
{
    return (struct plan_wait){
        .task = task,
        .rule = rule,
        .target = UINT32_MAX,
        .offer = UINT32_MAX,
        .rent_offer = UINT32_MAX,
        .expected = MSEC_NEVER,
        .until = MSEC_NEVER,
        .rent_cost = MONEY_UNKNOWN,
        .wait_cost = MONEY_UNKNOWN,
    };
}

struct plan_reason plan_because(enum plan_reason_code code, money_t chosen)
{
    return (struct plan_reason){
        .code = code,
        .chosen = chosen,
        .passed_over = MONEY_UNKNOWN,
        .passed_offer = UINT32_MAX,
        .saving = MONEY_UNKNOWN,
        .move_cost = MONEY_UNKNOWN,
    };
}

void plan_reject(struct plan_reason *why, uint32_t chosen, uint32_t other, money_t price)
{
    const bool is_other = other != UINT32_MAX && other != chosen && price != MONEY_UNKNOWN;

    why->passed_offer = is_other ? other : UINT32_MAX;
    why->passed_over = is_other ? price : MONEY_UNKNOWN;
}

/* Part 'index' of 'count' equal ones, which add up to the whole. */
static money_t part_of(money_t whole, uint32_t index, uint32_t count)
{
    return whole * (index + 1) / count - whole * index / count;
}

void plan_share_saving(struct plan_place *first, uint32_t count, money_t saving, money_t cost)
{
    for (uint32_t i = 0; i < count; i++) {
        first[i].why.saving = part_of(saving, i, count);
        first[i].why.move_cost = part_of(cost, i, count);
    }
}

/* Dollars, as digits: to the cent, and below a dollar to the tenth of a cent. */
enum { AMOUNT_SIZE = 32 };

static void amount(money_t money, char ret[AMOUNT_SIZE])
{
    const money_t size = money < 0 ? -money : money;
    const bool is_small = size < MONEY_PER_USD;
    const money_t unit = is_small ? MONEY_PER_USD / 1000 : MONEY_PER_CENT;
    const money_t whole = (size + unit / 2) / unit;
    const money_t per_usd = MONEY_PER_USD / unit;

    (void)snprintf(ret, AMOUNT_SIZE, "%s$%" PRId64 ".%0*" PRId64, money < 0 ? "-" : "",
                   whole / per_usd, is_small ? 3 : 2, whole % per_usd);
}

const char *plan_reason_text(enum plan_reason_code code)
{
    static const char *const text[REASON_COUNT] = {
        [REASON_CHEAPEST_ALONE] = "the cheapest machine for this task alone",
        [REASON_SHARES_FRESH] = "several tasks share a new machine, which costs less than one each",
        [REASON_FITS_KEPT] = "fits on a machine that stays rented anyway",
        [REASON_SAME_BIN] = "fits, and ends at about the same time as the tasks there",
        [REASON_LONGER_BIN] = "fits, and ends before the tasks there",
        [REASON_SHORTER_BIN] = "fits, but runs longer than the tasks there",
        [REASON_BEST_SCORE] = "uses most of its scarcest resource per dollar",
        [REASON_CLEARED] = "moves off a machine that is little used",
        [REASON_NOT_WORTH_PRICE] = "the machine costs more than its tasks are worth",
        [REASON_REPACKED] = "part of a rearrangement that saves more than its moves cost",
        [REASON_EMPTY] = "no task runs there",
        [REASON_FIRST_IN_QUEUE] = "first in the queue, and there is room",
        [REASON_BACKFILL] = "fits before the first in the queue can start",
        [REASON_WAIT_TOO_LONG] = "the first in the queue would wait too long",
        [REASON_LEASE_ENDS] = "no task runs there, and the time paid for ends",
        [REASON_PAID_TIME] = "ends within time that is already paid for",
        [REASON_PRICE_ROSE] = "another machine is now cheaper for the same tasks",
        [REASON_RISK_ROSE] = "the machine may be lost, which would cost more than another machine",
        [REASON_YIELDS] = "stops and waits: the machine is worth more to other tasks",
        [REASON_PROMISED] = "keeps the number of machines that was promised to a service",
        [REASON_PROMISED_SAFE] =
            "keeps a promise to a service, for which spot machines would cost more",
        [REASON_PROMISED_BEST] =
            "the most that can be rented now, though less than was promised to a service",
        [REASON_EXCESS] = "runs in room reserved for a service, until the service needs it",
        [REASON_OWNED] = "fits on an owned machine, which costs the same when idle",
        [REASON_SERVICE_NEEDS] = "stops and waits: a service needs the room",
        [REASON_BETTER_PLACE] = "moves, because the new place saves more than the move costs",
        [REASON_SHORT_POOL] = "kept free for short tasks, because long ones fill most machines",
        [REASON_SHORT_READY] = "short, so it runs on a machine kept free for short tasks",
        [REASON_SHORT_FIRST] =
            "short, so it starts before a long task that waits for the same room",
        [REASON_ASKED_FIRST] =
            "for tasks that keep running where they are until this machine is ready",
        [REASON_OUTDATED] = "its image or settings differ from those of new machines",
        [REASON_FEWER_MACHINES] = "nearly the cheapest way to run these tasks, on fewer machines",
        [REASON_BEST_VALUE] = "the cheapest way to run these tasks",
    };

    assert(code < REASON_COUNT);
    return text[code];
}

const char *plan_wait_word(enum plan_wait_rule rule)
{
    static const char *const word[WAIT_RULES] = {
        [WAIT_NONE] = "undecided",    [WAIT_ROOM] = "room",         [WAIT_PAID_ROOM] = "paid-room",
        [WAIT_MACHINES] = "machines", [WAIT_SHARED] = "shared",     [WAIT_OFFER] = "offer",
        [WAIT_CROWD] = "crowd",       [WAIT_WORTH] = "worth",       [WAIT_QUEUE] = "turn",
        [WAIT_NO_OFFER] = "no-offer", [WAIT_SERVICE] = "service",   [WAIT_YIELDED] = "yielded",
        [WAIT_LIMIT] = "limit",       [WAIT_BACK_OFF] = "back-off", [WAIT_ENGINE] = "queued",
        [WAIT_GANG] = "gang",         [WAIT_PUT_OFF] = "put-off",
    };

    assert(rule < WAIT_RULES);
    return word[rule];
}

const char *plan_wait_text(enum plan_wait_rule rule)
{
    static const char *const text[WAIT_RULES] = {
        [WAIT_NONE] = "the next decision places it",
        [WAIT_ROOM] = "a running machine will have room before a new machine would be ready",
        [WAIT_PAID_ROOM] = "a machine that is paid for anyway will soon have room",
        [WAIT_MACHINES] = "enough machines will soon be free, so no others are rented",
        [WAIT_SHARED] = "it follows other tasks on their machine, in time that is already paid for",
        [WAIT_OFFER] = "the cloud refused a much cheaper machine, which is requested again soon",
        [WAIT_CROWD] = "it would not fill a machine, and tasks that can share one are coming",
        [WAIT_WORTH] = "running it now would cost more than waiting",
        [WAIT_QUEUE] = "its turn in the queue has not come",
        [WAIT_NO_OFFER] =
            "no machine has room for it, and none that is large enough can be rented now",
        [WAIT_SERVICE] = "the machines of its service have no room for it yet",
        [WAIT_YIELDED] = "it was stopped for other work",
        [WAIT_LIMIT] = "a limit or a budget allows no machine for it",
        [WAIT_BACK_OFF] = "its last start failed, and it is tried again later",
        [WAIT_ENGINE] = "it starts as soon as any machine has room",
        [WAIT_GANG] = "all tasks of its job start together, and one of them has to wait",
        [WAIT_PUT_OFF] = "the move that makes room for it is postponed",
    };

    assert(rule < WAIT_RULES);
    return text[rule];
}

void plan_reason_words(const struct plan_reason *why, char ret[PLAN_REASON_SIZE])
{
    const char *text = plan_reason_text(why->code);

    if (why->saving == MONEY_UNKNOWN || why->move_cost == MONEY_UNKNOWN) {
        (void)snprintf(ret, PLAN_REASON_SIZE, "%s", text);
        return;
    }

    char saving[AMOUNT_SIZE];
    char cost[AMOUNT_SIZE];

    amount(why->saving, saving);
    amount(why->move_cost, cost);
    (void)snprintf(ret, PLAN_REASON_SIZE, "%s: saves %s, and the move costs %s", text, saving,
                   cost);
}
