/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_bridge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/kubernetes/kube_events.h"
#include "engine/kubernetes/kube_pod_lines.h"
#include "engine/kubernetes/kube_pod_requests.h"
#include "engine/kubernetes/kube_protocol.h"
#include "engine/kubernetes/kube_zone_rules.h"

enum { PATH_TEXT = 1024 };

/*
 * Pods at the gate.
 */

static uint64_t hash_of(const char *text)
{
    uint64_t hash = 0xcbf29ce484222325U;

    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return map_mix(hash);
}

static char *copy(const char *text, size_t size)
{
    char *to = mem_alloc(size + 1, 1);

    memcpy(to, text, size);
    to[size] = '\0';
    return to;
}

static char *copy_text(const char *text)
{
    return copy(text, strlen(text));
}

static void waiting_drop(struct kube_bridge *bridge, uint32_t at)
{
    struct kube_waiting *one = &bridge->waiting[at];

    (void)map_remove(&bridge->by_uid, one->key);
    mem_free(one->texts);
    mem_free(one->labels);
    mem_free(one->uid);
    mem_free(one->space);
    mem_free(one->line);
    mem_free(one->needs);
    mem_free(one->words);
    mem_free(one->where);
    mem_free(one->term);
    if (at != --bridge->waiting_count) {
        *one = bridge->waiting[bridge->waiting_count];
        map_put(&bridge->by_uid, one->key, at);
    }
}

static void forget(struct kube_bridge *bridge, const char *uid)
{
    const uint32_t at = map_get(&bridge->by_uid, hash_of(uid));

    if (at != MAP_NONE)
        waiting_drop(bridge, at);
}

static void copy_labels(struct kube_waiting *to, const struct kube_object *pod)
{
    size_t size = 0;
    char *at;

    for (uint32_t i = 0; i < pod->label_count; i++)
        size += strlen(pod->label[i].key) + strlen(pod->label[i].value) + 2;
    to->labels = mem_alloc(pod->label_count, sizeof(*to->labels));
    to->texts = mem_alloc(size, 1);
    at = to->texts;
    for (uint32_t i = 0; i < pod->label_count; i++) {
        const size_t of_key = strlen(pod->label[i].key) + 1;
        const size_t of_value = strlen(pod->label[i].value) + 1;

        memcpy(at, pod->label[i].key, of_key);
        memcpy(at + of_key, pod->label[i].value, of_value);
        to->labels[i] = (struct kube_pair){ .key = at, .value = at + of_key };
        at += of_key + of_value;
    }
}

/* What a pod at the gate asks about others, and what they have to say: texts of KUBE_NEED bytes. */
struct asking {
    const char *uid;
    const char *space;
    const struct kube_pair *labels;
    uint32_t label_count;
    struct kube_zone_rule rule;
    char words[KUBE_NEED];
    char where[KUBE_NEED + 1];
};

static void remember(struct kube_bridge *bridge, const struct kube_object *pod, const char *line,
                     size_t size, const char *needs, const struct asking *asked)
{
    struct kube_waiting *one;

    forget(bridge, pod->uid);
    MEM_ROOM(bridge->waiting, bridge->waiting_room, bridge->waiting_count + 1);
    one = &bridge->waiting[bridge->waiting_count];
    *one = (struct kube_waiting){ .key = hash_of(pod->uid),
                                  .uid = copy_text(pod->uid),
                                  .space = copy_text(pod->name_space),
                                  .line = copy(line, size),
                                  .needs = copy_text(needs),
                                  .words = copy_text(asked->words),
                                  .where = copy_text(asked->where),
                                  .term =
                                      asked->rule.term != NULL ? copy_text(asked->rule.term) : NULL,
                                  .what = asked->rule.what,
                                  .is_own = asked->rule.is_own,
                                  .label_count = pod->label_count,
                                  .is_seen = true };
    copy_labels(one, pod);
    map_put(&bridge->by_uid, one->key, bridge->waiting_count++);
}

