#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare.py BUILD [--load burst|jobs|shrink] [--only karpenter|stint] - the same pods, the same types and prices: Karpenter alone, then
Stint renting through Karpenter, each in a control plane of its own.

burst    Pods of Deployments with 250m to 8 CPUs and 1 to 16 GiB for each CPU, all created at once (--pods, --shapes). What is measured:
         dollars per hour when all of them run, over the fluid bound (CPU and memory at the best prices that two types together give);
         the time until all run, and the processor time of the control plane, of kwok, of Karpenter and of Stint until then; and, with
         nothing changing for --quiet seconds more, how many pods were disrupted and what the nodes cost at the end.
shrink   As burst, every Deployment with a disruption budget of one pod; then each is scaled to a third. What is measured: dollars
         per hour --quiet seconds later, over the bound of what is left; how many pods were evicted; and the most pods that any
         Deployment lacked at a time, looked at every 2 s. Stint may move pods off a machine that has been little used for 10 s
         (clear_after), as Karpenter may (consolidateAfter).
jobs     --pods pods of Jobs over --over seconds, 30 to 300 s each, beside --services pods of Deployments. What is measured: dollars until
         all Jobs are complete, and how many of their pods were evicted, or created a second time. In Karpenter's run the Job pods are
         annotated with karpenter.sh/do-not-disrupt, as Karpenter's own guide advises for Jobs; without it consolidation evicts them again
         and again, so that some do not end. In Stint's run they are not: it evicts no pod of a Job by itself. There each new
         machine counts as a cent dearer than it is (machine_cost): the control plane, which limits both, has some 25 requests for each.
