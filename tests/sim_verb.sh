#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# sim_verb.sh STINT: what `stint sim` promises beside its numbers - exit codes, what goes to which
# stream, which policies are run; in TAP.
set -u
if [ $# -ne 1 ]; then
    sed -n '4,5s/^# //p' "$0"
    exit 2
fi
stint=$(realpath "$1")
cd "$(dirname "$0")/../examples" || exit 1
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT

number=0
failed=0

# sim ARGUMENT...: leaves code, $room/out and $room/err.
sim() {
    "$stint" sim "$@" >"$room/out" 2>"$room/err" </dev/null
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

differs() {
    [ "$1" != "$2" ]
}

is() {
    [ "$1" = "$2" ]
}

# exits CODE TEXT: with that code, and the text somewhere in what it said on standard error.
exits() {
    is "$code" "$1" && grep -qF -- "$2" "$room/err"
}

# The labels of the rows, in order, with ";" between.
labels() {
    sed -n 's/^ *"policy": "\(.*\)",$/\1/p' "$room/out" | paste -sd ';'
}

sim small.yaml
judge "a run that worked exits with 0" is "$code" 0
judge "without a terminal nothing goes to standard error" is "$(cat "$room/err")" ""
judge "a table ends with the cheapest policy" grep -q "^Cheapest: " "$room/out"
sim small.yaml --html "$room/r.html" --md "$room/r.md"
judge "a report goes to files, and nothing is printed" is "$code$(cat "$room/out" "$room/err")" 0
judge "a page has the command, the answer, the baseline and what is not counted" \
    is "$(grep -cE "stint sim small.yaml|<p>Cheapest: |<h2>Compared with what|<h2>Not counted" "$room/r.html")" 4
judge "and one row for each policy" is "$(grep -c "^<tr><td>" "$room/r.html")" \
    "$("$stint" sim small.yaml -o csv 2>/dev/null | tail -n +2 | wc -l)"
judge "so has Markdown" is "$(grep -cE "^    stint sim small.yaml|^Cheapest: |^## Compared with what|^## Not counted" "$room/r.md")" 4
sim small.yaml --html "$room/no/such/folder"
judge "a report that cannot be written is an error" exits 1 "No such file"
sim small.yaml --html "$room/r2.html" -o json
judge "a report in another format is wrong usage" exits 2 "exclude -o"
sim none.yaml --html "$room/r3.html"
judge "without an answer there is no report" [ "$code" = 1 -a ! -e "$room/r3.html" ]
sim short.yaml
judge "what is over within minutes is not told in hours" \
    grep -qF "arrive within 59.9 seconds; the last ends after 2.0 minutes." "$room/out"
judge "nor are its jobs all the same" grep -Eq "^stint +0.59 +[0-9.]+ +0\.00[0-9]{3} " "$room/out"

sim ../docs/reference/files/scenario.example.yaml --check
judge "the scenario of the document runs" is "$code" 0

sim small.yaml -o csv
judge "a CSV is a header and one line for each policy" is "$(wc -l <"$room/out")" 7
judge "the first policy is the yardstick" grep -q "^task-per-instance,[^,]*,1.0000," "$room/out"

sim small.yaml -o csv --base eva
judge "another policy may be the yardstick" grep -q "^eva,[^,]*,1.0000," "$room/out"

sed '1s/$/,fixed/; 2,$s/$/,1/' small-jobs.csv >"$room/fixed.csv"
sed "s|^trace: .*|trace: $room/fixed.csv|; s|^catalogue: .*|catalogue: $PWD/machines.yaml|" small.yaml >"$room/fixed.yaml"
sim "$room/fixed.yaml" -o csv
cut -d, -f1-12 "$room/out" >"$room/by-file"
sim small.yaml -o csv --fixed
judge "--fixed is as if the trace said so of every job" is "$(cut -d, -f1-12 "$room/out" | cmp - "$room/by-file")" ""
sim small.yaml -o csv
judge "which costs something else" differs "$(cut -d, -f1-12 "$room/out")" "$(cat "$room/by-file")"

sim interference.yaml -o json --policy "eva, blind" --policy eva
judge "a label takes one, in the order of the command line" is "$(labels)" "eva, blind;eva"

sim ../tests/scenario/noise.yaml -o json --policy eva
judge "a name that is no label takes all that the scenario has of the policy" \
    is "$(labels)" "eva, full only;eva, partial only"

printf 'trace: %s\ncatalogue: %s\npolicies: [owl]\n' "$PWD/small-jobs.csv" "$PWD/machines.yaml" \
    >"$room/one.yaml"
sim "$room/one.yaml" -o json --policy stratus
judge "a policy that the scenario does not list is added" is "$(labels)" "stratus"
judge "a scenario without a name is called as its file" grep -q '"name": "one"' "$room/out"

sim gangs.yaml -o csv --policy owl --seed 7
cp "$room/out" "$room/seven"
sim gangs.yaml -o csv --policy owl --seed 8
judge "another seed is another day" is "$(cmp -s "$room/out" "$room/seven" && echo same)" ""

sim gangs.yaml -o json --policy owl --seed 7 --seeds 2
judge "several seeds say how many" grep -q '"seeds": 2' "$room/out"
judge "several seeds show the spread of the cost" grep -q '"cost_min_usd": ' "$room/out"

sim small.yaml -o csv --policy eva --explain "$room/why.csv"
judge "what is explained begins with its columns" \
    is "$(head -n 1 "$room/why.csv" | cut -d, -f1-6)" "policy,seed,decision,time_s,what,job"
judge "every machine that was rented is explained" \
    is "$(grep -c ',rent,' "$room/why.csv")" "$(tail -n 1 "$room/out" | cut -d, -f10)"
judge "every line that is explained has all columns" \
    is "$(python3 -c 'import csv, sys; print(*{len(row) for row in csv.reader(open(sys.argv[1]))})' "$room/why.csv")" 26

sim small.yaml -o csv --policy eva --jobs "$room/jobs.csv"
judge "every job is told with the time that it took" \
    is "$(awk -F, 'NR > 1 { print ($7 - $6) / 3600 - $8 < 0.001 }' "$room/jobs.csv" | sort | uniq -c | tr -s ' ')" \
    " $(tail -n +2 "$room/jobs.csv" | wc -l) 1"
judge "the slowest of them is in the answer" \
    is "$(tail -n +2 "$room/jobs.csv" | cut -d, -f8 | sort -n | tail -n 1 | cut -c1-4)" \
    "$(tail -n 1 "$room/out" | cut -d, -f5 | cut -c1-4)"

sim none.yaml
judge "a scenario that is not there exits with 1" exits 1 "none.yaml: there is no such file"
printf 'trace: x\n' >"$room/bad.yaml"
sim "$room/bad.yaml"
judge "a scenario that is wrong exits with 1 and names the line" exits 1 "bad.yaml: line 1: "
sim small.yaml --explain "$room/none/why.csv"
judge "a file that cannot be written exits with 1" exits 1 "cannot be written"
sim
judge "no scenario is wrong usage" exits 2 "which scenario?"
sim small.yaml faults.yaml
judge "two scenarios are wrong usage" exits 2 "one scenario at a time"
sim small.yaml --policy none
judge "an unknown policy is wrong usage and lists what there is" exits 2 "task-per-instance"
sim small.yaml --policy owl --base eva
judge "a yardstick that is not run is wrong usage" exits 2 "--policy eva"
sim small.yaml -o xml
judge "an unknown format is wrong usage" exits 2 "table, wide, json, yaml or csv"
sim small.yaml --seeds 0
judge "no seed at all is wrong usage" exits 2 "from 1 to"
sim --help
judge "help goes to standard output and exits with 0" grep -q "Exit codes: 0 done" "$room/out"

echo "1..$number"
exit $failed
