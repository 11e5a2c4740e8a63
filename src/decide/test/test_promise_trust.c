/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bounds, and what they are for: worlds whose true rates nobody knows are watched for a while, a
 * pool is planned by the bounds, and years are simulated.
 */
#include "base/test/check.h"

#include <math.h>
#include <stdbool.h>

#include "base/rng.h"
#include "decide/promise.h"
#include "decide/promise_trust.h"

#define DAY_MS (24 * MSEC_PER_HOUR)

enum { WORLDS = 1000, OFFERS = 8, WATCHED_DAYS = 60, YEARS = 5, CAPACITY = 60 };

static const double confidence = 0.9;

TEST(a_poisson_bound_is_what_tables_say)
{
    /* Garwood's limits: 95 % one-sided. */
    assert_true(fabs(promise_poisson_most(0, 0.05) - 2.9957) < 1e-4);
    assert_true(fabs(promise_poisson_most(1, 0.05) - 4.7439) < 1e-4);
    assert_true(fabs(promise_poisson_most(10, 0.05) - 16.9622) < 1e-4);
    assert_true(fabs(promise_poisson_most(1000, 0.05) - 1053.6) < 0.5);
}

TEST(an_offer_that_was_never_lost_is_not_trusted_blindly)
{
    const struct promise_record week = { .watched = 7 * DAY_MS };
    const struct promise_record year = { .watched = 365 * DAY_MS };
    double down_week = 0;
    double down_year = 0;

    promise_trust(&week, 1, 0.9, 600 * MSEC_PER_SEC, &down_week);
    promise_trust(&year, 1, 0.9, 600 * MSEC_PER_SEC, &down_year);

    /* Three outages of ten minutes at the most, as far as anybody can tell. */
    assert_true(fabs(down_week - 2.9957 * 600 / (7 * 86400.0 + 2.9957 * 600)) < 1e-6);
    assert_true(down_year < down_week / 50);
}

TEST(added_outage_is_added_to_both)
{
    const struct promise_record week = { .watched = 1000, .gone = 10 };

    assert_true(fabs(promise_trust_added(&week, 500) - 510.0 / 1500) < 1e-15);
}

/* ---- worlds ---- */

struct world {
    struct promise_offer offers[OFFERS];
    double up_ms[OFFERS]; /* mean times */
    double down_ms;
};

static void world_init(struct world *world, struct rng *rng)
{
    world->down_ms = (120 + 3480 * rng_unit(rng)) * MSEC_PER_SEC;
    for (uint32_t i = 0; i < OFFERS; i++) {
        world->up_ms[i] = (double)DAY_MS * pow(10, -0.3 + 1.8 * rng_unit(rng));
        world->offers[i] = (struct promise_offer){ .capacity = 1 + (int64_t)rng_below(rng, 5),
                                                   .price = 100 + (money_t)rng_below(rng, 200),
                                                   .type = i };
    }
}

/* One offer's way through time: there, gone, there, gone. */
struct life {
    bool is_gone;
    msec_t until;
};

static void life_next(struct life *life, const struct world *world, uint32_t offer, struct rng *rng)
{
    life->is_gone = !life->is_gone;
    life->until +=
        1 + (msec_t)rng_exponential(rng, life->is_gone ? world->down_ms : world->up_ms[offer]);
}

/* Begin in the long run, not with everything there. */
static struct life life_begin(const struct world *world, uint32_t offer, struct rng *rng)
{
    const double up = world->up_ms[offer];
    struct life life = { .is_gone = rng_unit(rng) < up / (up + world->down_ms) };

    life_next(&life, world, offer, rng);
    return life;
}

static struct promise_record watch(const struct world *world, uint32_t offer, struct rng *rng)
{
    struct promise_record record = { .watched = WATCHED_DAYS * DAY_MS };
    struct life life = life_begin(world, offer, rng);
    msec_t at = 0;

