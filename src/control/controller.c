/* SPDX-License-Identifier: Apache-2.0 */
#include "control/controller.h"

#include <assert.h>

#include "base/limits.h"
#include "base/mem.h"
#include "control/state/controller_state.h"
#include "decide/bonds.h"
#include "decide/reservation.h"

static msec_t next_price_change(const struct catalogue *catalogue, msec_t now)
{
    msec_t next = MSEC_NEVER;

    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const msec_t change = price_next_change(&catalogue->offers[i].price, now);

        if (change < next)
            next = change;
    }
    return next;
}

struct controller *controller_create(const struct controller_config *config)
{
    struct controller *controller = mem_alloc(1, sizeof(*controller));

    controller->config = *config;
    view_init(&controller->view, config->catalogue, config->shapes);
    controller->view.round_ms = config->round_ms;
    colocation_init(&controller->knowledge.colocation, config->default_rate);
    runtimes_init(&controller->knowledge.runtimes, config->default_estimate_ms,
                  config->estimates == ESTIMATES_LEARNED ? LIMIT_RUNTIME_GROUPS
                                                         : RUNTIMES_GROUPS_MIN);
    controller->knowledge.profile = config->profile;
    controller->memory = policy_memory_create(config->policy);
    controller->ledger = ledger_create();
    arena_init(&controller->arena);
    map_init(&controller->ended_jobs);
    map_init(&controller->ended_before);
    map_init(&controller->asked);
    map_init(&controller->gone);
    map_init(&controller->gone_before);
    controller->cloud_list.waiting_since = -1;
    controller->engine_list.waiting_since = -1;
    controller->next_key = config->first_key > 0 ? config->first_key : 1;
    controller->next_unblock = MSEC_NEVER;
    controller->next_wake = MSEC_NEVER;
    controller->next_retry = MSEC_NEVER;
    controller->queue_first = ROW_NONE;
    controller->next_boot_timeout = MSEC_NEVER;
    controller->proven_at = -1;
    controller->next_proof = MSEC_NEVER;
    controller->brake = config->brake;
    controller->boots = mem_alloc(config->catalogue->offer_count, sizeof(*controller->boots));
    controller->next_price = next_price_change(config->catalogue, 0);
    for (uint32_t i = 0; i < config->catalogue->offer_count; i++) {
        if (config->catalogue->offers[i].is_former)
            controller->view.offer_blocked_until[i] = MSEC_NEVER;
    }
    return controller;
}

void controller_destroy(struct controller *controller)
{
    if (controller == NULL)
        return;
    policy_memory_destroy(controller->config.policy, controller->memory);
    view_done(&controller->view);
    colocation_done(&controller->knowledge.colocation);
    runtimes_done(&controller->knowledge.runtimes);
    ledger_destroy(controller->ledger);
    arena_done(&controller->arena);
    map_done(&controller->ended_jobs);
    map_done(&controller->ended_before);
    map_done(&controller->asked);
    map_done(&controller->gone);
    map_done(&controller->gone_before);
    mem_free(controller->steps);
    mem_free(controller->present);
    mem_free(controller->task_notes);
    mem_free(controller->instance_notes);
    mem_free(controller->lessons);
    mem_free(controller->boots);
    mem_free(controller);
}

void controller_grow(struct controller *controller)
{
    const uint32_t tasks = controller->steps_room;
    const uint32_t instances = controller->present_room;

    MEM_ROOM(controller->steps, controller->steps_room, controller->view.task.count);
    for (uint32_t i = tasks; i < controller->steps_room; i++)
        controller->steps[i] = (struct task_step){ .at = ROW_NONE };
    MEM_ROOM(controller->lessons, controller->lessons_room, controller->view.job.count);
    MEM_ROOM(controller->present, controller->present_room, controller->view.instance.count);
    for (uint32_t i = instances; i < controller->present_room; i++)
        controller->present[i] = ROW_NONE;
    MEM_ROOM(controller->task_notes, controller->task_notes_room, controller->view.task.count);
    MEM_ROOM(controller->instance_notes, controller->instance_notes_room,
             controller->view.instance.count);
}

