/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exact search is held against one that tries everything.
 */
#include "decide/regroup.h"

#include <math.h>

#include "base/rng.h"
#include "base/test/check.h"

enum { TASKS = 5, OFFERS = 3, PLACES = REGROUP_FRESH + TASKS };

/* A random problem, with all that it points to. */
struct puzzle {
    struct regroup regroup;
    struct regroup_offer offers[OFFERS];
    struct regroup_stayer stayers[REGROUP_MACHINES][2];
    struct res demand[TASKS];
    const struct res *offer_demand[TASKS][OFFERS];
    double offer_risk[TASKS][OFFERS];
};

static double between(struct rng *rng, double low, double high)
{
    return low + (high - low) * rng_unit(rng);
}

static void make_machine(struct puzzle *puzzle, uint32_t number, struct rng *rng)
{
    struct regroup_machine *machine = &puzzle->regroup.machines[number];

    machine->price = between(rng, 0, 20);
    machine->free.amount[RES_CPU] = 2 + (int64_t)rng_below(rng, 8);
    machine->stayers = puzzle->stayers[number];
    machine->stayer_count = (uint32_t)rng_below(rng, 3);
    for (uint32_t i = 0; i < machine->stayer_count; i++) {
        struct regroup_stayer *stayer = &puzzle->stayers[number][i];

        stayer->worth = between(rng, 1, 10);
        stayer->pace = 1 + (double)rng_below(rng, 2);
        stayer->rate = between(rng, 0.5, 1);
        for (uint32_t k = 0; k < TASKS; k++)
            stayer->beside[k] = between(rng, 0.5, 1);
    }
}

static void make_task(struct puzzle *puzzle, uint32_t number, struct rng *rng)
{
    struct regroup_task *task = &puzzle->regroup.tasks[number];

    puzzle->demand[number].amount[RES_CPU] = 1 + (int64_t)rng_below(rng, 4);
    task->worth = between(rng, 1, 12);
    task->pace = 1;
    task->stake = between(rng, 1, 12);
    task->start = between(rng, 0, 2);
    task->idle = between(rng, 0, 1);
    task->wait = rng_below(rng, 4) == 0 ? REGROUP_NEVER : between(rng, 0, 2);
    task->home = REGROUP_WAITS;
    task->at = REGROUP_WAITS;
    task->apart = rng_below(rng, 3) == 0 ? 7 : UINT32_MAX;
    for (uint32_t i = 0; i < puzzle->regroup.machine_count; i++) {
        task->demand[i] = rng_below(rng, 5) > 0 ? &puzzle->demand[number] : NULL;
        task->beside_stayers[i] = between(rng, 0.5, 1);
        task->risk[i] = rng_below(rng, 3) == 0 ? between(rng, 0, 5) : 0;
    }
    for (uint32_t i = 0; i < TASKS; i++)
        task->beside[i] = between(rng, 0.5, 1);
    for (uint32_t i = 0; i < OFFERS; i++) {
        puzzle->offer_demand[number][i] = rng_below(rng, 6) > 0 ? &puzzle->demand[number] : NULL;
        puzzle->offer_risk[number][i] = rng_below(rng, 2) == 0 ? between(rng, 0, 1) : 0;
    }
    task->offer_demand = puzzle->offer_demand[number];
    task->offer_risk = rng_below(rng, 3) > 0 ? puzzle->offer_risk[number] : NULL;
}

static void make(struct puzzle *puzzle, uint64_t seed)
{
    struct rng rng;

    rng_init(&rng, seed, 0);
    *puzzle = (struct puzzle){ .regroup = { .task_count = 1 + (uint32_t)rng_below(&rng, TASKS),
                                            .machine_count = (uint32_t)rng_below(&rng, 4),
                                            .offer_count = OFFERS,
                                            .least_gain = 1e-9 } };
    puzzle->regroup.offers = puzzle->offers;
    for (uint32_t i = 0; i < OFFERS; i++) {
        puzzle->offers[i].price = 3.0 * (i + 1);
        puzzle->offers[i].boot = between(&rng, 0, 1);
        puzzle->offers[i].capacity.amount[RES_CPU] = 3 * ((int64_t)i + 1);
    }
    for (uint32_t i = 0; i < puzzle->regroup.machine_count; i++)
        make_machine(puzzle, i, &rng);
    for (uint32_t i = 0; i < puzzle->regroup.task_count; i++)
        make_task(puzzle, i, &rng);
}

