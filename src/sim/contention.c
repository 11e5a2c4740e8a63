/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/contention.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

enum { TABLE_GROUP_MAX = 10, TABLE_LARGE_MAX = 25 };

void contention_init_uniform(struct contention *contention, uint32_t count, double rate)
{
    *contention = (struct contention){ .count = count };
    contention->pair = mem_alloc((size_t)count * count, sizeof(double));
    for (uint32_t i = 0; i < count * count; i++)
        contention->pair[i] = rate;
}

void contention_init_matrix(struct contention *contention, const struct names *workloads,
                            const struct colocation_matrix *matrix, double unmeasured)
{
    contention_init_uniform(contention, workloads->count, unmeasured);
    for (uint32_t i = 0; i < workloads->count; i++) {
        const char *row = names_text(workloads, i);
        const uint32_t row_at = names_find(&matrix->workloads, row, strlen(row));

        for (uint32_t j = 0; j < workloads->count; j++) {
            const char *column = names_text(workloads, j);
            const uint32_t column_at = names_find(&matrix->workloads, column, strlen(column));

            if (row_at != NAME_NONE && column_at != NAME_NONE)
                contention->pair[i * contention->count + j] =
                    colocation_matrix_rate(matrix, row_at, column_at);
        }
    }
}

void contention_done(struct contention *contention)
{
    mem_free(contention->pair);
    mem_free(contention->drift.later);
    mem_free(contention->drift.best);
    mem_free(contention->orders.listed);
    mem_free(contention->orders.read);
    mem_free(contention->orders.in_large_sets);
    *contention = (struct contention){ 0 };
}

const double *contention_pairs(const struct contention *contention)
{
    const size_t misread = (size_t)contention->count * contention->count;

    return contention->permuted ? contention->pair + misread : contention->pair;
}

/* The product of the pairs, for the tasks of parts[which]. */
static double product(const struct contention *contention, const double *pairs,
                      const struct contention_part *parts, uint32_t count, uint32_t which)
{
    const double *row = pairs + (size_t)parts[which].workload * contention->count;
    double rate = 1.0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t others = parts[i].count - (i == which ? 1 : 0);

        for (uint32_t n = 0; n < others; n++)
            rate *= row[parts[i].workload];
    }
    return rate;
}

/*
 * Rates that drift.
 */

void contention_drift(struct contention *contention, msec_t span_ms, struct rng *rng)
{
    const uint32_t pairs = contention->count * contention->count;
    struct contention_drift *drift = &contention->drift;

    assert(!contention->permuted && span_ms >= CONTENTION_STEP_MS);
    drift->span_ms = span_ms;
    drift->later = mem_alloc(pairs, sizeof(*drift->later));
    drift->best = mem_alloc(pairs, sizeof(*drift->best));
    for (uint32_t i = 0; i < pairs; i++) {
        const uint32_t at = (uint32_t)rng_below(rng, i + 1);

        drift->later[i] = drift->later[at];
        drift->later[at] = contention->pair[i];
    }
    for (uint32_t i = 0; i < pairs; i++)
        drift->best[i] =
            drift->later[i] > contention->pair[i] ? drift->later[i] : contention->pair[i];
}

const double *contention_best(const struct contention *contention)
{
    return contention->drift.span_ms > 0 ? contention->drift.best : contention_pairs(contention);
}

/* How much of the way to the later rates is done: 0 to 1. */
static double drifted_at(const struct contention_drift *drift, msec_t at)
{
    const msec_t turn = at / CONTENTION_STEP_MS * CONTENTION_STEP_MS % (2 * drift->span_ms);
    const msec_t way = turn <= drift->span_ms ? turn : 2 * drift->span_ms - turn;

    return (double)way / (double)drift->span_ms;
}

/* As product(), of the pairs as they are after this share of the way. */
static double drifted_product(const struct contention *contention, double share,
                              const struct contention_part *parts, uint32_t count, uint32_t which)
{
    const size_t row = (size_t)parts[which].workload * contention->count;
    double rate = 1.0;

    for (uint32_t i = 0; i < count; i++) {
        const uint32_t others = parts[i].count - (i == which ? 1 : 0);
        const double from = contention->pair[row + parts[i].workload];
        const double to = contention->drift.later[row + parts[i].workload];

        for (uint32_t n = 0; n < others; n++)
            rate *= from + share * (to - from);
    }
    return rate;
}

void contention_rates_at(const struct contention *contention, msec_t at,
                         const struct contention_part *parts, uint32_t count, double *ret)
{
    if (contention->drift.span_ms == 0) {
        contention_rates(contention, parts, count, ret);
        return;
    }

    const double share = drifted_at(&contention->drift, at);

    for (uint32_t i = 0; i < count; i++)
        ret[i] = drifted_product(contention, share, parts, count, i);
}

/*
 * The misread table.
 */

