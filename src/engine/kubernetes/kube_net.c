/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/kubernetes/kube_net.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/units.h"

enum {
    WATCHES = 5,
    WATCH_SECONDS = 290, /* then the server ends it, and it goes on from where it was */
    SILENT_SECONDS = 150,
    PAUSE_MS = 500,
    PAUSE_MOST_MS = 30000,
    DOWN_MS = 20000,
    REFUSED_MS = 300000, /* after this what may not be read is asked for again */
    URL_TEXT = 4096,
    LOOK_TRIES = 6,
};

struct watch {
    struct kube_net *net;
    struct kube_watch_sink sink;
    enum kube_kind kind;
    char path[KUBE_NET_PATH];
    char selector[KUBE_NET_PATH];
    char version[KUBE_NAME]; /* seen last; "": begin with everything */
    CURL *curl;              /* NULL: it waits for 'again_ms' */
    struct curl_slist *headers;
    struct kube_objects *objects;
    bool is_filling; /* between begin and end */
    bool is_refused; /* by an event: begin with everything */
    int faults;      /* in a row */
    msec_t again_ms;
    msec_t heard_ms;
};

struct call {
    struct kube_net *net;
    struct call *next;
    struct kube_request request; /* it has its own texts */
    char *text;                  /* method, path, type, body */
    CURL *curl;                  /* NULL: it waits */
    struct curl_slist *headers;
    char *body;
    size_t size;
    int tried;
    msec_t not_before_ms;
};

struct kube_net {
    struct kube_client *client;
    CURLM *multi;
    struct watch watch[WATCHES];
    unsigned watch_count;
    struct call *calls; /* in order, those in flight too */
    struct call **calls_end;
    unsigned call_count;
    unsigned flying;
    struct rng rng;
};

static msec_t monotonic_ms(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (msec_t)at.tv_sec * MSEC_PER_SEC + at.tv_nsec / 1000000;
}

/* Twice as long each time, and a random part of it. */
static msec_t pause_ms(struct kube_net *net, int times)
{
    const msec_t whole = times < 6 ? (msec_t)PAUSE_MS << times : PAUSE_MOST_MS;

    return whole / 2 + (msec_t)rng_below(&net->rng, (uint64_t)whole / 2 + 1);
}

static struct curl_slist *headers_of(const struct kube_net *net, const char *type)
{
    const char *own = kube_client_header(net->client);
    struct curl_slist *headers = own[0] != '\0' ? curl_slist_append(NULL, own) : NULL;
    char text[128];

    if (type != NULL) {
        (void)snprintf(text, sizeof(text), "Content-Type: %s", type);
        headers = curl_slist_append(headers, text);
    }
    return headers;
}

struct kube_net *kube_net_create(struct kube_client *client)
{
    struct kube_net *net = mem_alloc(1, sizeof(*net));

    net->client = client;
    net->multi = curl_multi_init();
    net->calls_end = &net->calls;
    rng_init(&net->rng, (uint64_t)monotonic_ms(), 0);
    return net;
}

/*
 * Watches.
 */

static int on_object(void *context, const char *event, const struct kube_object *object)
{
    struct watch *watch = context;

    watch->heard_ms = monotonic_ms();
    if (strcmp(event, "ERROR") == 0) {
        watch->is_refused = true;
        return -ESTALE;
    }
    if (object->version[0] != '\0')
        (void)snprintf(watch->version, sizeof(watch->version), "%s", object->version);
    if (strcmp(event, "BOOKMARK") != 0) {
        watch->sink.object(watch->sink.context, strcmp(event, "DELETED") == 0, object);
    } else if (watch->is_filling) {
        watch->is_filling = false;
        watch->sink.end(watch->sink.context);
    }
    return 0;
}

static size_t on_watch_bytes(char *data, size_t size, size_t count, void *context)
{
    struct watch *watch = context;
    struct error error = { "" };
    long status = 0;

    (void)curl_easy_getinfo(watch->curl, CURLINFO_RESPONSE_CODE, &status);
    if (status != 200)
        return size * count;
    watch->faults = 0;
    watch->heard_ms = monotonic_ms();
    if (kube_objects_read(watch->objects, data, size * count, &error) == 0)
        return size * count;
    (void)fprintf(stderr, "stint-kubernetes: a watch of %s begins again: %s\n", watch->path,
                  watch->is_refused ? "the server says so" : error.text);
    return 0;
}

