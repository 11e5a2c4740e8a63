/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/catalogue_file.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "trace/doc.h"
#include "trace/doc_value.h"
#include "trace/input_text.h"

static const struct doc_range any_time = { 0, LIMIT_TIME_MS };
static const struct doc_range any_count = { 0, LIMIT_RESOURCE };
static const struct doc_decimal milli = { .digits = 3, .range = { 0, LIMIT_RESOURCE } };

struct reader {
    struct catalogue catalogue;
    struct names type_names; /* to find equal ones */
    struct map offer_seen;   /* type, zone and market */
    struct names zones;      /* numbers for 'offer_seen' */
    struct price_change *changes;
    uint32_t changes_room;
    uint32_t price_points;       /* of all offers */
    struct billing_rule billing; /* where an offer says nothing else */
    struct machine_type boot;    /* only its delays: where a type says nothing else */
};

/* ---- adding, with the limits ---- */

static int add_type(struct reader *r, const struct doc_node *node, const char *name,
                    const char *family, const struct machine_type *type, struct error *reterr)
{
    struct catalogue *catalogue = &r->catalogue;

    if (names_find(&r->type_names, name, strlen(name)) != NAME_NONE)
        return error_set(reterr, -EINVAL, "line %u: the type '%s' is there twice", node->line,
                         text_excerpt(name, strlen(name)).text);
    if (catalogue->type_count == LIMIT_OFFERS)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d types", node->line,
                         LIMIT_OFFERS);
    if (type->capacity.amount[RES_CPU] == 0 && type->capacity.amount[RES_MEM] == 0 &&
        type->capacity.amount[RES_ACCEL] == 0)
        return error_set(reterr, -EINVAL,
                         "line %u: the type '%s' has no room for anything: give cpu, mem_gib or "
                         "accel above 0",
                         node->line, text_excerpt(name, strlen(name)).text);
    names_add(&r->type_names, name, strlen(name));
    catalogue_add_type(catalogue, name, family, type);
    if (catalogue->families.count > LIMIT_FAMILIES)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d families", node->line,
                         LIMIT_FAMILIES);
    return 0;
}

static int add_offer(struct reader *r, const struct doc_node *node, const char *zone,
                     const struct offer *offer, struct error *reterr)
{
    const uint32_t zone_number = zone != NULL ? names_add(&r->zones, zone, strlen(zone)) + 1 : 0;
    const uint64_t place = (uint64_t)zone_number * MARKET_COUNT + (uint64_t)offer->market;
    const uint64_t key = (uint64_t)offer->type << 32 | place;

    if (map_get(&r->offer_seen, key) != MAP_NONE)
        return error_set(reterr, -EINVAL,
                         "line %u: the type is offered twice in the same zone and market (%s)",
                         node->line, market_name(offer->market));
    if (r->catalogue.offer_count == LIMIT_OFFERS)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d offers", node->line,
                         LIMIT_OFFERS);
    if (offer->price.count > LIMIT_PRICE_POINTS - r->price_points)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d changes of price",
                         node->line, LIMIT_PRICE_POINTS);
    r->price_points += offer->price.count;
    map_put(&r->offer_seen, key, r->catalogue.offer_count);
    catalogue_add_offer(&r->catalogue, zone, offer);
    return 0;
}

/* ---- Stint's own form ---- */

static int read_billing(const struct doc_node *map, struct billing_rule *rule, struct error *reterr)
{
    const struct doc_node *node = NULL;
    int rc = doc_get_map(map, "billing", &node, reterr);

    if (rc < 0 || node == NULL)
        return rc;
    rc = doc_allow_keys(node, (const char *const[]){ "step", "minimum", NULL }, reterr);
    if (rc == 0)
        rc = doc_get_duration(node, "step", (struct doc_range){ 1, LIMIT_TIME_MS }, &rule->step_ms,
                              reterr);
    if (rc == 0)
        rc = doc_get_duration(node, "minimum", any_time, &rule->minimum_ms, reterr);
    return rc;
}

