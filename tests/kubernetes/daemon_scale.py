#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""daemon_scale.py BUILD [--nodes 10000] [--pods 150000] [--changes 100] [--seconds 60] [--shrink] - stintd beside a large cluster.

stintd is the real one, in mode act. Both of its connections are this script, which speaks the lines of stint-kubernetes, so that no
time of an API server is in what is measured: --nodes machines of three types with --pods pods of 500 Deployments on them, as full as
three quarters. Then, each second, --changes pods of Jobs arrive, and as many end: what is placed runs, what is rented is ready a second
later, what is given back or evicted is gone. With --shrink two thirds of the Deployments' pods go before that, and Stint may move pods off
a machine that has been little used for 10 s.

Measured, from stintd's own metrics and from /proc: seconds from the end of the lists to the end of the first decision, with the audit
that comes before it; seconds of a decision after that, the mean, and as quantiles of the histogram; processor time a second; memory.
"""
import argparse
import http.client
import json
import os
import random
import re
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time

TYPES = [("m5.2xlarge", 8000, 32768, 0.384), ("c5.4xlarge", 16000, 32768, 0.68), ("r5.2xlarge", 8000, 65536, 0.504)]
KINDS = 500
CONF = """\
cluster: big
mode: act
node_prefix: st-
state: {folder}/stint.db
catalogue: {folder}/catalogue.yaml
policy: {{ name: stint, clear_after: {after} }}
estimates: {{ default: 60s, learn: true }}
timing: {{ audit: 60s, boot_timeout: 120s }}
engine: {{ kind: kubernetes, program: {folder}/peer }}
cloud: {{ kind: karpenter, program: {folder}/peer, node_class: a.b/C/d }}
http: {{ socket: {folder}/stintd.sock }}
"""


class World:
    """What there is at the beginning: the same for both connections."""

    def __init__(self, nodes, pods):
        rng = random.Random(1)
        self.machines = [rng.choice(TYPES) for _ in range(nodes)]
        kinds = [(rng.choice([100, 250, 500]), rng.choice([256, 512, 1024])) for _ in range(KINDS)]
        self.pods = [(i % nodes + 1, i % KINDS, *kinds[i % KINDS]) for i in range(pods)]
        used = {}
        for slot, _, cpu, mem in self.pods:
            have = used.setdefault(slot, [0, 0])
            have[0], have[1] = have[0] + cpu, have[1] + mem
        for slot, (cpu, mem) in used.items():
            name, cpus, mib, _ = self.machines[slot - 1]
            assert cpu <= cpus and mem <= mib, f"{slot} ({name}) is too full"


class Peer:
    """One end of a connection of stintd."""

    def __init__(self, folder):
        with open(f"{folder}/world.json", encoding="utf-8") as file:
            self.arguments = argparse.Namespace(**json.load(file))
        self.folder, self.world = folder, World(self.arguments.nodes, self.arguments.pods)
        self.rest, self.timers, self.out = b"", [], []

    def say(self, line):
        self.out.append(line)

    def flush(self):
        if self.out:
            sys.stdout.write("\n".join(self.out) + "\n")
            sys.stdout.flush()
            self.out = []

    def later(self, seconds, function, *arguments):
        self.timers.append((time.monotonic() + seconds, len(self.timers), function, arguments))

    def run(self):
        while True:
            now = time.monotonic()
            due = sorted(timer for timer in self.timers if timer[0] <= now)
            self.timers = [timer for timer in self.timers if timer[0] > now]
            for _, _, function, arguments in due:
                function(*arguments)
            self.flush()
            if select.select([0], [], [], 0.05)[0]:
                more = os.read(0, 1 << 20)
                if not more:
                    return
                *lines, self.rest = (self.rest + more).split(b"\n")
                for line in lines:
                    word, *fields = line.decode().split()
                    self.hear(word, dict(field.split("=", 1) for field in fields if "=" in field))


class Engine(Peer):
    def __init__(self, folder):
        super().__init__(folder)
        self.number, self.seen, self.evicted, self.running = 0, 0, 0, []
        self.where = {}
        self.say("hello protocol=1")

    def pod(self, uid, kind, owner, cpu, mem, state, slot=None):
        where = f" slot=st-{slot}" if slot else ""
        self.say(f"pod uid={uid} space=work name={uid} state={state} cpu={cpu} mem={mem} accel=0 owner={owner} kind={kind}{where}")

    def node(self, number, name, cpu, mem):
        self.say(f"node slot=st-{number} name=n{number} state=up cpu={cpu} mem={mem} accel=0 pods=110")

    def begin(self):
        self.say("sync what=nodes")
        for number, (name, cpu, mem, _) in enumerate(self.world.machines, 1):
            self.node(number, name, cpu, mem)
        self.say("synced what=nodes")
        self.say("sync what=pods")
        for i, (slot, kind, cpu, mem) in enumerate(self.world.pods):
            self.pod(f"p{i}", "ReplicaSet", f"d{kind}", cpu, mem, "running", slot)
        self.say("overheads")
        self.flush()
        with open(f"{self.folder}/listed", "w", encoding="utf-8") as file:
            file.write(str(time.monotonic()))
        self.say("synced what=pods")
        if self.arguments.shrink:
            self.later(self.arguments.wait, self.shrink)
        self.later(self.arguments.wait, self.change)
        self.later(1, self.look)

    def look(self):
        """What the cloud has given."""
        self.later(0.5, self.look)
        try:
            with open(f"{self.folder}/rented", encoding="utf-8") as file:
                lines = file.read().splitlines()
        except OSError:
            return
        for line in lines[self.seen:]:
            number, name = line.split()
            _, cpu, mem, _ = next(one for one in TYPES if one[0] == name)
            self.node(int(number), name, cpu, mem)
        self.seen = len(lines)

    def shrink(self):
        for i in range(len(self.world.pods)):
            if i // KINDS % 3 and f"p{i}" not in self.where:
                self.say(f"gone uid=p{i}")

    def change(self):
        self.later(1, self.change)
        with open(f"{self.folder}/evicted", "w", encoding="utf-8") as file:
            file.write(str(self.evicted))
        for _ in range(min(self.arguments.changes, len(self.running))):
            uid, line = self.running.pop(0)
            self.say(line.replace("state=running", "state=ended"))
        for _ in range(self.arguments.changes):
            self.number += 1
            cpu, mem = (500, 1024) if self.number % 3 else (4000, 8192)
            uid = f"j{self.number}"
            self.where[uid] = ("Job", f"job-{self.number // 10}", cpu, mem)
            self.pod(uid, *self.where[uid], "waiting")

    def start(self, uid, slot):
        self.pod(uid, *self.where[uid], "running", slot)
        if uid[0] == "j":
            self.running.append((uid, self.out[-1]))

    def replace(self, uid):
        """By its controller."""
        self.evicted += 1
        self.say(f"gone uid={uid}")
        self.number += 1
        self.where[f"r{self.number}"] = self.where.pop(uid)
        self.pod(f"r{self.number}", *self.where[f"r{self.number}"], "waiting")

    def hear(self, word, line):
        if word == "hello":
            self.begin()
            return
        uid = line.get("uid", "")
        if uid[:1] == "p" and uid not in self.where:
            _, kind, cpu, mem = self.world.pods[int(uid[1:])]
            self.where[uid] = ("ReplicaSet", f"d{kind}", cpu, mem)
        self.say(f"done key={line['key']}" + (" pods=0" if word == "room" else ""))
        if word == "place":
            slot = line["slot"][3:]
            self.pod(uid, *self.where[uid], "placed", slot)
            self.later(0.2, self.start, uid, slot)
        elif word == "evict":
            self.later(0.2, self.replace, uid)


class Cloud(Peer):
    def __init__(self, folder):
        super().__init__(folder)
        self.there = {number: one[0] for number, one in enumerate(self.world.machines, 1)}
        self.since = int(time.time() * 1000) - 3600000

    def ready(self, number, name):
        self.say(f"running id={number} offer={name}//on-demand billed_from={int(time.time() * 1000)}")
        self.there[number] = name
        with open(f"{self.folder}/rented", "a", encoding="utf-8") as file:
            file.write(f"{number} {name}\n")

    def hear(self, word, line):
        if word == "hello":
            self.say("hello protocol=1")
        elif word == "rent":
            for number in range(int(line["key"]), int(line["key"]) + int(line.get("count", 1))):
                self.later(1, self.ready, number, line["offer"].split("/")[0])
        elif word == "give-back":
            name = self.there.pop(int(line["key"]), "m5.2xlarge")
            self.say(f"gone id={line['key']} offer={name}//on-demand why=returned billed_from={self.since} billed_to={int(time.time() * 1000)}")
        elif word == "list":
            for number, name in self.there.items():
                self.say(f"found key={line['key']} id={number} name=st-{number} offer={name}//on-demand state=running billed_from={self.since}")
            self.say(f"listed key={line['key']} count={len(self.there)}")


class Socket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.unix = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.unix)


def metrics(folder):
    connection = Socket(f"{folder}/stintd.sock")
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return {name: float(value) for name, value in re.findall(r"^([a-z_]+(?:\{[^}]*\})?) ([-0-9.e+]+)$", text, re.M)}


def decided(found):
    """How many decisions there were, and how long all of them took."""
    return int(found.get("stint_decision_seconds_count", 0)), found.get("stint_decision_seconds_sum", 0)


def histogram(found):
    buckets = {}
    for name, value in found.items():
        match = re.fullmatch(r'stint_decision_seconds_bucket\{.*le="([^"]+)".*\}', name)
        if match:
            buckets[float(match[1].replace("+Inf", "inf"))] = value
    return buckets


def quantile(before, after, share):
    """The bucket that has it."""
    grown = {limit: after[limit] - before.get(limit, 0) for limit in sorted(after)}
    return next((limit for limit, count in grown.items() if count >= share * max(grown.values())), 0)


def of_proc(pid, what):
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        return int(re.search(rf"{what}:\s+(\d+)", file.read())[1]) / 1024


def used_s(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def until(function, seconds, what):
    limit = time.monotonic() + seconds
    while time.monotonic() < limit:
        try:
            found = function()
        except (OSError, http.client.HTTPException):
            found = None
        if found:
            return found
        time.sleep(0.05)
    raise RuntimeError(f"{what}: not within {seconds} s")


def measure(folder, daemon, arguments):
    listed = float(until(lambda: os.path.exists(f"{folder}/listed") and open(f"{folder}/listed", encoding="utf-8").read(), 120, "the lists"))
    until(lambda: decided(metrics(folder))[0] > 0, 300, "the first decision")
    first = metrics(folder)
    print(f"first decision {time.monotonic() - listed:.2f} s after the lists, of which it took {decided(first)[1]:.2f} s; "
          f"processor time since the start {used_s(daemon.pid):.1f} s; {of_proc(daemon.pid, 'VmRSS'):.0f} MB", flush=True)
    time.sleep(max(0, listed + arguments.wait - time.monotonic()))
    before, used = until(lambda: metrics(folder), 120, "an answer"), used_s(daemon.pid)
    time.sleep(arguments.seconds)
    after = until(lambda: metrics(folder), 120, "an answer")
    count, spent = (b - a for a, b in zip(decided(before), decided(after)))
    most = [quantile(histogram(before), histogram(after), share) for share in (0.5, 0.99, 1)]
    with open(f"{folder}/evicted", encoding="utf-8") as file:
        evicted = file.read()
    print(f"{arguments.changes} pods a second, {evicted} evicted: {count} decisions, {spent / max(1, count) * 1000:.1f} ms in the mean, half within {most[0]:g} s, "
          f"99 % within {most[1]:g} s, all within {most[2]:g} s; {(used_s(daemon.pid) - used) / arguments.seconds:.2f} s of processor time a second; "
          f"{of_proc(daemon.pid, 'VmRSS'):.0f} MB, {of_proc(daemon.pid, 'VmHWM'):.0f} MB at the most", flush=True)


def main():
    if sys.argv[1] == "peer":
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        {"engine": Engine, "cloud": Cloud}[sys.argv[3]](sys.argv[2]).run()
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--nodes", type=int, default=10000)
    parser.add_argument("--pods", type=int, default=150000)
    parser.add_argument("--shrink", action="store_true")
    parser.add_argument("--changes", type=int, default=100)
    parser.add_argument("--wait", type=float, default=30)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/world.json", "w", encoding="utf-8") as file:
            json.dump(vars(arguments), file)
        with open(f"{folder}/peer", "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec {sys.executable} {os.path.realpath(__file__)} peer {folder} "$@"\n')
        os.chmod(f"{folder}/peer", 0o755)
        with open(f"{folder}/stint.conf", "w", encoding="utf-8") as file:
            file.write(CONF.format(folder=folder, after="10s" if arguments.shrink else "3m"))
        with open(f"{folder}/catalogue.yaml", "w", encoding="utf-8") as file:
            file.write("billing: { step: 1s, minimum: 60s }\nboot: { acquire: 1s, setup: 2s, release: 1s }\ntypes:\n" + "".join(
                f"  - {{ name: {name}, cpu: {cpu / 1000:g}, mem_gib: {mem / 1024:g}, offers: [ {{ price: {price} }} ] }}\n"
                for name, cpu, mem, price in TYPES))
        with open(f"{folder}/log", "wb") as log:
            daemon = subprocess.Popen([f"{os.path.abspath(arguments.build)}/src/daemon/stintd", "-c", f"{folder}/stint.conf"], stderr=log, stdout=log)
        try:
            measure(folder, daemon, arguments)
        finally:
            daemon.terminate()
            daemon.wait(60)
            with open(f"{folder}/log", encoding="utf-8", errors="replace") as log:
                lines = log.read().splitlines()
            print("\n".join(f"# {line}" for line in lines[:3] + ["..."] + lines[-3:] if os.environ.get("VERBOSE")))


if __name__ == "__main__":
    main()
