/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_bridge.h - pods and nodes of a cluster in lines, and what the daemon asks of them: stint-kubernetes for the engine.
 *
 * It decides nothing. Pods with the label KUBE_MANAGED are reported as they change, and nodes with KUBE_SLOT; a pod is placed by
 * one patch that opens the gate and selects the slot, and leaves by the Eviction API. All other pods and nodes are
 * read for what keeps pods at the gate away from machines (kube_repel.h, kube_apart.h, kube_places.h); when that changes, a pod is reported as gone and then again.
 * So are CSINodes, for how many volumes a node attaches; without the right to read them no limit is known.
 */
#ifndef STINT_ENGINE_KUBE_BRIDGE_H
#define STINT_ENGINE_KUBE_BRIDGE_H

#include "base/map.h"
#include "engine/kubernetes/kube_apart.h"
#include "engine/kubernetes/kube_daemons.h"
#include "engine/kubernetes/kube_drivers.h"
#include "engine/kubernetes/kube_places.h"
#include "engine/kubernetes/kube_repel.h"
#include "engine/kubernetes/kube_talk.h"
#include "engine/kubernetes/kube_volumes.h"

/* A pod at the gate. */
struct kube_waiting {
    uint64_t key; /* hash of its uid */
    char *uid;
    char *space;
    char *line;  /* about it, but for what it needs */
    char *needs; /* of its own */
    char *words; /* where other pods keep it away from, but for zones if it has a rule */
    char *where; /* its zones because of other pods; "": any */
    char *term;  /* of its rule; NULL: none */
    enum kube_zone_what what;
    bool is_own;              /* that term is about the pod itself */
    struct kube_pair *labels; /* into 'texts' */
    char *texts;
    uint32_t label_count;
    bool is_seen;
    bool is_new; /* what it needs has changed, and is to be reported */
};

/* A node with a slot. */
struct kube_slot_node {
    uint64_t key; /* hash of its name */
    char *name;
    char *slot;
    char *zone; /* NULL: it says none */
    bool is_up;
    bool is_seen;
    bool is_sought; /* a list lacked it, and it is asked for by name */
    struct kube_amounts allocatable;
    struct kube_amounts
        told; /* what is left of it without DaemonSets; volumes: KUBE_NO_LIMIT: all */
};

struct kube_bridge {
    struct kube_talk talk;
    struct kube_daemons *daemons;
    struct kube_drivers *drivers;
    struct kube_slot_node *nodes;
    uint32_t node_count, nodes_room;
    struct map by_name; /* to rows of 'nodes' */
    struct kube_repel *repel;
    struct kube_apart *apart;
    struct kube_places *places;
    struct kube_volumes *volumes;
    struct kube_waiting *waiting;
    uint32_t waiting_count, waiting_room;
    struct map by_uid; /* to rows of 'waiting' */
    uint32_t to_list;  /* watches that have not reported all that there is */
    bool is_greeted;
    bool is_observing; /* the daemon opens no gates, so there is no sign of life */
    bool is_watching;  /* the pods that are managed */
    bool has_drivers;  /* they are listed, or it is known that Stint may not read them */
};

/* Say hello. */
void kube_bridge_begin(struct kube_bridge *bridge);

void kube_bridge_done(struct kube_bridge *bridge);

/* After what has come: say what follows from it. */
void kube_bridge_tick(struct kube_bridge *bridge);

/* One line of the daemon. */
void kube_bridge_line(struct kube_bridge *bridge, const struct line *line);

/* What is managed has changed, or is no more; what is not; a node with a slot. For tests, as the watches call them. */
void kube_bridge_node(struct kube_bridge *bridge, bool is_gone, const struct kube_object *node);
void kube_bridge_pod(struct kube_bridge *bridge, bool is_gone, const struct kube_object *pod);
void kube_bridge_other(struct kube_bridge *bridge, bool is_gone, const struct kube_object *object);
void kube_bridge_drivers(struct kube_bridge *bridge, bool is_gone, const struct kube_object *node);

#endif
