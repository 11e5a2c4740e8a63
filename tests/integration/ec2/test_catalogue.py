#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_catalogue - 'stint catalogue refresh' of every region that moto knows, against the stand-in of EC2.

'test_catalogue.py MOTO_SERVER STINT' under the Python of the virtual environment that has moto. All of it
runs in a network namespace of its own; each sentence is one TAP point. Processor time, instructions and
memory are those of stint by itself: the stand-in's are not counted. Time is only printed: between a quiet
machine and a busy one it differs by half. What is held are the instructions, which do not.
"""
import csv
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True

import ec2_lab
import ec2_prices

ACCESS = "AKIASTANDIN000000000"
SECRET = "stand-in/secret+of/no+worth0000000000000"
SMALL = "me-south-1"  # a region with few types
LARGEST = "us-east-1"
MOST_MILLIONS = 800  # of instructions in the largest region; measured: 716
MOST_MIB = 200
TESTS = []
SAID = []


def test(function):
    TESTS.append(function)
    return function


def equal(found, wanted):
    assert found == wanted, f"found {found}, wanted {wanted}"


def regions():
    """Those whose offerings moto has."""
    folder = importlib.util.find_spec("moto").submodule_search_locations[0]
    names = os.listdir(f"{folder}/ec2/resources/instance_type_offerings/region")
    return sorted(name.split(".")[0] for name in names if name.endswith(".json.gz"))


class Run:
    """One run of stint, to its end."""

    def __init__(self, *command):
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env={
                "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "HOME": "/nonexistent",
                "AWS_EC2_METADATA_DISABLED": "true"})
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = self.status = os.waitstatus_to_exitcode(status)
            out.seek(0)
            err.seek(0)
            self.out, self.err = out.read(), err.read()
        self.seconds = usage.ru_utime + usage.ru_stime
        self.mib = usage.ru_maxrss / 1024  # also of the Python that started it
        SAID.extend((self.out, self.err))


class World:
    def __init__(self, moto, stint):
        self.stint = stint
        self.folder = tempfile.TemporaryDirectory(prefix="stint-catalogue-")
        self.ec2 = ec2_lab.StandIn(moto)
        self.defaults = self.ec2.control("/config")
        self.offers = {}  # of each region, as the first run said

    def reset(self):
        self.ec2.set(**self.defaults)

    def stop(self):
        self.ec2.stop()

    def path(self, region):
        return f"{self.folder.name}/{region}.yaml"

    def command(self, region):
        return (self.stint, "catalogue", "refresh", "--endpoint", self.ec2.url, "--region", region, "-f",
                self.path(region))

    def refresh(self, region, *more):
        return Run(*self.command(region), *more)

    def text(self, region):
        with open(self.path(region), encoding="utf-8") as file:
            return file.read()

    def show(self, region):
        """What another run reads in the file."""
        run = Run(self.stint, "catalogue", "show", "-o", "csv", self.path(region))
        equal((run.status, run.err), (0, ""))
        return list(csv.DictReader(run.out.splitlines()))


def refresh_all(world, names):
    """All regions one after another: the most MiB that one took."""
    runs = {name: world.refresh(name) for name in names}
    seconds = sum(run.seconds for run in runs.values())
    slowest = max(names, key=lambda name: runs[name].seconds)
    mib = max(run.mib for run in runs.values())
    types = 0
    for name, run in runs.items():
        equal(run.status, 0)
        world.offers[name] = int(re.fullmatch(rf"stint catalogue: (\d+) offers of {name}\n", run.err)[1])
        types += len(re.findall(r"^  - name: ", world.text(name), re.MULTILINE))
    print(f"# {len(names)} regions, {types} types, {sum(world.offers.values())} offers: {seconds:.2f} s of our "
          f"own, the most {runs[slowest].seconds:.3f} s in {slowest}; at most {mib:.0f} MiB", flush=True)
    return mib


def count_instructions(world, region):
    """Of a run for that region, by valgrind; in millions."""
    run = Run("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *world.command(region))
    equal(run.status, 0)
    return int(re.search(r"Collected : (\d+)", run.err)[1]) / 1e6


@test
def all_regions_are_read_in_little_memory(world):
    names = regions()
    mib = refresh_all(world, names)
    assert len(names) >= 30 and sum(world.offers.values()) > 50000, (len(names), world.offers)
    assert max(world.offers, key=world.offers.get) == LARGEST, world.offers
    assert mib < MOST_MIB, mib


@test
def the_largest_region_is_read_in_few_instructions(world):
    millions = count_instructions(world, LARGEST)
    print(f"# {LARGEST}, {world.offers[LARGEST]} offers: {millions:.0f} million instructions", flush=True)
    assert millions < MOST_MILLIONS, millions


@test
def what_was_written_is_read_again_with_as_many_offers_as_were_said(world):
    for name, offers in world.offers.items():
        rows = world.show(name)
        equal(len(rows), offers)
        assert all(row["zone"].startswith(name) and float(row["price"]) > 0 for row in rows), name
        assert f"region: {name}\n" in world.text(name)


@test
def a_price_that_is_not_known_is_named_and_not_guessed(world):
    world.ec2.set(prices={"c5a.2xlarge": 0.0})
    equal(world.refresh(SMALL).status, 0)
    unknown = re.findall(r"^#   (\S+)$", world.text(SMALL), re.MULTILINE)
    equal(unknown, ["c5a.2xlarge"])
    equal([row for row in world.show(SMALL) if row["type"] == "c5a.2xlarge"], [])


@test
def without_the_pricing_api_there_is_the_spot_market_and_a_word_about_it(world):
    world.ec2.set(denied=["GetProducts"])
    run = world.refresh(SMALL)
    equal(run.status, 0)
    assert "no prices on demand from the Pricing API" in run.err, run.err
    equal({row["market"] for row in world.show(SMALL)}, {"spot"})
    unknown = set(re.findall(r"^#   (\S+)$", world.text(SMALL), re.MULTILINE))
    assert unknown >= {row["type"] for row in world.show(SMALL)}, len(unknown)


@test
def keys_that_the_pricing_api_does_not_know_are_told_with_what_to_do(world):
    world.ec2.order(action="GetProducts", do="error", code="UnrecognizedClientException")
    run = world.refresh(SMALL)
    equal(run.status, 0)
    assert "cannot be asked for with these keys; use `stint catalogue refresh --prices FILE`" in run.err, run.err


@test
def throttled_pages_and_cut_connections_are_asked_for_again(world):
    equal(world.refresh(SMALL).status, 0)
    before = world.text(SMALL)
    asked = world.ec2.control("/counters")["asked DescribeInstanceTypes"]
    world.ec2.order(action="DescribeInstanceTypes", do="throttle", skip=1, count=2)
    world.ec2.order(action="DescribeInstanceTypeOfferings", when="middle", do="cut")
    world.ec2.order(action="DescribeSpotPriceHistory", when="after", do="cut")
    world.ec2.order(action="GetProducts", do="cut")
    world.ec2.order(action="GetProducts", when="middle", do="cut", skip=1)
    run = world.refresh(SMALL)
    disturbed = world.text(SMALL)
    equal((run.status, len(run.err.splitlines())), (0, 1))
    assert world.ec2.control("/counters")["asked DescribeInstanceTypes"] >= asked + 4
    equal(world.refresh(SMALL).status, 0)
    assert disturbed in (before, world.text(SMALL))  # spot prices may have moved once


@test
def a_history_has_the_changes_that_ec2_tells_in_their_order(world):
    days = 3
    world.ec2.set(page_most=50)
    world.ec2.order(action="DescribeSpotPriceHistory", when="middle", do="cut", skip=2)
    equal(world.refresh(SMALL, "--history", str(days)).status, 0)
    text = world.text(SMALL)
    began = ec2_prices.seconds_of(re.search(r"spot prices since (\S+)\n", text)[1])
    assert abs(time.time() - days * 86400 - began) < 60, began
    series = [json.loads(found) for found in re.findall(r"market: spot, price: (\[\[.*\]\])", text)]
    assert len(series) > 100, len(series)
    wanted = [0, *(at - began for at in range(began - began % ec2_prices.STEP_S + ec2_prices.STEP_S,
                                              began + days * 86400 + 1, ec2_prices.STEP_S))]
    for changes in series:
        prices = [price for _, price in changes]
        equal([at for at, _ in changes if at not in wanted], [])
        assert changes[0][0] == 0 and len(changes) > len(wanted) - 5, changes
        assert all(one != other for one, other in zip(prices, prices[1:])), changes
    latest = [float(row["price"]) for row in world.show(SMALL) if row["market"] == "spot"]
    equal(sorted(latest), sorted(changes[-1][1] for changes in series))


@test
def of_few_types_only_their_history_is_asked_for(world):
    def pages():
        return world.ec2.control("/counters")["asked DescribeSpotPriceHistory"]
    before = pages()
    equal(world.refresh(SMALL, "--history", "30", "--types", "c5a.2xlarge,c5a.4xlarge").status, 0)
    equal(pages(), before + 2)  # 181 changes in each of 6 places
    equal({row["type"] for row in world.show(SMALL)}, {"c5a.2xlarge", "c5a.4xlarge"})


@test
def what_ec2_refuses_leaves_the_old_file(world):
    equal(world.refresh(SMALL).status, 0)
    before = world.text(SMALL)
    world.ec2.set(denied=["DescribeSpotPriceHistory"])
    run = world.refresh(SMALL)
    equal(run.status, 1)
    assert "UnauthorizedOperation" in run.err, run.err
    equal(world.text(SMALL), before)
    equal(sorted(name for name in os.listdir(world.folder.name) if not name.endswith(".yaml")), [])


@test
def no_secret_was_said_or_written(world):
    texts = SAID + [world.text(name) for name in regions()]
    assert len(texts) > 100
    assert not [text for text in texts if SECRET[:12] in text or ACCESS in text]


if __name__ == "__main__":
    sys.exit(ec2_lab.main(TESTS, World))
