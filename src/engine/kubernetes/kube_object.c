/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_object.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "engine/kubernetes/kube_object_rules.h"
#include "engine/kubernetes/kube_quantity.h"

enum { MIB_BITS = 20 };

/* What one container asks for. A request that is not there is -1. */
struct asking {
    struct kube_amounts request;
    struct kube_amounts limit;
    bool is_sidecar;
};

/* An anti-affinity or a spread constraint, or one of the many small things, while it is read. */
struct part {
    char key[KUBE_NAME];
    char value[KUBE_NAME], more[KUBE_NAME];
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
    struct kube_amounts containers;  /* the sum, with the sidecars */
    struct kube_amounts sidecars;    /* so far */
    struct kube_amounts init_peak;   /* of an init container and the sidecars before it */
    struct kube_amounts pod_request; /* -1: there is none */
    struct kube_amounts overhead;
    struct part part;
    struct kube_term term; /* of required (anti-)affinity, or of a spread constraint */
    uint32_t skew, least;  /* of a spread constraint */
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
            be_strange(objects, "it requests a resource unknown to Stint");
    }
    if (rc < 0 && is_asked)
        be_strange(objects, "it requests an unreadable amount");
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

static const char *keep_term(struct kube_objects *objects)
{
    char text[KUBE_NAME + KUBE_TERM_TEXT];
    const int length = kube_term_write(&objects->term, objects->part.key, text, sizeof(text));

    return keep(objects, text, (size_t)length);
}

static void end_repel(struct kube_objects *objects)
{
    struct kube_object *object = &objects->object;

    if (!objects->term.has_selector)
        return;
    if (object->repel_count == KUBE_REPELS) {
        be_too_long(objects);
        object->repels[KUBE_REPELS - 1] = "";
        return;
    }
    object->repels[object->repel_count++] = keep_term(objects);
}

/* One about fewer pods than its text says is not kept: it is to be met, not avoided. */
static void end_near(struct kube_objects *objects)
{
    struct kube_object *object = &objects->object;
    const bool is_clear = objects->term.has_selector && !objects->term.is_loose &&
                          !objects->part.is_strange && strcmp(objects->part.key, KUBE_ZONE) == 0;

    object->flags |= KUBE_POD_TOGETHER;
    object->near_count++;
    object->near = is_clear && object->near_count == 1 ? keep_term(objects) : NULL;
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
    case F_APART:
    case F_SPREAD:
    case F_TOGETHER:
        kube_term_begin(&objects->term);
        objects->skew = 1;
        objects->least = 1;
        objects->part = (struct part){ .is_true = false };
        break;
    case F_OWNER:
    case F_TAINT:
    case F_TOLERATION:
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
    case F_ODD_CLAIM:
        objects->object.flags |= KUBE_POD_ODD_CLAIMS | KUBE_POD_CLAIMS;
        break;
    case F_CLAIM:
        objects->object.flags |= KUBE_POD_CLAIMS;
        break;
    case F_TOPOLOGIES:
        objects->object.has_topologies = true;
        break;
    case F_PREFERENCE:
        objects->object.flags |= KUBE_POD_PREFERENCES;
        break;
    case F_WORKLOAD:
        be_strange(objects, "kube-scheduler starts it together with others");
        break;
    case F_MATCH_FIELD:
        be_strange(objects, "it selects a node by name");
        break;
    case F_APART_SELECTOR:
        objects->term.has_selector = true;
        break;
    case F_APART_EXPRESSION:
        kube_term_expression_begin(&objects->term);
        break;
    case F_APART_SPACES:
        objects->part.is_strange = true;
        objects->term.is_everywhere = true;
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
    return strcmp(key, KUBE_HOSTNAME) == 0;
}

static bool is_zone(const char *key)
{
    return strcmp(key, KUBE_ZONE) == 0 ||
           strcmp(key, "failure-domain.beta.kubernetes.io/zone") == 0;
}

static void end_apart(struct kube_objects *objects)
{
    if (is_zone(objects->part.key))
        objects->object.flags |= KUBE_POD_ZONES;
    else if (is_host(objects->part.key) && !objects->part.is_strange)
        objects->object.flags |= KUBE_POD_APART;
    else
        be_strange(objects, "its anti-affinity is unknown to Stint");
}

static void keep_spread(struct kube_objects *objects)
{
    struct kube_object *object = &objects->object;

    if (object->spread_count == KUBE_SPREADS) {
        be_too_long(objects);
        return;
    }
    object->spread[object->spread_count++] = (struct kube_spread){ .term = keep_term(objects),
                                                                   .skew = objects->skew,
                                                                   .least = objects->least };
    if (objects->part.is_strange || (objects->least > 1 && !is_zone(objects->part.key)))
        object->flags |= KUBE_POD_ODD_SPREAD;
}

