#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""mock_stintd.py SOCKET [hostile] - a mock: answers on a Unix socket as docs/reference/api.md says.

It is no daemon: it decides nothing and knows nothing. Each GET is answered with the example that
the specification has below the heading of that path, so that the verbs are tried against what is
specified and not against what somebody remembered. What it is asked to do it prints, one line each.

With `hostile` every text of an answer begins with a formula and holds characters that a terminal obeys:
what a user could have called a job.
"""
import json
import os
import re
import socketserver
import sys
from http.server import BaseHTTPRequestHandler

REFERENCE = os.path.join(os.path.dirname(__file__), "..", "docs", "reference")
PAGES = ("api.md", "api-state.md", "api-decisions.md", "api-spending.md")


def examples():
    """From a path to its examples, in the order of the specification."""
    found = {}
    for page in PAGES:
        with open(os.path.join(REFERENCE, page), encoding="utf-8") as text:
            for part in re.split(r"^## ", text.read(), flags=re.MULTILINE)[1:]:
                heading = re.match(r"GET (/\S+)", part)
                blocks = re.findall(r"```json\n(.*?)```", part, flags=re.DOTALL)
                if heading and blocks:
                    found[heading[1]] = [json.loads(block) for block in blocks]
    return found


HOSTILE = "=1+1|\u202e\u2066\u200f\u061c\u2028\x1b[2J\x9b\x07\x85"


def made_hostile(value):
    """The same answer, with HOSTILE in front of every text."""
    if isinstance(value, dict):
        return {key: made_hostile(one) for key, one in value.items()}
    if isinstance(value, list):
        return [made_hostile(one) for one in value]
    return HOSTILE + value if isinstance(value, str) else value


class Answer(BaseHTTPRequestHandler):
    known = examples()
    is_hostile = False

    def reply(self, status, body):
        data = json.dumps(made_hostile(body) if self.is_hostile else body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        print("GET", self.path, flush=True)
        path, _, query = self.path.partition("?")
        if path == "/v1/explain":
            if query not in ("job=12_3", "instance=st-17"):
                self.reply(404, {"error": "there is no such job or instance"})
                return
            self.reply(200, self.known[path][0 if query.startswith("job") else 1])
        elif path in self.known:
            self.reply(200, self.known[path][0])
        else:
            self.reply(404, {"error": f"there is no {path}"})

    def do_POST(self):
        print("POST", self.path, flush=True)
        if self.path in ("/v1/proposals/31/approve", "/v1/proposals/all/reject"):
            self.reply(200, {"changed": 1})
        elif self.path == "/v1/drain":
            self.reply(200, {"draining": True})
        elif self.path == "/v1/drain?off=1":
            self.reply(200, {"draining": False})
        elif self.path == "/v1/reload":
            self.reply(409, {"error": "line 3: 'mode' must be shadow, advise or act, not 'atc'"})
        else:
            self.reply(404, {"error": "there is no such proposal (any more)"})

    def address_string(self):
        return "unix"

    def log_message(self, *_):
        pass


class Server(socketserver.UnixStreamServer):
    def get_request(self):
        request, _ = super().get_request()
        return request, ("unix", 0)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    Answer.is_hostile = sys.argv[2:] == ["hostile"]
    with Server(sys.argv[1], Answer) as server:
        server.serve_forever()
