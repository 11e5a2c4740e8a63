/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of Kubernetes: a text is refused or read; in pieces it gives the same pods and nodes as whole; no amount is
 * below zero, and what a pod needs is an expression that is valid. */
#include "fuzz.h"

#include <assert.h>
#include <string.h>

#include "engine/kubernetes/kube_snapshot.h"
#include "model/offer_set.h"

struct reading {
    struct kube_snapshot snapshot;
    int rc;
};

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    (void)event;
    assert(object->asks.cpu >= 0 && object->asks.mem >= 0 && object->asks.accel >= 0);
    return kube_snapshot_add(context, object);
}

static void read_pieces(const char *text, size_t length, size_t piece, bool is_watch,
                        struct reading *reading)
{
    const struct kube_object_sink sink = { .on_object = on_object, .context = &reading->snapshot };
    struct kube_objects *objects = kube_objects_create(KUBE_OTHER, is_watch, &sink);
    struct error error;

    kube_snapshot_init(&reading->snapshot);
    reading->rc = 0;
    for (size_t at = 0; at < length && reading->rc == 0; at += piece)
        reading->rc = kube_objects_read(objects, text + at,
                                        piece < length - at ? piece : length - at, &error);
    if (reading->rc == 0)
        reading->rc = kube_objects_end(objects, &error);
    kube_objects_destroy(objects);
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
    if (whole.rc == 0)
        compare(&whole.snapshot, &pieces.snapshot);
    kube_snapshot_done(&whole.snapshot);
    kube_snapshot_done(&pieces.snapshot);
    return 0;
}
