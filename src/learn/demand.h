/* SPDX-License-Identifier: Apache-2.0 */
/*
 * demand.h - how many machines will be needed, weeks and years ahead.
 *
 * Triple exponential smoothing of a level that is observed once per interval, as semi-elastic
 * clusters forecast it (TPDS'16, section 5.2.1): the level, its trend and the trend's change are
 * smoothed, and the forecast is the parabola through them. How fast follows from the errors that
 * were made (Trigg and Leach): a run of errors to one side makes it quick, errors to both sides
 * make it slow.
 *
 * A parabola three years ahead is a brave guess, and a commitment that is not used is paid for all
 * the same. Two rules keep it honest; without them the forecast overbuys by a quarter and more on
 * public cluster logs. The trend is damped: of each interval's growth the next one keeps a share.
 * And no forecast is above the mean of all that was seen: what has not lasted yet is not committed
 * to.
 *
 * Promises:  pure and deterministic; a forecast is finite and never below zero.
 * Costs:     O(1) to observe, O(ahead) to forecast. No allocation.
 */
#ifndef STINT_LEARN_DEMAND_H
#define STINT_LEARN_DEMAND_H

#include <stdbool.h>
#include <stdint.h>

struct demand_options {
    double tracking; /* weight of the newest error among all, above 0 and at most 1 */
    double damping;  /* share of the trend that the next interval keeps, 0 to 1; 1: the parabola */
    bool is_capped;  /* by the mean of all that was seen */
};

/* What is used unless there is a reason not to. */
#define DEMAND_DEFAULTS \
    ((struct demand_options){ .tracking = 0.2, .damping = 0.9, .is_capped = true })

/* As in the paper: neither damped nor capped. */
#define DEMAND_PARABOLA \
    ((struct demand_options){ .tracking = 0.2, .damping = 1, .is_capped = false })

struct demand {
    struct demand_options options;
    double level;
    double trend;  /* per interval */
    double change; /* of the trend, per interval */
    double sum;    /* of all that was observed */
    uint32_t count;
    double error;    /* of the forecasts of one interval ahead, smoothed, with its sign */
    double distance; /* the same without the sign */
};

void demand_init(struct demand *demand, const struct demand_options *options);

/* The level of one more interval, finite and not below zero. */
void demand_observe(struct demand *demand, double level);

/* The mean of all that was observed; 0 if nothing was. */
double demand_seen_mean(const struct demand *demand);

/* The level 'ahead' intervals after the last observed one. */
double demand_forecast(const struct demand *demand, uint32_t ahead);

/* The mean level of the next 'count' intervals, which is above 0. */
double demand_forecast_mean(const struct demand *demand, uint32_t count);

#endif
