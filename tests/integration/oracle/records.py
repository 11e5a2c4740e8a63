# SPDX-License-Identifier: GPL-2.0-or-later
"""records - what the cloud and Slurm wrote down by themselves, for the oracle.

Nothing here asks Stint. Times are whole milliseconds since 1970; slurmctld.log has local time, which is
taken for that of this process. Lines that say nothing of machines or allocations are passed over.
"""
import csv
import datetime
import os
import re

HOUR_MS = 3600 * 1000
FOREVER = 1 << 62


# -- the cloud --

class Machine:
    """One machine, from when the cloud accepted it until it was gone."""

    def __init__(self, row):
        self.machine = row.get("machine") or row["id"]
        self.key = row["id"]
        self.name = row["name"]
        self.offer = row["offer"]
        self.price = int(row["price_microdollars_per_hour"] or 0)
        self.accepted = int(row["ms"])
        self.running = None     # billed from here
        self.notice = None      # the cloud said that it will take it
        self.returned = None    # the cloud was asked to take it back
        self.gone = None        # it is no more
        self.why = None         # returned, revoked, died
        self.billed_to = None
        self.starts = 0         # how often it came to run: once

    def lost_at(self):
        """When the cloud took it, or said that it will; None if it did neither."""
        ends = self.billed_to if self.billed_to is not None else self.gone
        times = [self.notice] if self.notice is not None else []
        if self.why in ("revoked", "died"):
            times.append(ends)
        return min(times) if times else None

    def end(self):
        return FOREVER if self.gone is None else self.gone


