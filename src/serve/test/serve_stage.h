/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_stage.h - a small world to ask: a controller with real events behind it, a store with books.
 *
 *     12_1  (ada, fit)   runs on st-1, a.large
 *     20    (bob, mpi)   a gang of two, 20.0 and 20.1, whose machines were asked for
 *     30    (bob, huge)  nothing holds it
 *     40    (ada, late)  came after the last decision
 *     50                 the engine knows it, and it shall not run
 *     9     (ada, done)  has ended; it cost $0.05 and would have cost $0.20 alone
 *
 * Offer 0 is a.large in zone z1, spot, $0.36 per hour; offer 1 b.large, on demand, $0.72. Also for the
 * fuzz target, so nothing here is cmocka's.
 */
#ifndef STINT_SERVE_SERVE_STAGE_H
#define STINT_SERVE_SERVE_STAGE_H

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/serve.h"

#define STAGE_T0 ((msec_t)1794722400000) /* 2026-11-15 */

enum { STAGE_PROPOSALS = 2, STAGE_KEYS = 16 };

struct serve_stage {
    char folder[64];
    char path[128];
    struct catalogue catalogue;
    struct shapes shapes;
    struct names users;
    struct names job_names;
    struct controller_config control;
    struct controller *controller;
    struct store *store;
    struct serve_world world;
    struct cloud_refusal refusals[2]; /* of each offer, by the cloud; 'times' 0: none */
    msec_t now;
    uint64_t rented; /* the last id */
    uint64_t place_key;
    bool proposed[STAGE_PROPOSALS];
    bool drained;
    bool bad_config;
    uint32_t reloads;
};

/* Ports that write down what matters. */

static inline void stage_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    struct serve_stage *stage = self;

    (void)offer;
    stage->rented = first + count - 1;
}

static inline void stage_instance_act(void *self, uint64_t instance)
{
    (void)self;
    (void)instance;
}

static inline void stage_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    struct serve_stage *stage = self;

    (void)task;
    (void)instance;
    stage->place_key = key;
}

static inline void stage_task_act(void *self, uint64_t key, uint64_t task)
{
    (void)self;
    (void)key;
    (void)task;
}

static inline void stage_list(void *self, uint64_t key)
{
    (void)self;
    (void)key;
}

static const struct engine_ops stage_engine = {
    .admit = stage_instance_act,
    .retire = stage_instance_act,
    .place = stage_place,
    .stop = stage_task_act,
    .list = stage_list,
};

static const struct cloud_ops stage_cloud = {
    .rent = stage_rent,
    .give_back = stage_instance_act,
    .list = stage_list,
};

/* What the daemon would answer. */

static const struct {
    uint64_t id;
    const char *label;
} stage_labels[] = {
    { 101, "12_1" }, { 200, "20" }, { 201, "20.0" }, { 202, "20.1" },
    { 301, "30" },   { 401, "40" }, { 501, "50" },
};

enum { STAGE_LABELS = sizeof(stage_labels) / sizeof(stage_labels[0]) };

static inline msec_t stage_now(void *context)
{
    return ((const struct serve_stage *)context)->now;
}

static inline void stage_label(void *context, uint64_t id, char *ret, size_t size)
{
    (void)context;
    snprintf(ret, size, "?");
    for (uint32_t i = 0; i < STAGE_LABELS; i++) {
        if (stage_labels[i].id == id)
            snprintf(ret, size, "%s", stage_labels[i].label);
    }
}

static inline uint64_t stage_find(void *context, const char *label)
{
    (void)context;
    for (uint32_t i = 0; i < STAGE_LABELS; i++) {
        if (strcmp(stage_labels[i].label, label) == 0)
            return stage_labels[i].id;
    }
    return 0;
}

static inline size_t stage_waits(void *context, uint64_t task, struct serve_wait *ret, size_t most)
{
    (void)context;
    if (task != 202 || most == 0)
        return 0;
    ret[0] = (struct serve_wait){ .why = "begins", .until = STAGE_T0 + 99000 };
    snprintf(ret[0].text, sizeof(ret[0].text), "its time has not come");
    return 1;
}

static inline int64_t stage_number(const char *fields, const char *key, int64_t missing)
{
    const char *at = strstr(fields, key);

    return at != NULL ? strtol(at + strlen(key), NULL, 10) & 0xffffff : missing;
}

