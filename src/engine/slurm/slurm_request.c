/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/slurm/slurm_request.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

/* Bits of the fields that a word must or may have. */
enum {
    KEY = 1 << 0,
    PROTOCOL = 1 << 1,
    WHAT = 1 << 2,
    JOB = 1 << 3,
    JOBS = 1 << 4,
    NODES = 1 << 5,
    PARTITION = 1 << 6,
    TEXT = 1 << 7,
    WHOSE = 1 << 8,
    RUN = 1 << 9,
    SIGNAL = 1 << 10,
    SIGNAL_TO = 1 << 11,
    GRACE_MS = 1 << 12,
    LEASE = 1 << 13,
};

static const struct {
    const char *word;
    enum slurm_verb verb;
    unsigned must;
    unsigned may;
} words[] = {
    { "hello", SLURM_HELLO, PROTOCOL, LEASE },
    { "list", SLURM_LIST, KEY | WHAT, 0 },
    { "place", SLURM_PLACE, KEY | JOB | NODES, RUN | PARTITION | TEXT },
    { "release", SLURM_RELEASE, KEY | JOBS, PARTITION },
    { "hold", SLURM_HOLD, KEY | JOBS, 0 },
    { "unhold", SLURM_UNHOLD, KEY | JOBS, 0 },
    { "cancel", SLURM_CANCEL, KEY | JOB, RUN },
    { "give-up", SLURM_GIVE_UP, KEY | JOB | TEXT, 0 },
    { "stop", SLURM_STOP, KEY | JOB, RUN | SIGNAL | SIGNAL_TO | GRACE_MS },
    { "comment", SLURM_COMMENT, KEY | JOB | TEXT, WHOSE },
    { "explain", SLURM_EXPLAIN, KEY | JOB, TEXT },
    { "down", SLURM_DOWN, KEY | NODES, TEXT },
    { "drain", SLURM_DRAIN, KEY | NODES, TEXT },
    { "resume", SLURM_RESUME, KEY | NODES, 0 },
    { "delete", SLURM_DELETE, KEY | NODES, 0 },
};

static const struct {
    const char *name;
    uint16_t number;
} signals[] = {
    { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 }, { "TERM", SIGTERM },
    { "INT", SIGINT },   { "HUP", SIGHUP },   { "CONT", SIGCONT },
};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Past the digits at 'at', or NULL if there are none or too many for an id. */
static const char *skip_digits(const char *at)
{
    const char *begin = at;

    while (is_digit(*at))
        at++;
    return at == begin || at - begin > 10 ? NULL : at;
}

/* Past "12", "12_3" or, if 'is_many', "12_[3-9,11]"; NULL if it is none of them. */
static const char *skip_job(const char *at, bool is_many)
{
    at = skip_digits(at);
    if (at == NULL || *at != '_')
        return at;
    at++;
    if (*at != '[')
        return skip_digits(at);
    at++;
    const size_t inside = strspn(at, "0123456789-,:");

    if (!is_many || inside == 0 || at[inside] != ']')
        return NULL;
    return at + inside + 1;
}

static bool is_job_list(const char *text)
{
    for (;;) {
        const char *end = skip_job(text, true);

        if (end == NULL || end - text >= SLURM_JOB_ID_SIZE)
            return false;
        if (*end == '\0')
            return true;
        if (*end != ',')
            return false;
        text = end + 1;
    }
}

static bool is_job(const char *text)
{
    const char *end = skip_job(text, false);

    return end != NULL && *end == '\0';
}

/* With 'is_many', lists with ';' between them: one for each component of a heterogeneous job. */
static bool is_node_list(const char *text, bool is_many)
{
    for (;;) {
        const size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                           "0123456789._-,[]");

        if (length == 0)
            return false;
        if (text[length] != ';' || !is_many)
            return text[length] == '\0';
        text += length + 1;
    }
}

/* Of two words, the second: 'ret' says whether it was. */
static int read_choice(const char *value, const char *first, const char *second, bool *ret)
{
    *ret = strcmp(value, second) == 0;
    return *ret || strcmp(value, first) == 0 ? 0 : -EINVAL;
}

static int read_signal(const char *value, uint16_t *ret)
{
    for (size_t i = 0; i < COUNT_OF(signals); i++) {
        if (strcmp(value, signals[i].name) == 0) {
            *ret = signals[i].number;
            return 0;
        }
    }
    return -EINVAL;
}

static int read_u32(const char *value, uint32_t max, uint32_t *ret)
{
    uint64_t number = 0;
    const int error = line_number(value, max, &number);

    if (error == 0)
        *ret = (uint32_t)number;
    return error;
}

static int read_checked(const char *value, bool is_good, const char **ret)
{
    *ret = value;
    return is_good ? 0 : -EINVAL;
}

