#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_short_pool - spot machines that stand ready for short jobs, on a real Slurm: 'test_short_pool.py BUILD'.

Long jobs keep machines busy, so a spot machine stands ready for short ones ('short_pool' of stint.conf). Short jobs, by their
time limits, start there without a new machine; a new stintd finds the machine again; when the cloud takes it away without a word,
the job that ran there runs again elsewhere; under a limit a short job starts before a long one that waited for longer, on the machine of a long
job that has ended; when the long jobs have ended all machines go.
"""
import signal
import sys
import time

sys.dont_write_bytecode = True

import trust_lab
from trust_lab import until

import judge
import lab_tap
import load

LONG_S, SHORT_S = 170, 3
AT_ONCE_S = 4  # from sbatch until the script runs; a machine here takes at least 1.5 s to boot


def is_ready_one(one):
    return one["offer"].startswith("c1.medium") and "spot" in one["offer"]


class World:
    def __init__(self, build, folder):
        self.lab = trust_lab.TrustLab(folder, build, limits={"instances": 12, "dollars_per_hour": 0},
                                      timing={"audit": "10s", "refused": "5s", "place_retry": "1s"},
                                      engine={"poll": "200ms"},
                                      short_pool={"machine": "c1.medium", "longest": "1m", "most": 2})
        self.work = []

    def submit(self, cpus, seconds, minutes):
        one = load.Submission(0, "alice", [f"--cpus-per-task={cpus}", f"--mem={cpus * 500}", f"--time={minutes}", "-J", f"for{minutes}"], seconds)
        problem = self.lab.submit(one)
        assert problem is None, problem
        self.work.append(one)
        return one

    def node_of(self, one):
        """Where it began last, and when (s)."""
        try:
            with open(f"{self.lab.out}/began.{one.id}_", encoding="utf-8") as file:
                words = file.read().splitlines()[-1].split()
        except (OSError, IndexError):
            return None
        return words[2], int(words[0]) / 1000

    def ready_nodes(self):
        states = self.lab.slurm_nodes()
        return [one["name"] for one in self.lab.living() if is_ready_one(one) and states.get(one["name"], "").strip("*") in
                ("idle", "mix", "alloc")]

    def start(self):
        self.lab.begin(spot=True)

    def ready(self):
        for more in (0, 20):  # s
            self.submit(8, LONG_S + more, 10)
        until(self.ready_nodes, 40, "a spot machine that stands ready")
        until(lambda: len(self.lab.running()) == 2, 30, "the long jobs")

    def start_at_once(self):
        before = set(self.lab.machines())
        for _ in range(5):
            submitted = time.time()
            one = self.submit(2, SHORT_S, 1)
            node, began = until(lambda one=one: self.node_of(one), 30, "a short job to begin")
            assert node in self.ready_nodes(), f"it runs on {node}, not on one of {self.ready_nodes()}"
            assert began - submitted < AT_ONCE_S, f"it began after {began - submitted:.1f} s"
            print(f"# began after {began - submitted:.1f} s on {node}", flush=True)
            until(lambda: not self.lab.missing(self.work[-1:]), 30, "its end")
        assert set(self.lab.machines()) == before, "a machine was rented for them"

    def taken_over(self):
        before = set(self.lab.machines())
        self.lab.restart_stintd(signal.SIGKILL)
        until(self.lab.healthy, 40, "stintd")
        time.sleep(5)
        assert self.ready_nodes(), "it was given back"
        assert set(self.lab.machines()) == before, "another machine was rented"

    def lost(self):
        one = self.submit(2, 3 * SHORT_S, 1)
        node, _ = until(lambda: self.node_of(one), 30, "the job to begin")
        row = next(row for row in self.lab.living() if row["name"] == node)
        assert self.lab.tell_cloud(f"revoke key=1 id={row['id']}").startswith("done")
        until(lambda: not self.lab.missing([one]), 60, "the job to end elsewhere")
        again, _ = self.node_of(one)
        assert again != node, "it ran again on the machine that is gone"
        print(f"# ran again on {again}", flush=True)

    def pulled(self):
        """As many machines as there are, all with long jobs; a long one waits, then a short one."""
        limit = len(self.lab.living())
        self.lab.configure(limits={"instances": limit, "dollars_per_hour": 0})
        assert self.lab.reload()[0], "stintd did not take the limit"
        first = self.work[0]
        for _ in range(limit - 2):
            self.submit(8, LONG_S, 10)
        until(lambda: len(self.lab.running()) == limit, 90, "long jobs on all machines")
        late = self.submit(8, SHORT_S, 10)
        time.sleep(2)
        short = self.submit(2, SHORT_S, 1)
        assert self.lab.missing([first]), "the first long job has ended too early"
        until(lambda: self.node_of(late) and self.node_of(short), LONG_S, "both to begin")
        (node, began), (_, passed) = self.node_of(short), self.node_of(late)
        ended = self.lab.moment(f"done.{first.id}_") / 1000
        print(f"# began {began - ended:.1f} s after the end of the first long job, the one that waited {passed - ended:.1f} s after it",
              flush=True)
        assert node == self.node_of(first)[0], f"it ran on {node}"
        assert began < passed, "the long job began first"

    def go(self):
        until(lambda: not self.lab.missing(self.work), LONG_S + 60, "the long jobs to end")
        until(lambda: not self.lab.living(), 150, "all machines to go back")

    def check_oracle(self):
        assert not self.lab.ended, f"stintd ended by itself: {self.lab.ended}"
        wrong, notes = judge.judge(self.lab, self.work, skip={
            3: "a machine stands ready without work, as it should", 4: "it goes a while after the last job",
            7: "the price of standing ready", 8: "nothing goes wrong that somebody should be told"})
        print("".join(f"# {note}\n" for note in notes), end="", flush=True)
        assert not wrong, "\n# ".join(wrong)


def points(world):
    return (("a cluster stands", world.start),
            ("beside long jobs a spot machine stands ready", world.ready),
            ("short jobs start there at once, and nothing is rented for them", world.start_at_once),
            ("a new stintd finds it again", world.taken_over),
            ("a job that is lost with it runs again elsewhere", world.lost),
            ("under a limit a short job starts before a long one that waits", world.pulled),
            ("it goes when the long jobs have ended", world.go),
            ("the oracle agrees", world.check_oracle))


if __name__ == "__main__":
    sys.exit(lab_tap.main(points(World), World))
