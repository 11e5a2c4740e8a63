/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/kubernetes/kube_object.h"

/* What was read last, as far as the tests ask for it. */
struct seen {
    uint32_t count;
    struct kube_object object; /* its texts are those of the reader, which still lives */
    char event[32];
};

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    struct seen *seen = context;

    seen->count++;
    seen->object = *object;
    (void)snprintf(seen->event, sizeof(seen->event), "%s", event);
    return 0;
}

/* Reads 'text' in pieces of 'piece' bytes. */
static struct kube_objects *read_text(const char *text, size_t piece, enum kube_kind kind,
                                      bool is_watch, struct seen *seen)
{
    const struct kube_object_sink sink = { .on_object = on_object, .context = seen };
    struct kube_objects *objects = kube_objects_create(kind, is_watch, &sink);
    const size_t length = strlen(text);
    struct error error = { "" };

    *seen = (struct seen){ 0 };
    for (size_t at = 0; at < length; at += piece)
        assert_int_equal(kube_objects_read(objects, text + at,
                                           piece < length - at ? piece : length - at, &error),
                         0);
    assert_int_equal(kube_objects_end(objects, &error), 0);
    return objects;
}

static const char pod_text[] =
    "{\"kind\":\"PodList\",\"metadata\":{\"resourceVersion\":\"77\",\"continue\":\"more\"},\"items\":[{"
    "\"metadata\":{\"name\":\"web-1\",\"namespace\":\"shop\",\"labels\":{\"app\":\"web\"},"
    "\"annotations\":{\"karpenter.sh/do-not-disrupt\":\"true\",\"note\":\"[{\\\"deep\\\":1}]\"},"
    "\"ownerReferences\":[{\"kind\":\"Other\",\"name\":\"x\"},"
    "{\"kind\":\"ReplicaSet\",\"name\":\"web\",\"controller\":true}],"
    "\"managedFields\":[{\"fieldsV1\":{\"f:x\":{}}}]},"
    "\"spec\":{\"nodeName\":\"n1\",\"nodeSelector\":{\"disk\":\"ssd\"},"
    "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":\"1Gi\"}},"
    "\"ports\":[{\"containerPort\":80}]},"
    "{\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"64Mi\",\"nvidia.com/gpu\":1}}}],"
    "\"initContainers\":[{\"resources\":{\"requests\":{\"cpu\":\"100m\"}},\"restartPolicy\":\"Always\"},"
    "{\"resources\":{\"requests\":{\"cpu\":\"3\",\"memory\":\"10Mi\"}}}],"
    "\"overhead\":{\"cpu\":\"10m\"},\"priority\":1000,"
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
    "{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"topology.kubernetes.io/zone\","
    "\"operator\":\"In\",\"values\":[\"a\",\"b\"]},{\"key\":\"gpu\",\"operator\":\"DoesNotExist\"}]},"
    "{\"matchExpressions\":[{\"key\":\"x\",\"operator\":\"NotIn\",\"values\":[\"1\"]}]}]}},"
    "\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
    "[{\"topologyKey\":\"kubernetes.io/hostname\",\"labelSelector\":{\"matchLabels\":{\"app\":\"web\"}}}]}},"
    "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]},"
    "\"status\":{\"phase\":\"Running\"}}]}";

static void check_pod(const struct kube_object *pod)
{
    assert_int_equal(pod->kind, KUBE_POD);
    assert_string_equal(pod->name, "web-1");
    assert_string_equal(pod->name_space, "shop");
    assert_string_equal(kube_object_label(pod, "app"), "web");
    assert_string_equal(pod->owner_kind, "ReplicaSet");
    assert_string_equal(pod->owner_name, "web");
    assert_string_equal(pod->node, "n1");
    assert_int_equal(pod->priority, 1000);
    assert_int_equal(pod->flags, KUBE_POD_KEEP | KUBE_POD_APART | KUBE_POD_CLAIMS);
    /* The second init container with the sidecar before it needs more processor than all others together. */
    assert_int_equal(pod->asks.cpu, 3100 + 10);
    assert_int_equal(pod->asks.mem, 1024 + 64);
    assert_int_equal(pod->asks.accel, 1000);
    assert_int_equal(pod->asks.pods, 1);
}

