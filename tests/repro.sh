#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# repro.sh STINT   the published results still come out as they should; in TAP
#
# Measures on public data (docs/research/data.md) and skips where that is absent. Each point is one command
# whose --check holds the figures against what they should be; those named "columns" look at the JSON.
set -u
stint=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
data=${STINT_DATA:-../shared/data}

if [ ! -r "$data/eva/pai_full.csv" ] || [ ! -r "$data/swf/SDSC-DS-2004-2.1-cln.swf.gz" ] ||
    [ ! -r "$data/alibaba-batch-2017/jobs.csv.zst" ] || [ ! -r "$data/tr-kubernetes/record-us-east-1a.csv" ] ||
    [ ! -r "$data/spot-2015/us-east-1-linux.csv.zst" ] || [ ! -d "$data/spot-availability" ] ||
    { [ ! -r "$data/hybrid/YH1_sub.tr" ] && [ ! -r "$data/hybrid/YH1_sub.tr.zst" ]; }; then
    echo "1..0 # SKIP no public data; see docs/research/data.md"
    exit 0
fi
export STINT_DATA=$data

count=0
failed=0
point() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        echo "not ok $count - $2"
        failed=1
    fi
}

# holds NAME ARGUMENT...: stint repro with --check.
holds() {
    local name=$1
    shift
    "$stint" repro "$@" --check -o csv >"$scratch/out" 2>"$scratch/err"
    local code=$?
    sed 's/^/# /' "$scratch/out" "$scratch/err"
    point $code "$name"
}

# shape NAME KEYS ARGUMENT...: the JSON is an object with a name and rows that have the keys.
shape() {
    local name=$1 keys=$2
    shift 2
    "$stint" repro "$@" -o json | python3 -c '
import json, sys
answer = json.load(sys.stdin)
keys = sys.argv[1].split()
assert isinstance(answer["name"], str) and answer["rows"]
for row in answer["rows"]:
    missing = [key for key in keys if key not in row]
    assert not missing, (row, missing)
' "$keys"
    point $? "$name"
}

scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT

holds "Eva's table 14, interference as published" eva
holds "Eva's table 14, interference permuted" eva --interference permuted
holds "the semi-elastic cluster's modes" sec
holds "Stratus and a rival on short tasks" stratus --policy supercloud --policy stratus
holds "commitments on six logs (figure 7)" sec --figure 7
holds "two clouds on four logs (figure 8)" sec --figure 8
holds "CloudCoaster, Eagle and ours on two windows of the Yahoo trace" coaster
holds "rules for pools of transient machines, 302 offers" pools -p greedy -p fleet-cheapest -p k-of-n -p stint
holds "pools on prices that were not known (figure 15)" pools --figure 15
holds "batch work on the excess of a pool (figure 17)" pools --figure 17
shape "repro all has the promised columns" \
    "workload policy cost_usd norm_cost bound_usd gap delay_mean_s delay_p99_s moves_per_task seconds note" \
    all --jobs 200 --workload small --workload eva --workload kth --workload alibaba-batch -p stint -p first-fit-decreasing
"$stint" repro all --fixed --workload small --workload short -p stint -p eva -p power-saving -o json | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
assert [row["policy"] for row in rows] == ["eva", "stint", "power-saving"] * 2, rows
assert all(row["moves_per_task"] == 0 for row in rows), rows
assert all(row["cost_usd"] > row["bound_usd"] for row in rows), rows
'
point $? "repro all --fixed moves no task, and has what power saving costs"
shape "repro eva has the promised columns" \
    "policy cost_usd norm_cost jct_hours tasks_per_instance norm_throughput idle_hours
    migrations_per_task instances paper_norm_cost paper_jct_hours seconds" \
    eva --jobs 50
shape "repro sec has the promised columns" \
    "policy cost_usd norm_cost wait_seconds utilisation seconds paper_wait_seconds paper_norm_wait" sec --jobs 500
shape "repro stratus has the promised columns" \
    "policy cost_usd known_cost_usd norm_cost latency_seconds norm_latency_p50 norm_latency_p95 memory_use
    instances seconds" stratus --jobs 100
shape "repro stratus on the market of 2015 has the promised columns" \
    "policy cost_usd norm_cost latency_seconds instances boot_usd idle_usd taken evicted lost_work_hours" stratus --jobs 100 --vary market=2015
"$stint" repro stratus --jobs 5000 --vary rounds=events -p stratus -p stint -o json | python3 -c '
import json, sys
stratus, stint = json.load(sys.stdin)["rows"]
assert stint["cost_usd"] < 0.8 * stratus["cost_usd"] and stint["latency_seconds"] < stratus["latency_seconds"], (stratus, stint)
assert stint["boot_usd"] < 0.5 * stratus["boot_usd"], (stratus, stint)
'
point $? "with decisions on events stint is cheaper and faster than stratus, as it boots less"
"$stint" repro stratus --vary market=2015 -p hotspot -p stint -o json | python3 -c '
import json, sys
hotspot, stint = json.load(sys.stdin)["rows"]
assert hotspot["taken"] > 1000 and hotspot["evicted"] > 100, hotspot
assert 0 < stint["taken"] < 100 and stint["cost_usd"] < 0.6 * hotspot["cost_usd"], stint
'
point $? "in 2015 machines are taken away when their price rises above the bid, from hotspot by the thousand"
shape "repro coaster has the promised columns" \
    "policy window mean_seconds gain p99_seconds max_seconds transients transients_arrival peak life_hours
    life_max_hours bill_servers long_norm in_long_share seconds paper_mean_seconds paper_gain paper_transients" \
    coaster --jobs 200 --seeds 1
shape "repro pools has the promised columns" \
    "policy offers nines norm_cost bound excess reached_nines missed paper_norm_cost seconds" pools -p stint
echo "1..$count"
exit $failed
