#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# shells.bats - the shells and wrappers that stand between a launcher and the program it was asked for.
#
# Shells treat their environment in their own ways: bash has a setenv of its own, fish and tcsh rebuild the
# block from their variables for each child, static shells are not reached at all.

load helper

# Each as it is called to run one line, without a user's start-up files.
shells=("bash" "bash --posix" "bash --login" "dash" "zsh -f" "mksh" "busybox sh" "fish --no-config" "tcsh -f")
static_shells=("bash-static" "mksh-static" "$bin/busybox-static/bin/busybox sh")

setup_file()
{
    need_preload
    gcc -O2 -o "$bin/probe" "$here/programs/probe.c"
    busybox_static
    local shell
    for shell in "${shells[@]}"; do
        is_dynamic "${shell%% *}"
    done
    for shell in "${static_shells[@]}"; do
        is_static "${shell%% *}"
    done
}

# It cannot be installed beside busybox, so it is only unpacked.
busybox_static()
(
    . "$top/tests/setup.bash"
    cd "$bin"
    locked sh -c 'apt-get -qq download busybox-static || { apt-get -qq update && apt-get -qq download busybox-static; }'
    dpkg -x busybox-static_*.deb busybox-static
)

# shell_does SHELL WHAT: the shell's words for it
shell_does()
{
    case ${1%% *},$2 in
        fish,set) echo 'set -gx RANK 5' ;;
        fish,unset) echo 'set -e RANK' ;;
        tcsh,set) echo 'setenv RANK 5' ;;
        tcsh,unset) echo 'unsetenv RANK' ;;
        *,set) echo 'RANK=5; export RANK' ;;
        *,unset) echo 'unset RANK' ;;
    esac
}

# fish writes to a user's folder
in_shell()
{
    local shell=$1
    shift
    run in_task HOME="$BATS_TEST_TMPDIR" RANK=9 LOCAL_RANK=9 $shell -c "$@"
    [ "$status" -eq 0 ] || {
        echo "$shell: status $status: $output"
        return 1
    }
}

same()
{
    [ "$output" = "$2" ] || {
        echo "$1: $output"
        echo "expected: $2"
        return 1
    }
}

@test "each shell itself has the identity, in place of a stale one" {
    local shell
    for shell in "${shells[@]}"; do
        in_shell "$shell" "$shell_line"
        same "$shell" "$identity_line"
    done
}

@test "each shell's child has it, and a child that the shell becomes" {
    local shell line
    for shell in "${shells[@]}"; do
        for line in "$bin/probe ${names[*]}; true" "exec $bin/probe ${names[*]}"; do
            in_shell "$shell" "$line"
            expect "${identity[@]}"
        done
    done
}

@test "each shell: what the user sets in it stays for the programs that it starts" {
    local shell
    for shell in "${shells[@]}"; do
        in_shell "$shell" "$(shell_does "$shell" set); $bin/probe RANK; $bin/probe LOCAL_RANK"
        expect RANK=5 LOCAL_RANK=1
    done
}

@test "each shell: what the user unsets in it stays away" {
    local shell
    for shell in "${shells[@]}"; do
        in_shell "$shell" "$(shell_does "$shell" unset); $bin/probe RANK; $bin/probe LOCAL_RANK"
        expect LOCAL_RANK=1
        [[ $output != *" RANK="* ]]
    done
}

@test "each shell: env -i takes everything away, env -u one name" {
    local shell
    for shell in "${shells[@]}"; do
        in_shell "$shell" "env -i $bin/probe RANK ROLLCALL_SCOPE; env -u RANK $bin/probe RANK LOCAL_RANK"
        expect LOCAL_RANK=1
        [[ $output != *" RANK="* && $output != *ROLLCALL_SCOPE* ]]
    done
}

@test "env -u ROLLCALL_SCOPE: without the stamp the task is resolved again, to the same" {
    in_shell bash "RANK=5 env -u ROLLCALL_SCOPE $bin/probe ${names[*]}"
    expect "${identity[@]}"
}

@test "bash's own setenv: export, declare, local copies, arithmetic, a subshell, a function" {
    in_shell bash 'declare -x RANK=$((RANK + 4)); f() { local -x LOCAL_RANK=8; '"$bin"'/probe LOCAL_RANK; }; f
        ('"$bin"'/probe RANK); export -n WORLD_SIZE; '"$bin"'/probe WORLD_SIZE NODE_RANK'
    expect RANK=7 LOCAL_RANK=8 NODE_RANK=1
    [[ $output != *" WORLD_SIZE="* ]]
}

