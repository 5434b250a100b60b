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

# bash_completes LINE: one candidate a line
bash_completes()
{
    bash --norc -c '
        . "$1"
        complete -p rollcall > /dev/null || exit 3
        COMP_LINE=$2 COMP_POINT=${#2}
        _rollcall "$3"
        [ ${#COMPREPLY[@]} = 0 ] || printf "%s\n" "${COMPREPLY[@]}"' \
        - "$completions/bash-completion/completions/rollcall.bash" "$1" "$rollcall"
}

fish_completes()
{
    HOME=$BATS_TEST_TMPDIR fish -N -c 'source $argv[1]; complete -C $argv[2]' \
        "$completions/fish/vendor_completions.d/rollcall.fish" "$1" | cut -f1
}

# zsh_has FUNCTION: the arguments that it gives to _arguments or _values
zsh_has()
{
    # shellcheck disable=SC2016 # zsh's
    zsh -f -c 'source $1; _arguments() print -rl -- "$@"; _values() _arguments "$@"; $2' \
        - "$completions/zsh/site-functions/_rollcall" "$1"
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
        [ "$(zsh_has "_rollcall_$name" | sed 's/\[.*//' | in_line)" = "$help" ]
        [ "$(fish_completes "rollcall $name --" | in_line)" = "$help" ]
    done
    [ "$(in_help -)" = '--help --version' ]
    [ "$(bash_completes 'rollcall --' | in_line)" = '--help --version' ]
    [ "$(zsh_has _rollcall 2> /dev/null | sed 's/\[.*//' | in_line)" = '--help --version' ]
    [ "$(fish_completes 'rollcall --' | in_line)" = '--help --version' ]
}

@test "each subcommand is in --help, manual, bash, zsh and fish" {
    names=$(subcommands | LC_ALL=C sort)
    [ "$(wc -l <<< "$names")" -ge 5 ]
    [ "$(sed -n 's/^\.SS //p' "$prefix/share/man/man1/rollcall.1" | LC_ALL=C sort)" = "$names" ]
    [ "$(bash_completes 'rollcall ' | grep -v -- -- | LC_ALL=C sort)" = "$names" ]
    [ "$(fish_completes 'rollcall ' | LC_ALL=C sort)" = "$names" ]
    [ "$(sed -nE "s/^        '([a-z]+):.*/\1/p" "$completions/zsh/site-functions/_rollcall" | LC_ALL=C sort)" = "$names" ]
}

@test "--ddp=: the modes, keys and words of option.def" {
    modes=$(option_modes | cut -f1 | LC_ALL=C sort)
    keys=$(option_keys | cut -f1 | LC_ALL=C sort)
    [ "$(wc -l <<< "$keys")" -gt 8 ]
    [ "$(bash_completes 'rollcall exec --ddp=' | grep -vE '=|^watch$' | LC_ALL=C sort)" = "$modes" ]
    [ "$(fish_completes 'rollcall exec --ddp=' | sed 's/^--ddp=//' | grep -vE '=|^watch$' | LC_ALL=C sort)" = "$modes" ]
    [ "$(bash_completes 'rollcall exec --ddp=worker,' | sed 's/.*,//; s/=.*//' | LC_ALL=C sort -u)" = "$keys" ]
    [ "$(fish_completes 'rollcall exec --ddp=worker,' | sed 's/^--ddp=worker,//; s/=.*//' | LC_ALL=C sort -u)" = "$keys" ]
    [ "$(zsh_has _rollcall_ddp | sed -nE 's/^([a-z]+)\[.*/\1/p' | LC_ALL=C sort -u)" = "$keys" ]
    for key in $keys; do
        words=$(option_keys | awk -F'\t' -v key="$key" '$1 == key { print $3 }' | tr '|' '\n' | grep -x '[a-z]*' | paste -sd' ')
        [ -n "$words" ] || continue
        echo "$key: $words"
        [ "$(bash_completes "rollcall exec --ddp=$key=" | paste -sd' ')" = "$words" ]
        [ "$(zsh_has _rollcall_ddp | sed -n "s/^$key\[.*(\([^()]*\)).*/\1/p")" = "$words" ]
        sorted=$(tr ' ' '\n' <<< "$words" | LC_ALL=C sort)
        [ "$(fish_completes "rollcall exec --ddp=$key=" | sed 's/.*=//' | LC_ALL=C sort)" = "$sorted" ]
    done
}

@test "--ddp=: zsh describes modes and keys as --help does" {
    { option_modes | cut -f1,2; option_keys | cut -f1,4; } > "$BATS_TEST_TMPDIR/said"
    while IFS=$'\t' read -r word help; do
        zsh_has _rollcall_ddp | grep -qE "^(\(.*\))?$word\[" || { echo "no $word"; return 1; }
        zsh_has _rollcall_ddp | grep -qF -e "${word}[$help]" || { echo "$word: $help"; return 1; }
    done < "$BATS_TEST_TMPDIR/said"
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
    touch 'task.env' 'train.py'
    expect 'rollcall s' show
    expect 'rollcall show --f' --from
    expect 'rollcall show --from t' task.env train.py
    expect 'rollcall show --from=ta' task.env
    [ "$(bash_completes 'rollcall show -- ' | wc -l)" -gt 100 ]
    expect 'rollcall exec --ddp=wo' worker
    expect 'rollcall exec --ddp=worker,or' worker,order=
    expect 'rollcall exec --ddp=worker,order=n' node
    expect 'rollcall exec --verbose python -u tr' train.py
    expect 'rollcall exec -- python ta' task.env
    expect 'rollcall explain RC80' "$("$rollcall" explain --list | grep -o '^RC80[0-9]' | paste -sd' ')"
    expect 'rollcall map --tasks '
    expect 'rollcall doctor tr' train.py
    expect 'rollcall doctor --script t' task.env train.py
    [[ " $(bash_completes 'rollcall check --pid ' | paste -sd' ') " == *" $$ "* ]]
    # where the = parts no words
    # shellcheck disable=SC2016 # bash's
    [ "$(bash --norc -c '. "$1"; COMP_WORDBREAKS=" " COMP_LINE="rollcall exec --ddp=wo" COMP_POINT=22; _rollcall rollcall
        echo "$COMPREPLY"' - "$completions/bash-completion/completions/rollcall.bash")" = --ddp=worker ]
}

@test "zsh and fish read their files" {
    zsh -n "$completions/zsh/site-functions/_rollcall"
    [ "$(head -n 1 "$completions/zsh/site-functions/_rollcall")" = '#compdef rollcall' ]
    fish -n "$completions/fish/vendor_completions.d/rollcall.fish"
    [ "$(fish_completes 'rollcall exec --ddp=worker,order=n')" = --ddp=worker,order=node ]
    PATH=$prefix/bin:$PATH
    [ "$(fish_completes 'rollcall explain RC60' | wc -l)" = 9 ]
}
