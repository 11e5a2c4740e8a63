/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ec2_double.h - an EC2 of a page, for tests: instances, client tokens, tags, pages, and faults on
 * demand. It has no time of its own. Requests that a fleet sends wait until they are answered.
 */
#ifndef STINT_CLOUD_EC2_DOUBLE_H
#define STINT_CLOUD_EC2_DOUBLE_H

#include "base/test/check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cloud/aws/aws_clock.h"
#include "cloud/aws/aws_fleet.h"
#include "cloud/aws/aws_http.h"

enum { DOUBLE_MAX = 4096, DOUBLE_CALLS = 64, DOUBLE_TEXT = 1 << 16 };

enum double_fault {
    FAULT_NONE,
    FAULT_CUT_BEFORE, /* the connection ends and nothing was done */
    FAULT_CUT_AFTER,  /* the connection ends and it was done */
    FAULT_CODE,       /* refused with 'code' */
};

struct double_instance {
    char token[80];
    uint64_t first; /* the tag stint:key */
    uint32_t index; /* of its launch */
    char offer[160];
    char type[64];
    const char *state;
    msec_t launched_at;
    msec_t ended_at;
    bool is_hidden;    /* not shown yet */
    bool is_untagged;  /* somebody took its tags away */
    bool is_protected; /* against termination */
};

struct double_call {
    uint64_t id;
    char *body;
};

struct ec2_double {
    struct double_instance instances[DOUBLE_MAX];
    uint32_t count;
    struct double_call calls[DOUBLE_CALLS];
    uint32_t call_count;
    uint32_t page;
    bool ignores_tokens;
    uint32_t most; /* machines that one launch gets, at most */
    uint32_t launches;
    uint32_t terminations;
    uint32_t describes;
    uint32_t probes;    /* of those: by id */
    bool shows_nothing; /* a lie: every list is empty, also of an id */
    const char *root;   /* a lie: the root element; NULL: the right one */
    const char *next;   /* a lie: the token of every page; NULL: none */
    const char *owner;  /* of all reservations; NULL: not said */
    const char *code;   /* what was asked for is refused with this; NULL: it was done */
    char *answer;
};

/* The value of a parameter of the body, unescaped, or an empty text. */
static inline void double_get(const char *body, const char *name, char *ret, size_t size)
{
    const size_t length = strlen(name);
    const char *at = body;

    ret[0] = '\0';
    while (at != NULL && !(strncmp(at, name, length) == 0 && at[length] == '=')) {
        at = strchr(at, '&');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL)
        return;
    at += length + 1;
    size_t i = 0;
    for (; i + 1 < size && *at != '\0' && *at != '&'; i++) {
        char hex[3] = { 0 };

        if (*at == '%') {
            memcpy(hex, at + 1, 2);
            ret[i] = (char)strtol(hex, NULL, 16);
            at += 3;
        } else {
            ret[i] = *at++;
        }
    }
    ret[i] = '\0';
}

static inline void double_send(struct ec2_double *ec2, uint64_t id, const char *body, size_t size)
{
    assert_true(ec2->call_count < DOUBLE_CALLS);
    assert_int_equal(strlen(body), size);
    ec2->calls[ec2->call_count].id = id;
    ec2->calls[ec2->call_count].body = mem_alloc(size + 1, 1);
    memcpy(ec2->calls[ec2->call_count].body, body, size + 1);
    ec2->call_count++;
}

