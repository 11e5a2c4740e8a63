/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_apart.c - what the pods of a job keep apart from, in numbers of model/apart.h.
 *
 * A pod says some of it itself. The rest is said of its kind ('like'), and may change while the pod waits or runs: then its job
 * changes. Of a mark with a number behind it, "b12/3", there are that many, of which a job gets one by its id; a pod that takes over the
 * seat of another one keeps to what that one had, if both say the same, so that its place is still one.
 */
#include "engine/kubernetes/kube_engine_private.h"

#include <stdlib.h>
#include <string.h>

#include "model/apart.h"

static struct aparts *aparts_of(const struct kube_engine *engine)
{
    return &engine->config.shapes->aparts;
}

static uint8_t side_of(char letter)
{
    switch (letter) {
    case 'b':
        return APART_BOTH;
    case 's':
        return APART_SHUNS;
    case 'h':
        return APART_HAS;
    default:
        return 0;
    }
}

/* False: it is not written as it should be. */
static bool read_marks(struct kube_engine *engine, const char *text, uint64_t id, uint32_t *ret)
{
    struct apart_mark marks[APART_MARKS_MAX];
    uint32_t count = 0;

    while (*text != '\0') {
        const uint8_t sides = side_of(*text);
        char *end;
        uint64_t parts = 1;

        if (sides == 0 || text[1] < '0' || text[1] > '9' || count == APART_MARKS_MAX)
            return false;
        marks[count] = (struct apart_mark){ .mark = strtoull(text + 1, &end, 10), .sides = sides };
        if (*end == '/' && end[1] >= '1' && end[1] <= '9')
            parts = strtoull(end + 1, &end, 10);
        if (*end != ',' && *end != '\0')
            return false;
        marks[count].mark += (map_mix(id) % parts) << 56; /* marks are smaller than that */
        count++;
        text = *end == ',' ? end + 1 : end;
    }
    *ret = aparts_add(aparts_of(engine), marks, count);
    return true;
}

/* What is said of the kinds of its pods. */
static uint32_t because_of_others(const struct kube_engine *engine, const struct kube_job *job,
                                  bool *has_pods)
{
    uint32_t ret = APART_NONE;

    *has_pods = false;
    for (uint32_t i = 0; i < job->size; i++) {
        if (job->pods[i] == ROW_NONE)
            continue;

        const uint32_t more = map_get(&engine->by_like, engine->pods[job->pods[i]].like);

        *has_pods = true;
        if (more != MAP_NONE)
            ret = aparts_join(aparts_of(engine), ret, more);
    }
    return ret;
}

static void change(struct kube_engine *engine, struct kube_job *job, uint32_t keeps)
{
    struct engine_event event = { .kind = ENGINE_JOB_CHANGED, .changes = CHANGE_APART };

    if (keeps == job->spec.keeps)
        return;
    job->spec.keeps = keeps;
    if (!job->is_announced)
        return;
    event.job = job->spec;
    kube_engine_emit(engine, &event);
}

static void update(struct kube_engine *engine, struct kube_job *job)
{
    bool has_pods;
    const uint32_t others = because_of_others(engine, job, &has_pods);

    if (has_pods)
        change(engine, job, aparts_join(aparts_of(engine), job->own, others));
}

static bool take_own(struct kube_engine *engine, struct kube_pod *pod, const struct line *line)
{
    const char *text = line_get(line, "keeps");

    pod->like = (uint64_t)kube_engine_amount(line, "like");
    pod->says = text != NULL ? kube_engine_hash_of(text) : 0;
    pod->own = APART_NONE;
    return text == NULL || read_marks(engine, text, kube_engine_hash_of(pod->uid), &pod->own);
}

const char *kube_keeps_meet(struct kube_engine *engine, struct kube_pod *pod,
                            const struct line *line)
{
    return take_own(engine, pod, line) ? NULL : "its anti-affinity is unknown to Stint";
}

void kube_keeps_join(struct kube_engine *engine, struct kube_job *job, const struct kube_pod *pod)
{
    struct aparts *aparts = aparts_of(engine);
    const uint32_t others = map_get(&engine->by_like, pod->like);

    if (job->size > 1)
        job->own = aparts_join(aparts, job->own, pod->own);
    else if (job->says != pod->says)
        job->own = pod->own;
    job->says = pod->says;
    change(engine, job,
           aparts_join(aparts,
                       job->size > 1 ? aparts_join(aparts, job->spec.keeps, job->own) : job->own,
                       others != MAP_NONE ? others : APART_NONE));
}

void kube_keeps_again(struct kube_engine *engine, struct kube_pod *pod, const struct line *line)
{
    const char *text = line_get(line, "keeps");
    const uint64_t says = text != NULL ? kube_engine_hash_of(text) : 0;

    if (line_get(line, "like") == NULL ||
        (pod->like == (uint64_t)kube_engine_amount(line, "like") && pod->says == says))
        return;
    if (take_own(engine, pod, line) && pod->job != ROW_NONE)
        kube_keeps_join(engine, &engine->jobs[pod->job], pod);
}

bool kube_keeps_take_marks(struct kube_engine *engine, const struct line *line)
{
    const uint64_t like = (uint64_t)kube_engine_amount(line, "like");
    const char *text = line_get(line, "keeps");
    uint32_t marks = APART_NONE;

    if (line_get(line, "like") == NULL || (text != NULL && !read_marks(engine, text, 0, &marks)))
        return false;
    if (marks != APART_NONE)
        map_put(&engine->by_like, like, marks);
    else if (!map_remove(&engine->by_like, like))
        return true;
    for (uint32_t i = 0; i < engine->pod_count; i++) {
        const struct kube_pod *pod = &engine->pods[i];

        if (pod->is_used && pod->like == like && pod->job != ROW_NONE)
            update(engine, &engine->jobs[pod->job]);
    }
    return true;
}
