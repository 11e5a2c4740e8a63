/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_notices.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "base/rng.h"
#include "cloud/aws/aws_client.h"
#include "cloud/aws/aws_fault.h"
#include "cloud/aws/aws_http.h"

enum {
    WAIT_SECONDS = 20,
    HIDE_SECONDS = 30,
    POLL_TIMEOUT_MS = 30000,
    RETRY_MS = 1000,
    RETRY_MOST_MS = 60000,
    MESSAGE_MAX = 1 << 18,
};

struct aws_notices {
    struct aws_notices_config config;
    char *queue_url;
    uv_timer_t timer;
    struct rng rng;
    uint32_t attempts;
};

/* ---- one message ---- */

static bool is_instance_id(const char *text)
{
    return text != NULL && strncmp(text, "i-", 2) == 0 && strlen(text) < AWS_NOTICE_ID_SIZE &&
           text[2 + strspn(text + 2, "0123456789abcdef")] == '\0';
}

int aws_notice_read(const char *text, size_t size, char *ret_id, bool *ret_is_certain,
                    struct error *reterr)
{
    json_t *object;
    const char *kind;
    const char *id;
    int rc = 0;

    if (size > MESSAGE_MAX)
        return error_set(reterr, -E2BIG, "the message is too long");
    object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    kind = json_string_value(json_object_get(object, "detail-type"));
    id = json_string_value(json_object_get(json_object_get(object, "detail"), "instance-id"));
    if (object == NULL) {
        rc = error_set(reterr, -EBADMSG, "the message is no JSON");
    } else if (kind != NULL && is_instance_id(id)) {
        const bool is_certain = strcmp(kind, "EC2 Spot Instance Interruption Warning") == 0;

        if (is_certain || strcmp(kind, "EC2 Instance Rebalance Recommendation") == 0) {
            (void)snprintf(ret_id, AWS_NOTICE_ID_SIZE, "%s", id);
            *ret_is_certain = is_certain;
            rc = 1;
        }
    }
    json_decref(object);
    return rc;
}

/* ---- the queue ---- */

static void poll(struct aws_notices *notices);

static void on_timer(uv_timer_t *timer)
{
    poll(timer->data);
}

static void on_deleted(void *context, const struct aws_http_answer *answer)
{
    (void)context;
    (void)answer; /* if it was not, the notice comes again */
}

static void call(struct aws_notices *notices, const char *target, json_t *body, msec_t timeout_ms,
                 void (*on_answer)(void *context, const struct aws_http_answer *answer))
{
    char *text = json_dumps(body, JSON_COMPACT);

    assert(text != NULL);
    aws_client_call(notices->config.client,
                    &(struct aws_call){ .service = "sqs",
                                        .body = text,
                                        .size = strlen(text),
                                        .target = target,
                                        .timeout_ms = timeout_ms },
                    on_answer, notices);
    free(text);
    json_decref(body);
}

static void take_message(struct aws_notices *notices, const json_t *message)
{
    const char *body = json_string_value(json_object_get(message, "Body"));
    const char *receipt = json_string_value(json_object_get(message, "ReceiptHandle"));
    char id[AWS_NOTICE_ID_SIZE];
    bool is_certain = false;
    bool is_done = true;

    if (body == NULL || receipt == NULL)
        return;
    if (aws_notice_read(body, strlen(body), id, &is_certain, NULL) == 1)
        is_done = notices->config.on_notice(notices->config.context, id, is_certain);
    if (is_done)
        call(notices, "AmazonSQS.DeleteMessage",
             json_pack("{s:s,s:s}", "QueueUrl", notices->queue_url, "ReceiptHandle", receipt),
             POLL_TIMEOUT_MS, on_deleted);
}

static void poll_again(struct aws_notices *notices, bool has_failed)
{
    const msec_t wait = has_failed ? RETRY_MS + aws_fault_wait(&notices->rng, RETRY_MS,
                                                               RETRY_MOST_MS, notices->attempts)
                                   : 0;

    notices->attempts = has_failed ? notices->attempts + 1 : 0;
    (void)uv_timer_start(&notices->timer, on_timer, (uint64_t)wait, 0);
}

static void on_messages(void *context, const struct aws_http_answer *answer)
{
    struct aws_notices *notices = context;
    json_t *object = NULL;
    char text[256];

    if (answer->fault == 0)
        object = json_loadb(answer->body, answer->size, JSON_REJECT_DUPLICATES, NULL);
    if (answer->fault < 0 || answer->status != 200 || !json_is_object(object)) {
        const char *kind = json_string_value(json_object_get(object, "__type"));

        (void)snprintf(text, sizeof(text), "the queue of notices does not answer: %.160s",
                       answer->fault < 0 ? answer->reason
                       : kind != NULL    ? kind
                                         : "not what was asked for");
        if (notices->attempts == 0)
            notices->config.on_note(notices->config.context, true, text);
        if (kind != NULL && strstr(kind, "ExpiredToken") != NULL)
            aws_client_forget_keys(notices->config.client);
        poll_again(notices, true);
    } else {
        const json_t *messages = json_object_get(object, "Messages");

        for (size_t i = 0; i < json_array_size(messages); i++)
            take_message(notices, json_array_get(messages, i));
        poll_again(notices, false);
    }
    json_decref(object);
}

static void poll(struct aws_notices *notices)
{
    call(notices, "AmazonSQS.ReceiveMessage",
         json_pack("{s:s,s:i,s:i,s:i}", "QueueUrl", notices->queue_url, "MaxNumberOfMessages", 10,
                   "WaitTimeSeconds", WAIT_SECONDS, "VisibilityTimeout", HIDE_SECONDS),
         POLL_TIMEOUT_MS, on_messages);
}

struct aws_notices *aws_notices_create(const struct aws_notices_config *config)
{
    struct aws_notices *notices = mem_alloc(1, sizeof(*notices));
    const size_t size = strlen(config->queue_url) + 1;

    notices->config = *config;
    notices->queue_url = mem_alloc(size, 1);
    memcpy(notices->queue_url, config->queue_url, size);
    rng_init(&notices->rng, config->seed, 1);
    (void)uv_timer_init(config->loop, &notices->timer);
    notices->timer.data = notices;
    poll_again(notices, false);
    return notices;
}

static void on_closed(uv_handle_t *handle)
{
    struct aws_notices *notices = handle->data;

    mem_free(notices->queue_url);
    mem_free(notices);
}

void aws_notices_destroy(struct aws_notices *notices)
{
    if (notices == NULL)
        return;
    uv_close((uv_handle_t *)&notices->timer, on_closed);
}
