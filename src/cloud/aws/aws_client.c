/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_client.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "base/steady_clock.h"
#include "cloud/aws/aws_credentials.h"
#include "cloud/aws/aws_form.h"
#include "cloud/aws/aws_http.h"

enum { URL_SIZE = 512, REGION_SIZE = 64 };

struct pending {
    struct aws_client *client;
    struct pending *before;
    struct pending *after;
    char *body;
    size_t size;
    char service[24];
    char region[REGION_SIZE];
    char target[96];
    msec_t timeout_ms;
    void (*on_answer)(void *context, const struct aws_http_answer *answer);
    void *context;
    int unsigned_fault; /* why it cannot be signed; 0: it can */
    bool is_sent;
    char access_key[AWS_SECRET_KEY_SIZE]; /* that signed it */
};

struct aws_client {
    struct aws_client_config config;
    struct aws_http *http;
    struct aws_credentials *credentials;
    struct pending *first;
    uv_timer_t timer; /* answers what could not be signed */
    char region[REGION_SIZE];
    char endpoint[URL_SIZE]; /* empty: none given */
    char why[ERROR_TEXT_SIZE];
    char asked[AWS_SECRET_KEY_SIZE];   /* access key of the last call of STS that was answered */
    char trusted[AWS_SECRET_KEY_SIZE]; /* access key that may be used; empty: none yet */
};

msec_t aws_client_now(void)
{
    static struct steady_clock clock;
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return steady_clock_read(&clock, (msec_t)now.tv_sec * MSEC_PER_SEC + now.tv_nsec / 1000000,
                             (msec_t)(uv_hrtime() / 1000000));
}

static msec_t get_now(void *context)
{
    (void)context;
    return aws_client_now();
}

