/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pool_report.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "draw/digits.h"
#include "draw/utf8.h"

enum { LEVELS_SHOWN = 10, MONTH_HOURS = 730, SHARE_DIGITS = 12 };

static const double year_seconds = 365 * 86400;
static const double share_least =
    1e-15; /* of the time; a level that is rarer is not worth a line */

/* ---- numbers and words ---- */

static struct digits dollars(money_t value, uint32_t fraction)
{
    return digits_of_fixed(value, 6, fraction, DIGITS_GROUPED);
}

static struct digits whole(int64_t value)
{
    return digits_of_fixed(value, 0, 0, DIGITS_GROUPED);
}

/* 100 % less 'below', with two digits of what is missing, but no zeros at the end. */
static struct digits percent_there(double below)
{
    const double digits = below > 0 && below < 1 ? fmax(0, ceil(-log10(below)) - 1) : 0;
    struct digits text =
        digits_of_real(100 * (1 - below), (uint32_t)fmin(digits + 1, 10), DIGITS_PLAIN);
    size_t length = strlen(text.text);

    while (length > 1 && text.text[length - 1] == '0')
        length--;
    if (text.text[length - 1] == '.')
        length--;
    text.text[length] = '\0';
    return text;
}

struct span_text {
    char text[DIGITS_SIZE + 16];
};

/* How long a share of a year is. */
static struct span_text year_text(double share)
{
    static const struct {
        double seconds;
        const char *unit;
    } units[] = { { 86400, "days" }, { 3600, "hours" }, { 60, "minutes" }, { 1, "seconds" } };
    const double seconds = share * year_seconds;
    struct span_text span;
    int at = 0;

    while (at < 3 && seconds < 2 * units[at].seconds)
        at++;
    (void)snprintf(
        span.text, sizeof(span.text), "%s %s",
        digits_of_real(seconds / units[at].seconds, seconds < 120 ? 1 : 0, DIGITS_GROUPED).text,
        units[at].unit);
    return span;
}

static const char *unit_word(const struct pool_answer *answer)
{
    static const char *const words[] = { "CPUs", "GiB", "accelerators" };
    const struct pool_input *input = answer->question->input;

    return input->of_source[POOL_TABLE] > 0 ? "units" : words[answer->question->settings->unit];
}

static const char *answer_word(const struct pool_answer *answer)
{
    if (!answer->pool.verdict.holds)
        return "cannot";
    return answer->is_worth_it ? "holds" : "dearer-than-on-demand";
}

static const char *source_word(enum pool_source source)
{
    static const char *const words[] = { "unknown", "band", "table", "history" };

    return words[source];
}

/* ---- the offers ---- */

