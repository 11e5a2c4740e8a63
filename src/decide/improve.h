/* SPDX-License-Identifier: Apache-2.0 */
/*
 * improve.h - better places for work that may be moved: an exact search over small groups of machines.
 *
 * The search starts from the cluster as it stands. A unit is a machine with what may leave it, or one task that
 * waits. For one, two or three units at a time the best way to share their machines and new ones among their
 * tasks is found (regroup.h), and taken if it is better: all single ones, all pairs, then triples drawn by what they
 * lose; and again, as long as something changes. So what is weighed is always money: what work is worth at the rates that are
 * learned, what machines cost, what moves, starts and waiting cost.
 *
 * Worth: the price of work of a shape (work_price.h, or its reservation price), and what waiting costs. A task may wait, or be suspended, if
 * what it would cost to run it now is more than that, and than what it costs besides to wait for who is late: so nobody waits for
 * ever.
 *
 * Spot machines may be refused: work that runs does not leave its machine for a new one in another market, nor for one of an offer that is
 * doubted. Such machines are rented for nobody, with the reason REASON_ASKED_FIRST, and work moves there when they are ready.
 *
 * Limits: machines that a plan has used or left already are left alone, so are those that are taken away soon or are
 * crowded. Tasks that must not move stay, and others may join them. Where there are more than IMPROVE_MACHINES_MOST, a few are looked
 * at in each decision, others in the next, so that all have their turn.
 *
 * Promises:  pure: what is remembered of groups that gave nothing saves time and changes no plan.
 * Costs:     O(units^2) look-ups; regroup() for pairs of which one has changed, for so many steps at most in one
 *            decision. Where that is not enough for all pairs, improve_order.h says which come first.
 */
#ifndef STINT_DECIDE_IMPROVE_H
#define STINT_DECIDE_IMPROVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/map.h"
#include "decide/row_map.h"
#include "decide/scarcity.h"
#include "learn/pairs.h"
#include "model/plan.h"
#include "model/view.h"

/* Up to so many machines all are looked at, and up to so many the search places what arrives. */
enum { IMPROVE_MACHINES_MOST = 4096, IMPROVE_ARRIVALS_MOST = 512, IMPROVE_WAITING_MOST = 256 };

/* Groups that gave nothing, by what they are. */
struct improve_memory {
    struct map dull;
    uint64_t era; /* rates and prices by which that was found */
};

struct improve_options {
    double waiting;  /* price of an hour of waiting, as a share of what the work costs in an hour */
    double ageing;   /* the same for each hour of delay */
    msec_t grace_ms; /* delay that does not count */
    double grace_share; /* and so much of the time that it has run */
    uint32_t triples;   /* drawn in each pass */
    uint64_t work;      /* steps of regroup() in one decision, at most */
    bool suspends;
};

struct improve_input {
    const struct view *view;
    const struct pairs *pairs;
    const double *work_price; /* per shape and hour, 0: its reservation price; NULL: that of all */
    uint32_t work_price_count;
    double mean_price; /* of an hour of any work, 0: not known */
    struct improve_options options;
    const struct scarcity
        *scarcity;           /* whom limits may bind waits as little as it can; NULL: nobody */
    const uint32_t *waiting; /* those of the tasks that wait which are to be placed, or not, here */
    uint32_t waiting_count;
    struct improve_memory *memory; /* or NULL */
};

/* Whether a task that waits is placed by the search: it may be moved later, is not placed with others, and does not end
 * before a move would pay. */
bool improve_takes(const struct view *view, uint32_t task);

/* Whether there is anything to search for: a task that waits, or one on a machine that is looked at which may leave it. If not,
 * improve() adds nothing, whatever work is worth. O(tasks that run) at most; O(1) where no job may be moved. */
bool improve_has_any(const struct view *view, uint32_t waiting_count, const struct row_map *uses);

/* Add to the plan. 'uses' (enum machine_use per instance row): those that have one are left alone, and those that the
 * search gives work or leaves get one. */
void improve(const struct improve_input *input, struct plan *plan, struct row_map *uses);

void improve_memory_init(struct improve_memory *memory);
void improve_memory_done(struct improve_memory *memory);

#endif
