#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# processes.bats - how one process of a task starts another, and what that one has then.
#
# fork has nothing to do; whatever becomes another program runs the constructor, in memory of its own and with
# the block that its parent chose.

load helper

setup_file()
{
    need_preload
    gcc -O2 -o "$bin/probe" "$here/programs/probe.c"
    gcc -O2 -Wall -Wextra -Werror -pthread -o "$bin/children" "$here/programs/children.c"
    gcc -O2 -Wall -Wextra -Werror -static -pthread -o "$bin/children-static" "$here/programs/children.c"
    gcc -O2 -Wall -Wextra -Werror -o "$bin/reset" "$here/programs/reset.c"
    musl-gcc -O2 -o "$bin/reset-musl" "$here/programs/reset.c"
    gcc -O2 -Wall -Wextra -Werror -o "$bin/sandbox" "$here/programs/sandbox.c"
}

ways=(fork vfork clone posix_spawn posix_spawnp execve)

# children WAY BLOCK [ARGUMENT]...: of the program that starts the probe in that way
children()
{
    run in_task RANK=9 "$bin/$program" "$1" "$2" "$bin/probe" "${names[@]}"
    [ "$status" -eq 0 ] || {
        echo "$1, $2: status $status: $output"
        return 1
    }
}

@test "fork, vfork, clone, posix_spawn, execve: the child has what its parent has" {
    program=children
    for way in "${ways[@]}"; do
        children "$way" own
        expect "${identity[@]}"
    done
}

# looks [NAME=VALUE]...: how often a task's processes look at more than their environment, after these changes.
# Only then the library asks for its own number. The task's first process is strace.
looks()
{
    env -i "${task_environment[@]}" sh -c 'SLURM_TASK_PID=$$ LD_PRELOAD=$0 exec "$@"' "$preload" \
        strace -qq -e trace=getpid -o "$BATS_TEST_TMPDIR/trace" env "$@" true
    grep -c getpid "$BATS_TEST_TMPDIR/trace" || true
}

@test "child: same launch and ranks -> one look at the environment; a change -> another" {
    [ "$(looks)" = 0 ]
    [ "$(looks OMP_NUM_THREADS=4 "PATH=$PATH:/bin" SHLVL=7)" = 0 ]
    task_environment+=(SLURM_NPROCS=9) # which is replaced
    [ "$(looks)" = 0 ]
    unset 'task_environment[-1]'
    for change in SLURM_JOB_ID=43 SLURM_STEP_ID=8 SLURM_PROCID=2 SLURM_TASK_PID=1 SLURM_NEW=1 RANK=1 WORLD_SIZE=8 \
        LOCAL_RANK=0 OMPI_COMM_WORLD_RANK=0 FLUX_TASK_RANK=0 MPI_LOCALRANKID=0 PMIX_RANK=1 PALS_RANKID=1 LSB_JOBID=1 \
        LSF_PM_TASKID=1 PBS_JOBID=1 TORCHELASTIC_RUN_ID=none PET_NNODES=2 ROLLCALL=off ROLLCALL_DEBUG=1 \
        ROLLCALL_SCOPE= ROLLCALL_PINS=0 ROLLCALL_SETTLED=aaaaaaaaaaaaaaaa ROLLCALL_SETTLED= ROLLCALL_SETTLED=a; do
        [ "$(looks "$change")" = 1 ] || {
            echo "$change: $(cat "$BATS_TEST_TMPDIR/trace")"
            return 1
        }
    done
    [ "$(looks -u SLURM_STEP_ID)" = 1 ]
    [ "$(looks -u RANK)" = 1 ]
}

@test "child: several launchers, debug, or a launcher that processes tell -> looked at each time" {
    for before in ROLLCALL_DEBUG=1 PBS_JOBID=7 RANK=3 ROLLCALL_PINS=0; do
        task_environment+=("$before")
        [ "$(looks 2> "$BATS_TEST_TMPDIR/lines")" = 2 ] || {
            echo "$before: $(cat "$BATS_TEST_TMPDIR/trace")"
            return 1
        }
        unset 'task_environment[-1]'
    done
}

@test "the same from the block that the launcher gave, without the stamp: resolved again, to the same" {
    program=children
    for way in "${ways[@]}"; do
        children "$way" given
        expect "${identity[@]}"
    done
}

@test "the same from a static parent, which has nothing itself" {
    program=children-static
    is_static "$bin/$program"
    for way in "${ways[@]}"; do
        children "$way" own
        expect "${identity[@]}"
    done
}

@test "the same with an empty block, and with LD_PRELOAD alone: nothing is set" {
    for program in children children-static; do
        for way in "${ways[@]}"; do
            for block in empty preload; do
                children "$way" "$block"
                [ -z "$output" ]
            done
        done
    done
}

@test "system() and popen" {
    run -0 in_task RANK=9 "$bin/children" system own "$bin/probe ${names[*]}"
    expect "${identity[@]}"
    run in_task python3 -c 'import os; print(os.popen("echo $RANK").read().strip(), os.system("exit $RANK") >> 8)'
    [ "$output" = "3 3" ]
}

