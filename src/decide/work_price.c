/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/work_price.h"

#include <math.h>

#include "decide/filling_bound_master.h"

enum {
    TASKS_MOST = 16, /* of a filling */
    ROUNDS_MOST = 80,
    COLUMNS_EACH = 6, /* of an offer, in one round */
};

static const double margin =
    0.001; /* a filling is of interest if it is worth so much more than its price */

/* A filling in the making. */
struct filling {
    uint32_t rows[TASKS_MOST];
    double rate[TASKS_MOST];
    uint32_t count;
    struct res used;
    double worth;
};

/* An offer, and the rows that may run there. */
struct seller {
    double price;
    struct res capacity;
    uint32_t *rows;
    const struct res **demand; /* of each of these */
    double *share;             /* that one takes of the machine */
    uint32_t count;
};

struct program {
    const struct work_snapshot *snapshot;
    const struct catalogue *catalogue;
    const struct shapes *shapes;
    struct arena *arena;
    uint32_t *shape_of; /* per row */
    double *amount;
    double *alone; /* per row: the lowest price of an offer that holds it */
    uint32_t rows;
    struct seller *sellers;
    uint32_t seller_count;
    double *value; /* per row: the prices of now */
    uint64_t steps;
};

static bool holds(const struct program *program, uint32_t offer, uint32_t shape)
{
    return offer < program->snapshot->offers && !program->catalogue->offers[offer].is_former &&
           program->snapshot->price[offer] > 0 &&
           shape_fits_offer(program->shapes, shape, program->catalogue, offer);
}

static void gather_rows(struct program *program)
{
    const struct work_snapshot *snapshot = program->snapshot;

    program->shape_of = ARENA_ARRAY(program->arena, uint32_t, WORK_PRICE_ROWS);
    program->amount = ARENA_ARRAY(program->arena, double, WORK_PRICE_ROWS);
    program->alone = ARENA_ARRAY(program->arena, double, WORK_PRICE_ROWS);
    for (uint32_t shape = 0; shape < snapshot->shapes; shape++) {
        double least = HUGE_VAL;

        for (uint32_t i = 0; i < snapshot->offers && snapshot->amount[shape] > 0; i++) {
            if (holds(program, i, shape) && (double)snapshot->price[i] < least)
                least = (double)snapshot->price[i];
        }
        if (least >= HUGE_VAL || program->rows == WORK_PRICE_ROWS)
            continue;
        program->shape_of[program->rows] = shape;
        program->amount[program->rows] = snapshot->amount[shape];
        program->alone[program->rows++] = least;
    }
}

/* Whether another offer of the same type is as good for everything: it is cheaper, or as cheap and comes first. */
static bool is_needless(const struct program *program, uint32_t offer)
{
    const struct offer *offers = program->catalogue->offers;
    const money_t *price = program->snapshot->price;

    for (uint32_t other = 0; other < program->snapshot->offers; other++) {
        bool is_as_good =
            other != offer && offers[other].type == offers[offer].type &&
            (price[other] < price[offer] || (price[other] == price[offer] && other < offer));

        for (uint32_t row = 0; row < program->rows && is_as_good; row++)
            is_as_good = holds(program, other, program->shape_of[row]) ||
                         !holds(program, offer, program->shape_of[row]);
        if (is_as_good)
            return true;
    }
    return false;
}

static void gather_seller(struct program *program, uint32_t offer)
{
    struct seller *seller = &program->sellers[program->seller_count];

    *seller = (struct seller){
        .price = (double)program->snapshot->price[offer],
        .capacity = catalogue_type_of(program->catalogue, offer)->capacity,
        .rows = ARENA_ARRAY(program->arena, uint32_t, program->rows),
        .demand = ARENA_ARRAY(program->arena, const struct res *, program->rows),
        .share = ARENA_ARRAY(program->arena, double, program->rows),
    };
    for (uint32_t row = 0; row < program->rows; row++) {
        const uint32_t shape = program->shape_of[row];

        if (!holds(program, offer, shape))
            continue;
        seller->rows[seller->count] = row;
        seller->demand[seller->count] =
            shape_demand_at(program->shapes, shape, program->catalogue, offer);
        seller->share[seller->count] =
            res_dominant_share(seller->demand[seller->count], &seller->capacity);
        seller->count++;
    }
    if (seller->count > 0)
        program->seller_count++;
}

static double rate_of(const struct program *program, uint32_t row, uint32_t other)
{
    const struct work_snapshot *snapshot = program->snapshot;
    const uint32_t a = program->shapes->rows[program->shape_of[row]].workload;
    const uint32_t b = program->shapes->rows[program->shape_of[other]].workload;

    return snapshot->rate != NULL && a < snapshot->workloads && b < snapshot->workloads
               ? snapshot->rate[a * snapshot->workloads + b]
               : 1;
}

/* What the filling would be worth more with one task of the row; its rate would be 'ret_rate'. */
static double gain_of(const struct program *program, const struct filling *filling, uint32_t row,
                      double *ret_rate)
{
    double rate = 1;
    double gain = 0;

    for (uint32_t i = 0; i < filling->count; i++) {
        const uint32_t other = filling->rows[i];

        rate *= rate_of(program, row, other);
        gain -= program->value[other] * filling->rate[i] * (1 - rate_of(program, other, row));
    }
    *ret_rate = rate;
    return gain + program->value[row] * rate;
}

