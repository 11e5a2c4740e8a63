/* SPDX-License-Identifier: Apache-2.0 */
#include "model/shape.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/test/check.h"

enum { C7I, P3, M7I }; /* families */

static const struct shape_demand anywhere[] = { { FAMILY_NONE, { { 4000, 1024, 0 } } } };

/* Six CPUs on c7i, twelve and an accelerator on p3, four on all others. */
static const struct shape_demand by_family[] = {
    { C7I, { { 6000, 1024, 0 } } },
    { FAMILY_NONE, { { 4000, 1024, 0 } } },
    { P3, { { 12000, 2048, 1000 } } },
};

static const struct shape_spec base_spec = {
    .name = "train[0]",
    .workload = "train",
    .delays = { .fetch_ms = 1, .build_ms = 2, .init_ms = 3, .kill_ms = 4, .upload_ms = 5 },
    .demands = by_family,
    .demand_count = 3,
};

TEST(equal_specs_are_one_shape)
{
    char name[] = "train[0]";
    struct shape_demand copy[3];
    struct shape_spec again = base_spec;
    struct shapes shapes;

    shapes_init(&shapes);
    memcpy(copy, by_family, sizeof(copy));
    again.name = name;
    again.demands = copy;
    const uint32_t first = shapes_add(&shapes, &base_spec);

    assert_int_equal(shapes_add(&shapes, &again), first);
    assert_int_equal(shapes.count, 1);
    shapes_done(&shapes);
}

TEST(specs_that_differ_in_anything_are_two_shapes)
{
    static const struct shape_demand other_family[] = {
        { C7I, { { 6000, 1024, 0 } } },
        { FAMILY_NONE, { { 4000, 1024, 0 } } },
        { M7I, { { 12000, 2048, 1000 } } },
    };
    static const struct shape_demand other_amount[] = {
        { C7I, { { 6000, 1024, 0 } } },
        { FAMILY_NONE, { { 4000, 1024, 0 } } },
        { P3, { { 12000, 2048, 2000 } } },
    };
    const struct shape_spec specs[] = {
        base_spec,
        { "train[1]", "train", { 1, 2, 3, 4, 5, 0 }, by_family, 3, NULL, 0, false, false },
        { "train[0]", "other", { 1, 2, 3, 4, 5, 0 }, by_family, 3, NULL, 0, false, false },
        { "train[0]", "train", { 9, 2, 3, 4, 5, 0 }, by_family, 3, NULL, 0, false, false },
        { "train[0]", "train", { 1, 9, 3, 4, 5, 0 }, by_family, 3, NULL, 0, false, false },
        { "train[0]", "train", { 1, 2, 9, 4, 5, 0 }, by_family, 3, NULL, 0, false, false },
        { "train[0]", "train", { 1, 2, 3, 9, 5, 0 }, by_family, 3, NULL, 0, false, false },
        { "train[0]", "train", { 1, 2, 3, 4, 9, 0 }, by_family, 3, NULL, 0, false, false },
        { "train[0]", "train", { 1, 2, 3, 4, 5, 9 }, by_family, 3, NULL, 0, false, false },
        { "train[0]", "train", { 1, 2, 3, 4, 5, 0 }, by_family, 2, NULL, 0, false, false },
        { "train[0]", "train", { 1, 2, 3, 4, 5, 0 }, other_family, 3, NULL, 0, false, false },
        { "train[0]", "train", { 1, 2, 3, 4, 5, 0 }, other_amount, 3, NULL, 0, false, false },
        { "train[0]", "train", { 1, 2, 3, 4, 5, 0 }, by_family, 3, "spot", 0, false, false },
        { "train[0]", "train", { 1, 2, 3, 4, 5, 0 }, by_family, 3, NULL, 0, false, true },
        { "train[0]", "train", { 1, 2, 3, 4, 5, 0 }, by_family, 3, NULL, ALIKE_ZONE, false, false },
        { "train[0]",
          "train",
          { 1, 2, 3, 4, 5, 0 },
          by_family,
          3,
          NULL,
          ALIKE_MARKET,
          false,
          false },
        { "train[0]", "train", { 1, 2, 3, 4, 5, 0 }, by_family, 3, NULL, 0, true, false },
    };
    const uint32_t count = sizeof(specs) / sizeof(*specs);
    struct shapes shapes;

    shapes_init(&shapes);
    for (uint32_t i = 0; i < count; i++) {
        if (shapes_add(&shapes, &specs[i]) != i)
            fail_msg("row %u is taken for an earlier one", i);
    }
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(shapes_add(&shapes, &specs[i]), i);
    shapes_done(&shapes);
}

