/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_client.h - signed requests to the services of one region.
 *
 * Puts keys (aws_credentials.h) and requests (aws_http.h) together. A request that cannot be signed
 * is answered with the fault -ENOKEY: nothing was sent.
 *
 * Whoever spends money with these keys must know whose they are: with 'is_guarded' nothing is sent to EC2
 * before aws_client_trust was called for the keys that would sign it, and keys that change are not
 * trusted any more.
 *
 * Promises:  no callback before aws_client_call returns, once for each call, unless the client is
 *            destroyed before.
 */
#ifndef STINT_CLOUD_AWS_CLIENT_H
#define STINT_CLOUD_AWS_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/units.h"

struct uv_loop_s;
struct aws_client;
struct aws_http_answer;

struct aws_client_config {
    struct uv_loop_s *loop; /* outlives the client */
    const char *region;     /* NULL: AWS_REGION, AWS_DEFAULT_REGION, the profile's */
    const char *endpoint; /* of all services; NULL: AWS_ENDPOINT_URL_<SERVICE>, AWS_ENDPOINT_URL, or
                               AWS's own */
    const char *profile;  /* NULL: the usual one */
    bool is_guarded;      /* see above */
    const char *(*get_env)(void *context, const char *name); /* NULL: the environment */
    void *context;
};

struct aws_call {
    const char *service; /* "ec2", "sqs", "pricing" */
    const char *region;  /* NULL: the client's */
    const char *body;
    size_t size;
    const char *target; /* of the JSON protocols: "AmazonSQS.ReceiveMessage"; NULL: a form */
    msec_t timeout_ms;
};

/* -EDESTADDRREQ: there is no region. -EINVAL: that is none, or an endpoint is neither https nor on this
 * machine. */
int aws_client_create(const struct aws_client_config *config, struct aws_client **ret,
                      struct error *reterr);

/* Not from within a callback; the loop must turn once more. Takes NULL. */
void aws_client_destroy(struct aws_client *client);

void aws_client_call(struct aws_client *client, const struct aws_call *call,
                     void (*on_answer)(void *context, const struct aws_http_answer *answer),
                     void *context);

/* The keys that signed the last call of STS which was answered are the right ones. Until then, and after
 * others were read, a guarded call is answered with the fault -EKEYREJECTED: nothing was sent. */
void aws_client_trust(struct aws_client *client);

/* A call was answered that the keys have expired. */
void aws_client_forget_keys(struct aws_client *client);

/* Where the keys come from; empty before the first call. */
const char *aws_client_key_source(const struct aws_client *client);

const char *aws_client_region(const struct aws_client *client);

/* Milliseconds since 1970, by a steady clock. */
msec_t aws_client_now(void);

#endif
