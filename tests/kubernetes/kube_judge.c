/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_judge.c - a daemon that places pods at random: kube_judge CATALOGUE SEED SLOTS, lines of stint-kubernetes on standard
 * input and output.
 *
 * It is the daemon's own adapter (kube_engine.h) with the model's own rule of what fits where, and a policy that cannot be
 * simpler: of the machines that have room for a pod and that it may run on, any one. SLOTS says which offer a machine is,
 * "17 3" a line: machine 17 is the fourth offer of the catalogue. What is said to standard error is for differ.py:
 *
 *     placed NAMESPACE/POD SLOT
 *     back NAMESPACE/POD          the adapter refuses: the machine has as many pods as it takes
 *     left NAMESPACE/POD: it is left to the scheduler: WHY
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/line_input.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/names.h"
#include "base/rng.h"
#include "engine/kubernetes/kube_engine.h"
#include "model/shape.h"
#include "trace/catalogue_file.h"
#include "trace/input_file.h"

enum { SLOTS_MAX = 4096, TURN_MS = 200 };

struct slot {
    uint64_t instance;
    uint32_t offer;
    struct res capacity;
    struct res used;
    bool is_ready;
};

struct placed {
    uint64_t task;
    uint32_t apart; /* a number of model/apart.h */
    uint32_t slot;
    uint32_t shape;
    struct res taken;
};

struct waiting {
    uint64_t task;
    uint32_t apart;
    uint32_t shape;
};

struct judge {
    struct catalogue catalogue;
    struct shapes shapes;
    struct names users;
    struct names job_names;
    struct kube_engine *engine;
    struct engine_port port;
    struct rng rng;
    struct slot slots[SLOTS_MAX];
    uint32_t slot_count;
    struct waiting *waiting;
    uint32_t waiting_count, waiting_room;
    struct placed *placed;
    uint32_t placed_count, placed_room;
    uint64_t keys;
};

static msec_t now_ms(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (msec_t)at.tv_sec * MSEC_PER_SEC + at.tv_nsec / 1000000;
}

static void on_send(void *context, const char *lines, size_t size)
{
    (void)context;
    while (size > 0) {
        const ssize_t n = write(STDOUT_FILENO, lines, size);

        if (n <= 0)
            exit(EXIT_FAILURE);
        lines += n;
        size -= (size_t)n;
    }
}

static void on_say(void *context, const char *text)
{
    (void)context;
    (void)fprintf(stderr, "left %s\n", text);
}

static void on_ready(struct judge *judge, const struct engine_event *event)
{
    for (uint32_t i = 0; i < judge->slot_count; i++) {
        if (judge->slots[i].instance == event->instance) {
            judge->slots[i].capacity = event->capacity;
            if (event->capacity.amount[RES_VOLUMES] == ENGINE_AS_TYPE)
                judge->slots[i].capacity.amount[RES_VOLUMES] =
                    catalogue_type_of(&judge->catalogue, judge->slots[i].offer)
                        ->capacity.amount[RES_VOLUMES];
            judge->slots[i].is_ready = true;
        }
    }
}

static void drop(struct judge *judge, uint64_t task)
{
    for (uint32_t i = 0; i < judge->placed_count; i++) {
        if (judge->placed[i].task == task) {
            res_sub(&judge->slots[judge->placed[i].slot].used, &judge->placed[i].taken);
            judge->placed[i] = judge->placed[--judge->placed_count];
            return;
        }
    }
    for (uint32_t i = 0; i < judge->waiting_count; i++) {
        if (judge->waiting[i].task == task) {
            judge->waiting[i] = judge->waiting[--judge->waiting_count];
            return;
        }
    }
}

