#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hold the prose of Stint to limits that well-read projects keep.

    prose.py                     every page, manual and comment; TAP
    prose.py --help-of BUILD     the --help texts of the programs in a build folder, as one text; TAP
    prose.py --findings          texts and advices of findings of the doctor, as one text; TAP
    prose.py --docs FILE...      these pages alone; --worst N also prints their N heaviest sentences
    prose.py --ratchet           write the loads of comments that were reached to tests/prose-comments.txt
    prose.py --self-test

The load of a text is its number of semicolons, relative words (which, that, what, where, whose, whom) and
negations per 1,000 words. In Markdown, code, tables, headings and front matter are left out. In C only comments
count. Manuals are read as the Markdown that mandoc makes of them.

Limits of pages: load 45 from 300 words on, median of all pages 35, sentences of 40 words, prose of 100 columns,
1,500 words a page and 3,000 a page of docs/reference. Comments may not rise above tests/prose-comments.txt.
"""
import argparse
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RATCHET = ROOT / "tests/prose-comments.txt"

LOAD = 45
MEDIAN_LOAD = 35
HELP_LOAD = 40
FINDINGS_LOAD = 40
LEAST_WORDS = 300  # a shorter text has no steady load
SENTENCE = 40
COLUMNS = 100
PAGE_WORDS = 1500
REFERENCE_WORDS = 3000
ROOT_PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md")
FENCE_WORDS = re.compile(r"^( *```sh) [^\n`]*$", re.M)  # who runs the block (tests/pages.py); no reader sees them

PROGRAMS = ("cli/stint", "daemon/stintd", "cloud/aws/stint-join", "cloud/local/stint-cloud-local",
            "engine/slurm/stint-slurm", "engine/kubernetes/stint-kubernetes")

RELATIVE = re.compile(r"\b(which|whose|that|what|whom|where)\b", re.I)
NEGATION = re.compile(r"\b(not|no|never|nor|neither|none|nothing|without|cannot|\w+n't)\b", re.I)
WORD = re.compile(r"[A-Za-z][A-Za-z'’-]*|\d[\d.,]*")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|approx|incl)\.", re.I)
ITEM = re.compile(r"^(?:[-*+]|\d+[.)])\s+(.*)")
STRUCTURE = re.compile(r"^(\||#{1,6} |={3,}$|-{3,}$|!\[|<|\[!\[|\[[^\]]+\]:|:::|!!!)")
OPTION = re.compile(r"^ {1,8}(?:-\S|[A-Za-z_/*-][\w/.*=-]*(?: [A-Z]+)? {2,})")


def without_code(text):
    """Markdown without front matter, HTML comments and fenced code; lines keep their numbers."""
    def blank(match):
        return re.sub(r"[^\n]", "", match.group())
    text = re.sub(r"\A---\n.*?\n---\n", blank, text, flags=re.S)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    return re.sub(r"^\s*(`{3,}|~{3,}).*?^\s*\1\s*$", blank, text, flags=re.S | re.M)


def paragraphs(text):
    """The prose of a page: (line number, text) of each paragraph and list item."""
    lines, first, blank = [], 0, True
    for number, line in enumerate(without_code(text).split("\n") + [""], 1):
        bare = line.strip()
        indented = re.match(r"^( {4}|\t)", line) and not ITEM.match(bare)
        item = ITEM.match(bare)
        if lines and (not bare or item or STRUCTURE.match(bare)):
            yield first, " ".join(lines)
            lines = []
        if not bare or STRUCTURE.match(bare) or (blank and indented):
            blank = blank if bare else True
            continue
        blank = False
        if not lines:
            first = number
        lines.append(item.group(1) if item else re.sub(r"^>\s*(\[!\w+\])?\s*", "", bare))


def comments(text):
    """The paragraphs of a C file's comments; tables and drawings are left out, each item of a list is one."""
    text = re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)
    for found in re.finditer(r"/\*(.*?)\*/", text, re.S):
        lines = []
        for line in found.group(1).split("\n") + [""]:
            bare = re.sub(r"^[ \t]*\*+[ \t]?", "", line).strip()
            table = "|" in bare or bare.endswith(";") and "(" in bare or "SPDX-License" in bare
            item = re.match(r"^(?:[-*+]|\d+[.)]|[\w./]+:? {2,})\s*(.*)", bare)
            if lines and (not bare or table or item):
                yield 0, " ".join(lines)
                lines = []
            if bare and not table:
                lines.append(item.group(1) if item else bare)


