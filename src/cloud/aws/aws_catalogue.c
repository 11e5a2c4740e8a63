/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_catalogue.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cloud/aws/aws_clock.h"
#include "trace/doc.h"
#include "trace/doc_value.h"
#include "trace/input_text.h"
#include "trace/number.h"

void aws_catalogue_init(struct aws_catalogue *catalogue)
{
    *catalogue = (struct aws_catalogue){ 0 };
    names_init(&catalogue->type_names);
    names_init(&catalogue->zone_names);
    map_init(&catalogue->place_of);
}

void aws_catalogue_done(struct aws_catalogue *catalogue)
{
    names_done(&catalogue->type_names);
    names_done(&catalogue->zone_names);
    map_done(&catalogue->place_of);
    aws_price_history_done(&catalogue->history);
    mem_free(catalogue->types);
    mem_free(catalogue->places);
    aws_catalogue_init(catalogue);
}

void aws_catalogue_keep_history(struct aws_catalogue *catalogue, msec_t begin)
{
    assert(begin > 0 && catalogue->place_count == 0);
    catalogue->history.begin = begin;
}

/* Names go into a file of ours: only such letters as AWS uses. */
static bool is_name(const char *text)
{
    return text[0] != '\0' &&
           text[strspn(
               text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_")] == '\0';
}

static struct aws_catalogue_type *type_of(struct aws_catalogue *catalogue, const char *name)
{
    const uint32_t known = catalogue->type_names.count;

    if (!is_name(name) || known >= LIMIT_OFFERS) {
        catalogue->dropped++;
        return NULL;
    }

    const uint32_t index = names_add(&catalogue->type_names, name, strlen(name));

    MEM_ROOM(catalogue->types, catalogue->types_room, index + 1);
    if (index == known)
        catalogue->types[index] = (struct aws_catalogue_type){ .on_demand = MONEY_UNKNOWN };
    return &catalogue->types[index];
}

static struct aws_catalogue_place *place_of(struct aws_catalogue *catalogue, const char *type,
                                            const char *zone)
{
    const struct aws_catalogue_type *found = type_of(catalogue, type);

    if (found == NULL || !is_name(zone) || catalogue->place_count >= LIMIT_OFFERS) {
        catalogue->dropped++;
        return NULL;
    }

    const uint32_t type_index = (uint32_t)(found - catalogue->types);
    const uint32_t zone_index = names_add(&catalogue->zone_names, zone, strlen(zone));
    const uint64_t key = (uint64_t)type_index << 32 | zone_index;
    uint32_t index = map_get(&catalogue->place_of, key);

    if (index == MAP_NONE) {
        index = catalogue->place_count++;
        MEM_ROOM(catalogue->places, catalogue->places_room, catalogue->place_count);
        catalogue->places[index] = (struct aws_catalogue_place){
            .type = type_index, .zone = zone_index, .spot = MONEY_UNKNOWN, .spot_at = -1
        };
        map_put(&catalogue->place_of, key, index);
    }
    return &catalogue->places[index];
}

void aws_catalogue_add_type(struct aws_catalogue *catalogue, const struct ec2_type *row)
{
    struct aws_catalogue_type *type = type_of(catalogue, row->name);

    if (type != NULL)
        type->row = *row;
}

void aws_catalogue_add_offering(struct aws_catalogue *catalogue, const struct ec2_offering *row)
{
    struct aws_catalogue_place *place = place_of(catalogue, row->type, row->location);

    if (place != NULL)
        place->is_offered = true;
}

void aws_catalogue_add_spot(struct aws_catalogue *catalogue, const struct ec2_spot_price *row)
{
    if (row->price <= 0 || row->price > LIMIT_MONEY || strstr(row->product, "Linux") == NULL)
        return;

    struct aws_catalogue_place *place = place_of(catalogue, row->type, row->zone);

    if (place == NULL)
        return;
    aws_price_history_add(&catalogue->history, &place->history, row->at, row->price);
    if (row->at >= place->spot_at) {
        place->spot = row->price;
        place->spot_at = row->at;
    }
}

void aws_catalogue_add_price(struct aws_catalogue *catalogue, const char *type, money_t on_demand)
{
    if (on_demand <= 0 || on_demand > LIMIT_MONEY)
        return;

    struct aws_catalogue_type *found = type_of(catalogue, type);

    if (found != NULL)
        found->on_demand = on_demand;
}

void aws_catalogue_add_interruption(struct aws_catalogue *catalogue, const char *type,
                                    struct interruption interruption)
{
    struct aws_catalogue_type *found = type_of(catalogue, type);

    if (found != NULL)
        found->interruption = interruption;
}

int aws_catalogue_read_prices(struct aws_catalogue *catalogue, const char *text, size_t size,
                              struct error *reterr)
{
    const struct doc_node *root = NULL;
    struct arena arena;
    int rc;

    arena_init(&arena);
    rc = doc_parse(text, size, &arena, &root, reterr);
    if (rc == 0)
        rc = doc_expect(root, DOC_MAP, reterr);
    if (rc == 0) {
        DOC_EACH(entry, root)
        {
            money_t price = 0;

            rc = doc_as_money(entry, &price, reterr);
            if (rc < 0)
                break;
            aws_catalogue_add_price(catalogue, entry->key, price);
        }
    }
    arena_done(&arena);
    return rc;
}

/* ---- the Pricing API ---- */

/* The first value of an object, whatever its key: terms are keyed by codes. */
static json_t *first_of(json_t *object)
{
    return json_object_iter_value(json_object_iter(object));
}

/*
 * The value of a key, wherever it stands; 'name' has its quotes. Of a product we want little, and most
 * of the rest are terms of reservations: only that value is read. Within a text of JSON quotes are
 * escaped, so a name in quotes with a colon behind it is a key.
 */
static json_t *value_of(const char *text, const char *name)
{
    for (const char *at = strstr(text, name); at != NULL; at = strstr(at, name)) {
        at += strlen(name);
        at += strspn(at, " \t\r\n");
        if (*at == ':')
            return json_loads(at + 1, JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK, NULL);
    }
    return NULL;
}

static void take_product(struct aws_catalogue *catalogue, const char *text)
{
    json_t *named = value_of(text, "\"instanceType\"");
    json_t *terms = value_of(text, "\"OnDemand\"");
    const char *type = json_string_value(named);
    const json_t *dimension = first_of(json_object_get(first_of(terms), "priceDimensions"));
    const char *unit = json_string_value(json_object_get(dimension, "unit"));
    const char *price =
        json_string_value(json_object_get(json_object_get(dimension, "pricePerUnit"), "USD"));
    int64_t value = 0;

    if (type != NULL && price != NULL && (unit == NULL || strcmp(unit, "Hrs") == 0) &&
        number_nearest(price, strlen(price), 6, &value) == 0)
        aws_catalogue_add_price(catalogue, type, value);
    json_decref(named);
    json_decref(terms);
}

int aws_catalogue_read_products(struct aws_catalogue *catalogue, const char *text, size_t size,
                                char *ret_token, struct error *reterr)
{
    json_t *answer = json_loadb(text, size, 0, NULL);
    const json_t *list = json_object_get(answer, "PriceList");
    const char *token = json_string_value(json_object_get(answer, "NextToken"));

    if (!json_is_array(list)) {
        json_decref(answer);
        return error_set(reterr, -EBADMSG, "the answer of the Pricing API has no list of prices");
    }
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *product = json_string_value(json_array_get(list, i));

        if (product != NULL)
            take_product(catalogue, product);
    }
    ret_token[0] = '\0';
    if (token != NULL && strlen(token) < EC2_TOKEN_SIZE)
        memcpy(ret_token, token, strlen(token) + 1);
    json_decref(answer);
    return 0;
}

/* ---- writing ---- */

struct sorted {
    const char *name;
    uint32_t index;
};

static int compare_sorted(const void *a, const void *b)
{
    return strcmp(((const struct sorted *)a)->name, ((const struct sorted *)b)->name);
}

static struct sorted *sort_names(const struct names *names)
{
    struct sorted *sorted = mem_alloc(names->count, sizeof(*sorted));

    for (uint32_t i = 0; i < names->count; i++)
        sorted[i] = (struct sorted){ names_text(names, i), i };
    qsort(sorted, names->count, sizeof(*sorted), compare_sorted);
    return sorted;
}

static bool is_chosen(const struct aws_catalogue_type *type,
                      const struct aws_catalogue_choice *choice)
{
    const struct ec2_type *row = &type->row;

    if (row->name[0] == '\0' || row->cpus == 0 || row->mem_mib == 0)
        return false;
    return (choice->arch == NULL || text_matches(row->arch, choice->arch)) &&
           (choice->with_metal || !row->is_bare_metal) &&
           (choice->with_old || choice->types != NULL || row->is_current) &&
           text_matches(choice->types, row->name);
}

bool aws_catalogue_wants(const struct aws_catalogue *catalogue, const char *type,
                         const struct aws_catalogue_choice *choice)
{
    const uint32_t index = names_find(&catalogue->type_names, type, strlen(type));

    return index != NAME_NONE && is_chosen(&catalogue->types[index], choice);
}

/* One price, or its changes. */
static void write_spot_price(const struct aws_catalogue *catalogue,
                             const struct aws_catalogue_place *place, FILE *out)
{
    struct price_change *changes = NULL;
    uint32_t count = 0;

    if (place->history != 0)
        changes = aws_price_history_series(&catalogue->history, place->history, &count);
    if (count <= 1) {
        fputs(number_print(count == 1 ? changes[0].per_hour : place->spot, 6).text, out);
    } else {
        for (uint32_t i = 0; i < count; i++)
            fprintf(out, "%s[%s, %s]", i == 0 ? "[" : ", ", number_print(changes[i].at, 3).text,
                    number_print(changes[i].per_hour, 6).text);
        fputs("]", out);
    }
    mem_free(changes);
}

static uint32_t write_place(const struct aws_catalogue *catalogue,
                            const struct aws_catalogue_place *place, const char *zone,
                            const struct aws_catalogue_choice *choice, FILE *out)
{
    const struct aws_catalogue_type *type = &catalogue->types[place->type];
    uint32_t offers = 0;

    if (!place->is_offered)
        return 0;
    if (type->on_demand != MONEY_UNKNOWN && type->row.has_on_demand) {
        fprintf(out, "      - { zone: %s, price: %s }\n", zone,
                number_print(type->on_demand, 6).text);
        offers++;
    }
    if (place->spot != MONEY_UNKNOWN && type->row.has_spot && !choice->without_spot) {
        fprintf(out, "      - { zone: %s, market: spot, price: ", zone);
        write_spot_price(catalogue, place, out);
        if (type->interruption.high > 0)
            fprintf(out, ", interruption: [%u, %u]", type->interruption.low,
                    type->interruption.high);
        fputs(" }\n", out);
        offers++;
    }
    return offers;
}

static bool has_offer(const struct aws_catalogue *catalogue, uint32_t type,
                      const struct aws_catalogue_choice *choice)
{
    const struct aws_catalogue_type *found = &catalogue->types[type];

    for (uint32_t zone = 0; zone < catalogue->zone_names.count; zone++) {
        const uint32_t index = map_get(&catalogue->place_of, (uint64_t)type << 32 | zone);

        if (index == MAP_NONE || !catalogue->places[index].is_offered)
            continue;
        if ((found->on_demand != MONEY_UNKNOWN && found->row.has_on_demand) ||
            (catalogue->places[index].spot != MONEY_UNKNOWN && found->row.has_spot &&
             !choice->without_spot))
            return true;
    }
    return false;
}

static uint32_t write_type(const struct aws_catalogue *catalogue, uint32_t index,
                           const struct sorted *zones, const struct aws_catalogue_choice *choice,
                           FILE *out)
{
    const struct aws_catalogue_type *type = &catalogue->types[index];
    const uint32_t accel = type->row.gpus + type->row.accelerators;
    const int64_t percent = choice->mem_percent > 0 ? choice->mem_percent : 100;
    const int64_t mem_mib = (int64_t)type->row.mem_mib * percent / 100;
    uint32_t offers = 0;

    fprintf(out, "  - name: %s\n    cpu: %" PRIu32 "\n    mem_gib: %s\n", type->row.name,
            type->row.cpus, number_print(mem_mib * 10000000000 / 1024, 10).text);
    if (accel > 0)
        fprintf(out, "    accel: %" PRIu32 "\n", accel);
    fputs("    offers:\n", out);
    for (uint32_t i = 0; i < catalogue->zone_names.count; i++) {
        const uint32_t place =
            map_get(&catalogue->place_of, (uint64_t)index << 32 | zones[i].index);

        if (place != MAP_NONE)
            offers += write_place(catalogue, &catalogue->places[place], zones[i].name, choice, out);
    }
    return offers;
}

uint32_t aws_catalogue_write(const struct aws_catalogue *catalogue,
                             const struct aws_catalogue_choice *choice, FILE *out)
{
    struct sorted *types = sort_names(&catalogue->type_names);
    struct sorted *zones = sort_names(&catalogue->zone_names);
    uint32_t offers = 0;
    uint32_t unknown = 0;

    fprintf(out,
            "date: %s\nregion: %s\nsource: %s\nbilling: { step: 1s, minimum: 60s }\n"
            "boot: { acquire: 20s, setup: 60s, release: 5s }\n\n",
            choice->date, choice->region, choice->source);
    if (catalogue->history.begin > 0) {
        char begin[32];

        aws_clock_print(catalogue->history.begin, begin);
        fprintf(out, "# Changes of price are [seconds since %s, dollars per hour].\n", begin);
    }
    fputs("types:\n", out);
    for (uint32_t i = 0; i < catalogue->type_names.count; i++) {
        if (is_chosen(&catalogue->types[types[i].index], choice) &&
            has_offer(catalogue, types[i].index, choice))
            offers += write_type(catalogue, types[i].index, zones, choice, out);
    }
    for (uint32_t i = 0; i < catalogue->type_names.count; i++) {
        const struct aws_catalogue_type *type = &catalogue->types[types[i].index];

        if (!is_chosen(type, choice) || (type->on_demand != MONEY_UNKNOWN))
            continue;
        if (unknown++ == 0)
            fputs("\n# The on-demand price of these is unknown, so they have no such offer:\n",
                  out);
        fprintf(out, "#   %s\n", types[i].name);
    }
    mem_free(types);
    mem_free(zones);
    return offers;
}
