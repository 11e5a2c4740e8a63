/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_report.h - what a verb printed for people, as a page or as Markdown to pass around.
 *
 * The text is that of the verb, so that a report says neither more nor less than the terminal: paragraphs, headings (a
 * line that ends in a colon), lists, tables (which report_table.h wrote as cells) and what is
 * indented, which stays as it is. Before it stands what was asked; behind it, what it is compared with and what is not
 * counted. In a column "cost $" of a page each number has a bar.
 *
 * Promises:  every line of the text is in the report once. Names in it are text, whatever they contain. The page is
 *            one file that loads nothing and runs nothing.
 * Costs:     O(text).
 */
#ifndef STINT_CLI_ANSWER_REPORT_H
#define STINT_CLI_ANSWER_REPORT_H

#include <stdio.h>

struct answer_report {
    const char *title;
    const char *command;     /* as it was typed */
    const char *text;        /* what was printed */
    const char *baseline;    /* what is compared with what; NULL: the text says so */
    const char *not_counted; /* likewise */
};

void answer_report_html(const struct answer_report *report, FILE *out);
void answer_report_md(const struct answer_report *report, FILE *out);

#endif
