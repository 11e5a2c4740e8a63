/* SPDX-License-Identifier: Apache-2.0 */
/* Which pods must not share a machine: what is said of each, and of kinds because of others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/test/check.h"
#include "engine/kubernetes/kube_apart.h"
#include "model/apart.h"

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

enum { KINDS_MOST = 4096 };

/* What was said of kinds. */
struct likes {
    uint64_t like[KINDS_MOST];
    char marks[KINDS_MOST][KUBE_MARKS_TEXT];
    uint32_t count;
    uint32_t told; /* so many times */
};

static struct likes likes;

static void on_marks(void *context, uint64_t like, const char *marks)
{
    struct likes *to = context;
    uint32_t at = 0;

    while (at < to->count && to->like[at] != like)
        at++;
    assert_true(at < KINDS_MOST);
    to->like[at] = like;
    (void)snprintf(to->marks[at], KUBE_MARKS_TEXT, "%s", marks);
    to->count += at == to->count;
    to->told++;
}

static struct kube_apart *begin(void)
{
    likes.count = 0;
    likes.told = 0;
    return kube_apart_create(
        &(struct kube_apart_config){ .on_marks = on_marks, .context = &likes });
}

static const char *said_of(uint64_t like)
{
    for (uint32_t i = 0; i < likes.count; i++) {
        if (likes.like[i] == like)
            return likes.marks[i];
    }
    return "";
}

struct asked {
    struct kube_apart *apart;
    char does; /* 'w'aits, has a 'p'lace, 'd'aemon's, 'D': the daemon's is gone */
    struct kube_keeps keeps;
    const char *why;
};

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    struct asked *asked = context;

    (void)event;
    if (asked->does == 'w')
        asked->why = kube_apart_wait(asked->apart, object, &asked->keeps);
    else if (asked->does == 'p')
        kube_apart_place(asked->apart, object, &asked->keeps);
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

static struct asked waits(struct kube_apart *apart, const char *uid, const char *app,
                          const char *spec)
{
    const struct asked asked = tell(apart, 'w', "a", uid, app, spec);

    assert_null(asked.why);
    return asked;
}

static uint32_t read_marks(const char *text, uint32_t count, struct apart_mark *ret)
{
    while (*text != '\0') {
        char *end;

        ret[count].sides = *text == 'b' ? APART_BOTH : *text == 's' ? APART_SHUNS : APART_HAS;
        ret[count].mark = strtoull(text + 1, &end, 10);
        assert_true(ret[count].mark <= INT64_MAX / 4); /* or the daemon does not read it */
        assert_true(*end == ',' || *end == '\0');
        text = *end == ',' ? end + 1 : end;
        count++;
    }
    return count;
}

/* By all that is said of the two by now. */
static bool meet(const struct asked *one, const struct asked *other)
{
    struct apart_mark marks[2][2 * APART_MARKS_MAX];
    struct aparts aparts;
    uint32_t number[2];
    bool ret;

    aparts_init(&aparts);
    for (int i = 0; i < 2; i++) {
        const struct asked *asked = i == 0 ? one : other;
        const uint32_t own = read_marks(asked->keeps.marks, 0, marks[i]);

        number[i] =
            aparts_add(&aparts, marks[i], read_marks(said_of(asked->keeps.like), own, marks[i]));
    }
    ret = aparts_meet(&aparts, number[0], number[1]);
    aparts_done(&aparts);
    return ret;
}

TEST(pods_that_keep_away_from_their_own_kind_by_host_are_kept_apart)
{
    struct kube_apart *apart = begin();
    const struct asked one = waits(apart, "1", "w", ANTI(TERM(HOST, LABEL("w"))));
    const struct asked two = waits(apart, "2", "w", ANTI(TERM(HOST, LABEL("w"))));
    const struct asked placed = tell(apart, 'p', "a", "3", "w", ANTI(TERM(HOST, LABEL("w"))));
    const struct asked elsewhere = tell(apart, 'w', "b", "4", "w", ANTI(TERM(HOST, LABEL("w"))));
    const struct asked other = waits(apart, "5", "x", "");

    assert_int_equal(one.keeps.marks[0], 'b');
    assert_true(meet(&one, &two));
    assert_true(meet(&one, &placed));
    assert_false(meet(&one, &elsewhere));
    assert_false(meet(&one, &other));
    assert_string_equal(other.keeps.marks, "");
    assert_int_equal(likes.told, 0);
    kube_apart_destroy(apart);
}

TEST(a_spread_over_hosts_is_one_of_as_many_marks_as_its_skew)
{
    struct kube_apart *apart = begin();
    const struct asked one = waits(apart, "1", "w", SPREAD(HOST, "1", ""));
    const struct asked two = waits(apart, "2", "w", SPREAD(HOST, "2", ""));

    assert_null(strchr(one.keeps.marks, '/'));
    assert_non_null(strstr(two.keeps.marks, "/2"));
    assert_true(meet(&one, &one));
    /* It is Stint's to keep, and no matter to others. */
    assert_string_equal(waits(apart, "x", "w", "").keeps.marks, "");
    assert_int_equal(likes.told, 0);
    kube_apart_destroy(apart);
}

