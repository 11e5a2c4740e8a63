/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/operator.h"
#include "draw/digits.h"
#include "draw/utf8.h"

static const struct top_column machine_columns[] = {
    { "machine", "machine", TOP_TEXT, 9 }, { "type", "type", TOP_TEXT, 7 },
    { "market", "market", TOP_TEXT, 3 },   { "state", "state", TOP_TEXT, 8 },
    { "age", "age", TOP_NUMBER, 4 },       { "load", "CPU", TOP_SHARE, 6 },
    { "cpu", "%", TOP_NUMBER, 5 },         { "mem", "mem %", TOP_NUMBER, 2 },
    { "tasks", "tasks", TOP_NUMBER, 2 },   { "per_hour", "$/h", TOP_NUMBER, 6 },
    { "bill", "bill $", TOP_NUMBER, 1 },
};

static const struct top_column job_columns[] = {
    { "job", "job", TOP_TEXT, 9 },       { "user", "user", TOP_TEXT, 7 },
    { "name", "name", TOP_TEXT, 5 },     { "state", "state", TOP_TEXT, 8 },
    { "age", "age", TOP_NUMBER, 4 },     { "ran", "ran", TOP_NUMBER, 3 },
    { "expected", "of", TOP_NUMBER, 2 }, { "tasks", "tasks", TOP_NUMBER, 1 },
    { "machine", "on", TOP_TEXT, 6 },    { "cost", "cost $", TOP_NUMBER, 6 },
};

static const struct top_format formats[TOP_VIEWS] = {
    [TOP_MACHINES] = { "/v1/instances", "instances", machine_columns,
                       sizeof(machine_columns) / sizeof(machine_columns[0]), 3 },
    [TOP_JOBS] = { "/v1/jobs", "jobs", job_columns, sizeof(job_columns) / sizeof(job_columns[0]),
                   3 },
};

const struct top_format *top_format(enum top_view view)
{
    return &formats[view];
}

int top_column(enum top_view view, const char *key)
{
    for (uint32_t i = 0; i < formats[view].column_count; i++) {
        if (strcmp(formats[view].columns[i].key, key) == 0)
            return (int)i;
    }
    return -1;
}

/* ---- reading ---- */

/* The row that is being filled, from left to right. */
struct filling {
    struct arena *arena;
    struct top_cell *next;
};

static void put(struct filling *row, const char *text, int64_t key)
{
    char *clean;
    const char *from = utf8_clean(row->arena, text);

    clean = ARENA_ARRAY(row->arena, char, strlen(from) + 1);
    for (size_t i = 0; from[i] != 0; i++)
        clean[i] = from[i];
    for (char *at = clean; (at = strpbrk(at, "\t\n\r")) != NULL;)
        *at = ' ';
    *row->next++ = (struct top_cell){ clean, key };
}

static void put_text(struct filling *row, const char *text)
{
    put(row, text, 0);
}

static void put_count(struct filling *row, int64_t count)
{
    put(row, digits_of_fixed(count, 0, 0, DIGITS_GROUPED).text, count);
}

static void put_span(struct filling *row, msec_t span)
{
    put(row, span_words(span).text, span >= 0 ? span : TOP_UNKNOWN);
}

static void put_money(struct filling *row, money_t money, uint32_t digits)
{
    if (money == MONEY_UNKNOWN)
        put(row, "-", TOP_UNKNOWN);
    else
        put(row, digits_of_fixed(money, 6, digits, DIGITS_GROUPED).text, money);
}

/* How much of its 'kind' a machine's tasks have; below 0: not known. */
static double share_of(const json_t *machine, const char *kind)
{
    const int64_t used = field_integer(json_object_get(machine, "used"), kind, 0);
    const int64_t whole = field_integer(json_object_get(machine, "capacity"), kind, 0);

    return whole > 0 && used >= 0 ? (double)used / (double)whole : -1;
}

static int64_t share_key(double share)
{
    return share < 0 ? TOP_UNKNOWN : (int64_t)(share * TOP_SHARE_ALL + 0.5);
}

static void put_percent(struct filling *row, double share)
{
    put(row, share < 0 ? "-" : digits_of_real(share * 100, 0, DIGITS_GROUPED).text,
        share_key(share));
}

static void read_machine(struct filling *row, const json_t *machine, msec_t now)
{
    put_text(row, field_word(machine, "instance"));
    put_text(row, field_word(machine, "type"));
    put_text(row, field_word(machine, "market"));
    put_text(row, field_word(machine, "state"));
    put_span(row, now - field_integer(machine, "rented_at", now));
    put(row, "", share_key(share_of(machine, "cpu_milli")));
    put_percent(row, share_of(machine, "cpu_milli"));
    put_percent(row, share_of(machine, "mem_mib"));
    put_count(row, field_integer(machine, "task_count", 0));
    put_money(row, field_money(machine, "price_microdollars_per_hour"), 3);
    put_money(row, field_money(machine, "bill_microdollars"), 4);
}

