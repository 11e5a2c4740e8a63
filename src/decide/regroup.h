/* SPDX-License-Identifier: Apache-2.0 */
/*
 * regroup.h - the best way to put a few tasks on a few machines: exact.
 *
 * Each task goes to one of the machines that there are, to a new one together with some of the others, or waits. A
 * machine on which something stays is kept; one that gets nothing is returned. What a task gets done in an hour
 * is worth something; it goes at the product of its rates beside the others. The most is wanted of
 *
 *     worth of what is done over a horizon - price of the machines over it
 *         - what starting, stopping and moving cost - what waiting costs - what losing machines costs.
 *
 * By dynamic programming over subsets: first what is best for each subset with new machines and waiting alone, then with
 * the first machine as well, and so on.
 *
 * Promises:  no way to do it is better; of equally good ones the standing one is kept. Same input, same answer.
 * Costs:     O((machines + 1) 3^tasks): about 20 us for eight tasks and two machines.
 */
#ifndef STINT_DECIDE_REGROUP_H
#define STINT_DECIDE_REGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "model/apart.h"
#include "model/res.h"

enum { REGROUP_TASKS = 8, REGROUP_MACHINES = 3, REGROUP_SETS = 1 << REGROUP_TASKS };

/* Where a task is or goes: one of the machines, by its number, or one of these; from REGROUP_FRESH on new machines. */
enum { REGROUP_WAITS = REGROUP_MACHINES, REGROUP_FRESH };

/* A task that stays on its machine. */
struct regroup_stayer {
    double worth;
    double pace;
    double rate;                  /* beside the others that stay */
    double beside[REGROUP_TASKS]; /* and beside each of the tasks */
};

struct regroup_machine {
    double price;    /* for what of the horizon is not paid yet */
    struct res free; /* but for what stays */
    const struct regroup_stayer *stayers;
    uint32_t stayer_count;
};

struct regroup_task {
    double worth;   /* of the horizon at full speed */
    double pace;    /* so many tasks go at its pace: it counts for all of them */
    double stake;   /* of the horizon: what offer_risk is a share of */
    double start;   /* what it costs to put it elsewhere than at home */
    double idle;    /* what it costs while a new machine comes, for each hour */
    double wait;    /* what it costs if it waits; REGROUP_NEVER: it must not */
    uint8_t home;   /* the machine where it runs, or REGROUP_WAITS: none of these */
    uint8_t at;     /* where it is to go by now */
    uint32_t apart; /* what it must not be beside, see model/apart.h */
    const struct res *demand[REGROUP_MACHINES]; /* NULL: it may not go there */
    double
        risk[REGROUP_MACHINES]; /* what it costs that the machine may be lost, over the horizon */
    double beside_stayers[REGROUP_MACHINES]; /* its rate beside those that stay there */
    double beside[REGROUP_TASKS];            /* and beside each of the tasks */
    const struct res *const *offer_demand;   /* of each offer */
    const double *offer_risk;                /* of each offer, in shares of its stake; NULL: none */
};

#define REGROUP_NEVER 1e18

/* A machine that could be rented; the cheapest come first. */
struct regroup_offer {
    double price; /* for the horizon and the setup */
    double boot;  /* hours until it takes work */
    struct res capacity;
};

struct regroup {
    struct regroup_task tasks[REGROUP_TASKS];
    struct regroup_machine machines[REGROUP_MACHINES];
    uint32_t task_count;
    uint32_t machine_count;
    const struct aparts *aparts; /* what those numbers stand for; NULL if none is a set */
    const struct regroup_offer *offers;
    uint32_t offer_count;
    double least_gain; /* less is no reason to change anything */
};

struct regroup_answer {
    double standing; /* what the standing way comes to */
    double best;     /* and the best one */
    bool is_better;
    uint8_t to[REGROUP_TASKS];     /* of each task, as above */
    uint32_t offer[REGROUP_TASKS]; /* of each new machine: REGROUP_FRESH + its index here */
    uint32_t fresh_count;
};

void regroup(const struct regroup *problem, struct regroup_answer *ret);

#endif
