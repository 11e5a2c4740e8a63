/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_act.h - carry out one request with libslurm.
 *
 * Every function returns 0, a positive error code of Slurm, or SLURM_ACT_OURS if the refusal is our
 * own; then 'reterr' has a text. slurm_act_is_unsure tells those codes after which nobody knows
 * whether slurmctld has done it.
 *
 * Promises:  a job that the filter leaves out is not touched; nor is one that is in another run
 *            than the request says.
 */
#ifndef STINT_ENGINE_SLURM_ACT_H
#define STINT_ENGINE_SLURM_ACT_H

#include <stdbool.h>

#include "base/error.h"
#include "engine/slurm/slurm_request.h"
#include "engine/slurm/slurm_watch.h"

enum { SLURM_ACT_OURS = -1 };

bool slurm_act_is_unsure(int code);

/* Required nodes, release, begin now. One that already runs there is in order. */
int slurm_act_place(struct slurm_watch *watch, const struct slurm_request *request,
                    struct error *reterr);

/* One job of a list, and what became of it: 0, or an error as above. */
struct slurm_act_item {
    char job[SLURM_JOB_ID_SIZE];
    const char *nodes;   /* inside: what is required of it from now on, or NULL */
    bool keeps_priority; /* inside: it has its own */
    bool has_note;       /* inside: its admin comment says why it waited */
    int code;
    struct error error;
    time_t begin; /* inside: not before */
};

/*
 * Open the gate of each of 'count' jobs without a node, or close it. Opening takes one call a job,
 * several at a time. When slurmctld goes away the rest have the code of the call that noticed.
 */
void slurm_act_release(struct slurm_watch *watch, struct slurm_act_item *items, uint32_t count,
                       const char *partition);
void slurm_act_hold(struct slurm_watch *watch, struct slurm_act_item *items, uint32_t count);

/* Take the gate's own hold off each, and leave the gate closed and the time to begin as it is: Slurm gives the job its
 * priority, and looks after its dependencies. */
void slurm_act_unhold(struct slurm_watch *watch, struct slurm_act_item *items, uint32_t count);

/* Close the gate of a job that waits. Refused if it runs: nothing is ever stopped by this. */
int slurm_act_cancel(struct slurm_watch *watch, const struct slurm_request *request,
                     struct error *reterr);

/* The first half of a stop: send the signal, if there is one. If it still waits ('ret_waits'), the
 * gate is closed and that is all. */
int slurm_act_signal(struct slurm_watch *watch, const struct slurm_request *request,
                     bool *ret_waits, struct error *reterr);

/* The second: back to the queue, behind the gate. Refused if that run is over. */
int slurm_act_requeue(struct slurm_watch *watch, const char *job, uint32_t run,
                      struct error *reterr);

/* Let a job that waits behind the gate or is held require no nodes any more, if it still does. That it
 * worked is seen by the next look. */
void slurm_act_loosen(struct slurm_watch *watch, uint32_t job_id);

/* Hold it as its user would, so that they can release it, behind the gate, with the admin's comment. Only
 * what waits is. */
int slurm_act_give_up(struct slurm_watch *watch, const struct slurm_request *request,
                      struct error *reterr);

/* slurmctld's clock is ahead of ours by so many seconds. */
void slurm_act_set_clock(time_t skew_s);

/* Which release slurmctld is of, as slurm_release.h counts: what must be worked around follows from it. */
void slurm_act_set_release(uint32_t release);

int slurm_act_comment(const struct slurm_watch *watch, const struct slurm_request *request,
                      struct error *reterr);

/*
 * Set the admin comment of the record that the job is in, or take it off if there is no text. Not for one that runs or is
 * held by a person, and never in place of a comment that somebody else has set; 0 as well if it says so already.
 */
int slurm_act_explain(const struct slurm_watch *watch, const struct slurm_request *request,
                      struct error *reterr);

/* SLURM_DOWN, SLURM_DRAIN, SLURM_RESUME or SLURM_DELETE. */
int slurm_act_node(const struct slurm_request *request, struct error *reterr);

#endif
