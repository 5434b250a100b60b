#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# jax.bats - row M7: jax.distributed.initialize() without arguments, on the nodes and GPUs of the tasks.

# bats file_tags=all

load helpers

setup_file()
{
    needs_root || return 0
    python_of large
    cluster_up --nodes 2 --cpus 8 --gpus 2 --mpi pmix
    printf '%s\n' n2 n1 n1 n2 > "$shared/hosts"
}

jax=(python "$ours/jax_roll.py")

@test "srun --ddp: the same ranks" {
    attempt 90 srun --ddp -N2 --ntasks-per-node=2 "${jax[@]}"
    everybody ranks n1=0,1 n2=2,3
    [ "$(grep -c ' sum=6 ' "$out")" -eq 4 ]
}

@test "srun --ddp -m arbitrary: JAX_COORDINATOR_ADDRESS is rank 0's node" {
    attempt 90 env SLURM_HOSTFILE="$shared/hosts" srun --ddp -m arbitrary -n4 "${jax[@]}"
    everybody ranks n1=1,2 n2=0,3
}

# Each is there for long enough to meet the other.
@test "srun --ddp: two steps of one job at the same time" {
    attempt 120 salloc -N2 --ntasks-per-node=2 sh -c '
        export HOLD=8
        srun --ddp --overlap --ntasks-per-node=2 "$@" & first=$!
        srun --ddp --overlap --ntasks-per-node=2 "$@"; second=$?
        wait $first && exit $second' sh "${jax[@]}"
    succeeded
    for rank in 0 1 2 3; do
        [ "$(grep -c " rank=$rank world=4 seen=0,1,2,3 .* sum=6 " "$out")" -eq 2 ]
    done
}

@test "mpirun inside a job, from a node without ranks" {
    trains 90 salloc -N2 --ntasks-per-node=2 \
        mpirun -np 4 --map-by ppr:2:node rollcall exec -- "${jax[@]}"
}

@test "mpirun without Slurm" {
    from=n1 trains 90 mpirun "${over_rsh[@]}" -np 4 rollcall exec -- "${jax[@]}"
}

@test "one task a node with two GPUs: JAX takes both" {
    attempt 90 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 "${jax[@]}"
    succeeded
    [ "$(grep -c ' world=2 .* devices=0,1 ' "$out")" -eq 2 ]
}

@test "tasks that see their own GPU only: JAX takes each task's own" {
    # all of the step's, of which the own one has the local rank's number
    attempt 90 srun --ddp -N2 --ntasks-per-node=2 --gpus-per-task=1 "${jax[@]}"
    succeeded
    [ "$(grep -c ' world=4 .* devices=0 ' "$out")" -eq 2 ]
    [ "$(grep -c ' world=4 .* devices=1 ' "$out")" -eq 2 ]
    attempt 90 srun --ddp=gpus=own -N2 --ntasks-per-node=2 --gpus-per-task=1 "${jax[@]}"
    succeeded
    [ "$(grep -c ' world=4 .* devices=0 ' "$out")" -eq 4 ]
}

@test "the user's own values stay" {
    attempt 60 env JAX_COORDINATOR_ADDRESS=store:1234 JAX_LOCAL_DEVICE_IDS=5 \
        srun --ddp -N2 --ntasks-per-node=2 --gpus-per-task=1 --label \
        sh -c 'echo $JAX_COORDINATOR_ADDRESS $JAX_LOCAL_DEVICE_IDS'
    succeeded
    [ "$(grep -c ': store:1234 5$' "$out")" -eq 4 ]
}

# srun --ddp starts a task with two GPUs, mpirun in it two tasks with both.
@test "what a launch further outside has set does not stay" {
    cat > "$shared/script" <<'SCRIPT'
echo outer $JAX_LOCAL_DEVICE_IDS
mpirun --oversubscribe -np 2 rollcall exec -- \
    sh -c 'echo "inner $MASTER_PORT $JAX_COORDINATOR_ADDRESS ids=$JAX_LOCAL_DEVICE_IDS"'
SCRIPT
    attempt 60 srun --ddp=launcher -N1 -n1 --gpus-per-node=2 bash "$shared/script"
    succeeded
    said '^outer 0,1$'
    [ "$(grep -cE '^inner [0-9]+ [^ ]+:[0-9]+ ids=$' "$out")" -eq 2 ]
    while read -r _ port address _; do
        [ "${address##*:}" -eq $((port + 1)) ]
    done < <(grep '^inner' "$out")
}

@test "--ddp=alone: in a job of eight tasks, under srun and under mpirun JAX is one process with all its GPUs" {
    batch 120 -N2 --ntasks=8 <<< "rollcall exec --ddp=alone -- ${jax[*]}"
    everybody ranks world=1 nodes=1
    attempt 120 srun --ddp=alone -N1 -n1 --gpus-per-node=2 "${jax[@]}"
    everybody ranks world=1 nodes=1
    said ' devices=0,1 '
    attempt 120 salloc -N2 --ntasks-per-node=1 mpirun -np 1 rollcall exec --ddp=alone -- "${jax[@]}"
    everybody ranks world=1 nodes=1
}
