/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_set.h - which offers work may run on: sets of offers, told by an expression, each kept once.
 *
 * An expression is made of words: "c7i&us-east-1a", "(a100|h100)&!spot". '&' and ',' are and, '|' is or, '!'
 * is not, brackets of both kinds group, and a "*2" behind a word is skipped (Slurm's count of nodes). '!' binds
 * most, then '&', then '|'. A word is met by an offer
 *
 *  - whose type, family, zone or market has that name; "type=", "family=", "zone=" and "market=" before it
 *    allow one of them only;
 *  - whose type or family was given the word by offer_sets_name: "infiniband", "gpu=h100". "gpu=h100" is also
 *    met by a type or family of the name "h100";
 *  - always, if the word is "cloud".
 *
 * The same expression is the same set. Sets are evaluated once for a catalogue, and again when it has grown.
 *
 * Words:   class: offers of one type that every set treats alike. To a decision they differ in price only.
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

enum { OFFER_TEXT_MAX = 1200, OFFER_DEPTH_MAX = 12 };

/* A word that a type or family was given. */
struct offer_word {
    uint32_t word; /* in offer_sets.words */
    uint32_t of;
};

struct offer_sets {
    const struct catalogue *catalogue; /* NULL: not known yet, and nothing is evaluated */
    struct names texts;                /* of the sets */
    struct names words;
    struct offer_word *given;
    uint64_t **bits;    /* per set: one bit per offer */
    uint32_t *class_of; /* per offer */
    uint32_t given_count;
    uint32_t given_room;
    uint32_t bits_room;
    uint32_t class_room;
    uint32_t class_count;
    uint32_t offer_count; /* that were evaluated */
};

void offer_sets_init(struct offer_sets *sets);
void offer_sets_done(struct offer_sets *sets);

/* Give the word to a type or family; before any set that uses it. */
void offer_sets_name(struct offer_sets *sets, const char *word, const char *of);

/* Evaluate all sets for the catalogue; to be called again when it has grown. */
void offer_sets_bind(struct offer_sets *sets, const struct catalogue *catalogue);

/* Whether the text is an expression. */
bool offer_text_is_valid(const char *text);

/* The set of that expression, which is valid; OFFERS_ALL for an empty text. */
uint32_t offer_sets_add(struct offer_sets *sets, const char *text);

/* The expression of the set; "" of OFFERS_ALL. */
const char *offer_sets_text(const struct offer_sets *sets, uint32_t set);

/* Whether the set has the offer. */
static inline bool offer_sets_has(const struct offer_sets *sets, uint32_t set, uint32_t offer)
{
    return set == OFFERS_ALL || (sets->bits[set][offer / 64] >> (offer % 64) & 1) != 0;
}

/* Whether every set that has 'offer' has 'other' too. O(sets). */
bool offer_sets_imply(const struct offer_sets *sets, uint32_t offer, uint32_t other);

/* The class of the offer, and how many classes there are. Without any set a class is a type. */
uint32_t offer_sets_class(const struct offer_sets *sets, const struct catalogue *catalogue,
                          uint32_t offer);
uint32_t offer_sets_class_count(const struct offer_sets *sets, const struct catalogue *catalogue);

#endif
