/* SPDX-License-Identifier: Apache-2.0 */
/*
 * world.h - the state of the simulated world, shared by its parts:
 *
 *   simulation.c  the loop and the measurements
 *   sim_cloud.c   machines, behind the cloud port
 *   sim_owned.c   machines that are owned
 *   sim_engine.c  tasks, behind the engine port
 *   sim_pace.c    how fast tasks make progress
 *   sim_services.c for how long services are short
 *   sim_news.c    how news reaches the controller: at once, late, twice, never
 *   sim_restart.c drift, audits, and controllers that take over from each other
 */
#ifndef STINT_SIM_WORLD_H
#define STINT_SIM_WORLD_H

#include "base/id_set.h"
#include "base/map.h"
#include "base/rng.h"
#include "sim/simulation.h"
#include "sim/timeline.h"

#define WORLD_NONE UINT32_MAX

/* Ranks within one moment, see simulation.h. */
enum world_rank { RANK_UNDER_WAY, RANK_ARRIVAL, RANK_DECISION, RANK_COMPLETION };

enum world_event {
    WORLD_MACHINE_RUNS,  /* who: machine */
    WORLD_MACHINE_READY, /* who: machine */
    WORLD_MACHINE_AT_RISK,
    WORLD_MACHINE_WARNED,
    WORLD_MACHINE_LOST,
    WORLD_MACHINE_ENDS,   /* returned */
    WORLD_MACHINE_LEFT,   /* id: the engine has nothing on it */
    WORLD_MACHINE_ABSENT, /* id: it was returned and is not there */
    WORLD_RENT_REFUSED,   /* id */
    WORLD_TASK_LAUNCHED,  /* who: task */
    WORLD_TASK_BEGINS,    /* its progress, after init */
    WORLD_TASK_HALTS,     /* stopped, not saved yet */
    WORLD_TASK_SAVED,
    WORLD_TASK_COMPLETES,  /* who: head of the unit */
    WORLD_NEWS,            /* who: a piece of late news */
    WORLD_TASK_TOLD,       /* who: task; it runs already, say so */
    WORLD_QUEUE_SERVED,    /* tasks that were queued look for room */
    WORLD_MACHINES_LISTED, /* id: key */
    WORLD_WORK_LISTED,     /* id: key */
    WORLD_AUDIT,
    WORLD_RESTART,
    WORLD_CATALOGUE_CHANGES,
    WORLD_RATES_DRIFT,
};

enum task_phase {
    PHASE_AWAY,      /* on no machine */
    PHASE_QUEUED,    /* waits for room on its machine */
    PHASE_LAUNCHING, /* fetches and builds */
    PHASE_INIT,      /* launched; disturbs others, makes no progress */
    PHASE_RUNNING,
    PHASE_HALTING, /* asked to stop; still makes progress if it did */
    PHASE_SAVING,  /* keeps its room, makes no progress */
    PHASE_COMPLETE,
};

/* A task; the first task of a gang also carries the progress of all (the 'unit'). */
struct world_task {
    uint64_t place_key;
    uint64_t stop_key;
    uint64_t queue_key; /* it may start wherever there is room; 0: it may not */
    uint64_t next_key;  /* placed while it was still stopping: go there next; 0: nowhere */
    uint64_t next_instance;
    msec_t started_at;
    uint32_t job;
    uint32_t machine;
    uint32_t next; /* in the machine's list */
    uint32_t prev;
    uint32_t epoch;   /* of what is under way with it */
    uint32_t own_ppm; /* what it could do, given its neighbours; set by sim_pace.c */
    uint8_t phase;
    bool progressing; /* past init, not halted yet */
    bool active;      /* launched and not halted: disturbs its neighbours */
    bool by_itself;   /* it was launched by the engine, nobody said where */

