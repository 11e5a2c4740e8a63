# SPDX-License-Identifier: Apache-2.0
"""stand_in_lies - points of test_stand_ins.py: the lies of ec2_lies.py are what they say, and end."""
import http.client
import threading
import time
import urllib.parse
import urllib.request

import ec2_lies
from ec2_lab import until
from stand_in_points import ACCESS, SECRET, equal, is_cut, refusal, test

LIVING = [{"Name": "instance-state-name", "Values": ["pending", "running"]}]
OTHER = "210987654321"


def names(world, client=None):
    said = (client or world.client).describe_instances(Filters=LIVING)
    return {one["InstanceId"] for held in said["Reservations"] for one in held["Instances"]}


def owners(world):
    return {held["OwnerId"] for held in world.client.describe_instances(Filters=LIVING)["Reservations"]}


@test
def a_list_is_empty_for_as_long_as_was_said(world):
    mine = set(world.run(least=4, most=4))
    world.ec2.lie("empty", 3)
    equal(names(world), set())
    until(lambda: names(world) == mine, 20, "the truth")
    assert world.ec2.control("/counters")["lied empty"] >= 1
    line, = world.record("lie")
    equal((line["kind"], line["action"], line["seconds"]), ("empty", "DescribeInstances", 3))


@test
def a_partial_list_shows_the_same_part_each_time(world):
    mine = set(world.run(least=8, most=8))
    world.ec2.lie("partial", share=0.25)
    shown = names(world)
    equal((len(shown), shown <= mine, names(world)), (2, True, shown))
    world.ec2.lie("none")
    equal(names(world), mine)


@test
def a_stale_list_is_that_of_a_while_ago(world):
    old = set(world.run(least=2, most=2))
    gone, = world.run()
    time.sleep(6)
    world.client.terminate_instances(InstanceIds=[gone])
    new, = world.run()
    world.ec2.lie("stale", age_s=5)
    equal(names(world), old | {gone})
    states = {one["InstanceId"]: one["State"]["Name"] for one in world.describe()}
    equal((states[gone], new in states), ("running", False))
    until(lambda: names(world) == old | {new}, 20, "a list in which five seconds have passed")
    world.ec2.lie("none")
    world.ec2.lie("stale", age_s=0, frozen=True)
    late, = world.run()
    time.sleep(1)
    assert late not in names(world)
    world.ec2.lie("none")
    assert late in names(world)


@test
def a_foreign_list_has_other_ids_and_another_owner(world):
    mine = set(world.run(least=3, most=3))
    equal(owners(world), {"123456789012"})
    world.ec2.lie("foreign")
    shown = names(world)
    equal((len(shown), shown & mine, owners(world)), (3, set(), {OTHER}))
    equal(world.make("sts").get_caller_identity()["Account"], OTHER)
    world.ec2.lie("none")
    world.ec2.lie("foreign", action="GetCallerIdentity")
    equal(owners(world), {"123456789012"})
    equal(world.make("sts").get_caller_identity()["Account"], OTHER)


@test
def each_account_sees_its_own_machines(world):
    mine, = world.run()
    world.ec2.control("/keys", {ACCESS: {"secret": SECRET}, "AKIAOTHER": {"secret": "x", "account": OTHER}})
    other = world.make("ec2", "AKIAOTHER", "x")
    equal((names(world, other), names(world)), (set(), {mine}))
    theirs, = world.run(client=other)
    equal((names(world, other), names(world)), ({theirs}, {mine}))
    equal(refusal(other.terminate_instances, InstanceIds=[mine])[0], "InvalidInstanceID.NotFound")
    equal(world.make("sts", "AKIAOTHER", "x").get_caller_identity()["Account"], OTHER)
    other.terminate_instances(InstanceIds=[theirs])
    equal([line["account"] for line in world.record("launch")], ["123456789012", OTHER])


def body(world, **params):
    """What DescribeInstances sends, as it is."""
    import botocore.auth
    import botocore.awsrequest
    import botocore.credentials
    asked = urllib.parse.urlencode({"Action": "DescribeInstances", "Version": "2016-11-15", **params}).encode()
    request = botocore.awsrequest.AWSRequest("POST", world.ec2.url + "/", data=asked, headers={
        "Content-Type": "application/x-www-form-urlencoded"})
    botocore.auth.SigV4Auth(botocore.credentials.Credentials(ACCESS, SECRET), "ec2", "us-east-1").add_auth(request)
    ask = urllib.request.Request(world.ec2.url + "/", asked, dict(request.headers))
    with urllib.request.urlopen(ask, None, 10) as got:
        return got.status, got.headers.get("Content-Type"), got.read().decode()


@test
def malformed_answers_are_malformed_and_ok(world):
    world.run()
    whole = len(body(world)[2])
    world.ec2.lie("html")
    status, kind, text = body(world)
    equal((status, kind, text[:15]), (200, "text/html", "<!DOCTYPE html>"))
    world.ec2.lie("none")
    world.ec2.lie("truncated")
    status, _, text = body(world)
    equal((status, abs(len(text) - whole // 2) < 4, "</DescribeInstancesResponse>" in text), (200, True, False))
    world.ec2.lie("none")
    world.ec2.lie("root")
    status, _, text = body(world)
    equal((status, "<DescribeVolumesResponse" in text, "DescribeInstancesResponse" in text), (200, True, False))
    world.ec2.lie("none")
    world.ec2.lie("short")
    try:
        body(world)
    except http.client.IncompleteRead:
        return
    raise AssertionError("the answer was whole")


@test
def a_token_repeats_and_pages_have_no_end(world):
    mine, = world.run()
    world.ec2.lie("token")
    said = world.client.describe_instances(Filters=LIVING)
    for _ in range(3):
        equal(said["NextToken"], ec2_lies.TOKEN)
        equal(said["Reservations"][0]["Instances"][0]["InstanceId"], mine)
        said = world.client.describe_instances(Filters=LIVING, NextToken=said["NextToken"])
    world.ec2.lie("none")
    world.ec2.lie("pages")
    tokens = set()
    for _ in range(4):
        said = world.client.describe_instances(Filters=LIVING)
        equal(said["Reservations"], [])
        tokens.add(said["NextToken"])
    equal(len(tokens), 4)


@test
def a_request_that_hangs_is_not_carried_out(world):
    world.ec2.lie("hang", 1)
    began = time.monotonic()
    assert is_cut(world.run)
    assert 0.5 < time.monotonic() - began < 3
    equal(world.record("launch"), [])
    world.ec2.lie("hang", 60, action="RunInstances")
    done = []
    waiting = threading.Thread(target=lambda: done.append(is_cut(world.run)))
    waiting.start()
    names(world)  # others are answered
    equal([one["kind"] for one in world.ec2.control("/lie")], ["hang"])
    world.ec2.lie("none")
    waiting.join(5)
    equal((done, world.record("launch")), ([True], []))


@test
def a_lie_that_is_none_is_refused(world):
    for wrong in ({"kind": "white"}, {"kind": "empty", "share": 1}, {"seconds": 1}):
        try:
            world.ec2.control("/lie", wrong)
        except RuntimeError:
            continue
        raise AssertionError(f"{wrong} was taken")
