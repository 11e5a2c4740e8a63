/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_apart.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct rule {
    uint64_t key;
    uint64_t mark;
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
    uint32_t rules[KUBE_REPELS]; /* its own, each once */
    uint32_t rule_count;
    uint32_t ports[KUBE_HOST_PORTS];
    uint32_t port_count;
    uint32_t pods; /* 0: it does not count yet, or the row is free */
    uint32_t next; /* free row */
    uint32_t met;  /* rules that have pods and are about it, but for its own */
    bool is_daemon;
    bool is_marked;      /* marks were reported for it */
    uint64_t asked_at;   /* one more than the version that the verdict is for; 0: there is none */
    const char *verdict; /* NULL: it may wait for a machine */
};

struct member {
    uint64_t key; /* hash of a uid */
    uint32_t kind;
    bool is_seen;
};

struct kube_apart {
    struct kube_apart_config config;
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
    const char *rules[KUBE_REPELS]; /* texts of its terms by host, each once */
    uint32_t rule_count;
    const char *odd; /* why Stint cannot say it; NULL: it can */
};

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

/* Small enough for any number of a line. */
static uint64_t mark_of(const char *a, const char *b)
{
    return map_mix(hash_more(hash_more(0xcbf29ce484222325U, a), b)) & (UINT64_MAX >> 8);
}

/*
 * What a pod says.
 */

/* 'parts': of so many marks one. */
static void add_mark(char *marks, char side, uint64_t mark, uint32_t parts)
{
    const size_t used = strlen(marks);
    char number[16] = "";

    if (parts > 1)
        (void)snprintf(number, sizeof(number), "/%" PRIu32, parts);
    (void)snprintf(marks + used, KUBE_MARKS_TEXT - used, "%s%c%" PRIu64 "%s", used > 0 ? "," : "",
                   side, mark, number);
}

static bool is_said(const struct saying *said, const char *term)
{
    for (uint32_t i = 0; i < said->rule_count; i++) {
        if (strcmp(said->rules[i], term) == 0)
            return true;
    }
    return false;
}

static void say_rules(const struct kube_object *pod, struct saying *ret, char *marks)
{
    for (uint32_t i = 0; i < pod->repel_count; i++) {
        const char *term = pod->repels[i];

        if (!kube_term_is_by(term, KUBE_HOSTNAME) || is_said(ret, term))
            continue;
        ret->rules[ret->rule_count++] = term;
        add_mark(
            marks,
            kube_term_is_about(term, pod->name_space, pod->name_space, pod->label, pod->label_count)
                ? 'b'
                : 's',
            mark_of(pod->name_space, term), 1);
    }
}

static void say_spread(const struct kube_object *pod, struct saying *ret, char *marks)
{
    for (uint32_t i = 0; i < pod->spread_count; i++) {
        const struct kube_spread *spread = &pod->spread[i];

        if (!kube_term_is_by(spread->term, KUBE_HOSTNAME))
            continue;
        if (!kube_term_is_about(spread->term, pod->name_space, pod->name_space, pod->label,
                                pod->label_count))
            ret->odd = "its topology spread depends on other pods";
        add_mark(marks, 'b', mark_of(pod->name_space, spread->term), spread->skew);
    }
}

static void say_ports(const struct kube_object *pod, struct saying *ret, char *marks)
{
    char port[32];

    for (uint32_t i = 0; i < pod->host_port_count; i++) {
        (void)snprintf(port, sizeof(port), "%u", (unsigned)pod->host_port[i]);
        add_mark(marks, 'b', mark_of("", port), 1);
    }
    if (pod->has_more_ports)
        ret->odd = "it has too many host ports";
}

/* 'marks' has room for KUBE_MARKS_TEXT. */
static struct saying say(const struct kube_object *pod, char *marks)
{
    struct saying said = { 0 };

