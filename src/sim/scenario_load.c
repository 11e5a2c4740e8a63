/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a scenario. The catalogue comes first: the trace may ask for amounts per family, and
 * families are the catalogue's.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/map.h"
#include "sim/scenario.h"
#include "sim/work_bound.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"
#include "trace/jobs_csv.h"
#include "trace/matrix_csv.h"
#include "trace/short_doc.h"
#include "trace/synthetic.h"

/* Steps that a scenario spends on the bound of its work: at most a second or two, once. */
enum { BOUND_NODES = 4000000 };

/* 'file' as seen from the folder of 'beside'. */
static const char *resolve(const char *file, const char *beside, struct arena *arena)
{
    const char *slash = strrchr(beside, '/');
    const size_t folder = slash != NULL && file[0] != '/' ? (size_t)(slash - beside) + 1 : 0;
    const size_t size = folder + strlen(file) + 1;
    char *path = arena_alloc(arena, size, 1);

    (void)snprintf(path, size, "%.*s%s", (int)folder, beside, file);
    return path;
}

/* The last part of the path, without its suffix. */
static const char *stem(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    const size_t length = dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base);
    char *name = arena_alloc(arena, length + 1, 1);

    (void)snprintf(name, length + 1, "%s", base);
    return name;
}

static int load_text(const char *path, struct loaded_scenario *loaded, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = scenario_parse(file.text, file.length, &loaded->arena, &loaded->scenario, reterr);
    input_file_done(&file);
    if (rc < 0)
        return error_prefix(reterr, rc, path);
    if (loaded->scenario.name == NULL)
        loaded->scenario.name = stem(path, &loaded->arena);
    return 0;
}

