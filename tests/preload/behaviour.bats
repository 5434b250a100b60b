#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# behaviour.bats - when the shim acts, when it does not, and what it says.

load helper

setup_file()
{
    need_preload
    gcc -O2 -o "$bin/probe" "$here/programs/probe.c"
    gcc -shared -fPIC -nostdlib -x c -o "$bin/empty.so" /dev/null
}

@test "outside of a task nothing is set, and programs print the same bytes" {
    local with without command
    for command in 'ls -ld /usr /bin' 'sh -c "echo out; echo err >&2; exit 3"' 'python3 -c "import sys; sys.exit(\"bye\")"' \
        'cat /nonexistent' 'bash -c "declare -p"' 'env'; do
        for kind in out err; do
            : > "$BATS_TEST_TMPDIR/$kind"
        done
        cp "$preload" "$bin/under-test.so"
        with=0
        env -i "${plain_environment[@]}" LD_PRELOAD="$bin/under-test.so" sh -c "exec $command" \
            > "$BATS_TEST_TMPDIR/out1" 2> "$BATS_TEST_TMPDIR/err1" || with=$?
        cp "$bin/empty.so" "$bin/under-test.so.new"
        mv "$bin/under-test.so.new" "$bin/under-test.so"
        without=0
        env -i "${plain_environment[@]}" LD_PRELOAD="$bin/under-test.so" sh -c "exec $command" \
            > "$BATS_TEST_TMPDIR/out2" 2> "$BATS_TEST_TMPDIR/err2" || without=$?
        sed -i '/RANDOM\|BASHPID\|SRANDOM\|EPOCH\|PPID\|SECONDS/d' "$BATS_TEST_TMPDIR"/out[12]
        [ "$with" = "$without" ]
        cmp "$BATS_TEST_TMPDIR/out1" "$BATS_TEST_TMPDIR/out2"
        cmp "$BATS_TEST_TMPDIR/err1" "$BATS_TEST_TMPDIR/err2"
    done
}

@test "in a task programs print the same bytes, too" {
    local command
    for command in 'ls -ld /usr /bin' 'sh -c "echo out; echo err >&2; exit 3"' 'cat /nonexistent'; do
        run --separate-stderr in_task sh -c "exec $command"
        with=("$status" "$output" "$stderr")
        run --separate-stderr in_task LD_PRELOAD= sh -c "exec $command"
        [ "$status" = "${with[0]}" ]
        [ "$output" = "${with[1]}" ]
        [ "$stderr" = "${with[2]}" ]
    done
}

@test "ROLLCALL=off switches it off" {
    prints '' in_task ROLLCALL=off "$bin/probe" "${names[@]}" ROLLCALL_SCOPE
}

@test "torchrun that was given another node's rank is named there, once" {
    agents=('SLURM_STEP_TASKS_PER_NODE=1(x2)' SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0)
    ln -sf "$bin/probe" "$bin/torchrun"
    run -0 --separate-stderr in_task "${agents[@]}" SLURM_PROCID=1 SLURM_NODEID=1 SLURM_GTIDS=1 \
        "$bin/torchrun" --nnodes=2 --node_rank=0
    [[ $stderr == "rollcall: error RC312: torchrun was given --node_rank='0', but the node rank in this step is 1, and node 0 has the master address; "* ]]
    [ "$(grep -c . <<< "$stderr")" = 1 ]
    run -0 --separate-stderr in_task "${agents[@]}" SLURM_PROCID=0 SLURM_NODEID=0 SLURM_GTIDS=0 \
        "$bin/torchrun" --nnodes=2 --node_rank=0
    [ -z "$stderr" ]
}

