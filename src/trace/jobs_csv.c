/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/jobs_csv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/csv.h"
#include "trace/input_text.h"
#include "trace/market_words.h"
#include "trace/number.h"
#include "trace/trace_ids.h"

enum column {
    COLUMN_JOB_ID,
    COLUMN_NAME,
    COLUMN_WORKLOAD,
    COLUMN_USER,
    COLUMN_ARRIVAL,
    COLUMN_DURATION,
    COLUMN_CPU, /* this and the next two in the order of enum res_kind */
    COLUMN_MEM,
    COLUMN_GPU,
    COLUMN_TASKS,
    COLUMN_GANG,
    COLUMN_FIXED,
    COLUMN_SPREAD,
    COLUMN_PRIORITY,
    COLUMN_AVAILABILITY,
    COLUMN_NEEDS,
    COLUMN_WHOLE,
    COLUMN_ONE_ZONE,
    COLUMN_ONE_MARKET,
    COLUMN_MARKET,
    COLUMN_SPOT_FOR,
    COLUMN_DEADLINE,
    COLUMN_ESTIMATE,
    COLUMN_FETCH,
    COLUMN_BUILD,
    COLUMN_INIT,
    COLUMN_KILL,
    COLUMN_UPLOAD,
    COLUMN_CHECKPOINT,
    COLUMN_COUNT,
};

static const char *const column_names[COLUMN_COUNT] = {
    [COLUMN_JOB_ID] = "job_id",
    [COLUMN_NAME] = "name",
    [COLUMN_WORKLOAD] = "workload",
    [COLUMN_USER] = "user",
    [COLUMN_ARRIVAL] = "arrival_s",
    [COLUMN_DURATION] = "duration_s",
    [COLUMN_CPU] = "cpu",
    [COLUMN_MEM] = "mem_gb",
    [COLUMN_GPU] = "gpu",
    [COLUMN_TASKS] = "tasks",
    [COLUMN_GANG] = "gang",
    [COLUMN_FIXED] = "fixed",
    [COLUMN_SPREAD] = "spread",
    [COLUMN_PRIORITY] = "priority",
    [COLUMN_AVAILABILITY] = "availability",
    [COLUMN_NEEDS] = "needs",
    [COLUMN_WHOLE] = "whole_machine",
    [COLUMN_ONE_ZONE] = "one_zone",
    [COLUMN_ONE_MARKET] = "one_market",
    [COLUMN_MARKET] = "market",
    [COLUMN_SPOT_FOR] = "spot_for_s",
    [COLUMN_DEADLINE] = "deadline_s",
    [COLUMN_ESTIMATE] = "estimate_s",
    [COLUMN_FETCH] = "fetch_delay",
    [COLUMN_BUILD] = "build_image_delay",
    [COLUMN_INIT] = "init_delay",
    [COLUMN_KILL] = "kill_delay",
    [COLUMN_UPLOAD] = "upload_delay",
    [COLUMN_CHECKPOINT] = "checkpoint_every_s",
};

_Static_assert(COLUMN_CPU + RES_MEM == COLUMN_MEM && COLUMN_CPU + RES_ACCEL == COLUMN_GPU,
               "the demand columns follow enum res_kind");

/* Where the demands for one family stand. */
struct family_columns {
    uint32_t family;
    uint32_t column[RES_PRICED];
};

struct reader {
    struct csv csv;
    const struct names *families;
    uint32_t column[COLUMN_COUNT];
    struct family_columns *own; /* families with columns of their own, by their number */
    uint32_t own_count;
    uint32_t own_room;
    struct shape_demand *demands; /* of the row being read; own_count + 1 */
    uint32_t *lines;              /* of each job, in the order of the file */
    uint32_t lines_room;
    struct trace trace;
};

/* "line 3: cpu must be <what>, not '<text>'", of a field of the current row. */
static int must_be(const struct reader *r, uint32_t column, const char *what, struct error *reterr)
{
    const struct csv_field name = r->csv.header[column];
    const struct csv_field field = csv_field(&r->csv, column);

    return error_set(reterr, -EINVAL, "line %u: %s must be %s, not '%s'", r->csv.line,
                     text_excerpt(name.text, name.length).text, what,
                     text_excerpt(field.text, field.length).text);
}