static const struct report_column columns[] = {
    { .key = "machines", .heading = "machines", .kind = REPORT_INTEGER },
    { .key = "type", .heading = "type", .kind = REPORT_TEXT },
    { .key = "zone", .heading = "zone", .kind = REPORT_TEXT },
    { .key = "capacity", .heading = "units", .kind = REPORT_INTEGER },
    { .key = "price_usd", .heading = "$ per hour", .kind = REPORT_MONEY, .digits = 3 },
    { .key = "down", .heading = "gone, share", .kind = REPORT_DECIMAL, .digits = 6 },
    { .key = "source", .heading = "by", .kind = REPORT_TEXT },
    { .key = "left_offer", .heading = "left without it", .kind = REPORT_INTEGER },
    { .key = "left_type", .heading = "without the type", .kind = REPORT_INTEGER },
    { .key = "left_zone", .heading = "without the zone", .kind = REPORT_INTEGER },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static struct report_table *list_offers(const struct pool_answer *answer)
{
    struct report_table *table = report_table_create("pool", columns, COLUMNS);

    for (uint32_t i = 0; i < answer->promise.count; i++) {
        const struct promise_offer *offer = &answer->promise.offers[i];
        const struct pool_about *about = &answer->question->input->about[i];
        const uint32_t machines = answer->pool.machines[i];

        if (machines == 0)
            continue;
        report_table_add_integer(table, machines);
        report_table_add_text(table, about->type);
        report_table_add_text(table, about->zone);
        report_table_add_integer(table, offer->capacity * machines);
        report_table_add_money(table, offer->price * machines);
        report_table_add_real(table, offer->down);
        report_table_add_text(table, source_word(about->source));
        report_table_add_integer(table, answer->pool.verdict.capacity - offer->capacity * machines);
        report_table_add_integer(table, pool_answer_left(answer, i, false));
        if (about->zone != NULL)
            report_table_add_integer(table, pool_answer_left(answer, i, true));
        else
            report_table_add_missing(table);
    }
    return table;
}

static void note_sums(struct report_table *table, const struct pool_answer *answer)
{
    const struct pool_question *question = answer->question;
    const struct promise_verdict *verdict = &answer->pool.verdict;

    report_table_note_text(table, "answer", answer_word(answer));
    report_table_note_text(table, "rule", pool_rule_words[question->rule]);
    report_table_note_integer(table, "capacity_wanted", question->capacity);
    report_table_note_real(table, "short_most", question->short_most, SHARE_DIGITS);
    report_table_note_integer(table, "capacity", verdict->capacity);
    report_table_note_real(table, "short", pool_answer_short(answer), SHARE_DIGITS);
    report_table_note_real(table, "short_independent", verdict->short_independent, SHARE_DIGITS);
    report_table_note_real(table, "short_joint", verdict->short_joint, SHARE_DIGITS);
    report_table_note_real(table, "short_least", answer->short_least, SHARE_DIGITS);
    report_table_note_money(table, "price_usd", verdict->price);
    report_table_note_money(table, "bound_usd", answer->bound > 0 ? answer->bound : MONEY_UNKNOWN);
    report_table_note_money(table, "on_demand_usd",
                            answer->on_demand > 0 ? answer->on_demand : MONEY_UNKNOWN);
    report_table_note_text(table, "survives_types", verdict->survives_types ? "yes" : "no");
    report_table_note_integer(table, "offers", answer->promise.count);
    report_table_note_integer(table, "offers_left_out", question->input->left_out);
    if (question->input->market.count > 0)
        report_table_note_real(table, "confidence", question->settings->confidence, 3);
    if (answer->has_repair) {
        report_table_note_money(table, "repair_cost_usd", answer->repair.cost);
        report_table_note_integer(table, "repair_short_ms", answer->repair.short_ms);
    }
}

/* ---- levels ---- */

static const struct report_column level_columns[] = {
    { .key = "capacity", .heading = "at least", .kind = REPORT_INTEGER },
    { .key = "short", .heading = "short", .kind = REPORT_DECIMAL, .digits = SHARE_DIGITS },
};

/* Every capacity that the pool may have, with the share of the time in which there is less. */
static struct report_table *list_levels(const struct pool_answer *answer)
{
    struct report_table *table = report_table_create("levels", level_columns, 2);
    double below = 0;

    for (int64_t c = 0; c <= answer->levels.limit; c++) {
        if (answer->levels.at[c] >= share_least) {
            report_table_add_integer(table, c);
            report_table_add_real(table, below);
        }
        below += answer->levels.at[c];
    }
    return table;
}

static void print_level(const struct pool_answer *answer, int64_t capacity, FILE *out)
{
    const double below = avail_below(&answer->levels, capacity);

    (void)fprintf(out, "  %12s  %14s %%   short for %s a year%s\n", whole(capacity).text,
                  percent_there(below).text, year_text(below).text,
                  capacity == answer->question->capacity ? "   (asked for)" : "");
}

static void print_levels(const struct pool_answer *answer, FILE *out)
{
    const int64_t wanted = answer->question->capacity;
    const int64_t total = answer->levels.limit;

    (void)fprintf(out, "\nHow often there is how much, if losses are independent:\n\n");
    for (int i = 5; i < LEVELS_SHOWN; i++) {
        if (wanted * i / LEVELS_SHOWN > 0 && wanted * i / LEVELS_SHOWN <= total)
            print_level(answer, wanted * i / LEVELS_SHOWN, out);
    }
    if (wanted <= total)
        print_level(answer, wanted, out);
    for (int i = 1; i <= 4; i++) {
        if (total > wanted)
            print_level(answer, wanted + (total - wanted) * i / 4, out);
    }
}

/* ---- for people ---- */

static void print_question(const struct pool_answer *answer, FILE *out)
{
    const struct pool_question *question = answer->question;

    (void)fprintf(out, "%s %s for %s %% of the time: short for at most %s a year.\n",
                  whole(question->capacity).text, unit_word(answer),
                  percent_there(question->short_most).text, year_text(question->short_most).text);
    if (answer->pool.verdict.holds)
        return;
    (void)fprintf(
        out,
        "\nThis CANNOT be promised: every pool found within %d times the capacity misses it.\n",
        PROMISE_OVERBUY);
    if (answer->short_least > question->short_most)
        (void)fprintf(
            out,
            "No pool of these offers can, however large: all of them are gone at once for %s "
            "a year.\n",
            year_text(answer->short_least).text);
    (void)fprintf(out, "The best that was found is there for %s %% of the time:\n",
                  percent_there(pool_answer_short(answer)).text);
}

static void print_price(const struct pool_answer *answer, FILE *out)
{
    const struct promise_verdict *verdict = &answer->pool.verdict;

    (void)fprintf(out, "\nIt costs $%s an hour, $%s a month", dollars(verdict->price, 3).text,
                  dollars(verdict->price * MONTH_HOURS, 0).text);
    if (answer->on_demand > 0)
        (void)fprintf(out, ";\non demand the capacity costs $%s an hour, so this is %s %% of it",
                      dollars(answer->on_demand, 3).text,
                      digits_of_real(100 * (double)verdict->price / (double)answer->on_demand, 1,
                                     DIGITS_PLAIN)
                          .text);
    (void)fprintf(out, ".\n");
    if (verdict->holds && !answer->is_worth_it)
        (void)fprintf(out, "Rent on demand instead: it is cheaper and stays.\n");
    if (answer->bound > 0 && verdict->holds)
        (void)fprintf(
            out, "No pool of these offers that keeps the promise costs less than $%s an hour.\n",
            dollars(answer->bound, 3).text);
    (void)fprintf(
        out, "It has %s %s, %s %% more than asked for, and is short for %s a year",
        whole(verdict->capacity).text, unit_word(answer),
        digits_of_real(100 * ((double)verdict->capacity / (double)answer->question->capacity - 1),
                       1, DIGITS_PLAIN)
            .text,
        year_text(pool_answer_short(answer)).text);
    if (answer->promise.states != NULL)
        (void)fprintf(
            out, ":\n%s if losses are independent, %s by what was gone together in the history",
            year_text(verdict->short_independent).text, year_text(verdict->short_joint).text);
    (void)fprintf(out, ".\n");
}

enum loss { LOSS_OFFER, LOSS_TYPE, LOSS_ZONE, LOSSES };

static int64_t left_without(const struct pool_answer *answer, uint32_t offer, enum loss loss)
{
    if (loss == LOSS_OFFER)
        return answer->pool.verdict.capacity -
               answer->promise.offers[offer].capacity * answer->pool.machines[offer];
    return pool_answer_left(answer, offer, loss == LOSS_ZONE);
}

/* The loss of one kind that leaves the least, or the number of offers. */
static uint32_t worst_loss(const struct pool_answer *answer, enum loss loss)
{
    uint32_t worst = answer->promise.count;

    for (uint32_t i = 0; i < answer->promise.count; i++) {
        if (answer->pool.machines[i] == 0 ||
            (loss == LOSS_ZONE && answer->question->input->about[i].zone == NULL))
            continue;
        if (worst == answer->promise.count ||
            left_without(answer, i, loss) < left_without(answer, worst, loss))
            worst = i;
    }
    return worst;
}

/* Which losses are survived: of one offer, one type, one zone. */
static void print_losses(const struct pool_answer *answer, FILE *out)
{
    static const char *const words[LOSSES] = { "offer", "type", "zone" };
    const struct pool_about *about = answer->question->input->about;

    (void)fputc('\n', out);
    for (enum loss loss = LOSS_OFFER; loss < LOSSES; loss++) {
        const uint32_t worst = worst_loss(answer, loss);

        if (worst == answer->promise.count)
            continue;

        const int64_t left = left_without(answer, worst, loss);

        if (left >= answer->question->capacity)
            (void)fprintf(out, "Any one %s may be lost: at least %s are left.\n", words[loss],
                          whole(left).text);
        else
            (void)fprintf(out, "NOT survived: the loss of one %s, such as %s, which leaves %s.\n",
                          words[loss], loss == LOSS_ZONE ? about[worst].zone : about[worst].type,
                          whole(left).text);
    }
}

static void print_repair(const struct pool_answer *answer, FILE *out)
{
    const struct pool_input *input = answer->question->input;
    const msec_t watched = input->watched.to - input->watched.from;

    if (!answer->has_repair)
        return;
    (void)fprintf(
        out,
        "\nA pool that replaces what it loses (two slots, each with all of the capacity, 180 s "
        "to start)\nwould have cost $%s an hour in this history and been short for %s s of "
        "%s days.\n",
        dollars(mul_div(answer->repair.cost, MSEC_PER_HOUR, watched), 3).text,
        whole(answer->repair.short_ms / 1000).text,
        digits_of_real((double)watched / 86400000, 1, DIGITS_GROUPED).text);
}

static void print_not_counted(const struct pool_answer *answer, FILE *out)
{
    const struct pool_question *question = answer->question;
    const struct pool_input *input = question->input;

    (void)fprintf(out, "\nNot counted:\n");
    if (input->left_out > 0)
        (void)fprintf(out, "- %u spot offers with unknown losses are left out\n", input->left_out);
    if (answer->promise.states == NULL)
        (void)fprintf(out,
                      "- joint losses of offers: without a history, losses count as independent\n");
    if (input->has_types_in_zones && !question->survives_types)
        (void)fprintf(out, "- that all zones of a type are often lost at once (--survive-types)\n");
    if (input->market.count > 0)
        (void)fprintf(
            out, "- that the future may be unlike the history: %s days, at a confidence of %s %%\n",
            digits_of_real((double)(input->watched.to - input->watched.from) / 86400000, 1,
                           DIGITS_GROUPED)
                .text,
            digits_of_real(100 * question->settings->confidence, 1, DIGITS_PLAIN).text);
    if (input->of_source[POOL_BAND] > 0)
        (void)fprintf(
            out,
            "- how long an offer stays away: bands of interruptions do not say it, %s s is "
            "assumed (--outage)\n",
            whole(question->settings->outage / MSEC_PER_SEC).text);
    if (input->of_source[POOL_TABLE] > 0)
        (void)fprintf(out,
                      "- how far the availabilities of the table can be trusted; they are taken as "
                      "they are\n");
    (void)fprintf(
        out, "- failed machines, refused requests, the time of a replacement, changes of price\n");
}

static int write_text(const struct pool_answer *answer, FILE *out)
{
    struct report_table *table = list_offers(answer);
    int rc = 0;

    print_question(answer, out);
    (void)fputc('\n', out);
    rc = report_table_write(table, OUTPUT_TABLE, out);
    report_table_destroy(table);
    print_price(answer, out);
    print_losses(answer, out);
    print_levels(answer, out);
    print_repair(answer, out);
    print_not_counted(answer, out);
    return rc;
}

/* ---- for programs ---- */

static int write_json(const struct pool_answer *answer, FILE *out)
{
    struct report_table *pool = list_offers(answer);
    struct report_table *levels = list_levels(answer);
    int rc = 0;

    note_sums(pool, answer);
    (void)fputs("[\n", out);
    rc = report_table_write(pool, OUTPUT_JSON, out);
    (void)fputs(",\n", out);
    if (rc == 0)
        rc = report_table_write(levels, OUTPUT_JSON, out);
    (void)fputs("]\n", out);
    report_table_destroy(pool);
    report_table_destroy(levels);
    return rc;
}

static int write_csv(const struct pool_answer *answer, FILE *out)
{
    struct report_table *table = list_offers(answer);
    const int rc = report_table_write(table, OUTPUT_CSV, out);

    report_table_destroy(table);
    return rc;
}

int pool_report_write(const struct pool_answer *answer, enum output_format format, FILE *out)
{
    int rc = 0;

    errno = 0;
    switch (format) {
    case OUTPUT_TABLE:
        rc = write_text(answer, out);
        break;
    case OUTPUT_JSON:
        rc = write_json(answer, out);
        break;
    case OUTPUT_CSV:
        rc = write_csv(answer, out);
        break;
    }
    if (rc == 0 && (fflush(out) != 0 || ferror(out)))
        rc = errno > 0 ? -errno : -EIO;
    return rc;
}
