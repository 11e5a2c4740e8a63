/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint pool - which spot machines to rent so that a capacity is there for a promised share of the time.
 */
#include <argp.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/pool_answer.h"
#include "cli/pool_report.h"
#include "cli/verb.h"
#include "cli/verb_options.h"
#include "trace/number.h"

enum option_key {
    KEY_OUTPUT = 'o',
    KEY_CAPACITY = 0x100,
    KEY_AVAILABILITY,
    KEY_CATALOGUE,
    KEY_HISTORY,
    KEY_UNIT,
    KEY_RULE,
    KEY_CONFIDENCE,
    KEY_OUTAGE,
    KEY_SURVIVE,
    KEY_SVG,
};

static const struct argp_option options[] = {
    { "capacity", KEY_CAPACITY, "N", 0, "Units to provide (required)", 0 },
    { "availability", KEY_AVAILABILITY, "P", 0,
      "Share of the time with the full capacity, such as 99.9% or 0.999 (required)", 0 },
    { "catalogue", KEY_CATALOGUE, "FILE", 0,
      "Machines to rent: a catalogue (YAML or JSON), or a CSV table with availabilities "
      "(default: an example)",
      0 },
    { "history", KEY_HISTORY, "FILE", 0, "Past prices or shortages, as CSV, to learn losses from",
      0 },
    { "unit", KEY_UNIT, "UNIT", 0, "A unit of a catalogue's machines: cpu (default), gib or accel",
      0 },
    { "rule", KEY_RULE, "RULE", 0,
      "best (default), greedy, k-of-n, fleet-cheapest, fleet-diverse or availability-only", 0 },
    { "confidence", KEY_CONFIDENCE, "SHARE", 0,
      "Required confidence in shares learned from a history (default 95%)", 0 },
    { "outage", KEY_OUTAGE, "TIME", 0, "Length of an outage, if the data lacks it (default 10m)",
      0 },
    { "survive-types", KEY_SURVIVE, "WHETHER", 0,
      "yes: survive the loss of a whole type in all its zones; no (default: yes if several "
      "types are offered in several zones)",
      0 },
    { "svg", KEY_SVG, "FILE", 0,
      "Draw the distribution of the capacity, and the cost of other targets", 0 },
    { "output", KEY_OUTPUT, "FORMAT", 0, "table (default), wide, json, yaml or csv", 0 },
    VERB_SORT_OPTION,
    VERB_HTML_OPTION,
    VERB_MD_OPTION,
    { NULL, 0, NULL, 0, NULL, 0 },
};

static const char doc[] =
    "Choose the cheapest spot machines that provide a capacity for a promised share of the "
    "time. The answer has the pool, its price, the distribution of its capacity, the losses "
    "it survives, and the risks it leaves out. Stint rents nothing here.\vExamples:\n"
    "  stint pool --capacity 500 --availability 99.99%\n"
    "  stint pool --capacity 500 --availability 99.99% --history prices.csv\n"
    "  stint pool --capacity 5000 --availability 0.99999 --svg pool.svg\n"
    "\n"
    "An offer is a type in a zone. Its machines are lost together. Different offers are lost "
    "independently, unless a history shows joint losses. docs/reference/files/offers-csv.md "
    "and prices-csv.md describe the tables.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 4 every pool that keeps the promise costs "
    "more than on-demand (the best pool is printed).";

enum survive { SURVIVE_DEFAULT, SURVIVE_YES, SURVIVE_NO };

struct arguments {
    struct pool_settings settings;
    int64_t capacity;
    double short_most; /* 0: not given */
    enum pool_rule rule;
    enum survive survive;
    const char *svg;
    enum output_format format;
};

/* ---- the command line ---- */

/* What is missing to 1 of "99.9%" or "0.999"; exact to 15 digits. */
static double parse_missing(const struct argp_state *state, const char *option, const char *text)
{
    const size_t length = strlen(text);
    const bool is_percent = length > 0 && text[length - 1] == '%';
    const int64_t one = 1000000000000000;
    int64_t value = 0;

    if (number_exact(text, is_percent ? length - 1 : length, is_percent ? 13 : 15, &value) < 0 ||
        value <= 0 || value >= one)
        argp_error(state,
                   "%s must be a share above 0 and below 100%%, such as 99.9%% or 0.999, not '%s'",
                   option, text);
    return (double)(one - value) / (double)one;
}

static int64_t parse_capacity(const struct argp_state *state, const char *text)
{
    uint64_t value = 0;

    if (number_id(text, strlen(text), &value) < 0 || value < 1 || value > POOL_UNITS_MAX)
        argp_error(state, "--capacity must be a whole number from 1 to %d, not '%s'",
                   POOL_UNITS_MAX, text);
    return (int64_t)value;
}

/* The place of the text in a list of words. */
static int parse_word(const struct argp_state *state, const char *option, const char *text,
                      const char *const *words, int count)
{
    char known[160] = "";
    size_t used = 0;

    for (int i = 0; i < count; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        if (used < sizeof(known))
            used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s", i > 0 ? ", " : "",
                                     words[i]);
    }
    argp_error(state, "%s must be one of %s, not '%s'", option, known, text);
    return 0;
}

