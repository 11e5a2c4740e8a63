/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/aws_rights.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/mem.h"
#include "cloud/aws/aws_catalogue_fetch.h"
#include "cloud/aws/aws_client.h"
#include "cloud/aws/aws_fault.h"
#include "cloud/aws/aws_form.h"
#include "cloud/aws/aws_http.h"
#include "cloud/aws/aws_xml.h"
#include "cloud/aws/ec2_answer.h"
#include "control/ports/cloud_port.h"
#include "model/catalogue.h"

#define EC2_VERSION "2016-11-15"
#define NO_INSTANCE "i-00000000000000000"

enum {
    RIGHTS_ATTEMPTS = 4,
    RIGHTS_RETRY_MS = 300,
    RIGHTS_RETRY_MOST_MS = 3000,
    RIGHTS_TIMEOUT_MS = 15000,
};

/* A key that no daemon comes to: it is part of the launch that is tried. */
static const uint64_t try_key = 999999999999;

const struct aws_right aws_rights[AWS_RIGHTS] = {
    [AWS_RIGHT_DESCRIBE] = { "ec2:DescribeInstances", false },
    [AWS_RIGHT_RUN] = { "ec2:RunInstances", false },
    [AWS_RIGHT_FLEET] = { "ec2:CreateFleet", false },
    [AWS_RIGHT_TAG] = { "ec2:CreateTags", false },
    [AWS_RIGHT_PASS_ROLE] = { "iam:PassRole", false },
    [AWS_RIGHT_TERMINATE] = { "ec2:TerminateInstances", false },
    [AWS_RIGHT_RECEIVE] = { "sqs:ReceiveMessage", false },
    [AWS_RIGHT_DELETE] = { "sqs:DeleteMessage", false },
    [AWS_RIGHT_TYPES] = { "ec2:DescribeInstanceTypes", true },
    [AWS_RIGHT_OFFERINGS] = { "ec2:DescribeInstanceTypeOfferings", true },
    [AWS_RIGHT_SPOT_PRICES] = { "ec2:DescribeSpotPriceHistory", true },
    [AWS_RIGHT_PRODUCTS] = { "pricing:GetProducts", true },
};

/* What is asked, in this order. */
enum step {
    STEP_WHO,
    STEP_DESCRIBE,
    STEP_RUN,      /* on demand */
    STEP_RUN_SPOT, /* and in the spot market */
    STEP_FLEET,
    STEP_TERMINATE,
    STEP_RECEIVE,
    STEP_DELETE,
    STEP_TYPES,
    STEP_OFFERINGS,
    STEP_SPOT_PRICES,
    STEP_PRODUCTS,
    STEPS,
};

static const enum aws_right_name right_of[STEPS] = {
    [STEP_WHO] = AWS_RIGHTS,
    [STEP_DESCRIBE] = AWS_RIGHT_DESCRIBE,
    [STEP_RUN] = AWS_RIGHT_RUN,
    [STEP_RUN_SPOT] = AWS_RIGHT_RUN,
    [STEP_FLEET] = AWS_RIGHT_FLEET,
    [STEP_TERMINATE] = AWS_RIGHT_TERMINATE,
    [STEP_RECEIVE] = AWS_RIGHT_RECEIVE,
    [STEP_DELETE] = AWS_RIGHT_DELETE,
    [STEP_TYPES] = AWS_RIGHT_TYPES,
    [STEP_OFFERINGS] = AWS_RIGHT_OFFERINGS,
    [STEP_SPOT_PRICES] = AWS_RIGHT_SPOT_PRICES,
    [STEP_PRODUCTS] = AWS_RIGHT_PRODUCTS,
};

