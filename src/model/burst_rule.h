/* SPDX-License-Identifier: Apache-2.0 */
/*
 * burst_rule.h - when a machine is rented for a job that fits machines which are owned, and all of these are busy.
 *
 * decide/burst.h says what a rule means for a task. All zeros: at once.
 */
#ifndef STINT_MODEL_BURST_RULE_H
#define STINT_MODEL_BURST_RULE_H

#include "base/units.h"

struct burst_rule {
    msec_t after_ms; /* when it has waited so long since it arrived; MSEC_NEVER: never */
    money_t
        waiting_hour; /* or when its waiting, at so much an hour, has cost what the machine would; 0: no such */
};

#endif
