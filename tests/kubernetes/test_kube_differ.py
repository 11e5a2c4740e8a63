#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_kube_differ.py BUILD - a sample of differ.py: kube-scheduler binds pods where Stint says that they fit. TAP."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import differ  # noqa: E402
import kube_lab  # noqa: E402

PODS, NODES, SEED = 400, 50, 1


def main():
    reason = kube_lab.why_not()
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    print("1..1")
    is_good = differ.run(sys.argv[1], PODS, NODES, SEED)
    print("ok 1 - every pod is where Stint said" if is_good else "not ok 1 - Stint and kube-scheduler differ")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
