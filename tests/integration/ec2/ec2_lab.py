# SPDX-License-Identifier: Apache-2.0
"""ec2_lab - the stand-ins of EC2 and of the metadata service, for a test.

main() runs the points of a test in order; enclose() starts the test again in a network namespace of its
own, where nothing but 127.0.0.1 can be reached. StandIn and Metadata start the two programs and speak with
their control ports.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", ".."))

from patience import until  # noqa: E402, F401

INSIDE = "STINT_EC2_LAB"
PROGRAMS = ("ip", "unshare", "setpriv")
UNSHARE = ("unshare", "--net", "--pid", "--fork", "--kill-child=KILL", "--mount-proc")


def why_not():
    """What keeps a lab from being made here, or None."""
    if os.geteuid() != 0:
        return "needs root, for a network namespace"
    for name in PROGRAMS:
        if not shutil.which(name):
            return f"no {name}; Debian: iproute2 util-linux"
    done = subprocess.run([*UNSHARE, "ip", "link", "set", "lo", "up"], capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        return "namespaces cannot be made here: " + (said[-1] if said else "unshare failed")
    return None


def enclose():
    """Outside: run this program again in its namespaces, and end with its status."""
    if INSIDE in os.environ:
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    status = subprocess.run(["setpriv", "--pdeathsig", "KILL", *UNSHARE, sys.executable, *sys.argv],
                            env={**os.environ, INSIDE: "1"}, check=False).returncode
    sys.exit(status)


def attempt(number, function, *arguments, before=lambda: None):
    """One TAP point; whether it is good. Whatever goes wrong, the next one still tells something."""
    began = time.monotonic()
    try:
        before()
        function(*arguments)
        print(f"ok {number} - {function.__name__}")
        good = True
    except Exception as fault:  # pylint: disable=broad-except
        said = f"{type(fault).__name__}: {fault}".replace("\n", "\n# ")
        print(f"not ok {number} - {function.__name__}\n# {said}")
        good = False
    print(f"# {time.monotonic() - began:.1f} s", flush=True)
    return good


def main(tests, make_world, lacks=lambda: None):
    """The points of a test in their order; the status to end with. A world is made from the arguments, is
    reset() before each point and stopped in the end. 'lacks' tells what else is missing here."""
    if INSIDE not in os.environ:
        reason = why_not() or lacks()
        if sys.argv[1:] == ["--why-not"]:
            print(reason or "")
            return 0 if reason else 1
        if reason:
            print(f"1..0 # SKIP {reason}")
            return 0
        sys.argv[1:] = [os.path.abspath(word) if os.path.exists(word) else word for word in sys.argv[1:]]
    enclose()
    world = make_world(*sys.argv[1:])
    chosen = [one for one in tests if getattr(world, "wants", lambda _: True)(one.__name__)]
    print(f"1..{len(chosen)}", flush=True)
    good = True
    try:
        for number, function in enumerate(chosen, 1):
            good = attempt(number, function, world, before=world.reset) and good
    finally:
        world.stop()
    return 0 if good else 1


class Program:
    """A stand-in that runs: 'url' is its service, control() its control port."""

    def __init__(self, *command):
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", sys.executable, *command],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        said = self.process.stdout.readline().split()
        if len(said) != 3 or said[0] != "ready":
            raise RuntimeError(f"{command[0]} did not start: {' '.join(said)}")
        self.url = f"http://127.0.0.1:{said[1]}"
        self.control_url = f"http://127.0.0.1:{said[2]}"

    def control(self, path, document=None):
        """GET, or POST if there is a document. Raises RuntimeError with what the other said."""
        data = None if document is None else json.dumps(document).encode()
        try:
            with urllib.request.urlopen(self.control_url + path, data, 90) as got:
                return json.loads(got.read())
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()}") from None

    def set(self, **settings):
        self.control("/config", settings)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)


class StandIn(Program):
    """EC2 and SQS. 'moto': the path of moto_server."""

    def __init__(self, moto, record=None, hook=None, port=0, **settings):
        command = [f"{HERE}/ec2_stand_in.py", "--moto", moto, "--port", str(port),
                   "--config", json.dumps(settings)]
        command += ["--record", record] if record else []
        command += ["--hook", hook] if hook else []
        super().__init__(*command)
        self.lines = []  # of the record, as far as it was read

    def order(self, **order):
        self.control("/next", order)

    def lie(self, kind, seconds=0, **options):
        """Wrong answers for so long (0: until lie("none")); ec2_lies.py lists the kinds."""
        self.control("/lie", {"kind": kind, "seconds": seconds, **options})

    def record(self, event=None, begin=0):
        """The lines of an event, or all; from the one of that number on."""
        self.lines += self.control(f"/record?from={len(self.lines)}")
        return [line for line in self.lines[begin:] if event in (None, line["event"])]


class Metadata(Program):
    def __init__(self, **settings):
        super().__init__(f"{HERE}/imds_stand_in.py", "--config", json.dumps(settings))
