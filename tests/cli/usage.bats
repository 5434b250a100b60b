#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# What is typed wrongly, and what is asked of the command itself.

load helper

# on_terminal COLUMNS CMD...: with a terminal of that width as all three streams
on_terminal()
{
    python3 -c 'import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
    os.environ["TERM"] = "xterm"
    os.execvp(sys.argv[2], sys.argv[2:])
try:
    while data := os.read(fd, 4096):
        os.write(1, data)
except OSError:
    pass
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))' "$@"
}

@test "--help lists exactly the subcommands that there are" {
    run -0 "$rollcall" --help
    [ "$(grep -oE '^  [a-z]+ +[a-z]' <<< "$output" | awk '{ print $1 }' | xargs)" = "exec show explain check map doctor rehearse" ]
    for subcommand in exec show explain check map doctor rehearse; do
        run -0 "$rollcall" "$subcommand" --help
        [[ $output == "usage: rollcall $subcommand "* ]]
        run -0 "$rollcall" "$subcommand" -h
    done
}

@test "no help line is wider than a terminal" {
    for words in --help 'exec --help' 'show --help' 'explain --help' 'check --help' 'map --help' \
        'doctor --help'; do
        run -0 "$rollcall" $words
        [ "$(wc -L <<< "$output")" -le 80 ]
    done
}

@test "--version names the version, Slurm's series and what was found at build" {
    run -0 "$rollcall" --version
    [ "${lines[0]}" = "rollcall $(cat "$top/VERSION")" ]
    [[ ${lines[2]} =~ ^'found at build: Slurm '([0-9]+\.[0-9]{2}|no)', PMIx '([0-9][^ ]*|no|unknown)', hwloc '([0-9][^ ]*|no|unknown)$ ]]
}

# plugin_is TEXT: what --version says of it, with this slurm.conf
plugin_is()
{
    [ "$(SLURM_CONF=$BATS_TEST_TMPDIR/slurm.conf "$rollcall" --version | sed -n 2p)" = "plugin: $1" ]
}

@test "--version says of the plugin what plugstack.conf and the plugin's file say" {
    conf=$BATS_TEST_TMPDIR/plugstack.conf
    file=$BATS_TEST_TMPDIR/lib/slurm/rollcall.so
    plugin_is 'no plugstack.conf was found'
    touch "$conf"
    plugin_is "$conf does not name the plugin"
    echo "optional $file" > "$conf"
    plugin_is "$file is not there"
    mkdir -p "${file%/*}"
    printf 'ELF\0rollcall plugin for Slurm 24.11, of rollcall 0.8.1\0' > "$file"
    # whether its programs are there and can be run is the doctor's (D110)
    plugin_is "0.8.1 for Slurm 24.11, $file"
}

@test "without a subcommand: the help, on standard error" {
    run -2 --separate-stderr "$rollcall"
    [ -z "$output" ]
    [[ $stderr == "usage: rollcall "* ]]
}

@test "an unknown subcommand: one line, and where to look" {
    fails_with 2 "unknown subcommand 'shwo'; to run a command" "$rollcall" shwo
    fails_with 2 'see rollcall --help' "$rollcall" zzzzzzzz
    fails_with 2 'see rollcall --help' "$rollcall" ''
    fails_with 2 "unknown option '--versoin'" "$rollcall" --versoin
}

@test "help and version are words, too" {
    [ "$("$rollcall" help)" = "$("$rollcall" --help)" ]
    [ "$("$rollcall" help exec)" = "$("$rollcall" exec --help)" ]
    [ "$("$rollcall" --help check)" = "$("$rollcall" check --help)" ]
    [ "$("$rollcall" version)" = "$("$rollcall" --version)" ]
    fails_with 2 "unknown subcommand 'chekc'" "$rollcall" help chekc
}

