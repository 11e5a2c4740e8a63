/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_claims.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"

#define CLAIMS    "/apis/karpenter.sh/v1/nodeclaims"
#define FINALIZER "karpenter.sh/termination"

enum {
    PROTOCOL = 1,
    COUNT_MAX = 1000,
    PATH_TEXT = 1024,
    BODY_TEXT = 4096,
    LABEL_VALUE = 63, /* letters of a label's value at the most */
    TRIES = 6,
    AGAIN_S = 10, /* until a claim that could not be deleted is tried again */
    CLASS_S = 60, /* until the node class is read again */
    /* A claim that is deleted while Karpenter launches it may go without its machine. So one that is returned first gets its
     * machine, if it does in this time; Karpenter itself gives a launch up after five minutes. */
    LAUNCH_S = 120,
    GRACE_S = 600
};

enum claim_state {
    CLAIM_ASKED, /* the request is under way */
    CLAIM_THERE, /* and has no machine yet */
    CLAIM_RUNS,
    CLAIM_GONE,
    CLAIM_REFUSED,
};

struct asked {
    struct kube_claims *claims;
    uint64_t id;
};

static struct asked *asked_new(struct kube_claims *claims, uint64_t id)
{
    struct asked *asked = mem_alloc(1, sizeof(*asked));

    *asked = (struct asked){ .claims = claims, .id = id };
    return asked;
}

static msec_t now_ms(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_REALTIME, &at);
    return (msec_t)at.tv_sec * MSEC_PER_SEC + at.tv_nsec / 1000000;
}

void kube_claims_init(struct kube_claims *claims)
{
    *claims = (struct kube_claims){ .class_group = "" };
    names_init(&claims->texts);
    (void)names_add(&claims->texts, "", 0);
    map_init(&claims->by_id);
}

void kube_claims_done(struct kube_claims *claims)
{
    names_done(&claims->texts);
    map_done(&claims->by_id);
    mem_free(claims->rows);
    mem_free(claims->lists);
    line_text_done(&claims->talk.out);
}

static struct kube_claim *find(struct kube_claims *claims, uint64_t id)
{
    const uint32_t row = map_get(&claims->by_id, id);

    return row != MAP_NONE ? &claims->rows[row] : NULL;
}

static struct kube_claim *add(struct kube_claims *claims, uint64_t id, const char *name,
                              const char *offer)
{
    const uint32_t row = claims->count++;

    MEM_ROOM(claims->rows, claims->room, claims->count);
    assert(claims->rows != NULL);
    claims->rows[row] =
        (struct kube_claim){ .id = id,
                             .name = names_add(&claims->texts, name, strlen(name)),
                             .offer = names_add(&claims->texts, offer, strlen(offer)),
                             .billed_from = -1,
                             .billed_to = -1 };
    map_put(&claims->by_id, id, row);
    return &claims->rows[row];
}

/*
 * What is said.
 */

static void say_machine(struct kube_claims *claims, const char *word,
                        const struct kube_claim *claim)
{
    line_text_begin(&claims->talk.out, word);
    line_text_number(&claims->talk.out, "id", claim->id);
    line_text_string(&claims->talk.out, "offer", names_text(&claims->texts, claim->offer));
    if (claim->billed_from >= 0)
        line_text_number(&claims->talk.out, "billed_from", (uint64_t)claim->billed_from);
    if (claim->billed_from >= 0 && claim->billed_to >= 0)
        line_text_number(&claims->talk.out, "billed_to", (uint64_t)claim->billed_to);
}

static void say_running(struct kube_claims *claims, const struct kube_claim *claim)
{
    say_machine(claims, "running", claim);
    line_text_end(&claims->talk.out);
}

static void say_notice(struct kube_claims *claims, const struct kube_claim *claim)
{
    line_text_begin(&claims->talk.out, "notice");
    line_text_number(&claims->talk.out, "id", claim->id);
    line_text_number(&claims->talk.out, "until", (uint64_t)now_ms());
    line_text_end(&claims->talk.out);
}

