/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs and arrays as rows: taken, found by their slot, and freed. A row that was freed is the next one to be taken, so that the tables
 * are no larger than the most jobs that there were at a time.
 *
 * Costs:  O(1) each.
 */
#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"

void slurm_job_drop_tasks(struct slurm_job *job)
{
    mem_free(job->many);
    job->one = (struct slurm_task){ .key = 0 };
    job->many = NULL;
    job->asked = 0;
    job->is_asked = false;
}

uint32_t slurm_array_row(struct slurm_engine *engine, uint32_t id)
{
    uint32_t row = map_get(&engine->by_array, id);

    if (row != MAP_NONE)
        return row;
    if (engine->array_free != INDEX_NONE) {
        row = engine->array_free;
        engine->array_free = engine->arrays[row].first_member;
    } else {
        row = engine->array_count++;
        MEM_ROOM(engine->arrays, engine->arrays_room, engine->array_count);
    }
    engine->arrays[row] = (struct slurm_array){
        .id = id,
        .first_member = INDEX_NONE,
        .last_member = INDEX_NONE,
        .cursor = INDEX_NONE,
    };
    map_put(&engine->by_array, id, row);
    return row;
}

static void join_array(struct slurm_engine *engine, uint32_t row, uint32_t array_id)
{
    const uint32_t at = slurm_array_row(engine, array_id);
    struct slurm_array *array = &engine->arrays[at];
    struct slurm_job *job = &engine->jobs[row];

    job->array = at;
    job->next_member = INDEX_NONE;
    job->prev_member = array->last_member;
    if (array->last_member != INDEX_NONE)
        engine->jobs[array->last_member].next_member = row;
    else
        array->first_member = row;
    array->last_member = row;
    if (array->cursor == INDEX_NONE)
        array->cursor = row;
}

static void leave_array(struct slurm_engine *engine, struct slurm_job *job)
{
    struct slurm_array *array = &engine->arrays[job->array];

    if (array->cursor == (uint32_t)(job - engine->jobs))
        array->cursor = job->next_member;
    if (job->prev_member != INDEX_NONE)
        engine->jobs[job->prev_member].next_member = job->next_member;
    else
        array->first_member = job->next_member;
    if (job->next_member != INDEX_NONE)
        engine->jobs[job->next_member].prev_member = job->prev_member;
    else
        array->last_member = job->prev_member;
    if (array->first_member == INDEX_NONE) {
        (void)map_remove(&engine->by_array, array->id);
        array->first_member = engine->array_free;
        engine->array_free = job->array;
    }
    job->array = INDEX_NONE;
}

/* The row of the slot, a new one if need be; INDEX_NONE: there are too many. */
uint32_t slurm_job_row(struct slurm_engine *engine, uint64_t slot, uint32_t array)
{
    uint32_t row = map_get(&engine->by_slot, slot);

    if (row != MAP_NONE)
        return row;
    if (engine->stats.jobs >= engine->config.jobs_max)
        return INDEX_NONE;
    if (engine->job_free != INDEX_NONE) {
        row = engine->job_free;
        engine->job_free = engine->jobs[row].next_member;
    } else {
        row = engine->job_count++;
        MEM_ROOM(engine->jobs, engine->jobs_room, engine->job_count);
    }
    engine->stats.jobs++;
    engine->jobs[row] = (struct slurm_job){
        .id = slot,
        .retry_at = MSEC_NEVER,
        .wish = { .shape = SHAPE_NONE, .reason = NAME_NONE },
        .cost_type = NAME_NONE,
        .reason = NAME_NONE,
        .refused = NAME_NONE,
        .lacks = SLURM_QUOTA_NONE,
        .array = INDEX_NONE,
        .is_used = true,
    };
    map_put(&engine->by_slot, slot, row);
    if (array != 0)
        join_array(engine, row, array);
    return row;
}

void slurm_job_free(struct slurm_engine *engine, struct slurm_job *job)
{
    const uint32_t row = (uint32_t)(job - engine->jobs);

    if (job->array != INDEX_NONE)
        leave_array(engine, job);
    (void)map_remove(&engine->by_slot, job->id & ~GENERATION_MASK);
    if (map_get(&engine->by_record, job->record) == row)
        (void)map_remove(&engine->by_record, job->record);
    mem_free(job->many);
    mem_free(job->parts);
    *job = (struct slurm_job){ .next_member = engine->job_free };
    engine->job_free = row;
    engine->stats.jobs--;
}

void slurm_jobs_done(struct slurm_engine *engine)
{
    for (uint32_t i = 0; i < engine->job_count; i++) {
        mem_free(engine->jobs[i].many);
        mem_free(engine->jobs[i].parts);
    }
    mem_free(engine->jobs);
    mem_free(engine->arrays);
    map_done(&engine->by_slot);
    map_done(&engine->by_record);
    map_done(&engine->by_array);
}
