#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_kube_plan.py STINT - `stint plan --kubeconfig` against a real API server, which only reads. TAP."""
import json
import os
import stat
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

import kube_lab  # noqa: E402

NODES, PODS = 500, 6000  # of which as many are left as fit
PLUGIN = """\
#!/bin/sh
echo "$KUBERNETES_EXEC_INFO" >&2
printf '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"%s"}}\\n' "$LAB_TOKEN"
"""


class World:
    def __init__(self, stint):
        self.stint = os.path.abspath(stint)
        self.catalogue = f"{kube_lab.ROOT}/share/catalogue/aws-us-east-1.yaml"
        self.answer = None
        self.lab = kube_lab.KubeLab()
        self.lab.start(scheduler=False)
        self.fill()

    def fill(self):
        """A cluster as made_up_cluster makes it, written by the API server's own rules."""
        lab = self.lab
        made = subprocess.run([f"{kube_lab.HERE}/made_up_cluster.py", str(NODES), str(PODS - NODES)], check=True,
                              capture_output=True, text=True).stdout
        lab.create("/api/v1/namespaces", {"metadata": {"name": "shop"}})
        pods = 0
        for item in json.loads(made)["items"]:
            kind, meta = item["kind"], item["metadata"]
            meta.pop("managedFields", None)
            meta.pop("uid", None)
            for owner in meta.get("ownerReferences", []):
                owner["uid"] = "00000000-0000-0000-0000-000000000001"
            if kind == "Node":
                lab.create("/api/v1/nodes", item)
                lab.patch(f"/api/v1/nodes/{meta['name']}", {"spec": {"taints": None}})  # admission calls it not ready
            elif kind == "Pod":
                pods += 1
                item.pop("status")
                item["spec"]["automountServiceAccountToken"] = False
                lab.create(f"/api/v1/namespaces/{meta['namespace']}/pods", item)
            else:
                item["apiVersion"] = "policy/v1"
                item.pop("status")
                lab.create(f"/apis/policy/v1/namespaces/{meta['namespace']}/poddisruptionbudgets", item)
        self.pods = pods
        self.grant(["nodes", "pods"], [""], "reader-core")
        self.grant(["poddisruptionbudgets"], ["policy"], "reader-budgets")

    def grant(self, resources, groups, name):
        base = "/apis/rbac.authorization.k8s.io/v1"
        self.lab.create(f"{base}/clusterroles", {"metadata": {"name": name}, "rules": [
            {"apiGroups": groups, "resources": resources, "verbs": ["get", "list"]}]})
        self.lab.create(f"{base}/clusterrolebindings", {
            "metadata": {"name": name}, "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "User", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}]})

    def plan(self, *arguments, env=None, code=0):
        done = subprocess.run([self.stint, "plan", *arguments, "--catalogue", self.catalogue, "-o", "json"],
                              capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=120)
        if done.returncode != code:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr}")
        return json.loads(done.stdout) if code == 0 else done.stderr

    def plan_as(self, user, cluster=None, **more):
        return self.plan("--kubeconfig", self.lab.kubeconfig("reader", user, cluster), **more)


def same(world, answer):
    if world.answer is None:
        world.answer = answer
    if answer != world.answer:
        raise RuntimeError(f"another answer: {answer}")


def certificate(world):
    answer = world.plan_as({"client-certificate": "reader.crt", "client-key": "reader.key"})
    assert answer["nodes"] + answer["nodes_without_price"] == NODES, answer
    assert answer["pods"] + answer["pods_not_compared"] + NODES == world.pods, (answer, world.pods)  # daemons are apart
    assert answer["bound_usd_per_hour"] <= answer["planned_usd_per_hour"] < answer["now_usd_per_hour"], answer
    same(world, answer)


def embedded(world):
    lab = world.lab
    same(world, world.plan_as({"client-certificate-data": lab.embedded("reader.crt"),
                               "client-key-data": lab.embedded("reader.key")},
                              {"certificate-authority-data": lab.embedded("ca.crt")}))


def token(world):
    same(world, world.plan_as({"token": "reader-token"}))
    world.lab.write("token", "reader-token\n")
    same(world, world.plan_as({"tokenFile": "token"}))


def plugin(world):
    path = world.lab.write("plugin", PLUGIN)
    os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)
    same(world, world.plan_as({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": "./plugin",
                                        "interactiveMode": "Never", "env": [{"name": "LAB_TOKEN", "value": "reader-token"}]}}))


def server_name(world):
    other = {"server": f"https://localhost:{world.lab.port['api']}"}
    said = world.plan_as({"token": "reader-token"}, other, code=1)
    assert "localhost" in said, said
    same(world, world.plan_as({"token": "reader-token"}, {**other, "tls-server-name": "api.lab"}))


def stranger(world):
    other = world.lab.path("other.crt")
    world.lab.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                      "-subj", "/CN=other", "-keyout", "other.key", "-out", "other.crt")
    said = world.plan_as({"token": "reader-token"}, {"certificate-authority": other}, code=1)
    assert "certificate" in said and "reader-token" not in said, said


def no_rights(world):
    said = world.plan_as({"token": "nobody-token"}, code=1)
    assert "403" in said and "list nodes" in said, said
    said = world.plan_as({"token": "no-token-at-all"}, code=1)
    assert "401" in said and "no-token-at-all" not in said, said


def snapshot(world):
    path = world.lab.path("snapshot.json")
    same(world, world.plan("--kubeconfig", world.lab.kubeconfig("reader", {"token": "reader-token"}), "--snapshot", path))
    same(world, world.plan("--from", path))


def pages(world):
    with open(world.lab.path("audit.log"), encoding="utf-8") as log:
        asked = [json.loads(line)["requestURI"] for line in log if '"username":"reader"' in line]
    of_pods = [uri for uri in asked if uri.startswith("/api/v1/pods?")]
    whole = [uri for uri in of_pods if "continue=" not in uri]
    expected = (world.pods + 499) // 500
    assert world.pods >= 5000, world.pods
    assert all("limit=500" in uri for uri in of_pods), of_pods[:3]
    assert len(of_pods) == expected * len(whole), (len(of_pods), expected, len(whole))


def reads_only(world):
    asked = world.lab.audited("reader")
    verbs = {verb for verb, _, _ in asked}
    assert len(asked) > 50 and verbs == {"list"}, verbs
    assert {resource for _, resource, _ in asked} == {"nodes", "pods", "poddisruptionbudgets"}, asked[:5]
    assert {code for _, _, code in asked} == {200}, {code for _, _, code in asked}


POINTS = [
    ("a client certificate, in files", certificate),
    ("the same inside of the kubeconfig", embedded),
    ("a token, in the text or in a file", token),
    ("an exec plugin", plugin),
    ("a server that goes by another name", server_name),
    ("a server that nobody vouches for is not asked", stranger),
    ("without rights it says which are needed, and no secret", no_rights),
    ("a snapshot gives the same answer", snapshot),
    ("5,000 pods come in pages", pages),
    ("nothing but lists was asked: the API server's audit log", reads_only),
]

if __name__ == "__main__":
    sys.exit(kube_lab.main(POINTS, World))
