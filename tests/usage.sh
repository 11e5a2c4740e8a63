#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# usage.sh STINT   what makes no sense is refused with exit code 2 and a sentence, and help can be
#                  pasted; in TAP
set -u
if [ $# -ne 1 ]; then
    sed -n '4,5s/^# //p' "$0"
    exit 2
fi
stint=$(realpath "$1")
cd "$(dirname "$0")/../examples" || exit 1
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
unset AWS_REGION AWS_DEFAULT_REGION AWS_PROFILE
export HOME=$room AWS_CONFIG_FILE=$room/none STINT_DATA=$room

number=0
failed=0

# judge SENTENCE CONDITION...
judge() {
    local sentence=$1
    shift
    number=$((number + 1))
    if "$@" >"$room/why" 2>&1; then
        echo "ok $number - $sentence"
        return
    fi
    failed=1
    echo "not ok $number - $sentence"
    head -n 20 "$room/why" | sed 's/^/# /'
}

# gives CODE TEXT ARGUMENT...: stint ends with that code, with the text on standard error.
gives() {
    local wanted=$1 text=$2 code
    shift 2
    "$stint" "$@" >"$room/out" 2>"$room/err" </dev/null
    code=$?
    cat "$room/out" "$room/err"
    echo "exit code $code"
    [ "$code" -eq "$wanted" ] && grep -qF -- "$text" "$room/err"
}

# refuses TEXT ARGUMENT...: wrong usage, said on standard error only.
refuses() {
    gives 2 "$@" && [ ! -s "$room/out" ]
}

judge "demo: more jobs than it takes" refuses "up to 9999" demo -j 99999
judge "kubernetes: no role" refuses "Usage: stint kubernetes" kubernetes
judge "kubernetes: a role that is misspelt" refuses "did you mean 'install'?" kubernetes instal
judge "kubernetes: an option that is misspelt" refuses "did you mean '--kubeconfig'?" kubernetes install --kubecnfig x
judge "estimate: an option of sbatch that is misspelt" refuses "did you mean '--partition'?" estimate --patition x
judge "kubernetes: a role of the daemon" refuses "Usage: stint kubernetes" kubernetes engine
judge "demo: a surplus argument" refuses "'extra' is one argument too many" demo extra

judge "bench: without saying what" refuses "what to measure: change or plan?" bench
judge "bench: something else" refuses "change or plan, not 'nothing'" bench nothing
judge "bench: a policy that there is not" refuses "there is no policy 'nope'" bench plan -p nope
judge "bench: no number" refuses "'0' is no whole number from 1 to" bench change --machines 0
judge "bench: more tasks that run than there are" refuses "no more tasks run than there are" bench plan -t 5 --running 6

# plans ARGUMENT...: three policies on the same work, none below the bound.
plans() {
    "$stint" bench plan -o json "$@" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
assert [row["policy"] for row in rows] == ["stint", "eva", "first-fit-decreasing"], rows
for row in rows:
    assert row["seconds"] >= 0 and row["cost_usd_per_hour"] >= row["bound_usd_per_hour"] > 0, row
    assert row["waiting"] > 0 or abs(row["cost_usd_per_hour"] / row["bound_usd_per_hour"] - 1 - row["gap"]) < 1e-3, row
'
}

# skips: what takes too long says so, and has no figures.
skips() {
    "$stint" bench plan -t 100000 --shapes 60 -p eva --limit 1 -o json | python3 -c '
import json, sys
row, = json.load(sys.stdin)["rows"]
assert row["note"] == "not done within 1 s" and row["seconds"] is None and row["gap"] is None, row
'
}

judge "bench: plans are measured side by side" plans -t 1000
judge "bench: and where some tasks run already" plans -t 1000 --running 500
judge "bench: what takes too long is skipped" skips
# measures: 'repro all' needs no data for the examples, and none costs less than its bound.
measures() {
    (cd .. && "$stint" repro all --workload small --workload short -o json) | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
assert len(rows) >= 24 and {row["workload"] for row in rows} == {"small", "short"}, rows
for row in rows:
    assert row["note"] is None and row["cost_usd"] >= row["bound_usd"] > 0 and row["gap"] >= 0, row
    assert row["delay_mean_s"] >= 0 and row["moves_per_task"] >= 0, row
    assert row["policy"] == "power-saving" or row["delay_p99_s"] >= row["delay_mean_s"] / 100, row
'
}

judge "repro: all policies on the examples" measures
judge "repro: a workload that there is not" refuses "there is no workload 'nope'; there are: small" repro all --workload nope
judge "repro: a workload of another system" refuses "--workload, --limit and --fixed go with all" repro eva --workload small
judge "repro: a policy that is not in the table" \
    refuses "there is no policy 'nope'; there are: task-per-instance" repro eva -p nope
judge "repro: a mode that is not in the table" \
    refuses "there is no policy 'eva'; there are: individual" repro sec -p eva
judge "repro: a picture of the table" refuses "--svg goes with --figure" repro eva --svg x.svg
judge "repro: interference where there is none" \
    refuses "--interference goes with eva" repro sec --interference permuted
judge "repro: a check of a part" \
    refuses "--check goes with the whole trace, without --jobs" repro eva --jobs 10 --check
judge "repro: a check of what nothing is known of" \
    refuses "--check goes with the tables" repro eva --figure 4 --check
judge "repro: a check of interference that nobody published" \
    refuses "--check goes with --interference" repro eva --interference 0.9 --check
judge "repro: some policies of a figure" \
    refuses "--policy goes with the table" repro eva --figure 4 -p eva
judge "repro: another system" refuses "there are: all, coaster, eva, " repro adam

judge "catalogue: types of a difference" \
    refuses "--types goes with refresh, show only" catalogue diff --types x a b
judge "catalogue: to show another architecture" \
    refuses "--arch goes with refresh only" catalogue show --arch arm64 machines.yaml
judge "catalogue: a format of what is always YAML" \
    refuses "--output goes with show, diff only" catalogue refresh -o json
judge "catalogue: a daemon and the files of one" \
    refuses "--config and --state read files" catalogue show --socket s --state stint.db
judge "catalogue: two catalogues" \
    refuses "give one of them" catalogue show --config stint.conf machines.yaml
judge "catalogue: types without a match are named" \
    gives 0 "no type of machines.yaml matches 'c99.*'" catalogue show --types 'c99.*' machines.yaml
judge "catalogue: without a region it is said how to name it here" \
    gives 1 "no AWS region: give --region, or set AWS_REGION" catalogue refresh

judge "replay: two rhythms" refuses "one is instead of the other" \
    replay --sacct sacct.txt -c machines.yaml --interval 5m --settle 5s

# helps ARGUMENT...: done, and what is said is on standard output.
helps() {
    "$stint" "$@" >"$room/out" 2>"$room/err" </dev/null || return 1
    [ ! -s "$room/err" ] && grep -q "^Usage: stint" "$room/out"
}
judge "the tool has a usage" helps --usage
judge "a verb helps by -h as the tool does" helps sim -h

# can_paste VERB: every example is one line, that a paste would not break.
can_paste() {
    "$stint" "$1" --help | awk '
        /^Examples?:/ { inside = 1; next }
        inside && /^$/ { inside = 0 }
        inside && !/^  (sudo )?stint / { print; bad = 1 }
        END { exit bad }'
}
# in_manual VERB: every option of its help is in stint(1).
in_manual() {
    local option bad=0
    for option in $("$stint" "$1" --help | sed -n -E 's/^ {2,6}(-., )?--([a-z][a-z0-9-]*).*/\2/p'); do
        case $option in help | usage) continue ;; esac
        grep -qF -- "Fl \\-$option" ../man/stint.1 ../man/stint-kubernetes.1 || { echo "stint.1 lacks --$option"; bad=1; }
    done
    return $bad
}

