#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_stintd_care - budgets and a full disk on a real Slurm: 'test_stintd_care.py BUILD'.

BUILD is a build folder with -Dslurm=enabled. The state of stintd is on a disk of eight megabytes (SQLite keeps four in its log). There is
one machine type, $0.034 an hour, for which a minute is paid at the least: 566 micro-dollars.
"""
import os
import signal
import sys
import time

sys.dont_write_bytecode = True

import books
import lab_tap
import load
import stint_lab
from stint_lab import run, until

TYPES = books.TYPES[:1]
MINIMUM = 566
BUDGET = 2000  # three machines, but not four
SECONDS = 50


class World:
    def __init__(self, build, folder):
        self.lab = stint_lab.StintLab(folder, build)
        self.disk = f"{folder}/disk"
        self.jobs = []

    def conf(self, limits="instances: 0"):
        options = {**self.lab.options, "folder": self.lab.folder}
        text = stint_lab.CONF.format(**options)
        text = text.replace("limits: { instances: 0 }", f"limits: {{ {limits} }}")
        return text.replace(f"state: {self.lab.folder}/stint.db", f"state: {self.disk}/stint.db")

    def start_daemon(self, limits="instances: 0"):
        path = self.lab.write("stint.conf", self.conf(limits))
        self.lab.stintd = self.lab.spawn(self.lab.program("stintd"), "-c", path)
        until(self.answers, 30, "stintd")

    def answers(self):
        try:
            return self.lab.ask("/v1/status")  # unlike /healthz, also while something is wrong
        except (OSError, RuntimeError):
            return None

    def start(self):
        self.lab.start()
        os.makedirs(self.disk)
        run("mount", "-t", "tmpfs", "-o", "size=8m", "none", self.disk)
        self.lab.start_cloud(types=TYPES)
        self.start_daemon(f"dollars_per_day: {BUDGET / 1e6:.6f}, warn_at: 50")

    def submit(self, count, seconds):
        work = [load.Submission(0, "alice", ["--cpus-per-task=2", "--mem=1000"], seconds)
                for _ in range(count)]
        self.lab.submit_all(work)
        self.jobs += work
        return work

    def findings(self):
        return {one["kind"] for one in self.lab.ask("/v1/doctor")["findings"]}

    # -- budgets --

    def budget_stops_rents(self):
        """Nine jobs want nine machines; three can be paid."""
        self.submit(9, SECONDS)
        until(lambda: "budget-low" in self.findings(), 60, "the warning")
        time.sleep(10)
        assert len(self.lab.machines()) == 3, len(self.lab.machines())
        waits = self.lab.ask(f"/v1/explain?job={self.jobs[-1].id}")
        assert any(wait["why"] == "budget" for wait in waits["waits"]), waits

    def spent_budget_empties(self):
        until(lambda: "budget-spent" in self.findings(), 180, "the end of the budget")
        until(lambda: not self.lab.living(), 120, "the return of all machines")
        bill = sum(books.bill(one) for one in self.lab.machines().values())
        time.sleep(2)  # the budget is counted once a second
        spent = self.lab.ask("/v1/status")["budgets"]["day"]["spent_microdollars"]
        print(f"# of a budget of {BUDGET} micro-dollars {spent} are spent, the cloud's bill is {bill}")
        assert spent == bill
        assert bill <= BUDGET + 3 * 34000 * (SECONDS + 5) // 3600  # what ran, to its end
        assert len(self.lab.machines()) == 3
        assert self.lab.missing(self.jobs), "all jobs ran: the budget was none"
        with open(f"{self.lab.folder}/stintd.said.log", encoding="utf-8", errors="replace") as log:
            text = log.read()
        assert "finding kind=budget-spent" in text

    def restart_keeps_the_budget(self):
        self.lab.stop_stintd(signal.SIGKILL)
        self.start_daemon(f"dollars_per_day: {BUDGET / 1e6:.6f}")
        until(lambda: self.lab.ask("/v1/status")["ready"], 30, "the first audit")
        time.sleep(12)
        assert len(self.lab.machines()) == 3, "a restart forgot what was spent"

    def higher_budget_goes_on(self):
        self.lab.write("stint.conf", self.conf("dollars_per_day: 10"))
        self.lab.ask("/v1/reload", "POST")
        until(lambda: not self.lab.missing(self.jobs), 180, "all jobs")

    # -- a full disk --

    def fill(self):
        file = os.open(f"{self.disk}/fill", os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            while True:
                os.write(file, b"x" * 4096)
        except OSError:
            os.close(file)

    def full_disk_returns_machines(self):
        """The disk is full while jobs run: nothing more is rented, and what is empty goes back."""
        until(lambda: not self.lab.living(), 180, "an empty cluster")
        before = len(self.lab.machines())
        self.submit(3, 20)
        until(lambda: len([1 for one in self.jobs[-3:] if self.began(one)]) == 3, 60, "three running jobs")
        self.fill()
        late = self.submit(2, 5)
        until(lambda: "store" in self.findings(), 60, "the finding")
        until(lambda: not self.lab.living(), 90, "the return of all machines")
        assert len(self.lab.machines()) == before + 3
        assert not any(self.began(one) for one in late)

    def began(self, one):
        return os.path.exists(f"{self.lab.out}/began.{one.id}_")

    def restart_on_a_full_disk(self):
        self.lab.stop_stintd(signal.SIGKILL)
        self.start_daemon()
        until(lambda: self.lab.ask("/v1/status")["ready"], 30, "the first audit")

    def room_again_goes_on(self):
        os.unlink(f"{self.disk}/fill")
        until(lambda: not self.lab.missing(self.jobs), 120, "all jobs")
        until(lambda: not self.lab.living(), 120, "the return of all machines")
        until(lambda: "store" not in self.findings(), 30, "no finding")


POINTS = (
    ("a real Slurm, the local cloud, and stintd with a budget", World.start),
    ("a rent whose minimum is above the budget is not made, and explain says so", World.budget_stops_rents),
    ("a spent budget empties the cluster when what runs has ended", World.spent_budget_empties),
    ("a restart does not forget what was spent", World.restart_keeps_the_budget),
    ("with a higher budget all jobs complete", World.higher_budget_goes_on),
    ("on a full disk nothing is rented and empty machines go back", World.full_disk_returns_machines),
    ("stintd comes up on a full disk", World.restart_on_a_full_disk),
    ("with room again all jobs complete", World.room_again_goes_on),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
