/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/usage_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "cli/operator.h"
#include "cli/report_style.h"
#include "draw/blocks.h"
#include "draw/chart.h"
#include "draw/digits.h"
#include "draw/html.h"
#include "draw/svg.h"
#include "draw/utf8.h"

enum { MARKETS = 3, SPARKS = 48, STEPS_MOST = 10000 };

static const char *const markets[MARKETS] = { "on-demand", "spot", "reserved" };

/* What both forms say. ------------------------------------------------------------------------- */

static money_t spent_in(const json_t *object, const char *market)
{
    return field_integer(json_object_get(object, "spent_microdollars"), market, 0);
}

static money_t spent_of(const json_t *object)
{
    money_t sum = 0;

    for (int i = 0; i < MARKETS; i++)
        sum += spent_in(object, markets[i]);
    return sum;
}

/* What ended tasks were charged since, or would have been charged alone. */
static money_t sum_of_users(const json_t *history, const char *key)
{
    const json_t *user;
    money_t sum = 0;
    size_t i;

    json_array_foreach(json_object_get(history, "users"), i, user) sum +=
        field_integer(user, key, 0);
    return sum;
}

static bool is_shadow(const struct usage_report *report)
{
    return strcmp(field_word(report->status, "mode"), "shadow") == 0;
}

/* Parts of machine time in per cent; false: there was none. */
static bool time_parts(const json_t *history, double *work, double *idle, double *boot)
{
    const double work_ms = (double)field_integer(history, "work_ms", 0);
    const double idle_ms = (double)field_integer(history, "idle_ms", 0);
    const double boot_ms = (double)field_integer(history, "boot_ms", 0);
    const double all = work_ms + idle_ms + boot_ms;

    if (all <= 0)
        return false;
    *work = 100 * work_ms / all;
    *idle = 100 * idle_ms / all;
    *boot = 100 * boot_ms / all;
    return true;
}

static const char not_counted[] =
    "Not counted: storage, network traffic, taxes and discounts that the cloud grants afterwards. The "
    "comparison is with a machine for every ended task: the cheapest that holds it, paid from its boot to "
    "its release. It is no measurement of another scheduler.";

static const char shadow_text[] =
    "Shadow mode: Stint rented nothing. Machines and costs are a forecast.";

/* As a page. ------------------------------------------------------------------------------------ */

static void tile(FILE *out, const char *name, money_t money, const char *class, const char *note)
{
    (void)fprintf(out, "<div class=\"tile\"><h2>%s</h2><p class=\"figure\">", name);
    html_money(out, class, money, 2);
    (void)fprintf(out, "</p><p class=\"note\">%s</p></div>\n", note);
}

static void html_tiles(const struct usage_report *report, FILE *out)
{
    const money_t cost = sum_of_users(report->history, "cost_microdollars");
    const money_t alone = sum_of_users(report->history, "alone_cost_microdollars");
    double work = 0;
    double idle = 0;
    double boot = 0;

    (void)fputs("<div class=\"tiles\">\n", out);
    tile(out, "Spent in this time", spent_of(report->history), "spent",
         "bills and what is rented now");
    tile(out, "Finished tasks", cost, "charged", "their part of the machines they ran on");
    tile(out, "On one machine per task", alone, "alone", "what the same tasks would have cost");
    tile(out, "Total bill", field_money(report->status, "bill_microdollars"), "bill",
         "since the beginning, as in the ledger");
    tile(out, "Total saved", field_money(report->status, "savings_microdollars"), "savings",
         "against one machine per task, with boot, idle and owed time paid");
    if (time_parts(report->history, &work, &idle, &boot))
        (void)fprintf(
            out,
            "<div class=\"tile\"><h2>Time with work on it</h2><p class=\"figure\">%.0f %%</p>"
            "<p class=\"note\">%.0f %% empty, %.0f %% booting</p></div>\n",
            work, idle, boot);
    (void)fputs("</div>\n", out);
}

