/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first view: what is paid now and by whom, what shares each machine, what waits and why, what the last
 * decision was and what it beat. Sums are over everything; of lists only the first rows are shown.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "serve/history.h"
#include "serve/page_private.h"

enum {
    MACHINES_SHOWN = 40,
    TASKS_LINKED = 4,
    SEGMENTS_MAX = 64,
    GROUPS_SHOWN = 30,
    USERS_SHOWN = 20,
    QUEUE_SHOWN = 20,
    PLAN_SHOWN = 6,
    COLORS = 7,
};

/* Money. ---------------------------------------------------------------------------------------- */

static void write_meter(const struct page *page, const char *name, double share)
{
    const double whole = fmin(1, fmax(0, share));

    (void)fprintf(
        page->out,
        "<meter min=\"0\" max=\"100\" high=\"80\" value=\"%.0f\" aria-label=\"%s\">%.0f %%</meter>",
        whole * 100, name, whole * 100);
}

static const struct serve_budget *budget_of(const struct serve_world *world, const char *period)
{
    for (uint32_t i = 0; i < world->budget_count; i++) {
        if (strcmp(world->budgets[i].period, period) == 0)
            return &world->budgets[i];
    }
    return NULL;
}

/* What the period will have cost if everything stays as it is. */
static void write_period(const struct page *page, const char *period, const char *name,
                         money_t per_hour)
{
    const struct api_call *call = page->call;
    const struct serve_budget *budget = budget_of(call->world, period);
    msec_t from = 0;
    msec_t until = 0;
    money_t spent = MONEY_UNKNOWN;
    char class[32];

    if (strcmp(period, "day") == 0)
        history_day(call->now, &from, &until);
    else
        history_month(call->now, &from, &until);
    if (budget != NULL)
        spent = budget->spent;
    else if (history_spent(call, from, &spent, NULL) < 0)
        return;

    const double left = (double)(until - call->now) / (double)MSEC_PER_HOUR;
    const money_t forecast = spent + (money_t)llround((double)per_hour * left);

    page_tile(page, name);
    (void)snprintf(class, sizeof(class), "spent-%s", period);
    html_money(page->out, class, spent, 2);
    page_tile_note(page);
    (void)fputs("at this rate ", page->out);
    (void)snprintf(class, sizeof(class), "forecast-%s", period);
    html_money(page->out, class, forecast, 2);
    (void)fprintf(page->out, " by the end of the %s", period);
    if (budget != NULL) {
        (void)fputs("; budget ", page->out);
        html_money(page->out, NULL, budget->limit, 2);
        (void)fputs("<br>", page->out);
        write_meter(page, "spent of the budget",
                    budget->limit > 0 ? (double)spent / (double)budget->limit : 0);
    }
    page_tile_end(page);
}

static void write_saved(const struct page *page, const json_t *status)
{
    const money_t saved = page_money(status, "savings_microdollars");
    const money_t alone = page_money(status, "alone_microdollars");
    FILE *out = page->out;

    page_tile(page, "Saved against one machine per task");
    html_money(out, "savings", saved, 2);
    page_tile_note(page);
    if (alone != MONEY_UNKNOWN && alone > 0)
        (void)fprintf(out, "%.1f %%. ", (double)saved / (double)alone * 100);
    (void)fputs("Finished tasks cost ", out);
    html_money(out, NULL, alone != MONEY_UNKNOWN ? alone - saved : MONEY_UNKNOWN, 2);
    (void)fputs(". On one machine per task they would have cost ", out);
    html_money(out, "alone", alone, 2);
    (void)fputs(". The bill of all machines so far: ", out);
    html_money(out, "bill", page_money(status, "bill_microdollars"), 2);
    page_tile_end(page);
}

static void write_bound(const struct page *page, const json_t *status)
{
    const json_t *bound = json_object_get(status, "bound");
    const money_t least = page_money(bound, "bound_microdollars_per_hour");
    const json_t *gap = json_object_get(bound, "gap");

    if (least == MONEY_UNKNOWN)
        return;
    page_tile(page, "Least possible now");
    html_money(page->out, "bound", least, 3);
    (void)fputs("<small>/h</small>", page->out);
    page_tile_note(page);
    (void)fputs("the least possible cost of these tasks", page->out);
    if (json_is_number(gap))
        (void)fprintf(page->out, "; the machines in use are %.1f %% above it",
                      json_number_value(gap) * 100);
    page_tile_end(page);
}

