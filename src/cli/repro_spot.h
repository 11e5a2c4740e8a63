/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repro_spot.h - spot offers at the prices of 2024 to 2026, or of 2015, for the types of a catalogue.
 */
#ifndef STINT_CLI_REPRO_SPOT_H
#define STINT_CLI_REPRO_SPOT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/catalogue.h"

struct repro_spot {
    int64_t from;     /* Unix time of what is the beginning of the simulation */
    int64_t window_s; /* later changes of prices are left out */
    bool is_2015;     /* prices of the auctions of that year, which rise above those on demand */
    struct billing_rule billing;
    /* Whether there is to be an offer of the type in the zone; NULL: wherever there are prices. */
    bool (*wants)(const struct catalogue *catalogue, uint32_t type, const char *zone);
};

/* Append them to the catalogue, by type and then by zone. Returns 0, -ENOENT where the data is not there, or another
 * negative errno. */
int repro_spot_add(struct catalogue *catalogue, const struct repro_spot *spot,
                   struct error *reterr);

#endif
