/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doubles.h - a controller between test doubles: an engine and a cloud that only write down what they
 * are asked for, and a policy that answers with the plan it was given.
 *
 * The world: offer 0 is a machine of 4 CPUs, offer 1 one of 8; both cost one micro-dollar a
 * millisecond and are billed by the millisecond, so that money and time are the same number. Every
 * task takes one CPU. Instances have the ids 1, 2, 3... in the order of renting only as long as
 * nothing else took a key: use stage_instance.
 */
#ifndef STINT_CONTROL_DOUBLES_H
#define STINT_CONTROL_DOUBLES_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "control/controller.h"

enum { STAGE_ACTS_MAX = 256, STAGE_ITEMS_MAX = 8, STAGE_TEXT_SIZE = 1024 };

enum act_kind {
    ACT_ADMIT,
    ACT_RETIRE,
    ACT_FORGET,
    ACT_PLACE,
    ACT_QUEUE,
    ACT_CANCEL,
    ACT_STOP,
    ACT_RENT,
    ACT_GIVE_BACK,
    ACT_LIST_MACHINES,
    ACT_LIST_WORK,
};

struct act {
    enum act_kind kind;
    uint64_t key; /* of the action; 0 for those that are known by their instance */
    uint64_t task;
    uint64_t instance;
    uint32_t offer;
    uint32_t together; /* machines that were asked for in the same call */
};

struct script_place {
    uint64_t task;
    uint32_t rent;     /* index of the plan's rents, if 'instance' is 0 */
    uint64_t instance; /* id */
};

/* The next plan. */
struct script {
    uint32_t rents[STAGE_ITEMS_MAX];
    uint32_t rent_count;
    struct script_place places[STAGE_ITEMS_MAX];
    uint32_t place_count;
    uint64_t releases[STAGE_ITEMS_MAX];
    uint32_t release_count;
    uint64_t suspends[STAGE_ITEMS_MAX];
    uint32_t suspend_count;
};

struct stage {
    struct catalogue catalogue;
    struct shapes shapes;
    struct controller_config config;
    struct controller *controller;
    struct act acts[STAGE_ACTS_MAX];
    uint32_t act_count;
    uint32_t seen; /* actions that were checked already */
    uint32_t left; /* actions up to here: their machines, if retired, have left the engine */
    bool keeps;    /* the engine lets no machine leave */
    msec_t now;
    money_t settled;     /* what tasks that ended were charged */
    uint32_t more_times; /* each event is heard so often again */
    money_t billed;      /* by accounts that were closed */
    uint32_t bills;
    struct ledger_account kept; /* the account of 'kept_instance', by an earlier process */
    uint64_t kept_instance;
    struct ledger_due owed; /* by the task 'owing_task', to an earlier process */
    uint64_t owing_task;
    uint64_t settled_instance; /* whose bill an earlier process booked */
};

/* What the scripted policy answers in the next decision; a policy has no context of its own. */
static struct script next_plan;

/* Without the places of tasks that are not shown, and without rents that were only for those. */
static inline void scripted_decide(const struct policy_input *in, struct plan *ret)
{
    const struct plan_reason why = plan_because(REASON_CHEAPEST_ALONE, 0);
    uint32_t rents[STAGE_ITEMS_MAX];
    bool is_shown[STAGE_ITEMS_MAX];

    for (uint32_t i = 0; i < next_plan.place_count; i++) {
        const uint32_t task = view_find_task(in->view, next_plan.places[i].task);

        is_shown[i] = in->view->task.state[task] != TASK_HIDDEN;
    }
    for (uint32_t i = 0; i < next_plan.rent_count; i++) {
        bool is_used = false;
        bool is_wanted = false;

        for (uint32_t k = 0; k < next_plan.place_count; k++) {
            const bool is_on = next_plan.places[k].instance == 0 && next_plan.places[k].rent == i;

            is_used = is_used || is_on;
            is_wanted = is_wanted || (is_on && is_shown[k]);
        }
        rents[i] = ret->rent_count;
        if (is_wanted || !is_used)
            (void)plan_rent(ret, next_plan.rents[i], why);
    }
    for (uint32_t i = 0; i < next_plan.place_count; i++) {
        const struct script_place *place = &next_plan.places[i];
        const uint32_t task = view_find_task(in->view, place->task);

        if (!is_shown[i])
            continue;
        if (place->instance == 0)
            plan_place_fresh(ret, task, rents[place->rent], why);
        else
            plan_place_kept(ret, task, view_find_instance(in->view, place->instance), why);
    }
    for (uint32_t i = 0; i < next_plan.release_count; i++)
        plan_release(ret, view_find_instance(in->view, next_plan.releases[i]), why);
    for (uint32_t i = 0; i < next_plan.suspend_count; i++)
        plan_suspend(ret, view_find_task(in->view, next_plan.suspends[i]), why);
}

