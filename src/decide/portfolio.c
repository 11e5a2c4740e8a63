/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two planners. Both walk through the history, interval by interval:
 *
 * 1. For each class, how often is each band used during the term that would begin now? The greedy
 *    planner looks; the online one takes the profile of all past hours, stretched to the level that
 *    is forecast for the term.
 * 2. portfolio_desire gives each layer the class that makes its used hours cheapest. For classes of
 *    one term that is the ladder of minimum utilisation levels: light use against on demand, medium
 *    against light, heavy against medium.
 * 3. What is in stock counts as the class whose term its remaining time resembles.
 * 4. portfolio_restock buys what is missing.
 *
 * The window of a term that reaches beyond the history ends with the history, in step 1 as in the
 * pure cost.
 */
#include "decide/portfolio.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "decide/portfolio_private.h"

/* Bands. */

static int compare_counts(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;

    return (left > right) - (left < right);
}

/* How many of 'sorted' are at most 'value'. */
static uint32_t rank_of(const uint32_t *sorted, uint32_t count, uint32_t value)
{
    uint32_t low = 0;

    while (count > 0) {
        const uint32_t half = count / 2;

        if (sorted[low + half] <= value) {
            low += half + 1;
            count -= half + 1;
        } else {
            count = half;
        }
    }
    return low;
}

void portfolio_bands_find(const struct portfolio_input *input, struct arena *arena,
                          struct portfolio_bands *ret)
{
    uint32_t *top = ARENA_ARRAY(arena, uint32_t, input->hours + 1);
    uint32_t *rank = ARENA_ARRAY(arena, uint32_t, input->hours + 1);
    uint32_t count = 0;

    for (uint32_t i = 0; i < input->hours; i++)
        top[i] = input->usage[i];
    qsort(top, input->hours, sizeof(*top), compare_counts);
    for (uint32_t i = 0; i < input->hours; i++) {
        if (top[i] > (count > 0 ? top[count - 1] : 0))
            top[count++] = top[i];
    }
    for (uint32_t i = 0; i < input->hours; i++)
        rank[i] = rank_of(top, count, input->usage[i]);
    *ret = (struct portfolio_bands){ .count = count, .top = top, .rank = rank };
}

void portfolio_used_hours(const uint32_t *at_rank, uint32_t bands, uint32_t *ret)
{
    uint32_t hours = 0;

    for (uint32_t i = bands; i > 0; i--) {
        hours += at_rank[i];
        ret[i - 1] = hours;
    }
}

void portfolio_scale_tops(const uint32_t *tops, uint32_t count, double scale, uint32_t *ret)
{
    for (uint32_t i = 0; i < count; i++)
        ret[i] = (uint32_t)fmin(UINT32_MAX, floor(tops[i] * scale + 0.5));
}

/* The rule for what to buy. */

/* Of the bands that the cursors point to, the class that makes a used hour cheapest. */
static uint32_t cheapest_class(const struct portfolio_input *input, const double *fixed,
                               const struct portfolio_profile *of_class, const uint32_t *cursor)
{
    double least = (double)input->classes[0].per_used_hour;
    uint32_t best = 0;

    for (uint32_t k = 1; k < input->class_count; k++) {
        const struct portfolio_profile *profile = &of_class[k];

        if (cursor[k] == profile->count || profile->used[cursor[k]] == 0)
            continue;

        const double share = (double)profile->hours / profile->used[cursor[k]];
        const double price = fixed[k] * share + (double)input->classes[k].per_used_hour;

        if (price < least) {
            least = price;
            best = k;
        }
    }
    return best;
}

void portfolio_desire(const struct portfolio_input *input, const struct portfolio_profile *of_class,
                      struct portfolio_stock *ret)
{
    double fixed[PORTFOLIO_CLASSES_MAX] = { 0 };
    uint32_t cursor[PORTFOLIO_CLASSES_MAX] = { 0 };

    for (uint32_t k = 1; k < input->class_count; k++)
        fixed[k] = commitment_fixed_rate(&input->classes[k]);

