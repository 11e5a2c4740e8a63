/* SPDX-License-Identifier: Apache-2.0 */
#include "base/test/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cloud/aws/ec2_answer.h"

static struct ec2_instance instances[4];
static struct ec2_type types[4];
static struct ec2_spot_price prices[4];
static struct ec2_offering offerings[4];
static struct ec2_fleet_row fleet[4];
static uint32_t count;

static void keep_instance(void *context, const struct ec2_instance *row)
{
    (void)context;
    if (count < 4)
        instances[count] = *row;
    count++;
}

static void keep_type(void *context, const struct ec2_type *row)
{
    (void)context;
    types[count++ % 4] = *row;
}

static void keep_price(void *context, const struct ec2_spot_price *row)
{
    (void)context;
    prices[count++ % 4] = *row;
}

static void keep_offering(void *context, const struct ec2_offering *row)
{
    (void)context;
    offerings[count++ % 4] = *row;
}

static void keep_fleet(void *context, const struct ec2_fleet_row *row)
{
    (void)context;
    fleet[count++ % 4] = *row;
}

static const struct ec2_sink KEEP = { keep_instance, keep_type,  keep_offering,
                                      keep_price,    keep_fleet, NULL };

static struct ec2_answer answer;
static struct error error;

static int take(const char *text)
{
    count = 0;
    error.text[0] = '\0';
    return ec2_answer_read(text, strlen(text), NULL, &KEEP, &answer, &error);
}

TEST(instances_are_read_through_their_reservations)
{
    assert_int_equal(
        take("<?xml version=\"1.0\"?><DescribeInstancesResponse xmlns=\"http://e/\">"
             "<requestId>r</requestId><reservationSet><item><reservationId>r-1</reservationId>"
             "<instancesSet><item><instanceId>i-0aa</instanceId>"
             "<instanceState><code>16</code><name>running</name></instanceState>"
             "<instanceType>c5.large</instanceType><amiLaunchIndex>2</amiLaunchIndex>"
             "<launchTime>2024-02-29T12:34:56.000Z</launchTime>"
             "<placement><availabilityZone>us-east-1a</availabilityZone></placement>"
             "<instanceLifecycle>spot</instanceLifecycle><clientToken>stint-lab-7</clientToken>"
             "<tagSet><item><key>Name</key><value>st-7</value></item>"
             "<item><key>stint:key</key><value>7</value></item>"
             "<item><key>stint:cluster</key><value>lab</value></item>"
             "<item><key>stint:offer</key><value>c5.large/us-east-1a/spot</value></item></tagSet>"
             "</item><item><instanceId>i-0bb</instanceId><instanceState><name>terminated</name>"
             "</instanceState><reason>User initiated (2024-02-29 12:40:00 GMT)</reason>"
             "<stateReason><code>Client.UserInitiatedShutdown</code></stateReason></item>"
             "</instancesSet></item></reservationSet><nextToken>abc==</nextToken>"
             "</DescribeInstancesResponse>"),
        0);

    assert_int_equal(count, 2);
    assert_string_equal(instances[0].id, "i-0aa");
    assert_int_equal(instances[0].state, EC2_RUNNING);
    assert_string_equal(instances[0].zone, "us-east-1a");
    assert_true(instances[0].is_spot);
    assert_int_equal(instances[0].launch_index, 2);
    assert_int_equal(instances[0].launched_at, 1709210096000);
    assert_string_equal(instances[0].tag_key, "7");
    assert_string_equal(instances[0].tag_cluster, "lab");
    assert_string_equal(instances[0].tag_offer, "c5.large/us-east-1a/spot");
    assert_string_equal(instances[0].client_token, "stint-lab-7");
    assert_int_equal(instances[0].changed_at, -1);
    assert_int_equal(instances[1].state, EC2_TERMINATED);
    assert_int_equal(instances[1].changed_at, 1709210400000);
    assert_string_equal(instances[1].reason, "Client.UserInitiatedShutdown");
    assert_string_equal(instances[1].tag_key, "");
    assert_string_equal(answer.next_token, "abc==");
    assert_string_equal(answer.code, "");
}