static int read_key(const char *value, struct slurm_request *to)
{
    return line_number(value, UINT64_MAX, &to->key);
}

static int read_protocol(const char *value, struct slurm_request *to)
{
    return read_u32(value, UINT32_MAX, &to->protocol);
}

static int read_what(const char *value, struct slurm_request *to)
{
    bool is_nodes = false;

    to->what = value;
    return read_choice(value, "jobs", "nodes", &is_nodes);
}

static int read_job(const char *value, struct slurm_request *to)
{
    return read_checked(value, is_job(value), &to->job);
}

static int read_jobs(const char *value, struct slurm_request *to)
{
    return read_checked(value, is_job_list(value), &to->jobs);
}

static int read_nodes(const char *value, struct slurm_request *to)
{
    return read_checked(value, is_node_list(value, to->verb == SLURM_PLACE), &to->nodes);
}

static int read_partition(const char *value, struct slurm_request *to)
{
    return read_checked(value, *value != '\0', &to->partition);
}

static int read_text(const char *value, struct slurm_request *to)
{
    return read_checked(value, true, &to->text);
}

static int read_whose(const char *value, struct slurm_request *to)
{
    return read_choice(value, "admin", "user", &to->is_for_user);
}

static int read_run(const char *value, struct slurm_request *to)
{
    return read_u32(value, SLURM_RUN_ANY - 1, &to->run);
}

static int read_the_signal(const char *value, struct slurm_request *to)
{
    return read_signal(value, &to->signal);
}

static int read_signal_to(const char *value, struct slurm_request *to)
{
    return read_choice(value, "batch", "all", &to->is_for_all);
}

static int read_grace(const char *value, struct slurm_request *to)
{
    return read_u32(value, SLURM_GRACE_MS_MAX, &to->grace_ms);
}

static int read_lease(const char *value, struct slurm_request *to)
{
    return read_checked(value, *value != '\0', &to->lease);
}

static const struct {
    const char *key;
    unsigned bit;
    int (*read)(const char *value, struct slurm_request *to);
} fields[] = {
    { "key", KEY, read_key },
    { "protocol", PROTOCOL, read_protocol },
    { "what", WHAT, read_what },
    { "job", JOB, read_job },
    { "jobs", JOBS, read_jobs },
    { "nodes", NODES, read_nodes },
    { "partition", PARTITION, read_partition },
    { "text", TEXT, read_text },
    { "whose", WHOSE, read_whose },
    { "run", RUN, read_run },
    { "signal", SIGNAL, read_the_signal },
    { "signal_to", SIGNAL_TO, read_signal_to },
    { "grace_ms", GRACE_MS, read_grace },
    { "lease", LEASE, read_lease },
};

/* Read one field; 'seen' gathers the bits. */
static int read_field(const struct line_field *field, unsigned allowed, struct slurm_request *to,
                      unsigned *seen, struct error *reterr)
{
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if ((fields[i].bit & allowed) == 0 || strcmp(fields[i].key, field->key) != 0)
            continue;
        if (fields[i].read(field->value, to) < 0)
            return error_set(reterr, -EINVAL, "the value of '%s' is invalid", field->key);
        *seen |= fields[i].bit;
        return 0;
    }
    return error_set(reterr, -EINVAL, "no field '%s' here", field->key);
}

static const char *first_missing(unsigned missing)
{
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        if ((fields[i].bit & missing) != 0)
            return fields[i].key;
    }
    assert(false); /* a bit without a field */
    return NULL;
}

int slurm_request_read(const struct line *line, struct slurm_request *ret, struct error *reterr)
{
    struct slurm_request request = { .run = SLURM_RUN_ANY };
    unsigned seen = 0;
    size_t row = 0;

    while (row < COUNT_OF(words) && strcmp(words[row].word, line->word) != 0)
        row++;
    if (row == COUNT_OF(words))
        return error_set(reterr, -EINVAL, "no request '%s'", line->word);
    request.verb = words[row].verb;
    for (uint32_t i = 0; i < line->count; i++) {
        const int error =
            read_field(&line->field[i], words[row].must | words[row].may, &request, &seen, reterr);

        if (error < 0)
            return error;
    }
    if ((words[row].must & ~seen) != 0)
        return error_set(reterr, -EINVAL, "'%s' needs '%s'", line->word,
                         first_missing(words[row].must & ~seen));
    *ret = request;
    return 0;
}

const char *slurm_request_next_job(const char *list, char ret[SLURM_JOB_ID_SIZE])
{
    if (*list == '\0')
        return NULL;
    const char *end = skip_job(list, true);

    assert(end != NULL);
    const size_t length = (size_t)(end - list);

    assert(length < SLURM_JOB_ID_SIZE);
    memcpy(ret, list, length);
    ret[length] = '\0';
    return *end == ',' ? end + 1 : end;
}