@test "torchrun is recognised under musl, and after a library that moves the environment" {
    agents=('SLURM_STEP_TASKS_PER_NODE=1(x2)' SLURM_NTASKS=2 SLURM_STEP_NUM_TASKS=2 SLURM_LOCALID=0 \
        SLURM_PROCID=1 SLURM_NODEID=1 SLURM_GTIDS=1)
    mkdir "$bin/musl"
    musl-gcc -O2 -o "$bin/musl/torchrun" "$here/programs/probe.c"
    gcc -shared -fPIC -o "$bin/move.so" "$here/programs/move-environ.c"
    ln -sf "$bin/probe" "$bin/torchrun"
    run -0 in_task "${agents[@]}" "$bin/musl/torchrun" PET_NODE_RANK RANK
    [[ $output == *PET_NODE_RANK=1* && $output != *' RANK='* ]]
    run -0 in_task "${agents[@]}" LD_PRELOAD="$preload:$bin/move.so" "$bin/torchrun" PET_NODE_RANK RANK
    [[ $output == *PET_NODE_RANK=1* && $output != *' RANK='* ]]
}

@test "ROLLCALL=launcher forces a mode; a mistake in it is an error" {
    run -0 in_task ROLLCALL=launcher SLURM_PROCID=1 SLURM_LOCALID=0 SLURM_GTIDS=1 SLURM_NTASKS=2 \
        SLURM_STEP_NUM_TASKS=2 'SLURM_STEP_TASKS_PER_NODE=1(x2)' "$bin/probe" RANK NODE_RANK PET_NNODES PET_NODE_RANK
    expect NODE_RANK=1 PET_NNODES=2 PET_NODE_RANK=1
    [[ $output != *" RANK="* ]]
    run -0 --separate-stderr in_task ROLLCALL=lancher "$bin/probe" RANK
    [ -z "$output" ]
    [[ $stderr == "rollcall: error RC201: "* ]]
    run --separate-stderr outside ROLLCALL=lancher "$bin/probe" RANK
    [ -z "$output$stderr" ]
}

@test "port= and addr= in ROLLCALL are the user's own: they go before MASTER_PORT and MASTER_ADDR" {
    run -0 --separate-stderr in_task ROLLCALL=port=23456,addr=-ib MASTER_PORT=29500 MASTER_ADDR=store \
        "$bin/probe" MASTER_ADDR MASTER_PORT
    [ -z "$stderr" ]
    expect MASTER_ADDR=n1-ib MASTER_PORT=23456
}

@test "the stamp: bash, a bash in it and Python keep what the task has, also a user's change" {
    run -0 in_task RANK=9 bash -c 'bash -c "python3 -c \"import os; print(os.environ[\\\"RANK\\\"], os.environ[\\\"ROLLCALL_SCOPE\\\"])\""'
    [[ $output == "3 slurm:42.7/"* ]]
    prints 5 in_task bash -c 'RANK=5 bash -c "python3 -c \"import os; print(os.environ[\\\"RANK\\\"])\""'
}

@test "another task's stamp does not count: a step inside a step is resolved anew" {
    run -0 in_task sh -c "SLURM_STEP_ID=8 SLURM_PROCID=2 SLURM_LOCALID=0 '$bin/probe' RANK LOCAL_RANK"
    expect RANK=2 LOCAL_RANK=0
}

@test "torchrun's child is left alone" {
    run -0 in_task TORCHELASTIC_RUN_ID=none RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 GROUP_RANK=0 \
        GROUP_WORLD_SIZE=1 MASTER_ADDR=elsewhere MASTER_PORT=29400 "$bin/probe" "${names[@]}" ROLLCALL_SCOPE
    expect RANK=1 LOCAL_RANK=1 WORLD_SIZE=2 LOCAL_WORLD_SIZE=2 GROUP_RANK=0 MASTER_ADDR=elsewhere MASTER_PORT=29400
    [[ $output != *NODE_RANK* && $output != *ROLLCALL_SCOPE* ]]
}

@test "a launcher's own daemon is left alone: the command line is known on glibc" {
    cp "$bin/probe" "$bin/orted"
    prints '' in_task "$bin/orted" RANK ROLLCALL_SCOPE
}

