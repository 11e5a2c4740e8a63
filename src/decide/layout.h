/* SPDX-License-Identifier: Apache-2.0 */
/*
 * layout.h - a cluster configuration in the making: machines, and the tasks on each.
 *
 * A bin is an instance that exists or one to be rented. A layout is compared with the world by what
 * it saves per hour and by what it costs to get there, and turned into a plan of what changes.
 */
#ifndef STINT_DECIDE_LAYOUT_H
#define STINT_DECIDE_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "decide/pool.h"
#include "decide/spread.h"
#include "decide/worth.h"
#include "model/plan.h"
#include "model/view.h"

struct layout_bin {
    uint32_t offer;
    uint32_t instance; /* ROW_NONE: to be rented */
    struct worth_group group;
    struct res used;
    uint32_t last_entry; /* of the pool that was put in, if any was */
    struct plan_reason why;
};

struct layout {
    struct arena *arena;
    const struct worth_rules *rules;
    struct pool *pool;
    struct layout_bin *bins;
    uint32_t bin_count;
    uint32_t room;
    struct spread spread; /* the bins that have a task of a job that is spread */
};

void layout_init(struct layout *layout, const struct worth_rules *rules, struct pool *pool,
                 struct arena *arena);

/* A new empty bin; returns its index. */
uint32_t layout_open(struct layout *layout, uint32_t offer, uint32_t instance);

/* What is free in a bin. */
struct res layout_free(const struct layout *layout, const struct layout_bin *bin);

/* What one task of the shape takes on the bin's machine, or NULL. */
const struct res *layout_demand(const struct layout *layout, const struct layout_bin *bin,
                                uint32_t shape);

/* Whether the bin may take a task of the pool's kind besides those it has: false only for jobs that
 * are spread. Room is another question. */
bool layout_may_join(const struct layout *layout, uint32_t bin, uint32_t kind);

/* A task that is on the bin's instance stays there. */
void layout_keep(struct layout *layout, uint32_t bin, uint32_t task);

/* Put a pool entry into a bin that has room for it and that it may join. */
void layout_put(struct layout *layout, uint32_t bin, uint32_t entry);

/* Worth of all bins minus their price (rounded to cents), per hour. */
double layout_saving(const struct layout *layout);

/* What it costs to get there: launching and moving tasks, starting machines. Micro-dollars. */
struct layout_costs {
    msec_t per_instance_ms; /* a new machine is paid this long before it is of use */
};

double layout_migration(const struct layout *layout, const struct layout_costs *costs);

/* Write what changes into the plan: rents, placements, releases of open instances without a bin. A gang
 * of which a task has no bin is not placed; the layout forgets the bins of the others. */
void layout_to_plan(struct layout *layout, enum plan_reason_code moved, struct plan *plan);

#endif