/* Knows cpus, mem_mib, node_count and limit_s, and one comment. */
static inline int stage_imagine(void *context, const char *fields, struct shapes *shapes,
                                struct job_spec *ret, struct error *reterr)
{
    const struct serve_stage *stage = context;
    const int64_t nodes = stage_number(fields, "node_count=", 1) % 16 + (*fields == '\0');
    const int64_t cpus = stage_number(fields, "cpus=", 1) / (nodes > 0 ? nodes : 1);
    const bool is_spot = strstr(fields, "market=spot") != NULL;
    const struct shape_demand demand = {
        FAMILY_NONE, { { cpus * 1000, stage_number(fields, "mem_mib=", 1024), 0 } }
    };

    if (strchr(fields, '?') != NULL)
        return error_set(reterr, -EINVAL, "a field makes no sense");
    if (cpus > 8)
        return error_set(reterr, -ERANGE, "no machine of the catalogue holds it");
    *ret = (struct job_spec){
        .id = UINT64_MAX,
        .first_task_id = UINT64_MAX - 16,
        .name = NAME_NONE,
        .user = NAME_NONE,
        .shape = shapes_add(shapes, &(struct shape_spec){ .name = "imagined",
                                                          .workload = "imagined",
                                                          .demands = &demand,
                                                          .demand_count = 1,
                                                          .by_market = is_spot }),
        .task_count = nodes > 0 ? (uint32_t)nodes : 1,
        .gang = nodes > 1,
        .spread = nodes > 1,
        .arrived_at = stage->now,
        .estimate_ms = stage_number(fields, "limit_s=", 600) * MSEC_PER_SEC,
        .rules = { .market = is_spot ? MARKET_RULE_SPOT : MARKET_RULE_ANY },
    };
    return 0;
}

static inline bool stage_refusal(void *context, uint32_t offer, struct cloud_refusal *ret)
{
    const struct serve_stage *stage = context;

    if (stage->refusals[offer].times > 0)
        *ret = stage->refusals[offer];
    return stage->refusals[offer].times > 0;
}

static inline void
stage_each_proposal(void *context, void (*each)(void *to, const struct serve_proposal *), void *to)
{
    const struct serve_stage *stage = context;

    for (uint64_t i = 0; i < STAGE_PROPOSALS; i++) {
        if (stage->proposed[i])
            each(to, &(struct serve_proposal){ .id = 31 + i,
                                               .at = STAGE_T0,
                                               .act = "rent",
                                               .subject = "st-31",
                                               .detail = "a.large in z1, spot",
                                               .reason_subject = STORE_RENTED,
                                               .reason_id = i == 0 ? 900 : 901,
                                               .per_hour = 360000 });
    }
}

static inline uint32_t stage_answer_proposal(void *context, uint64_t id, bool approve)
{
    struct serve_stage *stage = context;
    uint32_t changed = 0;

    (void)approve;
    for (uint64_t i = 0; i < STAGE_PROPOSALS; i++) {
        if (!stage->proposed[i] || (id != 0 && id != 31 + i))
            continue;
        stage->proposed[i] = false;
        changed++;
    }
    return changed;
}

static inline void
stage_each_past(void *context, void (*each)(void *to, const struct serve_past_finding *), void *to)
{
    (void)context;
    each(to, &(struct serve_past_finding){ .severity = "error",
                                           .kind = "link-down",
                                           .subject = "slurm",
                                           .since = 1000,
                                           .until = 2000 });
}

static inline void stage_each_finding(void *context, void (*each)(void *to, const struct finding *),
                                      void *to)
{
    (void)context;
    each(to, &(struct finding){
                 .severity = "error",
                 .kind = "unholdable",
                 .subject = "30",
                 .text = "nothing holds \xff it",
                 .advice = "add a larger type",
                 .address = "/usr/share/doc/stint/troubleshooting/findings-slurm.md#unholdable" });
    each(to, &(struct finding){ .severity = "note",
                                .kind = "shadow",
                                .subject = "lab",
                                .text = "mode shadow",
                                .advice = "leave it so" });
}

static inline int stage_reload(void *context, char *ret, size_t size, struct error *reterr)
{
    struct serve_stage *stage = context;

    if (stage->bad_config)
        return error_set(reterr, -1, "line 3: no such key");
    stage->reloads++;
    snprintf(ret, size, "limits changed");
    return 0;
}

static inline void stage_drain(void *context, bool on)
{
    ((struct serve_stage *)context)->drained = on;
}

static inline void stage_on_plan(void *context, const struct view *view, const struct plan *plan)
{
    serve_note_plan(&((struct serve_stage *)context)->world, view, plan);
}

/* Building it. */

