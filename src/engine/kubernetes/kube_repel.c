/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_repel.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "engine/kubernetes/kube_needs.h"

enum { WORD_TEXT = 512 };

#define HAS_SLOT '+'
#define HAS_NONE '-'

/* A pod that keeps others away, or a node. */
struct row {
    uint64_t key; /* of its name and source */
    char *name;   /* uid of a pod */
    char
        *text; /* of a pod: its terms, each ended by a zero, after its node and its namespace, which
                     has HAS_SLOT or HAS_NONE before it; of a node: "key=value\n" for the labels that the catalogue has words for */
    size_t size;
    enum kube_repel_source source;
    bool is_seen;
};

struct table {
    struct row *rows;
    uint32_t count, room;
    struct map by_key;
};

struct kube_repel {
    struct table pods, nodes;
    char **
        rules; /* sorted, each once: the words, a line feed, the namespace of the pod with the mark, a line feed, the term */
    uint32_t rule_count, rules_room;
    bool is_stale;   /* something was reported since the rules were made */
    bool is_changed; /* they are other ones than when somebody asked */
};

/*
 * Tables.
 */

static uint64_t key_of(const char *name, enum kube_repel_source source)
{
    uint64_t hash = map_mix((uint64_t)source); /* else "m" of one is "n" of the other */

    for (; *name != '\0'; name++)
        hash = (hash ^ (unsigned char)*name) * 0x100000001b3U;
    return map_mix(hash);
}

static struct row *table_find(struct table *table, const char *name, enum kube_repel_source source)
{
    const uint32_t at = map_get(&table->by_key, key_of(name, source));

    return at != MAP_NONE && strcmp(table->rows[at].name, name) == 0 ? &table->rows[at] : NULL;
}

static char *copy(const char *text, size_t size)
{
    char *to = mem_alloc(size + 1, 1);

    memcpy(to, text, size);
    to[size] = '\0';
    return to;
}

/* Whether that changes anything. */
static bool table_put(struct table *table, const char *name, enum kube_repel_source source,
                      const char *text, size_t size)
{
    struct row *row = table_find(table, name, source);

    if (row != NULL && row->size == size && memcmp(row->text, text, size) == 0) {
        row->is_seen = true;
        return false;
    }
    if (row == NULL) {
        MEM_ROOM(table->rows, table->room, table->count + 1);
        row = &table->rows[table->count];
        *row = (struct row){ .key = key_of(name, source),
                             .name = copy(name, strlen(name)),
                             .source = source };
        map_put(&table->by_key, row->key, table->count++);
    }
    mem_free(row->text);
    row->text = copy(text, size);
    row->size = size;
    row->is_seen = true;
    return true;
}

/* The last row takes its place. */
static void table_drop(struct table *table, struct row *row)
{
    const uint32_t at = (uint32_t)(row - table->rows);

    mem_free(row->name);
    mem_free(row->text);
    (void)map_remove(&table->by_key, row->key);
    if (at != --table->count) {
        table->rows[at] = table->rows[table->count];
        map_put(&table->by_key, table->rows[at].key, at);
    }
}

static bool table_remove(struct table *table, const char *name, enum kube_repel_source source)
{
    struct row *row = table_find(table, name, source);

    if (row != NULL)
        table_drop(table, row);
    return row != NULL;
}

static void table_done(struct table *table)
{
    while (table->count > 0)
        table_drop(table, &table->rows[table->count - 1]);
    mem_free(table->rows);
    map_done(&table->by_key);
}

static struct table *table_of(struct kube_repel *repel, enum kube_kind kind)
{
    return kind == KUBE_NODE ? &repel->nodes : &repel->pods;
}

void kube_repel_begin(struct kube_repel *repel, enum kube_kind kind, enum kube_repel_source source)
{
    struct table *table = table_of(repel, kind);

    for (uint32_t i = 0; i < table->count; i++) {
        if (table->rows[i].source == source)
            table->rows[i].is_seen = false;
    }
}

void kube_repel_end(struct kube_repel *repel, enum kube_kind kind, enum kube_repel_source source)
{
    struct table *table = table_of(repel, kind);

    for (uint32_t i = table->count; i-- > 0;) {
        if (table->rows[i].source == source && !table->rows[i].is_seen) {
            table_drop(table, &table->rows[i]);
            repel->is_stale = true;
        }
    }
}

/*
 * Objects.
 */

/* A text that grows. */
struct text {
    char *at;
    size_t used, room;
};

