/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_uninstall.h - take everything of Stint out of a cluster, without a pod being stopped.
 *
 * In this order: labels of namespaces and the admission policy, so that no new pod gets the gate; gates and labels of pods;
 * claims of machines on which no pod runs any more, but those of DaemonSets; then roles, the account and the namespace "stint".
 * A machine that still runs pods stays, and is named: it can be taken back by the same command later. It is refused while
 * Stint renews its lease.
 *
 * Promises:  may be repeated. With 'is_dry' nothing but reads is asked of the API server.
 */
#ifndef STINT_ENGINE_KUBE_UNINSTALL_H
#define STINT_ENGINE_KUBE_UNINSTALL_H

#include <stdbool.h>

#include "engine/kubernetes/kube_client.h"

/* What is done is printed on standard output. -EBUSY: Stint runs, or machines were left; -EIO: the API server refuses. */
int kube_uninstall(struct kube_client *client, bool is_dry, struct error *reterr);

#endif
