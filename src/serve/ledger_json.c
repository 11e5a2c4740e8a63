/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/ledger_json.h"

#include <stdlib.h>
#include <string.h>

static void set_number(json_t *object, const char *key, int64_t value)
{
    json_object_set_new(object, key, json_integer(value));
}

/* Names come from outside: what is no UTF-8 loses what is not ASCII. */
static void set_text(json_t *object, const char *key, const char *text)
{
    json_t *value = text != NULL ? json_string(text) : json_null();
    char *plain = value == NULL && text != NULL ? strdup(text) : NULL;

    for (char *at = plain; at != NULL && *at != '\0'; at++) {
        if ((unsigned char)*at >= 0x80)
            *at = '?';
    }
    json_object_set_new(object, key, plain != NULL ? json_string(plain) : value);
    free(plain);
}

struct ledger_rows {
    json_t *rows;
    bool with_alone; /* else it is not known */
    bool cut;
};

static void add_row(void *context, const struct store_ledger_row *row)
{
    struct ledger_rows *to = context;
    json_t *object = json_object();

    set_text(object, "name", row->name);
    if (row->user != NULL)
        set_text(object, "user", row->user);
    if (row->job_name != NULL)
        set_text(object, "job_name", row->job_name);
    set_number(object, "cost_microdollars", row->cost);
    set_number(object, "overhead_microdollars", row->overhead);
    json_object_set_new(object, "alone_cost_microdollars",
                        to->with_alone ? json_integer(row->alone_cost) : json_null());
    set_number(object, "ms", row->ms);
    set_number(object, "count", (int64_t)row->count);
    json_array_append_new(to->rows, object);
    to->cut = to->cut || strcmp(row->name, "(others)") == 0;
}

static json_t *totals_json(const struct store_totals *totals)
{
    json_t *object = json_object();

    set_number(object, "bill_microdollars", totals->bill);
    set_number(object, "boot_microdollars", totals->boot);
    set_number(object, "idle_microdollars", totals->idle);
    set_number(object, "work_microdollars", totals->work);
    set_number(object, "settled_microdollars", totals->settled);
    set_number(object, "owed_microdollars", totals->owed);
    set_number(object, "alone_microdollars", totals->alone);
    set_number(object, "committed_microdollars", totals->committed);
    set_number(object, "savings_microdollars", store_savings(totals));
    set_text(object, "savings_baseline", STORE_BASELINE);
    set_number(object, "boot_ms", totals->boot_ms);
    set_number(object, "idle_ms", totals->idle_ms);
    set_number(object, "work_ms", totals->work_ms);
    set_number(object, "instances", (int64_t)totals->instances);
    set_number(object, "tasks", (int64_t)totals->tasks);
    return object;
}

json_t *ledger_json(struct store *store, const struct store_query *query, const char *mode,
                    struct error *reterr)
{
    struct ledger_rows to = { .rows = json_array(), .with_alone = store_by_payer(query->by) };
    struct store_totals totals;

    if (store_report(store, query, add_row, &to, &totals, reterr) < 0) {
        json_decref(to.rows);
        return NULL;
    }

    json_t *object = json_object();

    set_text(object, "by", store_by_word(query->by));
    set_text(object, "mode", mode);
    json_object_set_new(object, "rows", to.rows);
    json_object_set_new(object, "total", totals_json(&totals));
    json_object_set_new(object, "complete", json_boolean(!to.cut));
    return object;
}