struct asking {
    const struct aws_rights_config *config;
    struct aws_rights_report *report;
    uv_timer_t timer; /* before the same question is asked again */
    struct rng rng;
    struct aws_form form;
    enum step step;
    uint32_t attempts;
    bool is_done;
    char instance[EC2_ID_SIZE]; /* one of ours that lives; empty: none */
    char *launch[2]; /* the daemon's own requests: on demand, spot; NULL: no such offer */
    uint32_t market; /* of the launch that is being built */
};

/* What an answer says, of either protocol. */
struct said {
    enum aws_verdict verdict;
    char code[96];
    char message[ERROR_TEXT_SIZE];
};

enum aws_right_name aws_rights_named(const char *message)
{
    static const char words[] = "not authorized to perform: ";
    const char *at = strstr(message, words);

    if (at == NULL)
        return AWS_RIGHTS;
    at += sizeof(words) - 1;
    for (int i = 0; i < AWS_RIGHTS; i++) {
        const size_t length = strlen(aws_rights[i].action);

        /* The whole word: DescribeInstances begins another one too. */
        if (strncmp(at, aws_rights[i].action, length) == 0 && strchr(" .,", at[length]) != NULL)
            return (enum aws_right_name)i;
    }
    return AWS_RIGHTS;
}

/* ---- answers ---- */

static void read_json(const struct aws_http_answer *http, struct said *ret)
{
    json_t *object = json_loadb(http->body, http->size, 0, NULL);
    const char *kind = json_string_value(json_object_get(object, "__type"));
    const char *message = json_string_value(json_object_get(object, "message"));

    if (message == NULL)
        message = json_string_value(json_object_get(object, "Message"));
    if (kind != NULL) {
        const char *mark = strrchr(kind, '#');

        (void)snprintf(ret->code, sizeof(ret->code), "%s", mark != NULL ? mark + 1 : kind);
    }
    (void)snprintf(ret->message, sizeof(ret->message), "%s", message != NULL ? message : "");
    json_decref(object);
}

static void on_who(void *context, const char *path, uint32_t depth, const char *text)
{
    struct aws_rights_report *report = context;

    (void)depth;
    if (aws_xml_ends_in(path, "Arn") != 0)
        (void)snprintf(report->who, sizeof(report->who), "%s", text);
    else if (aws_xml_ends_in(path, "Account") != 0 && text[strspn(text, "0123456789")] == '\0')
        (void)snprintf(report->account, sizeof(report->account), "%s", text);
}

static void on_instance(void *context, const struct ec2_instance *row)
{
    struct asking *asking = context;

    if (row->state == EC2_PENDING || row->state == EC2_RUNNING)
        memcpy(asking->instance, row->id, sizeof(asking->instance));
}

static void ignore_open(void *context, const char *path, uint32_t depth)
{
    (void)context;
    (void)path;
    (void)depth;
}

static struct said read_answer(struct asking *asking, const struct aws_http_answer *http)
{
    const bool is_json = asking->step == STEP_RECEIVE || asking->step == STEP_DELETE ||
                         asking->step == STEP_PRODUCTS;
    const struct ec2_sink sink = { .on_instance = on_instance, .context = asking };
    struct ec2_answer answer = { 0 };
    struct said said = { 0 };

    if (http->fault == 0 && is_json) {
        read_json(http, &said);
    } else if (http->fault == 0) {
        (void)ec2_answer_read(http->body, http->size, NULL, &sink, &answer, NULL);
        (void)snprintf(said.code, sizeof(said.code), "%s", answer.code);
        (void)snprintf(said.message, sizeof(said.message), "%s", answer.message);
    } else {
        (void)snprintf(said.message, sizeof(said.message), "%s", http->reason);
    }
    if (http->fault == 0 && asking->step == STEP_WHO)
        (void)aws_xml_read(http->body, http->size,
                           &(struct aws_xml_sink){ .on_open = ignore_open,
                                                   .on_close = on_who,
                                                   .context = asking->report },
                           NULL);
    said.verdict = aws_fault_judge(http, said.code);
    return said;
}

