#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# operator_verbs.sh STINT            what the verbs say that ask the daemon, against a mock that answers
#                                    with the examples of docs/reference/api.md; in TAP
# operator_verbs.sh --update STINT   write tests/golden/operator.txt anew; review it as a diff
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
cd "$(dirname "$0")" || exit 1
room=$(mktemp -d) || exit 1
golden=$PWD/golden/operator.txt
mock=$PWD/mock_stintd.py
unset STINT_SOCKET
export SYSTEMD_UNIT_PATH=$room # no unit of this machine is judged

python3 "$mock" "$room/sock" >"$room/asked" 2>"$room/mock-errors" &
mock_pid=$!
trap 'kill "$mock_pid" 2>/dev/null; rm -rf "$room"' EXIT
for _ in $(seq 100); do
    [ -S "$room/sock" ] && break
    sleep 0.05
done

number=0
failed=0
code=0

# ask ARGUMENT...: leaves code, $room/out and $room/err.
ask() {
    "$stint" "$@" >"$room/out" 2>"$room/err" </dev/null
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
    head -n 20 "$room/out" "$room/err" | sed 's/^/# /'
}

is() {
    [ "$1" = "$2" ]
}

# exits CODE TEXT: with that code, and the text somewhere in what it said on standard error.
exits() {
    is "$code" "$1" && grep -qF -- "$2" "$room/err"
}

# What every verb says.
cat >"$room/good.conf" <<'CONF'
cluster: lab
state: ROOM/stint.db
catalogue: ROOM/catalogue.yaml
policy: { name: stint }
engine: { kind: slurm, program: /bin/true }
cloud: { kind: local, socket: ROOM/cloud.sock }
http: { socket: ROOM/nobody.sock }
CONF
sed -i "s|ROOM|$room|" "$room/good.conf"
cp ../examples/machines.yaml "$room/catalogue.yaml"
sed 's|/catalogue.yaml|/none.yaml|' "$room/good.conf" >"$room/no-catalogue.conf"
sed 's|^cluster|clutser|' "$room/good.conf" >"$room/misspelt.conf"
{
    sed '/^http/d; s|kind: local, socket: [^ ]*|kind: aws|' "$room/good.conf"
    echo "estimates: { accounting: no-sacct.txt }"
    echo "http: { listen: '127.0.0.1:9178', token_file: no-token }"
} >"$room/no-files.conf"
sed "s|http: .*|http: { listen: '0.0.0.0:9178' }|" "$room/good.conf" >"$room/open.conf"

while read -r -a words; do
    ask "${words[@]}" --socket "$room/sock"
    {
        echo "\$ stint ${words[*]}"
        cat "$room/out" "$room/err"
        echo "=> $code"
        echo
    } | sed "s|$room|ROOM|g; s|[^ ,\"]*/doc/stint/|DOC/|g"
done >"$room/said" <<LIST
status
status -o json
top
plan
plan -o csv
explain 12_3
explain 12_3 -o csv
explain st-17
explain 99
explain st-99
estimate -n 4 --mem 8G -t 2:00:00
estimate -o csv -c 2 --mem=4G -a 0-9
estimate -N two
ledger
ledger --by job
ledger --by type -o csv
ledger --by day -o csv
ledger --by job --sort hours
ledger --sort colour
ledger -o yaml
catalogue show
catalogue show --types none -o csv
doctor -c $room/good.conf
doctor -c $room/good.conf --offline
doctor -c $room/misspelt.conf --offline
doctor -c $room/no-catalogue.conf --offline -o csv
doctor -c $room/no-files.conf --offline
doctor -c $room/open.conf --offline
doctor -c $room/none.conf --offline -o json
approve
approve -o csv
approve 31
approve 31 99
reject all
drain
drain --off
drain -o json
reload
LIST
if $update; then
    cp "$room/said" "$golden"
fi
diff -u "$golden" "$room/said" | sed 's/^/# /' >"$room/diff"
judge "every verb says what it said before" is "$(cat "$room/diff")" ""
head -n 50 "$room/diff"

# narrow WORD...: says what is wider than 100 columns. In prose of verbs that are listed here, and in tables of all.
narrow() {
    python3 - "$room/said" "$@" <<'PY'
import re
import sys

said, verbs, words = sys.argv[1], sys.argv[2:], []
for line in open(said, encoding="utf-8"):
    line = line.rstrip("\n")
    if line.startswith("$ stint "):
        words = line.split()[2:]
        continue
    is_rule = re.fullmatch(r"--[- ]*", line) is not None
    if "-o" not in words and len(line) > 100 and (is_rule or words[0] in verbs):
        print(words, line)
PY
}
judge "no answer and no table is wider than 100 columns" \
    is "$(narrow status top plan explain approve catalogue)" ""
