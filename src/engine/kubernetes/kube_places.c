/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many pods of each kind are in each zone is kept as pods come and go, and for each rule how many kinds that it is about are there.
 * When the zone of a node changes on which there are pods, all of it is counted again, before the next question.
 */
#include "engine/kubernetes/kube_places.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"

#define ROW_NO UINT32_MAX

/* By zone. */
struct counts {
    uint32_t *of;
    uint32_t room;
};

struct rule {
    uint64_t key;
    char *space;
    char *term;
    enum kube_zone_what what;
    uint32_t kinds;   /* that have it; 0: the row is free */
    uint32_t unbound; /* pods that have it, and no node yet */
    struct counts at; /* kinds that it is about */
};

struct kind {
    uint64_t key;
    char *space;
    char *texts;
    struct kube_pair *labels; /* into 'texts' */
    uint32_t label_count;
    uint32_t rule; /* ROW_NO: none */
    uint32_t pods; /* 0: the row is free, or it is being asked about */
    uint32_t unbound;
    uint32_t next;    /* free row */
    struct counts at; /* pods */
    enum kube_repel_source source;
    bool is_daemon;
};

struct place {
    uint64_t key;  /* hash of the node's name */
    uint32_t zone; /* ROW_NO: none that is known */
    uint32_t pods;
    uint32_t next; /* free row */
    enum kube_repel_source source;
    bool is_there;
    bool is_seen;
};

struct member {
    uint64_t key;       /* hash of a uid */
    uint32_t kind_seen; /* twice its kind, and one more if it was listed */
    uint32_t place;     /* ROW_NO: it is not bound */
};

struct kube_places {
    struct rule *rules;
    uint32_t rule_count, rules_room;
    struct kind *kinds;
    uint32_t kind_count, kinds_room, free_kind;
    struct map kind_by_key;
    struct place *nodes;
    uint32_t node_count, nodes_room, free_node;
    struct map node_by_key;
    struct member *members;
    uint32_t member_count, members_room;
    struct map member_by_key;
    char **zones;
    uint32_t zone_count, zones_room;
    bool is_stale; /* the counts by zone are to be made again */
    bool is_changed;
};

/*
 * Small things.
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

static char *copy(const char *text)
{
    const size_t size = strlen(text) + 1;
    char *to = mem_alloc(size, 1);

    memcpy(to, text, size);
    return to;
}

static uint32_t counted(const struct counts *counts, uint32_t zone)
{
    return zone < counts->room ? counts->of[zone] : 0;
}

/* Whether there is one there now and was none, or the other way around. */
static bool count(struct counts *counts, uint32_t zone, bool is_more)
{
    while (zone >= counts->room) {
        const uint32_t before = counts->room;

        MEM_ROOM(counts->of, counts->room, zone + 1);
        memset(counts->of + before, 0, (counts->room - before) * sizeof(*counts->of));
    }
    counts->of[zone] += is_more ? 1U : UINT32_MAX;
    return counts->of[zone] == (is_more ? 1 : 0);
}

static uint32_t zone_get(struct kube_places *places, const char *name)
{
    for (uint32_t i = 0; i < places->zone_count; i++) {
        if (strcmp(places->zones[i], name) == 0)
            return i;
    }
    MEM_ROOM(places->zones, places->zones_room, places->zone_count + 1);
    places->zones[places->zone_count] = copy(name);
    return places->zone_count++;
}

/*
 * Rules.
 */

static bool is_about(const struct rule *rule, const struct kind *kind)
{
    return kube_term_is_about(rule->term, rule->space, kind->space, kind->labels,
                              kind->label_count);
}

/* Whether it is said to pods with the rule where those of the kind are. Labels that were too many to be kept may be some that they must not have. */
static bool asks_about(const struct kube_places *places, uint32_t rule, uint32_t kind)
{
    const struct rule *asks = &places->rules[rule];
    const struct kind *other = &places->kinds[kind];

    if (asks->kinds == 0 || asks->what == KUBE_ZONES_LEAST ||
        (asks->what == KUBE_ZONES_APART && other->rule == rule) ||
        (asks->what == KUBE_ZONES_NEAR && other->label_count == KUBE_PAIRS))
        return false;
    return is_about(asks, other);
}

