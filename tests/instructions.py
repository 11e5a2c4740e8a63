#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""instructions.py - hold a program to the instructions that it may take.

    tests/instructions.py MILLIONS PROGRAM [ARGUMENT...]

Counted by valgrind, so that the answer does not depend on what else the machine does. Prints what
the program printed, and the count. Exit status 77, "skipped", if there is no valgrind.
"""
import re
import shutil
import subprocess
import sys

SKIPPED = 77


def main():
    if len(sys.argv) < 3:
        print("usage: instructions.py MILLIONS PROGRAM [ARGUMENT...]", file=sys.stderr)
        return 2
    if shutil.which("valgrind") is None:
        print("there is no valgrind: nothing to say")
        return SKIPPED
    most = int(sys.argv[1])
    run = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *sys.argv[2:]],
        capture_output=True, text=True, check=False,
    )
    print(run.stdout, end="")
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode != 0 or found is None:
        print(run.stderr, file=sys.stderr)
        return 1
    millions = int(found[1]) // 1000000
    print(f"{millions} million instructions, at most {most}")
    return 0 if millions <= most else 1


if __name__ == "__main__":
    sys.exit(main())
