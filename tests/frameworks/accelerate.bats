#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# accelerate.bats - row M7: Accelerate, a script under python and under accelerate launch.

load helpers

setup_file()
{
    needs_root || return 0
    python_of small
    cluster_up --nodes 2 --cpus 4 --gpus 2 --mpi pmix
}

@test "srun --ddp, one process a worker" {
    trains 90 srun --ddp -N2 --ntasks-per-node=2 python "$ours/accelerate_train.py"
    [ "$(grep -c ' same=True ' "$out")" -eq 4 ]
}

# bats test_tags=all
@test "mpirun inside a job, one process a worker" {
    trains 90 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- python "$ours/accelerate_train.py"
}

# configured: $HF_HOME, whose configuration is what `accelerate config` writes, for two workers a node
configured()
{
    export HF_HOME=$shared/huggingface
    mkdir -p "$HF_HOME/accelerate"
    printf '%s\n' 'compute_environment: LOCAL_MACHINE' 'distributed_type: MULTI_GPU' 'num_machines: 1' \
        'num_processes: 2' 'gpu_ids: all' 'mixed_precision: "no"' 'same_network: true' \
        > "$HF_HOME/accelerate/default_config.yaml"
}

# Where GPUs are, their number is in no need of a configuration.
@test "the job template of docs/jobs: accelerate launch, one task a node, all of the rest from the environment" {
    configured
    work=$shared/work
    mkdir -p "$work"
    cp "$ours/accelerate_train.py" "$work/train.py"
    submit_text < "$tree/docs/jobs/accelerate.sbatch"
    everybody ranks world=4 nodes=2
    [ "$(grep -c ' same=True ' "$out")" -eq 4 ]
}

# bats test_tags=all
@test "the same twice on the same nodes at once: two launches never share accelerate's port" {
    configured
    attempt 120 salloc -N2 --ntasks-per-node=1 --cpus-per-task=4 --gpus-per-node=2 bash -c '
        for i in 1 2; do
            srun --ddp --exact -c1 --gpus-per-node=0 accelerate launch "$0" > "$1.$i" &
        done
        wait' "$ours/accelerate_train.py" "$shared/twice"
    for out in "$shared/twice.1" "$shared/twice.2"; do
        everybody ranks world=4 nodes=2
    done
}

# bats test_tags=all
@test "accelerate launch with a port of the user's own takes torchrun's other arguments from the environment" {
    trains 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 sh -c \
        'exec accelerate launch --multi_gpu --num_processes 2 --main_process_port $MASTER_PORT "$0"' \
        "$ours/accelerate_train.py"
    [ "$(grep -c ' same=True ' "$out")" -eq 4 ]
}

# The other line of the manual's.

# bats test_tags=all
@test "accelerate launch with num_machines in its configuration: the line with all of its arguments" {
    trains 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 sh -c \
        'exec accelerate launch --multi_gpu --num_machines $PET_NNODES \
            --num_processes $((PET_NNODES * PET_NPROC_PER_NODE)) --machine_rank $NODE_RANK \
            --main_process_ip $MASTER_ADDR --main_process_port $MASTER_PORT "$0"' "$ours/accelerate_train.py"
}

# config MACHINES LINE...: $shared/config.yaml, as accelerate config writes it, for two workers a machine
config()
{
    printf '%s\n' 'compute_environment: LOCAL_MACHINE' 'distributed_type: MULTI_GPU' "num_machines: $1" \
        "num_processes: $((2 * $1))" 'gpu_ids: all' 'mixed_precision: "no"' 'same_network: true' "${@:2}" \
        > "$shared/config.yaml"
}

# bats test_tags=all
@test "accelerate launch --config_file in a script: one machine in the file, or two and the rank as an option -> all train" {
    printf '#!/bin/sh\nexec accelerate launch --config_file %s "$@" %s\n' "$shared/config.yaml" \
        "$ours/accelerate_train.py" > "$shared/run.sh"
    chmod 755 "$shared/run.sh"
    config 1
    trains 90 srun --ddp -N2 --ntasks-per-node=1 "$shared/run.sh"
    trains 90 srun -N2 --ntasks-per-node=1 rollcall exec -- "$shared/run.sh"
    config 2 'machine_rank: 0' 'main_process_ip: n1' 'main_process_port: 29512'
    trains 90 srun --ddp -N2 --ntasks-per-node=1 sh -c '"$0" --machine_rank $NODE_RANK' "$shared/run.sh"
}

# $SLURM_NODEID expanded in a batch script: both machines are number 0, and wait for each other without a word of
# accelerate's.
# bats test_tags=all
@test "accelerate launch with the same --machine_rank on all nodes is named at once, with what helps" {
    attempt 20 timeout 15 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 accelerate launch --multi_gpu \
        --num_machines 2 --num_processes 4 --machine_rank 0 --main_process_ip n1 --main_process_port 29511 \
        "$ours/accelerate_train.py"
    [ "$status" -ne 0 ]
    ! grep -q '^ROLL ' "$out" || explain "a machine 0 too many trains"
    said "RC312: accelerate was given --machine_rank='0', but it is the same on all 2 nodes of this step; it is not started; leave accelerate's numbers and address out: accelerate launch --multi_gpu "
}

# Nothing is wrong with a port of one's own: all nodes have the same word of it.
# bats test_tags=all
@test "accelerate launch with a rank expanded on each node, and a port of its own, trains without a warning" {
    trains 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 sh -c \
        'exec accelerate launch --multi_gpu --num_machines 2 --num_processes 4 --machine_rank $NODE_RANK \
            --main_process_ip n1 --main_process_port 29511 "$0"' "$ours/accelerate_train.py"
    unsaid RC304
}

@test "--ddp=alone: in a job of eight tasks, under mpirun and under srun Accelerate is one process" {
    batch 120 -N2 --ntasks=8 <<< "rollcall exec --ddp=alone -- python $ours/accelerate_train.py"
    everybody ranks world=1 nodes=1
    attempt 120 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 2 sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || exec "$@"' sh \
        rollcall exec --ddp=alone -- python "$ours/accelerate_train.py"
    everybody ranks world=1 nodes=1
    attempt 120 srun --ddp=alone -n1 python "$ours/accelerate_train.py"
    everybody ranks world=1 nodes=1
}
