/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/csv.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "trace/input_text.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Whether a line ends at 'at': at LF, CRLF, or the end of the text (perhaps behind a CR). */
static bool at_line_end(const struct csv *csv, const char *at)
{
    if (at < csv->end && *at == '\r')
        at++;
    else if (at < csv->end && *at != '\n')
        return false;
    return at == csv->end || *at == '\n';
}

/* Step over the line end at csv->at. */
static void skip_line_end(struct csv *csv)
{
    if (csv->at < csv->end && *csv->at == '\r')
        csv->at++;
    if (csv->at < csv->end)
        csv->at++;
    csv->next_line++;
}

static void skip_blanks(struct csv *csv)
{
    while (csv->at < csv->end && is_blank(*csv->at))
        csv->at++;
}

/* Step over lines that hold nothing but blanks; whether there is a row behind them. */
static bool skip_empty_lines(struct csv *csv)
{
    while (csv->at < csv->end) {
        const char *start = csv->at;

        skip_blanks(csv);
        if (!at_line_end(csv, csv->at)) {
            csv->at = start;
            return true;
        }
        skip_line_end(csv);
    }
    return false;
}

static int take_plain(struct csv *csv, struct csv_field *ret, struct error *reterr)
{
    const char *start = csv->at;
    const char *at = start;

    while (at < csv->end && *at != ',' && *at != '\n') {
        if (*at == '"')
            return error_set(reterr, -EINVAL,
                             "line %u: a quote inside a field: put the whole field in quotes and "
                             "write the quote twice",
                             csv->next_line);
        at++;
    }
    csv->at = at;
    if (at > start && at[-1] == '\r' && at_line_end(csv, at - 1))
        csv->at = --at;
    while (at > start && is_blank(at[-1]))
        at--;
    *ret = (struct csv_field){ start, (size_t)(at - start) };
    return 0;
}

/* A copy of the quoted text in which each "" is one quote. */
static struct csv_field undouble(struct csv *csv, const char *text, size_t length)
{
    char *copy = ARENA_ARRAY(&csv->row_memory, char, length);
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        copy[used++] = text[i];
        if (text[i] == '"')
            i++;
    }
    return (struct csv_field){ copy, used };
}

static int take_quoted(struct csv *csv, struct csv_field *ret, struct error *reterr)
{
    const uint32_t opened = csv->next_line;
    const char *start = csv->at + 1;
    const char *at = start;
    bool doubled = false;

    for (; at < csv->end; at++) {
        if (*at == '\n')
            csv->next_line++;
        if (*at != '"')
            continue;
        if (at + 1 == csv->end || at[1] != '"')
            break;
        doubled = true;
        at++;
    }
    if (at == csv->end)
        return error_set(reterr, -EINVAL, "line %u: a quote is opened and never closed", opened);
    csv->at = at + 1;
    skip_blanks(csv);
    if (csv->at < csv->end && *csv->at != ',' && !at_line_end(csv, csv->at))
        return error_set(reterr, -EINVAL,
                         "line %u: text behind a closing quote: a quote inside a quoted field is "
                         "written twice",
                         csv->next_line);

    const size_t length = (size_t)(at - start);

    *ret = doubled ? undouble(csv, start, length) : (struct csv_field){ start, length };
    return 0;
}

/* The fields of one row, of which there is at least one. */
static int take_row(struct csv *csv, struct error *reterr)
{
    csv->line = csv->next_line;
    csv->field_count = 0;
    arena_reset(&csv->row_memory);
    for (;;) {
        if (csv->field_count == CSV_COLUMNS_MAX)
            return error_set(reterr, -E2BIG, "line %u: has more than %d fields", csv->line,
                             CSV_COLUMNS_MAX);
        MEM_ROOM(csv->fields, csv->fields_room, csv->field_count + 1);
        skip_blanks(csv);

        struct csv_field *field = &csv->fields[csv->field_count];
        const bool quoted = csv->at < csv->end && *csv->at == '"';
        const int rc = quoted ? take_quoted(csv, field, reterr) : take_plain(csv, field, reterr);

        if (rc < 0)
            return rc;
        csv->field_count++;
        if (csv->at == csv->end || *csv->at != ',')
            break;
        csv->at++;
    }
    skip_line_end(csv);
    return 0;
}

/* Make the row that was read the header: its fields and their memory change hands. */
static void keep_as_header(struct csv *csv)
{
    csv->header = csv->fields;
    csv->column_count = csv->field_count;
    csv->header_memory = csv->row_memory;
    csv->fields = NULL;
    csv->fields_room = 0;
    csv->field_count = 0;
    arena_init(&csv->row_memory);
}

int csv_open(struct csv *csv, const char *text, size_t length, struct error *reterr)
{
    static const char mark[] = "\xef\xbb\xbf";
    int rc = text_check_input(text, length, reterr);

    if (rc < 0)
        return rc;

    struct csv fresh = { .at = text, .end = text + length, .next_line = 1 };

    arena_init(&fresh.header_memory);
    arena_init(&fresh.row_memory);
    if (length >= 3 && memcmp(text, mark, 3) == 0)
        fresh.at += 3;
    if (!skip_empty_lines(&fresh))
        rc = error_set(reterr, -EINVAL, "is empty: the first line must name the columns");
    else
        rc = take_row(&fresh, reterr);
    if (rc < 0) {
        csv_close(&fresh);
        return rc;
    }
    keep_as_header(&fresh);
    *csv = fresh;
    return 0;
}

void csv_close(struct csv *csv)
{
    mem_free(csv->header);
    mem_free(csv->fields);
    arena_done(&csv->header_memory);
    arena_done(&csv->row_memory);
    *csv = (struct csv){ 0 };
}

int csv_next(struct csv *csv, struct error *reterr)
{
    if (!skip_empty_lines(csv))
        return 0;

    const int rc = take_row(csv, reterr);

    if (rc < 0)
        return rc;
    if (csv->field_count != csv->column_count)
        return error_set(reterr, -EINVAL, "line %u: has %u fields, but the header names %u",
                         csv->line, csv->field_count, csv->column_count);
    return 1;
}

uint32_t csv_column(const struct csv *csv, const char *name)
{
    const size_t length = strlen(name);

    for (uint32_t i = 0; i < csv->column_count; i++) {
        if (csv->header[i].length == length && memcmp(csv->header[i].text, name, length) == 0)
            return i;
    }
    return CSV_COLUMN_NONE;
}

struct csv_field csv_field(const struct csv *csv, uint32_t column)
{
    if (column == CSV_COLUMN_NONE)
        return (struct csv_field){ "", 0 };
    assert(column < csv->field_count);
    return csv->fields[column];
}
