/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/commitments_file.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "trace/doc.h"
#include "trace/doc_value.h"
#include "trace/input_text.h"

static const int64_t discount_max = 999999;

static const char *copy_text(struct commitments *commitments, const char *text)
{
    const size_t size = strlen(text) + 1;

    return memcpy(arena_alloc(&commitments->memory, size, 1), text, size);
}

static int read_term(const struct doc_node *map, uint32_t *ret, struct error *reterr)
{
    const struct doc_range range = { MSEC_PER_HOUR, COMMITMENTS_TERM_HOURS_MAX * MSEC_PER_HOUR };
    msec_t term = 0;
    const int rc = doc_get_duration(map, "term", range, &term, reterr);

    if (rc < 0)
        return rc;
    if (term % MSEC_PER_HOUR != 0)
        return error_set(reterr, -EINVAL, "line %u: 'term' must be whole hours, such as 365d",
                         doc_find(map, "term")->line);
    *ret = (uint32_t)(term / MSEC_PER_HOUR);
    return 0;
}

/* What one is, and for dollars what a machine costs at their prices. */
static int read_unit(const struct doc_node *map, struct commitment *commitment,
                     struct error *reterr)
{
    const struct doc_decimal share = { .digits = 6, .exact = true, .range = { 0, discount_max } };
    const struct doc_node *discount = doc_find(map, "discount");
    const char *unit = "instance";
    int64_t ppm = 0;
    int rc = doc_get_text(map, "unit", &unit, reterr);

    if (rc < 0)
        return rc;
    if (strcmp(unit, "dollar") == 0)
        commitment->unit = COMMITMENT_DOLLAR;
    else if (strcmp(unit, "instance") != 0)
        return error_set(reterr, -EINVAL, "line %u: 'unit' must be instance or dollar, not '%s'",
                         doc_find(map, "unit")->line, text_excerpt(unit, strlen(unit)).text);
    if (commitment->unit == COMMITMENT_INSTANCE && discount != NULL)
        return error_set(reterr, -EINVAL,
                         "line %u: 'discount' is for 'unit: dollar'; the price of an instance "
                         "is given by 'upfront', 'per_hour' and 'per_used_hour'",
                         discount->line);
    if (commitment->unit == COMMITMENT_DOLLAR && discount == NULL)
        return error_set(reterr, -EINVAL,
                         "line %u: 'unit: dollar' needs a 'discount', such as 0.28 off the "
                         "on-demand price",
                         map->line);
    rc = doc_get_decimal(map, "discount", &share, &ppm, reterr);
    if (rc == 0)
        commitment->discount_ppm = (uint32_t)ppm;
    return rc;
}

/* A dollar per hour is a dollar per hour, unless it is said to be paid otherwise. */
static void default_prices(const struct doc_node *map, struct commitment *commitment)
{
    if (commitment->unit == COMMITMENT_DOLLAR && doc_find(map, "upfront") == NULL)
        commitment->per_hour = MONEY_PER_USD;
}

static int read_prices(const struct doc_node *map, money_t on_demand, struct commitment *commitment,
                       struct error *reterr)
{
    int rc = doc_get_money(map, "upfront", &commitment->upfront, reterr);

    if (rc == 0)
        rc = doc_get_money(map, "per_hour", &commitment->per_hour, reterr);
    if (rc == 0)
        rc = doc_get_money(map, "per_used_hour", &commitment->per_used_hour, reterr);
    if (rc < 0)
        return rc;

    const struct commitment each = commitment_per_instance(commitment, on_demand);

    if (each.per_used_hour > on_demand)
        return error_set(reterr, -EINVAL,
                         "line %u: 'per_used_hour' is above the price on demand, so that using "
                         "the commitment costs more than not to",
                         doc_find(map, "per_used_hour")->line);
    return 0;
}

static int read_name(const struct doc_node *map, struct commitments *commitments, const char **ret,
                     struct error *reterr)
{
    const char *name = NULL;
    const int rc = doc_get_name(map, "name", &name, reterr);

    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < commitments->class_count; i++) {
        if (strcmp(commitments->classes[i].name, name) == 0)
            return error_set(reterr, -EINVAL, "line %u: the class '%s' is there twice", map->line,
                             text_excerpt(name, strlen(name)).text);
    }
    *ret = copy_text(commitments, name);
    return 0;
}

static int read_class(const struct doc_node *map, struct commitments *commitments,
                      struct error *reterr)
{
    static const char *const allowed[] = { "name",    "term",          "unit",     "discount",
                                           "upfront", "per_used_hour", "per_hour", NULL };
    struct commitment commitment = { .unit = COMMITMENT_INSTANCE };
    int rc = doc_expect(map, DOC_MAP, reterr);

