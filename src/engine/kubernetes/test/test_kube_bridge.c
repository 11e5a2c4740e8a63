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
    kube_bridge_pod(context, false, object);
    return 0;
}

/* As if the daemon had said hello, and everything had been listed. */
static void begin_bridge(struct kube_bridge *bridge)
{
    kube_bridge_begin(bridge);
    line_text_reset(&bridge->talk.out);
    bridge->is_greeted = true;
    bridge->is_watching = true;
}

/* What it said last. */
static struct line_text end_bridge(struct kube_bridge *bridge)
{
    const struct line_text out = bridge->talk.out;

    bridge->talk.out = (struct line_text){ 0 };
    kube_bridge_done(bridge);
    return out;
}

/* The line of a pod; to be freed with line_text_done. */
static struct line_text say(const char *metadata, const char *spec)
{
    struct kube_bridge bridge = { .is_greeted = false };
    const struct kube_object_sink sink = { .on_object = on_object, .context = &bridge };
    struct kube_objects *objects = kube_objects_create(KUBE_POD, false, &sink);
    struct error error = { "" };
    char text[4096];

    begin_bridge(&bridge);
    (void)snprintf(
        text, sizeof(text),
        "{\"items\":[{\"metadata\":{\"name\":\"p\",\"namespace\":\"a\",\"uid\":\"u\",%s},"
        "\"spec\":{%s}}]}",
        metadata, spec);
    assert_int_equal(kube_objects_read(objects, text, strlen(text), &error), 0);
    kube_objects_destroy(objects);
    return end_bridge(&bridge);
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
        GATE "," TERMS(
            "{\"matchExpressions\":[{\"key\":\"eks.amazonaws.com/capacityType\",\"operator\":\"NotIn\","
            "\"values\":[\"SPOT\",\"ON_DEMAND\"]}]}"),
        GATE "," TERMS("{}"),
        GATE ",\"containers\":[{\"resources\":{\"requests\":{\"ephemeral-storage\":\"1Gi\"}}}]",
        GATE ",\"containers\":[{\"resources\":{\"requests\":{\"hugepages-2Mi\":\"2Mi\"}}}]",
        GATE ",\"containers\":[{\"resources\":{\"requests\":{\"amd.com/gpu\":\"1\"}}}]",
        GATE ",\"volumes\":[{\"csi\":{\"driver\":\"d\"}}]",
        GATE ",\"schedulerName\":\"other\"",
    };
    struct line_text out = say(OWNER ",\"labels\":{\"scheduling.x-k8s.io/pod-group\":\"g\"}", GATE);

    assert_non_null(memmem(out.text, out.size, "strange=it%20belongs%20to%20a%20pod%20group", 40));
    line_text_done(&out);
    for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
        expect(odd[i], "strange=", true);
}

