/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_threads.h - one history under several policies and the baselines, as many at a time as there are processors.
 *
 * Each replay is a simulation of its own that shares nothing with the others but the history and the catalogue, which nobody
 * changes; so the answers are the same to the bit, however many run at a time.
 *
 * Costs:  the memory of as many simulations as run at a time: fewer for a history with very many tasks.
 */
#ifndef STINT_CLI_REPLAY_THREADS_H
#define STINT_CLI_REPLAY_THREADS_H

#include "cli/replay_baseline.h"
#include "cli/replay_run.h"

enum {
    REPLAY_THREADS_MAX = 4,
    REPLAY_TASKS_AT_ONCE = 2500000, /* in all that run at a time: about 270 bytes each */
};

/* What is to be replayed, and where the answers go. */
struct replay_all {
    const struct replay_input *input;
    const struct replay_rhythm *rhythm;
    const struct policy *const *chosen;
    uint32_t count;          /* policies */
    struct replay_run *runs; /* of each, to be freed by replay_run_done whatever happens */
    msec_t suspend_ms;       /* of the baselines */
    struct replay_baseline *baselines;
};

/* The error is that of the first policy that failed. */
int replay_run_all(const struct replay_all *all, struct error *reterr);

#endif
