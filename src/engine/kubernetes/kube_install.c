/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_install.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "engine/kubernetes/kube_ask.h"
#include "engine/kubernetes/kube_talk.h"
#include "trace/doc.h"

#define IMAGE_WORD "IMAGE" /* stands for the image, behind "image: " */

enum { IMAGE_TEXT = 512 };

struct putting {
    struct kube_net *net;
    const struct kube_install *options;
    bool is_refused;
};

/* What an object is, and where. */
struct thing {
    const char *kind;
    const char *name;
    char path[KUBE_NET_PATH];
};

static const char *text_of(const struct doc_node *map, const char *key)
{
    const struct doc_node *node = map != NULL ? doc_find(map, key) : NULL;

    return node != NULL && node->kind == DOC_SCALAR ? node->text : NULL;
}

static const char *plural_of(const char *kind)
{
    static const struct {
        const char *kind;
        const char *plural;
    } kinds[] = {
        { "Namespace", "namespaces" },
        { "ServiceAccount", "serviceaccounts" },
        { "ConfigMap", "configmaps" },
        { "PersistentVolumeClaim", "persistentvolumeclaims" },
        { "Deployment", "deployments" },
        { "ClusterRole", "clusterroles" },
        { "ClusterRoleBinding", "clusterrolebindings" },
        { "Role", "roles" },
        { "RoleBinding", "rolebindings" },
        { "MutatingAdmissionPolicy", "mutatingadmissionpolicies" },
        { "MutatingAdmissionPolicyBinding", "mutatingadmissionpolicybindings" },
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].plural;
    }
    return NULL;
}

static int read_thing(const char *text, size_t length, struct arena *arena, struct thing *ret,
                      struct error *reterr)
{
    const struct doc_node *root = NULL;
    const struct doc_node *meta;
    const char *version;
    const char *space;
    const int rc = doc_parse(text, length, arena, &root, reterr);

    if (rc < 0)
        return rc;
    meta = doc_find(root, "metadata");
    version = text_of(root, "apiVersion");
    space = text_of(meta, "namespace");
    ret->kind = text_of(root, "kind");
    ret->name = text_of(meta, "name");
    if (version == NULL || ret->kind == NULL || ret->name == NULL || plural_of(ret->kind) == NULL)
        return error_set(reterr, -EINVAL, "the manifest is malformed");
    (void)snprintf(ret->path, sizeof(ret->path), "%s/%s%s%s/%s/%s",
                   strchr(version, '/') != NULL ? "/apis" : "/api", version,
                   space != NULL ? "/namespaces/" : "", space != NULL ? space : "",
                   plural_of(ret->kind), ret->name);
    return 0;
}

static void say(const struct thing *thing, const char *what)
{
    (void)printf("%s %s: %s\n", thing->kind, thing->name, what);
}

static void refuse(struct putting *putting, const struct thing *thing,
                   const struct kube_reply *reply)
{
    if (reply->status == KUBE_NOT_FOUND && strncmp(thing->kind, "Mutating", 8) == 0) {
        say(thing,
            "left out, as this API server has no such policies: pod templates must carry the "
            "gate, the label and the toleration themselves");
        return;
    }
    (void)printf("%s %s: refused: %s\n", thing->kind, thing->name, kube_reply_why(reply));
    putting->is_refused = true;
}

static void apply(struct putting *putting, const struct thing *thing, const char *body)
{
    struct kube_reply before = kube_ask(putting->net, "GET", thing->path, NULL, NULL);
    const bool is_there = before.status == 200;
    const char *old = is_there ? kube_reply_text(before.root, "metadata", "resourceVersion") : NULL;
    char path[KUBE_NET_PATH + 64];

    if (!is_there && before.status != KUBE_NOT_FOUND) {
        refuse(putting, thing, &before);
    } else if (putting->options->is_dry) {
        say(thing, is_there ? "there; would be applied" : "would be created");
    } else {
        (void)snprintf(path, sizeof(path), "%s?fieldManager=stint&force=true", thing->path);

        struct kube_reply reply = kube_ask(putting->net, "PATCH", path, KUBE_APPLY, body);
        const char *new = kube_reply_text(reply.root, "metadata", "resourceVersion");

        if (reply.status < 200 || reply.status >= 300)
            refuse(putting, thing, &reply);
        else if (!is_there)
            say(thing, "created");
        else
            say(thing,
                old != NULL && new != NULL &&strcmp(old, new) == 0 ? "unchanged" : "changed");
        json_decref(reply.root);
    }
    json_decref(before.root);
}

