/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/test/fleet_lab.h"

TEST(a_machine_is_rented_shown_and_given_back)
{
    port.ops->rent(port.self, 7, 1, 1);
    assert_int_equal(event_count, 0);
    pass(10);
    run_all();
    pass(10000);

    assert_int_equal(event_count, 1);
    assert_int_equal(events[0].kind, CLOUD_RUNNING);
    assert_int_equal(events[0].instance, 7);
    assert_int_equal(events[0].billed_from, 1700000000000);

    port.ops->give_back(port.self, 7);
    pass(10000);

    assert_int_equal(event_count, 2);
    assert_int_equal(events[1].kind, CLOUD_GONE);
    assert_int_equal(events[1].billed_from, 1700000000000);
    assert_int_equal(events[1].billed_to, 1700000010000);
    assert_int_equal(aws_fleet_stats(fleet).machines, 0);
    assert_int_equal(aws_fleet_next_wake(fleet), MSEC_NEVER);
}

TEST(a_launch_says_what_is_rented_and_for_whom)
{
    char text[1024];

    port.ops->rent(port.self, 7, 1, 1);
    aws_fleet_tick(fleet, now);

    assert_true(ec2.call_count >= 1);
    const char *body = ec2.calls[0].body;

    double_get(body, "Action", text, sizeof(text));
    assert_string_equal(text, "RunInstances");
    double_get(body, "ClientToken", text, sizeof(text));
    assert_string_equal(text, "stint-lab-7");
    double_get(body, "InstanceMarketOptions.MarketType", text, sizeof(text));
    assert_string_equal(text, "spot");
    double_get(body, "Placement.AvailabilityZone", text, sizeof(text));
    assert_string_equal(text, "us-east-1a");
    double_get(body, "LaunchTemplate.LaunchTemplateId", text, sizeof(text));
    assert_string_equal(text, "lt-1");
    double_get(body, "TagSpecification.1.Tag.1.Value", text, sizeof(text));
    assert_string_equal(text, "st-7");
    double_get(body, "TagSpecification.1.Tag.4.Value", text, sizeof(text));
    assert_string_equal(text, "c5.large/us-east-1a/spot");
    double_get(body, "UserData", text, sizeof(text));
    assert_string_equal(text,
                        "U1RJTlRfQ0xVU1RFUj1sYWIKU1RJTlRfTk9ERT1zdC03ClNUSU5UX1RZUEU9YzUubGFy"
                        "Z2UKU1RJTlRfWk9ORT11cy1lYXN0LTFhClNUSU5UX01BUktFVD1zcG90ClNUSU5UX0lE"
                        "TEU9MTgwMQo="); /* a second is paid for at a time, and half an hour */
}

TEST(an_answer_that_was_lost_is_asked_for_again_under_the_same_token)
{
    port.ops->rent(port.self, 7, 1, 0);
    ask_first(FAULT_CUT_AFTER, NULL);
    assert_int_equal(ec2.count, 1);
    ec2.instances[0].is_hidden = true;
    pass(600);

    assert_int_equal(ec2.launches, 2);
    assert_int_equal(ec2.count, 1);
    ec2.instances[0].is_hidden = false;
    run_all();
    pass(5000);
    assert_non_null(told(CLOUD_RUNNING, 7));
    assert_int_equal(aws_fleet_stats(fleet).repeated, 1);
}

TEST(an_answer_that_was_lost_is_found_by_a_round)
{
    port.ops->rent(port.self, 7, 1, 0);
    ask_first(FAULT_CUT_AFTER, NULL);
    pass(600);
    run_all();
    pass(5000);

    assert_int_equal(ec2.launches, 1);
    assert_non_null(told(CLOUD_RUNNING, 7));
}