judge "a table that is wider is wrapped and keeps its words" \
    grep -q "that goes there, a task on a$" "$room/said"

judge "a list is asked for with what it is to be cut by" \
    grep -qxF "GET /v1/instances?limit=20" "$room/asked"
judge "an act is a POST to its own path" grep -qxF "POST /v1/proposals/31/approve" "$room/asked"
judge "the ledger is asked for by what was said" \
    grep -qxF "GET /v1/ledger?by=day&limit=10000" "$room/asked"
judge "nothing but what was asked for is done" \
    is "$(grep -c ^POST "$room/asked")" 8

ask explain "a b&job=1" --socket "$room/sock"
judge "what is asked for cannot smuggle in another argument" \
    grep -qxF "GET /v1/explain?instance=a%20b%26job%3D1" "$room/asked"

STINT_SOCKET=$room/sock ask status
judge "the socket may stand in the environment" is "$code" 0
ask status --socket "$room/nobody.sock"
judge "where nobody listens that is said, with what to do" exits 1 \
    "no stintd listens on $room/nobody.sock: is it running? systemctl status stintd"
ask doctor -c "$room/good.conf"
judge "the doctor looks for the daemon where the configuration says" \
    grep -qF "no stintd listens on $room/nobody.sock" "$room/out"
judge "a daemon that does not run is no error of the configuration" is "$code" 0
ask approve all --socket "$room/nobody.sock"
judge "where nobody listens nothing is said to be approved" is "$code$(cat "$room/out")" 1

ask status --url http://example.com:9178
judge "nothing is sent in the clear to another machine" exits 1 "others could read along"
ask status --token-file /dev/null
judge "a token without an address is no sense" exits 2 "--token-file and --ca-file go with --url"
ask status --url http://127.0.0.1:9 --token-file /dev/null
judge "an empty token is an error" exits 1 "has no token in its first line"
ask status -o csv --socket "$room/sock"
judge "a format that does not fit is wrong usage" exits 2 "no rows for a CSV"
ask ledger --by colour
judge "a ledger by something else is wrong usage" exits 2 "--by is user, job, account, partition, qos, type"
ask approve some
judge "what is no proposal is wrong usage" exits 2 "must be the number of a proposal, or 'all'"
ask explain
judge "to explain nothing is wrong usage" exits 2 "which job or machine?"
ask status --watch=0
judge "a watch that never waits is wrong usage" exits 2 "--watch=SECONDS takes 1 to"
ask drain --watch
judge "what acts is not repeated" exits 2 "--watch works only for verbs that ask"
ask sttaus
judge "a misspelt verb gets a suggestion" exits 2 "did you mean 'status'?"
misspelt=0
for verb in $("$stint" --help | sed -n 's/^  \([a-z][a-z-]*\)   *[a-z].*/\1/p'); do
    case $verb in
    estimate | kubernetes) continue ;; # take options of sbatch; list what there is
    esac
    ask "$verb" --hepl
    [ "$code" = 2 ] && grep -q "did you mean '--help'?" "$room/err" || misspelt=$((misspelt + 1))
done
judge "so does a misspelt option, of each verb" is "$misspelt" 0
ask ledger --sicne 1d
judge "and of the verb's own" exits 2 "did you mean '--since'?"
ask ledger --color=always --socket "$room/sock"
judge "headings are bold where colour is asked for" grep -q "$(printf '\033\\[1m')" "$room/out"
ask ledger --socket "$room/sock"
judge "and not where the answer goes to a file" [ "$(grep -c "$(printf '\033')" "$room/out")" = 0 ]
ask ledger --color=blue
judge "colour is auto, always or never" exits 2 "--color is auto, always or never"
ask status --sort name
judge "what has no rows cannot be sorted" exits 2 "no rows to sort"
"$stint" ledger --watch=1 --socket "$room/sock" >"$room/out" 2>"$room/err" &
watch_pid=$!
for _ in $(seq 300); do
    [ "$(grep -c "^Bill:" "$room/out")" -lt 2 ] || break
    sleep 0.1
