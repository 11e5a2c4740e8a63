/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_anonymise.h"

#include <inttypes.h>
#include <jansson.h>
#include <string.h>

enum { WORD = 48 };

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

void kube_anonymiser_init(struct kube_anonymiser *anonymiser, FILE *to)
{
    names_init(&anonymiser->names);
    anonymiser->to = to;
}

void kube_anonymiser_done(struct kube_anonymiser *anonymiser)
{
    names_done(&anonymiser->names);
}

static json_t *name(struct kube_anonymiser *anonymiser, const char *text)
{
    char word[WORD];

    (void)snprintf(word, sizeof(word), "x%" PRIu32,
                   names_add(&anonymiser->names, text, strlen(text)) + 1);
    return json_string(word);
}

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcmp(text, *words) == 0)
            return true;
    }
    return false;
}

/* Labels that the cloud or Kubernetes puts on nodes, and by which machines are known. */
static bool is_public(const char *key)
{
    static const char *const keys[] = { "node.kubernetes.io/instance-type",
                                        "beta.kubernetes.io/instance-type",
                                        "topology.kubernetes.io/zone",
                                        "failure-domain.beta.kubernetes.io/zone",
                                        "karpenter.sh/capacity-type",
                                        "eks.amazonaws.com/capacityType",
                                        "eks.amazonaws.com/compute-type",
                                        "node.kubernetes.io/lifecycle",
                                        "cloud.google.com/gke-spot",
                                        "karpenter.k8s.aws/instance-family",
                                        "kubernetes.io/arch",
                                        "beta.kubernetes.io/arch",
                                        "kubernetes.io/os",
                                        "beta.kubernetes.io/os",
                                        "node-role.kubernetes.io/control-plane",
                                        "node-role.kubernetes.io/master",
                                        NULL };

    return is_one_of(key, keys);
}

/* Of a node, 'type' may say that it is none; elsewhere it may be anything. */
static bool is_kept(const struct kube_object *object, const char *key, const char *text)
{
    if (strcmp(key, "type") == 0)
        return object->kind == KUBE_NODE && strcmp(text, "virtual-kubelet") == 0;
    return is_public(key);
}

static json_t *value(struct kube_anonymiser *anonymiser, bool is_plain, const char *text)
{
    json_t *plain = is_plain ? json_string(text) : NULL; /* NULL: it is no UTF-8 */

    return plain != NULL ? plain : name(anonymiser, text);
}

/* The key as JSON objects have it. */
static const char *key_of(struct kube_anonymiser *anonymiser, const struct kube_object *object,
                          const char *key, const char *text, char *word)
{
    if (is_kept(object, key, text) || strcmp(key, "kubernetes.io/hostname") == 0)
        return key;
    (void)snprintf(word, WORD, "x%" PRIu32, names_add(&anonymiser->names, key, strlen(key)) + 1);
    return word;
}

static json_t *pairs(struct kube_anonymiser *anonymiser, const struct kube_object *object,
                     const struct kube_pair *pair, uint32_t count)
{
    json_t *root = json_object();
    char word[WORD];

    for (uint32_t i = 0; i < count; i++)
        (void)json_object_set_new(
            root, key_of(anonymiser, object, pair[i].key, pair[i].value, word),
            value(anonymiser, is_kept(object, pair[i].key, pair[i].value), pair[i].value));
    return root;
}

static json_t *quantity(int64_t amount, const char *unit)
{
    char word[WORD];

    (void)snprintf(word, sizeof(word), "%" PRId64 "%s", amount, unit);
    return json_string(word);
}

static json_t *amounts(const struct kube_object *object, const struct kube_amounts *of)
{
    const bool is_other = (object->flags & KUBE_POD_OTHER_ACCEL) != 0;
    json_t *root = json_object();

    (void)json_object_set_new(root, "cpu", quantity(of->cpu, "m"));
    (void)json_object_set_new(root, "memory", quantity(of->mem, "Mi"));
    if (of->accel > 0)
        (void)json_object_set_new(root, is_other ? "amd.com/gpu" : "nvidia.com/gpu",
                                  quantity(of->accel, "m"));
    if (object->kind == KUBE_NODE)
        (void)json_object_set_new(root, "pods", quantity(of->pods, ""));
    if ((object->flags & KUBE_POD_DISK) != 0)
        (void)json_object_set_new(root, "ephemeral-storage", quantity(1, ""));
    return root;
}

