/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reconfigure.h - change the whole cluster, or only what must change?
 *
 * Eva's ensemble (EuroSys'25, section 4.5). Two layouts are built. The full one places every task
 * again; the partial one keeps every machine that is worth its price, puts waiting tasks and those of
 * the other machines onto kept ones where they fit, and packs the rest. The full one is chosen if
 * what it saves more per hour, over the time it is expected to last, is more than what it costs more
 * to get there: S_F D - M_F > S_P D - M_P.
 *
 * Jobs that are on their way somewhere stay where they are bound, in both; so do tasks for which no
 * machine could be rented now, and those that have not stayed long enough where they are: a layout that
 * is made again whenever something happens would else move tasks faster than they get on. The plan asks
 * to be made again when the first of the latter may move.
 *
 * Promises:  pure and deterministic; the plan carries both candidates' figures.
 * Costs:     that of topdown.h and refill.h, for all tasks and for those that may move.
 */
#ifndef STINT_DECIDE_RECONFIGURE_H
#define STINT_DECIDE_RECONFIGURE_H

#include "decide/layout.h"

enum reconfigure_mode {
    RECONFIGURE_BEST, /* weigh both */
    RECONFIGURE_FULL,
    RECONFIGURE_PARTIAL,
};

struct reconfigure_options {
    enum reconfigure_mode mode;
    bool penalise;          /* gangs, in packing; see topdown.h */
    bool fill_kept;         /* partial: use room on machines that stay */
    msec_t expected_ms;     /* how long the next configuration will last */
    msec_t per_instance_ms; /* see layout.h */
    int64_t stay;           /* a task runs so many times as long as it took to get there */
};

void reconfigure(const struct worth_rules *rules, const struct reconfigure_options *options,
                 struct plan *ret);

#endif
