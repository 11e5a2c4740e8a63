/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/replay_input.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>

#include "base/mem.h"
#include "sim/work_bound.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"
#include "trace/input_text.h"
#include "trace/jobs_csv.h"

/* Steps that are spent on the bound of the work: at most a second or two, once. */
enum { BOUND_NODES = 4000000 };

/* ---- machines ---- */

/* A copy without the spot market. Types keep their order, so families keep their numbers. */
static void without_spot(const struct catalogue *all, struct catalogue *ret)
{
    catalogue_init(ret);
    for (uint32_t i = 0; i < all->type_count; i++) {
        const struct machine_type *type = &all->types[i];

        const uint32_t row = catalogue_add_type(ret, names_text(&all->names, type->name),
                                                names_text(&all->families, type->family), type);

        catalogue_copy_words(ret, row, all, i);
    }
    for (uint32_t i = 0; i < all->offer_count; i++) {
        const struct offer *offer = &all->offers[i];
        const char *zone = offer->zone != NAME_NONE ? names_text(&all->names, offer->zone) : NULL;

        if (offer->market != MARKET_SPOT)
            (void)catalogue_add_offer(ret, zone, offer);
    }
}

static int load_catalogue(const struct replay_source *source, struct catalogue *ret,
                          struct error *reterr)
{
    struct input_file file = { 0 };
    struct catalogue all;
    int rc = input_file_read(source->catalogue_path, &file, reterr);

    if (rc < 0)
        return rc;
    rc = catalogue_file_read(file.text, file.length, &all, reterr);
    input_file_done(&file);
    if (rc < 0)
        return error_prefix(reterr, rc, source->catalogue_path);
    if (source->spot) {
        *ret = all;
        return 0;
    }

    struct catalogue kept;

    without_spot(&all, &kept);
    catalogue_done(&all);
    if (kept.offer_count == 0) {
        catalogue_done(&kept);
        return error_set(reterr, -EINVAL, "%s: has nothing but spot offers: allow them by --spot",
                         source->catalogue_path);
    }
    *ret = kept;
    return 0;
}

/* ---- history ---- */

static void leave_out(struct replay_input *input, const char *key, const char *text, uint32_t count)
{
    assert(input->reason_count < REPLAY_REASONS_MAX);
    input->left_out[input->reason_count++] = (struct replay_reason){ key, text, count };
}

static int take_sacct(const struct replay_source *source, const struct input_file *file,
                      struct replay_input *input, struct error *reterr)
{
    struct sacct_log log;
    const int rc = sacct_read(file->text, file->length, source->demand, &log, reterr);

    if (rc < 0)
        return rc;
    input->trace = log.trace;
    input->records = log.records;
    input->still_running = log.still_running;
    input->start_s = log.start_s;
    input->waits = log.waits;
    leave_out(input, "pending", "had not started", log.left_out.pending);
    leave_out(input, "never_ran", "ended without having run", log.left_out.never_ran);
    leave_out(input, "no_start", "got no machine that booted", log.left_out.no_start);
    leave_out(input, "no_submit", "came at an unknown time", log.left_out.no_submit);
    leave_out(input, "no_size", "had an unknown size", log.left_out.no_size);
    return 0;
}

static int take_swf(const struct replay_source *source, const struct input_file *file,
                    struct replay_input *input, struct error *reterr)
{
    struct swf_log log;
    const int rc = swf_read(file->text, file->length, &source->swf, &log, reterr);

    if (rc < 0)
        return rc;
    input->trace = log.trace;
    input->records = log.records;
    if (log.unix_start_s >= 0)
        input->start_s = log.unix_start_s + log.first_submit_ms / MSEC_PER_SEC;
    input->waits = log.waits;
    leave_out(input, "never_ran", "never ran", log.left_out.never_ran);
    leave_out(input, "partial", "are parts of others", log.left_out.partial);
    leave_out(input, "no_submit", "came at an unknown time", log.left_out.no_submit);
    leave_out(input, "no_processors", "had an unknown size", log.left_out.no_processors);
    return 0;
}

static int take_jobs(const struct input_file *file, struct replay_input *input,
                     struct error *reterr)
{
    const int rc =
        jobs_csv_read(file->text, file->length, &input->catalogue.families, &input->trace, reterr);

    input->records = input->trace.job_count;
    return rc;
}

static int load_history(const struct replay_source *source, struct replay_input *input,
                        struct error *reterr)
{
    struct input_file file = { 0 };
    int rc = input_file_read(source->path, &file, reterr);

