#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""alert_rules.py - the alerts for Prometheus, tried with promtool and held against the doctor; in TAP.

Where there is no promtool, only the second half is done.
"""
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
RULES = f"{ROOT}/share/prometheus/stint.rules.yml"
TESTS = f"{ROOT}/share/prometheus/stint.rules.test.yml"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def promtool(*words):
    done = subprocess.run(["promtool", *words], capture_output=True, text=True, check=False,
                          cwd=os.path.dirname(RULES))
    return None if done.returncode == 0 else (done.stdout + done.stderr).replace("\n", "\n# ")


def doctor_kinds():
    """The names in the table of findings."""
    return set(re.findall(r'\.name = "([a-z-]+)"', read(f"{ROOT}/src/control/ports/findings.c")))


def unknown_kinds():
    """Kinds that an alert names and no finding has: it would never fire."""
    named = set()
    for words in re.findall(r'kind!?[=~]+"([a-z|-]+)"', read(RULES)):
        named.update(words.split("|"))
    return sorted(named - doctor_kinds())


def untried_alerts():
    """Alerts that no test of promtool expects to fire."""
    text = read(TESTS)
    fired = set(re.findall(r"alertname: (\w+)\n +exp_alerts:", text))
    return sorted(set(re.findall(r"- alert: (\w+)", read(RULES))) - fired)


def is_caught():
    """An error of a kind that no alert names fires StintError, which leaves out exactly those that are named."""
    rules = read(RULES)
    own = set(re.findall(r'stint_finding\{kind="([a-z-]+)"\}', rules))
    left_out = set(re.search(r'severity="error",\s*kind!~"([a-z|-]+)"', rules)[1].split("|"))
    return sorted(left_out - own)


def main():
    points = []
    if shutil.which("promtool"):
        points += [("promtool takes the rules", promtool("check", "rules", RULES)),
                   ("each alert fires when it should, and no other", promtool("test", "rules", TESTS))]
    points += [("each kind that an alert names is one of the doctor's", unknown_kinds()),
               ("each alert is tried", untried_alerts()),
               ("an error without an alert of its own is caught by the last one", is_caught())]
    print(f"1..{len(points)}")
    for number, (name, fault) in enumerate(points, 1):
        print(f"not ok {number} - {name}\n# {fault}" if fault else f"ok {number} - {name}")
    return any(fault for _, fault in points)


if __name__ == "__main__":
    sys.exit(main())
