/* SPDX-License-Identifier: Apache-2.0 */
/*
 * steady_clock.h - the time of day, made fit to wait by: it never goes back and never stands still.
 *
 * Everything the daemon waits for (a boot, the end of a lease, the next audit) is a moment of this
 * time. So when the host's clock is set back, it continues at the pace of the monotonic clock and
 * stays ahead until the host's clock has overtaken it or the daemon is started again; else machines
 * would be paid for, unwatched, for as long as the clock was set back.
 *
 * A clock that is set forward, or a host that slept, is believed at once: all that was due meanwhile is
 * due now, in one turn. Ages are then too long by the step: machines that boot are taken for too slow
 * and go back, and their accounts show the step as time until the cloud says when their bills began and
 * ended. Nothing breaks, ten years ahead either.
 */
#ifndef STINT_BASE_STEADY_CLOCK_H
#define STINT_BASE_STEADY_CLOCK_H

#include "base/units.h"

struct steady_clock {
    msec_t now;       /* what it said last */
    msec_t monotonic; /* and when that was */
};

/* What time it is, by the host's two clocks. */
msec_t steady_clock_read(struct steady_clock *clock, msec_t realtime, msec_t monotonic);

#endif