def help_paragraphs(text):
    """The prose of a --help text: each paragraph, and the description of each option; usage and examples are left out."""
    lines = []
    for line in text.split("\n") + [""]:
        bare = line.strip()
        if line.startswith("Usage:") or re.match(r"^ {4,}(stint|or:)", line) or OPTION.match(line) or not bare:
            if lines:
                yield 0, " ".join(lines)
            lines = []
        option = OPTION.match(line)
        if option:
            described = re.split(r" {2,}", bare, maxsplit=1)
            bare = described[1] if len(described) > 1 else ""
        if bare and not line.startswith("Usage:") and not re.match(r"^ {4,}(stint|or:)", line):
            lines.append(bare)


def sentences(paragraph):
    paragraph = re.sub(r"!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])?", r"\1", paragraph)
    paragraph = re.sub(r"<[^>]+>", "", paragraph)
    paragraph = re.sub(r"`+[^`]*`+", "CODE", paragraph)
    paragraph = ABBREVIATION.sub(lambda found: found.group().replace(".", ""), paragraph)
    paragraph = paragraph.replace("*", "")
    for sentence in re.split(r"(?<=[.!?])[\"')\]]*\s+(?=[A-Z0-9\"'(])", paragraph):
        if len(WORD.findall(sentence)) >= 4:
            yield sentence.strip()


def weight(sentence):
    return sentence.count(";") + len(RELATIVE.findall(sentence)) + len(NEGATION.findall(sentence))


def measure(prose):
    """(sentences, words, load) of a list of paragraphs."""
    found = [sentence for _, paragraph in prose for sentence in sentences(paragraph)]
    words = sum(len(WORD.findall(sentence)) for sentence in found)
    return found, words, 1000 * sum(map(weight, found)) / words if words else 0


def wide_lines(text):
    """The numbers of the lines of prose beyond COLUMNS, unless one long word such as an address makes them so."""
    for number, line in enumerate(without_code(text).split("\n"), 1):
        if len(line) > COLUMNS and not STRUCTURE.match(line.strip()) and not re.match(r"^( {4}|\t)\S", line):
            if max(map(len, re.sub(r"\[[^\]]*\]\(", "", line).split())) < COLUMNS // 2:
                yield number


def page_faults(text, is_reference, name=""):
    """What is wrong with a page, as texts."""
    prose = list(paragraphs(text))
    _, words, load = measure(prose)
    if words >= LEAST_WORDS and load > LOAD:
        yield f"load {load:.0f}, and {LOAD} is the limit"
    for line, paragraph in prose:
        for sentence in sentences(paragraph):
            count = len(WORD.findall(sentence))
            if count > SENTENCE:
                yield f"line {line}: a sentence of {count} words: {sentence[:60]}..."
    for number in wide_lines(text):
        yield f"line {number}: more than {COLUMNS} columns"
    most = REFERENCE_WORDS if is_reference else PAGE_WORDS
    count = len(FENCE_WORDS.sub(r"\1", text).split())
    if name != "CHANGELOG.md" and count > most:
        yield f"{count} words, and {most} is the limit"


def pages():
    return [ROOT / name for name in ROOT_PAGES if (ROOT / name).exists()] + sorted((ROOT / "docs").rglob("*.md"))


def report_pages(paths, worst):
    """Of these pages by themselves: what a writer needs."""
    bad = False
    for path in paths:
        text = path.read_text()
        found, words, load = measure(list(paragraphs(text)))
        faults = list(page_faults(text, "reference" in path.parts, path.name))
        bad |= bool(faults)
        median = statistics.median(len(WORD.findall(sentence)) for sentence in found) if found else 0
        print(f"{'not ' * bool(faults)}ok {path}: load {load:.0f}, {words} words of prose, {len(text.split())} in all, "
              f"median sentence {median:g}")
        for fault in faults:
            print(f"    {fault}")
        for sentence in sorted(found, key=weight, reverse=True)[:worst]:
            print(f"    {weight(sentence)}  {sentence[:300]}")
    return bad


def manual_text(path):
    said = subprocess.run(["mandoc", "-T", "markdown", str(path)], capture_output=True, text=True).stdout
    assert said, f"mandoc cannot read {path}"
    said = re.sub(r"^# (SYNOPSIS|SEE ALSO)\n.*?(?=^# |\Z)", "", said, flags=re.M | re.S)
    said = re.sub(r"^\t+", "", said, flags=re.M)  # descriptions of options, which Markdown would take for code
    return re.sub(r"\\(.)", r"\1", said.replace("&nbsp;", " "))


