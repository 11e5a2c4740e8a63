#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_stintd_ec2 - stintd in front of a real Slurm, renting through the API of EC2.

    test_stintd_ec2.py BUILD VENV           300 jobs, nothing goes wrong
    test_stintd_ec2.py BUILD VENV SEED      120 jobs, and all of it goes wrong
    test_stintd_ec2.py BUILD VENV late      EC2 shows late what was asked for before a restart

BUILD is a build folder with -Dslurm=enabled, VENV a virtual environment with what requirements.txt
names. Each sentence is one TAP point; where no cluster can be made, all of it is skipped.
"""
import collections
import os
import random
import re
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import ec2_cluster
import ec2_identity
import ec2_types
from ec2_cluster import ACCESS, HTTP_TOKEN, SECRET, SESSION
from patience import deadline
from stint_lab import run, until

import books
import lab_tap
import load
from test_stintd import amounts, dollars

INTERRUPTED = 30
DAEMON_KILLED = 6
FAULT_SECONDS = 50
FLIGHT_MS = 1000     # a request that is on its way when a refusal comes arrives within this
COMMIT_MS = 2000     # what a daemon has heard is in its store after this
LATE_MS = 20000      # an end that the API gives no time for is noticed within this


class Base:
    """What both tests look at."""

    def __init__(self, build, folder, venv):
        self.lab = ec2_cluster.Ec2Cluster(folder, build, os.path.abspath(venv))
        self.work = None

    def wait_done(self, seconds, meanwhile=lambda: None):
        end = time.monotonic() + seconds
        looked = 0
        while missing := self.lab.missing(self.work):
            meanwhile()
            self.lab.mend()
            if self.lab.stintd.poll() is not None:
                raise RuntimeError(f"stintd ended by itself with {self.lab.stintd.returncode}")
            looked = (looked + 1) % 50
            if looked == 0 and self.is_queue_empty() and self.lab.missing(self.work):
                raise RuntimeError(f"Slurm has ended {len(missing)} jobs too early: {missing[:5]}")
            if time.monotonic() > end:
                raise TimeoutError(f"{len(missing)} jobs are missing: {missing[:5]}")
            time.sleep(0.1)

    @staticmethod
    def is_queue_empty():
        """Of a slurmctld that answers."""
        done = subprocess.run(["squeue", "-h"], capture_output=True, text=True, check=False)
        return done.returncode == 0 and not done.stdout.strip()

    def check_returned(self):
        last = max(self.lab.moment(name) for one in self.work for name in one.files())
        until(lambda: not self.lab.living(), 90, "every machine to be returned")
        ended = max(one.ended for one in self.lab.machines().values())
        print(f"# last machine returned {(ended - last) / 1000:.0f} s after the last job")
        until(lambda: not self.lab.namespaces(), 20, "the namespaces to go")
        until(lambda: "st-" not in self.lab.nodes_in_slurm(), 120, "the nodes to go")
        assert self.lab.ec2.control("/counters").get("hook_failed", 0) == 0

    def check_rented_once(self):
        """By the API's own record: one machine for one intent, place under a token, key and name."""
        launched = self.lab.record("launch")
        for what in (lambda line: (line["token"], line["index"]), ec2_identity.key_of, ec2_identity.name_of):
            counts = collections.Counter(what(line) for line in launched)
            assert counts and max(counts.values()) == 1, counts.most_common(3)
        assert not self.lab.record("mismatch")

    def said(self, instance):
        """What stint-join and slurmd wrote there."""
        with open(f"{self.lab.folder}/node/{instance}/said", encoding="utf-8", errors="replace") as file:
            return file.read()

    def check_joined(self):
        """Each instance found its own name in the metadata; the spot market may take one before that."""
        launched = {line["id"]: ec2_identity.name_of(line) for line in self.lab.record("launch")}
        joined = {name: re.findall(r"joins cluster lab as node (\S+):", self.said(name)) for name in launched}
        early = [name for name in launched if not joined[name]]
        lost = {line["id"] for line in self.lab.record("terminate") if line["by"] == "spot"}
        assert set(early) <= lost, early
        assert all(joined[name] in ([], [launched[name]]) for name in launched), (launched, joined)
        together = sum(line["index"] > 0 for line in self.lab.record("launch"))
        notices = sum(self.said(name).count("stint-join: notice: terminate") for name in launched)
        print(f"# {len(launched)} instances, {together} by their launch index, {len(early)} taken before; "
              f"{notices} notices seen", flush=True)
        assert together > 0
        return notices

    def check_noticed(self):
        assert self.check_joined() > 0

    def ledger(self):
        return self.lab.ask("/v1/ledger?by=type")["total"]["bill_microdollars"]

    def closed_ledger(self, least):
        """The bill once no machine is left and all of it is written: a turn is within 0.1 s, but what
        came and went around a kill of the daemon is found by its next audit."""
        end = deadline(60)
        while self.lab.instances() > 0 or self.ledger() < least:
            if time.monotonic() > end:
                break
            time.sleep(0.3)
        time.sleep(0.5)
        return self.ledger()

    def alone(self):
        """What the work costs with one instance per job, by the times that the jobs told."""
        total = 0
        for one in self.work:
            cpus, mem_mib, accel, nodes = amounts(one)
            for name in one.files():
                ran = self.lab.moment(name) - self.lab.moment(name.replace("done.", "began."))
                total += books.alone(cpus, mem_mib, accel, nodes, ran, ec2_types.TYPES)
        return total

    def ask_oracle(self, multiple, late_ms=0, **told):
        self.lab.ask_oracle(self.work, ledger={"bill_microdollars": self.ledger(), "late_ms": late_ms},
                            ideal_microdollars=self.alone(), multiple=multiple, faults=[],
                            skip={1: "this load has no limit"}, **told)

    def stop_with_abort(self):
        """As a bug would end it: with a signal that asks for a core file."""
        if not self.others_dump():
            print("# this kernel is set to write no core files here")
        assert self.lab.stop_stintd(signal.SIGABRT) == -signal.SIGABRT
        assert not self.lab.dumped
        assert not [name for name in os.listdir(self.lab.folder) if name.startswith("core")]

    def others_dump(self):
        """Whether a process without secrets would leave a core file."""
        folder = f"{self.lab.folder}/private"
        other = subprocess.Popen(["sleep", "60"], cwd=folder, preexec_fn=ec2_cluster.allow_core)
        time.sleep(0.2)
        other.send_signal(signal.SIGABRT)
        _, status = os.waitpid(other.pid, 0)
        other.returncode = status
        return os.WCOREDUMP(status)

    def check_secrets(self):
        """In no file of the lab: logs, books, the record, core files."""
        searched, size = 0, 0
        needles = [text.encode() for text in (SECRET, SECRET[:16], SESSION, SESSION[:16], HTTP_TOKEN)]
        for folder, _, names in os.walk(self.lab.folder):
            for name in names:
                path = os.path.join(folder, name)
                if not os.path.isfile(path) or path.endswith("/private/token"):
                    continue
                with open(path, "rb") as file:
                    text = file.read()
                searched += 1
                size += len(text)
                found = [needle for needle in needles if needle in text]
                assert not found, (path, found)
        print(f"# {searched} files, {size // 1024} KiB")
        with open(f"{self.lab.folder}/private/token", "rb") as file:  # the search finds what is there
            assert needles[-1] in file.read()
        known = os.listdir(self.lab.folder)
        assert {"stint.db", "stintd.said.log", "record"} <= set(known), known
        with open(f"{self.lab.folder}/stintd.said.log", encoding="utf-8") as file:
            assert "asks for instance=" in file.read()


