#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pages keep their word: links lead somewhere, and every command of a guide is run by a test. TAP.

    pages.py BUILD          links, fences, and the commands that need no cluster
    pages.py BUILD PAGE...  the commands of these pages alone
    pages.py --self-test

The fence of a shell block names who runs it:

    sh                      this test, in a folder of its own with examples, share, tests and build as links
    sh daemon               the same, with a stintd that reaches neither Slurm nor a cloud; /etc and /var/backups are its own
    sh slurm                tests/integration/daemon/test_guide.py, on a real Slurm
    sh kubernetes           tests/kubernetes/test_kube_guide.py, on a real API server
    sh aws [head|outside]   tests/integration/ec2/test_aws_guide.py, on moto
    sh no-test REASON       nobody, for one of REASONS; bash reads it all the same

Blocks of one page run in order in one shell. A block of another kind is a file if its first line says so: '# NAME' makes it,
'# added to NAME' and '# NAME (part)' add to it. In stint.conf, keys of the block replace those of the file.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent

OURS = ("", "daemon")
THEIRS = {"slurm": "tests/integration/daemon/test_guide.py", "kubernetes": "tests/kubernetes/test_kube_guide.py",
          "aws": "tests/integration/ec2/test_aws_guide.py"}
REASONS = {"installs-packages": "of this machine", "builds-from-source": "CI does nothing else", "needs-account": "at AWS",
           "needs-docker": "and a registry", "needs-helm": "and an image", "needs-browser": "and somebody before it",
           "your-own-data": "the test brings its own"}

LINKED = ("README.md", "SECURITY.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md")
RUN = ("README.md", "docs/*.md", "docs/start/*.md", "docs/concepts/*.md", "docs/guides/*.md", "docs/troubleshooting/*.md",
       "docs/operating/*.md")

FENCE = re.compile(r"^( *)```([^\n`]*)\n(.*?)^ *```$", re.M | re.S)
FILE = re.compile(r"# (added to )?([\w./-]+\.\w+)( \(part\))?(?=\s|$)")
LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)|^\[[^\]]+\]:\s*(\S+)|"
                  r"<(?:a|img)\b[^>]*\b(?:href|src)=\"([^\"]+)\"", re.M)

OWN = {"oct.txt": "sacct.txt", "jobs.txt": "sacct.txt", "all.yaml": "machines.yaml"}  # of a reader: the example that stands for it
PROGRAMS = ("cli", "daemon", "engine/slurm", "engine/kubernetes", "cloud/local", "cloud/aws")
BUILDERS = ("apt-get", "meson", "ninja")  # they do nothing here: the programs are there, and others test how they are built
NEEDED = ("promtool",)  # a page that uses what is not here is skipped

CONF = """\
cluster: lab
mode: advise
state: {room}/stint.db
catalogue: catalogue.yaml
policy: stint
engine: {{ kind: slurm, program: /nonexistent/stint-slurm }}
cloud: {{ kind: aws, region: us-east-1, endpoint: 'http://127.0.0.1:9', image: ami-1 }}
http: {{ socket: {room}/stintd.sock }}
"""

