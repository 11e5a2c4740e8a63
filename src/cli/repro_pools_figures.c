/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of the paper on the authors' table: 6, what each rule costs and delivers; 7, a service of
 * three tiers; 14, cost and excess by target; 17, batch work on the excess. Each is rows and, if asked
 * for, a picture.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/repro_pools.h"
#include "cli/verb.h"
#include "decide/avail.h"
#include "decide/promise_tiers.h"

enum { RATIOS = 4, TIERS = 3, SERIES_MAX = 8, POINTS_MAX = 8, PANELS_MAX = 2, TARGET_NINES = 5 };

/* The rules by their places in the table. */
enum { GREEDY = 0, STINT = 5 };

/* A picture in the making: panels of series of a few points. */
struct drawing {
    struct chart_point points[PANELS_MAX][SERIES_MAX][POINTS_MAX];
    struct chart_series series[PANELS_MAX][SERIES_MAX];
    struct chart_panel panels[PANELS_MAX];
};

static void add_point(struct drawing *drawing, uint32_t panel, const char *name,
                      enum chart_stroke stroke, double x, double y)
{
    struct chart_panel *of = &drawing->panels[panel];
    uint32_t at = 0;

    while (at < of->series_count && strcmp(drawing->series[panel][at].name, name) != 0)
        at++;

    struct chart_series *series = &drawing->series[panel][at];

    if (at == of->series_count) {
        of->series_count++;
        of->series = drawing->series[panel];
        *series = (struct chart_series){ .name = name,
                                         .points = drawing->points[panel][at],
                                         .stroke = stroke };
    }
    drawing->points[panel][at][series->point_count++] = (struct chart_point){ x, y };
}

static void label(struct drawing *drawing, uint32_t panel, const char *x, const char *y)
{
    drawing->panels[panel].x_label = x;
    drawing->panels[panel].y_label = y;
    drawing->panels[panel].y_from_zero = true;
}

/* ---- figure 6: rules ---- */

static int plan_zones(const struct pools_world *world, uint32_t rule, int nines, double *ret_cost,
                      double *ret_excess, double *ret_below)
{
    struct arena arena;
    int rc = 0;

    arena_init(&arena);
    *ret_cost = *ret_excess = *ret_below = 0;
    for (int i = 0; rc == 0 && i < POOLS_ZONES; i++) {
        const struct promise promise = pools_promise(&world->zones[i], nines);
        struct promise_pool pool;
        money_t bound = 0;

        rc = pools_plan(rule, &promise, &arena, &pool, &bound);
        if (rc == 0) {
            *ret_cost += pools_cost(&world->zones[i], pool.verdict.price) / POOLS_ZONES;
            *ret_excess += ((double)pool.verdict.capacity / POOLS_CAPACITY - 1) / POOLS_ZONES;
            *ret_below += pool.verdict.short_independent / POOLS_ZONES;
        }
        arena_reset(&arena);
    }
    arena_done(&arena);
    return rc;
}

static int figure_6(const struct pools_world *world, struct report_table *table,
                    struct drawing *drawing)
{
    label(drawing, 0, "cost against on demand", "nines reached, of 5");
    for (uint32_t rule = 0; rule <= STINT; rule++) {
        double cost = 0;
        double excess = 0;
        double below = 0;
        const int rc = plan_zones(world, rule, TARGET_NINES, &cost, &excess, &below);

        if (rc != 0)
            return rc;
        report_table_add_text(table, repro_pools_name(rule));
        report_table_add_integer(table, TARGET_NINES);
        report_table_add_real(table, cost);
        report_table_add_real(table, -log10(below));
        add_point(drawing, 0, repro_pools_name(rule), CHART_SOLID, cost, -log10(below));
    }
    return 0;
}

/* ---- figure 14: targets ---- */

static int figure_14(const struct pools_world *world, struct report_table *table,
                     struct drawing *drawing)
{
    static const uint32_t rules[] = { GREEDY, STINT };

