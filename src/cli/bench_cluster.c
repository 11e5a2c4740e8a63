/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench_cluster.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "decide/reservation.h"

enum {
    SIZES = 8,
    CORES_STEPS = 6,
    TURNS = 56,
    NAME_SIZE = 32,
    OLD_PERCENT = 10, /* of tasks that have outlived their estimates */
    GANG_PERCENT = 3, /* of jobs: about a fifth of the tasks */
    GANG_MAX = 16,
};

#define START_MS    (48 * MSEC_PER_HOUR)
#define WORK_MIN_MS (600 * MSEC_PER_SEC)
#define WORK_MAX_MS (8 * MSEC_PER_HOUR)
#define WORK_MS     (2 * MSEC_PER_HOUR) /* about the mean */

static const int64_t sizes[SIZES] = { 1, 2, 4, 8, 16, 24, 32, 48 };

/* From 2 to 8 GiB a core, so that no family is needless. */
static void add_type(struct catalogue *catalogue, uint32_t number, uint32_t families)
{
    const uint32_t family = number / SIZES;
    const int64_t cores = 2 * sizes[number % SIZES];
    const int64_t mib = cores * (2048 + 6144 * (int64_t)family / (families > 1 ? families - 1 : 1));
    const struct machine_type type = {
        .capacity = { { cores * 1000, mib, family % 5 == 4 ? cores * 1000 / 8 : 0 } },
        .acquire_ms = 30 * MSEC_PER_SEC,
        .setup_ms = 90 * MSEC_PER_SEC,
        .release_ms = 5 * MSEC_PER_SEC,
    };
    const money_t price = (cores * 40000 + mib * 4 + type.capacity.amount[RES_ACCEL] * 800) *
                          (1000 + 10 * (money_t)(number % SIZES) + family % 17) / 1000;
    const struct price_change now = { .at = 0, .per_hour = price };
    char name[NAME_SIZE];
    char family_name[NAME_SIZE];

    (void)snprintf(name, sizeof(name), "type-%u", number);
    (void)snprintf(family_name, sizeof(family_name), "family-%u", family);

    const struct offer offer = {
        .type = catalogue_add_type(catalogue, name, family_name, &type),
        .market = MARKET_ON_DEMAND,
        .billing = BILLING_PER_SECOND,
        .price = { .changes = &now, .count = 1 },
    };

    (void)catalogue_add_offer(catalogue, NULL, &offer);
}

/* A thousand shapes differ in both; of more, each of these comes again with a little more memory. */
static void add_shape(struct shapes *shapes, uint32_t number)
{
    static const int64_t cores[CORES_STEPS] = { 500, 1000, 2000, 4000, 8000, 16000 };
    static const int64_t mib_per_core[] = { 1024, 3072, 6144 };
    const int64_t turn = number / (CORES_STEPS * 3) % TURNS;
    const int64_t again = number / (CORES_STEPS * 3) / TURNS;
    const int64_t cpu = cores[number % CORES_STEPS] + 10 * turn;
    const int64_t mib = mib_per_core[number / CORES_STEPS % 3] * cpu / 1000 + 16 * turn + again;
    const struct shape_demand demand = { .family = FAMILY_NONE, .res = { { cpu, mib, 0 } } };
    char name[NAME_SIZE];
    const struct shape_spec spec = {
        .name = name,
        .workload = "bench",
        .delays = { .fetch_ms = 5000, .init_ms = 10000, .kill_ms = 1000, .upload_ms = 5000 },
        .demands = &demand,
        .demand_count = 1,
    };

    (void)snprintf(name, sizeof(name), "shape-%u", number);
    (void)shapes_add(shapes, &spec);
}

/* Smaller tasks are more frequent. */
static uint32_t draw_shape(struct bench_cluster *cluster)
{
    const uint32_t count = cluster->shapes.count;

    for (;;) {
        const uint32_t shape = (uint32_t)rng_below(&cluster->rng, count);

        if (rng_below(&cluster->rng, CORES_STEPS) >= shape % CORES_STEPS)
            return shape;
    }
}

static msec_t draw_runtime(struct bench_cluster *cluster)
{
    const double span = log((double)WORK_MAX_MS / (double)WORK_MIN_MS);

    return (msec_t)((double)WORK_MIN_MS * exp(rng_unit(&cluster->rng) * span));
}

