#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_mutants - the oracle fails when it must:

    test_mutants.py BUILD [MUTANT...]               those at the local cloud
    test_mutants.py BUILD --ec2 VENV [MUTANT...]    those at EC2's stand-in, whose names begin with ec2

An oracle that never fails proves nothing. Each file of mutants/ is a small patch that takes one safeguard out
of Stint, and begins with lines that say which scenario needs it and which programs change:

    Scenario: lost_answers
    Programs: stintd
    Rules: 1

In a copy of the sources and of the objects of BUILD (a build folder with -Dslurm=enabled) the patch is applied
and its programs are built: a compilation or two each. Then the scenario (scenarios.py) is played with them,
and the oracle must find a violation of one of the rules; and once as it is, and the oracle must find none.
Labs mostly wait, so several are played at a time. Each sentence is one TAP point; where no cluster can be
made, all of it is skipped.
"""
import concurrent.futures
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", "..", ".."))
sys.path.insert(0, os.path.join(HERE, "..", "slurm"))

import slurm_lab  # noqa: E402
import patience  # noqa: E402

PROGRAMS = {"stintd": "src/daemon/stintd", "stint-slurm": "src/engine/slurm/stint-slurm",
            "stint-cloud-local": "src/cloud/local/stint-cloud-local"}
SOURCES = ("meson.build", "meson_options.txt", "src", "share", "man", "docs", "examples", "bench", "debian",
           "tests")
AT_A_TIME = 3
PLAY_SECONDS = 170


class Mutant:
    def __init__(self, path):
        self.path = path
        self.name = os.path.basename(path).removesuffix(".patch")
        with open(path, encoding="utf-8") as file:
            head = file.read().split("\n--- ")[0]
        fields = dict(re.findall(r"^(Scenario|Programs|Rules): (.*)$", head, re.MULTILINE))
        self.scenario = fields["Scenario"].strip()
        self.programs = fields["Programs"].split()
        self.rules = {int(rule) for rule in fields["Rules"].split()}


class Workshop:
    """A copy of sources and objects in which patches come and go. Times of files are kept, so that ninja
    builds what a patch touches and nothing else."""

    def __init__(self, folder, build):
        self.root = os.path.join(folder, "root")
        self.build = os.path.normpath(os.path.join(self.root, os.path.relpath(build, ROOT)))
        self.made = os.path.join(folder, "made")
        os.makedirs(self.root)
        for name in SOURCES:
            source = os.path.join(ROOT, name)
            if os.path.isdir(source):
                shutil.copytree(source, os.path.join(self.root, name), symlinks=True,
                                ignore=shutil.ignore_patterns("corpus", "golden", "__pycache__"))
            elif os.path.exists(source):
                shutil.copy2(source, self.root)
        shutil.copytree(build, self.build, symlinks=True,
                        ignore=shutil.ignore_patterns("meson-logs", "test_*", "fuzz_*", "mutants"))

    def run(self, *command):
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            said = (done.stdout + done.stderr).strip().splitlines()[-12:]
            raise RuntimeError("\n".join([f"{' '.join(command[:4])} ended with {done.returncode}", *said]))

    def make(self, mutant):
        """{program: path} of what the mutant changes."""
        options = ("-p1", "--fuzz=2", "--no-backup-if-mismatch", "-r", "-", "-i", mutant.path)
        try:
            self.run("patch", "--dry-run", "--forward", *options)  # all of it, or nothing
            self.run("patch", "--forward", *options)
        except RuntimeError as fault:
            raise RuntimeError(f"{fault}\nThe patch does not fit the sources any more. Take the same safeguard out of "
                               f"them by hand, and write the difference to {os.path.relpath(mutant.path, ROOT)}, below "
                               "the lines at its head.") from None
        try:
            self.run("ninja", "-C", self.build, *[PROGRAMS[name] for name in mutant.programs])
            found = {}
            for name in mutant.programs:
                found[name] = os.path.join(self.made, mutant.name, name)
                os.makedirs(os.path.dirname(found[name]), exist_ok=True)
                shutil.copy2(os.path.join(self.build, PROGRAMS[name]), found[name])
            return found
        finally:
            self.run("patch", "--reverse", *options)
            self.touch(mutant)

    def touch(self, mutant):
        """Sources that were patched are newer than their objects now: they are built again with the next."""
        with open(mutant.path, encoding="utf-8") as file:
            for name in re.findall(r"^\+\+\+ b/(\S+)", file.read(), re.MULTILINE):
                os.utime(os.path.join(self.root, name))


def play(scenario, build, venv, programs):
    """The verdict of one lab, and how long it took."""
    began = time.monotonic()
    env = {**os.environ, "STINT_MUTANT": ",".join(f"{name}={path}" for name, path in programs.items())}
    if programs:
        env["STINT_PATIENCE"] = "1"  # mutants miss what is waited for
    limit = PLAY_SECONDS * (1 if programs else patience.FACTOR)
    try:
        python = f"{venv}/bin/python" if venv else sys.executable
        done = subprocess.run([python, os.path.join(HERE, "scenarios.py"), scenario, build, *([venv] if venv else [])],
                              env=env, capture_output=True, text=True, check=False, timeout=limit)
        said = json.loads(done.stdout.strip().splitlines()[-1])
    except subprocess.TimeoutExpired:
        said = {"fault": f"not over after {limit:g} s"}
    except (ValueError, IndexError):
        said = {"fault": (done.stdout + done.stderr)[-2000:]}
    said["seconds"] = time.monotonic() - began
    return said


def lines_of(said):
    lines = [f"{said['seconds']:.1f} s"]
    if "fault" in said:
        lines += said["fault"].splitlines() + said.get("logs", [])[-40:]
    return lines + said.get("violations", []) + said.get("notes", [])


class Tap:
    def __init__(self, count):
        self.number = 0
        self.failed = 0
        print(f"1..{count}", flush=True)

    def point(self, good, name, lines):
        self.number += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {name}")
        print("".join(f"# {line}\n" for line in lines), end="", flush=True)


def judge_mutant(tap, mutant, said):
    broken = {int(rule) for line in said.get("violations", []) for rule in re.findall(r"^rule (\d)", line)}
    tap.point("fault" not in said and bool(broken & mutant.rules),
              f"the oracle finds the mutant {mutant.name}", lines_of(said))


def main():
    reason = slurm_lab.why_not()
    if sys.argv[1:] == ["--why-not"]:
        print(reason or "")
        return 0 if reason else 1
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    build, *words = sys.argv[1:]
    build = os.path.abspath(build)
    venv = os.path.abspath(words[1]) if words[:1] == ["--ec2"] else None
    names = words[2:] if venv else words
    mutants = [Mutant(path) for path in sorted(glob.glob(f"{HERE}/mutants/*.patch"))]
    mutants = [one for one in mutants if one.name in (names or [one.name])
               and one.scenario.startswith("ec2_") == bool(venv)]
    scenarios = sorted({one.scenario for one in mutants})
    tap = Tap(len(scenarios) + len(mutants))
    with tempfile.TemporaryDirectory(prefix="stint-mutants-") as folder, \
            concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        os.chmod(folder, 0o755)
        plain = [pool.submit(play, name, build, venv, {}) for name in scenarios]
        shop = Workshop(folder, build)
        mutated = []
        for mutant in mutants:
            try:
                mutated.append((mutant, pool.submit(play, mutant.scenario, build, venv, shop.make(mutant)), None))
            except RuntimeError as fault:
                mutated.append((mutant, None, str(fault)))
        for name, one in zip(scenarios, plain):
            said = one.result()
            tap.point(said.get("violations") == [], f"as it is, the oracle finds nothing in {name}", lines_of(said))
        for mutant, one, fault in mutated:
            judge_mutant(tap, mutant, one.result() if one else {"fault": fault, "seconds": 0})
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
