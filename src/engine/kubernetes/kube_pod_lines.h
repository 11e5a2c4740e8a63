/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_pod_lines.h - what is reported to the daemon of a pod, in the lines of docs/reference/protocols/kubernetes.md, and what it must not manage.
 *
 * Promises:  pure, but for the text that is written to; any object may be given.
 */
#ifndef STINT_ENGINE_KUBE_POD_LINES_H
#define STINT_ENGINE_KUBE_POD_LINES_H

#include "base/line.h"
#include "engine/kubernetes/kube_apart.h"
#include "engine/kubernetes/kube_needs.h"

/* The slot that the pod selects; NULL: none. */
const char *kube_pod_slot(const struct kube_object *pod);

/* The word for its state; NULL: it is not Stint's, or not yet. */
const char *kube_pod_state(const struct kube_object *pod, const char *slot);

/* Why Stint leaves the pod to the scheduler, by what it says itself; NULL: it does not. */
const char *kube_pod_refusal(const struct kube_object *pod, struct kube_need *need);

/* The latter also says how many volumes, if there are any. */
void kube_say_amounts(struct line_text *out, const struct kube_amounts *amounts);
void kube_say_asks(struct line_text *out, const struct kube_amounts *asks);

void kube_say_gone(struct line_text *out, const char *uid);

/* All of the line but what the pod needs of its machine. 'keeps': NULL: nothing is said of whom it keeps apart from. */
void kube_say_pod(struct line_text *out, const struct kube_object *pod, const char *state,
                  const char *slot, const struct kube_keeps *keeps);

/* The rest of the line: what it needs of itself, and because of others ('words', 'where'); or why it is left to the scheduler. */
void kube_say_needs(struct line_text *out, const char *needs, const char *words, const char *where,
                    const char *why);

#endif
