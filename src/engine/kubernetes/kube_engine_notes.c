/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_notes.c - why a pod waits at the gate, where its user looks: in an event on the pod, when it has waited for a while, and
 * again when the reason is another one.
 *
 * Costs:  a pod at most one event each NOTE_AGAIN_MS; all together NOTES_AT_ONCE events and LOOKS_MAX questions for a reason a second.
 *         Nothing while no pod waits, and nothing for whoever only observes.
 */
#include <stdio.h>
#include <string.h>

#include "engine/kubernetes/kube_engine_private.h"

enum {
    NOTE_AGAIN_MS = 60000,
    NOTES_STEP_MS = 1000,
    NOTES_AT_ONCE = 16,
    LOOKS_MAX = 512,
};

void kube_notes_begin(struct kube_engine *engine, struct kube_pod *pod)
{
    pod->note_at = engine->now + KUBE_NOTE_MS;
    if (pod->note_at < engine->note_at)
        engine->note_at = pod->note_at;
}

static uint32_t lacking(const struct kube_job *job)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < job->size; i++)
        count += job->pods[i] == ROW_NONE ? 1 : 0;
    return count;
}

/* "": nothing keeps it, or nobody knows now what does. */
static void reason_of(const struct kube_engine *engine, const struct kube_pod *pod, char *buf,
                      size_t size)
{
    const struct kube_job *job = pod->job != ROW_NONE ? &engine->jobs[pod->job] : NULL;

    buf[0] = '\0';
    if (pod->hold != NULL)
        (void)snprintf(buf, size, "%s", pod->hold);
    else if (job == NULL)
        (void)snprintf(buf, size, "its gang has all the pods that it needs");
    else if (!job->is_announced && !kube_engine_is_whole(job))
        (void)snprintf(buf, size, "%u of the %u pods of its gang are missing", lacking(job),
                       job->size);
    else if (job->is_announced && engine->config.explain != NULL &&
             engine->config.explain(engine->config.context, kube_engine_task_of(engine, pod), buf,
                                    size) <= 0)
        buf[0] = '\0';
}

void kube_notes_text(const struct kube_engine *engine, const struct kube_pod *pod, char *buf,
                     size_t size)
{
    const long waited_s = (long)((engine->now - pod->met_at) / MSEC_PER_SEC);
    char reason[KUBE_REASON];

    reason_of(engine, pod, reason, sizeof(reason));
    if (pod->hold != NULL)
        (void)snprintf(buf, size, "After %ld s: %s", waited_s, reason);
    else if (reason[0] != '\0')
        (void)snprintf(buf, size, "After %ld s: %s; `stint explain %s/%s` has the details",
                       waited_s, reason, pod->space, pod->name);
    else
        (void)snprintf(buf, size,
                       "Stint has no machine for this pod yet, after %ld s; `stint explain %s/%s` "
                       "says why",
                       waited_s, pod->space, pod->name);
}

/* Whether there is something to say. */
static bool look(struct kube_engine *engine, struct kube_pod *pod)
{
    char reason[KUBE_REASON];
    uint64_t hash;

    pod->note_at = engine->now + NOTE_AGAIN_MS;
    reason_of(engine, pod, reason, sizeof(reason));
    if (reason[0] == '\0' && (pod->is_noted || engine->config.explain != NULL))
        return false;
    hash = kube_engine_hash_of(reason);
    if (pod->is_noted && hash == pod->note)
        return false;
    pod->note = hash;
    pod->is_noted = true;
    kube_engine_ask(engine, pod, ASK_NOTE);
    return true;
}

void kube_notes_tick(struct kube_engine *engine)
{
    uint32_t sent = 0;
    uint32_t looks = 0;
    msec_t next = MSEC_NEVER;

    if (engine->now < engine->note_at)
        return;
    for (uint32_t i = 0; i < engine->pod_count && !engine->config.observes; i++) {
        struct kube_pod *pod = &engine->pods[i];

        if (!pod->is_used || pod->state != POD_WAITING || pod->is_left || pod->key != 0)
            continue;
        if (pod->note_at <= engine->now && (sent == NOTES_AT_ONCE || looks == LOOKS_MAX)) {
            next = engine->now + NOTES_STEP_MS;
            break;
        }
        if (pod->note_at <= engine->now) {
            looks++;
            sent += look(engine, pod) ? 1 : 0;
        }
        next = pod->note_at < next ? pod->note_at : next;
    }
    engine->note_at = next;
}
