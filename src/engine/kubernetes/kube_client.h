/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_client.h - lists of the Kubernetes API, page by page. It only reads.
 *
 * Pages have KUBE_PAGE objects, and are read as they arrive. A server that is busy (429, 503) is asked again after the time
 * that it says, or with growing waits. If a list is too old to be gone on with (410) that is reported: it has to start over.
 * A token that a file or a plugin gives is fetched again when the server does not take it any more (401).
 *
 * Promises:  no request but GET. TLS is checked unless the configuration says in so many words that it is not.
 *            Secrets are in no error's text.
 */
#ifndef STINT_ENGINE_KUBE_CLIENT_H
#define STINT_ENGINE_KUBE_CLIENT_H

#include <stdio.h>

#include "base/error.h"
#include "engine/kubernetes/kube_config.h"
#include "engine/kubernetes/kube_object.h"

enum { KUBE_PAGE = 500 };

struct kube_client;

/* The configuration is borrowed, and outlives it. */
int kube_client_create(const struct kube_config *config, struct kube_client **ret,
                       struct error *reterr);
void kube_client_destroy(struct kube_client *client);

/* All objects under 'path' ("/api/v1/pods"). 'copy': what the server answered is written there too, or NULL.
 * -ESTALE: the list has to start over; -EACCES: the server refuses; -EIO: it cannot be reached, or answers nonsense. */
int kube_client_list(struct kube_client *client, const char *path, enum kube_kind kind,
                     const struct kube_object_sink *sink, FILE *copy, struct error *reterr);

/* For who asks in another way (kube_net.h): a handle of libcurl that knows the server and who we are, or NULL; what
 * paths are put behind; the header that goes with each request, or ""; and fetch a token again. */
void *kube_client_handle(const struct kube_client *client);
const char *kube_client_base(const struct kube_client *client);
const char *kube_client_header(const struct kube_client *client);
int kube_client_prove(struct kube_client *client, struct error *reterr);

#endif