void controller_tune(struct controller *controller, const struct controller_config *config)
{
    struct controller_config *mine = &controller->config;

    mine->policy = config->policy;
    for (uint32_t i = 0; i < POLICY_OPTIONS_MAX; i++)
        mine->option[i] = config->option[i];
    mine->refused_block_ms = config->refused_block_ms;
    mine->max_instances = config->max_instances;
    mine->max_price_per_hour = config->max_price_per_hour;
    mine->rent_nothing = config->rent_nothing;
    mine->queue_ahead_ms = config->queue_ahead_ms;
    mine->queue_ahead_most = config->queue_ahead_most;
    mine->boot_timeout_ms = config->boot_timeout_ms;
    mine->starts_slowly = config->starts_slowly;
    mine->place_retry_ms = config->place_retry_ms;
    controller->wants_decision = true;
}

void controller_prices_changed(struct controller *controller)
{
    controller->next_price = 0;
    controller->wants_decision = true;
}

/* ROW_NONE: it is not known, or there already. */
static uint32_t find_requested(const struct view *view, uint64_t instance)
{
    const uint32_t row = view_find_instance(view, instance);

    return row != ROW_NONE && view->instance.state[row] == INSTANCE_REQUESTED ? row : ROW_NONE;
}

void controller_rent_waits(struct controller *controller, uint64_t instance, msec_t now)
{
    struct view *view = &controller->view;
    const uint32_t row = find_requested(view, instance);

    now = controller_advance(controller, now);
    if (row == ROW_NONE)
        return;

    const struct machine_type *type = catalogue_type_of(view->catalogue, view->instance.offer[row]);

    view_set_ready_expected(view, row, now + machine_type_acquire_ms(type, 1) + type->setup_ms);
}

void controller_rent_withdrawn(struct controller *controller, uint64_t instance, msec_t now)
{
    const uint32_t row = find_requested(&controller->view, instance);

    now = controller_advance(controller, now);
    if (row != ROW_NONE)
        controller_never(controller, row, now);
}

uint64_t controller_key(struct controller *controller)
{
    return controller->next_key++;
}

void controller_refresh_offers(struct controller *controller, msec_t now)
{
    struct view *view = &controller->view;

    if (now < controller->next_price && now < controller->next_unblock)
        return;
    controller->next_unblock = MSEC_NEVER;
    for (uint32_t i = 0; i < view->catalogue->offer_count; i++) {
        view->offer_price[i] = price_at(&view->catalogue->offers[i].price, now);
        if (view->offer_blocked_until[i] > now &&
            view->offer_blocked_until[i] < controller->next_unblock)
            controller->next_unblock = view->offer_blocked_until[i];
    }
    controller->next_price = next_price_change(view->catalogue, now);
    reservation_forget(view);
}

void controller_decide(struct controller *controller, msec_t now)
{
    struct plan plan;
    struct turns turns;

    now = controller_advance(controller, now);
    controller->wants_decision = false;
    controller_check_boots(controller);
    controller_refresh_offers(controller, now);
    reservation_update(&controller->view);
    bonds_update(&controller->view);
    if (controller->config.policy->learns_colocation)
        controller_observe(controller);

    arena_reset(&controller->arena);
    controller_plan(controller, &plan, &turns);
    controller->stats.decisions++;
    if (plan.kind != PLAN_PLAIN)
        controller->stats.weighed++;
    if (plan.kind == PLAN_FULL) {
        controller->stats.fulls++;
        tempo_full(&controller->knowledge.tempo);
    }
    controller_trim(controller, &plan, &turns);
    if (controller->config.on_plan != NULL)
        controller->config.on_plan(controller->config.context, &controller->view, &plan);
    controller_apply(controller, &plan);
    controller_queue_ahead(controller, turns.first);
    controller_watch_boots(controller);
}

bool controller_wants_decision(const struct controller *controller)
{
    return controller->wants_decision;
}

msec_t controller_next_wake(const struct controller *controller)
{
    msec_t wake = controller->next_wake;

    if (controller->view.task.living > 0 && controller->next_unblock < wake)
        wake = controller->next_unblock;
    if (controller->view.task.living > 0 && controller->next_price < wake)
        wake = controller->next_price;
    if (controller->view.task.living > 0 && controller->next_proof < wake)
        wake = controller->next_proof;
    if (controller->next_retry < wake)
        wake = controller->next_retry;
    if (controller->next_boot_timeout < wake)
        wake = controller->next_boot_timeout;
    return wake;
}

uint64_t controller_next_key(const struct controller *controller)
{
    return controller->next_key;
}

bool controller_take_changed_account(struct controller *controller, uint64_t *ret_instance,
                                     struct ledger_account *ret)
{
    uint32_t row = ledger_take_changed_account(controller->ledger);

