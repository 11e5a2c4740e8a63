#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# golden.sh STINT            every scenario of examples/ and tests/scenario/ still gives the result
#                            of tests/golden/, and all its sums add up; in TAP
# golden.sh --update STINT   write the results anew; review them as a diff
#
# The time that a run took is no part of the result. A line "# options: ..." of a scenario is given
# to stint as well.
set -u
update=false
if [ "${1-}" = --update ]; then
    update=true
    shift
fi
if [ $# -ne 1 ]; then
    sed -n '4,10s/^# //p' "$0"
    exit 2
fi
stint=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1

scenarios=(examples/*.yaml tests/scenario/*.yaml)
fresh=$(mktemp -d) || exit 1
trap 'rm -rf "$fresh"' EXIT

# A catalogue stands beside the scenarios that use it.
is_scenario() {
    grep -q '^trace:' "$1"
}

number=0
failed=0
for scenario in "${scenarios[@]}"; do
    is_scenario "$scenario" || continue
    number=$((number + 1))
    name=$(basename "$scenario" .yaml)
    golden=tests/golden/$name.json
    read -r -a options < <(sed -n 's/^# options: //p' "$scenario")
    "$stint" sim "$scenario" --check -o json "${options[@]}" 2>"$fresh/errors" |
        sed 's/"seconds": [0-9.]*/"seconds": 0/' >"$fresh/$name.json"
    code=${PIPESTATUS[0]}
    if [ "$code" -eq 0 ] && $update; then
        cp "$fresh/$name.json" "$golden"
    fi
    if [ "$code" -eq 0 ] && diff -u "$golden" "$fresh/$name.json" >"$fresh/diff" 2>&1; then
        echo "ok $number - $scenario gives what it gave before"
    else
        failed=1
        echo "not ok $number - $scenario gives what it gave before"
        echo "# exit code $code"
        sed 's/^/# /' "$fresh/errors" "$fresh/diff" 2>/dev/null
    fi
done
echo "1..$number"
exit $failed
