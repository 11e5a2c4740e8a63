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
    aparts_init(&shapes->aparts);
    map_init(&shapes->by_hash);
}

void shapes_done(struct shapes *shapes)
{
    names_done(&shapes->names);
    names_done(&shapes->workloads);
    offer_sets_done(&shapes->sets);
    aparts_done(&shapes->aparts);
    map_done(&shapes->by_hash);
    mem_free(shapes->rows);
    mem_free(shapes->demands);
    mem_free(shapes->chain);
    mem_free(shapes->variants);
    shapes_init(shapes);
}

void shapes_copy(struct shapes *to, const struct shapes *from)
{
    *to = *from;
    names_copy(&to->names, &from->names);
    names_copy(&to->workloads, &from->workloads);
    offer_sets_copy(&to->sets, &from->sets);
    aparts_copy(&to->aparts, &from->aparts);
    map_copy(&to->by_hash, &from->by_hash);
    to->rows = mem_copy(from->rows, from->count, from->rows_room, sizeof(*from->rows));
    to->demands =
        mem_copy(from->demands, from->demand_count, from->demands_room, sizeof(*from->demands));
    to->chain = mem_copy(from->chain, from->count, from->chain_room, sizeof(*from->chain));
    to->variants =
        mem_copy(from->variants, from->variant_count, from->variants_room, sizeof(*from->variants));
}

static uint64_t hash_spec(uint32_t name, uint32_t workload, uint32_t offers,
                          const struct shape_spec *spec)
{
    uint64_t hash = map_mix(name) ^ map_mix((uint64_t)workload << 32);

    if (offers != OFFERS_ALL || spec->whole || spec->alike != 0 || spec->by_market)
        hash = map_mix(hash ^ ((uint64_t)spec->by_market << 40 | (uint64_t)offers << 3 |
                               (uint64_t)spec->alike << 1 | spec->whole));

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
           a->kill_ms == b->kill_ms && a->upload_ms == b->upload_ms &&
           a->checkpoint_ms == b->checkpoint_ms;
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
        row->by_market != spec->by_market || row->variant_of != variant_of ||
        !same_delays(&row->delays, &spec->delays))
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
        .zone = NAME_NONE,
        .alike = spec->alike,
        .by_market = spec->by_market,
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

/* What a variant is made of: the shape that has it, in words that outlast a change of the table. */
struct variety {
    uint32_t shape;
    struct shape_demand *demands;
    struct shape_spec spec;
    char name[LIMIT_NAME + 1];
    char workload[LIMIT_NAME + 1];
    char offers[OFFER_TEXT_MAX + 1];
};

static void open_variety(struct variety *variety, const struct shapes *shapes, uint32_t shape)
{
    const struct shape *row = &shapes->rows[shape];

    variety->shape = shape;
    variety->demands = mem_alloc(row->demand_count, sizeof(*variety->demands));
    memcpy(variety->demands, shapes->demands + row->demand_first,
           row->demand_count * sizeof(*variety->demands));
    (void)snprintf(variety->name, sizeof(variety->name), "%s",
                   names_text(&shapes->names, row->name));
    (void)snprintf(variety->workload, sizeof(variety->workload), "%s",
                   names_text(&shapes->workloads, row->workload));
    (void)snprintf(variety->offers, sizeof(variety->offers), "%s",
                   offer_sets_text(&shapes->sets, row->offers));
    variety->spec = (struct shape_spec){
        .name = variety->name,
        .workload = variety->workload,
        .delays = row->delays,
        .demands = variety->demands,
        .demand_count = row->demand_count,
        .offers = variety->offers,
        .whole = row->whole,
    };
}

static void close_variety(struct variety *variety)
{
    mem_free(variety->demands);
}

static bool has_variant(const struct shapes *shapes, uint32_t first, uint32_t shape)
{
    for (uint32_t i = first; i < shapes->variant_count; i++) {
        if (shapes->variants[i] == shape)
            return true;
    }
    return false;
}

/* The variant whose offers are also in 'zone' (or NAME_NONE) and meet 'rest'. */
static void add_variant(struct shapes *shapes, const struct variety *variety, uint32_t zone,
                        enum shape_market market, const char *rest)
{
    const uint32_t first = shapes->rows[variety->shape].variant_first;
    const char *base = variety->offers;
    char text[OFFER_TEXT_MAX + 2 * LIMIT_NAME + 32];
    struct shape_spec spec = variety->spec;
    const int length =
        snprintf(text, sizeof(text), "%s%s%s%s%s%s", *base != '\0' ? "(" : "", base,
                 *base != '\0' ? ")" : "cloud", zone != NAME_NONE ? "&zone=" : "",
                 zone != NAME_NONE ? names_text(&shapes->sets.catalogue->names, zone) : "", rest);

