#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The bill: what the books are exported as, and how they are held against a bill of the cloud; in TAP.

    tests/bill.py STINT BILL_WORLD

BILL_WORLD writes books, and the log of the cloud. From the log alone this script makes a Cost and Usage Report as AWS writes
it, an item for each machine and hour, with everything that makes a bill differ from the books, and knows by
how much. FOCUS is checked by the rules of its specification (1.0), none of which come from the tool.
"""
import csv
import json
import re
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

STINT, WORLD = sys.argv[1:3]
HOUR = 3600 * 1000
MICRO = Decimal(10) ** -6
count = failed = 0


def check(what, is_good, note=""):
    global count, failed
    count += 1
    failed += not is_good
    print(f"{'ok' if is_good else 'not ok'} {count} - {what}")
    if not is_good:
        print(f"# {note}")


def run(*words, code=0):
    done = subprocess.run([STINT, *map(str, words)], capture_output=True, text=True)
    if done.returncode != code:
        print(f"# stint {' '.join(map(str, words))}: {done.returncode} {done.stderr}")
    return done.stdout


def clock(ms):
    return datetime.fromtimestamp(ms // 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_log(text):
    keys = ("key", "type", "market", "price", "from", "to")
    machines = [dict(zip(keys, line.split())) for line in text.splitlines()]
    for machine in machines:
        for key in ("key", "price", "from", "to"):
            machine[key] = int(machine[key])
    return machines


# -- FOCUS ------------------------------------------------------------------------------------------

COLUMNS = """AvailabilityZone BilledCost BillingAccountId BillingAccountName BillingCurrency BillingPeriodEnd
BillingPeriodStart ChargeCategory ChargeClass ChargeDescription ChargeFrequency ChargePeriodEnd ChargePeriodStart
CommitmentDiscountCategory CommitmentDiscountId CommitmentDiscountName CommitmentDiscountStatus CommitmentDiscountType
ConsumedQuantity ConsumedUnit ContractedCost ContractedUnitPrice EffectiveCost InvoiceIssuerName ListCost ListUnitPrice
PricingCategory PricingQuantity PricingUnit ProviderName PublisherName RegionId RegionName ResourceId ResourceName
ResourceType ServiceCategory ServiceName SkuId SkuPriceId SubAccountId SubAccountName Tags""".split()
NUMBERS = ["BilledCost", "EffectiveCost", "ListCost", "ContractedCost", "ConsumedQuantity", "PricingQuantity",
           "ListUnitPrice", "ContractedUnitPrice"]
NOT_NULL = ["BilledCost", "BillingAccountId", "BillingCurrency", "BillingPeriodEnd", "BillingPeriodStart", "ChargeCategory",
            "ChargePeriodEnd", "ChargePeriodStart", "ContractedCost", "EffectiveCost", "InvoiceIssuerName", "ListCost",
            "ProviderName", "PublisherName", "ServiceCategory", "ServiceName"]
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")


def faults_of(row):
    """What the specification forbids in a row."""
    for name in NOT_NULL:
        if row[name] == "":
            yield f"{name} is null"
    for name in NUMBERS:
        if row[name] != "" and not re.fullmatch(r"-?\d+(\.\d+)?", row[name]):
            yield f"{name} is no number: {row[name]}"
    for name in ("BillingPeriodStart", "BillingPeriodEnd", "ChargePeriodStart", "ChargePeriodEnd"):
        if not TIME.match(row[name]):
            yield f"{name} is no time: {row[name]}"
    if not row["BillingPeriodStart"] <= row["ChargePeriodStart"] < row["ChargePeriodEnd"] <= row["BillingPeriodEnd"]:
        yield "the periods contradict each other"
    if row["BillingCurrency"] != "USD" or row["ChargeCategory"] not in ("Usage", "Purchase", "Tax", "Credit", "Adjustment"):
        yield "currency or category"
    if row["ChargeClass"] not in ("", "Correction") or row["ChargeFrequency"] not in ("One-Time", "Recurring", "Usage-Based"):
        yield "class or frequency"
    if row["PricingCategory"] not in ("Standard", "Dynamic", "Committed", "Other") or row["ServiceCategory"] != "Compute":
        yield "pricing or service category"
    if not isinstance(json.loads(row["Tags"]), dict):
        yield "Tags is no object"


def check_focus(path, bill, machines):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    header = list(rows[0])
    custom = [name for name in header if name not in COLUMNS]
    check("FOCUS has all 43 columns of 1.0, and others only with x_", header[:len(COLUMNS)] == COLUMNS
          and all(name.startswith("x_") for name in custom), header)
    faults = [f"row {i}: {fault}" for i, row in enumerate(rows) for fault in faults_of(row)]
    check("every value of every FOCUS row is as the specification wants it", not faults, faults[:5])
    total = sum(Decimal(row["BilledCost"]) for row in rows)
    check("FOCUS adds up to the ledger, to the micro-dollar", total == bill, f"{total} {bill}")
    parts = sum(Decimal(row[f"x_Stint{part}Cost"]) for row in rows for part in ("Boot", "Idle", "Work"))
    check("and so do its parts", parts == total, f"{parts} {total}")
    owned = [row for row in rows if row["ProviderName"] == "(owned)"]
    check("two owned nodes have a row a day, for what they cost", len(owned) == 30
          and {(row["ResourceId"], row["BilledCost"], row["ListUnitPrice"]) for row in owned}
          == {("owned-0", "6.000000", "0.250000"), ("owned-1", "0.000000", "0.000000")}
          and {(row["PricingCategory"], row["SkuId"], row["RegionId"]) for row in owned} == {("Other", "(owned)", "")}, owned[:2])
    rows = [row for row in rows if row not in owned]
    hours = sum(Decimal(row["ConsumedQuantity"]) for row in rows)
    truth = Decimal(sum(machine["to"] - machine["from"] for machine in machines)) / HOUR
    check("FOCUS has the hours of the cloud's log", abs(hours - truth) < Decimal("0.01"), f"{hours} {truth}")


# -- A bill as AWS writes it -------------------------------------------------------------------------

HEADER = ["lineItem/LineItemType", "lineItem/UsageStartDate", "lineItem/UsageEndDate", "lineItem/UsageType",
          "lineItem/UsageAmount", "lineItem/UnblendedCost", "lineItem/ProductCode", "lineItem/ResourceId", "pricing/unit",
          "product/instanceType", "product/region", "resourceTags/user:stint:cluster", "resourceTags/user:stint:key"]


class Bill:
    def __init__(self, digits):
        self.rows = []
        self.digits = Decimal(10) ** -digits

    def add(self, kind, begin, end, usage, amount, cost, unit="Hrs", type_="", region="us-east-1", cluster="lab", key=""):
        cost = Decimal(cost).quantize(self.digits, ROUND_HALF_UP)
        self.rows.append([kind, clock(begin), clock(end), usage, f"{amount:.10f}", str(cost), "AmazonEC2", "i-0abc", unit,
                          type_, region, cluster, key])
        return cost

    def machine(self, machine, **more):
        """An item for each hour; seconds count in full."""
        sum_, at = Decimal(0), machine["from"] // 1000 * 1000
        end = (machine["to"] - machine["from"] + 999) // 1000 * 1000 + at
        usage = ("SpotUsage:" if machine["market"] == "spot" else "BoxUsage:") + machine["type"]
        while at < end:
            to = min(end, (at // HOUR + 1) * HOUR)
            amount = Decimal(to - at) / HOUR
            sum_ += self.add("Usage", at, to, usage, amount, amount * machine["price"] * MICRO,
                             **{"type_": machine["type"], "key": machine["key"], **more})
            at = to
        return sum_

    def write(self, path):
        with open(path, "w", newline="") as file:
            csv.writer(file).writerows([HEADER, *self.rows])


def dollars(found, cause):
    return found["causes_microdollars"][cause] * MICRO


def near(a, b, slack="0.0001"):
    return abs(a - b) <= Decimal(slack)


def reconcile(path, state):
    return json.loads(run("reconcile", path, "--state", state, "-o", "json"))


def check_clean(folder, state, machines, seed):
    bill = Bill(10)
    total = sum(bill.machine(machine) for machine in machines)
    bill.write(folder / "clean.csv")
    found = reconcile(folder / "clean.csv", state)
    others = [cause for cause in found["causes_microdollars"] if cause != "rounding" and dollars(found, cause) != 0]
    check(f"seed {seed}: a bill of the same run differs by rounding alone", not others
          and found["unexplained_microdollars"] == 0 and near(dollars(found, "rounding"), 0, "0.05"), found)
    forecast = found["forecast_microdollars"] * MICRO
    check(f"seed {seed}: the forecast is within 2 % of the bill", abs(forecast / total - 1) < Decimal("0.02"),
          f"{forecast} {total}")


def check_causes(folder, state, machines, seed):
    """Everything at once; the amounts are known beforehand."""
    bill, day = Bill(4), machines[0]["from"]
    untagged = [machine for machine in machines if machine["key"] % 17 == 0]
    absent = [machine for machine in machines if machine["type"] == "p5.48xlarge"]
    for machine in machines:
        if machine not in untagged and machine not in absent:
            bill.machine(machine)
    missing = sum(bill.machine(machine, cluster="", key="") for machine in untagged if machine not in absent)
    unknown = bill.machine({**machines[0], "type": "t3.nano", "price": 5200}, key="999")
    elsewhere = bill.machine(machines[1], region="eu-west-1")
    credit = bill.add("Credit", day, day + HOUR, "BoxUsage:c7i.large", 0, "-12.5")
    tax = bill.add("Tax", day, day + HOUR, "", 0, "3.21")
    disks = bill.add("Usage", day, day + HOUR, "EBS:VolumeUsage.gp3", 100, "8", unit="GB-Mo")
    bill.machine({**machines[2], "price": 10 ** 9}, cluster="another")
    bill.write(folder / "causes.csv")
    found = reconcile(folder / "causes.csv", state)
    absent_cost = sum(Decimal(machine["price"]) * MICRO * (machine["to"] - machine["from"]) / HOUR for machine in absent)
    wanted = {"missing-tag": -missing, "unknown-resource": unknown, "other-region": elsewhere, "credit": credit, "tax": tax,
              "other-service": disks, "fee": Decimal(0), "price": Decimal(0), "time": Decimal(0)}
    for cause, amount in wanted.items():
        check(f"seed {seed}: {cause} is {amount:.4f}", near(dollars(found, cause), amount, "0.001"), found)
    check(f"seed {seed}: what is not on the bill is known", near(dollars(found, "not-billed"), -absent_cost, "0.01"), found)
    check(f"seed {seed}: rounding is what is left, below two cents a machine", found["unexplained_microdollars"] == 0
          and abs(dollars(found, "rounding")) < Decimal("0.02") * len(machines), found)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for seed in (1, 2, 3):
            state = folder / f"{seed}.db"
            machines = read_log(subprocess.run([WORLD, state, str(seed)], capture_output=True, text=True,
                                               check=True).stdout)
            ledger = json.loads(run("ledger", "--state", state, "-o", "json"))
            bill = ledger["total"]["bill_microdollars"] * MICRO
            if seed == 1:
                run("ledger", "--state", state, "--focus", folder / "focus.csv")
                check_focus(folder / "focus.csv", bill, machines)
                found = reconcile(folder / "focus.csv", state)
                check("our own FOCUS differs from the books by nothing", found["bill_microdollars"] == found[
                    "ledger_microdollars"] and not any(found["causes_microdollars"].values()), found)
                run("ledger", "--state", state, "--usage", folder / "usage.csv")
                check("stint commit reads the usage", "c7i.large" in run("commit", folder / "usage.csv"))
                check("owned nodes are nothing to commit to", (folder / "usage.csv").read_text().splitlines()[0].count(",") == 3)
                one = run("ledger", "--state", state, "--by", "account", "--since", "2026-11-01", "--until", "2026-11-11",
                          "--apportion", "-o", "csv")
                two = run("ledger", "--state", state, "--by", "account", "--since", "2026-11-11", "--apportion", "-o", "csv")
                both = sum(Decimal(row["cost_usd"]) for text in (one, two) for row in csv.DictReader(text.splitlines()))
                check("two periods by account, boot and idle time apportioned, are the bill", both == bill, f"{both} {bill}")
                check("a period that ends before it begins is refused", run(
                    "ledger", "--state", state, "--since", "2026-11-11", "--until", "2026-11-01", code=2) == "")
            check_clean(folder, state, machines, seed)
            check_causes(folder, state, machines, seed)
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
