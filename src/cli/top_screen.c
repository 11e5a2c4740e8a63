/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/top_screen.h"

#include <curses.h>
#include <errno.h>
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "cli/operator.h"
#include "cli/status_lines.h"
#include "draw/blocks.h"
#include "draw/utf8.h"

enum {
    PERIOD_MS = 1000,
    PERIOD_MAX_MS = 10000,
    LOOK_MS = 250,     /* at most, without looking whether it is over */
    QUIET_FACTOR = 20, /* between two questions, times what the first took */
    ROWS_MAX = 10000,  /* of a list; the API sends no more */
    FILTER_SIZE = 64,
    BAR_SIZE = 64,
    GAP = 2,          /* spaces between columns */
    TEXT_WIDEST = 24, /* of a column of text */
    HEAD_LINES = 4,   /* of the status */
    LIST_TOP = HEAD_LINES + 3,
    KEY_ESCAPE = 27,
    KEY_CTRL_L = 12,
    KEY_RUBOUT = 127,
    ESCAPE_MS = 25, /* that an escape sequence may take to come in */
};

enum tone { TONE_NONE, TONE_GOOD, TONE_CHANGING, TONE_BAD, TONE_HEAD };

enum mode { MODE_LIST, MODE_FILTER, MODE_DETAIL, MODE_HELP };

/* Text in lines, to scroll through: a detail or the help. */
struct pages {
    char *text;
    size_t size;
    uint32_t first; /* line on top */
    uint32_t lines; /* in all, at the last width */
};

struct top {
    const struct daemon_options *daemon;
    struct top_list lists[TOP_VIEWS];
    struct top_order order[TOP_VIEWS];
    uint32_t selected[TOP_VIEWS];
    uint32_t first[TOP_VIEWS];
    enum top_view view;
    enum mode mode;
    char filter[FILTER_SIZE];
    char *head; /* the lines of the status */
    struct error error;
    struct pages pages;
    msec_t next_ask;
    bool colour;
    bool utf8;
};

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

static const char help[] =
    "stint top: keys\n"
    "\n"
    "Tab, 1, 2         machines or jobs\n"
    "arrows, j, k      one line; Page Up and Down, Home, End: further\n"
    "Enter             the job or machine under the cursor in detail, with the reasons of decisions\n"
    "/                 filter: rows that contain all the words that you type; Enter keeps it, Esc clears it\n"
    "< and >           sort by the column to the left or right; s: by the next one\n"
    "r                 reverse the order; u: unsorted, as the daemon has it\n"
    "Space             ask the daemon now\n"
    "?                 this help\n"
    "q                 back, or quit\n"
    "\n"
    "The CPU bar and % show how much of a machine its tasks have reserved. 'of' is the run time expected of a "
    "job. Lists have at most 10,000 rows; NO_COLOR in the environment or --color=never leaves out colours.\n";

static msec_t clock_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (msec_t)now.tv_sec * MSEC_PER_SEC + now.tv_nsec / 1000000;
}

/* ---- asking ---- */

static void arrange(struct top *top)
{
    struct top_list *list = &top->lists[top->view];

    top_list_arrange(list, top->order[top->view], top->filter);
    if (top->selected[top->view] >= list->shown_count)
        top->selected[top->view] = list->shown_count > 0 ? list->shown_count - 1 : 0;
}

static void keep_head(struct top *top, const json_t *status)
{
    size_t size = 0;

    free(top->head);
    top->head = NULL;

    FILE *out = open_memstream(&top->head, &size);

    if (out == NULL)
        return;
    status_line_who(out, status);
    status_line_work(out, status);
    (void)fputs("machines ", out);
    status_line_machines(out, status);
    (void)fputs("bill ", out);
    status_line_money(out, status);
    (void)fclose(out);
}

static int ask_all(struct top *top, struct error *reterr)
{
    char limit[16];
    json_t *answer = NULL;
    int rc = daemon_get(top->daemon, "/v1/status", &answer, reterr);

    if (rc < 0)
        return rc;
    keep_head(top, answer);
    json_decref(answer);
    (void)snprintf(limit, sizeof(limit), "%d", ROWS_MAX);
    rc = daemon_get_with(top->daemon, top_format(top->view)->path, "limit", limit, &answer, reterr);
    if (rc < 0)
        return rc;
    top_list_read(&top->lists[top->view], answer);
    json_decref(answer);
    arrange(top);
    return 0;
}

