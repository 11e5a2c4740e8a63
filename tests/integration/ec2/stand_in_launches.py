# SPDX-License-Identifier: Apache-2.0
"""stand_in_launches - points of test_stand_ins.py: launches, their tokens, several at once, fleets."""
import base64
import json
import threading
import time

import ec2_identity
from ec2_lab import until
from stand_in_points import equal, is_cut, refusal, test


# -- client tokens


@test
def the_same_token_gives_the_first_answer(world):
    first = world.run("a-1", most=2, least=2)
    equal(world.run("a-1", most=2, least=2), first)
    equal(len(world.record("launch")), 2)
    equal(len(world.record("replay")), 1)


@test
def the_same_token_with_other_parameters_is_an_error(world):
    world.run("a-2")
    equal(refusal(world.run, "a-2", kind="m5.xlarge"), ("IdempotentParameterMismatch", 400))
    equal(len(world.record("launch")), 1)


@test
def other_tokens_and_none_rent_anew(world):
    found = world.run("a-3") + world.run("a-4") + world.run() + world.run()
    equal(len(set(found)), 4)


@test
def a_token_outlives_its_instance(world):
    first = world.run("a-5")
    world.client.terminate_instances(InstanceIds=first)
    equal(world.run("a-5"), first)
    equal(len(world.record("launch")), 1)


@test
def a_refused_launch_leaves_its_token_free(world):
    world.ec2.order(action="RunInstances", do="refuse")
    equal(refusal(world.run, "a-6"), ("InsufficientInstanceCapacity", 500))
    equal(len(world.run("a-6")), 1)