static void wait_again(struct judge *judge, uint64_t task)
{
    char label[256];

    for (uint32_t i = 0; i < judge->placed_count; i++) {
        if (judge->placed[i].task != task)
            continue;
        (void)kube_engine_label(judge->engine, task, label, sizeof(label));
        (void)fprintf(stderr, "back %s\n", label);
        MEM_ROOM(judge->waiting, judge->waiting_room, judge->waiting_count + 1);
        judge->waiting[judge->waiting_count++] = (struct waiting){
            .task = task, .apart = judge->placed[i].apart, .shape = judge->placed[i].shape
        };
        res_sub(&judge->slots[judge->placed[i].slot].used, &judge->placed[i].taken);
        judge->placed[i] = judge->placed[--judge->placed_count];
        return;
    }
}

/* It keeps apart from something else. */
static void change(struct judge *judge, uint64_t task, uint32_t apart)
{
    for (uint32_t i = 0; i < judge->placed_count; i++) {
        if (judge->placed[i].task == task)
            judge->placed[i].apart = apart;
    }
    for (uint32_t i = 0; i < judge->waiting_count; i++) {
        if (judge->waiting[i].task == task)
            judge->waiting[i].apart = apart;
    }
}

static void on_event(void *context, const struct engine_event *event)
{
    struct judge *judge = context;

    if (event->kind == ENGINE_JOB_ARRIVED) {
        MEM_ROOM(judge->waiting, judge->waiting_room, judge->waiting_count + 1);
        judge->waiting[judge->waiting_count++] = (struct waiting){ .task = event->job.first_task_id,
                                                                   .apart = event->job.keeps,
                                                                   .shape = event->job.shape };
    } else if (event->kind == ENGINE_JOB_CHANGED) {
        change(judge, event->job.first_task_id, event->job.keeps);
    } else if (event->kind == ENGINE_NODE_READY) {
        on_ready(judge, event);
    } else if (event->kind == ENGINE_TASK_FINISHED || event->kind == ENGINE_TASK_WITHDRAWN) {
        drop(judge, event->task);
    } else if (event->kind == ENGINE_TASK_LOST) {
        wait_again(judge, event->task);
    }
}

static const struct res *taken_on(const struct judge *judge, uint32_t shape,
                                  const struct slot *slot)
{
    struct res free = res_minus(&slot->capacity, &slot->used);
    const struct res *taken;

    if (!slot->is_ready)
        return NULL;
    taken = shape_taken(&judge->shapes, shape, &judge->catalogue, slot->offer, &slot->capacity);
    return taken != NULL && res_fits(taken, &free) ? taken : NULL;
}

/* Whether one is there that it must not be beside. */
static bool is_too_near(const struct judge *judge, uint32_t apart, uint32_t slot)
{
    for (uint32_t i = 0; apart != APART_NONE && i < judge->placed_count; i++) {
        if (judge->placed[i].slot == slot &&
            aparts_meet(&judge->shapes.aparts, judge->placed[i].apart, apart))
            return true;
    }
    return false;
}

/* Any slot that holds it, all alike. */
static uint32_t choose(struct judge *judge, const struct waiting *one)
{
    uint32_t chosen = UINT32_MAX;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < judge->slot_count; i++) {
        if (taken_on(judge, one->shape, &judge->slots[i]) != NULL &&
            !is_too_near(judge, one->apart, i) && rng_next(&judge->rng) % ++seen == 0)
            chosen = i;
    }
    return chosen;
}

static void place(struct judge *judge, const struct waiting *one, uint32_t slot)
{
    const struct res taken = *taken_on(judge, one->shape, &judge->slots[slot]);
    char label[256];

    res_add(&judge->slots[slot].used, &taken);
    MEM_ROOM(judge->placed, judge->placed_room, judge->placed_count + 1);
    judge->placed[judge->placed_count++] = (struct placed){
        .task = one->task, .apart = one->apart, .slot = slot, .shape = one->shape, .taken = taken
    };
    (void)kube_engine_label(judge->engine, one->task, label, sizeof(label));
    (void)fprintf(stderr, "placed %s st-%" PRIu64 "\n", label, judge->slots[slot].instance);
    judge->port.ops->place(judge->port.self, ++judge->keys, one->task, judge->slots[slot].instance);
}

