#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_guide - docs/start/slurm.md works as written, and so does 'sh slurm' of other pages: 'test_guide.py BUILD'.

An ordinary Slurm with one fixed node is brought up, and the guide is followed from top to bottom: a
block of 'sh slurm' is run by bash and must succeed; a file is written (tests/pages.py). What the
packages would have brought is taken from the build folder, and a stand-in for systemctl starts the
services by plain commands. Between the sections is checked that what the guide promises came true.
At the end, the guide's cluster stands once more, and each other page is followed there from the same beginning.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import books
import lab_tap
import patience
import oracle
import slurm_lab
import stint_lab
from stint_lab import ROOT, run, until

sys.path.insert(0, f"{ROOT}/tests")

import pages

GUIDE = "docs/start/slurm.md"
KEPT = ("/etc/slurm/slurm.conf", "/etc/default/slurmctld", "/etc/stint/stint.conf")
PREPARED = {"slurmctld-crash", "no-gres-types", "no-words", "no-restart"}  # findings that the guide prevents

# The guide's cluster as its last section found it, with a job that waits for another.
AGAIN = """\
ln -sfn /usr/share/stint/slurm/job_submit.lua /etc/slurm/job_submit.lua
for job in $(squeue -h -o %A | sort -u); do scancel $job; done
systemctl restart slurmctld
systemctl restart stintd
while stint status | grep -q 'NOT READY'; do sleep 0.2; done
stint drain --off
held=$(sbatch --parsable -H -p cloud -o /dev/null -D / --mem=500 -t 10 --wrap true)
sbatch --parsable -d "afterok:$held" -p cloud -o /dev/null -D / --mem=500 -t 10 --wrap true >"$LAB/waits"
until stint explain "$(cat "$LAB/waits")" >/dev/null 2>&1; do sleep 0.2; done
"""
UNPREPARE = """\
sed -i -e '/^NodeName=stint-words/d' -e '/^GresTypes=/d' /etc/slurm/slurm.conf
systemctl restart slurmctld
"""
# With the first catalogue, which has machines with GPUs.
SHADOW = """\
sed -i -e 's/^mode:.*/mode: shadow/' -e 's/^catalogue:.*/catalogue: catalogue.yaml/' /etc/stint/stint.conf
systemctl restart stintd
while stint status | grep -q 'NOT READY'; do sleep 0.2; done
"""
# What the reader of a page has done, or not yet.
BEFORE = {
    "docs/concepts/modes.md": """\
sed -i 's/^mode:.*/mode: advise/' /etc/stint/stint.conf
systemctl restart stintd
for cpus in 2 8; do sbatch -p cloud -o /dev/null -D / --exclusive --cpus-per-task=$cpus --mem=500 -t 10 --wrap "sleep 1"; done
until [ "$(stint approve -o csv | wc -l)" -ge 3 ]; do sleep 0.2; done
""",
    "docs/guides/slurm-gate.md": """\
rm /etc/slurm/job_submit.lua
sed -i '/^JobSubmitPlugins=lua$/d' /etc/slurm/slurm.conf
sed -i '/^STINT_GATE=/d' /etc/default/slurmctld
""",
    "docs/troubleshooting/slurm.md": "sed -i '/^NodeName=stint-words/d' /etc/slurm/slurm.conf\n",
}

# Of the lab's slurm.conf: what the guide has the reader add, and what is another's.
NOT_YET = ("MaxNodeCount", "TreeWidth", "SchedulerParameters", "SlurmctldParameters", "SlurmdParameters", "JobRequeue", "GresTypes",
           "PluginDir", "NodeSet", "PartitionName", "ProctrackType", "TaskPlugin", "SlurmctldHost")
