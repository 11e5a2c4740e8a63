/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON strings are jansson's; JSON numbers are not. jansson prints reals by significant digits, one
 * count for the whole document ("%.17g" if none is given), and has changed its ways between
 * releases, so that 0.1 may come out as 0.10000000000000001. The few braces are therefore written
 * here, in the layout of JSON_INDENT(2), around digits that are the same in all formats.
 */
#include "cli/report_table.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "draw/csv_text.h"
#include "draw/digits.h"
#include "draw/utf8.h"

enum {
    MONEY_DIGITS = 6, /* of a dollar in micro-dollars */
    TEXT_LEAST = 8,   /* columns that a text keeps on a narrow terminal */
    WORD_MOST = 20,   /* columns of the longest word that is never broken */
    COLUMN_GAP = 2,   /* spaces between two columns of a table */
    COLUMNS_SIZE = 256,
};

enum cell_kind {
    CELL_MISSING,
    CELL_TEXT,
    CELL_FIXED, /* an integer, money or a scaled decimal */
    CELL_REAL,
};

struct cell {
    enum cell_kind kind;
    bool is_rest; /* a text that stands for other rows */
    union {
        const char *text;
        int64_t fixed;
        double real;
    };
};

/* A note is one cell with a column of its own. */
struct note {
    struct report_column column;
    struct cell cell;
};

struct report_table {
    struct arena arena; /* all text, and 'columns' */
    const char *name;
    struct report_column *columns;
    uint32_t column_count;
    struct cell *cells; /* row by row */
    uint32_t cell_count;
    uint32_t cell_room;
    struct note *notes;
    uint32_t note_count;
    uint32_t note_room;
};

int output_format_parse(const char *text, enum output_format *ret, struct error *reterr)
{
    static const char *const names[] = {
        [OUTPUT_TABLE] = "table",
        [OUTPUT_JSON] = "json",
        [OUTPUT_CSV] = "csv",
    };

    for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret = (enum output_format)i;
            return 0;
        }
    }
    return error_set(reterr, -EINVAL,
                     "unknown output format '%s': use table, wide, json, yaml or csv", text);
}

/* Building. */

static struct report_column column_copy(struct report_table *table,
                                        const struct report_column *from)
{
    struct report_column copy = *from;

    assert(from->key != NULL);
    assert(from->digits <= DIGITS_FRACTION_MAX);
    assert(from->kind != REPORT_MONEY || from->digits <= MONEY_DIGITS);

    copy.key = utf8_clean(&table->arena, from->key);
    copy.heading = from->heading != NULL ? utf8_clean(&table->arena, from->heading) : copy.key;
    if (copy.align == REPORT_ALIGN_BY_KIND)
        copy.align = copy.kind == REPORT_TEXT ? REPORT_ALIGN_LEFT : REPORT_ALIGN_RIGHT;
    return copy;
}

struct report_table *report_table_create(const char *name, const struct report_column *columns,
                                         uint32_t column_count)
{
    assert(column_count > 0);

    struct report_table *table = mem_alloc(1, sizeof(*table));

    arena_init(&table->arena);
    table->name = utf8_clean(&table->arena, name);
    table->columns = ARENA_ARRAY(&table->arena, struct report_column, column_count);
    table->column_count = column_count;
    for (uint32_t i = 0; i < column_count; i++)
        table->columns[i] = column_copy(table, &columns[i]);
    return table;
}

void report_table_destroy(struct report_table *table)
{
    if (table == NULL)
        return;
    mem_free(table->cells);
    mem_free(table->notes);
    arena_done(&table->arena);
    mem_free(table);
}

static const struct report_column *next_column(const struct report_table *table)
{
    return &table->columns[table->cell_count % table->column_count];
}

static void add_cell(struct report_table *table, struct cell cell)
{
    MEM_ROOM(table->cells, table->cell_room, table->cell_count + 1);
    table->cells[table->cell_count++] = cell;
}

static struct cell text_cell(struct report_table *table, const char *text)
{
    if (text == NULL)
        return (struct cell){ .kind = CELL_MISSING };
    return (struct cell){ .kind = CELL_TEXT, .text = utf8_clean(&table->arena, text) };
}

