#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""promise.py BUILD --history PRICES.csv [--begin UNIX_TIME] [--minutes 10] [--pace 100] [--replicas 300] [--only spares|promise|spot] -
a Deployment whose nodes vanish by a history of spot prices, with a promise and without.

PRICES.csv (docs/reference/files/prices-csv.md, plain) has c3.xlarge, d2.8xlarge, g2.2xlarge, m3.medium or r3.large in several zones: the series of
2015, say. An offer is gone while its price is above that on demand: its nodes vanish without a notice, and claims of it are refused as
Karpenter does it when there is no capacity, by a claim that is deleted before it has a machine. Time passes --pace times as fast.
What is paid is the price of the series, for as long as a claim is there. Beside the service, Jobs of negative priority come all the time.

spares   A promise for --replicas pods, and as many replicas more as its pool has room for.
promise  A promise for --replicas pods, and no more than these.
spot     No promise.

Measured: the share of the time with fewer than --replicas ready, and with nodes for fewer; dollars over those of the cheapest machines
on demand that hold --replicas; batch pods that completed.
"""
import argparse
import bisect
import collections
import csv
import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import kube_lab  # noqa: E402
import kube_world  # noqa: E402
from kube_lab import until  # noqa: E402

# CPUs, GiB and dollars per hour on demand, as of 2015; accelerators are left aside.
TYPES = {"c3.xlarge": (4, 7.5, 0.21), "d2.8xlarge": (36, 244, 5.52), "g2.2xlarge": (8, 15, 0.65), "m3.medium": (1, 3.75, 0.07),
         "r3.large": (2, 15, 0.175)}
POD_CPU, POD_MIB = 0.4, 900
STEP = 0.5
WEB = "/apis/apps/v1/namespaces/prod/deployments/web"


class Market:
    """Prices by offer, and how long they were above that on demand."""

    def __init__(self, path, begin, pace):
        self.begin, self.pace, self.series = begin, pace, collections.defaultdict(list)
        with open(path, encoding="utf-8") as file:
            for row in csv.DictReader(file):
                kind = row.get("type") or row["instance_type"]
                if kind in TYPES:
                    self.series[kind, row.get("zone") or row["az"]].append(
                        (float(row.get("time") or row["unix_time"]), float(row.get("price") or row["spot_price"])))
        for series in self.series.values():
            series.sort()

    def price(self, offer, elapsed):
        series = self.series[offer]
        return series[max(0, bisect.bisect_right(series, (self.begin + elapsed * self.pace, 1e9)) - 1)][1]

    def gone(self, elapsed):
        return {offer for offer in self.series if self.price(offer, elapsed) > TYPES[offer[0]][2]}

    def median(self, offer):
        """Of the week before it begins, where it was not gone."""
        seen = sorted(price for at, price in self.series[offer]
                      if self.begin - 7 * 86400 <= at <= self.begin and price <= TYPES[offer[0]][2])
        return seen[len(seen) // 2] if seen else TYPES[offer[0]][2]

    def losses(self, offer, days=28):
        """A month, in the weeks before it begins."""
        count, was_gone = 0, False
        for at, price in self.series[offer]:
            is_gone = price > TYPES[offer[0]][2]
            count += is_gone and not was_gone and self.begin - days * 86400 <= at <= self.begin
            was_gone = is_gone
        return count * 30 / days


def offering(price, market, zone):
    return {"Price": price, "Available": True, "Requirements": [
        {"key": "karpenter.sh/capacity-type", "operator": "In", "values": [market]},
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}


class World(kube_world.KubeWorld):
    market = None

    def load_types(self):
        zones = sorted({zone for _, zone in self.market.series})
        return [{"name": name, "architecture": "amd64", "operatingSystems": ["linux"],
                 "resources": {"cpu": str(cpu), "memory": f"{int(gib * 1024)}Mi", "ephemeral-storage": "100Gi", "pods": "110"},
                 "offerings": [offering(price, market, zone) for zone in zones for market in ("on-demand", "spot")]}
                for name, (cpu, gib, price) in TYPES.items()]

    def print_catalogue(self):
        lines = ["billing: { step: 1s, minimum: 0s }", "boot: { acquire: 1s, setup: 2s, release: 1s }", "types:"]
        for one in self.types:
            cpu, mem = self.usable(one)
            offers = [f"{{ zone: {zone}, price: {price} }}" for _, zone in sorted(self.market.series) if _ == one["name"]
                      for price in [TYPES[one["name"]][2]]]
            offers += [f"{{ market: spot, zone: {zone}, price: {self.market.median((kind, zone)):.4f}, interruption: [20, 100] }}"
                       for kind, zone in sorted(self.market.series) if kind == one["name"]]
            lines.append(f"  - {{ name: {one['name']}, cpu: {cpu:g}, mem_gib: {mem / 1024:.9g}, offers: [ {', '.join(offers)} ] }}")
        return "\n".join(lines) + "\n"


def refuse(world, gone):
    """Claims of these offers get no machine; they are deleted when they are seen."""
    names = json.dumps(sorted(f"{kind}/{zone}/spot" for kind, zone in gone) or ["none"])
    world.refuse(f"object.metadata.annotations['stint.dev/offer'] in {names}")


def offer_of(claim):
    kind, zone, market = claim["metadata"]["annotations"]["stint.dev/offer"].split("/")
    return (kind, zone), market


def is_ready(claim):
    return any(one["type"] == "Initialized" and one["status"] == "True" for one in claim.get("status", {}).get("conditions", []))


def room_on(kind):
    cpu, gib, _ = TYPES[kind]
    return int(min((cpu - 0.1) / POD_CPU, (gib * 1024 - 10) / POD_MIB))


def ready(world):
    return world.lab.get(WEB)["status"].get("readyReplicas", 0)


def add_spares(world):
    """As many replicas as the machines of the pool have room for."""
    until(lambda: all(map(is_ready, world.claims())), 60, "all machines")
    room = sum(room_on(offer_of(claim)[0][0]) for claim in world.claims())
    world.lab.patch(WEB, {"spec": {"replicas": room}})
    until(lambda: ready(world) >= room, 200, f"{room} replicas", pause=1)
    print(f"the pool has room for {room}")


class Measure:
    def __init__(self, world, market, arguments):
        self.world, self.market, self.arguments = world, market, arguments
        self.short_pods = self.short_nodes = self.time = self.dollars = self.rebuilt = 0.0
        self.vanished = self.refused = self.starts = 0
        self.gone = set()

    def step(self, elapsed, passed):
        world, need = self.world, self.arguments.replicas
        gone = self.market.gone(elapsed)
        if gone != self.gone:
            refuse(world, gone)
            self.gone = gone
        room = 0
        for claim in world.claims():
            offer, market = offer_of(claim)
            name, node = claim["metadata"]["name"], claim.get("status", {}).get("nodeName")
            self.dollars += passed / 3600 * (self.market.price(offer, elapsed) if market == "spot" else TYPES[offer[0]][2])
            if market == "spot" and offer in gone:
                self.vanished, self.refused = self.vanished + bool(node), self.refused + (not node)
                try:
                    if node:
                        world.vanish(node)
                    else:
                        world.lab.ask("DELETE", f"{kube_world.CLAIMS}/{name}", {})
                except kube_lab.Refused:
                    pass
            elif is_ready(claim):
                room += room_on(offer[0])
        self.time += passed
        self.short_pods += passed * (ready(world) < need)
        self.short_nodes += passed * (room < need)


def feed(world, stop):
    """Some batch work all the time."""
    number = 0
    while not stop.wait(5):
        world.job("batch", f"low-{number}", "200m", "256Mi", pods=5, seconds=10, jitter=10, priority="low")
        number += 1


def measure(build, who, market, arguments):
    World.market = market
    world = World(build)
    stop = threading.Event()
    try:
        world.lab.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "low"}, "value": -10})
        refuse(world, set())
        for space in ("prod", "batch"):
            world.namespace(space)
        until(lambda: world.is_gated("prod"), 30, "the policy")
        world.start_stintd()
        annotations = {"stint.dev/availability": arguments.availability, "stint.dev/capacity": str(arguments.replicas)}
        world.deployment("prod", "web", f"{int(POD_CPU * 1000)}m", f"{POD_MIB}Mi", arguments.replicas,
                         annotations if who != "spot" else None)
        until(lambda: ready(world) == arguments.replicas, 400, "all replicas", pause=1)
        if who == "spares":
            add_spares(world)
        feeder = kube_world.KubeWorld.__new__(kube_world.KubeWorld)  # with a connection of its own
        feeder.lab = kube_lab.KubeLab.__new__(kube_lab.KubeLab)
        feeder.lab.__dict__.update(world.lab.__dict__, connection=None)
        threading.Thread(target=feed, args=(feeder, stop), daemon=True).start()
        measured = Measure(world, market, arguments)
        began = last = time.monotonic()
        while last - began < 60 * arguments.minutes:
            time.sleep(STEP)
            now = time.monotonic()
            measured.step(now - began, now - last)
            last = now
        stop.set()
        jobs = world.lab.items(kube_world.JOB.format("batch"))
        done = sum(job["status"].get("succeeded", 0) for job in jobs)
        on_demand = min(price / room_on(kind) for kind, (_, _, price) in TYPES.items())
        bill = on_demand * arguments.replicas * measured.time / 3600
        print(f"| {who} | {measured.short_pods / measured.time:.2%} | {measured.short_nodes / measured.time:.2%} | "
              f"{measured.dollars / bill:.3f} | {done} of {5 * len(jobs)} | {measured.vanished} | {measured.refused} |", flush=True)
    finally:
        stop.set()
        world.lab.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--history", required=True)
    parser.add_argument("--begin", type=float, default=1432000000)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--pace", type=float, default=100)
    parser.add_argument("--replicas", type=int, default=300)
    parser.add_argument("--availability", default="99.9%")
    parser.add_argument("--only", choices=["spares", "promise", "spot"])
    arguments = parser.parse_args()
    reason = kube_lab.why_not()
    if reason:
        sys.exit(reason)
    market = Market(arguments.history, arguments.begin, arguments.pace)
    ends = [market.gone(seconds) for seconds in range(int(60 * arguments.minutes))]
    print(f"{arguments.replicas} replicas at {arguments.availability}, {arguments.minutes:g} minutes at {arguments.pace:g} times the pace; "
          f"{sum(len(b - a) for a, b in zip(ends, ends[1:]))} times an offer is gone")
    print("| | fewer ready replicas | nodes for fewer | of the bill on demand | batch pods done | nodes vanished | claims refused |\n"
          "|---|---|---|---|---|---|---|")
    for who in [arguments.only] if arguments.only else ["spares", "promise", "spot"]:
        measure(arguments.build, who, market, arguments)


if __name__ == "__main__":
    main()
