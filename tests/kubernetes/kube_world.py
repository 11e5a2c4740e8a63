# SPDX-License-Identifier: Apache-2.0
"""kube_world - stintd in a kube_lab: it manages a namespace, and rents through Karpenter's kwok provider.

Stint and Karpenter are given the same types at the same prices: those of Karpenter's own list whose family is c, m or r of the
third generation and later, for Linux, on demand, in one zone.
"""
import http.client
import json
import os
import re
import socket
import subprocess

import kube_lab

ZONE = "us-west-2a"
CONSOLIDATE_AFTER = "10s"
CONF = """\
cluster: lab
mode: act
node_prefix: st-
state: {folder}/stint.db
catalogue: {folder}/catalogue.yaml
policy: {{ name: stint{options} }}
estimates: {{ default: 60s, learn: true }}
replace_outdated: {{ percent: 34, after: 0s }}
timing: {{ audit: {audit}, boot_timeout: 120s, refused: 5s }}
engine: {{ kind: kubernetes, program: {bridge}, kubeconfig: {folder}/stint.kubeconfig }}
cloud: {{ kind: karpenter, program: {bridge}, kubeconfig: {folder}/stint.kubeconfig, node_class: karpenter.kwok.sh/KWOKNodeClass/default }}
http: {{ socket: {folder}/stintd.sock }}
"""
JOB = "/apis/batch/v1/namespaces/{}/jobs"
CLAIMS = "/apis/karpenter.sh/v1/nodeclaims"
REFUSAL = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/no-capacity"


def is_offer(offer, market):
    return f'"{ZONE}"' in json.dumps(offer) and f'"{market}"' in json.dumps(offer)


def types(assets):
    """Karpenter's types that both may use, each with its offers on demand and on the spot market; the first is on demand."""
    kept = []
    with open(f"{assets}/share/instance-types.json", encoding="utf-8") as file:
        for one in json.load(file):
            if not re.match(r"[cmr][3-9][a-z-]*\.", one["name"]) or "linux" not in one["operatingSystems"]:
                continue
            if one["architecture"] not in ("x86_64", "amd64") or "metal" in one["name"]:
                continue
            offers = [[offer for offer in one["offerings"] if is_offer(offer, market)][:1] for market in ("on-demand", "spot")]
            if offers[0]:
                kept.append({**one, "offerings": offers[0] + offers[1]})
    return kept


def mib(text):
    units = {"Ki": 1 / 1024, "Mi": 1, "Gi": 1024, "Ti": 1024 * 1024, "": 1 / 1024 / 1024}
    number, unit = re.fullmatch(r"([0-9.]+)([KMGT]i)?", text).groups()
    return int(float(number) * units[unit or ""])


def cpus(text):
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def catalogue(kept, usable, spot=None):
    """'usable' gives what of a type is left for pods, as (CPUs, MiB); 'spot' adds offers at that share of the price."""
    lines = ["billing: { step: 1s, minimum: 0s }", "boot: { acquire: 1s, setup: 2s, release: 1s }", "types:"]
    for one in kept:
        cpu, mem = usable(one)
        lines.append(f"  - {{ name: {one['name']}, cpu: {cpu:g}, mem_gib: {mem / 1024:.9g}, "
                     f"offers: [ {{ zone: {ZONE}, price: {one['offerings'][0]['Price']:.6f} }}" +
                     (f", {{ market: spot, zone: {ZONE}, price: {spot * one['offerings'][0]['Price']:.6f}, "
                      "interruption: [20, 100] }" if spot else "") + " ] }")
    return "\n".join(lines) + "\n"


class Socket(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=20)
        self.unix = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.unix)


