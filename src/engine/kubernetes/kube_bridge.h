/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_bridge.h - pods and nodes of a cluster in lines, and what the daemon asks of them: stint-kubernetes for the engine.
 *
 * It decides nothing and keeps nothing. Pods with the label KUBE_MANAGED are told as they change, and nodes with KUBE_SLOT;
 * a pod is placed by one patch that opens the gate and selects the slot, and leaves by the Eviction API.
 */
#ifndef STINT_ENGINE_KUBE_BRIDGE_H
#define STINT_ENGINE_KUBE_BRIDGE_H

#include "engine/kubernetes/kube_talk.h"

struct kube_bridge {
    struct kube_talk talk;
    bool is_greeted;
};

/* Say hello. */
void kube_bridge_begin(struct kube_bridge *bridge);

/* One line of the daemon. */
void kube_bridge_line(struct kube_bridge *bridge, const struct line *line);

/* The line that says what a pod is; for tests. */
void kube_bridge_pod_line(struct line_text *out, bool is_gone, const struct kube_object *pod);

#endif
