/* SPDX-License-Identifier: Apache-2.0 */
#include "cloud/aws/test/fleet_lab.h"

static const char *value(const char *name)
{
    static char text[1024];

    assert_true(ec2.call_count >= 1);
    double_get(ec2.calls[0].body, name, text, sizeof(text));
    return text;
}

static uint32_t alive(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ec2.count; i++)
        count += double_is_alive(&ec2.instances[i]) ? 1 : 0;
    return count;
}

static struct aws_fleet_config with_subnets(void)
{
    static const struct aws_subnet subnets[] = { { "us-east-1a", "subnet-a" },
                                                 { "us-east-1b", "subnet-b" } };
    struct aws_fleet_config config = usual();

    config.subnets = subnets;
    config.subnet_count = 2;
    return config;
}

static void open_fleet_with_subnets(void)
{
    open_fleet(with_subnets());
}

TEST(machines_of_one_offer_are_asked_for_together)
{
    port.ops->rent(port.self, 7, 3, 1);
    port.ops->rent(port.self, 10, 1, 1);
    port.ops->rent(port.self, 11, 2, 0);
    aws_fleet_tick(fleet, now);

    assert_string_equal(value("Action"), "RunInstances");
    assert_string_equal(value("ClientToken"), "stint-lab-7+4");
    assert_string_equal(value("MinCount"), "1");
    assert_string_equal(value("MaxCount"), "4");
    assert_string_equal(value("TagSpecification.1.Tag.1.Value"), "st-7..10");
    assert_string_equal(value("TagSpecification.1.Tag.3.Value"), "7");
    pass(10);
    run_all();
    pass(10000);

    assert_int_equal(ec2.launches, 2);
    for (uint64_t key = 7; key <= 12; key++)
        assert_non_null(told(CLOUD_RUNNING, key));
    assert_int_equal(event_count, 6);

    port.ops->give_back(port.self, 9);
    pass(10000);
    assert_int_equal(events[6].instance, 9);
    assert_int_equal(alive(), 5);
}

TEST(a_launch_has_no_more_machines_than_one_request_may_carry)
{
    port.ops->rent(port.self, 1, 120, 0);
    pass(100);

    assert_int_equal(ec2.launches, 3);
    assert_int_equal(ec2.count, 120);
}

TEST(three_hundred_machines_are_asked_for_within_a_second_at_the_usual_rate)
{
    struct aws_fleet_config config = usual();

    config.timing = (struct aws_timing){ 0 };
    open_fleet(config);
    port.ops->rent(port.self, 1, 300, 0);
    pass(1000);

    assert_int_equal(ec2.launches, 6);
    assert_int_equal(ec2.count, 300);
}

TEST(those_that_a_launch_did_not_get_are_refused)
{
    ec2.most = 2;
    port.ops->rent(port.self, 7, 5, 0);
    pass(10);
    run_all();
    pass(10000);

    assert_non_null(told(CLOUD_RUNNING, 7));
    assert_non_null(told(CLOUD_RUNNING, 8));
    for (uint64_t key = 9; key <= 11; key++)
        assert_non_null(told(CLOUD_REFUSED, key));
    port.ops->rent(port.self, 12, 1, 0);
    pass(10);
    assert_non_null(told(CLOUD_REFUSED, 12)); /* its back-off lasts */
    assert_int_equal(ec2.launches, 1);
}

TEST(a_lost_answer_is_asked_for_with_the_same_machines)
{
    ec2.most = 2;
    port.ops->rent(port.self, 7, 3, 0);
    ask_first(FAULT_CUT_AFTER, NULL);
    for (uint32_t i = 0; i < 2; i++)
        ec2.instances[i].is_hidden = true;
    port.ops->rent(port.self, 10, 1, 0); /* its neighbour is not drawn in */
    pass(600);

    assert_int_equal(ec2.launches, 3);
    assert_int_equal(ec2.count, 3);
    assert_non_null(told(CLOUD_REFUSED, 9));
    for (uint32_t i = 0; i < 2; i++)
        ec2.instances[i].is_hidden = false;
    run_all();
    pass(5000);
    assert_non_null(told(CLOUD_RUNNING, 7));
    assert_non_null(told(CLOUD_RUNNING, 8));
    assert_non_null(told(CLOUD_RUNNING, 10));
    assert_int_equal(errors, 0);
}

