/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commit_report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "draw/digits.h"

enum { WEEK_HOURS = 168, YEAR_HOURS = 8760, DAY_HOURS = 24 };

#define MISSING ((double)NAN) /* as a cell of a table */

static const double ppm = 1e6;

/* ---- numbers and words ---- */

static struct digits dollars(money_t value, uint32_t fraction)
{
    return digits_of_fixed(value, 6, fraction, DIGITS_GROUPED);
}

/* A price per hour, with as many digits as tell it from its neighbours. */
static struct digits price_text(double micro_dollars)
{
    return digits_of_real(micro_dollars / (double)MONEY_PER_USD, 3, DIGITS_GROUPED);
}

static struct digits percent(double share)
{
    return digits_of_real(100 * share, 1, DIGITS_GROUPED);
}

static struct digits whole(uint64_t value)
{
    return digits_of_fixed((int64_t)value, 0, 0, DIGITS_GROUPED);
}

static double share_of(money_t part, money_t total)
{
    return total > 0 ? (double)part / (double)total : 0;
}

/* A rate that is given in millionths, with the digits that it has: "8", "7.25". */
static struct digits rate_text(uint32_t rate_ppm)
{
    uint32_t digits = 4;

    while (digits > 0 && rate_ppm % 10 == 0) {
        rate_ppm /= 10;
        digits--;
    }
    return digits_of_fixed(rate_ppm, digits, digits, DIGITS_PLAIN);
}

struct span_text {
    char text[DIGITS_SIZE + 16];
};

/* "3 years", "65 weeks", "20 days", "7 hours": the largest unit that is whole or nearly so. */
static struct span_text span_text(uint32_t hours)
{
    struct span_text span;
    const char *unit = "hour";
    uint32_t count = hours;

    if (hours % YEAR_HOURS == 0) {
        count = hours / YEAR_HOURS;
        unit = "year";
    } else if (hours >= 8 * WEEK_HOURS) {
        count = (hours + WEEK_HOURS / 2) / WEEK_HOURS;
        unit = "week";
    } else if (hours >= 4 * DAY_HOURS) {
        count = (hours + DAY_HOURS / 2) / DAY_HOURS;
        unit = "day";
    }
    (void)snprintf(span.text, sizeof(span.text), "%s %s%s", whole(count).text, unit,
                   count == 1 ? "" : "s");
    return span;
}

/* ---- one class ---- */

static bool has_interest(const struct commit_answer *answer)
{
    return answer->question->interest_ppm > 0;
}

enum { PAYBACK_SIZE = 96 };

/* "month 14 (August 2027)"; nothing of a class that is not bought. */
static bool say_payback(const struct commit_answer *answer, uint32_t class_index,
                        char ret[static PAYBACK_SIZE])
{
    const struct portfolio_advice_line *line = &answer->advice.of_class[class_index];
    const struct usage *usage = answer->question->usage;
    const uint32_t month = line->payback_month;

    if (line->buy == 0)
        return false;
    if (month == 0)
        (void)snprintf(ret, PAYBACK_SIZE, "never within the term");
    else if (usage->has_dates)
        (void)snprintf(ret, PAYBACK_SIZE, "month %" PRIu32 " (%s)", month,
                       usage_month(usage, usage->hours, month).words);
    else
        (void)snprintf(ret, PAYBACK_SIZE, "month %" PRIu32, month);
    return true;
}

/* How often a class must be used; not finite: another one is always better. */
static double level_of(const struct commit_answer *answer, uint32_t class_index)
{
    const double level = commitment_level(answer->carried, answer->class_count, class_index);

    return level <= 1 ? level : MISSING;
}

/* Which share of the expected machine-hours runs in a class. */
static double covered_share(const struct commit_answer *answer, uint32_t class_index)
{
    const struct portfolio_advice_line *line = &answer->advice.of_class[class_index];
    const double count = (double)line->buy + line->held;

    return answer->advice.expected_mean > 0 ? count * line->busy / answer->advice.expected_mean : 0;
}

static double on_demand_share(const struct commit_answer *answer)
{
    double rest = 1;

    for (uint32_t k = 1; k < answer->class_count; k++)
        rest -= covered_share(answer, k);
    return fmax(0, rest);
}

