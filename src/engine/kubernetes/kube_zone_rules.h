/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kube_zone_rules.h - what a pod asks of its zone because of other pods.
 *
 * Pods of one rule are a group: those with one term in one namespace. A pod that is spread has the zone with the fewest of its group; one that
 * keeps apart has a zone without any, and one that must be near others the zone with the most, if it may, whatever controllers they are of. Which zone that is the daemon decides
 * (kube_engine_zones.c), as it knows the catalogue and counts the group at the gate; what other pods have to say about it is for
 * kube_places.h and kube_repel.h.
 *
 * To kube-scheduler a pod that was given a slot can be on one node only, so it finds a spread met. With 'minDomains' it does not: there are fewer
 * zones than that, so it counts from zero, but only the pods on that node. So no more than the skew are on one machine.
 *
 * Promises:  pure; what is not understood is refused with the reason.
 */
#ifndef STINT_ENGINE_KUBE_ZONE_RULES_H
#define STINT_ENGINE_KUBE_ZONE_RULES_H

#include "engine/kubernetes/kube_object.h"

enum kube_zone_what {
    KUBE_ZONES_FREE,
    KUBE_ZONES_EVEN,  /* spread */
    KUBE_ZONES_LEAST, /* the same, with 'minDomains' */
    KUBE_ZONES_APART, /* one in a zone */
    KUBE_ZONES_NEAR,  /* in a zone with pods that its term is about */
};

struct kube_zone_rule {
    enum kube_zone_what what;
    uint64_t group;   /* 0: none */
    bool is_own;      /* the term is about the pod itself */
    const char *term; /* that other pods matter by, kube_term.h; NULL: none. The pod's own text. */
    uint32_t skew;    /* with KUBE_ZONES_LEAST, and the next two */
    uint32_t least;   /* where there are fewer zones, each has at most 'skew' */
    bool is_limited;  /* no machine may have more than 'skew' of them */
};

/* NULL, or why the pod must be left to the scheduler. */
const char *kube_zone_rule_of(const struct kube_object *pod, struct kube_zone_rule *ret);

/* "even", "apart", "near"; NULL: it is free. */
const char *kube_zone_word(const struct kube_zone_rule *rule);

/* What keeps a pod away, "!(zone=a|type=b)", without the zones, and these, as ",a,". They are no longer than 'words' was. */
void kube_zone_split(char *words, char *zones);

/* Zones of ",a,b," that are not in the other one; as long as the first at the most. */
void kube_zone_without(const char *zones, const char *others, char *ret);

#endif