static inline size_t double_print_instance(char *ret, size_t size,
                                           const struct double_instance *one, uint32_t number)
{
    char launched[32];
    char reason[64] = "";
    char ended[32];

    aws_clock_print(one->launched_at, launched);
    aws_clock_print(one->ended_at, ended);
    if (one->ended_at > 0)
        (void)snprintf(reason, sizeof(reason), "User initiated (%.10s %.8s GMT)", ended,
                       ended + 11);
    return (size_t)snprintf(ret, size,
                            "<item><instanceId>i-%08" PRIx32
                            "</instanceId><instanceState><name>%s</name>"
                            "</instanceState><reason>%s</reason><instanceType>%s</instanceType>"
                            "<launchTime>%s</launchTime><clientToken>%s</clientToken>"
                            "<amiLaunchIndex>%" PRIu32 "</amiLaunchIndex><%s>"
                            "<item><key>stint:cluster</key><value>lab</value></item>"
                            "<item><key>stint:key</key><value>%" PRIu64 "</value></item>"
                            "<item><key>stint:offer</key><value>%s</value></item></%s></item>",
                            number, one->state, reason, one->type, launched, one->token, one->index,
                            one->is_untagged ? "noSet" : "tagSet", one->first, one->offer,
                            one->is_untagged ? "noSet" : "tagSet");
}

static inline uint64_t double_number(const char *body, const char *name)
{
    char text[32];

    double_get(body, name, text, sizeof(text));
    return strtoull(text, NULL, 10);
}

/* Start what the body asks for, unless its token is known; the number of the first. */
static inline uint32_t double_start(struct ec2_double *ec2, const char *body, const char *count,
                                    const char *type, msec_t now)
{
    struct double_instance fresh = { .state = "pending", .launched_at = now / 1000 * 1000 };
    const uint32_t begin = ec2->count;

    double_get(body, "ClientToken", fresh.token, sizeof(fresh.token));
    double_get(body, type, fresh.type, sizeof(fresh.type));
    double_get(body, "TagSpecification.1.Tag.4.Value", fresh.offer, sizeof(fresh.offer));
    fresh.first = double_number(body, "TagSpecification.1.Tag.3.Value");
    for (uint32_t i = 0; i < ec2->count && !ec2->ignores_tokens; i++) {
        if (strcmp(ec2->instances[i].token, fresh.token) == 0)
            return i;
    }
    for (; fresh.index < double_number(body, count) && fresh.index < ec2->most; fresh.index++) {
        assert_true(ec2->count < DOUBLE_MAX);
        ec2->instances[ec2->count++] = fresh;
    }
    return begin;
}

static inline void double_run(struct ec2_double *ec2, const char *body, msec_t now)
{
    const uint32_t begin = double_start(ec2, body, "MaxCount", "InstanceType", now);
    size_t size =
        (size_t)snprintf(ec2->answer, DOUBLE_TEXT, "<RunInstancesResponse><instancesSet>");

    for (uint32_t i = begin; i < ec2->count && ec2->instances[i].index == i - begin; i++)
        size +=
            double_print_instance(ec2->answer + size, DOUBLE_TEXT - size, &ec2->instances[i], i);
    (void)snprintf(ec2->answer + size, DOUBLE_TEXT - size,
                   "</instancesSet></RunInstancesResponse>");
}

/* One instance, or the reason why there is none. */
static inline void double_fleet(struct ec2_double *ec2, const char *body, msec_t now)
{
    const uint32_t number =
        double_start(ec2, body, "TargetCapacitySpecification.TotalTargetCapacity",
                     "LaunchTemplateConfigs.1.Overrides.1.InstanceType", now);

    if (ec2->most == 0)
        (void)snprintf(ec2->answer, DOUBLE_TEXT,
                       "<CreateFleetResponse><errorSet><item><errorCode>"
                       "InsufficientInstanceCapacity</errorCode></item></errorSet>"
                       "<fleetInstanceSet/></CreateFleetResponse>");
    else
        (void)snprintf(ec2->answer, DOUBLE_TEXT,
                       "<CreateFleetResponse><errorSet/><fleetInstanceSet><item><instanceIds>"
                       "<item>i-%08" PRIx32 "</item></instanceIds></item></fleetInstanceSet>"
                       "</CreateFleetResponse>",
                       number);
}

static inline void double_end(struct ec2_double *ec2, uint32_t number, msec_t now)
{
    assert_true(number < ec2->count);
    if (ec2->instances[number].ended_at == 0)
        ec2->instances[number].ended_at = now / 1000 * 1000;
    ec2->instances[number].state = "shutting-down";
}