/* What a class is promised in: machines, or dollars per hour of its own prices. */
static money_t committed_dollars(const struct commit_answer *answer, uint32_t class_index)
{
    const struct commitment *listed = &answer->question->commitments->classes[class_index];

    if (listed->unit != COMMITMENT_DOLLAR)
        return MONEY_UNKNOWN;

    const money_t each = mul_div(answer->price, (int64_t)ppm - listed->discount_ppm, (int64_t)ppm);

    return each * answer->advice.of_class[class_index].buy;
}

static void name_machines(const struct portfolio_advice_line *line, FILE *out)
{
    const uint64_t first = (uint64_t)line->layer + 1;
    const uint64_t last = (uint64_t)line->layer + line->buy + line->held;

    if (first == 1 && last == 1)
        (void)fputs("The lowest machine was", out);
    else if (first == 1)
        (void)fprintf(out, "The lowest %s machines were", whole(last).text);
    else if (first == last)
        (void)fprintf(out, "Machine %s was", whole(last).text);
    else
        (void)fprintf(out, "Machines %s to %s were", whole(first).text, whole(last).text);
}

/* Why as many of a class are bought, in words; some are. 'gap' stands between sentences. */
static void explain_class(const struct commit_answer *answer, uint32_t class_index, const char *gap,
                          FILE *out)
{
    const struct portfolio_advice_line *line = &answer->advice.of_class[class_index];
    const money_t committed = committed_dollars(answer, class_index);

    name_machines(line, out);
    (void)fprintf(
        out,
        " busy %s %% of the past %s.%sAt that, '%s' costs $%s per hour of use%s "
        "instead of $%s.",
        percent(line->busy_seen).text, span_text(answer->question->usage->hours).text, gap,
        answer->classes[class_index].name,
        price_text(commit_answer_used_price(answer, class_index, line->busy_seen)).text,
        has_interest(answer) && answer->classes[class_index].upfront > 0 ? " with interest" : "",
        price_text((double)answer->price).text);
    if (committed != MONEY_UNKNOWN)
        (void)fprintf(out, "%sFor %s machines that is a promise of $%s per hour.", gap,
                      whole(line->buy).text, dollars(committed, 3).text);
}

/* ---- rows ---- */

/* For programs; the first and the last are for CSV only, as JSON says that once. */
static const struct report_column all_columns[] = {
    { .key = "column", .heading = "column", .kind = REPORT_TEXT },
    { .key = "class", .heading = "class", .kind = REPORT_TEXT },
    { .key = "term_hours", .heading = "term", .kind = REPORT_INTEGER },
    { .key = "buy", .heading = "buy", .kind = REPORT_INTEGER },
    { .key = "held", .heading = "held", .kind = REPORT_INTEGER },
    { .key = "commit_usd_per_hour", .heading = "$ per hour", .kind = REPORT_MONEY },
    { .key = "busy_past", .heading = "busy", .kind = REPORT_DECIMAL, .digits = 6 },
    { .key = "busy_expected", .heading = "expected", .kind = REPORT_DECIMAL, .digits = 6 },
    { .key = "busy_fallen", .heading = "fallen", .kind = REPORT_DECIMAL, .digits = 6 },
    { .key = "busy_needed", .heading = "needs", .kind = REPORT_DECIMAL, .digits = 6 },
    { .key = "busy_break_even", .heading = "even", .kind = REPORT_DECIMAL, .digits = 6 },
    { .key = "covers", .heading = "covers", .kind = REPORT_DECIMAL, .digits = 6 },
    { .key = "usd_per_used_hour", .heading = "price", .kind = REPORT_DECIMAL, .digits = 6 },
    { .key = "upfront_usd", .heading = "upfront", .kind = REPORT_MONEY },
    { .key = "saving_usd_per_month", .heading = "saves", .kind = REPORT_MONEY },
    { .key = "why", .heading = "why", .kind = REPORT_TEXT },
    { .key = "payback_month", .heading = "payback", .kind = REPORT_INTEGER },
    { .key = "payback_calendar_month", .heading = "until", .kind = REPORT_TEXT },
    { .key = "payback", .heading = "pays back", .kind = REPORT_TEXT },
    { .key = "discount_rate", .heading = "rate", .kind = REPORT_DECIMAL, .digits = 6 },
};

enum { ALL_COLUMNS = sizeof(all_columns) / sizeof(all_columns[0]) };

