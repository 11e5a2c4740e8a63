/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_plan.h - `stint plan` for a Kubernetes cluster: what its nodes cost, what the same pods would cost on other
 * machines, and the least that they can cost. It only reads.
 */
#ifndef STINT_CLI_KUBE_PLAN_H
#define STINT_CLI_KUBE_PLAN_H

#include <stdbool.h>

/* Whether the arguments of `stint plan` are about a cluster of Kubernetes. */
bool kube_plan_is_meant(int argc, char **argv);

int kube_plan_run(int argc, char **argv);

#endif
