/* SPDX-License-Identifier: Apache-2.0 */
#include "base/steady_clock.h"

msec_t steady_clock_read(struct steady_clock *clock, msec_t realtime, msec_t monotonic)
{
    const msec_t passed = monotonic - clock->monotonic;

    if (realtime >= clock->now)
        clock->now = realtime;
    else if (passed > 0)
        clock->now += passed;
    clock->monotonic = monotonic;
    return clock->now;
}
