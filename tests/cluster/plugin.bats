#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# plugin.bats - what the plugin leaves alone: batch, extern and interactive steps, steps that did not ask; and
# the master port, which it holds.

# bats file_tags=series

load helpers

# With interactive steps, and with an extern step in every job.
cluster=(--nodes 2 --cpus 4 --gpus 2 --mpi pmix
    --conf LaunchParameters=use_interactive_step --conf PrologFlags=contain)

setup_file()
{
    needs_root || return 0
    # The same step on a cluster that never heard of the plugin, for the comparison below.
    plugin=no cluster_up "${cluster[@]}"
    environments > "$BATS_FILE_TMPDIR/without"
    cluster_down
    cluster_up "${cluster[@]}"
    environments > "$BATS_FILE_TMPDIR/with"
}

# The environments of the tasks of a plain srun, sorted, without what differs from step to step by nature:
# process ids, ports, the job's times and what is made of them, the cluster's name, and PMIx's own addresses and
# folders, which hold both.
by_nature='SLURM_TASK_PID|SLURM_SRUN_COMM_PORT|SLURM_STEP_LAUNCHER_PORT|SLURM_PMIXP_ABORT_AGENT_PORT'
by_nature+='|SLURM_JOB_START_TIME|SLURM_JOB_END_TIME|SLURM_JOB_SLUID'
by_nature+='|PMIX_SERVER_URI[0-9]*|PMIX_SERVER_TMPDIR|PMIX_DSTORE_[A-Z_0-9]+'
environments()
{
    login timeout $((30 * patience)) srun -N2 -n4 "$PYTHON" "$programs/environ.py" |
        sed -E "s/^([0-9]+ ($by_nature))=.*/\1/; s|$MINICLUSTER_NAME|CLUSTER|g" | sort
}

@test "a batch step gets nothing" {
    batch 30 --ddp -N2 -n4 <<< "$whoami"
    everybody nothing count=1
}

@test "salloc's own command gets nothing" {
    answers 'nothing count=1' 30 salloc --ddp -N2 -n4 "$whoami"
}

@test "an interactive step gets nothing" {
    # a shell on the job's first node, which salloc starts when it is given no command
    printf '%s\n' "$whoami" 'echo "step $SLURM_STEP_ID"' > "$BATS_TEST_TMPDIR/typed"
    status=0
    login env SHELL=/bin/bash timeout 30 salloc --ddp -N2 -n4 < "$BATS_TEST_TMPDIR/typed" > "$out" 2> "$err" 3>&- || status=$?
    everybody nothing count=1
    # 26.05 prints it as a signed number
    said '^step (4294967290|-6)$'
}

@test "an extern step gets nothing" {
    # the process that stands for it on the node of task 0: a sleep, or from 26.05 on slurmstepd itself
    succeeds 30 srun --ddp -N1 -n2 sh -c '
        [ "$SLURM_PROCID" = 0 ] || exit 0
        for process in /proc/[0-9]*; do
            read -r name < $process/comm || continue
            case "$name $(tr "\0" " " < $process/cmdline)" in
                "sleep "*100000000* | "slurmstepd "*.extern]*) ;;
                *) continue ;;
            esac
            echo "extern: $(tr "\0" "\n" < $process/environ |
                grep -cE "^(RANK|LOCAL_RANK|WORLD_SIZE|NODE_RANK|MASTER_ADDR|MASTER_PORT|ROLLCALL_SCOPE)=")"
        done'
    [ "$(grep extern: "$out" | sort -u)" = 'extern: 0' ] || explain "$(grep extern: "$out")"
}

@test "--help of srun, sbatch and salloc names the option" {
    local command
    for command in srun sbatch salloc; do
        succeeds 30 $command --help
        said '--ddp'
    done
}

@test "srun without --ddp: the tasks' environments are those of a cluster without the plugin" {
    [ "$(grep -c ' SLURM_PROCID=' "$BATS_FILE_TMPDIR/with")" -eq 4 ]
    diff "$BATS_FILE_TMPDIR/without" "$BATS_FILE_TMPDIR/with" >&2
}

@test "the preload and --ddp together: the same identity once" {
    identifies 90 env LD_PRELOAD="$preload" srun --ddp -N2 --ntasks-per-node=2 "$whoami"
}

# Tries to bind a port on a node, as a program does that knows nothing of the job.
bind_on()
{
    on "$1" "$PYTHON" -c '
import socket, sys
s = socket.socket()
s.bind(("", int(sys.argv[1])))
s.listen()' "$2"
}

@test "RANK 0 holds MASTER_PORT from before the program starts until it ends" {
    local pid port='' tries
    : > "$out"
    login timeout 100 srun --ddp -N2 -n4 \
        sh -c 'echo "$RANK: port $MASTER_PORT"; until [ -e "$0" ]; do sleep 0.1; done' "$shared/looked" \
        > "$out" 2> "$err" 3>&- < /dev/null &
    pid=$!
    for tries in {1..300}; do
        # RANK 0's own word: another task may begin before it
        port=$(sed -n 's/^0: port //p' "$out")
        [ -z "$port" ] || break
        sleep 0.1
    done
    status=0
    [ -n "$port" ] || explain "RANK 0 did not say its port after $tries tries"
    run ! bind_on n1 "$port"
    [[ $output == *"Address already in use"* ]]
    # the other node's port of that number is free: it is RANK 0's node that holds it
    bind_on n2 "$port"
    : > "$shared/looked"
    wait $pid
    bind_on n1 "$port"
}
