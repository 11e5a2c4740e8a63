/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocked_wait.h - which tasks are better off waiting until a cheap offer may be asked for again.
 *
 * A cloud that refuses an offer has it again in a minute or two more often than not. Whoever rents the next best
 * offer in between may pay several times as much: when all machines without accelerators are refused at once, the
 * next best has eight of them. So a task waits for the cheapest offer on demand that holds it,
 *
 *  - if what it needs instead costs at least twice as much; and
 *  - as long as the wait, at the price of the offer that it waits for, costs less than the difference: who waits for
 *    something that never comes has paid twice at the most; and
 *  - for three minutes at the most, from its arrival.
 *
 * An offer of the spot market that is refused is not waited for: on demand is there for that, and what a job may wait
 * for spot is its own rule. Gangs do not wait here: some of one would hold machines for the others.
 *
 * Costs:   O(offers), and for each batch O(offers that are blocked).
 * Memory:  the arena's.
 */
#ifndef STINT_DECIDE_BLOCKED_WAIT_H
#define STINT_DECIDE_BLOCKED_WAIT_H

#include "decide/batches.h"
#include "model/plan.h"

/* Take those that wait out of the batches. The plan wakes when the first offer that is waited for is open. */
void blocked_wait(struct batches *batches, struct plan *plan);

#endif
