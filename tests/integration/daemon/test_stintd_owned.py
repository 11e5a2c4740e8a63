#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_stintd_owned - owned nodes and a cloud on a real Slurm: 'test_stintd_owned.py BUILD [JOBS|shadow]'.

BUILD is a build folder with -Dslurm=enabled. Four nodes of four CPUs are Slurm's own; jobs of one or two CPUs come half as fast again as
these can run them. An hour is scaled to six minutes: 'burst: after 5m' is 30 s here, while the time that Slurm and the daemon take to start
the next job when one has ended is what it is, about a second. With 300 jobs, which take twelve minutes, the same jobs also run without owned
nodes, and the figures are held; the few of the default show that it works.

What is measured comes from the jobs' own notes of when and where they ran, and from the cloud's log.

With 'shadow', stintd only watches a Slurm that has no gate and nothing but the owned nodes: its forecast uses them first.
"""
import random
import sys
import time

sys.dont_write_bytecode = True

import books
import lab_tap
import load
import stint_lab
from stint_lab import run, until

NODES = 4
CPUS = 4
BOOT = (books.ACQUIRE_MS + books.SETUP_MS) / 1000
SLACK = 10  # seconds: that Slurm, the daemon and a busy host take, which are not scaled
FULL = 300
OWNED = f', owned: [{{ nodes: "own[1-{NODES}]", name: own, cpu: {CPUS}, mem_gib: 8 }}], burst: {{ after: %ds }}'
TYPES = (books.Type("c1.medium", 2, 4096, 0, 85000), books.Type("c1.2xlarge", 8, 16384, 0, 340000))


def make(jobs):
    """Jobs of 1.5 CPUs and 15 seconds on average, one every 0.94 seconds: 24 CPUs are asked for, and 16 are owned."""
    rng = random.Random(7)
    work = []
    for i in range(jobs):
        one = load.Submission(i * 0.94, "alice", [f"-c{1 + i % 2}", "--mem=500", "-J", f"job{i % 2}"], rng.uniform(12, 18))
        one.cpus = 1 + i % 2
        work.append(one)
    return work


class World:
    def __init__(self, build, folder, jobs="24"):
        self.lab = stint_lab.StintLab(folder, build)
        self.jobs = int(jobs)
        self.burst = 30 if self.jobs >= FULL else 5  # seconds; with a few jobs nobody would wait for longer
        self.work = []
        self.rows = []
        self.owned_cost = 0

    def start(self):
        self.lab.start()
        for i in range(1, NODES + 1):
            self.lab.add_node(f"own{i}", f"CPUs={CPUS} RealMemory=8192")
        until(lambda: len(set(run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split())) == NODES, 60, "the owned nodes")
        self.lab.start_cloud(spot=False, types=TYPES)
        self.lab.start_stintd(engine=OWNED % self.burst)
        until(lambda: self.lab.healthy(), 20, "stintd")

    def run_work(self):
        """Submit, wait for all; rows of (submitted, began, ended, node, cpus), in ms."""
        work = make(self.jobs)
        began = time.monotonic()
        rows = []
        for one in work:
            while time.monotonic() - began < one.at:
                time.sleep(0.02)
            one.submitted = time.time_ns() // 1000000
            why = self.lab.submit(one)
            assert why is None, why
        until(lambda: not self.lab.missing(work), 400, "all jobs")
        for one in work:
            with open(f"{self.lab.out}/began.{one.id}_", encoding="utf-8") as file:
                lines = file.read().splitlines()
            assert len(lines) == 1, f"job {one.id} began {len(lines)} times"
            at, _, node = lines[0].split()
            rows.append((one.submitted, int(at), self.lab.moment(f"done.{one.id}_"), node, one.cpus))
        until(lambda: not self.lab.living(), 150, "the return of all machines")
        self.work = work
        return rows, sum(books.bill(one) for one in self.lab.machines().values())

    # -- the points --

    def run_owned(self):
        self.rows, self.owned_cost = self.run_work()

    def first(self):
        """What comes while the owned nodes have room runs there, and nothing is rented before its time."""
        head = self.rows[:NODES * 2]
        assert all(node.startswith("own") for *_, node, _ in head), head
        rented = [began - came for came, began, _, node, _ in self.rows if not node.startswith("own")]
        print(f"# {len(rented)} of {len(self.rows)} jobs on rented machines, on {len(self.lab.machines())} machines")
        boots = [int(one["billed_from"]) for one in self.lab.machines().values()]
        assert boots and min(boots) - self.rows[0][0] >= self.burst * 1000, boots

    def waits(self):
        longest = max(began - came for came, began, *_ in self.rows) / 1000
        print(f"# the longest wait was {longest:.1f} s, of {self.burst} s and {BOOT} s of boot")
        assert longest <= self.burst + BOOT + SLACK

    def busy(self):
        """The share of the owned CPUs in use, over all moments in which a job waited."""
        marks = sorted({at for row in self.rows for at in row[:3]})
        used = total = 0
        for begin, end in zip(marks, marks[1:]):
            if not any(came <= begin < began for came, began, *_ in self.rows):
                continue
            cpus = sum(row[4] for row in self.rows if row[3].startswith("own") and row[1] <= begin < row[2])
            used += cpus * (end - begin)
            total += NODES * CPUS * (end - begin)
        share = used / total if total else 1
        print(f"# owned CPUs were in use for {share:.3f} of the time in which jobs waited ({total / NODES / CPUS / 1000:.0f} s)")
        if self.jobs >= FULL:
            assert share >= 0.9

    def stay(self):
        states = run("sinfo", "-h", "-N", "-o", "%N %T").splitlines()
        owned = [line for line in states if line.startswith("own")]
        assert len(set(owned)) == NODES and all(line.endswith("idle") for line in owned), owned

    def dollars(self):
        """The same jobs without owned nodes."""
        if self.jobs < FULL:
            print(f"# only with {FULL} jobs")
            return
        self.lab.begin_anew()
        self.lab.start_cloud(spot=False, types=TYPES)
        self.lab.start_stintd(engine="")
        until(lambda: self.lab.healthy(), 20, "stintd")
        _, cost = self.run_work()
        print(f"# ${self.owned_cost / 1e6:.6f} with owned nodes, ${cost / 1e6:.6f} without: {self.owned_cost / cost:.3f}")
        assert self.owned_cost <= 0.6 * cost


class Shadow:
    """A site that has not decided yet: Slurm runs all jobs on its own nodes, and the daemon looks on."""

    def __init__(self, build, folder, *_words):
        self.lab = stint_lab.StintLab(folder, build, gate=False)

    def start(self):
        self.lab.start()
        for i in range(1, NODES + 1):
            self.lab.add_node(f"own{i}", f"CPUs={CPUS} RealMemory=8192")
        until(lambda: len(set(run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split())) == NODES, 60, "the owned nodes")
        self.lab.write("catalogue.yaml", books.catalogue(False, TYPES))
        self.lab.start_stintd(mode="shadow", policy="task-per-instance", engine=OWNED % 5)
        until(lambda: self.lab.healthy(), 20, "stintd")

    def run_jobs(self, count, seconds):
        work = [load.Submission(0, "alice", ["-c2", "--mem=500"], seconds) for _ in range(count)]
        for one in work:
            why = self.lab.submit(one)
            assert why is None, why
        until(lambda: not self.lab.missing(work), 120, "all jobs")
        until(lambda: self.lab.tasks() == 0, 60, "the end of all jobs in the forecast")
        until(lambda: self.lab.instances() == NODES, 150, "the return of all virtual machines")

    def spent(self):
        """Micro-dollars of the forecast, by kind of machine."""
        rows = self.lab.ask("/v1/ledger?by=type")["rows"]
        return {row["name"]: row["cost_microdollars"] for row in rows}

    def fits(self):
        """As many as the nodes hold: nothing would have been rented."""
        self.run_jobs(NODES * CPUS // 2, 8)
        assert not any(self.spent().values()), self.spent()

    def bursts(self):
        """Half as many again, which Slurm lets wait for 15 s: machines would have been rented for the rest after 5 s."""
        self.run_jobs(NODES * CPUS * 3 // 4, 15)
        spent = self.spent()
        print(f"# the forecast: {spent}")
        assert spent["(owned)"] == 0 and sum(spent.values()) > 0, spent

    def lost(self):
        """A node that Slurm has drained takes no virtual work."""
        before = sum(self.spent().values())
        run("scontrol", "update", f"nodename=own[2-{NODES}]", "state=drain", "reason=test")
        time.sleep(20)  # one on which nothing runs is given up after node_lost, 15 s
        self.run_jobs(4, 8)
        after = sum(self.spent().values())
        assert after > before, (before, after)


SHADOW = [
    ("Slurm with nodes of its own, and stintd in mode shadow", Shadow.start),
    ("what the owned nodes hold would not have cost anything", Shadow.fits),
    ("what they do not hold would have", Shadow.bursts),
    ("a node that is drained takes no virtual work", Shadow.lost),
]
POINTS = [
    ("Slurm with nodes of its own, the local cloud and stintd start", World.start),
    ("all jobs run once, and all that was rented goes back", World.run_owned),
    ("owned nodes are used first, and nothing is rented before its time", World.first),
    ("no job waits for longer than its rule says and a machine boots", World.waits),
    ("owned nodes are busy while anything waits", World.busy),
    ("owned nodes are left as they were", World.stay),
    ("owned nodes save dollars", World.dollars),
]

if __name__ == "__main__":
    is_shadow = sys.argv[2:] == ["shadow"]
    sys.exit(lab_tap.main(SHADOW if is_shadow else POINTS, Shadow if is_shadow else World))
