/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/present.h"

#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <yaml.h>

#include "base/mem.h"
#include "cli/answer_report.h"
#include "cli/operator.h"
#include "cli/report_table.h"

enum { WATCH_SECONDS = 2, WATCH_MAX = 86400 };

enum form { FORM_AS_IS, FORM_WIDE, FORM_YAML };

struct wish {
    enum form form;
    long every;       /* seconds; 0: once */
    bool wrong;       /* how often cannot be understood */
    const char *html; /* files to write, or NULL */
    const char *md;
    bool has_format;    /* -o is given */
    const char *colour; /* when; NULL: nothing was said */
    const char *sort;   /* the column; NULL: as the rows are */
};

/* ---- YAML ---- */

/* Whether YAML reads the text as itself without quotes, whatever its version. */
static bool is_plain(const char *text, size_t length)
{
    static const char *const others[] = { "y",    "n",     "yes",  "no",  "on", "off",
                                          "true", "false", "null", "inf", "nan" };

    if (length == 0 || !isalpha((unsigned char)text[0]))
        return false;
    for (size_t i = 0; i < length; i++) {
        if (!isalnum((unsigned char)text[i]) && strchr("_-./", text[i]) == NULL)
            return false;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strcasecmp(text, others[i]) == 0)
            return false;
    }
    return true;
}

/* JSON is YAML in flow style; make it block style, and leave out quotes that are not needed. */
static void restyle(yaml_event_t *event)
{
    if (event->type == YAML_MAPPING_START_EVENT) {
        event->data.mapping_start.style = YAML_BLOCK_MAPPING_STYLE;
    } else if (event->type == YAML_SEQUENCE_START_EVENT) {
        event->data.sequence_start.style = YAML_BLOCK_SEQUENCE_STYLE;
    } else if (event->type == YAML_DOCUMENT_START_EVENT) {
        event->data.document_start.implicit = 1;
    } else if (event->type == YAML_SCALAR_EVENT &&
               event->data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE &&
               is_plain((const char *)event->data.scalar.value, event->data.scalar.length)) {
        event->data.scalar.style = YAML_PLAIN_SCALAR_STYLE;
        event->data.scalar.plain_implicit = 1;
    }
}

static int copy_events(yaml_parser_t *parser, yaml_emitter_t *emitter)
{
    for (bool over = false; !over;) {
        yaml_event_t event;

        if (!yaml_parser_parse(parser, &event))
            return -EINVAL;
        over = event.type == YAML_STREAM_END_EVENT;
        restyle(&event);
        if (!yaml_emitter_emit(emitter, &event)) /* which takes the event */
            return -EIO;
    }
    return 0;
}

/* Two escapes that are halves of one character are that character: libyaml does not know of halves. */
static void join_halves(char *text)
{
    char *to = text;

    for (const char *from = text; *from != 0;) {
        unsigned high = 0;
        unsigned low = 0;

        if (from[0] == '\\' && from[1] == 'u' && sscanf(from, "\\ud%3x\\ud%3x", &high, &low) == 2 &&
            high >= 0x800 && low >= 0xC00) {
            const unsigned c = 0x10000 + ((high - 0x800) << 10) + (low - 0xC00);

            *to++ = (char)(0xF0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3F));
            *to++ = (char)(0x80 | (c >> 6 & 0x3F));
            *to++ = (char)(0x80 | (c & 0x3F));
            from += 12;
            continue;
        }
        if (from[0] == '\\' && from[1] != 0)
            *to++ = *from++;
        *to++ = *from++;
    }
    *to = 0;
}

int present_yaml(const char *json, size_t size, FILE *out)
{
    json_error_t where;
    json_t *root = json_loadb(json, size, 0, &where);

    json_decref(root);
    if (root == NULL)
        return -EINVAL;

    char *text = mem_alloc(size + 1, 1);
    yaml_parser_t parser;
    yaml_emitter_t emitter;

    memcpy(text, json, size);
    join_halves(text);
    (void)yaml_parser_initialize(&parser);
    (void)yaml_emitter_initialize(&emitter);
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, strlen(text));
    yaml_emitter_set_output_file(&emitter, out);
    yaml_emitter_set_width(&emitter, -1);

    const int rc = copy_events(&parser, &emitter);

    yaml_emitter_delete(&emitter);
    yaml_parser_delete(&parser);
    mem_free(text);
    return rc;
}

