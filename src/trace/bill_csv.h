/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bill_csv.h - read what a cloud charges: an AWS Cost and Usage Report (legacy names such as lineItem/UnblendedCost, or
 * those of version 2.0 such as line_item_unblended_cost), or a FOCUS table, as CSV. docs/reference/files/bill-csv.md has the columns.
 *
 * Promises:  pure. Which of the formats it is, the header tells. On failure nothing is kept and 'ret' is
 *            untouched; the error names the line, the column and what would be right.
 * Bounds:    O(bytes); BILL_LINES_MAX lines.
 */
#ifndef STINT_TRACE_BILL_CSV_H
#define STINT_TRACE_BILL_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/names.h"
#include "base/units.h"

enum { BILL_LINES_MAX = 1 << 24, BILL_DIGITS_MAX = 18 };

enum bill_kind {
    BILL_USAGE,
    BILL_CREDIT, /* refunds and discounts too */
    BILL_TAX,
    BILL_FEE, /* purchases, commitments, adjustments */
};

/* Names are numbers in bill.words, or NAME_NONE. */
struct bill_line {
    enum bill_kind kind;
    money_t cost;
    msec_t from;
    msec_t to;
    msec_t used_ms; /* machine time, of a line that is charged by time; else 0 */
    uint32_t what;  /* what was used: the machine type is a word of it */
    uint32_t region;
    uint32_t cluster; /* the tag stint:cluster */
    uint64_t key;     /* the tag stint:key, 0: there is none */
    uint8_t digits;   /* behind the point of the cost */
    bool is_machine;
};

struct bill {
    struct names words;
    struct bill_line *lines;
    uint32_t count;
    uint32_t room;
    bool is_focus;
};

int bill_csv_read(const char *text, size_t length, struct bill *ret, struct error *reterr);

/* Takes what was never filled, if it is zeroed. */
void bill_done(struct bill *bill);

#endif
