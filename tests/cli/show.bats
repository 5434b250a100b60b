#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# rollcall show, as people and programs read them.

load helper

setup_file()
{
    unpack_vectors
}

# The block of a task as a file.
as_file()
{
    printf '%s\n' "$@" > "$BATS_TEST_TMPDIR/task.env"
}

@test "show: a path that rollcall sets is shown to its end" {
    local long
    long=/$(printf 'folder%.0s' {1..40})
    run -0 with "${task_3[@]}" PYTHONPATH="$long/last" "$rollcall" show --long --ddp=watch
    grep -qE "^  set +PYTHONPATH +$long/last:/[^ ]+/watch\$" <<< "$output"
}

# variables: what a report says is done, and to which one
variables()
{
    sed -nE 's/^  (set|same|keep|unset)( +([^ ]+))?.*/\1 \3/p'
}

@test "show: every value with where it came from" {
    as_file "${task_3[@]}" RANK=7 PET_NNODES=5
    run -0 --separate-stderr "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
    [ -z "$stderr" ]
    for line in '^launcher +Slurm \(srun\), 42\.7$' '^mode +worker: ' '^master +192.0.2.1 port [0-9]+: first host of ' \
        '^  rank +3 +SLURM_PROCID$' '^  world size +4 +SLURM_STEP_NUM_TASKS$' '^  set +RANK +3 +SLURM_PROCID$' \
        '^  set +MASTER_ADDR +192.0.2.1 +first host' '^  unset +PET_NNODES +a worker'; do
        grep -qE -- "$line" <<< "$output" || {
            echo "no line $line in:"
            echo "$output"
            return 1
        }
    done
    [ "$(wc -L <<< "$output")" -le 80 ]
    # each variable once, and no more
    "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env" > "$BATS_TEST_TMPDIR/why"
    diff -u <(variables < "$BATS_TEST_TMPDIR/why") <(variables <<< "$output")
}

@test "--why: MPI's number in a task that the network's order renumbers" {
    # the step's order is node 1, node 0: Slurm's task 3 is rank 1, and task 2 rank 3
    as_file "${task_3[@]}" ROLLCALL_ORDER=slurm:42.7/3/1/0/0/n2 PMIX_NAMESPACE=slurm.pmix.42.7 PMIX_RANK=3
    run -0 --separate-stderr "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env"
    [[ $(tr -s ' \n' ' ' <<< "$output") == *"PMIX_RANK value 3 why the rank is 1 by SLURM_"* ]]
}

@test "a port beside this task's own stamp is what it was told, not the user's" {
    run -0 --separate-stderr env -i "${task_3[@]}" MASTER_PORT=29500 "$rollcall" exec -- env
    as_file "${lines[@]}"
    grep -q '^ROLLCALL_SCOPE=slurm:42\.7/3/' "$BATS_TEST_TMPDIR/task.env"
    run -0 "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
    [[ $(tr -s ' \n' ' ' <<< "$output") == *'keep MASTER_PORT 29500 as rollcall set it at the start of this task'* ]]
    sed -i 's/^MASTER_PORT=.*/MASTER_PORT=29700/' "$BATS_TEST_TMPDIR/task.env"
    run -0 "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
    [[ $(tr -s ' \n' ' ' <<< "$output") == *'keep MASTER_PORT 29700 changed since; all tasks use 29500'* ]]
    as_file "${task_3[@]}" MASTER_PORT=29500
    run -0 "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
    [[ $(tr -s ' \n' ' ' <<< "$output") == *'keep MASTER_PORT 29500 as the user set it; without it, all tasks get '* ]]
}

@test "--why: what, from where and why of every value, and what messages mean" {
    as_file "${task_3[@]}" RANK=7 PET_NNODES=5 MASTER_PORT=29500
    run -0 --separate-stderr "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env"
    [ -z "$stderr" ]
    for line in '^  rank +3 +SLURM_PROCID$' '^  set RANK = 3$' '^    was +7$' '^    from +SLURM_PROCID$' '^    why +' \
        '^  unset PET_NNODES$' '^  keep MASTER_PORT = 29500$' '^  note RC501$' '^    cause +' '^    cure +'; do
        grep -qE -- "$line" <<< "$output" || {
            echo "no line $line in:"
            echo "$output"
            return 1
        }
    done
    [ "$(wc -L <<< "$output")" -le 80 ]
}

