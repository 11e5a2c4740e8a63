/* SPDX-License-Identifier: Apache-2.0 */
/* Contenders for the lease before a slurmctld that crashes, forgets its last seconds, is slow, and may lose all of its state. */
#include "engine/slurm/slurm_lease.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "engine/slurm/test/fake_reservations.h"

enum { CONTENDERS = 3, WORLDS = 2000 };

static const msec_t fault_ms = 600 * (msec_t)MSEC_PER_SEC; /* then all is well */
static const msec_t end_ms = 780 * (msec_t)MSEC_PER_SEC;

/* The world's server. What is saved of its records lags by up to 5 s. */
struct server {
    struct fake_reservations now, saved;
    msec_t save_at, up_at;
};

/* A contender with a clock of its own. */
struct contender {
    struct slurm_lease lease;
    struct slurm_lease_step step;
    msec_t ahead; /* of the world's clock */
    msec_t sent, next, ends;
    bool is_calling, is_done;
    enum slurm_lease_answer answer;
    struct slurm_lease_list list;
    uint32_t lives;
};

struct world {
    struct rng rng;
    struct server server;
    struct contender contender[CONTENDERS];
    msec_t now;
    bool is_calm;
    uint32_t overlaps, holders, takeovers;
};

static uint32_t below(struct world *world, uint32_t limit)
{
    return (uint32_t)rng_below(&world->rng, limit);
}

static void begin(struct world *world, uint32_t number, bool is_new)
{
    struct contender *one = &world->contender[number];
    char token[32];

    one->lives += is_new;
    (void)snprintf(token, sizeof(token), "%u-%u", number, one->lives);
    slurm_lease_init(&one->lease, token, "host", "a b", 0);
    one->is_calling = false;
    one->next = world->now + below(world, 3000);
}

/* A call is carried out somewhere on its way, and lasts 20 s at the most. slurmctld away, it fails after up to 10 s. */
static void go_on(struct world *world, struct contender *one)
{
    const msec_t clock = world->now + one->ahead;

    if (!one->is_calling) {
        one->step = slurm_lease_next(&one->lease, clock);
        if (one->step.what == SLURM_LEASE_REST) {
            one->next = one->step.at - one->ahead;
            return;
        }
        one->is_calling = true;
        one->is_done = false;
        one->sent = clock;
        const uint32_t most = !world->is_calm && below(world, 20) == 0 ? 20000 : 50;

        one->ends = world->now + 1 + below(world, most);
        one->next = world->now + below(world, (uint32_t)(one->ends - world->now));
        return;
    }
    if (!one->is_done) {
        one->is_done = true;
        one->next = one->ends;
        if (world->now < world->server.up_at) {
            one->answer = SLURM_LEASE_FAILED;
            one->next = world->now + below(world, 10000);
            return;
        }
        one->answer = fake_reservations_do(&world->server.now, &one->lease, &one->step, world->now,
                                           &one->list);
        if (!world->is_calm && below(world, 50) == 0) /* the answer is lost */
            one->answer = SLURM_LEASE_FAILED;
        return;
    }
    one->is_calling = false;
    one->next = world->now;
    slurm_lease_told(&one->lease, &one->step, one->sent, clock, one->answer,
                     one->answer == SLURM_LEASE_DONE ? &one->list : NULL);
}

static void fault(struct world *world)
{
    struct contender *one = &world->contender[below(world, CONTENDERS)];

    switch (below(world, 6)) {
    case 0: /* crash and restart, with what was saved */
    case 1:
        world->server.now = world->server.saved;
        world->server.up_at = world->now + below(world, 40000);
        break;
    case 2: /* the state is wiped; an operator who does that takes a while */
        world->server.now.count = world->server.saved.count = 0;
        world->server.up_at = world->now + 5000 + below(world, 20000);
        break;
    case 3: /* stopped, as a call is under way or not */
        one->next += below(world, 90000);
        break;
    case 4: /* killed, and started on the same state */
        begin(world, (uint32_t)(one - world->contender), false);
        break;
    case 5: /* another takes its place */
        begin(world, (uint32_t)(one - world->contender), true);
        break;
    }
}

static void count_holders(struct world *world)
{
    uint32_t holders = 0;

    for (uint32_t i = 0; i < CONTENDERS; i++) {
        const struct contender *one = &world->contender[i];

        holders += one->lease.until > world->now + one->ahead;
    }
    world->overlaps += holders > 1;
    if (holders > 0 && world->holders == 0)
        world->takeovers++;
    world->holders = holders;
}

static void run(struct world *world, uint64_t seed)
{
    msec_t fault_at = 0;

    *world = (struct world){ .now = 1000000 };
    rng_init(&world->rng, seed, 0);
    const msec_t start = world->now;

    for (uint32_t i = 0; i < CONTENDERS; i++) {
        world->contender[i].ahead = below(world, 1000000);
        begin(world, i, true);
    }
    fault_at = start + below(world, 120000);
    while (world->now < start + end_ms) {
        struct contender *first = &world->contender[0];

        for (uint32_t i = 1; i < CONTENDERS; i++) {
            if (world->contender[i].next < first->next)
                first = &world->contender[i];
        }
        if (world->server.save_at <= first->next) {
            world->now = world->server.save_at > world->now ? world->server.save_at : world->now;
            if (world->now >= world->server.up_at)
                world->server.saved = world->server.now;
            world->server.save_at = world->now + below(world, 5000);
            continue;
        }
        if (fault_at <= first->next && fault_at < start + fault_ms) {
            world->now = fault_at > world->now ? fault_at : world->now;
            fault(world);
            fault_at = world->now + below(world, 60000);
            continue;
        }
        world->now = first->next > world->now ? first->next : world->now;
        world->is_calm = world->now >= start + fault_ms;
        go_on(world, first);
        count_holders(world);
    }
}

TEST(nobody_acts_beside_the_owner_whatever_fails)
{
    uint32_t takeovers = 0;

    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        struct world world;

        run(&world, seed);
        if (world.overlaps > 0 || world.holders != 1)
            print_message("seed %u: %u overlaps, %u holders at the end\n", seed, world.overlaps,
                          world.holders);
        assert_int_equal(world.overlaps, 0);
        assert_int_equal(world.holders, 1);
        takeovers += world.takeovers;
    }
    assert_true(takeovers > 2 * WORLDS);
}

CHECK_MAIN(RUN(nobody_acts_beside_the_owner_whatever_fails))
