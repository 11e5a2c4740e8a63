/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay_report.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "draw/digits.h"

/* ---- policies ---- */

enum { NORM_COLUMN = 3 };

static const struct report_column policy_columns[] = {
    { .key = "policy", .heading = "policy", .kind = REPORT_TEXT },
    { .key = "cost_usd", .heading = "cost $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "cost_per_job_usd", .heading = "$ per job", .kind = REPORT_MONEY, .digits = 3 },
    [NORM_COLUMN] = { .key = "norm_cost",
                      .heading = "of first",
                      .kind = REPORT_DECIMAL,
                      .digits = 3 },
    { .key = "saved_usd", .heading = "saved $", .kind = REPORT_MONEY, .digits = 2 },
    { .key = "wait_mean_s", .heading = "wait s", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "wait_p50_s", .heading = "p50 s", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "wait_p95_s", .heading = "p95 s", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "instances", .heading = "machines", .kind = REPORT_INTEGER },
    { .key = "migrations_per_task", .heading = "moves/ task", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "boot_idle_share", .heading = "boot, idle", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "bound_share", .heading = "bound/ cost", .kind = REPORT_DECIMAL, .digits = 3 },
};

enum { POLICY_COLUMNS = sizeof(policy_columns) / sizeof(policy_columns[0]) };

static const char *source_word(enum replay_kind kind)
{
    switch (kind) {
    case REPLAY_SACCT:
        return "sacct";
    case REPLAY_SWF:
        return "swf";
    case REPLAY_JOBS:
        return "jobs";
    }
    return "";
}

static void add_share(struct report_table *table, money_t part, money_t whole)
{
    if (whole > 0 && whole != MONEY_UNKNOWN && part != MONEY_UNKNOWN)
        report_table_add_real(table, (double)part / (double)whole);
    else
        report_table_add_missing(table);
}

static void add_waits(struct report_table *table, const struct wait_stats *waits)
{
    const msec_t figures[] = { waits->mean_ms, waits->p50_ms, waits->p95_ms };

    for (int i = 0; i < 3; i++) {
        if (waits->count > 0)
            report_table_add_real(table, (double)figures[i] / (double)MSEC_PER_SEC);
        else
            report_table_add_missing(table);
    }
}

/* What every row has: money against the base, and waits. */
static void add_money(struct report_table *table, const struct replay_report *report, money_t cost)
{
    const bool paid = report->paid != MONEY_UNKNOWN;
    const bool known = cost != MONEY_UNKNOWN;

    report_table_add_money(table, cost);
    report_table_add_money(table, known ? cost / report->input->trace.job_count : MONEY_UNKNOWN);
    add_share(table, cost, paid ? report->paid : report->runs[0].result.cost);
    report_table_add_money(table, paid && known ? report->paid - cost : MONEY_UNKNOWN);
}

static uint32_t owned_machines(const struct replay_input *input)
{
    uint32_t sum = 0;

    for (uint32_t i = 0; i < input->owned_count; i++)
        sum += input->owned[i].count;
    return sum;
}

static void note_input(struct report_table *table, const struct replay_report *report)
{
    const struct replay_input *input = report->input;

    report_table_note_text(table, "source", source_word(report->source->kind));
    report_table_note_integer(table, "records", input->records);
    report_table_note_integer(table, "jobs", input->trace.job_count);
    report_table_note_integer(table, "tasks", input->trace.task_total);
    report_table_note_integer(table, "still_running", input->still_running);
    for (uint32_t i = 0; i < input->reason_count; i++) {
        char key[64];

        (void)snprintf(key, sizeof(key), "left_out_%s", input->left_out[i].key);
        report_table_note_integer(table, key, input->left_out[i].count);
    }
    report_table_note_text(table, "spot", report->source->spot ? "yes" : "no");
    if (input->owned_count > 0)
        report_table_note_integer(table, "owned_machines", owned_machines(input));
    report_table_note_money(table, "paid_usd", report->paid);
    report_table_note_money(table, "bound_usd", report->runs[0].result.work_bound);
}

/* What the owner of a bill knows. What the catalogue does not say has no row. */
static void add_baseline(struct report_table *table, const struct replay_report *report,
                         const struct replay_baseline *baseline)
{
    if (baseline->cost == MONEY_UNKNOWN)
        return;
    report_table_add_text(table, baseline->name);
    add_money(table, report, baseline->cost);
    add_waits(table, &baseline->waits);
    report_table_add_integer(table, (int64_t)baseline->machines);
    for (int i = 0; i < 2; i++)
        report_table_add_missing(table);
    add_share(table, report->runs[0].result.work_bound, baseline->cost);
}

static struct report_table *policy_table(const struct replay_report *report)
{
    const bool paid = report->paid != MONEY_UNKNOWN;
    struct report_column columns[POLICY_COLUMNS];

    memcpy(columns, policy_columns, sizeof(columns));
    if (paid)
        columns[NORM_COLUMN].heading = "of paid";

    struct report_table *table = report_table_create("replay", columns, POLICY_COLUMNS);

    note_input(table, report);
    if (paid || report->input->waits.count > 0) {
        report_table_add_text(table, "as it was");
        add_money(table, report, report->paid);
        add_waits(table, &report->input->waits);
        for (int i = 0; i < 3; i++)
            report_table_add_missing(table);
        add_share(table, report->runs[0].result.work_bound, report->paid);
    }
    for (uint32_t i = 0; i < REPLAY_BASELINES; i++)
        add_baseline(table, report, &report->baselines[i]);
    for (uint32_t i = 0; i < report->run_count; i++) {
        const struct replay_run *run = &report->runs[i];
        const struct sim_result *result = &run->result;

        report_table_add_text(table, run->policy->name);
        add_money(table, report, result->cost);
        add_waits(table, &run->waits);
        report_table_add_integer(table, (int64_t)result->stats.rented);
        report_table_add_real(table, result->migrations_per_task);
        add_share(table, result->boot_cost + result->idle_cost, result->cost);
        add_share(table, result->work_bound, result->cost);
    }
    return table;
}

/* ---- users ---- */

struct user {
    uint32_t name; /* in trace.users */
    uint32_t jobs;
    msec_t task_ms;
    money_t cost; /* of the first policy */
};

static int compare_users(const void *a, const void *b)
{
    const struct user *left = a;
    const struct user *right = b;

    if (left->cost != right->cost)
        return left->cost > right->cost ? -1 : 1;
    return left->name < right->name ? -1 : left->name > right->name;
}

/* Those who have jobs, the costliest first. */
static struct user *sorted_users(const struct replay_report *report, uint32_t *ret_count)
{
    const struct trace *trace = &report->input->trace;
    struct user *users = mem_alloc(trace->users.count, sizeof(*users));
    uint32_t count = 0;

    for (uint32_t i = 0; i < trace->users.count; i++)
        users[i] = (struct user){ .name = i, .cost = report->runs[0].user_cost[i] };
    for (uint32_t i = 0; i < trace->job_count; i++) {
        struct user *user = &users[trace->jobs[i].user];

        user->jobs++;
        user->task_ms += trace->jobs[i].task_count * trace->jobs[i].work_ms;
    }
    for (uint32_t i = 0; i < trace->users.count; i++) {
        if (users[i].jobs > 0)
            users[count++] = users[i];
    }
    qsort(users, count, sizeof(*users), compare_users);
    *ret_count = count;
    return users;
}

static struct report_table *create_user_table(const struct replay_report *report)
{
    static const struct report_column fixed[] = {
        { .key = "user", .heading = "user", .kind = REPORT_TEXT },
        { .key = "jobs", .heading = "jobs", .kind = REPORT_INTEGER },
        { .key = "task_hours", .heading = "task h", .kind = REPORT_DECIMAL, .digits = 1 },
    };
    enum { FIXED = sizeof(fixed) / sizeof(fixed[0]) };
    const uint32_t count = FIXED + report->run_count;
    struct report_column *columns = mem_alloc(count, sizeof(*columns));
    char(*keys)[64] = mem_alloc(report->run_count, sizeof(*keys));

    memcpy(columns, fixed, sizeof(fixed));
    for (uint32_t i = 0; i < report->run_count; i++) {
        const char *policy = report->runs[i].policy->name;

        (void)snprintf(keys[i], sizeof(keys[i]), "%s_usd", policy);
        columns[FIXED + i] = (struct report_column){
            .key = keys[i], .heading = policy, .kind = REPORT_MONEY, .digits = 2
        };
    }

    struct report_table *table = report_table_create("users", columns, count);

    mem_free(columns);
    mem_free(keys);
    return table;
}

static void add_user(struct report_table *table, const struct replay_report *report,
                     const struct user *user)
{
    const char *name = names_text(&report->input->trace.users, user->name);

    report_table_add_text(table, name[0] != 0 ? name : NULL);
    report_table_add_integer(table, user->jobs);
    report_table_add_real(table, (double)user->task_ms / (double)MSEC_PER_HOUR);
    for (uint32_t i = 0; i < report->run_count; i++)
        report_table_add_money(table, report->runs[i].user_cost[user->name]);
}

/* The 'users', added up as one row. */
static void add_others(struct report_table *table, const struct replay_report *report,
                       const struct user *users, uint32_t count)
{
    struct user sum = { 0 };
    char name[32];

    (void)snprintf(name, sizeof(name), "(%u more)", count);
    for (uint32_t i = 0; i < count; i++) {
        sum.jobs += users[i].jobs;
        sum.task_ms += users[i].task_ms;
    }
    report_table_add_rest(table, name);
    report_table_add_integer(table, sum.jobs);
    report_table_add_real(table, (double)sum.task_ms / (double)MSEC_PER_HOUR);
    for (uint32_t run = 0; run < report->run_count; run++) {
        money_t cost = 0;

        for (uint32_t i = 0; i < count; i++)
            cost += report->runs[run].user_cost[users[i].name];
        report_table_add_money(table, cost);
    }
}

static struct report_table *user_table(const struct replay_report *report)
{
    const bool all = report->all_users || report->format != OUTPUT_TABLE;
    uint32_t count = 0;
    struct user *users = sorted_users(report, &count);
    const uint32_t shown = all || count <= REPLAY_USERS_SHOWN + 1 ? count : REPLAY_USERS_SHOWN;
    struct report_table *table = create_user_table(report);

    for (uint32_t i = 0; i < shown; i++)
        add_user(table, report, &users[i]);
    if (shown < count)
        add_others(table, report, users + shown, count - shown);
    mem_free(users);
    return table;
}

/* ---- sentences ---- */

struct date {
    char text[64];
};

static struct date date_of(int64_t seconds)
{
    const time_t at = (time_t)seconds;
    struct tm parts;
    struct date date = { "" };

    if (gmtime_r(&at, &parts) == NULL ||
        strftime(date.text, sizeof(date.text), "%Y-%m-%d %H:%M", &parts) == 0)
        (void)snprintf(date.text, sizeof(date.text), "an unknown time");
    return date;
}

static void print_span(const struct replay_report *report, FILE *out)
{
    const struct replay_input *input = report->input;
    const struct trace *trace = &input->trace;
    const msec_t span = trace->jobs[trace->job_count - 1].arrival_ms;

    fprintf(out, "%s jobs with %s tasks, which came within %s hours",
            digits_of_fixed(trace->job_count, 0, 0, DIGITS_GROUPED).text,
            digits_of_fixed(trace->task_total, 0, 0, DIGITS_GROUPED).text,
            digits_of_real((double)span / (double)MSEC_PER_HOUR, 1, DIGITS_GROUPED).text);
    if (input->start_s >= 0)
        fprintf(out, " from %s on", date_of(input->start_s).text);
    fprintf(out, "; machines of %s%s.\n", report->source->catalogue_path,
            report->source->spot ? ", and no spot machine is ever taken back"
                                 : ", without spot offers");
    if (input->owned_count > 0)
        fprintf(out, "%u owned machines are used first; under %s they are $%s of the cost.\n",
                owned_machines(input), report->runs[0].policy->name,
                digits_of_real((double)report->runs[0].result.owned_cost / 1e6, 2, DIGITS_GROUPED)
                    .text);
}

static void print_left_out(const struct replay_input *input, FILE *out)
{
    const char *lead = "Left out";

    for (uint32_t i = 0; i < input->reason_count; i++) {
        if (input->left_out[i].count == 0)
            continue;
        fprintf(out, "%s %s that %s", lead,
                digits_of_fixed(input->left_out[i].count, 0, 0, DIGITS_GROUPED).text,
                input->left_out[i].text);
        lead = ",";
    }
    if (strcmp(lead, ",") == 0)
        fprintf(out, ", of %s records.\n",
                digits_of_fixed(input->records, 0, 0, DIGITS_GROUPED).text);
    if (input->still_running > 0)
        fprintf(out, "%s had not ended and count with their runtime so far.\n",
                digits_of_fixed(input->still_running, 0, 0, DIGITS_GROUPED).text);
}

/* What the answer hangs on. */
static void print_assumptions(const struct replay_report *report, FILE *out)
{
    static const char *const estimates[] = {
        [SIM_ESTIMATES_ORACLE] = "are known beforehand",
        [SIM_ESTIMATES_USER] = "are taken to be the time limits",
        [SIM_ESTIMATES_LEARNED] = "are judged by time limits and earlier runs",
    };
    const struct replay_source *source = report->source;

    (void)fputs("Assumed: ", out);
    if (source->kind == REPLAY_SWF)
        fprintf(out, "machines of %u processors each in the log; ",
                source->swf.processors_per_instance);
    if (source->kind == REPLAY_JOBS)
        (void)fputs("jobs move as their table says; ", out);
    else if (source->move_ms < 0)
        (void)fputs("running jobs do not move; ", out);
    else
        fprintf(out, "running jobs can be saved and moved, in %s s; ",
                digits_of_fixed(source->move_ms, 3, 0, DIGITS_GROUPED).text);
    fprintf(
        out,
        "runtimes %s; sharing a machine slows no job down. always-on has just enough machines, packed "
        "without waste, for every job to start at once. power-saving returns a node after %s s without work.\n",
        estimates[report->estimates],
        digits_of_fixed(report->suspend_ms, 3, 0, DIGITS_GROUPED).text);
}

static double percent(money_t part, money_t whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void print_verdict(const struct replay_report *report, FILE *out)
{
    const struct replay_run *best = &report->runs[0];
    const money_t bound = best->result.work_bound;

    for (uint32_t i = 1; i < report->run_count; i++) {
        if (report->runs[i].result.cost < best->result.cost)
            best = &report->runs[i];
    }

    const money_t cost = best->result.cost;
    const money_t paid = report->paid;

    fprintf(out, "The lower bound of every plan for this work on these machines is $%s; ",
            digits_of_fixed(bound, 6, 2, DIGITS_GROUPED).text);
    fprintf(out, "%s, the cheapest here, costs $%s, %s %% more.\n", best->policy->name,
            digits_of_fixed(cost, 6, 2, DIGITS_GROUPED).text,
            digits_of_real(percent(cost - bound, bound), 1, DIGITS_GROUPED).text);
    if (paid != MONEY_UNKNOWN)
        fprintf(
            out, "Against the $%s that were paid, %s %s $%s, %s %%.\n",
            digits_of_fixed(paid, 6, 2, DIGITS_GROUPED).text, best->policy->name,
            cost <= paid ? "saves" : "costs more by",
            digits_of_fixed(cost <= paid ? paid - cost : cost - paid, 6, 2, DIGITS_GROUPED).text,
            digits_of_real(percent(cost <= paid ? paid - cost : cost - paid, paid), 1,
                           DIGITS_GROUPED)
                .text);
}

/* ---- all ---- */

/* A table as the value of a member: what it prints, two columns further in. */
static int print_member(const char *key, const struct report_table *table, FILE *out)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);

    if (memory == NULL)
        return -errno;

    const int rc = report_table_write(table, OUTPUT_JSON, memory);

    (void)fclose(memory);
    fprintf(out, "  \"%s\": ", key);
    for (size_t i = 0; rc == 0 && i + 1 < length; i++) { /* without the last line end */
        (void)fputc(text[i], out);
        if (text[i] == '\n')
            (void)fputs("  ", out);
    }
    free(text);
    return rc;
}

