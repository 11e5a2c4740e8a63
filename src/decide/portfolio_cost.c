/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plan costs, and what no plan goes below.
 *
 * The bound gives each layer, in each interval, whatever class suits it best there, as if one could
 * change every week. That is below every plan as long as what is in stock does not change within
 * the interval. Purchases come at its start, but a term of 8,760 hours ends in the middle of a
 * week; so weeks in which something may end are cut there.
 */
#include <assert.h>
#include <stdlib.h>

#include "decide/portfolio_private.h"
#include "model/interest.h"

void portfolio_carry(const struct portfolio_input *input, struct portfolio_carried *ret)
{
    ret->input = *input;
    ret->input.classes = ret->classes;
    ret->input.interest_ppm = 0;
    for (uint32_t k = 0; k < input->class_count; k++)
        ret->classes[k] = commitment_carried(&input->classes[k], input->interest_ppm);
}

uint32_t portfolio_interval(const struct portfolio_input *input)
{
    return input->interval_hours > 0 ? input->interval_hours : PORTFOLIO_WEEK_HOURS;
}

uint32_t portfolio_run_order(const struct portfolio_input *input,
                             uint32_t ret[static PORTFOLIO_CLASSES_MAX])
{
    uint32_t count = 0;

    for (uint32_t k = 1; k < input->class_count; k++) {
        uint32_t at = count++;

        for (;
             at > 0 && input->classes[ret[at - 1]].per_used_hour > input->classes[k].per_used_hour;
             at--)
            ret[at] = ret[at - 1];
        ret[at] = k;
    }
    return count;
}

__extension__ typedef __int128 wide_t;

static const int64_t sum_max = INT64_MAX / 4;

/* Whether every hour of a machine, up to a term beyond the history, can be paid for. */
static bool is_affordable(const struct portfolio_input *input, const struct commitment *listed,
                          uint32_t peak)
{
    const struct commitment carried = commitment_carried(listed, input->interest_ppm);
    const struct commitment *commitment = &carried;
    const wide_t hours = (wide_t)input->hours + commitment->term_hours;
    const wide_t terms = commitment->term_hours > 0 ? hours / commitment->term_hours + 1 : 0;
    const wide_t rate = (wide_t)commitment->per_used_hour + commitment->per_hour;

    return (terms * commitment->upfront + hours * rate) * ((wide_t)peak + 1) <= sum_max;
}

static bool is_class_sound(const struct portfolio_input *input, uint32_t index, uint32_t peak)
{
    const struct commitment *commitment = &input->classes[index];

    if (commitment->unit != COMMITMENT_INSTANCE)
        return false;
    if (commitment->term_hours > PORTFOLIO_HOURS_MAX ||
        (commitment->term_hours == 0) != (index == 0))
        return false;
    if (commitment->upfront < 0 || commitment->upfront > sum_max)
        return false;
    if (commitment->per_hour < 0 || commitment->per_hour > sum_max)
        return false;
    if (commitment->per_used_hour < 0 ||
        commitment->per_used_hour > input->classes[0].per_used_hour)
        return false;
    if (index == 0 && (commitment->upfront != 0 || commitment->per_hour != 0))
        return false;
    return is_affordable(input, commitment, peak);
}

bool portfolio_is_sound(const struct portfolio_input *input)
{
    uint32_t peak = 0;

    if (input->class_count == 0 || input->class_count > PORTFOLIO_CLASSES_MAX)
        return false;
    if (input->hours > PORTFOLIO_HOURS_MAX || input->interval_hours > PORTFOLIO_HOURS_MAX)
        return false;
    if (input->interest_ppm > INTEREST_MAX_PPM)
        return false;
    for (uint32_t i = 0; i < input->hours; i++)
        peak = input->usage[i] > peak ? input->usage[i] : peak;
    if (peak == UINT32_MAX || input->classes[0].per_used_hour > sum_max)
        return false;
    for (uint32_t k = 0; k < input->class_count; k++) {
        if (!is_class_sound(input, k, peak))
            return false;
    }
    return true;
}