/* A job that waits. Returns its first task; the next ones follow by 'sibling'. */
static uint32_t add_job(struct bench_cluster *cluster, uint32_t tasks)
{
    const struct job_spec spec = {
        .id = cluster->next_id,
        .first_task_id = cluster->next_id,
        .shape = draw_shape(cluster),
        .task_count = tasks,
        .gang = tasks > 1,
        .arrived_at = cluster->view.now,
        .estimate_ms = draw_runtime(cluster),
    };

    const uint32_t job = view_add_job(&cluster->view, &spec);

    cluster->next_id += tasks;
    return cluster->view.job.first_task[job];
}

static uint32_t draw_size(struct bench_cluster *cluster)
{
    if (rng_below(&cluster->rng, 100) >= GANG_PERCENT)
        return 1;
    return 2 + (uint32_t)rng_below(&cluster->rng, GANG_MAX - 1);
}

/* A task that waits: the next of a gang, or of a new job. */
static uint32_t draw_task(struct bench_cluster *cluster)
{
    if (cluster->gang_left == 0) {
        cluster->gang_left = draw_size(cluster);
        cluster->gang = add_job(cluster, cluster->gang_left);
    }

    const uint32_t task = cluster->gang;

    cluster->gang = cluster->view.task.sibling[task];
    cluster->gang_left--;
    return task;
}

/* The task has run on the instance for a part of its estimate, or for longer. */
static void run_for_long(struct bench_cluster *cluster, uint32_t task, uint32_t instance)
{
    struct view *view = &cluster->view;
    const msec_t estimate = view->task.estimate_ms[task];
    msec_t ran = (msec_t)rng_below(&cluster->rng, (uint64_t)estimate);

    if (rng_below(&cluster->rng, 100) < OLD_PERCENT)
        ran += estimate;
    view_bind(view, task, instance);
    view_mark_running(view, task, view->now - ran);
}

static uint32_t cheapest_type(const struct bench_cluster *cluster, const struct res *sum)
{
    const struct catalogue *catalogue = &cluster->catalogue;
    uint32_t best = OFFER_NONE;

    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        if (res_fits(sum, &catalogue_type_of(catalogue, offer)->capacity) &&
            (best == OFFER_NONE ||
             cluster->view.offer_price[offer] < cluster->view.offer_price[best]))
            best = offer;
    }
    return best;
}

/* One machine with up to so many tasks. Returns how many it has. */
static uint32_t add_machine(struct bench_cluster *cluster, uint32_t tasks)
{
    enum { TASKS_MAX = 64 };

    struct view *view = &cluster->view;
    uint32_t drawn[TASKS_MAX];
    uint32_t count = 0;
    uint32_t offer = 0;
    struct res sum = { { 0 } };

    while (count < tasks && count < TASKS_MAX) {
        const uint32_t task = draw_task(cluster);
        struct res more = sum;

        res_add(&more, shape_demand_on(&cluster->shapes, view->task.shape[task], FAMILY_NONE));
        if (cheapest_type(cluster, &more) == OFFER_NONE) {
            (void)view_finish_task(view, task); /* too much for one machine: another one */
            break;
        }
        sum = more;
        offer = cheapest_type(cluster, &sum);
        drawn[count++] = task;
    }

    const uint32_t instance = view_add_instance(view, cluster->next_id++, offer);

    view_set_state(view, instance, INSTANCE_READY);
    view_set_billed_from(view, instance, view->now - WORK_MAX_MS * 2);
    for (uint32_t i = 0; i < count; i++)
        run_for_long(cluster, drawn[i], instance);
    return count;
}

void bench_cluster_init(struct bench_cluster *cluster, const struct bench_spec *spec)
{
    uint32_t left = spec->tasks;

    *cluster = (struct bench_cluster){ .next_id = 1, .gang = ROW_NONE };
    rng_init(&cluster->rng, 1, 0);
    catalogue_init(&cluster->catalogue);
    shapes_init(&cluster->shapes);
    for (uint32_t i = 0; i < spec->types; i++)
        add_type(&cluster->catalogue, i, (spec->types + SIZES - 1) / SIZES);
    for (uint32_t i = 0; i < spec->shapes; i++)
        add_shape(&cluster->shapes, i);
    view_init(&cluster->view, &cluster->catalogue, &cluster->shapes);
    cluster->view.now = START_MS;
    for (uint32_t i = 0; i < spec->machines; i++)
        left -= add_machine(cluster, left / (spec->machines - i));
    while (cluster->gang_left > 0)
        (void)view_finish_task(&cluster->view, draw_task(cluster));
    for (left = spec->waiting; left > 0;) {
        const uint32_t drawn = draw_size(cluster);
        const uint32_t size = drawn < left ? drawn : left;

        left -= size;
        (void)add_job(cluster, size);
    }
    reservation_update(&cluster->view);
}

