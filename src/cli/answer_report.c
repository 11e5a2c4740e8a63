/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/answer_report.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/report_style.h"
#include "cli/report_table.h"
#include "draw/html.h"
#include "draw/svg.h"
#include "draw/utf8.h"

enum {
    COLUMNS_MAX = 64,
    CELL_SIZE = 512,
    BAR_HEIGHT = 16,
};

/* What a line is. A table has its headings and then its rows. */
enum line_kind { LINE_BLANK, LINE_TEXT, LINE_HEADING, LINE_ITEM, LINE_AS_IS, LINE_HEAD, LINE_ROW };

struct line {
    const char *text; /* ends with it */
    enum line_kind kind;
};

struct lines {
    struct arena arena;
    struct line *line;
    uint32_t count;
};

static enum line_kind kind_of(const char *text)
{
    const size_t length = strlen(text);

    if (strspn(text, " ") == length)
        return LINE_BLANK;
    if (text[0] == REPORT_HEAD || text[0] == REPORT_ROW)
        return text[0] == REPORT_HEAD ? LINE_HEAD : LINE_ROW;
    if (text[0] == ' ')
        return LINE_AS_IS;
    if (strncmp(text, "- ", 2) == 0)
        return LINE_ITEM;
    return text[length - 1] == ':' ? LINE_HEADING : LINE_TEXT;
}

/* Whether a line that is indented goes on with the sentence of the line before. */
static bool is_rest(const struct lines *lines, enum line_kind kind)
{
    const struct line *last = lines->count > 0 ? &lines->line[lines->count - 1] : NULL;

    return kind == LINE_AS_IS && last != NULL && last->kind == LINE_TEXT &&
           strchr(",;", last->text[strlen(last->text) - 1]) != NULL;
}

/* "first" and "  second" as "first second". */
static const char *join(struct arena *arena, const char *first, const char *second)
{
    const char *rest = second + strspn(second, " ");
    const size_t size = strlen(first) + strlen(rest) + 2;
    char *both = ARENA_ARRAY(arena, char, size);

    (void)snprintf(both, size, "%s %s", first, rest);
    return both;
}

static void read_lines(const char *text, struct lines *ret)
{
    uint32_t count = 1;

    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++)
        count++;
    *ret = (struct lines){ .count = 0 };
    arena_init(&ret->arena);
    ret->line = ARENA_ARRAY(&ret->arena, struct line, count);
    while (*text != 0) {
        const size_t length = strcspn(text, "\n");
        char *copy = ARENA_ARRAY(&ret->arena, char, length + 1);

        memcpy(copy, text, length);
        if (is_rest(ret, kind_of(copy))) {
            struct line *last = &ret->line[ret->count - 1];

            last->text = join(&ret->arena, last->text, copy);
        } else {
            ret->line[ret->count++] = (struct line){ copy, kind_of(copy) };
        }
        text += length + (text[length] == '\n');
    }
}

/* A cell of a table: what people read, and the number that it is. */
struct cell {
    char text[CELL_SIZE];
    bool is_number;
    double number;
};

/* The next cell of a line of a table, whose first character is a mark. False: there is none. */
static bool next_cell(const char **line, struct cell *ret)
{
    static const char ends[] = { REPORT_NEXT, REPORT_NUMBER, 0 };
    const char *text = *line + 1;

    if (**line == 0)
        return false;

    const size_t length = strcspn(text, ends);

    *ret = (struct cell){ .is_number = text[length] == REPORT_NUMBER };
    (void)snprintf(ret->text, sizeof(ret->text), "%.*s", (int)length, text);
    text += length;
    if (ret->is_number)
        ret->number = strtod(text + 1, NULL);
    *line = text + strcspn(text, (const char[]){ REPORT_NEXT, 0 });
    return true;
}

/* The headings in order, with 'is_number' for a column of numbers. Returns how many. */
static uint32_t read_headings(const char *line, struct cell *ret)
{
    uint32_t count = 0;

    while (*line != 0 && count < COLUMNS_MAX) {
        const bool is_number = line[1] == REPORT_NUMBER;

        line += is_number;
        (void)next_cell(&line, &ret[count]);
        ret[count++].is_number = is_number;
    }
    return count;
}

/* How both forms are written. */
struct writer {
    FILE *out;
    void (*heading)(FILE *out, const char *text);
    void (*paragraph)(FILE *out, const char *text);
    void (*item)(FILE *out, const char *text, bool is_first, bool is_last);
    void (*as_is)(FILE *out, const char *text, bool is_first, bool is_last);
    void (*table)(FILE *out, const struct lines *lines, uint32_t first, uint32_t end);
};