static void ask(struct top *top)
{
    const msec_t begin = clock_ms();

    top->error = (struct error){ "" };
    (void)ask_all(top, &top->error);

    const msec_t took = clock_ms() - begin;

    const msec_t pause = took * QUIET_FACTOR;

    top->next_ask = begin + took;
    top->next_ask += pause < PERIOD_MS ? PERIOD_MS : pause > PERIOD_MAX_MS ? PERIOD_MAX_MS : pause;
}

/* ---- details ---- */

static void write_reasons(FILE *out, const json_t *reasons)
{
    const json_t *reason;
    size_t i;

    json_array_foreach(reasons, i, reason)
    {
        const char *over = field_text(reason, "passed_over");

        (void)fprintf(out, "%s  ", time_words(field_integer(reason, "at", -1)).text);
        print_clean(out, field_word(reason, "where"));
        (void)fputs(": ", out);
        print_clean(out, field_word(reason, "why"));
        (void)fprintf(out, " (%s per hour",
                      money_words(field_money(reason, "chosen_microdollars_per_hour"), 3).text);
        if (over != NULL) {
            (void)fputs("; passed over: ", out);
            print_clean(out, over);
            (void)fprintf(
                out, " at %s",
                money_words(field_money(reason, "passed_over_microdollars_per_hour"), 3).text);
        }
        (void)fputs(")\n", out);
    }
}

static void write_detail(FILE *out, const json_t *answer)
{
    static const char *const lists[] = { "reasons", "rented_because", "released_because" };
    const json_t *line;
    size_t i;

    json_array_foreach(json_object_get(answer, "text"), i, line)
    {
        const char *words = json_string_value(line);

        print_clean(out, words != NULL ? words : "");
        (void)fputc('\n', out);
    }
    (void)fputs("\nDecisions, the latest first:\n", out);
    for (size_t list = 0; list < sizeof(lists) / sizeof(lists[0]); list++)
        write_reasons(out, json_object_get(answer, lists[list]));
}

static FILE *open_pages(struct top *top)
{
    free(top->pages.text);
    top->pages = (struct pages){ .text = NULL };
    return open_memstream(&top->pages.text, &top->pages.size);
}

static void open_detail(struct top *top)
{
    const struct top_list *list = &top->lists[top->view];
    struct error error = { "" };
    json_t *answer = NULL;

    if (list->shown_count == 0)
        return;

    const char *name = list->rows[list->shown[top->selected[top->view]]].cells[0].text;
    const int rc =
        daemon_get_with(top->daemon, "/v1/explain", top->view == TOP_JOBS ? "job" : "instance",
                        name, &answer, &error);
    FILE *out = open_pages(top);

    if (out == NULL)
        return;
    (void)fprintf(out, "%s %s\n\n", top->view == TOP_JOBS ? "Job" : "Machine", name);
    if (rc < 0)
        print_clean(out, error.text);
    else
        write_detail(out, answer);
    json_decref(answer);
    (void)fclose(out);
    top->mode = MODE_DETAIL;
}

static void open_help(struct top *top)
{
    FILE *out = open_pages(top);

    if (out == NULL)
        return;
    (void)fputs(help, out);
    (void)fclose(out);
    top->mode = MODE_HELP;
}

/* ---- drawing ---- */

static double columns_of(uint32_t character)
{
    const int width = wcwidth((wchar_t)character);

    return width >= 0 ? width : 1;
}

static void set_tone(const struct top *top, enum tone tone, attr_t attributes)
{
    (void)attr_set(attributes, (short)(top->colour ? tone : TONE_NONE), NULL);
}

/* As much of 'span' as fits, from the cursor on. */
static uint32_t draw_span(const struct top *top, struct utf8_span span, uint32_t room)
{
    const struct utf8_span cut = utf8_cut(span, room, columns_of);

    for (size_t i = 0; i < cut.size; i++) {
        const bool is_ascii = (unsigned char)cut.text[i] < 0x80;

        if (!is_ascii && !top->utf8)
            (void)addch('?');
        else if (is_ascii)
            (void)addch((chtype)cut.text[i]);
        else {
            const size_t start = i;

            while (i + 1 < cut.size && (cut.text[i + 1] & 0xC0) == 0x80)
                i++;
            (void)addnstr(cut.text + start, (int)(i + 1 - start));
        }
    }
    return (uint32_t)utf8_width(cut, columns_of);
}

