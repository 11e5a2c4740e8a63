/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_zone_rules.h - what a pod asks of its zone because of other pods.
 *
 * Promises:  pure; what is not understood is refused with the reason.
 */
#ifndef STINT_ENGINE_KUBE_ZONE_RULES_H
#define STINT_ENGINE_KUBE_ZONE_RULES_H

#include "engine/kubernetes/kube_object.h"

/* The group of a pod that is spread over zones, 0: it is not; or why it must be left to the scheduler. */
const char *kube_zone_rules_of(const struct kube_object *pod, uint64_t *group);

#endif
