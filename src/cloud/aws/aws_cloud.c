/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_cloud.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "cloud/aws/aws_client.h"
#include "cloud/aws/aws_fault.h"
#include "cloud/aws/aws_form.h"
#include "cloud/aws/aws_http.h"
#include "cloud/aws/aws_notices.h"
#include "cloud/aws/aws_sts.h"
#include "cloud/aws/ec2_answer.h"

static const msec_t denied_ms = 300 * MSEC_PER_SEC;

/* A request without an answer for so long is reported, before it is given up. */
static const msec_t silent_ms = 20 * MSEC_PER_SEC;

/* Between two questions whose keys these are, while the answer is not the right one: doubling to the last. */
static const msec_t account_retry_ms = 1000;
static const msec_t account_retry_most_ms = 30 * MSEC_PER_SEC;

/* A question that takes so long is reported. */
static const msec_t account_late_ms = 10 * MSEC_PER_SEC;

enum account_state {
    ACCOUNT_UNKNOWN, /* it is asked for */
    ACCOUNT_RIGHT,
    ACCOUNT_WRONG, /* it is asked for again now and then: the keys may be corrected */
};

struct account {
    enum account_state state;
    bool is_asking;
    bool was_right; /* once; 'id' is that of the last right one */
    msec_t since;   /* not known, or wrong */
    msec_t ask_at;
    uint32_t attempts;
    char id[AWS_STS_ACCOUNT_SIZE];
    char fault[ERROR_TEXT_SIZE]; /* empty: none */
};

/* A call of the fleet that is under way. */
struct carried {
    struct aws_cloud *cloud;
    uint64_t call; /* 0: free */
    msec_t sent_at;
};

struct aws_cloud {
    struct aws_cloud_config config;
    struct carried carried[AWS_FLEET_CALLS];
    struct aws_client *client;
    struct aws_fleet *fleet;
    struct aws_notices *notices; /* NULL: no queue */
    struct cloud_port fleet_port;
    struct account account;
    struct rng rng;
    struct aws_form form;
    uv_timer_t timer;
    char fault[ERROR_TEXT_SIZE];  /* of the last answer; empty: none */
    char denied[ERROR_TEXT_SIZE]; /* the last right that was missing */
    msec_t denied_until;          /* reported so long */
};

static void on_timer(uv_timer_t *timer);

static void arm(struct aws_cloud *cloud)
{
    const struct account *account = &cloud->account;
    const msec_t now = aws_client_now();
    msec_t wake = aws_fleet_next_wake(cloud->fleet);

    if (account->state != ACCOUNT_RIGHT && !account->is_asking && account->ask_at < wake)
        wake = account->ask_at;

    if (wake == MSEC_NEVER)
        (void)uv_timer_stop(&cloud->timer);
    else
        (void)uv_timer_start(&cloud->timer, on_timer, wake > now ? (uint64_t)(wake - now) : 0, 0);
}

/* ---- whose keys these are ---- */

static void set_account_fault(struct aws_cloud *cloud, const char *text)
{
    struct account *account = &cloud->account;

    if (strcmp(account->fault, text) == 0)
        return;
    (void)snprintf(account->fault, sizeof(account->fault), "%s", text);
    if (text[0] != '\0')
        cloud->config.on_note(cloud->config.context, true, account->fault);
}

/* Nothing more is sent to EC2 before the account is known. */
static void doubt_account(struct aws_cloud *cloud)
{
    struct account *account = &cloud->account;

    if (account->state != ACCOUNT_RIGHT)
        return;
    account->state = ACCOUNT_UNKNOWN;
    account->since = aws_client_now();
    account->ask_at = 0;
    account->attempts = 0;
    aws_fleet_shut(cloud->fleet);
}

static void account_is(struct aws_cloud *cloud, const char *id)
{
    struct account *account = &cloud->account;
    struct error error = { "" };
    char text[64];

    if (cloud->config.on_account != NULL &&
        cloud->config.on_account(cloud->config.context, id, &error) < 0) {
        account->state = ACCOUNT_WRONG;
        set_account_fault(cloud, error.text);
        aws_client_forget_keys(cloud->client);
        return;
    }
    if (!account->was_right || strcmp(account->id, id) != 0) {
        (void)snprintf(text, sizeof(text), "the keys are of account=%s", id);
        cloud->config.on_note(cloud->config.context, false, text);
    }
    memcpy(account->id, id, sizeof(account->id));
    account->state = ACCOUNT_RIGHT;
    account->was_right = true;
    account->attempts = 0;
    set_account_fault(cloud, "");
    aws_client_trust(cloud->client);
    aws_fleet_open(cloud->fleet, id, aws_client_region(cloud->client));
}

