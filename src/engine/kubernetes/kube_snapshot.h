/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_snapshot.h - nodes, pods and disruption budgets of a cluster, at one time.
 *
 * Filled object by object, in any order, from lists of the API server or from what kubectl printed; ended by
 * kube_snapshot_close, which finds the node of each pod and which pods must stay where they are, and why.
 *
 * Costs:   about 130 bytes a pod and 200 a node, and each different text once.
 * Memory:  owned by the snapshot; rows are stable.
 */
#ifndef STINT_ENGINE_KUBE_SNAPSHOT_H
#define STINT_ENGINE_KUBE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/map.h"
#include "base/names.h"
#include "engine/kubernetes/kube_object.h"

#define KUBE_ROW_NONE UINT32_MAX

enum { KUBE_NODES_MAX = 1 << 20, KUBE_PODS_MAX = 1 << 24 };

/* Why a pod stays where it is. */
enum kube_stay {
    KUBE_MOVES,         /* it need not */
    KUBE_STAYS_DAEMON,  /* of a DaemonSet, or of the kubelet: it belongs to its node */
    KUBE_STAYS_BARE,    /* nobody would make it again */
    KUBE_STAYS_KEPT,    /* an annotation says so */
    KUBE_STAYS_BUDGET,  /* its disruption budget allows nothing */
    KUBE_STAYS_LOCAL,   /* data on the node */
    KUBE_STAYS_NEAR,    /* must be near other pods */
    KUBE_STAYS_STRANGE, /* asks for something that is not understood */
    KUBE_STAYS_GOING,   /* is being deleted */
    KUBE_STAY_COUNT,
};

struct kube_node_row {
    uint32_t name; /* all in texts; NAME_NONE: it does not say */
    uint32_t type;
    uint32_t zone;
    uint32_t market;
    uint32_t arch;
    struct kube_amounts capacity;
    struct kube_amounts allocatable;
    bool is_open;  /* takes new pods: ready, not cordoned, not tainted */
    bool is_other; /* no machine of a cloud: a control plane, or virtual */
    uint32_t pods; /* on it */
    uint32_t held; /* of these must stay, daemons apart */
};

struct kube_pod_row {
    uint32_t name;
    uint32_t space;
    uint32_t owner;  /* "ReplicaSet web"; NAME_NONE: bare */
    uint32_t node;   /* row, or KUBE_ROW_NONE; a name until the snapshot is closed */
    uint32_t need;   /* expression */
    uint32_t pool;   /* "": none */
    uint32_t labels; /* "a=1,b=2" */
    uint32_t why;    /* it is not understood, in words; NAME_NONE */
    uint32_t flags;  /* enum kube_pod_flag */
    uint8_t stay;    /* enum kube_stay, once the snapshot is closed */
    struct kube_amounts asks;
};

struct kube_budget_row {
    uint32_t space;
    uint32_t selector; /* "a=1" */
    bool is_strange;
    int64_t may_disturb;
};

struct kube_snapshot {
    struct names texts;
    struct kube_node_row *nodes;
    struct kube_pod_row *pods;
    struct kube_budget_row *budgets;
    uint32_t node_count, nodes_room;
    uint32_t pod_count, pods_room; /* without those that have ended */
    uint32_t budget_count, budgets_room;
    struct map node_by_name;
};

void kube_snapshot_init(struct kube_snapshot *snapshot);
void kube_snapshot_done(struct kube_snapshot *snapshot);

/* -E2BIG: more than any cluster has. Other kinds are passed over. */
int kube_snapshot_add(struct kube_snapshot *snapshot, const struct kube_object *object);

/* Nothing is added any more. O(pods x budgets of their namespace). */
void kube_snapshot_close(struct kube_snapshot *snapshot);

/* Read what kubectl printed: nodes, pods, poddisruptionbudgets, as JSON; and close it. */
int kube_snapshot_read(struct kube_snapshot *snapshot, const char *text, size_t length,
                       struct error *reterr);

/* The same by a sink that adds to the snapshot, and does something else with the objects too. */
int kube_snapshot_read_by(struct kube_snapshot *snapshot, const struct kube_object_sink *sink,
                          const char *text, size_t length, struct error *reterr);

/* "of a DaemonSet", in words for people. */
const char *kube_stay_text(enum kube_stay stay);

#endif
