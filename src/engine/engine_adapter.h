/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_adapter.h - what a resource manager has to bring, to be one of the daemon's engines.
 *
 * One struct of functions per engine, in the folder of that engine; engines.c has the table of them.
 * Nothing else in the daemon or in the tool knows their names. The work itself goes through the engine
 * port (control/ports/engine_port.h), which the adapter hands out; here is what is around it: its part of the
 * configuration, its life, how it is reached, and its words for people.
 *
 * 'settings' is what 'read' has made of the map 'engine' of a configuration, 'self' what 'create' has
 * made. All functions are there unless it says otherwise.
 *
 * Promises:  events are reported from lines, ticks or the loop, never from within an action.
 */
#ifndef STINT_ENGINE_ENGINE_ADAPTER_H
#define STINT_ENGINE_ENGINE_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"
#include "control/ports/adapter.h"
#include "control/ports/engine_port.h"

struct arena;
struct catalogue;
struct doc_node;
struct names;
struct owned_entry;
struct res;
struct settings;
struct shapes;
struct uv_loop_s;

enum { ENGINE_TEXT = 256 };

/* The right to act on this engine. One daemon has it at a time. */
struct engine_lease {
    msec_t until;   /* of CLOCK_MONOTONIC in ms; 0: another daemon may act */
    uint64_t epoch; /* a new number for each owner */
};

struct engine_config {
    const void *settings;              /* read while it is created */
    const struct catalogue *catalogue; /* outlives it, as all that follow */
    struct shapes *shapes;             /* the adapter adds to it */
    struct names *users;               /* and to these */
    struct names *job_names;
    const char *cluster;     /* the daemon's name; NULL: it asks for no lease */
    const char *node_prefix; /* the machine 17 is the node "st-17" */
    msec_t start_timeout_ms; /* a placement that nothing comes of is given up after it */
    bool observes;           /* only watch: tell also of jobs that run elsewhere, on machine 0 */
    struct uv_loop_s *loop;  /* for one without lines; NULL: there is none */

    void (*on_event)(void *context, const struct engine_event *event);
    void (*on_send)(void *context, const char *lines, size_t size);
    void (*on_say)(void *context, const char *text); /* for the log */
    /* What the engine's own work takes of every new machine, per type of the catalogue: no task is planned there. It holds
     * until it is reported again. NULL: nobody asks. */
    void (*on_taken)(void *context, const struct res *taken);
    /* What the machine is and costs, in a few words for whoever looks at a job that is placed there;
     * returns their length. */
    int (*describe)(void *context, uint64_t instance, char *buf, size_t size);
    /* Why the task does not run, in one short line for whoever looks at its job; returns its length; 0: nothing
     * keeps it; below 0: that is not known now, and what was said last stays. */
    int (*explain)(void *context, uint64_t task, char *buf, size_t size);
    /* The set of limits that a job of that owner is under, see model/caps.h. NULL: there are none. */
    uint32_t (*caps)(void *context, const struct engine_owner *owner);
    /* The lease has changed. Engines without one leave this uncalled, and their daemon may act. */
    void (*on_lease)(void *context, const struct engine_lease *lease);
    /* Whether the books have the end of the task already. */
    bool (*is_booked)(void *context, uint64_t task);
    void *context;
};

/* Nodes that the engine has anyway: the machine OWNED_ID_FIRST + i has the i-th name. */
struct engine_owned {
    const struct owned_entry *kinds; /* trace/owned_doc.h */
    const char *const *names;
    const uint32_t *kind_of; /* of each name */
    uint32_t count;
};

/* What keeps a job from running. */
struct engine_wait {
    const char *why; /* a word of docs/reference/wait-reasons.md: "held", "depends" ... */
    msec_t until;    /* MSEC_NEVER: not known */
    char text[ENGINE_TEXT];
};

/* To whom a task is charged beside its user; the texts live until the engine is asked again, NULL: there is none. */
struct engine_payer {
    const char *account;
    const char *partition;
    const char *qos;
};