@test "a program where a subcommand stands: what runs it" {
    cd "$BATS_TEST_TMPDIR"
    for word in python3 sh run launch -- main.py ./train.py /bin/true; do
        fails_with 2 "unknown subcommand '$word'; to run a command: rollcall exec -- CMD..." "$rollcall" "$word" train.py
    done
}

@test "an unknown option: one line, and where to look" {
    fails_with 2 "show: unknown option '--jsno'; see rollcall show --help" "$rollcall" show --jsno
    fails_with 2 'see rollcall show --help' "$rollcall" show --zzzzzzzzzz
    fails_with 2 "show: unknown option '-x'" "$rollcall" show -x
    fails_with 2 "show: unknown option '-v'" "$rollcall" show -v
    # most likely the program's
    for option in --lr --epochs -d; do
        fails_with 2 "exec: unknown option '$option'; rollcall's options come first, then the program with its own: rollcall exec -- CMD $option" \
            "$rollcall" exec $option 4 train.py
    done
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

@test "text is as wide as the terminal, or as COLUMNS says" {
    printf '%s\n' "${task_3[@]}" MASTER_PORT=29500 > "$BATS_TEST_TMPDIR/task.env"
    for width in 48 60 80 120; do
        COLUMNS=$width "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env" > "$BATS_TEST_TMPDIR/$width"
        # a variable and its value are in one line, and a word that is too long for its column is whole
        [ "$(grep -vE '^  (set|keep) ' "$BATS_TEST_TMPDIR/$width" | wc -L)" -le "$width" ]
    done
    [ "$(wc -l < "$BATS_TEST_TMPDIR/48")" -gt "$(wc -l < "$BATS_TEST_TMPDIR/80")" ]
    [ "$(wc -l < "$BATS_TEST_TMPDIR/120")" -lt "$(wc -l < "$BATS_TEST_TMPDIR/80")" ]
    "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env" | cmp - "$BATS_TEST_TMPDIR/80"
    for wrong in '' x 0x50 -1; do
        COLUMNS=$wrong "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env" | cmp - "$BATS_TEST_TMPDIR/80"
    done
    # of three columns the last one begins where the second does, where there is little room behind that
    COLUMNS=40 "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env" | grep -qx ' \{20\}SLURM_STEP_NUM_TASKS'
    run -0 on_terminal 60 "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env"
    [ "$(sed 's/\x1b\[[0-9]*m//g; s/\r$//' <<< "$output")" = "$(cat "$BATS_TEST_TMPDIR/60")" ]
    # one that is too narrow is as none
    COLUMNS=20 "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env" > "$BATS_TEST_TMPDIR/20"
    cp "$BATS_TEST_TMPDIR/80" "$BATS_TEST_TMPDIR/19"
    for width in 20 19; do
        run -0 on_terminal "$width" env NO_COLOR=1 "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env"
        [ "$(tr -d '\r' <<< "$output")" = "$(cat "$BATS_TEST_TMPDIR/$width")" ]
    done
}

@test "colours: on a person's terminal, and not on one that a launcher gives its tasks" {
    printf '%s\n' "${task_3[@]}" > "$BATS_TEST_TMPDIR/task.env"
    run -0 on_terminal 80 env OMPI_COMM_WORLD_RANK=0 "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
    [[ $output == *$'\e['* ]]
    run -0 on_terminal 80 env OMPI_COMM_WORLD_RANK=0 sh -c '"$@" < /dev/null' - "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
    [[ $output != *$'\e'* && $output == *launcher* ]]
    run -0 on_terminal 80 sh -c '"$@" < /dev/null' - "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
    [[ $output == *$'\e['* ]]
}

@test "a wrong --ddp is wrong usage, with the right words" {
    fails_with 2 'auto, worker, launcher, alone or off' "$rollcall" show --ddp=workers
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
    for words in --help --version 'show --json' 'show --why'; do
        matches 2 '*cannot write to standard output: No space left*' bash -c '"$@" > /dev/full' - "$rollcall" $words
    done
}
