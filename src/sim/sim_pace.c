/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast tasks make progress. A unit is a task, or a gang, whose tasks all go at the pace of the
 * slowest and only when all of them go. Whenever a pace changes, what was done so far is added up
 * and the completion is expected again; the old expectation is void by its epoch.
 *
 * The slowest of a gang of n tasks is the root of a tree: node i is the lesser of the nodes 2i and
 * 2i + 1, and node n + k is the k-th task, RATE_NONE unless it is launched. So a change of one task
 * costs O(log n), not O(n).
 */
#include <assert.h>

#include "base/mem.h"
#include "sim/world.h"

static bool is_gang(const struct world *world, uint32_t task)
{
    const struct trace_job *job = world_job(world, task);

    return job->gang && job->task_count > 1;
}

uint32_t sim_pace_head(const struct world *world, uint32_t task)
{
    return is_gang(world, task) ? world->first_task[world->tasks[task].job] : task;
}

static uint32_t unit_size(const struct world *world, uint32_t head)
{
    return is_gang(world, head) ? world_job(world, head)->task_count : 1;
}

void sim_pace_settle(struct world *world, uint32_t head)
{
    struct world_task *unit = &world->tasks[head];
    const msec_t span = world->now - unit->since;

    if (unit->rate_ppm > 0) {
        unit->left -= (int64_t)unit->rate_ppm * span;
        unit->run_ms += span;
    }
    unit->since = world->now;
}

static void set_rate(struct world *world, uint32_t head, uint32_t rate_ppm)
{
    struct world_task *unit = &world->tasks[head];

    if (unit->rate_ppm == rate_ppm)
        return;
    sim_pace_settle(world, head);
    unit->rate_ppm = rate_ppm;
    unit->unit_epoch++;
    if (rate_ppm == 0)
        return;

    const int64_t left = unit->left > 0 ? unit->left : 0;
    const msec_t needs = (left + rate_ppm - 1) / rate_ppm;

    timeline_add(&world->timeline,
                 (struct timeline_event){
                     .at = msec_round_up(world->now + needs, world->config->tick_ms),
                     .rank = RANK_COMPLETION,
                     .kind = WORLD_TASK_COMPLETES,
                     .who = head,
                     .epoch = unit->unit_epoch,
                 });
}

/* The pace of the slowest task of the unit that is launched; there is one. */
static uint32_t slowest(const struct world *world, uint32_t head)
{
    return is_gang(world, head) ? world->slowest[2 * (size_t)head + 1] : world->tasks[head].own_ppm;
}

/* Tell the gang of the task, if it has one, what it could do. */
static void note_slowest(struct world *world, uint32_t task, uint32_t own_ppm)
{
    if (!is_gang(world, task))
        return;

    const uint32_t head = sim_pace_head(world, task);
    uint32_t *tree = world->slowest + 2 * (size_t)head;
    uint32_t node = unit_size(world, head) + (task - head);

    tree[node] = own_ppm;
    for (node /= 2; node >= 1; node /= 2) {
        const uint32_t left = tree[2 * (size_t)node];
        const uint32_t right = tree[2 * (size_t)node + 1];
        const uint32_t least = left < right ? left : right;

        if (tree[node] == least)
            return;
        tree[node] = least;
    }
}

/* Work out the pace of the unit that the task belongs to. */
static void update_unit(struct world *world, uint32_t task)
{
    const uint32_t head = sim_pace_head(world, task);
    const bool all_go = world->tasks[head].going == unit_size(world, head);

    set_rate(world, head, all_go ? slowest(world, head) : 0);
}

/* What a task says of its rate: the truth times a factor around 1, the sum of twelve even draws, which is nearly normal. */
static uint32_t said_rate(struct world *world, uint32_t rate_ppm)
{
    enum { DRAWS = 12 };

    const double noise = (double)world->config->faults.rate_noise_ppm / 1e6;
    double sum = 0;

    if (noise <= 0)
        return rate_ppm;
    for (int i = 0; i < DRAWS; i++)
        sum += rng_unit(&world->rng_rates);

    const double said = (double)rate_ppm * (1 + noise * (sum - DRAWS / 2.0));

    return said < 1 ? 1 : said > RATE_FULL_PPM ? RATE_FULL_PPM : (uint32_t)said;
}

static void report_rate(struct world *world, uint32_t task, uint32_t rate_ppm)
{
    const struct engine_event event = {
        .kind = ENGINE_TASK_RATE,
        .at = world->now,
        .task = task,
        .key = world->tasks[task].place_key,
        .rate_ppm = said_rate(world, rate_ppm),
    };

    sim_news_engine(world, &event);
}

/* Whether what was reported last is what is known. */
static bool news_is_reliable(const struct world *world)
{
    const struct sim_faults *faults = &world->config->faults;

    return faults->late_ppm == 0 && faults->duplicate_ppm == 0 && faults->lost_ppm == 0;
}

