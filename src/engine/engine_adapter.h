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
 * Promises:  events are told from lines, ticks or the loop, never from within an act.
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
struct settings;
struct shapes;
struct uv_loop_s;

enum { ENGINE_TEXT = 256 };

struct engine_config {
    const void *settings;              /* read while it is created */
    const struct catalogue *catalogue; /* outlives it, as all that follow */
    struct shapes *shapes;             /* the adapter adds to it */
    struct names *users;               /* and to these */
    struct names *job_names;
    const char *node_prefix; /* the machine 17 is the node "st-17" */
    msec_t start_timeout_ms; /* a placement that nothing comes of is given up after it */
    bool observes;           /* only watch: tell also of jobs that run elsewhere, on machine 0 */
    struct uv_loop_s *loop;  /* for one without lines; NULL: there is none */

    void (*on_event)(void *context, const struct engine_event *event);
    void (*on_send)(void *context, const char *lines, size_t size);
    void (*on_say)(void *context, const char *text); /* for the log */
    /* What the machine is and costs, in a few words for whoever looks at a job that is placed there;
     * returns their length. */
    int (*describe)(void *context, uint64_t instance, char *buf, size_t size);
    void *context;
};

/* What keeps a job from running. */
struct engine_wait {
    const char *why; /* a word of docs/format/api.md: "held", "depends" ... */
    msec_t until;    /* MSEC_NEVER: not known */
    char text[ENGINE_TEXT];
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
    const char *bad_machine; /* nothing would start there */
    const char *still_busy;  /* one that leaves has something on it that is not ours */
};

struct engine_adapter {
    const char *name;    /* as 'kind' has it, and the log */
    const char *title;   /* in sentences */
    double default_rate; /* pace of a task that shares its machine, before anything was learned */
    struct engine_words words;

    /* Configuration: read the map; whether both mean the same; what is wrong with it, found without
     * the daemon; how long things take. */
    int (*read)(const struct settings *in, const struct doc_node *map, const void **ret);
    bool (*is_same)(const void *a, const void *b);
    void (*examine)(const void *settings, const struct finding_sink *to);
    struct engine_lags (*lags)(const void *settings);

    /* Life. */
    int (*create)(const struct engine_config *config, void **ret, struct error *reterr);
    void (*destroy)(void *self); /* takes NULL; a loop must turn until its handles are closed */
    struct engine_port (*port)(void *self);

    /* How it is reached; no lines: by the loop, and there is no peer. */
    const struct adapter_lines *lines;
    struct adapter_peer (*peer)(const void *settings, struct arena *arena);
    bool (*is_usable)(const void *self);
    const char *(*fault)(const void *self); /* what is wrong, in words; NULL: nothing */

    /* Tasks: as users write them, and back (0: there is none); why one does not run (false: nothing
     * keeps it); one that has ended, or a part of it, cost this (on a machine of 'type', or NULL). */
    int (*label)(const void *self, uint64_t task, char *buf, size_t size);
    uint64_t (*find)(const void *self, const char *label);
    bool (*wait)(void *self, uint64_t task, msec_t now, struct engine_wait *ret);
    void (*cost)(void *self, uint64_t task, money_t cost, const char *type);

    /* Nodes with our prefix that were neither admitted nor retired: left over, if nobody else knows
     * them. */
    void (*each_stray)(const void *self, void (*each)(void *context, uint64_t instance, bool is_up),
                       void *context);

    /* What is wrong there; 'knows' says whether a machine is ours. */
    void (*each_finding)(void *self, bool (*knows)(void *context, uint64_t instance), void *context,
                         const struct finding_sink *to);
};

#endif
