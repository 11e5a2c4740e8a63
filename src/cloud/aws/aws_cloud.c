/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_cloud.h"

#include <assert.h>
#include <stdio.h>
#include <uv.h>

#include "base/mem.h"
#include "cloud/aws/aws_client.h"
#include "cloud/aws/aws_fault.h"
#include "cloud/aws/aws_http.h"
#include "cloud/aws/aws_notices.h"
#include "cloud/aws/ec2_answer.h"

static const msec_t denied_ms = 300 * MSEC_PER_SEC;

/* A call of the fleet that is under way. */
struct carried {
    struct aws_cloud *cloud;
    uint64_t call; /* 0: free */
};

struct aws_cloud {
    struct aws_cloud_config config;
    struct carried carried[AWS_FLEET_CALLS];
    struct aws_client *client;
    struct aws_fleet *fleet;
    struct aws_notices *notices; /* NULL: no queue */
    struct cloud_port fleet_port;
    uv_timer_t timer;
    char fault[ERROR_TEXT_SIZE];  /* of the last answer; empty: none */
    char denied[ERROR_TEXT_SIZE]; /* the last right that was missing */
    msec_t denied_until;          /* told so long */
};

static void on_timer(uv_timer_t *timer);

static void arm(struct aws_cloud *cloud)
{
    const msec_t wake = aws_fleet_next_wake(cloud->fleet);
    const msec_t now = aws_client_now();

    if (wake == MSEC_NEVER)
        (void)uv_timer_stop(&cloud->timer);
    else
        (void)uv_timer_start(&cloud->timer, on_timer, wake > now ? (uint64_t)(wake - now) : 0, 0);
}

static void on_timer(uv_timer_t *timer)
{
    struct aws_cloud *cloud = timer->data;

    aws_fleet_tick(cloud->fleet, aws_client_now());
    arm(cloud);
}

/* ---- what the fleet wants ---- */

/* A right is missing: other requests may be answered well, so this is told for a while. */
static void note_denied(struct aws_cloud *cloud, const struct aws_http_answer *http)
{
    const struct ec2_sink sink = { 0 };
    struct ec2_answer answer = { 0 };
    const msec_t now = aws_client_now();

    (void)ec2_answer_read(http->body, http->size, &sink, &answer, NULL);
    if (aws_fault_judge(http, answer.code) != AWS_NOT_ALLOWED)
        return;
    (void)snprintf(cloud->denied, sizeof(cloud->denied),
                   "EC2 refuses a request (%s): `stint doctor --cloud` says which right is missing",
                   answer.code);
    if (now >= cloud->denied_until) /* once is enough */
        cloud->config.on_note(cloud->config.context, true, cloud->denied);
    cloud->denied_until = now + denied_ms;
}

static void on_answer(void *context, const struct aws_http_answer *answer)
{
    struct carried *carried = context;
    struct aws_cloud *cloud = carried->cloud;
    const uint64_t call = carried->call;
    const bool was_well = cloud->fault[0] == '\0';

    carried->call = 0;
    cloud->fault[0] = '\0';
    if (answer->fault < 0)
        (void)snprintf(cloud->fault, sizeof(cloud->fault), "EC2 does not answer: %s",
                       answer->reason);
    if (answer->fault == 0 && (answer->status == 401 || answer->status == 403))
        note_denied(cloud, answer);
    if (answer->fault < 0 && was_well) /* once is enough */
        cloud->config.on_note(cloud->config.context, true, cloud->fault);
    aws_fleet_answer(cloud->fleet, aws_client_now(), call, answer);
    arm(cloud);
}

static void on_send(void *context, uint64_t call, const char *body, size_t size, msec_t timeout)
{
    struct aws_cloud *cloud = context;
    struct carried *carried = cloud->carried;

    while (carried->call != 0) /* the fleet has no more than AWS_FLEET_CALLS under way */
        carried++;
    assert(carried < cloud->carried + AWS_FLEET_CALLS);
    carried->cloud = cloud;
    carried->call = call;
    aws_client_call(
        cloud->client,
        &(struct aws_call){ .service = "ec2", .body = body, .size = size, .timeout_ms = timeout },
        on_answer, carried);
}

static void on_event(void *context, const struct cloud_event *event)
{
    const struct aws_cloud *cloud = context;

    cloud->config.on_event(cloud->config.context, event);
}

static void on_note(void *context, bool is_error, const char *text)
{
    const struct aws_cloud *cloud = context;

    cloud->config.on_note(cloud->config.context, is_error, text);
}

static void on_stale_keys(void *context)
{
    const struct aws_cloud *cloud = context;

    aws_client_forget_keys(cloud->client);
}

