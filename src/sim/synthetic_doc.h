/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic_doc.h - what a synthetic trace is to be like, read from a map of a document: the value
 * of 'trace' in a scenario. docs/reference/files/scenario.md has every key and its default.
 *
 * Promises:  pure; on failure 'ret' is untouched, and the error says the line and what would be
 *            right.
 * Memory:    texts are the document's, everything else lives in the arena.
 */
#ifndef STINT_SIM_SYNTHETIC_DOC_H
#define STINT_SIM_SYNTHETIC_DOC_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/error.h"
#include "trace/doc.h"
#include "trace/synthetic.h"

struct synthetic_doc {
    struct synthetic_spec spec; /* 'seed' is 0 without 'has_seed' */
    bool has_seed;              /* else it is the scenario's */
};

int synthetic_doc_read(const struct doc_node *map, struct arena *arena, struct synthetic_doc *ret,
                       struct error *reterr);

#endif
