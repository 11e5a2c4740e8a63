/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/filling_bound_price.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    GRID = 8,    /* weights of the kinds are multiples of 1/8 */
    TOLLS = 4,   /* weightings that are used */
    CHARGES = 6, /* charges for the machine that are tried with each */
};

/* A row that is worth having: nothing of its class is smaller and worth as much. */
struct item {
    uint32_t row;
    uint32_t cls;
    double value;
    struct res demand;
};

/* A weighting of the kinds with a charge for the whole machine: what each item's share of it costs. */
struct toll {
    double charge;
    double *share; /* per item, of 1 */
    double *cost;  /* per item: charge x share */
};

struct search {
    const struct filling_question *question;
    struct filling_answer *answer;
    const struct filling_rates *rates;
    uint32_t classes;

    struct item *items; /* by class */
    uint32_t item_count;
    uint32_t *first;   /* per class, and one more: its first item */
    struct res *least; /* per class: no item takes less, kind by kind */
    struct toll tolls[TOLLS * CHARGES];
    uint32_t toll_count;
    uint32_t toll_last; /* the one that pruned last */
    uint32_t count_max; /* no more tasks than that fit */

    uint32_t *number; /* per class: its tasks */
    uint32_t count;   /* of all classes */
    double *pace;     /* [level * classes + class]: the rate of one more task of the class */
    double *rate;     /* the same of a task that is there; below the level only */
    double above;     /* what is not worth more is not looked at */

    /* The knapsack, while numbers and rates are fixed. */
    const struct toll *toll;
    const double *rate_now;
    double
        *gain_from; /* per item: the most that one place gains, by it or a later one of its class */
    double *gain_after; /* per class: the most that all places of later classes gain */
    uint32_t *taken;    /* per item */
};

static double worth_at(const struct search *search, uint32_t item, double rate)
{
    return search->items[item].value * (rate + search->rates->error);
}

static bool is_spent(const struct search *search)
{
    return search->answer->nodes >= search->question->node_most;
}

/* What is not looked at may be worth so much. */
static void give_up(struct search *search, double most)
{
    search->answer->is_finished = false;
    if (most > search->answer->most)
        search->answer->most = most;
}

/*
 * Preparation.
 */

static bool is_dominated(const struct filling_question *question, uint32_t which)
{
    const struct filling_item *items = question->offer->items;
    const uint32_t *class_of = question->rates->class_of;
    const double value = question->value[items[which].row];

    for (uint32_t i = 0; i < question->offer->item_count; i++) {
        const double other = question->value[items[i].row];

        if (i == which || class_of[items[i].row] != class_of[items[which].row] || other < value ||
            !res_fits(&items[i].demand, &items[which].demand))
            continue;
        /* Of equals the first one stays. */
        if (other > value || i < which || !res_fits(&items[which].demand, &items[i].demand))
            return true;
    }
    return false;
}

static void gather_items(struct search *search, struct arena *arena)
{
    const struct filling_question *question = search->question;
    const struct filling_offer *offer = question->offer;

    search->items = ARENA_ARRAY(arena, struct item, offer->item_count);
    search->first = ARENA_ARRAY(arena, uint32_t, search->classes + 1);
    search->least = ARENA_ARRAY(arena, struct res, search->classes);
    for (uint32_t cls = 0; cls < search->classes; cls++) {
        struct res *least = &search->least[cls];

        *least = offer->capacity;
        search->first[cls] = search->item_count;
        for (uint32_t i = 0; i < offer->item_count; i++) {
            const uint32_t row = offer->items[i].row;
            const struct res *demand = &offer->items[i].demand;

            if (question->rates->class_of[row] != cls || question->value[row] <= 0 ||
                is_dominated(question, i))
                continue;
            search->items[search->item_count++] = (struct item){
                .row = row, .cls = cls, .value = question->value[row], .demand = *demand
            };
            for (int kind = 0; kind < RES_KINDS; kind++) {
                if (demand->amount[kind] < least->amount[kind])
                    least->amount[kind] = demand->amount[kind];
            }
        }
    }
    search->first[search->classes] = search->item_count;
}

