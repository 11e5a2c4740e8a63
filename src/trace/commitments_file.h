/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commitments_file.h - read from YAML or JSON how a machine can be paid for.
 * docs/reference/files/commitments.md has every key.
 *
 * Promises:  pure; classes keep the order of the file, behind on demand; prices are exact to the
 *            micro-dollar. On failure nothing is kept and 'ret' is untouched.
 * Bounds:    O(bytes); COMMITMENT_CLASSES_MAX classes, COMMITMENTS_TYPES_MAX types.
 */
#ifndef STINT_TRACE_COMMITMENTS_FILE_H
#define STINT_TRACE_COMMITMENTS_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/names.h"
#include "model/commitment.h"

enum {
    COMMITMENTS_TYPES_MAX = 1024,
    COMMITMENTS_TERM_HOURS_MAX = 100000, /* eleven years */
};

struct commitments {
    const char *title; /* where the prices come from; NULL: not given */
    struct commitment classes[COMMITMENT_CLASSES_MAX]; /* as written; the first is on demand */
    uint32_t class_count;
    struct names types;  /* machines whose on-demand price is another */
    money_t *type_price; /* one per type */
    struct arena memory; /* of all texts */
};

/* Parse the whole text into 'ret', to be freed by commitments_done. */
int commitments_read(const char *text, size_t length, struct commitments *ret,
                     struct error *reterr);

/* The on-demand price of a type, or that of all if it is not listed. */
money_t commitments_price(const struct commitments *commitments, const char *type);

/* The classes for one machine that costs 'price' on demand, as many as there are. */
void commitments_at(const struct commitments *commitments, money_t price,
                    struct commitment ret[static COMMITMENT_CLASSES_MAX]);

void commitments_done(struct commitments *commitments);

#endif
