/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/synthetic_doc.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "trace/doc_value.h"

enum { WEIGHT_MAX = 1000000 };

static const struct doc_range any_time = { 0, LIMIT_TIME_MS };
static const struct doc_range some_time = { 1, LIMIT_TIME_MS };
static const struct doc_decimal milli = { .digits = 3, .range = { 0, LIMIT_RESOURCE } };

static int get_count(const struct doc_node *map, const char *key, struct doc_range range,
                     uint32_t *ret, struct error *reterr)
{
    int64_t value = *ret;
    const int rc = doc_get_int(map, key, range, &value, reterr);

    if (rc == 0)
        *ret = (uint32_t)value;
    return rc;
}

static int read_delays(const struct doc_node *map, struct shape_delays *delays,
                       struct error *reterr)
{
    int rc = doc_get_duration(map, "fetch", any_time, &delays->fetch_ms, reterr);

    if (rc == 0)
        rc = doc_get_duration(map, "build", any_time, &delays->build_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "init", any_time, &delays->init_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "kill", any_time, &delays->kill_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "upload", any_time, &delays->upload_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "checkpoint_every", any_time, &delays->checkpoint_ms, reterr);
    return rc;
}

static int read_demand(const struct doc_node *map, struct res *res, struct error *reterr)
{
    int rc = doc_get_decimal(map, "cpu", &milli, &res->amount[RES_CPU], reterr);

    if (rc == 0)
        rc = doc_get_mib(map, "mem_gib", &res->amount[RES_MEM], reterr);
    if (rc == 0)
        rc = doc_get_decimal(map, "accel", &milli, &res->amount[RES_ACCEL], reterr);
    if (rc == 0 && res->amount[RES_CPU] == 0 && res->amount[RES_MEM] == 0 &&
        res->amount[RES_ACCEL] == 0)
        return error_set(reterr, -EINVAL,
                         "line %u: %s asks for nothing: give cpu, mem_gib or accel above 0",
                         map->line, doc_label(map).text);
    return rc;
}

/* The part of the name before the bracket, as in the jobs table. */
static const char *workload_of(const char *name, struct arena *arena)
{
    const size_t length = strcspn(name, "[");
    const size_t size = (length > 0 ? length : strlen(name)) + 1;
    char *workload = arena_alloc(arena, size, 1);

    (void)snprintf(workload, size, "%s", name);
    return workload;
}

static int read_shape(const struct doc_node *map, struct arena *arena, struct synthetic_shape *ret,
                      struct error *reterr)
{
    static const char *const allowed[] = {
        "workload", "weight", "cpu",    "mem_gib",          "accel", "fetch", "build",
        "init",     "kill",   "upload", "checkpoint_every", NULL,
    };
    struct shape_demand *demand = ARENA_ARRAY(arena, struct shape_demand, 1);
    struct synthetic_shape shape = { .spec = { .demands = demand, .demand_count = 1 },
                                     .weight = 1 };
    int rc = doc_expect(map, DOC_MAP, reterr);

    demand->family = FAMILY_NONE;
    if (rc == 0)
        rc = doc_allow_keys(map, allowed, reterr);
    if (rc == 0)
        rc = doc_need_keys(map, (const char *const[]){ "workload", NULL }, reterr);
    if (rc == 0)
        rc = doc_get_name(map, "workload", &shape.spec.name, reterr);
    if (rc == 0)
        rc = get_count(map, "weight", (struct doc_range){ 1, WEIGHT_MAX }, &shape.weight, reterr);
    if (rc == 0)
        rc = read_demand(map, &demand->res, reterr);
    if (rc == 0)
        rc = read_delays(map, &shape.spec.delays, reterr);
    if (rc < 0)
        return rc;
    assert(shape.spec.name != NULL);
    shape.spec.workload = workload_of(shape.spec.name, arena);
    *ret = shape;
    return 0;
}

static int read_mix(const struct doc_node *map, struct arena *arena, struct synthetic_spec *spec,
                    struct error *reterr)
{
    const struct doc_node *list = NULL;
    int rc = doc_get_list(map, "mix", &list, reterr);

    if (rc < 0)
        return rc;
    if (list == NULL) {
        spec->mix = synthetic_default_mix(&spec->mix_count);
        return 0;
    }
    if (list->count == 0 || list->count > LIMIT_SHAPES)
        return error_set(reterr, -EINVAL,
                         "line %u: 'mix' has 1 to %d entries, not %u; without the key there is a "
                         "small mix of everything",
                         list->line, LIMIT_SHAPES, list->count);

