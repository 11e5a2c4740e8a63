/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_needs.h"

#include <string.h>

#include "model/offer_set.h"

/* A text that grows, and stops growing when it is full. */
struct text {
    char *at;
    size_t room;
    size_t used;
    bool is_full;
};

static void add(struct text *text, const char *word)
{
    const size_t length = strlen(word);

    if (text->is_full || length >= text->room - text->used) {
        text->is_full = true;
        return;
    }
    memcpy(text->at + text->used, word, length + 1);
    text->used += length;
}

/* The word of the catalogue before the value of a label; NULL: it is a label of the site. */
static const char *word_of(const char *key)
{
    static const struct {
        const char *key;
        const char *word;
    } known[] = {
        { "node.kubernetes.io/instance-type", "type=" },
        { "beta.kubernetes.io/instance-type", "type=" },
        { "topology.kubernetes.io/zone", "zone=" },
        { "failure-domain.beta.kubernetes.io/zone", "zone=" },
        { "topology.ebs.csi.aws.com/zone", "zone=" }, /* of volumes, as the next ones */
        { "topology.gke.io/zone", "zone=" },
        { "topology.disk.csi.azure.com/zone", "zone=" },
        { "karpenter.sh/capacity-type", "market=" },
        { "eks.amazonaws.com/capacityType", "market=" },
        { "karpenter.k8s.aws/instance-family", "family=" },
        { "kubernetes.io/arch", "arch=" },
        { "beta.kubernetes.io/arch", "arch=" },
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(key, known[i].key) == 0)
            return known[i].word;
    }
    return NULL;
}

static bool is_os(const char *key)
{
    return strcmp(key, "kubernetes.io/os") == 0 || strcmp(key, "beta.kubernetes.io/os") == 0;
}

/* The value as the catalogue writes it: markets have two spellings. Whatever is no word there is refused. */
static bool add_value(struct text *to, const char *word, const char *key, const char *value)
{
    const bool is_eks = strcmp(key, "eks.amazonaws.com/capacityType") == 0;

    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";

    if (value[0] == '\0' || strspn(value, letters) != strlen(value))
        return false;
    if (strcmp(word, "arch=") == 0 && strcmp(value, "amd64") == 0) {
        add(to, "!arch=arm64"); /* a catalogue marks the others */
        return true;
    }
    add(to, word);
    if (is_eks && strcmp(value, "SPOT") == 0)
        value = "spot";
    else if (is_eks && strcmp(value, "ON_DEMAND") == 0)
        value = "on-demand";
    add(to, value);
    return true;
}

bool kube_need_has_word(const char *key)
{
    return word_of(key) != NULL;
}

bool kube_need_word(const char *key, const char *value, char *buf, size_t size)
{
    const char *word = word_of(key);
    struct text to = { .at = buf, .room = size };

    buf[0] = '\0';
    return word != NULL && add_value(&to, word, key, value) && !to.is_full;
}

/* "(zone=a|zone=b)", or "!(...)" */
static const char *add_known(struct text *to, const char *word,
                             const struct kube_requirement *requirement)
{
    const bool is_not = requirement->comparison == KUBE_NOT_IN;

    if (requirement->comparison != KUBE_IN && !is_not)
        return requirement->comparison == KUBE_EXISTS
                   ? NULL
                   : "it selects nodes with an operator unknown to Stint";
    add(to, to->used > 0 ? "&" : "");
    add(to, is_not ? "!(" : "(");
    for (uint32_t i = 0; i < requirement->value_count; i++) {
        add(to, i > 0 ? "|" : "");
        if (!add_value(to, word, requirement->key, requirement->value[i]))
            return "it selects nodes by a label with an invalid value";
    }
    add(to, ")");
    return requirement->value_count > 0 ? NULL : "it selects nodes by a label without a value";
}

/* A label of the site. That one is absent, or not this, holds on the machines that others do not ask for it on. */
static const char *add_own(struct text *to, const struct kube_requirement *requirement)
{
    if (requirement->comparison == KUBE_ABSENT || requirement->comparison == KUBE_NOT_IN)
        return NULL;
    if (requirement->comparison == KUBE_STRANGE_OPERATOR)
        return "it selects nodes with an operator unknown to Stint";
    add(to, to->used > 0 ? "," : "");
    add(to, requirement->key);
    add(to, requirement->value_count > 0 ? "=" : "");
    for (uint32_t i = 0; i < requirement->value_count; i++) {
        add(to, i > 0 ? "|" : "");
        add(to, requirement->value[i]);
    }
    return NULL;
}

static const char *add_os(const struct kube_requirement *requirement)
{
    if (requirement->comparison == KUBE_IN && requirement->value_count == 1 &&
        strcmp(requirement->value[0], "linux") == 0)
        return NULL;
    return "it does not run on Linux";
}

static const char *add_one(const struct kube_requirement *requirement, struct text *offers,
                           struct text *pool)
{
    const char *word = word_of(requirement->key);

    if (strcmp(requirement->key, "kubernetes.io/hostname") == 0)
        return "it selects a node by name";
    if (is_os(requirement->key))
        return add_os(requirement);
    if (word != NULL)
        return add_known(offers, word, requirement);
    return add_own(pool, requirement);
}

/* One without requirements holds nowhere. */
static bool is_empty_term(const struct kube_object *pod, uint32_t term)
{
    for (uint32_t i = 0; i < pod->requirement_count; i++) {
        if (pod->requirement[i].term == term)
            return false;
    }
    return true;
}

/* All of one term. */
static const char *add_term(const struct kube_object *pod, uint32_t term, struct text *offers,
                            struct text *pool)
{
    const char *why = NULL;

