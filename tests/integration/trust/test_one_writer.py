#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_one_writer - of several stintd on one Slurm, one acts at a time: 'test_one_writer.py BUILD'.

Each has a state file of its own. They meet in slurmctld alone, whatever their 'cluster' is. Each sentence is one TAP point.
"""
import json
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "daemon"))

import lab_tap
import stint_lab
from stint_lab import run

import patience

LIMIT = 3
JOBS = 24


class Daemon:
    """One stintd, with files of its own."""

    def __init__(self, lab, name, cluster):
        self.lab, self.name, self.cluster = lab, name, cluster
        self.process = None

    def start(self):
        lab = self.lab
        options = {**lab.options, "instances": LIMIT}
        text = stint_lab.CONF.format(folder=lab.folder, **options)
        text = text.replace("cluster: lab", f"cluster: {self.cluster}")
        text = text.replace("/stint.db", f"/{self.name}.db").replace("/stintd.sock", f"/{self.name}.sock")
        text = text.replace(', listen: "127.0.0.1:9178"', "")
        lab.write(f"{self.name}.conf", text)
        self.process = lab.spawn(lab.program("stintd"), "-c", f"{lab.folder}/{self.name}.conf")

    def ask(self, path):
        connection = stint_lab.UnixConnection(f"{self.lab.folder}/{self.name}.sock")
        try:
            connection.request("GET", path)
            return json.loads(connection.getresponse().read().decode())
        finally:
            connection.close()

    def link(self):
        """(up, detail) of its link to Slurm."""
        try:
            return next((one["up"], one["detail"]) for one in self.ask("/v1/status")["links"] if one["name"] == "slurm")
        except OSError:
            return False, ""

    def acts(self):
        return self.link()[0]

    def kinds(self):
        try:
            return {one["kind"]: one["text"] for one in self.ask("/v1/doctor")["findings"]}
        except OSError:
            return {}

    def end(self, sig):
        self.process.send_signal(sig)
        self.process.wait(20)


class World:
    def __init__(self, build, folder):
        self.lab = stint_lab.StintLab(folder, build)
        self.one = Daemon(self.lab, "one", "lab")
        self.other = Daemon(self.lab, "other", "another")
        self.twin = Daemon(self.lab, "twin", "lab")
        self.most = 0

    def start(self):
        self.lab.start()
        self.lab.start_cloud(spot=False)
        self.one.start()
        self.took(self.one.acts, 40, "the first to act")

    def took(self, question, seconds, what):
        began = time.monotonic()
        while not question():
            self.most = max(self.most, len(self.lab.living()))
            assert time.monotonic() - began < seconds * patience.FACTOR, what
            time.sleep(0.2)
        print(f"# {time.monotonic() - began:.1f} s", flush=True)

    def start_others(self):
        self.submit()
        self.other.start()
        self.twin.start()
        for daemon in (self.one, self.other, self.twin):
            self.took(lambda daemon=daemon: "second-daemon" in daemon.kinds(), 30, f"{daemon.name} to report another")
        print(f"# {self.one.kinds()['second-daemon']}\n# {self.other.kinds()['second-daemon']}", flush=True)
        assert self.one.acts() and not self.other.acts() and not self.twin.acts()

    def submit(self):
        for number in range(JOBS):
            run("sbatch", "-o", "/dev/null", "-D", "/", "-t", "5", "--mem=1000", "-c", "2",
                input=f"#!/bin/sh\nsleep 4\necho done > {self.lab.out}/done.{number}.{time.time_ns()}\n")

    def done(self):
        return len(os.listdir(self.lab.out))

    def finish(self):
        self.took(lambda: self.done() >= JOBS, 240, "the jobs")
        assert self.most <= LIMIT, self.most
        assert not self.other.acts() and not self.twin.acts()

    def restart(self):
        """Killed and started on its state, it goes on at once."""
        self.one.end(signal.SIGKILL)
        self.one.start()
        self.took(self.one.acts, 8, "the owner to go on")
        assert not self.other.acts() and not self.twin.acts()

    def stop_for_long(self):
        """The one that was stopped notices, and ends to begin anew once it has the lease again."""
        os.kill(self.one.process.pid, signal.SIGSTOP)
        for bridge in run("pgrep", "-P", str(self.one.process.pid)).split():
            os.kill(int(bridge), signal.SIGSTOP)
        self.took(lambda: self.other.acts() or self.twin.acts(), 60, "another to act")
        for bridge in run("pgrep", "-P", str(self.one.process.pid)).split():
            os.kill(int(bridge), signal.SIGCONT)
        os.kill(self.one.process.pid, signal.SIGCONT)
        self.took(lambda: not self.one.acts() and "acts on this" in self.one.kinds().get("second-daemon", ""), 30,
                  "the first to report it")
        assert self.other.acts() != self.twin.acts()

    def kill_owner(self):
        owner, waits = (self.other, self.twin) if self.other.acts() else (self.twin, self.other)
        owner.end(signal.SIGKILL)
        self.took(lambda: self.one.process.poll() is not None or waits.acts(), 60, "another to act")

    def reservations(self):
        """What the administrator sees of it."""
        shown = run("scontrol", "show", "reservation")
        print("".join(f"# {line}\n" for line in shown.splitlines()), end="", flush=True)
        assert shown.count("ReservationName=stint-lease.") <= 2, shown


POINTS = (
    ("the only stintd acts", World.start),
    ("two more with other states, one with another name, wait, and all three report it", World.start_others),
    ("24 jobs complete within the limit of one", World.finish),
    ("one that is killed goes on at once with its state", World.restart),
    ("one that is stopped for long leaves it to another", World.stop_for_long),
    ("a killed owner is followed by another", World.kill_owner),
    ("the lease is a reservation", World.reservations),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
