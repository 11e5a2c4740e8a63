#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""yardstick.py STINT [FILE.json...]   measure every policy on every workload, and write the tables of docs/yardstick.md and
                                    README.md anew; takes minutes. With files: from 'stint repro all -o json' of before.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN = "<!-- begin: tests/yardstick.py writes this -->\n"
END = "<!-- end -->\n"
ORDER = ["eva", "interference", "kth", "sdsc-ds", "alibaba-batch", "alibaba-spot", "short", "small", "gangs", "faults"]
PUBLISHED = ["stratus", "synergy", "owl", "eva", "semi-elastic", "hotspot", "fleet", "supercloud"]


def money(amount):
    return f"${amount:,.0f}" if amount >= 1000 else f"${amount:,.2f}"


def span(seconds):
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def ratio(row):
    return f"{row['norm_cost']:.3f}"


def workloads(answer):
    """By name, in order: the rows that have figures, by policy."""
    by_name = {}
    for row in answer["rows"]:
        by_name.setdefault(row["workload"], {})[row["policy"]] = row
    return {name: by_name[name] for name in ORDER if name in by_name}


def whole_table(answer):
    lines = []
    for name, rows in workloads(answer).items():
        bound = next(row["bound_usd"] for row in rows.values() if row["bound_usd"] is not None)
        base = rows["task-per-instance"]
        lines += [f"### `{name}`: {answer[name]}", ""]
        if base["cost_usd"] is not None:
            lines += [f"A machine for every task costs {money(base['cost_usd'])}; no policy can pay less than "
                      f"{money(bound)}, {bound / base['cost_usd']:.3f} of that.", ""]
        lines += ["| policy | cost | norm. | above the bound | mean delay | p99 | moves a task |",
                  "|---|--:|--:|--:|--:|--:|--:|"]
        for policy, row in sorted(rows.items(), key=lambda item: item[1]["cost_usd"] or float("inf")):
            mark = "**" if policy == "stint" else ""
            if row["cost_usd"] is None:
                lines.append(f"| {policy} | {row['note']} | | | | | |")
                continue
            lines.append(f"| {mark}{policy}{mark} | {money(row['cost_usd'])} | {ratio(row)} | {100 * row['gap']:.0f} % | "
                         f"{span(row['delay_mean_s'])} | {span(row['delay_p99_s'])} | {row['moves_per_task']:.2f} |")
        lines.append("")
    return "\n".join(lines) + "\n"


def cell(row):
    if row is None or row["cost_usd"] is None:
        return "-"
    return f"{ratio(row)}, {span(row['delay_mean_s'])}"


def short_table(answer):
    lines = ["| a cluster like yours | first-fit decreasing (Karpenter's provisioning) | cheapest published policy | **stint** | no policy below |",
             "|---|--:|--:|--:|--:|"]
    for name, rows in workloads(answer).items():
        published = [rows[policy] for policy in PUBLISHED if policy in rows and rows[policy]["cost_usd"] is not None]
        best = min(published, key=lambda row: row["cost_usd"])
        base = rows["task-per-instance"]["cost_usd"]
        bound = f"{best['bound_usd'] / base:.3f}"
        lines.append(f"| {answer[name]} | {cell(rows.get('first-fit-decreasing'))} | {cell(best)} ({best['policy']}) | "
                     f"**{cell(rows['stint'])}** | {bound} |")
    return "\n".join(lines) + "\n"


def replace(path, text):
    with open(path, encoding="utf-8") as file:
        old = file.read()
    new, count = re.subn(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + text + END, old, flags=re.S)
    assert count == 1, f"{path}: {BEGIN.strip()} ... {END.strip()} is there {count} times"
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    answer = {"rows": []}
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as file:
            part = json.load(file)
        answer = {**answer, **part, "rows": answer["rows"] + part["rows"]}
    if len(sys.argv) == 2:
        answer = json.loads(subprocess.run([os.path.abspath(sys.argv[1]), "repro", "all", "-o", "json"], cwd=HERE,
                                           check=True, stdout=subprocess.PIPE).stdout)
    replace(os.path.join(HERE, "docs", "yardstick.md"), whole_table(answer))
    replace(os.path.join(HERE, "README.md"), short_table(answer))


if __name__ == "__main__":
    main()