static uint32_t draw_text(const struct top *top, const char *text, uint32_t room)
{
    return draw_span(top, (struct utf8_span){ text, strlen(text) }, room);
}

static void draw_spaces(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        (void)addch(' ');
}

static enum tone tone_of_state(const char *state)
{
    static const struct {
        const char *state;
        enum tone tone;
    } tones[] = {
        { "ready", TONE_GOOD },         { "running", TONE_GOOD },   { "booting", TONE_CHANGING },
        { "requested", TONE_CHANGING }, { "bound", TONE_CHANGING }, { "draining", TONE_BAD },
        { "returned", TONE_BAD },
    };

    for (size_t i = 0; i < sizeof(tones) / sizeof(tones[0]); i++) {
        if (strcmp(state, tones[i].state) == 0)
            return tones[i].tone;
    }
    return TONE_NONE;
}

static void draw_bar(const struct top *top, int64_t share)
{
    char bar[BAR_SIZE] = "";
    FILE *out = fmemopen(bar, sizeof(bar), "w");

    if (out == NULL)
        return;
    blocks_bar(out, share == TOP_UNKNOWN ? 0 : (double)share / TOP_SHARE_ALL, TOP_BAR, top->utf8);
    (void)fclose(out);
    (void)draw_text(top, bar, TOP_BAR);
}

/* Widths of the columns that there is room for; 0: left out. */
struct layout {
    uint32_t width[TOP_COLUMNS_MAX];
};

static uint32_t cell_width(const struct top_column *column, const struct top_cell *cell)
{
    if (column->kind == TOP_SHARE)
        return TOP_BAR;

    const uint32_t width =
        (uint32_t)utf8_width((struct utf8_span){ cell->text, strlen(cell->text) }, columns_of);

    return column->kind == TOP_TEXT && width > TEXT_WIDEST ? TEXT_WIDEST : width;
}

static uint32_t whole_width(const struct layout *layout, uint32_t columns)
{
    uint32_t width = 0;

    for (uint32_t i = 0; i < columns; i++)
        width += layout->width[i] > 0 ? layout->width[i] + GAP : 0;
    return width;
}

/* Leave out what matters least until the rest fits; the name stays. */
static void drop_columns(const struct top_format *format, struct layout *layout, uint32_t room)
{
    while (whole_width(layout, format->column_count) > room + GAP) {
        uint32_t least = 0;

        for (uint32_t i = 1; i < format->column_count; i++) {
            if (layout->width[i] > 0 &&
                (least == 0 || format->columns[i].keep < format->columns[least].keep))
                least = i;
        }
        if (least == 0)
            return;
        layout->width[least] = 0;
    }
}

static struct layout make_layout(const struct top *top, uint32_t rows, uint32_t room)
{
    const struct top_list *list = &top->lists[top->view];
    const struct top_format *format = top_format(top->view);
    const uint32_t first = top->first[top->view];
    struct layout layout = { { 0 } };

    for (uint32_t i = 0; i < format->column_count; i++) {
        layout.width[i] = (uint32_t)strlen(format->columns[i].heading) + 1; /* and its arrow */
        for (uint32_t row = first; row < first + rows && row < list->shown_count; row++) {
            const uint32_t width =
                cell_width(&format->columns[i], &list->rows[list->shown[row]].cells[i]);

            if (width > layout.width[i])
                layout.width[i] = width;
        }
    }
    drop_columns(format, &layout, room);
    return layout;
}

static void draw_cell(const struct top *top, const struct top_column *column,
                      const struct top_cell *cell, uint32_t width)
{
    if (column->kind == TOP_SHARE) {
        draw_bar(top, cell->key);
        draw_spaces(width - TOP_BAR);
        return;
    }

    const uint32_t used = cell_width(column, cell);

    if (column->kind == TOP_NUMBER)
        draw_spaces(width - used);
    (void)draw_text(top, cell->text, width);
    if (column->kind == TOP_TEXT)
        draw_spaces(width > used ? width - used : 0);
}

static void draw_row(const struct top *top, const struct top_row *row, const struct layout *layout,
                     bool is_selected)
{
    const struct top_format *format = top_format(top->view);
    const attr_t attributes = is_selected ? A_REVERSE : A_NORMAL;

    for (uint32_t i = 0; i < format->column_count; i++) {
        if (layout->width[i] == 0)
            continue;
        set_tone(top, i == format->state_column ? tone_of_state(row->cells[i].text) : TONE_NONE,
                 attributes);
        draw_cell(top, &format->columns[i], &row->cells[i], layout->width[i]);
        set_tone(top, TONE_NONE, attributes);
        draw_spaces(GAP);
    }
    set_tone(top, TONE_NONE, A_NORMAL);
}

