#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""imds_stand_in - a stand-in for the instance metadata service (IMDSv2). It is not AWS; it is for tests.

    imds_stand_in.py [--address A] [--port N] [--control-port N] [--config JSON | --by-address FOLDER]

As AWS documents it: PUT /latest/api/token with X-aws-ec2-metadata-token-ttl-seconds (1 to 21600) gives a
token; every GET needs it, 401 without or after its time. What is not there answers 404: so do
spot/instance-action and events/recommendations/rebalance until there is a notice. The same port also
stands in for the credentials endpoint of a container: GET /container/credentials, which needs the
Authorization header of the setting container_token and no metadata token. Once ready it prints "ready
PORT CONTROL_PORT". With --by-address it serves many instances: each has its settings, JSON, in the file of
FOLDER that is named like its address, and they are read again when the file changes.

Control port, JSON over HTTP (GET /config shows, POST /config changes; null takes away):

    instance_id, instance_type, zone, life_cycle
    launch_index               ami-launch-index; null: this service does not know it
    role, credentials {access, secret, session_token, expires_s}     of the instance
    container {access, secret, session_token, expires_s}, container_token
    action {action, in_s}      spot/instance-action: terminate in so many seconds
    rebalance                  true: there is a recommendation, of now
    tags                       {KEY: VALUE}, under tags/instance; null: tags are not allowed there, as
                               without InstanceMetadataTags=enabled
    user_data
    forbidden                  true: answers 403 to all, as a service that is turned off
    fail_share_of_8            n of 8 requests are answered with 503
    GET /counters              requests by path
