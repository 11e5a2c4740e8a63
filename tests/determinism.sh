#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# determinism.sh BUILD BUILD...   the builds answer alike, byte for byte, the first of them also
#                                 twice; only the time that a run took may differ
#
# Asked are all scenarios of examples/ and tests/scenario/, with every decision and its reasons, and
# where the public data is (in $STINT_DATA, else in ../shared/data) a part of a table and of a figure
# of the Eva paper, and a part of the table of CloudCoaster. That differences would be noticed is tried first, on programs made to differ.
set -u
if [ $# -lt 2 ]; then
    sed -n '4,5s/^# //p' "$0"
    exit 2
fi
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
realpath -- "$1" "$@" >"$scratch/builds" || exit 1
cd "$(dirname "$0")/.." || exit 1
failed=0

# answer BUILD ARGUMENT...: what stint says, without the time that it took.
answer() {
    "$1/src/cli/stint" "${@:2}" 2>&1 | sed '/^ *"seconds":/d'
    return "${PIPESTATUS[0]}"
}

# alike BUILDS ARGUMENT...: whether all builds, of which BUILDS is a file, say the same.
alike() {
    local first='' build
    while read -r build; do
        answer "$build" "${@:2}" >"$scratch/now" </dev/null || {
            echo "# $build: exit status $?"
            return 1
        }
        if [ -z "$first" ]; then
            first=$build
            mv "$scratch/now" "$scratch/first"
        elif ! cmp -s "$scratch/first" "$scratch/now"; then
            diff -U 1 --label "$first" --label "$build" "$scratch/first" "$scratch/now" |
                head -20 | cut -c 1-120 | sed 's/^/# /'
            return 1
        fi
    done <"$1"
}

check() {
    if alike "$scratch/builds" "$@"; then
        echo "ok      stint $*"
    else
        echo "FAILED  stint $*"
        failed=1
    fi
}

# pretend NAME TEXT: a build whose stint prints the text.
pretend() {
    mkdir -p "$scratch/$1/src/cli"
    printf '#!/bin/sh\n%s\n' "$2" >"$scratch/$1/src/cli/stint"
    chmod +x "$scratch/$1/src/cli/stint"
}

# notices YES_OR_NO BUILD...: whether 'alike' sees a difference between the pretended builds.
notices() {
    printf "$scratch/%s\n" "${@:2}" >"$scratch/pretended"
    if alike "$scratch/pretended" sim >/dev/null; then
        [ "$1" = no ]
    else
        [ "$1" = yes ]
    fi
}

try_the_check() {
    pretend one "echo '\"cost\": 1.000000,'; echo '  \"seconds\": 0.01'"
    pretend slow "echo '\"cost\": 1.000000,'; echo '  \"seconds\": 9.99'"
    pretend dear "echo '\"cost\": 1.000001,'; echo '  \"seconds\": 0.01'"
    pretend moody "echo \"\\\"cost\\\": \$\$\""
    pretend broken "exit 1"
    if notices no one one slow && notices yes one one dear && notices yes moody moody &&
        notices yes broken broken; then
        echo "ok      differences are noticed"
    else
        echo "FAILED  differences are noticed"
        failed=1
    fi
}

try_the_check
scenarios=0
for file in examples/*.yaml tests/scenario/*.yaml; do
    # A catalogue stands beside the scenarios that use it.
    grep -qs '^trace:' "$file" || continue
    check sim "$file" -o json --explain -
    scenarios=$((scenarios + 1))
done
[ "$scenarios" -gt 0 ] || echo "skipped stint sim: there are no scenarios"
export STINT_DATA=${STINT_DATA:-../shared/data}
if [ -d "$STINT_DATA/eva" ]; then
    check repro eva --jobs 400 -o json
    check repro eva --figure 5 --jobs 150 -o json
else
    echo "skipped stint repro: there is no public data in $STINT_DATA"
fi
if [ -d "$STINT_DATA/hybrid" ]; then
    check repro coaster --seeds 1 -p coaster-3-loose -p stint -o json
fi
exit "$failed"
