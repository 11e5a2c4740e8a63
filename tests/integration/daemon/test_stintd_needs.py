#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_stintd_needs - what jobs ask of machines besides their size, on a real Slurm: 'test_stintd_needs.py BUILD'.

BUILD is a build folder with -Dslurm=enabled. There are two zones, a spot market, two models of GPUs and a type with a feature; in each case
the cheapest machine that is large enough is one that the job must not have.
"""
import os
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True

import lab_tap
import load
import slurm_lab
import stint_lab
from stint_lab import run, until

CATALOGUE = """\
billing: { step: 1s, minimum: 60s }
boot: { acquire: 800ms, setup: 700ms, release: 0 }
types:
  - name: m1.large
    cpu: 4
    mem_gib: 8
    offers:
      - { zone: east, price: 0.20 }
      - { zone: west, price: 0.22 }
      - { zone: west, market: spot, price: 0.06 }
  - name: m1.2xlarge
    cpu: 8
    mem_gib: 16
    features: [infiniband]
    offers:
      - { zone: east, price: 0.40 }
      - { zone: west, price: 0.44 }
  - name: g1.xlarge
    cpu: 4
    mem_gib: 16
    accel: 1
    gpu_model: t4
    offers: [{ zone: east, price: 0.50 }]
  - name: p1.xlarge
    cpu: 4
    mem_gib: 16
    accel: 1
    gpu_model: h100
    offers: [{ zone: east, price: 3.00 }]
