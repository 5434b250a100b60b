# SPDX-License-Identifier: BSD-3-Clause
# rollcall.bash - what bash completes after `rollcall`; loaded by bash-completion, or by hand: `. rollcall.bash`.
# `rollcall complete` (cli/complete.c) knows the candidates.

# shellcheck shell=bash

_rollcall()
{
    local line=${COMP_LINE:0:COMP_POINT} program=$1 current candidate option=
    local -a words

    # it is as it was typed: ~/bin/rollcall
    [[ $program != \~/* ]] || program=$HOME/${program:2}
    read -ra words <<< "$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    current=${words[-1]}
    COMPREPLY=()
    while IFS=$'\t' read -r candidate _; do
        case $candidate in
            :files)
                compopt -o filenames 2> /dev/null
                [[ $current != --*=* ]] || option=${current%%=*}=
                mapfile -t COMPREPLY < <(compgen -P "$option" -f -- "${current#"$option"}")
                ;;
            ":command $((${#words[@]} - 1))")
                mapfile -t COMPREPLY < <(compgen -c -- "$current")
                ;;
            :command*)
                compopt -o filenames 2> /dev/null
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
                ;;
            *) COMPREPLY+=("$candidate") ;;
        esac
    done < <("$program" complete "${words[@]:1}" 2> /dev/null)
    [[ ${#COMPREPLY[@]} != 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace 2> /dev/null
    # for readline the word begins after the last =
    if [[ $COMP_WORDBREAKS == *=* && $current == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%=*}="}")
    fi
}

complete -F _rollcall rollcall
