/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was spent since some time, in even steps and by market, and by whom: what reports are made of.
 */
#include <math.h>
#include <stdlib.h>

#include "serve/history.h"
#include "store/store_history.h"

static json_t *markets_json(const struct history *history)
{
    json_t *object = json_object();

    for (enum market market = 0; market < MARKET_COUNT; market++)
        api_set_number(object, market_name(market), history->spent[market]);
    return object;
}

static json_t *step_json(const struct history *history, uint32_t index)
{
    const struct history_step *step = &history->steps[index];
    const msec_t length = (history->until - history->since) / HISTORY_STEPS;
    json_t *spent = json_object();
    json_t *object = json_object();

    for (enum market market = 0; market < MARKET_COUNT; market++)
        api_set_number(spent, market_name(market), llround(step->spent[market]));
    api_set_number(object, "at", history->since + index * length);
    json_object_set_new(object, "spent_microdollars", spent);
    api_set_number(object, "machines_milli", llround(step->machines * 1000));
    json_object_set_new(object, "bound_microdollars_per_hour",
                        isfinite(step->least) ? json_integer(llround(step->least)) : json_null());
    return object;
}

static void add_user(void *context, const struct store_ledger_row *row)
{
    json_t *object = json_object();

    api_set_text(object, "name", row->name);
    api_set_number(object, "cost_microdollars", row->cost);
    api_set_number(object, "alone_cost_microdollars", row->alone_cost);
    api_set_number(object, "ms", row->ms);
    api_set_number(object, "count", (int64_t)row->count);
    json_array_append_new(context, object);
}

/* Milliseconds since 1970, up to now; -1: it is none. */
static msec_t parse_time(const char *text, msec_t now)
{
    msec_t at = 0;

    if (text[0] == '\0')
        return -1;
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || at > now)
            return -1;
        at = at * 10 + (*text - '0');
    }
    return at <= now ? at : -1;
}

void api_history(struct api_call *call)
{
    const char *text = api_argument(call, "since");
    const msec_t since =
        text != NULL ? parse_time(text, call->now) : call->now - 24 * MSEC_PER_HOUR;
    struct error error = { "" };
    struct history history;
    uint32_t limit = 0;

    if (since < 0) {
        api_error(call, 400, "since must be a time up to now, in milliseconds since 1970");
        return;
    }
    if (!api_limit(call, &limit))
        return;

    json_t *users = json_array();
    json_t *steps = json_array();
    json_t *object = json_object();

    json_object_set_new(object, "users", users);
    json_object_set_new(object, "steps", steps);
    if (history_read(call, since, &history, &error) < 0 ||
        store_each_user(call->world->store, since, limit, add_user, users, &error) < 0) {
        json_decref(object);
        api_error(call, 500, "%s", error.text);
        return;
    }
    for (uint32_t i = 0; i < HISTORY_STEPS; i++)
        json_array_append_new(steps, step_json(&history, i));
    api_set_number(object, "now", call->now);
    api_set_number(object, "since", history.since);
    api_set_number(object, "step_ms", (history.until - history.since) / HISTORY_STEPS);
    json_object_set_new(object, "spent_microdollars", markets_json(&history));
    api_set_number(object, "machines", history.machines);
    api_set_number(object, "boot_ms", history.boot_ms);
    api_set_number(object, "idle_ms", history.idle_ms);
    api_set_number(object, "work_ms", history.work_ms);
    api_set_bool(object, "complete", history.is_whole);
    api_json(call, 200, object);
}
