# SPDX-License-Identifier: BSD-3-Clause
# rollcall.bash - what bash completes after `rollcall`; loaded by bash-completion, or by hand: `. rollcall.bash`.
# `rollcall complete` (cli/complete.c) knows the candidates.

# shellcheck shell=bash

_rollcall()
{
    local line=${COMP_LINE:0:COMP_POINT} current
    local -a words

    read -ra words <<< "$line"
    [[ $line != *[[:space:]] ]] || words+=("")
    current=${words[-1]}
    # ~/bin/rollcall is as it was typed
    mapfile -t COMPREPLY < <("${1/#\~\//$HOME/}" complete "${words[@]:1}" 2> /dev/null | cut -f1)
    case ${COMPREPLY[0]} in
        ":command $((${#words[@]} - 1))") mapfile -t COMPREPLY < <(compgen -c -- "$current") ;;
        :command*) COMPREPLY=() ;;
        *=) compopt -o nospace 2> /dev/null ;;
    esac
    # for readline the word begins after the last =
    if [[ $COMP_WORDBREAKS == *=* && $current == *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${current%=*}="}")
    fi
}

complete -o default -F _rollcall rollcall
