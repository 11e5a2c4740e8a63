/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_object.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/kubernetes/kube_json.h"
#include "engine/kubernetes/kube_quantity.h"

enum field {
    F_LIST_KIND = 1,
    F_LIST_VERSION,
    F_LIST_NEXT,
    F_EVENT,
    F_OBJECT,
    F_KIND,
    F_NAME,
    F_NAMESPACE,
    F_VERSION,
    F_UID,
    F_CREATED,
    F_OFFER,
    F_GANG,
    F_DELETED,
    F_LABEL,
    F_KEEP,
    F_SAFE,
    F_MIRROR,
    F_OWNER,
    F_OWNER_KIND,
    F_OWNER_NAME,
    F_OWNER_UID,
    F_OWNER_CONTROLS,
    F_NODE,
    F_PRIORITY,
    F_CLOSED,
    F_SELECTOR,
    F_CONTAINER,
    F_INIT_CONTAINER,
    F_RESTART,
    F_REQUEST,
    F_LIMIT,
    F_HOST_PORT,
    F_POD_REQUEST,
    F_OVERHEAD,
    F_GATE,
    F_TAINT,
    F_TAINT_KEY,
    F_TAINT_EFFECT,
    F_HOST_PATH,
    F_CLAIM,
    F_DEVICE_CLAIM,
    F_SCHEDULER,
    F_SYSTEM,
    F_WORKLOAD,
    F_TERM,
    F_EXPRESSION,
    F_EXPRESSION_KEY,
    F_EXPRESSION_OPERATOR,
    F_EXPRESSION_VALUE,
    F_MATCH_FIELD,
    F_PREFERENCE,
    F_TOGETHER,
    F_APART,
    F_APART_KEY,
    F_APART_LABEL,
    F_APART_STRANGE,
    F_SPREAD,
    F_SPREAD_KEY,
    F_SPREAD_WHEN,
    F_BUDGET_STRANGE,
    F_PHASE,
    F_CAPACITY,
    F_ALLOCATABLE,
    F_CONDITION,
    F_CONDITION_TYPE,
    F_CONDITION_STATUS,
    F_CONDITION_SINCE,
    F_PROVIDER,
    F_MAY_DISTURB,
};

