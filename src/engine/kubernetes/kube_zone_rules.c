/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_zone_rules.h"

#include "base/map.h"

static uint64_t hash_more(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return (hash ^ 0xff) * 0x100000001b3U; /* so that "ab", "c" is not "a", "bc" */
}

/* Never 0, and small enough for any number of a line. */
static uint64_t group_of(const char *space, const char *term)
{
    const uint64_t hash = map_mix(hash_more(hash_more(0xcbf29ce484222325U, space), term));

    return (hash & (UINT64_MAX >> 8)) | 1;
}

const char *kube_zone_rules_of(const struct kube_object *pod, uint64_t *group)
{
    *group = 0;
    if ((pod->flags & KUBE_POD_ZONES) == 0)
        return NULL;
    for (uint32_t i = 0; i < pod->repel_count; i++) {
        if (!kube_term_is_by(pod->repels[i], KUBE_HOSTNAME))
            return "it keeps away from other pods by zone";
    }
    for (uint32_t i = 0; i < pod->spread_count; i++) {
        const char *term = pod->spread[i].term;
        const uint64_t own = group_of(pod->name_space, term);

        if (kube_term_is_by(term, KUBE_HOSTNAME))
            continue;
        if (!kube_term_is_by(term, KUBE_ZONE) || (*group != 0 && *group != own))
            return "it is spread over zones in a way that Stint does not know";
        if (!kube_term_is_about(term, pod->name_space, pod->name_space, pod->label,
                                pod->label_count))
            return "it is spread by where other pods are";
        *group = own;
    }
    return *group != 0 ? NULL : "it is in a zone that depends on other pods";
}