/* ---- the header ---- */

static int set_column(const struct reader *r, uint32_t *place, uint32_t column,
                      struct error *reterr)
{
    const struct csv_field name = r->csv.header[column];

    if (*place != CSV_COLUMN_NONE)
        return error_set(reterr, -EINVAL, "line %u: the column '%s' is there twice", r->csv.line,
                         text_excerpt(name.text, name.length).text);
    *place = column;
    return 0;
}

/* The columns of a family, a fresh row if there were none yet. */
static struct family_columns *family_columns(struct reader *r, uint32_t family)
{
    for (uint32_t i = 0; i < r->own_count; i++) {
        if (r->own[i].family == family)
            return &r->own[i];
    }
    MEM_ROOM(r->own, r->own_room, r->own_count + 1);

    struct family_columns *fresh = &r->own[r->own_count++];

    fresh->family = family;
    for (int kind = 0; kind < RES_PRICED; kind++)
        fresh->column[kind] = CSV_COLUMN_NONE;
    return fresh;
}

/* A column such as cpu@c7i; others with an @ are of no interest. */
static int take_family_column(struct reader *r, uint32_t column, size_t kind_length,
                              struct error *reterr)
{
    const struct csv_field name = r->csv.header[column];
    const char *family = name.text + kind_length + 1;
    const size_t family_length = name.length - kind_length - 1;

    for (int kind = 0; kind < RES_PRICED; kind++) {
        const char *word = column_names[COLUMN_CPU + kind];

        if (strlen(word) != kind_length || memcmp(word, name.text, kind_length) != 0)
            continue;
        if (r->families == NULL)
            return error_set(reterr, -EINVAL,
                             "line %u: the column '%s' asks for a machine family, but no catalogue "
                             "is given: give one, or remove the column",
                             r->csv.line, text_excerpt(name.text, name.length).text);

        const uint32_t number = names_find(r->families, family, family_length);

        if (number == NAME_NONE)
            return error_set(reterr, -EINVAL,
                             "line %u: the column '%s' names a machine family that the catalogue "
                             "does not have: correct the name, add a type of that family to the "
                             "catalogue, or remove the column",
                             r->csv.line, text_excerpt(name.text, name.length).text);
        return set_column(r, &family_columns(r, number)->column[kind], column, reterr);
    }
    return 0;
}

static int take_column(struct reader *r, uint32_t column, struct error *reterr)
{
    const struct csv_field name = r->csv.header[column];
    const char *at = name.length > 0 ? memchr(name.text, '@', name.length) : NULL;

    if (at != NULL)
        return take_family_column(r, column, (size_t)(at - name.text), reterr);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (strlen(column_names[i]) == name.length &&
            memcmp(column_names[i], name.text, name.length) == 0)
            return set_column(r, &r->column[i], column, reterr);
    }
    return 0;
}

static int compare_families(const void *a, const void *b)
{
    const struct family_columns *left = a;
    const struct family_columns *right = b;

    return left->family < right->family ? -1 : left->family > right->family;
}

static int take_header(struct reader *r, struct error *reterr)
{
    static const enum column needed[] = { COLUMN_WORKLOAD, COLUMN_ARRIVAL, COLUMN_DURATION };

    for (int i = 0; i < COLUMN_COUNT; i++)
        r->column[i] = CSV_COLUMN_NONE;
    for (uint32_t i = 0; i < r->csv.column_count; i++) {
        const int rc = take_column(r, i, reterr);

        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (r->column[needed[i]] == CSV_COLUMN_NONE)
            return error_set(reterr, -EINVAL,
                             "line %u: there is no column '%s'; a trace needs at least workload, "
                             "arrival_s and duration_s",
                             r->csv.line, column_names[needed[i]]);
    }
    if (r->own_count > 1)
        qsort(r->own, r->own_count, sizeof(*r->own), compare_families);
    r->demands = mem_alloc(r->own_count + 1, sizeof(*r->demands));
    return 0;
}

/* ---- fields ---- */