static int write_json(const struct report_table *by_policy, const struct report_table *by_user,
                      FILE *out)
{
    (void)fputs("{\n", out);

    int rc = print_member("policies", by_policy, out);

    (void)fputs(",\n", out);
    if (rc == 0)
        rc = print_member("users", by_user, out);
    (void)fputs("\n}\n", out);
    return rc;
}

static int write_text(const struct replay_report *report, const struct report_table *by_policy,
                      const struct report_table *by_user, FILE *out)
{
    print_span(report, out);
    print_left_out(report->input, out);
    print_assumptions(report, out);
    (void)fputc('\n', out);

    int rc = report_table_write(by_policy, OUTPUT_TABLE, out);

    (void)fputc('\n', out);
    print_verdict(report, out);
    fprintf(out, "\n%s, with their part of booting and idle machines, in $:\n\n",
            report->all_users ? "What each user would cost" : "The users who would cost most");
    if (rc == 0)
        rc = report_table_write(by_user, OUTPUT_TABLE, out);
    return rc;
}

int replay_report_write(const struct replay_report *report, FILE *out)
{
    assert(report->run_count > 0);

    struct report_table *by_policy = policy_table(report);
    struct report_table *by_user = user_table(report);
    int rc = 0;

    switch (report->format) {
    case OUTPUT_TABLE:
        rc = write_text(report, by_policy, by_user, out);
        break;
    case OUTPUT_JSON:
        rc = write_json(by_policy, by_user, out);
        break;
    case OUTPUT_CSV:
        rc = report_table_write(report->all_users ? by_user : by_policy, OUTPUT_CSV, out);
        break;
    }
    report_table_destroy(by_policy);
    report_table_destroy(by_user);
    errno = 0;
    if (rc == 0 && fflush(out) != 0)
        rc = errno != 0 ? -errno : -EIO;
    return rc;
}
