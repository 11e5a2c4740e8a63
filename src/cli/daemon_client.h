/* SPDX-License-Identifier: Apache-2.0 */
/*
 * daemon_client.h - ask a running stintd; docs/reference/api.md is what it answers.
 *
 * Over its Unix socket, or over HTTP where an address is given. An answer is a JSON object. What went
 * wrong is a sentence that says what to do: the daemon's own where it sent one.
 *
 * Promises:  follows no redirect, sends the token only over TLS or to a loopback address, waits no
 *            longer than half a minute, and takes no answer beyond 64 MiB.
 * Errors:    -ENOENT: there is no such thing (404); -EBUSY: it cannot be done now (409); -EACCES: not
 *            allowed; -ECONNREFUSED: nobody listens; -EPROTO: not what a stintd would say.
 */
#ifndef STINT_CLI_DAEMON_CLIENT_H
#define STINT_CLI_DAEMON_CLIENT_H

#include <argp.h>
#include <jansson.h>
#include <stdbool.h>

#include "base/error.h"
#include "cli/report_table.h"

#define DAEMON_SOCKET "/run/stint/stintd.sock"

/* What all verbs that ask the daemon have in common; zeroed, then filled by daemon_argp. */
struct daemon_options {
    const char *socket; /* NULL: $STINT_SOCKET, or DAEMON_SOCKET */
    const char *url;    /* NULL: the socket */
    const char *token_file;
    const char *ca_file;
    enum output_format format;
    const char *sort; /* a column of the table, or NULL; see report_table_sort */
    bool no_csv;      /* set by the verb: there are no rows */
};

/* The options of the above, as the first child of a verb's own; its input is a daemon_options. A verb
 * without a parser hands its own input on. */
extern const struct argp daemon_argp;

/* The same for a verb that sets no_csv: its help offers neither rows nor --sort. */
extern const struct argp daemon_rowless_argp;

/* Where to ask, in words for people. */
const char *daemon_place(const struct daemon_options *options);

/* 'path' is such as "/v1/status"; the caller releases the answer by json_decref. */
int daemon_get(const struct daemon_options *options, const char *path, json_t **ret,
               struct error *reterr);
int daemon_post(const struct daemon_options *options, const char *path, json_t **ret,
                struct error *reterr);

/* The same with one argument, which is written as an address wants it. */
int daemon_get_with(const struct daemon_options *options, const char *path, const char *key,
                    const char *value, json_t **ret, struct error *reterr);

/* Any answer to a GET as it is, of use for the page. 'text' is for mem_free, and NULL if it is empty. */
struct daemon_body {
    long status;
    char type[128];
    char *text;
    size_t size;
};

int daemon_fetch(const struct daemon_options *options, const char *path, struct daemon_body *ret,
                 struct error *reterr);

#endif
