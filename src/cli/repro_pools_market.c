/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figure 15: what was promised and what came true, on prices that were not known when a pool was
 * planned. Two markets: 15 offers of 2015, auction prices with spikes above on demand; nine zones of
 * V100 machines of 2023, measured.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "cli/repro_pools.h"
#include "cli/verb.h"

#define DAY_MS (24 * MSEC_PER_HOUR)

enum {
    ROWS_MAX = 24,
    NINES_NONE = 6,
    WEEK_DAYS = 7,
    ALLOWED_MS = 108000,
    SETS = 34,
    SET_OFFERS = 8,
    RANDOM_SETS = 30
};

/* ---- planners that estimate and hold ---- */

struct planner {
    const char *name;
    int nines;
    bool is_greedy;
    msec_t added; /* outage time added to each estimate */
    msec_t learn; /* the window; 0: all the past */
    msec_t hold;
    bool is_joint;    /* by the states of the window, not by independence */
    bool is_cautious; /* survives whole types, and the states of all the past count */
};

static const struct planner planners[] = {
    { "greedy, raw shares", 4, true, 0, WEEK_DAYS *DAY_MS, WEEK_DAYS *DAY_MS, false, false },
    { "k of n, raw shares", 4, false, 0, WEEK_DAYS *DAY_MS, WEEK_DAYS *DAY_MS, false, false },
    { "k of n, 1800 s added", 4, false, 1800000, WEEK_DAYS *DAY_MS, WEEK_DAYS *DAY_MS, false,
      false },
    { "the same, held 1 day", 4, false, 1800000, WEEK_DAYS *DAY_MS, DAY_MS, false, false },
    { "the same, 5 nines", 5, false, 1800000, WEEK_DAYS *DAY_MS, WEEK_DAYS *DAY_MS, false, false },
    { "joint states of a week", 4, false, 0, WEEK_DAYS *DAY_MS, WEEK_DAYS *DAY_MS, true, false },
    { "types and all past states", 4, false, 1800000, WEEK_DAYS *DAY_MS, WEEK_DAYS *DAY_MS, false,
      true },
};

enum { PLANNERS = sizeof(planners) / sizeof(planners[0]) };

/* Offers as the window shows them. */
static struct promise_offer *estimate(const struct pools_market *market,
                                      const struct planner *planner, struct pool_span window,
                                      struct arena *arena)
{
    struct promise_offer *offers = ARENA_ARRAY(arena, struct promise_offer, market->market.count);

    for (uint32_t i = 0; i < market->market.count; i++) {
        const struct pool_market_offer *offer = &market->market.offers[i];
        money_t price = 0;
        const struct promise_record record = pool_market_record(&market->market, i, window, &price);

        offers[i] = (struct promise_offer){ .capacity = offer->capacity,
                                            .price = price,
                                            .down = promise_trust_added(&record, planner->added),
                                            .type = offer->type };
    }
    return offers;
}

static struct promise_pool plan_at(const struct pools_market *market, const struct planner *planner,
                                   msec_t now, struct arena *arena)
{
    const struct pool_span window = { now - planner->learn, now };
    struct avail_states *states = ARENA_ARRAY(arena, struct avail_states, 1);
    struct promise promise = { .offers = estimate(market, planner, window, arena),
                               .count = market->market.count,
                               .capacity = market->capacity,
                               .short_most = pools_short(planner->nines),
                               .only_joint = planner->is_joint,
                               .survives_types = planner->is_cautious };

    if (planner->is_greedy)
        return promise_greedy(&promise, arena);
    if (planner->is_joint || planner->is_cautious) {
        const struct pool_span seen = { planner->is_cautious ? market->begin : window.from, now };

        avail_states_init(states, market->market.count, arena);
        pool_market_states(&market->market, seen, states);
        promise.states = states;
    }

    struct promise_pool pool = promise_k_of_n(&promise, arena);

    promise_improve(&promise, &pool, arena);
    return pool;
}

/* Plan and hold, over and over. On demand where the promise cannot be kept for less. */
static struct pool_outcome run_planner(const struct pools_market *market,
                                       const struct planner *planner)
{
    struct pool_outcome outcome = { 0 };
    struct arena arena;

    arena_init(&arena);
    for (msec_t now = market->judged.from; now < market->judged.to; now += planner->hold) {
        const msec_t end =
            market->judged.to - now < planner->hold ? market->judged.to : now + planner->hold;
        const struct promise_pool pool = plan_at(market, planner, now, &arena);

        if (pool.verdict.holds && pool.verdict.price < market->on_demand) {
            pool_market_hold(&market->market, pool.machines, market->capacity,
                             (struct pool_span){ now, end }, &outcome);
        } else {
            outcome.cost += money_for(market->on_demand, end - now);
            outcome.on_demand_ms += end - now;
        }
        arena_reset(&arena);
    }
    arena_done(&arena);
    return outcome;
}

