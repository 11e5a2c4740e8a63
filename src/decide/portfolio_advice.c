/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What to buy now. The future is taken to be the past, stretched to the level that is forecast: as
 * many hours, each with as many machines more or fewer. On that, every plan has a cost per hour,
 * and so has every fall of demand.
 */
#include <assert.h>
#include <math.h>

#include "decide/portfolio_private.h"
#include "model/interest.h"

__extension__ typedef __int128 wide_t;

#define PPM ((uint32_t)1000000)

/* A place in a profile, from the lowest layer up. */
struct climb {
    const struct portfolio_profile *profile;
    uint32_t band;
    uint64_t layer;
};

/* The used hours of the next 'layers' layers together. */
static uint64_t climb_used(struct climb *climb, uint64_t layers)
{
    const struct portfolio_profile *profile = climb->profile;
    const uint64_t end = climb->layer + layers;
    uint64_t used = 0;

    while (climb->layer < end) {
        while (climb->band < profile->count && profile->top[climb->band] <= climb->layer)
            climb->band++;
        if (climb->band == profile->count)
            break;

        const uint64_t top = profile->top[climb->band];
        const uint64_t next = top < end ? top : end;

        used += (next - climb->layer) * profile->used[climb->band];
        climb->layer = next;
    }
    climb->layer = end;
    return used;
}

/* The mean cost of an hour of the profile with this stock, and per class the machine-hours that it
 * carries; 'ret_used' may be NULL. */
static money_t mean_cost(const struct portfolio_input *input,
                         const struct portfolio_profile *profile,
                         const struct portfolio_stock *stock, uint64_t *ret_used)
{
    uint32_t order[PORTFOLIO_CLASSES_MAX];
    const uint32_t order_count = portfolio_run_order(input, order);
    struct climb climb = { .profile = profile };
    const wide_t hours = profile->hours;
    wide_t cost = 0;

    for (uint32_t i = 0; i < order_count; i++) {
        const uint32_t k = order[i];
        const struct commitment *commitment = &input->classes[k];
        const uint64_t count = stock->of_class[k];
        const uint64_t used = climb_used(&climb, count);

        cost += (wide_t)commitment->upfront * count * hours / commitment->term_hours +
                (wide_t)commitment->per_hour * count * hours +
                (wide_t)commitment->per_used_hour * used;
        if (ret_used != NULL)
            ret_used[k] = used;
    }
    cost += (wide_t)input->classes[0].per_used_hour * climb_used(&climb, UINT32_MAX);
    return (money_t)((cost + hours / 2) / hours);
}

static money_t least_mean_cost(const struct portfolio_input *input,
                               const struct portfolio_profile *profile)
{
    wide_t cost = 0;
    uint32_t layer = 0;

    for (uint32_t i = 0; i < profile->count; i++) {
        if (profile->top[i] <= layer)
            continue;
        cost +=
            portfolio_least_cost(input, profile->hours, profile->used[i], profile->top[i] - layer);
        layer = profile->top[i];
    }
    return (money_t)(cost / profile->hours);
}

/* Everything that one answer is made of. */
struct adviser {
    const struct portfolio_question *question;
    struct portfolio_carried carried;
    const struct portfolio_input *input; /* the carried one */
    struct portfolio_past past;
    struct portfolio_stock held;    /* by what each is */
    struct portfolio_stock counted; /* by what each counts as */
    struct portfolio_stock bought;
    uint32_t *tops; /* of the profile that is looked at */
};

static void adviser_init(struct adviser *adviser, const struct portfolio_question *question,
                         struct arena *arena)
{
    const struct portfolio_input *input = &adviser->carried.input;

    *adviser = (struct adviser){ .question = question, .input = input };
    portfolio_carry(&question->input, &adviser->carried);

    const uint32_t interval = portfolio_interval(input);

    portfolio_past_init(&adviser->past, input, &question->outlook.demand, arena);
    adviser->tops = ARENA_ARRAY(arena, uint32_t, adviser->past.bands.count + 1);