TEST(an_error_has_its_code_and_message)
{
    assert_int_equal(take("<Response><Errors><Error><Code>InsufficientInstanceCapacity</Code>"
                          "<Message>none\nleft</Message></Error></Errors>"
                          "<RequestID>x</RequestID></Response>"),
                     0);

    assert_string_equal(answer.code, "InsufficientInstanceCapacity");
    assert_string_equal(answer.message, "none?left");
    assert_int_equal(count, 0);
}

TEST(a_termination_tells_the_state_after_it)
{
    assert_int_equal(take("<TerminateInstancesResponse><instancesSet><item>"
                          "<instanceId>i-1</instanceId>"
                          "<currentState><code>32</code><name>shutting-down</name></currentState>"
                          "<previousState><code>16</code><name>running</name></previousState>"
                          "</item></instancesSet></TerminateInstancesResponse>"),
                     0);

    assert_int_equal(count, 1);
    assert_int_equal(instances[0].state, EC2_SHUTTING_DOWN);
}

TEST(types_prices_and_offerings_are_read)
{
    assert_int_equal(
        take(
            "<R><instanceTypeSet><item><instanceType>p3.8xlarge</instanceType>"
            "<currentGeneration>true</currentGeneration><bareMetal>false</bareMetal>"
            "<supportedUsageClasses><item>on-demand</item><item>spot</item></supportedUsageClasses>"
            "<processorInfo><supportedArchitectures><item>i386</item><item>x86_64</item>"
            "</supportedArchitectures></processorInfo><vCpuInfo><defaultVCpus>32</defaultVCpus></vCpuInfo>"
            "<memoryInfo><sizeInMiB>249856</sizeInMiB></memoryInfo>"
            "<gpuInfo><gpus><item><count>4</count></item></gpus></gpuInfo></item>"
            "</instanceTypeSet></R>"),
        0);
    assert_string_equal(types[0].name, "p3.8xlarge");
    assert_int_equal(types[0].cpus, 32);
    assert_int_equal(types[0].mem_mib, 249856);
    assert_int_equal(types[0].gpus, 4);
    assert_true(types[0].has_spot && types[0].has_on_demand && types[0].is_current);
    assert_false(types[0].is_bare_metal);
    assert_string_equal(types[0].arch, "i386,x86_64");

    assert_int_equal(take("<R><spotPriceHistorySet><item><instanceType>c5.large</instanceType>"
                          "<productDescription>Linux/UNIX</productDescription>"
                          "<spotPrice>0.0365004</spotPrice><timestamp>2024-02-29T12:34:56Z"
                          "</timestamp><availabilityZone>us-east-1a</availabilityZone></item>"
                          "</spotPriceHistorySet></R>"),
                     0);
    assert_int_equal(prices[0].price, 36500);
    assert_int_equal(prices[0].at, 1709210096000);

    assert_int_equal(take("<R><instanceTypeOfferingSet><item><instanceType>c5.large</instanceType>"
                          "<locationType>availability-zone</locationType>"
                          "<location>us-east-1b</location></item></instanceTypeOfferingSet></R>"),
                     0);
    assert_string_equal(offerings[0].location, "us-east-1b");
}

TEST(a_fleet_tells_what_started_and_what_was_refused)
{
    assert_int_equal(
        take(
            "<CreateFleetResponse><fleetId>f</fleetId><errorSet><item>"
            "<errorCode>InsufficientInstanceCapacity</errorCode><launchTemplateAndOverrides>"
            "<overrides><instanceType>c5.large</instanceType><availabilityZone>a</availabilityZone>"
            "</overrides></launchTemplateAndOverrides></item></errorSet><fleetInstanceSet><item>"
            "<instanceIds><item>i-9</item></instanceIds></item></fleetInstanceSet>"
            "</CreateFleetResponse>"),
        0);

    assert_int_equal(count, 2);
    assert_string_equal(fleet[0].code, "InsufficientInstanceCapacity");
    assert_string_equal(fleet[0].type, "c5.large");
    assert_string_equal(fleet[1].id, "i-9");
}