enum { MIB_BITS = 20 };

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
static const struct kube_rule volume[] = {
    { "hostPath", F_HOST_PATH, nothing }, { "persistentVolumeClaim", F_CLAIM, nothing },
    { "ephemeral", F_CLAIM, nothing }, { "csi", F_CLAIM, nothing },
    { "awsElasticBlockStore", F_CLAIM, nothing }, { "gcePersistentDisk", F_CLAIM, nothing },
    { "azureDisk", F_CLAIM, nothing }, { "cinder", F_CLAIM, nothing },
    { "rbd", F_CLAIM, nothing }, { "iscsi", F_CLAIM, nothing },
    { "vsphereVolume", F_CLAIM, nothing }, { "portworxVolume", F_CLAIM, nothing }, { 0 },
};
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
static const struct kube_rule pod_affinity[] = {
    { REQUIRED, F_TOGETHER, nothing }, { PREFERRED, F_PREFERENCE, nothing }, { 0 },
};
static const struct kube_rule apart_label[] = { { "*", F_APART_LABEL, NULL }, { 0 } };
static const struct kube_rule apart_selector[] = {
    { "matchLabels", 0, apart_label }, { "matchExpressions", F_APART_STRANGE, nothing }, { 0 },
};
static const struct kube_rule apart[] = {
    { "topologyKey", F_APART_KEY, NULL }, { "labelSelector", 0, apart_selector },
    { "namespaceSelector", F_APART_STRANGE, nothing }, { 0 },
};
static const struct kube_rule anti_affinity[] = {
    { REQUIRED, F_APART, apart }, { PREFERRED, F_PREFERENCE, nothing }, { 0 },
};
static const struct kube_rule affinity[] = {
    { "nodeAffinity", 0, node_affinity }, { "podAffinity", 0, pod_affinity },
    { "podAntiAffinity", 0, anti_affinity }, { 0 },
};
static const struct kube_rule spread[] = {
    { "topologyKey", F_SPREAD_KEY, NULL }, { "whenUnsatisfiable", F_SPREAD_WHEN, NULL }, { 0 },
};
static const struct kube_rule budget_selector[] = {
    { "matchLabels", 0, any_selector }, { "matchExpressions", F_BUDGET_STRANGE, nothing }, { 0 },
};
static const struct kube_rule spec[] = {
    { "containers", F_CONTAINER, container }, { "nodeName", F_NODE, NULL },
    { "volumes", 0, volume },
    { "initContainers", F_INIT_CONTAINER, init_container }, { "nodeSelector", 0, any_selector },
    { "affinity", 0, affinity }, { "topologySpreadConstraints", F_SPREAD, spread },
    { "priority", F_PRIORITY, NULL }, { "overhead", 0, any_overhead },
    { "resources", 0, pod_resources }, { "schedulingGates", 0, gate },
    { "resourceClaims", 0, device_claim }, { "taints", F_TAINT, taint },
    { "schedulerName", F_SCHEDULER, NULL }, { "os", 0, pod_os },
    { "workloadRef", F_WORKLOAD, nothing }, { "schedulingGroup", F_WORKLOAD, nothing },
    { "unschedulable", F_CLOSED, NULL }, { "selector", 0, budget_selector }, { 0 },
};
static const struct kube_rule condition[] = {
    { "type", F_CONDITION_TYPE, NULL }, { "status", F_CONDITION_STATUS, NULL },
    { "lastTransitionTime", F_CONDITION_SINCE, NULL }, { 0 },
};
static const struct kube_rule status[] = {
    { "phase", F_PHASE, NULL }, { "capacity", 0, any_capacity },
    { "allocatable", 0, any_allocatable }, { "conditions", F_CONDITION, condition },
    { "disruptionsAllowed", F_MAY_DISTURB, NULL }, { "providerID", F_PROVIDER, NULL }, { 0 },
};
static const struct kube_rule object_rules[] = {
    { "kind", F_KIND, NULL }, { "metadata", 0, metadata }, { "spec", 0, spec },
    { "status", 0, status }, { 0 },
};
static const struct kube_rule list_metadata[] = {
    { "resourceVersion", F_LIST_VERSION, NULL }, { "continue", F_LIST_NEXT, NULL }, { 0 },
};
static const struct kube_rule list_rules[] = {
    { "kind", F_LIST_KIND, NULL }, { "metadata", 0, list_metadata }, { "items", F_OBJECT, object_rules }, { 0 },
};
static const struct kube_rule watch_rules[] = {
    { "type", F_EVENT, NULL }, { "object", F_OBJECT, object_rules }, { 0 },
};
/* clang-format on */

/* What one container asks for. A request that is not there is -1. */
struct asking {
    struct kube_amounts request;
    struct kube_amounts limit;
    bool is_sidecar;
};

/* An anti-affinity or a spread constraint, or one of the many small things, while it is read. */
struct part {
    char key[KUBE_NAME];
    char value[KUBE_NAME];
    char more[KUBE_NAME];
    bool is_true;
    bool is_strange;
};

struct kube_objects {
    struct kube_json *json;
    struct kube_object_sink sink;
    struct kube_list list;
    enum kube_kind kind;
    char event[32];
    struct kube_object object;
    struct asking asking;
    struct kube_amounts containers; /* the sum, with the sidecars */
    struct kube_amounts sidecars;   /* so far */
    struct kube_amounts
        init_peak; /* the most that an init container needs with the sidecars before it */
    struct kube_amounts pod_request; /* -1: there is none */
    struct kube_amounts overhead;
    struct part part;
    struct kube_pair apart[KUBE_PAIRS]; /* labels of pods that it keeps away from on its node */
    uint32_t apart_count;
    char texts[KUBE_TEXTS];
    uint32_t texts_used;
    int rc; /* what the sink stopped with */
};

static const struct kube_amounts no_amounts = { .cpu = -1, .mem = -1, .accel = -1, .pods = -1 };

static void be_strange(struct kube_objects *objects, const char *why)
{
    objects->object.flags |= KUBE_POD_STRANGE;
    if (objects->object.strange == NULL)
        objects->object.strange = why;
}

static void be_too_long(struct kube_objects *objects)
{
    be_strange(objects, "its description is too long");
}

