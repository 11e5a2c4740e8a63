/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_stage.h - an engine port over lines, for stories: what stint-kubernetes says goes in, what the controller hears and what is
 * asked of stint-kubernetes comes out, both as short texts.
 */
#ifndef STINT_ENGINE_KUBE_STAGE_H
#define STINT_ENGINE_KUBE_STAGE_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/names.h"
#include "base/test/check.h"
#include "engine/kubernetes/kube_engine.h"
#include "model/catalogue.h"
#include "model/shape.h"

enum { TEXT_SIZE = 1 << 14 };

struct world {
    struct catalogue catalogue;
    struct shapes shapes;
    struct names users;
    struct names job_names;
    struct kube_engine *engine;
    struct engine_port port;
    msec_t now;
    char heard[TEXT_SIZE];
    char sent[TEXT_SIZE];
    uint64_t tasks[16]; /* announced, in order */
    uint32_t task_count;
    struct engine_event last;
    uint32_t shape;   /* of the job that arrived last */
    struct res taken; /* of machines of the first type */
    uint32_t taken_count;
};

static inline void put(char *text, const char *more, size_t size)
{
    const size_t used = strlen(text);

    assert_true(used + size + 1 < TEXT_SIZE);
    memcpy(text + used, more, size);
    text[used + size] = '\0';
}

static inline void on_event(void *context, const struct engine_event *event)
{
    static const char *const words[] = { "arrived", "withdrawn", "ready", "lost-node", "left",
                                         "started", "found",     "rate",  "stopped",   "lost",
                                         "ended",   "listed",    "kept",  "changed",   "left-job" };
    struct world *world = context;
    char text[256];
    char label[128] = "";

    if (event->task != 0)
        (void)kube_engine_label(world->engine, event->task, label, sizeof(label));
    if (event->kind == ENGINE_JOB_ARRIVED) {
        world->tasks[world->task_count++ % 16] = event->job.first_task_id;
        world->shape = event->job.shape;
    }
    (void)snprintf(text, sizeof(text), "%s%s%s", words[event->kind], label[0] != '\0' ? " " : "",
                   strchr(label, '/') != NULL ? label : "");
    put(world->heard, text, strlen(text));
    if (event->kind == ENGINE_JOB_ARRIVED)
        (void)snprintf(text, sizeof(text), " x%" PRIu32, event->job.task_count);
    else if (event->instance != 0)
        (void)snprintf(text, sizeof(text), " on %" PRIu64, event->instance);
    else
        text[0] = '\0';
    put(world->heard, text, strlen(text));
    put(world->heard, "\n", 1);
    world->last = *event;
}

static inline void on_send(void *context, const char *lines, size_t size)
{
    struct world *world = context;

    put(world->sent, lines, size);
}

static inline void on_taken(void *context, const struct res *taken)
{
    struct world *world = context;

    world->taken = taken[0];
    world->taken_count++;
}

static inline void on_say(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static inline void line(struct world *world, const char *text)
{
    char buf[1024];

    (void)snprintf(buf, sizeof(buf), "%s", text);
    kube_engine_line(world->engine, world->now, buf, strlen(buf));
}

static inline void begin_with(struct world *world, bool observes,
                              int (*explain)(void *context, uint64_t task, char *buf, size_t size))
{
    const struct price_change price = { 0, 100000 };
    const struct machine_type machine = { .capacity = { .amount = { 4000, 8192, 0, 110, 25 } } };

    *world = (struct world){ .now = 1000000 };
    catalogue_init(&world->catalogue);
    const struct offer offer = {
        .type = catalogue_add_type(&world->catalogue, "c1.big", "c1", &machine),
        .billing = { 1000, 60000 },
        .price = { &price, 1 },
    };

    (void)catalogue_add_offer(&world->catalogue, "z1", &offer);
    shapes_init(&world->shapes);
    shapes_bind(&world->shapes, &world->catalogue);
    names_init(&world->users);
    names_init(&world->job_names);
    world->engine = kube_engine_create(&(struct engine_config){
        .catalogue = &world->catalogue,
        .shapes = &world->shapes,
        .users = &world->users,
        .job_names = &world->job_names,
        .node_prefix = "st-",
        .start_timeout_ms = 60000,
        .observes = observes,
        .explain = explain,
        .on_event = on_event,
        .on_send = on_send,
        .on_say = on_say,
        .on_taken = on_taken,
        .context = world,
    });
    world->port = kube_engine_port(world->engine);
    kube_engine_connected(world->engine, world->now);
    line(world, "hello protocol=1");
    line(world, "sync what=nodes");
    line(world, "synced what=nodes");
    line(world, "sync what=pods");
    line(world, "synced what=pods");
    assert_string_equal(world->sent,
                        observes ? "hello protocol=1 observes=1\n" : "hello protocol=1\n");
    world->sent[0] = '\0';
}

static inline void begin_as(struct world *world, bool observes)
{
    begin_with(world, observes, NULL);
}

static inline void begin(struct world *world)
{
    begin_as(world, false);
}

static inline void end(struct world *world)
{
    kube_engine_destroy(world->engine);
    shapes_done(&world->shapes);
    names_done(&world->users);
    names_done(&world->job_names);
    catalogue_done(&world->catalogue);
}

/* What was heard, and what was sent, since the last time. */
static inline void expect(struct world *world, const char *heard, const char *sent)
{
    kube_engine_flush(world->engine, world->now);
    if (kube_engine_next_wake(world->engine) <= world->now)
        kube_engine_tick(world->engine, world->now);
    assert_string_equal(world->heard, heard);
    assert_string_equal(world->sent, sent);
    world->heard[0] = '\0';
    world->sent[0] = '\0';
}

/* No pod has come for a moment: those that came are announced. */
/* What has come is announced. */
static inline void settle(struct world *world)
{
    const msec_t wake = kube_engine_next_wake(world->engine);

    world->now = wake > world->now && wake <= world->now + 5000 ? wake : world->now + 1000;
    kube_engine_tick(world->engine, world->now);
}

#endif