"""


# slurmctld refuses a feature that no node has, so a node that never comes has them all: docs/reference/slurm-options.md.
WORDS = "NodeName=stint-words State=FUTURE Feature=cloud,m1.large,m1.2xlarge,g1.xlarge,p1.xlarge,m1,g1,p1,east,west," \
        "spot,on-demand,infiniband Gres=gpu:t4:1,gpu:h100:1\n"


# Before 23.02.1 the backfill scheduler, which alone starts heterogeneous jobs, must run seldom: docs/reference/slurm-options.md.
IS_BACKFILL_SAFE = slurm_lab.release() >= (23, 2, 1) or "STINT_OFTEN_BACKFILL" in os.environ


class Lab(stint_lab.StintLab):
    def conf(self):
        return super().conf().replace("bf_interval=3600", f"bf_interval={2 if IS_BACKFILL_SAFE else 3600}") + WORDS


class Reporter(load.Submission):
    """Says the same twice, as that counts twice, and waits to be let go."""
    program = None

    def script(self, folder):
        reports = f"for i in 0.83 0.5 0.5; do {self.program} report-rate $i || exit 1; sleep 3; done\n" \
                  f"until [ -e {folder}/out/go ]; do sleep 0.2; done\n"
        return super().script(folder).replace("sleep 1\n", reports)


class World:
    def __init__(self, build, folder):
        self.lab = Lab(folder, build)
        self.stint = f"{build}/src/cli/stint"
        self.work = []

    def start(self):
        self.lab.start()
        self.lab.start_cloud(catalogue=CATALOGUE)
        self.lab.start_stintd()
        until(lambda: self.lab.healthy(), 20, "stintd")

    def submit_all(self, options, seconds, count):
        """So many of the same, when all have ended."""
        work = [load.Submission(0, "alice", ["--mem=1000", *options], seconds) for _ in range(count)]
        for one in work:
            self.submit(one)
        until(lambda: not self.lab.missing(work), 90, f"{options} to run")
        self.work += work
        return work

    def run(self, options, seconds=1):
        """The machines of a job when it has ended: name, type, zone and market."""
        one, = self.submit_all(options, seconds, 1)
        return self.machines_of(one)

    def submit(self, one):
        why = self.lab.submit(one)
        assert why is None, (one.options, why)

    def machines_of(self, one):
        with open(f"{self.lab.out}/began.{one.id}_", encoding="utf-8") as file:
            nodes = run("scontrol", "show", "hostnames", file.read().split()[2]).split()
        by_name = {row["name"]: row for row in self.lab.machines().values()}
        return [dict(zip(("type", "zone", "market"), by_name[node]["offer"].split("/")), name=node) for node in nodes]

    def expect(self, options, **wanted):
        for row in self.run(options):
            assert {key: row[key] for key in wanted} == wanted, (options, row)

    # -- the points --

    def market(self):
        self.expect(["-c1", "-C", "spot"], market="spot", zone="west")
        self.expect(["-c1", "-C", "on-demand"], market="on-demand", zone="east")

    def zone(self):
        self.expect(["-c1", "-C", "west&on-demand"], market="on-demand", zone="west", type="m1.large")
        self.expect(["-c1", "-C", "east"], zone="east", type="m1.large")

    def feature(self):
        self.expect(["-c1", "-C", "infiniband"], type="m1.2xlarge", zone="east")

    def model(self):
        self.expect(["-c1", "--gres=gpu:1"], type="g1.xlarge")
        self.expect(["-c1", "--gres=gpu:h100:1"], type="p1.xlarge")
        self.expect(["-c1", "--gres=gpu:t4:1"], type="g1.xlarge")

    def exclusive(self):
        """Two jobs of one CPU each would fit one machine of four, at the same time."""
        assert self.share(["-c1", "-C", "m1.large&east"])
        assert not self.share(["-c1", "--exclusive", "-C", "m1.large&east"])

    def share(self, options):
        """Whether two of the same run on one machine at one time."""
        work = self.submit_all(options, 8, 2)
        spans = [(self.lab.moment(f"began.{one.id}_"), self.lab.moment(f"done.{one.id}_")) for one in work]
        names = [self.machines_of(one)[0]["name"] for one in work]
        return names[0] == names[1] and max(span[0] for span in spans) < min(span[1] for span in spans)

    def one_zone(self):
        """An idle machine in the west, paid for the minute, tempts one of two nodes; the east is cheaper for both."""
        until(lambda: not self.lab.living(), 120, "the machines to go back")
        self.expect(["-c4", "-C", "west&on-demand"], zone="west")
        assert len(self.lab.living()) == 1
        rows = self.run(["-N2", "-c4", "-C", "on-demand"], seconds=2)
        assert len(rows) == 2
        assert {row["zone"] for row in rows} == {"east"}, rows

    def heterogeneous(self):
        """A node with a GPU and two without: each component gets its own kind of machine, all in one zone, none before all."""
        options = ["-c1", "--gres=gpu:t4:1", ":", "-N2", "-c4", "--mem=1000", "-C", "on-demand"]
        if not IS_BACKFILL_SAFE:
            return self.left_to_slurm(options)
        one = load.Submission(0, "alice", ["--mem=1000", *options], 3)
        self.submit(one)
        until(lambda: run("squeue", "-h", "-j", one.id, "-t", "R"), 60, "it to start")
        shown = dict(line.split() for line in run("squeue", "-h", "-j", one.id, "-o", "%i %N").splitlines())
        nodes = {part: run("scontrol", "show", "hostnames", of).split() for part, of in shown.items()}
        until(lambda: not self.lab.missing([one]), 30, "its end")
        by_name = {row["name"]: row["offer"].split("/") for row in self.lab.machines().values()}
        offers = {part: [by_name[node] for node in of] for part, of in nodes.items()}
        print(f"# {offers}")
        assert [row[0] for row in offers[f"{one.id}+0"]] == ["g1.xlarge"], offers
        assert [row[0] for row in offers[f"{one.id}+1"]] == ["m1.large"] * 2, offers
        assert {row[1] for of in offers.values() for row in of} == {"east"}, offers
        self.work.append(one)

    def left_to_slurm(self, options):
        """Slurm looks for room once an hour: nothing is rented, and the gate is opened."""
        before = len(self.lab.machines())
        one = load.Submission(0, "alice", ["--mem=1000", *options], 3)
        self.submit(one)
        until(lambda: "heterogeneous" in {found["kind"] for found in self.lab.ask("/v1/doctor")["findings"]}, 30, "the finding")
        until(lambda: "EligibleTime=21" not in run("scontrol", "show", "job", one.id), 15, "the gate to open")
        assert len(self.lab.machines()) == before
        run("scancel", one.id)

    def impossible(self):
        """What no machine meets is held with a word, and nothing is rented for it."""
        before = len(self.lab.machines())
        one = load.Submission(0, "alice", ["--mem=1000", "-c1", "-C", "spot&east"], 1)
        self.submit(one)
        until(lambda: "unholdable" in {found["kind"] for found in self.lab.ask("/v1/doctor")["findings"]}, 60,
              "the finding")
        until(lambda: "Stint: " in run("squeue", "-h", "-j", one.id, "-O", "admin_comment:120"), 15, "squeue to show why")
        told = run("squeue", "-h", "-j", one.id, "-O", "admin_comment:200").strip()
        print(f"# squeue: {told}")
        assert told == "Stint: " + self.lab.ask(f"/v1/explain?job={one.id}")["waits"][0]["text"], told
        assert len(self.lab.machines()) == before
        run("scancel", one.id)

    def rates(self):
        """On its node, where no socket of the daemon is, a job reports by way of Slurm; nobody does so for another's."""
        program = f"{self.lab.out}/stint"
        shutil.copy(self.stint, program)
        one = Reporter(0, "alice", ["--mem=1000", "-c1", "--comment=mine"], 1)
        one.program = program
        self.submit(one)
        until(lambda: self.reports() == 3, 60, "three reports")
        said = run("squeue", "-h", "-j", one.id, "-o", "%k").strip()
        assert said == "mine stint:rate=0.5#3", said
        denied = subprocess.run(["setpriv", "--reuid", "bob", "--regid", "bob", "--clear-groups", program, "report-rate",
                                 "--job", one.id, "1"], capture_output=True, text=True, check=False)
        assert denied.returncode == 1 and "not taken" in denied.stderr, denied
        open(f"{self.lab.out}/go", "w", encoding="utf-8").close()
        until(lambda: not self.lab.missing([one]), 30, "its end")
        assert self.reports() == 3
        self.work.append(one)

    def reports(self):
        line, = (line for line in self.lab.ask("/metrics").splitlines() if line.startswith("stint_rate_reports_total "))
        return int(line.split()[1])

    def end(self):
        until(lambda: not self.lab.living(), 150, "the return of all machines")
        bill = until(self.lab.closed_bill, 30, "the books to be closed")
        self.lab.ask_oracle(self.work, limits={"instances": 0, "microdollars_per_hour": 0},
                            billing={"step_ms": 1000, "minimum_ms": 60000},
                            ledger={"bill_microdollars": bill},
                            skip={7: "what the needs cost is told by the points", 8: "nothing goes wrong"})


POINTS = [
    ("Slurm, the local cloud and stintd start", World.start),
    ("a job gets a machine of its market", World.market),
    ("a job gets a machine of its zone", World.zone),
    ("a job gets a machine with the feature that it asks for", World.feature),
    ("a job gets the model of GPU that it asks for", World.model),
    ("a job that wants a machine for itself shares it with nobody", World.exclusive),
    ("the nodes of one job are in one zone", World.one_zone),
    ("the components of a heterogeneous job get their machines together", World.heterogeneous),
    ("a constraint that no machine meets rents nothing and is told", World.impossible),
    ("a job reports from its node how fast it runs", World.rates),
    ("all machines go back, and the oracle finds nothing", World.end),
]

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
