#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quality - the decisions are good, not only allowed: 'quality.py STINT [SCENARIO...]', in TAP.

Each scenario of tests/quality/ states in comments what must come out, a line each:

    # must: stint cost_usd <= 3.60                     a row of 'stint sim -o json' by its label, and a field of it
    # must: stint cost_usd <= 1.02 * stint no clear    against another row, times a factor

A bound is what a reader of the scenario would expect, with a little room, never what happened to come out.
"""
import glob
import json
import os
import re
import subprocess
import sys

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "quality")
MUST = re.compile(r"^# must: (?P<label>.+?) (?P<field>\w+) (?P<sign><=|>=|==) (?P<number>[\d.]+)(?: \* (?P<other>.+))?$")


def rows_of(stint, scenario):
    answer = subprocess.run([stint, "sim", scenario, "--check", "-o", "json"], capture_output=True, text=True,
                            timeout=300, check=False)
    if answer.returncode != 0:
        raise ValueError(answer.stderr.strip())
    return {row["policy"]: row for row in json.loads(answer.stdout)["rows"]}


def holds(rule, rows):
    """Whether it does, and what was found."""
    found, wanted = rows[rule["label"]][rule["field"]], float(rule["number"])
    if rule["other"]:
        wanted *= rows[rule["other"]][rule["field"]]
    good = {"<=": found <= wanted, ">=": found >= wanted, "==": found == wanted}[rule["sign"]]
    return good, f"{found:g}, and {rule['sign']} {wanted:g} was wanted"


def main():
    stint = os.path.abspath(sys.argv[1])
    scenarios = sys.argv[2:] or sorted(one for one in glob.glob(f"{HERE}/*.yaml") if not one.endswith("-machines.yaml"))
    number, good = 0, True
    for scenario in scenarios:
        name = os.path.basename(scenario)[:-len(".yaml")]
        with open(scenario, encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file if line.startswith("# must")]
        try:
            rows = rows_of(stint, scenario)
            rules = [MUST.match(line) or line for line in lines] or [f"{name} states nothing"]
        except (ValueError, subprocess.TimeoutExpired) as error:
            rows, rules = {}, [str(error).replace("\n", " ")]
        for rule in rules:
            number += 1
            try:
                passed, words = (False, f"cannot be read: {rule}") if isinstance(rule, str) else holds(rule, rows)
            except (KeyError, TypeError) as error:
                passed, words = False, f"no such row or field: {error}"
            good = good and passed
            print(f"{'ok' if passed else 'not ok'} {number} - {name}: "
                  f"{rule if isinstance(rule, str) else rule[0][len('# must: '):]}\n# {words}", flush=True)
    print(f"1..{number}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
