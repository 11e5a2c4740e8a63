/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the lines, fields cut at '|'. Slurm does not escape that sign, and a job's name may
 * hold it: what a row has too many fields, its JobName has.
 */
#include "trace/sacct.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/input_text.h"
#include "trace/number.h"
#include "trace/slurm_text.h"

enum column {
    COLUMN_JOB_ID,
    COLUMN_JOB_NAME,
    COLUMN_USER,
    COLUMN_SUBMIT,
    COLUMN_ELIGIBLE,
    COLUMN_START,
    COLUMN_END,
    COLUMN_ELAPSED,
    COLUMN_ELAPSED_RAW,
    COLUMN_TIMELIMIT,
    COLUMN_STATE,
    COLUMN_REQ_CPUS,
    COLUMN_ALLOC_CPUS,
    COLUMN_NCPUS,
    COLUMN_REQ_MEM,
    COLUMN_REQ_TRES,
    COLUMN_ALLOC_TRES,
    COLUMN_NNODES,
    COLUMN_ALLOC_NODES,
    COLUMN_COUNT,
    COLUMN_NONE = -1,
};

static const char *const column_names[COLUMN_COUNT] = {
    [COLUMN_JOB_ID] = "JobID",
    [COLUMN_JOB_NAME] = "JobName",
    [COLUMN_USER] = "User",
    [COLUMN_SUBMIT] = "Submit",
    [COLUMN_ELIGIBLE] = "Eligible",
    [COLUMN_START] = "Start",
    [COLUMN_END] = "End",
    [COLUMN_ELAPSED] = "Elapsed",
    [COLUMN_ELAPSED_RAW] = "ElapsedRaw",
    [COLUMN_TIMELIMIT] = "Timelimit",
    [COLUMN_STATE] = "State",
    [COLUMN_REQ_CPUS] = "ReqCPUS",
    [COLUMN_ALLOC_CPUS] = "AllocCPUS",
    [COLUMN_NCPUS] = "NCPUS",
    [COLUMN_REQ_MEM] = "ReqMem",
    [COLUMN_REQ_TRES] = "ReqTRES",
    [COLUMN_ALLOC_TRES] = "AllocTRES",
    [COLUMN_NNODES] = "NNodes",
    [COLUMN_ALLOC_NODES] = "AllocNodes",
};

struct field {
    const char *text; /* no zero behind it */
    size_t length;
};

struct reader {
    enum sacct_demand demand;
    struct sacct_log log;
    uint32_t line;
    enum column header[SACCT_COLUMNS_MAX]; /* what each column of the file is */
    uint32_t header_count;
    bool has[COLUMN_COUNT];
    struct field row[COLUMN_COUNT]; /* empty where there is no such column */
    msec_t *waits;
    uint32_t waits_room;
};

/* A record, understood. */
struct record {
    int64_t arrival_s; /* when it could have started, as far as the job is concerned */
    int64_t start_s;
    msec_t elapsed_ms;
    msec_t limit_ms;
    int64_t nodes;
    int64_t cpus; /* as the rest, of the whole job */
    int64_t mem_mib;
    int64_t gpus;
};

/* "line 3: Elapsed must be <what>, not '<text>'", of a field of the current row. */
static int must_be(const struct reader *r, enum column which, const char *what,
                   struct error *reterr)
{
    const struct field field = r->row[which];

    return error_set(reterr, -EINVAL, "line %u: %s must be %s, not '%s'", r->line,
                     column_names[which], what, text_excerpt(field.text, field.length).text);
}

/* ---- lines and fields ---- */

/* Cut off what stands before the next '|', and step over that. 'at' becomes NULL at the end. */
static struct field cut(const char **at, const char *end)
{
    const char *start = *at;

    assert(start != NULL);

    const char *bar = memchr(start, '|', (size_t)(end - start));
    const char *stop = bar != NULL ? bar : end;

    *at = bar != NULL ? bar + 1 : NULL;
    return (struct field){ start, (size_t)(stop - start) };
}

static enum column column_called(struct field name)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (strlen(column_names[i]) == name.length &&
            strncasecmp(column_names[i], name.text, name.length) == 0)
            return (enum column)i;
    }
    return COLUMN_NONE;
}

