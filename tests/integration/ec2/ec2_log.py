# SPDX-License-Identifier: Apache-2.0
"""ec2_log - the record of EC2's stand-in as the log of a cloud, in the columns of docs/reference/local-cloud.md.

What a machine is called and which intent it is comes from its tags, as EC2 shows them; times are those
that the API tells, in whole seconds, but for the first column. Prices are those of the catalogue. The
column 'machine' has EC2's own id: two instances of one key are two machines.
"""
import csv

import ec2_identity
import ec2_types

COLUMNS = ("ms", "event", "id", "name", "offer", "price_microdollars_per_hour", "billed_from", "billed_to", "why",
           "machine")
WHYS = {"client": "returned", "spot": "revoked", "console": "died"}
TAG = "stint:key"


def rows_of(lines):
    """The rows of a record. Instances without our tags are other people's and left out."""
    known = {}
    for line in lines:
        if line["event"] == "launch" and TAG in line["tags"]:
            row = [ec2_identity.key_of(line), ec2_identity.name_of(line),
                   f"{line['type']}/{line['zone']}/{line['market']}", ec2_types.price(line["type"], line["market"])]
            known[line["id"]] = row, ec2_types.milliseconds(line["launch_time"])
            yield [line["at"], "rented", *row, "", "", "", line["id"]]
            yield [line["at"], "running", *row, known[line["id"]][1], "", "", line["id"]]
        elif line["event"] == "notice" and line["id"] in known and line["kind"] == "interruption":
            row, since = known[line["id"]]
            yield [line["at"], "notice", *row, since, "", "", line["id"]]
        elif line["event"] == "terminate" and line["id"] in known:
            row, since = known[line["id"]]
            why = WHYS[line["by"]]
            if why == "returned":
                yield [line["at"], "returned", *row, since, "", "", line["id"]]
            ended = max(since, line["at"] // 1000 * 1000)
            yield [line["at"], "gone", *row, since, ended, why, line["id"]]


def write(lines, path):
    with open(path, "w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        out.writerows(rows_of(lines))
