/* SPDX-License-Identifier: Apache-2.0 */
/*
 * owned_doc.h - machines that are owned, and when to rent beyond them, as scenarios and configurations say it:
 *
 *     owned:
 *       - { type: c7i.4xlarge, count: 4 }
 *       - { name: rack, cpu: 64, mem_gib: 256, count: 8, dollars_per_hour: 0.40 }
 *     burst: { after: 10m }
 *
 * docs/reference/files/scenario.md has every key.
 *
 * Promises:  the readers are pure; on failure the error says the line, what is wrong and what would be right.
 * Memory:    texts live in the arena of the document.
 */
#ifndef STINT_TRACE_OWNED_DOC_H
#define STINT_TRACE_OWNED_DOC_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/burst_rule.h"
#include "model/catalogue.h"
#include "trace/doc.h"

enum { OWNED_ENTRIES_MAX = 1024, OWNED_MACHINES_MAX = 65536 };

/* Machines of one kind. */
struct owned_entry {
    const char
        *type; /* of the catalogue; NULL: a type of its own, with the name and capacity below */
    const char *name;
    struct res capacity;
    money_t per_hour;
    const char *nodes; /* the list of their names, as written; NULL: they have none */
    uint32_t count;
    uint32_t line;
};

struct owned_doc {
    struct owned_entry *rows;
    uint32_t count;
};

/* The value of 'owned' in the map 'root'; without the key there are none. */
int owned_doc_read(const struct doc_node *root, struct arena *arena, struct owned_doc *ret,
                   struct error *reterr);

/* The same where each entry has a list of 'nodes' instead of a 'count'; it is left to the caller to count them. */
int owned_nodes_read(const struct doc_node *root, struct arena *arena, struct owned_doc *ret,
                     struct error *reterr);

/* The offer of the entry's machines, new in the catalogue. Fails if there is no such type. */
int owned_entry_add(const struct owned_entry *entry, struct catalogue *catalogue, uint32_t *ret,
                    struct error *reterr);

/* The value of 'burst' in the map 'root'; without the key nothing is changed. */
int burst_doc_read(const struct doc_node *root, struct burst_rule *ret, struct error *reterr);

/* The keys 'after' and 'waiting_hour' of the map itself. */
int burst_keys_read(const struct doc_node *map, struct burst_rule *ret, struct error *reterr);

#endif
