/* SPDX-License-Identifier: Apache-2.0 */
/* fleet_lab.h - for tests: a fleet in front of a double of EC2, with a clock that the test moves. */
#ifndef STINT_CLOUD_FLEET_LAB_H
#define STINT_CLOUD_FLEET_LAB_H

#include "cloud/aws/test/ec2_double.h"

#include "cloud/aws/aws_fleet_private.h"

enum { EVENTS_MAX = 256 };

static struct ec2_double ec2;
static struct catalogue catalogue;
static struct aws_fleet *fleet;
static struct cloud_port port;
static struct cloud_event events[EVENTS_MAX];
static uint32_t event_count;
static uint32_t errors;
static char last_note[512];
static msec_t now;

static inline void on_send(void *context, uint64_t call, const char *body, size_t size,
                           msec_t timeout)
{
    (void)context;
    assert_true(timeout > 0);
    double_send(&ec2, call, body, size);
}

static inline void on_event(void *context, const struct cloud_event *event)
{
    (void)context;
    assert_true(event_count < EVENTS_MAX);
    events[event_count++] = *event;
}

static inline void on_note(void *context, bool is_error, const char *text)
{
    (void)context;
    errors += is_error ? 1 : 0;
    (void)snprintf(last_note, sizeof(last_note), "%s", text);
}

static inline struct aws_fleet_config usual(void)
{
    return (struct aws_fleet_config){
        .catalogue = &catalogue,
        .cluster = "lab",
        .node_prefix = "st-",
        .launch_template = "lt-1",
        .on_send = on_send,
        .on_event = on_event,
        .on_note = on_note,
        .timing = { .launch_burst = 100 },
        .seed = 7,
        .page = 50,
    };
}

static inline void open_fleet(struct aws_fleet_config config)
{
    aws_fleet_destroy(fleet);
    assert_int_equal(aws_fleet_create(&config, &fleet, NULL), 0);
    port = aws_fleet_port(fleet);
}

static inline int set_up(void **state)
{
    (void)state;
    double_init(&ec2);
    double_catalogue(&catalogue);
    event_count = 0;
    errors = 0;
    now = 1700000000000;
    fleet = NULL;
    open_fleet(usual());
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    aws_fleet_destroy(fleet);
    catalogue_done(&catalogue);
    double_done(&ec2);
    return 0;
}

/* Let time pass, answering everything, without faults. */
static inline void pass(msec_t span)
{
    const msec_t end = now + span;

    while (now <= end) {
        const msec_t wake = aws_fleet_next_wake(fleet);

        if (wake > now && ec2.call_count == 0) {
            if (wake > end)
                break;
            now = wake;
        }
        aws_fleet_tick(fleet, now);
        while (ec2.call_count > 0)
            double_answer(&ec2, fleet, now, 0, FAULT_NONE, NULL);
        assert_true(aws_fleet_next_wake(fleet) > now || ec2.call_count > 0);
    }
    now = end;
}

static inline void run_all(void)
{
    for (uint32_t i = 0; i < ec2.count; i++) {
        if (strcmp(ec2.instances[i].state, "pending") == 0)
            ec2.instances[i].state = "running";
    }
}

static const struct cloud_event *told(enum cloud_event_kind kind, uint64_t instance)
{
    for (uint32_t i = 0; i < event_count; i++) {
        if (events[i].kind == kind && events[i].instance == instance)
            return &events[i];
    }
    return NULL;
}

static inline struct cloud_event of(enum cloud_event_kind kind, uint64_t instance)
{
    const struct cloud_event *event = told(kind, instance);

    assert_non_null(event);
    return event != NULL ? *event : (struct cloud_event){ 0 };
}

static inline void ask_first(enum double_fault fault, const char *code)
{
    aws_fleet_tick(fleet, now);
    assert_true(ec2.call_count > 0);
    for (uint32_t i = 0; i < ec2.call_count; i++) {
        if (strstr(ec2.calls[i].body, "ClientToken=") != NULL) {
            double_answer(&ec2, fleet, now, i, fault, code);
            return;
        }
    }
    fail();
}

#define WITH(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
