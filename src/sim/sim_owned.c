/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that are owned: they take work from the beginning, are never lost, and cost what their offer says until the
 * run has ended, whatever runs there. The cloud does not know them; each controller is notified of them as its daemon would
 * tell it, from the configuration.
 */
#include "sim/world.h"

void sim_owned_begin(struct world *world)
{
    const struct sim_config *config = world->config;
    uint64_t id = OWNED_ID_FIRST;

    for (uint32_t i = 0; i < config->owned_count; i++) {
        for (uint32_t k = 0; k < config->owned[i].count; k++, id++) {
            const uint32_t row = sim_cloud_add(world, id, config->owned[i].offer);

            world->machines[row].billed_from = world->now;
            world->machines[row].state = MACHINE_READY;
        }
    }
}

/* The machine of the id, or NULL behind the last one. */
static const struct world_machine *machine_of(const struct world *world, uint64_t id)
{
    const uint32_t row = map_get(&world->machine_by_id, id);

    return row != MAP_NONE ? &world->machines[row] : NULL;
}

/* Where there are audits, a list says that they take work. */
void sim_owned_tell(struct world *world)
{
    const bool has_audits = world->config->control.audit_ms > 0;
    const struct world_machine *machine;

    for (uint64_t id = OWNED_ID_FIRST; (machine = machine_of(world, id)) != NULL; id++) {
        const struct engine_event ready = { .kind = ENGINE_NODE_READY,
                                            .at = world->now,
                                            .instance = id };

        controller_own(world->controller, id, machine->offer, machine->billed_from, has_audits);
        if (!has_audits)
            controller_on_engine(world->controller, &ready);
    }
}

void sim_owned_end(struct world *world)
{
    const struct world_machine *machine;

    for (uint64_t id = OWNED_ID_FIRST; (machine = machine_of(world, id)) != NULL; id++) {
        const struct offer *offer = &world->config->catalogue->offers[machine->offer];
        const money_t charge =
            billing_charge(&offer->billing, &offer->price, machine->billed_from, world->now);

        world->billed += charge;
        world->kept_cost += charge;
        world->time_cost += charge;
        world->owned_cost += charge;
        controller_disown(world->controller, id, world->now);
    }
}
