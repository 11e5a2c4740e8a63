#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_stand_ins - the stand-ins of EC2, SQS and the metadata service keep what AWS documents.

'test_stand_ins.py MOTO_SERVER' runs under the Python of the virtual environment that has moto; requests
are made and signed by botocore, which knows nothing of the stand-ins. All of it is in a network
namespace of its own. Each sentence is one TAP point. 'test_stand_ins.py --why-not' says what keeps it
from running here, and fails if there is nothing to say.
"""
import json
import os
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True

import ec2_lab
from ec2_lab import until
from stand_in_points import ACCESS, SECRET, TESTS, World, equal, is_cut, refusal, test

import stand_in_launches  # noqa: F401  (its points join the list)
import stand_in_lies  # noqa: F401


@test
def many_launches_are_listed_in_one_page(world):
    """moto by itself shows a hundred."""
    names = {world.run()[0] for _ in range(105)}
    shown = {one["InstanceId"] for held in world.client.describe_instances(MaxResults=1000)["Reservations"]
             for one in held["Instances"]}
    equal(names - shown, set())


@test
def the_end_of_an_instance_has_the_time_of_the_record(world):
    name, = world.run()
    world.client.terminate_instances(InstanceIds=[name])
    shown, = [one for one in world.describe() if one["InstanceId"] == name]
    at = time.gmtime(world.record("terminate")[0]["at"] // 1000)
    equal(shown["StateTransitionReason"], f"User initiated ({time.strftime('%Y-%m-%d %H:%M:%S', at)} GMT)")


@test
def a_launch_that_is_refused_was_asked_for_under_its_token(world):
    world.ec2.order(action="RunInstances", do="refuse")
    equal(refusal(world.run, "refused-1")[0], "InsufficientInstanceCapacity")
    equal([line["token"] for event in ("ask", "refuse") for line in world.record(event)], ["refused-1", "refused-1"])


# -- describing


@test
def instances_come_in_pages(world):
    names = world.run(most=12, least=12) + world.run()
    living = {"Filters": [{"Name": "instance-state-name", "Values": ["pending", "running"]}]}
    said = world.client.describe_instances(MaxResults=5, **living)
    equal(sum(len(held["Instances"]) for held in said["Reservations"]), 5)
    assert said["NextToken"]
    found = [one["InstanceId"] for one in world.describe(MaxResults=5, **living)]
    equal((len(found), sorted(found)), (13, sorted(names)))


@test
def a_page_may_be_shorter_than_asked_for(world):
    world.run(most=7, least=7)
    world.ec2.set(page_most=3)
    living = [{"Name": "instance-state-name", "Values": ["running"]}]
    said = world.client.describe_instances(Filters=living)
    equal(sum(len(held["Instances"]) for held in said["Reservations"]), 3)
    equal(len(world.describe(Filters=living)), 7)


@test
def pages_refuse_what_ec2_refuses(world):
    name, = world.run()
    ask = world.client.describe_instances
    equal(refusal(ask, MaxResults=4)[0], "InvalidParameterValue")
    equal(refusal(ask, MaxResults=1001)[0], "InvalidParameterValue")
    equal(refusal(ask, MaxResults=5, InstanceIds=[name])[0], "InvalidParameterCombination")
    equal(refusal(ask, NextToken="none")[0], "InvalidNextToken")


@test
def types_offerings_and_prices_come_in_pages(world):
    ask = world.client
    kinds = [one["InstanceType"] for page in ask.get_paginator("describe_instance_types").paginate()
             for one in page["InstanceTypes"]]
    assert len(kinds) > 800 and len(set(kinds)) == len(kinds)
    equal(len(ask.describe_instance_types()["InstanceTypes"]), 100)
    offers = [one["Location"] for page in ask.get_paginator("describe_instance_type_offerings").paginate(
        LocationType="availability-zone") for one in page["InstanceTypeOfferings"]]
    assert len(offers) > len(kinds) and len(set(offers)) > 2
    prices = [(one["InstanceType"], one["AvailabilityZone"], one["SpotPrice"])
              for page in ask.get_paginator("describe_spot_price_history").paginate(
                  StartTime=time.time(), ProductDescriptions=["Linux/UNIX"])
              for one in page["SpotPriceHistory"]]
    equal(len({(name, zone) for name, zone, _ in prices}), len(prices))
    assert len({price for _, _, price in prices}) > 500


@test
def a_region_lists_the_types_that_it_offers_and_filters_choose_among_them(world):
    def listed(client, **filters):
        asked = [{"Name": name.replace("_", "-"), "Values": [value]} for name, value in filters.items()]
        return {one["InstanceType"]: one for page in
                client.get_paginator("describe_instance_types").paginate(Filters=asked)
                for one in page["InstanceTypes"]}

    small = world.make("ec2", region="me-south-1")
    kinds = listed(small)
    offered = {one["InstanceType"] for page in
               small.get_paginator("describe_instance_type_offerings").paginate(LocationType="availability-zone")
               for one in page["InstanceTypeOfferings"]}
    equal(set(kinds), offered)
    assert len(kinds) < len(listed(world.client))
    equal(set(listed(small, bare_metal="false", current_generation="true")),
          {name for name, one in kinds.items() if one["CurrentGeneration"] and not one["BareMetal"]})
    equal(set(listed(small, **{"processor-info.supported-architecture": "arm64"})),
          {name for name, one in kinds.items() if "arm64" in one["ProcessorInfo"]["SupportedArchitectures"]})


@test
def spot_prices_have_a_past(world):
    said = world.client.describe_spot_price_history(
        StartTime=time.time() - 86400, InstanceTypes=["m5.large"], AvailabilityZone="us-east-1a",
        ProductDescriptions=["Linux/UNIX"])["SpotPriceHistory"]
    times = [one["Timestamp"] for one in said]
    assert len(said) >= 6 and times == sorted(times, reverse=True)
    assert times[-1].timestamp() <= time.time() - 86400
    assert len({one["SpotPrice"] for one in said}) > 1


@test
def on_demand_prices_come_in_pages(world):
    world.ec2.set(prices={"m5.large": 0.096})
    pricing = world.make("pricing")
    term = {"Type": "TERM_MATCH", "Field": "regionCode", "Value": "us-east-1"}
    pages = pricing.get_paginator("get_products").paginate(ServiceCode="AmazonEC2", Filters=[term])
    rows = [json.loads(text) for page in pages for text in page["PriceList"]]
    names = [row["product"]["attributes"]["instanceType"] for row in rows]
    assert len(names) > 800 and len(set(names)) == len(names)
    row, = [row for row in rows if row["product"]["attributes"]["instanceType"] == "m5.large"]
    term, = row["terms"]["OnDemand"].values()
    dimension, = term["priceDimensions"].values()
    equal(float(dimension["pricePerUnit"]["USD"]), 0.096)


@test
def ten_thousand_can_be_planted(world):
    world.ec2.control("/plant", {"count": 10000, "tags": {"stint-cluster": "planted", "Name": "st-%d"}})
    began = time.monotonic()
    found = world.describe(MaxResults=1000, Filters=[{"Name": "tag:stint-cluster", "Values": ["planted"]}])
    print(f"# listed in {time.monotonic() - began:.1f} s")
    equal(len({one["InstanceId"] for one in found}), 10000)
    equal({"Key": "Name", "Value": "st-9999"} in found[-1]["Tags"], True)
    other = [{"Name": "tag:stint-cluster", "Values": ["lab"]}]
    equal(world.describe(Filters=other), [])
    equal(world.ec2.control("/plant", {"clear": True}), {"planted": 0})


@test
def a_new_instance_is_unknown_for_a_while(world):
    world.ec2.set(visible_after_ms=600000)
    name, = world.run("v-1")
    equal(refusal(world.client.describe_instances, InstanceIds=[name])[0], "InvalidInstanceID.NotFound")
    equal(refusal(world.client.terminate_instances, InstanceIds=[name])[0], "InvalidInstanceID.NotFound")
    equal([one for one in world.describe() if one["InstanceId"] == name], [])
    equal(world.run("v-1"), [name])
    world.ec2.set(visible_after_ms=1)
    equal([one["InstanceId"] for one in world.describe() if one["InstanceId"] == name], [name])


@test
def states_take_their_time(world):
    world.ec2.set(pending_ms=600000, shutting_down_ms=600000)
    name, = world.run()

    def state():
        return world.describe(InstanceIds=[name])[0]["State"]["Name"]

    equal(state(), "pending")
    world.ec2.set(pending_ms=1)
    equal(state(), "running")
    world.client.terminate_instances(InstanceIds=[name])
    equal(state(), "shutting-down")
    world.ec2.set(shutting_down_ms=1)
    equal(state(), "terminated")
    world.ec2.set(forget_after_ms=1)
    equal(refusal(world.client.describe_instances, InstanceIds=[name])[0], "InvalidInstanceID.NotFound")


# -- faults


@test
def shares_are_kept_and_follow_the_seed(world):
    def refused():
        world.ec2.set(seed=5, throttle_share=0.25, faulty=["DescribeSubnets"])
        row = []
        for _ in range(60):
            try:
                world.client.describe_subnets()
                row.append(False)
            except world.client.exceptions.ClientError as error:
                equal(error.response["Error"]["Code"], "RequestLimitExceeded")
                equal(error.response["ResponseMetadata"]["HTTPStatusCode"], 503)
                row.append(True)
        return row

    first = refused()
    assert 5 <= sum(first) <= 27, sum(first)
    equal(refused(), first)
    world.client.describe_vpcs()


@test
def a_share_of_launches_is_refused(world):
    world.ec2.set(seed=3, refuse_share=0.5)
    codes = []
    for _ in range(20):
        try:
            world.run()
        except world.client.exceptions.ClientError as error:
            codes.append(error.response["Error"]["Code"])
    equal(set(codes), {"InsufficientInstanceCapacity"})
    equal(len(world.record("launch")), 20 - len(codes))
    equal(len(world.record("refuse")), len(codes))
    assert 3 <= len(codes) <= 17, codes


@test
def a_bucket_runs_dry_and_fills_again(world):
    world.ec2.set(buckets={"Describe*": [3, 4]})
    for _ in range(3):
        world.client.describe_vpcs()
    codes = {refusal(world.client.describe_vpcs) for _ in range(2)}
    equal(codes, {("RequestLimitExceeded", 503)})
    time.sleep(0.4)
    world.client.describe_vpcs()


@test
def a_cut_before_the_act_rents_nothing(world):
    world.ec2.order(action="RunInstances", when="before", do="cut")
    assert is_cut(world.run, "c-1")
    equal(world.record("launch"), [])
    equal(len(world.run("c-1")), 1)


@test
def a_cut_after_the_act_has_rented(world):
    world.ec2.order(action="RunInstances", when="after", do="cut")
    assert is_cut(world.run, "c-2")
    launch, = world.record("launch")
    equal(world.run("c-2"), [launch["id"]])
    equal([line["when"] for line in world.record("cut")], ["after"])


@test
def a_cut_within_the_answer_is_seen(world):
    world.run()
    world.ec2.order(action="DescribeInstances", when="middle", do="cut")
    assert is_cut(world.client.describe_instances)
    world.client.describe_instances()


@test
def cuts_come_by_share(world):
    world.ec2.set(cut_before_share=0.2, cut_after_share=0.2, faulty=["RunInstances"])
    cuts = sum(is_cut(world.run) for _ in range(20))
    lines = world.record("cut")
    equal(len(lines), cuts)
    assert {line["when"] for line in lines} == {"before", "after"}, lines
    equal(len(world.record("launch")), 20 - sum(line["when"] == "before" for line in lines))


@test
def an_answer_can_be_held(world):
    world.ec2.order(action="RunInstances", when="after", do="hold")
    found = []
    thread = threading.Thread(target=lambda: found.extend(world.run("h-1")))
    thread.start()
    world.ec2.control("/held?count=1&ms=20000")
    equal((len(world.record("launch")), found), (1, []))
    world.ec2.control("/release", {})
    thread.join(20)
    equal(len(found), 1)


@test
def orders_count_and_skip(world):
    world.ec2.order(action="DescribeVpcs", do="error", code="Unavailable", skip=1, count=2)
    world.client.describe_vpcs()
    equal([refusal(world.client.describe_vpcs) for _ in range(2)], [("Unavailable", 503)] * 2)
    world.client.describe_vpcs()


@test
def delays_delay(world):
    world.ec2.set(delay_ms={"DescribeVpcs": [200, 200]}, delay_after_ms={"Describe*": [100, 100]})
    began = time.monotonic()
    world.client.describe_vpcs()
    assert time.monotonic() - began >= 0.3


@test
def an_unknown_setting_is_refused(world):
    for path, document in (("/config", {"refuse_shares": 1}), ("/config", {"seed": "x"}),
                           ("/next", {"do": "dance"}), ("/nothing", {})):
        try:
            world.ec2.control(path, document)
        except RuntimeError:
            continue
        raise AssertionError(f"{path} took {document}")


# -- who may


@test
def wrong_and_old_keys_are_refused(world):
    def code(**key):
        return refusal(world.make("ec2", **key).describe_vpcs)[0]

    equal(code(access="AKIANOBODY"), "AuthFailure")
    equal(code(secret="wrong"), "SignatureDoesNotMatch")
    equal(code(token="unasked"), "AuthFailure")
    world.ec2.control("/keys", {ACCESS: {"secret": SECRET}, "ASIAOLD": {
        "secret": "s", "session_token": "t", "expires_ms": 1}, "ASIANEW": {
        "secret": "s/+", "session_token": "t+/=", "expires_ms": (time.time() + 60) * 1000}})
    equal(code(access="ASIAOLD", secret="s", token="t"), "RequestExpired")
    world.make("ec2", access="ASIANEW", secret="s/+", token="t+/=").describe_vpcs()
    world.make("sqs", access="ASIANEW", secret="s/+", token="t+/=").list_queues()
    equal(refusal(world.make("sqs", secret="wrong").list_queues)[1], 403)


@test
def an_unsigned_or_changed_request_is_refused(world):
    import botocore.auth
    import botocore.awsrequest
    import botocore.credentials
    body = b"Action=DescribeVpcs&Version=2016-11-15"
    request = botocore.awsrequest.AWSRequest("POST", f"{world.ec2.url}/", data=body)
    keys = botocore.credentials.Credentials(ACCESS, SECRET)
    botocore.auth.SigV4Auth(keys, "ec2", "us-east-1").add_auth(request)
    signed = dict(request.headers.items())

    def status(data, headers):
        try:
            with urllib.request.urlopen(urllib.request.Request(f"{world.ec2.url}/", data, headers)) as got:
                return got.status
        except urllib.error.HTTPError as error:
            return error.code

    equal(status(body, signed), 200)
    equal(status(body.replace(b"Vpcs", b"Tags"), signed), 403)
    equal(status(body, {**signed, "X-Amz-Date": "20200101T000000Z"}), 400)
    equal(status(body, {"Authorization": "AWS4-HMAC-SHA256 Credential=x"}), 400)
    equal(status(body, {}), 400)


@test
def a_right_that_lacks_is_named(world):
    world.ec2.set(denied=["TerminateInstances"])
    name, = world.run()
    equal(refusal(world.client.terminate_instances, InstanceIds=[name]), ("UnauthorizedOperation", 403))
    equal(refusal(world.client.terminate_instances, InstanceIds=[name], DryRun=True)[0],
          "UnauthorizedOperation")
    world.ec2.set(denied=[])
    equal(refusal(world.client.terminate_instances, InstanceIds=[name], DryRun=True)[0], "DryRunOperation")


@test
def a_dry_run_tells_whether_it_would_be_allowed_and_does_nothing(world):
    launch = {"ImageId": "ami-12345678", "InstanceType": "m5.large", "MinCount": 1, "MaxCount": 1,
              "DryRun": True}
    tags = [{"ResourceType": "instance", "Tags": [{"Key": "a", "Value": "b"}]}]
    equal(refusal(world.client.run_instances, **launch), ("DryRunOperation", 412))
    for ask in (world.client.describe_instances, world.client.describe_instance_types,
                world.client.describe_instance_type_offerings, world.client.describe_spot_price_history):
        equal(refusal(ask, DryRun=True), ("DryRunOperation", 412))
    world.ec2.set(denied=["CreateTags", "DescribeInstanceTypes"])
    equal(refusal(world.client.describe_instance_types, DryRun=True), ("UnauthorizedOperation", 403))
    equal(refusal(world.client.run_instances, **launch)[0], "DryRunOperation")
    equal(refusal(world.client.run_instances, **launch, TagSpecifications=tags), ("UnauthorizedOperation", 403))
    world.ec2.set(denied=["PassRole"])
    equal(refusal(world.client.run_instances, **launch), ("UnauthorizedOperation", 403))
    equal(refusal(world.client.run_instances, **{**launch, "LaunchTemplate": {"LaunchTemplateName": "none"}},
                  )[0], "UnauthorizedOperation")
    world.ec2.set(denied=[])
    equal(refusal(world.client.run_instances, **{**launch, "InstanceType": "m5.none"})[0],
          "InvalidParameterValue")
    equal(world.record("launch"), [])


@test
def a_web_identity_gets_keys_that_work(world):
    role = "arn:aws:iam::123456789012:role/lab"
    world.ec2.set(web_identity={role: "the-token"})
    sts = world.make("sts")
    ask = {"RoleArn": role, "RoleSessionName": "stint"}
    equal(refusal(sts.assume_role_with_web_identity, WebIdentityToken="other", **ask)[0],
          "InvalidIdentityToken")
    keys = sts.assume_role_with_web_identity(WebIdentityToken="the-token", **ask)["Credentials"]
    world.make("ec2", keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"]).describe_vpcs()


@test
def a_role_gives_keys_that_work_to_whom_it_trusts(world):
    first, second = (f"arn:aws:iam::123456789012:role/{name}" for name in ("first", "second"))
    world.ec2.set(roles={first: [None, "arn:aws:iam::123456789012:user/stand-in"], second: ["its-id", first]})
    sts = world.make("sts")
    ask = {"RoleSessionName": "stint"}
    for refused in ({"RoleArn": second, "ExternalId": "its-id"}, {"RoleArn": first, "ExternalId": "none"},
                    {"RoleArn": first + "s"}):
        equal(refusal(sts.assume_role, **ask, **refused), ("AccessDenied", 403))
    keys = sts.assume_role(RoleArn=first, DurationSeconds=900, **ask)["Credentials"]
    assert 800 < keys["Expiration"].timestamp() - time.time() <= 900, keys["Expiration"]
    sts = world.make("sts", keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])
    equal(sts.get_caller_identity()["Arn"], "arn:aws:sts::123456789012:assumed-role/first/stint")
    equal(refusal(sts.assume_role, RoleArn=second, **ask)[0], "AccessDenied")
    keys = sts.assume_role(RoleArn=second, ExternalId="its-id", **ask)["Credentials"]
    world.make("ec2", keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"]).describe_vpcs()
    world.ec2.set(roles={})


# -- notices


def new_queue(world, name):
    url = world.queue.create_queue(QueueName=name)["QueueUrl"]
    assert url.startswith(world.ec2.url), url
    world.ec2.set(queue_url=url)
    return url


def receive(world, url, seconds=5):
    return [json.loads(one["Body"]) for one in world.queue.receive_message(
        QueueUrl=url, WaitTimeSeconds=seconds, MaxNumberOfMessages=10).get("Messages", [])]


@test
def an_interruption_is_told_and_then_happens(world):
    url = new_queue(world, "notices")
    name, = world.run(spot=True)
    told = world.ec2.control("/interrupt", {"instance": name, "notice_ms": 1500})
    message, = receive(world, url)
    equal(message["detail-type"], "EC2 Spot Instance Interruption Warning")
    equal(message["detail"], {"instance-id": name, "instance-action": "terminate"})
    equal(message["source"], "aws.ec2")
    equal(world.describe(InstanceIds=[name])[0]["State"]["Name"], "running")
    end, = until(lambda: world.record("terminate"), 10, "the end")
    assert told["until"] <= end["at"] < told["until"] + 2000, (told, end)
    equal(end["by"], "spot")
    found, = world.describe(InstanceIds=[name])
    equal(found["State"]["Name"], "terminated")
    equal(found["StateTransitionReason"], "Server.SpotInstanceTermination")
    equal(found["StateReason"]["Code"], "Server.SpotInstanceTermination")


@test
def an_interruption_may_come_without_notice(world):
    url = new_queue(world, "silence")
    name, = world.run(spot=True)
    world.ec2.control("/interrupt", {"any": True, "notice": False})
    end, = until(lambda: world.record("terminate"), 10, "the end")
    equal((end["id"], end["by"]), (name, "spot"))
    equal(receive(world, url, 0), [])


@test
def notices_may_come_twice_and_late(world):
    url = new_queue(world, "twice")
    name, = world.run(spot=True)
    world.ec2.control("/interrupt", {"instance": name, "notice_ms": 1, "copies": 2, "late_ms": 300})
    until(lambda: world.record("terminate"), 10, "the end")
    found = []
    until(lambda: found.extend(receive(world, url, 1)) or len(found) >= 2, 10, "both")
    equal(found, [found[0]] * 2)


@test
def a_rebalance_is_told_and_nothing_happens(world):
    url = new_queue(world, "rebalance")
    name, = world.run(spot=True)
    world.ec2.control("/rebalance", {"instance": name})
    message, = receive(world, url)
    equal((message["detail-type"], message["detail"]),
          ("EC2 Instance Rebalance Recommendation", {"instance-id": name}))
    equal(world.record("terminate"), [])


@test
def only_spot_is_interrupted(world):
    name, = world.run()
    for what in ({"instance": name}, {"any": True}, {"instance": "i-0"}):
        try:
            world.ec2.control("/interrupt", what)
        except RuntimeError:
            continue
        raise AssertionError(f"interrupted {what}")


@test
def the_console_can_terminate(world):
    name, = world.run()
    world.ec2.control("/terminate", {"instance": name})
    equal([(line["id"], line["by"]) for line in world.record("terminate")], [(name, "console")])
    equal(world.describe(InstanceIds=[name])[0]["StateReason"]["Code"], "Client.UserInitiatedShutdown")


@test
def a_message_comes_back_until_it_is_deleted(world):
    url = new_queue(world, "again")
    world.queue.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
    world.queue.send_message(QueueUrl=url, MessageBody="{}")
    first, = world.queue.receive_message(QueueUrl=url, WaitTimeSeconds=5)["Messages"]
    again, = world.queue.receive_message(QueueUrl=url, WaitTimeSeconds=5)["Messages"]
    equal(again["MessageId"], first["MessageId"])
    world.queue.delete_message(QueueUrl=url, ReceiptHandle=again["ReceiptHandle"])
    assert "Messages" not in world.queue.receive_message(QueueUrl=url, WaitTimeSeconds=2)


# -- the metadata service


def fetch(world, path, method="GET", **headers):
    """(status, text); the underscores of a header's name are dashes."""
    request = urllib.request.Request(world.imds.url + path, method=method,
                                     headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=10) as got:
            return got.status, got.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def session(world, seconds="60"):
    return fetch(world, "/latest/api/token", "PUT", X_aws_ec2_metadata_token_ttl_seconds=seconds)


