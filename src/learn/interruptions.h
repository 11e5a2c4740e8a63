/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interruptions.h - how often the cloud takes machines of each spot offer away, learned from those that it took.
 *
 * Losses are a Poisson process whose rate is not known: a gamma prior, and the losses and the machine-hours that were
 * seen, give a gamma posterior, whose mean is the estimate and whose spread is the uncertainty. The prior comes from the
 * catalogue's band, or is one loss a month where it has none, and weighs little, a twentieth of a loss, since rates of
 * offers differ by orders of magnitude.
 *
 * What is seen of an offer says something of others. Measured correlations of outages are 0.30 between the zones of a
 * region for one type, 0.14 between regions, and none between types of one zone: so much of the losses and hours of
 * other offers of the type counts.
 *
 * What was seen fades, to one half in a week. So an offer that was left for its losses is tried again some time, and one
 * that calmed down is used again.
 *
 * Promises:  the bounds hold as often as they say, or more often: what has faded counts as less than it showed. Where
 *            no loss was ever seen the catalogue's word stands. What was saved and taken up again tells the same,
 *            machines that live in both processes counted once.
 * Costs:     O(1) a machine that comes or goes, O(offers of the type) an estimate. 44 bytes an offer.
 */
#ifndef STINT_LEARN_INTERRUPTIONS_H
#define STINT_LEARN_INTERRUPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "model/catalogue.h"

/* What was seen of an offer, as of 'at'. */
struct interruption_record {
    double losses;
    double hours; /* of machines */
    msec_t at;
    uint32_t living; /* machines now */
    bool is_changed; /* since it was saved */
};

struct interruptions {
    const struct catalogue *catalogue;
    struct interruption_record *records; /* per offer */
    uint32_t *next;                      /* per offer: the next of its type, or OFFER_NONE */
    uint32_t *first;                     /* per type */
    uint32_t offer_count;                /* of which that is known */
    bool has_changed;                    /* since it was last set to false */
    uint32_t *changed;                   /* offers, as a stack: see interruptions_take_changed */
    uint32_t changed_count;
};

/* Per machine-hour. */
struct interruption_rate {
    double mean;
    double low;    /* it is below this with a chance of one in ten, */
    double high;   /* and above this with the same */
    double losses; /* that count, shared ones included */
    double hours;
};

/* To be kept over a restart, without the machines that live: who takes it up begins them again.
 * Whole numbers, so that it is the same when it comes back. */
struct interruption_memory {
    int64_t losses_micro; /* millionths of a loss */
    msec_t machine_ms;
    msec_t at;
};

void interruptions_init(struct interruptions *interruptions, const struct catalogue *catalogue);
/* The catalogue has more offers than before; what was learned stays. */
void interruptions_catalogue_grew(struct interruptions *interruptions);

void interruptions_done(struct interruptions *interruptions);

/* A machine of the offer runs since 'at'. */
void interruptions_begin(struct interruptions *interruptions, uint32_t offer, msec_t at);

/* It is no more; whether the cloud took it. */
void interruptions_end(struct interruptions *interruptions, uint32_t offer, msec_t at,
                       bool was_lost);

/* False: no loss was seen. */
bool interruptions_rate(const struct interruptions *interruptions, uint32_t offer, msec_t now,
                        struct interruption_rate *ret);

/* The span in which one machine is lost at that rate per machine-hour, LIMIT_TIME_MS at the most. */
msec_t interruption_span_ms(double rate);

/* The mean time until a machine of the offer is taken away, learned or else by the catalogue; MSEC_NEVER: not known. */
msec_t interruptions_mean_ms(const struct interruptions *interruptions, uint32_t offer, msec_t now);

/* False: there is nothing to keep. */
bool interruptions_save(const struct interruptions *interruptions, uint32_t offer, msec_t now,
                        struct interruption_memory *ret);

/* An offer of which more is known than when it was taken here last; OFFER_NONE: there is none left. */
uint32_t interruptions_take_changed(struct interruptions *interruptions);

/* Of offers that have machines more is known with every hour. */
void interruptions_mark_living(struct interruptions *interruptions);

/* As it was saved; false, and nothing is changed, where that cannot be. */
bool interruptions_resume(struct interruptions *interruptions, uint32_t offer,
                          const struct interruption_memory *memory);

#endif