static void check_requirements(const struct kube_object *pod)
{
    assert_int_equal(pod->selector_count, 1);
    assert_string_equal(pod->selector[0].key, "disk");
    assert_int_equal(pod->term_count, 2);
    assert_int_equal(pod->requirement_count, 3);
    assert_int_equal(pod->requirement[0].value_count, 2);
    assert_string_equal(pod->requirement[0].value[1], "b");
    assert_int_equal(pod->requirement[1].comparison, KUBE_ABSENT);
    assert_int_equal(pod->requirement[1].term, 0);
    assert_int_equal(pod->requirement[2].comparison, KUBE_NOT_IN);
    assert_int_equal(pod->requirement[2].term, 1);
}

TEST(a_pod_of_a_list_is_read_in_pieces_of_any_size)
{
    for (size_t piece = 1; piece < sizeof(pod_text); piece = piece * 3 + 1) {
        struct seen seen;
        struct kube_objects *objects = read_text(pod_text, piece, KUBE_POD, false, &seen);

        assert_int_equal(seen.count, 1);
        check_pod(&seen.object);
        check_requirements(&seen.object);
        assert_string_equal(kube_objects_list(objects)->version, "77");
        assert_string_equal(kube_objects_list(objects)->next, "more");
        kube_objects_destroy(objects);
    }
}

TEST(kubectl_s_list_has_several_kinds)
{
    static const char text[] =
        "{\"apiVersion\":\"v1\",\"items\":[{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\"},"
        "\"spec\":{\"unschedulable\":true,\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]},"
        "\"status\":{\"capacity\":{\"cpu\":\"4\",\"memory\":\"16Gi\",\"pods\":\"58\",\"x.com/y\":\"1\"},"
        "\"allocatable\":{\"cpu\":\"3920m\",\"memory\":\"15Gi\",\"pods\":\"58\"},"
        "\"conditions\":[{\"type\":\"MemoryPressure\",\"status\":\"False\"},"
        "{\"type\":\"Ready\",\"status\":\"True\"}]}},"
        "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"c\"}},"
        "{\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"name\":\"b\",\"namespace\":\"s\"},"
        "\"spec\":{\"selector\":{\"matchLabels\":{\"app\":\"web\"}}},"
        "\"status\":{\"disruptionsAllowed\":2}}],\"kind\":\"List\"}";
    struct seen seen;
    struct kube_objects *objects = read_text(text, 7, KUBE_OTHER, false, &seen);

    assert_int_equal(seen.count, 3);
    assert_int_equal(seen.object.kind, KUBE_BUDGET);
    assert_int_equal(seen.object.may_disturb, 2);
    assert_string_equal(seen.object.selector[0].value, "web");
    kube_objects_destroy(objects);
}

TEST(a_node_says_what_it_has)
{
    static const char text[] =
        "{\"items\":[{\"metadata\":{\"name\":\"n\"},\"spec\":{\"unschedulable\":true,"
        "\"taints\":[{\"effect\":\"PreferNoSchedule\"}]},"
        "\"status\":{\"capacity\":{\"cpu\":\"4\",\"memory\":\"16Gi\",\"pods\":\"58\",\"x.com/y\":\"1\"},"
        "\"allocatable\":{\"cpu\":\"3920m\",\"memory\":\"15Gi\",\"pods\":\"58\"},"
        "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"},{\"type\":\"x\",\"status\":\"False\"}]}}]}";
    struct seen seen;
    struct kube_objects *objects = read_text(text, 1000, KUBE_NODE, false, &seen);

    assert_int_equal(seen.object.capacity.cpu, 4000);
    assert_int_equal(seen.object.allocatable.cpu, 3920);
    assert_int_equal(seen.object.allocatable.mem, 15360);
    assert_int_equal(seen.object.allocatable.pods, 58);
    assert_true(seen.object.is_ready);
    assert_true(seen.object.is_closed);
    assert_false(seen.object.is_tainted);
    kube_objects_destroy(objects);
}

TEST(a_watch_tells_one_event_after_the_other)
{
    static const char text[] =
        "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"}}}\n"
        "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\",\"metadata\":{\"resourceVersion\":\"9\"}}}\n";
    struct seen seen;
    struct kube_objects *objects = read_text(text, 5, KUBE_OTHER, true, &seen);

    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.event, "BOOKMARK");
    assert_string_equal(seen.object.version, "9");
    kube_objects_destroy(objects);
}

