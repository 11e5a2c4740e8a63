/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_rules.h - what a job says of the markets that its tasks may run in.
 *
 * How rules are kept: decide/market_rules.h. A job without any is all zeros.
 */
#ifndef STINT_MODEL_JOB_RULES_H
#define STINT_MODEL_JOB_RULES_H

#include <stdbool.h>

#include "base/units.h"

/* In which market its tasks may start. */
enum market_rule {
    MARKET_RULE_ANY,
    MARKET_RULE_SPOT,
    MARKET_RULE_SAFE, /* any but spot */
};

struct job_rules {
    enum market_rule market;
    msec_t spot_for_ms; /* of _SPOT: so long after its arrival, then _SAFE; 0: always */
    msec_t deadline;    /* from when a loss would make it late, _SAFE; 0: none */
};

static inline bool job_has_rules(const struct job_rules *rules)
{
    return rules->market != MARKET_RULE_ANY || rules->deadline > 0;
}

#endif
