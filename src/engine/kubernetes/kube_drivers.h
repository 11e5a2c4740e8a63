/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_drivers.h - how many volumes each node attaches, as the drivers of volumes say by its CSINode.
 *
 * Each driver may say how many of its volumes a node attaches; kube-scheduler counts them driver by driver. Stint counts the
 * volumes of a pod together, so the least of these numbers holds. A node whose drivers say none has no limit, nor has one
 * whose drivers have not begun yet: the kubelet adds each when it begins.
 *
 * Costs:     O(1) for a node and for a question; 12 to 48 bytes for each node that has a limit, which is known by a hash.
 */
#ifndef STINT_ENGINE_KUBE_DRIVERS_H
#define STINT_ENGINE_KUBE_DRIVERS_H

#include "engine/kubernetes/kube_object.h"

enum { KUBE_NO_LIMIT = -1 };

struct kube_drivers;

struct kube_drivers *kube_drivers_create(void);
void kube_drivers_destroy(struct kube_drivers *drivers);

/* All CSINodes are reported between these; until the end holds what was known before. */
void kube_drivers_begin(struct kube_drivers *drivers);
void kube_drivers_end(struct kube_drivers *drivers);

/* A CSINode; other objects are passed over. */
void kube_drivers_node(struct kube_drivers *drivers, bool is_gone, const struct kube_object *node);

/* Whether any limit is another one than when it was asked last. */
bool kube_drivers_is_changed(struct kube_drivers *drivers);

/* How many volumes the node attaches, or KUBE_NO_LIMIT. */
int64_t kube_drivers_limit(const struct kube_drivers *drivers, const char *node);

#endif
