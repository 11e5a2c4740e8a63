/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/regroup.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define OFFER_OUT UINT32_MAX

/* What is known of every subset of the tasks. */
struct sets {
    const struct regroup *problem;
    uint32_t count;                              /* 2^tasks */
    double rate[REGROUP_SETS][REGROUP_TASKS];    /* of each task of it */
    bool is_apart[REGROUP_SETS];                 /* no two of it must be apart */
    uint32_t cheapest[REGROUP_SETS];             /* offer that holds it */
    double fresh[REGROUP_SETS];                  /* what it comes to on a new machine */
    uint32_t offer[REGROUP_SETS];                /* of that */
    double kept[REGROUP_MACHINES][REGROUP_SETS]; /* and on each machine */
    /* The best for a subset with the first so many machines, and what of it goes to the last of these; without any, to
     * a new one together with the first task (0: that waits). */
    double best[REGROUP_MACHINES + 1][REGROUP_SETS];
    uint16_t choice[REGROUP_MACHINES + 1][REGROUP_SETS];
};

static uint32_t lowest(uint32_t set)
{
    return (uint32_t)__builtin_ctz(set);
}

static double done(double worth, double pace, double rate)
{
    return worth * (1 - pace * (1 - rate));
}

static void find_rates(struct sets *sets)
{
    const struct regroup *problem = sets->problem;

    sets->is_apart[0] = true;
    for (uint32_t set = 1; set < sets->count; set++) {
        const uint32_t first = lowest(set);
        const uint32_t rest = set & (set - 1);

        sets->is_apart[set] = sets->is_apart[rest];
        sets->rate[set][first] = 1;
        for (uint32_t left = rest; left != 0; left &= left - 1) {
            const uint32_t i = lowest(left);

            sets->rate[set][i] = sets->rate[rest][i] * problem->tasks[i].beside[first];
            sets->rate[set][first] *= problem->tasks[first].beside[i];
            if (aparts_meet(problem->aparts, problem->tasks[i].apart, problem->tasks[first].apart))
                sets->is_apart[set] = false;
        }
    }
}

/* Whether all of the set fit on a machine of the offer. */
static bool offer_holds(const struct regroup *problem, uint32_t set, uint32_t offer)
{
    struct res sum = { { 0 } };

    for (uint32_t left = set; left != 0; left &= left - 1) {
        const struct res *demand = problem->tasks[lowest(left)].offer_demand[offer];

        if (demand == NULL)
            return false;
        res_add(&sum, demand);
    }
    return res_fits(&sum, &problem->offers[offer].capacity);
}

static uint32_t next_holding(const struct regroup *problem, uint32_t set, uint32_t offer)
{
    while (offer < problem->offer_count && !offer_holds(problem, set, offer))
        offer++;
    return offer < problem->offer_count ? offer : OFFER_OUT;
}

/* The cheapest offer that holds the set: none that comes before that of a part of it. */
static uint32_t find_offer(const struct sets *sets, uint32_t set)
{
    const struct regroup *problem = sets->problem;
    uint32_t offer = 0;

    for (uint32_t left = set; left != 0 && (set & (set - 1)) != 0; left &= left - 1) {
        const uint32_t part = sets->cheapest[set & ~(1U << lowest(left))];

        if (part == OFFER_OUT)
            return OFFER_OUT;
        offer = part > offer ? part : offer;
    }
    return next_holding(problem, set, offer);
}

/* What losing machines of the offer costs the set. */
static double risk_of(const struct regroup *problem, uint32_t set, uint32_t offer)
{
    double sum = 0;

    for (uint32_t left = set; left != 0; left &= left - 1) {
        const struct regroup_task *task = &problem->tasks[lowest(left)];

        if (task->offer_risk != NULL)
            sum += task->stake * task->offer_risk[offer];
    }
    return sum;
}