TEST(a_token_that_is_not_honoured_is_noticed_and_the_second_machine_ended)
{
    ec2.ignores_tokens = true;
    port.ops->rent(port.self, 7, 1, 0);
    ask_first(FAULT_CUT_AFTER, NULL);
    ec2.instances[0].is_hidden = true;
    pass(600);
    assert_int_equal(ec2.count, 2);
    ec2.instances[0].is_hidden = false;
    run_all();
    pass(30000);

    assert_true(aws_fleet_stats(fleet).doubles > 0);
    assert_true(errors > 0);
    assert_true(double_is_alive(&ec2.instances[0]));
    assert_false(double_is_alive(&ec2.instances[1]));
    assert_int_equal(event_count, 1);
}

TEST(a_refusal_is_told_and_remembered_until_its_back_off_ends)
{
    port.ops->rent(port.self, 7, 1, 0);
    ask_first(FAULT_CODE, "InsufficientInstanceCapacity");
    assert_non_null(told(CLOUD_REFUSED, 7));
    struct cloud_refusal refusal;

    assert_true(aws_fleet_refusal(fleet, 0, now, &refusal));
    assert_int_equal(refusal.until - refusal.at, 30000);
    assert_int_equal(refusal.times, 1);
    assert_false(refusal.is_quota);
    assert_false(aws_fleet_refusal(fleet, 2, now, &refusal));

    pass(29000);
    port.ops->rent(port.self, 8, 1, 0);
    port.ops->rent(port.self, 9, 1, 2);
    assert_null(told(CLOUD_REFUSED, 8));
    pass(100);
    assert_non_null(told(CLOUD_REFUSED, 8));
    assert_null(told(CLOUD_REFUSED, 9));
    assert_int_equal(ec2.count, 1);
    assert_int_equal(aws_fleet_stats(fleet).held_back, 1);

    pass(1000);
    port.ops->rent(port.self, 10, 1, 0);
    ask_first(FAULT_CODE, "InsufficientInstanceCapacity");
    assert_true(aws_fleet_refusal(fleet, 0, now, &refusal));
    assert_int_equal(refusal.until - refusal.at, 60000);
    assert_int_equal(refusal.times, 2);
    pass(59000); /* the second back-off is twice as long */
    port.ops->rent(port.self, 11, 1, 0);
    pass(100);
    assert_non_null(told(CLOUD_REFUSED, 11));
    pass(1000);
    port.ops->rent(port.self, 12, 1, 0);
    pass(100);
    assert_null(told(CLOUD_REFUSED, 12));
    assert_int_equal(ec2.count, 2);
}

TEST(a_back_off_goes_on_in_the_next_life)
{
    const msec_t begin = now;

    /* Refused; another decided meanwhile was held back; refused once more after the back-off. */
    aws_fleet_recall(fleet, 0, now, now + 100, true);
    aws_fleet_recall(fleet, 0, now + 10000, now + 10001, true);
    assert_int_equal(fleet->blocks[0].until, begin + 30100);
    aws_fleet_recall(fleet, 0, now + 31000, now + 31100, true);
    assert_int_equal(fleet->blocks[0].until, begin + 91100);
    aws_fleet_recall(fleet, 2, now, now + 100, true);
    aws_fleet_recall(fleet, 2, now + 31000, now + 40000, false);

    now = begin + 91000;
    port.ops->rent(port.self, 7, 1, 0);
    port.ops->rent(port.self, 8, 1, 2);
    pass(50);
    assert_non_null(told(CLOUD_REFUSED, 7));
    assert_null(told(CLOUD_REFUSED, 8));
    assert_int_equal(ec2.count, 1);
    pass(100);
    port.ops->rent(port.self, 9, 1, 0);
    pass(50);
    assert_int_equal(ec2.count, 2);
}

TEST(refusals_of_one_batch_count_once)
{
    struct aws_fleet_config config = usual();

    config.together = 1;
    open_fleet(config);
    port.ops->rent(port.self, 1, 5, 0);
    aws_fleet_tick(fleet, now);
    for (int i = 0; i < 5; i++)
        ask_first(FAULT_CODE, "InsufficientInstanceCapacity");

    assert_int_equal(fleet->blocks[0].wait, 30000);
    assert_int_equal(fleet->blocks[0].times, 1);
}