/* The first pod of the kind is in the zone, or the last one has left it. */
static void tell_rules(struct kube_places *places, uint32_t kind, uint32_t zone, bool is_more)
{
    for (uint32_t i = 0; i < places->rule_count; i++) {
        if (asks_about(places, i, kind) && count(&places->rules[i].at, zone, is_more))
            places->is_changed = true;
    }
}

/* What all kinds that are there mean to the rule. */
static void ask_kinds(struct kube_places *places, uint32_t rule)
{
    for (uint32_t i = 0; i < places->kind_count; i++) {
        if (places->kinds[i].pods == 0 || !asks_about(places, rule, i))
            continue;
        for (uint32_t zone = 0; zone < places->zone_count; zone++) {
            if (counted(&places->kinds[i].at, zone) > 0)
                (void)count(&places->rules[rule].at, zone, true);
        }
    }
}

/* 'at' is a kind that has the rule from now on. */
static uint32_t rule_join(struct kube_places *places, uint32_t kind, const char *space,
                          const struct kube_zone_rule *said)
{
    const uint64_t key = hash_of(said->term) ^ hash_of(space);
    uint32_t at = places->rule_count;

    for (uint32_t i = 0; i < places->rule_count; i++) {
        const struct rule *rule = &places->rules[i];

        if (rule->kinds == 0) {
            at = i;
        } else if (rule->key == key && rule->what == said->what &&
                   strcmp(rule->term, said->term) == 0 && strcmp(rule->space, space) == 0) {
            places->rules[i].kinds++;
            return i;
        }
    }
    if (at == places->rule_count) {
        MEM_ROOM(places->rules, places->rules_room, places->rule_count + 1);
        places->rule_count++;
    }
    places->rules[at] = (struct rule){
        .key = key, .space = copy(space), .term = copy(said->term), .what = said->what, .kinds = 1
    };
    places->kinds[kind].rule = at;
    if (!places->is_stale)
        ask_kinds(places, at);
    return at;
}

static void rule_leave(struct kube_places *places, uint32_t at)
{
    struct rule *rule = &places->rules[at];

    if (--rule->kinds > 0)
        return;
    mem_free(rule->space);
    mem_free(rule->term);
    mem_free(rule->at.of);
}

/*
 * Kinds.
 */

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

static void kind_drop(struct kube_places *places, uint32_t at)
{
    struct kind *kind = &places->kinds[at];

    (void)map_remove(&places->kind_by_key, kind->key);
    if (kind->rule != ROW_NO)
        rule_leave(places, kind->rule);
    mem_free(kind->space);
    mem_free(kind->labels);
    mem_free(kind->texts);
    mem_free(kind->at.of);
    *kind = (struct kind){ .next = places->free_kind };
    places->free_kind = at;
}

static uint64_t kind_key(const struct kube_object *pod, const struct kube_zone_rule *said,
                         enum kube_repel_source source)
{
    uint64_t hash = hash_more(0xcbf29ce484222325U, pod->name_space);

    for (uint32_t i = 0; i < pod->label_count; i++)
        hash = hash_more(hash_more(hash, pod->label[i].key), pod->label[i].value);
    if (said->term != NULL)
        hash = hash_more(hash + (uint64_t)said->what + 1, said->term);
    return map_mix(hash + 2 * (uint64_t)source + (kube_object_is_daemon(pod) ? 1 : 0));
}

/* Its kind; without pods if it is a new one. */
static uint32_t kind_get(struct kube_places *places, const struct kube_object *pod,
                         const struct kube_zone_rule *said, enum kube_repel_source source)
{
    const uint64_t key = kind_key(pod, said, source);
    uint32_t at = map_get(&places->kind_by_key, key);

    if (at != MAP_NONE)
        return at;
    at = places->free_kind;
    if (at != ROW_NO) {
        places->free_kind = places->kinds[at].next;
    } else {
        at = places->kind_count++;
        MEM_ROOM(places->kinds, places->kinds_room, places->kind_count);
    }
    places->kinds[at] = (struct kind){ .key = key,
                                       .space = copy(pod->name_space),
                                       .label_count = pod->label_count,
                                       .rule = ROW_NO,
                                       .source = source,
                                       .is_daemon = kube_object_is_daemon(pod) };
    copy_labels(&places->kinds[at], pod);
    if (said->term != NULL)
        places->kinds[at].rule = rule_join(places, at, pod->name_space, said);
    map_put(&places->kind_by_key, key, at);
    return at;
}

