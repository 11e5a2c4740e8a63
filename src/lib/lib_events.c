/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "lib/lib_private.h"

enum {
    JOB_LEAST = sizeof(struct stint_job),
    NAMES_MAX = 1 << 20, /* different ones; what comes later is of no name */
};

static int tell_engine(struct stint_controller *controller, const struct engine_event *event)
{
    if (controller == NULL || !lib_is_time(event->at))
        return -EINVAL;

    const int rc = lib_enter(controller);

    if (rc < 0)
        return rc;
    controller_on_engine(controller->control, event);
    lib_leave(controller);
    return 0;
}

static int tell_cloud(struct stint_controller *controller, const struct cloud_event *event)
{
    if (controller == NULL || !lib_is_time(event->at))
        return -EINVAL;

    const int rc = lib_enter(controller);

    if (rc < 0)
        return rc;
    controller_on_cloud(controller->control, event);
    lib_leave(controller);
    return 0;
}

/*
 * The engine.
 */

static uint32_t number_of(struct names *names, const char *name)
{
    const char *text = name != NULL ? name : "";
    const size_t length = strlen(text);

    return names->count < NAMES_MAX ? names_add(names, text, length)
                                    : names_find(names, text, length);
}

static const char *job_fault(const struct stint_controller *controller, const struct stint_job *job)
{
    if (job->task_count == 0 || job->first_task > UINT64_MAX - job->task_count)
        return "a job has at least one task, and their ids do not wrap";
    if (job->shape >= controller->shapes.count)
        return "there is no such shape";
    if (!lib_is_time(job->arrived_at) ||
        (job->estimate_ms > LIMIT_TIME_MS && job->estimate_ms != STINT_NEVER))
        return "a time is below 0 or above STINT_TIME_MAX";
    if ((job->name != NULL && strnlen(job->name, LIMIT_NAME + 1) > LIMIT_NAME) ||
        (job->user != NULL && strnlen(job->user, LIMIT_NAME + 1) > LIMIT_NAME))
        return "a name is longer than 256 bytes";
    return NULL;
}

static bool has_known_task(const struct view *view, const struct stint_job *job)
{
    for (uint32_t i = 0; i < job->task_count; i++) {
        if (view_find_task(view, job->first_task + i) != ROW_NONE)
            return true;
    }
    return false;
}

/* 0, or why the job cannot be taken. */
static int check_job(const struct stint_controller *controller, const struct stint_job *job,
                     struct stint_error *reterr)
{
    const struct view *view = controller_view(controller->control);
    const char *fault = job_fault(controller, job);

    if (fault != NULL)
        return lib_fail(reterr, -EINVAL, fault);
    if (view_find_job(view, job->id) != ROW_NONE)
        return 0; /* only its id is looked at */
    if (job->task_count > LIMIT_TASKS_PER_JOB || view->task.living > LIMIT_TASKS - job->task_count)
        return lib_fail(reterr, -E2BIG, "more than 1,048,576 tasks in a job or 16,777,216 in all");
    if (has_known_task(view, job))
        return lib_fail(reterr, -EEXIST, "another job has a task of the same id");
    return 0;
}

/* The same for a change: all tasks that are known have to be its own. */
static int check_change(const struct stint_controller *controller, const struct stint_job *job,
                        struct stint_error *reterr)
{
    const struct view *view = controller_view(controller->control);
    const char *fault = job_fault(controller, job);
    const uint32_t row = view_find_job(view, job->id);

    if (fault != NULL)
        return lib_fail(reterr, -EINVAL, fault);
    if (row == ROW_NONE)
        return lib_fail(reterr, -ENOENT, "there is no such job");
    if (job->task_count > LIMIT_TASKS_PER_JOB || view->task.living > LIMIT_TASKS - job->task_count)
        return lib_fail(reterr, -E2BIG, "more than 1,048,576 tasks in a job or 16,777,216 in all");
    for (uint32_t i = 0; i < job->task_count; i++) {
        const uint32_t task = view_find_task(view, job->first_task + i);

        if (task != ROW_NONE && view->task.job[task] != row)
            return lib_fail(reterr, -EEXIST, "another job has a task of the same id");
    }
    return 0;
}

