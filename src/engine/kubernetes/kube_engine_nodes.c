/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_engine_nodes.c - what a line about a node, or about what pods of DaemonSets take of it, means to the controller.
 */
#include "engine/kubernetes/kube_engine_private.h"

#include <string.h>

#include "base/mem.h"
#include "model/catalogue.h"
#include "model/offer_set.h"

void kube_nodes_tell_ready(struct kube_engine *engine, struct kube_node *node)
{
    node->is_told = true;
    node->told = kube_engine_room(node);
    kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_NODE_READY,
                                                     .instance = node->instance,
                                                     .has_capacity = true,
                                                     .capacity = node->told });
}

void kube_nodes_gone(struct kube_engine *engine, struct kube_node *node)
{
    const uint64_t instance = node->instance;
    const bool is_told = node->is_told;
    const bool is_leaving = node->is_leaving;

    kube_services_node_gone(engine, instance);
    kube_engine_node_drop(engine, node);
    if (is_leaving)
        kube_engine_emit(engine,
                         &(struct engine_event){ .kind = ENGINE_NODE_LEFT, .instance = instance });
    else if (is_told)
        kube_engine_emit(engine,
                         &(struct engine_event){ .kind = ENGINE_NODE_LOST, .instance = instance });
}

/* How many pods it takes, where it says so. */
static uint32_t most_of(const struct line *line)
{
    const int64_t pods = kube_engine_amount(line, "pods");

    return line_get(line, "pods") != NULL && pods < UINT32_MAX ? (uint32_t)pods : UINT32_MAX;
}

/* How many volumes it attaches: its drivers may not have said it yet. */
static int64_t volumes_of(const struct line *line)
{
    return line_get(line, "volumes") != NULL ? kube_engine_amount(line, "volumes") : ENGINE_AS_TYPE;
}

bool kube_nodes_take(struct kube_engine *engine, const struct line *line)
{
    const uint64_t instance = kube_engine_instance_of(engine, line_get(line, "slot"));
    const char *state = line_get(line, "state");
    const char *name = line_get(line, "name");
    struct kube_node *node;

    if (state == NULL || name == NULL)
        return false;
    if (instance == 0)
        return true;
    if (strcmp(state, "gone") == 0) {
        node = kube_engine_node_find(engine, instance);
        if (node != NULL)
            kube_nodes_gone(engine, node);
        return true;
    }
    node = kube_engine_node_get(engine, instance);
    if (node->name == NULL)
        node->name = kube_engine_copy(name);
    node->is_there = true;
    node->is_seen = true;
    node->is_up = strcmp(state, "up") == 0;
    node->capacity = (struct res){ .amount = { [RES_CPU] = kube_engine_amount(line, "cpu"),
                                               [RES_MEM] = kube_engine_amount(line, "mem"),
                                               [RES_ACCEL] = kube_engine_amount(line, "accel") } };
    node->most = most_of(line);
    node->capacity.amount[RES_PODS] = node->most;
    node->capacity.amount[RES_VOLUMES] = volumes_of(line);
    kube_engine_tell_room(engine, node);
    if (node->is_up && node->is_admitted && !node->is_told && !node->is_leaving) {
        kube_nodes_tell_ready(engine, node);
    } else if (!node->is_up && node->is_told && !node->is_leaving) {
        node->is_told = false;
        kube_engine_emit(engine, &(struct engine_event){ .kind = ENGINE_NODE_LOST,
                                                         .instance = instance,
                                                         .runs_on = true });
    }
    return true;
}

/*
 * What pods of DaemonSets will take of machines that are not there yet.
 */

/* Of one DaemonSet: a type counts if one of its offers meets what the pods need. */
bool kube_nodes_take_overhead(struct kube_engine *engine, const struct line *line)
{
    const struct catalogue *catalogue = engine->config.catalogue;
    const char *needs = line_get(line, "needs");
    const struct res takes = kube_engine_asks_of(line);
    uint32_t last = UINT32_MAX;

    if (needs != NULL && !offer_text_is_valid(needs))
        return false;
    if (engine->telling == NULL)
        engine->telling = mem_alloc(catalogue->type_count, sizeof(*engine->telling));
    for (uint32_t i = 0; i < catalogue->offer_count; i++) {
        const uint32_t type = catalogue->offers[i].type;

        /* The offers of a type follow each other. */
        if (type == last || (needs != NULL && !offer_text_has(needs, catalogue, i)))
            continue;
        last = type;
        res_add(&engine->telling[type], &takes);
    }
    return true;
}

/* That was all of them. */
bool kube_nodes_take_overheads(struct kube_engine *engine, const struct line *line)
{
    const uint32_t count = engine->config.catalogue->type_count;
    struct res *now = engine->telling;
    bool is_new = engine->taken == NULL;

    (void)line;
    engine->telling = NULL;
    if (now == NULL)
        now = mem_alloc(count, sizeof(*now));
    for (uint32_t i = 0; i < count && !is_new; i++)
        is_new = memcmp(&now[i], &engine->taken[i], sizeof(*now)) != 0;
    mem_free(engine->taken);
    engine->taken = now;
    if (is_new && engine->config.on_taken != NULL)
        engine->config.on_taken(engine->config.context, now);
    return true;
}