    label(drawing, 0, "target, nines", "cost against on demand");
    label(drawing, 1, "target, nines", "capacity bought beyond the target");
    for (int r = 0; r < 2; r++) {
        for (int nines = POOLS_NINES_LEAST; nines <= POOLS_NINES_MOST; nines++) {
            const char *name = repro_pools_name(rules[r]);
            double cost = 0;
            double excess = 0;
            double below = 0;
            const int rc = plan_zones(world, rules[r], nines, &cost, &excess, &below);

            if (rc != 0)
                return rc;
            report_table_add_text(table, name);
            report_table_add_integer(table, nines);
            report_table_add_real(table, cost);
            report_table_add_real(table, excess);
            add_point(drawing, 0, name, CHART_SOLID, nines, cost);
            add_point(drawing, 1, name, CHART_SOLID, nines, excess);
        }
    }
    add_point(drawing, 0, "paper, text", CHART_DASHED, 2, 0.38);
    add_point(drawing, 0, "paper, text", CHART_DASHED, 5, 0.47);
    add_point(drawing, 0, "paper, text", CHART_DASHED, 6, 0.53);
    add_point(drawing, 1, "paper, text", CHART_DASHED, 5, 0.30);
    add_point(drawing, 1, "paper, text", CHART_DASHED, 6, 0.50);
    return 0;
}

/* ---- figure 17: batch work on the excess ---- */

/* What batch work of C / ratio units gets of a pool: the mean share that finds room beside the
 * service. Machines that are lost take from batch work first. */
static double free_share(const struct pools_zone *zone, const uint32_t *machines, int64_t batch,
                         struct arena *arena)
{
    struct avail avail;

    avail_init(&avail, POOLS_CAPACITY + batch, arena);
    for (uint32_t i = 0; i < zone->count; i++)
        avail_add(&avail, zone->offers[i].capacity * machines[i], zone->offers[i].down);
    return avail_excess(&avail, POOLS_CAPACITY, batch) / (double)batch;
}

/* Means over zones. */
struct excess {
    double free;
    double bill;      /* the service and what batch work must still rent, on the cheapest spot */
    double on_demand; /* the service on demand, batch work on the cheapest spot */
};

static int measure_excess(const struct pools_world *world, uint32_t rule, int ratio,
                          struct excess *ret)
{
    const int64_t batch = POOLS_CAPACITY / ratio;
    struct arena arena;
    int rc = 0;

    *ret = (struct excess){ 0 };
    arena_init(&arena);
    for (int i = 0; rc == 0 && i < POOLS_ZONES; i++) {
        const struct pools_zone *zone = &world->zones[i];
        const struct promise promise = pools_promise(zone, TARGET_NINES);
        const struct promise_pool spot = promise_fleet_cheapest(&promise, &arena);
        const double spot_cost = pools_cost(zone, spot.verdict.price) / ratio;
        struct promise_pool pool;
        money_t bound = 0;

        rc = pools_plan(rule, &promise, &arena, &pool, &bound);
        if (rc == 0) {
            const double share = free_share(zone, pool.machines, batch, &arena);

            ret->free += share / POOLS_ZONES;
            ret->bill +=
                (pools_cost(zone, pool.verdict.price) + (1 - share) * spot_cost) / POOLS_ZONES;
            ret->on_demand += (1 + spot_cost) / POOLS_ZONES;
        }
        arena_reset(&arena);
    }
    arena_done(&arena);
    return rc;
}

static int figure_17(const struct pools_world *world, struct report_table *table,
                     struct drawing *drawing, bool *ret_good)
{
    static const uint32_t rules[] = { GREEDY, STINT };
    static const double known[RATIOS] = { 0.28, 0.56, 0.78, 0.89 };

