/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_daemons.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/kubernetes/kube_needs.h"

struct daemon_pod {
    uint64_t key;  /* of its uid */
    uint64_t node; /* likewise of the name */
    struct kube_amounts asks;
    uint32_t set; /* row in 'sets', or SET_NONE */
    bool is_seen;
};

/* A DaemonSet whose pods go to machines of Stint. */
struct daemon_set {
    uint64_t key; /* of its uid and its needs */
    char *needs;
    uint32_t pods;
};

#define SET_NONE UINT32_MAX

struct load {
    uint64_t node;
    struct kube_amounts sum;
};

struct kube_daemons {
    struct daemon_pod *pods;
    uint32_t pod_count, pods_room;
    struct map by_uid;
    struct load *loads; /* of nodes that have some */
    uint32_t load_count, loads_room;
    struct map by_node;
    struct daemon_set *sets; /* those without pods stay, to be used again */
    uint32_t set_count, sets_room;
    struct map by_set;
    bool is_changed;
};

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return map_mix(hash);
}

static struct load *load_of(struct kube_daemons *daemons, uint64_t node)
{
    const uint32_t at = map_get(&daemons->by_node, node);

    if (at != MAP_NONE)
        return &daemons->loads[at];
    MEM_ROOM(daemons->loads, daemons->loads_room, daemons->load_count + 1);
    daemons->loads[daemons->load_count] = (struct load){ .node = node };
    map_put(&daemons->by_node, node, daemons->load_count);
    return &daemons->loads[daemons->load_count++];
}

/* 'sign': 1 or -1. A node that has none any more is forgotten. */
static void change(struct kube_daemons *daemons, const struct daemon_pod *pod, int64_t sign)
{
    struct load *load = load_of(daemons, pod->node);
    const uint32_t at = (uint32_t)(load - daemons->loads);

    load->sum.cpu += sign * pod->asks.cpu;
    load->sum.mem += sign * pod->asks.mem;
    load->sum.accel += sign * pod->asks.accel;
    load->sum.volumes += sign * pod->asks.volumes;
    load->sum.pods += sign;
    daemons->is_changed = true;
    if (load->sum.pods > 0)
        return;
    (void)map_remove(&daemons->by_node, pod->node);
    if (at != --daemons->load_count) {
        *load = daemons->loads[daemons->load_count];
        map_put(&daemons->by_node, load->node, at);
    }
}

/* What its DaemonSet asks of nodes. A term without requirements is only the node's name, which its controller has put there. False:
 * no machine of Stint is sure to have it. */
static bool need_of(const struct kube_object *pod, struct kube_need *ret)
{
    struct kube_object *plain = mem_alloc(1, sizeof(*plain));
    bool is_sure;

    *plain = *pod;
    plain->term_count = plain->requirement_count > 0 ? plain->term_count : 0;
    is_sure = kube_need_of(plain, ret) == NULL && kube_need_is_unsure(plain) == NULL;
    mem_free(plain);
    return is_sure;
}

/* That of the pod; SET_NONE: none, or its pods do not go to machines of Stint. */
static uint32_t set_of(struct kube_daemons *daemons, const struct kube_object *pod)
{
    struct kube_need need = { .offers = "" };
    uint64_t key;
    uint32_t at;

    if (!pod->is_for_slots || pod->owner_uid == NULL || strcmp(pod->owner_kind, "DaemonSet") != 0 ||
        !need_of(pod, &need))
        return SET_NONE;
    key = hash_of(pod->owner_uid) ^ map_mix(hash_of(need.offers));
    at = map_get(&daemons->by_set, key);
    if (at != MAP_NONE)
        return at;
    MEM_ROOM(daemons->sets, daemons->sets_room, daemons->set_count + 1);
    daemons->sets[daemons->set_count] = (struct daemon_set){ .key = key };
    daemons->sets[daemons->set_count].needs = mem_alloc(strlen(need.offers) + 1, 1);
    memcpy(daemons->sets[daemons->set_count].needs, need.offers, strlen(need.offers) + 1);
    map_put(&daemons->by_set, key, daemons->set_count);
    return daemons->set_count++;
}

static void drop(struct kube_daemons *daemons, uint32_t at)
{
    struct daemon_pod *pod = &daemons->pods[at];

    change(daemons, pod, -1);
    if (pod->set != SET_NONE)
        daemons->sets[pod->set].pods--;
    (void)map_remove(&daemons->by_uid, pod->key);
    if (at != --daemons->pod_count) {
        *pod = daemons->pods[daemons->pod_count];
        map_put(&daemons->by_uid, pod->key, at);
    }
}