static void place_all(struct judge *judge)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < judge->waiting_count; i++) {
        const struct waiting one = judge->waiting[i];
        const uint32_t slot = choose(judge, &one);

        if (slot == UINT32_MAX)
            judge->waiting[kept++] = one;
        else
            place(judge, &one, slot);
    }
    judge->waiting_count = kept;
}

static void read_slots(struct judge *judge, const char *path)
{
    FILE *file = fopen(path, "re");
    uint64_t instance;
    uint32_t offer;

    while (file != NULL && judge->slot_count < SLOTS_MAX &&
           fscanf(file, "%" SCNu64 " %" SCNu32, &instance, &offer) == 2) {
        if (offer >= judge->catalogue.offer_count)
            exit(EXIT_FAILURE);
        judge->slots[judge->slot_count++] = (struct slot){ .instance = instance, .offer = offer };
    }
    if (file != NULL)
        (void)fclose(file);
}

static void begin(struct judge *judge, char **argv)
{
    struct input_file file = { 0 };
    struct error error = { "" };

    if (input_file_read(argv[1], &file, &error) < 0 ||
        catalogue_file_read(file.text, file.length, &judge->catalogue, &error) < 0) {
        (void)fprintf(stderr, "kube_judge: %s\n", error.text);
        exit(EXIT_FAILURE);
    }
    input_file_done(&file);
    catalogue_set_most(&judge->catalogue, RES_PODS, 110);
    rng_init(&judge->rng, strtoull(argv[2], NULL, 10), 0);
    read_slots(judge, argv[3]);
    shapes_init(&judge->shapes);
    shapes_bind(&judge->shapes, &judge->catalogue);
    names_init(&judge->users);
    names_init(&judge->job_names);
    judge->engine = kube_engine_create(&(struct engine_config){ .catalogue = &judge->catalogue,
                                                                .shapes = &judge->shapes,
                                                                .users = &judge->users,
                                                                .job_names = &judge->job_names,
                                                                .node_prefix = "st-",
                                                                .start_timeout_ms = 60000,
                                                                .on_event = on_event,
                                                                .on_send = on_send,
                                                                .on_say = on_say,
                                                                .context = judge });
    judge->port = kube_engine_port(judge->engine);
    kube_engine_connected(judge->engine, now_ms());
    for (uint32_t i = 0; i < judge->slot_count; i++)
        judge->port.ops->admit(judge->port.self, judge->slots[i].instance);
}

/* Every line that there is; false: no more will come. */
static bool hear(struct judge *judge, struct line_input *input)
{
    struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
    size_t length;
    char *text;
    char *room = line_input_room(input, &length);
    ssize_t n;

    if (poll(&in, 1, TURN_MS) <= 0)
        return true;
    n = read(STDIN_FILENO, room, length);
    if (n <= 0)
        return n < 0 && errno == EINTR;
    line_input_add(input, (size_t)n);
    while (line_input_next(input, &text, &length))
        kube_engine_line(judge->engine, now_ms(), text, length);
    return true;
}

/* What there is to hear, and what follows from it or from the time that has passed. */
static bool turn(struct judge *judge, struct line_input *input)
{
    if (!hear(judge, input))
        return false;
    kube_engine_tick(judge->engine, now_ms());
    if (kube_engine_is_up(judge->engine))
        place_all(judge);
    kube_engine_flush(judge->engine, now_ms());
    return true;
}

int main(int argc, char **argv)
{
    struct judge *judge = mem_alloc(1, sizeof(*judge));
    struct line_input input;

    if (argc != 4) {
        (void)fputs("usage: kube_judge CATALOGUE SEED SLOTS\n", stderr);
        return 2;
    }
    begin(judge, argv);
    line_input_init(&input);
    while (turn(judge, &input))
        ;
    line_input_done(&input);
    kube_engine_destroy(judge->engine);
    shapes_done(&judge->shapes);
    names_done(&judge->users);
    names_done(&judge->job_names);
    catalogue_done(&judge->catalogue);
    mem_free(judge->waiting);
    mem_free(judge->placed);
    mem_free(judge);
    return 0;
}
