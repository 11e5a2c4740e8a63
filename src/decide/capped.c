/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/capped.h"

#include <stdlib.h>

#include "base/map.h"
#include "decide/turn_order.h"

/* A place whose job is under caps. */
struct asking {
    struct turn_rank rank;
    bool moves;
    uint32_t place;
};

/* What caps have, machine by machine. */
struct count {
    const struct view *view;
    const struct caps *caps;
    const struct plan *plan;
    struct map has;      /* cap and machine */
    uint64_t *instances; /* of each cap */
    money_t *price;
};

static const struct cap_set *set_of(const struct count *count, uint32_t task)
{
    return &count->caps->sets[count->view->job.caps[count->view->task.job[task]]];
}

/* Machines of the plan have numbers above those of the view. */
static uint64_t key_of(uint32_t cap, uint32_t target, bool fresh)
{
    return (uint64_t)cap << 33 | (uint64_t)fresh << 32 | target;
}

static uint32_t offer_of(const struct count *count, uint32_t target, bool fresh)
{
    return fresh ? count->plan->rents[target].offer : count->view->instance.offer[target];
}

/* The task is on the machine; what that adds is remembered in 'added', which may be NULL. */
static void add(struct count *count, uint32_t task, uint32_t target, bool fresh, uint64_t *added,
                uint32_t *added_count)
{
    const struct cap_set *set = set_of(count, task);
    const money_t price = count->view->offer_price[offer_of(count, target, fresh)];

    if (!fresh && view_is_owned(count->view, target))
        return;
    for (uint32_t i = 0; i < set->count; i++) {
        const uint64_t key = key_of(set->cap[i], target, fresh);

        if (map_get(&count->has, key) != MAP_NONE)
            continue;
        map_put(&count->has, key, 0);
        count->instances[set->cap[i]]++;
        count->price[set->cap[i]] += price;
        if (added != NULL)
            added[(*added_count)++] = key;
    }
}

static void take_back(struct count *count, const uint64_t *added, uint32_t added_count)
{
    for (uint32_t i = 0; i < added_count; i++) {
        const uint32_t cap = (uint32_t)(added[i] >> 33);
        const bool fresh = (added[i] >> 32 & 1) != 0;

        (void)map_remove(&count->has, added[i]);
        count->instances[cap]--;
        count->price[cap] -= count->view->offer_price[offer_of(count, (uint32_t)added[i], fresh)];
    }
}

/* The first cap that is above its limit by what was added. */
static struct capped above(const struct count *count, const uint64_t *added, uint32_t added_count)
{
    for (uint32_t i = 0; i < added_count; i++) {
        const uint32_t number = (uint32_t)(added[i] >> 33);
        const struct cap *cap = &count->caps->row[number];

        if (cap->max_instances > 0 && count->instances[number] > cap->max_instances)
            return (struct capped){ CAPPED_INSTANCES, number };
        if (cap->max_price_per_hour > 0 && count->price[number] > cap->max_price_per_hour)
            return (struct capped){ CAPPED_PRICE, number };
    }
    return (struct capped){ CAPPED_NOT, CAP_NONE };
}

static int compare_asking(const void *left, const void *right)
{
    const struct asking *a = left;
    const struct asking *b = right;

    if (a->moves != b->moves)
        return a->moves ? -1 : 1;
    return turn_compare(&a->rank, &b->rank);
}

static uint32_t list_asking(const struct count *count, struct asking *ret)
{
    const struct view *view = count->view;
    uint32_t asking = 0;

    for (uint32_t i = 0; i < count->plan->place_count; i++) {
        const uint32_t task = count->plan->places[i].task;

        if (set_of(count, task)->count > 0)
            ret[asking++] = (struct asking){ turn_rank_of(view, task),
                                             view->task.instance[task] != ROW_NONE, i };
    }
    qsort(ret, asking, sizeof(*ret), compare_asking);
    return asking;
}

static void count_bound(struct count *count)
{
    INSTANCE_EACH(instance, count->view)
    {
        TASK_EACH(task, count->view, count->view->instance.first_task[instance])
        {
            add(count, task, instance, false, NULL, NULL);
        }
    }
}

/* Past the last of those that are served as one with 'from'. */
static uint32_t end_of_unit(const struct view *view, const struct asking *asking, uint32_t from,
                            uint32_t count)
{
    const uint32_t job = view->task.job[asking[from].rank.task];
    uint32_t end = from + 1;

    while (view->job.gang[job] && end < count && asking[end].rank.job == asking[from].rank.job &&
           asking[end].moves == asking[from].moves)
        end++;
    return end;
}