static bool on_notice(void *context, const char *instance_id, bool is_certain)
{
    const struct aws_cloud *cloud = context;

    return aws_fleet_notice(cloud->fleet, aws_client_now(), instance_id, is_certain);
}

/* ---- the port ---- */

static void port_rent(void *self, uint64_t first, uint32_t count, uint32_t offer)
{
    struct aws_cloud *cloud = self;

    cloud->fleet_port.ops->rent(cloud->fleet_port.self, first, count, offer);
    arm(cloud);
}

static void port_give_back(void *self, uint64_t instance)
{
    struct aws_cloud *cloud = self;

    cloud->fleet_port.ops->give_back(cloud->fleet_port.self, instance);
    arm(cloud);
}

static void port_list(void *self, uint64_t key)
{
    struct aws_cloud *cloud = self;

    cloud->fleet_port.ops->list(cloud->fleet_port.self, key);
    arm(cloud);
}

struct cloud_port aws_cloud_port(struct aws_cloud *cloud)
{
    static const struct cloud_ops ops = { port_rent, port_give_back, port_list };

    return (struct cloud_port){ &ops, cloud };
}

void aws_cloud_recall(struct aws_cloud *cloud, uint32_t offer, msec_t asked_at, msec_t at,
                      bool was_refused)
{
    aws_fleet_recall(cloud->fleet, offer, asked_at, at, was_refused);
}

bool aws_cloud_refusal(const struct aws_cloud *cloud, uint32_t offer, msec_t now,
                       struct cloud_refusal *ret)
{
    return aws_fleet_refusal(cloud->fleet, offer, now, ret);
}

msec_t aws_cloud_memory(const struct aws_cloud *cloud)
{
    return aws_fleet_memory(cloud->fleet);
}

const char *aws_cloud_fault(const struct aws_cloud *cloud)
{
    if (cloud->fault[0] != '\0')
        return cloud->fault;
    return aws_client_now() < cloud->denied_until ? cloud->denied : NULL;
}

struct aws_fleet_stats aws_cloud_stats(const struct aws_cloud *cloud)
{
    return aws_fleet_stats(cloud->fleet);
}

/* ---- life ---- */

static int create_fleet(struct aws_cloud *cloud, struct error *reterr)
{
    const struct aws_settings *settings = cloud->config.settings;

    return aws_fleet_create(
        &(struct aws_fleet_config){
            .catalogue = cloud->config.catalogue,
            .cluster = cloud->config.cluster,
            .node_prefix = cloud->config.node_prefix,
            .launch_template = settings->launch_template,
            .launch_template_version = settings->launch_template_version,
            .image = settings->image,
            .user_data = settings->user_data,
            .subnets = settings->subnets,
            .subnet_count = settings->subnet_count,
            .timing = settings->timing,
            .together = settings->together,
            .seed = cloud->config.seed,
            .on_send = on_send,
            .on_event = on_event,
            .on_note = on_note,
            .on_stale_keys = on_stale_keys,
            .context = cloud,
        },
        &cloud->fleet, reterr);
}

int aws_cloud_create(const struct aws_cloud_config *config, struct aws_cloud **ret,
                     struct error *reterr)
{
    const struct aws_settings *settings = config->settings;
    struct aws_cloud *cloud = mem_alloc(1, sizeof(*cloud));
    int rc;

    cloud->config = *config;
    rc = create_fleet(cloud, reterr);
    if (rc == 0)
        rc = aws_client_create(&(struct aws_client_config){ .loop = config->loop,
                                                            .region = settings->region,
                                                            .endpoint = settings->endpoint,
                                                            .profile = settings->profile },
                               &cloud->client, reterr);
    if (rc < 0) {
        aws_fleet_destroy(cloud->fleet);
        mem_free(cloud);
        return rc;
    }
    cloud->fleet_port = aws_fleet_port(cloud->fleet);
    (void)uv_timer_init(config->loop, &cloud->timer);
    cloud->timer.data = cloud;
    if (settings->queue != NULL)
        cloud->notices =
            aws_notices_create(&(struct aws_notices_config){ .loop = config->loop,
                                                             .client = cloud->client,
                                                             .queue_url = settings->queue,
                                                             .seed = config->seed,
                                                             .on_notice = on_notice,
                                                             .on_note = on_note,
                                                             .context = cloud });
    *ret = cloud;
    return 0;
}

static void on_closed(uv_handle_t *handle)
{
    mem_free(handle->data);
}

void aws_cloud_destroy(struct aws_cloud *cloud)
{
    if (cloud == NULL)
        return;
    aws_client_destroy(cloud->client);
    aws_notices_destroy(cloud->notices);
    aws_fleet_destroy(cloud->fleet);
    uv_close((uv_handle_t *)&cloud->timer, on_closed);
}
