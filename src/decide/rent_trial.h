/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rent_trial.h - what would be done on one machine, and what it would be charged: the trial of rent_value.h.
 *
 * A machine, new or empty, is filled from a window of batches, the longest first: at first each gets a share of it as large as its
 * share of all that wait, then what is left is filled. In the time that is paid anyway the room that comes free is used again. Of the
 * offers that differ in nothing but their market the one is taken that charges the least for that.
 *
 * Promises:  no batch gets more than it has left, nor the machine more than it holds. Same input, same answer.
 * Costs:     O(rows) look-ups, and O(moments x rows) where tasks end soon enough for others to wait for their room.
 * Memory:    the caller's, less than 2 KiB a trial.
 */
#ifndef STINT_DECIDE_RENT_TRIAL_H
#define STINT_DECIDE_RENT_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "decide/batches.h"
#include "decide/fit_mask.h"
#include "decide/rent_ways.h"
#include "decide/risk.h"
#include "decide/room_soon.h"
#include "model/view.h"

enum { TRIAL_ROWS = FIT_ROWS, TRIAL_MOMENTS = 64 };

/* Some tasks of a batch leave the machine at 'at', from now. */
struct trial_leaving {
    msec_t at;
    uint32_t batch; /* in the window */
    uint32_t count;
};

/* One machine of an offer, and what would be done on it. */
struct trial {
    const struct rival *rivals; /* offers of it that could be rented, or NULL */
    uint32_t offer;
    uint32_t instance; /* ROW_NONE: to be rented */
    msec_t ready;      /* from now */
    msec_t paid;       /* until then whatever happens, from now */
    struct res free;
    msec_t busy; /* until then, from now */
    double held; /* and so much longer, in ms, by work that runs on and must not be moved */
    double value;
    msec_t earliest; /* of the moments below; or later */
    uint64_t used;   /* a bit for each batch in the window that has tasks here; only of these */
    uint32_t at_once[TRIAL_ROWS]; /* is known how many, */
    uint32_t later[TRIAL_ROWS];
    uint32_t leaving_count; /* and of what leaves the first so many */
    struct trial_leaving leaving[TRIAL_MOMENTS];
};

/* A batch that is looked at, with what each trial reads of it. */
struct trial_row {
    struct batch *batch;
    const struct res *demand; /* of each task, if it takes the same everywhere; else NULL */
    msec_t runtime;
    double worth; /* of a task, per hour */
    uint32_t left;
    uint32_t apart;
    bool fixed;
};

/* What a machine is filled from. */
struct trial_window {
    const struct view *view;
    const struct wait_limits *limits;
    double doubt;         /* of runtimes, see overrun.h */
    money_t machine_cost; /* of a new machine, beside its price */
    bool has_risk;        /* machines of some offer are known to be lost */
    struct trial_row rows[TRIAL_ROWS];
    uint32_t row_count;
    struct fit_mask fits; /* which of them may fit */
    uint64_t left;        /* tasks in them */
};

/* A new machine of one of the rivals, or an empty one that there is, on which nothing is yet. */
void trial_begin_fresh(struct trial *trial, const struct view *view, const struct rival *rivals);
void trial_begin_idle(struct trial *trial, const struct view *view, uint32_t instance);

/* Whether the machine holds the first batch; then it is filled, and its value is known. */
bool trial_fill(const struct trial_window *window, struct trial *trial);

/* What is at stake on the machine, by the shares of the work. */
struct risk_stake trial_stake(const struct trial_window *window, const struct trial *trial);

/* What is charged for a machine of the offer, beyond what is paid already, for doing again what will be lost, and what the machine
 * costs beside its price: for the time that is charged, where others wait for it, and once, if it is new. */
double trial_charge(const struct trial_window *window, const struct trial *trial, uint32_t offer,
                    struct risk_stake stake);

/* Of the offers that differ in nothing else the one that is cheapest for what would be done there. Returns its charge. */
double trial_choose_offer(const struct trial_window *window, struct trial *trial);

/* Tasks of a batch of the window that would be done there. */
static inline uint32_t trial_count(const struct trial *trial, uint32_t row)
{
    return trial->used >> row & 1 ? trial->at_once[row] + trial->later[row] : 0;
}

#endif
