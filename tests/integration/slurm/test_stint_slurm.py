#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_stint_slurm - drive stint-slurm against a real Slurm: 'test_stint_slurm.py STINT-SLURM'.

STINT-SLURM is the program. See slurm_lab.py for the cluster. The tests run in order on one cluster;
each sentence is one TAP point. Where no cluster can be made, all of it is skipped, and the plan says
why; 'test_stint_slurm.py --why-not' says only that, and fails if there is nothing to say.
"""
import os
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True

import slurm_lab
from slurm_lab import run, until

PATIENCE = 60  # seconds for what takes one; the machine may be busy


class Refused(Exception):
    pass


class Skipped(Exception):
    pass


def in_order(text):
    """A node list with the numbers in brackets sorted: Slurm has them in the order in which nodes came to it."""
    return re.sub(r"\[([\d,]+)\]", lambda found: f"[{','.join(sorted(found[1].split(',')))}]", text)


def parse(line):
    word, *fields = line.rstrip("\n").split(" ")
    pairs = (field.split("=", 1) for field in fields)
    said = {"": word, **{key: urllib.parse.unquote(value) for key, value in pairs}}
    return {**said, "nodes": in_order(said["nodes"])} if "nodes" in said else said


class Bridge:
    """One stint-slurm, and what it said."""

    def __init__(self, program, *options):
        self.said = []
        self.key = 0
        self.process = subprocess.Popen([program, "--poll", "0.2", *options], text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        for line in self.process.stdout:
            self.said.append(parse(line))

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def find(self, word, since, **fields):
        wanted = {"": word, **{key: str(value) for key, value in fields.items()}}
        for said in self.said[since:]:
            if wanted.items() <= said.items():
                return said
        return None

    def wait(self, word, since=0, seconds=PATIENCE, **fields):
        return until(lambda: self.find(word, since, **fields), seconds, f"{word} {fields}")

    def ask_under(self, key, request, **fields):
        words = [f"{name}={urllib.parse.quote(str(value), safe=',[]_-.')}"
                 for name, value in fields.items()]
        since = len(self.said)
        self.send(" ".join([request, f"key={key}", *words]))
        return until(lambda: next((said for said in self.said[since:] if said.get("key") == str(key)
                                   and said[""] in ("done", "refused", "unsure")), None),
                     PATIENCE, f"an answer to {request}")

    def ask(self, request, **fields):
        self.key += 1
        answer = self.ask_under(self.key, request, **fields)
        if answer[""] != "done":
            raise Refused(answer["text"])
        return answer

    def refused(self, request, **fields):
        """The text of a refusal; it is a fault if there is none."""
        try:
            self.ask(request, **fields)
        except Refused as refusal:
            return str(refusal)
        raise AssertionError(f"{request} {fields} was not refused")

    def list(self, what):
        since = len(self.said)
        answer = self.ask("list", what=what)
        word = what[:-1]
        listed = [said for said in self.said[since:] if said[""] == word]
        name = "id" if word == "job" else "name"
        assert int(answer["count"]) == len({said[name] for said in listed}), answer
        return {said[name]: said for said in listed}

    def close(self):
        self.process.stdin.close()
        status = self.process.wait(PATIENCE)
        self.thread.join()
        return status


class World:
    def __init__(self, program, folder):
        self.program = program
        self.folder = folder
        self.lab = slurm_lab.Lab(folder, slurm_lab.GATE)
        self.bridge = None

    def start(self):
        self.lab.start()
        for name in ("n1", "n2", "n3"):
            self.lab.add_node(name)
        self.lab.add_node("g1", "CPUs=4 RealMemory=4000 Gres=gpu:t4:2",
                          "Name=gpu Type=t4 File=/dev/tty[10-11]\n")
        self.meet()

    def meet(self, *options):
        self.bridge = Bridge(self.program, *options)
        self.bridge.send("hello protocol=1")

    def submit(self, script, *options, user=None):
        """Plain sbatch; the script runs with the folder at hand. Returns the id."""
        before = ("runuser", "-u", user, "--") if user else ()
        text = f'#!/bin/bash\nD={self.folder}/out\n' \
               f'echo "$SLURMD_NODENAME ${{SLURM_RESTART_COUNT:-0}}" >>$D/ran.$SLURM_JOB_ID\n' \
               f'{script}\n'
        if not any(option.startswith("--mem") for option in options):
            options = ("--mem=100", *options)
        return run(*before, "sbatch", "--parsable", "-o", "/dev/null", "-D", "/", "-t", "10",
                   *options, input=text).strip()

    def ran(self, job):
        """Where it ran, one 'node run' per start."""
        try:
            with open(f"{self.folder}/out/ran.{job}", encoding="utf-8") as file:
                return file.read().split("\n")[:-1]
        except OSError:
            return []

    def place(self, job, nodes, **fields):
        """Whether it was taken; not while Slurm clears its last run away, nor in moments in which 22.05 does not find a node that it
        shows. The daemon tries these again, too."""
        try:
            return self.bridge.ask("place", job=job, nodes=nodes, **fields)
        except Refused as refusal:
            if "being cleared away" not in str(refusal) and "Invalid node name" not in str(refusal):
                raise
            return None

    def delete(self, node):
        try:
            return self.bridge.ask("delete", nodes=node)
        except Refused:
            return None

    def start_on(self, job, nodes, expect=None, **fields):
        """Place it and wait until Slurm says that it runs there."""
        since = len(self.bridge.said)
        until(lambda: self.place(job, nodes, **fields), PATIENCE, f"the last run of {job}")
        return self.bridge.wait("started", since, job=job, nodes=expect or nodes)


TESTS = []


def test(function):
    TESTS.append(function)
    return function


@test
def hello_names_the_protocol_and_the_release(world):
    said = world.bridge.wait("hello")
    assert said["protocol"] == "1", said
    assert run("sinfo", "--version").split()[1] == said["slurm"], said


@test
def nodes_that_join_are_told_with_their_shape(world):
    for name in ("n1", "n2", "n3"):
        said = world.bridge.wait("node", name=name, state="up")
        assert (said["cpus"], said["mem_mib"], said["drain"]) == ("4", "4000", "0"), said
    said = world.bridge.wait("node", name="g1", state="up")
    assert said["gres"].startswith("gpu:t4:2"), said
    assert "cloud" in said["features"], said


@test
def a_plain_job_is_held_by_the_gate_and_told_with_its_shape(world):
    world.job = world.submit("sleep 1", "-c", "2", "--mem-per-cpu=150", "-C", "cloud", "-J", "a b")
    said = world.bridge.wait("job", id=world.job)
    wanted = {"state": "pending", "node_count": "1", "cpus": "2", "mem_mib": "300",
              "features": "cloud", "limit_s": "600", "name": "a b", "user": "root", "uid": "0",
              "partition": "cloud", "run": "0", "hold": "held-gate"}
    assert wanted.items() <= said.items(), said
    assert abs(int(said["begin"]) - time.time()) < 60, said


@test
def a_placed_job_starts_where_it_was_placed(world):
    said = world.start_on(world.job, "n2")
    assert abs(int(said["start"]) - time.time()) < 60, said
    until(lambda: world.ran(world.job) == ["n2 0"], PATIENCE, "the script")


@test
def its_end_is_told_with_state_exit_and_times(world):
    said = world.bridge.wait("ended", job=world.job)
    assert (said["state"], said["exit"], said["signal"]) == ("completed", "0", "0"), said
    assert int(said["end"]) >= int(said["start"]), said


@test
def a_job_that_fails_is_told_with_its_exit_code(world):
    job = world.submit("exit 3")
    world.start_on(job, "n1")
    said = world.bridge.wait("ended", job=job)
    assert (said["state"], said["exit"]) == ("failed", "3"), said


@test
def a_waiting_array_is_one_record(world):
    world.array = world.submit("sleep 0.2", "-a", "0-5")
    said = world.bridge.wait("job", id=world.array)
    assert (said["array"], said["tasks"]) == (world.array, "0-5"), said


@test
def tasks_of_an_array_are_placed_one_by_one(world):
    for task, node in ((0, "n1"), (1, "n3")):
        world.bridge.ask("place", job=f"{world.array}_{task}", nodes=node)
        said = world.bridge.wait("job", array=world.array, task=task)
        world.bridge.wait("started", job=said["id"], nodes=node)


@test
def the_rest_of_an_array_is_released_in_one_request(world):
    answer = world.bridge.ask("release", jobs=f"{world.array}_[2-5]")
    assert (answer["count"], answer["failed"]) == ("1", "0"), answer
    for task in range(6):
        said = world.bridge.wait("job", array=world.array, task=task)
        world.bridge.wait("ended", job=said["id"], state="completed")


@test
def many_equal_jobs_are_released_in_one_request(world):
    jobs = [world.submit("true") for _ in range(4)]
    answer = world.bridge.ask("release", jobs=",".join([*jobs, "999999"]))
    assert (answer["count"], answer["failed"]) == ("4", "1"), answer
    failure = world.bridge.wait("failed", job=999999)
    assert failure["text"], failure
    for job in jobs:
        world.bridge.wait("ended", job=job, state="completed")


@test
def a_gang_starts_on_the_nodes_it_was_given(world):
    job = world.submit("srun hostname >$D/gang", "-N", "2", "--ntasks-per-node=1")
    said = world.bridge.wait("job", id=job)
    assert said["node_count"] == "2", said
    world.start_on(job, "n1,n3", expect="n[1,3]")
    world.bridge.wait("ended", job=job, state="completed")
    with open(f"{world.folder}/out/gang", encoding="utf-8") as file:
        assert sorted(file.read().split()) == ["n1", "n3"]


@test
def a_job_with_accelerators_starts_where_they_are(world):
    job = world.submit("true", "--gres=gpu:t4:2")
    said = world.bridge.wait("job", id=job)
    assert said["gres_node"] in ("gres:gpu:t4:2", "gres/gpu:t4:2"), said
    world.start_on(job, "g1")
    world.bridge.wait("ended", job=job, state="completed")


@test
def a_node_that_cannot_hold_the_job_does_not_start_it(world):
    job = world.submit("true", "--gres=gpu:t4:1")
    since = len(world.bridge.said)
    try:
        world.bridge.ask("place", job=job, nodes="n1")
        world.bridge.wait("job", since, id=job, reason="BadConstraints")
    except Refused as refusal:
        assert "configuration" in str(refusal), refusal
    world.start_on(job, "g1")


@test
def a_refusal_carries_slurms_own_words(world):
    assert "Invalid job id" in world.bridge.refused("place", job=999999, nodes="n1")
    job = world.submit("true")
    text = world.bridge.refused("place", job=job, nodes="nowhere")
    assert "node" in text.lower(), text
    world.start_on(job, "n1")


@test
def a_repeated_key_is_answered_again_and_done_once(world):
    job = world.submit("sleep 1")
    first = world.bridge.ask_under(70001, "place", job=job, nodes="n1")
    again = world.bridge.ask_under(70001, "place", job=job, nodes="n1")
    assert first == again, (first, again)
    world.bridge.wait("ended", job=job, state="completed")
    third = world.bridge.ask_under(70001, "place", job=job, nodes="n1")
    assert first == third, third
    assert world.ran(job) == ["n1 0"], world.ran(job)


@test
def a_job_that_runs_is_not_placed_again(world):
    world.job = world.submit("trap 'echo saved >$D/saved; SAVED=1' USR1\n"
                             "for i in $(seq 4000); do sleep 0.1; done")
    world.start_on(world.job, "n1")
    world.bridge.ask("place", job=world.job, nodes="n1")
    assert "already runs on n1" in world.bridge.refused("place", job=world.job, nodes="n2")


@test
def a_stop_saves_first_and_puts_the_job_back(world):
    until(lambda: world.ran(world.job), PATIENCE, "the script")
    time.sleep(4)  # before, a script may not have set its trap, and gets no signal
    since = len(world.bridge.said)
    began = time.monotonic()
    answer = world.bridge.ask("stop", job=world.job, signal="USR1", grace_ms=500, run=0)
    assert answer["was"] == "running", answer
    assert time.monotonic() - began >= 0.5
    world.bridge.wait("requeued", since, job=world.job, run=1)
    world.bridge.wait("job", since, id=world.job, state="pending", run=1)
    assert os.path.exists(f"{world.folder}/out/saved")


@test
def a_late_stop_of_an_earlier_run_is_refused(world):
    assert "in run 1, not 0" in world.bridge.refused("stop", job=world.job, run=0)


@test
def a_stopped_job_moves_to_another_node(world):
    began = time.monotonic()
    world.start_on(world.job, "n2", run=1)
    until(lambda: world.ran(world.job) == ["n1 0", "n2 1"], PATIENCE, "the second run")
    print(f"# moved in {time.monotonic() - began:.1f} s")


@test
def a_job_of_a_dead_node_runs_elsewhere_within_seconds(world):
    since = len(world.bridge.said)
    began = time.monotonic()
    world.lab.kill_node("n2")
    world.bridge.ask("down", nodes="n2", text="taken away")
    world.bridge.wait("requeued", since, job=world.job, run=2)
    world.start_on(world.job, "n3", run=2)
    took = time.monotonic() - began
    print(f"# from kill to running elsewhere: {took:.1f} s")
    assert took < 25, took  # slurmctld gives the node up after MessageTimeout
    # Down and drained: with ReturnToService=2 a last word of its slurmd may end the first before anybody has looked.
    said = world.bridge.wait("node", since, name="n2", drain="1")
    assert said["reason"] == "taken away", said


@test
def a_deleted_node_is_gone(world):
    world.bridge.ask("delete", nodes="n2")
    world.bridge.wait("node-gone", name="n2")
    assert "n2" not in world.bridge.list("nodes")


@test
def a_node_that_joins_late_is_told_and_used(world):
    world.lab.add_node("n4")
    world.bridge.wait("node", name="n4", state="up")
    job = world.submit("true")
    world.start_on(job, "n4")


@test
def a_drained_node_is_told_and_comes_back(world):
    since = len(world.bridge.said)
    world.bridge.ask("drain", nodes="n4", text="to be returned")
    world.bridge.wait("node", since, name="n4", drain="1")
    since = len(world.bridge.said)
    world.bridge.ask("resume", nodes="n4")
    world.bridge.wait("node", since, name="n4", drain="0", state="up")


@test
def a_released_job_can_be_held_again(world):
    job = world.submit("true", "-c", "4")
    world.bridge.ask("drain", nodes="n4")
    world.bridge.ask("place", job=job, nodes="n4")
    world.bridge.wait("job", id=job, hold="none")
    since = len(world.bridge.said)
    world.bridge.ask("hold", jobs=job)
    world.bridge.wait("job", since, id=job, hold="gate")
    world.bridge.ask("resume", nodes="n4")
    time.sleep(1)
    assert world.ran(job) == []
    world.start_on(job, "n4")


@test
def the_cost_of_a_job_stands_where_slurm_shows_it(world):
    world.bridge.ask("comment", job=world.job, text="cost: 0.12 USD, n3 50 %")
    assert "AdminComment=cost: 0.12 USD, n3 50 %" in run("scontrol", "show", "job", world.job)


@test
def it_says_that_it_is_alive(world):
    since = len(world.bridge.said)
    world.bridge.wait("alive", since, seconds=15)


@test
def nothing_new_is_told_when_nothing_happens(world):
    time.sleep(1.5)
    since = len(world.bridge.said)
    time.sleep(1.5)
    news = [said for said in world.bridge.said[since:] if said[""] != "alive"]
    assert not news, news


@test
def a_restart_of_slurmctld_is_survived_and_said(world):
    waiting = world.submit("true")
    world.bridge.wait("job", id=waiting)
    since = len(world.bridge.said)
    world.lab.stop_ctld()
    world.bridge.wait("controller", since, state="lost")
    world.lab.start_ctld()
    world.bridge.wait("controller", since, state="back")
    world.start_on(waiting, "n1")
    assert world.bridge.find("requeued", since) is None
    assert world.bridge.list("jobs")[world.job]["state"] == "running"


@test
def a_placed_job_goes_before_those_that_may_start_anywhere(world):
    """Else they take each machine that is rented for it."""
    others = ("n3", "n4", "g1")
    first = world.submit("until [ -e $D/over.$SLURM_JOB_ID ]; do sleep 0.1; done", "-c", "4")
    world.start_on(first, "n1")
    crowd = [world.submit("sleep 1", "-c", "4") for _ in range(3)]
    for name in others:
        world.bridge.ask("drain", nodes=name)
    try:
        world.bridge.ask("release", jobs=",".join(crowd))
        placed = world.submit("true", "-c", "4")
        since = len(world.bridge.said)
        world.bridge.ask("place", job=placed, nodes="n1")
        assert not [job for job in crowd if world.ran(job)], crowd
        world.lab.write(f"out/over.{first}", "")
        world.bridge.wait("started", since, job=placed, nodes="n1")
        assert not [job for job in crowd if world.ran(job)], crowd
    finally:
        for name in others:
            world.bridge.ask("resume", nodes=name)
    for job in crowd:
        world.bridge.wait("ended", since, job=job, state="completed")


@test
def the_last_task_of_an_array_is_held_by_its_own_name(world):
    array = world.submit("sleep 3", "-a", "0-1")
    world.bridge.wait("job", id=array)
    world.bridge.ask("place", job=f"{array}_0", nodes="n1")
    said = world.bridge.wait("job", array=array, task=0)
    world.bridge.wait("started", job=said["id"])
    world.bridge.ask("release", jobs=f"{array}_1")
    world.bridge.ask("stop", job=f"{array}_1", run=0, grace_ms=0)
    run("scancel", array)


@test
def a_node_that_a_waiting_job_ran_on_is_kept_over_a_restart(world):
    """Slurm clears a job off its nodes by their word. If all of them die first, the job waits again and
    still has them in its record, and a slurmctld that is restarted wants to find them."""
    for name in ("n5", "n6"):
        world.lab.add_node(name)
        world.bridge.wait("node", name=name, state="up")
    job = world.submit("sleep 1", "-N", "2")
    world.start_on(job, "n5,n6", expect="n[5-6]")
    since = len(world.bridge.said)
    for name in ("n5", "n6"):
        world.lab.kill_node(name)
        world.bridge.ask("down", nodes=name, text="taken away")
    world.bridge.wait("requeued", since, job=job)
    world.bridge.ask("drain", nodes="n4")
    until(lambda: world.place(job, "n1,n4", run=1), PATIENCE, f"the last run of {job}")
    time.sleep(2)
    if slurm_lab.release() < (23, 2):  # later ones clear it
        assert "NodeList=n[5-6]" in run("scontrol", "show", "job", job), run("scontrol", "show", "job", job)
        for name in ("n5", "n6"):
            assert f"job {job} " in world.bridge.refused("delete", nodes=name)
    since = len(world.bridge.said)
    world.lab.stop_ctld()
    world.bridge.wait("controller", since, state="lost")
    world.lab.start_ctld()
    world.bridge.wait("controller", since, state="back")
    world.bridge.ask("resume", nodes="n4")
    world.bridge.wait("ended", since, job=job, state="completed")
    for name in ("n5", "n6"):
        world.bridge.ask("delete", nodes=name)


@test
def a_job_that_only_names_a_node_does_not_keep_it(world):
    """Who holds a job that wants one node would else keep Slurm from forgetting it."""
    world.lab.add_node("n7")
    world.bridge.wait("node", name="n7", state="up")
    held = world.submit("true", "-H", "-w", "n7", user="nobody")
    gated = world.submit("true", "-w", "n7", user="nobody")
    array = world.submit("sleep 2", "-w", "n7", "-a", "0-3%2")
    world.bridge.wait("job", id=array)
    world.bridge.ask("place", job=f"{array}_1", nodes="n1")
    running = world.bridge.wait("job", array=array, task=1)["id"]
    world.bridge.wait("started", job=running)
    world.lab.kill_node("n7")
    world.bridge.ask("down", nodes="n7", text="given back")
    until(lambda: "requires it" in world.bridge.refused("delete", nodes="n7"), PATIENCE, "the look")
    until(lambda: world.delete("n7"), PATIENCE, "the node")
    world.bridge.wait("node-gone", name="n7")
    assert "JobState=RUNNING" in run("scontrol", "show", "job", running)
    for job, hold in ((held, "user"), (gated, "held-gate"), (array, "held-gate")):
        assert world.bridge.list("jobs")[job]["hold"] == hold, world.bridge.list("jobs")[job]
    world.bridge.wait("ended", job=running, state="completed")
    world.start_on(gated, "n1")
    run("scancel", held, array)


@test
def a_stopped_job_does_not_start_again_on_a_node_that_is_set_down(world):
    """The slurmd of a machine that is given back lives on for a moment, and its word that the job is
    cleared away would bring the node up again."""
    for number in range(4):
        world.lab.add_node(f"n{10 + number}")
        world.bridge.wait("node", name=f"n{10 + number}", state="up")
        job = world.submit("sleep 60")
        world.start_on(job, f"n{10 + number}")
        world.bridge.send(f"stop key={90000 + 2 * number} job={job} run=0 grace_ms=0")
        world.bridge.send(f"down key={90001 + 2 * number} nodes=n{10 + number} text=given")
        world.bridge.wait("done", key=90001 + 2 * number)
        world.bridge.wait("requeued", job=job)
        time.sleep(2)
        assert world.ran(job) in ([], [f"n{10 + number} 0"]), world.ran(job)
        state = run("scontrol", "show", "node", f"n{10 + number}")
        assert "DRAIN" in state, state  # up or down
        world.start_on(job, "n1", run=1)
        run("scancel", job)
        world.lab.kill_node(f"n{10 + number}")


def saved_at(path):
    """slurmctld replaces the file by a new one: for a moment there is none."""
    try:
        return os.path.getmtime(path)
    except FileNotFoundError:
        return 0


@test
def an_act_that_is_asked_for_meanwhile_is_done_afterwards(world):
    submitted = time.time()
    job = world.submit("true")
    world.bridge.wait("job", id=job)
    until(lambda: saved_at(f"{world.folder}/state/job_state") > submitted, PATIENCE,
          "slurmctld to save its state")
    since = len(world.bridge.said)
    world.lab.stop_ctld(signal.SIGKILL)
    world.bridge.wait("controller", since, state="lost")
    world.bridge.send(f"place key=80001 job={job} nodes=n1")
    world.lab.start_ctld()
    world.bridge.wait("done", since, key=80001)
    world.bridge.wait("started", since, job=job, nodes="n1")


@test
def after_a_kill_nothing_is_lost(world):
    world.waiting = world.submit("true")
    ending = world.submit("sleep 1")
    world.bridge.wait("job", id=ending)
    world.bridge.ask("place", job=ending, nodes="n1")
    world.bridge.wait("started", job=ending)
    world.bridge.process.kill()
    world.bridge.process.wait()
    until(lambda: "JobState=COMPLETED" in run("scontrol", "show", "job", ending), PATIENCE, "end")
    world.meet()
    world.bridge.wait("ended", job=ending, state="completed")
    world.bridge.wait("job", id=world.waiting, state="pending")
    assert world.bridge.wait("started", job=world.job)["nodes"] == "n3"
    world.start_on(world.waiting, "n1")


@test
def the_list_of_jobs_is_what_squeue_shows(world):
    listed = world.bridge.list("jobs")
    shown = run("squeue", "-h", "-r", "-t", "all", "-o", "%A").split()
    assert sorted(listed) == sorted(set(shown)), (sorted(listed), sorted(shown))


@test
def a_list_says_how_long_slurm_waits_for_a_silent_node(world):
    since = len(world.bridge.said)
    world.bridge.list("nodes")
    assert world.bridge.wait("list", since)["silence_s"] == "60"


@test
def a_list_of_nodes_ends_with_what_slurmctld_is_configured_to(world):
    since = len(world.bridge.said)
    world.bridge.list("nodes")
    said = world.bridge.wait("configuration", since)
    assert said["release"] == run("slurmctld", "-V").split()[-1], said
    assert (said["backfill_s"], said["gpu"], said["words"]) == ("30", "1", "0"), said


@test
def a_request_repeated_to_the_new_program_does_no_harm(world):
    world.bridge.ask("place", job=world.job, nodes="n3", run=2)
    assert "in run 2, not 1" in world.bridge.refused("stop", job=world.job, run=1)
    assert world.ran(world.job) == ["n1 0", "n2 1", "n3 2"], world.ran(world.job)
    run("scancel", world.job)
    world.bridge.wait("ended", job=world.job)


def as_nobody(*command):
    done = subprocess.run(["runuser", "-u", "nobody", "--", *command], capture_output=True,
                          text=True, check=False)
    return done.stdout + done.stderr


def assert_stays_gated(job):
    """There is room on every node: what is not gated starts within a second."""
    time.sleep(3)
    assert run("squeue", "-h", "-j", job, "-o", "%T").strip() == "PENDING"


@test
def a_user_cannot_pass_the_gate(world):
    job = world.submit("true", user="nobody")
    said = world.bridge.wait("job", id=job)
    assert (said["user"], said["hold"]) == ("nobody", "held-gate"), said
    assert as_nobody("scontrol", "update", f"job={job}", "StartTime=now") == ""
    assert_stays_gated(job)
    world.start_on(job, "n1")


def move_as_nobody(job, *more):
    """Without slurmdbd newer releases answer this with whatever error came last, and another time do it."""
    until(lambda: as_nobody("scontrol", "update", f"job={job}", "Partition=cloud", *more) == "", PATIENCE,
          f"job {job} to move")


@test
def who_moves_his_job_to_a_gated_partition_moves_it_behind_the_gate(world):
    job, held = (world.submit("true", "-p", "free", "--begin=now+1hour", user="nobody") for _ in range(2))
    world.bridge.wait("job", id=held, hold="none")
    move_as_nobody(job)
    move_as_nobody(held, "Priority=0")
    world.bridge.wait("job", id=job, hold="gate", partition="cloud")
    world.bridge.wait("job", id=held, hold="user", partition="cloud")
    time.sleep(2)
    assert world.ran(job) == []
    world.start_on(job, "n1")
    as_nobody("scontrol", "release", held)
    world.bridge.wait("job", id=held, hold="gate")
    run("scancel", held)


@test
def a_hold_of_the_user_is_told_apart_from_the_gate(world):
    job = world.submit("true", "-H", user="nobody")
    world.bridge.wait("job", id=job, hold="user")
    since = len(world.bridge.said)
    as_nobody("scontrol", "release", job)
    world.bridge.wait("job", since, id=job, hold="gate")
    since = len(world.bridge.said)
    as_nobody("scontrol", "hold", job)
    world.bridge.wait("job", since, id=job, hold="user")
    since = len(world.bridge.said)
    run("scontrol", "hold", job)
    world.bridge.wait("job", since, id=job, hold="admin")
    assert "is held" in world.bridge.refused("place", job=job, nodes="n1")
    since = len(world.bridge.said)
    run("scontrol", "release", job)
    world.bridge.wait("job", since, id=job, hold="gate")
    assert_stays_gated(job)
    world.start_on(job, "n1")


def nodes_of_parts(job):
    shown = [line.split("=") for line in run("squeue", "-h", "-j", job, "-o", "%i=%N").split()]
    return {part: sorted(run("scontrol", "show", "hostnames", nodes).split()) for part, nodes in shown if nodes}


def restart_with_backfill(world, interval):
    """Only the backfill scheduler starts heterogeneous jobs. Not so often for all tests: see docs/reference/slurm-options.md, Limits."""
    world.bridge.close()
    world.lab.stop_ctld()
    world.lab.backfill = interval
    world.lab.write_conf()
    world.lab.start_ctld()
    world.meet()


@test
def the_components_of_a_heterogeneous_job_start_together_each_on_its_nodes(world):
    restart_with_backfill(world, 2)
    ask = world.bridge.ask
    job = world.submit("sleep 60", "-c2", ":", "-N2", "-n2", "-c3", "--mem=200")
    said = world.bridge.wait("job", id=job, hold="held-gate", het=job)
    parts = [parse(line) for line in said["parts"].splitlines()]
    assert (said["cpus"], said["node_count"], said["backfill_s"]) == ("2", "1", "2"), said
    assert [(part["cpus"], part["node_count"], part["mem_mib"]) for part in parts] == [("6", "2", "200")], parts
    ask("unhold", jobs=job)
    ask("explain", job=job, text="Stint: full")
    assert shown_note(job) == ["Stint: full"], shown_note(job)
    ask("place", job=job, nodes="n3;n1,n4", text="stint: c5.large")
    assert world.bridge.wait("started", job=job, run=0)["nodes"].startswith("n3,n[")
    assert nodes_of_parts(job) == {f"{job}+0": ["n3"], f"{job}+1": ["n1", "n4"]}, nodes_of_parts(job)
    assert shown_note(job) == ["stint: c5.large"], shown_note(job)
    assert "already runs on n3" in world.bridge.refused("place", job=job, nodes="n1;n3,n4")
    ask("place", job=job, nodes="n3;n1,n4")  # it does
    assert ask("stop", job=job, run=0)["was"] == "running"
    world.bridge.wait("job", id=job, state="pending", run=1, hold="gate")
    until(lambda: "completing" not in world.bridge.list("jobs")[job], PATIENCE, "the end of its run")
    time.sleep(2)
    assert nodes_of_parts(job) == {}, nodes_of_parts(job)
    ask("place", job=job, nodes="n1;n3,n4", run=1)
    world.bridge.wait("started", job=job, run=1)
    assert nodes_of_parts(job) == {f"{job}+0": ["n1"], f"{job}+1": ["n3", "n4"]}, nodes_of_parts(job)
    since = len(world.bridge.said)
    run("scancel", job)
    world.bridge.wait("ended", since, job=job, state="cancelled")
    told = {said.get("id", said.get("job")) for said in world.bridge.said if said[""] in ("job", "started", "ended")}
    assert str(int(job) + 1) not in told, "a component has lines of its own"


@test
def a_heterogeneous_job_that_is_placed_in_part_does_not_start(world):
    job = world.submit("true", ":", "-c3")
    world.bridge.wait("job", id=job, hold="held-gate")
    assert "nvalid" in world.bridge.refused("place", job=job, nodes="n1;nowhere")
    world.bridge.ask("hold", jobs=job)
    world.bridge.wait("job", id=job, hold="gate")
    world.bridge.ask("give-up", job=job, text="stint: held after 5 failed starts, last: none")
    world.bridge.wait("job", id=job, hold="user")
    assert world.ran(job) == []
    run("scancel", job)
    restart_with_backfill(world, 30)


SITE = """\
local stint = dofile("{gate}")
slurm_job_submit = stint.closed(function(job, partitions, uid)
    if job.name == "odd" then error("no such thing") end
    job.comment = "of the site"
    return stint.submit(job, partitions, uid)
end)
return slurm.SUCCESS
"""


@test
def a_script_of_the_site_calls_the_gate_and_fails_closed(world):
    def submit_as_site():
        """slurmctld reads a script again if it is from a later second."""
        job = world.submit("true", user="nobody")
        if "Comment=of the site" in run("scontrol", "show", "job", job):
            return job
        run("scancel", job)
        return None

    world.lab.write("slurm/job_submit.lua", SITE.format(gate=slurm_lab.GATE))
    os.utime(f"{world.folder}/slurm/job_submit.lua", (time.time() + 2, time.time() + 2))
    job = until(submit_as_site, PATIENCE, "the script of the site")
    world.bridge.wait("job", id=job, hold="held-gate")
    assert as_nobody("scontrol", "update", f"job={job}", "StartTime=now") == ""
    assert_stays_gated(job)
    try:
        raise AssertionError(f"{world.submit('true', '-J', 'odd')} was not refused")
    except RuntimeError as refusal:
        assert "submission failed" in str(refusal), refusal
    world.start_on(job, "n1")
    world.lab.write_conf()
    os.utime(f"{world.folder}/slurm/job_submit.lua", (time.time() + 4, time.time() + 4))


@test
def a_job_that_is_given_up_is_its_users_to_release(world):
    job = world.submit("true", user="nobody")
    world.bridge.wait("job", id=job, hold="held-gate")
    world.bridge.ask("give-up", job=job, text="stint: held after 5 failed starts, last: none")
    said = world.bridge.wait("job", id=job, hold="user")
    assert said["comment"].startswith("stint: held after 5"), said
    shown = as_nobody("scontrol", "show", "job", job)
    assert "AdminComment=stint: held after 5 failed starts" in shown and "JobHeldUser" in shown, shown
    since = len(world.bridge.said)
    as_nobody("scontrol", "release", job)
    world.bridge.wait("job", since, id=job, hold="gate")
    world.start_on(job, "n1")


@test
def a_job_that_was_put_back_and_held_stays_held(world):
    job = world.submit("sleep 60")
    world.start_on(job, "n1")
    since = len(world.bridge.said)
    run("scontrol", "requeuehold", job)
    world.bridge.wait("job", since, id=job, state="pending", hold="user", run=1)
    until(lambda: "is held" in world.bridge.refused("place", job=job, nodes="n1", run=1), PATIENCE,
          "the end of its last run")
    assert world.bridge.ask("release", jobs=job)["failed"] == "1"
    run("scontrol", "release", job)
    world.start_on(job, "n1", run=1)
    run("scancel", job)


def place_until_put_back(world, since, job, node):
    """A job whose launch fails. 22.05 now and then takes a node that has just joined for another one, and starts nothing: the daemon
    places such a job again, too."""
    placed = None

    def is_put_back():
        nonlocal placed
        if any((said[""], said.get("job"), said.get("run")) == ("requeued", job, "1") for said in world.bridge.said[since:]):
            return True
        if placed is None or time.monotonic() - placed > 20:
            placed = time.monotonic() if world.place(job, node) else None
        return False

    try:
        until(is_put_back, PATIENCE, f"job {job} to be put back")
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {run('scontrol', 'show', 'job', job)} {run('scontrol', 'show', 'node', node)}") from error


@test
def a_job_that_could_not_be_launched_may_be_placed_again(world):
    world.lab.add_node("n20", more="Prolog=/bin/false\n")
    world.bridge.wait("node", name="n20", state="up")
    job = world.submit("true")
    since = len(world.bridge.said)
    place_until_put_back(world, since, job, "n20")
    world.bridge.wait("node", since, name="n20", drain="1")
    until(lambda: "launch failed" in run("squeue", "-h", "-j", job, "-o", "%R"), PATIENCE,
          "Slurm to hold it")
    world.bridge.wait("job", since, id=job, state="pending", hold="none", run=1)
    world.start_on(job, "n1", run=1)
    world.bridge.wait("ended", since, job=job, state="completed")
    world.lab.kill_node("n20")
    world.bridge.ask("down", nodes="n20")


def shown_note(job, user="nobody"):
    """What squeue shows of a job to a user, as the manual says."""
    shown = run("runuser", "-u", user, "--", "squeue", "-h", "-r", "-j", job, "-O", "admin_comment:80")
    return sorted({line.strip() for line in shown.splitlines()})


@test
def squeue_shows_why_a_job_waits(world):
    ask = world.bridge.ask
    jobs = [world.submit("true", "--mem=100"),      # held by the gate
            world.submit("true", "--mem=999999"),   # for which slurmctld 22.05 answers with an error,
            world.submit("true", "-c", "99"),       # as for this one, and does it
            world.submit("true", "-a", "0-3")]
    world.bridge.wait("job", id=jobs[3])
    for job in jobs:
        for text in (f"Stint: waits for st-{job}, which boots", "Stint: limit instances is reached"):
            ask("explain", job=job, text=text)
            world.bridge.wait("job", id=job, comment=text)
            assert shown_note(job) == [text], shown_note(job)
    lines = run("squeue", "-h", "-j", jobs[3]).splitlines()
    assert len(lines) == 1, lines  # the array is one record still
    since = len(world.bridge.said)
    ask("explain", job=jobs[0], text="Stint: limit instances is reached")  # as it is: not written
    ask("unhold", jobs=jobs[0])
    assert "priority" in world.bridge.wait("job", since, id=jobs[0], hold="gate")
    ask("explain", job=jobs[0], text="Stint: no machine type is large enough")  # not held, behind the gate
    said = world.bridge.wait("job", since, id=jobs[0], comment="Stint: no machine type is large enough")
    assert said["hold"] == "gate" and world.ran(jobs[0]) == [], said
    since = len(world.bridge.said)
    ask("release", jobs=f"{jobs[0]},{jobs[3]}_[0-3]")
    for job in (jobs[0], jobs[3]):
        said = world.bridge.wait("job", since, id=job, state="completed")
        assert said.get("comment", "") == "", said
    run("scancel", jobs[1], jobs[2])


@test
def a_comment_of_the_site_is_left_alone(world):
    ask, refused = world.bridge.ask, world.bridge.refused
    job = world.submit("sleep 2")
    subprocess.run(["scontrol", "update", f"job={job}", "AdminComment=ticket 7"], check=False,
                   capture_output=True)  # 22.05 does it, and may answer with an error
    assert "is the site's" in refused("explain", job=job, text="Stint: full")
    assert "is the site's" in refused("explain", job=job)
    assert "is the site's" in refused("comment", job=job, text="stint: $1")
    ask("give-up", job=job, text="stint: held after 5 failed starts, last: none")
    world.bridge.wait("job", id=job, hold="user", comment="ticket 7")
    assert shown_note(job, "root") == ["ticket 7"], shown_note(job, "root")
    run("scancel", job)
    job = world.submit("sleep 2")
    world.bridge.wait("job", id=job, hold="held-gate")
    ask("explain", job=job, text="Stint: full")
    world.start_on(job, "n1", text="stint: c5.large")  # says where it runs instead
    assert "does not wait" in refused("explain", job=job, text="Stint: full")
    ask("explain", job=job)
    assert shown_note(job) == ["stint: c5.large"], shown_note(job)


@test
def a_dependency_is_told_until_it_is_met(world):
    first = world.submit("true")
    job = world.submit("true", "-d", f"afterok:{first}")
    assert first in world.bridge.wait("job", id=job)["depend"]
    world.bridge.wait("job", id=first)
    world.bridge.ask("hold", jobs=job)
    since = len(world.bridge.said)
    world.start_on(first, "n1")
    until(lambda: any(said[""] == "job" and said["id"] == job and "depend" not in said
                      and said["hold"] == "gate" for said in world.bridge.said[since:]),
          PATIENCE, "the dependency")
    world.start_on(job, "n1")


@test
def the_begin_that_a_user_wants_is_told(world):
    job = world.submit("true", "--begin=now+1hour")
    said = world.bridge.wait("job", id=job, hold="held-gate")
    assert abs(int(said["begin"]) - time.time() - 3600) < 60, said
    run("scancel", job)
    for day, seconds in (("2080-01-01", 3471292800), ("2150-01-01", 4855759999)):
        job = world.submit("true", f"--begin={day}")
        said = world.bridge.wait("job", id=job, hold="held-gate")
        assert abs(int(said["begin"]) - seconds) < 86400, said
        run("scancel", job)


@test
def the_tasks_of_a_long_array_are_told_whole(world):
    tasks = ",".join(str(task) for task in range(1, 400, 3))
    job = world.submit("true", "-a", tasks + "%7")
    said = world.bridge.wait("job", id=job)
    assert said["tasks"] in (tasks + "%7", "1-397:3%7"), said
    run("scancel", job)
    world.bridge.wait("ended", job=job)


@test
def a_job_that_names_no_memory_gets_all_of_it(world):
    job = run("sbatch", "--parsable", "-o", "/dev/null", "-D", "/", input="#!/bin/sh\n").strip()
    assert world.bridge.wait("job", id=job)["mem_all"] == "1"
    job = world.submit("true")
    assert "mem_all" not in world.bridge.wait("job", id=job)
    world.start_on(job, "n1")


@test
def a_stop_of_what_waits_takes_its_placement_back(world):
    job = world.submit("true", "-c", "4")
    world.bridge.ask("drain", nodes="n1")
    world.bridge.ask("place", job=job, nodes="n1", run=0)
    answer = world.bridge.ask("stop", job=job, run=0)
    assert answer["was"] == "waiting", answer
    since = len(world.bridge.said)
    world.bridge.ask("resume", nodes="n1")
    world.bridge.wait("node", since, name="n1", drain="0")
    time.sleep(1.5)
    assert world.ran(job) == []
    world.start_on(job, "n1")


@test
def what_ends_is_told_before_what_starts(world):
    first = world.submit("sleep 1", "-c", "4")
    second = world.submit("true", "-c", "4")
    world.start_on(first, "n1")
    world.bridge.ask("place", job=second, nodes="n1")
    world.bridge.wait("started", job=second)
    words = [(said[""], said.get("job")) for said in world.bridge.said]
    assert words.index(("ended", first)) < words.index(("started", second))


@test
def the_cost_of_an_ended_job_needs_accounting(world):
    job = world.submit("true")
    world.start_on(job, "n1")
    world.bridge.wait("ended", job=job)
    assert "no accounting" in world.bridge.refused("comment", job=job, text="stint: $1")


@test
def a_partition_without_nodes_is_a_gate_too(world):
    if (24, 11) <= slurm_lab.release() < (24, 11, 6):
        raise Skipped("24.11 before 24.11.6 refuses a job of a partition without nodes")
    job = world.submit("true", "-p", "gate")
    said = world.bridge.wait("job", id=job, hold="none")
    assert said["partition"] == "gate", said
    world.start_on(job, "n1", partition="cloud")


@test
def what_is_not_ours_is_neither_told_nor_touched(world):
    other = Bridge(world.program, "--ignore-partitions", "other", "--ignore-users", "nobody")
    other.send("hello protocol=1")
    aside = world.submit("true", "-p", "other")
    foreign = world.submit("true", user="nobody")
    ours = world.submit("true")
    other.wait("job", id=ours)
    for job in (aside, foreign):
        assert other.find("job", 0, id=job) is None
        assert "not to be touched" in other.refused("place", job=job, nodes="n1")
        world.start_on(job, "n1")
    world.start_on(ours, "n1")
    assert other.close() == 0


@test
def only_what_was_asked_for_is_ours(world):
    other = Bridge(world.program, "--partitions", "other")
    other.send("hello protocol=1")
    aside = world.submit("true", "-p", "other")
    ours = world.submit("true")
    other.wait("job", id=aside)
    assert other.find("job", 0, id=ours) is None
    assert other.ask("hold", jobs=ours)["failed"] == "1"
    assert other.close() == 0


@test
def what_cannot_be_read_is_an_error_and_the_next_line_is_read(world):
    since = len(world.bridge.said)
    world.bridge.send("Nonsense")
    world.bridge.wait("error", since)
    assert "'nodes'" in world.bridge.refused("place", job=1)
    world.bridge.list("nodes")


@test
def no_common_protocol_ends_it(world):
    other = Bridge(world.program)
    other.send("list key=1 what=jobs")
    other.wait("error", text="say hello first")
    other.send("hello protocol=99")
    other.wait("error", text="no common protocol")
    assert other.process.wait(PATIENCE) == 2


@test
def it_ends_with_its_input(world):
    assert world.bridge.close() == 0


def run_tests(world):
    failed = 0
    print(f"1..{len(TESTS)}", flush=True)
    for number, function in enumerate(TESTS, 1):
        began = time.monotonic()
        name = function.__name__
        try:
            function(world)
            print(f"ok {number} - {name}")
        except Skipped as reason:
            print(f"ok {number} - {name} # SKIP {reason}")
        except Exception as fault:  # whatever it is, the next test still tells something
            failed += 1
            print(f"not ok {number} - {name}\n# {type(fault).__name__}: {fault}")
            for said in world.bridge.said[-12:]:
                print(f"# said: {said}")
        print(f"# {time.monotonic() - began:.1f} s", flush=True)
    if failed:
        print("".join(f"# {line}\n" for line in world.lab.complaints()), end="")
    return failed


def main():
    if slurm_lab.INSIDE not in os.environ:
        reason = slurm_lab.why_not()
        if sys.argv[1:] == ["--why-not"]:
            print(reason or "")
            return 0 if reason else 1
        if reason:
            print(f"1..0 # SKIP {reason}")
            return 0
    sys.argv[1:] = [os.path.abspath(path) for path in sys.argv[1:]]
    folder = slurm_lab.enclose()
    world = World(sys.argv[1], folder)
    os.makedirs(f"{folder}/out")
    os.chmod(f"{folder}/out", 0o777)
    try:
        world.start()
        return 1 if run_tests(world) else 0
    finally:
        world.lab.stop()


if __name__ == "__main__":
    sys.exit(main())