void bench_cluster_done(struct bench_cluster *cluster)
{
    view_done(&cluster->view);
    shapes_done(&cluster->shapes);
    catalogue_done(&cluster->catalogue);
}

/*
 * What changes.
 */

static uint32_t draw_running(struct bench_cluster *cluster)
{
    for (;;) {
        const uint32_t task = (uint32_t)rng_below(&cluster->rng, cluster->view.task.count);

        if (cluster->view.task.state[task] == TASK_RUNNING)
            return task;
    }
}

static void lose_machine(struct bench_cluster *cluster)
{
    struct view *view = &cluster->view;
    const uint32_t instance = view->task.instance[draw_running(cluster)];

    while (view->instance.task_count[instance] > 0) {
        const uint32_t task = view->instance.first_task[instance];

        if (view->task.state[task] == TASK_RUNNING)
            view_mark_stopped(view, task, view->now);
        view_unbind(view, task);
    }
    view_remove_instance(view, instance);
}

/* The price of one offer, of which there are machines, rises. */
static void change_price(struct bench_cluster *cluster)
{
    struct catalogue *catalogue = &cluster->catalogue;
    struct view *view = &cluster->view;
    const uint32_t offer = view->instance.offer[view->task.instance[draw_running(cluster)]];
    struct price_series *price = &catalogue->offers[offer].price;
    struct price_change *changes =
        mem_resize(catalogue->owned_prices[offer], price->count + 1, sizeof(*changes));

    changes[price->count] =
        (struct price_change){ .at = view->now, .per_hour = view->offer_price[offer] * 5 / 4 };
    catalogue->owned_prices[offer] = changes;
    *price = (struct price_series){ .changes = changes, .count = price->count + 1 };
    view->offer_price[offer] = price_at(price, view->now);
    reservation_forget(view);
}

void bench_cluster_change(struct bench_cluster *cluster, uint32_t changes)
{
    struct view *view = &cluster->view;
    const uint32_t ends = changes / 2;

    view->now += 1 + (msec_t)ends * WORK_MS / (view->task.living + 1);
    for (uint32_t i = 0; i < changes; i++) {
        if (i == 0)
            lose_machine(cluster);
        else if (i == 1)
            change_price(cluster);
        else if (i % 2 == 0)
            (void)add_job(cluster, draw_size(cluster));
        else
            (void)view_finish_task(view, draw_running(cluster));
    }
}

/*
 * What is done about it.
 */

static void move(struct view *view, uint32_t task, uint32_t instance)
{
    if (view->task.state[task] == TASK_RUNNING)
        view_mark_stopped(view, task, view->now);
    view_bind(view, task, instance);
    view_mark_running(view, task, view->now);
}

void bench_cluster_apply(struct bench_cluster *cluster, const struct plan *plan)
{
    struct view *view = &cluster->view;
    uint32_t *rented = ARENA_ARRAY(plan->arena, uint32_t, plan->rent_count);

    for (uint32_t i = 0; i < plan->rent_count; i++) {
        rented[i] = view_add_instance(view, cluster->next_id++, plan->rents[i].offer);
        view_set_state(view, rented[i], INSTANCE_READY);
        view_set_billed_from(view, rented[i], view->now);
    }
    /* Who leaves makes room for who comes. */
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const uint32_t task = plan->places[i].task;

        if (view->task.state[task] == TASK_RUNNING)
            view_mark_stopped(view, task, view->now);
        if (view->task.instance[task] != ROW_NONE)
            view_unbind(view, task);
    }
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        move(view, place->task, place->fresh ? rented[place->target] : place->target);
    }
    for (uint32_t i = 0; i < plan->release_count; i++) {
        if (view->instance.task_count[plan->releases[i].instance] == 0)
            view_remove_instance(view, plan->releases[i].instance);
    }
}
