/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What jobs say of their own speed. It becomes an event like those of the engine, of the next turn.
 */
#include <string.h>

#include "daemon/daemon_private.h"
#include "daemon/rate_report.h"

/* Whether the task's job is the user's; NULL is the superuser. */
static bool is_own(const struct daemon *daemon, const struct view *view, uint32_t task,
                   const char *user)
{
    const uint32_t owner = view->job.user[view->task.job[task]];

    return user == NULL ||
           (owner != NAME_NONE && strcmp(names_text(&daemon->users, owner), user) == 0);
}

const char *core_report_rate(struct daemon *daemon, const char *user, const char *text, size_t size)
{
    const struct view *view = controller_view(daemon->controller);
    struct rate_report report;

    if (rate_report_parse(text, size, &report) < 0)
        return "a report is a job and a rate from 0.000001 to 1, such as '12_3 0.83'";
    if (daemon->shadow != NULL)
        return "the daemon only watches (mode shadow)";

    const uint64_t id = daemon->engine_kind->find(daemon->engine, report.label);
    const uint32_t task = id != 0 ? view_find_task(view, id) : ROW_NONE;

    /* Whether there is a job of somebody else is nobody's business. */
    if (task == ROW_NONE || !is_own(daemon, view, task, user))
        return "you have no such job";
    if (view->task.state[task] != TASK_RUNNING)
        return "the job does not run";
    daemon_on_engine(daemon, &(struct engine_event){ .kind = ENGINE_TASK_RATE,
                                                     .at = daemon->now,
                                                     .task = id,
                                                     .key = view->task.run_key[task],
                                                     .rate_ppm = report.rate_ppm });
    return NULL;
}
