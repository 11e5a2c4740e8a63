/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/rent_ways.h"

#include <stdio.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "decide/reservation.h"

enum { WORLDS = 400, TYPES_MAX = 60, NAME_SIZE = 16 };

struct world {
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
    struct arena arena;
};

/* One more task that waits, and may run on those offers. */
static void add_work(struct world *world, const char *offers, msec_t estimate)
{
    const struct shape_demand demand = { .family = FAMILY_NONE, .res = { { 1, 1, 0 } } };
    const uint64_t id = world->view.job.count + 1;
    const uint32_t shape = shapes_add(&world->shapes, &(struct shape_spec){ .name = offers,
                                                                            .workload = "s",
                                                                            .demands = &demand,
                                                                            .demand_count = 1,
                                                                            .offers = offers });

    (void)view_add_job(&world->view, &(struct job_spec){ .id = id,
                                                         .first_task_id = id,
                                                         .shape = shape,
                                                         .task_count = 1,
                                                         .estimate_ms = estimate });
    reservation_update(&world->view);
}

/* Few different prices, sizes and times: many are alike in some respect, some in all. */
static void world_init(struct world *world, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, 1);
    *world = (struct world){ 0 };
    arena_init(&world->arena);
    catalogue_init(&world->catalogue);
    shapes_init(&world->shapes);

    const uint64_t count = 1 + rng_below(&rng, TYPES_MAX);

    for (uint64_t i = 0; i < count; i++) {
        char name[NAME_SIZE];
        const struct price_change price = { 0, 1000 * (1 + (money_t)rng_below(&rng, 8)) };
        const struct machine_type type = {
            .capacity = { { 1000 * (1 + (int64_t)rng_below(&rng, 4)),
                            1000 * (1 + (int64_t)rng_below(&rng, 4)),
                            1000 * (int64_t)rng_below(&rng, 2) } },
            .setup_ms = 1000 * (msec_t)rng_below(&rng, 2),
        };

        (void)snprintf(name, sizeof(name), "t%u", (unsigned)i);
        const struct offer offer = {
            .type = catalogue_add_type(&world->catalogue, name, "t", &type),
            .billing = { 1000, rng_below(&rng, 4) == 0 ? 60000 : 0 },
            .price = { &price, 1 },
        };

        (void)catalogue_add_offer(&world->catalogue, "z", &offer);
    }
    shapes_bind(&world->shapes, &world->catalogue);
    view_init(&world->view, &world->catalogue, &world->shapes);
    add_work(world, "", 0);
}

static void world_done(struct world *world)
{
    view_done(&world->view);
    shapes_done(&world->shapes);
    catalogue_done(&world->catalogue);
    arena_done(&world->arena);
}

/* Whether 'b' replaces 'a' in every respect, and is better in one or comes first. */
static bool replaces(const struct view *view, uint32_t b, uint32_t a)
{
    const struct offer *offer_a = &view->catalogue->offers[a];
    const struct offer *offer_b = &view->catalogue->offers[b];
    const struct machine_type *of_a = catalogue_type_of(view->catalogue, a);
    const struct machine_type *of_b = catalogue_type_of(view->catalogue, b);

    return a != b && view->offer_price[b] <= view->offer_price[a] &&
           res_fits(&of_a->capacity, &of_b->capacity) && of_b->setup_ms <= of_a->setup_ms &&
           offer_a->billing.minimum_ms == offer_b->billing.minimum_ms &&
           (b < a || view->offer_price[b] < view->offer_price[a] ||
            !res_fits(&of_b->capacity, &of_a->capacity) || of_b->setup_ms < of_a->setup_ms);
}

/* Offers of one type and billing are one way here, as each type has one. */
TEST(what_is_left_are_the_ways_that_no_other_one_replaces_in_their_order)
{
    uint32_t dropped = 0;

    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct world world;
        struct batches batches;
        struct rent_ways ways;
        uint32_t at = 0;

        world_init(&world, seed);
        batches_build(&batches, &world.view, &world.arena);
        rent_ways_list(&ways, &batches, false, NULL, &world.arena);
        for (uint32_t offer = 0; offer < world.catalogue.offer_count; offer++) {
            bool is_left = true;

            for (uint32_t other = 0; other < world.catalogue.offer_count && is_left; other++)
                is_left = !replaces(&world.view, other, offer);
            dropped += !is_left;
            if (!is_left)
                continue;
            assert_true(at < ways.count);
            assert_int_equal(ways.rows[at].rivals->offer, offer);
            at++;
        }
        assert_int_equal(at, ways.count);
        world_done(&world);
    }
    assert_true(dropped > WORLDS);
}

