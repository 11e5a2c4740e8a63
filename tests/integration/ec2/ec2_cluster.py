# SPDX-License-Identifier: GPL-2.0-or-later
"""ec2_cluster - a real Slurm, the stand-in of EC2 and stintd together, for a test.

It stands on stint_lab: everything lives in private namespaces which the kernel takes away at the end.
Each instance that moto reports is a namespace with stint-join and slurmd (ec2_node.py).
"""
import os
import resource
import signal
import subprocess
import sys
import time

import ec2_lab
import ec2_log
import ec2_node
import ec2_types

sys.path.insert(0, os.path.join(ec2_lab.HERE, "..", "daemon"))

import stint_lab  # noqa: E402
from stint_lab import run  # noqa: E402

ACCESS = "AKIASTANDIN000000000"
SECRET = "lab/Secret+Key/of+no/worth/4711aaaabbbbcc"
SESSION = "labSessionTokenOfNoWorth4711ddddeeeeffff"
HTTP_TOKEN = "labHttpTokenOfNoWorth4711gggghhhhiiii"

CONF = """\
cluster: lab
mode: act
node_prefix: st-
state: {folder}/stint.db
catalogue: {folder}/catalogue.yaml
policy: {{ name: stint }}
estimates: {{ default: 15s, learn: true }}
limits: {{ instances: {instances} }}
timing: {{ audit: {audit}, boot_timeout: 60s, refused: 3s, place_retry: 1s }}
engine: {{ kind: slurm, program: {bridge}, poll: 200ms }}
cloud:
  kind: aws
  region: us-east-1
  endpoint: {endpoint}
  image: ami-12c6146b
  queue: {queue}
  together: {together}
  timing: {{ look: 300ms, look_idle: 2s, retry: 100ms, retry_most: 2s, refused: {refused}ms,
            refused_most: {refused_most}ms, settle: 10s, launch_burst: 40, launch_every: 25ms }}
http: {{ socket: {folder}/stintd.sock, listen: "127.0.0.1:9178", token_file: {folder}/private/token }}
log: {{ level: debug }}
"""


class Ec2Cluster(stint_lab.StintLab):
    """What stint_lab has, with EC2 in the place of the local cloud."""

    REFUSED_MS = 4000
    REFUSED_MOST_MS = 16000
    TOGETHER = 50  # machines of one launch, at most
    INSTANCES = 0  # machines, at most; 0: any number
    AUDIT = "10s"

    def __init__(self, folder, build, venv):
        super().__init__(folder, build)
        self.venv = venv
        self.ec2 = None
        self.metadata = None
        self.queue = None
        self.lives = []  # when each stintd was started and ended, in ms
        self.dumped = False
        self.crashes = []  # of slurmctld: when

    def mend(self):
        """Start slurmctld again if it died, as systemd would: that of 22.05 may crash when a node is
        deleted that it still tries to reach."""
        if self.ctld.poll() is not None:
            self.crashes.append(time.time_ns() // 1000000)
            print(f"# slurmctld ended by itself with {self.ctld.returncode}", flush=True)
            self.start_ctld()

    def program(self, name):
        return f"{self.build}/src/cloud/aws/{name}" if name == "stint-join" else super().program(name)

    def start_cloud(self, spot=("c5",), **settings):
        self.write("catalogue.yaml", ec2_types.catalogue(spot))
        for name in ("node", "metadata"):
            os.makedirs(f"{self.folder}/{name}")
        run("ip", "addr", "add", f"{ec2_node.METADATA}/32", "dev", "slbr0")
        self.metadata = ec2_lab.Program(f"{ec2_lab.HERE}/imds_stand_in.py", "--address", ec2_node.METADATA,
                                        "--port", "80", "--by-address", f"{self.folder}/metadata")
        self.ec2 = ec2_lab.StandIn(
            f"{self.venv}/bin/moto_server", f"{self.folder}/record",
            f"{sys.executable} {ec2_lab.HERE}/ec2_node.py {self.folder} {self.program('stint-join')}",
            pending_ms=300, **settings)
        self.ec2.control("/keys", {ACCESS: {"secret": SECRET, "session_token": SESSION}})
        self.queue = self.make_queue()
        self.ec2.set(queue_url=self.queue)

    def make_queue(self):
        import botocore.session  # in the virtual environment only
        client = botocore.session.get_session().create_client(
            "sqs", "us-east-1", endpoint_url=self.ec2.url, aws_access_key_id=ACCESS,
            aws_secret_access_key=SECRET, aws_session_token=SESSION)
        return client.create_queue(QueueName="notices")["QueueUrl"]

    def start_stintd(self, **_):
        os.makedirs(f"{self.folder}/private", exist_ok=True)
        self.write("private/token", HTTP_TOKEN + "\n", 0o600)
        self.write("stint.conf", CONF.format(
            folder=self.folder, bridge=self.program("stint-slurm"), endpoint=self.ec2.url,
            queue=self.queue, refused=self.REFUSED_MS, refused_most=self.REFUSED_MOST_MS, together=self.TOGETHER,
            instances=self.INSTANCES, audit=self.AUDIT))
        with open(f"{self.folder}/stintd.said.log", "ab") as log:
            self.stintd = subprocess.Popen(
                [self.program("stintd"), "-c", f"{self.folder}/stint.conf"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.folder,
                start_new_session=True, preexec_fn=allow_core,
                env={**os.environ, "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET,
                     "AWS_SESSION_TOKEN": SESSION, "HOME": "/nonexistent"})
        self.lives.append([time.time_ns() // 1000000, None])

    def stop_stintd(self, sig=signal.SIGTERM):
        """Its status, as subprocess has it; notes whether it left a core file."""
        if self.stintd.poll() is not None:
            raise OSError(f"stintd ended by itself with {self.stintd.returncode}")
        self.stintd.send_signal(sig)
        _, status = os.waitpid(self.stintd.pid, 0)
        self.stintd.returncode = os.waitstatus_to_exitcode(status)
        self.dumped = self.dumped or os.WCOREDUMP(status)
        self.lives[-1][1] = time.time_ns() // 1000000
        return self.stintd.returncode

    def record(self, event=None):
        return self.ec2.record(event)

    def machines(self):
        return ec2_types.read_record(self.record())

    def living(self):
        return [one for one in self.machines().values() if one.ended is None]

    def ask_oracle(self, work=None, **told):
        """By what the stand-in has recorded of its own world."""
        ec2_log.write(self.record(), self.log)
        super().ask_oracle(work, crashes=self.crashes, **told)

    def nodes_in_slurm(self):
        return run("sinfo", "-h", "-N", "-o", "%N")

    def stop(self):
        super().stop()
        for one in (self.ec2, self.metadata):
            if one:
                one.stop()


def allow_core():
    """If the kernel writes core files, stintd's would be written."""
    resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
