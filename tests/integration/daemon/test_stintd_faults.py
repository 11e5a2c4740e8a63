#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_stintd_faults - the same load while everything breaks: 'test_stintd_faults.py BUILD SEED'.

While 300 jobs run, machines are revoked without a word, stintd and stint-slurm are killed, slurmctld is
restarted, the cloud refuses launches and answers late or twice. The seed chooses the moments. stintd is
started again at once, as systemd would. In the end every job is done, every machine was rented once and
is gone, and the books agree with the cloud's.
"""
import collections
import csv
import random
import re
import sys
import time

sys.dont_write_bytecode = True

import books
import lab_tap
import load
import stint_lab
from patience import deadline
from stint_lab import run, until
from test_stintd import runs_of

REVOKED = 30
DAEMON_KILLED = 20
BRIDGE_KILLED = 5
CTLD_RESTARTED = 3
FAULT_SECONDS = 110


class World:
    def __init__(self, build, folder, seed="1"):
        self.lab = stint_lab.StintLab(folder, build)
        self.seed = int(seed)
        self.rng = random.Random(self.seed)
        self.work = load.make(self.seed)
        self.done = collections.Counter()
        self.due = []
        self.look_at = 0
        self.empty = 0
        self.crashes = []  # of slurmctld: when

    def start(self):
        self.lab.start()
        self.lab.start_cloud("--seed", str(self.seed), "--faults",
                             "refuse=200,delay_ms=400,duplicate=200")
        self.lab.start_stintd()
        until(self.lab.healthy, 20, "stintd")

    def plan_faults(self):
        for kind, count in ((self.revoke, REVOKED), (self.kill_daemon, DAEMON_KILLED),
                            (self.kill_bridge, BRIDGE_KILLED), (self.restart_ctld, CTLD_RESTARTED)):
            self.due += [(self.rng.uniform(2, FAULT_SECONDS), kind) for _ in range(count)]
        self.due.sort(key=lambda fault: fault[0])

    def revoke(self):
        """Any machine that runs; if there is none now, a little later."""
        running = [one for one in self.lab.living()]
        if not running:
            return False
        one = self.rng.choice(running)
        return self.lab.tell_cloud(f"revoke key=1 id={one['id']}").startswith("done")

    def kill_daemon(self):
        self.lab.stintd.kill()
        self.lab.stintd.wait()
        self.lab.start_stintd()
        return True

    def kill_bridge(self):
        """The child of the daemon, whichever runs now."""
        children = run("ps", "-o", "pid=,comm=", "--ppid", str(self.lab.stintd.pid)) \
            if self.lab.stintd.poll() is None else ""
        for line in children.splitlines():
            pid, name = line.split(None, 1)
            if name.startswith("stint-slurm"):
                run("kill", "-9", pid)
                return True
        return False

    def restart_ctld(self):
        self.lab.restart_ctld()
        return True

    def strike(self):
        """What is due by now; what could not be done is due again in a second."""
        now = time.monotonic() - self.began
        if self.lab.ctld.poll() is not None:
            self.done["ctld_crashed"] += 1  # a fault of Slurm itself, not one of ours
            self.crashes.append(time.time_ns() // 1000000)
            self.lab.start_ctld()
        self.lab.put_back_unlaunched()
        while self.due and self.due[0][0] <= now:
            _, kind = self.due.pop(0)
            try:
                good = kind()
            except (RuntimeError, OSError):
                good = False
            if good:
                self.done[kind.__name__] += 1
            else:
                self.due.append((now + 1, kind))
                self.due.sort(key=lambda fault: fault[0])
                break

    def run(self):
        self.plan_faults()
        self.began = time.monotonic()
        self.lab.submit_all(self.work, self.strike)
        end = deadline(300)
        while missing := self.lab.missing(self.work):
            self.strike()
            if self.is_over() and self.lab.missing(self.work):
                raise RuntimeError(f"Slurm has no job any more, and these are not done: {self.tell(missing)}")
            if time.monotonic() > end:
                raise TimeoutError(f"{len(missing)} jobs are missing: {self.tell(missing)}")
            time.sleep(0.1)
        print(f"# {time.monotonic() - self.began:.0f} s; faults: {dict(self.done)}", flush=True)

    def tell(self, missing):
        """What slurmctld wrote of the first of them."""
        jobs = [name.removeprefix("done.").rstrip("_") for name in missing]
        with open(f"{self.lab.folder}/slurmctld.log", encoding="utf-8", errors="replace") as log:
            lines = [line.strip() for line in log if re.search(rf"JobId={jobs[0]}(\D|$)", line)]
        return "\n# ".join([f"{len(jobs)}: {jobs[:5]}", *lines[-25:]])

    def is_over(self):
        """Whether Slurm knows of no job any more. Looked for now and then, once all faults are over."""
        if self.due or time.monotonic() < self.look_at:
            return False
        self.look_at = time.monotonic() + 5
        self.empty = self.empty + 1 if not run("squeue", "-h").strip() else 0
        return self.empty >= 3

    def check_faults(self):
        """All that was to happen did; what was still due when the last job ended is too late."""
        assert self.done["kill_daemon"] >= DAEMON_KILLED * 0.9, self.done
        assert self.done["revoke"] >= REVOKED * 0.9, self.done
        assert self.done["kill_bridge"] >= 4 and self.done["restart_ctld"] >= 3, self.done

    def check_complete(self):
        assert not self.lab.missing(self.work)
        until(lambda: not run("squeue", "-h").strip(), 30, "the queue to be empty")

    def check_rented_once(self):
        launched = collections.Counter()
        names = collections.Counter()
        refused = 0
        with open(self.lab.log, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["event"] == "running":
                    launched[row["id"]] += 1
                    names[row["name"]] += 1
                refused += row["event"] == "refused"
        print(f"# {len(launched)} machines, {refused} launches refused", flush=True)
        assert launched and max(launched.values()) == 1, launched.most_common(3)
        assert max(names.values()) == 1, names.most_common(3)
        assert refused > 0

    def check_nothing_left(self):
        until(lambda: not self.lab.living(), 90, "every machine to be returned")
        until(lambda: not self.lab.namespaces(), 10, "the namespaces to go")
        until(lambda: "st-" not in run("sinfo", "-h", "-N", "-o", "%N"), 30, "the nodes to go")

    def check_books(self):
        truth = sum(books.bill(one) for one in self.lab.machines().values())
        ledger = until(self.lab.closed_bill, 90, "the books to be closed")
        print(f"# bill by the cloud's log ${truth / 1e6:.6f}, ledger ${ledger / 1e6:.6f}", flush=True)
        assert ledger == truth, (ledger, truth)

    def check_oracle(self):
        """Of the faults none lasts: whatever is killed is started again at once. A machine that is
        revoked has paid for a minute, and its jobs run twice, so more is spent than in calm. Machines of a job
        on several nodes wait for one another: if one is lost then, the others idle until there is another. A machine is
        revoked every four seconds, and a job that was requeued starts sixteen seconds later (MessageTimeout and six more, note_quiet
        in slurm_watch.c): a job on eight nodes was seen to be put together five times in a row. slurmctld was also seen to clear
        a job away from a dead node for 50 s."""
        ledger = self.lab.ask("/v1/ledger?by=type")["total"]["bill_microdollars"]
        _, alone = runs_of(self.lab, self.work)
        self.lab.ask_oracle(self.work, ledger={"bill_microdollars": ledger}, ideal_microdollars=alone, multiple=0.80,
                            idle_ms=70000, faults=[], crashes=self.crashes,
                            requeues=self.lab.requeues, skip={1: "this load has no limit"})

    def stop(self):
        assert self.lab.stop_stintd() == 0


POINTS = (
    ("the cluster stands", World.start),
    ("all jobs complete", World.run),
    ("the faults happened", World.check_faults),
    ("no job is lost and none is left", World.check_complete),
    ("no intent rented twice", World.check_rented_once),
    ("nothing is left running", World.check_nothing_left),
    ("the ledger equals the cloud's log", World.check_books),
    ("the oracle finds nothing", World.check_oracle),
    ("stintd stops cleanly", World.stop),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
