/* SPDX-License-Identifier: Apache-2.0 */
/* What pods ask of zones because of others, and in which zones these are: the rules of kube-scheduler. */
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/kubernetes/kube_places.h"

#define HOST "kubernetes.io/hostname"
#define ZONE "topology.kubernetes.io/zone"

/* Parts of a pod's specification. */
#define ANTI(terms)                                                                                 \
    "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[" terms \
    "]}}"
#define TERM(key, more) "{\"topologyKey\":\"" key "\"," more "}"
#define LABEL(value)    "\"labelSelector\":{\"matchLabels\":{\"app\":\"" value "\"}}"
#define THERE                                                                   \
    "\"labelSelector\":{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"" \
    "Exists\"}]}"
#define SPREAD(key, skew, more)                                                     \
    "\"topologySpreadConstraints\":[{\"topologyKey\":\"" key "\",\"maxSkew\":" skew \
    ",\"whenUnsatisfiable\":\"DoNotSchedule\"," LABEL("w") more "}]"
#define ON(node) "\"nodeName\":\"" node "\""
#define NEAR(terms)                                                                             \
    "\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[" terms \
    "]}}"
#define OTHER_SPACES "\"namespaces\":[\"y\"],"
#define SLOT         "\"nodeSelector\":{\"stint.dev/slot\":\"st-1\"}"
#define APART        ANTI(TERM(ZONE, LABEL("w")))
#define ALL_APART    ANTI(TERM(ZONE, THERE))

struct asked {
    struct kube_places *places;
    char does; /* 'w'aits, has a 'p'lace, 'P' is gone from it, an 'o'ther one, 'O' is gone */
    struct kube_zone_rule rule;
    const char *refused; /* by its own rule */
    const char *why;
};

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    struct asked *asked = context;
    const bool is_ours = strchr("wpP", asked->does) != NULL;
    const enum kube_repel_source source = is_ours ? KUBE_REPEL_OURS : KUBE_REPEL_OTHERS;
    const bool is_gone = asked->does == 'P' || asked->does == 'O';

    (void)event;
    if (object->kind == KUBE_NODE) {
        kube_places_node(asked->places, source, is_gone, object);
        return 0;
    }
    asked->refused = kube_zone_rule_of(object, &asked->rule);
    if (asked->refused == NULL && (object->flags & KUBE_POD_STRANGE) != 0)
        asked->refused = object->strange;
    if (asked->does == 'w' && asked->refused == NULL)
        asked->why = kube_places_wait(asked->places, object, &asked->rule);
    else
        kube_places_pod(asked->places, source, is_gone, object);
    return 0;
}

static void tell_object(struct asked *asked, const char *object)
{
    const struct kube_object_sink sink = { .on_object = on_object, .context = asked };
    struct kube_objects *objects = kube_objects_create(KUBE_OTHER, false, &sink);
    struct error error = { "" };
    char text[4096];

    (void)snprintf(text, sizeof(text), "{\"items\":[%s]}", object);
    assert_int_equal(kube_objects_read(objects, text, strlen(text), &error), 0);
    kube_objects_destroy(objects);
}

static struct asked tell(struct kube_places *places, char does, const char *space, const char *uid,
                         const char *app, const char *spec)
{
    struct asked asked = { .places = places, .does = does };
    char text[4000];

    (void)snprintf(text, sizeof(text),
                   "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\","
                   "\"uid\":\"%s\",\"labels\":{\"app\":\"%s\"}},\"spec\":{%s}}",
                   uid, space, uid, app, spec);
    tell_object(&asked, text);
    return asked;
}

static void node(struct kube_places *places, char does, const char *name, const char *zone)
{
    struct asked asked = { .places = places, .does = does };
    char text[512];

    (void)snprintf(text, sizeof(text),
                   "{\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\",\"labels\":{\"" ZONE
                   "\":\"%s\"}}}",
                   name, zone);
    tell_object(&asked, text);
}

static struct kube_places *begin(void)
{
    struct kube_places *places = kube_places_create();

    node(places, 'p', "s1", "a");
    node(places, 'p', "s2", "b");
    node(places, 'o', "n1", "a");
    node(places, 'o', "n3", "c");
    (void)kube_places_is_changed(places);
    return places;
}