static void begin_watch(struct watch *watch)
{
    const struct kube_object_sink sink = { .on_object = on_object, .context = watch };
    char url[URL_TEXT];
    int used;

    if (watch->version[0] == '\0' && !watch->is_filling) {
        watch->is_filling = true;
        watch->sink.begin(watch->sink.context);
    }
    watch->is_refused = false;
    watch->curl = kube_client_handle(watch->net->client);
    watch->objects = kube_objects_create(watch->kind, true, &sink);
    watch->headers = headers_of(watch->net, NULL);
    used = snprintf(url, sizeof(url), "%s%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d",
                    kube_client_base(watch->net->client), watch->path, WATCH_SECONDS);
    if (watch->selector[0] != '\0') {
        char *selector = curl_easy_escape(watch->curl, watch->selector, 0);

        used += snprintf(url + used, sizeof(url) - (size_t)used, "&labelSelector=%s", selector);
        curl_free(selector);
    }
    if (watch->is_filling)
        (void)snprintf(url + used, sizeof(url) - (size_t)used,
                       "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
    else
        (void)snprintf(url + used, sizeof(url) - (size_t)used, "&resourceVersion=%s",
                       watch->version);
    (void)curl_easy_setopt(watch->curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(watch->curl, CURLOPT_HTTPHEADER, watch->headers);
    (void)curl_easy_setopt(watch->curl, CURLOPT_WRITEFUNCTION, on_watch_bytes);
    (void)curl_easy_setopt(watch->curl, CURLOPT_WRITEDATA, watch);
    (void)curl_easy_setopt(watch->curl, CURLOPT_PRIVATE, NULL);
    (void)curl_easy_setopt(watch->curl, CURLOPT_LOW_SPEED_TIME, (long)SILENT_SECONDS);
    (void)curl_multi_add_handle(watch->net->multi, watch->curl);
}

static void drop_watch(struct watch *watch)
{
    if (watch->curl == NULL)
        return;
    (void)curl_multi_remove_handle(watch->net->multi, watch->curl);
    curl_easy_cleanup(watch->curl);
    curl_slist_free_all(watch->headers);
    kube_objects_destroy(watch->objects);
    watch->curl = NULL;
}

/* A connection of a watch has ended. What was filled in part is filled from the beginning. */
static void end_watch(struct watch *watch, CURLcode code)
{
    struct error error = { "" };
    long status = 0;

    (void)curl_easy_getinfo(watch->curl, CURLINFO_RESPONSE_CODE, &status);
    drop_watch(watch);
    if (status == 401)
        (void)kube_client_prove(watch->net->client, &error);
    if (status == 410 || watch->is_refused || watch->is_filling) {
        watch->version[0] = '\0';
        watch->is_filling = false;
    }
    watch->again_ms = monotonic_ms();
    if (status == 403 && watch->sink.refused != NULL) {
        watch->faults = 0; /* the server answers */
        watch->again_ms += REFUSED_MS;
        watch->sink.refused(watch->sink.context);
    } else if (code != CURLE_OK || status != 200 || watch->is_refused) {
        watch->again_ms += pause_ms(watch->net, watch->faults++);
    }
}

void kube_net_watch(struct kube_net *net, const char *path, const char *selector,
                    enum kube_kind kind, const struct kube_watch_sink *sink)
{
    struct watch *watch = &net->watch[net->watch_count++];

    assert(net->watch_count <= WATCHES);
    *watch = (struct watch){ .net = net, .sink = *sink, .kind = kind, .heard_ms = monotonic_ms() };
    (void)snprintf(watch->path, sizeof(watch->path), "%s", path);
    (void)snprintf(watch->selector, sizeof(watch->selector), "%s", selector);
    begin_watch(watch);
}

/*
 * Requests.
 */

static size_t on_call_bytes(char *data, size_t size, size_t count, void *context)
{
    struct call *call = context;
    const size_t more = size * count;

    if (call->size + more <= KUBE_NET_ANSWER) {
        call->body = mem_resize(call->body, call->size + more + 1, 1);
        memcpy(call->body + call->size, data, more);
        call->size += more;
    }
    return more;
}

/* Copies of the texts, one behind the other. */
static void keep_texts(struct call *call, const struct kube_request *request)
{
    const char *texts[] = { request->method, request->path, request->type, request->body };
    const char **to[] = { &call->request.method, &call->request.path, &call->request.type,
                          &call->request.body };
    size_t size = 0;
    size_t used = 0;

    for (int i = 0; i < 4; i++)
        size += texts[i] != NULL ? strlen(texts[i]) + 1 : 0;
    call->text = mem_alloc(size, 1);
    for (int i = 0; i < 4; i++) {
        if (texts[i] == NULL)
            continue;
        *to[i] = call->text + used;
        memcpy(call->text + used, texts[i], strlen(texts[i]) + 1);
        used += strlen(texts[i]) + 1;
    }
}

void kube_net_send(struct kube_net *net, const struct kube_request *request)
{
    struct call *call = mem_alloc(1, sizeof(*call));

    call->net = net;
    call->request = *request;
    keep_texts(call, request);
    call->not_before_ms = monotonic_ms() + (msec_t)request->after_s * MSEC_PER_SEC;
    *net->calls_end = call;
    net->calls_end = &call->next;
    net->call_count++;
}

static void begin_call(struct call *call)
{
    struct kube_net *net = call->net;
    char url[URL_TEXT];

    call->curl = kube_client_handle(net->client);
    call->headers = headers_of(net, call->request.type);
    call->size = 0;
    (void)snprintf(url, sizeof(url), "%s%s", kube_client_base(net->client), call->request.path);
    (void)curl_easy_setopt(call->curl, CURLOPT_URL, url);
    (void)curl_easy_setopt(call->curl, CURLOPT_CUSTOMREQUEST, call->request.method);
    if (call->request.body != NULL)
        (void)curl_easy_setopt(call->curl, CURLOPT_POSTFIELDS, call->request.body);
    (void)curl_easy_setopt(call->curl, CURLOPT_HTTPHEADER, call->headers);
    (void)curl_easy_setopt(call->curl, CURLOPT_WRITEFUNCTION, on_call_bytes);
    (void)curl_easy_setopt(call->curl, CURLOPT_WRITEDATA, call);
    (void)curl_easy_setopt(call->curl, CURLOPT_PRIVATE, call);
    (void)curl_easy_setopt(call->curl, CURLOPT_TIMEOUT,
                           call->request.seconds > 0 ? (long)call->request.seconds : 60L);
    (void)curl_multi_add_handle(net->multi, call->curl);
    net->flying++;
}

static void land_call(struct call *call)
{
    if (call->curl == NULL)
        return;
    (void)curl_multi_remove_handle(call->net->multi, call->curl);
    curl_easy_cleanup(call->curl);
    curl_slist_free_all(call->headers);
    call->curl = NULL;
    call->headers = NULL;
    call->net->flying--;
}

static void free_call(struct call *call)
{
    land_call(call);
    mem_free(call->text);
    mem_free(call->body);
    mem_free(call);
}

static void unlink_call(struct kube_net *net, struct call *call)
{
    struct call **at = &net->calls;

    while (*at != call)
        at = &(*at)->next;
    *at = call->next;
    if (net->calls_end == &call->next)
        net->calls_end = at;
    net->call_count--;
}

static void end_call(struct call *call, CURLcode code)
{
    struct kube_net *net = call->net;
    struct error error = { "" };
    curl_off_t wait_s = 0;
    long status = 0;

    (void)curl_easy_getinfo(call->curl, CURLINFO_RESPONSE_CODE, &status);
    (void)curl_easy_getinfo(call->curl, CURLINFO_RETRY_AFTER, &wait_s);
    if (code != CURLE_OK)
        status = 0;
    land_call(call);
    if (status == 401)
        (void)kube_client_prove(net->client, &error);
    if ((status == 0 || status == 401 || status == 429 || status >= 500) &&
        call->tried < call->request.tries) {
        call->not_before_ms = monotonic_ms() + pause_ms(net, call->tried++) +
                              (msec_t)(wait_s < 30 ? wait_s : 30) * MSEC_PER_SEC;
        return;
    }
    unlink_call(net, call);
    if (call->body != NULL)
        call->body[call->size] = '\0';
    call->request.on_answer(call->request.context,
                            &(struct kube_answer){ .status = status,
                                                   .body = call->body != NULL ? call->body : "",
                                                   .size = call->size });
    free_call(call);
}

/*
 * One object.
 */

struct look {
    struct kube_net *net;
    struct kube_look of; /* with its path here */
    char path[KUBE_NET_PATH];
    bool is_told;
};

static void look_send(struct look *look);

static int on_looked(void *context, const char *event, const struct kube_object *object)
{
    struct look *look = context;

    (void)event;
    if (!look->is_told)
        look->of.on_look(look->of.context, 200, object);
    look->is_told = true;
    return 0;
}

/* An object by itself is read like one of a watch. */
static void read_looked(struct look *look, const struct kube_answer *answer)
{
    static const char before[] = "{\"type\":\"MODIFIED\",\"object\":";
    const struct kube_object_sink sink = { .on_object = on_looked, .context = look };
    struct kube_objects *objects = kube_objects_create(look->of.kind, true, &sink);
    struct error error = { "" };

    if (kube_objects_read(objects, before, sizeof(before) - 1, &error) == 0 &&
        kube_objects_read(objects, answer->body, answer->size, &error) == 0)
        (void)kube_objects_read(objects, "}\n", 2, &error);
    kube_objects_destroy(objects);
}

static void on_look_answer(void *context, const struct kube_answer *answer)
{
    struct look *look = context;

    if (answer->status == 0 || answer->status == 429 || answer->status >= 500) {
        look_send(look);
        return;
    }
    if (answer->status == 200)
        read_looked(look, answer);
    if (!look->is_told)
        look->of.on_look(look->of.context, answer->status != 200 ? answer->status : 0, NULL);
    mem_free(look);
}

static void look_send(struct look *look)
{
    kube_net_send(look->net, &(struct kube_request){ .method = "GET",
                                                     .path = look->path,
                                                     .tries = LOOK_TRIES,
                                                     .after_s = look->of.after_s,
                                                     .on_answer = on_look_answer,
                                                     .context = look });
}

void kube_net_look(struct kube_net *net, const struct kube_look *look)
{
    struct look *own = mem_alloc(1, sizeof(*own));

    own->net = net;
    own->of = *look;
    (void)snprintf(own->path, sizeof(own->path), "%s", look->path);
    own->of.path = own->path;
    look_send(own);
}

/*
 * The loop.
 */

/* What is due; how long until something is. */
static int begin_due(struct kube_net *net, int timeout_ms)
{
    const msec_t now = monotonic_ms();
    msec_t wait = timeout_ms;

    for (unsigned i = 0; i < net->watch_count; i++) {
        struct watch *watch = &net->watch[i];

        if (watch->curl == NULL && watch->again_ms <= now)
            begin_watch(watch);
        else if (watch->curl == NULL && watch->again_ms - now < wait)
            wait = watch->again_ms - now;
    }
    for (struct call *call = net->calls; call != NULL && net->flying < KUBE_NET_FLIGHT;
         call = call->next) {
        if (call->curl == NULL && call->not_before_ms <= now)
            begin_call(call);
        else if (call->curl == NULL && call->not_before_ms - now < wait)
            wait = call->not_before_ms - now;
    }
    return (int)wait;
}

static void hear_ends(struct kube_net *net)
{
    const CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(net->multi, &left)) != NULL) {
        CURL *curl = message->easy_handle;
        const CURLcode code = message->data.result;
        struct call *call = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(curl, CURLINFO_PRIVATE, &call);
        if (call != NULL) {
            end_call(call, code);
            continue;
        }
        for (unsigned i = 0; i < net->watch_count; i++) {
            if (net->watch[i].curl == curl)
                end_watch(&net->watch[i], code);
        }
    }
}

