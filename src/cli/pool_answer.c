/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pool_answer.h"

#include <math.h>
#include <string.h>

#include "decide/promise_optimum.h"
#include "solve/cbc_solver.h"

const char *const pool_rule_words[POOL_RULES] = {
    [POOL_BEST] = "best",
    [POOL_GREEDY] = "greedy",
    [POOL_K_OF_N] = "k-of-n",
    [POOL_FLEET_CHEAPEST] = "fleet-cheapest",
    [POOL_FLEET_DIVERSE] = "fleet-diverse",
    [POOL_AVAILABILITY_ONLY] = "availability-only",
};

static const double gap = 0.005;

/* The cheapest there is, with a bound if there is a solver. */
static int plan_best(const struct promise *promise, struct arena *arena, struct pool_answer *answer)
{
    struct promise_optimum optimum;

    if (cbc_solver() == NULL) {
        answer->pool = promise_k_of_n(promise, arena);
        promise_improve(promise, &answer->pool, arena);
        return 0;
    }

    const int rc = promise_optimum(promise, cbc_solver(), gap, arena, &optimum);

    if (rc != 0)
        return rc;
    answer->pool = optimum.pool;
    /* With more offers than a program holds, the bound is one of some of them only. */
    answer->bound = optimum.offers == promise->count ? optimum.bound : 0;
    answer->is_proven = optimum.is_proven;
    return 0;
}

static int plan(const struct promise *promise, enum pool_rule rule, struct arena *arena,
                struct pool_answer *answer)
{
    switch (rule) {
    case POOL_BEST:
        return plan_best(promise, arena, answer);
    case POOL_GREEDY:
        answer->pool = promise_greedy(promise, arena);
        break;
    case POOL_K_OF_N:
        answer->pool = promise_k_of_n(promise, arena);
        break;
    case POOL_FLEET_CHEAPEST:
        answer->pool = promise_fleet_cheapest(promise, arena);
        break;
    case POOL_FLEET_DIVERSE:
        answer->pool = promise_fleet_diverse(promise, arena);
        break;
    case POOL_AVAILABILITY_ONLY:
        answer->pool = promise_available(promise, arena);
        break;
    case POOL_RULES:
        break;
    }
    return 0;
}

static void fill_levels(struct pool_answer *answer, struct arena *arena)
{
    const struct promise *promise = &answer->promise;

    avail_init(&answer->levels, answer->pool.verdict.capacity, arena);
    for (uint32_t i = 0; i < promise->count; i++)
        avail_add(&answer->levels, promise->offers[i].capacity * answer->pool.machines[i],
                  promise->offers[i].down);
}

/* What a pool that repairs itself would have cost and delivered, by the rule with f = 1. */
static void try_repair(struct pool_answer *answer, struct arena *arena)
{
    const struct pool_input *input = answer->question->input;
    const struct repair_rule rule = repair_rule_default();

    if (input->market.count < 2 || input->on_demand.price == 0)
        return;
    answer->has_repair = true;
    pool_market_repair(&input->market, &rule, answer->question->capacity, input->watched, arena,
                       &answer->repair);
}

int pool_answer(const struct pool_question *question, struct arena *arena, struct pool_answer *ret,
                struct error *reterr)
{
    const struct pool_input *input = question->input;

    *ret = (struct pool_answer){
        .question = question,
        .promise = { .offers = input->offers,
                     .count = input->count,
                     .capacity = question->capacity,
                     .short_most = question->short_most,
                     .states = input->market.count > 0 ? &input->states : NULL,
                     .survives_types = question->survives_types },
        .on_demand = pool_input_on_demand(input, question->capacity),
    };

    const int rc = plan(&ret->promise, question->rule, arena, ret);

    if (rc != 0)
        return error_set(reterr, rc, "the solver failed; --rule k-of-n does without it");
    ret->short_least = promise_short_least(&ret->promise);
    ret->is_worth_it = ret->pool.verdict.holds &&
                       (ret->on_demand == 0 || ret->pool.verdict.price <= ret->on_demand);
    fill_levels(ret, arena);
    try_repair(ret, arena);
    return 0;
}

double pool_answer_short(const struct pool_answer *answer)
{
    return fmax(answer->pool.verdict.short_independent, answer->pool.verdict.short_joint);
}

int64_t pool_answer_left(const struct pool_answer *answer, uint32_t offer, bool by_zone)
{
    const struct pool_about *about = answer->question->input->about;
    int64_t left = answer->pool.verdict.capacity;

    for (uint32_t i = 0; i < answer->promise.count; i++) {
        const char *lost = by_zone ? about[offer].zone : about[offer].type;
        const char *own = by_zone ? about[i].zone : about[i].type;

        if (lost != NULL && own != NULL && strcmp(lost, own) == 0)
            left -= answer->promise.offers[i].capacity * answer->pool.machines[i];
    }
    return left;
}
