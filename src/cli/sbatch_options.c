/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sbatch_options.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/suggest.h"

enum {
    NUMBER_MAX = 1000000000,
    WORDS_MAX = 64, /* of one #SBATCH line */
};

void sbatch_options_init(struct sbatch_options *options)
{
    *options = (struct sbatch_options){ .limit_s = -1 };
}

/* Values. ------------------------------------------------------------------------------------- */

/* Digits at '*text', which moves behind them; false: there are none, or too many. */
static bool take_digits(const char **text, uint64_t *ret)
{
    const char *at = *text;
    uint64_t number = 0;

    while (isdigit((unsigned char)*at) && number <= NUMBER_MAX)
        number = number * 10 + (uint64_t)(*at++ - '0');
    if (at == *text || number > NUMBER_MAX)
        return false;
    *text = at;
    *ret = number;
    return true;
}

static bool read_number(const char *text, uint64_t *ret)
{
    uint64_t number;

    if (!take_digits(&text, &number) || *text != '\0' || number == 0)
        return false;
    *ret = number;
    return true;
}

/* "4", "2-8": at least so many. */
static bool read_nodes(const char *text, uint64_t *ret)
{
    uint64_t least;
    uint64_t most;

    if (!take_digits(&text, &least) || least == 0)
        return false;
    if (*text == '-') {
        text++;
        if (!take_digits(&text, &most) || most < least)
            return false;
    }
    if (*text != '\0')
        return false;
    *ret = least;
    return true;
}

/* "500", "16G": MiB without a letter, rounded up. */
static bool read_memory(const char *text, uint64_t *ret)
{
    uint64_t number;

    if (!take_digits(&text, &number))
        return false;

    const char unit = (char)toupper((unsigned char)*text);

    if (unit != '\0') {
        text++;
        if (toupper((unsigned char)*text) == 'B')
            text++;
    }
    if (*text != '\0')
        return false;
    switch (unit) {
    case 'K':
        *ret = (number + 1023) / 1024;
        return true;
    case '\0':
    case 'M':
        *ret = number;
        return true;
    case 'G':
        *ret = number * 1024;
        return true;
    case 'T':
        *ret = number * 1024 * 1024;
        return true;
    default:
        return false;
    }
}

/* "0-99%4", "1,3,5-9:2": how many elements. */
static bool read_array(const char *text, uint64_t *ret)
{
    uint64_t count = 0;

    do {
        uint64_t first;
        uint64_t last;
        uint64_t step = 1;

        if (!take_digits(&text, &first))
            return false;
        last = first;
        if (*text == '-') {
            text++;
            if (!take_digits(&text, &last) || last < first)
                return false;
        }
        if (*text == ':') {
            text++;
            if (!take_digits(&text, &step) || step == 0)
                return false;
        }
        count += (last - first) / step + 1;
    } while (*text == ',' && text++ != NULL);
    if (*text == '%') {
        text++;
        if (!take_digits(&text, &(uint64_t){ 0 }))
            return false;
    }
    *ret = count;
    return *text == '\0';
}

static bool read_text(const char *text, char ret[SBATCH_TEXT])
{
    return (size_t)snprintf(ret, SBATCH_TEXT, "%s", text) < SBATCH_TEXT;
}

/* "2", "t4:2" as "gpu:2", "gpu:t4:2". */
static bool read_gpus(const char *text, char ret[SBATCH_TEXT])
{
    return (size_t)snprintf(ret, SBATCH_TEXT, "gpu:%s", text) < SBATCH_TEXT;
}

int sbatch_time(const char *text, int64_t *ret_s)
{
    static const int64_t plain[][3] = { { 60 }, { 60, 1 }, { 3600, 60, 1 } };
    static const int64_t of_days[] = { 3600, 60, 1 };
    uint64_t part[4] = { 0 };
    uint32_t count = 0;
    bool has_days = false;
    int64_t sum = 0;

    if (strcasecmp(text, "unlimited") == 0 || strcasecmp(text, "infinite") == 0 ||
        strcmp(text, "-1") == 0 || strcmp(text, "0") == 0) {
        *ret_s = -1;
        return 0;
    }
    do {
        if (count == 4 || !take_digits(&text, &part[count++]))
            return -EINVAL;
        if (*text == '-' && count == 1)
            has_days = true;
        else if (*text != ':' && *text != '\0')
            return -EINVAL;
    } while (*text++ != '\0');
    if (has_days ? count < 2 : count > 3)
        return -EINVAL;
    for (uint32_t i = has_days; i < count; i++)
        sum += (int64_t)part[i] * (has_days ? of_days[i - 1] : plain[count - 1][i]);
    *ret_s = sum + (has_days ? (int64_t)part[0] * 86400 : 0);
    return 0;
}

