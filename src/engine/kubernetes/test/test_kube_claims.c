/* SPDX-License-Identifier: Apache-2.0 */
/* What stint-kubernetes says of machines whose node class changes, by what a server answers that is made up: the functions of
 * kube_net.h that are used are here. */
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/kubernetes/kube_claims.h"

#define CLASS       "/apis/karpenter.k8s.aws/v1/ec2nodeclasses/default"
#define KEY         "karpenter.k8s.aws/ec2nodeclass-hash"
#define STAMP(h, v) "\"" KEY "\":\"" h "\",\"" KEY "-version\":\"" v "\""
#define IMAGE(i)    "\"imageID\":\"" i "\""
#define AMI(i)      "\"amis\":[{\"id\":\"" i "\"}]"
#define OLD         STAMP("1", "v4")
#define NEW         STAMP("2", "v4")
#define RUNS        "\"providerID\":\"p\""

static struct world {
    struct kube_claims claims;
    struct kube_watch_sink sink;
    struct kube_look look; /* the last, if it is asked */
    char path[KUBE_NET_PATH];
    bool is_asked;
    uint32_t deleted;
    char posted[8192]; /* the last body */
    char said[8192];
} world;

void kube_net_watch(struct kube_net *net, const char *path, const char *selector,
                    enum kube_kind kind, const struct kube_watch_sink *sink)
{
    (void)net;
    (void)path;
    (void)selector;
    assert_int_equal(kind, KUBE_CLAIM);
    world.sink = *sink;
}

void kube_net_send(struct kube_net *net, const struct kube_request *request)
{
    static const struct kube_answer done = { .status = 200, .body = "" };

    (void)net;
    if (strcmp(request->method, "POST") == 0)
        (void)snprintf(world.posted, sizeof(world.posted), "%s", request->body);
    world.deleted += strcmp(request->method, "DELETE") == 0;
    request->on_answer(request->context, &done);
}

void kube_net_look(struct kube_net *net, const struct kube_look *look)
{
    (void)net;
    assert_false(world.is_asked);
    world.look = *look;
    world.is_asked = true;
    (void)snprintf(world.path, sizeof(world.path), "%s", look->path);
}

/* The lines since the last call, each ended by ';', without numbers that are times. */
static const char *said(void)
{
    struct line_text *out = &world.claims.talk.out;

    assert_true(out->size < sizeof(world.said));
    if (out->size > 0)
        memcpy(world.said, out->text, out->size);
    world.said[out->size] = '\0';
    for (char *at = world.said; *at != '\0'; at++) {
        if (*at == '\n')
            *at = ';';
    }
    line_text_reset(out);
    return world.said;
}

static void send_line(const char *text)
{
    char copy[256];
    struct line line;
    struct error error = { "" };

    (void)snprintf(copy, sizeof(copy), "%s", text);
    assert_int_equal(line_parse(copy, strlen(copy), &line, &error), 0);
    kube_claims_line(&world.claims, &line);
}

static int on_claim(void *context, const char *event, const struct kube_object *object)
{
    (void)context;
    world.sink.object(world.sink.context, strcmp(event, "DELETED") == 0, object);
    return 0;
}

static int on_class(void *context, const char *event, const struct kube_object *object)
{
    (void)context;
    (void)event;
    world.look.on_look(world.look.context, 200, object);
    return 0;
}

static void read_object(int (*on)(void *context, const char *event,
                                  const struct kube_object *object),
                        const char *text)
{
    const struct kube_object_sink sink = { .on_object = on };
    struct kube_objects *objects = kube_objects_create(KUBE_OTHER, true, &sink);
    struct error error = { "" };

    assert_int_equal(kube_objects_read(objects, text, strlen(text), &error), 0);
    assert_int_equal(kube_objects_end(objects, &error), 0);
    kube_objects_destroy(objects);
}

/* A claim as the watch reports it. */
static void claim(unsigned id, const char *event, const char *metadata, const char *annotations,
                  const char *status)
{
    char text[2048];

    (void)snprintf(
        text, sizeof(text),
        "{\"type\":\"%s\",\"object\":{\"kind\":\"NodeClaim\",\"metadata\":{\"name\":\"st-%u\",%s\"annotations\":{"
        "\"" KUBE_OFFER "\":\"o\"%s%s}},\"status\":{%s}}}",
        event, id, metadata, annotations[0] != '\0' ? "," : "", annotations, status);
    read_object(on_claim, text);
}

