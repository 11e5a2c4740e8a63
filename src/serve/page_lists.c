/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs by user and state, and the ledger by whatever it can be cut by, of a period, with a filter and as CSV.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "draw/csv_text.h"
#include "draw/digits.h"
#include "draw/utf8.h"
#include "serve/page_private.h"
#include "store/store_report.h"

enum { JOBS_SHOWN = 300, LEDGER_SHOWN = 500, NUMBER_SIZE = 24 };

/* Jobs. ----------------------------------------------------------------------------------------- */

static void write_job(const struct page *page, const json_t *job)
{
    const json_t *machines = json_object_get(job, "instances");
    const char *first = json_string_value(json_array_get(machines, 0));
    FILE *out = page->out;

    (void)fputs("<tr><td class=\"name\">", out);
    page_link_job(page, page_word(job, "job"));
    (void)fputs("</td><td>", out);
    html_text(out, page_word(job, "user"));
    (void)fputs("</td><td class=\"wide\">", out);
    html_text(out, page_word(job, "name"));
    (void)fputs("</td><td>", out);
    html_text(out, page_word(job, "state"));
    (void)fputs("</td><td class=\"n\">", out);
    html_count(out, NULL, page_number(job, "tasks"));
    (void)fputs("</td><td class=\"n\">", out);
    html_span(out, page_number(job, "executed_ms"));
    (void)fputs("</td><td class=\"n\">", out);
    html_span(out, page_number(job, "estimate_ms"));
    (void)fputs("</td><td>", out);
    if (first != NULL)
        page_link_machine(page, first);
    if (json_array_size(machines) > 1)
        (void)fprintf(out, " and %zu more", json_array_size(machines) - 1);
    (void)fputs("</td><td class=\"n\">", out);
    html_money(out, NULL, page_money(job, "cost_microdollars"), 4);
    (void)fputs("</td></tr>\n", out);
}

static void write_option(FILE *out, const char *value, const char *text, const char *chosen)
{
    (void)fprintf(out, "<option value=\"%s\"%s>%s</option>", value,
                  strcmp(value, chosen) == 0 ? " selected" : "", text);
}

static void write_job_filter(const struct page *page, const char *user, const char *state)
{
    FILE *out = page->out;

    (void)fputs("<form class=\"filter\"><label for=\"user\">User</label> <input id=\"user\" "
                "name=\"user\" value=\"",
                out);
    html_text(out, user);
    (void)fputs("\"> <label for=\"state\">State</label> <select id=\"state\" name=\"state\">", out);
    write_option(out, "", "any", state);
    write_option(out, "running", "running", state);
    write_option(out, "bound", "machine on its way", state);
    write_option(out, "waiting", "waiting", state);
    (void)fputs("</select> <button>Filter</button></form>\n", out);
}

/* The list of the API with the arguments that are not empty; NULL: it was answered. */
static json_t *ask_jobs(struct api_call *call, const char *user, const char *state)
{
    char limit[16];
    struct api_argument arguments[3];
    uint32_t count = 0;

    (void)snprintf(limit, sizeof(limit), "%d", JOBS_SHOWN);
    arguments[count++] = (struct api_argument){ "limit", limit };
    if (user[0] != '\0')
        arguments[count++] = (struct api_argument){ "user", user };
    if (state[0] != '\0')
        arguments[count++] = (struct api_argument){ "state", state };
    return page_ask_with(call, "/v1/jobs", arguments, count);
}