done
kill "$watch_pid"
wait "$watch_pid" 2>/dev/null
judge "--watch asks again and again" [ "$(grep -c "^Bill:" "$room/out")" -ge 2 ]
ask explain 99 -o yaml --socket "$room/sock"
judge "the exit code of -o yaml is the verb's" is "$code" 1
ask status surplus
judge "a surplus argument is wrong usage" is "$code" 2

# A daemon that says nonsense.
cat >"$room/nonsense.py" <<'PYTHON'
import socket, sys
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen()
for body in (b"not json", b"[1]", b'{"now": "x", "links": {}, "tasks": [1], "cluster": "\\u001b[31m"}'):
    peer, _ = server.accept()
    peer.recv(65536)
    peer.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    peer.close()
PYTHON
python3 "$room/nonsense.py" "$room/nonsense.sock" &
nonsense_pid=$!
for _ in $(seq 100); do
    [ -S "$room/nonsense.sock" ] && break
    sleep 0.05
done
ask status --socket "$room/nonsense.sock"
judge "what is no JSON is not believed" exits 1 "answers, but not as stintd would"
ask status --socket "$room/nonsense.sock"
judge "what is no object is not believed" exits 1 "answers, but not as stintd would"
ask status --socket "$room/nonsense.sock"
judge "fields of another kind are not known" is "$code" 0
judge "no control character reaches the terminal" is "$(grep -c $'\033' "$room/out")" 0
wait "$nonsense_pid"

# Names that users chose: formulas, and what a terminal obeys.
python3 "$mock" "$room/hostile.sock" hostile >/dev/null 2>"$room/mock-errors" &
hostile_pid=$!
for _ in $(seq 100); do
    [ -S "$room/hostile.sock" ] && break
    sleep 0.05
done
for format in table csv json; do
    for words in status top plan "explain 12_3" "explain 99" ledger "ledger --by job" \
        "doctor -c $room/good.conf" approve; do
        read -r -a words <<<"$words"
        ask "${words[@]}" -o "$format" --socket "$room/hostile.sock"
        cat "$room/out" "$room/err"
    done >"$room/hostile.$format"
done
kill "$hostile_pid"
cat >"$room/odd.py" <<'PYTHON'
import csv, io, sys, unicodedata
text = open(sys.argv[1], encoding="utf-8", newline="").read()
odd = {f"U+{ord(c):04X}" for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp")}
formulas = [cell for row in csv.reader(io.StringIO(text)) for cell in row if cell.startswith("=")]
print(*sorted(odd), *(formulas if sys.argv[1].endswith("csv") else []))
PYTHON
judge "the hostile answers were shown" grep -q "1+1" "$room/hostile.table" "$room/hostile.csv"
judge "no control or direction character reaches a terminal" \
    is "$(python3 "$room/odd.py" "$room/hostile.table")" ""
judge "nor a CSV file, and no field of it is a formula" \
    is "$(python3 "$room/odd.py" "$room/hostile.csv")" ""
judge "nor JSON, but as an escape" is "$(python3 "$room/odd.py" "$room/hostile.json")" ""

# A daemon on a port, which tells who asked it.
cat >"$room/port.py" <<'PYTHON'
import os, socket, sys
server = socket.create_server(("127.0.0.1", 0))
with open(sys.argv[1] + ".new", "w") as out:
    out.write(str(server.getsockname()[1]))
os.rename(sys.argv[1] + ".new", sys.argv[1])
for _ in range(2):
    peer, _ = server.accept()
    print(peer.recv(65536).decode())
    peer.sendall(b'HTTP/1.1 401 Unauthorized\r\nContent-Length: 32\r\n\r\n{"error": "the token is wrong!"} ')
    peer.close()
PYTHON
python3 "$room/port.py" "$room/port" >"$room/heard" &
port_pid=$!
for _ in $(seq 100); do
    [ -f "$room/port" ] && break
    sleep 0.05
done
echo "0123456789abcdef" >"$room/token"
ask status --url "http://127.0.0.1:$(cat "$room/port")/" --token-file "$room/token"
judge "a daemon that says no is quoted" exits 1 "the token is wrong!"
ask status --url "http://127.0.0.1:$(cat "$room/port")/"
wait "$port_pid"
judge "without a token it is said which one" exits 1 "give --token-file (http.token_file in stint.conf names it)"
judge "the token is sent as the specification says" \
    grep -q $'^Authorization: Bearer 0123456789abcdef\r$' "$room/heard"
judge "the path is the same as on the socket" grep -q "^GET /v1/status HTTP/1.1" "$room/heard"

judge "the mock had no trouble" is "$(cat "$room/mock-errors")" ""
echo "1..$number"
exit $failed