static const struct policy scripted_policy = {
    .name = "scripted",
    .summary = "answers with the plan that the test wrote",
    .learns_colocation = true,
    .decide = scripted_decide,
};

/*
 * The recording engine and cloud.
 */

static inline void record(void *self, struct act act)
{
    struct stage *stage = self;

    assert_true(stage->act_count < STAGE_ACTS_MAX);
    stage->acts[stage->act_count++] = act;
}

static inline void record_admit(void *self, uint64_t instance)
{
    record(self, (struct act){ .kind = ACT_ADMIT, .instance = instance });
}

static inline void record_retire(void *self, uint64_t instance)
{
    record(self, (struct act){ .kind = ACT_RETIRE, .instance = instance });
}

static inline void record_forget(void *self, uint64_t instance)
{
    record(self, (struct act){ .kind = ACT_FORGET, .instance = instance });
}

static inline void record_place(void *self, uint64_t key, uint64_t task, uint64_t instance)
{
    record(self, (struct act){ .kind = ACT_PLACE, .key = key, .task = task, .instance = instance });
}

static inline void record_place_gang(void *self, uint64_t key, const uint64_t *tasks,
                                     const uint64_t *instances, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        record(self, (struct act){ .kind = ACT_PLACE,
                                   .key = key,
                                   .task = tasks[i],
                                   .instance = instances[i],
                                   .together = count });
}

static inline void record_queue(void *self, uint64_t key, uint64_t task)
{
    record(self, (struct act){ .kind = ACT_QUEUE, .key = key, .task = task });
}

static inline void record_list_work(void *self, uint64_t key)
{
    record(self, (struct act){ .kind = ACT_LIST_WORK, .key = key });
}

static inline void record_list_machines(void *self, uint64_t key)
{
    record(self, (struct act){ .kind = ACT_LIST_MACHINES, .key = key });
}

static inline void record_cancel(void *self, uint64_t key, uint64_t task)
{
    record(self, (struct act){ .kind = ACT_CANCEL, .key = key, .task = task });
}

static inline void record_stop(void *self, uint64_t key, uint64_t task)
{
    record(self, (struct act){ .kind = ACT_STOP, .key = key, .task = task });
}

static inline void record_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    for (uint32_t i = 0; i < count; i++)
        record(self,
               (struct act){
                   .kind = ACT_RENT, .instance = first + i, .offer = offer, .together = count });
}

static inline void record_give_back(void *self, uint64_t instance)
{
    record(self, (struct act){ .kind = ACT_GIVE_BACK, .instance = instance });
}

static inline void record_settled(void *self, const struct view *view, uint32_t task,
                                  struct ledger_due due)
{
    struct stage *stage = self;

    (void)view;
    (void)task;
    stage->settled += due.cost;
}

static inline void record_bill(void *self, const struct view *view, uint32_t instance,
                               const struct ledger_bill *bill)
{
    struct stage *stage = self;

    assert_true(view->instance.state[instance] != INSTANCE_FREE);
    stage->billed += bill->sums.bill;
    stage->bills++;
}

static inline bool record_is_settled(void *self, uint64_t instance)
{
    const struct stage *stage = self;

    return instance == stage->settled_instance;
}

static inline bool record_resume_account(void *self, uint64_t instance, struct ledger_account *ret)
{
    const struct stage *stage = self;

    *ret = stage->kept;
    return instance == stage->kept_instance;
}

static inline bool record_resume_due(void *self, uint64_t task, struct ledger_due *ret)
{
    const struct stage *stage = self;

    *ret = stage->owed;
    return stage->owing_task != 0 && task == stage->owing_task;
}

static const struct engine_ops recording_engine = {
    .admit = record_admit,
    .retire = record_retire,
    .forget = record_forget,
    .place = record_place,
    .queue = record_queue,
    .cancel = record_cancel,
    .stop = record_stop,
    .list = record_list_work,
};
static const struct engine_ops recording_gang_engine = {
    .admit = record_admit,
    .retire = record_retire,
    .forget = record_forget,
    .place = record_place,
    .place_gang = record_place_gang,
    .queue = record_queue,
    .cancel = record_cancel,
    .stop = record_stop,
    .list = record_list_work,
};
static const struct cloud_ops recording_cloud = {
    .rent = record_rent,
    .give_back = record_give_back,
    .list = record_list_machines,
};

