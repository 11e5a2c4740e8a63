#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_aws_guide - the commands of docs/start/aws.md, in their order, against moto.

'test_aws_guide.py MOTO_SERVER STINT', with the program 'aws' beside MOTO_SERVER, in a network namespace of its own.
moto plays IAM, SQS, EventBridge and EC2 here without our proxy before it; it checks less than AWS does.
Blocks of 'sh aws' are run twice: with those of 'sh aws head', for a controller that is an instance, and with those
of 'sh aws outside', for one that is none. Packages, the builder and the controller need real machines.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

sys.dont_write_bytecode = True

import ec2_lab

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests"))

import pages

GUIDE = os.path.join(ROOT, "docs", "start", "aws.md")
BLOCKS, = pages.with_runner("aws").values()  # of this page, and no other has any
IMAGE = "debian-12-amd64-20240101-1"
PORT = 5055
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def equal(found, wanted):
    assert found == wanted, f"found {found}, wanted {wanted}"


def guide():
    with open(GUIDE, encoding="utf-8") as file:
        return file.read()


def shipped():
    with open(os.path.join(ROOT, "share", "aws", "iam-policy.json"), encoding="utf-8") as file:
        return json.load(file)


class World:
    def __init__(self, moto, stint):
        self.stint = stint
        self.folder = tempfile.TemporaryDirectory(prefix="stint-guide-")
        self.url = f"http://127.0.0.1:{PORT}"
        self.env = {"PATH": f"{os.path.dirname(moto)}:{os.environ['PATH']}", "HOME": self.folder.name,
                    "AWS_DEFAULT_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "AKIAGUIDE00000000000",
                    "AWS_SECRET_ACCESS_KEY": "of/no+worth", "AWS_PAGER": ""}
        self.moto = subprocess.Popen([moto, "-H", "127.0.0.1", "-p", str(PORT)], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
        ec2_lab.until(self.is_up, 30, "moto")
        import botocore.session
        self.clients = {name: botocore.session.get_session().create_client(
            name, "us-east-1", endpoint_url=self.url, aws_access_key_id=self.env["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=self.env["AWS_SECRET_ACCESS_KEY"]) for name in ("ec2", "iam", "sqs", "events")}
        self.values = {}
        self.own = {}
        self.texts = []
        self.going_back = 0

    def reset(self):
        """Its points are the steps of one guide."""

    def is_up(self):
        return subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{PORT}"], check=False,
                              capture_output=True).returncode == 0

    def ask(self, service, operation, **words):
        """What the account has, without the program."""
        return getattr(self.clients[service], operation)(**words)

    def run(self, texts):
        """Run shell text in a shell of its own; returns its variables."""
        # Version 1 of the program does not read AWS_ENDPOINT_URL for SQS.
        script = f'set -eu\naws() {{ command aws --endpoint-url {self.url} "$@"; }}\n'
        script += "\n".join(texts) + "\n(set -o posix; set) >values\n"
        done = subprocess.run(["bash", "-c", script], env=self.env, capture_output=True, text=True, check=False,
                              cwd=self.folder.name)
        assert done.returncode == 0, done.stderr.strip()
        with open(f"{self.folder.name}/values", encoding="utf-8") as file:
            found = re.findall(r"^([A-Z_]+)=(\S+)$", file.read(), re.MULTILINE)
        return {name: value.strip("'") for name, value in found}

    def prepare(self, text):
        """What a reader puts in: values of an account that has a VPC, a key and Debian's image."""
        text = text.replace("YOUR_KEY", "key").replace("--owners 136693071363", "--owners self")
        text = text.replace("/usr/share/stint/aws", os.path.join(ROOT, "share", "aws"))
        for name, value in self.own.items():
            text = re.sub(rf"^{name}=\S+", f"{name}={value}", text, flags=re.MULTILINE)
        return text

    def begin(self, kind):
        """A new account, and what the guide says for a controller of this kind."""
        with urllib.request.urlopen(urllib.request.Request(f"{self.url}/moto-api/reset", method="POST")):
            pass
        subnets = {one["AvailabilityZone"]: one for one in self.ask("ec2", "describe_subnets")["Subnets"]}
        subnet = subnets["us-east-1a"]
        group, = [one["GroupId"] for one in self.ask("ec2", "describe_security_groups")["SecurityGroups"]
                  if one["VpcId"] == subnet["VpcId"]]
        head = self.ask("ec2", "run_instances", ImageId="ami-12c6146b", InstanceType="t3.small", MinCount=1,
                        MaxCount=1, SubnetId=subnet["SubnetId"], SecurityGroupIds=[group])["Instances"][0]
        self.ask("ec2", "create_key_pair", KeyName="key")
        self.ask("ec2", "create_image", InstanceId=head["InstanceId"], Name=IMAGE)
        self.own = {"VPC": subnet["VpcId"], "SUBNET_A": subnet["SubnetId"],
                    "SUBNET_B": subnets["us-east-1b"]["SubnetId"],
                    "HEAD": head["InstanceId"] if kind == "head" else "i-of-nobody"}
        self.texts = [self.prepare(one.text) for one in BLOCKS if one.is_shell and one.more in ("", kind)]
        self.going_back = next(i for i, text in enumerate(self.texts)
                               if text.startswith("aws ec2 describe-instances --f"))
        return head["InstanceId"], group

    def make(self):
        self.values = self.run(self.texts[:self.going_back])

    def go_back(self):
        """In a new shell, with the values of the top and those that were kept."""
        self.run([self.texts[0], ". ./stint-values"] + self.texts[self.going_back:])

    def groups_of(self, instance):
        said = self.ask("ec2", "describe_instances", InstanceIds=[instance])
        return {one["GroupId"] for one in said["Reservations"][0]["Instances"][0]["SecurityGroups"]}

    def profiles_of(self, instance):
        said = self.ask("ec2", "describe_iam_instance_profile_associations",
                        Filters=[{"Name": "instance-id", "Values": [instance]}])
        return [one["IamInstanceProfile"]["Arn"].split("/")[-1] for one in said["IamInstanceProfileAssociations"]
                if one["State"] == "associated"]

    def permissions(self):
        said = self.ask("ec2", "describe_security_groups", GroupIds=[self.values["GROUP"]])
        return said["SecurityGroups"][0]["IpPermissions"]

    def check_that_nothing_is_left(self):
        equal(self.ask("sqs", "list_queues").get("QueueUrls", []), [])
        equal(self.ask("events", "list_rules")["Rules"], [])
        equal(self.ask("ec2", "describe_launch_templates")["LaunchTemplates"], [])
        equal([one["Name"] for one in self.ask("ec2", "describe_images", Owners=["self"])["Images"]], [IMAGE])
        for operation, what in (("list_roles", "Roles"), ("list_users", "Users"),
                                ("list_instance_profiles", "InstanceProfiles")):
            equal([one for one in self.ask("iam", operation)[what] if "stint" in one["Arn"]], [])
        equal(self.ask("iam", "list_policies", Scope="Local")["Policies"], [])
        names = [one["GroupName"] for one in self.ask("ec2", "describe_security_groups")["SecurityGroups"]]
        assert "stint-lab" not in names, names

    def stop(self):
        self.moto.kill()
        self.moto.wait()
        self.folder.cleanup()


@test
def what_is_to_be_made_is_made(world):
    head, group = world.begin("head")
    world.make()
    equal(world.groups_of(head), {group, world.values["GROUP"]})
    equal(world.profiles_of(head), ["stint-lab"])
    pair, = [one for row in world.permissions() for one in row["UserIdGroupPairs"]]
    equal(pair["GroupId"], world.values["GROUP"])


@test
def the_policy_has_no_word_to_fill_in_left(world):
    policy = world.ask("iam", "get_role_policy", RoleName="stint-lab", PolicyName="stint")["PolicyDocument"]
    text = json.dumps(policy)
    for word in ("ACCOUNT", "CLUSTER", "TEMPLATE", "QUEUE", "ROLE"):
        assert word not in text, (word, text)
    assert world.values["TEMPLATE"] in text and ":stint-lab-notices" in text, text
    equal({one["Sid"] for one in policy["Statement"]},
          {one["Sid"] for one in shipped()["Statement"]} - {"StintGivesInstancesTheirRole"})
    # IAM counts without white space: this much is a managed policy, the one of a user, allowed to have.
    assert len(re.sub(r"\s", "", text)) <= 6144, len(text)


@test
def it_launches_from_its_template_only_and_into_its_network_only(world):
    policy = world.ask("iam", "get_role_policy", RoleName="stint-lab", PolicyName="stint")["PolicyDocument"]
    template = f"arn:aws:ec2:*:123456789012:launch-template/{world.values['TEMPLATE']}"
    launches = [one for one in policy["Statement"] if "ec2:RunInstances" in one["Action"]
                and any(":instance/" in name for name in one["Resource"])]
    equal([one["Condition"]["ArnLike"] for one in launches], [{"ec2:LaunchTemplate": template}])
    # CreateFleet knows no such key, but nothing can be asked of it without a template.
    resources = [name.split(":")[5] for one in policy["Statement"] for name in one["Resource"]
                 if name.count(":") == 5]
    equal([name for name in resources if name.startswith("launch-template/")],
          [f"launch-template/{world.values['TEMPLATE']}"])
    equal([name for name in resources if name.startswith("subnet/")],
          [f"subnet/{world.own['SUBNET_A']}", f"subnet/{world.own['SUBNET_B']}"])
    equal([name for name in resources if name.startswith("security-group/")],
          [f"security-group/{world.values['GROUP']}"])


@test
def another_partition_is_everywhere_or_nowhere(world):
    # The account of moto is in 'aws': this much can be seen of the others.
    equal(world.values["PARTITION"], "aws")
    equal(re.findall(r"arn:(?!\$PARTITION:).*", re.sub(r"s/arn:aws:/", "", guide())), [])
    policy, = [text for text in world.texts if "iam-policy.json" in text]
    world.run([world.texts[0], ". ./stint-values", "PARTITION=aws-cn", policy.split("aws iam")[0]])
    with open(f"{world.folder.name}/policy.json", encoding="utf-8") as file:
        text = file.read()
    json.loads(text)
    equal(set(re.findall(r"arn:[^:]*", text)), {"arn:aws-cn"})


@test
def the_template_has_image_group_and_metadata_with_tokens(world):
    data = world.ask("ec2", "describe_launch_template_versions", LaunchTemplateId=world.values["TEMPLATE"])
    data = data["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    equal((data["ImageId"], data["SecurityGroupIds"]), (world.values["IMAGE"], [world.values["GROUP"]]))
    equal(data["MetadataOptions"], {"HttpTokens": "required", "HttpPutResponseHopLimit": 1,
                                    "InstanceMetadataTags": "enabled"})
    equal(data["InstanceInitiatedShutdownBehavior"], "terminate")


@test
def the_rule_fills_the_queue_and_only_it_may(world):
    targets = world.ask("events", "list_targets_by_rule", Rule="stint-lab-notices")["Targets"]
    equal([one["Arn"] for one in targets], [world.values["QUEUE_ARN"]])
    said = world.ask("sqs", "get_queue_attributes", QueueUrl=world.values["QUEUE_URL"],
                     AttributeNames=["All"])["Attributes"]
    equal((said["QueueArn"], said["MessageRetentionPeriod"]), (world.values["QUEUE_ARN"], "300"))
    statement, = json.loads(said["Policy"])["Statement"]
    equal(statement["Condition"], {"ArnEquals": {"aws:SourceArn": world.values["RULE_ARN"]}})


@test
def the_configuration_is_good(world):
    conf, = [one.text for one in BLOCKS if one.file == "/etc/stint/stint.conf"]
    with open(f"{world.folder.name}/stint.conf", "w", encoding="utf-8") as file:
        file.write(conf)
    shutil.copy(os.path.join(ROOT, "share", "catalogue", "aws-us-east-1.yaml"),
                f"{world.folder.name}/catalogue.yaml")
    done = subprocess.run([world.stint, "doctor", "--offline", "-c", f"{world.folder.name}/stint.conf", "-o",
                           "json"], capture_output=True, text=True, check=False)
    rows = json.loads(done.stdout)["rows"]
    equal([row for row in rows if row["kind"] in ("configuration", "catalogue")], [])


@test
def what_the_image_and_the_policy_are_made_from_is_there_before(world):
    del world
    text = guide()
    assert text.index("apt-get install ./stint_") < text.index("file:///usr/share/stint/aws")
    assert text.index("## 2. slurm.conf") < text.index("create-image")
    equal(text.count("SlurmctldHost="), 1)


@test
def going_back_leaves_nothing(world):
    head = world.own["HEAD"]
    before = world.groups_of(head) - {world.values["GROUP"]}
    # moto lets go what is in use; EC2 does not.
    commands = "".join(world.texts[world.going_back:])
    for first, then in (("modify-instance-attribute", "delete-security-group"),
                        ("disassociate-iam-instance-profile", "delete-instance-profile")):
        assert 0 <= commands.find(first) < commands.index(then), (first, then)
    world.go_back()
    equal((world.groups_of(head), world.profiles_of(head)), (before, []))
    world.check_that_nothing_is_left()


@test
def a_controller_outside_is_admitted_by_its_address_and_a_user_has_the_rights(world):
    head, group = world.begin("outside")
    world.make()
    equal([one["CidrIp"] for row in world.permissions() for one in row["IpRanges"]], ["10.0.0.10/32"])
    equal((world.groups_of(head), world.profiles_of(head)), ({group}, []))
    said = world.ask("iam", "list_attached_user_policies", UserName="stint-lab")["AttachedPolicies"]
    equal({one["PolicyName"] for one in said}, {"stint-lab", "stint-lab-catalogue"})
    equal(len(world.ask("iam", "list_access_keys", UserName="stint-lab")["AccessKeyMetadata"]), 1)


@test
def going_back_from_outside_leaves_nothing(world):
    world.go_back()
    world.check_that_nothing_is_left()


if __name__ == "__main__":
    sys.exit(ec2_lab.main(TESTS, World))