static int need_columns(const struct reader *r, struct error *reterr)
{
    const char *lacking = NULL;

    if (!r->has[COLUMN_REQ_TRES] && !r->has[COLUMN_ALLOC_TRES] && !r->has[COLUMN_REQ_CPUS] &&
        !r->has[COLUMN_ALLOC_CPUS] && !r->has[COLUMN_NCPUS])
        lacking = "ReqTRES";
    if (!r->has[COLUMN_ELAPSED] && !r->has[COLUMN_ELAPSED_RAW] &&
        !(r->has[COLUMN_START] && r->has[COLUMN_END]))
        lacking = "Elapsed";
    if (!r->has[COLUMN_SUBMIT])
        lacking = "Submit";
    if (!r->has[COLUMN_JOB_ID])
        lacking = "JobID";
    if (lacking != NULL)
        return error_set(reterr, -EINVAL,
                         "line %u: the header has no column '%s'; this reads what `sacct "
                         "--parsable2` prints, docs/reference/files/sacct.md has the whole command",
                         r->line, lacking);
    return 0;
}

static int take_header(struct reader *r, const char *at, const char *end, struct error *reterr)
{
    while (at != NULL) {
        const struct field name = cut(&at, end);
        const enum column which = column_called(name);

        if (r->header_count == SACCT_COLUMNS_MAX)
            return error_set(reterr, -E2BIG, "line %u: there are more than %d columns", r->line,
                             SACCT_COLUMNS_MAX);
        r->header[r->header_count++] = which;
        if (which == COLUMN_NONE)
            continue;
        if (r->has[which])
            return error_set(reterr, -EINVAL, "line %u: the column '%s' is there twice", r->line,
                             column_names[which]);
        r->has[which] = true;
    }
    return need_columns(r, reterr);
}

static uint32_t count_bars(const char *at, const char *end)
{
    uint32_t count = 0;

    for (; at < end; at++)
        count += *at == '|';
    return count;
}

static int take_fields(struct reader *r, const char *at, const char *end, struct error *reterr)
{
    const uint32_t field_count = count_bars(at, end) + 1;
    uint32_t surplus = field_count > r->header_count ? field_count - r->header_count : 0;

    if (field_count < r->header_count || (surplus > 0 && !r->has[COLUMN_JOB_NAME]))
        return error_set(reterr, -EINVAL, "line %u: has %u fields, but the header names %u",
                         r->line, field_count, r->header_count);
    for (uint32_t i = 0; i < r->header_count; i++) {
        struct field field = cut(&at, end);

        for (; r->header[i] == COLUMN_JOB_NAME && surplus > 0; surplus--)
            field.length += cut(&at, end).length + 1;
        if (r->header[i] != COLUMN_NONE)
            r->row[r->header[i]] = field;
    }
    assert(at == NULL);
    return 0;
}

/* ---- what the fields say ---- */

static bool state_is(const struct reader *r, const char *word)
{
    const struct field state = r->row[COLUMN_STATE];
    const size_t length = strlen(word);

    /* "CANCELLED by 1000" is CANCELLED. */
    return state.length >= length && memcmp(state.text, word, length) == 0 &&
           (state.length == length || state.text[length] == ' ');
}

static int take_time(const struct reader *r, enum column which, int64_t *ret_s,
                     struct error *reterr)
{
    if (slurm_time(r->row[which].text, r->row[which].length, ret_s) < 0)
        return must_be(r, which, "like 2026-10-01T12:00:00, or seconds since 1970", reterr);
    return 0;
}

static int take_duration(const struct reader *r, enum column which, msec_t *ret,
                         struct error *reterr)
{
    if (slurm_duration(r->row[which].text, r->row[which].length, ret) < 0)
        return must_be(r, which, "a length of time like 1-02:03:04", reterr);
    return 0;
}

/* A count; SLURM_UNKNOWN if the field is empty. */
static int take_count(const struct reader *r, enum column which, int64_t max, int64_t *ret,
                      struct error *reterr)
{
    const struct field field = r->row[which];
    uint64_t value = 0;

    if (field.length == 0) {
        *ret = SLURM_UNKNOWN;
        return 0;
    }
    if (number_id(field.text, field.length, &value) < 0 || value > (uint64_t)max)
        return must_be(r, which, "a whole number", reterr);
    *ret = (int64_t)value;
    return 0;
}