    while (at < record.watched) {
        const msec_t end = life.until < record.watched ? life.until : record.watched;

        record.gone += life.is_gone ? end - at : 0;
        record.losses += life.is_gone;
        at = end;
        life_next(&life, world, offer, rng);
    }
    return record;
}

/* The share of YEARS in which the pool is short. */
static double live(const struct world *world, const uint32_t *machines, struct rng *rng)
{
    const msec_t end = (msec_t)YEARS * 365 * DAY_MS;
    struct life lives[OFFERS];
    msec_t at = 0;
    msec_t below = 0;

    for (uint32_t i = 0; i < OFFERS; i++)
        lives[i] = life_begin(world, i, rng);
    while (at < end) {
        uint32_t first = 0;
        int64_t there = 0;

        for (uint32_t i = 0; i < OFFERS; i++) {
            first = lives[i].until < lives[first].until ? i : first;
            there += lives[i].is_gone ? 0 : world->offers[i].capacity * machines[i];
        }

        const msec_t until = lives[first].until < end ? lives[first].until : end;

        below += there < CAPACITY ? until - at : 0;
        at = until;
        life_next(&lives[first], world, first, rng);
    }
    return (double)below / (double)end;
}

/* Whether a pool was planned, and whether it was short for longer than promised. */
struct outcome {
    bool is_planned;
    bool is_broken;
};

static struct outcome try_world(uint64_t seed, bool is_raw, struct arena *arena)
{
    struct promise_record records[OFFERS];
    double down[OFFERS];
    struct world world;
    struct rng rng;

    rng_init(&rng, seed, 0);
    world_init(&world, &rng);
    for (uint32_t i = 0; i < OFFERS; i++)
        records[i] = watch(&world, i, &rng);
    promise_trust(records, OFFERS, confidence, 600 * MSEC_PER_SEC, down);
    for (uint32_t i = 0; i < OFFERS; i++)
        world.offers[i].down =
            is_raw ? (double)records[i].gone / (double)records[i].watched : down[i];

    const struct promise promise = {
        .offers = world.offers, .count = OFFERS, .capacity = CAPACITY, .short_most = 1e-3
    };
    struct promise_pool pool = promise_k_of_n(&promise, arena);

    promise_improve(&promise, &pool, arena);
    if (!pool.verdict.holds)
        return (struct outcome){ false, false };
    return (struct outcome){ true, live(&world, pool.machines, &rng) > promise.short_most };
}

static void try_worlds(uint64_t worlds, bool is_raw, uint32_t *ret_planned, uint32_t *ret_broken)
{
    struct arena arena;

    arena_init(&arena);
    *ret_planned = 0;
    *ret_broken = 0;
    for (uint64_t seed = 0; seed < worlds; seed++) {
        const struct outcome outcome = try_world(seed, is_raw, &arena);

        *ret_planned += outcome.is_planned;
        *ret_broken += outcome.is_broken;
        arena_reset(&arena);
    }
    arena_done(&arena);
}

TEST(a_promise_is_kept_for_years_at_the_stated_confidence)
{
    uint32_t planned = 0;
    uint32_t broken = 0;

    try_worlds(WORLDS, false, &planned, &broken);

    print_message("# %u of %u pools broke their promise\n", broken, planned);
    assert_in_range(planned, WORLDS / 2, WORLDS);
    assert_true(broken <= (1 - confidence) * planned);
}

TEST(without_the_bounds_it_is_not)
{
    uint32_t planned = 0;
    uint32_t broken = 0;

    try_worlds(WORLDS / 5, true, &planned, &broken);

    print_message("# %u of %u pools broke their promise\n", broken, planned);
    assert_true(broken > 2 * (1 - confidence) * planned);
}

CHECK_MAIN(RUN(a_poisson_bound_is_what_tables_say),
           RUN(an_offer_that_was_never_lost_is_not_trusted_blindly),
           RUN(added_outage_is_added_to_both),
           RUN(a_promise_is_kept_for_years_at_the_stated_confidence),
           RUN(without_the_bounds_it_is_not))
