/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods must not share a machine: groups, and who is left to the scheduler because of them. */
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/kubernetes/kube_apart.h"

#define HOST "kubernetes.io/hostname"
#define ZONE "topology.kubernetes.io/zone"

/* Parts of a pod's specification. */
#define ANTI(terms)                                                                                 \
    "\"affinity\":{\"podAntiAffinity\":{\"requiredDuringSchedulingIgnoredDuringExecution\":[" terms \
    "]}}"
#define TERM(key, selector) "{\"topologyKey\":\"" key "\",\"labelSelector\":" selector "}"
#define LABEL(value)        "{\"matchLabels\":{\"app\":\"" value "\"}}"
#define IN(value) \
    "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"" value "\"]}]}"
#define THERE "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"Exists\"}]}"
#define SPREAD(key, skew, more)                                                     \
    "\"topologySpreadConstraints\":[{\"topologyKey\":\"" key "\",\"maxSkew\":" skew \
    ",\"whenUnsatisfiable\":\"DoNotSchedule\",\"labelSelector\":" LABEL("w") more "}]"
#define PORTS(ports) "\"containers\":[{\"name\":\"c\",\"ports\":[" ports "]}]"
#define PORT(number) "{\"containerPort\":1,\"hostPort\":" number "}"

struct asked {
    struct kube_apart *apart;
    char does; /* 'w'aits, has a 'p'lace, 'd'aemon's, 'D': the daemon's is gone */
    uint64_t group;
    const char *why;
};

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    struct asked *asked = context;

    (void)event;
    if (asked->does == 'w')
        asked->why = kube_apart_wait(asked->apart, object, &asked->group);
    else if (asked->does == 'p')
        asked->group = kube_apart_place(asked->apart, object);
    else
        kube_apart_daemon(asked->apart, asked->does == 'D', object);
    return 0;
}

static struct asked tell(struct kube_apart *apart, char does, const char *space, const char *uid,
                         const char *app, const char *spec)
{
    struct asked asked = { .apart = apart, .does = does };
    const struct kube_object_sink sink = { .on_object = on_object, .context = &asked };
    struct kube_objects *objects = kube_objects_create(KUBE_OTHER, false, &sink);
    struct error error = { "" };
    char text[4096];

    (void)snprintf(
        text, sizeof(text),
        "{\"items\":[{\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"namespace\":\"%s\","
        "\"uid\":\"%s\",\"labels\":{\"app\":\"%s\"}},\"spec\":{%s}}]}",
        uid, space, uid, app, spec);
    assert_int_equal(kube_objects_read(objects, text, strlen(text), &error), 0);
    kube_objects_destroy(objects);
    return asked;
}

static uint64_t group_of(struct kube_apart *apart, const char *uid, const char *spec)
{
    const struct asked asked = tell(apart, 'w', "a", uid, "w", spec);

    assert_null(asked.why);
    assert_true(asked.group <= INT64_MAX / 4); /* or the daemon does not read it */
    return asked.group;
}

TEST(pods_that_keep_away_from_their_own_kind_by_host_are_a_group)
{
    struct kube_apart *apart = kube_apart_create();
    const uint64_t group = group_of(apart, "1", ANTI(TERM(HOST, LABEL("w"))));

    assert_true(group != 0);
    assert_int_equal(group_of(apart, "2", ANTI(TERM(HOST, LABEL("w")))), group);
    assert_int_equal(group_of(apart, "2", ANTI(TERM(HOST, LABEL("w")))), group);
    assert_int_equal(tell(apart, 'p', "a", "3", "w", ANTI(TERM(HOST, LABEL("w")))).group, group);
    /* Another namespace is another group. */
    assert_true(tell(apart, 'w', "b", "4", "w", ANTI(TERM(HOST, LABEL("w")))).group != group);
    assert_int_equal(tell(apart, 'w', "a", "5", "x", "").group, 0);
    kube_apart_destroy(apart);
    apart = kube_apart_create();
    assert_true(group_of(apart, "1", ANTI(TERM(HOST, IN("w")))) != 0);
    kube_apart_destroy(apart);
}

TEST(a_spread_over_hosts_makes_as_many_groups_as_its_skew)
{
    struct kube_apart *apart = kube_apart_create();
    uint64_t seen[2] = { 0, 0 };

    for (int i = 0; i < 32; i++) {
        char uid[8];
        uint64_t group;

        (void)snprintf(uid, sizeof(uid), "%d", i);
        group = group_of(apart, uid, SPREAD(HOST, "2", ""));
        assert_true(group != 0);
        if (seen[0] == 0 || seen[0] == group)
            seen[0] = group;
        else if (seen[1] == 0 || seen[1] == group)
            seen[1] = group;
        else
            fail();
    }
    assert_true(seen[1] != 0);
    assert_true(group_of(apart, "s", SPREAD(HOST, "1", "")) != 0);
    /* It is Stint's to keep, and no matter to others. */
    assert_null(tell(apart, 'w', "a", "x", "w", "").why);
    kube_apart_destroy(apart);
}

