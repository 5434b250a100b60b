#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# large.bats - launches of many nodes, and numbers as large as launchers write them.

load helper

# shown WANTED ENV...: rank, world size and number of nodes as `rollcall show` has them
shown()
{
    wanted=$1
    shift
    run -0 with_names "192.0.2.1 ${wanted##* }" "$@" timeout 10 "$rollcall" show --json
    python3 -c 'import json, sys
shown = json.loads(sys.stdin.read())
print(*(shown["identity"][name] for name in ("rank", "world_size", "nnodes")), shown["master"]["addr"])' \
        <<< "$output" > "$BATS_TEST_TMPDIR/shown"
    [ "$(cat "$BATS_TEST_TMPDIR/shown")" = "$wanted" ] || { cat "$BATS_TEST_TMPDIR/shown"; echo "$output"; return 1; }
}

# Version 5 has a table of network cards, the largest, which comes last.
@test "PALS_APINFO of 5,000 nodes x 12, with 8 network cards a node: each task has its place" {
    python3 - "$BATS_TEST_TMPDIR/apinfo" <<'PYTHON'
import struct, sys

nodes, each, cards = 5000, 12, 8 * 112
tasks = b"".join(struct.pack("<III", local, 0, node) for node in range(nodes) for local in range(each))
names = b"".join(struct.pack("<I64s", node, b"192.0.2.1" if node == 0 else b"n%d" % node) for node in range(nodes))
head = 256
header = struct.pack("<I60xQQIIQQI", 5, 12, head, nodes * each, 0, 68, head + len(tasks), nodes)
with open(sys.argv[1], "wb") as file:
    file.write(header.ljust(head, b"\0") + tasks + names + bytes(cards * nodes))
    # and more than is read of a file: the tables are before that
    file.truncate(32 << 20)
PYTHON
    shown '59999 60000 5000 192.0.2.1' PALS_APINFO="$BATS_TEST_TMPDIR/apinfo" PALS_APID=6d9a-7 PALS_RANKID=59999 PALS_NODEID=4999 \
        PALS_LOCAL_RANKID=11 PALS_LOCAL_SIZE=12 PMI_SIZE=60000 PMI_RANK=59999
}

@test "PBS_NODEFILE of 20,000 long names: each task has its place" {
    seq -f 'a-compute-node-with-a-long-name-%.0f.cluster.example.org' 0 19999 > "$BATS_TEST_TMPDIR/nodes"
    shown '19998 20000 20000 a-compute-node-with-a-long-name-0.cluster.example.org' PBS_JOBID=7.pbs PBS_NODENUM=19998 \
        PBS_TASKNUM=00000001 PBS_NODEFILE="$BATS_TEST_TMPDIR/nodes"
}

@test "LSB_MCPU_HOSTS of 12,000 hosts: each task has its place" {
    shown '23999 24000 12000 n0' LSB_JOBID=7 LSF_PM_TASKID=24000 LSB_DJOB_NUMPROC=24000 \
        LSB_MCPU_HOSTS="$(seq -s ' ' -f 'n%.0f 2' 0 11999)"
}

@test "SLURM_STEP_NODELIST of 15,000 names without a range: each task has its place" {
    hosts=$(seq -s , -f 'n%.0fx' 0 14999)
    shown '14999 15000 15000 n0x' SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=14999 SLURM_LOCALID=0 SLURM_NODEID=14999 \
        SLURM_STEP_NUM_TASKS=15000 SLURM_STEP_NUM_NODES=15000 'SLURM_STEP_TASKS_PER_NODE=1(x15000)' \
        SLURM_STEP_NODELIST="$hosts" SLURM_DISTRIBUTION=block SLURM_JOB_NODELIST="$hosts"
}

@test "SLURM_JOB_ID of a federation, and the largest step: a task; NO_VAL is no id" {
    for id in 2214592513 4294967293; do
        shown '3 4 2 192.0.2.1' "${task_3[@]}" SLURM_JOB_ID=$id SLURM_STEP_ID=4294967279
    done
    run env "${task_3[@]}" SLURM_JOB_ID=4294967294 "$rollcall" show --json
    [[ $output == *"RC101"* ]]
}

# AMD's spur says the tasks of a node without a repeat, sets no SLURM_STEP_ name but the id, and LOCAL_RANK.
@test "SLURM_TASKS_PER_NODE without a repeat: the tasks of each node; a wrong one is named" {
    spur=(SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_PROCID=5 SLURM_LOCALID=1 SLURM_NODEID=1 SLURM_NTASKS=8 SLURM_NNODES=2
        SLURM_NODELIST='192.0.2.[1-2]' LOCAL_RANK=1 SLURM_DISTRIBUTION=block)
    shown '5 8 2 192.0.2.1' "${spur[@]}" SLURM_TASKS_PER_NODE=4
    run env "${spur[@]}" SLURM_TASKS_PER_NODE=3 "$rollcall" show --json
    [[ $output == *"SLURM_TASKS_PER_NODE '3' has 3 tasks on 1 nodes, but SLURM_NTASKS is 8"* ]]
    run env "${spur[@]}" SLURM_TASKS_PER_NODE=x "$rollcall" show --json
    [[ $output == *"SLURM_TASKS_PER_NODE is 'x'"* ]]
    run env "${spur[@]}" SLURM_TASKS_PER_NODE=4 SLURM_NODELIST=n1 "$rollcall" show --json
    [[ $output == *"SLURM_NODELIST is 'n1'"* ]]
}

# CUDA sees one of them in a process.
@test "MIG slices that are given as indices: each task sees its own one, as device 0" {
    one=("${step[@]}" SLURM_STEP_NUM_TASKS=4 SLURM_STEP_NUM_NODES=1 SLURM_STEP_TASKS_PER_NODE=4 SLURM_NTASKS=4 SLURM_NNODES=1
        SLURM_STEP_NODELIST=192.0.2.1 SLURM_PROCID=2 SLURM_LOCALID=2 SLURM_NODEID=0 SLURM_GTIDS=0,1,2,3
        CUDA_VISIBLE_DEVICES=0,1,2,3 SLURM_GPUS_ON_NODE=4)
    for type in SLURM_GPUS_PER_NODE=1g.10gb:4 SLURM_GPUS=a100_3g.20gb:4 SLURM_TRES_PER_TASK=gres/gpu:1g.5gb:1; do
        run -0 env "${one[@]}" "$type" "$rollcall" exec -- sh -c 'echo $LOCAL_RANK $CUDA_VISIBLE_DEVICES'
        [ "$output" = '0 2' ]
    done
    run -0 env "${one[@]}" SLURM_GPUS_PER_NODE=a100:4 "$rollcall" exec -- sh -c 'echo $LOCAL_RANK $CUDA_VISIBLE_DEVICES'
    [ "$output" = '2 0,1,2,3' ]
}
