#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_stint_join - stint-join against the stand-in of the metadata service, and with a real slurmd.

'test_stint_join.py STINT_JOIN': all of it runs in namespaces of its own; each sentence is one TAP
point. What is started is a small script that writes down its arguments; the last tests start slurmd in
a lab of Slurm (tests/integration/slurm), with the metadata service at its real address.
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "slurm"))

import ec2_lab
import slurm_lab
from ec2_lab import until

TESTS = []
SLURM_TESTS = []
USER_DATA = ("STINT_CLUSTER=lab\nSTINT_NODE=st-17\nSTINT_TYPE=m7i.large\nSTINT_ZONE=us-east-1a\n"
             "STINT_MARKET=spot\n")
TAGS = {"Name": "st-17", "stint:cluster": "lab", "stint:key": "17", "stint:node": "st-17",
        "stint:offer": "m7i.large//spot"}
TAG_PATH = "/latest/meta-data/tags/instance/"

# Writes its arguments as one line of JSON; ends at SIGTERM with status 7, or at once for 'notice'.
RECORDER = """#!/usr/bin/env python3
import json, os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
line = json.dumps(sys.argv[2:]) + "\\n"
file = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
os.write(file, line.encode())
os.close(file)
if "stay" in sys.argv:
    time.sleep(600)
sys.exit(1 if "fail" in sys.argv else 0)
"""


def test(function):
    TESTS.append(function)
    return function


def with_slurm(function):
    SLURM_TESTS.append(function)
    return function


def equal(found, wanted):
    assert found == wanted, f"found {found}, wanted {wanted}"


