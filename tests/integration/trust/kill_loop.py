#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""kill_loop - the loads under which running jobs were once requeued though nothing was lost, in a loop.

    kill_loop.py BUILD [--rounds 60] [--parallel 4] [--per-lab 5] [--burn N] [--load plain|guide|both]
                 [--keep FOLDER]

A round is three jobs of 20 s, then two of 100 s, then 30 of 45 s with '-c 1..5' and names that were not
seen before, and with the guide's settings one of 100 s with '-C large'. 'plain' has the eight types of the
tests and a limit of 20 machines; 'guide' the catalogue and settings of "Slurm in thirty minutes". The daemon's
timing is that of its defaults. --burn keeps so many processes busy beside it. Several labs run side by side,
each in namespaces of its own; a lab does --per-lab rounds one after the other, as the names learned count.

No machine is lost and nobody requeues anything here, so every job must begin exactly once. What began
twice is shown with the lines of slurmctld.log, and the logs are kept in --keep.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True

import trust_lab
from trust_lab import run, until

import books
import load
import slurm_lab

GUIDE_TYPES = """\
billing: { step: 1s, minimum: 60s }
boot: { acquire: 1s, setup: 2s }
types:
  - { name: small, cpu: 2, mem_gib: 4, price: 0.085 }
  - { name: medium, cpu: 4, mem_gib: 8, price: 0.17 }
  - { name: large, cpu: 8, mem_gib: 16, price: 0.34 }
"""
GUIDE = {"estimates": None, "limits": {"instances": 20, "dollars_per_hour": 10}, "timing": None, "policy": "stint",
         "engine": {"ignore_users": None, "ignore_partitions": None, "only_partitions": ["cloud"], "poll": None}}
PLAIN = {"limits": {"instances": 20, "dollars_per_hour": 0}, "timing": None}
JOBS = 35


class Lab(trust_lab.TrustLab):
    """Slurm as the guide leaves it: its own backfill, as of slurm_lab."""

    def __init__(self, folder, build, which):
        super().__init__(folder, build)
        self.which = which
        self.settings = trust_lab.merged(self.settings, GUIDE if which == "guide" else PLAIN)

    def conf(self):
        text = slurm_lab.Lab.conf(self).replace("MaxNodeCount=64", "MaxNodeCount=1024")
        return text + f"MinJobAge=600\nJobCompType=jobcomp/filetxt\nJobCompLoc={self.folder}/jobcomp.txt\n"

    def start_cloud(self, *options, spot=False, types=books.TYPES):
        if self.which == "guide":
            catalogue, books.catalogue = books.catalogue, lambda *_: GUIDE_TYPES
            try:
                super().start_cloud(*options)
            finally:
                books.catalogue = catalogue
        else:
            super().start_cloud(*options, spot=spot, types=types)


def submissions(which, number):
    """(those that come first, those that are long, the thirty)"""
    def job(seconds, cpus, name, *more):
        return load.Submission(0, "alice", ["-c", str(cpus), "--mem=500", "-J", name, "-p", "cloud", *more], seconds)

    picky = [job(100, 1, f"large{number}", "-C", "large")] if which == "guide" else []
    return ([job(20, 1, f"first{number}") for _ in range(3)], [job(100, 2, f"long{number}") for _ in range(2)], picky,
            [job(45, 1 + i % 5, f"new{number}-{i}") for i in range(30)])


def submit(lab, work):
    for one in work:
        why = lab.submit(one)
        if why:
            raise RuntimeError(why)


def submit_picky(lab, work):
    """Slurm refuses a feature that no node of the moment has: tried until one has it."""
    for one in work:
        until(lambda one=one: lab.submit(one) is None, 120, "a machine with the feature")


def one_round(lab, which, number):
    first, long, picky, rest = submissions(which, number)
    submit(lab, first)
    until(lambda: not lab.missing(first), 180, "the first jobs")
    submit(lab, long)
    time.sleep(3)
    submit(lab, rest)
    submit_picky(lab, picky)
    work = first + long + picky + rest
    until(lambda: not lab.missing(work), 600, f"the jobs of round {number}; missing {lab.missing(work)[:5]}")
    return work


def evidence(lab, twice):
    said = []
    for name, lines in twice.items():
        job = lines[0][1]
        said.append(f"{name}: {lines}")
        said += trust_lab.slurmctld_lines(lab, [f"JobId={job} ", f"JobId={job}\n", f"JobId={job}_"])[:25]
    return said


