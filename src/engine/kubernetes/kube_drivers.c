/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_drivers.h"

#include "base/map.h"
#include "base/mem.h"

struct kube_drivers {
    struct map limits; /* by the hash of a node's name */
    struct map coming; /* the same, of what is being listed */
    bool is_listing;
    bool is_changed;
};

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return map_mix(hash);
}

void kube_drivers_begin(struct kube_drivers *drivers)
{
    map_done(&drivers->coming);
    map_init(&drivers->coming);
    drivers->is_listing = true;
}

void kube_drivers_end(struct kube_drivers *drivers)
{
    map_done(&drivers->limits);
    drivers->limits = drivers->coming;
    map_init(&drivers->coming);
    drivers->is_listing = false;
    drivers->is_changed = true;
}

void kube_drivers_node(struct kube_drivers *drivers, bool is_gone, const struct kube_object *node)
{
    struct map *map = drivers->is_listing ? &drivers->coming : &drivers->limits;

    if (node->kind != KUBE_CSI_NODE)
        return;
    if (is_gone || !node->has_volume_limit)
        (void)map_remove(map, hash_of(node->name));
    else
        map_put(map, hash_of(node->name),
                node->volume_limit < INT32_MAX ? (uint32_t)node->volume_limit : INT32_MAX);
    drivers->is_changed = true;
}

bool kube_drivers_is_changed(struct kube_drivers *drivers)
{
    const bool was = drivers->is_changed;

    drivers->is_changed = false;
    return was;
}

int64_t kube_drivers_limit(const struct kube_drivers *drivers, const char *node)
{
    const uint32_t limit = map_get(&drivers->limits, hash_of(node));

    return limit != MAP_NONE ? (int64_t)limit : KUBE_NO_LIMIT;
}

struct kube_drivers *kube_drivers_create(void)
{
    struct kube_drivers *drivers = mem_alloc(1, sizeof(*drivers));

    map_init(&drivers->limits);
    map_init(&drivers->coming);
    return drivers;
}

void kube_drivers_destroy(struct kube_drivers *drivers)
{
    if (drivers == NULL)
        return;
    map_done(&drivers->limits);
    map_done(&drivers->coming);
    mem_free(drivers);
}