/* How many are ready, and in which other states there are any. */
static void write_machine_counts(FILE *out, const json_t *machines)
{
    static const char *const others[] = { "booting", "requested", "draining" };

    html_count_of(out, "ready", page_number(machines, "ready"), "machine");
    (void)fputs(" ready", out);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (page_number(machines, others[i]) == 0)
            continue;
        (void)fputs(", ", out);
        html_count(out, others[i], page_number(machines, others[i]));
        (void)fprintf(out, " %s", others[i]);
    }
}

static void write_tiles(const struct page *page, const json_t *status)
{
    const json_t *tasks = json_object_get(status, "tasks");
    const money_t per_hour = page_money(status, "cost_microdollars_per_hour");
    FILE *out = page->out;

    (void)fputs("<div class=\"tiles\">\n", out);
    page_tile(page, "Paying now");
    html_money(out, "per-hour", per_hour, 3);
    (void)fputs("<small>/h</small>", out);
    page_tile_note(page);
    write_machine_counts(out, json_object_get(status, "instances"));
    page_tile_end(page);
    write_bound(page, status);
    write_period(page, "day", "Spent today", per_hour);
    write_period(page, "month", "Spent this month", per_hour);
    write_saved(page, status);
    page_tile(page, "Tasks running");
    html_count(out, "running", page_number(tasks, "running"));
    page_tile_note(page);
    html_count(out, "waiting", page_number(tasks, "waiting"));
    (void)fputs(" waiting, ", out);
    html_count(out, "bound-tasks", page_number(tasks, "bound"));
    (void)fputs(" with a machine on its way; ", out);
    html_count_of(out, "jobs", page_number(json_object_get(status, "jobs"), "living"), "job");
    (void)fputs(" in all", out);
    page_tile_end(page);
    (void)fputs("</div>\n", out);
}

static void write_banners(const struct page *page, const json_t *status)
{
    const struct serve_world *world = page->call->world;
    FILE *out = page->out;

    if (world->mode != NULL && strcmp(world->mode, "shadow") == 0)
        (void)fputs(
            "<p class=\"banner\"><strong>Shadow mode.</strong> Stint rents nothing. Machines and "
            "costs on this page are a forecast.</p>\n",
            out);
    if (!world->ready)
        (void)fputs(
            "<p class=\"banner\"><strong>Starting.</strong> The daemon has not seen the lists "
            "of jobs and machines yet.</p>\n",
            out);
    if (world->draining)
        (void)fputs(
            "<p class=\"banner\"><strong>Draining.</strong> No machine is rented; empty ones "
            "go back.</p>\n",
            out);
    for (uint32_t i = 0; i < world->link_count; i++) {
        if (world->links[i].up)
            continue;
        (void)fputs("<p class=\"banner bad\"><strong>No connection</strong> to ", out);
        html_text(out, world->links[i].name);
        (void)fputs(": ", out);
        html_text(out, world->links[i].detail);
        (void)fputs("</p>\n", out);
    }
    if (page_number(status, "findings") > 0) {
        (void)fputs("<p class=\"banner\">The doctor has ", out);
        html_count_of(out, "findings", page_number(status, "findings"), "finding");
        (void)fputs(": <a href=\"doctor\">what to do</a></p>\n", out);
    }
    if (page_number(status, "proposals") > 0) {
        (void)fputs("<p class=\"banner\">", out);
        html_count_of(out, "proposals", page_number(status, "proposals"), "action");
        (void)fputs(" to be approved: <code>stint approve</code></p>\n", out);
    }
}

/* Machines. ------------------------------------------------------------------------------------- */

/* The kind of which the machine has the least left, and so what its bar shows. */
static enum res_kind tightest(const struct view *view, uint32_t row)
{
    const struct res *capacity = view_capacity(view, row);
    const struct res *used = &view->instance.used[row];
    enum res_kind ret = RES_CPU;
    double most = -1;