static void draw_headings(const struct top *top, const struct layout *layout)
{
    const struct top_format *format = top_format(top->view);
    const struct top_order order = top->order[top->view];

    set_tone(top, TONE_HEAD, A_BOLD);
    for (uint32_t i = 0; i < format->column_count; i++) {
        const bool is_sorted = order.column == (int)i;
        const char *arrow = !is_sorted ? "" : order.descending ? "v" : "^";
        const uint32_t used = (uint32_t)(strlen(format->columns[i].heading) + strlen(arrow));

        if (layout->width[i] == 0)
            continue;
        if (format->columns[i].kind == TOP_NUMBER)
            draw_spaces(layout->width[i] - used);
        (void)addstr(format->columns[i].heading);
        (void)addstr(arrow);
        if (format->columns[i].kind != TOP_NUMBER)
            draw_spaces(layout->width[i] - used);
        draw_spaces(GAP);
    }
    set_tone(top, TONE_NONE, A_NORMAL);
}

/* A line of 'text' at row 'y'; what follows it is returned. */
static const char *draw_line(const struct top *top, int y, const char *text)
{
    const size_t length = strcspn(text, "\n");

    if (move(y, 0) == ERR)
        return text + length + (text[length] == '\n');
    (void)draw_span(top, (struct utf8_span){ text, length }, (uint32_t)COLS);
    return text + length + (text[length] == '\n');
}

static void draw_head(const struct top *top)
{
    const char *rest = top->head != NULL ? top->head : "";

    for (int y = 0; y < HEAD_LINES; y++)
        rest = draw_line(top, y, rest);
    if (top->error.text[0] == 0)
        return;

    char line[4 * sizeof(top->error.text)] = "";
    FILE *out = fmemopen(line, sizeof(line), "w");

    if (out == NULL)
        return;
    (void)fputs("NOT CURRENT: ", out);
    print_clean(out, top->error.text); /* it may hold names that users chose */
    (void)fclose(out);
    set_tone(top, TONE_BAD, A_BOLD);
    (void)draw_line(top, HEAD_LINES, line);
    set_tone(top, TONE_NONE, A_NORMAL);
}

static void draw_title(const struct top *top)
{
    const struct top_list *list = &top->lists[top->view];
    char line[256];

    (void)snprintf(line, sizeof(line), "%s  %u of %" PRId64 "%s%s%s",
                   top->view == TOP_MACHINES ? "[machines]  jobs " : " machines  [jobs]",
                   list->shown_count, list->total,
                   top->filter[0] != 0 || top->mode == MODE_FILTER ? "  filter: " : "", top->filter,
                   top->mode == MODE_FILTER ? "_" : "");
    set_tone(top, TONE_NONE, A_BOLD);
    (void)draw_line(top, LIST_TOP - 2, line);
    set_tone(top, TONE_NONE, A_NORMAL);
}

static uint32_t list_rows(void)
{
    return LINES > LIST_TOP + 1 ? (uint32_t)(LINES - LIST_TOP - 1) : 1;
}

/* Scroll no further than the cursor needs. */
static void keep_in_sight(struct top *top, uint32_t rows)
{
    uint32_t *first = &top->first[top->view];
    const uint32_t selected = top->selected[top->view];
    const uint32_t count = top->lists[top->view].shown_count;

    if (selected < *first)
        *first = selected;
    if (selected >= *first + rows)
        *first = selected - rows + 1;
    if (*first + rows > count)
        *first = count > rows ? count - rows : 0;
}

static void draw_list(struct top *top)
{
    const struct top_list *list = &top->lists[top->view];
    const uint32_t rows = list_rows();

    keep_in_sight(top, rows);

    const uint32_t first = top->first[top->view];
    const struct layout layout = make_layout(top, rows, (uint32_t)COLS);

    draw_head(top);
    draw_title(top);
    (void)move(LIST_TOP - 1, 0);
    draw_headings(top, &layout);
    for (uint32_t i = 0; i < rows && first + i < list->shown_count; i++) {
        if (move(LIST_TOP + (int)i, 0) == OK)
            draw_row(top, &list->rows[list->shown[first + i]], &layout,
                     first + i == top->selected[top->view]);
    }
    if (list->shown_count == 0)
        (void)draw_line(top, LIST_TOP,
                        top->filter[0] != 0 ? "nothing contains all of these words" : "none");
}

