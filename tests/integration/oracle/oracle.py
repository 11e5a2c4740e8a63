#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""oracle - whether jobs, machines and money were safe, by the records of the cloud and of Slurm alone.

    oracle.py FOLDER [--told FILE] [--skip RULE=WHY]...

FOLDER is that of a lab: cloud.csv (docs/reference/local-cloud.md), slurmctld.log, jobcomp.txt, and out/ with what the job
scripts wrote when they started (began.*) and ended (done.*). What only the test can know is in
oracle.json there, or in FILE; the class Told has it all. Eight rules are judged:

  1 limits     at every instant machines <= limit and the sum of their prices <= cap. A machine counts
               from when the cloud accepted it until it is gone
  2 once       at most one machine for an intent (a key, a name), and it runs once
  3 idle       no machine is without work for longer than what is paid for, plus 'idle_ms'
  4 end        every machine is gone 'end_ms' after the last job and after what is paid for
  5 jobs       every job completes; it starts once, and once more for each loss of a node that it had;
               no machine is given back while Slurm has an allocation there, unless the cloud gave notice
  6 ledger     the ledger is the cloud's bill
  7 spend      the bill is at most 'multiple' times the ideal, to which jobs that cannot start add nothing
  8 shown      a fault of more than 60 s is in doctor, log and metrics within 60 s

A rule that cannot be judged is a violation, unless the test skips it and says why. Violations are
printed with what shows them, and end the program with 1.

