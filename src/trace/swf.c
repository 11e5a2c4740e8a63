/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the lines. All 18 fields of a record are checked to be numbers; twelve are used.
 * Numbers are held in thousandths, so that the few logs with broken seconds lose nothing and one
 * parser serves every field.
 */
#include "trace/swf.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/input_text.h"
#include "trace/number.h"
#include "trace/trace_ids.h"

enum field {
    FIELD_JOB,
    FIELD_SUBMIT,
    FIELD_WAIT,
    FIELD_RUN,
    FIELD_PROCESSORS,
    FIELD_CPU_TIME,
    FIELD_MEMORY, /* KiB per processor, as the next one of memory */
    FIELD_PROCESSORS_ASKED,
    FIELD_TIME_ASKED,
    FIELD_MEMORY_ASKED,
    FIELD_STATUS,
    FIELD_USER,
    FIELD_GROUP,
    FIELD_EXECUTABLE,
    FIELD_QUEUE,
    FIELD_PARTITION,
    FIELD_BEFORE,
    FIELD_THINK_TIME,
    FIELD_COUNT,
};

static const struct {
    const char *name;
    bool fraction; /* need not be whole */
} fields[FIELD_COUNT] = {
    [FIELD_JOB] = { "job number", false },
    [FIELD_SUBMIT] = { "submit time", true },
    [FIELD_WAIT] = { "wait time", true },
    [FIELD_RUN] = { "run time", true },
    [FIELD_PROCESSORS] = { "number of processors", false },
    [FIELD_CPU_TIME] = { "CPU time", true },
    [FIELD_MEMORY] = { "memory", true },
    [FIELD_PROCESSORS_ASKED] = { "requested number of processors", false },
    [FIELD_TIME_ASKED] = { "requested time", true },
    [FIELD_MEMORY_ASKED] = { "requested memory", true },
    [FIELD_STATUS] = { "status", false },
    [FIELD_USER] = { "user", false },
    [FIELD_GROUP] = { "group", false },
    [FIELD_EXECUTABLE] = { "executable", false },
    [FIELD_QUEUE] = { "queue", false },
    [FIELD_PARTITION] = { "partition", false },
    [FIELD_BEFORE] = { "preceding job", false },
    [FIELD_THINK_TIME] = { "think time", true },
};

/* What the status field says; others are of no interest. */
enum status {
    STATUS_COMPLETED = 1,
    STATUS_PARTIAL_FIRST = 2, /* a part of a run: that is continued, or the last one, */
    STATUS_PARTIAL_LAST = 4,  /* completed (3) or failed (4) */
};

enum { MILLI = 1000 };

/* No field is larger: a time up to LIMIT_TIME_MS, a number of things up to 10^12. */
#define MILLI_MAX ((int64_t)1000000000000 * MILLI)

#define NOT_SIMPLE INT64_MIN

struct reader {
    const struct swf_options *options;
    struct swf_log log;
    const char *at; /* in the line being read */
    const char *line_end;
    uint32_t line;
    int64_t milli[FIELD_COUNT]; /* of the record being read */
    int64_t job_before;         /* the number of the record before; -1: none */
    uint32_t *lines;            /* of each job, in the order of the file */
    uint32_t lines_room;
    msec_t *waits;
    uint32_t waits_room;
};

struct swf_options swf_options_default(void)
{
    return (struct swf_options){ .processors_per_instance = 16, .alpha_ppm = SWF_ALPHA_ONE };
}

/* ---- header comments ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static void skip_blanks(struct reader *r)
{
    while (r->at < r->line_end && is_blank(*r->at))
        r->at++;
}

/* The whole number that the value of a header line begins with; 'ret' stays if there is none. */
static void take_header_number(struct reader *r, int64_t *ret)
{
    const char *start = r->at;
    uint64_t value = 0;

    while (r->at < r->line_end && *r->at >= '0' && *r->at <= '9')
        r->at++;
    if (number_id(start, (size_t)(r->at - start), &value) == 0 && value <= INT64_MAX)
        *ret = (int64_t)value;
}