/* ---- what is asked for ---- */

/* The format of an option "-oFORMAT", "--output=FORMAT" or, with the word behind it, "-o" and "--output". */
static char **format_word(char **word, size_t *ret_skip)
{
    *ret_skip = 0;
    if (strcmp(word[0], "-o") == 0 || strcmp(word[0], "--output") == 0)
        return word[1] != NULL ? &word[1] : NULL;
    if (strncmp(word[0], "--output=", 9) == 0)
        *ret_skip = 9;
    else if (strncmp(word[0], "-o", 2) == 0)
        *ret_skip = 2;
    return *ret_skip > 0 ? word : NULL;
}

static void take_format(char **word, struct wish *wish)
{
    static char json[] = "--output=json";
    static char table[] = "--output=table";
    size_t skip = 0;
    char **format = format_word(word, &skip);

    if (format == NULL)
        return;
    wish->has_format = true;

    const bool is_yaml = strcmp(*format + skip, "yaml") == 0;

    if (!is_yaml && strcmp(*format + skip, "wide") != 0)
        return;
    wish->form = is_yaml ? FORM_YAML : FORM_WIDE;
    *format = (is_yaml ? json : table) + (skip > 0 ? 0 : strlen("--output="));
}

static bool take_watch(const char *word, struct wish *wish)
{
    char *end = NULL;

    if (strcmp(word, "--watch") == 0) {
        wish->every = WATCH_SECONDS;
        return true;
    }
    if (strncmp(word, "--watch=", 8) != 0)
        return false;
    wish->every = strtol(word + 8, &end, 10);
    wish->wrong = end == word + 8 || *end != 0 || wish->every < 1 || wish->every > WATCH_MAX;
    return true;
}

/* The value of an option "--NAME=FILE" or "--NAME FILE" at argv[*at], which moves on; NULL: it is another word. */
static const char *take_file(const char *name, char **argv, int *at)
{
    const size_t length = strlen(name);

    if (strncmp(argv[*at], name, length) != 0)
        return NULL;
    if (argv[*at][length] == '=')
        return argv[*at] + length + 1;
    return argv[*at][length] == 0 && argv[*at + 1] != NULL ? argv[++*at] : NULL;
}

static bool take_report(char **argv, int *at, struct wish *wish)
{
    const char *html = take_file("--html", argv, at);
    const char *md = html == NULL ? take_file("--md", argv, at) : NULL;

    if (html != NULL)
        wish->html = html;
    if (md != NULL)
        wish->md = md;
    return html != NULL || md != NULL;
}

static bool take_sort(char **argv, int *at, struct wish *wish)
{
    const char *column = take_file("--sort", argv, at);

    if (column != NULL)
        wish->sort = column;
    return column != NULL;
}

static bool take_colour(char **argv, int *at, struct wish *wish)
{
    const char *when = take_file("--color", argv, at);

    if (when != NULL)
        wish->colour = when;
    return when != NULL;
}

bool present_colour(const char *when, bool is_terminal, bool *ret)
{
    const char *no = getenv("NO_COLOR");

    if (strcmp(when, "auto") == 0)
        *ret = is_terminal && (no == NULL || no[0] == 0);
    else
        *ret = strcmp(when, "always") == 0;
    return *ret || strcmp(when, "auto") == 0 || strcmp(when, "never") == 0;
}

/* The arguments as the verb knows them; what is left out is the wish. */
static struct wish take_wish(const struct verb *verb, int *argc, char **argv)
{
    struct wish wish = { .form = FORM_AS_IS };
    int kept = 1;

