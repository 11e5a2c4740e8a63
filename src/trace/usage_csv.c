/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows are collected as they come, with rows of zeros where hours are missing, and turned into
 * columns at the end.
 */
#include "trace/usage_csv.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "trace/csv.h"
#include "trace/input_text.h"
#include "trace/number.h"

enum {
    MINUTES_PER_HOUR = 60,
    HOURS_PER_DAY = 24,
    YEAR_LEAST = 1970,
    YEAR_MOST = 2999,
};

static const int64_t hour_number_max = 1000000000;

/* ---- times ---- */

/* Days since 1970-01-01 of a date of our calendar; March begins the year, so that the day that is
 * not always there is the last. */
static int64_t days_of_date(int64_t year, int64_t month, int64_t day)
{
    const int64_t from_march = (month + 9) % 12;
    const int64_t years = year - (month <= 2);
    const int64_t leap_days = years / 4 - years / 100 + years / 400;

    return years * 365 + leap_days + (from_march * 306 + 5) / 10 + day - 1 - 719468;
}

struct date {
    int64_t year;
    int64_t month;
    int64_t day;
};

static struct date date_of_days(int64_t days)
{
    struct date date = { .year = YEAR_LEAST + days / 366 };

    while (days_of_date(date.year + 1, 1, 1) <= days)
        date.year++;
    date.month = 12;
    while (days_of_date(date.year, date.month, 1) > days)
        date.month--;
    date.day = days - days_of_date(date.year, date.month, 1) + 1;
    return date;
}

/* Text that is being taken apart from the left. */
struct cursor {
    const char *at;
    const char *end;
};

/* A number of exactly 'digits' digits; -1: there is none. */
static int64_t take_digits(struct cursor *cursor, int digits)
{
    int64_t value = 0;

    if (cursor->end - cursor->at < digits)
        return -1;
    for (int i = 0; i < digits; i++, cursor->at++) {
        if (*cursor->at < '0' || *cursor->at > '9')
            return -1;
        value = value * 10 + (*cursor->at - '0');
    }
    return value;
}

/* Whether the next character is one of 'any'; it is passed over then. */
static bool take_char(struct cursor *cursor, const char *any)
{
    if (cursor->at == cursor->end || *cursor->at == '\0' || strchr(any, *cursor->at) == NULL)
        return false;
    cursor->at++;
    return true;
}

static bool take_date(struct cursor *cursor, int64_t *ret_days)
{
    static const int64_t month_days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    const int64_t year = take_digits(cursor, 4);

    if (year < YEAR_LEAST || year > YEAR_MOST || !take_char(cursor, "-"))
        return false;

    const int64_t month = take_digits(cursor, 2);

    if (month < 1 || month > 12 || !take_char(cursor, "-"))
        return false;

    const int64_t day = take_digits(cursor, 2);
    const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    if (day < 1 || day > month_days[month - 1] || (month == 2 && day == 29 && !is_leap))
        return false;
    *ret_days = days_of_date(year, month, day);
    return true;
}

/* Behind the hour: nothing, or minutes and seconds that are zero. */
static bool take_zero_rest(struct cursor *cursor)
{
    for (int i = 0; i < 2 && take_char(cursor, ":"); i++) {
        if (take_digits(cursor, 2) != 0)
            return false;
    }
    if (take_char(cursor, ".")) {
        while (take_char(cursor, "0"))
            continue;
    }
    return true;
}

/* Z, +02:00, -0700, +05 or nothing, in minutes. */
static bool take_zone(struct cursor *cursor, int64_t *ret_minutes)
{
    const bool is_behind = cursor->at < cursor->end && *cursor->at == '-';

    *ret_minutes = 0;
    if (cursor->at == cursor->end || take_char(cursor, "Zz"))
        return cursor->at == cursor->end;
    if (!take_char(cursor, "+-"))
        return false;

    const int64_t hours = take_digits(cursor, 2);
    int64_t minutes = 0;

    if (cursor->at < cursor->end) {
        (void)take_char(cursor, ":");
        minutes = take_digits(cursor, 2);
    }
    if (hours < 0 || hours > HOURS_PER_DAY || minutes < 0 || cursor->at != cursor->end)
        return false;
    *ret_minutes = (is_behind ? -1 : 1) * (hours * MINUTES_PER_HOUR + minutes);
    return true;
}

/* Hours since 1970 of a date with an hour. Zones of half an hour begin in the middle of one; what
 * counts is that all do. */
