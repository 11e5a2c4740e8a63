/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of Kubernetes: a text is refused or read; in pieces it gives the same pods and nodes as whole; no amount is
 * below zero, no node attaches less than no volumes, and what a pod needs is an expression that is valid. So are the groups of pods that keep apart, and whether claims are
 * outdated: never if nothing is known of the claim, or of the node class. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "engine/kubernetes/kube_apart.h"
#include "engine/kubernetes/kube_class.h"
#include "engine/kubernetes/kube_drivers.h"
#include "engine/kubernetes/kube_places.h"
#include "engine/kubernetes/kube_snapshot.h"
#include "engine/kubernetes/kube_zone_rules.h"
#include "model/offer_set.h"

struct reading {
    struct kube_snapshot snapshot;
    struct kube_apart *apart;
    struct kube_drivers *drivers;
    uint64_t limits;
    struct kube_places *places;
    uint64_t groups;
    struct names texts;
    struct kube_origin origin; /* of the last claim */
    struct kube_class node_class;
    uint64_t ages;
    int rc;
};

static void compare_class(struct reading *reading, const struct kube_object *object)
{
    static const struct kube_class no_class;
    static const struct kube_origin no_origin;

    if (object->kind == KUBE_CLAIM)
        reading->origin = kube_class_origin(&reading->texts, object);
    else if (object->kind == KUBE_NODE_CLASS)
        reading->node_class = kube_class_read(&reading->texts, object);
    else
        return;
    assert(kube_class_compare(&no_class, &reading->origin) == KUBE_CURRENT);
    assert(kube_class_compare(&reading->node_class, &no_origin) == KUBE_CURRENT);
    reading->ages =
        reading->ages * 31 + (uint64_t)kube_class_compare(&reading->node_class, &reading->origin);
}

static void on_marks(void *context, uint64_t like, const char *marks)
{
    struct reading *reading = context;

    assert(like <= INT64_MAX / 4);
    reading->groups = reading->groups * 31 + like + strlen(marks);
}

static void attach(struct reading *reading, const struct kube_object *node)
{
    int64_t limit;

    kube_drivers_node(reading->drivers, (node->flags & KUBE_POD_GOING) != 0, node);
    limit = kube_drivers_limit(reading->drivers, node->name);
    assert(limit == KUBE_NO_LIMIT || (limit >= 0 && limit <= INT32_MAX));
    reading->limits = reading->limits * 31 + (uint64_t)limit;
}

/* Where those are that the pod's rule about zones is about. */
static void find_zones(struct reading *reading, const struct kube_object *pod,
                       const struct kube_zone_rule *rule)
{
    char zones[64] = "";

    if (pod->node != NULL)
        kube_places_pod(reading->places, KUBE_REPEL_OTHERS, (pod->flags & KUBE_POD_GOING) != 0,
                        pod);
    else if (kube_places_wait(reading->places, pod, rule) == NULL)
        (void)kube_places_zones(reading->places, pod->uid, zones, sizeof(zones));
    for (const char *at = zones; *at != '\0'; at++)
        reading->groups = reading->groups * 31 + (unsigned char)*at;
}

static void keep_apart(struct reading *reading, const struct kube_object *pod)
{
    struct kube_keeps keeps = { .like = 0 };
    struct kube_zone_rule rule;

    if (pod->kind == KUBE_NODE)
        kube_places_node(reading->places, KUBE_REPEL_OTHERS, (pod->flags & KUBE_POD_GOING) != 0,
                         pod);
    if (pod->kind != KUBE_POD)
        return;
    if (pod->node != NULL)
        kube_apart_place(reading->apart, pod, &keeps);
    else if (kube_apart_wait(reading->apart, pod, &keeps) != NULL)
        keeps.like = 0;
    if (kube_zone_rule_of(pod, &rule) != NULL)
        assert(rule.what == KUBE_ZONES_FREE && rule.group == 0 && rule.term == NULL);
    find_zones(reading, pod, &rule);
    if ((pod->flags & KUBE_POD_GOING) != 0)
        kube_apart_gone(reading->apart, pod->uid);
    assert(keeps.like <= INT64_MAX / 4 && rule.group <= INT64_MAX / 4);
    reading->groups = reading->groups * 31 + keeps.like + rule.group;
}

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    struct reading *reading = context;

    (void)event;
    assert(object->asks.cpu >= 0 && object->asks.mem >= 0 && object->asks.accel >= 0);
    assert(object->asks.volumes >= 0 && object->asks.volumes <= KUBE_CLAIM_NAMES);
    attach(reading, object);
    keep_apart(reading, object);
    compare_class(reading, object);
    return kube_snapshot_add(&reading->snapshot, object);
}

static void read_pieces(const char *text, size_t length, size_t piece, bool is_watch,
                        struct reading *reading)
{
    const struct kube_object_sink sink = { .on_object = on_object, .context = reading };
    struct kube_objects *objects = kube_objects_create(KUBE_OTHER, is_watch, &sink);
    struct error error;

    kube_snapshot_init(&reading->snapshot);
    reading->apart =
        kube_apart_create(&(struct kube_apart_config){ .on_marks = on_marks, .context = reading });
    reading->drivers = kube_drivers_create();
    reading->limits = 0;
    reading->places = kube_places_create();
    reading->groups = 0;
    reading->origin = (struct kube_origin){ .image = 0 };
    reading->node_class = (struct kube_class){ .image_count = 0 };
    reading->ages = 0;
    names_init(&reading->texts);
    (void)names_add(&reading->texts, "", 0);
    reading->rc = 0;
    for (size_t at = 0; at < length && reading->rc == 0; at += piece)
        reading->rc = kube_objects_read(objects, text + at,
                                        piece < length - at ? piece : length - at, &error);
    if (reading->rc == 0)
        reading->rc = kube_objects_end(objects, &error);
    kube_objects_destroy(objects);
    kube_apart_destroy(reading->apart);
    kube_drivers_destroy(reading->drivers);
    kube_places_destroy(reading->places);
    names_done(&reading->texts);
    kube_snapshot_close(&reading->snapshot);
}

static void compare(const struct kube_snapshot *a, const struct kube_snapshot *b)
{
    assert(a->pod_count == b->pod_count && a->node_count == b->node_count);
    for (uint32_t i = 0; i < a->pod_count; i++) {
        assert(a->pods[i].asks.cpu == b->pods[i].asks.cpu);
        assert(a->pods[i].need == b->pods[i].need && a->pods[i].stay == b->pods[i].stay);
        assert(offer_text_is_valid(names_text(&a->texts, a->pods[i].need)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct reading whole;
    struct reading pieces;

    if (size < 2)
        return 0;
    read_pieces((const char *)data + 1, size - 1, size, (data[0] & 1) != 0, &whole);
    read_pieces((const char *)data + 1, size - 1, 1 + data[0] / 4, (data[0] & 1) != 0, &pieces);
    assert(whole.rc == pieces.rc);
    if (whole.rc == 0) {
        assert(whole.groups == pieces.groups && whole.ages == pieces.ages &&
               whole.limits == pieces.limits);
        compare(&whole.snapshot, &pieces.snapshot);
    }
    kube_snapshot_done(&whole.snapshot);
    kube_snapshot_done(&pieces.snapshot);
    return 0;
}
