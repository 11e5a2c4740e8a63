#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ec2_node - the hook of ec2_stand_in.py that gives each instance a body: a namespace with slurmd.

    ec2_node.py FOLDER launch|notice|terminate      with a line of the record on standard input

As an instance does, it takes its name from its user data and its launch index, or from its tags. It
stands in the lab of slurm_lab.py, on its bridge, and boots with share/local/boot-slurm.sh. When it is
terminated it dies all at once.
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
BOOT = os.path.realpath(os.path.join(HERE, "..", "..", "..", "share", "local", "boot-slurm.sh"))
NETWORK = "10.77"
ENCLOSE = ("unshare", "--uts", "--ipc", "--mount", "--pid", "--fork", "--kill-child=KILL",
           "--propagation", "private", "--mount-proc")


def run(*command):
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"ec2_node: {' '.join(command)}: {done.stderr.strip()}")


def wire(name, key):
    """A network namespace on the bridge; its address."""
    address = f"{NETWORK}.{1 + key // 200}.{10 + key % 200}"
    run("ip", "netns", "add", name)
    run("ip", "link", "add", f"vi{key}", "type", "veth", "peer", "name", "eth0", "netns", name)
    run("ip", "link", "set", f"vi{key}", "master", "slbr0", "up")
    run("ip", "-n", name, "addr", "add", f"{address}/16", "dev", "eth0")
    run("ip", "-n", name, "link", "set", "eth0", "up")
    run("ip", "-n", name, "link", "set", "lo", "up")
    return address


def identity(line):
    """(node, type, zone, market), as stint-join finds them."""
    told = dict(word.split("=", 1) for word in line["user_data"].splitlines() if word.startswith("STINT_"))
    if "STINT_NODE" in told:
        return (ec2_identity.name_at(told["STINT_NODE"], line["index"]), told["STINT_TYPE"],
                told["STINT_ZONE"], told["STINT_MARKET"])
    kind, _, market = line["tags"]["stint:offer"].split("/")
    return line["tags"]["stint:node"], kind, line["zone"], market


def launch(folder, line):
    name, own_type, zone, market = identity(line)
    kind = ec2_types.find(line["type"])
    address = wire(name, ec2_identity.key_of(line))
    own = f"{folder}/node/{name}"
    os.makedirs(own)
    with open(f"{own}/said", "wb") as log:
        process = subprocess.Popen(
            [*ENCLOSE, "nsenter", f"--net=/run/netns/{name}", "bash", "-c",
             'hostname "$NAME"; exec bash "$BOOT"'],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            env={"PATH": os.environ["PATH"], "BOOT": BOOT, "NAME": name, "TYPE": own_type,
                 "FAMILY": kind.name.split(".")[0], "MARKET": market, "ZONE": zone, "CPUS": str(kind.cpu), "MEM_MIB": str(kind.mem_mib),
                 "ACCELS": str(kind.accel), "ADDRESS": address, "FOLDER": own})
    with open(f"{folder}/node/{line['id']}", "w", encoding="ascii") as file:
        file.write(f"{process.pid} {name}")


def terminate(folder, line):
    with open(f"{folder}/node/{line['id']}", encoding="ascii") as file:
        pid, name = file.read().split()
    try:
        os.kill(int(pid), signal.SIGKILL)
    except ProcessLookupError:
        pass  # it died by itself
    run("ip", "netns", "del", name)


def main():
    folder, event = sys.argv[1:3]
    line = json.load(sys.stdin)
    if event == "launch":
        launch(folder, line)
    elif event == "terminate":
        terminate(folder, line)


if __name__ == "__main__":
    main()
