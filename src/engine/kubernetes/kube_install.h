/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_install.h - put what Stint needs into a cluster: share/kubernetes/stint.yaml (namespace, admission policy, rights, account), and
 * if there is an image the daemon too, share/kubernetes/daemon.yaml with its configuration. The texts are those of the files.
 *
 * All is applied by the server ("server-side apply", field manager "stint"): what is there already and the same stays as it is.
 *
 * Promises:  may be repeated. With 'is_dry' nothing but reads is asked of the API server. No namespace is labelled: until one is,
 *            no pod is touched.
 */
#ifndef STINT_ENGINE_KUBE_INSTALL_H
#define STINT_ENGINE_KUBE_INSTALL_H

#include <stdbool.h>

#include "engine/kubernetes/kube_client.h"

struct kube_install {
    const char
        *image; /* of the daemon; NULL: it runs elsewhere, and there is no daemon in the cluster */
    const char *conf;      /* the text of its stint.conf */
    const char *catalogue; /* the text of its catalogue */
    bool is_dry;
};

extern const char kube_manifest[]; /* stint.yaml */
extern const char kube_daemon_manifest[];

/* What is done is printed on standard output. -EINVAL: the configuration is not one for a pod; -EIO: the API server refuses. */
int kube_install(struct kube_client *client, const struct kube_install *options,
                 struct error *reterr);

#endif
