/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_quantity.h - amounts as Kubernetes writes them: "250m", "1.5", "64Gi", "1e3".
 *
 * Promises:  exact in integers; what is smaller than the unit asked for counts as a whole one, as the API server does.
 * Bounds:    amounts beyond 2^62 of the unit are brought down to that.
 */
#ifndef STINT_ENGINE_KUBE_QUANTITY_H
#define STINT_ENGINE_KUBE_QUANTITY_H

#include <stddef.h>
#include <stdint.h>

/* The amount in thousandths; -EINVAL if the text is no quantity, or below zero. */
int kube_quantity_milli(const char *text, size_t length, int64_t *ret);

/* The amount itself, of bytes. */
int kube_quantity_whole(const char *text, size_t length, int64_t *ret);

#endif
