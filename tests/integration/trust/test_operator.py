#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_operator - what an operator changes while jobs run: 'test_operator.py BUILD'.

The catalogue loses an offer in use, the prefix of the nodes and the partitions change, limits are lowered, the
mode changes, the cluster is drained, a job of somebody else runs on a rented machine, and a second stintd is started.
Each is refused with advice, or survived: no job is restarted, no machine is left over, and the books are exact.
"""
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import trust_lab
from trust_lab import run, until

import judge
import lab_tap
import load

AUDIT_S = 5
LONG_S = 40
SECOND = ("second-daemon",)
LOST_OFFER = ("former-offer",)


class World:
    def __init__(self, build, folder):
        self.lab = trust_lab.TrustLab(folder, build, timing={"audit": f"{AUDIT_S}s", "refused": "5s", "place_retry": "1s"})
        self.work = []
        self.late_s = 0

    def start(self):
        self.lab.begin(spot=False)

    def submit(self, name, count=4, seconds=LONG_S, wait=True, cpus=2):
        work = [load.Submission(0, "bob", [f"--cpus-per-task={cpus}", "--mem=1000", "-J", f"{name}{i}"], seconds)
                for i in range(count)]
        for one in work:
            why = self.lab.submit(one)
            assert why is None, why
        self.work += work
        if wait:  # some may share a machine, one after the other: that is the policy's
            until(lambda: self.running(work), 60, "a job to run")
            time.sleep(2)
        return work

    def running(self, work):
        return {one.id for one in work} & set(self.lab.running())

    def finish(self, work, seconds=120):
        until(lambda: self.lab.supervise() or not self.lab.missing(work), seconds, "the jobs")
        assert not self.lab.restarted(work), self.lab.restarted(work)

    def refusal(self, **changes):
        """What stintd says when it does not start with these settings; None: it does. Then it goes on with the old ones."""
        before = self.lab.settings
        self.lab.kill_stintd(signal.SIGTERM)
        self.lab.configure(**changes)
        done = subprocess.Popen([self.lab.program("stintd"), "-c", f"{self.lab.folder}/stint.conf"],
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            said = done.communicate(timeout=3 * AUDIT_S)[0]
        except subprocess.TimeoutExpired:
            done.kill()
            done.communicate()
            said = None
        self.lab.settings = before
        self.lab.start_stintd()
        until(self.lab.healthy, 30, "stintd with the old settings")
        self.late_s = max(self.late_s, 4 * AUDIT_S)
        return said

    def lose_offer(self):
        """It is drained: what runs there ends there, then it goes back, and it is billed by its old price."""
        work = self.submit("offer")
        used = {one["offer"].split("/")[0] for one in self.lab.living()}
        assert used
        self.lab.set_catalogue(without=sorted(used)[0])
        self.lab.restart_stintd(signal.SIGTERM)
        until(self.lab.healthy, 30, "stintd without the offer")
        if len(used) == 1:  # otherwise the check still holds for the others
            self.lab.wait_finding(LOST_OFFER)
        self.finish(work)
        until(lambda: not [one for one in self.lab.living() if one["offer"].startswith(sorted(used)[0])], 90,
              "the machines of the lost offer to go back")
        self.lab.set_catalogue()
        self.lab.restart_stintd(signal.SIGTERM)
        until(self.lab.healthy, 30, "stintd with the offer")
        self.late_s = max(self.late_s, 4 * AUDIT_S)

    def change_prefix(self):
        work = self.submit("prefix")
        said = self.refusal(node_prefix="xx-")
        assert said and re.search("prefix", said), said
        print(f"# {said.strip().splitlines()[-1]}", flush=True)
        self.finish(work)

    def change_cluster(self):
        work = self.submit("cluster")
        said = self.refusal(cluster="another")
        assert said and "machines are still rented" in said, said
        self.finish(work)

    def change_partitions(self):
        """Jobs that are not ours any more keep their machines."""
        work = self.submit("parts")
        before = self.running(work)
        self.lab.restart_stintd(signal.SIGTERM, engine={"only_partitions": ["gate"]})
        until(self.lab.healthy, 30, "stintd with other partitions")
        time.sleep(3 * AUDIT_S)
        assert before <= self.running(work), (before, self.lab.running())
        self.lab.restart_stintd(signal.SIGTERM, engine={"only_partitions": None})
        until(self.lab.healthy, 30, "stintd")
        self.late_s = max(self.late_s, LONG_S)
        self.finish(work)

    def lower_limits(self):
        work = self.submit("limits", count=8)
        before, runs = dict(self.lab.settings["limits"]), self.running(work)
        self.lab.configure(limits={"instances": 1, "dollars_per_hour": 0.1})
        assert self.lab.reload()[0]
        more = self.submit("limited", seconds=5, wait=False)
        time.sleep(2 * AUDIT_S)
        assert runs <= self.running(work), (runs, self.lab.running())
        self.lab.configure(limits=before)
        assert self.lab.reload()[0]
        self.finish(work + more)

    def change_mode(self):
        work = self.submit("mode")
        self.lab.configure(mode="advise")
        assert self.lab.reload()[0]
        time.sleep(AUDIT_S)
        more = self.submit("moded", seconds=5, wait=False)
        time.sleep(AUDIT_S)
        self.lab.configure(mode="act")
        assert self.lab.reload()[0]
        self.lab.restart_stintd(signal.SIGTERM, mode="shadow")
        time.sleep(2 * AUDIT_S)
        self.lab.restart_stintd(signal.SIGTERM, mode="act")
        until(self.lab.healthy, 30, "stintd in mode act")
        self.late_s = max(self.late_s, 5 * AUDIT_S)
        self.finish(work + more)

    def drain(self):
        """Nothing new starts, what runs ends, and machines go back."""
        work = self.submit("drain", count=1, seconds=15)
        assert self.lab.stint("drain").returncode == 0
        try:
            time.sleep(1)
            late = self.submit("late", seconds=3, wait=False)
            until(lambda: not self.lab.missing(work), 60, "what runs")
            until(lambda: not self.lab.living(), 90, f"the machines to go back: {self.lab.living()}")
            assert len(self.lab.missing(late)) == len(late), "a job was started during the drain"
        finally:  # or all that follows would wait
            assert self.lab.stint("drain", "--off").returncode == 0
        self.finish(work + late)

    def foreign_job(self):
        """It keeps the machine that it runs on."""
        work = self.submit("own", count=2, seconds=10)
        job = self.lab.submit_foreign(3 * AUDIT_S + 65)  # longer than what is paid for
        assert job
        until(lambda: job in self.lab.running(), 60, "the job of another")  # own jobs may follow each other on one machine
        self.finish(work)
        until(lambda: not run("squeue", "-h", "-j", job, "-t", "R,PD,CG").strip(), 120, "the job of another to end")
        assert not self.lab.broken_foreign(), self.lab.broken_foreign()

    def second_daemon(self):
        work = self.submit("split", count=4)
        self.lab.start_second()
        time.sleep(2)
        more = self.submit("splits", count=6, seconds=20, wait=False, cpus=8)  # both must rent for these
        self.lab.wait_finding(SECOND, 60)
        self.lab.stop_second()
        self.lab.restart_stintd(signal.SIGTERM)  # as the finding advises: it takes the other's machines over
        until(self.lab.healthy, 30, "stintd alone")
        self.late_s = max(self.late_s, 60)
        self.finish(work + more, 180)

    def check_alive(self):
        assert not self.lab.ended, f"stintd ended by itself: {self.lab.ended}"

    def check_oracle(self):
        wrong, notes = judge.judge(self.lab, self.work, late_s=self.late_s, skip={
            7: "jobs are few, so that each change meets the same ones", 8: "judged with each change"})
        print("".join(f"# {note}\n" for note in notes), end="", flush=True)
        assert not wrong, "\n# ".join(wrong)


POINTS = (
    ("a cluster stands", World.start),
    ("the catalogue loses an offer in use: drained, billed and given back", World.lose_offer),
    ("another prefix of nodes is refused with advice", World.change_prefix),
    ("another name of the cluster is refused with advice", World.change_cluster),
    ("jobs of partitions that are not ours any more keep their machines", World.change_partitions),
    ("limits below what runs end nothing", World.lower_limits),
    ("modes change under load", World.change_mode),
    ("a drain under load starts nothing and ends nothing", World.drain),
    ("a job of somebody else keeps its machine", World.foreign_job),
    ("a second daemon is told and stops renting", World.second_daemon),
    ("stintd has not ended by itself", World.check_alive),
    ("the oracle agrees", World.check_oracle),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
