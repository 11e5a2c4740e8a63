#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""helm_manifest.py - the Helm chart and share/kubernetes/daemon.yaml say the same, in TAP; skipped without PyYAML.

With one replica and ReadWriteOnce, the chart's Deployments and its claim are those of the manifest, but for what only a chart
has (ONLY_CHART). Helm is not needed: what these templates use of its language is rendered here, and anything else is an error.
helm_chart.py holds the chart against Helm itself, where that is installed.
"""
import os
import re
import sys

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
CHART = f"{ROOT}/share/helm/stint"
# Where, and the key there.
ONLY_CHART = {("container", "imagePullPolicy"), ("pod", "topologySpreadConstraints"), ("template", "annotations")}
STRATEGY = 'eq .Values.state.accessMode "ReadWriteMany" | ternary "RollingUpdate" "Recreate"'


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Chart:
    """The templates, with values."""

    def __init__(self, yaml):
        self.yaml = yaml
        self.values = yaml.safe_load(read(f"{CHART}/values.yaml"))
        self.values["replicas"] = 1
        self.values["state"]["accessMode"] = "ReadWriteOnce"
        self.parts = dict(re.findall(r'\{\{- define "([\w.]+)" -\}\}\n(.*?)\n?\{\{- end \}\}', read(f"{CHART}/templates/_helpers.tpl"), re.S))

    def value(self, path):
        found = self.values
        for key in path.split(".")[2:]:
            found = found[key]
        return found

    def holds(self, condition):
        """Whether a block is there."""
        if condition == 'if and (gt (int .Values.replicas) 1) (ne .Values.state.accessMode "ReadWriteMany")':
            return self.values["replicas"] > 1 and self.values["state"]["accessMode"] != "ReadWriteMany"
        asked = re.fullmatch(r"(if not|with) (\.Values[\w.]*)", condition)
        assert asked, f"not understood: {condition}"
        return bool(self.value(asked[2])) == (asked[1] == "with")

    def expression(self, text):
        if text == STRATEGY:
            return "RollingUpdate" if self.values["state"]["accessMode"] == "ReadWriteMany" else "Recreate"
        if text == 'include "stint.image" .':
            return "IMAGE"
        if text.endswith("| sha256sum"):
            return "sum"
        said = re.fullmatch(r'(toYaml |include )?("[\w.]+" \.|\.Values[\w.]*)(?: \| (quote|default "[^"]*"))?(?: \| nindent (\d+))?', text)
        assert said, f"not understood: {text}"
        function, what, more, indent = said.groups()
        if function == "include ":
            made = self.parts[what.split('"')[1]]
        elif function:
            made = self.yaml.safe_dump(self.value(what)).rstrip()
        else:
            made = str(self.value(what))
        if more == "quote":
            made = f'"{made}"'
        elif more and not made:
            made = more.split('"')[1]
        if indent:
            made = "".join("\n" + " " * int(indent) + line for line in made.split("\n"))
        return made

    def render(self, name):
        """The documents of a template that are not its configuration."""
        lines = []
        there = [True]
        for line in read(f"{CHART}/templates/{name}").split("\n"):
            block = re.fullmatch(r"\s*\{\{- ((?:if|with|end|fail)\b.*?) ?\}\}", line)
            if block and block[1] == "end":
                there.pop()
            elif block and block[1].startswith("fail"):
                assert not there[-1], line
            elif block:
                there.append(there[-1] and self.holds(block[1]))
            elif there[-1]:
                lines.append(line)
        assert there == [True], name
        parts = [part for part in "\n".join(lines).split("\n---\n") if "kind: ConfigMap" not in part]
        text = "\n---\n".join(re.sub(r"\s*\{\{- (.*?) \}\}|\{\{ (.*?) \}\}", lambda found: self.expression(found[1] or found[2]), part)
                              for part in parts)
        return [one for one in self.yaml.safe_load_all(text) if one]


def without_only_chart(documents):
    """What a manifest has too; says which of ONLY_CHART was there."""
    found = set()
    for one in documents:
        if one["kind"] != "Deployment":
            continue
        template = one["spec"]["template"]
        places = [("template", template["metadata"]), ("pod", template["spec"])]
        places += [("container", container) for container in template["spec"]["containers"]]
        for place, of in places:
            for key in [key for where, key in ONLY_CHART if where == place and key in of]:
                del of[key]
                found.add((place, key))
    return found


def main():
    try:
        import yaml
    except ImportError:
        print("1..0 # SKIP no PyYAML")
        return 0
    chart = Chart(yaml)
    made = chart.render("config.yaml") + chart.render("deployments.yaml")
    wanted = [one for one in yaml.safe_load_all(read(f"{ROOT}/share/kubernetes/daemon.yaml")) if one]
    found = without_only_chart(made)
    points = [("there are a claim and two Deployments in both",
               [one["kind"] for one in made] == ["PersistentVolumeClaim", "Deployment", "Deployment"], [one["kind"] for one in made]),
              ("what only a chart has is there", found == ONLY_CHART, ONLY_CHART - found),
              ("the manifest has none of it", not without_only_chart(wanted), "")]
    names = {(one["kind"], one["metadata"]["name"]): one for one in made}
    for one in wanted:
        own = names.pop((one["kind"], one["metadata"]["name"]), None)
        points.append((f"{one['kind']} {one['metadata']['name']} is the same in both", own == one, f"chart: {own}\n# manifest: {one}"))
    points.append(("the chart has no other", not names, sorted(names)))
    for number, (sentence, good, why) in enumerate(points, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {sentence}")
        if not good:
            print(f"# {why}")
    print(f"1..{len(points)}")
    return 0 if all(good for _, good, _ in points) else 1


if __name__ == "__main__":
    sys.exit(main())