/* The set on a new machine: on the cheapest, unless what is saved by risk on a dearer one makes up for its price. */
static void value_offers(struct sets *sets, uint32_t set, double worth)
{
    const struct regroup *problem = sets->problem;
    uint32_t offer = sets->cheapest[set];
    double least = HUGE_VAL; /* price and risk of the best so far */

    while (offer != OFFER_OUT && problem->offers[offer].price < least) {
        const double cost = problem->offers[offer].price + risk_of(problem, set, offer);

        if (cost < least) {
            least = cost;
            sets->offer[set] = offer;
        }
        offer = next_holding(problem, set, offer + 1);
    }
    for (uint32_t left = set; left != 0; left &= left - 1)
        worth -= problem->tasks[lowest(left)].idle * problem->offers[sets->offer[set]].boot;
    sets->fresh[set] = worth - least;
}

static void value_fresh(struct sets *sets)
{
    const struct regroup *problem = sets->problem;

    for (uint32_t set = 1; set < sets->count; set++) {
        double sum = 0;

        sets->fresh[set] = -HUGE_VAL;
        sets->cheapest[set] = sets->is_apart[set] ? find_offer(sets, set) : OFFER_OUT;
        sets->offer[set] = OFFER_OUT;
        if (sets->cheapest[set] == OFFER_OUT)
            continue;
        for (uint32_t left = set; left != 0; left &= left - 1) {
            const uint32_t i = lowest(left);
            const struct regroup_task *task = &problem->tasks[i];

            sum += done(task->worth, task->pace, sets->rate[set][i]) - task->start;
        }
        value_offers(sets, set, sum);
    }
}

/* Whether each set has room on the machine; 'kept' becomes 0 where it has, else -HUGE_VAL. */
static void find_room(struct sets *sets, uint32_t number)
{
    const struct regroup *problem = sets->problem;
    struct res used[REGROUP_SETS] = { { { 0 } } };
    double *kept = sets->kept[number];

    kept[0] = 0;
    for (uint32_t set = 1; set < sets->count; set++) {
        const uint32_t rest = set & (set - 1);
        const struct res *demand = problem->tasks[lowest(set)].demand[number];

        kept[set] = -HUGE_VAL;
        if (demand == NULL || kept[rest] < 0 || !sets->is_apart[set])
            continue;
        used[set] = used[rest];
        res_add(&used[set], demand);
        if (res_fits(&used[set], &problem->machines[number].free))
            kept[set] = 0;
    }
}

/* What those who stay on the machine get done beside each set. */
static void add_stayer(struct sets *sets, uint32_t number, const struct regroup_stayer *stayer)
{
    double rate[REGROUP_SETS];

    rate[0] = stayer->rate;
    sets->kept[number][0] += done(stayer->worth, stayer->pace, rate[0]);
    for (uint32_t set = 1; set < sets->count; set++) {
        rate[set] = rate[set & (set - 1)] * stayer->beside[lowest(set)];
        sets->kept[number][set] += done(stayer->worth, stayer->pace, rate[set]);
    }
}

static void value_kept(struct sets *sets, uint32_t number)
{
    const struct regroup *problem = sets->problem;
    const struct regroup_machine *machine = &problem->machines[number];

    find_room(sets, number);
    for (uint32_t i = 0; i < machine->stayer_count; i++)
        add_stayer(sets, number, &machine->stayers[i]);
    if (machine->stayer_count > 0)
        sets->kept[number][0] -= machine->price;
    for (uint32_t set = 1; set < sets->count; set++) {
        double sum = sets->kept[number][set] - machine->price;

        for (uint32_t left = set; left != 0 && sum > -HUGE_VAL; left &= left - 1) {
            const uint32_t i = lowest(left);
            const struct regroup_task *task = &problem->tasks[i];

            sum +=
                done(task->worth, task->pace, sets->rate[set][i] * task->beside_stayers[number]) -
                (task->home == number ? 0 : task->start) - task->risk[number];
        }
        sets->kept[number][set] = sum;
    }
}

