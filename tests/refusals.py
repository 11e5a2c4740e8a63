#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""refusals.py - what a user reads when Stint refuses or waits is explained in the documentation, and what the pages of
refusals explain is what the programs say (TAP).

A page of refusals has an entry "### TEXT" for a text. In it, a number, a time, a path or a word in capitals stands for
what the program fills in. The reasons of the two engines begin as REASON says. Each is in an entry, or in a table of
WITH_TABLES. 'refusals.py --self-test' looks that a text without an entry and an entry without a text are found.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGES = sorted((ROOT / "docs/troubleshooting").glob("refusals*.md"))
WITH_TABLES = [ROOT / "docs/reference" / name for name in ("k8s-pods.md", "wait-reasons.md", "slurm-options.md")]
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
FORMAT = re.compile(r"%[-+0-9.*]*(?:ll|z|l)?[a-z]")
FILLED = re.compile(r"\b[A-Z]\b|\bFILE\b|/run/\S+|\d[\d:]*")
REASON = re.compile(r"(it|its|too many|other pods|another pod's|a DaemonSet|there are too many|no machine of) ")
# slurmctld itself says these.
OF_SLURM = {"Invalid generic resource (gres) specification", "Invalid feature specification"}
# Texts of the engines that begin like a reason: of a parser, of an event, of the list of rules that Slurm itself has.
NO_REASONS = {
    "it is too long", "it is nested too deep", "it is no kubeconfig", "it has no current-context", "it is left to the scheduler",
    "it cannot be placed", "it is deleted", "its gang has all the pods that it needs", "it keeps away from other pods",
}


def literals(path):
    """The texts of a file. What follows another text directly, or a macro of <inttypes.h>, belongs to it."""
    text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.S)
    text = re.sub(r'"\s*PRI[a-zA-Z]?\d+\s*"', "llu", text)
    text = re.sub(r'"\s*"', "", text)
    return [found.replace('\\"', '"') for found in LITERAL.findall(text)]


def plain(text):
    return re.sub(r"\s+", " ", text.replace("`", ""))


def start(text):
    """A reason up to what is filled in, or to a remark."""
    return re.split(r"[;:,(%]", text)[0].strip()


def as_pattern(text, filled):
    return re.compile(".*".join(re.escape(part) for part in filled.split(text)))


def entries():
    return [(page.name, plain(title)) for page in PAGES for title in re.findall(r"^### (.*)$", page.read_text(), re.M)]


def is_said(title, texts, said):
    """Whether a text of a program has the title, or the title is a text with its formats filled in."""
    if title in OF_SLURM or as_pattern(title, FILLED).search(said):
        return True
    return any(as_pattern(text, FORMAT).fullmatch(title.split(": stint ")[0]) or as_pattern(text, FORMAT).match(title)
               for text in texts if len(FORMAT.sub("", text)) >= 10)


def unexplained(reasons, pages):
    return sorted({reason for reason in reasons if start(reason) not in NO_REASONS and start(reason) not in pages})


def main():
    sources = [path for path in sorted((ROOT / "src").rglob("*.[ch]")) if "test" not in path.parts]
    texts = [re.sub(r"^%\w+: ", "", text) for path in sources for text in literals(path)]
    said = "\n".join(texts) + plain((ROOT / "share/slurm/job_submit.lua").read_text())
    reasons = [text for path in sources if path.parent.name in ("slurm", "kubernetes") and path.suffix == ".c"
               for text in literals(path) if REASON.match(text)]
    pages = plain(" ".join(page.read_text() for page in [*PAGES, *WITH_TABLES]))
    titles = entries()
    if sys.argv[1:] == ["--self-test"]:
        titles = [("a page", "it is a text of no program")]
        points = [("an entry without a text is found", [] if not is_said(titles[0][1], texts, said) else ["not found"]),
                  ("a text without an entry is found", [] if unexplained(["it asks for the moon"], pages) else ["not found"])]
    else:
        points = [("every entry is a text of a program", [f"{page}: {title}" for page, title in titles if not is_said(title, texts, said)]),
                  ("every reason of an engine is explained", unexplained(reasons, pages))]
        assert len(reasons) > 50 and len(titles) > 50
    for number, (name, faults) in enumerate(points, 1):
        print(f"{'not ' * bool(faults)}ok {number} - {name}")
        for fault in faults:
            print(f"# {fault}")
    print(f"1..{len(points)}")
    return 1 if any(faults for _, faults in points) else 0


if __name__ == "__main__":
    sys.exit(main())