TEST(a_quota_refuses_all_offers_that_share_it)
{
    port.ops->rent(port.self, 1, 1, 0);
    ask_first(FAULT_CODE, "VcpuLimitExceeded");
    struct cloud_refusal refusal;

    assert_true(aws_fleet_refusal(fleet, 2, now, &refusal));
    assert_true(refusal.is_quota);

    port.ops->rent(port.self, 2, 1, 2); /* another type, same quota */
    port.ops->rent(port.self, 3, 1, 1); /* spot counts elsewhere */
    port.ops->rent(port.self, 4, 1, 4); /* so does a GPU */
    pass(100);

    assert_non_null(told(CLOUD_REFUSED, 1));
    assert_non_null(told(CLOUD_REFUSED, 2));
    assert_null(told(CLOUD_REFUSED, 3));
    assert_null(told(CLOUD_REFUSED, 4));
    assert_int_equal(ec2.count, 2);
    assert_string_equal(fleet_quota_of("inf1.xlarge"), "inf");
    assert_string_equal(fleet_quota_of("g5.xlarge"), "g");
    assert_string_equal(fleet_quota_of("m5.large"), "standard");
}

TEST(throttling_is_waited_out)
{
    port.ops->rent(port.self, 7, 1, 0);
    for (int i = 0; i < 3; i++) {
        ask_first(FAULT_CODE, "RequestLimitExceeded");
        assert_int_equal(event_count, 0);
        now += 20001;
    }
    pass(20000);

    assert_int_equal(ec2.count, 1);
    assert_int_equal(aws_fleet_stats(fleet).throttled, 3);
}

TEST(launches_keep_to_the_rate_of_the_api)
{
    struct aws_fleet_config config = usual();

    config.timing = (struct aws_timing){ 0 };
    config.together = 1;
    open_fleet(config);
    port.ops->rent(port.self, 1, 30, 0);

    pass(100);
    assert_int_equal(ec2.launches, 5);
    pass(5000);
    assert_in_range(ec2.launches, 14, 16);
    pass(20000);
    assert_int_equal(ec2.launches, 30);
}

TEST(what_is_given_back_before_its_answer_came_is_ended)
{
    port.ops->rent(port.self, 7, 1, 0);
    aws_fleet_tick(fleet, now);
    port.ops->give_back(port.self, 7);
    pass(30000);

    assert_int_equal(ec2.count, 1);
    assert_false(double_is_alive(&ec2.instances[0]));
    assert_non_null(told(CLOUD_GONE, 7));
    assert_int_equal(event_count, 1);
}

TEST(what_is_given_back_after_a_lost_answer_is_sought_and_not_asked_for)
{
    port.ops->rent(port.self, 7, 1, 0);
    ask_first(FAULT_CUT_BEFORE, NULL);
    port.ops->give_back(port.self, 7);
    pass(30000);
    assert_int_equal(event_count, 0);
    pass(60000);

    assert_int_equal(ec2.count, 0);
    assert_non_null(told(CLOUD_GONE, 7));
    assert_int_equal(of(CLOUD_GONE, 7).billed_from, -1);
}

TEST(a_termination_is_repeated_until_it_is_shown)
{
    port.ops->rent(port.self, 7, 2, 0);
    pass(100);
    run_all();
    pass(5000);
    port.ops->give_back(port.self, 7);
    aws_fleet_tick(fleet, now);
    for (uint32_t i = 0; i < ec2.call_count; i++) {
        if (strstr(ec2.calls[i].body, "Terminate") != NULL)
            double_answer(&ec2, fleet, now, i, FAULT_CUT_BEFORE, NULL);
    }
    pass(30000);

    assert_int_equal(ec2.terminations, 1);
    assert_non_null(told(CLOUD_GONE, 7));
    assert_null(told(CLOUD_GONE, 8));
}