# What a reader has before the first command; /etc and /var/backups are those of this shell alone.
ENCLOSE = """\
cp -a /etc "$ROOM/etc" 2>/dev/null || true
mount --bind "$ROOM/etc" /etc
mkdir -p /var/backups /etc/stint /etc/prometheus /etc/systemd/system
mount -t tmpfs tmpfs /var/backups
"""
DAEMON = """\
rm -rf /etc/stint && mkdir /etc/stint
cp "$ROOM/stint.conf" examples/machines.yaml /etc/stint/
cp examples/stint.conf /etc/stint/stint.conf.example
cp share/catalogue/aws-us-east-1.yaml /etc/stint/catalogue.yaml
build/src/cli/bill_world "$ROOM/stint.db" 1 >"$ROOM/bill_world.log"
stint ledger --focus cur-2026-11.csv >/dev/null && gzip cur-2026-11.csv
stint state backup /var/backups/stint-2026-11-15.db >/dev/null
trap 'kill $(cat "$ROOM"/unit.* 2>/dev/null) 2>/dev/null || true' EXIT
systemctl start stintd
"""
SYSTEMCTL = """\
#!/bin/bash
# Stands for systemctl: it runs what a unit runs.
set -eu
unit=${!#}
pid=$ROOM/unit.$unit
await() {
    for _ in $(seq 200); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.1
    done
    echo "systemctl: waited for: $*" >&2
    exit 1
}
is_dead() { ! kill -0 "$(cat "$pid")" 2>/dev/null; }
start() {
    [ ! -e "$pid" ] || is_dead || return 0
    local command=stintd
    [ "$unit" = stintd ] || command=$(sed -n 's|^ExecStart=/usr/bin/||p' "/etc/systemd/system/$unit.service")
    setsid $command >>"$ROOM/$unit.log" 2>&1 </dev/null &
    echo $! >"$pid"
    if [ "$unit" = stintd ]; then await stint status; else sleep 1; fi
    ! is_dead || { cat "$ROOM/$unit.log"; exit 1; }
}
stop() { kill "$(cat "$pid")" && await is_dead; }
case $1 in
start | enable) start ;;
stop | disable) stop ;;
restart) stop && start ;;
daemon-reload) ;;
*) echo "systemctl: cannot do '$*'" >&2; exit 1 ;;
esac
"""


class Block:
    def __init__(self, line, fence, text):
        self.line = line
        self.fence = fence
        self.text = text
        words = fence.split() + ["", "", ""]
        self.is_shell = words[0] == "sh"
        self.runner, self.more = words[1:3]
        found = None if self.is_shell else FILE.match(text)
        self.file = found.group(2) if found else None
        self.is_added = bool(found and found.group(1))
        self.is_part = self.is_added or bool(found and found.group(3))
        self.is_conf = self.is_part and self.file == "/etc/stint/stint.conf"


def blocks(text):
    return [Block(text[:found.start()].count("\n") + 1, found.group(2), found.group(3)) for found in FENCE.finditer(text)]


def paths(patterns):
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


def with_runner(*runners):
    """Of each page that has blocks for one of them: its name, and these blocks with those that are files. Parts of stint.conf are
    for a daemon."""
    found = {}
    for path in paths(RUN):
        mine = [one for one in blocks(path.read_text()) if one.file or one.is_shell and one.runner in runners]
        if any(one.is_shell or "daemon" in runners and one.is_conf for one in mine):
            found[name_of(path)] = mine
    return found


def installed(text):
    """What packages would have brought, where the source has it."""
    return text.replace("/usr/share/stint/", f"{ROOT}/share/")


def put(block, folder="."):
    """Write the file that a block is."""
    path = os.path.join(folder, block.file)
    body = block.text.split("\n", 1)[1]
    old = ""
    if block.is_part and os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            old = file.read()
        if path.endswith("stint.conf"):
            for key in re.findall(r"^(\w+):", body, re.M):
                old = re.sub(rf"^{key}:.*\n(?:[ ].*\n)*", "", old, flags=re.M)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(old + body)


# -- Fences ------------------------------------------------------------------------------------------


def fence_faults(name, text):
    """Blocks of which nobody says who runs them, or that are no shell."""
    for one in blocks(text):
        where = f"{name}:{one.line}: '{one.fence}'"
        if not one.is_shell:
            if " " in one.fence or one.fence in ("shell", "console") or one.fence == "bash" and not one.text.startswith("#!"):
                yield f"{where}: commands stand in a block of sh, a script in one of bash; only the first has a runner"
            continue
        known = (*OURS, *THEIRS, "no-test")
        if one.runner not in known:
            yield f"{where}: the runners are {', '.join(known[1:])}"
        elif one.runner == "no-test" and one.more not in REASONS:
            yield f"{where}: the reasons are {', '.join(REASONS)}"
        elif one.runner in OURS and one.more or len(one.fence.split()) > 3:
            yield f"{where}: too many words"
        said = subprocess.run(["bash", "-n"], input=one.text, text=True, capture_output=True, check=False).stderr
        if said:
            yield f"{where}: {said.splitlines()[0]}"


