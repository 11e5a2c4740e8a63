/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_daemons.h - what the pods of DaemonSets, and of the kubelet itself, take of each node, and what those of DaemonSets will
 * take of a machine of Stint that is not there yet.
 *
 * A DaemonSet is known by its pods: what they request, that they tolerate the taint of Stint's machines, and which offers they are
 * for. While some of its pods request more than others, as during an update, the most counts.
 *
 * Costs:     O(1) for a pod and for a question, O(pods) to name the sets; 80 bytes a pod, nodes and pods are known by a hash.
 */
#ifndef STINT_ENGINE_KUBE_DAEMONS_H
#define STINT_ENGINE_KUBE_DAEMONS_H

#include "engine/kubernetes/kube_object.h"

struct kube_daemons;

struct kube_daemons *kube_daemons_create(void);
void kube_daemons_destroy(struct kube_daemons *daemons);

/* All pods are reported between these; one that is not reported there is gone. */
void kube_daemons_begin(struct kube_daemons *daemons);
void kube_daemons_end(struct kube_daemons *daemons);

/* Any pod; others than those of DaemonSets are passed over. */
void kube_daemons_pod(struct kube_daemons *daemons, bool is_gone, const struct kube_object *pod);

/* Whether any node has more or less of them than when it was asked last. */
bool kube_daemons_is_changed(struct kube_daemons *daemons);

/* What they request on the node, and how many pods they are. */
struct kube_amounts kube_daemons_on(const struct kube_daemons *daemons, const char *node);

/* Each DaemonSet whose pods go to machines of Stint: what one requests, and which offers it is for ("": all). In a fixed order. */
void kube_daemons_each_set(const struct kube_daemons *daemons,
                           void (*each)(void *context, const struct kube_amounts *asks,
                                        const char *needs),
                           void *context);

#endif
