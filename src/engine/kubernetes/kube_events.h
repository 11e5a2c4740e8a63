/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_events.h - events on pods: what `kubectl describe pod` and `kubectl get events` show of what Stint does.
 *
 * Promises:  the text may be any; what the API server refuses is not tried again: nothing depends on an event.
 */
#ifndef STINT_ENGINE_KUBE_EVENTS_H
#define STINT_ENGINE_KUBE_EVENTS_H

#include "engine/kubernetes/kube_net.h"

struct kube_event {
    const char *space; /* a name, as kube_talk_is_name has it; so are the next two */
    const char *name;
    const char *uid;
    const char *reason; /* "NotManaged" */
    const char *text;
};

void kube_events_send(struct kube_net *net, const struct kube_event *event);

#endif
