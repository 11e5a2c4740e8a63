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
    const struct shape_demand demand = { .family = FAMILY_NONE, .res = { { 1, 1, 0 } } };
    const uint32_t shape = shapes_add(
        &world->shapes, &(struct shape_spec){
                            .name = "s", .workload = "s", .demands = &demand, .demand_count = 1 });

    shapes_bind(&world->shapes, &world->catalogue);
    view_init(&world->view, &world->catalogue, &world->shapes);
    (void)view_add_job(
        &world->view,
        &(struct job_spec){ .id = 1, .first_task_id = 1, .shape = shape, .task_count = 1 });
    reservation_update(&world->view);
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
        rent_ways_list(&ways, &batches, false, &world.arena);
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

CHECK_MAIN(RUN(what_is_left_are_the_ways_that_no_other_one_replaces_in_their_order))
