#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_kube_guide.py BUILD - docs/start/kubernetes.md works as written, on a real API server with Karpenter's kwok provider, and so does
'sh kubernetes' of other pages. TAP.

All blocks of a page are run by bash in one shell, and must succeed; a block that is a file is written (tests/pages.py). What blocks of
'no-test' bring is put there: the programs of the build, the kubeconfig, a catalogue of the provider's types. The node class is the provider's.
"""
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))

import kube_lab  # noqa: E402
import kube_world  # noqa: E402
import pages  # noqa: E402
import patience  # noqa: E402

GUIDE = "docs/start/kubernetes.md"
PAGES = pages.with_runner("kubernetes")
GONE = "while kubectl get namespace stint >/dev/null 2>&1; do sleep 0.5; done\n"

# What the reader of a page has; a pod waits that no machine can hold.
BEFORE = {
    "docs/guides/k8s-manage.md": f"{GONE}kubectl create namespace batch\n",
    "docs/troubleshooting/kubernetes.md": f"""{GONE}\
stint kubernetes install --kubeconfig admin.kubeconfig
stintd -c stint.conf &
kubectl label --overwrite namespace batch stint.dev/managed=true
kubectl -n batch create configmap owner
cat >waits.yaml <<END
apiVersion: v1
kind: Pod
metadata:
  name: waits
  namespace: batch
  ownerReferences: # a pod without a controller is left to the scheduler
    - {{ apiVersion: v1, kind: ConfigMap, name: owner, controller: true, uid: $(kubectl -n batch get configmap owner -o jsonpath='{{.metadata.uid}}') }}
spec:
  containers: [{{ name: main, image: busybox, resources: {{ requests: {{ cpu: "5000" }} }} }}]
END
for _ in $(seq 120); do # the API server takes a policy into account some time after it has accepted it
  kubectl apply --dry-run=server -f waits.yaml -o jsonpath='{{.spec.schedulingGates[*].name}}' | grep -q stint.dev/place && break
  sleep 0.5
done
kubectl apply -f waits.yaml
test "$(kubectl -n batch get pod waits -o jsonpath='{{.spec.schedulingGates[*].name}}')" = stint.dev/place
""",
}
AFTER = {
    "docs/guides/k8s-manage.md": "test -z \"$(kubectl get namespace batch -o jsonpath='{.metadata.labels.stint\\.dev/managed}')\"\n",
    "docs/troubleshooting/kubernetes.md": """\
test "$(kubectl -n batch get pod waits -o jsonpath='{.spec.schedulingGates[*].name}')" = ''
kill %1; wait
""",
}


class World(kube_world.KubeWorld):
    def install(self, *more):
        return "" if not more else super().install(*more)

    def grant(self):
        pass


def script(name):
    """A page as one script."""
    lines = ["set -em", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT", BEFORE.get(name, "")]
    for one in PAGES[name]:
        if one.is_shell:
            lines.append(one.text)
        elif name == GUIDE:
            lines.append(f"cat >{one.file} <<'END_OF_FILE'\n{one.text}END_OF_FILE")
    text = "\n".join([*lines, AFTER.get(name, "")])
    for said, meant in (("karpenter.k8s.aws/EC2NodeClass/default", "karpenter.kwok.sh/KWOKNodeClass/default"), ("NAMESPACE", "batch"),
                        ("POD ", "waits ")):
        text = text.replace(said, meant)
    return pages.installed(text)


def follow_page(world, name):
    lab = world.lab
    path = ":".join(f"{world.build}/src/{folder}" for folder in ("cli", "daemon", "engine/kubernetes"))
    done = subprocess.run(["bash", "-c", script(name)], cwd=lab.folder, text=True, capture_output=True, timeout=240 * patience.FACTOR,
                          env={**os.environ, "PATH": f"{path}:{os.environ['PATH']}", "KUBECONFIG": lab.path("admin.kubeconfig"),
                               "HOME": lab.folder})
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    return said


def follow(world):
    lab = world.lab
    os.makedirs(lab.path(".kube"))
    lab.write(".kube/config", lab.kubectl("config", "view", "--flatten", "--raw"))
    shutil.copy(pathlib.Path(pages.ROOT, "share/catalogue/aws-us-east-1.yaml"), lab.folder)
    lab.add_nodes(2, cpu="8", mem="32Gi", labels={"node.kubernetes.io/instance-type": "m5.2xlarge", "karpenter.sh/capacity-type": "on-demand",
                                                  "topology.kubernetes.io/zone": kube_world.ZONE})
    said = follow_page(world, GUIDE)
    for part in ("2 nodes cost", "MutatingAdmissionPolicy stint-gate: would be created", "MutatingAdmissionPolicy stint-gate: created",
                 "job.batch/first condition met", "namespace trial: label removed", "namespace stint: deleted"):
        assert part in said, (part, said[-3000:])
    kube_lab.until(lambda: not world.claims(), 60, "the return of all machines")


def point_of(name):
    return f"the commands of {name} work", lambda world: follow_page(world, name)


POINTS = [("the guide works as written", follow), *(point_of(name) for name in PAGES if name != GUIDE)]

if __name__ == "__main__":
    sys.exit(kube_lab.main(POINTS, World))