    /* The unit. */
    int64_t left;       /* work, in ms x ppm */
    int64_t saved;      /* what was left at the last checkpoint */
    msec_t since;       /* when 'left' was true */
    msec_t run_ms;      /* time with progress */
    msec_t launched_ms; /* time in which all its tasks were launched */
    msec_t launched_since;
    uint32_t rate_ppm;
    uint32_t told_ppm; /* the pace that its tasks reported last */
    uint32_t going;    /* tasks that are past init */
    uint32_t launched; /* tasks that are launched */
    uint32_t unit_epoch;
    uint32_t completed; /* tasks of a job, in its first task */
};

enum machine_state { MACHINE_FREE, MACHINE_ASKED, MACHINE_BOOTING, MACHINE_READY, MACHINE_ENDING };

struct world_machine {
    uint64_t id;
    uint32_t offer;
    uint32_t epoch; /* of its row */
    struct res used;
    uint32_t first; /* tasks that are here, in whatever phase, in the order they came */
    uint32_t last;
    uint32_t queued; /* of them, tasks that wait for room */
    uint32_t *built; /* workloads that were launched here before */
    uint32_t built_count;
    uint32_t built_room;
    msec_t billed_from; /* -1: not yet */
    uint32_t next_free;
    uint8_t state;
    bool is_retired; /* the engine starts nothing more there */
    bool is_warned;  /* it was said that it will be taken */
};

/* A bill that has ended. */
struct world_bill {
    uint64_t id;
    uint32_t offer;
    msec_t from; /* -1: it was never billed */
    msec_t to;
};

/* News on its way to the controller. */
struct world_news {
    bool is_cloud;
    struct engine_event engine;
    struct cloud_event cloud;
    uint32_t next_free;
};

/* A job that has no end that anybody knows; one per job. */
struct world_service {
    msec_t at; /* when the rest was true */
    msec_t served_ms;
    msec_t short_ms;  /* of it: with fewer tasks running than it has */
    uint32_t running; /* tasks that make progress */
    bool is_whole;    /* all of them have run at once */
    bool has_ended;   /* the first of them */
};

struct world {
    const struct sim_config *config;
    struct controller *controller;
    struct controller_config control;
    uint64_t first_key; /* of this controller: actions with lower keys are of an earlier one */
    uint64_t restarts;
    uint32_t chores;  /* audit, restart, change of the catalogue and drift, on the timeline */
    msec_t change_at; /* of the catalogue, or MSEC_NEVER */
    bool change_is_due;
    bool drift_is_due;
    bool audit_is_due;
    bool restart_is_due;
    struct world_bill *bills; /* of machines that are gone, for lists */
    uint32_t bill_count;
    uint32_t bills_room;
    struct id_set booked;        /* ids of machines whose bill the controller has booked */
    money_t settled;             /* what tasks were charged by all controllers */
    struct ledger_account *kept; /* open accounts, as the last controller left them */
    uint32_t kept_count;
    uint32_t kept_room;
    struct interruption_memory *risks; /* per offer, as the last controller left them */
    uint32_t risk_count;
    uint32_t risk_room;
    uint64_t notice_saved; /* by all controllers but the last */
    uint64_t notice_lost;
    struct map kept_by_id;
    struct ledger_due *owed;  /* by each task, as the last controller left it */
    struct ledger_sums books; /* of them, by all controllers together */
    uint32_t *queue; /* tasks that were queued, in this order; void if their queue_key is 0 */
    uint32_t queue_count;
    uint32_t queue_room;
    uint32_t jobs_arrived;
    struct timeline timeline;
    uint32_t sweep_at; /* events on the timeline at which the void ones are taken out */
    msec_t now;
    struct world_task *tasks;
    struct world_service *services; /* of each job */
    uint32_t *first_task;           /* of each job; tasks of a job follow each other */
    uint32_t task_count;
    struct world_machine *machines;
    uint32_t machine_count;
    uint32_t machines_room;
    uint32_t machine_free;
    uint32_t machines_living;
    struct map machine_by_id;
    struct world_news *news;
    uint32_t news_count;
    uint32_t news_room;
    uint32_t news_free;
    uint32_t news_pending; /* late news that has not arrived yet */
    uint64_t tasks_arrived;
    struct rng rng_cloud;
    struct rng rng_news;
    struct rng rng_estimates;
    struct rng rng_restarts;
    struct rng rng_rates;