static void set_state(struct asking *asking, enum aws_right_name name, enum aws_right_state state,
                      const char *detail)
{
    struct aws_right_answer *answer = &asking->report->rights[name];

    /* Of two launches the worse answer counts. */
    if (answer->state == AWS_RIGHT_MISSING || answer->state == AWS_RIGHT_WRONG)
        return;
    answer->state = state;
    (void)snprintf(answer->detail, sizeof(answer->detail), "%s", detail);
}

/* The same, with what AWS said. */
static void set_said(struct asking *asking, enum aws_right_name name, enum aws_right_state state,
                     const struct said *said)
{
    char text[ERROR_TEXT_SIZE];

    (void)snprintf(text, sizeof(text), "%s: %.400s",
                   said->code[0] != '\0' ? said->code : "no answer", said->message);
    set_state(asking, name, state, text);
}

static void launch_is_allowed(struct asking *asking, enum aws_right_name right)
{
    const enum aws_right_name with[] = { right, AWS_RIGHT_TAG, AWS_RIGHT_PASS_ROLE };

    for (size_t i = 0; i < sizeof(with) / sizeof(*with); i++)
        set_state(asking, with[i], AWS_RIGHT_THERE, "");
}

static void launch_is_forbidden(struct asking *asking, enum aws_right_name right,
                                const struct said *said)
{
    const enum aws_right_name named = aws_rights_named(said->message);

    set_said(asking, named != AWS_RIGHTS ? named : right, AWS_RIGHT_MISSING, said);
    if (named != AWS_RIGHTS && named != right)
        set_state(asking, right, AWS_RIGHT_UNTRIED,
                  "a launch cannot be tried without another right");
}

static bool is_key_fault(const struct said *said)
{
    return aws_fault_is_of_keys(said->code) || said->verdict == AWS_NOT_SENT ||
           said->verdict == AWS_STALE_KEYS;
}

/* The request was allowed: it was done, or fails for what we made wrong on purpose. */
static bool is_allowed(const struct asking *asking, const struct said *said)
{
    if (said->verdict == AWS_DONE || strcmp(said->code, "DryRunOperation") == 0)
        return true;
    if (asking->step == STEP_TERMINATE)
        return said->verdict == AWS_NOT_FOUND;
    return asking->step == STEP_DELETE && (strstr(said->code, "ReceiptHandle") != NULL ||
                                           strstr(said->code, "InvalidParameterValue") != NULL);
}

static void judge(struct asking *asking, const struct said *said)
{
    const enum aws_right_name right = right_of[asking->step];
    const bool is_launch = right == AWS_RIGHT_RUN || right == AWS_RIGHT_FLEET;

    if (asking->step == STEP_PRODUCTS && aws_fault_is_of_keys(said->code)) {
        set_state(asking, right, AWS_RIGHT_UNTRIED, AWS_NO_PRICES_FOR_KEYS);
    } else if (is_key_fault(said)) {
        asking->report->has_keys = false;
        (void)snprintf(asking->report->why, sizeof(asking->report->why), "%s%s%.400s", said->code,
                       said->code[0] != '\0' ? ": " : "", said->message);
        asking->step = STEPS - 1; /* no other answer will tell more */
    } else if (right == AWS_RIGHTS) {
        return; /* who we are is good to know, no more */
    } else if (is_allowed(asking, said)) {
        if (is_launch)
            launch_is_allowed(asking, right);
        else
            set_state(asking, right, AWS_RIGHT_THERE, "");
    } else if (said->verdict != AWS_NOT_ALLOWED) {
        set_said(asking, right, AWS_RIGHT_WRONG, said);
    } else if (is_launch) {
        launch_is_forbidden(asking, right, said);
    } else if (asking->step == STEP_TERMINATE && asking->instance[0] == '\0') {
        set_state(asking, right, AWS_RIGHT_UNTRIED,
                  "it is for instances with the cluster's tag, and there is none now");
    } else {
        set_said(asking, right, AWS_RIGHT_MISSING, said);
    }
}

