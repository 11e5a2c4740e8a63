/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How libcurl and the loop meet: libcurl names the sockets that it waits for (on_socket) and the
 * time when it wants to be called (on_timer); the loop's handles call curl_multi_socket_action and
 * then look for transfers that have ended. Callbacks of ours run only from there, never inside one
 * of libcurl's.
 */
#include "cloud/aws/aws_http.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"

struct transfer {
    struct aws_http *http;
    CURL *easy;
    struct curl_slist *headers;
    void (*on_answer)(void *context, const struct aws_http_answer *answer);
    void *context;
    char *body; /* of the answer */
    size_t size;
    size_t room;
    size_t most;
    bool is_secret;
    bool is_too_long;
    char fault[CURL_ERROR_SIZE];
    struct transfer *before;
    struct transfer *after;
};

struct watch {
    uv_poll_t poll;
    struct aws_http *http;
    curl_socket_t socket;
};

struct aws_http {
    CURLM *multi;
    uv_loop_t *loop;
    uv_timer_t timer;
    struct transfer *first;
    uint32_t handles; /* open ones of the loop; the last one to close frees all */
    bool is_closing;
};

/* ---- transfers ---- */

static void transfer_free(struct transfer *transfer)
{
    if (transfer->is_secret && transfer->body != NULL)
        explicit_bzero(transfer->body, transfer->room);
    curl_easy_cleanup(transfer->easy);
    curl_slist_free_all(transfer->headers);
    mem_free(transfer->body);
    mem_free(transfer);
}

static void transfer_unlink(struct transfer *transfer)
{
    if (transfer->before != NULL)
        transfer->before->after = transfer->after;
    else
        transfer->http->first = transfer->after;
    if (transfer->after != NULL)
        transfer->after->before = transfer->before;
}

static size_t on_body(const char *data, size_t one, size_t count, void *context)
{
    struct transfer *transfer = context;

    assert(one == 1);
    if (count > transfer->most - transfer->size) {
        transfer->is_too_long = true;
        return 0;
    }
    if (transfer->size + count + 1 > transfer->room) {
        size_t room = transfer->room * 2 > 4096 ? transfer->room * 2 : 4096;

        if (room < transfer->size + count + 1)
            room = transfer->size + count + 1;
        transfer->body = mem_resize(transfer->body, room, 1);
        transfer->room = room;
    }
    memcpy(transfer->body + transfer->size, data, count);
    transfer->size += count;
    return count;
}

static int fault_of(const struct transfer *transfer, CURLcode code)
{
    if (transfer->is_too_long)
        return -EMSGSIZE;
    return code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -ECONNRESET;
}

static void transfer_end(struct transfer *transfer, CURLcode code)
{
    struct aws_http_answer answer = { .body = "" };
    long status = 0;

    (void)curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
    answer.status = (int)status;
    if (code != CURLE_OK) {
        answer.fault = fault_of(transfer, code);
        answer.reason = transfer->is_too_long        ? "the answer is too long"
                        : transfer->fault[0] != '\0' ? transfer->fault
                                                     : curl_easy_strerror(code);
    } else if (transfer->size > 0) {
        transfer->body[transfer->size] = '\0';
        answer.body = transfer->body;
        answer.size = transfer->size;
    }
    transfer_unlink(transfer);
    (void)curl_multi_remove_handle(transfer->http->multi, transfer->easy);
    transfer->on_answer(transfer->context, &answer);
    transfer_free(transfer);
}

static void end_all(struct aws_http *http)
{
    const CURLMsg *message;
    int left = 0;

    while ((message = curl_multi_info_read(http->multi, &left)) != NULL) {
        char *transfer = NULL;

        if (message->msg != CURLMSG_DONE)
            continue;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &transfer);
        transfer_end((struct transfer *)(void *)transfer, message->data.result);
    }
}

/* ---- the loop's handles ---- */