static void html_chart(const struct usage_report *report, FILE *out)
{
    const json_t *steps = json_object_get(report->history, "steps");
    const size_t count = json_array_size(steps) < STEPS_MOST ? json_array_size(steps) : 0;
    const double length = (double)field_integer(report->history, "step_ms", 1);
    struct chart_series series[MARKETS];
    uint32_t used = 0;
    struct arena arena;

    arena_init(&arena);
    for (int i = 0; i < MARKETS; i++) {
        struct chart_point *points = ARENA_ARRAY(&arena, struct chart_point, count + 1);

        if (spent_in(report->history, markets[i]) == 0)
            continue;
        for (size_t k = 0; k < count; k++) {
            const json_t *step = json_array_get(steps, k);

            points[k] = (struct chart_point){ (double)field_integer(step, "at", 0) + length / 2,
                                              (double)spent_in(step, markets[i]) / 1e6 /
                                                  (length / (double)MSEC_PER_HOUR) };
        }
        series[used++] = (struct chart_series){ .name = markets[i],
                                                .points = points,
                                                .point_count = (uint32_t)count };
    }

    const struct chart_panel panel = { .kind = CHART_AREAS,
                                       .x_label = "UTC",
                                       .y_label = "$/h",
                                       .series = series,
                                       .series_count = used,
                                       .x_is_time = true };
    const struct chart chart = { .title = "Dollars per hour, by market",
                                 .panels = &panel,
                                 .panel_count = 1,
                                 .plot_height_px = 200,
                                 .is_embedded = true };

    (void)fputs("<figure><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                "aria-label=\"Dollars per hour, by market\">\n",
                out);
    (void)chart_write(&chart, out);
    (void)fputs("</div>\n", out);
    chart_write_table(&chart, out);
    (void)fputs("</figure>\n", out);
    arena_done(&arena);
}

/* Rows of users or of machine types. */
static void html_rows(FILE *out, const char *caption, const json_t *rows, bool with_alone)
{
    const json_t *row;
    size_t i;

    (void)fprintf(
        out,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\"><table><caption>%s</caption><thead><tr><th scope=\"col\">name</th><th scope=\"col\" "
        "class=\"n\">cost</th>%s<th scope=\"col\" class=\"n\">hours</th><th scope=\"col\" "
        "class=\"n\">%s</th></tr></thead><tbody>\n",
        caption, caption,
        with_alone ? "<th scope=\"col\" class=\"n\">on one machine per task</th>" : "",
        with_alone ? "tasks" : "machines");
    json_array_foreach(rows, i, row)
    {
        (void)fputs("<tr><td>", out);
        html_text(out, field_word(row, "name"));
        (void)fputs("</td><td class=\"n\">", out);
        html_money(out, NULL, field_money(row, "cost_microdollars"), 4);
        if (with_alone) {
            (void)fputs("</td><td class=\"n\">", out);
            html_money(out, NULL, field_money(row, "alone_cost_microdollars"), 4);
        }
        (void)fprintf(
            out, "</td><td class=\"n\">%s</td><td class=\"n\">",
            digits_of_fixed(field_integer(row, "ms", 0) / 36000, 2, 2, DIGITS_GROUPED).text);
        html_count(out, NULL, field_integer(row, "count", 0));
        (void)fputs("</td></tr>\n", out);
    }
    (void)fputs("</tbody></table></div>\n", out);
}

static void html_findings(const json_t *doctor, FILE *out)
{
    const json_t *findings = json_object_get(doctor, "findings");
    const json_t *finding;
    size_t i;

    if (json_array_size(findings) == 0)
        return;
    (void)fputs("<h2>Findings of the doctor</h2>\n<ul class=\"findings\">\n", out);
    json_array_foreach(findings, i, finding)
    {
        (void)fputs("<li><strong>", out);
        html_text(out, field_word(finding, "severity"));
        (void)fputs("</strong> ", out);
        html_text(out, field_word(finding, "subject"));
        (void)fputs(": ", out);
        html_text(out, field_word(finding, "text"));
        (void)fputs("<br><span class=\"advice\">To do: ", out);
        html_text(out, field_word(finding, "advice"));
        (void)fputs("</span></li>\n", out);
    }
    (void)fputs("</ul>\n", out);
}

static void html_head(const struct usage_report *report, FILE *out)
{
    (void)fputs(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n<title>Cost of ",
        out);
    html_text(out, field_word(report->status, "cluster"));
    (void)fprintf(out, "</title>\n<style>%s@media (prefers-color-scheme:dark){%s}</style>\n",
                  report_style, svg_dark_rules);
    (void)fputs("</head><body><main>\n<h1>What ", out);
    html_text(out, field_word(report->status, "cluster"));
    (void)fputs(" cost</h1>\n<p>From ", out);
    html_time(out, field_integer(report->history, "since", -1));
    (void)fputs(" to ", out);
    html_time(out, field_integer(report->history, "now", -1));
    (void)fputs(" UTC; mode ", out);
    html_text(out, field_word(report->status, "mode"));
    (void)fputs(", policy ", out);
    html_text(out, field_word(report->status, "policy"));
    (void)fputs(".</p>\n", out);
    if (is_shadow(report))
        (void)fprintf(out, "<p class=\"banner\">%s</p>\n", shadow_text);
}

