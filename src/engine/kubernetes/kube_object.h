/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_object.h - objects of Kubernetes as the API server, kubectl or a watch writes them: pods, nodes, disruption budgets.
 *
 * Only what Stint reads is kept, and only until the next object. A text may be lists of one kind ("PodList", as the
 * API server answers), a list of several kinds ("List", as kubectl prints them), or events of a watch; one after the
 * other.
 *
 * What a pod asks for follows the rules of kube-scheduler: the sum of its containers and sidecars, or the largest of its
 * init containers with the sidecars before it, whichever is more; a request of the whole pod instead where there is
 * one; and the overhead of its runtime class. A container without request but with a limit asks for the limit.
 *
 * Promises:  a hostile text is refused or read as something harmless; what is beyond the bounds makes the pod one with
 *            KUBE_POD_STRANGE, never one that asks for less.
 * Bounds:    KUBE_HOST_PORTS host ports, KUBE_PAIRS labels, KUBE_TERMS requirements, KUBE_REPELS terms of anti-affinity, KUBE_SPREADS spread constraints,
 *            KUBE_HASHES annotations about a hash, KUBE_IMAGES images of a node class.
 * Memory:    the reader's; an object is valid within on_object only.
 */
#ifndef STINT_ENGINE_KUBE_OBJECT_H
#define STINT_ENGINE_KUBE_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "engine/kubernetes/kube_term.h"

#define KUBE_GATE "stint.dev/place" /* the scheduling gate of pods that Stint places */
#define KUBE_SLOT \
    "stint.dev/slot" /* label of a node, and what a pod that was placed selects: a machine's name */
#define KUBE_CLUSTER "stint.dev/cluster" /* label of a claim: which Stint it belongs to */
#define KUBE_MANAGED "stint.dev/managed" /* label of pods that have, or had, the gate */
#define KUBE_OFFER   "stint.dev/offer"   /* annotation of a claim: what was rented */

enum {
    KUBE_PAIRS = 64,
    KUBE_TERMS = 64,
    KUBE_VALUES = 16,
    KUBE_TEXTS = 16384,
    KUBE_REPELS = 8,
    KUBE_SPREADS = 4,
    KUBE_HOST_PORTS = 8,
    KUBE_CLAIM_NAMES = 16,
    KUBE_HASHES = 4,
    KUBE_IMAGES = 128
};

enum kube_kind {
    KUBE_OTHER,
    KUBE_POD,
    KUBE_NODE,
    KUBE_BUDGET,        /* PodDisruptionBudget */
    KUBE_CLAIM,         /* Karpenter's NodeClaim */
    KUBE_VOLUME_CLAIM,  /* PersistentVolumeClaim */
    KUBE_VOLUME,        /* PersistentVolume */
    KUBE_STORAGE_CLASS, /* StorageClass */
    KUBE_NODE_CLASS,    /* EC2NodeClass, AKSNodeClass and the like, of Karpenter's providers */
    KUBE_CSI_NODE,      /* CSINode: the drivers of volumes on a node */
};

/* Whole amounts, as in model/res.h; and what has no place there. */
struct kube_amounts {
    int64_t cpu;   /* milli-CPU */
    int64_t mem;   /* MiB; of pods rounded up, of nodes down */
    int64_t accel; /* milli-accelerators */
    int64_t pods;
    int64_t volumes; /* of pods: persistent volume claims, each name once */
};

/* A requirement on labels of nodes; those of one term must all hold, and of all terms one. */
struct kube_requirement {
    const char *key;
    uint32_t term;
    enum kube_operator comparison;
    uint32_t value_count;
    const char *value[KUBE_VALUES];
};

enum kube_pod_flag {
    KUBE_POD_STRANGE = 1 << 0,      /* asks for something that is not understood: see 'strange' */
    KUBE_POD_LOCAL = 1 << 1,        /* data on the node's own disks */
    KUBE_POD_CLAIMS = 1 << 2,       /* volumes that may be bound to a zone */
    KUBE_POD_APART = 1 << 3,        /* not beside others of its own on a node, or not beside many */
    KUBE_POD_TOGETHER = 1 << 4,     /* must be near other pods */
    KUBE_POD_ZONES = 1 << 5,        /* spread over zones, or away from others there */
    KUBE_POD_HOST_PORT = 1 << 6,    /* no two with the same one on a node */
    KUBE_POD_GATED = 1 << 7,        /* not for the scheduler yet */
    KUBE_POD_GOING = 1 << 8,        /* being deleted */
    KUBE_POD_DONE = 1 << 9,         /* succeeded or failed */
    KUBE_POD_KEEP = 1 << 10,        /* "do not disrupt", by annotation */
    KUBE_POD_PREFERENCES = 1 << 11, /* has wishes that need not be met */
    KUBE_POD_MIRROR = 1 << 12,      /* of the kubelet itself */
    KUBE_POD_DISK = 1 << 13,        /* asks for disk space or huge pages, which no catalogue has */
    KUBE_POD_OTHER_ACCEL = 1 << 14, /* for accelerators that are not nvidia.com/gpu */
    KUBE_POD_ODD_CLAIMS =
        1 << 16,             /* such volumes that are not persistent volume claims, or too many */
    KUBE_POD_ENDS = 1 << 18, /* it runs to an end: its containers are not always started again */
    KUBE_POD_AWAY = 1 << 17, /* keeps away from pods that are not of its own kind */
    KUBE_POD_ODD_SPREAD = 1 << 15, /* counts nodes that it cannot be on, or wants so many hosts */
};

