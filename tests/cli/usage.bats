#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What is typed wrongly, and what is asked of the command itself.

load helper

@test "--help lists exactly the subcommands that there are" {
    run -0 "$rollcall" --help
    [ "$(grep -oE '^  [a-z]+ +[a-z]' <<< "$output" | awk '{ print $1 }' | xargs)" = "exec show explain check map doctor" ]
    for subcommand in exec show explain check map doctor; do
        run -0 "$rollcall" "$subcommand" --help
        [[ $output == "usage: rollcall $subcommand "* ]]
        run -0 "$rollcall" "$subcommand" -h
    done
}

@test "no help line is wider than a terminal" {
    for words in --help 'exec --help' 'show --help' 'explain --help' 'check --help' 'map --help' \
        'doctor --help'; do
        # shellcheck disable=SC2086 # two words
        run -0 "$rollcall" $words
        [ "$(wc -L <<< "$output")" -le 80 ]
    done
}

@test "--version names the version, Slurm's series and what was found at build" {
    run -0 "$rollcall" --version
    [ "${lines[0]}" = "rollcall $(cat "$top/VERSION")" ]
    [[ ${lines[1]} =~ ^'plugin: '('for Slurm '[0-9]+\.[0-9]{2}|'not built: ').*$ ]]
    [[ ${lines[2]} =~ ^'found at build: PMIx '([0-9][^ ]*|no|unknown)', hwloc '([0-9][^ ]*|no|unknown)$ ]]
}

@test "without a subcommand: the help, on standard error" {
    run -2 --separate-stderr "$rollcall"
    [ -z "$output" ]
    # shellcheck disable=SC2154 # set by run
    [[ $stderr == "usage: rollcall "* ]]
}

@test "an unknown subcommand: one line, and the nearest right one" {
    fails_with 2 "unknown subcommand 'shwo'; did you mean show?" "$rollcall" shwo
    fails_with 2 'did you mean exec?' "$rollcall" exce -- true
    fails_with 2 'did you mean explain?' "$rollcall" explian
    fails_with 2 'see rollcall --help' "$rollcall" zzzzzzzz
    fails_with 2 'see rollcall --help' "$rollcall" ''
    fails_with 2 'did you mean --version?' "$rollcall" --versoin
}

@test "an unknown option: one line, and the nearest right one" {
    fails_with 2 "show: unknown option '--jsno'; did you mean --json?" "$rollcall" show --jsno
    fails_with 2 'did you mean --from?' "$rollcall" explain --form=x
    fails_with 2 'did you mean --verbose?' "$rollcall" exec --verbsoe -- true
    fails_with 2 'see rollcall show --help' "$rollcall" show --zzzzzzzzzz
    fails_with 2 "show: unknown option '-x'" "$rollcall" show -x
    fails_with 2 "show: unknown option '-v'" "$rollcall" show -v
    fails_with 2 "exec: unknown option '-n'" "$rollcall" exec -n 4 true
}

@test "options that lack a value, or have one too many" {
    fails_with 2 '--from needs a value' "$rollcall" show --from
    fails_with 2 '--pid needs a value' "$rollcall" show --pid
    fails_with 2 '--json takes no value' "$rollcall" show --json=yes
    fails_with 2 '--verbose takes no value' "$rollcall" exec --verbose=3 -- true
    fails_with 2 '--from and --pid do not go together' "$rollcall" show --from x --pid 1
}

@test "a file without --from is not taken for a command" {
    fails_with 2 "what is 'task.env'?" "$rollcall" show task.env
}

@test "a wrong --ddp is wrong usage, with the right words" {
    fails_with 2 'auto, worker, launcher or off' "$rollcall" show --ddp=workers
    fails_with 2 'RC201' "$rollcall" exec --ddp=workers -- true
    fails_with 2 'RC202' "$rollcall" exec --ddp=launcher,nproc=0 -- true
    fails_with 2 'RC203' "$rollcall" exec --ddp=nproc=2,nproc=3 -- true
    fails_with 2 'RC204' "$rollcall" exec --ddp=worker,nproc=3 -- true
}

@test "what was typed is printed without its terminal escapes" {
    for words in $'\e]0;x\a' $'--\e[31m' ; do
        run -2 "$rollcall" "$words"
        [[ $output == *'\x1b'* && $output != *$'\e'* ]]
    done
    run -2 "$rollcall" exec --ddp=$'\e[2J' -- true
    [[ $output == *'\x1b'* && $output != *$'\e'* ]]
    run -2 "$rollcall" show $'\n\e[2J'
    [[ $output == *'\x0a\x1b'* && $output != *$'\e'* ]]
}

@test "output that cannot be written is an error" {
    for words in --help --version 'show --json' explain; do
        # shellcheck disable=SC2086 # two words
        run -2 bash -c '"$@" > /dev/full' - "$rollcall" $words
        [[ $output == *'cannot write to standard output: No space left'* ]]
    done
}
