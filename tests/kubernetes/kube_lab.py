# SPDX-License-Identifier: Apache-2.0
"""kube_lab - a real control plane on this machine, for a test: etcd, kube-apiserver, kube-scheduler,
kube-controller-manager, kwok for nodes and kubelets without machines, and Karpenter with its kwok provider.

Everything is a child of the test and ends with it. Ports are free ones of the loopback interface. The programs are
those of build.sh, or of KUBEBUILDER_ASSETS. What the API server was asked is in audit.log.
"""
import base64
import ctypes
import datetime
import http.client
import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.parse

HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.realpath(os.path.join(HERE, "..", ".."))
sys.path.insert(0, f"{ROOT}/tests")

from patience import until  # noqa: E402

PROGRAMS = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kwok", "karpenter-kwok")
PR_SET_PDEATHSIG = 1
WRITES = {"create", "update", "patch", "delete", "deletecollection"}


def assets():
    return subprocess.run([f"{HERE}/build.sh", "--folder"], check=True, capture_output=True, text=True).stdout.strip()


def why_not():
    """Why there can be no lab here; None: there can."""
    if not shutil.which("openssl"):
        return "there is no openssl"
    lacking = [name for name in PROGRAMS if not os.access(f"{assets()}/{name}", os.X_OK)]
    return f"{', '.join(lacking)} of {assets()} not built (tests/kubernetes/build.sh)" if lacking else None


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Refused(Exception):
    def __init__(self, status, text):
        super().__init__(f"{status}: {text[:400]}")
        self.status = status