CLUSTER = """\
SlurmctldHost=ctl
{fence}
NodeName=n1 NodeAddr=10.77.0.202 CPUs={cpus} RealMemory=1000
PartitionName=work Nodes=n1 Default=YES MaxTime=INFINITE State=UP
"""
DEMO_TYPES = (
    books.Type("c1.large", 2, 4096, 0, 85000), books.Type("c1.2xlarge", 8, 16384, 0, 340000),
    books.Type("m1.large", 2, 8192, 0, 96000), books.Type("m1.2xlarge", 8, 32768, 0, 384000),
    books.Type("g1.xlarge", 4, 16384, 1, 526000))
GUIDE_TYPES = (books.Type("small", 2, 4096, 0, 85000),)
DEMO_JOBS = 12
FENCE_HERE = "ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none"
FENCE_USUAL = "ProctrackType=proctrack/cgroup\nTaskPlugin=task/cgroup"

SYSTEMCTL = r"""#!/bin/bash
# Stands for systemctl and systemd-run: the services of the guide, by plain commands.
set -eu
launch() { # launch NAME COMMAND...
    local name=$1
    shift
    setsid "$@" >>"$LAB/$name.said.log" 2>&1 </dev/null & # slurmctld has a log of its own
    echo $! >"$LAB/unit.$name"
}
is_alive() { [ -e "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status"; }
halt() {
    local pid
    pid=$(cat "$LAB/unit.$1")
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 600); do
        is_alive "$pid" || return 0
        sleep 0.1
    done
    echo "systemctl: $1 does not stop" >&2
    return 1
}
await() {
    for _ in $(seq 600); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    echo "systemctl: waited for: $*" >&2
    return 1
}
start() {
    case $1 in
    slurmctld)
        set -a
        . /etc/default/slurmctld
        set +a
        launch slurmctld slurmctld -D
        await sh -c 'scontrol ping | grep -q " UP"'
        ;;
    stintd)
        mkdir -p /run/stint /var/lib/stint
        stintd --check
        launch stintd stintd
        await stint status
        ;;
    *)
        echo "systemctl: no unit $1" >&2
        return 1
        ;;
    esac
}
case ${0##*/}\ $1 in
"systemd-run --unit="*)
    unit=${1#--unit=}
    shift
    [ "$1" != -p ] || shift 2
    mkdir -p /var/lib/stint
    launch "$unit" "$@"
    sleep 1
    is_alive "$(cat "$LAB/unit.$unit")"
    ;;
"systemctl enable" | "systemctl disable")
    [ "$2" = --now ]
    if [ "$1" = enable ]; then start "$3"; else halt "$3"; fi
    ;;
"systemctl start") start "$2" ;;
"systemctl stop") halt "$2" ;;
"systemctl daemon-reload") ;;
"systemctl restart") halt "$2" && start "$2" ;;
*)
    echo "$0: cannot do '$*'" >&2
    exit 1
    ;;
esac
"""


def read_guide():
    """The blocks of each section, by its title."""
    with open(f"{ROOT}/{GUIDE}", encoding="utf-8") as file:
        text = file.read()
    return {part.split("\n", 1)[0]: pages.blocks(part) for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]}


def demo_alone(jobs):
    """What the jobs of share/demo/demo.sh cost with a machine each."""
    shapes = [(1 << i % 4, (1 << i % 4) * 800, 0, 1, 3 + i % 9) for i in range(jobs)]
    shapes += [(1, 1000, 0, 3, 5), (1, 2000, 1, 1, 6)]
    return sum(books.alone(cpus, mem, accel, nodes, seconds * 1000, DEMO_TYPES)
               for cpus, mem, accel, nodes, seconds in shapes)


def read_bill(path):
    with open(path, encoding="utf-8") as file:
        return {"bill_microdollars": json.load(file)["total"]["bill_microdollars"]}


def now_ms():
    return time.time_ns() // 1000000


def slurm_processes():
    """How many processes of Slurm and Stint live here, and in the namespaces below."""
    lines = run("ps", "-e", "-o", "stat=,comm=").splitlines()
    return sum(bool(re.match(r"[^Z]\S*\s+(slurm|stint|munged)", line)) for line in lines)