    assert(length > 0 && (size_t)length < sizeof(text));
    (void)length;
    spec.offers = text;

    const uint32_t variant = add(shapes, &spec, variety->shape);

    shapes->rows[variant].zone = zone;
    shapes->rows[variant].market = (uint8_t)market;
    if (has_variant(shapes, first, variant))
        return;
    MEM_ROOM(shapes->variants, shapes->variants_room, shapes->variant_count + 1);
    shapes->variants[shapes->variant_count++] = variant;
}

/* Those that the offer is in. */
static void add_variants_at(struct shapes *shapes, const struct variety *variety,
                            const struct offer *at)
{
    const struct shape *row = &shapes->rows[variety->shape];
    const uint32_t zone = (row->alike & ALIKE_ZONE) != 0 ? at->zone : NAME_NONE;
    const enum shape_market own = at->market == MARKET_SPOT ? SHAPE_MARKET_SPOT : SHAPE_MARKET_SAFE;
    const bool by_market = row->by_market;

    if ((row->alike & ALIKE_MARKET) != 0) {
        char rest[32];

        (void)snprintf(rest, sizeof(rest), "&market=%s", market_name(at->market));
        add_variant(shapes, variety, zone, own, rest);
        return;
    }
    add_variant(shapes, variety, zone, SHAPE_MARKET_ANY, "");
    if (by_market)
        add_variant(shapes, variety, zone, own,
                    own == SHAPE_MARKET_SPOT ? "&market=spot" : "&!market=spot");
}

/* One for each zone and market in which the catalogue offers something to the shape. */
static void add_variants(struct shapes *shapes, uint32_t shape)
{
    const struct catalogue *catalogue = shapes->sets.catalogue;
    const uint32_t first = shapes->variant_count;
    struct variety variety;

    open_variety(&variety, shapes, shape);
    shapes->rows[shape].variant_first = first;
    for (uint32_t offer = 0; offer < catalogue->offer_count; offer++) {
        if (offer_sets_has(&shapes->sets, shapes->rows[shape].offers, offer))
            add_variants_at(shapes, &variety, &catalogue->offers[offer]);
    }
    if (shapes->rows[shape].by_market)
        add_variant(shapes, &variety, NAME_NONE, SHAPE_MARKET_NOWHERE, "&!cloud");
    shapes->rows[shape].variant_count = shapes->variant_count - first;
    close_variety(&variety);
}

uint32_t shapes_by_market(struct shapes *shapes, uint32_t shape)
{
    struct variety variety;

    if (shapes->rows[shape].by_market)
        return shape;
    open_variety(&variety, shapes, shape);
    variety.spec.alike = shapes->rows[shape].alike;
    variety.spec.by_market = true;

    const uint32_t ruled = shapes_add(shapes, &variety.spec);

    close_variety(&variety);
    return ruled;
}

void shapes_bind(struct shapes *shapes, const struct catalogue *catalogue)
{
    const uint32_t count = shapes->count;

    offer_sets_bind(&shapes->sets, catalogue);
    shapes->variant_count = 0;
    for (uint32_t shape = 0; shape < count; shape++) {
        if (shapes->rows[shape].alike != 0 || shapes->rows[shape].by_market)
            add_variants(shapes, shape);
    }
}

uint32_t shapes_add(struct shapes *shapes, const struct shape_spec *spec)
{
    const uint32_t before = shapes->count;
    const uint32_t shape = add(shapes, spec, SHAPE_NONE);

    if ((spec->alike != 0 || spec->by_market) && shapes->count != before &&
        shapes->sets.catalogue != NULL)
        add_variants(shapes, shape);
    return shape;
}

uint32_t shape_variant_at(const struct shapes *shapes, uint32_t shape, uint32_t offer,
                          bool keeps_market)
{
    const struct shape *row = &shapes->rows[shape];
    uint32_t found = SHAPE_NONE;

    for (uint32_t i = 0; i < row->variant_count; i++) {
        const uint32_t variant = shapes->variants[row->variant_first + i];

        if (!offer_sets_has(&shapes->sets, shapes->rows[variant].offers, offer))
            continue;
        if (!keeps_market || shapes->rows[variant].market != SHAPE_MARKET_ANY)
            return variant;
        if (found == SHAPE_NONE)
            found = variant;
    }
    return found;
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
