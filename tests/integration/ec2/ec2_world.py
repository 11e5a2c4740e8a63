# SPDX-License-Identifier: Apache-2.0
"""ec2_world - what happened behind the stand-in of the EC2 API: a test's truth.

The record is a file of JSON lines that only grows. Each has "event" and "at" (ms since 1970):

    launch     id, type, zone, market, region, token, tags, launch_time (as the API tells it), price,
               index (of the instance among those of one request), asked_zone (null: EC2 chose), account
    terminate  id, type, zone, market, by (client, spot, console), reason; the API tells this "at" in
               whole seconds as the end of an instance, unless the spot market took it: then no time
    notice     id, until (ms), kind (interruption, rebalance)
    ask        action, type, zone (of a fleet null), market, token: a launch came in
    answer     likewise: its answer went out
    refuse     action, type, zone, market, code, token: a launch got nothing for want of capacity; of a
               fleet: for whatever is in its errorSet
    throttle   action, and of a launch type, zone, market
    cut        action, when, and of a launch type, zone, market
    replay     action, token: the first answer was given again
    mismatch   action, token
    lie, truth of lies that begin and end (ec2_lies.py)

A hook is a command that runs once for each launch, notice and terminate, with that line on its
standard input (a launch also has user_data and private_ip) and the event as its argument. Those of one
instance run one after the other, those of different instances side by side.
"""
import json
import queue
import subprocess
import sys
import threading
import time
import uuid
import zlib

ACCOUNT = "123456789012"  # unless a key has another one
HOOK_WORKERS = 8
HOOKED = ("launch", "notice", "terminate")


def now_ms():
    return time.time_ns() // 1_000_000


class World:
    def __init__(self, path=None, hook=None):
        self.lock = threading.Lock()
        self.lines = []
        self.counters = {}
        self.instances = {}
        self.file = open(path, "a", encoding="utf-8") if path else None
        self.hook = hook
        self.hooks = [queue.Queue() for _ in range(HOOK_WORKERS if hook else 0)]
        for todo in self.hooks:
            threading.Thread(target=self.run_hooks, args=(todo,), daemon=True).start()

    def count(self, name, more=1):
        with self.lock:
            self.counters[name] = self.counters.get(name, 0) + more

    def note(self, event, private=None, at=None, **fields):
        line = {"event": event, "at": now_ms() if at is None else at, **fields}
        with self.lock:
            self.lines.append(line)
            self.counters[event] = self.counters.get(event, 0) + 1
            if self.file:
                self.file.write(json.dumps(line) + "\n")
                self.file.flush()
        if self.hook and event in HOOKED:
            place = zlib.crc32(fields["id"].encode()) % len(self.hooks)
            self.hooks[place].put({**line, **(private or {})})
        return line

    def run_hooks(self, todo):
        while True:
            line = todo.get()
            done = subprocess.run([*self.hook, line["event"]], input=json.dumps(line), text=True,
                                  check=False)
            if done.returncode != 0:
                print(f"ec2 stand-in: hook {line['event']} of {line['id']} ended with "
                      f"{done.returncode}", file=sys.stderr, flush=True)
                self.count("hook_failed")

    def launched(self, instance, private):
        """'instance': a dict with id, type, zone, market, region, token, tags, vcpus, ..."""
        at = now_ms()
        with self.lock:
            self.instances[instance["id"]] = {**instance, "since": at, "ended": None, "notice": None,
                                              "code": ""}
        self.note("launch", private, at=at, **instance)

    def terminated(self, name, by, code="", reason=""):
        """Whether it lived till now."""
        at = now_ms()
        with self.lock:
            instance = self.instances.get(name)
            if instance is None or instance["ended"] is not None:
                return False
            instance.update(ended=at, code=code)
        self.note("terminate", at=at, id=name, by=by, reason=reason or code,
                  **{key: instance[key] for key in ("type", "zone", "market", "region", "tags", "index")})
        return True

    def forget(self):
        with self.lock:
            self.instances.clear()

    def living(self):
        with self.lock:
            return [dict(instance) for instance in self.instances.values()
                    if instance["ended"] is None]

    def find(self, name):
        with self.lock:
            found = self.instances.get(name)
            return dict(found) if found else None

    def mark(self, name, **fields):
        with self.lock:
            self.instances[name].update(fields)


def event_json(instance, kind, **detail):
    """A message as EventBridge puts it into a queue."""
    return json.dumps({
        "version": "0", "id": str(uuid.uuid4()), "detail-type": kind, "source": "aws.ec2",
        "account": instance.get("account", ACCOUNT), "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "region": instance["region"],
        "resources": [f"arn:aws:ec2:{instance['zone']}:instance/{instance['id']}"],
        "detail": {"instance-id": instance["id"], **detail}})
