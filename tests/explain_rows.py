#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `stint sim --explain` names as an alternative is one, and every move of stint says what it saves.

    tests/explain_rows.py STINT
"""
import csv
import os
import subprocess
import sys
import tempfile

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")
RUNS = [("small.yaml", "stint"), ("small.yaml", "stratus"), ("small.yaml", "eva"), ("faults.yaml", "stint"),
        ("gangs.yaml", "stint")]


def explain(stint, scenario, policy):
    with tempfile.TemporaryDirectory() as room:
        path = os.path.join(room, "why.csv")
        subprocess.run([stint, "sim", os.path.join(EXAMPLES, scenario), "-p", policy, "--explain", path],
                       check=True, stdout=subprocess.DEVNULL)
        with open(path, newline="") as file:
            return list(csv.DictReader(file))


def where(row):
    return f"decision {row['decision']}: {row['what']} of job {row['job']}, {row['type']}"


def names_itself(row):
    return row["passed_over_type"] and (row["type"], row["market"]) == (
        row["passed_over_type"], row["passed_over_market"])


def is_half_an_alternative(row):
    return (row["passed_over_type"] == "") != (row["passed_over_price"] == "")


def lacks_saving(row):
    return row["what"] == "move" and (not row.get("saving") or not row.get("move_cost"))


def loses(row):
    return row["what"] == "move" and float(row.get("saving") or 0) < float(row.get("move_cost") or 0)


def saves_without_moving(row):
    return row["what"] not in ("move", "place") and row.get("saving")


number = 0
failed = False


def judge(name, rows, is_fault):
    global number, failed
    number += 1
    faults = [where(row) for row in rows if is_fault(row)]
    failed = failed or bool(faults)
    print("not ok" if faults else "ok", number, "-", name)
    for fault in faults[:5]:
        print("#", fault)


def main():
    for scenario, policy in RUNS:
        rows = explain(sys.argv[1], scenario, policy)
        name = f"{scenario}, {policy}: "
        placed = [row for row in rows if row["what"] in ("rent", "place", "move")]
        judge(name + "machines are rented and tasks placed", [{"decision": "", "what": "", "job": "", "type": ""}],
              lambda row: len(placed) < 50)
        judge(name + "nothing is its own alternative", placed, names_itself)
        judge(name + "an alternative has a type and a price", placed, is_half_an_alternative)
        judge(name + "only moves save", rows, saves_without_moving)
        if policy == "stint":
            judge(name + "each move says what it saves and costs", rows, lacks_saving)
            judge(name + "no move costs more than it saves", rows, loses)
    print(f"1..{number}")
    return 1 if failed else 0


sys.exit(main())
