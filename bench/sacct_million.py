#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write accounting records as `sacct --parsable2` prints them, of jobs that never ran.

    bench/sacct_million.py [JOBS] [SEED] > million.txt      (default: 1000000 jobs)

What they look like follows what logs of the Parallel Workloads Archive have in common: users differ by
a power law in how much they submit, and submit the same program with the same request again and again,
by day more than by night and less at weekends; runtimes are log-normal, and time limits a few round values
above them; most jobs are small; some are cancelled, fail, or run on several nodes. A year holds a million jobs.
The same arguments give the same bytes.
"""

import random
import sys

YEAR = 365 * 86400
START = 1767225600  # 2026-01-01
LIMITS = (600, 1800, 3600, 7200, 14400, 28800, 43200, 86400, 172800)
HOURS = [3, 2, 2, 2, 2, 3, 4, 6, 9, 11, 12, 12, 11, 12, 13, 12, 11, 10, 8, 7, 6, 5, 5, 4]


def programs(rng, count):
    """What users run: user, name, CPUs, GiB, GPUs, nodes, the median of the runtime."""
    made = []
    for i in range(count):
        cpus = rng.choices((1, 2, 4, 8, 16, 32), (40, 15, 20, 15, 8, 2))[0]
        made.append((
            f"u{int(rng.paretovariate(1.1)) % 200}", f"program{i}", cpus,
            cpus * rng.choice((1, 2, 4)), rng.choices((0, 1), (97, 3))[0],
            rng.choices((1, 2, 4), (96, 3, 1))[0], rng.lognormvariate(6.5, 1.4)))
    return made


def arrivals(rng, count):
    """Times of submission within a year, in order."""
    days = [0.4 if (day + 3) % 7 >= 5 else 1.0 for day in range(365)]
    found = []
    for day in rng.choices(range(365), days, k=count):
        hour = rng.choices(range(24), HOURS)[0]
        found.append(START + day * 86400 + hour * 3600 + rng.randrange(3600))
    found.sort()
    return found


def clock(seconds):
    days, rest = divmod(seconds, 86400)
    text = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{text}" if days else text


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1000000
    rng = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 1)
    known = programs(rng, 2000)
    weights = [rng.paretovariate(1.0) for _ in known]
    chosen = rng.choices(known, weights, k=count)
    print("JobID|User|Account|Submit|Eligible|Start|End|ElapsedRaw|Timelimit|State|ReqTRES|AllocTRES|NNodes|JobName")
    for number, submit in enumerate(arrivals(rng, count), 1):
        user, name, cpus, gib, gpus, nodes, median = chosen[number - 1]
        elapsed = max(1, min(int(median * rng.lognormvariate(0, 0.5)), LIMITS[-1]))
        limit = next(one for one in LIMITS if one >= min(elapsed * rng.choice((1, 2, 4)), LIMITS[-1]))
        state = rng.choices(("COMPLETED", "FAILED", "CANCELLED by 1000", "TIMEOUT"), (90, 5, 4, 1))[0]
        start = submit + int(rng.expovariate(1 / 300))
        gres = f",gres/gpu={gpus * nodes}" if gpus else ""
        tres = f"billing={cpus * nodes},cpu={cpus * nodes}{gres},mem={gib * nodes}G,node={nodes}"
        print(number, user, "a" + user[1:2], submit, submit, start, start + elapsed, elapsed, clock(limit),
              state, tres, tres, nodes, name, sep="|")


if __name__ == "__main__":
    main()
