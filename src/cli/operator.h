/* SPDX-License-Identifier: Apache-2.0 */
/*
 * operator.h - what the verbs that ask the daemon share: fields of its answers, as words.
 *
 * Answers come from outside: a field that is missing or of another kind is "not known", never an
 * error, so that this tool can read a daemon that is older or newer.
 */
#ifndef STINT_CLI_OPERATOR_H
#define STINT_CLI_OPERATOR_H

#include <argp.h>
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>

#include "base/units.h"
#include "cli/daemon_client.h"
#include "cli/report_table.h"

enum { WORDS_SIZE = 64 };

struct words {
    char text[WORDS_SIZE];
};

/* A whole number, or 'missing'. */
int64_t field_integer(const json_t *object, const char *key, int64_t missing);

/* Micro-dollars, or MONEY_UNKNOWN. */
money_t field_money(const json_t *object, const char *key);

/* A text; NULL: there is none. Owned by the object, and not cleaned: see utf8.h. */
const char *field_text(const json_t *object, const char *key);

/* The same, "-" if there is none. */
const char *field_word(const json_t *object, const char *key);

/* "350 ms", "45 s", "12 min", "3 h 5 min", "2 d 4 h". */
struct words span_words(msec_t span);

/* "2026-11-15 06:12:00", in UTC; "-" for what is below 0. */
struct words time_words(msec_t at);

/* "$1.83", with so many digits behind the point; "-" for MONEY_UNKNOWN. */
struct words money_words(money_t money, uint32_t digits);

/* A text on a terminal or in a pipe, with what is no text replaced. It stays on its line: the name of a
 * job in it must not pass for a line of ours. */
void print_clean(FILE *out, const char *text);

/* The same, with a line break where it would be wider than REPORT_WIDTH, and one at the end. The first line begins with 'first',
 * the others with as many spaces. */
void print_folded(FILE *out, const char *first, const char *text);

/* Sentences that many rows of a table share: the table has their numbers, and they stand below it once. */
enum { LEGEND_MOST = 64, LEGEND_MARK = 12 };

struct legend {
    const char *text[LEGEND_MOST]; /* borrowed */
    char mark[LEGEND_MOST][LEGEND_MARK];
    uint32_t count;
};

/* The number of the text, which gets one if it has none. The text itself where there are too many. */
const char *legend_mark(struct legend *legend, const char *text);

/* All texts with their numbers, below such a heading. */
void legend_print(const struct legend *legend, const char *heading, FILE *out);

/* Print the answer as JSON. Returns an exit code. */
int print_json(const char *verb, const json_t *answer);

/* Write the table in the format that was asked for, and destroy it. Returns an exit code. */
int print_table(const char *verb, struct report_table *table, enum output_format format);

/* The same, sorted as --sort says. */
int print_sorted(const char *verb, struct report_table *table,
                 const struct daemon_options *options);

/* Parse the command line of a verb whose parser has daemon_argp as its first child. Returns false if
 * it makes no sense. 'name' is such as "stint status"; 'input' goes to the verb's parser. */
bool operator_parse(const struct argp *argp, char *name, int argc, char **argv, void *input);

#endif