/* Options. ------------------------------------------------------------------------------------ */

enum kind {
    IGNORED, /* what follows is its value */
    IGNORED_FLAG,
    NUMBER,
    NODES,
    MEMORY,
    NODE_MEMORY,
    ARRAY,
    TEXT,
    GPUS,
    TIME,
    EXCLUSIVE, /* with a value or without */
    NO_REQUEUE,
};

#define FIELD(name) offsetof(struct sbatch_options, name)

static const struct option_row {
    const char *name;
    char letter;
    enum kind kind;
    size_t offset;
} rows[] = {
    { "nodes", 'N', NODES, FIELD(nodes) },
    { "ntasks", 'n', NUMBER, FIELD(ntasks) },
    { "ntasks-per-node", 0, NUMBER, FIELD(ntasks_per_node) },
    { "cpus-per-task", 'c', NUMBER, FIELD(cpus_per_task) },
    { "mem", 0, NODE_MEMORY, FIELD(mem_mib) },
    { "mem-per-cpu", 0, MEMORY, FIELD(mem_per_cpu_mib) },
    { "tmp", 0, MEMORY, FIELD(tmp_mib) },
    { "array", 'a', ARRAY, FIELD(array_size) },
    { "time", 't', TIME, FIELD(limit_s) },
    { "job-name", 'J', TEXT, FIELD(name) },
    { "partition", 'p', TEXT, FIELD(partition) },
    { "account", 'A', TEXT, FIELD(account) },
    { "qos", 'q', TEXT, FIELD(qos) },
    { "constraint", 'C', TEXT, FIELD(features) },
    { "comment", 0, TEXT, FIELD(comment) },
    { "gres", 0, TEXT, FIELD(gres) },
    { "gpus", 'G', GPUS, FIELD(gpus) },
    { "gpus-per-node", 0, GPUS, FIELD(gres) },
    { "gpus-per-task", 0, GPUS, FIELD(gpus_per_task) },
    { "exclusive", 0, EXCLUSIVE, 0 },
    { "no-requeue", 0, NO_REQUEUE, 0 },
    { "acctg-freq", 0, IGNORED, 0 },
    { "begin", 'b', IGNORED, 0 },
    { "chdir", 'D', IGNORED, 0 },
    { "cpu-freq", 0, IGNORED, 0 },
    { "deadline", 0, IGNORED, 0 },
    { "dependency", 'd', IGNORED, 0 },
    { "distribution", 'm', IGNORED, 0 },
    { "error", 'e', IGNORED, 0 },
    { "export", 0, IGNORED, 0 },
    { "get-user-env", 0, IGNORED_FLAG, 0 },
    { "hint", 0, IGNORED, 0 },
    { "hold", 'H', IGNORED_FLAG, 0 },
    { "input", 'i', IGNORED, 0 },
    { "kill-on-invalid-dep", 0, IGNORED, 0 },
    { "licenses", 'L', IGNORED, 0 },
    { "mail-type", 0, IGNORED, 0 },
    { "mail-user", 0, IGNORED, 0 },
    { "nice", 0, IGNORED_FLAG, 0 },
    { "no-kill", 'k', IGNORED_FLAG, 0 },
    { "open-mode", 0, IGNORED, 0 },
    { "output", 'o', IGNORED, 0 },
    { "overcommit", 'O', IGNORED_FLAG, 0 },
    { "oversubscribe", 's', IGNORED_FLAG, 0 },
    { "parsable", 0, IGNORED_FLAG, 0 },
    { "priority", 0, IGNORED, 0 },
    { "profile", 0, IGNORED, 0 },
    { "propagate", 0, IGNORED_FLAG, 0 },
    { "quiet", 'Q', IGNORED_FLAG, 0 },
    { "requeue", 0, IGNORED_FLAG, 0 },
    { "signal", 0, IGNORED, 0 },
    { "spread-job", 0, IGNORED_FLAG, 0 },
    { "time-min", 0, IGNORED, 0 },
    { "uid", 0, IGNORED, 0 },
    { "verbose", 'v', IGNORED_FLAG, 0 },
    { "wait", 'W', IGNORED_FLAG, 0 },
    { "wait-all-nodes", 0, IGNORED, 0 },
    { "wckey", 0, IGNORED, 0 },
    { "wrap", 0, IGNORED, 0 },
};