/* The number of the instance that the body names at place 'i' from 1 on; -1: there is none. */
static inline int64_t double_named(const char *body, uint32_t i)
{
    char name[32];
    char id[32];

    (void)snprintf(name, sizeof(name), "InstanceId.%" PRIu32, i);
    double_get(body, name, id, sizeof(id));
    return id[0] != '\0' ? (int64_t)strtoul(id + 2, NULL, 16) : -1;
}

static inline void double_terminate(struct ec2_double *ec2, const char *body, msec_t now)
{
    size_t size;

    for (uint32_t i = 1; double_named(body, i) >= 0; i++) {
        if (ec2->instances[double_named(body, i)].is_protected)
            ec2->code = "OperationNotPermitted";
    }
    size = (size_t)snprintf(ec2->answer, DOUBLE_TEXT, "<TerminateInstancesResponse><instancesSet>");
    for (uint32_t i = 1; double_named(body, i) >= 0 && ec2->code == NULL; i++) {
        const uint32_t number = (uint32_t)double_named(body, i);

        double_end(ec2, number, now);
        size += (size_t)snprintf(ec2->answer + size, DOUBLE_TEXT - size,
                                 "<item><instanceId>i-%08" PRIx32 "</instanceId><currentState>"
                                 "<name>shutting-down</name></currentState></item>",
                                 number);
    }
    (void)snprintf(ec2->answer + size, DOUBLE_TEXT - size,
                   "</instancesSet></TerminateInstancesResponse>");
}

/* Whether a list of the body's filters, or of its id, has the instance. */
static inline bool double_lists(const struct ec2_double *ec2, const char *body, uint32_t number)
{
    char filter[32];

    double_get(body, "Filter.1.Name", filter, sizeof(filter));
    if (ec2->shows_nothing || ec2->instances[number].is_hidden)
        return false;
    if (double_named(body, 1) >= 0)
        return (uint32_t)double_named(body, 1) == number;
    return strcmp(filter, "client-token") == 0 || !ec2->instances[number].is_untagged;
}

static inline void double_describe(struct ec2_double *ec2, const char *body)
{
    const char *root = ec2->root != NULL ? ec2->root : "DescribeInstancesResponse";
    const int64_t named = double_named(body, 1);
    char token[32];
    uint32_t i;
    uint32_t shown = 0;
    size_t size;

    ec2->probes += named >= 0 ? 1 : 0;
    if (named >= 0 && ec2->instances[named].is_hidden && !ec2->shows_nothing)
        ec2->code = "InvalidInstanceID.NotFound";
    double_get(body, "NextToken", token, sizeof(token));
    i = (uint32_t)strtoul(token, NULL, 10);
    size = (size_t)snprintf(ec2->answer, DOUBLE_TEXT,
                            "<%s><reservationSet><item><ownerId>%s</ownerId><instancesSet>", root,
                            ec2->owner != NULL ? ec2->owner : "");
    for (; i < ec2->count && shown < ec2->page; i++, shown++) {
        if (double_lists(ec2, body, i))
            size += double_print_instance(ec2->answer + size, DOUBLE_TEXT - size,
                                          &ec2->instances[i], i);
    }
    size += (size_t)snprintf(ec2->answer + size, DOUBLE_TEXT - size,
                             "</instancesSet></item></reservationSet>");
    if (ec2->next != NULL)
        size += (size_t)snprintf(ec2->answer + size, DOUBLE_TEXT - size,
                                 "<nextToken>%s</nextToken>", ec2->next);
    else if (i < ec2->count)
        size += (size_t)snprintf(ec2->answer + size, DOUBLE_TEXT - size,
                                 "<nextToken>%" PRIu32 "</nextToken>", i);
    (void)snprintf(ec2->answer + size, DOUBLE_TEXT - size, "</%s>", root);
}

