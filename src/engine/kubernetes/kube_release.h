/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_release.h - open the gate of every pod that waits for Stint: stint-kubernetes for who removes it.
 *
 * Promises:  pods that run are not touched, but for the label if that is asked for.
 */
#ifndef STINT_ENGINE_KUBE_RELEASE_H
#define STINT_ENGINE_KUBE_RELEASE_H

#include <stdint.h>

#include "engine/kubernetes/kube_net.h"

struct kube_released {
    uint32_t opened;
    uint32_t unlabelled; /* by kube_release_all */
    uint32_t refused;
};

/* Returns when all that waited when it began are open, or -ETIMEDOUT: the server has not listed them for a minute. */
int kube_release(struct kube_net *net, struct kube_released *ret, struct error *reterr);

/* The same, and take the label from pods that do not wait. 'is_dry': only count them. */
int kube_release_all(struct kube_net *net, bool is_dry, struct kube_released *ret,
                     struct error *reterr);

#endif