static void add_on_demand(struct report_table *table, const struct commit_answer *answer)
{
    report_table_add_text(table, answer->classes[0].name);
    for (int i = 0; i < 9; i++)
        report_table_add_missing(table);
    report_table_add_real(table, on_demand_share(answer));
    report_table_add_real(table, (double)answer->price / (double)MONEY_PER_USD);
    for (int i = 0; i < 6; i++)
        report_table_add_missing(table);
}

static void add_reason(struct report_table *table, const struct commit_answer *answer, uint32_t k)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out != NULL && answer->advice.of_class[k].buy > 0)
        explain_class(answer, k, " ", out);
    if (out != NULL)
        (void)fclose(out);
    report_table_add_text(table, size > 0 ? text : NULL);
    free(text);
}

static void add_payback(struct report_table *table, const struct commit_answer *answer, uint32_t k)
{
    const uint32_t month = answer->advice.of_class[k].payback_month;
    const struct usage *usage = answer->question->usage;
    char text[PAYBACK_SIZE];

    if (month > 0)
        report_table_add_integer(table, month);
    else
        report_table_add_missing(table);
    report_table_add_text(table, month > 0 && usage->has_dates
                                     ? usage_month(usage, usage->hours, month).digits
                                     : NULL);
    report_table_add_text(table, say_payback(answer, k, text) ? text : NULL);
}

static void add_class(struct report_table *table, const struct commit_answer *answer, uint32_t k)
{
    const struct portfolio_advice_line *line = &answer->advice.of_class[k];
    const bool is_used = line->buy + line->held > 0;

    report_table_add_text(table, answer->classes[k].name);
    report_table_add_integer(table, answer->classes[k].term_hours);
    report_table_add_integer(table, line->buy);
    report_table_add_integer(table, line->held);
    report_table_add_money(table, committed_dollars(answer, k));
    report_table_add_real(table, is_used ? line->busy_seen : MISSING);
    report_table_add_real(table, is_used ? line->busy : MISSING);
    report_table_add_real(table, is_used ? line->busy_fallen : MISSING);
    report_table_add_real(table, level_of(answer, k));
    report_table_add_real(table, commitment_break_even(&answer->carried[k], answer->price));
    report_table_add_real(table, covered_share(answer, k));
    report_table_add_real(table, is_used ? commit_answer_used_price(answer, k, line->busy) /
                                               (double)MONEY_PER_USD
                                         : MISSING);
    report_table_add_money(table, answer->classes[k].upfront * line->buy);
    report_table_add_money(table, commit_answer_saving(answer, k));
    add_reason(table, answer, k);
    add_payback(table, answer, k);
}

/* The rows of a column; in CSV each begins with its name and ends with the rate. */
static void add_rows(struct report_table *table, const struct commit_answer *answer, bool is_csv)
{
    for (uint32_t i = 1; i <= answer->class_count; i++) {
        const uint32_t k = i < answer->class_count ? i : 0;

        if (is_csv)
            report_table_add_text(table, answer->column);
        if (k > 0)
            add_class(table, answer, k);
        else
            add_on_demand(table, answer);
        if (is_csv)
            report_table_add_real(table, answer->question->interest_ppm / ppm);
    }
}

static void note_advice(struct report_table *table, const struct commit_answer *answer)
{
    const struct portfolio_advice *advice = &answer->advice;
    const money_t saving = commit_rates_saving(&advice->expected);
    const money_t month = COMMIT_MONTH_HOURS;

    report_table_note_real(table, "mean_expected", advice->expected_mean, 3);
    report_table_note_integer(table, "horizon_hours", advice->horizon_hours);
    report_table_note_money(table, "upfront_usd", advice->upfront);
    report_table_note_money(table, "on_demand_usd_per_month", advice->expected.on_demand * month);
    report_table_note_money(table, "advised_usd_per_month", advice->expected.with * month);
    report_table_note_money(table, "least_usd_per_month", advice->expected.least * month);
    report_table_note_money(table, "saving_usd_per_month", saving);
    report_table_note_money(table, "saving_usd_over_horizon",
                            commit_rates_saving_today(&advice->expected,
                                                      answer->question->interest_ppm,
                                                      advice->horizon_hours));
    report_table_note_money(table, "fallen_saving_usd_per_month",
                            commit_rates_saving(&advice->fallen));
    report_table_note_money(table, "fallen_regret_usd_per_month",
                            commit_rates_regret(&advice->fallen));
    report_table_note_real(table, "break_even_fall", advice->break_even_ppm / ppm, 6);
}