static void on_account(void *context, const struct aws_http_answer *answer)
{
    struct aws_cloud *cloud = context;
    struct account *account = &cloud->account;
    const msec_t now = aws_client_now();
    struct error error = { "" };
    char id[AWS_STS_ACCOUNT_SIZE];
    char text[ERROR_TEXT_SIZE];
    const int rc = aws_sts_read_account(answer, id, &error);

    account->is_asking = false;
    account->ask_at = now + aws_fault_wait(&cloud->rng, account_retry_ms, account_retry_most_ms,
                                           account->attempts++);
    if (rc == 0) {
        account_is(cloud, id);
    } else {
        if (rc == -EKEYEXPIRED)
            aws_client_forget_keys(cloud->client);
        (void)snprintf(
            text, sizeof(text),
            "AWS does not name the owner of the keys, so Stint sends no requests to EC2: %.300s",
            error.text);
        set_account_fault(cloud, text);
    }
    aws_fleet_tick(cloud->fleet, now);
    arm(cloud);
}

static void ask_account(struct aws_cloud *cloud, msec_t now)
{
    struct account *account = &cloud->account;

    if (account->state == ACCOUNT_RIGHT || account->is_asking || now < account->ask_at)
        return;
    account->is_asking = true;
    aws_sts_ask_account(&cloud->form);
    aws_client_call(cloud->client,
                    &(struct aws_call){ .service = "sts",
                                        .body = cloud->form.text,
                                        .size = cloud->form.size,
                                        .timeout_ms = account_retry_most_ms },
                    on_account, cloud);
}

static const char *account_fault(const struct aws_cloud *cloud, msec_t now)
{
    const struct account *account = &cloud->account;

    if (account->state == ACCOUNT_RIGHT)
        return NULL;
    if (account->fault[0] != '\0')
        return account->fault;
    return now - account->since > account_late_ms ? "AWS has not named the owner of the keys yet"
                                                  : NULL;
}

bool aws_cloud_is_usable(const struct aws_cloud *cloud)
{
    return cloud->account.was_right && cloud->account.state != ACCOUNT_WRONG;
}

static void on_timer(uv_timer_t *timer)
{
    struct aws_cloud *cloud = timer->data;

    ask_account(cloud, aws_client_now());
    aws_fleet_tick(cloud->fleet, aws_client_now());
    arm(cloud);
}

/* ---- what the fleet wants ---- */

/* A right is missing: other requests may be answered well, so this is reported for a while. */
static void note_denied(struct aws_cloud *cloud, const struct aws_http_answer *http)
{
    const struct ec2_sink sink = { 0 };
    struct ec2_answer answer = { 0 };
    const msec_t now = aws_client_now();

    (void)ec2_answer_read(http->body, http->size, NULL, &sink, &answer, NULL);
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
    if (answer->fault == -EKEYREJECTED)
        doubt_account(cloud);
    else if (answer->fault < 0)
        (void)snprintf(cloud->fault, sizeof(cloud->fault), "EC2 does not answer: %s",
                       answer->reason);
    if (answer->fault == 0 && (answer->status == 401 || answer->status == 403))
        note_denied(cloud, answer);
    if (cloud->fault[0] != '\0' && was_well) /* once is enough */
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
    carried->sent_at = aws_client_now();
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

static void on_foreign(void *context)
{
    struct aws_cloud *cloud = context;

    aws_client_forget_keys(cloud->client);
    doubt_account(cloud);
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
    const msec_t now = aws_client_now();
    const char *disbelief = aws_fleet_trouble(cloud->fleet, now).fault;

    if (account_fault(cloud, now) != NULL)
        return account_fault(cloud, now);
    if (cloud->fault[0] != '\0')
        return cloud->fault;
    for (int i = 0; i < AWS_FLEET_CALLS; i++) {
        if (cloud->carried[i].call != 0 && now - cloud->carried[i].sent_at > silent_ms)
            return "EC2 has not answered a request for more than 20 s";
    }
    if (disbelief != NULL)
        return disbelief;
    return now < cloud->denied_until ? cloud->denied : NULL;
}

struct aws_fleet_trouble aws_cloud_trouble(const struct aws_cloud *cloud)
{
    return aws_fleet_trouble(cloud->fleet, aws_client_now());
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
            .spot_price_cap = settings->spot_price_cap,
            .idle_shutdown = settings->idle_shutdown,
            .seed = cloud->config.seed,
            .on_send = on_send,
            .on_event = on_event,
            .on_note = on_note,
            .on_stale_keys = on_stale_keys,
            .on_foreign = on_foreign,
            .waits_for_account = true,
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
                                                            .is_guarded = true,
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
    cloud->account.since = aws_client_now();
    rng_init(&cloud->rng, config->seed, 1);
    (void)uv_timer_start(&cloud->timer, on_timer, 0, 0);
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
    aws_form_done(&cloud->form);
    uv_close((uv_handle_t *)&cloud->timer, on_closed);
}
