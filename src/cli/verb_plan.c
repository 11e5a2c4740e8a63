/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint plan - the last decision that changed something, with its reasons.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/kube_plan.h"
#include "cli/operator.h"
#include "cli/status_lines.h"
#include "cli/verb.h"

static const char doc[] =
    "Show the last decision that changed something: machines to rent, jobs to place, machines"
    " to return. Each has its reason, its price, and the rejected alternatives with their "
    "prices. The first lines compare the current cost with the least possible cost of the "
    "same tasks, and explain the difference.\vExamples:\n"
    "  stint plan\n"
    "  stint plan -o csv | grep ^rent\n"
    "\n"
    "For a Kubernetes cluster, without a daemon: stint plan --from FILE --catalogue FILE "
    "(--help after these).\n"
    "\n"
    "Exit codes: 0 done, 1 no answer from the daemon, 2 wrong usage.";

static const struct report_column columns[] = {
    { .key = "act", .heading = "act", .kind = REPORT_TEXT },
    { .key = "what", .heading = "what", .kind = REPORT_TEXT },
    { .key = "user", .heading = "user", .kind = REPORT_TEXT },
    { .key = "where", .heading = "where", .kind = REPORT_TEXT },
    { .key = "why", .heading = "why", .kind = REPORT_TEXT },
    { .key = "price_usd_per_hour", .heading = "$/h", .kind = REPORT_MONEY, .digits = 3 },
    { .key = "passed_over", .heading = "rather than", .kind = REPORT_TEXT },
    { .key = "passed_over_usd_per_hour", .heading = "at $/h", .kind = REPORT_MONEY, .digits = 3 },
    { .key = "saving_usd", .heading = "saves $", .kind = REPORT_MONEY, .digits = 3 },
    { .key = "move_cost_usd", .heading = "for $", .kind = REPORT_MONEY, .digits = 3 },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static const char legend_heading[] =
    "$/h are dollars per hour for the same tasks: a machine to rent for all that goes there, a task on a\n"
    "running machine for its share of it. Why:";

/* Rows for people name their reasons by number. */
struct rows {
    struct report_table *table;
    struct legend *legend; /* NULL: rows have the sentences themselves */
};

static void add_why(const struct rows *rows, const json_t *item)
{
    struct report_table *table = rows->table;
    const char *why = field_word(item, "why");

    report_table_add_text(table, rows->legend != NULL ? legend_mark(rows->legend, why) : why);
    report_table_add_money(table, field_money(item, "chosen_microdollars_per_hour"));
    report_table_add_text(table, field_text(item, "passed_over"));
    report_table_add_money(table, field_money(item, "passed_over_microdollars_per_hour"));
    report_table_add_money(table, field_money(item, "saving_microdollars"));
    report_table_add_money(table, field_money(item, "move_cost_microdollars"));
}

static void add_rents(const struct rows *rows, const json_t *rents)
{
    const json_t *rent;
    size_t i;

    json_array_foreach(rents, i, rent)
    {
        char count[32];

        (void)snprintf(count, sizeof(count), "%" PRId64, field_integer(rent, "count", 1));
        report_table_add_text(rows->table, "rent");
        report_table_add_text(rows->table, count);
        report_table_add_missing(rows->table);
        report_table_add_text(rows->table, field_word(rent, "offer"));
        add_why(rows, rent);
    }
}

static void add_places(const struct rows *rows, const json_t *places)
{
    const json_t *place;
    size_t i;

    json_array_foreach(places, i, place)
    {
        const bool fresh = json_is_true(json_object_get(place, "fresh"));
        char where[256];

        (void)snprintf(where, sizeof(where), "%s%.200s", fresh ? "new " : "",
                       field_word(place, "where"));
        report_table_add_text(rows->table, "place");
        report_table_add_text(rows->table, field_word(place, "task"));
        report_table_add_text(rows->table, field_text(place, "user"));
        report_table_add_text(rows->table, where);
        add_why(rows, place);
    }
}

static void add_releases(const struct rows *rows, const json_t *releases)
{
    const json_t *release;
    size_t i;

    json_array_foreach(releases, i, release)
    {
        report_table_add_text(rows->table, "return");
        report_table_add_text(rows->table, field_word(release, "instance"));
        report_table_add_missing(rows->table);
        report_table_add_missing(rows->table);
        add_why(rows, release);
    }
}

static void add_waits(const struct rows *rows, const json_t *waits)
{
    const json_t *wait;
    size_t i;

    json_array_foreach(waits, i, wait)
    {
        report_table_add_text(rows->table, "wait");
        report_table_add_text(rows->table, field_word(wait, "task"));
        report_table_add_text(rows->table, field_text(wait, "user"));
        report_table_add_text(rows->table, field_text(wait, "for"));
        add_why(rows, wait);
    }
}

/* A sentence each, which would make a table too wide. */
static void print_waits(const json_t *plan)
{
    const json_t *wait;
    size_t i;

    if (json_array_size(json_object_get(plan, "waits")) == 0)
        return;
    (void)printf("\n%" PRId64 " waiting now:\n", field_integer(plan, "wait_count", 0));
    json_array_foreach(json_object_get(plan, "waits"), i, wait)
    {
        char text[1024];

        (void)snprintf(text, sizeof(text), "%.100s of %.100s: %.800s", field_word(wait, "task"),
                       field_word(wait, "user"), field_word(wait, "why"));
        print_folded(stdout, "  ", text);
    }
    if (field_integer(plan, "wait_count", 0) > (int64_t)i)
        (void)printf("  and %" PRId64 " more: stint explain JOB\n",
                     field_integer(plan, "wait_count", 0) - (int64_t)i);
}

static void print_candidate(const char *name, const json_t *candidate)
{
    (void)printf("  %-8s saves %s per hour, moving costs %s: %s in all\n", name,
                 money_words(field_money(candidate, "saving_microdollars_per_hour"), 3).text,
                 money_words(field_money(candidate, "migration_microdollars"), 3).text,
                 money_words(field_money(candidate, "total_microdollars"), 3).text);
}

static void print_cause(money_t cost, const char *text)
{
    char first[80];

    if (cost <= 0)
        return;
    (void)snprintf(first, sizeof(first), "  %10s  ", money_words(cost, 3).text);
    print_folded(stdout, first, text);
}

/* What the machines cost, part by part, from the least that is possible up. */
static void print_causes(const json_t *plan)
{
    const json_t *bound = json_object_get(plan, "bound");

    if (!json_is_real(json_object_get(bound, "gap")))
        return;

    const money_t least = field_money(bound, "bound_microdollars_per_hour");
    const money_t resources = field_money(bound, "resources_microdollars_per_hour");
    const money_t empty = field_money(bound, "empty_microdollars_per_hour");
    const money_t cost = field_money(bound, "cost_microdollars_per_hour");

    status_line_bound(stdout, "Now: ", plan);
    print_cause(resources, "what the tasks take, at the lowest prices");
    print_cause(least - resources, "tasks are whole: no machine can be filled to the last part");
    print_cause(empty, "machines without a task");
    print_cause(
        cost - least - empty,
        "machines that are not full or not the cheapest: moving them would cost more, limits or rules "
        "forbid it, or tasks would slow each other down");
    (void)putchar('\n');
}

static void print_head(const json_t *plan)
{
    if (field_integer(plan, "at", 0) <= 0) {
        (void)puts("No decision has changed anything yet.\n");
        return;
    }
    (void)printf("Decision %" PRId64 " of %s UTC: %" PRId64 " to rent, %" PRId64
                 " to place, %" PRId64 " to return.\n",
                 field_integer(plan, "decision", 0), time_words(field_integer(plan, "at", -1)).text,
                 field_integer(plan, "rent_count", 0), field_integer(plan, "place_count", 0),
                 field_integer(plan, "release_count", 0));
    if (json_is_object(json_object_get(plan, "full"))) {
        (void)printf("It weighed two ways for the next %s, and took the ",
                     span_words(field_integer(plan, "expected_ms", -1)).text);
        print_clean(stdout, field_word(plan, "kind"));
        (void)puts(" one:");
        print_candidate("full", json_object_get(plan, "full"));
        print_candidate("partial", json_object_get(plan, "partial"));
    }
    (void)putchar('\n');
}

static int run(int argc, char **argv)
{
    static char name[] = "stint plan";
    const struct argp_child children[] = { { &daemon_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = { .doc = doc, .children = children };
    struct daemon_options options = { 0 };
    struct error error = { "" };
    json_t *plan = NULL;
    int code;

    if (kube_plan_is_meant(argc, argv))
        return kube_plan_run(argc, argv);
    if (!operator_parse(&argp, name, argc, argv, &options))
        return EXIT_USAGE;
    if (daemon_get(&options, "/v1/plan", &plan, &error) < 0)
        return verb_fail("plan", &error);
    if (options.format == OUTPUT_JSON) {
        code = print_json("plan", plan);
    } else {
        const bool is_table = options.format == OUTPUT_TABLE;
        struct legend legend = { .count = 0 };
        const struct rows rows = { .table = report_table_create("plan", columns, COLUMNS),
                                   .legend = is_table ? &legend : NULL };

        if (is_table) {
            print_head(plan);
            print_causes(plan);
        }
        add_rents(&rows, json_object_get(plan, "rents"));
        add_places(&rows, json_object_get(plan, "places"));
        add_releases(&rows, json_object_get(plan, "releases"));
        if (!is_table)
            add_waits(&rows, json_object_get(plan, "waits"));
        code = print_sorted("plan", rows.table, &options);
        if (is_table) {
            legend_print(&legend, legend_heading, stdout);
            print_waits(plan);
        }
    }
    json_decref(plan);
    return code;
}

const struct verb verb_plan = {
    .name = "plan",
    .summary = "show the last decision, its reasons and the alternatives",
    .run = run,
    .is_query = true,
};
