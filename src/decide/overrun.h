/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overrun.h - how long work that must not be moved holds its machine beyond what is expected.
 *
 * No estimate is so good that a machine can be trusted to be free when it says. Alone on its machine a task that
 * runs on costs what it is worth. On a machine that it shares, and that is larger for that, it holds all of it, alone, until it
 * ends: so sharing costs more than estimates say, the more the more jobs there are. Work that may be moved is moved off instead.
 *
 * The doubt is how much longer than expected such work is taken to hold a machine that ends with it, as a share of the
 * expected time; on one that is busy for x times as long anyway, x times less. It is no forecast: on parts of ten public logs
 * the bill is the same within 0.1 % for 1.5 to 3, and 1.4 % higher without.
 *
 * Tasks of one job end together, and so do those of jobs that were submitted as one (job.kin).
 *
 * Costs:   O(tasks of the batch that have room).
 */
#ifndef STINT_DECIDE_OVERRUN_H
#define STINT_DECIDE_OVERRUN_H

#include "decide/batches.h"
#include "decide/slot_queue.h"

/* How much longer than 'lasts' a machine is held, in ms, on average, by a task that is expected to run for 'runtime', which is
 * not longer. */
static inline double overrun_of(msec_t runtime, msec_t lasts, double doubt)
{
    return lasts > 0 ? doubt * (double)runtime * ((double)runtime / (double)lasts) : 0;
}

/* How many jobs the first so many tasks of the batch are of; those of one kin count as one. */
uint32_t overrun_jobs(const struct view *view, const struct batch *batch, uint32_t count);

/* How many of the first tasks of the batch end together; at most so many. */
uint32_t overrun_together(const struct view *view, const struct batch *batch, uint32_t most);

/* Room on a machine that there is. */
struct overrun_room {
    uint32_t instance;
    const struct res *free;
    msec_t at;    /* from now, when it has that */
    msec_t lasts; /* without more work */
};

/* Whether tasks of the batch should go there: that the machine lasts longer for their sake, or is held for longer than expected, costs
 * no more than new machines for those that it holds. 'slots' (slot_queue.h, NULL: none) have a price beside that of machines, but not
 * for what is held beyond what is expected, as nobody may be waiting by then; and no poor machine lasts longer for anybody. */
bool overrun_is_worth(const struct view *view, const struct batch *batch,
                      const struct overrun_room *room, double doubt,
                      const struct slot_price *slots);

#endif
