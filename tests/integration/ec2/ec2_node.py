#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ec2_node - the hook of ec2_stand_in.py that gives each instance a body: a namespace with stint-join.

    ec2_node.py FOLDER STINT_JOIN launch|notice|terminate      with a line of the record on standard input

It stands in the lab of slurm_lab.py, on its bridge. As an instance does, it asks the metadata service who
it is and whether it will be taken away: stint-join reads user data, launch index and tags there, and starts
ec2_boot.sh, which is slurmd on what the type has. When the instance is terminated it dies all at once.
"""
import json
import os
import signal
import subprocess
import sys

sys.dont_write_bytecode = True

import ec2_identity
import ec2_types

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORK = "10.77"
METADATA = "169.254.169.254"
ENCLOSE = ("unshare", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child=KILL",
           "--propagation", "private", "--mount-proc")


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"ec2_node: {' '.join(command)}: {done.stderr.strip()}")


def address_of(key):
    return f"{NETWORK}.{1 + key // 200}.{10 + key % 200}"


def wire(name, key):
    """A network namespace on the bridge, with a way to the metadata service."""
    run("ip", "netns", "add", name)
    run("ip", "link", "add", f"vi{key}", "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "link", "set", f"vi{key}", "master", "slbr0", "up")
    run("ip", "-n", name, "addr", "add", f"{address_of(key)}/16", "dev", "eth0")
    run("ip", "-n", name, "link", "set", "eth0", "up")
    run("ip", "-n", name, "link", "set", "lo", "up")
    run("ip", "-n", name, "route", "add", METADATA, "dev", "eth0")


def tell(folder, key, **settings):
    """What the metadata service says to that instance from now on; the rest stays."""
    path = f"{folder}/metadata/{address_of(key)}"
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            settings = {**json.load(file), **settings}
    with open(f"{path}.new", "w", encoding="utf-8") as file:
        json.dump(settings, file)
    os.replace(f"{path}.new", path)


def launch(folder, join, line):
    name, key, kind = line["id"], ec2_identity.key_of(line), ec2_types.find(line["type"])
    own = f"{folder}/node/{name}"
    os.makedirs(own)
    wire(name, key)
    tell(folder, key, instance_id=name, instance_type=line["type"], zone=line["zone"],
         life_cycle=line["market"], launch_index=line["index"], user_data=line["user_data"] or None,
         tags=line["tags"])
    # The shell takes in orphans, as the first process of a machine does.
    with open(f"{own}/said", "wb") as log:
        process = subprocess.Popen(
            [*ENCLOSE, "nsenter", f"--net=/run/netns/{name}", "bash", "-c", '"$@"; exit $?', "init",
             join, "--every", "500ms", "--stamp", f"{own}/idle", "--run", f"bash {HERE}/ec2_boot.sh {{node}} {{type}} {{zone}} {{market}}"],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            env={"PATH": os.environ["PATH"], "CPUS": str(kind.cpu), "MEM_MIB": str(kind.mem_mib),
                 "ACCELS": str(kind.accel), "ADDRESS": address_of(key), "FOLDER": own})
    with open(f"{own}.is", "w", encoding="ascii") as file:
        file.write(f"{process.pid} {key}")


def find(folder, line):
    """(process, key) of an instance."""
    with open(f"{folder}/node/{line['id']}.is", encoding="ascii") as file:
        return tuple(map(int, file.read().split()))


def notice(folder, line):
    _, key = find(folder, line)
    if line["kind"] == "rebalance":
        tell(folder, key, rebalance=True)
    else:
        tell(folder, key, action={"action": "terminate", "in_s": max(0, (line["until"] - line["at"]) / 1000)})


def terminate(folder, line):
    pid, _ = find(folder, line)
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it died by itself
    run("ip", "netns", "del", line["id"])


def main():
    folder, join, event = sys.argv[1:4]
    line = json.load(sys.stdin)
    if event == "launch":
        launch(folder, join, line)
    elif event == "notice":
        notice(folder, line)
    elif event == "terminate":
        terminate(folder, line)


if __name__ == "__main__":
    main()
