/* SPDX-License-Identifier: Apache-2.0 */
/*
 * local_offers.h - the offers of a catalogue by their names, "TYPE/ZONE/MARKET".
 *
 * An index of an offer means something only within one program and one reading of the catalogue; the
 * name is what two programs, or one before and after a restart, can agree on. Where there is no zone
 * the middle is empty: "c1.large//spot".
 *
 * Promises:  if two offers had one name, it means the first.
 * Costs:     O(offers) to make, O(length) to find.
 */
#ifndef STINT_CLOUD_LOCAL_OFFERS_H
#define STINT_CLOUD_LOCAL_OFFERS_H

#include <stdint.h>

#include "base/names.h"
#include "model/catalogue.h"

struct local_offers {
    struct names names;
    uint32_t *offer_of; /* by name */
    uint32_t *name_of;  /* by offer */
};

void local_offers_init(struct local_offers *offers, const struct catalogue *catalogue);
void local_offers_done(struct local_offers *offers);

/* The offer, or OFFER_NONE. */
uint32_t local_offers_find(const struct local_offers *offers, const char *text);

const char *local_offers_text(const struct local_offers *offers, uint32_t offer);

#endif
