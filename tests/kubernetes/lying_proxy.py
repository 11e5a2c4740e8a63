# SPDX-License-Identifier: Apache-2.0
"""lying_proxy - stands between Stint and the API server of a kube_lab, and lies about lists on request.

It is for faults that a healthy API server does not produce when asked to: a watch that is too old in the middle of it (410 Gone), a list
that says that it is whole and lacks everything or half, and one that breaks off in the middle of a line. Everything else passes
unchanged, with the token of who asks. Only watches are lied about (Stint lists by them); single requests always get the truth.
"""
import http.client
import http.server
import json
import socket
import ssl
import threading
import urllib.parse

GONE = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": "too old resource version",
        "reason": "Expired", "code": 410}
ANSWER_S = 90
WATCH_S = 400
CUT_AFTER = 3


class Watch:
    """An open one: two threads write to it, the one that reads the server's answer and the one that lies."""

    def __init__(self, out, upstream):
        self.out, self.upstream, self.lock, self.is_over = out, upstream, threading.Lock(), False

    def write(self, line):
        with self.lock:
            if not self.is_over:
                self.out.write(b"%x\r\n%s\r\n" % (len(line), line))
                self.out.flush()

    def end(self, line=None):
        """Tidily, after the line."""
        if line:
            self.write(line)
        with self.lock:
            if not self.is_over:
                self.is_over = True
                self.out.write(b"0\r\n\r\n")
                self.out.flush()
        self.stop_reading()

    def stop_reading(self):
        try:
            self.upstream.sock.shutdown(socket.SHUT_RDWR)
        except (OSError, AttributeError):
            pass


def error_event():
    return json.dumps({"type": "ERROR", "object": GONE}).encode() + b"\n"


def is_last_bookmark(line):
    return b'"BOOKMARK"' in line and b"k8s.io/initial-events-end" in line


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def upstream(self, seconds):
        context = ssl.create_default_context(cafile=self.server.lab.path("ca.crt"))
        connection = http.client.HTTPSConnection("127.0.0.1", self.server.lab.port["api"], context=context, timeout=seconds)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)) or None
        kept = {name: value for name, value in self.headers.items()
                if name.lower() in ("authorization", "content-type", "accept", "user-agent")}
        connection.request(self.command, self.path, body, kept)
        return connection, connection.getresponse()

    def handle_any(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        try:
            if self.command == "GET" and query.get("watch"):
                self.watch("sendInitialEvents" in query)
            else:
                self.pass_on()
        except (OSError, http.client.HTTPException, ValueError):
            self.close_connection = True  # the API server is away: no answer, as from itself

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any

    def pass_on(self):
        connection, answer = self.upstream(ANSWER_S)
        text = answer.read()
        connection.close()
        self.send_response(answer.status)
        for name in ("Content-Type", "Retry-After"):
            if answer.getheader(name):
                self.send_header(name, answer.getheader(name))
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def refuse(self):
        text = json.dumps(GONE).encode()
        self.send_response(410)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def watch(self, is_list):
        lie = self.server.lie_for(is_list)
        if lie == "gone":
            self.refuse()
            return
        connection, answer = self.upstream(WATCH_S)
        if answer.status != 200:
            connection.close()
            self.close_connection = True
            return
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        watch = Watch(self.wfile, connection)
        self.server.open_watches.add(watch)
        try:
            self.relay(watch, answer, lie)
        finally:
            self.server.open_watches.discard(watch)
            connection.close()

    def relay(self, watch, answer, lie):
        count = 0
        while not watch.is_over:
            line = answer.readline()
            if not line:
                watch.end()
                return
            if is_last_bookmark(line):
                lie = None  # what follows is true, as it is with a server whose cache was behind
            elif lie:
                count += 1
                if lie == "cut" and count > CUT_AFTER:
                    watch.write(line[:len(line) // 2])
                    watch.is_over = True
                    watch.stop_reading()
                    raise OSError("cut")
                if lie == "empty" or (lie == "short" and count % 2):
                    continue
            watch.write(line)


class LyingProxy(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, lab):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lab, self.open_watches, self.lists, self.goes_on = lab, set(), None, 0
        self.told = {"gone": 0, "empty": 0, "short": 0, "cut": 0}
        self.guard = threading.Lock()
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(lab.path("api.crt"), lab.path("api.key"))
        self.context = context
        self.url = f"https://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def finish_request(self, request, client_address):  # in the thread of the connection: a slow handshake holds up nobody
        request.settimeout(WATCH_S)
        super().finish_request(self.context.wrap_socket(request, server_side=True), client_address)

    def handle_error(self, request, client_address):
        pass  # somebody was killed in the middle of a request

    def lie_for(self, is_list):
        with self.guard:
            if is_list:
                lie = self.lists
            else:
                lie = "gone" if self.goes_on > 0 else None
                self.goes_on -= lie is not None
            if lie:
                self.told[lie] += 1
            return lie

    def expire(self):
        """Every open watch is too old, in the middle of it; so is the next one that goes on from a version."""
        with self.guard:
            self.goes_on += 1
        for watch in list(self.open_watches):
            try:
                watch.end(error_event())
                self.told["gone"] += 1
            except (OSError, ValueError):
                pass

    def lie(self, how):
        """Whoever lists from now on gets this: empty, short (every second object is left out) or cut; None: the truth again. What was
        read until now is too old, so everybody lists."""
        self.lists = how
        self.expire()
