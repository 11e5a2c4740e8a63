/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_apart.h - which pods must not share a machine.
 *
 * Pods that keep away from their own kind by host are a group, of which no two may be on one machine: by required anti-affinity
 * (one term, as all of them have it), by a spread constraint that must be met, or by the same host port. A spread constraint with
 * a skew of N makes N groups, so that at most N are on one machine: the least is none, as there may always be a new machine.
 *
 * kube-scheduler does not bind a pod beside one that keeps away from it, or that it keeps away from, whichever was there
 * first. So a pod outside of a group that the group's term is about is left to the scheduler, and so is one whose
 * term is about pods outside of its group: whichever comes second to the gate. Spread constraints are Stint's to keep: to
 * kube-scheduler a pod that was given a slot can be on one node only.
 *
 * Words:     a rule is a namespace and a term; a kind is pods with one namespace, one set of labels, one rule and one port.
 * Promises:  two pods that were given a group or none, and that kube-scheduler would not bind to one node, have the same one.
 * Costs:     a pod is O(its labels), and O(rules), or with a rule O(kinds), when those have changed since the last one of its kind.
 * Memory:    about 50 bytes for each pod, 500 for each kind.
 */
#ifndef STINT_ENGINE_KUBE_APART_H
#define STINT_ENGINE_KUBE_APART_H

#include "engine/kubernetes/kube_object.h"

struct kube_apart;

struct kube_apart *kube_apart_create(void);
void kube_apart_destroy(struct kube_apart *apart);

/* All pods that are managed, or all of DaemonSets, are reported: begin, each pod, end. What was not is no more. */
void kube_apart_begin(struct kube_apart *apart, bool is_daemons);
void kube_apart_end(struct kube_apart *apart, bool is_daemons);

/* A pod at the gate: NULL and its group (0: none), or why it must be left to the scheduler. */
const char *kube_apart_wait(struct kube_apart *apart, const struct kube_object *pod,
                            uint64_t *group);

/* One that has a slot, whatever others there are. Its group. */
uint64_t kube_apart_place(struct kube_apart *apart, const struct kube_object *pod);

/* It is no more, or not managed. */
void kube_apart_gone(struct kube_apart *apart, const char *uid);

/* A pod of a DaemonSet, which may be on any machine. */
void kube_apart_daemon(struct kube_apart *apart, bool is_gone, const struct kube_object *pod);

#endif
