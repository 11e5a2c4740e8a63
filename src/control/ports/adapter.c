/* SPDX-License-Identifier: Apache-2.0 */
#include "control/ports/adapter.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

void adapter_clock_text(msec_t at, msec_t now, char *ret, size_t size)
{
    enum { DAY_MS = 24 * MSEC_PER_HOUR };

    const time_t seconds = (time_t)(at / MSEC_PER_SEC);
    const bool is_today = at / DAY_MS == now / DAY_MS;
    struct tm tm;

    if (gmtime_r(&seconds, &tm) == NULL ||
        strftime(ret, size, is_today ? "%H:%M:%S UTC" : "%Y-%m-%d %H:%M:%S UTC", &tm) == 0)
        (void)snprintf(ret, size, "an unknown time");
}