    for (enum res_kind kind = 0; kind < RES_PRICED; kind++) {
        const double share = capacity->amount[kind] > 0
                                 ? (double)used->amount[kind] / (double)capacity->amount[kind]
                                 : -1;

        if (share > most) {
            most = share;
            ret = kind;
        }
    }
    return ret;
}

static double share_of(const struct view *view, uint32_t task, uint32_t row, enum res_kind kind)
{
    const int64_t whole = view_capacity(view, row)->amount[kind];

    return whole > 0 ? (double)view_taken(view, task, row)->amount[kind] / (double)whole : 0;
}

static uint32_t color_of(const struct view *view, uint32_t task)
{
    return view->job.user[view->task.job[task]] % COLORS;
}

static void write_segment(const struct page *page, uint32_t task, double from, double width,
                          const char *label)
{
    const struct view *view = page->call->view;
    const uint32_t job = view->task.job[task];
    const char *name = api_name(page->call->world->job_names, view->job.name[job]);
    const char *user = api_name(page->call->world->users, view->job.user[job]);

    (void)fprintf(page->out, "<rect x=\"%.2f\" width=\"%.2f\" height=\"10\" class=\"c%u\"><title>",
                  from, fmax(0.4, width - 0.4), color_of(view, task));
    html_text(page->out, label);
    (void)fputs(" (", page->out);
    html_text(page->out, name != NULL ? name : "no name");
    (void)fputs(", ", page->out);
    html_text(page->out, user != NULL ? user : "no user");
    (void)fprintf(page->out, "): %.0f %%</title></rect>", width);
}

static void write_bar(const struct page *page, uint32_t row)
{
    static const char *const words[RES_PRICED] = { "of CPUs", "of memory", "of accelerators" };
    const struct view *view = page->call->view;
    const enum res_kind kind = tightest(view, row);
    const int64_t whole = view_capacity(view, row)->amount[kind];
    const double used =
        whole > 0 ? 100.0 * (double)view->instance.used[row].amount[kind] / (double)whole : 0;
    uint32_t count = 0;
    double from = 0;
    char label[SERVE_TEXT];

    (void)fprintf(page->out,
                  "<svg class=\"bar\" viewBox=\"0 0 100 10\" preserveAspectRatio=\"none\" "
                  "role=\"img\" aria-label=\"%.0f %% %s in use\">",
                  used, words[kind]);
    TASK_EACH(task, view, view->instance.first_task[row])
    {
        const double width = 100 * share_of(view, task, row, kind);

        if (count++ == SEGMENTS_MAX)
            break;
        serve_task_text(page->call->world, view->task.id[task], label, sizeof(label));
        write_segment(page, task, from, width, label);
        from += width;
    }
    (void)fprintf(page->out, "</svg><small class=\"note\">%.0f %% %s</small>", used, words[kind]);
}

static void write_tasks_of(const struct page *page, uint32_t row)
{
    const struct view *view = page->call->view;
    uint32_t count = 0;
    char label[SERVE_TEXT];

    TASK_EACH(task, view, view->instance.first_task[row])
    {
        if (count == TASKS_LINKED)
            break;
        serve_task_text(page->call->world, view->task.id[task], label, sizeof(label));
        (void)fputs(count++ > 0 ? ", " : "", page->out);
        page_link_job(page, label);
    }
    if (view->instance.task_count[row] > count)
        (void)fprintf(page->out, " and %u more", view->instance.task_count[row] - count);
    if (count == 0)
        (void)fputs("nothing", page->out);
}

static void write_machine(const struct page *page, uint32_t row)
{
    const struct view *view = page->call->view;
    const uint32_t offer = view->instance.offer[row];
    FILE *out = page->out;
    char text[SERVE_TEXT];

    serve_machine_text(page->call->world, view->instance.id[row], text, sizeof(text));
    (void)fputs("<tr><td class=\"name\">", out);
    page_link_machine(page, text);
    (void)fputs("</td><td class=\"wide\">", out);
    serve_offer_text(view->catalogue, offer, text, sizeof(text));
    html_text(out, text);
    (void)fputs("</td><td>", out);
    html_text(out, serve_instance_word(view->instance.state[row]));
    (void)fputs("</td><td class=\"bars\">", out);
    write_bar(page, row);
    (void)fputs("</td><td class=\"wide\">", out);
    write_tasks_of(page, row);
    (void)fputs("</td><td class=\"n\">", out);
    html_money(out, NULL, price_at(&view->catalogue->offers[offer].price, page->call->now), 3);
    (void)fputs("</td></tr>\n", out);
}

