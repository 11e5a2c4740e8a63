/* SPDX-License-Identifier: Apache-2.0 */
/* What a fleet does with answers that are wrong: nothing of them is believed, and all of it is reported. */
#include "cloud/aws/test/fleet_lab.h"

/* Three machines that run, known for a while. */
static void run_three(void)
{
    port.ops->rent(port.self, 7, 3, 0);
    pass(10);
    run_all();
    pass(30000);
    assert_non_null(told(CLOUD_RUNNING, 9));
    event_count = 0;
    errors = 0;
}

static uint32_t found(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < event_count; i++)
        count += events[i].kind == CLOUD_FOUND ? 1 : 0;
    return count;
}

static bool is_listed(uint64_t key)
{
    for (uint32_t i = 0; i < event_count; i++) {
        if (events[i].kind == CLOUD_LISTED && events[i].key == key)
            return true;
    }
    return false;
}

TEST(an_empty_list_ends_nothing_however_long_it_lasts)
{
    run_three();
    ec2.shows_nothing = true;
    pass(600000);
    port.ops->list(port.self, 5);
    pass(5000);

    assert_null(told(CLOUD_GONE, 7));
    assert_int_equal(found(), 3);
    assert_true(is_listed(5));
    assert_int_equal(aws_fleet_trouble(fleet, now).missing, 3);
    assert_true(errors > 0);
    assert_true(ec2.probes > 0);
    assert_true(ec2.probes < 130); /* in ten minutes */

    ec2.shows_nothing = false;
    pass(5000);
    assert_int_equal(aws_fleet_trouble(fleet, now).missing, 0);
}

TEST(machines_that_lists_lack_are_reported_within_a_minute)
{
    run_three();
    ec2.instances[1].is_hidden = true;
    ec2.shows_nothing = true;
    pass(60000);

    assert_int_equal(aws_fleet_trouble(fleet, now).missing, 3);
    assert_int_equal(errors, 1);
    assert_non_null(strstr(last_note, "lists lack machines=3 of=3"));
}

TEST(what_ec2_does_not_know_by_its_id_is_gone_and_the_rest_is_not)
{
    run_three();
    ec2.instances[1].is_hidden = true;
    pass(120000);

    assert_non_null(told(CLOUD_GONE, 8));
    assert_null(told(CLOUD_GONE, 7));
    assert_int_equal(aws_fleet_trouble(fleet, now).missing, 0);
}

TEST(an_answer_of_another_request_is_no_list)
{
    run_three();
    ec2.root = "DescribeVolumesResponse";
    port.ops->list(port.self, 5);
    pass(60000);

    assert_false(is_listed(5));
    assert_int_equal(event_count, 0);
    assert_non_null(strstr(aws_fleet_trouble(fleet, now).fault, "not a DescribeInstancesResponse"));
    assert_int_equal(errors, 1); /* said once */
    assert_true(aws_fleet_stats(fleet).disbelieved > 3);

    ec2.root = NULL;
    pass(30000);
    assert_true(is_listed(5));
    assert_int_equal(found(), 3);
    assert_null(aws_fleet_trouble(fleet, now).fault);
}

TEST(a_list_of_another_account_is_not_believed)
{
    aws_fleet_open(fleet, "123456789012", "us-east-1");
    ec2.owner = "123456789012";
    run_three();
    ec2.owner = "210987654321";
    ec2.instances[0].state = "terminated";
    port.ops->list(port.self, 5);
    pass(60000);

    assert_int_equal(event_count, 0);
    assert_non_null(strstr(aws_fleet_trouble(fleet, now).fault, "account 210987654321"));

    ec2.owner = "123456789012";
    pass(30000);
    assert_true(is_listed(5));
    assert_non_null(told(CLOUD_GONE, 7));
}

TEST(a_token_that_repeats_ends_in_a_fault_and_a_back_off)
{
    run_three();
    ec2.next = "same";
    const uint32_t before = ec2.describes;

    port.ops->list(port.self, 5);
    pass(60000);

    assert_false(is_listed(5));
    assert_non_null(strstr(aws_fleet_trouble(fleet, now).fault, "repeats"));
    assert_true(ec2.describes - before > 4);
    assert_true(ec2.describes - before < 40); /* in a minute */

    ec2.next = NULL;
    pass(40000);
    assert_true(is_listed(5));
}

/* Every page names another one. */
TEST(pages_without_an_end_end_in_a_fault)
{
    char token[2][16] = { "a", "b" };
    uint32_t pages = 0;

    run_three();
    port.ops->list(port.self, 5);
    aws_fleet_tick(fleet, now);
    while (aws_fleet_trouble(fleet, now).fault == NULL) {
        if (ec2.call_count == 0)
            now = aws_fleet_next_wake(fleet);
        aws_fleet_tick(fleet, now);
        ec2.next = token[pages % 2];
        double_answer(&ec2, fleet, now, 0, FAULT_NONE, NULL);
        pages++;
        assert_true(pages < 1000);
    }

    assert_true(pages <= 128);
    assert_non_null(strstr(last_note, "more pages"));
}