class GuideLab(stint_lab.StintLab):
    def __init__(self, folder, build):
        super().__init__(folder, build, gate=False)
        self.fence = FENCE_USUAL
        self.made = 200  # its address stays out of the way of the local cloud's

    def conf(self):
        lines = [line for line in slurm_lab.Lab.conf(self).splitlines()
                 if line.split("=")[0] not in NOT_YET]
        lines += ["JobCompType=jobcomp/filetxt", f"JobCompLoc={self.folder}/jobcomp.txt"]
        return "\n".join(lines) + "\n" + CLUSTER.format(fence=self.fence, cpus=os.cpu_count())

    def start(self):
        """The places where the guide writes are this test's own: nothing of the host is changed."""
        self.own_etc()
        shutil.rmtree("/etc/stint", ignore_errors=True)
        run("mount", "-t", "tmpfs", "tmpfs", "/var/lib")
        for name in ("systemctl", "systemd-run"):
            self.write(f"bin/{name}", SYSTEMCTL, 0o755)
        super().start()
        self.write("unit.slurmctld", str(self.ctld.pid))
        slurm_lab.NODE = slurm_lab.NODE.replace('-Z -N $NAME --conf "$CONF"', "-N $NAME")
        self.fence = FENCE_HERE  # it lives in a namespace too
        self.add_node("n1")
        until(lambda: "idle" in run("sinfo", "-h", "-n", "n1", "-o", "%t"), 30, "the fixed node")

    def environment(self):
        programs = [os.path.dirname(self.program(name)) for name in
                    ("stint", "stintd", "stint-slurm", "stint-cloud-local")]
        return {**os.environ, "LAB": self.folder, "STINT_DEMO_KEEP": f"{self.folder}/demo",
                "PATH": ":".join([f"{self.folder}/bin", *programs, os.environ["PATH"]])}


