/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/synthetic.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/rng.h"

/* One stream of random numbers per quality. */
enum stream {
    STREAM_ARRIVAL,
    STREAM_SHAPE,
    STREAM_WORK,
    STREAM_GANG,
    STREAM_USER,
    STREAM_COUNT,
};

struct drawing {
    const struct synthetic_spec *spec;
    struct rng rng[STREAM_COUNT];
    uint64_t weight_total;
    uint64_t *weight_until; /* of each shape of the mix: the sum up to and with it */
    uint32_t *shape;        /* of each of the mix: its number in the trace */
    double clock_ms;        /* arrival of the last job, with a gap */
    struct trace trace;
};

/* clang-format off */
#define LIGHT_DELAYS { 1000, 5000, 2000, 1000, 1000, 0 }
#define HEAVY_DELAYS { 5000, 10000, 60000, 1000, 10000, 0 }
/* clang-format on */

const struct synthetic_shape *synthetic_default_mix(uint32_t *ret_count)
{
    static const struct shape_demand small[] = { { FAMILY_NONE, { { 1000, 2048, 0 } } } };
    static const struct shape_demand medium[] = { { FAMILY_NONE, { { 4000, 8192, 0 } } } };
    static const struct shape_demand large[] = { { FAMILY_NONE, { { 16000, 32768, 0 } } } };
    static const struct shape_demand memory[] = { { FAMILY_NONE, { { 2000, 32768, 0 } } } };
    static const struct shape_demand train[] = { { FAMILY_NONE, { { 4000, 24576, 1000 } } } };
    static const struct shape_demand train4[] = { { FAMILY_NONE, { { 16000, 98304, 4000 } } } };
    static const struct synthetic_shape mix[] = {
        { { "compile[1]", "compile", LIGHT_DELAYS, small, 1, NULL, 0, false, false }, 40 },
        { { "compile[4]", "compile", LIGHT_DELAYS, medium, 1, NULL, 0, false, false }, 20 },
        { { "solve[16]", "solve", LIGHT_DELAYS, large, 1, NULL, 0, false, false }, 10 },
        { { "index[2]", "index", LIGHT_DELAYS, memory, 1, NULL, 0, false, false }, 15 },
        { { "train[1]", "train", HEAVY_DELAYS, train, 1, NULL, 0, false, false }, 12 },
        { { "train[4]", "train", HEAVY_DELAYS, train4, 1, NULL, 0, false, false }, 3 },
    };

    *ret_count = sizeof(mix) / sizeof(mix[0]);
    return mix;
}

static int check_arrivals(const struct synthetic_spec *spec, struct error *reterr)
{
    if ((spec->mean_gap_ms > 0) == (spec->horizon_ms > 0))
        return error_set(reterr, -EINVAL,
                         "a synthetic trace needs a mean gap between jobs or a horizon, not both");
    if (spec->mean_gap_ms < 0 || spec->horizon_ms < 0 || spec->horizon_ms > LIMIT_TIME_MS)
        return error_set(reterr, -EINVAL,
                         "the gap or horizon of a synthetic trace is out of range");

    /* An exponential number of 53 bits is below 37 means. */
    if (spec->mean_gap_ms > LIMIT_TIME_MS / 64 / spec->task_count)
        return error_set(reterr, -EINVAL,
                         "the mean gap of a synthetic trace is too long for %u tasks",
                         spec->task_count);
    return 0;
}

static int check_spec(const struct synthetic_spec *spec, struct error *reterr)
{
    if (spec->task_count == 0 || spec->task_count > LIMIT_TASKS)
        return error_set(reterr, -EINVAL, "a synthetic trace has 1 to %d tasks, not %u",
                         LIMIT_TASKS, spec->task_count);
    if (spec->work_min_ms <= 0 || spec->work_max_ms < spec->work_min_ms ||
        spec->work_max_ms > LIMIT_TIME_MS)
        return error_set(reterr, -EINVAL,
                         "the runtimes of a synthetic trace must be above 0, the shortest first");
    if (spec->gang_ppm > 1000000)
        return error_set(reterr, -EINVAL, "the share of gangs is above 1");
    if (spec->gang_ppm > 0 &&
        (spec->gang_tasks_max < 2 || spec->gang_tasks_max > LIMIT_TASKS_PER_JOB))
        return error_set(reterr, -EINVAL, "the largest gang has 2 to %d tasks, not %u",
                         LIMIT_TASKS_PER_JOB, spec->gang_tasks_max);
    if (spec->mix_count == 0 || spec->mix_count > LIMIT_SHAPES)
        return error_set(reterr, -EINVAL, "a synthetic trace has 1 to %d shapes, not %u",
                         LIMIT_SHAPES, spec->mix_count);
    if (spec->user_count > LIMIT_TASKS)
        return error_set(reterr, -EINVAL, "a synthetic trace has at most %d users, not %u",
                         LIMIT_TASKS, spec->user_count);
    return check_arrivals(spec, reterr);
}

