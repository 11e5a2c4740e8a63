/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doc.h - a YAML document, and so a JSON one, as a tree in memory.
 *
 * The tree holds maps, lists and scalars in the order of the file, each with its line. What values
 * mean is asked through doc_value.h. Only what a configuration needs is accepted: one document, keys
 * that are plain text and different from each other; no anchors, aliases or tags.
 *
 * Promises:  texts are valid UTF-8 without zero bytes, and end in a zero. A tree does not change.
 * Bounds:    LIMIT_DOC_NODES nodes (a map's value counts, its key does not), LIMIT_DOC_DEPTH levels,
 *            LIMIT_FILE_BYTES bytes; O(bytes + keys log keys), no recursion.
 * Memory:    the tree lives in the caller's arena, also what was built of it before a failure.
 */
#ifndef STINT_TRACE_DOC_H
#define STINT_TRACE_DOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum doc_kind {
    DOC_SCALAR,
    DOC_LIST,
    DOC_MAP,
};

struct doc_node {
    enum doc_kind kind;
    bool quoted;    /* of a scalar: it stood in quotes or in a block, so it is meant as text */
    uint32_t line;  /* from 1 */
    uint32_t index; /* place among its siblings, from 0 */
    uint32_t count; /* children of a list or map */
    uint32_t text_length; /* of a scalar, in bytes */
    const char *key;      /* under which it stands in its map; NULL: it does not */
    const char *text;     /* of a scalar, else NULL */
    const struct doc_node *parent;
    const struct doc_node *first; /* child, in the order of the file */
    const struct doc_node *next;  /* sibling */
};

/* Parse the whole text. Errors begin with the line. */
int doc_parse(const char *text, size_t length, struct arena *arena, const struct doc_node **ret,
              struct error *reterr);

/* The value under 'key' of a map, or NULL. O(keys). */
const struct doc_node *doc_find(const struct doc_node *map, const char *key);

/* Whether it is an empty plain scalar, "~" or "null". */
bool doc_is_null(const struct doc_node *node);

/* Each child of a list or a map. */
#define DOC_EACH(child, of) \
    for (const struct doc_node *child = (of)->first; child != NULL; child = child->next)

#endif