    label(drawing, 0, "service against batch work, capacity", "batch work done on the excess");
    label(drawing, 1, "service against batch work, capacity",
          "the full bill, against the service on demand");
    for (int r = 0; r < 2; r++) {
        for (int ratio = 1; ratio <= RATIOS; ratio++) {
            const char *name = repro_pools_name(rules[r]);
            struct excess excess;
            const int rc = measure_excess(world, rules[r], ratio, &excess);

            if (rc != 0)
                return rc;
            report_table_add_text(table, name);
            report_table_add_integer(table, ratio);
            report_table_add_real(table, excess.free);
            report_table_add_real(table, excess.bill);
            report_table_add_real(table, excess.on_demand);
            add_point(drawing, 0, name, CHART_SOLID, ratio, excess.free);
            add_point(drawing, 1, name, CHART_SOLID, ratio, excess.bill);
            if (r == 0) {
                *ret_good &= repro_is_near("greedy", "free", excess.free, known[ratio - 1], 0.03);
                add_point(drawing, 1, "service on demand", CHART_DASHED, ratio, excess.on_demand);
            }
        }
    }
    add_point(drawing, 0, "paper, text", CHART_DASHED, 1, 1.0 / 3);
    add_point(drawing, 0, "paper, text", CHART_DASHED, 3, 1);
    return 0;
}

/* ---- figure 7: tiers ---- */

static int figure_7(const struct pools_world *world, struct report_table *table,
                    struct drawing *drawing)
{
    static const int64_t capacities[2][TIERS] = { { 400, 400, 400 }, { 800, 400, 200 } };
    static const char *const labels[2] = { "400, 400, 400", "800, 400, 200" };
    const double each = pools_short(4);
    struct arena arena;

    label(drawing, 0, "capacities: 1, equal; 2, different", "nines of the whole service");
    arena_init(&arena);
    for (int c = 0; c < 2; c++) {
        double weakest = 0;
        double independent = 0;
        double actual = 0;

        for (int i = 0; i < POOLS_ZONES; i++) {
            const struct pools_zone *zone = &world->zones[i];
            struct promise_tier tiers[TIERS];
            double all_there = 1;
            double worst = 0;

            for (int t = 0; t < TIERS; t++) {
                struct promise promise = pools_promise(zone, 4);

                promise.capacity = capacities[c][t];

                const struct promise_pool pool = promise_greedy(&promise, &arena);

                tiers[t] = (struct promise_tier){ capacities[c][t], pool.machines };
                all_there *= 1 - pool.verdict.short_independent;
                worst = fmax(worst, pool.verdict.short_independent);
            }
            weakest += worst / POOLS_ZONES;
            independent += (1 - all_there) / POOLS_ZONES;
            actual +=
                promise_tiers_short(zone->offers, zone->count, tiers, TIERS, each * 1e-9, &arena) /
                POOLS_ZONES;
            arena_reset(&arena);
        }
        report_table_add_text(table, labels[c]);
        report_table_add_real(table, -log10(weakest));
        report_table_add_real(table, -log10(independent));
        report_table_add_real(table, -log10(actual));
        add_point(drawing, 0, "weakest tier", CHART_SOLID, c + 1, -log10(weakest));
        add_point(drawing, 0, "independent tiers", CHART_SOLID, c + 1, -log10(independent));
        add_point(drawing, 0, "as planned", CHART_SOLID, c + 1, -log10(actual));
    }
    arena_done(&arena);
    return 0;
}

/* ---- all ---- */

