/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commit_chart.h"

#include <assert.h>
#include <stdio.h>

#include "base/arena.h"
#include "draw/chart.h"
#include "draw/digits.h"

enum {
    DAY_HOURS = 24,
    POINTS_MOST = 1100, /* three years of days */
    LAYERS_MOST = 400,
    TEXT_SIZE = 2048,
    WIDTH = 1400,
};

/* One column on its way to a panel. */
struct drawing {
    const struct commit_answer *answer;
    struct arena *arena;
    uint32_t step_hours; /* that one point stands for */
    uint32_t points;
    uint32_t order[COMMITMENT_CLASSES_MAX];
    uint32_t order_count;
    struct chart_point *of_class[COMMITMENT_CLASSES_MAX]; /* mean machines that a class carries */
    struct chart_point *busiest;
};

static uint32_t count_of(const struct commit_answer *answer, uint32_t class_index)
{
    const struct portfolio_advice_line *line = &answer->advice.of_class[class_index];

    return line->buy + line->held;
}

/* Spread one hour over the classes, and the rest on demand. */
static void add_hour(struct drawing *drawing, uint32_t point, uint32_t usage)
{
    uint32_t left = usage;

    for (uint32_t i = 0; i < drawing->order_count; i++) {
        const uint32_t k = drawing->order[i];
        const uint32_t count = count_of(drawing->answer, k);
        const uint32_t used = k > 0 && count < left ? count : left;

        drawing->of_class[k][point].y += used;
        left -= used;
    }
    if (usage > drawing->busiest[point].y)
        drawing->busiest[point].y = usage;
}

static void drawing_fill(struct drawing *drawing)
{
    const uint32_t hours = drawing->answer->question->usage->hours;

    for (uint32_t point = 0; point < drawing->points; point++) {
        const uint32_t from = point * drawing->step_hours;
        const uint32_t to = hours - from < drawing->step_hours ? hours : from + drawing->step_hours;
        const double day = (double)from / DAY_HOURS;

        drawing->busiest[point].x = day;
        for (uint32_t i = from; i < to; i++)
            add_hour(drawing, point, drawing->answer->counts[i]);
        for (uint32_t k = 0; k < drawing->answer->class_count; k++) {
            drawing->of_class[k][point].x = day;
            drawing->of_class[k][point].y /= to - from;
        }
    }
}

static void drawing_init(struct drawing *drawing, const struct commit_answer *answer,
                         struct arena *arena)
{
    const uint32_t hours = answer->question->usage->hours;
    const uint32_t days = (hours + DAY_HOURS - 1) / DAY_HOURS;
    const uint32_t step_days = (days + POINTS_MOST - 1) / POINTS_MOST;

    *drawing = (struct drawing){ .answer = answer, .arena = arena };
    drawing->step_hours = step_days * DAY_HOURS;
    drawing->points = (hours + drawing->step_hours - 1) / drawing->step_hours;
    drawing->order_count = commit_answer_order(answer, drawing->order);
    for (uint32_t k = 0; k < answer->class_count; k++)
        drawing->of_class[k] = ARENA_ARRAY(arena, struct chart_point, drawing->points);
    drawing->busiest = ARENA_ARRAY(arena, struct chart_point, drawing->points);
    drawing_fill(drawing);
}

static const char *panel_title(const struct commit_answer *answer, struct arena *arena)
{
    const struct portfolio_rates *rates = &answer->advice.expected;
    const money_t saving = commit_rates_saving(rates);
    const double share =
        rates->without > 0 ? (double)(rates->without - rates->with) / (double)rates->without : 0;
    char *text = arena_alloc(arena, TEXT_SIZE, 1);

    if (saving == 0) {
        (void)snprintf(text, TEXT_SIZE, "%s: nothing to commit to", answer->column);
        return text;
    }
    (void)snprintf(text, TEXT_SIZE, "%s: saves $%s per month, %s %%", answer->column,
                   digits_of_fixed(saving, 6, 0, DIGITS_GROUPED).text,
                   digits_of_real(100 * share, 1, DIGITS_PLAIN).text);
    return text;
}

static const char *x_label(const struct usage *usage, struct arena *arena)
{
    char *text = arena_alloc(arena, TEXT_SIZE, 1);

    if (usage->has_dates)
        (void)snprintf(text, TEXT_SIZE, "days since %s", usage_time_text(usage, 0).text);
    else
        (void)snprintf(text, TEXT_SIZE, "days");
    return text;
}