/* The bill. */

/* Upfront payments, and what is due after the history. */
static void charge_purchase(const struct portfolio_input *input,
                            const struct portfolio_carried *carried,
                            const struct portfolio_purchase *purchase, struct portfolio_line *line)
{
    const struct commitment *commitment = &input->classes[purchase->class_index];
    const uint32_t left = input->hours - purchase->hour;
    const uint32_t beyond = commitment->term_hours > left ? commitment->term_hours - left : 0;
    const money_t borne = carried->classes[purchase->class_index].upfront * purchase->count;

    line->bought += purchase->count;
    line->upfront += commitment->upfront * purchase->count;
    line->upfront_inside += borne - mul_div(borne, beyond, commitment->term_hours);
    line->owed += commitment->per_hour * purchase->count * beyond;
}

/* What the stock is in an hour, kept by two cursors per class: purchases in order begin in order,
 * and those of one class end in order too. */
struct till {
    const struct portfolio_input *input;
    const struct portfolio_plan *plan;
    uint32_t begun;                        /* purchases that have begun */
    uint32_t ended[PORTFOLIO_CLASSES_MAX]; /* of each class: purchases before this have ended */
    uint64_t stock[PORTFOLIO_CLASSES_MAX];
};

static void till_begin(struct till *till, uint32_t hour)
{
    for (; till->begun < till->plan->count; till->begun++) {
        const struct portfolio_purchase *purchase = &till->plan->purchases[till->begun];

        if (purchase->hour > hour)
            return;
        till->stock[purchase->class_index] += purchase->count;
    }
}

static void till_end(struct till *till, uint32_t class_index, uint32_t hour)
{
    const uint32_t term = till->input->classes[class_index].term_hours;
    uint32_t *at = &till->ended[class_index];

    for (; *at < till->begun; (*at)++) {
        const struct portfolio_purchase *purchase = &till->plan->purchases[*at];

        if (purchase->class_index != class_index)
            continue;
        if (hour - purchase->hour < term)
            return;
        till->stock[class_index] -= purchase->count;
    }
}

/* One hour: the cheapest to run first, what is left on demand. */
static void charge_hour(const struct till *till, const uint32_t *order, uint32_t order_count,
                        uint32_t usage, struct portfolio_bill *bill)
{
    uint64_t left = usage;

    for (uint32_t i = 0; i < order_count; i++) {
        const uint64_t stock = till->stock[order[i]];
        const uint64_t used = left < stock ? left : stock;
        struct portfolio_line *line = &bill->of_class[order[i]];

        line->used_hours += used;
        line->idle_hours += stock - used;
        left -= used;
    }
    bill->of_class[0].used_hours += left;
}

/* From hours to money. */
static void settle(const struct portfolio_carried *carried, struct portfolio_bill *bill)
{
    for (uint32_t k = 0; k < carried->input.class_count; k++) {
        const struct commitment *commitment = &carried->classes[k];
        struct portfolio_line *line = &bill->of_class[k];
        const int64_t used = (int64_t)line->used_hours;
        const int64_t idle = (int64_t)line->idle_hours;

        line->hourly = used * commitment->per_used_hour + (used + idle) * commitment->per_hour;
        if (k > 0)
            line->idle = idle * commitment->per_hour +
                         mul_div(idle, commitment->upfront, commitment->term_hours);
        bill->total += line->upfront + line->hourly;
        bill->pure += line->upfront_inside + line->hourly;
    }
}

void portfolio_cost(const struct portfolio_input *input, const struct portfolio_plan *plan,
                    struct portfolio_bill *ret)
{
    struct till till = { .input = input, .plan = plan };
    uint32_t order[PORTFOLIO_CLASSES_MAX];
    const uint32_t order_count = portfolio_run_order(input, order);
    struct portfolio_bill bill = { .total = 0 };
    struct portfolio_carried carried;