    for (int i = 1; i < *argc; i++) {
        if (take_watch(argv[i], &wish) || (!verb->has_colour && take_colour(argv, &i, &wish)) ||
            (verb->has_rows && take_sort(argv, &i, &wish)) ||
            (verb->report_title != NULL && take_report(argv, &i, &wish)))
            continue;
        argv[kept++] = argv[i];
    }
    argv[kept] = NULL;
    for (int i = 1; i < kept; i++)
        take_format(&argv[i], &wish);
    *argc = kept;
    return wish;
}

/* Whether 'word' is one of the list "a, b, c". */
static bool is_listed(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (const char *at = list; at != NULL; at = strstr(at, ", ")) {
        at += strncmp(at, ", ", 2) == 0 ? 2 : 0;
        if (strncmp(at, word, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return true;
    }
    return false;
}

/* ---- running ---- */

/* All that comes through the pipe; for mem_free. */
static char *read_all(int fd, size_t *ret_size)
{
    char *text = NULL;
    uint32_t room = 0;
    uint32_t size = 0;
    ssize_t more = 1;

    while (more > 0) {
        MEM_ROOM(text, room, size + 65536);
        more = read(fd, text + size, room - size);
        if (more < 0 && errno == EINTR)
            more = 1;
        else if (more > 0)
            size += (uint32_t)more;
    }
    *ret_size = size;
    return text;
}

static int exit_code_of(int status)
{
    return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* An answer whose columns were not known before, and that has not this one, is there all the same: it may have taken long. */
static int run_sorted(const struct verb *verb, int argc, char **argv)
{
    struct error error = { "" };
    const int code = verb->run(argc, argv);

    if (report_table_check_sort(&error) == 0)
        return code;
    (void)fflush(stdout);
    (void)fprintf(stderr, "stint %s: %s\n", verb->name, error.text);
    return code == EXIT_DONE ? EXIT_USAGE : code;
}

/* The verb in a child: what it printed, and its exit code. */
static int run_apart(const struct verb *verb, int argc, char **argv, char **ret, size_t *ret_size)
{
    int ends[2];
    int status = 0;

    *ret = NULL;
    *ret_size = 0;
    (void)fflush(stdout);
    if (pipe(ends) != 0)
        return EXIT_FAILED;

    const pid_t child = fork();

    if (child == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);

        const int code = run_sorted(verb, argc, argv);

        exit(fflush(stdout) == 0 ? code : EXIT_FAILED);
    }
    (void)close(ends[1]);
    if (child > 0) {
        *ret = read_all(ends[0], ret_size);
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    }
    (void)close(ends[0]);
    return child > 0 ? exit_code_of(status) : EXIT_FAILED;
}

static int show(const struct verb *verb, int argc, char **argv, const struct wish *wish)
{
    char *text = NULL;
    size_t size = 0;
    int code = run_apart(verb, argc, argv, &text, &size);

    if (wish->every > 0 && isatty(STDOUT_FILENO))
        (void)printf("\033[H\033[2Jstint %s, every %ld s\n\n", verb->name, wish->every);
    if (wish->form != FORM_YAML || present_yaml(text, size, stdout) == -EINVAL)
        (void)fwrite(text, 1, size, stdout);
    mem_free(text);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        (void)fprintf(stderr, "stint %s: the answer cannot be written: is the disk full?\n",
                      verb->name);
        code = EXIT_FAILED;
    }
    return code;
}

/* The command as it could be typed. */
static char *command_of(const struct verb *verb, int argc, char **argv)
{
    static const char special[] = " \t\n'\"\\$`*?;&|<>()";
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    if (out == NULL)
        return NULL;
    (void)fprintf(out, "stint %s", verb->name);
    for (int i = 1; i < argc; i++) {
        const char *quote = argv[i][0] != 0 && strpbrk(argv[i], special) == NULL ? "" : "'";

        (void)fprintf(out, " %s%s%s", quote, argv[i], quote);
    }
    (void)fclose(out);
    return text;
}

static int write_report(const char *path, const struct answer_report *report,
                        void (*write)(const struct answer_report *report, FILE *out),
                        struct error *reterr)
{
    FILE *out = fopen(path, "we");

    if (out == NULL)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));
    write(report, out);

    const bool failed = ferror(out) != 0;

    if (fclose(out) != 0 || failed)
        return error_set(reterr, -EIO, "%s: cannot be written: is the disk full?", path);
    return 0;
}