static double share_of(const struct search *search, uint32_t item, const double *weight)
{
    const struct res *capacity = &search->question->offer->capacity;
    const struct res *demand = &search->items[item].demand;
    double share = 0;

    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (capacity->amount[kind] > 0)
            share += weight[kind] * (double)demand->amount[kind] / (double)capacity->amount[kind];
    }
    return share;
}

/* The least charge at which no item, alone and undisturbed, is worth more than its share; and what
 * the smallest share says about the number of tasks. */
static double full_charge(struct search *search, const double *weight)
{
    double charge = 0;
    double least = 1;

    for (uint32_t i = 0; i < search->item_count; i++) {
        const double share = share_of(search, i, weight);

        if (share <= 0)
            return HUGE_VAL;
        if (share < least)
            least = share;
        if (worth_at(search, i, 1) / share > charge)
            charge = worth_at(search, i, 1) / share;
    }
    if (1 / least + 1 < search->count_max)
        search->count_max = (uint32_t)(1 / least + 1e-6);
    return charge;
}

/* The weightings with the lowest charges, lowest first. */
struct weighting {
    double charge;
    double weight[RES_PRICED]; /* add up to 1 */
};

static void keep_lowest(struct weighting *kept, uint32_t *count, const struct weighting *fresh)
{
    uint32_t at = *count;

    if (fresh->charge >= HUGE_VAL)
        return;
    while (at > 0 && kept[at - 1].charge > fresh->charge)
        at--;
    if (at == TOLLS)
        return;
    if (*count < TOLLS)
        (*count)++;
    for (uint32_t i = *count - 1; i > at; i--)
        kept[i] = kept[i - 1];
    kept[at] = *fresh;
}

static bool next_weights(int *weight)
{
    for (int kind = 0; kind < RES_PRICED - 1; kind++) {
        if (weight[RES_PRICED - 1] > 0) {
            weight[kind]++;
            weight[RES_PRICED - 1]--;
            return true;
        }
        weight[RES_PRICED - 1] += weight[kind];
        weight[kind] = 0;
    }
    return false;
}

static void add_toll(struct search *search, struct arena *arena, const struct weighting *of,
                     double part)
{
    struct toll *toll = &search->tolls[search->toll_count++];

    toll->charge = of->charge * part;
    toll->share = ARENA_ARRAY(arena, double, search->item_count);
    toll->cost = ARENA_ARRAY(arena, double, search->item_count);
    for (uint32_t i = 0; i < search->item_count; i++) {
        toll->share[i] = share_of(search, i, of->weight);
        toll->cost[i] = toll->charge * toll->share[i];
    }
}

/* The weighting with 'step' moved from one kind to the other, if that charges less. */
static bool shift(struct search *search, struct weighting *best, int from, int to, double step)
{
    struct weighting next = *best;

    if (next.weight[from] < step)
        return false;
    next.weight[from] -= step;
    next.weight[to] += step;
    next.charge = full_charge(search, next.weight);
    if (next.charge >= best->charge)
        return false;
    *best = next;
    return true;
}

/* Go downhill from a weighting of the grid, in ever smaller steps. */
static void refine(struct search *search, struct weighting *best)
{
    double step = 0.5 / GRID;

    while (step > 0.001) {
        bool moved = false;

        for (int from = 0; from < RES_PRICED; from++) {
            for (int to = 0; to < RES_PRICED; to++)
                moved |= from != to && shift(search, best, from, to, step);
        }
        if (!moved)
            step /= 2;
    }
}

static void make_tolls(struct search *search, struct arena *arena)
{
    struct weighting kept[TOLLS];
    int weight[RES_PRICED] = { 0 };
    uint32_t count = 0;

    search->count_max = UINT32_MAX;
    weight[RES_PRICED - 1] = GRID;
    do {
        struct weighting each;

        for (int kind = 0; kind < RES_PRICED; kind++)
            each.weight[kind] = (double)weight[kind] / GRID;
        each.charge = full_charge(search, each.weight);
        keep_lowest(kept, &count, &each);
    } while (next_weights(weight));
    if (count > 0)
        refine(search, &kept[0]);
    for (uint32_t i = 0; i < count; i++) {
        for (int k = 0; k < CHARGES; k++)
            add_toll(search, arena, &kept[i], 1.0 - k / 10.0);
    }
}

