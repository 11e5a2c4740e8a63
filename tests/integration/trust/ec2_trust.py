# SPDX-License-Identifier: GPL-2.0-or-later
"""ec2_trust - the lab of trust_lab with the stand-in of EC2 in the place of the local cloud.

Lies are those of ../ec2/ec2_lies.py. For the oracle the record of the stand-in is written down as a log of the local cloud would be.
"""
import csv
import os
import sys

import trust_lab

sys.path.insert(0, os.path.join(trust_lab.HERE, "..", "ec2"))

import ec2_cluster  # noqa: E402
import ec2_identity  # noqa: E402
import ec2_types  # noqa: E402
import lab_tap  # noqa: E402
from trust_lab import now_ms  # noqa: E402

COLUMNS = ("ms", "event", "id", "name", "offer", "price_microdollars_per_hour", "billed_from", "billed_to", "why", "machine")
OTHER = "AKIAOTHERACCOUNT00000"
KEYS = {ec2_cluster.ACCESS: {"secret": ec2_cluster.SECRET, "session_token": ec2_cluster.SESSION}}
WHY = {"client": "returned", "spot": "revoked", "console": "died", "itself": "died"}


class Ec2Lab(ec2_cluster.Ec2Cluster):
    """What tests of trust need of TrustLab, at EC2."""

    def __init__(self, folder, build, venv, **settings):
        super().__init__(folder, build, venv)
        self.settings = trust_lab.merged(trust_lab.merged(trust_lab.SHIPPED, {
            "state": f"{folder}/var/stint.db", "catalogue": f"{folder}/catalogue.yaml",
            "engine": {"program": self.program("stint-slurm")},
            "http": {"socket": f"{folder}/stintd.sock", "listen": "127.0.0.1:9178"}}), settings)
        for name in ("relay", "second", "watch", "preload"):
            setattr(self, name, None)
        self.wanted, self.may_refuse, self.was_refusable, self.ended = True, False, False, []
        self.crashes, self.losses, self.requeues, self.limits_told = [], [], [], []
        self.keys = {"AWS_ACCESS_KEY_ID": ec2_cluster.ACCESS, "AWS_SECRET_ACCESS_KEY": ec2_cluster.SECRET,
                     "AWS_SESSION_TOKEN": ec2_cluster.SESSION, "HOME": "/nonexistent"}
        self.told_at = None

    def start(self):
        os.makedirs(f"{self.folder}/var")
        super().start()
        self.add_ignored_user()

    def environment(self):
        return self.keys

    def start_stintd(self, **changes):
        self.configure(**changes)
        self.wanted, self.was_refusable = True, self.may_refuse
        self.stintd = self.spawn(self.program("stintd"), "-c", f"{self.folder}/stint.conf", env=self.environment())

    def begin(self, spot=False, **changes):
        self.start()
        self.start_cloud(spot=("c5",) if spot else ("none",))
        self.settings["cloud"] = {
            "kind": "aws", "region": "us-east-1", "endpoint": self.ec2.url, "image": "ami-12c6146b", "queue": self.queue,
            "timing": {"look": "300ms", "look_idle": "2s", "retry": "100ms", "retry_most": "2s", "refused": "4s",
                       "refused_most": "16s", "settle": "10s", "launch_burst": 40, "launch_every": "25ms"}}
        self.start_stintd(**changes)
        trust_lab.until(self.healthy, 60, "stintd")
        self.watch = trust_lab.Watch(self)

    def lie(self, which):
        self.note(f"lie {which}")
        last, self.told_at = self.told_at, now_ms()
        self.ec2.lie(which or "none")
        return last

    def stop_stintd(self, sig=trust_lab.signal.SIGTERM):
        return self.kill_stintd(sig)

    def write_log(self):
        """The record of the stand-in in the form of cloud.csv."""
        machines = {}
        with open(self.log, "w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, COLUMNS, restval="")
            out.writeheader()
            for line in self.record():
                if line["event"] == "launch":
                    one = machines[line["id"]] = ec2_types.Machine(line)
                    common = {"id": one.key, "name": one.name, "offer": f"{one.type}/{line['zone']}/{one.market}",
                              "price_microdollars_per_hour": ec2_types.price(one.type, one.market), "machine": one.id}
                    line_of = {"ms": line["at"], "billed_from": one.began, **common}
                    out.writerow({**line_of, "event": "rented"})
                    out.writerow({**line_of, "event": "running"})
                    machines[line["id"]] = (one, common)
                elif line["event"] in ("terminate", "notice") and line["id"] in machines:
                    one, common = machines[line["id"]]
                    row = {"ms": line["at"], "billed_from": one.began, **common}
                    if line["event"] == "notice":
                        out.writerow({**row, "event": "notice"})
                        continue
                    if line["by"] == "client":
                        out.writerow({**row, "event": "returned"})
                    ended = max(one.began, line["at"] // 1000 * 1000)
                    out.writerow({**row, "event": "gone", "billed_to": ended, "why": WHY.get(line["by"], "died")})

    def machines(self):
        """As the local cloud's log has them, so that all that reads it works on."""
        self.write_log()
        return trust_lab.books.read_log(self.log)

    def living(self):
        return [one for one in self.machines().values() if not one["billed_to"]]


for name in ("add_ignored_user", "configure", "tell_limits", "kill_stintd", "restart_stintd", "reload", "stint", "supervise", "start_second",
             "stop_second", "bridge_pids", "findings", "wait_finding", "slurm_nodes", "running", "began", "restarted",
             "most_machines", "note", "consult", "submit_foreign", "broken_foreign"):
    setattr(Ec2Lab, name, trust_lab.TrustLab.__dict__[name])


def main(points, base):
    """test_lies.py BUILD ec2 VENV [full]"""
    venv = os.path.abspath(sys.argv[3])
    if sys.prefix != venv:
        os.execv(f"{venv}/bin/python", [f"{venv}/bin/python", *sys.argv])

    class World(base):
        KINDS = ("empty", "partial", "stale", "foreign", "html", "truncated", "short", "root", "token", "pages", "hang")

        def make_lab(self, folder, build, _, venv, *words):
            return Ec2Lab(folder, build, os.path.abspath(venv), limits={"instances": base.LIMIT, "dollars_per_hour": 0},
                          timing={"audit": f"{self.audit}s", "refused": "5s", "place_retry": "1s"})

        def other_account(self):
            """With the keys of another account, in which there are no machines: refused, or told and survived."""
            work = self.submit("account")
            launched = len(self.lab.record("launch"))
            self.lab.ec2.control("/keys", {**KEYS, OTHER: {"secret": ec2_cluster.SECRET, "account": "210987654321"}})
            ours, self.lab.keys = self.lab.keys, {"AWS_ACCESS_KEY_ID": OTHER, "AWS_SECRET_ACCESS_KEY": ec2_cluster.SECRET,
                                                  "HOME": "/nonexistent"}
            self.lab.may_refuse = True
            since = now_ms()
            self.lab.restart_stintd()
            self.hold(self.lasts)
            refused = [status for _, status, _ in self.lab.ended]
            told = self.lab.watch.kinds_since(since)
            self.lab.keys = ours
            self.lab.restart_stintd()
            trust_lab.until(self.lab.healthy, 60, "stintd with its own keys")
            self.lab.may_refuse, self.lab.ended = False, [one for one in self.lab.ended if not one[2]]
            print(f"# ended with {refused}, told {told}", flush=True)
            assert refused or told, "not a word"
            assert len(self.lab.record("launch")) == launched, "machines were rented in another account"
            self.late_s += 2 * self.lasts
            trust_lab.until(lambda: not self.lab.missing(work), 120 + 2 * self.lasts, "the jobs")
            assert not self.lab.restarted(work), self.lab.restarted(work)

    sys.argv[3] = venv
    found = points(World)
    return lab_tap.main((*found[:-2], ("the keys of another account", World.other_account), *found[-2:]), World)
