/* SPDX-License-Identifier: Apache-2.0 */
/*
 * learned_risks.h - what a daemon has learned of interruptions, read from its state file, whether it runs or not.
 *
 * Promises:  what the daemon itself would say at that time of machines that have gone; of those that still run
 *            the file has what was written last, at most an hour ago.
 * Costs:     O(offers), and a read of one small table.
 */
#ifndef STINT_CLI_LEARNED_RISKS_H
#define STINT_CLI_LEARNED_RISKS_H

#include "base/error.h"
#include "cli/offer_rows.h"
#include "learn/interruptions.h"
#include "model/catalogue.h"

struct learned_risks {
    struct interruptions interruptions;
    msec_t now;
};

/* The catalogue must outlive it. On failure there is nothing to release. */
int learned_risks_read(const char *state, const struct catalogue *catalogue, msec_t now,
                       struct learned_risks *ret, struct error *reterr);
void learned_risks_done(struct learned_risks *risks);

/* The offer as offer_row_of has it, with what was learned. */
struct offer_row learned_risks_row(const struct learned_risks *risks, uint32_t offer);

#endif
