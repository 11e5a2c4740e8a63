/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_needs.h - what a pod asks of its node, in the words of the catalogue.
 *
 * Labels that say what a machine is (type, zone, market, family, processor architecture) become an expression over offers
 * (model/offer_set.h). Other labels are those of a site: whoever rents a machine can put them there, but pods that
 * ask for different ones do not share it. They become the name of a pool, of which pods share machines only among
 * themselves.
 *
 * Promises:  what cannot be said in these words is refused with the reason; nothing is left out silently.
 */
#ifndef STINT_ENGINE_KUBE_NEEDS_H
#define STINT_ENGINE_KUBE_NEEDS_H

#include <stdbool.h>

#include "engine/kubernetes/kube_object.h"

enum { KUBE_NEED = 1024 };

struct kube_need {
    char offers[KUBE_NEED]; /* an expression that is valid; "": any */
    char pool[KUBE_NEED];   /* "disk=ssd"; "": none */
};

/* NULL, or why it cannot be said. */
const char *kube_need_of(const struct kube_object *pod, struct kube_need *ret);

/* NULL, or why a machine that Karpenter makes for a claim may lack what the pod asks of the labels of its node: those that
 * every such machine has are its type, zone, capacity type, processor architecture and operating system. */
const char *kube_need_is_unsure(const struct kube_object *pod);

/* Whether a label of nodes is one that the catalogue has words for; with a value, the words: "zone=a". Whether these are valid
 * and fit. */
bool kube_need_has_word(const char *key);
bool kube_need_word(const char *key, const char *value, char *buf, size_t size);

/* "spot" or "on-demand" by the labels of a node; NULL: they do not say. */
const char *kube_market_of(const struct kube_object *node);

#endif
