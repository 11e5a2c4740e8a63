/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_world SOCKET MACHINES JOBS [SECONDS [rounds]] - serve the API and the page of a world that is made up.
 *
 * A controller with real events behind it: MACHINES are rented at most, JOBS arrive, and the books have a day
 * of machines and ended tasks before that (as many tasks as jobs). For measuring the page, for pictures of it,
 * and for looking at it: `stint open --socket SOCKET`. Ends after SECONDS (600), or when it is told to.
 * With 'rounds' it goes on as a daemon does that is never idle: tasks end, jobs arrive, it decides and writes its books, as
 * often as it can beside the requests; each round counts as a decision in the metrics.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/rng.h"
#include "serve/http.h"
#include "store/store_report.h"

enum {
    USERS = 8,
    ACCOUNTS = 3,
    PARTITIONS = 2,
    QOSES = 2,
    NAMES = 6,
    BOUNDS = 144,
    PAST_TASKS = 12,
    PAST_LEAST = 20,
    ROUND_TASKS = 10, /* end in a round, and arrive */
    RAN_MS = 5400000,
    BOUND_STEPS = 100000
};

struct placed {
    uint64_t key;
    uint64_t task;
    uint64_t instance;
};

struct made_up {
    struct catalogue catalogue;
    struct shapes shapes;
    struct names users;
    struct names job_names;
    struct controller *controller;
    struct store *store;
    struct serve_world world;
    struct rng rng;
    msec_t now;
    money_t spent;
    money_t rate[BOUNDS]; /* of the past day's machines, at the moments of the bounds */
    uint64_t *rented;
    uint32_t rented_count, rented_room;
    struct placed *placed;
    uint32_t placed_count, placed_room;
    uint32_t ended;   /* the first of those that were placed */
    uint32_t started; /* and booked */
    uint64_t next_job;
};

static const char *const account_words[ACCOUNTS] = { "climate", "genomics", "physics" };
static const char *const partition_words[PARTITIONS] = { "batch", "gpu" };
static const char *const qos_words[QOSES] = { "normal", "urgent" };
static const char *const user_words[USERS] = { "ada", "bob",   "carol", "dan",
                                               "eve", "frank", "grace", "heidi" };
static const char *const name_words[NAMES] = { "train",  "align",    "mpi-cfd",
                                               "render", "evaluate", "<script>alert(1)</script>" };

static void on_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    struct made_up *made = self;
    const struct catalogue *catalogue = &made->catalogue;
    char name[32];

    for (uint32_t i = 0; i < count; i++) {
        MEM_ROOM(made->rented, made->rented_room, made->rented_count + 1);
        made->rented[made->rented_count++] = first + i;
        (void)snprintf(name, sizeof(name), "st-%" PRIu64, first + i);
        store_instance(made->store,
                       &(struct store_instance){
                           .id = first + i,
                           .name = name,
                           .type = catalogue_offer_type_name(catalogue, offer),
                           .zone = names_text(&catalogue->names, catalogue->offers[offer].zone),
                           .market = market_name(catalogue->offers[offer].market),
                           .per_hour = price_at(&catalogue->offers[offer].price, made->now),
                           .asked_at = made->now });
    }
}

static void on_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    struct made_up *made = self;

    MEM_ROOM(made->placed, made->placed_room, made->placed_count + 1);
    made->placed[made->placed_count++] = (struct placed){ key, task, instance };
}

static void ignore_instance(void *self, uint64_t instance)
{
    (void)self;
    (void)instance;
}

static void ignore_task(void *self, uint64_t key, uint64_t task)
{
    (void)self;
    (void)key;
    (void)task;
}

static void ignore_list(void *self, uint64_t key)
{
    (void)self;
    (void)key;
}

static const struct engine_ops engine_ops = {
    .admit = ignore_instance,
    .retire = ignore_instance,
    .place = on_place,
    .stop = ignore_task,
    .cancel = ignore_task,
    .list = ignore_list,
};

static const struct cloud_ops cloud_ops = {
    .rent = on_rent,
    .give_back = ignore_instance,
    .list = ignore_list,
};

