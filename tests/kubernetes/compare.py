#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py BUILD [--pods 1000] [--shapes 100] [--quiet SECONDS] [--only karpenter|stint] - the same pods, the same types and
prices: Karpenter alone, then Stint renting through Karpenter, each in a control plane of its own.

Pods are of Deployments with 250m to 8 CPUs and 1 to 16 GiB for each CPU, all created at once. What is measured: dollars per hour
when all of them run, over the fluid bound (CPU and memory at the best prices that two types together give); the time until all
run; and, with nothing changing for --quiet seconds more, how many pods were disrupted and what the nodes cost at the end.
"""
import argparse
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import kube_lab  # noqa: E402
import kube_world  # noqa: E402
from kube_lab import until  # noqa: E402


def shapes(count, seed=1):
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        cpu = rng.choice([250, 500, 1000, 2000, 4000, 8000])
        made.append((cpu, int(cpu / 1000 * 1024 * rng.choice([1, 2, 4, 8, 16]))))
    return made


def bound(world, cpu, mem):
    """The cheapest mixture of two types, as fractions, that has so many CPUs and MiB: the optimum of the linear program."""
    types = [(*world.usable(one), world.price[one["name"]]) for one in world.types]
    best = min(price * max(cpu / c, mem / m) for c, m, price in types)
    for i, (c1, m1, p1) in enumerate(types):
        for c2, m2, p2 in types[:i]:
            det = c1 * m2 - c2 * m1
            if det:
                x, y = (cpu * m2 - mem * c2) / det, (c1 * mem - m1 * cpu) / det
                if x >= 0 and y >= 0:
                    best = min(best, x * p1 + y * p2)
    return best


def node_pool(world):
    world.lab.create("/apis/karpenter.sh/v1/nodepools", {
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
        "spec": {"disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "10s",
                                "budgets": [{"nodes": "10%"}]},
                 "template": {"spec": {
                     "expireAfter": "Never",
                     "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                     "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                                      {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}}}})


def measure(build, who, arguments):
    world = kube_world.KubeWorld(build)
    made = shapes(arguments.shapes)
    each = arguments.pods // arguments.shapes
    try:
        world.namespace("work", managed=who == "stint")
        if who == "stint":
            until(lambda: world.is_gated("work"), 30, "the policy")
            world.start_stintd()
            time.sleep(3)
        else:
            node_pool(world)
        began = time.monotonic()
        for i, (cpu, mem) in enumerate(made):
            world.deployment("work", f"d{i}", f"{cpu}m", f"{mem}Mi", each)

        def running():
            return sum(pod["status"]["phase"] == "Running" for pod in world.pods("work"))

        until(lambda: running() == each * len(made), 900, "all pods", pause=1)
        took = time.monotonic() - began
        first = {pod["metadata"]["uid"] for pod in world.pods("work")}
        least = bound(world, each * sum(cpu for cpu, _ in made) / 1000, each * sum(mem for _, mem in made))
        cost = world.hourly()
        time.sleep(arguments.quiet)
        later = {pod["metadata"]["uid"] for pod in world.pods("work")}
        print(f"| {who} | {cost:.2f} | {cost / least:.3f} | {took:.0f} | {len(first - later)} | {world.hourly() / least:.3f} | "
              f"{len(world.lab.items('/api/v1/nodes'))} |", flush=True)
    finally:
        world.lab.stop()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--shapes", type=int, default=100)
    parser.add_argument("--quiet", type=int, default=600)
    parser.add_argument("--only", choices=["karpenter", "stint"])
    arguments = parser.parse_args()
    reason = kube_lab.why_not()
    if reason:
        sys.exit(reason)
    print(f"{arguments.pods} pods of {arguments.shapes} shapes, nothing changing for {arguments.quiet} s after")
    print("| | $/h when all run | over the bound | s until all run | pods disrupted after | over the bound then | nodes |\n"
          "|---|---|---|---|---|---|---|")
    for who in [arguments.only] if arguments.only else ["karpenter", "stint"]:
        measure(arguments.build, who, arguments)


if __name__ == "__main__":
    main()