static int read_boot(const struct doc_node *map, struct machine_type *type, struct error *reterr)
{
    const struct doc_node *node = NULL;
    int rc = doc_get_map(map, "boot", &node, reterr);

    if (rc < 0 || node == NULL)
        return rc;
    rc = doc_allow_keys(node, (const char *const[]){ "acquire", "setup", "release", NULL }, reterr);
    if (rc == 0)
        rc = doc_get_duration(node, "acquire", any_time, &type->acquire_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(node, "setup", any_time, &type->setup_ms, reterr);
    if (rc == 0)
        rc = doc_get_duration(node, "release", any_time, &type->release_ms, reterr);
    return rc;
}

static int read_market(const struct doc_node *map, enum market *ret, struct error *reterr)
{
    const char *text = NULL;
    const int rc = doc_get_text(map, "market", &text, reterr);

    if (rc < 0 || text == NULL)
        return rc;
    for (int i = 0; i < MARKET_COUNT; i++) {
        if (strcmp(text, market_name((enum market)i)) == 0) {
            *ret = (enum market)i;
            return 0;
        }
    }
    return error_set(reterr, -EINVAL,
                     "line %u: 'market' must be on-demand, spot or reserved, not '%s'",
                     doc_find(map, "market")->line, text_excerpt(text, strlen(text)).text);
}

/* [low, high] in percent of the machines a month. */
static int read_interruption(const struct doc_node *map, struct offer *offer, struct error *reterr)
{
    static const struct doc_range percent = { 0, 100 };
    const struct doc_node *pair = NULL;
    int64_t low = 0;
    int64_t high = 0;
    int rc = doc_get_list(map, "interruption", &pair, reterr);

    if (rc < 0 || pair == NULL)
        return rc;
    if (offer->market != MARKET_SPOT)
        return error_set(reterr, -EINVAL,
                         "line %u: 'interruption' goes with 'market: spot', not with %s",
                         pair->line, market_name(offer->market));
    if (pair->count != 2)
        return error_set(reterr, -EINVAL, "line %u: 'interruption' must be a pair [low, high]",
                         pair->line);
    rc = doc_as_int(pair->first, percent, &low, reterr);
    if (rc == 0)
        rc = doc_as_int(pair->first->next, percent, &high, reterr);
    if (rc == 0 && low >= high)
        rc = error_set(reterr, -EINVAL,
                       "line %u: 'interruption' must rise, from a low to a high percentage",
                       pair->line);
    if (rc == 0)
        offer->interruption = (struct interruption){ (uint8_t)low, (uint8_t)high };
    return rc;
}

/* One [time, price] of a series. */
static int read_change(const struct doc_node *pair, struct price_change *ret, struct error *reterr)
{
    struct price_change change = { 0 };
    int rc = doc_expect(pair, DOC_LIST, reterr);

    if (rc == 0 && pair->count != 2)
        rc = error_set(reterr, -EINVAL, "line %u: %s must be a pair [time, price]", pair->line,
                       doc_label(pair).text);
    if (rc == 0)
        rc = doc_as_duration(pair->first, any_time, &change.at, reterr);
    if (rc == 0)
        rc = doc_as_money(pair->first->next, &change.per_hour, reterr);
    if (rc == 0)
        *ret = change;
    return rc;
}

/* A price, or a list of its changes, into r->changes. */
static int read_price(struct reader *r, const struct doc_node *node, struct price_series *ret,
                      struct error *reterr)
{
    uint32_t count = 0;

    MEM_ROOM(r->changes, r->changes_room, node->count + 1);
    if (node->kind == DOC_LIST) {
        DOC_EACH(pair, node)
        {
            const int rc = read_change(pair, &r->changes[count], reterr);

            if (rc < 0)
                return rc;
            if (count > 0 && r->changes[count].at <= r->changes[count - 1].at)
                return error_set(reterr, -EINVAL,
                                 "line %u: the times of a price series must rise from entry to "
                                 "entry",
                                 pair->line);
            count++;
        }
        if (count == 0)
            return error_set(reterr, -EINVAL, "line %u: 'price' is an empty list", node->line);
    } else {
        r->changes[0].at = 0;

        const int rc = doc_as_money(node, &r->changes[0].per_hour, reterr);

        if (rc < 0)
            return rc;
        count = 1;
    }
    *ret = (struct price_series){ r->changes, count };
    return 0;
}

/* An entry of 'offers', which also is how 'price' of a type is read. */
static int read_offer(struct reader *r, const struct doc_node *map, const struct doc_node *price,
                      uint32_t type, struct error *reterr)
{
    struct offer offer = {
        .type = type,
        .zone = NAME_NONE,
        .market = MARKET_ON_DEMAND,
        .billing = r->billing,
    };
    const char *zone = NULL;
    int rc = read_market(map, &offer.market, reterr);

    if (rc == 0)
        rc = doc_get_name(map, "zone", &zone, reterr);
    if (rc == 0)
        rc = read_billing(map, &offer.billing, reterr);
    if (rc == 0)
        rc = read_interruption(map, &offer, reterr);
    if (rc == 0)
        rc = read_price(r, price, &offer.price, reterr);
    if (rc == 0)
        rc = add_offer(r, map, zone, &offer, reterr);
    return rc;
}

static int read_offers(struct reader *r, const struct doc_node *map, uint32_t type,
                       struct error *reterr)
{
    static const char *const allowed[] = { "price",   "market",       "zone",
                                           "billing", "interruption", NULL };
    const struct doc_node *price = doc_find(map, "price");
    const struct doc_node *list = NULL;
    int rc = doc_get_list(map, "offers", &list, reterr);

    if (rc < 0)
        return rc;
    if (list == NULL && price == NULL)
        return error_set(reterr, -EINVAL,
                         "line %u: %s has no price: give 'price', or a list of 'offers'", map->line,
                         doc_label(map).text);
    if (price != NULL)
        rc = read_offer(r, map, price, type, reterr);
    if (rc < 0 || list == NULL)
        return rc;
    DOC_EACH(entry, list)
    {
        rc = doc_expect(entry, DOC_MAP, reterr);
        if (rc == 0)
            rc = doc_allow_keys(entry, allowed, reterr);
        if (rc == 0)
            rc = doc_need_keys(entry, (const char *const[]){ "price", NULL }, reterr);
        if (rc == 0)
            rc = read_offer(r, entry, doc_find(entry, "price"), type, reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* The part of a type's name before the first point. */
static const char *family_of(const char *name, char *room, size_t size)
{
    const size_t length = strcspn(name, ".");

    if (length == 0 || length >= size)
        return name;
    memcpy(room, name, length);
    room[length] = 0;
    return room;
}

/* A feature is a word of its own in an expression (model/offer_set.h). */
static int read_feature(struct reader *r, const struct doc_node *node, uint32_t type,
                        const char *prefix, const char *text, struct error *reterr)
{
    char word[LIMIT_NAME + 8];

    if (strcspn(text, "&|,()[]*! ") != strlen(text))
        return error_set(reterr, -EINVAL,
                         "line %u: '%s' cannot be a feature: it must have no blanks and none of "
                         "& | , ( ) [ ] * !",
                         node->line, text_excerpt(text, strlen(text)).text);
    if (r->catalogue.word_count == LIMIT_OFFERS)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d features", node->line,
                         LIMIT_OFFERS);
    (void)snprintf(word, sizeof(word), "%s%s", prefix, text);
    catalogue_add_word(&r->catalogue, type, word);
    return 0;
}

static int read_words(struct reader *r, const struct doc_node *map, uint32_t type,
                      struct error *reterr)
{
    const struct doc_node *list = NULL;
    const char *model = NULL;
    int rc = doc_get_name(map, "gpu_model", &model, reterr);

    if (rc == 0 && model != NULL)
        rc = read_feature(r, doc_find(map, "gpu_model"), type, "gpu=", model, reterr);
    if (rc == 0)
        rc = doc_get_list(map, "features", &list, reterr);
    if (rc < 0 || list == NULL)
        return rc;
    DOC_EACH(entry, list)
    {
        const char *text = NULL;

        rc = doc_as_name(entry, &text, reterr);
        if (rc == 0)
            rc = read_feature(r, entry, type, "", text, reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_type(struct reader *r, const struct doc_node *map, struct error *reterr)
{
    static const char *const allowed[] = {
        "name", "family", "cpu",    "mem_gib",  "accel",     "pods", "volumes",
        "boot", "price",  "offers", "features", "gpu_model", NULL,
    };
    struct machine_type type = r->boot;
    const char *name = NULL;
    const char *family = NULL;
    char stem[LIMIT_NAME + 1];
    int rc = doc_expect(map, DOC_MAP, reterr);

    if (rc == 0)
        rc = doc_allow_keys(map, allowed, reterr);
    if (rc == 0)
        rc = doc_need_keys(map, (const char *const[]){ "name", "cpu", "mem_gib", NULL }, reterr);
    if (rc == 0)
        rc = doc_get_name(map, "name", &name, reterr);
    if (rc == 0)
        rc = doc_get_name(map, "family", &family, reterr);
    if (rc == 0)
        rc = doc_get_decimal(map, "cpu", &milli, &type.capacity.amount[RES_CPU], reterr);
    if (rc == 0)
        rc = doc_get_mib(map, "mem_gib", &type.capacity.amount[RES_MEM], reterr);
    if (rc == 0)
        rc = doc_get_decimal(map, "accel", &milli, &type.capacity.amount[RES_ACCEL], reterr);
    if (rc == 0)
        rc = doc_get_int(map, "pods", any_count, &type.capacity.amount[RES_PODS], reterr);
    if (rc == 0)
        rc = doc_get_int(map, "volumes", any_count, &type.capacity.amount[RES_VOLUMES], reterr);
    if (rc == 0)
        rc = read_boot(map, &type, reterr);
    if (rc < 0)
        return rc;
    assert(name != NULL);
    if (family == NULL)
        family = family_of(name, stem, sizeof(stem));

    const uint32_t index = r->catalogue.type_count;

    rc = add_type(r, map, name, family, &type, reterr);
    if (rc == 0)
        rc = read_words(r, map, index, reterr);
    return rc < 0 ? rc : read_offers(r, map, index, reterr);
}

static int read_own(struct reader *r, const struct doc_node *root, struct error *reterr)
{
    static const char *const words[] = { "date", "region", "source" };
    const struct doc_node *types = NULL;
    const char *word = NULL; /* for people, and for `stint catalogue` */
    int rc = doc_allow_keys(
        root, (const char *const[]){ "types", "billing", "boot", "date", "region", "source", NULL },
        reterr);

    for (size_t i = 0; rc == 0 && i < sizeof(words) / sizeof(*words); i++)
        rc = doc_get_name(root, words[i], &word, reterr);
    if (rc == 0)
        rc = read_billing(root, &r->billing, reterr);
    if (rc == 0)
        rc = read_boot(root, &r->boot, reterr);
    if (rc == 0)
        rc = doc_get_list(root, "types", &types, reterr);
    if (rc < 0)
        return rc;
    assert(types != NULL);
    DOC_EACH(type, types)
    {
        rc = read_type(r, type, reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- Eva's form ---- */

/* [accelerators, CPUs, GiB of memory]. */
static int read_eva_capacity(const struct doc_node *map, struct res *ret, struct error *reterr)
{
    const struct doc_node *list = NULL;
    int rc = doc_get_list(map, "capacity", &list, reterr);

    if (rc < 0)
        return rc;
    if (list->count != 3)
        return error_set(reterr, -EINVAL, "line %u: 'capacity' must be [gpu, cpu, GiB of memory]",
                         list->line);
    rc = doc_as_decimal(list->first, &milli, &ret->amount[RES_ACCEL], reterr);
    if (rc == 0)
        rc = doc_as_decimal(list->first->next, &milli, &ret->amount[RES_CPU], reterr);
    if (rc == 0)
        rc = doc_as_mib(list->first->next->next, &ret->amount[RES_MEM], reterr);
    return rc;
}

static int read_eva_delays(const struct doc_node *map, struct machine_type *type,
                           struct error *reterr)
{
    msec_t run = 0;
    msec_t enrol = 0;
    int rc = doc_get_duration(map, "instantiate_delay", any_time, &type->acquire_ms, reterr);

    if (rc == 0)
        rc = doc_get_duration(map, "run_worker_delay", any_time, &run, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "worker_register_delay", any_time, &enrol, reterr);
    if (rc == 0)
        rc = doc_get_duration(map, "terminate_delay", any_time, &type->release_ms, reterr);
    if (rc == 0)
        type->setup_ms = run + enrol;
    return rc;
}

static int read_eva_type(struct reader *r, const struct doc_node *map, struct error *reterr)
{
    const char *const *needed = (const char *const[]){ "capacity", "cost", "family", NULL };
    struct price_change change = { 0 };
    struct machine_type type = { 0 };
    const char *family = NULL;
    const char *fault = text_name_fault(map->key, strlen(map->key));
    int rc = doc_expect(map, DOC_MAP, reterr);

    if (rc == 0 && fault != NULL)
        rc = error_set(reterr, -EINVAL, "line %u: the name of a type %s", map->line, fault);
    if (rc == 0)
        rc = doc_need_keys(map, needed, reterr);
    if (rc == 0)
        rc = doc_get_name(map, "family", &family, reterr);
    if (rc == 0)
        rc = read_eva_capacity(map, &type.capacity, reterr);
    if (rc == 0)
        rc = read_eva_delays(map, &type, reterr);
    if (rc == 0)
        rc = doc_get_money(map, "cost", &change.per_hour, reterr);
    if (rc < 0)
        return rc;

    const struct offer offer = {
        .type = r->catalogue.type_count,
        .zone = NAME_NONE,
        .market = MARKET_ON_DEMAND,
        .billing = BILLING_PER_SECOND,
        .price = { &change, 1 },
    };

    rc = add_type(r, map, map->key, family, &type, reterr);
    return rc < 0 ? rc : add_offer(r, map, NULL, &offer, reterr);
}

static int read_eva(struct reader *r, const struct doc_node *root, struct error *reterr)
{
    const struct doc_node *types = NULL;
    int rc = doc_get_map(root, "instance_types", &types, reterr);

    if (rc < 0)
        return rc;
    assert(types != NULL);
    DOC_EACH(type, types)
    {
        rc = read_eva_type(r, type, reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- which form ---- */

static int read_root(struct reader *r, const struct doc_node *root, struct error *reterr)
{
    int rc = doc_expect(root, DOC_MAP, reterr);

    if (rc < 0)
        return rc;

    const bool own = doc_find(root, "types") != NULL;

    if (own == (doc_find(root, "instance_types") != NULL))
        return error_set(
            reterr, -EINVAL,
            "line %u: a catalogue has either the key 'types' (a list of machine types) "
            "or 'instance_types' (an EC2 configuration of Eva), this has %s",
            root->line, own ? "both" : "neither");
    rc = own ? read_own(r, root, reterr) : read_eva(r, root, reterr);
    if (rc == 0 && r->catalogue.offer_count == 0)
        return error_set(reterr, -EINVAL, "line %u: the catalogue offers nothing", root->line);
    return rc;
}

int catalogue_file_read(const char *text, size_t length, struct catalogue *ret,
                        struct error *reterr)
{
    struct reader r = { .billing = BILLING_PER_SECOND };
    const struct doc_node *root;
    struct arena arena;

    arena_init(&arena);
    catalogue_init(&r.catalogue);
    names_init(&r.type_names);
    names_init(&r.zones);
    map_init(&r.offer_seen);

    int rc = doc_parse(text, length, &arena, &root, reterr);

    if (rc == 0)
        rc = read_root(&r, root, reterr);
    if (rc == 0)
        *ret = r.catalogue;
    else
        catalogue_done(&r.catalogue);
    mem_free(r.changes);
    map_done(&r.offer_seen);
    names_done(&r.zones);
    names_done(&r.type_names);
    arena_done(&arena);
    return rc;
}
