/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_places.h - in which zones pods are, so far as rules by zone of pods at the gate are about them.
 *
 * kube-scheduler keeps a pod with required anti-affinity by zone out of every zone in which a pod is bound that its term is about, whoever
 * manages it, and holds that both ways. Pods of one rule, which is a namespace and a term, are counted by the daemon, at the gate as well;
 * this is about all others. It binds a pod with required affinity by zone only where one is bound that the term is about, or anywhere if none is and the
 * term is about the pod itself; there those of the rule count as well. What is bound has its zone, which is said with the pod. Of two managed pods that are both
 * not bound yet and of which one keeps away from the other, but not by the same rule, nobody knows who will be where: whichever
 * comes second to the gate is left to the scheduler. So it is with a spread that has 'minDomains', bound or not: kube-scheduler counts the
 * pods on its machine, of which some may be of other kinds. What other pods' terms keep away from, once they are bound, is for kube_repel.h.
 *
 * Words:     a kind is pods with one namespace, one set of labels and one rule. A source is as in kube_repel.h.
 * Costs:     a pod is O(its labels), and O(rules x terms) if it is the first or last of its kind in a zone; the first pod of a rule is
 *            O(kinds). A node that comes after its pods, or goes before them, O(pods) with the next question, however many such nodes.
 * Memory:    16 bytes for each pod, and as much for its place in a table: about 50 bytes with 150,000 pods. 400 for each kind.
 */
#ifndef STINT_ENGINE_KUBE_PLACES_H
#define STINT_ENGINE_KUBE_PLACES_H

#include "engine/kubernetes/kube_repel.h"
#include "engine/kubernetes/kube_zone_rules.h"

struct kube_places;

struct kube_places *kube_places_create(void);
void kube_places_destroy(struct kube_places *places);

/* A source lists everything: begin, every object, end. */
void kube_places_begin(struct kube_places *places, enum kube_kind kind,
                       enum kube_repel_source source);
void kube_places_end(struct kube_places *places, enum kube_kind kind,
                     enum kube_repel_source source);

void kube_places_node(struct kube_places *places, enum kube_repel_source source, bool is_gone,
                      const struct kube_object *node);

/* A pod that is not at the gate; it counts if it is bound, or has a slot. */
void kube_places_pod(struct kube_places *places, enum kube_repel_source source, bool is_gone,
                     const struct kube_object *pod);

/* A pod at the gate: NULL, or why it must be left to the scheduler. */
const char *kube_places_wait(struct kube_places *places, const struct kube_object *pod,
                             const struct kube_zone_rule *rule);

/* One of Stint's is no more, or not managed. */
void kube_places_gone(struct kube_places *places, const char *uid);

/* Where pods are bound that the rule of the pod at the gate is about: ",a,b,". False: it does not fit. */
bool kube_places_zones(struct kube_places *places, const char *uid, char *buf, size_t size);

/* Whether an answer may be another one than when this was asked last. */
bool kube_places_is_changed(struct kube_places *places);

#endif
