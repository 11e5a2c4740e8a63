/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "lib/lib_private.h"

static_assert((int)STINT_ON_DEMAND == (int)MARKET_ON_DEMAND, "markets are taken as they are");
static_assert((int)STINT_SPOT == (int)MARKET_SPOT, "markets are taken as they are");
static_assert((int)STINT_RESERVED == (int)MARKET_RESERVED, "markets are taken as they are");

enum { TYPE_LEAST = sizeof(struct stint_type), OFFER_LEAST = sizeof(struct stint_offer) };

struct stint_catalogue *stint_catalogue_create(void)
{
    struct stint_catalogue *catalogue = mem_alloc(1, sizeof(*catalogue));

    catalogue_init(&catalogue->rows);
    return catalogue;
}

void stint_catalogue_destroy(struct stint_catalogue *catalogue)
{
    if (catalogue == NULL)
        return;
    catalogue_done(&catalogue->rows);
    mem_free(catalogue);
}

/* What is wrong with it, or NULL. */
static const char *type_fault(const struct stint_type *type)
{
    if (!lib_is_name(type->name))
        return "a type needs a name of 1 to 256 bytes";
    if (type->family != NULL && !lib_is_name(type->family))
        return "the name of a family has 1 to 256 bytes";
    if (!lib_is_time(type->acquire_ms) || !lib_is_time(type->setup_ms) ||
        !lib_is_time(type->release_ms))
        return "a time is below 0 or above STINT_TIME_MAX";
    return NULL;
}

int stint_catalogue_add_type(struct stint_catalogue *catalogue, const struct stint_type *type,
                             uint32_t *ret, struct stint_error *reterr)
{
    struct stint_type given;
    struct machine_type row = { 0 };

    if (catalogue == NULL || lib_take(&given, sizeof(given), type, TYPE_LEAST) < 0)
        return lib_fail(reterr, -EINVAL,
                        "no catalogue, no type, or one that stint_type_init did not see");

    const char *fault = type_fault(&given);

    if (fault != NULL)
        return lib_fail(reterr, -EINVAL, fault);
    if (!lib_read_resources(&given.capacity, &row.capacity))
        return lib_fail(reterr, -EINVAL, "a type has no capacity, or an amount out of range");
    if (catalogue_find_type(&catalogue->rows, given.name, strlen(given.name)) != UINT32_MAX)
        return lib_fail(reterr, -EEXIST, "there is a type of that name");

    const char *family = given.family != NULL ? given.family : given.name;

    if (catalogue->rows.type_count == LIMIT_OFFERS ||
        (catalogue->rows.families.count == LIMIT_FAMILIES &&
         names_find(&catalogue->rows.families, family, strlen(family)) == NAME_NONE))
        return lib_fail(reterr, -E2BIG, "more than 131,072 types or 1,024 families");
    row.acquire_ms = given.acquire_ms;
    row.setup_ms = given.setup_ms;
    row.release_ms = given.release_ms;

    const uint32_t index = catalogue_add_type(&catalogue->rows, given.name, family, &row);

    if (ret != NULL)
        *ret = index;
    return 0;
}

static bool is_price(int64_t per_hour)
{
    return per_hour >= 0 && per_hour <= LIMIT_MONEY;
}

static const char *offer_fault(const struct stint_offer *offer)
{
    if (offer->zone != NULL && !lib_is_name(offer->zone))
        return "the name of a zone has 1 to 256 bytes";
    if ((unsigned)offer->market >= MARKET_COUNT)
        return "there is no such market";
    if (!lib_is_time(offer->bill_step_ms) || !lib_is_time(offer->bill_minimum_ms))
        return "a time is below 0 or above STINT_TIME_MAX";
    if (offer->interrupted_high > 100 || offer->interrupted_low > offer->interrupted_high)
        return "an interruption is a percentage, from low to high";
    if (offer->price_count > 0 && offer->prices == NULL)
        return "'price_count' without 'prices'";
    if (offer->price_count == 0 && !is_price(offer->per_hour))
        return "a price is below 0 or above STINT_MONEY_MAX";
    return NULL;
}

/* 'ret' has room for 'price_count', and at least for one. */
static bool read_prices(const struct stint_offer *offer, struct price_change *ret)
{
    ret[0] = (struct price_change){ .per_hour = offer->per_hour };
    for (size_t i = 0; i < offer->price_count; i++) {
        const struct stint_price *price = &offer->prices[i];

        if (!is_price(price->per_hour) || !lib_is_time(price->from_ms) ||
            (i > 0 && price->from_ms <= offer->prices[i - 1].from_ms))
            return false;
        ret[i] = (struct price_change){ .at = price->from_ms, .per_hour = price->per_hour };
    }
    return true;
}

static uint32_t add_offer(struct catalogue *rows, const struct stint_offer *given,
                          const struct price_change *prices)
{
    const struct offer row = {
        .type = given->type,
        .market = (enum market)given->market,
        .interruption = { .low = given->interrupted_low, .high = given->interrupted_high },
        .billing = { .step_ms = given->bill_step_ms > 0 ? given->bill_step_ms : MSEC_PER_SEC,
                     .minimum_ms = given->bill_minimum_ms },
        .price = { .changes = prices,
                   .count = given->price_count > 0 ? (uint32_t)given->price_count : 1 },
    };

    return catalogue_add_offer(rows, given->zone, &row);
}

int stint_catalogue_add_offer(struct stint_catalogue *catalogue, const struct stint_offer *offer,
                              uint32_t *ret, struct stint_error *reterr)
{
    struct stint_offer given;

    if (catalogue == NULL || lib_take(&given, sizeof(given), offer, OFFER_LEAST) < 0)
        return lib_fail(reterr, -EINVAL,
                        "no catalogue, no offer, or one that stint_offer_init did not see");
    if (given.type >= catalogue->rows.type_count)
        return lib_fail(reterr, -ENOENT, "there is no such type");

    const char *fault = offer_fault(&given);

    if (fault != NULL)
        return lib_fail(reterr, -EINVAL, fault);
    if (catalogue->rows.offer_count == LIMIT_OFFERS ||
        given.price_count > LIMIT_PRICE_POINTS - catalogue->price_points)
        return lib_fail(reterr, -E2BIG, "more than 131,072 offers or 16,777,216 changes of price");

    struct price_change *prices = mem_alloc(given.price_count + 1, sizeof(*prices));

    if (!read_prices(&given, prices)) {
        mem_free(prices);
        return lib_fail(reterr, -EINVAL, "prices are out of range or not in time order");
    }

    const uint32_t index = add_offer(&catalogue->rows, &given, prices);

    mem_free(prices);
    catalogue->price_points += (uint32_t)given.price_count;
    if (ret != NULL)
        *ret = index;
    return 0;
}

uint32_t stint_catalogue_type_count(const struct stint_catalogue *catalogue)
{
    return catalogue->rows.type_count;
}

uint32_t stint_catalogue_offer_count(const struct stint_catalogue *catalogue)
{
    return catalogue->rows.offer_count;
}

const char *stint_catalogue_offer_type(const struct stint_catalogue *catalogue, uint32_t offer)
{
    return offer < catalogue->rows.offer_count ? catalogue_offer_type_name(&catalogue->rows, offer)
                                               : NULL;
}