def runner_faults(runner, code):
    """A test has to take its blocks from the pages: then it forgets none."""
    if f'with_runner("{runner}")' not in code:
        yield f"{THEIRS[runner]} does not take its blocks from pages.with_runner(\"{runner}\")"


# -- Links -------------------------------------------------------------------------------------------


def slugs(text):
    """The anchors that a page has both on GitHub and on the site."""
    text = re.sub(r"^( *)(`{3,}).*?^ *\2 *$", "", text, flags=re.M | re.S)
    github, site = set(), set()
    for title in re.findall(r"^#{1,6} +(.+?) *#*$", text, re.M):
        title = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "").replace("*", "")
        one = re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")
        plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
        two = re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())
        for found, slug, mark in ((github, one, "-"), (site, two, "_")):
            number = 0
            while (same := slug + (f"{mark}{number}" if number else "")) in found:
                number += 1
            found.add(same)
    return github & site | set(re.findall(r"<a (?:id|name)=\"([^\"]+)\"", text))


def link_faults(name, text, read):
    """'read' gives the text of a file, '' of a folder, None of what is not there."""
    plain = re.sub(r"`[^`\n]*`", "", FENCE.sub(lambda found: "\n" * found.group().count("\n"), text))
    for found in LINK.finditer(plain):
        target = next(one for one in found.groups() if one)
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        body = text if there == name else read(there)
        where = f"{name}:{plain[:found.start()].count(chr(10)) + 1}: {target}"
        if body is None:
            yield f"{where}: there is no {there}"
        elif anchor and there.endswith(".md") and anchor not in slugs(body):
            yield f"{where}: {there} has no such heading"


def read_file(name):
    path = ROOT / name
    if not path.exists() or not path.resolve().is_relative_to(ROOT):
        return None
    return path.read_text() if path.suffix == ".md" else ""


def nav_faults(nav, pages, manuals):
    """'nav': mkdocs.yml; 'pages': names below docs/."""
    listed = re.findall(r"^ +- (?:.*: )?(\S+\.md)$", nav.split("\nnav:", 1)[1], re.M)
    made = {f"manual/{name}.md" for name in manuals}
    for one in sorted({*pages, *made} - {*listed}):
        yield f"mkdocs.yml: {one} is not in nav"
    for one in sorted({*listed} - {*pages, *made}):
        yield f"mkdocs.yml: there is no {one}"
    for one in sorted({one for one in listed if listed.count(one) > 1}):
        yield f"mkdocs.yml: {one} is there twice"


# -- Commands ----------------------------------------------------------------------------------------


def script(page, room, has_daemon):
    """The blocks of a page as one script."""
    lines = ["set -euo pipefail"]
    if has_daemon:
        lines += [ENCLOSE, DAEMON]
    for number, one in enumerate(page):
        if one.is_shell:
            lines.append(installed(one.text))
            continue
        with open(f"{room}/block.{number}", "w", encoding="utf-8") as file:
            file.write(f"```{one.fence}\n{one.text}```\n")
        if has_daemon or not one.file.startswith("/"):
            lines.append(f"python3 '{ROOT}/tests/pages.py' --put '{room}/block.{number}'")
            if one.is_conf:
                lines.append("stintd --check")
    return "\n".join(lines)


def needs_daemon(page):
    return any(one.runner == "daemon" or one.is_conf for one in page)


def enclosed():
    return ["unshare", "--mount", "--propagation", "private"] + ([] if os.geteuid() == 0 else ["--map-root-user"])


