/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows are collected as they come, each with its offer, then sorted by offer, time and line, so that
 * each offer's changes are one piece of one array.
 */
#include "trace/price_history.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/csv.h"
#include "trace/input_text.h"
#include "trace/number.h"

enum column { TIME, TYPE, ZONE, PRICE, AVAILABLE, COLUMNS };

static const struct {
    const char *name;
    const char *other;
    bool is_needed;
} columns[COLUMNS] = {
    [TIME] = { "time", "unix_time", true },
    [TYPE] = { "type", "instance_type", true },
    [ZONE] = { "zone", "az", false },
    [PRICE] = { "price", "spot_price", false },
    [AVAILABLE] = { "available", "available", false },
};

struct row {
    uint32_t offer;
    uint32_t line;
    struct price_change change;
};

struct reader {
    struct csv csv;
    uint32_t column[COLUMNS];
    struct price_history history;
    uint32_t offers_room;
    struct row *rows;
    uint32_t row_count;
    uint32_t rows_room;
};

static int by_offer_and_time(const void *left, const void *right)
{
    const struct row *a = left;
    const struct row *b = right;

    if (a->offer != b->offer)
        return a->offer < b->offer ? -1 : 1;
    if (a->change.at != b->change.at)
        return a->change.at < b->change.at ? -1 : 1;
    return a->line < b->line ? -1 : 1;
}

static int find_columns(struct reader *reader, struct error *reterr)
{
    for (int i = 0; i < COLUMNS; i++) {
        reader->column[i] = csv_column(&reader->csv, columns[i].name);
        if (reader->column[i] == CSV_COLUMN_NONE)
            reader->column[i] = csv_column(&reader->csv, columns[i].other);
        if (reader->column[i] == CSV_COLUMN_NONE && columns[i].is_needed)
            return error_set(reterr, -EINVAL, "the header has no column '%s'", columns[i].name);
    }
    if (reader->column[PRICE] == CSV_COLUMN_NONE && reader->column[AVAILABLE] == CSV_COLUMN_NONE)
        return error_set(reterr, -EINVAL, "the header has neither 'price' nor 'available'");
    return 0;
}

static int wrong(const struct reader *reader, enum column column, const char *right,
                 struct error *reterr)
{
    const struct csv_field field = csv_field(&reader->csv, reader->column[column]);

    return error_set(reterr, -EINVAL, "line %" PRIu32 ": '%s' must be %s, not '%s'",
                     reader->csv.line, columns[column].name, right,
                     text_excerpt(field.text, field.length).text);
}

static int read_name(struct reader *reader, enum column column, uint32_t *ret, struct error *reterr)
{
    const struct csv_field field = csv_field(&reader->csv, reader->column[column]);

    if (field.length == 0 && !columns[column].is_needed) {
        *ret = NAME_NONE;
        return 0;
    }
    if (text_name_fault(field.text, field.length) != NULL)
        return wrong(reader, column, "a name", reterr);
    *ret = names_add(&reader->history.names, field.text, field.length);
    return 0;
}

/* Rows of one offer tend to follow each other, so look from the end. */
static int read_offer(struct reader *reader, uint32_t *ret, struct error *reterr)
{
    struct price_history *history = &reader->history;
    struct price_history_offer offer = { 0 };
    int rc = read_name(reader, TYPE, &offer.type, reterr);

    if (rc == 0)
        rc = read_name(reader, ZONE, &offer.zone, reterr);
    if (rc < 0)
        return rc;
    for (uint32_t i = history->offer_count; i > 0; i--) {
        if (history->offers[i - 1].type == offer.type &&
            history->offers[i - 1].zone == offer.zone) {
            *ret = i - 1;
            return 0;
        }
    }
    if (history->offer_count == PRICE_HISTORY_OFFERS_MAX)
        return error_set(reterr, -EFBIG, "line %" PRIu32 ": more than %d offers", reader->csv.line,
                         PRICE_HISTORY_OFFERS_MAX);
    MEM_ROOM(history->offers, reader->offers_room, history->offer_count + 1);
    history->offers[history->offer_count] = offer;
    *ret = history->offer_count++;
    return 0;
}

