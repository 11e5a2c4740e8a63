/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where tasks go. A long task goes to the server of the long partition that has the least estimated long work
 * left, an idle one first. A short job probes servers at random; one with long work refuses and shows the map
 * of servers without long work that its newest long task brought. What was refused is tried once more, among
 * the short partition and the servers that are clear in the newest map; then in the short partition alone.
 */
#include <assert.h>

#include "base/mem.h"
#include "sim/shortlong_private.h"

void place_init(struct shortlong *s)
{
    s->loads = ARENA_ARRAY(&s->arena, struct load, s->config->long_servers);
}

void place_done(struct shortlong *s)
{
    for (uint32_t i = 0; i < s->map_count; i++)
        mem_free(s->maps[i].servers);
    mem_free(s->maps);
}

/* ---- long jobs ---- */

/* What is left of the long work of a server, by the estimates. */
static msec_t load_of(const struct shortlong *s, const struct server *server)
{
    if (server->job == NOBODY || !s->jobs[server->job].is_long)
        return server->long_work_ms;

    const msec_t estimate = s->jobs[server->job].estimate_ms;
    const msec_t ran = s->now - server->since;

    return server->long_work_ms + FETCH_MS - (ran < estimate ? ran : estimate);
}

static bool is_less(struct load a, struct load b)
{
    return a.ms != b.ms ? a.ms < b.ms : a.server < b.server;
}

/* Bring the load at 'hole' to its place in the heap, the least at its top. */
static void sink(struct load *heap, uint32_t count, uint32_t hole)
{
    const struct load load = heap[hole];

    for (uint32_t child = 2 * hole + 1; child < count; child = 2 * hole + 1) {
        if (child + 1 < count && is_less(heap[child + 1], heap[child]))
            child++;
        if (!is_less(heap[child], load))
            break;
        heap[hole] = heap[child];
        hole = child;
    }
    heap[hole] = load;
}

static void place_long(struct shortlong *s, struct job *job)
{
    const uint32_t count = s->config->long_servers;
    const uint32_t first = s->config->short_servers;

    for (uint32_t i = 0; i < count; i++)
        s->loads[i] = (struct load){ load_of(s, &s->servers[first + i]), first + i };
    for (uint32_t i = count / 2; i > 0; i--)
        sink(s->loads, count, i - 1);
    for (uint32_t i = 0; i < job->tasks; i++) {
        struct server *server = &s->servers[s->loads[0].server];

        job->probed[job->probe_count++] = s->loads[0].server;
        s->view.with_long += server->long_work_ms == 0;
        server->long_work_ms += job->estimate_ms;
        s->loads[0].ms += job->estimate_ms;
        sink(s->loads, count, 0);
    }
}

static void draw_map(struct shortlong *s)
{
    struct map_of_clear map = { 0 };
    uint32_t room = 0;

    for (uint32_t i = s->config->short_servers; i < s->fixed; i++) {
        if (s->servers[i].long_work_ms == 0) {
            MEM_ROOM(map.servers, room, map.count + 1);
            map.servers[map.count++] = i;
        }
    }
    MEM_ROOM(s->maps, s->maps_room, s->map_count + 1);
    s->maps[s->map_count++] = map;
}

/* ---- short jobs ---- */

uint32_t place_short_server(struct shortlong *s)
{
    const uint32_t fixed = s->config->short_servers;
    const uint32_t drawn = (uint32_t)rng_below(&s->probing, (uint64_t)fixed + s->open_count);

    return drawn < fixed ? drawn : s->open[drawn - fixed];
}

static uint32_t any_server(struct shortlong *s)
{
    const uint32_t drawn = (uint32_t)rng_below(&s->probing, (uint64_t)s->fixed + s->open_count);

    return drawn < s->fixed ? drawn : s->open[drawn - s->fixed];
}

/* One of the short partition, or one that is clear in the map. */
static uint32_t clear_server(struct shortlong *s, const struct map_of_clear *map)
{
    const uint32_t others = s->config->short_servers + s->open_count;
    const uint32_t drawn = (uint32_t)rng_below(&s->probing, (uint64_t)others + map->count);

    if (drawn >= others)
        return map->servers[drawn - others];
    return drawn < s->config->short_servers ? drawn : s->open[drawn - s->config->short_servers];
}

/* Try a server; it takes the probe, or refuses. Either way the newest map is kept. */
static void try_server(struct shortlong *s, struct job *job, uint32_t number, uint32_t *newest)
{
    const struct server *server = &s->servers[number];

    if (!has_long_work(server, s->jobs))
        job->probed[job->probe_count++] = number;
    if (server->map != NOBODY && (*newest == NOBODY || server->map > *newest))
        *newest = server->map;
}

static void place_short(struct shortlong *s, struct job *job, uint32_t probes)
{
    uint32_t newest = NOBODY;

    for (uint32_t i = 0; i < probes; i++)
        try_server(s, job, any_server(s), &newest);

    const uint32_t refused = probes - job->probe_count;

    if (refused > 0) {
        assert(newest != NOBODY);

        const struct map_of_clear map = s->maps[newest];

        for (uint32_t i = 0; i < refused; i++)
            try_server(s, job, clear_server(s, &map), &newest);
    }
    while (job->probe_count < probes)
        job->probed[job->probe_count++] = place_short_server(s);
}

/* ---- both ---- */

void place_job(struct shortlong *s, uint32_t number)
{
    struct job *job = &s->jobs[number];
    const uint64_t wanted = (uint64_t)s->config->probe_ratio * job->tasks;
    const uint64_t least = s->config->probes_least;
    const uint64_t probes = job->is_long ? job->tasks : (wanted > least ? wanted : least);

    job->probed = mem_alloc(probes, sizeof(*job->probed));
    if (job->is_long)
        place_long(s, job);
    else
        place_short(s, job, (uint32_t)probes);
    shortlong_add_event(s, s->now + PROBE_MS, EVENT_PROBES, number);
}

void place_arrive(struct shortlong *s, uint32_t number)
{
    struct job *job = &s->jobs[number];

    if (job->is_long)
        draw_map(s);
    else
        tournament_enter(&s->waiting, number);
    for (uint32_t i = 0; i < job->probe_count; i++) {
        const uint32_t to = job->probed[i];

        server_probe(s, s->servers[to].state == SERVER_GONE ? place_short_server(s) : to, number);
    }
    mem_free(job->probed);
    job->probed = NULL;
    if (!job->is_long)
        server_wake_idle(s);
}