/* Zones that a pod with a rule must not have, or of which it must have one. */
static const char *say_where(struct kube_bridge *bridge, struct asking *asked)
{
    static const char too_many[] = "other pods are in too many zones";
    const enum kube_zone_what what = asked->rule.what;
    char away[KUBE_NEED];
    char there[KUBE_NEED] = ",";
    int length;

    kube_zone_split(asked->words, away);
    if ((what == KUBE_ZONES_APART || what == KUBE_ZONES_NEAR) &&
        !kube_places_zones(bridge->places, asked->uid, there, sizeof(there)))
        return too_many;
    if (what == KUBE_ZONES_NEAR && (there[1] != '\0' || !asked->rule.is_own)) {
        asked->where[0] = '+';
        kube_zone_without(there, away, asked->where + 1);
        return NULL;
    }
    length = snprintf(asked->where, sizeof(asked->where), "-%s%s", away, there + 1);
    if (length < 0 || (size_t)length >= sizeof(asked->where))
        return too_many;
    if (length == 2)
        asked->where[0] = '\0';
    return NULL;
}

/* Why other pods have it left to the scheduler; NULL: they do not. */
static const char *ask_others(struct kube_bridge *bridge, struct asking *asked)
{
    const char *own = asked->rule.what == KUBE_ZONES_APART ? asked->rule.term : NULL;
    const char *why = kube_repel_words(bridge->repel, asked->space, asked->labels,
                                       asked->label_count, own, asked->words, sizeof(asked->words));

    asked->where[0] = '\0';
    if (why == NULL && asked->rule.what != KUBE_ZONES_FREE)
        why = say_where(bridge, asked);
    return why;
}

static struct asking asking_of(const struct kube_waiting *one)
{
    return (
        struct asking){ .uid = one->uid,
                        .space = one->space,
                        .labels = one->labels,
                        .label_count = one->label_count,
                        .rule = { .what = one->what, .is_own = one->is_own, .term = one->term } };
}

/* What has changed for pods at the gate. All are gone before the first is reported again, so that no gang is left of the old; those for
 * which only zones have changed are reported again without that, as the zone that they have may still be good. */
static void tell_anew(struct kube_bridge *bridge)
{
    struct line_text *out = &bridge->talk.out;

    for (uint32_t i = 0; i < bridge->waiting_count; i++) {
        struct kube_waiting *one = &bridge->waiting[i];
        struct asking asked = asking_of(one);
        const bool is_other =
            ask_others(bridge, &asked) != NULL || strcmp(asked.words, one->words) != 0;

        one->is_new = is_other || strcmp(asked.where, one->where) != 0;
        if (is_other)
            kube_say_gone(out, one->uid);
    }
    for (uint32_t i = bridge->waiting_count; i-- > 0;) {
        struct kube_waiting *one = &bridge->waiting[i];
        struct asking asked = asking_of(one);
        const char *why;

        if (!one->is_new)
            continue;
        one->is_new = false;
        why = ask_others(bridge, &asked);
        line_text_append(out, one->line, (uint32_t)strlen(one->line));
        kube_say_needs(out, one->needs, asked.words, asked.where, why);
        mem_free(one->words);
        mem_free(one->where);
        one->words = copy_text(asked.words);
        one->where = copy_text(asked.where);
        if (why == NULL)
            continue;
        kube_apart_gone(bridge->apart, one->uid);
        kube_places_gone(bridge->places, one->uid);
        waiting_drop(bridge, i);
    }
}

static const char *add_needs(struct kube_need *need, const char *more)
{
    char all[KUBE_NEED];
    const bool has_both = need->offers[0] != '\0' && more[0] != '\0';
    const int length = snprintf(all, sizeof(all), has_both ? "%s&%s" : "%s%s", need->offers, more);

    if (length < 0 || (size_t)length >= sizeof(all))
        return "its node requirements are too long";
    memcpy(need->offers, all, (size_t)length + 1);
    return NULL;
}

/* The same, and what it keeps apart from. */
static const char *ask_all(struct kube_bridge *bridge, const struct kube_object *pod,
                           struct asking *asked, struct kube_keeps *keeps)
{
    const char *why = kube_zone_rule_of(pod, &asked->rule);

