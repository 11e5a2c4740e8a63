/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/trace_write.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/market_words.h"
#include "trace/number.h"

/* What a demand column is called, and the digits behind the point of its amounts. */
static const struct {
    const char *name;
    int digits;
} kinds[RES_PRICED] = {
    [RES_CPU] = { "cpu", 3 },
    [RES_MEM] = { "mem_gb", 9 },
    [RES_ACCEL] = { "gpu", 3 },
};

struct writer {
    FILE *out;
    const struct trace *trace;
    const struct names *families;
    bool *used; /* by family: whether some shape has a demand of its own for it */
    uint32_t family_count;
    bool bonds; /* some job is fixed or spread */
    bool priorities;
    bool rules;       /* some job has rules for markets */
    bool services;    /* some job has no end that anybody knows */
    bool checkpoints; /* some shape saves by itself */
    bool needs; /* some shape has a set of offers, wants a machine for itself or must be alike */
};

/* A text as a field, in quotes where it needs them. */
static void put_text(FILE *out, const char *text)
{
    const size_t length = strlen(text);
    const bool plain = strpbrk(text, ",\"\r\n") == NULL && text[0] != ' ' &&
                       (length == 0 || text[length - 1] != ' ');

    if (plain) {
        (void)fputs(text, out);
        return;
    }
    (void)fputc('"', out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            (void)fputc('"', out);
        (void)fputc(text[i], out);
    }
    (void)fputc('"', out);
}

static void put_header(const struct writer *w)
{
    (void)fputs("job_id,name,workload,user,arrival_s,duration_s,estimate_s,tasks,gang,fetch_delay,"
                "build_image_delay,init_delay,kill_delay,upload_delay,cpu,mem_gb,gpu",
                w->out);
    if (w->bonds)
        (void)fputs(",fixed,spread", w->out);
    if (w->priorities)
        (void)fputs(",priority", w->out);
    if (w->services)
        (void)fputs(",availability", w->out);
    if (w->needs)
        (void)fputs(",needs,whole_machine,one_zone,one_market", w->out);
    if (w->checkpoints)
        (void)fputs(",checkpoint_every_s", w->out);
    if (w->rules)
        (void)fputs(",market,spot_for_s,deadline_s", w->out);
    for (uint32_t family = 0; family < w->family_count; family++) {
        for (int kind = 0; w->used[family] && kind < RES_PRICED; kind++) {
            char column[LIMIT_NAME + 16];

            (void)snprintf(column, sizeof(column), "%s@%s", kinds[kind].name,
                           names_text(w->families, family));
            (void)fputc(',', w->out);
            put_text(w->out, column);
        }
    }
    (void)fputc('\n', w->out);
}

static void put_seconds(FILE *out, msec_t ms)
{
    (void)fprintf(out, ",%s", ms >= 0 ? number_print(ms, 3).text : "");
}

/* The demand of the shape for exactly that family; FAMILY_NONE: the general one. NULL: none. */
static const struct res *own_demand(const struct shapes *shapes, const struct shape *shape,
                                    uint32_t family)
{
    for (uint32_t i = 0; i < shape->demand_count; i++) {
        const struct shape_demand *demand = &shapes->demands[shape->demand_first + i];

        if (demand->family == family)
            return &demand->res;
    }
    return NULL;
}

static void put_demand(FILE *out, const struct res *demand)
{
    for (int kind = 0; kind < RES_PRICED; kind++) {
        (void)fputc(',', out);
        if (demand == NULL)
            continue;

        const int64_t amount = demand->amount[kind];
        const int64_t scaled = kind == RES_MEM ? mul_div(amount, 1000000000, 1024) : amount;

        (void)fputs(number_print(scaled, kinds[kind].digits).text, out);
    }
}

static bool is_service(const struct trace_job *job)
{
    return job->estimate_ms == MSEC_NEVER;
}

static void put_availability(FILE *out, const struct trace_job *job)
{
    const int64_t share = job->short_ppb > 0 ? SHARE_ALL_PPB - (int64_t)job->short_ppb : 0;

    (void)fprintf(out, ",%s", is_service(job) ? number_print(share, 9).text : "");
}