def why_not_enclosed():
    """Why there can be no daemon with an /etc of its own; None: there can."""
    with tempfile.TemporaryDirectory(prefix="stint-pages-") as room:
        done = subprocess.run([*enclosed(), "bash", "-euc", ENCLOSE], env={**os.environ, "ROOM": room}, capture_output=True,
                              text=True, check=False)
    return None if done.returncode == 0 else (done.stderr.strip().splitlines() or ["unshare failed"])[-1]


def run_page(page, build):
    """What is wrong with the commands of a page: the end of what they said."""
    has_daemon = needs_daemon(page)
    with tempfile.TemporaryDirectory(prefix="stint-pages-") as room:
        desk = pathlib.Path(room) / "desk"
        desk.mkdir()
        for name in ("examples", "share", "tests"):
            (desk / name).symlink_to(ROOT / name)
        for name, target in OWN.items():
            (desk / name).symlink_to(ROOT / "examples" / target)
        (desk / "build").symlink_to(build)
        (desk.parent / "stint.conf").write_text(CONF.format(room=room))
        (desk.parent / "bin").mkdir()
        for name, text in (("systemctl", SYSTEMCTL), *((name, "#!/bin/sh\n") for name in BUILDERS)):
            (desk.parent / "bin" / name).write_text(text)
            (desk.parent / "bin" / name).chmod(0o755)
        path = [f"{room}/bin", *(f"{build}/src/{name}" for name in PROGRAMS), os.environ["PATH"]]
        own = {"ROOM": room, "PATH": ":".join(path), "STINT_SOCKET": f"{room}/stintd.sock",
               "EDITOR": f"sed -i -e s,/run/stint,{room},g -e s,/var/lib/stint,{room},g",
               "AWS_ACCESS_KEY_ID": "AKIAX", "AWS_SECRET_ACCESS_KEY": "secret"}
        done = subprocess.run([*(enclosed() if has_daemon else []), "bash", "-c", script(page, room, has_daemon)], cwd=desk,
                              env={**os.environ, **own}, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=300)
    return [f"status {done.returncode}", *done.stdout.splitlines()[-15:]] if done.returncode else []


# -- Points ------------------------------------------------------------------------------------------


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def point(self, name, faults):
        self.count += 1
        self.failed += bool(faults)
        print(f"{'not ' * bool(faults)}ok {self.count} - {name}")
        for fault in faults:
            print(f"# {fault}", flush=True)

    def end(self):
        print(f"1..{self.count}")
        return 1 if self.failed else 0


def check_texts(tap):
    texts = {name_of(path): path.read_text() for path in paths(LINKED)}
    tap.point(f"the links of {len(texts)} pages lead somewhere",
              [fault for name, text in texts.items() for fault in link_faults(name, text, read_file)])
    pages = {name.removeprefix("docs/") for name in texts if name.startswith("docs/")}
    tap.point("every page is in the site's navigation",
              list(nav_faults((ROOT / "mkdocs.yml").read_text(), pages, [path.name for path in (ROOT / "man").glob("*.[0-9]")])))
    tap.point("every block says who runs it",
              [fault for path in paths(RUN) for fault in fence_faults(name_of(path), path.read_text())])
    tap.point("who is named takes its blocks from the pages",
              [fault for runner, test in THEIRS.items() for fault in runner_faults(runner, (ROOT / test).read_text())])


def check_commands(tap, build, wanted):
    reason = why_not_enclosed()
    for name, page in with_runner(*OURS).items():
        if wanted and name not in wanted:
            continue
        shell = "".join(one.text for one in page if one.is_shell)
        missing = [f"there is no {one}" for one in NEEDED if re.search(rf"^{one}\b", shell, re.M) and not shutil.which(one)]
        if reason and needs_daemon(page):
            missing.append(reason)
        said = f"the commands of {name} work"
        if missing:
            tap.point(f"{said} # SKIP {missing[0]}", [])
        else:
            tap.point(said, run_page(page, build))


