/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_group.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/line.h"
#include "base/units.h"
#include "engine/kubernetes/kube_protocol.h"

#define JOBSET "jobset.sigs.k8s.io/"

/* What another system starts together. */
static const char *pod_group(const struct kube_object *pod)
{
    static const char *const keys[] = { "scheduling.x-k8s.io/pod-group",
                                        "pod-group.scheduling.sigs.k8s.io",
                                        "pod-group.scheduling.sigs.k8s.io/name",
                                        "kueue.x-k8s.io/pod-group-name" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *name = kube_object_label(pod, keys[i]);

        if (name != NULL)
            return name;
    }
    return NULL;
}

static bool read_count(const char *text, uint32_t *ret)
{
    uint64_t value = 0;

    if (line_number(text, KUBE_GANG_MAX, &value) < 0 || value == 0)
        return false;
    *ret = (uint32_t)value;
    return true;
}

/* "99.9%" or "0.999", in billionths: more than none and less than all. */
static bool read_share(const char *text, int64_t *ret)
{
    const size_t length = strlen(text);
    const bool is_percent = length > 0 && text[length - 1] == '%';
    int64_t unit = is_percent ? SHARE_ALL_PPB / 100 : SHARE_ALL_PPB;
    int64_t share = 0;
    bool is_behind = false; /* the point */

    for (size_t i = 0; i + is_percent < length; i++) {
        const char digit = text[i];

        if (digit == '.' && !is_behind && i > 0) {
            is_behind = true;
            continue;
        }
        if (digit < '0' || digit > '9' || (is_behind && unit == 1) || share >= SHARE_ALL_PPB)
            return false;
        if (is_behind)
            unit /= 10;
        share = is_behind ? share + (digit - '0') * unit : share * 10 + (digit - '0') * unit;
    }
    *ret = share;
    return share > 0 && share < SHARE_ALL_PPB;
}

static void put_name(struct kube_group *group, const char *of, const char *space, const char *name,
                     const char *more)
{
    (void)snprintf(group->name, sizeof(group->name), "%s/%s/%s/%s", of, space, name, more);
}

/*
 * Gangs.
 */

/* The pods of all Jobs of the JobSet, of one attempt. */
static bool join_jobset(const struct kube_object *pod, struct kube_group *ret)
{
    const char *name = kube_object_label(pod, JOBSET "jobset-name");
    const char *uid = kube_object_label(pod, JOBSET "jobset-uid");
    const char *attempt = kube_object_label(pod, JOBSET "restart-attempt");

    if (name != NULL)
        put_name(ret, "jobset", pod->name_space, uid != NULL ? uid : name,
                 attempt != NULL ? attempt : "0");
    return name != NULL;
}

static void take_gang(const struct kube_object *pod, struct kube_group *ret)
{
    const char *group = pod_group(pod);
    const char *size = pod->gang != NULL ? pod->gang : group != NULL ? pod->group_size : NULL;

    if (size == NULL) {
        if (group != NULL)
            ret->why =
                "it belongs to a pod group; the annotation stint.dev/gang tells Stint its size";
        return;
    }
    if (!read_count(size, &ret->gang)) {
        ret->why = "the annotation with the size of its gang is no number from 1 to 4096";
        return;
    }
    if (ret->gang == 1) {
        ret->gang = 0;
        return;
    }
    if (join_jobset(pod, ret))
        return;
    if (group != NULL)
        put_name(ret, "group", pod->name_space, group, "");
    else
        put_name(ret, "owner", pod->name_space, pod->owner_uid != NULL ? pod->owner_uid : "", "");
}

/*
 * Services.
 */

/* The name of the Deployment, of which the owner is one version. */
static void put_service(const struct kube_object *pod, struct kube_group *ret)
{
    const char *hash = kube_object_label(pod, "pod-template-hash");
    const size_t whole = strlen(pod->owner_name);
    const size_t cut = hash != NULL ? strlen(hash) + 1 : 0;
    char name[KUBE_NAME];

    (void)snprintf(name, sizeof(name), "%s", pod->owner_name);
    if (cut > 1 && cut < whole && whole < sizeof(name) && name[whole - cut] == '-' &&
        strcmp(name + whole - cut + 1, hash) == 0)
        name[whole - cut] = '\0';
    put_name(ret, "service", pod->name_space, name, "");
}

static void take_promise(const struct kube_object *pod, struct kube_group *ret)
{
    int64_t share = 0;

    if (pod->availability == NULL || pod->promised == NULL) {
        ret->why = "a promise has two annotations: stint.dev/availability and stint.dev/capacity";
    } else if (!read_share(pod->availability, &share)) {
        ret->why = "the annotation stint.dev/availability is no share such as 99.9%";
    } else if (!read_count(pod->promised, &ret->capacity)) {
        ret->why = "the annotation stint.dev/capacity is no number of pods from 1 to 4096";
    } else if (pod->owner_kind != NULL && strcmp(pod->owner_kind, "Job") == 0) {
        ret->why = "it has an end, and stint.dev/availability is for pods that have none";
    } else if (pod->owner_name != NULL) {
        ret->short_ppb = (uint32_t)(SHARE_ALL_PPB - share);
        put_service(pod, ret);
    }
}

void kube_group_of(const struct kube_object *pod, struct kube_group *ret)
{
    *ret = (struct kube_group){ .why = NULL };
    if (pod->availability != NULL || pod->promised != NULL)
        take_promise(pod, ret);
    else
        take_gang(pod, ret);
    if (ret->why != NULL)
        *ret = (struct kube_group){ .why = ret->why };
}
