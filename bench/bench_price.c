/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_price [SHAPES [OFFERS]] - how long it takes to price all shapes again when a price has changed: 20,000 shapes and
 * 10,000 offers of 1,000 types in 50 families, if nothing is said. Every tenth shape takes another amount on one family.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/rng.h"
#include "decide/reservation.h"

enum { TYPES = 1000, FAMILIES = 50, NAME_SIZE = 32 };

static void add_types(struct catalogue *catalogue, struct rng *rng)
{
    for (uint32_t i = 0; i < TYPES; i++) {
        const int64_t cpus = (int64_t)1 << rng_below(rng, 8);
        const struct machine_type type = {
            .capacity = { { cpus * 1000, cpus * 1024 * (2 << rng_below(rng, 3)),
                            rng_below(rng, 10) == 0 ? 1000 : 0 } },
        };
        char name[NAME_SIZE];
        char family[NAME_SIZE];

        (void)snprintf(name, sizeof(name), "type%u", i);
        (void)snprintf(family, sizeof(family), "family%u", i % FAMILIES);
        (void)catalogue_add_type(catalogue, name, family, &type);
    }
}

static void add_offers(struct catalogue *catalogue, uint32_t count, struct rng *rng)
{
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t type = i % TYPES;
        const int64_t cpus = catalogue->types[type].capacity.amount[0] / 1000;
        const struct price_change price = { 0, cpus * (20000 + (money_t)rng_below(rng, 40000)) };
        const struct offer offer = { .type = type,
                                     .billing = BILLING_PER_SECOND,
                                     .price = { &price, 1 } };

        (void)catalogue_add_offer(catalogue, NULL, &offer);
    }
}

static void add_shapes(struct shapes *shapes, uint32_t count, struct rng *rng)
{
    for (uint32_t i = 0; i < count; i++) {
        const int64_t cpu = 100 + (int64_t)rng_below(rng, 64000);
        const struct shape_demand demands[] = {
            { FAMILY_NONE, { { cpu, (int64_t)rng_below(rng, 256 * 1024), 0 } } },
            { (uint32_t)rng_below(rng, FAMILIES), { { cpu / 2, 1024, 0 } } },
        };
        char name[NAME_SIZE];
        const struct shape_spec spec = { .name = name,
                                         .workload = "bench",
                                         .demands = demands,
                                         .demand_count = i % 10 == 0 ? 2 : 1 };

        (void)snprintf(name, sizeof(name), "shape%u", i);
        (void)shapes_add(shapes, &spec);
    }
}

static double processor_seconds(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    const uint32_t shape_count = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 20000;
    const uint32_t offer_count = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 10000;
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
    struct rng rng;

    rng_init(&rng, 1, 0);
    catalogue_init(&catalogue);
    shapes_init(&shapes);
    add_types(&catalogue, &rng);
    add_offers(&catalogue, offer_count, &rng);
    add_shapes(&shapes, shape_count, &rng);
    view_init(&view, &catalogue, &shapes);
    reservation_update(&view);
    view.offer_price[offer_count / 2] /= 2;
    reservation_forget(&view);

    const double before = processor_seconds();

    reservation_update(&view);
    printf("%u shapes, %u offers: all priced anew in %.2f ms\n", shape_count, offer_count,
           (processor_seconds() - before) * 1e3);
    view_done(&view);
    shapes_done(&shapes);
    catalogue_done(&catalogue);
    return 0;
}
