#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_kube_engine.py BUILD - stintd manages a namespace of a real API server and rents through Karpenter. TAP."""
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import kube_lab  # noqa: E402
import kube_world  # noqa: E402
from kube_lab import until  # noqa: E402


CLASS = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses/default"


class World(kube_world.KubeWorld):
    pass


def start(world):
    world.namespace("batch")
    world.namespace("other", managed=False)
    world.start_stintd()
    until(lambda: os.path.exists(world.lab.path("stintd.sock")), 15, "stintd")


def mutated(world, metadata, spec, space="batch"):
    pod = {"metadata": {"name": "probe", **metadata}, "spec": {"containers": [{"name": "main", "image": "work"}], **spec}}
    return world.lab.create(f"/api/v1/namespaces/{space}/pods?dryRun=All", pod)


def gate(world):
    pod = until(lambda: world.is_gated("batch"), 20, "the policy")
    assert pod["spec"]["schedulingGates"] == [{"name": "stint.dev/place"}], pod["spec"]
    assert pod["metadata"]["labels"]["stint.dev/managed"] == "true", pod["metadata"]
    assert "stint.dev/slot" in [one.get("key") for one in pod["spec"]["tolerations"]], pod["spec"]
    slot = {"key": "stint.dev/slot", "operator": "Exists", "effect": "NoSchedule"}
    made = mutated(world, {"labels": {"app": "a", "stint.dev/managed": "false"}}, {"schedulingGates": [{"name": "own/gate"}]})
    assert made["metadata"]["labels"] == {"app": "a", "stint.dev/managed": "true"}, made["metadata"]
    assert made["spec"]["schedulingGates"] == [{"name": "own/gate"}, {"name": "stint.dev/place"}], made["spec"]
    made = mutated(world, {}, {"schedulingGates": [{"name": "stint.dev/place"}], "tolerations": [slot]})
    assert made["spec"]["schedulingGates"] == [{"name": "stint.dev/place"}], made["spec"]
    assert made["spec"]["tolerations"].count(slot) == 1, made["spec"]
    for space in ("kube-system", "stint"):  # the label has no effect there
        world.lab.patch(f"/api/v1/namespaces/{space}", {"metadata": {"labels": {"stint.dev/managed": "true"}}})
        kept = {"securityContext": {"runAsNonRoot": True, "runAsUser": 1, "seccompProfile": {"type": "RuntimeDefault"}},
                "containers": [{"name": "main", "image": "work", "securityContext": {
                    "allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}}]}
        made = mutated(world, {}, kept, space)
        assert "schedulingGates" not in made["spec"] and "labels" not in made["metadata"], made
        world.lab.patch(f"/api/v1/namespaces/{space}", {"metadata": {"labels": {"stint.dev/managed": None}}})
    world.job("other", "free", "100m", "64Mi", seconds=1)
    free = until(lambda: world.pods("other"), 10, "a pod")[0]
    assert "schedulingGates" not in free["spec"], free["spec"]
    world.lab.delete_all(kube_world.JOB.format("other"))


def succeeded(world, space="batch"):
    return sum(job["status"].get("succeeded", 0) for job in world.lab.items(kube_world.JOB.format(space)))


def once(world, before, count):
    """No pod was lost and made again; those that have ended may be gone with their node."""
    made = world.lab.pods_of_jobs() - before
    failed = sum(job["status"].get("failed", 0) for job in world.lab.items(kube_world.JOB.format("batch")))
    assert made == count and failed == 0, (made, failed)


def clear(world):
    """No work and no machine."""
    world.lab.delete_all(kube_world.JOB.format("batch"))
    until(lambda: not world.pods("batch"), 60, "the end of all pods")
    until(lambda: not world.claims(), 90, "the return of all machines")


def all_complete(world):
    before = world.lab.pods_of_jobs()
    for i in range(20):
        world.job("batch", f"work-{i}", f"{250 * (1 + i % 8)}m", f"{512 * (1 + i % 5)}Mi", pods=10, seconds=5, jitter=5)
    began = time.monotonic()
    until(lambda: succeeded(world) == 200, 240, "the end of 200 pods")
    print(f"# 200 pods in {time.monotonic() - began:.1f} s")
    for pod in world.pods("batch"):
        assert pod["spec"]["nodeSelector"]["stint.dev/slot"].startswith("st-"), pod["spec"]
    once(world, before, 200)
    clear(world)


def service(world):
    """A Deployment runs until it is deleted."""
    world.deployment("batch", "web", "500m", "1Gi", 12)
    until(lambda: sum(pod["status"]["phase"] == "Running" for pod in world.pods("batch")) == 12, 90, "12 replicas")
    assert all(claim["metadata"]["labels"].get("stint.dev/cluster") == "lab" for claim in world.claims())
    world.lab.delete_all("/apis/apps/v1/namespaces/batch/deployments")
    clear(world)


def apart(world):
    """Pods that keep apart by host have a machine each, also after a restart of the daemon, and in the middle of a rolling update that adds
    a term; those that keep away from another kind are on other machines."""
    def nodes(name):
        return [pod["spec"]["nodeName"] for pod in world.pods("batch")
                if pod["metadata"]["labels"]["app"] == name and pod["status"]["phase"] == "Running"]

    def spread(key, name):
        return {"topologySpreadConstraints": [{"topologyKey": key, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
                                               "labelSelector": {"matchLabels": {"app": name}}}]}

    def away(*names):
        return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchExpressions": [
                {"key": "app", "operator": "In", "values": [name]}]}} for name in names]}}}
    world.deployment("batch", "lone", "250m", "256Mi", 3, spec=away("lone"))
    world.deployment("batch", "shy", "250m", "256Mi", 4, spec=away("even"))
    world.deployment("batch", "even", "250m", "256Mi", 3, spec=spread("kubernetes.io/hostname", "even"))
    world.deployment("batch", "zoned", "250m", "256Mi", 3, spec=spread("topology.kubernetes.io/zone", "zoned"))
    until(lambda: [len(nodes(name)) for name in ("lone", "even", "zoned", "shy")] == [3, 3, 3, 4], 180, "13 replicas")
    assert len(set(nodes("lone"))) == 3 and len(set(nodes("even"))) == 3, (nodes("lone"), nodes("even"))
    assert not set(nodes("even")) & set(nodes("shy")), (nodes("even"), nodes("shy"))
    print(f"# 13 replicas on {len(set(nodes('lone') + nodes('even') + nodes('zoned') + nodes('shy')))} machines, those of shy on {len(set(nodes('shy')))}")
    world.lab.restart("stintd")
    world.lab.patch("/apis/apps/v1/namespaces/batch/deployments/lone", {"spec": {"replicas": 4, "template": {
        "metadata": {"annotations": {"version": "2"}}, "spec": away("lone", "shy")}}})
    twice = []

    def updated():
        now = nodes("lone")
        twice.extend(node for node in set(now) if now.count(node) > 1)
        status = world.lab.get("/apis/apps/v1/namespaces/batch/deployments/lone")["status"]
        return status.get("updatedReplicas") == 4 and status.get("readyReplicas") == 4 and len(nodes("lone")) == 4
    until(updated, 240, "the update")
    assert not twice, f"two of them on {twice}"
    assert not set(nodes("lone")) & set(nodes("shy")), (nodes("lone"), nodes("shy"))
    assert all("stint.dev/slot" in pod["spec"]["nodeSelector"] for pod in world.pods("batch")), "not on machines of Stint"
    world.lab.delete_all("/apis/apps/v1/namespaces/batch/deployments")
    clear(world)


