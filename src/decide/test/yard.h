/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yard.h - a small yard of machines for the tests of decisions: types, shapes, tasks and machines, added one
 * by one. yard_init_table3 is the example of the Eva paper (EuroSys'25, table 3).
 */
#ifndef STINT_DECIDE_YARD_H
#define STINT_DECIDE_YARD_H

#include <inttypes.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/test/check.h"
#include "decide/reservation.h"
#include "model/plan.h"
#include "model/view.h"

#define YARD_USD(dollars) ((money_t)((dollars)*1e6 + 0.5))

enum { YARD_MINUTE = 60000, YARD_HOUR = 3600000 };

struct yard {
    struct catalogue catalogue;
    struct shapes shapes;
    struct view view;
    struct arena arena;
    struct plan plan;
    uint64_t next_id;
    bool open; /* the view has been made: no more types */
};

static inline void yard_init(struct yard *yard)
{
    *yard = (struct yard){ .next_id = 1 };
    catalogue_init(&yard->catalogue);
    shapes_init(&yard->shapes);
    arena_init(&yard->arena);
    plan_init(&yard->plan, &yard->arena);
}

/* A type of the family with one offer: its index. Amounts are whole CPUs, GiB and accelerators. */
static inline uint32_t yard_type(struct yard *yard, const char *family, int64_t cpus, int64_t gib,
                                 int64_t accels, double dollars)
{
    char name[32];
    const struct price_change price = { 0, YARD_USD(dollars) };
    const struct machine_type type = {
        .capacity = { { cpus * 1000, gib * 1024, accels * 1000 } },
    };

    (void)snprintf(name, sizeof(name), "type%u", yard->catalogue.type_count);
    assert_false(yard->open);

    const struct offer offer = {
        .type = catalogue_add_type(&yard->catalogue, name, family, &type),
        .billing = BILLING_PER_SECOND,
        .price = { &price, 1 },
    };

    return catalogue_add_offer(&yard->catalogue, NULL, &offer);
}

/* A further offer of the type that an offer has. */
static inline uint32_t yard_offer(struct yard *yard, uint32_t like, double dollars)
{
    const struct price_change price = { 0, YARD_USD(dollars) };
    const struct offer offer = {
        .type = yard->catalogue.offers[like].type,
        .market = MARKET_SPOT,
        .billing = BILLING_PER_SECOND,
        .price = { &price, 1 },
    };

    return catalogue_add_offer(&yard->catalogue, NULL, &offer);
}

/* A kind of task that takes the same anywhere: its number. Names differ, so shapes do. */
static inline uint32_t yard_shape(struct yard *yard, int64_t cpus, int64_t gib, int64_t accels)
{
    char name[32];
    const struct shape_demand demand = {
        FAMILY_NONE,
        { { cpus * 1000, gib * 1024, accels * 1000 } },
    };
    const struct shape_spec spec = {
        .name = name,
        .workload = name,
        .demands = &demand,
        .demand_count = 1,
    };

    (void)snprintf(name, sizeof(name), "shape%u", yard->shapes.count);
    return shapes_add(&yard->shapes, &spec);
}

/* What takes how long, for all shapes so far. */
static inline void yard_delays(struct yard *yard, struct shape_delays delays)
{
    for (uint32_t i = 0; i < yard->shapes.count; i++)
        yard->shapes.rows[i].delays = delays;
}

/* No more types from here on. */
static inline void yard_open(struct yard *yard)
{
    if (!yard->open)
        view_init(&yard->view, &yard->catalogue, &yard->shapes);
    yard->open = true;
}

/* A job: the row of its first task; the next ones follow. */
static inline uint32_t yard_job(struct yard *yard, uint32_t shape, uint32_t tasks, bool gang)
{
    yard_open(yard);

    const struct job_spec spec = {
        .id = yard->next_id,
        .first_task_id = yard->next_id * 100,
        .shape = shape,
        .task_count = tasks,
        .gang = gang,
        .estimate_ms = YARD_HOUR,
    };

    (void)view_add_job(&yard->view, &spec);
    reservation_update(&yard->view);
    return view_find_task(&yard->view, yard->next_id++ * 100);
}

/* The same, and no two of its tasks may be on one machine. */
static inline uint32_t yard_spread_job(struct yard *yard, uint32_t shape, uint32_t tasks)
{
    const uint32_t first = yard_job(yard, shape, tasks, true);

    yard->view.job.apart[yard->view.task.job[first]] = yard->view.task.job[first];
    return first;
}

/* A job of one task, which may not be on one machine with those of other jobs of the group. */
static inline uint32_t yard_apart_task(struct yard *yard, uint32_t shape, uint32_t group)
{
    const uint32_t task = yard_job(yard, shape, 1, false);

    yard->view.job.apart[yard->view.task.job[task]] = (UINT32_C(1) << 31) + group;
    return task;
}

static inline uint32_t yard_task(struct yard *yard, uint32_t shape)
{
    return yard_job(yard, shape, 1, false);
}

/* Whether the job may be moved, as if it had come so. */
static inline void yard_fix(struct view *view, uint32_t job, bool is_fixed)
{
    view->job.movables += view->job.fixed[job];
    view->job.movables -= is_fixed;
    view->job.fixed[job] = is_fixed;
}

/* A task with an estimate of its own. */
static inline uint32_t yard_task_for(struct yard *yard, uint32_t shape, msec_t estimate)
{
    const uint32_t task = yard_task(yard, shape);

    yard->view.task.estimate_ms[task] = estimate;
    return task;
}

/* A machine that is ready and empty: its row. */
static inline uint32_t yard_machine(struct yard *yard, uint32_t offer)
{
    yard_open(yard);

    const uint32_t row = view_add_instance(&yard->view, yard->next_id++, offer);

    view_set_state(&yard->view, row, INSTANCE_READY);
    view_set_billed_from(&yard->view, row, yard->view.now);
    return row;
}

/* The task runs there. */
static inline void yard_run(struct yard *yard, uint32_t task, uint32_t machine)
{
    view_bind(&yard->view, task, machine);
    view_mark_running(&yard->view, task, yard->view.now);
}

static inline void yard_done(struct yard *yard)
{
    if (yard->open) {
        view_check(&yard->view);
        view_done(&yard->view);
    }
    arena_done(&yard->arena);
    shapes_done(&yard->shapes);
    catalogue_done(&yard->catalogue);
}

/*
 * What a plan says.
 */

static inline money_t yard_rent_price(const struct yard *yard)
{
    money_t sum = 0;

    for (uint32_t i = 0; i < yard->plan.rent_count; i++)
        sum += yard->view.offer_price[yard->plan.rents[i].offer];
    return sum;
}

/* Where the plan puts the task, or NULL. */
static inline const struct plan_place *yard_place_of(const struct yard *yard, uint32_t task)
{
    for (uint32_t i = 0; i < yard->plan.place_count; i++) {
        if (yard->plan.places[i].task == task)
            return &yard->plan.places[i];
    }
    return NULL;
}

static inline void yard_check_place(const struct yard *yard, uint32_t task, bool fresh,
                                    uint32_t target)
{
    const struct plan_place *place = yard_place_of(yard, task);

    if (place == NULL) {
        fail_msg("the plan does not place task %u", task);
        return;
    }
    assert_int_equal(place->fresh, fresh);
    assert_int_equal(place->target, target);
}

/* The task goes to the plan's rent of that number. */
static inline void yard_check_fresh(const struct yard *yard, uint32_t task, uint32_t rent)
{
    yard_check_place(yard, task, true, rent);
}

/* The task goes to the machine. */
static inline void yard_check_kept(const struct yard *yard, uint32_t task, uint32_t machine)
{
    yard_check_place(yard, task, false, machine);
}

/*
 * Eva's table 3.
 */

enum { IT1, IT2, IT3, IT4 };
enum { TAU1, TAU2, TAU3, TAU4 };

static inline void yard_init_table3(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "p3", 16, 244, 4, 12.0);
    (void)yard_type(yard, "p3", 4, 61, 1, 3.0);
    (void)yard_type(yard, "c7i", 8, 32, 0, 0.8);
    (void)yard_type(yard, "c7i", 4, 16, 0, 0.4);
    (void)yard_shape(yard, 8, 24, 2);
    (void)yard_shape(yard, 4, 10, 1);
    (void)yard_shape(yard, 6, 20, 0);
    (void)yard_shape(yard, 4, 12, 0);
    yard_open(yard);
}

/*
 * Two types, and a task that fills the small one and half of the large one: alone it is worth 1.00
 * dollar an hour, and two of them save half a dollar by sharing.
 */

enum { SMALL, LARGE };
enum { HALF };

static inline void yard_init_halves(struct yard *yard)
{
    yard_init(yard);
    (void)yard_type(yard, "c7i", 2, 4, 0, 1.0);
    (void)yard_type(yard, "c7i", 4, 8, 0, 1.5);
    (void)yard_shape(yard, 2, 4, 0);
}

/* A task that runs alone on a machine of the offer: its row. */
static inline uint32_t yard_running(struct yard *yard, uint32_t shape, uint32_t offer)
{
    const uint32_t task = yard_task(yard, shape);

    yard_run(yard, task, yard_machine(yard, offer));
    return task;
}

/* Whether the plan gives the machine back. */
static inline bool yard_releases(const struct yard *yard, uint32_t machine)
{
    for (uint32_t i = 0; i < yard->plan.release_count; i++) {
        if (yard->plan.releases[i].instance == machine)
            return true;
    }
    return false;
}

#endif
