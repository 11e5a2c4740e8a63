/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How news reaches the controller. With no faults, at once; else some of it comes late, some twice,
 * some never.
 */
#include "base/mem.h"
#include "sim/world.h"

static void hand_over(struct world *world, const struct world_news *news)
{
    if (news->is_cloud)
        controller_on_cloud(world->controller, &news->cloud);
    else
        controller_on_engine(world->controller, &news->engine);
}

static void send_later(struct world *world, const struct world_news *news)
{
    const struct sim_faults *faults = &world->config->faults;
    uint32_t row = world->news_free;

    if (row != WORLD_NONE) {
        world->news_free = world->news[row].next_free;
    } else {
        row = world->news_count++;
        MEM_ROOM(world->news, world->news_room, world->news_count);
    }
    world->news[row] = *news;
    world->news_pending++;

    const msec_t delay =
        faults->late_ms > 0 ? (msec_t)rng_below(&world->rng_news, (uint64_t)faults->late_ms) : 0;

    world_at(world, world->now + delay, WORLD_NEWS, row, 0);
}

static void send(struct world *world, const struct world_news *news)
{
    const struct sim_faults *faults = &world->config->faults;

    if (faults->lost_ppm > 0 && rng_chance_ppm(&world->rng_news, faults->lost_ppm))
        return;
    if (rng_chance_ppm(&world->rng_news, faults->duplicate_ppm))
        send_later(world, news);
    if (rng_chance_ppm(&world->rng_news, faults->late_ppm))
        send_later(world, news);
    else
        hand_over(world, news);
}

/* Whether all news comes at once and once: then it need not be kept. */
static bool is_prompt(const struct world *world)
{
    const struct sim_faults *faults = &world->config->faults;

    return faults->duplicate_ppm == 0 && faults->late_ppm == 0 && faults->lost_ppm == 0;
}

void sim_news_engine(struct world *world, const struct engine_event *event)
{
    if (is_prompt(world)) {
        controller_on_engine(world->controller, event);
        return;
    }

    const struct world_news news = { .engine = *event };

    send(world, &news);
}

void sim_news_cloud(struct world *world, const struct cloud_event *event)
{
    if (is_prompt(world)) {
        controller_on_cloud(world->controller, event);
        return;
    }

    const struct world_news news = { .is_cloud = true, .cloud = *event };

    send(world, &news);
}

void sim_news_deliver(struct world *world, uint32_t row)
{
    const struct world_news news = world->news[row];

    world->news[row].next_free = world->news_free;
    world->news_free = row;
    world->news_pending--;
    hand_over(world, &news);
}
