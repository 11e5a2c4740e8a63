# SPDX-License-Identifier: GPL-2.0-or-later
"""faults - what can go wrong around stintd, one small class each.

A fault begins, lasts for some seconds (or is a moment, and happens several times) and ends; all chance comes
from the generator that it is given. 'findings' are the kinds of which `stint doctor` must show one, as a warning or an
error, within 60 s of since() if the fault lasts that long; 'log' is what its log says then. While a fault 'blocks', stintd
cannot give machines back, and until 'slack' seconds after it; the oracle allows as much.

FAULTS has all of them by group; campaign.py draws from it.
"""
import os
import shutil
import signal
import subprocess
import time

from trust_lab import now_ms, run, until


class Fault:
    lasts = (5, 60)     # seconds; (0, 0): a moment
    times = (1, 1)      # how often in one run
    findings = ()
    log = "."
    blocks = False
    slack = 10          # several labs share the host
    clash = None        # two of the same word are not drawn together: they would undo each other

    def __init__(self, lab, rng):
        self.lab = lab
        self.rng = rng
        self.seconds = rng.uniform(*self.lasts)

    def begin(self):
        """Whether it could be done now; else it is tried again a second later."""
        raise NotImplementedError

    def end(self):
        pass

    def since(self, began):
        """When it could be noticed, in ms; None: never."""
        return began

    @classmethod
    def label(cls):
        return cls.__name__


class Moment(Fault):
    lasts = (0, 0)


# -- what was tried before --

class Revoke(Moment):
    times = (3, 15)

    def begin(self):
        living = self.lab.living()
        if not living:
            return False
        return self.lab.tell_cloud(f"revoke key=1 id={self.rng.choice(living)['id']}").startswith("done")


class RevokeWithNotice(Moment):
    times = (3, 10)

    def begin(self):
        living = self.lab.living()
        if not living:
            return False
        span = self.rng.choice((500, 3000, 20000))
        return self.lab.tell_cloud(f"revoke key=1 id={self.rng.choice(living)['id']} notice_ms={span}").startswith("done")


class KillDaemon(Moment):
    slack = 15  # it starts, asks for everything, and decides
    times = (2, 12)

    def begin(self):
        self.lab.restart_stintd()
        return True


class KillBridge(Moment):
    slack = 15
    times = (2, 6)

    def begin(self):
        pids = self.lab.bridge_pids()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        return bool(pids)


class KillCloud(Moment):
    """Its machines die with it."""
    slack = 30
    times = (1, 2)

    def begin(self):
        self.lab.restart_cloud()
        return True


class RestartCtld(Moment):
    """As an administrator does it: it saves its state first."""
    slack = 30
    times = (1, 3)

    def begin(self):
        self.lab.restart_ctld()
        return True


class Refusals(Fault):
    lasts = (10, 90)

    def begin(self):
        return self.lab.tell_cloud("fault key=1 refuse=300").startswith("done")

    def end(self):
        self.lab.tell_cloud("fault key=1 refuse=0")


class LateAndTwice(Fault):
    slack = 15
    lasts = (20, 120)

    def begin(self):
        return self.lab.tell_cloud("fault key=1 delay_ms=1500 duplicate=300").startswith("done")

    def end(self):
        self.lab.tell_cloud("fault key=1 delay_ms=0 duplicate=0")


class CutConnections(Fault):
    """Between the act and its answer."""
    slack = 30
    lasts = (10, 60)

    def begin(self):
        return self.lab.tell_cloud("fault key=1 cut=150").startswith("done")

    def end(self):
        self.lab.tell_cloud("fault key=1 cut=0")


# -- lies --

class Lie(Fault):
    """With or without a restart of stintd while it lasts."""
    clash = "list"
    blocks = True
    slack = 75  # the next audit
    lasts = (1, 300)
    findings = ("missing-machines", "second-daemon", "link-down")
    which = None

    def __init__(self, lab, rng):
        super().__init__(lab, rng)
        self.seconds = rng.choice((1, 5, 30, rng.uniform(60, 150), 300))
        self.restart = rng.random() < 0.5

    def begin(self):
        if not self.lab.living():
            return False
        self.lab.lie(self.which)
        if self.restart:
            self.lab.restart_stintd()
        return True

    def end(self):
        self.told_at = self.lab.lie(None)

    def since(self, began):
        """It is one as soon as a list was asked for."""
        return self.told_at