static void note_all(struct report_table *table, const struct commit_answer *answer)
{
    const struct commit_question *question = answer->question;

    report_table_note_text(table, "prices", question->commitments->title);
    report_table_note_money(table, "on_demand_usd_per_hour", answer->price);
    report_table_note_real(table, "discount_rate", question->interest_ppm / ppm, 6);
    report_table_note_text(table, "first", usage_time_text(question->usage, 0).text);
    report_table_note_integer(table, "hours", question->usage->hours);
    report_table_note_integer(table, "hours_missing", question->usage->gap_hours);
    report_table_note_real(table, "mean", answer->mean, 3);
    report_table_note_integer(table, "peak", answer->peak);
    report_table_note_real(table, "fall", question->fall_ppm / ppm, 6);
    note_advice(table, answer);
    report_table_note_money(table, "past_on_demand_usd", answer->past.on_demand);
    report_table_note_money(table, "past_online_usd", answer->past.online);
    report_table_note_money(table, "past_greedy_usd", answer->past.greedy);
    report_table_note_money(table, "past_bound_usd", answer->past.bound);
}

static int write_json(const struct commit_answer *answers, uint32_t count, FILE *out)
{
    int rc = 0;

    (void)fputs("[\n", out);
    for (uint32_t i = 0; rc == 0 && i < count; i++) {
        struct report_table *table =
            report_table_create(answers[i].column, all_columns + 1, ALL_COLUMNS - 2);

        (void)fputs(i > 0 ? ",\n" : "", out);
        note_all(table, &answers[i]);
        add_rows(table, &answers[i], false);
        rc = report_table_write(table, OUTPUT_JSON, out);
        report_table_destroy(table);
    }
    (void)fputs("]\n", out);
    return rc;
}

static int write_csv(const struct commit_answer *answers, uint32_t count, FILE *out)
{
    struct report_table *table = report_table_create("commitments", all_columns, ALL_COLUMNS);

    for (uint32_t i = 0; i < count; i++)
        add_rows(table, &answers[i], true);

    const int rc = report_table_write(table, OUTPUT_CSV, out);

    report_table_destroy(table);
    return rc;
}

/* ---- for people ---- */

static const struct report_column shown_columns[] = {
    { .key = "class", .heading = "class", .kind = REPORT_TEXT },
    { .key = "buy", .heading = "buy", .kind = REPORT_INTEGER },
    { .key = "have", .heading = "have", .kind = REPORT_INTEGER },
    { .key = "busy", .heading = "busy so far %", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "expected", .heading = "busy expected %", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "needs", .heading = "pays from %", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "covers", .heading = "share of hours %", .kind = REPORT_DECIMAL, .digits = 1 },
    { .key = "price", .heading = "$ per used hour", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "upfront", .heading = "upfront $", .kind = REPORT_MONEY, .digits = 0 },
    { .key = "saves", .heading = "saves $ per month", .kind = REPORT_MONEY, .digits = 0 },
    { .key = "payback_month", .heading = "payback month", .align = REPORT_ALIGN_RIGHT },
};

enum { SHOWN_COLUMNS = sizeof(shown_columns) / sizeof(shown_columns[0]), SHOWN_HAVE = 2 };

/* What is there already has a column only if there is something. */
static struct report_table *create_shown(const struct commit_answer *answer)
{
    struct report_column columns[SHOWN_COLUMNS];
    uint32_t count = 0;

    for (uint32_t i = 0; i < SHOWN_COLUMNS; i++) {
        if (i != SHOWN_HAVE || answer->question->held_count > 0)
            columns[count++] = shown_columns[i];
    }
    return report_table_create(answer->column, columns, count);
}

/* A count that on demand has not. */
static void show_count(struct report_table *table, uint32_t k, uint32_t count)
{
    if (k == 0)
        report_table_add_missing(table);
    else
        report_table_add_integer(table, count);
}

