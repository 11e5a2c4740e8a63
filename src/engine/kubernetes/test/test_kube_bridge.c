/* SPDX-License-Identifier: Apache-2.0 */
/* What stint-kubernetes says of a pod: what it asks of its machine, or why it is left to the scheduler. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/kubernetes/kube_bridge.h"

#define OWNER \
    "\"ownerReferences\":[{\"kind\":\"Job\",\"name\":\"j\",\"uid\":\"o\",\"controller\":true}]"
#define GATE "\"schedulingGates\":[{\"name\":\"stint.dev/place\"}]"
#define TERMS(terms)                                                                       \
    "\"affinity\":{\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{" \
    "\"nodeSelectorTerms\":[" terms "]}}}"

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    (void)event;
    kube_bridge_pod_line(context, false, object);
    return 0;
}

/* The line of a pod; to be freed with line_text_done. */
static struct line_text say(const char *metadata, const char *spec)
{
    struct line_text out = { 0 };
    const struct kube_object_sink sink = { .on_object = on_object, .context = &out };
    struct kube_objects *objects = kube_objects_create(KUBE_POD, false, &sink);
    struct error error = { "" };
    char text[4096];

    (void)snprintf(
        text, sizeof(text),
        "{\"items\":[{\"metadata\":{\"name\":\"p\",\"namespace\":\"a\",\"uid\":\"u\",%s},"
        "\"spec\":{%s}}]}",
        metadata, spec);
    assert_int_equal(kube_objects_read(objects, text, strlen(text), &error), 0);
    kube_objects_destroy(objects);
    return out;
}

static void expect(const char *spec, const char *part, bool is_there)
{
    struct line_text out = say(OWNER, spec);
    char *text = strndup(out.text, out.size);

    if ((strstr(text, part) != NULL) != is_there)
        fail_msg("%s: %s", spec, text);
    free(text);
    line_text_done(&out);
}

TEST(what_every_machine_has_may_be_asked_for)
{
    static const char *const good[] = {
        GATE,
        GATE ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"z\"}",
        GATE ",\"nodeSelector\":{\"kubernetes.io/os\":\"linux\"}",
        GATE "," TERMS(
            "{\"matchExpressions\":[{\"key\":\"disk\",\"operator\":\"NotIn\",\"values\":[\"hdd\"]}]}"),
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        expect(good[i], "state=waiting", true);
        expect(good[i], "strange=", false);
    }
    expect(good[1], "needs=(zone=z)", true);
}

/* Each was seen to wait for ever, or could: the scheduler does not bind it to the machine that Stint has chosen. */
TEST(what_a_machine_may_lack_is_left_to_the_scheduler)
{
    static const char *const odd[] = {
        GATE ",\"nodeSelector\":{\"disk\":\"ssd\"}",
        GATE ",\"nodeSelector\":{\"eks.amazonaws.com/capacityType\":\"SPOT\"}",
        GATE ",\"nodeSelector\":{\"karpenter.k8s.aws/instance-family\":\"c5\"}",
        GATE "," TERMS(
            "{\"matchExpressions\":[{\"key\":\"stint.dev/slot\",\"operator\":\"DoesNotExist\"}]}"),
        GATE "," TERMS(
            "{\"matchExpressions\":[{\"key\":\"karpenter.sh/registered\",\"operator\":\"NotIn\","
            "\"values\":[\"true\"]}]}"),
        GATE "," TERMS("{}"),
        GATE ",\"containers\":[{\"resources\":{\"requests\":{\"ephemeral-storage\":\"1Gi\"}}}]",
        GATE ",\"containers\":[{\"resources\":{\"requests\":{\"hugepages-2Mi\":\"2Mi\"}}}]",
        GATE ",\"containers\":[{\"resources\":{\"requests\":{\"amd.com/gpu\":\"1\"}}}]",
        GATE ",\"containers\":[{\"ports\":[{\"hostPort\":80}]}]",
        GATE ",\"volumes\":[{\"csi\":{\"driver\":\"d\"}}]",
        GATE ",\"schedulerName\":\"other\"",
    };
    struct line_text out = say(OWNER ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}", GATE);

    assert_non_null(memmem(out.text, out.size, "strange=it%20belongs%20to%20a%20pod%20group", 40));
    line_text_done(&out);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        expect(odd[i], "strange=", true);
}

TEST(a_gate_of_others_comes_first)
{
    expect("\"schedulingGates\":[{\"name\":\"stint.dev/place\"},{\"name\":\"example.com/quota\"}]",
           "gone uid=u", true);
}

/* What the patch makes of the terms of a pod. */
static void expect_terms(const char *pod, const char *terms)
{
    char *text = kube_talk_leave("u", pod, strlen(pod));
    json_t *root = json_loads(text, 0, NULL);
    json_t *found = NULL;
    char *said;

    assert_int_equal(json_unpack(root, "{s:{s:{s:{s:{s:o}}}}}", "spec", "affinity", "nodeAffinity",
                                 "requiredDuringSchedulingIgnoredDuringExecution",
                                 "nodeSelectorTerms", &found),
                     0);
    said = json_dumps(found, JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(said, terms);
    free(said);
    json_decref(root);
    free(text);
}

#define ELSEWHERE "{\"key\":\"stint.dev/slot\",\"operator\":\"DoesNotExist\"}"

/* Otherwise the scheduler would put it on a machine whose room Stint has promised to others. */
TEST(a_pod_that_is_left_goes_to_no_machine_of_stint)
{
    expect_terms("{\"spec\":{}}", "[{\"matchExpressions\":[" ELSEWHERE "]}]");
    expect_terms(
        "{\"spec\":{" TERMS("{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}]},"
                            "{},{\"matchFields\":[]}") "}}",
        "[{\"matchExpressions\":[{\"key\":\"a\",\"operator\":\"Exists\"}," ELSEWHERE
        "]},{},{\"matchExpressions\":[" ELSEWHERE "],\"matchFields\":[]}]");
    assert_null(kube_talk_leave("u", "{}", 2));
    assert_null(kube_talk_leave("u", "{", 1));
}

CHECK_MAIN(RUN(what_every_machine_has_may_be_asked_for),
           RUN(what_a_machine_may_lack_is_left_to_the_scheduler), RUN(a_gate_of_others_comes_first),
           RUN(a_pod_that_is_left_goes_to_no_machine_of_stint))