/* ---- questions ---- */

static void ask(struct asking *asking);

static void on_timer(uv_timer_t *timer)
{
    ask(timer->data);
}

/* Whether there is nothing to ask in this step with these settings. */
static bool is_idle(const struct asking *asking)
{
    if (asking->step == STEP_RUN || asking->step == STEP_RUN_SPOT)
        return asking->launch[asking->step == STEP_RUN_SPOT] == NULL;
    if (asking->step == STEP_FLEET)
        return asking->config->settings->launch_template == NULL ||
               asking->config->settings->user_data != NULL ||
               asking->config->settings->subnet_count == 0 || asking->config->catalogue == NULL ||
               asking->config->catalogue->offer_count == 0;
    return (asking->step == STEP_RECEIVE || asking->step == STEP_DELETE) &&
           asking->config->settings->queue == NULL;
}

static void next(struct asking *asking)
{
    asking->attempts = 0;
    do {
        asking->step++;
    } while (is_idle(asking));
    ask(asking);
}

static void on_answer(void *context, const struct aws_http_answer *http)
{
    struct asking *asking = context;
    const struct said said = read_answer(asking, http);

    if ((said.verdict == AWS_LOST || said.verdict == AWS_THROTTLED) &&
        ++asking->attempts < RIGHTS_ATTEMPTS) {
        const msec_t wait =
            aws_fault_wait(&asking->rng, RIGHTS_RETRY_MS, RIGHTS_RETRY_MOST_MS, asking->attempts);

        (void)uv_timer_start(&asking->timer, on_timer, (uint64_t)wait, 0);
        return;
    }
    judge(asking, &said);
    next(asking);
}

static void send_form(struct asking *asking, const char *service)
{
    aws_client_call(asking->config->client,
                    &(struct aws_call){ .service = service,
                                        .body = asking->form.text,
                                        .size = asking->form.size,
                                        .timeout_ms = RIGHTS_TIMEOUT_MS },
                    on_answer, asking);
}

static void send_json(struct asking *asking, const char *service, const char *region,
                      const char *target, json_t *body)
{
    char *text = json_dumps(body, JSON_COMPACT);

    assert(text != NULL);
    aws_client_call(asking->config->client,
                    &(struct aws_call){ .service = service,
                                        .region = region,
                                        .body = text,
                                        .size = strlen(text),
                                        .target = target,
                                        .timeout_ms = RIGHTS_TIMEOUT_MS },
                    on_answer, asking);
    free(text);
    json_decref(body);
}

static void ask_describe(struct asking *asking)
{
    static const char *const states[] = { "pending", "running" };

    aws_form_begin(&asking->form, "DescribeInstances", EC2_VERSION);
    aws_form_number(&asking->form, "MaxResults", 5);
    aws_form_add(&asking->form, "Filter.1.Name", "tag:stint:cluster");
    aws_form_add(&asking->form, "Filter.1.Value.1", asking->config->cluster);
    aws_form_add(&asking->form, "Filter.2.Name", "instance-state-name");
    for (uint32_t i = 0; i < 2; i++)
        aws_form_item(&asking->form, "Filter.2.Value.#", i + 1, states[i]);
    send_form(asking, "ec2");
}

static void ask_dry(struct asking *asking, const char *action)
{
    aws_form_begin(&asking->form, action, EC2_VERSION);
    aws_form_add(&asking->form, "DryRun", "true");
    if (asking->step == STEP_TERMINATE)
        aws_form_add(&asking->form, "InstanceId.1",
                     asking->instance[0] != '\0' ? asking->instance : NO_INSTANCE);
    send_form(asking, "ec2");
}