static struct cell fixed_cell(int64_t value)
{
    return (struct cell){ .kind = CELL_FIXED, .fixed = value };
}

static struct cell real_cell(double value)
{
    if (!isfinite(value))
        return (struct cell){ .kind = CELL_MISSING };
    return (struct cell){ .kind = CELL_REAL, .real = value };
}

static struct cell money_cell(money_t value)
{
    if (value == MONEY_UNKNOWN)
        return (struct cell){ .kind = CELL_MISSING };
    return fixed_cell(value);
}

void report_table_add_missing(struct report_table *table)
{
    add_cell(table, (struct cell){ .kind = CELL_MISSING });
}

void report_table_add_text(struct report_table *table, const char *text)
{
    assert(next_column(table)->kind == REPORT_TEXT);
    add_cell(table, text_cell(table, text));
}

void report_table_add_rest(struct report_table *table, const char *text)
{
    assert(next_column(table) == table->columns);
    report_table_add_text(table, text);
    table->cells[table->cell_count - 1].is_rest = true;
}

void report_table_add_integer(struct report_table *table, int64_t value)
{
    assert(next_column(table)->kind == REPORT_INTEGER);
    add_cell(table, fixed_cell(value));
}

void report_table_add_fixed(struct report_table *table, int64_t value)
{
    assert(next_column(table)->kind == REPORT_DECIMAL);
    add_cell(table, fixed_cell(value));
}

void report_table_add_real(struct report_table *table, double value)
{
    assert(next_column(table)->kind == REPORT_DECIMAL);
    add_cell(table, real_cell(value));
}

void report_table_add_money(struct report_table *table, money_t value)
{
    assert(next_column(table)->kind == REPORT_MONEY);
    add_cell(table, money_cell(value));
}

static void add_note(struct report_table *table, struct report_column column, struct cell cell)
{
    assert(strcmp(column.key, "name") != 0);
    assert(strcmp(column.key, "rows") != 0);

    MEM_ROOM(table->notes, table->note_room, table->note_count + 1);
    table->notes[table->note_count++] = (struct note){ column_copy(table, &column), cell };
}

void report_table_note_text(struct report_table *table, const char *key, const char *text)
{
    const struct report_column column = { .key = key, .kind = REPORT_TEXT };

    add_note(table, column, text_cell(table, text));
}

void report_table_note_integer(struct report_table *table, const char *key, int64_t value)
{
    const struct report_column column = { .key = key, .kind = REPORT_INTEGER };

    add_note(table, column, fixed_cell(value));
}

void report_table_note_real(struct report_table *table, const char *key, double value,
                            uint32_t digits)
{
    const struct report_column column = { .key = key, .kind = REPORT_DECIMAL, .digits = digits };

    add_note(table, column, real_cell(value));
}

void report_table_note_money(struct report_table *table, const char *key, money_t value)
{
    const struct report_column column = { .key = key, .kind = REPORT_MONEY };

    add_note(table, column, money_cell(value));
}

/* Sorting. */

struct sorting {
    uint32_t column;
    bool descending;
};

static int compare_cells(const struct cell *left, const struct cell *right)
{
    if (left->kind == CELL_TEXT)
        return strverscmp(left->text, right->text);
    if (left->kind == CELL_FIXED && right->kind == CELL_FIXED)
        return (left->fixed > right->fixed) - (left->fixed < right->fixed);

    const double x = left->kind == CELL_REAL ? left->real : (double)left->fixed;
    const double y = right->kind == CELL_REAL ? right->real : (double)right->fixed;

    return (x > y) - (x < y);
}

/* Rows are pointers to their first cells, in their order before. */
static int compare_rows(const void *left, const void *right, void *context)
{
    const struct sorting *sorting = context;
    const struct cell *a = *(struct cell *const *)left;
    const struct cell *b = *(struct cell *const *)right;
    const struct cell *x = &a[sorting->column];
    const struct cell *y = &b[sorting->column];
    int order = 0;

    if (a->is_rest || b->is_rest)
        return a->is_rest && b->is_rest ? (a > b) - (a < b) : a->is_rest - b->is_rest;
    if ((x->kind == CELL_MISSING) != (y->kind == CELL_MISSING))
        return x->kind == CELL_MISSING ? 1 : -1;
    if (x->kind != CELL_MISSING)
        order = compare_cells(x, y);
    if (order != 0)
        return sorting->descending ? -order : order;
    return (a > b) - (a < b);
}

