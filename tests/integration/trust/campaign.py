#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""campaign - stintd on a real Slurm under load while things go wrong, many times.

    campaign.py BUILD [--runs 200] [--jobs 120,180,240,300] [--kinds EmptyList,slurm,...] [--pairs 0.5]
                [--seed 1] [--parallel 6] [--compressed] [--keep FOLDER] [--list]

Each run is a cluster in namespaces of its own: slurmctld, the local cloud, stintd with the settings that are
shipped, and a load of jobs of two users. One kind of fault (faults.py), or two at once in the share --pairs of the
runs, strikes at moments that the run's seed chooses; kinds take turns, so that each has its share. Seeds are --seed, --seed + 1,
...; '--runs 1 --seed N' with the same options repeats a run, as far as a live system can be repeated.

What is judged in the end, by the records of the cloud and of Slurm only, is in judge.py. A line is printed for each
run, a table by kind in the end, and the 95 % upper bound on the rate of failures that follows (exact; after n
runs without one it is about 3/n). The logs of runs that failed are kept in --keep.

--compressed: audits every 10 s, a shorter load and shorter faults, for the build server.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True

import trust_lab
from trust_lab import now_ms

import faults
import judge
import load
import slurm_lab
from kill_loop import bound

# Machines that may be rented, for so many jobs: some more than the load takes when nothing goes wrong, so that what rents its
# fleet twice is above it, and no machine stands empty because others of a gang may not be rented.
LIMITS = {60: 30, 120: 40, 180: 50, 240: 60, 300: 70}
AFTER_S = 420       # for the jobs to end once the last fault has


class Strike:
    """One fault of one run; times in ms."""

    def __init__(self, fault, at):
        self.fault = fault
        self.at = at         # seconds after the beginning of the load
        self.began = None
        self.ended = None
        self.seen = {}       # what was found meanwhile: {kind: seconds}

    def told(self, watch):
        """For rule 8 of the oracle: which finding it must have led to; None: none."""
        since = self.fault.since(self.began)
        if not self.fault.findings or since is None:
            return None
        self.seen = watch.kinds_since(since)
        kind = next((kind for kind in self.fault.findings if kind in self.seen), "/".join(self.fault.findings))
        return {"kind": kind, "begin": since, "end": self.ended, "log": self.fault.log}


class Run:
    def __init__(self, lab, seed, kinds, jobs, compressed):
        self.lab = lab
        self.rng = random.Random(seed)
        self.compressed = compressed
        self.strikes = []
        span = 40 if compressed else 100
        for kind in kinds:
            for _ in range(self.rng.randint(*kind.times)):
                fault = kind(lab, self.rng)
                if compressed:
                    fault.seconds = min(fault.seconds, 45)
                self.strikes.append(Strike(fault, self.rng.uniform(4, span)))
        last = max(one.at + one.fault.seconds for one in self.strikes)
        self.work = load.make(seed, jobs=jobs, rest=max(span, last))
        self.faults = []   # what is wrong in the end

    def strike(self):
        now = time.monotonic() - self.began
        self.lab.supervise()
        for one in self.strikes:
            if one.began is None and one.at <= now:
                self.begin(one, now)
            elif one.began is not None and one.ended is None and now_ms() - one.began >= one.fault.seconds * 1000:
                one.fault.end()
                one.ended = now_ms()
                self.lab.note(f"end {one.fault.label()}")

    def begin(self, one, now):
        at = now_ms()
        try:
            good = one.fault.begin()
        except (RuntimeError, OSError, subprocess.SubprocessError):
            good = False
        if good:
            one.began = at
            self.lab.note(f"begin {one.fault.label()} {one.fault.seconds:.0f} s")
        else:
            one.at = now + 1

    def is_over(self):
        """What could never begin, as nothing ran any more, is left out."""
        return all(one.ended is not None or one.began is None for one in self.strikes)

    def go(self):
        self.began = time.monotonic()
        self.lab.submit_all(self.work, self.strike)
        end = time.monotonic() + AFTER_S
        while self.lab.missing(self.work) or not self.is_over():
            self.strike()
            if not self.is_over():
                end = max(end, time.monotonic() + AFTER_S)
            if time.monotonic() > end:
                break
            time.sleep(0.1)
        took = time.monotonic() - self.began
        self.strikes = [one for one in self.strikes if one.began is not None]
        if not self.strikes:
            self.faults.append("no fault could begin")
            return took
        shown = [told for told in (one.told(self.lab.watch) for one in self.strikes) if told]
        late_s = max(one.fault.slack for one in self.strikes) + sum(one.fault.seconds for one in self.strikes
                                                                    if one.fault.blocks)
        wrong, self.notes = judge.judge(self.lab, self.work, shown=shown, late_s=late_s)
        self.faults += wrong
        if self.unexpected_ends():
            self.faults.append(f"stintd ended by itself: {self.unexpected_ends()}")
        return took

    def unexpected_ends(self):
        return [status for _, status, allowed in self.lab.ended if not allowed]