bool kube_net_turn(struct kube_net *net, int fd, int timeout_ms)
{
    struct curl_waitfd wait = { .fd = fd, .events = CURL_WAIT_POLLIN };
    int running = 0;

    timeout_ms = begin_due(net, timeout_ms);
    (void)curl_multi_perform(net->multi, &running);
    hear_ends(net);
    if (net->call_count > net->flying)
        timeout_ms = begin_due(net, timeout_ms);
    (void)curl_multi_poll(net->multi, &wait, fd >= 0 ? 1 : 0, timeout_ms, NULL);
    (void)curl_multi_perform(net->multi, &running);
    hear_ends(net);
    return (wait.revents & (CURL_WAIT_POLLIN | CURL_WAIT_POLLPRI)) != 0;
}

unsigned kube_net_open(const struct kube_net *net)
{
    return net->call_count;
}

bool kube_net_is_up(const struct kube_net *net)
{
    for (unsigned i = 0; i < net->watch_count; i++) {
        const struct watch *watch = &net->watch[i];

        if (watch->faults > 0 && monotonic_ms() - watch->heard_ms > DOWN_MS)
            return false;
    }
    return true;
}

void kube_net_destroy(struct kube_net *net)
{
    if (net == NULL)
        return;
    for (unsigned i = 0; i < net->watch_count; i++)
        drop_watch(&net->watch[i]);
    while (net->calls != NULL) {
        struct call *next = net->calls->next;

        free_call(net->calls);
        net->calls = next;
    }
    (void)curl_multi_cleanup(net->multi);
    mem_free(net);
}
