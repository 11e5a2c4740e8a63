/* SPDX-License-Identifier: Apache-2.0 */
/*
 * res.h - what a task asks for and what a machine has.
 *
 * A vector of whole amounts: milli-CPU, MiB, milli-accelerators, how many tasks, and how many volumes. A further kind is one
 * line in the enum and one in res_kind_name; nothing else counts the kinds by hand.
 *
 * What fits, and what is left, is about all kinds. Prices, scores and bounds are about the first RES_PRICED of them: a place
 * for a task or a volume is never what a machine is rented for, and a bound without it is a bound still.
 */
#ifndef STINT_MODEL_RES_H
#define STINT_MODEL_RES_H

#include <stdbool.h>
#include <stdint.h>

enum res_kind {
    RES_CPU,     /* milli-CPU */
    RES_MEM,     /* MiB */
    RES_ACCEL,   /* milli-accelerators; a fraction of one may be shared */
    RES_PODS,    /* tasks that a machine takes at a time; 0 of a task: it does not count */
    RES_VOLUMES, /* volumes that a machine attaches at a time; 0 of a task: it has none */
    RES_KINDS,
    RES_PRICED = RES_PODS,
};

struct res {
    int64_t amount[RES_KINDS];
};

/* The word for a kind, as in files and tables: "cpu", "mem", "accel", "pods", "volumes". */
static inline const char *res_kind_name(enum res_kind kind)
{
    static const char *const name[RES_KINDS] = { "cpu", "mem", "accel", "pods", "volumes" };

    return name[kind];
}

/* Whether 'want' fits into 'free', in every kind. */
static inline bool res_fits(const struct res *want, const struct res *free)
{
    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (want->amount[kind] > free->amount[kind])
            return false;
    }
    return true;
}

/* How many of 'want' fit into 'free' side by side: 'most' at the most. */
static inline uint32_t res_times(const struct res *want, const struct res *free, uint32_t most)
{
    int64_t times = most;

    for (int kind = 0; kind < RES_KINDS; kind++) {
        if (want->amount[kind] <= 0)
            continue;

        const int64_t fit = free->amount[kind] / want->amount[kind];

        if (fit < times)
            times = fit;
    }
    return times > 0 ? (uint32_t)times : 0;
}

static inline void res_add(struct res *sum, const struct res *more)
{
    for (int kind = 0; kind < RES_KINDS; kind++)
        sum->amount[kind] += more->amount[kind];
}

static inline void res_sub(struct res *sum, const struct res *less)
{
    for (int kind = 0; kind < RES_KINDS; kind++)
        sum->amount[kind] -= less->amount[kind];
}

/* a - b, kind by kind. */
static inline struct res res_minus(const struct res *a, const struct res *b)
{
    struct res left = *a;

    res_sub(&left, b);
    return left;
}

/* The largest share that 'part' takes of any kind of 'whole'; kinds that 'whole' lacks count 0. */
static inline double res_dominant_share(const struct res *part, const struct res *whole)
{
    double largest = 0;

    for (int kind = 0; kind < RES_PRICED; kind++) {
        if (whole->amount[kind] <= 0)
            continue;

        const double share = (double)part->amount[kind] / (double)whole->amount[kind];

        if (share > largest)
            largest = share;
    }
    return largest;
}

#endif