    if (why == NULL)
        why = kube_apart_wait(bridge->apart, pod, keeps);
    if (why == NULL)
        why = kube_places_wait(bridge->places, pod, &asked->rule);
    return why == NULL ? ask_others(bridge, asked) : why;
}

/* It may be reported again while it waits. */
static void say_waiting(struct kube_bridge *bridge, const struct kube_object *pod)
{
    struct line_text *out = &bridge->talk.out;
    const uint32_t at = map_get(&bridge->by_uid, hash_of(pod->uid));
    struct kube_need need = { .offers = "" };
    struct asking asked = { .uid = pod->uid,
                            .space = pod->name_space,
                            .labels = pod->label,
                            .label_count = pod->label_count };
    const char *why = kube_pod_refusal(pod, &need);
    const char *volumes = "";
    struct kube_keeps keeps;
    uint32_t from;

    if (why == NULL && !kube_volumes_of(bridge->volumes, pod, &volumes, &why))
        return; /* it is reported when that is known */
    if (why == NULL)
        why = add_needs(&need, volumes);
    if (why == NULL)
        why = ask_all(bridge, pod, &asked, &keeps);
    if (at != MAP_NONE && (why != NULL || strcmp(asked.words, bridge->waiting[at].words) != 0))
        kube_say_gone(out, pod->uid);
    from = out->size;
    kube_say_pod(out, pod, "waiting", kube_pod_slot(pod), why == NULL ? &keeps : NULL);
    if (why == NULL) {
        remember(bridge, pod, out->text + from, out->size - from, need.offers, &asked);
    } else {
        forget(bridge, pod->uid);
        kube_apart_gone(bridge->apart, pod->uid);
        kube_places_gone(bridge->places, pod->uid);
        kube_volumes_gone(bridge->volumes, pod->uid);
    }
    kube_say_needs(out, need.offers, asked.words, asked.where, why);
}

/* Where a pod that has a slot is, or will be; NULL: its node is not there yet. O(nodes) until it is bound. */
static const char *zone_of(const struct kube_bridge *bridge, const struct kube_object *pod,
                           const char *slot)
{
    const uint32_t at =
        pod->node != NULL ? map_get(&bridge->by_name, hash_of(pod->node)) : MAP_NONE;

    if (at != MAP_NONE)
        return bridge->nodes[at].zone;
    for (uint32_t i = 0; slot != NULL && i < bridge->node_count; i++) {
        if (bridge->nodes[i].slot != NULL && strcmp(bridge->nodes[i].slot, slot) == 0)
            return bridge->nodes[i].zone;
    }
    return NULL;
}

void kube_bridge_pod(struct kube_bridge *bridge, bool is_gone, const struct kube_object *pod)
{
    struct line_text *out = &bridge->talk.out;
    const char *slot = kube_pod_slot(pod);
    const char *state = is_gone ? NULL : kube_pod_state(pod, slot);
    struct kube_need need = { .offers = "" };
    struct kube_keeps keeps;
    const char *why;

    kube_repel_object(bridge->repel, KUBE_REPEL_OURS, is_gone, pod);
    if (state != NULL && strcmp(state, "waiting") == 0) {
        say_waiting(bridge, pod);
        return;
    }
    forget(bridge, pod->uid);
    kube_volumes_gone(bridge->volumes, pod->uid);
    kube_places_pod(bridge->places, KUBE_REPEL_OURS, is_gone, pod);
    if (state == NULL || strcmp(state, "ended") == 0)
        kube_apart_gone(bridge->apart, pod->uid);
    else
        kube_apart_place(bridge->apart, pod, &keeps);
    if (state == NULL) {
        kube_say_gone(out, pod->uid);
        return;
    }
    why = kube_pod_refusal(pod, &need);
    kube_say_pod(out, pod, state, slot, strcmp(state, "ended") != 0 ? &keeps : NULL);
    if ((pod->flags & KUBE_POD_ZONES) != 0)
        line_text_string(out, "zone", zone_of(bridge, pod, slot));
    kube_say_needs(out, need.offers, "", "", why);
}

