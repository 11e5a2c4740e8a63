/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/filling_bound.h"

#include <assert.h>
#include <math.h>

#include "decide/filling_bound_master.h"
#include "decide/filling_bound_price.h"

/* How far above its price a filling must be worth to be of interest, from coarse to fine. */
static const double margins[] = { 0.003, 0.0001 };

enum {
    MARGINS = sizeof(margins) / sizeof(margins[0]),
    NODES_FIRST = 1000, /* of one search; eight times as many whenever these find nothing */
    NODES_GROWTH = 8,
};

struct program {
    const struct filling_input *input;
    struct arena *arena;
    uint32_t offers_known;  /* that have a price */
    uint32_t *next_of_type; /* per offer: another one of the type, in a circle */
    uint32_t *demand_of;    /* per row */
    double *amount;         /* per row */
    double *alone;          /* per row: the lowest price of an offer that holds it */
    uint32_t rows;
    struct filling_offer *offers;
    uint32_t offer_count;
    struct filling_rates rates;
    double (*least)[BOUND_POINTS]; /* per row, of the bound by resources: see bound.h */
};

/*
 * The program: rows, offers, classes.
 */

static bool is_nothing(const struct res *demand)
{
    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (demand->amount[kind] > 0)
            return false;
    }
    return true;
}

/* The lowest price of an offer that holds the shape; 0: it is free, as it takes nothing of some machine
 * or some machine costs nothing, or none holds it. */
static double price_alone(const struct filling_input *input, uint32_t offer_count, uint32_t shape)
{
    double least = HUGE_VAL;

    for (uint32_t offer = 0; offer < offer_count; offer++) {
        if (!shape_fits_offer(input->shapes, shape, input->catalogue, offer))
            continue;
        if (input->price[offer] <= 0 ||
            is_nothing(shape_demand_at(input->shapes, shape, input->catalogue, offer)))
            return 0;
        if ((double)input->price[offer] < least)
            least = (double)input->price[offer];
    }
    return least < HUGE_VAL ? least : 0;
}

/* False: there are too many. */
static bool gather_row(struct program *program, uint32_t which)
{
    const struct filling_input *input = program->input;
    const struct bound_demand *demand = &input->demands[which];

    assert(demand->amount >= 0);
    if (demand->amount <= 0)
        return true;

    const double alone = price_alone(input, program->offers_known, demand->shape);

    if (alone <= 0)
        return true;
    if (program->rows == FILLING_ROWS_MAX)
        return false;
    program->demand_of[program->rows] = which;
    program->amount[program->rows] = demand->amount;
    program->alone[program->rows++] = alone;
    return true;
}

static uint32_t shape_of(const struct program *program, uint32_t row)
{
    return program->input->demands[program->demand_of[row]].shape;
}

static void gather_offer(struct program *program, uint32_t offer)
{
    const struct filling_input *input = program->input;
    struct filling_item *items = ARENA_ARRAY(program->arena, struct filling_item, program->rows);
    uint32_t count = 0;

    for (uint32_t row = 0; row < program->rows; row++) {
        const uint32_t shape = shape_of(program, row);

        if (!shape_fits_offer(input->shapes, shape, input->catalogue, offer))
            continue;
        items[count] = (struct filling_item){
            .row = row, .demand = *shape_demand_at(input->shapes, shape, input->catalogue, offer)
        };
        bound_lower(program->least[row], (double)input->price[offer], &items[count++].demand,
                    &catalogue_type_of(input->catalogue, offer)->capacity);
    }
    if (count > 0)
        program->offers[program->offer_count++] =
            (struct filling_offer){ .price = (double)input->price[offer],
                                    .capacity =
                                        catalogue_type_of(input->catalogue, offer)->capacity,
                                    .items = items,
                                    .item_count = count };
}

/* Whether all that runs on machines of 'offer' runs as well and as cheaply on those of 'other'. */
static bool is_as_good(const struct program *program, uint32_t other, uint32_t offer)
{
    const struct filling_input *input = program->input;
    const struct offer *offers = input->catalogue->offers;

    if (offers[other].type != offers[offer].type || input->price[other] > input->price[offer])
        return false;
    for (uint32_t row = 0; row < program->rows; row++) {
        const uint32_t shape = shape_of(program, row);

        if (shape_fits_offer(input->shapes, shape, input->catalogue, offer) &&
            !shape_fits_offer(input->shapes, shape, input->catalogue, other))
            return false;
    }
    return true;
}

