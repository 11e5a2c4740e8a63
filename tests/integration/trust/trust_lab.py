# SPDX-License-Identifier: GPL-2.0-or-later
"""trust_lab - a real Slurm, the local cloud and stintd with the settings that are shipped, ready to be hurt.

It stands on stint_lab and adds what faults need: a relay between stintd and the cloud (relay.py), a state
folder of its own file system, a library before libc that lets clocks and disks go wrong (faults.c), and a
second stintd. 'settings' is stint.conf as a dictionary; configure() writes it. A thread asks
the daemon every two seconds what it finds, so that the time from a fault to its finding can be told.

Nothing here judges; that is the oracle's (../oracle).
"""
import csv
import copy
import json
import os
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
for name in ("daemon", "slurm", "oracle"):
    sys.path.insert(0, os.path.join(HERE, "..", name))

import books  # noqa: E402
import lies  # noqa: E402
import oracle  # noqa: E402
import sampler  # noqa: E402
import slurm_lab  # noqa: E402
import stint_lab  # noqa: E402
from relay import Relay  # noqa: E402
from stint_lab import run, until  # noqa: E402

IGNORED_USER = "eve"
IGNORED_PARTITION = "other"
LIMIT = 24  # machines

# What examples/stint.conf says, but for paths, and for the estimate, which fits jobs of seconds.
SHIPPED = {
    "cluster": "lab",
    "mode": "act",
    "node_prefix": "st-",
    "policy": {"name": "stint"},
    "estimates": {"default": "15s", "learn": True},
    "limits": {"instances": LIMIT, "dollars_per_hour": 20},
    "timing": {"decide_delay": "100ms", "audit": "60s", "boot_timeout": "5m", "refused": "2m", "place_retry": "5s"},
    "engine": {"kind": "slurm", "poll": "500ms", "ignore_users": [IGNORED_USER],
               "ignore_partitions": [IGNORED_PARTITION]},
    "log": {"level": "info"},
}
# The same with less patience, for a machine that has fifteen minutes.
COMPRESSED = {"timing": {"decide_delay": "100ms", "audit": "10s", "boot_timeout": "30s", "refused": "5s",
                         "place_retry": "1s"}, "engine": {"poll": "200ms"}}


def now_ms():
    return time.time_ns() // 1000000


def merged(base, more):
    """'base' with the values of 'more', section by section; a value of None takes a key away."""
    found = copy.deepcopy(base)
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(found.get(key), dict):
            found[key] = merged(found[key], value)
        elif value is None:
            found.pop(key, None)
        else:
            found[key] = value
    return found


class Watch(sampler.Sampler):
    """The sampler of the oracle, which also remembers: 'seen' has (ms, kind) of each warning and error."""

    def __init__(self, lab):
        self.seen = []
        super().__init__(self.listen(lab), f"{lab.folder}/samples.jsonl", f"{lab.folder}/stintd.said.log")

    def listen(self, lab):
        def ask(path):
            answer = lab.ask(path)
            if path == "/v1/doctor":
                self.seen += [(now_ms(), one["kind"]) for one in answer["findings"] if one["severity"] != "note"]
            return answer
        return ask

    def kinds_since(self, moment):
        """{kind: seconds after 'moment' (ms) at which it was first seen}"""
        found = {}
        for at, kind in self.seen:
            if at >= moment:
                found.setdefault(kind, (at - moment) / 1000)
        return found


