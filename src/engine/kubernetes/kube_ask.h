/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_ask.h - one request of the API server, and its answer: for what is done step by step.
 */
#ifndef STINT_ENGINE_KUBE_ASK_H
#define STINT_ENGINE_KUBE_ASK_H

#include <jansson.h>

#include "engine/kubernetes/kube_net.h"

#define KUBE_MERGE "application/merge-patch+json"
#define KUBE_APPLY "application/apply-patch+yaml" /* server-side apply */

enum { KUBE_NOT_FOUND = 404 };

struct kube_reply {
    long status;  /* 0: no answer came */
    json_t *root; /* the caller's, by json_decref; NULL: it is no JSON */
};

/* 'type' of the body; both may be NULL. */
struct kube_reply kube_ask(struct kube_net *net, const char *method, const char *path,
                           const char *type, const char *body);

/* The text root.map.key, or NULL. */
const char *kube_reply_text(json_t *root, const char *map, const char *key);

/* Why it was refused, in the server's words. */
const char *kube_reply_why(const struct kube_reply *reply);

#endif
