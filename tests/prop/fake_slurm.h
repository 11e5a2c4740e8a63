/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_slurm.h - a slurmctld in virtual time: jobs, nodes, and a scheduler that starts what may start.
 *
 * It knows what matters to one who rents machines for it: jobs alone, in arrays and on several nodes;
 * the gate and the holds, dependencies, begin times, required nodes and priorities; nodes that join,
 * fall silent, are drained, go down and are deleted; what is put back when a node goes down, and the
 * time until a job is cleared off its nodes. fake_bridge.h speaks for it as stint-slurm does.
 *
 * It also keeps the truth that judges ask for and Slurm would not tell: how often a job was started,
 * completed and lost its node, and who put it back.
 *
 * Promises:  no clock and no chance of its own but for the seed: same calls, same results.
 */
#ifndef STINT_TESTS_PROP_FAKE_SLURM_H
#define STINT_TESTS_PROP_FAKE_SLURM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "base/units.h"
#include "engine/slurm/test/fake_reservations.h"

enum {
    FAKE_NODES_MAX = 4,      /* of one job */
    FAKE_TASKS_MAX = 32,     /* of one array */
    FAKE_FORGET_MS = 300000, /* MinJobAge */
};

#define FAKE_NO_TASK UINT32_MAX

enum fake_phase { FAKE_WAITING, FAKE_RUNNING, FAKE_ENDED };
enum fake_hold { FAKE_FREE, FAKE_BY_PLUGIN, FAKE_BY_USER, FAKE_BY_ADMIN };
enum fake_end { FAKE_COMPLETED, FAKE_CANCELLED, FAKE_NODE_FAIL };

/* What a comment says of markets: on demand only; spot first, on demand after FAKE_SPOT_S; a deadline. */
enum fake_market { FAKE_ANY_MARKET, FAKE_ON_DEMAND, FAKE_SPOT_FIRST, FAKE_DEADLINE };
enum { FAKE_SPOT_S = 30 };

struct fake_job {
    uint32_t id;
    uint32_t array; /* 0: it is none */
    uint32_t task;  /* FAKE_NO_TASK: none, or the record of several */
    uint32_t tasks[FAKE_TASKS_MAX];
    uint32_t task_count; /* of a record of several; 0: it is one job */
    uint32_t user;
    uint32_t name;
    uint32_t node_count;
    uint32_t cpus; /* on each node */
    uint32_t mem_mib;
    uint32_t limit_s;
    msec_t runtime;
    bool may_requeue;
    bool may_move;
    enum fake_market market; /* that its comment asks for */
    uint32_t depends_on;     /* 0: on none any more */

    enum fake_phase phase;
    enum fake_end end;
    enum fake_hold hold;
    bool is_gated;
    bool is_completing;
    uint32_t run;
    uint32_t priority;
    msec_t submitted_at, begin_at, started_at, ended_at;
    msec_t end_due;   /* of what runs */
    msec_t clear_due; /* of what is completing */
    uint64_t required[FAKE_NODES_MAX];
    uint32_t required_count;
    uint64_t nodes[FAKE_NODES_MAX]; /* allocated, also while it is completing */
    uint32_t nodes_count;
    uint32_t comment; /* how often it was changed */
    char note[192];   /* why it waits; "": another comment, or none */
    bool is_forgotten;

    /* The truth. */
    uint32_t starts;
    uint32_t completions;
    uint32_t losses;      /* of a node, to the cloud or to chance, while it ran there */
    uint32_t by_operator; /* put back */
    uint32_t by_us;       /* stopped though its machine stays and it must not be moved */
    uint32_t by_us_rightly;
};

enum fake_node_state { FAKE_JOINING, FAKE_UP, FAKE_SILENT, FAKE_DOWN };

struct fake_node {
    uint64_t instance;
    uint32_t cpus;
    uint32_t mem_mib;
    enum fake_node_state state;
    bool is_drained;
    bool is_our_drain;
    bool is_there;   /* in Slurm */
    bool is_alive;   /* its slurmd */
    bool is_excused; /* what it loses is the cloud's doing, or chance's */
    bool is_noticed; /* the cloud takes it */
    msec_t mute_until;
    msec_t lost_at; /* did not answer since; MSEC_NEVER: it does */
    msec_t change_due;
    uint32_t used_cpus;
    uint32_t used_mem_mib;
};