static json_t *owners(struct kube_anonymiser *anonymiser, const struct kube_object *object)
{
    static const char *const kinds[] = { "Job",       "ReplicaSet", "StatefulSet",
                                         "DaemonSet", "Node",       NULL };

    return json_pack("[{s:o, s:o, s:o, s:b}]", "kind",
                     value(anonymiser, is_one_of(object->owner_kind, kinds), object->owner_kind),
                     "name", name(anonymiser, object->owner_name), "uid",
                     name(anonymiser, object->owner_uid), "controller", 1);
}

static json_t *metadata(struct kube_anonymiser *anonymiser, const struct kube_object *object)
{
    json_t *root = json_pack("{s:o, s:o}", "name", name(anonymiser, object->name), "labels",
                             pairs(anonymiser, object, object->label, object->label_count));
    json_t *annotations = json_object();

    if (object->name_space[0] != '\0')
        (void)json_object_set_new(root, "namespace", name(anonymiser, object->name_space));
    if (object->owner_kind != NULL)
        (void)json_object_set_new(root, "ownerReferences", owners(anonymiser, object));
    if ((object->flags & KUBE_POD_GOING) != 0)
        (void)json_object_set_new(root, "deletionTimestamp", json_string("2000-01-01T00:00:00Z"));
    if ((object->flags & KUBE_POD_KEEP) != 0)
        (void)json_object_set_new(annotations, "karpenter.sh/do-not-disrupt", json_string("true"));
    if ((object->flags & KUBE_POD_MIRROR) != 0)
        (void)json_object_set_new(annotations, "kubernetes.io/config.mirror", json_string("x"));
    (void)json_object_set_new(root, "annotations", annotations);
    return root;
}

static json_t *expression(struct kube_anonymiser *anonymiser, const struct kube_object *pod,
                          const struct kube_requirement *requirement)
{
    static const char *const words[] = { [KUBE_IN] = "In",
                                         [KUBE_NOT_IN] = "NotIn",
                                         [KUBE_EXISTS] = "Exists",
                                         [KUBE_ABSENT] = "DoesNotExist",
                                         [KUBE_STRANGE_OPERATOR] = "Gt" };
    json_t *values = json_array();
    char word[WORD];

    for (uint32_t i = 0; i < requirement->value_count; i++)
        (void)json_array_append_new(
            values, value(anonymiser, is_kept(pod, requirement->key, ""), requirement->value[i]));
    return json_pack("{s:s, s:s, s:o}", "key", key_of(anonymiser, pod, requirement->key, "", word),
                     "operator", words[requirement->comparison], "values", values);
}

static json_t *node_terms(struct kube_anonymiser *anonymiser, const struct kube_object *pod)
{
    json_t *terms = json_array();

    for (uint32_t i = 0; i < pod->term_count; i++)
        (void)json_array_append_new(terms, json_pack("{s:[]}", "matchExpressions"));
    for (uint32_t i = 0; i < pod->requirement_count; i++) {
        const struct kube_requirement *one = &pod->requirement[i];

        (void)json_array_append_new(
            json_object_get(json_array_get(terms, one->term), "matchExpressions"),
            expression(anonymiser, pod, one));
    }
    return terms;
}

static json_t *affinity(struct kube_anonymiser *anonymiser, const struct kube_object *pod)
{
    json_t *root = json_object();

    if (pod->term_count > 0)
        (void)json_object_set_new(
            root, "nodeAffinity",
            json_pack("{s:{s:o}}", REQUIRED, "nodeSelectorTerms", node_terms(anonymiser, pod)));
    if ((pod->flags & KUBE_POD_TOGETHER) != 0)
        (void)json_object_set_new(root, "podAffinity", json_pack("{s:[{}]}", REQUIRED));
    if ((pod->flags & KUBE_POD_APART) != 0)
        (void)json_object_set_new(
            root, "podAntiAffinity",
            json_pack("{s:[{s:s}]}", REQUIRED, "topologyKey", "kubernetes.io/hostname"));
    return root;
}