static const struct report_column columns_6[] = {
    { .key = "policy", .heading = "rule", .kind = REPORT_TEXT },
    { .key = "nines", .heading = "nines", .kind = REPORT_INTEGER },
    { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "reached_nines", .heading = "nines reached", .kind = REPORT_DECIMAL, .digits = 2 },
};
static const struct report_column columns_7[] = {
    { .key = "capacities", .heading = "capacities", .kind = REPORT_TEXT },
    { .key = "weakest_nines", .heading = "nines, weakest", .kind = REPORT_DECIMAL, .digits = 2 },
    { .key = "independent_nines",
      .heading = "nines, independent",
      .kind = REPORT_DECIMAL,
      .digits = 2 },
    { .key = "actual_nines", .heading = "nines, as planned", .kind = REPORT_DECIMAL, .digits = 2 },
};
static const struct report_column columns_14[] = {
    { .key = "policy", .heading = "rule", .kind = REPORT_TEXT },
    { .key = "nines", .heading = "nines", .kind = REPORT_INTEGER },
    { .key = "norm_cost", .heading = "cost norm.", .kind = REPORT_DECIMAL, .digits = 4 },
    { .key = "excess", .heading = "excess", .kind = REPORT_DECIMAL, .digits = 3 },
};
static const struct report_column columns_17[] = {
    { .key = "policy", .heading = "rule", .kind = REPORT_TEXT },
    { .key = "ratio", .heading = "ratio", .kind = REPORT_INTEGER },
    { .key = "free", .heading = "free", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "bill", .heading = "full bill", .kind = REPORT_DECIMAL, .digits = 3 },
    { .key = "on_demand_bill",
      .heading = "service on demand",
      .kind = REPORT_DECIMAL,
      .digits = 3 },
};

static const struct figure {
    uint32_t number;
    const char *title;
    const struct report_column *columns;
    uint32_t column_count;
    uint32_t panel_count;
} figures[] = {
    { 6, "Figure 6: what rules cost and deliver, 5,000 units, five nines", columns_6, 4, 1 },
    { 7, "Figure 7: a service of three tiers, four nines each", columns_7, 4, 1 },
    { 14, "Figure 14: cost and excess by target, 5,000 units", columns_14, 4, 2 },
    { 17, "Figure 17: batch work on the excess, five nines", columns_17, 5, 2 },
};

enum { FIGURES = sizeof(figures) / sizeof(figures[0]) };

static int fill(const struct figure *figure, const struct pools_world *world,
                struct report_table *table, struct drawing *drawing, bool *ret_good)
{
    switch (figure->number) {
    case 6:
        return figure_6(world, table, drawing);
    case 7:
        return figure_7(world, table, drawing);
    case 14:
        return figure_14(world, table, drawing);
    default:
        return figure_17(world, table, drawing, ret_good);
    }
}

static int answer(const struct figure *figure, const struct repro_options *options,
                  const struct pools_world *world)
{
    struct drawing *drawing = mem_alloc(1, sizeof(*drawing));
    char name[32];
    bool good = true;
    int code = EXIT_DONE;

    (void)snprintf(name, sizeof(name), "pools-figure-%u", figure->number);

    struct report_table *table = report_table_create(name, figure->columns, figure->column_count);
    const struct chart chart = { .title = figure->title,
                                 .panels = drawing->panels,
                                 .panel_count = figure->panel_count };

    report_table_note_text(table, "title", figure->title);
    if (fill(figure, world, table, drawing, &good) != 0 ||
        report_table_write(table, options->format, stdout) != 0 ||
        (options->svg != NULL && repro_write_chart(&chart, options->svg) != 0))
        code = EXIT_FAILED;
    else if (options->check && !good)
        code = EXIT_DIFFERS;
    report_table_destroy(table);
    mem_free(drawing);
    return code;
}

int repro_pools_figure(const struct repro_options *options)
{
    struct pools_world world;
    struct error error;

    if (options->figure == 15)
        return repro_pools_market(options);
    for (int i = 0; i < FIGURES; i++) {
        if (figures[i].number != options->figure)
            continue;

        const int rc = pools_world_load(&world, false, &error);

        if (rc != 0)
            return repro_fail(rc, &error);

        const int code = answer(&figures[i], options, &world);

        pools_world_done(&world);
        return code;
    }
    fprintf(stderr, "stint repro: --figure takes 6, 7, 14, 15 or 17\n");
    return EXIT_USAGE;
}