@test "bash: command substitution, pipes, a here document and source see one identity" {
    echo 'echo $RANK' > "$BATS_TEST_TMPDIR/part"
    in_shell bash 'echo $(echo $RANK) $(printenv RANK) $(sh <<< "echo \$RANK") $(source '"$BATS_TEST_TMPDIR"'/part)
        printenv RANK | cat; coproc { printenv RANK; cat; }; read -r rank <&${COPROC[0]}; echo $rank'
    same bash $'3 3 3 3\n3\n3'
}

@test "a static shell is not reached, but the programs that it starts are, each as the task's first" {
    local shell
    for shell in "${static_shells[@]}"; do
        in_shell "$shell" "echo \$RANK \$LOCAL_RANK; $bin/probe ${names[*]}; true"
        [ "${lines[0]}" = "9 9" ]
        expect "${identity[@]}"
    done
}

@test "a static shell: whoever starts programs from it twice gets the same, and the port of RANK 0 twice" {
    run -0 --separate-stderr in_task "${rank_0[@]}" bash-static -c "$bin/probe RANK MASTER_PORT; $bin/probe RANK MASTER_PORT"
    [ -z "$stderr" ]
    [ "$(grep -c '^getenv RANK=0$' <<< "$output")" -eq 2 ]
    [ "$(grep '^getenv MASTER_PORT=[1-9]' <<< "$output" | uniq -c | awk '{ print $1 }')" = 2 ]
}

@test "a #! script, and one without: the kernel, the shell and env start the interpreter" {
    local script=$BATS_TEST_TMPDIR/script
    for first in '#!/bin/bash' '#!/usr/bin/env bash' '#!/bin/dash -e' '#!/usr/bin/env -S bash -e' ''; do
        { [ -z "$first" ] || echo "$first"; echo "$shell_line"; } > "$script"
        chmod 755 "$script"
        in_shell bash "$script"
        same "$first" "$identity_line"
    done
}

@test "wrappers: each hands on one identity, said once" {
    local wrapper cpus
    cpus=$(taskset -pc $$ | sed 's/.*: //')
    for wrapper in "env X=1" "nice -n 1" "nohup" "timeout 20" "setsid -w" "stdbuf -oL" "time -p" "xargs" "taskset -c $cpus" \
        "ionice -c 3" "flock $BATS_TEST_TMPDIR/lock" "prlimit --nofile=512" "chrt -o 0" "unshare --fork" \
        "setpriv --no-new-privs" "python3 -c 'import os, sys; os.execvp(sys.argv[1], sys.argv[1:])'" \
        "perl -e 'exec @ARGV'" "sh -c 'exec \"\$@\"' sh" "bash -lc '\"\$@\"' bash" "busybox env" "busybox timeout 20"; do
        run --separate-stderr in_task RANK=9 ROLLCALL_DEBUG=1 bash -c "$wrapper $bin/probe ${names[*]} < /dev/null"
        [ "$status" -eq 0 ] || {
            echo "$wrapper: $output $stderr"
            return 1
        }
        expect "${identity[@]}"
        [ "$(grep -c 'rollcall: launcher slurm' <<< "$stderr")" -eq 1 ]
    done
}

@test "bash -> env -> python in a job script: the script is no task, the srun in it would be" {
    cat > "$BATS_TEST_TMPDIR/job" <<'SCRIPT'
#!/bin/bash
set -euo pipefail
module() { export LOADED=$1; }
module torch
export OMP_NUM_THREADS=1
exec env PYTHONUNBUFFERED=1 python3 -c '
import os
print([n for n in os.environ if n == "RANK" or n.startswith("ROLLCALL_SCOPE")], os.environ["LOADED"])'
SCRIPT
    chmod 755 "$BATS_TEST_TMPDIR/job"
    # what slurmstepd gives a batch script of 22.05
    prints "[] torch" outside SLURM_JOB_ID=42 SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NODEID=0 SLURM_NTASKS=4 \
        SLURM_NNODES=2 'SLURM_TASKS_PER_NODE=2(x2)' 'SLURM_JOB_NODELIST=n[1-2]' SLURM_TASK_PID=1 SLURM_GTIDS=0 \
        "$BATS_TEST_TMPDIR/job"
}
