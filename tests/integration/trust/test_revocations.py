#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_revocations - a market that takes machines away in waves: 'test_revocations.py BUILD [ec2 VENV] [full]'.

Time is compressed tenfold: notices of two minutes are 12 s here, those of 30 s are 3 s, and jobs of minutes run for 15 to
50 s, with limits of a minute, by which they are planned until their runtimes are known. What Slurm itself waits for is not compressed. Every WAVE_S seconds on average the market takes the share SHARE of the spot machines there are, with the one kind of notice or the other
or without a word, wave by wave; half of the jobs may be moved and save what they have done when they are told to stop. How often
machines are taken stintd knows from the start, as if it had learned it in an earlier life. Waves come until the last job has ended.

A risk per hour is that of a market without memory, so the times between waves are spread as such a market's are. Were they all the same, what restarts
after one wave would be of the same age at the next, always: 300 jobs would lose 3 to 10 % more than expected, the more the longer machines boot.

In full 300 jobs, and at least 100 machines are taken. All jobs complete, the oracle agrees, and in full the money that is lost with
the machines is within 15 % of what was expected of the same runs (stint_revocation_dollars_total).
"""
import math
import os
import random
import re
import signal
import sqlite3
import sys
import time

sys.dont_write_bytecode = True

import trust_lab
from patience import deadline
from trust_lab import until

import books
import judge
import lab_tap
import load
import oracle

NOTICES_MS = (12000, 3000, None)
WAVE_S = 8
SHARE = 0.2
LOSSES = 10 ** 6  # in the earlier life: so many that nothing new counts
LIMIT = 30
QUIET_MS = 16000  # MessageTimeout and 6 s: so long after its start a run that was lost may not start again (slurm_watch.h), nor is it compressed
CLOSE = 0.15
GAPS = 12  # times between waves are drawn from so many without putting back, so that they are WAVE_S on average over few waves too
SEED = 1
books.SPOT_PERCENT = 8  # of the price on demand: at so high a risk, less would not be worth it


class Job(load.Submission):
    """One that may be moved keeps what it has done when it is told to stop, and goes on from there."""

    def __init__(self, at, user, options, seconds, is_movable):
        super().__init__(at, user, options + (["--comment=stint:move"] if is_movable else []), seconds)
        self.is_movable = is_movable

    def script(self, folder):
        if not self.is_movable:
            return super().script(folder)
        return "#!/bin/bash\n" \
               f"D={folder}/out\n" \
               "J=${SLURM_JOB_ID}_\n" \
               "i=$(cat $D/saved.$J 2>/dev/null || echo 0)\n" \
               "trap 'echo $i >$D/saved.$J' USR1\n" \
               "echo \"$(date +%s%3N) $SLURM_JOB_ID $SLURM_JOB_NODELIST\" >>$D/began.$J\n" \
               f"while [ $i -lt {self.seconds} ]; do sleep 1; i=$((i + 1)); done\n" \
               "echo \"$(date +%s%3N)\" >>$D/done.$J\n"


def make_work(rng, count):
    """All within the first seconds, so that there are as many machines as may be nearly to the end."""
    found = []
    for number in range(count):
        seconds, cpus = rng.randint(15, 50), rng.choice((2, 2, 3, 4))
        found.append(Job(rng.uniform(0, count / 15), rng.choice(load.USERS),
                         [f"--cpus-per-task={cpus}", f"--mem={cpus * 500}", "--time=1", "-J", f"step{seconds // 10}"], seconds, number % 2 == 0))
    return sorted(found, key=lambda one: one.at)


def exponential(mean, count):
    """The middles of 'count' equal parts of the exponential distribution, with that mean."""
    parts = [-math.log(1 - (part + 0.5) / count) for part in range(count)]
    return [mean * count * part / sum(parts) for part in parts]


def metric(lab, name):
    return float(re.search(rf"^{re.escape(name)} (\S+)$", lab.ask("/metrics"), re.MULTILINE).group(1))


class World:
    bill_late_ms = 0

    def __init__(self, build, folder, *words):
        self.is_full = "full" in words
        self.count, self.least = (300, 100) if self.is_full else (40, 10)
        self.rng = random.Random(SEED)
        self.settings = {"limits": {"instances": LIMIT, "dollars_per_hour": 0},
                         "timing": {"audit": "10s", "refused": "5s", "place_retry": "1s"},
                         "engine": {"poll": "300ms", "stop": {"signal": "USR1", "grace": "2s"}}}
        self.lab = self.make_lab(folder, build, *words)
        self.work = make_work(self.rng, self.count)
        self.waves, self.told, self.next_wave, self.gaps = 0, [], None, []

    def make_lab(self, folder, build, *_):
        return trust_lab.TrustLab(folder, build, **self.settings)

    def catalogue(self):
        return f"{self.lab.folder}/offers.yaml"

    def revoke(self, one, notice_ms):
        words = "" if notice_ms is None else f" notice_ms={notice_ms}"
        return self.lab.tell_cloud(f"revoke key=1 id={one['id']}{words}").startswith("done")

    def begin(self):
        self.lab.begin(spot=True)

    def start(self):
        self.begin()
        self.lab.kill_stintd(signal.SIGTERM)
        self.teach()
        self.lab.start_stintd()
        until(self.lab.healthy, 40, "stintd")

    def teach(self):
        """What an earlier life has seen of each spot offer: LOSSES machines taken, after WAVE_S / SHARE each."""
        seen = []
        with open(self.catalogue(), encoding="utf-8") as file:
            for line in file:
                name = re.match(r" *- name: (\S+)", line)
                offer = re.search(r"zone: ([^,]+), market: spot", line)
                if name:
                    of_type = name.group(1)
                elif offer:
                    seen.append(f"{of_type} in {offer.group(1)}, spot")
        assert seen, "there is no spot offer"
        with sqlite3.connect(self.lab.settings["state"]) as store:
            store.executemany("INSERT OR REPLACE INTO interruption VALUES(?,?,?,?)", [
                (offer, LOSSES * 10 ** 6, round(LOSSES * 1000 * WAVE_S / SHARE), trust_lab.now_ms()) for offer in seen])

    def gap(self):
        if not self.gaps:
            self.gaps = exponential(WAVE_S, GAPS)
            self.rng.shuffle(self.gaps)
        return self.gaps.pop()

    def wave(self):
        """The next one, if it is time. A share of a machine is one with that chance."""
        if self.next_wave is None:
            self.next_wave = time.monotonic() + self.gap()
        if time.monotonic() < self.next_wave:
            return
        self.next_wave += self.gap()
        notice_ms = NOTICES_MS[self.waves % len(NOTICES_MS)]
        there = [one for one in self.lab.living() if "spot" in one["offer"] and one["id"] not in self.told]
        count = int(len(there) * SHARE + self.rng.random())
        self.waves += 1
        for one in self.rng.sample(there, count):
            if self.revoke(one, notice_ms):
                self.told.append(one["id"])

    def run(self):
        def meanwhile():
            self.lab.supervise()
            self.wave()
        self.lab.submit_all(self.work, meanwhile)
        end = deadline(900 if self.is_full else 300)
        while self.lab.missing(self.work):
            assert time.monotonic() < end, f"{len(self.lab.missing(self.work))} jobs are not done"
            meanwhile()
            time.sleep(0.1)
        restarts = sum(len(lines) - 1 for lines in self.lab.began().values())
        saved = sum(name.startswith("saved.") for name in os.listdir(self.lab.out))
        print(f"# {self.waves} waves took {len(self.told)} of {len(self.lab.machines())} machines; {restarts} restarts; "
              f"{saved} jobs were saved", flush=True)
        assert len(self.told) >= self.least, f"only {len(self.told)} machines were taken"

    def check_money(self):
        until(lambda: self.lab.instances() == 0, 150, "the last machines to go back")
        time.sleep(1)
        lost, expected = (metric(self.lab, f'stint_revocation_dollars_total{{kind="{kind}"}}') for kind in ("lost", "expected"))
        taken = metric(self.lab, "stint_revocations_total")
        print(f"# {taken:.0f} machines counted as taken; lost ${lost:.6f}, expected ${expected:.6f}: "
              f"{lost / expected - 1:+.1%}", flush=True)
        # One that was on its way back when its notice came is not lost to the market.
        assert 0.9 * len(self.told) <= taken <= len(self.told), f"{len(self.told)} were"
        if self.is_full:  # else there are too few
            assert abs(lost / expected - 1) <= CLOSE, "that is more than 15 %"

    def check_alive(self):
        assert not self.lab.ended, f"stintd ended by itself: {self.lab.ended}"

    def check_oracle(self):
        movable = [f"{one.id}_" for one in self.work if one.is_movable]
        wrong, notes = judge.judge(self.lab, self.work, bill_late_ms=self.bill_late_ms, movable=movable, idle_ms=oracle.IDLE_MS + QUIET_MS, skip={
            7: "what is lost is judged above", 8: "nothing goes wrong here that somebody should be told"})
        print("".join(f"# {note}\n" for note in notes), end="", flush=True)
        assert not wrong, "\n# ".join(wrong)


def points(world):
    return (("a cluster stands", world.start),
            ("the market takes machines in waves, and all jobs complete", world.run),
            ("what is lost with them is what was expected", world.check_money),
            ("stintd has not ended by itself", world.check_alive),
            ("the oracle agrees", world.check_oracle))


def at_ec2():
    import ec2_trust
    venv = os.path.abspath(sys.argv[3])
    if sys.prefix != venv:
        os.execv(f"{venv}/bin/python", [f"{venv}/bin/python", *sys.argv])

    class Ec2World(World):
        bill_late_ms = 12000  # EC2 gives no time for such an end: it is noticed with the next audit

        def make_lab(self, folder, build, _, venv, *words):
            return ec2_trust.Ec2Lab(folder, build, os.path.abspath(venv), **self.settings)

        def catalogue(self):
            return f"{self.lab.folder}/catalogue.yaml"

        def revoke(self, one, notice_ms):
            try:
                self.lab.ec2.control("/interrupt", {"instance": one["machine"], "notice": notice_ms is not None,
                                                    "notice_ms": notice_ms or 0})
            except RuntimeError as error:  # it was returned since it was listed
                if "no such instance lives" not in str(error):
                    raise
                return False
            return True

    return lab_tap.main(points(Ec2World), Ec2World)


if __name__ == "__main__":
    sys.exit(at_ec2() if sys.argv[2:3] == ["ec2"] else lab_tap.main(points(World), World))
