#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_brakes - machines on which nothing can start: 'test_brakes.py BUILD prolog|boot [full]'.

    prolog   the prolog of every machine fails
    boot     the image never comes up, and stintd is killed again and again

At most 6 machines are rented in the first five minutes, then one at a time, whatever the number of jobs; and it is told. When the
cause is gone, the jobs run. With 'full' five minutes are five minutes, and stintd is killed every 45 s;
without, all of it is five times as fast, and the counts are the same.
"""
import csv
import os
import sys
import time

sys.dont_write_bytecode = True

import trust_lab
from trust_lab import until

import judge
import lab_tap
import load

MOST = 6
JOBS = 6  # of half a machine each
TELLS = ("no-boot", "brake", "bad-machine", "failing-prolog", "no-start", "prolog")


class World:
    def __init__(self, build, folder, which, *words):
        self.which = which
        self.pace = 1 if "full" in words else 5
        self.lab = trust_lab.TrustLab(folder, build, timing={
            "audit": f"{60 // self.pace}s", "boot_timeout": f"{60 // self.pace}s", "refused": f"{30 // self.pace}s",
            "place_retry": f"{5 // self.pace}s"})
        self.broken = f"{folder}/broken"
        self.work = []
        self.began = None

    def start(self):
        """What is broken is mended when the file is taken away."""
        self.lab.write("broken", "")
        prolog = self.lab.write("prolog.sh", f"#!/bin/sh\n[ ! -e {self.broken} ]\n", 0o755)
        boot = self.lab.write("boot.sh", "#!/bin/bash\n"
                              f"while [ -e {self.broken} ]; do sleep 1; done\n"
                              f"exec bash {trust_lab.stint_lab.ROOT}/share/local/boot-slurm.sh\n", 0o755)
        if self.which == "prolog":
            self.lab.more_conf = f"Prolog={prolog}\nPrologFlags=Alloc\n"
        self.lab.begin(spot=False, cloud=("--boot", boot) if self.which == "boot" else ())

    def waste(self):
        self.work = [load.Submission(0, "alice", ["--cpus-per-task=4", "--mem=2000", "-J", f"job{i % 3}"], 5)
                     for i in range(JOBS)]
        for one in self.work:
            why = self.lab.submit(one)
            assert why is None, why
        self.began = time.monotonic()
        killed = 0
        while time.monotonic() - self.began < 300 / self.pace:
            self.lab.supervise()
            if self.which == "boot" and time.monotonic() - self.began >= (killed + 1) * 45 / self.pace:
                killed += 1
                self.lab.restart_stintd()
            time.sleep(0.2)
        rented = self.rented()
        print(f"# {len(rented)} machines rented, stintd killed {killed} times", flush=True)
        assert 1 <= len(rented) <= MOST, len(rented)

    def rented(self):
        """When the cloud accepted each machine, in ms."""
        with open(self.lab.log, encoding="utf-8", newline="") as file:
            return [int(row["ms"]) for row in csv.DictReader(file) if row["event"] == "rented"]

    def check_one_at_a_time(self):
        """Two more minutes: at no time more than one."""
        until(lambda: len(self.lab.living()) <= 1, 120 / self.pace, "the first machines to go back")
        most = 0
        end = time.monotonic() + 120 / self.pace
        while time.monotonic() < end:
            self.lab.supervise()
            most = max(most, len(self.lab.living()))
            time.sleep(0.2)
        print(f"# {len(self.rented())} machines rented by now, at most {most} at a time", flush=True)
        assert most <= 1, most

    def check_told(self):
        found = self.lab.wait_finding(TELLS, 10)
        print(f"# {found[0]['kind']}: {found[0]['text']}", flush=True)

    def mend(self):
        os.unlink(self.broken)
        until(lambda: self.lab.supervise() or not self.lab.missing(self.work), 400, "the jobs")

    def check_oracle(self):
        skip = {3: "machines on which nothing starts are empty", 7: "nothing could start at first", 8: "judged before"}
        if self.which == "prolog":
            skip[5] = "Slurm puts a job back whose prolog failed"
        wrong, notes = judge.judge(self.lab, self.work, late_s=60, skip=skip)
        print("".join(f"# {note}\n" for note in notes), end="", flush=True)
        assert not wrong, "\n# ".join(wrong)
        assert not self.lab.missing(self.work)


POINTS = (
    ("a cluster stands on which nothing can start", World.start),
    (f"at most {MOST} machines in the first five minutes", World.waste),
    ("then one at a time", World.check_one_at_a_time),
    ("it is told", World.check_told),
    ("the jobs run when the cause is gone", World.mend),
    ("the oracle agrees", World.check_oracle),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