/* ---- the repairing pool ---- */

struct repairer {
    const char *name;
    uint32_t slots;
    uint32_t losses;
    bool types_apart;
};

static const struct repairer repairers[] = {
    { "repair k1 f0", 1, 0, false },
    { "repair k2 f1", 2, 1, false },
    { "repair k2 f1, types apart", 2, 1, true },
    { "repair k3 f1", 3, 1, false },
    { "repair k5 f2", 5, 2, false },
};

enum { REPAIRERS = sizeof(repairers) / sizeof(repairers[0]), JUDGED_REPAIRER = 1 };

static struct repair_rule rule_of(const struct repairer *repairer)
{
    struct repair_rule rule = repair_rule_default();

    rule.slots = repairer->slots;
    rule.losses = repairer->losses;
    rule.types_apart = repairer->types_apart;
    return rule;
}

/* Some of the offers: all, those of one zone, or eight by chance. */
static struct pool_market pick_set(const struct pools_market *market, uint32_t set, uint64_t seed,
                                   struct arena *arena)
{
    struct pool_market picked = {
        .offers = ARENA_ARRAY(arena, struct pool_market_offer, market->market.count),
        .on_demand = market->market.on_demand,
    };
    uint32_t *order = ARENA_ARRAY(arena, uint32_t, market->market.count);
    struct rng rng;

    rng_init(&rng, seed, set);
    for (uint32_t i = 0; i < market->market.count; i++)
        order[i] = i;
    for (uint32_t i = 0; i < SET_OFFERS && set > 3; i++) {
        const uint32_t other = i + (uint32_t)rng_below(&rng, market->market.count - i);
        const uint32_t kept = order[i];

        order[i] = order[other];
        order[other] = kept;
    }

    /* Zones are numbered as they first occur: the three of the data among other names. */
    uint32_t zones[3];
    uint32_t zone_count = 0;

    for (uint32_t i = 0; i < market->market.count; i++) {
        uint32_t known = 0;

        while (known < zone_count && zones[known] != market->zone_of[i])
            known++;
        if (known == zone_count && zone_count < 3)
            zones[zone_count++] = market->zone_of[i];
    }
    for (uint32_t i = 0; i < market->market.count; i++) {
        const bool is_in = set == 0 || (set <= 3 && market->zone_of[i] == zones[set - 1]) ||
                           (set > 3 && i < SET_OFFERS);

        if (is_in)
            picked.offers[picked.count++] = market->market.offers[set > 3 ? order[i] : i];
    }
    return picked;
}

/* Of all sets of offers: the mean cost, and in how many it was short for no longer than allowed. */
struct sets {
    double cost;
    uint32_t kept;
    msec_t worst_ms;
};

static double norm_cost(const struct pools_market *market, money_t cost, struct pool_span span)
{
    return (double)cost / (double)money_for(market->on_demand, span.to - span.from);
}

static struct sets run_sets(const struct pools_market *market, const struct repair_rule *rule,
                            uint64_t seed)
{
    struct sets sets = { 0 };
    struct arena arena;

    arena_init(&arena);
    for (uint32_t set = 0; set < SETS; set++) {
        const struct pool_market picked = pick_set(market, set, seed, &arena);
        struct pool_outcome outcome = { 0 };

        pool_market_repair(&picked, rule, market->capacity, market->judged, &arena, &outcome);
        sets.cost += norm_cost(market, outcome.cost, market->judged) / SETS;
        sets.kept += outcome.short_ms <= ALLOWED_MS;
        sets.worst_ms = outcome.short_ms > sets.worst_ms ? outcome.short_ms : sets.worst_ms;
        arena_reset(&arena);
    }
    arena_done(&arena);
    return sets;
}

/* ---- rows ---- */