def metadata(world, path):
    return fetch(world, f"/latest/meta-data/{path}", X_aws_ec2_metadata_token=session(world)[1])


@test
def metadata_needs_a_token(world):
    path = "/latest/meta-data/instance-id"
    equal(fetch(world, path)[0], 401)
    equal(fetch(world, path, X_aws_ec2_metadata_token="other")[0], 401)
    equal(metadata(world, "instance-id"), (200, "i-0123456789abcdef0"))


@test
def a_metadata_token_ends(world):
    token = session(world, "1")[1]
    path = "/latest/meta-data/placement/region"
    equal(fetch(world, path, X_aws_ec2_metadata_token=token), (200, "us-east-1"))
    time.sleep(1.1)
    equal(fetch(world, path, X_aws_ec2_metadata_token=token)[0], 401)


@test
def a_metadata_token_wants_a_sound_time(world):
    equal([session(world, ttl)[0] for ttl in ("0", "21601", "x")], [400] * 3)
    equal(fetch(world, "/latest/api/token", "PUT")[0], 400)


@test
def a_notice_appears_in_the_metadata(world):
    for path in ("spot/instance-action", "events/recommendations/rebalance"):
        equal(metadata(world, path)[0], 404)
    world.imds.set(action={"action": "terminate", "in_s": 120}, rebalance=True)
    action = json.loads(metadata(world, "spot/instance-action")[1])
    equal(action["action"], "terminate")
    left = ec2_seconds(action["time"]) - time.time()
    assert 110 < left <= 120, left
    assert "noticeTime" in json.loads(metadata(world, "events/recommendations/rebalance")[1])
    world.imds.set(action=None, rebalance=False)
    equal(metadata(world, "spot/instance-action")[0], 404)