/* How long this engine takes; for the virtual world of mode shadow, and, how long before a machine is taken its work is stopped. */
struct engine_lags {
    msec_t start_min_ms; /* from a placement to the start; later only if there was no room */
    msec_t start_max_ms;
    msec_t news_ms; /* until it is heard of */
    msec_t stop_ms; /* from the order to stop a task to its end, having saved what it has done */
};

/* What an operator is advised to do, where the engine's own tools are the way. */
struct engine_words {
    const char *not_ready;   /* a machine boots and does not join */
    const char *no_boot;     /* several did not, one after another */
    const char *no_start;    /* nothing would start on several, one after another */
    const char *bad_machine; /* nothing would start there */
    const char *still_busy;  /* one that leaves has something on it that is not managed by Stint */
};

struct engine_adapter {
    const char *name;    /* as 'kind' has it, and the log */
    const char *title;   /* in sentences */
    double default_rate; /* pace of a task that shares its machine, before anything was learned */
    int64_t
        pods; /* that a machine takes at a time, where the catalogue does not say; 0: any number */
    int64_t volumes;   /* likewise that a machine attaches; 0: its tasks ask for none */
    bool ready_proves; /* a machine is ready only after all that every task needs of it was tried */
    struct engine_words words;

    /* Configuration: read the map; whether both mean the same; what is wrong with it, found without
     * the daemon; how long things take. */
    int (*read)(const struct settings *in, const struct doc_node *map, const void **ret);
    bool (*is_same)(const void *a, const void *b);
    void (*examine)(const void *settings, const struct finding_sink *to);
    struct engine_lags (*lags)(const void *settings);

    /* The nodes that it has anyway; may be NULL: none. */
    struct engine_owned (*owned)(const void *settings);

    /* Life. */
    int (*create)(const struct engine_config *config, void **ret, struct error *reterr);
    void (*destroy)(void *self); /* takes NULL; a loop must turn until its handles are closed */
    struct engine_port (*port)(void *self);

    /* How it is reached; no lines: by the loop, and there is no peer. What a peer has to keep is in files beside the daemon's
     * 'state', whose names begin with it. */
    const struct adapter_lines *lines;
    struct adapter_peer (*peer)(const void *settings, const char *state, struct arena *arena);
    bool (*is_usable)(const void *self);
    const char *(*fault)(const void *self); /* what is wrong, in words; NULL: nothing */

    /* Tasks: as users write them, and back (0: there is none); why one does not run (false: nothing
     * keeps it); one that has ended, or a part of it, cost this (on a machine of 'type', or NULL). */
    int (*label)(const void *self, uint64_t task, char *buf, size_t size);
    uint64_t (*find)(const void *self, const char *label);
    /* May be NULL: this engine charges nobody but users. False: the task is not known. */
    bool (*payer)(const void *self, uint64_t task, struct engine_payer *ret);
    bool (*wait)(void *self, uint64_t task, msec_t now, struct engine_wait *ret);
    /* A job that was not submitted, reported by fields of the engine's own protocol, with its shape among 'shapes', a copy of the
     * engine's. -ERANGE: it could never run, as 'reterr' says; -EINVAL: the fields make no sense. May be NULL. */
    int (*imagine)(void *self, const char *fields, struct shapes *shapes, struct job_spec *ret,
                   struct error *reterr);
    void (*cost)(void *self, uint64_t task, money_t cost, const char *type);

    /* Within a job, where no daemon is: the job that this process is part of, as its user writes it (false: none), and
     * a report, by way of the engine, of how fast a job runs (-ENOENT: it is no job of this engine). Both may be NULL. */
    bool (*own_job)(char *ret, size_t size);
    int (*report_rate)(const char *job, const char *rate, struct error *reterr);

    /* Nodes with our prefix that were neither admitted nor retired: left over, if nobody else knows
     * them. */
    void (*each_stray)(const void *self, void (*each)(void *context, uint64_t instance, bool is_up),
                       void *context);

    /* What is wrong there; 'knows' says whether a machine is managed by Stint. */
    void (*each_finding)(void *self, bool (*knows)(void *context, uint64_t instance), void *context,
                         const struct finding_sink *to);
};

#endif
