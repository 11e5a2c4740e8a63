# SPDX-License-Identifier: GPL-2.0-or-later
"""accounting_lab - stint_lab with Slurm's accounting: MariaDB on a socket, slurmdbd, accounts and QOS with limits.

The -core packages of MariaDB are enough; its data live in the lab's scratch folder. Everything is gated.
"""
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for name in ("daemon", "slurm"):
    sys.path.insert(0, os.path.join(HERE, "..", name))

import slurm_lab  # noqa: E402
import stint_lab  # noqa: E402
from slurm_lab import run, until  # noqa: E402

PROGRAMS = ("mariadbd", "mariadb", "mariadb-install-db", "slurmdbd", "sacctmgr")
SOCKET = "/run/mysqld/mysqld.sock"
USERS = ("alice", "bob", "carol", "dave", "erin", "frank")

DBD = """\
AuthType=auth/munge
SlurmUser=root
DbdHost=ctl
DbdAddr={network}.0.1
PidFile={folder}/slurmdbd.pid
LogFile={folder}/slurmdbd.log
DebugLevel=info
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=lab
StorageLoc=slurm_acct_db
"""
ACCOUNTING = """\
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=ctl
AccountingStorageEnforce=associations,limits,qos
AccountingStorageTRES=gres/gpu
JobAcctGatherType=jobacct_gather/none
PriorityType=priority/multifactor
PriorityWeightQOS=2000
PriorityWeightAge=1000
"""


def why_not():
    """What keeps such a lab from being made here, or None."""
    for name in PROGRAMS:
        if not shutil.which(name):
            return f"no {name}; Debian: mariadb-server-core mariadb-client-core slurmdbd"
    return slurm_lab.why_not()


class AccountingLab(stint_lab.StintLab):
    partitions = ""  # further lines of slurm.conf

    def __init__(self, folder, build):
        super().__init__(folder, build)
        self.dbd = None
        self.mariadb = None

    def conf(self):
        lines = [line for line in super().conf().splitlines()
                 if not line.startswith(("AccountingStorageType", "JobAcctGatherType"))]
        at = next(i for i, line in enumerate(lines) if line.startswith("NodeSet"))
        return "\n".join(lines[:at] + ACCOUNTING.splitlines() + lines[at:]) + "\n" + self.partitions

    def write(self, name, text, mode=0o644):
        if name in ("passwd", "group"):
            for number, user in enumerate(USERS[2:], 2003):
                text += f"{user}:x:{number}:{number}::/:/bin/sh\n" if name == "passwd" else f"{user}:x:{number}:\n"
        return super().write(name, text, mode)

    def start_database(self):
        data = f"{self.folder}/mysql"
        os.makedirs(os.path.dirname(SOCKET))
        run("mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={data}", "--skip-test-db",
            "--skip-name-resolve")
        self.mariadb = self.spawn(
            "mariadbd", "--no-defaults", "--user=root", f"--datadir={data}", f"--socket={SOCKET}",
            f"--pid-file={self.folder}/mariadb.pid", "--skip-networking", "--skip-log-bin",
            "--performance-schema=OFF", "--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900",
            "--innodb-flush-log-at-trx-commit=2")
        ask = ("mariadb", "--no-defaults", f"--socket={SOCKET}", "-u", "root", "-e")
        until(lambda: subprocess.run([*ask, "select 1"], capture_output=True, check=False).returncode == 0, 30,
              "mariadbd")
        run(*ask, "create database slurm_acct_db; create user 'slurm'@'localhost' identified by 'lab';"
                  "grant all on slurm_acct_db.* to 'slurm'@'localhost';")
        self.write("slurm/slurmdbd.conf", DBD.format(network=slurm_lab.NETWORK, folder=self.folder), 0o600)
        self.dbd = self.spawn("slurmdbd", "-D")
        until(lambda: subprocess.run(["sacctmgr", "-n", "-P", "list", "cluster"], capture_output=True,
                                     check=False).returncode == 0, 30, "slurmdbd")

    def sacctmgr(self, text):
        return run("sacctmgr", "-i", *text.split())

    def fill(self):
        """Accounts, users and QOS; those who inherit this say which."""

    def start_ctld(self):
        if self.dbd is None:
            self.start_database()
            self.sacctmgr("add cluster lab")
            self.fill()
        env = {key: value for key, value in os.environ.items() if key != "STINT_GATE"}
        self.ctld = self.spawn("slurmctld", "-D", env=env)
        until(lambda: subprocess.run(["scontrol", "ping"], capture_output=True, text=True,
                                     check=False).stdout.find(" UP") > 0, 20, "slurmctld")

    def sbatch(self, user, name, *options, seconds=2):
        """Submit a job that writes the files NAME.began and NAME.done; its id."""
        script = f"#!/bin/sh\ndate +%s >> {self.out}/{name}.began\nsleep {seconds}\necho >> {self.out}/{name}.done\n"
        done = subprocess.run(
            ["setpriv", "--reuid", user, "--regid", user, "--init-groups", "sbatch", "--parsable", "-J", name,
             "-o", "/dev/null", "-D", "/", "--mem=100", *options],
            input=script, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"sbatch {name}: {done.stderr.strip()}")
        return done.stdout.strip().split(";")[0]

    def is_done(self, name):
        return os.path.exists(f"{self.out}/{name}.done")

    def stint(self, *words):
        done = subprocess.run([self.program("stint"), *words, "--socket", f"{self.folder}/stintd.sock"],
                              capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    def stop(self):
        super().stop()
        for process in (self.dbd, self.mariadb):
            if process and process.poll() is None:
                process.terminate()
                process.wait(20)