/* Whether pods of the kind, which is not managed by the rule, may come where those of the rule are: on their machines; in their zones. */
static bool is_near(const struct rule *rule, const struct kind *kind)
{
    if (rule->what == KUBE_ZONES_LEAST)
        return kind->pods > 0 && (kind->source == KUBE_REPEL_OURS || kind->is_daemon);
    return rule->what == KUBE_ZONES_APART && kind->unbound > 0;
}

/* Why it must not come where pods of the rule may be; NULL: it may. */
static const char *judge_by(const struct rule *rule, const struct kind *kind)
{
    const bool matters =
        rule->what == KUBE_ZONES_LEAST || (rule->what == KUBE_ZONES_APART && rule->unbound > 0);

    if (rule->kinds == 0 || !matters || !is_about(rule, kind))
        return NULL;
    return rule->what == KUBE_ZONES_LEAST
               ? "another pod, whose spread has minDomains, counts it"
               : "another pod without a zone so far has anti-affinity to it";
}

/* Why it cannot be given a zone beside others; NULL: it can. */
static const char *judge(const struct kube_places *places, const struct kind *kind)
{
    const struct rule *own = kind->rule != ROW_NO ? &places->rules[kind->rule] : NULL;
    const char *why = NULL;

    for (uint32_t i = 0; i < places->rule_count && why == NULL; i++) {
        if (i != kind->rule)
            why = judge_by(&places->rules[i], kind);
    }
    for (uint32_t i = 0; own != NULL && i < places->kind_count && why == NULL; i++) {
        const struct kind *other = &places->kinds[i];

        if (is_near(own, other) && other->rule != kind->rule && is_about(own, other))
            why = own->what == KUBE_ZONES_LEAST
                      ? "its spread, which has minDomains, counts other pods"
                      : "it has anti-affinity to other pods without a zone so far";
    }
    return why;
}

/*
 * Pods.
 */

static uint32_t kind_of(const struct member *member)
{
    return member->kind_seen / 2;
}

static uint32_t zone_of(const struct kube_places *places, uint32_t place)
{
    return place != ROW_NO && places->nodes[place].is_there ? places->nodes[place].zone : ROW_NO;
}

static void place_free(struct kube_places *places, uint32_t at)
{
    struct place *place = &places->nodes[at];

    if (place->is_there || place->pods > 0)
        return;
    (void)map_remove(&places->node_by_key, place->key);
    *place = (struct place){ .next = places->free_node };
    places->free_node = at;
}

/* A pod of the kind has come to the node, or has left it. */
static void add(struct kube_places *places, uint32_t at, uint32_t place, bool is_more)
{
    struct kind *kind = &places->kinds[at];
    const uint32_t one = is_more ? 1U : UINT32_MAX;
    const uint32_t zone = zone_of(places, place);

    kind->pods += one;
    if (place == ROW_NO) {
        kind->unbound += one;
        if (kind->rule != ROW_NO)
            places->rules[kind->rule].unbound += one;
    } else {
        places->nodes[place].pods += one;
    }
    if (zone != ROW_NO && !places->is_stale && count(&kind->at, zone, is_more))
        tell_rules(places, at, zone, is_more);
    if (place != ROW_NO)
        place_free(places, place);
    if (kind->pods == 0)
        kind_drop(places, at);
}

static uint32_t node_get(struct kube_places *places, const char *name,
                         enum kube_repel_source source)
{
    const uint64_t key = hash_of(name);
    uint32_t at = map_get(&places->node_by_key, key);

    if (at != MAP_NONE)
        return at;
    at = places->free_node;
    if (at != ROW_NO) {
        places->free_node = places->nodes[at].next;
    } else {
        at = places->node_count++;
        MEM_ROOM(places->nodes, places->nodes_room, places->node_count);
    }
    places->nodes[at] = (struct place){ .key = key, .zone = ROW_NO, .source = source };
    map_put(&places->node_by_key, key, at);
    return at;
}

