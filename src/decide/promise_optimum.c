/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/promise_optimum.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    PROGRAMS_MOST = 20,
    NODES_MOST = 12000, /* of all programs; some 10,000 take a second */
    SCENARIOS_A_ROUND = 12,
    SCENARIOS_MOST = 1200,
};

static const double slack = 1e-9; /* as promise_judge allows it */

/* Which of the chosen offers are gone, one bit each, and for which share of the time. */
struct scenario {
    uint32_t gone;
    double share;
    bool is_in; /* the program has it */
};

struct program {
    const struct promise *promise;
    struct arena *arena;
    uint32_t *chosen; /* offers, as the program's first columns */
    uint32_t count;
    struct scenario *scenarios; /* likeliest first */
    uint32_t scenario_count;
    uint32_t *in; /* scenarios of the program */
    uint32_t in_count;
    double gap;
    uint32_t nodes_left;
    double below; /* a pool must cost less to be of use; 0: any will do */
};

static int likeliest_first(const void *left, const void *right)
{
    const struct scenario *a = left;
    const struct scenario *b = right;

    if (a->share < b->share || a->share > b->share)
        return a->share > b->share ? -1 : 1;
    return a->gone < b->gone ? -1 : 1;
}

static double share_of(const struct program *program, uint32_t gone)
{
    double share = 1;

    for (uint32_t i = 0; i < program->count; i++) {
        const double down = program->promise->offers[program->chosen[i]].down;

        share *= gone >> i & 1 ? down : 1 - down;
    }
    return share;
}

/* ---- which offers ---- */

struct ranked {
    double key;
    uint32_t offer;
};

static int by_key(const void *left, const void *right)
{
    const struct ranked *a = left;
    const struct ranked *b = right;

    if (a->key < b->key || a->key > b->key)
        return a->key < b->key ? -1 : 1;
    return a->offer < b->offer ? -1 : 1;
}

/*
 * Those that the pool at hand has; then, in turn, the best by price plus a weight times the share of the
 * time in which they are gone, for weights around the one that tells them apart.
 */
static void choose_offers(struct program *program, const uint32_t *machines)
{
    const struct promise *promise = program->promise;
    struct ranked *order = ARENA_ARRAY(program->arena, struct ranked, promise->count);
    bool *is_chosen = ARENA_ARRAY(program->arena, bool, promise->count);
    double unit = HUGE_VAL;

    for (uint32_t i = 0; i < promise->count; i++) {
        const struct promise_offer *offer = &promise->offers[i];

        unit = fmin(unit, (double)offer->price / (double)offer->capacity);
        if (machines[i] > 0 && program->count < PROMISE_OPTIMUM_OFFERS) {
            program->chosen[program->count++] = i;
            is_chosen[i] = true;
        }
    }
    for (int w = 0; program->count < PROMISE_OPTIMUM_OFFERS && program->count < promise->count;
         w = (w + 1) % 6) {
        for (uint32_t i = 0; i < promise->count; i++) {
            const struct promise_offer *offer = &promise->offers[i];

            order[i] = (struct ranked){
                (double)offer->price / (double)offer->capacity + ldexp(unit, 2 * w) * offer->down, i
            };
        }
        qsort(order, promise->count, sizeof(*order), by_key);
        for (uint32_t i = 0; i < promise->count; i++) {
            if (!is_chosen[order[i].offer]) {
                is_chosen[order[i].offer] = true;
                program->chosen[program->count++] = order[i].offer;
                break;
            }
        }
    }
}

/* ---- scenarios ---- */

/* The shares that a history had, over the offers of the program. */
static void take_states(struct program *program)
{
    const struct avail_states *states = program->promise->states;

    assert(states != NULL);
    for (uint32_t i = 0; i < states->count; i++) {
        uint32_t gone = 0;

        for (uint32_t k = 0; k < program->count; k++)
            gone |= (uint32_t)avail_states_is_gone(states, i, program->chosen[k]) << k;
        program->scenarios[gone].share += (double)states->span[i] / (double)states->total;
    }
}