def volume(lab, name, zone, claim):
    terms = [{"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}]
    lab.create("/api/v1/persistentvolumes", {"metadata": {"name": name}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "disk",
        "csi": {"driver": "example.com", "volumeHandle": name}, "claimRef": {"namespace": "batch", "name": claim},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}}})


def database(lab, name, replicas=2, cpu="250m", mem="256Mi"):
    """Each replica has a volume."""
    lab.create("/apis/apps/v1/namespaces/batch/statefulsets", {
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name},
        "spec": {"replicas": replicas, "serviceName": name, "podManagementPolicy": "Parallel", "selector": {"matchLabels": {"app": name}},
                 "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [
                     {"name": "main", "image": "work", "resources": {"requests": {"cpu": cpu, "memory": mem}},
                      "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]}},
                 "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {
                     "accessModes": ["ReadWriteOnce"], "storageClassName": "disk", "resources": {"requests": {"storage": "1Gi"}}}}]}})


def zoned(world):
    """The lab has one zone: the second pod of those that keep apart by zone waits, says why, and has its place when the first one has gone. Pods
    that must be near each other run, and those that must be near others when these do."""
    def running(name):
        return [pod["metadata"]["name"] for pod in world.pods("batch") if pod["metadata"]["labels"]["app"] == name and
                pod["status"]["phase"] == "Running" and "deletionTimestamp" not in pod["metadata"]]

    def near(kind, name):
        return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [
            {"topologyKey": "topology.kubernetes.io/zone", "labelSelector": {"matchLabels": {"app": name}}}]}}}
    world.deployment("batch", "solo", "250m", "256Mi", 2, spec=near("podAntiAffinity", "solo"))
    first = until(lambda: running("solo"), 120, "the first pod")
    waiting = [pod["metadata"]["name"] for pod in world.pods("batch") if "schedulingGates" in pod["spec"]]
    assert len(first) == 1 and len(waiting) == 1, (first, waiting)
    until(lambda: [event for event in world.lab.items("/api/v1/namespaces/batch/events") if event["reason"] == "Waiting" and
                   event["involvedObject"]["name"] == waiting[0] and "every zone that could hold it" in event["message"]], 60, "an event")
    assert running("solo") == first, running("solo")
    world.lab.ask("DELETE", f"/api/v1/namespaces/batch/pods/{first[0]}")
    until(lambda: running("solo") == waiting, 60, "the second pod")
    world.deployment("batch", "crew", "250m", "256Mi", 3, spec=near("podAffinity", "crew"))
    world.deployment("batch", "tail", "250m", "256Mi", 2, spec=near("podAffinity", "head"))
    until(lambda: len(running("crew")) == 3, 60, "pods near each other")
    assert not running("tail"), running("tail")
    world.deployment("batch", "head", "250m", "256Mi", 1)
    until(lambda: len(running("head")) == 1 and len(running("tail")) == 2, 90, "pods near others")
    assert all("stint.dev/slot" in pod["spec"]["nodeSelector"] for pod in world.pods("batch") if pod["status"]["phase"] == "Running")
    world.lab.delete_all("/apis/apps/v1/namespaces/batch/deployments")
    clear(world)