@test "JSON: exactly the documented keys, of the documented types" {
    as_file "${task_3[@]}" PET_NNODES=5
    run -0 --separate-stderr "$rollcall" show --json --from "$BATS_TEST_TMPDIR/task.env"
    [ -z "$stderr" ]
    [ "$(jq -c 'keys_unsorted' <<< "$output")" = '["schema","launcher","mode","identity","master","set","unset","messages"]' ]
    [ "$(jq -c '[.schema, .launcher, .mode]' <<< "$output")" = '[1,"slurm","worker"]' ]
    [ "$(jq -c '.identity' <<< "$output")" = '{"rank":3,"local_rank":1,"node_rank":1,"world_size":4,"local_world_size":2,"nnodes":2}' ]
    [ "$(jq -c '.master | keys_unsorted, (map_values(type))' <<< "$output" | xargs)" = '[addr,port,source] {addr:string,port:number,source:string}' ]
    [ "$(jq -c '.set.RANK, .set.MASTER_ADDR, (.set.MASTER_PORT | tonumber == '"$(jq .master.port <<< "$output")"'), .unset' <<< "$output" | xargs)" = '3 192.0.2.1 true [PET_NNODES]' ]
    run -0 "$rollcall" show --why --json --from "$BATS_TEST_TMPDIR/task.env"
    [ "$(jq -c 'keys_unsorted' <<< "$output")" = '["schema","launcher","mode","identity","master","set","unset","messages","keep","sources","reasons","rejected"]' ]
    [ "$(jq -r '.sources.rank, .sources.RANK, .reasons.PET_NNODES' <<< "$output" | head -2 | xargs)" = 'SLURM_PROCID SLURM_PROCID' ]
}

@test "JSON without a launcher: nulls and empty, status 0" {
    run -0 --separate-stderr with "$rollcall" show --json -- torchrun train.py
    [ "$(jq -c "del(.got.cpus)" <<< "$output")" = '{"schema":1,"launcher":null,"mode":"none","identity":{"rank":null,"local_rank":null,"node_rank":null,"world_size":null,"local_world_size":null,"nnodes":null},"master":{"addr":null,"port":null,"source":null},"set":{},"unset":[],"got":{"cpus_promised":null,"gpus":null,"job_gpus":null},"messages":[]}' ]
}

@test "in launcher mode this process is none of the workers" {
    as_file "${agent_0[@]}"
    run -0 "$rollcall" show --json --ddp=launcher,nproc=4 --from "$BATS_TEST_TMPDIR/task.env"
    [ "$(jq -c '[.mode, .identity]' <<< "$output")" = '["launcher",{"rank":null,"local_rank":null,"node_rank":0,"world_size":null,"local_world_size":null,"nnodes":2}]' ]
    [ "$(jq -r '.set.PET_NPROC_PER_NODE' <<< "$output")" = 4 ]
    # the same for a command that is a launcher
    run -0 "$rollcall" show --json --from "$BATS_TEST_TMPDIR/task.env" -- torchrun train.py
    [ "$(jq -r .mode <<< "$output")" = launcher ]
    given='given by the command to the workers that it starts'
    run -0 "$rollcall" show --why --ddp=launcher,nproc=4 --from "$BATS_TEST_TMPDIR/task.env"
    [[ $(tr -s ' ' <<< "$output") == *" rank - $given"$'\n'" local rank - $given"$'\n'* && $output != *'not known'* ]]
    # a worker's numbers are its own: one that is missing comes from nobody
    run -0 "$rollcall" show --why --from "$vectors/openmpi5-salloc-bynode-0.env"
    [[ $(tr -s ' ' <<< "$output") == *$'\n nodes - not known\n'* && $output != *"$given"* ]]
}

@test "a contradiction: status 1, the error in text and JSON, nothing set" {
    as_file "${task_3[@]/SLURM_PROCID=3/SLURM_PROCID=three}"
    matches 1 '*error RC101: SLURM_PROCID*' "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
    matches 1 '*error RC101*cure*' "$rollcall" show --why --from "$BATS_TEST_TMPDIR/task.env"
    # one that shows only when all has been read: no identity that looks as if it were going to be set
    for option in --long --why; do
        run -1 "$rollcall" show $option --from "$vectors/flux-no-host.env"
        [[ $output == *'none: the facts contradict'*'error RC404'* && $output != *'world size'* ]]
    done
    run -1 "$rollcall" show --json --from "$BATS_TEST_TMPDIR/task.env"
    [ "$(jq -c '[.mode, .set, .unset, .master.addr, .messages[0].id, .messages[0].level]' <<< "$output")" = '["none",{},[],null,"RC101","error"]' ]
    # LSF counts its tasks from 1
    as_file LSB_JOBID=7 LSB_DJOB_NUMPROC=4 'LSB_MCPU_HOSTS=n1 2 n2 2' LSF_PM_TASKID=5
    matches 1 '*error RC103: LSF_PM_TASKID is 5, but LSB_DJOB_NUMPROC is 4;*' \
        "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
}