    marks[0] = '\0';
    say_rules(pod, &said, marks);
    say_spread(pod, &said, marks);
    say_ports(pod, &said, marks);
    if ((pod->flags & KUBE_POD_APART) != 0 && marks[0] == '\0')
        said.odd = "its anti-affinity is unknown to Stint";
    if ((pod->flags & KUBE_POD_ODD_SPREAD) != 0)
        said.odd = "its topology spread counts impossible nodes, or needs a number of domains";
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
    apart->rules[at] = (struct rule){
        .key = key, .mark = mark_of(space, term), .space = copy(space), .term = copy(term)
    };
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

static bool is_own(const struct kind *kind, uint32_t rule)
{
    for (uint32_t i = 0; i < kind->rule_count; i++) {
        if (kind->rules[i] == rule)
            return true;
    }
    return false;
}

static uint64_t kind_key(const struct kube_object *pod, const struct saying *said, bool is_daemon)
{
    uint64_t hash = hash_more(0xcbf29ce484222325U, pod->name_space);

    for (uint32_t i = 0; i < pod->label_count; i++)
        hash = hash_more(hash_more(hash, pod->label[i].key), pod->label[i].value);
    for (uint32_t i = 0; i < said->rule_count; i++)
        hash = hash_more(hash, said->rules[i]);
    for (uint32_t i = 0; i < pod->host_port_count; i++)
        hash = map_mix(hash + pod->host_port[i]);
    return map_mix(hash + (is_daemon ? 1 : 0)) & (UINT64_MAX >> 8);
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
    for (uint32_t i = 0; i < kind->rule_count; i++)
        rule_leave(apart, kind->rules[i]);
}

static void kind_drop(struct kube_apart *apart, uint32_t at)
{
    kind_clear(apart, &apart->kinds[at]);
    apart->kinds[at] = (struct kind){ .next = apart->free_kind };
    apart->free_kind = at;
}

static uint32_t kind_row(struct kube_apart *apart)
{
    uint32_t at = apart->free_kind;

    if (at != ROW_NO) {
        apart->free_kind = apart->kinds[at].next;
        return at;
    }
    at = apart->kind_count++;
    MEM_ROOM(apart->kinds, apart->kinds_room, apart->kind_count);
    return at;
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
    at = kind_row(apart);
    kind = &apart->kinds[at];
    *kind = (struct kind){ .key = key,
                           .space = copy(pod->name_space),
                           .label_count = pod->label_count,
                           .rule_count = said->rule_count,
                           .port_count = pod->host_port_count,
                           .is_daemon = is_daemon };
    copy_labels(kind, pod);
    memcpy(kind->ports, pod->host_port, sizeof(kind->ports));
    for (uint32_t i = 0; i < said->rule_count; i++) {
        kind->rules[i] = rule_get(apart, pod->name_space, said->rules[i]);
        apart->rules[kind->rules[i]].kinds++;
    }
    map_put(&apart->kind_by_key, key, at);
    return at;
}

/* Whether the rule says more of the kind than its own rules do. */
static bool marks(const struct kube_apart *apart, uint32_t rule, const struct kind *kind)
{
    return apart->rules[rule].pods > 0 && !is_own(kind, rule) &&
           is_about(&apart->rules[rule], kind);
}

/* What there is to say of the kind has changed. */
static void tell_marks(struct kube_apart *apart, struct kind *kind)
{
    char text[KUBE_MARKS_TEXT] = "";

    kind->met = 0;
    for (uint32_t i = 0; i < apart->rule_count; i++) {
        if (marks(apart, i, kind) && kind->met++ < KUBE_MARKS_MOST)
            add_mark(text, 'h', apart->rules[i].mark, 1);
    }
    if (kind->met > 0 || kind->is_marked)
        apart->config.on_marks(apart->config.context, kind->key, text);
    kind->is_marked = kind->met > 0;
}

/* The rule has got its first pod, or has lost its last one. */
static void tell_rule(struct kube_apart *apart, uint32_t rule)
{
    for (uint32_t i = 0; i < apart->kind_count; i++) {
        struct kind *kind = &apart->kinds[i];

        if (kind->pods > 0 && !kind->is_daemon && !is_own(kind, rule) &&
            is_about(&apart->rules[rule], kind))
            tell_marks(apart, kind);
    }
}

static bool has_port(const struct kind *kind, const struct kind *other)
{
    for (uint32_t i = 0; i < kind->port_count; i++) {
        for (uint32_t j = 0; j < other->port_count; j++) {
            if (kind->ports[i] == other->ports[j])
                return true;
        }
    }
    return false;
}

static bool keeps_away(const struct kube_apart *apart, const struct kind *kind,
                       const struct kind *other)
{
    for (uint32_t i = 0; i < kind->rule_count; i++) {
        if (is_about(&apart->rules[kind->rules[i]], other))
            return true;
    }
    return false;
}

/* Whether one of its rules has no pods yet and is about the other one. */
static bool would_mark(const struct kube_apart *apart, const struct kind *kind,
                       const struct kind *other)
{
    for (uint32_t i = 0; i < kind->rule_count; i++) {
        const struct rule *rule = &apart->rules[kind->rules[i]];

        if (rule->pods == 0 && !is_own(other, kind->rules[i]) && is_about(rule, other))
            return true;
    }
    return false;
}

/* Why it cannot be placed beside what is there already; NULL: it can. */
static const char *judge(const struct kube_apart *apart, const struct kind *kind)
{
    uint32_t met = 0;

    for (uint32_t i = 0; i < apart->rule_count; i++)
        met += marks(apart, i, kind) ? 1 : 0;
    if (met > KUBE_MARKS_MOST)
        return "too many pods have anti-affinity to it";
    if (kind->rule_count == 0 && kind->port_count == 0)
        return NULL;
    for (uint32_t i = 0; i < apart->kind_count; i++) {
        const struct kind *other = &apart->kinds[i];

        if (other->pods == 0)
            continue;
        if (other->is_daemon && has_port(kind, other))
            return "a DaemonSet uses its host port";
        if (other->is_daemon && keeps_away(apart, kind, other))
            return "it has anti-affinity to pods of a DaemonSet";
        if (other->met >= KUBE_MARKS_MOST && would_mark(apart, kind, other))
            return "it has anti-affinity to pods that too many others avoid";
    }
    return NULL;
}

/*
 * Pods.
 */

static void count_rule(struct kube_apart *apart, uint32_t rule, bool is_more)
{
    const uint32_t before = apart->rules[rule].pods;

    apart->rules[rule].pods = is_more ? before + 1 : before - 1;
    if (before == (is_more ? 0 : 1))
        tell_rule(apart, rule);
}

static void count(struct kube_apart *apart, uint32_t at, bool is_more)
{
    struct kind *kind = &apart->kinds[at];
    const uint32_t before = kind->pods;

    kind->pods = is_more ? before + 1 : before - 1;
    for (uint32_t i = 0; i < kind->rule_count; i++)
        count_rule(apart, kind->rules[i], is_more);
    if (before != (is_more ? 0 : 1))
        return;
    apart->version++;
    if (is_more && !kind->is_daemon) {
        tell_marks(apart, kind);
    } else if (!is_more) {
        if (kind->is_marked)
            apart->config.on_marks(apart->config.context, kind->key, "");
        kind_drop(apart, at);
    }
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
                            struct kube_keeps *ret)
{
    const struct saying said = say(pod, ret->marks);
    const uint32_t known = map_get(&apart->member_by_key, hash_of(pod->uid));
    uint32_t at;
    struct kind *kind;

    if (said.odd != NULL)
        return said.odd;
    at = kind_get(apart, pod, &said, false);
    kind = &apart->kinds[at];
    ret->like = kind->key;
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

void kube_apart_place(struct kube_apart *apart, const struct kube_object *pod,
                      struct kube_keeps *ret)
{
    const struct saying said = say(pod, ret->marks);
    const uint32_t at = kind_get(apart, pod, &said, false);

    ret->like = apart->kinds[at].key;
    member_put(apart, pod->uid, at);
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

struct kube_apart *kube_apart_create(const struct kube_apart_config *config)
{
    struct kube_apart *apart = mem_alloc(1, sizeof(*apart));

    apart->config = *config;
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
