/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_doc.h - machines that stand ready for short tasks, as scenarios and configurations say it:
 *
 *     short_pool: { machine: c7i.xlarge, longest: 10m, most: 10 }
 *
 * docs/reference/files/scenario.md has every key.
 *
 * Promises:  pure; on failure the error says the line, what is wrong and what would be right.
 * Memory:    texts live in the arena of the document.
 */
#ifndef STINT_TRACE_SHORT_DOC_H
#define STINT_TRACE_SHORT_DOC_H

#include "base/error.h"
#include "model/catalogue.h"
#include "model/short_pool_rule.h"
#include "trace/doc.h"

/* The value of 'short_pool' in the map 'root'; without the key nothing is changed. */
int short_doc_read(const struct doc_node *root, struct short_pool_rule *ret, struct error *reterr);

/* Whether the catalogue has spot machines of the type; -EINVAL if not. */
int short_doc_check(const struct short_pool_rule *rule, const struct catalogue *catalogue,
                    struct error *reterr);

#endif