    /* Whole intervals that end now; a history shorter than one is an interval of its own. */
    if (input->hours < interval)
        portfolio_past_learn(&adviser->past, 0, input->hours);
    for (uint32_t from = input->hours % interval; from + interval <= input->hours; from += interval)
        portfolio_past_learn(&adviser->past, from, from + interval);

    for (uint32_t i = 0; i < question->held_count; i++) {
        const struct portfolio_holding *held = &question->held[i];

        assert(held->class_index > 0 && held->class_index < input->class_count);
        adviser->held.of_class[held->class_index] += held->count;
        adviser->counted
            .of_class[portfolio_counts_as(input, held->class_index, held->left_hours)] +=
            held->count;
    }
}

/* What the rules buy for 'factor' times the expected demand. */
static void buy_for(struct adviser *adviser, double factor, struct portfolio_stock *ret)
{
    struct portfolio_profile profiles[PORTFOLIO_CLASSES_MAX] = { 0 };
    struct portfolio_stock desired;

    *ret = (struct portfolio_stock){ 0 };
    if (adviser->past.demand.count < adviser->question->outlook.intervals_least)
        return;
    portfolio_past_profiles(&adviser->past, factor, profiles);
    portfolio_desire(adviser->input, profiles, &desired);
    portfolio_restock(adviser->input, &desired, &adviser->counted, ret);
}

static struct portfolio_stock joined(const struct portfolio_stock *a,
                                     const struct portfolio_stock *b)
{
    struct portfolio_stock sum = { 0 };

    for (uint32_t k = 0; k < PORTFOLIO_CLASSES_MAX; k++)
        sum.of_class[k] = a->of_class[k] + b->of_class[k];
    return sum;
}

/* The past at 'scale' times its level. Valid until it is asked again. */
static struct portfolio_profile profile_at(struct adviser *adviser, double scale)
{
    const struct portfolio_past *past = &adviser->past;

    portfolio_used_hours(past->at_rank, past->bands.count, past->used);
    portfolio_scale_tops(past->bands.top, past->bands.count, scale, adviser->tops);
    return (struct portfolio_profile){
        .count = past->bands.count, .hours = past->hours, .top = adviser->tops, .used = past->used
    };
}

static struct portfolio_rates rates_at(struct adviser *adviser, double scale, double factor,
                                       uint64_t *ret_used)
{
    const struct portfolio_input *input = adviser->input;
    const struct portfolio_stock none = { 0 };
    struct portfolio_stock other;

    buy_for(adviser, factor, &other);

    const struct portfolio_profile profile = profile_at(adviser, scale * factor);
    const struct portfolio_stock with = joined(&adviser->held, &adviser->bought);
    const struct portfolio_stock best = joined(&adviser->held, &other);

    return (struct portfolio_rates){
        .on_demand = mean_cost(input, &profile, &none, NULL),
        .without = mean_cost(input, &profile, &adviser->held, NULL),
        .with = mean_cost(input, &profile, &with, ret_used),
        .best = mean_cost(input, &profile, &best, NULL),
        .least = least_mean_cost(input, &profile),
    };
}