static inline void stage_add_offer(struct serve_stage *stage, const char *name, int64_t cpus,
                                   enum market market, money_t per_hour)
{
    const struct price_change price = { 0, per_hour };
    const struct machine_type type = { .capacity = { { cpus * 1000, 16384, 0 } },
                                       .acquire_ms = 30000,
                                       .setup_ms = 30000 };
    const struct offer offer = {
        .type = catalogue_add_type(&stage->catalogue, name, "any", &type),
        .market = market,
        .billing = BILLING_PER_SECOND,
        .price = { &price, 1 },
    };

    (void)catalogue_add_offer(&stage->catalogue, market == MARKET_SPOT ? "z1" : NULL, &offer);
}

static inline uint32_t stage_name(struct names *names, const char *text)
{
    return names_add(names, text, strlen(text));
}

static inline void stage_arrive(struct serve_stage *stage, struct job_spec job, const char *user,
                                const char *name, int64_t cpus)
{
    const struct shape_demand demand = { FAMILY_NONE, { { cpus * 1000, 1024, 0 } } };

    job.user = stage_name(&stage->users, user);
    job.name = stage_name(&stage->job_names, name);
    job.shape =
        shapes_add(&stage->shapes, &(struct shape_spec){ .name = name,
                                                         .workload = name,
                                                         .demands = &demand,
                                                         .demand_count = 1,
                                                         .by_market = job_has_rules(&job.rules) });
    job.arrived_at = stage->now;
    job.estimate_ms = 600000;
    controller_on_engine(
        stage->controller,
        &(struct engine_event){ .kind = ENGINE_JOB_ARRIVED, .at = stage->now, .job = job });
}

static inline void stage_decide(struct serve_stage *stage)
{
    stage->now += 1000;
    controller_decide(stage->controller, stage->now);
    serve_note_decision(&stage->world, 1500);
}

static inline void stage_play(struct serve_stage *stage)
{
    stage_arrive(stage, (struct job_spec){ .id = 101, .first_task_id = 101, .task_count = 1 },
                 "ada", "fit", 2);
    stage_decide(stage);
    stage->now += 30000;
    controller_on_cloud(stage->controller, &(struct cloud_event){ .kind = CLOUD_RUNNING,
                                                                  .at = stage->now,
                                                                  .instance = stage->rented,
                                                                  .billed_from = stage->now });
    stage->now += 30000;
    controller_on_engine(stage->controller, &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                                    .at = stage->now,
                                                                    .instance = stage->rented });
    controller_on_engine(stage->controller, &(struct engine_event){ .kind = ENGINE_TASK_STARTED,
                                                                    .at = stage->now,
                                                                    .task = 101,
                                                                    .key = stage->place_key });
    stage->now += 40000;
    stage_arrive(
        stage, (struct job_spec){ .id = 200, .first_task_id = 201, .task_count = 2, .gang = true },
        "bob", "mpi", 4);
    stage_arrive(stage, (struct job_spec){ .id = 301, .first_task_id = 301, .task_count = 1 },
                 "bob", "huge", 64);
    stage_decide(stage);
    stage_arrive(stage, (struct job_spec){ .id = 401, .first_task_id = 401, .task_count = 1 },
                 "ada", "late", 1);
}

static inline void stage_fill_store(struct serve_stage *stage)
{
    struct store *store = stage->store;
    const struct ledger_bill bill = {
        .from = STAGE_T0 - 100000,
        .to = STAGE_T0 - 1000,
        .sums = { .bill = 60000, .boot = 7000, .idle = 3000, .work = 50000, .boot_ms = 30000 },
    };

    store_begin(store);
    store_instance(store, &(struct store_instance){ .id = 900,
                                                    .name = "st-900",
                                                    .offer = "a.large in z1, spot",
                                                    .type = "a.large",
                                                    .zone = "z1",
                                                    .market = "spot",
                                                    .per_hour = 360000,
                                                    .asked_at = STAGE_T0 - 200000 });
    store_bill(store, 900, &bill);
    store_due(store, &(struct store_due){ .task = 901,
                                          .label = "9",
                                          .name = "done",
                                          .user = "ada",
                                          .type = "a.large",
                                          .cost = 50000,
                                          .alone_cost = 200000,
                                          .occupied_ms = 69000,
                                          .ended_at = STAGE_T0 - 1000 });
    store_reason(store, &(struct store_reason){
                            .at = STAGE_T0,
                            .decision = 1,
                            .subject = STORE_TASK,
                            .id = 101,
                            .target = "st-1",
                            .why = { .code = REASON_CHEAPEST_ALONE,
                                     .chosen = 360000,
                                     .passed_over = 720000,
                                     .saving = MONEY_UNKNOWN },
                            .passed_offer = "b.large, on-demand",
                        });
    store_reason(store, &(struct store_reason){ .at = STAGE_T0,
                                                .decision = 1,
                                                .subject = STORE_RENTED,
                                                .id = 900,
                                                .target = "a.large in z1, spot",
                                                .why = plan_because(REASON_BEST_SCORE, 360000) });
    store_intent_open(store, &(struct store_intent){ .key = 5, .kind = STORE_RENT, .at = 1 });
    store_count(store, COUNT_LAUNCHES, 3);
    store_count(store, COUNT_REFUSED, 1);
    store_count(store, COUNT_EVICTED_BY_NOTICE, 2);
    store_count(store, COUNT_DECISIONS, 2);
    if (store_commit(store, NULL) < 0)
        abort();
}