static inline void double_act(struct ec2_double *ec2, const char *body, msec_t now)
{
    char action[64];

    double_get(body, "Action", action, sizeof(action));
    if (strcmp(action, "RunInstances") == 0) {
        ec2->launches++;
        double_run(ec2, body, now);
    } else if (strcmp(action, "CreateFleet") == 0) {
        ec2->launches++;
        double_fleet(ec2, body, now);
    } else if (strcmp(action, "TerminateInstances") == 0) {
        ec2->terminations++;
        double_terminate(ec2, body, now);
    } else {
        assert_string_equal(action, "DescribeInstances");
        ec2->describes++;
        double_describe(ec2, body);
    }
}

/* Answer the waiting call 'index'. */
static inline void double_answer(struct ec2_double *ec2, struct aws_fleet *fleet, msec_t now,
                                 uint32_t index, enum double_fault fault, const char *code)
{
    const struct double_call call = ec2->calls[index];
    struct aws_http_answer answer = { .status = 200 };

    ec2->call_count--;
    memmove(&ec2->calls[index], &ec2->calls[index + 1],
            (ec2->call_count - index) * sizeof(*ec2->calls));
    ec2->code = NULL;
    if (fault == FAULT_NONE || fault == FAULT_CUT_AFTER)
        double_act(ec2, call.body, now);
    if (ec2->code != NULL)
        code = ec2->code;
    if (fault == FAULT_CODE || ec2->code != NULL) {
        (void)snprintf(ec2->answer, DOUBLE_TEXT,
                       "<Response><Errors><Error><Code>%s</Code><Message>m</Message></Error>"
                       "</Errors></Response>",
                       code);
        answer.status = ec2->code != NULL ? 400 : 500;
    }
    if (fault == FAULT_CUT_BEFORE || fault == FAULT_CUT_AFTER)
        answer = (struct aws_http_answer){ .fault = -ECONNRESET, .reason = "cut" };
    else
        answer.size = strlen(ec2->answer);
    answer.body = answer.fault == 0 ? ec2->answer : "";
    mem_free(call.body);
    aws_fleet_answer(fleet, now, call.id, &answer);
}

static inline void double_init(struct ec2_double *ec2)
{
    memset(ec2, 0, sizeof(*ec2));
    ec2->page = 50;
    ec2->most = UINT32_MAX;
    ec2->answer = mem_alloc(DOUBLE_TEXT, 1);
}

static inline void double_done(struct ec2_double *ec2)
{
    for (uint32_t i = 0; i < ec2->call_count; i++)
        mem_free(ec2->calls[i].body);
    mem_free(ec2->answer);
}

static inline uint64_t double_key(const struct double_instance *one)
{
    return one->first + one->index;
}

static inline bool double_is_alive(const struct double_instance *one)
{
    return strcmp(one->state, "pending") == 0 || strcmp(one->state, "running") == 0;
}

/* Two types in a zone, each on demand and spot; a big one of another quota; and the first one in no
 * zone in particular (6). */
static inline void double_catalogue(struct catalogue *catalogue)
{
    static const struct price_change PRICE = { 0, 100000 };
    static const char *const TYPES[] = { "c5.large", "c5.xlarge", "p3.2xlarge" };

    catalogue_init(catalogue);
    for (uint32_t i = 0; i < 3; i++) {
        const struct machine_type type = { .capacity = { .amount = { 2000, 4096, 0 } } };

        catalogue_add_type(catalogue, TYPES[i], "f", &type);
        for (int market = 0; market < 2; market++)
            catalogue_add_offer(catalogue, "us-east-1a",
                                &(struct offer){ .type = i,
                                                 .market = (enum market)market,
                                                 .billing = BILLING_PER_SECOND,
                                                 .price = { &PRICE, 1 } });
    }
    catalogue_add_offer(catalogue, NULL,
                        &(struct offer){ .type = 0,
                                         .market = MARKET_SPOT,
                                         .billing = BILLING_PER_SECOND,
                                         .price = { &PRICE, 1 } });
}

#endif