/* Seconds to milliseconds; 'ret' is left alone if the field is empty. */
static int take_seconds(const struct reader *r, enum column which, msec_t *ret,
                        struct error *reterr)
{
    const uint32_t column = r->column[which];
    const struct csv_field field = csv_field(&r->csv, column);
    int64_t value = 0;

    if (field.length == 0)
        return 0;

    const int rc = number_nearest(field.text, field.length, 3, &value);

    if (rc < 0 || value < 0 || value > LIMIT_TIME_MS)
        return must_be(r, column, "a number of seconds from 0 to 4398046511", reterr);
    *ret = value;
    return 0;
}

_Static_assert(LIMIT_TIME_MS / 1000 == 4398046511, "the text above names the limit");

static int take_whole(const struct reader *r, enum column which, int64_t max, uint32_t *ret,
                      struct error *reterr)
{
    const uint32_t column = r->column[which];
    const struct csv_field field = csv_field(&r->csv, column);
    int64_t value = 0;

    if (field.length == 0)
        return 0;

    const int rc = number_exact(field.text, field.length, 0, &value);

    if (rc < 0 || value < 0 || value > max)
        return must_be(r, column,
                       max == 1            ? "0 or 1"
                       : max == UINT32_MAX ? "a whole number from 0 to 4294967295"
                                           : "a whole number from 1 to 1048576",
                       reterr);
    *ret = (uint32_t)value;
    return 0;
}

_Static_assert(LIMIT_TASKS_PER_JOB == 1048576, "the text above names the limit");

/* One amount of a demand; 'ret' is left alone and 'given' false if the field is empty. */
static int take_amount(const struct reader *r, uint32_t column, int kind, int64_t *ret, bool *given,
                       struct error *reterr)
{
    const struct csv_field field = csv_field(&r->csv, column);
    int64_t value = 0;
    int rc;

    if (field.length == 0)
        return 0;
    if (kind == RES_MEM)
        rc = number_mib_of_gib(field.text, field.length, &value);
    else
        rc = number_nearest(field.text, field.length, 3, &value);
    if (rc < 0 || value < 0 || value > LIMIT_RESOURCE)
        return must_be(r, column, "a number from 0 to 1073741824", reterr);
    *ret = value;
    *given = true;
    return 0;
}

_Static_assert(LIMIT_RESOURCE / 1024 == 1073741824, "the text above names the limit");

static int take_name(const struct reader *r, enum column which, struct csv_field *ret,
                     struct error *reterr)
{
    const struct csv_field field = csv_field(&r->csv, r->column[which]);
    const char *fault = text_name_fault(field.text, field.length);

    if (fault != NULL)
        return error_set(reterr, -EINVAL, "line %u: %s %s", r->csv.line, column_names[which],
                         fault);
    *ret = field;
    return 0;
}

/* ---- rows ---- */

static bool is_nothing(const struct res *res)
{
    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (res->amount[kind] > 0)
            return false;
    }
    return true;
}

/* The demands of the row: the general one, unless only families are given, then the families'. */
static int take_demands(struct reader *r, uint32_t *ret, struct error *reterr)
{
    struct res general = { 0 };
    bool general_given = false;
    uint32_t count = 0;
    int rc = 0;

    for (int kind = 0; rc == 0 && kind < RES_PRICED; kind++)
        rc = take_amount(r, r->column[COLUMN_CPU + kind], kind, &general.amount[kind],
                         &general_given, reterr);
    if (general_given)
        r->demands[count++] = (struct shape_demand){ FAMILY_NONE, general };
    for (uint32_t i = 0; rc == 0 && i < r->own_count; i++) {
        struct shape_demand own = { r->own[i].family, general };
        bool own_given = false;

        for (int kind = 0; rc == 0 && kind < RES_PRICED; kind++)
            rc = take_amount(r, r->own[i].column[kind], kind, &own.res.amount[kind], &own_given,
                             reterr);
        if (own_given)
            r->demands[count++] = own;
    }
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < count; i++) {
        if (is_nothing(&r->demands[i].res))
            count = 0;
    }
    if (count == 0)
        return error_set(reterr, -EINVAL,
                         "line %u: the job asks for nothing: give cpu, mem_gb or gpu above 0",
                         r->csv.line);
    *ret = count;
    return 0;
}

