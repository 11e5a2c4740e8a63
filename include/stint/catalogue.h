/* SPDX-License-Identifier: Apache-2.0 */
/*
 * catalogue.h - all that could be rented: machine types, and offers of them.
 *
 * A type is a kind of machine; an offer is a type in a zone in a market at a price. Both are known by their
 * index, in the order of adding, from 0.
 *
 * Memory:   names and prices are copied. A controller takes a copy of the whole, so a catalogue may be
 *           changed or destroyed while controllers live.
 * Threads:  a catalogue that nobody changes may be read by several threads at once.
 * Bounds:   131,072 types and as many offers, 1,024 families.
 */
#ifndef STINT_CATALOGUE_H
#define STINT_CATALOGUE_H

#include <string.h>

#include <stint/common.h>

struct stint_catalogue;

enum stint_market {
    STINT_ON_DEMAND,
    STINT_SPOT,
    STINT_RESERVED,
};

struct stint_type {
    size_t size;
    const char *name;   /* unique */
    const char *family; /* types whose machines run a task alike; NULL: the name */
    struct stint_resources capacity;
    int64_t acquire_ms; /* from the request until the machine runs and is billed */
    int64_t setup_ms;   /* from then until it takes work */
    int64_t release_ms; /* from giving it back until the bill ends */
};

struct stint_price {
    int64_t from_ms;
    int64_t per_hour;
};

struct stint_offer {
    size_t size;
    uint32_t type;
    enum stint_market market;
    const char *zone;                 /* NULL: in none in particular */
    int64_t per_hour;                 /* the price, where there is no list */
    const struct stint_price *prices; /* changes that are known, in time order; before the first its
                                         price holds. See also stint_controller_set_price */
    size_t price_count;
    int64_t bill_step_ms;    /* time is rounded up to a multiple of it; 0: one second */
    int64_t bill_minimum_ms; /* that is paid once a machine ran at all */
    uint8_t
        interrupted_low; /* of a hundred machines, so many are interrupted in a month: between */
    uint8_t interrupted_high; /* low and high. High 0: nobody knows */
};

static inline void stint_type_init(struct stint_type *type)
{
    memset(type, 0, sizeof(*type));
    type->size = sizeof(*type);
}

static inline void stint_offer_init(struct stint_offer *offer)
{
    memset(offer, 0, sizeof(*offer));
    offer->size = sizeof(*offer);
}

STINT_BEGIN

STINT_API struct stint_catalogue *stint_catalogue_create(void);
STINT_API void stint_catalogue_destroy(struct stint_catalogue *catalogue);

/* 'ret', here and below the index of what was added, may be NULL.
 * -EEXIST: there is a type of that name; -E2BIG: too many; -EINVAL: the text says what is wrong. */
STINT_API int stint_catalogue_add_type(struct stint_catalogue *catalogue,
                                       const struct stint_type *type, uint32_t *ret,
                                       struct stint_error *reterr);

/* -ENOENT: there is no such type; else as above. */
STINT_API int stint_catalogue_add_offer(struct stint_catalogue *catalogue,
                                        const struct stint_offer *offer, uint32_t *ret,
                                        struct stint_error *reterr);

STINT_API uint32_t stint_catalogue_type_count(const struct stint_catalogue *catalogue);
STINT_API uint32_t stint_catalogue_offer_count(const struct stint_catalogue *catalogue);

/* The name of the offer's type, or NULL; valid until the catalogue is changed. */
STINT_API const char *stint_catalogue_offer_type(const struct stint_catalogue *catalogue,
                                                 uint32_t offer);

STINT_END

#endif