    *ret = (struct portfolio_stock){ 0 };
    for (uint32_t layer = 0;;) {
        uint32_t next = UINT32_MAX;

        for (uint32_t k = 1; k < input->class_count; k++) {
            const struct portfolio_profile *profile = &of_class[k];

            while (cursor[k] < profile->count && profile->top[cursor[k]] <= layer)
                cursor[k]++;
            if (cursor[k] < profile->count && profile->top[cursor[k]] < next)
                next = profile->top[cursor[k]];
        }
        if (next == UINT32_MAX)
            return;
        ret->of_class[cheapest_class(input, fixed, of_class, cursor)] += next - layer;
        layer = next;
    }
}

/*
 * A commitment with little time left is no longer what it was: three years with ten months to go
 * are one year to who plans. It counts as a class of the shortest term that still holds what is
 * left, and of those as the one that is nearest in what a used hour costs to run.
 */
uint32_t portfolio_counts_as(const struct portfolio_input *input, uint32_t class_index,
                             uint32_t left_hours)
{
    const struct commitment *own = &input->classes[class_index];
    const double running = (double)(own->per_used_hour + own->per_hour);
    uint32_t term = own->term_hours;
    uint32_t best = class_index;
    double nearest = HUGE_VAL;

    for (uint32_t k = 1; k < input->class_count; k++) {
        const uint32_t other = input->classes[k].term_hours;

        if (other >= left_hours && other < term)
            term = other;
    }
    if (term == own->term_hours)
        return class_index;
    for (uint32_t k = 1; k < input->class_count; k++) {
        const struct commitment *other = &input->classes[k];
        const double distance = fabs((double)(other->per_used_hour + other->per_hour) - running);

        if (other->term_hours == term && distance < nearest) {
            nearest = distance;
            best = k;
        }
    }
    return best;
}

/*
 * First as many as are missing in all: where one class has more than it should, others need less.
 * Then of the classes that have too few, those first that are cheapest in every hour: they lie
 * lowest.
 */
void portfolio_restock(const struct portfolio_input *input, const struct portfolio_stock *desired,
                       const struct portfolio_stock *stock, struct portfolio_stock *ret)
{
    uint32_t order[PORTFOLIO_CLASSES_MAX];
    const uint32_t count = portfolio_run_order(input, order);
    int64_t missing = 0;

    *ret = (struct portfolio_stock){ 0 };
    for (uint32_t i = 0; i < count; i++)
        missing += (int64_t)desired->of_class[order[i]] - (int64_t)stock->of_class[order[i]];
    for (uint32_t i = 0; i < count && missing > 0; i++) {
        const uint32_t k = order[i];
        const int64_t lacks = (int64_t)desired->of_class[k] - (int64_t)stock->of_class[k];

        if (lacks <= 0)
            continue;
        ret->of_class[k] = (uint64_t)(lacks < missing ? lacks : missing);
        missing -= (int64_t)ret->of_class[k];
    }
}

/* Buying, interval by interval. */

/* What a planner has bought so far. */
struct shelf {
    const struct portfolio_input *input;
    struct portfolio_plan *plan;
};

static void shelf_init(struct shelf *shelf, const struct portfolio_input *input,
                       struct portfolio_plan *plan, struct arena *arena)
{
    const size_t intervals = input->hours / portfolio_interval(input) + 1;

    *plan = (struct portfolio_plan){ 0 };
    plan->purchases = ARENA_ARRAY(arena, struct portfolio_purchase, intervals * input->class_count);
    *shelf = (struct shelf){ .input = input, .plan = plan };
}

static void shelf_count(const struct shelf *shelf, uint32_t now, struct portfolio_stock *ret)
{
    *ret = (struct portfolio_stock){ 0 };
    for (uint32_t i = 0; i < shelf->plan->count; i++) {
        const struct portfolio_purchase *bought = &shelf->plan->purchases[i];
        const uint32_t term = shelf->input->classes[bought->class_index].term_hours;
        const uint32_t age = now - bought->hour;

        if (age < term)
            ret->of_class[portfolio_counts_as(shelf->input, bought->class_index, term - age)] +=
                bought->count;
    }
}