/* Where pods are that the rule of the pod at the gate is about. */
static void expect(struct kube_places *places, const char *uid, const char *zones)
{
    char buf[64];

    assert_true(kube_places_zones(places, uid, buf, sizeof(buf)));
    assert_string_equal(buf, zones);
}

TEST(what_a_rule_is_about_is_where_it_is_bound)
{
    struct kube_places *places = begin();

    assert_null(tell(places, 'w', "x", "1", "w", APART).why);
    expect(places, "1", ",");
    assert_false(kube_places_is_changed(places));
    tell(places, 'o', "x", "2", "w", ON("n3"));
    assert_true(kube_places_is_changed(places));
    expect(places, "1", ",c,");
    /* One more there changes nothing, nor one of other labels, of another namespace, that is not bound, or has ended. */
    tell(places, 'o', "x", "3", "w", ON("n3"));
    tell(places, 'o', "x", "4", "v", ON("n1"));
    tell(places, 'o', "y", "5", "w", ON("n1"));
    tell(places, 'o', "x", "6", "w", "\"containers\":[]");
    tell(places, 'o', "x", "7", "w", ON("n1") "},\"status\":{\"phase\":\"Failed\"");
    assert_false(kube_places_is_changed(places));
    /* A managed one that has another rule, or none. */
    tell(places, 'p', "x", "8", "w", ON("s2") "," SLOT);
    expect(places, "1", ",b,c,");
    tell(places, 'O', "x", "2", "w", "");
    expect(places, "1", ",b,c,");
    tell(places, 'O', "x", "3", "w", "");
    expect(places, "1", ",b,");
    tell(places, 'P', "x", "8", "w", "");
    expect(places, "1", ",");
    kube_places_destroy(places);
}

TEST(what_was_bound_before_is_known_to_a_new_rule)
{
    struct kube_places *places = begin();

    tell(places, 'o', "x", "1", "w", ON("n3"));
    tell(places, 'p', "x", "2", "w", ON("s2") "," SLOT);
    assert_null(tell(places, 'w', "x", "3", "w", APART).why);
    expect(places, "3", ",b,c,");
    kube_places_destroy(places);
}

/* The daemon counts those, as long as it knows them. */
TEST(pods_of_one_rule_are_not_told_of_each_other)
{
    struct kube_places *places = begin();

    tell(places, 'p', "x", "1", "w", ON("s1") "," SLOT "," APART);
    tell(places, 'p', "x", "2", "w", SLOT "," APART);
    assert_null(tell(places, 'w', "x", "3", "w", APART).why);
    expect(places, "3", ",");
    tell(places, 'o', "x", "4", "w", ON("n3") "," APART);
    expect(places, "3", ",c,");
    assert_null(tell(places, 'w', "x", "5", "w", ALL_APART).rule.term == NULL ? "" : NULL);
    kube_places_destroy(places);
}

TEST(what_is_not_bound_and_keeps_away_has_others_left_to_the_scheduler)
{
    struct kube_places *places = begin();

    assert_null(tell(places, 'w', "x", "1", "w", APART).why);
    assert_null(tell(places, 'w', "x", "2", "w", APART).why);
    assert_non_null(tell(places, 'w', "x", "3", "w", "").why);
    assert_non_null(tell(places, 'w', "x", "4", "w", ALL_APART).why);
    assert_null(tell(places, 'w', "x", "5", "v", "").why);
    assert_null(tell(places, 'w', "y", "6", "w", "").why);
    assert_non_null(tell(places, 'w', "x", "7", "v", ALL_APART).why); /* as 5 is there */
    /* They do not count. When the first two are bound, where they are can be said. */
    tell(places, 'p', "x", "1", "w", ON("s1") "," SLOT "," APART);
    assert_non_null(tell(places, 'w', "x", "3", "w", "").why);
    tell(places, 'p', "x", "2", "w", ON("s2") "," SLOT "," APART);
    assert_null(tell(places, 'w', "x", "3", "w", "").why);
    /* And the other way around. */
    assert_non_null(tell(places, 'w', "x", "8", "w", APART).why);
    kube_places_gone(places, "3");
    assert_null(tell(places, 'w', "x", "8", "w", APART).why);
    assert_null(tell(places, 'w', "x", "8", "w", APART).why);
    kube_places_destroy(places);
}

