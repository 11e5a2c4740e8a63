#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""quality - the decisions are good, not only allowed: 'quality.py STINT [SCENARIO...]', in TAP.

Each scenario of tests/quality/ states in comments what must come out, a line each:

    # must: stint cost_usd <= 3.60                     a row of 'stint sim -o json' by its label, and a field of it
    # must: stint cost_usd <= 1.02 * stint no clear    against another row, times a factor
    # must: stint job_32 <= 3                          hours from the arrival of job 32 to its end
    # must: * instances <= 40 but task-per-instance    all rows but these

A bound is what a reader of the scenario would expect, with a little room, never what happened to come out.
"""
import csv
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "quality")
MUST = re.compile(r"^# must: (?P<label>.+?) (?P<field>\w+) (?P<sign><=|>=|==) (?P<number>[\d.]+)"
                  r"(?: \* (?P<other>.+?))?(?: but (?P<but>.+))?$")


def rows_of(stint, scenario):
    with tempfile.NamedTemporaryFile("r", suffix=".csv", encoding="utf-8") as jobs:
        answer = subprocess.run([stint, "sim", scenario, "--check", "-o", "json", "--jobs", jobs.name],
                                capture_output=True, text=True, timeout=300, check=False)
        if answer.returncode != 0:
            raise ValueError(answer.stderr.strip())
        rows = {row["policy"]: row for row in json.loads(answer.stdout)["rows"]}
        for job in csv.DictReader(jobs):
            rows[job["policy"]][f"job_{job['job']}"] = float(job["hours"])
    return rows


def holds(rule, label, rows):
    """Whether it does, and what was found."""
    found, wanted = rows[label][rule["field"]], float(rule["number"])
    if rule["other"]:
        wanted *= rows[rule["other"]][rule["field"]]
    good = {"<=": found <= wanted, ">=": found >= wanted, "==": found == wanted}[rule["sign"]]
    return good, f"{label}: {found:g}, and {rule['sign']} {wanted:g} was wanted"


def judge(rule, rows):
    if isinstance(rule, str):
        return False, [f"cannot be read: {rule}"]
    labels = [rule["label"]] if rule["label"] != "*" else \
        [label for label in rows if label not in (rule["but"] or "").split(", ")]
    try:
        answers = [holds(rule, label, rows) for label in labels]
    except (KeyError, TypeError) as error:
        return False, [f"no such row or field: {error}"]
    return bool(answers) and all(good for good, _ in answers), [words for _, words in answers]


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
            passed, words = judge(rule, rows)
            good = good and passed
            said = rule if isinstance(rule, str) else rule[0][len("# must: "):]
            print(f"{'ok' if passed else 'not ok'} {number} - {name}: {said.replace('#', '')}", flush=True)
            print("".join(f"# {line}\n" for line in words), end="", flush=True)
    print(f"1..{number}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