class Cloud:
    """The log of docs/reference/local-cloud.md. 'foreign': the beginnings of names that are another cluster's. A column
    'machine', where there is one, tells machines of the same id apart."""

    def __init__(self, path, foreign=()):
        self.machines = []
        self.accepted_again = []  # (ms, machine): the same machine was accepted twice
        living = {}
        with open(path, encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if row["name"].startswith(tuple(foreign)) and foreign:
                    continue
                self._take(row, living)

    def _take(self, row, living):
        of = row.get("machine") or row["id"]
        at = int(row["ms"])
        one = living.get(of)
        if row["event"] == "rented":
            if one is not None:
                self.accepted_again.append((at, one))
            one = Machine(row)
            living[of] = one
            self.machines.append(one)
        elif one is None:
            return  # the log began later
        elif row["event"] == "refused" and at == one.accepted:
            self.machines.remove(one)
            del living[of]
        elif row["event"] == "refused":
            one.gone, one.why = at, "refused"  # it was accepted, and could not be made
        elif row["event"] == "running":
            one.running = int(row["billed_from"] or at)
            one.price = int(row["price_microdollars_per_hour"] or one.price)
            one.starts += 1
        elif row["event"] == "notice":
            one.notice = at if one.notice is None else one.notice
        elif row["event"] == "returned":
            one.returned = at if one.returned is None else one.returned
        elif row["event"] == "gone":
            one.gone = at
            one.why = row["why"]
            one.billed_to = int(row["billed_to"]) if row["billed_to"] else None

    def by_name(self):
        found = {}
        for one in self.machines:
            found.setdefault(one.name, []).append(one)
        return found


class Billing:
    """Time into money, as docs/reference/files/catalogue.md says: begun steps, a minimum, rounded down once."""

    def __init__(self, step_ms=1000, minimum_ms=60000):
        self.step_ms = step_ms
        self.minimum_ms = minimum_ms

    def paid_until(self, one, at):
        """The end of the time that is paid for anyway if the machine runs at 'at'."""
        steps = -(-max(0, at - one.running) // self.step_ms)
        return one.running + max(steps * self.step_ms, self.minimum_ms)

    def bill(self, one, later_ms=0):
        """What it cost; 'later_ms': if it had ended that much later."""
        if one.running is None or one.billed_to is None:
            return 0
        span = max(0, one.billed_to + later_ms - one.running)
        paid = max(-(-span // self.step_ms) * self.step_ms, self.minimum_ms)
        return one.price * paid // HOUR_MS


# -- Slurm --

STAMP = re.compile(r"^\[(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)\] (.*)$")
JOB = r"JobId=(\d+(?:_\d+)?)(?:\((\d+)\))?(?![\d_\[*])"
ALLOCATE = re.compile(rf"Allocate {JOB} NodeList=(\S+)")
STARTED = re.compile(rf"_start_job: Started {JOB} in \S+ on (\S+)")
SUBMITTED = re.compile(r"_slurm_rpc_submit_batch_job: JobId=(\d+) ")
STATUS = re.compile(rf"_job_complete: {JOB} W(EXITSTATUS|TERMSIG) (\d+)")
CLEARED = re.compile(rf"(?:\bRequeuing|cleanup_completing:) {JOB}")
NOT_RESPONDING = re.compile(r"Nodes (\S+) not responding, setting DOWN")
ENDS = tuple((how, re.compile(pattern)) for how, pattern in (
    ("done", rf"_job_complete: {JOB} done"),
    ("requeued", rf"_job_complete: requeue {JOB}"),
    ("requeued", rf"\bRequeuing {JOB}"),
    ("node failed", rf"requeue job {JOB} due to failure of node"),
    ("node failed", rf"Killing {JOB} on (?:failed|DOWN) node"),
    ("requeued", rf"Batch {JOB} missing from batch node"),
    ("timed out", rf"Time limit exhausted for {JOB}"),
    ("cancelled", rf"REQUEST_KILL_JOB {JOB}"),
))


def milliseconds(stamp):
    return round(datetime.datetime.fromisoformat(stamp).timestamp() * 1000)


def clock(ms):
    return datetime.datetime.fromtimestamp(ms / 1000).strftime("%H:%M:%S.%f")[:-3]


def expand(text):
    """The names of a list of hosts: 'st-[1-3,7],n1'."""
    names = []
    for part in re.findall(r"[^,\[]+(?:\[[^\]]*\])?", text):
        head, _, ranges = part.partition("[")
        if not ranges:
            names.append(head)
            continue
        for one in ranges.rstrip("]").split(","):
            first, _, last = one.partition("-")
            names += [f"{head}{number:0{len(first)}d}" for number in range(int(first), int(last or first) + 1)]
    return names


class Run:
    """One allocation of a job."""

    def __init__(self, job, begin, nodes, line):
        self.job = job
        self.begin = begin
        self.nodes = nodes
        self.end = None
        self.cleared = 0    # when Slurm had cleared it off its nodes, if it says so
        self.how = None
        self.status = None  # of its script; a signal is below zero
        self.lines = [line]

    def __str__(self):
        end = f"{self.how} {clock(self.end)}" if self.end is not None else "still there"
        return f"job {self.job} on {','.join(self.nodes)}, allocated {clock(self.begin)}, {end} " \
               f"(slurmctld.log:{','.join(str(number) for number in self.lines)})"


class Slurm:
    """The allocations of slurmctld.log, and what Slurm itself thought of nodes. A job is named as in
    began.* and done.*: '12_' for one that is no array, '12_3' for a task of one."""

    def __init__(self, path, since=0):
        self.runs = {}           # of each job, in order
        self.submitted = set()   # ids
        self.down = {}           # nodes that Slurm itself gave up: when
        self.raw = {}            # id of an array's task: its name
        self.last = 0
        self._open = {}
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file, 1):
                found = STAMP.match(line)
                if found is None:
                    continue
                at = milliseconds(found[1])
                if at >= since:
                    self._take(number, at, found[2])

    def _name(self, found):
        name = found[1] if "_" in found[1] else found[1] + "_"
        if found[2]:
            self.raw[found[2]] = name
        return name

    def _take(self, number, at, text):
        self.last = at
        if "JobId=" not in text:
            found = NOT_RESPONDING.search(text)
            for name in expand(found[1]) if found else ():
                self.down.setdefault(name, at)
            return
        found = ALLOCATE.search(text) or STARTED.search(text)
        if found:
            self._begin(self._name(found), at, expand(found[3]), number)
            return
        found = SUBMITTED.search(text)
        if found:
            self.submitted.add(found[1])
            return
        found = STATUS.search(text)
        if found:
            run = self._open.get(self._name(found))
            if run is not None:
                run.status = int(found[4]) if found[3] == "EXITSTATUS" else -int(found[4])
            return
        found = CLEARED.search(text)
        if found and self._name(found) not in self._open:
            for run in self.runs.get(self._name(found), ())[-1:]:
                run.cleared = at
            return
        for how, pattern in ENDS:
            found = pattern.search(text)
            if found:
                self._end(self._name(found), at, how, number)
                return

    def _begin(self, job, at, nodes, number):
        if job in self._open:  # its end was not told: slurmctld was killed meanwhile
            self._end(job, at, "forgotten", number)
        run = Run(job, at, nodes, number)
        self._open[job] = run
        self.runs.setdefault(job, []).append(run)

    def _end(self, job, at, how, number):
        run = self._open.pop(job, None)
        if run is not None:
            run.end, run.how = at, how
            run.lines.append(number)

    def on_nodes(self):
        """The runs of each node, in order of their beginning."""
        found = {}
        for runs in self.runs.values():
            for run in runs:
                for node in run.nodes:
                    found.setdefault(node, []).append(run)
        for runs in found.values():
            runs.sort(key=lambda run: run.begin)
        return found


def read_jobcomp(path, raw, since=0):
    """The last state that jobcomp/filetxt has of each job, by name. 'raw': see Slurm."""
    states = {}
    if not os.path.exists(path):
        return states
    with open(path, encoding="utf-8", errors="replace") as file:
        for line in file:
            fields = dict(part.split("=", 1) for part in line.split() if "=" in part)
            try:
                ended = milliseconds(fields["EndTime"])
            except (KeyError, ValueError):
                ended = since
            if "JobId" in fields and ended + 1000 > since:
                states[raw.get(fields["JobId"], fields["JobId"] + "_")] = fields.get("JobState", "")
    return states


class Script:
    """What a job's script wrote: when and where it started (if it said so), and how often it ended."""

    def __init__(self):
        self.starts = []   # (ms or None, nodes)
        self.ends = []     # ms or None


def read_scripts(folder):
    """began.* and done.* of a folder, by job."""
    found = {}
    if not os.path.isdir(folder):
        return found
    for name in sorted(os.listdir(folder)):
        kind, _, job = name.partition(".")
        if kind not in ("began", "done") or not job:
            continue
        job = job if "_" in job else job + "_"
        script = found.setdefault(job, Script())
        with open(os.path.join(folder, name), encoding="utf-8", errors="replace") as file:
            for line in file.read().splitlines():
                words = line.split()
                at = int(words[0]) if words and words[0].isdigit() else None
                if kind == "began":
                    script.starts.append((at, expand(words[-1]) if len(words) > 2 else []))
                else:
                    script.ends.append(at)
    return found
