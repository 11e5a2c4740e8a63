/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/join_imds.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "base/units.h"
#include "cloud/aws/aws_http.h"
#include "cloud/aws/join_facts.h"

enum {
    URL_SIZE = 256,
    PATH_SIZE = 128,
    TIMEOUT_MS = 2000,
    TOKEN_SECONDS = 21600,
    TOKEN_EARLY_SECONDS = 600,
    HTTP_UNAUTHORIZED = 401,
};

struct join_imds {
    uv_loop_t *loop;
    struct aws_http *http;
    char url[URL_SIZE];
    char path[PATH_SIZE]; /* of the question; empty: none */
    size_t most;
    bool is_second; /* the token is fresh: it is not fetched once more */
    char token[JOIN_TOKEN_SIZE];
    uint64_t token_until; /* milliseconds of the loop */
    void (*on_answer)(void *context, const struct aws_http_answer *answer);
    void *context;
};

bool join_imds_is_allowed(const char *url)
{
    return strncmp(url, "http://", 7) == 0 && strlen(url) < URL_SIZE && aws_http_is_allowed(url);
}

struct join_imds *join_imds_create(struct uv_loop_s *loop, const char *url)
{
    struct join_imds *imds = mem_alloc(1, sizeof(*imds));
    size_t length = strlen(url);

    assert(join_imds_is_allowed(url));
    imds->loop = loop;
    imds->http = aws_http_create(loop);
    while (url[length - 1] == '/')
        length--;
    (void)snprintf(imds->url, sizeof(imds->url), "%.*s", (int)length, url);
    return imds;
}

void join_imds_destroy(struct join_imds *imds)
{
    if (imds == NULL)
        return;
    aws_http_destroy(imds->http);
    mem_free(imds);
}

static void tell(struct join_imds *imds, const struct aws_http_answer *answer)
{
    imds->path[0] = '\0';
    imds->on_answer(imds->context, answer);
}

static void send_request(struct join_imds *imds, const char *method, const char *path,
                         const char *header, size_t most,
                         void (*on_answer)(void *context, const struct aws_http_answer *answer))
{
    char url[URL_SIZE + PATH_SIZE];

    (void)snprintf(url, sizeof(url), "%s%s", imds->url, path);
    aws_http_send(imds->http,
                  &(struct aws_http_request){
                      .method = method,
                      .url = url,
                      .headers = { header },
                      .timeout_ms = TIMEOUT_MS,
                      .answer_max = most,
                  },
                  on_answer, imds);
}

static void ask_token(struct join_imds *imds);

static void on_document(void *context, const struct aws_http_answer *answer)
{
    struct join_imds *imds = context;

    if (answer->fault == 0 && answer->status == HTTP_UNAUTHORIZED && !imds->is_second)
        ask_token(imds);
    else
        tell(imds, answer);
}

static void ask_document(struct join_imds *imds)
{
    char header[JOIN_TOKEN_SIZE + 32];

    (void)snprintf(header, sizeof(header), "X-aws-ec2-metadata-token: %s", imds->token);
    send_request(imds, "GET", imds->path, header, imds->most, on_document);
}

static void on_token(void *context, const struct aws_http_answer *answer)
{
    struct join_imds *imds = context;

    if (answer->fault < 0 || answer->status != 200) {
        /* A service that has no such thing as a token is not one that has an answer. */
        struct aws_http_answer failed = *answer;

        if (failed.fault == 0 && failed.status == 404)
            failed.status = 403;
        tell(imds, &failed);
        return;
    }
    if (!join_token_is_good(answer->body, answer->size)) {
        tell(imds, &(struct aws_http_answer){
                       .fault = -EBADMSG, .reason = "its token cannot be read", .body = "" });
        return;
    }
    memcpy(imds->token, answer->body, answer->size);
    imds->token[answer->size] = '\0';
    imds->token_until =
        uv_now(imds->loop) + (uint64_t)(TOKEN_SECONDS - TOKEN_EARLY_SECONDS) * MSEC_PER_SEC;
    ask_document(imds);
}

static void ask_token(struct join_imds *imds)
{
    char header[64];

    imds->is_second = true;
    (void)snprintf(header, sizeof(header), "X-aws-ec2-metadata-token-ttl-seconds: %d",
                   TOKEN_SECONDS);
    send_request(imds, "PUT", "/latest/api/token", header, JOIN_TOKEN_SIZE, on_token);
}

void join_imds_get(struct join_imds *imds, const char *path, size_t most,
                   void (*on_answer)(void *context, const struct aws_http_answer *answer),
                   void *context)
{
    assert(imds->path[0] == '\0');
    assert(strlen(path) < PATH_SIZE);
    (void)snprintf(imds->path, sizeof(imds->path), "%s", path);
    imds->most = most;
    imds->on_answer = on_answer;
    imds->context = context;
    imds->is_second = false;
    if (imds->token[0] != '\0' && uv_now(imds->loop) < imds->token_until)
        ask_document(imds);
    else
        ask_token(imds);
}