static void sort_rows(struct report_table *table, struct sorting sorting)
{
    const uint32_t count = table->cell_count / table->column_count;
    struct cell **rows = mem_alloc(count + 1, sizeof(*rows));
    struct cell *sorted = mem_alloc(table->cell_count + 1, sizeof(*sorted));

    for (uint32_t i = 0; i < count; i++)
        rows[i] = &table->cells[(size_t)i * table->column_count];
    qsort_r(rows, count, sizeof(*rows), compare_rows, &sorting);
    for (uint32_t i = 0; i < count; i++)
        memcpy(&sorted[(size_t)i * table->column_count], rows[i],
               table->column_count * sizeof(*sorted));
    mem_free(rows);
    mem_free(table->cells);
    table->cells = sorted;
    table->cell_room = table->cell_count + 1;
}

/* The column of that key; its number of columns: none. */
static uint32_t find_column(const struct report_table *table, const char *key)
{
    uint32_t i = 0;

    while (i < table->column_count && strcmp(table->columns[i].key, key) != 0)
        i++;
    return i;
}

static void list_columns(const struct report_table *table, char *ret, size_t size)
{
    size_t used = 0;

    for (uint32_t i = 0; i < table->column_count && used < size; i++)
        used += (size_t)snprintf(ret + used, size - used, "%s%s", i > 0 ? ", " : "",
                                 table->columns[i].key);
}

static int no_column(const char *key, const char *columns, struct error *reterr)
{
    return error_set(reterr, -EINVAL, "there is no column '%s' to sort by; there are %s",
                     key + (key[0] == '-'), columns);
}

int report_table_sort(struct report_table *table, const char *key, struct error *reterr)
{
    const bool descending = key[0] == '-';
    const uint32_t column = find_column(table, key + descending);
    char keys[COLUMNS_SIZE];

    if (column < table->column_count) {
        sort_rows(table, (struct sorting){ column, descending });
        return 0;
    }
    list_columns(table, keys, sizeof(keys));
    return no_column(key, keys, reterr);
}

/* What --sort of a whole process asks for. */
static struct {
    const char *key; /* NULL: nothing */
    bool is_done;
    char others[COLUMNS_SIZE]; /* the columns of the first table that did not have it */
} wish;

void report_table_sort_all(const char *key)
{
    wish.key = key;
}

int report_table_check_sort(struct error *reterr)
{
    if (wish.key == NULL || wish.is_done || wish.others[0] == '\0')
        return 0;
    return no_column(wish.key, wish.others, reterr);
}

/* A copy of the table that is sorted as is wished for, for mem_free of its cells; false: it is not. */
static bool sort_copy(const struct report_table *table, struct report_table *ret)
{
    const bool descending = wish.key != NULL && wish.key[0] == '-';
    const uint32_t column =
        wish.key != NULL ? find_column(table, wish.key + descending) : table->column_count;

    if (wish.key != NULL && column == table->column_count && wish.others[0] == '\0')
        list_columns(table, wish.others, sizeof(wish.others));
    if (column == table->column_count)
        return false;
    *ret = *table;
    ret->cells = mem_alloc(table->cell_count + 1, sizeof(*ret->cells));
    if (table->cell_count > 0)
        memcpy(ret->cells, table->cells, table->cell_count * sizeof(*ret->cells));
    sort_rows(ret, (struct sorting){ column, descending });
    wish.is_done = true;
    return true;
}

/* Printing: numbers, as all formats need them. */

static struct digits fixed_digits(const struct report_column *column, int64_t value,
                                  enum digits_style style)
{
    switch (column->kind) {
    case REPORT_MONEY:
        return digits_of_fixed(value, MONEY_DIGITS,
                               style == DIGITS_GROUPED ? column->digits : MONEY_DIGITS, style);
    case REPORT_DECIMAL:
        return digits_of_fixed(value, column->digits, column->digits, style);
    case REPORT_INTEGER:
    case REPORT_TEXT:
        break;
    }
    return digits_of_fixed(value, 0, 0, style);
}

