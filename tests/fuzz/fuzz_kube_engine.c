/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of stint-kubernetes, and requests between them: whatever comes, nothing breaks, and every event about a task is about
 * one that was announced. A line that begins with a digit is a request: its place among them, the task's number, a machine. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "base/map.h"
#include "base/names.h"
#include "engine/kubernetes/kube_engine.h"
#include "model/catalogue.h"
#include "model/shape.h"

enum { TASKS = 256, LINE = 1024 };

struct world {
    struct catalogue catalogue;
    struct shapes shapes;
    struct names users;
    struct names names;
    struct kube_engine *engine;
    uint64_t tasks[TASKS];
    uint32_t count;
    struct map known;
    msec_t now;
};

static void on_event(void *context, const struct engine_event *event)
{
    struct world *world = context;

    if (event->kind == ENGINE_JOB_ARRIVED) {
        assert(event->job.task_count > 0 && event->job.first_task_id != 0);
        for (uint32_t i = 0; i < event->job.task_count && world->count < TASKS; i++) {
            map_put(&world->known, event->job.first_task_id + i, 1);
            world->tasks[world->count++] = event->job.first_task_id + i;
        }
    } else if (event->task != 0 && world->count < TASKS) {
        assert(map_get(&world->known, event->task) != MAP_NONE);
    }
}

static void on_send(void *context, const char *lines, size_t size)
{
    (void)context;
    assert(size > 0 && lines[size - 1] == '\n');
}

static void on_say(void *context, const char *text)
{
    (void)context;
    (void)text;
}

static void act(struct world *world, const char *text)
{
    const struct engine_port port = kube_engine_port(world->engine);
    const uint64_t task = world->count > 0 && text[1] != '\0'
                              ? world->tasks[(unsigned char)text[1] % world->count]
                              : 0;
    const uint64_t machine = text[1] != '\0' ? (unsigned char)text[2] : 1;
    const uint64_t key = (uint64_t)++world->now;

    switch (text[0]) {
    case '0':
        port.ops->admit(port.self, machine);
        break;
    case '1':
        port.ops->retire(port.self, machine);
        break;
    case '2':
        port.ops->forget(port.self, machine);
        break;
    case '3':
        if (task != 0)
            port.ops->place(port.self, key, task, machine);
        break;
    case '4':
        if (task != 0)
            port.ops->cancel(port.self, key, task);
        break;
    case '5':
        if (task != 0)
            port.ops->stop(port.self, key, task);
        break;
    case '6':
        port.ops->list(port.self, key);
        break;
    case '7':
        kube_engine_disconnected(world->engine, world->now);
        break;
    case '8':
        kube_engine_flush(world->engine, world->now);
        break;
    default:
        world->now += 70000;
        kube_engine_tick(world->engine, world->now);
    }
}

static void tell(struct world *world, const char *text, size_t length)
{
    char line[LINE];

    if (length >= LINE)
        return;
    memcpy(line, text, length);
    line[length] = '\0';
    if (length > 0 && line[0] >= '0' && line[0] <= '9')
        act(world, line);
    else
        kube_engine_line(world->engine, world->now, line, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct price_change price = { 0, 100000 };
    const struct machine_type machine = { .capacity = { .amount = { 4000, 8192, 0 } } };
    struct world world = { .now = 1000000 };

    catalogue_init(&world.catalogue);
    const struct offer offer = { .type =
                                     catalogue_add_type(&world.catalogue, "c1.big", "c1", &machine),
                                 .billing = { 1000, 60000 },
                                 .price = { &price, 1 } };

    (void)catalogue_add_offer(&world.catalogue, "z1", &offer);
    shapes_init(&world.shapes);
    shapes_bind(&world.shapes, &world.catalogue);
    names_init(&world.users);
    names_init(&world.names);
    map_init(&world.known);
    world.engine = kube_engine_create(&(struct engine_config){ .catalogue = &world.catalogue,
                                                               .shapes = &world.shapes,
                                                               .users = &world.users,
                                                               .job_names = &world.names,
                                                               .node_prefix = "st-",
                                                               .start_timeout_ms = 60000,
                                                               .on_event = on_event,
                                                               .on_send = on_send,
                                                               .on_say = on_say,
                                                               .context = &world });
    kube_engine_connected(world.engine, world.now);
    for (size_t at = 0; at < size;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        const size_t length = end != NULL ? (size_t)(end - data) - at : size - at;

        tell(&world, (const char *)data + at, length);
        at += length + 1;
    }
    kube_engine_destroy(world.engine);
    map_done(&world.known);
    shapes_done(&world.shapes);
    names_done(&world.users);
    names_done(&world.names);
    catalogue_done(&world.catalogue);
    return 0;
}
