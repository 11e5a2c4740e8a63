#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""notify.py STINT - `stint notify` between a mock of stintd and a webhook of our own; in TAP."""
import http.server
import json
import os
import queue
import socketserver
import subprocess
import sys
import tempfile
import threading
import time

SECRET = "T000-B000-very-secret"
LOW = {"severity": "warning", "kind": "budget-low", "subject": "month", "text": "85 % of the budget <$4,000> is spent",
       "advice": "raise limits.budget"}
DOWN = {"severity": "error", "kind": "link-down", "subject": "slurm\u202e\x1b[2J", "text": "no answer", "advice": "look at slurmctld"}
NOTE = {"severity": "note", "kind": "remark", "subject": "x", "text": "nothing", "advice": "none"}


class Daemon(http.server.BaseHTTPRequestHandler):
    findings = []

    def do_GET(self):
        body = {"findings": self.findings} if self.path == "/v1/doctor" else {"cluster": "lab"}
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def address_string(self):
        return "unix"

    def log_message(self, *_):
        pass


class Socket(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True

    def get_request(self):
        request, _ = super().get_request()
        return request, ("unix", 0)


class Hook(http.server.BaseHTTPRequestHandler):
    heard = queue.Queue()
    statuses = []  # of the next answers; then 200

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = self.statuses.pop(0) if self.statuses else 200
        self.heard.put((status, self.path, self.headers["Content-Type"], json.loads(body)))
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def judge(self, good, sentence, why=""):
        self.count += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.count} - {sentence}", flush=True)
        if not good:
            print(f"# {why}", flush=True)


def next_message():
    try:
        return Hook.heard.get(timeout=60)
    except queue.Empty:
        return (0, "", "", {})


def check_watch(tap, command):
    """New, over, and nothing twice."""
    Daemon.findings = [LOW, NOTE]
    process = subprocess.Popen([*command, "--every", "1"], stderr=subprocess.PIPE, text=True)
    status, path, kind, body = next_message()
    tap.judge(status == 200 and kind == "application/json" and path == f"/{SECRET}" and
              body == {"event": "new", "cluster": "lab", **LOW}, "a finding is posted when it appears", body)
    Daemon.findings = [LOW, DOWN]
    body = next_message()[3]
    tap.judge(body.get("kind") == "link-down" and body["event"] == "new", "the next one too, and the first not again", body)
    tap.judge(all(c not in body.get("subject", "\x1b") for c in "\u202e\x1b"), "names are clean text", body)
    Daemon.findings = [DOWN]
    body = next_message()[3]
    tap.judge(body.get("kind") == "budget-low" and body["event"] == "over", "what is over is posted as over", body)
    Hook.statuses[:] = [500, 429]
    Daemon.findings = [DOWN, LOW]
    statuses = [next_message()[0] for _ in range(3)]
    tap.judge(statuses == [500, 429, 200], "what the receiver cannot take now is tried again", statuses)
    time.sleep(2.5)
    tap.judge(Hook.heard.empty(), "and not after it was taken")
    process.terminate()
    said = process.communicate(timeout=60)[1]
    tap.judge(process.returncode == 0 and said == "", "it ends when it is told to, and had nothing to complain of", said)


def check_once(tap, command):
    Daemon.findings = [LOW]
    done = subprocess.run([*command, "--once", "--format", "slack"], capture_output=True, text=True, check=False)
    body = next_message()[3]
    tap.judge(done.returncode == 0 and body == {"text": "lab: warning budget-low (month): 85 % of the budget &lt;$4,000&gt; is "
                                                "spent. raise limits.budget"}, "Slack gets a text, with its characters escaped", body)
    Hook.statuses[:] = [403]
    done = subprocess.run([*command, "--once"], capture_output=True, text=True, check=False)
    next_message()
    tap.judge(done.returncode == 1 and "HTTP status 403" in done.stderr and SECRET not in done.stderr and Hook.heard.empty(),
              "a refusal is not tried again, and the address is not in the message", done.stderr)
    Hook.statuses[:] = [302]
    done = subprocess.run([*command, "--once"], capture_output=True, text=True, check=False)
    paths = {next_message()[1] for _ in range(2)}
    tap.judge(done.returncode == 0 and paths == {f"/{SECRET}"}, "no redirect is followed", paths)
    done = subprocess.run([*command, "--once", "--severity", "error"], capture_output=True, text=True, check=False)
    tap.judge(done.returncode == 0 and Hook.heard.empty(), "what is below the severity is not posted")


def check_usage(tap, stint, folder, sock):
    for name, text, mode, expected in (("open", "https://example.com/x", 0o644, "chmod 600"),
                                       ("clear", "http://example.com/x", 0o600, "others could read along"),
                                       ("empty", "", 0o600, "no address")):
        with open(f"{folder}/{name}", "w", encoding="ascii") as file:
            file.write(text)
        os.chmod(f"{folder}/{name}", mode)
        done = subprocess.run([stint, "notify", "--socket", sock, "--once", "--webhook-file", f"{folder}/{name}"],
                              capture_output=True, text=True, check=False)
        tap.judge(done.returncode == 1 and expected in done.stderr and "example.com" not in done.stderr,
                  f"a webhook file is refused: {expected}", done.stderr)
    done = subprocess.run([stint, "notify"], capture_output=True, text=True, check=False)
    tap.judge(done.returncode == 2 and "--webhook-file" in done.stderr, "without a webhook it is wrong usage", done.stderr)


def main():
    stint = os.path.abspath(sys.argv[1])
    tap = Tap()
    with tempfile.TemporaryDirectory() as folder:
        sock = f"{folder}/sock"
        daemon = Socket(sock, Daemon)
        hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        for server in (daemon, hook):
            threading.Thread(target=server.serve_forever, daemon=True).start()
        with open(f"{folder}/hook", "w", encoding="ascii") as file:
            file.write(f"http://127.0.0.1:{hook.server_port}/{SECRET}\n")
        os.chmod(f"{folder}/hook", 0o600)
        command = [stint, "notify", "--socket", sock, "--webhook-file", f"{folder}/hook"]
        check_watch(tap, command)
        check_once(tap, command)
        check_usage(tap, stint, folder, sock)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
