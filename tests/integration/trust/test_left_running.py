#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_left_running - stintd dies and never comes back: 'test_left_running.py BUILD'.

Jobs run on some machines, others are empty. The jobs run to their end, and every machine ends by itself when nothing has run there
and nobody has asked for it for the time that is configured. When stintd comes back after all, its ledger has the whole
bill, and what waited runs.
"""
import sys
import time

sys.dont_write_bytecode = True

import trust_lab
from trust_lab import until

import judge
import lab_tap
import load

IDLE_S = 12
SHORT_S, LONG_S = 5, 40


class World:
    def __init__(self, build, folder, *words):
        self.lab = self.make_lab(folder, build, *words)
        self.work = []

    def make_lab(self, folder, build, *_):
        return trust_lab.TrustLab(folder, build, timing={"audit": "5s", "refused": "5s", "place_retry": "1s"})

    def start(self):
        self.lab.begin(spot=False, cloud=("--idle-shutdown", f"{IDLE_S}s"))

    def submit(self, seconds, count, name):
        work = [load.Submission(0, "alice", ["--cpus-per-task=8", "--mem=2000", "-J", f"{name}{i}"], seconds)
                for i in range(count)]
        for one in work:
            why = self.lab.submit(one)
            assert why is None, why
        self.work += work
        return work

    def run(self):
        """Two machines are empty soon after the daemon dies, two are not."""
        short = self.submit(SHORT_S, 2, "short")
        self.long = self.submit(LONG_S, 2, "long")
        until(lambda: len(self.lab.running()) == 4, 60, "the jobs to run")
        self.lab.kill_stintd()
        self.late = self.submit(3, 1, "late")
        until(lambda: not self.lab.missing(short), 60, "the short jobs")
        assert len(self.lab.living()) == 4, self.lab.living()

    def check_empty_ones(self):
        """Those without work end; those with work do not."""
        until(lambda: len(self.lab.living()) == 2, 5 * IDLE_S, "the empty machines to end")
        assert len(self.lab.running()) == 2, self.lab.running()

    def check_all(self):
        until(lambda: not self.lab.missing(self.long), LONG_S + 30, "the long jobs")
        until(lambda: not self.lab.living(), 5 * IDLE_S, "the last machines to end")

    def check_back(self):
        time.sleep(2)
        self.lab.start_stintd()
        until(self.lab.healthy, 60, "stintd")
        until(lambda: not self.lab.missing(self.work), 90, "the job that waited")

    def check_oracle(self):
        wrong, notes = judge.judge(self.lab, self.work, late_s=IDLE_S * 5, skip={
            7: "jobs are few", 8: "there is no daemon to tell anything"})
        print("".join(f"# {note}\n" for note in notes), end="", flush=True)
        assert not wrong, "\n# ".join(wrong)


POINTS = (
    ("a cluster stands", World.start),
    ("stintd dies while machines have work", World.run),
    ("machines without work end by themselves, those with work do not", World.check_empty_ones),
    ("then all have ended, and every job is done", World.check_all),
    ("a stintd that comes back goes on", World.check_back),
    ("the oracle agrees", World.check_oracle),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