/* The text of a cell, which may stand in 'buffer'; NULL if it is missing. */
static const char *cell_text(const struct report_column *column, const struct cell *cell,
                             enum digits_style style, struct digits *buffer)
{
    switch (cell->kind) {
    case CELL_MISSING:
        return NULL;
    case CELL_TEXT:
        return cell->text;
    case CELL_FIXED:
        *buffer = fixed_digits(column, cell->fixed, style);
        break;
    case CELL_REAL:
        *buffer = digits_of_real(cell->real, column->digits, style);
        break;
    }
    return buffer->text;
}

/* Printing for people. */

static double one_column(uint32_t character __attribute__((unused)))
{
    return 1;
}

static struct utf8_span whole_span(const char *text)
{
    return (struct utf8_span){ text, strlen(text) };
}

static uint32_t span_width(struct utf8_span span)
{
    return (uint32_t)utf8_width(span, one_column);
}

static const char *shown_text(const struct report_table *table, uint32_t index,
                              struct digits *buffer)
{
    const struct report_column *column = &table->columns[index % table->column_count];
    const char *text = cell_text(column, &table->cells[index], DIGITS_GROUPED, buffer);

    return text != NULL ? text : "-";
}

/* Widen each column to its widest cell. */
static void fit_cells(const struct report_table *table, uint32_t *widths)
{
    for (uint32_t i = 0; i < table->cell_count; i++) {
        struct digits buffer;
        const uint32_t width = span_width(whole_span(shown_text(table, i, &buffer)));
        uint32_t *column = &widths[i % table->column_count];

        *column = width > *column ? width : *column;
    }
}

/* The widest line of 'heading' when it is broken to stay within 'room' where its words allow. */
static uint32_t heading_width(const char *heading, uint32_t room)
{
    uint32_t widest = 0;

    while (*heading != '\0') {
        const uint32_t width = span_width(utf8_take_line(&heading, room, one_column));

        widest = width > widest ? width : widest;
    }
    return widest;
}

/*
 * Make each column as wide as its cells and its heading, which is broken into lines of 'room'. The
 * width of the whole is returned.
 */
static uint32_t fit_headings(const struct report_table *table, const uint32_t *cell_widths,
                             uint32_t room, uint32_t *widths)
{
    uint32_t total = (table->column_count - 1) * COLUMN_GAP;

    for (uint32_t i = 0; i < table->column_count; i++) {
        const uint32_t cells = cell_widths[i];
        const uint32_t heading =
            heading_width(table->columns[i].heading, cells > room ? cells : room);

        widths[i] = heading > cells ? heading : cells;
        total += widths[i];
    }
    return total;
}

/* Headings are broken no more than it takes for the whole to fit. */
static void fit_columns(const struct report_table *table, uint32_t room_all, uint32_t *widths)
{
    uint32_t *cell_widths = mem_alloc(table->column_count, sizeof(*cell_widths));

    fit_cells(table, cell_widths);
    for (uint32_t room = room_all; room > 0; room--) {
        if (fit_headings(table, cell_widths, room, widths) <= room_all)
            break;
    }
    mem_free(cell_widths);
}

