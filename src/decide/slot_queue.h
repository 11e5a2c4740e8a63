/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slot_queue.h - what a machine is worth to those that wait for one, where there may be no more of them.
 *
 * Where a limit on machines binds, a machine costs more than its price: as long as it is there, all who wait for another one
 * wait on. With s machines, one that is there for an hour longer delays each of them by 1/s hours. So an hour of it costs, beside
 * its price, what an hour of all this waiting is worth, divided by s; but no more than the most that a machine does in an
 * hour. The more wait, the fewer and larger machines are rented; when nobody waits any more, they are rented as always.
 *
 * And who runs on for longer than expected does not hold a machine alone where others wait to be beside it: that is doubted the
 * less (overrun.h), by as much as there are tasks waiting for each machine.
 *
 * Promises:  pure, and the same to the bit for the same tasks in the same order.
 * Costs:     O(tasks + offers), where a limit on machines binds.
 */
#ifndef STINT_DECIDE_SLOT_QUEUE_H
#define STINT_DECIDE_SLOT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "model/view.h"

/* Of the tasks that wait, for each machine that there may be; money in micro-dollars. */
struct slot_queue {
    double tasks;
    double price; /* of an hour of them, each alone on the cheapest machine that holds it */
    double most;  /* the same of as many average ones as the largest machine holds */
};

/* 'slots': machines that there may be, above 0. Tasks that no machine can be rented for are none that wait. */
struct slot_queue slot_queue_of(const struct view *view, const uint32_t *tasks, uint32_t count,
                                uint64_t slots);

/* What an hour of a machine costs beside its price, where an hour of waiting costs 'waiting' times what an hour of work does. 'queue' may be
 * NULL: no limit on machines binds. */
static inline double slot_queue_hour(const struct slot_queue *queue, double waiting)
{
    if (queue == NULL)
        return 0;
    return queue->price * waiting < queue->most ? queue->price * waiting : queue->most;
}

/* What that does to what there is. */
struct slot_price {
    double hour; /* as above */
    double *
        of_shape; /* what an hour of a task of each shape costs at the least, of many that fill a machine; below 0: not looked at yet */
};

/* NULL: no limit on machines binds. */
struct slot_price *slot_price_of(const struct view *view, const struct slot_queue *queue,
                                 double waiting, struct arena *arena);

/* Whether tasks of the shape that fill the machine cost more than twice of what they cost on the best one: so much is lost while one is left to end, as
 * half of it is used until then, on average. 'price' may be NULL. */
bool slot_price_is_poor(const struct slot_price *price, const struct view *view, uint32_t shape,
                        uint32_t instance);

static inline double slot_price_hour(const struct slot_price *price)
{
    return price != NULL ? price->hour : 0;
}

/* How much of a doubt is left. */
static inline double slot_queue_doubt(const struct slot_queue *queue, double doubt)
{
    return queue == NULL ? doubt : doubt / (1 + queue->tasks);
}

#endif
