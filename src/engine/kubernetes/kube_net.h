/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_net.h - watches and requests of the Kubernetes API that do not wait for each other: one loop around libcurl.
 *
 * A watch tells all objects that there are, then what changes, for as long as it lives. It begins with the server's stream of
 * initial events (sendInitialEvents, Kubernetes 1.32 and later), goes on from the last version that it has seen when a
 * connection ends, and begins again with everything when that is too old (410) or the server reports an error.
 *
 * A request is answered once, by a callback from the loop. One that the server is too busy for (429, 503), or that no answer
 * came to, is sent again with growing pauses, as often as it may be; an answer of 401 fetches a new token first.
 *
 * Promises:  callbacks come from kube_net_turn only. What a watch has reported between 'begin' and 'end' is all that there is, as
 *            the server said it. A list may lack what is there (a cache that was behind, a server that has just begun): before
 *            something is stopped or paid for twice because it is in no list, kube_net_look asks for it by its name.
 * Bounds:    KUBE_NET_FLIGHT requests at a time, an answer of KUBE_NET_ANSWER bytes; the rest of it is left out.
 */
#ifndef STINT_ENGINE_KUBE_NET_H
#define STINT_ENGINE_KUBE_NET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "engine/kubernetes/kube_client.h"
#include "engine/kubernetes/kube_object.h"

enum { KUBE_NET_FLIGHT = 32, KUBE_NET_ANSWER = 1 << 20, KUBE_NET_PATH = 1024 };

struct kube_net;

struct kube_answer {
    long status; /* of HTTP; 0: none came */
    const char *body;
    size_t size;
};

struct kube_request {
    const char *method;
    const char *path;
    const char *type; /* of the body; NULL: there is none */
    const char *body;
    int seconds; /* after which no answer comes any more; 0: a minute */
    int tries;   /* again, if the server is too busy or cannot be reached */
    int after_s; /* not before so long from now */
    void (*on_answer)(void *context, const struct kube_answer *answer);
    void *context; /* freed by on_answer, which is called once unless the net ends before */
};

struct kube_watch_sink {
    void (*begin)(void *context);
    void (*object)(void *context, bool is_gone, const struct kube_object *object);
    void (*end)(void *context); /* of what there is; changes follow */
    /* The server does not let it be read: it is asked again now and then. NULL: nothing goes on without it. */
    void (*refused)(void *context);
    void *context;
};

/* The client outlives it. */
struct kube_net *kube_net_create(struct kube_client *client);
void kube_net_destroy(struct kube_net *net);

/* 'path' without parameters; 'selector' of labels, or "". Five watches at the most. */
void kube_net_watch(struct kube_net *net, const char *path, const char *selector,
                    enum kube_kind kind, const struct kube_watch_sink *sink);

/* The texts are copied. */
void kube_net_send(struct kube_net *net, const struct kube_request *request);

/* One object, by its path. */
struct kube_look {
    const char *path;
    enum kube_kind kind;
    int after_s; /* not before so long from now */
    /* 'object': NULL unless the status is 200; 404: it is not there. Frees the context. */
    void (*on_look)(void *context, long status, const struct kube_object *object);
    void *context;
};

/* Ask for it until the server answers; 'on_look' is called once, unless the net ends before. */
void kube_net_look(struct kube_net *net, const struct kube_look *look);

/* Wait for something to happen, at most so long. Whether 'fd' can be read. */
bool kube_net_turn(struct kube_net *net, int fd, int timeout_ms);

/* Requests that are not answered. */
unsigned kube_net_open(const struct kube_net *net);

/* Whether every watch is connected or was a short time ago. */
bool kube_net_is_up(const struct kube_net *net);

#endif