/* A spread constraint that must be met. */
struct kube_spread {
    const char *term; /* kube_term.h */
    uint32_t skew;    /* so many more pods in one domain than in another, 1 at the least */
    uint32_t least;   /* where there are fewer domains, the skew counts from zero; 1 at the least */
};

struct kube_object {
    enum kube_kind kind;
    const char *name;
    const char *name_space;
    const char *version; /* resourceVersion */
    const char *uid;
    const char *created; /* as the server writes times */
    struct kube_pair label[KUBE_PAIRS];
    uint32_t label_count;
    const char *owner_kind; /* of its controller; NULL: it has none */
    const char *owner_name;
    const char *owner_uid;
    const char *offer;        /* annotation stint.dev/offer, of a claim; NULL: it has none */
    const char *gang;         /* annotation stint.dev/gang, of a pod; NULL: it has none */
    const char *group_size;   /* annotation kueue.x-k8s.io/pod-group-total-count; the same */
    const char *availability; /* annotation stint.dev/availability; the same */
    const char *promised;     /* annotation stint.dev/capacity; the same */

    /* Of a pod. */
    uint32_t flags;      /* enum kube_pod_flag */
    const char *strange; /* what is not understood, in words; NULL: nothing */
    const char *node;    /* it is bound to; NULL: to none */
    const char *phase;   /* "Pending"; "": it does not say */
    bool has_our_gate;   /* KUBE_GATE is among those that keep it from the scheduler */
    bool has_other_gate; /* one that is not Stint's is */
    bool is_for_slots;   /* it tolerates the taint of machines of Stint */
    int64_t priority;
    uint32_t host_port[KUBE_HOST_PORTS]; /* each once, whatever the protocol and the address */
    uint32_t host_port_count;
    bool has_more_ports; /* than could be kept */
    struct kube_amounts asks;
    struct kube_pair selector[KUBE_PAIRS]; /* of nodes; of a budget: of pods */
    uint32_t selector_count;
    struct kube_requirement requirement[KUBE_TERMS];
    uint32_t requirement_count;
    uint32_t term_count;
    const char
        *repels[KUBE_REPELS]; /* its required anti-affinity, a text for each term: kube_term.h */
    uint32_t repel_count;
    uint32_t near_count; /* terms of required affinity */
    const char
        *near; /* the only one, if it is by zone and about exactly what the text says; else NULL */
    struct kube_spread spread[KUBE_SPREADS];
    uint32_t spread_count;
    const char *claim[KUBE_CLAIM_NAMES]; /* names of its persistent volume claims */
    uint32_t claim_count;

    /* Of a node. */
    struct kube_amounts capacity;
    struct kube_amounts allocatable;
    bool is_tainted;
    bool is_shut;   /* by a taint that is not KUBE_SLOT */
    bool is_closed; /* cordoned */
    bool is_ready;

    /* Of the drivers on a node. */
    bool has_volume_limit; /* one of them says how many volumes it attaches */
    int64_t volume_limit;  /* the least that one says */

    /* Of a claim. */
    const char *provider; /* the machine; NULL: there is none yet */
    const char *launched; /* when there was one; NULL: not yet */
    const char *image;    /* that the machine was started from; NULL: it is not known */

    /* Of a claim and of a node class: the annotations that end in "nodeclass-hash" and "nodeclass-hash-version". */
    struct kube_pair hash[KUBE_HASHES];
    uint32_t hash_count;

    /* Of a node class: identifiers of the images that new machines are started from. */
    const char *class_image[KUBE_IMAGES];
    uint32_t class_image_count;
    bool has_more_images; /* than could be kept */

    /* Of a persistent volume claim; 'requirement' is of a persistent volume, too, and about its nodes. */
    const char *volume;     /* that it is bound to; NULL: to none yet */
    const char *class_name; /* NULL: it has none */

    /* Of a storage class. */
    bool is_late;        /* a volume is made when the pod has its node */
    bool is_by_hand;     /* nobody makes volumes */
    bool has_topologies; /* volumes are made in some zones only */

    /* Of a budget: how many pods may be disturbed now; and whether the selector says more than pairs. */
    int64_t may_disturb;
    bool selector_is_strange;
};

/* What a text was, beside its objects. */
struct kube_list {
    char version[KUBE_NAME];       /* of the list */
    char next[2 * KUBE_NAME + 64]; /* where the next page goes on; "": there is none */
};

struct kube_object_sink {
    /* 'event': "ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR" of a watch, else "". Nonzero stops the reading. */
    int (*on_object)(void *context, const char *event, const struct kube_object *object);
    void *context;
};

struct kube_objects;

/* 'kind': of items that do not say theirs, where the list does not either; KUBE_OTHER: those are passed over. */
struct kube_objects *kube_objects_create(enum kube_kind kind, bool is_watch,
                                         const struct kube_object_sink *sink);
void kube_objects_destroy(struct kube_objects *objects);

int kube_objects_read(struct kube_objects *objects, const char *text, size_t length,
                      struct error *reterr);
int kube_objects_end(struct kube_objects *objects, struct error *reterr);
const struct kube_list *kube_objects_list(const struct kube_objects *objects);

/* Another page follows: the list has no next one until that says so. */
void kube_objects_next_page(struct kube_objects *objects);

/* A pod of a DaemonSet, or the kubelet's own, which is on its node as well. */
bool kube_object_is_daemon(const struct kube_object *pod);

/* The value of the label, or NULL. */
const char *kube_object_label(const struct kube_object *object, const char *key);

#endif
