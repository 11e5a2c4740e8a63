/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_lead.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/kubernetes/kube_talk.h"

#define LEASES "/apis/coordination.k8s.io/v1/namespaces/stint/leases"
#define LEADER "stint-leader"

enum {
    LOOK_MS = 2000,
    TURN_MS = 200,
    ASK_S = 5, /* twice within KUBE_LEAD_GIVE_UP_MS */
    BODY_TEXT = 1024,
    TIME_TEXT = 64,
    LASTS_MOST_S = 3600,
    EXIT_NO_COMMAND = 127,
    EXIT_SIGNAL = 128
};

/*
 * Whose it is.
 */

int kube_lead_read(const char *text, size_t size, struct kube_lead_seen *ret)
{
    json_t *root = json_loadb(text, size, 0, NULL);
    const json_t *spec = json_object_get(root, "spec");
    const char *holder = json_string_value(json_object_get(spec, "holderIdentity"));
    const char *version =
        json_string_value(json_object_get(json_object_get(root, "metadata"), "resourceVersion"));
    const json_int_t lasts = json_integer_value(json_object_get(spec, "leaseDurationSeconds"));
    const json_int_t changes = json_integer_value(json_object_get(spec, "leaseTransitions"));
    const bool is_lease = kube_talk_is_name(version);

    *ret = (struct kube_lead_seen){
        .lasts_ms =
            lasts > 0 && lasts <= LASTS_MOST_S ? (msec_t)lasts * MSEC_PER_SEC : KUBE_LEAD_LASTS_MS,
        .transitions = changes > 0 && changes < INT32_MAX ? (uint64_t)changes : 0,
    };
    if (is_lease) {
        (void)snprintf(ret->version, sizeof(ret->version), "%s", version);
        (void)snprintf(ret->holder, sizeof(ret->holder), "%s", holder != NULL ? holder : "");
    }
    json_decref(root);
    return is_lease ? 0 : -EBADMSG;
}

enum kube_lead_move kube_lead_judge(struct kube_lead *lead, const struct kube_lead_seen *seen,
                                    msec_t now_ms)
{
    if (strcmp(seen->holder, lead->identity) == 0)
        return KUBE_LEAD_WRITE;
    if (lead->held_ms >= 0)
        return KUBE_LEAD_LOST;
    if (strcmp(seen->version, lead->version) != 0) {
        memcpy(lead->version, seen->version, sizeof(lead->version));
        lead->seen_ms = now_ms;
    }
    if (seen->holder[0] == '\0' || now_ms - lead->seen_ms >= seen->lasts_ms)
        return KUBE_LEAD_WRITE;
    return KUBE_LEAD_WAIT;
}

/*
 * Asking for it.
 */

struct leading {
    struct kube_lead lead;
    struct kube_net *net;
    msec_t due_ms;
    msec_t sent_ms; /* the write that is under way */
    struct kube_lead_seen
        own; /* what the server answered to the last renewal; without a version: look first */
    bool is_asked;
    bool is_lost;
    pid_t child; /* 0: none */
};

static msec_t monotonic_ms(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (msec_t)at.tv_sec * MSEC_PER_SEC + at.tv_nsec / 1000000;
}

/* 'seen' NULL: there is none yet. Without a holder it is returned. */
static void print_lease(const struct leading *leading, const char *holder,
                        const struct kube_lead_seen *seen, char *buf, size_t size)
{
    const bool is_new = seen == NULL || strcmp(seen->holder, leading->lead.identity) != 0;
    char version[KUBE_NAME + 32] = "";
    char since[2 * TIME_TEXT] = "";
    char now[TIME_TEXT];

    kube_talk_now(now, sizeof(now));
    if (seen != NULL)
        (void)snprintf(version, sizeof(version), ",\"resourceVersion\":\"%s\"", seen->version);
    if (is_new)
        (void)snprintf(since, sizeof(since),
                       ",\"acquireTime\":\"%s\",\"leaseTransitions\":%" PRIu64, now,
                       seen != NULL ? seen->transitions + 1 : 0);
    (void)snprintf(
        buf, size,
        "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{\"name\":\"" LEADER
        "\"%s},\"spec\":{\"holderIdentity\":\"%s\",\"leaseDurationSeconds\":%d,\"renewTime\":\"%s\"%s}}",
        version, holder, (int)(KUBE_LEAD_LASTS_MS / MSEC_PER_SEC), now, since);
}

