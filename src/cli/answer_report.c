/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/answer_report.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "cli/report_style.h"
#include "draw/html.h"
#include "draw/svg.h"
#include "draw/utf8.h"

enum {
    COLUMNS_MAX = 64,
    CELL_SIZE = 512,
    BAR_HEIGHT = 16,
};

/* What a line is; those of a table have its rule. */
enum line_kind { LINE_BLANK, LINE_TEXT, LINE_HEADING, LINE_ITEM, LINE_AS_IS, LINE_TABLE };

struct line {
    const char *text; /* ends with it */
    enum line_kind kind;
    uint32_t rule; /* LINE_TABLE: its rule's index; heads are above it, rows below */
};

struct lines {
    struct arena arena;
    struct line *line;
    uint32_t count;
};

/* Columns of a table, in characters. */
struct columns {
    uint32_t from[COLUMNS_MAX];
    uint32_t to[COLUMNS_MAX];
    uint32_t count;
};

static bool is_rule(const char *text)
{
    return strspn(text, "- ") == strlen(text) && strncmp(text, "--", 2) == 0;
}

static struct columns columns_of(const char *rule)
{
    struct columns columns = { .count = 0 };
    uint32_t at = 0;

    while (rule[at] != 0 && columns.count < COLUMNS_MAX) {
        columns.from[columns.count] = at;
        at += (uint32_t)strspn(rule + at, "-");
        columns.to[columns.count++] = at;
        at += (uint32_t)strspn(rule + at, " ");
    }
    return columns;
}

/* Whether nothing stands in the gaps of the rule, or behind it. */
static bool keeps_gaps(const char *text, const char *rule)
{
    const size_t width = strlen(rule);
    size_t column = 0;

    for (uint32_t size = 0; *text != 0; text += size, column++) {
        (void)utf8_next(text, &size);
        if (*text != ' ' && (column >= width || rule[column] == ' '))
            return false;
    }
    return true;
}

static enum line_kind kind_of(const char *text)
{
    const size_t length = strlen(text);

    if (strspn(text, " ") == length)
        return LINE_BLANK;
    if (text[0] == ' ')
        return LINE_AS_IS;
    if (strncmp(text, "- ", 2) == 0)
        return LINE_ITEM;
    return text[length - 1] == ':' ? LINE_HEADING : LINE_TEXT;
}

/* Lines above and below a rule that keep its gaps are its table. */
static void mark_table(struct lines *lines, uint32_t rule)
{
    const char *gaps = lines->line[rule].text;

    lines->line[rule] = (struct line){ gaps, LINE_TABLE, rule };
    for (uint32_t i = rule; i > 0; i--) {
        struct line *line = &lines->line[i - 1];

        if (line->kind == LINE_BLANK || line->kind == LINE_TABLE || line->kind == LINE_HEADING ||
            !keeps_gaps(line->text, gaps))
            break;
        *line = (struct line){ line->text, LINE_TABLE, rule };
    }
    for (uint32_t i = rule + 1; i < lines->count; i++) {
        struct line *line = &lines->line[i];

        if (line->kind == LINE_BLANK || !keeps_gaps(line->text, gaps))
            break;
        *line = (struct line){ line->text, LINE_TABLE, rule };
    }
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
            ret->line[ret->count++] = (struct line){ copy, kind_of(copy), 0 };
        }
        text += length + (text[length] == '\n');
    }
    for (uint32_t i = 0; i < ret->count; i++) {
        if (is_rule(ret->line[i].text) && ret->line[i].kind != LINE_TABLE)
            mark_table(ret, i);
    }
}

/* The text of a line between two columns, without spaces around it. */
static void cut_cell(const char *text, uint32_t from, uint32_t to, char *ret, size_t size)
{
    size_t used = 0;
    uint32_t column = 0;

    for (uint32_t bytes = 0; *text != 0 && column < to; text += bytes, column++) {
        (void)utf8_next(text, &bytes);
        if (column < from || (used == 0 && *text == ' ') || used + bytes >= size)
            continue;
        memcpy(ret + used, text, bytes);
        used += bytes;
    }
    while (used > 0 && ret[used - 1] == ' ')
        used--;
    ret[used] = 0;
}

/* A heading, of all lines above the rule. */
static void cut_heading(const struct lines *lines, uint32_t first, uint32_t rule, uint32_t from,
                        uint32_t to, char ret[CELL_SIZE])
{
    char part[CELL_SIZE];
    size_t used = 0;

    ret[0] = 0;
    for (uint32_t i = first; i < rule; i++) {
        cut_cell(lines->line[i].text, from, to, part, sizeof(part));
        if (part[0] != 0)
            used += (size_t)snprintf(ret + used, CELL_SIZE - used, "%s%s",
                                     used > 0 && ret[used - 1] != '/' ? " " : "", part);
        if (used >= CELL_SIZE)
            return;
    }
}