/* "; UnixStartTime: 1078605840"; what is not known or not understood is only a comment. */
static void take_comment(struct reader *r)
{
    const struct {
        const char *key;
        int64_t *place;
    } keys[] = {
        { "UnixStartTime:", &r->log.unix_start_s },
        { "MaxNodes:", &r->log.max_nodes },
        { "MaxProcs:", &r->log.max_processors },
    };

    r->at++;
    skip_blanks(r);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        const size_t length = strlen(keys[i].key);

        if ((size_t)(r->line_end - r->at) < length || memcmp(r->at, keys[i].key, length) != 0)
            continue;
        r->at += length;
        skip_blanks(r);
        take_header_number(r, keys[i].place);
        return;
    }
}

/* ---- fields ---- */

/* The short way for what most fields are; NOT_SIMPLE: it takes the long one. */
static int64_t simple_number(const char *text, size_t length)
{
    const bool negative = length > 1 && text[0] == '-';
    int64_t value = 0;

    if (length > 12)
        return NOT_SIMPLE;
    for (size_t i = negative; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return NOT_SIMPLE;
        value = value * 10 + (text[i] - '0');
    }
    return (negative ? -value : value) * MILLI;
}

static int take_field(struct reader *r, enum field which, struct error *reterr)
{
    const char *start = r->at;

    while (r->at < r->line_end && !is_blank(*r->at))
        r->at++;

    const size_t length = (size_t)(r->at - start);
    int64_t value = simple_number(start, length);
    int rc = 0;

    if (length == 0)
        return error_set(reterr, -EINVAL,
                         "line %u: has %d fields, but a record of the Standard Workload Format "
                         "has %d; a comment begins with ';'",
                         r->line, (int)which, FIELD_COUNT);
    if (value == NOT_SIMPLE)
        rc = number_nearest(start, length, 3, &value);
    if (rc < 0 || value > MILLI_MAX || value < -MILLI_MAX)
        return error_set(
            reterr, -EINVAL, "line %u: field %d, the %s, must be a number up to 10^12, not '%s'",
            r->line, (int)which + 1, fields[which].name, text_excerpt(start, length).text);
    if (!fields[which].fraction && value % MILLI != 0)
        return error_set(reterr, -EINVAL,
                         "line %u: field %d, the %s, must be a whole number, not '%s'", r->line,
                         (int)which + 1, fields[which].name, text_excerpt(start, length).text);
    r->milli[which] = value;
    skip_blanks(r);
    return 0;
}

static int64_t whole(const struct reader *r, enum field which)
{
    return r->milli[which] / MILLI;
}

/* Milliseconds, of a field in seconds; -1: unknown. */
static int take_time(const struct reader *r, enum field which, msec_t *ret, struct error *reterr)
{
    const int64_t value = r->milli[which];

    if (value > LIMIT_TIME_MS)
        return error_set(reterr, -EINVAL, "line %u: field %d, the %s, is longer than 139 years",
                         r->line, (int)which + 1, fields[which].name);
    *ret = value < 0 ? -1 : value;
    return 0;
}

_Static_assert(LIMIT_TIME_MS / (MSEC_PER_HOUR * 24 * 365) == 139, "the text above names the limit");

/* ---- records ---- */

static int64_t processors(const struct reader *r)
{
    const int64_t got = whole(r, FIELD_PROCESSORS);

    return got > 0 ? got : whole(r, FIELD_PROCESSORS_ASKED);
}

/* The place where the record is to be counted if it is no job; NULL: it is one. */
static uint32_t *left_out(struct reader *r)
{
    struct swf_left_out *count = &r->log.left_out;
    const int64_t status = whole(r, FIELD_STATUS);

    if (status >= STATUS_PARTIAL_FIRST && status <= STATUS_PARTIAL_LAST && r->job_before >= 0 &&
        whole(r, FIELD_JOB) == r->job_before)
        return &count->partial;
    if (r->milli[FIELD_RUN] <= 0)
        return &count->never_ran;
    if (processors(r) <= 0)
        return &count->no_processors;
    if (r->milli[FIELD_SUBMIT] < 0)
        return &count->no_submit;
    if (r->options->keep == SWF_KEEP_COMPLETED && status != STATUS_COMPLETED)
        return &count->not_completed;
    return NULL;
}

