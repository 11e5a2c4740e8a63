/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_engine.h - the engine port over the lines of stint-slurm.
 *
 * Whoever owns the pipe to stint-slurm hands every line in and sends what on_send is given;
 * docs/reference/protocols/slurm.md has the lines. The adapter keeps no clock and makes no I/O. What it
 * must know after a restart it learns from Slurm.
 *
 * Words:     a job here is one that the controller sees: each task of an array is a job of its own;
 *            a job on n nodes is a gang of n tasks. The record is Slurm's, which may be a whole array.
 *
 * How actions and events go together:
 *  1. acts only note what is asked for. slurm_engine_flush sends it, grouped; what cannot be sent is
 *     sent after the next slurm_engine_connected. Events come from slurm_engine_line and
 *     slurm_engine_tick only;
 *  2. a gang is placed when all of its tasks are, in one request;
 *  3. a job is announced once it may run: waiting, not held by a person, no dependency left, its
 *     time come, nothing in Slurm's policy against it (slurm_admit.c), and room for it if it is a
 *     gang. When that ends before it runs it is withdrawn;
 *  4. a job that runs where nothing was asked for is reported as found, under the key of its 'queue' or
 *     one with the top bit set; one that runs on machines that are not managed by Stint is not either.
 *
 * Promises:  any line may be given. Nothing is written to Slurm but by actions, slurm_engine_cost, what 'explain'
 *            says, and the hello and the lists. A comment that the site has set is not changed.
 * Costs:     a line is O(its length), one of an array O(its tasks), one of a running job O(nodes).
 *            About 200 bytes a job.
 * Memory:    owned by the adapter; what the config points to outlives it, the texts are copied.
 */
#ifndef STINT_ENGINE_SLURM_ENGINE_H
#define STINT_ENGINE_SLURM_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "base/units.h"
#include "control/ports/adapter.h"
#include "control/ports/engine_port.h"
#include "engine/slurm/slurm_burst.h"
#include "engine/slurm/slurm_market.h"
#include "model/catalogue.h"
#include "model/shape.h"

struct engine_lease;
struct engine_payer;

struct slurm_engine;

enum { SLURM_LABEL_SIZE = 48 }; /* holds every label */

struct slurm_engine_config {
    const struct catalogue *catalogue;
    struct shapes *shapes; /* the adapter adds to it */
    struct names *users;   /* and to these */
    struct names *job_names;
    const char *cluster;     /* NULL: no lease is asked for */
    const char *node_prefix; /* NULL: "st-"; the machine 17 is the node "st-17" */
    const char *partition;   /* where jobs are placed; NULL: they stay in theirs */

    bool any_zone; /* the nodes of one job may be in several zones */

    /* Jobs that may be moved: those with this word in their comment, if Slurm may requeue them. NULL: "stint:move". */
    const char *move_word;

    struct slurm_markets markets; /* rules for markets of some jobs; they are copied */
    struct slurm_bursts bursts;   /* and for how long jobs wait for owned nodes */

    /* Nodes that are owned: the i-th is the machine OWNED_ID_FIRST + i. None is ever drained, set down or deleted. */
    const char *const *owned;
    uint32_t owned_count;

    const char *stop_signal; /* sent before a job is stopped; NULL: none */
    msec_t stop_grace_ms;    /* from the signal to the end; at most ten minutes */
    msec_t node_lost_ms;     /* a machine that is down so long is lost; 0: 15 s. One that is only
                                silent while jobs run there is Slurm's to judge */

    uint64_t tmp_mib; /* temporary disk space of every machine, as Slurm knows it (TmpDisk) */
    msec_t
        start_timeout_ms; /* a placement that nothing comes of is given up after it; 0: 3 minutes */

    uint32_t jobs_max; /* more are left out; 0: two million */
    /* Tasks of jobs on several nodes that are announced at a time; such jobs beyond wait. 0: a million. */
    uint32_t gang_tasks_max;

    /* Report also jobs that run on machines that are not managed by Stint, as found on the machine 0: for one
     * who only watches. */
    bool observes;

    void (*on_event)(void *context, const struct engine_event *event);
    void (*on_send)(void *context, const char *lines, size_t size);
    void (*on_say)(void *context, const char *text); /* for the log; may be NULL */

    /* What the machine is and costs, in a few words for the comment of a job that is placed there;
     * returns their length. May be NULL. */
    int (*describe)(void *context, uint64_t instance, char *buf, size_t size);
    /* Why the task does not run, in one short line for the comment of its job; returns its length; 0: nothing keeps it;
     * below 0: that is not known now, and what was said last stays. NULL: nothing is written. */
    int (*explain)(void *context, uint64_t task, char *buf, size_t size);
    /* The set of limits that a job of that owner is under. May be NULL. */
    uint32_t (*caps)(void *context, const struct engine_owner *owner);
    /* See struct engine_config. */
    void (*on_lease)(void *context, const struct engine_lease *lease);
    /* See struct engine_config; NULL: jobs that ended unheard are left out. */
    bool (*is_booked)(void *context, uint64_t task);
    void *context;
};

struct slurm_engine *slurm_engine_create(const struct slurm_engine_config *config);
void slurm_engine_destroy(struct slurm_engine *engine);

struct engine_port slurm_engine_port(struct slurm_engine *engine);

/* stint-slurm was started, or is gone. */
void slurm_engine_connected(struct slurm_engine *engine, msec_t now);
void slurm_engine_disconnected(struct slurm_engine *engine, msec_t now);

