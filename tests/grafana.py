#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""grafana.py PAGE_WORLD - the queries of the Grafana board, put to a real Prometheus that scrapes a made-up world; in TAP.

The world's metrics are served on a port here, as Prometheus reads no Unix socket. Without Prometheus, only the form of the
board is checked.
"""
import http.client
import http.server
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

BOARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "share", "grafana", "stint.json")
# Nothing of these is in the made-up world: it has no bound yet, no links, and nothing is wrong with it.
MAY_BE_EMPTY = {"stint_bound_dollars_per_hour", "stint_bound_gap_ratio", "stint_finding", "stint_link_up"}


class Connection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.connect(self.path)


class Metrics(http.server.BaseHTTPRequestHandler):
    path_of_world = ""

    def do_GET(self):
        connection = Connection(self.path_of_world)
        connection.request("GET", "/metrics")
        body = connection.getresponse().read()
        connection.close()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(body)

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


def check_form(tap, board):
    panels = board["panels"]
    tap.judge(len({panel["id"] for panel in panels}) == len(panels), "each panel has an id of its own")
    tap.judge(all(panel["title"] and panel["description"].endswith(".") for panel in panels), "a title and a description")
    taken = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        tap.judge(not cells & taken and at["x"] + at["w"] <= 24, f"'{panel['title']}' overlaps nothing")
        taken |= cells
    text = json.dumps(board)
    tap.judge(re.search(r"https?://", text) is None, "the board names no host")


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


def ask(port, query):
    address = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    try:
        with urllib.request.urlopen(address, timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as error:
        return json.load(error) if "json" in error.headers.get_content_type() else {"status": "not ready"}
    except OSError:
        return {"status": "no answer"}


def start_prometheus(folder, target):
    port = free_port()
    with open(f"{folder}/prometheus.yml", "w", encoding="utf-8") as file:
        file.write(f"global: {{ scrape_interval: 1s, scrape_timeout: 1s }}\nscrape_configs:\n"
                   f"  - job_name: stint\n    static_configs: [{{ targets: ['127.0.0.1:{target}'] }}]\n")
    with open(f"{folder}/said", "w", encoding="utf-8") as said:
        process = subprocess.Popen(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                                    f"--web.listen-address=127.0.0.1:{port}"], stdout=said, stderr=said)
    end = time.monotonic() + 60
    while time.monotonic() < end and process.poll() is None:
        result = ask(port, "count_over_time(stint_info[1m]) >= 3").get("data", {}).get("result")
        if result:
            return process, port
        time.sleep(0.2)
    return process, port


def check_queries(tap, board, port):
    for panel in board["panels"]:
        for target in panel["targets"]:
            query = target["expr"].replace("$instance", ".*")
            answer = ask(port, query)
            names = set(re.findall(r"stint_\w+", query))
            tap.judge(answer["status"] == "success" and (answer["data"]["result"] or names & MAY_BE_EMPTY),
                      f"'{panel['title']}': {query}", answer)
    known = ask(port, 'count by (__name__) ({__name__=~"stint_.*"})')
    seen = {row["metric"]["__name__"] for row in known.get("data", {}).get("result", [])}
    used = set(re.findall(r"stint_[a-z_]+", " ".join(t["expr"] for panel in board["panels"] for t in panel["targets"])))
    tap.judge(used <= seen | MAY_BE_EMPTY, "it asks for metrics that there are", used - seen)


def check_sources(tap):
    """What the made-up world lacks, the daemon's source has."""
    with open(os.path.join(os.path.dirname(BOARD), "..", "..", "src", "serve", "metrics.c"), encoding="utf-8") as file:
        source = file.read()
    missing = {name for name in MAY_BE_EMPTY if name not in source}
    tap.judge(not missing, "what is empty here is a metric of the daemon", missing)


def listens(path):
    """A socket is there a moment before anybody listens."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(path) == 0


def main():
    program = os.path.abspath(sys.argv[1])
    with open(BOARD, encoding="utf-8") as file:
        board = json.load(file)
    tap = Tap()
    check_form(tap, board)
    check_sources(tap)
    if shutil.which("prometheus") is not None:
        with tempfile.TemporaryDirectory() as folder:
            sock = f"{folder}/sock"
            world = subprocess.Popen([program, sock, "12", "160"])
            prometheus = None
            try:
                end = time.monotonic() + 60
                while not listens(sock) and time.monotonic() < end:
                    time.sleep(0.05)
                Metrics.path_of_world = sock
                server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Metrics)
                threading.Thread(target=server.serve_forever, daemon=True).start()
                prometheus, port = start_prometheus(folder, server.server_port)
                check_queries(tap, board, port)
            finally:
                for process in (world, prometheus):
                    if process is not None:
                        process.send_signal(signal.SIGTERM)
                        process.wait(60)
    print(f"1..{tap.count}")
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main())
