# SPDX-License-Identifier: GPL-2.0-or-later
"""load - the work that the tests of the daemon submit: 300 jobs of two users.

As a day on a cluster, scaled to seconds: a rush at the beginning and a long thin rest. Array tasks
count as jobs. The same seed gives the same load.
"""
import random

USERS = ("alice", "bob")
RUSH_SECONDS = 8
REST_SECONDS = 120


class Submission:
    """One sbatch: when, by whom, with which options, and how long each of its jobs sleeps."""

    def __init__(self, at, user, options, seconds, jobs=1):
        self.at = at
        self.user = user
        self.options = options
        self.seconds = seconds
        self.jobs = jobs
        self.id = None

    def script(self, folder):
        return "#!/bin/bash\n" \
               f"D={folder}/out\n" \
               "J=${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}_${SLURM_ARRAY_TASK_ID:-}\n" \
               "echo \"$(date +%s%3N) $SLURM_JOB_ID $SLURM_JOB_NODELIST\" >>$D/began.$J\n" \
               f"sleep {self.seconds}\n" \
               "echo \"$(date +%s%3N)\" >>$D/done.$J\n"

    def files(self):
        """The names that its jobs leave when they are done."""
        if self.jobs == 1:
            return [f"done.{self.id}_"]
        return [f"done.{self.id}_{task}" for task in range(self.jobs)]


def shape(rng):
    cpus = rng.choice((1, 1, 1, 2, 2, 3, 4, 6, 8))
    per_cpu = rng.choice((500, 1500, 1500, 3000, 6000))
    return [f"--cpus-per-task={cpus}", f"--mem={cpus * per_cpu}"]


def make(seed, jobs=300, rest=REST_SECONDS):
    """A list of submissions in order of time; 'jobs' is a multiple of 60, and those that do
    not come in the rush come within 'rest' seconds of it."""
    rng = random.Random(seed)
    found = []

    def when():
        return rng.uniform(0, RUSH_SECONDS) if rng.random() < 0.7 else \
            RUSH_SECONDS + rng.uniform(0, rest)

    def add(options, seconds, count=1):
        found.append(Submission(when(), rng.choice(USERS), options, seconds, count))

    unit = jobs // 60
    for _ in range(unit * 2):  # 24 of 60 jobs are tasks of arrays
        add(["--array=0-11", *shape(rng), "-J", f"sweep{rng.randrange(4)}"], rng.randint(1, 20), 12)
    for _ in range(unit * 4):
        nodes = rng.choice((2, 2, 3, 4, 8))
        add([f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1", "-J", "solver",
             f"--cpus-per-task={rng.choice((1, 2))}", "--mem=1000"], rng.randint(2, 20))
    for _ in range(unit * 4):
        add([f"--gres=gpu:{rng.choice((1, 1, 2))}", "--cpus-per-task=1", "--mem=4000", "-J", "train"],
            rng.randint(3, 20))
    for _ in range(unit * 28):
        add([*shape(rng), "-J", f"step{rng.randrange(6)}"], rng.randint(1, 20))
    found.sort(key=lambda one: one.at)
    assert sum(one.jobs for one in found) == jobs
    return found
