/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_index.h - the offers of a catalogue by their words (offer_index_words), as the store has them.
 *
 * Costs:  O(offers) to make, O(1) to find.
 */
#ifndef STINT_DAEMON_OFFER_INDEX_H
#define STINT_DAEMON_OFFER_INDEX_H

#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "model/catalogue.h"

struct offer_index {
    struct names words;
    uint32_t *offers; /* of each of these words */
};

/* "m5.large in eu-1a, spot": an offer in words; returns its length. */
int offer_index_words(const struct catalogue *catalogue, uint32_t offer, char *buf, size_t size);

void offer_index_init(struct offer_index *index, const struct catalogue *catalogue);
void offer_index_done(struct offer_index *index);

/* OFFER_NONE: the catalogue has none of these words. */
uint32_t offer_index_find(const struct offer_index *index, const char *words);

#endif