/* Columns of the terminal that 'out' is; 0: it is none. */
static uint32_t terminal_width(FILE *out)
{
    struct winsize size = { .ws_col = 0 };
    const int fd = fileno(out);

    return fd >= 0 && isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Where texts are cut, a column is never narrower than this. */
static uint32_t narrowest_cut(const struct report_column *column)
{
    const uint32_t heading = heading_width(column->heading, 1);

    return heading > TEXT_LEAST ? heading : TEXT_LEAST;
}

/* Where texts are wrapped, their words stay whole, but for the longest ones. */
static uint32_t narrowest_wrapped(const struct report_table *table, uint32_t at)
{
    uint32_t least = narrowest_cut(&table->columns[at]);

    for (uint32_t cell = at; cell < table->cell_count; cell += table->column_count) {
        struct digits digits;
        const uint32_t word = heading_width(shown_text(table, cell, &digits), 1);
        const uint32_t whole = word < WORD_MOST ? word : WORD_MOST;

        least = whole > least ? whole : least;
    }
    return least;
}

/* Take from the widest texts until the whole fits, or all are as narrow as they may be. */
static void narrow_texts(const struct report_table *table, uint32_t room, bool is_cut,
                         uint32_t *widths)
{
    uint32_t *least = mem_alloc(table->column_count, sizeof(*least));
    uint32_t total = (table->column_count - 1) * COLUMN_GAP;

    for (uint32_t i = 0; i < table->column_count; i++) {
        const struct report_column *column = &table->columns[i];

        total += widths[i];
        least[i] = column->align != REPORT_ALIGN_LEFT ? widths[i]
                   : is_cut                           ? narrowest_cut(column)
                                                      : narrowest_wrapped(table, i);
    }
    for (; total > room; total--) {
        uint32_t widest = table->column_count;

        for (uint32_t i = 0; i < table->column_count; i++) {
            if (widths[i] > least[i] &&
                (widest == table->column_count || widths[i] > widths[widest]))
                widest = i;
        }
        if (widest == table->column_count)
            break;
        widths[widest]--;
    }
    mem_free(least);
}

static void print_fill(FILE *out, char fill, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        (void)fputc(fill, out);
}

/* One line, cell by cell: spaces are printed only in front of something that is not a space. */
struct line {
    FILE *out;
    uint32_t pending; /* spaces that are due */
};

static void print_cell(struct line *line, struct utf8_span span, uint32_t width,
                       enum report_align align)
{
    const uint32_t whole = span_width(span);
    const uint32_t used = whole < width ? whole : width;
    const uint32_t room = width > used ? width - used : 0;

    if (align == REPORT_ALIGN_RIGHT)
        line->pending += room;
    if (span.size > 0) {
        print_fill(line->out, ' ', line->pending);
        line->pending = 0;
    }
    if (whole > width)
        span = utf8_cut(span, width > 0 ? width - 1 : 0, one_column);
    for (size_t i = 0; i < span.size; i++)
        (void)fputc(strchr("\t\n\r", span.text[i]) != NULL ? ' ' : span.text[i], line->out);
    if (whole > width)
        (void)fputc('~', line->out);
    if (align != REPORT_ALIGN_RIGHT)
        line->pending += room;
    line->pending += COLUMN_GAP;
}

static uint32_t heading_lines(const char *heading, uint32_t width)
{
    uint32_t count = 0;

    while (utf8_take_line(&heading, width, one_column).size > 0)
        count++;
    return count;
}

/* Line 'index' of a heading; empty when there is none. */
static struct utf8_span heading_line(const char *heading, uint32_t width, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        (void)utf8_take_line(&heading, width, one_column);
    return utf8_take_line(&heading, width, one_column);
}

static bool is_bold; /* headings */

void report_table_colour(bool is_coloured)
{
    is_bold = is_coloured;
}

/* Headings stand on the rule below them: what has fewer lines starts lower. */
static void print_headings(const struct report_table *table, const uint32_t *widths, FILE *out)
{
    uint32_t most = 1;

    for (uint32_t i = 0; i < table->column_count; i++) {
        const uint32_t count = heading_lines(table->columns[i].heading, widths[i]);

        most = count > most ? count : most;
    }
    for (uint32_t at = 0; at < most; at++) {
        struct line line = { .out = out };

        (void)fputs(is_bold ? "\033[1m" : "", out);
        for (uint32_t i = 0; i < table->column_count; i++) {
            const struct report_column *column = &table->columns[i];
            const uint32_t above = most - heading_lines(column->heading, widths[i]);
            struct utf8_span span = { "", 0 };

            if (at >= above)
                span = heading_line(column->heading, widths[i], at - above);
            print_cell(&line, span, widths[i], column->align);
        }
        (void)fputs(is_bold ? "\033[m\n" : "\n", out);
    }
}

static void print_rule(const struct report_table *table, const uint32_t *widths, FILE *out)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        print_fill(out, ' ', i > 0 ? COLUMN_GAP : 0);
        print_fill(out, '-', widths[i]);
    }
    (void)fputc('\n', out);
}