static void member_drop(struct kube_places *places, uint32_t at)
{
    const struct member member = places->members[at];

    (void)map_remove(&places->member_by_key, member.key);
    if (at != --places->member_count) {
        places->members[at] = places->members[places->member_count];
        map_put(&places->member_by_key, places->members[at].key, at);
    }
    add(places, kind_of(&member), member.place, false);
}

static void leave(struct kube_places *places, const char *uid, enum kube_repel_source source)
{
    const uint32_t at = map_get(&places->member_by_key, hash_of(uid));

    if (at != MAP_NONE && places->kinds[kind_of(&places->members[at])].source == source)
        member_drop(places, at);
}

/* It is of this kind, and on this node, from now on. */
static void member_put(struct kube_places *places, const char *uid, uint32_t kind, uint32_t place)
{
    const uint64_t key = hash_of(uid);
    uint32_t at = map_get(&places->member_by_key, key);

    if (at != MAP_NONE) {
        const struct member before = places->members[at];

        places->members[at].kind_seen = 2 * kind + 1;
        places->members[at].place = place;
        if (kind_of(&before) == kind && before.place == place)
            return;
        add(places, kind, place, true);
        add(places, kind_of(&before), before.place, false);
        return;
    }
    at = places->member_count++;
    MEM_ROOM(places->members, places->members_room, places->member_count);
    places->members[at] = (struct member){ .key = key, .kind_seen = 2 * kind + 1, .place = place };
    map_put(&places->member_by_key, key, at);
    add(places, kind, place, true);
}

static bool has_slot(const struct kube_object *pod)
{
    for (uint32_t i = 0; i < pod->selector_count; i++) {
        if (strcmp(pod->selector[i].key, KUBE_SLOT) == 0)
            return true;
    }
    return false;
}

void kube_places_pod(struct kube_places *places, enum kube_repel_source source, bool is_gone,
                     const struct kube_object *pod)
{
    const bool is_placed = source == KUBE_REPEL_OURS && has_slot(pod);
    struct kube_zone_rule said = { .term = NULL };

    if (is_gone || (pod->flags & KUBE_POD_DONE) != 0 || (pod->node == NULL && !is_placed)) {
        leave(places, pod->uid, source);
        return;
    }
    if (!is_placed || kube_zone_rule_of(pod, &said) != NULL)
        said = (struct kube_zone_rule){ .term = NULL };
    member_put(places, pod->uid, kind_get(places, pod, &said, source),
               pod->node != NULL ? node_get(places, pod->node, source) : ROW_NO);
}

void kube_places_gone(struct kube_places *places, const char *uid)
{
    leave(places, uid, KUBE_REPEL_OURS);
}

const char *kube_places_wait(struct kube_places *places, const struct kube_object *pod,
                             const struct kube_zone_rule *rule)
{
    const uint32_t known = map_get(&places->member_by_key, hash_of(pod->uid));
    const uint32_t at = kind_get(places, pod, rule, KUBE_REPEL_OURS);
    const char *why = NULL;

    if (known == MAP_NONE || kind_of(&places->members[known]) != at)
        why = judge(places, &places->kinds[at]);
    if (why == NULL)
        member_put(places, pod->uid, at, ROW_NO);
    else if (places->kinds[at].pods == 0)
        kind_drop(places, at);
    return why;
}

/*
 * Nodes.
 */

static void node_set(struct kube_places *places, uint32_t at, bool is_there, uint32_t zone)
{
    struct place *place = &places->nodes[at];

    if (place->pods > 0 && zone_of(places, at) != (is_there ? zone : ROW_NO))
        places->is_stale = true;
    place->is_there = is_there;
    place->zone = zone;
    place_free(places, at);
}

/* A node that gets a slot, or loses it, is reported by both watches, in any order. */
void kube_places_node(struct kube_places *places, enum kube_repel_source source, bool is_gone,
                      const struct kube_object *node)
{
    const char *zone = kube_object_label(node, KUBE_ZONE);
    uint32_t at = map_get(&places->node_by_key, hash_of(node->name));

    if (is_gone) {
        if (at != MAP_NONE && places->nodes[at].is_there && places->nodes[at].source == source)
            node_set(places, at, false, ROW_NO);
        return;
    }
    at = node_get(places, node->name, source);
    places->nodes[at].source = source;
    places->nodes[at].is_seen = true;
    node_set(places, at, true, zone != NULL ? zone_get(places, zone) : ROW_NO);
}

