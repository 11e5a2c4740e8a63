#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_stintd_speed - how much of Slurm's own speed is left: 'test_stintd_speed.py BUILD'.

1,000 short jobs on 8 nodes of 8 CPUs, first by bare Slurm, then through stintd on as many machines of
that size; each once before it is measured. Slurm itself takes 8 to 12 s for them from one round to the
next, and what else the machine does only adds to that, so what counts is the fastest of three. Then 5,000 and
50,000 jobs are queued, and the processor time of the daemon's turns is compared.
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
        self.few = None

    def submit(self, jobs, seconds=0):
        """An array of 'jobs' jobs."""
        script = f"#!/bin/bash\necho $SLURM_ARRAY_TASK_ID >>{self.lab.out}/ran\n"
        script += f"sleep {seconds}\n" if seconds else ""
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

    def queue(self, jobs):
        """The processor time of the daemon's longest turn once these are queued, in ms. They need more than there is, and those that
        start do not end, so that the machine has time for the daemon."""
        job = self.submit(jobs, seconds=600)
        until(lambda: self.lab.tasks() >= jobs, 120, "the daemon to see the queue")
        time.sleep(15)
        status = self.lab.ask("/v1/status")
        print(f"# {self.lab.tasks()} tasks: a turn took {status['turn_cpu_ms_max']} ms of processor time at most, and "
              f"{status['turn_ms_max']} ms by the clock", flush=True)
        run("scancel", job)
        until(lambda: self.lab.tasks() == 0, 120, "an empty queue")
        return status["turn_cpu_ms_max"]

    def run_queue(self):
        self.few = self.queue(QUEUED // 10)

    def check_round(self):
        """Twice the share that is fair, since a busy machine lengthens the time of its processors, too."""
        many = self.queue(QUEUED)
        assert many <= 20 * self.few, (many, self.few)


POINTS = (
    ("bare Slurm has 8 nodes", World.start_bare),
    ("bare Slurm runs 1,000 short jobs", World.run_bare),
    ("stintd has 8 machines", World.start_through),
    ("stintd has 1,000 short jobs run", World.run_through),
    ("at least 0.7 of bare Slurm's speed (0.9 is the aim)", World.check_speed),
    ("the oracle finds nothing", World.check_oracle),
    ("5,000 jobs are queued", World.run_queue),
    ("a turn of the daemon takes 20 times as long at most if 50,000 are", World.check_round),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
