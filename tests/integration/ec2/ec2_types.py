# SPDX-License-Identifier: GPL-2.0-or-later
"""ec2_types - what the tests of stintd can rent at the stand-in of EC2, and what it must cost.

Names and sizes are EC2's, prices are of the catalogue that is written here: the ledger goes by it.
"""
import calendar
import os
import sys
import time

import ec2_identity

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))

import books  # noqa: E402
from books import Type  # noqa: E402

TYPES = (
    Type("c5.large", 2, 4096, 0, 85000),
    Type("c5.2xlarge", 8, 16384, 0, 340000),
    Type("m5.large", 2, 8192, 0, 96000),
    Type("m5.2xlarge", 8, 32768, 0, 384000),
    Type("r5.large", 2, 16384, 0, 126000),
    Type("r5.2xlarge", 8, 65536, 0, 504000),
    Type("g4dn.xlarge", 4, 16384, 1, 526000),
    Type("g4dn.12xlarge", 48, 196608, 4, 3912000),
)
ZONES = ("us-east-1a", "us-east-1b")


def find(name):
    return next(one for one in TYPES if one.name == name)


def price(name, market):
    """Micro-dollars per hour."""
    full = find(name).price
    return full * books.SPOT_PERCENT // 100 if market == "spot" else full


def catalogue(spot):
    """The catalogue file; 'spot': the beginnings of the types that can be had there too."""
    lines = [f"billing: {{ step: {books.STEP_MS}ms, minimum: {books.MINIMUM_MS}ms }}",
             "boot: { acquire: 1s, setup: 2s, release: 0 }", "types:"]
    for one in TYPES:
        lines += [f"  - name: {one.name}", f"    cpu: {one.cpu}",
                  f"    mem_gib: {one.mem_mib / 1024:g}", f"    accel: {one.accel}", "    offers:"]
        for zone in ZONES:
            lines.append(f"      - {{ zone: {zone}, price: {one.price / 1e6:.6f} }}")
            if one.name.startswith(spot):
                lines.append(f"      - {{ zone: {zone}, market: spot, "
                             f"price: {price(one.name, 'spot') / 1e6:.6f} }}")
    return "\n".join(lines) + "\n"


def milliseconds(text):
    """The time that the API tells, "2026-11-15T07:22:12.000Z": whole seconds."""
    return calendar.timegm(time.strptime(text[:19], "%Y-%m-%dT%H:%M:%S")) * 1000


class Machine:
    """One instance, from its lines of the record."""

    def __init__(self, launch):
        self.id = launch["id"]
        self.key = ec2_identity.key_of(launch)
        self.name = ec2_identity.name_of(launch)
        self.type = launch["type"]
        self.market = launch["market"]
        self.began = milliseconds(launch["launch_time"])
        self.ended = None
        self.by = None

    def bill(self, later_ms=0):
        """What it cost; 'later_ms': if its end was noticed so late."""
        span = max(0, self.ended + later_ms - self.began)
        return books.charge(price(self.type, self.market), span)


def read_record(lines):
    """The machines of the stand-in's record, by id."""
    machines = {}
    for line in lines:
        if line["event"] == "launch":
            machines[line["id"]] = Machine(line)
        elif line["event"] == "terminate":
            one = machines[line["id"]]
            one.by = line["by"]
            one.ended = max(one.began, line["at"] // 1000 * 1000)
    return machines
