/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage_csv.h - read how many machines were in use, hour by hour, from a CSV table.
 * docs/reference/files/usage-csv.md has the columns.
 *
 * Promises:  pure. On failure nothing is kept and 'ret' is untouched; the error names the line, the
 *            column and what would be right.
 * Bounds:    O(bytes + cells); USAGE_HOURS_MAX hours, USAGE_CELLS_MAX hours times columns.
 */
#ifndef STINT_TRACE_USAGE_CSV_H
#define STINT_TRACE_USAGE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/names.h"

enum {
    USAGE_HOURS_MAX = 1 << 19, /* 59 years */
    USAGE_CELLS_MAX = 1 << 22, /* hours times columns */
    USAGE_COUNT_MAX = 1 << 30, /* machines at once */
};

struct usage {
    struct names columns; /* of machines, in the order of the file */
    uint32_t hours;
    uint32_t *counts;   /* 'hours' numbers per column, one column after the other */
    uint32_t gap_hours; /* of them, those without a row: they count as 0 */
    bool has_dates;     /* the first hour is counted from 1970, and not only from the first row */
    int64_t first_hour;
};

/* The text of a time, "2025-03-01 14:00", by usage_time_text. */
struct usage_time {
    char text[96];
};

/* A calendar month: "2027-08" and "August 2027". */
struct usage_month {
    char digits[32];
    char words[32];
};

/* Parse the whole text into 'ret', to be freed by usage_done. */
int usage_csv_read(const char *text, size_t length, struct usage *ret, struct error *reterr);

/* The numbers of a column. */
const uint32_t *usage_column(const struct usage *usage, uint32_t column);

/* When hour 'index' of the history began: a date, or "hour 12". */
struct usage_time usage_time_text(const struct usage *usage, uint32_t index);

/* The calendar month in which the 'months'-th month ends, from 1 on, if the first begins at hour
 * 'index'; of histories with dates. What begins on a first day ends each month with it. */
struct usage_month usage_month(const struct usage *usage, uint32_t index, uint32_t months);

/* Takes what was never filled, if it is zeroed. */
void usage_done(struct usage *usage);

#endif
