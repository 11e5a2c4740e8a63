/* SPDX-License-Identifier: Apache-2.0 */
/*
 * offer_table.h - read offers with their availability from a CSV table: capacity, price, price on
 * demand, and the share of the time in which machines are there. docs/reference/files/offers-csv.md has the
 * columns; the tables that the authors of TR-Kubernetes published are read as they are.
 *
 * Promises:  pure. On failure nothing is kept and 'ret' is untouched; the error names the line, the
 *            column and what would be right. Prices are rounded to the nearest micro-dollar.
 * Bounds:    O(bytes); LIMIT_OFFERS rows.
 */
#ifndef STINT_TRACE_OFFER_TABLE_H
#define STINT_TRACE_OFFER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/names.h"
#include "base/units.h"

struct offer_row {
    uint32_t type; /* in offer_table.names */
    uint32_t zone; /* likewise, or NAME_NONE */
    int64_t capacity;
    money_t price;
    money_t on_demand; /* 0: not known */
    double down;       /* 1 - availability */
    uint32_t digits;   /* behind the point, as the availability was written */
    uint32_t tail;     /* the last four of them, as a number */
};

struct offer_table {
    struct names names;
    struct offer_row *rows;
    uint32_t count;
    uint32_t room;
};

/* Whether the text is such a table and not a catalogue: its header has an availability. */
bool offer_table_looks_like(const char *text, size_t length);

/* Parse the whole text into 'ret', to be freed by offer_table_done. */
int offer_table_read(const char *text, size_t length, struct offer_table *ret,
                     struct error *reterr);

/* Takes what was never filled, if it is zeroed. */
void offer_table_done(struct offer_table *table);

#endif
