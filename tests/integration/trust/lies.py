# SPDX-License-Identifier: GPL-2.0-or-later
"""lies - hooks for relay.py that make the list of the local cloud a lie.

A list is some 'found' and 'gone' lines and then 'listed'. Each of these is made once, for one lie, and is the
relay's 'down' hook for as long as it lasts; everything that is no list passes as it is.

    empty      a whole list of nothing
    partial    every other machine is missing
    stale      the list as it was when the lie began, over and over
    foreign    another cluster's machines in the place of ours
    malformed  lines that cannot be read in the place of those that can; the list ends all the same
    silent     no list is ever ended
"""
import threading
import time


def word(line):
    return line.split(" ", 1)[0]


def with_field(line, key, value):
    return " ".join(f"{key}={value}" if part.startswith(key + "=") else part for part in line.split(" "))


def field(line, key):
    return next((part[len(key) + 1:] for part in line.split(" ") if part.startswith(key + "=")), None)


class Hook:
    """Remembers when the first list was a lie."""

    def __init__(self):
        self.told_at = None  # ms

    def __call__(self, line):
        said = self.alter(line)
        if word(line) == "listed" and self.told_at is None:
            self.told_at = time.time_ns() // 1000000
        return said

    def alter(self, line):
        raise NotImplementedError


class Empty(Hook):
    def alter(self, line):
        if word(line) == "found":
            return []
        return [with_field(line, "count", 0)] if word(line) == "listed" else [line]


class Partial(Hook):
    def __init__(self):
        super().__init__()
        self.kept = 0

    def alter(self, line):
        if word(line) == "found":
            keep = int(field(line, "id")) % 2 == 0
            self.kept += keep
            return [line] if keep else []
        if word(line) == "listed":
            kept, self.kept = self.kept, 0
            return [with_field(line, "count", kept)]
        return [line]


class Stale(Hook):
    """Remembers the first whole list that it sees, and tells that for every later one. What happens meanwhile
    is told as it happens."""

    def __init__(self):
        super().__init__()
        self.lock = threading.Lock()
        self.old = None
        self.now = []

    def alter(self, line):
        with self.lock:
            if word(line) == "found":
                self.now.append(line)
                return [] if self.old is not None else [line]
            if word(line) != "listed":
                return [line]
            now, self.now = self.now, []
            if self.old is None:
                self.old = now
                return [line]
            key = field(line, "key")
            return [*(with_field(one, "key", key) for one in self.old), with_field(line, "count", len(self.old))]


class Foreign(Hook):
    """As the keys of another account would show it."""

    def alter(self, line):
        if word(line) != "found":
            return [line]
        number = int(field(line, "id")) + 4_000_000
        return [with_field(with_field(line, "id", number), "name", f"other-{number}")]


class Malformed(Hook):
    def __init__(self):
        super().__init__()
        self.turn = 0

    def alter(self, line):
        if word(line) != "found":
            return [line]
        self.turn += 1
        return [("<html><body>503 Service Unavailable</body></html>", "found key=", line.replace("id=", "id=x"),
                 line[:len(line) // 2], "")[self.turn % 5]]


class Silent(Hook):
    def alter(self, line):
        return [] if word(line) in ("found", "listed") else [line]


KINDS = {"empty": Empty, "partial": Partial, "stale": Stale, "foreign": Foreign, "malformed": Malformed,
         "silent": Silent}