static void write_reason(struct made_up *made, const struct view *view, enum store_subject subject,
                         uint64_t id, const char *target, const struct plan_reason *why)
{
    char passed[SERVE_TEXT] = "";

    if (why->passed_offer != OFFER_NONE)
        serve_offer_text(view->catalogue, why->passed_offer, passed, sizeof(passed));
    store_reason(made->store,
                 &(struct store_reason){ .at = made->now,
                                         .decision = 1,
                                         .subject = subject,
                                         .id = id,
                                         .target = target,
                                         .why = *why,
                                         .passed_offer = passed[0] != 0 ? passed : NULL });
}

static void on_plan(void *context, const struct view *view, const struct plan *plan)
{
    struct made_up *made = context;
    char target[SERVE_TEXT];

    serve_note_plan(&made->world, view, plan);
    for (uint32_t i = 0; i < plan->place_count; i++) {
        const struct plan_place *place = &plan->places[i];

        if (place->fresh)
            serve_offer_text(view->catalogue, plan->rents[place->target].offer, target,
                             sizeof(target));
        else
            serve_machine_text(&made->world, view->instance.id[place->target], target,
                               sizeof(target));
        write_reason(made, view, STORE_TASK, view->task.id[place->task], target, &place->why);
    }
    for (uint32_t i = 0; i < plan->rent_count; i++) {
        serve_offer_text(view->catalogue, plan->rents[i].offer, target, sizeof(target));
        write_reason(made, view, STORE_RENTED, controller_next_key(made->controller) + i, target,
                     &plan->rents[i].why);
    }
}

static msec_t now_of(void *context)
{
    return ((const struct made_up *)context)->now;
}

static uint64_t find(void *context, const char *label)
{
    (void)context;
    return strtoull(label, NULL, 10);
}

/* Types and list prices of share/catalogue/aws-us-east-1.yaml, which tests/page.py compares. */
static const struct {
    const char *name;
    int64_t cpus;
    int64_t mem_gib;
    money_t price;
} types[] = {
    { "c7i.2xlarge", 8, 16, 357000 },    { "c7i.8xlarge", 32, 64, 1428000 },
    { "c7i.12xlarge", 48, 96, 2142000 }, { "m7i.2xlarge", 8, 32, 403200 },
    { "m7i.8xlarge", 32, 128, 1612800 }, { "m7i.12xlarge", 48, 192, 2419200 },
};

static void add_types(struct made_up *made)
{
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        const struct price_change price = { 0, types[i].price };
        const struct machine_type type = {
            .capacity = { { types[i].cpus * 1000, types[i].mem_gib * 1024, 0 } },
            .acquire_ms = 20000,
            .setup_ms = 40000,
        };
        const struct offer offer = {
            .type = catalogue_add_type(&made->catalogue, types[i].name, "any", &type),
            .market = MARKET_ON_DEMAND,
            .billing = BILLING_PER_SECOND,
            .price = { &price, 1 },
        };

        (void)catalogue_add_offer(&made->catalogue, i % 2 == 0 ? "a" : "b", &offer);
    }
}

static void arrive(struct made_up *made, uint64_t id)
{
    const uint32_t name = (uint32_t)rng_below(&made->rng, NAMES);
    const int64_t cpus = (int64_t)1 << rng_below(&made->rng, 4);
    const struct shape_demand demand = { FAMILY_NONE,
                                         { { cpus * 1000, cpus * 1024 * (1 + name % 3), 0 } } };
    char shape[64];

    (void)snprintf(shape, sizeof(shape), "s%u-%" PRId64, name, cpus);
    controller_on_engine(
        made->controller,
        &(struct engine_event){
            .kind = ENGINE_JOB_ARRIVED,
            .at = made->now,
            .job = { .id = id,
                     .first_task_id = id,
                     .task_count = 1,
                     .user = (uint32_t)rng_below(&made->rng, USERS),
                     .name = name,
                     .shape = shapes_add(&made->shapes,
                                         &(struct shape_spec){ .name = shape,
                                                               .workload = name_words[name],
                                                               .demands = &demand,
                                                               .demand_count = 1 }),
                     .arrived_at = made->now,
                     .estimate_ms = (msec_t)(6000 + rng_below(&made->rng, 14400)) * 1000 } });
}