static bool take_time(struct csv_field field, int64_t *ret)
{
    struct cursor cursor = { field.text, field.text + field.length };
    int64_t days = 0;
    int64_t zone = 0;

    if (!take_date(&cursor, &days) || !take_char(&cursor, "Tt "))
        return false;

    const int64_t hour = take_digits(&cursor, 2);

    if (hour < 0 || hour >= HOURS_PER_DAY || !take_zero_rest(&cursor) || !take_zone(&cursor, &zone))
        return false;

    const int64_t minutes = (days * HOURS_PER_DAY + hour) * MINUTES_PER_HOUR - zone;

    if (minutes < 0)
        return false;
    *ret = minutes / MINUTES_PER_HOUR;
    return true;
}

/* ---- rows ---- */

struct reader {
    struct csv csv;
    struct usage usage;
    uint32_t time_column;
    uint32_t *rows; /* 'width' numbers each */
    uint32_t rows_room;
    uint32_t width;
    int64_t next_hour; /* that the next row should have */
};

static int take_columns(struct reader *r, struct error *reterr)
{
    const struct csv *csv = &r->csv;

    r->time_column = csv_column(csv, "hour");
    if (r->time_column == CSV_COLUMN_NONE)
        r->time_column = csv_column(csv, "time");
    if (r->time_column == CSV_COLUMN_NONE)
        return error_set(reterr, -EINVAL,
                         "line %u: there is no column 'hour' or 'time'; the first line must name "
                         "the columns, such as hour,instances",
                         csv->line);
    for (uint32_t i = 0; i < csv->column_count; i++) {
        const struct csv_field name = csv->header[i];
        const char *fault = text_name_fault(name.text, name.length);

        if (fault != NULL)
            return error_set(reterr, -EINVAL, "line %u: the name of column %u %s", csv->line, i + 1,
                             fault);
        if (i == r->time_column)
            continue;
        if (names_find(&r->usage.columns, name.text, name.length) != NAME_NONE)
            return error_set(reterr, -EINVAL, "line %u: the column '%s' is there twice", csv->line,
                             text_excerpt(name.text, name.length).text);
        names_add(&r->usage.columns, name.text, name.length);
    }
    r->width = r->usage.columns.count;
    if (r->width == 0)
        return error_set(reterr, -EINVAL,
                         "line %u: there is no column with machines beside the time; one is "
                         "needed, such as 'instances'",
                         csv->line);
    return 0;
}

static int take_hour(const struct reader *r, bool *ret_is_date, int64_t *ret, struct error *reterr)
{
    const struct csv_field field = csv_field(&r->csv, r->time_column);
    uint64_t number = 0;

    *ret_is_date = take_time(field, ret);
    if (*ret_is_date)
        return 0;
    if (number_id(field.text, field.length, &number) < 0 || number > (uint64_t)hour_number_max)
        return error_set(reterr, -EINVAL,
                         "line %u: the time must be a full hour, such as 2025-03-01T14:00Z, or the "
                         "number of an hour, not '%s'",
                         r->csv.line, text_excerpt(field.text, field.length).text);
    *ret = (int64_t)number;
    return 0;
}

/* The place of 'hour' in the history; what was left out before it becomes rows of zeros. */
static int make_room(struct reader *r, int64_t hour, struct error *reterr)
{
    struct usage *usage = &r->usage;
    const int64_t hours = hour - usage->first_hour + 1;

    if (hour < r->next_hour)
        return error_set(reterr, -EINVAL,
                         "line %u: the hour is not after the one before; rows must be in order and "
                         "each hour there once (local times repeat one in autumn: use UTC)",
                         r->csv.line);
    if (hours > USAGE_HOURS_MAX || hours * r->width > USAGE_CELLS_MAX)
        return error_set(reterr, -E2BIG,
                         "line %u: the history is too long: at most %d hours, and %d hours times "
                         "columns",
                         r->csv.line, USAGE_HOURS_MAX, USAGE_CELLS_MAX);

    const uint32_t used = usage->hours * r->width;
    const uint32_t need = (uint32_t)hours * r->width;

    MEM_ROOM(r->rows, r->rows_room, need);
    memset(r->rows + used, 0, (size_t)(need - used) * sizeof(*r->rows));
    usage->gap_hours += (uint32_t)(hour - r->next_hour);
    usage->hours = (uint32_t)hours;
    r->next_hour = hour + 1;
    return 0;
}

