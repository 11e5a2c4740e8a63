/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/live.h"

static bool live_account(void *context, uint64_t instance, struct ledger_account *ret)
{
    const struct serve_books *books = context;
    const struct controller *controller = books->world->controller;
    const uint32_t row = view_find_instance(controller_view(controller), instance);

    return row != ROW_NONE &&
           ledger_account_at(controller_ledger(controller), row, books->now, ret);
}

static bool live_owed(void *context, uint64_t task, struct ledger_due *ret)
{
    const struct serve_books *books = context;
    const struct controller *controller = books->world->controller;
    const uint32_t row = view_find_task(controller_view(controller), task);

    if (row != ROW_NONE)
        *ret = ledger_due_at(controller_ledger(controller), row, books->now);
    return row != ROW_NONE;
}

struct store_live serve_live(const struct serve_world *world, struct serve_books *books)
{
    *books = (struct serve_books){ .world = world, .now = world->now(world->context) };
    return (struct store_live){ books, live_account, live_owed };
}

int serve_totals(const struct serve_world *world, struct store_totals *ret, struct error *reterr)
{
    struct serve_books books;
    const struct store_live live = serve_live(world, &books);

    return store_totals_live(world->store, &live, ret, reterr);
}
