/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything walks through time from change to change of any offer. Where each offer stands is kept in
 * a cursor, so a step costs a look at each.
 */
#include "cli/pool_market.h"

#include <assert.h>

struct cursor {
    uint32_t at; /* the change that holds */
    money_t price;
    bool is_gone;
};

struct walk {
    const struct pool_market *market;
    struct cursor *cursors;
    msec_t now;
    msec_t next; /* when something changes */
    msec_t to;
};

static void look(const struct pool_market_offer *offer, struct cursor *cursor)
{
    const money_t said = offer->series.changes[cursor->at].per_hour;

    cursor->is_gone = said > offer->on_demand;
    cursor->price = said == 0 ? offer->price : said;
}

/* The last change at or before 'now'; before the first, the first holds. */
static uint32_t change_at(const struct price_series *series, msec_t now)
{
    uint32_t low = 0;
    uint32_t high = series->count;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;

        if (series->changes[middle].at <= now)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void find_next(struct walk *walk)
{
    walk->next = walk->to;
    for (uint32_t i = 0; i < walk->market->count; i++) {
        const struct price_series *series = &walk->market->offers[i].series;
        const uint32_t after = walk->cursors[i].at + 1;

        if (after < series->count && series->changes[after].at < walk->next)
            walk->next = series->changes[after].at;
    }
}

static void walk_init(struct walk *walk, const struct pool_market *market, struct pool_span span,
                      struct arena *arena)
{
    *walk = (struct walk){ .market = market,
                           .cursors = ARENA_ARRAY(arena, struct cursor, market->count),
                           .now = span.from,
                           .to = span.to };
    for (uint32_t i = 0; i < market->count; i++) {
        walk->cursors[i].at = change_at(&market->offers[i].series, span.from);
        look(&market->offers[i], &walk->cursors[i]);
    }
    find_next(walk);
}

/* Go on to the next change. False: the span is over. */
static bool walk_step(struct walk *walk)
{
    if (walk->next >= walk->to)
        return false;
    walk->now = walk->next;
    for (uint32_t i = 0; i < walk->market->count; i++) {
        const struct price_series *series = &walk->market->offers[i].series;
        struct cursor *cursor = &walk->cursors[i];

        while (cursor->at + 1 < series->count && series->changes[cursor->at + 1].at <= walk->now)
            cursor->at++;
        look(&walk->market->offers[i], cursor);
    }
    find_next(walk);
    return true;
}

struct promise_record pool_market_record(const struct pool_market *market, uint32_t offer,
                                         struct pool_span span, money_t *ret_price)
{
    const struct pool_market one = { .offers = &market->offers[offer], .count = 1 };
    struct promise_record record = { .watched = span.to - span.from };
    struct arena arena;
    struct walk walk;
    bool was_gone = false;
    money_t paid = 0;

    arena_init(&arena);
    walk_init(&walk, &one, span, &arena);
    do {
        const msec_t passed = walk.next - walk.now;

        if (walk.cursors[0].is_gone)
            record.gone += passed;
        else
            paid += money_for(walk.cursors[0].price, passed);
        record.losses += walk.cursors[0].is_gone && !was_gone;
        was_gone = walk.cursors[0].is_gone;
    } while (walk_step(&walk));
    *ret_price = record.watched > record.gone
                     ? mul_div(paid, MSEC_PER_HOUR, record.watched - record.gone)
                     : one.offers->on_demand;
    arena_done(&arena);
    return record;
}

void pool_market_states(const struct pool_market *market, struct pool_span span,
                        struct avail_states *states)
{
    struct arena arena;
    struct walk walk;

    arena_init(&arena);
    walk_init(&walk, market, span, &arena);

    bool *is_gone = ARENA_ARRAY(&arena, bool, market->count);

    do {
        for (uint32_t i = 0; i < market->count; i++)
            is_gone[i] = walk.cursors[i].is_gone;
        avail_states_add(states, is_gone, walk.next - walk.now);
    } while (walk_step(&walk));
    arena_done(&arena);
}

void pool_market_hold(const struct pool_market *market, const uint32_t *machines, int64_t capacity,
                      struct pool_span span, struct pool_outcome *ret)
{
    struct arena arena;
    struct walk walk;

    arena_init(&arena);
    walk_init(&walk, market, span, &arena);
    do {
        const msec_t passed = walk.next - walk.now;
        int64_t there = 0;
        money_t price = 0;

        for (uint32_t i = 0; i < market->count; i++) {
            if (machines[i] == 0 || walk.cursors[i].is_gone)
                continue;
            there += market->offers[i].capacity * machines[i];
            price += walk.cursors[i].price * machines[i];
        }
        ret->cost += money_for(price, passed);
        ret->short_ms += there < capacity ? passed : 0;
    } while (walk_step(&walk));
    arena_done(&arena);
}

/* ---- the repairing pool ---- */

struct repairs {
    struct walk walk;
    struct promise_offer *offers;
    bool *is_gone;
    msec_t *lost_at;
    struct repair_slot slots[REPAIR_SLOTS_MAX];
};

/* Show the market of this moment to the slots. */
static struct repair_market show(struct repairs *repairs, msec_t now)
{
    const struct pool_market *market = repairs->walk.market;

    for (uint32_t i = 0; i < market->count; i++) {
        const struct cursor *cursor = &repairs->walk.cursors[i];

        if (cursor->is_gone || repairs->is_gone[i])
            repairs->lost_at[i] = now; /* also when it has just come back */
        repairs->is_gone[i] = cursor->is_gone;
        repairs->offers[i] = (struct promise_offer){ .capacity = market->offers[i].capacity,
                                                     .price = cursor->price,
                                                     .type = market->offers[i].type };
    }
    return (struct repair_market){ .now = now,
                                   .offers = repairs->offers,
                                   .count = market->count,
                                   .is_gone = repairs->is_gone,
                                   .lost_at = repairs->lost_at,
                                   .on_demand = market->on_demand };
}

static void account(const struct repairs *repairs, const struct repair_rule *rule,
                    const struct repair_market *shown, int64_t capacity, msec_t passed,
                    struct pool_outcome *ret)
{
    ret->cost += money_for(repair_price(rule, shown, repairs->slots, capacity), passed);
    if (repair_serving(rule, repairs->slots) < rule->slots - rule->losses)
        ret->short_ms += passed;
    for (uint32_t i = 0; i < rule->slots; i++)
        ret->on_demand_ms += repairs->slots[i].serving == REPAIR_ON_DEMAND ? passed : 0;
}

/* What was lost before the span is known; look back as far as that matters. */
static void look_back(struct repairs *repairs, const struct repair_rule *rule,
                      const struct pool_market *market, struct pool_span span, struct arena *arena)
{
    const struct pool_span before = { span.from > rule->calm_ms ? span.from - rule->calm_ms : 0,
                                      span.from };

    for (uint32_t i = 0; i < market->count; i++)
        repairs->lost_at[i] = -1;
    if (before.from >= before.to)
        return;
    walk_init(&repairs->walk, market, before, arena);
    do {
        (void)show(repairs, repairs->walk.now);
    } while (walk_step(&repairs->walk));
}

void pool_market_repair(const struct pool_market *market, const struct repair_rule *rule,
                        int64_t capacity, struct pool_span span, struct arena *arena,
                        struct pool_outcome *ret)
{
    struct repairs repairs = { .offers = ARENA_ARRAY(arena, struct promise_offer, market->count),
                               .is_gone = ARENA_ARRAY(arena, bool, market->count),
                               .lost_at = ARENA_ARRAY(arena, msec_t, market->count) };
    struct repair_rule at_once = *rule;
    bool is_first = true;
    bool goes_on = true;

    at_once.start_ms = 0;
    look_back(&repairs, rule, market, span, arena);
    walk_init(&repairs.walk, market, span, arena);
    repair_init(rule, repairs.slots);
    while (goes_on) {
        struct repair_market shown = show(&repairs, repairs.walk.now);
        const uint32_t before = repair_serving(rule, repairs.slots);
        msec_t wake = repair_step(is_first ? &at_once : rule, &shown, repairs.slots);

        if (is_first) /* what was asked for a moment ago is there: the span begins with a whole pool */
            wake = repair_step(rule, &shown, repairs.slots);
        else if (repair_serving(rule, repairs.slots) < before)
            ret->losses++;
        is_first = false;
        /* Until the next change, or until machines are there. */
        for (msec_t now = repairs.walk.now; now < repairs.walk.next;) {
            const msec_t until = wake < repairs.walk.next ? wake : repairs.walk.next;

            account(&repairs, rule, &shown, capacity, until - now, ret);
            now = until;
            if (now < repairs.walk.next) {
                shown.now = now;
                wake = repair_step(rule, &shown, repairs.slots);
            }
        }
        goes_on = walk_step(&repairs.walk);
    }
}