static const char *env(const struct aws_client *client, const char *name)
{
    const char *value = client->config.get_env != NULL
                            ? client->config.get_env(client->config.context, name)
                            : getenv(name);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

/* ---- where a service is ---- */

static void url_of(const struct aws_client *client, const char *service, const char *region,
                   char *ret)
{
    const char *given = client->endpoint[0] != '\0' ? client->endpoint : NULL;
    char name[64] = "AWS_ENDPOINT_URL_";
    const size_t start = strlen(name);

    for (size_t i = 0; service[i] != '\0' && start + i + 1 < sizeof(name); i++)
        name[start + i] =
            (char)(service[i] >= 'a' && service[i] <= 'z' ? service[i] - 'a' + 'A' : service[i]);
    if (given == NULL)
        given = env(client, name);
    if (given == NULL)
        given = env(client, "AWS_ENDPOINT_URL");
    if (given != NULL && strlen(given) + 2 < URL_SIZE) {
        const size_t length = strlen(given);

        memcpy(ret, given, length + 1);
        if (length == 0 || given[length - 1] != '/')
            memcpy(ret + length, "/", 2);
    } else {
        (void)snprintf(ret, URL_SIZE, "https://%s%s.%s.amazonaws.com%s/",
                       strcmp(service, "pricing") == 0 ? "api." : "", service, region,
                       strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
    }
}

/* ---- calls ---- */

static void unlink_pending(struct pending *pending)
{
    if (pending->before != NULL)
        pending->before->after = pending->after;
    else
        pending->client->first = pending->after;
    if (pending->after != NULL)
        pending->after->before = pending->before;
}

static void free_pending(struct pending *pending)
{
    mem_free(pending->body);
    mem_free(pending);
}

static void on_http(void *context, const struct aws_http_answer *answer)
{
    struct pending *pending = context;

    unlink_pending(pending);
    if (strcmp(pending->service, "sts") == 0)
        memcpy(pending->client->asked, pending->access_key, sizeof(pending->access_key));
    pending->on_answer(pending->context, answer);
    free_pending(pending);
}

static void on_unsigned(uv_timer_t *timer)
{
    struct aws_client *client = timer->data;
    struct pending *next;

    for (struct pending *pending = client->first; pending != NULL; pending = next) {
        next = pending->after;
        if (pending->unsigned_fault == 0)
            continue;
        on_http(pending, &(struct aws_http_answer){
                             .fault = pending->unsigned_fault,
                             .reason = pending->unsigned_fault == -ENOKEY
                                           ? client->why
                                           : "the owner of these keys is unknown so far",
                             .body = "" });
        next = client->first; /* the callback may have changed the list: from the start */
    }
}

static void send_pending(struct pending *pending, const struct aws_secret *secret)
{
    char url[URL_SIZE];
    char sign_as[128];
    char target[128];

    url_of(pending->client, pending->service, pending->region, url);
    (void)snprintf(sign_as, sizeof(sign_as), "aws:amz:%s:%s", pending->region, pending->service);
    (void)snprintf(target, sizeof(target), "X-Amz-Target: %s", pending->target);
    pending->is_sent = true;
    aws_http_send(pending->client->http,
                  &(struct aws_http_request){
                      .url = url,
                      .body = pending->body,
                      .body_size = pending->size,
                      .headers = { pending->target[0] != '\0'
                                       ? strncmp(pending->target, "AWSPriceList", 12) == 0
                                             ? "Content-Type: application/x-amz-json-1.1"
                                             : "Content-Type: application/x-amz-json-1.0"
                                       : AWS_FORM_TYPE,
                                   pending->target[0] != '\0' ? target : NULL },
                      .sign_as = sign_as,
                      .secret = secret,
                      .timeout_ms = pending->timeout_ms,
                  },
                  on_http, pending);
}

static bool may_sign(const struct pending *pending, const struct aws_secret *secret)
{
    const struct aws_client *client = pending->client;

    return !client->config.is_guarded || strcmp(pending->service, "ec2") != 0 ||
           strcmp(secret->access_key, client->trusted) == 0;
}

static void on_keys(void *context, const struct aws_secret *secret, const char *why)
{
    struct pending *pending = context;

    if (secret != NULL && may_sign(pending, secret)) {
        memcpy(pending->access_key, secret->access_key, sizeof(pending->access_key));
        send_pending(pending, secret);
        return;
    }
    if (secret == NULL)
        (void)snprintf(pending->client->why, sizeof(pending->client->why), "%s", why);
    pending->unsigned_fault = secret == NULL ? -ENOKEY : -EKEYREJECTED;
    (void)uv_timer_start(&pending->client->timer, on_unsigned, 0, 0);
}

void aws_client_call(struct aws_client *client, const struct aws_call *call,
                     void (*on_answer)(void *context, const struct aws_http_answer *answer),
                     void *context)
{
    struct pending *pending = mem_alloc(1, sizeof(*pending));

    *pending = (struct pending){ .client = client,
                                 .after = client->first,
                                 .body = mem_alloc(call->size + 1, 1),
                                 .size = call->size,
                                 .timeout_ms = call->timeout_ms,
                                 .on_answer = on_answer,
                                 .context = context };
    memcpy(pending->body, call->body, call->size);
    (void)snprintf(pending->service, sizeof(pending->service), "%s", call->service);
    (void)snprintf(pending->region, sizeof(pending->region), "%s",
                   call->region != NULL ? call->region : client->region);
    if (call->target != NULL)
        (void)snprintf(pending->target, sizeof(pending->target), "%s", call->target);
    if (client->first != NULL)
        client->first->before = pending;
    client->first = pending;
    aws_credentials_get(client->credentials, on_keys, pending);
}

void aws_client_trust(struct aws_client *client)
{
    memcpy(client->trusted, client->asked, sizeof(client->trusted));
}

void aws_client_forget_keys(struct aws_client *client)
{
    aws_credentials_forget(client->credentials);
}

const char *aws_client_key_source(const struct aws_client *client)
{
    return aws_credentials_source(client->credentials);
}

const char *aws_client_region(const struct aws_client *client)
{
    return client->region;
}

/* ---- life ---- */

static int set_region(struct aws_client *client, const char *region, struct error *reterr)
{
    static const char *const letters = "abcdefghijklmnopqrstuvwxyz0123456789-";

    if (region == NULL)
        region = aws_credentials_profile_region(client->credentials);
    if (region == NULL)
        return error_set(reterr, -EDESTADDRREQ,
                         "no AWS region: set 'region' in the configuration, or AWS_REGION");
    /* It becomes part of a host's name. */
    if (strlen(region) >= REGION_SIZE || region[strspn(region, letters)] != '\0')
        return error_set(reterr, -EINVAL, "the AWS region is none");
    (void)snprintf(client->region, sizeof(client->region), "%s", region);
    return 0;
}

static int find_endpoint(struct aws_client *client, struct error *reterr)
{
    char url[URL_SIZE];

    if (client->config.endpoint != NULL) {
        if (strlen(client->config.endpoint) + 2 >= URL_SIZE)
            return error_set(reterr, -EINVAL, "the endpoint is too long");
        (void)snprintf(client->endpoint, sizeof(client->endpoint), "%s", client->config.endpoint);
    }
    url_of(client, "ec2", client->region, url);
    if (!aws_http_is_allowed(url))
        return error_set(reterr, -EINVAL,
                         "the endpoint must be https, or on this machine (http://127.0.0.1)");
    url_of(client, "sts", client->region, url);
    if (!aws_http_is_allowed(url))
        return error_set(
            reterr, -EINVAL,
            "the endpoint of STS must be https, or on this machine (http://127.0.0.1)");
    url_of(client, "sqs", client->region, url);
    return aws_http_is_allowed(url)
               ? 0
               : error_set(
                     reterr, -EINVAL,
                     "the endpoint of SQS must be https, or on this machine (http://127.0.0.1)");
}

int aws_client_create(const struct aws_client_config *config, struct aws_client **ret,
                      struct error *reterr)
{
    struct aws_client *client = mem_alloc(1, sizeof(*client));
    const char *region = config->region;
    int rc;

    client->config = *config;
    if (region == NULL)
        region = env(client, "AWS_REGION");
    if (region == NULL)
        region = env(client, "AWS_DEFAULT_REGION");
    client->http = aws_http_create(config->loop);
    client->credentials = aws_credentials_create(&(struct aws_credentials_config){
        .http = client->http,
        .loop = config->loop,
        .profile = config->profile,
        .region = region,
        .get_env = config->get_env,
        .get_now = get_now,
        .context = config->context,
    });
    (void)uv_timer_init(config->loop, &client->timer);
    client->timer.data = client;
    rc = set_region(client, region, reterr);
    if (rc == 0)
        rc = find_endpoint(client, reterr);
    if (rc < 0) {
        aws_client_destroy(client);
        return rc;
    }
    aws_secret_guard();
    *ret = client;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    mem_free(handle->data);
}

void aws_client_destroy(struct aws_client *client)
{
    if (client == NULL)
        return;
    aws_http_destroy(client->http);
    aws_credentials_destroy(client->credentials);
    while (client->first != NULL) {
        struct pending *pending = client->first;

        unlink_pending(pending);
        free_pending(pending);
    }
    uv_close((uv_handle_t *)&client->timer, on_closed);
}
