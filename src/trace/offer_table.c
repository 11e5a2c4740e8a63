/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/offer_table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/csv.h"
#include "trace/input_text.h"
#include "trace/number.h"

enum { SHARE_DIGITS = 15, TAIL_DIGITS = 4 };

static const int64_t capacity_max = 1000000;

enum column { TYPE, ZONE, CAPACITY, PRICE, ON_DEMAND, AVAILABILITY, COLUMNS };

/* Our names, and those of the published tables. */
static const struct {
    const char *name;
    const char *published;
    bool is_needed;
} columns[COLUMNS] = {
    [TYPE] = { "type", "VM", true },
    [ZONE] = { "zone", "zone", false },
    [CAPACITY] = { "capacity", "ECU", true },
    [PRICE] = { "price", "AvgSpotPrice", true },
    [ON_DEMAND] = { "on_demand", "OnDemandPrice", false },
    [AVAILABILITY] = { "availability", "Availability", true },
};

struct reader {
    struct csv csv;
    uint32_t column[COLUMNS];
    struct offer_table table;
};

static int find_columns(struct reader *reader, struct error *reterr)
{
    for (int i = 0; i < COLUMNS; i++) {
        reader->column[i] = csv_column(&reader->csv, columns[i].name);
        if (reader->column[i] == CSV_COLUMN_NONE)
            reader->column[i] = csv_column(&reader->csv, columns[i].published);
        if (reader->column[i] == CSV_COLUMN_NONE && columns[i].is_needed)
            return error_set(reterr, -EINVAL, "the header has no column '%s'", columns[i].name);
    }
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
    *ret = names_add(&reader->table.names, field.text, field.length);
    return 0;
}

static int read_money(const struct reader *reader, enum column column, money_t least, money_t *ret,
                      struct error *reterr)
{
    const struct csv_field field = csv_field(&reader->csv, reader->column[column]);

    if (field.length == 0 && !columns[column].is_needed)
        return 0;
    if (number_nearest(field.text, field.length, 6, ret) < 0 || *ret < least || *ret > LIMIT_MONEY)
        return wrong(reader, column, "dollars per hour above 0", reterr);
    return 0;
}

/* How the number was written: digits behind the point, and the last of them. */
static void read_digits(struct csv_field field, struct offer_row *row)
{
    const char *point = memchr(field.text, '.', field.length);
    const char *end = field.text + field.length;

    if (point == NULL)
        return;
    row->digits = (uint32_t)(end - point - 1);
    for (const char *at = end - (row->digits < TAIL_DIGITS ? row->digits : TAIL_DIGITS); at < end;
         at++)
        row->tail = row->tail * 10 + (uint32_t)(*at - '0') % 10;
}

static int read_availability(const struct reader *reader, struct offer_row *row,
                             struct error *reterr)
{
    const struct csv_field field = csv_field(&reader->csv, reader->column[AVAILABILITY]);
    const int64_t one = 1000000000000000; /* 10^SHARE_DIGITS */
    int64_t share = 0;

    if (number_nearest(field.text, field.length, SHARE_DIGITS, &share) < 0 || share < 0 ||
        share > one)
        return wrong(reader, AVAILABILITY, "a share from 0 to 1", reterr);
    row->down = (double)(one - share) / (double)one;
    read_digits(field, row);
    return 0;
}

static int read_row(struct reader *reader, struct error *reterr)
{
    const struct csv_field field = csv_field(&reader->csv, reader->column[CAPACITY]);
    struct offer_row row = { 0 };
    int rc = read_name(reader, TYPE, &row.type, reterr);

    if (rc == 0)
        rc = read_name(reader, ZONE, &row.zone, reterr);
    if (rc == 0 && (number_exact(field.text, field.length, 0, &row.capacity) < 0 ||
                    row.capacity < 1 || row.capacity > capacity_max))
        rc = wrong(reader, CAPACITY, "a whole number of units from 1 to 1000000", reterr);
    if (rc == 0)
        rc = read_money(reader, PRICE, 1, &row.price, reterr);
    if (rc == 0)
        rc = read_money(reader, ON_DEMAND, 1, &row.on_demand, reterr);
    if (rc == 0)
        rc = read_availability(reader, &row, reterr);
    if (rc == 0 && reader->table.count == LIMIT_OFFERS)
        rc = error_set(reterr, -EFBIG, "line %" PRIu32 ": more than %d offers", reader->csv.line,
                       LIMIT_OFFERS);
    if (rc < 0)
        return rc;
    MEM_ROOM(reader->table.rows, reader->table.room, reader->table.count + 1);
    reader->table.rows[reader->table.count++] = row;
    return 0;
}

bool offer_table_looks_like(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);
    const size_t line = end != NULL ? (size_t)(end - text) : length;

    return memmem(text, line, "vailability", 11) != NULL && memchr(text, ',', line) != NULL;
}

int offer_table_read(const char *text, size_t length, struct offer_table *ret, struct error *reterr)
{
    struct reader reader = { 0 };
    int rc = csv_open(&reader.csv, text, length, reterr);

    if (rc < 0)
        return rc;
    names_init(&reader.table.names);
    rc = find_columns(&reader, reterr);
    while (rc == 0 && (rc = csv_next(&reader.csv, reterr)) == 1)
        rc = read_row(&reader, reterr);
    csv_close(&reader.csv);
    if (rc == 0 && reader.table.count == 0)
        rc = error_set(reterr, -EINVAL, "there is no offer in it");
    if (rc < 0)
        offer_table_done(&reader.table);
    else
        *ret = reader.table;
    return rc;
}

void offer_table_done(struct offer_table *table)
{
    if (table->rows != NULL || table->names.text != NULL)
        names_done(&table->names);
    mem_free(table->rows);
    *table = (struct offer_table){ 0 };
}
