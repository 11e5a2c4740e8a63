/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint top - machines and jobs, again every second.
 *
 * A frame is written into memory, cut to the size of the terminal and printed at once, so that it does
 * not flicker. Only sequences that every terminal knows are used. What is no terminal gets one frame.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "cli/operator.h"
#include "cli/status_lines.h"
#include "cli/verb.h"
#include "draw/blocks.h"
#include "draw/utf8.h"

enum {
    ROWS_PLAIN = 20,  /* of each list, where there is no terminal */
    ROWS_MIN = 3,     /* on a small one */
    LINES_AROUND = 9, /* of a frame that are no rows */
    PERIOD_MS = 1000,
    PATH_SIZE = 64,
    BAR_COLUMNS = 8,
    BAR_SIZE = 64,
};

static const char doc[] =
    "Watch machines and jobs: what is rented, how full it is, what waits, what it costs. Redrawn "
    "every second; q or Ctrl-C ends it. Where the output is no terminal it is printed once.\v"
    "Exit codes: 0 done, 1 the daemon cannot be asked, 2 wrong usage.";

static volatile sig_atomic_t stopped;

static void stop(int number)
{
    (void)number;
    stopped = 1;
}

/* ---- one frame ---- */

static const struct report_column machine_columns[] = {
    { .key = "machine", .heading = "machine", .kind = REPORT_TEXT },
    { .key = "type", .heading = "type", .kind = REPORT_TEXT },
    { .key = "market", .heading = "market", .kind = REPORT_TEXT },
    { .key = "state", .heading = "state", .kind = REPORT_TEXT },
    { .key = "age", .heading = "age", .kind = REPORT_TEXT, .align = REPORT_ALIGN_RIGHT },
    { .key = "load", .heading = "CPU", .kind = REPORT_TEXT },
    { .key = "cpu", .heading = "%", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "mem", .heading = "mem %", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "tasks", .heading = "tasks", .kind = REPORT_INTEGER },
    { .key = "per_hour", .heading = "$/h", .kind = REPORT_MONEY, .digits = 3 },
    { .key = "bill", .heading = "bill $", .kind = REPORT_MONEY, .digits = 4 },
};

static const struct report_column job_columns[] = {
    { .key = "job", .heading = "job", .kind = REPORT_TEXT },
    { .key = "user", .heading = "user", .kind = REPORT_TEXT },
    { .key = "name", .heading = "name", .kind = REPORT_TEXT },
    { .key = "state", .heading = "state", .kind = REPORT_TEXT },
    { .key = "age", .heading = "age", .kind = REPORT_TEXT, .align = REPORT_ALIGN_RIGHT },
    { .key = "ran", .heading = "ran", .kind = REPORT_TEXT, .align = REPORT_ALIGN_RIGHT },
    { .key = "expected", .heading = "of", .kind = REPORT_TEXT, .align = REPORT_ALIGN_RIGHT },
    { .key = "tasks", .heading = "tasks", .kind = REPORT_INTEGER },
    { .key = "machine", .heading = "on", .kind = REPORT_TEXT },
    { .key = "cost", .heading = "cost $", .kind = REPORT_MONEY, .digits = 4 },
};

enum {
    MACHINE_COLUMNS = sizeof(machine_columns) / sizeof(machine_columns[0]),
    JOB_COLUMNS_SHOWN = sizeof(job_columns) / sizeof(job_columns[0]),
};

static void add_share(struct report_table *table, const json_t *machine, const char *kind)
{
    const int64_t used = field_integer(json_object_get(machine, "used"), kind, 0);
    const int64_t whole = field_integer(json_object_get(machine, "capacity"), kind, 0);

    if (whole > 0)
        report_table_add_real(table, (double)used / (double)whole * 100);
    else
        report_table_add_missing(table);
}

/* Whether the terminal has more than ASCII, by the environment. */
static bool has_blocks(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = getenv(names[i]);

        if (value != NULL && value[0] != 0)
            return isatty(STDOUT_FILENO) &&
                   (strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL);
    }
    return false;
}