/* Everything that was asked for comes true, but for a few machines that still boot. */
static void come_true(struct made_up *made)
{
    for (uint32_t i = 0; i < made->rented_count; i++)
        controller_on_cloud(made->controller, &(struct cloud_event){ .kind = CLOUD_RUNNING,
                                                                     .at = made->now,
                                                                     .instance = made->rented[i],
                                                                     .billed_from = made->now });
    made->now += 40000;
    for (uint32_t i = 0; i < made->rented_count; i++) {
        if (i % 12 != 10)
            controller_on_engine(made->controller,
                                 &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                         .at = made->now,
                                                         .instance = made->rented[i] });
    }
}

/* What was placed and has not started yet does so. */
static void start_placed(struct made_up *made)
{
    for (uint32_t i = made->started; i < made->placed_count; i++) {
        const struct placed placed = made->placed[i];

        controller_on_engine(made->controller, &(struct engine_event){ .kind = ENGINE_TASK_STARTED,
                                                                       .at = made->now,
                                                                       .task = placed.task,
                                                                       .key = placed.key });
        store_intent_open(made->store, &(struct store_intent){ .key = placed.key,
                                                               .kind = STORE_PLACE,
                                                               .task = placed.task,
                                                               .instance = placed.instance,
                                                               .at = made->now - 1000 });
        store_intent_close(made->store, placed.key, made->now, STORE_DONE);
    }
}

/* What is open is in the books too, as a daemon has it there. */
static void book_open(struct made_up *made)
{
    const struct view *view = controller_view(made->controller);
    struct ledger_account account;
    uint64_t id = 0;

    while (controller_take_changed_account(made->controller, &id, &account))
        store_account_set(made->store, &(struct store_account){ .instance = id,
                                                                .from = account.from,
                                                                .until = account.until,
                                                                .rest = account.rest,
                                                                .sums = account.sums,
                                                                .is_ready = account.is_ready });
    for (; made->started < made->placed_count; made->started++) {
        const uint64_t task = made->placed[made->started].task;
        const uint32_t job = view->task.job[view_find_task(view, task)];
        const uint32_t user = view->job.user[job];
        char label[32];

        (void)snprintf(label, sizeof(label), "%" PRIu64, task);
        store_owed_set(made->store,
                       &(struct store_due){ .task = task,
                                            .label = label,
                                            .name = name_words[view->job.name[job]],
                                            .user = user_words[user],
                                            .account = account_words[user % ACCOUNTS],
                                            .partition = partition_words[user % PARTITIONS],
                                            .qos = qos_words[task % QOSES] });
    }
}

/* Machines of the past were all of the type c7i.4xlarge. */
enum { PAST_PRICE = 714000 };

/* One ended task of a machine of the past. */
static void past_task(struct made_up *made, uint64_t id, uint64_t machine, msec_t from, msec_t to)
{
    const uint32_t user = (uint32_t)rng_below(&made->rng, USERS);
    const msec_t span = to - from;
    const msec_t begin = from + (msec_t)rng_below(&made->rng, (uint64_t)(span / 2 + 1));
    const msec_t end = begin + (msec_t)rng_below(&made->rng, (uint64_t)(span / 2 + 1));
    char label[32];

    (void)snprintf(label, sizeof(label), "%" PRIu64, id);
    store_intent_open(
        made->store,
        &(struct store_intent){
            .key = id, .kind = STORE_PLACE, .task = id, .instance = machine, .at = begin });
    store_intent_close(made->store, id, begin, STORE_DONE);
    store_due(made->store, &(struct store_due){ .task = id,
                                                .label = label,
                                                .name = name_words[user % NAMES],
                                                .user = user_words[user],
                                                .type = "c7i.4xlarge",
                                                .account = account_words[user % ACCOUNTS],
                                                .partition = partition_words[user % PARTITIONS],
                                                .qos = qos_words[id % QOSES],
                                                .cost = (end - begin) / 32,
                                                .alone_cost = (end - begin) / 11,
                                                .occupied_ms = end - begin,
                                                .ended_at = end });
}

/* Every ten minutes of the past day. */
static msec_t bound_at(const struct made_up *made, uint32_t index)
{
    return made->now - (msec_t)(BOUNDS - index) * 600000;
}

