/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include <assert.h>
#include <math.h>

#include "base/map.h"

void rng_init(struct rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t key = map_mix(seed) ^ map_mix(~stream);

    for (int i = 0; i < 4; i++) {
        key = map_mix(key);
        rng->state[i] = key;
    }
}

static uint64_t rotate(uint64_t value, int by)
{
    return (value << by) | (value >> (64 - by));
}

uint64_t rng_next(struct rng *rng)
{
    uint64_t *s = rng->state;
    const uint64_t result = rotate(s[1] * 5, 7) * 9;
    const uint64_t t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate(s[3], 45);
    return result;
}

uint64_t rng_below(struct rng *rng, uint64_t bound)
{
    assert(bound > 0);

    /* Refuse the first numbers of the range, so that each remainder is equally likely. */
    const uint64_t refuse = (0 - bound) % bound;
    uint64_t drawn;

    do
        drawn = rng_next(rng);
    while (drawn < refuse);
    return drawn % bound;
}

double rng_unit(struct rng *rng)
{
    return (double)(rng_next(rng) >> 11) * 0x1.0p-53;
}

double rng_exponential(struct rng *rng, double mean)
{
    return -mean * log(1.0 - rng_unit(rng));
}

bool rng_chance_ppm(struct rng *rng, uint32_t ppm)
{
    return ppm > 0 && rng_below(rng, 1000000) < ppm;
}
