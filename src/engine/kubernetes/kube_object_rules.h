/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_object_rules.h - which kinds of objects and which of their fields are read, and the number that each field is reported by;
 * for kube_object.c.
 */
#ifndef STINT_ENGINE_KUBE_OBJECT_RULES_H
#define STINT_ENGINE_KUBE_OBJECT_RULES_H

#include "engine/kubernetes/kube_json.h"
#include "engine/kubernetes/kube_object.h"

enum kube_field {
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
    F_GROUP_SIZE,
    F_AVAILABILITY,
    F_PROMISED,
    F_ANNOTATION, /* any other */
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
    F_POD_RESTART,
    F_REQUEST,
    F_LIMIT,
    F_HOST_PORT,
    F_POD_REQUEST,
    F_OVERHEAD,
    F_GATE,
    F_TOLERATION,
    F_TOLERATION_KEY,
    F_TOLERATION_OPERATOR,
    F_TOLERATION_EFFECT,
    F_TAINT,
    F_TAINT_KEY,
    F_TAINT_EFFECT,
    F_HOST_PATH,
    F_CLAIM,
    F_CLAIM_NAME,
    F_ODD_CLAIM,
    F_VOLUME,
    F_VOLUME_LIMIT,
    F_CLASS,
    F_BINDING,
    F_PROVISIONER,
    F_TOPOLOGIES,
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
    F_APART_SELECTOR,
    F_APART_EXPRESSION,
    F_APART_EXPRESSION_KEY,
    F_APART_EXPRESSION_OPERATOR,
    F_APART_EXPRESSION_VALUE,
    F_APART_SPACE,
    F_APART_SPACES,
    F_SPREAD,
    F_SPREAD_KEY,
    F_SPREAD_WHEN,
    F_SPREAD_SKEW,
    F_SPREAD_LEAST,
    F_SPREAD_NODES,
    F_BUDGET_STRANGE,
    F_PHASE,
    F_CAPACITY,
    F_ALLOCATABLE,
    F_CONDITION,
    F_CONDITION_TYPE,
    F_CONDITION_STATUS,
    F_CONDITION_SINCE,
    F_PROVIDER,
    F_IMAGE,
    F_CLASS_IMAGE,
    F_MAY_DISTURB,
};

extern const struct kube_rule kube_list_rules[];
extern const struct kube_rule kube_watch_rules[];

/* By the name that an object gives its kind; of a list, what the items are that do not say it themselves. */
enum kube_kind kube_kind_of(const char *text, size_t length);
enum kube_kind kube_kind_of_list(const char *text, size_t length);

/* Whether the annotation is the hash of a node class, or the version of the rule that it was computed by. */
bool kube_key_is_hash(const char *key);

#endif
