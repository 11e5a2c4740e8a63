#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_adapter - what stands between stintd and Slurm goes wrong: 'test_adapter.py BUILD'.

The throttle of an array outlives the daemon; a clock that is off from slurmctld's delays no job; a stint-slurm that
is stopped is told, killed and started again.
"""
import os
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import trust_lab
from patience import deadline
from trust_lab import run, until

import lab_tap
import load

PATIENCE = 60


class World:
    def __init__(self, build, folder):
        self.lab = trust_lab.TrustLab(folder, build, **trust_lab.COMPRESSED)

    def start(self):
        self.lab.build_preload()
        self.lab.begin(spot=False)

    def submit(self, *options, seconds=2):
        one = load.Submission(0, "alice", ["-c", "2", "--mem=1000", *options], seconds)
        why = self.lab.submit(one)
        assert why is None, why
        return one

    def finish(self, work, seconds):
        until(lambda: not self.lab.missing(work), seconds, f"the jobs: {run('squeue')}")

    def throttle(self):
        """Three of ten run at a time, with a new daemon in the middle."""
        one = self.submit("--array=0-9%3", seconds=5)
        most, killed, end = 0, False, deadline(150)
        while run("squeue", "-h", "-r", "-j", one.id, "-o", "%T").strip() and time.monotonic() < end:
            states = run("squeue", "-h", "-r", "-j", one.id, "-o", "%T").split()
            most = max(most, states.count("RUNNING"))
            if not killed and states.count("RUNNING") == 3:
                self.lab.restart_stintd()
                killed = True
            time.sleep(0.2)
        assert killed and most == 3, (killed, most)
        assert time.monotonic() < end, run("squeue")

    def skewed(self, seconds):
        """From the submission to the start; the machine is there already."""
        self.lab.kill_stintd(signal.SIGTERM)
        self.lab.set_fault("clock", seconds)
        self.lab.start_stintd()
        until(self.lab.healthy, 40, "stintd")
        self.finish([self.submit()], PATIENCE)  # now there is a machine
        began = time.monotonic()
        job = self.submit(seconds=4).id
        until(lambda: "RUNNING" in run("squeue", "-h", "-j", job, "-o", "%T"), PATIENCE, "the job to start")
        took = time.monotonic() - began
        print(f"# clock {seconds:+d} s: started after {took:.1f} s", flush=True)
        assert took < 10, f"started after {took:.1f} s"

    def behind(self):
        self.skewed(-20)

    def ahead(self):
        self.skewed(20)
        self.lab.kill_stintd(signal.SIGTERM)
        self.lab.set_fault("clock")
        self.lab.start_stintd()
        until(self.lab.healthy, 40, "stintd")

    def bridge(self):
        """The stint-slurm that runs, or None: between two of them stintd has no child."""
        answer = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(self.lab.stintd.pid)], capture_output=True,
                                text=True, check=False)
        for line in answer.stdout.splitlines():
            pid, name = line.split(None, 1)
            if name.startswith("stint-slurm"):
                return int(pid)
        return None

    def stopped(self):
        old = self.bridge()
        os.kill(old, signal.SIGSTOP)
        began = time.monotonic()
        one = self.submit()
        until(lambda: self.bridge() not in (None, old), 60, "another stint-slurm")
        print(f"# started again after {time.monotonic() - began:.0f} s", flush=True)
        with open(f"{self.lab.folder}/stintd.said.log", encoding="utf-8") as log:
            assert "it was silent for 30 s" in log.read()
        self.finish([one], PATIENCE)


POINTS = [("everything starts", World.start), ("a throttle outlives the daemon", World.throttle),
          ("a clock behind slurmctld's delays nothing", World.behind),
          ("nor does one ahead of it", World.ahead),
          ("a stint-slurm that is stopped is started again", World.stopped)]

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
