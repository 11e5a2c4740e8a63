# SPDX-License-Identifier: GPL-2.0-or-later
"""slurm_lab - a real Slurm cluster in namespaces of this machine, for a test.

enclose() starts the test again in network, mount, process, host name and IPC namespaces of its own.
In there stand a bridge, munged, slurmctld and one more set of namespaces per node with a stock
slurmd that joins as a dynamic node. None of it can reach, or be reached from, anything outside, and
when the test ends, however it ends, the kernel takes all of it away; the scratch folder is removed
by the process that waits outside.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))

from patience import until  # noqa: E402

NETWORK = "10.77"
INSIDE = "STINT_SLURM_LAB"
PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "scontrol", "ip", "unshare", "nsenter",
            "setpriv")
UNSHARE = ("unshare", "--net", "--mount", "--uts", "--ipc", "--pid", "--fork", "--kill-child=KILL",
           "--propagation", "private", "--mount-proc")

GATE = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..",
                                     "share", "slurm", "job_submit.lua"))

CONF = """\
ClusterName=lab
SlurmctldHost=ctl({network}.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdSpoolDir=/var/spool/slurmd
SlurmdPidFile=/run/slurmd.pid
{gate}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=30,sched_interval=1,batch_sched_delay=0,sched_min_interval=1000
SlurmctldParameters=enable_configless,cloud_reg_addrs
SlurmdParameters=config_overrides
MessageTimeout=10
MaxNodeCount=64
TreeWidth=65533
GresTypes=gpu
JobRequeue=1
ReturnToService=2
SlurmdTimeout=60
KillWait=2
PropagateResourceLimits=NONE
NodeSet=dyn Feature=cloud
PartitionName=cloud Nodes=dyn Default=YES MaxTime=INFINITE State=UP
PartitionName=other Nodes=dyn MaxTime=INFINITE State=UP
PartitionName=gate MaxTime=INFINITE State=UP
PartitionName=free Nodes=dyn MaxTime=INFINITE State=UP
"""

NODE = """\
hostname $NAME
mount -t proc proc /proc
mount --bind $D/slurm /etc/slurm
mount --bind /run/munge $D/munge
mount -t tmpfs tmpfs /run
mkdir /run/munge
mount --move $D/munge /run/munge
mount -t tmpfs tmpfs /var/spool/slurmd
unset SLURM_CONF
slurmd -D -Z -N $NAME --conf "$CONF"
:
"""


def why_not():
    """What keeps a lab from being made here, or None."""
    if os.geteuid() != 0:
        return "needs root"
    for name in PROGRAMS:
        if not shutil.which(name):
            return f"no {name}; Debian: slurm-wlm slurm-wlm-plugins munge iproute2"
    if not os.path.isdir("/etc/slurm") or not os.path.isdir("/etc/munge"):
        return "no /etc/slurm or /etc/munge"
    probe = "ip link add lab0 type bridge && ip netns add lab0 && " \
            "ip link add lab1 type veth peer name eth0 netns lab0"
    probe = f"mount -t tmpfs tmpfs /run && {probe}"
    done = subprocess.run([*UNSHARE, "sh", "-c", probe], capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return "namespaces cannot be made here: " + (said[-1] if said else "unshare failed")
    return None


def enclose():
    """Outside: run this program again in its namespaces, and end with its status. Inside: return
    the scratch folder."""
    if INSIDE in os.environ:
        return os.environ[INSIDE]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    folder = tempfile.mkdtemp(prefix="stint-slurm-")
    os.chmod(folder, 0o755)
    try:
        status = subprocess.run(["setpriv", "--pdeathsig", "KILL", *UNSHARE, sys.executable,
                                 *sys.argv],
                                env={**os.environ, INSIDE: folder}, check=False).returncode
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    sys.exit(status)


def run(*command, **options):
    done = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
    return done.stdout


def release():
    """That of the Slurm here: (24, 11, 5)."""
    return tuple(int(part) for part in run("slurmctld", "-V").split()[1].split("-")[0].split("."))


class Lab:
    def __init__(self, folder, gate=None):
        """'gate': the path of the script that gates jobs, GATE for one, or None."""
        self.folder = folder
        self.gate = gate
        self.backfill = 30  # seconds between two passes
        self.nodes = {}
        self.made = 0
        self.ctld = None
        self.munged = None

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def conf(self):
        gate = "JobSubmitPlugins=lua" if self.gate else ""
        text = CONF.format(network=NETWORK, folder=self.folder, gate=gate)
        if release() >= (23, 11):  # it is always so
            text = text.replace(",cloud_reg_addrs", "")
        if release() >= (25, 11):
            text = text.replace("bf_interval=30,", "bf_interval=30,requeue_delay=86400,")
        return text.replace("bf_interval=30", f"bf_interval={self.backfill}")

    def write_conf(self):
        """What slurmctld reads, and the folder that it is in."""
        if self.gate:
            with open(self.gate, encoding="utf-8") as file:
                self.write("slurm/job_submit.lua", file.read())
        return os.path.dirname(self.write("slurm/slurm.conf", self.conf()))

    def start(self):
        run("mount", "-t", "tmpfs", "tmpfs", "/run")
        os.makedirs("/run/munge")
        os.makedirs("/run/lab")
        hosts = self.write("hosts", f"127.0.0.1 localhost\n{NETWORK}.0.1 ctl\n")
        nothing = self.write("resolv.conf", "")
        slurm = self.write_conf()
        self.write("slurm/gres.conf", "")
        munge = os.path.dirname(self.write("munge/munge.key", "m" * 128, 0o600))
        run("mount", "--bind", hosts, "/etc/hosts")
        run("mount", "--bind", nothing, "/etc/resolv.conf")
        run("mount", "--bind", slurm, "/etc/slurm")
        run("mount", "--bind", munge, "/etc/munge")
        os.makedirs(f"{self.folder}/state")
        os.makedirs("/var/spool/slurmd", exist_ok=True)
        run("hostname", "ctl")
        run("ip", "link", "set", "lo", "up")
        # An address of its own: else the bridge takes that of a node, which goes.
        run("ip", "link", "add", "slbr0", "address", "02:00:0a:4d:00:01", "type", "bridge")
        run("ip", "addr", "add", f"{NETWORK}.0.1/16", "dev", "slbr0")
        run("ip", "link", "set", "slbr0", "up")
        self.munged = self.spawn("munged", "--foreground", "--key-file=/etc/munge/munge.key",
                                 "--pid-file=/run/lab/munged.pid",
                                 "--seed-file=/run/lab/munged.seed",
                                 "--log-file=/run/lab/munged.log")
        until(lambda: os.path.exists("/run/munge/munge.socket.2"), 10, "munged")
        self.start_ctld()

    def spawn(self, *command, env=None):
        name = os.path.basename(command[0])
        with open(f"{self.folder}/{name}.said.log", "ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    env={**os.environ, **(env or {})}, cwd=self.folder,
                                    start_new_session=True)

    def start_ctld(self):
        self.ctld = self.spawn("slurmctld", "-D", env={"STINT_GATE": "default,cloud,other"})
        until(lambda: subprocess.run(["scontrol", "ping"], capture_output=True, text=True,
                                     check=False).stdout.find(" UP") > 0, 15, "slurmctld")

    def stop_ctld(self, sig=signal.SIGTERM):
        self.ctld.send_signal(sig)
        self.ctld.wait(20)

    def add_node(self, name, conf="CPUs=4 RealMemory=4000", gres="", more=""):
        """'more': lines that only its own slurm.conf has."""
        self.made += 1
        folder = f"{self.folder}/{name}"
        os.makedirs(f"{folder}/munge")
        self.write(f"{name}/slurm/slurm.conf", self.conf() + more)
        self.write(f"{name}/slurm/gres.conf", gres)
        address = f"{NETWORK}.0.{1 + self.made}"  # the local cloud's machines begin at .1.1
        link = f"vi{self.made}"
        run("ip", "netns", "add", name)
        run("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", link, "master", "slbr0", "up")
        run("ip", "-n", name, "addr", "add", f"{address}/16", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")
        with open(f"{self.folder}/hosts", "a", encoding="utf-8") as file:
            file.write(f"{address} {name}\n")
        self.nodes[name] = self.spawn(
            "unshare", "--uts", "--mount", "--pid", "--fork", "--kill-child=KILL",
            "--propagation", "private", "nsenter", f"--net=/run/netns/{name}", "bash", "-c", NODE,
            env={"NAME": name, "D": folder, "CONF": f"{conf} Feature=cloud"})

    def kill_node(self, name):
        """As a spot machine dies: all at once, without a word."""
        self.nodes[name].kill()
        self.nodes.pop(name).wait()
        run("ip", "netns", "del", name)

    def stop(self):
        for process in [*self.nodes.values(), self.ctld, self.munged]:
            if process and process.poll() is None:
                process.kill()
                process.wait()

    def complaints(self):
        """The end of the logs, for a test that failed."""
        lines = []
        for name in sorted(os.listdir(self.folder)):
            if not name.endswith(".log") or name.startswith("slurmd-"):
                continue
            try:
                with open(f"{self.folder}/{name}", encoding="utf-8", errors="replace") as log:
                    lines += [f"{name}: {line.rstrip()}" for line in log.readlines()[-25:]]
            except OSError:
                pass
        return lines