/* Which part stands at place 'at' of the group's members, sorted by 'rank'. */
static uint32_t part_at(const struct contention_part *parts, uint32_t count, const uint32_t *rank,
                        uint32_t at)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t before = 0;

        for (uint32_t j = 0; j < count; j++) {
            if (rank[parts[j].workload] < rank[parts[i].workload])
                before += parts[j].count;
        }
        if (at >= before && at < before + parts[i].count)
            return i;
    }
    assert(false && "the place is in the group");
    return 0;
}

/* The last place of part 'which' when the group is sorted by 'rank'. */
static uint32_t last_place(const struct contention_part *parts, uint32_t count,
                           const uint32_t *rank, uint32_t which)
{
    uint32_t place = parts[which].count - 1;

    for (uint32_t i = 0; i < count; i++) {
        if (rank[parts[i].workload] < rank[parts[which].workload])
            place += parts[i].count;
    }
    return place;
}

static bool is_in_table(const struct contention *contention, const struct contention_part *parts,
                        uint32_t count, uint32_t size)
{
    if (size <= TABLE_GROUP_MAX)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        if (!contention->orders.in_large_sets[parts[i].workload])
            return false;
    }
    return size <= TABLE_LARGE_MAX;
}

/* The value for 'which' is that of whoever stands, in the listed order, where it is read. */
static double misread(const struct contention *contention, const struct contention_part *parts,
                      uint32_t count, uint32_t which)
{
    const uint32_t place = last_place(parts, count, contention->orders.read, which);

    return product(contention, contention->pair, parts, count,
                   part_at(parts, count, contention->orders.listed, place));
}

void contention_rates(const struct contention *contention, const struct contention_part *parts,
                      uint32_t count, double *ret)
{
    uint32_t size = 0;

    for (uint32_t i = 0; i < count; i++)
        size += parts[i].count;
    if (!contention->permuted || size <= 1) {
        for (uint32_t i = 0; i < count; i++)
            ret[i] = product(contention, contention->pair, parts, count, i);
        return;
    }

    for (uint32_t i = 0; i < count; i++) {
        if (size > 2 && is_in_table(contention, parts, count, size))
            ret[i] = misread(contention, parts, count, i);
        else
            ret[i] = product(contention, contention_pairs(contention), parts, count, i);
    }
}

static void rank_by_list(const struct names *workloads, const char *const *order, uint32_t *ret)
{
    for (uint32_t i = 0; i < workloads->count; i++)
        ret[i] = UINT32_MAX - workloads->count + i; /* unlisted ones last, in their own order */
    for (uint32_t rank = 0; order[rank] != NULL; rank++) {
        const uint32_t name = names_find(workloads, order[rank], strlen(order[rank]));

        if (name != NAME_NONE)
            ret[name] = rank;
    }
}

static void rank_by_alphabet(const struct names *workloads, uint32_t *ret)
{
    for (uint32_t i = 0; i < workloads->count; i++) {
        ret[i] = 0;
        for (uint32_t j = 0; j < workloads->count; j++)
            ret[i] += strcmp(names_text(workloads, j), names_text(workloads, i)) < 0;
    }
}

/* Whether the pair is listed in another order than it is read. */
static bool is_swapped(const struct contention *contention, const struct names *workloads,
                       const struct colocation_matrix *matrix, uint32_t a, uint32_t b)
{
    const char *first = names_text(workloads, a);
    const char *second = names_text(workloads, b);
    const uint32_t listed_a = names_find(&matrix->workloads, first, strlen(first));
    const uint32_t listed_b = names_find(&matrix->workloads, second, strlen(second));

    return (listed_a < listed_b) != (contention->orders.read[a] < contention->orders.read[b]);
}

void contention_permute(struct contention *contention, const struct names *workloads,
                        const struct colocation_matrix *matrix, const char *const *order,
                        const char *const *large)
{
    const uint32_t count = contention->count;
    struct contention_orders *orders = &contention->orders;

    assert(count == workloads->count);
    orders->listed = mem_alloc(count, sizeof(uint32_t));
    orders->read = mem_alloc(count, sizeof(uint32_t));
    orders->in_large_sets = mem_alloc(count, sizeof(bool));
    rank_by_list(workloads, order, orders->listed);
    rank_by_alphabet(workloads, orders->read);
    for (uint32_t i = 0; large[i] != NULL; i++) {
        const uint32_t name = names_find(workloads, large[i], strlen(large[i]));

        if (name != NAME_NONE)
            orders->in_large_sets[name] = true;
    }
    contention->pair =
        mem_resize(contention->pair, (size_t)count * count * 2, sizeof(*contention->pair));
    for (uint32_t a = 0; a < count; a++) {
        for (uint32_t b = 0; b < count; b++) {
            const bool swapped = a != b && is_swapped(contention, workloads, matrix, a, b);

            contention->pair[(count + a) * count + b] =
                swapped ? contention->pair[b * count + a] : contention->pair[a * count + b];
        }
    }
    contention->permuted = true;
}
