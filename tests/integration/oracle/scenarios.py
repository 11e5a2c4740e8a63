#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""scenarios - short days on a real Slurm in which one safeguard of Stint is needed:

    scenarios.py NAME BUILD [VENV]

VENV is a virtual environment with what ../ec2/requirements.txt names, for those at EC2's stand-in.

Each ends with the verdict of the oracle, one line of JSON: {"violations": [...], "notes": [...]}. Of stintd as
it is nothing is found; take the safeguard away (mutants/*.patch) and something must be. STINT_MUTANT names
programs that stand for those of BUILD: "stintd=/path/to/stintd".

Machines are small and alike, a job fills one, and what is paid for at the least is short, so that a day is
over within a minute. A relay stands between stintd and the cloud.
"""
import json
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("ec2", "daemon", "slurm"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))

import books  # noqa: E402
import load  # noqa: E402
import oracle  # noqa: E402
import relay  # noqa: E402
import slurm_lab  # noqa: E402
import stint_lab  # noqa: E402
from stint_lab import run, until  # noqa: E402

SMALL = next(one for one in books.TYPES if one.name == "c1.medium")
MINIMUM_MS = 10000
MACHINE_MICRODOLLARS = SMALL.price * MINIMUM_MS // books.HOUR_MS  # the least that one costs


def await_quietly(condition, seconds):
    try:
        until(condition, seconds, "")
    except TimeoutError:
        pass


class Work:
    """What days at both clouds have: jobs, programs that may be others, and a verdict."""

    def set_out(self):
        words = os.environ.get("STINT_MUTANT", "").split(",")
        self.others = dict(word.split("=", 1) for word in words if word)
        self.work = []

    def program(self, name):
        return self.others.get(name) or super().program(name)

    def submit_jobs(self, count, seconds, *options):
        """Each fills a machine. They are one array, so that stintd sees them all at once."""
        one = load.Submission(0, "alice", [f"--array=0-{count - 1}", "--cpus-per-task=2", "--mem=1000",
                                           "-J", f"work{len(self.work)}", *options], seconds, count)
        self.submit_all([one])
        self.work.append(one)

    def started(self):
        return sum(name.startswith("began.") for name in os.listdir(self.out))

    def wait_done(self, seconds):
        """If they do not end, the oracle says so."""
        await_quietly(lambda: not self.missing(self.work), seconds)

    def wait_returned(self, seconds=40):
        await_quietly(lambda: self.log_is_closed() and self.instances() == 0, seconds)
        await_quietly(lambda: self.ask("/v1/status")["open_intents"] == 0, 10)

    def ledger(self):
        return {"bill_microdollars": self.ask("/v1/ledger?by=type")["total"]["bill_microdollars"]}

    def judge(self, **told):
        """Skipped is only what the caller says, and rule 8: these days are too short for it."""
        told["skip"] = {8: "no fault lasts a minute", **told.get("skip", {})}
        told.setdefault("jobs", [name.removeprefix("done.") for one in self.work for name in one.files()])
        return oracle.ask(self.folder, judged_at=time.time_ns() // 1000000,
                          billing={"step_ms": books.STEP_MS, "minimum_ms": MINIMUM_MS}, **told)


class Day(Work, stint_lab.StintLab):
    """A lab with one type of machine and a relay before the cloud."""

    def __init__(self, folder, build):
        self.set_out()
        super().__init__(folder, build)
        self.relay = None

    def begin(self, boot=None, **options):
        self.start()
        more = {"boot": boot} if boot else {}
        self.start_cloud(spot=False, types=[SMALL], minimum_ms=MINIMUM_MS, **more)
        self.relay = self.relay_cloud(f"{self.folder}/relay.log")
        self.start_stintd(socket="relay.sock", **{"audit": "2s", **options})
        until(self.healthy, 30, "stintd")

    def log_is_closed(self):
        return all(one.gone is not None for one in oracle.records.Cloud(self.log).machines)

    def running(self):
        """Machines that run now, by the cloud's log."""
        return [one for one in oracle.records.Cloud(self.log).machines
                if one.running is not None and one.gone is None]

    def judge(self, **told):
        told.setdefault("ideal_microdollars", sum(one.jobs for one in self.work) * MACHINE_MICRODOLLARS)
        return super().judge(**told)


def make_ec2_day(folder, build, venv):
    """The same at EC2's stand-in; what it needs is in the virtual environment only."""
    import ec2_cluster
    import ec2_log
    import ec2_types

    class Ec2Day(Work, ec2_cluster.Ec2Cluster):
        def __init__(self):
            self.set_out()
            super().__init__(folder, build, venv)

        def begin(self, instances, **settings):
            books.MINIMUM_MS = MINIMUM_MS
            self.INSTANCES = instances
            self.AUDIT = "2s"
            self.start()
            self.start_cloud(spot=("none",), **settings)
            self.start_stintd()
            until(self.healthy, 40, "stintd")

        def log_is_closed(self):
            return not self.living()

        def judge(self, **told):
            ec2_log.write(self.record(), self.log)
            price = min(one.price for one in ec2_types.TYPES if one.cpu >= 2)
            ideal = sum(one.jobs for one in self.work) * price * MINIMUM_MS // books.HOUR_MS
            return super().judge(ideal_microdollars=ideal, **told)

    return Ec2Day()


def lost_answers(day):
    """The connection breaks in the place of the answers to three rents. Asked for again under their keys they
    are the same machines; under others they are more than the limit allows."""
    day.begin(instances=3)
    day.relay.down = relay.cutting_after(1, "running")
    day.submit_jobs(3, 4)
    day.wait_done(60)
    day.wait_returned()
    return day.judge(limits={"instances": 3}, ledger=day.ledger(), multiple=2.0)


# Four at once, then one at a time: six in 36 s. Without the brake four at a time are twelve.
BRAKED = 8


def no_boot(day):
    """No machine ever becomes a node. A brake lets one at a time through after some; without it all are
    asked for again and again."""
    boot = day.write("never.sh", "#!/bin/sh\nexec sleep 1000\n", 0o755)
    day.begin(boot=boot, boot_timeout="5s")
    day.submit_jobs(4, 1)
    time.sleep(36)
    run("scancel", *[one.id for one in day.work])
    day.wait_returned()
    return day.judge(limits={"instances": 4}, ledger=day.ledger(),
                     ideal_microdollars=BRAKED * MACHINE_MICRODOLLARS, multiple=1.0,
                     unfinished={name.removeprefix("done."): "it cannot start"
                                 for one in day.work for name in one.files()})


def empty_lists(day):
    """For twelve seconds the cloud's list is empty, though every machine runs."""
    day.begin(instances=4)
    day.submit_jobs(6, 14)
    until(lambda: len(day.running()) == 4, 20, "four machines")
    time.sleep(1)
    day.relay.down = relay.empty_list
    time.sleep(12)
    day.relay.down = None
    day.wait_done(90)
    day.wait_returned()
    return day.judge(limits={"instances": 4}, ledger=day.ledger(), multiple=6.0)


def killed_at_rent(day):
    """stintd is killed when its first rent has reached the cloud, and for five seconds after it is started
    again the cloud's list is empty. What was meant is in the journal, so it counts, and nothing is rented in
    its place. (Some audits go before it: they take keys, so that a daemon which forgot the rent does not come
    upon the same ones by chance.)"""
    def kill_once(line):
        if line.startswith("rent "):
            day.relay.up = None
            day.stintd.send_signal(signal.SIGKILL)
            day.stintd.wait()
        return [line]

    day.begin(instances=3)
    time.sleep(7)
    day.relay.up = kill_once
    day.relay.down = relay.empty_list
    day.submit_jobs(3, 4)
    until(lambda: len(day.running()) == 3, 30, "three machines")
    day.start_stintd()
    time.sleep(5)
    day.relay.down = None
    until(day.healthy, 40, "stintd")
    day.wait_done(60)
    day.wait_returned()
    return day.judge(limits={"instances": 3}, ledger=day.ledger(), multiple=3.0)


def late_news(day):
    """News of Slurm come two seconds late, and in these two seconds stintd is told to drain. It takes back
    what it has handed to Slurm, and some of that runs already."""
    bridge = day.write("bridge.sh", f"#!/bin/sh\nexec {sys.executable} {HERE}/slow_bridge.py 2 "
                       f"{day.program('stint-slurm')} \"$@\"\n", 0o755)
    day.begin(instances=2, bridge=bridge, audit="10s")
    day.submit_jobs(8, 6)
    for _ in range(2):
        started = day.started()
        until(lambda: day.started() > max(2, started), 60, "a job that Slurm has started by itself")
        day.ask("/v1/drain", "POST")
        time.sleep(3)
        day.ask("/v1/drain?off=1", "POST")
    day.wait_done(90)
    day.wait_returned()
    return day.judge(limits={"instances": 2}, ledger=day.ledger(), multiple=4.0, idle_ms=10000)


def ec2_lost_answers(day):
    """The connection breaks after EC2 has launched, before it says so."""
    day.begin(3)
    day.ec2.order(when="after", action="RunInstances", do="cut")
    day.submit_jobs(3, 4)
    day.wait_done(60)
    day.wait_returned()
    return day.judge(limits={"instances": 3}, ledger=day.ledger(), multiple=2.0)


def ec2_killed_at_rent(day):
    """stintd is killed when EC2 has launched, and EC2 shows what it has launched six seconds later. What was
    meant is in the journal, so nothing is rented in its place. (Audits go before it, as above.)"""
    day.begin(3, visible_after_ms=6000)
    time.sleep(7)
    day.submit_jobs(3, 4)
    until(lambda: day.record("launch"), 30, "a launch")
    day.stop_stintd(signal.SIGKILL)
    day.start_stintd()
    until(day.healthy, 40, "stintd")
    day.wait_done(60)
    day.wait_returned()
    return day.judge(limits={"instances": 3}, ledger=day.ledger(), multiple=2.5)


SCENARIOS = {one.__name__: one for one in (lost_answers, no_boot, empty_lists, killed_at_rent, late_news,
                                           ec2_lost_answers, ec2_killed_at_rent)}


def main():
    sys.argv[2:] = [os.path.abspath(path) for path in sys.argv[2:]]
    name, build = sys.argv[1:3]
    folder = slurm_lab.enclose()
    day = make_ec2_day(folder, build, sys.argv[3]) if name.startswith("ec2_") else Day(folder, build)
    violations = []
    try:
        violations, notes = SCENARIOS[name](day)
        print(json.dumps({"violations": violations, "notes": notes}), flush=True)
    except Exception as fault:  # a day that could not be played tells nothing
        print(json.dumps({"fault": f"{type(fault).__name__}: {fault}", "logs": day.complaints()}), flush=True)
        return 2
    finally:
        keep = os.environ.get("STINT_KEEP_LOGS")
        if keep:
            os.system(f"mkdir -p {keep} && cp -r {day.folder} {keep}/{name}-{os.getpid()} 2>/dev/null")
        day.stop()
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
