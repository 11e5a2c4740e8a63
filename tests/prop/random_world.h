/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_world.h - a small random world for the simulator, all of it from one number.
 *
 * A few dozen jobs of every form (single tasks, gangs, several tasks that share nothing), a few
 * machine types in two or three families, prices that stand still or change, any policy with any
 * options, in rounds or event by event; two seeds of three also have faults.
 *
 * Promises:  every task fits some type; every run can end, for no fault is certain to strike.
 * Memory:    owned by the world.
 */
#ifndef STINT_TESTS_RANDOM_WORLD_H
#define STINT_TESTS_RANDOM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "sim/simulation.h"

struct random_world {
    struct trace trace;
    struct catalogue catalogue;
    struct contention contention;
    struct sim_config config;
    bool has_faults;
    bool has_promises;  /* some work has a promise of machines */
    struct rng changes; /* of the catalogue */
    uint32_t changes_left;
    struct sim_owned owned[2];
};

void random_world_draw(struct random_world *world, uint64_t seed);

/* One with more to heed: several zones, endless work, work that may run on some offers only, wants a machine for itself or
 * has to stay in one zone or market. Most are smaller, some larger. */
void random_world_draw_wide(struct random_world *world, uint64_t seed);

/* Whether the seed has jobs that are fixed and jobs that are spread; most have none, so that they mean
 * what they always did. */
bool random_has_bonds(uint64_t seed);

/* For a job of such a seed: one of four is fixed, one of two is spread. */
bool random_is_fixed(uint64_t seed, uint64_t job);
bool random_is_spread(uint64_t seed, uint64_t job);

/* For a job of every second such seed: what it keeps apart from, one of six kinds, of which some share machines among themselves and others
 * do not; or 0. */
uint32_t random_keeps(uint64_t seed, uint64_t job, struct aparts *aparts);

/* The same world with more trouble: controllers that take over from each other, audits, lost news,
 * limits. */
void random_world_trouble(struct random_world *world, uint64_t seed);

/* The same world with a few machines that are owned, for nothing or for a price, and a rule that says when to rent beyond
 * them. To be called once, on a world that is where it stays. */
void random_world_own(struct random_world *world, uint64_t seed);

/* Change the catalogue: an offer comes, in a new zone even, goes, or comes back. When the next change is due, or
 * MSEC_NEVER. In every other wide world there are some. */
msec_t random_world_change(struct random_world *world, msec_t now);

void random_world_done(struct random_world *world);

/* The parts, for tests that need no whole world. Shapes fit the catalogue that is given. */
void random_catalogue(struct catalogue *catalogue, struct rng *rng);
void random_zones(struct catalogue *catalogue, struct rng *rng);
void random_shapes(struct shapes *shapes, const struct catalogue *catalogue, struct rng *rng);

/* What they need besides is drawn from 'needs', which may be NULL. The shapes' rows into 'ret', of which there are
 * SHAPES_MAX at most; how many is returned. */
enum { SHAPES_MAX = 10 };

uint32_t random_shapes_needing(struct shapes *shapes, const struct catalogue *catalogue,
                               struct rng *rng, struct rng *needs, uint32_t *ret);
void random_options(const struct policy *policy, int64_t *option, struct rng *rng);

/* Evenly from 'low' to 'high', both included. */
int64_t random_between(struct rng *rng, int64_t low, int64_t high);

#endif
