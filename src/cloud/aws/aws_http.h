/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_http.h - requests to AWS that do not wait: libcurl inside the daemon's loop.
 *
 * A request is sent now and answered by a callback from the loop, once, whatever happens: an answer
 * of any status, or a fault (time-out, cut connection, an answer that is too long).
 *
 * Promises:  no callback before aws_http_send returns. TLS is verified; what is not encrypted goes
 *            to this machine or to a link-local metadata service, or not at all. No redirect is
 *            followed: a signed request is for the address that it was signed for.
 * Signing:   by libcurl (CURLOPT_AWS_SIGV4). Only POST is signed: libcurl 7.88 signs a GET with
 *            unsorted parameters wrong.
 * Bounds:    an answer is kept up to 'answer_max' bytes; AWS_HTTP_HOST_CONNECTIONS to one host.
 */
#ifndef STINT_CLOUD_AWS_HTTP_H
#define STINT_CLOUD_AWS_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/units.h"
#include "cloud/aws/aws_secret.h"

struct uv_loop_s;
struct aws_http;

enum {
    AWS_HTTP_HEADERS_MAX = 4,
    AWS_HTTP_ANSWER_MAX = 64 << 20,
    AWS_HTTP_HOST_CONNECTIONS = 32,
    AWS_HTTP_CONNECT_MS = 5000,
};

struct aws_http_request {
    const char *method; /* NULL: POST */
    const char *url;
    const char *body;
    size_t body_size;
    const char *headers[AWS_HTTP_HEADERS_MAX]; /* "Name: value"; NULL: none */
    const char *sign_as;                       /* "aws:amz:REGION:SERVICE"; NULL: not signed */
    const struct aws_secret *secret; /* to sign with; copied by libcurl until it is done */
    msec_t timeout_ms;
    size_t answer_max;
    bool is_secret; /* the answer is wiped after use */
};

struct aws_http_answer {
    int fault;          /* 0, or a negative errno: there is no whole answer */
    const char *reason; /* of a fault, for people */
    int status;         /* of HTTP */
    const char *body;   /* with a zero behind it; gone when the callback returns */
    size_t size;
};

/* 'loop' outlives it. */
struct aws_http *aws_http_create(struct uv_loop_s *loop);

/* Requests under way are dropped without a callback; the loop must turn once more to free all of it.
 * Not from within a callback. Takes NULL. */
void aws_http_destroy(struct aws_http *http);

/* All that 'request' points to is copied. */
void aws_http_send(struct aws_http *http, const struct aws_http_request *request,
                   void (*on_answer)(void *context, const struct aws_http_answer *answer),
                   void *context);

/* Whether 'url' may be spoken to: https, or http to a loopback or link-local address. */
bool aws_http_is_allowed(const char *url);

#endif