static void on_pod(void *context, bool is_gone, const struct kube_object *pod)
{
    kube_bridge_pod(context, is_gone, pod);
}

void kube_bridge_other(struct kube_bridge *bridge, bool is_gone, const struct kube_object *object)
{
    kube_repel_object(bridge->repel, KUBE_REPEL_OTHERS, is_gone, object);
    if (object->kind != KUBE_POD) {
        kube_places_node(bridge->places, KUBE_REPEL_OTHERS, is_gone, object);
        return;
    }
    kube_places_pod(bridge->places, KUBE_REPEL_OTHERS, is_gone, object);
    kube_daemons_pod(bridge->daemons, is_gone, object);
    if (kube_object_is_daemon(object))
        kube_apart_daemon(bridge->apart, is_gone || (object->flags & KUBE_POD_DONE) != 0, object);
}

static void on_other(void *context, bool is_gone, const struct kube_object *object)
{
    kube_bridge_other(context, is_gone, object);
}

/*
 * Nodes with a slot.
 */

static void node_drop(struct kube_bridge *bridge, uint32_t at)
{
    struct kube_slot_node *one = &bridge->nodes[at];

    (void)map_remove(&bridge->by_name, one->key);
    mem_free(one->name);
    mem_free(one->slot);
    mem_free(one->zone);
    if (at != --bridge->node_count) {
        *one = bridge->nodes[bridge->node_count];
        map_put(&bridge->by_name, one->key, at);
    }
}

static int64_t less(int64_t all, int64_t taken)
{
    return all > taken ? all - taken : 0;
}

/* What pods of Stint may have of it. */
static struct kube_amounts left_of(const struct kube_bridge *bridge,
                                   const struct kube_slot_node *node)
{
    const struct kube_amounts taken = kube_daemons_on(bridge->daemons, node->name);
    const int64_t volumes = kube_drivers_limit(bridge->drivers, node->name);

    return (struct kube_amounts){ .cpu = less(node->allocatable.cpu, taken.cpu),
                                  .mem = less(node->allocatable.mem, taken.mem),
                                  .accel = less(node->allocatable.accel, taken.accel),
                                  .pods = less(node->allocatable.pods, taken.pods),
                                  .volumes = volumes != KUBE_NO_LIMIT ? less(volumes, taken.volumes)
                                                                      : KUBE_NO_LIMIT };
}

static void say_node(struct kube_bridge *bridge, struct kube_slot_node *node, const char *state)
{
    struct line_text *out = &bridge->talk.out;

    node->told = left_of(bridge, node);
    line_text_begin(out, "node");
    line_text_string(out, "slot", node->slot);
    line_text_string(out, "name", node->name);
    line_text_string(out, "state", state);
    kube_say_amounts(out, &node->told);
    if (node->allocatable.pods > 0)
        line_text_number(out, "pods", (uint64_t)node->told.pods);
    if (node->told.volumes != KUBE_NO_LIMIT)
        line_text_number(out, "volumes", (uint64_t)node->told.volumes);
    line_text_end(out);
}

/* Pods of DaemonSets have come or gone there, or drivers of volumes. */
static void tell_room(struct kube_bridge *bridge)
{
    for (uint32_t i = 0; i < bridge->node_count; i++) {
        struct kube_slot_node *one = &bridge->nodes[i];
        const struct kube_amounts now = left_of(bridge, one);

        if (now.cpu != one->told.cpu || now.mem != one->told.mem || now.accel != one->told.accel ||
            now.pods != one->told.pods || now.volumes != one->told.volumes)
            say_node(bridge, one, one->is_up ? "up" : "down");
    }
}

static void say_overhead(void *context, const struct kube_amounts *asks, const char *needs)
{
    struct line_text *out = context;

    line_text_begin(out, "overhead");
    kube_say_asks(out, asks);
    line_text_string(out, "needs", needs[0] != '\0' ? needs : NULL);
    line_text_end(out);
}

