/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The simulated cloud. A machine is asked for, runs (and is billed) after its type's acquire time,
 * takes work after its setup time, and is billed until release time after it was returned.
 */
#include <assert.h>
#include <math.h>

#include "base/mem.h"
#include "sim/world.h"

static const struct machine_type *type_of(const struct world *world, uint32_t offer)
{
    return catalogue_type_of(world->config->catalogue, offer);
}

static uint32_t machine_row(struct world *world)
{
    if (world->machine_free != WORLD_NONE) {
        const uint32_t row = world->machine_free;

        world->machine_free = world->machines[row].next_free;
        return row;
    }
    MEM_ROOM(world->machines, world->machines_room, world->machine_count + 1);
    world->machines[world->machine_count] = (struct world_machine){ 0 };
    return world->machine_count++;
}

uint32_t sim_cloud_add(struct world *world, uint64_t id, uint32_t offer)
{
    const uint32_t row = machine_row(world);
    struct world_machine *machine = &world->machines[row];
    uint32_t *built = machine->built; /* its memory is used again */
    const uint32_t room = machine->built_room;

    *machine = (struct world_machine){
        .id = id,
        .offer = offer,
        .epoch = machine->epoch + 1,
        .first = WORLD_NONE,
        .last = WORLD_NONE,
        .built = built,
        .built_room = room,
        .billed_from = -1,
        .state = MACHINE_ASKED,
    };
    map_put(&world->machine_by_id, id, row);
    return row;
}

static void rent_one(struct world *world, uint64_t id, uint32_t offer, msec_t boot)
{
    const struct sim_faults *faults = &world->config->faults;

    if (rng_chance_ppm(&world->rng_cloud, faults->refuse_ppm) ||
        !sim_losses_is_offered(&faults->market, world->config->catalogue, offer, world->now)) {
        timeline_add(&world->timeline, (struct timeline_event){ .at = world->now + boot,
                                                                .kind = WORLD_RENT_REFUSED,
                                                                .id = id });
        return;
    }
    if (rng_chance_ppm(&world->rng_cloud, faults->slow_ppm))
        boot *= faults->slow_factor;

    const uint32_t row = sim_cloud_add(world, id, offer);

    world->machines_living++;
    world_at(world, world->now + boot, WORLD_MACHINE_RUNS, row, world->machines[row].epoch);
}

static void rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    struct world *world = self;
    const msec_t boot = machine_type_acquire_ms(type_of(world, offer), count);

    for (uint32_t i = 0; i < count; i++)
        rent_one(world, first + i, offer, boot);
}

/* After how long machines of the offer are lost on average; MSEC_NEVER: they are not. */
static msec_t loss_mean(const struct world *world, uint32_t offer)
{
    const struct sim_faults *faults = &world->config->faults;
    const msec_t mean = interruption_mean_ms(world->config->catalogue->offers[offer].interruption);

    if (faults->lose_by_band && mean != MSEC_NEVER)
        return mean;
    if (faults->lose_one_market &&
        world->config->catalogue->offers[offer].market != faults->lose_market)
        return MSEC_NEVER;
    return faults->lose_mean_ms > 0 ? faults->lose_mean_ms : MSEC_NEVER;
}

/* By chance: what is announced is announced before. */
static void expect_chance(struct world *world, uint32_t row)
{
    const struct sim_faults *faults = &world->config->faults;
    const uint32_t offer = world->machines[row].offer;
    const msec_t lost = sim_losses_by_chance(&faults->market, offer, world->now,
                                             loss_mean(world, offer), &world->rng_cloud);

    if (lost == MSEC_NEVER)
        return;

    const msec_t at = msec_round_up(lost, world->config->tick_ms);
    const bool warned = rng_chance_ppm(&world->rng_cloud, faults->notice_ppm);

    world_at(world, at, WORLD_MACHINE_LOST, row, world->machines[row].epoch);
    if (warned && at - faults->notice_ms > world->now)
        world_at(world, at - faults->notice_ms, WORLD_MACHINE_WARNED, row,
                 world->machines[row].epoch);
}