/* The job as the controller knows it; 0, or why it cannot be. */
static int read_job(struct stint_controller *controller, int64_t at, const struct stint_job *job,
                    bool is_known, struct job_spec *ret, struct stint_error *reterr)
{
    struct stint_job given;

    if (controller == NULL || lib_take(&given, sizeof(given), job, JOB_LEAST) < 0)
        return lib_fail(reterr, -EINVAL,
                        "no controller, no job, or one that stint_job_init did not see");
    if (!lib_is_time(at))
        return lib_fail(reterr, -EINVAL, "a time is below 0 or above STINT_TIME_MAX");
    if (controller->is_busy)
        return lib_fail(reterr, -EBUSY, "called from inside a port");

    const int rc =
        is_known ? check_change(controller, &given, reterr) : check_job(controller, &given, reterr);

    if (rc < 0)
        return rc;

    *ret = (struct job_spec){
        .id = given.id,
        .first_task_id = given.first_task,
        .name = number_of(&controller->job_names, given.name),
        .user = number_of(&controller->user_names, given.user),
        .shape = given.shape,
        .task_count = given.task_count,
        .gang = given.gang,
        .fixed = given.fixed,
        .spread = given.spread,
        .priority = given.priority,
        .arrived_at = given.arrived_at,
        .estimate_ms = given.estimate_ms < 0 ? -1 : given.estimate_ms,
    };

    return 0;
}

int stint_engine_job_arrived(struct stint_controller *controller, int64_t at,
                             const struct stint_job *job, struct stint_error *reterr)
{
    struct engine_event event = { .kind = ENGINE_JOB_ARRIVED, .at = at };
    const int rc = read_job(controller, at, job, false, &event.job, reterr);

    return rc < 0 ? rc : tell_engine(controller, &event);
}

int stint_engine_job_changed(struct stint_controller *controller, int64_t at,
                             const struct stint_job *job, struct stint_error *reterr)
{
    struct engine_event event = { .kind = ENGINE_JOB_CHANGED, .at = at, .changes = CHANGE_ALL };
    const int rc = read_job(controller, at, job, true, &event.job, reterr);

    if (event.job.estimate_ms < 0) /* as before */
        event.changes &= ~(uint32_t)CHANGE_ESTIMATE;
    return rc < 0 ? rc : tell_engine(controller, &event);
}

int stint_engine_task_withdrawn(struct stint_controller *controller, int64_t at, uint64_t task)
{
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_TASK_WITHDRAWN,
                                       .at = at,
                                       .task = task,
                                   });
}

int stint_engine_job_withdrawn(struct stint_controller *controller, int64_t at, uint64_t job)
{
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_JOB_WITHDRAWN,
                                       .at = at,
                                       .job = { .id = job },
                                   });
}

int stint_engine_node_ready(struct stint_controller *controller, int64_t at, uint64_t instance,
                            const struct stint_resources *capacity)
{
    struct engine_event event = {
        .kind = ENGINE_NODE_READY,
        .at = at,
        .instance = instance,
        .has_capacity = capacity != NULL,
    };

    if (capacity != NULL && !lib_read_resources(capacity, &event.capacity))
        return -EINVAL;
    return tell_engine(controller, &event);
}

int stint_engine_node_lost(struct stint_controller *controller, int64_t at, uint64_t instance,
                           bool runs_on)
{
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_NODE_LOST,
                                       .at = at,
                                       .instance = instance,
                                       .runs_on = runs_on,
                                   });
}

int stint_engine_node_left(struct stint_controller *controller, int64_t at, uint64_t instance)
{
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_NODE_LEFT,
                                       .at = at,
                                       .instance = instance,
                                   });
}

int stint_engine_task_started(struct stint_controller *controller, int64_t at, uint64_t task,
                              uint64_t key)
{
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_TASK_STARTED,
                                       .at = at,
                                       .task = task,
                                       .key = key,
                                   });
}

int stint_engine_task_found(struct stint_controller *controller, int64_t at, uint64_t task,
                            uint64_t key, uint64_t instance, int64_t started_at)
{
    if (started_at < 0 || started_at > at)
        return -EINVAL;
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_TASK_FOUND,
                                       .at = at,
                                       .task = task,
                                       .key = key,
                                       .instance = instance,
                                       .started_at = started_at,
                                   });
}

int stint_engine_task_rate(struct stint_controller *controller, int64_t at, uint64_t task,
                           uint64_t key, uint32_t rate_ppm)
{
    if (rate_ppm == 0)
        return -EINVAL;
    return tell_engine(controller,
                       &(struct engine_event){
                           .kind = ENGINE_TASK_RATE,
                           .at = at,
                           .task = task,
                           .key = key,
                           .rate_ppm = rate_ppm < RATE_FULL_PPM ? rate_ppm : RATE_FULL_PPM,
                       });
}

int stint_engine_task_stopped(struct stint_controller *controller, int64_t at, uint64_t task,
                              uint64_t key)
{
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_TASK_STOPPED,
                                       .at = at,
                                       .task = task,
                                       .key = key,
                                   });
}

