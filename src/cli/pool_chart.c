/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two panels: the nines of every level of capacity, as steps; and what the same capacity costs at other
 * targets, where each point is a plan of its own (k of n, improved).
 */
#include <math.h>

#include "cli/pool_report.h"
#include "draw/chart.h"

enum { STEPS_MOST = 2000, TARGETS = 6 };

static const double nines_most = 12; /* rarer shortfalls are not drawn */

static double nines(double below)
{
    return below > 0 ? fmin(nines_most, fmax(0, -log10(below))) : nines_most;
}

/* Where the share changes; of very many levels, every so many units. */
static uint32_t draw_levels(const struct pool_answer *answer, struct chart_point *points)
{
    const int64_t step = answer->levels.limit / (STEPS_MOST / 2) + 1;
    double below = 0;
    double last = -1;
    uint32_t count = 0;
    int64_t at = 0;

    for (int64_t c = 0; c <= answer->levels.limit; c += step) {
        for (; at < c; at++)
            below += answer->levels.at[at];
        if (fabs(nines(below) - last) > 0.005) {
            if (count > 0)
                points[count++] = (struct chart_point){ (double)c, last };
            last = nines(below);
            points[count++] = (struct chart_point){ (double)c, last };
        }
    }
    points[count++] = (struct chart_point){ (double)answer->levels.limit, last };
    return count;
}

/* The price of one to six nines, as a share of on demand, or in dollars where that is not known. */
static uint32_t draw_targets(const struct pool_answer *answer, struct arena *arena,
                             struct chart_point *points)
{
    struct promise promise = answer->promise;
    const double base = answer->on_demand > 0 ? (double)answer->on_demand : 1e6;
    uint32_t count = 0;

    promise.short_most = 1;
    for (int i = 1; i <= TARGETS; i++) {
        promise.short_most /= 10;

        struct promise_pool pool = promise_k_of_n(&promise, arena);

        promise_improve(&promise, &pool, arena);
        if (pool.verdict.holds)
            points[count++] = (struct chart_point){ i, (double)pool.verdict.price / base };
    }
    return count;
}

int pool_chart_write(const struct pool_answer *answer, FILE *out)
{
    struct arena arena;

    arena_init(&arena);

    struct chart_point *levels = ARENA_ARRAY(&arena, struct chart_point, 2 * STEPS_MOST + 4);
    struct chart_point targets[TARGETS];
    const struct chart_point asked = { (double)answer->question->capacity,
                                       nines(answer->question->short_most) };
    const struct chart_point planned = { nines(answer->question->short_most),
                                         (double)answer->pool.verdict.price /
                                             (answer->on_demand > 0 ? (double)answer->on_demand
                                                                    : 1e6) };
    const struct chart_series left[] = {
        { .name = "the pool", .points = levels, .point_count = draw_levels(answer, levels) },
        { .name = "asked for", .points = &asked, .point_count = 1, .stroke = CHART_DASHED },
    };
    const struct chart_series right[] = {
        { .name = "k of n",
          .points = targets,
          .point_count = draw_targets(answer, &arena, targets) },
        { .name = "the pool", .points = &planned, .point_count = 1 },
    };
    const struct chart_panel panels[] = {
        { .title = "how often there is how much",
          .x_label = "capacity, units",
          .y_label = "nines: 3 is 99.9 % of the time",
          .series = left,
          .series_count = 2,
          .y_from_zero = true },
        { .title = "what other targets cost",
          .x_label = "target, nines",
          .y_label = answer->on_demand > 0 ? "price against on demand" : "price, $ per hour",
          .series = right,
          .series_count = 2,
          .y_from_zero = true },
    };
    const struct chart chart = { .title = "Capacity with a promise",
                                 .panels = panels,
                                 .panel_count = 2 };
    const int rc = chart_write(&chart, out);

    arena_done(&arena);
    return rc;
}