@test "64 children by eight threads at once: all the same, and the parent's environment is as it was" {
    for block in own given; do
        run -0 in_task "$bin/children" threads "$block" "$bin/probe" RANK
        [ "$(sort <<< "$output" | uniq -c | awk '{ print $1, $2, $3 }')" = \
            $'64 environ RANK=3\n64 envp RANK=3\n64 getenv RANK=3' ]
    done
}

@test "clearenv, then setenv: nothing of ours is left or comes back, in glibc and musl" {
    for program in reset reset-musl; do
        run -0 in_task "$bin/$program" A=1 RANK=7 "LD_PRELOAD=$preload" -- "$bin/probe" A "${names[@]}" ROLLCALL_SCOPE
        expect A=1 RANK=7
        [ "${#lines[@]}" -eq 6 ]
    done
}

@test "clearenv, then the task's variables again: it is that task again, with the port of RANK 0 still held by itself" {
    for program in reset reset-musl; do
        run -0 in_task "$bin/$program" "${task_environment[@]}" "LD_PRELOAD=$preload" -- "$bin/probe" "${names[@]}"
        expect "${identity[@]}"
        run -0 --separate-stderr in_task "${rank_0[@]}" "$bin/$program" "${task_environment[@]}" "${rank_0[@]}" \
            "LD_PRELOAD=$preload" -- "$bin/probe" RANK LOCAL_RANK
        [ -z "$stderr" ]
        expect RANK=0 LOCAL_RANK=0
    done
}

@test "Python's multiprocessing: fork, spawn, forkserver; a pool" {
    cat > "$BATS_TEST_TMPDIR/many.py" <<'PYTHON'
import concurrent.futures, multiprocessing, os, sys

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "NODE_RANK", "MASTER_ADDR")


def who(_):
    return " ".join(os.environ.get(name, "-") for name in NAMES)


if __name__ == "__main__":
    for way in ("fork", "spawn", "forkserver"):
        context = multiprocessing.get_context(way)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
            print(way, *sorted(set(pool.map(who, range(8)))), sep=": ")
    os.environ["RANK"] = "7"  # as torch.multiprocessing.spawn's users do
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(who, [0])[0])
PYTHON
    run -0 in_task RANK=9 python3 "$BATS_TEST_TMPDIR/many.py"
    [ "$output" = "fork: 3 4 1 1 n1
spawn: 3 4 1 1 n1
forkserver: 3 4 1 1 n1
7 4 1 1 n1" ]
}

@test "Python's subprocess: its environment, another one, none" {
    run -0 in_task python3 -c '
import os, subprocess, sys
def child(**more):
    return subprocess.run([sys.argv[1], "RANK", "X"], stdout=subprocess.PIPE, text=True, check=True, **more).stdout.split("\n")[:-1]
print(*child())
print(*child(env={**os.environ, "X": "1", "RANK": "5"}, close_fds=False))
print(*child(env={"X": "1"}), child(env={}))
print(*child(env={"X": "1", "LD_PRELOAD": os.environ["LD_PRELOAD"]}))
print(*child(start_new_session=True, cwd="/"))' "$bin/probe"
    [ "$output" = "getenv RANK=3 environ RANK=3 envp RANK=3
getenv RANK=5 environ RANK=5 envp RANK=5 getenv X=1 environ X=1 envp X=1
getenv X=1 environ X=1 envp X=1 []
getenv X=1 environ X=1 envp X=1
getenv RANK=3 environ RANK=3 envp RANK=3" ]
}

@test "a daemon of the task: two forks, a session of its own, a program that outlives its parent" {
    run in_task RANK=9 bash -c "(setsid sh -c 'exec 2> /dev/null; $bin/probe ${names[*]} > $BATS_TEST_TMPDIR/out.part
        mv $BATS_TEST_TMPDIR/out.part $BATS_TEST_TMPDIR/out' > /dev/null < /dev/null &)"
    until [ -e "$BATS_TEST_TMPDIR/out" ]; do sleep 0.05; done
    output=$(cat "$BATS_TEST_TMPDIR/out")
    expect "${identity[@]}"
}

@test "a sandbox without sockets: RANK 0 gets its identity, and nothing is said" {
    run --separate-stderr in_task "${rank_0[@]}" "$bin/sandbox" python3 -c 'import socket; socket.socket()'
    [[ $stderr == *PermissionError* ]]
    run -0 --separate-stderr env -i "${task_environment[@]}" "${rank_0[@]}" "$bin/sandbox" env LD_PRELOAD="$preload" \
        "$bin/probe" RANK LOCAL_RANK
    [ -z "$stderr" ]
    expect RANK=0 LOCAL_RANK=0
}

@test "one descriptor left, the loader's own: RANK 0 gets its identity, and nothing is said" {
    run -0 --separate-stderr env -i "${task_environment[@]}" "${rank_0[@]}" prlimit --nofile=4 \
        env LD_PRELOAD="$preload" "$bin/probe" RANK LOCAL_RANK 3>&-
    [ -z "$stderr" ]
    expect RANK=0 LOCAL_RANK=0
}
