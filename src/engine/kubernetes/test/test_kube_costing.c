/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/kubernetes/kube_costing.h"
#include "engine/kubernetes/kube_needs.h"
#include "trace/catalogue_file.h"

static const char catalogue_text[] =
    "billing: { step: 1s, minimum: 60s }\n"
    "boot: { acquire: 20s, setup: 60s, release: 5s }\n"
    "types:\n"
    "  - { name: big, family: f, cpu: 8, mem_gib: 32, price: 0.8 }\n"
    "  - { name: small, family: f, cpu: 2, mem_gib: 8, price: 0.2 }\n"
    "  - { name: arm, family: g, cpu: 8, mem_gib: 32, price: 0.1, features: ['arch=arm64'] }\n";

static void load(const char *text, struct kube_snapshot *snapshot, struct catalogue *catalogue)
{
    struct error error = { "" };

    assert_int_equal(
        catalogue_file_read(catalogue_text, sizeof(catalogue_text) - 1, catalogue, &error), 0);
    kube_snapshot_init(snapshot);
    if (kube_snapshot_read(snapshot, text, strlen(text), &error) != 0)
        fail_msg("%s", error.text);
}

static void unload(struct kube_snapshot *snapshot, struct catalogue *catalogue,
                   struct kube_costing *costing)
{
    kube_costing_done(costing);
    kube_snapshot_done(snapshot);
    catalogue_done(catalogue);
}

