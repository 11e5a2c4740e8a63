/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_set.h - which offers work may run on: sets of offers, given by an expression, each kept once.
 *
 * An expression is made of words: "c7i&us-east-1a", "(a100|h100)&!spot". '&' and ',' are and, '|' is or, '!'
 * is not, brackets of both kinds group, and a "*2" behind a word is skipped (Slurm's count of nodes). '!' binds
 * most, then '&', then '|'. A word is met by an offer
 *
 *  - whose type, family, zone or market has that name; "type=", "family=", "zone=" and "market=" before it
 *    allow one of them only;
 *  - of whose type the catalogue says it: "infiniband", "gpu=h100". "gpu=h100" is also met by a type or family
 *    of the name "h100";
 *  - always, if the word is "cloud".
 *
 * The same expression is the same set. Sets are evaluated once for a catalogue, and again when it has grown.
 *
 * Costs:   O(words of the expression x offers) for a new set, O(sets x offers) for a catalogue that has grown;
 *          O(1) to ask. One bit per set and offer.
 * Memory:  owned by the sets; numbers are stable. The catalogue is borrowed.
 */
#ifndef STINT_MODEL_OFFER_SET_H
#define STINT_MODEL_OFFER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "model/catalogue.h"

#define OFFERS_ALL UINT32_MAX

/* Of an expression from outside: its bytes, and brackets within brackets. Sets that are made of it may
 * have more. */
enum { OFFER_TEXT_MAX = 1024, OFFER_DEPTH_MAX = 8 };

struct offer_sets {
    const struct catalogue *catalogue; /* NULL: not known yet, and nothing is evaluated */
    struct names texts;                /* of the sets */
    uint64_t **bits;                   /* per set: one bit per offer */
    uint32_t *class_of;                /* per offer */
    uint32_t bits_room;
    uint32_t offer_count; /* that were evaluated */
};

void offer_sets_init(struct offer_sets *sets);
void offer_sets_done(struct offer_sets *sets);

/* 'to' is not initialised; every set has the same number there. */
void offer_sets_copy(struct offer_sets *to, const struct offer_sets *from);

/* Evaluate all sets for the catalogue; to be called again when it has grown. */
void offer_sets_bind(struct offer_sets *sets, const struct catalogue *catalogue);

/* Whether the text is an expression within the bounds above, or empty. */
bool offer_text_is_valid(const char *text);

/* Whether the offer meets the expression, which is valid or empty. */
bool offer_text_has(const char *text, const struct catalogue *catalogue, uint32_t offer);

/* The set of that expression, which is valid; OFFERS_ALL for an empty text. */
uint32_t offer_sets_add(struct offer_sets *sets, const char *text);

/* The expression of the set; "" of OFFERS_ALL. */
const char *offer_sets_text(const struct offer_sets *sets, uint32_t set);

/* Whether the set has the offer. */
static inline bool offer_sets_has(const struct offer_sets *sets, uint32_t set, uint32_t offer)
{
    return set == OFFERS_ALL || (sets->bits[set][offer / 64] >> (offer % 64) & 1) != 0;
}

#endif
