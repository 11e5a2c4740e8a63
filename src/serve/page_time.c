/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Over time: spending by market, machines, and which task ran on which machine.
 *
 * The picture of machines has at most ROWS_MAX rows and SPANS_MAX tasks, the latest; the sums are of all.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/mem.h"
#include "draw/gantt.h"
#include "serve/history.h"
#include "serve/page_private.h"
#include "store/store_history.h"

enum { ROWS_MAX = 40, RUNS_READ = 4000, SPANS_MAX = 600, LEGEND_MAX = 24, COLORS = 7 };

/* What can be chosen. */
static const struct {
    const char *word;
    const char *text;
    msec_t span;
} windows[] = {
    { "1", "1 hour", MSEC_PER_HOUR },          { "6", "6 hours", 6 * MSEC_PER_HOUR },
    { "24", "24 hours", 24 * MSEC_PER_HOUR },  { "168", "7 days", 168 * MSEC_PER_HOUR },
    { "720", "30 days", 720 * MSEC_PER_HOUR },
};

enum { WINDOW_COUNT = sizeof(windows) / sizeof(windows[0]), WINDOW_DEFAULT = 2 };

/* Spending. ------------------------------------------------------------------------------------- */

/* Narrow, so that it can be read on a telephone too. */
static void write_chart(const struct page *page, const char *title, const struct chart_panel *panel)
{
    const struct chart chart = { .title = title,
                                 .panels = panel,
                                 .panel_count = 1,
                                 .width_px = 460,
                                 .plot_height_px = 150,
                                 .is_embedded = true };

    (void)fputs("<section>", page->out);
    page_chart(page, &chart);
    (void)fputs("</section>\n", page->out);
}

static void write_spending(const struct page *page, const struct history *history)
{
    struct chart_point points[MARKET_COUNT + 2][HISTORY_STEPS];
    const double step = (double)(history->until - history->since) / HISTORY_STEPS;
    struct chart_series series[MARKET_COUNT + 1];
    uint32_t count = 0;

    for (uint32_t i = 0; i < HISTORY_STEPS; i++) {
        const double at = (double)history->since + (i + 0.5) * step;

        for (enum market market = 0; market < MARKET_COUNT; market++)
            points[market][i] = (struct chart_point){ at, history->steps[i].spent[market] / 1e6 /
                                                              (step / (double)MSEC_PER_HOUR) };
        points[MARKET_COUNT][i] = (struct chart_point){ at, history->steps[i].machines };
        points[MARKET_COUNT + 1][i] = (struct chart_point){ at, history->steps[i].least / 1e6 };
    }
    for (enum market market = 0; market < MARKET_COUNT; market++) {
        if (history->spent[market] != 0)
            series[count++] = (struct chart_series){ .name = market_name(market),
                                                     .points = points[market],
                                                     .point_count = HISTORY_STEPS };
    }

    if (history->has_least)
        series[count++] = (struct chart_series){ .name = "least possible (bound)",
                                                 .points = points[MARKET_COUNT + 1],
                                                 .point_count = HISTORY_STEPS,
                                                 .stroke = CHART_DASHED };

    const struct chart_series machines = { .name = "machines",
                                           .points = points[MARKET_COUNT],
                                           .point_count = HISTORY_STEPS };
    const struct chart_panel spending = { .kind = CHART_AREAS,
                                          .x_label = "UTC",
                                          .y_label = "$/h",
                                          .series = series,
                                          .series_count = count,
                                          .x_is_time = true };
    const struct chart_panel paid = { .kind = CHART_AREAS,
                                      .x_label = "UTC",
                                      .y_label = "machines",
                                      .series = &machines,
                                      .series_count = 1,
                                      .x_is_time = true };

    (void)fputs("<div class=\"columns\">\n", page->out);
    write_chart(page, "Dollars per hour, by market", &spending);
    write_chart(page, "Machines that were paid for", &paid);
    (void)fputs("</div>\n", page->out);
}

