# SPDX-License-Identifier: GPL-2.0-or-later
"""relay - a socket between stintd and a server of lines that can lose, alter, delay or repeat what is said.

    relay = Relay(f"{folder}/relay.sock", f"{folder}/cloud.sock")
    relay.down = lambda line: [] if line.startswith("found ") else [line]

'up' sees each line from the client (stintd) to the server (stint-cloud-local), 'down' each line of the
answers. A hook gets one line without its end and returns the lines that go on in its place: [] loses it,
[line, line] repeats it, [line.replace(...)] alters it. It may sleep, which delays that line and those
behind it in the same direction of the same connection, and it may raise Cut, which ends the connection
without that line. Hooks can be exchanged at any time; None hands everything on.

While 'hold' is set nothing passes in either direction, as if the server hung; 'release' lets it go on.
cut() ends all connections, and refuse(True) ends new ones at once. Every line is written to 'log', if
given, as "MS up|down LINE" before the hook sees it; 'said' counts what was seen by direction and word.

Each direction of each connection is one thread; threads end with their connection. The relay knows
nothing of what the lines mean.
"""
import collections
import os
import socket
import threading
import time


class Cut(Exception):
    """Raised by a hook: the connection ends here."""


class Relay:
    def __init__(self, path, target, log=None, up=None, down=None):
        self.path = path
        self.target = target
        self.log = log
        self.up = up
        self.down = down
        self.said = collections.Counter()
        self._lock = threading.Lock()
        self._open = threading.Event()
        self._open.set()
        self._refuses = False
        self._pairs = []
        if os.path.exists(path):
            os.unlink(path)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(path)
        self._listener.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def hold(self):
        self._open.clear()

    def release(self):
        self._open.set()

    def refuse(self, refuses):
        self._refuses = refuses

    def cut(self):
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for one in pair:
                end(one)

    def close(self):
        self._listener.close()
        self.release()
        self.cut()

    def _serve(self):
        while True:
            try:
                inner, _ = self._listener.accept()
            except OSError:
                return  # closed
            outer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            try:
                if self._refuses:
                    raise OSError
                outer.connect(self.target)
            except OSError:
                inner.close()
                outer.close()
                continue
            with self._lock:
                self._pairs.append((inner, outer))
            for way, source, sink in (("up", inner, outer), ("down", outer, inner)):
                threading.Thread(target=self._copy, args=(way, source, sink), daemon=True).start()

    def _copy(self, way, source, sink):
        try:
            with source.makefile("r", encoding="utf-8", errors="surrogateescape", newline="\n") as lines:
                for line in lines:
                    self._open.wait()
                    for one in self._pass(way, line.rstrip("\n")):
                        sink.sendall((one + "\n").encode("utf-8", "surrogateescape"))
        except (OSError, ValueError, Cut):
            pass
        for one in (source, sink):
            end(one)

    def _pass(self, way, line):
        with self._lock:
            self.said[f"{way} {line.split(' ')[0]}"] += 1
            if self.log:
                with open(self.log, "a", encoding="utf-8", errors="surrogateescape") as file:
                    file.write(f"{time.time_ns() // 1000000} {way} {line}\n")
        hook = self.up if way == "up" else self.down
        return [line] if hook is None else hook(line)


def end(one):
    """Both directions, so that threads that read from it go on."""
    try:
        one.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


# -- hooks that tests share --

def losing(*words):
    """Loses every line that begins with one of the words."""
    return lambda line: [] if line.split(" ")[0] in words else [line]


def repeating(*words):
    """Says every such line twice."""
    return lambda line: [line, line] if line.split(" ")[0] in words else [line]


def delaying(seconds, *words):
    """Says such lines, and what is behind them, that much later."""
    def hook(line):
        if line.split(" ")[0] in words:
            time.sleep(seconds)
        return [line]
    return hook


def cutting_after(count, *words):
    """Ends the connection in the place of the first 'count' such lines; all others pass."""
    left = [count]

    def hook(line):
        if line.split(" ")[0] in words and left[0] > 0:
            left[0] -= 1
            raise Cut
        return [line]
    return hook


def empty_list(line):
    """A list that is whole and empty: its 'found' lines are lost and the count is 0. For 'down'."""
    word = line.split(" ")[0]
    if word == "found":
        return []
    if word == "listed":
        return [" ".join("count=0" if part.startswith("count=") else part for part in line.split(" "))]
    return [line]
