#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_relay - relay.py against a server that answers each line with "did LINE". TAP."""
import os
import socket
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True

import relay


def echo_server(path):
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(path)
    listener.listen()

    def talk(one):
        with one, one.makefile("r", encoding="utf-8") as lines:
            for line in lines:
                one.sendall(f"did {line}".encode())

    def serve():
        while True:
            one, _ = listener.accept()
            threading.Thread(target=talk, args=(one,), daemon=True).start()

    threading.Thread(target=serve, daemon=True).start()


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(0.3)
        self.socket.connect(path)
        self.rest = b""

    def say(self, *lines):
        self.socket.sendall("".join(line + "\n" for line in lines).encode())

    def hear(self, count, seconds=5):
        """At most 'count' lines, waiting so long; the end of the connection is None."""
        found = []
        end = time.monotonic() + seconds
        while len(found) < count and time.monotonic() < end:
            try:
                data = self.socket.recv(65536)
            except TimeoutError:
                continue
            except OSError:
                data = b""
            if not data:
                return found + [None]
            self.rest += data
            *lines, self.rest = self.rest.split(b"\n")
            found += [line.decode() for line in lines]
        return found


class Pair:
    """A server, a relay before it and a client of the relay."""

    def __init__(self, folder, **options):
        echo_server(f"{folder}/server")
        self.relay = relay.Relay(f"{folder}/relay", f"{folder}/server", **options)
        self.path = f"{folder}/relay"
        self.client = Client(self.path)

    def exchange(self, *lines, count=None, seconds=5):
        self.client.say(*lines)
        return self.client.hear(len(lines) if count is None else count, seconds)


def hands_on_and_writes_down(folder):
    pair = Pair(folder, log=f"{folder}/log")
    assert pair.exchange("a 1", "b 2") == ["did a 1", "did b 2"]
    said = [line.split(" ", 1)[1] for line in open(f"{folder}/log", encoding="utf-8").read().splitlines()]
    assert sorted(said) == ["down did a 1", "down did b 2", "up a 1", "up b 2"], said
    assert pair.relay.said["up a"] == 1 and pair.relay.said["down did"] == 2


def loses_alters_and_repeats(folder):
    pair = Pair(folder, up=relay.losing("a"))
    assert pair.exchange("a 1", "b 2", count=1) == ["did b 2"]
    pair.relay.up = relay.repeating("b")
    assert pair.exchange("b 2", count=2) == ["did b 2", "did b 2"]
    pair.relay.up = None
    pair.relay.down = lambda line: [line.replace("did", "undid")]
    assert pair.exchange("c 3") == ["undid c 3"]


def delays(folder):
    pair = Pair(folder, down=relay.delaying(0.5, "did"))
    began = time.monotonic()
    assert pair.exchange("a 1") == ["did a 1"]
    assert time.monotonic() - began >= 0.5


def cuts_where_a_hook_says(folder):
    pair = Pair(folder, down=relay.cutting_after(1, "did"))
    assert pair.exchange("a 1") == [None]
    pair.client = Client(pair.path)
    assert pair.exchange("a 1") == ["did a 1"]


def holds_and_refuses(folder):
    pair = Pair(folder)
    assert pair.exchange("a 1") == ["did a 1"]
    pair.relay.hold()
    assert pair.exchange("b 2", seconds=0.5) == []
    pair.relay.release()
    assert pair.client.hear(1) == ["did b 2"]
    pair.relay.refuse(True)
    pair.relay.cut()
    assert pair.client.hear(1) == [None]
    other = Client(pair.path)
    assert other.hear(1) == [None]


def empties_a_list(_):
    lines = ["found key=9 id=1", "gone id=2 why=returned", "listed key=9 count=1"]
    kept = [one for line in lines for one in relay.empty_list(line)]
    assert kept == ["gone id=2 why=returned", "listed key=9 count=0"], kept


POINTS = (hands_on_and_writes_down, loses_alters_and_repeats, delays, cuts_where_a_hook_says,
          holds_and_refuses, empties_a_list)


def main():
    print(f"1..{len(POINTS)}", flush=True)
    failed = 0
    for number, point in enumerate(POINTS, 1):
        with tempfile.TemporaryDirectory() as folder:
            try:
                point(folder)
                print(f"ok {number} - {point.__name__}", flush=True)
            except Exception as fault:
                failed += 1
                print(f"not ok {number} - {point.__name__}\n# {type(fault).__name__}: {fault}", flush=True)
    os._exit(1 if failed else 0)  # threads may still wait


if __name__ == "__main__":
    main()