/* Buy what the profiles ask for and the shelf does not have. */
static void shelf_fill(struct shelf *shelf, const struct portfolio_profile *of_class, uint32_t now)
{
    struct portfolio_stock desired;
    struct portfolio_stock stock;
    struct portfolio_stock missing;

    portfolio_desire(shelf->input, of_class, &desired);
    shelf_count(shelf, now, &stock);
    portfolio_restock(shelf->input, &desired, &stock, &missing);
    for (uint32_t k = 1; k < shelf->input->class_count; k++) {
        if (missing.of_class[k] > 0)
            shelf->plan->purchases[shelf->plan->count++] = (struct portfolio_purchase){
                .hour = now, .class_index = k, .count = (uint32_t)missing.of_class[k]
            };
    }
}

/* The hours of one term that lie ahead; slid along the history. */
struct window {
    uint32_t term_hours;
    uint32_t from;
    uint32_t to;
    uint32_t *at_rank; /* hours of each rank within */
    uint32_t *used;
};

static void window_slide(struct window *window, const struct portfolio_bands *bands, uint32_t from,
                         uint32_t to)
{
    for (; window->to < to; window->to++)
        window->at_rank[bands->rank[window->to]]++;
    for (; window->from < from; window->from++)
        window->at_rank[bands->rank[window->from]]--;
    portfolio_used_hours(window->at_rank, bands->count, window->used);
}

/* One window per different term; 'ret_of_class' says which is whose. */
static uint32_t open_windows(const struct portfolio_input *input, uint32_t bands,
                             struct arena *arena, struct window *ret, uint32_t *ret_of_class)
{
    uint32_t count = 0;

    for (uint32_t k = 1; k < input->class_count; k++) {
        const uint32_t term = input->classes[k].term_hours;
        uint32_t i = 0;

        while (i < count && ret[i].term_hours != term)
            i++;
        if (i == count)
            ret[count++] = (struct window){ .term_hours = term,
                                            .at_rank = ARENA_ARRAY(arena, uint32_t, bands + 1),
                                            .used = ARENA_ARRAY(arena, uint32_t, bands + 1) };
        ret_of_class[k] = i;
    }
    return count;
}

/*
 * Each purchase pays for itself where it is meant to lie. Later ones may push it up to layers that
 * are used less, so that all together, very rarely, cost more than none: on 3 of 30,000 random
 * histories with random classes. Who knows the future knows that too, and buys nothing.
 */
static void keep_if_cheaper(const struct portfolio_input *input, struct portfolio_plan *plan)
{
    const struct portfolio_plan none = { 0 };
    struct portfolio_bill with;
    struct portfolio_bill without;

    portfolio_cost(input, plan, &with);
    portfolio_cost(input, &none, &without);
    if (with.pure > without.pure)
        plan->count = 0;
}

void portfolio_greedy(const struct portfolio_input *input, struct arena *arena,
                      struct portfolio_plan *ret)
{
    struct portfolio_profile profiles[PORTFOLIO_CLASSES_MAX] = { 0 };
    struct window windows[PORTFOLIO_CLASSES_MAX] = { 0 };
    uint32_t of_class[PORTFOLIO_CLASSES_MAX] = { 0 };
    struct portfolio_carried carried;
    struct portfolio_bands bands;
    struct shelf shelf;

    assert(portfolio_is_sound(input));
    portfolio_carry(input, &carried);
    portfolio_bands_find(input, arena, &bands);

    const uint32_t window_count = open_windows(input, bands.count, arena, windows, of_class);