    if (rc == 0)
        rc = doc_allow_keys(map, allowed, reterr);
    if (rc == 0)
        rc = doc_need_keys(map, (const char *const[]){ "name", "term", NULL }, reterr);
    if (rc == 0)
        rc = read_name(map, commitments, &commitment.name, reterr);
    if (rc == 0)
        rc = read_term(map, &commitment.term_hours, reterr);
    if (rc == 0)
        rc = read_unit(map, &commitment, reterr);
    if (rc < 0)
        return rc;
    default_prices(map, &commitment);
    rc = read_prices(map, commitments->classes[0].per_used_hour, &commitment, reterr);
    if (rc < 0)
        return rc;
    if (commitments->class_count == COMMITMENT_CLASSES_MAX)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d classes", map->line,
                         COMMITMENT_CLASSES_MAX - 1);
    commitments->classes[commitments->class_count++] = commitment;
    return 0;
}

static int read_classes(const struct doc_node *root, struct commitments *commitments,
                        struct error *reterr)
{
    const struct doc_node *list = NULL;
    int rc = doc_get_list(root, "classes", &list, reterr);

    if (rc < 0)
        return rc;
    DOC_EACH(node, list)
    {
        rc = read_class(node, commitments, reterr);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int read_price(const struct doc_node *node, money_t *ret, struct error *reterr)
{
    money_t price = 0;
    const int rc = doc_as_money(node, &price, reterr);

    if (rc < 0)
        return rc;
    if (price == 0)
        return error_set(reterr, -EINVAL, "line %u: %s must be above 0: it is the price on demand",
                         node->line, doc_label(node).text);
    *ret = price;
    return 0;
}

static int read_types(const struct doc_node *root, struct commitments *commitments,
                      struct error *reterr)
{
    const struct doc_node *map = NULL;
    int rc = doc_get_map(root, "types", &map, reterr);

    if (rc < 0 || map == NULL)
        return rc;
    if (map->count > COMMITMENTS_TYPES_MAX)
        return error_set(reterr, -E2BIG, "line %u: there are more than %d types", map->line,
                         COMMITMENTS_TYPES_MAX);
    commitments->type_price = ARENA_ARRAY(&commitments->memory, money_t, map->count);
    DOC_EACH(node, map)
    {
        money_t price = 0;

        rc = read_price(node, &price, reterr);
        if (rc < 0)
            return rc;
        commitments->type_price[names_add(&commitments->types, node->key, strlen(node->key))] =
            price;
    }
    return 0;
}

static int read_root(const struct doc_node *root, struct commitments *commitments,
                     struct error *reterr)
{
    static const char *const allowed[] = { "title", "on_demand", "types", "classes", NULL };
    struct commitment *on_demand = &commitments->classes[0];
    int rc = doc_expect(root, DOC_MAP, reterr);

    if (rc == 0)
        rc = doc_allow_keys(root, allowed, reterr);
    if (rc == 0)
        rc = doc_need_keys(root, (const char *const[]){ "on_demand", "classes", NULL }, reterr);
    if (rc == 0)
        rc = doc_get_text(root, "title", &commitments->title, reterr);
    if (rc == 0)
        rc = read_price(doc_find(root, "on_demand"), &on_demand->per_used_hour, reterr);
    if (rc < 0)
        return rc;
    if (commitments->title != NULL)
        commitments->title = copy_text(commitments, commitments->title);
    on_demand->name = "on demand";
    commitments->class_count = 1;
    rc = read_types(root, commitments, reterr);
    if (rc == 0)
        rc = read_classes(root, commitments, reterr);
    return rc;
}

int commitments_read(const char *text, size_t length, struct commitments *ret, struct error *reterr)
{
    struct commitments commitments = { 0 };
    const struct doc_node *root = NULL;
    struct arena scratch;

    arena_init(&scratch);
    arena_init(&commitments.memory);
    names_init(&commitments.types);

    int rc = doc_parse(text, length, &scratch, &root, reterr);

    if (rc == 0)
        rc = read_root(root, &commitments, reterr);
    arena_done(&scratch);
    if (rc < 0) {
        commitments_done(&commitments);
        return rc;
    }
    *ret = commitments;
    return 0;
}

money_t commitments_price(const struct commitments *commitments, const char *type)
{
    const uint32_t found = names_find(&commitments->types, type, strlen(type));

    return found != NAME_NONE ? commitments->type_price[found]
                              : commitments->classes[0].per_used_hour;
}

void commitments_at(const struct commitments *commitments, money_t price,
                    struct commitment ret[static COMMITMENT_CLASSES_MAX])
{
    const money_t listed = commitments->classes[0].per_used_hour;

    assert(price > 0);
    for (uint32_t i = 0; i < commitments->class_count; i++) {
        const struct commitment scaled = commitment_scaled(&commitments->classes[i], listed, price);

        ret[i] = commitment_per_instance(&scaled, price);
    }
}

void commitments_done(struct commitments *commitments)
{
    names_done(&commitments->types);
    arena_done(&commitments->memory);
}