/* The server answers. */
static void answer_class(const char *annotations, const char *status)
{
    char text[2048];

    assert_true(world.is_asked);
    assert_string_equal(world.path, CLASS);
    world.is_asked = false;
    (void)snprintf(text, sizeof(text),
                   "{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"EC2NodeClass\",\"metadata\":{"
                   "\"name\":\"default\",\"annotations\":{%s}},\"status\":{%s}}}",
                   annotations, status);
    read_object(on_class, text);
    assert_true(world.is_asked);
    assert_int_equal(world.look.after_s, 60);
}

static void refuse_class(long status)
{
    assert_true(world.is_asked);
    world.is_asked = false;
    world.look.on_look(world.look.context, status, NULL);
    assert_true(world.is_asked);
}

/* The daemon has said hello. */
static void begin(void)
{
    world = (struct world){ .is_asked = false };
    kube_claims_init(&world.claims);
    world.claims.class_group = "karpenter.k8s.aws";
    world.claims.class_kind = "EC2NodeClass";
    world.claims.class_name = "default";
    send_line("hello protocol=1 cluster=c");
    assert_true(world.is_asked);
    assert_string_equal(world.path, CLASS);
    assert_int_equal(world.look.after_s, 0);
    world.sink.begin(world.sink.context);
    world.sink.end(world.sink.context);
    (void)said();
}

/* And machine 7 runs. */
static void begin_with(const char *annotations, const char *status)
{
    begin();
    claim(7, "ADDED", "", annotations, status);
    assert_non_null(strstr(said(), "running id=7 "));
}

static void end(void)
{
    kube_claims_done(&world.claims);
}

TEST(a_machine_becomes_outdated_when_the_settings_change_and_current_when_they_are_reverted)
{
    begin_with(OLD, RUNS);
    answer_class(OLD, "");
    assert_string_equal(said(), "");
    answer_class(NEW, "");
    assert_string_equal(said(), "outdated id=7 why=settings;");
    answer_class(NEW, "");
    assert_string_equal(said(), "");
    claim(7, "MODIFIED", "", OLD, RUNS);
    assert_string_equal(said(), "");
    answer_class(OLD, "");
    assert_string_equal(said(), "outdated id=7;");
    answer_class(OLD, "");
    assert_string_equal(said(), "");
    end();
}

TEST(a_machine_is_current_when_the_hash_is_computed_otherwise)
{
    begin_with(OLD, RUNS);
    answer_class(STAMP("2", "v5"), "");
    assert_string_equal(said(), "");
    end();
}

TEST(a_machine_becomes_outdated_when_its_image_is_replaced)
{
    begin_with(OLD, RUNS "," IMAGE("ami-1"));
    answer_class(OLD, AMI("ami-1"));
    assert_string_equal(said(), "");
    answer_class(OLD, AMI("ami-2"));
    assert_string_equal(said(), "outdated id=7 why=image;");
    answer_class(NEW, AMI("ami-2"));
    assert_string_equal(said(), "outdated id=7 why=settings;");
    answer_class(OLD, AMI("ami-2"));
    assert_string_equal(said(), "outdated id=7 why=image;");
    answer_class(OLD, "\"amis\":[]");
    assert_string_equal(said(), "outdated id=7;");
    end();
}

TEST(machines_that_come_later_are_compared_with_what_is_known)
{
    begin();
    answer_class(NEW, "");
    claim(1, "ADDED", "", OLD, "");
    assert_string_equal(said(), ""); /* it has no machine yet */
    claim(1, "MODIFIED", "", OLD, RUNS);
    assert_non_null(strstr(said(), ";outdated id=1 why=settings;"));
    claim(2, "ADDED", "", NEW, RUNS);
    assert_null(strstr(said(), "outdated"));
    claim(3, "ADDED", "", "", RUNS);
    assert_null(strstr(said(), "outdated"));
    claim(3, "MODIFIED", "", OLD, RUNS);
    assert_string_equal(said(), "outdated id=3 why=settings;");
    claim(3, "MODIFIED", "", NEW, RUNS);
    assert_string_equal(said(), "outdated id=3;");
    answer_class(OLD, "");
    assert_string_equal(said(),
                        "outdated id=1;outdated id=2 why=settings;outdated id=3 why=settings;");
    end();
}

