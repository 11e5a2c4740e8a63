#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""made_up_cluster - what kubectl would print of a cluster: made_up_cluster.py NODES PODS [SEED] >cluster.json

Nodes are of a few general types in two zones, a fifth of them spot. Pods are of one hundred kinds and run on the first
node that has room for them, as they came; then a third of them has gone again, as happens to clusters. Objects carry the
fields that nobody reads too, so that sizes are those of real ones.
"""
import json
import random
import sys

TYPES = [("m5.xlarge", 4, 16), ("m5.2xlarge", 8, 32), ("c5.2xlarge", 8, 16), ("r5.xlarge", 4, 32), ("m5.4xlarge", 16, 64)]
DAEMON = (150, 300)  # milli-CPU and MiB on each node


def node(number, rng):
    name, cpu, mem = rng.choice(TYPES)
    labels = {"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "kubernetes.io/hostname": f"n{number}",
              "node.kubernetes.io/instance-type": name, "topology.kubernetes.io/zone": f"us-east-1{'ab'[number % 2]}",
              "karpenter.sh/capacity-type": "spot" if rng.random() < 0.2 else "on-demand"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}", "labels": labels}, "spec": {},
            "status": {"capacity": {"cpu": str(cpu), "memory": f"{int(mem * 1024 * 1024 * 0.97)}Ki", "pods": "110"},
                       "allocatable": {"cpu": f"{cpu * 1000 - 80}m", "memory": f"{int(mem * 1024 * 0.9)}Mi", "pods": "110"},
                       "conditions": [{"type": "MemoryPressure", "status": "False"}, {"type": "Ready", "status": "True"}]}}


def pod(name, space, owner, cpu, mem, where, more=None):
    kind, owner_name = owner
    return {"apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": space, "uid": "0" * 36, "labels": {"app": owner_name},
                         "ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": owner_name, "controller": True}],
                         "managedFields": [{"manager": "kubelet", "operation": "Update",
                                            "fieldsV1": {f"f:{word}": {"f:x": {}} for word in ("status", "spec", "phase")}}]},
            "spec": {"nodeName": where, "containers": [
                {"name": "main", "image": "registry.example/app:1", "env": [{"name": f"E{i}", "value": "x"} for i in range(8)],
                 "resources": {"requests": {"cpu": f"{cpu}m", "memory": f"{mem}Mi"}}}], **(more or {})},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}


def main():
    node_count, pod_count = int(sys.argv[1]), int(sys.argv[2])
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)
    nodes = [node(i, rng) for i in range(node_count)]
    room = []
    for one in nodes:
        usable = one["status"]["allocatable"]
        room.append([int(usable["cpu"][:-1]) - DAEMON[0], int(usable["memory"][:-2]) - DAEMON[1]])
    # Fewer than six pods of these sizes fill a node, on average; where there are to be more, they are smaller.
    sizes = [100, 250, 500, 1000, 2000] if pod_count < 10.5 * node_count else [50, 100, 250, 500, 750]
    kinds = []
    for _ in range(100):
        cpu = rng.choice(sizes)
        kinds.append((cpu, int(cpu * rng.choice([1, 2, 4, 8]) * 1.024)))
    items = list(nodes)
    for i, one in enumerate(nodes):
        items.append(pod(f"agent-{i}", "kube-system", ("DaemonSet", "agent"), *DAEMON, one["metadata"]["name"]))
    first, placed = 0, []
    for i in range(pod_count * 3 // 2):
        cpu, mem = kinds[i % 100]
        for at in range(first, min(first + 40, node_count)):
            if room[at][0] >= cpu and room[at][1] >= mem:
                room[at][0] -= cpu
                room[at][1] -= mem
                placed.append((i, cpu, mem, nodes[at]["metadata"]["name"]))
                break
        else:
            first = min(first + 1, node_count - 1)
    rng.shuffle(placed)
    for i, cpu, mem, where in sorted(placed[:pod_count]):
        items.append(pod(f"p-{i}", "shop", ("ReplicaSet", f"k{i % 100}"), cpu, mem, where))
    items.append({"kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "shop"},
                  "spec": {"selector": {"matchLabels": {"app": "k7"}}}, "status": {"disruptionsAllowed": 0}})
    json.dump({"apiVersion": "v1", "items": items, "kind": "List"}, sys.stdout)


main()
