/* SPDX-License-Identifier: Apache-2.0 */
/* Where the volumes of a pod allow it to run, by what a server answers that is made up. */
#include <stdio.h>
#include <string.h>

#include "base/test/check.h"
#include "engine/kubernetes/kube_volumes.h"

#define ZONE "topology.kubernetes.io/zone"
#define PVC  "/api/v1/namespaces/a/persistentvolumeclaims/"
#define PV   "/api/v1/persistentvolumes/"
#define SC   "/apis/storage.k8s.io/v1/storageclasses/"

struct row {
    const char *path;
    long status; /* 0: 200 */
    const char *spec;
};

/* The last request that has no answer yet. */
struct server {
    struct kube_volumes *volumes;
    char path[256];
    enum kube_kind kind;
    int after_s;
    uint64_t cookie;
    bool is_asked;
    uint32_t known;
    char waited[64];
};

static void on_ask(void *context, const char *path, enum kube_kind kind, int after_s,
                   uint64_t cookie)
{
    struct server *server = context;

    assert_false(server->is_asked);
    (void)snprintf(server->path, sizeof(server->path), "%s", path);
    server->kind = kind;
    server->after_s = after_s;
    server->cookie = cookie;
    server->is_asked = true;
}

static void on_known(void *context, const char *space, const char *name)
{
    struct server *server = context;

    assert_string_equal(space, "a");
    assert_string_equal(name, "p");
    server->known++;
}

static void on_wait(void *context, const struct kube_volumes_wait *wait)
{
    struct server *server = context;

    assert_string_equal(wait->uid, "u");
    assert_true(strlen(server->waited) + strlen(wait->claim) + 2 <= sizeof(server->waited));
    memcpy(server->waited + strlen(server->waited), wait->claim, strlen(wait->claim) + 1);
    memcpy(server->waited + strlen(server->waited), ";", 2);
}

static void begin(struct server *server)
{
    *server = (struct server){ .known = 0 };
    server->volumes = kube_volumes_create(&(struct kube_volumes_config){
        .ask = on_ask, .on_known = on_known, .on_wait = on_wait, .context = server });
}

struct asked {
    struct server *server;
    bool is_known;
    char words[256];
    const char *why;
    long status;
};

static int on_pod(void *context, const char *event, const struct kube_object *pod)
{
    struct asked *asked = context;
    const char *words;

    (void)event;
    asked->is_known = kube_volumes_of(asked->server->volumes, pod, &words, &asked->why);
    (void)snprintf(asked->words, sizeof(asked->words), "%s", words);
    return 0;
}

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    const struct asked *asked = context;

    (void)event;
    kube_volumes_answer(asked->server->volumes, asked->server->cookie, 200, object);
    return 0;
}

static void read_object(struct asked *asked, enum kube_kind kind, const char *object,
                        int (*on)(void *context, const char *event,
                                  const struct kube_object *object))
{
    const struct kube_object_sink sink = { .on_object = on, .context = asked };
    struct kube_objects *objects = kube_objects_create(kind, false, &sink);
    struct error error = { "" };
    char text[2048];

    (void)snprintf(text, sizeof(text), "{\"items\":[%s]}", object);
    assert_int_equal(kube_objects_read(objects, text, strlen(text), &error), 0);
    kube_objects_destroy(objects);
}

/* A pod with the volumes. */
static struct asked look(struct server *server, const char *volumes)
{
    struct asked asked = { .server = server };
    char text[1024];

    (void)snprintf(
        text, sizeof(text),
        "{\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\",\"namespace\":\"a\",\"uid\":\"u\"},"
        "\"spec\":{\"volumes\":[%s]}}",
        volumes);
    read_object(&asked, KUBE_POD, text, on_pod);
    return asked;
}

/* The server answers one request, by its table. */
static void answer(struct server *server, const struct row *rows)
{
    struct asked asked = { .server = server };

    assert_true(server->is_asked);
    server->is_asked = false;
    for (; rows->path != NULL && strcmp(rows->path, server->path) != 0; rows++)
        ;
    if (rows->path == NULL || rows->status != 0)
        kube_volumes_answer(server->volumes, server->cookie,
                            rows->path != NULL ? rows->status : 404, NULL);
    else
        read_object(&asked, server->kind, rows->spec, on_object);
}

