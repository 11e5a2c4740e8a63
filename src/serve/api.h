/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api.h - from a request to its answer, as docs/reference/api.md says; no sockets.
 *
 * Who asks and over which way is decided before (http.h): here it is two flags.
 *
 * Promises:  any request gets an answer, whatever its bytes are; every body that is JSON parses.
 *            GET changes nothing.
 * Costs:     O(jobs + instances) for a list, O(rows of the books) for the ledger; the rest is small.
 */
#ifndef STINT_SERVE_API_H
#define STINT_SERVE_API_H

#include "serve/serve.h"

enum {
    API_ARGUMENTS_MAX = 16,
    API_LIMIT_DEFAULT = 1000,
    API_LIMIT_MAX = 10000,
};

struct api_argument {
    const char *key;
    const char *value; /* "" if there is none */
};

struct api_request {
    const char *method;
    const char *path; /* decoded, without arguments */
    struct api_argument arguments[API_ARGUMENTS_MAX];
    uint32_t argument_count; /* above API_ARGUMENTS_MAX: there were more */
    bool authorised;         /* by token, or by the rights of the Unix socket */
    bool read_only;          /* with 'authorised': may read everything and change nothing */
    bool near;               /* from this machine: may read metrics and health without a token */
};

struct api_reply {
    unsigned status;
    const char *content_type;
    const char *allow; /* of a 405; else NULL */
    bool is_page;      /* for a browser: it is asked for the token as for a password */
    char *body;        /* the caller frees it with free() */
    size_t size;
};

/* 'reply' is written whole. */
void api_answer(struct serve_world *world, const struct api_request *request,
                struct api_reply *reply);

/* The paths that are answered, one after the other; false: there are no more. A path that ends with a slash
 * and is longer than that is the beginning of some. */
bool api_route(uint32_t index, const char **ret_method, const char **ret_path);

#endif