void page_jobs(struct api_call *call)
{
    static const char *const columns[] = { "job",  "user", "~name", "state",        "#tasks",
                                           "#ran", "#of",  "on",    "#cost so far", NULL };
    const char *user = api_argument(call, "user");
    const char *state = api_argument(call, "state");
    const json_t *job;
    struct page page;
    size_t i;

    user = user != NULL ? user : "";
    state = state != NULL ? state : "";

    json_t *answer = ask_jobs(call, user, state);

    if (answer == NULL)
        return;
    if (!page_begin(&page, call, "Jobs", "jobs")) {
        json_decref(answer);
        return;
    }

    const json_t *jobs = json_object_get(answer, "jobs");

    write_job_filter(&page, user, state);
    (void)fputs("<p>", page.out);
    html_count_of(page.out, "total", page_number(answer, "total"), "job");
    if (page_number(answer, "total") > (int64_t)json_array_size(jobs))
        (void)fprintf(page.out, "; the first %zu are shown", json_array_size(jobs));
    (void)fputs(".</p>\n", page.out);
    page_table(&page, "Jobs that have not ended", columns);
    json_array_foreach(jobs, i, job) write_job(&page, job);
    page_table_end(&page);
    json_decref(answer);
    page_end(&page);
}

/* The ledger. ----------------------------------------------------------------------------------- */

/* What is asked of the ledger, as it stands in the address: of days in UTC, the last one included. "" is no limit. */
struct ledger_view {
    const char *by;
    const char *text;
    const char *from;
    const char *to;
};

static const char *argument_or(const struct api_call *call, const char *key, const char *otherwise)
{
    const char *value = api_argument(call, key);

    return value != NULL && value[0] != '\0' ? value : otherwise;
}

/* The beginning of a day such as 2026-11-15, in milliseconds since 1970; false: it is none. */
static bool read_day(const char *text, msec_t *ret)
{
    struct tm day = { 0 };
    const char *end = strptime(text, "%Y-%m-%d", &day);

    if (end == NULL || *end != '\0')
        return false;
    *ret = (msec_t)timegm(&day) * MSEC_PER_SEC;
    return *ret >= 0;
}

static void write_row(const struct page *page, const json_t *row, const char *by)
{
    const bool by_job = strcmp(by, "job") == 0;
    FILE *out = page->out;

    (void)fputs("<tr><td>", out);
    if (by_job && page_word(row, "name")[0] != '(')
        page_link_job(page, page_word(row, "name"));
    else
        html_text(out, page_word(row, "name"));
    (void)fputs("</td>", out);
    if (by_job) {
        (void)fputs("<td>", out);
        html_text(out, page_word(row, "user"));
        (void)fputs("</td><td class=\"wide\">", out);
        html_text(out, page_word(row, "job_name"));
        (void)fputs("</td>", out);
    }
    (void)fputs("<td class=\"n\">", out);
    html_money(out, "row-cost", page_money(row, "cost_microdollars"), 4);
    (void)fputs("</td><td class=\"n\">", out);
    if (store_by_payer(store_by_find(by))) {
        if (page_money(row, "alone_cost_microdollars") != 0) /* it is of what has ended */
            html_money(out, NULL, page_money(row, "alone_cost_microdollars"), 4);
        (void)fputs("</td><td class=\"n\">", out);
    }
    if (page_number(row, "count") > 0)
        (void)fputs(digits_of_fixed(page_number(row, "ms") / 36000, 2, 2, DIGITS_GROUPED).text,
                    out);
    (void)fputs("</td><td class=\"n\">", out);
    if (page_number(row, "count") > 0 && strcmp(page_word(row, "name"), "(idle and boot)") != 0)
        html_count(out, NULL, page_number(row, "count")); /* idle are machines, not tasks */
    (void)fputs("</td></tr>\n", out);
}

static void write_day(FILE *out, const char *name, const char *label, const char *day)
{
    (void)fprintf(
        out,
        "<span><label for=\"%s\">%s</label> <input id=\"%s\" name=\"%s\" type=\"date\" value=\"",
        name, label, name, name);
    html_text(out, day);
    (void)fputs("\"></span> ", out);
}

static void write_address(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, "%s=", name);
    html_address(out, value);
}