/* The less demand, the less is saved; so halve the interval in which nothing is saved any more. */
static uint32_t find_break_even(struct adviser *adviser, double scale)
{
    const struct portfolio_stock with = joined(&adviser->held, &adviser->bought);
    uint32_t low = 0;
    uint32_t high = PPM;

    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        const struct portfolio_profile profile =
            profile_at(adviser, scale * (PPM - middle) / (double)PPM);

        if (mean_cost(adviser->input, &profile, &with, NULL) <=
            mean_cost(adviser->input, &profile, &adviser->held, NULL))
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The longest term of what is bought; if nothing is, of what could be. */
static uint32_t find_horizon(const struct adviser *adviser)
{
    uint32_t bought = 0;
    uint32_t any = portfolio_interval(adviser->input);

    for (uint32_t k = 1; k < adviser->input->class_count; k++) {
        const uint32_t term = adviser->input->classes[k].term_hours;

        if (adviser->bought.of_class[k] > 0 && term > bought)
            bought = term;
        if (term > any)
            any = term;
    }
    return bought > 0 ? bought : any;
}

static void fill_lines(struct adviser *adviser, struct portfolio_advice *advice)
{
    uint32_t order[PORTFOLIO_CLASSES_MAX];
    const uint32_t order_count = portfolio_run_order(adviser->input, order);
    uint64_t layer = 0;

    for (uint32_t i = 0; i < order_count; i++) {
        const uint32_t k = order[i];
        struct portfolio_advice_line *line = &advice->of_class[k];

        line->buy = (uint32_t)adviser->bought.of_class[k];
        line->held = (uint32_t)adviser->held.of_class[k];
        line->layer = (uint32_t)layer;
        layer += (uint64_t)line->buy + line->held;
        advice->upfront += adviser->question->input.classes[k].upfront * line->buy;
    }
}

/* The share of their hours in which the machines of a class are used. */
static double busy_of(const struct adviser *adviser, const struct portfolio_advice_line *line,
                      uint64_t used)
{
    const uint64_t count = (uint64_t)line->buy + line->held;

    return count > 0 ? (double)used / ((double)count * adviser->past.hours) : 0;
}

static money_t narrow(wide_t value)
{
    return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (money_t)value;
}

/* What the machines of a class save by their hourly prices, against what they cost upfront. Those
 * that are held join in: they share the layers evenly. */
static uint32_t payback_of(const struct adviser *adviser, uint32_t k,
                           const struct portfolio_advice_line *line, uint64_t used)
{
    const struct portfolio_input *input = &adviser->question->input;
    const struct commitment *own = &input->classes[k];
    const uint32_t hours = adviser->past.hours;
    const wide_t count = (wide_t)line->buy + line->held;
    const wide_t each = input->classes[0].per_used_hour - own->per_used_hour;

    if (line->buy == 0)
        return 0;
    return interest_payback(input->interest_ppm, narrow(count * own->upfront),
                            narrow(used * each - count * hours * own->per_hour), hours,
                            own->term_hours);
}

void portfolio_advise(const struct portfolio_question *question, struct arena *arena,
                      struct portfolio_advice *ret)
{
    uint64_t seen[PORTFOLIO_CLASSES_MAX] = { 0 };
    uint64_t expected[PORTFOLIO_CLASSES_MAX] = { 0 };
    uint64_t fallen[PORTFOLIO_CLASSES_MAX] = { 0 };
    struct portfolio_advice advice = { .upfront = 0 };
    struct adviser adviser;

    assert(portfolio_is_sound(&question->input));
    assert(question->input.hours > 0);
    assert(question->fall_ppm <= PPM);
    adviser_init(&adviser, question, arena);
    buy_for(&adviser, 1, &adviser.bought);
    advice.horizon_hours = find_horizon(&adviser);

    const double scale = portfolio_past_scale(&adviser.past, advice.horizon_hours);
    const double rest = (PPM - question->fall_ppm) / (double)PPM;

    advice.seen_mean = demand_seen_mean(&adviser.past.demand);
    advice.expected_mean = advice.seen_mean * scale;
    (void)rates_at(&adviser, 1, 1, seen);
    advice.expected = rates_at(&adviser, scale, 1, expected);
    advice.fallen = rates_at(&adviser, scale, rest, fallen);
    advice.break_even_ppm = find_break_even(&adviser, scale);
    fill_lines(&adviser, &advice);
    for (uint32_t k = 1; k < question->input.class_count; k++) {
        struct portfolio_advice_line *line = &advice.of_class[k];

        line->busy_seen = busy_of(&adviser, line, seen[k]);
        line->busy = busy_of(&adviser, line, expected[k]);
        line->busy_fallen = busy_of(&adviser, line, fallen[k]);
        line->payback_month = payback_of(&adviser, k, line, expected[k]);
    }
    *ret = advice;
}