/* How full a machine is, as a bar. */
static void add_bar(struct report_table *table, const json_t *machine, const char *kind)
{
    const int64_t used = field_integer(json_object_get(machine, "used"), kind, 0);
    const int64_t whole = field_integer(json_object_get(machine, "capacity"), kind, 0);
    char bar[BAR_SIZE] = "";
    FILE *out = fmemopen(bar, sizeof(bar), "w");

    if (out != NULL) {
        blocks_bar(out, whole > 0 ? (double)used / (double)whole : 0, BAR_COLUMNS, has_blocks());
        (void)fclose(out);
    }
    report_table_add_text(table, bar);
}

static void add_machine(struct report_table *table, const json_t *machine, msec_t now)
{
    report_table_add_text(table, field_word(machine, "instance"));
    report_table_add_text(table, field_word(machine, "type"));
    report_table_add_text(table, field_word(machine, "market"));
    report_table_add_text(table, field_word(machine, "state"));
    report_table_add_text(table, span_words(now - field_integer(machine, "rented_at", now)).text);
    add_bar(table, machine, "cpu_milli");
    add_share(table, machine, "cpu_milli");
    add_share(table, machine, "mem_mib");
    report_table_add_integer(table, field_integer(machine, "task_count", 0));
    report_table_add_money(table, field_money(machine, "price_microdollars_per_hour"));
    report_table_add_money(table, field_money(machine, "bill_microdollars"));
}

static void add_job(struct report_table *table, const json_t *job, msec_t now)
{
    const json_t *on = json_object_get(job, "instances");
    const char *first = json_string_value(json_array_get(on, 0));
    char where[128];

    if (json_array_size(on) > 1)
        (void)snprintf(where, sizeof(where), "%.100s + %zu", first != NULL ? first : "",
                       json_array_size(on) - 1);
    else
        (void)snprintf(where, sizeof(where), "%.100s", first != NULL ? first : "-");
    report_table_add_text(table, field_word(job, "job"));
    report_table_add_text(table, field_word(job, "user"));
    report_table_add_text(table, field_word(job, "name"));
    report_table_add_text(table, field_word(job, "state"));
    report_table_add_text(table, span_words(now - field_integer(job, "arrived_at", now)).text);
    report_table_add_text(table, span_words(field_integer(job, "executed_ms", -1)).text);
    report_table_add_text(table, span_words(field_integer(job, "estimate_ms", -1)).text);
    report_table_add_integer(table, field_integer(job, "tasks", 0));
    report_table_add_text(table, where);
    report_table_add_money(table, field_money(job, "cost_microdollars"));
}

/* A list of the daemon, at most 'rows' of it. */
struct list {
    const char *path;
    const char *key;
    const struct report_column *columns;
    uint32_t column_count;
    void (*add)(struct report_table *table, const json_t *item, msec_t now);
};

static const struct list machine_list = { "/v1/instances", "instances", machine_columns,
                                          MACHINE_COLUMNS, add_machine };
static const struct list job_list = { "/v1/jobs", "jobs", job_columns, JOB_COLUMNS_SHOWN, add_job };

static int print_list(FILE *out, const struct daemon_options *options, const struct list *list,
                      uint32_t rows, struct error *reterr)
{
    char limit[PATH_SIZE];
    json_t *answer = NULL;
    const json_t *item;
    size_t i;

    (void)snprintf(limit, sizeof(limit), "%u", rows);

    int rc = daemon_get_with(options, list->path, "limit", limit, &answer, reterr);

    if (rc < 0)
        return rc;

    const json_t *items = json_object_get(answer, list->key);
    const int64_t total = field_integer(answer, "total", (int64_t)json_array_size(items));
    struct report_table *table = report_table_create(list->key, list->columns, list->column_count);

    json_array_foreach(items, i, item) list->add(table, item, field_integer(answer, "now", 0));
    (void)fputc('\n', out);
    rc = report_table_write(table, OUTPUT_TABLE, out);
    if (total > (int64_t)json_array_size(items))
        (void)fprintf(out, "and %" PRId64 " more %s\n", total - (int64_t)json_array_size(items),
                      list->key);
    report_table_destroy(table);
    json_decref(answer);
    return rc;
}