/*
 * The task has a new pace, so it reports that of its unit. The others do so too if it is news to
 * them, or if old news may have come last.
 */
static void report_unit(struct world *world, uint32_t task)
{
    const uint32_t head = sim_pace_head(world, task);
    const uint32_t end = head + unit_size(world, head);
    const uint32_t rate_ppm = slowest(world, head);

    if (world->tasks[head].told_ppm == rate_ppm && news_is_reliable(world)) {
        report_rate(world, task, rate_ppm);
        return;
    }
    world->tasks[head].told_ppm = rate_ppm;
    for (uint32_t each = head; each < end; each++) {
        if (world->tasks[each].active)
            report_rate(world, each, rate_ppm);
    }
}

static void set_own_rate(struct world *world, uint32_t task, uint32_t own_ppm)
{
    struct world_task *of = &world->tasks[task];

    if (of->own_ppm == own_ppm)
        return;
    of->own_ppm = own_ppm;
    note_slowest(world, task, own_ppm);
    update_unit(world, task);
    if (world->config->policy->learns_colocation)
        report_unit(world, task);
}

static uint32_t workload_of(const struct world *world, uint32_t task)
{
    return world_shape(world, task)->workload;
}

/* The different workloads that are active on the machine, with their numbers. */
static uint32_t gather_parts(struct world *world, const struct world_machine *machine)
{
    uint32_t count = 0;

    for (uint32_t task = machine->first; task != WORLD_NONE; task = world->tasks[task].next) {
        const uint32_t workload = workload_of(world, task);
        uint32_t i = 0;

        if (!world->tasks[task].active)
            continue;
        while (i < count && world->parts[i].workload != workload)
            i++;
        if (i == count) {
            count++;
            MEM_ROOM(world->parts, world->parts_room, count);
            world->parts[i] = (struct contention_part){ .workload = workload };
        }
        world->parts[i].count++;
    }
    MEM_ROOM(world->part_rates, world->part_rates_room, count);
    return count;
}

/* Who is active on the machine has changed: so have the rates of all that are. */
static void update_machine(struct world *world, uint32_t row)
{
    const struct world_machine *machine = &world->machines[row];

    if (world->config->contention == NULL)
        return;

    const uint32_t count = gather_parts(world, machine);

    contention_rates_at(world->config->contention, world->now, world->parts, count,
                        world->part_rates);
    for (uint32_t task = machine->first; task != WORLD_NONE; task = world->tasks[task].next) {
        uint32_t i = 0;

        if (!world->tasks[task].active)
            continue;
        while (world->parts[i].workload != workload_of(world, task))
            i++;

        const double ppm = world->part_rates[i] * RATE_FULL_PPM + 0.5;

        set_own_rate(world, task, ppm < 1.0 ? 1 : (uint32_t)ppm);
    }
}

void sim_pace_drift(struct world *world)
{
    for (uint32_t row = 0; row < world->machine_count; row++) {
        if (world->machines[row].state != MACHINE_FREE)
            update_machine(world, row);
    }
}

void sim_pace_join(struct world *world, uint32_t task)
{
    struct world_task *of = &world->tasks[task];

    assert(!of->active);
    of->active = true;
    of->own_ppm = 0;                       /* unknown: whatever it will be, it is reported */
    note_slowest(world, task, UINT32_MAX); /* and until it is known, it slows nobody down */
    if (world->config->contention != NULL)
        update_machine(world, of->machine);
    else
        set_own_rate(world, task, RATE_FULL_PPM);
}

void sim_pace_leave(struct world *world, uint32_t task)
{
    struct world_task *of = &world->tasks[task];

    if (!of->active)
        return;
    sim_pace_drop(world, task);
    update_machine(world, of->machine);
}

void sim_pace_drop(struct world *world, uint32_t task)
{
    world->tasks[task].active = false;
    note_slowest(world, task, RATE_NONE);
}

void sim_pace_begin(struct world *world, uint32_t task)
{
    assert(!world->tasks[task].progressing);
    world->tasks[task].progressing = true;
    sim_services_count(world, task, true);
    world->tasks[sim_pace_head(world, task)].going++;
    update_unit(world, task);
}

void sim_pace_end(struct world *world, uint32_t task)
{
    if (!world->tasks[task].progressing)
        return;
    world->tasks[task].progressing = false;
    sim_services_count(world, task, false);
    world->tasks[sim_pace_head(world, task)].going--;
    update_unit(world, task);
}

void sim_pace_launched(struct world *world, uint32_t task, int change)
{
    struct world_task *unit = &world->tasks[sim_pace_head(world, task)];
    const uint32_t size = unit_size(world, sim_pace_head(world, task));

    if (change > 0 && ++unit->launched == size)
        unit->launched_since = world->now;
    if (change < 0 && unit->launched-- == size)
        unit->launched_ms += world->now - unit->launched_since;
}
