/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/promise_trust.h"

#include <assert.h>
#include <math.h>

enum { HALVINGS = 64 };

/* P(at most 'events') of a Poisson variable. Terms by their logarithms: the first may be tiny. */
static double poisson_at_most(uint32_t events, double mean)
{
    double term = -mean;
    double sum = exp(term);

    for (uint32_t i = 1; i <= events; i++) {
        term += log(mean / i);
        sum += exp(term);
    }
    return sum;
}

double promise_poisson_most(uint32_t events, double doubt)
{
    double low = 0;
    double high = 1;

    assert(doubt > 0 && doubt < 1);
    while (poisson_at_most(events, high) > doubt)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        const double middle = (low + high) / 2;

        if (poisson_at_most(events, middle) > doubt)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The longest mean outage that so little time in so many outages still allows: a sum of n exponential
 * times is below x means with the probability that a Poisson variable of mean x is n or more. */
static double outage_most(msec_t gone, uint32_t outages, double doubt)
{
    return (double)gone / promise_poisson_most(outages - 1, 1 - doubt);
}

void promise_trust(const struct promise_record *records, uint32_t count, double confidence,
                   msec_t outage, double *ret_down)
{
    const double doubt = (1 - confidence) / 2; /* half for the length, half for all the numbers */
    double length = (double)outage;
    msec_t gone = 0;
    uint32_t losses = 0;

    assert(confidence > 0 && confidence < 1);
    for (uint32_t i = 0; i < count; i++) {
        gone += records[i].gone;
        losses += records[i].losses;
    }
    if (losses > 0)
        length = outage_most(gone, losses, doubt);
    for (uint32_t i = 0; i < count; i++) {
        const struct promise_record *record = &records[i];
        const double there = (double)(record->watched - record->gone);
        const double own = record->losses > 0 ? (double)record->gone / record->losses : 0;
        const double lost = promise_poisson_most(record->losses, doubt / count) * fmax(own, length);

        ret_down[i] = there > 0 ? lost / (there + lost) : 1;
    }
}

double promise_trust_added(const struct promise_record *record, msec_t added)
{
    return (double)(record->gone + added) / (double)(record->watched + added);
}