/* What pods of DaemonSets will take of machines that are not there yet. */
static void tell_overheads(struct kube_bridge *bridge)
{
    kube_daemons_each_set(bridge->daemons, say_overhead, &bridge->talk.out);
    line_text_begin(&bridge->talk.out, "overheads");
    line_text_end(&bridge->talk.out);
}

/* A node takes work when it is ready and Karpenter is through with it: before, it has taints that nothing tolerates. */
void kube_bridge_node(struct kube_bridge *bridge, bool is_gone, const struct kube_object *node)
{
    const char *made = kube_object_label(node, "karpenter.sh/initialized");
    const char *slot = kube_object_label(node, KUBE_SLOT);
    const char *zone = kube_object_label(node, KUBE_ZONE);
    const uint64_t key = hash_of(node->name);
    uint32_t at = map_get(&bridge->by_name, key);
    struct kube_slot_node *one;

    kube_repel_object(bridge->repel, KUBE_REPEL_OURS, is_gone, node);
    kube_places_node(bridge->places, KUBE_REPEL_OURS, is_gone, node);
    if (at != MAP_NONE)
        node_drop(bridge, at);
    at = bridge->node_count++;
    MEM_ROOM(bridge->nodes, bridge->nodes_room, at + 1);
    one = &bridge->nodes[at];
    *one = (struct kube_slot_node){ .key = key,
                                    .name = copy_text(node->name),
                                    .slot = slot != NULL ? copy_text(slot) : NULL,
                                    .zone = zone != NULL ? copy_text(zone) : NULL,
                                    .allocatable = node->allocatable,
                                    .is_seen = true };
    one->is_up = node->is_ready && !node->is_closed && !node->is_shut &&
                 (node->flags & KUBE_POD_GOING) == 0 && made != NULL && strcmp(made, "true") == 0;
    map_put(&bridge->by_name, key, at);
    say_node(bridge, one, is_gone ? "gone" : one->is_up ? "up" : "down");
    if (is_gone)
        node_drop(bridge, at);
}

static void on_node(void *context, bool is_gone, const struct kube_object *node)
{
    kube_bridge_node(context, is_gone, node);
}

static void say_sync(struct kube_bridge *bridge, const char *word, const char *what)
{
    line_text_begin(&bridge->talk.out, word);
    line_text_string(&bridge->talk.out, "what", what);
    line_text_end(&bridge->talk.out);
}

static void has_listed(struct kube_bridge *bridge)
{
    bridge->to_list -= bridge->to_list > 0 ? 1 : 0;
}

static void begin_pods(void *context)
{
    struct kube_bridge *bridge = context;

    say_sync(bridge, "sync", "pods");
    kube_repel_begin(bridge->repel, KUBE_POD, KUBE_REPEL_OURS);
    kube_places_begin(bridge->places, KUBE_POD, KUBE_REPEL_OURS);
    kube_apart_begin(bridge->apart, false);
    kube_volumes_begin(bridge->volumes);
    for (uint32_t i = 0; i < bridge->waiting_count; i++)
        bridge->waiting[i].is_seen = false;
}

static void end_pods(void *context)
{
    struct kube_bridge *bridge = context;

    say_sync(bridge, "synced", "pods");
    kube_repel_end(bridge->repel, KUBE_POD, KUBE_REPEL_OURS);
    kube_places_end(bridge->places, KUBE_POD, KUBE_REPEL_OURS);
    kube_apart_end(bridge->apart, false);
    kube_volumes_end(bridge->volumes);
    for (uint32_t i = bridge->waiting_count; i-- > 0;) {
        if (!bridge->waiting[i].is_seen)
            waiting_drop(bridge, i);
    }
}

static void begin_nodes(void *context)
{
    struct kube_bridge *bridge = context;

    say_sync(bridge, "sync", "nodes");
    kube_repel_begin(bridge->repel, KUBE_NODE, KUBE_REPEL_OURS);
    kube_places_begin(bridge->places, KUBE_NODE, KUBE_REPEL_OURS);
    for (uint32_t i = 0; i < bridge->node_count; i++)
        bridge->nodes[i].is_seen = false;
}

