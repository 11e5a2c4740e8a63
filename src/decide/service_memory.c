/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The question and the answer of the last plan for each service. A question is the same only if all of it is, so
 * what is remembered is what would be found again.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "decide/service_pools_private.h"

struct service_row {
    uint64_t job; /* its id */
    int64_t capacity;
    uint32_t short_ppb;
    uint32_t count; /* of the offers */
    struct promise_offer offers[SERVICE_OFFERS_ROOM];
    uint32_t target[SERVICE_OFFERS_ROOM];
    bool holds;
};

struct service_memory {
    struct service_row *rows;
    uint32_t count;
    uint32_t room;
};

struct service_memory *service_memory_create(void)
{
    return mem_alloc(1, sizeof(struct service_memory));
}

void service_memory_destroy(struct service_memory *memory)
{
    if (memory == NULL)
        return;
    mem_free(memory->rows);
    mem_free(memory);
}

static struct service_row *find_row(const struct service_memory *memory, uint64_t job)
{
    for (uint32_t i = 0; i < memory->count; i++) {
        if (memory->rows[i].job == job)
            return &memory->rows[i];
    }
    return NULL;
}

static bool is_same_offer(const struct promise_offer *a, const struct promise_offer *b)
{
    return a->capacity == b->capacity && a->price == b->price && fabs(a->down - b->down) <= 0 &&
           a->type == b->type && a->is_safe == b->is_safe;
}

bool service_recall(struct service *service, bool *ret_holds)
{
    const struct service_memory *memory = service->all->question->memory;
    const struct view *view = service->all->view;
    const struct service_row *row =
        memory != NULL ? find_row(memory, view->job.id[service->job]) : NULL;

    if (row == NULL || row->count != service->rentable ||
        row->capacity != view->job.tasks_left[service->job] ||
        row->short_ppb != view->job.short_ppb[service->job])
        return false;
    for (uint32_t i = 0; i < row->count; i++) {
        if (!is_same_offer(&row->offers[i], &service->offers[i]))
            return false;
    }
    memcpy(service->target, row->target, sizeof(row->target));
    *ret_holds = row->holds;
    return true;
}

/* A new row, where there may be one of a job that is no more. */
static struct service_row *add_row(struct service_memory *memory, const struct view *view)
{
    for (uint32_t i = 0; i < memory->count; i++) {
        if (view_find_job(view, memory->rows[i].job) == ROW_NONE)
            return &memory->rows[i];
    }
    MEM_ROOM(memory->rows, memory->room, memory->count + 1);
    return &memory->rows[memory->count++];
}

void service_remember(const struct service *service, bool holds)
{
    struct service_memory *memory = service->all->question->memory;
    const struct view *view = service->all->view;
    const uint64_t id = view->job.id[service->job];
    struct service_row *row;

    if (memory == NULL)
        return;
    row = find_row(memory, id);
    if (row == NULL)
        row = add_row(memory, view);
    row->job = id;
    row->capacity = view->job.tasks_left[service->job];
    row->short_ppb = view->job.short_ppb[service->job];
    row->count = service->rentable;
    row->holds = holds;
    memcpy(row->offers, service->offers, sizeof(row->offers));
    memcpy(row->target, service->target, sizeof(row->target));
}
