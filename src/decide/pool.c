/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/pool.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* While the pool is built: a task with what it is sorted by. */
struct draft {
    struct worth_kind kind;
    uint32_t apart; /* of its job */
    uint32_t task;
    uint64_t order;
};

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_drafts(const void *left, const void *right)
{
    const struct draft *a = left;
    const struct draft *b = right;

    if (a->kind.shape != b->kind.shape)
        return compare_u64(a->kind.shape, b->kind.shape);
    if (a->kind.siblings != b->kind.siblings)
        return compare_u64(a->kind.siblings, b->kind.siblings);
    if (a->apart != b->apart)
        return compare_u64(a->apart, b->apart);
    return compare_u64(a->order, b->order);
}

static int compare_kinds(const void *left, const void *right, void *drafts)
{
    const struct draft *all = drafts;
    const struct pool_kind *a = left;
    const struct pool_kind *b = right;

    return compare_u64(all[a->first].order, all[b->first].order);
}

static bool starts_kind(const struct draft *drafts, uint32_t i)
{
    return i == 0 || drafts[i].kind.shape != drafts[i - 1].kind.shape ||
           drafts[i].kind.siblings != drafts[i - 1].kind.siblings ||
           drafts[i].apart != drafts[i - 1].apart;
}

static void cut_into_kinds(struct pool *pool, const struct draft *drafts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (starts_kind(drafts, i))
            pool->kinds[pool->kind_count++] = (struct pool_kind){
                .kind = drafts[i].kind,
                .apart = drafts[i].apart,
                .alone = view_aparts_meet(pool->view, drafts[i].apart, drafts[i].apart),
                .first = i,
                .cursor = i,
            };
        pool->kinds[pool->kind_count - 1].count++;
        pool->kinds[pool->kind_count - 1].left++;
    }
}

void pool_build(struct pool *pool, const struct worth_rules *rules, const uint32_t *tasks,
                uint32_t count, struct arena *arena)
{
    struct draft *drafts = ARENA_ARRAY(arena, struct draft, count);

    *pool = (struct pool){ .view = rules->view, .entry_count = count, .left = count };
    pool->entries = ARENA_ARRAY(arena, struct pool_entry, count);
    pool->kinds = ARENA_ARRAY(arena, struct pool_kind, count);
    pool->entry_of = ARENA_ARRAY(arena, uint32_t, rules->view->task.count);
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t job = rules->view->task.job[tasks[i]];

        drafts[i].task = tasks[i];
        drafts[i].apart = rules->view->job.apart[job];
        drafts[i].kind = worth_kind_of(rules, tasks[i]);
        drafts[i].order = rules->view->task.order[tasks[i]];
    }
    if (count > 0)
        qsort(drafts, count, sizeof(*drafts), compare_drafts);
    cut_into_kinds(pool, drafts, count);
    if (pool->kind_count > 0)
        qsort_r(pool->kinds, pool->kind_count, sizeof(*pool->kinds), compare_kinds, drafts);
    for (uint32_t kind = 0; kind < pool->kind_count; kind++) {
        const struct pool_kind *of = &pool->kinds[kind];

        for (uint32_t i = of->first; i < of->first + of->count; i++) {
            pool->entries[i] =
                (struct pool_entry){ .task = drafts[i].task, .kind = kind, .bin = UINT32_MAX };
            pool->entry_of[drafts[i].task] = i + 1;
        }
    }
}

static uint32_t entry_on(const struct pool *pool, uint32_t kind, uint32_t instance)
{
    TASK_EACH(task, pool->view, pool->view->instance.first_task[instance])
    {
        const uint32_t entry = pool->entry_of[task];

        if (entry != 0 && pool->entries[entry - 1].kind == kind &&
            pool->entries[entry - 1].bin == UINT32_MAX)
            return entry - 1;
    }
    return UINT32_MAX;
}

uint32_t pool_pick(struct pool *pool, uint32_t kind, uint32_t instance)
{
    struct pool_kind *of = &pool->kinds[kind];

    assert(of->left > 0);
    if (instance != ROW_NONE) {
        const uint32_t here = entry_on(pool, kind, instance);

        if (here != UINT32_MAX)
            return here;
    }
    while (pool->entries[of->cursor].bin != UINT32_MAX)
        of->cursor++;
    return of->cursor;
}

void pool_take(struct pool *pool, uint32_t entry, uint32_t bin)
{
    assert(pool->entries[entry].bin == UINT32_MAX);
    assert(bin != UINT32_MAX);
    pool->entries[entry].bin = bin;
    pool->kinds[pool->entries[entry].kind].left--;
    pool->left--;
}

void pool_count_on(const struct pool *pool, uint32_t instance, uint32_t *counts)
{
    memset(counts, 0, pool->kind_count * sizeof(*counts));
    if (instance == ROW_NONE)
        return;
    TASK_EACH(task, pool->view, pool->view->instance.first_task[instance])
    {
        const uint32_t entry = pool->entry_of[task];

        if (entry != 0 && pool->entries[entry - 1].bin == UINT32_MAX)
            counts[pool->entries[entry - 1].kind]++;
    }
}