TEST(a_new_daemon_finds_what_the_old_one_rented)
{
    port.ops->rent(port.self, 7, 3, 1);
    pass(100);
    run_all();
    pass(5000);
    double_end(&ec2, 2, now);
    while (ec2.call_count > 0)
        mem_free(ec2.calls[--ec2.call_count].body);
    open_fleet(usual());
    event_count = 0;

    port.ops->list(port.self, 99);
    pass(100);

    assert_int_equal(event_count, 4);
    assert_int_equal(of(CLOUD_FOUND, 7).offer, 1);
    assert_int_equal(of(CLOUD_FOUND, 7).billed_from, 1700000000000);
    assert_non_null(told(CLOUD_FOUND, 8));
    assert_int_equal(of(CLOUD_GONE, 9).billed_to, now / 1000 * 1000);
    assert_int_equal(events[3].kind, CLOUD_LISTED);
    assert_int_equal(events[3].key, 99);

    port.ops->give_back(port.self, 8);
    pass(10000);
    assert_non_null(told(CLOUD_GONE, 8));
    assert_true(double_is_alive(&ec2.instances[0]));
}

TEST(a_list_goes_through_all_pages)
{
    ec2.page = 5;
    port.ops->rent(port.self, 1, 23, 0);
    pass(5000);
    run_all();
    pass(20000);
    event_count = 0;
    const uint32_t before = ec2.describes;

    port.ops->list(port.self, 5);
    pass(10);

    assert_int_equal(event_count, 24);
    assert_int_equal(ec2.describes - before, 5);
}

TEST(what_is_not_shown_yet_stays_ours)
{
    port.ops->rent(port.self, 7, 1, 0);
    pass(10);
    ec2.instances[0].is_hidden = true;
    port.ops->list(port.self, 5);
    pass(30000);
    assert_non_null(told(CLOUD_FOUND, 7));
    assert_null(told(CLOUD_GONE, 7));

    ec2.instances[0].is_hidden = false;
    run_all();
    pass(5000);
    assert_non_null(told(CLOUD_RUNNING, 7));
}

TEST(a_round_that_takes_long_ends_nothing_that_is_younger_than_its_question)
{
    port.ops->rent(port.self, 7, 1, 0);
    pass(10);
    ec2.instances[0].is_hidden = true;
    pass(30000);

    /* A question of now is answered, without the machine, when it would be old enough. */
    now += 2000;
    aws_fleet_tick(fleet, now);
    assert_int_equal(ec2.call_count, 1);
    now += 60000;
    double_answer(&ec2, fleet, now, 0, FAULT_NONE, NULL);

    assert_null(told(CLOUD_GONE, 7));
}

TEST(what_is_not_shown_any_more_is_gone)
{
    port.ops->rent(port.self, 7, 1, 0);
    pass(10);
    run_all();
    pass(10000);
    ec2.instances[0].is_hidden = true;
    pass(200000);

    assert_non_null(told(CLOUD_GONE, 7));
    assert_true(errors > 0);
}

TEST(what_was_taken_for_gone_and_is_shown_again_is_ended)
{
    port.ops->rent(port.self, 7, 1, 0);
    pass(100);
    run_all();
    pass(30000);
    ec2.instances[0].is_hidden = true;
    pass(180000);
    assert_non_null(told(CLOUD_GONE, 7));
    assert_true(double_is_alive(&ec2.instances[0]));

    ec2.instances[0].is_hidden = false;
    event_count = 0;
    port.ops->list(port.self, 9);
    pass(2000);
    assert_false(double_is_alive(&ec2.instances[0]));
    assert_null(told(CLOUD_FOUND, 7));
    assert_non_null(strstr(last_note, "there again"));
    assert_int_equal(aws_fleet_stats(fleet).doubles, 0);
}

TEST(a_machine_that_is_taken_away_is_gone_at_the_time_that_ec2_says)
{
    port.ops->rent(port.self, 7, 1, 1);
    pass(10);
    run_all();
    pass(10000);
    double_end(&ec2, 0, now);
    const msec_t end = now / 1000 * 1000;

    pass(30000);

    assert_int_equal(of(CLOUD_GONE, 7).billed_to, end);
    aws_fleet_notice(fleet, now, "i-00000000", true);
    assert_null(told(CLOUD_NOTICE, 7));
}