/* How long it ran; SLURM_UNKNOWN: nothing says so. */
static int take_elapsed(const struct reader *r, int64_t start_s, msec_t *ret, struct error *reterr)
{
    int64_t end_s = SLURM_UNKNOWN;
    int64_t raw_s = SLURM_UNKNOWN;
    int rc = take_count(r, COLUMN_ELAPSED_RAW, LIMIT_TIME_MS / MSEC_PER_SEC, &raw_s, reterr);

    if (rc == 0)
        rc = take_duration(r, COLUMN_ELAPSED, ret, reterr);
    if (rc == 0)
        rc = take_time(r, COLUMN_END, &end_s, reterr);
    if (rc < 0)
        return rc;
    if (raw_s >= 0)
        *ret = raw_s * MSEC_PER_SEC;
    else if (*ret < 0 && start_s >= 0 && end_s > start_s)
        *ret = (end_s - start_s) * MSEC_PER_SEC;
    return 0;
}

static int take_times(const struct reader *r, struct record *ret, struct error *reterr)
{
    int64_t eligible_s = SLURM_UNKNOWN;
    int rc = take_time(r, COLUMN_SUBMIT, &ret->arrival_s, reterr);

    if (rc == 0)
        rc = take_time(r, COLUMN_ELIGIBLE, &eligible_s, reterr);
    if (rc == 0)
        rc = take_time(r, COLUMN_START, &ret->start_s, reterr);
    if (rc == 0)
        rc = take_elapsed(r, ret->start_s, &ret->elapsed_ms, reterr);
    if (rc == 0)
        rc = take_duration(r, COLUMN_TIMELIMIT, &ret->limit_ms, reterr);
    if (rc < 0)
        return rc;
    /* What waits for another job, or for its hour, has not arrived yet. */
    if (ret->arrival_s >= 0 && eligible_s > ret->arrival_s)
        ret->arrival_s = eligible_s;
    return 0;
}

static int take_tres(const struct reader *r, enum column which, struct slurm_tres *ret,
                     struct error *reterr)
{
    if (slurm_tres(r->row[which].text, r->row[which].length, ret) < 0)
        return must_be(r, which, "like cpu=8,gres/gpu=2,mem=32G,node=2", reterr);
    return 0;
}

static int64_t known(int64_t first, int64_t second)
{
    return first != SLURM_UNKNOWN ? first : second;
}

/* Memory of the whole job. */
static int64_t job_memory(const struct slurm_memory *memory, int64_t cpus, int64_t nodes)
{
    int64_t total = memory->mib;
    const int64_t times = memory->per == SLURM_PER_CPU    ? cpus
                          : memory->per == SLURM_PER_NODE ? nodes
                                                          : 1;

    if (total < 0 || times <= 0)
        return SLURM_UNKNOWN;
    return __builtin_mul_overflow(total, times, &total) ? INT64_MAX : total;
}

static int take_counts(const struct reader *r, struct slurm_tres *asked, struct slurm_tres *given,
                       struct error *reterr)
{
    static const struct {
        enum column column;
        bool of_given;
        bool nodes;
    } columns[] = {
        { COLUMN_REQ_CPUS, false, false }, { COLUMN_ALLOC_CPUS, true, false },
        { COLUMN_NCPUS, true, false },     { COLUMN_ALLOC_NODES, true, true },
        { COLUMN_NNODES, true, true },
    };
    int rc = take_tres(r, COLUMN_REQ_TRES, asked, reterr);

    if (rc == 0)
        rc = take_tres(r, COLUMN_ALLOC_TRES, given, reterr);
    for (size_t i = 0; rc == 0 && i < sizeof(columns) / sizeof(columns[0]); i++) {
        struct slurm_tres *tres = columns[i].of_given ? given : asked;
        int64_t *place = columns[i].nodes ? &tres->nodes : &tres->cpus;
        int64_t count = SLURM_UNKNOWN;

        rc = take_count(r, columns[i].column, LIMIT_TASKS, &count, reterr);
        if (*place == SLURM_UNKNOWN)
            *place = count;
    }
    return rc;
}

