/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_group.h - which pods belong together: gangs, which start together or not at all, and services that have a promise.
 *
 * A gang is the pods of a Job with the annotation stint.dev/gang, which says how many there are; those of a JobSet, over all of
 * its Jobs, by the labels that the JobSet controller gives them; or those of a pod group, by its label. A group of Kueue says
 * its size by an annotation of its own.
 *
 * A service is the pods of a Deployment or another controller that has both annotations stint.dev/availability ("99.9%") and
 * stint.dev/capacity (in pods) in its pod template. Versions of a Deployment are one service.
 *
 * Promises:  pure; any object may be given. What is not understood is refused with the reason, not passed over.
 */
#ifndef STINT_ENGINE_KUBE_GROUP_H
#define STINT_ENGINE_KUBE_GROUP_H

#include <stdint.h>

#include "engine/kubernetes/kube_object.h"

enum { KUBE_GROUP_TEXT = 3 * KUBE_NAME };

struct kube_group {
    const char *why;            /* the pod must be left to the scheduler; NULL: it need not */
    char name[KUBE_GROUP_TEXT]; /* equal ones are one group; "": it is in none */
    uint32_t gang;              /* so many pods start together; 0: it is no gang */
    uint32_t capacity;          /* so many pods are promised machines; 0: it is no service */
    uint32_t short_ppb;         /* billionths of the time in which there may be fewer */
};

void kube_group_of(const struct kube_object *pod, struct kube_group *ret);

#endif
