/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_exec.h - a program that prints who we are: an exec plugin of a kubeconfig, run and waited for.
 *
 * Promises:  there is no shell. The plugin has our environment and that of the kubeconfig, and may ask a person on the
 *            terminal. What it prints is wiped after use.
 * Bounds:    KUBE_EXEC_OUTPUT bytes.
 */
#ifndef STINT_ENGINE_KUBE_EXEC_H
#define STINT_ENGINE_KUBE_EXEC_H

#include "base/error.h"
#include "engine/kubernetes/kube_config.h"

enum { KUBE_EXEC_OUTPUT = 1 << 18 };

/* What the plugin says: a token, or a certificate and a key, or all. */
struct kube_credential {
    struct kube_blob token;
    struct kube_blob certificate;
    struct kube_blob key;
};

int kube_exec(const struct kube_config *config, struct kube_credential *ret, struct error *reterr);

/* Read what a plugin has printed, an ExecCredential. */
int kube_credential_read(const char *text, size_t length, struct kube_credential *ret,
                         struct error *reterr);
void kube_credential_done(struct kube_credential *credential);

#endif
