/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_snapshot.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "engine/kubernetes/kube_needs.h"

enum { LABELS_TEXT = 8192 };

void kube_snapshot_init(struct kube_snapshot *snapshot)
{
    *snapshot = (struct kube_snapshot){ .nodes = NULL };
    names_init(&snapshot->texts);
    map_init(&snapshot->node_by_name);
}

void kube_snapshot_done(struct kube_snapshot *snapshot)
{
    mem_free(snapshot->nodes);
    mem_free(snapshot->pods);
    mem_free(snapshot->budgets);
    map_done(&snapshot->node_by_name);
    names_done(&snapshot->texts);
}

static uint32_t text_of(struct kube_snapshot *snapshot, const char *text)
{
    return text != NULL ? names_add(&snapshot->texts, text, strlen(text)) : NAME_NONE;
}

static const char *label_of(const struct kube_object *object, const char *key, const char *older)
{
    const char *value = kube_object_label(object, key);

    return value != NULL ? value : kube_object_label(object, older);
}

/* Fargate and virtual kubelets are nodes that nobody rents; a control plane is not there for pods. */
static bool is_other(const struct kube_object *node)
{
    const char *type = kube_object_label(node, "type");

    return kube_object_label(node, "node-role.kubernetes.io/control-plane") != NULL ||
           kube_object_label(node, "eks.amazonaws.com/compute-type") != NULL ||
           (type != NULL && strcmp(type, "virtual-kubelet") == 0);
}

static int add_node(struct kube_snapshot *snapshot, const struct kube_object *node)
{
    if (snapshot->node_count == KUBE_NODES_MAX)
        return -E2BIG;
    MEM_ROOM(snapshot->nodes, snapshot->nodes_room, snapshot->node_count + 1);

    const struct kube_node_row row = {
        .name = text_of(snapshot, node->name),
        .type = text_of(snapshot, label_of(node, "node.kubernetes.io/instance-type",
                                           "beta.kubernetes.io/instance-type")),
        .zone = text_of(snapshot, label_of(node, "topology.kubernetes.io/zone",
                                           "failure-domain.beta.kubernetes.io/zone")),
        .market = text_of(snapshot, kube_market_of(node)),
        .arch = text_of(snapshot, label_of(node, "kubernetes.io/arch", "beta.kubernetes.io/arch")),
        .capacity = node->capacity,
        .allocatable = node->allocatable,
        .is_open = node->is_ready && !node->is_closed && !node->is_tainted,
        .is_other = is_other(node),
    };

    map_put(&snapshot->node_by_name, row.name, snapshot->node_count);
    snapshot->nodes[snapshot->node_count++] = row;
    return 0;
}

/* ",a=1,b=2,": in the order of the object, which kubectl and the API server sort. */
static uint32_t pairs_text(struct kube_snapshot *snapshot, const struct kube_pair *pairs,
                           uint32_t count)
{
    char text[LABELS_TEXT] = ",";
    size_t used = 1;

    for (uint32_t i = 0; i < count; i++) {
        const int more =
            snprintf(text + used, sizeof(text) - used, "%s=%s,", pairs[i].key, pairs[i].value);

        if (more < 0 || (size_t)more >= sizeof(text) - used) {
            text[used] = '\0';
            break;
        }
        used += (size_t)more;
    }
    return names_add(&snapshot->texts, text, used);
}

static uint32_t owner_of(struct kube_snapshot *snapshot, const struct kube_object *pod)
{
    char text[2 * KUBE_NAME];

    if (pod->owner_kind == NULL)
        return NAME_NONE;
    (void)snprintf(text, sizeof(text), "%s %s", pod->owner_kind, pod->owner_name);
    return text_of(snapshot, text);
}

static enum kube_stay stay_of(const struct kube_object *pod)
{
    if ((pod->flags & KUBE_POD_MIRROR) != 0 ||
        (pod->owner_kind != NULL &&
         (strcmp(pod->owner_kind, "DaemonSet") == 0 || strcmp(pod->owner_kind, "Node") == 0)))
        return KUBE_STAYS_DAEMON;
    if ((pod->flags & KUBE_POD_GOING) != 0)
        return KUBE_STAYS_GOING;
    if ((pod->flags & KUBE_POD_KEEP) != 0)
        return KUBE_STAYS_KEPT;
    if (pod->owner_kind == NULL)
        return KUBE_STAYS_BARE;
    if ((pod->flags & KUBE_POD_LOCAL) != 0)
        return KUBE_STAYS_LOCAL;
    return (pod->flags & KUBE_POD_TOGETHER) != 0 ? KUBE_STAYS_NEAR : KUBE_MOVES;
}

static int add_pod(struct kube_snapshot *snapshot, const struct kube_object *pod)
{
    struct kube_need need;
    const char *why = pod->strange != NULL                ? pod->strange
                      : (pod->flags & KUBE_POD_AWAY) != 0 ? "it keeps away from other pods"
                                                          : kube_need_of(pod, &need);
    enum kube_stay stay = stay_of(pod);

    if ((pod->flags & KUBE_POD_DONE) != 0)
        return 0;
    if (snapshot->pod_count == KUBE_PODS_MAX)
        return -E2BIG;
    if (why != NULL && stay == KUBE_MOVES)
        stay = KUBE_STAYS_STRANGE;
    if (why != NULL)
        need = (struct kube_need){ .offers = "" };
    MEM_ROOM(snapshot->pods, snapshot->pods_room, snapshot->pod_count + 1);
    snapshot->pods[snapshot->pod_count++] = (struct kube_pod_row){
        .name = text_of(snapshot, pod->name),
        .space = text_of(snapshot, pod->name_space),
        .owner = owner_of(snapshot, pod),
        .node = text_of(snapshot, pod->node),
        .need = text_of(snapshot, need.offers),
        .pool = text_of(snapshot, need.pool),
        .labels = pairs_text(snapshot, pod->label, pod->label_count),
        .why = text_of(snapshot, why),
        .flags = pod->flags,
        .stay = (uint8_t)stay,
        .asks = pod->asks,
    };
    return 0;
}