/* By the market: what is announced is announced then, and lost so much later. */
static void expect_market(struct world *world, uint32_t row)
{
    const struct sim_faults *faults = &world->config->faults;
    const uint32_t epoch = world->machines[row].epoch;
    const msec_t taken =
        sim_losses_by_market(&faults->market, world->config->catalogue, world->machines[row].offer,
                             world->now, &world->rng_cloud);

    if (taken == MSEC_NEVER)
        return;

    const msec_t at = msec_round_up(taken + 1, world->config->tick_ms);
    const bool warned = rng_chance_ppm(&world->rng_cloud, faults->notice_ppm);

    if (warned)
        world_at(world, at, WORLD_MACHINE_WARNED, row, epoch);
    world_at(world, warned ? msec_round_up(at + faults->notice_ms, world->config->tick_ms) : at,
             WORLD_MACHINE_LOST, row, epoch);
}

static void expect_risk(struct world *world, uint32_t row)
{
    const msec_t mean = world->config->faults.risk_mean_ms;

    if (mean == 0)
        return;

    const double after = rng_exponential(&world->rng_cloud, (double)mean);

    world_at(world, msec_round_up(world->now + (msec_t)after + 1, world->config->tick_ms),
             WORLD_MACHINE_AT_RISK, row, world->machines[row].epoch);
}

static void tell(struct world *world, enum cloud_event_kind kind, uint64_t id, msec_t billed_from,
                 msec_t billed_to)
{
    const struct cloud_event event = {
        .offer = OFFER_NONE,
        .kind = kind,
        .at = world->now,
        .instance = id,
        .billed_from = billed_from,
        .billed_to = billed_to,
    };

    sim_news_cloud(world, &event);
}

/* It is to be taken away, or may be. */
static void warn(struct world *world, uint64_t id, bool may_stay, msec_t until)
{
    sim_news_cloud(world, &(struct cloud_event){ .offer = OFFER_NONE,
                                                 .kind = CLOUD_NOTICE,
                                                 .at = world->now,
                                                 .instance = id,
                                                 .may_stay = may_stay,
                                                 .until = until });
}

static void runs(struct world *world, uint32_t row)
{
    struct world_machine *machine = &world->machines[row];

    machine->billed_from = world->now;
    if (machine->state == MACHINE_ASKED)
        machine->state = MACHINE_BOOTING;
    expect_chance(world, row);
    expect_market(world, row);
    expect_risk(world, row);
    tell(world, CLOUD_RUNNING, machine->id, world->now, 0);
}

static void book(struct world *world, const struct offer *offer, msec_t from, bool is_lost)
{
    static const struct billing_rule by_time = { .step_ms = 1 };
    const money_t charge = billing_charge(&offer->billing, &offer->price, from, world->now);

    world->billed += charge;
    if (is_lost)
        return;
    world->kept_cost += charge;
    world->time_cost += billing_charge(&by_time, &offer->price, from, world->now);
}

/* The machine is no more: returned or lost. */
static void ends(struct world *world, uint32_t row, bool is_lost)
{
    struct world_machine *machine = &world->machines[row];
    const struct offer *offer = &world->config->catalogue->offers[machine->offer];
    const uint64_t id = machine->id;
    const msec_t billed_from = machine->billed_from;

    if (billed_from >= 0)
        book(world, offer, billed_from, is_lost);
    if (billed_from >= 0 && world->config->on_billed != NULL)
        world->config->on_billed(world->config->context, machine->offer, billed_from, world->now);
    if (world->config->control.audit_ms > 0) {
        MEM_ROOM(world->bills, world->bills_room, world->bill_count + 1);
        world->bills[world->bill_count++] = (struct world_bill){
            .id = id, .offer = machine->offer, .from = billed_from, .to = world->now
        };
    }
    (void)map_remove(&world->machine_by_id, id);
    machine->state = MACHINE_FREE;
    machine->epoch++;
    machine->next_free = world->machine_free;
    world->machine_free = row;
    world->machines_living--;
    tell(world, CLOUD_GONE, id, billed_from, world->now);
}