/* What a record says of the time: when it came, how long it ran, how long it was said to. */
static int take_times(const struct reader *r, struct trace_job *job, struct error *reterr)
{
    msec_t asked = -1;
    int rc = take_time(r, FIELD_SUBMIT, &job->arrival_ms, reterr);

    if (rc == 0)
        rc = take_time(r, FIELD_RUN, &job->work_ms, reterr);
    if (rc == 0)
        rc = take_time(r, FIELD_TIME_ASKED, &asked, reterr);
    if (rc < 0)
        return rc;
    job->estimate_ms = -1;
    if (asked < 0)
        return 0;

    const msec_t beyond = asked > job->work_ms ? asked - job->work_ms : 0;
    const msec_t estimate = job->work_ms + mul_div(beyond, r->options->alpha_ppm, SWF_ALPHA_ONE);

    job->estimate_ms = estimate < LIMIT_TIME_MS ? estimate : LIMIT_TIME_MS;
    return 0;
}

/* The name of a thing that has a number: "queue 3". */
static uint32_t numbered(struct names *names, const char *word, int64_t number)
{
    char text[64];
    const int length = snprintf(text, sizeof(text), "%s%" PRId64, word, number);

    return names_add(names, text, (size_t)length);
}

static void take_words(struct reader *r, struct trace_job *job)
{
    struct names *names = &r->log.trace.names;
    const int64_t executable = whole(r, FIELD_EXECUTABLE);
    const int64_t queue = whole(r, FIELD_QUEUE);
    const int64_t user = whole(r, FIELD_USER);

    if (r->options->name == SWF_NAME_EXECUTABLE && executable >= 0)
        job->name = numbered(names, "executable ", executable);
    else if (queue >= 0)
        job->name = numbered(names, "queue ", queue);
    else
        job->name = names_add(names, "job", 3);
    job->user =
        user >= 0 ? numbered(&r->log.trace.users, "", user) : names_add(&r->log.trace.users, "", 0);
}

/* The shape of a machine's worth of the record. */
static int take_shape(struct reader *r, uint32_t *ret, struct error *reterr)
{
    const int64_t per_instance = r->options->processors_per_instance;
    struct shape_demand demand = { .family = FAMILY_NONE };
    const struct shape_spec spec = {
        .name = "node", .workload = "node", .demands = &demand, .demand_count = 1
    };

    demand.res.amount[RES_CPU] = per_instance * 1000;
    if (r->options->memory) {
        const int64_t used = r->milli[FIELD_MEMORY];
        const int64_t asked = r->milli[FIELD_MEMORY_ASKED];
        const int64_t kib = ((asked > 0 ? asked : used) + MILLI - 1) / MILLI;
        const int64_t busy = processors(r) < per_instance ? processors(r) : per_instance;

        if (kib > 0)
            demand.res.amount[RES_MEM] = (kib * busy + 1023) / 1024;
    }
    if (demand.res.amount[RES_MEM] > LIMIT_RESOURCE)
        return error_set(reterr, -EINVAL, "line %u: asks for more memory than any machine has",
                         r->line);
    *ret = shapes_add(&r->log.trace.shapes, &spec);
    if (r->log.trace.shapes.count > LIMIT_SHAPES)
        return error_set(reterr, -E2BIG,
                         "line %u: there are more than %d different amounts of memory: read the "
                         "log without memory",
                         r->line, LIMIT_SHAPES);
    return 0;
}

static int take_tasks(const struct reader *r, struct trace_job *job, struct error *reterr)
{
    const int64_t per_instance = r->options->processors_per_instance;
    const int64_t count = (processors(r) + per_instance - 1) / per_instance;

    if (count > LIMIT_TASKS_PER_JOB)
        return error_set(reterr, -E2BIG,
                         "line %u: takes %" PRId64 " machines, more than %d: give each machine "
                         "more processors",
                         r->line, count, LIMIT_TASKS_PER_JOB);
    if (count > LIMIT_TASKS - r->log.trace.task_total)
        return error_set(reterr, -E2BIG,
                         "line %u: the jobs have more than %d tasks: give each machine more "
                         "processors, or split the log",
                         r->line, LIMIT_TASKS);
    job->task_count = (uint32_t)count;
    job->gang = count > 1;
    return 0;
}