TEST(pods_with_one_host_port_are_kept_apart_in_all_namespaces)
{
    struct kube_apart *apart = begin();
    const struct asked one = waits(apart, "1", "w", PORTS(PORT("80")));
    const struct asked two = tell(apart, 'w', "b", "2", "x", PORTS(PORT("80") "," PORT("81")));
    const struct asked three = waits(apart, "3", "w", PORTS(PORT("81") "," PORT("81")));

    assert_null(two.why);
    assert_true(meet(&one, &two));
    assert_true(meet(&two, &three));
    assert_false(meet(&one, &three));
    assert_non_null(tell(apart, 'w', "a", "4", "w",
                         PORTS(PORT("1") "," PORT("2") "," PORT("3") "," PORT("4") "," PORT(
                             "5") "," PORT("6") "," PORT("7") "," PORT("8") "," PORT("9")))
                        .why);
    tell(apart, 'd', "kube-system", "6", "proxy", PORTS(PORT("81")));
    assert_non_null(tell(apart, 'w', "b", "7", "w", PORTS(PORT("82") "," PORT("81"))).why);
    assert_null(tell(apart, 'w', "b", "8", "w", PORTS(PORT("80"))).why);
    tell(apart, 'D', "kube-system", "6", "proxy", PORTS(PORT("81")));
    assert_null(tell(apart, 'w', "b", "7", "w", PORTS(PORT("82") "," PORT("81"))).why);
    kube_apart_destroy(apart);
}

/* kube-scheduler has neither beside the other, whichever was first. */
TEST(a_pod_is_kept_away_from_another_kind_whichever_comes_first)
{
    struct kube_apart *apart = begin();
    const struct asked early = waits(apart, "1", "x", "");
    const struct asked shy = waits(apart, "2", "w", ANTI(TERM(HOST, LABEL("x"))));
    const struct asked peer = waits(apart, "3", "w", ANTI(TERM(HOST, LABEL("x"))));
    const struct asked late = waits(apart, "4", "x", PORTS(PORT("1")));

    assert_int_equal(shy.keeps.marks[0], 's');
    assert_true(meet(&shy, &early));
    assert_true(meet(&shy, &late));
    assert_false(meet(&shy, &peer));
    assert_false(meet(&early, &late));
    /* With the last of them goes what was said of others. */
    kube_apart_gone(apart, "2");
    assert_true(meet(&peer, &early));
    kube_apart_gone(apart, "3");
    assert_false(meet(&shy, &early));
    assert_string_equal(said_of(early.keeps.like), "");
    kube_apart_destroy(apart);
}

TEST(what_a_list_does_not_name_keeps_nobody_away)
{
    struct kube_apart *apart = begin();
    const struct asked one = waits(apart, "1", "w", ANTI(TERM(HOST, LABEL("x"))));
    const struct asked two = waits(apart, "2", "x", "");

    assert_true(meet(&one, &two));
    tell(apart, 'd', "a", "3", "y", "");
    kube_apart_begin(apart, false);
    (void)waits(apart, "2", "x", "");
    kube_apart_end(apart, false);
    assert_false(meet(&one, &two));
    /* That list was not about DaemonSets. */
    assert_non_null(tell(apart, 'w', "a", "4", "z", ANTI(TERM(HOST, LABEL("y")))).why);
    kube_apart_begin(apart, true);
    kube_apart_end(apart, true);
    assert_null(tell(apart, 'w', "a", "4", "z", ANTI(TERM(HOST, LABEL("y")))).why);
    kube_apart_destroy(apart);
}

TEST(what_cannot_be_said_is_left_to_the_scheduler)
{
    struct kube_apart *apart = begin();

    assert_non_null(
        tell(apart, 'w', "a", "1", "w", SPREAD(HOST, "1", ",\"nodeAffinityPolicy\":\"Ignore\""))
            .why);
    assert_non_null(tell(apart, 'w', "a", "1", "x", SPREAD(HOST, "1", "")).why);
    kube_apart_destroy(apart);
}

TEST(too_many_that_keep_away_from_one_kind_are_left_to_the_scheduler)
{
    struct kube_apart *apart = begin();
    char uid[16];
    char spec[256];

    (void)waits(apart, "x", "x", "");
    for (int i = 0; i <= KUBE_MARKS_MOST; i++) {
        (void)snprintf(uid, sizeof(uid), "%d", i);
        (void)snprintf(
            spec, sizeof(spec),
            ANTI(TERM(HOST, "{\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\","
                            "\"values\":[\"x\",\"v%d\"]}]}")),
            i);
        assert_int_equal(tell(apart, 'w', "a", uid, "w", spec).why != NULL, i == KUBE_MARKS_MOST);
    }
    assert_null(tell(apart, 'w', "a", "y", "x", "").why);
    /* One that has its slot already is answered for, as far as there is room. */
    (void)tell(apart, 'p', "a", "z", "w", spec);
    assert_non_null(tell(apart, 'w', "a", "n", "x", PORTS(PORT("1"))).why);
    kube_apart_destroy(apart);
}