static bool is_needless(const struct program *program, uint32_t offer)
{
    for (uint32_t other = program->next_of_type[offer]; other != offer;
         other = program->next_of_type[other]) {
        if (is_as_good(program, other, offer) &&
            (other < offer || !is_as_good(program, offer, other)))
            return true;
    }
    return false;
}

/* Offers of one type, in a circle. */
static void chain_offers(struct program *program)
{
    const struct catalogue *catalogue = program->input->catalogue;
    uint32_t *first = ARENA_ARRAY(program->arena, uint32_t, catalogue->type_count); /* and one */

    program->next_of_type = ARENA_ARRAY(program->arena, uint32_t, program->offers_known);
    for (uint32_t offer = 0; offer < program->offers_known; offer++) {
        const uint32_t type = catalogue->offers[offer].type;
        uint32_t *next = program->next_of_type;

        next[offer] = offer;
        if (first[type] > 0) {
            next[offer] = next[first[type] - 1];
            next[first[type] - 1] = offer;
        } else {
            first[type] = offer + 1;
        }
    }
}

static double pair_rate(const struct filling_input *input, uint32_t workload, uint32_t other)
{
    return input->pair_rate != NULL ? input->pair_rate[workload * input->workloads + other] : 1;
}

static uint32_t workload_of(const struct program *program, uint32_t row)
{
    return program->input->shapes->rows[shape_of(program, row)].workload;
}

static bool is_same(double a, double b)
{
    return a <= b && a >= b;
}

/* Whether tasks of one workload may stand for those of the other wherever rates are concerned. */
static bool are_alike(const struct program *program, uint32_t a, uint32_t b)
{
    const struct filling_input *input = program->input;
    const double own = pair_rate(input, a, a);

    if (a == b || input->pair_rate == NULL)
        return true;
    if (!is_same(pair_rate(input, a, b), own) || !is_same(pair_rate(input, b, a), own) ||
        !is_same(pair_rate(input, b, b), own))
        return false;
    for (uint32_t row = 0; row < program->rows; row++) {
        const uint32_t other = workload_of(program, row);

        if (!is_same(pair_rate(input, a, other), pair_rate(input, b, other)) ||
            !is_same(pair_rate(input, other, a), pair_rate(input, other, b)))
            return false;
    }
    return true;
}

/* False: some rate is above 1, and nothing here holds. */
static bool gather_classes(struct program *program)
{
    const uint32_t rows = program->rows;
    uint32_t *class_of = ARENA_ARRAY(program->arena, uint32_t, rows);
    uint32_t *workload = ARENA_ARRAY(program->arena, uint32_t, rows); /* per class: one of it */
    uint32_t count = 0;

    for (uint32_t row = 0; row < rows; row++) {
        uint32_t cls = 0;

        while (cls < count && !are_alike(program, workload[cls], workload_of(program, row)))
            cls++;
        if (cls == count)
            workload[count++] = workload_of(program, row);
        class_of[row] = cls;
    }

    double *rate = ARENA_ARRAY(program->arena, double, (size_t)count *count);

    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = 0; b < count; b++) {
            rate[a * count + b] = pair_rate(program->input, workload[a], workload[b]);
            if (!(rate[a * count + b] >= 0 && rate[a * count + b] <= 1))
                return false;
        }
    }
    program->rates = (struct filling_rates){
        .class_of = class_of, .rate = rate, .classes = count, .error = program->input->rate_error
    };
    return true;
}

/*
 * Generate fillings. The search is a state that goes on in small steps.
 */

enum phase {
    PHASE_ROWS,   /* sort out the demands */
    PHASE_OFFERS, /* and the offers */
    PHASE_SOLVE,  /* the cheapest mix of what is known */
    PHASE_PRICE,  /* the most valuable filling of every offer */
    PHASE_ENDED,
};

/* A look at all offers. */
struct round {
    double excess; /* no filling is worth more than this times its price */
    bool found;    /* a filling that the master lacked */
    bool is_finished;
};

struct filling_search {
    struct filling_input input;
    struct program program;
    struct master master;
    struct filling_bound bound;
    enum phase phase;
    uint32_t at;        /* the demand or offer that comes next, or how often the mix was improved */
    double *outer;      /* per row: the master's prices */
    double *centre;     /* per row: the best valid ones so far */
    double *value;      /* per row: those that fillings are sought at, between the two */
    double pull;        /* how near to the centre: 1 there, 0 at the master's */
    uint64_t node_most; /* of one search, now */
    uint32_t margin;
    bool is_new; /* the last round found something */
    struct round round;
    double best;    /* the bound, before it is rounded */
    uint64_t spent; /* steps of this piece */
};