class TrustLab(stint_lab.StintLab):
    def __init__(self, folder, build, **settings):
        super().__init__(folder, build)
        state = f"{folder}/var/stint.db"
        self.settings = merged(merged(SHIPPED, {
            "state": state, "catalogue": f"{folder}/offers.yaml",
            "engine": {"program": self.program("stint-slurm")},
            "cloud": {"kind": "local", "socket": f"{folder}/relay.sock"},
            "http": {"socket": f"{folder}/stintd.sock", "listen": "127.0.0.1:9178"}}), settings)
        self.relay = None
        self.second = None
        self.types = books.TYPES
        self.spot = True
        self.cloud_options = ()
        self.watch = None
        self.preload = None
        self.more_conf = ""      # lines of slurm.conf
        self.wanted = True       # whether stintd shall run; supervise() starts it again then
        self.may_refuse = False  # whether it may refuse to start now
        self.was_refusable = False  # whether it might when it was started
        self.ended = []          # (when, status) of each stintd that ended by itself
        # For the oracle:
        self.crashes = []        # when slurmctld ended by itself
        self.losses = []         # which node does not answer from when on
        self.limits_told = []    # which limits held from when on

    # -- the cluster --

    def start(self):
        os.makedirs(f"{self.folder}/var")
        run("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", f"{self.folder}/var")
        os.makedirs(f"{self.folder}/faults")
        super().start()
        self.add_ignored_user()

    def add_ignored_user(self):
        for path, line in (("passwd", f"{IGNORED_USER}:x:2003:2003::/:/bin/sh\n"),
                           ("group", f"{IGNORED_USER}:x:2003:\n")):
            with open(f"{self.folder}/{path}", "a", encoding="utf-8") as file:
                file.write(line)

    def conf(self):
        return super().conf() + self.more_conf

    def start_ctld(self):
        """Jobs of the partition that Stint ignores are not gated."""
        self.ctld = self.spawn("slurmctld", "-D", env={"STINT_GATE": "default,cloud"})
        until(lambda: subprocess.run(["scontrol", "ping"], capture_output=True, text=True,
                                     check=False).stdout.find(" UP") > 0, 30, "slurmctld")

    def start_cloud(self, *options, spot=True, types=books.TYPES):
        self.cloud_options, self.spot, self.types = options, spot, types
        super().start_cloud(*options, spot=spot, types=types)
        self.set_catalogue()

    def restart_cloud(self):
        """Killed and started again, as systemd would; its machines die with it."""
        self.cloud.kill()
        self.cloud.wait()
        if os.path.exists(f"{self.folder}/cloud.sock"):
            os.unlink(f"{self.folder}/cloud.sock")
        stint_lab.StintLab.start_cloud(self, *self.cloud_options, spot=self.spot, types=self.types)

    def set_catalogue(self, without=None):
        """What stintd may rent; the cloud has a file of its own."""
        self.write("offers.yaml", books.catalogue(self.spot, [one for one in self.types if one.name != without]))

    def start_relay(self):
        self.relay = Relay(f"{self.folder}/relay.sock", f"{self.folder}/cloud.sock")

    def lie(self, which):
        """Lists of the cloud are a lie of that kind from now on; None: they are true. Returns when the first
        list of the last lie was told (ms), or None."""
        self.note(f"lie {which}")
        last, self.relay.down = self.relay.down, lies.KINDS[which]() if which else None
        return getattr(last, "told_at", None)

    def submit_foreign(self, seconds, user=IGNORED_USER, partition=IGNORED_PARTITION, options=()):
        """A job that is none of Stint's business, straight to any node of the moment; its id, or None."""
        script = "#!/bin/sh\necho began $SLURM_JOB_NODELIST >>%s/foreign.$SLURM_JOB_ID\nsleep %d\necho done >>%s/foreign.$SLURM_JOB_ID\n" % (
            self.out, seconds, self.out)
        done = subprocess.run(["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "sbatch", "--parsable", "-o",
                               "/dev/null", "-D", "/", "-t", "10", "-p", partition, "-c", "1", "--mem=200", *options],
                              input=script, capture_output=True, text=True, check=False)
        return done.stdout.strip() if done.returncode == 0 else None

    def broken_foreign(self):
        """Foreign jobs that began and did not end well, or began twice, though the cloud took none of their machines."""
        found = []
        with open(self.log, encoding="utf-8", newline="") as file:
            taken = {row["name"] for row in csv.DictReader(file)
                     if row["event"] == "gone" and "returned" not in row.values()}
        for name in os.listdir(self.out):
            if name.startswith("foreign."):
                with open(f"{self.out}/{name}", encoding="utf-8") as file:
                    said = file.read().split()
                if [said[0], *said[2:]] != ["began", "done"] and not taken & set(said):
                    found.append(name)
        return found

    def build_preload(self):
        """faults.c as a library; stintd is started with it from now on."""
        self.preload = f"{self.folder}/faults.so"
        run("cc", "-shared", "-fPIC", "-O1", "-o", self.preload, f"{HERE}/faults.c", "-ldl")

    def set_fault(self, name, value=None):
        """For faults.c: clock (seconds), sync (ms), write (errno); None: no more."""
        path = f"{self.folder}/faults/{name}"
        if value is None:
            if os.path.exists(path):
                os.unlink(path)
            return
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(f"{value}\n")
        os.rename(path + ".new", path)

    # -- stintd --

    def configure(self, **changes):
        before = self.settings.get("limits", {})
        self.settings = merged(self.settings, changes)
        self.tell_limits(before, self.settings.get("limits", {}))
        self.write("stint.conf", json.dumps(self.settings, indent=1) + "\n")

    def tell_limits(self, before, now):
        """A higher limit may be used at once, a lower one holds for what is asked for a second later: what is on its
        way by then was allowed."""
        if before == now and self.limits_told:
            return
        lower = any(now.get(key, 0) and (not before.get(key, 0) or now[key] < before[key]) for key in now)
        self.limits_told.append({"from": now_ms() + 1000 if lower and self.limits_told else
                                 now_ms() if self.limits_told else 0, "instances": now.get("instances", 0),
                                 "microdollars_per_hour": round(now.get("dollars_per_hour", 0) * 1e6)})

    def environment(self):
        if not self.preload:
            return {}
        return {"LD_PRELOAD": self.preload, "STINT_FAULTS": f"{self.folder}/faults"}

    def start_stintd(self, **changes):
        self.configure(**changes)
        self.wanted, self.was_refusable = True, self.may_refuse
        self.stintd = self.spawn(self.program("stintd"), "-c", f"{self.folder}/stint.conf",
                                 env=self.environment())

    def begin(self, spot=True, types=books.TYPES, cloud=(), **changes):
        """All of it, up to a daemon that is ready."""
        self.start()
        self.start_cloud(*cloud, spot=spot, types=types)
        self.start_relay()
        self.start_stintd(**changes)
        until(self.healthy, 40, "stintd")
        if self.watch is None:
            self.watch = Watch(self)

    def kill_stintd(self, sig=signal.SIGKILL):
        self.wanted = False
        if self.stintd.poll() is None:
            self.stintd.send_signal(sig)
        return self.stintd.wait(30)

    def restart_stintd(self, sig=signal.SIGKILL, **changes):
        status = self.kill_stintd(sig)
        self.start_stintd(**changes)
        return status

    def reload(self):
        """Whether the daemon took the configuration over, and what it said."""
        done = self.stint("reload")
        return done.returncode == 0, (done.stdout + done.stderr).strip()

    def stint(self, *words):
        return subprocess.run([self.program("stint"), *words], capture_output=True, text=True, check=False, timeout=60,
                              env={**os.environ, "STINT_SOCKET": f"{self.folder}/stintd.sock"})

    def supervise(self):
        """What systemd does: whatever ended by itself is started again, a second later."""
        if self.ctld.poll() is not None:
            self.crashes.append(now_ms())
            self.start_ctld()
        self.put_back_unlaunched()
        if self.wanted and self.stintd.poll() is not None:
            if not self.ended or time.monotonic() - self.ended[-1][0] > 1:
                self.ended.append((time.monotonic(), self.stintd.returncode, self.may_refuse or self.was_refusable))
                self.start_stintd()

    def start_second(self):
        """Another stintd of the same cluster, with a state of its own: what must not be."""
        other = merged(self.settings, {
            "state": f"{self.folder}/var/second.db",
            "http": {"socket": f"{self.folder}/second.sock", "listen": None}})
        self.write("second.conf", json.dumps(other) + "\n")
        with open(f"{self.folder}/second.said.log", "ab") as log:
            self.second = subprocess.Popen([self.program("stintd"), "-c", f"{self.folder}/second.conf"],
                                           stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                                           start_new_session=True)

    def stop_second(self):
        if self.second and self.second.poll() is None:
            self.second.kill()
            self.second.wait()

    def bridge_pids(self):
        """stint-slurm, as the child of the daemon."""
        if self.stintd.poll() is not None:
            return []
        try:
            lines = run("ps", "-o", "pid=,comm=", "--ppid", str(self.stintd.pid)).splitlines()
        except RuntimeError:
            return []  # it has no child at this moment
        return [int(line.split()[0]) for line in lines if line.split()[1].startswith("stint-slurm")]

    # -- what there is --

    def findings(self):
        try:
            return self.ask("/v1/doctor")["findings"]
        except (OSError, RuntimeError, ValueError, KeyError):
            return []

    def wait_finding(self, kinds, seconds=60):
        """A finding of one of these kinds, an error or a warning."""
        return until(lambda: [one for one in self.findings()
                              if one["kind"] in kinds and one["severity"] != "note"], seconds,
                     f"a finding of {'/'.join(kinds)}; there are {[one['kind'] for one in self.findings()]}")

    def slurm_nodes(self):
        """{name: state} of the rented machines."""
        lines = run("sinfo", "-h", "-N", "-o", "%N %t").splitlines()
        return {line.split()[0]: line.split()[1] for line in lines if line.startswith(self.settings["node_prefix"])}

    def running(self):
        """{job id: nodes}"""
        lines = run("squeue", "-h", "-t", "R", "-o", "%i %N").splitlines()
        return dict(line.split(None, 1) for line in lines if len(line.split()) > 1)

    def began(self):
        """{file: [(ms, job id, nodes)]} of what the jobs wrote when they started."""
        found = {}
        for name in os.listdir(self.out):
            if name.startswith("began."):
                with open(f"{self.out}/{name}", encoding="utf-8") as file:
                    found[name] = [line.split() for line in file if line.strip()]
        return found

    def restarted(self, work=None):
        """What began more than once, of the submissions 'work' or of all."""
        names = None if work is None else {name.replace("done.", "began.") for one in work for name in one.files()}
        return {name: lines for name, lines in self.began().items()
                if len(lines) > 1 and (names is None or name in names)}

    def most_machines(self):
        """The most that were rented at one time, by the cloud's own log."""
        steps = []
        for one in self.machines().values():
            steps.append((int(one["billed_from"]), 1))
            if one["billed_to"] and int(one["billed_to"]) >= 0:
                steps.append((int(one["billed_to"]), -1))
        now = most = 0
        for _, step in sorted(steps, key=lambda one: (one[0], one[1])):
            now += step
            most = max(most, now)
        return most

    def note(self, what):
        """What was done to the cluster, for who reads the logs."""
        with open(f"{self.folder}/notes.txt", "a", encoding="utf-8") as file:
            file.write(f"{now_ms()} {time.strftime('%H:%M:%S')} {what}\n")

    def consult(self, work, **told):
        """What the oracle says: (violations, notes)."""
        told = {"since": self.since, "judged_at": now_ms(),
                "jobs": [name.removeprefix("done.") for one in work for name in one.files()],
                "billing": {"step_ms": books.STEP_MS, "minimum_ms": books.MINIMUM_MS}, **told}
        return oracle.ask(self.folder, **told)

    def stop(self):
        if self.watch:
            self.watch.stop()
        self.wanted = False
        self.stop_second()
        super().stop()


def slurmctld_lines(lab, words):
    """The lines of slurmctld.log with one of the words."""
    with open(f"{lab.folder}/slurmctld.log", encoding="utf-8", errors="replace") as file:
        return [line.rstrip() for line in file if any(word in line for word in words)]


def keep(folder, target, name):
    """Copy the logs of a run that failed."""
    place = os.path.join(target, name)
    os.makedirs(place, exist_ok=True)
    for entry in os.listdir(folder):
        path = os.path.join(folder, entry)
        if os.path.isfile(path) and not os.path.islink(path) or entry in ("out", "var"):
            subprocess.run(["cp", "-r", path, place], check=False, capture_output=True)
    return place


def enclose_or_skip():
    """In the lab's namespaces the scratch folder; where no lab can be made, says so and ends."""
    if slurm_lab.INSIDE not in os.environ:
        reason = slurm_lab.why_not()
        if reason:
            print(f"1..0 # SKIP {reason}")
            sys.exit(0)
    return slurm_lab.enclose()
