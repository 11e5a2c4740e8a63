/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_release.h"

#include <errno.h>
#include <stdio.h>

#include "engine/kubernetes/kube_talk.h"

enum { TURN_MS = 200, TURNS_MAX = 300, TRIES = 6, BODY_TEXT = 2048 };

struct releasing {
    struct kube_net *net;
    struct kube_released *released;
    bool takes_labels;
    bool is_dry;
    bool is_listed;
};

static void count_answer(struct releasing *releasing, const struct kube_answer *answer,
                         uint32_t *good)
{
    if (answer->status >= 200 && answer->status < 300)
        (*good)++;
    else if (answer->status != 404 && answer->status != 409) /* it is no more */
        releasing->released->refused++;
}

static void on_opened(void *context, const struct kube_answer *answer)
{
    struct releasing *releasing = context;

    count_answer(releasing, answer, &releasing->released->opened);
}

static void on_unlabelled(void *context, const struct kube_answer *answer)
{
    struct releasing *releasing = context;

    count_answer(releasing, answer, &releasing->released->unlabelled);
}

static void print_unlabel(const char *uid, char *buf, size_t size)
{
    (void)snprintf(buf, size,
                   "{\"metadata\":{\"uid\":\"%s\",\"labels\":{\"" KUBE_MANAGED "\":null}}}", uid);
}

static void on_pod(void *context, bool is_gone, const struct kube_object *pod)
{
    struct releasing *releasing = context;
    const bool opens = pod->has_our_gate;
    char path[KUBE_NET_PATH];
    char body[BODY_TEXT];

    if (is_gone || (!opens && !releasing->takes_labels) || !kube_talk_is_name(pod->uid) ||
        !kube_talk_is_name(pod->name) || !kube_talk_is_name(pod->name_space) ||
        kube_object_label(pod, KUBE_MANAGED) == NULL)
        return;
    if (releasing->is_dry) {
        releasing->released->opened += opens ? 1 : 0;
        releasing->released->unlabelled += opens ? 0 : 1;
        return;
    }
    (void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s/pods/%s", pod->name_space, pod->name);
    if (opens)
        kube_talk_gate(pod->uid, NULL, body, sizeof(body));
    else
        print_unlabel(pod->uid, body, sizeof(body));
    kube_net_send(releasing->net,
                  &(struct kube_request){ .method = "PATCH",
                                          .path = path,
                                          .type = KUBE_TALK_PATCH,
                                          .body = body,
                                          .tries = TRIES,
                                          .on_answer = opens ? on_opened : on_unlabelled,
                                          .context = releasing });
}

static void on_begin(void *context)
{
    (void)context;
}

static void on_end(void *context)
{
    struct releasing *releasing = context;

    releasing->is_listed = true;
}

static int release(struct releasing *releasing, struct error *reterr)
{
    const struct kube_watch_sink sink = {
        .begin = on_begin, .object = on_pod, .end = on_end, .context = releasing
    };

    *releasing->released = (struct kube_released){ 0 };
    kube_net_watch(releasing->net, "/api/v1/pods", KUBE_MANAGED "=true", KUBE_POD, &sink);
    for (int turns = 0; !releasing->is_listed || kube_net_open(releasing->net) > 0; turns++) {
        if (!releasing->is_listed && turns == TURNS_MAX)
            return error_set(reterr, -ETIMEDOUT, "the API server does not list its pods");
        (void)kube_net_turn(releasing->net, -1, TURN_MS);
    }
    return 0;
}

int kube_release(struct kube_net *net, struct kube_released *ret, struct error *reterr)
{
    struct releasing releasing = { .net = net, .released = ret };

    return release(&releasing, reterr);
}

int kube_release_all(struct kube_net *net, bool is_dry, struct kube_released *ret,
                     struct error *reterr)
{
    struct releasing releasing = {
        .net = net, .released = ret, .takes_labels = true, .is_dry = is_dry
    };

    return release(&releasing, reterr);
}
