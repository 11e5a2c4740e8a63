#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# replay_verb.sh STINT            what `stint replay` answers for the shipped example, and what it
#                                 promises beside: exit codes, which stream, which formats; in TAP
# replay_verb.sh --update STINT   write tests/golden/replay.* anew; review them as a diff
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
cd "$(dirname "$0")/.." || exit 1
golden=$PWD/tests/golden
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT

number=0
failed=0
code=0

# replay ARGUMENT...: leaves code, $room/out and $room/err.
replay() {
    "$stint" replay "$@" >"$room/out" 2>"$room/err" </dev/null
    code=$?
}

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
    echo "# exit code $code"
    head -n 20 "$room/why" "$room/err" | sed 's/^/# /'
}

ends_with() {
    [ "$code" -eq "$1" ]
}

is_golden() {
    [ "$code" -eq 0 ] || return 1
    ! $update || cp "$room/out" "$golden/$1"
    diff -u "$golden/$1" "$room/out"
}

# fails_with CODE TEXT: and says so on standard error only.
fails_with() {
    [ "$code" -eq "$1" ] && grep -qF -- "$2" "$room/err" && [ ! -s "$room/out" ]
}

# Python is there for the build already.
is_true_of_json() {
    [ "$code" -eq 0 ] && python3 - "$room/out" "$1" <<'END'
import decimal, json, sys
answer = json.load(open(sys.argv[1]), parse_float=decimal.Decimal)
policies = {row["policy"]: row for row in answer["policies"]["rows"]}
users = answer["users"]["rows"]
sys.exit(not eval(sys.argv[2]))
END
}

sacct=(--sacct examples/sacct.txt)
machines=(--catalogue examples/machines.yaml)

replay "${sacct[@]}" "${machines[@]}" --paid 640 --check
judge "the example is answered as before, as a table" is_golden replay.txt
judge "without a terminal nothing is said beside the answer" [ ! -s "$room/err" ]

replay "${sacct[@]}" "${machines[@]}" --paid 640 --check -o json
judge "the example is answered as before, as JSON" is_golden replay.json
judge "every dollar of a bill is some user's" is_true_of_json \
    'all(sum(u[p + "_usd"] for u in users) == policies[p]["cost_usd"] for p in policies if p + "_usd" in users[0]) and len(users[0]) == 7'
judge "every record is a job or left out" is_true_of_json \
    'answer["policies"]["records"] == answer["policies"]["jobs"] + sum(n for k, n in answer["policies"].items() if k.startswith("left_out_"))'
judge "no policy is cheaper than the bound" is_true_of_json \
    'all(policies[p]["cost_usd"] >= answer["policies"]["bound_usd"] for p in policies)'
judge "what is saved is what was paid less the cost" is_true_of_json \
    'all(r["saved_usd"] == 640 - r["cost_usd"] for r in policies.values())'
judge "a fixed cluster around the clock costs more than power saving, which costs more than the bound" is_true_of_json \
    'policies["always-on"]["cost_usd"] > policies["power-saving"]["cost_usd"] > answer["policies"]["bound_usd"]'
judge "running jobs do not move unless told to" is_true_of_json \
    'all(not r["migrations_per_task"] for r in policies.values())'
replay "${sacct[@]}" "${machines[@]}" --move 2m -p eva -o json
judge "with --move they may" is_true_of_json 'policies["eva"]["migrations_per_task"] > 0.5'
replay "${sacct[@]}" "${machines[@]}" --move never -p eva --suspend 1h -o json
judge "never is the default" is_true_of_json 'policies["eva"]["migrations_per_task"] == 0'

replay "${sacct[@]}" "${machines[@]}" -p eva -o csv
judge "CSV has a line for each policy" [ "$(cut -d, -f1 "$room/out" | tr '\n' ' ')" = "policy as it was always-on power-saving eva " ]
replay "${sacct[@]}" "${machines[@]}" -p eva -o csv --users
judge "CSV has a line for each user if asked for" [ "$(wc -l <"$room/out")" -eq 13 ]

