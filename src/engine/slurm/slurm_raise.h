/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_raise.h - who goes before whom among jobs of one user after "scontrol top".
 *
 * Slurm lets a user reorder jobs of the same account, partition and QOS ("a set"), by nice values that outweigh the difference of
 * priority, as Slurm counts it. Behind the gate Slurm counts no age, so these values, often a single point, do not outweigh the
 * age that slurm_rank.h adds. What the user asked for can be seen, though: nice values of waiting jobs grow. Then the jobs of the
 * set whose value falls, or if there is none, those whose value stays, are raised: they go before every job of the set that
 * waited at that time and was not raised since. What is submitted later is compared by rank alone.
 *
 * The ranks of a set are dealt out again among its jobs, so that nobody gains or loses against another set.
 *
 * Promises:  pure, but for what it writes into the rows. Sets in which nobody was ever raised keep their ranks.
 * Costs:     O(jobs log jobs), and in a set with raised jobs O(jobs x times that its jobs were raised).
 */
#ifndef STINT_ENGINE_SLURM_RAISE_H
#define STINT_ENGINE_SLURM_RAISE_H

#include <stdbool.h>
#include <stdint.h>

/* A waiting job. Looks are counted from 1. */
struct slurm_raise_row {
    uint64_t set;
    int64_t submitted;
    uint32_t id;
    uint32_t run;      /* not looked at here */
    uint32_t rank;     /* 0: none, it is left alone; else in and out */
    uint32_t nice;     /* now */
    uint32_t old_nice; /* at the look before; of no account if this is its first */
    uint32_t seen;     /* the look that saw it first */
    uint32_t raised;   /* the look at which it was raised last, 0: never; in and out */
    uint32_t tag;      /* the caller's */
    uint32_t level;    /* scratch */
};

/* Rank the rows of the look 'look', in any order, which is changed. Whether a nice value has changed since the look before. */
bool slurm_raise(struct slurm_raise_row *rows, uint32_t count, uint32_t look);

#endif
