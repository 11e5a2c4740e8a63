#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""yardstick.py STINT [MOVABLE.json FIXED.json]

Measure every policy on every workload, with work that may move and with work that may not, and write the tables of
README.md and docs/research anew; takes half an hour. With files: from 'stint repro all -o json' and 'stint repro all
--fixed -o json' of before.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BEGIN = "<!-- begin{}: tests/yardstick.py writes this -->\n"
END = "<!-- end -->\n"
TRACES = ["eva", "kth", "sdsc-ds", "alibaba-batch", "alibaba-spot"]
EXAMPLES = ["small", "interference", "gangs", "faults", "short"]
ORDER = ["eva", "interference", "kth", "sdsc-ds", "alibaba-batch", "alibaba-spot", "short", "small", "gangs", "faults"]
README_ROWS = {"small": "Small team, one day of 60 jobs", "kth": "HPC on whole nodes, 28,476 jobs",
               "alibaba-batch": "Short batch tasks, 5,000 jobs", "eva": "ML training, 6,274 GPU jobs"}
PUBLISHED = ["stratus", "synergy", "owl", "eva", "semi-elastic", "hotspot", "fleet", "supercloud"]


def money(amount):
    return f"${amount:,.0f}" if amount >= 1000 else f"${amount:,.2f}"


def span(seconds):
    if seconds is None:
        return "-"
    if seconds < 120:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def ratio(row):
    return f"{row['norm_cost']:.3f}"


def workloads(answer, order=ORDER):
    """By name, in order: the rows that have figures, by policy."""
    by_name = {}
    for row in answer["rows"]:
        by_name.setdefault(row["workload"], {})[row["policy"]] = row
    return {name: by_name[name] for name in order if name in by_name}


def whole_table(answer, order):
    lines = []
    for name, rows in workloads(answer, order).items():
        bound = next(row["bound_usd"] for row in rows.values() if row["bound_usd"] is not None)
        base = rows["task-per-instance"]
        lines += [f"## `{name}`: {answer[name]}", ""]
        if base["cost_usd"] is not None:
            lines += [f"A machine for every task costs {money(base['cost_usd'])}. The lower bound is {money(bound)}, "
                      f"{bound / base['cost_usd']:.3f} of that.", ""]
        lines += ["| policy | cost | norm. | above the bound | mean delay | p99 | moves a task |",
                  "|---|--:|--:|--:|--:|--:|--:|"]
        for policy, row in sorted(rows.items(), key=lambda item: item[1]["cost_usd"] or float("inf")):
            if policy == "power-saving":
                continue  # in the table of fixed work
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
    lines = ["| workload | first-fit decreasing | cheapest published policy | **stint** | lower bound |",
             "|---|--:|--:|--:|--:|"]
    for name, rows in workloads(answer).items():
        published = [rows[policy] for policy in PUBLISHED if policy in rows and rows[policy]["cost_usd"] is not None]
        best = min(published, key=lambda row: row["cost_usd"])
        base = rows["task-per-instance"]["cost_usd"]
        bound = f"{best['bound_usd'] / base:.3f}"
        lines.append(f"| {answer[name]} | {cell(rows.get('first-fit-decreasing'))} | {cell(best)} ({best['policy']}) | "
                     f"**{cell(rows['stint'])}** | {bound} |")
    return "\n".join(lines) + "\n"


def best_published(rows):
    found = [rows[policy] for policy in PUBLISHED if policy in rows and rows[policy]["cost_usd"] is not None]
    return min(found, key=lambda row: row["cost_usd"])


def fixed_table(movable, fixed):
    lines = ["| workload | Slurm power saving | cheapest published policy | **stint** | stint, if all may move |",
             "|---|--:|--:|--:|--:|"]
    for name, rows in workloads(fixed).items():
        best = best_published(rows)
        lines.append(f"| {movable[name]} | {cell(rows.get('power-saving'))} | {cell(best)} ({best['policy']}) | "
                     f"**{cell(rows['stint'])}** | {cell(workloads(movable)[name]['stint'])} |")
    return "\n".join(lines) + "\n"


def replayed(stint, *more):
    """The example of accounting: cost relative to one machine per task, by policy."""
    answer = subprocess.run([stint, "replay", "--sacct", "examples/sacct.txt", "-c", "share/catalogue/aws-us-east-1.yaml",
                             "-o", "json", *more], cwd=HERE, check=True, stdout=subprocess.PIPE).stdout
    cost = {row["policy"]: row["cost_usd"] for row in json.loads(answer)["policies"]["rows"] if row["cost_usd"] is not None}
    return {policy: one / cost["task-per-instance"] for policy, one in cost.items()}


def short(row):
    return "-" if row is None or row["cost_usd"] is None else f"{row['norm_cost']:.2f}"


def readme_table(stint, movable, fixed):
    """Costs only, and the column of work that may not move first: that is what most clusters have."""
    here, there = replayed(stint), replayed(stint, "--move", "1m")
    best = min((cost, policy) for policy, cost in here.items() if policy in PUBLISHED)
    lines = ["| Workload | Slurm power saving | Best published policy | **Stint**, nothing may move | **Stint**, all may move |",
             "|---|--:|--:|--:|--:|",
             f"| Slurm accounting of two days, 138 jobs | {here['power-saving']:.2f} | {best[0]:.2f} ({best[1]}) | "
             f"**{here['stint']:.2f}** | {there['stint']:.2f} |"]
    for name, label in README_ROWS.items():
        rows = workloads(fixed)[name]
        best = best_published(rows)
        lines.append(f"| {label} | {short(rows.get('power-saving'))} | {short(best)} ({best['policy']}) | "
                     f"**{short(rows['stint'])}** | {short(workloads(movable)[name]['stint'])} |")
    return "\n".join(lines) + "\n"


def replace(path, text, part=""):
    begin = BEGIN.format(part)
    with open(path, encoding="utf-8") as file:
        old = file.read()
    new, count = re.subn(re.escape(begin) + ".*?" + re.escape(END), lambda _: begin + text + END, old, flags=re.S)
    assert count == 1, f"{path}: {BEGIN.strip()} ... {END.strip()} is there {count} times"
    with open(path, "w", encoding="utf-8") as file:
        file.write(new)


def measure(stint, *more):
    return json.loads(subprocess.run([stint, "repro", "all", "-o", "json", *more], cwd=HERE, check=True,
                                     stdout=subprocess.PIPE).stdout)


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    if len(sys.argv) not in (2, 4):
        sys.exit(__doc__)
    stint = os.path.abspath(sys.argv[1])
    movable = read(sys.argv[2]) if len(sys.argv) == 4 else measure(stint)
    fixed = read(sys.argv[3]) if len(sys.argv) == 4 else measure(stint, "--fixed")
    research = os.path.join(HERE, "docs", "research")
    replace(os.path.join(HERE, "README.md"), readme_table(stint, movable, fixed))
    replace(os.path.join(research, "yardstick.md"), short_table(movable))
    replace(os.path.join(research, "yardstick.md"), fixed_table(movable, fixed), " fixed")
    replace(os.path.join(research, "yardstick-traces.md"), whole_table(movable, TRACES), " traces")
    replace(os.path.join(research, "yardstick-examples.md"), whole_table(movable, EXAMPLES), " examples")


if __name__ == "__main__":
    main()