TEST(shapes_of_one_workload_share_its_number)
{
    struct shape_spec other = base_spec;
    struct shapes shapes;

    shapes_init(&shapes);
    other.name = "train[1]";
    const uint32_t a = shapes_add(&shapes, &base_spec);
    const uint32_t b = shapes_add(&shapes, &other);

    assert_int_not_equal(a, b);
    assert_int_equal(shapes.rows[a].workload, shapes.rows[b].workload);
    assert_string_equal(names_text(&shapes.names, shapes.rows[b].name), "train[1]");
    shapes_done(&shapes);
}

TEST(the_demand_of_a_family_goes_before_the_one_for_any)
{
    struct shapes shapes;

    shapes_init(&shapes);
    const uint32_t shape = shapes_add(&shapes, &base_spec);

    assert_int_equal(shape_demand_on(&shapes, shape, C7I)->amount[RES_CPU], 6000);
    assert_int_equal(shape_demand_on(&shapes, shape, P3)->amount[RES_CPU], 12000);
    assert_int_equal(shape_demand_on(&shapes, shape, M7I)->amount[RES_CPU], 4000);
    shapes_done(&shapes);
}

TEST(a_shape_without_a_demand_for_the_family_cannot_run_there)
{
    const struct shape_demand only_p3 = { P3, { { 12000, 2048, 1000 } } };
    const struct shape_spec spec = { "gpu", "gpu", { 0 }, &only_p3, 1, NULL, 0, false, false };
    struct shapes shapes;

    shapes_init(&shapes);
    const uint32_t shape = shapes_add(&shapes, &spec);

    assert_null(shape_demand_on(&shapes, shape, C7I));
    shapes_done(&shapes);
}

/* A catalogue of one type of each family, each in two zones and two markets. */
static void catalogue_of(struct catalogue *catalogue, const struct res *capacity)
{
    static const char *const names[] = { "c7i.large", "p3.large", "m7i.large" };
    static const char *const families[] = { "c7i", "p3", "m7i" };

    catalogue_init(catalogue);
    for (uint32_t i = 0; i < 3; i++) {
        const struct machine_type type = { .capacity = *capacity };
        const uint32_t index = catalogue_add_type(catalogue, names[i], families[i], &type);

        for (uint32_t k = 0; k < 4; k++) {
            static const struct price_change free_of_charge = { 0 };
            const struct offer offer = { .type = index,
                                         .market = k < 2 ? MARKET_ON_DEMAND : MARKET_SPOT,
                                         .billing = { .step_ms = 1000 },
                                         .price = { &free_of_charge, 1 } };

            (void)catalogue_add_offer(catalogue, k % 2 == 0 ? "east" : "west", &offer);
        }
    }
}

TEST(a_task_fits_an_offer_that_has_exactly_its_demand)
{
    const struct shape_spec spec = {
        .name = "plain", .workload = "plain", .demands = anywhere, .demand_count = 1
    };
    struct catalogue catalogue;
    struct shapes shapes;

    shapes_init(&shapes);
    const uint32_t shape = shapes_add(&shapes, &spec);

    catalogue_of(&catalogue, &anywhere[0].res);
    assert_true(shape_fits_offer(&shapes, shape, &catalogue, 0));
    catalogue_done(&catalogue);
    for (int kind = 0; kind < RES_KINDS; kind++) {
        struct res less = anywhere[0].res;

        less.amount[kind]--;
        catalogue_of(&catalogue, &less);
        assert_false(shape_fits_offer(&shapes, shape, &catalogue, 0));
        catalogue_done(&catalogue);
    }
    shapes_done(&shapes);
}

TEST(a_shape_of_some_offers_fits_no_others)
{
    const struct shape_spec spec = { .name = "plain",
                                     .workload = "plain",
                                     .demands = anywhere,
                                     .demand_count = 1,
                                     .offers = "west&spot" };
    struct catalogue catalogue;
    struct shapes shapes;

    shapes_init(&shapes);
    catalogue_of(&catalogue, &anywhere[0].res);
    const uint32_t shape = shapes_add(&shapes, &spec);

    offer_sets_bind(&shapes.sets, &catalogue);
    for (uint32_t i = 0; i < catalogue.offer_count; i++) {
        assert_int_equal(shape_fits_offer(&shapes, shape, &catalogue, i), i % 4 == 3);
        assert_int_equal(shape_demand_at(&shapes, shape, &catalogue, i) != NULL, i % 4 == 3);
    }
    catalogue_done(&catalogue);
    shapes_done(&shapes);
}

