/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_ask.h"

enum { TRIES = 6, TURN_MS = 200 };

struct waiting {
    struct kube_reply reply;
    bool is_there;
};

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct waiting *waiting = context;

    waiting->reply.status = answer->status;
    waiting->reply.root = json_loadb(answer->body, answer->size, 0, NULL);
    waiting->is_there = true;
}

struct kube_reply kube_ask(struct kube_net *net, const char *method, const char *path,
                           const char *type, const char *body)
{
    struct waiting waiting = { 0 };

    kube_net_send(net, &(struct kube_request){ .method = method,
                                               .path = path,
                                               .type = type,
                                               .body = body,
                                               .tries = TRIES,
                                               .on_answer = on_answer,
                                               .context = &waiting });
    while (!waiting.is_there)
        (void)kube_net_turn(net, -1, TURN_MS);
    return waiting.reply;
}

const char *kube_reply_text(json_t *root, const char *map, const char *key)
{
    return json_string_value(json_object_get(json_object_get(root, map), key));
}

const char *kube_reply_why(const struct kube_reply *reply)
{
    const char *why = json_string_value(json_object_get(reply->root, "message"));

    return why != NULL ? why : "no answer";
}