/*
 * Random pods: what is said of any two by now meets if, and only if, kube-scheduler would not bind them to one node.
 */

enum { PODS = 10, STEPS = 400, SEEDS = 20, RULES = 2 };

struct random_pod {
    bool is_there;
    uint32_t space;
    uint32_t app;
    uint32_t rules[RULES]; /* the app that it keeps away from, 3: any; 4: none */
    uint32_t port;         /* 0: none */
    struct asked asked;
};

static bool is_about(const struct random_pod *from, const struct random_pod *to)
{
    for (int i = 0; i < RULES; i++) {
        if (from->space == to->space &&
            (from->rules[i] == 3 || (from->rules[i] < 3 && from->rules[i] == to->app)))
            return true;
    }
    return false;
}

static void draw(struct rng *rng, struct random_pod *pod)
{
    pod->space = (uint32_t)rng_below(rng, 2);
    pod->app = (uint32_t)rng_below(rng, 3);
    for (int i = 0; i < RULES; i++)
        pod->rules[i] = rng_below(rng, 3) == 0 ? (uint32_t)rng_below(rng, 4) : 4;
    pod->port = rng_below(rng, 4) == 0 ? 80 + (uint32_t)rng_below(rng, 2) : 0;
}

static void come(struct kube_apart *apart, struct rng *rng, struct random_pod *pod, uint32_t number)
{
    static const char *const terms[] = { TERM(HOST, LABEL("0")), TERM(HOST, LABEL("1")),
                                         TERM(HOST, LABEL("2")), TERM(HOST, THERE) };
    char uid[16];
    char app[16];
    char rules[1024] = "";
    char spec[2048];

    draw(rng, pod);
    for (int i = 0; i < RULES; i++) {
        if (pod->rules[i] < 4)
            (void)snprintf(rules + strlen(rules), sizeof(rules) - strlen(rules), "%s%s",
                           rules[0] != '\0' ? "," : "", terms[pod->rules[i]]);
    }
    (void)snprintf(spec, sizeof(spec), ANTI("%s") ",", rules);
    if (pod->port != 0)
        (void)snprintf(spec + strlen(spec), sizeof(spec) - strlen(spec), PORTS(PORT("%u")),
                       pod->port);
    else
        spec[strlen(spec) - 1] = '\0';
    (void)snprintf(uid, sizeof(uid), "%u", number);
    (void)snprintf(app, sizeof(app), "%u", pod->app);
    pod->asked = tell(apart, rng_below(rng, 3) == 0 ? 'p' : 'w', pod->space == 0 ? "a" : "b", uid,
                      app, spec);
    assert_null(pod->asked.why);
    pod->is_there = true;
}

static void check_pairs(const struct random_pod *pods, uint64_t seed, int step)
{
    for (uint32_t i = 0; i < PODS; i++) {
        for (uint32_t j = 0; j < PODS; j++) {
            const struct random_pod *a = &pods[i];
            const struct random_pod *b = &pods[j];

            if (i == j || !a->is_there || !b->is_there)
                continue;
            if (meet(&a->asked, &b->asked) !=
                (is_about(a, b) || is_about(b, a) || (a->port != 0 && a->port == b->port)))
                fail_msg("seed %d, step %d: pods %u and %u", (int)seed, step, i, j);
        }
    }
}

TEST(of_random_pods_those_that_would_not_be_bound_to_one_node_meet)
{
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct random_pod pods[PODS] = { 0 };
        struct kube_apart *apart = begin();
        struct rng rng;
        char uid[16];

        rng_init(&rng, seed, 0);
        for (int step = 0; step < STEPS; step++) {
            const uint32_t at = (uint32_t)rng_below(&rng, PODS);

            (void)snprintf(uid, sizeof(uid), "%u", at);
            if (pods[at].is_there &&
                rng_below(&rng, 4) > 0) { /* else it comes back as another one */
                kube_apart_gone(apart, uid);
                pods[at].is_there = false;
            } else {
                come(apart, &rng, &pods[at], at);
            }
            check_pairs(pods, seed, step);
        }
        kube_apart_destroy(apart);
    }
}

CHECK_MAIN(RUN(pods_that_keep_away_from_their_own_kind_by_host_are_kept_apart),
           RUN(a_spread_over_hosts_is_one_of_as_many_marks_as_its_skew),
           RUN(pods_with_one_host_port_are_kept_apart_in_all_namespaces),
           RUN(a_pod_is_kept_away_from_another_kind_whichever_comes_first),
           RUN(what_a_list_does_not_name_keeps_nobody_away),
           RUN(what_cannot_be_said_is_left_to_the_scheduler),
           RUN(too_many_that_keep_away_from_one_kind_are_left_to_the_scheduler),
           RUN(of_random_pods_those_that_would_not_be_bound_to_one_node_meet))