struct machine_key {
    money_t price;
    uint64_t id;
    uint32_t row;
};

/* The most expensive first. */
static int compare_machines(const void *left, const void *right)
{
    const struct machine_key *a = left;
    const struct machine_key *b = right;

    if (a->price != b->price)
        return a->price < b->price ? 1 : -1;
    return a->id < b->id ? -1 : a->id > b->id;
}

static void write_machines(const struct page *page)
{
    static const char *const columns[] = {
        "machine", "~offer", "state", "in use, one colour a user", "~tasks", "#$/h", NULL
    };
    const struct view *view = page->call->view;
    struct machine_key *keys = mem_alloc(view->instance.living + 1, sizeof(*keys));
    uint32_t count = 0;

    INSTANCE_EACH(row, view)
    {
        const struct offer *offer = &view->catalogue->offers[view->instance.offer[row]];

        keys[count++] = (struct machine_key){ price_at(&offer->price, page->call->now),
                                              view->instance.id[row], row };
    }
    qsort(keys, count, sizeof(*keys), compare_machines);
    (void)fputs("<section><h2>Machines</h2>\n", page->out);
    if (count == 0)
        (void)fputs("<p>No machine is rented, so there are no costs now.</p>\n", page->out);
    if (count > 0) {
        page_table(page, count > MACHINES_SHOWN ? "The most expensive machines" : "All machines",
                   columns);
        for (uint32_t i = 0; i < count && i < MACHINES_SHOWN; i++)
            write_machine(page, keys[i].row);
        page_table_end(page);
    }
    if (count > MACHINES_SHOWN)
        (void)fprintf(page->out, "<p class=\"note\">and %u more; by offer:</p>\n",
                      count - MACHINES_SHOWN);
    (void)fputs("</section>\n", page->out);
    mem_free(keys);
}

/* All machines, by offer. */
struct group {
    uint32_t offer;
    uint32_t count;
    money_t price;
    double used; /* sum of the shares of the tightest kind */
};

static int compare_groups(const void *left, const void *right)
{
    const struct group *a = left;
    const struct group *b = right;

    if (a->price != b->price)
        return a->price < b->price ? 1 : -1;
    return a->offer < b->offer ? -1 : a->offer > b->offer;
}

static void write_group(const struct page *page, const struct group *group)
{
    char text[SERVE_TEXT];

    serve_offer_text(page->call->view->catalogue, group->offer, text, sizeof(text));
    (void)fputs("<tr><td>", page->out);
    html_text(page->out, text);
    (void)fputs("</td><td class=\"n\">", page->out);
    html_count(page->out, NULL, group->count);
    (void)fprintf(page->out, "</td><td class=\"n\">%.0f %%</td><td class=\"n\">",
                  100 * group->used / group->count);
    html_money(page->out, NULL, group->price, 3);
    (void)fputs("</td></tr>\n", page->out);
}

static void write_groups(const struct page *page)
{
    static const char *const columns[] = { "offer", "#machines", "#in use", "#$/h", NULL };
    const struct view *view = page->call->view;
    const uint32_t offers = view->catalogue->offer_count;
    struct group *groups = mem_alloc(offers + 1, sizeof(*groups));

    INSTANCE_EACH(row, view)
    {
        const uint32_t offer = view->instance.offer[row];
        const enum res_kind kind = tightest(view, row);
        const int64_t whole = view_capacity(view, row)->amount[kind];

        groups[offer].count++;
        groups[offer].price += price_at(&view->catalogue->offers[offer].price, page->call->now);
        if (whole > 0)
            groups[offer].used += (double)view->instance.used[row].amount[kind] / (double)whole;
    }
    for (uint32_t i = 0; i < offers; i++)
        groups[i].offer = i;
    qsort(groups, offers, sizeof(*groups), compare_groups);
    if (view->instance.living > 0) {
        (void)fputs("<section><h2>By offer</h2>\n", page->out);
        page_table(page, "All machines by what they are rented as", columns);
        for (uint32_t i = 0; i < offers && i < GROUPS_SHOWN && groups[i].count > 0; i++)
            write_group(page, &groups[i]);
        page_table_end(page);
        (void)fputs("</section>\n", page->out);
    }
    mem_free(groups);
}

