/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stint estimate SBATCH-OPTIONS [SCRIPT] - when would it start, where, at what cost, and what would be cheaper.
 */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/operator.h"
#include "cli/sbatch_options.h"
#include "cli/verb.h"

enum { SCRIPT_MAX = 1 << 20 };

static const char doc[] =
    "Estimate when a job would start if you submitted it now, where, at what cost, and what "
    "would be cheaper. Nothing is submitted.\vExamples:\n"
    "  stint estimate -n 4 --mem 8G -t 2:00:00\n"
    "  stint estimate -o json -N 2 --exclusive job.sh\n"
    "\n"
    "SBATCH-OPTIONS and SCRIPT are as for sbatch, including #SBATCH lines of the script. -o "
    "is the format of the answer if it names one. The estimate uses earlier jobs of the same "
    "name.\n"
    "\n"
    "The daemon decides as if the job were in the queue now. Later jobs are left out, and so "
    "are the scheduler's own limits of accounts and QOS.\n"
    "\n"
    "Exit codes: 0 done, 1 no answer from the daemon, 2 wrong usage, 4 the job could never "
    "run.";

struct arguments {
    struct daemon_options daemon;
};

/* NOLINTNEXTLINE(readability-non-const-parameter): argp says what it is */
static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    (void)arg;
    if (key != ARGP_KEY_INIT)
        return ARGP_ERR_UNKNOWN;
    state->child_inputs[0] = &arguments->daemon;
    return 0;
}

/* The command line in two: what is for the verb, and what is for sbatch. */
struct halves {
    char **ours;
    int our_count;
    const char **theirs;
    int their_count;
};

static bool is_format(const char *word)
{
    enum output_format format;
    struct error error;

    return word != NULL && output_format_parse(word, &format, &error) == 0;
}

static bool is_one_of(const char *const *words, const char *word, size_t length)
{
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return true;
    }
    return false;
}

/* How many words from 'at' on are the verb's own: 0, 1 or 2. */
static int count_ours(char **argv, int at, int argc)
{
    static const char *const with_value[] = { "--socket",  "--url",  "--token-file",
                                              "--ca-file", "--sort", NULL };
    static const char *const alone[] = { "--help", "-?", "--usage", NULL };
    const char *word = argv[at];
    const char *next = at + 1 < argc ? argv[at + 1] : NULL;
    const size_t length = strcspn(word, "=");

    if (is_one_of(with_value, word, length))
        return word[length] == '=' || next == NULL ? 1 : 2;
    if (is_one_of(alone, word, strlen(word)))
        return 1;
    if (strncmp(word, "--output=", 9) == 0)
        return is_format(word + 9) ? 1 : 0;
    if (strcmp(word, "-o") == 0 || strcmp(word, "--output") == 0)
        return is_format(next) ? 2 : 0;
    return strncmp(word, "-o", 2) == 0 && is_format(word + 2) ? 1 : 0;
}

static struct halves divide(int argc, char **argv)
{
    struct halves halves = { .ours = mem_alloc((size_t)argc + 1, sizeof(*halves.ours)),
                             .theirs = mem_alloc((size_t)argc + 1, sizeof(*halves.theirs)) };
    bool is_over = false; /* a script's own words follow */

    halves.ours[halves.our_count++] = argv[0];
    for (int i = 1; i < argc;) {
        int ours = is_over ? 0 : count_ours(argv, i, argc);

        is_over = is_over || strcmp(argv[i], "--") == 0;
        if (ours == 0)
            halves.theirs[halves.their_count++] = argv[i++];
        while (ours-- > 0)
            halves.ours[halves.our_count++] = argv[i++];
    }
    return halves;
}

static void free_halves(struct halves *halves)
{
    mem_free(halves->ours);
    mem_free(halves->theirs);
}

