/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_uninstall.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "engine/kubernetes/kube_ask.h"
#include "engine/kubernetes/kube_release.h"
#include "engine/kubernetes/kube_talk.h"

enum { LEASE_MS = 30000, POLICY_S = 3, PAGE = 50 };

#define POLICIES "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolic"
#define RBAC     "/apis/rbac.authorization.k8s.io/v1"
#define LEASE    "/apis/coordination.k8s.io/v1/namespaces/stint/leases/stint"
#define CLAIMS   "/apis/karpenter.sh/v1/nodeclaims"

struct removal {
    struct kube_net *net;
    bool is_dry;
    bool is_refused;
    uint32_t left; /* machines */
};

static struct kube_reply ask(struct removal *removal, const char *method, const char *path,
                             const char *body)
{
    return kube_ask(removal->net, method, path, body != NULL ? KUBE_MERGE : NULL, body);
}

/* Say what is done, do it, and say what came of it. What is not there any more is as good. */
static void change(struct removal *removal, const char *what, const char *method, const char *path,
                   const char *body)
{
    struct kube_reply reply;

    if (removal->is_dry) {
        (void)printf("would be done: %s\n", what);
        return;
    }
    reply = ask(removal, method, path, body);
    if (reply.status >= 200 && reply.status < 300) {
        (void)printf("%s\n", what);
    } else if (reply.status != KUBE_NOT_FOUND) {
        (void)printf("refused: %s: %s\n", what, kube_reply_why(&reply));
        removal->is_refused = true;
    }
    json_decref(reply.root);
}

/* The same for a thing that is deleted; whether it was there. */
static bool delete_one(struct removal *removal, const char *what, const char *path)
{
    struct kube_reply reply = ask(removal, "GET", path, NULL);

    if (reply.status == 200)
        change(removal, what, "DELETE", path, NULL);
    else if (reply.status != KUBE_NOT_FOUND)
        removal->is_refused = true;
    json_decref(reply.root);
    return reply.status == 200;
}

/* What the list has, page by page; a kind that is not there has nothing. */
static void each_item(struct removal *removal, const char *list,
                      void (*each)(struct removal *removal, json_t *item))
{
    char next[KUBE_NET_PATH / 2] = "";

    do {
        char path[KUBE_NET_PATH];
        struct kube_reply reply;
        const char *more;
        json_t *item;
        size_t i;

        (void)snprintf(path, sizeof(path), "%s&limit=%d%s%s", list, PAGE,
                       next[0] != '\0' ? "&continue=" : "", next);
        reply = ask(removal, "GET", path, NULL);
        removal->is_refused |=
            reply.status != KUBE_NOT_FOUND && (reply.status != 200 || reply.root == NULL);
        json_array_foreach(json_object_get(reply.root, "items"), i, item) each(removal, item);
        more = kube_reply_text(reply.root, "metadata", "continue");
        (void)snprintf(next, sizeof(next), "%s", more != NULL ? more : "");
        json_decref(reply.root);
    } while (next[0] != '\0');
}

static void unlabel_namespace(struct removal *removal, json_t *item)
{
    const char *name = kube_reply_text(item, "metadata", "name");
    char what[KUBE_NAME + 64];
    char path[KUBE_NET_PATH];

    if (name == NULL || !kube_talk_is_name(name))
        return;
    (void)snprintf(what, sizeof(what), "namespace %s: label removed", name);
    (void)snprintf(path, sizeof(path), "/api/v1/namespaces/%s", name);
    change(removal, what, "PATCH", path, "{\"metadata\":{\"labels\":{\"" KUBE_MANAGED "\":null}}}");
}

/* Pods that were created under the policy's last second are to be seen too. */
static void remove_policy(struct removal *removal)
{
    const struct timespec pause = { .tv_sec = POLICY_S };
    const bool was_bound =
        delete_one(removal, "policy binding stint-gate: deleted", POLICIES "ybindings/stint-gate");
    const bool was_there =
        delete_one(removal, "policy stint-gate: deleted", POLICIES "ies/stint-gate");

    if ((was_bound || was_there) && !removal->is_dry)
        (void)nanosleep(&pause, NULL);
}

static int release_pods(struct removal *removal, struct kube_client *client, struct error *reterr)
{
    struct kube_net *net = kube_net_create(client);
    struct kube_released released = { 0 };
    const int rc = kube_release_all(net, removal->is_dry, &released, reterr);

    kube_net_destroy(net);
    if (rc == 0)
        (void)printf("%s%u gates opened, %u labels of other pods removed, %u refused\n",
                     removal->is_dry ? "would be done: " : "", released.opened, released.unlabelled,
                     released.refused);
    removal->is_refused |= released.refused > 0;
    return rc;
}