TEST(a_machine_that_began_and_ended_within_a_second_is_charged)
{
    port.ops->rent(port.self, 7, 1, 0);
    aws_fleet_tick(fleet, now);
    port.ops->give_back(port.self, 7);
    pass(30000);

    assert_int_equal(of(CLOUD_GONE, 7).billed_from, 1700000000000);
    assert_int_equal(of(CLOUD_GONE, 7).billed_to, 1700000000001);
}

TEST(a_notice_reaches_the_machine_it_is_about)
{
    port.ops->rent(port.self, 7, 1, 1);
    pass(100);

    assert_true(aws_fleet_notice(fleet, now, "i-00000000", false));
    assert_true(aws_fleet_notice(fleet, now, "i-00000000", true));
    assert_false(aws_fleet_notice(fleet, now, "i-unknown", true));

    assert_int_equal(event_count, 2);
    assert_int_equal(events[0].kind, CLOUD_NOTICE);
    assert_int_equal(events[0].instance, 7);
    assert_true(events[0].may_stay);
    assert_false(events[1].may_stay);
}

TEST(a_missing_right_is_said_and_not_asked_for_again_at_once)
{
    port.ops->rent(port.self, 7, 1, 0);
    ask_first(FAULT_CODE, "UnauthorizedOperation");

    assert_non_null(told(CLOUD_REFUSED, 7));
    assert_int_equal(errors, 1);
    assert_non_null(strstr(last_note, "UnauthorizedOperation"));
}

TEST(a_missing_right_says_nothing_of_a_launch_whose_answer_was_lost)
{
    port.ops->rent(port.self, 7, 1, 0);
    ask_first(FAULT_CUT_AFTER, NULL);
    ec2.instances[0].is_hidden = true;
    while (ec2.call_count > 0)
        double_answer(&ec2, fleet, now, 0, FAULT_NONE, NULL);
    now += 1000;
    ask_first(FAULT_CODE, "UnauthorizedOperation");
    pass(1000);
    assert_null(told(CLOUD_REFUSED, 7));

    ec2.instances[0].is_hidden = false;
    run_all();
    pass(10000);
    assert_non_null(told(CLOUD_RUNNING, 7));
    assert_int_equal(ec2.launches, 1);
}

static uint32_t stale;

static void on_stale_keys(void *context)
{
    (void)context;
    stale++;
}

TEST(keys_that_were_rotated_are_read_again)
{
    struct aws_fleet_config config = usual();

    stale = 0;
    config.on_stale_keys = on_stale_keys;
    open_fleet(config);
    port.ops->rent(port.self, 7, 1, 0);
    ask_first(FAULT_CODE, "AuthFailure");
    assert_int_equal(stale, 1);
    pass(10000);
    run_all();
    pass(10000);

    assert_null(told(CLOUD_REFUSED, 7));
    assert_non_null(told(CLOUD_RUNNING, 7));
    assert_int_equal(errors, 0);
}

TEST(keys_that_stay_wrong_are_complained_about)
{
    port.ops->rent(port.self, 7, 1, 0);
    ask_first(FAULT_CODE, "AuthFailure");
    assert_int_equal(errors, 0);
    now += 10000;
    ask_first(FAULT_CODE, "AuthFailure");

    assert_int_equal(errors, 1);
    assert_non_null(strstr(last_note, "AuthFailure"));
}

TEST(two_hundred_machines_are_given_back_in_four_requests)
{
    port.ops->rent(port.self, 1, 200, 0);
    pass(1000);
    run_all();
    pass(10000);
    assert_int_equal(event_count, 200);
    event_count = 0;

    for (uint64_t key = 1; key <= 200; key++)
        port.ops->give_back(port.self, key);
    aws_fleet_tick(fleet, now);
    assert_true(ec2.call_count >= 4 && ec2.call_count <= 5); /* and perhaps a look */
    pass(20000);

    assert_int_equal(ec2.terminations, 4);
    assert_int_equal(event_count, 200);
}

