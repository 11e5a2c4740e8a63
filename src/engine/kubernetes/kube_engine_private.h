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
    KUBE_REASON = 256,
    RANK_BITS = 12,
    KUBE_NOTE_MS = 30000,     /* after this a waiting pod gets an event that says so */
    KUBE_KEPT_MS = 10000,     /* an eviction that could not be is asked for again after it */
    KUBE_VACANT_MS = 30000,   /* a service that has had no pod for so long is no more */
    KUBE_ARRIVALS = 256,      /* controllers whose last pod is remembered */
    KUBE_GAP_MOST_MS = 10000, /* what comes later was not created together with the last one */
    KUBE_GAP_KEPT_MS = 60000, /* a gap counts for so long */
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
    char *held;        /* no zone may have it now: the line about it; NULL: it has what it needs */
    const char *hold;  /* and why that is */
    uint64_t where;    /* hash of what was said of its zones last */
    uint64_t key;      /* of its placement, or made by us; 0: none */
    uint64_t stop_key; /* 0: nobody asked for it to leave */
    uint64_t wanted;   /* the machine of the placement */
    uint64_t instance; /* whose slot it has; 0: none */
    uint64_t counted;  /* among the pods of which machine; 0: of none */
    uint64_t zone_key; /* what it counts for in 'in_zone'; 0: nothing */
    uint64_t like;     /* its kind, as the bridge calls it: see kube_engine_apart.c */
    uint64_t says;     /* hash of what it says that it keeps apart from; 0: nothing */
    struct res takes;
    msec_t started_at;
    msec_t met_at;
    msec_t crowded_at; /* its placement waits since for room on the node; 0: it does not */
    msec_t note_at;    /* while it waits: why is looked at then */
    uint64_t note;     /* hash of what the last event said */
    msec_t asked_at;   /* its placement was taken at; MSEC_NEVER: it was not */
    uint32_t job;      /* row, or ROW_NONE */
    uint32_t rank;
    uint32_t next;     /* free, or of the same group without a rank */
    uint32_t own;      /* what it says that it keeps apart from, in numbers of model/apart.h */
    uint32_t extra_of; /* the job that has it among those without a rank; ROW_NONE: none has */
    uint8_t state;
    uint8_t asks; /* to be sent */
    bool is_used;
    bool is_seen;
    bool is_dirty;
    bool is_left;    /* to the scheduler */
    bool is_noted;   /* why it waits stands in an event */
    bool is_held;    /* its placement waits for those of the rest of its gang */
    bool is_last;    /* it counts for its zone until it is no more */
    bool is_asked;   /* to leave, and no answer has come that it stays */
    bool is_evicted; /* the API server has agreed: it is on its way out */
    bool
        is_spare; /* of a service, beyond its capacity: in its list of extras, and a job of its own */
};

/* A placement of a service's task that has no pod now; key 0: there is none. */
struct kube_seat {
    uint64_t key;
    uint64_t instance;
};

struct kube_job {
    uint64_t id; /* of its first task */
    uint64_t group;
    uint64_t says;  /* of its last pod */
    uint32_t own;   /* what its pods say that they keep apart from */
    uint32_t *pods; /* by rank; ROW_NONE: there is none now */
    uint32_t size;
    uint32_t finished;
    uint32_t extra;          /* first pod that has no rank */
    uint32_t seated;         /* of a service: pods that have a rank */
    struct kube_seat *seats; /* of a service, by rank; NULL: it is none */
    msec_t empty_since;      /* a service that has no pod with a rank; MSEC_NEVER: it has */
    uint32_t next_free;
    uint32_t alike_next, alike_prev; /* in the chain of its kind */
    struct job_spec spec;
    bool is_used;
    bool is_announced;
    bool is_pending; /* whole, and announced with what comes in the same moment */
    bool is_moving;  /* of one pod, which is evicted: the next one of its controller has its seat */
    bool is_listed;  /* in that chain */
    bool is_counted; /* in 'alike' */
    bool is_bereft;  /* a service that has lost pods with their node: others may take the seats */
};