/* Without a reason it is current again. */
static void say_outdated(struct kube_claims *claims, const struct kube_claim *claim)
{
    line_text_begin(&claims->talk.out, "outdated");
    line_text_number(&claims->talk.out, "id", claim->id);
    if (claim->age != KUBE_CURRENT)
        line_text_string(&claims->talk.out, "why",
                         claim->age == KUBE_OLD_SETTINGS ? "settings" : "image");
    line_text_end(&claims->talk.out);
}

/* A machine that goes anyway is not reported. */
static bool may_be_outdated(const struct kube_claim *claim)
{
    return claim->state == CLAIM_RUNS && !claim->is_returning && !claim->is_noticed;
}

static void say_if_outdated(struct kube_claims *claims, const struct kube_claim *claim)
{
    if (may_be_outdated(claim) && claim->age != KUBE_CURRENT)
        say_outdated(claims, claim);
}

static void say_gone(struct kube_claims *claims, const struct kube_claim *claim)
{
    say_machine(claims, "gone", claim);
    line_text_string(&claims->talk.out, "why", claim->is_returning ? "returned" : "revoked");
    line_text_end(&claims->talk.out);
}

static void say_refused(struct kube_claims *claims, uint64_t id, const char *reason)
{
    line_text_begin(&claims->talk.out, "refused");
    line_text_number(&claims->talk.out, "id", id);
    line_text_string(&claims->talk.out, "reason", reason);
    line_text_end(&claims->talk.out);
}

/* What became of it, for who asks again. */
static void say_again(struct kube_claims *claims, const struct kube_claim *claim)
{
    switch ((enum claim_state)claim->state) {
    case CLAIM_RUNS:
        say_running(claims, claim);
        if (claim->is_noticed)
            say_notice(claims, claim);
        say_if_outdated(claims, claim);
        break;
    case CLAIM_GONE:
        say_gone(claims, claim);
        break;
    case CLAIM_REFUSED:
        say_refused(claims, claim->id, "capacity");
        break;
    case CLAIM_ASKED:
    case CLAIM_THERE:
        break;
    }
}

/* It is no more. */
static void end_claim(struct kube_claims *claims, struct kube_claim *claim)
{
    if (claim->state == CLAIM_GONE || claim->state == CLAIM_REFUSED)
        return;
    if (claim->state != CLAIM_RUNS && !claim->is_returning) {
        claim->state = CLAIM_REFUSED;
        say_refused(claims, claim->id, "capacity");
        return;
    }
    claim->billed_to = now_ms();
    if (claim->billed_to < claim->billed_from)
        claim->billed_to = claim->billed_from;
    claim->state = CLAIM_GONE;
    say_gone(claims, claim);
}

static void return_machine(struct kube_claims *claims, const struct kube_claim *claim, int after_s);

/*
 * The watch.
 */

/* The number at the end of a name, "st-17"; 0: there is none. */
static uint64_t id_of(const char *name)
{
    const char *dash = strrchr(name, '-');
    uint64_t id = 0;

    return dash != NULL && line_number(dash + 1, UINT64_MAX, &id) == 0 ? id : 0;
}

/* It was said to be no more, and is there: whoever said so was wrong. */
static void revive(struct kube_claims *claims, struct kube_claim *claim,
                   const struct kube_object *object)
{
    const char *offer = object->offer != NULL ? object->offer : "";

    *claim =
        (struct kube_claim){ .id = claim->id,
                             .name = names_add(&claims->texts, object->name, strlen(object->name)),
                             .offer = names_add(&claims->texts, offer, strlen(offer)),
                             .billed_from = -1,
                             .billed_to = -1,
                             .state = CLAIM_THERE };
}

/* It has its machine. */
static void launch(struct kube_claims *claims, struct kube_claim *claim,
                   const struct kube_object *object, bool is_gone)
{
    const msec_t launched = object->launched != NULL ? kube_talk_time(object->launched) : -1;
    const msec_t now = now_ms();

    claim->state = CLAIM_RUNS;
    claim->billed_from = launched >= 0 && launched < now ? launched : now;
    say_running(claims, claim);
    if (claim->is_returning && !is_gone)
        return_machine(claims, claim, 0);
}