static void handle_closed(struct aws_http *http)
{
    assert(http->handles > 0);
    http->handles--;
    if (http->handles == 0)
        mem_free(http);
}

static void on_timer_closed(uv_handle_t *handle)
{
    handle_closed(handle->data);
}

static void on_watch_closed(uv_handle_t *handle)
{
    struct watch *watch = handle->data;

    handle_closed(watch->http);
    mem_free(watch);
}

static void on_timeout(uv_timer_t *timer)
{
    struct aws_http *http = timer->data;
    int running = 0;

    (void)curl_multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    end_all(http);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct watch *watch = poll->data;
    struct aws_http *http = watch->http;
    int flags = status < 0 ? CURL_CSELECT_ERR : 0;
    int running = 0;

    if ((events & UV_READABLE) != 0)
        flags |= CURL_CSELECT_IN;
    if ((events & UV_WRITABLE) != 0)
        flags |= CURL_CSELECT_OUT;
    (void)curl_multi_socket_action(http->multi, watch->socket, flags, &running);
    end_all(http);
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
    struct aws_http *http = context;

    (void)multi;
    if (http->is_closing)
        return 0;
    if (timeout_ms < 0)
        (void)uv_timer_stop(&http->timer);
    else
        (void)uv_timer_start(&http->timer, on_timeout, (uint64_t)timeout_ms, 0);
    return 0;
}

static struct watch *watch_open(struct aws_http *http, curl_socket_t socket)
{
    struct watch *watch = mem_alloc(1, sizeof(*watch));

    watch->http = http;
    watch->socket = socket;
    watch->poll.data = watch;
    if (uv_poll_init_socket(http->loop, &watch->poll, socket) < 0) {
        mem_free(watch);
        return NULL;
    }
    http->handles++;
    (void)curl_multi_assign(http->multi, socket, watch);
    return watch;
}

static int on_socket(CURL *easy, curl_socket_t socket, int what, void *context, void *known)
{
    struct aws_http *http = context;
    struct watch *watch = known;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (watch == NULL)
            return 0;
        (void)uv_poll_stop(&watch->poll);
        uv_close((uv_handle_t *)&watch->poll, on_watch_closed);
        (void)curl_multi_assign(http->multi, socket, NULL);
        return 0;
    }
    if (watch == NULL)
        watch = watch_open(http, socket);
    if (watch == NULL)
        return -1;

    int events = 0;

    if (what != CURL_POLL_IN)
        events |= UV_WRITABLE;
    if (what != CURL_POLL_OUT)
        events |= UV_READABLE;
    (void)uv_poll_start(&watch->poll, events, on_poll);
    return 0;
}

struct aws_http *aws_http_create(struct uv_loop_s *loop)
{
    struct aws_http *http = mem_alloc(1, sizeof(*http));

    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    http->loop = loop;
    http->multi = curl_multi_init();
    assert(http->multi != NULL);
    (void)uv_timer_init(loop, &http->timer);
    http->timer.data = http;
    http->handles = 1;
    (void)curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    (void)curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http);
    (void)curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    (void)curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http);
    (void)curl_multi_setopt(http->multi, CURLMOPT_MAX_HOST_CONNECTIONS,
                            (long)AWS_HTTP_HOST_CONNECTIONS);
    return http;
}

void aws_http_destroy(struct aws_http *http)
{
    if (http == NULL)
        return;
    http->is_closing = true;
    while (http->first != NULL) {
        struct transfer *transfer = http->first;

        transfer_unlink(transfer);
        (void)curl_multi_remove_handle(http->multi, transfer->easy);
        transfer_free(transfer);
    }
    (void)curl_multi_cleanup(http->multi);
    (void)uv_timer_stop(&http->timer);
    uv_close((uv_handle_t *)&http->timer, on_timer_closed);
    curl_global_cleanup();
}

/* ---- sending ---- */

/* A host that ends where its port or path begins; "127.0.0.1.evil.org" is none of ours, nor is
 * "127.0.0.1:80@evil.org", where all before the '@' is a user. */
