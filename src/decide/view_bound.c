/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/view_bound.h"

#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "decide/bound.h"
#include "decide/filling_bound.h"
#include "decide/price_bound.h"

struct view_bound {
    struct arena arena;
    struct view_bound_spec spec;
    struct view_bound_answer answer;
    const struct catalogue *catalogue;
    const struct shapes *shapes;
    money_t *price;
    uint32_t offer_count;
    struct bound_demand *demands;
    uint32_t demand_count;
    uint32_t added; /* so many demands are in the sums */
    struct bound_sums sums;
    uint32_t priced; /* and in the bound by prices */
    struct price_bound by_prices;
    struct filling_search *filling; /* NULL: it has not begun */
    bool has_ended;
};

static bool counts(const struct view *view, const struct view_bound_spec *spec, uint32_t task)
{
    const enum task_state state = view->task.state[task];

    return state != TASK_FREE && (spec->is_of_all || view->task.instance[task] != ROW_NONE);
}

/* The tasks by shape. A job that must be in one zone could be in any: the shape without that choice counts. */
static void gather_demands(struct view_bound *search, const struct view *view)
{
    const uint32_t shapes = view->shapes->count;
    uint32_t *number = ARENA_ARRAY(&search->arena, uint32_t, shapes);

    for (uint32_t task = 0; task < view->task.count; task++) {
        if (!counts(view, &search->spec, task))
            continue;

        const uint32_t shape = view->task.shape[task];
        const uint32_t base = view->shapes->rows[shape].variant_of;

        number[base != SHAPE_NONE ? base : shape]++;
        search->answer.tasks++;
    }
    search->demands = ARENA_ARRAY(&search->arena, struct bound_demand, shapes);
    for (uint32_t shape = 0; shape < shapes; shape++) {
        if (number[shape] > 0)
            search->demands[search->demand_count++] =
                (struct bound_demand){ .shape = shape, .amount = number[shape] };
    }
}

static void sum_machines(struct view_bound_answer *answer, const struct view *view)
{
    INSTANCE_EACH(row, view)
    {
        const money_t price = view->offer_price[view->instance.offer[row]];

        if (view->instance.state[row] == INSTANCE_RETURNED)
            continue;
        answer->cost += price;
        if (view->instance.task_count[row] == 0)
            answer->empty += price;
    }
}

struct view_bound *view_bound_begin(const struct view *view, const struct view_bound_spec *spec)
{
    struct view_bound *search = mem_alloc(1, sizeof(*search));

    *search = (struct view_bound){
        .spec = *spec,
        .answer = { .at = view->now },
        .catalogue = view->catalogue,
        .shapes = view->shapes,
        .offer_count = view->offer_count,
    };
    arena_init(&search->arena);
    search->price = ARENA_ARRAY(&search->arena, money_t, search->offer_count);
    if (search->offer_count > 0)
        memcpy(search->price, view->offer_price, search->offer_count * sizeof(*search->price));
    gather_demands(search, view);
    sum_machines(&search->answer, view);
    return search;
}

static struct price_bound_input offers_of(const struct view_bound *search)
{
    return (struct price_bound_input){ .catalogue = search->catalogue,
                                       .shapes = search->shapes,
                                       .price = search->price,
                                       .offer_count = search->offer_count };
}

/* One shape more in the bound by resources; what that takes, in steps. */
static uint64_t add_demand(struct view_bound *search)
{
    const struct price_bound_input offers = offers_of(search);
    const struct bound_demand *demand = &search->demands[search->added++];

    bound_add(&search->sums, search->catalogue, search->shapes, search->price, search->offer_count,
              demand);
    price_bound_note(&search->by_prices, &offers, demand);
    search->answer.by_resources = bound_end(&search->sums);
    search->answer.bound = search->answer.by_resources;
    return search->offer_count / 2 + 1;
}

/* One shape more in the bound by prices, when all that is wanted is known; what that takes, in steps. */
static uint64_t add_priced(struct view_bound *search)
{
    const struct price_bound_input offers = offers_of(search);

    if (search->priced == 0)
        price_bound_begin(&search->by_prices, &offers, &search->arena);
    price_bound_add(&search->by_prices, &offers, &search->demands[search->priced++]);

    const money_t bound = price_bound_end(&search->by_prices);

    if (bound > search->answer.by_resources) {
        search->answer.by_resources = bound;
        search->answer.bound = bound;
    }
    return search->offer_count / 16 + 1;
}

static void begin_filling(struct view_bound *search)
{
    search->filling =
        filling_begin(&(struct filling_input){ .catalogue = search->catalogue,
                                               .shapes = search->shapes,
                                               .price = search->price,
                                               .offer_count = search->offer_count,
                                               .demands = search->demands,
                                               .demand_count = search->demand_count,
                                               .node_most = search->spec.node_most,
                                               .search_most = search->spec.search_most },
                      &search->arena);
}

static void go_on_filling(struct view_bound *search, uint64_t steps)
{
    struct view_bound_answer *answer = &search->answer;

    search->has_ended = !filling_go_on(search->filling, steps);

    const struct filling_bound filling = filling_so_far(search->filling);

    if (filling.cost > answer->bound)
        answer->bound = filling.cost;
    answer->is_finished = filling.is_finished;
}

bool view_bound_go_on(struct view_bound *search, uint64_t steps)
{
    uint64_t spent = 0;

    while (search->added < search->demand_count && spent < steps)
        spent += add_demand(search);
    if (search->added < search->demand_count)
        return true;
    while (search->priced < search->demand_count && spent < steps)
        spent += add_priced(search);
    if (search->priced < search->demand_count)
        return true;
    if (search->spec.node_most == 0 || search->demand_count == 0) {
        search->has_ended = true;
        search->answer.is_finished = search->demand_count == 0;
    } else if (search->filling == NULL) {
        begin_filling(search);
    }
    if (!search->has_ended && spent < steps)
        go_on_filling(search, steps - spent);
    return !search->has_ended;
}

struct view_bound_answer view_bound_so_far(const struct view_bound *search)
{
    return search->answer;
}

void view_bound_destroy(struct view_bound *search)
{
    if (search == NULL)
        return;
    arena_done(&search->arena);
    mem_free(search);
}

struct view_bound_answer view_bound(const struct view *view, const struct view_bound_spec *spec)
{
    struct view_bound *search = view_bound_begin(view, spec);

    while (view_bound_go_on(search, UINT64_MAX))
        ;

    const struct view_bound_answer answer = search->answer;

    view_bound_destroy(search);
    return answer;
}