/* One line without its line feed, which is changed; there is room for one byte more. A 'length' of
 * SIZE_MAX: a line that was too long. */
void slurm_engine_line(struct slurm_engine *engine, msec_t now, char *text, size_t length);

/* Send what was asked for since. */
void slurm_engine_flush(struct slurm_engine *engine, msec_t now);

/* When slurm_engine_tick has something to do; MSEC_NEVER: it has not. */
msec_t slurm_engine_next_wake(const struct slurm_engine *engine);
void slurm_engine_tick(struct slurm_engine *engine, msec_t now);

/* Whether stint-slurm has said hello and slurmctld answers it. */
bool slurm_engine_is_up(const struct slurm_engine *engine);

struct finding_sink;

/* Who else acts here, or waits to. */
void slurm_lease_tell(const struct slurm_engine *engine, const struct finding_sink *to);

/* Why it may not act, in words; NULL: it may. */
const char *slurm_engine_lease_fault(const struct slurm_engine *engine);

/* "12", "12_3" of an array, "12.1" of a gang, "12_3.1"; returns its length. */
int slurm_engine_label(const struct slurm_engine *engine, uint64_t task, char *buf, size_t size);

/* To whom the task is charged; false: it has been forgotten. */
bool slurm_engine_payer(const struct slurm_engine *engine, uint64_t task, struct engine_payer *ret);

/* The task of a label, which has not been forgotten by Slurm; 0: there is none. Also takes the id
 * that a task of an array has of its own. */
uint64_t slurm_engine_find(const struct slurm_engine *engine, const char *text);

/* The name of a machine in Slurm, "st-17"; returns its length. */
int slurm_engine_node_name(const struct slurm_engine *engine, uint64_t instance, char *buf,
                           size_t size);

/* A task that has ended, or a part of it, cost this: it is added up and written into the job's admin
 * comment some seconds later. The type is NULL if its machine is not known any more. */
void slurm_engine_cost(struct slurm_engine *engine, uint64_t task, money_t cost, const char *type);

/* The reason of a job of several components that Slurm starts by itself: its backfill scheduler, which alone can, runs too
 * seldom, or it has more components than we take. Its gate is opened. */
#define SLURM_HETEROGENEOUS \
    "it is heterogeneous: Slurm starts it on existing nodes, and Stint rents nothing for it"

/* Jobs that would be announced if any machine of the catalogue could hold them. */
void slurm_engine_each_unholdable(const struct slurm_engine *engine,
                                  void (*each)(void *context, uint64_t task, const char *reason),
                                  void *context);

/* What slurm.conf lacks. */
void slurm_engine_check_conf(const struct slurm_engine *engine, const struct finding_sink *to);

/* Machines of our prefix in Slurm that were neither admitted nor retired: left over, if nobody else
 * knows them. 'retire' removes them. */
void slurm_engine_each_stray(const struct slurm_engine *engine,
                             void (*each)(void *context, uint64_t instance, bool is_up),
                             void *context);

struct slurm_wait;

/* Jobs that Slurm's policy keeps from being announced; no machine is rented for them. */
void slurm_engine_each_barred(struct slurm_engine *engine,
                              void (*each)(void *context, uint64_t task,
                                           const struct slurm_wait *wait),
                              void *context);

/* Why Slurm keeps a job from being announced. */
enum slurm_wait_kind {
    SLURM_WAIT_NONE, /* it is announced, runs, has ended or is not known */
    SLURM_WAIT_USER_HOLD,
    SLURM_WAIT_ADMIN_HOLD,
    SLURM_WAIT_DEPENDENCY,
    SLURM_WAIT_BEGIN,
    SLURM_WAIT_ROOM,        /* as many tasks of gangs are announced as may be */
    SLURM_WAIT_ARRAY_LIMIT, /* as many of its array are announced as may run at a time */
    SLURM_WAIT_UNHOLDABLE,
    SLURM_WAIT_POLICY,  /* Slurm would not start it now, by its limits */
    SLURM_WAIT_REFUSED, /* it was placed, and Slurm said that it will not start it */
};

struct slurm_wait {
    enum slurm_wait_kind kind;
    msec_t until;     /* of SLURM_WAIT_BEGIN and _REFUSED, else MSEC_NEVER */
    const char *word; /* of SLURM_WAIT_POLICY and _REFUSED: Slurm's reason, "Licenses"; else NULL */
    const char *reason; /* of SLURM_WAIT_UNHOLDABLE and _POLICY, in words; else NULL */
};

/*
 * What would be announced of a job with the fields of a line 'job' (docs/reference/protocols/slurm.md, without 'id' and 'state'),
 * its shape among 'shapes', which has at least those of the engine. -ERANGE: it could never run, and 'reterr' says why;
 * -EINVAL: the fields make no sense.
 */
int slurm_engine_imagine(struct slurm_engine *engine, const char *fields, struct shapes *shapes,
                         struct job_spec *ret, struct error *reterr);

struct slurm_wait slurm_engine_wait(struct slurm_engine *engine, uint64_t task);

struct slurm_engine_stats {
    uint64_t lines;     /* read */
    uint64_t bad_lines; /* that could not be */
    uint64_t requests;  /* sent */
    uint64_t refused;
    uint32_t jobs;    /* known now */
    uint32_t waiting; /* announced and not running */
    uint32_t running;
    uint32_t nodes; /* of our prefix */
    uint32_t open;  /* requests that are not answered */
};

struct slurm_engine_stats slurm_engine_stats(const struct slurm_engine *engine);

#endif