class Calm(Base):
    def start(self):
        self.lab.start()
        self.lab.start_cloud()
        self.lab.start_stintd()
        until(self.lab.healthy, 40, "stintd")

    def run_load(self):
        self.work = load.make(1)
        self.lab.submit_all(self.work)
        self.wait_done(240)

    def check_types(self):
        used = collections.Counter(one.type for one in self.lab.machines().values())
        print(f"# {sum(used.values())} machines: {dict(used)}", flush=True)
        assert len(used) >= 4, used

    def check_books(self):
        machines = self.lab.machines().values()
        truth = sum(one.bill() for one in machines)
        ledger = self.closed_ledger(truth)
        self.cost = truth
        print(f"# bill by the API's record {dollars(truth)}, ledger {dollars(ledger)}", flush=True)
        assert ledger == truth, (ledger, truth)
        for by in ("user", "job", "day"):
            table = self.lab.ask(f"/v1/ledger?by={by}&limit=10000")
            total = sum(row["cost_microdollars"] for row in table["rows"])
            assert total == truth, (by, total, truth)
        rows = {row["name"]: row for row in self.lab.ask("/v1/ledger?by=user")["rows"]}
        assert {"alice", "bob"} <= set(rows), rows
        for row in self.lab.ask("/v1/ledger?by=type")["rows"]:
            own = sum(one.bill() for one in machines if one.type == row["name"])
            assert row["cost_microdollars"] == own, (row, own)

    def check_costs(self):
        runs, alone = [], 0
        for one in self.work:
            cpus, mem_mib, accel, nodes = amounts(one)
            for name in one.files():
                began = self.lab.moment(name.replace("done.", "began."))
                ended = self.lab.moment(name)
                runs.append((began, ended, cpus * nodes, mem_mib * nodes, accel * nodes))
                alone += books.alone(cpus, mem_mib, accel, nodes, ended - began, ec2_types.TYPES)
        span = max(one[1] for one in runs) - min(one[0] for one in runs)
        fixed = books.fixed_cluster(books.peak(runs), span, ec2_types.TYPES)
        print(f"# {dollars(self.cost)}; one instance per job {dollars(alone)}: "
              f"{self.cost / alone:.3f} of it; a cluster for the peak {dollars(fixed)}: "
              f"{self.cost / fixed:.3f} of it", flush=True)
        assert self.cost <= 0.60 * alone, self.cost / alone

    def check_oracle(self):
        """It runs beside other labs: a machine may idle while the daemon waits for a processor."""
        self.ask_oracle(0.60, idle_ms=15000)

    def check_cli(self):
        env = {**os.environ, "STINT_SOCKET": f"{self.lab.folder}/stintd.sock"}
        for words in (("status",), ("ledger", "--by", "type"), ("plan",), ("doctor",), ("top",),
                      ("explain", next(iter(self.lab.machines().values())).name)):
            done = subprocess.run([self.lab.program("stint"), *words], env=env, capture_output=True,
                                  text=True, check=False)
            assert done.returncode == 0, (words, done.returncode, done.stdout, done.stderr)
            assert done.stdout.strip(), words

    def check_restart(self):
        """Nothing is rented, billed or lost by a clean stop and another start."""
        before = self.ledger()
        launches = len(self.lab.record("launch"))
        assert self.lab.stop_stintd() == 0
        self.lab.start_stintd()
        until(self.lab.healthy, 40, "stintd")
        time.sleep(3)
        assert self.closed_ledger(before) == before
        assert len(self.lab.record("launch")) == launches
        with open(f"{self.lab.folder}/stintd.said.log", encoding="utf-8") as file:
            assert "boot times are learned from past machines" in file.read()


