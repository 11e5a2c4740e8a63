/* SPDX-License-Identifier: Apache-2.0 */
#include "learn/work_mix.h"

#include "base/mem.h"

static const msec_t count_every = MSEC_PER_HOUR;
static const msec_t take_every = 24 * MSEC_PER_HOUR;
static const double remains = 1 - 1.0 / 168; /* of a count, an hour later */

static void drop_snapshot(struct work_snapshot *taken)
{
    mem_free(taken->amount);
    mem_free(taken->rate);
    mem_free(taken->price);
    *taken = (struct work_snapshot){ .version = taken->version };
}

void work_mix_done(struct work_mix *mix)
{
    drop_snapshot(&mix->taken);
    mem_free(mix->amount);
    *mix = (struct work_mix){ 0 };
}

/* Whether there is a shape now that the snapshot does not know. */
static bool count_tasks(struct work_mix *mix, const struct view *view)
{
    bool has_new = false;

    MEM_ROOM(mix->amount, mix->room, view->shapes->count);
    for (; mix->shapes < view->shapes->count; mix->shapes++)
        mix->amount[mix->shapes] = 0;
    for (uint32_t i = 0; i < mix->shapes; i++)
        mix->amount[i] *= remains;
    for (uint32_t task = 0; task < view->task.count; task++) {
        const uint32_t shape = view->task.shape[task];

        if (view->task.state[task] == TASK_FREE)
            continue;
        mix->amount[shape] += 1 - remains;
        has_new = has_new || shape >= mix->taken.shapes || mix->taken.amount[shape] <= 0;
    }
    return has_new;
}

static void take_rates(struct work_snapshot *taken, const struct view *view,
                       const struct pairs *pairs)
{
    const uint32_t count = view->shapes->workloads.count;

    if (count > WORK_MIX_WORKLOADS_MAX)
        return;
    taken->workloads = count;
    taken->rate = mem_alloc((size_t)count * count, sizeof(*taken->rate));
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = 0; b < count; b++)
            taken->rate[a * count + b] = pairs_rate(pairs, a, b);
    }
}

static void take(struct work_mix *mix, const struct view *view, const struct pairs *pairs)
{
    struct work_snapshot *taken = &mix->taken;

    drop_snapshot(taken);
    taken->version++;
    taken->shapes = mix->shapes;
    taken->amount = mem_alloc(mix->shapes, sizeof(*taken->amount));
    for (uint32_t i = 0; i < mix->shapes; i++)
        taken->amount[i] = mix->amount[i];
    take_rates(taken, view, pairs);
    taken->offers = view->offer_count;
    taken->price = mem_alloc(view->offer_count, sizeof(*taken->price));
    for (uint32_t i = 0; i < view->offer_count; i++)
        taken->price[i] = view->offer_price[i];
    mix->taken_at = view->now;
}

void work_mix_update(struct work_mix *mix, const struct view *view, const struct pairs *pairs)
{
    if (view->task.living == 0)
        return;
    if (mix->next_count == 0)
        mix->next_count = view->now + count_every;
    if (view->now < mix->next_count)
        return;
    mix->next_count = view->now + count_every;

    const bool has_new = count_tasks(mix, view);

    if (has_new || view->now - mix->taken_at >= take_every)
        take(mix, view, pairs);
}