static void add(struct text *text, const char *more, size_t size)
{
    if (text->at == NULL || text->used + size > text->room) {
        text->room = 2 * (text->used + size) + 1;
        text->at = mem_resize(text->at, text->room, 1);
        assert(text->at != NULL);
    }
    memcpy(text->at + text->used, more, size);
    text->used += size;
}

static void take_node(struct kube_repel *repel, enum kube_repel_source source,
                      const struct kube_object *node)
{
    struct text text = { 0 };

    for (uint32_t i = 0; i < node->label_count; i++) {
        if (!kube_need_has_word(node->label[i].key))
            continue;
        add(&text, node->label[i].key, strlen(node->label[i].key));
        add(&text, "=", 1);
        add(&text, node->label[i].value, strlen(node->label[i].value));
        add(&text, "\n", 1);
    }
    repel->is_stale |=
        table_put(&repel->nodes, node->name, source, text.used > 0 ? text.at : "", text.used);
    mem_free(text.at);
}

static bool has_slot(const struct kube_object *pod)
{
    for (uint32_t i = 0; i < pod->selector_count; i++) {
        if (strcmp(pod->selector[i].key, KUBE_SLOT) == 0)
            return true;
    }
    return false;
}

static void take_pod(struct kube_repel *repel, enum kube_repel_source source,
                     const struct kube_object *pod)
{
    const char mark = source == KUBE_REPEL_OURS && has_slot(pod) ? HAS_SLOT : HAS_NONE;
    struct text text = { 0 };

    add(&text, pod->node, strlen(pod->node) + 1);
    add(&text, &mark, 1);
    add(&text, pod->name_space, strlen(pod->name_space) + 1);
    for (uint32_t i = 0; i < pod->repel_count; i++)
        add(&text, pod->repels[i], strlen(pod->repels[i]) + 1);
    repel->is_stale |= table_put(&repel->pods, pod->uid, source, text.at, text.used);
    mem_free(text.at);
}

void kube_repel_object(struct kube_repel *repel, enum kube_repel_source source, bool is_gone,
                       const struct kube_object *object)
{
    const bool is_node = object->kind == KUBE_NODE;

    if (is_gone || (!is_node && (object->repel_count == 0 || object->node == NULL ||
                                 (object->flags & KUBE_POD_DONE) != 0)))
        repel->is_stale |= table_remove(table_of(repel, object->kind),
                                        is_node ? object->name : object->uid, source);
    else if (is_node)
        take_node(repel, source, object);
    else
        take_pod(repel, source, object);
}

/*
 * Rules.
 */

/* The value of a label in the text of a node; 0: it has none. */
static size_t node_value(const struct row *node, const char *key, char *buf, size_t size)
{
    const size_t length = strlen(key);

    for (const char *at = node->text; *at != '\0'; at = strchr(at, '\n') + 1) {
        const size_t line = strcspn(at, "\n");

        if (line > length + 1 && at[length] == '=' && strncmp(at, key, length) == 0 &&
            line - length - 1 < size) {
            memcpy(buf, at + length + 1, line - length - 1);
            buf[line - length - 1] = '\0';
            return line - length - 1;
        }
    }
    return 0;
}

/* Which machines a term is about; false: none. "*": it cannot be said. */
static bool words_of(const struct row *pod, const struct row *node, const char *term, char *buf,
                     size_t size)
{
    char key[KUBE_NAME];
    char value[KUBE_NAME];
    const size_t length = strcspn(term, "\n");

    if (length >= sizeof(key))
        return false;
    memcpy(key, term, length);
    key[length] = '\0';
    (void)snprintf(buf, size, "*");
    if (strcmp(key, KUBE_HOSTNAME) == 0)
        return node->source == KUBE_REPEL_OURS && pod->source == KUBE_REPEL_OTHERS;
    if (!kube_need_has_word(key))
        return true;
    if (node_value(node, key, value, sizeof(value)) == 0)
        return false;
    if (!kube_need_word(key, value, buf, size))
        (void)snprintf(buf, size, "*");
    return true;
}

static void add_rule(struct kube_repel *repel, const char *words, const char *space,
                     const char *term)
{
    const size_t size = strlen(words) + strlen(space) + strlen(term) + 3;
    char *rule = mem_alloc(size, 1);

    (void)snprintf(rule, size, "%s\n%s\n%s", words, space, term);
    MEM_ROOM(repel->rules, repel->rules_room, repel->rule_count + 1);
    repel->rules[repel->rule_count++] = rule;
}

