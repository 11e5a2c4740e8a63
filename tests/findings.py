#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""findings.py: every kind of finding of the doctor has an entry in docs/troubleshooting, and every entry has a kind (TAP).

The kinds are those of the table in src/control/ports/findings.c. A kind's entry is the heading "## KIND" of the page that
the table names, and `stint doctor` prints its address. All findings go through that table.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/control/ports/findings.c"
HEADER = ROOT / "src/control/ports/findings.h"
PAGES = ROOT / "docs/troubleshooting"
WORDS = range(40, 91)


def kinds():
    """(id, name, page) of each row of the table."""
    text = TABLE.read_text()
    pages = dict(re.findall(r'#define (\w+) +"([\w-]+)"', text))
    rows = re.findall(r"^    \[FINDING_(\w+)\] = \{(.*?)^    \}", text, re.S | re.M)
    for name, body in rows:
        yield name, re.search(r'\.name = "([\w-]+)"', body).group(1), pages[re.search(r"\.page = (\w+)", body).group(1)]


def entries():
    """{(page, kind): text} of the headings of all pages of findings."""
    found = {}
    for path in sorted(PAGES.glob("findings*.md")):
        for kind, text in re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", path.read_text(), re.S | re.M):
            found[path.stem, kind] = text
    return found


def sources():
    return [path for path in sorted((ROOT / "src").rglob("*.c")) if "test" not in path.parts]


def main():
    rows = list(kinds())
    there = entries()
    code = {path: path.read_text() for path in sources()}
    used = set(re.findall(r"\bFINDING_(\w+)\b", "".join(text for path, text in code.items() if path != TABLE)))
    ids = set(re.findall(r"^    FINDING_(\w+),", HEADER.read_text(), re.M)) - {"KINDS"}
    points = [
        ("every kind has an entry in its page", [f"{page}.md lacks '## {name}'" for _, name, page in rows if (page, name) not in there]),
        ("every entry is a kind", [f"{page}.md: no finding is called '{kind}'" for page, kind in there
                                   if (page, kind) not in {(page, name) for _, name, page in rows}]),
        ("the table has every id once", sorted(ids ^ {row[0] for row in rows}) + ["a name twice"] *
         (len({row[1] for row in rows}) != len(rows))),
        ("every kind is used", sorted(ids - used)),
        ("findings are made from the table alone", [str(path.relative_to(ROOT)) for path, text in code.items()
                                                    if path != TABLE and re.search(r'\.severity = "|\(struct finding\)\{ "', text)
                                                    and "finding_case" not in text]),
        (f"an entry has {WORDS.start} to {WORDS.stop - 1} words", [f"{kind}: {len(text.split())}" for (_, kind), text in there.items()
                                                                   if len(text.split()) not in WORDS]),
    ]
    for number, (name, faults) in enumerate(points, 1):
        print(f"{'not ' * bool(faults)}ok {number} - {name}")
        for fault in faults:
            print(f"# {fault}")
    print(f"1..{len(points)}")
    return 1 if any(faults for _, faults in points) else 0


if __name__ == "__main__":
    sys.exit(main())
