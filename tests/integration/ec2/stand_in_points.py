# SPDX-License-Identifier: Apache-2.0
"""stand_in_points - what the points of test_stand_ins.py have in common: the stand-ins, clients, the list.

Clients are botocore's, which knows nothing of the stand-ins.
"""
import os
import tempfile

import ec2_lab

ACCESS = "AKIASTANDIN000000000"
SECRET = "stand-in/secret+of/no+worth0000000000000"
TESTS = []


def test(function):
    TESTS.append(function)
    return function


class World:
    """The stand-ins, and clients for them. Each test begins without faults and machines."""

    def __init__(self, moto):
        self.folder = tempfile.TemporaryDirectory(prefix="stint-ec2-")
        self.path = f"{self.folder.name}/record"
        hook = f"{self.folder.name}/hook"
        with open(hook, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nprintf "%s %s\\n" "$1" "$(cat)" >>{self.folder.name}/hooked\n')
        os.chmod(hook, 0o755)
        self.ec2 = ec2_lab.StandIn(moto, self.path, hook)
        self.imds = ec2_lab.Metadata()
        self.defaults = self.ec2.control("/config")
        self.client = self.make("ec2")
        self.queue = self.make("sqs")

    def make(self, service, access=ACCESS, secret=SECRET, token=None, region="us-east-1"):
        import botocore.config
        import botocore.session
        return botocore.session.get_session().create_client(
            service, region, endpoint_url=self.ec2.url, aws_access_key_id=access,
            aws_secret_access_key=secret, aws_session_token=token,
            config=botocore.config.Config(retries={"total_max_attempts": 1}, read_timeout=60))

    def reset(self):
        self.ec2.lie("none")
        self.ec2.control("/config", self.defaults)
        self.ec2.control("/keys", {ACCESS: {"secret": SECRET}})
        living = [one["id"] for one in self.ec2.control("/instances")]
        if living:
            self.client.terminate_instances(InstanceIds=living)
        self.seen = len(self.ec2.control("/record"))

    def record(self, event):
        return [line for line in self.ec2.control(f"/record?from={self.seen}") if line["event"] == event]

    def run(self, token=None, client=None, least=1, most=1, kind="m5.large", zone="us-east-1a", spot=False,
            **more):
        asked = {"MinCount": least, "MaxCount": most, "InstanceType": kind, "ImageId": "ami-12345678", **more}
        if zone:
            asked["Placement"] = {"AvailabilityZone": zone}
        if token:
            asked["ClientToken"] = token
        if spot:
            asked["InstanceMarketOptions"] = {"MarketType": "spot"}
        said = (client or self.client).run_instances(**asked)
        return [one["InstanceId"] for one in said["Instances"]]

    def describe(self, **asked):
        """The instances of all pages."""
        found = []
        while True:
            said = self.client.describe_instances(**asked)
            found += [one for held in said["Reservations"] for one in held["Instances"]]
            if "NextToken" not in said:
                return found
            asked["NextToken"] = said["NextToken"]

    def stop(self):
        self.ec2.stop()
        self.imds.stop()
        self.folder.cleanup()


def refusal(call, *arguments, **named):
    """(code, status) of the error that a call ends with."""
    import botocore.exceptions
    try:
        call(*arguments, **named)
    except botocore.exceptions.ClientError as error:
        return error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
    raise AssertionError("no error")


def is_cut(call, *arguments, **named):
    import botocore.exceptions
    try:
        call(*arguments, **named)
    except (botocore.exceptions.HTTPClientError, botocore.exceptions.ConnectionError):
        return True
    return False


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} is not {wanted!r}")