static void on_written(void *context, const struct kube_answer *answer)
{
    struct leading *leading = context;

    leading->is_asked = false;
    leading->own.version[0] = '\0';
    if (answer->status < 200 || answer->status >= 300)
        return;
    leading->lead.held_ms = leading->sent_ms;
    (void)kube_lead_read(answer->body, answer->size, &leading->own);
}

static void write_lease(struct leading *leading, const char *holder,
                        const struct kube_lead_seen *seen)
{
    char body[BODY_TEXT];

    print_lease(leading, holder, seen, body, sizeof(body));
    leading->sent_ms = monotonic_ms();
    kube_net_send(leading->net,
                  &(struct kube_request){ .method = seen != NULL ? "PATCH" : "POST",
                                          .path = seen != NULL ? LEASES "/" LEADER : LEASES,
                                          .type = seen != NULL ? "application/merge-patch+json"
                                                               : "application/json",
                                          .body = body,
                                          .seconds = ASK_S,
                                          .on_answer = on_written,
                                          .context = leading });
}

static void on_seen(void *context, const struct kube_answer *answer)
{
    struct leading *leading = context;
    struct kube_lead_seen seen;

    leading->is_asked = false;
    if (answer->status == 404) {
        leading->is_asked = true;
        write_lease(leading, leading->lead.identity, NULL);
        return;
    }
    if (answer->status != 200 || kube_lead_read(answer->body, answer->size, &seen) < 0)
        return;
    switch (kube_lead_judge(&leading->lead, &seen, monotonic_ms())) {
    case KUBE_LEAD_WRITE:
        leading->is_asked = true;
        write_lease(leading, leading->lead.identity, &seen);
        break;
    case KUBE_LEAD_LOST:
        leading->is_lost = true;
        break;
    case KUBE_LEAD_WAIT:
        break;
    }
}

/* Who knows the version that it wrote last need not look: if another one has written since, the server refuses. */
static void look_or_renew(struct leading *leading)
{
    const struct kube_lead_seen own = leading->own;

    leading->is_asked = true;
    if (leading->lead.held_ms >= 0 && own.version[0] != '\0' &&
        strcmp(own.holder, leading->lead.identity) == 0)
        write_lease(leading, leading->lead.identity, &own);
    else
        kube_net_send(leading->net, &(struct kube_request){ .method = "GET",
                                                            .path = LEASES "/" LEADER,
                                                            .seconds = ASK_S,
                                                            .on_answer = on_seen,
                                                            .context = leading });
}

/* Look at it if that is due; whether it may be relied on. */
static bool tend(struct leading *leading)
{
    const msec_t now = monotonic_ms();

    if (!leading->is_asked && now >= leading->due_ms) {
        leading->due_ms = now + LOOK_MS;
        look_or_renew(leading);
    }
    (void)kube_net_turn(leading->net, -1, TURN_MS);
    return leading->lead.held_ms >= 0 && !leading->is_lost &&
           monotonic_ms() - leading->lead.held_ms < KUBE_LEAD_GIVE_UP_MS;
}

static void on_given_back(void *context, const struct kube_answer *answer)
{
    struct leading *leading = context;

    (void)answer;
    leading->is_asked = false;
}

static void on_seen_last(void *context, const struct kube_answer *answer)
{
    struct leading *leading = context;
    struct kube_lead_seen seen;
    char body[BODY_TEXT];

    leading->is_asked = false;
    if (answer->status != 200 || kube_lead_read(answer->body, answer->size, &seen) < 0 ||
        strcmp(seen.holder, leading->lead.identity) != 0)
        return;
    leading->is_asked = true;
    print_lease(leading, "", &seen, body, sizeof(body));
    kube_net_send(leading->net, &(struct kube_request){ .method = "PATCH",
                                                        .path = LEASES "/" LEADER,
                                                        .type = "application/merge-patch+json",
                                                        .body = body,
                                                        .on_answer = on_given_back,
                                                        .context = leading });
}

