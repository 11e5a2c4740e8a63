/* SPDX-License-Identifier: Apache-2.0 */
/*
 * period.h - a moment as people write it on a command line: "2026-11", "2026-11-15", "2026-11-15T06:30Z", or
 * how long ago, "7d". In UTC.
 */
#ifndef STINT_CLI_PERIOD_H
#define STINT_CLI_PERIOD_H

#include "base/units.h"

#define PERIOD_WORDS \
    "a day such as 2026-11-15, a month such as 2026-11, or how long ago, such as 7d"

/* -EINVAL: it is none of these. */
int period_moment(const char *text, msec_t now, msec_t *ret);

/* Now, by the clock of the machine. */
msec_t period_now(void);

#endif