/* How much of a word that is longer than the room stands on the line: up to its last mark such as '-', if there is one. */
static size_t break_word(struct utf8_span word, uint32_t room)
{
    const struct utf8_span cut = utf8_cut(word, room, one_column);
    size_t size = cut.size;

    while (size > 0 && strchr("-/.,:_=", cut.text[size - 1]) == NULL)
        size--;
    return size > cut.size / 2 ? size : cut.size;
}

/* The words at the start of '*rest' that fit into the room, or a part of the first; '*rest' moves on behind them. */
static struct utf8_span take_cell_line(const char **rest, uint32_t room)
{
    struct utf8_span line = utf8_take_line(rest, room, one_column);

    if (room > 0 && span_width(line) > room) {
        line.size = break_word(line, room);
        *rest = line.text + line.size;
    }
    return line;
}

/* A row, whose long texts take several lines. */
static void print_row(const struct report_table *table, uint32_t row, const uint32_t *widths,
                      FILE *out)
{
    struct digits *digits = mem_alloc(table->column_count, sizeof(*digits));
    const char **rest = mem_alloc(table->column_count, sizeof(*rest));
    bool any = true;

    for (uint32_t i = 0; i < table->column_count; i++)
        rest[i] = shown_text(table, row + i, &digits[i]);
    while (any) {
        struct line line = { .out = out };

        any = false;
        for (uint32_t i = 0; i < table->column_count; i++) {
            print_cell(&line, take_cell_line(&rest[i], widths[i]), widths[i],
                       table->columns[i].align);
            any = any || rest[i][strspn(rest[i], " \t\n\r")] != '\0';
        }
        (void)fputc('\n', out);
    }
    mem_free(rest);
    mem_free(digits);
}

/* A row on a line of its own: what is too long is cut. */
static void print_line(const struct report_table *table, uint32_t row, const uint32_t *widths,
                       FILE *out)
{
    struct line line = { .out = out };

    for (uint32_t i = 0; i < table->column_count; i++) {
        struct digits buffer;
        const char *text = shown_text(table, row + i, &buffer);

        print_cell(&line, whole_span(text), widths[i], table->columns[i].align);
    }
    (void)fputc('\n', out);
}

static bool is_wide; /* lines may be as long as they are */

void report_table_wide(bool wide)
{
    is_wide = wide;
}

static void print_table(const struct report_table *table, FILE *out)
{
    const uint32_t terminal = terminal_width(out);
    const uint32_t room = terminal > 0 ? terminal : REPORT_WIDTH;
    uint32_t *widths = mem_alloc(table->column_count, sizeof(*widths));

    fit_columns(table, room, widths);
    if (!is_wide)
        narrow_texts(table, room, terminal > 0, widths);
    print_headings(table, widths, out);
    print_rule(table, widths, out);
    for (uint32_t row = 0; row < table->cell_count; row += table->column_count) {
        if (terminal > 0 || is_wide)
            print_line(table, row, widths, out);
        else
            print_row(table, row, widths, out);
    }
    if (table->cell_count == 0)
        (void)fputs("(no rows)\n", out);
    mem_free(widths);
}

/* Printing as cells. */

static bool is_cells;

void report_table_as_cells(bool as_cells)
{
    is_cells = as_cells;
}

static void put_part(FILE *out, const char *text)
{
    for (; *text != '\0'; text++)
        (void)fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
}

/* A heading on one line: without the places where it may be broken, "moves/ task" and "avail- ability". */
static void put_heading(FILE *out, const char *heading)
{
    for (const char *at = heading; *at != '\0'; at++) {
        if (at[0] == '-' && at[1] == ' ')
            at++;
        else if (at[0] != ' ' || at == heading || at[-1] != '/')
            (void)fputc(*at, out);
    }
}

