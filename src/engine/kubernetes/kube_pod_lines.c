/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_pod_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/kubernetes/kube_group.h"
#include "engine/kubernetes/kube_zone_rules.h"

const char *kube_pod_slot(const struct kube_object *pod)
{
    for (uint32_t i = 0; i < pod->selector_count; i++) {
        if (strcmp(pod->selector[i].key, KUBE_SLOT) == 0)
            return pod->selector[i].value;
    }
    return NULL;
}

const char *kube_pod_state(const struct kube_object *pod, const char *slot)
{
    if ((pod->flags & KUBE_POD_DONE) != 0)
        return "ended";
    if (pod->has_our_gate)
        return pod->has_other_gate ? NULL : "waiting"; /* somebody else is not through with it */
    if (slot == NULL)
        return NULL;
    return pod->node != NULL ? "running" : "placed";
}

/* Of these a cluster and Stint itself are made: no label puts them under management. */
static bool is_reserved(const char *name_space)
{
    return strcmp(name_space, "kube-system") == 0 || strcmp(name_space, "stint") == 0;
}

const char *kube_pod_refusal(const struct kube_object *pod, struct kube_need *need)
{
    struct kube_group group;
    struct kube_object *plain = mem_alloc(1, sizeof(*plain));
    struct kube_zone_rule rule;
    const char *why;

    *plain = *pod;
    plain->selector_count = 0;
    for (uint32_t i = 0; i < pod->selector_count; i++) {
        if (strcmp(pod->selector[i].key, KUBE_SLOT) != 0)
            plain->selector[plain->selector_count++] = pod->selector[i];
    }
    why = kube_need_of(plain, need);
    mem_free(plain);
    if (is_reserved(pod->name_space))
        return "Stint does not manage the namespaces kube-system and stint";
    if ((pod->flags & KUBE_POD_STRANGE) != 0)
        return pod->strange;
    if (why != NULL)
        return why;
    why = kube_need_is_unsure(pod);
    if (why != NULL)
        return why;
    if (pod->owner_kind == NULL)
        return "it has no controller to recreate it";
    if ((pod->flags & KUBE_POD_LOCAL) != 0)
        return "it has a volume on a single node";
    if ((pod->flags & KUBE_POD_DISK) != 0)
        return "it requests disk space or huge pages, which catalogues lack";
    if ((pod->flags & KUBE_POD_OTHER_ACCEL) != 0)
        return "it requests accelerators other than nvidia.com/gpu";
    kube_group_of(pod, &group);
    if (group.why != NULL)
        return group.why;
    why = kube_zone_rule_of(pod, &rule);
    if (why == NULL && (rule.what != KUBE_ZONES_FREE || (pod->flags & KUBE_POD_CLAIMS) != 0) &&
        (group.gang > 0 || group.capacity > 0))
        return "it combines volumes or a zone rule with a gang or promised machines";
    return why;
}

void kube_say_amounts(struct line_text *out, const struct kube_amounts *amounts)
{
    line_text_number(out, "cpu", (uint64_t)amounts->cpu);
    line_text_number(out, "mem", (uint64_t)amounts->mem);
    line_text_number(out, "accel", (uint64_t)amounts->accel);
}

void kube_say_asks(struct line_text *out, const struct kube_amounts *asks)
{
    kube_say_amounts(out, asks);
    if (asks->volumes > 0)
        line_text_number(out, "volumes", (uint64_t)asks->volumes);
}

void kube_say_gone(struct line_text *out, const char *uid)
{
    line_text_begin(out, "gone");
    line_text_string(out, "uid", uid);
    line_text_end(out);
}

static void say_keeps(struct line_text *out, const struct kube_keeps *keeps,
                      const struct kube_zone_rule *rule)
{
    char marks[KUBE_MARKS_TEXT + 64];
    char limit[64] = "";

    if (rule->is_limited)
        (void)snprintf(limit, sizeof(limit), "%sb%" PRIu64 "/%" PRIu32,
                       keeps->marks[0] != '\0' ? "," : "", rule->group, rule->skew);
    (void)snprintf(marks, sizeof(marks), "%s%s", keeps->marks, limit);
    line_text_number(out, "like", keeps->like);
    line_text_string(out, "keeps", marks[0] != '\0' ? marks : NULL);
}

void kube_say_pod(struct line_text *out, const struct kube_object *pod, const char *state,
                  const char *slot, const struct kube_keeps *keeps)
{
    struct kube_group group;
    struct kube_zone_rule rule;

    kube_group_of(pod, &group);
    line_text_begin(out, "pod");
    line_text_string(out, "uid", pod->uid);
    line_text_string(out, "space", pod->name_space);
    line_text_string(out, "name", pod->name);
    line_text_string(out, "state", state);
    line_text_string(out, "slot", slot);
    line_text_string(out, "owner", pod->owner_name);
    line_text_string(out, "kind", pod->owner_kind);
    line_text_string(out, "group", group.name[0] != '\0' ? group.name : NULL);
    if (group.gang > 0)
        line_text_number(out, "gang", group.gang);
    if (group.capacity > 0) {
        line_text_number(out, "capacity", group.capacity);
        line_text_number(out, "short", group.short_ppb);
    }
    kube_say_asks(out, &pod->asks);
    if (pod->priority > 0)
        line_text_number(out, "priority", (uint64_t)pod->priority);
    if (pod->priority < 0)
        line_text_number(out, "yields", 1);
    if ((pod->flags & (KUBE_POD_KEEP | KUBE_POD_CLAIMS)) != 0 || is_reserved(pod->name_space))
        line_text_number(out, "keep", 1);
    if ((pod->flags & KUBE_POD_ENDS) != 0)
        line_text_number(out, "ends", 1);
    if (kube_zone_rule_of(pod, &rule) == NULL && rule.what != KUBE_ZONES_FREE) {
        line_text_number(out, "zones", rule.group);
        line_text_string(out, "rule", kube_zone_word(&rule));
    }
    if (rule.what == KUBE_ZONES_LEAST) {
        line_text_number(out, "least", rule.least);
        line_text_number(out, "skew", rule.skew);
    }
    if (keeps != NULL)
        say_keeps(out, keeps, &rule);
}

void kube_say_needs(struct line_text *out, const char *needs, const char *words, const char *where,
                    const char *why)
{
    char all[KUBE_NEED];
    const char *and = needs[0] != '\0' && words[0] != '\0' ? "&" : "";
    const int length = snprintf(all, sizeof(all), "%s%s%s", needs, and, words);

    if (why == NULL && (length < 0 || (size_t)length >= sizeof(all)))
        why = "its node requirements are too long";
    line_text_string(out, "needs", why == NULL && all[0] != '\0' ? all : NULL);
    line_text_string(out, "where", why == NULL && where[0] != '\0' ? where : NULL);
    line_text_prose(out, "strange", why);
    line_text_end(out);
}