def by_turns(groups):
    """One of each group, then the next of each: a short campaign has something of all."""
    longest = max(len(group) for group in groups)
    return [group[i] for i in range(longest) for group in groups if i < len(group)]


def kinds_by_name(text):
    """The faults that a list of names and groups means; all, by turns, if it is empty."""
    if not text:
        return by_turns(list(faults.FAULTS.values()))
    found = []
    for name in text.split(","):
        if name in faults.FAULTS:
            found += faults.FAULTS[name]
        else:
            all_of_it = {one.label(): one for group in faults.FAULTS.values() for one in group}
            if name not in all_of_it:
                sys.exit(f"no kind '{name}'; there are: {', '.join([*faults.FAULTS, *all_of_it])}")
            found.append(all_of_it[name])
    return found


def inside(options):
    """One run, in a lab of its own; says one line of JSON."""
    seed, jobs, kinds = options.inside.split(":")
    kinds = kinds_by_name(kinds)
    most = LIMITS.get(int(jobs), max(LIMITS.values()))
    lab = trust_lab.TrustLab(slurm_lab.enclose(), options.build, limits={"instances": most, "dollars_per_hour": most},
                             **(trust_lab.COMPRESSED if options.compressed else {}))
    began = time.monotonic()
    told = {"seed": int(seed), "kinds": [one.label() for one in kinds], "jobs": int(jobs)}
    try:
        if any(getattr(one, "preload", False) for one in kinds):
            lab.build_preload()
        lab.begin(cloud=("--seed", seed))
        one = Run(lab, int(seed), kinds, int(jobs), options.compressed)
        told["load"] = round(one.go())
        told["faults"] = one.faults
        told["strikes"] = dict(collections.Counter(strike.fault.label() for strike in one.strikes))
        told["found"] = {strike.fault.label(): {kind: round(after) for kind, after in strike.seen.items()}
                         for strike in one.strikes if strike.seen}
        told["ctld crashed"] = len(lab.crashes)
        told.update(judge.figures(lab))
    except Exception as fault:  # pylint: disable=broad-except
        told["faults"] = [f"{type(fault).__name__}: {fault}"]
    told["seconds"] = round(time.monotonic() - began)
    if told["faults"] and options.keep:
        told["logs"] = trust_lab.keep(lab.folder, options.keep, f"{seed}-{'+'.join(told['kinds'])}")
    lab.stop()
    print("RESULT " + json.dumps(told), flush=True)
    return 1 if told["faults"] else 0


def draw(options):
    """(seed, jobs, names of the faults) of each run: every kind in its turn, and a second one by chance."""
    kinds = kinds_by_name(options.kinds)
    every = kinds_by_name("")
    sizes = [int(one) for one in options.jobs.split(",")]
    found = []
    for number in range(options.runs):
        seed = options.seed + number
        rng = random.Random(seed * 7919)
        first = kinds[number % len(kinds)]
        names = [first.label()]
        if rng.random() < options.pairs:
            names.append(rng.choice([one for one in every if one is not first and
                                     (one.clash is None or one.clash != first.clash)]).label())
        found.append((seed, rng.choice(sizes), ",".join(names)))
    return found