    struct synthetic_shape *mix = ARENA_ARRAY(arena, struct synthetic_shape, list->count);

    DOC_EACH(entry, list)
    {
        rc = read_shape(entry, arena, &mix[entry->index], reterr);
        if (rc < 0)
            return rc;
    }
    spec->mix = mix;
    spec->mix_count = list->count;
    return 0;
}

/* A pair: the shortest and the longest. */
static int read_runtime(const struct doc_node *map, struct synthetic_spec *spec,
                        struct error *reterr)
{
    const struct doc_node *pair = NULL;
    int rc = doc_get_list(map, "runtime", &pair, reterr);

    if (rc < 0 || pair == NULL)
        return rc;
    if (pair->count != 2)
        return error_set(reterr, -EINVAL,
                         "line %u: 'runtime' must be a pair [shortest, longest], such as [5m, 4h]",
                         pair->line);
    rc = doc_as_duration(pair->first, some_time, &spec->work_min_ms, reterr);
    if (rc == 0)
        rc = doc_as_duration(pair->first->next, some_time, &spec->work_max_ms, reterr);
    if (rc == 0 && spec->work_max_ms < spec->work_min_ms)
        return error_set(reterr, -EINVAL, "line %u: 'runtime' must name the shorter time first",
                         pair->line);
    return rc;
}

static int read_arrivals(const struct doc_node *map, struct synthetic_spec *spec,
                         struct error *reterr)
{
    int rc = 0;

    if ((doc_find(map, "gap") == NULL) == (doc_find(map, "horizon") == NULL))
        return error_set(reterr, -EINVAL,
                         "line %u: %s needs either 'gap' (the mean time between two jobs) or "
                         "'horizon' (the time within which all arrive)",
                         map->line, doc_label(map).text);
    rc = doc_get_duration(map, "gap", some_time, &spec->mean_gap_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "horizon", some_time, &spec->horizon_ms, reterr);
    return rc;
}

static int read_gangs(const struct doc_node *map, struct synthetic_spec *spec, struct error *reterr)
{
    const int rc = doc_get_ppm(map, "gangs", &spec->gang_ppm, reterr);

    return rc < 0 ? rc
                  : get_count(map, "gang_tasks", (struct doc_range){ 2, LIMIT_TASKS_PER_JOB },
                              &spec->gang_tasks_max, reterr);
}

static int read_seed(const struct doc_node *map, struct synthetic_doc *doc, struct error *reterr)
{
    int64_t seed = 0;
    const int rc = doc_get_int(map, "seed", (struct doc_range){ 0, INT64_MAX }, &seed, reterr);

    doc->spec.seed = (uint64_t)seed;
    doc->has_seed = doc_find(map, "seed") != NULL;
    return rc;
}

int synthetic_doc_read(const struct doc_node *map, struct arena *arena, struct synthetic_doc *ret,
                       struct error *reterr)
{
    static const char *const allowed[] = {
        "tasks", "gap", "horizon", "runtime", "gangs", "gang_tasks", "users", "seed", "mix", NULL,
    };
    static const struct doc_range tasks = { 1, LIMIT_TASKS };
    struct synthetic_doc doc = {
        .spec = { .work_min_ms = 300 * MSEC_PER_SEC,
                  .work_max_ms = 4 * MSEC_PER_HOUR,
                  .gang_tasks_max = 4 },
    };
    int rc = doc_allow_keys(map, allowed, reterr);

    if (rc == 0)
        rc = doc_need_keys(map, (const char *const[]){ "tasks", NULL }, reterr);
    if (rc == 0)
        rc = get_count(map, "tasks", tasks, &doc.spec.task_count, reterr);
    if (rc == 0)
        rc = read_arrivals(map, &doc.spec, reterr);
    if (rc == 0)
        rc = read_runtime(map, &doc.spec, reterr);
    if (rc == 0)
        rc = read_gangs(map, &doc.spec, reterr);
    if (rc == 0)
        rc = get_count(map, "users", (struct doc_range){ 0, LIMIT_TASKS }, &doc.spec.user_count,
                       reterr);
    if (rc == 0)
        rc = read_seed(map, &doc, reterr);
    if (rc == 0)
        rc = read_mix(map, arena, &doc.spec, reterr);
    if (rc == 0)
        *ret = doc;
    return rc;
}
