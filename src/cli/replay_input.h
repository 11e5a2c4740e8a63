/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay_input.h - a cluster's own history, and the machines to replay it on.
 *
 * Whatever the history was read from, the rest of `stint replay` sees a trace, what was left out of
 * it and why, and how long jobs waited as it was.
 *
 * Promises:  every record of the history is a job of the trace or counted in 'left_out'; every job
 *            of the trace fits some machine. On failure nothing is kept; errors name the file.
 */
#ifndef STINT_CLI_REPLAY_INPUT_H
#define STINT_CLI_REPLAY_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "model/catalogue.h"
#include "sim/simulation.h"
#include "trace/sacct.h"
#include "trace/swf.h"
#include "trace/trace.h"
#include "trace/wait_stats.h"

enum replay_kind {
    REPLAY_SACCT,
    REPLAY_SWF,
    REPLAY_JOBS,
};

enum { REPLAY_OWNED_MAX = 16 };

/* Machines that are owned: so many of a type of the catalogue. */
struct replay_owned {
    const char *type;
    size_t length; /* of its name */
    uint32_t count;
    money_t per_hour;
};

struct replay_source {
    enum replay_kind kind;
    const char *path;
    const char *catalogue_path;
    bool spot; /* spot offers too; they are never taken back here */
    enum sacct_demand demand;
    struct swf_options swf;
    struct replay_owned owned[REPLAY_OWNED_MAX];
    uint32_t owned_count;
    msec_t
        move_ms; /* to save a task that is to move; below 0: none does. Of no matter for a table of jobs */
};

enum { REPLAY_REASONS_MAX = 8 };

struct replay_reason {
    const char *key;  /* for programs: never_ran */
    const char *text; /* for people, behind a number: "never ran" */
    uint32_t count;
};

struct replay_input {
    struct trace trace; /* with at least one job */
    struct catalogue catalogue;
    struct sim_owned owned[REPLAY_OWNED_MAX];
    uint32_t owned_count;
    uint32_t records; /* of jobs in the history */
    struct replay_reason left_out[REPLAY_REASONS_MAX];
    uint32_t reason_count;
    uint32_t still_running;  /* jobs that had not ended: replayed as far as they ran */
    money_t work_bound;      /* see sim/work_bound.h */
    int64_t start_s;         /* of the trace's zero, since 1970; -1: unknown */
    struct wait_stats waits; /* as it was */
};

/* To be freed by replay_input_done. */
int replay_input_load(const struct replay_source *source, struct replay_input *ret,
                      struct error *reterr);

/* Takes what is zeroed. */
void replay_input_done(struct replay_input *input);

#endif