static bool takes_value(enum kind kind)
{
    return kind != IGNORED_FLAG && kind != EXCLUSIVE && kind != NO_REQUEUE;
}

static const struct option_row *find_long(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, name, length) == 0)
            return &rows[i];
    }
    return NULL;
}

static const struct option_row *find_letter(char letter)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].letter != 0 && rows[i].letter == letter)
            return &rows[i];
    }
    return NULL;
}

static bool set_node_memory(struct sbatch_options *options, const char *value)
{
    if (!read_memory(value, &options->mem_mib))
        return false;
    options->all_memory = options->mem_mib == 0;
    return true;
}

static int set_option(struct sbatch_options *options, const struct option_row *row,
                      const char *value, struct error *reterr)
{
    void *field = (char *)options + row->offset;
    bool is_good = true;

    switch (row->kind) {
    case IGNORED:
    case IGNORED_FLAG:
        break;
    case NUMBER:
        is_good = read_number(value, field);
        break;
    case NODES:
        is_good = read_nodes(value, field);
        break;
    case MEMORY:
        is_good = read_memory(value, field);
        break;
    case NODE_MEMORY:
        is_good = set_node_memory(options, value);
        break;
    case ARRAY:
        is_good = read_array(value, field);
        break;
    case TEXT:
        is_good = read_text(value, field);
        break;
    case GPUS:
        is_good = read_gpus(value, field);
        break;
    case TIME:
        is_good = sbatch_time(value, field) == 0;
        break;
    case EXCLUSIVE:
        options->exclusive = true;
        break;
    case NO_REQUEUE:
        options->no_requeue = true;
        break;
    }
    if (!is_good)
        return error_set(reterr, -EINVAL, "--%s cannot be '%.64s': see sbatch(1)", row->name,
                         value);
    return 0;
}

/* "--mempercpu" is none of sbatch's options that are known here; perhaps another is meant. */
static int no_option(const char *word, size_t length, struct error *reterr)
{
    const char *names[sizeof(rows) / sizeof(rows[0])];
    char name[64];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        names[i] = rows[i].name;
    (void)snprintf(name, sizeof(name), "%.*s", (int)(length < 63 ? length : 63), word + 2);

    const char *near = length > 0 ? suggest(name, names, sizeof(rows) / sizeof(rows[0])) : NULL;

    if (near != NULL)
        return error_set(reterr, -EINVAL, "unknown sbatch option '--%.64s'; did you mean '--%s'?",
                         name, near);
    return error_set(reterr, -EINVAL, "unknown sbatch option '%.64s'", word);
}

/* One option, at words[*index], which moves to the last word of it. */
static int take_option(struct sbatch_options *options, const char *const *words, int count,
                       int *index, struct error *reterr)
{
    const char *word = words[*index];
    const bool is_long = word[1] == '-';
    const size_t length = is_long ? strcspn(word + 2, "=") : 0;
    const struct option_row *row = is_long ? find_long(word + 2, length) : find_letter(word[1]);
    const char *value = NULL;

    if (row == NULL)
        return no_option(word, length, reterr);
    if (is_long)
        value = word[2 + length] == '=' ? word + 2 + length + 1 : NULL;
    else if (takes_value(row->kind) && word[2] != '\0')
        value = word + 2;
    else if (word[2] != '\0')
        return error_set(reterr, -EINVAL, "write options apart from each other, not as '%.64s'",
                         word);
    if (value == NULL && takes_value(row->kind)) {
        if (*index + 1 >= count)
            return error_set(reterr, -EINVAL, "--%s needs a value", row->name);
        value = words[++*index];
    }
    return set_option(options, row, value != NULL ? value : "", reterr);
}

static int refuse_components(struct error *reterr)
{
    return error_set(reterr, -EINVAL,
                     "a heterogeneous job is not estimated as a whole: give the options of one of "
                     "its components");
}

int sbatch_options_words(struct sbatch_options *options, const char *const *words, int count,
                         struct error *reterr)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], ":") == 0)
            return refuse_components(reterr);
        if (words[i][0] != '-' || words[i][1] == '\0')
            return i;
        if (strcmp(words[i], "--") == 0)
            return i + 1;

        const int rc = take_option(options, words, count, &i, reterr);

        if (rc < 0)
            return rc;
    }
    return count;
}