class World:
    def __init__(self, program):
        self.program = program
        self.folder = tempfile.mkdtemp(prefix="join-")
        self.recorder = self.write("recorder", RECORDER)
        os.chmod(self.recorder, 0o755)
        self.imds = None
        self.joins = []

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def begin(self, **settings):
        """Each test has a metadata service of its own, and files of its own."""
        self.imds = ec2_lab.Metadata(**{"user_data": USER_DATA, **settings})
        for name in ("ran", "told", "said", "ended", "stamp"):
            self.write(name, "")

    def finish(self):
        for join in self.joins:
            if join.poll() is None:
                join.kill()
            join.wait()
        self.joins.clear()
        if self.imds is not None and self.imds.process.poll() is None:
            self.imds.stop()

    def join(self, *options, run="stay {node} {conf}", notice="{node} {action} {reason}", url=None):
        with open(f"{self.folder}/said", "ab") as said:
            self.joins.append(subprocess.Popen(
                [self.program, "--imds", url or self.imds.url, "--every", "100ms",
                 "--stamp", f"{self.folder}/stamp", "--end", f"{self.recorder} {self.folder}/ended {{node}}",
                 "--run", f"{self.recorder} {self.folder}/ran {run}",
                 "--notice", f"{self.recorder} {self.folder}/told {notice}", *options],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=said))
        return self.joins[-1]

    def lines(self, name):
        with open(f"{self.folder}/{name}", encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def said(self):
        with open(f"{self.folder}/said", encoding="utf-8") as file:
            return file.read()

    def wait_for(self, name, count, seconds=10):
        until(lambda: len(self.lines(name)) >= count, seconds, f"{count} lines in {name}: {self.said()}")
        return self.lines(name)

    def asked(self, beginning):
        """How often something was asked for below this path."""
        counters = self.imds.control("/counters")
        return sum(count for path, count in counters.items() if path.startswith(beginning))

    def looks(self):
        return self.imds.control("/counters").get("/latest/meta-data/spot/instance-action", 0)

    def wait_looks(self, more):
        """So many further looks for notices have been answered."""
        wanted = self.looks() + more
        until(lambda: self.looks() >= wanted, 10, "looks at the metadata service")


def as_job(*command):
    """A process of a job, by its environment."""
    return subprocess.Popen(command, env={**os.environ, "SLURM_JOB_ID": "1"})


def conf_line():
    with open("/proc/meminfo", encoding="utf-8") as file:
        mib = int(file.readline().split()[1]) // 1024
    return f"CPUs={os.sysconf('SC_NPROCESSORS_ONLN')} RealMemory={mib}"


# -- joining


@test
def it_starts_the_node_with_what_the_machine_has(world):
    world.begin()
    world.join()
    equal(world.wait_for("ran", 1),
          [["stay", "st-17", conf_line() + " Feature=cloud,m7i.large,m7i,spot,us-east-1a"]])


@test
def the_default_command_is_slurmd_s(world):
    world.begin()
    done = subprocess.run([world.program, "--imds", world.imds.url, "--print", "--feature", "lab,x",
                           "--memory", "50"], capture_output=True, text=True, check=True)
    mib = int(conf_line().split("=")[-1]) * 50 // 100
    equal(done.stdout.splitlines(), [
        "slurmd", "-D", "-Z", "-N", "st-17", "--conf",
        f"CPUs={os.sysconf('SC_NPROCESSORS_ONLN')} RealMemory={mib} "
        "Feature=lab,x,m7i.large,m7i,spot,us-east-1a"])


@test
def its_end_is_the_node_s_and_signals_are_passed_on(world):
    world.begin()
    join = world.join()
    world.wait_for("ran", 1)
    join.send_signal(signal.SIGTERM)
    equal(join.wait(10), 7)
    equal(world.join(run="go").wait(10), 0)
    equal(world.join(run="fail").wait(10), 1)


@test
def a_program_that_is_not_there_is_127(world):
    world.begin()
    equal(world.join("--run", "/nonexistent/slurmd {node}").wait(10), 127)


@test
def hostile_user_data_starts_nothing(world):
    world.begin()
    for bad in ("STINT_NODE=-Dx", "STINT_NODE=a b", "STINT_NODE=$(touch x)", "STINT_NODE=a\x00b",
                "STINT_NODE=st-1\nSTINT_NODE=st-2", "STINT_NODE=" + "a" * 64, "STINT_TYPE=a;b",
                "STINT_ZONE={conf}", "no node at all"):
        world.imds.set(user_data=USER_DATA.replace("STINT_NODE=st-17\n", "") + bad + "\n"
                       if "NODE" in bad or "no node" in bad else USER_DATA.split("STINT_TYPE")[0] + bad)
        equal(world.join().wait(10), 1)
    equal(world.lines("ran"), [])
    assert "touch x" not in world.said(), "hostile text is in the log"
    equal(world.asked(TAG_PATH), 0)


@test
def an_answer_that_never_ends_is_given_up(world):
    world.begin()
    world.imds.set(user_data=USER_DATA + "x" * 200000)
    equal(world.join("--wait", "1s").wait(10), 1)
    equal(world.lines("ran"), [])
    assert "too long" in world.said(), world.said()


@test
def other_addresses_and_wrong_words_are_refused(world):
    world.begin()
    for url in ("http://192.0.2.1/", "https://127.0.0.1/", "http://127.0.0.1.example.org/",
                "http://127.0.0.1:80@example.org/", "file:///etc/passwd"):
        equal(world.join(url=url).wait(10), 2)
    equal(world.join(run="{nobody}").wait(10), 2)
    equal(world.join(notice="{nobody}").wait(10), 2)
    equal(world.join("--feature", "a b").wait(10), 2)
    equal(world.join("--every", "0").wait(10), 2)
    equal(world.lines("ran"), [])


# -- machines that were asked for together


@test
def the_launch_index_tells_machines_of_one_request_apart(world):
    world.begin(launch_index=3)
    world.join()
    equal(world.wait_for("ran", 1)[0][1], "st-20")
    for index in (0, None):
        world.finish()
        world.begin(launch_index=index)
        world.join()
        equal(world.wait_for("ran", 1)[0][1], "st-17")
    equal(world.asked(TAG_PATH), 0)


@test
def a_launch_index_that_is_none_starts_nothing(world):
    world.begin()
    for bad in ("", "-1", "+1", " 1", "1\n", "1 2", "100000", "$(touch x)", "9" * 2000):
        world.imds.set(launch_index=bad)
        equal(world.join("--wait", "1s").wait(10), 1)
    world.imds.set(launch_index=1)
    for name in ("head", "st-" + "9" * 20, "a" * 62 + "9"):
        world.imds.set(user_data=USER_DATA.replace("st-17", name))
        equal(world.join().wait(10), 1)
    equal(world.lines("ran"), [])
    assert "touch x" not in world.said(), "hostile text is in the log"


# -- machines of a fleet, which have tags only


@test
def without_user_data_the_tags_tell(world):
    for user_data in (None, "", "#!/bin/sh\nmount /home\n"):
        world.begin(user_data=user_data, tags=TAGS, zone="us-east-1b", launch_index=0)
        world.join(run="stay {node} {cluster} {conf}")
        equal(world.wait_for("ran", 1), [["stay", "st-17", "lab", conf_line() +
                                          " Feature=cloud,m7i.large,m7i,spot,us-east-1b"]])
        world.finish()


@test
def hostile_tags_start_nothing(world):
    world.begin(user_data=None, tags=TAGS)
    for tag, values in (("stint:node", ("", "-Dx", "a b", "$(touch x)", "st-1\n", "a/b", "{conf}", "a" * 64)),
                        ("stint:cluster", ("", "a;b", "a" * 33)),
                        ("stint:offer", ("", "m7i.large", "m7i.large/spot", "//", "a//b//c", "a/;/spot",
                                         "-a//spot", "a//-spot", "a//spot\nb", "a//$(touch x)"))):
        for value in values:
            world.imds.set(tags={**TAGS, tag: value})
            equal(world.join().wait(10), 1)
    world.imds.set(tags=TAGS)
    for zone in ("", "a b", "-a"):
        world.imds.set(zone=zone)
        equal(world.join().wait(10), 1)
    equal(world.lines("ran"), [])
    assert "touch x" not in world.said(), "hostile text is in the log"


@test
def tags_that_come_late_are_waited_for(world):
    world.begin(user_data=None)
    join = world.join()
    until(lambda: world.asked(TAG_PATH) >= 1, 10, "the first question")
    world.imds.set(tags={"Name": "st-17", "stint:cluster": "lab"})
    until(lambda: world.asked(TAG_PATH + "stint:node") >= 2, 10, "a second question")
    equal((world.lines("ran"), join.poll()), ([], None))
    world.imds.set(tags=TAGS)
    equal(world.wait_for("ran", 1)[0][1], "st-17")
    equal(world.said().count("the tag /latest/meta-data/tags"), 1)
    equal(world.asked("/latest/user-data"), 1)


@test
def without_user_data_and_tags_it_ends_after_its_wait(world):
    world.begin(user_data=None)
    equal(world.join("--wait", "700ms").wait(10), 1)
    world.imds.set(tags={**TAGS, "stint:node": "x" * 2000})
    equal(world.join("--wait", "700ms").wait(10), 1)
    assert "gives up" in world.said(), world.said()
    equal(world.lines("ran"), [])


@test
def tags_are_found_where_half_of_all_answers_fail(world):
    world.begin(user_data=None, tags=TAGS, fail_share_of_8=4)
    world.join()
    equal(world.wait_for("ran", 1, 40)[0][1], "st-17")


# -- a metadata service that is late, dies, comes back


@test
def user_data_is_waited_for_while_the_service_fails(world):
    world.begin(forbidden=True)
    join = world.join()
    time.sleep(0.8)
    equal(world.lines("ran"), [])
    equal(join.poll(), None)
    world.imds.set(forbidden=False)
    world.wait_for("ran", 1)


@test
def without_a_service_it_ends_after_its_wait(world):
    world.begin()
    world.imds.stop()
    equal(world.join("--wait", "700ms").wait(10), 1)
    assert "does not answer" in world.said(), world.said()


@test
def a_service_that_dies_and_comes_back_disturbs_nothing(world):
    world.begin()
    join = world.join()
    world.wait_for("ran", 1)
    world.wait_looks(1)
    port = int(world.imds.url.rsplit(":", 1)[1])
    world.imds.stop()
    time.sleep(0.5)
    equal(join.poll(), None)
    # It comes back at the same place and knows no token of the one before.
    world.imds = ec2_lab.Program(f"{HERE}/imds_stand_in.py", "--port", str(port), "--config",
                                 json.dumps({"user_data": USER_DATA}))
    world.wait_looks(2)
    world.imds.set(action={"action": "terminate", "in_s": 120})
    equal(world.wait_for("told", 1)[0][:2], ["st-17", "terminate"])
    equal(len(world.lines("ran")), 1)
    equal(world.said().count("does not answer"), 1)
    equal(world.said().count("answers again"), 1)


@test
def half_of_all_answers_failing_changes_nothing(world):
    world.begin(fail_share_of_8=4)
    world.join()
    world.wait_for("ran", 1, 20)
    world.imds.set(action={"action": "stop", "in_s": 120})
    equal(world.wait_for("told", 1, 20)[0][:2], ["st-17", "stop"])


# -- notices


@test
def a_notice_is_told_once_however_often_it_is_seen(world):
    world.begin()
    world.join()
    world.wait_for("ran", 1)
    world.wait_looks(2)
    equal(world.lines("told"), [])
    world.imds.set(action={"action": "terminate", "in_s": 120})
    told, = world.wait_for("told", 1)
    equal(told[:2], ["st-17", "terminate"])
    assert told[2].startswith("aws-terminate-20") and " " not in told[2], told
    world.wait_looks(5)
    equal(len(world.lines("told")), 1)


@test
def a_notice_of_another_time_is_another_notice(world):
    world.begin()
    world.join()
    world.wait_for("ran", 1)
    world.imds.set(action={"action": "terminate", "in_s": 120})
    world.wait_for("told", 1)
    world.imds.set(action={"action": "terminate", "in_s": 300})
    world.wait_for("told", 2)
    world.imds.set(action=None)
    world.wait_looks(3)
    equal(len(world.lines("told")), 2)


@test
def a_recommendation_is_told_too_and_can_be_left_out(world):
    world.begin(rebalance=True)
    world.join()
    equal(world.wait_for("told", 1)[0][:2], ["st-17", "rebalance"])
    world.imds.set(action={"action": "terminate", "in_s": 120})
    equal(world.wait_for("told", 2)[1][:2], ["st-17", "terminate"])
    world.finish()
    world.begin(rebalance=True)
    world.join("--no-rebalance")
    world.wait_for("ran", 1)
    world.wait_looks(3)
    equal(world.lines("told"), [])


@test
def a_command_that_fails_is_tried_three_times(world):
    world.begin(action={"action": "terminate", "in_s": 120})
    join = world.join(notice="fail {reason}")
    world.wait_for("told", 3)
    world.wait_looks(5)
    equal(len(world.lines("told")), 3)
    equal(join.poll(), None)


@test
def a_machine_without_a_job_drains_its_node_and_ends(world):
    world.begin()
    began = time.monotonic()
    world.join("--idle", "2s")
    equal(world.wait_for("ended", 1)[0], ["st-17"])
    assert 2 <= time.monotonic() - began < 6
    equal(world.lines("told")[0], ["st-17", "idle", "stint-join-idle"])


@test
def user_data_says_after_how_long(world):
    world.begin(user_data=USER_DATA + "STINT_IDLE=2\n")
    world.join()
    world.wait_for("ended", 1)


@test
def a_machine_with_a_job_does_not_end(world):
    world.begin()
    job = as_job("sleep", "600")
    try:
        world.join("--idle", "1s")
        world.wait_for("ran", 1)
        time.sleep(4)
        equal((world.lines("told"), world.lines("ended")), ([], []))
    finally:
        job.kill()
        job.wait()
    world.wait_for("ended", 1)


@test
def a_job_that_starts_while_the_node_is_drained_keeps_the_machine(world):
    world.begin()
    starts = f"{world.folder}/starts"
    with open(starts, "w", encoding="ascii") as file:
        # The job is there when the command ends, not a little later.
        file.write(f"#!/bin/sh\nif [ ! -e {starts}.once ]; then\n: >{starts}.once\nSLURM_JOB_ID=2 sleep 4 &\n"
                   "until grep -q sleep /proc/$!/comm; do sleep 0.05; done\nfi\n"
                   f"echo '[]' >>{world.folder}/told\n")
    os.chmod(starts, 0o755)
    world.join("--idle", "1s", "--notice", starts)
    world.wait_for("told", 1)
    time.sleep(2.5)
    equal(world.lines("ended"), [])
    world.wait_for("ended", 1)


@test
def never_is_never(world):
    world.begin()
    world.join("--idle", "0")
    world.wait_for("ran", 1)
    time.sleep(2)
    equal((world.lines("told"), world.lines("ended")), ([], []))


@test
def a_node_that_fails_again_and_again_does_not_keep_the_machine(world):
    world.begin()
    began = time.monotonic()
    while not world.lines("ended"):
        assert time.monotonic() - began < 15, world.said()
        world.join("--idle", "3s", run="{node}").wait(10)  # it ends at once, and systemd starts it again
        time.sleep(0.3)
    assert time.monotonic() - began > 3


@test
def a_machine_that_is_told_nothing_ends_too(world):
    world.begin(user_data=None)
    began = time.monotonic()
    while not world.lines("ended"):
        assert time.monotonic() - began < 15, world.said()
        world.join("--idle", "3s", "--wait", "1s").wait(10)
    equal(world.lines("ran"), [])


@test
def a_notice_that_is_none_runs_nothing(world):
    world.begin(action={"action": "-x; reboot", "in_s": 120})
    world.join()
    world.wait_for("ran", 1)
    world.wait_looks(3)
    equal(world.lines("told"), [])
    assert "reboot" not in world.said(), world.said()


# -- with Slurm


class SlurmNode:
    """A node of the lab whose slurmd is started by stint-join, beside a metadata service."""

    BOOT = slurm_lab.NODE.split("slurmd -D")[0]

    def __init__(self, lab, program, name, **settings):
        self.name = name
        config = json.dumps({"user_data": USER_DATA.replace("st-17", name), **settings})
        began = f"{lab.folder}/{name}-imds"
        slurm_lab.NODE = self.BOOT + f"""\
grep ctl /etc/hosts >$D/hosts
mount --bind $D/hosts /etc/hosts
ip addr add 169.254.169.254/32 dev lo
{sys.executable} {HERE}/imds_stand_in.py --address 169.254.169.254 --port 80 --control-port 8081 \
    --config '{config}' >{began} &
until grep -q ready {began}; do sleep 0.05; done
{program} --every 200ms
:
"""
        lab.add_node(name)
        # As in a cloud whose names nobody knows: neither the controller nor the node can look this one up.
        with open(f"{lab.folder}/hosts", encoding="utf-8") as file:
            known = [line for line in file if name not in line]
        lab.write("hosts", "".join(known))

    def set(self, **settings):
        slurm_lab.run("nsenter", f"--net=/run/netns/{self.name}", sys.executable, "-c",
                      "import sys, urllib.request as r; r.urlopen('http://127.0.0.1:8081/config', "
                      "sys.argv[1].encode())", json.dumps(settings))


def node_field(name, field):
    shown = subprocess.run(["scontrol", "-o", "show", "node", name], capture_output=True, text=True,
                           check=False).stdout
    found = [word for word in shown.split() if word.startswith(field + "=")]
    return found[0].split("=", 1)[1] if found else ""


@with_slurm
def a_real_slurmd_joins_and_runs_a_job(lab, program):
    lab.node = SlurmNode(lab, program, "st-17")
    until(lambda: node_field("st-17", "State").startswith("IDLE"), 30, "the node to be idle")
    equal(node_field("st-17", "ActiveFeatures"), "cloud,m7i.large,m7i,spot,us-east-1a")
    equal(f"CPUs={node_field('st-17', 'CPUTot')} RealMemory={node_field('st-17', 'RealMemory')}",
          conf_line())
    done = subprocess.run(["srun", "-p", "cloud", "-C", "m7i", "hostname"], capture_output=True, text=True,
                          timeout=60, check=True)
    equal(done.stdout.strip(), "st-17")


@with_slurm
def real_machines_of_one_request_and_of_a_fleet_join(lab, program):
    SlurmNode(lab, program, "st-20", user_data=USER_DATA, launch_index=3)
    SlurmNode(lab, program, "st-31", user_data=None, zone="us-east-1b", tags={**TAGS, "stint:node": "st-31"})
    for name, zone in (("st-20", "us-east-1a"), ("st-31", "us-east-1b")):
        until(lambda name=name: node_field(name, "State").startswith("IDLE"), 30, f"{name} to be idle")
        equal(node_field(name, "ActiveFeatures"), f"cloud,m7i.large,m7i,spot,{zone}")
        done = subprocess.run(["srun", "-p", "cloud", "-w", name, "hostname"], capture_output=True, text=True,
                              timeout=60, check=True)
        equal(done.stdout.strip(), name)


@with_slurm
def a_real_node_is_drained_by_a_notice(lab, _):
    lab.node.set(action={"action": "terminate", "in_s": 120})
    until(lambda: "DRAIN" in node_field("st-17", "State"), 20, "the node to be drained")
    assert node_field("st-17", "Reason").startswith("aws-terminate-"), node_field("st-17", "Reason")


def run_slurm(folder, program, first):
    lab = slurm_lab.Lab(folder)
    lab.start()
    try:
        return [ec2_lab.attempt(number, function, lab, program) for number, function in enumerate(SLURM_TESTS, first)]
    finally:
        lab.stop()


def run_all(program, folder, reason):
    print(f"1..{len(TESTS) + len(SLURM_TESTS)}", flush=True)
    world = World(program)
    good = []
    for number, function in enumerate(TESTS, 1):
        good.append(ec2_lab.attempt(number, function, world))
        world.finish()
    if folder:
        good += run_slurm(folder, program, len(TESTS) + 1)
    else:
        for number, function in enumerate(SLURM_TESTS, len(TESTS) + 1):
            print(f"ok {number} - {function.__name__} # SKIP {reason}")
    return 0 if all(good) else 1


def main():
    inside = ec2_lab.INSIDE in os.environ or slurm_lab.INSIDE in os.environ
    if not inside and ec2_lab.why_not():
        print(f"1..0 # SKIP {ec2_lab.why_not()}")
        return 0
    if not inside:
        sys.argv[1:] = [os.path.abspath(path) for path in sys.argv[1:]]
    reason = "no lab of Slurm" if ec2_lab.INSIDE in os.environ else None if inside else slurm_lab.why_not()
    if reason:
        ec2_lab.enclose()
        return run_all(sys.argv[1], None, reason)
    folder = slurm_lab.enclose()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    return run_all(sys.argv[1], folder, None)


if __name__ == "__main__":
    sys.exit(main())
