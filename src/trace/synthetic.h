/* SPDX-License-Identifier: Apache-2.0 */
/*
 * synthetic.h - draw a trace, so that examples and benchmarks need no outside data.
 *
 * Jobs arrive as a Poisson process, or evenly over a horizon; each takes a shape from a mix by its
 * weight, a runtime that is log-uniform between two bounds (as many from 1 to 10 minutes as from 10
 * to 100), and is a gang of several tasks with a given chance.
 *
 * Promises:  same spec, same trace. Each quality has random numbers of its own: to change, say, the
 *            share of gangs does not change the runtimes.
 * Bounds:    O(tasks + jobs log jobs); LIMIT_TASKS tasks, LIMIT_SHAPES shapes.
 */
#ifndef STINT_TRACE_SYNTHETIC_H
#define STINT_TRACE_SYNTHETIC_H

#include <stdint.h>

#include "base/error.h"
#include "base/units.h"
#include "model/shape.h"
#include "trace/trace.h"

struct synthetic_shape {
    struct shape_spec spec;
    uint32_t weight; /* of all weights together: its share of the jobs */
};

struct synthetic_spec {
    uint64_t seed;
    uint32_t task_count; /* of all jobs together, exactly */
    msec_t mean_gap_ms;  /* between two jobs; 0: there is a horizon instead */
    msec_t horizon_ms;   /* jobs arrive in [0, horizon); only if there is no gap */
    msec_t work_min_ms;  /* above 0 */
    msec_t work_max_ms;  /* at least work_min_ms */
    uint32_t gang_ppm;   /* jobs of a million that are gangs */
    uint32_t
        gang_tasks_max;  /* a gang has 2 to this many tasks, evenly; of no matter without gangs */
    uint32_t user_count; /* "user-0" and so on, evenly; 0: no job has a user */
    const struct synthetic_shape *mix;
    uint32_t mix_count;
};

/* A small mix of CPU, memory and accelerator work, for users without a trace. */
const struct synthetic_shape *synthetic_default_mix(uint32_t *ret_count);

/* Draw into 'ret', to be freed by trace_done. Refuses a spec outside of the bounds above. */
int synthetic_draw(const struct synthetic_spec *spec, struct trace *ret, struct error *reterr);

#endif