class EmptyList(Lie):
    which = "empty"


class PartialList(Lie):
    which = "partial"


class StaleList(Lie):
    which = "stale"
    findings = ()  # nothing can tell it from a truth, while machines that it shows are there


class ForeignList(Lie):
    which = "foreign"


class MalformedList(Lie):
    which = "malformed"


class SilentCloud(Lie):
    which = "silent"


# -- storage --

class FullDisk(Fault):
    clash = "state"
    slack = 15
    blocks = True
    lasts = (5, 90)
    findings = ("store",)

    def begin(self):
        """The rest of the file system of the state folder is taken."""
        path = f"{self.lab.folder}/var/filler"
        with open(path, "wb", buffering=0) as file:  # what a buffer still holds cannot be written at the end either
            try:
                while True:
                    file.write(b"\0" * 65536)
            except OSError:
                pass
        return True

    def end(self):
        os.unlink(f"{self.lab.folder}/var/filler")


class FullDiskAndRestart(FullDisk):
    def begin(self):
        super().begin()
        self.lab.may_refuse = True  # what cannot be written cannot be begun
        self.lab.restart_stintd()
        return True

    def end(self):
        super().end()
        time.sleep(3)
        self.lab.may_refuse = False


class SlowSync(Fault):
    slack = 15
    lasts = (20, 90)
    preload = True

    def begin(self):
        self.lab.set_fault("sync", self.rng.choice((200, 700, 1500)))
        return True

    def end(self):
        self.lab.set_fault("sync")


class ReadOnly(Fault):
    clash = "state"
    slack = 15
    blocks = True
    lasts = (5, 90)
    preload = True
    findings = ("store",)

    def begin(self):
        self.lab.set_fault("write", 30)  # EROFS
        return True

    def end(self):
        self.lab.set_fault("write")


class BrokenDisk(ReadOnly):
    def begin(self):
        self.lab.set_fault("write", 5)  # EIO
        return True


class OldBackup(Fault):
    """The state file of some seconds ago comes back, as after a restore."""
    clash = "state"
    slack = 75
    lasts = (5, 60)

    def begin(self):
        self.lab.kill_stintd(signal.SIGTERM)
        self.copy("var", "backup")
        self.lab.start_stintd()
        return True

    def copy(self, source, target):
        folder = f"{self.lab.folder}/{target}"
        os.makedirs(folder, exist_ok=True)
        for name in ("stint.db", "stint.db-wal", "stint.db-shm"):
            if os.path.exists(f"{folder}/{name}"):
                os.unlink(f"{folder}/{name}")
            if os.path.exists(f"{self.lab.folder}/{source}/{name}"):
                shutil.copy(f"{self.lab.folder}/{source}/{name}", f"{folder}/{name}")

    def end(self):
        self.lab.kill_stintd()
        self.copy("backup", "var")
        self.lab.start_stintd()


# -- time --

class ClockForward(Fault):
    clash = "clock"
    slack = 75
    blocks = True
    lasts = (10, 90)
    preload = True
    by = (5, 20, 3600, 86400 * 365)

    def begin(self):
        self.lab.set_fault("clock", self.rng.choice(self.by))
        if self.rng.random() < 0.5:
            self.lab.restart_stintd()
        return True

    def end(self):
        self.lab.set_fault("clock")


class ClockBack(ClockForward):
    by = (-5, -20, -3600, -86400 * 365)


# -- Slurm --

class StopCtld(Fault):
    """It hangs, and goes on."""
    slack = 30
    blocks = True
    lasts = (30, 75)
    findings = ("link-down", "hung", "late-audit", "engine", "silent")

    def begin(self):
        self.lab.ctld.send_signal(signal.SIGSTOP)
        return True

    def end(self):
        self.lab.ctld.send_signal(signal.SIGCONT)


