/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of the engine and what is found by an id of Slurm or of Stint, and the way out for what is reported. All other files
 * of the engine stand on this one.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "engine/slurm/slurm_engine_private.h"

enum {
    SAY_SIZE = 1024,
    NEWS_MS = 2000, /* an event of Slurm that is no older happens now */
};

#define RANK_MASK ((uint64_t)(ID_RANKS_MAX - 1))

void slurm_engine_emit(struct slurm_engine *engine, const struct engine_event *event)
{
    engine->config.on_event(engine->config.context, event);
}

void slurm_engine_say(struct slurm_engine *engine, const char *format, ...)
{
    char text[SAY_SIZE];
    va_list args;

    if (engine->config.on_say == NULL)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    engine->config.on_say(engine->config.context, text);
}

msec_t slurm_engine_at(const struct slurm_engine *engine, uint64_t seconds)
{
    const msec_t at = seconds > LIMIT_TIME_MS / 1000 ? engine->now : (msec_t)seconds * MSEC_PER_SEC;

    return at <= 0 || at > engine->now - NEWS_MS ? engine->now : at;
}

void slurm_rows_add(struct slurm_rows *rows, uint32_t row)
{
    MEM_ROOM(rows->row, rows->room, rows->count + 1);
    rows->row[rows->count++] = row;
}

uint64_t slurm_slot(uint32_t job, uint32_t index_plus_one)
{
    return (uint64_t)job << (ID_RANK_BITS + ID_INDEX_BITS) | (uint64_t)index_plus_one
                                                                 << ID_RANK_BITS;
}

uint32_t slurm_job_tasks(const struct slurm_job *job)
{
    return job->is_announced ? job->task_count : 0;
}

struct slurm_task *slurm_job_task(struct slurm_job *job, uint32_t rank)
{
    assert(rank < slurm_job_tasks(job));
    return job->many == NULL ? &job->one : &job->many[rank];
}

struct slurm_job *slurm_job_of(struct slurm_engine *engine, uint64_t task)
{
    const uint32_t row = map_get(&engine->by_slot, task & ~GENERATION_MASK & ~RANK_MASK);

    if (row == MAP_NONE || engine->jobs[row].id != (task & ~RANK_MASK) ||
        (task & RANK_MASK) >= engine->jobs[row].task_count)
        return NULL;
    return &engine->jobs[row];
}

int slurm_engine_label(const struct slurm_engine *engine, uint64_t task, char *buf, size_t size)
{
    const uint32_t job = (uint32_t)(task >> (ID_RANK_BITS + ID_INDEX_BITS)) & ID_JOB_MAX;
    const uint32_t index = (uint32_t)(task >> ID_RANK_BITS) & ((1U << ID_INDEX_BITS) - 1);
    const uint32_t rank = (uint32_t)task & (ID_RANKS_MAX - 1);
    const uint32_t row = map_get(&engine->by_slot, slurm_slot(job, index));
    const bool is_gang = rank > 0 || (row != MAP_NONE && engine->jobs[row].task_count > 1);
    char of_array[16] = "";
    char of_gang[16] = "";

    if (index > 0)
        (void)snprintf(of_array, sizeof(of_array), "_%" PRIu32, index - 1);
    if (is_gang)
        (void)snprintf(of_gang, sizeof(of_gang), ".%" PRIu32, rank);
    return snprintf(buf, size, "%" PRIu32 "%s%s", job, of_array, of_gang);
}

bool slurm_engine_is_up(const struct slurm_engine *engine)
{
    return engine->is_greeted && !engine->is_lost;
}

bool slurm_node_is_owned(uint64_t instance)
{
    return instance >= OWNED_ID_FIRST;
}

/* The number behind our prefix; 0: it is none of those that we rent. */
static uint64_t rented_instance(const struct slurm_engine *engine, const char *name, size_t length)
{
    const size_t prefix = strlen(engine->config.node_prefix);
    uint64_t id = 0;

    if (length <= prefix || length - prefix > 19 || name[prefix] == '0' ||
        strncmp(name, engine->config.node_prefix, prefix) != 0)
        return 0;
    for (size_t i = prefix; i < length; i++) {
        if (name[i] < '0' || name[i] > '9')
            return 0;
        id = id * 10 + (uint64_t)(name[i] - '0');
    }
    return slurm_node_is_owned(id) ? 0 : id;
}

uint64_t slurm_node_instance(const struct slurm_engine *engine, const char *name, size_t length)
{
    const uint32_t row = names_find(&engine->owned, name, length);

    return row != NAME_NONE ? OWNED_ID_FIRST + row : rented_instance(engine, name, length);
}

int slurm_engine_node_name(const struct slurm_engine *engine, uint64_t instance, char *buf,
                           size_t size)
{
    if (slurm_node_is_owned(instance) && instance - OWNED_ID_FIRST < engine->owned.count)
        return snprintf(buf, size, "%s",
                        names_text(&engine->owned, (uint32_t)(instance - OWNED_ID_FIRST)));
    return snprintf(buf, size, "%s%" PRIu64, engine->config.node_prefix, instance);
}

struct slurm_node *slurm_node_get(struct slurm_engine *engine, uint64_t instance)
{
    uint32_t row = map_get(&engine->by_instance, instance);

    if (row != MAP_NONE)
        return &engine->nodes[row];
    if (engine->node_free != INDEX_NONE) {
        row = engine->node_free;
        engine->node_free = engine->nodes[row].next_free;
    } else {
        row = engine->node_count++;
        MEM_ROOM(engine->nodes, engine->nodes_room, engine->node_count);
    }
    engine->nodes[row] = (struct slurm_node){
        .instance = instance,
        .idle_since = MSEC_NEVER,
        .retry_at = MSEC_NEVER,
        .drain_at = MSEC_NEVER,
        .left_at = engine->now,
        .is_admitted = slurm_node_is_owned(instance), /* nobody has to let it join */
    };
    map_put(&engine->by_instance, instance, row);
    return &engine->nodes[row];
}