/* Read the script's options, and name the job as sbatch would. */
static int read_script(struct sbatch_options *options, const char *path, struct error *reterr)
{
    FILE *file = fopen(path, "r");
    const char *base = strrchr(path, '/');

    if (file == NULL)
        return error_set(reterr, -errno, "%s: %s", path, strerror(errno));

    char *text = mem_alloc(SCRIPT_MAX + 1, 1);

    text[fread(text, 1, SCRIPT_MAX, file)] = '\0';
    (void)fclose(file);
    (void)snprintf(options->name, sizeof(options->name), "%.200s", base != NULL ? base + 1 : path);

    const int rc = sbatch_options_script(options, text, reterr);

    mem_free(text);
    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

/* The script's options first, those of the command line over them. */
static int read_job(const struct halves *halves, struct sbatch_options *ret, struct error *reterr)
{
    struct sbatch_options first;
    int script;

    sbatch_options_init(&first);
    script = sbatch_options_words(&first, halves->theirs, halves->their_count, reterr);
    if (script < 0)
        return script;
    sbatch_options_init(ret);
    if (script < halves->their_count) {
        const int rc = read_script(ret, halves->theirs[script], reterr);

        if (rc < 0)
            return rc;
    }
    return sbatch_options_words(ret, halves->theirs, script, reterr) < 0 ? -EINVAL : 0;
}

static const char *own_name(void)
{
    const struct passwd *user = getpwuid(geteuid());

    return user != NULL ? user->pw_name : NULL;
}

static int ask(const struct arguments *arguments, const struct sbatch_options *job, json_t **ret,
               struct error *reterr)
{
    static const char head[] = "job ";
    struct line_text line = { 0 };
    int rc;

    sbatch_options_print(job, own_name(), &line);
    line.text[line.size - 1] = '\0'; /* the line feed */
    rc = daemon_get_with(&arguments->daemon, "/v1/estimate", "job", line.text + sizeof(head) - 1,
                         ret, reterr);
    line_text_done(&line);
    return rc;
}

/* The answer. --------------------------------------------------------------------------------- */

static const struct report_column columns[] = {
    { .key = "change", .heading = "change", .kind = REPORT_TEXT },
    { .key = "cost_usd", .heading = "$", .kind = REPORT_MONEY, .digits = 6 },
    { .key = "starts_at", .heading = "starts (UTC)", .kind = REPORT_TEXT },
    { .key = "note", .heading = "note", .kind = REPORT_TEXT },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void add_row(struct report_table *table, const char *change, const json_t *of)
{
    report_table_add_text(table, change);
    report_table_add_money(table, field_money(of, "cost_microdollars"));
    report_table_add_text(table, time_words(field_integer(of, "starts_at", -1)).text);
    report_table_add_text(table, field_text(of, "note"));
}

static int print_rows(const json_t *answer, enum output_format format)
{
    struct report_table *table = report_table_create("estimate", columns, COLUMNS);
    const json_t *one;
    size_t i;

    add_row(table, "as it is", answer);
    json_array_foreach(json_object_get(answer, "cheaper"), i, one)
    {
        add_row(table, field_word(one, "change"), one);
    }
    return print_table("estimate", table, format);
}

static void print_words(const json_t *answer, const struct sbatch_options *job)
{
    const money_t cost = field_money(answer, "cost_microdollars");
    const json_t *line;
    size_t i;

    json_array_foreach(json_object_get(answer, "text"), i, line)
    {
        const char *words = json_string_value(line);

        print_clean(stdout, words != NULL ? words : "");
        (void)putchar('\n');
    }
    if (job->array_size > 1 && cost != MONEY_UNKNOWN &&
        cost < MONEY_UNKNOWN / (money_t)job->array_size)
        (void)printf("That is for one element of the array; all %" PRIu64 " would cost %s.\n",
                     job->array_size, money_words(cost * (money_t)job->array_size, 2).text);
    if (job->mem_mib == 0 && job->mem_per_cpu_mib == 0 && !job->all_memory)
        (void)puts(
            "The job has no --mem. The memory that the scheduler adds by itself is left out.");
}

static int print_answer(const struct arguments *arguments, const json_t *answer,
                        const struct sbatch_options *job)
{
    const char *verdict = field_text(answer, "verdict");
    const bool is_never = verdict != NULL && strcmp(verdict, "never") == 0;
    int code = EXIT_DONE;

    if (arguments->daemon.format == OUTPUT_JSON)
        code = print_json("estimate", answer);
    else if (arguments->daemon.format == OUTPUT_TABLE)
        print_words(answer, job);
    else
        code = print_rows(answer, arguments->daemon.format);
    return code == EXIT_DONE && is_never ? EXIT_DIFFERS : code;
}

static int run(int argc, char **argv)
{
    static char name[] = "stint estimate";
    const struct argp_child children[] = { { &daemon_argp, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        .parser = parse, .args_doc = "SBATCH-OPTIONS [SCRIPT]", .doc = doc, .children = children
    };
    struct arguments arguments = { 0 };
    struct error error = { "" };
    struct sbatch_options job;
    json_t *answer = NULL;
    struct halves halves = divide(argc, argv);
    int code = EXIT_USAGE;

    if (!operator_parse(&argp, name, halves.our_count, halves.ours, &arguments)) {
        free_halves(&halves);
        return EXIT_USAGE;
    }
    if (read_job(&halves, &job, &error) < 0)
        (void)verb_fail("estimate", &error);
    else if (ask(&arguments, &job, &answer, &error) < 0)
        code = verb_fail("estimate", &error);
    else
        code = print_answer(&arguments, answer, &job);
    json_decref(answer);
    free_halves(&halves);
    return code;
}

const struct verb verb_estimate = {
    .name = "estimate",
    .summary = "estimate start and cost of a job before you submit it",
    .run = run,
    .is_query = true,
};
