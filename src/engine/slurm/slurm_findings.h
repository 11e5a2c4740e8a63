/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_findings.h - what is wrong at Slurm, in words for `stint doctor`.
 */
#ifndef STINT_ENGINE_SLURM_FINDINGS_H
#define STINT_ENGINE_SLURM_FINDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "control/ports/adapter.h"
#include "engine/slurm/slurm_engine.h"
#include "engine/slurm/slurm_settings.h"

/* Jobs that nothing can hold or that Slurm does not start, and nodes of machines that are not 'known'. */
void slurm_findings_each(struct slurm_engine *engine,
                         bool (*knows)(void *context, uint64_t instance), void *context,
                         const struct finding_sink *to);

/* Whether stint-slurm can be started. */
void slurm_findings_examine(const struct slurm_settings *settings, const struct finding_sink *to);

#endif