/* The end of the run of lines of the same kind that begins at 'first'; of a table, of its rows. */
static uint32_t end_of_run(const struct lines *lines, uint32_t first)
{
    const enum line_kind kind = lines->line[first].kind;
    uint32_t end = first + 1;

    while (end < lines->count && lines->line[end].kind == (kind == LINE_HEAD ? LINE_ROW : kind))
        end++;
    return end;
}

static void write_run(const struct writer *writer, const struct lines *lines, uint32_t first,
                      uint32_t end)
{
    if (lines->line[first].kind == LINE_HEAD) {
        writer->table(writer->out, lines, first, end);
        return;
    }
    for (uint32_t i = first; i < end; i++) {
        const char *text = lines->line[i].text;

        switch (lines->line[i].kind) {
        case LINE_HEADING:
            writer->heading(writer->out, text);
            break;
        case LINE_TEXT:
            writer->paragraph(writer->out, text);
            break;
        case LINE_ITEM:
            writer->item(writer->out, text + 2, i == first, i + 1 == end);
            break;
        case LINE_AS_IS:
            writer->as_is(writer->out, text, i == first, i + 1 == end);
            break;
        case LINE_BLANK:
        case LINE_HEAD:
        case LINE_ROW:
            break;
        }
    }
}

static void write_lines(const struct writer *writer, const char *text)
{
    struct lines lines;

    read_lines(text, &lines);
    for (uint32_t i = 0; i < lines.count;) {
        const uint32_t end = end_of_run(&lines, i);

        write_run(writer, &lines, i, end);
        i = end;
    }
    arena_done(&lines.arena);
}

/* ---- as a page ---- */

static void html_heading(FILE *out, const char *text)
{
    char copy[CELL_SIZE];

    (void)snprintf(copy, sizeof(copy), "%.*s", (int)strlen(text) - 1, text);
    (void)fputs("<h2>", out);
    html_text(out, copy);
    (void)fputs("</h2>\n", out);
}

static void html_paragraph(FILE *out, const char *text)
{
    (void)fputs("<p>", out);
    html_text(out, text);
    (void)fputs("</p>\n", out);
}

static void html_item(FILE *out, const char *text, bool is_first, bool is_last)
{
    (void)fputs(is_first ? "<ul>\n<li>" : "<li>", out);
    html_text(out, text);
    (void)fputs(is_last ? "</li>\n</ul>\n" : "</li>\n", out);
}

static void html_as_is(FILE *out, const char *text, bool is_first, bool is_last)
{
    (void)fputs(is_first ? "<pre class=\"scroll\" tabindex=\"0\">" : "", out);
    html_text(out, text);
    (void)fputs(is_last ? "</pre>\n" : "\n", out);
}

/* The largest number of a column; 0: there is none. */
static double largest_in(const struct lines *lines, uint32_t first, uint32_t end, uint32_t column)
{
    double largest = 0;

    for (uint32_t i = first; i < end; i++) {
        const char *at = lines->line[i].text;
        struct cell cell = { .is_number = false };

        for (uint32_t k = 0; k <= column && next_cell(&at, &cell);)
            k++;
        if (cell.is_number && cell.number > largest)
            largest = cell.number;
    }
    return largest;
}

static void html_cell(FILE *out, const struct cell *cell, bool is_number, double largest)
{
    (void)fputs(is_number || cell->is_number ? "<td class=\"n\">" : "<td>", out);
    html_text(out, cell->text);
    if (largest > 0 && cell->is_number)
        (void)fprintf(
            out,
            "<svg class=\"bar\" viewBox=\"0 0 1000 %d\" preserveAspectRatio=\"none\" "
            "aria-hidden=\"true\"><rect class=\"c0\" width=\"%.0f\" height=\"%d\"/></svg>",
            BAR_HEIGHT, cell->number / largest * 1000, BAR_HEIGHT);
    (void)fputs("</td>", out);
}

/* The how many-th table it is: each is a landmark, and has a name of its own. */
static uint32_t table_number(const struct lines *lines, uint32_t first)
{
    uint32_t number = 1;

    for (uint32_t i = 0; i < first; i++)
        number += lines->line[i].kind == LINE_HEAD;
    return number;
}

static void html_row(FILE *out, const char *line, const struct cell *headings,
                     const double *largest)
{
    struct cell cell;

    (void)fputs("<tr>", out);
    for (uint32_t i = 0; i < COLUMNS_MAX && next_cell(&line, &cell); i++)
        html_cell(out, &cell, headings[i].is_number, largest[i]);
    (void)fputs("</tr>\n", out);
}

