#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_stintd - stintd in front of a real Slurm: 'test_stintd.py BUILD'.

BUILD is a build folder with -Dslurm=enabled. The same 300 jobs are submitted twice: first to a fixed
cluster of plain Slurm that stintd only watches in shadow mode, then to a cluster of rented machines
that it runs. Each sentence is one TAP point; where no cluster can be made, all of it is skipped.
"""
import json
import os
import subprocess
import sys
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True

import books
import lab_tap
import load
import stint_lab
from stint_lab import run, until

SEED = 1
FIXED_NODES = 12
WRITES = ("REQUEST_UPDATE_JOB", "REQUEST_UPDATE_NODE", "REQUEST_DELETE_NODE", "REQUEST_KILL_JOB",
          "REQUEST_JOB_REQUEUE", "REQUEST_CREATE_NODE", "REQUEST_SUSPEND")


def amounts(one):
    """CPUs, MiB, accelerators of each node of the submission, and its nodes."""
    value = dict(option[2:].split("=") for option in one.options if option.startswith("--"))
    return (int(value.get("cpus-per-task", 1)), int(value["mem"]),
            int(value.get("gres", "gpu:0").split(":")[1]), int(value.get("nodes", 1)))


def runs_of(lab, submissions):
    """(began, ended, cpus, mem, accel) of each job, for all its nodes, and what it costs alone."""
    runs = []
    alone = 0
    for one in submissions:
        cpus, mem_mib, accel, nodes = amounts(one)
        for name in one.files():
            began = lab.moment(name.replace("done.", "began."))
            ended = lab.moment(name)
            runs.append((began, ended, cpus * nodes, mem_mib * nodes, accel * nodes))
            alone += books.alone(cpus, mem_mib, accel, nodes, ended - began)
    return runs, alone


def dollars(micro):
    return f"${micro / 1e6:.6f}"


def bill_of(lab):
    return lab.ask("/v1/ledger?by=type")["total"]["bill_microdollars"]


class World:
    def __init__(self, build, folder, how="measured"):
        """Of a slow build, or beside others, what takes longer costs more: that is told only."""
        self.is_measured = how == "measured"
        self.lab = stint_lab.StintLab(folder, build, gate=False)
        self.forecast = None
        self.work = None
        self.cost = None
        self.runs = None
        self.alone = None

    # -- shadow --

    def start_shadow(self):
        """stintd watches a fixed cluster; all that it says to engine and cloud is written down."""
        folder = self.lab.folder
        self.lab.start()
        for number in range(FIXED_NODES):
            self.lab.add_node(f"f{number}", "CPUs=24 RealMemory=96000 Gres=gpu:4",
                              "Name=gpu File=/dev/tty[10-13]\n")
        self.lab.start_cloud()
        bridge = self.lab.write("bridge.sh", "#!/bin/bash\n"
                                f"tee -a {folder}/bridge.said | "
                                f"{self.lab.program('stint-slurm')} \"$@\"\n", 0o755)
        self.lab.relay_cloud(f"{folder}/cloud.said")
        self.lab.start_stintd(mode="shadow", bridge=bridge, socket="relay.sock")
        until(lambda: self.lab.healthy(), 20, "stintd")

    def run_shadow(self):
        work = load.make(SEED)
        self.lab.submit_all(work)
        until(lambda: not self.lab.missing(work), 120, "the fixed cluster to run all jobs")
        until(lambda: self.lab.tasks() == 0, 90, "the shadow to end")
        until(lambda: self.lab.instances() == 0, 90,
              "the shadow to return its machines")
        self.forecast = bill_of(self.lab)
        print(f"# shadow's forecast of the bill: {dollars(self.forecast)}", flush=True)
        assert self.forecast > 0

    def check_shadow_silence(self):
        said = open(f"{self.lab.folder}/bridge.said", encoding="utf-8").read().splitlines()
        words = {line.split(" ")[0] for line in said}
        assert words <= {"hello", "list"}, words
        assert "hello" in words
        assert not os.path.exists(f"{self.lab.folder}/cloud.said"), "it spoke with the cloud"
        counted = run("sdiag")
        for name in WRITES:
            assert name not in counted, name
        assert not self.lab.machines()

    def stop_shadow(self):
        assert self.lab.stop_stintd() == 0

    # -- act --

    def start_act(self):
        self.lab.begin_anew()
        self.lab.start_cloud()
        self.lab.start_stintd(mode="act", bridge=self.lab.program("stint-slurm"),
                              socket="cloud.sock")
        until(lambda: self.lab.healthy(), 20, "stintd")

    def run_act(self):
        self.work = load.make(SEED)
        self.lab.submit_all(self.work)
        until(lambda: not self.lab.missing(self.work), 180, "all jobs to end")

    def check_types(self):
        used = {one["offer"].split("/")[0] for one in self.lab.machines().values()}
        print(f"# {len(self.lab.machines())} machines of {sorted(used)}", flush=True)
        assert len(used) >= 4, used

    def check_returned(self):
        last = max(self.lab.moment(name) for one in self.work for name in one.files())
        until(lambda: not self.lab.living(), max(0, last / 1000 + 60 - time.time()),
              "every machine to be returned within a minute of the last job")
        ended = max(int(one["billed_to"]) for one in self.lab.machines().values())
        print(f"# last machine returned {(ended - last) / 1000:.1f} s after the last job")
        until(lambda: not self.lab.namespaces(), 10, "the namespaces to go")
        until(lambda: "st-" not in run("sinfo", "-h", "-N", "-o", "%N"), 20, "the nodes to go")

    def check_books(self):
        truth = sum(books.bill(one) for one in self.lab.machines().values())
        ledger = until(self.lab.closed_bill, 20, "the books to be closed")
        self.cost = truth
        print(f"# bill by the cloud's log {dollars(truth)}, ledger {dollars(ledger)}", flush=True)
        assert ledger == truth, (ledger, truth)
        for by in ("user", "job", "day"):
            table = self.lab.ask(f"/v1/ledger?by={by}&limit=10000")
            total = sum(row["cost_microdollars"] for row in table["rows"])
            assert total == truth, (by, total, truth)
        rows = {row["name"]: row for row in self.lab.ask("/v1/ledger?by=user")["rows"]}
        assert {"alice", "bob"} <= set(rows), rows

    def check_alone(self):
        self.runs, self.alone = runs_of(self.lab, self.work)
        share = self.cost / self.alone
        print(f"# one instance per job {dollars(self.alone)}: Stint costs {share:.3f} of it", flush=True)
        assert share <= 0.60, share

    def check_fixed(self):
        began = min(one[0] for one in self.runs)
        ended = max(one[1] for one in self.runs)
        most = books.peak(self.runs)
        fixed = books.fixed_cluster(most, ended - began)
        share = self.cost / fixed
        print(f"# a cluster for the peak ({most[0]} CPUs, {most[1] // 1024} GiB, {most[2]} "
              f"accelerators) for {(ended - began) / 1000:.0f} s {dollars(fixed)}: Stint costs "
              f"{share:.3f} of it", flush=True)
        assert share <= 0.70 or not self.is_measured, share

    def check_forecast(self):
        off = self.forecast / self.cost - 1
        print(f"# forecast {dollars(self.forecast)}, cost {dollars(self.cost)}: {off:+.1%}")
        assert abs(off) <= 0.30 or not self.is_measured, off

    def check_oracle(self):
        self.lab.ask_oracle(self.work, ledger={"bill_microdollars": bill_of(self.lab)},
                            ideal_microdollars=self.alone, multiple=0.60,
                            idle_ms=5000 if self.is_measured else 15000,
                            skip={1: "this load has no limit", 8: "nothing is broken here"})

    def check_comments(self):
        one = next(one for one in self.work if one.jobs == 1)
        until(lambda: "AdminComment=stint" in run("scontrol", "show", "job", one.id), 20,
              "the cost of a job in its comment")

    def check_cli(self):
        env = {**os.environ, "STINT_SOCKET": f"{self.lab.folder}/stintd.sock"}
        stint = self.lab.program("stint")
        for words in (("status",), ("ledger", "--by", "user"), ("plan",), ("doctor",),
                      ("explain", next(iter(self.lab.machines().values()))["name"]),
                      ("explain", self.work[0].id + ("_0" if self.work[0].jobs > 1 else "")),
                      ("top",)):
            done = subprocess.run([stint, *words], env=env, capture_output=True, text=True,
                                  check=False)
            assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
            assert done.stdout.strip(), words

    def check_prometheus(self):
        text = self.lab.ask("/metrics")
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True,
                              text=True, check=False)
        assert done.returncode == 0 and not done.stderr.strip(), done.stderr
        conf = self.lab.write("prometheus.yml", "global: { scrape_interval: 1s }\nscrape_configs:\n"
                              "  - job_name: stint\n    static_configs:\n"
                              "      - targets: ['127.0.0.1:9178']\n")
        self.lab.prometheus = self.lab.spawn(
            "prometheus", f"--config.file={conf}", f"--storage.tsdb.path={self.lab.folder}/tsdb",
            "--web.listen-address=127.0.0.1:9090")
        bill = until(lambda: self.scraped("stint_bill_dollars"), 40, "Prometheus to scrape")
        assert abs(bill * 1e6 - self.cost) < 0.5, (bill, self.cost)
        launches = self.scraped("stint_launches_total")
        assert launches >= len(self.lab.machines()), launches

    @staticmethod
    def scraped(name):
        try:
            with urllib.request.urlopen("http://127.0.0.1:9090/api/v1/query?query=sum(" + name + ")",
                                        timeout=5) as answer:
                found = json.load(answer)["data"]["result"]
        except (urllib.error.URLError, OSError, ValueError):
            return None
        return float(found[0]["value"][1]) if found else None

    def stop_act(self):
        assert self.lab.stop_stintd() == 0


POINTS = (
    ("stintd watches a fixed cluster in shadow mode", World.start_shadow),
    ("it forecasts the bill of what it would have done", World.run_shadow),
    ("it wrote nothing to the engine nor to the cloud", World.check_shadow_silence),
    ("it stops cleanly", World.stop_shadow),
    ("stintd starts in mode act", World.start_act),
    ("300 jobs of two users complete on rented machines", World.run_act),
    ("machines of at least four types were rented", World.check_types),
    ("every machine is returned within a minute of the last job", World.check_returned),
    ("the ledger equals the local cloud's log to the micro-dollar", World.check_books),
    ("it costs at most 60 % of one instance per job", World.check_alone),
    ("it costs at most 70 % of a fixed cluster for the peak", World.check_fixed),
    ("the forecast of shadow mode was within 30 % (10 % is the aim)", World.check_forecast),
    ("the oracle finds nothing", World.check_oracle),
    ("Slurm shows what a job cost", World.check_comments),
    ("the operator's verbs answer", World.check_cli),
    ("Prometheus scrapes metrics that agree with the ledger", World.check_prometheus),
    ("stintd stops cleanly", World.stop_act),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
