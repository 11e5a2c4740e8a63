/* SPDX-License-Identifier: Apache-2.0 */
/* A kubeconfig, what an exec plugin prints, and a Lease: refused or read; what was read names an https server, or has a secret,
 * or a version. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "engine/kubernetes/kube_config.h"
#include "engine/kubernetes/kube_exec.h"
#include "engine/kubernetes/kube_lead.h"

static void read_config(const char *text, size_t length)
{
    struct kube_config config;
    struct error error = { "" };

    if (kube_config_read(text, length, "nowhere/config", NULL, &config, &error) < 0) {
        assert(error.text[0] != '\0');
        return;
    }
    assert(strncmp(config.server, "https://", 8) == 0);
    kube_config_done(&config);
}

static void read_credential(const char *text, size_t length)
{
    struct kube_credential credential;
    struct error error = { "" };

    if (kube_credential_read(text, length, &credential, &error) < 0)
        return;
    assert(credential.token.data != NULL || credential.key.data != NULL);
    kube_credential_done(&credential);
}

static void read_lease(const char *text, size_t length)
{
    struct kube_lead_seen seen;

    if (kube_lead_read(text, length, &seen) < 0)
        return;
    assert(seen.version[0] != '\0' && strpbrk(seen.version, "\"\\") == NULL);
    assert(seen.lasts_ms > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    if (data[0] == 'L')
        read_lease((const char *)data + 1, size - 1);
    else if (data[0] % 2 == 0)
        read_config((const char *)data + 1, size - 1);
    else
        read_credential((const char *)data + 1, size - 1);
    return 0;
}
