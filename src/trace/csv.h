/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - a table with a header, read row by row from memory (RFC 4180).
 *
 * Fields are parted by commas and may stand in quotes, where "" is a quote and commas and line ends
 * are text. Lines end in LF or CRLF; lines without text are passed over; a UTF-8 byte order mark at
 * the start is too. Blanks around a field count only inside quotes. Every row has as many fields as
 * the header.
 *
 * Words:     a column is a field's place in the header, from 0.
 * Promises:  a field is a view of the input, or, where "" had to be undone, of memory of the reader;
 *            it is valid until the next row is read, a field of the header until csv_close.
 * Bounds:    O(bytes); at most CSV_COLUMNS_MAX columns and LIMIT_FILE_BYTES bytes.
 */
#ifndef STINT_TRACE_CSV_H
#define STINT_TRACE_CSV_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

#define CSV_COLUMN_NONE UINT32_MAX

enum { CSV_COLUMNS_MAX = 8192 };

struct csv_field {
    const char *text; /* no zero behind it */
    size_t length;
};

struct csv {
    const char *at; /* what is still to be read */
    const char *end;
    uint32_t line;      /* of the row that was read last, from 1 */
    uint32_t next_line; /* of 'at' */
    uint32_t column_count;
    uint32_t field_count; /* of the row that was read last */
    uint32_t fields_room;
    struct csv_field *header;
    struct csv_field *fields;
    struct arena header_memory;
    struct arena row_memory;
};

/* Read the header. 'text' is borrowed until csv_close. On failure there is nothing to close. */
int csv_open(struct csv *csv, const char *text, size_t length, struct error *reterr);

void csv_close(struct csv *csv);

/* Read the next row: 1, it is there; 0, there are no more; or a failure. */
int csv_next(struct csv *csv, struct error *reterr);

/* The first column of that name, or CSV_COLUMN_NONE. */
uint32_t csv_column(const struct csv *csv, const char *name);

/* The field of the row that was read last; an empty one for CSV_COLUMN_NONE. */
struct csv_field csv_field(const struct csv *csv, uint32_t column);

#endif
