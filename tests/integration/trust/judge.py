# SPDX-License-Identifier: GPL-2.0-or-later
"""judge - the end of a run: waits until it is quiet, then lets the oracle hold the records against its rules.

Of Stint only its ledger is read, which must equal the cloud's bill. What the oracle has to be told (limits and when they
changed, whom an administrator requeued, for how long stintd could not act) the lab and the faults know.
"""
import time

import books
import oracle

RETURN_S = 60 + 60 + 30  # the minute that is paid for, an audit, and time to do it
CLOSE_S = 130            # two audits
SPEND = 2.0              # times what an instance for each job costs


def wait(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.2)
    return True


def ledger(lab):
    try:
        return lab.ask("/v1/ledger?by=type")["total"]["bill_microdollars"]
    except (OSError, RuntimeError):
        return None


def is_closed(lab):
    truth = sum(books.bill(one) for one in lab.machines().values() if one["billed_to"])
    try:
        return lab.healthy() and lab.instances() == 0 and ledger(lab) == truth
    except (OSError, RuntimeError):
        return False


def ideal(lab, work):
    """What an instance of its own for each job costs, for the time that it ran; of what began several times the last."""
    total = 0
    for one in work:
        value = dict(option[2:].split("=") for option in one.options if option.startswith("--") and "=" in option)
        for name in one.files():
            try:
                span = lab.moment(name) - lab.moment(name.replace("done.", "began."))
            except OSError:
                continue
            total += books.alone(int(value.get("cpus-per-task", 1)), int(value.get("mem", 500)),
                                 int(value.get("gres", "gpu:0").split(":")[1]), int(value.get("nodes", 1)), span)
    return total


def judge(lab, work, shown=None, late_s=0.0, bill_late_ms=0, **told):
    """What is wrong, as sentences. 'shown': the faults for rule 8; 'late_s': so much later than
    promised may a machine go back, as stintd could not act; 'bill_late_ms': so much later may the bill of a machine
    that was taken away end in the ledger, where the cloud does not say when it did."""
    wait(lambda: not lab.living(), RETURN_S + late_s)
    wait(lambda: is_closed(lab), CLOSE_S)
    bill = ledger(lab)
    told = {"limits": lab.limits_told, "losses": lab.losses, "requeues": lab.requeues, "crashes": lab.crashes,
            "ledger": {"bill_microdollars": bill if bill is not None else -1, "late_ms": bill_late_ms},
            "ideal_microdollars": ideal(lab, work), "multiple": SPEND, "faults": shown or [],
            "idle_ms": oracle.IDLE_MS + round(late_s * 1000), "end_ms": oracle.END_MS + round(late_s * 1000), **told}
    wrong, notes = lab.consult(work, **told)
    if lab.broken_foreign():
        wrong.append(f"jobs of others did not run once and to their end: {lab.broken_foreign()}")
    return wrong, notes


def figures(lab):
    return {"machines": len(lab.machines()), "most": lab.most_machines()}
