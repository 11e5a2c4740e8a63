#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_aws_guide - the commands of docs/AWS-IN-AN-HOUR.md, in their order, against moto.

'test_aws_guide.py MOTO_SERVER STINT', with the program 'aws' in PATH, in a network namespace of its own.
moto plays IAM, SQS, EventBridge and EC2 here without our proxy before it; it checks less than AWS does.
Only blocks marked 'sh' are run: those of the builder and of the controller need real machines.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import ec2_lab

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
GUIDE = os.path.join(ROOT, "docs", "AWS-IN-AN-HOUR.md")
IMAGE = "debian-12-amd64-20240101-1"
PORT = 5055
TESTS = []


def test(function):
    TESTS.append(function)
    return function


def equal(found, wanted):
    assert found == wanted, f"found {found}, wanted {wanted}"


def blocks(kind):
    with open(GUIDE, encoding="utf-8") as file:
        return re.findall(rf"^```{kind}\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)


class World:
    def __init__(self, moto, stint):
        self.stint = stint
        self.folder = tempfile.TemporaryDirectory(prefix="stint-guide-")
        self.env = {"PATH": os.environ["PATH"], "HOME": self.folder.name, "AWS_DEFAULT_REGION": "us-east-1",
                    "AWS_ACCESS_KEY_ID": "AKIAGUIDE00000000000", "AWS_SECRET_ACCESS_KEY": "of/no+worth",
                    "AWS_ENDPOINT_URL": f"http://127.0.0.1:{PORT}", "AWS_PAGER": ""}
        self.moto = subprocess.Popen([moto, "-H", "127.0.0.1", "-p", str(PORT)], stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
        ec2_lab.until(lambda: self.is_up(), 30, "moto")
        self.values = {}

    def reset(self):
        """Its points are the steps of one guide."""

    def is_up(self):
        return subprocess.run(["bash", "-c", f"exec 3<>/dev/tcp/127.0.0.1/{PORT}"], check=False,
                              capture_output=True).returncode == 0

    def aws(self, *words):
        done = subprocess.run(["aws", "--endpoint-url", self.env["AWS_ENDPOINT_URL"], *words, "--output", "json"], env=self.env, capture_output=True, text=True,
                              check=False, cwd=self.folder.name)
        assert done.returncode == 0, f"aws {' '.join(words)}: {done.stderr.strip()}"
        return json.loads(done.stdout) if done.stdout.strip() else None

    def run(self, texts):
        """Run shell text after that of before; returns its variables."""
        # Version 1 of the program does not read AWS_ENDPOINT_URL for SQS.
        script = 'set -eu\naws() { command aws --endpoint-url "$AWS_ENDPOINT_URL" "$@"; }\n' + "".join(f"{name}='{value}'\n" for name, value in self.values.items())
        script += "\n".join(texts) + "\n(set -o posix; set) >values\n"
        done = subprocess.run(["bash", "-c", script], env=self.env, capture_output=True, text=True, check=False,
                              cwd=self.folder.name)
        assert done.returncode == 0, done.stderr.strip()
        with open(f"{self.folder.name}/values", encoding="utf-8") as file:
            found = dict(re.findall(r"^([A-Z_]+)=(\S+)$", file.read(), re.MULTILINE))
        self.values = {name: found[name].strip("'") for name in found if name in
                       ("CLUSTER", "VPC", "SUBNET_A", "SUBNET_B", "HEAD", "ACCOUNT", "GROUP", "BASE", "BUILDER",
                        "IMAGE", "TEMPLATE", "QUEUE", "QUEUE_ARN", "QUEUE_URL", "RULE_ARN")}

    def prepare(self, text):
        """What a reader puts in: values of an account that has a VPC, a head, a key and Debian's image."""
        text = text.replace("OTHER_GROUPS_OF_THE_HEAD", "").replace("YOUR_KEY", "key")
        text = text.replace("--owners 136693071363", "--owners self")
        text = text.replace("/usr/share/stint/aws", os.path.join(ROOT, "share", "aws"))
        for name, value in self.own.items():
            text = re.sub(rf"^{name}=\S+", f"{name}={value}", text, flags=re.MULTILINE)
        return text

    def found(self):
        subnets = {one["AvailabilityZone"]: one for one in self.aws("ec2", "describe-subnets")["Subnets"]}
        head = self.aws("ec2", "run-instances", "--image-id", "ami-12c6146b", "--instance-type", "t3.small")
        instance = head["Instances"][0]["InstanceId"]
        self.aws("ec2", "create-key-pair", "--key-name", "key")
        self.aws("ec2", "create-image", "--instance-id", instance, "--name", IMAGE)
        self.own = {"VPC": subnets["us-east-1a"]["VpcId"], "SUBNET_A": subnets["us-east-1a"]["SubnetId"],
                    "SUBNET_B": subnets["us-east-1b"]["SubnetId"], "HEAD": instance}

    def stop(self):
        self.moto.kill()
        self.moto.wait()
        self.folder.cleanup()


@test
def what_is_to_be_made_is_made(world):
    world.found()
    texts = [world.prepare(text) for text in blocks("sh")]
    world.going_back = next(i for i, text in enumerate(texts) if text.startswith("aws ec2 describe-instances --f"))
    world.texts = texts
    quotas = [text for text in texts if "service-quotas" in text]
    equal(len(quotas), 1)
    world.run([text for text in texts[:world.going_back] if text not in quotas])


@test
def the_policy_has_no_word_to_fill_in_left(world):
    policy = world.aws("iam", "get-role-policy", "--role-name", "stint-lab", "--policy-name",
                       "stint")["PolicyDocument"]
    text = json.dumps(policy)
    for word in ("ACCOUNT", "CLUSTER", "TEMPLATE", "QUEUE", "ROLE"):
        assert word not in text, (word, text)
    assert world.values["TEMPLATE"] in text and ":stint-lab-notices" in text, text
    with open(os.path.join(ROOT, "share", "aws", "iam-policy.json"), encoding="utf-8") as file:
        shipped = {one["Sid"] for one in json.load(file)["Statement"]}
    equal({one["Sid"] for one in policy["Statement"]}, shipped - {"StintGivesInstancesTheirRole"})


@test
def the_template_has_image_group_and_metadata_with_tokens(world):
    data = world.aws("ec2", "describe-launch-template-versions", "--launch-template-id", world.values["TEMPLATE"])
    data = data["LaunchTemplateVersions"][0]["LaunchTemplateData"]
    equal((data["ImageId"], data["SecurityGroupIds"]), (world.values["IMAGE"], [world.values["GROUP"]]))
    equal(data["MetadataOptions"], {"HttpTokens": "required", "HttpPutResponseHopLimit": 1,
                                    "InstanceMetadataTags": "enabled"})


@test
def the_rule_fills_the_queue_and_only_it_may(world):
    targets = world.aws("events", "list-targets-by-rule", "--rule", "stint-lab-notices")["Targets"]
    equal([one["Arn"] for one in targets], [world.values["QUEUE_ARN"]])
    said = world.aws("sqs", "get-queue-attributes", "--queue-url", world.values["QUEUE_URL"],
                     "--attribute-names", "All")["Attributes"]
    equal((said["QueueArn"], said["MessageRetentionPeriod"]), (world.values["QUEUE_ARN"], "300"))
    statement, = json.loads(said["Policy"])["Statement"]
    equal(statement["Condition"], {"ArnEquals": {"aws:SourceArn": world.values["RULE_ARN"]}})


@test
def the_configuration_is_good(world):
    conf, = [text for text in blocks("yaml") if text.startswith("# /etc/stint/stint.conf")]
    with open(f"{world.folder.name}/stint.conf", "w", encoding="utf-8") as file:
        file.write(conf)
    shutil.copy(os.path.join(ROOT, "share", "catalogue", "aws-us-east-1.yaml"),
                f"{world.folder.name}/catalogue.yaml")
    done = subprocess.run([world.stint, "doctor", "--offline", "-c", f"{world.folder.name}/stint.conf", "-o",
                           "json"], capture_output=True, text=True, check=False)
    rows = json.loads(done.stdout)["rows"]
    equal([row for row in rows if row["kind"] in ("configuration", "catalogue")], [])


@test
def the_other_blocks_are_good_shell(world):
    del world
    others = blocks("sh builder") + blocks("sh controller")
    assert len(others) > 5, others
    for text in others:
        subprocess.run(["bash", "-n"], input=text, text=True, check=True)


@test
def going_back_leaves_nothing(world):
    world.run(world.texts[world.going_back:])
    equal(world.aws("sqs", "list-queues") or {}, {})
    equal(world.aws("events", "list-rules")["Rules"], [])
    equal(world.aws("ec2", "describe-launch-templates")["LaunchTemplates"], [])
    equal([role["RoleName"] for role in world.aws("iam", "list-roles")["Roles"] if "stint" in role["RoleName"]], [])
    names = [one["GroupName"] for one in world.aws("ec2", "describe-security-groups")["SecurityGroups"]]
    assert "stint-lab" not in names, names


def lacks():
    return next((f"no {name}" for name in ("aws", "jq") if not shutil.which(name)), None)


if __name__ == "__main__":
    sys.exit(ec2_lab.main(TESTS, World, lacks))
