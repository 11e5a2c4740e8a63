/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/promise_repair.h"

#include <assert.h>

enum { PPM = 1000000 };

struct repair_rule repair_rule_default(void)
{
    return (struct repair_rule){ .slots = 2,
                                 .losses = 1,
                                 .start_ms = 180 * MSEC_PER_SEC,
                                 .calm_ms = 6 * MSEC_PER_HOUR,
                                 .swap_ppm = 1500000 };
}

int64_t repair_share(const struct repair_rule *rule, int64_t capacity)
{
    const int64_t parts = rule->slots - rule->losses;

    assert(rule->losses < rule->slots);
    return (capacity + parts - 1) / parts;
}

void repair_init(const struct repair_rule *rule, struct repair_slot *slots)
{
    assert(rule->slots <= REPAIR_SLOTS_MAX);
    for (uint32_t i = 0; i < rule->slots; i++)
        slots[i] = (struct repair_slot){ .serving = REPAIR_NONE, .coming = REPAIR_NONE };
}

static const struct promise_offer *offer_of(const struct repair_market *market, uint32_t offer)
{
    return offer == REPAIR_ON_DEMAND ? &market->on_demand : &market->offers[offer];
}

/* Whether a unit of 'a' is dearer than ppm millionths of one of 'b'. */
static bool is_dearer(const struct promise_offer *a, const struct promise_offer *b, uint32_t ppm)
{
    __extension__ typedef __int128 wide_t;

    return (wide_t)a->price * b->capacity * PPM > (wide_t)b->price * a->capacity * ppm;
}

static bool is_gone(const struct repair_market *market, uint32_t offer)
{
    return offer < market->count && market->is_gone[offer];
}

/* Whether some slot other than 'but' has the offer or, if they are kept apart, one of its type. */
static bool is_taken(const struct repair_rule *rule, const struct repair_market *market,
                     const struct repair_slot *slots, uint32_t but, uint32_t offer,
                     bool types_apart)
{
    for (uint32_t i = 0; i < rule->slots; i++) {
        const uint32_t held[] = { slots[i].serving, slots[i].coming };

        for (int k = 0; k < 2; k++) {
            if (held[k] == offer)
                return true;
            if (i != but && types_apart && held[k] < market->count &&
                market->offers[held[k]].type == market->offers[offer].type)
                return true;
        }
    }
    return false;
}

/* The cheapest offer that a slot may move to, or REPAIR_ON_DEMAND. */
static uint32_t best_free(const struct repair_rule *rule, const struct repair_market *market,
                          const struct repair_slot *slots, uint32_t slot)
{
    uint32_t best = REPAIR_ON_DEMAND;

    for (int strict = rule->types_apart ? 1 : 0; strict >= 0 && best == REPAIR_ON_DEMAND;
         strict--) {
        for (uint32_t i = 0; i < market->count; i++) {
            const bool is_calm =
                market->lost_at[i] < 0 || market->now - market->lost_at[i] >= rule->calm_ms;

            if (!market->is_gone[i] && is_calm &&
                !is_taken(rule, market, slots, slot, i, strict != 0) &&
                is_dearer(offer_of(market, best), &market->offers[i], PPM))
                best = i;
        }
    }
    return best;
}

static void step_slot(const struct repair_rule *rule, const struct repair_market *market,
                      struct repair_slot *slots, uint32_t index)
{
    struct repair_slot *slot = &slots[index];

    if (is_gone(market, slot->serving))
        slot->serving = REPAIR_NONE;
    if (is_gone(market, slot->coming))
        slot->coming = REPAIR_NONE;
    if (slot->coming != REPAIR_NONE && slot->ready_at <= market->now) {
        slot->serving = slot->coming;
        slot->coming = REPAIR_NONE;
    }
    if (slot->coming != REPAIR_NONE)
        return;

    const uint32_t best = best_free(rule, market, slots, index);
    const bool is_empty = slot->serving == REPAIR_NONE;

    if (is_empty ||
        (best != REPAIR_ON_DEMAND &&
         is_dearer(offer_of(market, slot->serving), offer_of(market, best), rule->swap_ppm))) {
        slot->coming = best;
        slot->ready_at = market->now + rule->start_ms;
    }
}

msec_t repair_step(const struct repair_rule *rule, const struct repair_market *market,
                   struct repair_slot *slots)
{
    msec_t next = MSEC_NEVER;

    for (uint32_t i = 0; i < rule->slots; i++) {
        step_slot(rule, market, slots, i);
        if (slots[i].coming != REPAIR_NONE && slots[i].ready_at < next)
            next = slots[i].ready_at;
    }
    return next;
}

uint32_t repair_serving(const struct repair_rule *rule, const struct repair_slot *slots)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < rule->slots; i++)
        count += slots[i].serving != REPAIR_NONE;
    return count;
}

static money_t share_price(const struct repair_market *market, uint32_t offer, int64_t share)
{
    if (offer == REPAIR_NONE)
        return 0;

    const struct promise_offer *of = offer_of(market, offer);

    return of->price * ((share + of->capacity - 1) / of->capacity);
}

money_t repair_price(const struct repair_rule *rule, const struct repair_market *market,
                     const struct repair_slot *slots, int64_t capacity)
{
    const int64_t share = repair_share(rule, capacity);
    money_t sum = 0;

    for (uint32_t i = 0; i < rule->slots; i++)
        sum += share_price(market, slots[i].serving, share) +
               share_price(market, slots[i].coming, share);
    return sum;
}
