/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_optimum - how long it takes to find the cheapest pool of 5,000 units at five nines among 300 offers by an integer
 * program, within 0.5 % as `stint pool` does. Offers that are drawn are hard to tell apart; those of a real market take less.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/rng.h"
#include "decide/promise_optimum.h"
#include "solve/cbc_solver.h"

enum { OFFERS = 300, CAPACITY = 5000, WORLDS = 5 };

/* Whether the solver found one. */
static bool run(uint64_t seed)
{
    struct promise_offer offers[OFFERS];
    const struct promise promise = {
        .offers = offers, .count = OFFERS, .capacity = CAPACITY, .short_most = 1e-5
    };
    struct promise_optimum optimum;
    struct arena arena;
    struct rng rng;

    rng_init(&rng, seed, 0);
    for (uint32_t i = 0; i < OFFERS; i++) {
        const int64_t capacity = 1 + (int64_t)rng_below(&rng, 132);

        offers[i] =
            (struct promise_offer){ .capacity = capacity,
                                    .price = capacity * (2000 + (money_t)rng_below(&rng, 8000)),
                                    .down = pow(10, -1 - 4 * rng_unit(&rng)),
                                    .type = i };
    }
    arena_init(&arena);

    const clock_t start = clock();
    const int rc = promise_optimum(&promise, cbc_solver(), 0.005, &arena, &optimum);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;

    if (rc == 0)
        (void)printf("optimum among %d offers: %.2f s, %" PRIu32 " programs, %" PRId64
                     " micro-dollars an hour, %s within %.1f %%\n",
                     OFFERS, seconds, optimum.programs, optimum.pool.verdict.price,
                     optimum.is_proven ? "proven" : "stopped",
                     100 * ((double)optimum.pool.verdict.price / (double)optimum.bound - 1));
    arena_done(&arena);
    return rc == 0;
}

int main(void)
{
    bool is_good = true;

    if (cbc_solver() == NULL)
        return 77; /* built without it */
    for (uint64_t seed = 1; seed <= WORLDS; seed++)
        is_good = run(seed) && is_good;
    return is_good ? 0 : 1;
}
