/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - the API on a Unix socket and, if wanted, on a TCP port; libmicrohttpd behind it.
 *
 * No thread: one descriptor tells when there is something to do, and serve_http_run does it.
 *
 *     poll serve_http_fd for reading, at most serve_http_timeout_ms; then serve_http_run
 *
 * Rules:      1. a client that can open the Unix socket may do everything;
 *             2. TCP on an address that is not of this machine needs TLS and a token;
 *             3. over TCP, only metrics and health of a loopback address go without a token;
 *             4. the read-only token allows to read everything and to change nothing. As browsers can
 *                send only that, it may also be the password of HTTP's Basic scheme, under any name.
 *             Metrics without a token are made once a second.
 * Limits:     64 KiB of body, 32 KiB for the rest of a request, 64 connections per listener, 16 per
 *             address, 10 s of silence, 30 s from one request to the end of the next unless it has
 *             a right to be answered.
 */
#ifndef STINT_SERVE_HTTP_H
#define STINT_SERVE_HTTP_H

#include "serve/serve.h"

struct serve_http;

struct serve_http_config {
    const char *socket;      /* path; NULL: none */
    unsigned socket_mode;    /* 0: 0660 */
    const char *listen;      /* "127.0.0.1:9178", "[::1]:9178"; NULL: none */
    const char *certificate; /* paths of PEM files; NULL: no TLS */
    const char *key;
    const char *token_file;      /* NULL: no token */
    const char *read_token_file; /* of the read-only token; NULL: none */
    msec_t patience_ms;          /* for a request; 0: 30 s */
};

/*
 * A socket file on which no process listens is removed first; -EADDRINUSE: one does. 'world' must
 * outlive the server.
 */
int serve_http_start(const struct serve_http_config *config, struct serve_world *world,
                     struct serve_http **ret, struct error *reterr);

/* Removes the socket file. Takes NULL. */
void serve_http_stop(struct serve_http *http);

/* Readable when serve_http_run has something to do. */
int serve_http_fd(const struct serve_http *http);

/* Run also after so many milliseconds; -1: no need. */
int serve_http_timeout_ms(const struct serve_http *http);

void serve_http_run(struct serve_http *http);

/* The port that TCP listens on, of use where ":0" was asked for; 0: none. */
unsigned serve_http_port(const struct serve_http *http);

#endif
