/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_zones.c - pods that are spread over zones: which zone a pod at the gate is for.
 *
 * The zone with the fewest pods of the group, of those where a machine of the catalogue can hold the pod, so that no zone has
 * more than one pod more than another by what was decided here. From then on the zone is part of what the pod asks of its machine.
 * A pod that is on its way out of its machine does not count.
 */
#include "engine/kubernetes/kube_engine_private.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "model/offer_set.h"

enum { NEEDS_TEXT = 2048 };

/* Zones of the catalogue, in its order. */
static void learn_zones(struct kube_engine *engine)
{
    const struct catalogue *catalogue = engine->config.catalogue;

    for (uint32_t i = engine->zones_of; i < catalogue->offer_count; i++) {
        const uint32_t zone = catalogue->offers[i].zone;
        bool is_known =
            zone == NAME_NONE || strcmp(names_text(&catalogue->names, zone), OWNED_ZONE) == 0;

        for (uint32_t j = 0; j < engine->zone_count && !is_known; j++)
            is_known = engine->zones[j] == zone;
        if (is_known)
            continue;
        MEM_ROOM(engine->zones, engine->zones_room, engine->zone_count + 1);
        engine->zones[engine->zone_count++] = zone;
    }
    engine->zones_of = catalogue->offer_count;
}

static uint64_t key_of(uint64_t group, uint32_t zone)
{
    return map_mix(group ^ ((uint64_t)(zone + 1) << 40)) | 1;
}

static uint32_t count_of(const struct kube_engine *engine, uint64_t key)
{
    const uint32_t count = map_get(&engine->in_zone, key);

    return count != MAP_NONE ? count : 0;
}

static bool add_zone(const struct kube_engine *engine, const char *needs, uint32_t zone, char *ret)
{
    const char *name = names_text(&engine->config.catalogue->names, zone);
    const int length = needs != NULL ? snprintf(ret, NEEDS_TEXT, "(%s)&zone=%s", needs, name)
                                     : snprintf(ret, NEEDS_TEXT, "zone=%s", name);

    return length > 0 && length < NEEDS_TEXT && offer_text_is_valid(ret);
}

const char *kube_zones_shape(struct kube_engine *engine, const struct line *line, bool is_waiting,
                             uint64_t *key, uint32_t *ret)
{
    const uint64_t group = (uint64_t)kube_engine_amount(line, "zones");
    const char *at = line_get(line, "zone");
    const char *needs = line_get(line, "needs");
    const char *why = "no machine of the catalogue can hold it";
    uint32_t least = UINT32_MAX;
    char text[NEEDS_TEXT];

    *key = 0;
    learn_zones(engine);
    if (group == 0 || engine->zone_count == 0 || (!is_waiting && at == NULL))
        return kube_engine_shape_of(engine, line, needs, ret);
    for (uint32_t i = 0; i < engine->zone_count; i++) {
        const uint64_t own = key_of(group, engine->zones[i]);
        const uint32_t count = count_of(engine, own);
        const char *name = names_text(&engine->config.catalogue->names, engine->zones[i]);
        uint32_t shape;

        if ((is_waiting ? count >= least : strcmp(name, at) != 0) ||
            !add_zone(engine, needs, engine->zones[i], text))
            continue;
        if (kube_engine_shape_of(engine, line, text, &shape) != NULL)
            continue;
        why = NULL;
        least = count;
        *key = own;
        *ret = shape;
    }
    if (why != NULL && !is_waiting) /* on a machine in a zone that the catalogue no longer has */
        return kube_engine_shape_of(engine, line, needs, ret);
    return why;
}

void kube_zones_enter(struct kube_engine *engine, struct kube_pod *pod, uint64_t key)
{
    pod->zone_key = key;
    if (key != 0)
        map_put(&engine->in_zone, key, count_of(engine, key) + 1);
}

void kube_zones_leave(struct kube_engine *engine, struct kube_pod *pod)
{
    const uint32_t count = count_of(engine, pod->zone_key);

    if (pod->zone_key == 0)
        return;
    if (count > 1)
        map_put(&engine->in_zone, pod->zone_key, count - 1);
    else
        (void)map_remove(&engine->in_zone, pod->zone_key);
    pod->zone_key = 0;
}
