/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint commit FILE.csv - what to reserve, from a history of demand.
 */
#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/commit_answer.h"
#include "cli/commit_chart.h"
#include "cli/commit_defaults.h"
#include "cli/commit_report.h"
#include "cli/verb.h"
#include "cli/verb_options.h"
#include "trace/input_file.h"
#include "trace/number.h"

enum { SHORT_HOURS = 8 * 168 }; /* a history below this deserves a word of warning */

enum option_key {
    KEY_OUTPUT = 'o',
    KEY_CLASSES = 0x100,
    KEY_ON_DEMAND,
    KEY_COLUMN,
    KEY_FALL,
    KEY_DISCOUNT_RATE,
    KEY_HAVE,
    KEY_SVG,
};

static const struct argp_option options[] = {
    { "classes", KEY_CLASSES, "FILE", 0,
      "Classes and their prices, as YAML or JSON (default: examples near public list prices)", 0 },
    { "on-demand", KEY_ON_DEMAND, "PRICE", 0,
      "On-demand dollars per machine and hour. The prices of the classes scale with it", 0 },
    { "column", KEY_COLUMN, "NAME", 0, "Plan this column of the history alone (default: all)", 0 },
    { "have", KEY_HAVE, "CLASS=N[@LEFT]", 0,
      "N machines of this class are committed already, with so much of the term left, such as "
      "200d (default: all). Repeatable",
      0 },
    { "fall", KEY_FALL, "SHARE", 0, "Show the effect if demand falls by this share (default 25%)",
      0 },
    { "svg", KEY_SVG, "FILE", 0, "Draw the history and how it would have been paid", 0 },
    { "output", KEY_OUTPUT, "FORMAT", 0, "table (default), wide, json, yaml or csv", 0 },
    { "discount-rate", KEY_DISCOUNT_RATE, "SHARE", 0,
      "Yearly interest on money paid upfront (default 8%; 0: none)", 0 },
    VERB_SORT_OPTION,
    VERB_HTML_OPTION,
    VERB_MD_OPTION,
    { NULL, 0, NULL, 0, NULL, 0 },
};

static const char doc[] =
    "Recommend which commitments to buy (reserved instances, savings plans, committed use) "
    "from hourly usage. The answer has the number of each class, the saving, the lower bound "
    "of all purchases, and the regret if demand falls. Stint buys nothing.\vExamples:\n"
    "  stint commit examples/usage.csv\n"
    "  stint commit usage.csv --classes commitments.yaml --svg plan.svg\n"
    "  stint commit usage.csv --have '1 year, no upfront=12@200d' -o json\n"
    "\n"
    "The history is a CSV table: a column 'hour' (or 'time'), and one or more columns of "
    "machines in use (docs/reference/files/usage-csv.md). Stint plans each column by itself. "
    "docs/reference/files/commitments.md describes the classes.\n"
    "\n"
    "Demand is cut into layers: the lowest machine is always busy, the highest in one hour "
    "only. Each layer gets the class with the cheapest used hours. Growth gets a commitment "
    "once it has lasted.\n"
    "\n"
    "Exit codes: 0 done, 1 failed, 2 wrong usage.";

struct holding_text {
    char *name; /* cut where its number begins */
    uint32_t count;
    msec_t left_ms; /* 0: all of the term */
};

struct arguments {
    const char *path;
    const char *classes;
    const char *column;
    const char *svg;
    money_t price;
    uint32_t fall_ppm;
    uint32_t interest_ppm;
    enum output_format format;
    struct holding_text held[COMMIT_HELD_MAX];
    uint32_t held_count;
};

/* ---- the command line ---- */

static money_t parse_price(const struct argp_state *state, const char *text)
{
    int64_t price = 0;

    if (number_exact(text, strlen(text), 6, &price) < 0 || price <= 0)
        argp_error(state, "--on-demand must be dollars per hour above 0, not '%s'", text);
    return price;
}

/* "25%" or "0.25". */
static uint32_t parse_share(const struct argp_state *state, const char *option, const char *example,
                            const char *text)
{
    const size_t length = strlen(text);
    const bool is_percent = length > 0 && text[length - 1] == '%';
    int64_t value = 0;

    if (number_exact(text, is_percent ? length - 1 : length, is_percent ? 4 : 6, &value) < 0 ||
        value < 0 || value > 1000000)
        argp_error(state, "%s must be a share from 0 to 100%%, such as %s, not '%s'", option,
                   example, text);
    return (uint32_t)value;
}

