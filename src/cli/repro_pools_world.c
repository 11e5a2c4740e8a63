/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/repro_pools.h"
#include "trace/doc.h"
#include "trace/doc_value.h"
#include "trace/offer_table.h"
#include "trace/price_history.h"

enum { PATH_SIZE = 128, HAND_DIGITS = 9, HAND_TAIL = 1234, TICKS_MOST = 1 << 20 };

#define DAY_MS (24 * MSEC_PER_HOUR)

static const char *const zones[POOLS_ZONES] = {
    "us-east-1a", "us-east-1b", "us-east-1c", "us-east-1d", "us-east-1e", "us-east-2a",
    "us-east-2b", "us-east-2c", "us-west-1a", "us-west-1c", "us-west-2a", "us-west-2c",
};

/* Capped at the target, or typed: measured shares have more digits and do not end in 1234. */
static bool is_by_hand(const struct offer_row *row)
{
    return row->digits <= HAND_DIGITS || row->tail == HAND_TAIL;
}

static void take_rows(struct pools_world *world, const struct offer_table *table, bool only_trusted,
                      struct pools_zone *zone)
{
    zone->offers = ARENA_ARRAY(&world->arena, struct promise_offer, table->count);
    zone->on_demand = HUGE_VAL;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct offer_row *row = &table->rows[i];

        zone->on_demand = fmin(zone->on_demand, (double)row->on_demand / (double)row->capacity);
        world->left_out += is_by_hand(row);
        if (only_trusted && is_by_hand(row))
            continue;
        zone->offers[zone->count] = (struct promise_offer){
            .capacity = row->capacity, .price = row->price, .down = row->down, .type = zone->count
        };
        zone->count++;
    }
    world->offers += zone->count;
}

static int load_zone(struct pools_world *world, const char *name, bool only_trusted,
                     struct pools_zone *zone, struct error *reterr)
{
    struct offer_table table = { 0 };
    struct input_file file = { 0 };
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path), "tr-kubernetes/record-%s.csv", name);

    int rc = repro_read_data(path, &file, reterr);

    if (rc == 0 && (rc = offer_table_read(file.text, file.length, &table, reterr)) < 0)
        (void)error_prefix(reterr, rc, path);
    input_file_done(&file);
    if (rc < 0)
        return rc;
    zone->name = name;
    take_rows(world, &table, only_trusted, zone);
    offer_table_done(&table);
    return zone->count > 0 ? 0 : error_set(reterr, -EINVAL, "%s: no offer is left", path);
}

int pools_world_load(struct pools_world *world, bool only_trusted, struct error *reterr)
{
    int rc = 0;

    *world = (struct pools_world){ 0 };
    arena_init(&world->arena);
    for (int i = 0; rc == 0 && i < POOLS_ZONES; i++)
        rc = load_zone(world, zones[i], only_trusted, &world->zones[i], reterr);
    if (rc != 0)
        pools_world_done(world);
    return rc;
}

void pools_world_done(struct pools_world *world)
{
    arena_done(&world->arena);
}

double pools_short(int nines)
{
    double share = 1;

    for (int i = 0; i < nines; i++)
        share /= 10;
    return share;
}

double pools_cost(const struct pools_zone *zone, money_t price)
{
    return (double)price / (zone->on_demand * POOLS_CAPACITY);
}

struct promise pools_promise(const struct pools_zone *zone, int nines)
{
    return (struct promise){ .offers = zone->offers,
                             .count = zone->count,
                             .capacity = POOLS_CAPACITY,
                             .short_most = pools_short(nines) };
}

/* ---- prices of 2015 ---- */

/* Prices on demand and ECU of these types were the same in all zones; ECU come in halves. */
static const struct {
    const char *type;
    money_t on_demand;
    int64_t half_ecu;
} types_2015[] = {
    { "c3.xlarge", 210000, 28 }, { "g2.2xlarge", 650000, 52 },   { "m3.medium", 70000, 6 },
    { "r3.large", 175000, 13 },  { "d2.8xlarge", 5520000, 232 },
};

enum {
    TYPES_2015 = sizeof(types_2015) / sizeof(types_2015[0]),
    DAYS_2015 = 153,
    LEARNED_DAYS = 28
};

static int find_type_2015(const char *name)
{
    for (int i = 0; i < TYPES_2015; i++) {
        if (strcmp(types_2015[i].type, name) == 0)
            return i;
    }
    return -1;
}

static void copy_series(struct pools_market *market, const struct price_series *from,
                        struct price_series *to)
{
    struct price_change *changes = ARENA_ARRAY(&market->arena, struct price_change, from->count);

    memcpy(changes, from->changes, from->count * sizeof(*changes));
    *to = (struct price_series){ .changes = changes, .count = from->count };
}

static int take_history(struct pools_market *market, const struct price_history *history,
                        struct error *reterr)
{
    market->market.offers =
        ARENA_ARRAY(&market->arena, struct pool_market_offer, history->offer_count);
    market->zone_of = ARENA_ARRAY(&market->arena, uint32_t, history->offer_count);
    for (uint32_t i = 0; i < history->offer_count; i++) {
        struct pool_market_offer *offer = &market->market.offers[market->market.count];
        const char *name = names_text(&history->names, history->offers[i].type);
        const int type = find_type_2015(name);

        if (type < 0)
            return error_set(reterr, -EINVAL, "prices of 2015: the type '%s' is not known", name);
        *offer = (struct pool_market_offer){ .on_demand = types_2015[type].on_demand,
                                             .capacity = types_2015[type].half_ecu,
                                             .type = (uint32_t)type };
        copy_series(market, &history->offers[i].series, &offer->series);
        if (offer->series.changes[0].at > market->begin) /* when all are there */
            market->begin = offer->series.changes[0].at;
        market->zone_of[market->market.count++] = history->offers[i].zone;
    }
    market->judged = (struct pool_span){ market->begin + LEARNED_DAYS * DAY_MS,
                                         market->begin + DAYS_2015 * DAY_MS };
    return 0;
}