static void write_sums(const struct page *page, const struct history *history)
{
    const msec_t all = history->boot_ms + history->idle_ms + history->work_ms;
    money_t sum = 0;

    (void)fputs("<div class=\"tiles\">\n", page->out);
    for (enum market market = 0; market < MARKET_COUNT; market++)
        sum += history->spent[market];
    page_tile(page, "Spent");
    html_money(page->out, "window-spent", sum, 2);
    page_tile_note(page);
    html_count_of(page->out, NULL, history->machines, "machine");
    (void)fputs(" rented", page->out);
    page_tile_end(page);
    for (enum market market = 0; market < MARKET_COUNT; market++) {
        if (history->spent[market] == 0)
            continue;
        page_tile(page, market_name(market));
        html_money(page->out, NULL, history->spent[market], 2);
        page_tile_note(page);
        (void)fprintf(page->out, "%.0f %% of it",
                      sum > 0 ? 100.0 * (double)history->spent[market] / (double)sum : 0);
        page_tile_end(page);
    }
    if (all > 0) {
        page_tile(page, "Time with work on it");
        (void)fprintf(page->out, "%.0f<small> %%</small>",
                      100.0 * (double)history->work_ms / (double)all);
        page_tile_note(page);
        (void)fprintf(page->out, "of machines that are gone; %.0f %% booting, %.0f %% empty",
                      100.0 * (double)history->boot_ms / (double)all,
                      100.0 * (double)history->idle_ms / (double)all);
        page_tile_end(page);
    }
    (void)fputs("</div>\n", page->out);
    if (!history->is_whole)
        (void)fprintf(page->out, "<p class=\"note\">Only the last %d machines are counted.</p>\n",
                      HISTORY_STAYS_MAX);
}

/* Machines. ------------------------------------------------------------------------------------- */

struct drawing {
    const struct page *page;
    struct arena arena;
    struct map row_by_instance;
    struct gantt_row rows[ROWS_MAX];
    uint32_t row_count;
    struct gantt_span spans[SPANS_MAX];
    uint32_t row_of_span[SPANS_MAX];
    uint32_t span_count;
    uint32_t left_out;
    uint32_t users[LEGEND_MAX]; /* whose tasks are drawn, in the order in which they were found */
    uint32_t user_count;
};

static const char *copy_text(struct drawing *drawing, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = ARENA_ARRAY(&drawing->arena, char, size);

    memcpy(copy, text, size);
    return copy;
}

static void add_row(struct drawing *drawing, uint64_t instance, msec_t from, msec_t to,
                    const char *title)
{
    char name[SERVE_TEXT];

    if (drawing->row_count == ROWS_MAX) {
        drawing->left_out++;
        return;
    }
    serve_machine_text(drawing->page->call->world, instance, name, sizeof(name));
    map_put(&drawing->row_by_instance, instance, drawing->row_count);
    drawing->rows[drawing->row_count++] = (struct gantt_row){ .label = copy_text(drawing, name),
                                                              .title = copy_text(drawing, title),
                                                              .from = from,
                                                              .to = to };
}

static void take_stay(void *context, const struct store_stay *stay)
{
    struct drawing *drawing = context;
    char title[2 * SERVE_TEXT];
    char cost[SERVE_TEXT];

    serve_money_text(stay->bill.sums.bill, cost, sizeof(cost));
    (void)snprintf(title, sizeof(title), "%.200s, %.40s: $%s",
                   stay->type != NULL ? stay->type : "?", stay->market != NULL ? stay->market : "?",
                   cost);
    add_row(drawing, stay->instance, stay->bill.from, stay->bill.to, title);
}

static void add_living(struct drawing *drawing)
{
    const struct view *view = drawing->page->call->view;
    char title[SERVE_TEXT];

    INSTANCE_EACH(row, view)
    {
        if (view->instance.billed_from[row] < 0)
            continue;
        serve_offer_text(view->catalogue, view->instance.offer[row], title, sizeof(title));
        add_row(drawing, view->instance.id[row], view->instance.billed_from[row],
                drawing->page->call->now, title);
    }
}

static void note_user(struct drawing *drawing, uint32_t user)
{
    for (uint32_t i = 0; i < drawing->user_count; i++) {
        if (drawing->users[i] == user)
            return;
    }
    if (drawing->user_count < LEGEND_MAX)
        drawing->users[drawing->user_count++] = user;
}