static msec_t draw_arrival(struct drawing *d)
{
    struct rng *rng = &d->rng[STREAM_ARRIVAL];

    if (d->spec->horizon_ms > 0)
        return (msec_t)rng_below(rng, (uint64_t)d->spec->horizon_ms);
    d->clock_ms += rng_exponential(rng, (double)d->spec->mean_gap_ms);
    return (msec_t)d->clock_ms;
}

static msec_t draw_work(struct drawing *d)
{
    const double shortest = (double)d->spec->work_min_ms;
    const double longest = (double)d->spec->work_max_ms;
    const double share = rng_unit(&d->rng[STREAM_WORK]);
    const msec_t work = llround(shortest * exp(share * log(longest / shortest)));

    if (work < d->spec->work_min_ms)
        return d->spec->work_min_ms;
    return work > d->spec->work_max_ms ? d->spec->work_max_ms : work;
}

/* The first of the mix whose sum of weights is above the number drawn. */
static uint32_t draw_shape(struct drawing *d)
{
    const uint64_t drawn = rng_below(&d->rng[STREAM_SHAPE], d->weight_total);
    uint32_t low = 0;
    uint32_t high = d->spec->mix_count - 1;

    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;

        if (d->weight_until[middle] > drawn)
            high = middle;
        else
            low = middle + 1;
    }
    return d->shape[low];
}

/* Both numbers are drawn for every job, so that jobs keep theirs when the share changes. */
static uint32_t draw_task_count(struct drawing *d)
{
    const struct synthetic_spec *spec = d->spec;
    struct rng *rng = &d->rng[STREAM_GANG];
    const uint32_t left = spec->task_count - d->trace.task_total;
    const bool gang = rng_below(rng, 1000000) < spec->gang_ppm;
    const uint32_t wish =
        spec->gang_ppm > 0 ? 2 + (uint32_t)rng_below(rng, spec->gang_tasks_max - 1) : 1;
    const uint32_t count = gang ? wish : 1;

    return count < left ? count : left;
}

static uint32_t draw_user(struct drawing *d)
{
    char name[32] = "";

    if (d->spec->user_count > 0)
        (void)snprintf(name, sizeof(name), "user-%u",
                       (uint32_t)rng_below(&d->rng[STREAM_USER], d->spec->user_count));
    return names_add(&d->trace.users, name, strlen(name));
}

static void draw_job(struct drawing *d)
{
    const uint32_t shape = draw_shape(d);
    const char *name = names_text(&d->trace.shapes.names, d->trace.shapes.rows[shape].name);
    const uint32_t task_count = draw_task_count(d);
    const struct trace_job job = {
        .name = names_add(&d->trace.names, name, strlen(name)),
        .user = draw_user(d),
        .shape = shape,
        .task_count = task_count,
        .gang = task_count > 1,
        .arrival_ms = draw_arrival(d),
        .work_ms = draw_work(d),
        .estimate_ms = -1,
    };

    trace_add_job(&d->trace, &job);
}

static void prepare(struct drawing *d)
{
    const struct synthetic_spec *spec = d->spec;

    for (int i = 0; i < STREAM_COUNT; i++)
        rng_init(&d->rng[i], spec->seed, (uint64_t)i);
    d->weight_until = mem_alloc(spec->mix_count, sizeof(*d->weight_until));
    d->shape = mem_alloc(spec->mix_count, sizeof(*d->shape));
    for (uint32_t i = 0; i < spec->mix_count; i++) {
        d->weight_total += spec->mix[i].weight;
        d->weight_until[i] = d->weight_total;
        d->shape[i] = shapes_add(&d->trace.shapes, &spec->mix[i].spec);
    }
}

int synthetic_draw(const struct synthetic_spec *spec, struct trace *ret, struct error *reterr)
{
    struct drawing d = { .spec = spec };
    int rc = check_spec(spec, reterr);

    if (rc < 0)
        return rc;
    trace_init(&d.trace);
    prepare(&d);
    if (d.weight_total == 0)
        rc = error_set(reterr, -EINVAL, "all weights of the mix of a synthetic trace are 0");
    while (rc == 0 && d.trace.task_total < spec->task_count)
        draw_job(&d);
    mem_free(d.weight_until);
    mem_free(d.shape);
    if (rc < 0) {
        trace_done(&d.trace);
        return rc;
    }
    trace_sort(&d.trace);
    for (uint32_t i = 0; i < d.trace.job_count; i++)
        d.trace.jobs[i].id = i;
    *ret = d.trace;
    return 0;
}