@test "an unreadable ROLLCALL variable is a contradiction of what is looked at" {
    as_file "${task_3[@]}" ROLLCALL=nonsense
    run -1 "$rollcall" show --json --from "$BATS_TEST_TMPDIR/task.env"
    [ "$(jq -c '[.mode, .set, .messages[0].id]' <<< "$output")" = '["none",{},"RC201"]' ]
    # the own one does not matter for another's environment
    as_file "${task_3[@]}"
    run -0 with ROLLCALL=nonsense "$rollcall" show --from "$BATS_TEST_TMPDIR/task.env"
}

@test "ROLLCALL=off in the block: nothing would be set" {
    as_file "${task_3[@]}" ROLLCALL=off
    run -0 "$rollcall" show --json --from "$BATS_TEST_TMPDIR/task.env"
    [ "$(jq -c '[.mode, .set]' <<< "$output")" = '["none",{}]' ]
}

@test "--from takes lines, NUL-separated blocks and standard input alike" {
    as_file "${task_3[@]}"
    "$rollcall" show --json --from "$BATS_TEST_TMPDIR/task.env" > "$BATS_TEST_TMPDIR/lines.json"
    printf '%s\0' "${task_3[@]}" > "$BATS_TEST_TMPDIR/task.block"
    "$rollcall" show --json --from "$BATS_TEST_TMPDIR/task.block" | cmp - "$BATS_TEST_TMPDIR/lines.json"
    "$rollcall" show --json --from - < "$BATS_TEST_TMPDIR/task.block" | cmp - "$BATS_TEST_TMPDIR/lines.json"
    "$rollcall" show --json --from <(cat "$BATS_TEST_TMPDIR/task.env") | cmp - "$BATS_TEST_TMPDIR/lines.json"
    # no newline or NUL at the end
    head -c -1 "$BATS_TEST_TMPDIR/task.env" | "$rollcall" show --json --from - | cmp - "$BATS_TEST_TMPDIR/lines.json"
    head -c -1 "$BATS_TEST_TMPDIR/task.block" | "$rollcall" show --json --from - | cmp - "$BATS_TEST_TMPDIR/lines.json"
}

@test "--pid reads a process's environment, and its command for the mode" {
    mkdir "$BATS_TEST_TMPDIR/bin"
    cp "$(command -v sleep)" "$BATS_TEST_TMPDIR/bin/torchrun"
    # not by a function: the shell would stay between, and $! be its number
    env -i "${agent_0[@]}" "$BATS_TEST_TMPDIR/bin/torchrun" 30 3>&- &
    torchrun=$!
    env -i "${task_3[@]}" sleep 30 3>&- &
    worker=$!
    until [ "$(tr '\0' ' ' < "/proc/$worker/cmdline")" = 'sleep 30 ' ]; do sleep 0.02; done
    until [[ $(tr '\0' ' ' < "/proc/$torchrun/cmdline") == */torchrun\ 30\  ]]; do sleep 0.02; done
    run -0 "$rollcall" show --json --pid "$torchrun"
    [ "$(jq -c '[.mode, .identity.nnodes]' <<< "$output")" = '["launcher",2]' ]
    run -0 "$rollcall" show --json --pid="$worker"
    [ "$(jq -c '[.mode, .identity.rank]' <<< "$output")" = '["worker",3]' ]
    kill "$torchrun" "$worker"
}

@test "what cannot be read: status 2, and which and why" {
    fails_with 2 'no/such: there is no such file' "$rollcall" show --from no/such
    fails_with 2 'it is a directory' "$rollcall" show --from /
    fails_with 2 'larger than 64 MiB' "$rollcall" show --from /dev/zero
    truncate -s 65M "$BATS_TEST_TMPDIR/huge"
    fails_with 2 'larger than 64 MiB' "$rollcall" show --why --json --from "$BATS_TEST_TMPDIR/huge"
    fails_with 2 'process 2147483647: there is no such process' "$rollcall" show --pid 2147483647
    for pid in 0 -1 +1 ' 1' 1x '' 99999999999 self; do
        fails_with 2 'is not a process id' "$rollcall" show --pid "$pid"
    done
    fails_with 2 'there is no such file' "$rollcall" show --from ''
    fails_with 2 'cannot read standard input' bash -c '"$@" <&-' - "$rollcall" show --from -
}

