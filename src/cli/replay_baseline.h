/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_baseline.h - what the same jobs cost in ways that the owner of a bill knows, without any policy of ours.
 *
 * always-on:     a fixed cluster around the clock, from the first arrival to the last end. Each task is on the type that holds it
 *                for the least; of each type there are as many machines as it takes that nobody ever waits, if tasks share
 *                them without waste. Real clusters need more machines, or let jobs wait.
 * power-saving:  Slurm's power saving, with SuspendTime: a node of the cheapest type that holds the task is powered up when no
 *                node of that type has room (first fit), and returned when it has been empty for SuspendTime. Jobs
 *                wait for the boot.
 * reserved:      the fixed cluster at the prices of the catalogue's reserved offers, where it has one for each type.
 *
 * A machine for every task is a policy of the simulator (task-per-instance).
 * Promises:  pure, and the same to the bit.
 * Costs:     O(n log n) and, for power saving, O(n x nodes of a type that are up).
 */
#ifndef STINT_CLI_REPLAY_BASELINE_H
#define STINT_CLI_REPLAY_BASELINE_H

#include "base/units.h"
#include "cli/replay_input.h"
#include "trace/wait_stats.h"

struct replay_baseline {
    const char *name;
    money_t cost; /* MONEY_UNKNOWN: the catalogue does not say */
    uint64_t machines;
    struct wait_stats waits;
};

enum { REPLAY_BASELINES = 3 };

void replay_baselines(const struct replay_input *input, msec_t suspend_ms,
                      struct replay_baseline ret[REPLAY_BASELINES]);

#endif
