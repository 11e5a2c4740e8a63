#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_completion.sh STINT STINT.BASH _STINT: what bash and zsh offer, in TAP. zsh is asked only where
# there is one.
set -u
stint=$1
# shellcheck source=/dev/null
source "$2"
zsh_file=$3

# offers WORD...: what bash offers for the last word.
offers() {
    COMP_WORDS=("$stint" "$@")
    COMP_CWORD=$#
    local before=$stint
    [ $# -lt 2 ] || before=${*: -2:1}
    _stint "$stint" "${*: -1}" "$before" 2>/dev/null
    printf '%s\n' "${COMPREPLY[@]}"
}

number=0
has() { # has SENTENCE WANTED OFFERED
    number=$((number + 1))
    if grep -q -x -F -e "$2" <<<"$3"; then
        echo "ok $number - $1"
    else
        printf 'not ok %d - %s\n# "%s" is not among: %s\n' "$number" "$1" "$2" "${3//$'\n'/ }"
    fi
}
lacks() {
    number=$((number + 1))
    if grep -q -x -F -e "$2" <<<"$3"; then
        printf 'not ok %d - %s\n# "%s" is among: %s\n' "$number" "$1" "$2" "${3//$'\n'/ }"
    else
        echo "ok $number - $1"
    fi
}

for verb in $("$stint" --help | sed -n '/^Verbs/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
    has "bash offers the verb $verb" "$verb" "$(offers "")"
    has "bash offers the options of $verb" --help "$(offers "$verb" -)"
done
has "bash offers the verbs of the daemon too" drain "$(offers dr)"
has "bash offers the words of a verb" refresh "$(offers catalogue "")"
has "bash offers what can be done with the state" restore "$(offers state "")"
has "bash knows that an option wants a value" --policy= "$(offers sim --p)"
lacks "bash offers no option of another verb" --sacct= "$(offers sim --)"
lacks "bash offers no verb that begins otherwise" commit "$(offers s)"
has "bash offers the forms of output" json "$(offers sim --output = j)"
has "bash offers the forms of output after =" csv "$(offers sim --output =)"
has "bash offers the systems of repro" sec "$(offers repro "")"
has "bash offers to approve all" all "$(offers approve a)"
has "bash offers what a ledger is by" type "$(offers ledger --by t)"
has "bash offers where estimates come from" exact "$(offers replay --estimates = "")"
lacks "bash offers no values of another verb" user "$(offers sim --by "")"
has "bash offers files" "$(dirname "$0")/stint.bash" "$(offers sim "$(dirname "$0")/st")"

if command -v zsh >/dev/null; then
    said=$(PATH=$(dirname "$(realpath "$stint")"):$PATH zsh -f -c '
        compdef() { :; }
        _describe() { print -l -- ${(P)4%%:*} }
        _files() { print files }
        compadd() { [[ $1 != -- ]] || shift; print -l -- $@ }
        complete_words() { words=("$@"); CURRENT=$#; source '"$zsh_file"' }
        complete_words stint ""
        complete_words stint sim -
        complete_words stint catalogue ""
        complete_words stint sim --output ""
        complete_words stint repro ""
        complete_words stint approve ""
        complete_words stint ledger --by ""
        complete_words stint replay --estimates ""
        complete_words stint sim ""' 2>&1)
    has "zsh offers a verb" commit "$said"
    has "zsh offers an option" --policy "$said"
    has "zsh offers the words of a verb" diff "$said"
    has "zsh offers the forms of output" csv "$said"
    has "zsh offers the systems of repro" sec "$said"
    has "zsh offers to approve all" all "$said"
    has "zsh offers what a ledger is by" day "$said"
    has "zsh offers where estimates come from" learned "$said"
    has "zsh offers files" files "$said"
fi
echo "1..$number"
