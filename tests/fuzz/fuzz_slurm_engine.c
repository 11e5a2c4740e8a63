/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_slurm_engine.c - the daemon's end of the pipe to stint-slurm: whatever lines come, and
 * whatever is asked for in between, no event is about a job that was not announced, and what is
 * sent is always whole lines.
 *
 * A line that begins with '@' is not from stint-slurm: '@p' places the task that was announced last,
 * '@q' queues it, '@s' stops it, '@c' names its cost, '@a' and '@r' admit and retire machine 1, '@l'
 * asks for a list, '@d' breaks the pipe, '@t' lets ten seconds pass.
 */
#include "fuzz.h"

#include "base/line.h"
#include "engine/slurm/slurm_engine.h"

struct world {
    struct catalogue catalogue;
    struct shapes shapes;
    struct names users;
    struct names job_names;
    struct slurm_engine *engine;
    struct engine_port port;
    uint64_t key;
    uint64_t task; /* announced last */
    msec_t now;
};

static void on_event(void *context, const struct engine_event *event)
{
    struct world *world = context;

    assert(event->at <= world->now);
    if (event->kind == ENGINE_JOB_ARRIVED) {
        assert(event->job.id != 0);
        assert(event->job.task_count > 0);
        assert(event->job.shape < world->shapes.count);
        world->task = event->job.first_task_id;
    }
}

static void on_send(void *context, const char *lines, size_t size)
{
    (void)context;
    assert(size > 1);
    assert(size <= LINE_SIZE_MAX);
    assert(lines[size - 1] == '\n');
}

static void act(struct world *world, char what)
{
    const struct engine_ops *ops = world->port.ops;
    void *self = world->port.self;

    world->key++;
    if (what == 'p')
        ops->place(self, world->key, world->task, 1);
    else if (what == 'q')
        ops->queue(self, world->key, world->task);
    else if (what == 's')
        ops->stop(self, world->key, world->task);
    else if (what == 'c')
        slurm_engine_cost(world->engine, world->task, 5, "m");
    else if (what == 'a')
        ops->admit(self, 1);
    else if (what == 'r')
        ops->retire(self, 1);
    else if (what == 'l')
        ops->list(self, world->key);
    else if (what == 't')
        world->now += 10000;
    if (what == 'd') {
        char hello[] = "hello protocol=1";

        slurm_engine_disconnected(world->engine, world->now);
        slurm_engine_connected(world->engine, world->now);
        slurm_engine_line(world->engine, world->now, hello, sizeof(hello) - 1);
    }
    slurm_engine_flush(world->engine, world->now);
    if (slurm_engine_next_wake(world->engine) <= world->now)
        slurm_engine_tick(world->engine, world->now);
}

static void begin(struct world *world)
{
    const struct machine_type machine = { .capacity = { { 8000, 16000, 2000 } } };
    const struct price_change price = { 0, 100000 };
    const struct slurm_engine_config config = {
        .catalogue = &world->catalogue,
        .shapes = &world->shapes,
        .users = &world->users,
        .job_names = &world->job_names,
        .jobs_max = 1000,
        .gang_tasks_max = 100,
        .on_event = on_event,
        .on_send = on_send,
        .context = world,
    };

    catalogue_init(&world->catalogue);
    const struct offer offer = {
        .type = catalogue_add_type(&world->catalogue, "m5.large", "m5", &machine),
        .billing = { 1000, 60000 },
        .price = { &price, 1 },
    };

    (void)catalogue_add_offer(&world->catalogue, "z1", &offer);
    shapes_init(&world->shapes);
    names_init(&world->users);
    names_init(&world->job_names);
    world->now = 1794717000000;
    world->engine = slurm_engine_create(&config);
    world->port = slurm_engine_port(world->engine);
    act(world, 'd');
}

static void finish(struct world *world)
{
    slurm_engine_destroy(world->engine);
    names_done(&world->users);
    names_done(&world->job_names);
    shapes_done(&world->shapes);
    catalogue_done(&world->catalogue);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct world world = { .key = 0 };
    char text[4096];

    begin(&world);
    while (size > 0) {
        const uint8_t *end = memchr(data, '\n', size);
        const size_t whole = end == NULL ? size : (size_t)(end - data);
        const size_t length = whole < sizeof(text) - 1 ? whole : sizeof(text) - 1;

        memcpy(text, data, length);
        if (length > 1 && text[0] == '@')
            act(&world, text[1]);
        else
            slurm_engine_line(world.engine, world.now, text, length);
        data += whole;
        size -= whole;
        if (size > 0) {
            data++;
            size--;
        }
    }
    (void)slurm_engine_stats(world.engine);
    finish(&world);
    return 0;
}