static const struct report_column columns[] = {
    { .key = "market", .heading = "market", .kind = REPORT_TEXT },
    { .key = "policy", .heading = "rule", .kind = REPORT_TEXT },
    { .key = "nines", .heading = "nines", .kind = REPORT_INTEGER },
    { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "short_seconds", .heading = "short s", .kind = REPORT_DECIMAL, .digits = 0 },
    { .key = "reached_nines", .heading = "nines reached", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "on_demand_share", .heading = "on demand", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "sets_cost", .heading = "cost, 34 sets", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "sets_kept", .heading = "sets kept", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "answer", .heading = "answer", .kind = REPORT_TEXT },
};

/* The rows, and one panel of points for each market. */
struct page {
    struct report_table *table;
    struct chart_point points[2][ROWS_MAX];
    struct chart_series series[2][ROWS_MAX];
    uint32_t count[2];
};

/* Where nothing was ever missing there is no number of nines: such points stand at the top. */
static void add_point(struct page *page, int market, const char *name, double cost, double below)
{
    const uint32_t at = page->count[market]++;

    page->points[market][at] = (struct chart_point){ cost, below > 0 ? -log10(below) : NINES_NONE };
    page->series[market][at] = (struct chart_series){ .name = name,
                                                      .points = &page->points[market][at],
                                                      .point_count = 1 };
}

static int draw(const struct page *page, const char *path)
{
    static const char y_label[] = "nines that came true; 6: no shortfall at all";
    const struct chart_panel panels[] = {
        { .title = "15 offers, 2015, 125 days",
          .x_label = "cost against on demand",
          .y_label = y_label,
          .series = page->series[0],
          .series_count = page->count[0],
          .y_from_zero = true },
        { .title = "V100 in nine zones, 2023, 45 days",
          .x_label = "cost against on demand",
          .y_label = y_label,
          .series = page->series[1],
          .series_count = page->count[1],
          .y_from_zero = true },
    };
    const struct chart chart = { .title = "Figure 15, on other prices: what came true",
                                 .panels = panels,
                                 .panel_count = 2 };

    return repro_write_chart(&chart, path);
}

static void add_outcome(struct page *page, const struct pools_market *market, const char *name,
                        int nines, const struct pool_outcome *outcome, uint32_t slots)
{
    const double span = (double)(market->judged.to - market->judged.from);
    const bool is_2015 = market->capacity == POOLS_2015_CAPACITY;
    struct report_table *table = page->table;

    add_point(page, is_2015 ? 0 : 1, name, norm_cost(market, outcome->cost, market->judged),
              (double)outcome->short_ms / span);
    report_table_add_text(table, is_2015 ? "2015" : "gpu-2023");
    report_table_add_text(table, name);
    if (nines > 0)
        report_table_add_integer(table, nines);
    else
        report_table_add_missing(table);
    report_table_add_real(table, norm_cost(market, outcome->cost, market->judged));
    report_table_add_real(table, (double)outcome->short_ms / 1000);
    if (outcome->short_ms > 0)
        report_table_add_real(table, -log10((double)outcome->short_ms / span));
    else
        report_table_add_missing(table);
    report_table_add_real(table, (double)outcome->on_demand_ms / span / slots);
}

static void add_no_sets(struct report_table *table, const char *answer)
{
    report_table_add_missing(table);
    report_table_add_missing(table);
    report_table_add_text(table, answer);
}

static bool check_repair(const struct pools_market *market, const struct pool_outcome *outcome,
                         const struct sets *sets)
{
    const double cost = norm_cost(market, outcome->cost, market->judged);

    if (cost <= 0.42 && sets->cost <= 0.42 && outcome->short_ms <= ALLOWED_MS &&
        sets->kept * 100 >= SETS * 95)
        return true;
    fprintf(
        stderr,
        "stint repro: repair k2 f1: cost %.3f (%.3f over all sets) at most 0.42, %lld s short at "
        "most 108, %u of %d sets at least 95 %%\n",
        cost, sets->cost, (long long)outcome->short_ms / 1000, sets->kept, SETS);
    return false;
}

static bool run_2015(const struct pools_market *market, const struct repro_options *options,
                     struct page *page)
{
    bool good = true;

