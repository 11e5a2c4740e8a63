/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_secret.h - one set of keys that sign requests, and the only place where they live.
 *
 * Promises:  the memory is a mapping of its own that core files leave out and that is wiped before
 *            it is returned. Nothing prints it; there is no function that would.
 * Limits:    libcurl and the kernel's sockets hold copies while a request is under way, so
 *            aws_secret_guard() forbids core files of the whole process as well.
 */
#ifndef STINT_CLOUD_AWS_SECRET_H
#define STINT_CLOUD_AWS_SECRET_H

#include <stdbool.h>

#include "base/units.h"

enum {
    AWS_SECRET_KEY_SIZE = 256,
    AWS_SECRET_TOKEN_SIZE = 8192,
};

struct aws_secret {
    char access_key[AWS_SECRET_KEY_SIZE];
    char secret_key[AWS_SECRET_KEY_SIZE];
    char session_token[AWS_SECRET_TOKEN_SIZE]; /* empty: none */
    msec_t expires_at;                         /* MSEC_NEVER: they stay */
};

/* Empty keys. */
struct aws_secret *aws_secret_create(void);

/* Wipe and free. Takes NULL. */
void aws_secret_destroy(struct aws_secret *secret);

/* Forget the keys. */
void aws_secret_wipe(struct aws_secret *secret);

/* Whether both keys are there and all parts are printable ASCII, which is what AWS gives out; a line
 * end in a token would let a file write headers of our requests. */
bool aws_secret_is_good(const struct aws_secret *secret);

/* No core file of this process from now on, nor may another user's process read its memory. */
void aws_secret_guard(void);

#endif
