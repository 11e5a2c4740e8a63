#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""short_lists.py STINT_KUBERNETES - a list that lacks what is there gives up no machine, nor does a refusal; and node classes that have changed. TAP.

The API server is a mock that answers watches, and requests for one object, by what the test says; stint-kubernetes is the real one.
"""
import http.server
import json
import os
import select
import shutil
import ssl
import subprocess
import sys
import tempfile
import threading
import time

CLAIMS, NODES = "/apis/karpenter.sh/v1/nodeclaims", "/api/v1/nodes"
CLASS, HASH = "/apis/a.b/v1beta1/cnodeclasses/d", "a.b/cnodeclass-hash"
GONE = {"type": "ERROR", "object": {"kind": "Status", "metadata": {}, "code": 410, "reason": "Expired"}}
WAIT_S = 20


def claim(number, has_machine=True):
    return {"metadata": {"name": f"st-{number}", "resourceVersion": "7", "annotations": {"stint.dev/offer": "m5.large/z/on-demand"}},
            "status": {"providerID": f"kwok://{number}"} if has_machine else {}}


def stamped(number, value):
    """A claim that was made when the hash of its node class was this."""
    one = claim(number)
    one["metadata"]["annotations"].update({HASH: value, f"{HASH}-version": "v1"})
    return one


def node(number):
    return {"metadata": {"name": f"n{number}", "resourceVersion": "7",
                         "labels": {"stint.dev/slot": f"st-{number}", "karpenter.sh/initialized": "true"}},
            "spec": {}, "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
                                   "conditions": [{"type": "Ready", "status": "True"}]}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def chunk(self, *events):
        text = "".join(json.dumps(event) + "\n" for event in events).encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(text), text))
        self.wfile.flush()

    def do_GET(self):
        path, _, query = self.path.partition("?")
        if "watch=1" in query:
            self.watch(path if "labelSelector=%21" not in query and "stint.dev%2F" in query else None)
            return
        with self.server.changed:
            self.server.asked.append(path)
            found, secret = self.server.there.get(path), self.server.secret
        if secret:
            self.answer(403, {"kind": "Status", "message": "forbidden"})
            return
        self.answer(200 if found else 404, found or {"kind": "Status", "message": "not found"})

    def do_POST(self):
        self.answer(201, {})

    def do_PATCH(self):
        with self.server.changed:
            self.server.asked.append(f"PATCH {self.path}")
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.answer(200, {})

    def watch(self, path):
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        with self.server.changed:
            at, listed = self.server.turn, self.server.listed.get(path, [])
        self.chunk(*[{"type": "ADDED", "object": one} for one in listed],
                   {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9",
                                                                "annotations": {"k8s.io/initial-events-end": "true"}}}})
        with self.server.changed:
            self.server.changed.wait_for(lambda: self.server.turn != at)
        self.chunk(GONE)
        self.wfile.write(b"0\r\n\r\n")

    def do_DELETE(self):
        with self.server.changed:
            self.server.asked.append(f"DELETE {self.path}")
            refused = self.server.refused
        self.answer(403 if refused else 200, {"kind": "Status", "message": "forbidden"} if refused else {})


class Mock(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, folder):
        super().__init__(("127.0.0.1", 0), Handler)
        self.changed, self.turn, self.listed, self.there, self.asked = threading.Condition(), 0, {}, {}, []
        self.node_class = {"kind": "CNodeClass", "metadata": {"name": "d", "annotations": {HASH: "2", f"{HASH}-version": "v1"}}}
        self.refused = False  # whether nothing may be deleted
        self.secret = False  # whether no object may be read by its name
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=mock", "-keyout", f"{folder}/key", "-out", f"{folder}/crt"], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/crt", f"{folder}/key")
        self.socket = context.wrap_socket(self.socket, server_side=True)
        self.config = f"{folder}/kubeconfig"
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({"apiVersion": "v1", "kind": "Config", "current-context": "c",
                       "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
                       "clusters": [{"name": "c", "cluster": {"server": f"https://127.0.0.1:{self.server_address[1]}",
                                                              "insecure-skip-tls-verify": True}}],
                       "users": [{"name": "u", "user": {"token": "t"}}]}, file)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def handle_error(self, *_):
        pass  # the program was ended in the middle of a watch

    def has(self, path, listed, there):
        """What a list says, and what is there; what was read before is too old."""
        with self.changed:
            self.listed[path] = listed
            self.there = {f"{path}/{one['metadata']['name']}": one for one in there} | {CLASS: self.node_class}
            self.turn += 1
            self.changed.notify_all()


class Program:
    def __init__(self, path, role, mock, *more):
        self.child = subprocess.Popen([path, role, "--kubeconfig", mock.config, *more], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lines, self.rest = [], b""

    def say(self, line):
        self.child.stdin.write(f"{line}\n".encode())
        self.child.stdin.flush()

    def hear(self, *words, seconds=WAIT_S):
        """The next line with all these words; None: it has not come in time. What comes before is left out."""
        limit = time.monotonic() + seconds
        while True:
            while self.lines:
                line = self.lines.pop(0)
                if all(word in line.split() for word in words):
                    return line
            if not select.select([self.child.stdout], [], [], max(0, limit - time.monotonic()))[0]:
                return None
            more = os.read(self.child.stdout.fileno(), 65536)
            assert more, "it has ended"
            *whole, self.rest = (self.rest + more).split(b"\n")
            self.lines += [line.decode() for line in whole]

    def end(self):
        self.child.stdin.close()
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()


def cloud(path, mock):
    program = Program(path, "cloud", mock, "--node-class", "a.b/CNodeClass/d")
    program.say("hello protocol=1 cluster=lab")
    return program


def claims_stay(path, mock):
    mock.has(CLAIMS, [claim(1), claim(2)], [claim(1), claim(2)])
    program = cloud(path, mock)
    try:
        assert program.hear("running", "id=1") and program.hear("running", "id=2")
        mock.has(CLAIMS, [], [claim(2)])
        line = program.hear("gone")
        assert line and "id=1" in line.split(), line
        line = program.hear("gone", seconds=2)
        assert line is None, line
        program.say("list key=9")
        assert program.hear("found", "id=2") and program.hear("listed", "key=9", "count=1")
    finally:
        program.end()


def claims_come_back(path, mock):
    """The first list lacked it, so the daemon gave it back in vain."""
    mock.has(CLAIMS, [], [claim(3)])
    program = cloud(path, mock)
    try:
        program.say("list key=8")
        assert program.hear("listed", "key=8", "count=0")
        program.say("give-back key=3")
        assert program.hear("gone", "id=3")
        mock.has(CLAIMS, [claim(3)], [claim(3)])
        assert program.hear("running", "id=3"), "it is not said to be there"
        program.say("list key=9")
        assert program.hear("found", "id=3", "name=st-3", "offer=m5.large/z/on-demand"), "it is not found"
        program.say("give-back key=3")
        limit = time.monotonic() + WAIT_S
        while f"DELETE {CLAIMS}/st-3" not in mock.asked:
            assert time.monotonic() < limit, mock.asked
            time.sleep(0.05)
    finally:
        program.end()


def claims_get_their_machine_first(path, mock):
    """Karpenter may leave the machine of a claim that is deleted while it is launched."""
    launching = claim(4, has_machine=False)
    mock.has(CLAIMS, [launching], [launching])
    program = cloud(path, mock)
    try:
        program.say("list key=8")
        assert program.hear("found", "id=4", "state=booting")
        program.say("give-back key=4")
        program.say("list key=9")
        assert program.hear("found", "id=4", "state=leaving")
        time.sleep(2)
        assert f"DELETE {CLAIMS}/st-4" not in mock.asked, "it is deleted while it is launched"
        mock.has(CLAIMS, [claim(4)], [claim(4)])
        limit = time.monotonic() + WAIT_S
        while f"DELETE {CLAIMS}/st-4" not in mock.asked:
            assert time.monotonic() < limit, "it is not deleted when it has its machine"
            time.sleep(0.05)
    finally:
        program.end()


def claims_are_asked_for_slowly(path, mock):
    mock.refused = True
    mock.has(CLAIMS, [claim(1)], [claim(1)])
    program = cloud(path, mock)
    try:
        assert program.hear("running", "id=1")
        program.say("give-back key=1")
        assert program.hear("error"), "nobody hears why"
        time.sleep(2)
        asked = mock.asked.count(f"DELETE {CLAIMS}/st-1")
        assert asked == 1, f"{asked} requests in two seconds"
        mock.refused = False
        line = program.hear("error", seconds=1)
        assert line is None, line
        limit = time.monotonic() + WAIT_S
        while mock.asked.count(f"DELETE {CLAIMS}/st-1") < 2:
            assert time.monotonic() < limit, "it is not tried again"
            time.sleep(0.05)
    finally:
        program.end()


def claims_are_outdated(path, mock):
    mock.has(CLAIMS, [stamped(1, "1"), stamped(2, "2")], [])
    program = cloud(path, mock)
    try:
        line = program.hear("outdated")
        assert line == "outdated id=1 why=settings", line
        assert CLASS.replace("v1beta1", "v1") in mock.asked, mock.asked
        program.say("list key=9")
        assert program.hear("found", "id=1")
        assert program.hear("outdated", "id=1", "why=settings"), "it is not repeated"
        assert program.hear("found", "id=2") and program.hear("listed", "count=2")
    finally:
        program.end()


def classes_that_may_not_be_read_are_said(path, mock):
    mock.secret = True
    mock.has(CLAIMS, [stamped(1, "1")], [])
    program = cloud(path, mock)
    try:
        line = program.hear("error")
        assert line and "cnodeclasses" in line and "get" in line, line
        program.say("list key=9")
        assert program.hear("found", "id=1")
        line = program.hear("outdated", seconds=1)
        assert line is None, line
    finally:
        program.end()


def pods_were_disrupted(path, mock):
    mock.has(NODES, [node(1)], [node(1)])
    program = Program(path, "engine", mock)
    program.say("hello protocol=1")
    try:
        assert program.hear("synced", "what=nodes")
        program.say("delete key=5 space=work name=p uid=u")
        assert program.hear("done", "key=5")
        pod = "/api/v1/namespaces/work/pods/p"
        wrote = [one for one in mock.asked if pod in one]
        assert wrote == [f"PATCH {pod}/status", f"DELETE {pod}"], wrote
    finally:
        program.end()


def nodes_that_may_not_be_read_stay(path, mock):
    mock.has(NODES, [node(1)], [node(1)])
    program = Program(path, "engine", mock)
    program.say("hello protocol=1")
    try:
        assert program.hear("synced", "what=nodes")
        mock.secret = True
        mock.has(NODES, [], [])
        assert program.hear("synced", "what=nodes")
        line = program.hear("node", "state=gone", seconds=3)
        assert line is None, line
        mock.secret = False
        mock.has(NODES, [], [])
        line = program.hear("node", "state=gone")
        assert line and "name=n1" in line.split(), line
    finally:
        program.end()


def nodes_stay(path, mock):
    mock.has(NODES, [node(1), node(2)], [node(1), node(2)])
    program = Program(path, "engine", mock)
    program.say("hello protocol=1")
    try:
        assert program.hear("synced", "what=nodes")
        mock.has(NODES, [], [node(2)])
        assert program.hear("sync", "what=nodes")
        told = {line for line in (program.hear("node"), program.hear("node")) if line and "state=up" in line.split()}
        assert len(told) == 2, told  # both, before the list is whole
        assert program.hear("synced", "what=nodes")
        line = program.hear("node", "state=gone")
        assert line and "name=n1" in line.split(), line
        line = program.hear("node", "state=gone", seconds=2)
        assert line is None, line
    finally:
        program.end()


POINTS = [
    ("a claim that a list lacks is gone only if it is not there", claims_stay),
    ("a claim that was gone and is seen again is found, and given back", claims_come_back),
    ("a claim that is given back while it is launched is deleted when it has its machine", claims_get_their_machine_first),
    ("a claim that may not be deleted is tried again after a while, and why is said", claims_are_asked_for_slowly),
    ("a claim that was made before its node class changed is outdated, which each list repeats", claims_are_outdated),
    ("a node class that may not be read is said, and no claim is outdated", classes_that_may_not_be_read_are_said),
    ("a pod that is deleted was disrupted, which is said first", pods_were_disrupted),
    ("a node that a list lacks is gone only if it is not there", nodes_stay),
    ("a node that a list lacks and that may not be read is not gone", nodes_that_may_not_be_read_stay),
]


def main():
    if not shutil.which("openssl"):
        print("1..0 # SKIP there is no openssl")
        return 0
    print(f"1..{len(POINTS)}", flush=True)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, function) in enumerate(POINTS, 1):
            mock = Mock(folder)
            try:
                function(sys.argv[1], mock)
                print(f"ok {number} - {name}", flush=True)
            except AssertionError as fault:
                failed += 1
                print(f"not ok {number} - {name}\n# {fault}", flush=True)
            mock.shutdown()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