TEST(what_is_given_back_meanwhile_is_ended_when_its_launch_is_told)
{
    port.ops->rent(port.self, 7, 3, 0);
    ask_first(FAULT_CUT_BEFORE, NULL);
    port.ops->give_back(port.self, 8);
    pass(20000);
    run_all();
    pass(20000);

    assert_int_equal(ec2.count, 3);
    assert_int_equal(alive(), 2);
    assert_false(double_is_alive(&ec2.instances[1]));
    assert_non_null(told(CLOUD_GONE, 8));
    assert_non_null(told(CLOUD_RUNNING, 7));
    assert_non_null(told(CLOUD_RUNNING, 9));
}

TEST(what_nobody_wants_any_more_is_not_asked_for_again)
{
    port.ops->rent(port.self, 7, 3, 0);
    ask_first(FAULT_CUT_BEFORE, NULL);
    for (uint64_t key = 7; key <= 9; key++)
        port.ops->give_back(port.self, key);
    pass(120000);

    assert_int_equal(ec2.count, 0);
    for (uint64_t key = 7; key <= 9; key++)
        assert_non_null(told(CLOUD_GONE, key));
}

TEST(a_launch_that_was_throttled_is_formed_anew)
{
    port.ops->rent(port.self, 7, 3, 0);
    ask_first(FAULT_CODE, "RequestLimitExceeded");
    port.ops->give_back(port.self, 8);
    pass(5000);

    assert_int_equal(ec2.count, 2);
    assert_int_equal(double_key(&ec2.instances[0]), 7);
    assert_int_equal(double_key(&ec2.instances[1]), 9);
    assert_non_null(told(CLOUD_GONE, 8));
}

TEST(a_machine_that_ended_is_not_brought_back_by_an_old_answer)
{
    port.ops->rent(port.self, 7, 2, 0);
    ask_first(FAULT_CUT_AFTER, NULL);
    ec2.instances[1].is_hidden = true;
    aws_fleet_tick(fleet, now);
    double_end(&ec2, 0, now + 1000);
    while (ec2.call_count > 0) /* the round shows the end of the first */
        double_answer(&ec2, fleet, now, 0, FAULT_NONE, NULL);
    pass(5000);
    ec2.instances[1].is_hidden = false;
    run_all();
    pass(5000);

    assert_int_equal(errors, 0);
    assert_non_null(told(CLOUD_GONE, 7));
    assert_non_null(told(CLOUD_RUNNING, 8));
}

TEST(whoever_names_the_node_in_user_data_gets_launches_of_one)
{
    struct aws_fleet_config config = usual();

    config.user_data = "#!/bin/sh\njoin {node}\n";
    open_fleet(config);
    port.ops->rent(port.self, 1, 3, 0);
    pass(100);

    assert_int_equal(ec2.launches, 3);
}

TEST(a_prefix_that_ends_in_a_digit_hides_where_the_key_begins)
{
    struct aws_fleet_config config = usual();

    config.node_prefix = "n1";
    open_fleet(config);
    port.ops->rent(port.self, 9, 2, 0);
    pass(100);

    assert_int_equal(ec2.launches, 2);
}

TEST(an_offer_in_no_zone_goes_to_a_fleet_over_all_subnets)
{
    open_fleet_with_subnets();
    port.ops->rent(port.self, 7, 2, 6);
    aws_fleet_tick(fleet, now);

    assert_string_equal(value("Action"), "CreateFleet");
    assert_string_equal(value("Type"), "instant");
    assert_string_equal(value("ClientToken"), "stint-lab-7");
    assert_string_equal(value("TargetCapacitySpecification.TotalTargetCapacity"), "1");
    assert_string_equal(value("TargetCapacitySpecification.DefaultTargetCapacityType"), "spot");
    assert_string_equal(value("LaunchTemplateConfigs.1.LaunchTemplateSpecification.Version"),
                        "$Default");
    assert_string_equal(value("LaunchTemplateConfigs.1.Overrides.2.SubnetId"), "subnet-b");
    assert_string_equal(value("TagSpecification.1.Tag.5.Value"), "st-7");
    pass(10);
    now += 3000; /* what counts is what a round then says */
    run_all();
    pass(10000);

    assert_int_equal(of(CLOUD_RUNNING, 7).billed_from, 1700000000000);
    assert_int_equal(of(CLOUD_RUNNING, 8).billed_from, 1700000000000);
    port.ops->give_back(port.self, 7);
    pass(10000);
    assert_int_equal(alive(), 1);
}

