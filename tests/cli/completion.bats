#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# --help, the manual page and what bash, zsh and fish complete: the same options, and what is completed.

load helper
load ../options

completions=$prefix/share

# Of each subcommand, or of the command itself ("-"): the long options, sorted, in one line.
in_line()
{
    grep -oE -- '--[a-z]+' | LC_ALL=C sort -u | paste -sd' '
}

in_help()
{
    if [ "$1" = - ]; then
        "$rollcall" --help | grep -oE 'rollcall (SUBCOMMAND )?--[a-z]+' | in_line
    else
        # what stands before the first two blanks of an option's own line
        "$rollcall" "$1" --help | sed -nE '/^ +(-[a-zA-Z], )?--[a-z]/{s/([^ ])  .*/\1/; p}' | in_line
    fi
}

in_manual()
{
    sed -n "/^\.SS $1\$/,/^\.S[SH]/p" "$prefix/share/man/man1/rollcall.1" | grep -A1 -x '\.TP' | sed 's/\\-/-/g' | in_line
}

# bash_completes LINE: one candidate a line; none: bash completes file names
bash_completes()
{
    bash --norc -c '
        . "$1"
        [ "$(complete -p rollcall)" = "complete -o default -F _rollcall rollcall" ] || exit 3
        COMP_LINE=$2 COMP_POINT=${#2}
        _rollcall "$3"
        [ ${#COMPREPLY[@]} = 0 ] || printf "%s\n" "${COMPREPLY[@]}"' \
        - "$completions/bash-completion/completions/rollcall.bash" "$1" "$rollcall"
}

fish_describes()
{
    HOME=$BATS_TEST_TMPDIR PATH=$prefix/bin:$PATH fish -N -c 'source $argv[1]; complete -C $argv[2]' \
        "$completions/fish/vendor_completions.d/rollcall.fish" "$1"
}

fish_completes()
{
    fish_describes "$1" | cut -f1
}

# zsh_completes LINE: "CANDIDATE:MEANING" a line. Its functions for a terminal are replaced by what prints their arguments.
zsh_completes()
{
    zsh -f -c '
        fpath=(${1:h}) words=(${(s: :)2}) after=
        autoload -U _rollcall
        _call_program() { shift; eval "$@" }
        _describe() { print -rl -- ${(P)2} }
        _files() { print -r -- "files after $after" }
        _normal() { print -r -- "line $words, word $CURRENT" }
        compset() { [[ $words[CURRENT] != ${~2}* ]] || after=${words[CURRENT]%%=*}= }
        [[ $2 != *" " ]] || words+=("")
        words[1]=$3 CURRENT=$#words
        _rollcall' - "$completions/zsh/site-functions/_rollcall" "$1" "$rollcall" | grep .
}

subcommands()
{
    "$rollcall" --help | sed -nE 's/^  ([a-z]+)  .*/\1/p'
}

@test "each subcommand has the same options in --help, manual, bash, zsh and fish" {
    for name in $(subcommands); do
        help=$(in_help "$name")
        echo "$name: $help"
        [[ " $help " == *" --help "* ]]
        [ "$(in_manual "$name")" = "$help" ]
        [ "$(bash_completes "rollcall $name --" | in_line)" = "$help" ]
        [ "$(zsh_completes "rollcall $name --" | in_line)" = "$help" ]
        [ "$(fish_completes "rollcall $name --" | in_line)" = "$help" ]
    done
    [ "$(in_help -)" = '--help --version' ]
    [ "$(bash_completes 'rollcall --' | in_line)" = '--help --version' ]
    [ "$(zsh_completes 'rollcall --' | in_line)" = '--help --version' ]
    [ "$(fish_completes 'rollcall --' | in_line)" = '--help --version' ]
}

@test "each subcommand is in --help, manual, bash, zsh and fish" {
    names=$(subcommands | LC_ALL=C sort)
    [ "$(wc -l <<< "$names")" -ge 5 ]
    [ "$(sed -n 's/^\.SS //p' "$prefix/share/man/man1/rollcall.1" | LC_ALL=C sort)" = "$names" ]
    [ "$(bash_completes 'rollcall ' | grep -v -- -- | LC_ALL=C sort)" = "$names" ]
    [ "$(fish_completes 'rollcall ' | grep -v '^-' | LC_ALL=C sort)" = "$names" ]
    [ "$(zsh_completes 'rollcall ' | grep -v '^-' | cut -d: -f1 | LC_ALL=C sort)" = "$names" ]
}

@test "--ddp=: the modes, keys and words of options.def" {
    modes=$(option_modes | cut -f1 | LC_ALL=C sort)
    keys=$(option_keys | cut -f1 | LC_ALL=C sort)
    [ "$(wc -l <<< "$keys")" -gt 8 ]
    [ "$(bash_completes 'rollcall exec --ddp=' | grep -vE '=|^watch$' | LC_ALL=C sort)" = "$modes" ]
    [ "$(fish_completes 'rollcall exec --ddp=' | sed 's/^--ddp=//' | grep -vE '=|^watch$' | LC_ALL=C sort)" = "$modes" ]
    [ "$(bash_completes 'rollcall exec --ddp=worker,' | sed 's/.*,//; s/=.*//' | LC_ALL=C sort -u)" = "$keys" ]
    [ "$(fish_completes 'rollcall exec --ddp=worker,' | sed 's/^--ddp=worker,//; s/=.*//' | LC_ALL=C sort -u)" = "$keys" ]
    [ "$(zsh_completes 'rollcall exec --ddp=worker,' | sed 's/^--ddp=worker,//; s/[=:].*//' | LC_ALL=C sort -u)" = "$keys" ]
    for key in $keys; do
        words=$(option_keys | awk -F'\t' -v key="$key" '$1 == key { print $3 }' | tr '|' '\n' | grep -x '[a-z]*' | paste -sd' ')
        [ -n "$words" ] || continue
        echo "$key: $words"
        [ "$(bash_completes "rollcall exec --ddp=$key=" | paste -sd' ')" = "$words" ]
        [ "$(zsh_completes "rollcall exec --ddp=$key=" | sed 's/^--ddp=[a-z]*=//; s/:.*//' | paste -sd' ')" = "$words" ]
        sorted=$(tr ' ' '\n' <<< "$words" | LC_ALL=C sort)
        [ "$(fish_completes "rollcall exec --ddp=$key=" | sed 's/.*=//' | LC_ALL=C sort)" = "$sorted" ]
    done
}

@test "modes, keys, subcommands and options are described as --help does" {
    cd "$BATS_TEST_TMPDIR"
    { option_modes | cut -f1,2; option_keys | awk -F'\t' '{ print $1 "=\t" $4 }'; } | sed 's/^/--ddp=/' > said
    diff -u <(LC_ALL=C sort said) <("$rollcall" complete exec --ddp= | grep -v $'^--ddp=watch\t' | LC_ALL=C sort)
    sed 's/\t/:/' said | while read -r line; do
        zsh_completes 'rollcall exec --ddp=' | grep -qxF -e "$line"
    done
    diff -u <("$rollcall" --help | sed -nE '/^  rollcall /q; s/^  ([a-z]+) +(.*)/\1\t\2/p') <("$rollcall" complete '' | grep -v '^-')
    # without a detail
    fish_describes 'rollcall map --g' | grep -qx -e "--gpus"$'\t'"the GPUs of local rank 0, 1, ..."
    fish_describes 'rollcall show --f' | grep -qx -e "--from"$'\t'"a recorded environment"
}

# expect LINE CANDIDATE...
expect()
{
    local line=$1
    shift
    found=$(bash_completes "$line" | paste -sd' ')
    [ "$found" = "$*" ] || { echo "'$line': $found"; return 1; }
}

@test "bash completes" {
    cd "$BATS_TEST_TMPDIR"
    expect 'rollcall s' show
    expect 'rollcall show --f' --from
    expect 'rollcall show --from t'
    [ "$(bash_completes 'rollcall show -- ' | wc -l)" -gt 100 ]
    expect 'rollcall exec --ddp=wo' worker
    expect 'rollcall exec --ddp=worker,or' worker,order=
    expect 'rollcall exec --ddp=worker,order=n' node
    expect 'rollcall exec --verbose pyth' "$(compgen -c pyth | paste -sd' ')"
    expect 'rollcall exec --verbose python -u tr'
    expect 'rollcall explain RC30' "$("$rollcall" explain --list | grep -o '^RC30[0-9]' | paste -sd' ')"
    expect 'rollcall map --tasks '
    expect 'rollcall doctor tr'
    # where the = parts no words
    [ "$(bash --norc -c '. "$1"; COMP_WORDBREAKS=" " COMP_LINE="rollcall exec --ddp=wo" COMP_POINT=22; _rollcall "$2"
        echo "$COMPREPLY"' - "$completions/bash-completion/completions/rollcall.bash" "$rollcall")" = --ddp=worker ]
}

@test "zsh and fish read their files" {
    zsh -n "$completions/zsh/site-functions/_rollcall"
    [ "$(head -n 1 "$completions/zsh/site-functions/_rollcall")" = '#compdef rollcall' ]
    fish -n "$completions/fish/vendor_completions.d/rollcall.fish"
    [ "$(fish_completes 'rollcall exec --ddp=worker,order=n')" = --ddp=worker,order=node ]
    [ "$(fish_completes 'rollcall explain RC60' | wc -l)" = 9 ]
    cd "$BATS_TEST_TMPDIR"
    touch task.env
    [ "$(fish_completes 'rollcall show --from ta')" = task.env ]
    [ "$(fish_completes 'rollcall show --from=ta')" = --from=task.env ]
    [ "$(fish_completes 'rollcall exec -- cat ta')" = task.env ]
    [ "$(zsh_completes 'rollcall show --from ta')" = 'files after ' ]
    [ "$(zsh_completes 'rollcall show --from=ta')" = 'files after --from=' ]
    [ "$(zsh_completes 'rollcall exec --verbose python -u tr')" = 'line python -u tr, word 3' ]
    [ "$(zsh_completes 'rollcall show -- pyth')" = 'line pyth, word 1' ]
}

@test "the command is found below the home folder as it was typed" {
    export HOME=$BATS_TEST_TMPDIR
    ln -s "$rollcall" "$HOME/rollcall"
    [ "$(fish_completes '~/rollcall doc')" = doctor ]
    rollcall='~/rollcall'
    [ "$(bash_completes 'rollcall doc')" = doctor ]
    zsh_completes 'rollcall doc' | grep -q '^doctor:'
}