/* One without a selector is about no pod, and means nothing. */
static void end_spread(struct kube_objects *objects)
{
    if (strcmp(objects->part.value, "ScheduleAnyway") == 0) {
        objects->object.flags |= KUBE_POD_PREFERENCES;
        return;
    }
    if (is_zone(objects->part.key))
        objects->object.flags |= KUBE_POD_ZONES;
    else if (is_host(objects->part.key))
        objects->object.flags |= KUBE_POD_APART;
    else
        be_strange(objects, "its topology spread has a label unknown to Stint");
    keep_spread(objects);
}

/* One that only asks to be avoided is none. */
static void end_taint(struct kube_objects *objects)
{
    const bool holds = strcmp(objects->part.value, "PreferNoSchedule") != 0;

    objects->object.is_tainted |= holds;
    objects->object.is_shut |= holds && strcmp(objects->part.key, KUBE_SLOT) != 0;
}

/* Without a key it is about all taints, without an effect about all effects; Stint's taint has no value. */
static void end_toleration(struct kube_objects *objects)
{
    const struct part *part = &objects->part;
    const bool is_any = part->key[0] == '\0' && part->is_true;

    if ((is_any || strcmp(part->key, KUBE_SLOT) == 0) &&
        (part->value[0] == '\0' || strcmp(part->value, "NoSchedule") == 0))
        objects->object.is_for_slots = true;
}

static void check_apart(struct kube_objects *objects)
{
    struct kube_object *object = &objects->object;

    for (uint32_t i = 0; i < object->repel_count; i++) {
        if (!kube_term_is_about(object->repels[i], object->name_space, object->name_space,
                                object->label, object->label_count))
            object->flags |= KUBE_POD_AWAY;
    }
}

/* Each name once, as kube-scheduler does. */
static int64_t count_claims(const struct kube_object *pod)
{
    int64_t count = 0;

    for (uint32_t i = 0; i < pod->claim_count; i++) {
        uint32_t first = 0;

        while (strcmp(pod->claim[first], pod->claim[i]) != 0)
            first++;
        count += first == i ? 1 : 0;
    }
    return count;
}

