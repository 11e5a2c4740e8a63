/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slurm_adapter.h - Slurm as one of the daemon's engines; its settings are struct slurm_settings.
 */
#ifndef STINT_ENGINE_SLURM_ADAPTER_H
#define STINT_ENGINE_SLURM_ADAPTER_H

#include "engine/engine_adapter.h"

extern const struct engine_adapter slurm_adapter;

#endif
