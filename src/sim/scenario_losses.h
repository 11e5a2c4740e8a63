/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scenario_losses.h - the part of a scenario that says which machines are lost when: 'losses', 'availability' and 'bid'
 * under 'faults'. docs/reference/files/scenario.md has every key.
 *
 * Offers are named by type, zone and market; which these are is known when there is a catalogue.
 */
#ifndef STINT_SIM_SCENARIO_LOSSES_H
#define STINT_SIM_SCENARIO_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "model/catalogue.h"
#include "sim/sim_losses.h"
#include "trace/doc.h"

/* All offers that are like this; what is NULL, or not said, is no condition. */
struct offer_pattern {
    const char *type;
    const char *family; /* not for scenarios */
    const char *zone;
    bool has_market;
    enum market market;
    uint32_t line; /* of the scenario */
};

struct scenario_loss {
    struct offer_pattern of;
    struct sim_loss loss; /* its offer is of no meaning yet */
};

struct scenario_availability {
    struct offer_pattern of;
    const char *file; /* as written: relative to the scenario's folder */
};

struct scenario_losses {
    struct scenario_loss *losses;
    uint32_t loss_count;
    struct scenario_availability *series;
    uint32_t series_count;
    uint32_t bid_ppm;
};

/* A market by its word; -EINVAL where it is none. */
int scenario_read_market(const struct doc_node *map, const char *key, bool *ret_is_there,
                         enum market *ret, struct error *reterr);

/* 'map' is that of 'faults'. */
int scenario_losses_read(const struct doc_node *map, struct arena *arena,
                         struct scenario_losses *ret, struct error *reterr);

/* The rules with their offers; fails where one is for no offer of the catalogue. */
int scenario_losses_resolve(const struct scenario_losses *of, const struct catalogue *catalogue,
                            struct arena *arena, struct sim_market *ret, struct error *reterr);

/* The series in the text, which goes to all offers of the pattern: appended to 'ret'. */
int scenario_availability_read(const struct offer_pattern *of, const char *text, size_t length,
                               const struct catalogue *catalogue, struct arena *arena,
                               struct sim_market *ret, struct error *reterr);

#endif