static int take_delays(const struct reader *r, struct shape_delays *ret, struct error *reterr)
{
    struct shape_delays delays = { 0 };
    const struct {
        enum column column;
        msec_t *place;
    } parts[] = {
        { COLUMN_FETCH, &delays.fetch_ms },   { COLUMN_BUILD, &delays.build_ms },
        { COLUMN_INIT, &delays.init_ms },     { COLUMN_KILL, &delays.kill_ms },
        { COLUMN_UPLOAD, &delays.upload_ms }, { COLUMN_CHECKPOINT, &delays.checkpoint_ms },
    };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const int rc = take_seconds(r, parts[i].column, parts[i].place, reterr);

        if (rc < 0)
            return rc;
    }
    *ret = delays;
    return 0;
}

/* What machines the job may run on, besides how large they are. 'text' has room for the longest. */
static int take_needs(const struct reader *r, struct shape_spec *spec, char *text,
                      struct error *reterr)
{
    const uint32_t column = r->column[COLUMN_NEEDS];
    const struct csv_field field = csv_field(&r->csv, column);
    uint32_t whole = 0;
    uint32_t one_zone = 0;
    uint32_t one_market = 0;
    int rc = take_whole(r, COLUMN_WHOLE, 1, &whole, reterr);

    if (rc == 0)
        rc = take_whole(r, COLUMN_ONE_ZONE, 1, &one_zone, reterr);
    if (rc == 0)
        rc = take_whole(r, COLUMN_ONE_MARKET, 1, &one_market, reterr);
    if (rc < 0)
        return rc;
    if (field.length <= OFFER_TEXT_MAX && memchr(field.text, '\0', field.length) == NULL) {
        memcpy(text, field.text, field.length);
        text[field.length] = '\0';
    }
    if (field.length > OFFER_TEXT_MAX || strlen(text) != field.length || !offer_text_is_valid(text))
        return must_be(r, column,
                       "an expression of up to 1024 bytes, such as zone=a&(c7i|m7i)&!spot", reterr);
    spec->offers = text;
    spec->whole = whole == 1;
    spec->alike =
        (uint8_t)((one_zone == 1 ? ALIKE_ZONE : 0) | (one_market == 1 ? ALIKE_MARKET : 0));
    return 0;
}

_Static_assert(OFFER_TEXT_MAX == 1024, "the text above names the limit");

/* The market of the row; 'ret' is left alone if the field is empty. */
static int take_market(const struct reader *r, enum market_rule *ret, struct error *reterr)
{
    const struct csv_field field = csv_field(&r->csv, r->column[COLUMN_MARKET]);

    if (field.length == 0 || market_rule_read(field.text, field.length, ret))
        return 0;
    return must_be(r, r->column[COLUMN_MARKET], "any, spot or on-demand", reterr);
}

static int take_rules(const struct reader *r, struct job_rules *ret, struct error *reterr)
{
    struct job_rules rules = { .spot_for_ms = 0 };
    msec_t deadline = -1;
    int rc = take_seconds(r, COLUMN_SPOT_FOR, &rules.spot_for_ms, reterr);

    if (rules.spot_for_ms > 0)
        rules.market = MARKET_RULE_SPOT;
    if (rc == 0)
        rc = take_market(r, &rules.market, reterr);
    if (rc == 0 && rules.spot_for_ms > 0 && rules.market != MARKET_RULE_SPOT)
        rc = must_be(r, r->column[COLUMN_MARKET], "spot where spot_for_s is given", reterr);
    if (rc == 0)
        rc = take_seconds(r, COLUMN_DEADLINE, &deadline, reterr);
    if (deadline >= 0)
        rules.deadline = deadline > 0 ? deadline : 1; /* 0: it has none */
    *ret = rules;
    return rc;
}