TEST(a_node_may_come_after_its_pods_or_go_before_them)
{
    struct kube_places *places = begin();

    assert_null(tell(places, 'w', "x", "1", "w", APART).why);
    tell(places, 'o', "x", "2", "w", ON("late"));
    tell(places, 'o', "x", "3", "v", ON("late"));
    expect(places, "1", ",");
    assert_false(kube_places_is_changed(places));
    node(places, 'o', "late", "d");
    tell(places, 'o', "x", "4", "w", ON("n3"));
    assert_true(kube_places_is_changed(places));
    expect(places, "1", ",c,d,");
    node(places, 'o', "late", "d");
    assert_false(kube_places_is_changed(places));
    node(places, 'O', "n3", "c");
    expect(places, "1", ",d,");
    /* It has a slot from now on; the watch of those that have none says later that it is gone. */
    node(places, 'p', "late", "d");
    node(places, 'O', "late", "d");
    expect(places, "1", ",d,");
    tell(places, 'O', "x", "2", "w", "");
    expect(places, "1", ",");
    kube_places_destroy(places);
}

TEST(what_a_list_does_not_name_is_no_more)
{
    struct kube_places *places = begin();

    assert_null(tell(places, 'w', "x", "1", "w", APART).why);
    tell(places, 'o', "x", "2", "w", ON("n1"));
    tell(places, 'o', "x", "3", "w", ON("n3"));
    kube_places_begin(places, KUBE_POD, KUBE_REPEL_OTHERS);
    tell(places, 'o', "x", "3", "w", ON("n3"));
    expect(places, "1", ",a,c,");
    kube_places_end(places, KUBE_POD, KUBE_REPEL_OTHERS);
    expect(places, "1", ",c,");
    kube_places_begin(places, KUBE_NODE, KUBE_REPEL_OTHERS);
    node(places, 'o', "n1", "a");
    kube_places_end(places, KUBE_NODE, KUBE_REPEL_OTHERS);
    expect(places, "1", ",");
    node(places, 'o', "n3", "b");
    expect(places, "1", ",b,");
    kube_places_begin(places, KUBE_POD, KUBE_REPEL_OURS);
    kube_places_end(places, KUBE_POD, KUBE_REPEL_OURS);
    assert_null(tell(places, 'w', "x", "4", "w", "").why);
    kube_places_destroy(places);
}

/* The slow twin: counts from a list of all pods, after each of many random events. */
enum { PODS = 24, NODES = 6, STEPS = 20000 };

struct twin {
    int node[PODS];  /* -1: there is no such pod */
    int zone[NODES]; /* -1: there is no such node */
};

static void compare(struct kube_places *places, const struct twin *twin)
{
    bool is_there[3] = { false };
    char buf[64];

    /* Labels are "w" for every third pod, "v" else; the rule is about "w". */
    for (int i = 0; i < PODS; i += 3) {
        if (twin->node[i] >= 0 && twin->zone[twin->node[i]] >= 0)
            is_there[twin->zone[twin->node[i]]] = true;
    }
    assert_true(kube_places_zones(places, "asks", buf, sizeof(buf)));
    for (int i = 0; i < 3; i++) {
        const char zone[] = { ',', (char)('a' + i), ',', '\0' };

        if ((strstr(buf, zone) != NULL) != is_there[i])
            fail_msg("%s, zone %d", buf, i);
    }
}