/* A copy that lives as long as the object. */
static const char *keep(struct kube_objects *objects, const char *text, size_t length)
{
    char *copy = objects->texts + objects->texts_used;

    if (length >= KUBE_TEXTS - objects->texts_used || memchr(text, 0, length) != NULL) {
        be_too_long(objects);
        return "";
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    objects->texts_used += (uint32_t)length + 1;
    return copy;
}

static const char *keep_text(struct kube_objects *objects, const char *text)
{
    return keep(objects, text, strlen(text));
}

static void put(char *to, size_t size, const char *text, size_t length)
{
    if (length >= size || memchr(text, 0, length) != NULL)
        length = 0;
    memcpy(to, text, length);
    to[length] = '\0';
}

static bool is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static void add_pair(struct kube_objects *objects, struct kube_pair *pairs, uint32_t *count,
                     const char *key, const char *text, size_t length)
{
    if (*count == KUBE_PAIRS) {
        be_too_long(objects);
        return;
    }

    struct kube_pair *pair = &pairs[(*count)++];

    pair->key = keep_text(objects, key);
    pair->value = keep(objects, text, length);
}

static int64_t plus(int64_t a, int64_t b)
{
    return a > INT64_MAX / 4 || b > INT64_MAX / 4 ? INT64_MAX / 4 : a + b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static struct kube_amounts sum_of(const struct kube_amounts *a, const struct kube_amounts *b)
{
    return (struct kube_amounts){ .cpu = plus(a->cpu, b->cpu),
                                  .mem = plus(a->mem, b->mem),
                                  .accel = plus(a->accel, b->accel),
                                  .pods = plus(a->pods, b->pods) };
}

static struct kube_amounts most_of(const struct kube_amounts *a, const struct kube_amounts *b)
{
    return (struct kube_amounts){ .cpu = larger(a->cpu, b->cpu),
                                  .mem = larger(a->mem, b->mem),
                                  .accel = larger(a->accel, b->accel),
                                  .pods = larger(a->pods, b->pods) };
}

/* GPUs and what is like them, whoever makes them. */
static bool is_accelerator(const char *key)
{
    static const char *const names[] = { "nvidia.com/gpu",        "amd.com/gpu",
                                         "gpu.intel.com/i915",    "habana.ai/gaudi",
                                         "aws.amazon.com/neuron", "google.com/tpu" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(key, names[i]) == 0)
            return true;
    }
    return false;
}

/* What most nodes have room for, and no machine is chosen by. */
static bool is_passed_over(const char *key)
{
    return strcmp(key, "ephemeral-storage") == 0 || strncmp(key, "hugepages-", 10) == 0 ||
           strncmp(key, "attachable-volumes-", 19) == 0;
}

/* 'is_asked': of a pod; a node may have what nobody knows. Memory is in bytes until the object ends. */
static void add_amount(struct kube_objects *objects, struct kube_amounts *to, bool is_asked,
                       const char *key, const char *text, size_t length)
{
    int64_t amount = 0;
    int rc;

    if (strcmp(key, "cpu") == 0) {
        rc = kube_quantity_milli(text, length, &amount);
        to->cpu = amount;
    } else if (strcmp(key, "memory") == 0) {
        rc = kube_quantity_whole(text, length, &amount);
        to->mem = amount;
    } else if (is_accelerator(key)) {
        rc = kube_quantity_milli(text, length, &amount);
        to->accel = plus(larger(to->accel, 0), amount);
        if (is_asked && amount > 0 && strcmp(key, "nvidia.com/gpu") != 0)
            objects->object.flags |= KUBE_POD_OTHER_ACCEL;
    } else if (strcmp(key, "pods") == 0) {
        rc = kube_quantity_milli(text, length, &amount);
        to->pods = amount / 1000;
    } else if (is_passed_over(key)) {
        rc = kube_quantity_milli(text, length, &amount);
        if (is_asked && amount > 0)
            objects->object.flags |= KUBE_POD_DISK;
    } else {
        rc = kube_quantity_milli(text, length, &amount);
        if (is_asked && amount > 0)
            be_strange(objects, "it asks for a resource that Stint does not know");
    }
    if (rc < 0 && is_asked)
        be_strange(objects, "it asks for an amount that cannot be read");
}

/* A limit counts where there is no request, and nothing where there is neither. */
static int64_t asked(int64_t request, int64_t limit)
{
    if (request >= 0)
        return request;
    return limit >= 0 ? limit : 0;
}

static struct kube_amounts container_asks(const struct asking *asking)
{
    return (struct kube_amounts){
        .cpu = asked(asking->request.cpu, asking->limit.cpu),
        .mem = asked(asking->request.mem, asking->limit.mem),
        .accel = asked(asking->request.accel, asking->limit.accel),
    };
}

static void end_container(struct kube_objects *objects, bool is_init)
{
    const struct kube_amounts asks = container_asks(&objects->asking);

    if (!is_init) {
        objects->containers = sum_of(&objects->containers, &asks);
        return;
    }

    const struct kube_amounts with = sum_of(&objects->sidecars, &asks);

    objects->init_peak = most_of(&objects->init_peak, &with);
    if (objects->asking.is_sidecar) {
        objects->sidecars = with;
        objects->containers = sum_of(&objects->containers, &asks);
    }
}

/* What kube-scheduler would reserve. */
static struct kube_amounts pod_asks(const struct kube_objects *objects)
{
    struct kube_amounts asks = most_of(&objects->containers, &objects->init_peak);

    if (objects->pod_request.cpu >= 0)
        asks.cpu = objects->pod_request.cpu;
    if (objects->pod_request.mem >= 0)
        asks.mem = objects->pod_request.mem;
    asks = sum_of(&asks, &objects->overhead);
    asks.pods = 1;
    return asks;
}

static enum kube_kind kind_of(const char *text, size_t length)
{
    if (is(text, length, "Pod"))
        return KUBE_POD;
    if (is(text, length, "Node"))
        return KUBE_NODE;
    if (is(text, length, "PodDisruptionBudget"))
        return KUBE_BUDGET;
    if (is(text, length, "NodeClaim"))
        return KUBE_CLAIM;
    return KUBE_OTHER;
}

/* What the items of a list are that do not say it themselves. */
static enum kube_kind kind_of_list(const char *text, size_t length)
{
    return length > 4 && memcmp(text + length - 4, "List", 4) == 0 ? kind_of(text, length - 4)
                                                                   : KUBE_OTHER;
}

static void begin_object(struct kube_objects *objects)
{
    objects->object = (struct kube_object){ .kind = objects->kind,
                                            .name = "",
                                            .name_space = "",
                                            .version = "",
                                            .uid = "",
                                            .created = "",
                                            .phase = "" };
    objects->containers = (struct kube_amounts){ 0 };
    objects->sidecars = (struct kube_amounts){ 0 };
    objects->init_peak = (struct kube_amounts){ 0 };
    objects->overhead = (struct kube_amounts){ 0 };
    objects->pod_request = no_amounts;
    objects->apart_count = 0;
    objects->texts_used = 0;
}

static void begin_requirement(struct kube_objects *objects)
{
    struct kube_object *object = &objects->object;

    if (object->requirement_count == KUBE_TERMS) {
        be_too_long(objects);
        return;
    }
    object->requirement[object->requirement_count++] =
        (struct kube_requirement){ .key = "", .term = object->term_count - 1 };
}

static void on_begin(void *context, int id)
{
    struct kube_objects *objects = context;

    switch (id) {
    case F_OBJECT:
        begin_object(objects);
        break;
    case F_CONTAINER:
    case F_INIT_CONTAINER:
        objects->asking = (struct asking){ .request = no_amounts, .limit = no_amounts };
        break;
    case F_OWNER:
    case F_TAINT:
    case F_APART:
    case F_SPREAD:
    case F_CONDITION:
        objects->part = (struct part){ .is_true = false };
        break;
    case F_TERM:
        objects->object.term_count++;
        break;
    case F_EXPRESSION:
        begin_requirement(objects);
        break;
    case F_HOST_PATH:
        objects->object.flags |= KUBE_POD_LOCAL;
        break;
    case F_CLAIM:
        objects->object.flags |= KUBE_POD_CLAIMS;
        break;
    case F_PREFERENCE:
        objects->object.flags |= KUBE_POD_PREFERENCES;
        break;
    case F_TOGETHER:
        objects->object.flags |= KUBE_POD_TOGETHER;
        break;
    case F_WORKLOAD:
        be_strange(objects, "kube-scheduler starts it together with others");
        break;
    case F_MATCH_FIELD:
        be_strange(objects, "it asks for a node by name");
        break;
    case F_APART_STRANGE:
        objects->part.is_strange = true;
        break;
    case F_BUDGET_STRANGE:
        objects->object.selector_is_strange = true;
        break;
    default:
        break;
    }
}

static bool is_host(const char *key)
{
    return strcmp(key, "kubernetes.io/hostname") == 0;
}

static bool is_zone(const char *key)
{
    return strcmp(key, "topology.kubernetes.io/zone") == 0 ||
           strcmp(key, "failure-domain.beta.kubernetes.io/zone") == 0;
}

static void end_apart(struct kube_objects *objects)
{
    if (is_zone(objects->part.key))
        objects->object.flags |= KUBE_POD_ZONES;
    else if (is_host(objects->part.key) && !objects->part.is_strange)
        objects->object.flags |= KUBE_POD_APART;
    else
        be_strange(objects, "it keeps away from other pods in a way that Stint does not know");
}

static void end_spread(struct kube_objects *objects)
{
    if (strcmp(objects->part.value, "ScheduleAnyway") == 0)
        objects->object.flags |= KUBE_POD_PREFERENCES;
    else if (is_zone(objects->part.key))
        objects->object.flags |= KUBE_POD_ZONES;
    else if (is_host(objects->part.key))
        objects->object.flags |= KUBE_POD_APART;
    else
        be_strange(objects, "it is spread over something that Stint does not know");
}

/* One that only asks to be avoided is none. */
static void end_taint(struct kube_objects *objects)
{
    const bool holds = strcmp(objects->part.value, "PreferNoSchedule") != 0;

    objects->object.is_tainted |= holds;
    objects->object.is_shut |= holds && strcmp(objects->part.key, KUBE_SLOT) != 0;
}

/* It keeps away from pods with certain labels; that they are its own kind is the case that is understood. */
static void check_apart(struct kube_objects *objects)
{
    for (uint32_t i = 0; i < objects->apart_count; i++) {
        const char *own = kube_object_label(&objects->object, objects->apart[i].key);

        if (own == NULL || strcmp(own, objects->apart[i].value) != 0)
            be_strange(objects, "it keeps away from other pods");
    }
}

static void end_object(struct kube_objects *objects)
{
    struct kube_object *object = &objects->object;

    if (object->kind == KUBE_POD) {
        object->asks = pod_asks(objects);
        object->asks.mem = (object->asks.mem >> MIB_BITS) +
                           ((object->asks.mem & ((1 << MIB_BITS) - 1)) != 0 ? 1 : 0);
        check_apart(objects);
    }
    object->capacity.mem >>= MIB_BITS;
    object->allocatable.mem >>= MIB_BITS;
    if (objects->rc == 0)
        objects->rc = objects->sink.on_object(objects->sink.context, objects->event, object);
}

static void end_owner(struct kube_objects *objects)
{
    if (!objects->part.is_true)
        return;
    objects->object.owner_kind = keep_text(objects, objects->part.key);
    objects->object.owner_name = keep_text(objects, objects->part.value);
    objects->object.owner_uid = keep_text(objects, objects->part.more);
}

static void on_end(void *context, int id)
{
    struct kube_objects *objects = context;
    struct kube_object *object = &objects->object;

    switch (id) {
    case F_OBJECT:
        end_object(objects);
        break;
    case F_CONTAINER:
        end_container(objects, false);
        break;
    case F_INIT_CONTAINER:
        end_container(objects, true);
        break;
    case F_OWNER:
        end_owner(objects);
        break;
    case F_APART:
        end_apart(objects);
        break;
    case F_SPREAD:
        end_spread(objects);
        break;
    case F_TAINT:
        end_taint(objects);
        break;
    case F_CONDITION:
        if (strcmp(objects->part.key, "Ready") == 0)
            object->is_ready = strcmp(objects->part.value, "True") == 0;
        else if (strcmp(objects->part.key, "Launched") == 0 &&
                 strcmp(objects->part.value, "True") == 0)
            object->launched = keep_text(objects, objects->part.more);
        break;
    default:
        break;
    }
}

/* A small number of the object's own, like a priority. */
static int64_t number(const char *text, size_t length)
{
    char buf[24];

    put(buf, sizeof(buf), text, length);
    return strtoll(buf, NULL, 10);
}

/* The one at hand; begin_requirement has made it, or the last of too many takes what is not read any more. */
static struct kube_requirement *requirement(struct kube_objects *objects)
{
    return &objects->object.requirement[objects->object.requirement_count - 1];
}

static enum kube_operator operator_of(const char *text, size_t length)
{
    if (is(text, length, "In"))
        return KUBE_IN;
    if (is(text, length, "NotIn"))
        return KUBE_NOT_IN;
    if (is(text, length, "Exists"))
        return KUBE_EXISTS;
    return is(text, length, "DoesNotExist") ? KUBE_ABSENT : KUBE_STRANGE_OPERATOR;
}

static void add_value(struct kube_objects *objects, const char *text, size_t length)
{
    struct kube_requirement *to = requirement(objects);

    if (to->value_count == KUBE_VALUES)
        be_too_long(objects);
    else
        to->value[to->value_count++] = keep(objects, text, length);
}

/* Of a list. */
static bool take_list_value(struct kube_objects *objects, int id, const char *text, size_t length)
{
    switch (id) {
    case F_LIST_KIND:
        objects->kind = kind_of_list(text, length);
        return true;
    case F_LIST_VERSION:
        put(objects->list.version, sizeof(objects->list.version), text, length);
        return true;
    case F_LIST_NEXT:
        put(objects->list.next, sizeof(objects->list.next), text, length);
        return true;
    case F_EVENT:
        put(objects->event, sizeof(objects->event), text, length);
        return true;
    default:
        return false;
    }
}

/* Of the object's metadata. */
static bool take_metadata(struct kube_objects *objects, int id, const char *key, const char *text,
                          size_t length)
{
    struct kube_object *object = &objects->object;

    switch (id) {
    case F_KIND:
        object->kind = kind_of(text, length);
        return true;
    case F_NAME:
        object->name = keep(objects, text, length);
        return true;
    case F_NAMESPACE:
        object->name_space = keep(objects, text, length);
        return true;
    case F_VERSION:
        object->version = keep(objects, text, length);
        return true;
    case F_UID:
        object->uid = keep(objects, text, length);
        return true;
    case F_CREATED:
        object->created = keep(objects, text, length);
        return true;
    case F_OFFER:
        object->offer = keep(objects, text, length);
        return true;
    case F_GANG:
        object->gang = keep(objects, text, length);
        return true;
    case F_DELETED:
        object->flags |= KUBE_POD_GOING;
        return true;
    case F_LABEL:
        add_pair(objects, object->label, &object->label_count, key, text, length);
        return true;
    case F_KEEP:
        object->flags |= is(text, length, "true") ? KUBE_POD_KEEP : 0U;
        return true;
    case F_SAFE:
        object->flags |= is(text, length, "false") ? KUBE_POD_KEEP : 0U;
        return true;
    case F_MIRROR:
        object->flags |= KUBE_POD_MIRROR;
        return true;
    case F_OWNER_KIND:
    case F_CONDITION_TYPE:
    case F_APART_KEY:
    case F_SPREAD_KEY:
    case F_TAINT_KEY:
        put(objects->part.key, sizeof(objects->part.key), text, length);
        return true;
    case F_OWNER_NAME:
    case F_CONDITION_STATUS:
    case F_SPREAD_WHEN:
    case F_TAINT_EFFECT:
        put(objects->part.value, sizeof(objects->part.value), text, length);
        return true;
    case F_OWNER_UID:
    case F_CONDITION_SINCE:
        put(objects->part.more, sizeof(objects->part.more), text, length);
        return true;
    case F_OWNER_CONTROLS:
        objects->part.is_true = is(text, length, "true");
        return true;
    default:
        return false;
    }
}

/* What is asked for, and what is there. */
static bool take_amount(struct kube_objects *objects, int id, const char *key, const char *text,
                        size_t length)
{
    struct kube_amounts *to;

    switch (id) {
    case F_REQUEST:
        to = &objects->asking.request;
        break;
    case F_LIMIT:
        to = &objects->asking.limit;
        break;
    case F_POD_REQUEST:
        to = &objects->pod_request;
        break;
    case F_OVERHEAD:
        to = &objects->overhead;
        break;
    case F_CAPACITY:
        to = &objects->object.capacity;
        break;
    case F_ALLOCATABLE:
        to = &objects->object.allocatable;
        break;
    default:
        return false;
    }
    add_amount(objects, to, id != F_CAPACITY && id != F_ALLOCATABLE, key, text, length);
    return true;
}

static void take_phase(struct kube_objects *objects, const char *text, size_t length)
{
    objects->object.phase = keep(objects, text, length);
    if (is(text, length, "Succeeded") || is(text, length, "Failed"))
        objects->object.flags |= KUBE_POD_DONE;
}

/* The rest of the specification and of the state. */
static void take_spec(struct kube_objects *objects, int id, const char *key, const char *text,
                      size_t length)
{
    struct kube_object *object = &objects->object;

    switch (id) {
    case F_NODE:
        object->node = length > 0 ? keep(objects, text, length) : NULL;
        break;
    case F_PRIORITY:
        object->priority = number(text, length);
        break;
    case F_CLOSED:
        object->is_closed = is(text, length, "true");
        break;
    case F_SELECTOR:
        add_pair(objects, object->selector, &object->selector_count, key, text, length);
        break;
    case F_RESTART:
        objects->asking.is_sidecar = is(text, length, "Always");
        break;
    case F_HOST_PORT:
        object->flags |= number(text, length) > 0 ? KUBE_POD_HOST_PORT : 0U;
        break;
    case F_GATE:
        object->flags |= KUBE_POD_GATED;
        object->has_our_gate |= is(text, length, KUBE_GATE);
        object->has_other_gate |= !is(text, length, KUBE_GATE);
        break;
    case F_SCHEDULER:
        if (!is(text, length, "default-scheduler"))
            be_strange(objects, "another scheduler places it");
        break;
    case F_SYSTEM:
        if (!is(text, length, "linux"))
            be_strange(objects, "it does not run on Linux");
        break;
    case F_DEVICE_CLAIM:
        be_strange(objects, "it claims devices (dynamic resource allocation)");
        break;
    case F_EXPRESSION_KEY:
        requirement(objects)->key = keep(objects, text, length);
        break;
    case F_EXPRESSION_OPERATOR:
        requirement(objects)->comparison = operator_of(text, length);
        break;
    case F_EXPRESSION_VALUE:
        add_value(objects, text, length);
        break;
    case F_APART_LABEL:
        add_pair(objects, objects->apart, &objects->apart_count, key, text, length);
        break;
    case F_PHASE:
        take_phase(objects, text, length);
        break;
    case F_PROVIDER:
        object->provider = length > 0 ? keep(objects, text, length) : NULL;
        break;
    case F_MAY_DISTURB:
        object->may_disturb = number(text, length);
        break;
    default:
        break;
    }
}

static int on_value(void *context, int id, const char *key, enum kube_value kind, const char *text,
                    size_t length)
{
    struct kube_objects *objects = context;

    (void)kind;
    if (!take_list_value(objects, id, text, length) &&
        !take_metadata(objects, id, key, text, length) &&
        !take_amount(objects, id, key, text, length))
        take_spec(objects, id, key, text, length);
    return objects->rc;
}

struct kube_objects *kube_objects_create(enum kube_kind kind, bool is_watch,
                                         const struct kube_object_sink *sink)
{
    struct kube_objects *objects = mem_alloc(1, sizeof(*objects));
    const struct kube_reader reader = {
        .begin = on_begin, .end = on_end, .value = on_value, .context = objects
    };

    objects->kind = kind;
    objects->sink = *sink;
    objects->json = kube_json_create(is_watch ? watch_rules : list_rules, &reader, true);
    return objects;
}

void kube_objects_destroy(struct kube_objects *objects)
{
    if (objects == NULL)
        return;
    kube_json_destroy(objects->json);
    mem_free(objects);
}

int kube_objects_read(struct kube_objects *objects, const char *text, size_t length,
                      struct error *reterr)
{
    const int rc = kube_json_read(objects->json, text, length, reterr);

    return rc == 0 ? objects->rc : rc;
}

int kube_objects_end(struct kube_objects *objects, struct error *reterr)
{
    const int rc = kube_json_end(objects->json, reterr);

    return rc == 0 ? objects->rc : rc;
}

const struct kube_list *kube_objects_list(const struct kube_objects *objects)
{
    return &objects->list;
}

void kube_objects_next_page(struct kube_objects *objects)
{
    objects->list.next[0] = '\0';
}

const char *kube_object_label(const struct kube_object *object, const char *key)
{
    for (uint32_t i = 0; i < object->label_count; i++) {
        if (strcmp(object->label[i].key, key) == 0)
            return object->label[i].value;
    }
    return NULL;
}