class Campaign:
    def __init__(self, options):
        self.options = options
        self.todo = draw(options)
        self.runs = []
        self.lock = threading.Lock()

    def work(self):
        while True:
            with self.lock:
                if not self.todo:
                    return
                todo = self.todo.pop(0)
            self.tell(self.one(todo))

    def one(self, todo):
        command = [sys.executable, __file__, self.options.build, "--inside", ":".join(map(str, todo))]
        command += ["--compressed"] if self.options.compressed else []
        command += ["--keep", self.options.keep] if self.options.keep else []
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1800)
            said = done.stdout.splitlines()
        except subprocess.TimeoutExpired:
            said = []
        for line in said:
            if line.startswith("RESULT "):
                return json.loads(line[7:])
        return {"seed": todo[0], "jobs": todo[1], "kinds": todo[2].split(","), "seconds": 0,
                "faults": [f"the lab ended without a result: {said[-3:]}"]}

    def tell(self, told):
        with self.lock:
            self.runs.append(told)
            bad = sum(bool(one["faults"]) for one in self.runs)
            print(f"# {len(self.runs)}/{self.options.runs} seed {told['seed']} {'+'.join(told['kinds'])} {told['jobs']} jobs "
                  f"{told['seconds']} s, machines {told.get('machines')} (most {told.get('most')}): "
                  f"{'FAILED' if told['faults'] else 'good'}; {bad} failed so far", flush=True)
            for fault in told["faults"]:
                print(f"#   {fault}", flush=True)

    def table(self):
        rows = collections.defaultdict(lambda: [0, 0, 0, 0])
        late = collections.defaultdict(list)
        for one in self.runs:
            for kind in one["kinds"]:
                row = rows[kind]
                row[0] += 1
                row[1] += one["jobs"]
                row[2] += one.get("strikes", {}).get(kind, 0)
                row[3] += bool(one["faults"])
                late[kind] += [min(seen.values()) for name, seen in one.get("found", {}).items() if name == kind and seen]
        print(f"# {'kind':20} {'runs':>5} {'jobs':>7} {'faults':>7} {'failed':>7}")
        for group, kinds in faults.FAULTS.items():
            for kind in kinds:
                if kind.label() in rows:
                    row = rows[kind.label()]
                    print(f"# {kind.label():20} {row[0]:5} {row[1]:7} {row[2]:7} {row[3]:7}   {group}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--jobs", default="120,180,240,300")
    parser.add_argument("--kinds", default="")
    parser.add_argument("--pairs", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=6)
    parser.add_argument("--compressed", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--list", action="store_true", help="say which runs these would be")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    options.keep = os.path.abspath(options.keep) if options.keep else None
    if options.inside:
        return inside(options)
    if options.list:
        for one in draw(options):
            print(*one)
        return 0
    reason = slurm_lab.why_not()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    print("1..1", flush=True)
    began = time.monotonic()
    campaign = Campaign(options)
    workers = [threading.Thread(target=campaign.work) for _ in range(options.parallel)]
    for one in workers:
        one.start()
        time.sleep(3)  # so that they do not all begin at once
    for one in workers:
        one.join()
    campaign.table()
    bad = sum(bool(one["faults"]) for one in campaign.runs)
    jobs = sum(one["jobs"] for one in campaign.runs)
    mean = sum(one["seconds"] for one in campaign.runs) / max(1, len(campaign.runs))
    print(f"# {len(campaign.runs)} runs, {jobs} jobs, {time.monotonic() - began:.0f} s, {mean:.0f} s a run; {bad} failed: the rate "
          f"of failures is below {100 * bound(bad, len(campaign.runs)):.1f} % with 95 % confidence")
    print(f"{'not ok' if bad else 'ok'} 1 - {options.runs} runs: nothing twice, nothing lost, nothing left, books equal")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