/* A fleet would start machines without it, and none of them would join. */
TEST(user_data_of_ones_own_is_carried_to_the_subnets_in_turn)
{
    struct aws_fleet_config config = with_subnets();

    config.user_data = "{node} in {zone}"; /* a launch for each machine */
    open_fleet(config);
    port.ops->rent(port.self, 7, 2, 6);
    aws_fleet_tick(fleet, now);

    assert_int_equal(ec2.call_count, 3); /* and a look */
    assert_string_equal(value("Action"), "RunInstances");
    assert_string_equal(value("SubnetId"), "subnet-b");
    assert_string_equal(value("UserData"), "c3QtNyBpbiB1cy1lYXN0LTFi"); /* st-7 in us-east-1b */
    assert_non_null(strstr(ec2.calls[1].body, "&SubnetId=subnet-a&"));
}

TEST(an_image_without_a_template_goes_to_the_subnets_in_turn)
{
    struct aws_fleet_config config = with_subnets();

    config.launch_template = NULL;
    config.image = "ami-1";
    open_fleet(config);
    port.ops->rent(port.self, 8, 1, 6);
    aws_fleet_tick(fleet, now);

    assert_string_equal(value("SubnetId"), "subnet-a");
}

/* EC2 would take the default subnet there, which nobody chose. */
TEST(nothing_is_rented_in_a_zone_without_a_subnet_where_others_have_one)
{
    static const struct aws_subnet subnets[] = { { "us-east-1b", "subnet-b" } };
    struct aws_fleet_config config = usual();
    struct cloud_refusal refusal;

    config.subnets = subnets;
    config.subnet_count = 1;
    last_note[0] = '\0';
    open_fleet(config);
    assert_string_equal(last_note,
                        "Stint rents nothing in us-east-1a, because 'subnets' has no entry for it");
    port.ops->rent(port.self, 7, 2, 0);
    assert_int_equal(event_count, 0); /* no action calls back before it returns */
    pass(100);

    assert_int_equal(ec2.launches, 0);
    assert_int_equal(of(CLOUD_REFUSED, 7).for_ms, 24 * MSEC_PER_HOUR);
    assert_int_equal(of(CLOUD_REFUSED, 8).at, 1700000000000);
    assert_true(aws_fleet_refusal(fleet, 0, now, &refusal));
    assert_true(refusal.is_placeless);
    port.ops->rent(port.self, 9, 1, 6); /* in no zone in particular */
    pass(100);
    assert_int_equal(ec2.launches, 1);
}

TEST(a_fleet_that_gets_nothing_is_a_refusal)
{
    open_fleet_with_subnets();
    ec2.most = 0;
    port.ops->rent(port.self, 7, 1, 6);
    pass(10);

    assert_non_null(told(CLOUD_REFUSED, 7));
    assert_int_equal(errors, 0);
    port.ops->rent(port.self, 8, 1, 6);
    pass(10);
    assert_non_null(told(CLOUD_REFUSED, 8));
    assert_int_equal(ec2.launches, 1);
}

TEST(a_fleet_whose_answer_was_lost_is_asked_for_under_the_same_token)
{
    open_fleet_with_subnets();
    port.ops->rent(port.self, 7, 1, 6);
    ask_first(FAULT_CUT_AFTER, NULL);
    ec2.instances[0].is_hidden = true;
    pass(600);
    ec2.instances[0].is_hidden = false;
    run_all();
    pass(5000);

    assert_int_equal(ec2.launches, 2);
    assert_int_equal(ec2.count, 1);
    assert_non_null(told(CLOUD_RUNNING, 7));
}