TEST(hostile_answers_are_refused_with_a_text)
{
    static const char deep[] =
        "<a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a><a/>"
        "</a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a></a>"
        "</a></a></a></a></a>";
    static const char *const BAD[] = {
        "", "not xml", "<a><b></a>", "<a>", "<!DOCTYPE a [<!ENTITY x \"y\">]><a>&x;</a>", deep,
    };

    for (size_t i = 0; i < sizeof(BAD) / sizeof(*BAD); i++) {
        assert_true(take(BAD[i]) < 0);
        assert_true(strlen(error.text) > 10);
    }
}

TEST(a_text_without_end_is_refused)
{
    const size_t size = 1 << 20;
    char *text = mem_alloc(size, 1);

    memset(text, 'x', size);
    memcpy(text, "<a><b>", 6);
    memcpy(text + size - 8, "</b></a>", 8);

    assert_int_equal(ec2_answer_read(text, size, NULL, &KEEP, &answer, &error), -EBADMSG);
    mem_free(text);
}

static int take_list(const char *text)
{
    count = 0;
    error.text[0] = '\0';
    return ec2_answer_read(text, strlen(text), "DescribeInstances", &KEEP, &answer, &error);
}

TEST(an_answer_to_something_else_is_none)
{
    static const char *const other[] = {
        "<html><body><p>Please sign in.</p></body></html>",
        ("<DescribeVolumesResponse><reservationSet><item><instancesSet><item><instanceId>i-1"
         "</instanceId></item></instancesSet></item></reservationSet></DescribeVolumesResponse>"),
        "<DescribeInstancesResponseX/>",
        "<DescribeInstances/>",
        "<Response/>",
        "<Response><Errors><Error><Message>m</Message></Error></Errors></Response>",
    };

    for (size_t i = 0; i < sizeof(other) / sizeof(*other); i++) {
        assert_int_equal(take_list(other[i]), -EBADMSG);
        assert_int_equal(count, 0);
        assert_non_null(strstr(error.text, "not a DescribeInstancesResponse"));
    }
    assert_int_equal(take_list("<DescribeInstancesResponse/>"), 0);
    assert_int_equal(
        take_list("<Response><Errors><Error><Code>C</Code></Error></Errors></Response>"), 0);
    assert_string_equal(answer.code, "C");
}

TEST(an_answer_that_ends_early_is_an_error)
{
    static const char whole[] =
        "<DescribeInstancesResponse><reservationSet><item><instancesSet><item><instanceId>i-1"
        "</instanceId></item></instancesSet></item></reservationSet></DescribeInstancesResponse>";

    for (size_t size = 0; size + 1 < sizeof(whole); size++)
        assert_int_equal(ec2_answer_read(whole, size, "DescribeInstances", &KEEP, &answer, &error),
                         -EBADMSG);
    assert_int_equal(take_list(whole), 0);
}

TEST(an_instance_has_the_owner_of_its_reservation)
{
    assert_int_equal(
        take_list(
            "<DescribeInstancesResponse><reservationSet>"
            "<item><ownerId>111122223333</ownerId><instancesSet><item><instanceId>i-1</instanceId>"
            "<networkInterfaceSet><item><ownerId>444455556666</ownerId></item>"
            "</networkInterfaceSet></item></instancesSet></item>"
            "<item><instancesSet><item><instanceId>i-2</instanceId></item></instancesSet></item>"
            "</reservationSet></DescribeInstancesResponse>"),
        0);
    assert_int_equal(count, 2);
    assert_string_equal(instances[0].owner, "111122223333");
    assert_string_equal(instances[1].owner, "");
}

CHECK_MAIN(RUN(instances_are_read_through_their_reservations),
           RUN(an_error_has_its_code_and_message), RUN(a_termination_tells_the_state_after_it),
           RUN(types_prices_and_offerings_are_read),
           RUN(a_fleet_tells_what_started_and_what_was_refused),
           RUN(hostile_answers_are_refused_with_a_text), RUN(a_text_without_end_is_refused),
           RUN(an_answer_to_something_else_is_none), RUN(an_answer_that_ends_early_is_an_error),
           RUN(an_instance_has_the_owner_of_its_reservation))