/* Another one need not wait until it has run out. */
static void give_back(struct leading *leading)
{
    const msec_t limit = monotonic_ms() + LOOK_MS;

    while (leading->is_asked && monotonic_ms() < limit)
        (void)kube_net_turn(leading->net, -1, TURN_MS);
    if (leading->is_asked)
        return;
    leading->is_asked = true;
    kube_net_send(leading->net, &(struct kube_request){ .method = "GET",
                                                        .path = LEASES "/" LEADER,
                                                        .on_answer = on_seen_last,
                                                        .context = leading });
    while (leading->is_asked && monotonic_ms() < limit)
        (void)kube_net_turn(leading->net, -1, TURN_MS);
}

/*
 * The command.
 */

static int start(struct leading *leading, char **command, const sigset_t *mask,
                 struct error *reterr)
{
    const pid_t parent = getpid();
    const pid_t child = fork();

    if (child < 0)
        return error_set(reterr, -errno, "no process can be started: %s", strerror(errno));
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)setpgid(0, 0);
        (void)signal(SIGPIPE, SIG_DFL);
        (void)sigprocmask(SIG_SETMASK, mask, NULL);
        if (getppid() == parent)
            (void)execvp(command[0], command);
        (void)fprintf(stderr, "stint-kubernetes: %s: %s\n", command[0], strerror(errno));
        _exit(EXIT_NO_COMMAND);
    }
    (void)setpgid(child, child);
    leading->child = child;
    return 0;
}

/* Whether it has ended, and how. */
static bool has_ended(const struct leading *leading, int options, int *ret)
{
    int status = 0;

    if (waitpid(leading->child, &status, options) != leading->child)
        return false;
    *ret = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_SIGNAL + WTERMSIG(status);
    return true;
}

/* With its children; nothing of it acts when this returns. */
static int kill_child(const struct leading *leading)
{
    int code;

    (void)kill(-leading->child, SIGKILL);
    (void)has_ended(leading, 0, &code);
    (void)fprintf(stderr, "stint-kubernetes: the lease " LEADER
                          " was not renewed in time or is another's: the command was killed\n");
    return 1;
}

/* Until the command has ended; its exit code. */
static int attend(struct leading *leading, const sigset_t *signals)
{
    const struct timespec at_once = { 0 };
    int code = 0;

    for (;;) {
        const int number = sigtimedwait(signals, NULL, &at_once);

        if (number > 0)
            (void)kill(leading->child, number);
        if (has_ended(leading, WNOHANG, &code)) {
            give_back(leading);
            return code;
        }
        if (!tend(leading))
            return kill_child(leading);
    }
}

/* Whether it leads; false: it was asked to end before. */
static bool wait_for_it(struct leading *leading, const sigset_t *signals)
{
    const struct timespec at_once = { 0 };

    while (!tend(leading)) {
        if (sigtimedwait(signals, NULL, &at_once) > 0)
            return false;
        leading->is_lost = false;
        if (leading->lead.held_ms >= 0 &&
            monotonic_ms() - leading->lead.held_ms >= KUBE_LEAD_GIVE_UP_MS)
            leading->lead.held_ms = -1;
    }
    return true;
}

static void name_self(struct kube_lead *lead)
{
    char host[64] = "";
    struct timespec at;

    (void)clock_gettime(CLOCK_REALTIME, &at);
    (void)gethostname(host, sizeof(host) - 1);
    (void)snprintf(lead->identity, sizeof(lead->identity), "%s-%ld-%llx",
                   kube_talk_is_name(host) ? host : "stint", (long)getpid(),
                   (unsigned long long)at.tv_sec * 1000000000U + (unsigned long long)at.tv_nsec);
}

int kube_lead_run(struct kube_client *client, char **command, struct error *reterr)
{
    struct leading leading = { .lead = { .held_ms = -1 }, .net = kube_net_create(client) };
    sigset_t signals;
    sigset_t before;
    int rc = 0;

    name_self(&leading.lead);
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &signals, &before);
    if (wait_for_it(&leading, &signals)) {
        (void)fprintf(stderr, "stint-kubernetes: %s leads\n", leading.lead.identity);
        rc = start(&leading, command, &before, reterr);
        if (rc == 0)
            rc = attend(&leading, &signals);
    }
    kube_net_destroy(leading.net);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    return rc;
}
