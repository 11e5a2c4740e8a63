/* SPDX-License-Identifier: Apache-2.0 */
#include "model/shape.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

void shapes_init(struct shapes *shapes)
{
    *shapes = (struct shapes){ 0 };
    names_init(&shapes->names);
    names_init(&shapes->workloads);
    offer_sets_init(&shapes->sets);
    map_init(&shapes->by_hash);
}

void shapes_done(struct shapes *shapes)
{
    names_done(&shapes->names);
    names_done(&shapes->workloads);
    offer_sets_done(&shapes->sets);
    map_done(&shapes->by_hash);
    mem_free(shapes->rows);
    mem_free(shapes->demands);
    mem_free(shapes->chain);
    shapes_init(shapes);
}

static uint64_t hash_spec(uint32_t name, uint32_t workload, uint32_t offers,
                          const struct shape_spec *spec)
{
    uint64_t hash = map_mix(name) ^ map_mix((uint64_t)workload << 32);

    if (offers != OFFERS_ALL || spec->whole)
        hash = map_mix(hash ^ ((uint64_t)offers << 1 | spec->whole));

    for (uint32_t i = 0; i < spec->demand_count; i++) {
        hash = map_mix(hash ^ spec->demands[i].family);
        for (int kind = 0; kind < RES_KINDS; kind++)
            hash = map_mix(hash ^ (uint64_t)spec->demands[i].res.amount[kind]);
    }
    return hash;
}

static bool same_delays(const struct shape_delays *a, const struct shape_delays *b)
{
    return a->fetch_ms == b->fetch_ms && a->build_ms == b->build_ms && a->init_ms == b->init_ms &&
           a->kill_ms == b->kill_ms && a->upload_ms == b->upload_ms;
}

static bool same_demand(const struct shape_demand *a, const struct shape_demand *b)
{
    return a->family == b->family && memcmp(&a->res, &b->res, sizeof(a->res)) == 0;
}

static bool equals(const struct shapes *shapes, const struct shape *row, uint32_t name,
                   uint32_t workload, uint32_t offers, const struct shape_spec *spec)
{
    if (row->name != name || row->workload != workload || row->demand_count != spec->demand_count ||
        row->offers != offers || row->whole != spec->whole ||
        !same_delays(&row->delays, &spec->delays))
        return false;
    for (uint32_t i = 0; i < spec->demand_count; i++) {
        if (!same_demand(&shapes->demands[row->demand_first + i], &spec->demands[i]))
            return false;
    }
    return true;
}

uint32_t shapes_add(struct shapes *shapes, const struct shape_spec *spec)
{
    assert(spec->demand_count > 0);

    const uint32_t name = names_add(&shapes->names, spec->name, strlen(spec->name));
    const uint32_t workload = names_add(&shapes->workloads, spec->workload, strlen(spec->workload));
    const uint32_t offers = offer_sets_add(&shapes->sets, spec->offers != NULL ? spec->offers : "");
    const uint64_t hash = hash_spec(name, workload, offers, spec);
    const uint32_t first = map_get(&shapes->by_hash, hash);

    for (uint32_t i = first; i != MAP_NONE; i = shapes->chain[i]) {
        if (equals(shapes, &shapes->rows[i], name, workload, offers, spec))
            return i;
    }

    const uint32_t index = shapes->count;

    MEM_ROOM(shapes->rows, shapes->rows_room, index + 1);
    MEM_ROOM(shapes->chain, shapes->chain_room, index + 1);
    MEM_ROOM(shapes->demands, shapes->demands_room, shapes->demand_count + spec->demand_count);
    memcpy(shapes->demands + shapes->demand_count, spec->demands,
           spec->demand_count * sizeof(*spec->demands));
    shapes->rows[index] = (struct shape){
        .name = name,
        .workload = workload,
        .demand_first = shapes->demand_count,
        .demand_count = spec->demand_count,
        .offers = offers,
        .whole = spec->whole,
        .delays = spec->delays,
    };
    shapes->chain[index] = first;
    shapes->demand_count += spec->demand_count;
    shapes->count++;
    map_put(&shapes->by_hash, hash, index);
    return index;
}

const struct res *shape_demand_on(const struct shapes *shapes, uint32_t shape, uint32_t family)
{
    assert(shape < shapes->count);

    const struct shape *row = &shapes->rows[shape];
    const struct shape_demand *demand = shapes->demands + row->demand_first;
    const struct res *any = NULL;

    for (uint32_t i = 0; i < row->demand_count; i++) {
        if (demand[i].family == family)
            return &demand[i].res;
        if (demand[i].family == FAMILY_NONE)
            any = &demand[i].res;
    }
    return any;
}

const struct res *shape_taken(const struct shapes *shapes, uint32_t shape,
                              const struct catalogue *catalogue, uint32_t offer,
                              const struct res *capacity)
{
    const struct shape *row = &shapes->rows[shape];
    const struct res *demand =
        shape_demand_on(shapes, shape, catalogue_type_of(catalogue, offer)->family);

    assert(row->offers == OFFERS_ALL || offer < shapes->sets.offer_count);
    if (demand == NULL || !offer_sets_has(&shapes->sets, row->offers, offer))
        return NULL;
    return row->whole && res_fits(demand, capacity) ? capacity : demand;
}

const struct res *shape_demand_at(const struct shapes *shapes, uint32_t shape,
                                  const struct catalogue *catalogue, uint32_t offer)
{
    return shape_taken(shapes, shape, catalogue, offer,
                       &catalogue_type_of(catalogue, offer)->capacity);
}

bool shape_fits_offer(const struct shapes *shapes, uint32_t shape,
                      const struct catalogue *catalogue, uint32_t offer)
{
    const struct res *demand = shape_demand_at(shapes, shape, catalogue, offer);

    return demand != NULL && res_fits(demand, &catalogue_type_of(catalogue, offer)->capacity);
}