static void draw_pages(struct top *top)
{
    const uint32_t rows = LINES > 1 ? (uint32_t)LINES - 1 : 1;
    const char *rest = top->pages.text != NULL ? top->pages.text : "";
    uint32_t line = 0;

    while (*rest != 0) {
        const size_t length = strcspn(rest, "\n");
        char *paragraph = strndup(rest, length);
        const char *words = paragraph;
        bool is_first = true;

        while (paragraph != NULL && (is_first || *words != 0)) {
            const struct utf8_span part = length < (size_t)COLS
                                              ? (struct utf8_span){ paragraph, length }
                                              : utf8_take_line(&words, COLS, columns_of);

            if (line >= top->pages.first && line < top->pages.first + rows &&
                move((int)(line - top->pages.first), 0) == OK)
                (void)draw_span(top, part, (uint32_t)COLS);
            line++;
            is_first = false;
            if (length < (size_t)COLS)
                break;
        }
        free(paragraph);
        rest += length + (rest[length] == '\n');
    }
    top->pages.lines = line;
}

static void draw(struct top *top)
{
    static const char *const keys[] = {
        [MODE_LIST] =
            "Tab machines/jobs  Enter detail  / filter  < > sort  r reverse  ? help  q quit",
        [MODE_FILTER] = "type words; Enter keeps the filter, Esc clears it",
        [MODE_DETAIL] = "arrows scroll  q back",
        [MODE_HELP] = "arrows scroll  q back",
    };

    (void)erase();
    if (top->mode == MODE_DETAIL || top->mode == MODE_HELP)
        draw_pages(top);
    else
        draw_list(top);
    set_tone(top, TONE_NONE, A_REVERSE);
    (void)draw_line(top, LINES - 1, keys[top->mode]);
    set_tone(top, TONE_NONE, A_NORMAL);
    (void)refresh();
}

/* ---- keys ---- */

static void turn_to(struct top *top, enum top_view view)
{
    top->view = view;
    arrange(top);
    top->next_ask = 0;
}

static void sort_by(struct top *top, int step)
{
    const struct top_format *format = top_format(top->view);
    struct top_order *order = &top->order[top->view];
    const int count = (int)format->column_count;

    if (order->column == TOP_UNSORTED)
        order->column = step > 0 ? 0 : count - 1;
    else
        order->column = (order->column + step + count) % count;
    order->descending = format->columns[order->column].kind != TOP_TEXT; /* the largest first */
    arrange(top);
}

/* How far a key moves the cursor. */
static int64_t step_of(int key, int64_t page)
{
    switch (key) {
    case KEY_UP:
    case 'k':
        return -1;
    case KEY_DOWN:
    case 'j':
        return 1;
    case KEY_PPAGE:
        return -page;
    case KEY_NPAGE:
        return page;
    case KEY_HOME:
    case 'g':
        return INT32_MIN;
    case KEY_END:
    case 'G':
        return INT32_MAX;
    default:
        return 0;
    }
}

/* 'at' moved, within 0 and 'last'. */
static uint32_t moved(uint32_t at, int64_t step, uint32_t last)
{
    const int64_t to = (int64_t)at + step;

    return to < 0 ? 0 : to > (int64_t)last ? last : (uint32_t)to;
}

static void on_list_key(struct top *top, int key)
{
    const uint32_t count = top->lists[top->view].shown_count;

    top->selected[top->view] =
        moved(top->selected[top->view], step_of(key, list_rows()), count > 0 ? count - 1 : 0);
    switch (key) {
    case '\t':
        turn_to(top, top->view == TOP_MACHINES ? TOP_JOBS : TOP_MACHINES);
        break;
    case '1':
    case '2':
        turn_to(top, key == '1' ? TOP_MACHINES : TOP_JOBS);
        break;
    case '>':
    case 's':
        sort_by(top, 1);
        break;
    case '<':
        sort_by(top, -1);
        break;
    case 'r':
        top->order[top->view].descending = !top->order[top->view].descending;
        arrange(top);
        break;
    case 'u':
        top->order[top->view].column = TOP_UNSORTED;
        arrange(top);
        break;
    case '/':
        top->mode = MODE_FILTER;
        break;
    case '\r':
    case '\n':
    case KEY_ENTER:
        open_detail(top);
        break;
    case '?':
    case 'h':
        open_help(top);
        break;
    case ' ':
        top->next_ask = 0;
        break;
    case 'q':
    case 'Q':
        stopped = 1;
        break;
    default:
        break;
    }
}