class StopBridge(Fault):
    slack = 30
    blocks = True
    lasts = (30, 75)
    findings = ("link-down", "hung", "late-audit", "engine", "silent")

    def begin(self):
        self.pids = self.lab.bridge_pids()
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)
        return bool(self.pids)

    def end(self):
        for pid in self.pids:
            try:
                os.kill(pid, signal.SIGCONT)
            except ProcessLookupError:
                pass  # somebody has seen that it hung


class StopSlurmd(Fault):
    """Of one machine; if it lasts, Slurm sets the node down."""
    slack = 30
    blocks = True
    lasts = (5, 90)

    def begin(self):
        found = run("ps", "-e", "-o", "pid=,comm=").splitlines()
        pids = [int(line.split()[0]) for line in found if line.split()[1] == "slurmd"]
        if not pids:
            return False
        self.pid = self.rng.choice(pids)
        with open(f"/proc/{self.pid}/cmdline", encoding="utf-8") as file:
            words = file.read().split("\0")
        os.kill(self.pid, signal.SIGSTOP)
        self.lab.losses.append({"ms": now_ms(), "node": words[words.index("-N") + 1], "why": "its slurmd hangs"})
        return True

    def end(self):
        try:
            os.kill(self.pid, signal.SIGCONT)
        except ProcessLookupError:
            pass


class AdminDrain(Fault):
    lasts = (5, 60)
    times = (1, 3)

    def begin(self):
        nodes = [name for name, state in self.lab.slurm_nodes().items() if state in ("mix", "alloc", "idle")]
        if not nodes:
            return False
        self.node = self.rng.choice(nodes)
        run("scontrol", "update", f"nodename={self.node}", "state=drain", "reason=disk")
        return True

    def end(self):
        subprocess.run(["scontrol", "update", f"nodename={self.node}", "state=resume"], check=False, capture_output=True)


class AdminRequeue(Moment):
    times = (1, 5)

    def begin(self):
        running = list(self.lab.running())
        if not running:
            return False
        job = self.rng.choice(running)
        run("scontrol", "requeue", job)
        self.lab.requeues.append({"ms": now_ms(), "job": job})
        return True


class HoldAndRelease(Fault):
    lasts = (3, 40)
    times = (1, 3)

    def begin(self):
        jobs = run("squeue", "-h", "-t", "PD", "-o", "%A").split()
        if not jobs:
            return False
        self.jobs = self.rng.sample(sorted(set(jobs)), min(5, len(set(jobs))))
        for job in self.jobs:
            subprocess.run(["scontrol", "hold", job], check=False, capture_output=True)
        return True

    def end(self):
        for job in self.jobs:
            subprocess.run(["scontrol", "release", job], check=False, capture_output=True)


class Suspend(Fault):
    lasts = (3, 40)
    times = (1, 3)

    def begin(self):
        running = list(self.lab.running())
        if not running:
            return False
        self.job = self.rng.choice(running)
        run("scontrol", "suspend", self.job)
        return True

    def end(self):
        subprocess.run(["scontrol", "resume", self.job], check=False, capture_output=True)


class PartitionDown(Fault):
    lasts = (10, 90)

    def begin(self):
        run("scontrol", "update", "partitionname=cloud", "state=down")
        return True

    def end(self):
        until(lambda: subprocess.run(["scontrol", "update", "partitionname=cloud", "state=up"], check=False,
                                     capture_output=True).returncode == 0, 60, "the partition to be up")


class Reconfigure(Moment):
    slack = 15
    times = (1, 5)

    def begin(self):
        run("scontrol", "reconfigure")
        return True


class ForeignJob(Moment):
    """On a rented machine, of a user or in a partition that Stint ignores."""
    times = (1, 4)

    def begin(self):
        if not self.lab.slurm_nodes():
            return False
        return self.lab.submit_foreign(self.rng.randint(20, 100)) is not None


# -- the operator --

class LoseOffer(Fault):
    """A type that is in use leaves the catalogue."""
    clash = "configuration"
    slack = 75
    blocks = True
    lasts = (20, 90)
    findings = ("former-offer",)

    def begin(self):
        living = self.lab.living()
        if not living:
            return False
        self.lab.set_catalogue(without=self.rng.choice(living)["offer"].split("/")[0])
        self.lab.may_refuse = True
        self.lab.restart_stintd()
        return True

    def end(self):
        self.lab.set_catalogue()
        self.lab.restart_stintd()
        time.sleep(1)
        self.lab.may_refuse = False