/* A node that is asked for by its name. */
struct sought {
    struct kube_bridge *bridge;
    uint64_t key;
};

static void on_sought(void *context, long status, const struct kube_object *node)
{
    struct sought *sought = context;
    struct kube_bridge *bridge = sought->bridge;
    const uint32_t at = map_get(&bridge->by_name, sought->key);

    if (at != MAP_NONE && bridge->nodes[at].is_sought) { /* else a watch was faster */
        bridge->nodes[at].is_sought = false;
        if (node != NULL) {
            kube_bridge_node(bridge, false, node);
        } else if (status == 404) {
            say_node(bridge, &bridge->nodes[at], "gone");
            node_drop(bridge, at);
        }
    }
    mem_free(sought);
}

/* A list lacks the node. What runs there would be given up: it stays as it was until the server says that it is not there. */
static void seek(struct kube_bridge *bridge, struct kube_slot_node *node)
{
    struct sought *sought;
    char path[PATH_TEXT];

    say_node(bridge, node, node->is_up ? "up" : "down");
    if (node->is_sought)
        return;
    node->is_sought = true;
    sought = mem_alloc(1, sizeof(*sought));
    *sought = (struct sought){ .bridge = bridge, .key = node->key };
    (void)snprintf(path, sizeof(path), "/api/v1/nodes/%s", node->name);
    kube_net_look(bridge->talk.net,
                  &(struct kube_look){
                      .path = path, .kind = KUBE_NODE, .on_look = on_sought, .context = sought });
}

static void end_nodes(void *context)
{
    struct kube_bridge *bridge = context;

    for (uint32_t i = 0; i < bridge->node_count; i++) {
        if (!bridge->nodes[i].is_seen)
            seek(bridge, &bridge->nodes[i]);
    }
    say_sync(bridge, "synced", "nodes");
    kube_repel_end(bridge->repel, KUBE_NODE, KUBE_REPEL_OURS);
    kube_places_end(bridge->places, KUBE_NODE, KUBE_REPEL_OURS);
    has_listed(bridge);
}

static void begin_other_pods(void *context)
{
    struct kube_bridge *bridge = context;

    kube_repel_begin(bridge->repel, KUBE_POD, KUBE_REPEL_OTHERS);
    kube_places_begin(bridge->places, KUBE_POD, KUBE_REPEL_OTHERS);
    kube_daemons_begin(bridge->daemons);
    kube_apart_begin(bridge->apart, true);
}

static void end_other_pods(void *context)
{
    struct kube_bridge *bridge = context;

    kube_repel_end(bridge->repel, KUBE_POD, KUBE_REPEL_OTHERS);
    kube_places_end(bridge->places, KUBE_POD, KUBE_REPEL_OTHERS);
    kube_daemons_end(bridge->daemons);
    kube_apart_end(bridge->apart, true);
    has_listed(bridge);
}

static void begin_other_nodes(void *context)
{
    struct kube_bridge *bridge = context;

    kube_repel_begin(bridge->repel, KUBE_NODE, KUBE_REPEL_OTHERS);
    kube_places_begin(bridge->places, KUBE_NODE, KUBE_REPEL_OTHERS);
}

static void end_other_nodes(void *context)
{
    struct kube_bridge *bridge = context;

    kube_repel_end(bridge->repel, KUBE_NODE, KUBE_REPEL_OTHERS);
    kube_places_end(bridge->places, KUBE_NODE, KUBE_REPEL_OTHERS);
    has_listed(bridge);
}

/*
 * Drivers of volumes.
 */

void kube_bridge_drivers(struct kube_bridge *bridge, bool is_gone, const struct kube_object *node)
{
    kube_drivers_node(bridge->drivers, is_gone, node);
}

static void on_drivers(void *context, bool is_gone, const struct kube_object *node)
{
    kube_bridge_drivers(context, is_gone, node);
}

static void begin_drivers(void *context)
{
    struct kube_bridge *bridge = context;

    kube_drivers_begin(bridge->drivers);
}