/*
 * The stage.
 */

enum { STAGE_PRICE = 3600000, STAGE_BLOCK_MS = 300000, STAGE_ESTIMATE_MS = 77000 };

static inline void stage_add_offer(struct stage *stage, const char *name, int64_t cpus)
{
    const struct price_change price = { 0, STAGE_PRICE };
    const struct machine_type type = { .capacity = { { cpus * 1000, 1024, 0 } } };
    const struct offer offer = {
        .type = catalogue_add_type(&stage->catalogue, name, "family", &type),
        .billing = { .step_ms = 1 },
        .price = { &price, 1 },
    };

    (void)catalogue_add_offer(&stage->catalogue, NULL, &offer);
}

static inline void stage_init(struct stage *stage)
{
    const struct shape_demand demand = { FAMILY_NONE, { { 1000, 0, 0 } } };
    const struct shape_spec spec = {
        .name = "one",
        .workload = "one",
        .demands = &demand,
        .demand_count = 1,
    };

    *stage = (struct stage){ .now = 1000 };
    next_plan = (struct script){ 0 };
    catalogue_init(&stage->catalogue);
    stage_add_offer(stage, "small", 4);
    stage_add_offer(stage, "large", 8);
    shapes_init(&stage->shapes);
    (void)shapes_add(&stage->shapes, &spec);

    stage->config = (struct controller_config){
        .policy = &scripted_policy,
        .catalogue = &stage->catalogue,
        .shapes = &stage->shapes,
        .engine = { .ops = &recording_engine, .self = stage },
        .cloud = { .ops = &recording_cloud, .self = stage },
        .default_estimate_ms = STAGE_ESTIMATE_MS,
        .refused_block_ms = STAGE_BLOCK_MS,
        .default_rate = 0.95,
        .on_settled = record_settled,
        .on_bill = record_bill,
        .is_settled = record_is_settled,
        .resume_account = record_resume_account,
        .resume_due = record_resume_due,
        .context = stage,
    };
    stage->controller = controller_create(&stage->config);
}

/* The same with an engine that places gangs in one action. */
static inline void stage_init_gangs(struct stage *stage)
{
    stage_init(stage);
    stage->config.engine.ops = &recording_gang_engine;
    controller_destroy(stage->controller);
    stage->controller = controller_create(&stage->config);
}

/* The process ends and another takes over: it knows the next key and nothing more. */
static inline void stage_restart(struct stage *stage)
{
    stage->config.first_key = controller_next_key(stage->controller);
    ledger_check(controller_ledger(stage->controller));
    controller_destroy(stage->controller);
    stage->controller = controller_create(&stage->config);
}

static inline void stage_done(struct stage *stage)
{
    controller_check(stage->controller);
    ledger_check(controller_ledger(stage->controller));
    controller_destroy(stage->controller);
    shapes_done(&stage->shapes);
    catalogue_done(&stage->catalogue);
}

/*
 * What happens on it. Time goes on by a second with each decision and event, unless 'at' says other.
 */

/* The engine says at once that it has nothing on what was retired. */
static inline void stage_let_leave(struct stage *stage)
{
    while (!stage->keeps && stage->left < stage->act_count) {
        const struct act act = stage->acts[stage->left++];
        const struct engine_event event = {
            .kind = ENGINE_NODE_LEFT,
            .at = stage->now,
            .instance = act.instance,
        };

        if (act.kind == ACT_RETIRE)
            controller_on_engine(stage->controller, &event);
    }
}

static inline void stage_engine(struct stage *stage, struct engine_event event)
{
    stage->now += 1000;
    event.at = stage->now;
    for (uint32_t i = 0; i <= stage->more_times; i++)
        controller_on_engine(stage->controller, &event);
    controller_check(stage->controller);
    stage_let_leave(stage);
}

static inline void stage_cloud(struct stage *stage, struct cloud_event event)
{
    stage->now += 1000;
    event.at = stage->now;
    for (uint32_t i = 0; i <= stage->more_times; i++)
        controller_on_cloud(stage->controller, &event);
    controller_check(stage->controller);
    stage_let_leave(stage);
}

static inline void stage_decide(struct stage *stage, struct script script)
{
    stage->now += 1000;
    next_plan = script;
    controller_decide(stage->controller, stage->now);
    next_plan = (struct script){ 0 };
    controller_check(stage->controller);
    stage_let_leave(stage);
}

