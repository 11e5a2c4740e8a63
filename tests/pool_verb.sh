#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# pool_verb.sh [--update] STINT   what `stint pool` answers on the example and on small histories; in TAP
#
# --update writes tests/golden/pool-example.json anew.
set -u
update=false
if [ "${1-}" = --update ]; then
    update=true
    shift
fi
stint=$(realpath "$1")
cd "$(dirname "$0")/../examples" || exit 1
golden=$PWD/../tests/golden
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT

number=0
failed=0
code=0

# pool ARGUMENT...: run it and keep what it says.
pool() {
    "$stint" pool "$@" >"$room/out" 2>"$room/err" </dev/null
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
    head -n 30 "$room/out" "$room/err" | sed 's/^/# /'
}

is() {
    [ "$1" = "$2" ]
}

# exits CODE TEXT: with that code, and the text somewhere in what it said on standard error.
exits() {
    is "$code" "$1" && grep -qF -- "$2" "$room/err"
}

# says CODE TEXT: with that code, and the text in its answer.
says() {
    is "$code" "$1" && grep -qF -- "$2" "$room/out"
}

# field NAME: of the pool's report in JSON.
field() {
    python3 -c 'import json, sys; print(json.load(sys.stdin)[0][sys.argv[1]])' "$1" <"$room/out"
}

as_before() {
    local file=$golden/pool-example.json
    ! $update || cp "$room/out" "$file"
    diff -u "$file" "$room/out" >"$room/diff" && return
    cat "$room/diff" >>"$room/err"
    return 1
}

# The same pool by its own account: machines, capacity and price are sums of the rows, levels fall.
sums() {
    python3 -c '
import json, sys
pool, levels = json.load(sys.stdin)
rows = pool["rows"]
assert sum(row["capacity"] for row in rows) == pool["capacity"]
assert abs(sum(row["price_usd"] for row in rows) - pool["price_usd"]) < 1e-9
assert all(row["left_offer"] == pool["capacity"] - row["capacity"] for row in rows)
assert levels["rows"][-1]["capacity"] == pool["capacity"]
shorts = [row["short"] for row in levels["rows"]]
assert shorts == sorted(shorts)
wanted = [row["short"] for row in levels["rows"] if row["capacity"] >= pool["capacity_wanted"]]
assert abs(wanted[0] - pool["short_independent"]) < 2e-12, (wanted[0], pool["short_independent"])
assert pool["short"] <= pool["short_most"] * (1 + 1e-9)
' <"$room/out"
}

pool --capacity 500 --availability 99.99%
judge "a promise that can be kept exits with 0" is "$code" 0
judge "the price stands beside that on demand" says 0 "on demand the capacity costs"
judge "what is survived is said" says 0 "Any one type may be lost"
judge "what is not survived is said" says 0 "NOT survived: the loss of one zone"
judge "the level that was asked for is marked" says 0 "(asked for)"
judge "what is not counted is said" says 0 "Not counted:"
judge "no line is wider than 100 characters" is "$(grep -cE '^.{101}' "$room/out")" 0
pool --capacity 500 --availability 0.9999 --rule k-of-n -o json
judge "the example has the answer that it had" as_before
judge "the report adds up" sums
cheap=$(field price_usd)
pool --capacity 500 --availability 99.99% --rule greedy -o json
judge "the published rule keeps the promise too, for more" \
    python3 -c 'import sys; sys.exit(not float(sys.argv[1]) > float(sys.argv[2]))' "$(field price_usd)" "$cheap"
pool --capacity 500 --availability 99.99% -o json
judge "the best costs no more than k of n" \
    python3 -c 'import sys; sys.exit(not float(sys.argv[1]) <= float(sys.argv[2]))' "$(field price_usd)" "$cheap"
judge "the best adds up" sums
pool --capacity 500 --availability 99.99% -o csv
judge "CSV has a header" is "$(head -n 1 "$room/out" | cut -d, -f1-3)" machines,type,zone
pool --capacity 500 --availability 99.99% --svg "$room/pool.svg"
judge "a picture is a whole SVG" is "$(tail -n 1 "$room/pool.svg")" "</svg>"

# Three offers, always gone together: independence would promise, the history does not.
cat >"$room/three.yaml" <<'END'
types:
  - { name: a.large, cpu: 2, mem_gib: 8, price: 0.10, offers: [{ market: spot, zone: x, price: 0.03 }] }
  - { name: b.large, cpu: 2, mem_gib: 8, price: 0.10, offers: [{ market: spot, zone: x, price: 0.03 }] }
  - { name: c.large, cpu: 2, mem_gib: 8, price: 0.10, offers: [{ market: spot, zone: x, price: 0.03 }] }
END
history() { # history TOGETHER: ten outages of 100 s in 100 days, at one time or at three
    local i offer
    echo "time,type,zone,price"
    for offer in 0 1 2; do
        for i in 0 1 2 3 4 5 6 7 8 9; do
            echo "$((i * 864000 + offer * $1)),$(echo a b c | cut -d' ' -f$((offer + 1))).large,x,0.2"
            echo "$((i * 864000 + offer * $1 + 100)),$(echo a b c | cut -d' ' -f$((offer + 1))).large,x,0.03"
        done
        echo "8640000,$(echo a b c | cut -d' ' -f$((offer + 1))).large,x,0.03"
    done
}
history 0 >"$room/together.csv"
history 5000 >"$room/apart.csv"
pool --capacity 100 --availability 99.99% --catalogue "$room/three.yaml" --history "$room/apart.csv"
judge "offers that are lost one at a time keep a promise" is "$code" 0
judge "a repairing pool is tried on the history" says 0 "A pool that replaces what it loses"
pool --capacity 100 --availability 99.99% --catalogue "$room/three.yaml" --history "$room/together.csv"
judge "offers that are lost together cannot" says 4 "This CANNOT be promised"
judge "that no pool can is said" says 4 "No pool of these offers can, however large"
pool --capacity 100 --availability 99.99% --catalogue "$room/three.yaml" --history "$room/together.csv" -o json
judge "programs are told by the word cannot" is "$(field answer)" cannot
judge "and what is the least that any pool is short" is "$(field short_least)" 0.000115740741

pool --capacity 10 --availability 99% --catalogue "$room/three.yaml"
judge "a catalogue that says nothing of losses is not guessed about" exits 1 "give --history"
pool --capacity 10 --availability 99% --catalogue "$room/three.yaml" --unit accel
judge "neither is one without the unit" exits 1 "give --history"
pool --capacity 10 --availability 99% --catalogue no-such.yaml
judge "a missing catalogue exits with 1" exits 1 no-such.yaml
printf 'time,type,price\n0,z,1\n5,z,2\n' >"$room/other.csv"
pool --capacity 10 --availability 99% --catalogue "$room/three.yaml" --history "$room/other.csv"
judge "a history of other machines exits with 1" exits 1 "no type and zone of it is a spot offer"
pool --capacity 10
judge "no availability exits with 2" exits 2 "Give --availability"
pool --availability 99%
judge "no capacity exits with 2" exits 2 "Give --capacity"
pool --capacity 10 --availability 100%
judge "a promise without an exception exits with 2" exits 2 "must be a share above 0 and below 100%"
pool --capacity 0 --availability 99%
judge "a capacity of nothing exits with 2" exits 2 "--capacity must be a whole number"
pool --capacity 5 --availability 99% --rule luck
judge "another rule exits with 2" exits 2 "--rule must be one of best, greedy"

echo "1..$number"
exit $failed
