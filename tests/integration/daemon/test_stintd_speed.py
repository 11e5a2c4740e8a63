#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_stintd_speed - how much of Slurm's own speed is left: 'test_stintd_speed.py BUILD'.

1,000 short jobs on 8 nodes of 8 CPUs, first by bare Slurm, then through stintd on as many machines of
that size; each once before it is measured. Slurm itself takes 8 to 12 s for them from one round to the
next, and what else the machine does only adds to that, so what counts is the fastest of three. Then 50,000 jobs are
queued and the daemon is timed, by its processor time, since their starts and ends share the machine with it.
"""
import os
import sys
import time

sys.dont_write_bytecode = True

import books
import lab_tap
import stint_lab
from stint_lab import run, until

JOBS = 1000
NODES = 8
ROUNDS = 3
QUEUED = 50000


class World:
    def __init__(self, build, folder):
        self.lab = stint_lab.StintLab(folder, build, gate=False)
        self.bare = None
        self.through = None

    def submit(self, jobs):
        """An array of 'jobs' short jobs."""
        script = f"#!/bin/bash\necho $SLURM_ARRAY_TASK_ID >>{self.lab.out}/ran\n"
        return run("sbatch", "--parsable", "-o", "/dev/null", "-D", "/", "-t", "1",
                   "--cpus-per-task=1", "--mem=100", "-J", "short", f"--array=0-{jobs - 1}",
                   input=script).strip()

    def ran(self):
        try:
            with open(f"{self.lab.out}/ran", encoding="utf-8") as file:
                return file.read().split()
        except OSError:
            return []

    def measure(self, whose):
        """The fastest of some rounds, in seconds; one before them warms up."""
        took = [self.round() for _ in range(1 + ROUNDS)][1:]
        found = min(took)
        print(f"# {whose}: {JOBS} jobs in {found:.1f} s ({', '.join(f'{one:.1f}' for one in took)}), "
              f"{60 * JOBS / found:.0f} a minute", flush=True)
        return found

    def round(self):
        """Seconds from submission to the end of the last of 1,000 jobs."""
        if os.path.exists(f"{self.lab.out}/ran"):
            os.unlink(f"{self.lab.out}/ran")
        began = time.monotonic()
        self.submit(JOBS)
        until(lambda: len(self.ran()) >= JOBS, 180, "1,000 short jobs")
        took = time.monotonic() - began
        assert len(set(self.ran())) == JOBS
        return took

    def start_bare(self):
        self.lab.start()
        for number in range(NODES):
            self.lab.add_node(f"f{number}", "CPUs=8 RealMemory=16384")
        until(lambda: run("sinfo", "-h", "-o", "%D %t").split() == [str(NODES), "idle"], 20, "nodes")

    def run_bare(self):
        self.bare = self.measure("bare Slurm")

    def start_through(self):
        self.lab.begin_anew()
        self.lab.start_cloud(spot=False, types=[one for one in books.TYPES
                                                if one.name == "c1.2xlarge"])
        self.lab.start_stintd(instances=NODES, poll="500ms")
        until(lambda: self.lab.healthy(), 20, "stintd")

    def run_through(self):
        """In the first round machines boot, and the daemon learns how short the jobs are."""
        self.through = self.measure("through stintd")

    def check_speed(self):
        share = self.bare / self.through
        print(f"# {share:.3f} of bare Slurm's jobs per minute", flush=True)
        assert share >= 0.7, share

    def check_oracle(self):
        """Between the measured rounds and the queue that is too long for its machines."""
        self.lab.ask_oracle(limits={"instances": NODES}, faults=[],
                            skip={4: "the machines are kept for what comes next",
                                  6: "the machines are not all gone", 7: "what is measured is time"})

    def run_queue(self):
        """50,000 jobs that need more than there is, and for five seconds nothing but decisions."""
        self.submit(QUEUED)
        until(lambda: self.lab.tasks() > QUEUED * 0.9, 120,
              "the daemon to see the queue")

    def check_round(self):
        time.sleep(15)
        status = self.lab.ask("/v1/status")
        most = status["turn_cpu_ms_max"]
        print(f"# {self.lab.tasks()} tasks queued; a turn took {most} ms of processor time at most, and "
              f"{status['turn_ms_max']} ms beside 48 jobs that start and end on the same machine", flush=True)
        assert most < 1000, most


POINTS = (
    ("bare Slurm has 8 nodes", World.start_bare),
    ("bare Slurm runs 1,000 short jobs", World.run_bare),
    ("stintd has 8 machines", World.start_through),
    ("stintd has 1,000 short jobs run", World.run_through),
    ("at least 0.7 of bare Slurm's speed (0.9 is the aim)", World.check_speed),
    ("the oracle finds nothing", World.check_oracle),
    ("50,000 jobs are queued", World.run_queue),
    ("a round of the daemon takes less than a second of processor time", World.check_round),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