/* The documents of a manifest, one after the other. */
static int apply_all(struct putting *putting, const char *text, struct error *reterr)
{
    while (*text != '\0') {
        const char *end = strstr(text, "\n---\n");
        const size_t length = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
        char *body = mem_alloc(length + 1, 1);
        struct thing thing;
        struct arena arena;
        int rc;

        memcpy(body, text, length);
        arena_init(&arena);
        rc = read_thing(body, length, &arena, &thing, reterr);
        if (rc == 0)
            apply(putting, &thing, body);
        arena_done(&arena);
        mem_free(body);
        if (rc < 0)
            return rc;
        text += end != NULL ? length + 4 : length;
    }
    return 0;
}

/*
 * The daemon.
 */

/* It must fit the places where the pod has its files. */
static int check_conf(const struct kube_install *options, struct error *reterr)
{
    const struct doc_node *root = NULL;
    const struct doc_node *engine;
    struct arena arena;
    int rc;

    arena_init(&arena);
    rc = doc_parse(options->conf, strlen(options->conf), &arena, &root, reterr);
    if (rc == 0) {
        const char *catalogue = text_of(root, "catalogue");
        const char *state = text_of(root, "state");

        engine = doc_find(root, "engine");
        if (catalogue == NULL || strcmp(catalogue, "catalogue.yaml") != 0)
            rc = error_set(reterr, -EINVAL, "stint.conf: in a pod, catalogue is catalogue.yaml");
        else if (state == NULL || strncmp(state, "/var/lib/stint/", 15) != 0)
            rc = error_set(reterr, -EINVAL,
                           "stint.conf: in a pod, state is a file in /var/lib/stint");
        else if (text_of(engine, "kind") == NULL ||
                 strcmp(text_of(engine, "kind"), "kubernetes") != 0 ||
                 text_of(engine, "kubeconfig") != NULL)
            rc = error_set(
                reterr, -EINVAL,
                "stint.conf: in a pod, engine is { kind: kubernetes }, without a kubeconfig");
    }
    arena_done(&arena);
    return rc;
}

static bool is_image(const char *text)
{
    const size_t length = strlen(text);

    return length > 0 && length < IMAGE_TEXT &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_/:@") ==
               length;
}

/* With the image in the place of the word, but not in comments. */
static char *daemon_text(const char *image)
{
    static const char before[] = "image: ";
    const size_t length = strlen(image);
    const char *from = strstr(kube_daemon_manifest, "apiVersion");
    char *text = mem_alloc(strlen(kube_daemon_manifest) + (size_t)8 * IMAGE_TEXT, 1);
    char *to = text;

    for (const char *at = strstr(from, before); at != NULL; at = strstr(from, before)) {
        const size_t size = (size_t)(at - from) + sizeof(before) - 1;

        memcpy(to, from, size);
        memcpy(to + size, image, length + 1); /* its end is written over */
        to += size + length;
        from += size + sizeof(IMAGE_WORD) - 1;
    }
    memcpy(to, from, strlen(from) + 1);
    return text;
}

static int apply_daemon(struct putting *putting, struct error *reterr)
{
    const struct kube_install *options = putting->options;
    json_t *map = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s}}", "apiVersion", "v1", "kind",
                            "ConfigMap", "metadata", "name", "stint", "namespace", "stint", "data",
                            "stint.conf", options->conf, "catalogue.yaml", options->catalogue);
    char *body = map != NULL ? json_dumps(map, JSON_COMPACT) : NULL;
    struct thing thing = { .kind = "ConfigMap", .name = "stint" };
    char *text;
    int rc;

    json_decref(map);
    if (body == NULL)
        return error_set(reterr, -EINVAL, "the configuration or the catalogue is no UTF-8");
    (void)snprintf(thing.path, sizeof(thing.path), "/api/v1/namespaces/stint/configmaps/stint");
    apply(putting, &thing, body);
    free(body);
    text = daemon_text(options->image);
    rc = apply_all(putting, text, reterr);
    mem_free(text);
    return rc;
}

int kube_install(struct kube_client *client, const struct kube_install *options,
                 struct error *reterr)
{
    struct putting putting = { .options = options };
    int rc = options->image != NULL ? check_conf(options, reterr) : 0;

    if (rc == 0 && options->image != NULL && !is_image(options->image))
        rc = error_set(reterr, -EINVAL, "--image is no name of an image");
    if (rc < 0)
        return rc;
    putting.net = kube_net_create(client);
    rc = apply_all(&putting, kube_manifest, reterr);
    if (rc == 0 && options->image != NULL)
        rc = apply_daemon(&putting, reterr);
    kube_net_destroy(putting.net);
    if (rc == 0 && putting.is_refused)
        rc = error_set(reterr, -EIO, "the API server refused some of it; it can be repeated");
    return rc;
}