static void print_cells(const struct report_table *table, FILE *out)
{
    struct digits digits;

    for (uint32_t i = 0; i < table->column_count; i++) {
        (void)fputc(i > 0 ? REPORT_NEXT : REPORT_HEAD, out);
        if (table->columns[i].kind != REPORT_TEXT)
            (void)fputc(REPORT_NUMBER, out);
        put_heading(out, table->columns[i].heading);
    }
    assert(table->column_count > 0);
    for (uint32_t i = 0; i < table->cell_count; i++) {
        const uint32_t at = i % table->column_count;

        if (at == 0)
            (void)fputc('\n', out);
        (void)fputc(at > 0 ? REPORT_NEXT : REPORT_ROW, out);
        put_part(out, shown_text(table, i, &digits));
        if (table->cells[i].kind == CELL_FIXED || table->cells[i].kind == CELL_REAL) {
            (void)fputc(REPORT_NUMBER, out);
            (void)fputs(cell_text(&table->columns[at], &table->cells[i], DIGITS_PLAIN, &digits),
                        out);
        }
    }
    (void)fputc('\n', out);
}

/* Printing as JSON. */

static void print_json_string(FILE *out, const char *text)
{
    json_t *string = json_string(text);

    /* Clean UTF-8 is never refused, so this is memory; see mem.h. */
    if (string == NULL)
        abort();
    (void)json_dumpf(string, out, JSON_ENCODE_ANY);
    json_decref(string);
}

static void print_json_member(FILE *out, const struct report_column *column,
                              const struct cell *cell)
{
    struct digits buffer;
    const char *text = cell_text(column, cell, DIGITS_PLAIN, &buffer);

    print_json_string(out, column->key);
    (void)fputs(": ", out);
    if (text == NULL)
        (void)fputs("null", out);
    else if (cell->kind == CELL_TEXT)
        print_json_string(out, text);
    else
        (void)fputs(text, out);
}

static void print_json_row(const struct report_table *table, uint32_t row, FILE *out)
{
    (void)fputs(row > 0 ? ",\n    {\n" : "\n    {\n", out);
    for (uint32_t i = 0; i < table->column_count; i++) {
        (void)fputs(i > 0 ? ",\n      " : "      ", out);
        print_json_member(out, &table->columns[i], &table->cells[row + i]);
    }
    (void)fputs("\n    }", out);
}

static void print_json(const struct report_table *table, FILE *out)
{
    (void)fputs("{\n  \"name\": ", out);
    print_json_string(out, table->name);
    for (uint32_t i = 0; i < table->note_count; i++) {
        (void)fputs(",\n  ", out);
        print_json_member(out, &table->notes[i].column, &table->notes[i].cell);
    }
    (void)fputs(",\n  \"rows\": [", out);
    for (uint32_t row = 0; row < table->cell_count; row += table->column_count)
        print_json_row(table, row, out);
    (void)fputs(table->cell_count > 0 ? "\n  ]\n}\n" : "]\n}\n", out);
}

/* Printing as CSV. */

static void print_csv(const struct report_table *table, FILE *out)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (i > 0)
            (void)fputc(',', out);
        csv_text(out, table->columns[i].key);
    }
    (void)fputc('\n', out);

    assert(table->column_count > 0);
    for (uint32_t i = 0; i < table->cell_count; i++) {
        const uint32_t at = i % table->column_count;
        struct digits buffer;
        const char *text = cell_text(&table->columns[at], &table->cells[i], DIGITS_PLAIN, &buffer);

        if (text != NULL && table->cells[i].kind == CELL_TEXT)
            csv_text(out, text);
        else if (text != NULL)
            (void)fputs(text, out);
        (void)fputc(at + 1 < table->column_count ? ',' : '\n', out);
    }
}

static void print(const struct report_table *table, enum output_format format, FILE *out)
{
    switch (format) {
    case OUTPUT_TABLE:
        if (is_cells)
            print_cells(table, out);
        else
            print_table(table, out);
        break;
    case OUTPUT_JSON:
        print_json(table, out);
        break;
    case OUTPUT_CSV:
        print_csv(table, out);
        break;
    }
}

int report_table_write(const struct report_table *table, enum output_format format, FILE *out)
{
    struct report_table sorted;

    assert(table->cell_count % table->column_count == 0);
    errno = 0;
    if (sort_copy(table, &sorted)) {
        print(&sorted, format, out);
        mem_free(sorted.cells);
    } else {
        print(table, format, out);
    }
    /* What failed on the way is remembered by 'out'; stdio leaves errno alone when all is well. */
    if (fflush(out) != 0 || ferror(out))
        return errno > 0 ? -errno : -EIO;
    return 0;
}
