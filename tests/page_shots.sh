#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# page_shots.sh BUILD FOLDER   pictures of every view of the page into FOLDER, at 1280 and at 390 pixels, light and dark,
#                              by a headless Chromium from a made-up world; says so and does nothing where there is none
set -u
if [ $# -ne 2 ]; then
    sed -n '4,5s/^# //p' "$0"
    exit 2
fi
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
    echo "page_shots: no Chromium is installed; nothing was done"
    exit 77
}
build=$(realpath "$1") || exit 1
mkdir -p "$2" && cd "$2" || exit 1
room=$(mktemp -d) || exit 1
"$build/src/serve/page_world" "$room/sock" 12 110 &
world=$!
trap 'kill "$world" "$proxy" 2>/dev/null; rm -rf "$room"' EXIT
proxy=$world
for _ in $(seq 100); do
    [ -S "$room/sock" ] && break
    sleep 0.1
done
"$build/src/cli/stint" open --socket "$room/sock" >"$room/link" 2>/dev/null &
proxy=$!
for _ in $(seq 100); do
    [ -s "$room/link" ] && break
    sleep 0.1
done
link=$(cat "$room/link")

# first KEY PATH FIELD: the first name in a list of the API.
first() {
    curl -s --unix-socket "$room/sock" "http://localhost$2" |
        python3 -c "import json, sys; print(json.load(sys.stdin)['$1'][0]['$3'])"
}
job=$(first jobs "/v1/jobs?state=waiting&limit=1" job)
machine=$(first instances "/v1/instances?limit=1" instance)
for view in now: "time:time?hours=24" "job:job/$job" "machine:machine/$machine" jobs:jobs ledger:ledger doctor:doctor; do
    for width in 1280 390; do
        for colours in light dark; do
            "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --window-size=$width,1500 \
                --blink-settings=preferredColorScheme=$([ $colours = dark ] && echo 0 || echo 1) \
                --screenshot="${view%%:*}-$width-$colours.png" "$link${view#*:}" >/dev/null 2>&1 || exit 1
        done
    done
done
ls -- *.png