static void put_job(const struct writer *w, const struct trace_job *job)
{
    const struct shapes *shapes = &w->trace->shapes;
    const struct shape *shape = &shapes->rows[job->shape];

    (void)fprintf(w->out, "%" PRIu64 ",", job->id);
    put_text(w->out, names_text(&w->trace->names, job->name));
    (void)fputc(',', w->out);
    put_text(w->out, names_text(&shapes->names, shape->name));
    (void)fputc(',', w->out);
    put_text(w->out, names_text(&w->trace->users, job->user));
    put_seconds(w->out, job->arrival_ms);
    put_seconds(w->out, job->work_ms);
    put_seconds(w->out, is_service(job) ? -1 : job->estimate_ms);
    (void)fprintf(w->out, ",%" PRIu32 ",%d", job->task_count, job->gang);
    put_seconds(w->out, shape->delays.fetch_ms);
    put_seconds(w->out, shape->delays.build_ms);
    put_seconds(w->out, shape->delays.init_ms);
    put_seconds(w->out, shape->delays.kill_ms);
    put_seconds(w->out, shape->delays.upload_ms);
    put_demand(w->out, own_demand(shapes, shape, FAMILY_NONE));
    if (w->bonds)
        (void)fprintf(w->out, ",%d,%d", job->fixed, job->spread);
    if (w->priorities)
        (void)fprintf(w->out, ",%" PRIu32, job->priority);
    if (w->services)
        put_availability(w->out, job);
    if (w->needs) {
        (void)fputc(',', w->out);
        put_text(w->out, offer_sets_text(&shapes->sets, shape->offers));
        (void)fprintf(w->out, ",%d,%d,%d", shape->whole, (shape->alike & ALIKE_ZONE) != 0,
                      (shape->alike & ALIKE_MARKET) != 0);
    }
    if (w->checkpoints)
        put_seconds(w->out, shape->delays.checkpoint_ms > 0 ? shape->delays.checkpoint_ms : -1);
    if (w->rules) {
        (void)fprintf(w->out, ",%s", market_rule_name(job->rules.market));
        put_seconds(w->out, job->rules.spot_for_ms > 0 ? job->rules.spot_for_ms : -1);
        put_seconds(w->out, job->rules.deadline > 0 ? job->rules.deadline : -1);
    }
    for (uint32_t family = 0; family < w->family_count; family++) {
        if (w->used[family])
            put_demand(w->out, own_demand(shapes, shape, family));
    }
    (void)fputc('\n', w->out);
}

int trace_write_csv(FILE *out, const struct trace *trace, const struct names *families,
                    struct error *reterr)
{
    const uint32_t family_count = families != NULL ? families->count : 0;
    struct writer w = {
        .out = out,
        .trace = trace,
        .families = families,
        .used = mem_alloc(family_count, sizeof(bool)),
        .family_count = family_count,
    };

    for (uint32_t i = 0; i < trace->shapes.demand_count; i++) {
        const uint32_t family = trace->shapes.demands[i].family;

        if (family == FAMILY_NONE)
            continue;
        assert(family < family_count);
        w.used[family] = true;
    }
    for (uint32_t i = 0; i < trace->job_count; i++) {
        w.bonds |= trace->jobs[i].fixed || trace->jobs[i].spread;
        w.priorities |= trace->jobs[i].priority != 0;
        w.rules |= job_has_rules(&trace->jobs[i].rules);
        w.services |= is_service(&trace->jobs[i]);
    }
    for (uint32_t i = 0; i < trace->shapes.count; i++) {
        const struct shape *shape = &trace->shapes.rows[i];

        w.checkpoints |= shape->delays.checkpoint_ms > 0;
        w.needs |= shape->offers != OFFERS_ALL || shape->whole || shape->alike != 0;
    }
    put_header(&w);
    for (uint32_t i = 0; i < trace->job_count; i++)
        put_job(&w, &trace->jobs[i]);
    mem_free(w.used);
    if (fflush(out) != 0 || ferror(out))
        return error_set(reterr, -EIO, "the trace cannot be written: is the disk full?");
    return 0;
}