static void compare(struct kube_claims *claims, struct kube_claim *claim)
{
    const enum kube_age age = kube_class_compare(&claims->node_class, &claim->origin);

    if (!may_be_outdated(claim) || claim->age == age)
        return;
    claim->age = (uint8_t)age;
    say_outdated(claims, claim);
}

static void on_claim(void *context, bool is_gone, const struct kube_object *object)
{
    struct kube_claims *claims = context;
    const uint64_t id = id_of(object->name);
    struct kube_claim *claim = id != 0 ? find(claims, id) : NULL;

    if (id == 0 || (is_gone && claim == NULL))
        return;
    if (claim == NULL)
        claim = add(claims, id, object->name, object->offer != NULL ? object->offer : "");
    else if (claim->state >= CLAIM_GONE && !is_gone)
        revive(claims, claim, object);
    claim->is_seen = true;
    if (claim->state == CLAIM_ASKED)
        claim->state = CLAIM_THERE;
    if (claim->state == CLAIM_THERE && object->provider != NULL)
        launch(claims, claim, object, is_gone);
    if (is_gone) {
        end_claim(claims, claim);
    } else if ((object->flags & KUBE_POD_GOING) != 0 && claim->state == CLAIM_RUNS &&
               !claim->is_returning && !claim->is_noticed) {
        claim->is_noticed = true;
        say_notice(claims, claim);
    }
    claim->origin = kube_class_origin(&claims->texts, object);
    compare(claims, claim);
}

static void begin_claims(void *context)
{
    struct kube_claims *claims = context;

    for (uint32_t i = 0; i < claims->count; i++)
        claims->rows[i].is_seen = claims->rows[i].state == CLAIM_ASKED;
}

static const char *word_of(const struct kube_claim *claim)
{
    if (claim->is_returning)
        return "leaving";
    if (claim->state != CLAIM_RUNS)
        return claim->state == CLAIM_ASKED ? "asked" : "booting";
    return claim->is_noticed ? "noticed" : "running";
}

static void tell_list(struct kube_claims *claims, uint64_t key)
{
    uint64_t count = 0;

    for (uint32_t i = 0; i < claims->count; i++) {
        const struct kube_claim *claim = &claims->rows[i];

        if (claim->state == CLAIM_GONE)
            say_gone(claims, claim);
        if (claim->state >= CLAIM_GONE)
            continue;
        count++;
        line_text_begin(&claims->talk.out, "found");
        line_text_number(&claims->talk.out, "key", key);
        line_text_number(&claims->talk.out, "id", claim->id);
        line_text_string(&claims->talk.out, "name", names_text(&claims->texts, claim->name));
        line_text_string(&claims->talk.out, "offer", names_text(&claims->texts, claim->offer));
        line_text_string(&claims->talk.out, "state", word_of(claim));
        if (claim->billed_from >= 0)
            line_text_number(&claims->talk.out, "billed_from", (uint64_t)claim->billed_from);
        line_text_end(&claims->talk.out);
        say_if_outdated(claims, claim);
    }
    line_text_begin(&claims->talk.out, "listed");
    line_text_number(&claims->talk.out, "key", key);
    line_text_number(&claims->talk.out, "count", count);
    line_text_end(&claims->talk.out);
}

static void on_sought(void *context, long status, const struct kube_object *object)
{
    struct asked *asked = context;
    struct kube_claim *claim = find(asked->claims, asked->id);

    if (claim != NULL) {
        claim->is_sought = false;
        if (object != NULL)
            on_claim(asked->claims, false, object);
        else if (status == 404)
            end_claim(asked->claims, claim);
    }
    mem_free(asked);
}

static void seek(struct kube_claims *claims, struct kube_claim *claim)
{
    char path[PATH_TEXT];

    if (claim->state >= CLAIM_GONE || claim->is_sought)
        return;
    claim->is_sought = true;
    (void)snprintf(path, sizeof(path), CLAIMS "/%s", names_text(&claims->texts, claim->name));
    kube_net_look(claims->talk.net, &(struct kube_look){ .path = path,
                                                         .kind = KUBE_CLAIM,
                                                         .on_look = on_sought,
                                                         .context = asked_new(claims, claim->id) });
}