static void end_object(struct kube_objects *objects)
{
    struct kube_object *object = &objects->object;

    if (object->kind == KUBE_POD) {
        object->asks = pod_asks(objects);
        object->asks.volumes = count_claims(object);
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
        end_repel(objects);
        break;
    case F_TOGETHER:
        end_near(objects);
        break;
    case F_APART_EXPRESSION:
        kube_term_expression_end(&objects->term);
        break;
    case F_SPREAD:
        end_spread(objects);
        break;
    case F_TAINT:
        end_taint(objects);
        break;
    case F_TOLERATION:
        end_toleration(objects);
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
        objects->kind = kube_kind_of_list(text, length);
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

/* Of a part of the object, as an owner, a condition or a taint. */
static bool take_part(struct kube_objects *objects, int id, const char *text, size_t length)
{
    switch (id) {
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

/* Of the object's metadata. */
static bool take_metadata(struct kube_objects *objects, int id, const char *key, const char *text,
                          size_t length)
{
    struct kube_object *object = &objects->object;

    switch (id) {
    case F_KIND:
        object->kind = kube_kind_of(text, length);
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
    case F_GROUP_SIZE:
        object->group_size = keep(objects, text, length);
        return true;
    case F_AVAILABILITY:
        object->availability = keep(objects, text, length);
        return true;
    case F_PROMISED:
        object->promised = keep(objects, text, length);
        return true;
    case F_ANNOTATION:
        if (object->hash_count < KUBE_HASHES && kube_key_is_hash(key))
            add_pair(objects, object->hash, &object->hash_count, key, text, length);
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
    default:
        return take_part(objects, id, text, length);
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

/* Of a term of required (anti-)affinity, or of a spread constraint. */
static bool take_term(struct kube_objects *objects, int id, const char *text, size_t length)
{
    switch (id) {
    case F_APART_EXPRESSION_KEY:
        put(objects->term.key, sizeof(objects->term.key), text, length);
        return true;
    case F_APART_EXPRESSION_OPERATOR:
        objects->term.comparison = operator_of(text, length);
        return true;
    case F_APART_EXPRESSION_VALUE:
        kube_term_value(&objects->term, text, length);
        return true;
    case F_APART_SPACE:
        kube_term_space(&objects->term, text, length);
        return true;
    case F_SPREAD_SKEW:
        objects->skew = (uint32_t)larger(1, number(text, length) & INT32_MAX);
        return true;
    case F_SPREAD_LEAST:
        objects->least = (uint32_t)larger(1, number(text, length) & INT32_MAX);
        return true;
    case F_SPREAD_NODES:
        objects->part.is_strange |= !is(text, length, "Honor");
        return true;
    default:
        return false;
    }
}

static bool take_toleration(struct kube_objects *objects, int id, const char *text, size_t length)
{
    switch (id) {
    case F_TOLERATION_KEY:
        put(objects->part.key, sizeof(objects->part.key), text, length);
        return true;
    case F_TOLERATION_EFFECT:
        put(objects->part.value, sizeof(objects->part.value), text, length);
        return true;
    case F_TOLERATION_OPERATOR:
        objects->part.is_true = is(text, length, "Exists");
        return true;
    default:
        return false;
    }
}

static void take_host_port(struct kube_object *object, int64_t port)
{
    if (port <= 0)
        return;
    object->flags |= KUBE_POD_HOST_PORT;
    for (uint32_t i = 0; i < object->host_port_count; i++) {
        if (object->host_port[i] == (uint32_t)port)
            return;
    }
    if (object->host_port_count == KUBE_HOST_PORTS)
        object->has_more_ports = true;
    else
        object->host_port[object->host_port_count++] = (uint32_t)port;
}

static void take_volume_limit(struct kube_object *object, int64_t count)
{
    count = count > 0 ? count : 0;
    if (!object->has_volume_limit || count < object->volume_limit)
        object->volume_limit = count;
    object->has_volume_limit = true;
}

/* Of volumes, and of pods and nodes that have them. */
static bool take_volume(struct kube_objects *objects, int id, const char *text, size_t length)
{
    struct kube_object *object = &objects->object;

    switch (id) {
    case F_CLAIM_NAME:
        if (object->claim_count < KUBE_CLAIM_NAMES)
            object->claim[object->claim_count++] = keep(objects, text, length);
        else
            object->flags |= KUBE_POD_ODD_CLAIMS;
        return true;
    case F_VOLUME_LIMIT:
        take_volume_limit(object, number(text, length));
        return true;
    case F_VOLUME:
        object->volume = length > 0 ? keep(objects, text, length) : NULL;
        return true;
    case F_CLASS:
        object->class_name = length > 0 ? keep(objects, text, length) : NULL;
        return true;
    case F_BINDING:
        object->is_late = is(text, length, "WaitForFirstConsumer");
        return true;
    case F_PROVISIONER:
        object->is_by_hand = is(text, length, "kubernetes.io/no-provisioner");
        return true;
    default:
        return false;
    }
}

static void take_class_image(struct kube_objects *objects, const char *text, size_t length)
{
    struct kube_object *object = &objects->object;
    const char *image = object->class_image_count < KUBE_IMAGES ? keep(objects, text, length) : "";

    if (image[0] != '\0')
        object->class_image[object->class_image_count++] = image;
    else
        object->has_more_images = true;
}

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
    case F_POD_RESTART:
        object->flags |= is(text, length, "Always") ? 0U : KUBE_POD_ENDS;
        break;
    case F_HOST_PORT:
        take_host_port(object, number(text, length));
        break;
    case F_GATE:
        object->flags |= KUBE_POD_GATED;
        *(is(text, length, KUBE_GATE) ? &object->has_our_gate : &object->has_other_gate) = true;
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
        kube_term_label(&objects->term, key, text, length);
        break;
    case F_PHASE:
        take_phase(objects, text, length);
        break;
    case F_PROVIDER:
        object->provider = length > 0 ? keep(objects, text, length) : NULL;
        break;
    case F_IMAGE:
        object->image = length > 0 ? keep(objects, text, length) : NULL;
        break;
    case F_CLASS_IMAGE:
        take_class_image(objects, text, length);
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
        !take_amount(objects, id, key, text, length) && !take_term(objects, id, text, length) &&
        !take_toleration(objects, id, text, length) && !take_volume(objects, id, text, length))
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
    objects->json = kube_json_create(is_watch ? kube_watch_rules : kube_list_rules, &reader, true);
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

bool kube_object_is_daemon(const struct kube_object *pod)
{
    return pod->owner_kind != NULL &&
           (strcmp(pod->owner_kind, "DaemonSet") == 0 || strcmp(pod->owner_kind, "Node") == 0);
}
