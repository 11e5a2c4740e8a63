#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# plan_verb.sh STINT SOURCE - `stint plan --from`: what it says of a made-up cluster adds up, and odd files are refused.
set -u
stint=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
bad=0

point() { # NAME COMMAND...
    local name=$1
    shift
    count=$((count + 1))
    if "$@"; then
        echo "ok $count - $name"
    else
        echo "not ok $count - $name"
        bad=1
    fi
}

plan() {
    "$stint" plan --from "$work/cluster.json" --catalogue "$source/share/catalogue/aws-us-east-1.yaml" "$@"
}

adds_up() {
    plan -o json >"$work/plan.json" && python3 - "$work/plan.json" <<'PY'
import json, sys
plan = json.load(open(sys.argv[1], encoding="utf-8"))
now = sum(row["now_usd_per_hour"] for row in plan["rows"])
planned = sum(row["planned_usd_per_hour"] for row in plan["rows"])
assert abs(now - plan["now_usd_per_hour"]) < 1e-6, (now, plan)
assert abs(planned - plan["planned_usd_per_hour"]) < 1e-6, (planned, plan)
assert sum(row["planned"] for row in plan["rows"]) == plan["machines_planned"]
assert sum(row["now"] for row in plan["rows"]) == plan["nodes"]
assert plan["bound_usd_per_hour"] <= plan["planned_usd_per_hour"] < plan["now_usd_per_hour"]
assert plan["planned_usd_per_hour"] <= 1.06 * plan["bound_usd_per_hour"], "the plan is far from the bound"
assert plan["pods_that_fit_nowhere"] == 0 and plan["pods_that_move"] <= plan["pods"]
parts = sum(plan[f"{part}_usd_per_hour"] for part in ("pods", "daemons", "reserved", "idle"))
assert abs(parts - plan["now_usd_per_hour"]) < 1e-5, (parts, plan)
PY
}

says_so() {
    plan >"$work/said" && grep -q "^No choice of machines costs less than" "$work/said" &&
        grep -q "has a disruption budget that is used up" "$work/said"
}

same_again() {
    plan -o csv >"$work/a" && plan -o csv >"$work/b" && cmp "$work/a" "$work/b"
}

# Without names the plan is the same; what is left of the texts is public.
anonymous() {
    plan -o json --snapshot "$work/shown.json" --anonymise >"$work/a" &&
        "$stint" plan --from "$work/shown.json" --catalogue "$source/share/catalogue/aws-us-east-1.yaml" -o json >"$work/b" &&
        cmp "$work/a" "$work/b" && ! grep -Eq 'shop|agent|"k[0-9]|p-[0-9]|registry|"n[0-9]' "$work/shown.json" &&
        grep -q 'us-east-1a' "$work/shown.json"
}

refuses() { # TEXT EXPECTED
    printf '%s' "$1" >"$work/odd.json"
    ! "$stint" plan --from "$work/odd.json" --catalogue "$source/share/catalogue/aws-us-east-1.yaml" 2>"$work/said" &&
        grep -q "$2" "$work/said"
}

echo 1..7
"$source/tests/kubernetes/made_up_cluster.py" 60 600 >"$work/cluster.json"
point "the figures of a cluster add up" adds_up
point "people are told the bound, and why pods stay" says_so
point "the same cluster has the same plan" same_again
point "a snapshot without names has the same plan" anonymous
point "a file without nodes is refused with what to do" refuses '{"items":[]}' 'kubectl get'
point "a file that is no JSON is refused" refuses '{"items":' 'no valid JSON'
point "both files are needed" eval '! "$stint" plan --from x 2>/dev/null'
exit "$bad"
