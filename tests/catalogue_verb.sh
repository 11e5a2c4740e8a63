#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# catalogue_verb.sh STINT   what `stint catalogue` shows of a file and of the change from one to another;
#                           in TAP
set -u
if [ $# -ne 1 ]; then
    sed -n '4,5s/^# //p' "$0"
    exit 2
fi
stint=$(realpath "$1")
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
cd "$room" || exit 1

number=0
failed=0
code=0

# catalogue ARGUMENT...: leaves code, out and err.
catalogue() {
    "$stint" catalogue "$@" >out 2>err </dev/null
    code=$?
}

# judge SENTENCE CONDITION...
judge() {
    local sentence=$1
    shift
    number=$((number + 1))
    if "$@" >why 2>&1; then
        echo "ok $number - $sentence"
        return
    fi
    failed=1
    echo "not ok $number - $sentence"
    echo "# exit code $code"
    head -n 20 why out err | sed 's/^/# /'
}

# says TEXT: it is done, and the text is all of standard output.
says() {
    [ "$code" -eq 0 ] && diff -u - out <<<"$1"
}

# has TEXT: it is done, and the text is among standard output.
has() {
    [ "$code" -eq 0 ] && grep -qF -- "$1" out
}

# fails_with CODE TEXT: and says so on standard error only.
fails_with() {
    [ "$code" -eq "$1" ] && grep -qF -- "$2" err && [ ! -s out ]
}

cat >old.yaml <<'YAML'
date: 2024-05-01
types:
  - name: c1.large
    cpu: 2
    mem_gib: 4
    offers:
      - { zone: a, price: 0.1 }
      - { zone: a, market: spot, price: 0.03, interruption: [5, 10] }
      - { zone: b, market: spot, price: 0.04, interruption: [5, 10] }
      - { zone: c, market: spot, price: 0.05 }
YAML
sed -e 's/0.04, interruption: \[5, 10\]/0.05, interruption: [20, 100]/' \
    -e 's/0.03, interruption: \[5, 10\]/0.03, interruption: [10, 15]/' old.yaml >new.yaml

catalogue show old.yaml
judge "a table says how often spot machines are interrupted, and '-' where nobody knows" says \
    "date: 2024-05-01
type      CPUs  GiB  accel.  market     zone  \$ per hour  interrupted % a month
--------  ----  ---  ------  ---------  ----  ----------  ---------------------
c1.large     2  4.0       0  on-demand  a         0.1000                      -
c1.large     2  4.0       0  spot       a         0.0300                   5-10
c1.large     2  4.0       0  spot       b         0.0400                   5-10
c1.large     2  4.0       0  spot       c         0.0500                      -"
catalogue show old.yaml -o csv
judge "a CSV has the percentages" has "c1.large,2,4.0,0,spot,a,0.030000,5-10"
judge "in a CSV what is not known is empty" has "c1.large,2,4.0,0,spot,c,0.050000,"
catalogue show old.yaml -o json
judge "in JSON what is not known is null" has '"interruption": null'
judge "JSON has the percentages" has '"interruption": "5-10"'

catalogue diff old.yaml new.yaml
judge "a diff tells changes of prices and of interruptions" says \
    "change        type      market  zone   old \$   new \$  old %   new %
------------  --------  ------  ----  ------  ------  -----  ------
interruption  c1.large  spot    a     0.0300  0.0300   5-10   10-15
dearer        c1.large  spot    b     0.0400  0.0500   5-10  20-100"
catalogue diff old.yaml old.yaml -o csv
judge "a catalogue does not differ from itself" says \
    "change,type,market,zone,old_price,new_price,old_interruption,new_interruption"

sed 's/price: 0.1 /price: 0.1, interruption: [5, 10] /' old.yaml >on-demand.yaml
catalogue show on-demand.yaml
judge "what is rented on demand is not interrupted" fails_with 1 "goes with 'market: spot'"

echo "1..$number"
exit "$failed"
