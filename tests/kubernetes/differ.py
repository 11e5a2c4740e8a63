#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""differ.py BUILD [--pods N] [--nodes N] [--seed N]... - does kube-scheduler bind pods where Stint says that they fit?

Random pods with every constraint that a pod may have are created in a managed namespace, by waves. Stint (its adapter, its
connection to a real API server and its rule of what fits, with a policy that takes any machine: kube_judge.c) opens the
gates of those that it understands, for one machine each. kube-scheduler binds, or does not:

 - a pod that Stint has placed is bound to that machine;
 - a pod that Stint calls impossible (no machine of the catalogue can hold it) is not bound to an empty node of any type;
 - a pod that Stint leaves alone is never on a machine of Stint.

Then a third of those that are bound are deleted, and what waited may have their places.

Nodes are kwok's, and of Stint's machines some take one pod or two, and some attach one volume or two. The pods of a wave are deleted before the next one.
"""
import argparse
import collections
import concurrent.futures
import copy
import json
import os
import random
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import kube_lab  # noqa: E402
import patience  # noqa: E402

ZONES = ("za", "zb", "zc")
TYPES = {"c9.large": (2, 4, 0), "c9.2xlarge": (8, 16, 0), "m9.xlarge": (4, 16, 0), "m9.4xlarge": (16, 64, 0),
         "r9.xlarge": (4, 32, 0), "g9.2xlarge": (8, 32, 2)}
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
FAMILIES = [("apart", HOST, {}), ("apart", HOST, {}), ("spread", HOST, {"maxSkew": 1}), ("spread", HOST, {"maxSkew": 2}),
            ("spread", ZONE, {"maxSkew": 3}), ("apart", ZONE, {}), ("apart", ZONE, {}),
            ("least", ZONE, {"maxSkew": 1, "minDomains": 3}), ("least", ZONE, {"maxSkew": 2, "minDomains": 5}),
            ("near", ZONE, {}), ("follow", ZONE, {})]
WAVE = 400
CLAIMS = 40  # that pods choose from; several may have the same one
ATTACHED = 5  # volumes, by the catalogue
DISKS = "/apis/storage.k8s.io/v1"
IMPOSSIBLE = "no machine of the catalogue can hold it"


def offers():
    """In the order of the catalogue: by type, zone and market."""
    return [(name, zone, market) for name in TYPES for zone in ZONES for market in ("on-demand", "spot")]


def catalogue():
    lines = ["types:"]
    for name, (cpu, mem, accel) in TYPES.items():
        rows = ", ".join(f"{{ zone: {zone}, market: {market}, price: 0.1 }}" for zone in ZONES for market in ("on-demand", "spot"))
        lines.append(f"  - {{ name: {name}, cpu: {cpu}, mem_gib: {mem}, accel: {accel}, volumes: {ATTACHED}, offers: [ {rows} ] }}")
    return "\n".join(lines) + "\n"


class Pods:
    """Random pods of one seed."""

    def __init__(self, seed, owner):
        self.rng, self.owner = random.Random(seed), owner  # one that does nothing with its pods
        self.claims = random.Random(f"claims {seed}")  # its own, so that all else of a seed does not depend on it
        self.count = 0

    def maybe(self, chance):
        return self.rng.random() < chance

    def amounts(self, small=False):
        rng = self.rng
        cpu = rng.choice(["1m", "100m", "250m", "0.5", "1500u", "1", "2", "7", "16", "33"] if not small else ["1m", "50m", "0.2"])
        mem = rng.choice(["1", "1048577", "64Mi", "100M", "1Gi", "1.5Gi", "4Gi", "4194304Ki", "15G", "64Gi", "90Gi"] if not small
                         else ["1000", "10Mi", "33M"])
        asks = {}
        if self.maybe(0.9):
            asks["cpu"] = cpu
        if self.maybe(0.9):
            asks["memory"] = mem
        return asks

    def resources(self, small=False):
        asks, found = self.amounts(small), {}
        if asks and self.maybe(0.2):
            found["limits"] = asks  # and no requests: those are the limits
        elif asks:
            found["requests"] = asks
        if not small and self.maybe(0.08):
            name = self.rng.choice(["nvidia.com/gpu", "nvidia.com/gpu", "amd.com/gpu", "example.com/fpga"])
            found.setdefault("limits", {})[name] = str(self.rng.choice([1, 2, 3]))
        if self.maybe(0.05):
            found.setdefault("requests", {})["ephemeral-storage"] = self.rng.choice(["1Gi", "500Gi"])
        return found

    def container(self, name, small=False):
        made = {"name": name, "image": "work", "resources": self.resources(small)}
        if self.maybe(0.03):
            made["ports"] = [{"containerPort": 80, "hostPort": self.rng.choice([80, 81])}]
        return made

    def expression(self):
        rng = self.rng
        key, values = rng.choice([
            ("topology.kubernetes.io/zone", ["za", "zb", "zc", "zz"]), ("node.kubernetes.io/instance-type", [*TYPES, "x9.none"]),
            ("karpenter.sh/capacity-type", ["spot", "on-demand", "SPOT"]), ("kubernetes.io/arch", ["amd64", "arm64"]),
            ("kubernetes.io/os", ["linux", "windows"]), ("disk", ["ssd", "hdd"]), ("stint.dev/slot", ["st-1"]),
            ("eks.amazonaws.com/capacityType", ["SPOT", "ON_DEMAND"]), ("karpenter.sh/registered", ["true"]),
            ("beta.kubernetes.io/arch", ["amd64"])])
        operator = rng.choice(["In", "In", "In", "NotIn", "Exists", "DoesNotExist"])
        made = {"key": key, "operator": operator}
        if operator in ("In", "NotIn"):
            made["values"] = rng.sample(values, rng.randint(1, min(3, len(values))))
        if self.maybe(0.03):
            made = {"key": "cores", "operator": "Gt", "values": ["3"]}
        return made

    def term(self):
        if self.maybe(0.05):
            return {}
        if self.maybe(0.03):
            return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["st-1"]}]}
        return {"matchExpressions": [self.expression() for _ in range(self.rng.randint(1, 2))]}

    def near(self):
        return {"topologyKey": self.rng.choice(["kubernetes.io/hostname", "topology.kubernetes.io/zone"]),
                "labelSelector": {"matchLabels": {"app": self.rng.choice("ab")}}}

    def affinity(self):
        made, required = {}, "requiredDuringSchedulingIgnoredDuringExecution"
        if self.maybe(0.3):
            made["nodeAffinity"] = {required: {"nodeSelectorTerms": [self.term() for _ in range(self.rng.randint(1, 2))]}}
        if self.maybe(0.1):
            preference = {"matchExpressions": [{"key": "disk", "operator": "Exists"}]}
            made.setdefault("nodeAffinity", {})["preferredDuringSchedulingIgnoredDuringExecution"] = [
                {"weight": 1, "preference": preference}]
        if self.maybe(0.04):
            made["podAffinity"] = {required: [self.near()]}
        if self.maybe(0.04):
            made["podAntiAffinity"] = {required: [self.near()]}
        return made

    def family(self, meta, spec):
        """Pods with a rule about their own kind: each of a kind says the same."""
        kind = self.rng.randrange(len(FAMILIES))
        rule, key, more = FAMILIES[kind]
        name = f"family-{kind}"
        selector = {"matchLabels": {"app": name}} if kind % 2 == 0 else {
            "matchExpressions": [{"key": "app", "operator": "In", "values": [name]}]}
        meta["labels"]["app"] = name
        meta["labels"]["rule"] = f"{rule}-{key.rpartition('/')[2]}"
        spec["containers"] = [{"name": "main", "image": "work", "resources": {"requests": self.amounts(small=True)}}]
        if rule == "follow":
            selector = {"matchLabels": {"app": self.rng.choice(["family-4", "family-9", "nobody"])}}
        if rule in ("apart", "near", "follow"):
            spec.setdefault("affinity", {})["podAntiAffinity" if rule == "apart" else "podAffinity"] = {
                "requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": key, "labelSelector": selector}]}
            return
        spec["topologySpreadConstraints"] = [{"topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector, **more}]

    def odd(self, spec):
        """What few pods have."""
        rng = self.rng
        if self.maybe(0.04):
            spec["topologySpreadConstraints"] = [{
                "maxSkew": 1, "topologyKey": rng.choice(["topology.kubernetes.io/zone", "kubernetes.io/hostname"]),
                "whenUnsatisfiable": rng.choice(["DoNotSchedule", "ScheduleAnyway"]), "labelSelector": {"matchLabels": {"app": "a"}}}]
        if self.maybe(0.03):
            spec["volumes"] = [{"name": "v", **rng.choice([{"emptyDir": {}}, {"hostPath": {"path": "/v"}},
                                                           {"persistentVolumeClaim": {"claimName": "none"}}])}]
        if self.claims.random() < 0.15:
            chosen = self.claims.sample(range(CLAIMS), self.claims.choice([1, 1, 1, 2, 3, ATTACHED + 1]))
            spec["volumes"] = [{"name": f"v{i}", "persistentVolumeClaim": {"claimName": f"claim-{i}"}} for i in chosen]
        if self.maybe(0.02):
            spec["schedulerName"] = "nobody"
        if self.maybe(0.03):
            spec["tolerations"] = [rng.choice([{"operator": "Exists"}, {"key": "stint.dev/slot", "operator": "Equal", "value": "x"},
                                               {"key": "a", "operator": "Exists", "effect": "NoExecute"}])]
        if self.maybe(0.04):
            spec["runtimeClassName"] = "heavy"
        if self.maybe(0.04):
            spec["resources"] = {"requests": {"cpu": "3", "memory": "3Gi"}}
            for one in spec["containers"] + spec["initContainers"]:
                one["resources"] = {"requests": {"cpu": "100m"}}

    def pod(self):
        rng = self.rng
        self.count += 1
        spec = {"containers": [self.container(f"c{i}") for i in range(rng.choice([1, 1, 1, 2, 3]))], "initContainers": [],
                "terminationGracePeriodSeconds": 0, "automountServiceAccountToken": False}
        for i in range(rng.choice([0, 0, 0, 1, 2, 3])):
            one = self.container(f"i{i}", small=self.maybe(0.7))
            one.pop("ports", None)
            if self.maybe(0.4):
                one["restartPolicy"] = "Always"
            spec["initContainers"].append(one)
        if self.maybe(0.15):
            key = rng.choice(["topology.kubernetes.io/zone", "kubernetes.io/os", "disk"])
            spec["nodeSelector"] = {key: {"kubernetes.io/os": "linux", "disk": "ssd"}.get(key, rng.choice(ZONES))}
        affinity = self.affinity()
        if affinity:
            spec["affinity"] = affinity
        self.odd(spec)
        meta = {"name": f"p{self.count}", "labels": {"app": rng.choice("abcdefghij")}}
        if self.maybe(0.3):
            self.family(meta, spec)
        if self.maybe(0.97):
            meta["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "controller": True, "uid": self.owner}]
        return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


class World:
    def __init__(self, build, nodes, seed):
        self.build, self.seed = os.path.abspath(build), seed
        self.lab = lab = kube_lab.KubeLab()
        lab.start()
        lab.kubectl("apply", "-f", f"{kube_lab.ROOT}/share/kubernetes/stint.yaml")
        lab.kubectl("create", "clusterrolebinding", "stint-user", "--clusterrole=stint", "--user=stint")
        lab.kubectl("create", "rolebinding", "stint-user", "--role=stint-lease", "--user=stint", "--namespace=stint")
        lab.kubeconfig("stint", {"token": "stint-token"})
        lab.create("/apis/node.k8s.io/v1/runtimeclasses", {"metadata": {"name": "heavy"}, "handler": "heavy",
                                                           "overhead": {"podFixed": {"cpu": "250m", "memory": "120Mi"}}})
        lab.create("/api/v1/namespaces", {"metadata": {"name": "work", "labels": {"stint.dev/managed": "true"}}})
        self.owner = lab.create("/api/v1/namespaces/work/configmaps", {"metadata": {"name": "owner"}})["metadata"]["uid"]
        lab.write("catalogue.yaml", catalogue())
        self.was = {}  # where pods were placed last, also those that were deleted since
        self.said, self.left, self.placed, self.lost, self.races, self.zones = {}, {}, {}, [], set(), {}
        self.rules, self.rng = collections.Counter(), random.Random(seed + 1)
        self.make_nodes(nodes, random.Random(seed))
        self.make_volumes(random.Random(seed))
        probe = {"metadata": {"name": "probe"}, "spec": {"containers": [{"name": "main", "image": "work"}]}}
        kube_lab.until(lambda: "schedulingGates" in lab.create("/api/v1/namespaces/work/pods?dryRun=All", probe)["spec"], 20, "the policy")
        self.start_judge()

    def node(self, name, offer, slot, pods="5000"):
        kind, zone, market = offer
        self.zones[name] = zone
        cpu, mem, accel = TYPES[kind]
        amounts = {"cpu": str(cpu), "memory": f"{mem}Gi", "pods": pods, "ephemeral-storage": "100Gi"}
        if accel:
            amounts["nvidia.com/gpu"] = str(accel)
        labels = {"kubernetes.io/hostname": name, "node.kubernetes.io/instance-type": kind, "topology.kubernetes.io/zone": zone,
                  "karpenter.sh/capacity-type": market, "kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux",
                  "karpenter.sh/initialized": "true", "karpenter.sh/registered": "true"}
        made = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels,
                                                                 "annotations": {"kwok.x-k8s.io/node": "fake"}},
                "spec": {}, "status": {"capacity": amounts, "allocatable": amounts}}
        if slot:
            labels["stint.dev/slot"] = name
            made["spec"]["taints"] = [{"key": "stint.dev/slot", "value": name, "effect": "NoSchedule"}]
        self.lab.create("/api/v1/nodes", made)

    def attaches(self, name, count):
        self.lab.create(f"{DISKS}/csinodes", {"metadata": {"name": name}, "spec": {"drivers": [
            {"name": "example.com", "nodeID": name, "topologyKeys": [], "allocatable": {"count": count}}]}})

    def make_volumes(self, rng):
        """Claims that are bound. Nothing is attached by anybody, so that no volume is still attached when its pod has gone."""
        lab, spec = self.lab, {"accessModes": ["ReadWriteOnce"], "storageClassName": "disk"}
        lab.create(f"{DISKS}/csidrivers", {"metadata": {"name": "example.com"}, "spec": {"attachRequired": False}})
        lab.create(f"{DISKS}/storageclasses", {"metadata": {"name": "disk"}, "provisioner": "example.com", "volumeBindingMode": "Immediate"})
        for i in range(CLAIMS):
            terms = [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [rng.choice(ZONES)]}]}]
            lab.create("/api/v1/persistentvolumes", {"metadata": {"name": f"volume-{i}"}, "spec": {
                **spec, "capacity": {"storage": "1Gi"}, "csi": {"driver": "example.com", "volumeHandle": f"volume-{i}"},
                "claimRef": {"namespace": "work", "name": f"claim-{i}"},
                **({"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if i % 5 == 0 else {})}})
            lab.create("/api/v1/namespaces/work/persistentvolumeclaims", {"metadata": {"name": f"claim-{i}"}, "spec": {
                **spec, "volumeName": f"volume-{i}", "resources": {"requests": {"storage": "1Gi"}}}})
        kube_lab.until(lambda: all(one["status"].get("phase") == "Bound" for one in
                                   lab.items("/api/v1/namespaces/work/persistentvolumeclaims")), 60, "the claims", 1)

    def make_nodes(self, count, rng):
        """Machines of Stint, and one ordinary empty node of each offer, which shows what is impossible."""
        known, lines = offers(), []
        for i, offer in enumerate(known):
            self.node(f"plain-{i}", offer, False)
            self.attaches(f"plain-{i}", ATTACHED)
        for i in range(count):
            at = rng.randrange(len(known)) if i >= len(known) else i
            self.node(f"st-{i + 1}", known[at], True, ("1", "2", "110")[i % 3])
            if i % 4 < 3:  # else nobody says it, and the catalogue does
                self.attaches(f"st-{i + 1}", (1, 2, ATTACHED)[i % 4])
            lines.append(f"{i + 1} {at}\n")
        self.lab.write("slots", "".join(lines))

        def ready():
            return all(any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", [])) and
                       all(t["key"] == "stint.dev/slot" for t in node["spec"].get("taints", [])) for node in self.lab.items("/api/v1/nodes"))
        kube_lab.until(ready, 90, "the nodes", 1)

    def start_judge(self):
        lab = self.lab
        bridge = subprocess.Popen([f"{self.build}/src/engine/kubernetes/stint-kubernetes", "engine", "--kubeconfig",
                                   lab.path("stint.kubeconfig")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  preexec_fn=kube_lab.die_with_parent)
        with open(lab.path("judge.log"), "wb") as log:
            judge = subprocess.Popen([f"{self.build}/tests/kube_judge", lab.path("catalogue.yaml"), str(self.seed), lab.path("slots")],
                                     stdin=bridge.stdout, stdout=bridge.stdin, stderr=log, preexec_fn=kube_lab.die_with_parent)
        bridge.stdin.close()
        bridge.stdout.close()
        lab.children["bridge"], lab.children["judge"] = bridge, judge

    def read_judge(self):
        """What was decided so far."""
        with open(self.lab.path("judge.log"), encoding="utf-8") as log:
            for line in log:
                words = line.split()
                if words[0] == "placed":
                    self.placed[words[1].split("/")[1]] = words[2]
                    self.was[words[1].split("/")[1]] = words[2]
                elif words[0] == "back":
                    self.placed.pop(words[1].split("/")[1], None)
                elif words[0] == "left" and "it is left to the scheduler" in line:
                    self.left[words[1].split("/")[1].rstrip(":")] = line.split("scheduler: ", 1)[1].strip()
                elif words[0] == "left":
                    self.lost.append(line.strip())

    def create(self, pods):
        """By several connections; the API server's defaults and its refusals are part of the test."""
        lab = self.lab

        def some(part):
            own = copy.copy(lab)
            own.connection = None
            made = []
            for pod in part:
                try:
                    own.create("/api/v1/namespaces/work/pods", pod)
                    made.append(pod["metadata"]["name"])
                except kube_lab.Refused as refused:
                    if refused.status not in (403, 422):
                        raise
            return made
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return [name for made in pool.map(some, [pods[i::4] for i in range(4)]) for name in made]

    def settle(self, names):
        """Until nothing changes any more: every pod is bound, or the scheduler has said that it cannot be, or it waits at the gate."""
        before, calm, limit = None, 0, patience.deadline(240)
        while calm < 11 and time.monotonic() < limit:
            time.sleep(1)
            pods = self.lab.items("/api/v1/namespaces/work/pods")
            self.said.update({pod["metadata"]["name"]: one["message"] for pod in pods for one in pod["status"].get("conditions", [])
                              if one["type"] == "PodScheduled" and "message" in one})
            now = sorted((pod["metadata"]["name"], pod["spec"].get("nodeName", ""), "schedulingGates" in pod["spec"],
                          self.verdict(pod)) for pod in pods)
            undecided = [one for one in now if not one[1] and not one[2] and not one[3]]
            calm = calm + 1 if now == before and not undecided else 0  # pods that came together are decided after 10 s at the most
            before = now
        return {pod["metadata"]["name"]: pod for pod in self.lab.items("/api/v1/namespaces/work/pods")}

    @staticmethod
    def verdict(pod):
        if pod["spec"].get("schedulerName") == "nobody":
            return "nobody"
        found = [c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable" for c in pod["status"].get("conditions", [])]
        return "cannot" if any(found) else ""

    def clear(self):
        self.lab.ask("DELETE", "/api/v1/namespaces/work/pods", {"gracePeriodSeconds": 0})
        kube_lab.until(lambda: not self.lab.items("/api/v1/namespaces/work/pods?limit=1"), 60, "the end of the wave", 0.3)


def is_apart(pod):
    return ("podAntiAffinity" in pod["spec"].get("affinity", {}) or "topologySpreadConstraints" in pod["spec"]
            or any("ports" in one for one in pod["spec"]["containers"]))


def selects(selector, labels):
    return (all(labels.get(key) == value for key, value in selector.get("matchLabels", {}).items()) and
            all(labels.get(one["key"]) in one["values"] for one in selector.get("matchExpressions", [])))


def is_about(pod, rule, other):
    """Whether a required term of the pod by zone is about the other one."""
    terms = pod["spec"].get("affinity", {}).get(rule, {}).get("requiredDuringSchedulingIgnoredDuringExecution", [])
    return any(one["topologyKey"] == ZONE and selects(one["labelSelector"], other["metadata"]["labels"]) for one in terms)


def lost_a_race(world, name, made, seen):
    """Whether a pod that is not on a machine of Stint was bound after it was placed: in its zone, and one of both keeps away from the other, or
    in another zone, and it had to be near that one. That nobody can know. It is deleted after a while, to be created again."""
    pod = made[name]
    for other in seen.values():
        node, at = other["spec"].get("nodeName", ""), other["metadata"]["name"]
        if at not in made or node not in world.zones or node.startswith("st-"):
            continue
        if world.zones[node] != world.zones[world.was[name]]:
            if is_about(pod, "podAffinity", made[at]):
                return True
        elif is_about(pod, "podAntiAffinity", made[at]) or is_about(made[at], "podAntiAffinity", pod):
            return True
    return False


def wants_more_zones(pod):
    """Than there are, with a skew of 2."""
    return any(one.get("minDomains", 1) > len(ZONES) for one in pod["spec"].get("topologySpreadConstraints", []))


def judge_wave(world, pods, names, faults, has_changed):
    """The names of those that are bound. What was impossible may not be so any more when pods that kept it away have gone."""
    seen = world.settle(names)
    world.read_judge()
    made, bound = {pod["metadata"]["name"]: pod for pod in pods}, []
    for name in names:
        pod, why = seen.get(name), world.left.get(name)
        if name in (world.was if pod is None else world.placed) and (pod is None or "nodeName" not in pod["spec"]) and lost_a_race(world, name, made, seen):
            world.races.add(name)
            continue
        if pod is None:
            faults.append((name, f"it was deleted: {world.was.get(name)}: {world.said.get(name)}", made[name]))
            continue
        node = pod["spec"].get("nodeName")
        bound += [name] if node else []
        if name in world.placed and node != world.placed[name]:
            said = [c.get("message", "") for c in pod["status"].get("conditions", [])]
            faults.append((name, f"placed on {world.placed[name]}, bound to {node}: {said}", made[name]))
        elif name in world.left and node and node.startswith("st-"):
            faults.append((name, f"left ({why}), but on {node}", made[name]))
        elif name in world.left and node and why == IMPOSSIBLE and not has_changed:
            faults.append((name, f"called impossible, but bound to {node}", made[name]))
    full = collections.Counter((made[name]["metadata"]["labels"]["app"], world.zones[seen[name]["spec"]["nodeName"]])
                               for name in bound if name in world.placed and wants_more_zones(made[name]))
    faults.extend((place, f"{count} of them in a zone", {}) for place, count in full.items() if count > 2)
    return bound


def run_wave(world, pods, names, tally, faults):
    """All of them; and once more when some have gone, so that others have their places."""
    bound = judge_wave(world, pods, names, faults, has_changed=False)
    before = len(world.placed)
    gone = set(world.rng.sample(sorted(bound), len(bound) // 3))
    for name in gone:
        world.lab.ask("DELETE", f"/api/v1/namespaces/work/pods/{name}", {"gracePeriodSeconds": 0})
    judge_wave(world, pods, [name for name in names if name not in gone], faults, has_changed=True)
    tally["of them in places of others"] += len(world.placed) - before
    made = {pod["metadata"]["name"]: pod for pod in pods}
    for name in names:
        tally["placed" if name in world.placed else world.left.get(name, "no room now")] += 1
        tally["of them kept apart"] += name in world.placed and is_apart(made[name])
        if name in world.placed:
            tally["of them with volumes"] += any("persistentVolumeClaim" in one for one in made[name]["spec"].get("volumes", []))
            world.rules[made[name]["metadata"]["labels"].get("rule")] += 1


def run(build, pods, nodes, seed):
    world = World(build, nodes, seed)
    source = Pods(seed, world.owner)
    tally, faults, refused, began = collections.Counter(), [], 0, time.monotonic()
    try:
        while source.count < pods:
            wave = [source.pod() for _ in range(min(WAVE, pods - source.count))]
            names = world.create(wave)
            refused += len(wave) - len(names)
            run_wave(world, wave, names, tally, faults)
            world.clear()
            print(f"# seed {seed}: {source.count} pods, {len(faults)} faults, {time.monotonic() - began:.0f} s", flush=True)
    finally:
        world.lab.stop()
    tally["of them came too late"] = len(world.races)
    for why, count in tally.most_common():
        print(f"{count:7} {why}")
    print(f"{refused:7} refused by the API server")
    for name, what, pod in faults[:5]:
        print(f"fault: {name}: {what}\n    {json.dumps(pod)}")
    if world.lost:
        print(f"said: {world.lost[:5]}")
    print(", ".join(f"{count} {rule}" for rule, count in world.rules.items() if rule))
    has_all = all(world.rules[f"{rule}-{key.rpartition('/')[2]}"] > 0 for rule, key, _ in FAMILIES)
    return not faults and len(world.races) <= pods // 100 and has_all and tally["placed"] > pods // 5 and tally["of them kept apart"] > pods // 40


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--nodes", type=int, default=150)
    parser.add_argument("--seed", type=int, action="append")
    given = parser.parse_args()
    reason = kube_lab.why_not()
    if reason:
        print(f"skipped: {reason}")
        return 0
    good = [run(given.build, given.pods, given.nodes, seed) for seed in given.seed or [1]]
    print("every pod is where Stint said" if all(good) else "Stint and kube-scheduler differ")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