static void assert_same_way(const struct way *a, const struct way *b)
{
    const struct rival *mine = a->rivals;
    const struct rival *other = b->rivals;

    assert_true(a->least >= b->least && a->least <= b->least);
    assert_true(a->most >= b->most && a->most <= b->most);
    while (mine != NULL && other != NULL) {
        assert_int_equal(mine->offer, other->offer);
        mine = mine->next;
        other = other->next;
    }
    assert_null(mine);
    assert_null(other);
}

static void assert_same_ways(const struct rent_ways *a, const struct rent_ways *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->sized_count, b->sized_count);
    assert_int_equal(a->has_risk, b->has_risk);
    for (uint32_t i = 0; i < a->count; i++)
        assert_same_way(&a->rows[i], &b->rows[i]);
    for (uint32_t i = 0; i < a->sized_count; i++)
        assert_same_way(a->sized[i].way, b->sized[i].way);
}

/* Few different amounts are wanted, so that many are asked for again, and some share a place in the memory. */
static void assert_same_worth(const struct rent_ways *fresh, const struct rent_ways *ways,
                              struct rent_ways_memory *memory, struct rng *rng)
{
    for (int i = 0; i < 4; i++) {
        const double wanted[RES_PRICED] = { 1000 * (double)rng_below(rng, 8),
                                            1000 * (double)rng_below(rng, 8),
                                            (double)rng_below(rng, 4) };
        const struct resource_price plain = rent_ways_worth(fresh, wanted, NULL);
        const struct resource_price kept = rent_ways_worth(ways, wanted, memory);

        assert_memory_equal(&plain, &kept, sizeof(plain));
    }
}

/* Whatever the list depends on changes: a price, a risk, a refusal, the work and how it is constrained; often nothing does. */
static void change(struct world *world, struct rng *rng)
{
    const uint32_t offer = (uint32_t)rng_below(rng, world->catalogue.offer_count);

    switch (rng_below(rng, 8)) {
    case 0:
        world->view.offer_price[offer] = 1000 * (1 + (money_t)rng_below(rng, 8));
        break;
    case 1:
        world->view.offer_lasts[offer] =
            rng_below(rng, 2) == 0 ? MSEC_NEVER : MSEC_PER_HOUR * (1 + (msec_t)rng_below(rng, 4));
        break;
    case 2:
        world->view.offer_blocked_until[offer] = rng_below(rng, 2) == 0 ? 0 : MSEC_PER_HOUR;
        break;
    case 3:
        add_work(world, "", (msec_t)rng_below(rng, 3) * MSEC_PER_HOUR);
        break;
    case 4:
        add_work(world, rng_below(rng, 2) == 0 ? "t0|t1|t2" : "!t1", MSEC_PER_HOUR);
        break;
    case 5:
        catalogue_set_boot(&world->catalogue, world->catalogue.offers[offer].type,
                           1000 * (msec_t)rng_below(rng, 2), 1000 * (msec_t)rng_below(rng, 2));
        break;
    default:
        break;
    }
}

TEST(what_a_memory_keeps_is_what_would_be_found_without_it)
{
    uint32_t kept = 0;

    for (uint64_t seed = 1; seed <= WORLDS; seed++) {
        struct world world;
        struct rent_ways_memory memory;
        struct rng rng;

        rng_init(&rng, seed, 2);
        world_init(&world, seed);
        rent_ways_memory_init(&memory);
        for (int round = 0; round < 40; round++) {
            struct batches batches;
            struct rent_ways fresh;
            struct rent_ways ways;
            const bool few = rng_below(&rng, 16) == 0;
            const void *before = memory.ways.rows;
            const struct arena_mark mark = arena_mark(&memory.arena);

            batches_build(&batches, &world.view, &world.arena);
            rent_ways_list(&fresh, &batches, few, NULL, &world.arena);
            rent_ways_list(&ways, &batches, few, &memory, &world.arena);
            assert_same_ways(&fresh, &ways);
            assert_same_worth(&fresh, &ways, &memory, &rng);
            kept += before == memory.ways.rows && mark.used == arena_mark(&memory.arena).used;
            change(&world, &rng);
        }
        rent_ways_memory_done(&memory);
        world_done(&world);
    }
    assert_true(kept > WORLDS * 10); /* else this would show nothing */
}

CHECK_MAIN(RUN(what_is_left_are_the_ways_that_no_other_one_replaces_in_their_order),
           RUN(what_a_memory_keeps_is_what_would_be_found_without_it))
