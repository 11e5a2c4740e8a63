/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/lease.h"

#include <assert.h>
#include <stdlib.h>

#include "learn/reuse.h"

const char *const lease_order_words[] = { "max-margin", "min-margin", "max-idle",
                                          "min-idle",   "random",     NULL };

msec_t lease_end(const struct view *view, uint32_t instance)
{
    const struct offer *offer = &view->catalogue->offers[view->instance.offer[instance]];
    msec_t from = view->instance.billed_from[instance];

    assert(from <= view->now);
    if (from < 0) /* its node was there before the cloud said so */
        from = view->instance.rented_at[instance];

    /* A moment in a lease is in it, and the end of one is the beginning of the next. */
    const msec_t end = from + billing_paid_span(&offer->billing, view->now - from + 1);

    assert(end > view->now);
    return end;
}

msec_t lease_left(const struct view *view, uint32_t instance)
{
    return lease_until(view, instance, 0);
}

msec_t lease_until(const struct view *view, uint32_t instance, msec_t busy)
{
    const uint32_t offer = view->instance.offer[instance];
    const struct billing_rule *rule = &view->catalogue->offers[offer].billing;

    if (view->instance.billed_from[instance] >= 0) {
        const msec_t ran = view->now - view->instance.billed_from[instance];

        assert(ran >= 0);
        return billing_paid_span(rule, ran + (busy > 0 ? busy : 1)) - ran;
    }

    const msec_t setup = catalogue_type_of(view->catalogue, offer)->setup_ms;
    const msec_t due = view->instance.ready_expected[instance] - setup - view->now;
    const msec_t runs = due > 0 ? due : 0;

    return runs + billing_paid_span(rule, busy > runs ? busy - runs : 1);
}

bool lease_spans(const struct view *view, uint32_t instance, msec_t wait, uint32_t used_ppm)
{
    const struct machine_type *type =
        catalogue_type_of(view->catalogue, view->instance.offer[instance]);
    const msec_t more = lease_until(view, instance, wait) - lease_left(view, instance);

    return more <= 0 || more * REUSE_PPM < type->setup_ms * (int64_t)used_ppm;
}

struct idle {
    int64_t key;
    uint32_t instance;
    uint64_t id;
};

static int compare_idle(const void *left, const void *right)
{
    const struct idle *a = left;
    const struct idle *b = right;

    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return (a->id > b->id) - (a->id < b->id);
}

static int64_t sort_key(const struct view *view, uint32_t instance, enum lease_order order)
{
    switch (order) {
    case LEASE_MAX_MARGIN:
        return -lease_end(view, instance);
    case LEASE_MIN_MARGIN:
        return lease_end(view, instance);
    case LEASE_MAX_IDLE:
        return view->instance.empty_since[instance];
    case LEASE_MIN_IDLE:
        return -view->instance.empty_since[instance];
    case LEASE_RANDOM:
        return (int64_t)(map_mix(view->instance.id[instance] ^ map_mix((uint64_t)view->now)) >> 1);
    }
    return 0;
}

static void swap(struct idle *a, struct idle *b)
{
    const struct idle kept = *a;

    *a = *b;
    *b = kept;
}

/* Bring the first 'most' of the order to the front, in any order (Hoare's selection). */
static void select_first(struct idle *idle, uint32_t count, uint32_t most)
{
    uint32_t low = 0;
    uint32_t high = count;

    while (high - low > 1 && most > low && most < high) {
        uint32_t store = low;

        swap(&idle[low + (high - low) / 2], &idle[high - 1]); /* the pivot */
        for (uint32_t i = low; i + 1 < high; i++) {
            if (compare_idle(&idle[i], &idle[high - 1]) < 0)
                swap(&idle[i], &idle[store++]);
        }
        swap(&idle[store], &idle[high - 1]);
        if (most <= store)
            high = store;
        else
            low = store + 1;
    }
}

static bool is_asked_for(const struct view *view, uint32_t instance,
                         const struct lease_query *query)
{
    return view->instance.state[instance] == INSTANCE_READY &&
           view->instance.offer[instance] == query->offer &&
           (query->owner == NAME_NONE || view->instance.owner[instance] == query->owner);
}

uint32_t lease_idle(const struct view *view, const struct lease_query *query, struct arena *arena,
                    uint32_t **ret)
{
    uint32_t count = 0;

    EMPTY_EACH(instance, view)
    {
        count += is_asked_for(view, instance, query);
    }

    struct idle *idle = ARENA_ARRAY(arena, struct idle, count);
    const uint32_t most = query->most < count ? (uint32_t)query->most : count;

    count = 0;
    EMPTY_EACH(instance, view)
    {
        if (is_asked_for(view, instance, query))
            idle[count++] = (struct idle){
                .key = sort_key(view, instance, query->order),
                .instance = instance,
                .id = view->instance.id[instance],
            };
    }
    select_first(idle, count, most);
    if (most > 1)
        qsort(idle, most, sizeof(*idle), compare_idle);
    *ret = ARENA_ARRAY(arena, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        (*ret)[i] = idle[i].instance;
    return count;
}

/* Whether what is to be done at 'at' must be done now: it is due, or the next decision comes later. */
static bool is_last_chance(const struct view *view, msec_t at)
{
    return at <= view->now || at < view->now + view->round_ms;
}

void lease_release(const struct view *view, msec_t check_ms, const bool *spared, struct plan *plan)
{
    assert(check_ms > 0);
    EMPTY_EACH(instance, view)
    {
        if (view->instance.state[instance] != INSTANCE_READY ||
            (spared != NULL && spared[instance]))
            continue;

        const msec_t last_check = lease_end(view, instance) - check_ms;
        const msec_t empty_since = view->instance.empty_since[instance];
        const msec_t check =
            msec_round_up(last_check > empty_since ? last_check : empty_since, check_ms);

        if (is_last_chance(view, check))
            plan_release(
                plan, instance,
                plan_because(REASON_LEASE_ENDS, view->offer_price[view->instance.offer[instance]]));
        else if (check < plan->wake_at)
            plan->wake_at = check;
    }
}

void lease_release_late(const struct view *view, msec_t margin_ms, const struct row_map *spared,
                        struct plan *plan)
{
    assert(margin_ms >= 0);
    EMPTY_EACH(instance, view)
    {
        const uint32_t offer = view->instance.offer[instance];
        const bool billed = view->instance.billed_from[instance] >= 0;
        const money_t price = view->offer_price[offer];

        if (!view_is_open(view, instance) || row_map_has(spared, instance))
            continue;

        const msec_t release_ms = catalogue_type_of(view->catalogue, offer)->release_ms;
        const msec_t due = billed ? lease_end(view, instance) - release_ms - margin_ms : view->now;

        if (is_last_chance(view, due))
            plan_release(plan, instance,
                         plan_because(billed ? REASON_LEASE_ENDS : REASON_EMPTY, price));
        else if (due < plan->wake_at)
            plan->wake_at = due;
    }
}
