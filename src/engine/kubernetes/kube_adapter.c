/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_adapter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control/ports/findings.h"
#include "engine/kubernetes/kube_engine.h"
#include "trace/doc_value.h"
#include "trace/settings.h"

/*
 * Configuration.
 */

struct kube_settings {
    const char *program;
    const char *kubeconfig; /* NULL: the account of the pod that the daemon runs in */
    const char *context;
};

static int read_settings(const struct settings *in, const struct doc_node *map, const void **ret)
{
    static const char *const allowed[] = { "kind", "program", "kubeconfig", "context", NULL };
    struct kube_settings *settings = ARENA_ARRAY(in->arena, struct kube_settings, 1);
    int rc = doc_allow_keys(map, allowed, in->reterr);

    settings->program = "stint-kubernetes";
    if (rc == 0)
        rc = doc_get_name(map, "program", &settings->program, in->reterr);
    if (rc == 0)
        rc = settings_file(in, map, "kubeconfig", &settings->kubeconfig);
    if (rc == 0)
        rc = settings_word(in, map, "context", &settings->context);
    if (rc == 0)
        *ret = settings;
    return rc;
}

static bool is_same(const void *a, const void *b)
{
    const struct kube_settings *x = a;
    const struct kube_settings *y = b;

    return settings_same_text(x->program, y->program) &&
           settings_same_text(x->kubeconfig, y->kubeconfig) &&
           settings_same_text(x->context, y->context);
}

static void examine(const void *settings, const struct finding_sink *to)
{
    const struct kube_settings *kube = settings;

    if (kube->kubeconfig == NULL || access(kube->kubeconfig, R_OK) == 0)
        return;
    finding_tell(
        to,
        &(struct finding_case){ FINDING_ENGINE, .subject = "engine.kubeconfig", .severity = "error",
                                .advice = "Name a kubeconfig that stintd's user may read." },
        "stintd cannot read %.300s: %s", kube->kubeconfig, strerror(errno));
}

/* The scheduler binds a pod some 10 ms after its gate is open; a budget may let an eviction wait. */
static struct engine_lags lags(const void *settings)
{
    (void)settings;
    return (struct engine_lags){
        .start_min_ms = 50, .start_max_ms = 2 * MSEC_PER_SEC, .news_ms = 50, .stop_ms = 0
    };
}

/*
 * Life.
 */

static int create(const struct engine_config *config, void **ret, struct error *reterr)
{
    (void)reterr;
    *ret = kube_engine_create(config);
    return 0;
}

static void destroy(void *self)
{
    kube_engine_destroy(self);
}

static struct engine_port port(void *self)
{
    return kube_engine_port(self);
}

/*
 * Lines.
 */

static void connected(void *self, msec_t now)
{
    kube_engine_connected(self, now);
}

static void disconnected(void *self, msec_t now)
{
    kube_engine_disconnected(self, now);
}

static void line(void *self, msec_t now, char *text, size_t length)
{
    kube_engine_line(self, now, text, length);
}

static void flush(void *self, msec_t now)
{
    kube_engine_flush(self, now);
}

static msec_t next_wake(const void *self)
{
    return kube_engine_next_wake(self);
}

static void tick(void *self, msec_t now)
{
    kube_engine_tick(self, now);
}

static const struct adapter_lines lines = {
    .connected = connected,
    .disconnected = disconnected,
    .line = line,
    .flush = flush,
    .next_wake = next_wake,
    .tick = tick,
};

static struct adapter_peer peer(const void *settings, const char *state, struct arena *arena)
{
    static const char *const environment[] = { "KUBERNETES_", "HOME=",        "AWS_",
                                               "NO_PROXY=",   "HTTPS_PROXY=", NULL };
    const struct kube_settings *kube = settings;
    const char **argv = ARENA_ARRAY(arena, const char *, 8);
    uint32_t count = 0;

    (void)state;
    argv[count++] = kube->program;
    argv[count++] = "engine";
    if (kube->kubeconfig != NULL) {
        argv[count++] = "--kubeconfig";
        argv[count++] = kube->kubeconfig;
    }
    if (kube->context != NULL) {
        argv[count++] = "--context";
        argv[count++] = kube->context;
    }
    argv[count] = NULL;
    return (struct adapter_peer){
        .argv = argv,
        .environment = environment,
        .alive = "alive",
        .silence_ms = 30 * MSEC_PER_SEC,
    };
}

static bool is_usable(const void *self)
{
    return kube_engine_is_up(self);
}

static const char *fault(const void *self)
{
    return kube_engine_is_up(self) ? NULL : "the API server has not listed its pods and nodes";
}

/*
 * Tasks and nodes.
 */

static int label(const void *self, uint64_t task, char *buf, size_t size)
{
    return kube_engine_label(self, task, buf, size);
}

static uint64_t find(const void *self, const char *text)
{
    return kube_engine_find(self, text);
}

/* A pod is announced within ten seconds, with those that come beside it: it never waits for the engine alone. */
static bool wait(void *self, uint64_t task, msec_t now, struct engine_wait *ret)
{
    (void)self;
    (void)task;
    (void)now;
    (void)ret;
    return false;
}

/* Pods are not written to when they have ended; the ledger has what they cost. */
static void cost(void *self, uint64_t task, money_t money, const char *type)
{
    (void)self;
    (void)task;
    (void)money;
    (void)type;
}

static void each_stray(const void *self, void (*each)(void *context, uint64_t instance, bool is_up),
                       void *context)
{
    kube_engine_each_stray(self, each, context);
}

static void each_finding(void *self, bool (*knows)(void *context, uint64_t instance), void *context,
                         const struct finding_sink *to)
{
    (void)self;
    (void)knows;
    (void)context;
    (void)to;
}

const struct engine_adapter kube_adapter = {
    .name = "kubernetes",
    .title = "Kubernetes",
    .default_rate = 1.0, /* what a pod requests is its own */
    .pods = 110,          /* the kubelet's default */
    .volumes = INT32_MAX, /* a node without a driver that says how many it attaches has no limit */
    .ready_proves = true, /* kubelet, network and runtime are up, and Karpenter has looked at its resources */
    .words = {
        .not_ready = "Run `kubectl describe nodeclaim` and `kubectl describe node` with its name. Check that it boots and that "
                     "its kubelet reaches the API server. Stint returns it after 'boot_timeout'.",
        .no_boot = "Check the node class, its image and its permissions, and the events of the last NodeClaim. Stint tries "
                   "again by itself, with growing pauses.",
        .no_start = "Read the events of the last pods and the log of the kubelet. Stint tries again by itself, with "
                    "growing pauses.",
        .bad_machine = "Compare the type's resources in the catalogue with the allocatable resources of its nodes, less the "
                       "requests of DaemonSets.",
        .still_busy = "Run `kubectl get pods -A --field-selector spec.nodeName=NODE`. Stint returns the machine when these pods "
                      "have ended.",
    },
    .read = read_settings,
    .is_same = is_same,
    .examine = examine,
    .lags = lags,
    .create = create,
    .destroy = destroy,
    .port = port,
    .lines = &lines,
    .peer = peer,
    .is_usable = is_usable,
    .fault = fault,
    .label = label,
    .find = find,
    .wait = wait,
    .cost = cost,
    .each_stray = each_stray,
    .each_finding = each_finding,
};