static int take_job(struct reader *r, struct error *reterr)
{
    struct trace_job job = { .id = (uint64_t)whole(r, FIELD_JOB) };
    int rc = take_times(r, &job, reterr);

    if (rc == 0)
        rc = take_tasks(r, &job, reterr);
    if (rc == 0)
        rc = take_shape(r, &job.shape, reterr);
    if (rc < 0)
        return rc;
    take_words(r, &job);
    MEM_ROOM(r->lines, r->lines_room, r->log.trace.job_count + 1);
    r->lines[r->log.trace.job_count] = r->line;
    trace_add_job(&r->log.trace, &job);
    if (r->milli[FIELD_WAIT] >= 0) {
        MEM_ROOM(r->waits, r->waits_room, r->log.waits.count + 1);
        r->waits[r->log.waits.count++] = r->milli[FIELD_WAIT];
    }
    return 0;
}

static int take_record(struct reader *r, struct error *reterr)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        const int rc = take_field(r, (enum field)i, reterr);

        if (rc < 0)
            return rc;
    }
    if (r->milli[FIELD_JOB] < 0)
        return error_set(reterr, -EINVAL, "line %u: the job has no number", r->line);
    r->log.records++;

    uint32_t *count = left_out(r);
    int rc = 0;

    if (count != NULL)
        (*count)++;
    else
        rc = take_job(r, reterr);
    r->job_before = whole(r, FIELD_JOB);
    return rc;
}

/* ---- the log ---- */

static int take_line(struct reader *r, struct error *reterr)
{
    r->line++;
    if (r->line_end > r->at && r->line_end[-1] == '\r')
        r->line_end--;
    skip_blanks(r);
    if (r->at == r->line_end)
        return 0;
    if (*r->at == ';') {
        take_comment(r);
        return 0;
    }
    return take_record(r, reterr);
}

static int take_lines(struct reader *r, const char *text, size_t length, struct error *reterr)
{
    const char *end = text + length;
    int rc = 0;

    for (const char *next = text; rc == 0 && next < end;) {
        const char *newline = memchr(next, '\n', (size_t)(end - next));

        r->at = next;
        r->line_end = newline != NULL ? newline : end;
        next = newline != NULL ? newline + 1 : end;
        rc = take_line(r, reterr);
    }
    return rc < 0 ? rc : trace_ids_check(&r->log.trace, r->lines, "job number", reterr);
}

/* Jobs into order, the zero of their arrivals, and the waits as figures. */
static void finish(struct reader *r)
{
    struct trace *trace = &r->log.trace;

    r->log.waits = wait_stats_of(r->waits, r->log.waits.count);
    trace_sort(trace);
    if (trace->job_count == 0)
        return;
    r->log.first_submit_ms = trace->jobs[0].arrival_ms;
    for (uint32_t i = 0; !r->options->arrival_from_log && i < trace->job_count; i++)
        trace->jobs[i].arrival_ms -= r->log.first_submit_ms;
}

int swf_read(const char *text, size_t length, const struct swf_options *options,
             struct swf_log *ret, struct error *reterr)
{
    assert(options->processors_per_instance > 0);
    assert(options->processors_per_instance <= SWF_PROCESSORS_PER_INSTANCE_MAX);
    assert(options->alpha_ppm <= SWF_ALPHA_MAX);

    struct reader r = {
        .options = options,
        .log = { .unix_start_s = -1, .max_nodes = -1, .max_processors = -1 },
        .job_before = -1,
    };
    int rc = text_check_input(text, length, reterr);

    if (rc < 0)
        return rc;
    trace_init(&r.log.trace);
    rc = take_lines(&r, text, length, reterr);
    if (rc == 0)
        finish(&r);
    mem_free(r.lines);
    mem_free(r.waits);
    if (rc < 0) {
        trace_done(&r.log.trace);
        return rc;
    }
    *ret = r.log;
    return 0;
}

void swf_done(struct swf_log *log)
{
    trace_done(&log->trace);
    *log = (struct swf_log){ 0 };
}
