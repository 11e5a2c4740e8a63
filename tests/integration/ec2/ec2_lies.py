# SPDX-License-Identifier: Apache-2.0
"""ec2_lies - wrong answers on command: the stand-in of EC2 lies for a while, then tells the truth again.

    POST /lie {"kind": KIND, "seconds": n, ..}   begin; several may be told at once; 0 seconds: until ended
    POST /lie {"kind": "none"}                   end all of them
    GET  /lie                                    those that are being told, with the seconds that are left

| kind | what the client gets | options |
|---|---|---|
| empty | a list without instances | |
| partial | a list in which some are missing, always the same ones | share: of those that are shown (0.5) |
| stale | the list as it was | age_s: so many seconds ago (60); frozen: as of that long before the lie began |
| foreign | the list of another account: other ids, another ownerId; GetCallerIdentity names that account | account |
| html | 200 with a page of HTML, as of a proxy that wants a login | |
| truncated | 200 with half of the XML, all of it delivered | |
| short | an answer that ends before its Content-Length | |
| root | 200 with well-formed XML whose root element is of another request | |
| token | a list whose page token repeats: each page is the first one again | |
| pages | a list without an end: each page is empty and has a new token | |
| hang | nothing: the request is taken and not answered until the lie ends; it is not carried out | |

"action" is a pattern of the requests that are lied to. At first: DescribeInstances; hang, html, truncated
and short: all requests; foreign: DescribeInstances and GetCallerIdentity. Launches and terminations that
are answered wrongly (html, truncated, short, root) were carried out all the same: their answer is lost.
Each answer that was a lie is counted as "lied KIND" (GET /counters), and the record has a line
{"event": "lie", "kind", "action", "seconds"} for each beginning and "truth" where all were ended by hand.
"""
import fnmatch
import hashlib
import re
import threading
import time

OPTIONS = {
    "empty": {}, "partial": {"share": 0.5}, "stale": {"age_s": 60.0, "frozen": False},
    "foreign": {"account": "210987654321"}, "html": {}, "truncated": {}, "short": {}, "root": {},
    "token": {}, "pages": {}, "hang": {},
}
ACTIONS = {"hang": ("*",), "html": ("*",), "truncated": ("*",), "short": ("*",),
           "foreign": ("DescribeInstances", "GetCallerIdentity")}
PAGE = ("<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><p>Please sign in to use this "
        "network.</p></body></html>\n")
TOKEN = "dGhlIHNhbWUgdG9rZW4gYWdhaW4="
ANY_ROOT = re.compile(r"<(/?)(\w+)Response\b")


class Lies:
    def __init__(self, world):
        self.lock = threading.Lock()
        self.world = world
        self.told = []

    def begin(self, what):
        what = dict(what)
        kind, seconds = what.pop("kind", None), float(what.pop("seconds", 0))
        if kind == "none":
            self.end()
            return
        if kind not in OPTIONS:
            raise ValueError(f"no such lie: {kind}; there are none, {', '.join(OPTIONS)}")
        actions = (what.pop("action"),) if "action" in what else ACTIONS.get(kind, ("DescribeInstances",))
        unknown = set(what) - set(OPTIONS[kind])
        if unknown:
            raise ValueError(f"{kind} has no option {', '.join(sorted(unknown))}")
        with self.lock:
            self.told.append({"kind": kind, "actions": actions, "began": time.time(),
                              "until": time.monotonic() + seconds if seconds > 0 else None,
                              **OPTIONS[kind], **what})
        self.world.note("lie", kind=kind, action=" ".join(actions), seconds=seconds)

    def end(self):
        with self.lock:
            self.told = []
        self.world.note("truth")

    def current(self):
        now = time.monotonic()
        with self.lock:
            self.told = [lie for lie in self.told if lie["until"] is None or lie["until"] > now]
            return list(self.told)

    def listing(self):
        now = time.monotonic()
        return [{**lie, "until": None, "left_s": lie["until"] and lie["until"] - now} for lie in self.current()]

    def find(self, action, *kinds):
        """The lie of one of these kinds that is being told to this request, or None."""
        for lie in self.current():
            if lie["kind"] in kinds and any(fnmatch.fnmatchcase(action, one) for one in lie["actions"]):
                return lie
        return None

    def count(self, lie):
        self.world.count(f"lied {lie['kind']}")

    # -- before the request is looked at

    def hang(self, action):
        """Whether the request hung; then its connection is to be cut."""
        lie = self.find(action, "hang")
        if lie is None:
            return False
        self.count(lie)
        while self.find(action, "hang"):
            time.sleep(0.05)
        return True

    # -- lists

    def as_of_ms(self, action, now_ms):
        """The time of the list that is shown."""
        lie = self.find(action, "stale")
        if lie is None:
            return now_ms
        began = int(lie["began"] * 1000)
        return (began if lie["frozen"] else now_ms) - int(lie["age_s"] * 1000)

    def rows(self, action, rows):
        """[(reservation, instance)] as they are shown."""
        lie = self.find(action, "stale")
        if lie:
            self.count(lie)
        lie = self.find(action, "empty", "pages")
        if lie:
            self.count(lie)
            return []
        lie = self.find(action, "partial")
        if lie:
            self.count(lie)
            ranked = sorted(rows, key=lambda row: hashlib.sha256(self.name(row[1]).encode()).digest())
            kept = {self.name(row[1]) for row in ranked[:int(len(rows) * lie["share"])]}
            rows = [row for row in rows if self.name(row[1]) in kept]
        lie = self.find(action, "foreign")
        if lie:
            self.count(lie)
            rows = [self.of_another(row, lie["account"]) for row in rows]
        return rows

    @staticmethod
    def name(text):
        return re.search(r"<instanceId>([^<]*)</instanceId>", text)[1]

    def of_another(self, row, account):
        head, item = row
        name = self.name(item)
        other = "i-0f" + hashlib.sha256(name.encode()).hexdigest()[:15]
        return re.sub(r"<ownerId>[^<]*</ownerId>", f"<ownerId>{account}</ownerId>", head), item.replace(name, other)

    def page_token(self, action, asked, token):
        """(token that is answered, whether the page of 'asked' is the first one again)."""
        lie = self.find(action, "token")
        if lie:
            self.count(lie)
            return TOKEN
        if self.find(action, "pages"):
            return hashlib.sha256(f"{asked}{time.monotonic_ns()}".encode()).hexdigest()
        return token

    def asked_page(self, action, params):
        """The request as it is answered: a token that was a lie stands for the first page."""
        if self.find(action, "token", "pages"):
            return {name: value for name, value in params.items() if name != "NextToken"}
        return params

    def account(self, action, account):
        lie = self.find(action, "foreign")
        if lie is None:
            return account
        self.count(lie)
        return lie["account"]

    # -- answers

    def answer(self, action, said):
        """((status, kind, body), share that is delivered or None) of what goes out."""
        status, kind, body = said
        lie = self.find(action, "html", "truncated", "short", "root")
        if lie is None:
            return said, None
        self.count(lie)
        text = body if isinstance(body, str) else body.decode(errors="replace")
        if lie["kind"] == "html":
            return (200, "text/html", PAGE), None
        if lie["kind"] == "truncated":
            return (200, kind, text[:len(text) // 2]), None
        if lie["kind"] == "short":
            return (status, kind, text), 0.5
        return (200, kind, ANY_ROOT.sub(lambda found: f"<{found[1]}DescribeVolumesResponse", text)), None