@test "another user's process: status 2, not an empty answer" {
    [ "$(id -u)" = 0 ] || skip "needs root"
    fails_with 2 "it is another user's" setpriv --reuid 65534 --regid 65534 --clear-groups "$rollcall" show --pid 1
}

@test "colour only on a terminal, and not with NO_COLOR or TERM=dumb" {
    as_file "${task_3[@]}"
    show=("$rollcall" show --from "$BATS_TEST_TMPDIR/task.env")
    # NAME=VALUE...: whether there is colour on a terminal
    on_terminal()
    {
        env "$@" script -qec "$(printf '%q ' "${show[@]}")" /dev/null < /dev/null | grep -q $'\e'
    }
    on_terminal TERM=xterm
    on_terminal TERM=xterm NO_COLOR=
    run ! on_terminal TERM=xterm NO_COLOR=1
    run ! on_terminal TERM=dumb
    run ! on_terminal TERM=
    run ! on_terminal -u TERM
    run ! grep -q $'\e' <(TERM=xterm "${show[@]}")
    # the text is the same
    cmp <(TERM=xterm script -qec "$(printf '%q ' "${show[@]}")" /dev/null < /dev/null | sed 's/\x1b\[[0-9]*m//g' | tr -d '\r') <("${show[@]}")
}

@test "values are printed without terminal escapes, newlines and other bytes" {
    hostile=$'x\e[31m\x9b\r\n\t\x7f\xc3\xa9\xff'
    for name in RANK MASTER_ADDR SLURM_JOB_NAME SLURM_PROCID OMPI_COMM_WORLD_SIZE ROLLCALL TORCHELASTIC_RUN_ID; do
        printf '%s\0' "${agent_0[@]}" "$name=$hostile" > "$BATS_TEST_TMPDIR/hostile"
        for words in show 'show --why' 'show --ddp=launcher' 'show --why --ddp=launcher' 'show --json' \
            'show --why --json --ddp=launcher'; do
            "$rollcall" $words --from "$BATS_TEST_TMPDIR/hostile" > "$BATS_TEST_TMPDIR/out" || [ $? = 1 ]
            if tr -d '\n' < "$BATS_TEST_TMPDIR/out" | LC_ALL=C grep -q '[^ -~]'; then
                echo "$name, $words:"
                cat -A "$BATS_TEST_TMPDIR/out"
                return 1
            fi
            [[ $words != *json* ]] || jq -e .schema "$BATS_TEST_TMPDIR/out"
        done
    done
}

@test "JSON keeps UTF-8 and escapes what is none" {
    printf '%s\0' "${agent_0[@]}" $'SLURM_JOB_NAME=caf\xc3\xa9 \xff\xed\xa0\x80' > "$BATS_TEST_TMPDIR/name"
    run -0 "$rollcall" show --json --ddp=launcher --from "$BATS_TEST_TMPDIR/name"
    [ "$(jq -r .set.ROLLCALL_SLURM_JOB_NAME <<< "$output")" = $'caf\xc3\xa9 \\xff\\xed\\xa0\\x80' ]
}

@test "show has no side effect" {
    command -v strace > /dev/null
    strace -f -o "$BATS_TEST_TMPDIR/trace" env -i "${task_0[@]}" "$rollcall" show --rank 0 > "$BATS_TEST_TMPDIR/out"
    # calls, not words: the tree may lie in a folder named clone
    sed -n '/exec.*rollcall/,$p' "$BATS_TEST_TMPDIR/trace" > "$BATS_TEST_TMPDIR/calls"
    grep -qE '^[0-9]+ +openat\(' "$BATS_TEST_TMPDIR/calls"
    run ! grep -E '^[0-9]+ +(socket|bind|v?fork|clone3?|unlink(at)?|t?g?kill)\(' "$BATS_TEST_TMPDIR/calls"
    run ! grep -E 'O_WRONLY|O_RDWR|O_CREAT' "$BATS_TEST_TMPDIR/calls"
}