class Storm(Base):
    def __init__(self, build, folder, venv, seed):
        super().__init__(build, folder, venv)
        self.lab.TOGETHER = 2  # many launches: some of those that are refused shall be heard
        self.seed = int(seed)
        self.rng = random.Random(self.seed)
        self.work = load.make(self.seed, jobs=120, rest=40)
        self.done = collections.Counter()
        self.due = []
        self.began = None

    def start(self):
        self.lab.start()
        self.lab.start_cloud(spot=("c5", "m5", "r5"), seed=self.seed, refuse_share=0.2,
                             throttle_share=0.1, cut_before_share=0.007, cut_after_share=0.007,
                             cut_middle_share=0.006)
        self.lab.start_stintd()
        until(self.lab.healthy, 60, "stintd")

    def interrupt(self, notice):
        """Any spot machine that has no notice yet; if there is none now, a little later."""
        self.lab.ec2.control("/interrupt", {"any": True, "notice": notice,
                                            "notice_ms": self.rng.choice((0, 500, 3000)),
                                            "copies": self.rng.choice((1, 2))})

    def interrupt_with_notice(self):
        self.interrupt(True)

    def interrupt_without(self):
        self.interrupt(False)

    def kill_daemon(self):
        self.lab.stop_stintd(signal.SIGKILL)
        self.lab.start_stintd()

    def plan_faults(self):
        for kind, count in ((self.interrupt_with_notice, INTERRUPTED // 2),
                            (self.interrupt_without, INTERRUPTED // 2),
                            (self.kill_daemon, DAEMON_KILLED)):
            self.due += [(self.rng.uniform(3, FAULT_SECONDS), kind) for _ in range(count)]
        self.due.sort(key=lambda fault: fault[0])

    def strike(self):
        """What is due by now; what could not be done is due again a little later."""
        now = time.monotonic() - self.began
        late = []
        self.lab.mend()
        while self.due and self.due[0][0] <= now:
            _, kind = self.due.pop(0)
            try:
                kind()
                self.done[kind.__name__] += 1
            except RuntimeError:
                late.append((now + 0.3, kind))
        self.due = sorted(self.due + late, key=lambda fault: fault[0])

    def run_load(self):
        self.plan_faults()
        self.began = time.monotonic()
        self.lab.submit_all(self.work, self.strike)
        self.wait_done(400, self.strike)
        took = time.monotonic() - self.began
        self.due = []
        counters = self.lab.ec2.control("/counters")
        print(f"# {took:.0f} s; {dict(self.done)}; launches {counters['launch']}, refused "
              f"{counters.get('refuse')}, throttled {counters.get('throttle')}, cut "
              f"{counters.get('cut')}", flush=True)

    def check_faults(self):
        counters = self.lab.ec2.control("/counters")
        assert self.done["interrupt_with_notice"] == INTERRUPTED // 2, self.done
        assert self.done["interrupt_without"] == INTERRUPTED // 2, self.done
        assert self.done["kill_daemon"] == DAEMON_KILLED, self.done
        for name in ("refuse", "throttle", "cut", "notice"):
            assert counters.get(name, 0) > 0, (name, counters)

    def check_complete(self):
        assert not self.lab.missing(self.work)
        until(lambda: not run("squeue", "-h").strip(), 60, "the queue to be empty")

    def check_books(self):
        """To the micro-dollar for what was given back; an end by the spot market has no time in the
        API, so its bill is between that of the true end and of the latest moment to notice it."""
        machines = self.lab.machines().values()
        least = sum(one.bill() for one in machines)
        most = sum(one.bill(LATE_MS if one.by == "spot" else 0) for one in machines)
        ledger = self.closed_ledger(least)
        print(f"# bill by the API's record {dollars(least)} to {dollars(most)}, "
              f"ledger {dollars(ledger)}", flush=True)
        assert least <= ledger <= most, (least, ledger, most)

    def check_oracle(self):
        """Of the faults none lasts. What the spot market takes has paid for a minute, and its jobs run twice. Machines of
        a job on several nodes wait for one another: if one is lost then, the others idle until there is another. A job that
        starts and loses its node between two polls is placed after the next audit, up to a minute later (docs/reference/slurm-options.md), and
        the machine that is kept for it idles until then."""
        self.ask_oracle(0.80, LATE_MS, idle_ms=85000)

    def check_back_off(self):
        refusals, asks = back_off_violations(self.lab.record(), self.lab.lives,
                                             self.lab.REFUSED_MS, self.lab.REFUSED_MOST_MS)
        print(f"# {refusals} refusals heard, {asks} launches asked for")


class Late(Base):
    """Restarted before EC2 shows what the last life has asked for."""

    VISIBLE_MS = 6000  # less than the 'settle' of the configuration

    def __init__(self, build, folder, venv, _):
        super().__init__(build, folder, venv)
        self.work = [load.Submission(0, "alice", ["--cpus-per-task=2", "--mem=1000", f"-J{name}"], 5)
                     for name in ("a", "b", "c")]

    def start(self):
        self.lab.start()
        self.lab.start_cloud(visible_after_ms=self.VISIBLE_MS)
        self.lab.start_stintd()
        until(self.lab.healthy, 40, "stintd")

    def run_load(self):
        self.lab.submit_all(self.work)
        until(self.has_launched_all, 30, "the launches")
        self.lab.stop_stintd(signal.SIGKILL)
        self.launched = len(self.lab.record("launch"))
        self.lab.start_stintd()
        until(self.lab.healthy, 40, "stintd")
        until(lambda: self.lab.instances() >= self.launched, self.VISIBLE_MS / 1000 + 12, "the machines")
        self.wait_done(120)

    def has_launched_all(self):
        """Something, and nothing more for two seconds: a launch still to come would count as one in place of another."""
        record = self.lab.record("launch")
        return record and time.time() - record[-1]["at"] / 1000 > 2

    def check_oracle(self):
        """Nothing is rented or given back while what was asked for is sought."""
        until(lambda: self.lab.instances() == 0, 60, "the books to be closed")
        self.ask_oracle(1.0)

    def check_launches(self):
        launches = len(self.lab.record("launch"))
        print(f"# {self.launched} launched before the kill, {launches} at the end", flush=True)
        assert launches == self.launched


def offer_of(line):
    """What was asked for; an instance may stand in a zone that EC2 chose."""
    zone = line["asked_zone"] if line["event"] == "launch" else line.get("zone")
    return line["type"], zone, line.get("market", "on-demand")


def heard_refusals(lines, lives):
    """{number of the line of a refusal: when its answer went out}, for those that a daemon heard: the
    answer went out, and the daemon that had asked lived on until it had written that down."""
    heard, asked, open_ones = {}, {}, {}
    for number, line in enumerate(lines):
        token = line.get("token")
        if line["event"] == "ask":
            asked[token] = line["at"]
            open_ones.pop(token, None)
        elif line["event"] == "refuse":
            open_ones[token] = number
        elif line["event"] == "answer" and token in open_ones:
            at = line["at"]
            if not any(end and asked[token] <= end <= at + COMMIT_MS for _, end in lives):
                heard[open_ones[token]] = at
            open_ones.pop(token)
    return heard


def back_off_violations(lines, lives, first_ms, most_ms):
    """
    The rule, by the stand-in's record alone: after a refusal that the daemon heard, no launch of the
    same offer comes in before the back-off has passed. It is 'first_ms', and doubles up to 'most_ms'
    with each refusal until a launch is granted. A request that comes in within FLIGHT_MS of the
    refusal's answer was on its way already, and a refusal within FLIGHT_MS of another one does not
    double. Restarts of the daemon change nothing.
    """
    heard = heard_refusals(lines, lives)
    until_ms, wait, since = {}, {}, {}
    asks, early = 0, []
    for number, line in enumerate(lines):
        if line["event"] not in ("ask", "refuse", "launch"):
            continue
        offer, at = offer_of(line), line["at"]
        if line["event"] == "ask":
            asks += 1
            if since.get(offer, at) + FLIGHT_MS < at < until_ms.get(offer, 0):
                early.append((offer, line["token"], at - since[offer], wait[offer]))
        elif line["event"] == "launch":
            wait.pop(offer, None)
        elif number in heard:
            if offer not in wait:
                wait[offer] = first_ms
            elif at > since[offer] + FLIGHT_MS:
                wait[offer] = min(most_ms, wait[offer] * 2)
            since[offer] = heard[number]
            until_ms[offer] = at + wait[offer]
    assert not early, early
    assert heard and asks > len(heard), (len(heard), asks)
    return len(heard), asks


CALM = (
    ("stintd stands between Slurm and EC2", Calm.start),
    ("300 jobs of two users complete on rented machines", Calm.run_load),
    ("machines of at least four types were rented", Calm.check_types),
    ("every machine is returned", Calm.check_returned),
    ("every machine joined by stint-join under its own name", Calm.check_joined),
    ("no intent rented twice", Calm.check_rented_once),
    ("the ledger equals the API's record of launches and terminations", Calm.check_books),
    ("it costs at most 60 % of one instance per job", Calm.check_costs),
    ("the oracle finds nothing", Calm.check_oracle),
    ("the operator's verbs answer", Calm.check_cli),
    ("another start changes nothing", Calm.check_restart),
    ("stintd leaves no core file", Calm.stop_with_abort),
    ("no secret is in any file", Calm.check_secrets),
)
STORM = (
    ("stintd stands between Slurm and EC2", Storm.start),
    ("all jobs complete", Storm.run_load),
    ("the faults happened", Storm.check_faults),
    ("no job is lost and none is left", Storm.check_complete),
    ("machines joined by stint-join, and heard there that they will be taken away", Storm.check_noticed),
    ("no intent rented twice", Storm.check_rented_once),
    ("nothing is left running", Storm.check_returned),
    ("no offer is asked for before its back-off ends", Storm.check_back_off),
    ("the ledger agrees with the API's record", Storm.check_books),
    ("the oracle finds nothing", Storm.check_oracle),
    ("stintd leaves no core file", Storm.stop_with_abort),
    ("no secret is in any file", Storm.check_secrets),
)

LATE = (
    ("stintd stands between Slurm and EC2", Late.start),
    ("it finds after a kill what EC2 shows late, and the jobs complete", Late.run_load),
    ("it has rented nothing in their place", Late.check_launches),
    ("every machine is returned", Late.check_returned),
    ("the oracle finds nothing", Late.check_oracle),
)


def main():
    if len(sys.argv) > 2 and sys.prefix != os.path.abspath(sys.argv[2]):
        python = f"{os.path.abspath(sys.argv[2])}/bin/python"
        os.execv(python, [python, *sys.argv])
    if sys.argv[3:] == ["late"]:
        return lab_tap.main(LATE, Late)
    return lab_tap.main(*((STORM, Storm) if len(sys.argv) > 3 else (CALM, Calm)))


if __name__ == "__main__":
    sys.exit(main())