static void write_ledger_filter(const struct page *page, const struct ledger_view *view)
{
    FILE *out = page->out;

    (void)fputs(
        "<form class=\"filter\"><span><label for=\"by\">By</label> <select id=\"by\" name=\"by\">",
        out);
    write_option(out, "user", "user", view->by);
    write_option(out, "job", "job", view->by);
    write_option(out, "account", "account", view->by);
    write_option(out, "partition", "partition", view->by);
    write_option(out, "qos", "QOS", view->by);
    write_option(out, "type", "machine type", view->by);
    write_option(out, "market", "market", view->by);
    write_option(out, "day", "day", view->by);
    write_option(out, "month", "month", view->by);
    (void)fputs(
        "</select></span> <span><label for=\"name\">Name contains</label> <input id=\"name\" "
        "name=\"name\" value=\"",
        out);
    html_text(out, view->text);
    (void)fputs("\"></span> ", out);
    write_day(out, "from", "From", view->from);
    write_day(out, "to", "to", view->to);
    (void)fputs("<button>Filter</button> <a href=\"ledger.csv?", out);
    write_address(out, "by", view->by);
    write_address(out, "&amp;name", view->text);
    write_address(out, "&amp;from", view->from);
    write_address(out, "&amp;to", view->to);
    (void)fputs("\" download>As CSV</a></form>\n", out);
}

static void write_total(const struct page *page, const json_t *total)
{
    FILE *out = page->out;

    (void)fputs("<p>The bill is ", out);
    html_money(out, "bill", page_money(total, "bill_microdollars"), 4);
    (void)fputs(": ", out);
    html_money(out, "work", page_money(total, "work_microdollars"), 4);
    (void)fputs(" for work, ", out);
    html_money(out, "idle", page_money(total, "idle_microdollars"), 4);
    (void)fputs(" for idle machines, ", out);
    html_money(out, "boot", page_money(total, "boot_microdollars"), 4);
    (void)fputs(" for booting machines. The machines that are rented now owe ", out);
    html_money(out, "committed", page_money(total, "committed_microdollars"), 4);
    (void)fputs(" more, even if they are returned at once. The ", out);
    html_count_of(out, NULL, page_number(total, "tasks"), "finished task");
    (void)fputs(" cost ", out);
    html_money(out, NULL,
               page_money(total, "alone_microdollars") - page_money(total, "savings_microdollars"),
               4);
    (void)fputs(
        ", boot, idle and owed time included. On one machine per task they would have cost ", out);
    html_money(out, "alone", page_money(total, "alone_microdollars"), 4);
    (void)fputs(". Saved: ", out);
    html_money(out, "savings", page_money(total, "savings_microdollars"), 4);
    (void)fputs(".</p>\n", out);
}

static void write_rows(const struct page *page, const json_t *rows, const char *by)
{
    static const char *const of_jobs[] = { "job",          "user",   "~job name", "#cost",
                                           "#ended alone", "#hours", "#tasks",    NULL };
    const char *const of_payers[] = { by, "#cost", "#ended alone", "#hours", "#tasks", NULL };
    const char *const of_machines[] = { by, "#cost", "#hours", "#machines", NULL };
    const char *const *columns = store_by_payer(store_by_find(by)) ? of_payers : of_machines;
    const json_t *row;
    uint64_t found = 0;
    size_t i;

    page_table(page, "What was spent", strcmp(by, "job") == 0 ? of_jobs : columns);
    json_array_foreach(rows, i, row)
    {
        if (found++ < LEDGER_SHOWN)
            write_row(page, row, by);
    }
    page_table_end(page);
    if (found > LEDGER_SHOWN)
        (void)fprintf(page->out,
                      "<p class=\"note\">%" PRIu64 " rows; the %d most expensive are shown</p>\n",
                      found, LEDGER_SHOWN);
}

struct ledger_question {
    struct api_argument arguments[API_ARGUMENTS_MAX];
    uint32_t count;
};