static void read_job(struct filling *row, const json_t *job, msec_t now)
{
    const json_t *on = json_object_get(job, "instances");
    const char *first = json_string_value(json_array_get(on, 0));
    char where[128];

    if (json_array_size(on) > 1)
        (void)snprintf(where, sizeof(where), "%.100s + %zu", first != NULL ? first : "",
                       json_array_size(on) - 1);
    else
        (void)snprintf(where, sizeof(where), "%.100s", first != NULL ? first : "-");
    put_text(row, field_word(job, "job"));
    put_text(row, field_word(job, "user"));
    put_text(row, field_word(job, "name"));
    put_text(row, field_word(job, "state"));
    put_span(row, now - field_integer(job, "arrived_at", now));
    put_span(row, field_integer(job, "executed_ms", -1));
    put_span(row, field_integer(job, "estimate_ms", -1));
    put_count(row, field_integer(job, "tasks", 0));
    put_text(row, where);
    put_money(row, field_money(job, "cost_microdollars"), 4);
}

void top_list_init(struct top_list *list, enum top_view view)
{
    *list = (struct top_list){ .view = view };
    arena_init(&list->arena);
}

void top_list_read(struct top_list *list, const json_t *answer)
{
    const struct top_format *format = top_format(list->view);
    const json_t *items = json_object_get(answer, format->key);
    const msec_t now = field_integer(answer, "now", 0);
    const size_t count = json_array_size(items);
    const json_t *item;
    size_t i;

    arena_reset(&list->arena);
    list->count = (uint32_t)count;
    list->total = field_integer(answer, "total", (int64_t)count);
    list->rows = ARENA_ARRAY(&list->arena, struct top_row, count + 1);
    list->shown = ARENA_ARRAY(&list->arena, uint32_t, count + 1);
    list->shown_count = 0;
    json_array_foreach(items, i, item)
    {
        struct top_cell *cells = ARENA_ARRAY(&list->arena, struct top_cell, format->column_count);
        struct filling row = { &list->arena, cells };

        if (list->view == TOP_MACHINES)
            read_machine(&row, item, now);
        else
            read_job(&row, item, now);
        list->rows[i].cells = cells;
    }
}

void top_list_done(struct top_list *list)
{
    arena_done(&list->arena);
}

/* ---- arranging ---- */

/* Whether a cell of the row contains the word. */
static bool has_word(const struct top_row *row, uint32_t columns, const char *word)
{
    for (uint32_t i = 0; i < columns; i++) {
        if (strcasestr(row->cells[i].text, word) != NULL)
            return true;
    }
    return false;
}

static bool passes(const struct top_row *row, uint32_t columns, const char *filter)
{
    char word[128];

    for (;;) {
        filter += strspn(filter, " ");

        const size_t length = strcspn(filter, " ");

        if (length == 0)
            return true;
        (void)snprintf(word, sizeof(word), "%.*s", (int)length, filter);
        if (!has_word(row, columns, word))
            return false;
        filter += length;
    }
}

struct sorting {
    const struct top_list *list;
    uint32_t column;
    bool is_number;
    bool descending;
};

static int compare_rows(const void *left, const void *right, void *context)
{
    const struct sorting *sorting = context;
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    const struct top_cell *x = &sorting->list->rows[a].cells[sorting->column];
    const struct top_cell *y = &sorting->list->rows[b].cells[sorting->column];
    int order;

    if (!sorting->is_number)
        order = strverscmp(x->text, y->text);
    else if ((x->key == TOP_UNKNOWN) != (y->key == TOP_UNKNOWN))
        return x->key == TOP_UNKNOWN ? 1 : -1;
    else
        order = (x->key > y->key) - (x->key < y->key);
    if (order != 0)
        return sorting->descending ? -order : order;
    return (a > b) - (a < b);
}

void top_list_arrange(struct top_list *list, struct top_order order, const char *filter)
{
    const struct top_format *format = top_format(list->view);

    list->shown_count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (passes(&list->rows[i], format->column_count, filter))
            list->shown[list->shown_count++] = i;
    }
    if (order.column == TOP_UNSORTED)
        return;

    struct sorting sorting = {
        .list = list,
        .column = (uint32_t)order.column,
        .is_number = format->columns[order.column].kind != TOP_TEXT,
        .descending = order.descending,
    };

    qsort_r(list->shown, list->shown_count, sizeof(*list->shown), compare_rows, &sorting);
}
