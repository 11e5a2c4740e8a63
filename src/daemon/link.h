/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.h - lines to and from another program: a child of ours, or who listens on a Unix socket.
 *
 * A link connects by itself and again whenever it breaks: at once the first time, then after 100 ms,
 * twice as long with each failure, at most 10 s; a connection that held for 10 s starts again at the
 * least. What was written and not sent when it breaks is gone: the one who talks asks again.
 *
 *            One that promised to be heard of (link_expect) and is not counts as broken.
 * Promises:  'on_down' comes once for each 'on_up'; no call back comes from within a call of ours.
 *            A reader that is too slow (LINK_QUEUE_MAX bytes waiting) is disconnected.
 * Child:     what it writes to its standard error goes to ours; the last line of it is part of the
 *            reason when it fails. When the link is closed its input ends, and if it has not
 *            ended after LINK_GRACE_MS it is killed.
 * Costs:     no copy of what is read; one copy of what is written.
 */
#ifndef STINT_DAEMON_LINK_H
#define STINT_DAEMON_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <uv.h>

enum {
    LINK_QUEUE_MAX = 64 << 20,
    LINK_RETRY_MIN_MS = 100,
    LINK_RETRY_MAX_MS = 10000,
    LINK_GRACE_MS = 2000,
};

struct link;

struct link_config {
    const char *name;               /* for the log */
    const char *const *argv;        /* of a child, NULL at the end; NULL: a socket */
    const char *const *environment; /* what more of ours a child is given: variables that begin so,
                                       NULL at the end; NULL: none */
    const char *socket;             /* the file of a socket */

    void (*on_up)(void *context);
    void (*on_down)(void *context, const char *why);
    /* One line without its line feed, which may be changed; SIZE_MAX: one that was too long. */
    void (*on_line)(void *context, char *text, size_t length);
    void *context;
};

/* Begins to connect when the loop runs. The texts of 'config' are borrowed. */
struct link *link_create(uv_loop_t *loop, const struct link_config *config);

/* Send whole lines. While the link is down they are thrown away. */
void link_send(struct link *link, const char *lines, size_t size);

/* From now on, as long as it is up: if it says nothing for so long it is ended (a child by force) and begun
 * again. A time in which we did not run ourselves does not count. */
void link_expect(struct link *link, uint64_t silence_ms);

/* Whether it is connected and the other side has spoken: a child that was started may not even run. */
bool link_is_up(const struct link *link);

/* Why it is down, in words; "" before the first try. */
const char *link_fault(const struct link *link);

/* How often it went up. */
uint64_t link_connects(const struct link *link);

/* Close all; calls back no more. The loop has to run on until it has nothing left, then destroy. */
void link_close(struct link *link);
void link_destroy(struct link *link);

#endif
