/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes that the engine has anyway: their offers in the catalogue, and the controller is notified of each. In mode shadow they
 * are part of the virtual world.
 */
#include "base/mem.h"
#include "daemon/daemon_private.h"
#include "daemon/log.h"
#include "trace/owned_doc.h"

static struct engine_owned owned_of(const struct daemon *daemon)
{
    const struct conf_engine *engine = &daemon->conf.engine;

    if (engine->kind->owned == NULL)
        return (struct engine_owned){ 0 };
    return engine->kind->owned(engine->settings);
}

/* Kinds stand in the order of their nodes, so the last node has the last one that is in use. */
int daemon_own_offers(struct daemon *daemon, struct error *reterr)
{
    const struct engine_owned owned = owned_of(daemon);
    const uint32_t kinds = owned.count > 0 ? owned.kind_of[owned.count - 1] + 1 : 0;
    int rc = 0;

    daemon->owned_offers = ARENA_ARRAY(&daemon->conf.arena, uint32_t, kinds);
    for (uint32_t i = 0; rc == 0 && i < kinds; i++)
        rc = owned_entry_add(&owned.kinds[i], &daemon->catalogue, &daemon->owned_offers[i], reterr);
    return rc;
}

void daemon_own_machines(struct daemon *daemon)
{
    const struct engine_owned owned = owned_of(daemon);

    for (uint32_t i = 0; i < owned.count; i++) {
        const uint32_t offer = daemon->owned_offers[owned.kind_of[i]];

        sense_know(daemon->sense, OWNED_ID_FIRST + i, offer);
        controller_own(daemon->controller, OWNED_ID_FIRST + i, offer, daemon->now, true);
    }
    if (owned.count > 0)
        LOG_INFO("owned nodes are used first count=%u", owned.count);
    daemon->world.owned_nodes = owned.names;
    daemon->world.owned_count = owned.count;
}