def self_test(tap):
    def faults(text):
        return list(fence_faults("page", text))

    tap.point("a block that says who runs it is good",
              [one for fence in ("sh", "sh daemon", "sh slurm", "sh aws head", "sh no-test needs-docker")
               for one in faults(f"```{fence}\ntrue\n```\n")])
    tap.point("a script needs nobody", faults("```bash\n#!/bin/sh\n```\n"))
    bad = ("sh nobody", "sh no-test", "sh no-test no-time", "sh daemon now", "bash", "text no-test")
    tap.point("another is found", [fence for fence in bad if not faults(f"```{fence}\ntrue\n```\n")])
    tap.point("what is no shell is found", [] if faults("```sh\nif true\n```\n") else ["nothing"])
    tap.point("a test that takes its blocks from the pages is good", list(runner_faults("slurm", 'pages.with_runner("slurm")')))
    tap.point("another is found", [] if list(runner_faults("slurm", "with_runner('aws')")) else ["nothing"])

    other = {"docs/b.md": "# A `b` and c\n## Same\n## Same\n", "docs": ""}.get
    good = ("# Here\n[x](b.md#a-b-and-c) [x](b.md) [x](#here) [x](../docs) [x](https://no.where/#x) `[x](no.md)`\n"
            "```sh\n[x](no.md)\n```\n")
    tap.point("links that lead somewhere are good", list(link_faults("docs/a.md", good, other)))
    bad = ("[x](no.md)", "![x](no.png)", "[x](b.md#no)", "[x](#no)", "[x\ny](no.md)", "[x]: no.md", '<img src="no.png">',
           "[x](b.md#same-1)")
    tap.point("others are found", [one for one in bad if not list(link_faults("docs/a.md", one, other))])
    nav = "x:\nnav:\n  - A: a.md\n  - Manuals:\n      - b(1): manual/b.1.md\n"
    tap.point("a navigation with every page is good", list(nav_faults(nav, {"a.md"}, ["b.1"])))
    bad = ({"a.md", "c.md"}, ["b.1"]), (set(), ["b.1"]), ({"a.md"}, []), ({"a.md"}, ["b.1", "c.1"])
    tap.point("another is found", [f"{one}" for one in bad if not list(nav_faults(nav, *one))])

    page = ("```yaml\n# a.conf\nk: 1\n```\n```sh\nx=2\n```\n```ini\n# added to a.conf\nl\n```\n"
            "```sh\ntest \"$x $(cat a.conf)\" = $'2 k: 1\\nl'\n```\n")
    tap.point("blocks run in order in one shell, with their files", run_page(blocks(page), "/nonexistent"))
    bad = ("false\ntrue", "false | true", "echo $nothing", "grep -q x examples/stint.conf.not")
    tap.point("a command that fails is found",
              [one for one in bad if not run_page(blocks(f"```sh\n{one}\n```\n"), "/nonexistent")])
    with tempfile.TemporaryDirectory() as folder:
        for text in ("# stint.conf\na: 1\nb:\n  c: 2\nd: 3\n", "# stint.conf (part)\nb: { c: 4 }\n"):
            put(blocks(f"```yaml\n{text}```\n")[0], folder)
        text = pathlib.Path(folder, "stint.conf").read_text()
    tap.point("keys that are added to stint.conf replace those that are there",
              [] if text == "a: 1\nd: 3\nb: { c: 4 }\n" else [text])


def main():
    if sys.argv[1:2] == ["--put"]:
        return put(blocks(pathlib.Path(sys.argv[2]).read_text())[0])
    tap = Tap()
    if sys.argv[1:] == ["--self-test"]:
        self_test(tap)
    elif len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    else:
        if not sys.argv[2:]:
            check_texts(tap)
        check_commands(tap, os.path.abspath(sys.argv[1]), sys.argv[2:])
    return tap.end()


if __name__ == "__main__":
    sys.exit(main())
