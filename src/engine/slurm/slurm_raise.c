/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/slurm/slurm_raise.h"

#include <stdlib.h>

#include "base/mem.h"

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* By set, and in it those first that were raised earlier. */
static int compare_raised(const void *left, const void *right)
{
    const struct slurm_raise_row *a = left;
    const struct slurm_raise_row *b = right;

    return a->set != b->set ? ORDER(a->set, b->set) : ORDER(a->raised, b->raised);
}

/* As they are to start. */
static int compare_levels(const void *left, const void *right)
{
    const struct slurm_raise_row *a = left;
    const struct slurm_raise_row *b = right;

    if (a->level != b->level)
        return ORDER(b->level, a->level);
    if (a->raised != b->raised)
        return ORDER(b->raised, a->raised);
    if (a->rank != b->rank)
        return ORDER(b->rank, a->rank);
    if (a->submitted != b->submitted)
        return ORDER(a->submitted, b->submitted);
    return ORDER(a->id, b->id);
}

static int compare_ranks(const void *left, const void *right)
{
    const uint32_t *a = left;
    const uint32_t *b = right;

    return ORDER(*b, *a);
}

/* What the user did to the set since the last look; whether anything. */
static bool note_raised(struct slurm_raise_row *rows, uint32_t count, uint32_t look)
{
    bool has_grown = false;
    bool has_fallen = false;
    uint32_t last = 0;

    for (uint32_t i = 0; i < count; i++) {
        const bool is_known = rows[i].seen < look;

        has_grown |= is_known && rows[i].nice > rows[i].old_nice;
        has_fallen |= is_known && rows[i].nice < rows[i].old_nice;
        last = rows[i].raised > last ? rows[i].raised : last;
    }
    for (uint32_t i = 0; (has_grown || has_fallen) && i < count; i++) {
        struct slurm_raise_row *row = &rows[i];
        const bool is_fallen = row->nice < row->old_nice;
        const bool stays = row->nice == row->old_nice;

        if (row->seen >= look)
            continue;
        if (has_grown && (is_fallen || (!has_fallen && stays)))
            row->raised = look;
        else if (!has_grown && is_fallen)
            row->raised = last; /* taken back: as if it had not been passed */
    }
    return has_grown || has_fallen;
}

/* Give each row the best level among those that it goes before, or its own rank. The rows are sorted by when they were raised, and
 * what was raised at one look goes before the same rows. */
static void find_levels(struct slurm_raise_row *rows, uint32_t count)
{
    uint32_t end = 0;

    for (uint32_t begin = 0; begin < count; begin = end) {
        const uint32_t raised = rows[begin].raised;
        uint32_t best = 0;

        for (uint32_t i = 0; i < begin; i++) {
            if (rows[i].seen < raised && rows[i].level > best)
                best = rows[i].level;
        }
        for (end = begin; end < count && rows[end].raised == raised; end++)
            rows[end].level = rows[end].rank > best ? rows[end].rank : best;
    }
}

/* Deal the ranks of the set out in the order of the rows. Where equal ranks would let the older job go first, the later one in this
 * order gets less. */
static void deal(struct slurm_raise_row *rows, uint32_t count)
{
    uint32_t *ranks = mem_alloc(count, sizeof(*ranks));

    for (uint32_t i = 0; i < count; i++)
        ranks[i] = rows[i].rank;
    qsort(ranks, count, sizeof(*ranks), compare_ranks);
    for (uint32_t i = 0; i < count; i++) {
        rows[i].rank = ranks[i];
        if (i == 0)
            continue;
        const struct slurm_raise_row *before = &rows[i - 1];

        if (rows[i].rank > before->rank)
            rows[i].rank = before->rank;
        if (rows[i].rank == before->rank && rows[i].rank > 1 && before->raised > rows[i].raised)
            rows[i].rank--;
    }
    mem_free(ranks);
}

static void order_set(struct slurm_raise_row *rows, uint32_t count)
{
    qsort(rows, count, sizeof(*rows), compare_raised);
    if (rows[count - 1].raised == 0)
        return;
    find_levels(rows, count);
    qsort(rows, count, sizeof(*rows), compare_levels);
    deal(rows, count);
}

bool slurm_raise(struct slurm_raise_row *rows, uint32_t count, uint32_t look)
{
    uint32_t ranked = 0;
    uint32_t end = 0;
    bool is_changed = false;

    for (uint32_t i = 0; i < count; i++) { /* those without a rank come last, and are left alone */
        if (rows[i].rank == 0)
            continue;
        const struct slurm_raise_row row = rows[i];

        rows[i] = rows[ranked];
        rows[ranked++] = row;
    }
    if (ranked > 0)
        qsort(rows, ranked, sizeof(*rows), compare_raised);
    for (uint32_t begin = 0; begin < ranked; begin = end) {
        for (end = begin; end < ranked && rows[end].set == rows[begin].set;)
            end++;
        is_changed |= note_raised(&rows[begin], end - begin, look);
        order_set(&rows[begin], end - begin);
    }
    return is_changed;
}