    while (row != LEDGER_NONE && !ledger_account(controller->ledger, row, ret))
        row = ledger_take_changed_account(controller->ledger);
    if (row == LEDGER_NONE)
        return false;
    *ret_instance = controller->view.instance.id[row];
    return true;
}

bool controller_take_changed_due(struct controller *controller, uint64_t *ret_task,
                                 struct ledger_due *ret)
{
    const struct task_table *table = &controller->view.task;
    uint32_t row = ledger_take_changed_due(controller->ledger);

    while (row != LEDGER_NONE && table->state[row] == TASK_FREE)
        row = ledger_take_changed_due(controller->ledger);
    if (row == LEDGER_NONE)
        return false;
    *ret_task = table->id[row];
    *ret = ledger_due(controller->ledger, row);
    return true;
}

uint32_t controller_queued(const struct controller *controller)
{
    return controller->queued;
}

void controller_teach(struct controller *controller, const struct runtime_traits *traits,
                      msec_t runtime_ms)
{
    runtimes_learn(&controller->knowledge.runtimes, traits, runtime_ms, RUNTIME_SEEN_ALL);
}

bool controller_is_idle(const struct controller *controller)
{
    return controller->view.task.living == 0 && controller->view.instance.living == 0;
}

const struct view *controller_view(const struct controller *controller)
{
    return &controller->view;
}

const struct ledger *controller_ledger(const struct controller *controller)
{
    return controller->ledger;
}

const struct knowledge *controller_knowledge(const struct controller *controller)
{
    return &controller->knowledge;
}

const struct controller_stats *controller_stats(const struct controller *controller)
{
    return &controller->stats;
}

/*
 * Observation: at every decision, each instance all of whose tasks run and report tells how fast
 * each of them is beside the others. A gang tells one thing only: see colocation_straggler.
 */

static bool all_report(const struct view *view, uint32_t instance)
{
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->task.rate_ppm[task] == RATE_NONE)
            return false;
    }
    return true;
}

static uint64_t set_hash(const struct view *view, uint32_t instance)
{
    uint64_t hash = 0;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        hash += colocation_token(view->task.shape[task]);
    }
    return hash;
}

static double rate_of(const struct view *view, uint32_t task)
{
    const double rate = (double)view->task.rate_ppm[task] / RATE_FULL_PPM;

    return rate < 1.0 ? rate : 1.0;
}

/* One entry for the gang that 'first' is the first task of, if all its tasks report. */
static void observe_gang(struct controller *controller, uint32_t job)
{
    const struct view *view = &controller->view;
    struct colocation_member *members =
        ARENA_ARRAY(&controller->arena, struct colocation_member, view->job.tasks_left[job]);
    uint32_t count = 0;
    double slowest = 1.0;

    for (uint32_t task = view->job.first_task[job]; task != ROW_NONE;
         task = view->task.sibling[task]) {
        const uint32_t instance = view->task.instance[task];

        if (instance == ROW_NONE || view->task.rate_ppm[task] == RATE_NONE ||
            !all_report(view, instance))
            return;
        if (rate_of(view, task) < slowest)
            slowest = rate_of(view, task);
        members[count++] = (struct colocation_member){
            .shape = view->task.shape[task],
            .neighbour_count = view->instance.task_count[instance] - 1,
            .neighbours = set_hash(view, instance) - colocation_token(view->task.shape[task]),
        };
    }

    const uint32_t who =
        colocation_straggler(&controller->knowledge.colocation, members, count, slowest);

    if (members[who].neighbour_count > 0)
        colocation_observe(&controller->knowledge.colocation, members[who].shape,
                           members[who].neighbours, slowest);
}

static bool shares_pace(const struct view *view, uint32_t task)
{
    const uint32_t job = view->task.job[task];

    return view->job.gang[job] && view->job.task_count[job] > 1;
}

void controller_observe(struct controller *controller)
{
    const struct view *view = &controller->view;
    bool *gang_seen = ARENA_ARRAY(&controller->arena, bool, view->job.count);

    INSTANCE_EACH(instance, view)
    {
        if (view->instance.task_count[instance] < 2 || !all_report(view, instance))
            continue;

        const uint64_t hash = set_hash(view, instance);

        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            const uint32_t shape = view->task.shape[task];

            if (!shares_pace(view, task)) {
                colocation_observe(&controller->knowledge.colocation, shape,
                                   hash - colocation_token(shape), rate_of(view, task));
            } else if (!gang_seen[view->task.job[task]]) {
                gang_seen[view->task.job[task]] = true;
                observe_gang(controller, view->task.job[task]);
            }
        }
    }
}