static int take_size(const struct reader *r, struct record *ret, struct error *reterr)
{
    const struct field text = r->row[COLUMN_REQ_MEM];
    struct slurm_tres asked = { 0 };
    struct slurm_tres given = { 0 };
    struct slurm_memory memory = { 0 };
    const int rc = take_counts(r, &asked, &given, reterr);

    if (rc < 0)
        return rc;
    if (slurm_memory(text.text, text.length, &memory) < 0)
        return must_be(r, COLUMN_REQ_MEM, "like 16G, 4000Mc or 1.5Tn", reterr);
    /* Where it ran counts for both: a job may ask for tasks and leave it open on how many nodes. */
    ret->nodes = known(known(given.nodes, asked.nodes), 1);
    if (asked.mem_mib == SLURM_UNKNOWN)
        asked.mem_mib = job_memory(&memory, known(asked.cpus, given.cpus), ret->nodes);

    const bool by_request = r->demand == SACCT_DEMAND_REQUESTED;
    const struct slurm_tres *first = by_request ? &asked : &given;
    const struct slurm_tres *second = by_request ? &given : &asked;

    ret->cpus = known(first->cpus, second->cpus);
    ret->mem_mib = known(known(first->mem_mib, second->mem_mib), 0);
    ret->gpus = known(known(first->gpus, second->gpus), 0);
    return 0;
}

/* ---- records ---- */

/* The place where the record is to be counted if it is no job; NULL: it is one. */
static uint32_t *left_out(struct reader *r, const struct record *record)
{
    struct sacct_left_out *count = &r->log.left_out;

    if (state_is(r, "PENDING") || state_is(r, "CONFIGURING"))
        return &count->pending;
    if (record->elapsed_ms <= 0)
        return &count->never_ran;
    if (state_is(r, "BOOT_FAIL") || state_is(r, "REVOKED"))
        return &count->no_start;
    if (record->arrival_s < 0)
        return &count->no_submit;
    if (record->cpus <= 0 || record->nodes <= 0)
        return &count->no_size;
    return NULL;
}

/* A name that others may print, whatever users made of theirs. */
static uint32_t take_name(struct names *names, struct field field, const char *otherwise)
{
    char clean[LIMIT_NAME];
    size_t length = field.length < sizeof(clean) ? field.length : sizeof(clean);

    if (field.length == 0)
        return names_add(names, otherwise, strlen(otherwise));
    if (text_name_fault(field.text, field.length) == NULL)
        return names_add(names, field.text, field.length);
    for (size_t i = 0; i < length; i++)
        clean[i] = (char)(field.text[i] >= 0x20 && field.text[i] < 0x7f ? field.text[i] : '?');
    return names_add(names, clean, length);
}

static int64_t part_of(int64_t total, int64_t nodes)
{
    assert(nodes > 0);
    return total / nodes + (total % nodes != 0);
}

/* The shape of one node's part. */
static int take_shape(struct reader *r, const struct record *record, uint32_t *ret,
                      struct error *reterr)
{
    const int64_t cpus = part_of(record->cpus, record->nodes);
    const int64_t mem_mib = part_of(record->mem_mib, record->nodes);
    const int64_t gpus = part_of(record->gpus, record->nodes);
    const struct shape_demand demand = {
        .family = FAMILY_NONE,
        .res = { .amount = { [RES_CPU] = cpus * 1000,
                             [RES_MEM] = mem_mib,
                             [RES_ACCEL] = gpus * 1000 } },
    };
    char name[128];
    const struct shape_spec spec = {
        .name = name, .workload = name, .demands = &demand, .demand_count = 1
    };

    if (mem_mib > LIMIT_RESOURCE)
        return error_set(reterr, -ERANGE, "line %u: asks for more memory than any machine has",
                         r->line);
    (void)snprintf(name, sizeof(name), "%" PRId64 "cpu-%" PRId64 "mib-%" PRId64 "gpu", cpus,
                   mem_mib, gpus);
    *ret = shapes_add(&r->log.trace.shapes, &spec);
    if (r->log.trace.shapes.count > LIMIT_SHAPES)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d different demands",
                         r->line, LIMIT_SHAPES);
    return 0;
}

