/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_costing.h - what a cluster's nodes cost, what the same pods would cost on other machines, and the least that they
 * can cost.
 *
 * Nodes are priced by the catalogue: type, zone and market of their labels. A node whose price is not there has none; it
 * and its pods are left out of the comparison, and counted.
 *
 * The plan is that of the policy 'stint', the one that the daemon uses, for the pods that can move; those that cannot
 * keep their node, and its room is used. Constraints hold as the pods have them. Beyond that:
 *
 *  - a pod stays in the market of its node, unless 'may_use_spot' says that all may be on spot; and on its architecture;
 *  - one with volumes, or spread over zones, stays in its zone; one with accelerators in its family of machines;
 *  - machines are those of the zones in which the cluster is;
 *  - of a machine, as much is usable as is allocatable on nodes of its type, or by the least share of all nodes; less
 *    what the daemons of the fullest node ask for.
 *
 * The bound is for the same pods without regard to who may be moved and to labels of the site.
 *
 * Promises:  pure but for memory; same input, same answer.
 * Costs:     O(pods + nodes), and one plan for each pool.
 */
#ifndef STINT_ENGINE_KUBE_COSTING_H
#define STINT_ENGINE_KUBE_COSTING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"
#include "engine/kubernetes/kube_snapshot.h"
#include "model/catalogue.h"

/* Machines of one offer, before and after. */
struct kube_costing_row {
    uint32_t offer; /* of the catalogue */
    uint32_t now;
    uint32_t planned;
};

/* What the priced nodes are paid for, per hour: the mean of the shares of processor and memory. */
struct kube_shares {
    money_t pods;
    money_t daemons;
    money_t reserved; /* by the kubelet and the system */
    money_t idle;
};

struct kube_costing {
    uint32_t priced_nodes;
    uint32_t unpriced_nodes; /* without a price in the catalogue */
    uint32_t other_nodes;    /* that nobody rents: control planes, virtual nodes */
    money_t now;
    struct kube_shares shares;

    uint32_t pods;    /* on priced nodes or waiting, daemons apart */
    uint32_t waiting; /* of these */
    uint32_t outside; /* on other and unpriced nodes: not compared */
    uint32_t stays[KUBE_STAY_COUNT];
    uint32_t without_request; /* of these pods ask for nothing, and take no room */
    uint32_t unplaced;        /* no machine of the catalogue holds them */

    uint32_t kept_nodes;       /* because a pod there cannot move */
    uint32_t planned_machines; /* with those */
    uint32_t moves;
    uint32_t over_pod_limit; /* planned machines with more pods than a node of their type takes */
    money_t planned;
    money_t bound;

    struct kube_costing_row *rows; /* by offer */
    uint32_t row_count;
    uint32_t rows_room;
};

/* 'ret' is freed by kube_costing_done. */
void kube_costing(const struct kube_snapshot *snapshot, const struct catalogue *catalogue,
                  bool may_use_spot, struct kube_costing *ret);
void kube_costing_done(struct kube_costing *costing);

#endif
