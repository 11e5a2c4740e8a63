/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/engines.h"

#include <assert.h>

#include "engine/kubernetes/kube_adapter.h"
#include "engine/slurm/slurm_adapter.h"

const struct engine_adapter *const engines[] = { &slurm_adapter, &kube_adapter, NULL };

static_assert(sizeof(engines) / sizeof(*engines) <= ENGINES_MAX + 1, "raise ENGINES_MAX");