/* What could have been had for less: a sixth of what the machines cost. */
static void past_bounds(struct made_up *made)
{
    for (uint32_t i = 0; i < BOUNDS; i++)
        store_bound(made->store, &(struct store_bound){ .at = bound_at(made, i),
                                                        .cost = made->rate[i],
                                                        .least = made->rate[i] * 5 / 6 });
}

/* A machine of the past day, and PAST_TASKS that ran on it; the work costs what its tasks do, about. */
static void past_machine(struct made_up *made, uint64_t id)
{
    const msec_t day = 24 * MSEC_PER_HOUR;
    const msec_t from = made->now - day + (msec_t)rng_below(&made->rng, (uint64_t)day * 9 / 10);
    msec_t to = from + 1200000 + (msec_t)rng_below(&made->rng, 9000000);
    char name[32];

    to = to < made->now - 1000 ? to : made->now - 1000;

    const money_t cost = money_for(PAST_PRICE, to - from);

    made->spent += cost;
    for (uint32_t i = 0; i < BOUNDS; i++) {
        const msec_t at = bound_at(made, i);

        if (from <= at && at < to)
            made->rate[i] += cost * MSEC_PER_HOUR / (to - from);
    }
    (void)snprintf(name, sizeof(name), "st-%" PRIu64, id);
    store_instance(made->store, &(struct store_instance){ .id = id,
                                                          .name = name,
                                                          .offer = "c7i.4xlarge in a",
                                                          .type = "c7i.4xlarge",
                                                          .zone = "a",
                                                          .market = "on-demand",
                                                          .per_hour = PAST_PRICE,
                                                          .asked_at = from - 30000 });
    store_bill(made->store, id,
               &(struct ledger_bill){ .from = from,
                                      .to = to,
                                      .sums = { .bill = cost,
                                                .boot = cost / 50,
                                                .idle = cost / 12,
                                                .work = cost - cost / 50 - cost / 12,
                                                .boot_ms = (to - from) / 50,
                                                .idle_ms = (to - from) / 12,
                                                .work_ms = (to - from) * 9 / 10 } });
    for (uint32_t i = 0; i < PAST_TASKS; i++)
        past_task(made, id * 100 + i, id, from, to);
}

static void fill_world(struct made_up *made)
{
    struct serve_world *world = &made->world;

    serve_world_init(world);
    world->controller = made->controller;
    world->store = made->store;
    world->catalogue = &made->catalogue;
    world->users = &made->users;
    world->job_names = &made->job_names;
    world->cluster = "atlas";
    world->mode = "act";
    world->policy = "stint";
    world->node_prefix = "st-";
    world->started_at = made->now - 3 * MSEC_PER_HOUR;
    world->ready = true;
    world->audited_at = made->now;
    world->context = made;
    world->now = now_of;
    world->find = find;
    world->budgets[0] = (struct serve_budget){ .period = "month",
                                               .limit = 4000 * MONEY_PER_USD,
                                               .spent = made->spent,
                                               .until = made->now + 14 * (24 * MSEC_PER_HOUR),
                                               .warn_percent = 80 };
    world->budget_count = 1;
}

