/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - all that could be rented.
 *
 * A machine type has a family and a capacity; an offer is a type in a zone in a market at a price
 * under a billing rule. Filled by a reader of trace/; offers may be added later, or become former, and the controller
 * is notified (controller_catalogue_changed).
 *
 * Terms:   family: types whose machines run a task alike (c7i, p3); a task may ask for different
 *          amounts in different families. A word: any other property of a type that work may ask for
 *          ("infiniband", "gpu=h100"; see offer_set.h).
 * Memory:  owned by the catalogue; indexes are stable, addresses of types and offers are not.
 */
#ifndef STINT_MODEL_CATALOGUE_H
#define STINT_MODEL_CATALOGUE_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "base/units.h"
#include "model/billing.h"
#include "model/price.h"
#include "model/res.h"

#define OFFER_NONE  UINT32_MAX
#define FAMILY_NONE UINT32_MAX

enum market {
    MARKET_ON_DEMAND,
    MARKET_SPOT,
    MARKET_RESERVED,
    MARKET_COUNT,
};

/* Machines that are asked for together may take longer to boot: so long for so many. */
enum { BOOT_POINTS_MAX = 8 };

struct boot_point {
    uint32_t count;
    msec_t ms;
};

struct machine_type {
    uint32_t name;   /* in catalogue.names */
    uint32_t family; /* in catalogue.families */
    struct res capacity;
    uint32_t word_first; /* in catalogue.words, + 1; 0: none. Kept by the catalogue */
    msec_t acquire_ms;   /* from the request for one machine until it runs and is billed */
    struct boot_point boot[BOOT_POINTS_MAX]; /* where that depends on how many are asked for; the
                                              * catalogue then takes acquire_ms from the first */
    uint32_t boot_count;                     /* 0: it does not */
    msec_t setup_ms;                         /* from then until it takes work */
    msec_t release_ms;                       /* from giving it back until the bill ends */
};

/* Of the machines of an offer, between 'low' and 'high' percent are interrupted within a month. */
struct interruption {
    uint8_t low;
    uint8_t high; /* 100: 'low' or more; 0: not stated */
};

struct offer {
    uint32_t type;
    uint32_t zone; /* in catalogue.names, or NAME_NONE */
    enum market market;
    struct interruption interruption; /* known of spot offers only */
    struct billing_rule billing;
    struct price_series price;
    bool is_former; /* offered no more: there is a machine of it still, but none is asked for */
    bool is_owned;  /* machines that there are anyway: see catalogue_add_owned */
};

/* A word of a type. */
struct type_word {
    uint32_t word; /* in catalogue.names */
    uint32_t next; /* of the same type, + 1 */
};

struct catalogue {
    struct names names;    /* of types and zones, and words */
    struct names families; /* of families; their numbers index demands */
    struct machine_type *types;
    struct offer *offers;
    struct type_word *words;
    struct price_change **owned_prices; /* one block per offer, freed with the catalogue */
    bool has_moving_prices;             /* the price of some offer changes, or has changed */
    uint64_t changes; /* of types that were there: what was concluded from them before is void */
    uint32_t type_count;
    uint32_t types_room;
    uint32_t offer_count;
    uint32_t offers_room;
    uint32_t owned_room;
    uint32_t word_count;
    uint32_t words_room;
};

void catalogue_init(struct catalogue *catalogue);
void catalogue_done(struct catalogue *catalogue);

/* The index of the new type; names are copied. */
uint32_t catalogue_add_type(struct catalogue *catalogue, const char *name, const char *family,
                            const struct machine_type *type);

/* How much of the kind machines have of the types that do not say. */
void catalogue_set_most(struct catalogue *catalogue, enum res_kind kind, int64_t most);

/* How long machines of the type take to boot, as was learned of them. */
void catalogue_set_boot(struct catalogue *catalogue, uint32_t type, msec_t acquire_ms,
                        msec_t setup_ms);

/* Say the word of the type. */
void catalogue_add_word(struct catalogue *catalogue, uint32_t type, const char *word);

/* Whether the word was said of the type. O(words of the type). */
bool catalogue_has_word(const struct catalogue *catalogue, uint32_t type, const char *word,
                        size_t length);

/* Say all words of a type of another catalogue of 'type' too. */
void catalogue_copy_words(struct catalogue *catalogue, uint32_t type, const struct catalogue *from,
                          uint32_t from_type);

/* The type of that name, or UINT32_MAX. */
uint32_t catalogue_find_type(const struct catalogue *catalogue, const char *name, size_t length);

/* The index of the new offer; the price changes are copied. 'zone' may be NULL. */
uint32_t catalogue_add_offer(struct catalogue *catalogue, const char *zone,
                             const struct offer *offer);

/*
 * An offer for machines of the type that are owned: they are there anyway, so they are never rented and never
 * returned, and cost what their owner says (energy, depreciation), which may be nothing. It is former, so that no one asks
 * for more, and its zone is OWNED_ZONE.
 */
#define OWNED_ZONE "owned"

uint32_t catalogue_add_owned(struct catalogue *catalogue, uint32_t type, money_t per_hour);

static inline const struct machine_type *catalogue_type_of(const struct catalogue *catalogue,
                                                           uint32_t offer)
{
    assert(offer < catalogue->offer_count);
    return &catalogue->types[catalogue->offers[offer].type];
}

/* The acquire time of 'count' machines that are asked for together: linear between the points, and
 * beyond the last on along the last slope. */
msec_t machine_type_acquire_ms(const struct machine_type *type, uint32_t count);

/* From the request for one machine of the offer until it takes work. */
static inline msec_t catalogue_boot_ms(const struct catalogue *catalogue, uint32_t offer)
{
    const struct machine_type *type = catalogue_type_of(catalogue, offer);

    return type->acquire_ms + type->setup_ms;
}

/* The mean time until a machine is interrupted, by the middle of the band; MSEC_NEVER where no one has
 * said anything. */
msec_t interruption_mean_ms(struct interruption interruption);

/* "c7i.large" of the offer's type. */
const char *catalogue_offer_type_name(const struct catalogue *catalogue, uint32_t offer);

/* "on-demand", "spot", "reserved". */
const char *market_name(enum market market);

#endif