static bool is_daemon(const struct kube_object *pod)
{
    if ((pod->flags & KUBE_POD_MIRROR) != 0)
        return true;
    return pod->owner_kind != NULL &&
           (strcmp(pod->owner_kind, "DaemonSet") == 0 || strcmp(pod->owner_kind, "Node") == 0);
}

static bool is_same(const struct daemon_pod *a, const struct daemon_pod *b)
{
    return a->node == b->node && a->set == b->set && a->asks.cpu == b->asks.cpu &&
           a->asks.mem == b->asks.mem && a->asks.accel == b->asks.accel &&
           a->asks.volumes == b->asks.volumes;
}

void kube_daemons_pod(struct kube_daemons *daemons, bool is_gone, const struct kube_object *pod)
{
    const uint64_t key = hash_of(pod->uid);
    const uint32_t at = map_get(&daemons->by_uid, key);
    struct daemon_pod now;

    if (is_gone || pod->node == NULL || (pod->flags & KUBE_POD_DONE) != 0 || !is_daemon(pod)) {
        if (at != MAP_NONE)
            drop(daemons, at);
        return;
    }
    now = (struct daemon_pod){
        .key = key,
        .node = hash_of(pod->node),
        .asks = pod->asks,
        .set = set_of(daemons, pod),
        .is_seen = true,
    };
    if (at != MAP_NONE && is_same(&daemons->pods[at], &now)) {
        daemons->pods[at].is_seen = true;
        return;
    }
    if (at != MAP_NONE)
        drop(daemons, at);
    MEM_ROOM(daemons->pods, daemons->pods_room, daemons->pod_count + 1);
    daemons->pods[daemons->pod_count] = now;
    map_put(&daemons->by_uid, key, daemons->pod_count++);
    if (now.set != SET_NONE)
        daemons->sets[now.set].pods++;
    change(daemons, &now, 1);
}

void kube_daemons_begin(struct kube_daemons *daemons)
{
    for (uint32_t i = 0; i < daemons->pod_count; i++)
        daemons->pods[i].is_seen = false;
}

void kube_daemons_end(struct kube_daemons *daemons)
{
    for (uint32_t i = daemons->pod_count; i-- > 0;) {
        if (!daemons->pods[i].is_seen)
            drop(daemons, i);
    }
}

bool kube_daemons_is_changed(struct kube_daemons *daemons)
{
    const bool was = daemons->is_changed;

    daemons->is_changed = false;
    return was;
}

struct kube_amounts kube_daemons_on(const struct kube_daemons *daemons, const char *node)
{
    const uint32_t at = map_get(&daemons->by_node, hash_of(node));

    return at != MAP_NONE ? daemons->loads[at].sum : (struct kube_amounts){ 0 };
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void kube_daemons_each_set(const struct kube_daemons *daemons,
                           void (*each)(void *context, const struct kube_amounts *asks,
                                        const char *needs),
                           void *context)
{
    struct kube_amounts *most = mem_alloc(daemons->set_count, sizeof(*most));

    for (uint32_t i = 0; i < daemons->pod_count; i++) {
        const struct daemon_pod *pod = &daemons->pods[i];

        if (pod->set == SET_NONE)
            continue;
        most[pod->set].cpu = larger(most[pod->set].cpu, pod->asks.cpu);
        most[pod->set].mem = larger(most[pod->set].mem, pod->asks.mem);
        most[pod->set].accel = larger(most[pod->set].accel, pod->asks.accel);
        most[pod->set].volumes = larger(most[pod->set].volumes, pod->asks.volumes);
    }
    for (uint32_t i = 0; i < daemons->set_count; i++) {
        if (daemons->sets[i].pods > 0)
            each(context, &most[i], daemons->sets[i].needs);
    }
    mem_free(most);
}

struct kube_daemons *kube_daemons_create(void)
{
    struct kube_daemons *daemons = mem_alloc(1, sizeof(*daemons));

    map_init(&daemons->by_uid);
    map_init(&daemons->by_node);
    map_init(&daemons->by_set);
    return daemons;
}

void kube_daemons_destroy(struct kube_daemons *daemons)
{
    if (daemons == NULL)
        return;
    map_done(&daemons->by_uid);
    map_done(&daemons->by_node);
    map_done(&daemons->by_set);
    for (uint32_t i = 0; i < daemons->set_count; i++)
        mem_free(daemons->sets[i].needs);
    mem_free(daemons->sets);
    mem_free(daemons->pods);
    mem_free(daemons->loads);
    mem_free(daemons);
}
