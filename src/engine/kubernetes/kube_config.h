/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_config.h - where the API server is and who we are there: a kubeconfig, or the account of a pod.
 *
 * Understood are certificates and keys (as files or in the text), tokens (as text or in a file) and exec plugins, which
 * print a token or a certificate (kube_exec.h runs them). Passwords and the older auth providers are refused by name.
 *
 * Promises:  secrets are wiped when the configuration is done, and never part of an error's text.
 * Bounds:    those of trace/doc.h; KUBE_WORDS arguments and variables of a plugin.
 * Memory:    owned by the configuration.
 */
#ifndef STINT_ENGINE_KUBE_CONFIG_H
#define STINT_ENGINE_KUBE_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

enum { KUBE_WORDS = 64 };

/* Bytes that may be secret; they end in a zero that does not count. */
struct kube_blob {
    char *data; /* NULL: there is none */
    size_t size;
};

struct kube_config {
    char *server;      /* "https://host:port" */
    char *server_name; /* for TLS; NULL: as in 'server' */
    struct kube_blob ca;
    bool is_insecure; /* somebody has written that no certificate is to be checked */
    struct kube_blob certificate;
    struct kube_blob key;
    struct kube_blob token;
    char *token_path;           /* read whenever a token is needed; NULL: there is none */
    char *exec[KUBE_WORDS + 1]; /* a program and its arguments; NULL at the end, and first: none */
    char *exec_env[KUBE_WORDS + 1]; /* "NAME=value" */
};

/* Read the text of a kubeconfig; files that it names are looked for beside 'path'. 'context': NULL for the current one. */
int kube_config_read(const char *text, size_t length, const char *path, const char *context,
                     struct kube_config *ret, struct error *reterr);

/* The account of the pod that we run in; -ENOENT: we run in none. */
int kube_config_in_cluster(struct kube_config *ret, struct error *reterr);

void kube_config_done(struct kube_config *config);

/* Wipes and frees. */
void kube_blob_done(struct kube_blob *blob);

/* Bytes that were written in base64; -EINVAL. */
int kube_base64(const char *text, size_t length, struct kube_blob *ret);

#endif