/* A job whose tasks have the ids 'first', 'first' + 1... */
static inline void stage_job(struct stage *stage, uint64_t first, uint32_t tasks, bool gang)
{
    stage_engine(stage, (struct engine_event){
                            .kind = ENGINE_JOB_ARRIVED,
                            .job = { .id = 1000 + first,
                                     .first_task_id = first,
                                     .task_count = tasks,
                                     .gang = gang,
                                     .estimate_ms = -1 },
                        });
}

/* The id of the instance that was rented last but 'back'. */
static inline uint64_t stage_instance(const struct stage *stage, uint32_t back)
{
    for (uint32_t i = stage->act_count; i > 0; i--) {
        if (stage->acts[i - 1].kind == ACT_RENT && back-- == 0)
            return stage->acts[i - 1].instance;
    }
    fail_msg("so many instances were never rented");
    return 0;
}

/* The key of the last action of the kind that was asked for the task. */
static inline uint64_t stage_key(const struct stage *stage, enum act_kind kind, uint64_t task)
{
    for (uint32_t i = stage->act_count; i > 0; i--) {
        if (stage->acts[i - 1].kind == kind && stage->acts[i - 1].task == task)
            return stage->acts[i - 1].key;
    }
    fail_msg("task %" PRIu64 " was never asked that", task);
    return 0;
}

static inline void stage_running(struct stage *stage, uint64_t instance)
{
    stage_cloud(stage, (struct cloud_event){ .kind = CLOUD_RUNNING,
                                             .instance = instance,
                                             .billed_from = stage->now + 1000 });
}

static inline void stage_gone(struct stage *stage, uint64_t instance, msec_t from, msec_t to)
{
    stage_cloud(stage, (struct cloud_event){ .kind = CLOUD_GONE,
                                             .instance = instance,
                                             .billed_from = from,
                                             .billed_to = to,
                                             .offer = OFFER_NONE });
}

/* It is gone now, billed since we heard that it runs. */
static inline void stage_gone_now(struct stage *stage, uint64_t instance)
{
    const struct view *view = controller_view(stage->controller);

    stage_gone(stage, instance, view->instance.billed_from[view_find_instance(view, instance)],
               stage->now + 1000);
}

static inline void stage_ready(struct stage *stage, uint64_t instance)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_NODE_READY, .instance = instance });
}

static inline void stage_task(struct stage *stage, enum engine_event_kind kind, uint64_t task,
                              uint64_t key)
{
    stage_engine(stage, (struct engine_event){ .kind = kind, .task = task, .key = key });
}

static inline void stage_started(struct stage *stage, uint64_t task)
{
    stage_task(stage, ENGINE_TASK_STARTED, task, stage_key(stage, ACT_PLACE, task));
}

static inline void stage_stopped(struct stage *stage, uint64_t task)
{
    stage_task(stage, ENGINE_TASK_STOPPED, task, stage_key(stage, ACT_STOP, task));
}

static inline void stage_cancelled(struct stage *stage, uint64_t task)
{
    stage_task(stage, ENGINE_TASK_STOPPED, task, stage_key(stage, ACT_CANCEL, task));
}

static inline void stage_lost(struct stage *stage, uint64_t task)
{
    stage_task(stage, ENGINE_TASK_LOST, task, stage_key(stage, ACT_PLACE, task));
}

static inline void stage_finished(struct stage *stage, uint64_t task)
{
    stage_task(stage, ENGINE_TASK_FINISHED, task, 0);
}

/* The last list of the kind ends. */
static inline void stage_listed(struct stage *stage, enum act_kind kind)
{
    uint64_t key = 0;

    for (uint32_t i = 0; i < stage->act_count; i++) {
        if (stage->acts[i].kind == kind)
            key = stage->acts[i].key;
    }
    if (kind == ACT_LIST_MACHINES)
        stage_cloud(stage, (struct cloud_event){ .kind = CLOUD_LISTED, .key = key });
    else
        stage_engine(stage, (struct engine_event){ .kind = ENGINE_LISTED, .key = key });
}

static inline void stage_audit(struct stage *stage)
{
    stage->now += 1000;
    controller_audit(stage->controller, stage->now);
}

static inline void stage_machine_found(struct stage *stage, uint64_t instance, msec_t billed_from,
                                       uint32_t offer)
{
    stage_cloud(stage, (struct cloud_event){ .kind = CLOUD_FOUND,
                                             .instance = instance,
                                             .billed_from = billed_from,
                                             .offer = offer });
}

static inline void stage_found(struct stage *stage, uint64_t task, uint64_t instance,
                               msec_t started_at, uint64_t key)
{
    stage_engine(stage, (struct engine_event){ .kind = ENGINE_TASK_FOUND,
                                               .task = task,
                                               .instance = instance,
                                               .started_at = started_at,
                                               .key = key });
}