static void have_drivers(struct kube_bridge *bridge)
{
    if (!bridge->has_drivers)
        has_listed(bridge);
    bridge->has_drivers = true;
}

static void end_drivers(void *context)
{
    struct kube_bridge *bridge = context;

    kube_drivers_end(bridge->drivers);
    have_drivers(bridge);
}

/* By a role of an earlier version of Stint, say: pods are placed as if nodes attached any number. */
static void on_drivers_refused(void *context)
{
    struct kube_bridge *bridge = context;

    if (!bridge->has_drivers)
        (void)fprintf(
            stderr,
            "stint-kubernetes: Stint may not read CSINodes, so how many volumes a node attaches is not "
            "counted (see `stint kubernetes install`)\n");
    have_drivers(bridge);
}

/*
 * Volumes.
 */

static void on_volume(void *context, long status, const struct kube_object *object)
{
    struct sought *sought = context;

    kube_volumes_answer(sought->bridge->volumes, sought->key, status, object);
    mem_free(sought);
}

static void ask_volume(void *context, const char *path, enum kube_kind kind, int after_s,
                       uint64_t cookie)
{
    struct kube_bridge *bridge = context;
    struct sought *sought = mem_alloc(1, sizeof(*sought));

    *sought = (struct sought){ .bridge = bridge, .key = cookie };
    kube_net_look(bridge->talk.net, &(struct kube_look){ .path = path,
                                                         .kind = kind,
                                                         .after_s = after_s,
                                                         .on_look = on_volume,
                                                         .context = sought });
}

/* It may be another pod of the name by now. */
static void on_pod_again(void *context, long status, const struct kube_object *pod)
{
    const char *managed = pod != NULL ? kube_object_label(pod, KUBE_MANAGED) : NULL;

    (void)status;
    if (managed != NULL && strcmp(managed, "true") == 0)
        kube_bridge_pod(context, false, pod);
}

