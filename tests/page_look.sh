#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# page_look.sh BUILD FOLDER [MACHINES JOBS]   every view of the page and the reports in headless Chromium, at 1280 and at 390
#                              pixels, light and dark, of a made-up world (12 machines, 160 jobs): pictures into FOLDER, and in
#                              TAP that axe-core finds no serious violation and nothing is wider than the window. Takes a
#                              minute; wants Chromium, node and npm, which fetches axe-core and playwright-core once, into
#                              FOLDER/tools. Exits with 77 where one of these is missing.
set -u
if [ $# -ne 2 ] && [ $# -ne 4 ]; then
    sed -n '4,8s/^# //p' "$0"
    exit 2
fi
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) &&
    command -v node >/dev/null && command -v npm >/dev/null || {
    echo "1..0 # SKIP Chromium, node or npm is not installed"
    exit 77
}
export CHROMIUM
build=$(realpath "$1") || exit 1
look=$(realpath "$(dirname "$0")/page_look.mjs")
mkdir -p "$2/tools" && cd "$2" || exit 1
folder=$PWD
[ -d tools/node_modules/axe-core ] ||
    (cd tools && npm install --silent --no-audit --no-fund --prefix . axe-core@4.10.3 playwright-core@1.49.1) || {
    echo "1..0 # SKIP axe-core and playwright-core cannot be fetched"
    exit 77
}
room=$(mktemp -d) || exit 1
"$build/src/serve/page_world" "$room/sock" "${3:-12}" "${4:-160}" &
world=$!
proxy=$world
trap 'kill "$world" "$proxy" 2>/dev/null; rm -rf "$room"' EXIT
for _ in $(seq 600); do
    [ -S "$room/sock" ] && break
    sleep 0.1
done
"$build/src/cli/stint" open --socket "$room/sock" >"$room/link" 2>/dev/null &
proxy=$!
for _ in $(seq 100); do
    [ -s "$room/link" ] && break
    sleep 0.1
done
"$build/src/cli/stint" report --socket "$room/sock" --since 1d --html "$room/report.html" || exit 1

source=$(dirname "$look")/..
"$build/src/cli/stint" sim "$source/examples/small.yaml" --html "$room/sim.html" || exit 1
"$build/src/cli/stint" replay --sacct "$source/examples/sacct.txt" -c "$source/examples/machines.yaml" --html "$room/replay.html" || exit 1
"$build/src/cli/stint" commit "$source/examples/usage.csv" --html "$room/commit.html" || exit 1

# first KEY PATH FIELD: the first name in a list of the API.
first() {
    curl -s --unix-socket "$room/sock" "http://localhost$2" |
        python3 -c "import json, sys; print(json.load(sys.stdin)['$1'][0]['$3'])"
}
job=$(first jobs "/v1/jobs?state=waiting&limit=1" job)
running=$(first jobs "/v1/jobs?state=running&limit=1" job)
machine=$(first instances "/v1/instances?limit=1" instance)
cd tools || exit 1
node "$look" "$(cat "$room/link")" "$folder" now: "time:time?hours=24" "waiting:job/$job" "running:job/$running" \
    "machine:machine/$machine" jobs:jobs ledger:ledger "by-job:ledger?by=job" doctor:doctor "report:file://$room/report.html" \
    "sim:file://$room/sim.html" "replay:file://$room/replay.html" "commit:file://$room/commit.html"