@test "an error is said once, by the program that the launcher started, and nothing is set" {
    run -0 --separate-stderr in_task SLURM_LOCALID=7 bash -c "bash -c '$bin/probe RANK; $bin/probe WORLD_SIZE'; ls / > /dev/null"
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr =~ ^rollcall:\ error\ RC1[0-9][0-9]:\  ]]
}

@test "an error is nothing to a program without a standard error, or with a broken one" {
    run -0 in_task SLURM_LOCALID=7 bash -c "exec 2>&-; exec '$bin/probe' SLURM_JOB_ID"
    # a pipe that nobody reads: no SIGPIPE
    mkfifo "$BATS_TEST_TMPDIR/pipe"
    run bash -c "exec 4<> '$BATS_TEST_TMPDIR/pipe' 2> '$BATS_TEST_TMPDIR/pipe' 4>&-; { env -i ${task_environment[*]@Q} SLURM_LOCALID=7 LD_PRELOAD='$preload' '$bin/probe' SLURM_JOB_ID; \
        echo \$? > '$BATS_TEST_TMPDIR/rc'; } > '$BATS_TEST_TMPDIR/out'"
    [ "$(cat "$BATS_TEST_TMPDIR/rc")" = 0 ]
}

@test "ROLLCALL_DEBUG: one write of less than 512 bytes" {
    local level
    for level in 1 2 3 9 x; do
        in_task ROLLCALL_DEBUG="$level" strace -qq -e trace=write -o "$BATS_TEST_TMPDIR/trace" \
            -E LD_PRELOAD="$preload" env -u ROLLCALL_SCOPE "$bin/probe" 2> "$BATS_TEST_TMPDIR/err"
        [ "$(wc -c < "$BATS_TEST_TMPDIR/err")" -gt 0 ]
    done
    run --separate-stderr in_task ROLLCALL_DEBUG=2 "$bin/probe" RANK
    expect RANK=3
    [ "${#stderr}" -lt 512 ]
    [[ $stderr == "rollcall: launcher slurm, mode worker"* ]]
    [[ $stderr == *"rollcall: RANK='3'"* ]]
    run --separate-stderr outside ROLLCALL_DEBUG=3 "$bin/probe"
    [ -z "$stderr" ]
}

