#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_reasons - nothing is rented for what Slurm would not start: 'test_reasons.py BUILD'.

On a real Slurm with accounting. Each of REASONS keeps one job from starting; for WATCH seconds the cloud's own log
must show no machine, and `stint explain` and `stint doctor` must name Slurm's reason. Then the reasons are lifted,
and every job runs. Then they appear while machines are on their way, and these must be gone within two minutes.
"""
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import accounting_lab
import lab_tap
from accounting_lab import run, until
from patience import deadline

WATCH = 40
GONE = 120

PARTITIONS = "".join(f"PartitionName={name} Nodes=dyn {rest} State=UP\n" for name, rest in (
    ("short", "MaxTime=5"), ("down", "MaxTime=INFINITE"), ("inactive", "MaxTime=INFINITE"),
    ("drain", "MaxTime=INFINITE"), ("narrow", "MaxTime=INFINITE MaxNodes=1"),
    ("wide", "MaxTime=INFINITE MinNodes=2"), ("accounts", "MaxTime=INFINITE"), ("qos", "MaxTime=INFINITE"),
    ("groups", "MaxTime=INFINITE"), ("later", "MaxTime=INFINITE"))) + "Licenses=matlab:1,lent:1\n"

ACCOUNTS = {"physics": ("alice", ""), "chemistry": ("bob", "GrpTRES=cpu=2"), "biology": ("carol", ""),
            "geology": ("dave", ""), "history": ("erin", "GrpJobs=0"), "art": ("frank", "")}
OF_USERS = {"carol": "MaxJobs=0", "dave": "MaxWall=5", "frank": "MaxTRESPerJob=cpu=2"}
QOS = {"qwall": "MaxWall=5", "qjob": "MaxTRESPerJob=cpu=2", "quser": "MaxTRESPerUser=cpu=2",
       "qacct": "MaxTRESPerAccount=cpu=2", "qajobs": "MaxJobsPerAccount=0", "qujobs": "MaxJobsPerUser=0",
       "qgrp": "GrpTRES=cpu=2", "qgjobs": "GrpJobs=0", "qmin": "MinTRESPerJob=cpu=3", "plain": ""}


def update(text):
    return lambda world: run("scontrol", "update", *text.split())


def modify(text):
    return lambda world: world.lab.sacctmgr("modify " + text)


def of_job(text):
    """As its user does it."""
    return lambda world, job: run("setpriv", "--reuid", "alice", "--regid", "alice", "--clear-groups", "scontrol",
                                  "update", f"jobid={job}", *text.split())


class Reason:
    """'word': what Slurm calls it; 'close' comes after the submission, where Slurm would refuse that."""

    def __init__(self, word, *options, user="alice", close=None, lift=None, lift_job=None, runs=True):
        self.word = word
        self.options = options
        self.user = user
        self.close = close
        self.lift = lift
        self.lift_job = lift_job
        self.runs = runs
        self.job = None


REASONS = {
    "time-limit": Reason("PartitionTimeLimit", "-p", "short", "-t", "10",
                         lift=update("partitionname=short maxtime=20")),
    "partition-down": Reason("PartitionDown", "-p", "down", "-t", "10", close=update("partitionname=down state=down"),
                             lift=update("partitionname=down state=up")),
    "partition-inactive": Reason("PartitionInactive", "-p", "inactive", "-t", "10",
                                 close=update("partitionname=inactive state=inactive"),
                                 lift=update("partitionname=inactive state=up")),
    "max-nodes": Reason("PartitionNodeLimit", "-p", "narrow", "-N", "2", "-t", "10",
                        lift=update("partitionname=narrow maxnodes=4")),
    "min-nodes": Reason("PartitionNodeLimit", "-p", "wide", "-N", "1", "-t", "10",
                        lift=update("partitionname=wide minnodes=1")),
    "allow-accounts": Reason("AccountNotAllowed", "-p", "accounts", "-t", "10",
                             close=update("partitionname=accounts allowaccounts=chemistry"),
                             lift=update("partitionname=accounts allowaccounts=ALL")),
    "allow-qos": Reason("QOSNotAllowed", "-p", "qos", "-t", "10", close=update("partitionname=qos allowqos=plain"),
                        lift=update("partitionname=qos allowqos=ALL")),
    "allow-groups": Reason("PartitionConfig", "-p", "groups", "-t", "10",
                           close=update("partitionname=groups allowgroups=bob"),
                           lift=update("partitionname=groups allowgroups=ALL")),
    "assoc-group-cpus": Reason("AssocGrpCpuLimit", "-c", "4", "-t", "10", user="bob",
                               lift=modify("account where name=chemistry set GrpTRES=cpu=-1")),
    "assoc-jobs": Reason("AssocMaxJobsLimit", "-t", "10", user="carol",
                         lift=modify("user where name=carol set MaxJobs=-1")),
    "assoc-wall": Reason("AssocMaxWallDurationPerJobLimit", "-t", "10", user="dave",
                         lift=modify("user where name=dave set MaxWall=-1")),
    "assoc-group-jobs": Reason("AssocGrpJobsLimit", "-t", "10", user="erin",
                               lift=modify("account where name=history set GrpJobs=-1")),
    "assoc-job-cpus": Reason("AssocMaxCpuPerJobLimit", "-c", "4", "-t", "10", user="frank",
                             lift=modify("user where name=frank set MaxTRESPerJob=cpu=-1")),
    "qos-wall": Reason("QOSMaxWallDurationPerJobLimit", "-q", "qwall", "-t", "10",
                       lift=modify("qos where name=qwall set MaxWall=-1")),
    "qos-job-cpus": Reason("QOSMaxCpuPerJobLimit", "-q", "qjob", "-c", "4", "-t", "10",
                           lift=modify("qos where name=qjob set MaxTRESPerJob=cpu=-1")),
    "qos-user-cpus": Reason("QOSMaxCpuPerUserLimit", "-q", "quser", "-c", "4", "-t", "10",
                            lift=modify("qos where name=quser set MaxTRESPerUser=cpu=-1")),
    "qos-account-cpus": Reason("MaxCpuPerAccount", "-q", "qacct", "-c", "4", "-t", "10",
                               lift=modify("qos where name=qacct set MaxTRESPerAccount=cpu=-1")),
    "qos-account-jobs": Reason("MaxJobsPerAccount", "-q", "qajobs", "-t", "10",
                               lift=modify("qos where name=qajobs set MaxJobsPerAccount=-1")),
    "qos-user-jobs": Reason("QOSMaxJobsPerUserLimit", "-q", "qujobs", "-t", "10",
                            lift=modify("qos where name=qujobs set MaxJobsPerUser=-1")),
    "qos-group-cpus": Reason("QOSGrpCpuLimit", "-q", "qgrp", "-c", "4", "-t", "10",
                             lift=modify("qos where name=qgrp set GrpTRES=cpu=-1")),
    "qos-group-jobs": Reason("QOSGrpJobsLimit", "-q", "qgjobs", "-t", "10",
                             lift=modify("qos where name=qgjobs set GrpJobs=-1")),
    "qos-least": Reason("QOSMinCpuNotSatisfied", "-q", "qmin", "-c", "1", "-t", "10",
                        lift=modify("qos where name=qmin set MinTRESPerJob=cpu=-1")),
    "reservation-later": Reason("Reservation", "--reservation=tomorrow", "-t", "1", runs=False),
    "reservation-busy": Reason("Reservation", "--reservation=today", "-c", "2", "-t", "10", runs=False),
    "held": Reason(None, "-H", "-t", "10", lift_job=lambda world, job: run("scontrol", "release", job)),
    "begin": Reason(None, "--begin=2080-01-01", "-t", "10", lift_job=of_job("starttime=now")),
    "dependency": Reason(None, "-t", "10", lift_job=of_job("dependency=")),
    "never-satisfied": Reason(None, "-t", "10", lift_job=of_job("dependency=")),
    "too-large": Reason(None, "-c", "512", "-t", "10", runs=False),
    "tmp": Reason(None, "--tmp=10T", "-t", "10", lift_job=of_job("mintmpdisknode=0")),
}


class ReasonLab(accounting_lab.AccountingLab):
    partitions = PARTITIONS

    def fill(self):
        for name, limits in QOS.items():
            self.sacctmgr(f"add qos {name} {limits}")
        for account, (user, limits) in ACCOUNTS.items():
            self.sacctmgr(f"add account {account} cluster=lab {limits}")
            self.sacctmgr(f"add user {user} account={account} qos={','.join(QOS)},normal defaultqos=normal "
                          f"{OF_USERS.get(user, '')}")


class World:
    def __init__(self, build, folder):
        self.lab = ReasonLab(folder, build)
        self.table = []

    def start(self):
        lab = self.lab
        lab.start()
        lab.start_cloud()
        for name in ("f0", "f1"):
            lab.add_node(name, "CPUs=2 RealMemory=4000")
        until(lambda: run("scontrol", "-o", "show", "nodes").count("State=IDLE") >= 2, 30, "the nodes of reservations")
        for name, node, start in (("today", "f0", "now"), ("tomorrow", "f1", "now+1day")):
            run("scontrol", "create", f"reservation={name}", f"nodes={node}", "users=alice", f"starttime={start}",
                "duration=infinite", "flags=ignore_jobs")
        run("scontrol", "update", "nodename=f1", "state=drain", "reason=lab")  # it is for the reservation only

    def submit(self):
        """All of them, then what keeps some of them, and the daemon last."""
        lab = self.lab
        lab.sbatch("alice", "occupier", "--reservation=today", "-c", "2", "-t", "10", seconds=600)
        never = lab.sbatch("alice", "fails", "-H", "-t", "10")
        run("scancel", never)
        other = lab.sbatch("alice", "first", "-H", "-t", "10")
        more = {"dependency": ["-d", f"afterok:{other}"], "never-satisfied": ["-d", f"afterok:{never}"]}
        for name, reason in REASONS.items():
            reason.job = lab.sbatch(reason.user, name, *reason.options, *more.get(name, []))
        for reason in REASONS.values():
            if reason.close:
                reason.close(self)

    def nothing_rented(self):
        lab = self.lab
        lab.start_stintd()
        until(lab.healthy, 20, "stintd")
        end = time.monotonic() + WATCH
        while time.monotonic() < end:
            found = lab.machines()
            assert not found, f"rented: {[one['name'] for one in found.values()]}\n{run('squeue', '-o', '%i %j %r %T')}"
            time.sleep(0.5)
        lab.sbatch("alice", "drained", "-p", "drain", "-t", "10")
        run("scontrol", "update", "partitionname=drain", "state=drain")
        until(lambda: lab.is_done("drained"), 60, "a job of a draining partition, which runs")

    def explained(self):
        doctor = self.lab.stint("doctor")
        wrong = []
        for name, reason in REASONS.items():
            if reason.word is None:
                continue
            said = self.lab.stint("explain", reason.job)
            if reason.word not in said:
                wrong.append(f"explain {name}: {reason.word} not in {said!r}")
        for word in {reason.word for reason in REASONS.values() if reason.word}:
            # Of one kind only so many are listed.
            if word not in doctor and "more like these" not in doctor:
                wrong.append(f"doctor: no {word}")
        assert not wrong, "\n# ".join(wrong) + "\n# " + doctor

    def lifted(self):
        lab = self.lab
        for reason in REASONS.values():
            if reason.lift:
                reason.lift(self)
            if reason.lift_job:
                reason.lift_job(self, reason.job)
        wanted = [name for name, reason in REASONS.items() if reason.runs]
        end = deadline(150)
        while time.monotonic() < end and not all(lab.is_done(name) for name in wanted):
            time.sleep(0.5)
        missing = [name for name in wanted if not lab.is_done(name)]
        assert not missing, f"{missing}\n{run('squeue', '-o', '%i %j %r %T %E')}\n" + \
            "\n".join(lab.stint("explain", REASONS[name].job) for name in missing)

    def one_licence(self):
        """Eight jobs, one licence: never two machines for them."""
        lab = self.lab
        until(lambda: not lab.living(), GONE, "the machines of the last point to go")
        names = [f"licence{i}" for i in range(8)]
        for name in names:
            lab.sbatch("alice", name, "-L", "matlab:1", "-c", "2", "-t", "10", seconds=1)
        most = 0
        end = deadline(120)
        while time.monotonic() < end and not all(lab.is_done(name) for name in names):
            most = max(most, len(lab.living()))
            time.sleep(0.2)
        assert all(lab.is_done(name) for name in names), run("squeue", "-o", "%i %j %r %T")
        assert most == 1, f"{most} machines at a time for one licence"

    def comes_later(self):
        """Machines are on their way when the partition goes down, the limit is lowered, the licence is lent."""
        lab = self.lab
        until(lambda: not lab.living(), GONE, "the machines of the last point to go")
        jobs = [lab.sbatch("alice", f"later{i}", "-p", "later", "-c", "2", "-t", "10") for i in range(3)]
        jobs += [lab.sbatch("carol", f"lower{i}", "-c", "8", "-t", "10") for i in range(3)]
        jobs += [lab.sbatch("alice", "lent", "-L", "lent:1", "-c", "4", "-t", "10")]
        until(lab.living, 20, "machines for the jobs")
        run("scontrol", "update", "partitionname=later", "state=down")
        lab.sacctmgr("modify user where name=carol set MaxJobs=0")
        began = time.monotonic()
        until(lambda: not lab.living(), GONE, "the machines to go")
        print(f"# gone after {time.monotonic() - began:.0f} s", flush=True)
        time.sleep(20)
        assert not lab.living(), "machines are rented again"
        run("scontrol", "update", "partitionname=later", "state=up")
        lab.sacctmgr("modify user where name=carol set MaxJobs=-1")
        until(lambda: not run("squeue", "-h", "-j", ",".join(jobs)).strip(), 120, "the jobs to run after all")


POINTS = [("everything starts", World.start), ("jobs that Slurm would not start are submitted", World.submit),
          (f"nothing is rented for them in {WATCH} s", World.nothing_rented),
          ("explain and doctor name Slurm's reason", World.explained),
          ("lifted, all of them run", World.lifted),
          ("one licence is one machine", World.one_licence),
          ("a reason that comes later lets the machines go", World.comes_later)]

if __name__ == "__main__":
    if sys.argv[1:] == ["--why-not"] or accounting_lab.slurm_lab.INSIDE not in accounting_lab.os.environ:
        why = accounting_lab.why_not()
        if why and sys.argv[1:] == ["--why-not"]:
            print(why)
            sys.exit(0)
        if why:
            print(f"1..0 # SKIP {why}")
            sys.exit(0)
    sys.exit(lab_tap.main(POINTS, World))