# lacks_stray VERB: argp leaves one where a description ends at the margin.
lacks_stray() {
    ! grep -n '^ \+$' <("$stint" "$1" --help)
}
for verb in sim replay commit pool catalogue demo repro bench state reconcile kubernetes status top plan explain estimate ledger doctor approve reject drain reload open notify report report-rate; do
    judge "$verb: its examples are not broken" can_paste "$verb"
    judge "$verb: no line of its help is blank but for spaces" lacks_stray "$verb"
    judge "$verb: its options are in the manual page" in_manual "$verb"
done

# sorts VERB ARGUMENT...: its first column of a CSV, sorted by itself, the largest first.
sorts() {
    local column
    "$stint" "$@" -o csv >"$room/plain" 2>"$room/err" || { cat "$room/err"; return 1; }
    column=$(head -n 1 "$room/plain" | cut -d, -f1)
    "$stint" "$@" -o csv --sort="-$column" >"$room/sorted" 2>"$room/err" || { cat "$room/err"; return 1; }
    diff <(tail -n +2 "$room/plain" | cut -d, -f1 | tr -d '"' | LC_ALL=C sort -rV) <(tail -n +2 "$room/sorted" | cut -d, -f1 | tr -d '"')
}
judge "sim: --sort" sorts sim small.yaml
judge "replay: --sort" sorts replay --sacct sacct.txt -c machines.yaml
judge "bench: --sort" sorts bench plan -t 50
judge "catalogue: --sort" sorts catalogue show machines.yaml
judge "sim: what cannot be sorted is refused before anything runs" \
    refuses "there is no column 'nothing' to sort by; there are policy, cost_usd" sim small.yaml --sort nothing
