/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool_input.h - what `stint pool` plans with: spot offers, and for which share of the time each is
 * gone.
 *
 * Offers come from a catalogue or from a table with availabilities. What is known of an offer's losses,
 * the first of these: a history (a file, or changes of price in the catalogue), from which the share is
 * bounded at a stated confidence; the table's availability; the catalogue's band of interruptions, with
 * an outage of the given length after each. Of what nothing is known is left out, and counted.
 *
 * Memory:  the arena's, until pool_input_done.
 */
#ifndef STINT_CLI_POOL_INPUT_H
#define STINT_CLI_POOL_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "cli/pool_market.h"
#include "decide/avail_states.h"
#include "decide/promise.h"

enum { POOL_UNITS_MAX = 1000000 }; /* of the capacity, and of one machine */

/* What a unit of capacity is. */
enum pool_unit { POOL_CPU, POOL_GIB, POOL_ACCEL };

/* Where an offer's share comes from. */
enum pool_source { POOL_UNKNOWN, POOL_BAND, POOL_TABLE, POOL_HISTORY };

struct pool_settings {
    const char *catalogue; /* a file; NULL: the example that is built in */
    const char *history;   /* a file, or NULL */
    enum pool_unit unit;
    double confidence;
    msec_t outage;
};

/* What people want to know of an offer. */
struct pool_about {
    const char *type;
    const char *zone;  /* NULL: none */
    money_t on_demand; /* of one machine and hour; 0: not known */
    enum pool_source source;
};

struct pool_input {
    struct arena arena;
    struct promise_offer *offers;
    struct pool_about *about; /* of the same offers */
    uint32_t count;
    uint32_t left_out; /* spot offers of which nothing is known */
    uint32_t of_source[POOL_HISTORY + 1];
    struct promise_offer on_demand; /* the cheapest per unit; a price of 0: there is none */
    struct avail_states states;     /* of a history, else empty */
    struct pool_market market;      /* likewise: all offers that have one */
    struct pool_span watched;
    uint32_t types;          /* different ones */
    bool has_types_in_zones; /* some type is offered in several zones */
};

int pool_input_read(const struct pool_settings *settings, struct pool_input *ret,
                    struct error *reterr);
void pool_input_done(struct pool_input *input);

/* What the capacity costs on demand, an hour; 0: not known. */
money_t pool_input_on_demand(const struct pool_input *input, int64_t capacity);

#endif
