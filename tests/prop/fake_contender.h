/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_contender.h - one who wants the lease of a fake Slurm: the thread of stint-slurm, or that of another stintd.
 *
 * Each call to slurmctld takes no time, and fails while slurmctld is away.
 */
#ifndef STINT_TESTS_PROP_FAKE_CONTENDER_H
#define STINT_TESTS_PROP_FAKE_CONTENDER_H

#include "base/line.h"
#include "fake_slurm.h"

struct fake_contender {
    bool is_there;
    msec_t begin; /* of the world: the clock that is never set counts from there */
    struct slurm_lease lease, told;
};

void fake_contender_start(struct fake_contender *one, const char *token, const char *cluster,
                          msec_t begin, msec_t now);

/* The steps that are due. */
void fake_contender_tick(struct fake_contender *one, struct fake_slurm *slurm, msec_t now);

/* Of the world; MSEC_NEVER: it is not there. */
msec_t fake_contender_next_wake(const struct fake_contender *one);

/* Whether it is there, and may act. */
bool fake_contender_acts(const struct fake_contender *one, msec_t now);

/* The line 'lease', if it says something new. */
void fake_contender_tell(struct fake_contender *one, struct line_text *out);

#endif
