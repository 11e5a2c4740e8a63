/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_apart.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct rule {
    uint64_t key;
    char *space;
    char *term;
    uint32_t kinds; /* that have it; 0: the row is free */
    uint32_t pods;
};

struct kind {
    uint64_t key;
    char *space;
    char *texts;
    struct kube_pair *labels; /* into 'texts' */
    uint32_t label_count;
    uint32_t rule; /* ROW_NO: none */
    uint32_t port; /* 0: none */
    uint32_t pods; /* 0: it does not count yet, or the row is free */
    uint32_t next; /* free row */
    bool is_daemon;
    uint64_t asked_at;   /* one more than the version that the verdict is for; 0: there is none */
    const char *verdict; /* NULL: it may wait for a machine */
};

struct member {
    uint64_t key; /* hash of a uid */
    uint32_t kind;
    bool is_seen;
};

struct kube_apart {
    struct rule *rules;
    uint32_t rule_count, rules_room;
    struct kind *kinds;
    uint32_t kind_count, kinds_room, free_kind;
    struct map kind_by_key;
    struct member *members;
    uint32_t member_count, members_room;
    struct map member_by_key;
    uint64_t version; /* of what the verdicts depend on: which kinds have pods */
};

#define ROW_NO UINT32_MAX

/* What a pod says of itself. */
struct saying {
    const char *rule; /* the text of its term; NULL: it has none */
    const char *odd;  /* why Stint cannot say it; NULL: it can */
    uint64_t group;
};

static const char *const not_alone = "it keeps away from other pods in more than one way";

/*
 * Hashes.
 */

static uint64_t hash_more(uint64_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3U;
    return (hash ^ 0xff) * 0x100000001b3U; /* so that "ab", "c" is not "a", "bc" */
}

static uint64_t hash_of(const char *text)
{
    return map_mix(hash_more(0xcbf29ce484222325U, text));
}

/* Never 0, and small enough for any number of a line. */
static uint64_t group_of(const char *a, const char *b, uint32_t part)
{
    const uint64_t hash = map_mix(hash_more(hash_more(0xcbf29ce484222325U, a), b) + part);

    return (hash & (UINT64_MAX >> 8)) | 1;
}

/*
 * What a pod says.
 */

static const char *after_key(const char *term)
{
    return term + strcspn(term, "\n");
}

/* The group by its spread over hosts, if it has one. */
static void say_spread(const struct kube_object *pod, struct saying *ret)
{
    for (uint32_t i = 0; i < pod->spread_count; i++) {
        const struct kube_spread *spread = &pod->spread[i];
        const uint32_t part = (uint32_t)(hash_of(pod->uid) % spread->skew);

        if (!kube_term_is_by(spread->term, KUBE_HOSTNAME))
            continue;
        if (!kube_term_is_about(spread->term, pod->name_space, pod->name_space, pod->label,
                                pod->label_count))
            ret->odd = "it is spread by where other pods are";
        if (ret->rule == NULL && ret->group == 0)
            ret->group = group_of(pod->name_space, spread->term, part);
        else if (ret->rule == NULL || strcmp(after_key(ret->rule), after_key(spread->term)) != 0)
            ret->odd = not_alone;
    }
}

static struct saying say(const struct kube_object *pod)
{
    struct saying said = { 0 };
    char port[32];

    for (uint32_t i = 0; i < pod->repel_count; i++) {
        if (!kube_term_is_by(pod->repels[i], KUBE_HOSTNAME))
            continue;
        if (said.rule != NULL && strcmp(said.rule, pod->repels[i]) != 0)
            said.odd = not_alone;
        said.rule = pod->repels[i];
    }
    if (said.rule != NULL)
        said.group = group_of(pod->name_space, said.rule, 0);
    say_spread(pod, &said);
    if ((pod->flags & KUBE_POD_HOST_PORT) != 0) {
        (void)snprintf(port, sizeof(port), "%u", (unsigned)pod->host_port);
        if (pod->host_port == 0)
            said.odd = "it has more than one host port";
        else if (said.group != 0)
            said.odd = not_alone;
        said.group = group_of("", port, 0);
    }
    if ((pod->flags & KUBE_POD_APART) != 0 && said.group == 0)
        said.odd = "it keeps away from pods in a way that Stint does not know";
    if ((pod->flags & KUBE_POD_ODD_SPREAD) != 0)
        said.odd = "its spread counts nodes that it cannot be on, or wants a number of domains";
    return said;
}

/*
 * Rules and kinds.
 */

static char *copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *to = mem_alloc(size, 1);

    memcpy(to, text, size);
    return to;
}

