/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_engine_private.h - the tables of the adapter; for slurm_engine*.c and their tests.
 *
 * A job has a row; rows of jobs that Slurm has forgotten are used again. So does a machine; its row is
 * used again an hour after Slurm has forgotten the node, for some come back. It is found by its slot
 * (Slurm's id and the index within its array), and by the id of its record, which tasks of an array
 * get when they are split off.
 */
#ifndef STINT_ENGINE_SLURM_ENGINE_PRIVATE_H
#define STINT_ENGINE_SLURM_ENGINE_PRIVATE_H

#include "base/line.h"
#include "base/map.h"
#include "engine/slurm/slurm_conf_check.h"
#include "engine/slurm/slurm_engine.h"
#include "engine/slurm/slurm_lease.h"
#include "engine/slurm/slurm_policy.h"
#include "engine/slurm/slurm_shapes.h"

#define INDEX_NONE  UINT32_MAX
#define NUMBER_NONE UINT64_MAX /* the line has no such field */

/* Task ids: generation 4 | job id 26 | index within the array + 1, or 0, 22 | rank 12. */
enum {
    ID_RANK_BITS = 12,
    ID_INDEX_BITS = 22,
    ID_JOB_BITS = 26,
    ID_RANKS_MAX = 1 << ID_RANK_BITS,
    ID_JOB_MAX = (1 << ID_JOB_BITS) - 1,
};

#define GENERATION_SHIFT (ID_RANK_BITS + ID_INDEX_BITS + ID_JOB_BITS)
#define GENERATION_MASK  ((uint64_t)15 << GENERATION_SHIFT)

enum slurm_phase_of { PHASE_WAITING, PHASE_RUNNING, PHASE_ENDED };

struct slurm_task {
    uint64_t key;      /* of its placement, its queueing, or made by us; 0: none */
    uint64_t stop_key; /* 0: nobody asked for it to be stopped */
    uint64_t wanted;   /* the machine of the placement; 0: any */
    uint64_t instance; /* that it runs on; 0: it does not */
};

struct slurm_job {
    uint64_t id; /* of its first task */
    struct slurm_task one;
    struct slurm_task *many; /* of a gang that is announced, else NULL */
    struct job_part
        *parts;        /* components of a heterogeneous job: its tasks in this order; else NULL */
    msec_t begin_at;   /* not before; 0: no such time */
    msec_t limit_ms;   /* below 0: none */
    msec_t retry_at;   /* ask again then; MSEC_NEVER: no */
    msec_t started_at; /* of the current run */
    uint64_t submit_s;
    money_t cost;
    uint32_t cost_type; /* in engine.words, or NAME_NONE */
    uint32_t record;    /* Slurm's id of it: the array's, until it has one of its own */
    uint32_t run;
    struct slurm_wish wish;
    struct slurm_market_rules rules;
    uint32_t task_count;
    uint32_t part_count;
    uint32_t asked; /* tasks that were placed or queued */
    uint32_t name;
    uint32_t user;
    uint32_t account; /* in engine.payers, or NAME_NONE, as the two that follow */
    uint32_t partition;
    uint32_t qos;
    uint32_t array;       /* row of its array, or INDEX_NONE */
    uint32_t next_member; /* of the array */
    uint32_t prev_member;
    uint32_t next_crowded; /* that wait for room */
    uint32_t prev_crowded;
    uint32_t seen;        /* the last list that named it */
    uint32_t tries;       /* of its placement */
    uint32_t profile;     /* of engine.policy: what Slurm's policy says of it */
    uint32_t lacks;       /* the quota that it waits for */
    uint32_t priority;    /* Slurm's; 0: not known yet */
    uint32_t note;        /* the hash of its admin comment; 0: none, or not known */
    uint32_t rate_report; /* the hash of the last rate in its user's comment; 0: none */
    uint32_t reason;  /* Slurm's last word on why it waits, in engine.policy.words, or NAME_NONE */
    uint32_t refused; /* that word, when a placement was answered by it, or NAME_NONE */
    msec_t refused_until;
    msec_t unhold_at;
    msec_t note_at;    /* its comment is not written before; 0: it never was */
    msec_t asked_at;   /* its placement is watched since; MSEC_NEVER: not yet */
    msec_t doubted_at; /* Slurm names a reason for not starting it since; MSEC_NEVER: it does not */
    uint8_t refusals;  /* so far */
    uint8_t note_kind; /* whose comment that is, see slurm_notes.c */
    uint8_t fails;     /* starts in a row that failed */
    uint8_t phase;
    uint8_t closed; /* enum slurm_wait_kind: what keeps it from running for its user and Slurm */
    bool is_used;
    bool is_split; /* a task of an array that has a record of its own */
    bool is_announced;
    bool is_crowded;    /* waits for room */
    bool is_foreign;    /* runs on machines that are not managed by Stint */
    bool is_completing; /* its last run is being cleared away */
    bool is_movable;
    bool is_dirty; /* in the list of what to send */
    bool is_asked; /* its placement was sent */
    bool is_stopping;
    bool is_cancelling; /* its placement or queueing is to be taken back */
    bool is_gate_held;  /* the gate holds it */
    bool is_unheld;     /* that hold was taken off, so that Slurm gives it a priority */
    bool is_to_unhold;  /* in the list of those whose hold is to be taken off, 'unhold_at' */
    bool is_stopped;    /* Slurm would start it again in two minutes, wherever it likes */
    bool is_late;       /* in the list of what to try again */
    bool is_admitted;   /* it has its share of the quotas that it draws on */
    bool is_watched;    /* in the list of those whose start is awaited */
    bool is_noting;     /* in the list of those whose comment is looked at first */
};

struct slurm_array {
    uint32_t id;
    uint32_t limit;  /* tasks that may run at a time; 0: all */
    uint32_t active; /* announced and not ended */
    uint32_t first_member;
    uint32_t last_member;
    uint32_t cursor; /* members before it are announced or have ended */
    uint32_t noted;  /* the round of comments that its record was looked at in */
    uint32_t
        noting; /* the row of its member that is in the list of those looked at first, if it still is */
};

struct slurm_node {
    uint64_t instance;
    msec_t idle_since; /* takes no work since; MSEC_NEVER: it does */
    msec_t retry_at;   /* remove it again then; MSEC_NEVER: no */
    msec_t drain_at;   /* drain or resume it again then; MSEC_NEVER: no */
    msec_t left_at;    /* when it was returned, or Slurm forgot it, whatever came last */
    msec_t leaving_at; /* since when 'is_leaving' */
    uint32_t running;  /* tasks */
    uint32_t next_free;
    uint32_t seen;
    uint32_t tries;
    bool is_there; /* Slurm knows it */
    bool is_up;
    bool is_silent; /* Slurm does not know yet whether it is down */
    bool is_drained;
    bool is_admitted;
    bool is_told;      /* as ready */
    bool is_closed;    /* reported as taking no new work */
    bool is_busy;      /* Slurm has something allocated there, ours or not */
    bool is_our_drain; /* it is drained because we let it leave */
    bool
        is_drain_done; /* Slurm has drained it for us, and it is drained since, whoever gave the reason */
    bool is_leaving;    /* nothing new may start there */
    bool is_left_told;  /* and nothing is there any more */
    bool is_absent;     /* Slurm has said so, since it was to leave */
    bool is_drain_sent; /* or it is being resumed */
    bool is_drain_due;  /* in the list of what to drain or resume */
    bool is_retired;    /* forgotten: to be removed */
    bool is_dead;       /* with work on it */
    bool is_dirty;      /* in the list of what to remove */
    bool is_removing;   /* that was asked for */
};

enum slurm_ask_kind {
    ASK_PLACE,
    ASK_RELEASE,
    ASK_HOLD,
    ASK_UNHOLD,
    ASK_CANCEL,
    ASK_GIVE_UP,
    ASK_STOP,
    ASK_COMMENT,
    ASK_EXPLAIN,
    ASK_DRAIN,
    ASK_RESUME,
    ASK_DOWN,
    ASK_DELETE,
    ASK_LIST_NODES,
    ASK_LIST_JOBS,
};

/* A request that is not answered yet. */
struct slurm_ask {
    enum slurm_ask_kind kind;
    bool is_done;
    bool is_unsure;   /* to be sent again when slurmctld is back */
    uint64_t subject; /* job or instance */
    char *text;       /* the line */
    uint32_t size;
};

/* In the order of their keys, which follow each other. */
struct slurm_asks {
    struct slurm_ask *row;
    uint32_t head, count, room;
    uint64_t first_key; /* of row[head] */
};

struct slurm_rows {
    uint32_t *row;
    uint32_t count, room;
};

struct slurm_engine {
    struct slurm_engine_config config;
    char *texts[5];    /* copies of the config's */
    struct arena kept; /* what of the config has no place of its own */
    struct slurm_shapes shapes;
    struct names words;  /* types in costs */
    struct names owned;  /* nodes, in the order of their ids */
    struct names payers; /* accounts, partitions, QOS */

    struct slurm_job *jobs;
    uint32_t job_count, jobs_room, job_free;
    struct map by_slot;   /* id without generation -> row */
    struct map by_record; /* Slurm's id -> row */
    struct slurm_array *arrays;
    uint32_t array_count, arrays_room, array_free;
    struct map by_array;              /* Slurm's id -> row of 'arrays' */
    uint64_t gang_tasks;              /* announced */
    uint32_t crowd_first, crowd_last; /* gangs that wait for room */

    struct slurm_node *nodes;
    uint32_t node_count, nodes_room, node_free;
    struct map by_instance;
    msec_t nodes_wake;
    struct slurm_conf_facts facts;
    msec_t silence_ms; /* after so long Slurm itself sets a silent node down */

    struct slurm_policy policy;
    struct slurm_rows watched; /* jobs that were placed or queued and do not run yet */
    msec_t admit_wake, watch_wake;
    msec_t over_since; /* a quota is over its limit; MSEC_NEVER: none is */

    struct slurm_asks asks;
    struct slurm_rows dirty;  /* jobs to place, queue or stop */
    struct slurm_rows late;   /* jobs to try again */
    struct slurm_rows costs;  /* jobs whose cost is to be written */
    struct slurm_rows gone;   /* nodes to remove */
    struct slurm_rows drains; /* nodes to drain or to resume */
    struct slurm_rows held;   /* jobs that the gate holds */
    msec_t unhold_wake;
    struct slurm_rows fresh; /* jobs whose comment is looked at first */
    uint32_t note_cursor, note_round;
    msec_t notes_wake;
    msec_t late_wake, begin_wake, costs_wake;
    struct line_text out;
    uint64_t *instances; /* scratch: where a job runs */
    uint32_t instance_count, instances_room;
    bool is_elsewhere; /* on others too */

    struct engine_event *later; /* events to be reported at the next chance */
    uint32_t later_count, later_room;
    struct slurm_past *pasts; /* jobs of the list that ran and ended unheard */
    uint32_t past_count, pasts_room;
    bool catches_up;     /* they are looked for: the first list of a connection is under way */
    uint64_t *list_keys; /* lists that were asked for; the first 'list_taken' are under way */
    uint32_t list_count, list_taken, lists_room;
    uint32_t round; /* of lists */
    bool is_listing, is_list_due;

    uint64_t made_keys;
    msec_t now;
    struct {
        bool is_wanted;
        msec_t until; /* by the clock of stint-slurm; 0: we do not hold it */
        char other[SLURM_LEASE_TEXT], caller[SLURM_LEASE_TEXT], fault[SLURM_LEASE_TEXT];
    } lease;
    bool is_connected, is_greeted, is_lost, was_connected;
    bool are_costs_refused;
    struct slurm_engine_stats stats;
};

/* slurm_rows.c */
void slurm_engine_emit(struct slurm_engine *engine, const struct engine_event *event);

/* A time of Slurm's, which has seconds: what is hardly older than the look that brought it to light happens now. */
msec_t slurm_engine_at(const struct slurm_engine *engine, uint64_t seconds);

void slurm_engine_say(struct slurm_engine *engine, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void slurm_rows_add(struct slurm_rows *rows, uint32_t row);
uint64_t slurm_slot(uint32_t job, uint32_t index_plus_one);
uint32_t slurm_job_tasks(const struct slurm_job *job); /* that are announced */
struct slurm_task *slurm_job_task(struct slurm_job *job, uint32_t rank);
struct slurm_job *slurm_job_of(struct slurm_engine *engine, uint64_t task);
bool slurm_node_is_owned(uint64_t instance);
uint64_t slurm_node_instance(const struct slurm_engine *engine, const char *name, size_t length);
struct slurm_node *slurm_node_get(struct slurm_engine *engine, uint64_t instance);

/* slurm_asks.c: requests. A line is begun, given its fields, and ended under 'kind'. */
uint64_t slurm_ask_begin(struct slurm_engine *engine, const char *word);
void slurm_ask_end(struct slurm_engine *engine, enum slurm_ask_kind kind, uint64_t subject);
struct slurm_ask *slurm_ask_find(struct slurm_engine *engine, uint64_t key);
void slurm_ask_close(struct slurm_engine *engine, struct slurm_ask *ask);
void slurm_asks_resend(struct slurm_engine *engine, bool is_all);

/* slurm_lease_line.c: whether the lease is to be asked for, and what is said of it. */
bool slurm_lease_wants(struct slurm_engine *engine, const struct line *hello);
void slurm_lease_on_line(struct slurm_engine *engine, const struct line *line);
void slurm_asks_done(struct slurm_engine *engine);
void slurm_ask_cancel_lists(struct slurm_engine *engine);

enum { SLURM_EXPRESSION_SIZE = 240 }; /* of "12_[3-9]"; stint-slurm takes 255 */

/* slurm_ask_jobs.c: one request, or a few, for all jobs of 'ids', which are sorted; tasks of one array stand together. */
void slurm_ask_jobs(struct slurm_engine *engine, const char *word, enum slurm_ask_kind kind,
                    uint64_t *ids, uint32_t count);
void slurm_job_print(const struct slurm_engine *engine, const struct slurm_job *job, char *buf,
                     size_t size);

/* slurm_admit_turns.c */
void slurm_admit_tick(struct slurm_engine *engine);
void slurm_admit_watch_tick(struct slurm_engine *engine);

/* slurm_job_rows.c. The row of a slot, or of an array by its id, a new one if need be; INDEX_NONE: there are too many jobs. */
uint32_t slurm_job_row(struct slurm_engine *engine, uint64_t slot, uint32_t array);
uint32_t slurm_array_row(struct slurm_engine *engine, uint32_t id);
void slurm_job_free(struct slurm_engine *engine, struct slurm_job *job);
void slurm_job_drop_tasks(struct slurm_job *job);
void slurm_jobs_done(struct slurm_engine *engine);

/* slurm_announce.c: what the controller hears of. Whether its time to begin has come; whether it could run now but for Slurm's
 * policy; announce or withdraw it, as it may run or not. */
bool slurm_job_is_time(const struct slurm_engine *engine, const struct slurm_job *job);
bool slurm_job_is_ready(struct slurm_engine *engine, const struct slurm_job *job);
void slurm_job_weigh(struct slurm_engine *engine, struct slurm_job *job);
void slurm_job_announce(struct slurm_engine *engine, struct slurm_job *job);
void slurm_job_unannounce(struct slurm_engine *engine, struct slurm_job *job); /* it has ended */
void slurm_job_withdraw(struct slurm_engine *engine, struct slurm_job *job);
void slurm_jobs_announce_crowd(struct slurm_engine *engine); /* gangs, when a line is read */
void slurm_jobs_tick(struct slurm_engine *engine);
void slurm_jobs_tell(struct slurm_engine *engine);

/* slurm_job_life.c: the steps of a job's life. */
/* What a line says about where the job is in its life. */
struct slurm_life {
    enum slurm_phase_of phase;
    uint32_t run;
    const char *nodes;
    uint64_t start_s;
    uint64_t end_s;
};

/* One end of a run on one machine. */
struct slurm_past {
    msec_t at;
    msec_t ended_at; /* of a beginning; 0: this is the end of the job */
    uint64_t job;    /* its id: the row may be another one's by then */
    uint64_t instance;
    uint32_t row;
    uint32_t rank;
};

/* A job that is seen only after its end, with its run. */
void slurm_job_past(struct slurm_engine *engine, struct slurm_job *job,
                    const struct slurm_life *life);

/* At the end of the list: report those, as if somebody had listened. */
void slurm_jobs_tell_past(struct slurm_engine *engine);

void slurm_job_live(struct slurm_engine *engine, struct slurm_job *job,
                    const struct slurm_life *life);
void slurm_job_vanish(struct slurm_engine *engine, struct slurm_job *job);
void slurm_job_tell_task(struct slurm_engine *engine, const struct slurm_job *job, uint32_t rank,
                         const struct engine_event *event);
void slurm_jobs_tell_tasks(struct slurm_engine *engine);

/* slurm_jobs.c: lines. */
void slurm_jobs_on_job(struct slurm_engine *engine, const struct line *line);
void slurm_jobs_on_started(struct slurm_engine *engine, const struct line *line);
void slurm_jobs_on_requeued(struct slurm_engine *engine, const struct line *line);
void slurm_jobs_on_ended(struct slurm_engine *engine, const struct line *line);
void slurm_jobs_on_gone(struct slurm_engine *engine, const struct line *line);
void slurm_jobs_end_list(struct slurm_engine *engine); /* what it did not name is gone */

/* slurm_admit.c */
struct slurm_job_line;

/* slurm_payer.c: to whom the job is charged. */
void slurm_payer_take(struct slurm_engine *engine, struct slurm_job *job,
                      const struct slurm_job_line *line);
void slurm_admit_on_quota(struct slurm_engine *engine, const struct line *line);
void slurm_admit_take_line(struct slurm_engine *engine, struct slurm_job *job,
                           const struct slurm_job_line *line);
void slurm_admit_soon(struct slurm_engine *engine); /* weigh who draws on quotas */
void slurm_admit_forgive(struct slurm_job *job);    /* it starts again */
bool slurm_admit_may(struct slurm_engine *engine, const struct slurm_job *job);
void slurm_admit_watch(struct slurm_engine *engine, struct slurm_job *job); /* what Slurm answers */
const char *slurm_admit_word(const struct slurm_engine *engine, uint32_t name,
                             const char *otherwise);
bool slurm_admit_wait(const struct slurm_engine *engine, const struct slurm_job *job,
                      struct slurm_wait *ret);

/* slurm_priority.c */
void slurm_priority_on_line(struct slurm_engine *engine, const struct line *line);
void slurm_priority_take(struct slurm_engine *engine, struct slurm_job *job, uint32_t priority);
void slurm_priority_see(struct slurm_engine *engine, struct slurm_job *job,
                        const struct slurm_job_line *line);
void slurm_priority_tick(struct slurm_engine *engine);

/* slurm_notes.c: why a job waits, in its admin comment. */
bool slurm_notes_may(const struct slurm_job *job); /* the comment is not the site's own */
void slurm_notes_see(struct slurm_engine *engine, struct slurm_job *job,
                     const struct slurm_job_line *line);
void slurm_notes_tick(struct slurm_engine *engine);
void slurm_notes_failed(struct slurm_engine *engine, const struct slurm_ask *ask);

/* slurm_room.c */
bool slurm_room_is_for(const struct slurm_engine *engine, const struct slurm_job *job);
void slurm_room_take(struct slurm_engine *engine, struct slurm_job *job); /* it is announced */
void slurm_room_give(struct slurm_engine *engine, const struct slurm_job *job);
void slurm_room_wait(struct slurm_engine *engine, struct slurm_job *job);
void slurm_room_leave(struct slurm_engine *engine, struct slurm_job *job); /* it waits no more */
struct slurm_job *slurm_room_next(struct slurm_engine *engine); /* there is room for; or NULL */

/* slurm_places.c. Of a heterogeneous job that is left to Slurm the gate is opened. */
void slurm_places_pass(struct slurm_engine *engine, struct slurm_job *job,
                       const struct slurm_job_line *line);
void slurm_places_mark(struct slurm_engine *engine, struct slurm_job *job);
void slurm_places_keep(struct slurm_engine *engine, struct slurm_job *job); /* no cancel any more */
void slurm_places_lose(struct slurm_engine *engine, struct slurm_job *job, msec_t at);
void slurm_places_on_place(void *self, uint64_t key, uint64_t task, uint64_t instance);
void slurm_places_on_queue(void *self, uint64_t key, uint64_t task);

/* Whether a job is released that Slurm may start on any node. O(jobs whose start is awaited). */
bool slurm_places_any_is_free(const struct slurm_engine *engine);
void slurm_places_on_cancel(void *self, uint64_t key, uint64_t id);
void slurm_places_on_stop(void *self, uint64_t key, uint64_t id);
void slurm_places_send(struct slurm_engine *engine);
void slurm_places_hold(struct slurm_engine *engine, struct slurm_job *job);
void slurm_places_count_fail(struct slurm_engine *engine, struct slurm_job *job,
                             const char *why); /* a start failed */
void slurm_places_done(struct slurm_engine *engine, const struct slurm_ask *ask,
                       const struct line *line);
void slurm_places_refused(struct slurm_engine *engine, const struct slurm_ask *ask,
                          const struct line *line);
void slurm_places_failed(struct slurm_engine *engine, const struct line *line);
void slurm_places_tick(struct slurm_engine *engine);
void slurm_costs_tick(struct slurm_engine *engine);

/* slurm_nodes.c */
void slurm_nodes_on_node(struct slurm_engine *engine, const struct line *line);
void slurm_nodes_on_gone(struct slurm_engine *engine, const struct line *line);
void slurm_nodes_on_admit(void *self, uint64_t instance);
void slurm_nodes_on_retire(void *self, uint64_t instance);
void slurm_nodes_on_forget(void *self, uint64_t instance);
void slurm_nodes_send(struct slurm_engine *engine);
void slurm_nodes_done(struct slurm_engine *engine, const struct slurm_ask *ask);
void slurm_nodes_refused(struct slurm_engine *engine, const struct slurm_ask *ask, uint64_t code);
void slurm_nodes_reset(struct slurm_engine *engine); /* nobody watched them for a while */
void slurm_nodes_tick(struct slurm_engine *engine);
void slurm_nodes_end_list(struct slurm_engine *engine);
void slurm_nodes_tell(struct slurm_engine *engine);
void slurm_nodes_tell_closed(struct slurm_engine *engine); /* when what runs there is reported */

#endif
