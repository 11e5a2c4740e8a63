# SPDX-License-Identifier: GPL-2.0-or-later
"""sampler - what stintd shows of itself over time, for rule 8 of the oracle.

    sampler = Sampler(lab.ask, f"{lab.folder}/samples.jsonl", f"{lab.folder}/stintd.said.log")
    ...
    sampler.stop()

A thread asks /v1/doctor and /metrics every two seconds and reads what the log has grown by. Each look
is one JSON line: "ms" (when it had its answers), "findings", "metrics" (name with labels: value) and
"log" (new lines); "error" in the place of the first two if the daemon did not answer.
"""
import json
import os
import threading
import time

EVERY_S = 2.0


def read_metrics(text):
    """{name with labels: value} of Prometheus text."""
    found = {}
    for line in text.splitlines():
        name, _, value = line.rpartition(" ")
        if name and not line.startswith("#"):
            try:
                found[name] = float(value)
            except ValueError:
                pass
    return found


class Sampler(threading.Thread):
    def __init__(self, ask, path, log=None, every=EVERY_S):
        """'ask': gives the answer to a path, as StintLab.ask."""
        super().__init__(daemon=True)
        self.ask = ask
        self.path = path
        self.log = log
        self.every = every
        self.read = os.path.getsize(log) if log and os.path.exists(log) else 0
        self.ends = threading.Event()
        self.start()

    def run(self):
        while not self.ends.is_set():
            self.look()
            self.ends.wait(self.every)

    def look(self):
        sample = {}
        try:
            sample["findings"] = self.ask("/v1/doctor")["findings"]
            sample["metrics"] = read_metrics(self.ask("/metrics"))
        except (OSError, RuntimeError, ValueError) as why:
            sample = {"error": f"{type(why).__name__}: {why}"}
        sample["log"] = self.new_lines()
        sample["ms"] = time.time_ns() // 1000000
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(sample) + "\n")

    def new_lines(self):
        if not self.log or not os.path.exists(self.log):
            return []
        with open(self.log, "rb") as file:
            file.seek(self.read)
            text = file.read()
        whole = text[:text.rfind(b"\n") + 1]
        self.read += len(whole)
        return whole.decode(errors="replace").splitlines()

    def stop(self):
        self.ends.set()
        self.join(30)
