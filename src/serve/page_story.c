/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One job or one machine: what /v1/explain says of it, in sentences, facts and tables.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "serve/page_private.h"
#include "store/store_history.h"

enum { RUNS_SHOWN = 100, TASKS_TOLD = 64 }; /* of the API: at most */

static void write_story(const struct page *page, const json_t *sentences)
{
    const json_t *sentence;
    size_t i;

    (void)fputs("<ul class=\"story\">\n", page->out);
    json_array_foreach(sentences, i, sentence)
    {
        (void)fputs("<li>", page->out);
        html_text(page->out, json_string_value(sentence));
        (void)fputs("</li>\n", page->out);
    }
    (void)fputs("</ul>\n", page->out);
}

static void fact(const struct page *page, const char *name)
{
    (void)fprintf(page->out, "<dt>%s</dt><dd>", name);
}

static void fact_text(const struct page *page, const char *name, const json_t *from,
                      const char *key)
{
    if (page_word(from, key)[0] == '\0')
        return;
    fact(page, name);
    html_text(page->out, page_word(from, key));
    (void)fputs("</dd>", page->out);
}

static void fact_money(const struct page *page, const char *name, const json_t *from,
                       const char *key, const char *class)
{
    if (page_money(from, key) == MONEY_UNKNOWN)
        return;
    fact(page, name);
    html_money(page->out, class, page_money(from, key), 4);
    (void)fputs("</dd>", page->out);
}

static void fact_time(const struct page *page, const char *name, const json_t *from,
                      const char *key)
{
    if (page_number(from, key) < 0)
        return;
    fact(page, name);
    html_time(page->out, page_number(from, key));
    (void)fputs(" UTC</dd>", page->out);
}

static void fact_span(const struct page *page, const char *name, const json_t *from,
                      const char *key)
{
    if (page_number(from, key) < 0)
        return;
    fact(page, name);
    html_span(page->out, page_number(from, key));
    (void)fputs("</dd>", page->out);
}

/* Jobs. ----------------------------------------------------------------------------------------- */

static void write_waits(const struct page *page, const json_t *waits)
{
    static const char *const columns[] = { "why", "what that means", "until (UTC)", NULL };
    const json_t *wait;
    size_t i;

    if (json_array_size(waits) == 0)
        return;
    (void)fputs("<h2>Why it waits</h2>\n", page->out);
    page_table(page, "Each of these keeps it from running", columns);
    json_array_foreach(waits, i, wait)
    {
        (void)fputs("<tr><td><code>", page->out);
        html_text(page->out, page_word(wait, "why"));
        (void)fputs("</code></td><td>", page->out);
        html_text(page->out, page_word(wait, "text"));
        (void)fputs("</td><td>", page->out);
        html_time(page->out, page_number(wait, "until"));
        (void)fputs("</td></tr>\n", page->out);
    }
    page_table_end(page);
}

/* Of a job with where they are, of a machine without. */
static void write_tasks(const struct page *page, const json_t *tasks, bool with_machine)
{
    static const char *const few[] = { "task", "state", NULL };
    static const char *const columns[] = {
        "task", "state", "machine", "#launches", "#stops", NULL
    };
    const json_t *task;
    size_t i;

    if (json_array_size(tasks) == 0)
        return;
    (void)fputs("<h2>Tasks</h2>\n", page->out);
    page_table(page, json_array_size(tasks) < TASKS_TOLD ? "All of them" : "The first of them",
               with_machine ? columns : few);
    json_array_foreach(tasks, i, task)
    {
        const char *machine = page_word(task, "instance");

        (void)fputs("<tr><td>", page->out);
        page_link_job(page, page_word(task, "task"));
        (void)fputs("</td><td>", page->out);
        html_text(page->out, page_word(task, "state"));
        if (!with_machine) {
            (void)fputs("</td></tr>\n", page->out);
            continue;
        }
        (void)fputs("</td><td>", page->out);
        if (machine[0] != '\0')
            page_link_machine(page, machine);
        (void)fputs("</td><td class=\"n\">", page->out);
        if (page_number(task, "launches") >= 0)
            html_count(page->out, NULL, page_number(task, "launches"));
        (void)fputs("</td><td class=\"n\">", page->out);
        if (page_number(task, "stops") >= 0)
            html_count(page->out, NULL, page_number(task, "stops"));
        (void)fputs("</td></tr>\n", page->out);
    }
    page_table_end(page);
}

static void write_job_facts(const struct page *page, const json_t *job)
{
    (void)fputs("<dl class=\"facts\">\n", page->out);
    fact_text(page, "Name", job, "name");
    fact_text(page, "User", job, "user");
    fact_text(page, "State", job, "state");
    fact_time(page, "Submitted", job, "arrived_at");
    fact_time(page, "Ended", job, "ended_at");
    fact_span(page, "Expected to run", job, "estimate_ms");
    fact_span(page, "Has run", job, "executed_ms");
    fact_span(page, "Held machines for", job, "occupied_ms");
    fact_text(page, "Machine type", job, "type");
    fact_money(page, "Cost so far", job, "cost_microdollars", "cost");
    fact_money(page, "Expected cost", job, "expected_cost_microdollars", NULL);
    fact_money(page, "Alone it would cost", job, "alone_cost_microdollars", NULL);
    fact_text(page, "Cheapest machine of its own", json_object_get(job, "cheapest"), "offer");
    (void)fputs("</dl>\n", page->out);
}

