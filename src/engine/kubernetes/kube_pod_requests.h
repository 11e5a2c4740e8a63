/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_pod_requests.h - what the daemon asks for, done at the API server: open a gate, leave a pod to the scheduler, evict it.
 *
 * Promises:  every request is answered once, under its key; a pod that is not the one that was meant is not touched.
 */
#ifndef STINT_ENGINE_KUBE_POD_REQUESTS_H
#define STINT_ENGINE_KUBE_POD_REQUESTS_H

#include "engine/kubernetes/kube_talk.h"

void kube_pod_request(struct kube_talk *talk, uint64_t key, const struct line *line);

#endif
