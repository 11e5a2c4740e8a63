#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""language.py [--self-test]: holds the list of discouraged words in CONTRIBUTING.md (TAP).

Checked are README.md, CONTRIBUTING.md, docs/, man/, every string that the programs print (string literals of src/), and the
comments of src/, where "nobody" and "somebody" are allowed in the folders in PEOPLED: of decisions and whom they concern
they are often the plainest words. Not checked are code blocks, `code`, quoted "output", tests and the changelog of earlier releases.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORDS = ROOT / "CONTRIBUTING.md"
COMMENTED = ("base", "cloud", "draw", "learn", "lib", "model", "policy", "serve", "solve", "store", "trace")
PEOPLED = ("cli", "control", "daemon", "decide", "engine", "sim")  # whose comments may have these:
PEOPLE = ("nobody", "somebody")


def discouraged(text):
    """The first column of the table below "Discouraged words", as one expression."""
    table = text.split("## Discouraged words", 1)[1]
    words = re.findall(r"^\| (?!discouraged|-)([^|]+?) \|", table, re.M)
    words.sort(key=len, reverse=True)
    return re.compile(r"\b(" + "|".join(word.replace(" ", r"\s+") for word in words) + r")\b", re.I)


def blank(match):
    """Spaces for what is exempt: lines keep their numbers."""
    return re.sub(r"[^\n]", " ", match.group())


def prose_of_markdown(text):
    text = text.split("## Discouraged words", 1)[0]
    text = re.sub(r"^```.*?^```", blank, text, flags=re.M | re.S)
    text = re.sub(r"^    .*$", blank, text, flags=re.M)
    return re.sub(r"`[^`\n]*`|\"[^\"\n]*\"|\]\([^)\n]*\)", blank, text)


def prose_of_manual(text):
    text = re.sub(r"^\.(Bd|nf).*?^\.(Ed|fi)", blank, text, flags=re.M | re.S)
    return re.sub(r"^\.\\\".*$", blank, text, flags=re.M)


def prose_of_c(text):
    """String literals only, without format directives."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*|^\s*#\s*include[^\n]*|^_Static_assert[^;]*;", blank, text, flags=re.M | re.S)
    kept, end = [], 0
    for match in re.finditer(r'"((?:[^"\\\n]|\\.)*)"', text):
        kept.append("\n" * text.count("\n", end, match.start()))
        kept.append(re.sub(r"`[^`]*`", blank, match.group(1).replace("\\n", "  ")))
        end = match.end()
    return "".join(kept)


def prose_of_comments(text):
    """Comments only; the stars that begin their lines are spaces."""
    kept, end = [], 0
    for match in re.finditer(r"/\*.*?\*/", text, flags=re.S):
        kept.append("\n" * text.count("\n", end, match.start()))
        kept.append(re.sub(r"`[^`]*`|\"[^\"\n]*\"", blank, match.group().replace("*", " ")))
        end = match.end()
    return "".join(kept)


def prose_of_peopled(text):
    return re.sub(r"\b(" + "|".join(PEOPLE) + r")\b", blank, prose_of_comments(text), flags=re.I)


def sources(folder):
    return [path for path in (ROOT / "src" / folder).rglob("*.[ch]") if "test" not in path.parts]


def kinds():
    """What is checked: its name, its files, and how to find the prose in one."""
    yield "README.md, CONTRIBUTING.md", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"], prose_of_markdown
    yield "docs/", (ROOT / "docs").rglob("*.md"), prose_of_markdown
    yield "man/", (ROOT / "man").glob("*.[0-9]"), prose_of_manual
    yield "messages of src/", sources(""), prose_of_c
    yield "comments of " + ", ".join(COMMENTED), [path for folder in COMMENTED for path in sources(folder)], prose_of_comments
    yield "comments of " + ", ".join(PEOPLED), [path for folder in PEOPLED for path in sources(folder)], prose_of_peopled


def findings(prose, words):
    """(line, word) of each discouraged word."""
    for match in words.finditer(prose):
        yield prose.count("\n", 0, match.start()) + 1, " ".join(match.group().split())


def self_test(words):
    assert words.search("told") and words.pattern.count("|") > 10
    found = lambda text, prose: sorted(findings(prose(text), words))
    assert found("It was told.\n`told` and \"told\"\n", prose_of_markdown) == [(1, "told")]
    assert found("```\ntold\n```\nmend it\n", prose_of_markdown) == [(4, "mend")]
    assert found('/* told */ say("it was\\n told");\n', prose_of_c) == [(1, "told")]
    assert found('/* it was\n * told */ say("told");\n/* without\n * a word */\n', prose_of_comments) == [(2, "told"), (3, "without a word")]
    assert found("/* nobody was told */", prose_of_peopled) == [(1, "told")]
    assert found("wait for\na word", prose_of_markdown) == [(1, "wait for a word")]
    print("ok 1 - the check finds what it should\n1..1")


def main():
    words = discouraged(WORDS.read_text())
    if "--self-test" in sys.argv:
        return self_test(words)
    count = failed = 0
    for name, paths, prose in kinds():
        bad = [(path.relative_to(ROOT), *found) for path in sorted(paths) for found in findings(prose(path.read_text()), words)]
        count += 1
        failed += bool(bad)
        print(f"{'not ' * bool(bad)}ok {count} - {name}: only encouraged words")
        for path, line, word in bad:
            print(f"# {path}:{line}: '{word}': see CONTRIBUTING.md")
    print(f"1..{count}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