    for (int i = 0; i < PLANNERS; i++) {
        const struct pool_outcome outcome = run_planner(market, &planners[i]);

        add_outcome(page, market, planners[i].name, planners[i].nines, &outcome, 1);
        add_no_sets(page->table, NULL);
    }
    for (int i = 0; i < REPAIRERS; i++) {
        const struct repair_rule rule = rule_of(&repairers[i]);
        const struct sets sets = run_sets(market, &rule, options->seed);
        struct pool_outcome outcome = { 0 };
        struct arena arena;

        arena_init(&arena);
        pool_market_repair(&market->market, &rule, market->capacity, market->judged, &arena,
                           &outcome);
        arena_done(&arena);
        good &= !options->check || i != JUDGED_REPAIRER || check_repair(market, &outcome, &sets);
        add_outcome(page, market, repairers[i].name, 0, &outcome, rule.slots);
        report_table_add_real(page->table, sets.cost);
        report_table_add_real(page->table, (double)sets.kept / SETS);
        report_table_add_missing(page->table);
    }
    return good;
}

/* ---- scarce machines ---- */

/* What the whole series would have allowed, with everything known: no planner could do better. */
static bool run_gpu_plan(const struct pools_market *market, bool is_joint,
                         const struct repro_options *options, struct page *page)
{
    const struct pool_span span = { 0, market->judged.to };
    const struct planner planner = { .nines = 5 };
    struct pool_outcome outcome = { 0 };
    struct avail_states states;
    struct arena arena;
    char answer[96];

    arena_init(&arena);
    avail_states_init(&states, market->market.count, &arena);
    pool_market_states(&market->market, span, &states);

    const struct promise promise = { .offers = estimate(market, &planner, span, &arena),
                                     .count = market->market.count,
                                     .capacity = market->capacity,
                                     .short_most = pools_short(planner.nines),
                                     .states = is_joint ? &states : NULL,
                                     .only_joint = is_joint };
    const struct promise_pool pool = promise_k_of_n(&promise, &arena);

    pool_market_hold(&market->market, pool.machines, market->capacity, span, &outcome);
    (void)snprintf(answer, sizeof(answer), "%s; no pool is short for less than %.2g of the time",
                   pool.verdict.holds ? "promised" : "cannot", promise_short_least(&promise));
    add_outcome(page, market,
                is_joint ? "k of n, all states known" : "k of n, independence, all shares known",
                planner.nines, &outcome, 1);
    add_no_sets(page->table, answer);
    arena_done(&arena);
    if (!options->check || !is_joint || !pool.verdict.holds)
        return true;
    fprintf(stderr,
            "stint repro: five nines were promised from machines that were all gone at once\n");
    return false;
}

static bool run_gpu(const struct pools_market *market, const struct repro_options *options,
                    struct page *page)
{
    static const struct repairer gpu_repairers[] = {
        { "repair k1 f0", 1, 0, false },
        { "repair k2 f1", 2, 1, false },
        { "repair k3 f2", 3, 2, false },
    };
    bool good = run_gpu_plan(market, false, options, page);

    good &= run_gpu_plan(market, true, options, page);
    for (int i = 0; i < 3; i++) {
        const struct repair_rule rule = rule_of(&gpu_repairers[i]);
        struct pool_outcome outcome = { 0 };
        struct arena arena;

        arena_init(&arena);
        pool_market_repair(&market->market, &rule, market->capacity, market->judged, &arena,
                           &outcome);
        arena_done(&arena);
        add_outcome(page, market, gpu_repairers[i].name, 0, &outcome, rule.slots);
        add_no_sets(page->table, outcome.cost > money_for(market->on_demand, market->judged.to)
                                     ? "costs more than on demand"
                                     : NULL);
    }
    return good;
}

/* Both markets, one after the other. */
static int fill(struct page *page, const struct repro_options *options, bool *ret_good,
                struct error *reterr)
{
    struct pools_market market;
    int rc = pools_market_2015(&market, reterr);

    if (rc != 0)
        return rc;
    *ret_good = run_2015(&market, options, page);
    pools_market_done(&market);
    rc = pools_market_gpu(&market, reterr);
    if (rc != 0)
        return rc;
    *ret_good &= run_gpu(&market, options, page);
    pools_market_done(&market);
    return 0;
}

int repro_pools_market(const struct repro_options *options)
{
    struct page page = { .table = report_table_create("pools-figure-15", columns,
                                                      sizeof(columns) / sizeof(columns[0])) };
    struct error error;
    bool good = true;
    const int rc = fill(&page, options, &good, &error);
    int code = good ? EXIT_DONE : EXIT_DIFFERS;

    if (rc != 0)
        code = repro_fail(rc, &error);
    else if (report_table_write(page.table, options->format, stdout) != 0 ||
             (options->svg != NULL && draw(&page, options->svg) != 0))
        code = EXIT_FAILED;
    report_table_destroy(page.table);
    return code;
}