static void open_store(struct made_up *made, const char *socket)
{
    struct error error = { "" };
    char path[256];

    (void)snprintf(path, sizeof(path), "%s.db", socket);
    (void)unlink(path);
    if (store_open(path, &made->store, &error) < 0) {
        (void)fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
}

static void make(struct made_up *made, const char *socket, uint32_t machines, uint32_t jobs)
{
    struct timespec clock;

    *made = (struct made_up){ .now = 0 };
    (void)clock_gettime(CLOCK_REALTIME, &clock);
    made->now = (msec_t)clock.tv_sec * 1000 - RAN_MS - 40000;
    rng_init(&made->rng, 17, 1);
    catalogue_init(&made->catalogue);
    add_types(made);
    shapes_init(&made->shapes);
    names_init(&made->users);
    names_init(&made->job_names);
    for (int i = 0; i < USERS; i++)
        (void)names_add(&made->users, user_words[i], strlen(user_words[i]));
    for (int i = 0; i < NAMES; i++)
        (void)names_add(&made->job_names, name_words[i], strlen(name_words[i]));
    open_store(made, socket);

    const uint32_t past = jobs / PAST_TASKS + PAST_LEAST;
    const struct controller_config config = {
        .policy = &policy_stint,
        .catalogue = &made->catalogue,
        .shapes = &made->shapes,
        .engine = { .ops = &engine_ops, .self = made },
        .cloud = { .ops = &cloud_ops, .self = made },
        .default_estimate_ms = 600000,
        .refused_block_ms = 60000,
        .default_rate = 1,
        .place_retry_ms = 5000,
        .max_instances = machines,
        .first_key = (uint64_t)past + 1,
        .on_plan = on_plan,
        .context = made,
    };

    made->controller = controller_create(&config);
    store_begin(made->store);
    for (uint32_t i = 1; i <= past; i++)
        past_machine(made, i);
    past_bounds(made);
    fill_world(made);
    made->world.max_instances = machines;
    made->next_job = (uint64_t)past * 100 + 1000;
    for (uint32_t i = 0; i < jobs; i++)
        arrive(made, made->next_job++);
    controller_decide(made->controller, made->now);
    serve_note_decision(&made->world, 1500);
    come_true(made);
    controller_decide(made->controller, made->now);
    start_placed(made);
    made->now += RAN_MS;
    made->world.budgets[0].spent =
        made->spent + controller_price_per_hour(made->controller) * RAN_MS / MSEC_PER_HOUR;
    made->world.bound = view_bound(
        controller_view(made->controller),
        &(struct view_bound_spec){ .node_most = BOUND_STEPS, .search_most = BOUND_STEPS });
    made->world.has_bound = true;
    book_open(made);
    if (store_commit(made->store, NULL) < 0 || store_warm(made->store, NULL) < 0)
        exit(1);
}

static void end_task(struct made_up *made, uint64_t task)
{
    const struct view *view = controller_view(made->controller);
    const uint32_t user = view->job.user[view->task.job[view_find_task(view, task)]];
    char label[32];

    (void)snprintf(label, sizeof(label), "%" PRIu64, task);
    controller_on_engine(
        made->controller,
        &(struct engine_event){ .kind = ENGINE_TASK_FINISHED, .at = made->now, .task = task });
    store_owed_remove(made->store, task);
    store_due(made->store, &(struct store_due){ .task = task,
                                                .label = label,
                                                .name = "round",
                                                .user = user_words[user],
                                                .type = "c7i.4xlarge",
                                                .account = account_words[user % ACCOUNTS],
                                                .partition = partition_words[user % PARTITIONS],
                                                .qos = qos_words[task % QOSES],
                                                .cost = 1000,
                                                .alone_cost = 2000,
                                                .occupied_ms = 90000,
                                                .ended_at = made->now });
}

/* What a daemon does between two looks at its requests. */
static void go_round(struct made_up *made)
{
    made->now += MSEC_PER_SEC;
    store_begin(made->store);
    for (int i = 0; i < ROUND_TASKS && made->ended < made->started; i++)
        end_task(made, made->placed[made->ended++].task);
    for (int i = 0; i < ROUND_TASKS; i++)
        arrive(made, made->next_job++);
    controller_decide(made->controller, made->now);
    serve_note_decision(&made->world, 1500);
    start_placed(made);
    book_open(made);
    if (store_commit(made->store, NULL) < 0)
        exit(1);
}

int main(int argc, char **argv)
{
    struct made_up made;
    struct serve_http *http = NULL;
    struct error error = { "" };

    if (argc < 4) {
        (void)fputs("usage: page_world SOCKET MACHINES JOBS [SECONDS [rounds]]\n", stderr);
        return 2;
    }
    make(&made, argv[1], (uint32_t)strtoul(argv[2], NULL, 10),
         (uint32_t)strtoul(argv[3], NULL, 10));
    if (serve_http_start(&(struct serve_http_config){ .socket = argv[1] }, &made.world, &http,
                         &error) < 0) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }

    const time_t end = time(NULL) + (argc > 4 ? strtol(argv[4], NULL, 10) : 600);
    const bool goes_on = argc > 5 && strcmp(argv[5], "rounds") == 0;

    while (time(NULL) < end) {
        struct pollfd ready = { .fd = serve_http_fd(http), .events = POLLIN };

        (void)poll(&ready, 1, goes_on ? 0 : 200);
        serve_http_run(http);
        if (goes_on)
            go_round(&made);
    }
    serve_http_stop(http);
    return 0;
}
