/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_pools.h - machines for services that were promised some: which are kept, which are rented, who runs where.
 *
 * A job may have a promise: machines for all of its tasks but for a small share of the time (view's job.short_ppb). Each
 * such service has a pool of machines, planned by decide/promise.h, in units of its tasks:
 *
 *   service_offers.c   what can be rented for it, and for which share of the time each offer is not there
 *   service_pools.c    which machines belong to its pool, and what is rented to complete it
 *   service_places.c   where its tasks go, and its spare ones; work that may be stopped makes room for them
 *   service_memory.c   what was planned last
 *   service_excess.c   which work runs in the rest of the room meanwhile
 *
 * A machine that is taken away is replaced, so an offer is missing from its loss until another machine has started: with
 * losses as frequent as the experience of the cluster makes likely (one in ten are more frequent), else as the catalogue
 * says. Spot offers of which neither is known are used only
 * where the service may run on nothing else, and nothing is taken to be kept then. By rule the pool survives the loss of any one type on the
 * spot market, or of any one offer where there is only one type. Where on demand is cheaper than a pool that keeps the
 * promise, or a part of one, it is used; if nothing that can be rented keeps it, the best there is.
 *
 * This stage comes before the policy. The policy sees neither the tasks that have a place here nor the machines of the
 * pools; a machine that a pool needs no more is the policy's again.
 *
 * Promises:  pure; same question, same answer. No task of a service that runs is moved, unless its pool has become much
 *            dearer than another one that would do.
 * Costs:     O(offers + machines + what waits), and for a pool that does not hold, or
 *            may be too dear, what promise_k_of_n costs with SERVICE_OFFERS_MAX offers.
 * Memory:    the arena's, and the memory's own; 6 KB a service.
 */
#ifndef STINT_DECIDE_SERVICE_POOLS_H
#define STINT_DECIDE_SERVICE_POOLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "learn/interruptions.h"
#include "model/plan.h"
#include "model/view.h"

enum { SERVICE_OFFERS_MAX = 24 };

/* What was planned last, so that it is not planned again while nothing changes. */
struct service_memory;

struct service_memory *service_memory_create(void);
void service_memory_destroy(struct service_memory *memory);

struct service_question {
    const struct view *view;
    const struct interruptions *learned;
    /* Per row of the instances: the row of the job whose pool it was in, or ROW_NONE; only to know empty machines again. */
    const uint32_t *was_pool_of;
    struct arena *arena;
    struct service_memory *memory; /* of earlier answers; may be NULL, with the same answer */
};

struct service_pools {
    struct plan plan;  /* without releases */
    uint32_t *pool_of; /* per row of the instances: the row of the job, or ROW_NONE */
};

/* Some job has a promise. */
void service_pools_decide(const struct service_question *question, struct service_pools *ret);

#endif
