#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""test_oracle - the oracle on small logs that were made by hand: for each rule one that holds, and those
that break it and nothing else. TAP."""
import datetime
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
for name in ("ec2", "daemon"):
    sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", name))

import ec2_log
import oracle
import records
import sampler

T0 = 1794720000000  # ms; all times below are seconds after it
HEAD = "ms,event,id,name,offer,price_microdollars_per_hour,billed_from,billed_to,why"
PRICE = 36000000  # $36 per hour: a cent per second
QUIET = {rule: "not asked" for rule in oracle.RULES}


POINTS = []


def point(function):
    POINTS.append(function)
    return function


def ms(seconds):
    return T0 + round(seconds * 1000)


def stamp(seconds):
    return datetime.datetime.fromtimestamp(ms(seconds) / 1000).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]


class Scene:
    """A folder that is filled line by line, in any order of time."""

    def __init__(self, folder):
        self.folder = folder
        self.cloud = []
        self.slurm = []
        self.jobs = []
        os.makedirs(f"{folder}/out")

    def machine(self, key, rented, gone=None, why="returned", notice=None, machine=None, name=None):
        """Runs a second after it was rented; given back a tenth of a second before it is gone."""
        name = name or f"st-{key}"
        start = f"{key},{name},small//on-demand,{PRICE}"
        rows = [(rented, f"rented,{start},,,"), (rented + 1, f"running,{start},{ms(rented + 1)},,")]
        if notice is not None:
            rows.append((notice, f"notice,{start},{ms(rented + 1)},,"))
        if gone is not None:
            if why == "returned":
                rows.append((gone - 0.1, f"returned,{start},{ms(rented + 1)},,"))
            rows.append((gone, f"gone,{start},{ms(rented + 1)},{ms(gone)},{why}"))
        self.cloud += [(at, f"{ms(at)},{text}" + (f",{machine}" if machine else "")) for at, text in rows]

    def refused(self, key, at):
        self.cloud += [(at, f"{ms(at)},rented,{key},st-{key},small//on-demand,{PRICE},,,"),
                       (at, f"{ms(at)},refused,{key},st-{key},small//on-demand,{PRICE},,,capacity")]

    def run(self, job, node, begin, end=None, how="_job_complete: {} done", raw=None, status=0):
        name = f"JobId={job}({raw})" if raw else f"JobId={job}"
        self.slurm.append((begin, f"sched: Allocate {name} NodeList={node} #CPUs=1 Partition=cloud"))
        if end is not None:
            if "done" in how:
                self.slurm.append((end, f"_job_complete: {name} WEXITSTATUS {status}"))
            self.slurm.append((end, how.format(name)))

    def script(self, job, starts, ends):
        """'starts': (seconds, node) each."""
        for kind, lines in (("began", [f"{ms(at)} 1 {node}" for at, node in starts]),
                            ("done", [f"{ms(at)}" for at in ends])):
            if lines:
                with open(f"{self.folder}/out/{kind}.{job}", "w", encoding="utf-8") as file:
                    file.write("".join(line + "\n" for line in lines))

    def write(self):
        columns = HEAD + (",machine" if any(line.count(",") > 8 for _, line in self.cloud) else "")
        with open(f"{self.folder}/cloud.csv", "w", encoding="utf-8") as file:
            file.write("\n".join([columns] + [line for _, line in sorted(self.cloud, key=lambda row: row[0])]) + "\n")
        with open(f"{self.folder}/slurmctld.log", "w", encoding="utf-8") as file:
            for at, text in sorted(self.slurm, key=lambda row: row[0]):
                file.write(f"[{stamp(at)}] {text}\n")
        with open(f"{self.folder}/jobcomp.txt", "w", encoding="utf-8") as file:
            file.write("".join(self.jobs))

    def ask(self, *rules, **told):
        """The violations of these rules; the others are skipped."""
        self.write()
        skip = {rule: why for rule, why in QUIET.items() if rule not in rules}
        violations, _ = oracle.ask(self.folder, skip=skip, **told)
        return violations


def plain(scene):
    """Two jobs, one machine, nothing wrong."""
    scene.machine(1, 0, 62)
    scene.run(7, "st-1", 3, 23)
    scene.run("8_2", "st-1", 4, 40, raw=9)
    scene.script("7_", [(3.1, "st-1")], [23])
    scene.script("8_2", [(4.1, "st-1")], [40])


def one(violations, *words):
    assert len(violations) == 1, violations
    for word in words:
        assert word in violations[0], (word, violations[0])


# -- 1 --

@point
def limits_hold_while_never_exceeded(scene):
    for key in range(4):
        scene.machine(key + 1, key * 10, key * 10 + 19.9)  # two at a time, three never
    scene.refused(9, 15)
    assert not scene.ask(1, limits={"instances": 2, "microdollars_per_hour": 2 * PRICE})


@point
def a_machine_above_the_limit_is_found(scene):
    for key in range(3):
        scene.machine(key + 1, key, 90)
    found = scene.ask(1, limits={"instances": 2})
    assert "3 machines" in found[0] and "limit of 2" in found[0] and "st-3" in found[0], found


@point
def a_machine_counts_from_when_it_was_accepted(scene):
    scene.machine(1, 0, 10)
    scene.machine(2, 9.5, 60)  # runs only when the first is gone
    assert scene.ask(1, limits={"instances": 1})


@point
def a_machine_that_could_not_be_made_counts_until_then(scene):
    scene.machine(1, 0, 10)
    scene.cloud += [(3, f"{ms(3)},rented,2,st-2,small//on-demand,{PRICE},,,"),
                    (4, f"{ms(4)},refused,2,st-2,small//on-demand,{PRICE},,,broken")]
    assert not scene.ask(1, limits={"instances": 2})
    assert scene.ask(1, limits={"instances": 1})
    scene.run(7, "st-1", 3, 9)
    assert not scene.ask(3, 4)


@point
def a_price_above_the_cap_is_found(scene):
    for key in range(2):
        scene.machine(key + 1, key, 90)
    found = scene.ask(1, limits={"instances": 5, "microdollars_per_hour": 2 * PRICE - 1})
    assert "cap of" in found[0], found


@point
def a_limit_that_was_lowered_binds_new_machines_only(scene):
    for key in range(3):
        scene.machine(key + 1, key, 90)
    limits = [{"from": 0, "instances": 3}, {"from": ms(5), "instances": 1}]
    assert not scene.ask(1, limits=limits)
    scene.machine(4, 50, 95)
    assert "4 machines" in scene.ask(1, limits=limits)[0]


# -- 2 --

@point
def two_machines_of_one_key_are_found(scene):
    scene.machine(1, 0, 60, machine="i-a")
    assert not scene.ask(2)
    scene.machine(1, 3, 60, machine="i-b", name="st-9")
    one(scene.ask(2), "2 machines of key 1", "i-a", "i-b")


@point
def two_machines_of_one_name_are_found(scene):
    scene.machine(1, 0, 60)
    scene.machine(2, 3, 60, name="st-1")
    one(scene.ask(2), "name st-1")


def launch(at, machine, key, index=0):
    """As the stand-in of EC2 records it."""
    return {"event": "launch", "at": ms(at), "id": machine, "type": "c5.large", "zone": "a", "market": "spot",
            "launch_time": "2026-11-15T05:20:01.000Z", "index": index,
            "tags": {"stint:key": str(key), "stint:node": f"st-{key}"}}


@point
def the_record_of_the_stand_in_of_ec2_is_read(scene):
    scene.write()
    lines = [launch(0, "i-a", 5), launch(0, "i-b", 5, index=1),
             {"event": "notice", "at": ms(3), "id": "i-a", "kind": "interruption", "until": ms(9)},
             {"event": "terminate", "at": ms(9), "id": "i-a", "by": "spot"},
             {"event": "terminate", "at": ms(80.5), "id": "i-b", "by": "client"}]
    ec2_log.write(lines, f"{scene.folder}/cloud.csv")
    first, second = records.Cloud(f"{scene.folder}/cloud.csv").machines
    assert (first.name, first.why, first.notice, first.returned) == ("st-5", "revoked", ms(3), None)
    assert (second.name, second.why, second.returned, second.billed_to) == ("st-6", "returned", ms(80.5), ms(80))
    ec2_log.write(lines + [launch(1, "i-c", 5)], f"{scene.folder}/twice.csv")
    found, _ = oracle.ask(scene.folder, cloud="twice.csv", skip={rule: "" for rule in oracle.RULES if rule != 2})
    assert len(found) == 2 and "i-c" in found[0], found


# -- 3 --

@point
def idle_within_what_is_paid_for_is_allowed(scene):
    plain(scene)
    assert not scene.ask(3)


@point
def a_machine_that_idles_on_is_found(scene):
    plain(scene)
    scene.machine(2, 0, 130)
    scene.run(9, "st-2", 62, 80)
    one(scene.ask(3), "st-2", "no work", "49.9 s")
    assert not scene.ask(3, idle_ms=50000)
    assert not scene.ask(3, excused=[{"from": ms(85), "to": ms(200), "why": "stintd was stopped"}])
    assert scene.ask(3, excused=[{"from": ms(62), "to": ms(120), "why": "stintd was stopped"}])


@point
def what_slurm_clears_off_is_not_idle(scene):
    plain(scene)
    scene.machine(2, 0, 130)
    scene.run(9, "st-2", 62, 80, "_job_complete: requeue {} per user/system request")
    scene.slurm.append((125, "cleanup_completing: JobId=9 completion process took 45 seconds"))
    assert not scene.ask(3)


@point
def idle_before_the_first_job_is_found(scene):
    scene.machine(1, 0, 200)
    scene.run(7, "st-1", 100, 199)
    one(scene.ask(3), "st-1", "no work")


@point
def idle_while_a_job_is_there_is_none(scene):
    scene.machine(1, 0)
    scene.run(7, "st-1", 30, None)
    assert not scene.ask(3, judged_at=ms(900))


@point
def a_machine_that_never_runs_is_found(scene):
    scene.cloud.append((0, f"{ms(0)},rented,1,st-1,small//on-demand,{PRICE},,,"))
    one(scene.ask(3, judged_at=ms(100)), "st-1", "has not run")


@point
def longer_terms_are_paid_for(scene):
    scene.machine(1, 0, 3600)
    scene.run(7, "st-1", 3, 23)
    assert scene.ask(3)
    assert not scene.ask(3, billing={"step_ms": 3600000, "minimum_ms": 0})


# -- 4 --

@point
def all_gone_soon_after_the_last_job_holds(scene):
    plain(scene)
    assert not scene.ask(4)


@point
def a_machine_that_stays_is_found(scene):
    plain(scene)
    scene.machine(2, 0, 75)  # a stranger that no job ran on
    one(scene.ask(4), "st-2", "was gone")


@point
def a_machine_that_is_still_there_is_found(scene):
    plain(scene)
    scene.machine(2, 0)
    one(scene.ask(4, judged_at=ms(50)), "st-2", "too early")
    one(scene.ask(4, judged_at=ms(500)), "st-2", "still there")


# -- 5 --

@point
def jobs_that_run_once_hold(scene):
    plain(scene)
    assert not scene.ask(5)


@point
def a_job_that_is_not_done_is_found(scene):
    plain(scene)
    scene.run(10, "st-1", 41, 45)
    scene.script("10_", [(41.1, "st-1")], [])
    one(scene.ask(5), "10_", "not complete")
    assert not scene.ask(5, unfinished={"10": "the test cancelled it"})


@point
def a_job_that_was_never_allocated_is_found(scene):
    plain(scene)
    scene.slurm.append((2, "_slurm_rpc_submit_batch_job: JobId=11 InitPrio=0 usec=238"))
    one(scene.ask(5), "11_", "never had a node")
    one(scene.ask(5, jobs=["7", "8_2", "8_3"]), "8_3")


@point
def a_job_that_failed_is_found(scene):
    plain(scene)
    scene.run(10, "st-1", 41, 45)
    scene.jobs.append(f"JobId=10 JobState=NODE_FAIL EndTime={stamp(45)[:19]} NodeList=st-1\n")
    one(scene.ask(5), "10_", "NODE_FAIL")


@point
def a_job_that_ended_with_a_status_is_found(scene):
    plain(scene)
    scene.run(10, "st-1", 41, 45, status=1)
    one(scene.ask(5), "10_", "not complete")


@point
def a_requeue_that_nothing_explains_is_found(scene):
    plain(scene)
    scene.run(10, "st-1", 10, 10.2, "Requeuing {}")
    scene.run(10, "st-1", 41, 45)
    one(scene.ask(5), "10_", "requeued", "none of its nodes was lost", "slurmctld.log:")


@point
def a_requeue_after_a_loss_holds(scene):
    plain(scene)
    scene.machine(2, 0, 20, why="revoked")
    scene.run("10_3", "st-[1-2]", 10, 20.3, "requeue job {} due to failure of node st-2", raw=12)
    scene.run("10_3", "st-1", 41, 45, raw=12)
    scene.script("10_3", [(10.1, "st-[1-2]"), (41.1, "st-1")], [45])
    assert not scene.ask(5)


@point
def a_requeue_before_the_loss_is_found(scene):
    plain(scene)
    scene.machine(2, 0, 20, why="revoked")
    scene.run(10, "st-2", 10, 19, "Requeuing {}")
    scene.run(10, "st-1", 41, 45)
    one(scene.ask(5), "10_", "none of its nodes was lost")


@point
def losses_and_requeues_can_be_told(scene):
    plain(scene)
    scene.run(10, "st-1", 10, 19, "Requeuing {}")
    scene.run(10, "st-1", 41, 45)
    assert not scene.ask(5, losses=[{"ms": ms(18), "node": "st-1", "why": "its slurmd was killed"}])
    assert not scene.ask(5, requeues=[{"ms": ms(19), "job": "10"}])
    assert not scene.ask(5, movable=["10_"])
    assert scene.ask(5, requeues=[{"ms": ms(35), "job": "10"}])
    assert scene.ask(5, requeues=[{"ms": ms(19), "job": "11"}])


@point
def a_launch_that_failed_is_no_restart(scene):
    """Unless the script began in that run, or does not say when it began."""
    plain(scene)
    scene.run(10, "st-1", 10, 20, "_job_complete: requeue {} per user/system request")
    scene.run(10, "st-1", 41, 45)
    assert scene.ask(5)
    scene.script("10_", [(41.1, "st-1")], [45])
    assert not scene.ask(5)
    scene.script("10_", [(10.1, "st-1"), (41.1, "st-1")], [45])
    one(scene.ask(5), "10_", "none of its nodes was lost")


@point
def nodes_that_slurm_gave_up_are_losses(scene):
    plain(scene)
    scene.run(10, "st-1", 10, 30, "requeue job {} due to failure of node st-1")
    scene.slurm.append((29.9, "error: Nodes st-[1,4-5] not responding, setting DOWN"))
    scene.run(10, "st-1", 41, 45)
    assert not scene.ask(5)


@point
def a_script_that_slurm_does_not_know_of_is_found(scene):
    plain(scene)
    scene.script("7_", [(3.1, "st-1"), (9, "st-1")], [23])
    one(scene.ask(5), "job 7_", "2 times")


@point
def a_job_that_ran_again_after_its_end_is_found(scene):
    plain(scene)
    scene.run(7, "st-1", 30, 50)
    one(scene.ask(5), "job 7_", "then again")


@point
def a_machine_given_back_under_a_job_is_found(scene):
    plain(scene)
    scene.machine(2, 0, 30)
    scene.run(10, "st-2", 29.8, 30.2, "Killing {} on failed node st-2")
    scene.run(10, "st-1", 41, 45)
    found = scene.ask(5)
    assert len(found) == 2 and any("st-2 was given back" in text for text in found), found


@point
def a_machine_given_back_after_a_notice_holds(scene):
    plain(scene)
    scene.machine(2, 0, 30, notice=20)
    scene.run(10, "st-2", 10, 30.2, "Requeuing {}")
    scene.run(10, "st-1", 41, 45)
    assert not scene.ask(5)


@point
def what_an_earlier_test_did_is_passed_over(scene):
    plain(scene)
    scene.run(6, "st-1", -100, -90, "Requeuing {}")
    assert scene.ask(5)
    assert not scene.ask(5, since=ms(-50))


# -- 6 and 7 --

@point
def the_ledger_is_the_bill(scene):
    scene.machine(1, 0, 31)   # 30 s, of which the minimum makes 60: $0.60
    scene.machine(2, 0, 71.2, why="revoked")   # 70.2 s are 71 steps: $0.71
    scene.run(7, "st-1", 3, 23)
    assert not scene.ask(6, ledger={"bill_microdollars": 1310000})
    one(scene.ask(6, ledger={"bill_microdollars": 1310001}), "1.310001", "1.310000")
    one(scene.ask(6, ledger={"bill_microdollars": 1300000}), "1.300000")
    assert not scene.ask(6, ledger={"bill_microdollars": 1330000, "late_ms": 2000})
    assert scene.ask(6, ledger={"bill_microdollars": 1350000, "late_ms": 2000})


@point
def the_bill_is_held_against_the_ideal(scene):
    plain(scene)  # $0.61
    assert not scene.ask(7, ideal_microdollars=600000, multiple=1.1)
    one(scene.ask(7, ideal_microdollars=600000, multiple=1.01), "0.610000", "1.01 times")
    one(scene.ask(7, ideal_microdollars=0, multiple=1.5), "0.610000")


# -- 8 --

def shown(scene, *samples):
    with open(f"{scene.folder}/samples.jsonl", "w", encoding="utf-8") as file:
        for at, findings, lines, metrics in samples:
            file.write(json.dumps({"ms": ms(at), "findings": [{"kind": kind} for kind in findings],
                                   "log": lines, "metrics": metrics}) + "\n")
    plain(scene)


ERRORS = 'stint_findings{severity="error"}'
FAULT = {"kind": "audit", "begin": ms(0), "end": ms(90), "log": "audit late"}


@point
def a_fault_that_is_shown_in_time_holds(scene):
    shown(scene, (30, [], ["stintd: audit late"], {ERRORS: 0}), (58, ["audit"], [], {ERRORS: 1}))
    assert not scene.ask(8, faults=[FAULT])
    assert not scene.ask(8, faults=[])


@point
def a_fault_that_is_not_shown_is_found_in_each_place(scene):
    shown(scene, (30, ["other"], ["stintd: audit"], {ERRORS: 0}), (62, ["audit"], ["audit late"], {ERRORS: 1}))
    found = scene.ask(8, faults=[FAULT])
    assert len(found) == 3 and all("audit" in text for text in found), found
    assert not scene.ask(8, faults=[{**FAULT, "end": ms(50)}])  # too short to be judged


@point
def a_metric_can_be_named(scene):
    shown(scene, (30, ["audit"], ["audit late"], {ERRORS: 1, "stint_audit_late": 0}))
    one(scene.ask(8, faults=[{**FAULT, "metric": "stint_audit_late"}]), "metrics")


@point
def the_sampler_writes_what_the_oracle_reads(scene):
    answers = {"/v1/doctor": {"findings": [{"kind": "audit"}]},
               "/metrics": f"# TYPE stint_findings gauge\n{ERRORS} 1\n"}
    log = f"{scene.folder}/said"
    with open(log, "w", encoding="utf-8") as file:
        file.write("stintd: old\n")
    watch = sampler.Sampler(answers.get, f"{scene.folder}/samples.jsonl", log, every=0.05)
    with open(log, "a", encoding="utf-8") as file:
        file.write("stintd: audit late\nhalf a l")
    watch.ends.wait(0.4)
    watch.stop()
    found = oracle.read_samples(f"{scene.folder}/samples.jsonl")
    begin = found[0]["ms"]
    plain(scene)
    assert not scene.ask(8, faults=[{**FAULT, "begin": begin - 1, "end": begin + 90000}])
    assert [line for sample in found for line in sample["log"]] == ["stintd: audit late"], found


# -- the whole --

@point
def what_cannot_be_judged_is_a_violation(scene):
    plain(scene)
    found = scene.ask(*oracle.RULES)
    assert len(found) == 4 and all("cannot be judged" in text for text in found), found


@point
def the_program_judges_a_folder(scene):
    plain(scene)
    scene.write()
    told = {"limits": {"instances": 1}, "ledger": {"bill_microdollars": 610000}, "ideal_microdollars": 610000,
            "multiple": 1, "faults": [], "skip": {"8": "no faults"}}
    program = [sys.executable, oracle.__file__, scene.folder]
    for change, status in (({}, 0), ({"ledger": {"bill_microdollars": 1}}, 1)):
        with open(f"{scene.folder}/oracle.json", "w", encoding="utf-8") as file:
            json.dump({**told, **change}, file)
        done = subprocess.run(program, capture_output=True, text=True, check=False)
        assert done.returncode == status, (done.stdout, done.stderr)
        assert ("VIOLATION of rule 6" in done.stdout) == bool(status), done.stdout
    done = subprocess.run([*program, "--skip", "6=why not"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "not judged: why not" in done.stdout, done.stdout


@point
def an_unknown_field_is_refused(_):
    try:
        oracle.Told(limit=3)
    except TypeError:
        return
    raise AssertionError("it was taken")


@point
def lists_of_hosts_are_read(_):
    assert records.expand("st-[1-3,07],n1,x[09-10]") == \
        ["st-1", "st-2", "st-3", "st-07", "n1", "x09", "x10"]


def main():
    print(f"1..{len(POINTS)}", flush=True)
    failed = 0
    for number, function in enumerate(POINTS, 1):
        with tempfile.TemporaryDirectory() as folder:
            name = function.__name__.replace("_", " ")
            try:
                function(Scene(folder))
                print(f"ok {number} - {name}", flush=True)
            except Exception as fault:
                failed += 1
                print(f"not ok {number} - {name}\n# {type(fault).__name__}: {fault}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
