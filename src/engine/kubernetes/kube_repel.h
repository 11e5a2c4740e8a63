/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_repel.h - which pods keep others away, and from which machines.
 *
 * Required anti-affinity holds both ways: kube-scheduler does not bind a pod to a node in whose zone (or host, or whatever the
 * label of nodes is) a pod is that keeps away from it. So it matters where the pods run that Stint does not manage. They
 * and all nodes are reported here as they change; what follows for a pod at the gate is said in the words of the catalogue.
 *
 * Only what is bound to a node keeps others away. A pod on a node that is not Stint's keeps nothing from machines of
 * Stint by its host; which of those that Stint manages keep apart by host is for kube_apart.h. Selectors of namespaces are taken to select all.
 *
 * Words:     a source is one watch; an object that it does not tell again when it lists everything is no more.
 * Promises:  a pod that is kept away by what was reported is said to be kept away; it may be said of a few more.
 * Costs:     a change is O(1); the rules are made again after changes, O(pods that keep others away x log); a question is
 *            O(different rules).
 */
#ifndef STINT_ENGINE_KUBE_REPEL_H
#define STINT_ENGINE_KUBE_REPEL_H

#include "engine/kubernetes/kube_object.h"

enum kube_repel_source { KUBE_REPEL_OURS, KUBE_REPEL_OTHERS, KUBE_REPEL_SOURCES };

struct kube_repel;

struct kube_repel *kube_repel_create(void);
void kube_repel_destroy(struct kube_repel *repel);

/* A source lists everything: begin, every object, end. */
void kube_repel_begin(struct kube_repel *repel, enum kube_kind kind, enum kube_repel_source source);
void kube_repel_end(struct kube_repel *repel, enum kube_kind kind, enum kube_repel_source source);

/* A node (ours: with a slot) or a pod (ours: managed). */
void kube_repel_object(struct kube_repel *repel, enum kube_repel_source source, bool is_gone,
                       const struct kube_object *object);

/* Whether the rules have changed since it was asked last. */
bool kube_repel_is_changed(struct kube_repel *repel);

/* Where a pod with these labels must not be: "!(zone=a|zone=b)", or "" for nowhere. NULL, or why it cannot be said. Those that have the
 * same term, 'own' if it is not NULL, and a slot are passed over: the daemon counts them. */
const char *kube_repel_words(struct kube_repel *repel, const char *space,
                             const struct kube_pair *labels, uint32_t count, const char *own,
                             char *buf, size_t size);

#endif
