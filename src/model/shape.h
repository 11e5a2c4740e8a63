/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shape.h - what makes two tasks interchangeable.
 *
 * Tasks of one shape have the same name, the same demands and the same delays, so that decisions
 * are made per shape with a count, not per task. A million tasks have a few hundred shapes.
 *
 * A demand is given for any family, or per family ("12 CPUs on p3, 6 on c7i"); a shape with demands
 * for some families only cannot run elsewhere. It may be bound to a set of offers (offer_set.h), and it may
 * want a machine for itself: then it takes all that a machine has which holds its demand.
 *
 * Tasks of one job may have to be alike in zone or market. Such a shape has variants, one for each zone
 * and market that the catalogue has, each with the set of offers there. A task of it has a variant as its
 * shape, all tasks of its job the same; which one is a decision (decide/bonds.h).
 *
 * The markets that tasks may run in may change with time (decide/market_rules.h). A shape with such rules has
 * variants for any market, for spot machines and for all others, and one that may run nowhere.
 *
 * Words:   workload: what the task does, for interference ("gcn" of the shapes "gcn[0]", "gcn[4]").
 * Memory:  owned by the table; indexes are stable.
 */
#ifndef STINT_MODEL_SHAPE_H
#define STINT_MODEL_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "base/units.h"
#include "model/apart.h"
#include "model/catalogue.h"
#include "model/offer_set.h"
#include "model/res.h"

/* How long the parts of a launch and of a stop take, and what is saved without a stop. */
struct shape_delays {
    msec_t fetch_ms;  /* bring code, data and checkpoint to the machine */
    msec_t build_ms;  /* prepare the image; only for the first task of a workload on a machine */
    msec_t init_ms;   /* from launch to progress */
    msec_t kill_ms;   /* from the order to stop until it stands still */
    msec_t upload_ms; /* save the checkpoint; the room is kept until then */
    msec_t
        checkpoint_ms; /* it saves what it has done by itself after so much work, each time; 0: never */
};

/* In what the tasks of one job must be alike. */
enum shape_alike {
    ALIKE_ZONE = 1,
    ALIKE_MARKET = 2,
};

/* Which machines a variant is for, by their market. */
enum shape_market {
    SHAPE_MARKET_ANY,
    SHAPE_MARKET_SPOT,
    SHAPE_MARKET_SAFE,    /* all but spot */
    SHAPE_MARKET_NOWHERE, /* no machine at all */
};

struct shape_demand {
    uint32_t family; /* FAMILY_NONE: any family without a demand of its own */
    struct res res;
};

struct shape {
    uint32_t name;         /* in shapes.names */
    uint32_t workload;     /* in shapes.workloads */
    uint32_t demand_first; /* in shapes.demands */
    uint32_t demand_count;
    uint32_t offers;        /* in shapes.sets: those that it may run on, or OFFERS_ALL */
    uint32_t variant_of;    /* the shape of which it is a variant, or SHAPE_NONE */
    uint32_t variant_first; /* in shapes.variants */
    uint32_t variant_count; /* 0: it has none */
    uint32_t zone;          /* of a variant: in the catalogue's names, or NAME_NONE: any */
    uint8_t market;         /* of a variant: enum shape_market */
    uint8_t alike;          /* enum shape_alike, of one that has variants */
    bool by_market;         /* its tasks have rules for markets: it has variants for them */
    bool whole;             /* a machine for itself */
    struct shape_delays delays;
};

#define SHAPE_NONE UINT32_MAX

struct shapes {
    struct names names;
    struct names workloads;
    struct offer_sets sets;
    struct aparts aparts; /* what jobs keep apart from */
    struct shape *rows;
    struct shape_demand *demands;
    uint32_t *variants; /* rows of shapes */
    uint32_t count;
    uint32_t rows_room;
    uint32_t demand_count;
    uint32_t demands_room;
    struct map by_hash; /* to find equal shapes */
    uint32_t *chain;    /* next shape of the same hash */
    uint32_t chain_room;
    uint32_t variant_count;
    uint32_t variants_room;
};

struct shape_spec {
    const char *name;
    const char *workload;
    struct shape_delays delays;
    const struct shape_demand *demands;
    uint32_t demand_count; /* at least one */
    const char *offers;    /* an expression that is valid; NULL or "": all offers */
    uint8_t alike;         /* enum shape_alike */
    bool by_market;        /* its tasks have rules for markets */
    bool whole;
};

void shapes_init(struct shapes *shapes);
void shapes_done(struct shapes *shapes);

/* 'to' is not initialised; every shape has the same number there. */
void shapes_copy(struct shapes *to, const struct shapes *from);

/* The offers that sets and variants speak of; to be called again when the catalogue has grown. Without it no
 * shape with a set or with variants may be used. */
void shapes_bind(struct shapes *shapes, const struct catalogue *catalogue);

/* The shape that equals 'spec', new if there is none yet; if it has variants they are new too. */
uint32_t shapes_add(struct shapes *shapes, const struct shape_spec *spec);

/* What one task of the shape asks for in 'family'; NULL: it cannot run there. */
const struct res *shape_demand_on(const struct shapes *shapes, uint32_t shape, uint32_t family);

/* What one task of the shape takes of a machine of the offer that has 'capacity'; NULL: it may not run there. */
const struct res *shape_taken(const struct shapes *shapes, uint32_t shape,
                              const struct catalogue *catalogue, uint32_t offer,
                              const struct res *capacity);

/* The same of a machine that has what its type has. */
const struct res *shape_demand_at(const struct shapes *shapes, uint32_t shape,
                                  const struct catalogue *catalogue, uint32_t offer);

/* Whether one task of the shape fits an empty machine of the offer, and may run there. */
bool shape_fits_offer(const struct shapes *shapes, uint32_t shape,
                      const struct catalogue *catalogue, uint32_t offer);

/* The same shape with variants for markets. */
uint32_t shapes_by_market(struct shapes *shapes, uint32_t shape);

/* Whether tasks of the shape, which may be a variant, have rules for markets. */
static inline bool shape_has_rules(const struct shapes *shapes, uint32_t shape)
{
    const uint32_t base = shapes->rows[shape].variant_of;

    return base != SHAPE_NONE && shapes->rows[base].by_market;
}

/* The variant of the shape that may run on the offer, or SHAPE_NONE; with 'keeps_market' one for that market alone, if
 * there is any. */
uint32_t shape_variant_at(const struct shapes *shapes, uint32_t shape, uint32_t offer,
                          bool keeps_market);

#endif