/* By one unit. */
static uint32_t most_added(const struct count *count, const struct asking *asking,
                           uint32_t asking_count)
{
    uint32_t most = 0;

    for (uint32_t from = 0, end; from < asking_count; from = end) {
        uint32_t sum = 0;

        end = end_of_unit(count->view, asking, from, asking_count);
        for (uint32_t i = from; i < end; i++)
            sum += set_of(count, asking[i].rank.task)->count;
        most = sum > most ? sum : most;
    }
    return most;
}

static uint32_t weigh(struct count *count, const struct asking *asking, uint32_t asking_count,
                      struct arena *arena, struct capped *by)
{
    const struct plan *plan = count->plan;
    uint64_t *added = ARENA_ARRAY(arena, uint64_t, most_added(count, asking, asking_count));
    uint32_t found = 0;

    for (uint32_t from = 0, end; from < asking_count; from = end) {
        uint32_t added_count = 0;

        end = end_of_unit(count->view, asking, from, asking_count);
        for (uint32_t i = from; i < end; i++) {
            const struct plan_place *place = &plan->places[asking[i].place];

            add(count, place->task, place->target, place->fresh, added, &added_count);
        }
        const struct capped why = above(count, added, added_count);

        if (why.reason == CAPPED_NOT)
            continue;
        take_back(count, added, added_count);
        for (uint32_t i = from; i < end; i++)
            by[asking[i].rank.task] = why;
        found += end - from;
    }
    return found;
}

uint32_t capped_find(const struct view *view, const struct caps *caps, const struct plan *plan,
                     struct arena *arena, struct capped *by)
{
    struct count count = {
        .view = view,
        .caps = caps,
        .plan = plan,
        .instances = ARENA_ARRAY(arena, uint64_t, caps->count),
        .price = ARENA_ARRAY(arena, money_t, caps->count),
    };
    struct asking *asking = ARENA_ARRAY(arena, struct asking, plan->place_count);
    const uint32_t asking_count = list_asking(&count, asking);
    uint32_t found = 0;

    if (asking_count == 0)
        return 0;
    map_init(&count.has);
    count_bound(&count);
    found = weigh(&count, asking, asking_count, arena, by);
    map_done(&count.has);
    return found;
}

uint32_t capped_spent(const struct view *view, const struct caps *caps, struct capped *by)
{
    uint32_t found = 0;

    TASK_EACH(task, view, view->task.waiting_first)
    {
        const uint32_t cap = caps_spent(caps, view->job.caps[view->task.job[task]]);

        if (cap == CAP_NONE)
            continue;
        by[task] = (struct capped){ CAPPED_SPENT, cap };
        found++;
    }
    return found;
}

/* A machine more for each cap that the task is under. */
static void add_alone(struct count *count, uint32_t task)
{
    const struct cap_set *set = set_of(count, task);

    for (uint32_t i = 0; i < set->count; i++) {
        count->instances[set->cap[i]]++;
        count->price[set->cap[i]] += count->view->shape_price[count->view->task.shape[task]];
    }
}

static bool may_bind(const struct count *count, const struct cap_set *set)
{
    for (uint32_t i = 0; i < set->count; i++) {
        const uint32_t number = set->cap[i];
        const struct cap *cap = &count->caps->row[number];

        if (cap->is_spent ||
            (cap->max_instances > 0 && 2 * count->instances[number] >= cap->max_instances) ||
            (cap->max_price_per_hour > 0 && 2 * count->price[number] >= cap->max_price_per_hour))
            return true;
    }
    return false;
}

const bool *capped_sets(const struct view *view, const struct caps *caps, struct arena *arena)
{
    struct count count = {
        .view = view,
        .caps = caps,
        .instances = ARENA_ARRAY(arena, uint64_t, caps->count),
        .price = ARENA_ARRAY(arena, money_t, caps->count),
    };
    bool *ret = ARENA_ARRAY(arena, bool, caps->set_count);

    map_init(&count.has);
    count_bound(&count);
    map_done(&count.has);
    TASK_EACH(task, view, view->task.waiting_first)
    {
        add_alone(&count, task);
    }
    for (uint32_t i = 0; i < caps->set_count; i++)
        ret[i] = may_bind(&count, &caps->sets[i]);
    return ret;
}
