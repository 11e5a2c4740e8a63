/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_protocol.h - what both ends of the pipe between the daemon and stint-kubernetes must agree on;
 * docs/reference/protocols/kubernetes.md has the words.
 */
#ifndef STINT_ENGINE_KUBE_PROTOCOL_H
#define STINT_ENGINE_KUBE_PROTOCOL_H

#include <stdint.h>

enum { KUBE_PROTOCOL = 1, KUBE_ALIVE_MS = 5000, KUBE_GANG_MAX = 4096 };

#endif
