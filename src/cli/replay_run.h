/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_run.h - one policy over a history: what it costs, whom, and how long jobs wait.
 *
 * Every dollar of the bill is some user's: a user pays for the time of its tasks, and bears the
 * cost of booting and idle machines in proportion to that.
 *
 * Promises:  same input, same result. The users' costs add up to the bill, to the micro-dollar.
 */
#ifndef STINT_CLI_REPLAY_RUN_H
#define STINT_CLI_REPLAY_RUN_H

#include <stdbool.h>

#include "base/error.h"
#include "base/units.h"
#include "cli/replay_input.h"
#include "policy/policy.h"
#include "sim/simulation.h"
#include "trace/wait_stats.h"

/* How the controller decides, the same for all policies. */
struct replay_rhythm {
    msec_t interval_ms; /* at every multiple; 0: when something happened */
    msec_t settle_ms;   /* with interval_ms 0: so long after it */
    enum sim_estimates estimates;
    struct burst_rule burst; /* when to rent for what waits for owned machines */
};

struct replay_run {
    const struct policy *policy;
    struct sim_result result;
    struct wait_stats waits; /* all time of a job beside its runtime */
    money_t *user_cost;      /* by user of the trace; owned */
    bool adds_up;            /* all work done, all machines back, all money accounted for */
};

/* Run it. What does not add up is reported on standard error. To be freed by replay_run_done. */
int replay_run(const struct replay_input *input, const struct replay_rhythm *rhythm,
               const struct policy *policy, struct replay_run *ret, struct error *reterr);

/* Takes what is zeroed. */
void replay_run_done(struct replay_run *run);

#endif