@test
def requests_with_one_token_at_once_rent_once(world):
    world.ec2.set(delay_ms={"RunInstances": [0, 20]})
    found = []
    clients = [world.make("ec2") for _ in range(6)]
    threads = [threading.Thread(target=lambda client=client: found.extend(world.run("a-7", client)))
               for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    equal((len(found), len(set(found))), (6, 1))


@test
def with_tokens_off_the_same_token_rents_twice(world):
    world.ec2.set(tokens=False)
    equal(len(set(world.run("a-8") + world.run("a-8"))), 2)


@test
def the_token_is_told_and_can_be_searched(world):
    world.run("a-9")
    world.run("a-10")
    found = world.describe(Filters=[{"Name": "client-token", "Values": ["a-9"]}])
    equal([one["ClientToken"] for one in found], ["a-9"])


# -- launches


@test
def the_record_tells_each_launch_and_termination(world):
    before = time.time_ns() // 1_000_000
    name, = world.run("r-1", spot=True, zone="us-east-1c", TagSpecifications=[
        {"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "st-7"}]}])
    world.client.terminate_instances(InstanceIds=[name])
    world.client.terminate_instances(InstanceIds=[name])
    launch, = world.record("launch")
    end, = world.record("terminate")
    equal([launch[key] for key in ("id", "token", "tags", "type", "market", "zone", "region")],
          [name, "r-1", {"Name": "st-7"}, "m5.large", "spot", "us-east-1c", "us-east-1"])
    equal((end["id"], end["by"]), (name, "client"))
    assert before <= launch["at"] <= end["at"] <= time.time_ns() // 1_000_000
    with open(world.path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    assert launch in lines and end in lines


@test
def an_unknown_type_or_zone_is_refused(world):
    equal(refusal(world.run, kind="m99.huge"), ("InvalidParameterValue", 400))
    equal(refusal(world.run, zone="us-east-1z"), ("InvalidParameterValue", 400))
    equal(world.record("launch"), [])


@test
def capacity_is_held_by_type_zone_and_market(world):
    world.ec2.set(capacity={"m5.large/us-east-1a/spot": 2})
    world.run(most=2, least=2, spot=True)
    equal(refusal(world.run, spot=True), ("InsufficientInstanceCapacity", 500))
    one, = world.run(spot=True, zone="us-east-1b")
    world.run(spot=False)
    world.run(spot=True, kind="m5.xlarge")
    equal([line["zone"] for line in world.record("refuse")], ["us-east-1a"])
    world.client.terminate_instances(InstanceIds=[one])
    equal(refusal(world.run, spot=True), ("InsufficientInstanceCapacity", 500))


@test
def what_is_given_back_can_be_had_again(world):
    world.ec2.set(capacity={"*/*/*": 1})
    one = world.run()
    equal(refusal(world.run), ("InsufficientInstanceCapacity", 500))
    world.client.terminate_instances(InstanceIds=one)
    world.run()


@test
def fewer_than_most_are_given_down_to_the_least(world):
    world.ec2.set(capacity={"m5.large/*/*": 3})
    equal(len(world.run(least=1, most=5)), 3)


@test
def without_a_zone_one_with_room_is_found(world):
    world.ec2.set(capacity={"m5.large/us-east-1a/*": 0, "m5.large/us-east-1b/*": 0})
    found, = world.run(zone=None)
    assert world.record("launch")[0]["zone"] not in ("us-east-1a", "us-east-1b"), found


@test
def quotas_are_held(world):
    world.ec2.set(quota_vcpus={"on-demand": 4, "spot": 2})
    world.run(most=2, least=2)
    equal(refusal(world.run)[0], "VcpuLimitExceeded")
    world.run(spot=True)
    equal(refusal(world.run, spot=True)[0], "MaxSpotInstanceCountExceeded")
    world.ec2.set(quota_instances=3)
    equal(refusal(world.run)[0], "InstanceLimitExceeded")


@test
def a_spot_launch_below_the_price_is_refused(world):
    world.ec2.set(spot_prices={"m5.large/us-east-1a": 0.04})
    asked = {"MarketType": "spot", "SpotOptions": {"MaxPrice": "0.03"}}
    equal(refusal(world.run, InstanceMarketOptions=asked)[0], "SpotMaxPriceTooLow")
    asked["SpotOptions"]["MaxPrice"] = "0.05"
    world.run(InstanceMarketOptions=asked)
    equal([line["price"] for line in world.record("launch")], [0.04])


@test
def a_dry_run_does_nothing(world):
    equal(refusal(world.run, DryRun=True), ("DryRunOperation", 412))
    equal(world.record("launch"), [])


@test
def a_launch_template_fills_in(world):
    data = {"ImageId": "ami-12345678", "InstanceType": "c5.xlarge",
            "UserData": base64.b64encode(b"#!/bin/sh\necho join\n").decode()}
    world.client.create_launch_template(LaunchTemplateName="join", LaunchTemplateData=data)
    world.client.run_instances(MinCount=1, MaxCount=1, LaunchTemplate={"LaunchTemplateName": "join"})
    equal([line["type"] for line in world.record("launch")], ["c5.xlarge"])
    hooked = until(lambda: hooks(world, world.record("launch")[0]["id"]), 10, "the hook")
    equal(hooked[0][1]["user_data"], "#!/bin/sh\necho join\n")


def hooks(world, name):
    try:
        with open(f"{world.folder.name}/hooked", encoding="utf-8") as file:
            lines = [line.split(" ", 1) for line in file]
    except FileNotFoundError:
        return []
    return [(event, json.loads(text)) for event, text in lines if json.loads(text)["id"] == name]


@test
def the_hook_runs_for_each_launch_and_termination(world):
    name, = world.run()
    world.client.terminate_instances(InstanceIds=[name])
    found = until(lambda: len(hooks(world, name)) == 2 and hooks(world, name), 10, "the hook")
    equal([event for event, _ in found], ["launch", "terminate"])


def fleet(world, token=None, target=1, market="spot", names=("m5.large", "c5.large"), strategy="lowest-price"):
    kinds = [{"InstanceType": name, "AvailabilityZone": "us-east-1a", "Priority": index}
             for index, name in enumerate(names)]
    asked = {"ClientToken": token} if token else {}
    asked["SpotOptions" if market == "spot" else "OnDemandOptions"] = {"AllocationStrategy": strategy}
    return world.client.create_fleet(
        Type="instant", LaunchTemplateConfigs=[{
            "LaunchTemplateSpecification": {"LaunchTemplateName": "fleet", "Version": "$Latest"},
            "Overrides": kinds}],
        TargetCapacitySpecification={"TotalTargetCapacity": target, "DefaultTargetCapacityType": market},
        TagSpecifications=[{"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "st-9"}]}], **asked)


@test
def a_fleet_takes_the_next_offer_where_the_first_is_refused(world):
    world.client.create_launch_template(LaunchTemplateName="fleet", LaunchTemplateData={
        "ImageId": "ami-12345678", "InstanceType": "m5.large"})
    world.ec2.set(spot_prices={"m5.large/us-east-1a": 0.03, "c5.large/us-east-1a": 0.04},
                  capacity={"m5.large/*/*": 1})
    said = fleet(world, "f-1", 3)
    equal([(one["InstanceType"], len(one["InstanceIds"])) for one in said["Instances"]],
          [("m5.large", 1), ("c5.large", 2)])
    equal([line["tags"]["Name"] for line in world.record("launch")], ["st-9"] * 3)
    again = fleet(world, "f-1", 3)
    equal(again["FleetId"], said["FleetId"])
    equal(len(world.record("launch")), 3)


@test
def a_fleet_without_capacity_says_so_for_each_offer(world):
    world.ec2.set(capacity={"*/*/*": 0})
    said = fleet(world)
    equal(said["Instances"], [])
    equal([one["ErrorCode"] for one in said["Errors"]], ["InsufficientInstanceCapacity"] * 2)


@test
def a_fleet_follows_priorities(world):
    said = fleet(world, names=("c5.4xlarge", "m5.large"), market="on-demand", strategy="prioritized")
    equal([one["InstanceType"] for one in said["Instances"]], ["c5.4xlarge"])


# -- several machines by one request

CLUSTER_TAGS = [{"ResourceType": "instance", "Tags": [
    {"Key": "stint:node", "Value": "st-17"}, {"Key": "stint:key", "Value": "17"}]}]


def indices(world, names):
    """The launch index of each, by DescribeInstances."""
    shown = {one["InstanceId"]: one["AmiLaunchIndex"] for one in world.describe(InstanceIds=names)}
    return [shown[name] for name in names]


@test
def machines_of_one_request_are_told_apart_by_their_launch_index(world):
    said = world.client.run_instances(
        MinCount=1, MaxCount=5, InstanceType="m5.large", ImageId="ami-12345678", ClientToken="t-1",
        TagSpecifications=CLUSTER_TAGS)["Instances"]
    equal([one["AmiLaunchIndex"] for one in said], [0, 1, 2, 3, 4])
    names = [one["InstanceId"] for one in said]
    equal(indices(world, names), [0, 1, 2, 3, 4])
    launched = world.record("launch")
    equal([(line["id"], line["index"], line["token"]) for line in launched],
          [(name, index, "t-1") for index, name in enumerate(names)])
    equal([(ec2_identity.key_of(line), ec2_identity.name_of(line)) for line in launched],
          [(key, f"st-{key}") for key in range(17, 22)])
    world.client.terminate_instances(InstanceIds=names[1:3])
    equal(indices(world, names), [0, 1, 2, 3, 4])
    equal([line["index"] for line in world.record("terminate")], [1, 2])
    equal(indices(world, world.run()), [0])


@test
def a_request_that_is_granted_in_part_is_the_same_under_its_token(world):
    world.ec2.set(capacity={"m5.large/us-east-1a/*": 3})
    first = world.run("t-2", most=5)
    equal(indices(world, first), [0, 1, 2])
    world.ec2.set(capacity={})
    equal(world.run("t-2", most=5), first)
    equal(refusal(world.run, "t-2", most=4)[0], "IdempotentParameterMismatch")
    equal(len(world.record("launch")), 3)


@test
def a_quota_leaves_what_fits_above_the_least(world):
    world.ec2.set(quota_vcpus={"on-demand": 6})
    equal(len(world.run(most=5)), 3)
    equal(refusal(world.run, most=5)[0], "VcpuLimitExceeded")
    world.ec2.set(quota_vcpus={}, quota_instances=5)
    equal(len(world.run(most=5)), 2)
    equal(refusal(world.run, most=5)[0], "InstanceLimitExceeded")


@test
def a_share_of_the_requests_is_refused_not_of_their_machines(world):
    world.ec2.set(seed=3, refuse_share=0.5)
    counts = []
    for _ in range(12):
        try:
            counts.append(len(world.run(most=3)))
        except world.client.exceptions.ClientError as error:
            equal(error.response["Error"]["Code"], "InsufficientInstanceCapacity")
    equal(set(counts), {3})
    equal(len(world.record("refuse")), 12 - len(counts))
    assert 1 <= len(counts) <= 11, counts


@test
def a_lost_answer_for_several_is_had_again(world):
    world.ec2.order(action="RunInstances", when="after", do="cut")
    assert is_cut(world.run, "t-3", most=4)
    found = world.run("t-3", most=4)
    equal([line["id"] for line in world.record("launch")], found)
    equal(len(found), 4)


@test
def a_subnet_is_told_as_its_zone(world):
    world.run("t-4", zone=None, SubnetId=subnets(world, "us-east-1b")[0])
    world.ec2.order(action="RunInstances", do="refuse")
    equal(refusal(world.run, "t-5", zone=None, SubnetId=subnets(world, "us-east-1b")[0])[0],
          "InsufficientInstanceCapacity")
    for event, count in (("ask", 2), ("answer", 2), ("launch", 1), ("refuse", 1)):
        equal([line["zone"] for line in world.record(event)], ["us-east-1b"] * count)
    equal(refusal(world.run, "t-6", zone=None, SubnetId="subnet-0")[0], "InvalidSubnetID.NotFound")


# -- fleets of one machine, with a subnet in each zone


def subnets(world, *zones):
    said = world.client.describe_subnets()["Subnets"]
    found = {one["AvailabilityZone"]: one["SubnetId"] for one in said}
    return [found[zone] for zone in zones]


def fleet_of_one(world, token="", market="on-demand", zones=("us-east-1a", "us-east-1b"), **more):
    world.template_of_one = getattr(world, "template_of_one", None) or world.client.create_launch_template(
        LaunchTemplateName="one", LaunchTemplateData={"ImageId": "ami-12345678"})["LaunchTemplate"]["LaunchTemplateId"]
    overrides = [{"InstanceType": "m5.large", "SubnetId": subnet} for subnet in subnets(world, *zones)]
    return world.client.create_fleet(**{
        "Type": "instant", "ClientToken": token, "LaunchTemplateConfigs": [{
            "LaunchTemplateSpecification": {"LaunchTemplateId": world.template_of_one, "Version": "1"},
            "Overrides": overrides}],
        "TargetCapacitySpecification": {"TotalTargetCapacity": 1, "DefaultTargetCapacityType": market},
        "TagSpecifications": [
            {"ResourceType": "fleet", "Tags": [{"Key": "stint:cluster", "Value": "lab"}]},
            {"ResourceType": "instance", "Tags": [{"Key": "Name", "Value": "st-5"},
                                                  {"Key": "stint:key", "Value": "5"}]}], **more})


@test
def a_fleet_tries_the_subnet_of_another_zone(world):
    world.ec2.set(capacity={"m5.large/us-east-1a/*": 0})
    one, = fleet_of_one(world, "f-10")["Instances"]
    name, = one["InstanceIds"]
    launch, = world.record("launch")
    equal((launch["id"], launch["zone"], launch["asked_zone"], launch["index"], launch["token"]),
          (name, "us-east-1b", None, 0, "f-10"))
    equal({key: value for key, value in launch["tags"].items() if not key.startswith("aws:")},
          {"Name": "st-5", "stint:key": "5"})
    shown, = world.describe(InstanceIds=[name])
    equal((shown["Placement"]["AvailabilityZone"], shown["SubnetId"], shown["AmiLaunchIndex"]),
          ("us-east-1b", subnets(world, "us-east-1b")[0], 0))
    equal({tag["Key"]: tag["Value"] for tag in shown["Tags"]}["Name"], "st-5")
    equal((one["Lifecycle"], one["LaunchTemplateAndOverrides"]["Overrides"]["SubnetId"]),
          ("on-demand", shown["SubnetId"]))
    equal(world.record("refuse"), [])


@test
def a_fleet_that_gets_nothing_says_so_in_an_answer_that_stays(world):
    world.ec2.set(capacity={"m5.large/*/spot": 0})
    said = fleet_of_one(world, "f-11", "spot")
    equal((said["Instances"], said["ResponseMetadata"]["HTTPStatusCode"]), ([], 200))
    equal([one["ErrorCode"] for one in said["Errors"]], ["InsufficientInstanceCapacity"] * 2)
    refused, = world.record("refuse")
    equal([refused[key] for key in ("action", "type", "zone", "market", "code", "token")],
          ["CreateFleet", "m5.large", None, "spot", "InsufficientInstanceCapacity", "f-11"])
    world.ec2.set(capacity={})
    again = fleet_of_one(world, "f-11", "spot")
    equal((again["FleetId"], again["Instances"]), (said["FleetId"], []))
    equal(world.record("launch"), [])
    equal(len(fleet_of_one(world, "f-12", "spot")["Instances"]), 1)


@test
def a_quota_is_in_the_errors_of_a_fleet(world):
    world.ec2.set(quota_vcpus={"spot": 0, "on-demand": 0})
    equal({one["ErrorCode"] for one in fleet_of_one(world, "f-13", "spot")["Errors"]},
          {"MaxSpotInstanceCountExceeded"})
    equal({one["ErrorCode"] for one in fleet_of_one(world, "f-14")["Errors"]}, {"VcpuLimitExceeded"})


@test
def a_fleet_is_refused_as_a_whole(world):
    world.ec2.order(action="CreateFleet", do="refuse")
    equal(len(fleet_of_one(world, "f-15")["Errors"]), 2)
    equal((len(world.record("refuse")), world.record("launch")), (1, []))
    world.ec2.set(seed=3, refuse_share=0.5)
    had = sum(len(fleet_of_one(world, f"f-16-{i}")["Instances"]) for i in range(12))
    equal((len(world.record("launch")), len(world.record("refuse"))), (had, 1 + 12 - had))
    assert 1 <= had <= 11, had


@test
def a_fleet_s_lost_answer_is_had_again(world):
    world.ec2.order(action="CreateFleet", when="after", do="cut")
    assert is_cut(fleet_of_one, world, "f-17")
    launch, = world.record("launch")
    equal([one["InstanceIds"] for one in fleet_of_one(world, "f-17")["Instances"]], [[launch["id"]]])
    equal(refusal(fleet_of_one, world, "f-17", zones=["us-east-1a"])[0], "IdempotentParameterMismatch")
    equal(len(world.record("launch")), 1)


@test
def the_record_tells_what_a_fleet_asked_for(world):
    world.ec2.order(action="CreateFleet", do="throttle")
    equal(refusal(fleet_of_one, world, "f-18", "spot"), ("RequestLimitExceeded", 503))
    world.ec2.order(action="CreateFleet", do="cut")
    assert is_cut(fleet_of_one, world, "f-18", "spot")
    fleet_of_one(world, "f-18", "spot")
    wanted = {"action": "CreateFleet", "type": "m5.large", "zone": None, "market": "spot", "token": "f-18"}
    for event, count in (("ask", 3), ("answer", 2), ("throttle", 1), ("cut", 1)):
        equal([{key: line[key] for key in wanted} for line in world.record(event)], [wanted] * count)


@test
def a_fleet_can_be_tried_and_needs_its_rights(world):
    equal(refusal(fleet_of_one, world, DryRun=True), ("DryRunOperation", 412))
    for right in ("CreateFleet", "CreateTags", "PassRole"):
        world.ec2.set(denied=[right])
        equal(refusal(fleet_of_one, world, DryRun=True), ("UnauthorizedOperation", 403))
    world.ec2.set(denied=[])
    nobody = [{"LaunchTemplateSpecification": {"LaunchTemplateName": "nobody", "Version": "1"},
               "Overrides": [{"InstanceType": "m5.large"}]}]
    assert "LaunchTemplate" in refusal(fleet_of_one, world, DryRun=True, LaunchTemplateConfigs=nobody)[0]
    equal(world.record("launch"), [])