static void end_claims(void *context)
{
    struct kube_claims *claims = context;

    for (uint32_t i = 0; i < claims->count; i++) {
        if (!claims->rows[i].is_seen)
            seek(claims, &claims->rows[i]);
    }
    claims->is_synced = true;
    for (uint32_t i = 0; i < claims->list_count; i++)
        tell_list(claims, claims->lists[i]);
    claims->list_count = 0;
}

/*
 * The node class.
 */

static void on_class(void *context, long status, const struct kube_object *object);

/* Whether there is something to ask for. */
static bool ask_class(struct kube_claims *claims, int after_s)
{
    char path[PATH_TEXT];

    if (!kube_class_path(claims->class_group, claims->class_kind, claims->class_name,
                         claims->class_guess, path, sizeof(path)))
        return false;
    kube_net_look(claims->talk.net, &(struct kube_look){ .path = path,
                                                         .kind = KUBE_NODE_CLASS,
                                                         .after_s = after_s,
                                                         .on_look = on_class,
                                                         .context = claims });
    return true;
}

static void say_missed(struct kube_claims *claims, long status)
{
    char resource[KUBE_NAME + 4];
    char text[PATH_TEXT];

    if (claims->is_class_missed)
        return;
    claims->is_class_missed = true;
    kube_class_resource(claims->class_kind, resource, sizeof(resource));
    if (status == 403)
        (void)snprintf(
            text, sizeof(text),
            "outdated machines are not noticed: Stint needs the right `get` on %s in %s, "
            "which `stint kubernetes install` grants for known providers",
            resource, claims->class_group);
    else
        (void)snprintf(text, sizeof(text),
                       "outdated machines are not noticed: there is no node class %s in %s, or its "
                       "API version is unknown; see `kubectl get %s.%s`",
                       claims->class_name, claims->class_group, resource, claims->class_group);
    kube_talk_error(&claims->talk, text);
}

static void take_class(struct kube_claims *claims, const struct kube_class *node_class)
{
    claims->node_class = *node_class;
    for (uint32_t i = 0; i < claims->count; i++)
        compare(claims, &claims->rows[i]);
}

/* What was read before holds unless the server says that it may not be read or is not there. */
static void on_class(void *context, long status, const struct kube_object *object)
{
    struct kube_claims *claims = context;

    if (object != NULL) {
        const struct kube_class node_class = kube_class_read(&claims->texts, object);

        claims->is_class_missed = false;
        take_class(claims, &node_class);
    } else if (status == 403 || status == 404) {
        claims->class_guess++;
        if (status == 404 && ask_class(claims, 0))
            return;
        claims->class_guess = 0;
        say_missed(claims, status);
        take_class(claims, &(struct kube_class){ .image_count = 0 });
    }
    (void)ask_class(claims, CLASS_S);
}

/*
 * Requests.
 */

/* At once if it has its machine; else when it gets it (on_claim), or late. */
static void begin_return(struct kube_claims *claims, const struct kube_claim *claim)
{
    return_machine(claims, claim, claim->state == CLAIM_RUNS ? 0 : LAUNCH_S);
}

static void on_rented(void *context, const struct kube_answer *answer)
{
    struct asked *asked = context;
    struct kube_claims *claims = asked->claims;
    struct kube_claim *claim = find(claims, asked->id);

    if (answer->status >= 300 && answer->status != 409 && claim->state == CLAIM_ASKED) {
        claim->state = CLAIM_REFUSED;
        say_refused(claims, claim->id, "broken");
        kube_talk_error(&claims->talk, answer->body);
    } else if (answer->status == 0 && claim->state == CLAIM_ASKED) {
        say_refused(claims, claim->id,
                    "broken"); /* nobody knows; if it is there after all, it goes back */
        claim->is_returning = true;
        begin_return(claims, claim);
    } else if (claim->state == CLAIM_ASKED) {
        claim->state = CLAIM_THERE;
    }
    mem_free(asked);
}

static void print_requirement(char *body, size_t size, const char *key, const char *value,
                              size_t length)
{
    const size_t used = strlen(body);

    if (length > 0)
        (void)snprintf(body + used, size - used,
                       "%s{\"key\":\"%s\",\"operator\":\"In\",\"values\":[\"%.*s\"]}",
                       body[0] != '\0' ? "," : "", key, (int)length, value);
}