TEST(a_shape_with_a_machine_for_itself_takes_all_of_it)
{
    struct shape_spec spec = {
        .name = "plain", .workload = "plain", .demands = anywhere, .demand_count = 1, .whole = true
    };
    const struct res large = { { 64000, 65536, 8000 } };
    const struct res small = { { 1000, 65536, 8000 } };
    struct catalogue catalogue;
    struct shapes shapes;

    shapes_init(&shapes);
    catalogue_of(&catalogue, &large);
    const uint32_t shape = shapes_add(&shapes, &spec);

    assert_memory_equal(shape_demand_at(&shapes, shape, &catalogue, 0), &large, sizeof(large));
    assert_true(shape_fits_offer(&shapes, shape, &catalogue, 0));
    assert_memory_equal(shape_taken(&shapes, shape, &catalogue, 0, &small), &anywhere[0].res,
                        sizeof(small)); /* it does not fit there */
    spec.whole = false;
    assert_int_not_equal(shapes_add(&shapes, &spec), shape);
    catalogue_done(&catalogue);
    shapes_done(&shapes);
}

/*
 * Random specs out of a few values, so that many are equal; the judge keeps them all and compares
 * each with each.
 */

enum { DRAWN = 3000, DEMANDS_MAX = 2 };

struct drawn_spec {
    uint32_t name;
    msec_t init_ms;
    struct shape_demand demands[DEMANDS_MAX];
    uint32_t demand_count;
    uint32_t shape; /* what shapes_add said */
};

static struct drawn_spec draw_spec(struct rng *rng)
{
    struct drawn_spec drawn = {
        .name = (uint32_t)rng_below(rng, 5),
        .init_ms = (msec_t)rng_below(rng, 3),
        .demand_count = 1 + (uint32_t)rng_below(rng, DEMANDS_MAX),
    };

    for (uint32_t i = 0; i < drawn.demand_count; i++) {
        drawn.demands[i].family = i == 0 ? FAMILY_NONE : (uint32_t)rng_below(rng, 2);
        drawn.demands[i].res.amount[RES_CPU] = (int64_t)rng_below(rng, 4);
        drawn.demands[i].res.amount[RES_ACCEL] = (int64_t)rng_below(rng, 2);
    }
    return drawn;
}

static bool same_spec(const struct drawn_spec *a, const struct drawn_spec *b)
{
    bool same =
        a->name == b->name && a->init_ms == b->init_ms && a->demand_count == b->demand_count;

    for (uint32_t i = 0; same && i < a->demand_count; i++) {
        same = a->demands[i].family == b->demands[i].family &&
               a->demands[i].res.amount[RES_CPU] == b->demands[i].res.amount[RES_CPU] &&
               a->demands[i].res.amount[RES_ACCEL] == b->demands[i].res.amount[RES_ACCEL];
    }
    return same;
}

/* The shape of an equal spec among the first 'count', or else 'fresh'. */
static uint32_t judge_shape(const struct drawn_spec *all, uint32_t count,
                            const struct drawn_spec *spec, uint32_t fresh)
{
    for (uint32_t i = 0; i < count; i++) {
        if (same_spec(&all[i], spec))
            return all[i].shape;
    }
    return fresh;
}

TEST(random_specs_get_the_shape_of_an_equal_one_or_the_next_number)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    static struct drawn_spec all[DRAWN];
    struct shapes shapes;
    struct rng rng;

    (void)fprintf(stderr, "seed 31\n");
    rng_init(&rng, 31, 0);
    shapes_init(&shapes);
    for (uint32_t i = 0; i < DRAWN; i++) {
        all[i] = draw_spec(&rng);

        const struct shape_spec spec = {
            .name = names[all[i].name],
            .workload = "w",
            .delays = { .init_ms = all[i].init_ms },
            .demands = all[i].demands,
            .demand_count = all[i].demand_count,
        };
        const uint32_t want = judge_shape(all, i, &all[i], shapes.count);

        all[i].shape = shapes_add(&shapes, &spec);
        assert_int_equal(all[i].shape, want);
    }
    for (uint32_t i = 0; i < DRAWN; i++) {
        const struct res *any = shape_demand_on(&shapes, all[i].shape, M7I);

        assert_int_equal(any->amount[RES_CPU], all[i].demands[0].res.amount[RES_CPU]);
        assert_int_equal(shapes.rows[all[i].shape].delays.init_ms, all[i].init_ms);
    }
    shapes_done(&shapes);
}

CHECK_MAIN(RUN(equal_specs_are_one_shape), RUN(specs_that_differ_in_anything_are_two_shapes),
           RUN(shapes_of_one_workload_share_its_number),
           RUN(the_demand_of_a_family_goes_before_the_one_for_any),
           RUN(a_shape_without_a_demand_for_the_family_cannot_run_there),
           RUN(a_task_fits_an_offer_that_has_exactly_its_demand),
           RUN(a_shape_of_some_offers_fits_no_others),
           RUN(a_shape_with_a_machine_for_itself_takes_all_of_it),
           RUN(random_specs_get_the_shape_of_an_equal_one_or_the_next_number))