static uint32_t rule_get(struct kube_apart *apart, const char *space, const char *term)
{
    const uint64_t key = hash_of(term) ^ hash_of(space);
    uint32_t at = apart->rule_count;

    for (uint32_t i = 0; i < apart->rule_count; i++) {
        if (apart->rules[i].kinds == 0)
            at = i;
        else if (apart->rules[i].key == key && strcmp(apart->rules[i].term, term) == 0 &&
                 strcmp(apart->rules[i].space, space) == 0)
            return i;
    }
    if (at == apart->rule_count) {
        MEM_ROOM(apart->rules, apart->rules_room, apart->rule_count + 1);
        apart->rule_count++;
    }
    apart->rules[at] = (struct rule){ .key = key, .space = copy(space), .term = copy(term) };
    return at;
}

static void rule_leave(struct kube_apart *apart, uint32_t at)
{
    struct rule *rule = &apart->rules[at];

    if (--rule->kinds > 0)
        return;
    mem_free(rule->space);
    mem_free(rule->term);
}

static bool is_about(const struct rule *rule, const struct kind *kind)
{
    return kube_term_is_about(rule->term, rule->space, kind->space, kind->labels,
                              kind->label_count);
}

static uint64_t kind_key(const struct kube_object *pod, const struct saying *said, bool is_daemon)
{
    uint64_t hash = hash_more(0xcbf29ce484222325U, pod->name_space);

    for (uint32_t i = 0; i < pod->label_count; i++)
        hash = hash_more(hash_more(hash, pod->label[i].key), pod->label[i].value);
    hash = hash_more(hash, said->rule != NULL ? said->rule : "");
    return map_mix(hash + ((uint64_t)pod->host_port << 1) + (is_daemon ? 1 : 0));
}

static void copy_labels(struct kind *to, const struct kube_object *pod)
{
    size_t size = 0;
    char *at;

    for (uint32_t i = 0; i < pod->label_count; i++)
        size += strlen(pod->label[i].key) + strlen(pod->label[i].value) + 2;
    to->labels = mem_alloc(pod->label_count, sizeof(*to->labels));
    to->texts = mem_alloc(size, 1);
    at = to->texts;
    for (uint32_t i = 0; i < pod->label_count; i++) {
        const size_t of_key = strlen(pod->label[i].key) + 1;
        const size_t of_value = strlen(pod->label[i].value) + 1;

        memcpy(at, pod->label[i].key, of_key);
        memcpy(at + of_key, pod->label[i].value, of_value);
        to->labels[i] = (struct kube_pair){ .key = at, .value = at + of_key };
        at += of_key + of_value;
    }
}

static void kind_clear(struct kube_apart *apart, struct kind *kind)
{
    (void)map_remove(&apart->kind_by_key, kind->key);
    mem_free(kind->space);
    mem_free(kind->labels);
    mem_free(kind->texts);
    if (kind->rule != ROW_NO)
        rule_leave(apart, kind->rule);
}

static void kind_drop(struct kube_apart *apart, uint32_t at)
{
    kind_clear(apart, &apart->kinds[at]);
    apart->kinds[at] = (struct kind){ .next = apart->free_kind };
    apart->free_kind = at;
}

/* Its kind; without pods if it is a new one. */
static uint32_t kind_get(struct kube_apart *apart, const struct kube_object *pod,
                         const struct saying *said, bool is_daemon)
{
    const uint64_t key = kind_key(pod, said, is_daemon);
    uint32_t at = map_get(&apart->kind_by_key, key);
    struct kind *kind;

    if (at != MAP_NONE)
        return at;
    at = apart->free_kind;
    if (at != ROW_NO) {
        apart->free_kind = apart->kinds[at].next;
    } else {
        at = apart->kind_count++;
        MEM_ROOM(apart->kinds, apart->kinds_room, apart->kind_count);
    }
    kind = &apart->kinds[at];
    *kind = (struct kind){ .key = key,
                           .space = copy(pod->name_space),
                           .label_count = pod->label_count,
                           .rule = ROW_NO,
                           .port = pod->host_port,
                           .is_daemon = is_daemon };
    copy_labels(kind, pod);
    if (said->rule != NULL) {
        kind->rule = rule_get(apart, pod->name_space, said->rule);
        apart->rules[kind->rule].kinds++;
    }
    map_put(&apart->kind_by_key, key, at);
    return at;
}

static bool has_pods(const struct kube_apart *apart, uint32_t rule)
{
    return apart->rules[rule].pods > 0;
}

/* Why it cannot be placed beside what is there already; NULL: it can. */
static const char *judge(const struct kube_apart *apart, const struct kind *kind)
{
    for (uint32_t i = 0; i < apart->rule_count; i++) {
        if (i != kind->rule && has_pods(apart, i) && is_about(&apart->rules[i], kind))
            return "another pod keeps away from it";
    }
    if (kind->rule == ROW_NO && kind->port == 0)
        return NULL;
    for (uint32_t i = 0; i < apart->kind_count; i++) {
        const struct kind *other = &apart->kinds[i];

        if (other->pods == 0)
            continue;
        if (kind->rule != ROW_NO && other->rule != kind->rule &&
            is_about(&apart->rules[kind->rule], other))
            return "it keeps away from other pods";
        if (kind->port != 0 && other->is_daemon && other->port == kind->port)
            return "pods of a DaemonSet have its host port";
    }
    return NULL;
}