def stored(world):
    """A pod with a volume runs in its zone, and one whose volume is where no machine is to be had is left to the scheduler."""
    lab = world.lab
    lab.create("/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "disk"}, "provisioner": "example.com/disk",
                                                          "volumeBindingMode": "Immediate"})
    volume(lab, "here-0", kube_world.ZONE, "data-near-0")
    database(lab, "near")
    until(lambda: [pod for pod in world.pods("batch") if pod["status"]["phase"] == "Running"], 120, "the first pod")
    waiting = [pod for pod in world.pods("batch") if "schedulingGates" in pod["spec"]]
    assert [pod["metadata"]["name"] for pod in waiting] == ["near-1"], waiting
    until(lambda: [event for event in lab.items("/api/v1/namespaces/batch/events") if event["involvedObject"]["name"] == "near-1" and
                   "data-near-1" in event["message"] and event["reason"] == "Waiting"], 60, "an event")
    volume(lab, "here-1", kube_world.ZONE, "data-near-1")  # its claim was not bound until now
    until(lambda: sum(pod["status"]["phase"] == "Running" for pod in world.pods("batch")) == 2, 120, "both pods")
    assert all("stint.dev/slot" in pod["spec"]["nodeSelector"] for pod in world.pods("batch"))
    for i in range(2):
        volume(lab, f"there-{i}", "nowhere", f"data-far-{i}")
    database(lab, "far")
    until(lambda: sum("schedulingGates" not in pod["spec"] and "stint.dev/managed" not in pod["metadata"]["labels"]
                      for pod in world.pods("batch")) == 2, 120, "the release")
    lab.delete_all("/apis/apps/v1/namespaces/batch/statefulsets")
    clear(world)


