/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes up from time to time: rates that drift, audits, and controllers that take over from each other. A new one is
 * given the next key, as the journal would, which bills are in the books, and how far those of others are; the rest it
 * must find out.
 */
#include "base/mem.h"
#include "sim/world.h"

static void on_plan(void *context, const struct view *view, const struct plan *plan)
{
    const struct world *world = context;

    if (world->config->on_plan != NULL)
        world->config->on_plan(world->config->context, view, plan);
}

static void on_settled(void *context, const struct view *view, uint32_t task, struct ledger_due due)
{
    struct world *world = context;

    world->settled += due.cost;
    world->owed[view->task.id[task]] = (struct ledger_due){ 0 };
    if (world->config->on_settled != NULL)
        world->config->on_settled(world->config->context, view, task, due);
}

static void on_bill(void *context, const struct view *view, uint32_t instance,
                    const struct ledger_bill *bill)
{
    struct world *world = context;

    world->books.bill += bill->sums.bill;
    world->books.boot += bill->sums.boot;
    world->books.idle += bill->sums.idle;
    world->books.work += bill->sums.work;
    id_set_add(&world->booked, view->instance.id[instance]);
    (void)map_remove(&world->kept_by_id, view->instance.id[instance]);
}

static bool resume_account(void *context, uint64_t instance, struct ledger_account *ret)
{
    const struct world *world = context;
    const uint32_t row = map_get(&world->kept_by_id, instance);

    if (row != MAP_NONE)
        *ret = world->kept[row];
    return row != MAP_NONE;
}

static bool resume_due(void *context, uint64_t task, struct ledger_due *ret)
{
    const struct world *world = context;

    *ret = world->owed[task];
    return ret->cost != 0 || ret->occupied_ms != 0;
}

static void keep_risk(struct world *world, uint32_t offer, const struct interruption_memory *memory)
{
    MEM_ROOM(world->risks, world->risk_room, offer + 1);
    for (; world->risk_count <= offer; world->risk_count++)
        world->risks[world->risk_count] = (struct interruption_memory){ .at = -1 };
    world->risks[offer] = *memory;
}

/* What a daemon would write down before it ends. */
static void keep_books(struct world *world)
{
    struct ledger_account account;
    struct ledger_due due;
    struct interruption_memory memory;
    uint32_t offer;
    uint64_t id;

    while (controller_take_changed_account(world->controller, &id, &account)) {
        uint32_t row = map_get(&world->kept_by_id, id);

        if (row == MAP_NONE) {
            row = world->kept_count++;
            MEM_ROOM(world->kept, world->kept_room, world->kept_count);
            map_put(&world->kept_by_id, id, row);
        }
        world->kept[row] = account;
    }
    while (controller_take_changed_due(world->controller, &id, &due))
        world->owed[id] = due;
    while (controller_take_changed_risk(world->controller, &offer, &memory))
        keep_risk(world, offer, &memory);
    world->notice_saved += controller_stats(world->controller)->notice_saved;
    world->notice_lost += controller_stats(world->controller)->notice_lost;
}

static bool is_settled(void *context, uint64_t instance)
{
    const struct world *world = context;

    return id_set_has(&world->booked, instance);
}

void sim_restart_init(struct world *world)
{
    struct controller_config *control = &world->control;

    id_set_init(&world->booked);
    map_init(&world->kept_by_id);
    world->change_at =
        world->config->change_catalogue != NULL ? world->config->change_ms : MSEC_NEVER;
    world->owed = mem_alloc(world->task_count, sizeof(*world->owed));
    rng_init(&world->rng_restarts, world->config->seed, 4);
    control->on_plan = on_plan;
    control->on_settled = on_settled;
    control->on_bill = on_bill;
    control->is_settled = is_settled;
    control->resume_account = resume_account;
    control->resume_due = resume_due;
    control->context = world;
    world->controller = controller_create(control);
    sim_owned_tell(world);
    if (world->config->control.audit_ms > 0)
        controller_audit(world->controller, 0);
}

void sim_restart_done(struct world *world)
{
    id_set_done(&world->booked);
    map_done(&world->kept_by_id);
    mem_free(world->kept);
    mem_free(world->risks);
    mem_free(world->owed);
    mem_free(world->bills);
    mem_free(world->queue);
}

static void take_over(struct world *world)
{
    world->control.first_key = controller_next_key(world->controller);
    world->first_key = world->control.first_key;
    world->restarts++;
    keep_books(world);
    controller_destroy(world->controller);
    world->controller = controller_create(&world->control);
    sim_owned_tell(world);
    for (uint32_t offer = 0; offer < world->risk_count; offer++)
        (void)controller_resume_risk(world->controller, offer, &world->risks[offer]);
    controller_resume_notices(world->controller, world->notice_saved, world->notice_lost);
    controller_audit(world->controller, world->now);
}

static void arm_restart(struct world *world)
{
    const msec_t mean = world->config->faults.restart_mean_ms;

    if (mean == 0 || world->restart_is_due)
        return;
    world->restart_is_due = true;
    world->chores++;
    world_at(world, world->now + 1 + (msec_t)rng_exponential(&world->rng_restarts, (double)mean),
             WORLD_RESTART, 0, 0);
}

static void arm_audit(struct world *world)
{
    if (world->config->control.audit_ms == 0 || world->audit_is_due)
        return;
    world->audit_is_due = true;
    world->chores++;
    world_at(world, world->now + world->config->control.audit_ms, WORLD_AUDIT, 0, 0);
}

static void arm_change(struct world *world)
{
    if (world->change_at == MSEC_NEVER || world->change_is_due)
        return;
    world->change_is_due = true;
    world->chores++;
    world_at(world, world->change_at > world->now ? world->change_at : world->now,
             WORLD_CATALOGUE_CHANGES, 0, 0);
}

static void arm_drift(struct world *world)
{
    const struct contention *contention = world->config->contention;

    if (contention == NULL || contention->drift.span_ms == 0 || world->drift_is_due)
        return;
    world->drift_is_due = true;
    world->chores++;
    world_at(world, msec_round_up(world->now + 1, CONTENTION_STEP_MS), WORLD_RATES_DRIFT, 0, 0);
}

void sim_restart_arm(struct world *world)
{
    arm_restart(world);
    arm_audit(world);
    arm_change(world);
    arm_drift(world);
}

void sim_restart_disarm(struct world *world)
{
    world->chores = 0;
    world->audit_is_due = false;
    world->restart_is_due = false;
    world->change_is_due = false;
    world->drift_is_due = false;
}

void sim_restart_event(struct world *world, const struct timeline_event *event)
{
    world->chores--;
    if (event->kind == WORLD_RESTART) {
        world->restart_is_due = false;
        take_over(world);
        arm_restart(world);
    } else if (event->kind == WORLD_CATALOGUE_CHANGES) {
        world->change_is_due = false;
        world->change_at = world->config->change_catalogue(world->config->context, world->now);
        controller_catalogue_changed(world->controller);
        arm_change(world);
    } else if (event->kind == WORLD_RATES_DRIFT) {
        world->drift_is_due = false;
        sim_pace_drift(world);
        arm_drift(world);
    } else {
        world->audit_is_due = false;
        controller_audit(world->controller, world->now);
        arm_audit(world);
    }
}
