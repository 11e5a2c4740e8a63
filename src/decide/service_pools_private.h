/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service_pools_private.h - what the parts of service_pools.h share: see there.
 */
#ifndef STINT_DECIDE_SERVICE_POOLS_PRIVATE_H
#define STINT_DECIDE_SERVICE_POOLS_PRIVATE_H

#include "decide/promise.h"
#include "decide/service_pools.h"

#define SERVICE_NO_OFFER UINT32_MAX

enum { SERVICE_OFFERS_ROOM = 3 * SERVICE_OFFERS_MAX }; /* with those that it has machines of */

/* All services. */
struct services {
    const struct service_question *question;
    const struct view *view;
    struct arena *arena;
    struct service_pools *ret;
    struct res
        *left; /* per row of the instances: what the plan leaves of it; of machines in a pool */
    bool *is_suspended; /* per row of the tasks: the plan stops it */
};

/* A service, and the offers that its pool may be made of. */
struct service {
    struct services *all;
    uint32_t job;
    uint32_t shape;
    uint32_t offer_of[SERVICE_OFFERS_ROOM]; /* of the catalogue, for each of the promise's */
    struct promise_offer offers[SERVICE_OFFERS_ROOM];
    uint32_t rentable; /* so many from the first on can be rented, the rest is only there */
    uint32_t count;
    uint32_t machines[SERVICE_OFFERS_ROOM]; /* of the pool, that there are or come */
    uint32_t ready[SERVICE_OFFERS_ROOM];    /* of them */
    uint32_t target[SERVICE_OFFERS_ROOM];   /* what the cheapest pool that holds would have */
    uint32_t *members;                      /* rows of the instances in the pool */
    uint32_t member_count;
    uint32_t rent_first; /* in the plan: what is rented for it */
    bool leaves_dear;    /* its tasks are to leave machines that the target does not have */
};

/*
 * service_offers.c
 */

/* The promise as planned: with all offers, or only with those that can be rented. */
struct promise service_promise(const struct service *service, uint32_t count);

/* Fill in the offers; 'is_used' says of each of the catalogue whether the service has machines of it. */
void service_list_offers(struct service *service, const bool *is_used);

/* Its index among the service's, or SERVICE_NO_OFFER. */
uint32_t service_find_offer(const struct service *service, uint32_t offer);

/* How many tasks of the service the machine holds beside what cannot be stopped there. */
int64_t service_units(const struct service *service, uint32_t instance);

/* Whether the task may be stopped for a service. */
bool service_may_stop(const struct view *view, uint32_t task);

/*
 * service_memory.c
 */

/* The target of the same question, if that was the last; whether it holds. */
bool service_recall(struct service *service, bool *ret_holds);
void service_remember(const struct service *service, bool holds);

/*
 * service_places.c and service_excess.c
 */

/* Places for all its tasks that wait, as far as there are any. */
void service_place_tasks(struct service *service);

/* Room in the pools for work that waits and may be stopped. */
void service_fill_excess(struct services *services);

#endif