TEST(pods_with_one_host_port_are_a_group_in_all_namespaces)
{
    struct kube_apart *apart = kube_apart_create();
    const uint64_t group = group_of(apart, "1", PORTS(PORT("80")));

    assert_true(group != 0);
    assert_int_equal(tell(apart, 'w', "b", "2", "x", PORTS(PORT("80"))).group, group);
    assert_true(group_of(apart, "3", PORTS(PORT("81"))) != group);
    assert_non_null(tell(apart, 'w', "a", "4", "w", PORTS(PORT("82") "," PORT("83"))).why);
    assert_int_equal(tell(apart, 'w', "a", "5", "w", PORTS(PORT("80") "," PORT("80"))).group,
                     group);
    tell(apart, 'd', "kube-system", "6", "proxy", PORTS(PORT("81")));
    assert_non_null(tell(apart, 'w', "b", "7", "w", PORTS(PORT("81"))).why);
    assert_null(tell(apart, 'w', "b", "8", "w", PORTS(PORT("80"))).why);
    tell(apart, 'D', "kube-system", "6", "proxy", PORTS(PORT("81")));
    assert_null(tell(apart, 'w', "b", "7", "w", PORTS(PORT("81"))).why);
    kube_apart_destroy(apart);
}

/* kube-scheduler has neither beside the other: whichever comes second is left alone. */
TEST(a_pod_that_another_one_keeps_away_from_is_left_to_the_scheduler)
{
    struct kube_apart *apart = kube_apart_create();

    assert_null(tell(apart, 'w', "a", "1", "w", ANTI(TERM(HOST, LABEL("w")))).why);
    assert_non_null(tell(apart, 'w', "a", "2", "w", "").why);
    assert_null(tell(apart, 'w', "b", "3", "w", "").why); /* in another namespace */
    assert_null(tell(apart, 'w', "a", "4", "x", "").why);
    /* The one that was left does not count. */
    assert_null(tell(apart, 'w', "a", "5", "w", ANTI(TERM(HOST, LABEL("w")))).why);
    kube_apart_gone(apart, "1");
    assert_non_null(tell(apart, 'w', "a", "2", "w", "").why);
    kube_apart_gone(apart, "5");
    assert_null(tell(apart, 'w', "a", "2", "w", "").why);
    assert_non_null(tell(apart, 'w', "a", "6", "w", ANTI(TERM(HOST, LABEL("w")))).why);
    /* What is there is there. */
    assert_true(tell(apart, 'p', "a", "7", "w", ANTI(TERM(HOST, LABEL("w")))).group != 0);
    kube_apart_gone(apart, "2");
    assert_null(tell(apart, 'w', "a", "6", "w", ANTI(TERM(HOST, LABEL("w")))).why);
    kube_apart_destroy(apart);
}

TEST(what_a_list_does_not_name_keeps_nobody_away)
{
    struct kube_apart *apart = kube_apart_create();

    assert_null(tell(apart, 'w', "a", "1", "w", ANTI(TERM(HOST, LABEL("w")))).why);
    tell(apart, 'd', "a", "2", "y", "");
    kube_apart_begin(apart, false);
    kube_apart_end(apart, false);
    assert_null(tell(apart, 'w', "a", "3", "w", "").why);
    /* That list was not about DaemonSets. */
    assert_non_null(tell(apart, 'w', "a", "4", "y", ANTI(TERM(HOST, LABEL("y")))).why);
    kube_apart_begin(apart, true);
    kube_apart_end(apart, true);
    assert_null(tell(apart, 'w', "a", "4", "y", ANTI(TERM(HOST, LABEL("y")))).why);
    kube_apart_destroy(apart);
}

TEST(what_one_group_cannot_say_is_left_to_the_scheduler)
{
    static const char *const specs[] = {
        ANTI(TERM(HOST, LABEL("w")) "," TERM(HOST, THERE)),
        ANTI(TERM(HOST, LABEL("w"))) "," PORTS(PORT("80")),
        ANTI(TERM(HOST, THERE)) "," SPREAD(HOST, "1", ""),
        SPREAD(HOST, "1", ",\"minDomains\":2"),
        SPREAD(HOST, "1", ",\"nodeAffinityPolicy\":\"Ignore\""),
    };
    struct kube_apart *apart = kube_apart_create();

    for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++)
        assert_non_null(tell(apart, 'w', "a", "1", "w", specs[i]).why);
    assert_non_null(tell(apart, 'w', "a", "1", "x", SPREAD(HOST, "1", "")).why);
    assert_null(
        tell(apart, 'w', "a", "1", "w", ANTI(TERM(HOST, LABEL("w"))) "," SPREAD(HOST, "1", ""))
            .why);
    kube_apart_destroy(apart);
}

CHECK_MAIN(RUN(pods_that_keep_away_from_their_own_kind_by_host_are_a_group),
           RUN(a_spread_over_hosts_makes_as_many_groups_as_its_skew),
           RUN(pods_with_one_host_port_are_a_group_in_all_namespaces),
           RUN(a_pod_that_another_one_keeps_away_from_is_left_to_the_scheduler),
           RUN(what_a_list_does_not_name_keeps_nobody_away),
           RUN(what_one_group_cannot_say_is_left_to_the_scheduler))
