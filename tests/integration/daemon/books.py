# SPDX-License-Identifier: GPL-2.0-or-later
"""books - what the load must have cost, computed without Stint.

It reads the local cloud's own log and the catalogue, and shares no code with the daemon. All money is
in whole micro-dollars, rounded down once per bill, as docs/reference/files/catalogue.md promises.
"""
import csv

HOUR_MS = 3600 * 1000


class Type:
    def __init__(self, name, cpu, mem_mib, accel, price):
        self.name = name
        self.cpu = cpu
        self.mem_mib = mem_mib
        self.accel = accel
        self.price = price  # micro-dollars per hour, on demand


TYPES = (
    Type("c1.medium", 2, 4096, 0, 85000),
    Type("c1.2xlarge", 8, 16384, 0, 340000),
    Type("m1.large", 2, 8192, 0, 96000),
    Type("m1.2xlarge", 8, 32768, 0, 384000),
    Type("r1.large", 2, 16384, 0, 126000),
    Type("r1.2xlarge", 8, 65536, 0, 504000),
    Type("g1.xlarge", 4, 16384, 1, 526000),
    Type("g1.4xlarge", 16, 65536, 4, 2104000),
)
SPOT_PERCENT = 40
STEP_MS = 1000
MINIMUM_MS = 60000  # EC2's rule for Linux
ACQUIRE_MS = 800
SETUP_MS = 700


def catalogue(spot, types=TYPES, minimum_ms=MINIMUM_MS):
    """The catalogue file; with 'spot', the c1 types can be had there too."""
    lines = [f"billing: {{ step: {STEP_MS}ms, minimum: {minimum_ms}ms }}",
             f"boot: {{ acquire: {ACQUIRE_MS}ms, setup: {SETUP_MS}ms, release: 0 }}", "types:"]
    for one in types:
        lines += [f"  - name: {one.name}", f"    cpu: {one.cpu}",
                  f"    mem_gib: {one.mem_mib / 1024:g}", f"    accel: {one.accel}", "    offers:",
                  f"      - {{ zone: a, price: {one.price / 1e6:.6f} }}"]
        if spot and one.name.startswith("c1"):
            price = one.price * SPOT_PERCENT // 100
            lines.append(f"      - {{ zone: a, market: spot, price: {price / 1e6:.6f} }}")
    return "\n".join(lines) + "\n"


def charge(per_hour, milliseconds):
    """What so much time costs under the rule above."""
    steps = -(-milliseconds // STEP_MS)
    paid = max(steps * STEP_MS, MINIMUM_MS)
    return per_hour * paid // HOUR_MS


def read_log(path):
    """The machines of the local cloud's log, by id: a dict of its columns each, from its last line;
    machines that never ran are left out."""
    machines = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["event"] in ("running", "gone") and row["billed_from"]:
                machines[row["id"]] = {**machines.get(row["id"], {}), **row}
    return {key: row for key, row in machines.items() if int(row["billed_from"]) >= 0}


def bill(machine):
    span = int(machine["billed_to"]) - int(machine["billed_from"])
    return charge(int(machine["price_microdollars_per_hour"]), span)


def fits(one, cpus, mem_mib, accel):
    return one.cpu >= cpus and one.mem_mib >= mem_mib and one.accel >= accel


def alone(cpus, mem_mib, accel, nodes, milliseconds, types=TYPES):
    """What one instance per job (and per node of a gang) costs: the cheapest that holds it, from the
    beginning of its boot to the end of the job."""
    price = min(one.price for one in types if fits(one, cpus, mem_mib, accel))
    return nodes * charge(price, SETUP_MS + milliseconds)


def peak(runs):
    """The most CPUs, MiB and accelerators that were in use at one time, each by itself. A run is
    (began, ended, cpus, mem_mib, accel), already for all its nodes."""
    steps = []
    for began, ended, *amounts in runs:
        steps.append((began, 1, amounts))
        steps.append((ended, -1, amounts))
    steps.sort(key=lambda step: (step[0], step[1]))
    now = [0, 0, 0]
    most = [0, 0, 0]
    for _, sign, amounts in steps:
        for kind, amount in enumerate(amounts):
            now[kind] += sign * amount
            most[kind] = max(most[kind], now[kind])
    return most


def fixed_cluster(most, milliseconds, types=TYPES):
    """What a cluster that holds the peak costs at the very least, if it stands all the time: the
    machines with accelerators, and for what they lack the cheapest CPU or memory there is, in
    fractions of machines. No real cluster is as cheap."""
    cpus, mem_mib, accel = most
    graphic = min((one for one in types if one.accel), key=lambda one: one.price / one.accel)
    count = -(-accel // graphic.accel)
    per_hour = count * graphic.price
    cpus = max(0, cpus - count * graphic.cpu)
    mem_mib = max(0, mem_mib - count * graphic.mem_mib)
    rest = max(cpus * min(one.price / one.cpu for one in types),
               mem_mib * min(one.price / one.mem_mib for one in types))
    return int((per_hour + rest) * milliseconds / HOUR_MS)