/* All classes that carry something, lowest first, on demand, and the busiest hours. */
static void draw_days(struct drawing *drawing, struct chart_panel *ret)
{
    const struct commit_answer *answer = drawing->answer;
    struct chart_series *series =
        ARENA_ARRAY(drawing->arena, struct chart_series, COMMITMENT_CLASSES_MAX + 2);
    struct chart_point *promised = ARENA_ARRAY(drawing->arena, struct chart_point, 1);
    uint32_t count = 0;

    for (uint32_t i = 0; i < drawing->order_count; i++) {
        const uint32_t k = drawing->order[i];

        promised->y += k > 0 ? count_of(answer, k) : 0;
        if (k == 0 || count_of(answer, k) > 0)
            series[count++] = (struct chart_series){ .name = answer->classes[k].name,
                                                     .points = drawing->of_class[k],
                                                     .point_count = drawing->points };
    }
    series[count++] =
        (struct chart_series){ .name = drawing->step_hours == DAY_HOURS ? "busiest hour of the day"
                                                                        : "busiest hour",
                               .points = drawing->busiest,
                               .point_count = drawing->points,
                               .stroke = CHART_SHADOW };
    if (promised->y > 0)
        series[count++] = (struct chart_series){ .name = "all that is promised",
                                                 .points = promised,
                                                 .point_count = 1,
                                                 .stroke = CHART_LEVEL };
    *ret = (struct chart_panel){ .kind = CHART_AREAS,
                                 .title = panel_title(answer, drawing->arena),
                                 .x_label = x_label(answer->question->usage, drawing->arena),
                                 .y_label = "machines in use, mean of a day",
                                 .series = series,
                                 .series_count = count };
}

/* The class that carries a layer. */
static uint32_t class_of_layer(const struct drawing *drawing, uint32_t layer)
{
    for (uint32_t i = 0; i < drawing->order_count; i++) {
        const uint32_t k = drawing->order[i];
        const struct portfolio_advice_line *line = &drawing->answer->advice.of_class[k];

        if (k > 0 && layer >= line->layer && layer - line->layer < line->buy + line->held)
            return k;
    }
    return 0;
}

/* Of each bar of 'step' layers: the hours in which its lowest layer is used. */
static uint32_t *hours_of_bars(const struct drawing *drawing, uint32_t bars, uint32_t step)
{
    const struct commit_answer *answer = drawing->answer;
    uint32_t *hours = ARENA_ARRAY(drawing->arena, uint32_t, (size_t)bars + 1);

    for (uint32_t i = 0; i < answer->question->usage->hours; i++) {
        if (answer->counts[i] > 0)
            hours[(answer->counts[i] - 1) / step]++;
    }
    for (uint32_t bar = bars; bar > 0; bar--)
        hours[bar - 1] += hours[bar];
    return hours;
}

/*
 * Machine by machine from the lowest up, how busy it was; each stands as a bar of the colour of its
 * class. Of many machines some stand for their neighbours.
 */
static void draw_layers(struct drawing *drawing, struct chart_panel *ret)
{
    const struct commit_answer *answer = drawing->answer;
    const uint32_t step = answer->peak / LAYERS_MOST + 1;
    const uint32_t bars = (answer->peak + step - 1) / step;
    const uint32_t *hours = hours_of_bars(drawing, bars, step);
    struct chart_series *series =
        ARENA_ARRAY(drawing->arena, struct chart_series, COMMITMENT_CLASSES_MAX);
    uint32_t count = 0;

    for (uint32_t i = 0; i < drawing->order_count; i++) {
        const uint32_t k = drawing->order[i];
        struct chart_point *points =
            ARENA_ARRAY(drawing->arena, struct chart_point, (size_t)2 * bars);

        if (k > 0 && count_of(answer, k) == 0)
            continue;
        for (uint32_t bar = 0; bar < bars; bar++) {
            const bool is_own = class_of_layer(drawing, bar * step) == k;
            const double busy = 100.0 * hours[bar] / answer->question->usage->hours;
            struct chart_point *sides = points + (size_t)2 * bar;

            sides[0] = (struct chart_point){ bar * step, is_own ? busy : 0 };
            sides[1] = (struct chart_point){ sides[0].x + step, sides[0].y };
        }
        series[count++] = (struct chart_series){ .name = answer->classes[k].name,
                                                 .points = points,
                                                 .point_count = 2 * bars };
    }
    *ret = (struct chart_panel){ .kind = CHART_AREAS,
                                 .title = "how busy each machine was",
                                 .x_label = "machines, the lowest first",
                                 .y_label = "hours in which it was needed, %",
                                 .series = series,
                                 .series_count = count };
}

int commit_chart_write(const struct commit_answer *answers, uint32_t count, FILE *out)
{
    struct arena arena;

    assert(count > 0);
    arena_init(&arena);

    struct chart_panel *panels = ARENA_ARRAY(&arena, struct chart_panel, (size_t)2 * count);

    for (uint32_t i = 0; i < count; i++) {
        struct drawing drawing;

        drawing_init(&drawing, &answers[i], &arena);
        draw_days(&drawing, panels + (size_t)2 * i);
        draw_layers(&drawing, panels + (size_t)2 * i + 1);
    }

    const struct chart chart = { .title = "What to commit to",
                                 .panels = panels,
                                 .panel_count = 2 * count,
                                 .panels_per_row = 2,
                                 .width_px = WIDTH };
    const int rc = chart_write(&chart, out);

    arena_done(&arena);
    return rc;
}