/* Behind the word at 'line', which loses its quotes and ends with a zero then. */
static char *end_word(char *line)
{
    char *to = line;
    char quote = '\0';

    for (; *line != '\0' && (quote != '\0' || (*line != ' ' && *line != '\t')); line++) {
        if (quote == '\0' && (*line == '"' || *line == '\''))
            quote = *line;
        else if (*line == quote)
            quote = '\0';
        else
            *to++ = *line;
    }
    if (*line != '\0')
        line++;
    *to = '\0';
    return line;
}

/* Cut a line into words, as a shell does with quotes; how many. */
static int split(char *line, const char *words[WORDS_MAX])
{
    int count = 0;

    while (count < WORDS_MAX) {
        line += strspn(line, " \t");
        if (*line == '\0' || *line == '#')
            break;
        words[count++] = line;
        line = end_word(line);
    }
    return count;
}

int sbatch_options_script(struct sbatch_options *options, char *text, struct error *reterr)
{
    static const char mark[] = "#SBATCH";
    uint32_t number = 0;

    while (text != NULL) {
        char *line = strsep(&text, "\n");
        const size_t length = strlen(line);
        const char *words[WORDS_MAX];

        number++;
        if (length > 0 && line[length - 1] == '\r')
            line[length - 1] = '\0';
        if (strncmp(line, mark, sizeof(mark) - 1) == 0) {
            const int count = split(line + sizeof(mark) - 1, words);
            const bool is_next =
                count > 0 && (strcmp(words[0], "hetjob") == 0 || strcmp(words[0], "packjob") == 0);
            const int rc = is_next ? refuse_components(reterr)
                                   : sbatch_options_words(options, words, count, reterr);

            if (rc < 0) {
                char where[32];

                (void)snprintf(where, sizeof(where), "line %u", number);
                return error_prefix(reterr, rc, where);
            }
        } else if (line[0] != '#' && line[strspn(line, " \t\r")] != '\0') {
            break; /* sbatch reads no further, either */
        }
    }
    return 0;
}

/* The job. ------------------------------------------------------------------------------------ */

static uint64_t or_one(uint64_t number)
{
    return number > 0 ? number : 1;
}

static void print_text(struct line_text *ret, const char *key, const char *value)
{
    line_text_string(ret, key, value[0] != '\0' ? value : NULL);
}

void sbatch_options_print(const struct sbatch_options *options, const char *user,
                          struct line_text *ret)
{
    const uint64_t nodes = or_one(options->nodes);
    const uint64_t ntasks =
        options->ntasks > 0 ? options->ntasks : nodes * or_one(options->ntasks_per_node);
    const uint64_t cpus = ntasks * or_one(options->cpus_per_task);
    const uint64_t cpus_of_node = cpus / nodes + (cpus % nodes != 0);

    line_text_begin(ret, "job");
    line_text_number(ret, "node_count", nodes);
    line_text_number(ret, "ntasks", ntasks);
    line_text_number(ret, "cpus", cpus);
    if (options->mem_mib > 0 || options->mem_per_cpu_mib > 0)
        line_text_number(ret, "mem_mib",
                         options->mem_mib > 0 ? options->mem_mib
                                              : options->mem_per_cpu_mib * cpus_of_node);
    if (options->all_memory)
        line_text_number(ret, "mem_all", 1);
    if (options->tmp_mib > 0)
        line_text_number(ret, "tmp_mib", options->tmp_mib);
    if (options->limit_s >= 0)
        line_text_number(ret, "limit_s", (uint64_t)options->limit_s);
    if (options->exclusive)
        line_text_number(ret, "exclusive", 1);
    line_text_number(ret, "requeue", options->no_requeue ? 0 : 1);
    print_text(ret, "gres_node", options->gres);
    print_text(ret, "gres_job", options->gpus);
    print_text(ret, "gres_task", options->gpus_per_task);
    print_text(ret, "features", options->features);
    print_text(ret, "user_comment", options->comment);
    print_text(ret, "name", options->name);
    print_text(ret, "partition", options->partition);
    print_text(ret, "account", options->account);
    print_text(ret, "qos", options->qos);
    line_text_string(ret, "user", user);
    line_text_end(ret);
}