static void join(const struct program *program, struct filling *filling, uint32_t row,
                 const struct res *demand)
{
    double rate;

    filling->worth += gain_of(program, filling, row, &rate);
    for (uint32_t i = 0; i < filling->count; i++)
        filling->rate[i] *= rate_of(program, filling->rows[i], row);
    filling->rows[filling->count] = row;
    filling->rate[filling->count++] = rate;
    res_add(&filling->used, demand);
}

/* Add what gains most, or most for the room that it takes, until nothing does. */
static void fill(struct program *program, const struct seller *seller, bool by_room,
                 struct filling *filling)
{
    while (filling->count < TASKS_MOST) {
        const struct res free = res_minus(&seller->capacity, &filling->used);
        uint32_t best = UINT32_MAX;
        double most = 0;

        program->steps += seller->count;
        for (uint32_t i = 0; i < seller->count; i++) {
            double rate;

            if (!res_fits(seller->demand[i], &free))
                continue;

            const double gain = gain_of(program, filling, seller->rows[i], &rate);
            const double score = by_room && seller->share[i] > 0 ? gain / seller->share[i] : gain;

            if (gain > 0 && score > most) {
                most = score;
                best = i;
            }
        }
        if (best == UINT32_MAX)
            return;
        join(program, filling, seller->rows[best], seller->demand[best]);
    }
}

/* Keep the fillings that are worth most, each once. */
static void keep(struct filling *kept, uint32_t *count, const struct filling *filling)
{
    uint32_t at = *count;

    for (uint32_t i = 0; i < *count; i++) {
        if (fabs(kept[i].worth - filling->worth) <= filling->worth * 1e-9)
            return;
    }
    while (at > 0 && kept[at - 1].worth < filling->worth)
        at--;
    if (at == COLUMNS_EACH)
        return;
    if (*count < COLUMNS_EACH)
        (*count)++;
    for (uint32_t i = *count - 1; i > at; i--)
        kept[i] = kept[i - 1];
    kept[at] = *filling;
}

static void add_column(struct master *master, const struct seller *seller,
                       const struct filling *filling)
{
    struct master_entry entries[TASKS_MOST];
    uint32_t count = 0;

    for (uint32_t i = 0; i < filling->count; i++) {
        uint32_t at = 0;

        while (at < count && entries[at].row != filling->rows[i])
            at++;
        if (at == count)
            entries[count++] = (struct master_entry){ .row = filling->rows[i] };
        entries[at].value += filling->rate[i];
    }
    master_add(master, seller->price, entries, count);
}

/* Start from each task that may run there. Whether something was found. */
static bool price_seller(struct program *program, const struct seller *seller,
                         struct master *master)
{
    struct filling kept[COLUMNS_EACH];
    uint32_t count = 0;

    for (uint32_t i = 0; i < 2 * seller->count; i++) {
        const uint32_t first = i / 2;
        struct filling filling = { .count = 0 };

        if (program->steps > WORK_PRICE_STEPS)
            break;
        join(program, &filling, seller->rows[first], seller->demand[first]);
        fill(program, seller, i % 2 == 1, &filling);
        if (filling.worth > seller->price * (1 + margin))
            keep(kept, &count, &filling);
    }
    for (uint32_t i = 0; i < count; i++)
        add_column(master, seller, &kept[i]);
    return count > 0;
}

/* The prices of the cheapest mix of what is known. */
static void find_prices(struct program *program, struct master *master)
{
    const uint32_t most = 20 * (master->rows + master->count); /* else it goes in a circle */
    uint32_t steps = 0;

    while (steps < most && master_step(master))
        steps++;
    for (uint32_t row = 0; row < program->rows; row++)
        program->value[row] = master->dual[row] > 0 ? master->dual[row] : 0;
}

static void solve(struct program *program)
{
    struct master master;
    bool found = true;

    master_init(&master, program->arena, program->rows, program->amount, program->alone);
    for (int round = 0; round < ROUNDS_MOST && found; round++) {
        find_prices(program, &master);
        found = false;
        for (uint32_t i = 0; i < program->seller_count; i++)
            found |= price_seller(program, &program->sellers[i], &master);
        found = found && program->steps <= WORK_PRICE_STEPS;
    }
}

double work_price(const struct work_snapshot *snapshot, const struct catalogue *catalogue,
                  const struct shapes *shapes, struct arena *arena, double *ret)
{
    struct program program = {
        .snapshot = snapshot, .catalogue = catalogue, .shapes = shapes, .arena = arena
    };
    double cost = 0;
    double amount = 0;

    for (uint32_t i = 0; i < snapshot->shapes; i++)
        ret[i] = 0;
    gather_rows(&program);
    if (program.rows == 0)
        return 0;
    program.sellers = ARENA_ARRAY(arena, struct seller, snapshot->offers);
    program.value = ARENA_ARRAY(arena, double, program.rows);
    for (uint32_t i = 0; i < snapshot->offers; i++) {
        if (!is_needless(&program, i))
            gather_seller(&program, i);
    }
    solve(&program);
    for (uint32_t row = 0; row < program.rows; row++) {
        ret[program.shape_of[row]] = program.value[row];
        cost += program.amount[row] * program.value[row];
        amount += program.amount[row];
    }
    return cost / amount;
}
