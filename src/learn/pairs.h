/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pairs.h - how fast a workload runs beside another, one rate for each ordered pair, learned from what is reported.
 *
 * A task's rate in a group is taken to be the product of its rates beside each of the others, so the logarithm
 * of a rate is a sum, and a report tells of that sum. Each pair has a mean and a variance of its logarithm, and a
 * report corrects the means of all pairs in it by a Kalman filter without covariances: the error is shared in
 * proportion to the variances, so pairs that are known well hardly change, and reports are averaged, whatever their
 * noise. The variance never falls below a floor: about the last fifty reports count, so a drift is followed.
 *
 * A decision reads a rate that follows the mean only when it is off by a hundredth: so that it is the same for as
 * long as nothing has been learned.
 *
 * Promises:  rates are in [PAIRS_LEAST, 1]. While nothing at all was reported they are 1, afterwards a pair that was
 *            never seen has the rate that was given for it. A struct of zeros is empty, and has rate 1 for all.
 * Costs:     expected O(1) for a rate, O(k^2) for a report of k different neighbours; 32 bytes a pair.
 * Bounds:    at most PAIRS_MAX pairs; what would be more is not learned.
 */
#ifndef STINT_LEARN_PAIRS_H
#define STINT_LEARN_PAIRS_H

#include <stdint.h>

#include "base/map.h"

enum { PAIRS_MAX = 1 << 20, PAIRS_GROUP_MAX = 32 };

#define PAIRS_LEAST 0.05

struct pair_entry {
    double mean; /* of the logarithm */
    double variance;
    double known_mean; /* what decisions know */
    double rate;       /* as reported */
};

struct pairs {
    double unseen; /* the rate of a pair that was never seen, once there are reports */
    struct map by_key;
    struct pair_entry *entries;
    uint32_t count;
    uint32_t room;
    uint64_t version; /* grows whenever decisions would read another rate */
};

void pairs_init(struct pairs *pairs, double unseen);
void pairs_done(struct pairs *pairs);

/* The rate of 'workload' beside one task of 'other'. */
double pairs_rate(const struct pairs *pairs, uint32_t workload, uint32_t other);

/* The rate beside all of them, by the means: what a report would be expected to say. */
double pairs_expected(const struct pairs *pairs, uint32_t workload, const uint32_t *others,
                      uint32_t count);

/* A task of 'workload' ran at 'rate' (1: full speed) beside 'count' others, at least one. More than PAIRS_GROUP_MAX
 * teach nothing. */
void pairs_observe(struct pairs *pairs, uint32_t workload, const uint32_t *others, uint32_t count,
                   double rate);

#endif