static void on_volumes_known(void *context, const char *space, const char *name)
{
    struct kube_bridge *bridge = context;
    char path[PATH_TEXT];

    (void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/%s", space, name);
    kube_net_look(bridge->talk.net,
                  &(struct kube_look){
                      .path = path, .kind = KUBE_POD, .on_look = on_pod_again, .context = bridge });
}

static void on_volume_wait(void *context, const struct kube_volumes_wait *wait)
{
    struct kube_bridge *bridge = context;
    char text[512];

    if (bridge->is_observing)
        return;
    (void)snprintf(text, sizeof(text), "Its volume claim %.253s is missing or unbound so far",
                   wait->claim);
    kube_events_send(bridge->talk.net, &(struct kube_event){ .space = wait->space,
                                                             .name = wait->name,
                                                             .uid = wait->uid,
                                                             .reason = "Waiting",
                                                             .text = text });
}

static void on_marks(void *context, uint64_t like, const char *marks)
{
    struct kube_bridge *bridge = context;
    struct line_text *out = &bridge->talk.out;

    line_text_begin(out, "marks");
    line_text_number(out, "like", like);
    line_text_string(out, "keeps", marks[0] != '\0' ? marks : NULL);
    line_text_end(out);
}

void kube_bridge_begin(struct kube_bridge *bridge)
{
    bridge->repel = kube_repel_create();
    bridge->apart =
        kube_apart_create(&(struct kube_apart_config){ .on_marks = on_marks, .context = bridge });
    bridge->places = kube_places_create();
    bridge->volumes =
        kube_volumes_create(&(struct kube_volumes_config){ .ask = ask_volume,
                                                           .on_known = on_volumes_known,
                                                           .on_wait = on_volume_wait,
                                                           .context = bridge });
    bridge->daemons = kube_daemons_create();
    bridge->drivers = kube_drivers_create();
    map_init(&bridge->by_name);
    map_init(&bridge->by_uid);
    line_text_begin(&bridge->talk.out, "hello");
    line_text_number(&bridge->talk.out, "protocol", KUBE_PROTOCOL);
    line_text_end(&bridge->talk.out);
}

void kube_bridge_done(struct kube_bridge *bridge)
{
    while (bridge->waiting_count > 0)
        waiting_drop(bridge, bridge->waiting_count - 1);
    mem_free(bridge->waiting);
    while (bridge->node_count > 0)
        node_drop(bridge, bridge->node_count - 1);
    mem_free(bridge->nodes);
    map_done(&bridge->by_name);
    kube_daemons_destroy(bridge->daemons);
    kube_drivers_destroy(bridge->drivers);
    map_done(&bridge->by_uid);
    kube_apart_destroy(bridge->apart);
    kube_places_destroy(bridge->places);
    kube_volumes_destroy(bridge->volumes);
    kube_repel_destroy(bridge->repel);
    line_text_done(&bridge->talk.out);
}

/* Pods at the gate are reported when it is known what keeps them away. */
void kube_bridge_tick(struct kube_bridge *bridge)
{
    const struct kube_watch_sink pods = {
        .begin = begin_pods, .object = on_pod, .end = end_pods, .context = bridge
    };
    bool is_changed;

    if (!bridge->is_greeted || bridge->to_list > 0)
        return;
    is_changed = kube_repel_is_changed(bridge->repel);
    is_changed |= kube_places_is_changed(bridge->places);
    if (is_changed)
        tell_anew(bridge);
    if (kube_drivers_is_changed(bridge->drivers))
        tell_room(bridge);
    if (kube_daemons_is_changed(bridge->daemons)) {
        tell_room(bridge);
        tell_overheads(bridge);
    }
    if (!bridge->is_watching) {
        bridge->is_watching = true;
        kube_net_watch(bridge->talk.net, "/api/v1/pods", KUBE_MANAGED "=true", KUBE_POD, &pods);
    }
}

static void greet(struct kube_bridge *bridge, const struct line *line)
{
    const struct kube_watch_sink nodes = {
        .begin = begin_nodes, .object = on_node, .end = end_nodes, .context = bridge
    };
    const struct kube_watch_sink other_nodes = {
        .begin = begin_other_nodes, .object = on_other, .end = end_other_nodes, .context = bridge
    };
    const struct kube_watch_sink other_pods = {
        .begin = begin_other_pods, .object = on_other, .end = end_other_pods, .context = bridge
    };
    const struct kube_watch_sink drivers = { .begin = begin_drivers,
                                             .object = on_drivers,
                                             .end = end_drivers,
                                             .refused = on_drivers_refused,
                                             .context = bridge };
    uint64_t protocol = 0;

    if (!kube_talk_number(line, "protocol", &protocol) || protocol != KUBE_PROTOCOL) {
        kube_talk_error(&bridge->talk, "no common protocol");
        bridge->talk.is_over = true;
        return;
    }
    if (bridge->is_greeted)
        return;
    bridge->is_greeted = true;
    bridge->is_observing = line_get(line, "observes") != NULL;
    bridge->to_list = 4;
    kube_net_watch(bridge->talk.net, "/api/v1/nodes", KUBE_SLOT, KUBE_NODE, &nodes);
    kube_net_watch(bridge->talk.net, "/api/v1/nodes", "!" KUBE_SLOT, KUBE_NODE, &other_nodes);
    kube_net_watch(bridge->talk.net, "/api/v1/pods", KUBE_MANAGED "!=true", KUBE_POD, &other_pods);
    kube_net_watch(bridge->talk.net, "/apis/storage.k8s.io/v1/csinodes", "", KUBE_CSI_NODE,
                   &drivers);
}

void kube_bridge_line(struct kube_bridge *bridge, const struct line *line)
{
    uint64_t key = 0;

    if (strcmp(line->word, "hello") == 0) {
        greet(bridge, line);
        return;
    }
    if (!bridge->is_greeted || !kube_talk_number(line, "key", &key)) {
        kube_talk_error(&bridge->talk, "a request without hello or key");
        return;
    }
    if (strcmp(line->word, "place") == 0 && line_get(line, "uid") != NULL)
        forget(bridge, line_get(line, "uid"));
    kube_pod_request(&bridge->talk, key, line);
}