TEST(a_spread_with_min_domains_is_told_with_them)
{
    expect(GATE ",\"topologySpreadConstraints\":[{\"topologyKey\":\"topology.kubernetes.io/zone\","
                "\"maxSkew\":2,\"minDomains\":5,\"whenUnsatisfiable\":\"DoNotSchedule\","
                "\"labelSelector\":{}}]",
           " rule=even least=5 skew=2 like=", true);
    expect(GATE ",\"topologySpreadConstraints\":[{\"topologyKey\":\"topology.kubernetes.io/zone\","
                "\"maxSkew\":2,\"minDomains\":5,\"whenUnsatisfiable\":\"DoNotSchedule\","
                "\"labelSelector\":{}}]",
           "/2", true);
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

#define POD(name, labels, more)                                                                 \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"a\",\"uid\":\"" name \
    "\"," OWNER ",\"labels\":{" labels "}},\"spec\":{" more "}}"
#define KEEPS_AWAY(key, labels)                                                                \
    "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{" \
    "\"labelSelector\":{\"matchLabels\":{" labels "}},\"topologyKey\":\"" key "\"}]}}"
#define ZONE "topology.kubernetes.io/zone"
#define NODE(name) \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\",\"labels\":{\"" ZONE "\":\"z\"}}}"

/* What the watches tell: an object that is Stint's, one that is not, or (gone) is no more. */
enum news { OURS, OTHERS, OTHERS_GONE };

struct told {
    struct kube_bridge *bridge;
    enum news news;
};

static int on_news(void *context, const char *event, const struct kube_object *object)
{
    const struct told *told = context;

    (void)event;
    if (object->kind == KUBE_CSI_NODE)
        kube_bridge_drivers(told->bridge, told->news == OTHERS_GONE, object);
    else if (told->news == OURS && object->kind == KUBE_NODE)
        kube_bridge_node(told->bridge, false, object);
    else if (told->news == OURS)
        kube_bridge_pod(told->bridge, false, object);
    else
        kube_bridge_other(told->bridge, told->news == OTHERS_GONE, object);
    return 0;
}

static void tell(struct kube_bridge *bridge, enum news news, const char *object)
{
    struct told told = { .bridge = bridge, .news = news };
    const struct kube_object_sink sink = { .on_object = on_news, .context = &told };
    struct kube_objects *objects = kube_objects_create(KUBE_OTHER, false, &sink);
    struct error error = { "" };
    char text[2048];

    (void)snprintf(text, sizeof(text), "{\"items\":[%s]}", object);
    assert_int_equal(kube_objects_read(objects, text, strlen(text), &error), 0);
    kube_objects_destroy(objects);
}

/* Whether all that was said since it was asked last is 'parts', one in each line, in any order of fields. */
static void expect_said(struct kube_bridge *bridge, const char *const *parts, uint32_t count)
{
    char *text;
    char *at;

    kube_bridge_tick(bridge);
    text = strndup(bridge->talk.out.size > 0 ? bridge->talk.out.text : "", bridge->talk.out.size);
    at = text;
    for (uint32_t i = 0; i < count; i++) {
        char *end = strchr(at, '\n');

        if (end == NULL) {
            fail_msg("'%s' is missing: %s", parts[i], text);
            break;
        }
        *end = '\0';
        if (strstr(at, parts[i]) == NULL)
            fail_msg("'%s' is not in '%s'", parts[i], at);
        at = end + 1;
    }
    assert_string_equal(at, "");
    free(text);
    line_text_reset(&bridge->talk.out);
}

#define EXPECT_SAID(bridge, ...)                              \
    expect_said(bridge, (const char *const[]){ __VA_ARGS__ }, \
                sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* kube-scheduler would not bind it there: anti-affinity holds both ways. */
TEST(a_pod_elsewhere_keeps_pods_at_the_gate_out_of_its_zone)
{
    struct kube_bridge bridge = { .is_greeted = false };

    begin_bridge(&bridge);
    tell(&bridge, OTHERS,
         POD("r", "\"x\":\"r\"", "\"nodeName\":\"n\"," KEEPS_AWAY(ZONE, "\"app\":\"b\"")));
    tell(&bridge, OURS, POD("p", "\"app\":\"b\"", GATE));
    tell(&bridge, OURS, POD("q", "\"app\":\"c\"", GATE));
    expect_said(&bridge, (const char *const[]){ "uid=p", "uid=q" }, 2);

    /* Its zone is known when its node is; only the pod that it is about is told anew. */
    tell(&bridge, OTHERS, NODE("n"));
    EXPECT_SAID(&bridge, "gone uid=p", "needs=!(zone=z)");
    tell(&bridge, OTHERS, NODE("n"));
    expect_said(&bridge, NULL, 0);
    tell(&bridge, OURS, POD("s", "\"app\":\"b\"", GATE ",\"nodeSelector\":{\"" ZONE "\":\"y\"}"));
    EXPECT_SAID(&bridge, "needs=(zone=y)&!(zone=z)");

    /* When it has gone, all may go there again; a pod that was placed meanwhile is not told again. */
    tell(&bridge, OURS,
         POD("s", "\"app\":\"b\"", "\"nodeSelector\":{\"stint.dev/slot\":\"st-1\"}"));
    EXPECT_SAID(&bridge, "uid=s");
    tell(&bridge, OTHERS_GONE, POD("r", "", ""));
    EXPECT_SAID(&bridge, "gone uid=p", "pod uid=p");
    tell(&bridge, OURS, POD("t", "\"app\":\"b\"", GATE));
    expect_said(&bridge, (const char *const[]){ "uid=t" }, 1);
    kube_bridge_done(&bridge);
}

/* That a change of the pod comes between a change of the rules and the telling must not hide it. */
TEST(what_a_pod_needs_is_told_anew_if_it_changes_meanwhile)
{
    struct kube_bridge bridge = { .is_greeted = false };

    begin_bridge(&bridge);
    tell(&bridge, OTHERS, NODE("n"));
    tell(&bridge, OURS, POD("p", "\"app\":\"b\"", GATE));
    EXPECT_SAID(&bridge, "uid=p");
    tell(&bridge, OTHERS,
         POD("r", "\"x\":\"r\"", "\"nodeName\":\"n\"," KEEPS_AWAY(ZONE, "\"app\":\"b\"")));
    tell(&bridge, OURS, POD("p", "\"app\":\"b\"", GATE));
    EXPECT_SAID(&bridge, "gone uid=p", "needs=!(zone=z)");
    tell(&bridge, OTHERS,
         POD("r", "\"x\":\"r\"", "\"nodeName\":\"n\"," KEEPS_AWAY("rack", "\"app\":\"b\"")));
    EXPECT_SAID(&bridge, "gone uid=p", "strange=another%20pod's%20anti-affinity");
    tell(&bridge, OTHERS_GONE, POD("r", "", ""));
    expect_said(&bridge, NULL, 0);
    kube_bridge_done(&bridge);
}

#define HOST "kubernetes.io/hostname"
#define SPREAD(key)                                                                \
    "\"topologySpreadConstraints\":[{\"topologyKey\":\"" key                       \
    "\",\"maxSkew\":1,\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":{" \
    "\"matchLabels\":{\"app\":\"b\"}}}]"

/* Its machine is known by its slot, before it is bound and after. */
TEST(pods_that_keep_apart_or_are_spread_are_told_so)
{
    struct kube_bridge bridge = { .is_greeted = false };

    begin_bridge(&bridge);
    tell(&bridge, OURS, POD("p", "\"app\":\"b\"", GATE "," KEEPS_AWAY(HOST, "\"app\":\"b\"")));
    EXPECT_SAID(&bridge, "keeps=b");
    tell(&bridge, OURS, POD("q", "\"app\":\"b\"", GATE));
    EXPECT_SAID(&bridge, "marks like=", "name=q state=waiting");
    tell(&bridge, OURS,
         POD("p", "\"app\":\"b\"",
             "\"nodeSelector\":{\"stint.dev/slot\":\"st-1\"}," KEEPS_AWAY(HOST, "\"app\":\"b\"")));
    EXPECT_SAID(&bridge, "keeps=b");
    tell(&bridge, OURS, POD("r", "\"app\":\"b\"", GATE "," KEEPS_AWAY(HOST, "\"app\":\"b\"")));
    EXPECT_SAID(&bridge, "keeps=b");
    kube_bridge_done(&bridge);

    bridge = (struct kube_bridge){ .is_greeted = false };
    begin_bridge(&bridge);
    tell(&bridge, OURS, POD("p", "\"app\":\"b\"", GATE "," SPREAD(ZONE)));
    EXPECT_SAID(&bridge, "zones=");
    tell(&bridge, OURS, NODE("n"));
    EXPECT_SAID(&bridge, "node ");
    tell(&bridge, OURS,
         POD("p", "\"app\":\"b\"",
             "\"nodeName\":\"n\",\"nodeSelector\":{\"stint.dev/slot\":\"st-1\"}," SPREAD(ZONE)));
    EXPECT_SAID(&bridge, " zone=z");
    tell(&bridge, OURS, POD("q", "\"app\":\"c\"", GATE "," SPREAD(ZONE)));
    EXPECT_SAID(&bridge, "strange=its%20topology%20spread%20depends%20on%20other%20pods");
    kube_bridge_done(&bridge);
}

#define NODE_IN(name, zone)                                                                   \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"" name "\",\"labels\":{\"" ZONE "\":\"" zone \
    "\"}}}"
#define SLOT "\"nodeSelector\":{\"stint.dev/slot\":\"st-1\"}"

#define NEAR(labels)                                                                       \
    "\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[{" \
    "\"labelSelector\":{\"matchLabels\":{" labels "}},\"topologyKey\":\"" ZONE "\"}]}}"

/* It is not gone in between: the zone that it has may still be good. One of its own kind with a slot the daemon counts. */
TEST(a_pod_that_keeps_apart_by_zone_is_told_where_others_are)
{
    struct kube_bridge bridge = { .is_greeted = false };

    begin_bridge(&bridge);
    tell(&bridge, OTHERS, NODE_IN("n", "z"));
    tell(&bridge, OURS, NODE_IN("m", "y"));
    EXPECT_SAID(&bridge, "node ");
    tell(&bridge, OURS, POD("p", "\"app\":\"b\"", GATE "," KEEPS_AWAY(ZONE, "\"app\":\"b\"")));
    EXPECT_SAID(&bridge, " rule=apart");
    tell(&bridge, OTHERS, POD("q", "\"app\":\"b\"", "\"nodeName\":\"n\""));
    EXPECT_SAID(&bridge, "where=-,z,");
    tell(&bridge, OURS,
         POD("r", "\"app\":\"b\"",
             "\"nodeName\":\"m\"," SLOT "," KEEPS_AWAY(ZONE, "\"app\":\"b\"")));
    EXPECT_SAID(&bridge, "zone=y");
    tell(&bridge, OTHERS,
         POD("s", "\"app\":\"c\"", "\"nodeName\":\"n\"," KEEPS_AWAY(ZONE, "\"app\":\"b\"")));
    EXPECT_SAID(&bridge, "where=-,z,z,");
    tell(&bridge, OTHERS_GONE, POD("q", "", ""));
    EXPECT_SAID(&bridge, "where=-,z,");
    tell(&bridge, OTHERS_GONE, POD("s", "", ""));
    EXPECT_SAID(&bridge, " rule=apart");
    /* Two that have no zone yet, and one keeps away from the other. */
    tell(&bridge, OURS, POD("t", "\"app\":\"b\"", GATE));
    EXPECT_SAID(&bridge, "strange=another%20pod%20without%20a%20zone");
    tell(&bridge, OURS,
         POD("p", "\"app\":\"b\"",
             GATE ",\"schedulerName\":\"other\"," KEEPS_AWAY(ZONE, "\"app\":\"b\"")));
    EXPECT_SAID(&bridge, "gone uid=p", "strange=another%20scheduler");
    tell(&bridge, OURS, POD("t", "\"app\":\"b\"", GATE));
    assert_null(memmem(bridge.talk.out.text, bridge.talk.out.size, "strange=", 8));
    EXPECT_SAID(&bridge, "uid=t");
    /* The same words in another rule are another rule: it is kept away. */
    tell(&bridge, OURS, POD("v", "\"app\":\"b\"", GATE "," NEAR("\"app\":\"b\"")));
    assert_null(memmem(bridge.talk.out.text, bridge.talk.out.size, "where=+,y,", 10));
    EXPECT_SAID(&bridge, "where=+,");
    kube_bridge_done(&bridge);
}

/* One that is about itself may go anywhere until one is bound. */
TEST(a_pod_that_must_be_near_others_is_told_where_they_are)
{
    struct kube_bridge bridge = { .is_greeted = false };

    begin_bridge(&bridge);
    tell(&bridge, OTHERS, NODE_IN("n", "z"));
    tell(&bridge, OTHERS, NODE_IN("m", "y"));
    tell(&bridge, OURS, POD("p", "\"app\":\"b\"", GATE "," NEAR("\"app\":\"b\"")));
    assert_null(memmem(bridge.talk.out.text, bridge.talk.out.size, "where=", 6));
    EXPECT_SAID(&bridge, " rule=near");
    tell(&bridge, OURS, POD("q", "\"app\":\"c\"", GATE "," NEAR("\"app\":\"b\"")));
    EXPECT_SAID(&bridge, " where=+,");
    tell(&bridge, OTHERS, POD("r", "\"app\":\"b\"", "\"nodeName\":\"n\""));
    EXPECT_SAID(&bridge,
                "name=q state=waiting owner=j kind=Job cpu=0 mem=0 accel=0 zones=", " where=+,z,");
    tell(&bridge, OTHERS, POD("s", "\"app\":\"b\"", "\"nodeName\":\"m\""));
    EXPECT_SAID(&bridge, " where=+,z,y,", " where=+,z,y,");
    /* One there keeps away from them. */
    tell(&bridge, OTHERS,
         POD("t", "\"app\":\"d\"", "\"nodeName\":\"m\"," KEEPS_AWAY(ZONE, "\"app\":\"c\"")));
    EXPECT_SAID(&bridge, "name=q ");
    tell(&bridge, OTHERS_GONE, POD("r", "", ""));
    EXPECT_SAID(&bridge, " where=+,", "where=+,y,");
    tell(&bridge, OTHERS_GONE, POD("s", "", ""));
    EXPECT_SAID(&bridge, "name=p ");
    kube_bridge_done(&bridge);
}

static void expect_of(const char *owner, const char *labels, const char *annotations,
                      const char *part)
{
    char metadata[2048];
    struct line_text out;
    char *text;

    (void)snprintf(
        metadata, sizeof(metadata),
        "\"labels\":{%s},\"annotations\":{%s},\"ownerReferences\":[{\"kind\":\"%s\",\"name\":"
        "\"web-7d9\",\"uid\":\"o\",\"controller\":true}]",
        labels, annotations, owner);
    out = say(metadata, GATE);
    text = strndup(out.text, out.size);
    if (strstr(text, part) == NULL)
        fail_msg("%s: %s, not %s", annotations, text, part);
    free(text);
    line_text_done(&out);
}

#define PROMISE(availability, capacity)                \
    "\"stint.dev/availability\":\"" availability "\"," \
    "\"stint.dev/capacity\":\"" capacity "\""

TEST(a_promise_has_an_availability_and_a_capacity)
{
    static const char hash[] = "\"pod-template-hash\":\"7d9\"";

    expect_of("ReplicaSet", hash, PROMISE("99.9%", "300"),
              " group=service/a/web/ capacity=300 short=1000000 ");
    expect_of("ReplicaSet", hash, PROMISE("0.99999", "1"), " capacity=1 short=10000 ");
    expect_of("ReplicaSet", hash, PROMISE("0.999999999", "1"), " short=1 ");
    expect_of("StatefulSet", "", PROMISE("95%", "4096"),
              " group=service/a/web-7d9/ capacity=4096 ");
    expect_of("ReplicaSet", hash, PROMISE("100%", "300"),
              " strange=the%20annotation%20stint.dev/av");
    expect_of("ReplicaSet", hash, PROMISE("99.9", "300"),
              " strange=the%20annotation%20stint.dev/av");
    expect_of("ReplicaSet", hash, PROMISE("0", "300"), " strange=the%20annotation%20stint.dev/av");
    expect_of("ReplicaSet", hash, PROMISE("99.99999999%", "3"), " strange=the%20annotation");
    expect_of("ReplicaSet", hash, PROMISE("99.9%", "0"),
              " strange=the%20annotation%20stint.dev/cap");
    expect_of("ReplicaSet", hash, PROMISE("99.9%", "4097"), " strange=the%20annotation");
    expect_of("ReplicaSet", hash, "\"stint.dev/capacity\":\"3\"",
              " strange=a%20promise%20has%20two");
    expect_of("Job", hash, PROMISE("99.9%", "300"), " strange=it%20has%20an%20end");
}

#define JOBSET "\"jobset.sigs.k8s.io/jobset-name\":\"train\""

TEST(gangs_are_those_of_a_job_a_jobset_or_a_pod_group)
{
    expect_of("Job", "", "\"stint.dev/gang\":\"8\"", " group=owner/a/o/ gang=8 ");
    expect_of("Job", JOBSET ",\"jobset.sigs.k8s.io/jobset-uid\":\"u9\"", "\"stint.dev/gang\":\"8\"",
              " group=jobset/a/u9/0 gang=8 ");
    expect_of("Job", JOBSET ",\"jobset.sigs.k8s.io/restart-attempt\":\"2\"",
              "\"stint.dev/gang\":\"8\"", " group=jobset/a/train/2 gang=8 ");
    expect_of("Job", "\"kueue.x-k8s.io/pod-group-name\":\"g\"",
              "\"kueue.x-k8s.io/pod-group-total-count\":\"3\"", " group=group/a/g/ gang=3 ");
    expect_of("Job", "\"scheduling.x-k8s.io/pod-group\":\"g\"", "",
              " strange=it%20belongs%20to%20a%20pod%20group");
    expect_of("Job", "", "\"stint.dev/gang\":\"many\"", " strange=the%20annotation");
    expect_of("Job", "", "\"stint.dev/gang\":\"1\"", " owner=web-7d9 kind=Job cpu=");
}

TEST(negative_priority_yields)
{
    expect(GATE ",\"priority\":-10", " yields=1", true);
    expect(GATE ",\"priority\":0", " yields=", false);
}

TEST(a_pod_that_is_not_always_restarted_has_an_end)
{
    expect(GATE ",\"restartPolicy\":\"Never\"", " ends=1", true);
    expect(GATE ",\"restartPolicy\":\"OnFailure\"", " ends=1", true);
    expect(GATE ",\"restartPolicy\":\"Always\"", " ends=", false);
    expect(GATE, " ends=", false);
    expect(GATE ",\"initContainers\":[{\"restartPolicy\":\"Never\"}]", " ends=", false);
}

#define POD_IN(space)                                                       \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"" space \
    "\",\"uid\":\"p\"," OWNER "},\"spec\":{" GATE "}}"

TEST(the_namespaces_of_the_cluster_and_of_stint_are_not_managed)
{
    struct kube_bridge bridge = { .is_greeted = false };

    begin_bridge(&bridge);
    tell(&bridge, OURS, POD_IN("kube-system"));
    EXPECT_SAID(&bridge, "strange=Stint%20does%20not%20manage");
    tell(&bridge, OURS, POD_IN("stint"));
    EXPECT_SAID(&bridge, " keep=1");
    tell(&bridge, OURS, POD_IN("stint-2"));
    EXPECT_SAID(&bridge, "state=waiting");
    kube_bridge_done(&bridge);
    expect(GATE, "keep=", false);
}

#define DAEMON(name, owner, more)                                                                 \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"b\",\"uid\":\"" name   \
    "\",\"ownerReferences\":[{\"kind\":\"" owner                                                  \
    "\",\"name\":\"d\",\"uid\":\"o\",\"controller\":true}]},\"spec\":{\"nodeName\":\"n\","        \
    "\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"250m\",\"memory\":\"1Gi\"}}}]}" more \
    "}"
#define SLOT_NODE(pods)                                                                          \
    "{\"kind\":\"Node\",\"metadata\":{\"name\":\"n\",\"labels\":{\"stint.dev/slot\":\"st-1\"}}," \
    "\"status\":{\"allocatable\":{\"cpu\":\"2\",\"memory\":\"4Gi\"" pods "}}}"

TEST(what_daemonsets_take_of_a_machine_is_not_there)
{
    struct kube_bridge bridge = { .is_greeted = false };

    begin_bridge(&bridge);
    tell(&bridge, OTHERS, DAEMON("d", "DaemonSet", ""));
    tell(&bridge, OURS, SLOT_NODE(",\"pods\":\"110\""));
    EXPECT_SAID(&bridge, "cpu=1750 mem=3072 accel=0 pods=109", "overheads");
    tell(&bridge, OTHERS, DAEMON("e", "ReplicaSet", ""));
    expect_said(&bridge, NULL, 0);
    tell(&bridge, OTHERS, DAEMON("f", "Node", ""));
    EXPECT_SAID(&bridge, "cpu=1500 mem=2048 accel=0 pods=108", "overheads");
    tell(&bridge, OTHERS, DAEMON("f", "Node", ""));
    expect_said(&bridge, NULL, 0);
    tell(&bridge, OTHERS, DAEMON("d", "DaemonSet", ",\"status\":{\"phase\":\"Failed\"}"));
    EXPECT_SAID(&bridge, "cpu=1750 mem=3072 accel=0 pods=109", "overheads");
    tell(&bridge, OTHERS_GONE, DAEMON("f", "Node", ""));
    EXPECT_SAID(&bridge, "cpu=2000 mem=4096 accel=0 pods=110", "overheads");
    tell(&bridge, OURS, SLOT_NODE(""));
    EXPECT_SAID(&bridge, "cpu=2000 mem=4096 accel=0");
    kube_bridge_done(&bridge);
}

#define DRIVERS(node, count)                                                              \
    "{\"kind\":\"CSINode\",\"metadata\":{\"name\":\"" node "\"},\"spec\":{\"drivers\":[{" \
    "\"name\":\"disk\",\"allocatable\":{\"count\":" count "}}]}}"
#define STORING                                                                                         \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"d\",\"namespace\":\"b\",\"uid\":\"d\","                 \
    "\"ownerReferences\":[{\"kind\":\"DaemonSet\",\"name\":\"d\",\"uid\":\"o\",\"controller\":true}]}," \
    "\"spec\":{\"nodeName\":\"n\",\"tolerations\":[{\"operator\":\"Exists\"}],\"volumes\":[{"           \
    "\"persistentVolumeClaim\":{\"claimName\":\"c\"}}]}}"

/* A driver says it when it begins on the node, which may be ready already. */
TEST(a_node_attaches_as_many_volumes_as_its_drivers_say)
{
    struct kube_bridge bridge = { .is_greeted = false };

    begin_bridge(&bridge);
    tell(&bridge, OURS, SLOT_NODE(",\"pods\":\"110\""));
    EXPECT_SAID(&bridge, "cpu=2000 mem=4096 accel=0 pods=110");
    tell(&bridge, OTHERS, DRIVERS("n", "25"));
    EXPECT_SAID(&bridge, "cpu=2000 mem=4096 accel=0 pods=110 volumes=25");
    tell(&bridge, OTHERS, DRIVERS("n", "25"));
    tell(&bridge, OTHERS, DRIVERS("m", "3"));
    expect_said(&bridge, NULL, 0);
    tell(&bridge, OURS, SLOT_NODE(",\"pods\":\"110\""));
    EXPECT_SAID(&bridge, "accel=0 pods=110 volumes=25");
    tell(&bridge, OTHERS, STORING);
    EXPECT_SAID(&bridge, "accel=0 pods=109 volumes=24", "overhead cpu=0 mem=0 accel=0 volumes=1",
                "overheads");
    tell(&bridge, OTHERS, DRIVERS("n", "0"));
    EXPECT_SAID(&bridge, "accel=0 pods=109 volumes=0");
    tell(&bridge, OTHERS_GONE, DRIVERS("n", "0"));
    EXPECT_SAID(&bridge, "accel=0 pods=109");
    kube_bridge_done(&bridge);
}

TEST(a_pod_says_how_many_volumes_it_has)
{
    expect(
        "\"nodeSelector\":{\"stint.dev/slot\":\"st-1\"},\"volumes\":[{\"persistentVolumeClaim\":{\"claimName\":"
        "\"a\"}},{\"persistentVolumeClaim\":{\"claimName\":\"b\"}}]",
        " volumes=2", true);
    expect("\"nodeSelector\":{\"stint.dev/slot\":\"st-1\"},\"volumes\":[{\"emptyDir\":{}}]",
           "volumes=", false);
}

#define TOLERANT(name, uid, cpu, more)                                                               \
    "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name "\",\"namespace\":\"b\",\"uid\":\"" name      \
    "\",\"ownerReferences\":[{\"kind\":\"DaemonSet\",\"name\":\"d\",\"uid\":\"" uid                  \
    "\",\"controller\":true}]},\"spec\":{\"nodeName\":\"elsewhere\",\"affinity\":{"                  \
    "\"nodeAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":{"                         \
    "\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\","       \
    "\"values\":[\"elsewhere\"]}]}]}}},\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"" cpu \
    "\"}}}]" more "}}"
#define TOLERATES(what) ",\"tolerations\":[{\"key\":\"other\",\"operator\":\"Exists\"},{" what "}]"

/* A DaemonSet is known by a pod of it, on whatever node. */
TEST(what_daemonsets_will_take_of_a_new_machine_is_told)
{
    struct kube_bridge bridge = { .is_greeted = false };

    begin_bridge(&bridge);
    tell(&bridge, OTHERS, TOLERANT("a", "set", "100m", TOLERATES("\"operator\":\"Exists\"")));
    EXPECT_SAID(&bridge, "overhead cpu=100 mem=0 accel=0", "overheads");
    tell(&bridge, OTHERS, TOLERANT("b", "set", "300m", TOLERATES("\"operator\":\"Exists\"")));
    EXPECT_SAID(&bridge, "overhead cpu=300 mem=0 accel=0", "overheads");
    tell(&bridge, OTHERS, TOLERANT("c", "none", "100m", TOLERATES("\"key\":\"x\"")));
    EXPECT_SAID(&bridge, "overhead cpu=300 mem=0 accel=0", "overheads");
    tell(&bridge, OTHERS,
         TOLERANT("e", "run", "100m",
                  TOLERATES("\"operator\":\"Exists\",\"effect\":\"NoExecute\"")));
    EXPECT_SAID(&bridge, "overhead cpu=300 mem=0 accel=0", "overheads");
    tell(
        &bridge, OTHERS,
        TOLERANT(
            "f", "zone", "50m",
            TOLERATES(
                "\"key\":\"stint.dev/slot\",\"effect\":\"NoSchedule\"") ",\"nodeSelector\":{\"topology.kubernetes.io/zone\":\"z\"}"));
    EXPECT_SAID(&bridge, "overhead cpu=300 mem=0 accel=0",
                "overhead cpu=50 mem=0 accel=0 needs=(zone=z)", "overheads");
    tell(&bridge, OTHERS_GONE, TOLERANT("b", "set", "300m", TOLERATES("\"operator\":\"Exists\"")));
    EXPECT_SAID(&bridge, "overhead cpu=100 mem=0 accel=0",
                "overhead cpu=50 mem=0 accel=0 needs=(zone=z)", "overheads");
    kube_bridge_done(&bridge);
}

CHECK_MAIN(RUN(what_daemonsets_will_take_of_a_new_machine_is_told),
           RUN(what_daemonsets_take_of_a_machine_is_not_there),
           RUN(a_node_attaches_as_many_volumes_as_its_drivers_say),
           RUN(a_pod_says_how_many_volumes_it_has),
           RUN(a_promise_has_an_availability_and_a_capacity),
           RUN(gangs_are_those_of_a_job_a_jobset_or_a_pod_group), RUN(negative_priority_yields),
           RUN(a_pod_that_is_not_always_restarted_has_an_end),
           RUN(the_namespaces_of_the_cluster_and_of_stint_are_not_managed),
           RUN(a_pod_elsewhere_keeps_pods_at_the_gate_out_of_its_zone),
           RUN(what_a_pod_needs_is_told_anew_if_it_changes_meanwhile),
           RUN(pods_that_keep_apart_or_are_spread_are_told_so),
           RUN(a_pod_that_keeps_apart_by_zone_is_told_where_others_are),
           RUN(a_pod_that_must_be_near_others_is_told_where_they_are),
           RUN(a_spread_with_min_domains_is_told_with_them),
           RUN(what_every_machine_has_may_be_asked_for),
           RUN(what_a_machine_may_lack_is_left_to_the_scheduler), RUN(a_gate_of_others_comes_first),
           RUN(a_pod_that_is_left_goes_to_no_machine_of_stint))