static void show_class(struct report_table *table, const struct commit_answer *answer, uint32_t k)
{
    const struct portfolio_advice_line *line = &answer->advice.of_class[k];
    const bool is_used = line->buy + line->held > 0;

    report_table_add_text(table, answer->classes[k].name);
    show_count(table, k, line->buy);
    if (answer->question->held_count > 0)
        show_count(table, k, line->held);
    report_table_add_real(table, is_used ? 100 * line->busy_seen : MISSING);
    report_table_add_real(table, is_used ? 100 * line->busy : MISSING);
    report_table_add_real(table, k > 0 ? 100 * level_of(answer, k) : MISSING);
    if (k > 0 && !is_used)
        report_table_add_missing(table);
    else
        report_table_add_real(table,
                              100 * (k > 0 ? covered_share(answer, k) : on_demand_share(answer)));
    if (k == 0)
        report_table_add_real(table, (double)answer->price / (double)MONEY_PER_USD);
    else
        report_table_add_real(table, is_used ? commit_answer_used_price(answer, k, line->busy) /
                                                   (double)MONEY_PER_USD
                                             : MISSING);
    report_table_add_money(table,
                           line->buy > 0 ? answer->classes[k].upfront * line->buy : MONEY_UNKNOWN);
    report_table_add_money(table, line->buy > 0 ? commit_answer_saving(answer, k) : MONEY_UNKNOWN);
    if (line->buy == 0)
        report_table_add_missing(table);
    else
        report_table_add_text(table,
                              line->payback_month > 0 ? whole(line->payback_month).text : "never");
}

/* A class that another one beats in every way is only named. */
static bool is_worth_showing(const struct commit_answer *answer, uint32_t k)
{
    const struct portfolio_advice_line *line = &answer->advice.of_class[k];

    return k == 0 || line->buy > 0 || line->held > 0 || isfinite(level_of(answer, k));
}

static void show_beaten(const struct commit_answer *answer, FILE *out)
{
    const char *before = "Never the cheapest at these prices: ";
    size_t width = 0;

    for (uint32_t k = 1; k < answer->class_count; k++) {
        const size_t length = strlen(answer->classes[k].name) + 2;

        if (is_worth_showing(answer, k))
            continue;
        if (width + length > REPORT_WIDTH) {
            before = ";\n  ";
            width = 0;
        }
        (void)fprintf(out, "%s%s", before, answer->classes[k].name);
        width += strlen(before) + length;
        before = "; ";
    }
    if (width > 0)
        (void)fputs(".\n", out);
}

static int show_classes(const struct commit_answer *answer, FILE *out)
{
    struct report_table *table = create_shown(answer);
    uint32_t order[COMMITMENT_CLASSES_MAX];
    const uint32_t count = commit_answer_order(answer, order);

    for (uint32_t i = 0; i < count; i++) {
        if (is_worth_showing(answer, order[i]))
            show_class(table, answer, order[i]);
    }

    const int rc = report_table_write(table, OUTPUT_TABLE, out);

    report_table_destroy(table);
    return rc;
}

/* What the rate does to a bill. */
static void show_rate(uint32_t rate_ppm, FILE *out)
{
    const money_t due = 1000 * MONEY_PER_USD;
    const int64_t million = 1000000;

    if (rate_ppm == 0) {
        (void)fputs("Discount rate: 0 %. Money paid upfront counts without interest.\n\n", out);
        return;
    }
    (void)fprintf(out,
                  "Discount rate: %s %% a year. $1,000 due in a year counts as $%s today,\n  so "
                  "every cost and saving below includes interest on what is paid upfront.\n\n",
                  rate_text(rate_ppm).text,
                  dollars(mul_div(due, million, million + rate_ppm), 0).text);
}

static void show_history(const struct commit_answer *answer, FILE *out)
{
    const struct commit_question *question = answer->question;
    const struct usage *usage = question->usage;
    const char *title = question->commitments->title;

    (void)fprintf(out, "%s: %s hours from %s on, %s machines on average, %s at most.\n",
                  answer->column, whole(usage->hours).text, usage_time_text(usage, 0).text,
                  digits_of_real(answer->mean, 1, DIGITS_GROUPED).text, whole(answer->peak).text);
    (void)fprintf(out, "Prices: $%s per hour on demand%s%s.\n",
                  price_text((double)answer->price).text, title != NULL ? "; " : "",
                  title != NULL ? title : "");
    show_rate(question->interest_ppm, out);
}

/* The least share of hours that any class asks for. */
static double least_level(const struct commit_answer *answer)
{
    double least = 1;

    for (uint32_t k = 1; k < answer->class_count; k++)
        least = fmin(least, commitment_break_even(&answer->carried[k], answer->price));
    return least;
}

