/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_catalogue_fetch.h - ask a region for all that it offers.
 *
 * One request after another, page by page: DescribeInstanceTypes, DescribeInstanceTypeOfferings by
 * zone, DescribeSpotPriceHistory of this moment (or of the span that the catalogue keeps), and GetProducts of the Pricing API, which lives in
 * us-east-1 for all regions. Throttling and lost answers are waited out, up to FETCH_ATTEMPTS_MAX
 * times for one page. What is missing of the Pricing API is noted and no failure: prices may come
 * from a file.
 */
#ifndef STINT_CLOUD_AWS_CATALOGUE_FETCH_H
#define STINT_CLOUD_AWS_CATALOGUE_FETCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct uv_loop_s;
struct aws_client;
struct aws_catalogue;
struct aws_catalogue_choice;

enum { FETCH_ATTEMPTS_MAX = 8 };

/* The Pricing API knows the keys of its own partition only, not those of China or GovCloud. */
#define AWS_NO_PRICES_FOR_KEYS                                                                     \
    "prices on demand cannot be asked for with these keys; use `stint catalogue refresh --prices " \
    "FILE`"

struct aws_catalogue_fetch {
    struct uv_loop_s *loop;
    struct aws_client *client;
    struct aws_catalogue *catalogue; /* filled */
    uint64_t seed;
    const struct aws_catalogue_choice *choice; /* what will be written: no more is asked for */
    bool without_prices;                       /* do not ask the Pricing API */
    void (*on_note)(void *context, const char *text);
    void *context;
};

/* Runs the loop until all is there. */
int aws_catalogue_fetch_all(const struct aws_catalogue_fetch *fetch, struct error *reterr);

#endif
