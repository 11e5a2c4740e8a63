/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tempo.h - how long a cluster configuration lasts.
 *
 * Eva's estimate (EuroSys'25, section 4.5): jobs arrive and finish at rate lambda, each such event
 * brings a full reconfiguration with probability p, so the next one is D = -1 / (lambda ln(1 - p))
 * away. As long as none was ever chosen, p is not known: the configuration is expected to last as
 * long again as the story has lasted.
 */
#ifndef STINT_LEARN_TEMPO_H
#define STINT_LEARN_TEMPO_H

#include <stdint.h>

#include "base/units.h"

struct tempo {
    uint64_t events; /* arrivals and ends of jobs */
    uint64_t fulls;  /* full reconfigurations chosen */
    msec_t first_at; /* of the earliest event */
    msec_t last_at;  /* of the latest */
};

/* An event at 'at'; news of it may come late, after that of a later one. */
void tempo_event(struct tempo *tempo, msec_t at);
void tempo_full(struct tempo *tempo);

/* The expected time until the next full reconfiguration. */
msec_t tempo_expected(const struct tempo *tempo, msec_t now);

#endif