TEST(zones_are_those_of_a_list_of_all_pods)
{
    struct kube_places *places = kube_places_create();
    struct twin twin;
    uint64_t seed = 7;

    memset(&twin, 0xff, sizeof(twin));
    assert_null(tell(places, 'w', "x", "asks", "w", APART).why);
    for (int step = 0; step < STEPS; step++) {
        char name[16];
        char zone[2] = "a";
        char spec[64];
        uint64_t dice;
        int i;

        seed = seed * 6364136223846793005U + 1442695040888963407U;
        dice = seed >> 33;
        i = (int)(dice % PODS);
        dice /= PODS;
        if (dice % 4 == 0) {
            i %= NODES;
            (void)snprintf(name, sizeof(name), "n%d", i);
            twin.zone[i] = (int)(dice / 4 % 4) - 1;
            zone[0] = (char)('a' + (twin.zone[i] < 0 ? 0 : twin.zone[i]));
            node(places, twin.zone[i] < 0 ? 'O' : 'o', name, zone);
        } else {
            twin.node[i] = (int)(dice / 4 % (NODES + 1)) - 1;
            (void)snprintf(name, sizeof(name), "p%d", i);
            (void)snprintf(spec, sizeof(spec), "\"nodeName\":\"n%d\"", twin.node[i]);
            tell(places, twin.node[i] < 0 ? 'O' : 'o', "x", name, i % 3 == 0 ? "w" : "v", spec);
        }
        if (dice % 3 == 0)
            compare(places, &twin);
    }
    compare(places, &twin);
    kube_places_destroy(places);
}

TEST(rules_that_are_understood)
{
    struct kube_places *places = begin();
    const struct asked even = tell(places, 'w', "x", "1", "w", SPREAD(ZONE, "1", ""));
    const struct asked one = tell(places, 'w', "x", "2", "w", APART);
    const struct asked two = tell(places, 'w', "y", "3", "w", APART);
    const struct asked both =
        tell(places, 'w', "x", "4", "w", APART "," SPREAD(ZONE, "1", "") "," SPREAD(HOST, "1", ""));

    assert_int_equal(even.rule.what, KUBE_ZONES_EVEN);
    assert_null(even.rule.term);
    assert_int_equal(one.rule.what, KUBE_ZONES_APART);
    assert_int_equal(both.rule.what, KUBE_ZONES_APART);
    assert_int_equal(one.rule.group, even.rule.group);
    assert_true(one.rule.group != two.rule.group);
    assert_int_equal(tell(places, 'w', "x", "5", "w", ANTI(TERM(HOST, LABEL("w")))).rule.what,
                     KUBE_ZONES_FREE);

    const struct asked self = tell(places, 'w', "x", "6", "w", NEAR(TERM(ZONE, LABEL("w"))));
    const struct asked other = tell(places, 'w', "x", "7", "v", NEAR(TERM(ZONE, LABEL("w"))));

    assert_true(self.rule.what == KUBE_ZONES_NEAR && self.rule.is_own);
    assert_true(other.rule.what == KUBE_ZONES_NEAR && !other.rule.is_own);
    assert_true(self.rule.group != one.rule.group);
    kube_places_destroy(places);
}

#define LEAST ",\"minDomains\":3"

/* kube-scheduler counts those on its machine. */
TEST(with_min_domains_no_more_than_the_skew_are_on_one_machine)
{
    struct kube_places *places = begin();

    for (int i = 0; i < 32; i++) {
        char uid[8];
        struct asked asked;

        (void)snprintf(uid, sizeof(uid), "%d", i);
        asked = tell(places, 'w', "x", uid, "w", SPREAD(ZONE, "2", LEAST));
        assert_null(asked.why);
        assert_int_equal(asked.rule.what, KUBE_ZONES_LEAST);
        assert_int_equal(asked.rule.least, 3);
        assert_int_equal(asked.rule.skew, 2);
        assert_true(asked.rule.is_limited);
        assert_true(asked.rule.group <= INT64_MAX / 4);
    }
    /* Others that it counts might be there. Those that are placed still count, those elsewhere do not. */
    tell(places, 'p', "x", "0", "w", ON("s1") "," SLOT "," SPREAD(ZONE, "2", LEAST));
    for (int i = 1; i < 32; i++) {
        char uid[8];

        (void)snprintf(uid, sizeof(uid), "%d", i);
        kube_places_gone(places, uid);
    }
    assert_non_null(tell(places, 'w', "x", "a", "w", "").why);
    assert_null(tell(places, 'w', "x", "b", "v", "").why);
    kube_places_gone(places, "0");
    assert_null(tell(places, 'w', "x", "a", "w", "").why);
    tell(places, 'p', "x", "a", "w", ON("s1") "," SLOT);
    assert_non_null(tell(places, 'w', "x", "0", "w", SPREAD(ZONE, "2", LEAST)).why);
    tell(places, 'P', "x", "a", "w", "");
    tell(places, 'o', "x", "c", "w", ON("n1"));
    assert_null(tell(places, 'w', "x", "0", "w", SPREAD(ZONE, "2", LEAST)).why);
    kube_places_destroy(places);
}