    uint32_t *slowest; /* the slowest of each gang, see sim_pace.c; at twice the head's row */

    /* Scratch for sim_pace.c. */
    struct contention_part *parts;
    double *part_rates;
    uint32_t parts_room;
    uint32_t part_rates_room;

    /* Measurements. */
    uint64_t jobs_done;
    uint64_t completions;
    uint64_t launches;
    money_t billed;
    money_t kept_cost;
    money_t owned_cost;
    msec_t lost_work_ms;
    uint64_t doomed_starts;
    money_t time_cost;
    double jct_sum_ms;
    msec_t jct_max_ms;
    double idle_sum_ms;
    double wait_sum_ms;
    double throughput_sum;
};

extern const struct cloud_ops sim_cloud_ops;
extern const struct engine_ops sim_engine_ops;

const struct trace_job *world_job(const struct world *world, uint32_t task);
const struct shape *world_shape(const struct world *world, uint32_t task);

/* Something will happen to a task or machine; void if its epoch has changed by then. */
void world_at(struct world *world, msec_t at, enum world_event kind, uint32_t who, uint32_t epoch);

/* The job as the engine tells it. */
struct engine_event world_arrival(struct world *world, uint32_t row);

/* sim_restart.c */
void sim_restart_init(struct world *world);
void sim_restart_done(struct world *world);
void sim_restart_arm(struct world *world);    /* something goes on again */
void sim_restart_disarm(struct world *world); /* the timeline was emptied */
void sim_restart_event(struct world *world, const struct timeline_event *event);

/* sim_owned.c */
void sim_owned_begin(struct world *world);
void sim_owned_tell(struct world *world); /* a controller that knows of none yet */
void sim_owned_end(struct world *world);

/* sim_cloud.c */
uint32_t sim_cloud_add(struct world *world, uint64_t id, uint32_t offer);
void sim_cloud_event(struct world *world, const struct timeline_event *event);
void sim_cloud_list(struct world *world, uint64_t key);

/* sim_engine.c */
void sim_engine_event(struct world *world, const struct timeline_event *event);
void sim_engine_machine_lost(struct world *world, uint32_t row);
void sim_engine_list(struct world *world, uint64_t key);
void sim_engine_serve(struct world *world);

/* sim_pace.c: keep the rates right */
uint32_t sim_pace_head(const struct world *world, uint32_t task);
void sim_pace_drift(struct world *world);                 /* all rates are others than before */
void sim_pace_join(struct world *world, uint32_t task);   /* it disturbs others from now on */
void sim_pace_leave(struct world *world, uint32_t task);  /* no more */
void sim_pace_drop(struct world *world, uint32_t task);   /* nor do its neighbours matter */
void sim_pace_begin(struct world *world, uint32_t task);  /* it makes progress */
void sim_pace_end(struct world *world, uint32_t task);    /* no more */
void sim_pace_settle(struct world *world, uint32_t head); /* bring 'left' up to now */
void sim_pace_launched(struct world *world, uint32_t task, int change);

/* sim_services.c */
bool sim_services_is(const struct trace_job *job);
void sim_services_init(struct world *world);
void sim_services_count(struct world *world, uint32_t task, bool runs);
void sim_services_end(struct world *world, uint32_t task);

/* sim_news.c */
void sim_news_engine(struct world *world, const struct engine_event *event);
void sim_news_cloud(struct world *world, const struct cloud_event *event);
void sim_news_deliver(struct world *world, uint32_t row);

#endif
