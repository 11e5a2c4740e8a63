/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * slurm_conf_report.h - report slurmctld's configuration to the daemon, as far as Stint depends on it.
 *
 * Costs:  one request; a second one for a single node when the configuration has changed.
 */
#ifndef STINT_ENGINE_SLURM_CONF_REPORT_H
#define STINT_ENGINE_SLURM_CONF_REPORT_H

#include "base/line.h"
#include "engine/slurm/slurm_release.h"

/* Seconds between two runs of the backfill scheduler, which alone starts heterogeneous jobs; 0: it does not run. */
uint32_t slurm_conf_backfill_s(const slurm_conf_t *conf);

/* Add a line 'configuration' to 'out', if slurmctld answers. */
void slurm_conf_report(struct line_text *out);

#endif
