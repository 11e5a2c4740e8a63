/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_bridge.h - stint-slurm over fake_slurm.h: the lines of docs/reference/protocols/slurm.md, in virtual
 * time.
 *
 * It reads requests with the reader of stint-slurm itself, so that what that one would refuse is
 * refused here, and tells news in the same order. A look, and each request, takes its time; what
 * Slurm does meanwhile is not known to the daemon, and not to the bridge.
 *
 * Promises:  what is said goes to 'say', whole lines. Same calls, same lines.
 */
#ifndef STINT_TESTS_PROP_FAKE_BRIDGE_H
#define STINT_TESTS_PROP_FAKE_BRIDGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/line.h"
#include "base/rng.h"
#include "engine/slurm/slurm_keys.h"
#include "fake_contender.h"
#include "fake_slurm.h"

struct fake_seen_job {
    uint32_t id;
    uint32_t run;
    enum fake_phase phase;
    uint64_t hash;
    uint64_t look;
};

struct fake_seen_node {
    uint64_t instance;
    uint64_t hash;
    uint64_t look;
};

/* A request that waits, or a stop whose grace is not over. */
struct fake_request {
    char *text;
    msec_t at;
};

struct fake_stop {
    uint64_t key;
    uint32_t id;
    uint32_t run;
    msec_t due;
};

struct fake_bridge {
    struct fake_slurm *slurm;
    const char *prefix; /* of nodes */
    msec_t poll_ms;
    msec_t act_ms;       /* a request takes up to so long */
    msec_t slow_ms;      /* and a few of them this; 0: none does */
    uint32_t unsure_ppm; /* so many are done, and their answer is lost */
    uint32_t unsure;     /* that were, so far */
    msec_t begin;        /* of the world: the host's clock that is never set counts from there */
    struct fake_contender contender; /* if the daemon has asked for the lease */
    void (*on_act)(void *context);   /* before anything is done to Slurm */
    msec_t clock_offset;             /* of the host's clock, by which times are told */
    struct rng rng;
    msec_t now;
    msec_t busy_until;
    msec_t look_at;
    bool is_greeted;
    bool is_lost;
    uint64_t look;
    uint64_t looks;
    uint64_t look_wanted; /* before a node may be deleted */
    uint64_t jobs_version;
    uint64_t nodes_version;
    struct slurm_keys keys;
    struct line_text out;
    struct fake_seen_job *jobs;
    uint32_t job_count, jobs_room;
    struct fake_seen_node *nodes;
    uint32_t node_count, nodes_room;
    struct fake_request *requests;
    uint32_t request_count, requests_room;
    struct fake_stop *stops;
    uint32_t stop_count, stops_room;
    void (*say)(void *context, const char *lines, size_t size);
    void *context;
};

/* A new process, which says hello, over 'slurm' and with nodes of 'prefix'. */
void fake_bridge_init(struct fake_bridge *bridge, struct fake_slurm *slurm, const char *prefix,
                      msec_t poll_ms, uint64_t seed);
void fake_bridge_greet(struct fake_bridge *bridge,
                       void (*say)(void *context, const char *lines, size_t size), void *context);
void fake_bridge_done(struct fake_bridge *bridge);

/* One line of the daemon, without its line feed. */
void fake_bridge_hear(struct fake_bridge *bridge, const char *text, size_t length, msec_t now);

msec_t fake_bridge_next_wake(const struct fake_bridge *bridge);
void fake_bridge_tick(struct fake_bridge *bridge, msec_t now);

#endif