static void on_filter_key(struct top *top, int key)
{
    const size_t length = strlen(top->filter);

    if (key == '\n' || key == '\r' || key == KEY_ENTER) {
        top->mode = MODE_LIST;
    } else if (key == KEY_ESCAPE) {
        top->filter[0] = 0;
        top->mode = MODE_LIST;
    } else if ((key == KEY_BACKSPACE || key == KEY_RUBOUT || key == '\b') && length > 0) {
        size_t end = length - 1;

        while (end > 0 && (top->filter[end] & 0xC0) == 0x80)
            end--;
        top->filter[end] = 0;
    } else if (key >= ' ' && key <= UINT8_MAX && key != KEY_RUBOUT && length + 1 < FILTER_SIZE) {
        top->filter[length] = (char)key;
        top->filter[length + 1] = 0;
    }
    arrange(top);
}

static void on_pages_key(struct top *top, int key)
{
    const uint32_t rows = LINES > 1 ? (uint32_t)LINES - 1 : 1;
    const uint32_t last = top->pages.lines > rows ? top->pages.lines - rows : 0;

    top->pages.first = moved(top->pages.first, step_of(key, rows), last);
    if (key == 'q' || key == KEY_ESCAPE || key == '\n' || key == '\r' || key == '?')
        top->mode = MODE_LIST;
}

static void on_key(struct top *top, int key)
{
    if (key == KEY_CTRL_L || key == KEY_RESIZE)
        (void)clear();
    else if (top->mode == MODE_LIST)
        on_list_key(top, key);
    else if (top->mode == MODE_FILTER)
        on_filter_key(top, key);
    else
        on_pages_key(top, key);
}

/* Wait for keys, no longer than until the next question is due, and take them all; at the end of input it is over.
 * A signal may come just before the wait: it must not last. */
static void take_keys(struct top *top)
{
    struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
    const msec_t left = top->next_ask - clock_ms();
    const int ready = poll(&keys, 1, left <= 0 ? 0 : left < LOOK_MS ? (int)left : LOOK_MS);
    int key = getch();

    if (ready > 0 && key == ERR)
        stopped = 1;
    for (; key != ERR && stopped == 0; key = getch())
        on_key(top, key);
}

static void choose_colours(struct top *top)
{
    if (!top->colour || !has_colors() || start_color() == ERR || use_default_colors() == ERR) {
        top->colour = false;
        return;
    }
    (void)init_pair(TONE_GOOD, COLOR_GREEN, -1);
    (void)init_pair(TONE_CHANGING, COLOR_YELLOW, -1);
    (void)init_pair(TONE_BAD, COLOR_RED, -1);
    (void)init_pair(TONE_HEAD, COLOR_CYAN, -1);
}

static void begin_keys(void)
{
    const struct sigaction action = { .sa_handler = stop };

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)cbreak();
    (void)noecho();
    (void)nodelay(stdscr, TRUE);
    (void)keypad(stdscr, TRUE);
    (void)set_escdelay(ESCAPE_MS);
    (void)curs_set(0);
}

static void watch(struct top *top)
{
    while (stopped == 0) {
        if (clock_ms() >= top->next_ask)
            ask(top);
        draw(top);
        take_keys(top);
    }
}

int top_screen(const struct top_setup *setup)
{
    struct top top = { .daemon = setup->daemon, .view = setup->view, .colour = setup->colour };

    (void)setlocale(LC_CTYPE, "");
    top.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

    SCREEN *screen = newterm(NULL, stdout, stdin);

    if (screen == NULL)
        return -ENOTTY;
    (void)snprintf(top.filter, sizeof(top.filter), "%s", setup->filter);
    for (int view = 0; view < TOP_VIEWS; view++) {
        top.order[view] = setup->order[view];
        top_list_init(&top.lists[view], (enum top_view)view);
    }
    choose_colours(&top);
    begin_keys();
    watch(&top);
    (void)endwin();
    delscreen(screen);
    for (int view = 0; view < TOP_VIEWS; view++)
        top_list_done(&top.lists[view]);
    free(top.head);
    free(top.pages.text);
    return 0;
}