def comment_folders():
    """The load of the comments of each folder of src/ with files of its own, tests apart."""
    folders = {}
    for path in sorted((ROOT / "src").rglob("*.[ch]")):
        if "test" not in path.parts:
            folders.setdefault(str(path.parent.relative_to(ROOT)), []).append(path)
    for folder, paths in folders.items():
        prose = [one for path in paths for one in comments(path.read_text())]
        _, words, load = measure(prose)
        if words >= LEAST_WORDS:
            yield folder, load


def read_ratchet():
    lines = [line.split() for line in RATCHET.read_text().splitlines() if line and not line.startswith("#")]
    return {folder: float(load) for folder, load in lines}


def write_ratchet():
    with open(RATCHET, "w") as file:
        print("# The load of the comments of each folder (tests/prose.py). A change may lower it; 'prose.py --ratchet' notes that.",
              file=file)
        for folder, load in comment_folders():
            print(f"{folder} {load:.1f}", file=file)


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def point(self, name, faults):
        self.count += 1
        self.failed += bool(faults)
        print(f"{'not ' * bool(faults)}ok {self.count} - {name}")
        for fault in faults:
            print(f"# {fault}")

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def check_manuals(tap):
    faults = []
    for path in sorted((ROOT / "man").glob("*.[0-9]")) if shutil.which("mandoc") else []:
        found, words, load = measure(list(paragraphs(manual_text(path))))
        if words >= LEAST_WORDS and load > LOAD:
            faults.append(f"{path.name}: load {load:.0f}, and {LOAD} is the limit")
        faults += [f"{path.name}: a sentence of more than {SENTENCE} words: {sentence[:60]}..." for sentence in found
                   if len(WORD.findall(sentence)) > SENTENCE]
    tap.point("manual pages keep to the limit" + ("" if shutil.which("mandoc") else " # SKIP there is no mandoc"), faults)


def check_all(tap):
    faults, loads = [], []
    for path in pages():
        text, name = path.read_text(), path.relative_to(ROOT)
        _, words, load = measure(list(paragraphs(text)))
        if words >= LEAST_WORDS:
            loads.append(load)
        faults += [f"{name}: {fault}" for fault in page_faults(text, "reference" in name.parts, name.name)]
    tap.point("pages keep to the limits", faults)
    middle = statistics.median(loads)
    tap.point(f"the median load of {len(loads)} pages is {middle:.0f}, at most {MEDIAN_LOAD}",
              [] if middle <= MEDIAN_LOAD else ["write more plainly"])
    check_manuals(tap)
    allowed = read_ratchet()
    faults = []
    for folder, load in comment_folders():
        most = allowed.get(folder, LOAD)
        if round(load, 1) > most:
            faults.append(f"{folder}: comments have a load of {load:.1f}, and {most:.1f} was reached before")
    tap.point("comments are no heavier than they were", faults)


def check_help(tap, build):
    """Every help text of every verb and program; a paragraph that several have, such as that of an option, counts once."""
    texts = []
    verbs = sum(path.read_text().count("\nconst struct verb verb_") for path in sorted((ROOT / "src/cli").glob("verb_*.c")))
    found = 0
    for name in PROGRAMS:
        program = pathlib.Path(build) / "src" / name
        if not program.exists():
            continue
        said = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
        texts.append(said)
        if name == "cli/stint":
            names = re.findall(r"^  ([a-z]+(?:-[a-z]+)*) {2,}[a-z]", said, re.M)
            found = len(set(names))
            for words in [[verb] for verb in names] + [["plan", "--from", "x", "--catalogue", "x"]]:
                texts.append(subprocess.run([program, *words, "--help"], capture_output=True, text=True, check=True).stdout)
    prose = list({one[1]: one for text in texts for one in help_paragraphs(text)}.values())
    sentences_found, words, load = measure(prose)
    faults = [] if load <= HELP_LOAD else [sentence[:200] for sentence in sorted(sentences_found, key=weight, reverse=True)[:20]]
    tap.point(f"{len(texts)} help texts of {words} words have a load of {load:.0f}, at most {HELP_LOAD}", faults)
    tap.point("every verb was found", [] if found == verbs and words > 1000 else [f"{found} of {verbs} verbs, {words} words"])