/*
 * The limit of what numbers of tasks can be worth.
 */

/* The most that a task of the class gains at the rate, after the toll. */
static double gain(const struct search *search, const struct toll *toll, uint32_t cls, double rate)
{
    double best = -HUGE_VAL;

    for (uint32_t i = search->first[cls]; i < search->first[cls + 1]; i++) {
        const double each = worth_at(search, i, rate) - toll->cost[i];

        if (each > best)
            best = each;
    }
    return best;
}

/* The most that any filling is worth that has 'number' of the classes below 'level', and of those from
 * 'open' on as many as now or more. */
static double limit_by(const struct search *search, const struct toll *toll, uint32_t level,
                       uint32_t open)
{
    const double *pace = search->pace + (size_t)level * search->classes;
    const double *rate = search->rate + (size_t)level * search->classes;
    double more = 0;
    double sum = toll->charge;

    for (uint32_t cls = 0; cls < level; cls++) {
        if (search->number[cls] > 0)
            sum += search->number[cls] * gain(search, toll, cls, rate[cls]);
    }
    for (uint32_t cls = open; cls < search->classes; cls++) {
        const double each = gain(search, toll, cls, pace[cls]);

        if (each > more)
            more = each;
    }
    return sum + more * (search->count_max - search->count);
}

/* The least limit, or the first that is low enough to prune. */
static double limit(struct search *search, uint32_t level, uint32_t open, uint32_t *ret_toll)
{
    double least = HUGE_VAL;

    for (uint32_t n = 0; n < search->toll_count; n++) {
        const uint32_t at = (search->toll_last + n) % search->toll_count;
        const double each = limit_by(search, &search->tolls[at], level, open);

        if (each < least) {
            least = each;
            *ret_toll = at;
        }
        if (least <= search->above)
            break;
    }
    search->toll_last = *ret_toll;
    return least;
}

/*
 * The knapsack.
 */

static void take_best(struct search *search, double worth)
{
    struct filling_answer *answer = search->answer;

    answer->best = worth;
    search->above = worth;
    answer->entry_count = 0;
    for (uint32_t i = 0; i < search->item_count; i++) {
        const double rate = search->rate_now[search->items[i].cls] + search->rates->error;

        if (search->taken[i] > 0)
            answer->entries[answer->entry_count++] =
                (struct master_entry){ .row = search->items[i].row,
                                       .value = search->taken[i] * rate };
    }
}

/* How many of the item fit into what is free, up to 'most'. */
static uint32_t fitting(const struct res *demand, const struct res *free, uint32_t most)
{
    int64_t count = most;

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (demand->amount[kind] > 0 && free->amount[kind] / demand->amount[kind] < count)
            count = free->amount[kind] / demand->amount[kind];
    }
    return (uint32_t)count;
}

/* The first class from this one on that has tasks; 'classes': there is none. */
static uint32_t next_class(const struct search *search, uint32_t cls)
{
    while (cls < search->classes && search->number[cls] == 0)
        cls++;
    return cls;
}

/* Fill 'places' of the item's class, at least one, from this item on, then the later classes. 'free_share' is
 * that of the toll. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are kinds of tasks, FILLING_ROWS_MAX at the most */