/* "KEY":"NAME" behind a comma, of the label that says from which node class a claim is; "" if the name is too long for one. */
static void print_class_label(const struct kube_claims *claims, char *buf, size_t size)
{
    char key[KUBE_NAME * 2];

    buf[0] = '\0';
    if (strlen(claims->class_name) > LABEL_VALUE)
        return;
    kube_class_label(claims->class_group, claims->class_kind, key, sizeof(key));
    (void)snprintf(buf, size, ",\"%s\":\"%s\"", key, claims->class_name);
}

/*
 * Karpenter writes its finalizer into each claim that lacks it before it launches the machine, and in the same moment the label of the node
 * class: one of the two is refused, as the claim is another one by then, and tried again a second later. So both are there from the
 * beginning. The label is copied to the node, which would be written once more for it.
 */
static void rent_one(struct kube_claims *claims, uint64_t id, const char *prefix, const char *offer)
{
    const char *zone = strchr(offer, '/') + 1;
    const char *market = strchr(zone, '/') + 1;
    char needs[BODY_TEXT] = "";
    char body[2 * BODY_TEXT];
    char label[BODY_TEXT];
    char name[KUBE_NAME];

    (void)snprintf(name, sizeof(name), "%s%" PRIu64, prefix, id);
    (void)add(claims, id, name, offer);
    print_requirement(needs, sizeof(needs), "node.kubernetes.io/instance-type", offer,
                      (size_t)(zone - offer - 1));
    print_requirement(needs, sizeof(needs), "topology.kubernetes.io/zone", zone,
                      (size_t)(market - zone - 1));
    print_requirement(needs, sizeof(needs), "karpenter.sh/capacity-type", market, strlen(market));
    print_requirement(needs, sizeof(needs), "kubernetes.io/os", "linux", 5);
    print_class_label(claims, label, sizeof(label));
    (void)snprintf(
        body, sizeof(body),
        "{\"apiVersion\":\"karpenter.sh/v1\",\"kind\":\"NodeClaim\",\"metadata\":{\"name\":\"%s\","
        "\"finalizers\":[\"" FINALIZER "\"],\"labels\":{"
        "\"" KUBE_SLOT "\":\"%s\",\"" KUBE_CLUSTER "\":\"%s\"%s},\"annotations\":{\"" KUBE_OFFER
        "\":\"%s\",\"karpenter.sh/do-not-disrupt\":\"true\"}},\"spec\":{\"nodeClassRef\":{\"group\":\"%s\","
        "\"kind\":\"%s\",\"name\":\"%s\"},\"requirements\":[%s],\"expireAfter\":\"Never\","
        "\"terminationGracePeriod\":\"%ds\",\"taints\":[{\"key\":\"" KUBE_SLOT
        "\",\"effect\":\"NoSchedule\"}],\"resources\":{\"requests\":{}}}}",
        name, name, claims->cluster, label, offer, claims->class_group, claims->class_kind,
        claims->class_name, needs, GRACE_S);
    kube_net_send(claims->talk.net, &(struct kube_request){ .method = "POST",
                                                            .path = CLAIMS,
                                                            .type = "application/json",
                                                            .body = body,
                                                            .tries = TRIES,
                                                            .on_answer = on_rented,
                                                            .context = asked_new(claims, id) });
}

/* "TYPE/ZONE/MARKET", of letters that may stand in JSON. */
static bool is_offer(const char *text)
{
    const char *zone = text != NULL ? strchr(text, '/') : NULL;
    const char *market = zone != NULL ? strchr(zone + 1, '/') : NULL;

    return market != NULL && zone > text && market[1] != '\0' && strlen(text) < KUBE_NAME &&
           strchr(market + 1, '/') == NULL && strpbrk(text, "\"\\ ") == NULL;
}

static void take_rent(struct kube_claims *claims, uint64_t key, const struct line *line)
{
    const char *offer = line_get(line, "offer");
    const char *prefix = line_get(line, "prefix");
    uint64_t count = 1;

    (void)kube_talk_number(line, "count", &count);
    for (uint64_t i = 0; i < count && i < COUNT_MAX; i++) {
        const struct kube_claim *claim = find(claims, key + i);

        if (claim != NULL)
            say_again(claims, claim);
        else if (!is_offer(offer) || !kube_talk_is_name(prefix))
            say_refused(claims, key + i, "unknown-offer");
        else
            rent_one(claims, key + i, prefix, offer);
    }
}