void usage_report_html(const struct usage_report *report, FILE *out)
{
    html_head(report, out);
    html_tiles(report, out);
    html_chart(report, out);
    (void)fputs("<h2>Users</h2>\n", out);
    html_rows(out, "Tasks that ended in this time", json_object_get(report->history, "users"),
              true);
    (void)fputs("<h2>Machine types</h2>\n", out);
    html_rows(out, "Since the beginning", json_object_get(report->types, "rows"), false);
    html_findings(report->doctor, out);
    (void)fprintf(out, "<p class=\"note\">%s</p>\n</main></body></html>\n", not_counted);
}

/* As Markdown. ---------------------------------------------------------------------------------- */

/* A name in a cell: what Markdown or HTML would take for more than text is escaped. */
static void md_text(FILE *out, const char *text)
{
    struct arena arena;

    arena_init(&arena);
    for (const char *c = utf8_clean(&arena, text); *c != '\0'; c++) {
        if (strchr("\n\r\t", *c) != NULL)
            (void)fputc(' ', out);
        else if (*c == '<')
            (void)fputs("&lt;", out);
        else if (*c == '&')
            (void)fputs("&amp;", out);
        else {
            if (strchr("\\`*_[]|#!", *c) != NULL)
                (void)fputc('\\', out);
            (void)fputc(*c, out);
        }
    }
    arena_done(&arena);
}

static void md_spark(const json_t *history, FILE *out)
{
    const json_t *steps = json_object_get(history, "steps");
    const size_t count = json_array_size(steps);
    double values[SPARKS] = { 0 };

    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        values[i * SPARKS / count] += (double)spent_of(json_array_get(steps, i));
    (void)fputs("`", out);
    blocks_spark(out, values, SPARKS);
    (void)fputs("` dollars per hour over this time\n\n", out);
}

static void md_rows(FILE *out, const json_t *rows, bool with_alone)
{
    const json_t *row;
    size_t i;

    (void)fputs(with_alone
                    ? "| user | cost | on one machine per task | tasks |\n|---|---:|---:|---:|\n"
                    : "| type | cost | machines |\n|---|---:|---:|\n",
                out);
    json_array_foreach(rows, i, row)
    {
        (void)fputs("| ", out);
        md_text(out, field_word(row, "name"));
        (void)fprintf(out, " | %s | ", money_words(field_money(row, "cost_microdollars"), 4).text);
        if (with_alone)
            (void)fprintf(out, "%s | ",
                          money_words(field_money(row, "alone_cost_microdollars"), 4).text);
        (void)fprintf(out, "%" PRId64 " |\n", field_integer(row, "count", 0));
    }
    (void)fputc('\n', out);
}

static void md_sums(const struct usage_report *report, FILE *out)
{
    double work = 0;
    double idle = 0;
    double boot = 0;

    (void)fprintf(out, "- spent in this time: %s (",
                  money_words(spent_of(report->history), 2).text);
    for (int i = 0; i < MARKETS; i++)
        (void)fprintf(out, "%s%s %s", i > 0 ? ", " : "", markets[i],
                      money_words(spent_in(report->history, markets[i]), 2).text);
    (void)fprintf(out, ")\n- charged to finished tasks: %s. On one machine per task: %s\n",
                  money_words(sum_of_users(report->history, "cost_microdollars"), 2).text,
                  money_words(sum_of_users(report->history, "alone_cost_microdollars"), 2).text);
    (void)fprintf(out, "- since the beginning: bill %s, saved against one machine per task %s\n",
                  money_words(field_money(report->status, "bill_microdollars"), 2).text,
                  money_words(field_money(report->status, "savings_microdollars"), 2).text);
    if (time_parts(report->history, &work, &idle, &boot))
        (void)fprintf(out, "- machine time: %.0f %% with work, %.0f %% empty, %.0f %% booting\n",
                      work, idle, boot);
    (void)fputc('\n', out);
}

void usage_report_md(const struct usage_report *report, FILE *out)
{
    (void)fputs("# What ", out);
    md_text(out, field_word(report->status, "cluster"));
    (void)fprintf(out, " cost\n\nFrom %s to %s UTC; mode ",
                  time_words(field_integer(report->history, "since", -1)).text,
                  time_words(field_integer(report->history, "now", -1)).text);
    md_text(out, field_word(report->status, "mode"));
    (void)fputs(", policy ", out);
    md_text(out, field_word(report->status, "policy"));
    (void)fputs(".\n\n", out);
    if (is_shadow(report))
        (void)fprintf(out, "**%s**\n\n", shadow_text);
    md_sums(report, out);
    md_spark(report->history, out);
    (void)fputs("## Users\n\n", out);
    md_rows(out, json_object_get(report->history, "users"), true);
    (void)fputs("## Machine types, since the beginning\n\n", out);
    md_rows(out, json_object_get(report->types, "rows"), false);
    (void)fprintf(out, "%s\n", not_counted);
}