int pools_market_2015(struct pools_market *market, struct error *reterr)
{
    static const char path[] = "spot-2015/us-east-1-linux.csv.zst";
    struct price_history history = { 0 };
    struct input_file file = { 0 };
    int rc = repro_read_data(path, &file, reterr);

    if (rc == 0 && (rc = price_history_read(file.text, file.length, &history, reterr)) < 0)
        (void)error_prefix(reterr, rc, path);
    input_file_done(&file);
    if (rc < 0)
        return rc;
    *market = (struct pools_market){ .capacity = POOLS_2015_CAPACITY };
    arena_init(&market->arena);
    /* The cheapest per unit on demand is the first type. */
    market->market.on_demand = (struct promise_offer){ .capacity = types_2015[0].half_ecu,
                                                       .price = types_2015[0].on_demand };
    market->on_demand = mul_div(market->market.on_demand.price, market->capacity,
                                market->market.on_demand.capacity);
    rc = take_history(market, &history, reterr);
    price_history_done(&history);
    if (rc < 0)
        pools_market_done(market);
    return rc;
}

/* ---- availability of GPUs ---- */

static const char *const gpu_zones[] = {
    "us-east-1a", "us-east-1c", "us-east-1d", "us-east-1f", "us-east-2a",
    "us-east-2b", "us-west-2a", "us-west-2b", "us-west-2c",
};

enum { GPU_ZONES = sizeof(gpu_zones) / sizeof(gpu_zones[0]), GPU_CAPACITY = 100 };

/* Prices are not in the data: on demand is 1 dollar, spot 0.30, as it was about. */
static const money_t gpu_on_demand = 1000000;
static const money_t gpu_price = 300000;

/* A change wherever the number of machines goes to or from 0. */
static int take_ticks(struct pools_market *market, const struct doc_node *root,
                      struct price_series *ret, struct error *reterr)
{
    const struct doc_node *metadata = NULL;
    const struct doc_node *data = NULL;
    msec_t gap = 0;
    int rc = doc_get_map(root, "metadata", &metadata, reterr);

    if (rc == 0)
        rc = doc_get_list(root, "data", &data, reterr);
    if (rc < 0)
        return rc;
    if (metadata == NULL || data == NULL || data->count == 0)
        return error_set(reterr, -EINVAL, "there is no 'metadata' or 'data' in it");
    rc = doc_get_duration(metadata, "gap_seconds", (struct doc_range){ 1, DAY_MS }, &gap, reterr);
    if (rc < 0)
        return rc;

    struct price_change *changes = ARENA_ARRAY(&market->arena, struct price_change, data->count);
    uint32_t count = 0;
    msec_t at = 0;

    DOC_EACH(tick, data)
    {
        int64_t machines = 0;

        rc = doc_as_int(tick, (struct doc_range){ 0, INT32_MAX }, &machines, reterr);
        if (rc < 0)
            return rc;

        const money_t price = machines > 0 ? gpu_price : MONEY_UNKNOWN;

        if (count == 0 || changes[count - 1].per_hour != price)
            changes[count++] = (struct price_change){ .at = at, .per_hour = price };
        at += gap;
    }
    *ret = (struct price_series){ .changes = changes, .count = count };
    if (market->judged.to == 0 || at < market->judged.to)
        market->judged.to = at;
    return 0;
}

static int load_gpu_zone(struct pools_market *market, uint32_t zone, struct error *reterr)
{
    const struct doc_node *root = NULL;
    struct input_file file = { 0 };
    struct arena arena;
    char path[PATH_SIZE];

    (void)snprintf(path, sizeof(path),
                   "spot-availability/availability_1-node_aws-02-15-2023_%s_v100_1.json.zst",
                   gpu_zones[zone]);
    arena_init(&arena);

    struct pool_market_offer *offer = &market->market.offers[zone];
    int rc = repro_read_data(path, &file, reterr);

    *offer = (struct pool_market_offer){ .on_demand = gpu_on_demand, .capacity = 1, .type = 0 };
    if (rc == 0)
        rc = doc_parse(file.text, file.length, &arena, &root, reterr);
    if (rc == 0)
        rc = take_ticks(market, root, &offer->series, reterr);
    if (rc < 0 && rc != -ENOENT)
        (void)error_prefix(reterr, rc, path);
    input_file_done(&file);
    arena_done(&arena);
    market->zone_of[zone] = zone;
    return rc;
}

int pools_market_gpu(struct pools_market *market, struct error *reterr)
{
    int rc = 0;

    *market = (struct pools_market){ .capacity = GPU_CAPACITY };
    arena_init(&market->arena);
    market->market.offers = ARENA_ARRAY(&market->arena, struct pool_market_offer, GPU_ZONES);
    market->market.count = GPU_ZONES;
    market->market.on_demand = (struct promise_offer){ .capacity = 1, .price = gpu_on_demand };
    market->on_demand = gpu_on_demand * GPU_CAPACITY;
    market->zone_of = ARENA_ARRAY(&market->arena, uint32_t, GPU_ZONES);
    for (uint32_t i = 0; rc == 0 && i < GPU_ZONES; i++)
        rc = load_gpu_zone(market, i, reterr);
    if (rc < 0)
        pools_market_done(market);
    return rc;
}

void pools_market_done(struct pools_market *market)
{
    arena_done(&market->arena);
}