class ChangePrefix(Fault):
    clash = "configuration"
    slack = 15
    blocks = True
    lasts = (10, 60)

    def begin(self):
        self.lab.may_refuse = True
        self.lab.restart_stintd(node_prefix="xx-")
        return True

    def end(self):
        self.lab.restart_stintd(node_prefix="st-")
        time.sleep(1)
        self.lab.may_refuse = False


class ChangePartitions(Fault):
    """Jobs that run on rented machines are not ours any more, and then are again."""
    clash = "configuration"
    slack = 75
    blocks = True
    lasts = (10, 60)

    def begin(self):
        self.lab.may_refuse = True
        self.lab.restart_stintd(signal.SIGTERM, engine={"only_partitions": ["gate"]})
        return True

    def end(self):
        self.lab.restart_stintd(signal.SIGTERM, engine={"only_partitions": None})
        time.sleep(1)
        self.lab.may_refuse = False


class LowerLimits(Fault):
    """Below what runs; what runs stays. Machines may stand empty because others of a gang may not be rented."""
    blocks = True
    slack = 15
    clash = "configuration"
    lasts = (10, 90)

    def begin(self):
        self.before = dict(self.lab.settings["limits"])
        self.lab.configure(limits={"instances": 8, "dollars_per_hour": 5})
        return self.lab.reload()[0]

    def end(self):
        self.lab.configure(limits=self.before)
        until(lambda: self.lab.reload()[0], 30, "the old limits")


class Modes(Fault):
    """act -> advise -> act, and through shadow."""
    clash = "configuration"
    slack = 15
    blocks = True
    lasts = (5, 40)

    def begin(self):
        self.shadow = self.rng.random() < 0.5
        if self.shadow:
            self.lab.restart_stintd(signal.SIGTERM, mode="shadow")
            return True
        self.lab.configure(mode="advise")
        return self.lab.reload()[0]

    def end(self):
        if self.shadow:
            self.lab.restart_stintd(signal.SIGTERM, mode="act")
        else:
            self.lab.configure(mode="act")
            until(lambda: self.lab.reload()[0], 30, "the mode act")


class Drain(Fault):
    clash = "configuration"
    lasts = (5, 60)

    def begin(self):
        return self.lab.stint("drain").returncode == 0

    def end(self):
        until(lambda: self.lab.stint("drain", "--off").returncode == 0, 60, "the end of the drain")


class SecondDaemon(Fault):
    """Of the same cluster, with a state file of its own. When it is stopped the first is restarted, as its finding advises: what the
    other rented last would stay else, and nothing be rented while it does."""
    slack = 75
    blocks = True
    lasts = (5, 120)
    findings = ("second-daemon",)

    def begin(self):
        self.lab.start_second()
        return True

    def since(self, began):
        """It shows by a machine that it rented, in the next list."""
        return began + 60000

    def end(self):
        self.lab.stop_second()
        self.lab.restart_stintd()


FAULTS = {
    "known": (Revoke, RevokeWithNotice, KillDaemon, KillBridge, KillCloud, RestartCtld, Refusals, LateAndTwice,
              CutConnections),
    "lies": (EmptyList, PartialList, StaleList, ForeignList, MalformedList, SilentCloud),
    "storage": (FullDisk, FullDiskAndRestart, SlowSync, ReadOnly, BrokenDisk, OldBackup),
    "time": (ClockForward, ClockBack),
    "slurm": (StopCtld, StopBridge, StopSlurmd, AdminDrain, AdminRequeue, HoldAndRelease, Suspend, PartitionDown,
              Reconfigure, ForeignJob),
    "operator": (LoseOffer, ChangePrefix, ChangePartitions, LowerLimits, Modes, Drain),
    "split": (SecondDaemon,),
}


def group_of(fault):
    return next(name for name, all_of_it in FAULTS.items() if fault in all_of_it)
