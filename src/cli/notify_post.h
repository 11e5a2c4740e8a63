/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notify_post.h - hand a JSON document to a webhook: an HTTP POST, tried again where that can help.
 *
 * Promises:  the address is a secret (who knows it may post): it is read from a file that only its owner may read, and
 *            is in no message. Only https, or http to this machine. No redirect is followed. What the other side
 *            refuses (4xx but 408 and 429) is not tried again; everything else is, up to NOTIFY_TRIES times, waiting
 *            twice as long each time.
 * Errors:    -EACCES: it was refused; -EIO: it could not be delivered.
 */
#ifndef STINT_CLI_NOTIFY_POST_H
#define STINT_CLI_NOTIFY_POST_H

#include "base/error.h"
#include "base/units.h"

enum { NOTIFY_TRIES = 5, NOTIFY_URL_SIZE = 2048 };

struct notify_hook {
    char url[NOTIFY_URL_SIZE];
    msec_t pause_ms; /* before the second try */
};

/* The first line of the file. */
int notify_hook_read(const char *path, struct notify_hook *ret, struct error *reterr);

int notify_post(const struct notify_hook *hook, const char *json, struct error *reterr);

#endif
