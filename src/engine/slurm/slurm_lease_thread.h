/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_lease_thread.h - carries out the steps of slurm_lease.h.
 *
 * A file keeps the token, so the next process goes on at once. The host's name is in the file. A copy
 * on another host does not count.
 *
 * Costs:  a thread of its own, as a call blocks for 10 seconds if slurmctld is away.
 */
#ifndef STINT_ENGINE_SLURM_LEASE_THREAD_H
#define STINT_ENGINE_SLURM_LEASE_THREAD_H

#include "base/error.h"
#include "engine/slurm/slurm_lease.h"

struct slurm_lease_thread;

/* 'file': of the token; NULL: a new one for each process. Runs until the process ends. */
int slurm_lease_start(const char *file, const char *cluster, msec_t life_ms,
                      struct slurm_lease_thread **ret, struct error *reterr);

/* How it stands, and why the last step failed: an error of Slurm; 0: it did not. 'ret_code' may be NULL. */
struct slurm_lease slurm_lease_now(struct slurm_lease_thread *thread, int *ret_code);

/* Of the clock that 'until' is of, CLOCK_MONOTONIC. */
msec_t slurm_lease_clock(void);

#endif
