# SPDX-License-Identifier: Apache-2.0
# Completion for stint(1) in bash. Verbs and options are read from the program's own help, so that
# they are those of the program that is installed.

_stint_verbs() {
    "$1" --help 2>/dev/null | sed -n '/^Verbs/,/^$/s/^  \([a-z][a-z-]*\) .*/\1/p'
}

# Options as argp prints them; those that want a value end with "=".
_stint_options() {
    "$1" "$2" --help 2>/dev/null |
        sed -n -E 's/^ {2,6}(-., )?(--[a-z][a-z0-9-]*)(=?).*/\2\3/p'
}

# The words of a verb that has some, such as "refresh"; the head of its help names them.
_stint_words() {
    case $2 in
    repro) echo eva sec ;;
    approve | reject) echo all ;;
    *) "$1" "$2" --help 2>/dev/null | sed -n -E '/^ *(Usage|or): /s/.*\[OPTION\.\.\.\] ([a-z]+)( .*|$)/\1/p' ;;
    esac
}

# The values of an option that has only some.
_stint_values() {
    case $1:$2 in
    *:-o | *:--output) echo table wide json yaml csv ;;
    ledger:-b | ledger:--by) echo user job account partition qos type market day month ;;
    replay:--estimates) echo learned user exact ;;
    replay:--demand) echo requested allocated ;;
    esac
}

_stint() {
    local program=$1 word=$2 before=$3 verb=${COMP_WORDS[1]-}
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_stint_verbs "$program") --help --version" -- "$word")
        return
    fi
    # bash takes "=" for a word of its own.
    [ "$word" != "=" ] || word=""
    [ "$before" != "=" ] || before=${COMP_WORDS[COMP_CWORD - 2]}
    local values
    values=$(_stint_values "$verb" "$before")
    if [ -n "$values" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
        return
    fi
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_stint_options "$program" "$verb")" -- "$word")
        [[ ${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
        return
    fi
    if [ "$COMP_CWORD" -eq 2 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$(_stint_words "$program" "$verb")" -- "$word")
        [ "${#COMPREPLY[@]}" -eq 0 ] || return
    fi
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
    compopt -o filenames 2>/dev/null
}

complete -F _stint stint