What it cannot see: an allocation that slurmctld did not log (its log level must be info or more), work that
is not Slurm's, and what a machine cost of which the cloud's log tells no end.
"""
import argparse
import json
import os
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import records  # noqa: E402
from records import clock  # noqa: E402

RULES = {1: "limits", 2: "once", 3: "idle", 4: "end", 5: "jobs", 6: "ledger", 7: "spend", 8: "shown"}
SHOWN_MS = 60000

# What an empty machine may take to go back when what is paid for is over: a look of the bridge (0.5 s by default),
# a decision (0.1 s), drain, journal and request (0.1 s each). Measured with 58 faults in 110 s: 0.1 s. The rest is
# for two cores that several labs share. A test in which stintd is stopped for longer tells more.
IDLE_MS = 5000

# The same for the end: the last job's, then the node's drain, then the return, then the cloud's own time.
END_MS = 10000


class Told:
    """What the test tells; every field of oracle.json. Times are ms since 1970."""

    def __init__(self, **fields):
        self.since = 0            # what slurmctld wrote before is of another test
        self.judged_at = None     # when the logs were read; else the end of the logs
        self.limits = None        # {"instances": 10, "microdollars_per_hour": 0}, 0: none; or a list of
        #                           these, each with "from", in order
        self.billing = {}         # step_ms, minimum_ms
        self.idle_ms = IDLE_MS
        self.excused = []         # {"from", "to", "why"}: nobody could give a machine back then
        self.end_ms = END_MS
        self.jobs = None          # names that must complete ("12_", "12_3"); None: all that Slurm knows
        self.unfinished = {}      # job: why it need not complete (cancelled by the test, impossible)
        self.movable = []         # jobs that may be moved: --comment=stint:move
        self.losses = []          # {"ms", "node", "why"}: the test took the node from its job
        self.requeues = []        # {"ms", "job"}: an operator put the job back
        self.crashes = []         # ms: slurmctld was killed, and forgot what it had not saved
        self.ledger = None        # {"bill_microdollars"}; with "late_ms", what was revoked may have ended so late
        self.ideal_microdollars = None
        self.multiple = None
        self.faults = None        # {"kind", "begin", "end", "log": regex, "metric": name}
        self.samples = "samples.jsonl"
        self.cloud = "cloud.csv"
        self.foreign = []         # beginnings of names of machines of other clusters
        self.skip = {}            # rule: why it cannot be judged
        for name, value in fields.items():
            if not hasattr(self, name):
                raise TypeError(f"the oracle cannot be told '{name}'")
            setattr(self, name, value)
        self.skip = {int(rule): why for rule, why in self.skip.items()}


class Unjudged(Exception):
    """A rule lacks what it needs."""


class Oracle:
    def __init__(self, folder, told):
        self.folder = folder
        self.told = told
        self.billing = records.Billing(**told.billing)
        self.cloud = records.Cloud(os.path.join(folder, told.cloud), told.foreign)
        self.slurm = records.Slurm(f"{folder}/slurmctld.log", told.since)
        self.completed = records.read_jobcomp(f"{folder}/jobcomp.txt", self.slurm.raw, told.since)
        self.scripts = records.read_scripts(f"{folder}/out")
        self.on_nodes = self.slurm.on_nodes()
        self.lost = self.find_losses()
        last = max([one.gone or 0 for one in self.cloud.machines] + [self.slurm.last])
        self.judged_at = told.judged_at or last
        self.violations = []  # (rule, text)
        self.notes = []

    def find_losses(self):
        """When each node was really lost: by the cloud's log, by Slurm's own, by the test's hand."""
        lost = {}
        for one in self.cloud.machines:
            if one.lost_at() is not None:
                lost[one.name] = min(one.lost_at(), lost.get(one.name, records.FOREVER))
        for name, at in self.slurm.down.items():
            lost[name] = min(at, lost.get(name, records.FOREVER))
        for one in self.told.losses:
            lost[one["node"]] = min(one["ms"], lost.get(one["node"], records.FOREVER))
        return lost

    def blame(self, rule, text):
        self.violations.append((rule, text))

    def judge(self):
        for rule, name in RULES.items():
            if rule in self.told.skip:
                self.notes.append(f"rule {rule} ({name}) is not judged: {self.told.skip[rule]}")
                continue
            before = len(self.violations)
            try:
                said = getattr(self, f"judge_{name}")()
            except Unjudged as why:
                self.blame(rule, f"cannot be judged, and the test does not say why: {why}")
                continue
            if len(self.violations) == before:
                self.notes.append(f"rule {rule} ({name}) holds: {said}")
        return self.violations

    # -- 1: limits --

    def limits(self):
        given = self.told.limits
        if given is None:
            raise Unjudged("no limits are told")
        given = [given] if isinstance(given, dict) else given
        return [(one.get("from", 0), one.get("instances", 0), one.get("microdollars_per_hour", 0))
                for one in given]

    def judge_limits(self):
        """The sums grow only when a machine is accepted, so these instants are enough; a limit that was
        lowered holds for what is accepted after it."""
        limits = self.limits()
        steps = [(one.accepted, 1, one) for one in self.cloud.machines]
        steps += [(one.gone, 0, one) for one in self.cloud.machines if one.gone is not None]
        steps.sort(key=lambda step: step[:2])
        living, worst, dearest = {}, 0, 0
        broken = set()
        for at, comes, one in steps:
            if not comes:
                living.pop(id(one), None)
                continue
            living[id(one)] = one
            _, most, cap = [limit for limit in limits if limit[0] <= at][-1]
            price = sum(other.price for other in living.values())
            worst, dearest = max(worst, len(living)), max(dearest, price)
            if most and len(living) > most and "machines" not in broken:
                broken.add("machines")
                self.blame(1, f"{len(living)} machines at {clock(at)} under a limit of {most}: "
                              f"{', '.join(other.name for other in living.values())}")
            if cap and price > cap and "price" not in broken:
                broken.add("price")
                self.blame(1, f"${price / 1e6:.6f} per hour at {clock(at)} under a cap of ${cap / 1e6:.6f}: "
                              f"{', '.join(other.name for other in living.values())}")
        if broken:
            self.blame(1, f"the most at one time: {worst} machines, ${dearest / 1e6:.6f} per hour")
        return f"at most {worst} machines and ${dearest / 1e6:.6f} per hour at one time"

    # -- 2: once --

    def judge_once(self):
        for what in ("key", "name"):
            groups = {}
            for one in self.cloud.machines:
                groups.setdefault(getattr(one, what), []).append(one)
            for value, group in groups.items():
                if len(group) > 1:
                    self.blame(2, f"{len(group)} machines of {what} {value}: " + ", ".join(
                        f"{one.machine} accepted {clock(one.accepted)}" for one in group))
        for one in self.cloud.machines:
            if one.starts > 1:
                self.blame(2, f"{one.name} came to run {one.starts} times")
        return f"{len(self.cloud.machines)} machines, each of its own key and name"

    # -- 3 and 4: idle, end --

    def idle_spans(self, one):
        """(from, to) in which nothing was allocated there, while it ran."""
        until = min(one.returned or records.FOREVER, one.end(), self.judged_at)
        at = one.running
        for run in self.on_nodes.get(one.name, ()):
            if run.begin > at:
                yield at, min(run.begin, until)
            at = max(at, run.cleared, run.end if run.end is not None else until)
        if at < until:
            yield at, until

    def judge_idle(self):
        longest = 0
        for one in self.cloud.machines:
            if one.running is None:
                self.judge_never_up(one)
                continue
            for begin, end in self.idle_spans(one):
                free = max(begin, self.billing.paid_until(one, begin))
                over = end - free - self.excused_ms(free, end)
                longest = max(longest, over)
                if over > self.told.idle_ms:
                    self.blame(3, f"{one.name} ({one.offer}, running since {clock(one.running)}) had no work from "
                                  f"{clock(begin)} to {clock(end)}, {over / 1000:.1f} s more than was paid for; "
                                  f"{self.told.idle_ms / 1000:g} s are allowed")
        return f"at most {longest / 1000:.1f} s beyond what was paid for"

    def excused_ms(self, begin, end):
        return sum(max(0, min(end, one["to"]) - max(begin, one["from"])) for one in self.told.excused) \
            if end > begin else 0

    def judge_never_up(self, one):
        """Accepted, and never billed: it costs nothing yet, but may not stay for ever."""
        if min(one.end(), self.judged_at) - one.accepted > self.told.idle_ms + self.billing.minimum_ms:
            self.blame(3, f"{one.name} ({one.offer}) was accepted {clock(one.accepted)} and has not run since")

    def last_end(self):
        ends = [run.end if run.end is not None else self.judged_at
                for runs in self.slurm.runs.values() for run in runs]
        ends += [at for script in self.scripts.values() for at in script.ends if at]
        return max(ends, default=self.told.since)

    def judge_end(self):
        last, longest = self.last_end(), 0
        for one in self.cloud.machines:
            paid = self.billing.paid_until(one, last) if one.running is not None and one.running <= last \
                else max(last, one.accepted) + self.billing.minimum_ms
            deadline = max(last, paid) + self.told.end_ms
            longest = max(longest, min(one.end(), self.judged_at) - last)
            if min(one.end(), self.judged_at) > deadline:
                when = f"was gone {clock(one.gone)}" if one.gone else f"is still there at {clock(self.judged_at)}"
                self.blame(4, f"{one.name} ({one.offer}) {when}; the last job ended {clock(last)}, and what was "
                              f"paid for at {clock(max(last, paid))}")
            elif one.gone is None:
                self.blame(4, f"{one.name} ({one.offer}) is still there at {clock(self.judged_at)}: judged too early")
        return f"the last machine was gone {longest / 1000:.1f} s after the last job" if last else \
            f"no job ever had a node; {len(self.cloud.machines)} machines are gone"

    # -- 5: jobs --

    def explains(self, run):
        """Why the run may have ended before its job did, or None."""
        for node in run.nodes:
            if self.lost.get(node, records.FOREVER) <= run.end:
                return f"{node} was lost {clock(self.lost[node])}"
        if run.job in self.told.movable:
            return "it may be moved"
        for one in self.told.requeues:
            name = one["job"] if "_" in one["job"] else one["job"] + "_"
            if run.job == name and abs(one["ms"] - run.end) < 5000:
                return "an operator put it back"
        for at in self.told.crashes:
            if run.begin - 10000 <= at <= run.end:
                return "slurmctld was killed"
        return None

    def never_began(self, run):
        """Whether its script tells when it began, and never did in this run: slurmctld that is restarted gives up launches that are
        under way, and puts back a job whose slurmd has not answered in MessageTimeout."""
        script = self.scripts.get(run.job)
        times = [at for at, _ in script.starts] if script else []
        return run.how == "requeued" and bool(times) and None not in times and not any(run.begin - 1000 <= at <= run.end for at in times)

    def expected(self):
        if self.told.jobs is not None:
            return [name if "_" in name else name + "_" for name in self.told.jobs]
        names = set(self.slurm.runs) | set(self.scripts)
        arrays = {name.split("_")[0] for name in names if not name.endswith("_")}
        return sorted(names | {f"{one}_" for one in self.slurm.submitted if one not in arrays})

    def is_complete(self, job):
        if job in self.scripts:
            return bool(self.scripts[job].ends)
        if job in self.completed:
            return self.completed[job] == "COMPLETED"
        runs = self.slurm.runs.get(job)
        return bool(runs) and runs[-1].how == "done" and not runs[-1].status

    def judge_jobs(self):
        jobs = self.expected()
        if not jobs:
            raise Unjudged("there were no jobs")
        unfinished = {name if "_" in name else name + "_" for name in self.told.unfinished}
        for job in jobs:
            if job not in unfinished and not self.is_complete(job):
                self.blame_incomplete(job)
        losses = sum(self.judge_runs(job, runs) for job, runs in self.slurm.runs.items())
        for job, script in self.scripts.items():
            self.judge_starts(job, script)
        self.judge_returns()
        return f"{len(jobs)} jobs, {len(self.cloud.machines)} machines, {losses} restarts explained by losses"

    def blame_incomplete(self, job):
        runs = self.slurm.runs.get(job, [])
        state = self.completed.get(job)
        self.blame(5, f"job {job} is not complete" + (f", Slurm says {state}" if state else "") + "; " +
                   ("; ".join(str(run) for run in runs) if runs else "it never had a node"))

    def judge_runs(self, job, runs):
        """How many restarts of the job are explained."""
        explained = 0
        for run, after in zip(runs, runs[1:]):
            if self.explains(run):
                explained += 1
            elif not self.never_began(run):
                self.blame(5, f"{run}; then again on {','.join(after.nodes)} {clock(after.begin)}; none of its nodes "
                              "was lost")
        last = runs[-1]
        if last.end is not None and last.how in ("requeued", "node failed", "forgotten") and not self.explains(last):
            self.blame(5, f"{last}; none of its nodes was lost")
        return explained

    def judge_starts(self, job, script):
        """The script is a second witness: slurmctld's log may have gaps."""
        runs = self.slurm.runs.get(job, [])
        allowed = 1 + sum(1 for run in runs if run.how != "done" and run.end is not None and self.explains(run))
        allowed += sum(1 for run in runs[:-1] if run.how == "done" and self.explains(run))
        if len(script.starts) > max(allowed, len(runs)):
            where = ", ".join(f"{clock(at) if at else '?'} {','.join(nodes)}" for at, nodes in script.starts)
            self.blame(5, f"the script of job {job} started {len(script.starts)} times ({where}), and Slurm tells "
                          f"of {len(runs)} allocations")

    def judge_returns(self):
        for one in self.cloud.machines:
            if one.returned is None or (one.notice is not None and one.notice <= one.returned):
                continue
            if self.lost.get(one.name, records.FOREVER) <= one.returned:
                continue
            for run in self.on_nodes.get(one.name, ()):
                if run.begin < one.returned < (records.FOREVER if run.end is None else run.end):
                    self.blame(5, f"{one.name} was given back {clock(one.returned)} under {run}")

    # -- 6 and 7: money --

    def bill(self, late_ms=0):
        return sum(self.billing.bill(one, late_ms if one.why in ("revoked", "died") else 0)
                   for one in self.cloud.machines)

    def judge_ledger(self):
        if self.told.ledger is None:
            raise Unjudged("no ledger is told")
        ledger = self.told.ledger["bill_microdollars"]
        least, most = self.bill(), self.bill(self.told.ledger.get("late_ms", 0))
        if not least <= ledger <= most:
            self.blame(6, f"the ledger says ${ledger / 1e6:.6f}, the cloud's log ${least / 1e6:.6f}" +
                       (f" to ${most / 1e6:.6f}" if most > least else ""))
        return f"${ledger / 1e6:.6f}"

    def judge_spend(self):
        if self.told.ideal_microdollars is None or self.told.multiple is None:
            raise Unjudged("no ideal and no multiple are told")
        bill, ideal = self.bill(), self.told.ideal_microdollars
        if bill > ideal * self.told.multiple:
            self.blame(7, f"${bill / 1e6:.6f} were spent, {self.told.multiple:g} times the ideal of "
                          f"${ideal / 1e6:.6f} are allowed; {len(self.cloud.machines)} machines")
        share = f"{bill / ideal:.3f} of the ideal" if ideal else "nothing was to be spent"
        return f"${bill / 1e6:.6f}, {share}"

    # -- 8: shown --

    def judge_shown(self):
        if self.told.faults is None:
            raise Unjudged("no faults are told")
        long = [one for one in self.told.faults if one["end"] - one["begin"] > SHOWN_MS]
        samples = read_samples(os.path.join(self.folder, self.told.samples)) if long else []
        slowest = 0
        for fault in long:
            window = [one for one in samples if fault["begin"] <= one["ms"] <= fault["begin"] + SHOWN_MS]
            for where, shows in (("doctor", in_doctor), ("the log", in_log), ("the metrics", in_metrics)):
                seen = next((one["ms"] for one in window if shows(fault, one)), None)
                if seen is None:
                    self.blame(8, f"'{fault['kind']}' from {clock(fault['begin'])} to {clock(fault['end'])} is not in "
                                  f"{where} within {SHOWN_MS // 1000} s ({len(window)} samples)")
                else:
                    slowest = max(slowest, seen - fault["begin"])
        return f"{len(long)} faults of more than a minute, shown after {slowest / 1000:.1f} s at most"