static bool buys_something(const struct commit_answer *answer)
{
    for (uint32_t k = 1; k < answer->class_count; k++) {
        if (answer->advice.of_class[k].buy > 0)
            return true;
    }
    return false;
}

static void show_reasons(const struct commit_answer *answer, FILE *out)
{
    uint32_t order[COMMITMENT_CLASSES_MAX];
    const uint32_t count = commit_answer_order(answer, order);

    (void)fputs("\nWhy:\n", out);
    for (uint32_t i = 0; i < count; i++) {
        if (answer->advice.of_class[order[i]].buy == 0)
            continue;
        (void)fputs("  ", out);
        explain_class(answer, order[i], "\n    ", out);
        (void)fputc('\n', out);
    }
    if (answer->advice.expected_mean < answer->mean * 0.99)
        (void)fprintf(out,
                      "  Demand is expected to stay below what it was: %s machines on average.\n",
                      digits_of_real(answer->advice.expected_mean, 1, DIGITS_GROUPED).text);
}

static void show_worth(const struct commit_answer *answer, FILE *out)
{
    const struct portfolio_advice *advice = &answer->advice;
    const struct portfolio_rates *rates = &advice->expected;
    const money_t saving = rates->without - rates->with;

    (void)fprintf(out, "\nWhat it is worth, if demand stays as expected (%s machines):\n",
                  digits_of_real(advice->expected_mean, 1, DIGITS_GROUPED).text);
    (void)fprintf(out, "  saves $%s per month%s, %s %% of $%s;%sover %s, $%s%s\n",
                  dollars(saving * COMMIT_MONTH_HOURS, 0).text,
                  has_interest(answer) ? " after interest" : "",
                  percent(share_of(saving, rates->without)).text,
                  dollars(rates->without * COMMIT_MONTH_HOURS, 0).text,
                  has_interest(answer) ? "\n    " : " ", span_text(advice->horizon_hours).text,
                  dollars(commit_rates_saving_today(rates, answer->question->interest_ppm,
                                                    advice->horizon_hours),
                          0)
                      .text,
                  has_interest(answer) ? " in today's money" : "");
    (void)fprintf(out, "  nothing can save more than $%s per month with these classes\n",
                  dollars((rates->without - rates->least) * COMMIT_MONTH_HOURS, 0).text);
}

static void show_payback(const struct commit_answer *answer, FILE *out)
{
    uint32_t order[COMMITMENT_CLASSES_MAX];
    const uint32_t count = commit_answer_order(answer, order);

    (void)fputs("\nWhen it pays back:\n", out);
    for (uint32_t i = 0; i < count; i++) {
        const struct commitment *commitment = &answer->classes[order[i]];
        char text[PAYBACK_SIZE];

        if (say_payback(answer, order[i], text))
            (void)fprintf(out, "  %s: %s%s\n", commitment->name, text,
                          commitment->upfront == 0 &&
                                  answer->advice.of_class[order[i]].payback_month > 0
                              ? ", as nothing is paid upfront"
                              : "");
    }
    (void)fprintf(out,
                  "  Months count from the end of the usage. In that month the savings so far%s\n"
                  "  exceed what was paid upfront.\n",
                  has_interest(answer) ? ", discounted to today," : "");
}

static void show_risk(const struct commit_answer *answer, FILE *out)
{
    const struct portfolio_advice *advice = &answer->advice;
    const money_t saving = commit_rates_saving(&advice->fallen);

    (void)fprintf(out, "\nWhat is risked:\n");
    (void)fprintf(out, "  if demand falls by %s %%, it %s $%s per month against not buying,\n",
                  percent(answer->question->fall_ppm / ppm).text,
                  saving >= 0 ? "still saves" : "loses",
                  dollars(saving >= 0 ? saving : -saving, 0).text);
    (void)fprintf(out, "  $%s per month less than the best purchase for that demand (the regret)\n",
                  dollars(commit_rates_regret(&advice->fallen), 0).text);
    (void)fprintf(out, "  it is better not to buy if demand falls by more than %s %%\n",
                  percent(advice->break_even_ppm / ppm).text);
}

static void show_past_line(FILE *out, const char *what, money_t cost, money_t on_demand)
{
    (void)fprintf(out, "  %-40s $%12s  %6s %%\n", what, dollars(cost, 0).text,
                  percent(share_of(cost, on_demand)).text);
}