judge "replay: its columns are known only with the answer" \
    gives 2 "there is no column 'nothing' to sort by" replay --sacct sacct.txt -c machines.yaml -o csv --sort nothing

# lists_columns VERB ARGUMENT...: the columns that are named where one is refused are at least those of the answer.
lists_columns() {
    local column named
    named=$("$stint" "$@" --sort nothing 2>&1 >"$room/out" | sed 's/.*there are //; s/,//g')
    [ ! -s "$room/out" ] || return 1
    for column in $("$stint" "$@" -o csv | head -n 1 | tr ',' ' '); do
        case " $named " in *" $column "*) ;; *) echo "$column is missing: $named"; return 1 ;; esac
    done
}
judge "sim: all columns are named" lists_columns sim small.yaml
judge "sim: those of seeds too" lists_columns sim small.yaml --seeds 2
judge "commit: all columns are named" lists_columns commit usage.csv
judge "pool: all columns are named" lists_columns pool --capacity 500 --availability 99.9%
judge "catalogue show: all columns are named" lists_columns catalogue show machines.yaml
judge "catalogue diff: all columns are named" lists_columns catalogue diff machines.yaml machines.yaml
judge "bench change: all columns are named" lists_columns bench change -t 100 -m 20 -c 5 -r 1
judge "bench plan: all columns are named" lists_columns bench plan -t 50
for verb in sim replay commit pool repro catalogue bench ledger plan approve top; do
    judge "$verb: --sort is in its help" grep -q -- "--sort=COLUMN" <("$stint" "$verb" --help)
done

# same_options: what 'stint kubernetes' knows of is what stint-kubernetes takes.
same_options() {
    local option
    for option in $(sed -n '/^static const char \*const options/,/;/p' ../src/cli/verb_kubernetes.c | grep -o '"[a-z-]*"' | tr -d '"') -; do
        [ "$option" = - ] || grep -q -- "--$option\b" <("$(dirname "$stint")/../engine/kubernetes/stint-kubernetes" --help) || { echo "$option"; return 1; }
    done
    for option in $("$(dirname "$stint")/../engine/kubernetes/stint-kubernetes" --help | grep -o '^ *\(-.,\)\? *--[a-z-]*' | sed 's/.*--//'); do
        grep -q "\"$option\"" ../src/cli/verb_kubernetes.c || { echo "$option"; return 1; }
    done
}
[ ! -x "$(dirname "$stint")/../engine/kubernetes/stint-kubernetes" ] ||
    judge "kubernetes: options that are suggested are those that there are" same_options

# suggests: a configuration without -c is what stintd is most often given wrongly.
suggests() {
    "$(dirname "$stint")/../daemon/stintd" --check foo.conf 2>&1 | grep -F "did you mean -c foo.conf?"
}
[ ! -x "$(dirname "$stint")/../daemon/stintd" ] || judge "stintd: a file without -c is answered with -c" suggests

# offers VERB FORMATS: what the help says of -o.
offers() {
    "$stint" "$1" --help | grep -A1 -- "--output=FORMAT" | grep -q "$2\$"
}
for verb in status top drain reload; do
    judge "$verb: no CSV is offered, as there is none" offers "$verb" "table (default), json or yaml"
done
judge "plan: a CSV is offered" offers plan "wide, json, yaml or csv"

judge "README installs what the packages are built with" grep -q "apt-get build-dep" ../README.md

echo "1..$number"
exit $failed
