#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_doctor_cloud - 'stint doctor --cloud' against the stand-ins of EC2 and of the metadata service.

'test_doctor_cloud.py MOTO_SERVER STINT' under the Python of the virtual environment that has moto. All
of it runs in a network namespace of its own; each sentence is one TAP point.
"""
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import ec2_lab

ACCESS = "AKIASTANDIN000000000"
SECRET = "stand-in/secret+of/no+worth0000000000000"
KEYS = {"AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET}
HERE = os.path.dirname(os.path.abspath(__file__))
POLICIES = os.path.join(HERE, "..", "..", "..", "share", "aws")
TESTS = []
SAID = []

CATALOGUE = """
types:
  - { name: c5.large, cpu: 2, mem_gib: 4, offers: [ { zone: us-east-1a, price: 0.085 },
      { zone: us-east-1a, market: spot, price: 0.04 } ] }
"""
CONF = """
cluster: lab
state: {folder}/stint.db
catalogue: {folder}/catalogue.yaml
policy: {{ name: stint }}
engine: {{ kind: slurm, program: /bin/true }}
cloud: {cloud}
http: {{ socket: {folder}/nobody.sock }}
"""


def test(function):
    TESTS.append(function)
    return function


def equal(found, wanted):
    assert found == wanted, f"found {found}, wanted {wanted}"


def actions(name):
    """All actions of a policy of share/aws."""
    with open(f"{POLICIES}/{name}", encoding="utf-8") as file:
        return {action for one in json.load(file)["Statement"] for action in one["Action"]}


DAEMON = actions("iam-policy.json")
FOR_CATALOGUE = actions("iam-catalogue.json")


class World:
    def __init__(self, moto, stint):
        import botocore.session
        self.stint = stint
        self.folder = tempfile.TemporaryDirectory(prefix="stint-doctor-")
        self.ec2 = ec2_lab.StandIn(moto, f"{self.folder.name}/record")
        self.imds = ec2_lab.Metadata()
        self.defaults = self.ec2.control("/config")
        self.client, self.sqs = (botocore.session.get_session().create_client(
            service, "us-east-1", endpoint_url=self.ec2.url, aws_access_key_id=ACCESS,
            aws_secret_access_key=SECRET) for service in ("ec2", "sqs"))
        self.queue = self.sqs.create_queue(QueueName="notices")["QueueUrl"]
        self.template = self.client.create_launch_template(LaunchTemplateName="nodes", LaunchTemplateData={
            "ImageId": "ami-12c6146b"})["LaunchTemplate"]["LaunchTemplateId"]
        self.subnets = {one["AvailabilityZone"]: one["SubnetId"]
                        for one in self.client.describe_subnets()["Subnets"][:2]}
        self.write("catalogue.yaml", CATALOGUE)

    def write(self, name, text):
        path = f"{self.folder.name}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def reset(self):
        self.ec2.control("/config", self.defaults)
        living = [one["id"] for one in self.ec2.control("/instances")]
        if living:
            self.client.terminate_instances(InstanceIds=living)
        self.seen = len(self.ec2.control("/record"))

    def doctor(self, env=None, cloud=None, form="json", queue="", **settings):
        """(exit status, findings) of 'stint doctor --cloud'."""
        settings = {"kind": "aws", "region": "us-east-1", "endpoint": self.ec2.url, "queue": queue or self.queue,
                    "launch_template": self.template, "subnets": self.subnets, **settings}
        settings = {name: value for name, value in settings.items() if value is not None}
        if queue is None:
            del settings["queue"]
        conf = self.write("stint.conf", CONF.format(folder=self.folder.name,
                                                    cloud=cloud or json.dumps(settings)))
        done = subprocess.run([self.stint, "doctor", "--cloud", "--offline", "-c", conf, "-o", form],
                              capture_output=True, text=True, check=False, timeout=60,
                              env={"HOME": "/nonexistent", "SYSTEMD_UNIT_PATH": "/nonexistent", **(KEYS if env is None else env)})
        SAID.append(done.stdout + done.stderr)
        if form != "json":
            return done.returncode, done.stdout
        return done.returncode, json.loads(done.stdout)["rows"]

    def stop(self):
        self.ec2.stop()
        self.imds.stop()
        self.folder.cleanup()


def about(findings, subject):
    return [one for one in findings if one["subject"] == subject]


def allowed(findings):
    row, = about(findings, "allowed")
    return set(row["text"].split(", "))


def launch(world, cluster):
    said = world.client.run_instances(
        ImageId="ami-12c6146b", InstanceType="c5.large", MinCount=1, MaxCount=1, TagSpecifications=[
            {"ResourceType": "instance", "Tags": [{"Key": "stint:cluster", "Value": cluster}]}])
    return said["Instances"][0]["InstanceId"]


@test
def with_all_rights_nothing_is_wrong_and_nothing_is_done(world):
    launch(world, "lab")
    world.sqs.send_message(QueueUrl=world.queue, MessageBody="a notice")
    before = len(world.ec2.control("/record"))
    status, findings = world.doctor()
    equal([one for one in findings if one["severity"] in ("error", "warning")], [])
    equal(status, 0)
    equal(allowed(findings), DAEMON | FOR_CATALOGUE)
    row, = about(findings, "credentials")
    equal(row["text"], "stintd uses the keys from the environment (arn:aws:iam::123456789012:user/stand-in)")
    events = [line["event"] for line in world.ec2.control(f"/record?from={before}")]
    equal([event for event in events if event in ("launch", "terminate")], [])
    left = world.sqs.receive_message(QueueUrl=world.queue, WaitTimeSeconds=1).get("Messages", [])
    equal([message["Body"] for message in left], ["a notice"])
    world.sqs.purge_queue(QueueUrl=world.queue)


@test
def each_right_of_the_daemon_that_is_missing_is_named_with_its_statement(world):
    launch(world, "lab")
    for action in sorted(DAEMON):
        world.ec2.set(denied=[action.split(":")[1]])
        status, findings = world.doctor()
        equal(status, 3)
        row, = [one for one in findings if one["severity"] == "error"]
        equal((row["subject"], row["kind"]), (action, "right"))
        said = row["advice"].split(": ", 1)[1]
        statements = json.loads(f"[{said[said.index('{'):]}]")
        with open(f"{POLICIES}/iam-policy.json", encoding="utf-8") as file:
            shipped = [one for one in json.load(file)["Statement"] if action in one["Action"]]
        equal([one["Sid"] for one in statements], [one["Sid"] for one in shipped])
        text = json.dumps(statements)
        assert "CLUSTER" not in text and "ACCOUNT" not in text and "QUEUE" not in text, text


@test
def rights_of_the_catalogue_are_only_warned_about(world):
    for action in sorted(FOR_CATALOGUE):
        world.ec2.set(denied=[action.split(":")[1]])
        status, findings = world.doctor()
        equal(status, 0)
        row, = [one for one in findings if one["severity"] == "warning"]
        equal(row["subject"], action)


@test
def keys_that_the_pricing_api_does_not_know_hide_no_right(world):
    world.ec2.order(action="GetProducts", do="error", code="UnrecognizedClientException")
    status, findings = world.doctor()
    equal(status, 0)
    row, = about(findings, "pricing:GetProducts")
    equal((row["severity"], row["text"]), ("note", "prices on demand cannot be asked for with these keys; use "
                                           "`stint catalogue refresh --prices FILE`"))
    assert "ec2:RunInstances" in allowed(findings), findings


@test
def all_missing_rights_are_told_at_once(world):
    launch(world, "lab")
    world.ec2.set(denied=[action.split(":")[1] for action in DAEMON | FOR_CATALOGUE])
    status, findings = world.doctor()
    equal(status, 3)
    # A launch is refused for its own right first; tags and role are not looked at then. Without a list
    # of instances there is none to try the end of.
    equal({one["subject"] for one in findings if one["severity"] in ("error", "warning")},
          (DAEMON | FOR_CATALOGUE) - {"ec2:CreateTags", "iam:PassRole", "ec2:TerminateInstances"})
    equal(about(findings, "ec2:TerminateInstances")[0]["severity"], "note")


@test
def ending_cannot_be_tried_without_a_machine_of_the_cluster(world):
    launch(world, "another")
    world.ec2.set(denied=["TerminateInstances"])
    status, findings = world.doctor()
    equal(status, 0)
    row, = about(findings, "ec2:TerminateInstances")
    equal(row["severity"], "note")
    assert "there is none now" in row["text"], row
    world.ec2.set(denied=[])
    assert "ec2:TerminateInstances" in allowed(world.doctor()[1])


@test
def a_launch_that_would_fail_for_another_reason_is_told(world):
    status, findings = world.doctor(launch_template="lt-0123456789abcdef0")
    equal(status, 3)
    row, = about(findings, "ec2:RunInstances")
    equal((row["severity"], row["kind"]), ("error", "request-refused"))
    assert "LaunchTemplate" in row["text"], row


@test
def a_fleet_is_tried_only_where_one_could_be_asked_for(world):
    world.ec2.set(denied=["CreateFleet"])
    for settings in ({"subnets": None}, {"launch_template": None, "image": "ami-12c6146b"}):
        status, findings = world.doctor(**settings)
        equal((status, about(findings, "ec2:CreateFleet")), (0, []))
        assert "ec2:CreateFleet" not in allowed(findings), findings
    for name in (world.template, "nodes"):
        equal(about(world.doctor(launch_template=name)[1], "ec2:CreateFleet")[0]["severity"], "error")
    world.ec2.set(denied=[])
    for name in (world.template, "nodes"):
        assert "ec2:CreateFleet" in allowed(world.doctor(launch_template=name, launch_template_version="1")[1])


@test
def a_queue_that_is_not_there_and_none_at_all_are_told(world):
    status, findings = world.doctor(queue=None)
    equal(status, 0)
    equal(about(findings, "cloud.queue")[0]["severity"], "note")
    assert not {"sqs:ReceiveMessage", "sqs:DeleteMessage"} & allowed(findings)
    status, findings = world.doctor(queue=world.queue + "-none")
    equal(status, 3)
    equal(about(findings, "sqs:ReceiveMessage")[0]["severity"], "error")


@test
def throttling_and_lost_answers_are_waited_out(world):
    launch(world, "lab")
    world.ec2.order(action="*", when="before", do="throttle", count=2)
    world.ec2.order(action="RunInstances", when="before", do="cut", count=1)
    status, findings = world.doctor()
    equal((status, allowed(findings)), (0, DAEMON | FOR_CATALOGUE))


# -- keys


@test
def the_source_of_the_keys_is_named(world):
    path = world.write("credentials", f"[default]\naws_access_key_id = {ACCESS}\n"
                       f"aws_secret_access_key = {SECRET}\n[lab]\naws_access_key_id = {ACCESS}\n"
                       f"aws_secret_access_key = {SECRET}\n")
    files = {"AWS_SHARED_CREDENTIALS_FILE": path}
    printed = world.write("what is printed", json.dumps(
        {"Version": 1, "AccessKeyId": ACCESS, "SecretAccessKey": SECRET, "Expiration": "2199-01-01T00:00:00+00:00"}))
    role = "arn:aws:iam::123456789012:role/lab"
    world.ec2.set(web_identity={role: "the-token"})
    world.imds.set(credentials={"access": ACCESS, "secret": SECRET}, container={"access": ACCESS, "secret": SECRET})
    cases = [
        ("the environment", KEYS, {}),
        ("the profile default", files, {}),
        ("the profile lab", files, {"profile": "lab"}),
        ("the profile default, by its credential_process", {"AWS_CONFIG_FILE": world.write(
            "config", f'[default]\ncredential_process = /bin/cat "{printed}"\n')}, {}),
        ("a web identity", {"AWS_WEB_IDENTITY_TOKEN_FILE": world.write("token", "the-token"),
                            "AWS_ROLE_ARN": role, "AWS_ENDPOINT_URL": world.ec2.url}, {}),
        ("the container's role", {"AWS_CONTAINER_CREDENTIALS_FULL_URI":
                                  world.imds.url + "/container/credentials"}, {}),
        ("the instance's role", {"AWS_EC2_METADATA_SERVICE_ENDPOINT": world.imds.url}, {}),
    ]
    for source, env, settings in cases:
        status, findings = world.doctor(env=env, **settings)
        row, = about(findings, "credentials")
        assert row["text"].startswith(f"stintd uses the keys from {source} ("), row
        equal(status, 0)


@test
def a_role_through_another_profile_is_named_with_its_source(world):
    user, near, far = (f"arn:aws:iam::123456789012:{name}" for name in ("user/stand-in", "role/near", "role/far"))
    world.ec2.set(roles={near: [None, user], far: ["its-id", near]})
    world.imds.set(credentials={"access": ACCESS, "secret": SECRET})
    env = {"AWS_ENDPOINT_URL": world.ec2.url, "AWS_EC2_METADATA_SERVICE_ENDPOINT": world.imds.url,
           "AWS_SHARED_CREDENTIALS_FILE": world.write(
               "credentials", f"[base]\naws_access_key_id = {ACCESS}\naws_secret_access_key = {SECRET}\n"),
           "AWS_CONFIG_FILE": world.write(
               "config", f"[profile lab]\nrole_arn = {near}\nsource_profile = base\n"
               f"[profile far]\nrole_arn = {far}\nsource_profile = lab\nexternal_id = its-id\n"
               f"role_session_name = me\nduration_seconds = 900\n"
               f"[profile here]\nrole_arn = {near}\ncredential_source = Ec2InstanceMetadata\n"
               f"[profile stranger]\nrole_arn = {far}\nsource_profile = base\n"
               f"[profile circle]\nrole_arn = {far}\nsource_profile = circle\n")}
    for profile, source, who in (
            ("lab", f"role {near} through the profile base", "near/stint"),
            ("far", f"role {far} through the profile lab, role {near} through the profile base", "far/me"),
            ("here", f"role {near} through the instance's role", "near/stint")):
        status, findings = world.doctor(env=env, profile=profile)
        row, = about(findings, "credentials")
        equal(row["text"], f"stintd uses the keys from the profile {profile}, {source} "
              f"(arn:aws:sts::123456789012:assumed-role/{who})")
        equal(status, 0)
    for profile, why in (("stranger", f"role {far}: HTTP status 403, AccessDenied"), ("circle", "leads back to")):
        status, findings = world.doctor(env=env, profile=profile)
        equal(status, 3)
        row, = [one for one in findings if one["severity"] == "error"]
        equal(row["subject"], "credentials")
        assert why in row["text"], row


@test
def keys_that_are_not_there_or_wrong_are_one_finding(world):
    for env in ({"AWS_EC2_METADATA_DISABLED": "true"}, {**KEYS, "AWS_SECRET_ACCESS_KEY": "x" * 40},
                {**KEYS, "AWS_ACCESS_KEY_ID": "AKIANOBODY0000000000"}):
        status, findings = world.doctor(env=env)
        equal(status, 3)
        row, = [one for one in findings if one["severity"] == "error"]
        equal(row["subject"], "credentials")


@test
def people_get_sentences(world):
    launch(world, "lab")
    world.ec2.set(denied=["TerminateInstances"])
    status, text = world.doctor(form="table")
    equal(status, 3)
    assert "error    ec2:TerminateInstances: stintd lacks this right" in text, text
    assert "StintEndsItsOwnOnly" in text, text


# -- the local cloud


@test
def of_the_local_cloud_it_says_whether_it_answers(world):
    path = f"{world.folder.name}/cloud.sock"
    cloud = json.dumps({"kind": "local", "socket": path})
    status, findings = world.doctor(cloud=cloud)
    equal((status, about(findings, "cloud.socket")[0]["severity"]), (3, "error"))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        status, findings = world.doctor(cloud=cloud)
    equal((status, about(findings, "cloud.socket")[0]["text"]), (0, "the local cloud answers"))


@test
def no_secret_was_said(world):
    del world
    assert len(SAID) > 30
    for text in SAID:
        assert SECRET not in text and SECRET[:12] not in text and ACCESS not in text, text


if __name__ == "__main__":
    sys.exit(ec2_lab.main(TESTS, World))
