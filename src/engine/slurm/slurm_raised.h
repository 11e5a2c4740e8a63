/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_raised.h - what slurm_raise.h has seen users do, kept in a file while stint-slurm does not run.
 *
 * Nothing in Slurm tells it: nice values may have been given with the job, and do not say which jobs were there when they changed.
 * The file has lines (base/line.h): a head with the number of the look, a line for each waiting job of a set in which one was
 * raised, and an end with their count. Who is not in it came later.
 *
 * Promises:  any bytes may be parsed; a failure has a text and leaves 'ret' as it was. The file is replaced as a whole, so that
 *            there is always the old one or the new one. A job that has the number of an earlier one is not taken for it.
 * Costs:     O(waiting jobs) when a user changes the order; about 60 bytes on disk for each job of the sets concerned.
 * Memory:    a struct slurm_raised owns its rows.
 */
#ifndef STINT_ENGINE_SLURM_RAISED_H
#define STINT_ENGINE_SLURM_RAISED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/line.h"
#include "base/map.h"
#include "engine/slurm/slurm_raise.h"

/* All zero: nothing is known. */
struct slurm_raised {
    struct slurm_raise_row *rows; /* without 'set' and 'rank' */
    uint32_t count, room;
    uint32_t look; /* none in the rows is later */
    struct map index_of;
};

void slurm_raised_done(struct slurm_raised *raised);

/* The text of the file for these rows, which are used up. */
void slurm_raised_print(struct slurm_raise_row *rows, uint32_t count, uint32_t look,
                        struct line_text *out);

/* Read it, which changes the text; 'ret' is all zero. */
int slurm_raised_parse(char *text, size_t length, struct slurm_raised *ret, struct error *reterr);

/* The same with a file; if there is none, nothing is known. */
int slurm_raised_save(const char *path, struct slurm_raise_row *rows, uint32_t count, uint32_t look,
                      struct error *reterr);
int slurm_raised_load(const char *path, struct slurm_raised *ret, struct error *reterr);

/* Give the row what is known of it: 'old_nice', 'seen' and 'raised'. False: nothing. */
bool slurm_raised_recall(const struct slurm_raised *raised, struct slurm_raise_row *row);

#endif