static int read_change(const struct reader *reader, struct price_change *ret, struct error *reterr)
{
    const struct csv_field time = csv_field(&reader->csv, reader->column[TIME]);
    const struct csv_field price = csv_field(&reader->csv, reader->column[PRICE]);
    const struct csv_field available = csv_field(&reader->csv, reader->column[AVAILABLE]);
    int64_t machines = 1;

    if (number_nearest(time.text, time.length, 3, &ret->at) < 0 || ret->at < 0 ||
        ret->at > LIMIT_TIME_MS)
        return wrong(reader, TIME, "seconds since any beginning", reterr);
    if (price.length > 0 && (number_nearest(price.text, price.length, 6, &ret->per_hour) < 0 ||
                             ret->per_hour < 1 || ret->per_hour > LIMIT_MONEY))
        return wrong(reader, PRICE, "dollars per hour above 0", reterr);
    if (available.length > 0 &&
        (number_exact(available.text, available.length, 0, &machines) < 0 || machines < 0))
        return wrong(reader, AVAILABLE, "a whole number of machines", reterr);
    if (machines == 0)
        ret->per_hour = MONEY_UNKNOWN;
    return 0;
}

static int read_row(struct reader *reader, struct error *reterr)
{
    struct row row = { .line = reader->csv.line };
    int rc = read_offer(reader, &row.offer, reterr);

    if (rc == 0)
        rc = read_change(reader, &row.change, reterr);
    if (rc == 0 && reader->row_count == LIMIT_PRICE_POINTS)
        rc = error_set(reterr, -EFBIG, "line %" PRIu32 ": more than %d rows", reader->csv.line,
                       LIMIT_PRICE_POINTS);
    if (rc < 0)
        return rc;
    MEM_ROOM(reader->rows, reader->rows_room, reader->row_count + 1);
    reader->rows[reader->row_count++] = row;
    return 0;
}

/* Sort, and hand each offer its piece. */
static void settle(struct reader *reader)
{
    struct price_history *history = &reader->history;

    qsort(reader->rows, reader->row_count, sizeof(*reader->rows), by_offer_and_time);
    history->changes = mem_alloc(reader->row_count, sizeof(*history->changes));
    history->change_count = reader->row_count;
    history->first = reader->rows[0].change.at;
    history->last = history->first;
    for (uint32_t i = 0; i < reader->row_count; i++) {
        const struct row *row = &reader->rows[i];
        struct price_series *series = &history->offers[row->offer].series;

        history->changes[i] = row->change;
        if (series->count++ == 0)
            series->changes = &history->changes[i];
        history->first = row->change.at < history->first ? row->change.at : history->first;
        history->last = row->change.at > history->last ? row->change.at : history->last;
    }
}

int price_history_read(const char *text, size_t length, struct price_history *ret,
                       struct error *reterr)
{
    struct reader reader = { 0 };
    int rc = csv_open(&reader.csv, text, length, reterr);

    if (rc < 0)
        return rc;
    names_init(&reader.history.names);
    rc = find_columns(&reader, reterr);
    while (rc == 0 && (rc = csv_next(&reader.csv, reterr)) == 1)
        rc = read_row(&reader, reterr);
    csv_close(&reader.csv);
    if (rc == 0 && reader.row_count == 0)
        rc = error_set(reterr, -EINVAL, "there is no change in it");
    if (rc == 0) {
        settle(&reader);
        *ret = reader.history;
    } else {
        names_done(&reader.history.names);
        mem_free(reader.history.offers);
    }
    mem_free(reader.rows);
    return rc;
}

static bool is_called(const struct price_history *history, uint32_t name, const char *text)
{
    if (name == NAME_NONE || text == NULL)
        return name == NAME_NONE && text == NULL;
    return strcmp(names_text(&history->names, name), text) == 0;
}

uint32_t price_history_find(const struct price_history *history, const char *type, const char *zone)
{
    for (uint32_t i = 0; i < history->offer_count; i++) {
        if (is_called(history, history->offers[i].type, type) &&
            is_called(history, history->offers[i].zone, zone))
            return i;
    }
    return UINT32_MAX;
}

void price_history_done(struct price_history *history)
{
    if (history->changes != NULL)
        names_done(&history->names);
    mem_free(history->offers);
    mem_free(history->changes);
    *history = (struct price_history){ 0 };
}
