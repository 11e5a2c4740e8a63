/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_apart.h - which pods must not share a machine.
 *
 * Pods keep apart by host: by required anti-affinity, from their own kind or from others; by a spread constraint that must be met; by
 * host ports. It is said in marks (model/apart.h): a pod that has a term of anti-affinity shuns the term's mark, and pods that the
 * term is about have it. A host port is a mark that is had and shunned, and so is a spread constraint: with a skew of N there are N of
 * them, of which a pod has one, so that at most N are on one machine (the least is none, as there may always be a new machine).
 *
 * What a pod says of itself comes with it. Which terms of others are about it depends on what others there are: that is said of
 * kinds, by on_marks, whenever it changes and before the first pod that it concerns is answered for. So it does not matter which
 * of two pods comes first.
 *
 * A pod is left to the scheduler if pods of a DaemonSet, which may be on any machine, are what it keeps away from; and if what it asks
 * cannot be said. Spread constraints are Stint's to keep: to kube-scheduler a pod that was given a slot can be on one node only.
 *
 * Words:     a rule is a namespace and a term; a kind is pods with one namespace, one set of labels, the same rules and ports.
 * Promises:  two pods that were answered for and that kube-scheduler would not bind to one node have marks that meet.
 * Costs:     a pod is O(its labels and rules); the first and the last one of a kind is O(rules), of a rule O(kinds).
 * Memory:    about 50 bytes for each pod, 500 for each kind.
 */
#ifndef STINT_ENGINE_KUBE_APART_H
#define STINT_ENGINE_KUBE_APART_H

#include "engine/kubernetes/kube_object.h"

/* Marks as they are written: "b12,s34,h56", a number that is had and shunned, one that is shunned, one that is had; "b12/3": of three of that
 * number one. */
enum { KUBE_MARKS_MOST = 40, KUBE_MARKS_TEXT = 1024 };

struct kube_keeps {
    uint64_t like;               /* its kind */
    char marks[KUBE_MARKS_TEXT]; /* what it says of itself; "": nothing */
};

struct kube_apart_config {
    /* All pods of a kind have these marks beside their own from now on. */
    void (*on_marks)(void *context, uint64_t like, const char *marks);
    void *context;
};

struct kube_apart;

struct kube_apart *kube_apart_create(const struct kube_apart_config *config);
void kube_apart_destroy(struct kube_apart *apart);

/* All pods that are managed, or all of DaemonSets, are reported: begin, each pod, end. What was not is no more. */
void kube_apart_begin(struct kube_apart *apart, bool is_daemons);
void kube_apart_end(struct kube_apart *apart, bool is_daemons);

/* A pod at the gate: NULL and its marks, or why it must be left to the scheduler. */
const char *kube_apart_wait(struct kube_apart *apart, const struct kube_object *pod,
                            struct kube_keeps *ret);

/* One that has a slot, whatever others there are. */
void kube_apart_place(struct kube_apart *apart, const struct kube_object *pod,
                      struct kube_keeps *ret);

/* It is no more, or not managed. */
void kube_apart_gone(struct kube_apart *apart, const char *uid);

/* A pod of a DaemonSet, which may be on any machine. */
void kube_apart_daemon(struct kube_apart *apart, bool is_gone, const struct kube_object *pod);

#endif
