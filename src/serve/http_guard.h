/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_guard.h - what must be in order before the API may listen on a TCP port: the address, and the
 * files of TLS and the token.
 *
 * Apart from the server, so that a configuration is checked by the same code that will use it.
 */
#ifndef STINT_SERVE_HTTP_GUARD_H
#define STINT_SERVE_HTTP_GUARD_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/error.h"

enum { HTTP_TOKEN_MIN = 16, HTTP_TOKEN_MAX = 512 };

struct http_address {
    struct sockaddr_storage socket;
    socklen_t length;
    bool is_near; /* of this machine only */
};

/* "127.0.0.1:9178" or "[::1]:9178", in numbers. */
int http_guard_address(const char *text, struct http_address *ret, struct error *reterr);

/* An address that others can reach needs TLS and a token. */
int http_guard_reach(const char *text, const struct http_address *address, bool has_tls,
                     bool has_token, struct error *reterr);

/* The whole file as text, for mem_free. 'secret': others than owner and group may have no right to it,
 * else -EPERM. */
int http_guard_file(const char *path, bool secret, char **ret, struct error *reterr);

/* The token, in HTTP_TOKEN_MAX + 1 bytes. */
int http_guard_token(const char *path, char *ret, struct error *reterr);

/* What every answer tells a browser: it is not kept, loads nothing from elsewhere, runs no script but the
 * page's own, and is shown in no other site's frame. Ends with a name that is NULL. */
struct http_header {
    const char *name;
    const char *value;
};

extern const struct http_header http_guard_headers[];

#endif