static int write_reports(const struct verb *verb, const struct wish *wish, const char *command,
                         const char *text, struct error *reterr)
{
    const struct answer_report report = { .title = verb->report_title,
                                          .command = command,
                                          .text = text,
                                          .baseline = verb->baseline,
                                          .not_counted = verb->not_counted };
    int rc = 0;

    if (wish->html != NULL)
        rc = write_report(wish->html, &report, answer_report_html, reterr);
    if (rc == 0 && wish->md != NULL)
        rc = write_report(wish->md, &report, answer_report_md, reterr);
    return rc;
}

/* The answer into files instead of on the screen, unless there is none. */
static int report_answer(const struct verb *verb, int argc, char **argv, const struct wish *wish)
{
    struct error error = { "" };
    char *command = command_of(verb, argc, argv);
    char *text = NULL;
    size_t size = 0;
    const int code = run_apart(verb, argc, argv, &text, &size);
    int rc = 0;

    if (code == EXIT_DONE || code == EXIT_DIFFERS) {
        char *whole = strndup(size > 0 ? text : "", size);

        rc = whole == NULL || command == NULL ? error_set(&error, -ENOMEM, "no memory for a report")
                                              : write_reports(verb, wish, command, whole, &error);
        free(whole);
    } else {
        (void)fwrite(text, 1, size, stdout);
    }
    mem_free(text);
    free(command);
    return rc < 0 ? verb_fail(verb->name, &error) : code;
}

int present(const struct verb *verb, int argc, char **argv)
{
    const struct wish wish = take_wish(verb, &argc, argv);
    bool is_coloured = false;

    if (wish.every > 0 && !verb->is_query) {
        (void)fprintf(stderr, "stint %s: --watch works only for verbs that ask the daemon\n",
                      verb->name);
        return EXIT_USAGE;
    }
    if (wish.wrong) {
        (void)fprintf(stderr, "stint %s: --watch=SECONDS takes 1 to %d\n", verb->name, WATCH_MAX);
        return EXIT_USAGE;
    }
    if ((wish.html != NULL || wish.md != NULL) && wish.has_format) {
        (void)fprintf(stderr, "stint %s: --html and --md exclude -o\n", verb->name);
        return EXIT_USAGE;
    }
    if (!present_colour(wish.colour != NULL ? wish.colour : "auto", isatty(STDOUT_FILENO) == 1,
                        &is_coloured)) {
        (void)fprintf(stderr, "stint %s: --color is auto, always or never\n", verb->name);
        return EXIT_USAGE;
    }
    if (wish.sort != NULL && verb->sort_columns != NULL &&
        !is_listed(verb->sort_columns, wish.sort + (wish.sort[0] == '-'))) {
        (void)fprintf(stderr, "stint %s: there is no column '%s' to sort by; there are %s\n",
                      verb->name, wish.sort + (wish.sort[0] == '-'), verb->sort_columns);
        return EXIT_USAGE;
    }
    report_table_sort_all(wish.sort);
    report_table_wide(wish.form == FORM_WIDE);
    report_table_colour(is_coloured && wish.html == NULL && wish.md == NULL);
    report_table_as_cells(wish.html != NULL || wish.md != NULL);
    if (wish.html != NULL || wish.md != NULL)
        return report_answer(verb, argc, argv, &wish);
    if (wish.form == FORM_AS_IS && wish.every == 0)
        return run_sorted(verb, argc, argv);
    for (;;) {
        const int code = show(verb, argc, argv, &wish);

        if (wish.every == 0 || code == EXIT_USAGE || ferror(stdout))
            return code;
        (void)nanosleep(&(struct timespec){ .tv_sec = wish.every }, NULL);
    }
}
