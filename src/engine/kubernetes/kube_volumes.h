/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_volumes.h - where the persistent volumes of a pod at the gate allow it to run.
 *
 * Its claims are asked for by name, one after the other: a claim that is bound names its volume, which says on which nodes it can
 * be used, in a zone for example. A claim that is not bound is looked at again until it is, unless its storage class makes
 * the volume when the pod has its node (WaitForFirstConsumer). So is one that does not exist yet: kube-scheduler would wait, too.
 *
 * How many volumes a node attaches is not known here: see kube_drivers.h.
 *
 * Promises:  nothing is asked but what is read, three objects for a claim at the most at a time; an answer for a pod that is
 *            gone is passed over. What cannot be said in words of the catalogue is refused with the reason.
 * Memory:    about 300 bytes for each pod with claims, while it waits.
 */
#ifndef STINT_ENGINE_KUBE_VOLUMES_H
#define STINT_ENGINE_KUBE_VOLUMES_H

#include "engine/kubernetes/kube_object.h"

struct kube_volumes_wait {
    const char *space, *name, *uid; /* of the pod */
    const char *claim;              /* that does not exist, or is not bound */
};

struct kube_volumes_config {
    /* Ask the server for an object, not before so many seconds; kube_volumes_answer gets it, with the cookie. */
    void (*ask)(void *context, const char *path, enum kube_kind kind, int after_s, uint64_t cookie);
    /* What there is to know of the pod is known: kube_volumes_of says it. */
    void (*on_known)(void *context, const char *space, const char *name);
    /* It has to wait for a claim, for the first time; NULL: nobody wants to know. */
    void (*on_wait)(void *context, const struct kube_volumes_wait *wait);
    void *context;
};

struct kube_volumes;

struct kube_volumes *kube_volumes_create(const struct kube_volumes_config *config);
void kube_volumes_destroy(struct kube_volumes *volumes);

/*
 * Whether it is known where the pod may run: then '*why' is why it must be left to the scheduler, or NULL and '*words' are an expression
 * over offers ("": anywhere), valid until the next call. If not, it is asked for.
 */
bool kube_volumes_of(struct kube_volumes *volumes, const struct kube_object *pod,
                     const char **words, const char **why);

/* 'status': of HTTP; 'object': NULL unless that is 200. */
void kube_volumes_answer(struct kube_volumes *volumes, uint64_t cookie, long status,
                         const struct kube_object *object);

/* All pods at the gate are reported again: begin, kube_volumes_of for each, end. */
void kube_volumes_begin(struct kube_volumes *volumes);
void kube_volumes_end(struct kube_volumes *volumes);

/* It is no more, or waits no more. */
void kube_volumes_gone(struct kube_volumes *volumes, const char *uid);

#endif
