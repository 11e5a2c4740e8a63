/* SPDX-License-Identifier: Apache-2.0 */
/*
 * karpenter_adapter.h - machines as NodeClaims of Karpenter, as one of the daemon's clouds.
 *
 * The lines are those of the local cloud; the program at the other end is `stint-kubernetes cloud`, which makes NodeClaims of
 * them. So every cloud that has a Karpenter provider can be rented from.
 */
#ifndef STINT_CLOUD_KARPENTER_ADAPTER_H
#define STINT_CLOUD_KARPENTER_ADAPTER_H

#include "cloud/cloud_adapter.h"

extern const struct cloud_adapter karpenter_adapter;

#endif