static int take_shape(struct reader *r, struct csv_field workload, const struct trace_job *job,
                      uint32_t *ret, struct error *reterr)
{
    char needs[OFFER_TEXT_MAX + 1] = { 0 };
    struct shapes *shapes = &r->trace.shapes;
    char name[LIMIT_NAME + 1] = { 0 };
    char stem[LIMIT_NAME + 1] = { 0 };
    struct shape_spec spec = { .name = name,
                               .workload = stem,
                               .demands = r->demands,
                               .by_market = job_has_rules(&job->rules) };
    int rc = take_delays(r, &spec.delays, reterr);

    if (rc == 0)
        rc = take_demands(r, &spec.demand_count, reterr);
    if (rc == 0)
        rc = take_needs(r, &spec, needs, reterr);
    if (rc < 0)
        return rc;
    if (job->task_count == 1)
        spec.alike = 0; /* a task is always alike itself */
    memcpy(name, workload.text, workload.length);

    const char *bracket = strchr(name, '[');
    const size_t stem_length =
        bracket != NULL && bracket != name ? (size_t)(bracket - name) : workload.length;

    memcpy(stem, name, stem_length);

    const uint32_t shape = shapes_add(shapes, &spec);

    if (shapes->count > LIMIT_SHAPES)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d different shapes of task",
                         r->csv.line, LIMIT_SHAPES);
    if (shapes->demand_count > JOBS_CSV_DEMANDS_MAX)
        return error_set(reterr, -E2BIG, "line %u: the shapes have more than %d demands in all",
                         r->csv.line, JOBS_CSV_DEMANDS_MAX);
    *ret = shape;
    return 0;
}

static int take_id(const struct reader *r, uint64_t *ret, struct error *reterr)
{
    const uint32_t column = r->column[COLUMN_JOB_ID];
    const struct csv_field field = csv_field(&r->csv, column);
    uint64_t id = r->trace.job_count;

    if (field.length > 0 && number_id(field.text, field.length, &id) < 0)
        return must_be(r, column,
                       "a whole number of up to 64 bits (other names belong into a column 'name')",
                       reterr);
    *ret = id;
    return 0;
}

/* Workload, name and user, of which the last two may be missing; then the shape. */
static int take_words(struct reader *r, struct trace_job *job, struct error *reterr)
{
    struct csv_field workload = { "", 0 };
    int rc = take_name(r, COLUMN_WORKLOAD, &workload, reterr);

    if (rc < 0)
        return rc;

    struct csv_field name = workload;
    struct csv_field user = { "", 0 };

    if (csv_field(&r->csv, r->column[COLUMN_NAME]).length > 0)
        rc = take_name(r, COLUMN_NAME, &name, reterr);
    if (rc == 0 && csv_field(&r->csv, r->column[COLUMN_USER]).length > 0)
        rc = take_name(r, COLUMN_USER, &user, reterr);
    if (rc == 0)
        rc = take_shape(r, workload, job, &job->shape, reterr);
    if (rc < 0)
        return rc;
    job->name = names_add(&r->trace.names, name.text, name.length);
    job->user = names_add(&r->trace.users, user.text, user.length);
    return 0;
}

static int take_times(struct reader *r, struct trace_job *job, struct error *reterr)
{
    static const enum column needed[] = { COLUMN_ARRIVAL, COLUMN_DURATION };

    for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
        if (csv_field(&r->csv, r->column[needed[i]]).length == 0)
            return error_set(reterr, -EINVAL, "line %u: %s is empty", r->csv.line,
                             column_names[needed[i]]);
    }

    int rc = take_seconds(r, COLUMN_ARRIVAL, &job->arrival_ms, reterr);

    if (rc == 0)
        rc = take_seconds(r, COLUMN_DURATION, &job->work_ms, reterr);
    if (rc == 0)
        rc = take_seconds(r, COLUMN_ESTIMATE, &job->estimate_ms, reterr);
    return rc;
}

