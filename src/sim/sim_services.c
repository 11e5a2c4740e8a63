/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For how long services are short of tasks: from when all tasks ran for the first time until the first of them ends.
 */
#include "base/mem.h"
#include "sim/world.h"

void sim_services_init(struct world *world)
{
    world->services = mem_alloc(world->config->trace->job_count, sizeof(*world->services));
}

bool sim_services_is(const struct trace_job *job)
{
    return job->estimate_ms == MSEC_NEVER && !(job->gang && job->task_count > 1);
}

static const struct trace_job *job_of(const struct world *world, uint32_t task)
{
    return &world->config->trace->jobs[world->tasks[task].job];
}

static void settle(struct world_service *service, uint32_t wanted, msec_t now)
{
    if (service->is_whole && !service->has_ended) {
        service->served_ms += now - service->at;
        service->short_ms += service->running < wanted ? now - service->at : 0;
    }
    service->at = now;
}

void sim_services_count(struct world *world, uint32_t task, bool runs)
{
    const struct trace_job *job = job_of(world, task);
    struct world_service *service = &world->services[world->tasks[task].job];

    if (!sim_services_is(job))
        return;
    settle(service, job->task_count, world->now);
    if (runs)
        service->running++;
    else
        service->running--;
    service->is_whole = service->is_whole || service->running == job->task_count;
}

void sim_services_end(struct world *world, uint32_t task)
{
    struct world_service *service = &world->services[world->tasks[task].job];

    settle(service, job_of(world, task)->task_count, world->now);
    service->has_ended = true;
}
