# SPDX-License-Identifier: Apache-2.0
"""ec2_identity - which machine of Stint an instance is, from a line of the stand-in's record.

Instances of one request share tags and user data: those of the first. The launch index tells them
apart: the second has the next key, and the next number at the end of its name.
"""
import re


def name_at(first, index):
    """The name of the machine that is 'index' behind the one named 'first': st-9 and 3 is st-12. Zeros
    before the number are not part of it, as stintd writes none there."""
    if index == 0:
        return first
    head, digits = re.fullmatch(r"(.*?)([1-9]\d*|0)", first).groups()
    return f"{head}{int(digits) + index}"


def key_of(line):
    return int(line["tags"]["stint:key"]) + line["index"]


def name_of(line):
    return name_at(line["tags"]["stint:node"], line["index"])