static int print_frame(FILE *out, const struct daemon_options *options, uint32_t rows,
                       struct error *reterr)
{
    json_t *status = NULL;
    int rc = daemon_get(options, "/v1/status", &status, reterr);

    if (rc < 0)
        return rc;
    status_line_who(out, status);
    status_line_work(out, status);
    (void)fputs("machines ", out);
    status_line_machines(out, status);
    (void)fputs("bill ", out);
    status_line_money(out, status);
    json_decref(status);
    rc = print_list(out, options, &machine_list, rows, reterr);
    return rc < 0 ? rc : print_list(out, options, &job_list, rows, reterr);
}

/* ---- the terminal ---- */

static double one_column(uint32_t character)
{
    (void)character;
    return 1;
}

static struct winsize screen(void)
{
    struct winsize size = { .ws_row = 24, .ws_col = 80 };

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0)
        size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
    return size;
}

/* The frame, cut to the screen, over the one before. */
static void show(const char *frame, struct winsize size)
{
    (void)fputs("\033[H", stdout);
    for (uint32_t line = 0; line + 1 < size.ws_row && *frame != 0; line++) {
        const size_t length = strcspn(frame, "\n");
        const struct utf8_span cut =
            utf8_cut((struct utf8_span){ frame, length }, size.ws_col, one_column);

        (void)fwrite(cut.text, 1, cut.size, stdout);
        (void)fputs("\033[K\n", stdout);
        frame += length + (frame[length] == '\n');
    }
    (void)fputs("\033[J", stdout);
    (void)fflush(stdout);
}

/* Draw once; a daemon that cannot be asked now is told of, and asked again. */
static void draw(const struct daemon_options *options)
{
    const struct winsize size = screen();
    const uint32_t half = size.ws_row > LINES_AROUND ? (size.ws_row - LINES_AROUND) / 2u : 0;
    struct error error = { "" };
    char *frame = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&frame, &length);

    if (out == NULL)
        return;
    if (print_frame(out, options, half > ROWS_MIN ? half : ROWS_MIN, &error) < 0) {
        (void)fputs("\nstint top: ", out);
        print_clean(out, error.text);
        (void)fputs("\nAsked again every second; q ends.\n", out);
    }
    if (fclose(out) == 0)
        show(frame, size);
    free(frame);
}

/* Wait for the next frame; whether the user has had enough. */
static bool is_over(void)
{
    struct pollfd keys = { .fd = STDIN_FILENO, .events = POLLIN };
    char key = 0;

    if (poll(&keys, 1, PERIOD_MS) <= 0)
        return stopped != 0;
    return read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q' || key == 3;
}

static int watch(const struct daemon_options *options)
{
    const struct sigaction action = { .sa_handler = stop };
    struct termios before;
    const bool keys = isatty(STDIN_FILENO) && tcgetattr(STDIN_FILENO, &before) == 0;

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    if (keys) {
        struct termios raw = before;

        raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    }
    (void)fputs("\033[?1049h\033[?25l", stdout); /* another screen, no cursor */
    do
        draw(options);
    while (!is_over() && stopped == 0);
    (void)fputs("\033[?25h\033[?1049l", stdout);
    (void)fflush(stdout);
    if (keys)
        (void)tcsetattr(STDIN_FILENO, TCSANOW, &before);
    return EXIT_DONE;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint top";
    const struct argp_child children[] = { { &daemon_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = { .doc = doc, .children = children };
    struct daemon_options options = { .no_csv = true };
    struct error error = { "" };

    if (!operator_parse(&argp, name, argc, argv, &options))
        return EXIT_USAGE;
    if (options.format != OUTPUT_TABLE) {
        (void)error_set(&error, -EINVAL,
                        "this is for people; `stint status -o json` is for programs");
        (void)verb_fail("top", &error);
        return EXIT_USAGE;
    }
    if (isatty(STDOUT_FILENO))
        return watch(&options);
    if (print_frame(stdout, &options, ROWS_PLAIN, &error) < 0)
        return verb_fail("top", &error);
    return EXIT_DONE;
}

const struct verb verb_top = {
    .name = "top",
    .summary = "watch machines and jobs in the terminal",
    .run = run,
};