static void enter(struct filling_search *search, enum phase phase)
{
    search->phase = phase;
    search->at = 0;
}

/* What it costs to sort out the items of an offer, in steps of search. */
static uint64_t preparation(const struct filling_offer *offer)
{
    return (uint64_t)offer->item_count * offer->item_count / 64;
}

static void look_at_demand(struct filling_search *search)
{
    struct program *program = &search->program;

    if (search->at < search->input.demand_count) {
        search->spent += program->offers_known / 16 + 1;
        if (!gather_row(program, search->at++))
            search->phase = PHASE_ENDED;
        return;
    }
    enter(search, program->rows > 0 && gather_classes(program) ? PHASE_OFFERS : PHASE_ENDED);
    chain_offers(program);
    program->offers = ARENA_ARRAY(program->arena, struct filling_offer, program->offers_known);
    program->least = arena_alloc(program->arena, program->rows, sizeof(*program->least));
    for (uint32_t row = 0; row < program->rows; row++) {
        for (uint32_t i = 0; i < BOUND_POINTS; i++)
            program->least[row][i] = HUGE_VAL;
    }
}

/* The centre at first: the prices of the bound by resources. */
static void take_resources(struct filling_search *search)
{
    const struct program *program = &search->program;
    uint32_t best = 0;
    double most = -1;

    for (uint32_t i = 0; i < BOUND_POINTS; i++) {
        double sum = 0;

        for (uint32_t row = 0; row < program->rows; row++)
            sum += program->amount[row] * program->least[row][i];
        if (sum > most) {
            most = sum;
            best = i;
        }
    }
    for (uint32_t row = 0; row < program->rows; row++)
        search->centre[row] = program->least[row][best];
}

static void look_at_offer(struct filling_search *search)
{
    struct program *program = &search->program;
    const uint64_t rows = program->rows;

    if (search->at < program->offers_known) {
        search->spent += rows + 1;
        if (!is_needless(program, search->at))
            gather_offer(program, search->at);
        search->at++;
        if (rows * rows * program->offer_count > FILLING_LOOK_MAX)
            search->phase = PHASE_ENDED;
        return;
    }
    master_init(&search->master, program->arena, program->rows, program->amount, program->alone);
    search->outer = ARENA_ARRAY(program->arena, double, program->rows);
    search->centre = ARENA_ARRAY(program->arena, double, program->rows);
    search->value = ARENA_ARRAY(program->arena, double, program->rows);
    search->node_most = NODES_FIRST;
    search->pull = 1;
    take_resources(search);
    enter(search, PHASE_SOLVE);
}

/* The master's prices, but none below zero; whether they are other than before. */
static bool take_values(const struct master *master, double *value)
{
    bool changed = false;

    for (uint32_t row = 0; row < master->rows; row++) {
        const double fresh = master->dual[row] > 0 ? master->dual[row] : 0;

        changed |= !is_same(fresh, value[row]);
        value[row] = fresh;
    }
    return changed;
}

static void improve_mix(struct filling_search *search)
{
    const uint64_t rows = search->program.rows;
    /* Beyond any count that was seen; see master_step. */
    const uint32_t most = 20 * (search->master.rows + search->master.count);

    search->spent += (rows * rows + 4 * (uint64_t)search->master.count) / 128 + 1;
    if (search->at < most && master_step(&search->master)) {
        search->at++;
        return;
    }
    if (!take_values(&search->master, search->outer) && search->is_new) {
        search->phase = PHASE_ENDED; /* rounding: what was found does not help */
        return;
    }
    for (uint32_t row = 0; row < rows; row++)
        search->value[row] =
            search->pull * search->centre[row] + (1 - search->pull) * search->outer[row];
    search->round = (struct round){ .excess = 1, .is_finished = true };
    enter(search, PHASE_PRICE);
}

/* At prices that are known to be valid nothing is worth more than its price. */
static double margin_of(const struct filling_search *search)
{
    return search->pull < 1 ? margins[search->margin] : margins[MARGINS - 1];
}

