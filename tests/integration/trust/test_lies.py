#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_lies - the cloud's list is a lie: 'test_lies.py BUILD [full]', or 'test_lies.py BUILD ec2 VENV [full]'.

Jobs run on rented machines under a limit that leaves room for as many again. Then the list of the cloud is empty,
partial, stale, another account's or not a list at all, for a second and for several audits, and while it is, stintd is
killed and started again. Never may there be more machines than the limit, no job may be restarted, and what can be
noticed is told within a minute. With 'full' an audit comes every minute and a lie lasts five; without, every 3 s and 10 s.
"""
import sys
import time

sys.dont_write_bytecode = True

import trust_lab
from trust_lab import now_ms, until

import judge
import lab_tap
import lies
import load

LIMIT = 10
JOBS = 6
FOUND_S = 60
SLOW = ("silent", "pages", "hang")  # that nothing comes shows when nothing has come
TELLS = ("missing-machines", "vanished", "second-daemon", "link-down", "hung", "audit-late")


class World:
    """With the local cloud; the other one is of ec2_trust.py."""

    LIMIT = LIMIT
    KINDS = tuple(lies.KINDS)
    SILENT = ("stale",)  # it cannot be told from the truth as long as what it shows is there

    def __init__(self, build, folder, *words):
        self.audit, self.lasts = (60, 300) if "full" in words else (3, 10)
        self.lab = self.make_lab(folder, build, *words)
        self.work = []
        self.shown = []
        self.late_s = 0

    def make_lab(self, folder, build, *_):
        return trust_lab.TrustLab(folder, build, limits={"instances": LIMIT, "dollars_per_hour": 0},
                                  timing={"audit": f"{self.audit}s", "refused": "5s", "place_retry": "1s"})

    def start(self):
        self.lab.begin(spot=False)

    def submit(self, name):
        """Jobs that outlast the lie, each on a machine of its own, so that all of it is to lose."""
        lasts = 2 * self.lasts + 2 * self.audit + 12 + (FOUND_S if name in SLOW else 0)
        work = [load.Submission(0, "alice", ["--cpus-per-task=8", "--mem=2000", "-J", f"{name}{i}"], lasts)
                for i in range(JOBS)]
        for one in work:
            why = self.lab.submit(one)
            assert why is None, why
        until(lambda: len(self.lab.running()) >= JOBS, 60, "the jobs to run")
        self.work += work
        return work

    def lie(self, which):
        """A second of it, then several audits, then across a restart."""
        work = self.submit(which)
        self.lab.lie(which)
        time.sleep(1)
        self.lab.lie(None)
        time.sleep(self.audit)
        began = now_ms()
        self.lab.lie(which)
        self.hold(self.lasts)
        told = now_ms()  # by now; a finding that was there before may be of the first second
        self.lab.restart_stintd()
        self.hold(self.lasts)
        end = time.monotonic() + FOUND_S
        while which in SLOW and not self.told(told) and time.monotonic() < end:
            self.hold(1)
        told_at = self.lab.lie(None) or began
        self.late_s += 2 * self.lasts + self.audit
        if which not in self.SILENT:
            self.check_told(which, min(told, told_at) if which in SLOW else told_at)
        most = self.lab.most_machines()
        assert most <= LIMIT, f"{most} machines under a limit of {LIMIT}"
        until(lambda: not self.lab.missing(work), 120 + 2 * self.lasts, "the jobs")
        assert not self.lab.restarted(work), self.lab.restarted(work)

    def hold(self, seconds):
        """Whatever ends by itself is started again, and counts."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.lab.supervise()
            time.sleep(0.2)

    def check_told(self, which, told_at):
        seen = self.told(told_at)
        print(f"# {which}: told as {seen}", flush=True)
        assert seen and min(seen.values()) <= FOUND_S, (seen, self.lab.watch.kinds_since(told_at))

    def told(self, since):
        return {kind: round(after, 1) for kind, after in self.lab.watch.kinds_since(since).items() if kind in TELLS}

    def check_alive(self):
        assert not self.lab.ended, f"stintd ended by itself: {self.lab.ended}"

    def check_oracle(self):
        wrong, notes = judge.judge(self.lab, self.work, late_s=self.late_s, skip={
            7: "machines are kept for jobs that sleep", 8: "judged after each lie"})
        print("".join(f"# {note}\n" for note in notes), end="", flush=True)
        assert not wrong, "\n# ".join(wrong)


def points(world):
    def of(which):
        def point(self):
            self.lie(which)
        return f"a list that is {which}: within the limit, no job restarted" + \
            ("" if which in world.SILENT else ", and told"), point

    return (("a cluster stands", world.start), *map(of, world.KINDS),
            ("stintd has not ended by itself", world.check_alive),
            ("the oracle agrees", world.check_oracle))


if __name__ == "__main__":
    if sys.argv[2:3] == ["ec2"]:
        import ec2_trust
        sys.exit(ec2_trust.main(points, World))
    sys.exit(lab_tap.main(points(World), World))
