/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second view of the same world, to try out what would be decided if something else were in it.
 */
#include "base/mem.h"
#include "model/view.h"

#define COPY_COLUMN(type, name) \
    to->name = mem_copy(from->name, from->count, from->room, sizeof(*from->name));

static void copy_tasks(struct task_table *to, const struct task_table *from)
{
    *to = *from;
    TASK_COLUMNS(COPY_COLUMN)
}

static void copy_jobs(struct job_table *to, const struct job_table *from)
{
    *to = *from;
    JOB_COLUMNS(COPY_COLUMN)
}

static void copy_instances(struct instance_table *to, const struct instance_table *from)
{
    *to = *from;
    INSTANCE_COLUMNS(COPY_COLUMN)
}

static void copy_offers(struct view *to, const struct view *from)
{
    const uint32_t count = from->offer_count;

    to->offer_price = mem_copy(from->offer_price, count, count, sizeof(*from->offer_price));
    to->offer_blocked_until =
        mem_copy(from->offer_blocked_until, count, count, sizeof(*from->offer_blocked_until));
    to->offer_doubted_until =
        mem_copy(from->offer_doubted_until, count, count, sizeof(*from->offer_doubted_until));
    to->offer_lasts = mem_copy(from->offer_lasts, count, count, sizeof(*from->offer_lasts));
    to->offer_risk_changed =
        mem_copy(from->offer_risk_changed, count, count, sizeof(*from->offer_risk_changed));
}

void view_copy(struct view *to, const struct view *from, const struct shapes *shapes)
{
    *to = *from;
    to->shapes = shapes;
    copy_tasks(&to->task, &from->task);
    copy_jobs(&to->job, &from->job);
    copy_instances(&to->instance, &from->instance);
    map_copy(&to->task_by_id, &from->task_by_id);
    map_copy(&to->job_by_id, &from->job_by_id);
    map_copy(&to->instance_by_id, &from->instance_by_id);
    to->changes.rows = mem_copy(from->changes.rows, from->changes.count, from->changes.room,
                                sizeof(*from->changes.rows));
    copy_offers(to, from);
    to->shape_offer = mem_copy(from->shape_offer, from->shapes_priced, from->shapes_offer_room,
                               sizeof(*from->shape_offer));
    to->shape_price = mem_copy(from->shape_price, from->shapes_priced, from->shapes_priced_room,
                               sizeof(*from->shape_price));
}
