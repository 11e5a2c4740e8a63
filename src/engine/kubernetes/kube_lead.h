/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_lead.h - of several copies of a program one runs: leader election by a Lease, as client-go does it.
 *
 * Each copy looks at the Lease "stint-leader" in the namespace "stint". It takes a lease that nobody holds, or one that was
 * not renewed for as long as it lasts, by the clock of who looks; that of two only one succeeds is the server's doing, as the
 * version that was read is a condition of the write. Who holds it runs the command and renews the lease. A holder that cannot
 * renew it for two thirds of that time kills the command with all its children: another copy waits a third longer.
 *
 * Promises:  the command does not outlive this process (it is killed with it), and runs only while the lease is held.
 * Costs:     one request every two seconds, whether it is held or waited for.
 */
#ifndef STINT_ENGINE_KUBE_LEAD_H
#define STINT_ENGINE_KUBE_LEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/units.h"
#include "engine/kubernetes/kube_net.h"

enum { KUBE_LEAD_LASTS_MS = 15000, KUBE_LEAD_GIVE_UP_MS = 10000 };

/* A lease, as the server has it. */
struct kube_lead_seen {
    char holder[KUBE_NAME]; /* "": nobody */
    char version[KUBE_NAME];
    msec_t lasts_ms;
    uint64_t transitions;
};

struct kube_lead {
    char identity[KUBE_NAME]; /* like no other copy's, and no earlier process's */
    char version[KUBE_NAME];  /* of another's lease, as seen last */
    msec_t seen_ms;           /* when that was seen first */
    msec_t held_ms; /* when the last renewal was sent that succeeded; -1: it is not held */
};

enum kube_lead_move {
    KUBE_LEAD_WAIT,
    KUBE_LEAD_WRITE, /* take it, or renew it */
    KUBE_LEAD_LOST,  /* it was held, and another one has it */
};

/* 0, or a negative errno: it is no lease, or has no version. */
int kube_lead_read(const char *text, size_t size, struct kube_lead_seen *ret);

/* What to do about the lease that was seen now. */
enum kube_lead_move kube_lead_judge(struct kube_lead *lead, const struct kube_lead_seen *seen,
                                    msec_t now_ms);

/* Wait for the lease, run the command while it is held, and give it back: the command's exit code (128 and more: killed), or
 * 1 when the lease was lost. SIGTERM and SIGINT are passed on to the command, and end the waiting. */
int kube_lead_run(struct kube_client *client, char **command, struct error *reterr);

#endif
