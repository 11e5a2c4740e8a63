/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_object_rules.h"

#include <string.h>

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

/* clang-format off */
static const struct kube_rule nothing[] = { { 0 } };
static const struct kube_rule any_label[] = { { "*", F_LABEL, NULL }, { 0 } };
static const struct kube_rule annotations[] = {
    { "karpenter.sh/do-not-disrupt", F_KEEP, NULL },
    { "cluster-autoscaler.kubernetes.io/safe-to-evict", F_SAFE, NULL },
    { "kubernetes.io/config.mirror", F_MIRROR, NULL },
    { KUBE_OFFER, F_OFFER, NULL },
    { "stint.dev/gang", F_GANG, NULL },
    { "kueue.x-k8s.io/pod-group-total-count", F_GROUP_SIZE, NULL },
    { "stint.dev/availability", F_AVAILABILITY, NULL },
    { "stint.dev/capacity", F_PROMISED, NULL },
    { "*", F_ANNOTATION, NULL },
    { 0 },
};
static const struct kube_rule owner[] = {
    { "kind", F_OWNER_KIND, NULL }, { "name", F_OWNER_NAME, NULL },
    { "uid", F_OWNER_UID, NULL }, { "controller", F_OWNER_CONTROLS, NULL }, { 0 },
};
static const struct kube_rule metadata[] = {
    { "name", F_NAME, NULL }, { "namespace", F_NAMESPACE, NULL },
    { "resourceVersion", F_VERSION, NULL }, { "uid", F_UID, NULL },
    { "creationTimestamp", F_CREATED, NULL }, { "deletionTimestamp", F_DELETED, NULL },
    { "labels", 0, any_label }, { "annotations", 0, annotations },
    { "ownerReferences", F_OWNER, owner }, { 0 },
};
static const struct kube_rule any_request[] = { { "*", F_REQUEST, NULL }, { 0 } };
static const struct kube_rule any_limit[] = { { "*", F_LIMIT, NULL }, { 0 } };
static const struct kube_rule any_pod_request[] = { { "*", F_POD_REQUEST, NULL }, { 0 } };
static const struct kube_rule any_overhead[] = { { "*", F_OVERHEAD, NULL }, { 0 } };
static const struct kube_rule any_selector[] = { { "*", F_SELECTOR, NULL }, { 0 } };
static const struct kube_rule any_capacity[] = { { "*", F_CAPACITY, NULL }, { 0 } };
static const struct kube_rule any_allocatable[] = { { "*", F_ALLOCATABLE, NULL }, { 0 } };
static const struct kube_rule resources[] = {
    { "requests", 0, any_request }, { "limits", 0, any_limit }, { 0 },
};
static const struct kube_rule pod_resources[] = { { "requests", 0, any_pod_request }, { 0 } };
static const struct kube_rule port[] = { { "hostPort", F_HOST_PORT, NULL }, { 0 } };
static const struct kube_rule container[] = {
    { "resources", 0, resources }, { "ports", 0, port }, { 0 },
};
static const struct kube_rule init_container[] = {
    { "resources", 0, resources }, { "ports", 0, port }, { "restartPolicy", F_RESTART, NULL }, { 0 },
};
static const struct kube_rule gate[] = { { "name", F_GATE, NULL }, { 0 } };
static const struct kube_rule taint[] = {
    { "key", F_TAINT_KEY, NULL }, { "effect", F_TAINT_EFFECT, NULL }, { 0 },
};
static const struct kube_rule toleration[] = {
    { "key", F_TOLERATION_KEY, NULL }, { "operator", F_TOLERATION_OPERATOR, NULL },
    { "effect", F_TOLERATION_EFFECT, NULL }, { 0 },
};
static const struct kube_rule claim[] = { { "claimName", F_CLAIM_NAME, NULL }, { 0 } };
static const struct kube_rule volume[] = {
    { "hostPath", F_HOST_PATH, nothing }, { "persistentVolumeClaim", F_CLAIM, claim },
    { "ephemeral", F_ODD_CLAIM, nothing }, { "csi", F_ODD_CLAIM, nothing },
    { "awsElasticBlockStore", F_ODD_CLAIM, nothing }, { "gcePersistentDisk", F_ODD_CLAIM, nothing },
    { "azureDisk", F_ODD_CLAIM, nothing }, { "cinder", F_ODD_CLAIM, nothing },
    { "rbd", F_ODD_CLAIM, nothing }, { "iscsi", F_ODD_CLAIM, nothing },
    { "vsphereVolume", F_ODD_CLAIM, nothing }, { "portworxVolume", F_ODD_CLAIM, nothing }, { 0 },
};
static const struct kube_rule driver_allocatable[] = { { "count", F_VOLUME_LIMIT, NULL }, { 0 } };
static const struct kube_rule driver[] = { { "allocatable", 0, driver_allocatable }, { 0 } };
static const struct kube_rule pod_os[] = { { "name", F_SYSTEM, NULL }, { 0 } };
static const struct kube_rule device_claim[] = { { "name", F_DEVICE_CLAIM, NULL }, { 0 } };
static const struct kube_rule expression[] = {
    { "key", F_EXPRESSION_KEY, NULL }, { "operator", F_EXPRESSION_OPERATOR, NULL },
    { "values", F_EXPRESSION_VALUE, NULL }, { 0 },
};
static const struct kube_rule term[] = {
    { "matchExpressions", F_EXPRESSION, expression }, { "matchFields", F_MATCH_FIELD, nothing }, { 0 },
};
static const struct kube_rule terms[] = { { "nodeSelectorTerms", F_TERM, term }, { 0 } };
static const struct kube_rule node_affinity[] = {
    { REQUIRED, 0, terms }, { PREFERRED, F_PREFERENCE, nothing }, { 0 },
};
static const struct kube_rule volume_affinity[] = { { "required", 0, terms }, { 0 } };
static const struct kube_rule apart_label[] = { { "*", F_APART_LABEL, NULL }, { 0 } };
static const struct kube_rule apart_expression[] = {
    { "key", F_APART_EXPRESSION_KEY, NULL }, { "operator", F_APART_EXPRESSION_OPERATOR, NULL },
    { "values", F_APART_EXPRESSION_VALUE, NULL }, { 0 },
};
static const struct kube_rule apart_selector[] = {
    { "matchLabels", 0, apart_label }, { "matchExpressions", F_APART_EXPRESSION, apart_expression }, { 0 },
};
static const struct kube_rule apart[] = {
    { "topologyKey", F_APART_KEY, NULL }, { "labelSelector", F_APART_SELECTOR, apart_selector },
    { "namespaces", F_APART_SPACE, NULL }, { "namespaceSelector", F_APART_SPACES, nothing }, { 0 },
};
static const struct kube_rule anti_affinity[] = {
    { REQUIRED, F_APART, apart }, { PREFERRED, F_PREFERENCE, nothing }, { 0 },
};
static const struct kube_rule pod_affinity[] = {
    { REQUIRED, F_TOGETHER, apart }, { PREFERRED, F_PREFERENCE, nothing }, { 0 },
};
static const struct kube_rule affinity[] = {
    { "nodeAffinity", 0, node_affinity }, { "podAffinity", 0, pod_affinity },
    { "podAntiAffinity", 0, anti_affinity }, { 0 },
};
static const struct kube_rule spread[] = {
    { "topologyKey", F_SPREAD_KEY, NULL }, { "whenUnsatisfiable", F_SPREAD_WHEN, NULL },
    { "maxSkew", F_SPREAD_SKEW, NULL }, { "minDomains", F_SPREAD_LEAST, NULL },
    { "nodeAffinityPolicy", F_SPREAD_NODES, NULL }, { "labelSelector", F_APART_SELECTOR, apart_selector }, { 0 },
};
static const struct kube_rule budget_selector[] = {
    { "matchLabels", 0, any_selector }, { "matchExpressions", F_BUDGET_STRANGE, nothing }, { 0 },
};
static const struct kube_rule spec[] = {
    { "containers", F_CONTAINER, container }, { "nodeName", F_NODE, NULL },
    { "volumes", 0, volume },
    { "initContainers", F_INIT_CONTAINER, init_container }, { "nodeSelector", 0, any_selector },
    { "affinity", 0, affinity }, { "topologySpreadConstraints", F_SPREAD, spread },
    { "restartPolicy", F_POD_RESTART, NULL },
    { "priority", F_PRIORITY, NULL }, { "overhead", 0, any_overhead },
    { "resources", 0, pod_resources }, { "schedulingGates", 0, gate },
    { "resourceClaims", 0, device_claim }, { "taints", F_TAINT, taint },
    { "tolerations", F_TOLERATION, toleration },
    { "schedulerName", F_SCHEDULER, NULL }, { "os", 0, pod_os },
    { "workloadRef", F_WORKLOAD, nothing }, { "schedulingGroup", F_WORKLOAD, nothing },
    { "unschedulable", F_CLOSED, NULL }, { "selector", 0, budget_selector },
    { "volumeName", F_VOLUME, NULL }, { "storageClassName", F_CLASS, NULL },
    { "nodeAffinity", 0, volume_affinity }, { "drivers", 0, driver }, { 0 },
};
static const struct kube_rule condition[] = {
    { "type", F_CONDITION_TYPE, NULL }, { "status", F_CONDITION_STATUS, NULL },
    { "lastTransitionTime", F_CONDITION_SINCE, NULL }, { 0 },
};
static const struct kube_rule class_image[] = { { "id", F_CLASS_IMAGE, NULL }, { 0 } };
static const struct kube_rule status[] = {
    { "phase", F_PHASE, NULL }, { "capacity", 0, any_capacity },
    { "allocatable", 0, any_allocatable }, { "conditions", F_CONDITION, condition },
    { "disruptionsAllowed", F_MAY_DISTURB, NULL }, { "providerID", F_PROVIDER, NULL },
    { "imageID", F_IMAGE, NULL }, { "amis", 0, class_image }, { 0 },
};
static const struct kube_rule object_rules[] = {
    { "kind", F_KIND, NULL }, { "metadata", 0, metadata }, { "spec", 0, spec },
    { "status", 0, status }, { "volumeBindingMode", F_BINDING, NULL },
    { "provisioner", F_PROVISIONER, NULL }, { "allowedTopologies", F_TOPOLOGIES, nothing }, { 0 },
};
static const struct kube_rule list_metadata[] = {
    { "resourceVersion", F_LIST_VERSION, NULL }, { "continue", F_LIST_NEXT, NULL }, { 0 },
};
const struct kube_rule kube_list_rules[] = {
    { "kind", F_LIST_KIND, NULL }, { "metadata", 0, list_metadata }, { "items", F_OBJECT, object_rules }, { 0 },
};
const struct kube_rule kube_watch_rules[] = {
    { "type", F_EVENT, NULL }, { "object", F_OBJECT, object_rules }, { 0 },
};
/* clang-format on */