static bool has_host(const char *url, const char *host)
{
    const size_t length = strlen(host);

    return strncmp(url, host, length) == 0 && strchr(":/?#", url[length]) != NULL &&
           url[length + strcspn(url + length, "@/?#")] != '@';
}

static bool is_near(const char *url)
{
    static const char *const near_hosts[] = {
        "http://127.0.0.1",       "http://[::1]",          "http://localhost",
        "http://169.254.169.254", "http://169.254.170.2",  "http://169.254.170.23",
        "http://[fd00:ec2::254]", "http://[fd00:ec2::23]",
    };

    for (size_t i = 0; i < sizeof(near_hosts) / sizeof(*near_hosts); i++) {
        if (has_host(url, near_hosts[i]))
            return true;
    }
    return false;
}

bool aws_http_is_allowed(const char *url)
{
    return strncmp(url, "https://", 8) == 0 || is_near(url);
}

static void set_headers(struct transfer *transfer, const struct aws_http_request *request)
{
    for (int i = 0; i < AWS_HTTP_HEADERS_MAX && request->headers[i] != NULL; i++)
        transfer->headers = curl_slist_append(transfer->headers, request->headers[i]);
    if (request->sign_as == NULL)
        return;

    char token[AWS_SECRET_TOKEN_SIZE + 32];

    assert(request->secret != NULL);
    if (request->secret->session_token[0] != '\0') {
        (void)snprintf(token, sizeof(token), "X-Amz-Security-Token: %s",
                       request->secret->session_token);
        transfer->headers = curl_slist_append(transfer->headers, token);
        explicit_bzero(token, sizeof(token));
    }
    (void)curl_easy_setopt(transfer->easy, CURLOPT_AWS_SIGV4, request->sign_as);
    (void)curl_easy_setopt(transfer->easy, CURLOPT_USERNAME, request->secret->access_key);
    (void)curl_easy_setopt(transfer->easy, CURLOPT_PASSWORD, request->secret->secret_key);
}

static void set_body(CURL *easy, const struct aws_http_request *request)
{
    const char *method = request->method != NULL ? request->method : "POST";

    if (strcmp(method, "GET") == 0) {
        assert(request->sign_as == NULL);
        (void)curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        return;
    }
    (void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body_size);
    (void)curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS,
                           request->body != NULL ? request->body : "");
    if (strcmp(method, "POST") != 0)
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method);
}

void aws_http_send(struct aws_http *http, const struct aws_http_request *request,
                   void (*on_answer)(void *context, const struct aws_http_answer *answer),
                   void *context)
{
    struct transfer *transfer = mem_alloc(1, sizeof(*transfer));
    CURL *easy = curl_easy_init();

    assert(easy != NULL);
    assert(aws_http_is_allowed(request->url));
    *transfer = (struct transfer){
        .http = http,
        .easy = easy,
        .on_answer = on_answer,
        .context = context,
        .most = request->answer_max > 0 ? request->answer_max : (size_t)AWS_HTTP_ANSWER_MAX,
        .is_secret = request->is_secret,
        .after = http->first,
    };
    if (transfer->is_secret) { /* so that growing leaves no copy behind */
        transfer->room = transfer->most + 1;
        transfer->body = mem_alloc(transfer->room, 1);
    }
    set_headers(transfer, request);
    set_body(easy, request);
    (void)curl_easy_setopt(easy, CURLOPT_URL, request->url);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, transfer->headers);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    (void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->fault);
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, is_near(request->url) ? "http" : "https");
    if (is_near(request->url))
        (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    (void)curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)AWS_HTTP_CONNECT_MS);
    (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS,
                           (long)(request->timeout_ms > 0 ? request->timeout_ms : 30000));
    if (http->first != NULL)
        http->first->before = transfer;
    http->first = transfer;
    (void)curl_multi_add_handle(http->multi, easy);
}