"""
import argparse
import collections
import json
import os
import random
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import kube_lab  # noqa: E402
import kube_world  # noqa: E402
from kube_lab import until  # noqa: E402

JOB_PODS = 10
KEPT = {"karpenter.sh/do-not-disrupt": "true"}
OPTIONS = {"shrink": {"clear_after": kube_world.CONSOLIDATE_AFTER}, "jobs": {"machine_cost": 10}}  # of Stint's policy


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


def begin(build, who, load):
    world = kube_world.KubeWorld(build)
    world.namespace("work", managed=who == "stint")
    if who == "stint":
        until(lambda: world.is_gated("work"), 30, "the policy")
        world.start_stintd(**OPTIONS.get(load, {}))
        time.sleep(3)
    else:
        world.node_pool()
    return world


def running(world):
    return sum(pod["status"]["phase"] == "Running" for pod in world.pods("work"))


def uids(world):
    return {pod["metadata"]["uid"] for pod in world.pods("work")}


def processor_s(world):
    """Of the lab's programs and their children, by name."""
    tick = os.sysconf("SC_CLK_TCK")
    parents, used, names = {}, {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
                name, rest = file.read().split("(", 1)[1].rsplit(")", 1)
        except OSError:
            continue
        fields = rest.split()
        parents[int(pid)], used[int(pid)], names[int(pid)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / tick, name
    ours = {child.pid: name for name, child in world.lab.children.items()}
    sums = collections.Counter()
    for pid, seconds in used.items():
        at = pid
        while at in parents and at not in ours:
            at = parents[at]
        if at in ours:
            sums[ours[at]] += seconds
    return sums


def evicted(world):
    """Names of pods that were evicted, and the server agreed."""
    with open(world.lab.path("audit.log"), encoding="utf-8") as log:
        events = [json.loads(line) for line in log if '"subresource":"eviction"' in line]
    return [event["objectRef"]["name"] for event in events if event["responseStatus"].get("code") == 201]


def burst(world, arguments, made, each):
    """Until all run; seconds."""
    began = time.monotonic()
    for i, (cpu, mem) in enumerate(made):
        world.deployment("work", f"d{i}", f"{cpu}m", f"{mem}Mi", each)
    until(lambda: running(world) == each * len(made), 900, "all pods", pause=1)
    return time.monotonic() - began


def measure_burst(world, who, arguments):
    made, each = shapes(arguments.shapes), arguments.pods // arguments.shapes
    took = burst(world, arguments, made, each)
    used = processor_s(world)
    ours = used.pop("stintd", 0)
    renter = used.pop("karpenter", 0)
    kwok = used.pop("kwok", 0)
    seen = there = uids(world)
    least = bound(world, each * sum(cpu for cpu, _ in made) / 1000, each * sum(mem for _, mem in made))
    cost = world.hourly()
    limit = time.monotonic() + arguments.quiet
    while time.monotonic() < limit:  # a connection that is not used for long is closed
        time.sleep(min(10, arguments.quiet))
        there = uids(world)
        seen = seen | there
    print(f"| {who} | {cost:.2f} | {cost / least:.3f} | {took:.0f} | {sum(used.values()):.0f} + {kwok:.0f} + {renter:.0f} + {ours:.1f} | "
          f"{len(seen - there)} | {world.hourly() / least:.3f} | {len(world.lab.items('/api/v1/nodes'))} |", flush=True)


def lacking(world, wanted):
    """The most pods that a Deployment has too few of."""
    ready = collections.Counter(pod["metadata"]["labels"]["app"] for pod in world.pods("work")
                                if pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"])
    return max(count - ready[name] for name, count in wanted.items())


def measure_shrink(world, who, arguments):
    made, each = shapes(arguments.shapes), arguments.pods // arguments.shapes
    for i in range(len(made)):
        world.lab.create("/apis/policy/v1/namespaces/work/poddisruptionbudgets", {
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": f"d{i}"},
            "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": f"d{i}"}}}})
    burst(world, arguments, made, each)
    left, before = max(1, each // 3), len(evicted(world))
    for i in range(len(made)):
        world.lab.patch(f"/apis/apps/v1/namespaces/work/deployments/d{i}", {"spec": {"replicas": left}})
    until(lambda: len(world.pods("work")) <= left * len(made) * 1.05, 120, "the shrinking", pause=1)
    wanted, worst = {f"d{i}": left for i in range(len(made))}, 0
    limit = time.monotonic() + arguments.quiet
    while time.monotonic() < limit:
        worst = max(worst, lacking(world, wanted))
        time.sleep(2)
    least = bound(world, left * sum(cpu for cpu, _ in made) / 1000, left * sum(mem for _, mem in made))
    cost = world.hourly()
    print(f"| {who} | {cost:.2f} | {cost / least:.3f} | {len(evicted(world)) - before} | {worst} | "
          f"{len(world.lab.items('/api/v1/nodes'))} |", flush=True)


def measure_jobs(world, who, arguments):
    rng = random.Random(2)
    each = 20
    for i in range(arguments.services // each):
        world.deployment("work", f"s{i}", f"{rng.choice([250, 500, 1000])}m", f"{rng.choice([512, 1024, 2048])}Mi", each)
    jobs = sorted((rng.uniform(0, arguments.over), rng.choice([250, 500, 1000, 2000, 4000]), rng.choice([1, 2, 4, 8]), rng.randint(30, 300))
                  for _ in range(arguments.pods // JOB_PODS))
    began = at = time.monotonic()
    dollars, sent, done = 0, 0, 0
    while done < len(jobs):
        time.sleep(1)
        now = time.monotonic()
        dollars, at = dollars + world.hourly() * (now - at) / 3600, now
        while sent < len(jobs) and jobs[sent][0] <= now - began:
            _, cpu, ratio, seconds = jobs[sent]
            world.job("work", f"j{sent}", f"{cpu}m", f"{cpu * ratio * 1024 // 1000}Mi", pods=JOB_PODS, seconds=seconds,
                      annotations=KEPT if who == "karpenter" else None)
            sent += 1
        done = sum(any(one["type"] == "Complete" for one in job["status"].get("conditions", []))
                   for job in world.lab.items(kube_world.JOB.format("work")))
        if now - began > arguments.over + 1800:
            raise RuntimeError(f"{len(jobs) - done} Jobs are not complete")
    gone = evicted(world)
    print(f"| {who} | {dollars:.3f} | {time.monotonic() - began:.0f} | {sum(name.startswith('j') for name in gone)} | "
          f"{world.lab.pods_of_jobs() - JOB_PODS * len(jobs)} | {sum(name.startswith('s') for name in gone)} |", flush=True)


LOADS = {
    "burst": (measure_burst, ("$/h when all run", "over the bound", "s until all run",
                              "processor s until then: control plane + kwok + Karpenter + Stint", "pods disrupted after",
                              "over the bound then", "nodes")),
    "shrink": (measure_shrink, ("$/h after it", "over the bound", "pods evicted", "most that a Deployment lacked", "nodes")),
    "jobs": (measure_jobs, ("dollars", "s until all were complete", "Job pods evicted", "Job pods created again", "service pods evicted")),
}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--load", choices=sorted(LOADS), default="burst")
    parser.add_argument("--pods", type=int, default=1000)
    parser.add_argument("--shapes", type=int, default=100)
    parser.add_argument("--services", type=int, default=200)
    parser.add_argument("--over", type=int, default=600)
    parser.add_argument("--quiet", type=int, default=600)
    parser.add_argument("--only", choices=["karpenter", "stint"])
    arguments = parser.parse_args()
    reason = kube_lab.why_not()
    if reason:
        sys.exit(reason)
    load, columns = LOADS[arguments.load]
    print(" ".join(sys.argv[2:]))
    print("| | " + " | ".join(columns) + " |\n|" + "---|" * (len(columns) + 1), flush=True)
    for who in [arguments.only] if arguments.only else ["karpenter", "stint"]:
        world = begin(arguments.build, who, arguments.load)
        try:
            load(world, who, arguments)
        finally:
            world.lab.stop()


if __name__ == "__main__":
    main()
