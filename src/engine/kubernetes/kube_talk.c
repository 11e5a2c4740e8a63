/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_talk.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

bool kube_talk_is_name(const char *text)
{
    const size_t length = text != NULL ? strlen(text) : 0;

    return length > 0 && length < KUBE_NAME && strcmp(text, ".") != 0 && strcmp(text, "..") != 0 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") ==
               length;
}

void kube_talk_refuse(struct kube_talk *talk, uint64_t key, long code, const char *text)
{
    line_text_begin(&talk->out, "refused");
    line_text_number(&talk->out, "key", key);
    line_text_number(&talk->out, "code", code > 0 ? (uint64_t)code : 0);
    line_text_prose(&talk->out, "text", text);
    line_text_end(&talk->out);
}

void kube_talk_answer(struct kube_talk *talk, uint64_t key, const struct kube_answer *answer)
{
    if (answer->status >= 200 && answer->status < 300) {
        line_text_begin(&talk->out, "done");
        line_text_number(&talk->out, "key", key);
        line_text_end(&talk->out);
        return;
    }

    json_t *root = json_loadb(answer->body, answer->size, 0, NULL);
    const char *message = json_string_value(json_object_get(root, "message"));

    kube_talk_refuse(talk, key, answer->status,
                     message != NULL ? message : "the API server does not answer");
    json_decref(root);
}

void kube_talk_error(struct kube_talk *talk, const char *text)
{
    line_text_begin(&talk->out, "error");
    line_text_prose(&talk->out, "text", text);
    line_text_end(&talk->out);
}

void kube_talk_gate(const char *uid, const char *slot, char *buf, size_t size)
{
    char where[KUBE_NAME + 64] = "";

    if (slot != NULL)
        (void)snprintf(where, sizeof(where), "\"nodeSelector\":{\"" KUBE_SLOT "\":\"%s\"},", slot);
    (void)snprintf(buf, size,
                   "{\"metadata\":{\"uid\":\"%s\"%s},\"spec\":{%s\"schedulingGates\":"
                   "[{\"$patch\":\"delete\",\"name\":\"" KUBE_GATE "\"}]}}",
                   uid, slot != NULL ? "" : ",\"labels\":{\"" KUBE_MANAGED "\":null}", where);
}

static json_t *required_terms(json_t *pod)
{
    json_t *affinity = json_object_get(json_object_get(pod, "spec"), "affinity");
    json_t *required = json_object_get(json_object_get(affinity, "nodeAffinity"),
                                       "requiredDuringSchedulingIgnoredDuringExecution");

    return json_object_get(required, "nodeSelectorTerms");
}

/* Every term gets the requirement; one that has none yet holds nowhere and stays so. */
static json_t *terms_elsewhere(json_t *pod)
{
    json_t *old = required_terms(pod);
    json_t *terms =
        json_array_size(old) > 0 ? json_deep_copy(old) : json_pack("[{s:[]}]", "matchExpressions");
    json_t *term;
    size_t i;

    json_array_foreach(terms, i, term)
    {
        json_t *expressions = json_object_get(term, "matchExpressions");

        if (expressions == NULL && json_object_get(term, "matchFields") == NULL)
            continue;
        if (expressions == NULL) {
            expressions = json_array();
            (void)json_object_set_new(term, "matchExpressions", expressions);
        }
        (void)json_array_append_new(
            expressions, json_pack("{s:s, s:s}", "key", KUBE_SLOT, "operator", "DoesNotExist"));
    }
    return terms;
}

char *kube_talk_leave(const char *uid, const char *pod, size_t size)
{
    json_t *root = json_loadb(pod, size, 0, NULL);
    json_t *patch = NULL;
    char *text;

    if (json_object_get(root, "spec") != NULL)
        patch = json_pack("{s:{s:s, s:{s:n}}, s:{s:[{s:s, s:s}], s:{s:{s:{s:o}}}}}", "metadata",
                          "uid", uid, "labels", KUBE_MANAGED, "spec", "schedulingGates", "$patch",
                          "delete", "name", KUBE_GATE, "affinity", "nodeAffinity",
                          "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms",
                          terms_elsewhere(root));
    text = patch != NULL ? json_dumps(patch, JSON_COMPACT) : NULL;
    json_decref(patch);
    json_decref(root);
    return text;
}

bool kube_talk_number(const struct line *line, const char *key, uint64_t *ret)
{
    const char *text = line_get(line, key);

    return text != NULL && line_number(text, UINT64_MAX, ret) == 0;
}

msec_t kube_talk_time(const char *text)
{
    struct tm parts = { 0 };
    const char *end = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);

    return end != NULL && (*end == 'Z' || *end == '.') ? (msec_t)timegm(&parts) * MSEC_PER_SEC : -1;
}

void kube_talk_now(char *buf, size_t size)
{
    struct timespec at;
    struct tm parts;
    char seconds[32];

    (void)clock_gettime(CLOCK_REALTIME, &at);
    (void)gmtime_r(&at.tv_sec, &parts);
    (void)strftime(seconds, sizeof(seconds), "%Y-%m-%dT%H:%M:%S", &parts);
    (void)snprintf(buf, size, "%s.%06ldZ", seconds, at.tv_nsec / 1000);
}
