/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_zone_rules.h"

#include <stdio.h>
#include <string.h>

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

static const char *after_key(const char *term)
{
    return term + strcspn(term, "\n");
}

static bool is_own(const struct kube_object *pod, const char *term)
{
    return kube_term_is_about(term, pod->name_space, pod->name_space, pod->label, pod->label_count);
}

static const char *keep_apart(const struct kube_object *pod, const char *term,
                              struct kube_zone_rule *ret)
{
    if (!is_own(pod, term))
        return "its anti-affinity by zone is about other pods";
    if (!kube_term_is_by(term, KUBE_ZONE) || (ret->term != NULL && strcmp(ret->term, term) != 0))
        return "its anti-affinity by zone is unknown to Stint";
    *ret = (struct kube_zone_rule){ .what = KUBE_ZONES_APART,
                                    .group = group_of(pod->name_space, term),
                                    .term = term };
    return NULL;
}

/* One in a zone is spread as well. */
static const char *spread(const struct kube_object *pod, const struct kube_spread *said,
                          struct kube_zone_rule *ret)
{
    const uint64_t group = group_of(pod->name_space, said->term);

    if (!kube_term_is_by(said->term, KUBE_ZONE) || (ret->group != 0 && ret->group != group))
        return "its topology spread over zones is unknown to Stint";
    if (!is_own(pod, said->term))
        return "its topology spread depends on other pods";
    if (ret->what == KUBE_ZONES_APART)
        return NULL;
    if (ret->what == KUBE_ZONES_FREE)
        *ret =
            (struct kube_zone_rule){ .what = KUBE_ZONES_EVEN, .group = group, .skew = said->skew };
    ret->skew = said->skew < ret->skew ? said->skew : ret->skew;
    ret->least = said->least > ret->least ? said->least : ret->least;
    if (ret->least > 1) {
        ret->what = KUBE_ZONES_LEAST;
        ret->term = said->term;
    }
    return NULL;
}

/* Unless the same pods keep apart by host anyway. */
static void limit_machines(const struct kube_object *pod, struct kube_zone_rule *ret)
{
    for (uint32_t i = 0; i < pod->repel_count; i++) {
        if (kube_term_is_by(pod->repels[i], KUBE_HOSTNAME) &&
            strcmp(after_key(pod->repels[i]), after_key(ret->term)) == 0)
            return;
    }
    ret->is_limited = true;
}

/* One at a time: pods of one zone cannot be spread over several. */
static const char *be_near(const struct kube_object *pod, struct kube_zone_rule *ret)
{
    if (pod->near == NULL)
        return "its pod affinity is unknown to Stint";
    if ((pod->flags & KUBE_POD_ZONES) != 0)
        return "it combines pod affinity with another zone rule";
    *ret = (struct kube_zone_rule){ .what = KUBE_ZONES_NEAR,
                                    .group = group_of(pod->name_space, pod->near) ^ 2,
                                    .term = pod->near,
                                    .is_own = is_own(pod, pod->near) };
    return NULL;
}

const char *kube_zone_rule_of(const struct kube_object *pod, struct kube_zone_rule *ret)
{
    const char *why = NULL;

    *ret = (struct kube_zone_rule){ .what = KUBE_ZONES_FREE };
    if ((pod->flags & KUBE_POD_TOGETHER) != 0)
        return be_near(pod, ret);
    if ((pod->flags & KUBE_POD_ZONES) == 0)
        return NULL;
    for (uint32_t i = 0; i < pod->repel_count && why == NULL; i++) {
        if (!kube_term_is_by(pod->repels[i], KUBE_HOSTNAME))
            why = keep_apart(pod, pod->repels[i], ret);
    }
    for (uint32_t i = 0; i < pod->spread_count && why == NULL; i++) {
        if (!kube_term_is_by(pod->spread[i].term, KUBE_HOSTNAME))
            why = spread(pod, &pod->spread[i], ret);
    }
    if (why == NULL && ret->what == KUBE_ZONES_LEAST)
        limit_machines(pod, ret);
    if (why == NULL && ret->what == KUBE_ZONES_FREE)
        why = "it is in a zone that depends on other pods";
    if (why != NULL)
        *ret = (struct kube_zone_rule){ .what = KUBE_ZONES_FREE };
    return why;
}

const char *kube_zone_word(const struct kube_zone_rule *rule)
{
    static const char *const words[] = { [KUBE_ZONES_FREE] = NULL,
                                         [KUBE_ZONES_EVEN] = "even",
                                         [KUBE_ZONES_LEAST] = "even",
                                         [KUBE_ZONES_APART] = "apart",
                                         [KUBE_ZONES_NEAR] = "near" };

    return words[rule->what];
}

void kube_zone_split(char *words, char *zones)
{
    const size_t length = strlen(words);
    char *to = words + 2;
    size_t used = 1;

    memcpy(zones, ",", 2);
    if (length < 3)
        return;
    for (const char *at = words + 2; at < words + length - 1;) {
        const size_t size = strcspn(at, "|)");

        if (size > 5 && strncmp(at, "zone=", 5) == 0) {
            memcpy(zones + used, at + 5, size - 5);
            used += size - 5;
            memcpy(zones + used++, ",", 2);
        } else {
            if (to > words + 2)
                *to++ = '|';
            memmove(to, at, size);
            to += size;
        }
        at += size + 1;
    }
    if (to > words + 2)
        *to++ = ')';
    else
        to = words;
    *to = '\0';
}

static bool has_zone(const char *list, const char *name, size_t length)
{
    for (const char *at = strchr(list, ','); at != NULL; at = strchr(at + 1, ',')) {
        if (strncmp(at + 1, name, length) == 0 && at[length + 1] == ',')
            return true;
    }
    return false;
}

void kube_zone_without(const char *zones, const char *others, char *ret)
{
    size_t used = 1;

    memcpy(ret, ",", 2);
    for (const char *at = zones + 1; *at != '\0';) {
        const size_t length = strcspn(at, ",");

        if (!has_zone(others, at, length)) {
            memcpy(ret + used, at, length);
            memcpy(ret + used + length, ",", 2);
            used += length + 1;
        }
        at += length + (at[length] == ',' ? 1 : 0);
    }
}