struct kube_node {
    uint64_t instance;
    char *name; /* NULL: it has not been seen yet */
    struct res capacity;
    struct res told;  /* what was said that it has */
    struct res used;  /* by those that are 'taken' */
    struct res ahead; /* of that, by those whose placement is to be sent; 0 but while it is */
    uint32_t most;    /* pods that it takes */
    uint32_t taken;   /* pods that have its slot, or that were asked to be placed there */
    uint32_t pods;    /* that have its slot */
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

/* The last pod of a controller that came. */
struct kube_arrival {
    uint64_t kind;
    uint32_t job; /* row; it may be another one by now */
    msec_t at;
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
    struct map by_kind;  /* first of those of a controller that wait or move, a pod each */
    struct map alike;    /* how many there are of a controller, a pod each */
    struct map
        by_like; /* what is said of a kind of pods that they keep apart from, because of others */
    struct map in_zone; /* how many pods of a group, which is spread, are in a zone or for it */
    uint32_t *zones;    /* of the catalogue's first 'zones_of' offers, in its names */
    uint32_t zone_count, zones_room, zones_of;
    uint32_t *held; /* pods that no zone may have now, in the order in which they came */
    uint32_t held_count, held_room;
    bool is_freed; /* a zone may have one more pod, or may have others */
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
    struct res
        *taken; /* by pods of DaemonSets, per type of the catalogue; NULL: nothing was reported */
    struct res *telling; /* the same, of what is being reported; NULL: nothing is */
    struct line_text out;
    uint64_t made_keys;
    msec_t now;
    uint32_t open_count; /* of requests */
    uint32_t services;
    uint32_t placed;                    /* pods */
    msec_t first_pending, last_pending; /* when jobs became so; MSEC_NEVER: there are none */
    struct kube_arrival
        arrivals[KUBE_ARRIVALS]; /* by 'kind'; one that has the place is forgotten */
    msec_t
        gap_ms; /* the longest lately between two pods of a controller, the first of which still waited */
    msec_t gap_at;    /* when that was */
    msec_t vacant_at; /* no service ends before; MSEC_NEVER: none has lost its last pod */
    msec_t note_at;   /* when it is looked at why a pod waits; MSEC_NEVER: none does */
    bool has_bereft;  /* services */
    bool is_connected, is_greeted, has_pods, has_nodes, is_lost;
};

/*
 * kube_engine_tables.c
 */

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
/* 'more_until': others that come with these are expected until then; 0: none are. */
void kube_engine_tell_pending(struct kube_engine *engine, msec_t more_until);
int64_t kube_engine_amount(const struct line *line, const char *key);
void kube_engine_tell_found(struct kube_engine *engine, struct kube_pod *pod);
struct kube_job *kube_engine_job_new(struct kube_engine *engine, uint64_t id, uint32_t size);
void kube_engine_job_drop(struct kube_engine *engine, struct kube_job *job);
void kube_engine_fill_spec(struct kube_engine *engine, struct kube_job *job, uint32_t shape,
                           const struct line *line);
void kube_engine_weigh(struct kube_engine *engine, struct kube_job *job);
void kube_engine_announce(struct kube_engine *engine, struct kube_job *job);
bool kube_engine_is_whole(const struct kube_job *job);
struct res kube_engine_asks_of(const struct line *line);

/* Services of one pod that wait or move, in a chain for each controller and kind of pod: into it, out of it, its first or ROW_NONE. */
uint64_t kube_engine_kind_of(const struct kube_job *job);
void kube_engine_enlist(struct kube_engine *engine, struct kube_job *job);
void kube_engine_unlist(struct kube_engine *engine, struct kube_job *job);
uint32_t kube_engine_first_like(const struct kube_engine *engine, const struct kube_job *job);

/* How many jobs of one pod its controller has of its kind, whatever they do. */
uint32_t kube_engine_count_alike(const struct kube_engine *engine, const struct kube_job *job);

/* NULL, or why the pod cannot be a task. 'needs': of its machine; NULL: nothing. */
const char *kube_engine_shape_of(struct kube_engine *engine, const struct line *line,
                                 const char *needs, uint32_t *ret);

/* A pod counts for the machine that it has the slot of, or was asked to be placed on. */
bool kube_engine_is_full(const struct kube_node *node);
struct res kube_engine_room(const struct kube_node *node);
void kube_engine_tell_room(struct kube_engine *engine, struct kube_node *node);
void kube_engine_recount(struct kube_engine *engine, struct kube_pod *pod);
void kube_engine_uncount(struct kube_engine *engine, struct kube_pod *pod);

/*
 * kube_engine_zones.c
 */

/* What a pod with a rule about zones gets. */
struct kube_zoned {
    uint64_t key;     /* it is to be counted for; 0: for none */
    uint32_t shape;   /* as by kube_engine_shape_of, with its zone */
    const char *hold; /* why no zone may have it now; NULL: it has one */
    bool is_last;     /* it counts until it is no more, not until it is on its way out */
};

/* NULL, or why the pod cannot be a task. O(zones x offers). */
const char *kube_zones_shape(struct kube_engine *engine, const struct line *line, bool is_waiting,
                             struct kube_zoned *ret);
void kube_zones_enter(struct kube_engine *engine, struct kube_pod *pod,
                      const struct kube_zoned *zoned);
void kube_zones_leave(struct kube_engine *engine, struct kube_pod *pod);

/* The API server has agreed that it leaves. */
void kube_zones_evicted(struct kube_engine *engine, struct kube_pod *pod);

/* No zone may have it: the line is kept. It is no longer so. */
void kube_zones_hold(struct kube_engine *engine, struct kube_pod *pod, const struct line *line,
                     const char *why);
void kube_zones_let_go(struct kube_engine *engine, struct kube_pod *pod);

/* Of what the line says about its zones. */
uint64_t kube_zones_hash(const struct line *line);

/* A pod at the gate is reported again: whether another zone is to be found for it. */
bool kube_zones_is_wrong(struct kube_engine *engine, struct kube_pod *pod, const struct line *line);

/*
 * kube_engine_apart.c
 */

/* What a new pod keeps apart from: NULL, or why it cannot be said. */
const char *kube_keeps_meet(struct kube_engine *engine, struct kube_pod *pod,
                            const struct line *line);

/* The pod has become one of the job. It is reported once more, perhaps with other labels. */
void kube_keeps_join(struct kube_engine *engine, struct kube_job *job, const struct kube_pod *pod);
void kube_keeps_again(struct kube_engine *engine, struct kube_pod *pod, const struct line *line);

/* A line: of a kind of pods. O(pods). */
bool kube_keeps_take_marks(struct kube_engine *engine, const struct line *line);

/*
 * kube_engine_notes.c
 */

/* The pod waits from now on; what the event says; send those that are due. */
void kube_notes_begin(struct kube_engine *engine, struct kube_pod *pod);
void kube_notes_text(const struct kube_engine *engine, const struct kube_pod *pod, char *buf,
                     size_t size);
void kube_notes_tick(struct kube_engine *engine);

/*
 * kube_engine_services.c: jobs that have a promise.
 */

bool kube_services_is_promised(const struct line *line);

/* Of all pods of one promise, also of those beyond its capacity. */
uint64_t kube_services_kin(const struct line *line);

/*
 * A pod without a promise that is evicted, so that it goes to another machine: its job stays, for the pod that its controller creates
 * instead. It is asked to leave; it stays after all; the API server has agreed; the next one runs.
 */
void kube_services_move(struct kube_engine *engine, const struct kube_pod *pod);
void kube_services_stay(struct kube_engine *engine, const struct kube_pod *pod);
void kube_services_evicted(struct kube_engine *engine, struct kube_pod *pod);

/*
 * Evictions are about to be sent. Of the pods of one controller a tenth, and one at the least, may be missing because of that, budget or not: the
 * others are kept for now. But not on a machine that goes. O(evictions, and what waits or moves of their controllers).
 */
void kube_services_pace(struct kube_engine *engine);

/* A pod that waits, with a job of its own, takes the seat of one that was evicted, now or later. O(what waits or moves of its controller). */
void kube_services_follow(struct kube_engine *engine, struct kube_pod *pod);

/* Give the pod of the line a seat; false: there is none, and it is a job of its own, to be added as a spare one. */
bool kube_services_join(struct kube_engine *engine, struct kube_pod *pod, uint32_t shape,
                        const struct line *line);
void kube_services_add_spare(struct kube_engine *engine, struct kube_pod *pod,
                             const struct line *line);

/* Keep the placement for the next pod; false: the pod is there, or it is no task of a service. And take it back. */
bool kube_services_place(struct kube_engine *engine, uint64_t task, uint64_t key,
                         uint64_t instance);
void kube_services_cancel(struct kube_engine *engine, uint64_t task);

/* A pod with a seat has ended or is no more; a node is. */
void kube_services_gone(struct kube_engine *engine, struct kube_pod *pod);
void kube_services_node_gone(struct kube_engine *engine, uint64_t instance);

/* Services without pods end after a time; the seats of a node that is gone are given to pods beyond the capacity. */
msec_t kube_services_next(const struct kube_engine *engine);
void kube_services_tick(struct kube_engine *engine);

/* Of a task that has no pod. */
int kube_services_label(const struct kube_engine *engine, const struct kube_job *job, uint32_t rank,
                        char *buf, size_t size);

/*
 * kube_engine_nodes.c
 */

/* It takes work; it is no more. */
void kube_nodes_tell_ready(struct kube_engine *engine, struct kube_node *node);
void kube_nodes_gone(struct kube_engine *engine, struct kube_node *node);

/* Lines: of a node; of a DaemonSet, and that those were all. */
bool kube_nodes_take(struct kube_engine *engine, const struct line *line);
bool kube_nodes_take_overhead(struct kube_engine *engine, const struct line *line);
bool kube_nodes_take_overheads(struct kube_engine *engine, const struct line *line);

/*
 * kube_engine_requests.c
 */

/* Write what is to be asked of pods into 'out'; and what there is on a node that leaves. */
void kube_requests_send(struct kube_engine *engine);
void kube_requests_ask_room(struct kube_engine *engine, struct kube_node *node);

/* Lines: of an answer. */
bool kube_requests_take_done(struct kube_engine *engine, const struct line *line);
bool kube_requests_take_refused(struct kube_engine *engine, const struct line *line);

/*
 * kube_engine_pods.c
 */

void kube_engine_on_gone(struct kube_engine *engine, struct kube_pod *pod);
bool kube_engine_take_pod(struct kube_engine *engine, const struct line *line);
bool kube_engine_take_gone(struct kube_engine *engine, const struct line *line);

/* Pods that no zone could have may have one by now. O(such pods x zones x offers). */
void kube_engine_try_held(struct kube_engine *engine);

#endif
