#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_kube_guide.py BUILD - docs/start/kubernetes.md works as written, on a real API server with Karpenter's kwok provider. TAP.

A block of 'sh' is run by bash, all of them in one shell, and must succeed; a block of 'yaml' goes to the file that its first line names. Blocks
marked 'no-test' are left out; what they bring is put there: the programs of the build, the kubeconfig, a catalogue of the provider's types. The
node class is the provider's.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import kube_lab  # noqa: E402
import kube_world  # noqa: E402

GUIDE = f"{kube_lab.ROOT}/docs/start/kubernetes.md"
BLOCK = re.compile(r"^```(\w+)( no-test)?\n(.*?)^```$", re.M | re.S)


class World(kube_world.KubeWorld):
    def install(self, *more):
        return "" if not more else super().install(*more)

    def grant(self):
        pass


def script():
    """The guide as one script."""
    with open(GUIDE, encoding="utf-8") as file:
        text = file.read().replace("karpenter.k8s.aws/EC2NodeClass/default", "karpenter.kwok.sh/KWOKNodeClass/default")
    lines, count = ["set -em"], 0
    for kind, left_out, body in BLOCK.findall(text):
        if left_out:
            continue
        count += 1
        if kind == "yaml":
            name = re.match(r"# (\S+)\n", body).group(1)
            lines.append(f"cat >{name} <<'END_OF_FILE'\n{body}END_OF_FILE")
        else:
            lines.append(body)
    assert count >= 8, count
    return "\n".join(lines)


def follow(world):
    lab = world.lab
    lab.add_nodes(2, cpu="8", mem="32Gi", labels={"node.kubernetes.io/instance-type": "m5.2xlarge", "karpenter.sh/capacity-type": "on-demand",
                                                  "topology.kubernetes.io/zone": kube_world.ZONE})
    path = ":".join(f"{world.build}/src/{folder}" for folder in ("cli", "daemon", "engine/kubernetes"))
    done = subprocess.run(["bash", "-c", script()], cwd=lab.folder, text=True, capture_output=True, timeout=240,
                          env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "KUBECONFIG": lab.path("admin.kubeconfig")})
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    for part in ("2 nodes cost", "MutatingAdmissionPolicy stint-gate: would be created", "MutatingAdmissionPolicy stint-gate: created",
                 "job.batch/first condition met", "namespace trial: label removed", "namespace stint: deleted"):
        assert part in said, (part, said[-3000:])
    kube_lab.until(lambda: not world.claims(), 60, "the return of all machines")


POINTS = [("the guide works as written", follow)]

if __name__ == "__main__":
    sys.exit(kube_lab.main(POINTS, World))
