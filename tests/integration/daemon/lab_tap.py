# SPDX-License-Identifier: GPL-2.0-or-later
"""lab_tap - run the points of a test of the daemon in order, in the namespaces of its own lab.

A world is made from (build folder, scratch folder, further arguments) and has a 'lab'. A point that
fails is told with the end of the logs, and those behind it are tried all the same; the first one that
cannot begin ends the test.
"""
import os
import sys
import time

import stint_lab  # noqa: F401 (it finds slurm_lab)
import slurm_lab


def one_point(world, number, name, function):
    began = time.monotonic()
    try:
        function(world)
        print(f"ok {number} - {name}")
        good = True
    except Exception as fault:  # whatever it is, the next point still tells something
        print(f"not ok {number} - {name}\n# {type(fault).__name__}: {fault}")
        good = False
    print(f"# {time.monotonic() - began:.1f} s", flush=True)
    return good


def keep(folder):
    """Where the logs of a failed test are kept, if somebody wants them; with STINT_KEEP_ALL, of any."""
    target = os.environ.get("STINT_KEEP_LOGS")
    if target:
        os.system(f"mkdir -p {target} && cp -r {folder} {target}/ 2>/dev/null")


def main(points, make_world):
    if slurm_lab.INSIDE not in os.environ:
        reason = slurm_lab.why_not()
        if sys.argv[1:] == ["--why-not"]:
            print(reason or "")
            return 0 if reason else 1
        if reason:
            print(f"1..0 # SKIP {reason}")
            return 0
    if sys.argv[1:] == ["--other"]:
        sys.argv[1:] = [os.environ.get("STINT_OTHER_BUILD", ""), "unmeasured"]
        if not sys.argv[1]:
            print("1..0 # SKIP STINT_OTHER_BUILD names no build folder")
            return 0
    sys.argv[1] = os.path.abspath(sys.argv[1])
    folder = slurm_lab.enclose()
    world = make_world(sys.argv[1], folder, *sys.argv[2:])
    print(f"1..{len(points)}", flush=True)
    failed = 0
    try:
        for number, (name, function) in enumerate(points, 1):
            if not one_point(world, number, name, function):
                failed += 1
                if function.__name__.startswith(("start", "run")):
                    for rest in range(number + 1, len(points) + 1):
                        print(f"not ok {rest} - {points[rest - 1][0]}\n# could not be tried")
                    break
        if failed:
            print("".join(f"# {line}\n" for line in world.lab.complaints()), end="")
        if failed or os.environ.get("STINT_KEEP_ALL"):
            keep(folder)
    finally:
        world.lab.stop()
    return 1 if failed else 0