#define CLAIM(name)     "{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":\"" name "\"}}"
#define BOUND(name)     "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"volumeName\":\"" name "\"}}"
#define OF(class)       "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"storageClassName\":\"" class "\"}}"
#define IN(key, values) "{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[" values "]}"
#define VOLUME(expressions)                                                                           \
    "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":" \
    "[{\"matchExpressions\":[" expressions "]}]}}}}"

static void expect(const struct row *rows, const char *volumes, const char *words, const char *why)
{
    struct server server;
    struct asked asked;

    begin(&server);
    asked = look(&server, volumes);
    for (int i = 0; !asked.is_known && i < 10; i++) {
        answer(&server, rows);
        assert_int_equal(server.after_s, 0);
        asked = look(&server, volumes);
    }
    assert_true(asked.is_known);
    assert_int_equal(server.known, server.path[0] != '\0');
    assert_string_equal(asked.words, words);
    if (why == NULL)
        assert_null(asked.why);
    else
        assert_non_null(strstr(asked.why, why));
    kube_volumes_destroy(server.volumes);
}

TEST(a_volume_says_where_the_pod_may_run)
{
    static const struct row rows[] = {
        { PVC "z", 0, BOUND("pv-z") },
        { PV "pv-z", 0,
          VOLUME(IN(ZONE, "\"z1\"") "," IN("topology.kubernetes.io/region", "\"r\"")) },
        { PVC "ebs", 0, BOUND("pv-ebs") },
        { PV "pv-ebs", 0, VOLUME(IN("topology.ebs.csi.aws.com/zone", "\"z1\",\"z2\"")) },
        { PVC "nfs", 0, BOUND("pv-nfs") },
        { PV "pv-nfs", 0, "{\"metadata\":{\"name\":\"v\"},\"spec\":{}}" },
        { PVC "local", 0, BOUND("pv-local") },
        { PV "pv-local", 0, VOLUME(IN("kubernetes.io/hostname", "\"n1\"")) },
        { PVC "late", 0, OF("late") },
        { SC "late", 0,
          "{\"metadata\":{\"name\":\"s\"},\"provisioner\":\"e\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}" },
        { PVC "hand", 0, OF("hand") },
        { SC "hand", 0,
          "{\"metadata\":{\"name\":\"s\"},\"provisioner\":\"kubernetes.io/no-provisioner\",\"volumeBindingMode\":\"WaitForFirstConsumer\"}" },
        { PVC "some", 0, OF("some") },
        { SC "some", 0,
          "{\"metadata\":{\"name\":\"s\"},\"provisioner\":\"e\",\"volumeBindingMode\":\"WaitForFirstConsumer\",\"allowedTopologies\":[{}]}" },
        { PVC "secret", 403, NULL },
        { NULL, 0, NULL },
    };

    expect(rows, "", "", NULL);
    expect(rows, "{\"name\":\"v\",\"emptyDir\":{}}", "", NULL);
    expect(rows, CLAIM("z"), "(((zone=z1)))", NULL);
    expect(rows, CLAIM("ebs"), "(((zone=z1|zone=z2)))", NULL);
    expect(rows, CLAIM("nfs"), "", NULL);
    expect(rows, CLAIM("z") "," CLAIM("nfs") "," CLAIM("ebs"),
           "(((zone=z1)))&(((zone=z1|zone=z2)))", NULL);
    expect(rows, CLAIM("late"), "", NULL);
    expect(rows, CLAIM("local"), "", "in a form unknown to Stint");
    expect(rows, CLAIM("hand"), "", "in some places only");
    expect(rows, CLAIM("some"), "", "in some places only");
    expect(rows, CLAIM("secret"), "", "may not read");
    expect(rows, CLAIM("../x"), "", "no name");
    expect(rows, "{\"name\":\"v\",\"csi\":{\"driver\":\"d\"}}", "", "unknown to Stint");
}

/* As kube-scheduler would. */
TEST(a_claim_that_is_not_bound_yet_is_waited_for)
{
    static const struct row nothing[] = { { NULL, 0, NULL } };
    static const struct row pending[] = {
        { PVC "c", 0, OF("now") },
        { SC "now", 0,
          "{\"metadata\":{\"name\":\"s\"},\"provisioner\":\"e\",\"volumeBindingMode\":\"Immediate\"}" },
        { NULL, 0, NULL },
    };
    static const struct row bound[] = {
        { PVC "c", 0, BOUND("pv") },
        { PV "pv", 0, VOLUME(IN(ZONE, "\"z1\"")) },
        { NULL, 0, NULL },
    };
    struct server server;
    struct asked asked;

    begin(&server);
    assert_false(look(&server, CLAIM("c")).is_known);
    answer(&server, nothing); /* it is not there */
    assert_true(server.is_asked);
    assert_int_equal(server.after_s, 5);
    for (int i = 0; i < 9; i++)
        answer(&server, nothing);
    assert_int_equal(server.after_s, 60);
    assert_false(look(&server, CLAIM("c")).is_known);
    answer(&server, pending);
    answer(&server, pending);
    assert_true(server.is_asked && server.after_s > 0);
    answer(&server, bound);
    answer(&server, bound);
    assert_int_equal(server.known, 1);
    assert_string_equal(server.waited, "c;"); /* once */
    asked = look(&server, CLAIM("c"));
    assert_true(asked.is_known);
    assert_string_equal(asked.words, "(((zone=z1)))");
    kube_volumes_destroy(server.volumes);
}

TEST(an_answer_for_a_pod_that_is_gone_is_passed_over)
{
    static const struct row bound[] = { { PVC "c", 0, BOUND("pv") }, { NULL, 0, NULL } };
    struct server server;

    begin(&server);
    assert_false(look(&server, CLAIM("c")).is_known);
    kube_volumes_gone(server.volumes, "u");
    answer(&server, bound);
    assert_false(server.is_asked);
    assert_false(look(&server, CLAIM("c")).is_known);
    kube_volumes_begin(server.volumes);
    kube_volumes_end(server.volumes); /* no list has it */
    answer(&server, bound);
    assert_false(server.is_asked);
    assert_int_equal(server.known, 0);
    kube_volumes_destroy(server.volumes);
}

CHECK_MAIN(RUN(a_volume_says_where_the_pod_may_run),
           RUN(a_claim_that_is_not_bound_yet_is_waited_for),
           RUN(an_answer_for_a_pod_that_is_gone_is_passed_over))