TEST(what_a_launch_leaves_behind_can_be_found_and_what_it_costs_is_capped)
{
    struct aws_fleet_config config = usual();
    char text[256];

    config.spot_price_cap = 100;
    open_fleet(config);
    port.ops->rent(port.self, 7, 1, 1);
    aws_fleet_tick(fleet, now);

    const char *body = ec2.calls[0].body;

    double_get(body, "TagSpecification.2.ResourceType", text, sizeof(text));
    assert_string_equal(text, "volume");
    double_get(body, "TagSpecification.2.Tag.2.Value", text, sizeof(text));
    assert_string_equal(text, "lab");
    double_get(body, "TagSpecification.3.ResourceType", text, sizeof(text));
    assert_string_equal(text, "spot-instances-request");
    double_get(body, "InstanceInitiatedShutdownBehavior", text, sizeof(text));
    assert_string_equal(text, "terminate");
    double_get(body, "InstanceMarketOptions.SpotOptions.MaxPrice", text, sizeof(text));
    assert_string_equal(text, "0.100000");
    double_get(body, "MetadataOptions.HttpTokens", text, sizeof(text));
    assert_string_equal(text, ""); /* the template's */
}

TEST(a_launch_on_demand_has_no_cap_and_no_spot_request)
{
    struct aws_fleet_config config = usual();
    char text[256];

    config.spot_price_cap = 100;
    config.launch_template = NULL;
    config.image = "ami-1";
    open_fleet(config);
    port.ops->rent(port.self, 7, 1, 0);
    aws_fleet_tick(fleet, now);

    const char *body = ec2.calls[0].body;

    double_get(body, "InstanceMarketOptions.SpotOptions.MaxPrice", text, sizeof(text));
    assert_string_equal(text, "");
    double_get(body, "TagSpecification.3.ResourceType", text, sizeof(text));
    assert_string_equal(text, "");
    double_get(body, "MetadataOptions.HttpTokens", text, sizeof(text));
    assert_string_equal(text, "required");
}

TEST(a_fleet_caps_its_price_in_each_subnet)
{
    struct aws_fleet_config config = usual();
    const struct aws_subnet subnets[] = { { "us-east-1a", "subnet-a" },
                                          { "us-east-1b", "subnet-b" } };
    char text[256];

    config.spot_price_cap = 150;
    config.subnets = subnets;
    config.subnet_count = 2;
    open_fleet(config);
    port.ops->rent(port.self, 7, 1, 6);
    aws_fleet_tick(fleet, now);

    const char *body = ec2.calls[0].body;

    double_get(body, "LaunchTemplateConfigs.1.Overrides.2.MaxPrice", text, sizeof(text));
    assert_string_equal(text, "0.150000");
    double_get(body, "TagSpecification.2.ResourceType", text, sizeof(text));
    assert_string_equal(text, "");
}

CHECK_MAIN(WITH(what_a_launch_leaves_behind_can_be_found_and_what_it_costs_is_capped),
           WITH(a_launch_on_demand_has_no_cap_and_no_spot_request),
           WITH(a_fleet_caps_its_price_in_each_subnet),
           WITH(machines_of_one_offer_are_asked_for_together),
           WITH(a_launch_has_no_more_machines_than_one_request_may_carry),
           WITH(three_hundred_machines_are_asked_for_within_a_second_at_the_usual_rate),
           WITH(those_that_a_launch_did_not_get_are_refused),
           WITH(a_lost_answer_is_asked_for_with_the_same_machines),
           WITH(what_is_given_back_meanwhile_is_ended_when_its_launch_is_told),
           WITH(what_nobody_wants_any_more_is_not_asked_for_again),
           WITH(a_launch_that_was_throttled_is_formed_anew),
           WITH(a_machine_that_ended_is_not_brought_back_by_an_old_answer),
           WITH(whoever_names_the_node_in_user_data_gets_launches_of_one),
           WITH(a_prefix_that_ends_in_a_digit_hides_where_the_key_begins),
           WITH(an_offer_in_no_zone_goes_to_a_fleet_over_all_subnets),
           WITH(user_data_of_ones_own_is_carried_to_the_subnets_in_turn),
           WITH(an_image_without_a_template_goes_to_the_subnets_in_turn),
           WITH(nothing_is_rented_in_a_zone_without_a_subnet_where_others_have_one),
           WITH(a_fleet_that_gets_nothing_is_a_refusal),
           WITH(a_fleet_whose_answer_was_lost_is_asked_for_under_the_same_token))