def in_doctor(fault, sample):
    return any(one.get("kind") == fault["kind"] for one in sample.get("findings") or ())


def in_log(fault, sample):
    pattern = fault.get("log", re.escape(fault["kind"]))
    return any(re.search(pattern, line) for line in sample.get("log") or ())


def in_metrics(fault, sample):
    """Above zero: the named series, else the count of findings that are more than notes."""
    wanted = fault.get("metric")
    for name, value in (sample.get("metrics") or {}).items():
        found = name.startswith(wanted) if wanted else \
            name.startswith("stint_findings{") and 'severity="note"' not in name
        if found and value > 0:
            return True
    return False


def read_samples(path):
    """Written by sampler.py."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def ask(folder, **told):
    """(violations, notes) of a lab's folder. What is told is kept there, so that the program can be run on
    the folder once more."""
    with open(os.path.join(folder, "oracle.json"), "w", encoding="utf-8") as file:
        json.dump(told, file, indent=1, default=str)
    oracle = Oracle(folder, Told(**told))
    violations = oracle.judge()
    return [f"rule {rule} ({RULES[rule]}): {text}" for rule, text in violations], oracle.notes


def main():
    parser = argparse.ArgumentParser(description="judge the folder of a lab")
    parser.add_argument("folder")
    parser.add_argument("--told", help="JSON: what the test knows (FOLDER/oracle.json)")
    parser.add_argument("--skip", action="append", default=[], metavar="RULE=WHY")
    options = parser.parse_args()
    path = options.told or os.path.join(options.folder, "oracle.json")
    fields = {}
    if options.told or os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            fields = json.load(file)
    told = Told(**fields)
    for one in options.skip:
        rule, _, why = one.partition("=")
        told.skip[int(rule)] = why or "asked for"
    oracle = Oracle(options.folder, told)
    violations = oracle.judge()
    for note in oracle.notes:
        print(note)
    for rule, text in violations:
        print(f"VIOLATION of rule {rule} ({RULES[rule]}): {text}")
    print(f"{len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
