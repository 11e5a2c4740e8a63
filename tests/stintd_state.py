#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""stintd_state - what stintd keeps of itself from one life to the next.

    stintd_state.py STINTD STINT

Without Slurm and without a cloud: neither can be reached, and the daemon answers all the same. Each
sentence is one TAP point.
"""
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

CATALOGUE = """\
billing: { step: 1s, minimum: 60s }
boot: { acquire: 25s, setup: 50s, release: 10s }
types:
  - name: small
    cpu: 2
    mem_gib: 8
    price: 0.101
"""
CONF = """\
cluster: {cluster}
mode: {mode}
state: {folder}/stint.db
catalogue: {folder}/catalogue.yaml
policy: stint
engine: {{ kind: slurm, program: /nonexistent/stint-slurm }}
cloud: {{ {cloud} }}
http: {{ socket: {folder}/sock }}
"""
LOCAL = "kind: local, socket: /nonexistent/cloud.sock"
EC2 = "kind: aws, region: {region}, endpoint: 'http://127.0.0.1:9', image: ami-1"


class World:
    def __init__(self, folder, stintd, stint):
        self.folder = folder
        self.stintd = os.path.abspath(stintd)
        self.stint = os.path.abspath(stint)
        self.process = None
        with open(f"{folder}/catalogue.yaml", "w", encoding="utf-8") as file:
            file.write(CATALOGUE)

    def start(self, cluster="lab", cloud=LOCAL, mode="act"):
        """What it says if it ends by itself; else None."""
        with open(f"{self.folder}/stint.conf", "w", encoding="utf-8") as file:
            file.write(CONF.format(cluster=cluster, folder=self.folder, cloud=cloud, mode=mode))
        if os.path.exists(f"{self.folder}/sock"):
            os.remove(f"{self.folder}/sock")
        with open(f"{self.folder}/said", "w", encoding="utf-8") as said:
            self.process = subprocess.Popen([self.stintd, "-c", f"{self.folder}/stint.conf"],
                                            stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if self.process.poll() is not None:
                with open(f"{self.folder}/said", encoding="utf-8") as said:
                    return said.read()
            if os.path.exists(f"{self.folder}/sock") and self.ask("status").returncode == 0:
                return None
            time.sleep(0.05)
        raise TimeoutError("stintd does not answer")

    def stop(self, sig=signal.SIGTERM):
        if self.process and self.process.poll() is None:
            self.process.send_signal(sig)
            self.process.wait(30)

    def ask(self, *words):
        return subprocess.run([self.stint, *words], capture_output=True, text=True, check=False,
                              env={**os.environ, "STINT_SOCKET": f"{self.folder}/sock"})

    def is_draining(self):
        return "DRAINING" in self.ask("status").stdout

    def rent(self, ended):
        """A machine in the books."""
        with sqlite3.connect(f"{self.folder}/stint.db") as books:
            books.execute("INSERT OR REPLACE INTO instance(id,name,per_hour,asked_at,ended_at)"
                          " VALUES(7,'st-7',100000,1,?)", (ended,))
        books.close()

    def drain_outlives_a_kill(self):
        assert self.start() is None
        assert not self.is_draining()
        assert self.ask("drain").returncode == 0
        time.sleep(0.5)  # a turn of the loop
        self.stop(signal.SIGKILL)
        assert self.start() is None
        assert self.is_draining()

    def its_end_does_too(self):
        assert self.ask("drain", "--off").returncode == 0
        self.stop()
        assert self.start() is None
        assert not self.is_draining()
        self.stop()

    def machines_keep_their_cluster(self):
        self.rent(None)
        said = self.start(cluster="other")
        assert said and "1 machines are still rented as cluster lab at cloud local" in said, said
        assert "stint drain" in said, said
        assert self.process.returncode == 1

    def machines_keep_their_cloud_and_region(self):
        assert "this configuration (lab, aws eu-west-1)" in self.start(cloud=EC2.format(region="eu-west-1"))
        self.rent(5)
        assert self.start(cloud=EC2.format(region="eu-west-1")) is None
        self.stop()
        self.rent(None)
        assert "cloud aws eu-west-1" in self.start(cloud=EC2.format(region="us-east-1"))
        assert self.start(cloud=EC2.format(region="eu-west-1")) is None
        self.stop()

    def a_forecast_may_be_of_another(self):
        assert self.start(cluster="other", mode="shadow") is None
        self.stop()


POINTS = (
    ("a drain outlives a kill", World.drain_outlives_a_kill),
    ("and its end a stop", World.its_end_does_too),
    ("with machines in the books there is no start as another cluster", World.machines_keep_their_cluster),
    ("nor at another cloud or region, before they have ended", World.machines_keep_their_cloud_and_region),
    ("a forecast has books of its own", World.a_forecast_may_be_of_another),
)


def main():
    if len(sys.argv) != 3:
        print(__doc__)
        return 2
    os.environ.update(AWS_ACCESS_KEY_ID="AKIAEXAMPLE", AWS_SECRET_ACCESS_KEY="none")
    failed = 0
    print(f"1..{len(POINTS)}")
    with tempfile.TemporaryDirectory() as folder:
        world = World(folder, *sys.argv[1:])
        for number, (name, point) in enumerate(POINTS, 1):
            try:
                point(world)
                print(f"ok {number} - {name}", flush=True)
            except (AssertionError, OSError, TypeError, ValueError, sqlite3.Error) as fault:
                failed += 1
                print(f"not ok {number} - {name}\n# {type(fault).__name__}: {fault}", flush=True)
        world.stop(signal.SIGKILL)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