static void html_table(FILE *out, const struct lines *lines, uint32_t first, uint32_t end)
{
    struct cell headings[COLUMNS_MAX];
    const uint32_t count = read_headings(lines->line[first].text, headings);
    double largest[COLUMNS_MAX] = { 0 };

    (void)fprintf(out,
                  "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                  "aria-label=\"Table %u\"><table><thead><tr>",
                  table_number(lines, first));
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(headings[i].text, "cost $") == 0)
            largest[i] = largest_in(lines, first + 1, end, i);
        (void)fputs(i > 0 ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">", out);
        html_text(out, headings[i].text);
        (void)fputs("</th>", out);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
    for (uint32_t row = first + 1; row < end; row++)
        html_row(out, lines->line[row].text, headings, largest);
    (void)fputs("</tbody></table></div>\n", out);
}

static void html_part(FILE *out, const char *heading, const char *text)
{
    if (text == NULL)
        return;
    (void)fprintf(out, "<h2>%s</h2>\n", heading);
    html_paragraph(out, text);
}

void answer_report_html(const struct answer_report *report, FILE *out)
{
    const struct writer writer = { out,       html_heading, html_paragraph,
                                   html_item, html_as_is,   html_table };

    (void)fputs(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n<title>",
        out);
    html_text(out, report->title);
    (void)fprintf(out, "</title>\n<style>%s@media (prefers-color-scheme:dark){%s}</style>\n",
                  report_style, svg_dark_rules);
    (void)fputs("</head><body><main>\n<h1>", out);
    html_text(out, report->title);
    (void)fputs("</h1>\n<pre class=\"scroll note\" tabindex=\"0\">", out);
    html_text(out, report->command);
    (void)fputs("</pre>\n", out);
    write_lines(&writer, report->text);
    html_part(out, "Compared with what", report->baseline);
    html_part(out, "Not counted", report->not_counted);
    (void)fputs("</main></body></html>\n", out);
}

/* ---- as Markdown ---- */

/* What Markdown or HTML would take for more than text is escaped. */
static void md_text(FILE *out, const char *text)
{
    struct arena arena;

    arena_init(&arena);
    for (const char *c = utf8_clean(&arena, text); *c != 0; c++) {
        if (*c == '<')
            (void)fputs("&lt;", out);
        else if (*c == '&')
            (void)fputs("&amp;", out);
        else {
            if (strchr("\\`*_[]|#!", *c) != NULL)
                (void)fputc('\\', out);
            (void)fputc(*c, out);
        }
    }
    arena_done(&arena);
}

static void md_heading(FILE *out, const char *text)
{
    char copy[CELL_SIZE];

    (void)snprintf(copy, sizeof(copy), "%.*s", (int)strlen(text) - 1, text);
    (void)fputs("## ", out);
    md_text(out, copy);
    (void)fputs("\n\n", out);
}

static void md_paragraph(FILE *out, const char *text)
{
    md_text(out, text);
    (void)fputs("\n\n", out);
}

static void md_item(FILE *out, const char *text, bool is_first, bool is_last)
{
    (void)is_first;
    (void)fputs("- ", out);
    md_text(out, text);
    (void)fputs(is_last ? "\n\n" : "\n", out);
}

/* Indented by four, which is code. */
static void md_as_is(FILE *out, const char *text, bool is_first, bool is_last)
{
    struct arena arena;

    (void)is_first;
    arena_init(&arena);
    (void)fprintf(out, "    %s%s", utf8_clean(&arena, text), is_last ? "\n\n" : "\n");
    arena_done(&arena);
}

static void md_cells(FILE *out, const char *line)
{
    struct cell cell;

    while (next_cell(&line, &cell)) {
        (void)fputs("| ", out);
        md_text(out, cell.text);
        (void)fputc(' ', out);
    }
    (void)fputs("|\n", out);
}

static void md_table(FILE *out, const struct lines *lines, uint32_t first, uint32_t end)
{
    struct cell headings[COLUMNS_MAX];
    const uint32_t count = read_headings(lines->line[first].text, headings);

    for (uint32_t i = 0; i < count; i++) {
        (void)fputs("| ", out);
        md_text(out, headings[i].text);
        (void)fputc(' ', out);
    }
    (void)fputs("|\n", out);
    for (uint32_t i = 0; i < count; i++)
        (void)fputs(i > 0 ? "|--:" : "|---", out);
    (void)fputs("|\n", out);
    for (uint32_t row = first + 1; row < end; row++)
        md_cells(out, lines->line[row].text);
    (void)fputc('\n', out);
}

static void md_part(FILE *out, const char *heading, const char *text)
{
    if (text == NULL)
        return;
    (void)fprintf(out, "## %s\n\n", heading);
    md_paragraph(out, text);
}

void answer_report_md(const struct answer_report *report, FILE *out)
{
    const struct writer writer = { out, md_heading, md_paragraph, md_item, md_as_is, md_table };

    (void)fputs("# ", out);
    md_text(out, report->title);
    (void)fputs("\n\n", out);
    md_as_is(out, report->command, true, true);
    write_lines(&writer, report->text);
    md_part(out, "Compared with what", report->baseline);
    md_part(out, "Not counted", report->not_counted);
}
