/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aws_cloud.h - EC2 behind the cloud port, in the daemon's loop.
 *
 *     struct aws_cloud *cloud;
 *     rc = aws_cloud_create(&(struct aws_cloud_config){ .loop = loop, ... }, &cloud, &error);
 *     controller_config.cloud = aws_cloud_port(cloud);
 *
 * What the machines do is in aws_fleet.h; this carries its requests, keeps its time and listens to
 * the queue of notices.
 *
 * Before anything is asked of EC2, STS is asked whose keys these are (GetCallerIdentity), at the start and
 * whenever keys were read that are not those of before. Unless 'on_account' says that the account is the
 * right one nothing is sent: nothing rented, listed or ended.
 *
 * Promises:  actions never call back before they return; events come from the loop.
 */
#ifndef STINT_CLOUD_AWS_CLOUD_H
#define STINT_CLOUD_AWS_CLOUD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "cloud/aws/aws_fleet.h"
#include "cloud/aws/aws_settings.h"
#include "control/ports/cloud_port.h"

struct uv_loop_s;
struct aws_cloud;

struct aws_cloud_config {
    struct uv_loop_s *loop;            /* outlives it */
    const struct catalogue *catalogue; /* outlives it */
    const char *cluster;
    const char *node_prefix;
    const struct aws_settings *settings; /* read while it is created */
    uint64_t seed;                       /* of the jitter */
    void (*on_event)(void *context, const struct cloud_event *event);
    void (*on_note)(void *context, bool is_error, const char *text); /* for the log */
    /* Whether the keys may be of this account; the error is reported until other keys are read. NULL: any. */
    int (*on_account)(void *context, const char *account, struct error *reterr);
    void *context;
};

int aws_cloud_create(const struct aws_cloud_config *config, struct aws_cloud **ret,
                     struct error *reterr);

/* Machines stay as they are. Requests under way are dropped; the loop must turn until its handles
 * are closed. Not from within an event. Takes NULL. */
void aws_cloud_destroy(struct aws_cloud *cloud);

struct cloud_port aws_cloud_port(struct aws_cloud *cloud);

/* As aws_fleet_recall, which see. */
void aws_cloud_recall(struct aws_cloud *cloud, uint32_t offer, msec_t asked_at, msec_t at,
                      bool was_refused);

/* As aws_fleet_refusal. */
bool aws_cloud_refusal(const struct aws_cloud *cloud, uint32_t offer, msec_t now,
                       struct cloud_refusal *ret);

/* How long the memory of a refusal can matter. */
msec_t aws_cloud_memory(const struct aws_cloud *cloud);

/* Why the last request had no answer, that one has waited for 20 s, why lists are not believed, or that a
 * request of the last five minutes was refused for want of a right; NULL: nothing of these. */
const char *aws_cloud_fault(const struct aws_cloud *cloud);

/* Whether the account is known and the right one, or was a moment ago. */
bool aws_cloud_is_usable(const struct aws_cloud *cloud);

/* As aws_fleet_trouble. */
struct aws_fleet_trouble aws_cloud_trouble(const struct aws_cloud *cloud);

struct aws_fleet_stats aws_cloud_stats(const struct aws_cloud *cloud);

#endif