/* Ask for what was so long after the beginning of the day, or before; "": any. 'buf' lives as long as the question. False: it was answered. */
static bool ask_day(struct api_call *call, const char *text, const char *key, msec_t after,
                    char buf[NUMBER_SIZE], struct ledger_question *question)
{
    msec_t day;

    if (text[0] == '\0')
        return true;
    if (!read_day(text, &day)) {
        page_error(call, 400, "a day is written as 2026-11-15");
        return false;
    }
    (void)snprintf(buf, NUMBER_SIZE, "%" PRId64, day + after);
    question->arguments[question->count++] = (struct api_argument){ .key = key, .value = buf };
    return true;
}

/* The answer of the API; NULL: it was answered. */
static json_t *ask_ledger(struct api_call *call, struct ledger_view *ret)
{
    struct ledger_question question = { .count = 0 };
    char since[NUMBER_SIZE];
    char until[NUMBER_SIZE];

    *ret = (struct ledger_view){ .by = argument_or(call, "by", "user"),
                                 .text = argument_or(call, "name", ""),
                                 .from = argument_or(call, "from", ""),
                                 .to = argument_or(call, "to", "") };
    if (store_by_find(ret->by) == STORE_BYS) {
        page_error(call, 400, "there is no such view of the ledger");
        return NULL;
    }
    question.arguments[question.count++] = (struct api_argument){ .key = "by", .value = ret->by };
    question.arguments[question.count++] =
        (struct api_argument){ .key = "name", .value = ret->text };
    if (!ask_day(call, ret->from, "since", 0, since, &question) ||
        !ask_day(call, ret->to, "until", 24 * MSEC_PER_HOUR, until, &question))
        return NULL;
    return page_ask_with(call, "/v1/ledger", question.arguments, question.count);
}

void page_ledger(struct api_call *call)
{
    struct ledger_view view;
    json_t *answer = ask_ledger(call, &view);
    struct page page;

    if (answer == NULL)
        return;
    if (!page_begin(&page, call, "Ledger", "ledger")) {
        json_decref(answer);
        return;
    }
    write_total(&page, json_object_get(answer, "total"));
    write_ledger_filter(&page, &view);
    write_rows(&page, json_object_get(answer, "rows"), view.by);
    (void)fputs(
        "<p class=\"note\"><i>ended alone</i> is the cost of the finished tasks if each had its own cheapest machine. "
        "<i>(unassigned)</i> is working time that no task in the books has paid. Days are in UTC. The last day "
        "is included.</p>\n",
        page.out);
    json_decref(answer);
    page_end(&page);
}

static void write_csv_money(FILE *out, money_t money)
{
    if (money != MONEY_UNKNOWN)
        (void)fputs(digits_of_fixed(money, 6, 6, DIGITS_PLAIN).text, out);
}

static void write_csv_row(FILE *out, const json_t *row)
{
    static const char *const names[] = { "name", "user", "job_name" };
    struct arena arena;

    arena_init(&arena);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        csv_text(out, utf8_clean(&arena, page_word(row, names[i])));
        (void)fputc(',', out);
    }
    arena_done(&arena);
    write_csv_money(out, page_money(row, "cost_microdollars"));
    (void)fputc(',', out);
    write_csv_money(out, page_money(row, "alone_cost_microdollars"));
    (void)fprintf(out, ",%" PRId64 ",%" PRId64 "\n", page_number(row, "ms"),
                  page_number(row, "count"));
}

void page_ledger_csv(struct api_call *call)
{
    struct ledger_view view;
    json_t *answer = ask_ledger(call, &view);
    const json_t *row;
    size_t i;

    if (answer == NULL)
        return;

    FILE *out = open_memstream(&call->reply->body, &call->reply->size);

    if (out == NULL) {
        json_decref(answer);
        api_error(call, 500, "out of memory");
        return;
    }
    (void)fprintf(out, "%s,user,job_name,cost_usd,alone_usd,ms,count\n", view.by);
    json_array_foreach(json_object_get(answer, "rows"), i, row)
    {
        write_csv_row(out, row);
    }
    json_decref(answer);
    call->reply->status = 200;
    call->reply->content_type = "text/csv; charset=utf-8";
    if (fclose(out) != 0)
        api_error(call, 500, "out of memory");
}
