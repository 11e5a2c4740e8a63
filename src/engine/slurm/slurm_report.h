/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_report.h - a job's speed by way of Slurm: in the comment of the job, which its user may change while it runs.
 *
 * On a rented node there is no socket of the daemon, but there is Slurm, which knows whose the job is. The daemon reads
 * the word "stint:rate=0.83#2" there; the number behind '#' grows with each report.
 *
 * Promises:  all else that the comment says stays. There is no shell.
 * Costs:     two requests to slurmctld for each report (squeue, scontrol update).
 */
#ifndef STINT_ENGINE_SLURM_REPORT_H
#define STINT_ENGINE_SLURM_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

enum { SLURM_REPORT_MAX = 1024 };

/* The comment 'old' with the report. False: it is longer than 'size'. */
bool slurm_report_compose(const char *old, const char *rate, char *ret, size_t size);

/* Whether it is a job's number, and nothing that Slurm's programs would take for something else. */
bool slurm_report_is_job(const char *job);

/* The job that this process is part of, "12" or "12_3"; false: none. */
bool slurm_report_own_job(char *ret, size_t size);

/* Report it for the job. -ENOENT: that is no job of Slurm's. */
int slurm_report_rate(const char *job, const char *rate, struct error *reterr);

#endif
