#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# commit_verb.sh STINT            what `stint commit` promises: exit codes, what goes to which
#                                 stream, and the answers of tests/golden/commit-*.json; in TAP
# commit_verb.sh --update STINT   write the answers anew; review them as a diff
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
golden=$(realpath "$(dirname "$0")")/golden
cd "$(dirname "$0")/../examples" || exit 1
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT

number=0
failed=0

# commit ARGUMENT...: leaves code, $room/out and $room/err.
commit() {
    "$stint" commit "$@" >"$room/out" 2>"$room/err" </dev/null
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

says() {
    is "$code" 0 && grep -qF -- "$1" "$room/out"
}

# as_before NAME: what was said is what tests/golden/commit-NAME.json has.
as_before() {
    local file=$golden/commit-$1.json
    [ "$code" -eq 0 ] || return 1
    ! $update || cp "$room/out" "$file"
    diff -u "$file" "$room/out" >"$room/diff" && return
    cat "$room/diff" >>"$room/err"
    return 1
}

# Two kinds of machines, from a date on; one is there at night only. Months have 28 days of rows.
two_columns() {
    local hour
    echo "time,web,batch"
    for ((hour = 0; hour < 1680; hour++)); do
        printf '2025-%02d-%02dT%02d:00Z,%d,%d\n' $((hour / 672 + 1)) $((hour / 24 % 28 + 1)) \
            $((hour % 24)) $((20 + hour % 24 / 3 + hour / 400)) $((hour % 24 < 9 ? 300 : 7))
    done
}

# A year in which nine machines of ten were given up.
falling() {
    local hour
    echo "hour,n"
    for ((hour = 0; hour < 8760; hour++)); do
        echo "$hour,$((1000 - 900 * hour / 8760))"
    done
}

commit usage.csv
judge "a run that worked exits with 0" is "$code" 0
judge "a long history without gaps brings no warning" is "$(cat "$room/err")" ""
judge "the answer says why" says "machines were busy"
judge "the answer has the bound" says "nothing can save more than"
judge "the answer says what is regretted" says "(the regret)"
judge "the answer says that nothing was bought" says "has bought nothing"
judge "no line is wider than 100 characters" is "$(grep -cE '^.{101}' "$room/out")" 0

commit usage.csv -o json
judge "the example has the answer that it had" as_before example
cp "$room/out" "$room/defaults"
commit usage.csv -o json --classes commitments.yaml
judge "the classes that are built in are those of the example" cmp -s "$room/out" "$room/defaults"
commit usage.csv -o json --classes commitments-2012.yaml --fall 0.5
judge "the classes of 2012 have the answer that they had" as_before 2012

commit usage.csv -o json --discount-rate 0
judge "without interest the answer is that of before there was any" as_before no-interest

two_columns >"$room/two.csv"
commit "$room/two.csv" -o json
judge "two columns have the answer that they had" as_before two
judge "missing hours are told" grep -q "hours have no row; they count as 0 machines" "$room/err"
held=(--column web --have '3 years, all upfront=5@100d' --have '1 year savings plan=3')
commit "$room/two.csv" "${held[@]}" --on-demand 0.50 -o json
judge "what is held has the answer that it had" as_before held
commit "$room/two.csv" "${held[@]}"
judge "what is held is shown" grep -q "buy  have" "$room/out"
commit "$room/two.csv" -o csv
judge "a CSV is a header and one line for each column and class" is "$(wc -l <"$room/out")" 19

head -n 200 usage.csv >"$room/short.csv"
commit "$room/short.csv"
judge "a short history brings a warning" exits 0 "should rest on more"
printf 'hour,n\n0,0\n1,0\n' >"$room/zero.csv"
commit "$room/zero.csv" --svg "$room/zero.svg"
judge "without demand nothing is worth a promise" says "Nothing more is worth a promise"
judge "and the picture is there all the same" grep -q "</svg>" "$room/zero.svg"

# Money that is paid upfront.
commit usage.csv
judge "the answer names the rate" says "Discount rate: 8 % a year. \$1,000 due in a year counts as \$926"
judge "the answer names the payback month" says "3 years, all upfront: month 17"
judge "the saving of years is worth less today" says "in today's money"
cp "$room/out" "$room/defaults"
commit usage.csv --discount-rate 8%
judge "8 % is the rate unless another one is given" cmp -s "$room/out" "$room/defaults"
commit usage.csv --discount-rate 0.08
judge "0.08 is 8 %" cmp -s "$room/out" "$room/defaults"
commit usage.csv --discount-rate 7.25%
judge "the rate is named with its digits" says "Discount rate: 7.25 % a year"
commit usage.csv --discount-rate 0%
judge "a rate of 0 is named too" says "Discount rate: 0 %. Money paid upfront counts without interest."
judge "without interest there is a payback month" says "3 years, all upfront: month 16"
judge "and no money of today" is "$(grep -c "today" "$room/out")" 0
printf '%s\n' 'on_demand: 1' 'classes:' '  - {name: monthly, term: 365d, per_hour: 0.60}' \
    '  - {name: at once, term: 365d, upfront: 5170}' >"$room/pair.yaml"
commit usage.csv --classes "$room/pair.yaml" --discount-rate 0
judge "without interest all is paid upfront" says "At that, 'at once' costs"
commit usage.csv --classes "$room/pair.yaml"
judge "with interest nothing is paid upfront" says "At that, 'monthly' costs"
judge "what has no upfront payment pays back at once" says "monthly: month 1, as nothing is paid upfront"
commit "$room/two.csv" --column web
judge "with dates the payback month is one of the calendar" says "month 16 (July 2026)"
commit "$room/two.csv" --column web -o csv
judge "CSV has the payback month and the rate" \
    grep -q '^web,"3 years, all upfront",.*,16,2026-07,month 16 (July 2026),0.080000$' "$room/out"
commit "$room/two.csv" --column web --html "$room/report.html" --md "$room/report.md"
judge "the page names the rate" grep -q "Discount rate: 8 % a year" "$room/report.html"
judge "the page names the payback month" grep -q "month 16 (July 2026)" "$room/report.html"
judge "Markdown names the rate" grep -q "Discount rate: 8 % a year" "$room/report.md"
judge "Markdown names the payback month" grep -q "month 16 (July 2026)" "$room/report.md"
falling >"$room/falling.csv"
commit "$room/falling.csv"
judge "what demand no longer uses never pays back" says "never within the term"
commit "$room/falling.csv" -o json
judge "JSON says never in words, and has no month" \
    grep -q '"payback_month": null, *"payback_calendar_month": null, *"payback": "never' \
    <(tr -d '\n' <"$room/out")
commit usage.csv --discount-rate 101%
judge "a rate above 100 % exits with 2" exits 2 "--discount-rate must be a share from 0 to 100%, such as 8%"
commit usage.csv --discount-rate 8
judge "a rate of 800 % exits with 2" exits 2 "--discount-rate must be a share from 0 to 100%, such as 8%"
commit usage.csv --discount-rate=-1%
judge "a rate below 0 exits with 2" exits 2 "--discount-rate must be a share"

commit usage.csv --svg "$room/plan.svg"
judge "a picture is a whole SVG" is "$(tail -n 1 "$room/plan.svg")" "</svg>"
judge "the picture has a legend" grep -q ">3 years, all upfront</text>" "$room/plan.svg"
commit usage.csv --svg "$room/no/such/folder.svg"
judge "a picture that cannot be written exits with 1" exits 1 "cannot be written"

commit
judge "no history exits with 2" exits 2 "which history?"
commit usage.csv usage.csv
judge "two histories exit with 2" exits 2 "one history at a time"
commit usage.csv --fall 120%
judge "a fall by more than all exits with 2" exits 2 "--fall must be a share from 0 to 100%"
commit usage.csv --on-demand 0
judge "a price of nothing exits with 2" exits 2 "--on-demand must be dollars"
commit usage.csv --column other
judge "a column that is not there exits with 2" exits 2 "has no column 'other'; it has: '"
commit usage.csv --have 'no such=3'
judge "a class that is not there exits with 2" exits 2 "there is no class 'no such'; there are: '"
commit usage.csv --have 'three'
judge "what is held without a number exits with 2" exits 2 "--have must be a class"
commit "$room/two.csv" --have '1 year savings plan=3'
judge "what is held of one of two columns exits with 2" exits 2 "several columns"
commit usage.csv --have '1 year savings plan=3@400d'
judge "more time left than the term exits with 2" exits 2 "cannot be left"
commit no-such.csv
judge "a missing history exits with 1" exits 1 "no-such.csv"
commit usage.csv --classes small.yaml
judge "a file that is no classes exits with 1" exits 1 "small.yaml: line"
commit commitments.yaml
judge "a file that is no history exits with 1" exits 1 "commitments.yaml"
printf 'hour,n\n0,1000000000\n1,1000000000\n' >"$room/huge.csv"
commit "$room/huge.csv" --on-demand 1000000000
judge "more money than can be counted exits with 1" exits 1 "more money than can be counted"

echo "1..$number"
exit $failed