static void give_back(void *self, uint64_t id)
{
    struct world *world = self;
    const uint32_t row = map_get(&world->machine_by_id, id);

    if (row == MAP_NONE && world->config->control.audit_ms > 0)
        timeline_add(
            &world->timeline,
            (struct timeline_event){ .at = world->now, .kind = WORLD_MACHINE_ABSENT, .id = id });
    if (row == MAP_NONE || world->machines[row].state == MACHINE_ENDING)
        return; /* the news that it is gone is on its way */

    struct world_machine *machine = &world->machines[row];

    machine->state = MACHINE_ENDING;
    if (machine->billed_from < 0)
        machine->epoch++; /* it will never run */
    world_at(world, world->now + type_of(world, machine->offer)->release_ms, WORLD_MACHINE_ENDS,
             row, machine->epoch);
}

/* It was returned and is not there: it ended, or there was none. */
static void is_absent(struct world *world, uint64_t id)
{
    for (uint32_t i = 0; i < world->bill_count; i++) {
        if (world->bills[i].id == id) {
            tell(world, CLOUD_GONE, id, world->bills[i].from, world->bills[i].to);
            return;
        }
    }
    tell(world, CLOUD_GONE, id, -1, 0);
}

/* It is said that it may be taken, and it may well be. */
static void is_at_risk(struct world *world, uint32_t row)
{
    const struct sim_faults *faults = &world->config->faults;

    if (faults->risk_lasts_ms > 0) {
        const double after = rng_exponential(&world->rng_cloud, (double)faults->risk_lasts_ms);

        world_at(world, msec_round_up(world->now + (msec_t)after + 1, world->config->tick_ms),
                 WORLD_MACHINE_LOST, row, world->machines[row].epoch);
    }
    if (!faults->risk_is_silent)
        warn(world, world->machines[row].id, true, 0);
}

void sim_cloud_event(struct world *world, const struct timeline_event *event)
{
    if (event->kind == WORLD_MACHINE_ABSENT) {
        is_absent(world, event->id);
        return;
    }
    if (event->kind == WORLD_RENT_REFUSED) {
        tell(world, CLOUD_REFUSED, event->id, -1, 0);
        return;
    }
    if (world->machines[event->who].epoch != event->epoch)
        return;
    if (event->kind == WORLD_MACHINE_RUNS) {
        runs(world, event->who);
    } else if (event->kind == WORLD_MACHINE_AT_RISK) {
        is_at_risk(world, event->who);
    } else if (event->kind == WORLD_MACHINE_WARNED) {
        world->machines[event->who].is_warned = true;
        warn(world, world->machines[event->who].id, false,
             world->now + world->config->faults.notice_ms);
    } else if (event->kind == WORLD_MACHINE_LOST) {
        sim_engine_machine_lost(world, event->who);
        ends(world, event->who, true);
    } else {
        assert(event->kind == WORLD_MACHINE_ENDS);
        sim_engine_machine_lost(world, event->who); /* what a new controller does not know of */
        ends(world, event->who, false);
    }
}

static void list(void *self, uint64_t key)
{
    struct world *world = self;

    timeline_add(
        &world->timeline,
        (struct timeline_event){ .at = world->now, .kind = WORLD_MACHINES_LISTED, .id = key });
}

/* All of it at one moment: what is reported is how it is. */
void sim_cloud_list(struct world *world, uint64_t key)
{
    struct cloud_event event = { .kind = CLOUD_FOUND, .at = world->now };

    for (uint32_t row = 0; row < world->machine_count; row++) {
        const struct world_machine *machine = &world->machines[row];

        if (machine->state == MACHINE_FREE ||
            world->config->catalogue->offers[machine->offer].is_owned)
            continue;
        event.instance = machine->id;
        event.offer = machine->offer;
        event.billed_from = machine->billed_from;
        controller_on_cloud(world->controller, &event);
    }
    event.kind = CLOUD_GONE;
    for (uint32_t i = 0; i < world->bill_count; i++) {
        event.instance = world->bills[i].id;
        event.offer = world->bills[i].offer;
        event.billed_from = world->bills[i].from;
        event.billed_to = world->bills[i].to;
        controller_on_cloud(world->controller, &event);
    }
    event = (struct cloud_event){ .kind = CLOUD_LISTED, .at = world->now, .key = key };
    controller_on_cloud(world->controller, &event);
}

const struct cloud_ops sim_cloud_ops = { .rent = rent, .give_back = give_back, .list = list };