@test "RANK 0 holds the master port, across exec; a stranger cannot take it, torch can" {
    prints "held"$'\n'"listening" in_task "${rank_0[@]}" bash -c 'exec python3 -c "
import os, socket
port = int(os.environ[\"MASTER_PORT\"])
stranger = socket.socket()
try:
    stranger.bind((\"\", port))
    print(\"taken by a stranger\")
except OSError:
    print(\"held\")
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((\"\", port))
listener.listen()
socket.create_connection((\"127.0.0.1\", port)).close()
print(\"listening\")"'
}

@test "the held port's descriptor is out of the way: the lowest free one stays free, 0, 1 and 2 do" {
    run -0 in_task "${rank_0[@]}" python3 -c '
import os
print(min(set(range(99)) - {int(n) for n in os.listdir("/proc/self/fd")}), os.environ["RANK"])' 3>&- 4>&- 5>&-
    [ "$output" = "4 0" ] # 3 is the folder
    run -0 bash -c 'exec 0<&- 2>&- 3>&-; exec "$@"' - env -i "${task_environment[@]}" LD_PRELOAD="$preload" \
        "${rank_0[@]}" "$bin/probe" RANK
    expect RANK=0
    run bash -c 'exec 0<&- 2>&- 3>&-; exec "$@"' - env -i "${task_environment[@]}" LD_PRELOAD="$preload" \
        "${rank_0[@]}" ls -l /proc/self/fd
    [ "$(grep -c ' 2 -> ' <<< "$output")" -eq 0 ]
    [ "$(sed -n 's/.* \([0-9]*\) -> socket.*/\1/p' <<< "$output")" -ge 64 ]
}

@test "soft limit of open files below a file for each rank and 512: RANK 0 -> raised, others -> as it was" {
    (ulimit -Sn 64 && prints 516 in_task "${rank_0[@]}" sh -c 'ulimit -Sn')
    (ulimit -Sn 64 && prints 64 in_task sh -c 'ulimit -Sn')
}

@test "the other ranks hold nothing" {
    run -0 in_task bash -c 'ls -l /proc/$$/fd'
    [[ $output != *socket* ]]
}

@test "a port that is taken is an error of RANK 0, and nothing is set" {
    local port
    port=$(in_task "${rank_0[@]}" sh -c 'echo $MASTER_PORT')
    run -0 --separate-stderr beside_stranger "$port" \
        in_task "${rank_0[@]}" bash -c "'$bin/probe' RANK MASTER_PORT"
    [ -z "$output" ]
    [ "${#stderr_lines[@]}" -eq 1 ]
    [[ $stderr == "rollcall: error RC405: "*"$port"* ]]
}

# RANK 0 of four under Open MPI's mpirun, two on each of two nodes, outside of Slurm.
mpirun_0()
{
    env -i "${plain_environment[@]}" LD_PRELOAD="$preload" OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 \
        OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2 OMPI_COMM_WORLD_NODE_RANK=0 \
        OMPI_MCA_orte_num_nodes=2 PMIX_NAMESPACE=1740701697 PMIX_RANK=0 "$@"
}

@test "RANK 0 checks a MASTER_ADDR that is not certain: an address" {
    run -0 --separate-stderr mpirun_0 'OMPI_MCA_orte_hnp_uri=1740701696.0;tcp://192.0.2.1:57779' "$bin/probe" RANK MASTER_ADDR
    [ -z "$output" ]
    [[ $stderr == "rollcall: error RC407: "*192.0.2.1* ]]
    local mine
    mine=$(hostname -I | tr ' ' '\n' | grep -m 1 '^[0-9]*\.')
    run --separate-stderr mpirun_0 "OMPI_MCA_orte_hnp_uri=1740701696.0;tcp://$mine:57779" "$bin/probe" RANK MASTER_ADDR
    [ -z "$stderr" ]
    expect RANK=0 "MASTER_ADDR=$mine"
}

@test "RANK 0 takes an address that only leads to its node with addr=given" {
    run --separate-stderr mpirun_0 MASTER_ADDR=192.0.2.1 "$bin/probe" RANK MASTER_ADDR
    [[ $stderr == "rollcall: error RC407: "*"use addr=given (rollcall explain RC407)" ]]
    run --separate-stderr mpirun_0 MASTER_ADDR=192.0.2.1 ROLLCALL=addr=given "$bin/probe" RANK MASTER_ADDR
    [ -z "$stderr" ]
    expect RANK=0 MASTER_ADDR=192.0.2.1
}

@test "RANK 0 checks a MASTER_ADDR that is not certain: a name of the list" {
    local mine
    mine=$(uname -n)
    run -0 --separate-stderr mpirun_0 SLURM_JOB_ID=42 "SLURM_JOB_NODELIST=another,$mine" "$bin/probe" RANK MASTER_ADDR
    [ -z "$output" ]
    [[ $stderr == "rollcall: error RC407: "*another* ]]
    run --separate-stderr mpirun_0 SLURM_JOB_ID=42 "SLURM_JOB_NODELIST=$mine,another" "$bin/probe" RANK MASTER_ADDR
    [ -z "$stderr" ]
    expect RANK=0 "MASTER_ADDR=$mine"
    # aliases: neither name is this node's, so nothing is known
    run --separate-stderr mpirun_0 SLURM_JOB_ID=42 SLURM_JOB_NODELIST=alias1,alias2 "$bin/probe" RANK MASTER_ADDR
    [ -z "$stderr" ]
    expect RANK=0 MASTER_ADDR=alias1
}
