/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a machine is what its node class would make today. */
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/kubernetes/kube_class.h"

#define KEY         "karpenter.k8s.aws/ec2nodeclass-hash"
#define AZURE       "karpenter.azure.com/aksnodeclass-hash"
#define HASH(h)     "\"" KEY "\":\"" h "\""
#define VERSION(v)  "\"" KEY "-version\":\"" v "\""
#define STAMP(h, v) HASH(h) "," VERSION(v)

struct reading {
    struct names texts;
    struct kube_origin origin;
    struct kube_class node_class;
};

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    struct reading *reading = context;

    (void)event;
    if (object->kind == KUBE_CLAIM)
        reading->origin = kube_class_origin(&reading->texts, object);
    else if (object->kind == KUBE_NODE_CLASS)
        reading->node_class = kube_class_read(&reading->texts, object);
    return 0;
}

static void read_object(struct reading *reading, const char *kind, const char *annotations,
                        const char *status)
{
    const struct kube_object_sink sink = { .on_object = on_object, .context = reading };
    struct kube_objects *objects = kube_objects_create(KUBE_OTHER, false, &sink);
    struct error error = { "" };
    static char text[1 << 16];

    (void)snprintf(
        text, sizeof(text),
        "{\"items\":[{\"kind\":\"%s\",\"metadata\":{\"name\":\"x\",\"annotations\":{%s}},\"status\":{%s}}]}",
        kind, annotations, status);
    assert_int_equal(kube_objects_read(objects, text, strlen(text), &error), 0);
    assert_int_equal(kube_objects_end(objects, &error), 0);
    kube_objects_destroy(objects);
}

struct side {
    const char *annotations;
    const char *status;
};

static enum kube_age age_of(const struct side *claim, const struct side *node_class)
{
    struct reading reading = { .origin = { .image = 0 } };
    enum kube_age age;

    names_init(&reading.texts);
    (void)names_add(&reading.texts, "", 0);
    read_object(&reading, "NodeClaim", claim->annotations, claim->status);
    read_object(&reading, "EC2NodeClass", node_class->annotations, node_class->status);
    age = kube_class_compare(&reading.node_class, &reading.origin);
    names_done(&reading.texts);
    return age;
}

static void expect_settings(const char *claim, const char *node_class, enum kube_age age)
{
    const enum kube_age found =
        age_of(&(struct side){ claim, "" }, &(struct side){ node_class, "" });

    if (found != age)
        fail_msg("{%s} and {%s}: %d", claim, node_class, (int)found);
}

static void expect_image(const char *claim, const char *node_class, enum kube_age age)
{
    const enum kube_age found =
        age_of(&(struct side){ "", claim }, &(struct side){ "", node_class });

    if (found != age)
        fail_msg("{%s} and {%s}: %d", claim, node_class, (int)found);
}

TEST(a_machine_is_outdated_when_the_hash_of_the_settings_differs)
{
    expect_settings(STAMP("1", "v4"), STAMP("1", "v4"), KUBE_CURRENT);
    expect_settings(STAMP("1", "v4"), STAMP("2", "v4"), KUBE_OLD_SETTINGS);
    expect_settings(VERSION("v4") "," HASH("1"), STAMP("2", "v4"), KUBE_OLD_SETTINGS);
    expect_settings("\"a\":\"b\"," STAMP("1", "v4"), STAMP("2", "v4") ",\"c\":\"d\"",
                    KUBE_OLD_SETTINGS);
}

TEST(hashes_by_different_rules_are_not_compared)
{
    expect_settings(STAMP("1", "v3"), STAMP("2", "v4"), KUBE_CURRENT);
    expect_settings(STAMP("1", "v4"), STAMP("2", "v3"), KUBE_CURRENT);
}