def ec2_seconds(text):
    import calendar
    return calendar.timegm(time.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


@test
def an_instance_knows_its_place_and_its_launch_index(world):
    equal(metadata(world, "placement/availability-zone"), (200, "us-east-1a"))
    equal(metadata(world, "ami-launch-index"), (200, "0"))
    world.imds.set(launch_index=3, zone="us-east-1b")
    equal(metadata(world, "ami-launch-index"), (200, "3"))
    equal(metadata(world, "placement/availability-zone"), (200, "us-east-1b"))
    world.imds.set(launch_index=None, zone="us-east-1a")
    equal(metadata(world, "ami-launch-index")[0], 404)
    world.imds.set(launch_index=0)


@test
def tags_are_in_the_metadata_where_that_is_allowed(world):
    for path in ("tags/instance", "tags/instance/", "tags/instance/Name"):
        equal(metadata(world, path)[0], 404)
    world.imds.set(tags={"Name": "st-5", "stint:offer": "m5.large//spot", "empty": ""})
    equal(metadata(world, "tags/instance/"), (200, "Name\nstint:offer\nempty"))
    equal(metadata(world, "tags/instance/stint:offer"), (200, "m5.large//spot"))
    equal(metadata(world, "tags/instance/empty"), (200, ""))
    equal(metadata(world, "tags/instance/stint:key")[0], 404)
    world.imds.set(tags=None)


@test
def a_role_gives_its_keys(world):
    equal(metadata(world, "iam/security-credentials/")[0], 404)
    world.imds.set(role="lab", credentials={"access": "ASIAX", "secret": "s", "session_token": "t",
                                            "expires_s": 900})
    equal(metadata(world, "iam/security-credentials/"), (200, "lab"))
    keys = json.loads(metadata(world, "iam/security-credentials/lab")[1])
    equal([keys[name] for name in ("Code", "AccessKeyId", "SecretAccessKey", "Token")],
          ["Success", "ASIAX", "s", "t"])
    assert 880 < ec2_seconds(keys["Expiration"]) - time.time() <= 900
    equal(metadata(world, "iam/security-credentials/other")[0], 404)


@test
def botocore_finds_the_keys_of_a_role(world):
    world.imds.set(role="lab", credentials={"access": "ASIAX", "secret": "s", "session_token": "t"})
    code = ("import botocore.session as b; k = b.get_session().get_credentials().get_frozen_credentials();"
            "print(k.access_key, k.secret_key, k.token)")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env={
        **clean, "AWS_EC2_METADATA_SERVICE_ENDPOINT": world.imds.url, "HOME": world.folder.name})
    equal(done.stdout, "ASIAX s t\n")


@test
def a_container_gets_its_keys(world):
    equal(fetch(world, "/container/credentials")[0], 404)
    world.imds.set(container={"access": "ASIAC", "secret": "s", "session_token": "t"},
                   container_token="Basic x")
    equal(fetch(world, "/container/credentials")[0], 401)
    status, text = fetch(world, "/container/credentials", Authorization="Basic x")
    equal((status, json.loads(text)["AccessKeyId"]), (200, "ASIAC"))


@test
def metadata_can_fail_and_be_turned_off(world):
    world.imds.set(fail_share_of_8=4)
    found = [session(world)[0] for _ in range(16)]
    equal(sorted(found), [200] * 8 + [503] * 8)
    world.imds.set(fail_share_of_8=0, forbidden=True)
    equal(session(world)[0], 403)
    world.imds.set(forbidden=False)


# -- around it


@test
def nothing_but_this_machine_can_be_reached(_):
    with open("/proc/net/dev", encoding="utf-8") as file:
        equal([line.split(":")[0].strip() for line in file][2:], ["lo"])


if __name__ == "__main__":
    sys.exit(ec2_lab.main(TESTS, World))
