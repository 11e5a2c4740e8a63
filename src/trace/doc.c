/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libyaml turns the text into events; a stack of the open lists and maps turns the events into the
 * tree. A key waits in 'key' until its value begins, so it is never pending across levels.
 */
#include "trace/doc.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/input_text.h"

struct level {
    struct doc_node *node;
    struct doc_node *last; /* child */
};

struct builder {
    yaml_parser_t parser;
    const char *text;
    struct arena *arena;
    struct level stack[LIMIT_DOC_DEPTH];
    uint32_t depth;
    uint32_t node_count;
    uint32_t documents;
    const char *key; /* read, its value is still to come */
    struct doc_node *root;
    const struct doc_node **sorted; /* scratch, to find equal keys */
    uint32_t sorted_room;
    bool ended;
};

static uint32_t line_of(const yaml_event_t *event)
{
    return (uint32_t)event->start_mark.line + 1;
}

static int parser_error(const struct builder *b, struct error *reterr)
{
    const yaml_parser_t *parser = &b->parser;
    const char *problem = parser->problem != NULL ? parser->problem : "cannot be parsed";

    if (parser->error == YAML_MEMORY_ERROR)
        abort();
    if (parser->error == YAML_READER_ERROR)
        return error_set(reterr, -EINVAL, "line %u: %s; the file must be text in UTF-8",
                         text_line_at(b->text, parser->problem_offset), problem);
    if (parser->context != NULL)
        return error_set(reterr, -EINVAL, "line %zu: %s, %s (begun in line %zu)",
                         parser->problem_mark.line + 1, problem, parser->context,
                         parser->context_mark.line + 1);
    return error_set(reterr, -EINVAL, "line %zu: %s", parser->problem_mark.line + 1, problem);
}

static const char *copy_text(struct arena *arena, const void *text, size_t length)
{
    char *copy = ARENA_ARRAY(arena, char, length + 1);

    memcpy(copy, text, length);
    return copy;
}

/* Whether the next scalar is a key: a map is open and its last key has its value. */
static bool expects_key(const struct builder *b)
{
    return b->depth > 0 && b->stack[b->depth - 1].node->kind == DOC_MAP && b->key == NULL;
}

/* A new node of the open list or map, or the root. */
static int add_node(struct builder *b, enum doc_kind kind, uint32_t line, struct doc_node **ret,
                    struct error *reterr)
{
    if (expects_key(b))
        return error_set(reterr, -EINVAL, "line %u: a key must be plain text, no list or map",
                         line);
    if (b->node_count == LIMIT_DOC_NODES)
        return error_set(reterr, -E2BIG, "line %u: the document has more than %d values", line,
                         LIMIT_DOC_NODES);

    struct doc_node *node = ARENA_ARRAY(b->arena, struct doc_node, 1);

    node->kind = kind;
    node->line = line;
    node->key = b->key;
    b->key = NULL;
    b->node_count++;
    if (b->depth == 0) {
        b->root = node;
    } else {
        struct level *level = &b->stack[b->depth - 1];

        node->parent = level->node;
        node->index = level->node->count++;
        if (level->last != NULL)
            level->last->next = node;
        else
            level->node->first = node;
        level->last = node;
    }
    *ret = node;
    return 0;
}

static int on_scalar(struct builder *b, const yaml_event_t *event, struct error *reterr)
{
    const char *value = (const char *)event->data.scalar.value;
    const size_t length = event->data.scalar.length;
    const uint32_t line = line_of(event);
    struct doc_node *node = NULL;

    if (event->data.scalar.tag != NULL)
        return error_set(reterr, -EINVAL, "line %u: tags ('!...') are not supported: remove it",
                         line);
    if (memchr(value, 0, length) != NULL)
        return error_set(reterr, -EINVAL, "line %u: a text holds a zero byte", line);
    if (expects_key(b)) {
        if (length == 0)
            return error_set(reterr, -EINVAL, "line %u: a key is empty", line);
        b->key = copy_text(b->arena, value, length);
        return 0;
    }

    const int rc = add_node(b, DOC_SCALAR, line, &node, reterr);

    if (rc < 0)
        return rc;
    assert(node != NULL);
    node->text = copy_text(b->arena, value, length);
    node->text_length = (uint32_t)length;
    node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    return 0;
}

static int on_begin(struct builder *b, enum doc_kind kind, const yaml_event_t *event,
                    struct error *reterr)
{
    const bool tagged = kind == DOC_MAP ? event->data.mapping_start.tag != NULL
                                        : event->data.sequence_start.tag != NULL;
    const uint32_t line = line_of(event);
    struct doc_node *node = NULL;