    for (uint32_t i = 0; i < pod->requirement_count && why == NULL; i++) {
        if (pod->requirement[i].term == term)
            why = add_one(&pod->requirement[i], offers, pool);
    }
    return why;
}

/* Terms of which one must hold; one without words for the catalogue holds everywhere. */
static const char *add_terms(const struct kube_object *pod, struct text *offers, struct text *pool)
{
    bool holds_anywhere = false;
    bool holds_nowhere = pod->term_count > 0;
    char all[KUBE_NEED] = "";
    struct text any = { .at = all, .room = sizeof(all) };

    for (uint32_t term = 0; term < pod->term_count; term++) {
        char words[KUBE_NEED] = "";
        struct text one = { .at = words, .room = sizeof(words) };
        const size_t before = pool->used;
        const char *why = add_term(pod, term, &one, pool);

        if (why != NULL)
            return why;
        if (is_empty_term(pod, term))
            continue;
        holds_nowhere = false;
        if (pod->term_count > 1 && pool->used > before)
            return "its node affinity has alternatives with labels of the site";
        holds_anywhere |= one.used == 0;
        add(&any, any.used > 0 ? "|(" : "(");
        add(&any, words);
        add(&any, ")");
        any.is_full |= one.is_full;
    }
    if (holds_nowhere)
        return "its node affinity matches no node";
    if (holds_anywhere || any.used == 0)
        return NULL;
    add(offers, offers->used > 0 ? "&(" : "(");
    add(offers, all);
    add(offers, ")");
    offers->is_full |= any.is_full;
    return NULL;
}

/* GPUs are NVIDIA's; families of Amazon with other accelerators have none of these. */
static void add_accelerator(const struct kube_object *pod, struct text *to)
{
    if (pod->asks.accel == 0 || (pod->flags & KUBE_POD_OTHER_ACCEL) != 0)
        return;
    add(to, to->used > 0 ? "&" : "");
    add(to,
        "!(family=g4ad|family=dl1|family=dl2q|family=inf1|family=inf2|family=trn1|family=trn1n|family=trn2)");
}

const char *kube_need_of(const struct kube_object *pod, struct kube_need *ret)
{
    struct text offers = { .at = ret->offers, .room = sizeof(ret->offers) };
    struct text pool = { .at = ret->pool, .room = sizeof(ret->pool) };
    const char *why = NULL;

    ret->offers[0] = '\0';
    ret->pool[0] = '\0';
    for (uint32_t i = 0; i < pod->selector_count && why == NULL; i++) {
        const struct kube_requirement one = { .key = pod->selector[i].key,
                                              .comparison = KUBE_IN,
                                              .value_count = 1,
                                              .value = { pod->selector[i].value } };

        why = add_one(&one, &offers, &pool);
    }
    if (why == NULL)
        why = add_terms(pod, &offers, &pool);
    add_accelerator(pod, &offers);
    if (why == NULL && (offers.is_full || pool.is_full || !offer_text_is_valid(ret->offers)))
        why = "its node requirements are too long";
    return why;
}

/* A label that every machine of Karpenter has. */
static bool is_sure(const char *key)
{
    static const char *const keys[] = { "node.kubernetes.io/instance-type",
                                        "topology.kubernetes.io/zone", "karpenter.sh/capacity-type",
                                        "kubernetes.io/arch", "kubernetes.io/os" };

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (strcmp(key, keys[i]) == 0)
            return true;
    }
    return false;
}

/* A label that Kubernetes, Karpenter or Stint puts on nodes, not the site. */
static bool is_of_system(const char *key)
{
    const char *slash = strchr(key, '/');
    const size_t length = slash != NULL ? (size_t)(slash - key) : 0;
    static const char *const domains[] = { "kubernetes.io", "k8s.io", "stint.dev" };

    for (size_t i = 0; i < sizeof(domains) / sizeof(domains[0]); i++) {
        const size_t of = strlen(domains[i]);

        if (length >= of && strncmp(slash - of, domains[i], of) == 0)
            return true;
    }
    return strncmp(key, "karpenter.", 10) == 0;
}

const char *kube_need_is_unsure(const struct kube_object *pod)
{
    for (uint32_t i = 0; i < pod->selector_count; i++) {
        if (!is_sure(pod->selector[i].key) && strcmp(pod->selector[i].key, KUBE_SLOT) != 0)
            return "it selects nodes by a label that rented machines may lack";
    }
    for (uint32_t i = 0; i < pod->requirement_count; i++) {
        const struct kube_requirement *one = &pod->requirement[i];
        const bool is_against = one->comparison == KUBE_ABSENT || one->comparison == KUBE_NOT_IN;

        if (!is_sure(one->key) &&
            (!is_against || is_of_system(one->key) || kube_need_has_word(one->key)))
            return "it selects nodes by a label that rented machines may lack";
    }
    return NULL;
}

const char *kube_market_of(const struct kube_object *node)
{
    static const char *const keys[] = { "karpenter.sh/capacity-type",
                                        "eks.amazonaws.com/capacityType",
                                        "node.kubernetes.io/lifecycle" };
    const char *spot = kube_object_label(node, "cloud.google.com/gke-spot");

    if (spot != NULL && strcmp(spot, "true") == 0)
        return "spot";
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const char *value = kube_object_label(node, keys[i]);

        if (value != NULL && (strcmp(value, "spot") == 0 || strcmp(value, "SPOT") == 0))
            return "spot";
        if (value != NULL)
            return "on-demand";
    }
    return NULL;
}
