/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cloud_adapter.h - what whoever rents machines has to bring, to be one of the daemon's clouds.
 *
 * One struct of functions per cloud, in the folder of that cloud; clouds.c has the table of them.
 * Nothing else in the daemon or in the tool knows their names. Machines are rented through the cloud
 * port (control/ports/cloud_port.h), which the adapter hands out; here is what is around it: its part of the
 * configuration, its life, how it is reached, where it is, and its words for people.
 *
 * 'settings' is what 'read' has made of the map 'cloud' of a configuration, 'self' what 'create' has
 * made. All functions are there unless it says otherwise.
 *
 * Promises:  events are reported from lines, ticks or the loop, never from within an action.
 */
#ifndef STINT_CLOUD_CLOUD_ADAPTER_H
#define STINT_CLOUD_CLOUD_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/units.h"
#include "control/ports/adapter.h"
#include "control/ports/cloud_port.h"

struct arena;
struct doc_node;
struct settings;
struct uv_loop_s;

struct cloud_config {
    const void *settings;              /* read while it is created */
    const struct catalogue *catalogue; /* outlives it; prices may change meanwhile */
    const char *cluster;               /* whose machines these are */
    const char *node_prefix;           /* machine 17 is called <prefix>17 */
    struct uv_loop_s *loop;            /* for one without lines, outlives it; NULL: there is none */
    uint64_t seed;                     /* of jitter */

    void (*on_event)(void *context, const struct cloud_event *event);
    void (*on_send)(void *context, const char *lines, size_t size);
    void (*on_note)(void *context, bool is_error, const char *text); /* for the log */
    /* Whether machines may be in this account; if not, nothing is rented, listed or ended there. */
    int (*on_account)(void *context, const char *account, struct error *reterr);
    void *context;
};

/* For who asks without a daemon. */
struct cloud_subject {
    const void *settings;
    const struct catalogue *catalogue; /* NULL: it cannot be read */
    const char *cluster;
    const char *node_prefix;
};

/* What is asked for a catalogue; NULL and 0 in any of these: not given. */
struct cloud_query {
    const char *region;
    const char *endpoint; /* ask there instead of the cloud's own address */
    const char *profile;  /* whose keys */
    const char *prices;   /* a file of prices on demand */
    const char *bands;    /* a file that says how often spot machines are interrupted */
    const char *arch;
    const char *types;     /* patterns with '*', commas between */
    uint32_t mem_percent;  /* of a type's memory that is left for jobs */
    uint32_t history_days; /* of spot prices */
    bool with_metal;
    bool with_old;
    bool without_spot;
    void (*on_note)(void *context, const char *text); /* for who waits */
    void *context;
};

struct cloud_gathered {
    uint32_t offers;
    char region[64];
};

struct cloud_adapter {
    const char *name;  /* as 'kind' has it, the log, and the state file: never changed */
    const char *owner; /* whose the accounts are, in sentences; NULL: there are none */
    const char
        *down_advice; /* what to do if it has a fault; NULL: see to the program it talks with */

    /* Configuration: read the map; whether both mean the same; a word of warning about what is good
     * as long as nothing is rented (NULL: none; may be NULL). */
    int (*read)(const struct settings *in, const struct doc_node *map, const void **ret);
    bool (*is_same)(const void *a, const void *b);
    const char *(*note)(const void *settings);

    /* Ask whether it answers and grants what is needed; takes some seconds, and rents nothing. */
    void (*examine)(const struct cloud_subject *subject, const struct finding_sink *to);

    /* Ask what can be rented and write it down as a catalogue (docs/reference/files/catalogue.md), and what the
     * user must know of that. Both NULL: it cannot be asked. */
    int (*gather)(const struct cloud_query *query, FILE *out, struct cloud_gathered *ret,
                  struct error *reterr);
    const char *gather_help;

    /* Where machines are: the region that the settings name or the environment; "": there are none,
     * or it is not known yet. */
    const char *(*region)(const void *settings);

    /* After so long, what no list has shown is not there; 0: a list is the truth. */
    msec_t (*settle_ms)(const void *settings);

    /* That a machine is taken away is announced so long before, in so many cases of a million, before anything is learned of
     * that; 0: it may happen at any time. */
    msec_t notice_ms;
    uint32_t notice_ppm;

    /* Life. */
    int (*create)(const struct cloud_config *config, void **ret, struct error *reterr);
    void (*destroy)(void *self); /* takes NULL; a loop must turn until its handles are closed */
    struct cloud_port (*port)(void *self);

    /* How it is reached; no lines: by the loop, and there is no peer. */
    const struct adapter_lines *lines;
    struct adapter_peer (*peer)(const void *settings, struct arena *arena);
    bool (*is_usable)(const void *self);
    const char *(*fault)(const void *self); /* what is wrong, in words; NULL: nothing */

    /* Back-offs of offers that were refused; all NULL if there are none. What became of a machine that
     * a previous run asked for, in order of 'at', before anything else; how far back to look; and
     * whether an offer is in back-off now. */
    void (*recall)(void *self, uint32_t offer, msec_t asked_at, msec_t at, bool was_refused);
    msec_t (*memory)(const void *self);
    bool (*refusal)(const void *self, uint32_t offer, msec_t now, struct cloud_refusal *ret);

    /* Why machines that were returned are still there, as half a sentence; returns its length, 0:
     * nothing is known against it. May be NULL. */
    int (*return_fault)(const void *self, char *buf, size_t size);

    /* What is wrong there. May be NULL. */
    void (*each_finding)(const void *self, const char *cluster, const struct finding_sink *to);
};

#endif
