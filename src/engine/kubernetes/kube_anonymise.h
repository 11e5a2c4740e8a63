/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_anonymise.h - objects of Kubernetes written again without the names that people gave, for a snapshot that may be shown.
 *
 * Nothing is copied: an object is written afresh from what Stint has read of it, so that what is not known to be harmless is not
 * there. Names of pods, nodes, namespaces and owners, and labels of the site with their values, become "x1", "x2" ... in the
 * order in which they come; the same name is the same number. What remains are amounts, types of machines, zones, and
 * which kinds of constraints a pod has.
 *
 * Promises:  read again, it has the same plan.
 * Memory:    all different names.
 */
#ifndef STINT_ENGINE_KUBE_ANONYMISE_H
#define STINT_ENGINE_KUBE_ANONYMISE_H

#include <stdio.h>

#include "base/names.h"
#include "engine/kubernetes/kube_object.h"

struct kube_anonymiser {
    struct names names;
    FILE *to;
};

void kube_anonymiser_init(struct kube_anonymiser *anonymiser, FILE *to);
void kube_anonymiser_done(struct kube_anonymiser *anonymiser);

/* One line. Whether it was written is known by ferror. */
void kube_anonymise(struct kube_anonymiser *anonymiser, const struct kube_object *object);

#endif