/* A service: it has no end that anybody knows, and may be promised machines for a share of the time. */
static int take_promise(const struct reader *r, struct trace_job *job, struct error *reterr)
{
    const uint32_t column = r->column[COLUMN_AVAILABILITY];
    const struct csv_field field = csv_field(&r->csv, column);
    int64_t value = 0;

    if (field.length == 0)
        return 0;
    if (number_nearest(field.text, field.length, 9, &value) < 0 || value < 0 ||
        value >= SHARE_ALL_PPB)
        return must_be(r, column, "a share from 0 (no promise) to 0.999999999", reterr);
    if (job->gang && job->task_count > 1)
        return error_set(reterr, -EINVAL,
                         "line %u: a gang has no availability: its tasks run together or not at "
                         "all. Set gang to 0, or leave availability empty",
                         r->csv.line);
    if (value > 0 && job_has_rules(&job->rules))
        return error_set(reterr, -EINVAL,
                         "line %u: a job with an availability has no rules for markets: its pool "
                         "has machines of any. Leave market, spot_for_s and deadline_s empty",
                         r->csv.line);
    job->short_ppb = value > 0 ? (uint32_t)(SHARE_ALL_PPB - value) : 0;
    job->estimate_ms = MSEC_NEVER;
    return 0;
}

/* Which of its tasks must be together, apart, or left where they are, and before whom it comes. */
static int take_bonds(const struct reader *r, struct trace_job *job, struct error *reterr)
{
    uint32_t gang =
        job->task_count > 1 && csv_field(&r->csv, r->column[COLUMN_AVAILABILITY]).length == 0;
    uint32_t fixed = 0;
    uint32_t spread = 0;
    int rc = take_whole(r, COLUMN_GANG, 1, &gang, reterr);

    if (rc == 0)
        rc = take_whole(r, COLUMN_FIXED, 1, &fixed, reterr);
    if (rc == 0)
        rc = take_whole(r, COLUMN_SPREAD, 1, &spread, reterr);
    if (rc == 0)
        rc = take_whole(r, COLUMN_PRIORITY, UINT32_MAX, &job->priority, reterr);
    job->gang = gang == 1;
    job->fixed = fixed == 1;
    job->spread = spread == 1;
    return rc;
}

static int take_job(struct reader *r, struct error *reterr)
{
    struct trace_job job = { .task_count = 1, .estimate_ms = -1 };
    int rc = take_id(r, &job.id, reterr);

    if (rc == 0)
        rc = take_times(r, &job, reterr);
    if (rc == 0)
        rc = take_whole(r, COLUMN_TASKS, LIMIT_TASKS_PER_JOB, &job.task_count, reterr);
    if (rc == 0 && job.task_count == 0)
        rc = must_be(r, r->column[COLUMN_TASKS], "1 or more", reterr);
    if (rc == 0)
        rc = take_bonds(r, &job, reterr);
    if (rc == 0)
        rc = take_rules(r, &job.rules, reterr);
    if (rc == 0)
        rc = take_promise(r, &job, reterr);
    if (rc == 0)
        rc = take_words(r, &job, reterr);
    if (rc < 0)
        return rc;
    if (job.task_count > LIMIT_TASKS - r->trace.task_total)
        return error_set(reterr, -E2BIG, "line %u: the trace has more than %d tasks", r->csv.line,
                         LIMIT_TASKS);
    MEM_ROOM(r->lines, r->lines_room, r->trace.job_count + 1);
    r->lines[r->trace.job_count] = r->csv.line;
    trace_add_job(&r->trace, &job);
    return 0;
}

static int read_all(struct reader *r, struct error *reterr)
{
    int rc = take_header(r, reterr);

    while (rc == 0) {
        rc = csv_next(&r->csv, reterr);
        if (rc == 0)
            return trace_ids_check(&r->trace, r->lines, "job_id", reterr);
        if (rc > 0)
            rc = take_job(r, reterr);
    }
    return rc;
}

int jobs_csv_read(const char *text, size_t length, const struct names *families, struct trace *ret,
                  struct error *reterr)
{
    struct reader r = { .families = families };
    int rc = csv_open(&r.csv, text, length, reterr);

    if (rc < 0)
        return rc;
    trace_init(&r.trace);
    rc = read_all(&r, reterr);
    csv_close(&r.csv);
    mem_free(r.own);
    mem_free(r.demands);
    mem_free(r.lines);
    if (rc < 0) {
        trace_done(&r.trace);
        return rc;
    }
    trace_sort(&r.trace);
    *ret = r.trace;
    return 0;
}