/* CLASS=N[@LEFT]; a name may hold both characters, so look from the right. */
static void parse_held(const struct argp_state *state, char *text, struct arguments *arguments)
{
    struct holding_text held = { .name = text };
    char *equal = strrchr(text, '=');
    char *at = equal != NULL ? strchr(equal, '@') : NULL;
    const size_t length = equal == NULL ? 0
                          : at != NULL  ? (size_t)(at - equal - 1)
                                        : strlen(equal + 1);
    uint64_t count = 0;

    if (equal == NULL || number_id(equal + 1, length, &count) < 0 || count > USAGE_COUNT_MAX ||
        (at != NULL && (number_duration(at + 1, strlen(at + 1), &held.left_ms) < 0 ||
                        held.left_ms < MSEC_PER_HOUR))) {
        argp_error(state,
                   "--have must be a class, a number and perhaps the time that is left, "
                   "such as '1 year, no upfront=12@200d', not '%s'",
                   text);
        return;
    }
    if (arguments->held_count == COMMIT_HELD_MAX)
        argp_error(state, "--have is there more than %d times", COMMIT_HELD_MAX);
    *equal = '\0';
    held.count = (uint32_t)count;
    arguments->held[arguments->held_count++] = held;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    struct error error = { "" };

    switch (key) {
    case KEY_CLASSES:
        arguments->classes = arg;
        return 0;
    case KEY_ON_DEMAND:
        arguments->price = parse_price(state, arg);
        return 0;
    case KEY_COLUMN:
        arguments->column = arg;
        return 0;
    case KEY_FALL:
        arguments->fall_ppm = parse_share(state, "--fall", "25% or 0.25", arg);
        return 0;
    case KEY_DISCOUNT_RATE:
        arguments->interest_ppm = parse_share(state, "--discount-rate", "8%, 0.08 or 0", arg);
        return 0;
    case KEY_HAVE:
        parse_held(state, arg, arguments);
        return 0;
    case KEY_SVG:
        arguments->svg = arg;
        return 0;
    case KEY_OUTPUT:
        if (output_format_parse(arg, &arguments->format, &error) < 0)
            argp_error(state, "%s", error.text);
        return 0;
    case ARGP_KEY_ARG:
        if (arguments->path != NULL)
            argp_error(state, "one history at a time, not '%s' too", arg);
        arguments->path = arg;
        return 0;
    case ARGP_KEY_END:
        if (arguments->path == NULL)
            argp_error(state, "which history? Name its CSV file, such as examples/usage.csv");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the files ---- */

static int read_classes(const char *path, struct commitments *ret, struct error *reterr)
{
    struct input_file file = { 0 };

    if (path == NULL)
        return commitments_read(commit_defaults, strlen(commit_defaults), ret, reterr);

    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = commitments_read(file.text, file.length, ret, reterr);
    if (rc < 0)
        (void)error_prefix(reterr, rc, path);
    input_file_done(&file);
    return rc;
}

static int read_usage(const char *path, struct usage *ret, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = usage_csv_read(file.text, file.length, ret, reterr);
    if (rc < 0)
        (void)error_prefix(reterr, rc, path);
    input_file_done(&file);
    return rc;
}

/* ---- the answers ---- */

struct answers {
    struct commit_answer *list;
    uint32_t count;
};

static uint32_t find_class(const struct commitments *commitments, const char *name)
{
    for (uint32_t k = 1; k < commitments->class_count; k++) {
        if (strcmp(commitments->classes[k].name, name) == 0)
            return k;
    }
    return 0;
}

/* "'a', 'b', 'c'", cut to what fits. */
static void add_word(char *list, size_t size, const char *word)
{
    const size_t used = strlen(list);

    (void)snprintf(list + used, size - used, "%s'%s'", used > 0 ? ", " : "", word);
}

static int no_class(const struct commitments *commitments, const char *name, struct error *reterr)
{
    char list[ERROR_TEXT_SIZE] = "";

    for (uint32_t k = 1; k < commitments->class_count; k++)
        add_word(list, sizeof(list), commitments->classes[k].name);
    return error_set(reterr, -EINVAL, "--have: there is no class '%s'; there are: %s", name, list);
}

static int no_column(const struct arguments *arguments, const struct names *columns,
                     struct error *reterr)
{
    char list[ERROR_TEXT_SIZE] = "";

    for (uint32_t i = 0; i < columns->count; i++)
        add_word(list, sizeof(list), names_text(columns, i));
    return error_set(reterr, -EINVAL, "%s has no column '%s'; it has: %s", arguments->path,
                     arguments->column, list);
}

static int take_held(const struct arguments *arguments, struct commit_question *question,
                     struct error *reterr)
{
    for (uint32_t i = 0; i < arguments->held_count; i++) {
        const struct holding_text *held = &arguments->held[i];
        const uint32_t k = find_class(question->commitments, held->name);

        if (k == 0)
            return no_class(question->commitments, held->name, reterr);

        const uint32_t term = question->commitments->classes[k].term_hours;
        const msec_t left = held->left_ms / MSEC_PER_HOUR;

        if (left > term)
            return error_set(reterr, -EINVAL,
                             "--have: a '%s' lasts %" PRIu32 " hours, so %" PRId64
                             " cannot be left",
                             held->name, term, left);
        question->held[question->held_count++] = (struct portfolio_holding){
            .class_index = k, .count = held->count, .left_hours = left > 0 ? (uint32_t)left : term
        };
    }
    return 0;
}

/* Which columns; 'ret_to' is behind the last. */
static int choose_columns(const struct arguments *arguments, const struct usage *usage,
                          uint32_t *ret_from, uint32_t *ret_to, struct error *reterr)
{
    *ret_from = 0;
    *ret_to = usage->columns.count;
    if (arguments->column != NULL) {
        *ret_from = names_find(&usage->columns, arguments->column, strlen(arguments->column));
        *ret_to = *ret_from + 1;
        if (*ret_from == NAME_NONE)
            return no_column(arguments, &usage->columns, reterr);
    }
    if (arguments->held_count > 0 && *ret_to - *ret_from > 1)
        return error_set(reterr, -EINVAL,
                         "--have: %s has several columns; choose the one it is for by --column",
                         arguments->path);
    return 0;
}

static int find_answers(const struct commit_question *question, uint32_t from, uint32_t to,
                        struct answers *answers, struct error *reterr)
{
    struct arena arena;
    int rc = 0;

    arena_init(&arena);
    answers->list = mem_alloc(to - from, sizeof(*answers->list));
    for (uint32_t i = from; rc == 0 && i < to; i++) {
        rc = commit_answer(question, i, &arena, &answers->list[answers->count], reterr);
        if (rc < 0)
            (void)error_prefix(reterr, rc, names_text(&question->usage->columns, i));
        else
            answers->count++;
        arena_reset(&arena);
    }
    arena_done(&arena);
    return rc;
}

static int draw(const struct answers *answers, const char *path, struct error *reterr)
{
    FILE *out = fopen(path, "we");
    int rc = 0;

    if (out == NULL)
        rc = -errno;
    else
        rc = commit_chart_write(answers->list, answers->count, out);
    if (out != NULL && fclose(out) != 0 && rc == 0)
        rc = -errno;
    if (rc < 0)
        return error_set(reterr, rc, "%s: cannot be written: %s", path, strerror(-rc));
    return 0;
}

static void warn(const struct usage *usage)
{
    if (usage->gap_hours > 0)
        (void)fprintf(stderr,
                      "stint commit: %" PRIu32 " of %" PRIu32
                      " hours have no row; they count as 0 machines\n",
                      usage->gap_hours, usage->hours);
    if (usage->hours < SHORT_HOURS)
        (void)fprintf(stderr,
                      "stint commit: the history has only %" PRIu32
                      " hours; promises of years should rest on more\n",
                      usage->hours);
}

static int answer(const struct arguments *arguments, const struct commit_question *question,
                  uint32_t from, uint32_t to, struct error *reterr)
{
    struct answers answers = { 0 };
    int rc = find_answers(question, from, to, &answers, reterr);

    if (rc == 0 && arguments->svg != NULL)
        rc = draw(&answers, arguments->svg, reterr);
    if (rc == 0) {
        rc = commit_report_write(answers.list, answers.count, arguments->format, stdout);
        if (rc < 0)
            (void)error_set(reterr, rc, "the answer cannot be written: %s", strerror(-rc));
    }
    mem_free(answers.list);
    return rc;
}

static int advise(const struct arguments *arguments)
{
    struct commitments commitments;
    struct usage usage;
    struct error error = { "" };
    uint32_t from = 0;
    uint32_t to = 0;
    int code = EXIT_DONE;

    if (read_classes(arguments->classes, &commitments, &error) < 0)
        return verb_fail("commit", &error);
    if (read_usage(arguments->path, &usage, &error) < 0) {
        commitments_done(&commitments);
        return verb_fail("commit", &error);
    }

    struct commit_question question = { .usage = &usage,
                                        .commitments = &commitments,
                                        .price = arguments->price,
                                        .fall_ppm = arguments->fall_ppm,
                                        .interest_ppm = arguments->interest_ppm };

    if (take_held(arguments, &question, &error) < 0 ||
        choose_columns(arguments, &usage, &from, &to, &error) < 0) {
        (void)verb_fail("commit", &error);
        code = EXIT_USAGE;
    } else {
        warn(&usage);
        if (answer(arguments, &question, from, to, &error) < 0)
            code = verb_fail("commit", &error);
    }
    usage_done(&usage);
    commitments_done(&commitments);
    return code;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint commit";
    struct arguments arguments = { .fall_ppm = 250000, .interest_ppm = 80000 };
    const struct argp argp = {
        .options = options, .parser = parse, .args_doc = "FILE.csv", .doc = doc
    };

    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    if (verb_options(&argp, argc, argv, &arguments) != 0)
        return EXIT_USAGE;
    return advise(&arguments);
}

const struct verb verb_commit = {
    .name = "commit",
    .summary = "recommend reservations, with their savings and risks",
    .run = run,
    .has_rows = true,
    .sort_columns =
        "column, class, term_hours, buy, held, commit_usd_per_hour, busy_past, "
        "busy_expected, busy_fallen, busy_needed, busy_break_even, covers, "
        "usd_per_used_hour, upfront_usd, saving_usd_per_month, why, payback_month, payback_calendar_month, payback, discount_rate, have, busy, "
        "expected, needs, price, upfront, saves, term, fallen, regret, even",
    .report_title = "What to commit to",
    .baseline = "The same usage on demand throughout, at the prices named above.",
    .not_counted =
        "Taxes, prices that change, the sale of commitments that are no longer needed, and "
        "usage that is not in the file.",
};
