/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_promise - how long it takes to know the capacity of a pool of 300 offers at unit resolution up to 20,000 units, and
 * to plan a pool of 5,000 units at five nines from 300 offers by k of n.
 */
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "base/rng.h"
#include "decide/avail.h"
#include "decide/promise.h"

enum { OFFERS = 300, LIMIT = 20000, CAPACITY = 5000 };

static double ms_since(clock_t start)
{
    return 1000.0 * (double)(clock() - start) / CLOCKS_PER_SEC;
}

int main(void)
{
    struct promise_offer offers[OFFERS];
    const struct promise promise = {
        .offers = offers, .count = OFFERS, .capacity = CAPACITY, .short_most = 1e-5
    };
    struct arena arena;
    struct avail avail;
    struct rng rng;

    arena_init(&arena);
    rng_init(&rng, 1, 0);
    for (uint32_t i = 0; i < OFFERS; i++) {
        const int64_t capacity = 1 + (int64_t)rng_below(&rng, 132);

        offers[i] =
            (struct promise_offer){ .capacity = capacity,
                                    .price = capacity * (2000 + (money_t)rng_below(&rng, 8000)),
                                    .down = pow(10, -1 - 4 * rng_unit(&rng)),
                                    .type = i };
    }

    clock_t start = clock();

    avail_init(&avail, LIMIT, &arena);
    for (uint32_t i = 0; i < OFFERS; i++)
        avail_add(&avail, offers[i].capacity, offers[i].down);
    printf("capacity of %d offers up to %d units: %.1f ms, short of %d for %.3g of the time\n",
           OFFERS, LIMIT, ms_since(start), LIMIT, avail_below(&avail, LIMIT));
    start = clock();

    struct promise_pool pool = promise_k_of_n(&promise, &arena);

    promise_improve(&promise, &pool, &arena);
    printf("k of n among %d offers: %.1f ms, short for %.3g of the time\n", OFFERS, ms_since(start),
           pool.verdict.short_independent);
    arena_done(&arena);
    return 0;
}