static bool is_work(json_t *pod)
{
    json_t *owners = json_object_get(json_object_get(pod, "metadata"), "ownerReferences");
    const char *kind = json_string_value(json_object_get(json_array_get(owners, 0), "kind"));
    const char *phase = kube_reply_text(pod, "status", "phase");
    const bool is_of_node =
        kind != NULL && (strcmp(kind, "DaemonSet") == 0 || strcmp(kind, "Node") == 0);
    const bool has_ended =
        phase != NULL && (strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0);

    return !is_of_node && !has_ended;
}

/* Whether nothing runs on the node but what ends with it; not if that is not known. */
static bool is_empty(struct removal *removal, const char *node)
{
    char path[KUBE_NET_PATH];
    struct kube_reply reply;
    const char *more;
    json_t *pod;
    size_t i;
    bool is_work_there = false;

    (void)snprintf(path, sizeof(path), "/api/v1/pods?fieldSelector=spec.nodeName%%3D%s&limit=%d",
                   node, PAGE);
    reply = ask(removal, "GET", path, NULL);
    json_array_foreach(json_object_get(reply.root, "items"), i, pod) is_work_there |= is_work(pod);
    more = kube_reply_text(reply.root, "metadata", "continue");
    is_work_there |= reply.status != 200 || reply.root == NULL || (more != NULL && more[0] != '\0');
    json_decref(reply.root);
    return !is_work_there;
}

static void remove_claim(struct removal *removal, json_t *claim)
{
    const char *name = kube_reply_text(claim, "metadata", "name");
    const char *node = kube_reply_text(claim, "status", "nodeName");
    char what[KUBE_NAME + 64];
    char path[KUBE_NET_PATH];

    if (name == NULL || !kube_talk_is_name(name))
        return;
    if (node != NULL && (!kube_talk_is_name(node) || !is_empty(removal, node))) {
        removal->left++;
        (void)printf("machine %s: left, as pods run on it\n", name);
        return;
    }
    (void)snprintf(what, sizeof(what), "machine %s: returned", name);
    (void)snprintf(path, sizeof(path), CLAIMS "/%s", name);
    change(removal, what, "DELETE", path, NULL);
}

static void remove_rights(struct removal *removal)
{
    (void)delete_one(removal, "cluster role binding stint: deleted",
                     RBAC "/clusterrolebindings/stint");
    (void)delete_one(removal, "cluster role stint: deleted", RBAC "/clusterroles/stint");
    (void)delete_one(removal, "namespace stint: deleted", "/api/v1/namespaces/stint");
}

/* Whether the lease was renewed a short time ago. */
static bool is_alive(struct removal *removal)
{
    struct kube_reply reply = ask(removal, "GET", LEASE, NULL);
    const char *renewed = kube_reply_text(reply.root, "spec", "renewTime");
    const msec_t at = reply.status == 200 && renewed != NULL ? kube_talk_time(renewed) : -1;
    const msec_t now = (msec_t)time(NULL) * MSEC_PER_SEC;

    json_decref(reply.root);
    return at >= 0 && now - at < LEASE_MS;
}

static int remove_all(struct removal *removal, struct kube_client *client, struct error *reterr)
{
    int rc;

    if (is_alive(removal) && !removal->is_dry)
        return error_set(reterr, -EBUSY,
                         "Stint has renewed its lease within 30 s: stop stintd first");
    each_item(removal, "/api/v1/namespaces?labelSelector=stint.dev%2Fmanaged", unlabel_namespace);
    remove_policy(removal);
    rc = release_pods(removal, client, reterr);
    if (rc < 0)
        return rc;
    each_item(removal, CLAIMS "?labelSelector=stint.dev%2Fcluster", remove_claim);
    remove_rights(removal);
    if (removal->is_refused)
        return error_set(reterr, -EIO, "the API server refused some of it; it can be repeated");
    if (removal->left > 0 && !removal->is_dry)
        return error_set(
            reterr, -EBUSY,
            "%u machines still run pods and cost money; repeat it when these have ended "
            "or moved",
            removal->left);
    return 0;
}

int kube_uninstall(struct kube_client *client, bool is_dry, struct error *reterr)
{
    struct removal removal = { .net = kube_net_create(client), .is_dry = is_dry };
    const int rc = remove_all(&removal, client, reterr);

    kube_net_destroy(removal.net);
    return rc;
}