TEST(what_keeps_apart_by_host_anyway_needs_no_other_limit)
{
    struct kube_places *places = begin();

    assert_false(
        tell(places, 'w', "x", "1", "w", ANTI(TERM(HOST, LABEL("w"))) "," SPREAD(ZONE, "2", LEAST))
            .rule.is_limited);
    assert_true(
        tell(places, 'w', "x", "2", "w", ANTI(TERM(HOST, THERE)) "," SPREAD(ZONE, "2", LEAST))
            .rule.is_limited);
    assert_int_equal(tell(places, 'w', "x", "3", "w", APART "," SPREAD(ZONE, "1", LEAST)).rule.what,
                     KUBE_ZONES_APART);
    kube_places_destroy(places);
}

/* Wherever they are managed, also those of the rule itself. */
TEST(what_a_pod_must_be_near_is_where_it_is_bound)
{
    struct kube_places *places = begin();

    assert_null(tell(places, 'w', "x", "1", "w", NEAR(TERM(ZONE, LABEL("w")))).why);
    assert_null(tell(places, 'w', "x", "2", "v", NEAR(TERM(ZONE, LABEL("w")))).why);
    assert_null(tell(places, 'w', "x", "3", "v", NEAR(TERM(ZONE, OTHER_SPACES LABEL("w")))).why);
    expect(places, "1", ",");
    tell(places, 'p', "x", "4", "w", SLOT "," NEAR(TERM(ZONE, LABEL("w"))));
    assert_false(kube_places_is_changed(places));
    tell(places, 'p', "x", "4", "w", ON("s1") "," SLOT "," NEAR(TERM(ZONE, LABEL("w"))));
    assert_true(kube_places_is_changed(places));
    expect(places, "1", ",a,");
    expect(places, "2", ",a,");
    expect(places, "3", ",");
    tell(places, 'o', "y", "5", "w", ON("n3"));
    expect(places, "1", ",a,");
    expect(places, "3", ",c,");
    tell(places, 'o', "x", "6", "w", ON("nowhere"));
    expect(places, "2", ",a,");
    tell(places, 'P', "x", "4", "w", "");
    expect(places, "1", ",");
    kube_places_destroy(places);
}

/* It may not have what its text does not say of it. */
TEST(a_pod_with_too_many_labels_is_nothing_to_be_near)
{
    static const char absent[] =
        NEAR(TERM(ZONE, "\"labelSelector\":{\"matchExpressions\":[{\"key\":\"zz\",\"operator\":"
                        "\"DoesNotExist\"}]}"));
    struct kube_places *places = begin();
    struct asked asked = { .places = places, .does = 'o' };
    char text[4000] = "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"x\","
                      "\"uid\":\"2\",\"labels\":{";

    assert_null(tell(places, 'w', "x", "1", "w", absent).why);
    for (int i = 0; i < 70; i++)
        (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "\"l%d\":\"a\",", i);
    (void)snprintf(text + strlen(text), sizeof(text) - strlen(text),
                   "\"zz\":\"a\"}},\"spec\":{" ON("n1") "}}");
    tell_object(&asked, text);
    expect(places, "1", ",");
    tell(places, 'o', "x", "3", "w", ON("n1"));
    expect(places, "1", ",a,");
    kube_places_destroy(places);
}