TEST(a_machine_that_ended_before_it_ran_counts_as_a_refusal)
{
    struct cloud_refusal refusal;

    for (uint32_t i = 0; i < 2; i++) {
        port.ops->rent(port.self, 7 + i, 1, 0);
        pass(100);
        assert_int_equal(ec2.count, i + 1);
        double_end(&ec2, i, now + 1000);
        pass(5000);
        assert_non_null(told(CLOUD_GONE, 7 + i));
        assert_true(aws_fleet_refusal(fleet, 0, now, &refusal));
        assert_int_equal(refusal.until - refusal.at, i == 0 ? 30000 : 60000);
        now = refusal.until;
    }
    port.ops->rent(port.self, 9, 1, 0);
    pass(100);
    run_all();
    pass(5000);
    double_end(&ec2, 2, now); /* it ran: the next one may, too */
    pass(60000);
    assert_non_null(told(CLOUD_GONE, 9));
    assert_false(aws_fleet_refusal(fleet, 0, now, &refusal));
}

TEST(a_launch_that_is_too_large_is_sent_in_halves)
{
    port.ops->rent(port.self, 1, 8, 0);
    ask_first(FAULT_CODE, "ResourceCountLimitExceeded");
    pass(10000);

    assert_int_equal(ec2.count, 8);
    assert_int_equal(ec2.launches, 2);
    assert_int_equal(errors, 0);
}

TEST(names_that_ec2_cannot_hold_are_refused)
{
    struct aws_fleet_config config = {
        .catalogue = &catalogue, .cluster = "a cluster", .node_prefix = "st-", .image = "ami-1"
    };
    struct aws_fleet *other = NULL;
    struct error error;

    assert_int_equal(aws_fleet_create(&config, &other, &error), -EINVAL);
    config.cluster = "a-name-that-is-longer-than-a-token-can-carry-along";
    assert_int_equal(aws_fleet_create(&config, &other, &error), -EINVAL);
    config.cluster = "lab";
    config.image = NULL;
    assert_int_equal(aws_fleet_create(&config, &other, &error), -EINVAL);
    assert_null(other);
}

CHECK_MAIN(WITH(a_machine_is_rented_shown_and_given_back),
           WITH(a_launch_says_what_is_rented_and_for_whom),
           WITH(an_answer_that_was_lost_is_asked_for_again_under_the_same_token),
           WITH(an_answer_that_was_lost_is_found_by_a_round),
           WITH(a_token_that_is_not_honoured_is_noticed_and_the_second_machine_ended),
           WITH(a_refusal_is_told_and_remembered_until_its_back_off_ends),
           WITH(a_back_off_goes_on_in_the_next_life), WITH(refusals_of_one_batch_count_once),
           WITH(a_quota_refuses_all_offers_that_share_it), WITH(throttling_is_waited_out),
           WITH(launches_keep_to_the_rate_of_the_api),
           WITH(what_is_given_back_before_its_answer_came_is_ended),
           WITH(what_is_given_back_after_a_lost_answer_is_sought_and_not_asked_for),
           WITH(a_termination_is_repeated_until_it_is_shown),
           WITH(a_new_daemon_finds_what_the_old_one_rented), WITH(a_list_goes_through_all_pages),
           WITH(what_is_not_shown_yet_stays_ours),
           WITH(a_round_that_takes_long_ends_nothing_that_is_younger_than_its_question),
           WITH(what_is_not_shown_any_more_is_gone),
           WITH(what_was_taken_for_gone_and_is_shown_again_is_ended),
           WITH(a_machine_that_is_taken_away_is_gone_at_the_time_that_ec2_says),
           WITH(a_machine_that_began_and_ended_within_a_second_is_charged),
           WITH(a_notice_reaches_the_machine_it_is_about),
           WITH(a_missing_right_is_said_and_not_asked_for_again_at_once),
           WITH(a_missing_right_says_nothing_of_a_launch_whose_answer_was_lost),
           WITH(keys_that_were_rotated_are_read_again),
           WITH(keys_that_stay_wrong_are_complained_about),
           WITH(two_hundred_machines_are_given_back_in_four_requests),
           WITH(a_machine_that_ended_before_it_ran_counts_as_a_refusal),
           WITH(a_launch_that_is_too_large_is_sent_in_halves),
           WITH(names_that_ec2_cannot_hold_are_refused))
