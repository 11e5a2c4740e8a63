/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/operator.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "cli/verb.h"
#include "cli/verb_options.h"
#include "draw/digits.h"
#include "draw/utf8.h"

int64_t field_integer(const json_t *object, const char *key, int64_t missing)
{
    const json_t *field = json_object_get(object, key);

    return json_is_integer(field) ? json_integer_value(field) : missing;
}

money_t field_money(const json_t *object, const char *key)
{
    return field_integer(object, key, MONEY_UNKNOWN);
}

const char *field_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *field_word(const json_t *object, const char *key)
{
    const char *text = field_text(object, key);

    return text != NULL && text[0] != 0 ? text : "-";
}

struct words span_words(msec_t span)
{
    struct words words;
    const int64_t seconds = span / MSEC_PER_SEC;
    const int64_t minutes = seconds / 60;
    const int64_t hours = minutes / 60;

    if (span < 0)
        (void)snprintf(words.text, sizeof(words.text), "-");
    else if (seconds < 1 && span > 0)
        (void)snprintf(words.text, sizeof(words.text), "%" PRId64 " ms", span);
    else if (seconds < 120)
        (void)snprintf(words.text, sizeof(words.text), "%" PRId64 " s", seconds);
    else if (minutes < 120)
        (void)snprintf(words.text, sizeof(words.text), "%" PRId64 " min", minutes);
    else if (hours < 48)
        (void)snprintf(words.text, sizeof(words.text), "%" PRId64 " h %" PRId64 " min", hours,
                       minutes % 60);
    else
        (void)snprintf(words.text, sizeof(words.text), "%" PRId64 " d %" PRId64 " h", hours / 24,
                       hours % 24);
    return words;
}

struct words time_words(msec_t at)
{
    struct words words = { "-" };
    const time_t seconds = (time_t)(at / MSEC_PER_SEC);
    struct tm tm;

    if (at >= 0 && gmtime_r(&seconds, &tm) != NULL)
        (void)strftime(words.text, sizeof(words.text), "%Y-%m-%d %H:%M:%S", &tm);
    return words;
}

struct words money_words(money_t money, uint32_t digits)
{
    struct words words = { "-" };

    if (money != MONEY_UNKNOWN) {
        const struct digits text = digits_of_fixed(money, 6, digits, DIGITS_GROUPED);
        const bool negative = text.text[0] == '-';

        (void)snprintf(words.text, sizeof(words.text), "%s$%.50s", negative ? "-" : "",
                       text.text + negative);
    }
    return words;
}

void print_clean(FILE *out, const char *text)
{
    struct arena arena;

    arena_init(&arena);
    for (const char *at = utf8_clean(&arena, text); *at != '\0'; at++)
        (void)fputc(strchr("\t\n\r", *at) != NULL ? ' ' : *at, out);
    arena_done(&arena);
}

int verb_fail(const char *verb, const struct error *error)
{
    (void)fprintf(stderr, "stint %s: ", verb);
    print_clean(stderr, error->text); /* it may hold names that users chose */
    (void)fputc('\n', stderr);
    return EXIT_FAILED;
}

static int flush(const char *verb, int rc)
{
    if (rc == 0 && fflush(stdout) == 0 && !ferror(stdout))
        return EXIT_DONE;
    (void)fprintf(stderr, "stint %s: the answer cannot be written: is the disk full?\n", verb);
    return EXIT_FAILED;
}

int print_json(const char *verb, const json_t *answer)
{
    const int rc =
        json_dumpf(answer, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(9));

    (void)putchar('\n');
    return flush(verb, rc);
}

static double one_column(uint32_t character __attribute__((unused)))
{
    return 1;
}

void print_folded(FILE *out, const char *first, const char *text)
{
    const size_t indent = strlen(first);
    const double room = REPORT_WIDTH - (double)indent;
    struct arena arena;
    const char *rest;
    bool is_first = true;

    arena_init(&arena);
    rest = utf8_clean(&arena, text);
    do {
        const struct utf8_span line = utf8_take_line(&rest, room, one_column);

        if (is_first)
            (void)fputs(first, out);
        else
            (void)fprintf(out, "%*s", (int)indent, "");
        (void)fprintf(out, "%.*s\n", (int)line.size, line.text);
        is_first = false;
    } while (rest[strspn(rest, " \t\n\r")] != '\0');
    arena_done(&arena);
}

const char *legend_mark(struct legend *legend, const char *text)
{
    uint32_t at = 0;

    while (at < legend->count && strcmp(legend->text[at], text) != 0)
        at++;
    if (at == LEGEND_MOST)
        return text;
    if (at == legend->count) {
        legend->text[at] = text;
        (void)snprintf(legend->mark[at], LEGEND_MARK, "%u", at + 1);
        legend->count++;
    }
    return legend->mark[at];
}

void legend_print(const struct legend *legend, const char *heading, FILE *out)
{
    if (legend->count == 0)
        return;
    (void)fprintf(out, "\n%s\n", heading);
    for (uint32_t i = 0; i < legend->count; i++) {
        char first[LEGEND_MARK + 8];

        (void)snprintf(first, sizeof(first), "%4s  ", legend->mark[i]);
        print_folded(out, first, legend->text[i]);
    }
}

int print_table(const char *verb, struct report_table *table, enum output_format format)
{
    const int rc = report_table_write(table, format, stdout);

    report_table_destroy(table);
    return flush(verb, rc);
}

int print_sorted(const char *verb, struct report_table *table, const struct daemon_options *options)
{
    struct error error = { "" };

    if (options->sort == NULL || report_table_sort(table, options->sort, &error) == 0)
        return print_table(verb, table, options->format);
    report_table_destroy(table);
    (void)verb_fail(verb, &error);
    return EXIT_USAGE;
}

bool operator_parse(const struct argp *argp, char *name, int argc, char **argv, void *input)
{
    argv[0] = name;
    argp_err_exit_status = EXIT_USAGE;
    return verb_options(argp, argc, argv, input) == 0;
}