/* Users have the colours that they have in the other view, if they are still known. */
static uint32_t color_of(struct drawing *drawing, const char *user)
{
    const struct names *users = drawing->page->call->world->users;
    const uint32_t number =
        users != NULL && user != NULL ? names_find(users, user, strlen(user)) : NAME_NONE;

    if (number == NAME_NONE)
        return COLORS - 1;
    note_user(drawing, number);
    return number % COLORS;
}

/* Which colour is whose. */
static void write_legend(const struct drawing *drawing)
{
    const struct page *page = drawing->page;

    (void)fputs("<p class=\"note\">", page->out);
    for (uint32_t i = 0; i < drawing->user_count; i++) {
        const char *name = api_name(page->call->world->users, drawing->users[i]);

        (void)fprintf(page->out,
                      "<svg class=\"chip\" viewBox=\"0 0 10 10\" aria-hidden=\"true\"><rect "
                      "width=\"10\" height=\"10\" class=\"c%u\"/></svg> <a href=\"jobs?user=",
                      drawing->users[i] % COLORS);
        html_address(page->out, name != NULL ? name : "");
        (void)fputs("\">", page->out);
        html_text(page->out, name != NULL ? name : "unknown");
        (void)fputs("</a> ", page->out);
    }
    if (drawing->user_count == LEGEND_MAX)
        (void)fputs("and others ", page->out);
    (void)fprintf(page->out, "%s</p>\n",
                  drawing->user_count > COLORS ? "(colours repeat after seven users)" : "");
}

static void take_run(void *context, const struct store_run *run)
{
    struct drawing *drawing = context;
    const struct page *page = drawing->page;
    const struct view *view = page->call->view;
    const uint32_t task = view_find_task(view, run->task);
    const uint32_t row = map_get(&drawing->row_by_instance, run->instance);
    const char *user = run->user;
    msec_t to = run->ended_at;
    char label[SERVE_TEXT];
    char title[3 * SERVE_TEXT];

    if (row == MAP_NONE || drawing->span_count == SPANS_MAX)
        return;
    if (to < 0) {
        if (task == ROW_NONE || view->task.instance[task] == ROW_NONE ||
            view->instance.id[view->task.instance[task]] != run->instance)
            return; /* it ran on elsewhere: when it left is not written down */
        user = api_name(page->call->world->users, view->job.user[view->task.job[task]]);
        to = page->call->now;
    }
    if (to > drawing->rows[row].to)
        to = drawing->rows[row].to;
    if (to < run->began_at)
        return;
    serve_task_text(page->call->world, run->task, label, sizeof(label));
    (void)snprintf(title, sizeof(title), "%.250s (%.200s, %.200s)",
                   run->label != NULL ? run->label : label,
                   run->name != NULL ? run->name : "running", user != NULL ? user : "?");
    drawing->row_of_span[drawing->span_count] = row;
    drawing->spans[drawing->span_count++] =
        (struct gantt_span){ .from = run->began_at,
                             .to = to,
                             .color = color_of(drawing, user),
                             .title = copy_text(drawing, title) };
}

/* They come the latest first: counted into rows, and turned round. */
static void sort_spans(struct drawing *drawing, struct gantt_span *sorted)
{
    uint32_t used = 0;

    for (uint32_t row = 0; row < drawing->row_count; row++) {
        drawing->rows[row].span_first = used;
        for (uint32_t i = drawing->span_count; i > 0; i--) {
            if (drawing->row_of_span[i - 1] == row)
                sorted[used++] = drawing->spans[i - 1];
        }
        drawing->rows[row].span_count = used - drawing->rows[row].span_first;
    }
}