static msec_t parse_outage(const struct argp_state *state, const char *text)
{
    msec_t outage = 0;

    if (number_duration(text, strlen(text), &outage) < 0 || outage < 1 ||
        outage > MSEC_PER_HOUR * 24 * 366)
        argp_error(state, "--outage must be a length of time up to a year, such as 10m, not '%s'",
                   text);
    return outage;
}

static void check_whole(const struct argp_state *state)
{
    const struct arguments *arguments = state->input;

    if (arguments->capacity == 0)
        argp_error(state, "how much? Give --capacity, such as --capacity 500");
    if (arguments->short_most <= 0)
        argp_error(state, "for which share of the time? Give --availability, such as 99.9%%");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const char *const unit_words[] = { "cpu", "gib", "accel" };
    static const char *const survive_words[] = { "default", "yes", "no" };
    struct arguments *arguments = state->input;
    struct error error = { "" };

    switch (key) {
    case KEY_CAPACITY:
        arguments->capacity = parse_capacity(state, arg);
        return 0;
    case KEY_AVAILABILITY:
        arguments->short_most = parse_missing(state, "--availability", arg);
        return 0;
    case KEY_CATALOGUE:
        arguments->settings.catalogue = arg;
        return 0;
    case KEY_HISTORY:
        arguments->settings.history = arg;
        return 0;
    case KEY_UNIT:
        arguments->settings.unit = (enum pool_unit)parse_word(state, "--unit", arg, unit_words, 3);
        return 0;
    case KEY_RULE:
        arguments->rule =
            (enum pool_rule)parse_word(state, "--rule", arg, pool_rule_words, POOL_RULES);
        return 0;
    case KEY_CONFIDENCE:
        arguments->settings.confidence = 1 - parse_missing(state, "--confidence", arg);
        return 0;
    case KEY_OUTAGE:
        arguments->settings.outage = parse_outage(state, arg);
        return 0;
    case KEY_SURVIVE:
        arguments->survive =
            (enum survive)(1 + parse_word(state, "--survive-types", arg, survive_words + 1, 2));
        return 0;
    case KEY_SVG:
        arguments->svg = arg;
        return 0;
    case KEY_OUTPUT:
        if (output_format_parse(arg, &arguments->format, &error) < 0)
            argp_error(state, "%s", error.text);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "'%s' is one argument too many", arg);
        return 0;
    case ARGP_KEY_END:
        check_whole(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the answer ---- */

static int draw(const struct pool_answer *answer, const char *path, struct error *reterr)
{
    FILE *out = fopen(path, "we");
    int rc = out == NULL ? -errno : pool_chart_write(answer, out);

    if (out != NULL && fclose(out) != 0 && rc == 0)
        rc = -errno;
    if (rc < 0)
        return error_set(reterr, rc, "%s: cannot be written: %s", path, strerror(-rc));
    return 0;
}

static int answer_question(const struct arguments *arguments, const struct pool_question *question)
{
    struct pool_answer answer;
    struct error error = { "" };
    struct arena arena;
    int code = EXIT_DONE;

    arena_init(&arena);

    int rc = pool_answer(question, &arena, &answer, &error);

    if (rc == 0 && arguments->svg != NULL)
        rc = draw(&answer, arguments->svg, &error);
    if (rc == 0 && (rc = pool_report_write(&answer, arguments->format, stdout)) < 0)
        (void)error_set(&error, rc, "the answer cannot be written: %s", strerror(-rc));
    if (rc < 0)
        code = verb_fail("pool", &error);
    else if (!answer.is_worth_it)
        code = EXIT_DIFFERS;
    arena_done(&arena);
    return code;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint pool";
    struct arguments arguments = { .settings = { .confidence = 0.95,
                                                 .outage = 600 * MSEC_PER_SEC } };
    const struct argp argp = { .options = options, .parser = parse, .doc = doc };
    struct pool_input input;
    struct error error = { "" };

    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    if (verb_options(&argp, argc, argv, &arguments) != 0)
        return EXIT_USAGE;
    if (pool_input_read(&arguments.settings, &input, &error) < 0)
        return verb_fail("pool", &error);

    const struct pool_question question = {
        .settings = &arguments.settings,
        .input = &input,
        .capacity = arguments.capacity,
        .short_most = arguments.short_most,
        .rule = arguments.rule,
        .survives_types =
            arguments.survive == SURVIVE_YES ||
            (arguments.survive == SURVIVE_DEFAULT && input.has_types_in_zones && input.types > 1),
    };
    const int code = answer_question(&arguments, &question);

    pool_input_done(&input);
    return code;
}

const struct verb verb_pool = {
    .name = "pool",
    .summary = "choose spot machines for a guaranteed capacity",
    .run = run,
    .has_rows = true,
    .sort_columns = "machines, type, zone, capacity, price_usd, down, source, left_offer, "
                    "left_type, left_zone, short",
    .report_title = "Which spot machines to rent",
};
