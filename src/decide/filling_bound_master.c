/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/filling_bound_master.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

/* Relative; what is nearer to zero than this is rounding. */
static const double tolerance = 1e-9;

void master_init(struct master *master, struct arena *arena, uint32_t rows, const double *at_least,
                 const double *alone)
{
    *master = (struct master){
        .arena = arena,
        .rows = rows,
        .at_least = at_least,
        .basis = ARENA_ARRAY(arena, uint32_t, rows),
        .inverse = ARENA_ARRAY(arena, double, (size_t)rows *rows),
        .amount = ARENA_ARRAY(arena, double, rows),
        .dual = ARENA_ARRAY(arena, double, rows),
        .direction = ARENA_ARRAY(arena, double, rows),
    };
    for (uint32_t i = 0; i < rows; i++) {
        const struct master_entry one = { .row = i, .value = 1 };

        assert(at_least[i] > 0);
        master_add(master, alone[i], &one, 1);
        master->basis[i] = i;
        master->inverse[(size_t)i * rows + i] = 1;
        master->amount[i] = at_least[i];
        master->dual[i] = alone[i];
    }
}

void master_add(struct master *master, double cost, const struct master_entry *entries,
                uint32_t count)
{
    struct master_entry *copy = ARENA_ARRAY(master->arena, struct master_entry, count);

    if (master->count == master->room) {
        const uint32_t room = 2 * master->room + 2 * master->rows + 16;
        struct master_column *more = ARENA_ARRAY(master->arena, struct master_column, room);

        if (master->count > 0)
            memcpy(more, master->columns, master->count * sizeof(*more));
        master->columns = more;
        master->room = room;
    }
    memcpy(copy, entries, count * sizeof(*copy));
    master->columns[master->count++] =
        (struct master_column){ .cost = cost, .entries = copy, .count = count };
}

static double cost_of(const struct master *master, uint32_t column)
{
    return column >= MASTER_SURPLUS ? 0 : master->columns[column].cost;
}

static void price_rows(struct master *master)
{
    const uint32_t rows = master->rows;

    for (uint32_t k = 0; k < rows; k++)
        master->dual[k] = 0;
    for (uint32_t i = 0; i < rows; i++) {
        const double cost = cost_of(master, master->basis[i]);
        const double *row = master->inverse + (size_t)i * rows;

        for (uint32_t k = 0; k < rows && cost > 0; k++)
            master->dual[k] += cost * row[k];
    }
}

/* The column that is worth most above its cost, in parts of it; UINT32_MAX: none is. A row whose price is
 * below zero calls for its surplus. */
static uint32_t pick_entering(const struct master *master)
{
    uint32_t best = UINT32_MAX;
    double most = tolerance;

    for (uint32_t i = 0; i < master->rows; i++) {
        const double excess = -master->dual[i] / master->columns[i].cost;

        if (excess > most) {
            most = excess;
            best = MASTER_SURPLUS + i;
        }
    }
    for (uint32_t c = 0; c < master->count; c++) {
        const struct master_column *column = &master->columns[c];
        double worth = 0;

        for (uint32_t k = 0; k < column->count; k++)
            worth += column->entries[k].value * master->dual[column->entries[k].row];
        if (worth / column->cost - 1 > most) {
            most = worth / column->cost - 1;
            best = c;
        }
    }
    return best;
}

/* How the basic columns change for one unit of the entering one. */
static void find_direction(struct master *master, uint32_t entering)
{
    const uint32_t rows = master->rows;
    const struct master_entry surplus = { .row = entering - MASTER_SURPLUS, .value = -1 };
    const bool is_surplus = entering >= MASTER_SURPLUS;
    const struct master_entry *entries = is_surplus ? &surplus : master->columns[entering].entries;
    const uint32_t count = is_surplus ? 1 : master->columns[entering].count;

    for (uint32_t i = 0; i < rows; i++) {
        const double *row = master->inverse + (size_t)i * rows;
        double sum = 0;

        for (uint32_t k = 0; k < count; k++)
            sum += entries[k].value * row[entries[k].row];
        master->direction[i] = sum;
    }
}

/* The row whose column is used up first; of several, the one of the oldest column. */
static uint32_t pick_leaving(const struct master *master)
{
    uint32_t best = UINT32_MAX;
    double least = HUGE_VAL;

    for (uint32_t i = 0; i < master->rows; i++) {
        if (master->direction[i] <= tolerance)
            continue;

        const double ratio = master->amount[i] / master->direction[i];

        if (ratio < least ||
            (ratio <= least && best != UINT32_MAX && master->basis[i] < master->basis[best])) {
            least = ratio;
            best = i;
        }
    }
    return best;
}

static void pivot(struct master *master, uint32_t leaving, uint32_t entering)
{
    const uint32_t rows = master->rows;
    double *pivot_row = master->inverse + (size_t)leaving * rows;
    const double by = master->direction[leaving];

    for (uint32_t k = 0; k < rows; k++)
        pivot_row[k] /= by;
    master->amount[leaving] /= by;
    for (uint32_t i = 0; i < rows; i++) {
        const double times = master->direction[i];
        double *row = master->inverse + (size_t)i * rows;

        if (i == leaving || (times >= 0 && times <= 0))
            continue;
        for (uint32_t k = 0; k < rows; k++)
            row[k] -= times * pivot_row[k];
        master->amount[i] -= times * master->amount[leaving];
        if (master->amount[i] < 0)
            master->amount[i] = 0; /* rounding: it was the least ratio */
    }
    master->basis[leaving] = entering;
}

bool master_step(struct master *master)
{
    const uint32_t entering = pick_entering(master);

    if (entering == UINT32_MAX)
        return false;
    find_direction(master, entering);

    const uint32_t leaving = pick_leaving(master);

    if (leaving == UINT32_MAX)
        return false;
    pivot(master, leaving, entering);
    price_rows(master);
    return true;
}

double master_cost(const struct master *master)
{
    double sum = 0;

    for (uint32_t i = 0; i < master->rows; i++)
        sum += cost_of(master, master->basis[i]) * master->amount[i];
    return sum;
}