    if (rc < 0)
        return rc;
    switch (source->kind) {
    case REPLAY_SACCT:
        rc = take_sacct(source, &file, input, reterr);
        break;
    case REPLAY_SWF:
        rc = take_swf(source, &file, input, reterr);
        break;
    case REPLAY_JOBS:
        rc = take_jobs(&file, input, reterr);
        break;
    }
    input_file_done(&file);
    return rc < 0 ? error_prefix(reterr, rc, source->path) : 0;
}

/* What a history does not say: whether running tasks can be saved, and how long that takes. A table of jobs says it. */
static void set_move(struct trace *trace, msec_t move_ms)
{
    for (uint32_t i = 0; i < trace->job_count; i++)
        trace->jobs[i].fixed = move_ms < 0;
    if (move_ms < 0)
        return;
    for (uint32_t i = 0; i < trace->shapes.count; i++)
        trace->shapes.rows[i].delays.upload_ms = move_ms;
}

/* ---- what fits ---- */

static bool fits_somewhere(const struct replay_input *input, uint32_t shape)
{
    for (uint32_t i = 0; i < input->catalogue.offer_count; i++) {
        if (shape_fits_offer(&input->trace.shapes, shape, &input->catalogue, i))
            return true;
    }
    return false;
}

/* Leave out the jobs that no machine can hold. */
static void drop_what_fits_nowhere(struct replay_input *input)
{
    struct trace *trace = &input->trace;
    bool *fits = mem_alloc(trace->shapes.count, sizeof(*fits));
    uint32_t kept = 0;

    for (uint32_t i = 0; i < trace->shapes.count; i++)
        fits[i] = fits_somewhere(input, i);
    for (uint32_t i = 0; i < trace->job_count; i++) {
        if (fits[trace->jobs[i].shape])
            trace->jobs[kept++] = trace->jobs[i];
        else
            trace->task_total -= trace->jobs[i].task_count;
    }
    mem_free(fits);
    leave_out(input, "no_machine", "fit no machine of the catalogue", trace->job_count - kept);
    trace->job_count = kept;
}

static int check_jobs(const struct replay_source *source, const struct replay_input *input,
                      struct error *reterr)
{
    char reasons[256] = "";
    size_t used = 0;

    if (input->trace.job_count > 0)
        return 0;
    for (uint32_t i = 0; i < input->reason_count && used < sizeof(reasons); i++) {
        const struct replay_reason *reason = &input->left_out[i];

        if (reason->count > 0)
            used += (size_t)snprintf(reasons + used, sizeof(reasons) - used, "; %u %s",
                                     reason->count, reason->text);
    }
    return error_set(reterr, -EINVAL, "%s: there is no job to replay among %u records%s",
                     source->path, input->records, reasons);
}

static int add_owned(const struct replay_source *source, struct replay_input *input,
                     struct error *reterr)
{
    for (uint32_t i = 0; i < source->owned_count; i++) {
        const struct replay_owned *of = &source->owned[i];
        const uint32_t type = catalogue_find_type(&input->catalogue, of->type, of->length);

        if (type == UINT32_MAX)
            return error_set(reterr, -EINVAL,
                             "%s: has no type '%s' for --owned; take one that it has",
                             source->catalogue_path, text_excerpt(of->type, of->length).text);
        if (of->count == 0)
            continue;
        input->owned[input->owned_count++] = (struct sim_owned){
            .offer = catalogue_add_owned(&input->catalogue, type, of->per_hour),
            .count = of->count,
        };
    }
    return 0;
}

int replay_input_load(const struct replay_source *source, struct replay_input *ret,
                      struct error *reterr)
{
    struct replay_input input = { .start_s = -1 };

    catalogue_init(&input.catalogue);
    trace_init(&input.trace);

    int rc = load_catalogue(source, &input.catalogue, reterr);

    if (rc == 0)
        rc = add_owned(source, &input, reterr);
    if (rc == 0)
        rc = load_history(source, &input, reterr);
    if (rc == 0) {
        if (source->kind != REPLAY_JOBS)
            set_move(&input.trace, source->move_ms);
        shapes_bind(&input.trace.shapes, &input.catalogue);
        drop_what_fits_nowhere(&input);
        rc = check_jobs(source, &input, reterr);
    }
    if (rc < 0) {
        replay_input_done(&input);
        return rc;
    }
    *ret = input;
    shapes_bind(&ret->trace.shapes, &ret->catalogue); /* it has moved */
    ret->work_bound = work_bound(&ret->trace, &ret->catalogue, NULL, BOUND_NODES);
    return 0;
}

void replay_input_done(struct replay_input *input)
{
    trace_done(&input->trace);
    catalogue_done(&input->catalogue);
}
