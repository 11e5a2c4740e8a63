/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_rows.h - the lists of `stint top`, machines and jobs, as rows of cells that can be sorted and filtered.
 *
 * A list is read from the daemon's answer, arranged, and then shown by the terminal (top_screen.c) or printed
 * (verb_top.c): both have the same columns and the same text.
 *
 * Promises:  text is clean (utf8.h) and on one line. Sorting is stable, numbers are compared as numbers and names
 *            with numbers in them by these (st-9 before st-10); what is not known comes last either way. A filter is
 *            one or more words, all of which a row must contain, in any column and in either case.
 * Memory:    the list owns all text until it is read again or done.
 * Costs:     O(rows log rows).
 */
#ifndef STINT_CLI_TOP_ROWS_H
#define STINT_CLI_TOP_ROWS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"

enum top_view { TOP_MACHINES, TOP_JOBS };

enum {
    TOP_VIEWS = 2,
    TOP_COLUMNS_MAX = 11,
    TOP_UNSORTED = -1,
    TOP_BAR = 8,          /* columns of a bar */
    TOP_SHARE_ALL = 1000, /* the key of a bar that is full */
};

enum top_kind {
    TOP_TEXT,
    TOP_NUMBER,
    TOP_SHARE, /* drawn as a bar; its key is a share in thousandths */
};

struct top_column {
    const char *key;     /* of --sort */
    const char *heading; /* for people */
    enum top_kind kind;
    uint32_t keep; /* columns with a lower rank are left out first where the terminal is narrow */
};

/* One list: where it comes from and what it shows. */
struct top_format {
    const char *path; /* of the API */
    const char *key;  /* of the array in the answer */
    const struct top_column *columns;
    uint32_t column_count;
    uint32_t state_column;
};

const struct top_format *top_format(enum top_view view);

/* The column of that key; -1: there is none. */
int top_column(enum top_view view, const char *key);

struct top_cell {
    const char *text; /* of a share: empty */
    int64_t key;      /* of numbers and shares; TOP_UNKNOWN sorts last */
};

#define TOP_UNKNOWN INT64_MIN

struct top_row {
    const struct top_cell
        *cells; /* one for each column; the first is its name for `stint explain` */
};

struct top_list {
    struct arena arena;
    enum top_view view;
    struct top_row *rows;
    uint32_t count;
    int64_t total;   /* that the daemon has; 'count' of them were sent */
    uint32_t *shown; /* rows in the order to show, of those that the filter lets through */
    uint32_t shown_count;
};

struct top_order {
    int column; /* or TOP_UNSORTED: as the daemon has them */
    bool descending;
};

void top_list_init(struct top_list *list, enum top_view view);
void top_list_read(struct top_list *list, const json_t *answer);
void top_list_arrange(struct top_list *list, struct top_order order, const char *filter);
void top_list_done(struct top_list *list);

#endif