static void fill(struct search *search, uint32_t item, uint32_t places, const struct res *free,
                 double free_share, double worth)
{
    const uint32_t cls = search->items[item].cls;
    const double most = worth + search->toll->charge * free_share +
                        places * search->gain_from[item] + search->gain_after[cls];

    search->answer->nodes++;
    if (most <= search->above)
        return;
    if (is_spent(search)) {
        give_up(search, most);
        return;
    }

    const bool is_last = item + 1 == search->first[cls + 1];
    const uint32_t fits = fitting(&search->items[item].demand, free, places);
    const double each = worth_at(search, item, search->rate_now[cls]);

    for (uint32_t left = fits + 1; left > 0; left--) {
        const uint32_t count = left - 1;
        struct res rest = *free;

        if (is_last && count < places)
            break;
        for (int kind = 0; kind < RES_KINDS; kind++)
            rest.amount[kind] -= count * search->items[item].demand.amount[kind];
        search->taken[item] = count;

        const uint32_t next = next_class(search, cls + 1);
        const double rest_share = free_share - count * search->toll->share[item];

        if (count < places)
            fill(search, item + 1, places - count, &rest, rest_share, worth + count * each);
        else if (next < search->classes)
            fill(search, search->first[next], search->number[next], &rest, rest_share,
                 worth + count * each);
        else if (worth + count * each > search->above)
            take_best(search, worth + count * each);
    }
    search->taken[item] = 0;
}

static void fill_numbers(struct search *search, uint32_t toll)
{
    const struct res *capacity = &search->question->offer->capacity;
    const uint32_t cls = next_class(search, 0);
    double after = 0;

    search->toll = &search->tolls[toll];
    search->rate_now = search->rate + (size_t)search->classes * search->classes;
    for (uint32_t c = search->classes; c-- > 0;) {
        double most = -HUGE_VAL;

        search->gain_after[c] = after;
        for (uint32_t i = search->first[c + 1]; i-- > search->first[c];) {
            const double each = worth_at(search, i, search->rate_now[c]) - search->toll->cost[i];

            if (each > most)
                most = each;
            search->gain_from[i] = most;
        }
        if (search->number[c] > 0)
            after += search->number[c] * most;
    }
    fill(search, search->first[cls], search->number[cls], capacity, 1, 0);
}

/*
 * The numbers.
 */

/* Whether the smallest tasks of these numbers fit, kind by kind. */
static bool numbers_fit(const struct search *search, uint32_t level)
{
    const struct res *capacity = &search->question->offer->capacity;

    for (int kind = 0; kind < RES_KINDS; kind++) {
        int64_t sum = 0;

        for (uint32_t cls = 0; cls < level; cls++)
            sum += search->number[cls] * search->least[cls].amount[kind];
        if (sum > capacity->amount[kind])
            return false;
    }
    return search->count <= search->count_max;
}

/* One more task of 'class' at the level above it. */
static void slow_down(struct search *search, uint32_t cls)
{
    const uint32_t classes = search->classes;
    double *pace = search->pace + (size_t)(cls + 1) * classes;
    double *rate = search->rate + (size_t)(cls + 1) * classes;

    rate[cls] = pace[cls];
    for (uint32_t each = 0; each < cls; each++)
        rate[each] *= search->rates->rate[each * classes + cls];
    for (uint32_t each = 0; each < classes; each++)
        pace[each] *= search->rates->rate[each * classes + cls];
}

/* Try every number of tasks of the class and of the later ones. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are workloads */
static void choose_number(struct search *search, uint32_t cls)
{
    const uint32_t classes = search->classes;
    const size_t above = (size_t)(cls + 1) * classes;
    const size_t size = classes * sizeof(double);

    if (cls == classes) {
        uint32_t toll = 0;

        if (search->count > 0 && limit(search, cls, cls, &toll) > search->above)
            fill_numbers(search, toll);
        return;
    }
    memcpy(search->pace + above, search->pace + above - classes, size);
    memcpy(search->rate + above, search->rate + above - classes, size);
    for (search->number[cls] = 0; numbers_fit(search, cls + 1);) {
        uint32_t toll = 0;
        const double most = limit(search, cls + 1, cls, &toll);

        search->answer->nodes++;
        if (most <= search->above)
            break;
        if (is_spent(search)) {
            give_up(search, most);
            break;
        }
        choose_number(search, cls + 1);
        if (search->first[cls] == search->first[cls + 1])
            break;
        search->number[cls]++;
        search->count++;
        slow_down(search, cls);
    }
    search->count -= search->number[cls];
    search->number[cls] = 0;
}

