/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_mix.h - of which shapes work is made of, how they disturb each other, and what machines cost: all that says what
 * work costs at the margin.
 *
 * Once an hour all tasks are counted by shape; old counts fade over a week. Now and then, once a day or when a shape is
 * there that was not before, the counts are taken as a snapshot, together with the rates of pairs and the prices of that
 * moment. Decisions read the snapshot alone: so what they make of it holds until the next one.
 *
 * Promises:  a struct of zeros is empty; so is the snapshot within the first hour.
 * Costs:     O(1) for most updates, O(tasks) once an hour, O(shapes + offers + workloads^2) for a snapshot.
 */
#ifndef STINT_LEARN_WORK_MIX_H
#define STINT_LEARN_WORK_MIX_H

#include <stdint.h>

#include "learn/pairs.h"
#include "model/view.h"

enum { WORK_MIX_WORKLOADS_MAX = 256 };

struct work_snapshot {
    uint64_t version; /* 0: there is none */
    double *amount;   /* per shape: tasks of it, on average over time */
    uint32_t shapes;
    double *rate; /* [workload * workloads + other]; NULL: there are too many */
    uint32_t workloads;
    money_t *price; /* per offer */
    uint32_t offers;
};

struct work_mix {
    double *amount; /* per shape */
    uint32_t shapes;
    uint32_t room;
    msec_t next_count;
    msec_t taken_at;
    struct work_snapshot taken;
};

void work_mix_done(struct work_mix *mix);

/* Count, or take a snapshot, if it is time to. */
void work_mix_update(struct work_mix *mix, const struct view *view, const struct pairs *pairs);

#endif