/* Look for the most valuable filling of an offer. */
static void price_offer(struct filling_search *search, const struct filling_offer *offer)
{
    const uint64_t most = search->input.node_most;
    const uint64_t left = search->bound.nodes < most ? most - search->bound.nodes : 0;
    struct round *round = &search->round;
    struct arena scratch;
    struct filling_answer answer;

    arena_init(&scratch);
    filling_price(&(struct filling_question){ .offer = offer,
                                              .rates = &search->program.rates,
                                              .value = search->value,
                                              .above = offer->price * (1 + margin_of(search)),
                                              .node_most = left < search->node_most
                                                               ? left
                                                               : search->node_most },
                  &scratch, &answer);
    search->bound.nodes += answer.nodes + preparation(offer);
    search->spent += answer.nodes + preparation(offer);
    round->is_finished &= answer.is_finished;
    if (answer.most / offer->price > round->excess)
        round->excess = answer.most / offer->price;
    if (answer.best > 0) {
        round->found = true;
        search->bound.fillings++;
        master_add(&search->master, offer->price, answer.entries, answer.entry_count);
    }
    arena_done(&scratch);
}

/* Keep the prices if they give the best bound so far. */
static void take_duals(struct filling_search *search)
{
    const struct program *program = &search->program;
    double sum = 0;

    for (uint32_t row = 0; row < program->rows; row++)
        sum += program->amount[row] * search->value[row] / search->round.excess;
    if (sum <= search->best)
        return;
    search->best = sum;
    for (uint32_t row = 0; row < program->rows; row++) {
        search->centre[row] = search->value[row] / search->round.excess;
        search->bound.dual[program->demand_of[row]] = search->centre[row];
    }
}

/* The next prices are sought nearer to the master's: at once when the first are known, and when nothing was found. */
static void loosen(struct filling_search *search)
{
    const double tightest = 0.8;
    const double loosest = 0.1;

    if (search->pull > tightest)
        search->pull = tightest;
    else if (!search->round.found)
        search->pull = search->pull > loosest ? search->pull / 2 : 0;
}

static void end_round(struct filling_search *search)
{
    const struct filling_input *input = &search->input;
    const struct round *round = &search->round;

    take_duals(search);
    enter(search, PHASE_SOLVE);
    search->is_new = round->found;
    if (search->bound.nodes < input->node_most) {
        if (search->pull > 0)
            loosen(search);
        else if (!round->found && round->is_finished)
            search->margin++;
        else if (!round->found)
            search->node_most *= NODES_GROWTH;
    }
    if (search->bound.nodes >= input->node_most || search->margin == MARGINS ||
        (input->search_most > 0 && search->node_most > input->search_most))
        search->phase = PHASE_ENDED;
}

static void take_step(struct filling_search *search)
{
    switch (search->phase) {
    case PHASE_ROWS:
        look_at_demand(search);
        return;
    case PHASE_OFFERS:
        look_at_offer(search);
        return;
    case PHASE_SOLVE:
        improve_mix(search);
        return;
    case PHASE_PRICE:
        if (search->at < search->program.offer_count)
            price_offer(search, &search->program.offers[search->at++]);
        else
            end_round(search);
        return;
    case PHASE_ENDED:
        return;
    }
}

struct filling_search *filling_begin(const struct filling_input *input, struct arena *arena)
{
    struct filling_search *search = ARENA_ARRAY(arena, struct filling_search, 1);

    *search = (struct filling_search){
        .input = *input,
        .program = { .input = &search->input,
                     .arena = arena,
                     .offers_known = input->offer_count > 0 ? input->offer_count
                                                            : input->catalogue->offer_count,
                     .demand_of = ARENA_ARRAY(arena, uint32_t, FILLING_ROWS_MAX),
                     .amount = ARENA_ARRAY(arena, double, FILLING_ROWS_MAX),
                     .alone = ARENA_ARRAY(arena, double, FILLING_ROWS_MAX) },
        .bound = { .dual = ARENA_ARRAY(arena, double, input->demand_count) },
    };
    return search;
}

bool filling_go_on(struct filling_search *search, uint64_t steps)
{
    search->spent = 0;
    while (search->phase != PHASE_ENDED && search->spent < steps)
        take_step(search);
    return search->phase != PHASE_ENDED;
}

struct filling_bound filling_so_far(const struct filling_search *search)
{
    struct filling_bound bound = search->bound;

    assert(search->best < (double)MONEY_UNKNOWN);
    /* Floating-point sums err by far less than a millionth: give that away. */
    bound.cost = (money_t)floor(search->best * (1.0 - 1e-9));
    bound.mix_cost = search->value != NULL ? master_cost(&search->master) : 0;
    bound.is_finished = search->margin == MARGINS;
    return bound;
}

void filling_bound(const struct filling_input *input, struct arena *arena,
                   struct filling_bound *ret)
{
    struct filling_search *search = filling_begin(input, arena);

    while (filling_go_on(search, UINT64_MAX))
        ;
    *ret = filling_so_far(search);
}
