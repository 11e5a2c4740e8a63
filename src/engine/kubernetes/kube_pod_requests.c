/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_pod_requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/kubernetes/kube_events.h"
#include "engine/kubernetes/kube_object.h"

enum { PATH_TEXT = 1024, BODY_TEXT = 2048, TRIES = 6 };

/* A request of the daemon that is under way. */
struct asked {
    struct kube_talk *talk;
    uint64_t key;
};

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct asked *asked = context;

    kube_talk_answer(asked->talk, asked->key, answer);
    mem_free(asked);
}

static struct asked *asked_new(struct kube_talk *talk, uint64_t key)
{
    struct asked *asked = mem_alloc(1, sizeof(*asked));

    *asked = (struct asked){ .talk = talk, .key = key };
    return asked;
}

static void send(struct kube_talk *talk, uint64_t key, const struct kube_request *request)
{
    struct kube_request own = *request;

    own.on_answer = on_answer;
    own.context = asked_new(talk, key);
    kube_net_send(talk->net, &own);
}

static int pod_path(const struct line *line, const char *more, char *ret)
{
    return snprintf(ret, PATH_TEXT, "/api/v1/namespaces/%s/pods/%s%s", line_get(line, "space"),
                    line_get(line, "name"), more);
}

/* On the pod of the line; nothing without a text. */
static void say_event(struct kube_talk *talk, const struct line *line, const char *reason)
{
    const char *text = line_get(line, "text");

    if (text != NULL)
        kube_events_send(talk->net, &(struct kube_event){ .space = line_get(line, "space"),
                                                          .name = line_get(line, "name"),
                                                          .uid = line_get(line, "uid"),
                                                          .reason = reason,
                                                          .text = text });
}

/* For a slot. That the pod is still the same one is a condition. */
static void open_gate(struct kube_talk *talk, uint64_t key, const struct line *line)
{
    char path[PATH_TEXT];
    char body[BODY_TEXT];

    (void)pod_path(line, "", path);
    kube_talk_gate(line_get(line, "uid"), line_get(line, "slot"), body, sizeof(body));
    send(talk, key,
         &(struct kube_request){ .method = "PATCH",
                                 .path = path,
                                 .type = KUBE_TALK_PATCH,
                                 .body = body,
                                 .tries = TRIES });
    say_event(talk, line, "Placed");
}

/* A pod that is to be left to the scheduler, while it is read. */
struct leaving {
    struct kube_talk *talk;
    uint64_t key;
    char uid[KUBE_NAME];
    char path[PATH_TEXT];
};

static void on_leaving(void *context, const struct kube_answer *answer)
{
    struct leaving *leaving = context;
    char *body =
        answer->status == 200 ? kube_talk_leave(leaving->uid, answer->body, answer->size) : NULL;

    if (body != NULL)
        send(leaving->talk, leaving->key,
             &(struct kube_request){ .method = "PATCH",
                                     .path = leaving->path,
                                     .type = KUBE_TALK_PATCH,
                                     .body = body,
                                     .tries = TRIES });
    else if (answer->status == 200)
        kube_talk_refuse(leaving->talk, leaving->key, 0, "the answer is no pod");
    else
        kube_talk_answer(leaving->talk, leaving->key, answer);
    free(body);
    mem_free(leaving);
}

/* For whatever the scheduler finds that is not a machine of Stint. */
static void leave(struct kube_talk *talk, uint64_t key, const struct line *line)
{
    struct leaving *leaving = mem_alloc(1, sizeof(*leaving));

    leaving->talk = talk;
    leaving->key = key;
    (void)snprintf(leaving->uid, sizeof(leaving->uid), "%s", line_get(line, "uid"));
    (void)pod_path(line, "", leaving->path);
    kube_net_send(talk->net, &(struct kube_request){ .method = "GET",
                                                     .path = leaving->path,
                                                     .tries = TRIES,
                                                     .on_answer = on_leaving,
                                                     .context = leaving });
    say_event(talk, line, "NotManaged");
}

/* An event and nothing else. */
static void note(struct kube_talk *talk, uint64_t key, const struct line *line)
{
    say_event(talk, line, "Waiting");
    line_text_begin(&talk->out, "done");
    line_text_number(&talk->out, "key", key);
    line_text_end(&talk->out);
}

static void evict(struct kube_talk *talk, uint64_t key, const struct line *line)
{
    char path[PATH_TEXT];
    char body[BODY_TEXT];
    char grace[64] = "";
    uint64_t seconds = 0;

    if (kube_talk_number(line, "grace", &seconds))
        (void)snprintf(grace, sizeof(grace), "\"gracePeriodSeconds\":%" PRIu64 ",", seconds);
    (void)pod_path(line, "/eviction", path);
    (void)snprintf(
        body, sizeof(body),
        "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"%s\","
        "\"namespace\":\"%s\"},\"deleteOptions\":{%s\"preconditions\":{\"uid\":\"%s\"}}}",
        line_get(line, "name"), line_get(line, "space"), grace, line_get(line, "uid"));
    send(talk, key,
         &(struct kube_request){
             .method = "POST", .path = path, .type = "application/json", .body = body });
}

