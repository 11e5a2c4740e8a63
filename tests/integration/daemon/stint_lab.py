# SPDX-License-Identifier: GPL-2.0-or-later
"""stint_lab - a real Slurm, the local cloud and stintd together, for a test.

It stands on slurm_lab: everything lives in private namespaces which the kernel takes away at the end.
"""
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time

for name in ("slurm", "oracle"):
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name))

import slurm_lab  # noqa: E402
from slurm_lab import run, until  # noqa: E402

import books  # noqa: E402
import load  # noqa: E402
import oracle  # noqa: E402
import records  # noqa: E402
import relay  # noqa: E402

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))

CONF = """\
cluster: lab
mode: {mode}
node_prefix: st-
state: {folder}/stint.db
catalogue: {folder}/catalogue.yaml
policy: {{ name: {policy} }}
estimates: {{ default: 15s, learn: true }}
limits: {{ instances: {instances} }}
timing: {{ audit: {audit}, boot_timeout: {boot_timeout}, refused: 5s, place_retry: 1s }}
engine: {{ kind: slurm, program: {bridge}, poll: {poll}, lease: 3s{engine} }}
cloud: {{ kind: local, socket: {folder}/{socket} }}
http: {{ socket: {folder}/stintd.sock, listen: "127.0.0.1:9178" }}
"""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class StintLab(slurm_lab.Lab):
    def __init__(self, folder, build, gate=True):
        super().__init__(folder, slurm_lab.GATE if gate else None)
        self.build = build
        self.stintd = None
        self.cloud = None
        self.prometheus = None
        self.options = {"mode": "act", "policy": "stint", "instances": 0, "audit": "10s", "poll": "200ms", "engine": "",
                        "boot_timeout": "30s", "bridge": self.program("stint-slurm"), "socket": "cloud.sock"}
        self.out = os.path.join(folder, "out")
        self.log = os.path.join(folder, "cloud.csv")
        self.since = 0  # what slurmctld wrote before this moment was of a cluster that is no more
        self.unlaunched = []  # (ms, label, id: of a task "12_3", as 12 may be its array): allocated by a slurmctld that was about to end
        self.requeues = []  # {"ms", "job"}: an administrator put the job back

    def program(self, name):
        folder = {"stintd": "daemon", "stint": "cli", "stint-slurm": "engine/slurm",
                  "stint-cloud-local": "cloud/local"}[name]
        return f"{self.build}/src/{folder}/{name}"

    def conf(self):
        text = super().conf().replace("MaxNodeCount=64", "MaxNodeCount=1024")
        text = text.replace("bf_interval=30", "bf_interval=3600")  # docs/reference/slurm-options.md says why
        text = text.replace("sched_min_interval=1000", "sched_min_interval=1000,"
                            "default_queue_depth=1000")
        return text + f"MaxJobCount=100000\nMaxArraySize=100001\nMinJobAge=600\n" \
                      f"JobCompType=jobcomp/filetxt\nJobCompLoc={self.folder}/jobcomp.txt\n"

    def own_etc(self):
        """A copy of /etc. Whoever installs a package outside replaces files there, and the kernel takes what is mounted
        on the old ones away with them: suddenly there is no alice."""
        if not os.path.exists(f"{self.folder}/etc"):
            run("cp", "-a", "/etc", f"{self.folder}/etc")
            run("mount", "--bind", f"{self.folder}/etc", "/etc")

    def start(self):
        passwd = self.write("passwd", open("/etc/passwd", encoding="utf-8").read() +
                            "alice:x:2001:2001::/:/bin/sh\nbob:x:2002:2002::/:/bin/sh\n")
        group = self.write("group", open("/etc/group", encoding="utf-8").read() +
                           "alice:x:2001:\nbob:x:2002:\n")
        self.own_etc()
        run("mount", "--bind", passwd, "/etc/passwd")
        run("mount", "--bind", group, "/etc/group")
        os.makedirs(self.out)
        os.chmod(self.out, 0o777)
        super().start()

    def start_cloud(self, *options, spot=True, types=books.TYPES, minimum_ms=books.MINIMUM_MS,
                    boot=f"{ROOT}/share/local/boot-slurm.sh", catalogue=None):
        self.write("catalogue.yaml", catalogue or books.catalogue(spot, types, minimum_ms))
        self.cloud = self.spawn(
            self.program("stint-cloud-local"), "--socket", f"{self.folder}/cloud.sock",
            "--catalogue", f"{self.folder}/catalogue.yaml", "--boot", boot, "--state", f"{self.folder}/cloud",
            "--log", self.log, "--bridge", "slbr0", "--network", slurm_lab.NETWORK, *options)
        until(lambda: os.path.exists(f"{self.folder}/cloud.sock"), 15, "the local cloud")

    def start_stintd(self, **options):
        self.options.update(options)
        self.write("stint.conf", CONF.format(folder=self.folder, **self.options))
        self.stintd = self.spawn(self.program("stintd"), "-c", f"{self.folder}/stint.conf")

    def healthy(self):
        try:
            return self.ask("/healthz")
        except (OSError, RuntimeError):
            return None

    def relay_cloud(self, log=None):
        """A second socket, relay.sock, that hands everything on to the cloud and writes it down. What
        is returned can lose, alter, delay or repeat lines: see relay.py."""
        return relay.Relay(f"{self.folder}/relay.sock", f"{self.folder}/cloud.sock", log)

    def begin_anew(self):
        """The same Slurm with no memory, no nodes and the gate, and a new cloud and daemon to come."""
        for process in (self.stintd, self.cloud):
            if process and process.poll() is None:
                process.terminate()
                process.wait(20)
        self.stop_ctld()
        for name in list(self.nodes):
            self.kill_node(name)
        shutil.rmtree(f"{self.folder}/state")
        os.makedirs(f"{self.folder}/state")
        self.gate = slurm_lab.GATE
        self.write_conf()
        for name in os.listdir(self.out):
            os.unlink(f"{self.out}/{name}")
        for name in ("stint.db", "stint.db-wal", "stint.db-shm", "cloud.csv"):
            if os.path.exists(f"{self.folder}/{name}"):
                os.unlink(f"{self.folder}/{name}")
        shutil.rmtree(f"{self.folder}/cloud", ignore_errors=True)
        self.since = time.time_ns() // 1000000
        self.start_ctld()

    def restart_ctld(self):
        """As an administrator does it: it saves its state first. Until it ends it goes on allocating jobs; what is not
        launched by then never is, and counts as running until its node registers again, which is within 20 pings (400 s
        here). See put_back_unlaunched."""
        since = time.time_ns() // 1000000 - 12000  # a launch may take MessageTimeout
        self.stop_ctld(signal.SIGTERM)
        with open(f"{self.folder}/slurmctld.log", "rb") as log:
            log.seek(max(0, os.path.getsize(log.name) - (1 << 20)))
            written = log.read().decode(errors="replace")
        self.start_ctld()
        for line in written.splitlines():
            stamp = records.STAMP.match(line)
            found = records.ALLOCATE.search(stamp[2]) if stamp and records.milliseconds(stamp[1]) >= since else None
            if found:
                label = found[1] if "_" in found[1] else found[1] + "_"
                self.unlaunched.append((records.milliseconds(stamp[1]), label, found[1]))

    def put_back_unlaunched(self):
        """What an administrator does about them, if they have not begun ten seconds later. To be called now and then."""
        for one in [one for one in self.unlaunched if time.time_ns() // 1000000 - one[0] > 10000]:
            self.unlaunched.remove(one)
            at, label, number = one
            try:
                begun = self.moment(f"began.{label}") >= at - 1000
            except (OSError, ValueError, IndexError):
                begun = False
            if not begun and subprocess.run(["scontrol", "requeue", number], capture_output=True, check=False).returncode == 0:
                print(f"# job {label} was allocated by a slurmctld that ended then, and never launched: put back", flush=True)
                self.requeues.append({"ms": time.time_ns() // 1000000, "job": label})

    def stop_stintd(self, sig=signal.SIGTERM):
        self.stintd.send_signal(sig)
        return self.stintd.wait(20)

    def ask(self, path, method="GET"):
        """The answer of the daemon: JSON as it is, other things as text."""
        connection = UnixConnection(f"{self.folder}/stintd.sock")
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            text = answer.read().decode()
        finally:
            connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{path}: {answer.status} {text}")
        return json.loads(text) if text.startswith(("{", "[")) else text

    def tasks(self):
        """How many tasks the daemon knows."""
        return sum(self.ask("/v1/status")["tasks"].values())

    def instances(self):
        return sum(self.ask("/v1/status")["instances"].values())

    def tell_cloud(self, line):
        """One line to the local cloud, for faults; its answer."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as talk:
            talk.settimeout(10)
            talk.connect(f"{self.folder}/cloud.sock")
            with talk.makefile("rw", encoding="utf-8") as file:
                file.write("hello protocol=1 cluster=lab\n" + line + "\n")
                file.flush()
                for said in file:
                    if said.startswith(("done", "failed", "error")):
                        return said
        return "error text=cut"

    def submit(self, one):
        done = subprocess.run(
            ["setpriv", "--reuid", one.user, "--regid", one.user, "--clear-groups", "sbatch",
             "--parsable", "-o", "/dev/null", "-D", "/", "-t", "10", *one.options],
            input=one.script(self.folder), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            return done.stderr.strip()
        one.id = done.stdout.strip().split(";")[0]
        return None

    def submit_all(self, submissions, meanwhile=None):
        """Submit each when it is due; a submission that fails (slurmctld restarts) is repeated."""
        began = time.monotonic()
        for one in submissions:
            while time.monotonic() - began < one.at:
                if meanwhile:
                    meanwhile()
                time.sleep(0.02)
            while (why := self.submit(one)) is not None:
                print(f"# sbatch: {why}", flush=True)
                if meanwhile:
                    meanwhile()
                time.sleep(0.5)

    def missing(self, submissions):
        """The files of jobs that are not done."""
        there = set(os.listdir(self.out))
        return [name for one in submissions for name in one.files() if name not in there]

    def moment(self, name):
        """The last time that a job's file tells, in ms."""
        with open(f"{self.out}/{name}", encoding="utf-8") as file:
            return int(file.read().split("\n")[-2].split()[0])

    def machines(self):
        return books.read_log(self.log)

    def living(self):
        return [one for one in self.machines().values() if not one["billed_to"]
                or int(one["billed_to"]) < 0]

    def closed_bill(self):
        """The ledger's bill once the daemon knows of no machine any more and all of it is written; else None. The cloud
        has let a machine go before the daemon hears of it."""
        if self.instances() > 0 or self.ask("/v1/status")["open_intents"] > 0:
            return None
        return self.ask("/v1/ledger?by=type")["total"]["bill_microdollars"]

    def ask_oracle(self, work=None, **told):
        """Hold what happened against the rules of the oracle, by the records of the cloud and of Slurm
        alone: see oracle.Told for what it can be told. 'work': submissions that must be complete."""
        if work is not None:
            told["jobs"] = [name.removeprefix("done.") for one in work for name in one.files()]
        told = {"since": self.since, "judged_at": time.time_ns() // 1000000,
                "billing": {"step_ms": books.STEP_MS, "minimum_ms": books.MINIMUM_MS}, **told}
        violations, notes = oracle.ask(self.folder, **told)
        print("".join(f"# {note}\n" for note in notes), end="", flush=True)
        assert not violations, "\n# ".join([f"{len(violations)} violations", *violations])

    def namespaces(self):
        return [name for name in os.listdir("/run/netns")] if os.path.isdir("/run/netns") else []

    def stop(self):
        for process in (self.stintd, self.cloud, self.prometheus):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        super().stop()
