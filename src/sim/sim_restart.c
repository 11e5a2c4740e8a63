/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Audits, and controllers that take over from each other. A new one is told the next key, as the
 * journal would, and which bills are in the books; the rest it must find out.
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
    const struct world *world = context;

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
    map_put(&world->booked, view->instance.id[instance], 0);
}

static bool is_settled(void *context, uint64_t instance)
{
    const struct world *world = context;

    return map_get(&world->booked, instance) != MAP_NONE;
}

void sim_restart_init(struct world *world)
{
    struct controller_config *control = &world->control;

    map_init(&world->booked);
    rng_init(&world->rng_restarts, world->config->seed, 4);
    control->on_plan = on_plan;
    control->on_settled = on_settled;
    control->on_bill = on_bill;
    control->is_settled = is_settled;
    control->context = world;
    world->controller = controller_create(control);
    if (world->config->control.audit_ms > 0)
        controller_audit(world->controller, 0);
}

void sim_restart_done(struct world *world)
{
    map_done(&world->booked);
    mem_free(world->bills);
    mem_free(world->queue);
}

static void take_over(struct world *world)
{
    world->control.first_key = controller_next_key(world->controller);
    world->first_key = world->control.first_key;
    world->restarts++;
    controller_destroy(world->controller);
    world->controller = controller_create(&world->control);
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

void sim_restart_arm(struct world *world)
{
    arm_restart(world);
    arm_audit(world);
}

void sim_restart_disarm(struct world *world)
{
    world->chores = 0;
    world->audit_is_due = false;
    world->restart_is_due = false;
}

void sim_restart_event(struct world *world, const struct timeline_event *event)
{
    world->chores--;
    if (event->kind == WORLD_RESTART) {
        world->restart_is_due = false;
        take_over(world);
        arm_restart(world);
    } else {
        world->audit_is_due = false;
        controller_audit(world->controller, world->now);
        arm_audit(world);
    }
}