static void list_scenarios(struct program *program)
{
    const bool is_joint = program->promise->only_joint;

    program->scenario_count = 1U << program->count;
    program->scenarios = ARENA_ARRAY(program->arena, struct scenario, program->scenario_count);
    for (uint32_t i = 0; i < program->scenario_count; i++)
        program->scenarios[i] =
            (struct scenario){ .gone = i, .share = is_joint ? 0 : share_of(program, i) };
    if (is_joint)
        take_states(program);
    qsort(program->scenarios, program->scenario_count, sizeof(*program->scenarios),
          likeliest_first);
    program->in = ARENA_ARRAY(program->arena, uint32_t, program->scenario_count);
}

static int64_t capacity_in(const struct program *program, uint32_t gone, const double *x)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < program->count; i++) {
        if ((gone >> i & 1) == 0)
            sum += (int64_t)x[i] * program->promise->offers[program->chosen[i]].capacity;
    }
    return sum;
}

static void take_in(struct program *program, uint32_t scenario)
{
    program->scenarios[scenario].is_in = true;
    program->in[program->in_count++] = scenario;
}

/* Add the likeliest scenarios in which the pool is short. Whether there were any. */
static bool add_short(struct program *program, const double *x, uint32_t most)
{
    uint32_t added = 0;

    for (uint32_t i = 0; i < program->scenario_count && added < most; i++) {
        const struct scenario *scenario = &program->scenarios[i];

        if (!scenario->is_in && scenario->share > 0 &&
            capacity_in(program, scenario->gone, x) < program->promise->capacity) {
            take_in(program, i);
            added++;
        }
    }
    return added > 0;
}

/* ---- the program ---- */

/* Columns: machines of each chosen offer, then one for each scenario of the program that may be lost. */
static bool may_be_lost(const struct program *program, uint32_t scenario)
{
    return program->scenarios[scenario].share <= program->promise->short_most * (1 + slack);
}

/* Capacity in the scenario, as a share of what is wanted, plus 1 if it may be short there. */
static struct milp_row scenario_row(const struct program *program, uint32_t scenario,
                                    uint32_t column)
{
    const uint32_t gone = program->scenarios[scenario].gone;
    struct milp_entry *entries = ARENA_ARRAY(program->arena, struct milp_entry, program->count + 1);
    uint32_t count = 0;

    for (uint32_t i = 0; i < program->count; i++) {
        const struct promise_offer *offer = &program->promise->offers[program->chosen[i]];

        if ((gone >> i & 1) == 0)
            entries[count++] = (struct milp_entry){ i, (double)offer->capacity /
                                                           (double)program->promise->capacity };
    }
    if (may_be_lost(program, scenario))
        entries[count++] = (struct milp_entry){ column, 1 };
    return (struct milp_row){ entries, count, 1 - slack };
}

/* Where the loss of a whole type is to be survived: what is left of the others, for each type. */
static uint32_t type_rows(const struct program *program, struct milp_row *rows)
{
    uint32_t types = 0;

    for (uint32_t t = 0; program->promise->survives_types && t < program->count; t++) {
        const uint32_t type = program->promise->offers[program->chosen[t]].type;
        struct milp_entry *entries = ARENA_ARRAY(program->arena, struct milp_entry, program->count);
        uint32_t count = 0;

        for (uint32_t i = 0; i < program->count; i++) {
            const struct promise_offer *offer = &program->promise->offers[program->chosen[i]];

            if (offer->type != type)
                entries[count++] = (struct milp_entry){ i, (double)offer->capacity /
                                                               (double)program->promise->capacity };
        }
        rows[types++] = (struct milp_row){ entries, count, 1 - slack };
    }
    return types;
}

/*
 * For how long the pool is short if it is short in each scenario of the program. A pool that is short with some offers gone
 * is short with more gone: so a scenario that is not in the program counts with the likeliest of its subsets that is.
 */