/* What a flag stands for, in the least words that are read as it again. */
static void add_flags(const struct kube_object *pod, json_t *spec)
{
    json_t *spreads = json_array();
    json_t *volumes = json_array();

    if ((pod->flags & KUBE_POD_ZONES) != 0)
        (void)json_array_append_new(spreads, json_pack("{s:s, s:s}", "topologyKey",
                                                       "topology.kubernetes.io/zone",
                                                       "whenUnsatisfiable", "DoNotSchedule"));
    if ((pod->flags & KUBE_POD_PREFERENCES) != 0)
        (void)json_array_append_new(spreads,
                                    json_pack("{s:s}", "whenUnsatisfiable", "ScheduleAnyway"));
    if ((pod->flags & KUBE_POD_LOCAL) != 0)
        (void)json_array_append_new(volumes, json_pack("{s:{}}", "hostPath"));
    if ((pod->flags & KUBE_POD_CLAIMS) != 0)
        (void)json_array_append_new(volumes, json_pack("{s:{}}", "persistentVolumeClaim"));
    (void)json_object_set_new(spec, "topologySpreadConstraints", spreads);
    (void)json_object_set_new(spec, "volumes", volumes);
    if ((pod->flags & (KUBE_POD_STRANGE | KUBE_POD_AWAY)) != 0)
        (void)json_object_set_new(spec, "resourceClaims", json_pack("[{s:s}]", "name", "x"));
    if ((pod->flags & KUBE_POD_GATED) != 0)
        (void)json_object_set_new(
            spec, "schedulingGates",
            json_pack("[{s:s}]", "name", pod->has_our_gate ? KUBE_GATE : "x"));
}

static json_t *pod_spec(struct kube_anonymiser *anonymiser, const struct kube_object *pod)
{
    json_t *container = json_pack("{s:{s:o}}", "resources", "requests", amounts(pod, &pod->asks));
    json_t *spec = json_pack("{s:[o], s:o, s:o, s:I}", "containers", container, "nodeSelector",
                             pairs(anonymiser, pod, pod->selector, pod->selector_count), "affinity",
                             affinity(anonymiser, pod), "priority", (json_int_t)pod->priority);

    if ((pod->flags & KUBE_POD_HOST_PORT) != 0)
        (void)json_object_set_new(container, "ports", json_pack("[{s:i}]", "hostPort", 1));
    if (pod->node != NULL)
        (void)json_object_set_new(spec, "nodeName", name(anonymiser, pod->node));
    add_flags(pod, spec);
    return spec;
}

static json_t *pod_status(const struct kube_object *pod)
{
    static const char *const phases[] = { "Pending", "Running", "Succeeded", "Failed", NULL };

    return is_one_of(pod->phase, phases) ? json_pack("{s:s}", "phase", pod->phase) : json_object();
}

static json_t *node_spec(const struct kube_object *node)
{
    json_t *spec = json_pack("{s:b}", "unschedulable", node->is_closed ? 1 : 0);

    if (node->is_tainted)
        (void)json_object_set_new(spec, "taints",
                                  json_pack("[{s:s, s:s}]", "key", node->is_shut ? "x" : KUBE_SLOT,
                                            "effect", "NoSchedule"));
    return spec;
}

static json_t *node_status(const struct kube_object *node)
{
    return json_pack("{s:o, s:o, s:[{s:s, s:s}]}", "capacity", amounts(node, &node->capacity),
                     "allocatable", amounts(node, &node->allocatable), "conditions", "type",
                     "Ready", "status", node->is_ready ? "True" : "False");
}

static json_t *budget_spec(struct kube_anonymiser *anonymiser, const struct kube_object *budget)
{
    json_t *selector =
        json_pack("{s:o}", "matchLabels",
                  pairs(anonymiser, budget, budget->selector, budget->selector_count));

    if (budget->selector_is_strange)
        (void)json_object_set_new(selector, "matchExpressions", json_pack("[{}]"));
    return json_pack("{s:o}", "selector", selector);
}

void kube_anonymise(struct kube_anonymiser *anonymiser, const struct kube_object *object)
{
    json_t *root = NULL;

    if (object->kind == KUBE_POD)
        root = json_pack("{s:s, s:o, s:o, s:o}", "kind", "Pod", "metadata",
                         metadata(anonymiser, object), "spec", pod_spec(anonymiser, object),
                         "status", pod_status(object));
    else if (object->kind == KUBE_NODE)
        root = json_pack("{s:s, s:o, s:o, s:o}", "kind", "Node", "metadata",
                         metadata(anonymiser, object), "spec", node_spec(object), "status",
                         node_status(object));
    else if (object->kind == KUBE_BUDGET)
        root = json_pack("{s:s, s:o, s:o, s:{s:I}}", "kind", "PodDisruptionBudget", "metadata",
                         metadata(anonymiser, object), "spec", budget_spec(anonymiser, object),
                         "status", "disruptionsAllowed", (json_int_t)object->may_disturb);
    if (root == NULL)
        return;
    (void)fputs("{\"kind\":\"List\",\"items\":[", anonymiser->to);
    (void)json_dumpf(root, anonymiser->to, JSON_COMPACT);
    (void)fputs("]}\n", anonymiser->to);
    json_decref(root);
}