TEST(rules_that_are_left_to_the_scheduler)
{
    static const char *const specs[] = {
        ANTI(TERM(ZONE, LABEL("w")) "," TERM(ZONE, THERE)),
        ANTI(TERM(ZONE, LABEL("v"))),
        ANTI(TERM("failure-domain.beta.kubernetes.io/zone", LABEL("w"))),
        ANTI(TERM("rack", LABEL("w"))),
        ALL_APART "," SPREAD(ZONE, "1", ""),
        NEAR(TERM(HOST, LABEL("w"))),
        NEAR(TERM("failure-domain.beta.kubernetes.io/zone", LABEL("w"))),
        NEAR(TERM(ZONE, LABEL("w")) "," TERM(ZONE, LABEL("w"))),
        NEAR("{\"topologyKey\":\"" ZONE "\"}"),
        NEAR(TERM(ZONE, "\"namespaceSelector\":{}," LABEL("w"))),
        NEAR(TERM(ZONE, "\"labelSelector\":{\"matchExpressions\":[{\"key\":\"app\",\"operator\":"
                        "\"Gt\",\"values\":[\"1\"]}]}")),
        NEAR(TERM(ZONE, LABEL("w"))) "," SPREAD(ZONE, "1", ""),
    };
    struct kube_places *places = begin();

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
        assert_non_null(tell(places, 'w', "x", "1", "w", specs[i]).refused);
    assert_non_null(tell(places, 'w', "x", "1", "v", SPREAD(ZONE, "1", "")).refused);
    kube_places_destroy(places);
}

/* What is too long is about more pods, and may not be taken for what it says. */
TEST(names_of_too_many_namespaces_are_left_to_the_scheduler)
{
    struct kube_places *places = begin();
    char spec[3000] =
        "\"affinity\":{\"podAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":"
        "[{\"topologyKey\":\"" ZONE "\"," LABEL("w") ",\"namespaces\":[";

    for (int i = 0; i < 200; i++)
        (void)snprintf(spec + strlen(spec), sizeof(spec) - strlen(spec), "\"space-%d\",", i);
    (void)snprintf(spec + strlen(spec), sizeof(spec) - strlen(spec), "\"x\"]}]}}");
    assert_non_null(tell(places, 'w', "x", "1", "w", spec).refused);
    kube_places_destroy(places);
}

static void expect_split(const char *words, const char *rest, const char *zones)
{
    char buf[128];
    char found[128];

    (void)snprintf(buf, sizeof(buf), "%s", words);
    kube_zone_split(buf, found);
    assert_string_equal(buf, rest);
    assert_string_equal(found, zones);
}

TEST(zones_are_taken_out_of_what_keeps_a_pod_away)
{
    expect_split("", "", ",");
    expect_split("!(zone=a)", "", ",a,");
    expect_split("!(zone=a|zone=b-1)", "", ",a,b-1,");
    expect_split("!(type=x|zone=a|zone=b)", "!(type=x)", ",a,b,");
    expect_split("!(!arch=arm64|market=spot|type=x)", "!(!arch=arm64|market=spot|type=x)", ",");
    expect_split("!(zone=a|type=x|zone=b|type=y)", "!(type=x|type=y)", ",a,b,");
}

TEST(zones_of_a_list_that_are_not_in_another_one)
{
    char found[64];

    kube_zone_without(",a,b,c,", ",b,cc,", found);
    assert_string_equal(found, ",a,c,");
    kube_zone_without(",a,", ",a,", found);
    assert_string_equal(found, ",");
    kube_zone_without(",", ",a,", found);
    assert_string_equal(found, ",");
    kube_zone_without(",a,", ",", found);
    assert_string_equal(found, ",a,");
}

CHECK_MAIN(RUN(zones_of_a_list_that_are_not_in_another_one),
           RUN(what_a_rule_is_about_is_where_it_is_bound),
           RUN(pods_of_one_rule_are_not_told_of_each_other),
           RUN(what_is_not_bound_and_keeps_away_has_others_left_to_the_scheduler),
           RUN(a_node_may_come_after_its_pods_or_go_before_them),
           RUN(what_a_list_does_not_name_is_no_more), RUN(zones_are_those_of_a_list_of_all_pods),
           RUN(with_min_domains_no_more_than_the_skew_are_on_one_machine),
           RUN(what_keeps_apart_by_host_anyway_needs_no_other_limit),
           RUN(what_a_pod_must_be_near_is_where_it_is_bound),
           RUN(a_pod_with_too_many_labels_is_nothing_to_be_near),
           RUN(what_was_bound_before_is_known_to_a_new_rule),
           RUN(names_of_too_many_namespaces_are_left_to_the_scheduler),
           RUN(rules_that_are_understood), RUN(rules_that_are_left_to_the_scheduler),
           RUN(zones_are_taken_out_of_what_keeps_a_pod_away))