/*
 * Where nobody disturbs anybody numbers do not matter: a knapsack by falling worth of a share, which begins with the
 * greedy filling. What is still to come is worth no more for its share than the next item.
 */

static double density(const struct search *search, uint32_t item)
{
    return worth_at(search, item, 1) / search->tolls[0].share[item];
}

static int compare_density(const void *left, const void *right, void *context)
{
    const uint32_t a = *(const uint32_t *)left;
    const uint32_t b = *(const uint32_t *)right;
    const double more = density(context, a) - density(context, b);

    return more > 0 ? -1 : more < 0 ? 1 : (a > b) - (a < b);
}

/* Fill what is free with the items from 'order[at]' on. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are kinds of tasks, FILLING_ROWS_MAX at the most */
static void fill_freely(struct search *search, const uint32_t *order, uint32_t at,
                        const struct res *free, double free_share, double worth)
{
    while (at < search->item_count && fitting(&search->items[order[at]].demand, free, 1) == 0)
        at++;
    search->answer->nodes++;
    if (at == search->item_count) {
        if (worth > search->above)
            take_best(search, worth);
        return;
    }

    const uint32_t item = order[at];
    const double each = worth_at(search, item, 1);
    const double share = search->tolls[0].share[item];
    const double next =
        at + 1 < search->item_count ? density(search, order[at + 1]) : 0; /* at the most */

    for (uint32_t left = fitting(&search->items[item].demand, free, UINT32_MAX - 1) + 1; left > 0;
         left--) {
        const uint32_t count = left - 1;
        const double most = worth + count * each + (free_share - count * share) * next;
        struct res rest = *free;

        if (most <= search->above)
            break; /* fewer of it are worth less still */
        if (is_spent(search)) {
            give_up(search, most);
            break;
        }
        for (int kind = 0; kind < RES_KINDS; kind++)
            rest.amount[kind] -= count * search->items[item].demand.amount[kind];
        search->taken[item] = count;
        fill_freely(search, order, at + 1, &rest, free_share - count * share, worth + count * each);
    }
    search->taken[item] = 0;
}

static void choose_freely(struct search *search, struct arena *arena)
{
    uint32_t *order = ARENA_ARRAY(arena, uint32_t, search->item_count);

    for (uint32_t i = 0; i < search->item_count; i++)
        order[i] = i;
    qsort_r(order, search->item_count, sizeof(*order), compare_density, search);
    search->rate_now = search->pace;
    fill_freely(search, order, 0, &search->question->offer->capacity, 1, 0);
}

/* Whether there is one class, and it does not disturb itself. */
static bool is_undisturbed(const struct search *search)
{
    return search->classes == 1 && search->rates->rate[0] >= 1 && search->toll_count > 0;
}

void filling_price(const struct filling_question *question, struct arena *arena,
                   struct filling_answer *ret)
{
    const uint32_t classes = question->rates->classes;
    const size_t levels = (size_t)(classes + 1) * classes;
    struct search search = { .question = question,
                             .answer = ret,
                             .rates = question->rates,
                             .classes = classes,
                             .above = question->above };

    *ret = (struct filling_answer){
        .most = question->above,
        .is_finished = true,
        .entries = ARENA_ARRAY(arena, struct master_entry, question->offer->item_count),
    };
    gather_items(&search, arena);
    if (search.item_count == 0)
        return;
    make_tolls(&search, arena);
    search.number = ARENA_ARRAY(arena, uint32_t, classes);
    search.pace = ARENA_ARRAY(arena, double, levels);
    search.rate = ARENA_ARRAY(arena, double, levels);
    search.gain_from = ARENA_ARRAY(arena, double, search.item_count);
    search.gain_after = ARENA_ARRAY(arena, double, classes);
    search.taken = ARENA_ARRAY(arena, uint32_t, search.item_count);
    for (uint32_t i = 0; i < classes; i++)
        search.pace[i] = 1;
    if (is_undisturbed(&search))
        choose_freely(&search, arena);
    else
        choose_number(&search, 0);
    if (ret->best > ret->most)
        ret->most = ret->best;
}