static void add_rules(struct kube_repel *repel, const struct row *pod)
{
    const char *name = pod->text;
    const char *space = name + strlen(name) + 1;
    const struct row *node = table_find(&repel->nodes, name, KUBE_REPEL_OURS);
    char words[WORD_TEXT];

    if (node == NULL)
        node = table_find(&repel->nodes, name, KUBE_REPEL_OTHERS);
    if (node == NULL)
        return; /* it is reported later, or is no more */
    for (const char *term = space + strlen(space) + 1; term < pod->text + pod->size;
         term += strlen(term) + 1) {
        if (words_of(pod, node, term, words, sizeof(words)))
            add_rule(repel, words, space, term);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void drop_rules(char **rules, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        mem_free(rules[i]);
    mem_free(rules);
}

static void make_rules(struct kube_repel *repel)
{
    char **old = repel->rules;
    const uint32_t old_count = repel->rule_count;
    uint32_t count = 0;
    bool is_same;

    if (!repel->is_stale)
        return;
    repel->is_stale = false;
    repel->rules = NULL;
    repel->rule_count = 0;
    repel->rules_room = 0;
    for (uint32_t i = 0; i < repel->pods.count; i++)
        add_rules(repel, &repel->pods.rows[i]);
    if (repel->rule_count > 1)
        qsort(repel->rules, repel->rule_count, sizeof(*repel->rules), by_text);
    for (uint32_t i = 0; i < repel->rule_count; i++) {
        if (count > 0 && strcmp(repel->rules[i], repel->rules[count - 1]) == 0)
            mem_free(repel->rules[i]);
        else
            repel->rules[count++] = repel->rules[i];
    }
    repel->rule_count = count;
    is_same = count == old_count;
    for (uint32_t i = 0; is_same && i < count; i++)
        is_same = strcmp(old[i], repel->rules[i]) == 0;
    repel->is_changed |= !is_same;
    drop_rules(old, old_count);
}

bool kube_repel_is_changed(struct kube_repel *repel)
{
    bool was;

    make_rules(repel);
    was = repel->is_changed;
    repel->is_changed = false;
    return was;
}

/*
 * Questions.
 */

/* 'rule': a mark, the namespace of the pod that it comes from, a line feed, the term. */
static bool is_about(const char *rule, const char *space, const struct kube_pair *labels,
                     uint32_t count, const char *own)
{
    char from[KUBE_NAME];
    const size_t length = strcspn(rule + 1, "\n");
    const char *term = rule + 1 + length + 1;

    if (length >= sizeof(from))
        return true;
    memcpy(from, rule + 1, length);
    from[length] = '\0';
    if (own != NULL && rule[0] == HAS_SLOT && strcmp(from, space) == 0 && strcmp(term, own) == 0)
        return false;
    return kube_term_is_about(term, from, space, labels, count);
}

const char *kube_repel_words(struct kube_repel *repel, const char *space,
                             const struct kube_pair *labels, uint32_t count, const char *own,
                             char *buf, size_t size)
{
    const char *last = "";
    size_t used = 0;

    make_rules(repel);
    buf[0] = '\0';
    for (uint32_t i = 0; i < repel->rule_count; i++) {
        const char *rule = repel->rules[i];
        const size_t length = strcspn(rule, "\n");

        if (strncmp(last, rule, length + 1) == 0 ||
            !is_about(rule + length + 1, space, labels, count, own))
            continue;
        if (rule[0] == '*')
            return "another pod's anti-affinity to it is unknown to Stint";
        if (used + length + 4 > size)
            return "other pods have anti-affinity to it in too many places";
        used += (size_t)snprintf(buf + used, size - used, "%s%.*s", used > 0 ? "|" : "!(",
                                 (int)length, rule);
        last = rule;
    }
    if (used > 0)
        (void)snprintf(buf + used, size - used, ")");
    return NULL;
}

struct kube_repel *kube_repel_create(void)
{
    struct kube_repel *repel = mem_alloc(1, sizeof(*repel));

    map_init(&repel->pods.by_key);
    map_init(&repel->nodes.by_key);
    return repel;
}

void kube_repel_destroy(struct kube_repel *repel)
{
    if (repel == NULL)
        return;
    table_done(&repel->pods);
    table_done(&repel->nodes);
    drop_rules(repel->rules, repel->rule_count);
    mem_free(repel);
}