int stint_engine_task_kept(struct stint_controller *controller, int64_t at, uint64_t task,
                           uint64_t key, int64_t until)
{
    if (!lib_is_time(until))
        return -EINVAL;
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_TASK_KEPT,
                                       .at = at,
                                       .task = task,
                                       .key = key,
                                       .until = until,
                                   });
}

int stint_engine_task_lost(struct stint_controller *controller, int64_t at, uint64_t task,
                           uint64_t key)
{
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_TASK_LOST,
                                       .at = at,
                                       .task = task,
                                       .key = key,
                                   });
}

int stint_engine_task_finished(struct stint_controller *controller, int64_t at, uint64_t task)
{
    return tell_engine(controller, &(struct engine_event){
                                       .kind = ENGINE_TASK_FINISHED,
                                       .at = at,
                                       .task = task,
                                   });
}

int stint_engine_listed(struct stint_controller *controller, int64_t at, uint64_t key)
{
    return tell_engine(controller,
                       &(struct engine_event){ .kind = ENGINE_LISTED, .at = at, .key = key });
}

/*
 * The cloud.
 */

int stint_cloud_running(struct stint_controller *controller, int64_t at, uint64_t instance,
                        int64_t billed_from)
{
    if (billed_from < 0 || billed_from > at)
        return -EINVAL;
    return tell_cloud(controller, &(struct cloud_event){
                                      .kind = CLOUD_RUNNING,
                                      .at = at,
                                      .instance = instance,
                                      .billed_from = billed_from,
                                  });
}

/* What is billed was not refused: to forget it would lose its bill. */
static bool is_billed(const struct stint_controller *controller, uint64_t instance)
{
    const struct view *view = controller_view(controller->control);
    const uint32_t row = view_find_instance(view, instance);

    return row != ROW_NONE && view->instance.billed_from[row] >= 0;
}

int stint_cloud_refused(struct stint_controller *controller, int64_t at, uint64_t instance,
                        int64_t for_ms)
{
    if (controller == NULL || !lib_is_time(for_ms) || is_billed(controller, instance))
        return -EINVAL;
    return tell_cloud(controller, &(struct cloud_event){
                                      .kind = CLOUD_REFUSED,
                                      .at = at,
                                      .instance = instance,
                                      .for_ms = for_ms,
                                  });
}

int stint_cloud_notice(struct stint_controller *controller, int64_t at, uint64_t instance,
                       bool may_stay, int64_t until)
{
    if (!lib_is_time(until))
        return -EINVAL;
    return tell_cloud(controller, &(struct cloud_event){
                                      .kind = CLOUD_NOTICE,
                                      .at = at,
                                      .instance = instance,
                                      .may_stay = may_stay,
                                      .until = until,
                                  });
}

int stint_cloud_outdated(struct stint_controller *controller, int64_t at, uint64_t instance,
                         bool is_outdated)
{
    return tell_cloud(controller, &(struct cloud_event){
                                      .kind = CLOUD_OUTDATED,
                                      .at = at,
                                      .instance = instance,
                                      .is_outdated = is_outdated,
                                  });
}

int stint_cloud_gone(struct stint_controller *controller, int64_t at, uint64_t instance,
                     int64_t billed_from, int64_t billed_to)
{
    if (billed_from >= 0 && (billed_to < billed_from || !lib_is_time(billed_to)))
        return -EINVAL;
    return tell_cloud(controller, &(struct cloud_event){
                                      .kind = CLOUD_GONE,
                                      .at = at,
                                      .instance = instance,
                                      .offer = OFFER_NONE,
                                      .billed_from = billed_from < 0 ? -1 : billed_from,
                                      .billed_to = billed_from < 0 ? -1 : billed_to,
                                  });
}

int stint_cloud_found(struct stint_controller *controller, int64_t at, uint64_t instance,
                      uint32_t offer, int64_t billed_from)
{
    if (billed_from > at || instance > INT64_MAX)
        return -EINVAL;
    return tell_cloud(controller, &(struct cloud_event){
                                      .kind = CLOUD_FOUND,
                                      .at = at,
                                      .instance = instance,
                                      .offer = offer,
                                      .billed_from = billed_from < 0 ? -1 : billed_from,
                                  });
}

int stint_cloud_listed(struct stint_controller *controller, int64_t at, uint64_t key)
{
    return tell_cloud(controller,
                      &(struct cloud_event){ .kind = CLOUD_LISTED, .at = at, .key = key });
}