static void ask_launch(struct asking *asking)
{
    const char *body = asking->launch[asking->step == STEP_RUN_SPOT];

    aws_client_call(
        asking->config->client,
        &(struct aws_call){
            .service = "ec2", .body = body, .size = strlen(body), .timeout_ms = RIGHTS_TIMEOUT_MS },
        on_answer, asking);
}

/* One machine of the first type, in whichever subnet has it. */
static void ask_fleet(struct asking *asking)
{
    static const char template[] = "LaunchTemplateConfigs.1.LaunchTemplateSpecification.";
    const struct aws_settings *settings = asking->config->settings;
    const struct catalogue *catalogue = asking->config->catalogue;
    const bool is_id = strncmp(settings->launch_template, "lt-", 3) == 0;
    struct aws_form *form = &asking->form;
    char name[96];

    aws_form_begin(form, "CreateFleet", EC2_VERSION);
    aws_form_add(form, "DryRun", "true");
    aws_form_add(form, "Type", "instant");
    (void)snprintf(name, sizeof(name), "%sLaunchTemplate%s", template, is_id ? "Id" : "Name");
    aws_form_add(form, name, settings->launch_template);
    (void)snprintf(name, sizeof(name), "%sVersion", template);
    aws_form_add(form, name,
                 settings->launch_template_version != NULL ? settings->launch_template_version
                                                           : "$Default");
    for (uint32_t i = 0; i < settings->subnet_count; i++) {
        aws_form_item(form, "LaunchTemplateConfigs.1.Overrides.#.SubnetId", i + 1,
                      settings->subnets[i].subnet);
        aws_form_item(form, "LaunchTemplateConfigs.1.Overrides.#.InstanceType", i + 1,
                      catalogue_offer_type_name(catalogue, 0));
    }
    aws_form_add(form, "TargetCapacitySpecification.DefaultTargetCapacityType", "on-demand");
    aws_form_number(form, "TargetCapacitySpecification.TotalTargetCapacity", 1);
    aws_form_add(form, "TagSpecification.1.ResourceType", "instance");
    aws_form_add(form, "TagSpecification.1.Tag.1.Key", "stint:cluster");
    aws_form_add(form, "TagSpecification.1.Tag.1.Value", asking->config->cluster);
    send_form(asking, "ec2");
}

static void ask_queue(struct asking *asking)
{
    const char *queue = asking->config->settings->queue;

    if (asking->step == STEP_RECEIVE)
        send_json(asking, "sqs", NULL, "AmazonSQS.ReceiveMessage",
                  json_pack("{s:s,s:i,s:i,s:i}", "QueueUrl", queue, "MaxNumberOfMessages", 1,
                            "WaitTimeSeconds", 0, "VisibilityTimeout", 0));
    else
        send_json(asking, "sqs", NULL, "AmazonSQS.DeleteMessage",
                  json_pack("{s:s,s:s}", "QueueUrl", queue, "ReceiptHandle", "no-such-handle"));
}

static void ask(struct asking *asking)
{
    switch (asking->step) {
    case STEP_WHO:
        aws_form_begin(&asking->form, "GetCallerIdentity", "2011-06-15");
        send_form(asking, "sts");
        return;
    case STEP_DESCRIBE:
        ask_describe(asking);
        return;
    case STEP_RUN:
    case STEP_RUN_SPOT:
        ask_launch(asking);
        return;
    case STEP_FLEET:
        ask_fleet(asking);
        return;
    case STEP_TERMINATE:
        ask_dry(asking, "TerminateInstances");
        return;
    case STEP_RECEIVE:
    case STEP_DELETE:
        ask_queue(asking);
        return;
    case STEP_TYPES:
        ask_dry(asking, "DescribeInstanceTypes");
        return;
    case STEP_OFFERINGS:
        ask_dry(asking, "DescribeInstanceTypeOfferings");
        return;
    case STEP_SPOT_PRICES:
        ask_dry(asking, "DescribeSpotPriceHistory");
        return;
    case STEP_PRODUCTS: /* the Pricing API lives there for all regions */
        send_json(asking, "pricing", "us-east-1", "AWSPriceListService.GetProducts",
                  json_pack("{s:s,s:i}", "ServiceCode", "AmazonEC2", "MaxResults", 1));
        return;
    case STEPS:
        asking->is_done = true;
        uv_stop(asking->config->loop);
        return;
    }
}

