/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_lease.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "engine/kubernetes/kube_release.h"
#include "engine/kubernetes/kube_talk.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/stint/leases"

enum { RENEW_MS = 5000, LASTS_S = 30, TURN_MS = 500, BODY_TEXT = 512, TIME_TEXT = 64 };

static msec_t monotonic_ms(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (msec_t)at.tv_sec * MSEC_PER_SEC + at.tv_nsec / 1000000;
}

/*
 * Renewing.
 */

static void print_lease(char *buf, size_t size)
{
    char when[TIME_TEXT];
    char host[TIME_TEXT] = "";

    kube_talk_now(when, sizeof(when));
    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(
        buf, size,
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"stint\"},"
        "\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":%d,\"renewTime\":\"%s\"}}",
        kube_talk_is_name(host) ? host : "stint", LASTS_S, when);
}

static void on_created(void *context, const struct kube_answer *answer)
{
    struct kube_lease *lease = context;

    (void)answer;
    lease->is_asked = false;
}

static void on_renewed(void *context, const struct kube_answer *answer)
{
    struct kube_lease *lease = context;
    char body[BODY_TEXT];

    lease->is_asked = answer->status == 404;
    if (!lease->is_asked)
        return;
    print_lease(body, sizeof(body));
    kube_net_send(lease->net, &(struct kube_request){ .method = "POST",
                                                      .path = LEASES,
                                                      .type = "application/json",
                                                      .body = body,
                                                      .on_answer = on_created,
                                                      .context = lease });
}

void kube_lease_tick(struct kube_lease *lease, struct kube_net *net, msec_t now_ms)
{
    char body[BODY_TEXT];

    if (lease->is_asked || now_ms < lease->due_ms)
        return;
    lease->net = net;
    lease->is_asked = true;
    lease->due_ms = now_ms + RENEW_MS;
    print_lease(body, sizeof(body));
    kube_net_send(net, &(struct kube_request){ .method = "PATCH",
                                               .path = LEASES "/stint",
                                               .type = "application/merge-patch+json",
                                               .body = body,
                                               .on_answer = on_renewed,
                                               .context = lease });
}

/*
 * Watching over it.
 */

struct look {
    char renewed[TIME_TEXT]; /* as it was seen last */
    msec_t since_ms;         /* when that was seen first */
    bool is_answered;
};

static void on_lease(void *context, const struct kube_answer *answer)
{
    struct look *look = context;
    json_t *root = answer->status == 200 ? json_loadb(answer->body, answer->size, 0, NULL) : NULL;
    const char *renewed =
        json_string_value(json_object_get(json_object_get(root, "spec"), "renewTime"));

    look->is_answered = true;
    if (answer->status != 200 && answer->status != 404) {
        look->since_ms = monotonic_ms();
    } else if (renewed != NULL && strcmp(renewed, look->renewed) != 0) {
        (void)snprintf(look->renewed, sizeof(look->renewed), "%s", renewed);
        look->since_ms = monotonic_ms();
    }
    json_decref(root);
}

/* Open what is closed, and say so. */
static void release_all(struct kube_client *client)
{
    struct kube_net *net = kube_net_create(client);
    struct kube_released released;
    struct error error = { "" };

    if (kube_release(net, &released, &error) < 0)
        (void)fprintf(stderr, "stint-kubernetes: %s\n", error.text);
    else if (released.opened + released.refused > 0)
        (void)fprintf(
            stderr,
            "stint-kubernetes: Stint has not renewed its lease in time: %u gates opened, %u refused\n",
            released.opened, released.refused);
    kube_net_destroy(net);
}

void kube_lease_watch(struct kube_client *client, msec_t after_ms)
{
    struct look look = { .since_ms = monotonic_ms() };
    struct kube_net *net = kube_net_create(client);
    bool is_asked = false;
    msec_t next_ms = 0;

    for (;;) {
        if (!is_asked && monotonic_ms() >= next_ms) {
            is_asked = true;
            look.is_answered = false;
            kube_net_send(net, &(struct kube_request){ .method = "GET",
                                                       .path = LEASES "/stint",
                                                       .on_answer = on_lease,
                                                       .context = &look });
        }
        (void)kube_net_turn(net, -1, TURN_MS);
        if (is_asked && look.is_answered) {
            is_asked = false;
            next_ms = monotonic_ms() + after_ms / 4;
            if (monotonic_ms() - look.since_ms >= after_ms)
                release_all(client);
        }
    }
}