static double *short_shares(const struct program *program)
{
    double *shares = ARENA_ARRAY(program->arena, double, program->in_count);

    for (uint32_t i = 0; i < program->scenario_count; i++) {
        const struct scenario *scenario = &program->scenarios[i];

        for (uint32_t k = 0; k < program->in_count; k++) {
            const uint32_t gone = program->scenarios[program->in[k]].gone;

            if (scenario->is_in
                    ? program->in[k] == i
                    : (gone & scenario->gone) == gone && may_be_lost(program, program->in[k])) {
                shares[k] += scenario->share;
                break;
            }
        }
    }
    return shares;
}

/* All that is short together lasts no longer than it may. */
static struct milp_row budget_row(const struct program *program)
{
    const double *shares = short_shares(program);
    struct milp_entry *entries = ARENA_ARRAY(program->arena, struct milp_entry, program->in_count);
    const double most = program->promise->short_most * (1 + slack);
    uint32_t count = 0;

    for (uint32_t i = 0; i < program->in_count; i++) {
        if (!may_be_lost(program, program->in[i]))
            continue;
        entries[count] = (struct milp_entry){ program->count + count, -shares[i] / most };
        count++;
    }
    return (struct milp_row){ entries, count, -1 };
}

/* Whether 'outer' has what 'inner' has, and one offer more. */
static bool is_one_more(uint32_t inner, uint32_t outer)
{
    const uint32_t more = outer ^ inner;

    return (inner & outer) == inner && more != 0 && (more & (more - 1)) == 0;
}

/* A pool that is short with some offers gone is short with one more gone. */
static uint32_t nesting_rows(const struct program *program, struct milp_row *rows)
{
    uint32_t count = 0;
    uint32_t inner_column = program->count;

    for (uint32_t i = 0; i < program->in_count; i++) {
        const uint32_t inner = program->scenarios[program->in[i]].gone;
        uint32_t outer_column = program->count;

        if (!may_be_lost(program, program->in[i]))
            continue;
        for (uint32_t k = 0; k < program->in_count; k++) {
            const uint32_t outer = program->scenarios[program->in[k]].gone;

            if (!may_be_lost(program, program->in[k]))
                continue;
            if (is_one_more(inner, outer)) {
                struct milp_entry *entries = ARENA_ARRAY(program->arena, struct milp_entry, 2);

                entries[0] = (struct milp_entry){ outer_column, 1 };
                entries[1] = (struct milp_entry){ inner_column, -1 };
                rows[count++] = (struct milp_row){ entries, 2, 0 };
            }
            outer_column++;
        }
        inner_column++;
    }
    return count;
}

static int solve(const struct program *program, const struct milp_solver *solver, double *x,
                 struct milp_answer *ret)
{
    const struct arena_mark mark = arena_mark(program->arena);
    const uint32_t columns_most = program->count + program->in_count;
    double *cost = ARENA_ARRAY(program->arena, double, columns_most);
    double *most = ARENA_ARRAY(program->arena, double, columns_most);
    double *values = ARENA_ARRAY(program->arena, double, columns_most);
    struct milp_row *rows = ARENA_ARRAY(program->arena, struct milp_row,
                                        (size_t)(program->in_count + 1) * (program->count + 2));
    struct milp milp = { .columns = program->count,
                         .cost = cost,
                         .most = most,
                         .rows = rows,
                         .gap = program->gap,
                         .below = program->below,
                         .first_will_do = true,
                         .is_small = true,
                         .node_most = program->nodes_left };

    for (uint32_t i = 0; i < program->count; i++) {
        const struct promise_offer *offer = &program->promise->offers[program->chosen[i]];

        cost[i] = (double)offer->price;
        most[i] = ceil((double)program->promise->capacity / (double)offer->capacity);
    }
    for (uint32_t i = 0; i < program->in_count; i++) {
        rows[milp.row_count++] = scenario_row(program, program->in[i], milp.columns);
        if (may_be_lost(program, program->in[i]))
            most[milp.columns++] = 1;
    }
    if (milp.columns > program->count)
        rows[milp.row_count++] = budget_row(program);
    milp.row_count += type_rows(program, rows + milp.row_count);
    milp.row_count += nesting_rows(program, rows + milp.row_count);