/* Users. ---------------------------------------------------------------------------------------- */

struct user_row {
    uint32_t user;
    uint32_t running;
    uint32_t waiting;
    double per_hour; /* their part of the machines that they are on */
};

static int compare_users(const void *left, const void *right)
{
    const struct user_row *a = left;
    const struct user_row *b = right;

    if (a->per_hour < b->per_hour)
        return 1;
    if (a->per_hour > b->per_hour)
        return -1;
    if (a->waiting != b->waiting)
        return a->waiting < b->waiting ? 1 : -1;
    return a->user < b->user ? -1 : a->user > b->user;
}

/* A machine is paid by what is on it, by how much of it each takes; returns what is paid for empty machines. */
static double share_machine(const struct page *page, uint32_t row, struct user_row *users,
                            uint32_t count)
{
    const struct view *view = page->call->view;
    const struct offer *offer = &view->catalogue->offers[view->instance.offer[row]];
    const double price = (double)price_at(&offer->price, page->call->now);
    const enum res_kind kind = tightest(view, row);
    double all = 0;

    if (view->instance.billed_from[row] < 0)
        return 0;
    TASK_EACH(task, view, view->instance.first_task[row])
    all += share_of(view, task, row, kind);
    if (all <= 0)
        return price;
    TASK_EACH(task, view, view->instance.first_task[row])
    {
        const uint32_t user = view->job.user[view->task.job[task]];

        users[user < count ? user : count].per_hour +=
            price * share_of(view, task, row, kind) / all;
    }
    return 0;
}

static void write_user(const struct page *page, const struct user_row *row)
{
    const char *name = api_name(page->call->world->users, row->user);

    (void)fprintf(page->out,
                  "<tr><td><svg class=\"chip\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect "
                  "width=\"10\" height=\"10\" class=\"c%u\"/></svg> <a href=\"jobs?user=",
                  row->user % COLORS);
    html_address(page->out, name != NULL ? name : "");
    (void)fputs("\">", page->out);
    html_text(page->out, name != NULL ? name : "unknown");
    (void)fputs("</a></td><td class=\"n\">", page->out);
    html_count(page->out, NULL, row->running);
    (void)fputs("</td><td class=\"n\">", page->out);
    html_count(page->out, NULL, row->waiting);
    (void)fputs("</td><td class=\"n\">", page->out);
    html_money(page->out, NULL, (money_t)llround(row->per_hour), 3);
    (void)fputs("</td></tr>\n", page->out);
}

static void write_idle(const struct page *page, double idle)
{
    (void)fputs("<tr><td>(none: machines that boot or are idle)</td><td></td><td></td>"
                "<td class=\"n\">",
                page->out);
    html_money(page->out, NULL, (money_t)llround(idle), 3);
    (void)fputs("</td></tr>\n", page->out);
}

static void count_tasks(const struct view *view, struct user_row *users, uint32_t count)
{
    for (uint32_t task = 0; task < view->task.count; task++) {
        const enum task_state state = view->task.state[task];

        if (state == TASK_FREE)
            continue;

        const uint32_t user = view->job.user[view->task.job[task]];
        struct user_row *row = &users[user < count ? user : count];

        if (state == TASK_RUNNING)
            row->running++;
        else
            row->waiting++;
    }
}