static int take_job(struct reader *r, const struct record *record, struct error *reterr)
{
    struct trace *trace = &r->log.trace;
    struct trace_job job = {
        .id = r->line,
        .gang = record->nodes > 1,
        .arrival_ms = record->arrival_s * MSEC_PER_SEC,
        .work_ms = record->elapsed_ms,
        .estimate_ms = -1,
    };

    if (record->nodes > LIMIT_TASKS_PER_JOB || record->nodes > LIMIT_TASKS - trace->task_total)
        return error_set(reterr, -E2BIG, "line %u: the jobs ran on too many nodes: split the file",
                         r->line);

    const int rc = take_shape(r, record, &job.shape, reterr);

    if (rc < 0)
        return rc;
    job.task_count = (uint32_t)record->nodes;
    if (record->limit_ms >= 0)
        job.estimate_ms =
            record->limit_ms > record->elapsed_ms ? record->limit_ms : record->elapsed_ms;
    job.name = take_name(&trace->names, r->row[COLUMN_JOB_NAME], "job");
    job.user = take_name(&trace->users, r->row[COLUMN_USER], "");
    trace_add_job(trace, &job);
    if (record->start_s >= record->arrival_s) {
        MEM_ROOM(r->waits, r->waits_room, r->log.waits.count + 1);
        r->waits[r->log.waits.count++] = (record->start_s - record->arrival_s) * MSEC_PER_SEC;
    }
    r->log.still_running += state_is(r, "RUNNING") || state_is(r, "SUSPENDED") ||
                            state_is(r, "COMPLETING") || state_is(r, "RESIZING");
    return 0;
}

static int take_record(struct reader *r, struct error *reterr)
{
    const struct field id = r->row[COLUMN_JOB_ID];
    struct record record = { 0 };

    if (id.length == 0)
        return must_be(r, COLUMN_JOB_ID, "the number of a job", reterr);
    if (memchr(id.text, '.', id.length) != NULL) {
        r->log.steps++;
        return 0;
    }

    int rc = take_times(r, &record, reterr);

    if (rc == 0)
        rc = take_size(r, &record, reterr);
    if (rc < 0)
        return rc;
    r->log.records++;

    uint32_t *count = left_out(r, &record);

    if (count == NULL)
        return take_job(r, &record, reterr);
    (*count)++;
    return 0;
}

/* ---- the whole ---- */

static int take_line(struct reader *r, const char *at, const char *end, struct error *reterr)
{
    r->line++;
    if (end > at && end[-1] == '\r')
        end--;
    if (at == end)
        return 0;
    if (r->header_count == 0)
        return take_header(r, at, end, reterr);

    const int rc = take_fields(r, at, end, reterr);

    return rc < 0 ? rc : take_record(r, reterr);
}

static int take_lines(struct reader *r, const char *text, size_t length, struct error *reterr)
{
    const char *end = text + length;
    int rc = 0;

    for (const char *next = text; rc == 0 && next < end;) {
        const char *newline = memchr(next, '\n', (size_t)(end - next));
        const char *line_end = newline != NULL ? newline : end;

        rc = take_line(r, next, line_end, reterr);
        next = newline != NULL ? newline + 1 : end;
    }
    if (rc == 0 && r->header_count == 0)
        return error_set(reterr, -EINVAL,
                         "is empty: the first line must name the columns, as `sacct --parsable2` "
                         "prints it");
    return rc;
}

/* Jobs into order, their arrivals from the first one on, and the waits into figures. */
static void finish(struct reader *r)
{
    struct trace *trace = &r->log.trace;

    r->log.waits = wait_stats_of(r->waits, r->log.waits.count);
    trace_sort(trace);
    if (trace->job_count == 0)
        return;

    const msec_t first = trace->jobs[0].arrival_ms;

    r->log.start_s = first / MSEC_PER_SEC;
    for (uint32_t i = 0; i < trace->job_count; i++)
        trace->jobs[i].arrival_ms -= first;
}

int sacct_read(const char *text, size_t length, enum sacct_demand demand, struct sacct_log *ret,
               struct error *reterr)
{
    struct reader r = { .demand = demand };
    int rc = text_check_input(text, length, reterr);

    if (rc < 0)
        return rc;
    for (int i = 0; i < COLUMN_COUNT; i++)
        r.row[i] = (struct field){ "", 0 };
    trace_init(&r.log.trace);
    rc = take_lines(&r, text, length, reterr);
    if (rc == 0)
        finish(&r);
    mem_free(r.waits);
    if (rc < 0) {
        trace_done(&r.log.trace);
        return rc;
    }
    *ret = r.log;
    return 0;
}

void sacct_done(struct sacct_log *log)
{
    trace_done(&log->trace);
    *log = (struct sacct_log){ 0 };
}
