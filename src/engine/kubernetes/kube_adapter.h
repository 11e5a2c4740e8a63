/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_adapter.h - Kubernetes as one of the daemon's engines, through stint-kubernetes.
 */
#ifndef STINT_ENGINE_KUBE_ADAPTER_H
#define STINT_ENGINE_KUBE_ADAPTER_H

#include "engine/engine_adapter.h"

extern const struct engine_adapter kube_adapter;

#endif