TEST(each_list_repeats_what_is_outdated)
{
    begin_with(OLD, RUNS);
    claim(8, "ADDED", "", NEW, RUNS);
    answer_class(NEW, "");
    (void)said();
    for (int i = 0; i < 2; i++) {
        const char *text;

        send_line("list key=5");
        text = strstr(said(), "found key=5 id=7 ");
        assert_non_null(text);
        text = strchr(text, ';');
        assert_int_equal(strncmp(text, ";outdated id=7 why=settings;found key=5 id=8 ", 45), 0);
        text = strchr(strstr(text, "id=8"), ';');
        assert_string_equal(text, ";listed key=5 count=2;");
    }
    answer_class(OLD, "");
    (void)said();
    send_line("list key=6");
    assert_null(strstr(said(), "outdated id=7"));
    end();
}

TEST(a_request_that_is_repeated_is_answered_with_what_is_outdated)
{
    const char *text;

    begin_with(OLD, RUNS);
    answer_class(NEW, "");
    (void)said();
    send_line("rent key=7 offer=a/b/c prefix=st-");
    text = said();
    assert_int_equal(strncmp(text, "running id=7 ", 13), 0);
    assert_string_equal(strchr(text, ';'), ";outdated id=7 why=settings;");
    end();
}

TEST(a_machine_that_goes_is_not_reported)
{
    begin_with(OLD, RUNS);
    claim(8, "ADDED", "", OLD, RUNS);
    claim(9, "ADDED", "", OLD, RUNS);
    send_line("give-back key=7");
    claim(8, "MODIFIED", "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",", OLD, RUNS);
    claim(9, "DELETED", "", OLD, RUNS);
    (void)said();
    answer_class(NEW, "");
    assert_string_equal(said(), "");
    send_line("list key=5");
    assert_null(strstr(said(), "outdated"));
    end();
}

TEST(a_machine_that_was_outdated_before_it_goes_is_not_repeated)
{
    begin_with(OLD, RUNS);
    answer_class(NEW, "");
    claim(8, "ADDED", "", OLD, RUNS);
    send_line("give-back key=7");
    (void)said();
    claim(8, "MODIFIED", "\"deletionTimestamp\":\"2026-01-01T00:00:00Z\",", OLD, RUNS);
    assert_null(strstr(said(), "outdated"));
    answer_class(OLD, "");
    assert_string_equal(said(), "");
    answer_class(NEW, "");
    send_line("list key=5");
    send_line("rent key=8 offer=a/b/c prefix=st-");
    assert_null(strstr(said(), "outdated"));
    end();
}

TEST(a_machine_that_is_there_again_is_compared_again)
{
    begin_with(OLD, RUNS);
    answer_class(NEW, "");
    claim(7, "DELETED", "", OLD, RUNS);
    (void)said();
    claim(7, "ADDED", "", OLD, RUNS);
    assert_non_null(strstr(said(), ";outdated id=7 why=settings;"));
    end();
}

/* Else Karpenter would write both, one of the two in vain, and then wait for a second. */
TEST(a_claim_has_the_finalizer_and_the_label_that_karpenter_would_add)
{
    begin();
    send_line("rent key=7 offer=m5.large/a/on-demand prefix=st-");
    assert_non_null(strstr(world.posted, "\"finalizers\":[\"karpenter.sh/termination\"]"));
    assert_non_null(strstr(world.posted,
                           "\"" KUBE_CLUSTER
                           "\":\"c\",\"karpenter.k8s.aws/ec2nodeclass\":\"default\"}"));
    end();
}

TEST(a_node_class_whose_name_is_too_long_for_a_label_gives_none)
{
    char name[80];

    begin();
    memset(name, 'a', 64);
    name[64] = '\0';
    world.claims.class_name = name;
    send_line("rent key=7 offer=m5.large/a/on-demand prefix=st-");
    assert_null(strstr(world.posted, "karpenter.k8s.aws/ec2nodeclass"));
    world.claims.class_name = name + 1;
    send_line("rent key=8 offer=m5.large/a/on-demand prefix=st-");
    assert_non_null(strstr(world.posted, "karpenter.k8s.aws/ec2nodeclass"));
    end();
}

TEST(a_node_class_that_may_not_be_read_is_said_once_and_makes_no_machine_outdated)
{
    const char *text;

    begin_with(OLD, RUNS);
    refuse_class(403);
    text = said();
    assert_int_equal(strncmp(text, "error text=", 11), 0);
    assert_non_null(strstr(text, "ec2nodeclasses"));
    assert_string_equal(world.path, CLASS);
    assert_int_equal(world.look.after_s, 60);
    refuse_class(403);
    assert_string_equal(said(), "");
    answer_class(NEW, ""); /* the right was granted */
    assert_string_equal(said(), "outdated id=7 why=settings;");
    refuse_class(403);
    text = said();
    assert_int_equal(strncmp(text, "error text=", 11), 0);
    assert_string_equal(strchr(text, ';') + 1, "outdated id=7;");
    end();
}

TEST(a_node_class_that_is_not_there_is_sought_in_other_versions)
{
    begin_with(OLD, RUNS);
    refuse_class(404);
    assert_string_equal(world.path, "/apis/karpenter.k8s.aws/v1beta1/ec2nodeclasses/default");
    assert_int_equal(world.look.after_s, 0);
    refuse_class(404);
    assert_string_equal(world.path, "/apis/karpenter.k8s.aws/v1alpha1/ec2nodeclasses/default");
    assert_int_equal(world.look.after_s, 0);
    assert_string_equal(said(), "");
    refuse_class(404);
    assert_int_equal(strncmp(said(), "error text=", 11), 0);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(world.path, CLASS);
        assert_int_equal(world.look.after_s, 60);
        refuse_class(404);
        refuse_class(404);
        refuse_class(404);
    }
    assert_string_equal(said(), "");
    end();
}

