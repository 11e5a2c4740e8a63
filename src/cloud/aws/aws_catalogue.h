/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_catalogue.h - what a region offers, gathered from several answers, written as a catalogue.
 *
 * Types, the zones that have them, spot prices and prices on demand come from different requests in
 * any order; here they meet. docs/reference/files/catalogue.md is what is written.
 *
 * Promises:  the text is the same whatever the order of the answers: types and zones stand in the
 *            order of their names. A type without a known price has no such offer; if it has none at
 *            all, it is named in a comment as one whose price is unknown.
 * Bounds:    LIMIT_OFFERS types and offers; beyond them rows are dropped and counted.
 */
#ifndef STINT_CLOUD_AWS_CATALOGUE_H
#define STINT_CLOUD_AWS_CATALOGUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/map.h"
#include "base/names.h"
#include "base/units.h"
#include "cloud/aws/aws_price_history.h"
#include "cloud/aws/ec2_answer.h"
#include "model/catalogue.h"

struct aws_catalogue_type {
    struct ec2_type row; /* its name is empty: EC2 has not described it */
    money_t on_demand;   /* MONEY_UNKNOWN */
    struct interruption interruption;
};

/* A type in a zone. */
struct aws_catalogue_place {
    uint32_t type;
    uint32_t zone;
    bool is_offered; /* EC2 has the type there */
    money_t spot;    /* the latest price; MONEY_UNKNOWN */
    msec_t spot_at;
    uint32_t history; /* a list of aws_catalogue.history */
};

struct aws_catalogue {
    struct names type_names; /* index of 'types' */
    struct names zone_names;
    struct aws_catalogue_type *types;
    uint32_t types_room;
    struct aws_catalogue_place *places;
    uint32_t place_count;
    uint32_t places_room;
    struct map place_of; /* type and zone */
    struct aws_price_history history;
    uint32_t dropped;
};

/* Which types to write, and what to say about them. */
struct aws_catalogue_choice {
    const char *region;
    const char *date;   /* "2024-05-01" */
    const char *source; /* words */
    const char *arch;   /* NULL: any */
    const char *types;  /* patterns with '*', commas between; NULL: all */
    bool with_metal;
    bool with_old; /* earlier generations too; patterns choose among all */
    bool without_spot;
    uint32_t mem_percent; /* of a type's memory that is left for jobs; 0 counts as 100 */
};

void aws_catalogue_init(struct aws_catalogue *catalogue);
void aws_catalogue_done(struct aws_catalogue *catalogue);

/* Write spot prices as their changes from 'begin' on, not the latest only. Before any is added. */
void aws_catalogue_keep_history(struct aws_catalogue *catalogue, msec_t begin);

void aws_catalogue_add_type(struct aws_catalogue *catalogue, const struct ec2_type *row);
void aws_catalogue_add_offering(struct aws_catalogue *catalogue, const struct ec2_offering *row);

/* The latest price of each type and zone counts; other products than Linux do not. */
void aws_catalogue_add_spot(struct aws_catalogue *catalogue, const struct ec2_spot_price *row);
void aws_catalogue_add_price(struct aws_catalogue *catalogue, const char *type, money_t on_demand);

/* How often spot machines of the type are interrupted, in whatever zone: see aws_advisor.h. */
void aws_catalogue_add_interruption(struct aws_catalogue *catalogue, const char *type,
                                    struct interruption interruption);

/* Prices on demand from a map of type to dollars per hour (YAML or JSON). */
int aws_catalogue_read_prices(struct aws_catalogue *catalogue, const char *text, size_t size,
                              struct error *reterr);

/* One page of GetProducts of the Pricing API. 'ret_token' has EC2_TOKEN_SIZE bytes. */
int aws_catalogue_read_products(struct aws_catalogue *catalogue, const char *text, size_t size,
                                char *ret_token, struct error *reterr);

/* Returns how many offers were written. */
uint32_t aws_catalogue_write(const struct aws_catalogue *catalogue,
                             const struct aws_catalogue_choice *choice, FILE *out);

/* Whether the type, which EC2 has described, will be written if it has a price. */
bool aws_catalogue_wants(const struct aws_catalogue *catalogue, const char *type,
                         const struct aws_catalogue_choice *choice);

#endif
