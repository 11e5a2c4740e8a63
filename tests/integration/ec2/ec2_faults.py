# SPDX-License-Identifier: Apache-2.0
"""ec2_faults - what the stand-in of the EC2 API does wrong, and when.

Settings (set over the control port, or with --config; all are off at first):

    seed               all that is random follows from it
    tokens             false: client tokens mean nothing, as in moto; a test that passes then bites not
    refuse_share       share of launches that are refused for want of capacity
    capacity           {"TYPE/ZONE/MARKET": n}; each part may be *; at most n alive of all that match
    quota_vcpus        {"on-demand": n, "spot": n}; virtual CPUs alive at a time
    quota_instances    instances alive at a time
    throttle_share     share of requests that are throttled
    buckets            {"ACTION": [size, per second]}; ACTION is a pattern such as Describe*
    delay_ms           {"ACTION": [least, most]} before the act
    delay_after_ms     {"ACTION": [least, most]} between the act and its answer
    cut_before_share   share of connections cut before the act
    cut_after_share    share cut after the act, before the answer
    cut_middle_share   share cut within the answer
    error_share        share answered with InternalError
    faulty             patterns of actions that the shares of throttling, errors and cuts apply to
    visible_after_ms   a new instance is unknown to Describe* and Terminate* for so long
    pending_ms         a new instance is pending for so long
    shutting_down_ms   an instance that is given back is shutting-down for so long
    forget_after_ms    an instance that is terminated is unknown after so long; 0: never
    page_most          most items of one page, also where none were asked for
    denied             actions that the key may not call; CreateTags and PassRole count for launches, and
                       a DryRun is refused like the act itself
    queue_url          where notices go
    state_changes      also send each change of state there
    web_identity       {"ROLE ARN": token} for AssumeRoleWithWebIdentity
    roles              {"ROLE ARN": [external id or null, ARN of each user or role that it trusts]} for
                       AssumeRole
    prices             {"TYPE": dollars an hour}, for types that shall cost something else
    spot_prices        {"TYPE/ZONE": dollars an hour}, likewise

Orders for the next requests are a list of their own: see Faults.order.
"""
import fnmatch
import hashlib
import random
import threading
import time

DEFAULTS = {
    "seed": 1,
    "tokens": True,
    "refuse_share": 0.0,
    "capacity": {},
    "quota_vcpus": {},
    "quota_instances": 0,
    "throttle_share": 0.0,
    "buckets": {},
    "delay_ms": {},
    "delay_after_ms": {},
    "cut_before_share": 0.0,
    "cut_after_share": 0.0,
    "cut_middle_share": 0.0,
    "error_share": 0.0,
    "faulty": ["*"],
    "visible_after_ms": 0,
    "pending_ms": 0,
    "shutting_down_ms": 0,
    "forget_after_ms": 0,
    "page_most": 1000,
    "denied": [],
    "queue_url": "",
    "state_changes": False,
    "web_identity": {},
    "roles": {},
    "prices": {},
    "spot_prices": {},
}
WHENS = ("before", "after", "middle")
DEEDS = ("cut", "hold", "throttle", "refuse", "error")


def matching(table, name):
    """The value of the most exact pattern of 'table' that fits 'name', or None."""
    fitting = [key for key in table if fnmatch.fnmatchcase(name, key)]
    return table[max(fitting, key=len)] if fitting else None


class Faults:
    def __init__(self):
        self.lock = threading.Lock()
        self.settings = dict(DEFAULTS)
        self.asked = {}  # of each kind and action: how many times chance was asked
        self.buckets = {}
        self.orders = []
        self.released = threading.Condition()
        self.held = 0
        self.releases = 0

    def set(self, changes):
        unknown = set(changes) - set(DEFAULTS)
        if unknown:
            raise ValueError(f"no such setting: {', '.join(sorted(unknown))}")
        for key, value in changes.items():
            allowed = (int, float) if isinstance(DEFAULTS[key], float) else type(DEFAULTS[key])
            if not isinstance(value, allowed):
                raise ValueError(f"{key}: not of the form of {DEFAULTS[key]!r}")
        with self.lock:
            self.settings = {**self.settings, **changes}
            if "seed" in changes:
                self.asked.clear()
            if "buckets" in changes:
                self.buckets.clear()

    def __getitem__(self, name):
        return self.settings[name]

    def random(self, kind, action):
        """A generator for the n-th question of this kind: the same seed and the same n give the same
        answer, whatever other requests come in between."""
        with self.lock:
            n = self.asked[kind, action] = self.asked.get((kind, action), 0) + 1
        text = f"{self['seed']}/{kind}/{action}/{n}"
        return random.Random(hashlib.sha256(text.encode()).digest())

    def chance(self, kind, action):
        share = self[f"{kind}_share"]
        return share > 0 and self.random(kind, action).random() < share

    def is_faulty(self, action):
        return any(fnmatch.fnmatchcase(action, pattern) for pattern in self["faulty"])

    def happens(self, kind, action):
        return self.is_faulty(action) and self.chance(kind, action)

    def is_throttled(self, action):
        if self.happens("throttle", action):
            return True
        with self.lock:
            patterns = [key for key in self["buckets"] if fnmatch.fnmatchcase(action, key)]
            if not patterns:
                return False
            pattern = max(patterns, key=len)
            size, rate = self["buckets"][pattern]
            now = time.monotonic()
            level, then = self.buckets.get(pattern, (size, now))
            level = min(size, level + (now - then) * rate)
            self.buckets[pattern] = (level - 1 if level >= 1 else level, now)
            return level < 1

    def delay(self, name, action):
        span = matching(self[name], action)
        if span:
            time.sleep(self.random(name, action).uniform(*span) / 1000)

    def order(self, what):
        """For the next requests: {"action": pattern, "when": before|after|middle, "do": cut|hold|
        throttle|refuse|error, "count": n, "skip": n, "code": for error}. 'hold' lasts until
        release()."""
        order = {"action": "*", "when": "before", "do": "cut", "count": 1, "skip": 0,
                 "code": "InternalError"}
        unknown = set(what) - set(order)
        if unknown:
            raise ValueError(f"no such part of an order: {', '.join(sorted(unknown))}")
        order.update(what)
        if order["when"] not in WHENS or order["do"] not in DEEDS:
            raise ValueError("no such order")
        if order["when"] != "before" and order["do"] not in ("cut", "hold"):
            raise ValueError("only a cut and a hold can come after the act")
        with self.lock:
            self.orders.append(order)

    def take_order(self, when, action):
        with self.lock:
            for order in self.orders:
                if order["when"] != when or not fnmatch.fnmatchcase(action, order["action"]):
                    continue
                if order["skip"] > 0:
                    order["skip"] -= 1
                    continue
                order["count"] -= 1
                if order["count"] <= 0:
                    self.orders.remove(order)
                return order
        return None

    def hold(self, most_s=60):
        with self.released:
            turn = self.releases
            self.held += 1
            self.released.notify_all()
            self.released.wait_for(lambda: self.releases > turn, most_s)
            self.held -= 1

    def wait_held(self, count, most_s):
        """Wait until so many requests are held."""
        with self.released:
            return self.released.wait_for(lambda: self.held >= count, most_s)

    def release(self):
        with self.released:
            self.releases += 1
            self.released.notify_all()
