/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worth.h - what a set of tasks that share a machine is worth per hour.
 *
 * Eva's throughput-normalised reservation price (EuroSys'25, sections 4.3 and 4.4): the sum of the
 * tasks' reservation prices, each times the throughput it is expected to have beside the others. A
 * machine is worth its price when its tasks' worth is no less.
 *
 * Tasks come as kinds: shape and number of tasks in the job. With 'penalise', a member of a gang of
 * n counts its slow-down n times, because all n run at its pace.
 *
 * Words:   a group is the set of tasks on one machine, as kinds with counts.
 * Promises: the same sums in the same order, so equal groups built alike have equal worth.
 * Costs:   O(kinds in the group) look-ups where the exact set was seen, O(kinds^2) else.
 */
#ifndef STINT_DECIDE_WORTH_H
#define STINT_DECIDE_WORTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "learn/colocation.h"
#include "model/view.h"

struct worth_kind {
    uint32_t shape;
    uint32_t siblings; /* tasks of the job, itself included; 1 for tasks that share no pace */
};

struct worth_member {
    struct worth_kind kind;
    uint32_t count;
};

struct worth_group {
    struct arena *arena;
    struct worth_member *members;
    uint32_t member_count;
    uint32_t room;
    uint32_t size; /* tasks */
    uint64_t hash; /* sum of the tasks' tokens */
};

/* What the worth of a task depends on besides its neighbours. */
struct worth_rules {
    const struct view *view;
    const struct colocation *colocation; /* NULL: throughput is not considered */
    bool siblings;                       /* gangs may be penalised at all */
};

void worth_group_init(struct worth_group *group, struct arena *arena);
void worth_group_add(struct worth_group *group, struct worth_kind kind);

/* The kind of a task. */
struct worth_kind worth_kind_of(const struct worth_rules *rules, uint32_t task);

/* The group of all tasks that are bound to an instance. */
void worth_group_of(const struct worth_rules *rules, uint32_t instance, struct arena *arena,
                    struct worth_group *ret);

/* The worth of the group, with one task of 'more' added unless that is NULL. Micro-dollars/hour. */
double worth_of(const struct worth_rules *rules, const struct worth_group *group,
                const struct worth_kind *more, bool penalise);

/* How well a demand complements what is free: sum over kinds of demand/capacity x free/capacity. */
double worth_alignment(const struct res *demand, const struct res *free,
                       const struct res *capacity);

#endif
