/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/filling_bound.h"

#include <assert.h>
#include <math.h>

#include "decide/filling_bound_master.h"
#include "decide/filling_bound_price.h"

/* How far above its price a filling must be worth to be of interest, from coarse to fine. */
static const double margins[] = { 0.02, 0.003, 0.0001 };

enum {
    MARGINS = sizeof(margins) / sizeof(margins[0]),
    NODES_FIRST = 1000, /* of one search; eight times as many whenever these find nothing */
    NODES_GROWTH = 8,
};

struct program {
    const struct filling_input *input;
    struct arena *arena;
    uint32_t *demand_of; /* per row */
    double *amount;      /* per row */
    double *alone;       /* per row: the lowest price of an offer that holds it */
    uint32_t rows;
    struct filling_offer *offers;
    uint32_t offer_count;
    struct filling_rates rates;
};

/*
 * The program: rows, offers, classes.
 */

static bool is_nothing(const struct res *demand)
{
    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (demand->amount[kind] > 0)
            return false;
    }
    return true;
}

/* The lowest price of an offer that holds the shape; 0: it is free, as it takes nothing of some machine
 * or some machine costs nothing, or none holds it. */
static double price_alone(const struct filling_input *input, uint32_t shape)
{
    double least = HUGE_VAL;

    for (uint32_t offer = 0; offer < input->catalogue->offer_count; offer++) {
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
static bool gather_rows(struct program *program)
{
    const struct filling_input *input = program->input;

    program->demand_of = ARENA_ARRAY(program->arena, uint32_t, FILLING_ROWS_MAX);
    program->amount = ARENA_ARRAY(program->arena, double, FILLING_ROWS_MAX);
    program->alone = ARENA_ARRAY(program->arena, double, FILLING_ROWS_MAX);
    for (uint32_t i = 0; i < input->demand_count; i++) {
        const struct bound_demand *demand = &input->demands[i];

        assert(demand->amount >= 0);
        if (demand->amount <= 0)
            continue;

        const double alone = price_alone(input, demand->shape);

        if (alone <= 0)
            continue;
        if (program->rows == FILLING_ROWS_MAX)
            return false;
        program->demand_of[program->rows] = i;
        program->amount[program->rows] = demand->amount;
        program->alone[program->rows++] = alone;
    }
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

        if (shape_fits_offer(input->shapes, shape, input->catalogue, offer))
            items[count++] =
                (struct filling_item){ .row = row,
                                       .demand = *shape_demand_at(input->shapes, shape,
                                                                  input->catalogue, offer) };
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
    for (uint32_t other = 0; other < program->input->catalogue->offer_count; other++) {
        if (other != offer && is_as_good(program, other, offer) &&
            (other < offer || !is_as_good(program, offer, other)))
            return true;
    }
    return false;
}

static void gather_offers(struct program *program)
{
    const uint32_t count = program->input->catalogue->offer_count;

    program->offers = ARENA_ARRAY(program->arena, struct filling_offer, count);
    for (uint32_t offer = 0; offer < count; offer++) {
        if (!is_needless(program, offer))
            gather_offer(program, offer);
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

    if (a == b)
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
 * Generate fillings.
 */

struct round {
    double excess; /* no filling is worth more than this times its price */
    bool found;    /* a filling that the master lacked */
    bool is_finished;
};

/* What it costs to sort out the items of an offer, in steps of search. */
static uint64_t preparation(const struct filling_offer *offer)
{
    return (uint64_t)offer->item_count * offer->item_count / 64;
}

/* Look for the most valuable filling of every offer. */
static struct round price_offers(const struct program *program, struct master *master,
                                 const double *value, double margin, uint64_t node_most,
                                 struct filling_bound *ret)
{
    struct round round = { .excess = 1, .is_finished = true };

    for (uint32_t i = 0; i < program->offer_count; i++) {
        const struct filling_offer *offer = &program->offers[i];
        const uint64_t left =
            ret->nodes < program->input->node_most ? program->input->node_most - ret->nodes : 0;
        struct arena scratch;
        struct filling_answer answer;

        arena_init(&scratch);
        filling_price(
            &(struct filling_question){ .offer = offer,
                                        .rates = &program->rates,
                                        .value = value,
                                        .above = offer->price * (1 + margin),
                                        .node_most = left < node_most ? left : node_most },
            &scratch, &answer);
        ret->nodes += answer.nodes + preparation(offer);
        round.is_finished &= answer.is_finished;
        if (answer.most / offer->price > round.excess)
            round.excess = answer.most / offer->price;
        if (answer.best > 0) {
            round.found = true;
            ret->fillings++;
            master_add(master, offer->price, answer.entries, answer.entry_count);
        }
        arena_done(&scratch);
    }
    return round;
}

/* Keep the prices if they give the best bound so far. */
static void take_duals(const struct program *program, const double *value, double excess,
                       double *best, struct filling_bound *ret)
{
    double sum = 0;

    for (uint32_t row = 0; row < program->rows; row++)
        sum += program->amount[row] * value[row] / excess;
    if (sum <= *best)
        return;
    *best = sum;
    for (uint32_t row = 0; row < program->rows; row++)
        ret->dual[program->demand_of[row]] = value[row] / excess;
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

static double generate(const struct program *program, struct filling_bound *ret)
{
    double *value = ARENA_ARRAY(program->arena, double, program->rows);
    uint64_t node_most = NODES_FIRST;
    struct master master;
    uint32_t margin = 0;
    bool is_new = false;
    double best = 0;

    master_init(&master, program->arena, program->rows, program->amount, program->alone);
    while (margin < MARGINS) {
        master_solve(&master);
        if (!take_values(&master, value) && is_new)
            break; /* rounding: what was found does not help */

        const struct round round =
            price_offers(program, &master, value, margins[margin], node_most, ret);

        take_duals(program, value, round.excess, &best, ret);
        if (ret->nodes >= program->input->node_most)
            break;
        is_new = round.found;
        if (!round.found && round.is_finished)
            margin++;
        else if (!round.found)
            node_most *= NODES_GROWTH;
    }
    ret->mix_cost = master_cost(&master);
    ret->is_finished = margin == MARGINS;
    return best;
}

void filling_bound(const struct filling_input *input, struct arena *arena,
                   struct filling_bound *ret)
{
    struct program program = { .input = input, .arena = arena };

    *ret = (struct filling_bound){ .dual = ARENA_ARRAY(arena, double, input->demand_count) };
    if (!gather_rows(&program) || !gather_classes(&program) || program.rows == 0)
        return;
    gather_offers(&program);
    if ((uint64_t)program.rows * program.rows * program.offer_count > FILLING_LOOK_MAX)
        return;

    const double best = generate(&program, ret);

    assert(best < (double)MONEY_UNKNOWN);
    /* Floating-point sums err by far less than a millionth: give that away. */
    ret->cost = (money_t)floor(best * (1.0 - 1e-9));
}