static int take_counts(struct reader *r, uint32_t *ret, struct error *reterr)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < r->csv.column_count; i++) {
        const struct csv_field field = csv_field(&r->csv, i);
        int64_t count = 0;

        if (i == r->time_column)
            continue;
        if (field.length > 0 && (number_exact(field.text, field.length, 0, &count) < 0 ||
                                 count < 0 || count > USAGE_COUNT_MAX))
            return error_set(reterr, -EINVAL,
                             "line %u, '%s': the machines in use must be a whole number from 0 to "
                             "%d, not '%s'",
                             r->csv.line,
                             text_excerpt(r->csv.header[i].text, r->csv.header[i].length).text,
                             USAGE_COUNT_MAX, text_excerpt(field.text, field.length).text);
        ret[at++] = (uint32_t)count;
    }
    return 0;
}

static int take_row(struct reader *r, struct error *reterr)
{
    bool is_date = false;
    int64_t hour = 0;
    int rc = take_hour(r, &is_date, &hour, reterr);

    if (rc < 0)
        return rc;
    if (r->usage.hours == 0) {
        r->usage.has_dates = is_date;
        r->usage.first_hour = hour;
        r->next_hour = hour;
    }
    if (is_date != r->usage.has_dates)
        return error_set(reterr, -EINVAL,
                         "line %u: some rows have dates and some have numbers of hours",
                         r->csv.line);
    rc = make_room(r, hour, reterr);
    if (rc < 0)
        return rc;
    return take_counts(r, r->rows + (size_t)(r->usage.hours - 1) * r->width, reterr);
}

static void turn(struct reader *r)
{
    struct usage *usage = &r->usage;

    usage->counts = mem_alloc((size_t)usage->hours * r->width, sizeof(*usage->counts));
    for (uint32_t row = 0; row < usage->hours; row++) {
        for (uint32_t i = 0; i < r->width; i++)
            usage->counts[(size_t)i * usage->hours + row] = r->rows[(size_t)row * r->width + i];
    }
}

int usage_csv_read(const char *text, size_t length, struct usage *ret, struct error *reterr)
{
    struct reader r = { .rows = NULL };
    int rc = csv_open(&r.csv, text, length, reterr);

    if (rc < 0)
        return rc;
    names_init(&r.usage.columns);
    rc = take_columns(&r, reterr);
    while (rc == 0) {
        rc = csv_next(&r.csv, reterr);
        if (rc <= 0)
            break;
        rc = take_row(&r, reterr);
    }
    if (rc == 0 && r.usage.hours == 0)
        rc = error_set(reterr, -EINVAL, "has no row but the first: there is no hour to learn from");
    if (rc == 0)
        turn(&r);
    csv_close(&r.csv);
    mem_free(r.rows);
    if (rc < 0) {
        usage_done(&r.usage);
        return rc;
    }
    *ret = r.usage;
    return 0;
}

const uint32_t *usage_column(const struct usage *usage, uint32_t column)
{
    assert(column < usage->columns.count);
    return usage->counts + (size_t)column * usage->hours;
}

struct usage_time usage_time_text(const struct usage *usage, uint32_t index)
{
    const int64_t hour = usage->first_hour + index;
    struct usage_time time;

    if (usage->has_dates) {
        const struct date date = date_of_days(hour / HOURS_PER_DAY);

        (void)snprintf(time.text, sizeof(time.text),
                       "%04" PRId64 "-%02" PRId64 "-%02" PRId64 " %02" PRId64 ":00", date.year,
                       date.month, date.day, hour % HOURS_PER_DAY);
    } else {
        (void)snprintf(time.text, sizeof(time.text), "hour %" PRId64, hour);
    }
    return time;
}

struct usage_month usage_month(const struct usage *usage, uint32_t index, uint32_t months)
{
    static const char *const names[] = { "January",   "February", "March",    "April",
                                         "May",       "June",     "July",     "August",
                                         "September", "October",  "November", "December" };
    const int64_t hour = usage->first_hour + index;
    const struct date date = date_of_days(hour / HOURS_PER_DAY);
    const bool is_whole = date.day == 1 && hour % HOURS_PER_DAY == 0;
    const int64_t at = date.year * 12 + date.month - 1 + months - (is_whole ? 1 : 0);
    struct usage_month month;

    assert(usage->has_dates);
    assert(months > 0);
    (void)snprintf(month.digits, sizeof(month.digits), "%04" PRId64 "-%02" PRId64, at / 12,
                   at % 12 + 1);
    (void)snprintf(month.words, sizeof(month.words), "%s %" PRId64, names[at % 12], at / 12);
    return month;
}

void usage_done(struct usage *usage)
{
    mem_free(usage->counts);
    names_done(&usage->columns);
    usage->counts = NULL;
    usage->hours = 0;
}