@test "what a message says to type is the word of the launcher that the task has" {
    local vector options text
    while IFS='|' read -r vector options text; do
        "$rollcall" show --json --from "$vectors/$vector.env" $options > "$BATS_TEST_TMPDIR/answer" || [ $? = 1 ]
        jq -r '.messages[] | "\(.id): \(.text)"' "$BATS_TEST_TMPDIR/answer" > "$BATS_TEST_TMPDIR/said"
        grep -qE -- "$text" "$BATS_TEST_TMPDIR/said" || {
            echo "$vector $options: no '$text' in"
            cat "$BATS_TEST_TMPDIR/said"
            return 1
        }
    done << 'END'
srun-uneven-0||^RC301: 4 .* use 2 on each \(the job's --ntasks-per-node=2\)$
mpirun-salloc-uneven-0||^RC301: 5 .* over 3 nodes \(2 here\).* start 3 or 6 tasks \(mpirun --map-by ppr:N:node\)$
srun-block-0|--ddp=launcher|^RC302: .* use one on each \(the job's --ntasks-per-node=N\), or --ddp=worker$
mpich-ssh-0|--ddp=launcher|^RC302: .* use one on each \(mpiexec -ppn N\), or
env-0|--ddp=launcher|^RC302: .* use one on each, or
flux-no-host||^RC404: .*: flux run --env=MASTER_ADDR=HOST$
vertex-no-master||^RC404: .* its name or address$
mpirun-suffix|--ddp=addr=-ib|^RC411: .* pass the name: mpirun -x MASTER_ADDR=HOST$
openmpi5-salloc-uneven-0||^RC110: .* mpirun --map-by ppr:N:node rollcall exec -- COMMAND$
flux-uneven||^RC110: .* flux run --tasks-per-node=N$
END
}

# Tasks of a step of four on this node: each runs CMD, all at once, those named alone. Their outputs, each in a file.
tasks()
{
    local ranks=$1 rank pids=() status=0
    shift
    for rank in $ranks; do
        with SLURM_JOB_ID=43 SLURM_STEP_ID=1 SLURM_STEP_NUM_TASKS=4 SLURM_NTASKS=4 SLURM_STEP_NUM_NODES=1 SLURM_NNODES=1 \
            SLURM_STEP_TASKS_PER_NODE=4 SLURM_STEP_NODELIST=192.0.2.1 SLURM_DISTRIBUTION=block SLURM_GTIDS=0,1,2,3 \
            SLURM_NODEID=0 SLURM_LOCALID="$rank" SLURM_PROCID="$rank" CUDA_VISIBLE_DEVICES=0,1,2,3 "${more[@]}" \
            "$@" > "$BATS_TEST_TMPDIR/$rank.out" 2> "$BATS_TEST_TMPDIR/$rank.err" < /dev/null &
        pids+=($!)
    done
    for rank in "${pids[@]}"; do
        wait "$rank" || status=$?
    done
    return "$status"
}

@test "show in a launch of several tasks: a line a task, in order, printed once by the first" {
    more=()
    tasks '3 1 0 2' "$rollcall" show
    [ "$(cat "$BATS_TEST_TMPDIR"/[123].out "$BATS_TEST_TMPDIR"/?.err)" = '' ]
    [ "$(head -n 1 "$BATS_TEST_TMPDIR/0.out")" = 'Slurm (srun), 43.1: 4 tasks on 1 node, mode worker' ]
    [ "$(awk '$1 ~ /^[0-9]$/ { print $1, $2, $3, $4, $NF }' "$BATS_TEST_TMPDIR/0.out" | tr '\n' ';')" = \
        "0 $(hostname) 0 0 ok;1 $(hostname) 1 1 ok;2 $(hostname) 2 2 ok;3 $(hostname) 3 3 ok;" ]
    grep -qxE 'rank +node +local rank +GPU +cores +master +verdict' "$BATS_TEST_TMPDIR/0.out"
    [ "$(grep -cE ' 192\.0\.2\.1:[0-9]+ +ok$' "$BATS_TEST_TMPDIR/0.out")" = 4 ]
    # and once more, by the same tasks
    tasks '0 1 2 3' sh -c '"$0" show; "$0" show' "$rollcall"
    [ "$(grep -c '^[0-9] ' "$BATS_TEST_TMPDIR/0.out")" = 8 ]
    [ ! -s "$BATS_TEST_TMPDIR/3.out" ]
}

@test "show: cores and GPUs against the job's, where it has more" {
    more=(SLURM_CPUS_PER_TASK=16384 SLURM_JOB_CPUS_PER_NODE=65536 SLURMD_NODENAME=192.0.2.1 SLURM_JOB_NODELIST=192.0.2.1
        CUDA_VISIBLE_DEVICES=0,1 SLURM_GPUS_ON_NODE=2 SLURM_STEP_GPUS=0,1 SLURM_JOB_GPUS=0,1,2,3)
    tasks '0 1 2 3' taskset -c 0 "$rollcall" show
    [ "$(grep -cE '^[0-3] .* 2 of 4: [01] +1 of 16384: 0 +192\.0\.2\.1:[0-9]+ +RC906$' "$BATS_TEST_TMPDIR/0.out")" = 4 ]
    grep -qx "warning RC906: the step has 2 of the job's 4 GPUs on this node, for 4 tasks; use srun --gpus-per-node=4" \
        <(tr -s ' \n' ' ' < "$BATS_TEST_TMPDIR/0.out" | grep -oE 'warning RC906.*per-node=4')
    tasks 1 taskset -c 0 "$rollcall" show --json
    [ "$(jq -c .got "$BATS_TEST_TMPDIR/1.out")" = '{"cpus":1,"cpus_promised":16384,"gpus":2,"job_gpus":4}' ]
    # of a recorded environment nothing tells the mask; and where the job promised nothing, the list is as it was
    as_file "${task_3[@]}"
    run -0 --separate-stderr "$rollcall" show --json --from "$BATS_TEST_TMPDIR/task.env"
    [ "$(jq -c .got <<< "$output")" = null ]
    more=()
    tasks 1 "$rollcall" show --json
    [ "$(jq -c '[.got[]]' "$BATS_TEST_TMPDIR/1.out" | sed 's/^.[0-9]*/[N/')" = '[N,null,null,null]' ]
}

@test "show where rollcall is switched off: each task's line says that nothing is set, and never ok" {
    more=(ROLLCALL=off)
    tasks '0 1 2 3' "$rollcall" show
    [ "$(head -n 1 "$BATS_TEST_TMPDIR/0.out")" = 'Slurm (srun), 43.1: 4 tasks on 1 node, mode none: switched off' ]
    [ "$(grep -c '^[0-9] .* nothing is set$' "$BATS_TEST_TMPDIR/0.out")" = 4 ]
    run ! grep -qw ok "$BATS_TEST_TMPDIR/0.out"
}

@test "show: what is wrong is a word in the task's line, and a line below" {
    more=(RANK=7 WORLD_SIZE=9 SLURM_STEP_TASKS_PER_NODE=4 ROLLCALL=check=strict)
    tasks '0 1 2 3' "$rollcall" show --ddp=nproc=2 || true
    cat "$BATS_TEST_TMPDIR/0.out"
    id=$(grep -oE 'RC[0-9]{3}$' "$BATS_TEST_TMPDIR/0.out" | head -n 1)
    [ "$(grep -c "^[0-9] .* $id\$" "$BATS_TEST_TMPDIR/0.out")" = 4 ]
    [ "$(grep -cE "^(warning|error) $id: " "$BATS_TEST_TMPDIR/0.out")" = 1 ]
}

@test "show: what exec refuses for rank 0's address or port -> the same error, and status 1" {
    local port want variable option
    more=()
    python3 -c 'import signal, socket
s = socket.socket(); s.bind(("", 0)); s.listen(1); print(s.getsockname()[1], flush=True); signal.pause()' \
        > "$BATS_TEST_TMPDIR/port" 3>&- &
    server_pid=$! # ended by teardown
    until read -r port < "$BATS_TEST_TMPDIR/port"; do kill -0 "$server_pid"; sleep 0.1; done
    while IFS='|' read -r want variable option; do
        run -1 --separate-stderr with "${task_0[@]}" "$own_job" $variable "$rollcall" exec $option -- true
        grep -q "^rollcall: error $want: " <<< "$stderr"
        run -1 with "${task_0[@]}" "$own_job" $variable "$rollcall" show --rank 0 --json $option
        [ "$(jq -r '.messages[] | select(.level == "error").id' <<< "$output")" = "$want" ]
    done << END
RC405|MASTER_PORT=$port|
RC405||--ddp=port=$port
RC405||--ddp=alone,port=$port
RC407|MASTER_ADDR=203.0.113.9|
END
    run -1 with "${agent_0[@]}" "$own_job" "$rollcall" show --rank 0 --ddp=launcher,port="$port"
    grep -q 'error RC405: ' <<< "$output"
    # of a range, another port is free; and a task that is not rank 0 holds none
    run -0 with "${task_0[@]}" "$own_job" "$rollcall" show --ddp=alone,port="$port"-65535
    run -0 with "${task_3[@]}" "$own_job" MASTER_PORT="$port" "$rollcall" show --rank 3
}

@test "show before the start: one note on the port and on the nodes; none for a port that is given" {
    more=()
    tasks '0 1 2 3' "$rollcall" show
    [ "$(grep -x 'note: .*' "$BATS_TEST_TMPDIR/0.out")" = 'note: at start rank 0 may take another free port' ]
    tasks '0 1 2 3' "$rollcall" show --ddp=port=24001
    run ! grep note "$BATS_TEST_TMPDIR/0.out"
    run -0 with "${task_0[@]}" "$own_job" "$rollcall" show --rank 0 --ddp=exchange=off,port=24001
    [ "$(grep -c 'the nodes were not compared, which srun --ddp does at start' <<< "$(tr -s ' \n' ' ' <<< "$output")")" = 1 ]
}

@test "show in a job without GPUs: the node's GPUs are not the task's" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    more=()
    tasks '0 1 2 3' env -u CUDA_VISIBLE_DEVICES unshare --mount sh -c 'mount -t tmpfs none /mnt && : > /mnt/null && : > /mnt/nvidia0 &&
        : > /mnt/nvidia1 && mount --bind /mnt /dev && exec "$0" show' "$rollcall"
    run ! grep -qw GPU "$BATS_TEST_TMPDIR/0.out"
}

@test "in one task of several: its own line or report, with its rank, after some seconds; --rank and --json at once" {
    local rank
    more=()
    for rank in 0 2; do
        tasks $rank "$rollcall" show
        grep -qx '1 of 4 tasks answered; the others timed out, or are printed separately' "$BATS_TEST_TMPDIR/$rank.out"
        grep -qxE "$rank +[^ ]+ +$rank +$rank +[0-9,-]+ +192.0.2.1:[0-9]+ +ok" "$BATS_TEST_TMPDIR/$rank.out"
    done
    tasks 2 "$rollcall" show --long
    grep -qx "rank 2 on $(hostname):" "$BATS_TEST_TMPDIR/2.out"
    tasks '0 1 2 3' timeout 4 "$rollcall" show --rank 1
    grep -qE '^  rank +1 +SLURM_PROCID$' "$BATS_TEST_TMPDIR/1.out"
    [ "$(cat "$BATS_TEST_TMPDIR"/[023].out "$BATS_TEST_TMPDIR"/?.err)" = '' ]
    tasks 1 timeout 4 "$rollcall" show --json
    [ "$(jq .identity.rank "$BATS_TEST_TMPDIR/1.out")" = 1 ]
    fails_with 2 '--rank=one is no rank' "$rollcall" show --rank one
    tasks '0 1 2 3' timeout 4 sh -c '"$0" show --rank 4; [ $? = 2 ]' "$rollcall"
    prints 'rollcall: --rank=4: the ranks of this launch are 0 to 3' cat "$BATS_TEST_TMPDIR"/?.out "$BATS_TEST_TMPDIR"/?.err
}

@test "each subcommand in a launch of several tasks: one report, headed by ranks and node, printed once" {
    local words titles
    more=()
    cd "$BATS_TEST_TMPDIR"
    echo 'import torch' > train.py
    while IFS='|' read -r words titles; do
        tasks '3 1 0 2' sh -c '"$0" "$@" || [ $? != 2 ]' "$rollcall" $words
        [ "$(cat "$BATS_TEST_TMPDIR"/[123].out "$BATS_TEST_TMPDIR"/?.err)" = '' ]
        [ "$(head -n 1 "$BATS_TEST_TMPDIR/0.out")" = 'Slurm (srun), 43.1: 4 tasks on 1 node, mode worker' ]
        [ "$(sed -nE "s/^(ranks? [0-9-]+) on $(hostname):\$/\1/p" "$BATS_TEST_TMPDIR/0.out" | paste -sd,)" = "$titles" ]
    done << 'END'
show --long|rank 0
show --why|rank 0
show --all|rank 0,rank 1,rank 2,rank 3
map|rank 0
doctor|ranks 0-3
doctor --all|rank 0,rank 1,rank 2,rank 3
doctor train.py|ranks 0-3
explain RC301|ranks 0-3
END
}

@test "a report of ranks that take turns on two nodes names each node once" {
    [ "$(id -u)" = 0 ] || skip 'needs root'
    more=()
    tasks '0 1 2 3' unshare --uts sh -c 'hostname "n$((SLURM_PROCID % 2 + 1))"; exec "$0" explain RC301' "$rollcall"
    grep -qx 'ranks 0-3 on n\[1-2\]:' "$BATS_TEST_TMPDIR/0.out"
}

@test "doctor in a launch of several tasks: the worst report first, equal ones once, each with its verdict" {
    local own=$BATS_TEST_TMPDIR/own warning=$BATS_TEST_TMPDIR/warning
    more=()
    tasks '0 1 2 3' sh -c '[ $SLURM_PROCID != 2 ] || export NCCL_SOCKET_IFNAME=ib; "$0" doctor || [ $? != 2 ]' "$rollcall"
    sed -n '/^ranks 0-1,3 /,$p' "$BATS_TEST_TMPDIR/0.out" > "$own"
    sed -n '/^rank 2 /,/^ranks /p' "$BATS_TEST_TMPDIR/0.out" > "$warning"
    [ "$(grep -E '^ranks? ' "$BATS_TEST_TMPDIR/0.out")" = "rank 2 on $(hostname):"$'\n'"ranks 0-1,3 on $(hostname):" ]
    [ "$(grep -c '^warning RC425' "$warning")" = 1 ]
    [ "$(grep -c '^verdict  ' "$warning")" = 1 ]
    run ! grep RC425 "$own"
    [ "$(grep -c '^verdict  ' "$own")" = 1 ]
}

@test "more than 16 different reports: the others are counted; --all prints each" {
    local ids
    ids=$("$rollcall" explain --list | head -n 18 | cut -d' ' -f1)
    more=(SLURM_STEP_NUM_TASKS=20 SLURM_NTASKS=20 SLURM_STEP_TASKS_PER_NODE=20 "SLURM_GTIDS=$(seq -s, 0 19)")
    tasks "$(seq -s' ' 0 19)" bash -c '"$0" explain "${@:SLURM_PROCID % 18 + 1:1}"' "$rollcall" $ids
    [ "$(grep -cE '^ranks? ' "$BATS_TEST_TMPDIR/0.out")" = 16 ]
    [ "$(tail -n 1 "$BATS_TEST_TMPDIR/0.out")" = '2 more reports differ: --rank N prints one of them, --all each' ]
    tasks "$(seq -s' ' 0 19)" "$rollcall" show --all
    [ "$(sed -n 's/^rank \([0-9]*\) on .*/\1/p' "$BATS_TEST_TMPDIR/0.out" | paste -sd' ')" = "$(seq -s' ' 0 19)" ]
}

@test "nodes that cannot meet: each prints its own, in turn, and says what would show all" {
    local node
    run -0 with "${agent_0[@]}" "$rollcall" show < /dev/null
    [ "${lines[1]}" = "1 task on $(hostname); each node prints a table of its tasks: for one table of all nodes" ]
    more=(SLURM_STEP_NUM_TASKS=8 SLURM_NTASKS=8 SLURM_STEP_NUM_NODES=2 SLURM_NNODES=2 'SLURM_STEP_TASKS_PER_NODE=4(x2)'
        'SLURM_STEP_NODELIST=192.0.2.[1-2]')
    for node in 0 1; do
        more+=(SLURM_NODEID=$node)
        [ $node = 0 ] || more+=(OFFSET=4)
        tasks '2 0 3 1' sh -c 'SLURM_PROCID=$((SLURM_PROCID + ${OFFSET:-0})) exec env "SLURM_GTIDS=$(seq -s, ${OFFSET:-0} $((${OFFSET:-0} + 3)))" "$0" show' "$rollcall"
        grep -qx "4 tasks on $(hostname); each node prints a table of its tasks: for one table of all nodes" \
            "$BATS_TEST_TMPDIR/0.out"
        grep -qx 'use srun --mpi=pmix or srun --ddp (rollcall exec needs neither)' "$BATS_TEST_TMPDIR/0.out"
        [ "$(awk '/ ok$/ { print $1 }' "$BATS_TEST_TMPDIR/0.out" | paste -sd,)" = "$(seq -s, $((4 * node)) $((4 * node + 3)))" ]
    done
}
