#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""top.py STINT PAGE_WORLD - `stint top` on a terminal of tmux, in front of a made-up world of 10,000 jobs; in TAP.

Each key is followed by waiting for what it must bring on the screen, so that a slow computer is late and not wrong.
Skipped where there is no tmux.
"""
import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

JOBS = 10000
MACHINES = 40


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


def get(path, target):
    connection = Connection(path)
    connection.request("GET", target)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def judge(self, good, sentence, why=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {sentence}", flush=True)
        if not good and why:
            print("# " + str(why).replace("\n", "\n# "), flush=True)


class Terminal:
    """A terminal of a tmux of its own with a program in it, which leaves its exit code in a file."""

    opened = []

    def __init__(self, folder, command, environment=()):
        self.socket = f"{folder}/tmux{len(self.opened)}"
        self.code = f"{self.socket}.code"
        self.opened.append(self)
        words = " ".join(["env", "-u", "NO_COLOR", "TERM=screen-256color", "LC_ALL=C.UTF-8", *environment, *command])
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", "120", "-y", "30",
                  f"trap : INT; {words}; echo $? >{self.code}; sleep 300")

    def tmux(self, *words):
        return subprocess.run(["tmux", "-S", self.socket, *words], capture_output=True, text=True, check=False).stdout

    def screen(self, *options):
        return self.tmux("capture-pane", "-p", *options)

    def press(self, *keys):
        for key in keys:
            self.tmux("send-keys", *(["-l", key[1:]] if key.startswith("=") else [key]))

    def wait(self, condition):
        """The screen as soon as the condition holds, or as it is after a minute."""
        end = time.monotonic() + 60
        while True:
            shown = self.screen()
            if condition(shown) or time.monotonic() > end:
                return shown
            time.sleep(0.05)

    def until(self, text):
        return self.wait(lambda shown: text in shown)

    def still(self):
        """What is there when nothing is being drawn: two looks at it are alike."""
        seen = [None]

        def is_same(shown):
            before, seen[0] = seen[0], shown
            return shown == before

        return self.wait(is_same)

    def ended(self):
        self.wait(lambda _: os.path.exists(self.code) and os.path.getsize(self.code) > 0)
        if not os.path.exists(self.code):
            return "still running"
        with open(self.code, encoding="ascii") as file:
            return file.read().strip()

    def close(self):
        self.tmux("kill-server")


def rows(shown):
    """The lines of the list, below its headings and above the keys."""
    return [line for line in shown.split("\n")[7:-2] if line.strip()]


def check_lists(tap, terminal, sock):
    shown = terminal.until("[machines]")
    total = get(sock, "/v1/instances?limit=1")["total"]
    tap.judge(f"{total} of {total}" in shown and "/h" in shown, "machines are shown first, with their number", shown)
    terminal.press("Tab")
    shown = terminal.until(f"{JOBS} of {JOBS}")
    tap.judge("[jobs]" in shown and len(rows(shown)) == 22, "Tab shows the jobs, as many as there is room for", shown)
    jobs = get(sock, f"/v1/jobs?limit={JOBS}")["jobs"]
    terminal.press("End")
    shown = terminal.until(f"\n{jobs[-1]['job']} ")
    tap.judge(rows(shown)[-1].startswith(jobs[-1]["job"] + " "), "End shows the last of 10,000 rows", shown)
    terminal.press("Home")
    shown = terminal.until(f"\n{jobs[0]['job']} ")
    tap.judge(rows(shown)[0].startswith(jobs[0]["job"] + " "), "Home the first", shown)
    return jobs


def numbers(shown, column):
    """A column of the rows, or None while one is being drawn."""
    try:
        return [float(line.split()[column]) for line in rows(shown)]
    except ValueError:
        return None


def sorted_by(heading, column, reverse=False):
    """The heading is drawn before the rows: a condition on both."""
    def holds(shown):
        found = numbers(shown, column)
        return heading in shown and bool(found) and found == sorted(found, reverse=reverse)
    return holds


def check_sort(tap, terminal, jobs):
    falls, rises, named = sorted_by("cost $v", -1, reverse=True), sorted_by("cost $^", -1), sorted_by("job^", 0)
    terminal.press("<")
    shown = terminal.wait(falls)
    costs = numbers(shown, -1)
    most = max(job["cost_microdollars"] for job in jobs) / 1e6
    tap.judge(falls(shown) and abs(costs[0] - most) <= 0.02 * costs[0] + 1e-3, "< sorts by the last column, the largest first",
              f"{costs} {most}")
    terminal.press("r")
    shown = terminal.wait(rises)
    tap.judge(rises(shown), "r reverses the order", shown)
    terminal.press("u", ">")
    shown = terminal.wait(named)
    tap.judge(named(shown) and len(rows(shown)) == 22, "> sorts names with numbers in them by these", shown)


def check_filter(tap, terminal, jobs):
    user = jobs[0]["user"]
    expected = sum(job["state"] == "waiting" and user in (job["user"], job["name"]) for job in jobs)
    terminal.press("/", f"={user} waiting", "Enter")
    shown = terminal.until(f"{expected} of {JOBS}")
    tap.judge(f"{expected} of {JOBS}  filter: {user} waiting" in shown and
              all(user in line and "waiting" in line for line in rows(shown)),
              "a filter leaves the rows that contain all its words", f"{expected} expected\n{shown}")
    terminal.press("/", "=zzz")
    shown = terminal.until("nothing contains")
    tap.judge(f"0 of {JOBS}" in shown, "what nothing contains leaves nothing", shown)
    terminal.press("Enter", "Enter")
    terminal.press("/", "Escape")
    shown = terminal.until(f"{JOBS} of {JOBS}")
    tap.judge("filter" not in shown.split("\n")[5], "Esc clears it", shown)


def check_details(tap, terminal, jobs):
    terminal.press("Home", "Enter")
    shown = terminal.until("Decisions")
    name = min(int(job["job"]) for job in jobs)
    tap.judge(shown.startswith(f"Job {name}\n") and "q back" in shown, "Enter shows a job in detail", shown)
    terminal.press("q", "?")
    shown = terminal.until("stint top: keys")
    tap.judge("filter" in shown and "sort" in shown, "? shows the keys", shown)
    terminal.press("q")
    terminal.until("[jobs]")


def check_resize(tap, terminal):
    terminal.tmux("resize-window", "-x", "50", "-y", "15")
    shown = terminal.wait(lambda shown: "[jobs]" in shown and len(rows(shown)) == 7)
    tap.judge(len(rows(shown)) == 7 and max(len(line) for line in shown.split("\n")) <= 50,
              "a smaller terminal shows fewer rows and columns", shown)
    head = shown.split("\n")[6]
    tap.judge("job" in head and "state" in head and "tasks" not in head, "what matters least is left out", shown)
    terminal.tmux("resize-window", "-x", "20", "-y", "4")
    terminal.press("Down")
    time.sleep(0.3)
    terminal.tmux("resize-window", "-x", "200", "-y", "50")
    shown = terminal.wait(lambda shown: len(rows(shown)) == 42)
    tap.judge(len(rows(shown)) == 42 and "tasks" in shown, "a larger one more, also after a tiny one", shown)


def check_end(tap, terminal):
    terminal.press("q")
    tap.judge(terminal.ended() == "0", "q ends it with exit code 0")
    tap.judge("[jobs]" not in terminal.screen(), "and the terminal is as it was before")
    terminal.close()


def check_colours(tap, folder, command):
    for environment, option, expected in (((), (), True), (("NO_COLOR=1",), (), False),
                                          ((), ("--color=never",), False), (("NO_COLOR=1",), ("--color=always",), True)):
        terminal = Terminal(folder, [*command, *option], environment)
        shown = terminal.until("[machines]")
        coloured = re.search(r"\x1b\[[0-9;]*3[1-6]m", terminal.screen("-e")) is not None
        tap.judge("[machines]" in shown and coloured == expected, f"{' '.join([*environment, *option]) or 'by default'}: "
                  f"{'colours' if expected else 'no colour'}")
        terminal.press("C-c")
        tap.judge(terminal.ended() == "0", "and Ctrl-C ends it")
        terminal.close()


def check_plain(tap, command):
    done = subprocess.run([*command, "--sort", "-cost", "--filter", "running"], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    lines = done.stdout.split("\n\n")[-1].split("\n")[2:22]
    costs = [float(line.split()[-1]) for line in lines]
    tap.judge(done.returncode == 0 and costs == sorted(costs, reverse=True) and len(costs) == 20 and
              "\x1b" not in done.stdout and all(" running " in line for line in lines),
              "without a terminal it is printed once, sorted and filtered", done.stdout + done.stderr)
    done = subprocess.run([*command, "--sort", "colour"], capture_output=True, text=True, check=False)
    tap.judge(done.returncode == 2 and "no column 'colour'" in done.stderr, "an unknown column is wrong usage", done.stderr)


def check_gone(tap, folder, command, world):
    terminal = Terminal(folder, command)
    terminal.until("[machines]")
    world.terminate()
    world.wait(30)
    shown = terminal.until("NOT CURRENT")
    tap.judge("NOT CURRENT" in shown and len(rows(shown)) > 0, "without a daemon the last answer stays, marked", shown)
    terminal.press("q")
    terminal.ended()
    terminal.close()


def check_all(tap, folder, command, world):
    sock = f"{folder}/sock"
    terminal = Terminal(folder, command)
    jobs = check_lists(tap, terminal, sock)
    check_sort(tap, terminal, jobs)
    check_filter(tap, terminal, jobs)
    check_details(tap, terminal, jobs)
    check_resize(tap, terminal)
    check_end(tap, terminal)
    check_colours(tap, folder, command)
    check_plain(tap, command)
    check_gone(tap, folder, command, world)


def listens(path):
    """A socket is there a moment before anybody listens."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


def main():
    stint, program = (os.path.abspath(path) for path in sys.argv[1:3])
    if shutil.which("tmux") is None:
        print("1..0 # SKIP there is no tmux")
        return 0
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        sock = f"{folder}/sock"
        world = subprocess.Popen([program, sock, str(MACHINES), str(JOBS)], stdout=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while not listens(sock) and time.monotonic() < end:
            time.sleep(0.05)
        try:
            check_all(tap, folder, [stint, "top", "--socket", sock], world)
        finally:
            world.terminate()
            world.wait(30)
            for terminal in Terminal.opened:
                terminal.close()
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
