/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint status - how the daemon is, in one screen.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/operator.h"
#include "cli/status_lines.h"
#include "cli/verb.h"

static const char doc[] =
    "Show the state of the daemon: its connections, running and waiting jobs, costs and "
    "savings.\vExamples:\n"
    "  stint status\n"
    "  stint status -o json | jq .cost_microdollars_per_hour\n"
    "  stint status --url https://head:9178 --token-file ~/.stint-token\n"
    "\n"
    "In mode shadow all amounts are a forecast, since Stint rents nothing.\n"
    "\n"
    "Exit codes: 0 done, 1 no answer from the daemon, 2 wrong usage.";

static void print_links(const json_t *links)
{
    const json_t *link;
    size_t i;

    json_array_foreach(links, i, link)
    {
        const char *detail = field_text(link, "detail");

        (void)fputs(i > 0 ? ", " : "", stdout);
        print_clean(stdout, field_word(link, "name"));
        (void)fputs(json_is_true(json_object_get(link, "up")) ? " up" : " DOWN", stdout);
        if (detail != NULL && detail[0] != 0) {
            (void)fputs(" (", stdout);
            print_clean(stdout, detail);
            (void)fputc(')', stdout);
        }
    }
    (void)fputs(json_array_size(links) == 0 ? "none\n" : "\n", stdout);
}

static void print_budgets(const json_t *status)
{
    json_t *budgets = json_object_get(status, "budgets");
    const char *period;
    json_t *budget;

    json_object_foreach(budgets, period, budget)
    {
        (void)fputs("budget     ", stdout);
        print_clean(stdout, period);
        (void)printf(": %s of %s spent or committed; the next begins %s UTC\n",
                     money_words(field_money(budget, "spent_microdollars"), 2).text,
                     money_words(field_money(budget, "microdollars"), 2).text,
                     time_words(field_integer(budget, "until", -1)).text);
    }
}

/* "; $1.00 of $2.00 of the day spent", if that is limited. */
static void write_owner_budget(FILE *out, const json_t *owner, const char *period)
{
    const json_t *budget = json_object_get(owner, period);

    if (budget != NULL)
        (void)fprintf(out, "; %s of %s of the %s spent",
                      money_words(field_money(budget, "spent_microdollars"), 2).text,
                      money_words(field_money(budget, "microdollars"), 2).text, period);
}

static void write_owner(FILE *out, const json_t *owner)
{
    const int64_t most = field_integer(owner, "max_instances", 0);

    (void)fprintf(out, "%s: %" PRId64, field_word(owner, "owner"),
                  field_integer(owner, "instances", 0));
    if (most > 0)
        (void)fprintf(out, " of %" PRId64, most);
    (void)fputs(" machines", out);
    write_owner_budget(out, owner, "day");
    write_owner_budget(out, owner, "month");
}

/* Limits of accounts, users, partitions and QOS. */
static void print_owners(const json_t *status)
{
    size_t index;
    json_t *owner;

    json_array_foreach(json_object_get(status, "limits_for"), index, owner)
    {
        char *text = NULL;
        size_t size = 0;
        FILE *out = open_memstream(&text, &size);

        if (out == NULL)
            return;
        write_owner(out, owner);
        if (fclose(out) == 0)
            print_folded(stdout, "limit      ", text);
        free(text);
    }
}

static void print_counts(const json_t *status)
{
    const json_t *failures = json_object_get(status, "launch_failures");
    const json_t *evictions = json_object_get(status, "evictions");
    const json_t *audit = json_object_get(status, "audit");
    const int64_t findings = field_integer(status, "findings", 0);
    const int64_t launches = field_integer(status, "launches", 0);
    const int64_t proposals = field_integer(status, "proposals", 0);

    (void)printf("rented     %" PRId64 " machine%s so far; %" PRId64 " refused, %" PRId64
                 " never booted, %" PRId64 " vanished\n",
                 launches, launches == 1 ? "" : "s", field_integer(failures, "refused", 0),
                 field_integer(failures, "boot_timeout", 0),
                 field_integer(failures, "vanished", 0));
    (void)printf("evictions  %" PRId64 " runs with notice, %" PRId64 " without, %" PRId64
                 " moved, %" PRId64 " ended by the scheduler\n",
                 field_integer(evictions, "notice", 0), field_integer(evictions, "lost", 0),
                 field_integer(evictions, "moved", 0), field_integer(evictions, "engine", 0));
    (void)printf("decisions  %" PRId64 "; the last took %s, the longest %s\n",
                 field_integer(status, "decisions", 0),
                 span_words(field_integer(status, "decision_ms_last", -1)).text,
                 span_words(field_integer(status, "decision_ms_max", -1)).text);
    if (field_integer(audit, "age_ms", -1) < 0)
        (void)fputs("audit      none yet", stdout);
    else
        (void)printf("audit      %s ago", span_words(field_integer(audit, "age_ms", -1)).text);
    (void)printf("; machines adopted: %" PRId64 ", unanswered requests: %" PRId64 "\n",
                 field_integer(audit, "adopted", 0), field_integer(status, "open_intents", 0));
    if (proposals > 0)
        (void)printf("proposals  %" PRId64 " wait for approval: stint approve\n", proposals);
    if (findings > 0)
        (void)printf("findings   %" PRId64 ": stint doctor\n", findings);
}

static int run(int argc, char **argv)
{
    static char name[] = "stint status";
    const struct argp_child children[] = { { &daemon_rowless_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = { .doc = doc, .children = children };
    struct daemon_options options = { .no_csv = true };
    struct error error = { "" };
    json_t *status = NULL;
    int code = EXIT_DONE;

    if (!operator_parse(&argp, name, argc, argv, &options))
        return EXIT_USAGE;
    if (daemon_get(&options, "/v1/status", &status, &error) < 0)
        return verb_fail("status", &error);
    if (options.format == OUTPUT_JSON) {
        code = print_json("status", status);
    } else {
        status_line_who(stdout, status);
        (void)fputs("links      ", stdout);
        print_links(json_object_get(status, "links"));
        (void)fputs("work       ", stdout);
        status_line_work(stdout, status);
        (void)fputs("machines   ", stdout);
        status_line_machines(stdout, status);
        status_line_bound(stdout, "bound      ", status);
        (void)fputs("bill       ", stdout);
        status_line_money(stdout, status);
        print_budgets(status);
        print_owners(status);
        print_counts(status);
    }
    json_decref(status);
    return code;
}

const struct verb verb_status = {
    .name = "status",
    .summary = "show the daemon's state, jobs and costs",
    .run = run,
    .is_query = true,
};