/* All that is there is counted again. */
static void settle(struct kube_places *places)
{
    if (!places->is_stale)
        return;
    places->is_stale = false;
    places->is_changed = true;
    for (uint32_t i = 0; i < places->kind_count; i++) {
        mem_free(places->kinds[i].at.of);
        places->kinds[i].at = (struct counts){ .of = NULL };
    }
    for (uint32_t i = 0; i < places->member_count; i++) {
        const uint32_t zone = zone_of(places, places->members[i].place);

        if (zone != ROW_NO)
            (void)count(&places->kinds[kind_of(&places->members[i])].at, zone, true);
    }
    for (uint32_t i = 0; i < places->rule_count; i++) {
        if (places->rules[i].kinds == 0)
            continue;
        mem_free(places->rules[i].at.of);
        places->rules[i].at = (struct counts){ .of = NULL };
        ask_kinds(places, i);
    }
}

/*
 * Lists and questions.
 */

void kube_places_begin(struct kube_places *places, enum kube_kind kind,
                       enum kube_repel_source source)
{
    for (uint32_t i = 0; kind == KUBE_NODE && i < places->node_count; i++) {
        if (places->nodes[i].source == source)
            places->nodes[i].is_seen = false;
    }
    for (uint32_t i = 0; kind == KUBE_POD && i < places->member_count; i++) {
        if (places->kinds[kind_of(&places->members[i])].source == source)
            places->members[i].kind_seen &= ~1U;
    }
}

void kube_places_end(struct kube_places *places, enum kube_kind kind, enum kube_repel_source source)
{
    for (uint32_t i = 0; kind == KUBE_NODE && i < places->node_count; i++) {
        const struct place *place = &places->nodes[i];

        if (place->is_there && place->source == source && !place->is_seen)
            node_set(places, i, false, ROW_NO);
    }
    for (uint32_t i = places->member_count; kind == KUBE_POD && i-- > 0;) {
        const struct member *member = &places->members[i];

        if ((member->kind_seen & 1) == 0 && places->kinds[kind_of(member)].source == source)
            member_drop(places, i);
    }
}

bool kube_places_zones(struct kube_places *places, const char *uid, char *buf, size_t size)
{
    const uint32_t at = map_get(&places->member_by_key, hash_of(uid));
    const uint32_t rule =
        at != MAP_NONE ? places->kinds[kind_of(&places->members[at])].rule : ROW_NO;
    size_t used = 1;

    settle(places);
    memcpy(buf, ",", 2);
    for (uint32_t i = 0; rule != ROW_NO && i < places->zone_count; i++) {
        const size_t length = strlen(places->zones[i]);

        if (counted(&places->rules[rule].at, i) == 0)
            continue;
        if (used + length + 2 > size)
            return false;
        memcpy(buf + used, places->zones[i], length);
        memcpy(buf + used + length, ",", 2);
        used += length + 1;
    }
    return true;
}

bool kube_places_is_changed(struct kube_places *places)
{
    bool was;

    settle(places);
    was = places->is_changed;
    places->is_changed = false;
    return was;
}

struct kube_places *kube_places_create(void)
{
    struct kube_places *places = mem_alloc(1, sizeof(*places));

    places->free_kind = ROW_NO;
    places->free_node = ROW_NO;
    map_init(&places->kind_by_key);
    map_init(&places->node_by_key);
    map_init(&places->member_by_key);
    return places;
}

void kube_places_destroy(struct kube_places *places)
{
    if (places == NULL)
        return;
    while (places->member_count > 0)
        member_drop(places, places->member_count - 1);
    for (uint32_t i = 0; i < places->zone_count; i++)
        mem_free(places->zones[i]);
    mem_free(places->zones);
    mem_free(places->rules);
    mem_free(places->kinds);
    mem_free(places->nodes);
    mem_free(places->members);
    map_done(&places->kind_by_key);
    map_done(&places->node_by_key);
    map_done(&places->member_by_key);
    mem_free(places);
}
