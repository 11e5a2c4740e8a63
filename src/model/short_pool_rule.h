/* SPDX-License-Identifier: Apache-2.0 */
/*
 * short_pool_rule.h - spot machines that stand ready for short tasks: which, how many at most, and what is short.
 *
 * decide/short_pool.h says what comes of it. All zeros: there are none.
 */
#ifndef STINT_MODEL_SHORT_POOL_RULE_H
#define STINT_MODEL_SHORT_POOL_RULE_H

#include <stdbool.h>

#include "base/units.h"

struct short_pool_rule {
    const char *machine; /* a type of the catalogue; the text is borrowed */
    uint32_t most;       /* machines */
    uint32_t
        threshold_ppm; /* while so large a share of all machines has long work there are more */
    msec_t longest_ms; /* that a short task runs */
    bool pulls; /* one that waits starts before long work on any machine that has room again */
};

#endif