TEST(a_hash_or_version_that_is_missing_makes_no_machine_outdated)
{
    static const char *const parts[] = { "",
                                         HASH("1"),
                                         VERSION("v4"),
                                         STAMP("", "v4"),
                                         STAMP("1", ""),
                                         "\"" KEY "\":null," VERSION("v4") };

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        expect_settings(parts[i], STAMP("2", "v4"), KUBE_CURRENT);
        expect_settings(STAMP("2", "v4"), parts[i], KUBE_CURRENT);
        for (size_t j = 0; j < sizeof(parts) / sizeof(parts[0]); j++)
            expect_settings(parts[i], parts[j], KUBE_CURRENT);
    }
    expect_settings(HASH("1"), HASH("2"), KUBE_CURRENT);
    expect_settings(STAMP("1", ""), STAMP("2", ""), KUBE_CURRENT);
}

TEST(only_hashes_under_the_same_key_are_compared)
{
    expect_settings("\"" AZURE "\":\"1\",\"" AZURE "-version\":\"v4\"", STAMP("2", "v4"),
                    KUBE_CURRENT);
    expect_settings("\"" AZURE "\":\"1\",\"" AZURE "-version\":\"v4\"",
                    "\"" AZURE "\":\"2\",\"" AZURE "-version\":\"v4\"", KUBE_OLD_SETTINGS);
    /* The version of one is not that of the other. */
    expect_settings(HASH("1") ",\"" AZURE "-version\":\"v4\"", STAMP("2", "v4"), KUBE_CURRENT);
    /* The second of two counts, too. */
    expect_settings("\"" AZURE "\":\"1\",\"" AZURE "-version\":\"v4\"," STAMP("1", "v4"),
                    STAMP("2", "v4"), KUBE_OLD_SETTINGS);
    expect_settings(STAMP("1", "v4"),
                    "\"" AZURE "\":\"1\",\"" AZURE "-version\":\"v4\"," STAMP("2", "v4"),
                    KUBE_OLD_SETTINGS);
    expect_settings(
        "\"karpenter.sh/nodepool-hash\":\"1\",\"karpenter.sh/nodepool-hash-version\":\"v3\"",
        "\"karpenter.sh/nodepool-hash\":\"2\",\"karpenter.sh/nodepool-hash-version\":\"v3\"",
        KUBE_CURRENT);
}

TEST(more_hashes_than_can_be_kept_do_no_harm)
{
    char many[4096] = "";
    size_t used = 0;

    for (int i = 0; i < 12; i++)
        used += (size_t)snprintf(
            many + used, sizeof(many) - used,
            "\"x%d/nodeclass-hash\":\"1\",\"x%d/nodeclass-hash-version\":\"v\",", i, i);
    (void)snprintf(many + used, sizeof(many) - used, "%s", STAMP("1", "v4"));
    expect_settings(many, STAMP("2", "v4"), KUBE_CURRENT);
    expect_settings(STAMP("2", "v4"), many, KUBE_CURRENT);
}

TEST(a_machine_is_outdated_when_its_image_is_not_used_any_more)
{
    expect_image("\"imageID\":\"ami-1\"", "\"amis\":[{\"id\":\"ami-1\"}]", KUBE_CURRENT);
    expect_image("\"imageID\":\"ami-1\"", "\"amis\":[{\"id\":\"ami-2\"}]", KUBE_OLD_IMAGE);
    expect_image("\"imageID\":\"ami-1\"",
                 "\"amis\":[{\"id\":\"ami-3\",\"name\":\"ami-1\"},{\"id\":\"ami-2\"}]",
                 KUBE_OLD_IMAGE);
    expect_image("\"imageID\":\"ami-2\"", "\"amis\":[{\"id\":\"ami-1\"},{\"id\":\"ami-2\"}]",
                 KUBE_CURRENT);
}

TEST(an_image_that_is_unknown_makes_no_machine_outdated)
{
    static const char *const none[] = { "", "\"amis\":[]", "\"amis\":null", "\"amis\":[{}]",
                                        "\"amis\":[{\"id\":\"\"}]" };

    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        expect_image("\"imageID\":\"ami-1\"", none[i], KUBE_CURRENT);
    expect_image("", "\"amis\":[{\"id\":\"ami-1\"}]", KUBE_CURRENT);
    expect_image("\"imageID\":\"\"", "\"amis\":[{\"id\":\"ami-1\"}]", KUBE_CURRENT);
    expect_image("\"imageID\":\"ami-2\"", "\"amis\":[{\"id\":\"ami-1\"},{\"id\":\"\"}]",
                 KUBE_CURRENT);
}