gzip -c examples/sacct.txt >"$room/sacct.gz"
replay --sacct "$room/sacct.gz" "${machines[@]}" --paid 640
judge "a compressed history gives the same answer" is_golden replay.txt

# What sacct 22.05.8 printed, asked of a slurmdbd, of jobs of a lab: by the command of docs/reference/files/sacct.md, and
# with steps, local times and other columns. An array, a gang, a job without a limit, and a bar in a name.
for kind in "" -steps; do
    replay --sacct "tests/golden/sacct-slurmdbd$kind.txt" "${machines[@]}" -p stint --check -o json
    judge "what sacct$kind of a slurmdbd printed is replayed whole" is_true_of_json \
        '(answer["policies"]["records"], answer["policies"]["jobs"], answer["policies"]["tasks"]) == (7, 7, 8) and {u["user"]: u["jobs"] for u in users} == {"alice": 2, "bob": 2, "carol": 3} and answer["policies"]["bound_usd"] == decimal.Decimal("0.00048")'
done

cat >"$room/log.swf" <<'END'
; UnixStartTime: 1078605840
1 100 5 3600 40 -1 -1 40 7200 -1 1 14 10 3 9 3 -1 -1
2 160 5 1800 16 -1 -1 16 7200 -1 1 15 10 3 9 3 -1 -1
3 160 5 -1 16 -1 -1 16 7200 -1 5 15 10 3 9 3 -1 -1
END
replay --swf "$room/log.swf" "${machines[@]}" --check -o json
judge "a log in the Standard Workload Format is replayed" is_true_of_json \
    'answer["policies"]["jobs"] == 2 and answer["policies"]["tasks"] == 4'
replay --swf "$room/log.swf" "${machines[@]}" --instance-processors 8 --check -o json
judge "the processors of a machine are as told" is_true_of_json 'answer["policies"]["tasks"] == 7'
replay --swf "$room/log.swf" "${machines[@]}" --instance-processors 100 -p eva
judge "a history that fits no machine is an error that says so" \
    fails_with 1 "there is no job to replay among 3 records; 1 never ran; 2 fit no machine of the catalogue"

replay --jobs examples/small-jobs.csv "${machines[@]}" --check --interval 5m --estimates user -o json
judge "a table of jobs is replayed" is_true_of_json 'answer["policies"]["jobs"] > 0 and len(policies) == 6'
replay --jobs examples/small-jobs.csv "${machines[@]}" -p task-per-instance -o json
cp "$room/out" "$room/on-demand"
replay --jobs examples/small-jobs.csv "${machines[@]}" -p task-per-instance -o json --spot
judge "spot offers count only if asked for" \
    [ "$(grep -c '"spot": "no"' "$room/on-demand")$(grep -c '"spot": "yes"' "$room/out")" = 11 ]

replay "${machines[@]}"
judge "without a history the usage is wrong" fails_with 2 "which history?"
replay "${sacct[@]}"
judge "without machines the usage is wrong" fails_with 2 "which machines?"
replay "${sacct[@]}" --swf x "${machines[@]}"
judge "two histories are one too many" fails_with 2 "one history at a time"
replay "${sacct[@]}" "${machines[@]}" -p best
judge "an unknown policy is told what there is" fails_with 2 "there is no policy 'best'; there are: "
replay "${sacct[@]}" "${machines[@]}" --paid lots
judge "what was paid is an amount" fails_with 2 "--paid must be an amount of dollars"
replay --sacct /nowhere/x "${machines[@]}"
judge "a missing file is named" fails_with 1 "/nowhere/x: there is no such file"
replay --sacct examples/machines.yaml "${machines[@]}"
judge "what is no accounting is told the command to run" fails_with 1 "docs/reference/files/sacct.md has the whole command"
replay --help
judge "help says how to begin" grep -qF "stint replay --sacct examples/sacct.txt" "$room/out"

echo "1..$number"
exit $failed
