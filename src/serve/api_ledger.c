/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was spent, by whom or on what, in a period; as of the instant of the question. What is still open is asked
 * of the controller's ledger, so that the ledger, the status and the metrics agree.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "serve/api_private.h"
#include "serve/ledger_json.h"
#include "serve/live.h"

/* Milliseconds since 1970; false: answered with an error. */
static bool read_time(struct api_call *call, const char *key, msec_t *ret)
{
    const char *text = api_argument(call, key);
    char *end = NULL;

    if (text == NULL)
        return true;
    errno = 0;
    *ret = strtoll(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0)
        return true;
    api_error(call, 400, "%s must be in milliseconds since 1970", key);
    return false;
}

static bool read_query(struct api_call *call, struct store_query *ret)
{
    const char *by = api_argument(call, "by");
    const char *apportion = api_argument(call, "apportion");

    *ret = (struct store_query){ .by = STORE_BY_USER,
                                 .period = STORE_ALWAYS,
                                 .name = api_argument(call, "name") };
    if (by != NULL)
        ret->by = store_by_find(by);
    if (ret->by == STORE_BYS) {
        api_error(call, 400, "by must be %s", store_by_words());
        return false;
    }
    ret->is_apportioned = apportion != NULL && strcmp(apportion, "yes") == 0;
    if (apportion != NULL && !ret->is_apportioned && strcmp(apportion, "no") != 0) {
        api_error(call, 400, "apportion must be yes or no");
        return false;
    }
    return read_time(call, "since", &ret->period.since) &&
           read_time(call, "until", &ret->period.until) && api_limit(call, &ret->most);
}

void api_ledger(struct api_call *call)
{
    struct serve_books books;
    const struct store_live live = serve_live(call->world, &books);
    struct store_query query;
    struct error error;

    if (!read_query(call, &query))
        return;
    query.live = &live;

    json_t *object = ledger_json(call->world->store, &query, call->world->mode, &error);

    if (object == NULL)
        api_error(call, 500, "%s", error.text);
    else
        api_json(call, 200, object);
}
