/* SPDX-License-Identifier: Apache-2.0 */
/*
 * join_imds.h - questions to the instance metadata service, with its session token (IMDSv2).
 *
 * One question at a time. The token is fetched before the first one, again before it ends, and again
 * once if the service does not know it any more.
 *
 * Promises:  no callback before join_imds_get returns, once for each question, unless it is destroyed
 *            before. Speaks http with this machine and the link-local service only.
 */
#ifndef STINT_CLOUD_JOIN_IMDS_H
#define STINT_CLOUD_JOIN_IMDS_H

#include <stdbool.h>
#include <stddef.h>

struct uv_loop_s;
struct aws_http_answer;
struct join_imds;

#define JOIN_IMDS_URL "http://169.254.169.254"

/* Whether 'url' may be that of the service. */
bool join_imds_is_allowed(const char *url);

/* 'url' must be allowed; it is copied. 'loop' outlives it. */
struct join_imds *join_imds_create(struct uv_loop_s *loop, const char *url);

/* Not from within a callback. The loop must turn once more. Takes NULL. */
void join_imds_destroy(struct join_imds *imds);

/* GET 'path', which is copied; an answer longer than 'most' is a fault. */
void join_imds_get(struct join_imds *imds, const char *path, size_t most,
                   void (*on_answer)(void *context, const struct aws_http_answer *answer),
                   void *context);

#endif