class World:
    def __init__(self, build, folder):
        self.lab = GuideLab(folder, build)
        self.sections = read_guide()
        self.said = ""
        self.kept = {}  # the files of KEPT before Stint is taken out
        self.advised = None  # when machines stay until somebody agrees

    def start(self):
        self.lab.start()

    def installed(self, text):
        """The paths of the packages, as they are in source and build folder."""
        return pages.installed(text).replace("systemctl disable --now stintd",  # the last moment at which it can be asked
                            'stint ledger --by type -o json >"$LAB/ledger.json"\nsystemctl disable --now stintd')

    def run_script(self, text, folder="/"):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", text], env=self.lab.environment(),
                              cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=240 * patience.FACTOR)
        self.said += done.stdout
        if done.returncode != 0:
            raise RuntimeError(f"status {done.returncode} of\n{text}{done.stdout}".replace("\n", "\n# "))

    def blocks_of(self, title):
        return self.sections[next(name for name in self.sections if name.startswith(title))]

    def follow(self, title):
        """Do what the section says that begins with 'title'."""
        self.said = ""
        blocks = self.blocks_of(title)
        tested = [block for block in blocks if block.runner == "slurm" or block.file]
        assert tested, "nothing to do"
        for block in tested:
            if block.is_shell:
                self.run_script(self.installed(block.text))
            else:
                pages.put(block)

    def stint(self, *words):
        return json.loads(run("stint", *words, "-o", "json", env=self.lab.environment()))

    def findings(self):
        """What the doctor says; its status tells whether there are errors."""
        said = subprocess.run(["stint", "doctor", "-o", "json"], env=self.lab.environment(), capture_output=True, text=True,
                              check=False).stdout
        return {row["kind"] for row in json.loads(said)["rows"]}

    def job(self, name):
        """State and node of a job that Slurm still remembers."""
        return run("squeue", "-h", "-t", "all", "-n", name, "-o", "%T %N").split()

    def row(self, name):
        rows = self.stint("ledger", "--by", "job")["rows"]
        return next((one for one in rows if one.get("job_name") == name), None)

    def run_demo(self):
        self.follow("0.")
        assert "All machines are back." in self.said and "Bill: $0.0" in self.said, self.said
        assert "14 jobs" in self.said and "for idle machines" in self.said, self.said
        assert "Its page, in a browser" in self.said, self.said

    def check_demo_oracle(self):
        folder = f"{self.lab.folder}/demo"
        violations, notes = oracle.ask(
            folder, jobs=[str(number) for number in range(1, DEMO_JOBS + 3)], ledger=read_bill(f"{folder}/ledger.json"),
            ideal_microdollars=demo_alone(DEMO_JOBS), multiple=1.0,
            skip={1: "the demo has no limit", 8: "nothing is broken here"})
        print("".join(f"# {note}\n" for note in notes), end="", flush=True)
        assert not violations, "\n# ".join([f"{len(violations)} violations", *violations])

    def check_stopped(self):
        """A demo that is stopped in the middle: its processes are children of ours, and we see them."""
        room = f"{self.lab.folder}/room"
        os.mkdir(room, 0o755)
        before = slurm_processes()
        demo = subprocess.Popen(["stint", "demo"], env={**self.lab.environment(), "TMPDIR": room},
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True)
        for line in demo.stdout:
            if line.startswith("Submitting"):
                break
        assert slurm_processes() > before and os.listdir(room)
        demo.terminate()
        demo.stdout.read()
        assert demo.wait(20) == 143, demo.returncode
        until(lambda: slurm_processes() == before, 10, "its processes to end")
        assert not os.listdir(room), os.listdir(room)

    def run_shadow(self):
        self.follow("1.")
        assert self.stint("status")["mode"] == "shadow"
        assert self.job("look") == ["COMPLETED", "n1"], self.job("look")
        assert until(lambda: self.row("look"), 20, "the forecast")["cost_microdollars"] > 0
        assert not os.path.exists("/var/lib/stint/stint.db")
        assert {"no-gres-types", "no-words"} <= self.findings(), self.findings()

    def run_slurm(self):
        self.follow("2.")
        run("sbatch", "-p", "work", "-o", "/dev/null", "-D", "/", "-J", "own", "--mem=100", "--wrap", "true")
        until(lambda: self.job("own") == ["COMPLETED", "n1"], 60, "a job that is not gated")

    def run_cloud(self):
        self.follow("3.")
        until(lambda: os.path.exists("/run/stint/cloud.sock"), 10, "the local cloud")

    def run_advise(self):
        self.advised = {"from": now_ms(), "to": None, "why": "in the mode advise a person gives machines back"}
        self.follow("4.")
        state, node = self.job("asked")
        assert state == "COMPLETED" and node.startswith("st-"), (state, node)
        assert "1 approved." in self.said and re.search(r"^\d+ +root +asked ", self.said, re.MULTILINE), self.said

    def run_act(self):
        self.advised["to"] = now_ms() + 5000  # the first lines of the section leave that mode
        self.follow("5.")
        assert self.stint("status")["mode"] == "act"
        state, node = self.job("sample")
        assert state == "COMPLETED" and node.startswith("st-"), (state, node)
        with open("/var/lib/stint/cloud.csv", encoding="utf-8") as log:
            assert f",{node}," in log.read(), node
        row = until(lambda: self.row("sample"), 20, "the job in the ledger")
        assert row["cost_microdollars"] > 0 and row["user"] == "root", row

    def run_days(self):
        before = self.stint("status")
        self.follow("Day to day")
        after = self.stint("status")
        assert after["started_at"] > before["started_at"], "it was not restarted"
        assert after["bill_microdollars"] >= before["bill_microdollars"] > 0
        assert float(re.search(r"^stint_bill_dollars (\S+)", self.said, re.MULTILINE)[1]) > 0
        self.kept = {path: pathlib.Path(path).read_text() for path in KEPT}

    def run_back(self):
        self.follow("Removing it")
        until(lambda: self.job("late") == ["COMPLETED", "n1"], 60, "the job that waited")
        assert not run("squeue", "-h").strip()
        assert "st-" not in run("sinfo", "-h", "-N", "-o", "%N")
        with open("/var/lib/stint/cloud.csv", encoding="utf-8") as log:
            rows = [line.split(",") for line in log]
        assert {row[2] for row in rows if row[1] == "running"} == {row[2] for row in rows if row[1] == "gone"}

    def check_oracle(self):
        """All jobs that this Slurm ever had; two of them ran on rented machines, for seconds each."""
        shutil.copy("/var/lib/stint/cloud.csv", f"{self.lab.folder}/cloud.csv")
        self.lab.ask_oracle(limits={"instances": 20, "microdollars_per_hour": 10000000}, excused=[self.advised],
                            ledger=read_bill(f"{self.lab.folder}/ledger.json"),
                            ideal_microdollars=2 * books.alone(2, 500, 0, 1, 3000, GUIDE_TYPES), multiple=1.0,
                            skip={8: "nothing is broken here"})

    def begin_again(self):
        for path, text in self.kept.items():
            pathlib.Path(path).write_text(text)
        self.run_script(pages.installed(AGAIN))

    def run_again(self):
        """The cloud is started as the guide says, as it was stopped."""
        self.run_script(self.installed(next(one.text for one in self.blocks_of("3.") if one.is_shell)))
        self.begin_again()

    def check_prepared(self):
        self.run_script(f"{UNPREPARE}{SHADOW}")
        began = time.monotonic()
        until(lambda: {"no-gres-types", "no-words"} <= self.findings(), 60, "what the doctor says if they are missing")
        self.begin_again()
        self.run_script(SHADOW)
        time.sleep(1 + time.monotonic() - began)
        found = self.findings() & PREPARED
        assert not found, found
        for option in ("--gres=gpu:1", "-Cspot"):
            held = run("sbatch", "--parsable", "-H", "-p", "cloud", "-o", "/dev/null", "-D", "/", option, "--wrap", "true")
            run("scancel", held.strip())

    def follow_page(self, blocks):
        """All of it in one shell."""
        desk = pathlib.Path(self.lab.folder, "desk")
        desk.mkdir(exist_ok=True)
        (desk / "job.sh").write_text("#!/bin/sh\nsleep 1\n")
        done = {block.text for section in self.sections.values() for block in section}
        for block in blocks:
            if block.is_added and block.file.startswith("/etc/slurm/"):
                pages.put(block)
        text = "".join(block.text for block in blocks if block.is_shell and block.text not in done)
        number = pathlib.Path(self.lab.folder, "waits").read_text().strip()
        self.run_script(pages.installed(text).replace("4711", number), desk)