static inline void stage_fill_world(struct serve_stage *stage)
{
    struct serve_world *world = &stage->world;

    world->controller = stage->controller;
    world->store = stage->store;
    world->catalogue = &stage->catalogue;
    world->users = &stage->users;
    world->job_names = &stage->job_names;
    world->cluster = "lab";
    world->mode = "act";
    world->policy = "task-per-instance";
    world->node_prefix = "st-";
    world->started_at = STAGE_T0 - 60000;
    world->ready = true;
    world->audited_at = STAGE_T0;
    world->audit_every_ms = 60000;
    world->links[0] =
        (struct serve_link){ .name = "slurm", .detail = "22.05", .since = STAGE_T0, .up = true };
    world->links[1] = (struct serve_link){ .name = "local", .since = STAGE_T0, .up = true };
    world->link_count = 2;
    world->context = stage;
    world->now = stage_now;
    world->task_label = stage_label;
    world->find = stage_find;
    world->imagine = stage_imagine;
    world->refusal = stage_refusal;
    world->waits = stage_waits;
    world->each_proposal = stage_each_proposal;
    world->answer_proposal = stage_answer_proposal;
    world->each_finding = stage_each_finding;
    world->each_past = stage_each_past;
    world->reload = stage_reload;
    world->drain = stage_drain;
}

static inline void stage_init(struct serve_stage *stage)
{
    *stage = (struct serve_stage){ .now = STAGE_T0, .proposed = { true, true } };
    snprintf(stage->folder, sizeof(stage->folder), "/tmp/stint-test-XXXXXX");
    if (mkdtemp(stage->folder) == NULL)
        abort();
    snprintf(stage->path, sizeof(stage->path), "%s/stint.db", stage->folder);
    if (store_open(stage->path, &stage->store, NULL) < 0)
        abort();
    catalogue_init(&stage->catalogue);
    stage_add_offer(stage, "a.large", 4, MARKET_SPOT, 360000);
    stage_add_offer(stage, "b.large", 8, MARKET_ON_DEMAND, 720000);
    shapes_init(&stage->shapes);
    names_init(&stage->users);
    names_init(&stage->job_names);
    serve_world_init(&stage->world);
    stage->control = (struct controller_config){
        .policy = &policy_task_per_instance,
        .catalogue = &stage->catalogue,
        .shapes = &stage->shapes,
        .engine = { .ops = &stage_engine, .self = stage },
        .cloud = { .ops = &stage_cloud, .self = stage },
        .default_estimate_ms = 600000,
        .refused_block_ms = 60000,
        .default_rate = 1,
        .place_retry_ms = 5000,
        .on_plan = stage_on_plan,
        .context = stage,
    };
    stage->controller = controller_create(&stage->control);
    stage_fill_world(stage);
    stage_play(stage);
    stage->world.bound = view_bound(controller_view(stage->controller),
                                    &(struct view_bound_spec){ .node_most = 10000 });
    stage->world.has_bound = true;
    stage_fill_store(stage);
}

static inline void stage_done(struct serve_stage *stage)
{
    controller_destroy(stage->controller);
    serve_world_done(&stage->world);
    store_close(stage->store);
    names_done(&stage->users);
    names_done(&stage->job_names);
    shapes_done(&stage->shapes);
    catalogue_done(&stage->catalogue);

    DIR *folder = opendir(stage->folder);

    for (const struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        unlinkat(dirfd(folder), entry->d_name, 0);
    closedir(folder);
    rmdir(stage->folder);
}

#endif