/*
 * Pods.
 */

static void count(struct kube_apart *apart, uint32_t kind, bool is_more)
{
    const uint32_t rule = apart->kinds[kind].rule;
    const uint32_t before = apart->kinds[kind].pods;

    apart->kinds[kind].pods = is_more ? before + 1 : before - 1;
    if (rule != ROW_NO)
        apart->rules[rule].pods =
            is_more ? apart->rules[rule].pods + 1 : apart->rules[rule].pods - 1;
    if (before != (is_more ? 0 : 1))
        return;
    apart->version++;
    if (!is_more)
        kind_drop(apart, kind);
}

static void member_drop(struct kube_apart *apart, uint32_t at)
{
    const uint32_t kind = apart->members[at].kind;

    (void)map_remove(&apart->member_by_key, apart->members[at].key);
    if (at != --apart->member_count) {
        apart->members[at] = apart->members[apart->member_count];
        map_put(&apart->member_by_key, apart->members[at].key, at);
    }
    count(apart, kind, false);
}

static void leave(struct kube_apart *apart, const char *uid, bool is_daemon)
{
    const uint32_t at = map_get(&apart->member_by_key, hash_of(uid));

    if (at != MAP_NONE && apart->kinds[apart->members[at].kind].is_daemon == is_daemon)
        member_drop(apart, at);
}

void kube_apart_gone(struct kube_apart *apart, const char *uid)
{
    leave(apart, uid, false);
}

/* It is of this kind from now on. */
static void member_put(struct kube_apart *apart, const char *uid, uint32_t kind)
{
    const uint64_t key = hash_of(uid);
    uint32_t at = map_get(&apart->member_by_key, key);

    count(apart, kind, true);
    if (at != MAP_NONE) {
        const uint32_t before = apart->members[at].kind;

        apart->members[at].kind = kind;
        apart->members[at].is_seen = true;
        count(apart, before, false);
        return;
    }
    at = apart->member_count++;
    MEM_ROOM(apart->members, apart->members_room, apart->member_count);
    apart->members[at] = (struct member){ .key = key, .kind = kind, .is_seen = true };
    map_put(&apart->member_by_key, key, at);
}

const char *kube_apart_wait(struct kube_apart *apart, const struct kube_object *pod,
                            uint64_t *group)
{
    const struct saying said = say(pod);
    const uint32_t known = map_get(&apart->member_by_key, hash_of(pod->uid));
    uint32_t at;
    struct kind *kind;

    *group = said.group;
    if (said.odd != NULL)
        return said.odd;
    at = kind_get(apart, pod, &said, false);
    kind = &apart->kinds[at];
    if (known != MAP_NONE && apart->members[known].kind == at) {
        apart->members[known].is_seen = true;
        return NULL; /* as before */
    }
    if (kind->asked_at != apart->version + 1) {
        kind->verdict = judge(apart, kind);
        kind->asked_at = apart->version + 1;
    }
    if (kind->verdict == NULL) {
        member_put(apart, pod->uid, at);
        return NULL;
    }

    const char *why = kind->verdict;

    if (kind->pods == 0)
        kind_drop(apart, at);
    return why;
}

uint64_t kube_apart_place(struct kube_apart *apart, const struct kube_object *pod)
{
    const struct saying said = say(pod);

    member_put(apart, pod->uid, kind_get(apart, pod, &said, false));
    return said.odd == NULL ? said.group : 0;
}

void kube_apart_daemon(struct kube_apart *apart, bool is_gone, const struct kube_object *pod)
{
    const struct saying said = { 0 };

    if (is_gone)
        leave(apart, pod->uid, true);
    else
        member_put(apart, pod->uid, kind_get(apart, pod, &said, true));
}

void kube_apart_begin(struct kube_apart *apart, bool is_daemons)
{
    for (uint32_t i = 0; i < apart->member_count; i++) {
        if (apart->kinds[apart->members[i].kind].is_daemon == is_daemons)
            apart->members[i].is_seen = false;
    }
}

void kube_apart_end(struct kube_apart *apart, bool is_daemons)
{
    for (uint32_t i = apart->member_count; i-- > 0;) {
        if (!apart->members[i].is_seen &&
            apart->kinds[apart->members[i].kind].is_daemon == is_daemons)
            member_drop(apart, i);
    }
}

struct kube_apart *kube_apart_create(void)
{
    struct kube_apart *apart = mem_alloc(1, sizeof(*apart));

    apart->free_kind = ROW_NO;
    map_init(&apart->kind_by_key);
    map_init(&apart->member_by_key);
    return apart;
}

void kube_apart_destroy(struct kube_apart *apart)
{
    if (apart == NULL)
        return;
    while (apart->member_count > 0)
        member_drop(apart, apart->member_count - 1);
    mem_free(apart->rules);
    mem_free(apart->kinds);
    mem_free(apart->members);
    map_done(&apart->kind_by_key);
    map_done(&apart->member_by_key);
    mem_free(apart);
}