def attached(world):
    """A machine gets as many volumes as its CSINode says, or until it is there the catalogue, though it has room for more pods."""
    lab = world.lab
    drivers = "/apis/storage.k8s.io/v1/csinodes"

    def database_of(name, replicas, count):
        for i in range(count):
            volume(lab, f"{name}-{i}", kube_world.ZONE, f"data-{name}-{i}")
        database(lab, name, replicas, "10m", "16Mi")  # the smallest machine has room for all of them

    def per_node(name):
        nodes = [pod["spec"]["nodeName"] for pod in world.pods("batch")
                 if pod["metadata"]["labels"]["app"] == name and pod["status"]["phase"] == "Running"]
        return sorted(nodes.count(node) for node in set(nodes))

    def said():
        return [event["message"] for event in lab.items("/api/v1/namespaces/batch/events") if event["reason"] == "FailedScheduling" and
                "volume" in event["message"]]

    # Each node says two as soon as it is there, as a driver does that begins.
    def say_limits():
        known = {one["metadata"]["name"] for one in lab.items(drivers)}
        for node in lab.items("/api/v1/nodes"):
            if node["metadata"]["name"] not in known:
                lab.create(drivers, {"metadata": {"name": node["metadata"]["name"]}, "spec": {"drivers": [
                    {"name": "example.com", "nodeID": "n", "topologyKeys": [], "allocatable": {"count": 2}}]}})
        return sum(per_node("grown")) == 5
    database_of("grown", 5, 5)
    until(say_limits, 120, "five pods", pause=0.05)
    assert max(per_node("grown")) == 2, per_node("grown")
    print(f"# {per_node('grown')} volumes on nodes that attach two")
    lab.delete_all("/apis/apps/v1/namespaces/batch/statefulsets")
    clear(world)

    # The catalogue says three.
    lab.kill("stintd", signal.SIGTERM)
    with open(lab.path("catalogue.yaml"), encoding="utf-8") as file:
        before = file.read()
    lab.write("catalogue.yaml", before.replace(", offers:", ", volumes: 3, offers:"))
    world.start_stintd()
    database_of("planned", 8, 8)
    until(lambda: sum(per_node("planned")) == 8, 120, "eight pods")
    assert max(per_node("planned")) == 3, per_node("planned")
    print(f"# {per_node('planned')} volumes on machines of types that attach three")
    lab.delete_all("/apis/apps/v1/namespaces/batch/statefulsets")
    clear(world)
    lab.kill("stintd", signal.SIGTERM)
    lab.write("catalogue.yaml", before)
    world.start_stintd()
    assert not said(), said()


