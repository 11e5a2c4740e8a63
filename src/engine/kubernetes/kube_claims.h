/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_claims.h - machines as Karpenter's NodeClaims: stint-kubernetes for the cloud.
 *
 * It speaks the lines of docs/reference/protocols/local.md. A machine is a NodeClaim without a NodePool, so that Karpenter launches
 * and ends it and leaves it alone in between; its name is the machine's, its labels say whose it is, and the offer that was
 * rented stands in an annotation, so that nothing has to be remembered over a restart. A claim that is deleted before it
 * had a machine was refused; one that somebody else deletes is a machine that is taken away. One that a list lacks is asked for by
 * name before it counts as gone: what runs there would be given up. One that was gone and is seen again is there again, so that
 * the daemon finds it and gives it back. One that is returned while it is launched is deleted when it has its machine, or after
 * two minutes without: Karpenter lets a claim that is deleted in between go, and leaves the machine.
 *
 * The node class is read once a minute, and a machine that it would make otherwise today is reported as outdated (kube_class.h). A
 * node class that may not be read, or that is not there, makes no machine outdated.
 *
 * Memory:    about 130 bytes for each machine since the program began.
 */
#ifndef STINT_ENGINE_KUBE_CLAIMS_H
#define STINT_ENGINE_KUBE_CLAIMS_H

#include "base/map.h"
#include "base/names.h"
#include "engine/kubernetes/kube_class.h"
#include "engine/kubernetes/kube_talk.h"

struct kube_claim {
    uint64_t id;
    uint32_t name;  /* in texts */
    uint32_t offer; /* in texts */
    msec_t billed_from;
    msec_t billed_to;
    struct kube_origin origin;
    uint8_t state; /* of kube_claims.c */
    uint8_t age;   /* enum kube_age, as it was said last */
    bool is_returning;
    bool is_noticed;
    bool is_seen;   /* by the list that is being read */
    bool is_sought; /* a list lacked it, and it is asked for by name */
};

struct kube_claims {
    struct kube_talk talk;
    const char *class_group; /* the node class of every machine */
    const char *class_kind;
    const char *class_name;
    struct kube_class node_class; /* as it was read last; empty: it is not known */
    uint32_t class_guess;         /* of kube_class_path */
    bool is_class_missed;         /* and that was said */
    char cluster[KUBE_NAME];
    struct names texts; /* the first is "", as kube_class.h needs it */
    struct kube_claim *rows;
    uint32_t count, room;
    struct map by_id;
    uint64_t *lists; /* asked for while nothing was known yet */
    uint32_t list_count, lists_room;
    bool is_greeted;
    bool is_synced;
};

void kube_claims_init(struct kube_claims *claims);
void kube_claims_done(struct kube_claims *claims);
void kube_claims_line(struct kube_claims *claims, const struct line *line);

#endif
