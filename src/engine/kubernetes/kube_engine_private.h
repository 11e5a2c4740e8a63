/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_private.h - the tables of the adapter; for kube_engine*.c.
 *
 * Pods, jobs and nodes have rows; rows of pods and jobs that are no more are used again. A pod is found by its uid, a job by the
 * id of its first task, a node by the machine.
 */
#ifndef STINT_ENGINE_KUBE_ENGINE_PRIVATE_H
#define STINT_ENGINE_KUBE_ENGINE_PRIVATE_H

#include <assert.h>

#include "base/line.h"
#include "base/map.h"
#include "engine/kubernetes/kube_engine.h"
#include "engine/kubernetes/kube_protocol.h"

enum {
    UID_TEXT = 48,
    RANK_BITS = 12,
    KUBE_NOTE_MS = 30000, /* a pod that has waited so long is told so, by an event */
};

static_assert(KUBE_GANG_MAX == 1 << RANK_BITS, "a rank has its bits");

#define RANK_MASK (((uint64_t)1 << RANK_BITS) - 1)
#define OWN_KEY   ((uint64_t)1 << 63)

enum kube_pod_state { POD_WAITING, POD_PLACED, POD_RUNNING, POD_ENDED };

enum kube_ask {
    ASK_PLACE = 1,
    ASK_EVICT = 2,
    ASK_DELETE = 4,
    ASK_RELEASE = 8,
    ASK_ROOM = 16,
    ASK_NOTE = 32
};

struct kube_pod {
    char uid[UID_TEXT];
    char *space;
    char *name;
    char *why;         /* it is left to the scheduler; NULL: it is not */
    uint64_t key;      /* of its placement, or made by us; 0: none */
    uint64_t stop_key; /* 0: nobody asked for it to leave */
    uint64_t wanted;   /* the machine of the placement */
    uint64_t instance; /* whose slot it has; 0: none */
    uint64_t counted;  /* among the pods of which machine; 0: of none */
    struct res takes;
    msec_t started_at;
    msec_t met_at;
    msec_t asked_at; /* its placement was taken at; MSEC_NEVER: it was not */
    uint32_t job;    /* row, or ROW_NONE */
    uint32_t rank;
    uint32_t next; /* free, or of the same group without a rank */
    uint8_t state;
    uint8_t asks; /* to be sent */
    bool is_used;
    bool is_seen;
    bool is_dirty;
    bool is_left;  /* to the scheduler */
    bool is_noted; /* that it waits stands in an event */
    bool is_held;  /* its placement waits for those of the rest of its gang */
};

struct kube_job {
    uint64_t id; /* of its first task */
    uint64_t group;
    uint32_t *pods; /* by rank; ROW_NONE: there is none now */
    uint32_t size;
    uint32_t finished;
    uint32_t extra; /* first pod that has no rank */
    uint32_t next_free;
    struct job_spec spec;
    bool is_used;
    bool is_announced;
    bool is_pending; /* whole, and announced with what comes in the same moment */
};

struct kube_node {
    uint64_t instance;
    char *name; /* NULL: it has not been seen yet */
    struct res capacity;
    struct res told; /* what was said that it has */
    struct res used; /* by those that are 'taken' */
    uint32_t most;   /* pods that it takes */
    uint32_t taken;  /* pods that have its slot, or that were asked to be placed there */
    uint32_t pods;   /* that have its slot */
    msec_t room_at;
    bool is_there;
    bool is_up;
    bool is_admitted;
    bool is_told;
    bool is_leaving;
    bool is_asked; /* whether it is empty */
    bool is_seen;
};

struct kube_asked {
    uint64_t subject; /* hash of a uid, or a machine */
    enum kube_ask kind;
};

struct kube_engine {
    struct engine_config config;
    char prefix[64];
    struct kube_pod *pods;
    uint32_t pod_count, pods_room, pod_free;
    struct map by_uid;
    struct kube_job *jobs;
    uint32_t job_count, jobs_room, job_free;
    struct map by_id;    /* the id of a job's first task */
    struct map by_group; /* of a gang */
    struct kube_node *nodes;
    uint32_t node_count, nodes_room;
    struct map by_instance;
    struct kube_asked *requests; /* by key - 1, from 'request_first' on */
    uint32_t request_count, requests_room;
    struct map open; /* key to its row */
    uint64_t next_request;
    uint32_t *dirty;
    uint32_t dirty_count, dirty_room;
    struct engine_event *later;
    uint32_t later_count, later_room;
    uint64_t *lists;
    uint32_t list_count, lists_room;
    struct line_text out;
    uint64_t made_keys;
    msec_t now;
    uint32_t open_count;                /* of requests */
    uint32_t placed;                    /* pods */
    msec_t first_pending, last_pending; /* when jobs became so; MSEC_NEVER: there are none */
    msec_t note_at; /* when a pod has waited so long that it is told so; MSEC_NEVER: none does */
    bool is_connected, is_greeted, has_pods, has_nodes, is_lost;
};

/* kube_engine_pods.c */
uint64_t kube_engine_hash_of(const char *text);
char *kube_engine_copy(const char *text);
void kube_engine_emit(struct kube_engine *engine, const struct engine_event *event);
void kube_engine_emit_later(struct kube_engine *engine, const struct engine_event *event);
void kube_engine_say(struct kube_engine *engine, const char *format, const char *a, const char *b,
                     const char *c);
uint64_t kube_engine_instance_of(const struct kube_engine *engine, const char *slot);
struct kube_node *kube_engine_node_find(struct kube_engine *engine, uint64_t instance);
struct kube_node *kube_engine_node_get(struct kube_engine *engine, uint64_t instance);
void kube_engine_node_drop(struct kube_engine *engine, struct kube_node *node);
struct kube_pod *kube_engine_pod_of_task(struct kube_engine *engine, uint64_t task);
uint64_t kube_engine_task_of(const struct kube_engine *engine, const struct kube_pod *pod);
bool kube_engine_is_announced(const struct kube_engine *engine, const struct kube_pod *pod);
void kube_engine_ask(struct kube_engine *engine, struct kube_pod *pod, enum kube_ask what);
void kube_engine_tell_job(struct kube_engine *engine, const struct kube_job *job);
void kube_engine_tell_pending(struct kube_engine *engine);
int64_t kube_engine_amount(const struct line *line, const char *key);
void kube_engine_tell_found(struct kube_engine *engine, struct kube_pod *pod);
void kube_engine_on_gone(struct kube_engine *engine, struct kube_pod *pod);
bool kube_engine_take_pod(struct kube_engine *engine, const struct line *line);
bool kube_engine_take_gone(struct kube_engine *engine, const struct line *line);

/* A pod counts for the machine that it has the slot of, or was asked to be placed on. */
bool kube_engine_is_full(const struct kube_node *node);
struct res kube_engine_room(const struct kube_node *node);
void kube_engine_tell_room(struct kube_engine *engine, struct kube_node *node);
void kube_engine_recount(struct kube_engine *engine, struct kube_pod *pod);

#endif
