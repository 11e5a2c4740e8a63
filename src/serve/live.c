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

static const char *name_of(const struct names *names, uint32_t number)
{
    return names != NULL && number < names->count ? names_text(names, number) : NULL;
}

static struct store_payer payer_of(const struct serve_books *books, uint32_t task, char *label,
                                   size_t size)
{
    const struct serve_world *world = books->world;
    const struct view *view = controller_view(world->controller);
    const uint32_t job = view->task.job[task];
    struct store_payer payer = {
        .task = view->task.id[task],
        .job = label,
        .job_name = name_of(world->job_names, view->job.name[job]),
        .user = name_of(world->users, view->job.user[job]),
        .to = books->now,
        .is_open = true,
    };

    serve_job_text(world, view->job.id[job], label, size);
    if (world->payer != NULL)
        world->payer(world->context, payer.task, &payer);
    return payer;
}

static void live_each_new(void *context, bool (*is_new)(const void *to, uint64_t task),
                          void (*each)(void *to, const struct store_payer *payer), void *to)
{
    const struct serve_books *books = context;
    const struct ledger *ledger = controller_ledger(books->world->controller);
    const struct view *view = controller_view(books->world->controller);

    INSTANCE_EACH(instance, view)
    {
        TASK_EACH(task, view, view->instance.first_task[instance])
        {
            char label[SERVE_TEXT];

            if (!is_new(to, view->task.id[task]))
                continue;
            const struct ledger_due due = ledger_due_at(ledger, task, books->now);

            if (due.cost == 0 && due.occupied_ms == 0)
                continue;
            struct store_payer payer = payer_of(books, task, label, sizeof(label));

            payer.cost = due.cost;
            payer.occupied_ms = due.occupied_ms;
            payer.from = payer.to - due.occupied_ms;
            each(to, &payer);
        }
    }
}

/* The charges beyond the booked amounts. */
static money_t live_committed(void *context)
{
    const struct serve_books *books = context;
    const struct controller *controller = books->world->controller;
    const struct view *view = controller_view(controller);
    money_t sum = 0;

    INSTANCE_EACH(instance, view)
    {
        struct ledger_account account = { 0 };
        const money_t charge = view_charge_now(view, instance, books->now).cost;

        (void)ledger_account_at(controller_ledger(controller), instance, books->now, &account);
        if (charge > account.sums.bill)
            sum += charge - account.sums.bill;
    }
    return sum;
}

struct store_live serve_live(const struct serve_world *world, struct serve_books *books)
{
    *books = (struct serve_books){ .world = world, .now = world->now(world->context) };
    return (struct store_live){ books, live_account, live_owed, live_each_new, live_committed };
}

int serve_totals(const struct serve_world *world, struct store_totals *ret, struct error *reterr)
{
    struct serve_books books;
    const struct store_live live = serve_live(world, &books);

    return store_totals_live(world->store, &live, ret, reterr);
}