static void print_images(char *buf, size_t size, unsigned count)
{
    size_t used = (size_t)snprintf(buf, size, "\"amis\":[");

    for (unsigned i = 0; i < count; i++)
        used +=
            (size_t)snprintf(buf + used, size - used, "%s{\"id\":\"ami-%u\"}", i > 0 ? "," : "", i);
    (void)snprintf(buf + used, size - used, "]");
}

TEST(a_list_of_images_that_is_too_long_is_unknown)
{
    char images[1 << 13];

    print_images(images, sizeof(images), KUBE_IMAGES);
    expect_image("\"imageID\":\"ami-127\"", images, KUBE_CURRENT);
    expect_image("\"imageID\":\"ami-128\"", images, KUBE_OLD_IMAGE);
    print_images(images, sizeof(images), KUBE_IMAGES + 1);
    expect_image("\"imageID\":\"ami-128\"", images, KUBE_CURRENT);
    expect_image("\"imageID\":\"ami-x\"", images, KUBE_CURRENT);
}

TEST(settings_and_image_are_both_compared)
{
    const struct side claim = { STAMP("1", "v4"), "\"imageID\":\"ami-1\"" };

    assert_int_equal(
        age_of(&claim, &(struct side){ STAMP("1", "v4"), "\"amis\":[{\"id\":\"ami-2\"}]" }),
        KUBE_OLD_IMAGE);
    assert_int_equal(
        age_of(&claim, &(struct side){ STAMP("2", "v5"), "\"amis\":[{\"id\":\"ami-2\"}]" }),
        KUBE_OLD_IMAGE);
    assert_int_equal(
        age_of(&claim, &(struct side){ STAMP("2", "v4"), "\"amis\":[{\"id\":\"ami-2\"}]" }),
        KUBE_OLD_SETTINGS);
    assert_int_equal(
        age_of(&claim, &(struct side){ STAMP("2", "v4"), "\"amis\":[{\"id\":\"ami-1\"}]" }),
        KUBE_OLD_SETTINGS);
}

TEST(the_path_of_a_node_class_follows_from_its_kind)
{
    char path[256];

    assert_true(
        kube_class_path("karpenter.k8s.aws", "EC2NodeClass", "default", 0, path, sizeof(path)));
    assert_string_equal(path, "/apis/karpenter.k8s.aws/v1/ec2nodeclasses/default");
    assert_true(kube_class_path("karpenter.azure.com", "AKSNodeClass", "a", 1, path, sizeof(path)));
    assert_string_equal(path, "/apis/karpenter.azure.com/v1beta1/aksnodeclasses/a");
    assert_true(kube_class_path("karpenter.kwok.sh", "KWOKNodeClass", "a", 2, path, sizeof(path)));
    assert_string_equal(path, "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses/a");
    assert_false(kube_class_path("karpenter.kwok.sh", "KWOKNodeClass", "a", 3, path, sizeof(path)));
}

TEST(the_label_of_a_node_class_has_its_kind_in_small_letters)
{
    char label[256];

    kube_class_label("karpenter.k8s.aws", "EC2NodeClass", label, sizeof(label));
    assert_string_equal(label, "karpenter.k8s.aws/ec2nodeclass");
}

CHECK_MAIN(RUN(a_machine_is_outdated_when_the_hash_of_the_settings_differs),
           RUN(hashes_by_different_rules_are_not_compared),
           RUN(a_hash_or_version_that_is_missing_makes_no_machine_outdated),
           RUN(only_hashes_under_the_same_key_are_compared),
           RUN(more_hashes_than_can_be_kept_do_no_harm),
           RUN(a_machine_is_outdated_when_its_image_is_not_used_any_more),
           RUN(an_image_that_is_unknown_makes_no_machine_outdated),
           RUN(a_list_of_images_that_is_too_long_is_unknown),
           RUN(settings_and_image_are_both_compared),
           RUN(the_path_of_a_node_class_follows_from_its_kind),
           RUN(the_label_of_a_node_class_has_its_kind_in_small_letters))