TEST(nothing_is_sent_before_the_account_is_known)
{
    struct aws_fleet_config config = usual();

    config.waits_for_account = true;
    open_fleet(config);
    port.ops->rent(port.self, 7, 1, 0);
    port.ops->list(port.self, 5);
    port.ops->give_back(port.self, 3);
    pass(600000);
    assert_int_equal(ec2.launches + ec2.describes + ec2.terminations, 0);
    assert_int_equal(event_count, 0);

    aws_fleet_open(fleet, "123456789012", "us-east-1");
    pass(5000);
    assert_int_equal(ec2.launches, 1);
    assert_true(is_listed(5));

    aws_fleet_shut(fleet);
    const uint32_t before = ec2.describes;

    port.ops->rent(port.self, 8, 1, 0);
    pass(600000);
    assert_int_equal(ec2.launches, 1);
    assert_int_equal(ec2.describes, before);
}

TEST(a_termination_that_is_refused_is_reported_and_holds_up_no_other)
{
    run_three();
    ec2.instances[1].is_protected = true;
    for (uint64_t key = 7; key < 10; key++)
        port.ops->give_back(port.self, key);
    pass(5000);

    assert_non_null(told(CLOUD_GONE, 7));
    assert_non_null(told(CLOUD_GONE, 9));
    assert_null(told(CLOUD_GONE, 8));
    assert_int_equal(aws_fleet_trouble(fleet, now).refused, 1);
    assert_string_equal(aws_fleet_trouble(fleet, now).code, "OperationNotPermitted");
    assert_int_equal(errors, 1);

    pass(60000);
    assert_int_equal(aws_fleet_trouble(fleet, now).not_ended, 1);
    ec2.instances[1].is_protected = false;
    pass(60000);
    assert_non_null(told(CLOUD_GONE, 8));
    assert_int_equal(aws_fleet_trouble(fleet, now).refused, 0);
}

TEST(what_ec2_said_to_be_ending_has_ended_though_lists_stay_old)
{
    run_three();
    port.ops->give_back(port.self, 7);
    pass(100);
    assert_string_equal(ec2.instances[0].state, "shutting-down");
    ec2.instances[0].state = "running"; /* an old list */
    pass(90000);

    assert_non_null(told(CLOUD_GONE, 7));
    const uint32_t before = ec2.terminations;

    pass(60000);
    assert_true(ec2.terminations - before < 6); /* it may be another one: once in a while */
}

TEST(what_was_never_seen_is_sought_by_tag_and_token_and_then_gone)
{
    port.ops->give_back(port.self, 7);
    pass(50000);
    assert_null(told(CLOUD_GONE, 7));
    pass(30000);

    assert_non_null(told(CLOUD_GONE, 7));
    assert_int_equal(of(CLOUD_GONE, 7).billed_from, -1);
    assert_int_equal(ec2.terminations, 0);
}

TEST(what_has_lost_its_tags_is_found_by_its_token_and_ended)
{
    run_three();
    open_fleet(usual()); /* one that knows nothing */
    for (uint32_t i = 0; i < 3; i++)
        ec2.instances[i].is_untagged = true;
    port.ops->give_back(port.self, 8);
    pass(150000);

    assert_non_null(told(CLOUD_GONE, 8));
    assert_true(of(CLOUD_GONE, 8).billed_from > 0);
    assert_false(double_is_alive(&ec2.instances[1]));
    assert_true(double_is_alive(&ec2.instances[0]));
}

CHECK_MAIN(WITH(an_empty_list_ends_nothing_however_long_it_lasts),
           WITH(machines_that_lists_lack_are_reported_within_a_minute),
           WITH(what_ec2_does_not_know_by_its_id_is_gone_and_the_rest_is_not),
           WITH(an_answer_of_another_request_is_no_list),
           WITH(a_list_of_another_account_is_not_believed),
           WITH(a_token_that_repeats_ends_in_a_fault_and_a_back_off),
           WITH(pages_without_an_end_end_in_a_fault),
           WITH(nothing_is_sent_before_the_account_is_known),
           WITH(a_termination_that_is_refused_is_reported_and_holds_up_no_other),
           WITH(what_ec2_said_to_be_ending_has_ended_though_lists_stay_old),
           WITH(what_was_never_seen_is_sought_by_tag_and_token_and_then_gone),
           WITH(what_has_lost_its_tags_is_found_by_its_token_and_ended))