/* A pod that is to be deleted, while its condition is written. */
struct deleting {
    struct kube_talk *talk;
    uint64_t key;
    char uid[KUBE_NAME];
    char path[PATH_TEXT];
};

/* Whatever came of the condition: a machine that is gone is no place to stay. */
static void on_condition(void *context, const struct kube_answer *answer)
{
    struct deleting *deleting = context;
    char body[BODY_TEXT];

    (void)answer;
    (void)snprintf(body, sizeof(body),
                   "{\"gracePeriodSeconds\":0,\"preconditions\":{\"uid\":\"%s\"}}", deleting->uid);
    send(deleting->talk, deleting->key,
         &(struct kube_request){ .method = "DELETE",
                                 .path = deleting->path,
                                 .type = "application/json",
                                 .body = body,
                                 .tries = TRIES });
    mem_free(deleting);
}

/*
 * At once: its machine is gone, or it has not begun. An eviction sets the condition DisruptionTarget by itself; here it is for us to say
 * that the pod did not fail, or a Job counts it against its backoffLimit although its podFailurePolicy ignores disruptions.
 */
static void delete_pod(struct kube_talk *talk, uint64_t key, const struct line *line)
{
    struct deleting *deleting = mem_alloc(1, sizeof(*deleting));
    char path[PATH_TEXT];
    char body[BODY_TEXT];
    char now[64];

    deleting->talk = talk;
    deleting->key = key;
    (void)snprintf(deleting->uid, sizeof(deleting->uid), "%s", line_get(line, "uid"));
    (void)pod_path(line, "", deleting->path);
    (void)pod_path(line, "/status", path);
    kube_talk_now(now, sizeof(now));
    (void)snprintf(
        body, sizeof(body),
        "{\"metadata\":{\"uid\":\"%s\"},\"status\":{\"conditions\":[{\"type\":\"DisruptionTarget\",\"status\":\"True\","
        "\"reason\":\"DeletionByStint\",\"message\":\"Stint: its machine is gone, or never took it\",\"lastTransitionTime\":\"%s\"}]}}",
        deleting->uid, now);
    kube_net_send(talk->net, &(struct kube_request){ .method = "PATCH",
                                                     .path = path,
                                                     .type = KUBE_TALK_PATCH,
                                                     .body = body,
                                                     .tries = TRIES,
                                                     .on_answer = on_condition,
                                                     .context = deleting });
}

static int count_pod(void *context, const char *event, const struct kube_object *pod)
{
    uint64_t *count = context;

    (void)event;
    if (!kube_object_is_daemon(pod) && (pod->flags & (KUBE_POD_DONE | KUBE_POD_MIRROR)) == 0)
        (*count)++;
    return 0;
}

static void on_room(void *context, const struct kube_answer *answer)
{
    struct asked *asked = context;
    struct line_text *out = &asked->talk->out;
    uint64_t count = 0;
    const struct kube_object_sink sink = { .on_object = count_pod, .context = &count };
    struct kube_objects *objects = kube_objects_create(KUBE_POD, false, &sink);
    struct error error = { "" };

    if (answer->status != 200) {
        kube_talk_answer(asked->talk, asked->key, answer);
    } else if (kube_objects_read(objects, answer->body, answer->size, &error) < 0 ||
               kube_objects_end(objects, &error) < 0) {
        kube_talk_refuse(asked->talk, asked->key, 0, error.text);
    } else {
        line_text_begin(out, "done");
        line_text_number(out, "key", asked->key);
        line_text_number(out, "pods", count);
        line_text_end(out);
    }
    kube_objects_destroy(objects);
    mem_free(asked);
}

/* How many pods are on the node, without those of DaemonSets. */
static void ask_room(struct kube_talk *talk, uint64_t key, const struct line *line)
{
    char path[PATH_TEXT];

    (void)snprintf(path, sizeof(path), "/api/v1/pods?fieldSelector=spec.nodeName%%3D%s",
                   line_get(line, "name"));
    kube_net_send(talk->net, &(struct kube_request){ .method = "GET",
                                                     .path = path,
                                                     .tries = TRIES,
                                                     .on_answer = on_room,
                                                     .context = asked_new(talk, key) });
}

static const struct {
    const char *word;
    const char *names[4]; /* fields that must be there, and names */
    void (*take)(struct kube_talk *talk, uint64_t key, const struct line *line);
} requests[] = {
    { "place", { "space", "name", "uid", "slot" }, open_gate },
    { "release", { "space", "name", "uid", NULL }, leave },
    { "note", { "space", "name", "uid", NULL }, note },
    { "evict", { "space", "name", "uid", NULL }, evict },
    { "delete", { "space", "name", "uid", NULL }, delete_pod },
    { "room", { "name", NULL, NULL, NULL }, ask_room },
};

void kube_pod_request(struct kube_talk *talk, uint64_t key, const struct line *line)
{
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (strcmp(line->word, requests[i].word) != 0)
            continue;
        for (int j = 0; j < 4 && requests[i].names[j] != NULL; j++) {
            if (!kube_talk_is_name(line_get(line, requests[i].names[j]))) {
                kube_talk_refuse(talk, key, 0, "a field is missing, or no name");
                return;
            }
        }
        requests[i].take(talk, key, line);
        return;
    }
    kube_talk_refuse(talk, key, 0, "no such request");
}