static void on_returned(void *context, const struct kube_answer *answer)
{
    struct asked *asked = context;
    struct kube_claim *claim = find(asked->claims, asked->id);

    if (answer->status == 404) {
        end_claim(asked->claims, claim);
    } else if (answer->status < 200 || answer->status >= 300) {
        kube_talk_error(&asked->claims->talk, answer->body); /* such as a right that is missing */
        return_machine(asked->claims, claim, AGAIN_S);
    }
    mem_free(asked);
}

static void return_machine(struct kube_claims *claims, const struct kube_claim *claim, int after_s)
{
    char path[PATH_TEXT];

    (void)snprintf(path, sizeof(path), CLAIMS "/%s", names_text(&claims->texts, claim->name));
    kube_net_send(claims->talk.net,
                  &(struct kube_request){ .method = "DELETE",
                                          .path = path,
                                          .tries = TRIES,
                                          .after_s = after_s,
                                          .on_answer = on_returned,
                                          .context = asked_new(claims, claim->id) });
}

static void take_return(struct kube_claims *claims, uint64_t key, const struct line *line)
{
    struct kube_claim *claim = find(claims, key);

    (void)line;
    if (claim == NULL) {
        claim = add(claims, key, "", "");
        claim->state = CLAIM_GONE;
        claim->is_returning = true;
    }
    if (claim->state >= CLAIM_GONE) {
        say_gone(claims, claim);
        return;
    }
    if (claim->is_returning)
        return;
    claim->is_returning = true;
    begin_return(claims, claim);
}

static void take_list(struct kube_claims *claims, uint64_t key, const struct line *line)
{
    (void)line;
    if (claims->is_synced) {
        tell_list(claims, key);
        return;
    }
    MEM_ROOM(claims->lists, claims->lists_room, claims->list_count + 1);
    claims->lists[claims->list_count++] = key;
}

static void greet(struct kube_claims *claims, const struct line *line)
{
    const struct kube_watch_sink sink = {
        .begin = begin_claims, .object = on_claim, .end = end_claims, .context = claims
    };
    const char *cluster = line_get(line, "cluster");
    char selector[KUBE_NET_PATH];
    uint64_t protocol = 0;

    if (!kube_talk_number(line, "protocol", &protocol) || protocol != PROTOCOL ||
        !kube_talk_is_name(cluster)) {
        kube_talk_error(&claims->talk,
                        "no common protocol, or the cluster's name is no valid label");
        claims->talk.is_over = true;
        return;
    }
    line_text_begin(&claims->talk.out, "hello");
    line_text_number(&claims->talk.out, "protocol", PROTOCOL);
    line_text_end(&claims->talk.out);
    if (claims->is_greeted)
        return;
    claims->is_greeted = true;
    (void)snprintf(claims->cluster, sizeof(claims->cluster), "%s", cluster);
    (void)snprintf(selector, sizeof(selector), KUBE_CLUSTER "=%s", claims->cluster);
    kube_net_watch(claims->talk.net, CLAIMS, selector, KUBE_CLAIM, &sink);
    (void)ask_class(claims, 0);
}

void kube_claims_line(struct kube_claims *claims, const struct line *line)
{
    static const struct {
        const char *word;
        void (*take)(struct kube_claims *claims, uint64_t key, const struct line *line);
    } requests[] = { { "rent", take_rent }, { "give-back", take_return }, { "list", take_list } };
    uint64_t key = 0;

    if (strcmp(line->word, "hello") == 0) {
        greet(claims, line);
        return;
    }
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
        if (strcmp(line->word, requests[i].word) == 0 && claims->is_greeted &&
            kube_talk_number(line, "key", &key) && key < UINT64_MAX - COUNT_MAX) {
            requests[i].take(claims, key, line);
            return;
        }
    }
    kube_talk_error(&claims->talk, "an unknown request, or one without hello or key");
}
