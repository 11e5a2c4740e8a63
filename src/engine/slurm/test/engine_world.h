/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_world.h - stories of lines and events: what stint-slurm says goes in, what the controller
 * hears and what is asked of stint-slurm comes out, both as short texts.
 */
#ifndef STINT_ENGINE_ENGINE_WORLD_H
#define STINT_ENGINE_ENGINE_WORLD_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/slurm/slurm_engine.h"

enum { TEXT_SIZE = 1 << 16 };

#define EPOCH ((msec_t)1794717000000) /* when the stories play */

struct world {
    struct catalogue catalogue;
    struct shapes shapes;
    struct names users;
    struct names job_names;
    struct slurm_engine *engine;
    struct engine_port port;
    msec_t now;
    char heard[TEXT_SIZE]; /* events */
    char sent[TEXT_SIZE];  /* lines */
    uint64_t events;
    struct engine_event last;
    uint64_t tasks[64]; /* announced, in order */
    uint32_t task_count;
};

static inline void put(char *text, const char *more, size_t size)
{
    const size_t used = strlen(text);

    if (used + size + 1 < TEXT_SIZE) {
        memcpy(text + used, more, size);
        text[used + size] = '\0';
    }
}

static inline void on_event(void *context, const struct engine_event *event)
{
    static const char *const words[] = { "arrived",  "withdrawn", "ready", "lost-node", "left",
                                         "started",  "found",     "rate",  "stopped",   "lost",
                                         "finished", "listed",    "kept",  "changed" };
    struct world *world = context;
    char label[SLURM_LABEL_SIZE] = "";
    char text[256];
    const uint64_t task = event->job.id != 0 ? event->job.id : event->task;

    world->events++;
    world->last = *event;
    if (task != 0)
        (void)slurm_engine_label(world->engine, task, label, sizeof(label));
    int length = snprintf(text, sizeof(text), "%s", words[event->kind]);

    if (label[0] != '\0')
        length += snprintf(text + length, sizeof(text) - (size_t)length, " %s", label);
    if (event->kind == ENGINE_JOB_ARRIVED) {
        length += snprintf(text + length, sizeof(text) - (size_t)length, "x%" PRIu32,
                           event->job.task_count);
        for (uint32_t i = 0; i < event->job.task_count && world->task_count < 64; i++)
            world->tasks[world->task_count++] = event->job.first_task_id + i;
    }
    if (event->kind == ENGINE_JOB_CHANGED)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " priority %" PRIu32,
                           event->job.priority);
    if (event->instance != 0 && event->kind != ENGINE_TASK_FINISHED)
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length, " on %" PRIu64, event->instance);
    if (event->runs_on)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " for new work");
    if (event->key >> 63 != 0)
        length += snprintf(text + length, sizeof(text) - (size_t)length, " key own");
    else if (event->key != 0)
        length +=
            snprintf(text + length, sizeof(text) - (size_t)length, " key %" PRIu64, event->key);
    text[length++] = '\n';
    put(world->heard, text, (size_t)length);
}

static inline void on_send(void *context, const char *lines, size_t size)
{
    struct world *world = context;

    put(world->sent, lines, size);
}

static inline void add_type(struct catalogue *catalogue, const char *name, const char *family,
                            struct res capacity)
{
    const struct price_change price = { 0, 100000 };
    const struct machine_type machine = { .capacity = capacity };
    const struct offer offer = {
        .type = catalogue_add_type(catalogue, name, family, &machine),
        .billing = { 1000, 60000 },
        .price = { &price, 1 },
    };

    (void)catalogue_add_offer(catalogue, "z1", &offer);
}

static inline struct slurm_engine_config config_of(struct world *world)
{
    return (struct slurm_engine_config){
        .catalogue = &world->catalogue,
        .shapes = &world->shapes,
        .users = &world->users,
        .job_names = &world->job_names,
        .stop_signal = "USR1",
        .stop_grace_ms = 500,
        .on_event = on_event,
        .on_send = on_send,
        .context = world,
    };
}

static inline void begin_with(struct world *world, const struct slurm_engine_config *config)
{
    world->engine = slurm_engine_create(config);
    world->port = slurm_engine_port(world->engine);
    world->now = EPOCH;
}

static inline void begin(struct world *world)
{
    memset(world, 0, sizeof(*world));
    catalogue_init(&world->catalogue);
    add_type(&world->catalogue, "m5.large", "m5", (struct res){ { 2000, 4000, 0 } });
    add_type(&world->catalogue, "m5.xlarge", "m5", (struct res){ { 4000, 8000, 0 } });
    add_type(&world->catalogue, "g4dn.xlarge", "g4dn", (struct res){ { 4000, 16000, 1000 } });
    catalogue_add_word(&world->catalogue, 1, "fast");
    catalogue_add_word(&world->catalogue, 2, "gpu=t4");
    shapes_init(&world->shapes);
    names_init(&world->users);
    names_init(&world->job_names);
    const struct slurm_engine_config config = config_of(world);

    begin_with(world, &config);
}

static inline void finish(struct world *world)
{
    slurm_engine_destroy(world->engine);
    names_done(&world->users);
    names_done(&world->job_names);
    shapes_done(&world->shapes);
    catalogue_done(&world->catalogue);
}

static inline void line(struct world *world, const char *text)
{
    char copy[4096];

    assert_true(strlen(text) + 1 < sizeof(copy));
    memcpy(copy, text, strlen(text) + 1);
    slurm_engine_line(world->engine, world->now, copy, strlen(text));
}

/* What was heard and sent so far is as expected; forget it. */
static inline void heard(struct world *world, const char *expected)
{
    assert_string_equal(world->heard, expected);
    world->heard[0] = '\0';
}

static inline void sent(struct world *world, const char *expected)
{
    slurm_engine_flush(world->engine, world->now);
    assert_string_equal(world->sent, expected);
    world->sent[0] = '\0';
}

static inline void tick(struct world *world)
{
    slurm_engine_tick(world->engine, world->now);
}

static inline void connect_it(struct world *world)
{
    slurm_engine_connected(world->engine, world->now);
    line(world, "hello protocol=1 stint=0.2.0 slurm=22.05.8");
}

static inline void meet(struct world *world)
{
    begin(world);
    connect_it(world);
    sent(world, "hello protocol=1\n");
}

static inline void place(struct world *world, uint64_t key, const char *label, uint64_t instance)
{
    world->port.ops->place(world->port.self, key, slurm_engine_find(world->engine, label),
                           instance);
}

static inline void queue(struct world *world, uint64_t key, const char *label)
{
    world->port.ops->queue(world->port.self, key, slurm_engine_find(world->engine, label));
}

static inline void stop(struct world *world, uint64_t key, const char *label)
{
    world->port.ops->stop(world->port.self, key, slurm_engine_find(world->engine, label));
}

__attribute__((unused)) static inline void cancel(struct world *world, uint64_t key,
                                                  const char *label)
{
    world->port.ops->cancel(world->port.self, key, slurm_engine_find(world->engine, label));
}

#define ASKS "node_count=1 cpus=2 mem_mib=300 limit_s=600 requeue=1 submit=1794716000"

__attribute__((unused)) static const char waits[] =
    "job id=12 user=ann name=a state=pending run=0 hold=gate " ASKS;
__attribute__((unused)) static const char runs[] =
    "job id=12 user=ann name=a state=running run=0 nodes=st-7 start=1794717000 " ASKS;

#endif
