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
};

void random_world_draw(struct random_world *world, uint64_t seed);

/* Whether the seed has jobs that are fixed and jobs that are spread; most have none, so that they mean
 * what they always did. */
bool random_has_bonds(uint64_t seed);

/* For a job of such a seed: one of four is fixed, one of two is spread. */
bool random_is_fixed(uint64_t seed, uint64_t job);
bool random_is_spread(uint64_t seed, uint64_t job);

/* The same world with more trouble: controllers that take over from each other, audits, lost news,
 * limits. */
void random_world_trouble(struct random_world *world, uint64_t seed);

void random_world_done(struct random_world *world);

/* The parts, for tests that need no whole world. Shapes fit the catalogue that is given. */
void random_catalogue(struct catalogue *catalogue, struct rng *rng);
void random_shapes(struct shapes *shapes, const struct catalogue *catalogue, struct rng *rng);
void random_options(const struct policy *policy, int64_t *option, struct rng *rng);

/* Evenly from 'low' to 'high', both included. */
int64_t random_between(struct rng *rng, int64_t low, int64_t high);

#endif
