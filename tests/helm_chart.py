#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""helm_chart.py STINTD - what the Helm chart of share/helm/stint makes, in TAP; skipped without helm or PyYAML.

It has all that share/kubernetes/stint.yaml has, its configuration is one that stintd accepts, its pods keep to the
"restricted" level of pod security, and values that cannot work are refused.
"""
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
CHART = f"{ROOT}/share/helm/stint"
GOOD = ["--set", "cluster=prod", "--set", "nodeClass=karpenter.k8s.aws/EC2NodeClass/default",
        "--set-file", f"catalogue={ROOT}/docs/reference/files/catalogue.example.yaml"]


def helm(*words):
    return subprocess.run(["helm", *words], capture_output=True, text=True, check=False)


def template(*words, version="1.36.0"):
    return helm("template", "stint", CHART, "--kube-version", version, *words)


def render(yaml, *more):
    made = template(*GOOD, *more)
    if made.returncode != 0:
        raise AssertionError(made.stderr)
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(made.stdout) if one}


def has_all_of_the_manifest(yaml, _stintd):
    with open(f"{ROOT}/share/kubernetes/stint.yaml", encoding="utf-8") as file:
        wanted = [one for one in yaml.safe_load_all(file) if one]
    made = render(yaml)
    assert len(wanted) > 5
    for one in wanted:
        assert made[one["kind"], one["metadata"]["name"]] == one, one["kind"]


def stintd_accepts_its_configuration(yaml, stintd):
    data = render(yaml, "--set", "config.limits.dollars_per_hour=20", "--set", "mode=act")["ConfigMap", "stint"]["data"]
    conf = yaml.safe_load(data["stint.conf"])
    assert conf["limits"] == {"dollars_per_hour": 20} and conf["mode"] == "act" and conf["cluster"] == "prod"
    with tempfile.TemporaryDirectory() as folder:
        conf["state"], conf["http"]["socket"] = f"{folder}/stint.db", f"{folder}/stintd.sock"
        with open(f"{folder}/stint.conf", "w", encoding="utf-8") as file:
            yaml.safe_dump(conf, file)
        with open(f"{folder}/catalogue.yaml", "w", encoding="utf-8") as file:
            file.write(data["catalogue.yaml"])
        done = subprocess.run([stintd, "-c", f"{folder}/stint.conf", "--check"], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def pods_are_restricted(yaml, _stintd):
    found = [one for one in render(yaml).values() if one["kind"] == "Deployment"]
    assert len(found) == 2
    for one in found:
        spec = one["spec"]["template"]["spec"]
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert not any(spec.get(name) for name in ("hostNetwork", "hostPID", "hostIPC"))
        assert all(set(volume) <= {"name", "configMap", "emptyDir", "persistentVolumeClaim"} for volume in spec["volumes"])
        for container in spec["containers"]:
            own = container["securityContext"]
            assert own["allowPrivilegeEscalation"] is False and own["capabilities"] == {"drop": ["ALL"]}
            assert own["readOnlyRootFilesystem"] is True


def copies_share_the_state_and_one_leads(yaml, _stintd):
    made = render(yaml)
    spec = made["Deployment", "stint"]["spec"]
    assert spec["replicas"] == 2
    assert spec["template"]["spec"]["containers"][0]["command"][:3] == ["/usr/bin/stint-kubernetes", "lead", "--"]
    assert made["PersistentVolumeClaim", "stint-state"]["spec"]["accessModes"] == ["ReadWriteMany"]
    one = render(yaml, "--set", "replicas=1", "--set", "state.accessMode=ReadWriteOnce")["Deployment", "stint"]["spec"]
    assert one["replicas"] == 1 and one["strategy"] == {"type": "Recreate"}


def what_cannot_work_is_refused(_yaml, _stintd):
    for wrong, why in ((["--set", "state.accessMode=ReadWriteOnce"], "share the state file"), (["--set", "cluster="], "cluster is required"),
                       (["--set", "nodeClass="], "nodeClass is required"), (["--set", "catalogue="], "catalogue is required")):
        given = GOOD[:4] if "catalogue=" in wrong else GOOD
        made = template(*given, *wrong)
        assert made.returncode != 0 and why in made.stderr, (wrong, made.stderr)
    assert "requires kubeVersion" in template(*GOOD, version="1.35.4").stderr


def lint_has_nothing_to_say(_yaml, _stintd):
    done = helm("lint", "--strict", CHART, *GOOD)
    assert done.returncode == 0, done.stdout + done.stderr


def main():
    try:
        import yaml
    except ImportError:
        print("1..0 # SKIP there is no PyYAML")
        return 0
    if not shutil.which("helm"):
        print("1..0 # SKIP there is no helm")
        return 0
    tests = (has_all_of_the_manifest, stintd_accepts_its_configuration, pods_are_restricted, copies_share_the_state_and_one_leads,
             what_cannot_work_is_refused, lint_has_nothing_to_say)
    bad = 0
    print(f"1..{len(tests)}")
    for i, test in enumerate(tests, 1):
        try:
            test(yaml, os.path.abspath(sys.argv[1]))
            print(f"ok {i} - {test.__name__.replace('_', ' ')}")
        except (AssertionError, KeyError) as wrong:
            bad += 1
            print(f"not ok {i} - {test.__name__.replace('_', ' ')}\n# {wrong!r}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
