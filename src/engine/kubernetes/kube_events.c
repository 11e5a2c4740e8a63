/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_events.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WHEN_TEXT = 64 };

static void on_answer(void *context, const struct kube_answer *answer)
{
    (void)context;
    (void)answer;
}

static void print_now(char *buf, size_t size)
{
    const time_t now = time(NULL);
    struct tm parts;

    (void)gmtime_r(&now, &parts);
    (void)strftime(buf, size, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* NULL: the text is no UTF-8. */
static char *print_event(const struct kube_event *event)
{
    char when[WHEN_TEXT];
    json_t *root;
    char *text;

    print_now(when, sizeof(when));
    root = json_pack(
        "{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:s, s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:i, s:{s:s}, s:s}",
        "apiVersion", "v1", "kind", "Event", "metadata", "generateName", "stint-", "namespace",
        event->space, "involvedObject", "apiVersion", "v1", "kind", "Pod", "namespace",
        event->space, "name", event->name, "uid", event->uid, "type", "Normal", "reason",
        event->reason, "message", event->text, "firstTimestamp", when, "lastTimestamp", when,
        "count", 1, "source", "component", "stint", "reportingComponent", "stint");
    text = root != NULL ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text;
}

void kube_events_send(struct kube_net *net, const struct kube_event *event)
{
    char path[KUBE_NET_PATH];
    char *body = print_event(event);

    if (body == NULL)
        return;
    (void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/events", event->space);
    kube_net_send(net, &(struct kube_request){ .method = "POST",
                                               .path = path,
                                               .type = "application/json",
                                               .body = body,
                                               .on_answer = on_answer });
    free(body);
}
