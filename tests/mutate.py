#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mutate.py: change the sources one small fault at a time, and see which test notices.

mutate.py --check                      each fault of tests/mutants.txt fits the sources (TAP, within a second)
mutate.py [--results FILE] [NAME...]   build each fault and run the tests until one fails; one line of JSON for each

A fault that no test notices is a survivor. The results accumulate: what FILE has for this commit is not run again, so a run that
was stopped goes on where it was. The sources are copied first, and nothing is changed here.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIST = ROOT / "tests/mutants.txt"
SEEDS = ("1", "277")
TIMEOUT_S = 900


def read_list(text):
    """[(name, path, old, new)]: a block is '= name', the path, lines of '-' and of '+'."""
    mutants = []
    for block in text.split("\n= ")[1:]:
        name, path, *lines = [line for line in block.split("\n") if line.strip()]
        old = "\n".join(line[1:] for line in lines if line[0] == "-")
        new = "\n".join(line[1:] for line in lines if line[0] == "+")
        assert old and old != new and all(line[0] in "-+" for line in lines), name
        mutants.append((name.strip(), path.strip(), old, new))
    names = [mutant[0] for mutant in mutants]
    assert len(set(names)) == len(names), "two mutants have one name"
    return mutants


def apply(root, path, old, new):
    """Change the file; None, or why not."""
    file = root / path
    text = file.read_text() if file.exists() else ""
    if text.count(old) != 1:
        return f"{path} has its text {text.count(old)} times"
    file.write_text(text.replace(old, new))
    return None


def check(mutants):
    bad = []
    for name, path, old, _ in mutants:
        file = ROOT / path
        count = file.read_text().count(old) if file.exists() else 0
        if count != 1:
            bad.append(f"# {name}: {path} has its text {count} times")
    print(f"{'not ok' if bad else 'ok'} 1 - {len(mutants)} faults fit the sources")
    for line in bad:
        print(line)
    print("1..1")
    return bool(bad)


def run(command, cwd):
    try:
        return subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
                              check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def judge(build):
    """Which test notices; None: none."""
    if not run(["ninja", "-C", build], build):
        return "compiler"
    if not run([build / "tests/prop/test_daemon_swarm", "--seeds", *SEEDS], build):
        return "swarm"
    if not run(["meson", "test", "-C", build, "--suite", "unit", "--maxfail", "1"], build):
        return "unit"
    return None


def copy(folder):
    source = folder / "src"
    source.mkdir()
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
    subprocess.run(["tar", "-x", "-C", source], input=archive.stdout, check=True)
    subprocess.run(["meson", "setup", folder / "build", source, "-Dslurm=enabled"], capture_output=True, check=True)
    return source, folder / "build"


def try_all(mutants, results, commit):
    done = set()
    if results.exists():
        done = {entry["name"] for entry in map(json.loads, results.read_text().splitlines()) if entry["commit"] == commit}
    left = [mutant for mutant in mutants if mutant[0] not in done]
    if not left:
        return
    with tempfile.TemporaryDirectory(prefix="stint-mutants-") as folder:
        source, build = copy(pathlib.Path(folder))
        unchanged = judge(build)
        if unchanged is not None:
            sys.exit(f"mutate.py: without a fault {unchanged} fails already, so nothing can be told")
        for name, path, old, new in left:
            before = (source / path).read_text()
            begin = time.monotonic()
            why = apply(source, path, old, new)
            entry = {"name": name, "commit": commit, "caught": why or judge(build)}
            entry["seconds"] = round(time.monotonic() - begin)
            (source / path).write_text(before)
            with results.open("a") as file:
                file.write(json.dumps(entry) + "\n")
            print(json.dumps(entry), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=pathlib.Path("mutants.jsonl"))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    mutants = read_list("\n" + LIST.read_text())
    if options.check:
        return check(mutants)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    wanted = [mutant for mutant in mutants if not options.names or mutant[0] in options.names]
    try_all(wanted, options.results, commit)
    entries = [entry for entry in map(json.loads, options.results.read_text().splitlines()) if entry["commit"] == commit]
    survivors = [entry["name"] for entry in entries if entry["caught"] is None]
    print(f"# {len(entries)} faults, {len(entries) - len(survivors)} noticed; not noticed: {', '.join(survivors) or 'none'}")
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
