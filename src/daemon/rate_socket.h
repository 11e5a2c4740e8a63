/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rate_socket.h - the socket at which jobs report their speed, on the daemon's own machine.
 *
 * A Unix socket of datagrams that everybody may write to; the kernel says whose each is. A datagram is a report
 * (rate_report.h), and is answered if its sender has an address: with "ok", or why it was not taken.
 *
 * Promises:  never blocks, but for the user database when a user reports for the first time. What comes faster than it is
 *            read is the senders' to repeat.
 * Memory:    its own; the names of the last users.
 */
#ifndef STINT_DAEMON_RATE_SOCKET_H
#define STINT_DAEMON_RATE_SOCKET_H

#include <stddef.h>

#include "base/error.h"

/* Who takes the reports. */
struct rate_taker {
    /* Why the report of the user (NULL: the superuser) is not taken; NULL: it is. */
    const char *(*take)(void *context, const char *user, const char *text, size_t size);
    void *context;
};

struct rate_socket;

int rate_socket_open(const char *path, struct rate_socket **ret, struct error *reterr);
void rate_socket_close(struct rate_socket *socket); /* may be NULL */

/* To wait for; it is readable when there are reports. */
int rate_socket_fd(const struct rate_socket *socket);

/* Take some of what is there. */
void rate_socket_run(struct rate_socket *socket, const struct rate_taker *taker);

#endif