static void show_job(struct api_call *call, const char *label)
{
    json_t *job = page_ask(call, "/v1/explain", "job", label);
    char title[SERVE_TEXT];
    struct page page;

    if (job == NULL)
        return;
    (void)snprintf(title, sizeof(title), "Job %.200s", page_word(job, "job"));
    if (page_begin(&page, call, title, "jobs")) {
        write_story(&page, json_object_get(job, "text"));
        write_job_facts(&page, job);
        write_waits(&page, json_object_get(job, "waits"));
        if (json_array_size(json_object_get(job, "reasons")) > 0)
            (void)fputs("<h2>Decisions</h2>\n", page.out);
        page_reasons(&page, "The newest first, with the best alternative",
                     json_object_get(job, "reasons"));
        if (json_array_size(json_object_get(job, "waited_because")) > 0)
            (void)fputs("<h2>Waits</h2>\n", page.out);
        page_reasons(&page, "For what it waited by choice, the newest first",
                     json_object_get(job, "waited_because"));
        write_tasks(&page, json_object_get(job, "tasks"), true);
        page_end(&page);
    }
    json_decref(job);
}

/* Machines. ------------------------------------------------------------------------------------- */

static void write_run(void *context, const struct store_run *run)
{
    const struct page *page = context;
    const struct serve_world *world = page->call->world;
    const struct view *view = page->call->view;
    const uint32_t task = view_find_task(view, run->task);
    const char *name = run->name;
    const char *user = run->user;
    char label[SERVE_TEXT];

    if (run->label == NULL)
        serve_task_text(world, run->task, label, sizeof(label));
    if (task != ROW_NONE) {
        name = api_name(world->job_names, view->job.name[view->task.job[task]]);
        user = api_name(world->users, view->job.user[view->task.job[task]]);
    }
    (void)fputs("<tr><td>", page->out);
    page_link_job(page, run->label != NULL ? run->label : label);
    (void)fputs("</td><td>", page->out);
    html_text(page->out, name);
    (void)fputs("</td><td>", page->out);
    html_text(page->out, user);
    (void)fputs("</td><td>", page->out);
    html_time(page->out, run->began_at);
    (void)fputs("</td><td>", page->out);
    html_time(page->out, run->ended_at);
    (void)fputs("</td></tr>\n", page->out);
}

static void write_runs(struct page *page, uint64_t id, msec_t since)
{
    static const char *const columns[] = { "task",        "job name",    "user",
                                           "began (UTC)", "ended (UTC)", NULL };

    (void)fputs("<h2>What ran there</h2>\n", page->out);
    page_table(page, "Tasks that Stint put there, the newest first, at most 100", columns);
    (void)store_each_run(page->call->world->store, since, id, RUNS_SHOWN, write_run, page, NULL);
    page_table_end(page);
}

static void show_machine(struct api_call *call, const char *name)
{
    json_t *machine = page_ask(call, "/v1/explain", "instance", name);
    char title[SERVE_TEXT];
    struct page page;

    if (machine == NULL)
        return;
    (void)snprintf(title, sizeof(title), "Machine %.200s", page_word(machine, "instance"));
    if (page_begin(&page, call, title, "")) {
        const int64_t since = page_number(machine, "rented_at");

        write_story(&page, json_object_get(machine, "text"));
        (void)fputs("<dl class=\"facts\">\n", page.out);
        fact_text(&page, "Offer", machine, "offer");
        fact_text(&page, "State", machine, "state");
        fact_time(&page, "Rented", machine, "rented_at");
        fact_time(&page, "Paid for since", machine, "billed_since");
        fact_time(&page, "Ended", machine, "ended_at");
        fact_money(&page, "Price per hour", machine, "price_microdollars_per_hour", NULL);
        fact_money(&page, "Bill", machine, "bill_microdollars", "bill");
        (void)fputs("</dl>\n", page.out);
        write_tasks(&page, json_object_get(machine, "tasks"), false);
        if (json_array_size(json_object_get(machine, "rented_because")) > 0 ||
            json_array_size(json_object_get(machine, "released_because")) > 0)
            (void)fputs("<h2>Decisions</h2>\n", page.out);
        page_reasons(&page, "Why it was rented", json_object_get(machine, "rented_because"));
        page_reasons(&page, "Why it was let go", json_object_get(machine, "released_because"));
        write_runs(&page, (uint64_t)page_number(machine, "id"), since >= 0 ? since : 0);
        page_end(&page);
    }
    json_decref(machine);
}

/* What follows the folder in the path. */
static const char *last_part(const struct api_call *call)
{
    return strchr(call->request->path + 1, '/') + 1;
}

void page_job(struct api_call *call)
{
    show_job(call, last_part(call));
}

void page_machine(struct api_call *call)
{
    show_machine(call, last_part(call));
}

void page_find(struct api_call *call)
{
    const char *name = api_argument(call, "q");

    if (name == NULL || name[0] == '\0')
        page_error(call, 400, "type the number of a job or the name of a machine");
    else if (serve_machine_find(call->world, name) != 0)
        show_machine(call, name);
    else
        show_job(call, name);
}
