/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.h - the daemon without its loop: what stintd does with what it hears, and when.
 *
 * All that is stintd's but for the process around it: the queue of news, the adapters, the gate, the
 * journal and the store, the controller, and the turn that takes them one after another:
 *
 *     events -> controller -> decision, if it is time -> gate -> store -> gate -> engine and cloud
 *
 * The process around it (daemon.c with libuv, or a simulation) tells the time, carries lines to and
 * from engine and cloud, and calls the three steps of a turn whenever something was heard, and at the
 * latest at core_next_wake().
 *
 * Promises:  no clock, no socket and no thread: same times and same lines, same actions. Whatever leaves,
 *            leaves in core_pass(), after core_write() has put it into the store; but if that has failed
 *            for 10 s, lists and returns of empty machines leave in core_rest(), and nothing else does.
 * Costs:     as of its parts.
 */
#ifndef STINT_DAEMON_CORE_H
#define STINT_DAEMON_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/units.h"
#include "control/ports/adapter.h"
#include "daemon/conf.h"

struct daemon;
struct uv_loop_s;

enum core_side {
    CORE_ENGINE,
    CORE_CLOUD,
    CORE_SIDES,
};

/* The process around it. All of them are called with 'context'. Sides are those that speak lines
 * (core_peer). */
struct core_host {
    /* Lines that are to be carried to the other side; only while it is up. */
    void (*send)(void *context, enum core_side side, const char *lines, size_t size);
    /* Whether it is connected. */
    bool (*is_up)(void *context, enum core_side side);
    /* Why it is not, in words. */
    const char *(*fault)(void *context, enum core_side side);
    /* For what is measured and shown, never for what is decided. */
    uint64_t (*monotonic_us)(void *context);
    /* For adapters that have connections of their own; NULL: there is no loop, and they cannot be
     * used. When one of them has something to tell it calls 'tell_time' first, which is to call
     * core_tell_time(). */
    struct uv_loop_s *loop;
    void (*tell_time)(void *context);
    uint64_t seed; /* of their jitter */
    void *context;
};

/* 'path' is for reloading. Takes 'conf'. Tell the time before anything else. */
struct daemon *core_create(const char *path, struct conf *conf, const struct core_host *host);

/* All that can fail; what was built stays for core_destroy(). */
int core_start(struct daemon *daemon, struct error *reterr);

/* Let go of engine and cloud: if they use the loop, it must turn once more until their handles are
 * closed. After that only core_destroy(). */
void core_close(struct daemon *daemon);

void core_destroy(struct daemon *daemon);

/* Whom a side is to be connected with; false: it is not there, or needs nobody's help. The texts live as
 * long as the daemon. */
bool core_peer(struct daemon *daemon, enum core_side side, struct adapter_peer *ret);

/* What the host's clock says, and one that is never set: before every call below. */
void core_tell_time(struct daemon *daemon, msec_t wall, msec_t monotonic);

/* Whether another daemon has acted since this one did: then it ends, and is started again. */
bool core_is_outdated(const struct daemon *daemon);

/* The other side was reached, was lost, or said a line; 'text' is changed. */
void core_connected(struct daemon *daemon, enum core_side side);
void core_disconnected(struct daemon *daemon, enum core_side side);
void core_line(struct daemon *daemon, enum core_side side, char *text, size_t length);

/* The turn, step by step: work off what was heard and decide; write it down (true: actions may pass);
 * let them pass, if they may; and what is left to do. */
void core_think(struct daemon *daemon);
bool core_write(struct daemon *daemon);
void core_pass(struct daemon *daemon);
void core_rest(struct daemon *daemon);

/*
 * core_write() in three steps, so that a slow disk does not keep the API waiting. After CORE_WRITING
 * core_write_run() is called, on any thread, and then core_write_end(), which says whether actions may
 * pass. Between them there is no turn; lines may be heard, and the API be answered.
 */
enum core_write {
    CORE_NOT_WRITTEN, /* there is nothing, it is not time, or it failed */
    CORE_WRITTEN,
    CORE_WRITING,
};

enum core_write core_write_begin(struct daemon *daemon);
void core_write_run(struct daemon *daemon);
bool core_write_end(struct daemon *daemon);

/* When the next turn is due, if nothing is heard before. */
msec_t core_next_wake(const struct daemon *daemon);

/* Write down what is known; actions that were not handed over are not, on purpose. */
void core_stop(struct daemon *daemon);

/* An operator's order: rent nothing more, and return what is empty; or that no more. */
void core_drain(struct daemon *daemon, bool on);

/* A job of the user (NULL: of anybody) says how fast it runs: see rate_report.h. Why that is not taken; NULL: it is. */
const char *core_report_rate(struct daemon *daemon, const char *user, const char *text,
                             size_t size);

#endif