static bool ends_in(const char *text, size_t length, const char *end)
{
    const size_t size = strlen(end);

    return length >= size && memcmp(text + length - size, end, size) == 0;
}

enum kube_kind kube_kind_of(const char *text, size_t length)
{
    static const struct {
        const char *name;
        enum kube_kind kind;
    } kinds[] = {
        { "Pod", KUBE_POD },
        { "Node", KUBE_NODE },
        { "PodDisruptionBudget", KUBE_BUDGET },
        { "NodeClaim", KUBE_CLAIM },
        { "PersistentVolumeClaim", KUBE_VOLUME_CLAIM },
        { "PersistentVolume", KUBE_VOLUME },
        { "StorageClass", KUBE_STORAGE_CLASS },
        { "CSINode", KUBE_CSI_NODE },
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strlen(kinds[i].name) == length && memcmp(text, kinds[i].name, length) == 0)
            return kinds[i].kind;
    }
    return ends_in(text, length, "NodeClass") ? KUBE_NODE_CLASS : KUBE_OTHER;
}

enum kube_kind kube_kind_of_list(const char *text, size_t length)
{
    return ends_in(text, length, "List") ? kube_kind_of(text, length - strlen("List")) : KUBE_OTHER;
}

bool kube_key_is_hash(const char *key)
{
    const size_t length = strlen(key);

    return ends_in(key, length, "nodeclass-hash") || ends_in(key, length, "nodeclass-hash-version");
}