/* A list of the nodes "n0" to "n3" of type big, and pods. */
static void write_cluster(char *to, size_t size, const char *pods)
{
    int used = snprintf(to, size, "{\"items\":[");

    for (int i = 0; i < 4; i++) {
        used += snprintf(to + used, size - (size_t)used,
                         "%s{\"kind\":\"Node\",\"metadata\":{\"name\":\"n%d\",\"labels\":{"
                         "\"node.kubernetes.io/instance-type\":\"%s\"}},\"status\":{"
                         "\"capacity\":{\"cpu\":\"8\",\"memory\":\"32Gi\"},"
                         "\"allocatable\":{\"cpu\":\"8\",\"memory\":\"32Gi\"},"
                         "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                         i > 0 ? "," : "", i, i == 3 ? "unknown" : "big");
    }
    (void)snprintf(to + used, size - (size_t)used, "%s]}", pods);
}

#define POD(name, node, cpu, more)                                                                   \
    ",{\"kind\":\"Pod\",\"metadata\":{\"name\":\"" name                                              \
    "\",\"namespace\":\"s\",\"labels\":{\"a\":\"b\"},"                                               \
    "\"ownerReferences\":[{\"kind\":\"ReplicaSet\",\"name\":\"r\",\"controller\":true}]},\"spec\":{" \
    "\"nodeName\":\"" node "\"" more                                                                 \
    ",\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"" cpu "\"}}}]}}"

TEST(pods_that_fit_one_node_need_one_node)
{
    struct kube_snapshot snapshot;
    struct kube_costing costing;
    struct catalogue catalogue;
    char text[8192];

    write_cluster(text, sizeof(text),
                  POD("p0", "n0", "3", "") POD("p1", "n1", "3", "") POD("p2", "n2", "2", ""));
    load(text, &snapshot, &catalogue);
    kube_costing(&snapshot, &catalogue, false, &costing);
    assert_int_equal(costing.priced_nodes, 3);
    assert_int_equal(costing.unpriced_nodes, 1);
    assert_int_equal(costing.now, 2400000);
    assert_int_equal(costing.planned, 800000);
    assert_in_range(costing.bound, 799999, 800000); /* rounded down */
    assert_int_equal(costing.planned_machines, 1);
    assert_int_equal(costing.moves, 2);
    assert_int_equal(costing.pods, 3);
    assert_int_equal(costing.unplaced, 0);
    /* Of 24 processors and no memory: a third of a half. */
    assert_int_equal(costing.shares.pods, 400000);
    assert_int_equal(costing.shares.idle, 2000000);
    unload(&snapshot, &catalogue, &costing);
}

TEST(a_pod_that_cannot_move_keeps_its_node_and_others_join_it)
{
    static const char budget[] =
        ",{\"kind\":\"PodDisruptionBudget\",\"metadata\":{\"namespace\":\"s\"},\"spec\":{\"selector\":"
        "{\"matchLabels\":{\"a\":\"b\"}}},\"status\":{\"disruptionsAllowed\":0}}";
    struct kube_snapshot snapshot;
    struct kube_costing costing;
    struct catalogue catalogue;
    char text[8192];
    char pods[4096];

    /* The one without a controller stays on n1; those of the budget stay, too. */
    (void)snprintf(
        pods, sizeof(pods), "%s%s", POD("p0", "n0", "3", "") POD("p2", "n2", "2", ""),
        ",{\"kind\":\"Pod\",\"metadata\":{\"name\":\"bare\",\"namespace\":\"t\"},\"spec\":{"
        "\"nodeName\":\"n1\",\"containers\":[{\"resources\":{\"requests\":{\"cpu\":\"1\"}}}]}}");
    write_cluster(text, sizeof(text), pods);
    load(text, &snapshot, &catalogue);
    kube_costing(&snapshot, &catalogue, false, &costing);
    assert_int_equal(costing.kept_nodes, 1);
    assert_int_equal(costing.planned, 800000);
    assert_int_equal(costing.moves, 2);
    assert_int_equal(costing.stays[KUBE_STAYS_BARE], 1);
    unload(&snapshot, &catalogue, &costing);

    (void)strncat(pods, budget, sizeof(pods) - strlen(pods) - 1);
    write_cluster(text, sizeof(text), pods);
    load(text, &snapshot, &catalogue);
    kube_costing(&snapshot, &catalogue, false, &costing);
    assert_int_equal(costing.stays[KUBE_STAYS_BUDGET], 2);
    assert_int_equal(costing.kept_nodes, 3);
    assert_int_equal(costing.planned, costing.now);
    assert_int_equal(costing.moves, 0);
    unload(&snapshot, &catalogue, &costing);
}

/* Labels of the site keep pods apart, and the architecture of the node is kept. */
TEST(constraints_hold_in_the_plan)
{
    struct kube_snapshot snapshot;
    struct kube_costing costing;
    struct catalogue catalogue;
    char text[8192];

    write_cluster(text, sizeof(text),
                  POD("p0", "n0", "1", ",\"nodeSelector\":{\"team\":\"x\"}")
                      POD("p1", "n1", "1", ",\"nodeSelector\":{\"team\":\"y\"}")
                          POD("p2", "n2", "1", ",\"nodeSelector\":{\"team\":\"x\"}"));
    load(text, &snapshot, &catalogue);
    kube_costing(&snapshot, &catalogue, false, &costing);
    assert_int_equal(costing.planned, 400000);
    assert_int_equal(costing.planned_machines, 2);
    assert_int_equal(costing.moves, 3);
    unload(&snapshot, &catalogue, &costing);

    write_cluster(
        text, sizeof(text),
        POD("p0", "n0", "1", ",\"nodeSelector\":{\"node.kubernetes.io/instance-type\":\"big\"}"));
    load(text, &snapshot, &catalogue);
    kube_costing(&snapshot, &catalogue, false, &costing);
    assert_int_equal(costing.planned, 800000);
    assert_int_equal(costing.moves, 0);
    unload(&snapshot, &catalogue, &costing);
}

TEST(pods_of_a_daemon_take_their_part_of_every_machine)
{
    struct kube_snapshot snapshot;
    struct kube_costing costing;
    struct catalogue catalogue;
    char text[8192];

    write_cluster(
        text, sizeof(text),
        POD("p0", "n0", "2",
            "") ",{\"kind\":\"Pod\",\"metadata\":{\"name\":\"d\",\"ownerReferences\":[{\"kind\":\"DaemonSet\","
                "\"name\":\"d\",\"controller\":true}]},\"spec\":{\"nodeName\":\"n0\",\"containers\":["
                "{\"resources\":{\"requests\":{\"cpu\":\"100m\"}}}]}}");
    load(text, &snapshot, &catalogue);
    kube_costing(&snapshot, &catalogue, false, &costing);
    assert_int_equal(costing.planned, 800000); /* 2 do not fit beside 0.1 on the small one */
    assert_int_equal(costing.stays[KUBE_STAYS_DAEMON], 1);
    unload(&snapshot, &catalogue, &costing);
}

TEST(what_a_pod_asks_of_its_node_is_told_in_words_of_the_catalogue)
{
    struct kube_object pod = { .selector = { { "topology.kubernetes.io/zone", "a" },
                                             { "disk", "ssd" } },
                               .selector_count = 2 };
    struct kube_need need;

    assert_null(kube_need_of(&pod, &need));
    assert_string_equal(need.offers, "(zone=a)");
    assert_string_equal(need.pool, "disk=ssd");

    pod = (struct kube_object){
        .requirement = { { .key = "karpenter.sh/capacity-type",
                           .comparison = KUBE_NOT_IN,
                           .value_count = 1,
                           .value = { "spot" } },
                         { .key = "kubernetes.io/arch",
                           .term = 1,
                           .comparison = KUBE_IN,
                           .value_count = 2,
                           .value = { "amd64", "arm64" } } },
        .requirement_count = 2,
        .term_count = 2,
    };
    assert_null(kube_need_of(&pod, &need));
    assert_string_equal(need.offers, "((!(market=spot))|((!arch=arm64|arch=arm64)))");

    pod = (struct kube_object){ .selector = { { "kubernetes.io/hostname", "n1" } },
                                .selector_count = 1 };
    assert_non_null(kube_need_of(&pod, &need));
    pod.selector[0] = (struct kube_pair){ "topology.kubernetes.io/zone", "a|b" };
    assert_non_null(kube_need_of(&pod, &need));
}

TEST(a_text_without_nodes_says_what_to_do)
{
    struct kube_snapshot snapshot;
    struct error error = { "" };

    kube_snapshot_init(&snapshot);
    assert_int_equal(kube_snapshot_read(&snapshot, "{\"items\":[]}", 12, &error), -EINVAL);
    assert_non_null(strstr(error.text, "kubectl get"));
    kube_snapshot_done(&snapshot);
}

CHECK_MAIN(RUN(pods_that_fit_one_node_need_one_node),
           RUN(a_pod_that_cannot_move_keeps_its_node_and_others_join_it),
           RUN(constraints_hold_in_the_plan),
           RUN(pods_of_a_daemon_take_their_part_of_every_machine),
           RUN(what_a_pod_asks_of_its_node_is_told_in_words_of_the_catalogue),
           RUN(a_text_without_nodes_says_what_to_do))
