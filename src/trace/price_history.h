/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price_history.h - read how the prices of offers changed, or when there were none to be had, from a
 * CSV table. docs/reference/files/prices-csv.md has the columns.
 *
 * Promises:  pure. Changes are in time order for each offer, whatever the order of the rows. On failure
 *            nothing is kept and 'ret' is untouched; the error names the line, the column and what
 *            would be right.
 * Bounds:    O(rows log rows); LIMIT_PRICE_POINTS rows, PRICE_HISTORY_OFFERS_MAX offers.
 */
#ifndef STINT_TRACE_PRICE_HISTORY_H
#define STINT_TRACE_PRICE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/names.h"
#include "base/units.h"
#include "model/price.h"

enum { PRICE_HISTORY_OFFERS_MAX = 4096 };

/* One type in one zone. A price of MONEY_UNKNOWN: there was none to be had; of 0: not stated. */
struct price_history_offer {
    uint32_t type; /* in price_history.names */
    uint32_t zone; /* likewise, or NAME_NONE */
    struct price_series series;
};

struct price_history {
    struct names names;
    struct price_history_offer *offers; /* in the order in which they first occur */
    uint32_t offer_count;
    struct price_change *changes; /* of all offers */
    uint32_t change_count;
    msec_t first; /* times of the first and the last change */
    msec_t last;
};

/* Parse the whole text into 'ret', to be freed by price_history_done. */
int price_history_read(const char *text, size_t length, struct price_history *ret,
                       struct error *reterr);

/* The offer, or UINT32_MAX. A zone of NULL: the one without a zone. */
uint32_t price_history_find(const struct price_history *history, const char *type,
                            const char *zone);

/* Takes what was never filled, if it is zeroed. */
void price_history_done(struct price_history *history);

#endif