static void show_past(const struct commit_answer *answer, FILE *out)
{
    const struct commit_past *past = &answer->past;

    (void)fprintf(out,
                  "\nWhat the past %s would have cost (of upfront payments, the part within%s):\n",
                  span_text(answer->question->usage->hours).text,
                  has_interest(answer) ? ", with interest" : "");
    show_past_line(out, "on demand only", past->on_demand, past->on_demand);
    show_past_line(out, "by this advice, asked for every week", past->online, past->on_demand);
    show_past_line(out, "with the future known", past->greedy, past->on_demand);
    show_past_line(out, "bound: no purchases can cost less", past->bound, past->on_demand);
}

static const struct report_column choice_columns[] = {
    { .key = "term", .heading = "promise at most", .kind = REPORT_TEXT },
    { .key = "buy", .heading = "buy", .kind = REPORT_INTEGER },
    { .key = "upfront", .heading = "upfront $", .kind = REPORT_MONEY, .digits = 0 },
    { .key = "saves", .heading = "saves $ per month", .kind = REPORT_MONEY, .digits = 0 },
    { .key = "fallen", .heading = "saves if demand falls", .kind = REPORT_MONEY, .digits = 0 },
    { .key = "regret", .heading = "regret if demand falls", .kind = REPORT_MONEY, .digits = 0 },
    { .key = "even", .heading = "pays until a fall of %", .kind = REPORT_DECIMAL, .digits = 1 },
};

static int show_choices(const struct commit_answer *answer, FILE *out)
{
    if (answer->choice_count < 2)
        return 0;

    struct report_table *table = report_table_create(
        "choices", choice_columns, sizeof(choice_columns) / sizeof(choice_columns[0]));

    (void)fputs("\nHow long to promise:\n", out);
    for (uint32_t i = 0; i < answer->choice_count; i++) {
        const struct commit_choice *choice = &answer->choices[i];

        report_table_add_text(table, span_text(choice->term_hours).text);
        report_table_add_integer(table, (int64_t)choice->bought);
        report_table_add_money(table, choice->advice.upfront);
        report_table_add_money(table, commit_rates_saving(&choice->advice.expected));
        report_table_add_money(table, commit_rates_saving(&choice->advice.fallen));
        report_table_add_money(table, commit_rates_regret(&choice->advice.fallen));
        report_table_add_real(table, 100 * choice->advice.break_even_ppm / ppm);
    }

    const int rc = report_table_write(table, OUTPUT_TABLE, out);

    report_table_destroy(table);
    return rc;
}

static int show_answer(const struct commit_answer *answer, FILE *out)
{
    show_history(answer, out);

    int rc = show_classes(answer, out);

    if (rc < 0)
        return rc;
    show_beaten(answer, out);
    if (buys_something(answer)) {
        show_reasons(answer, out);
        show_worth(answer, out);
        show_payback(answer, out);
        show_risk(answer, out);
    } else {
        (void)fprintf(out,
                      "\nNothing more is worth a promise: of the machines that are left, none is "
                      "busy for %s %% of the time,\nwhich is the least at which one pays.\n",
                      percent(least_level(answer)).text);
    }
    rc = show_choices(answer, out);
    if (rc < 0)
        return rc;
    show_past(answer, out);
    return 0;
}

static int write_text(const struct commit_answer *answers, uint32_t count, FILE *out)
{
    for (uint32_t i = 0; i < count; i++) {
        (void)fputs(i > 0 ? "\n----\n\n" : "", out);

        const int rc = show_answer(&answers[i], out);

        if (rc < 0)
            return rc;
    }
    (void)fputs("\nStint has bought nothing.\n", out);
    return 0;
}

int commit_report_write(const struct commit_answer *answers, uint32_t count,
                        enum output_format format, FILE *out)
{
    int rc = 0;

    errno = 0;
    switch (format) {
    case OUTPUT_TABLE:
        rc = write_text(answers, count, out);
        break;
    case OUTPUT_JSON:
        rc = write_json(answers, count, out);
        break;
    case OUTPUT_CSV:
        rc = write_csv(answers, count, out);
        break;
    }
    if (rc == 0 && (fflush(out) != 0 || ferror(out)))
        rc = errno > 0 ? -errno : -EIO;
    return rc;
}