/*
 * What came of it.
 */

static inline const struct view *stage_view(const struct stage *stage)
{
    return controller_view(stage->controller);
}

/* The id of the instance that the task is bound to; 0: it waits. */
static inline uint64_t stage_where(const struct stage *stage, uint64_t task)
{
    const struct view *view = stage_view(stage);
    const uint32_t row = view_find_task(view, task);

    assert_int_not_equal(row, ROW_NONE);
    return view->task.instance[row] == ROW_NONE ? 0 : view->instance.id[view->task.instance[row]];
}

static inline enum task_state stage_state(const struct stage *stage, uint64_t task)
{
    return (enum task_state)stage_view(stage)->task.state[view_find_task(stage_view(stage), task)];
}

static inline int act_text(const struct act *act, char *text, size_t size)
{
    switch (act->kind) {
    case ACT_ADMIT:
        return snprintf(text, size, "admit %" PRIu64 "; ", act->instance);
    case ACT_RETIRE:
        return snprintf(text, size, "retire %" PRIu64 "; ", act->instance);
    case ACT_FORGET:
        return snprintf(text, size, "forget %" PRIu64 "; ", act->instance);
    case ACT_PLACE:
        if (act->together > 0)
            return snprintf(text, size, "place %" PRIu64 " on %" PRIu64 ", one of %u; ", act->task,
                            act->instance, act->together);
        return snprintf(text, size, "place %" PRIu64 " on %" PRIu64 "; ", act->task, act->instance);
    case ACT_QUEUE:
        return snprintf(text, size, "queue %" PRIu64 "; ", act->task);
    case ACT_LIST_MACHINES:
        return snprintf(text, size, "list machines; ");
    case ACT_LIST_WORK:
        return snprintf(text, size, "list work; ");
    case ACT_CANCEL:
        return snprintf(text, size, "cancel %" PRIu64 "; ", act->task);
    case ACT_STOP:
        return snprintf(text, size, "stop %" PRIu64 "; ", act->task);
    case ACT_RENT:
        return snprintf(text, size, "rent %" PRIu64 " of %u; ", act->instance, act->offer);
    case ACT_GIVE_BACK:
        return snprintf(text, size, "give back %" PRIu64 "; ", act->instance);
    }
    return 0;
}

/* What was asked for since the last check, in this order: "stop 7; place 7 on 2; ". */
__attribute__((format(printf, 2, 3))) static inline void stage_acts(struct stage *stage,
                                                                    const char *format, ...)
{
    char want[STAGE_TEXT_SIZE];
    char got[STAGE_TEXT_SIZE] = "";
    size_t used = 0;
    va_list list;

    stage_let_leave(stage);
    va_start(list, format);
    (void)vsnprintf(want, sizeof(want), format, list);
    va_end(list);
    for (; stage->seen < stage->act_count; stage->seen++)
        used += (size_t)act_text(&stage->acts[stage->seen], got + used, sizeof(got) - used);
    assert_string_equal(got, want);
}

/* Nothing was asked for since the last check. */
static inline void stage_no_acts(struct stage *stage)
{
    stage_acts(stage, "%s", "");
}

/* A task alone, launched on a new machine of the offer: the id of that machine. */
static inline uint64_t stage_launch(struct stage *stage, uint64_t task, uint32_t offer)
{
    stage_decide(stage, (struct script){ .rents = { offer },
                                         .rent_count = 1,
                                         .places = { { .task = task } },
                                         .place_count = 1 });

    const uint64_t instance = stage_instance(stage, 0);

    stage_running(stage, instance);
    stage_ready(stage, instance);
    stage_started(stage, task);
    stage->seen = stage->act_count;
    return instance;
}

/* Move the task to a new machine of the offer: its id. */
static inline uint64_t stage_move(struct stage *stage, uint64_t task, uint32_t offer)
{
    stage_decide(stage, (struct script){ .rents = { offer },
                                         .rent_count = 1,
                                         .places = { { .task = task } },
                                         .place_count = 1 });
    return stage_instance(stage, 0);
}

/* Put the task onto a machine that there is. */
static inline void stage_put(struct stage *stage, uint64_t task, uint64_t instance)
{
    stage_decide(stage, (struct script){ .places = { { .task = task, .instance = instance } },
                                         .place_count = 1 });
}

static inline void stage_release(struct stage *stage, uint64_t instance)
{
    stage_decide(stage, (struct script){ .releases = { instance }, .release_count = 1 });
}

#endif
