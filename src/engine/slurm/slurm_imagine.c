/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job that was not submitted, as it would be announced: read by the same functions as those that stint-slurm reports, but
 * into shapes of the caller's, so that nothing of the engine is changed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"
#include "engine/slurm/slurm_job_line.h"

static uint32_t known_name(const struct names *names, const char *text)
{
    return text == NULL ? NAME_NONE : names_find(names, text, strnlen(text, LIMIT_NAME));
}

static int read_wish(struct slurm_engine *engine, const struct slurm_job_line *line,
                     struct shapes *shapes, struct job_spec *ret, struct error *reterr)
{
    struct slurm_shapes mine = { .catalogue = engine->shapes.catalogue, .shapes = shapes };

    slurm_shapes_init(&mine);

    const struct slurm_job_wish asks = slurm_job_line_wish(engine, &mine, line);
    const uint32_t tasks = asks.task_count;
    const int rc =
        asks.wish.shape != SHAPE_NONE
            ? 0
            : error_set(reterr, -ERANGE, "%s", names_text(&mine.reasons, asks.wish.reason));

    slurm_shapes_done(&mine);
    if (rc < 0)
        return rc;
    *ret = (struct job_spec){
        .id = UINT64_MAX, /* no job of Slurm's has it */
        .first_task_id = UINT64_MAX - tasks,
        .name = known_name(engine->config.job_names, line->name),
        .user = known_name(engine->config.users, line->user),
        .shape = asks.wish.shape,
        .task_count = tasks,
        .caps = asks.rules.caps,
        .gang = tasks > 1,
        .fixed = !slurm_job_line_is_movable(engine, line),
        .spread = tasks > 1,
        .arrived_at = engine->now,
        .estimate_ms = line->limit_s == NUMBER_NONE || line->limit_s > LIMIT_TIME_MS / 1000
                           ? -1
                           : (msec_t)line->limit_s * MSEC_PER_SEC,
        .rules = slurm_market_rules(&asks.rules, engine->now),
        .burst = asks.rules.burst,
    };
    return 0;
}

int slurm_engine_imagine(struct slurm_engine *engine, const char *fields, struct shapes *shapes,
                         struct job_spec *ret, struct error *reterr)
{
    static const char head[] = "job id=1 state=pending ";
    const size_t length = sizeof(head) - 1 + strlen(fields);
    char *text = mem_alloc(length + 2, 1);
    struct slurm_job_line job;
    struct line line;
    int rc;

    (void)snprintf(text, length + 2, "%s%s", head, fields);
    rc = line_parse(text, length, &line, reterr);
    if (rc == 0 && !slurm_job_line_read(&line, &job))
        rc = error_set(reterr, -EINVAL, "a field of the job is malformed");
    if (rc == 0)
        rc = read_wish(engine, &job, shapes, ret, reterr);
    mem_free(text);
    return rc;
}
