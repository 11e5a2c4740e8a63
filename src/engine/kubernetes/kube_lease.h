/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_lease.h - a sign of life in the cluster, and who opens the gates when it ends.
 *
 * Who speaks for a daemon that opens gates renews the Lease "stint" in the namespace "stint" every few seconds; in mode shadow
 * nobody does. A watchdog, which runs apart from the daemon, looks at it: when it was not renewed for so long, by the watchdog's
 * own clock, every pod that waits at the gate is released, again and again until somebody renews it. A server that does not
 * answer says nothing about the daemon.
 */
#ifndef STINT_ENGINE_KUBE_LEASE_H
#define STINT_ENGINE_KUBE_LEASE_H

#include <stdbool.h>

#include "base/units.h"
#include "engine/kubernetes/kube_net.h"

struct kube_lease {
    msec_t due_ms; /* by the monotonic clock; 0: at once */
    bool is_asked;
    struct kube_net *net;
};

/* Renew it if that is due. */
void kube_lease_tick(struct kube_lease *lease, struct kube_net *net, msec_t now_ms);

/* Watch over it, for ever. */
void kube_lease_watch(struct kube_client *client, msec_t after_ms) __attribute__((noreturn));

#endif