"""
import argparse
import http.server
import json
import os
import signal
import sys
import threading
import time
import uuid

TTL = "X-aws-ec2-metadata-token-ttl-seconds"
TOKEN = "X-aws-ec2-metadata-token"
TTL_MOST = 21600
BASE = "/latest/meta-data/"
DEFAULTS = {
    "instance_id": "i-0123456789abcdef0",
    "instance_type": "m5.large",
    "zone": "us-east-1a",
    "life_cycle": "spot",
    "launch_index": 0,
    "role": "stand-in-role",
    "credentials": None,
    "container": None,
    "container_token": None,
    "action": None,
    "rebalance": False,
    "tags": None,
    "user_data": None,
    "forbidden": False,
    "fail_share_of_8": 0,
}


def stamp(seconds):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


class Metadata:
    def __init__(self):
        self.lock = threading.Lock()
        self.config = dict(DEFAULTS)
        self.since = {}  # when a setting was set, for what counts from there
        self.tokens = {}
        self.counters = {}
        self.asked = 0

    def set(self, changes):
        unknown = set(changes) - set(DEFAULTS)
        if unknown:
            raise ValueError(f"no such setting: {', '.join(sorted(unknown))}")
        with self.lock:
            self.config = {**self.config, **changes}
            self.since.update({key: time.time() for key in changes})

    def count(self, path):
        with self.lock:
            self.counters[path] = self.counters.get(path, 0) + 1
            self.asked += 1
            return self.asked

    def new_token(self, seconds):
        token = uuid.uuid4().hex + "=="
        with self.lock:
            self.tokens[token] = time.monotonic() + seconds
        return token

    def is_token(self, token):
        with self.lock:
            return token in self.tokens and time.monotonic() < self.tokens[token]

    def credentials(self, name):
        """The document of an instance's or a container's keys, or None."""
        keys = self.config[name]
        if keys is None:
            return None
        document = {"AccessKeyId": keys["access"], "SecretAccessKey": keys["secret"],
                    "Token": keys.get("session_token", ""),
                    "Expiration": stamp(time.time() + keys.get("expires_s", 6 * 3600))}
        if name == "credentials":
            document.update({"Code": "Success", "Type": "AWS-HMAC", "LastUpdated": stamp(time.time())})
        else:
            document["RoleArn"] = "arn:aws:iam::123456789012:role/" + self.config["role"]
        return json.dumps(document)

    def get(self, path):
        """The text at a path below meta-data, or None."""
        config = self.config
        plain = {"instance-id": config["instance_id"], "instance-type": config["instance_type"],
                 "instance-life-cycle": config["life_cycle"],
                 "placement/availability-zone": config["zone"],
                 "placement/region": config["zone"][:-1]}
        if path in plain:
            return plain[path]
        if path == "ami-launch-index":
            return None if config["launch_index"] is None else str(config["launch_index"])
        if path.startswith("iam/security-credentials") and config["credentials"]:
            name = path.removeprefix("iam/security-credentials").strip("/")
            if not name:
                return config["role"]
            return self.credentials("credentials") if name == config["role"] else None
        if path.startswith("tags/instance"):
            if config["tags"] is None:
                return None
            name = path.removeprefix("tags/instance").strip("/")
            return config["tags"].get(name) if name else "\n".join(config["tags"])
        if path == "spot/instance-action" and config["action"]:
            action = config["action"]
            return json.dumps({"action": action["action"],
                               "time": stamp(self.since["action"] + action["in_s"])})
        if path == "spot/termination-time" and config["action"]:
            return stamp(self.since["action"] + config["action"]["in_s"])
        if path == "events/recommendations/rebalance" and config["rebalance"]:
            return json.dumps({"noticeTime": stamp(self.since["rebalance"])})
        return None


class Instances:
    """The metadata of each instance, found by the address that asks."""

    def __init__(self, folder):
        self.lock = threading.Lock()
        self.folder = folder
        self.known = {}  # address: (metadata, when its file was written)

    def of(self, address):
        path = f"{self.folder}/{address}"
        with self.lock:
            metadata, written = self.known.get(address, (Metadata(), None))
            if os.path.exists(path) and os.stat(path).st_mtime_ns != written:
                with open(path, encoding="utf-8") as file:
                    written = os.fstat(file.fileno()).st_mtime_ns
                    settings = json.load(file)
                metadata.set({key: value for key, value in settings.items() if metadata.config[key] != value})
            self.known[address] = metadata, written
        return metadata


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "EC2ws"

    def log_message(self, *_):
        pass

    def answer(self, status, text="", kind="text/plain", **headers):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)


class Service(Handler):
    @property
    def metadata(self):
        instances = self.server.instances
        return instances.of(self.client_address[0]) if instances else self.server.metadata

    def read_body(self):
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def is_failing(self):
        metadata = self.metadata
        asked = metadata.count(self.path)
        if metadata.config["forbidden"]:
            self.answer(403)
            return True
        if asked % 8 < metadata.config["fail_share_of_8"]:
            self.answer(503)
            return True
        return False

    def do_PUT(self):
        self.read_body()
        if self.is_failing():
            return
        seconds = self.headers.get(TTL, "")
        if self.path != "/latest/api/token":
            self.answer(404)
        elif "X-Forwarded-For" in self.headers:
            self.answer(403)
        elif not seconds.isdigit() or not 1 <= int(seconds) <= TTL_MOST:
            self.answer(400)
        else:
            self.answer(200, self.metadata.new_token(int(seconds)),
                        **{TTL.replace("-", "_"): seconds})

    def do_GET(self):
        if self.is_failing():
            return
        metadata = self.metadata
        if self.path == "/container/credentials":
            self.container()
            return
        if not metadata.is_token(self.headers.get(TOKEN, "")):
            self.answer(401)
            return
        if self.path == "/latest/user-data":
            found = metadata.config["user_data"]
        elif self.path == "/latest/dynamic/instance-identity/document":
            config = metadata.config
            found = json.dumps({"instanceId": config["instance_id"], "region": config["zone"][:-1],
                                "availabilityZone": config["zone"],
                                "instanceType": config["instance_type"], "accountId": "123456789012"})
        elif self.path.startswith(BASE):
            found = metadata.get(self.path[len(BASE):].rstrip("/"))
        else:
            found = None
        self.answer(404 if found is None else 200, found or "")

    def container(self):
        metadata = self.metadata
        wanted = metadata.config["container_token"]
        if wanted is not None and self.headers.get("Authorization") != wanted:
            self.answer(401)
            return
        found = metadata.credentials("container")
        self.answer(404 if found is None else 200, found or "", "application/json")


class Control(Handler):
    def do_GET(self):
        metadata = self.server.metadata
        found = {"/config": metadata.config, "/counters": metadata.counters}.get(self.path)
        self.answer(404 if found is None else 200, json.dumps(found), "application/json")

    def do_POST(self):
        try:
            changes = json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)))
            self.server.metadata.set(changes)
            self.answer(200, "{}", "application/json")
        except ValueError as error:
            self.answer(400, json.dumps({"error": str(error)}), "application/json")


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, address, handler, metadata, instances=None):
        super().__init__(address, handler)
        self.metadata = metadata
        self.instances = instances

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser(description="a stand-in for the instance metadata service")
    parser.add_argument("--address", default="127.0.0.1", help="such as 169.254.169.254 in a namespace")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--control-port", type=int, default=0)
    parser.add_argument("--config", default="{}", help="settings, JSON")
    parser.add_argument("--by-address", metavar="FOLDER", help="the settings of each instance")
    options = parser.parse_args()
    metadata = Metadata()
    metadata.set(json.loads(options.config))
    service = Server((options.address, options.port), Service, metadata,
                     Instances(options.by_address) if options.by_address else None)
    control = Server(("127.0.0.1", options.control_port), Control, metadata)
    threading.Thread(target=control.serve_forever, daemon=True).start()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    print("ready", service.server_address[1], control.server_address[1], flush=True)
    service.serve_forever()


if __name__ == "__main__":
    main()