static int load_catalogue(const char *path, struct loaded_scenario *loaded, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = catalogue_file_read(file.text, file.length, &loaded->catalogue, reterr);
    input_file_done(&file);
    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

/* The machines that are owned, in the catalogue and in the run. */
static int add_owned(const char *path, struct loaded_scenario *loaded, struct error *reterr)
{
    const struct owned_doc *owned = &loaded->scenario.owned;
    struct sim_owned *rows = ARENA_ARRAY(&loaded->arena, struct sim_owned, owned->count);
    int rc = 0;

    for (uint32_t i = 0; rc == 0 && i < owned->count; i++) {
        rows[i].count = owned->rows[i].count;
        if (rows[i].count > 0)
            rc = owned_entry_add(&owned->rows[i], &loaded->catalogue, &rows[i].offer, reterr);
    }
    loaded->scenario.run.owned = rows;
    loaded->scenario.run.owned_count = owned->count;
    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

static int read_trace(const char *path, struct loaded_scenario *loaded, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = jobs_csv_read(file.text, file.length, &loaded->catalogue.families, &loaded->trace, reterr);
    input_file_done(&file);
    if (rc < 0)
        return error_prefix(reterr, rc, path);
    if (loaded->trace.job_count == 0)
        return error_set(reterr, -EINVAL, "%s: has no jobs, so there is nothing to simulate", path);
    return 0;
}

/* The seed is mixed, so that the trace and what goes wrong draw from different numbers. */
static int draw_trace(struct loaded_scenario *loaded, struct error *reterr)
{
    const struct scenario *scenario = &loaded->scenario;
    struct synthetic_spec spec = scenario->drawn.spec;
    struct trace trace;

    spec.seed = map_mix(scenario->drawn.has_seed ? spec.seed : scenario->run.seed);

    const int rc = synthetic_draw(&spec, &trace, reterr);

    if (rc < 0)
        return rc;
    trace_done(&loaded->trace);
    loaded->trace = trace;
    return 0;
}

static int load_trace(const char *path, struct loaded_scenario *loaded, struct error *reterr)
{
    const char *file = loaded->scenario.trace_file;

    if (file != NULL)
        return read_trace(resolve(file, path, &loaded->arena), loaded, reterr);

    const int rc = draw_trace(loaded, reterr);

    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

static int load_matrix(const char *path, struct loaded_scenario *loaded, struct error *reterr)
{
    const double unmeasured = loaded->scenario.pair_rate;
    struct input_file file = { 0 };
    struct colocation_matrix matrix;
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = matrix_csv_read(file.text, file.length, unmeasured, &matrix, reterr);
    input_file_done(&file);
    if (rc < 0)
        return error_prefix(reterr, rc, path);
    contention_init_matrix(&loaded->contention, &loaded->trace.shapes.workloads, &matrix,
                           unmeasured);
    colocation_matrix_done(&matrix);
    return 0;
}

static int load_contention(const char *path, struct loaded_scenario *loaded, struct error *reterr)
{
    const struct scenario *scenario = &loaded->scenario;
    const uint32_t workloads = loaded->trace.shapes.workloads.count;

    if (scenario->interference == INTERFERENCE_NONE)
        return 0;
    if (workloads > LIMIT_CONTENTION_NAMES)
        return error_set(reterr, -E2BIG,
                         "%s: the trace has %u workloads, and interference is known for at most "
                         "%d; say 'interference: none', or give fewer names",
                         path, workloads, LIMIT_CONTENTION_NAMES);
    if (scenario->interference == INTERFERENCE_MATRIX)
        return load_matrix(resolve(scenario->matrix_file, path, &loaded->arena), loaded, reterr);
    contention_init_uniform(&loaded->contention, workloads, scenario->pair_rate);
    return 0;
}

static int load_series(const char *path, const struct scenario_availability *of,
                       struct loaded_scenario *loaded, struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = scenario_availability_read(&of->of, file.text, file.length, &loaded->catalogue,
                                    &loaded->arena, &loaded->scenario.run.faults.market, reterr);
    input_file_done(&file);
    return rc < 0 ? error_prefix(reterr, rc, path) : 0;
}

static int load_losses(const char *path, struct loaded_scenario *loaded, struct error *reterr)
{
    const struct scenario_losses *losses = &loaded->scenario.losses;
    int rc = scenario_losses_resolve(losses, &loaded->catalogue, &loaded->arena,
                                     &loaded->scenario.run.faults.market, reterr);

    if (rc == 0)
        rc = short_doc_check(&loaded->scenario.run.short_pool, &loaded->catalogue, reterr);
    if (rc < 0)
        return error_prefix(reterr, rc, path);
    for (uint32_t i = 0; rc == 0 && i < losses->series_count; i++)
        rc = load_series(resolve(losses->series[i].file, path, &loaded->arena), &losses->series[i],
                         loaded, reterr);
    return rc;
}

static const struct contention *contention_of(const struct loaded_scenario *loaded)
{
    return loaded->scenario.interference != INTERFERENCE_NONE ? &loaded->contention : NULL;
}

static void bound_work(struct loaded_scenario *loaded)
{
    loaded->work_bound =
        work_bound(&loaded->trace, &loaded->catalogue, contention_of(loaded), BOUND_NODES);
}

int scenario_load(const char *path, struct loaded_scenario *ret, struct error *reterr)
{
    struct loaded_scenario loaded = { 0 };

    arena_init(&loaded.arena);
    catalogue_init(&loaded.catalogue);
    trace_init(&loaded.trace);

    int rc = load_text(path, &loaded, reterr);

    if (rc == 0)
        rc = load_catalogue(resolve(loaded.scenario.catalogue_file, path, &loaded.arena), &loaded,
                            reterr);
    if (rc == 0)
        rc = load_losses(path, &loaded, reterr);
    if (rc == 0)
        rc = add_owned(path, &loaded, reterr);
    if (rc == 0)
        rc = load_trace(path, &loaded, reterr);
    if (rc == 0)
        rc = load_contention(path, &loaded, reterr);
    if (rc == 0)
        scenario_markets_apply(&loaded.scenario.markets, &loaded.trace);
    if (rc < 0) {
        loaded_scenario_done(&loaded);
        return rc;
    }
    *ret = loaded;
    shapes_bind(&ret->trace.shapes, &ret->catalogue);
    bound_work(ret);
    return 0;
}

int loaded_scenario_reseed(struct loaded_scenario *loaded, uint64_t seed, struct error *reterr)
{
    const bool draw = loaded->scenario.trace_file == NULL && !loaded->scenario.drawn.has_seed &&
                      loaded->scenario.run.seed != seed;

    loaded->scenario.run.seed = seed;
    /* Shapes and workloads are the mix's, whatever is drawn: what was loaded for them stays. */
    if (!draw)
        return 0;

    const int rc = draw_trace(loaded, reterr);

    if (rc < 0)
        return rc;
    scenario_markets_apply(&loaded->scenario.markets, &loaded->trace);
    shapes_bind(&loaded->trace.shapes, &loaded->catalogue);
    if (loaded->is_fixed)
        trace_fix(&loaded->trace);
    bound_work(loaded);
    return 0;
}

void loaded_scenario_fix(struct loaded_scenario *loaded)
{
    loaded->is_fixed = true;
    trace_fix(&loaded->trace);
}

void loaded_scenario_done(struct loaded_scenario *loaded)
{
    contention_done(&loaded->contention);
    trace_done(&loaded->trace);
    catalogue_done(&loaded->catalogue);
    arena_done(&loaded->arena);
}

/*
 * Where machines are lost faster than tasks can finish there is no end. A run is given up when the
 * last job has been there for a hundred times the longest runtime, and a month for all the rest.
 */
static msec_t give_up_after(const struct trace *trace)
{
    msec_t longest = 0;

    for (uint32_t i = 0; i < trace->job_count; i++) {
        if (trace->jobs[i].work_ms > longest)
            longest = trace->jobs[i].work_ms;
    }
    return 100 * longest + 30 * (24 * MSEC_PER_HOUR);
}

struct sim_config loaded_scenario_config(const struct loaded_scenario *loaded,
                                         const struct scenario_policy *policy)
{
    struct sim_config config = loaded->scenario.run;

    config.trace = &loaded->trace;
    config.give_up_ms = give_up_after(&loaded->trace);
    config.catalogue = &loaded->catalogue;
    config.contention = contention_of(loaded);
    config.work_bound = loaded->work_bound;
    config.policy = policy->policy;
    for (uint32_t i = 0; i < POLICY_OPTIONS_MAX; i++)
        config.option[i] = policy->option[i];
    return config;
}
