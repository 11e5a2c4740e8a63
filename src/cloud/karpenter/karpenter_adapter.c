/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/karpenter/karpenter_adapter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cloud/local/local_cloud.h"
#include "control/ports/findings.h"
#include "trace/doc_value.h"
#include "trace/settings.h"

/*
 * Configuration.
 */

struct karpenter_settings {
    const char *program;
    const char *kubeconfig; /* NULL: the account of the pod that the daemon runs in */
    const char *context;
    const char *node_class; /* "GROUP/KIND/NAME" */
};

static int read_settings(const struct settings *in, const struct doc_node *map, const void **ret)
{
    static const char *const allowed[] = { "kind",    "program",    "kubeconfig",
                                           "context", "node_class", NULL };
    struct karpenter_settings *settings = ARENA_ARRAY(in->arena, struct karpenter_settings, 1);
    int rc = doc_allow_keys(map, allowed, in->reterr);

    settings->program = "stint-kubernetes";
    settings->node_class = "karpenter.k8s.aws/EC2NodeClass/default";
    if (rc == 0)
        rc = doc_get_name(map, "program", &settings->program, in->reterr);
    if (rc == 0)
        rc = settings_file(in, map, "kubeconfig", &settings->kubeconfig);
    if (rc == 0)
        rc = settings_word(in, map, "context", &settings->context);
    if (rc == 0)
        rc = doc_get_name(map, "node_class", &settings->node_class, in->reterr);
    if (rc == 0)
        *ret = settings;
    return rc;
}

static bool is_same(const void *a, const void *b)
{
    const struct karpenter_settings *x = a;
    const struct karpenter_settings *y = b;

    return settings_same_text(x->program, y->program) &&
           settings_same_text(x->kubeconfig, y->kubeconfig) &&
           settings_same_text(x->context, y->context) &&
           settings_same_text(x->node_class, y->node_class);
}

static void examine(const struct cloud_subject *subject, const struct finding_sink *to)
{
    const struct karpenter_settings *settings = subject->settings;

    if (settings->kubeconfig == NULL || access(settings->kubeconfig, R_OK) == 0)
        return;
    finding_tell(
        to,
        &(struct finding_case){ FINDING_CLOUD, .subject = "cloud.kubeconfig", .severity = "error",
                                .advice = "Name a kubeconfig that stintd's user may read." },
        "stintd cannot read %.300s: %s", settings->kubeconfig, strerror(errno));
}

static const char *region(const void *settings)
{
    (void)settings;
    return "";
}

/* Its lists are those of the API server. */
static msec_t settle_ms(const void *settings)
{
    (void)settings;
    return 0;
}

/*
 * Life.
 */

static int create(const struct cloud_config *config, void **ret, struct error *reterr)
{
    (void)reterr;
    *ret = local_cloud_create(&(struct local_cloud_config){
        .catalogue = config->catalogue,
        .cluster = config->cluster,
        .node_prefix = config->node_prefix,
        .on_event = config->on_event,
        .on_send = config->on_send,
        .context = config->context,
    });
    return 0;
}

static void destroy(void *self)
{
    local_cloud_destroy(self);
}

static struct cloud_port port(void *self)
{
    return local_cloud_port(self);
}

/*
 * Lines.
 */

static void connected(void *self, msec_t now)
{
    local_cloud_connected(self, now);
}

static void disconnected(void *self, msec_t now)
{
    local_cloud_disconnected(self, now);
}

static void line(void *self, msec_t now, char *text, size_t length)
{
    local_cloud_line(self, now, text, length);
}

static void flush(void *self, msec_t now)
{
    local_cloud_flush(self, now);
}

static msec_t next_wake(const void *self)
{
    return local_cloud_next_wake(self);
}

static void tick(void *self, msec_t now)
{
    local_cloud_tick(self, now);
}

static const struct adapter_lines lines = {
    .connected = connected,
    .disconnected = disconnected,
    .line = line,
    .flush = flush,
    .next_wake = next_wake,
    .tick = tick,
};

static struct adapter_peer peer(const void *settings, struct arena *arena)
{
    static const char *const environment[] = { "KUBERNETES_", "HOME=",        "AWS_",
                                               "NO_PROXY=",   "HTTPS_PROXY=", NULL };
    const struct karpenter_settings *karpenter = settings;
    const char **argv = ARENA_ARRAY(arena, const char *, 10);
    uint32_t count = 0;

    argv[count++] = karpenter->program;
    argv[count++] = "cloud";
    argv[count++] = "--node-class";
    argv[count++] = karpenter->node_class;
    if (karpenter->kubeconfig != NULL) {
        argv[count++] = "--kubeconfig";
        argv[count++] = karpenter->kubeconfig;
    }
    if (karpenter->context != NULL) {
        argv[count++] = "--context";
        argv[count++] = karpenter->context;
    }
    argv[count] = NULL;
    return (struct adapter_peer){ .argv = argv, .environment = environment };
}

static bool is_usable(const void *self)
{
    return local_cloud_is_ready(self);
}

static const char *fault(const void *self)
{
    return local_cloud_is_ready(self) ? NULL : "stint-kubernetes has not said hello";
}

const struct cloud_adapter karpenter_adapter = {
    .name = "karpenter",
    .down_advice = "Run `kubectl get nodeclaims`, and read Karpenter's log.",
    .read = read_settings,
    .is_same = is_same,
    .examine = examine,
    .region = region,
    .settle_ms = settle_ms,
    .create = create,
    .destroy = destroy,
    .port = port,
    .lines = &lines,
    .peer = peer,
    .is_usable = is_usable,
    .fault = fault,
};