def outdated(world):
    """When the node class has changed, machines are replaced one at a time: what has an end ends there, a service keeps to its
    disruption budget, and a machine with a pod that must not be disrupted stays and is reported."""
    lab = world.lab
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}
    anti = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}

    def stamp(path, value):
        lab.patch(path, {"metadata": {"annotations": {"karpenter.kwok.sh/kwoknodeclass-hash": value,
                                                      "karpenter.kwok.sh/kwoknodeclass-hash-version": "v1"}}})

    def ready():
        return [pod for pod in world.pods("batch") if pod["metadata"]["labels"].get("app") == "web" and is_ready(pod) and
                "deletionTimestamp" not in pod["metadata"]]
    before = lab.pods_of_jobs()
    stamp(CLASS, "1")
    lab.create("/apis/policy/v1/namespaces/batch/poddisruptionbudgets", {"metadata": {"name": "web"}, "spec": {
        "minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}}})
    world.deployment("batch", "web", "250m", "256Mi", 2, spec=anti)
    until(lambda: len(ready()) == 2, 120, "two replicas")
    world.job("batch", "ends", "250m", "256Mi", seconds=30)
    world.deployment("batch", "stays", "1500m", "2Gi", 1, annotations={"karpenter.sh/do-not-disrupt": "true"})
    until(lambda: sum(pod["status"]["phase"] == "Running" for pod in world.pods("batch")) == 4, 120, "four pods")
    kept = [pod for pod in world.pods("batch") if pod["metadata"]["labels"].get("app") == "stays"][0]
    old = {claim["metadata"]["name"]: claim.get("status", {}).get("nodeName") for claim in world.claims()}
    for name in old:
        stamp(f"{kube_world.CLAIMS}/{name}", "1")
    stamp(CLASS, "2")
    lab.restart("stintd")  # else it is noticed within a minute
    until(lambda: os.path.exists(lab.path("stintd.sock")), 15, "stintd")
    held = {name for name, node in old.items() if node == kept["spec"]["nodeName"]}
    least, most = 2, 0

    def replaced():
        nonlocal least, most
        least = min(least, len(ready()))
        try:
            states = world.ask_stintd("/v1/status")["instances"]
        except OSError:  # it is being restarted
            return False
        most = max(most, states["draining"] + states["returned"])
        return {claim["metadata"]["name"] for claim in world.claims()} & set(old) == held
    until(replaced, 300, "new machines")
    until(lambda: len(ready()) == 2, 60, "two replicas on new machines")
    print(f"# {len(old) - len(held)} of {len(old)} machines were replaced, {most} at a time at the most, {least} of 2 replicas at the least")
    assert least >= 1, f"{least} of 2 replicas"
    assert most == 1, f"{most} machines at a time"  # a third of three to five
    once(world, before, 1)
    assert succeeded(world) == 1
    found = [one for one in world.ask_stintd("/v1/doctor")["findings"] if one["kind"] == "outdated"]
    assert found and found[0]["severity"] == "warning" and "1 run work that must stay" in found[0]["text"], found
    lab.delete_all("/apis/policy/v1/namespaces/batch/poddisruptionbudgets")
    lab.delete_all("/apis/apps/v1/namespaces/batch/deployments")
    clear(world)
    assert not [one for one in world.ask_stintd("/v1/doctor")["findings"] if one["kind"] == "outdated"]


def gang(world):
    """Its pods wait until there is room for all of them."""
    world.job("batch", "gang", "1", "1Gi", pods=6, seconds=3, annotations={"stint.dev/gang": "6"})
    until(lambda: succeeded(world) == 6, 90, "the gang")
    opened = world.lab.patched("gang-")
    assert len(opened) == 6 and opened[-1] - opened[0] < 5, opened
    print(f"# six gates were opened within {opened[-1] - opened[0]:.2f} s")
    clear(world)


def strange(world):
    """What Stint does not understand is left to the scheduler."""
    world.lab.create(kube_world.JOB.format("batch"), {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "odd"}, "spec": {"template": {"spec": {
            "restartPolicy": "Never", "nodeSelector": {"disk": "ssd"}, "containers": [{"name": "main", "image": "work"}]}}}})
    pod = until(lambda: [pod for pod in world.pods("batch") if "schedulingGates" not in pod["spec"]], 20, "the release")[0]
    assert "stint.dev/managed" not in pod["metadata"].get("labels", {}), pod["metadata"]
    assert pod["spec"]["nodeSelector"] == {"disk": "ssd"}, pod["spec"]
    said = until(lambda: [event["message"] for event in world.lab.items("/api/v1/namespaces/batch/events")
                          if event["reason"] == "NotManaged" and event["involvedObject"]["name"] == pod["metadata"]["name"]], 10, "an event")
    assert "a label" in said[0], said
    clear(world)


def killed(world):
    """stintd is killed in the middle of the work, twice, and its bridge once: every pod completes, once."""
    before = world.lab.pods_of_jobs()
    for i in range(8):
        world.job("batch", f"again-{i}", "500m", "512Mi", pods=5, seconds=4, jitter=6)
    for moment in range(2):
        time.sleep(3 + moment)
        world.lab.restart("stintd")
    time.sleep(2)
    os.system(f"pkill -KILL -P {world.lab.children['stintd'].pid}")
    until(lambda: succeeded(world) == 40, 150, "the end of 40 pods")
    once(world, before, 40)
    clear(world)


def is_ready(pod):
    return "True" in [one["status"] for one in pod["status"].get("conditions", []) if one["type"] == "Ready"]


def served(world):
    return sum(is_ready(pod) for pod in world.pods("batch") if pod["metadata"]["labels"].get("app") == "web" and
               "deletionTimestamp" not in pod["metadata"])


def promise(world):
    """A Deployment with a promise is on spot machines, survives the loss of one, and batch runs on what is to spare."""
    lab = world.lab
    lab.kill("stintd", signal.SIGTERM)
    lab.write("catalogue.yaml", kube_world.catalogue(world.types, world.usable, spot=0.3))
    world.start_stintd()
    lab.create("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "low"}, "value": -10})
    world.deployment("batch", "web", "1", "2Gi", 12, {"stint.dev/availability": "99.9%", "stint.dev/capacity": "12"})
    until(lambda: served(world) == 12, 90, "12 replicas")
    claims = world.claims()
    assert all("spot" in str(claim["spec"]["requirements"]) for claim in claims), claims
    world.job("batch", "spare", "500m", "256Mi", pods=6, seconds=2, priority="low")
    until(lambda: succeeded(world) == 6, 60, "batch on the excess")
    assert {claim["metadata"]["name"] for claim in world.claims()} == {claim["metadata"]["name"] for claim in claims}, "rented for batch"
    lost = [pod["spec"]["nodeName"] for pod in world.pods("batch") if pod["metadata"]["labels"].get("app") == "web"][0]
    world.vanish(lost)
    began = time.monotonic()
    until(lambda: served(world) < 12, 20, "the loss")
    until(lambda: served(world) == 12, 40, "12 replicas again", pause=0.05)
    print(f"# {len(claims)} spot machines for 12 replicas; after the loss of one all were back within {time.monotonic() - began:.1f} s")
    lab.delete_all("/apis/apps/v1/namespaces/batch/deployments")
    clear(world)
    lab.kill("stintd", signal.SIGTERM)
    lab.write("catalogue.yaml", kube_world.catalogue(world.types, world.usable))
    world.start_stintd()


def leader(world):
    """Of two copies one runs: the other when that ends, and none when somebody else has the lease."""
    lab = world.lab
    for name in ("one", "two"):
        lab.spawn(name, world.bridge(), "lead", "--kubeconfig", lab.path("stint.kubeconfig"), "--",
                  "sh", "-c", f"echo >{lab.path(name + '.ran')}; exec sleep 600")
        if name == "one":
            until(lambda: os.path.exists(lab.path("one.ran")), 15, "the first one")
    time.sleep(2.5)
    assert not os.path.exists(lab.path("two.ran")), "both run"
    lab.kill("one", signal.SIGTERM)
    until(lambda: os.path.exists(lab.path("two.ran")), 8, "the second one")
    lease = "/apis/coordination.k8s.io/v1/namespaces/stint/leases/stint-leader"
    assert lab.get(lease)["spec"]["leaseTransitions"] == 1, lab.get(lease)
    time.sleep(11)  # longer than it would run without a renewal
    assert lab.children["two"].poll() is None and lab.get(lease)["spec"]["leaseTransitions"] == 1, lab.get(lease)
    lab.patch(lease, {"spec": {"holderIdentity": "somebody"}})
    assert lab.children["two"].wait(8) == 1
    assert lab.get(lease)["spec"]["holderIdentity"] == "somebody", lab.get(lease)


def rights(world):
    """The role of share/kubernetes/stint.yaml is enough, no workload was written, and pods of a lost machine were said to be disrupted."""
    asked = world.lab.audited("stint")
    assert asked and not [one for one in asked if one[2] in (401, 403)], [one for one in asked if one[2] in (401, 403)][:5]
    written = {(verb, resource) for verb, resource, _ in asked if verb in kube_lab.WRITES}
    assert written <= {("patch", "pods"), ("delete", "pods"), ("create", "pods"), ("create", "nodeclaims"),
                       ("delete", "nodeclaims"), ("patch", "leases"), ("create", "leases"),
                       ("create", "events")}, written
    disrupted = world.lab.answers_to_patches("stint", "pods", "status")
    assert 200 in disrupted and not set(disrupted) - {200, 404, 409}, disrupted


def watchdog(world):
    """When Stint is dead, its gates are opened; while it lives, they are not."""
    world.lab.spawn("watchdog", f"{world.build}/src/engine/kubernetes/stint-kubernetes", "watchdog", "--after", "15",
                    "--kubeconfig", world.lab.path("stint.kubeconfig"))
    time.sleep(20)
    assert os.path.getsize(world.lab.path("watchdog.log")) == 0, "it has opened gates of a Stint that lives"
    world.lab.kill("stintd")
    died = time.monotonic()
    world.job("batch", "orphan", "100m", "64Mi", pods=5)
    until(lambda: len(world.pods("batch")) == 5, 20, "5 pods")
    assert all("schedulingGates" in pod["spec"] for pod in world.pods("batch"))
    until(lambda: not any("schedulingGates" in pod["spec"] for pod in world.pods("batch")), 40, "the watchdog")
    print(f"# gates were opened {time.monotonic() - died:.0f} s after Stint died; the limit is 15 s and a quarter")
    world.lab.kill("watchdog")
    world.start_stintd()
    clear(world)


def unlimited(world):
    """Without the right to read CSINodes, as an older role has it, pods with volumes are placed and the log says what is missing."""
    lab = world.lab
    role = lab.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/stint")
    role["rules"] = [rule for rule in role["rules"] if rule.get("resources") != ["csinodes"]]
    lab.patch("/apis/rbac.authorization.k8s.io/v1/clusterroles/stint", {"rules": role["rules"]})
    lab.kill("stintd", signal.SIGTERM)
    with open(lab.path("stintd.log"), encoding="utf-8") as file:
        assert "may not read CSINodes" not in file.read()
    world.start_stintd()
    volume(lab, "bare-0", kube_world.ZONE, "data-bare-0")
    database(lab, "bare", 1)
    until(lambda: [pod for pod in world.pods("batch") if pod["status"]["phase"] == "Running"], 120, "a pod with a volume")
    time.sleep(3)
    with open(lab.path("stintd.log"), encoding="utf-8") as file:
        assert file.read().count("may not read CSINodes") == 1
    assert 403 in [one[2] for one in lab.audited("stint") if one[1] == "csinodes"]
    lab.delete_all("/apis/apps/v1/namespaces/batch/statefulsets")
    clear(world)
    assert "ClusterRole stint: changed\n" in world.install()
    lab.restart("stintd")


def install(world):
    """It may be repeated, a dry run only reads, and pods of the daemon keep to the level "restricted"."""
    lab = world.lab
    said = world.install()
    assert len(said.splitlines()) == 8 and all(line.endswith(": unchanged") for line in said.splitlines()), said
    conf = lab.write("pod.conf", "cluster: lab\nmode: shadow\ncatalogue: catalogue.yaml\nstate: /var/lib/stint/stint.db\n"
                     "engine: { kind: kubernetes }\ncloud: { kind: karpenter, node_class: karpenter.kwok.sh/KWOKNodeClass/default }\n")
    daemon = ("--image", "registry.example.com/stint:1", "--conf", conf, "--catalogue", lab.path("catalogue.yaml"))
    said = world.install("--dry-run", *daemon)
    assert "Deployment stint: would be created\n" in said and "ClusterRole stint: there; would be applied\n" in said, said
    assert not lab.items("/apis/apps/v1/namespaces/stint/deployments")
    said = world.install(*daemon)
    for what in ("ConfigMap stint", "PersistentVolumeClaim stint-state", "Deployment stint", "Deployment stint-watchdog"):
        assert f"{what}: created\n" in said, said
    pods = until(lambda: len(world.pods("stint")) == 2 and world.pods("stint"), 30, "the pods of the daemon and the watchdog")
    assert {one["image"] for pod in pods for one in pod["spec"]["containers"]} == {"registry.example.com/stint:1"}, pods
    assert lab.get("/api/v1/namespaces/stint/configmaps/stint")["data"]["stint.conf"].startswith("cluster: lab")
    assert "created" not in world.install(*daemon)
    lab.delete_all("/apis/apps/v1/namespaces/stint/deployments")


def uninstall_says(world, *more, code=0):
    done = subprocess.run([f"{world.build}/src/engine/kubernetes/stint-kubernetes", "uninstall", "--kubeconfig",
                           world.lab.path("admin.kubeconfig"), *more], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def uninstall(world):
    """Pods at the gate are opened, one that runs goes on, and nothing is left of Stint when that has ended."""
    lab = world.lab
    world.job("batch", "last", "100m", "64Mi", seconds=3600)
    until(lambda: [pod for pod in world.pods("batch") if pod["status"]["phase"] == "Running"], 60, "a pod")
    assert "stop stintd first" in uninstall_says(world, code=1)
    lab.kill("stintd", signal.SIGTERM)
    world.job("batch", "stuck", "100m", "64Mi", pods=5)
    until(lambda: len(world.pods("batch")) == 6, 20, "5 pods")
    said = uninstall_says(world, "--dry-run")
    assert "would be done: namespace batch: label removed\n" in said, said
    assert "would be done: 5 gates opened, 1 labels of other pods removed, 0 refused\n" in said, said
    assert sum("schedulingGates" in pod["spec"] for pod in world.pods("batch")) == 5
    lab.patch("/apis/coordination.k8s.io/v1/namespaces/stint/leases/stint", {"spec": {"renewTime": "2020-01-01T00:00:00.000000Z"}})
    said = uninstall_says(world, code=1)
    assert "5 gates opened, 1 labels of other pods removed, 0 refused\n" in said and "still run pods" in said, said
    for pod in world.pods("batch"):
        assert "schedulingGates" not in pod["spec"] and "stint.dev/managed" not in pod["metadata"]["labels"], pod
    assert [pod for pod in world.pods("batch") if pod["status"]["phase"] == "Running"], "the pod that ran was stopped"
    assert "stint.dev/managed" not in lab.get("/api/v1/namespaces/batch")["metadata"].get("labels", {})
    for kind in ("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"):
        assert not lab.items(f"/apis/admissionregistration.k8s.io/v1/{kind}"), kind
    assert len(world.claims()) == 1
    lab.delete_all(kube_world.JOB.format("batch"))
    until(lambda: not world.pods("batch"), 60, "the end of all pods")
    assert "returned" in uninstall_says(world)
    until(lambda: not world.claims(), 60, "the return of the machine")
    assert not [role for role in lab.items("/apis/rbac.authorization.k8s.io/v1/clusterroles") if role["metadata"]["name"] == "stint"]
    assert uninstall_says(world) == "0 gates opened, 0 labels of other pods removed, 0 refused\n", "it can be repeated"


POINTS = [
    ("stintd starts", start),
    ("only pods of managed namespaces get the gate", gate),
    ("200 pods of Jobs complete, and no claim is left", all_complete),
    ("a Deployment runs until it is deleted", service),
    ("pods that keep apart have a machine each", apart),
    ("pods with rules about zones have theirs", zoned),
    ("pods run where their volumes are", stored),
    ("a machine gets no more volumes than it attaches", attached),
    ("machines are replaced when their node class has changed", outdated),
    ("a gang starts together", gang),
    ("what is not understood is left to the scheduler", strange),
    ("stintd and its bridge may be killed", killed),
    ("a promise is kept on spot machines", promise),
    ("a watchdog opens the gates of a Stint that is dead", watchdog),
    ("of two copies one leads", leader),
    ("the role is enough, and nothing else is written", rights),
    ("a role that does not know CSINodes does", unlimited),
    ("install may be repeated, and its pods are restricted", install),
    ("uninstall leaves nothing behind, and pods run on", uninstall),
]

if __name__ == "__main__":
    sys.exit(kube_lab.main(POINTS, World))