class KubeLab:
    def __init__(self, keep=None):
        self.folder = keep or tempfile.mkdtemp(prefix="stint-kube-")
        os.makedirs(self.folder, exist_ok=True)
        self.assets = assets()
        self.children = {}
        self.commands = {}
        self.connection = None
        names = ("etcd", "peer", "api", "scheduler", "manager", "karpenter", "health", "kwok")
        self.port = dict(zip(names, free_ports(len(names))))
        self.server = f"https://127.0.0.1:{self.port['api']}"

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return self.path(name)

    def spawn(self, name, *command, env=None):
        self.commands[name] = (command, env)
        log = open(self.path(f"{name}.log"), "ab")
        self.children[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                               env={**os.environ, **(env or {})}, preexec_fn=die_with_parent)
        return self.children[name]

    def kill(self, name, how=signal.SIGKILL):
        child = self.children.pop(name, None)
        if child and child.poll() is None:
            child.send_signal(how)
        if child:
            child.wait()

    def restart(self, name):
        self.kill(name)
        command, env = self.commands[name]
        self.spawn(name, *command, env=env)

    def stop(self):
        for name in list(self.children):
            self.kill(name)
        if os.environ.get("STINT_KEEP_LOGS"):
            shutil.copytree(self.folder, os.path.join(os.environ["STINT_KEEP_LOGS"], os.path.basename(self.folder)),
                            ignore=shutil.ignore_patterns("etcd", "*.key", "*.sock"), dirs_exist_ok=True)
        if not os.environ.get("STINT_KEEP_LAB"):
            shutil.rmtree(self.folder, ignore_errors=True)

    # Who is who.

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], check=True, capture_output=True, cwd=self.folder)

    def certificate(self, name, subject, more=""):
        self.openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj", subject,
                     "-keyout", f"{name}.key", "-out", f"{name}.csr")
        self.write(f"{name}.ext", more)
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                     "-extfile", f"{name}.ext", "-out", f"{name}.crt")

    def identities(self):
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                     "-subj", "/CN=lab-ca", "-keyout", "ca.key", "-out", "ca.crt")
        self.certificate("api", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:api.lab\n")
        self.certificate("admin", "/O=system:masters/CN=admin")
        self.certificate("reader", "/CN=reader")
        self.openssl("genrsa", "-out", "sa.key", "2048")
        self.write("tokens.csv", "reader-token,reader,2\nstint-token,stint,3\nnobody-token,nobody,4\n")
        self.kubeconfig("admin", {"client-certificate": "admin.crt", "client-key": "admin.key"})

    def kubeconfig(self, name, user, cluster=None):
        """A kubeconfig for the user; kubectl and Stint read it alike, as it is JSON."""
        where = {"server": self.server, "certificate-authority": "ca.crt", **(cluster or {})}
        return self.write(f"{name}.kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "lab",
            "contexts": [{"name": "lab", "context": {"cluster": "lab", "user": name}}],
            "clusters": [{"name": "lab", "cluster": where}], "users": [{"name": name, "user": user}]}))

    def embedded(self, name):
        """A file as the field '...-data' has it."""
        with open(self.path(name), "rb") as file:
            return base64.b64encode(file.read()).decode()

    # The programs.

    def start(self, scheduler=True, karpenter=False, extra=()):
        self.identities()
        self.write("audit.yaml", json.dumps({"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
                                             "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}))
        self.spawn("etcd", f"{self.assets}/etcd", "--data-dir", self.path("etcd"), "--unsafe-no-fsync",
                   "--listen-client-urls", f"http://127.0.0.1:{self.port['etcd']}",
                   "--advertise-client-urls", f"http://127.0.0.1:{self.port['etcd']}",
                   "--listen-peer-urls", f"http://127.0.0.1:{self.port['peer']}", "--quota-backend-bytes", "4294967296")
        self.spawn("kube-apiserver", f"{self.assets}/kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.port['etcd']}",
                   f"--secure-port={self.port['api']}", "--bind-address=127.0.0.1", f"--tls-cert-file={self.path('api.crt')}",
                   f"--tls-private-key-file={self.path('api.key')}", f"--client-ca-file={self.path('ca.crt')}",
                   f"--token-auth-file={self.path('tokens.csv')}", f"--service-account-key-file={self.path('sa.key')}",
                   f"--service-account-signing-key-file={self.path('sa.key')}",
                   "--service-account-issuer=https://kubernetes.default.svc", "--authorization-mode=Node,RBAC",
                   "--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount",
                   "--endpoint-reconciler-type=none", f"--audit-policy-file={self.path('audit.yaml')}",
                   f"--audit-log-path={self.path('audit.log')}", *extra)
        until(self.is_ready, 180, "the API server")
        if scheduler:
            self.start_controllers()
        if karpenter:
            self.start_karpenter()

    def start_controllers(self):
        config = self.path("admin.kubeconfig")
        rate = ("--kube-api-qps=200", "--kube-api-burst=400")
        self.spawn("kube-scheduler", f"{self.assets}/kube-scheduler", "--kubeconfig", config, "--leader-elect=false",
                   "--bind-address=127.0.0.1", f"--secure-port={self.port['scheduler']}", *rate)
        self.spawn("kube-controller-manager", f"{self.assets}/kube-controller-manager", "--kubeconfig", config,
                   "--leader-elect=false", "--bind-address=127.0.0.1", f"--secure-port={self.port['manager']}",
                   "--controllers=*,-nodeipam,-route,-cloud-node-lifecycle",
                   f"--service-account-private-key-file={self.path('sa.key')}", *rate)
        self.spawn("kwok", f"{self.assets}/kwok", "--kubeconfig", config, "--manage-all-nodes=false",
                   "--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake", "--node-lease-duration-seconds", "40",
                   f"--server-address=127.0.0.1:{self.port['kwok']}", "--config", f"{self.assets}/share/stages.yaml")

    def start_karpenter(self, types=None):
        self.kubectl("apply", "-f", f"{self.assets}/share/crds")
        self.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=30s")
        self.spawn("karpenter", f"{self.assets}/karpenter-kwok", "--metrics-port", str(self.port["karpenter"]),
                   "--health-probe-port", str(self.port["health"]),
                   f"--instance-types-file-path={types or self.assets + '/share/instance-types.json'}",
                   env={"KUBECONFIG": self.path("admin.kubeconfig"), "DISABLE_LEADER_ELECTION": "true"})

    def is_ready(self):
        for name, child in self.children.items():
            if child.poll() is not None:
                with open(self.path(f"{name}.log"), encoding="utf-8", errors="replace") as log:
                    raise RuntimeError(f"{name} has ended: {log.read()[-2000:]}")
        return self.is_ready_again()

    def is_ready_again(self):
        try:
            return self.get("/readyz", raw=True) == b"ok"
        except (OSError, Refused, http.client.HTTPException):
            return False

    # Requests, as the administrator.

    def ask(self, method, path, body=None, kind="application/json", raw=False):
        if self.connection is None:
            context = ssl.create_default_context(cafile=self.path("ca.crt"))
            context.load_cert_chain(self.path("admin.crt"), self.path("admin.key"))
            self.connection = http.client.HTTPSConnection("127.0.0.1", self.port["api"], context=context, timeout=60)
        try:
            self.connection.request(method, path, None if body is None else json.dumps(body), {"Content-Type": kind})
            answer = self.connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            self.connection.close()
            self.connection = None
            raise
        if answer.status >= 300:
            raise Refused(answer.status, text.decode(errors="replace"))
        return text if raw else json.loads(text)

    def get(self, path, raw=False):
        return self.ask("GET", path, raw=raw)

    def items(self, path):
        return self.get(path)["items"]

    def create(self, path, body):
        return self.ask("POST", path, body)

    def patch(self, path, body):
        return self.ask("PATCH", path, body, "application/merge-patch+json")

    def delete_all(self, path, selector=""):
        return self.ask("DELETE", f"{path}?labelSelector={urllib.parse.quote(selector)}", {"propagationPolicy": "Background"})

    def kubectl(self, *arguments, config="admin", text=None, check=True):
        return subprocess.run(["kubectl", "--kubeconfig", self.path(f"{config}.kubeconfig"), *arguments], check=check,
                              capture_output=True, text=True, input=text).stdout

    def add_nodes(self, count, cpu="8", mem="32Gi", labels=None, name="n"):
        for i in range(count):
            self.create("/api/v1/nodes", {
                "apiVersion": "v1", "kind": "Node",
                "metadata": {"name": f"{name}{i}", "annotations": {"kwok.x-k8s.io/node": "fake"},
                             "labels": {"kubernetes.io/hostname": f"{name}{i}", **(labels or {})}},
                "status": {"capacity": {"cpu": cpu, "memory": mem, "pods": "110"},
                           "allocatable": {"cpu": cpu, "memory": mem, "pods": "110"}}})

    def pods_of_jobs(self):
        """How many pods the Job controller has created so far."""
        with open(self.path("audit.log"), encoding="utf-8") as log:
            events = [json.loads(line) for line in log if "job-controller" in line and '"verb":"create"' in line]
        return sum(event["objectRef"]["resource"] == "pods" and event["responseStatus"].get("code") == 201 for event in events)

    def patched(self, name):
        """When pods whose name begins so were patched by Stint, in seconds, in order."""
        with open(self.path("audit.log"), encoding="utf-8") as log:
            events = [json.loads(line) for line in log if '"verb":"patch"' in line and f'"name":"{name}' in line]
        return sorted(datetime.datetime.fromisoformat(event["stageTimestamp"][:26].rstrip("Z")).timestamp() for event in events
                      if event["user"].get("username") == "stint" and event["objectRef"]["resource"] == "pods")

    def events_of(self, user):
        with open(self.path("audit.log"), encoding="utf-8") as log:
            return [event for event in map(json.loads, log) if event["user"].get("username") == user]

    def audited(self, user):
        """What the user asked, as (verb, resource, status)."""
        return [(event["verb"], event.get("objectRef", {}).get("resource", event["requestURI"]),
                 event.get("responseStatus", {}).get("code")) for event in self.events_of(user)]

    def answers_to_patches(self, user, resource, part):
        """How the server answered patches of that part."""
        return [event.get("responseStatus", {}).get("code") for event in self.events_of(user) if event["verb"] == "patch" and
                (event["objectRef"].get("resource"), event["objectRef"].get("subresource")) == (resource, part)]


def main(points, make_lab):
    """Run the points in order, in one lab; TAP."""
    import sys
    reason = why_not()
    if sys.argv[1:] == ["--why-not"]:
        print(reason or "")
        return 0 if reason else 1
    if reason:
        print(f"1..0 # SKIP {reason}")
        return 0
    print(f"1..{len(points)}", flush=True)
    world, failed = None, 0
    try:
        world = make_lab(*sys.argv[1:])
        for number, (name, function) in enumerate(points, 1):
            began = time.monotonic()
            try:
                function(world)
                print(f"ok {number} - {name}")
            except Exception as fault:  # whatever it is, the next point still tells something
                failed += 1
                said = f"{type(fault).__name__}: {fault}".replace("\n", "\n# ")
                print(f"not ok {number} - {name}\n# {said}")
            print(f"# {time.monotonic() - began:.1f} s", flush=True)
    finally:
        if world:
            world.lab.stop()
    return 1 if failed else 0
