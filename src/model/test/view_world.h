/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view_world.h - the world of the view's tests: a small c7i and a large p3, on which the same task
 * asks for different amounts, and prices that change.
 */
#ifndef STINT_MODEL_VIEW_WORLD_H
#define STINT_MODEL_VIEW_WORLD_H

#include <stdint.h>

#include "model/view.h"

enum { C7I, P3 };                                     /* families */
enum { OFFER_SMALL, OFFER_LARGE };                    /* 8 CPUs, and 32 with 4 accelerators */
enum { SHAPE_EITHER, SHAPE_GPU, SHAPE_TINY, SHAPES }; /* any family, p3 only, any family */

struct world {
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
};

static inline void add_offer(struct catalogue *catalogue, const char *type, const char *family,
                             struct res capacity)
{
    const struct price_change changes[] = { { 0, 100 }, { 5000, 200 } };
    const struct machine_type machine = { .capacity = capacity };
    const struct offer offer = {
        .type = catalogue_add_type(catalogue, type, family, &machine),
        .billing = { 1000, 60000 },
        .price = { changes, 2 },
    };

    (void)catalogue_add_offer(catalogue, NULL, &offer);
}

static inline void add_shape(struct shapes *shapes, const char *name,
                             const struct shape_demand *demands, uint32_t count)
{
    const struct shape_spec spec = {
        .name = name,
        .workload = name,
        .demands = demands,
        .demand_count = count,
    };

    (void)shapes_add(shapes, &spec);
}

static inline void world_init(struct world *world)
{
    const struct shape_demand either[] = { { FAMILY_NONE, { { 4000, 2048, 0 } } },
                                           { P3, { { 1000, 1024, 500 } } } };
    const struct shape_demand gpu = { P3, { { 8000, 4096, 2000 } } };
    const struct shape_demand tiny = { FAMILY_NONE, { { 500, 256, 0 } } };

    catalogue_init(&world->catalogue);
    add_offer(&world->catalogue, "c7i.2xlarge", "c7i", (struct res){ { 8000, 16384, 0 } });
    add_offer(&world->catalogue, "p3.8xlarge", "p3", (struct res){ { 32000, 65536, 4000 } });
    shapes_init(&world->shapes);
    add_shape(&world->shapes, "either", either, 2);
    add_shape(&world->shapes, "gpu", &gpu, 1);
    add_shape(&world->shapes, "tiny", &tiny, 1);
    view_init(&world->view, &world->catalogue, &world->shapes);
}

static inline void world_done(struct world *world)
{
    view_check(&world->view);
    view_done(&world->view);
    shapes_done(&world->shapes);
    catalogue_done(&world->catalogue);
}

#endif