    shelf_init(&shelf, &carried.input, ret, arena);
    for (uint32_t now = 0; now < input->hours; now += portfolio_interval(input)) {
        const uint32_t left = input->hours - now;

        for (uint32_t i = 0; i < window_count; i++) {
            const uint32_t term = windows[i].term_hours;

            window_slide(&windows[i], &bands, now, now + (term < left ? term : left));
        }
        for (uint32_t k = 1; k < input->class_count; k++) {
            const struct window *window = &windows[of_class[k]];

            profiles[k] = (struct portfolio_profile){ .count = bands.count,
                                                      .hours = window->to - window->from,
                                                      .top = bands.top,
                                                      .used = window->used };
        }
        shelf_fill(&shelf, profiles, now);
    }
    keep_if_cheaper(&carried.input, ret);
}

/* The past. */

void portfolio_past_init(struct portfolio_past *past, const struct portfolio_input *input,
                         const struct demand_options *options, struct arena *arena)
{
    *past = (struct portfolio_past){ .input = input };
    portfolio_bands_find(input, arena, &past->bands);
    past->at_rank = ARENA_ARRAY(arena, uint32_t, past->bands.count + 1);
    past->used = ARENA_ARRAY(arena, uint32_t, past->bands.count + 1);
    for (uint32_t k = 1; k < input->class_count; k++)
        past->tops[k] = ARENA_ARRAY(arena, uint32_t, past->bands.count + 1);
    demand_init(&past->demand, options);
}

void portfolio_past_learn(struct portfolio_past *past, uint32_t from, uint32_t to)
{
    uint64_t sum = 0;

    assert(from < to);
    for (uint32_t i = from; i < to; i++) {
        past->at_rank[past->bands.rank[i]]++;
        sum += past->input->usage[i];
    }
    past->hours += to - from;
    demand_observe(&past->demand, (double)sum / (to - from));
}

double portfolio_past_scale(const struct portfolio_past *past, uint32_t hours)
{
    const uint32_t interval = portfolio_interval(past->input);
    const double seen = demand_seen_mean(&past->demand);
    const uint32_t ahead = (hours + interval - 1) / interval;

    return seen > 0 ? demand_forecast_mean(&past->demand, ahead) / seen : 0;
}

/* The first class with the term of class 'index'. */
static uint32_t first_of_term(const struct portfolio_input *input, uint32_t index)
{
    uint32_t k = 1;

    while (input->classes[k].term_hours != input->classes[index].term_hours)
        k++;
    return k;
}

void portfolio_past_profiles(struct portfolio_past *past, double factor,
                             struct portfolio_profile *ret)
{
    const struct portfolio_bands *bands = &past->bands;

    portfolio_used_hours(past->at_rank, bands->count, past->used);
    for (uint32_t k = 1; k < past->input->class_count; k++) {
        const uint32_t first = first_of_term(past->input, k);
        const uint32_t term = past->input->classes[k].term_hours;

        if (first == k)
            portfolio_scale_tops(bands->top, bands->count,
                                 portfolio_past_scale(past, term) * factor, past->tops[k]);
        ret[k] = (struct portfolio_profile){ .count = bands->count,
                                             .hours = past->hours,
                                             .top = past->tops[first],
                                             .used = past->used };
    }
}

void portfolio_online(const struct portfolio_input *input, const struct portfolio_outlook *outlook,
                      struct arena *arena, struct portfolio_plan *ret)
{
    const uint32_t interval = portfolio_interval(input);
    struct portfolio_profile profiles[PORTFOLIO_CLASSES_MAX] = { 0 };
    struct portfolio_carried carried;
    struct portfolio_past past;
    struct shelf shelf;

    assert(portfolio_is_sound(input));
    portfolio_carry(input, &carried);
    portfolio_past_init(&past, &carried.input, &outlook->demand, arena);
    shelf_init(&shelf, &carried.input, ret, arena);
    for (uint32_t now = interval; now < input->hours; now += interval) {
        portfolio_past_learn(&past, now - interval, now);
        if (past.demand.count < outlook->intervals_least)
            continue;
        portfolio_past_profiles(&past, 1, profiles);
        shelf_fill(&shelf, profiles, now);
    }
}
