/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_notices.h - warnings that machines will be taken away, from a queue.
 *
 * EventBridge puts "EC2 Spot Instance Interruption Warning" and "EC2 Instance Rebalance
 * Recommendation" into an SQS queue; we wait there by long polls. A notice that comes twice or late
 * is reported again, which is harmless; one about an instance not yet known is left in the queue
 * and comes back.
 */
#ifndef STINT_CLOUD_AWS_NOTICES_H
#define STINT_CLOUD_AWS_NOTICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct uv_loop_s;
struct aws_client;
struct aws_notices;

enum { AWS_NOTICE_ID_SIZE = 32 };

struct aws_notices_config {
    struct uv_loop_s *loop;
    struct aws_client *client; /* outlives it */
    const char *queue_url;
    uint64_t seed;
    /* Whether the instance is known: then the message is done with. */
    bool (*on_notice)(void *context, const char *instance_id, bool is_certain);
    void (*on_note)(void *context, bool is_error, const char *text);
    void *context;
};

/* Begins at once. */
struct aws_notices *aws_notices_create(const struct aws_notices_config *config);

/* Destroy the client before: its calls end there. Takes NULL. */
void aws_notices_destroy(struct aws_notices *notices);

/* What one message says: 1, 'ret_id' of AWS_NOTICE_ID_SIZE bytes will be taken away ('ret_is_certain':
 * surely, else it is at risk); 0, it is about something else; below 0, it cannot be read. */
int aws_notice_read(const char *text, size_t size, char *ret_id, bool *ret_is_certain,
                    struct error *reterr);

#endif