TEST(a_pod_says_whether_it_keeps_away_from_others_than_its_own_kind)
{
    static const char form[] =
        "{\"items\":[{\"metadata\":{\"labels\":{\"app\":\"%s\"}},\"spec\":{\"affinity\":{\"podAntiAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":[{\"topologyKey\":\"kubernetes.io/hostname\","
        "\"labelSelector\":{\"matchLabels\":{\"app\":\"db\"}}}]}}}}]}";

    for (int i = 0; i < 2; i++) {
        struct kube_objects *objects;
        struct seen seen;
        char text[1024];

        (void)snprintf(text, sizeof(text), form, i == 0 ? "db" : "web");
        objects = read_text(text, 11, KUBE_POD, false, &seen);
        assert_int_equal((seen.object.flags & KUBE_POD_AWAY) != 0, i == 1);
        assert_int_equal(seen.object.flags & KUBE_POD_STRANGE, 0);
        assert_int_equal(seen.object.repel_count, 1);
        kube_objects_destroy(objects);
    }
}

/* Each of these asks for something that Stint would get wrong if it did not say so. */
TEST(what_is_not_understood_is_said)
{
    static const char *const specs[] = {
        "\"containers\":[{\"resources\":{\"requests\":{\"example.com/fpga\":\"1\"}}}]",
        "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"many\"}}}]",
        "\"resourceClaims\":[{\"name\":\"gpu\"}]",
        "\"topologySpreadConstraints\":[{\"topologyKey\":\"rack\",\"whenUnsatisfiable\":\"DoNotSchedule\"}]",
        ("\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"
         "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\"}]}]}}}"),
        "\"schedulerName\":\"volcano\"",
        "\"os\":{\"name\":\"windows\"}",
        "\"schedulingGroup\":{\"podGroupName\":\"x\"}",
    };

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
        struct kube_objects *objects;
        struct seen seen;
        char text[1024];

        (void)snprintf(text, sizeof(text), "{\"items\":[{\"spec\":{%s}}]}", specs[i]);
        objects = read_text(text, 11, KUBE_POD, false, &seen);
        assert_int_equal(seen.object.flags & KUBE_POD_STRANGE, KUBE_POD_STRANGE);
        assert_non_null(seen.object.strange);
        kube_objects_destroy(objects);
    }
}

TEST(a_request_of_the_whole_pod_replaces_those_of_its_containers)
{
    struct seen seen;
    struct kube_objects *objects = read_text(
        "{\"items\":[{\"spec\":{\"resources\":{\"requests\":{\"cpu\":\"1\"}},\"containers\":["
        "{\"resources\":{\"requests\":{\"cpu\":\"3\",\"memory\":\"5Mi\"}}}]}}]}",
        9, KUBE_POD, false, &seen);

    assert_int_equal(seen.object.asks.cpu, 1000);
    assert_int_equal(seen.object.asks.mem, 5);
    kube_objects_destroy(objects);
}

/* Bytes are added up before they are rounded: pods never ask for less, nodes never have more. */
TEST(memory_is_rounded_once)
{
    struct seen seen;
    struct kube_objects *objects = read_text(
        "{\"items\":[{\"spec\":{\"containers\":[{\"resources\":{\"requests\":{\"memory\":\"524288\"}}},"
        "{\"resources\":{\"requests\":{\"memory\":\"524288\"}}},{\"resources\":{\"requests\":{\"memory\":\"1\"}}}]}}]}",
        9, KUBE_POD, false, &seen);

    assert_int_equal(seen.object.asks.mem, 2);
    kube_objects_destroy(objects);
    objects = read_text("{\"items\":[{\"status\":{\"allocatable\":{\"memory\":\"2097151\"}}}]}", 9,
                        KUBE_NODE, false, &seen);
    assert_int_equal(seen.object.allocatable.mem, 1);
    kube_objects_destroy(objects);
}

TEST(taints_of_others_shut_a_node)
{
    struct seen seen;
    struct kube_objects *objects = read_text(
        "{\"items\":[{\"spec\":{\"taints\":[{\"key\":\"stint.dev/slot\",\"effect\":\"NoSchedule\"}]}}]}",
        9, KUBE_NODE, false, &seen);

    assert_true(seen.object.is_tainted);
    assert_false(seen.object.is_shut);
    kube_objects_destroy(objects);
    objects = read_text("{\"items\":[{\"spec\":{\"taints\":[{\"effect\":\"NoSchedule\",\"key\":"
                        "\"karpenter.sh/disrupted\"}]}}]}",
                        9, KUBE_NODE, false, &seen);
    assert_true(seen.object.is_shut);
    kube_objects_destroy(objects);
}

static void expect_limit(const char *drivers, int64_t limit)
{
    struct seen seen;
    char text[1024];
    struct kube_objects *objects;

    (void)snprintf(text, sizeof(text),
                   "{\"kind\":\"CSINodeList\",\"items\":[{\"metadata\":{\"name\":\"n\"},\"spec\":{"
                   "\"drivers\":%s}}]}",
                   drivers);
    objects = read_text(text, 7, KUBE_OTHER, false, &seen);
    assert_int_equal(seen.object.kind, KUBE_CSI_NODE);
    assert_int_equal(seen.object.has_volume_limit ? seen.object.volume_limit : -1, limit);
    kube_objects_destroy(objects);
}

TEST(the_driver_that_attaches_the_fewest_volumes_limits_a_node)
{
    expect_limit("null", -1);
    expect_limit("[]", -1);
    expect_limit("[{\"name\":\"files\",\"allocatable\":null},{\"name\":\"x\",\"allocatable\":{}}]",
                 -1);
    expect_limit(
        "[{\"name\":\"a\",\"allocatable\":{\"count\":25}},{\"name\":\"files\"},"
        "{\"name\":\"b\",\"allocatable\":{\"count\":8}},{\"name\":\"c\",\"allocatable\":{\"count\":39}}]",
        8);
    expect_limit("[{\"allocatable\":{\"count\":0}}]", 0);
}

TEST(a_limit_that_makes_no_sense_is_harmless)
{
    expect_limit("[{\"allocatable\":{\"count\":-5}}]", 0);
    expect_limit("[{\"allocatable\":{\"count\":\"many\"}}]", 0);
    expect_limit("[{\"allocatable\":{\"count\":999999999999999999999}}]", INT64_MAX);
    expect_limit("[{\"allocatable\":{\"count\":1e400}}]", 1);
    expect_limit("[{\"allocatable\":7,\"count\":3}]", -1);
    expect_limit("{\"allocatable\":{\"count\":[4,[3]]}}", 3); /* arrays are transparent */
}

TEST(each_claim_of_a_pod_is_a_volume_once)
{
#define CLAIM(name) "{\"persistentVolumeClaim\":{\"claimName\":\"" name "\"}}"
    struct seen seen;
    struct kube_objects *objects =
        read_text("{\"items\":[{\"spec\":{\"volumes\":[" CLAIM("a") "," CLAIM(
                      "b") ",{\"emptyDir\":{}}," CLAIM("a") "," CLAIM("c") "]}}]}",
                  5, KUBE_POD, false, &seen);

    assert_int_equal(seen.object.asks.volumes, 3);
    assert_int_equal(seen.object.claim_count, 4);
    kube_objects_destroy(objects);
}

TEST(broken_text_is_refused)
{
    static const char *const bad[] = { "{\"items\":[{]", "{\"items\":[}", "[",
                                       "{\"items\":[{\"a\":}]}" };
    const struct kube_object_sink sink = { .on_object = on_object, .context = &(struct seen){ 0 } };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        struct kube_objects *objects = kube_objects_create(KUBE_POD, false, &sink);
        struct error error = { "" };
        int rc = kube_objects_read(objects, bad[i], strlen(bad[i]), &error);

        if (rc == 0)
            rc = kube_objects_end(objects, &error);
        assert_int_equal(rc, -EBADMSG);
        assert_true(strlen(error.text) > 0);
        kube_objects_destroy(objects);
    }
}

CHECK_MAIN(RUN(a_pod_of_a_list_is_read_in_pieces_of_any_size),
           RUN(kubectl_s_list_has_several_kinds), RUN(a_node_says_what_it_has),
           RUN(a_watch_tells_one_event_after_the_other), RUN(what_is_not_understood_is_said),
           RUN(a_pod_says_whether_it_keeps_away_from_others_than_its_own_kind),
           RUN(a_request_of_the_whole_pod_replaces_those_of_its_containers),
           RUN(memory_is_rounded_once), RUN(taints_of_others_shut_a_node),
           RUN(the_driver_that_attaches_the_fewest_volumes_limits_a_node),
           RUN(a_limit_that_makes_no_sense_is_harmless), RUN(each_claim_of_a_pod_is_a_volume_once),
           RUN(broken_text_is_refused))
