/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger's accounts, as what happens to machines and tasks opens, cuts and closes them.
 */
#include "control/books/books.h"

/* The share of the machine that the task's part of the bill goes by. */
static uint32_t weight_ppm(const struct view *view, uint32_t task, uint32_t instance)
{
    const double share =
        res_dominant_share(view_taken(view, task, instance), view_capacity(view, instance));

    return (uint32_t)(share * 1e6);
}

void books_ready(struct books *books, uint32_t instance, msec_t at)
{
    if (!books->state->instance_notes[instance].is_uncaught)
        (void)ledger_ready(books->ledger, instance, at);
}

bool books_was_ready(const struct books *books, uint64_t instance)
{
    const struct controller_config *config = &books->state->config;
    struct ledger_account account;

    return config->resume_account != NULL &&
           config->resume_account(config->context, instance, &account) && account.is_ready;
}

void books_enter(struct books *books, uint32_t instance, uint32_t task, msec_t at)
{
    if (books->state->instance_notes[instance].is_uncaught)
        return;
    losses_run_begins(books, task, at);
    (void)ledger_enter(books->ledger, instance, task,
                       weight_ppm(&books->state->view, task, instance), at);
}

void books_ran(struct books *books, uint32_t instance, uint32_t task, msec_t from)
{
    (void)ledger_ready(books->ledger, instance, from);
    (void)ledger_enter(books->ledger, instance, task,
                       weight_ppm(&books->state->view, task, instance), from);
}

void books_leave(struct books *books, uint32_t instance, uint32_t task, msec_t at)
{
    (void)ledger_leave(books->ledger, instance, task, at);
    losses_run_ends(books, instance, task, at);
}

/* The account is opened only now, though the machine works already: its tasks pay from when they
 * were launched, and what was before is boot. */
void books_catch_up(struct books *books, uint32_t instance)
{
    const struct view *view = &books->state->view;
    msec_t ready = view->now;

    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->task.state[task] == TASK_RUNNING && view->task.launched_at[task] < ready)
            ready = view->task.launched_at[task];
    }
    (void)ledger_ready(books->ledger, instance, ready);
    TASK_EACH(task, view, view->instance.first_task[instance])
    {
        if (view->task.state[task] == TASK_RUNNING)
            (void)ledger_enter(books->ledger, instance, task, weight_ppm(view, task, instance),
                               view->task.launched_at[task]);
    }
}

/* False: it is open already. */
static bool open_account(struct books *books, uint32_t instance, msec_t billed_from)
{
    const struct controller_config *config = &books->state->config;
    const struct view *view = &books->state->view;
    const struct offer *offer = &view->catalogue->offers[view->instance.offer[instance]];
    struct ledger_account account;

    if (ledger_is_open(books->ledger, instance))
        return false;
    if (config->resume_account != NULL &&
        config->resume_account(config->context, view->instance.id[instance], &account) &&
        ledger_resume(books->ledger, instance, offer, &account))
        return true;
    return ledger_open(books->ledger, instance, offer, billed_from);
}

bool books_open(struct books *books, uint32_t instance, msec_t billed_from)
{
    return !books->state->instance_notes[instance].is_unbilled &&
           open_account(books, instance, billed_from);
}

void books_close(struct books *books, uint32_t instance, const struct cloud_event *event)
{
    const struct view *view = &books->state->view;
    const uint64_t id = view->instance.id[instance];

    if (books->state->instance_notes[instance].is_unbilled ||
        (event->billed_from < 0 && !ledger_is_open(books->ledger, instance)))
        return;
    if (event->billed_from >= 0)
        (void)open_account(books, instance, event->billed_from);

    /* A cloud that does not know it any more does not say until when it was billed. */
    const msec_t billed_to = event->billed_from >= 0 ? event->billed_to : event->at;
    const struct ledger_bill bill = ledger_close(books->ledger, instance, billed_to);

    id_set_add(&books->gone, id);
    if (books->state->config.on_bill != NULL)
        books->state->config.on_bill(books->state->config.context, view, instance, &bill);
}

void books_welcome(struct books *books, uint32_t task)
{
    const struct controller_config *config = &books->state->config;
    struct ledger_due due;

    if (config->resume_due != NULL &&
        config->resume_due(config->context, books->state->view.task.id[task], &due))
        ledger_resume_due(books->ledger, task, due);
}

void books_settle(struct books *books, uint32_t task)
{
    const struct controller_config *config = &books->state->config;
    const struct ledger_due due = ledger_settle(books->ledger, task);

    if (config->on_settled != NULL)
        config->on_settled(config->context, &books->state->view, task, due);
}

bool books_is_over(struct books *books, uint64_t instance)
{
    if (id_set_has(&books->gone, instance))
        return true;
    if (id_set_has(&books->gone_before, instance)) {
        id_set_add(&books->gone, instance); /* it is still spoken of */
        return true;
    }
    return books->state->config.is_settled != NULL &&
           books->state->config.is_settled(books->state->config.context, instance);
}

void books_forget_gone(struct books *books, msec_t at)
{
    const msec_t keep_ms = 24 * MSEC_PER_HOUR;

    if (at - books->gone_since < keep_ms)
        return;
    books->gone_since = at;
    id_set_done(&books->gone_before);
    books->gone_before = books->gone;
    id_set_init(&books->gone);
}
