/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rng.h - random numbers that are the same everywhere.
 *
 * xoshiro256** seeded by splitmix64 (Blackman and Vigna). The state is passed in by whoever may be
 * random; nothing else in Stint is. Same seed, same numbers, on every machine and compiler.
 */
#ifndef STINT_BASE_RNG_H
#define STINT_BASE_RNG_H

#include <stdbool.h>
#include <stdint.h>

struct rng {
    uint64_t state[4];
};

/* 'stream' gives independent generators of one seed: one per purpose, so that asking for one
 * more number here does not change what is drawn there. */
void rng_init(struct rng *rng, uint64_t seed, uint64_t stream);

uint64_t rng_next(struct rng *rng);

/* Evenly from 0 to bound - 1; bound above 0. */
uint64_t rng_below(struct rng *rng, uint64_t bound);

/* Evenly from [0, 1), 53 bits. */
double rng_unit(struct rng *rng);

/* Exponential with the given mean. */
double rng_exponential(struct rng *rng, double mean);

/* True once in a million times 'ppm'. */
bool rng_chance_ppm(struct rng *rng, uint32_t ppm);

#endif
