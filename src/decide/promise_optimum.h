/* SPDX-License-Identifier: Apache-2.0 */
/*
 * promise_optimum.h - the cheapest pool that keeps a promise, by an integer program.
 *
 * Every subset of the offers may be gone at once: a scenario, with a probability if losses are
 * independent, or with the time that a history had it. The pool is short in some scenarios, and these
 * together may not last longer than the promise allows. A binary number says of a scenario whether the
 * pool may be short in it.
 *
 * Scenarios are added as they are needed: with those left out counted as harmless, the program gives a
 * price that no pool can go below; if its pool keeps the promise, it is the cheapest there is. If not,
 * the likeliest scenarios in which it is short are added. Only pools are looked for that are cheaper than the best one
 * known by more than the gap, and the first one will do; that there is none is the proof.
 *
 * Offers:    a program has room for PROMISE_OPTIMUM_OFFERS. Of more, those are taken that good pools
 *            are made of; the bound is then one on pools of these offers.
 * Models:    independence, or the joint states of a history. Where both must hold at once no program is
 *            solved: the answer is that of promise_k_of_n with promise_improve, without a bound.
 * Promises:  never dearer than promise_k_of_n with promise_improve. Nothing here depends on a clock.
 * Costs:     as the solver pleases, bounded by a number of nodes and of programs; then 'bound' says how far from the
 *            cheapest the pool can be. Up to two seconds for 300 offers.
 */
#ifndef STINT_DECIDE_PROMISE_OPTIMUM_H
#define STINT_DECIDE_PROMISE_OPTIMUM_H

#include "decide/milp.h"
#include "decide/promise.h"

enum { PROMISE_OPTIMUM_OFFERS = 13 };

struct promise_optimum {
    struct promise_pool pool;
    money_t bound;     /* no pool of the offers that were looked at costs less */
    uint32_t offers;   /* that were looked at */
    uint32_t programs; /* that were solved */
    uint32_t nodes;    /* that they took */
    bool is_proven;    /* the pool costs the bound, within the gap */
};

/* 'gap' is relative: 0 for the very cheapest. Returns 0, or a negative errno if the solver failed. */
int promise_optimum(const struct promise *promise, const struct milp_solver *solver, double gap,
                    struct arena *arena, struct promise_optimum *ret);

#endif
