#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# coaster_verb.sh STINT            `stint repro coaster` on two small made-up windows: what it promises beside its
#                                  numbers, and that these are still those of tests/golden/coaster.json; in TAP
# coaster_verb.sh --update STINT   write the numbers anew; review them as a diff
#
# The real windows are public data, which tests/repro.sh measures on.
set -u
update=false
if [ "${1-}" = --update ]; then
    update=true
    shift
fi
if [ $# -ne 1 ]; then
    sed -n '4,6s/^# //p' "$0"
    exit 2
fi
stint=$(realpath "$1")
golden=$(realpath "$(dirname "$0")")/golden/coaster.json
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
mkdir "$room/data" "$room/data/hybrid" "$room/empty"

number=0
failed=0

# repro ARGUMENT...: leaves code, $room/out and $room/err.
repro() {
    STINT_DATA=$room/data "$stint" repro coaster "$@" >"$room/out" 2>"$room/err" </dev/null
    code=$?
}

# judge SENTENCE CONDITION...
judge() {
    local sentence=$1
    shift
    number=$((number + 1))
    if "$@"; then
        echo "ok $number - $sentence"
        return
    fi
    failed=1
    echo "not ok $number - $sentence"
    echo "# exit code $code"
    head -n 5 "$room/out" "$room/err" | sed 's/^/# /'
}

is() {
    [ "$1" = "$2" ]
}

# exits CODE TEXT: with that code, and the text somewhere in what it said on standard error.
exits() {
    is "$code" "$1" && grep -qF -- "$2" "$room/err"
}

# window SEED: long jobs that fill 4,000 servers, and bursts of short ones beside them.
window() {
    awk -v state="$1" '
        function draw(bound) { state = state * 16807 % 2147483647; return state % bound }
        BEGIN {
            for (job = 0; job < 300; job++) {
                long = job % 10 == 0
                tasks = long ? 300 + draw(300) : 1 + draw(job % 30 == 5 ? 400 : 20)
                mean = long ? 600 + draw(900) : 5 + draw(85)
                printf "%d.%d %d %d", job * 9, draw(10), tasks, mean
                for (i = 0; i < tasks; i++)
                    printf " %d", mean + draw(9) - 4
                print ""
            }
        }'
}

# value POLICY COLUMN: of both windows together, from a CSV.
value() {
    awk -F , -v policy="$1" -v column="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) place[$i] = i }
        $1 == policy && $2 == "both" { print $place[column] }' "$room/out"
}

less() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" && a + 0 < b + 0) }'
}

# The numbers, but for the time that a run took.
numbers() {
    sed '/"seconds":/d' "$room/out"
}

repro
judge "without the data it exits with 3 and says what to do" exits 3 "point STINT_DATA at"

window 1 >"$room/data/hybrid/YH1_sub.tr"
window 2 >"$room/data/hybrid/YH2_sub.tr"
repro --seeds 1 -o csv
judge "it runs" is "$code" 0
judge "without a terminal nothing goes to standard error" is "$(cat "$room/err")" ""
judge "each policy has a line for each window and one for both" is "$(wc -l <"$room/out")" 43
judge "Eagle is the yardstick" is "$(value eagle gain)" 1.00
judge "transient servers help" less "$(value coaster-3 mean_seconds)" "$(value eagle mean_seconds)"
judge "an idle server that pulls helps more" less "$(value idle-pull mean_seconds)" "$(value coaster-3 mean_seconds)"
judge "and a pull between long tasks more still" less "$(value stint mean_seconds)" "$(value idle-pull mean_seconds)"

repro --seeds 2 --seed 7 -o json -p eagle -p coaster-3 -p stint
if $update && [ "$code" -eq 0 ]; then
    numbers >"$golden"
fi
judge "the numbers are what they were" diff -u "$golden" <(numbers)

repro --seeds 1 --check -o csv -p eagle
judge "other data does not pass the check" exits 4 "mean_seconds is"
repro --seeds 1 -p nobody
judge "an unknown policy is refused with those there are" exits 2 "stint-half"
repro --seeds 0
judge "no seed is refused" exits 2 "at least 1"
repro --figure 2
judge "a figure that is not there is refused" exits 2 "takes 1, 3, 4, 5 or 6"
window 3 >"$room/data/hybrid/GOOG_subtrace.tr"
for figure in 1 3 4 5 6; do
    repro --figure "$figure" --seeds 1 --jobs 60 --svg "$room/figure.svg"
    judge "figure $figure is measured and drawn" grep -q "</svg>" "$room/figure.svg"
    rm -f "$room/figure.svg"
done

echo "5 1 1 1
4 1 1 1" >"$room/data/hybrid/YH2_sub.tr"
repro
judge "a broken file is named with its line" exits 1 "line 2: the job arrives before"

echo "1..$number"
exit $failed