/* New machines and waiting. */
static void solve_fresh(struct sets *sets)
{
    for (uint32_t set = 1; set < sets->count; set++) {
        const uint32_t first = 1U << lowest(set);
        const uint32_t rest = set ^ first;
        double best = sets->best[0][rest] - sets->problem->tasks[lowest(set)].wait;

        sets->choice[0][set] = 0;
        for (uint32_t with = rest;; with = (with - 1) & rest) {
            const double sum = sets->fresh[with | first] + sets->best[0][rest ^ with];

            if (sum > best) {
                best = sum;
                sets->choice[0][set] = (uint16_t)(with | first);
            }
            if (with == 0)
                break;
        }
        sets->best[0][set] = best;
    }
}

static void solve_kept(struct sets *sets, uint32_t number)
{
    const double *kept = sets->kept[number];
    const double *before = sets->best[number];

    for (uint32_t set = 0; set < sets->count; set++) {
        double best = kept[0] + before[set];

        sets->choice[number + 1][set] = 0;
        for (uint32_t part = set; part != 0; part = (part - 1) & set) {
            const double sum = kept[part] + before[set ^ part];

            if (sum > best) {
                best = sum;
                sets->choice[number + 1][set] = (uint16_t)part;
            }
        }
        sets->best[number + 1][set] = best;
    }
}

static double value_standing(const struct sets *sets)
{
    const struct regroup *problem = sets->problem;
    uint32_t at[REGROUP_FRESH + REGROUP_TASKS] = { 0 };
    double sum = 0;

    for (uint32_t i = 0; i < problem->task_count; i++) {
        at[problem->tasks[i].at] |= 1U << i;
        if (problem->tasks[i].at == REGROUP_WAITS)
            sum -= problem->tasks[i].wait;
    }
    for (uint32_t i = 0; i < problem->machine_count; i++)
        sum += sets->kept[i][at[i]];
    for (uint32_t i = REGROUP_FRESH; i < REGROUP_FRESH + problem->task_count; i++)
        sum += at[i] != 0 ? sets->fresh[at[i]] : 0;
    return sum;
}

static void send(struct regroup_answer *ret, uint32_t set, uint8_t to)
{
    for (uint32_t left = set; left != 0; left &= left - 1)
        ret->to[lowest(left)] = to;
}

static void read_choices(const struct sets *sets, struct regroup_answer *ret)
{
    uint32_t left = sets->count - 1;

    for (uint32_t number = sets->problem->machine_count; number-- > 0;) {
        const uint32_t part = sets->choice[number + 1][left];

        send(ret, part, (uint8_t)number);
        left ^= part;
    }
    while (left != 0) {
        const uint32_t part = sets->choice[0][left];

        if (part == 0) {
            send(ret, 1U << lowest(left), REGROUP_WAITS);
            left &= left - 1;
            continue;
        }
        ret->offer[ret->fresh_count] = sets->offer[part];
        send(ret, part, (uint8_t)(REGROUP_FRESH + ret->fresh_count++));
        left ^= part;
    }
}

void regroup(const struct regroup *problem, struct regroup_answer *ret)
{
    struct sets sets;

    assert(problem->task_count <= REGROUP_TASKS);
    assert(problem->machine_count <= REGROUP_MACHINES);
    sets.problem = problem;
    sets.count = 1U << problem->task_count;
    sets.best[0][0] = 0;
    memset(sets.choice, 0, sizeof(sets.choice)); /* for those who cannot see that it is written */
    find_rates(&sets);
    value_fresh(&sets);
    solve_fresh(&sets);
    for (uint32_t i = 0; i < problem->machine_count; i++) {
        value_kept(&sets, i);
        solve_kept(&sets, i);
    }
    *ret = (struct regroup_answer){
        .standing = value_standing(&sets),
        .best = sets.best[problem->machine_count][sets.count - 1],
    };
    ret->is_better = ret->best - ret->standing > problem->least_gain;
    if (ret->is_better)
        read_choices(&sets, ret);
}
