/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_price_history.h - changes of spot prices, as DescribeSpotPriceHistory tells them.
 *
 * Rows of many lists (one for each type and zone) come in any order, and again if a page is repeated.
 * A row holds until the next of its list; one from before the begin of the span is the price at the
 * begin.
 *
 * Promises:  the series of a list is the same whatever the order of its rows.
 * Bounds:    AWS_PRICE_ROWS_MAX rows, so that a catalogue of them stays within LIMIT_DOC_NODES; beyond
 *            that 'is_full' is set and rows are passed over. A series is O(rows of its list x log).
 */
#ifndef STINT_CLOUD_AWS_PRICE_HISTORY_H
#define STINT_CLOUD_AWS_PRICE_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "model/price.h"

enum { AWS_PRICE_ROWS_MAX = 1 << 20 };

struct aws_price_row {
    msec_t at;
    money_t per_hour;
    uint32_t next; /* of its list, plus one; 0: none */
};

struct aws_price_history {
    msec_t begin; /* 0: nothing is kept */
    struct aws_price_row *rows;
    uint32_t count;
    uint32_t room;
    bool is_full;
};

void aws_price_history_done(struct aws_price_history *history);

/* '*list' is 0 for a list that is empty yet. */
void aws_price_history_add(struct aws_price_history *history, uint32_t *list, msec_t at,
                           money_t per_hour);

/* Rising times from the begin on, prices that differ from the one before; for mem_free(). The list has
 * a row at least. */
struct price_change *aws_price_history_series(const struct aws_price_history *history,
                                              uint32_t list, uint32_t *ret_count);

#endif