/* What those at 'place' get done together, and what it costs that they are there; HUGE_VAL off: they cannot be. */
static bool shares(const struct regroup *problem, const uint8_t *to, uint8_t place, double *ret)
{
    for (uint32_t i = 0; i < problem->task_count; i++) {
        const struct regroup_task *task = &problem->tasks[i];
        double rate = place < REGROUP_WAITS ? task->beside_stayers[place] : 1;

        if (to[i] != place)
            continue;
        for (uint32_t k = 0; k < problem->task_count; k++) {
            if (k == i || to[k] != place)
                continue;
            if (task->apart != UINT32_MAX && task->apart == problem->tasks[k].apart)
                return false;
            rate *= task->beside[k];
        }
        *ret +=
            task->worth * (1 - task->pace * (1 - rate)) - (task->home == place ? 0 : task->start);
    }
    return true;
}

static double value_of_machine(const struct regroup *problem, const uint8_t *to, uint8_t place)
{
    const struct regroup_machine *machine = &problem->machines[place];
    struct res used = { { 0 } };
    uint32_t count = machine->stayer_count;
    double sum = 0;

    for (uint32_t i = 0; i < problem->task_count; i++) {
        if (to[i] != place)
            continue;
        if (problem->tasks[i].demand[place] == NULL)
            return -HUGE_VAL;
        sum -= problem->tasks[i].risk[place];
        res_add(&used, problem->tasks[i].demand[place]);
        count++;
    }
    if (!res_fits(&used, &machine->free) || !shares(problem, to, place, &sum))
        return -HUGE_VAL;
    for (uint32_t i = 0; i < machine->stayer_count; i++) {
        double rate = machine->stayers[i].rate;

        for (uint32_t k = 0; k < problem->task_count; k++)
            rate *= to[k] == place ? machine->stayers[i].beside[k] : 1;
        sum += machine->stayers[i].worth * (1 - machine->stayers[i].pace * (1 - rate));
    }
    return count > 0 ? sum - machine->price : 0;
}

/* The offer that holds them at the least price and risk, the first of several. */
static double value_of_fresh(const struct regroup *problem, const uint8_t *to, uint8_t place)
{
    double sum = 0;
    double least = HUGE_VAL;
    double waits = 0;

    if (!shares(problem, to, place, &sum))
        return -HUGE_VAL;
    for (uint32_t offer = 0; offer < problem->offer_count; offer++) {
        struct res used = { { 0 } };
        double idle = 0;
        double cost = problem->offers[offer].price;
        uint32_t count = 0;
        bool fits = true;

        for (uint32_t i = 0; i < problem->task_count; i++) {
            const struct regroup_task *task = &problem->tasks[i];
            const struct res *demand = task->offer_demand[offer];

            if (to[i] != place)
                continue;
            count++;
            idle += task->idle;
            if (task->offer_risk != NULL)
                cost += task->stake * task->offer_risk[offer];
            fits = fits && demand != NULL;
            if (demand != NULL)
                res_add(&used, demand);
        }
        if (count == 0)
            return 0;
        if (fits && res_fits(&used, &problem->offers[offer].capacity) && cost < least) {
            least = cost;
            waits = idle * problem->offers[offer].boot;
        }
    }
    return sum - least - waits;
}