    assert(portfolio_is_sound(input));
    portfolio_carry(input, &carried);
    for (uint32_t i = 0; i < plan->count; i++) {
        const struct portfolio_purchase *purchase = &plan->purchases[i];

        assert(purchase->class_index > 0 && purchase->class_index < input->class_count);
        assert(i == 0 || purchase->hour >= plan->purchases[i - 1].hour);
        if (purchase->hour < input->hours)
            charge_purchase(input, &carried, purchase, &bill.of_class[purchase->class_index]);
    }
    for (uint32_t hour = 0; hour < input->hours; hour++) {
        till_begin(&till, hour);
        for (uint32_t k = 1; k < input->class_count; k++)
            till_end(&till, k, hour);
        charge_hour(&till, order, order_count, input->usage[hour], &bill);
    }
    settle(&carried, &bill);
    *ret = bill;
}

/* The bound. */

static int compare_falling(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a;
    const uint32_t right = *(const uint32_t *)b;

    return (left < right) - (left > right);
}

money_t portfolio_least_cost(const struct portfolio_input *input, uint32_t hours, uint32_t used,
                             uint32_t layers)
{
    const wide_t on_demand = (wide_t)input->classes[0].per_used_hour * used * layers;
    wide_t least = on_demand;

    for (uint32_t k = 1; k < input->class_count; k++) {
        const struct commitment *commitment = &input->classes[k];
        const wide_t hourly =
            (wide_t)commitment->per_used_hour * used + (wide_t)commitment->per_hour * hours;
        const wide_t upfront =
            (wide_t)commitment->upfront * hours * layers / commitment->term_hours;

        if (upfront + hourly * layers < least)
            least = upfront + hourly * layers;
    }
    return (money_t)least;
}

/* The bound of [from, to), within which the stock does not change; 'sorted' has room for it. */
static money_t bound_span(const struct portfolio_input *input, uint32_t from, uint32_t to,
                          uint32_t *sorted)
{
    const uint32_t hours = to - from;
    money_t sum = 0;

    for (uint32_t i = 0; i < hours; i++)
        sorted[i] = input->usage[from + i];
    qsort(sorted, hours, sizeof(*sorted), compare_falling);
    /* The layers between two neighbours of the sorted counts are used in the hours so far. */
    for (uint32_t i = 0; i < hours; i++) {
        const uint32_t below = i + 1 < hours ? sorted[i + 1] : 0;

        if (sorted[i] > below)
            sum += portfolio_least_cost(input, hours, i + 1, sorted[i] - below);
    }
    return sum;
}

/* The first hour after 'from', at most 'to', at which a commitment may end: 'start' began the
 * interval, and all purchases are whole intervals before it. */
static uint32_t next_end(const struct portfolio_input *input, uint32_t start, uint32_t from,
                         uint32_t to)
{
    const uint32_t interval = portfolio_interval(input);

    for (uint32_t k = 1; k < input->class_count; k++) {
        const uint32_t term = input->classes[k].term_hours;
        const uint32_t end = start + term % interval;

        if (end >= term && end > from && end < to)
            to = end;
    }
    return to;
}

money_t portfolio_bound(const struct portfolio_input *input, struct arena *arena)
{
    const uint32_t interval = portfolio_interval(input);
    uint32_t *sorted = ARENA_ARRAY(arena, uint32_t, interval);
    struct portfolio_carried carried;
    money_t sum = 0;

    assert(portfolio_is_sound(input));
    portfolio_carry(input, &carried);
    for (uint32_t start = 0; start < input->hours; start += interval) {
        const uint32_t end = input->hours - start < interval ? input->hours : start + interval;

        for (uint32_t from = start; from < end;) {
            const uint32_t to = next_end(input, start, from, end);

            sum += bound_span(&carried.input, from, to, sorted);
            from = to;
        }
    }
    return sum;
}
