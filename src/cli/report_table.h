/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_table.h - rows and columns, printed for people (table) or for programs (JSON, CSV).
 *
 * A verb describes its columns once, adds its cells row by row from left to right, and writes the
 * table in the format that the user asked for:
 *
 *     static const struct report_column columns[] = {
 *         { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
 *         { .key = "norm_cost", .heading = "norm. cost", .kind = REPORT_DECIMAL, .digits = 3 },
 *         { .key = "cost", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
 *     };
 *     struct report_table *table = report_table_create("comparison", columns, 3);
 *
 *     report_table_add_text(table, "stratus");
 *     report_table_add_real(table, 0.83);
 *     report_table_add_money(table, 1250 * MONEY_PER_USD);
 *     status = report_table_write(table, format, stdout);
 *
 * Table:      numbers to the right and in groups of three; "-" for what is missing; headings wrap
 *             when the whole would be wider than REPORT_WIDTH. On a terminal that is narrower than the
 *             table the widest texts are cut, and end with "~". Elsewhere they are wrapped to stay within
 *             REPORT_WIDTH, and nothing is cut.
 * JSON:       {"name": ..., the notes, "rows": [{...}]}, keys in column order; null for missing.
 * CSV:        a line of keys, then RFC 4180 but for lines that end in a newline only; a missing
 *             cell is empty, an empty text is "". A text that a spreadsheet would take for a
 *             formula has a single quote in front (csv_text.h); numbers are never changed.
 * Promises:   equal tables give equal bytes, with every compiler and in every locale. A decimal has
 *             'digits' fraction digits in all three formats. Money is dollars: 'digits' in a table,
 *             all six in JSON and CSV, so that a program loses nothing.
 * Memory:     all text is copied; the table owns it until report_table_destroy.
 * Costs:      O(cells).
 */
#ifndef STINT_CLI_REPORT_TABLE_H
#define STINT_CLI_REPORT_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/units.h"

struct error;
struct report_table;

enum { REPORT_WIDTH = 100 }; /* characters that a table tries to stay within */

enum output_format {
    OUTPUT_TABLE,
    OUTPUT_JSON,
    OUTPUT_CSV,
};

enum report_kind {
    REPORT_TEXT,
    REPORT_INTEGER,
    REPORT_DECIMAL, /* a double, or a whole number of units of 10^-digits */
    REPORT_MONEY,
};

enum report_align {
    REPORT_ALIGN_BY_KIND, /* text to the left, numbers to the right */
    REPORT_ALIGN_LEFT,
    REPORT_ALIGN_RIGHT,
};

struct report_column {
    const char *key;     /* for programs: norm_cost */
    const char *heading; /* for people: norm. cost */
    enum report_kind kind;
    uint32_t digits; /* behind the point, of REPORT_DECIMAL (at most 12) and REPORT_MONEY (6) */
    enum report_align align;
};

/* The format called "table", "json" or "csv"; -EINVAL for any other text. */
int output_format_parse(const char *text, enum output_format *ret, struct error *reterr);

/* 'name' says what the rows are, in JSON. */
struct report_table *report_table_create(const char *name, const struct report_column *columns,
                                         uint32_t column_count);
void report_table_destroy(struct report_table *table);

/* The next cell, which must be of its column's kind. */
void report_table_add_missing(struct report_table *table);
void report_table_add_text(struct report_table *table, const char *text); /* NULL: missing */
void report_table_add_rest(struct report_table *table,
                           const char *text); /* see report_table_sort */
void report_table_add_integer(struct report_table *table, int64_t value);
void report_table_add_fixed(struct report_table *table, int64_t value); /* in units of 10^-digits */
void report_table_add_real(struct report_table *table, double value);   /* not finite: missing */
void report_table_add_money(struct report_table *table, money_t value); /* MONEY_UNKNOWN: missing */

/* Something about the whole table, beside its rows in JSON; the other formats leave it out. */
void report_table_note_text(struct report_table *table, const char *key, const char *text);
void report_table_note_integer(struct report_table *table, const char *key, int64_t value);
void report_table_note_real(struct report_table *table, const char *key, double value,
                            uint32_t digits);
void report_table_note_money(struct report_table *table, const char *key, money_t value);

/* Sort the rows by the column of that key; with '-' in front of it, the largest first. Equal rows keep their order, and
 * what is missing comes last; behind all stand the rows that begin with a rest, such as "(others)", in their order. -EINVAL: there is no such column. */
int report_table_sort(struct report_table *table, const char *key, struct error *reterr);

/* Every table that is written from now on, in this process, has its rows sorted so, if it has that column. 'key' is kept. */
void report_table_sort_all(const char *key);

/* -EINVAL: tables were written, and none of them had the column of report_table_sort_all. */
int report_table_check_sort(struct error *reterr);

/* Whether headings of tables are bold from now on, in this process; they are not before. */
void report_table_colour(bool is_coloured);

/*
 * Tables as cells, for a program that renders them in another form (answer_report.h). A line for the headings, and one for each
 * row; each begins with its mark, and REPORT_NEXT stands between cells, which never have such characters. The heading of a
 * column of numbers begins with REPORT_NUMBER. Behind a number as people read it stand REPORT_NUMBER and its plain digits.
 */
#define REPORT_HEAD   '\x1e'
#define REPORT_ROW    '\x1d'
#define REPORT_NUMBER '\x1c'
#define REPORT_NEXT   '\x1f'

/* Whether tables are written so from now on, in this process; they are not before. */
void report_table_as_cells(bool as_cells);

/* Whether each row of a table is one whole line from now on, in this process, however long; it is not before. */
void report_table_wide(bool wide);

/* Print all rows, which must be whole, and flush. A negative errno when 'out' fails. */
int report_table_write(const struct report_table *table, enum output_format format, FILE *out);

#endif