/* ---- the launch, as the daemon would ask for it ---- */

static void on_send(void *context, uint64_t call, const char *body, size_t size, msec_t timeout)
{
    static const char begin[] = "Action=RunInstances&";
    static const char dry[] = "&DryRun=true";
    struct asking *asking = context;
    char **place = &asking->launch[asking->market];

    (void)call;
    (void)timeout;
    if (*place != NULL || size < sizeof(begin) - 1 || memcmp(body, begin, sizeof(begin) - 1) != 0)
        return;
    *place = mem_alloc(size + sizeof(dry), 1);
    memcpy(*place, body, size);
    memcpy(*place + size, dry, sizeof(dry));
}

static void ignore_event(void *context, const struct cloud_event *event)
{
    (void)context;
    (void)event;
}

static void ignore_note(void *context, bool is_error, const char *text)
{
    (void)context;
    (void)is_error;
    (void)text;
}

static int build_launch(struct asking *asking, uint32_t offer, struct error *reterr)
{
    const struct aws_settings *settings = asking->config->settings;
    struct aws_fleet *fleet = NULL;
    const int rc = aws_fleet_create(
        &(struct aws_fleet_config){
            .catalogue = asking->config->catalogue,
            .cluster = asking->config->cluster,
            .node_prefix = asking->config->node_prefix,
            .launch_template = settings->launch_template,
            .launch_template_version = settings->launch_template_version,
            .image = settings->image,
            .user_data = settings->user_data,
            .subnets = settings->subnets,
            .subnet_count = settings->subnet_count,
            .spot_price_cap = settings->spot_price_cap,
            .on_send = on_send,
            .on_event = ignore_event,
            .on_note = ignore_note,
            .context = asking,
        },
        &fleet, reterr);

    if (rc < 0)
        return rc;

    const struct cloud_port port = aws_fleet_port(fleet);

    port.ops->rent(port.self, try_key, 1, offer);
    aws_fleet_tick(fleet, aws_client_now());
    aws_fleet_destroy(fleet);
    return 0;
}

static int build_launches(struct asking *asking, struct error *reterr)
{
    const struct catalogue *catalogue = asking->config->catalogue;

    for (uint32_t i = 0; catalogue != NULL && i < catalogue->offer_count; i++) {
        asking->market = catalogue->offers[i].market == MARKET_SPOT;
        if (asking->launch[asking->market] != NULL)
            continue;

        const int rc = build_launch(asking, i, reterr);

        if (rc < 0)
            return rc;
    }
    return 0;
}

int aws_rights_ask(const struct aws_rights_config *config, struct aws_rights_report *ret,
                   struct error *reterr)
{
    struct asking asking = { .config = config, .report = ret };
    int rc;

    *ret = (struct aws_rights_report){ .has_keys = true };
    rng_init(&asking.rng, try_key, 0);
    rc = build_launches(&asking, reterr);
    if (rc == 0) {
        (void)uv_timer_init(config->loop, &asking.timer);
        asking.timer.data = &asking;
        ask(&asking);
        while (!asking.is_done)
            (void)uv_run(config->loop, UV_RUN_DEFAULT);
        uv_close((uv_handle_t *)&asking.timer, NULL);
        (void)uv_run(config->loop, UV_RUN_NOWAIT);
        (void)snprintf(ret->source, sizeof(ret->source), "%s",
                       aws_client_key_source(config->client));
    }
    aws_form_done(&asking.form);
    mem_free(asking.launch[0]);
    mem_free(asking.launch[1]);
    return rc;
}