static double value_of(const struct regroup *problem, const uint8_t *to)
{
    double sum = 0;

    for (uint32_t i = 0; i < problem->task_count; i++)
        sum -= to[i] == REGROUP_WAITS ? problem->tasks[i].wait : 0;
    for (uint8_t i = 0; i < problem->machine_count; i++)
        sum += value_of_machine(problem, to, i);
    for (uint8_t i = REGROUP_FRESH; i < PLACES; i++)
        sum += value_of_fresh(problem, to, i);
    return sum;
}

/* The next way to put them; false: that was the last. */
static bool next(const struct regroup *problem, uint8_t *to)
{
    for (uint32_t i = 0; i < problem->task_count; i++) {
        if (++to[i] == problem->machine_count)
            to[i] = REGROUP_WAITS;
        if (to[i] < REGROUP_FRESH + problem->task_count)
            return true;
        to[i] = problem->machine_count > 0 ? 0 : REGROUP_WAITS;
    }
    return false;
}

static bool is_near(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(a));
}

TEST(no_way_is_better_than_the_one_that_is_found)
{
    uint32_t better = 0;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct puzzle puzzle;
        struct regroup_answer answer;
        uint8_t to[TASKS];
        double best = -HUGE_VAL;

        make(&puzzle, seed);
        regroup(&puzzle.regroup, &answer);
        for (uint32_t i = 0; i < TASKS; i++)
            to[i] = puzzle.regroup.machine_count > 0 ? 0 : REGROUP_WAITS;
        do {
            const double value = value_of(&puzzle.regroup, to);

            best = value > best ? value : best;
        } while (next(&puzzle.regroup, to));
        if (!is_near(answer.best, best))
            fail_msg("seed %u: %.9f was found, %.9f is possible", (unsigned)seed, answer.best,
                     best);
        if (answer.is_better) {
            better++;
            if (!is_near(value_of(&puzzle.regroup, answer.to), best))
                fail_msg("seed %u: the answer is not what it says", (unsigned)seed);
        }
    }
    assert_true(better > 100); /* else nothing was tested */
}

/* The answer, taken as what stands, is worth what it was said to be, and nothing is better. */
TEST(what_was_found_stays)
{
    uint32_t kept = 0;

    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct puzzle puzzle;
        struct regroup_answer first;
        struct regroup_answer second;

        make(&puzzle, seed);
        regroup(&puzzle.regroup, &first);
        if (!first.is_better)
            continue;
        for (uint32_t i = 0; i < puzzle.regroup.task_count; i++)
            puzzle.regroup.tasks[i].at = first.to[i];
        regroup(&puzzle.regroup, &second);
        assert_true(is_near(second.standing, first.best));
        assert_false(second.is_better);
        kept++;
    }
    assert_true(kept > 100);
}

/* Two tasks that disturb each other share a machine of 3 dollars or have one each: it depends on how much. */
TEST(interference_decides_who_shares)
{
    for (int disturbed = 0; disturbed < 2; disturbed++) {
        struct puzzle puzzle;
        struct regroup_answer answer;

        make(&puzzle, 1);
        puzzle.regroup.task_count = 2;
        puzzle.regroup.machine_count = 0;
        for (uint32_t i = 0; i < 2; i++) {
            struct regroup_task *task = &puzzle.regroup.tasks[i];

            puzzle.demand[i].amount[RES_CPU] = 1;
            puzzle.offer_demand[i][0] = &puzzle.demand[i];
            *task = (struct regroup_task){ .worth = 10,
                                           .pace = 1,
                                           .home = REGROUP_WAITS,
                                           .at = REGROUP_WAITS,
                                           .apart = UINT32_MAX,
                                           .offer_demand = puzzle.offer_demand[i] };
            task->beside[1 - i] = disturbed ? 0.8 : 0.9;
        }
        regroup(&puzzle.regroup, &answer);
        assert_true(answer.is_better);
        assert_int_equal(answer.fresh_count, disturbed ? 2 : 1);
        assert_int_equal(answer.offer[0], 0);
    }
}

CHECK_MAIN(RUN(no_way_is_better_than_the_one_that_is_found), RUN(what_was_found_stays),
           RUN(interference_decides_who_shares))
