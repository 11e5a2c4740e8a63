/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_talk.h - what the roles of stint-kubernetes have in common: lines in, lines out, the API server between.
 *
 * A role gets every line of the daemon and says its own by 'out'; whatever it asks of the API server goes through 'net'.
 */
#ifndef STINT_ENGINE_KUBE_TALK_H
#define STINT_ENGINE_KUBE_TALK_H

#include <stdbool.h>

#include "base/line.h"
#include "base/units.h"
#include "engine/kubernetes/kube_net.h"

#define KUBE_TALK_PATCH "application/strategic-merge-patch+json"

struct kube_talk {
    struct kube_net *net;
    struct line_text out;
    bool is_over; /* no common protocol: end */
};

/* Whether a text is a name that may stand in a path or in JSON as it is: letters, digits, '-' and '.'. */
bool kube_talk_is_name(const char *text);

/* "done key=", or "refused key= code= text=" with the message of the server's Status. */
void kube_talk_answer(struct kube_talk *talk, uint64_t key, const struct kube_answer *answer);
void kube_talk_refuse(struct kube_talk *talk, uint64_t key, long code, const char *text);
void kube_talk_error(struct kube_talk *talk, const char *text);

/* The patch that opens the gate of the pod with this uid, for a slot, or (NULL) for the scheduler as it is; it is not managed
 * by Stint any more then. */
void kube_talk_gate(const char *uid, const char *slot, char *buf, size_t size);

/* The same for the scheduler, with the condition that the pod does not go to a machine of Stint, of whose taint it has the
 * toleration. 'pod' is what the API server says of it. NULL: that is no pod. To be freed. */
char *kube_talk_leave(const char *uid, const char *pod, size_t size);

/* The number in the field, and whether there is one. */
bool kube_talk_number(const struct line *line, const char *key, uint64_t *ret);

/* A time as the server writes it, "2026-11-16T13:25:11Z"; below 0: it is none. */
msec_t kube_talk_time(const char *text);

/* This moment as the server wants it in a Lease, "2026-11-16T13:25:11.123456Z"; 32 bytes are enough. */
void kube_talk_now(char *buf, size_t size);

#endif