static int add_budget(struct kube_snapshot *snapshot, const struct kube_object *budget)
{
    if (snapshot->budget_count == KUBE_NODES_MAX)
        return -E2BIG;
    MEM_ROOM(snapshot->budgets, snapshot->budgets_room, snapshot->budget_count + 1);
    snapshot->budgets[snapshot->budget_count++] = (struct kube_budget_row){
        .space = text_of(snapshot, budget->name_space),
        .selector = pairs_text(snapshot, budget->selector, budget->selector_count),
        .is_strange = budget->selector_is_strange,
        .may_disturb = budget->may_disturb,
    };
    return 0;
}

int kube_snapshot_add(struct kube_snapshot *snapshot, const struct kube_object *object)
{
    switch (object->kind) {
    case KUBE_NODE:
        return add_node(snapshot, object);
    case KUBE_POD:
        return add_pod(snapshot, object);
    case KUBE_BUDGET:
        return add_budget(snapshot, object);
    case KUBE_CLAIM:
    case KUBE_VOLUME_CLAIM:
    case KUBE_VOLUME:
    case KUBE_STORAGE_CLASS:
    case KUBE_NODE_CLASS:
    case KUBE_CSI_NODE:
    case KUBE_OTHER:
    default:
        return 0;
    }
}

/* Whether each pair of the selector is among the labels. An empty selector has all; one that says more than pairs is
 * taken to have all, too. */
static bool budget_has(const struct kube_snapshot *snapshot, const struct kube_budget_row *budget,
                       const struct kube_pod_row *pod)
{
    const char *labels = names_text(&snapshot->texts, pod->labels);
    const char *at = names_text(&snapshot->texts, budget->selector);

    if (budget->space != pod->space)
        return false;
    while (at[1] != '\0') { /* ",a=1,b=2,": from comma to comma */
        const char *end = strchr(at + 1, ',');
        char pair[LABELS_TEXT];
        const size_t length = (size_t)(end - at) + 1;

        memcpy(pair, at, length);
        pair[length] = '\0';
        if (strstr(labels, pair) == NULL)
            return false;
        at = end;
    }
    return true;
}

static bool is_held(const struct kube_snapshot *snapshot, const struct kube_pod_row *pod)
{
    for (uint32_t i = 0; i < snapshot->budget_count; i++) {
        const struct kube_budget_row *budget = &snapshot->budgets[i];

        if (budget->may_disturb <= 0 && budget_has(snapshot, budget, pod))
            return true;
    }
    return false;
}

static void close_pod(struct kube_snapshot *snapshot, struct kube_pod_row *pod)
{
    const uint32_t node =
        pod->node != NAME_NONE ? map_get(&snapshot->node_by_name, pod->node) : MAP_NONE;

    pod->node = node != MAP_NONE ? node : KUBE_ROW_NONE;
    if (pod->stay == KUBE_MOVES && is_held(snapshot, pod))
        pod->stay = KUBE_STAYS_BUDGET;
    if (pod->node == KUBE_ROW_NONE)
        return;
    snapshot->nodes[pod->node].pods++;
    if (pod->stay != KUBE_MOVES && pod->stay != KUBE_STAYS_DAEMON)
        snapshot->nodes[pod->node].held++;
}

void kube_snapshot_close(struct kube_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->pod_count; i++)
        close_pod(snapshot, &snapshot->pods[i]);
}

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    (void)event;
    return kube_snapshot_add(context, object);
}

int kube_snapshot_read(struct kube_snapshot *snapshot, const char *text, size_t length,
                       struct error *reterr)
{
    const struct kube_object_sink sink = { .on_object = on_object, .context = snapshot };

    return kube_snapshot_read_by(snapshot, &sink, text, length, reterr);
}

int kube_snapshot_read_by(struct kube_snapshot *snapshot, const struct kube_object_sink *sink,
                          const char *text, size_t length, struct error *reterr)
{
    struct kube_objects *objects = kube_objects_create(KUBE_OTHER, false, sink);
    int rc = kube_objects_read(objects, text, length, reterr);

    if (rc == 0)
        rc = kube_objects_end(objects, reterr);
    kube_objects_destroy(objects);
    if (rc == -E2BIG)
        return error_set(reterr, rc, "more nodes or pods than a cluster has");
    if (rc < 0)
        return rc;
    if (snapshot->node_count == 0)
        return error_set(reterr, -EINVAL,
                         "there is no node in it; make it by: kubectl get "
                         "nodes,pods,poddisruptionbudgets -A -o json");
    kube_snapshot_close(snapshot);
    return 0;
}

const char *kube_stay_text(enum kube_stay stay)
{
    static const char *const text[KUBE_STAY_COUNT] = {
        [KUBE_MOVES] = "can move",
        [KUBE_STAYS_DAEMON] = "belongs to its node (DaemonSet, static pod)",
        [KUBE_STAYS_BARE] = "has no controller to recreate it",
        [KUBE_STAYS_KEPT] = "is annotated as not to be disrupted",
        [KUBE_STAYS_BUDGET] = "has a disruption budget that is used up",
        [KUBE_STAYS_LOCAL] = "uses a hostPath volume",
        [KUBE_STAYS_NEAR] = "requires affinity to other pods",
        [KUBE_STAYS_STRANGE] = "has requirements unknown to Stint",
        [KUBE_STAYS_GOING] = "is terminating",
    };

    assert(stay < KUBE_STAY_COUNT);
    return text[stay];
}