def point_of(name, blocks):
    def check(world):
        world.begin_again()
        world.run_script(BEFORE.get(name, ""))
        world.follow_page(blocks)

    return f"the commands of {name} work", check


POINTS = (
    ("an ordinary cluster stands", World.start),
    ("stint demo shows a bill and leaves nothing", World.run_demo),
    ("the oracle finds nothing in the demo", World.check_demo_oracle),
    ("stint demo that is stopped leaves nothing either", World.check_stopped),
    ("shadow mode forecasts what a job costs", World.run_shadow),
    ("Slurm takes dynamic nodes, and its own go on", World.run_slurm),
    ("the local cloud stands", World.run_cloud),
    ("in the mode advise a job runs after a word", World.run_advise),
    ("in the mode act the sample job runs on a rented machine and is in the ledger", World.run_act),
    ("metrics, Prometheus and a restart", World.run_days),
    ("Stint is taken out, and no job is lost", World.run_back),
    ("the oracle finds nothing", World.check_oracle),
    ("the guide's cluster stands once more", World.run_again),
    ("Slurm lacks nothing of what the doctor looks for, and takes jobs with GPUs and features", World.check_prepared),
    *(point_of(name, blocks) for name, blocks in pages.with_runner("slurm").items() if name != GUIDE),
)

if __name__ == "__main__":
    sys.exit(lab_tap.main(POINTS, World))