/* Whether it is a number for people: 1,234.5, with a sign, or nothing known. */
static bool is_number(const char *text)
{
    return text[0] != 0 && strspn(text, "0123456789.,-") == strlen(text);
}

static double number_of(const char *text)
{
    char plain[CELL_SIZE];
    size_t used = 0;

    for (; *text != 0; text++) {
        if (*text != ',')
            plain[used++] = *text;
    }
    plain[used] = 0;
    return strtod(plain, NULL);
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

/* The end of the run of lines of the same kind, and table, that begins at 'first'. */
static uint32_t end_of_run(const struct lines *lines, uint32_t first)
{
    uint32_t end = first + 1;

    while (end < lines->count && lines->line[end].kind == lines->line[first].kind &&
           lines->line[end].rule == lines->line[first].rule)
        end++;
    return end;
}

static void write_run(const struct writer *writer, const struct lines *lines, uint32_t first,
                      uint32_t end)
{
    if (lines->line[first].kind == LINE_TABLE) {
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
        case LINE_TABLE:
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
static double largest_in(const struct lines *lines, uint32_t first, uint32_t end, uint32_t from,
                         uint32_t to)
{
    char cell[CELL_SIZE];
    double largest = 0;

    for (uint32_t i = first; i < end; i++) {
        cut_cell(lines->line[i].text, from, to, cell, sizeof(cell));
        if (is_number(cell) && number_of(cell) > largest)
            largest = number_of(cell);
    }
    return largest;
}

static void html_cell(FILE *out, const char *cell, double largest)
{
    (void)fputs(is_number(cell) ? "<td class=\"n\">" : "<td>", out);
    html_text(out, cell);
    if (largest > 0 && is_number(cell) && strcmp(cell, "-") != 0)
        (void)fprintf(
            out,
            "<svg class=\"bar\" viewBox=\"0 0 1000 %d\" preserveAspectRatio=\"none\" "
            "aria-hidden=\"true\"><rect class=\"c0\" width=\"%.0f\" height=\"%d\"/></svg>",
            BAR_HEIGHT, number_of(cell) / largest * 1000, BAR_HEIGHT);
    (void)fputs("</td>", out);
}

/* The how many-th table it is: each is a landmark, and has a name of its own. */
static uint32_t table_number(const struct lines *lines, uint32_t first)
{
    uint32_t number = 1;

    for (uint32_t i = 0; i < first; i++)
        number += lines->line[i].kind == LINE_TABLE && lines->line[i].rule == i;
    return number;
}

static void html_table(FILE *out, const struct lines *lines, uint32_t first, uint32_t end)
{
    const uint32_t rule = lines->line[first].rule;
    const struct columns columns = columns_of(lines->line[rule].text);
    double largest[COLUMNS_MAX] = { 0 };
    char cell[CELL_SIZE];

    (void)fprintf(out,
                  "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                  "aria-label=\"Table %u\"><table><thead><tr>",
                  table_number(lines, first));
    for (uint32_t i = 0; i < columns.count; i++) {
        cut_heading(lines, first, rule, columns.from[i], columns.to[i], cell);
        if (strcmp(cell, "cost $") == 0)
            largest[i] = largest_in(lines, rule + 1, end, columns.from[i], columns.to[i]);
        (void)fputs(i > 0 ? "<th scope=\"col\" class=\"n\">" : "<th scope=\"col\">", out);
        html_text(out, cell);
        (void)fputs("</th>", out);
    }
    (void)fputs("</tr></thead><tbody>\n", out);
    for (uint32_t row = rule + 1; row < end; row++) {
        (void)fputs("<tr>", out);
        for (uint32_t i = 0; i < columns.count; i++) {
            cut_cell(lines->line[row].text, columns.from[i], columns.to[i], cell, sizeof(cell));
            html_cell(out, cell, largest[i]);
        }
        (void)fputs("</tr>\n", out);
    }
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

static void md_table(FILE *out, const struct lines *lines, uint32_t first, uint32_t end)
{
    const uint32_t rule = lines->line[first].rule;
    const struct columns columns = columns_of(lines->line[rule].text);
    char cell[CELL_SIZE];

    for (uint32_t i = 0; i < columns.count; i++) {
        cut_heading(lines, first, rule, columns.from[i], columns.to[i], cell);
        (void)fputs("| ", out);
        md_text(out, cell);
        (void)fputc(' ', out);
    }
    (void)fputs("|\n", out);
    for (uint32_t i = 0; i < columns.count; i++)
        (void)fputs(i > 0 ? "|--:" : "|---", out);
    (void)fputs("|\n", out);
    for (uint32_t row = rule + 1; row < end; row++) {
        for (uint32_t i = 0; i < columns.count; i++) {
            cut_cell(lines->line[row].text, columns.from[i], columns.to[i], cell, sizeof(cell));
            (void)fputs("| ", out);
            md_text(out, cell);
            (void)fputc(' ', out);
        }
        (void)fputs("|\n", out);
    }
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
