#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_local_cloud - rent real namespaces: 'test_local_cloud.py STINT-CLOUD-LOCAL BOOT-SLURM'.

STINT-CLOUD-LOCAL is the server, BOOT-SLURM the script that makes a Slurm node of a machine. All of it
runs in the private namespaces of slurm_lab.py; the last tests bring up a Slurm there. Each sentence
is one TAP point. Where no lab can be made, all of it is skipped, and the plan says why.
"""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "slurm"))

import slurm_lab
from slurm_lab import run, until

PATIENCE = 20  # seconds for what takes one; the machine may be busy

CATALOGUE = """\
billing: { step: 1s, minimum: 0 }
boot: { acquire: 100ms, setup: 1s, release: 300ms }
types:
  - { name: t.small, cpu: 1, mem_gib: 1, price: 0.36 }
  - name: t.large
    cpu: 4
    mem_gib: 4
    accel: 2
    price: 3.6
    offers:
      - { market: spot, zone: here, price: 1.2 }
  - name: t.slow
    cpu: 1
    mem_gib: 1
    price: 1
    boot: { acquire: 60s }
"""
SMALL = "t.small//on-demand"
LARGE = "t.large//on-demand"
SPOT = "t.large/here/spot"
SLOW = "t.slow//on-demand"

# Says who it is, starts a child that nobody waits for, and stays until it is told to end.
BOOT = """\
#!/bin/sh
set -e
env >$FOLDER/env
hostname >$FOLDER/hostname
ip -4 -o addr show eth0 >$FOLDER/address
ls -d /proc/[0-9]* >$FOLDER/processes
touch $FOLDER/shared-mark
mount -t tmpfs tmpfs /mnt
touch /mnt/inside
sleep 100000 &
echo started
touch $FOLDER/started
while [ ! -e $FOLDER/end ]; do sleep 0.05; done
exit 3
"""


def parse(line):
    word, *fields = line.rstrip("\n").split(" ")
    pairs = (field.split("=", 1) for field in fields)
    return {"": word, **{key: urllib.parse.unquote(value) for key, value in pairs}}


class Client:
    """One connection, and what was said over it."""

    def __init__(self, path, cluster="lab", hello=True):
        self.said = []
        self.is_open = True
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()
        if hello:
            self.send(f"hello protocol=1 cluster={cluster}")
            self.wait("hello", protocol=1)

    def read(self):
        with self.socket.makefile(encoding="ascii") as lines:
            try:
                for line in lines:
                    self.said.append(parse(line))
            except OSError:
                pass
        self.is_open = False

    def send(self, line):
        self.socket.sendall(line.encode() + b"\n")

    def all(self, word, since=0, **fields):
        wanted = {"": word, **{key: str(value) for key, value in fields.items()}}
        return [said for said in self.said[since:] if wanted.items() <= said.items()]

    def wait(self, word, since=0, patience=PATIENCE, **fields):
        until(lambda: self.all(word, since, **fields), patience, f"{word} {fields}")
        return self.all(word, since, **fields)[0]

    def list(self, key):
        since = len(self.said)
        self.send(f"list key={key}")
        self.wait("listed", since, key=key)
        return ({int(said["id"]): said for said in self.all("found", since)},
                {int(said["id"]): said for said in self.all("gone", since)})

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.thread.join(PATIENCE)
        self.socket.close()


class World:
    def __init__(self, program, slurm_script, folder):
        self.program = program
        self.slurm_script = slurm_script
        self.folder = folder
        self.socket = f"{folder}/cloud.sock"
        self.state = f"{folder}/cloud"
        self.log = f"{folder}/cloud.csv"
        self.server = None
        self.client = None
        self.lab = None
        self.next = 0

    def write(self, name, text, mode=0o644):
        path = f"{self.folder}/{name}"
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def start(self, *options, script=None):
        script = script or self.write("boot.sh", BOOT, 0o755)
        self.server = subprocess.Popen(
            [self.program, "--socket", self.socket, "--boot", script,
             "--catalogue", self.write("catalogue.yaml", CATALOGUE), "--state", self.state,
             "--log", self.log, "--boot-env", "GREETING=good morning", *options])
        self.client = until(self.connect, PATIENCE, "the server")

    def connect(self):
        assert self.server.poll() is None, "the server has ended"
        try:
            return Client(self.socket)
        except OSError:
            return None

    def stop(self, sig=signal.SIGTERM):
        self.client.close()
        self.server.send_signal(sig)
        return self.server.wait(PATIENCE)

    def key(self):
        """A key that was not used yet."""
        self.next += 1
        return self.next

    def rent(self, offer=SMALL, count=1):
        first = self.key()
        self.next += count - 1
        self.client.send(f"rent key={first} count={count} offer={offer} prefix=st-")
        return first

    def rent_and_wait(self, offer=SMALL):
        key = self.rent(offer)
        self.client.wait("running", id=key)
        until(lambda: os.path.exists(f"{self.machine(key)}/started"), PATIENCE, "the script")
        return key

    def give_back(self, *keys):
        for key in keys:
            self.client.send(f"give-back key={key}")
        return [self.client.wait("gone", id=key) for key in keys]

    def machine(self, key):
        for name in os.listdir(f"{self.state}/machines"):
            if name.endswith(f"-st-{key}"):
                return f"{self.state}/machines/{name}"
        raise FileNotFoundError(f"no folder of st-{key}")

    def read(self, key, name):
        with open(f"{self.machine(key)}/{name}", encoding="utf-8") as file:
            return file.read()

    def ask(self, line):
        """A request that is answered with 'done' or 'failed'."""
        since = len(self.client.said)
        key = self.key()
        word, *rest = line.split(" ")
        self.client.send(" ".join([word, f"key={key}", *rest]))
        until(lambda: self.client.all("done", since, key=key) or
              self.client.all("failed", since, key=key), PATIENCE, line)
        return (self.client.all("done", since, key=key) or
                self.client.all("failed", since, key=key))[0]

    def logged(self):
        with open(self.log, encoding="utf-8") as file:
            names, *lines = file.read().splitlines()
        return [dict(zip(names.split(","), line.split(","))) for line in lines]


def links():
    return re.findall(r"slbr0-\d+", run("ip", "-o", "link"))


def machines_left():
    """The two first processes of every machine. (Here, nobody reaps the dead of a killed server.)"""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                if re.match(r"\d+ \(stint-machine\) [^ZX]", file.read()):
                    found.append(int(pid))
        except OSError:
            pass
    return found


TESTS = []


def test(function):
    TESTS.append(function)
    return function


@test
def a_machine_is_a_host_with_its_own_name_network_processes_and_mounts(world):
    key = world.rent_and_wait(SPOT)

    env = dict(line.split("=", 1) for line in world.read(key, "env").splitlines())
    said = {name: env[name] for name in ("NAME", "TYPE", "FAMILY", "MARKET", "ZONE", "CPUS",
                                         "MEM_MIB", "ACCELS", "GREETING")}
    assert said == {"NAME": f"st-{key}", "TYPE": "t.large", "FAMILY": "t", "MARKET": "spot",
                    "ZONE": "here", "CPUS": "4", "MEM_MIB": "4096", "ACCELS": "2",
                    "GREETING": "good morning"}, said
    assert world.read(key, "hostname") == f"st-{key}\n"
    assert f"{env['ADDRESS']}/16" in world.read(key, "address")
    assert re.fullmatch(r"10\.77\.1\.\d+", env["ADDRESS"])
    processes = world.read(key, "processes").split()
    assert "/proc/1" in processes and len(processes) < 8, processes
    assert not os.path.exists("/mnt/inside")
    assert "started" in world.read(key, "console")
    run("ping", "-c", "1", "-W", "5", env["ADDRESS"]) if shutil.which("ping") else None

    world.give_back(key)


@test
def the_bill_begins_with_running_and_ends_after_the_release_time(world):
    began = time.time() * 1000
    key = world.rent()
    running = world.client.wait("running", id=key)
    until(lambda: os.path.exists(f"{world.machine(key)}/started"), PATIENCE, "the script")
    asked = time.time() * 1000
    gone, = world.give_back(key)

    assert int(running["billed_from"]) >= began + 100, (running, began)
    assert gone["billed_from"] == running["billed_from"]
    assert asked + 300 - 1 <= int(gone["billed_to"]) <= time.time() * 1000
    assert gone["why"] == "returned"


@test
def the_log_has_what_a_bill_needs(world):
    key = world.rent_and_wait(SPOT)
    gone, = world.give_back(key)

    lines = [line for line in world.logged() if line["id"] == str(key)]
    assert [line["event"] for line in lines] == ["rented", "running", "returned", "gone"], lines
    last = lines[-1]
    assert last["offer"] == SPOT and last["name"] == f"st-{key}" and last["why"] == "returned"
    assert last["price_microdollars_per_hour"] == "1200000"
    assert (last["billed_from"], last["billed_to"]) == (gone["billed_from"], gone["billed_to"])


@test
def the_same_key_rents_once(world):
    key = world.rent()
    for _ in range(3):
        world.client.send(f"rent key={key} offer={SMALL} prefix=st-")
    world.client.wait("running", id=key)
    since = len(world.client.said)
    world.client.send(f"rent key={key} offer={SMALL} prefix=st-")

    again = world.client.wait("running", since, id=key)
    assert again == world.client.wait("running", id=key)
    assert len(links()) == 1, links()
    assert len([line for line in world.logged()
                if line["id"] == str(key) and line["event"] == "rented"]) == 1
    world.give_back(key)
    since = len(world.client.said)
    world.client.send(f"rent key={key} offer={SMALL} prefix=st-")
    world.client.wait("gone", since, id=key)


@test
def giving_back_takes_every_process_and_the_link(world):
    key = world.rent_and_wait()
    assert machines_left() and links()

    world.give_back(key)

    assert not machines_left()
    until(lambda: not links(), PATIENCE, "the link to go")


@test
def one_that_was_never_there_is_gone_and_never_billed(world):
    gone, = world.give_back(world.key())

    assert "billed_from" not in gone


@test
def one_that_is_given_back_before_it_runs_costs_nothing(world):
    key = world.rent(SLOW)
    gone, = world.give_back(key)

    assert "billed_from" not in gone and gone["why"] == "returned"


@test
def an_offer_that_is_not_known_is_refused(world):
    key = world.rent("t.none//spot")

    assert world.client.wait("refused", id=key)["reason"] == "unknown-offer"


@test
def beyond_its_capacity_an_offer_is_refused(world):
    assert world.ask(f"capacity offer={LARGE} count=1")[""] == "done"
    first = world.rent(LARGE, 2)

    world.client.wait("running", id=first)
    assert world.client.wait("refused", id=first + 1)["reason"] == "capacity"
    assert world.ask(f"capacity offer={LARGE}")[""] == "done"
    key = world.rent(LARGE)
    world.client.wait("running", id=key)
    world.give_back(first, key)


@test
def beyond_the_quota_everything_is_refused(world):
    world.ask("fault quota=1")
    first = world.rent(SMALL, 2)

    assert world.client.wait("refused", id=first + 1)["reason"] == "quota"
    world.ask("fault quota=4294967295")
    world.give_back(first)


@test
def all_are_refused_where_that_is_asked_for(world):
    world.ask("fault refuse=1000")
    first = world.rent(SMALL, 3)

    for key in range(first, first + 3):
        assert world.client.wait("refused", id=key)["reason"] == "capacity"
    world.ask("fault refuse=0")
    assert not links()


@test
def a_revoked_machine_dies_at_once_and_its_bill_with_it(world):
    key = world.rent_and_wait(SPOT)
    before = time.time() * 1000
    assert world.ask(f"revoke id={key}")["id"] == str(key)

    gone = world.client.wait("gone", id=key)
    assert gone["why"] == "revoked"
    assert before - 1 <= int(gone["billed_to"]) <= time.time() * 1000
    assert not world.client.all("notice", id=key)
    assert not machines_left()


@test
def a_notice_comes_first_where_one_is_asked_for(world):
    key = world.rent_and_wait(SPOT)
    assert world.ask("revoke notice_ms=400")["id"] == str(key)

    notice = world.client.wait("notice", id=key)
    assert machines_left()
    gone = world.client.wait("gone", id=key)
    assert int(gone["billed_to"]) >= int(notice["until"])
    assert gone["why"] == "revoked"


@test
def what_does_not_run_cannot_be_revoked(world):
    assert world.ask("revoke")[""] == "failed"


@test
def a_machine_whose_script_ends_has_died(world):
    key = world.rent_and_wait()
    with open(f"{world.machine(key)}/end", "w", encoding="ascii"):
        pass

    gone = world.client.wait("gone", id=key)
    assert gone["why"] == "died" and int(gone["billed_to"]) >= int(gone["billed_from"])


@test
def a_machine_ends_when_nobody_asks_for_it_and_no_job_runs_there(world):
    world.stop()
    script = world.write("boot-job.sh", BOOT.replace("sleep 100000 &", "sleep 100000 &\n"
                         "[ $NAME != st-%d ] || SLURM_JOB_ID=1 sleep 100001 &" % (world.next + 2)), 0o755)
    world.start("--idle-shutdown", "2s", script=script)
    idle, busy = world.rent_and_wait(), world.rent_and_wait()
    time.sleep(4)
    found, _ = world.client.list(world.key())
    assert {idle, busy} <= set(found), found  # somebody is connected
    world.client.close()
    until(lambda: [line for line in world.logged() if line["why"] == "idle"], PATIENCE, "its end")
    time.sleep(3)
    world.client = Client(world.socket)
    found, gone = world.client.list(world.key())
    assert busy in found and gone[idle]["why"] == "idle", (found, gone)
    ended, = [line for line in world.logged() if line["why"] == "idle" and line["event"] == "gone"]
    assert int(ended["billed_to"]) - int(ended["billed_from"]) < 12000, ended
    world.give_back(busy)
    world.stop()
    world.start()


@test
def a_list_has_what_lives_and_what_went(world):
    key = world.rent_and_wait(SPOT)
    slow = world.rent(SLOW)
    found, gone = world.client.list(world.key())

    assert set(found) == {key, slow}, found
    assert found[key]["offer"] == SPOT and found[key]["name"] == f"st-{key}"
    assert "billed_from" in found[key] and "billed_from" not in found[slow]
    assert len(gone) >= 8
    assert gone[key - 1]["why"] == "died" if key - 1 in gone else True
    world.give_back(key, slow)


@test
def clusters_do_not_see_each_other(world):
    key = world.rent_and_wait()
    other = Client(world.socket, "elsewhere")
    found, gone = other.list(1)

    assert not found and not gone
    other.send(f"give-back key={key}")
    assert "billed_from" not in other.wait("gone", id=key)
    assert key in world.client.list(world.key())[0]
    assert not other.all("running")
    other.close()
    world.give_back(key)


@test
def all_who_speak_for_a_cluster_are_told(world):
    other = Client(world.socket)
    key = world.rent()

    other.wait("running", id=key)
    world.give_back(key)
    other.wait("gone", id=key)
    other.close()


@test
def answers_may_be_late_and_double_and_keep_their_order(world):
    world.ask("fault delay_ms=300 duplicate=1000")
    key = world.rent()
    world.client.wait("running", id=key)
    world.give_back(key)
    until(lambda: len(world.client.all("gone", id=key)) == 2, PATIENCE, "the second answer")

    words = [said[""] for said in world.client.said if said.get("id") == str(key)]
    assert words == ["running", "running", "gone", "gone"], words
    world.ask("fault delay_ms=0 duplicate=0")


@test
def a_connection_that_is_cut_does_not_undo_the_act(world):
    world.ask("fault cut=1000")
    key = world.rent()
    until(lambda: not world.client.is_open, PATIENCE, "the cut")
    world.client = Client(world.socket)
    world.ask("fault cut=0")

    world.client.send(f"rent key={key} offer={SMALL} prefix=st-")
    world.client.wait("running", id=key)
    assert len(links()) == 1
    world.give_back(key)


@test
def hostile_lines_are_answered_and_harm_nobody(world):
    other = Client(world.socket, hello=False)
    for line in ("list key=1", "hello protocol=99 cluster=x", "hello protocol=1", "rent", "\x01", "",
                 "x" * 2000000):
        since = len(other.said)
        other.send(line)
        other.wait("error", since)
    other.send("hello protocol=1 cluster=lab")
    other.wait("hello")
    for line in (f"rent key=1 offer={SMALL} prefix=../../etc", f"rent key=1 offer={SMALL} prefix=-a",
                 f"rent key=18446744073709551615 offer={SMALL} prefix=st-",
                 f"rent key=900 count=1001 offer={SMALL} prefix=st-",
                 f"rent key=900 count=0 offer={SMALL} prefix=st-",
                 f"rent key=900 offer={SMALL} prefix=st- colour=red", "fault key=1 refuse=1001",
                 "revoke key=1 id=-1", "sing key=1"):
        since = len(other.said)
        other.send(line)
        other.wait("error", since)
    other.close()
    assert world.client.list(world.key())[0] == {}


@test
def fifty_machines_run_within_seconds(world):
    began = time.monotonic()
    first = world.rent(SMALL, 50)
    for key in range(first, first + 50):
        world.client.wait("running", id=key)
    took = time.monotonic() - began
    for key in range(first, first + 50):
        until(lambda: os.path.exists(f"{world.machine(key)}/started"), PATIENCE, "the script")
    booted = time.monotonic() - began
    assert len(links()) == 50 and len(machines_left()) == 100, (links(), machines_left())
    addresses = {re.search(r"ADDRESS=(\S+)", world.read(key, "env"))[1]
                 for key in range(first, first + 50)}
    assert len(addresses) == 50
    # That of one of its links would go with a machine, and cut the others off for seconds.
    assert "02:00:0a:4d:00:01" in run("ip", "-o", "link", "show", "slbr0")

    began = time.monotonic()
    world.give_back(*range(first, first + 50))
    print(f"# 50 machines: all run after {took:.2f} s, all scripts after {booted:.2f} s, "
          f"all gone {time.monotonic() - began:.2f} s after that is asked for")
    assert not machines_left()


@test
def a_server_that_is_told_to_end_leaves_nothing(world):
    first = world.rent(SMALL, 3)
    for key in range(first, first + 3):
        world.client.wait("running", id=key)
    world.rent(SLOW)

    assert world.stop() == 0
    assert not machines_left()
    assert not os.path.exists(world.socket)
    until(lambda: "slbr0" not in run("ip", "-o", "link"), PATIENCE, "links and bridge to go")
    ended = {line["id"] for line in world.logged() if line["event"] in ("gone", "refused")}
    assert ended == {line["id"] for line in world.logged()}


@test
def keys_are_remembered_over_a_restart(world):
    world.start()
    world.client.send(f"rent key=1 offer={SPOT} prefix=st-")
    world.client.wait("gone", id=1)
    key = world.rent_and_wait()
    found, gone = world.client.list(world.key())

    assert set(found) == {key}
    assert gone[1]["why"] == "returned" and gone[1]["offer"] == SPOT


@test
def a_server_that_is_killed_takes_its_machines_with_it(world):
    assert machines_left()
    world.stop(signal.SIGKILL)

    until(lambda: not machines_left() and not links(), PATIENCE, "the machines to go")
    run(world.program, "--state", world.state, "--cleanup")
    assert "slbr0" not in run("ip", "-o", "link")
    assert os.listdir(f"{world.state}/machines") == []


@test
def a_state_folder_that_others_can_write_to_is_not_used(world):
    def clean_up(path):
        return subprocess.run([world.program, "--state", path, "--cleanup"], capture_output=True,
                              text=True, check=False)
    folder = f"{world.folder}/elsewhere"
    os.mkdir(folder, 0o755)
    assert clean_up(folder).returncode == 0
    os.symlink(folder, f"{world.folder}/link")
    assert "not writable by others" in clean_up(f"{world.folder}/link").stderr
    os.chmod(folder, 0o777)
    assert "not writable by others" in clean_up(folder).stderr
    os.chmod(folder, 0o755)
    os.unlink(f"{folder}/lock")
    os.symlink(f"{world.folder}/victim", f"{folder}/lock")
    assert clean_up(folder).returncode != 0
    assert not os.path.exists(f"{world.folder}/victim")
    os.unlink(f"{folder}/lock")
    os.chown(folder, 65534, 65534)
    assert "not writable by others" in clean_up(folder).stderr


@test
def a_state_folder_serves_one_server(world):
    world.start("--faults", f"refuse=0,capacity:{LARGE}=0")
    second = subprocess.run([world.program, "--state", world.state, "--cleanup"],
                            capture_output=True, text=True, check=False)

    assert second.returncode == 1 and "another server" in second.stderr
    world.next = 1000
    assert world.client.wait("refused", id=world.rent(LARGE))["reason"] == "capacity"
    world.stop()


def idle_nodes():
    return set(run("sinfo", "-h", "-N", "-t", "idle", "-o", "%N").split())


@test
def a_machine_joins_a_real_slurm_and_runs_a_job(world):
    world.lab = slurm_lab.Lab(f"{world.folder}/lab")
    os.makedirs(world.lab.folder)
    world.lab.start()
    world.start("--boot-env", f"SLURM_ETC={world.lab.folder}/slurm",
                "--boot-env", f"HOSTS={world.lab.folder}/hosts", script=world.slurm_script)
    world.next = 2000
    key = world.rent(SPOT)
    world.client.wait("running", id=key)
    began = time.monotonic()
    until(lambda: f"st-{key}" in idle_nodes(), PATIENCE, "the node")
    print(f"# from running to idle: {time.monotonic() - began:.2f} s")

    said = run("srun", "-C", "t.large&spot", "--gres=gpu:2", "-c", "4", "--mem=4000", "hostname")
    assert said.strip() == f"st-{key}", said
    world.give_back(key)


@test
def gangs_run_across_machines(world):
    first = world.rent(LARGE, 3)
    for key in range(first, first + 3):
        world.client.wait("running", id=key)
    names = {f"st-{key}" for key in range(first, first + 3)}
    until(lambda: names <= idle_nodes(), PATIENCE, "three idle nodes")

    where = ",".join(names)
    assert set(run("srun", "-w", where, "-N", "3", "hostname").split()) == names
    out = f"{world.folder}/gang.out"
    run("sbatch", "-w", where, "-N", "3", "-o", out, "-e", "/dev/null", "--wrap",
        "srun hostname; srun -N 2 hostname | wc -l; echo over")
    until(lambda: os.path.exists(out) and "over" in open(out, encoding="utf-8").read(), PATIENCE,
          "the gang")
    with open(out, encoding="utf-8") as file:
        said = file.read().split()
    assert set(said[:3]) == names and said[3:] == ["2", "over"], said
    world.give_back(*range(first, first + 3))


@test
def fifty_slurm_nodes_are_idle_within_seconds(world):
    began = time.monotonic()
    first = world.rent(SMALL, 50)
    for key in range(first, first + 50):
        world.client.wait("running", id=key)
    took = time.monotonic() - began
    names = {f"st-{key}" for key in range(first, first + 50)}
    until(lambda: names <= idle_nodes(), 60, "50 idle nodes")
    print(f"# 50 Slurm nodes: all run after {took:.2f} s, all idle after "
          f"{time.monotonic() - began:.2f} s")
    world.stop()
    assert not machines_left()


def run_tests(world):
    failed = 0
    print(f"1..{len(TESTS)}", flush=True)
    for number, function in enumerate(TESTS, 1):
        began = time.monotonic()
        try:
            function(world)
            print(f"ok {number} - {function.__name__}")
        except Exception as fault:  # whatever it is, the next test still tells something
            failed += 1
            print(f"not ok {number} - {function.__name__}\n# {type(fault).__name__}: {fault}")
            for said in world.client.said[-12:] if world.client else []:
                print(f"# said: {said}")
        print(f"# {time.monotonic() - began:.1f} s", flush=True)
    if failed and world.lab:
        print("".join(f"# {line}\n" for line in world.lab.complaints()), end="")
    return failed


def main():
    if slurm_lab.INSIDE not in os.environ:
        reason = slurm_lab.why_not()
        if reason:
            print(f"1..0 # SKIP {reason}")
            return 0
    sys.argv[1:] = [os.path.abspath(path) for path in sys.argv[1:]]
    world = World(sys.argv[1], sys.argv[2], slurm_lab.enclose())
    try:
        run("ip", "link", "set", "lo", "up")
        world.start()
        return 1 if run_tests(world) else 0
    finally:
        if world.server and world.server.poll() is None:
            world.server.kill()
            world.server.wait()
        if world.lab:
            world.lab.stop()


if __name__ == "__main__":
    sys.exit(main())
