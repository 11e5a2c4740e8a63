/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods keep others away, and from which machines: the rules of kube-scheduler for required anti-affinity. */
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/kubernetes/kube_repel.h"

#define ZONE "topology.kubernetes.io/zone"

struct told {
    struct kube_repel *repel;
    enum kube_repel_source source;
    bool is_gone;
};

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    const struct told *told = context;

    (void)event;
    kube_repel_object(told->repel, told->source, told->is_gone, object);
    return 0;
}

static void tell(struct kube_repel *repel, enum kube_repel_source source, bool is_gone,
                 const char *object)
{
    struct told told = { .repel = repel, .source = source, .is_gone = is_gone };
    const struct kube_object_sink sink = { .on_object = on_object, .context = &told };
    struct kube_objects *objects = kube_objects_create(KUBE_OTHER, false, &sink);
    struct error error = { "" };
    char text[8192];

    (void)snprintf(text, sizeof(text), "{\"items\":[%s]}", object);
    assert_int_equal(kube_objects_read(objects, text, strlen(text), &error), 0);
    kube_objects_destroy(objects);
}

static void node(struct kube_repel *repel, enum kube_repel_source source, const char *name,
                 const char *zone)
{
    char text[512];

    (void)snprintf(
        text, sizeof(text),
        "{\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"labels\":{\"" ZONE
        "\":\"%s\",\"kubernetes.io/arch\":\"amd64\",\"kubernetes.io/hostname\":\"%s\"}}}",
        name, zone, name);
    tell(repel, source, false, text);
}

/* A pod of the namespace "a" with a term of required anti-affinity. */
static void pod(struct kube_repel *repel, const char *uid, const char *at, const char *term)
{
    char text[4096];

    (void)snprintf(
        text, sizeof(text),
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"r\",\"namespace\":\"a\",\"uid\":\"%s\"},"
        "\"spec\":{%s\"affinity\":{\"podAntiAffinity\":{"
        "\"requiredDuringSchedulingIgnoredDuringExecution\":[%s]}}}}",
        uid, at, term);
    tell(repel, KUBE_REPEL_OTHERS, false, text);
}

/* Where a pod of the namespace, with "app: b" and "tier: 1", must not be. */
static void expect(struct kube_repel *repel, const char *space, const char *words)
{
    static const struct kube_pair labels[] = { { "app", "b" }, { "tier", "1" } };
    char buf[256];
    const char *why = kube_repel_words(repel, space, labels, 2, NULL, buf, sizeof(buf));

    assert_string_equal(why != NULL ? "?" : buf, words);
}

#define ON(node)             "\"nodeName\":\"" node "\","
#define TERM(selector, more) "{\"labelSelector\":" selector more ",\"topologyKey\":\"" ZONE "\"}"
#define EXPRESSION(key, operator, values) \
    "{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"" operator"\"" values "}]}"

