#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""version.py - every file that names the version of Stint names the one of meson.build (TAP).

'version.py --self-test' changes the version in a copy of each file, and looks that the check sees it.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = r"(\d+\.\d+\.\d+)"
# File, and where its version stands. The first match counts.
PLACES = (
    ("include/stint/common.h", rf'#define STINT_VERSION "{VERSION}"'),
    ("CHANGELOG.md", rf"^## \[?{VERSION}\]?"),
    ("debian/changelog", rf"^stint \({VERSION}\)"),
    ("share/rpm/stint.spec", rf"^Version: +{VERSION}"),
    ("share/helm/stint/Chart.yaml", rf"^version: {VERSION}"),
    ("share/helm/stint/Chart.yaml", rf"^appVersion: {VERSION}"),
    ("README.md", rf"Status: {VERSION}"),
)


def of_meson():
    return re.search(rf"^  version: '{VERSION}'", (ROOT / "meson.build").read_text(), re.M).group(1)


def problem(text, pattern, wanted):
    found = re.search(pattern, text, re.M)
    if found is None:
        return f"no version like {pattern}"
    return None if found.group(1) == wanted else f"says {found.group(1)}, meson.build says {wanted}"


def main():
    wanted = of_meson()
    if sys.argv[1:] == ["--print"]:
        print(wanted)
        return 0
    is_self_test = sys.argv[1:] == ["--self-test"]
    failed = 0
    print(f"1..{len(PLACES)}")
    for number, (name, pattern) in enumerate(PLACES, 1):
        text = (ROOT / name).read_text()
        said = problem(text.replace(wanted, "0.0.9") if is_self_test else text, pattern, wanted)
        is_good = (said is not None) == is_self_test
        failed += not is_good
        print(f"{'ok' if is_good else 'not ok'} {number} - {name}: {pattern}" + (f"\n# {said}" if not is_good else ""))
    return 1 if failed else 0


sys.exit(main())
