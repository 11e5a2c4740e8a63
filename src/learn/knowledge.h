/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knowledge.h - all that history taught, as a decision reads it.
 *
 * The controller feeds it, event by event; a decision only reads it. What a policy may not know (the
 * true interference, say) is simply not in it.
 */
#ifndef STINT_LEARN_KNOWLEDGE_H
#define STINT_LEARN_KNOWLEDGE_H

#include "learn/colocation.h"
#include "learn/interruptions.h"
#include "learn/life_table.h"
#include "learn/pairs.h"
#include "learn/reuse.h"
#include "learn/runtimes.h"
#include "learn/tempo.h"
#include "learn/work_mix.h"

/* Throughput of one workload beside another, measured beforehand; for policies that profile. */
struct pair_profile {
    const double *rate; /* [workload * count + other], or NULL: no profile */
    uint32_t count;
};

struct knowledge {
    struct colocation colocation;
    struct pairs pairs;
    struct work_mix work_mix;
    struct tempo tempo;
    struct reuse reuse;
    struct runtimes runtimes;
    struct life_table lives;
    struct interruptions interruptions;
    struct pair_profile profile;
};

#endif
