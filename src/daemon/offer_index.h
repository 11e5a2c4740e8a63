/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_index.h - the offers of a catalogue by their words (gate_offer_words), as the store has them.
 *
 * Costs:  O(offers) to make, O(1) to find.
 */
#ifndef STINT_DAEMON_OFFER_INDEX_H
#define STINT_DAEMON_OFFER_INDEX_H

#include <stdint.h>

#include "base/names.h"
#include "model/catalogue.h"

struct offer_index {
    struct names words;
    uint32_t *offers; /* of each of these words */
};

void offer_index_init(struct offer_index *index, const struct catalogue *catalogue);
void offer_index_done(struct offer_index *index);

/* OFFER_NONE: the catalogue has none of these words. */
uint32_t offer_index_find(const struct offer_index *index, const char *words);

#endif
