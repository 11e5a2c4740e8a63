/* SPDX-License-Identifier: Apache-2.0 */
#include "model/shape.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
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
    mem_free(shapes->variants);
    shapes_init(shapes);
}

static uint64_t hash_spec(uint32_t name, uint32_t workload, uint32_t offers,
                          const struct shape_spec *spec)
{
    uint64_t hash = map_mix(name) ^ map_mix((uint64_t)workload << 32);

    if (offers != OFFERS_ALL || spec->whole || spec->alike != 0)
        hash = map_mix(hash ^ ((uint64_t)offers << 3 | (uint64_t)spec->alike << 1 | spec->whole));

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
                   uint32_t workload, uint32_t offers, uint32_t variant_of,
                   const struct shape_spec *spec)
{
    if (row->name != name || row->workload != workload || row->demand_count != spec->demand_count ||
        row->offers != offers || row->whole != spec->whole || row->alike != spec->alike ||
        row->variant_of != variant_of || !same_delays(&row->delays, &spec->delays))
        return false;
    for (uint32_t i = 0; i < spec->demand_count; i++) {
        if (!same_demand(&shapes->demands[row->demand_first + i], &spec->demands[i]))
            return false;
    }
    return true;
}

static uint32_t add(struct shapes *shapes, const struct shape_spec *spec, uint32_t variant_of)
{
    assert(spec->demand_count > 0);

    const uint32_t name = names_add(&shapes->names, spec->name, strlen(spec->name));
    const uint32_t workload = names_add(&shapes->workloads, spec->workload, strlen(spec->workload));
    const uint32_t offers = offer_sets_add(&shapes->sets, spec->offers != NULL ? spec->offers : "");
    const uint64_t hash = hash_spec(name, workload, offers, spec);
    const uint32_t first = map_get(&shapes->by_hash, hash);

    for (uint32_t i = first; i != MAP_NONE; i = shapes->chain[i]) {
        if (equals(shapes, &shapes->rows[i], name, workload, offers, variant_of, spec))
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
        .variant_of = variant_of,
        .alike = spec->alike,
        .whole = spec->whole,
        .delays = spec->delays,
    };
    shapes->chain[index] = first;
    shapes->demand_count += spec->demand_count;
    shapes->count++;
    map_put(&shapes->by_hash, hash, index);
    return index;
}

/*
 * Variants.
 */

/* The set of the shape's offers that are in the offer's zone and market, as far as they must be alike. */
static void print_variant(const struct shapes *shapes, const struct shape *row, uint32_t offer,
                          char *buf, size_t size)
{
    const struct catalogue *catalogue = shapes->sets.catalogue;
    const struct offer *at = &catalogue->offers[offer];
    const char *base = offer_sets_text(&shapes->sets, row->offers);
    const bool by_zone = (row->alike & ALIKE_ZONE) != 0 && at->zone != NAME_NONE;
    const bool by_market = (row->alike & ALIKE_MARKET) != 0;
    const char *parts[8];
    uint32_t count = 0;
    size_t used = 0;

    parts[count++] = *base != '\0' ? "(" : "";
    parts[count++] = base;
    parts[count++] = *base != '\0' ? ")" : "cloud";
    parts[count++] = by_zone ? "&zone=" : "";
    parts[count++] = by_zone ? names_text(&catalogue->names, at->zone) : "";
    parts[count++] = by_market ? "&market=" : "";
    parts[count++] = by_market ? market_name(at->market) : "";
    for (uint32_t i = 0; i < count; i++) {
        const size_t length = strlen(parts[i]);

        assert(used + length < size);
        memcpy(buf + used, parts[i], length);
        used += length;
    }
    buf[used] = '\0';
}

static bool has_variant(const struct shapes *shapes, uint32_t first, uint32_t shape)
{
    for (uint32_t i = first; i < shapes->variant_count; i++) {
        if (shapes->variants[i] == shape)
            return true;
    }
    return false;
}

/* One for each zone and market in which the catalogue offers something to the shape. */
static void add_variants(struct shapes *shapes, uint32_t shape)
{
    const struct catalogue *catalogue = shapes->sets.catalogue;
    const uint32_t first = shapes->variant_count;
    struct shape_demand *demands = mem_alloc(shapes->rows[shape].demand_count, sizeof(*demands));
    struct shape_delays delays = shapes->rows[shape].delays;

    memcpy(demands, shapes->demands + shapes->rows[shape].demand_first,
           shapes->rows[shape].demand_count * sizeof(*demands));
    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        const struct shape row = shapes->rows[shape];
        char text[OFFER_TEXT_MAX + 2 * LIMIT_NAME + 32];
        char name[LIMIT_NAME + 1];
        char workload[LIMIT_NAME + 1];

        if (!offer_sets_has(&shapes->sets, row.offers, offer))
            continue;
        print_variant(shapes, &row, offer, text, sizeof(text));
        (void)snprintf(name, sizeof(name), "%s", names_text(&shapes->names, row.name));
        (void)snprintf(workload, sizeof(workload), "%s",
                       names_text(&shapes->workloads, row.workload));

        const struct shape_spec spec = {
            .name = name,
            .workload = workload,
            .delays = delays,
            .demands = demands,
            .demand_count = row.demand_count,
            .offers = text,
            .whole = row.whole,
        };
        const uint32_t variant = add(shapes, &spec, shape);

        if (has_variant(shapes, first, variant))
            continue;
        MEM_ROOM(shapes->variants, shapes->variants_room, shapes->variant_count + 1);
        shapes->variants[shapes->variant_count++] = variant;
    }
    shapes->rows[shape].variant_first = first;
    shapes->rows[shape].variant_count = shapes->variant_count - first;
    mem_free(demands);
}

void shapes_bind(struct shapes *shapes, const struct catalogue *catalogue)
{
    const uint32_t count = shapes->count;

    offer_sets_bind(&shapes->sets, catalogue);
    shapes->variant_count = 0;
    for (uint32_t shape = 0; shape < count; shape++) {
        if (shapes->rows[shape].alike != 0)
            add_variants(shapes, shape);
    }
}

uint32_t shapes_add(struct shapes *shapes, const struct shape_spec *spec)
{
    const uint32_t before = shapes->count;
    const uint32_t shape = add(shapes, spec, SHAPE_NONE);

    if (spec->alike != 0 && shapes->count != before && shapes->sets.catalogue != NULL)
        add_variants(shapes, shape);
    return shape;
}

uint32_t shape_variant_at(const struct shapes *shapes, uint32_t shape, uint32_t offer)
{
    const struct shape *row = &shapes->rows[shape];

    for (uint32_t i = 0; i < row->variant_count; i++) {
        const uint32_t variant = shapes->variants[row->variant_first + i];

        if (offer_sets_has(&shapes->sets, shapes->rows[variant].offers, offer))
            return variant;
    }
    return SHAPE_NONE;
}

/*
 * Demands.
 */

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