class KubeWorld:
    def __init__(self, build, karpenter=True):
        self.build = os.path.abspath(build)
        self.lab = kube_lab.KubeLab()
        self.types = self.load_types()
        self.price = {one["name"]: one["offerings"][0]["Price"] for one in self.types}
        lab = self.lab
        lab.write("types.json", json.dumps(self.types))
        lab.write("catalogue.yaml", self.print_catalogue())
        lab.start()
        if karpenter:
            lab.start_karpenter(lab.path("types.json"))
        self.install()
        self.grant()
        lab.create("/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses",
                   {"apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": "default"}, "spec": {}})

    def grant(self):
        """A user with the rights of Stint's account."""
        self.lab.kubectl("create", "clusterrolebinding", "stint-user", "--clusterrole=stint", "--user=stint")
        self.lab.kubectl("create", "rolebinding", "stint-user", "--role=stint-lease", "--user=stint", "--namespace=stint")
        self.lab.kubeconfig("stint", {"token": "stint-token"})

    def install(self, *more):
        return subprocess.run([self.bridge(), "install", "--kubeconfig", self.lab.path("admin.kubeconfig"), *more], check=True,
                              capture_output=True, text=True, timeout=60).stdout

    def load_types(self):
        return types(self.lab.assets)

    def print_catalogue(self):
        return catalogue(self.types, self.usable)

    @staticmethod
    def usable(one):
        """What is allocatable: kwok's provider reserves 100m and 10Mi of every machine for the kubelet."""
        return round(cpus(one["resources"]["cpu"]) - 0.1, 3), mib(one["resources"]["memory"]) - 10

    def namespace(self, name, managed=True):
        labels = {"stint.dev/managed": "true"} if managed else {}
        self.lab.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})

    def node_pool(self):
        """From now on Karpenter rents by itself for pods that nobody else places."""
        self.lab.create("/apis/karpenter.sh/v1/nodepools", {
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "default"},
            "spec": {"disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": CONSOLIDATE_AFTER,
                                    "budgets": [{"nodes": "10%"}]},
                     "template": {"spec": {
                         "expireAfter": "Never",
                         "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                         "requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
                                          {"key": "kubernetes.io/os", "operator": "In", "values": ["linux"]}]}}}})

    def refuse(self, expression):
        """New claims for which it holds (CEL) get a class that is not there, and so no machine; whoever sees them deletes them."""
        policy = {
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "no-capacity"},
            "spec": {"failurePolicy": "Fail", "reinvocationPolicy": "Never",
                     "matchConstraints": {"resourceRules": [{"apiGroups": ["karpenter.sh"], "apiVersions": ["v1"],
                                                             "operations": ["CREATE"], "resources": ["nodeclaims"]}]},
                     "matchConditions": [{"name": "gone", "expression": expression}],
                     "mutations": [{"patchType": "JSONPatch", "jsonPatch": {
                         "expression": '[JSONPatch{op: "replace", path: "/spec/nodeClassRef/name", value: "none"}]'}}]}}
        try:
            self.lab.patch(REFUSAL, {"spec": policy["spec"]})
        except kube_lab.Refused:
            self.lab.create(os.path.dirname(REFUSAL), policy)
            self.lab.create(os.path.dirname(REFUSAL).replace("policies", "policybindings"), {
                "apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding",
                "metadata": {"name": "no-capacity"}, "spec": {"policyName": "no-capacity"}})

    def is_gated(self, space):
        """Whether the API server has read the policy; that takes it a second."""
        pod = {"metadata": {"name": "probe"}, "spec": {"containers": [{"name": "main", "image": "work"}]}}
        made = self.lab.create(f"/api/v1/namespaces/{space}/pods?dryRun=All", pod)
        return made if "schedulingGates" in made["spec"] else None

    def bridge(self):
        return f"{self.build}/src/engine/kubernetes/stint-kubernetes"

    def daemon(self, audit="10s", **options):
        """The command that runs stintd, with options of the policy."""
        conf = self.lab.write("stint.conf", CONF.format(folder=self.lab.folder, audit=audit, bridge=self.bridge(),
                                                        options="".join(f", {name}: {value}" for name, value in options.items())))
        return f"{self.build}/src/daemon/stintd", "-c", conf

    def start_stintd(self, audit="10s", **options):
        self.lab.spawn("stintd", *self.daemon(audit, **options))

    def start_copy(self, name):
        """One of several, of which one leads; they share the state file."""
        self.lab.spawn(name, self.bridge(), "lead", "--kubeconfig", self.lab.path("stint.kubeconfig"), "--", *self.daemon())

    def ask_stintd(self, path):
        connection = Socket(self.lab.path("stintd.sock"))
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return json.loads(text)

    def vanish(self, node):
        """The machine is gone, with its kubelet, and nobody was told before."""
        claims = [claim["metadata"]["name"] for claim in self.claims() if claim.get("status", {}).get("nodeName") == node]
        for path in [f"{CLAIMS}/{name}" for name in claims] + [f"/api/v1/nodes/{node}"]:
            try:
                self.lab.patch(path, {"metadata": {"finalizers": None}})
                self.lab.ask("DELETE", path, {"gracePeriodSeconds": 0})
            except kube_lab.Refused as refused:
                if refused.status != 404:  # Karpenter was faster
                    raise

    def job(self, space, name, cpu, mem, pods=1, seconds=20, jitter=0, annotations=None, priority=None):
        stage = {"pod-complete.stage.kwok.x-k8s.io/delay": f"{seconds}s",
                 "pod-complete.stage.kwok.x-k8s.io/jitter-delay": f"{seconds + jitter}s", **(annotations or {})}
        self.lab.create(JOB.format(space), {
            "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
            "spec": {"parallelism": pods, "completions": pods, "backoffLimit": 6, "podFailurePolicy": {"rules": [
                {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget"}]}]}, "template": {
                "metadata": {"annotations": stage},
                "spec": {"restartPolicy": "Never", **({"priorityClassName": priority} if priority else {}), "containers": [
                    {"name": "main", "image": "work", "resources": {"requests": {"cpu": cpu, "memory": mem}}}]}}}})

    def deployment(self, space, name, cpu, mem, replicas, annotations=None, spec=None):
        self.lab.create(f"/apis/apps/v1/namespaces/{space}/deployments", {
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
            "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}}, "template": {
                "metadata": {"labels": {"app": name}, "annotations": annotations or {}},
                "spec": {**(spec or {}), "containers": [
                    {"name": "main", "image": "work", "resources": {"requests": {"cpu": cpu, "memory": mem}}}]}}}})

    def pods(self, space):
        return self.lab.items(f"/api/v1/namespaces/{space}/pods")

    def claims(self):
        return self.lab.items(CLAIMS)

    def hourly(self):
        """What all nodes cost, in dollars per hour."""
        return sum(self.price[node["metadata"]["labels"]["node.kubernetes.io/instance-type"]]
                   for node in self.lab.items("/api/v1/nodes"))