    if (tagged)
        return error_set(reterr, -EINVAL, "line %u: tags ('!...') are not supported: remove it",
                         line);
    if (b->depth == LIMIT_DOC_DEPTH)
        return error_set(reterr, -E2BIG, "line %u: is nested more than %d levels deep", line,
                         LIMIT_DOC_DEPTH);

    const int rc = add_node(b, kind, line, &node, reterr);

    if (rc < 0)
        return rc;
    b->stack[b->depth++] = (struct level){ .node = node };
    return 0;
}

static int compare_keys(const void *a, const void *b)
{
    const struct doc_node *const *left = a;
    const struct doc_node *const *right = b;
    const int order = strcmp((*left)->key, (*right)->key);

    if (order != 0)
        return order;
    return (*left)->index < (*right)->index ? -1 : 1;
}

static int check_keys(struct builder *b, const struct doc_node *map, struct error *reterr)
{
    uint32_t count = 0;

    if (map->count < 2)
        return 0;
    MEM_ROOM(b->sorted, b->sorted_room, map->count);
    DOC_EACH(child, map)
    b->sorted[count++] = child;
    qsort(b->sorted, count, sizeof(*b->sorted), compare_keys);
    for (uint32_t i = 1; i < count; i++) {
        const struct doc_node *twin = b->sorted[i];

        if (strcmp(b->sorted[i - 1]->key, twin->key) == 0)
            return error_set(reterr, -EINVAL,
                             "line %u: the key '%s' is given twice, first in line %u", twin->line,
                             text_excerpt(twin->key, strlen(twin->key)).text,
                             b->sorted[i - 1]->line);
    }
    return 0;
}

static int on_end(struct builder *b, struct error *reterr)
{
    assert(b->depth > 0);

    const struct doc_node *node = b->stack[--b->depth].node;

    return node->kind == DOC_MAP ? check_keys(b, node, reterr) : 0;
}

static bool has_anchor(const yaml_event_t *event)
{
    if (event->type == YAML_SCALAR_EVENT)
        return event->data.scalar.anchor != NULL;
    if (event->type == YAML_SEQUENCE_START_EVENT)
        return event->data.sequence_start.anchor != NULL;
    return event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor != NULL;
}

static int on_event(struct builder *b, const yaml_event_t *event, struct error *reterr)
{
    if (event->type == YAML_ALIAS_EVENT || has_anchor(event))
        return error_set(reterr, -EINVAL,
                         "line %u: anchors and aliases ('&...', '*...') are not supported: write "
                         "the value out",
                         line_of(event));
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return on_scalar(b, event, reterr);
    case YAML_SEQUENCE_START_EVENT:
        return on_begin(b, DOC_LIST, event, reterr);
    case YAML_MAPPING_START_EVENT:
        return on_begin(b, DOC_MAP, event, reterr);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        return on_end(b, reterr);
    case YAML_DOCUMENT_START_EVENT:
        if (b->documents++ > 0)
            return error_set(reterr, -EINVAL, "line %u: a second document begins; a file holds one",
                             line_of(event));
        return 0;
    case YAML_STREAM_END_EVENT:
        b->ended = true;
        return 0;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_ALIAS_EVENT:
        return 0;
    }
    return 0;
}

static int build(struct builder *b, struct error *reterr)
{
    while (!b->ended) {
        yaml_event_t event;

        if (!yaml_parser_parse(&b->parser, &event))
            return parser_error(b, reterr);

        const int rc = on_event(b, &event, reterr);

        yaml_event_delete(&event);
        if (rc < 0)
            return rc;
    }
    if (b->root == NULL)
        return error_set(reterr, -EINVAL, "is empty: it must be YAML");
    return 0;
}

int doc_parse(const char *text, size_t length, struct arena *arena, const struct doc_node **ret,
              struct error *reterr)
{
    static const char mark[] = "\xef\xbb\xbf";
    int rc = text_check_input(text, length, reterr);

    if (rc < 0)
        return rc;

    /* libyaml would count a byte order mark as a column, and miss a "---" behind it. */
    const size_t skipped = length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    struct builder b = { .text = text + skipped, .arena = arena };

    if (!yaml_parser_initialize(&b.parser))
        abort();
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)b.text, length - skipped);
    rc = build(&b, reterr);
    yaml_parser_delete(&b.parser);
    mem_free(b.sorted);
    if (rc == 0)
        *ret = b.root;
    return rc;
}

const struct doc_node *doc_find(const struct doc_node *map, const char *key)
{
    assert(map->kind == DOC_MAP);

    DOC_EACH(child, map)
    {
        if (strcmp(child->key, key) == 0)
            return child;
    }
    return NULL;
}

bool doc_is_null(const struct doc_node *node)
{
    return node->kind == DOC_SCALAR && !node->quoted &&
           (node->text_length == 0 || strcmp(node->text, "~") == 0 ||
            strcmp(node->text, "null") == 0);
}