static void write_users(const struct page *page)
{
    static const char *const columns[] = { "user", "#running", "#waiting", "#$/h", NULL };
    const struct view *view = page->call->view;
    const uint32_t count = page->call->world->users != NULL ? page->call->world->users->count : 0;
    struct user_row *users = mem_alloc((size_t)count + 1, sizeof(*users));
    double idle = 0;
    uint32_t shown = 0;
    uint32_t all = 0;

    for (uint32_t i = 0; i <= count; i++)
        users[i].user = i;
    count_tasks(view, users, count);
    INSTANCE_EACH(row, view)
    idle += share_machine(page, row, users, count);
    qsort(users, (size_t)count + 1, sizeof(*users), compare_users);
    (void)fputs("<section><h2>Who causes it</h2>\n", page->out);
    page_table(page, "Users with tasks, and their part of what the machines cost now", columns);
    for (uint32_t i = 0; i <= count; i++) {
        if (users[i].running + users[i].waiting == 0)
            continue;
        if (all++ < USERS_SHOWN) {
            write_user(page, &users[i]);
            shown++;
        }
    }
    if (idle > 0)
        write_idle(page, idle);
    page_table_end(page);
    if (all > shown)
        (void)fprintf(page->out, "<p class=\"note\">and %u more user%s</p>\n", all - shown,
                      all - shown == 1 ? "" : "s");
    (void)fputs(
        "<p class=\"note\"><a href=\"ledger\">What each has paid so far</a></p></section>\n",
        page->out);
    mem_free(users);
}

/* The queue. ------------------------------------------------------------------------------------ */

static void write_waiting(const struct page *page, const char *label)
{
    json_t *answer = page_try(page->call, "/v1/explain", "job", label);
    const json_t *waits = json_object_get(answer, "waits");
    const json_t *cheapest = json_object_get(answer, "cheapest");
    FILE *out = page->out;

    (void)fputs("<tr><td class=\"name\">", out);
    page_link_job(page, label);
    (void)fputs("</td><td>", out);
    html_text(out, page_word(answer, "user"));
    (void)fputs("</td><td class=\"wide\">", out);
    html_text(out, page_word(answer, "name"));
    (void)fputs("</td><td class=\"n\">", out);
    if (page_number(answer, "arrived_at") >= 0)
        html_span(out, page->call->now - page_number(answer, "arrived_at"));
    (void)fputs("</td><td>", out);
    html_text(out, json_array_size(waits) > 0 ? page_word(json_array_get(waits, 0), "text")
                                              : "the next decision will say");
    (void)fputs("</td><td class=\"n\">", out);
    html_money(out, NULL, page_money(cheapest, "price_microdollars_per_hour"), 3);
    (void)fputs("</td></tr>\n", out);
    json_decref(answer);
}

static void write_queue(const struct page *page)
{
    static const char *const columns[] = { "job", "user",       "~name", "#waited",
                                           "why", "#alone $/h", NULL };
    const struct view *view = page->call->view;
    uint32_t last = ROW_NONE;
    uint32_t shown = 0;
    uint32_t tasks = 0;
    char label[SERVE_TEXT];

    (void)fputs("<section><h2>Waiting</h2>\n", page->out);
    if (view->task.waiting_count == 0) {
        (void)fputs("<p>Nothing waits for a machine.</p></section>\n", page->out);
        return;
    }
    page_table(page, "Jobs without a machine so far, and the price of a machine of their own",
               columns);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t job = view->task.job[task];

        if (job != last && shown == QUEUE_SHOWN)
            break;
        tasks++;
        if (job == last)
            continue;
        serve_job_text(page->call->world, view->job.id[job], label, sizeof(label));
        write_waiting(page, label);
        last = job;
        shown++;
    }
    page_table_end(page);
    if (view->task.waiting_count > tasks) {
        (void)fputs("<p class=\"note\">and ", page->out);
        html_count_of(page->out, NULL, view->task.waiting_count - tasks, "more task");
        (void)fputs(": <a href=\"jobs?state=waiting\">waiting jobs</a></p>\n", page->out);
    }
    (void)fputs("</section>\n", page->out);
}

/* The last decision. ---------------------------------------------------------------------------- */

