/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/improve_order.h"

#include <stdlib.h>

enum {
    WORK_LEAST = 300, /* steps of the smallest problem: to state it takes time, too */
    OFFERS_IN_A_STEP = 8,
};

/* Each set of tasks is shared in all ways between each machine and the others, and looks for an offer that holds it: among
 * the next ones after those of its parts. */
static uint64_t work_of(const struct search *search, uint32_t machines, uint32_t tasks)
{
    uint64_t ways = 1;

    for (uint32_t i = 0; i < tasks; i++)
        ways *= 3;
    return WORK_LEAST + (machines + 1) * ways +
           ((uint64_t)search->offer_count << tasks) / OFFERS_IN_A_STEP;
}

uint64_t group_work(const struct search *search, const struct group *group)
{
    uint32_t machines = 0;
    uint32_t tasks = 0;

    for (uint32_t i = 0; i < group->count; i++) {
        machines += search->units[group->units[i]].instance != ROW_NONE;
        tasks += search->units[group->units[i]].task_count;
    }
    return work_of(search, machines, tasks);
}

static bool is_nothing(const struct unit *unit)
{
    return unit->instance == ROW_NONE && unit->task_count == 0;
}

bool pair_counts(const struct unit *a, const struct unit *b)
{
    return !is_nothing(a) && !is_nothing(b) && a->task_count + b->task_count > 0 &&
           a->task_count + b->task_count <= REGROUP_TASKS;
}

/* By how many units of each kind there are, not by pairs. */
uint64_t pairs_work(const struct search *search)
{
    uint64_t units[2][REGROUP_TASKS + 1] = { { 0 } };
    uint64_t sum = 0;

    for (uint32_t i = 0; i < search->unit_count; i++) {
        const struct unit *unit = &search->units[i];

        units[unit->instance != ROW_NONE][unit->task_count]++;
    }
    for (uint32_t a = 0; a < 2 * (REGROUP_TASKS + 1); a++) {
        for (uint32_t b = a; b < 2 * (REGROUP_TASKS + 1); b++) {
            const uint32_t tasks = a / 2 + b / 2;
            const uint64_t of = units[a % 2][a / 2];
            const uint64_t with = units[b % 2][b / 2];

            if (tasks > 0 && tasks <= REGROUP_TASKS && of > 0)
                sum += (a == b ? of * (of - 1) / 2 : of * with) *
                       work_of(search, a % 2 + b % 2, tasks);
        }
    }
    return sum;
}

struct ranked {
    double loss;
    uint32_t unit;
    bool waits;
};

static int compare_ranked(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;

    if (a->waits != b->waits)
        return a->waits ? -1 : 1;
    if (a->loss > b->loss || a->loss < b->loss)
        return a->loss > b->loss ? -1 : 1;
    return (a->unit > b->unit) - (a->unit < b->unit);
}

static void rank_units(struct pair_order *order, const struct search *search)
{
    struct ranked *rows = ARENA_ARRAY(search->arena, struct ranked, search->unit_count);

    order->ranked = ARENA_ARRAY(search->arena, uint32_t, search->unit_count);
    for (uint32_t i = 0; i < search->unit_count; i++) {
        if (!is_nothing(&search->units[i]))
            rows[order->count++] =
                (struct ranked){ .loss = search->units[i].loss,
                                 .unit = i,
                                 .waits = search->units[i].instance == ROW_NONE };
    }
    qsort(rows, order->count, sizeof(*rows), compare_ranked);
    for (uint32_t i = 0; i < order->count; i++)
        order->ranked[i] = rows[i].unit;
}

/* The first so many units have all their pairs before the next one comes. */
static struct pair_place next_of(struct pair_place place)
{
    if (++place.low == place.high)
        return (struct pair_place){ .low = 0, .high = place.high + 1 };
    return place;
}

/* Each round begins further on than the last, by what a round can do for sure: pairs differ in what they take. */
static void take_turn(struct pair_order *order, const struct search *search, uint64_t work)
{
    const struct view *view = search->view;
    const uint64_t units = search->unit_count;
    const uint64_t pairs = units * (units - 1) / 2;
    const uint64_t of_pair = pairs_work(search) / (pairs + 1) + 1;
    const uint64_t stride = work / (2 * of_pair) + 1;
    const uint64_t round = (uint64_t)(view->now / (view->round_ms > 0 ? view->round_ms : 1000));
    uint64_t skip = pairs > 0 ? round % pairs * (stride % pairs) % pairs : 0;

    order->turns_left = pairs;
    for (order->turn.high = 1; skip >= order->turn.high; order->turn.high++)
        skip -= order->turn.high;
    order->turn.low = (uint32_t)skip;
}

void pair_order_begin(struct pair_order *order, const struct search *search, uint64_t work)
{
    *order = (struct pair_order){ .units = search->unit_count, .rank = { .high = 1 } };
    rank_units(order, search);
    take_turn(order, search, work);
}

bool pair_order_ranked(struct pair_order *order, struct group *ret)
{
    const struct pair_place rank = order->rank;

    if (rank.high >= order->count)
        return false;
    *ret = (struct group){ .units = { order->ranked[rank.low], order->ranked[rank.high] },
                           .count = 2 };
    order->rank = next_of(rank);
    return true;
}

bool pair_order_turn(struct pair_order *order, struct group *ret)
{
    const struct pair_place turn = order->turn;

    if (order->turns_left == 0)
        return false;
    order->turns_left--;
    *ret = (struct group){ .units = { turn.low, turn.high }, .count = 2 };
    order->turn = next_of(turn);
    if (order->turn.high == order->units)
        order->turn.high = 1; /* from the beginning */
    return true;
}