def inside(build, which, rounds, first, target):
    """In a lab of its own: says a line of JSON for each round."""
    lab = Lab(slurm_lab.enclose(), build, which)
    failed = False
    try:
        lab.begin(spot=False)
        known = set()
        for number in range(first, first + rounds):
            began = time.monotonic()
            fault = None
            try:
                one_round(lab, which, number)
            except (TimeoutError, RuntimeError) as error:
                fault = str(error)
            twice = {name: lines for name, lines in lab.restarted().items() if name not in known}
            known |= set(twice)
            requeues = len(trust_lab.slurmctld_lines(lab, ["Requeuing JobId", "requeue job"]))
            evictions = lab.ask("/v1/status").get("evictions") if lab.healthy() else None
            failed = failed or bool(twice or fault)
            print(json.dumps({"round": number, "load": which, "twice": len(twice), "fault": fault,
                              "seconds": round(time.monotonic() - began), "requeues so far": requeues,
                              "evictions": evictions, "evidence": evidence(lab, twice)}), flush=True)
            if fault:
                break
        if failed and target:
            trust_lab.keep(lab.folder, target, f"{which}-{first}")
    finally:
        lab.stop()
    return 1 if failed else 0


class Loop:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.rounds = []
        self.todo = []
        loads = ("plain", "guide") if options.load == "both" else (options.load,)
        left, turn = options.rounds, 0
        while left > 0:
            size = min(options.per_lab, left)
            self.todo.append((loads[turn % len(loads)], size, options.rounds - left))
            left -= size
            turn += 1

    def work(self):
        while True:
            with self.lock:
                if not self.todo:
                    return
                which, size, first = self.todo.pop(0)
            self.one_lab(which, size, first)

    def one_lab(self, which, size, first):
        heard = 0
        with subprocess.Popen([sys.executable, __file__, self.options.build, "--inside",
                               f"{which},{size},{first},{self.options.keep or ''}"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as lab:
            for line in lab.stdout:
                try:
                    told = json.loads(line)
                except ValueError:
                    print(f"# {line.rstrip()}", flush=True)
                    continue
                heard += 1
                self.tell(told)
        if heard < size:  # what ended early counts as a failure, or nothing was shown
            with self.lock:
                self.rounds.append({"twice": 0, "fault": f"the lab ended after {heard} of {size} rounds"})

    def tell(self, told):
        with self.lock:
            self.rounds.append(told)
            print(f"# round {told['round']} ({told['load']}): {told['seconds']} s, began twice: {told['twice']}, "
                  f"evictions {told['evictions']}{', ' + told['fault'] if told['fault'] else ''}", flush=True)
            for line in told["evidence"]:
                print(f"#   {line}", flush=True)


def burn(count):
    """Processes that keep processors busy; they end with us."""
    return [subprocess.Popen(["setpriv", "--pdeathsig", "KILL", sys.executable, "-c", "while True: pass"])
            for _ in range(count)]


def bound(failures, runs):
    """The 95 % upper bound (exact, one-sided) on the rate of failures, after so many in so many runs."""
    low, high = 0.0, 1.0
    for _ in range(60):
        rate = (low + high) / 2
        chance = sum(math.comb(runs, k) * rate ** k * (1 - rate) ** (runs - k) for k in range(failures + 1))
        low, high = (rate, high) if chance > 0.05 else (low, rate)
    return high


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--parallel", type=int, default=4)
    parser.add_argument("--per-lab", type=int, default=5)
    parser.add_argument("--burn", type=int, default=0)
    parser.add_argument("--load", choices=("plain", "guide", "both"), default="both")
    parser.add_argument("--keep")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    if options.inside:
        which, size, first, target = options.inside.split(",")
        return inside(options.build, which, int(size), int(first), target)
    reason = slurm_lab.why_not()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    if options.keep:
        options.keep = os.path.abspath(options.keep)
    print("1..1", flush=True)
    began = time.monotonic()
    burners = burn(options.burn)
    loop = Loop(options)
    workers = [threading.Thread(target=loop.work) for _ in range(options.parallel)]
    for one in workers:
        one.start()
        time.sleep(2)
    for one in workers:
        one.join()
    for one in burners:
        one.kill()
    bad = [one for one in loop.rounds if one["twice"] or one["fault"]]
    for one in bad:
        if "round" not in one:
            print(f"# {one['fault']}")
    count = len(loop.rounds)
    print(f"# {count} rounds of {JOBS} jobs in {time.monotonic() - began:.0f} s; {len(bad)} with a restart or another "
          f"fault; the rate is below {100 * bound(len(bad), count):.1f} % with 95 % confidence")
    good = not bad and count >= options.rounds
    print(f"{'ok' if good else 'not ok'} 1 - {options.rounds} rounds, and no job began twice")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