    const int rc = solver->solve(&milp, values, ret);

    if (rc == 0 && ret->is_found)
        memcpy(x, values, program->count * sizeof(*x));
    arena_rewind(program->arena, mark);
    return rc;
}

/* Write the program's pool as one of all offers. */
static void spell_out(const struct program *program, const double *x, uint32_t *machines)
{
    memset(machines, 0, program->promise->count * sizeof(*machines));
    for (uint32_t i = 0; i < program->count; i++)
        machines[program->chosen[i]] = (uint32_t)x[i];
}

/* Take the pool if it holds and is cheaper. Whether it was taken. */
static bool keep_better(const struct promise *promise, struct promise_pool *candidate,
                        struct promise_pool *best, struct arena *arena)
{
    candidate->verdict = promise_judge(promise, candidate->machines, arena);
    if (!candidate->verdict.holds ||
        (best->verdict.holds && candidate->verdict.price >= best->verdict.price))
        return false;
    memcpy(best->machines, candidate->machines, promise->count * sizeof(*best->machines));
    best->verdict = candidate->verdict;
    return true;
}

/* Solve the program; a pool that is found, or proof that there is none, makes the answer better. Returns whether more can
 * be found, or a negative errno. */
static int step(struct program *program, const struct milp_solver *solver,
                struct promise_optimum *ret)
{
    const struct promise *promise = program->promise;
    struct promise_pool candidate = { .machines =
                                          ARENA_ARRAY(program->arena, uint32_t, promise->count) };
    double x[PROMISE_OPTIMUM_OFFERS] = { 0 };
    struct milp_answer answer;

    program->below =
        ret->pool.verdict.holds ? (double)ret->pool.verdict.price / (1 + program->gap) - 0.5 : 0;

    const int rc = solve(program, solver, x, &answer);

    if (rc != 0)
        return rc;
    ret->programs++;
    ret->nodes += answer.nodes;
    ret->is_proven = answer.is_none && ret->pool.verdict.holds;
    if (ret->is_proven)
        ret->bound = (money_t)ceil(program->below);
    else if (answer.bound > (double)ret->bound &&
             (program->below <= 0 || answer.bound < program->below)) /* else it knows of none */
        ret->bound = (money_t)floor(answer.bound);
    if (!answer.is_found)
        return 0;
    spell_out(program, x, candidate.machines);

    const bool is_better = keep_better(promise, &candidate, &ret->pool, program->arena);

    return add_short(program, x, SCENARIOS_A_ROUND) || is_better;
}

int promise_optimum(const struct promise *promise, const struct milp_solver *solver, double gap,
                    struct arena *arena, struct promise_optimum *ret)
{
    struct program program = { .promise = promise, .arena = arena, .gap = gap };
    const bool is_mixed = promise->states != NULL && !promise->only_joint;
    const double nothing[PROMISE_OPTIMUM_OFFERS] = { 0 };
    int rc = is_mixed ? 0 : 1;

    *ret = (struct promise_optimum){ .pool = promise_k_of_n(promise, arena) };
    promise_improve(promise, &ret->pool, arena);
    program.chosen = ARENA_ARRAY(arena, uint32_t, PROMISE_OPTIMUM_OFFERS);
    choose_offers(&program, ret->pool.machines);
    list_scenarios(&program);
    (void)add_short(&program, nothing, program.count + 1);
    ret->offers = program.count;
    while (rc > 0 && ret->nodes < NODES_MOST && ret->programs < PROGRAMS_MOST &&
           program.in_count < SCENARIOS_MOST) {
        program.nodes_left = NODES_MOST - ret->nodes;
        rc = step(&program, solver, ret);
    }
    return rc < 0 ? rc : 0;
}