TEST(a_version_that_was_found_is_asked_for_again)
{
    begin_with(OLD, RUNS);
    refuse_class(404);
    (void)snprintf(world.path, sizeof(world.path), "%s", CLASS); /* what answer_class expects */
    answer_class(NEW, "");
    assert_string_equal(said(), "outdated id=7 why=settings;");
    assert_string_equal(world.path, "/apis/karpenter.k8s.aws/v1beta1/ec2nodeclasses/default");
    end();
}

TEST(an_answer_that_cannot_be_read_changes_nothing)
{
    begin_with(OLD, RUNS);
    answer_class(NEW, "");
    (void)said();
    refuse_class(0);
    refuse_class(401);
    assert_string_equal(said(), "");
    assert_string_equal(world.path, CLASS);
    assert_int_equal(world.look.after_s, 60);
    end();
}

CHECK_MAIN(
    RUN(a_machine_becomes_outdated_when_the_settings_change_and_current_when_they_are_reverted),
    RUN(a_machine_is_current_when_the_hash_is_computed_otherwise),
    RUN(a_machine_becomes_outdated_when_its_image_is_replaced),
    RUN(machines_that_come_later_are_compared_with_what_is_known),
    RUN(each_list_repeats_what_is_outdated),
    RUN(a_request_that_is_repeated_is_answered_with_what_is_outdated),
    RUN(a_machine_that_goes_is_not_reported),
    RUN(a_machine_that_was_outdated_before_it_goes_is_not_repeated),
    RUN(a_machine_that_is_there_again_is_compared_again),
    RUN(a_claim_has_the_finalizer_and_the_label_that_karpenter_would_add),
    RUN(a_node_class_whose_name_is_too_long_for_a_label_gives_none),
    RUN(a_node_class_that_may_not_be_read_is_said_once_and_makes_no_machine_outdated),
    RUN(a_node_class_that_is_not_there_is_sought_in_other_versions),
    RUN(a_version_that_was_found_is_asked_for_again),
    RUN(an_answer_that_cannot_be_read_changes_nothing))