static void write_gantt_table(const struct page *page, const struct drawing *drawing)
{
    static const char *const columns[] = { "machine",  "offer",  "from (UTC)",
                                           "to (UTC)", "#tasks", NULL };

    (void)fputs("<details class=\"data\"><summary>The numbers: machines</summary>\n", page->out);
    page_table(page, "The machines of the picture", columns);
    for (uint32_t i = 0; i < drawing->row_count; i++) {
        const struct gantt_row *row = &drawing->rows[i];

        (void)fputs("<tr><td>", page->out);
        page_link_machine(page, row->label);
        (void)fputs("</td><td>", page->out);
        html_text(page->out, row->title);
        (void)fputs("</td><td>", page->out);
        html_time(page->out, row->from);
        (void)fputs("</td><td>", page->out);
        html_time(page->out, row->to);
        (void)fputs("</td><td class=\"n\">", page->out);
        html_count(page->out, NULL, row->span_count);
        (void)fputs("</td></tr>\n", page->out);
    }
    page_table_end(page);
    (void)fputs("</details>\n", page->out);
}

static void write_machines(const struct page *page, struct drawing *drawing, msec_t since)
{
    struct gantt_span *sorted = ARENA_ARRAY(&drawing->arena, struct gantt_span, SPANS_MAX);
    char description[SERVE_TEXT];

    add_living(drawing);
    (void)store_each_stay(page->call->world->store, since, ROWS_MAX, take_stay, drawing, NULL);
    (void)store_each_run(page->call->world->store, since, 0, RUNS_READ, take_run, drawing, NULL);
    sort_spans(drawing, sorted);
    (void)snprintf(description, sizeof(description), "%u machines and %u tasks that ran on them",
                   drawing->row_count, drawing->span_count);

    const struct gantt gantt = { .title = "Machines over time",
                                 .description = description,
                                 .from = since,
                                 .to = page->call->now,
                                 .rows = drawing->rows,
                                 .row_count = drawing->row_count,
                                 .spans = sorted };

    (void)fputs("<section><h2>Machines and what ran on them</h2>\n", page->out);
    if (drawing->row_count == 0) {
        (void)fputs("<p>No machine was paid for in this time.</p></section>\n", page->out);
        return;
    }
    (void)fputs(
        "<p class=\"note\">A grey bar is a machine while it was paid for; on it, the tasks, one "
        "colour a user.</p>\n",
        page->out);
    write_legend(drawing);
    (void)fputs("<figure><div class=\"scroll late\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"Machines over time\">\n",
                page->out);
    gantt_write(&gantt, page->out);
    (void)fputs("</div>\n", page->out);
    write_gantt_table(page, drawing);
    (void)fputs("</figure>\n", page->out);
    if (drawing->left_out > 0)
        (void)fprintf(page->out, "<p class=\"note\">and %u more machine%s</p>\n", drawing->left_out,
                      drawing->left_out == 1 ? "" : "s");
    (void)fputs("</section>\n", page->out);
}

static void write_tabs(const struct page *page, uint32_t chosen)
{
    (void)fputs("<nav class=\"tabs\" aria-label=\"Time\">\n", page->out);
    for (uint32_t i = 0; i < WINDOW_COUNT; i++)
        (void)fprintf(page->out, "<a href=\"time?hours=%s\"%s>%s</a>\n", windows[i].word,
                      i == chosen ? " aria-current=\"true\"" : "", windows[i].text);
    (void)fputs("</nav>\n", page->out);
}

void page_time(struct api_call *call)
{
    const char *word = api_argument(call, "hours");
    struct error error = { "" };
    struct history history;
    struct page page;
    uint32_t chosen = WINDOW_DEFAULT;

    for (uint32_t i = 0; word != NULL && i < WINDOW_COUNT; i++) {
        if (strcmp(word, windows[i].word) == 0)
            chosen = i;
    }
    if (history_read(call, call->now - windows[chosen].span, &history, &error) < 0) {
        page_error(call, 500, error.text);
        return;
    }
    if (!page_begin(&page, call, "Over time", "time"))
        return;

    struct drawing *drawing = mem_alloc(1, sizeof(*drawing));

    drawing->page = &page;
    arena_init(&drawing->arena);
    map_init(&drawing->row_by_instance);
    write_tabs(&page, chosen);
    write_sums(&page, &history);
    write_spending(&page, &history);
    write_machines(&page, drawing, history.since);
    map_done(&drawing->row_by_instance);
    arena_done(&drawing->arena);
    mem_free(drawing);
    page_end(&page);
}