TEST(a_selector_is_read_as_kube_scheduler_reads_it)
{
    static const struct {
        const char *term;
        const char *in_a, *in_c;
    } cases[] = {
        { TERM("{\"matchLabels\":{\"app\":\"b\"}}", ""), "!(zone=z)", "" },
        { TERM("{\"matchLabels\":{\"app\":\"b\",\"tier\":\"1\"}}", ""), "!(zone=z)", "" },
        { TERM("{\"matchLabels\":{\"app\":\"b\",\"tier\":\"2\"}}", ""), "", "" },
        { TERM("{\"matchLabels\":{\"other\":\"b\"}}", ""), "", "" },
        { TERM("{}", ""), "!(zone=z)", "" },
        { "{\"topologyKey\":\"" ZONE "\"}", "", "" },
        { TERM(EXPRESSION("app", "In", ",\"values\":[\"a\",\"b\"]"), ""), "!(zone=z)", "" },
        { TERM(EXPRESSION("app", "In", ",\"values\":[\"a\",\"bb\"]"), ""), "", "" },
        { TERM(EXPRESSION("app", "NotIn", ",\"values\":[\"a\"]"), ""), "!(zone=z)", "" },
        { TERM(EXPRESSION("app", "NotIn", ",\"values\":[\"a\",\"b\"]"), ""), "", "" },
        { TERM(EXPRESSION("no", "NotIn", ",\"values\":[\"a\"]"), ""), "!(zone=z)", "" },
        { TERM(EXPRESSION("app", "Exists", ""), ""), "!(zone=z)", "" },
        { TERM(EXPRESSION("no", "Exists", ""), ""), "", "" },
        { TERM(EXPRESSION("app", "DoesNotExist", ""), ""), "", "" },
        { TERM(EXPRESSION("no", "DoesNotExist", ""), ""), "!(zone=z)", "" },
        { TERM("{}", ",\"namespaces\":[\"b\",\"c\"]"), "", "!(zone=z)" },
        { TERM("{}", ",\"namespaceSelector\":{}"), "!(zone=z)", "!(zone=z)" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kube_repel *repel = kube_repel_create();

        node(repel, KUBE_REPEL_OTHERS, "n", "z");
        pod(repel, "u", ON("n"), cases[i].term);
        expect(repel, "a", cases[i].in_a);
        expect(repel, "c", cases[i].in_c);
        kube_repel_destroy(repel);
    }
}

#define BY(key) "{\"labelSelector\":{},\"topologyKey\":\"" key "\"}"

/* A machine of Stint is never the host of a pod elsewhere. */
TEST(what_it_keeps_away_from_is_said_in_words_of_the_catalogue)
{
    static const struct {
        enum kube_repel_source source; /* of its node */
        const char *term, *words;
    } cases[] = {
        { KUBE_REPEL_OTHERS, BY("kubernetes.io/hostname"), "" },
        { KUBE_REPEL_OURS, BY("kubernetes.io/hostname"), "?" },
        { KUBE_REPEL_OTHERS, BY("kubernetes.io/arch"), "!(!arch=arm64)" },
        { KUBE_REPEL_OTHERS, BY("karpenter.sh/capacity-type"),
          "" }, /* its node has no such label */
        { KUBE_REPEL_OTHERS, BY("topology.kubernetes.io/region"), "?" },
        { KUBE_REPEL_OTHERS, BY(ZONE) "," BY("kubernetes.io/arch"), "!(!arch=arm64|zone=z)" },
        { KUBE_REPEL_OURS, BY(ZONE), "!(zone=z)" },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct kube_repel *repel = kube_repel_create();

        node(repel, cases[i].source, "n", "z");
        pod(repel, "u", ON("n"), cases[i].term);
        expect(repel, "a", cases[i].words);
        kube_repel_destroy(repel);
    }
}

TEST(rules_follow_what_is_told)
{
    struct kube_repel *repel = kube_repel_create();

    pod(repel, "u", "", TERM("{}", "")); /* it is not bound */
    node(repel, KUBE_REPEL_OTHERS, "n", "z");
    node(repel, KUBE_REPEL_OTHERS, "m", "y");
    expect(repel, "a", "");
    assert_false(kube_repel_is_changed(repel));
    pod(repel, "u", ON("n"), TERM("{}", ""));
    assert_true(kube_repel_is_changed(repel));
    assert_false(kube_repel_is_changed(repel));
    pod(repel, "v", ON("n"), TERM("{}", ""));
    assert_false(kube_repel_is_changed(repel)); /* the same rule again */
    pod(repel, "w", ON("m"), TERM("{}", ""));
    expect(repel, "a", "!(zone=y|zone=z)");

    /* A list that has only one of them. */
    kube_repel_begin(repel, KUBE_POD, KUBE_REPEL_OTHERS);
    pod(repel, "v", ON("n"), TERM("{}", ""));
    kube_repel_end(repel, KUBE_POD, KUBE_REPEL_OTHERS);
    expect(repel, "a", "!(zone=z)");
    kube_repel_begin(repel, KUBE_POD, KUBE_REPEL_OURS);
    kube_repel_end(repel, KUBE_POD, KUBE_REPEL_OURS);
    expect(repel, "a", "!(zone=z)");
    tell(repel, KUBE_REPEL_OTHERS, true, "{\"kind\":\"Pod\",\"metadata\":{\"uid\":\"v\"}}");
    expect(repel, "a", "");
    kube_repel_destroy(repel);
}

/* The daemon counts those that have a slot. */
TEST(pods_of_the_same_rule_with_a_slot_are_passed_over)
{
    static const struct kube_pair labels[] = { { "app", "b" } };
    static const char own[] = ZONE "\n+app\tb";
    static const char term[] = TERM("{\"matchLabels\":{\"app\":\"b\"}}", "");
    struct kube_repel *repel = kube_repel_create();
    char text[2048];
    char buf[64];

    node(repel, KUBE_REPEL_OTHERS, "n", "z");
    for (int i = 0; i < 4; i++) {
        const bool has_slot = i % 2 == 1;
        const enum kube_repel_source source = i / 2 == 1 ? KUBE_REPEL_OURS : KUBE_REPEL_OTHERS;

        (void)snprintf(text, sizeof(text),
                       "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"r\",\"namespace\":\"a\",\"uid\":"
                       "\"u\"},\"spec\":{\"nodeName\":\"n\",%s\"affinity\":{\"podAntiAffinity\":{"
                       "\"requiredDuringSchedulingIgnoredDuringExecution\":[%s]}}}}",
                       has_slot ? "\"nodeSelector\":{\"stint.dev/slot\":\"st-1\"}," : "", term);
        tell(repel, source, false, text);
        assert_null(kube_repel_words(repel, "a", labels, 1, own, buf, sizeof(buf)));
        assert_string_equal(buf, i == 3 ? "" : "!(zone=z)");
        assert_null(kube_repel_words(repel, "a", labels, 1, NULL, buf, sizeof(buf)));
        assert_string_equal(buf, "!(zone=z)");
        tell(repel, source, true, text);
    }
    kube_repel_destroy(repel);
}

/* Their names were one to the table once. */
TEST(a_node_of_stint_does_not_hide_one_of_another_name)
{
    struct kube_repel *repel = kube_repel_create();

    node(repel, KUBE_REPEL_OTHERS, "n", "z");
    node(repel, KUBE_REPEL_OURS, "m", "y");
    pod(repel, "u", ON("n"), TERM("{}", ""));
    expect(repel, "a", "!(zone=z)");
    kube_repel_destroy(repel);
}

/* Then it is about more pods, not about fewer. */
TEST(a_term_that_is_too_long_is_about_more_pods)
{
    struct kube_repel *repel = kube_repel_create();
    char values[3000] = "";
    char term[3600];

    for (int i = 0; i < 200; i++)
        (void)snprintf(values + strlen(values), sizeof(values) - strlen(values), "%s\"abcdefgh%d\"",
                       i > 0 ? "," : "", i);
    (void)snprintf(term, sizeof(term),
                   "{\"labelSelector\":{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\","
                   "\"values\":[%s]}]},\"topologyKey\":\"" ZONE "\"}",
                   values);
    node(repel, KUBE_REPEL_OTHERS, "n", "z");
    pod(repel, "u", ON("n"), term);
    expect(repel, "a", "!(zone=z)");
    (void)snprintf(term, sizeof(term),
                   "{\"labelSelector\":{},\"namespaces\":[%s],\"topologyKey\":\"" ZONE "\"}",
                   values);
    pod(repel, "u", ON("n"), term);
    expect(repel, "c", "!(zone=z)");
    kube_repel_destroy(repel);
}

CHECK_MAIN(RUN(a_selector_is_read_as_kube_scheduler_reads_it),
           RUN(what_it_keeps_away_from_is_said_in_words_of_the_catalogue),
           RUN(rules_follow_what_is_told), RUN(pods_of_the_same_rule_with_a_slot_are_passed_over),
           RUN(a_node_of_stint_does_not_hide_one_of_another_name),
           RUN(a_term_that_is_too_long_is_about_more_pods))