struct fake_slurm {
    struct rng rng;
    msec_t now;
    uint32_t silence_s; /* SlurmdTimeout */
    msec_t clear_ms;    /* a job is cleared off its nodes within */
    struct fake_reservations leases;
    bool is_away; /* slurmctld does not answer */
    msec_t back_at;
    uint32_t next_id;
    struct fake_job *jobs;
    uint32_t job_count;
    uint32_t jobs_room;
    struct fake_node *nodes;
    uint32_t node_count;
    uint32_t nodes_room;
    uint64_t jobs_version; /* another one: something has changed */
    uint64_t nodes_version;
    msec_t schedule_at;
    bool is_due; /* something may start that could not before */

    void (*on_place)(void *context, const struct fake_job *job);
    void (*on_start)(void *context, const struct fake_job *job);
    void (*on_end)(void *context, const struct fake_job *job, const char *how);
    void *context;
};

void fake_slurm_init(struct fake_slurm *slurm, uint64_t seed, msec_t now);
void fake_slurm_done(struct fake_slurm *slurm);

/* 'spec' has what is asked for; its id, or the array's. */
uint32_t fake_slurm_submit(struct fake_slurm *slurm, const struct fake_job *spec);

/* NULL: no such job. A task that was not split off its array is, if 'splits'. Good until the next is. */
struct fake_job *fake_slurm_find(struct fake_slurm *slurm, uint32_t id, uint32_t task, bool splits);

/* Whose slurmd says hello, ends, or does not answer for a while. */
void fake_slurm_join(struct fake_slurm *slurm, uint64_t instance, uint32_t cpus, uint32_t mem_mib);
void fake_slurm_kill_node(struct fake_slurm *slurm, uint64_t instance, bool is_chance);
void fake_slurm_excuse(struct fake_slurm *slurm, uint64_t instance);
void fake_slurm_mute(struct fake_slurm *slurm, uint64_t instance, msec_t until);
struct fake_node *fake_slurm_node(struct fake_slurm *slurm, uint64_t instance);

/* What the requests do; NULL: done, else why not. */
const char *fake_slurm_set_down(struct fake_slurm *slurm, uint64_t instance);
const char *fake_slurm_drain(struct fake_slurm *slurm, uint64_t instance, bool on);
const char *fake_slurm_delete(struct fake_slurm *slurm, uint64_t instance);
void fake_slurm_gate(struct fake_slurm *slurm, struct fake_job *job);
void fake_slurm_unhold(struct fake_slurm *slurm, struct fake_job *job);
void fake_slurm_free(struct fake_slurm *slurm, struct fake_job *job, const uint64_t *required,
                     uint32_t count);

/* Put back what runs. */
enum fake_cause { FAKE_CAUSE_US, FAKE_CAUSE_OPERATOR, FAKE_CAUSE_NODE };
void fake_slurm_requeue(struct fake_slurm *slurm, struct fake_job *job, enum fake_cause cause);
void fake_slurm_cancel(struct fake_slurm *slurm, struct fake_job *job);
void fake_slurm_hold(struct fake_slurm *slurm, struct fake_job *job, bool on);

/* slurmctld goes and comes back then. */
void fake_slurm_leave(struct fake_slurm *slurm, msec_t until);

/* How many jobs are allocated there; 'ret_running': of those that run. */
uint32_t fake_slurm_allocated(const struct fake_slurm *slurm, uint64_t instance,
                              uint32_t *ret_running);

bool fake_slurm_is_held(const struct fake_job *job);

/* Jobs that are not over. */
uint32_t fake_slurm_open(const struct fake_slurm *slurm);

/* Whether somebody could use a machine: a job runs or may run. */
bool fake_slurm_has_work(const struct fake_slurm *slurm);

msec_t fake_slurm_next_wake(const struct fake_slurm *slurm);
void fake_slurm_tick(struct fake_slurm *slurm, msec_t now);

#endif