def literals(code):
    """The texts in C code: neighbouring literals are one, and format directives are a word."""
    for group in re.findall(r'"(?:\\.|[^"\\\n])*"(?:\s*"(?:\\.|[^"\\\n])*")*', code):
        text = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', group))
        text = re.sub(r"%[-+ #0.*\d]*(?:[hlzjt]+)?[a-zA-Z]", "X", text)
        if len(WORD.findall(text)) >= 4:
            yield text


def finding_texts():
    """Of every finding: what it says and what it advises. See src/control/ports/findings.h."""
    inside = re.compile(r"\bfinding_tell\((?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))*\)")
    advice = re.compile(r"\.(?:down_advice|advice|not_ready|no_boot|bad_machine|still_busy)\s*=([^;=]*?)(?=,\s*\.|,\s*\})")
    for path in sorted((ROOT / "src").rglob("*.c")):
        code = path.read_text()
        if "test" in path.parts or not (inside.search(code) or advice.search(code)):
            continue
        said = inside.findall(code)
        rest = inside.sub("", code)
        said += [found for found in advice.findall(rest)]
        said += re.findall(r'snprintf\(\w*advice,[^;]*;', rest)
        said += re.findall(r"\w+_advice\([^{;]*\{.*?^\}", rest, re.S | re.M)
        for part in said:
            yield from literals(part)


def check_findings(tap):
    texts = [text if text.endswith(".") else text + "." for text in finding_texts()]
    found, words, load = measure([(0, text) for text in texts])
    long = [sentence for sentence in found if len(WORD.findall(sentence)) > SENTENCE]
    heavy = sorted(found, key=weight, reverse=True)[:15] if load > FINDINGS_LOAD else []
    tap.point(f"{len(texts)} texts of findings have a load of {load:.0f}, at most {FINDINGS_LOAD}", heavy)
    tap.point(f"none of their sentences has more than {SENTENCE} words", long)
    tap.point("they were found", [] if len(texts) > 60 and words > 800 else [f"{len(texts)} texts, {words} words"])


def self_test():
    assert list(literals('f("one two %u three " "four", "x");')) == ["one two X three four"]
    plain = "# Title\n\nStint rents machines for your jobs and returns them later.\n"
    assert not list(page_faults(plain, False))
    assert measure(list(paragraphs("It is not what you think; never.")))[2] > 300
    long = "word " * 41 + "end.\n"
    assert any("41 words" in fault or "42 words" in fault for fault in page_faults(long, False))
    assert any("columns" in fault for fault in page_faults("ab " * 40 + "\n", False))
    assert not any("columns" in fault for fault in page_faults("| ab |" * 40 + "\n", False))
    assert any("words, and" in fault for fault in page_faults("A word. " * 800, False))
    assert not any("words, and" in fault for fault in page_faults("A word. " * 800, True))
    assert not any("words, and" in fault for fault in page_faults("```sh no-test needs-docker\ntrue\n```\n" * 300, False))
    heavy = "This is not what you want, that is nothing which helps; never. " * 40
    assert any("load" in fault for fault in page_faults(heavy, True))
    assert [text for _, text in paragraphs("one two\n\n```sh\nnot this\n```\n- an item\n- another\n")] == ["one two", "an item", "another"]
    assert [text for _, text in comments("/* Returns what is there. */ int x; // no\n")] == ["Returns what is there."]
    helped = list(help_paragraphs("Usage: stint sim [OPTION...]\nRun it.\n\n  -o, --output=F         Write as F.\n      not more\n"))
    assert [text for _, text in helped] == ["Run it.", "Write as F. not more"], helped


def main():
    parser = argparse.ArgumentParser(description="Hold the prose of Stint to limits.")
    parser.add_argument("--docs", nargs="+", type=pathlib.Path)
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--help-of", metavar="BUILD")
    parser.add_argument("--ratchet", action="store_true")
    parser.add_argument("--findings", action="store_true")
    parser.add_argument("--self-test", action="store_true")
    args = parser.parse_args()
    if args.docs:
        return report_pages([path.resolve() for path in args.docs], args.worst)
    if args.ratchet:
        return write_ratchet()
    tap = Tap()
    if args.self_test:
        self_test()
        tap.point("the measure finds what it should", [])
    elif args.findings:
        check_findings(tap)
    elif args.help_of:
        check_help(tap, args.help_of)
    else:
        check_all(tap)
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