static void write_why(const struct page *page, const json_t *item)
{
    const money_t passed = page_money(item, "passed_over_microdollars_per_hour");

    (void)fputs(": ", page->out);
    html_text(page->out, page_word(item, "why"));
    if (page_money(item, "chosen_microdollars_per_hour") != MONEY_UNKNOWN) {
        (void)fputs("; ", page->out);
        html_money(page->out, NULL, page_money(item, "chosen_microdollars_per_hour"), 4);
        (void)fputs("/h", page->out);
    }
    if (passed != MONEY_UNKNOWN) {
        (void)fputs(" instead of ", page->out);
        html_text(page->out, page_word(item, "passed_over"));
        (void)fputs(" at ", page->out);
        html_money(page->out, NULL, passed, 4);
        (void)fputs("/h", page->out);
    }
    if (page_money(item, "saving_microdollars") != MONEY_UNKNOWN) {
        (void)fputs("; saves ", page->out);
        html_money(page->out, NULL, page_money(item, "saving_microdollars"), 4);
        (void)fputs(", the move costs ", page->out);
        html_money(page->out, NULL, page_money(item, "move_cost_microdollars"), 4);
    }
    (void)fputs("</li>\n", page->out);
}

static void write_rents(const struct page *page, const json_t *rents)
{
    const json_t *rent;
    size_t i;

    json_array_foreach(rents, i, rent)
    {
        (void)fprintf(page->out, "<li>rented %" PRId64 " \xC3\x97 ", page_number(rent, "count"));
        html_text(page->out, page_word(rent, "offer"));
        write_why(page, rent);
    }
}

static void write_places(const struct page *page, const json_t *places)
{
    const json_t *place;
    size_t i;

    json_array_foreach(places, i, place)
    {
        (void)fputs("<li>put ", page->out);
        page_link_job(page, page_word(place, "task"));
        (void)fputs(" on ", page->out);
        if (json_is_true(json_object_get(place, "fresh"))) { /* why is said of the rental */
            (void)fputs("a new ", page->out);
            html_text(page->out, page_word(place, "where"));
            (void)fputs("</li>\n", page->out);
        } else {
            page_link_machine(page, page_word(place, "where"));
            write_why(page, place);
        }
    }
}

static void write_releases(const struct page *page, const json_t *releases)
{
    const json_t *release;
    size_t i;

    json_array_foreach(releases, i, release)
    {
        (void)fputs("<li>returned ", page->out);
        page_link_machine(page, page_word(release, "instance"));
        write_why(page, release);
    }
}

static void write_plan(const struct page *page)
{
    char limit[16];

    (void)snprintf(limit, sizeof(limit), "%d", PLAN_SHOWN);

    json_t *plan = page_try(page->call, "/v1/plan", "limit", limit);

    (void)fputs("<section><h2>The last decision</h2>\n", page->out);
    if (page_number(plan, "at") < 0) {
        (void)fputs("<p>None has changed anything yet.</p></section>\n", page->out);
        json_decref(plan);
        return;
    }
    (void)fprintf(page->out, "<p>Number %" PRId64 ", ", page_number(plan, "decision"));
    html_span(page->out, page->call->now - page_number(plan, "at"));
    (void)fputs(" ago: ", page->out);
    html_count_of(page->out, NULL, page_number(plan, "rent_count"), "machine");
    (void)fputs(" rented, ", page->out);
    html_count_of(page->out, NULL, page_number(plan, "place_count"), "task");
    (void)fputs(" placed, ", page->out);
    html_count_of(page->out, NULL, page_number(plan, "release_count"), "machine");
    (void)fputs(" returned.</p>\n<ul class=\"story\">\n", page->out);
    write_rents(page, json_object_get(plan, "rents"));
    write_places(page, json_object_get(plan, "places"));
    write_releases(page, json_object_get(plan, "releases"));
    (void)fputs("</ul></section>\n", page->out);
    json_decref(plan);
}

void page_now(struct api_call *call)
{
    json_t *status = page_ask(call, "/v1/status", NULL, NULL);
    struct page page;

    if (status == NULL)
        return;
    if (!page_begin(&page, call, "Now", "now")) {
        json_decref(status);
        return;
    }
    write_banners(&page, status);
    write_tiles(&page, status);
    write_machines(&page);
    (void)fputs("<div class=\"columns\">\n", page.out);
    write_users(&page);
    write_groups(&page);
    (void)fputs("</div>\n", page.out);
    write_queue(&page);
    write_plan(&page);
    page_end(&page);
    json_decref(status);
}
