#!/usr/bin/env bats
# doctor.bats - rollcall doctor in steps of a real Slurm: nothing on a healthy one, and what is wrong with others.

# bats file_tags=series

# shellcheck disable=SC2154 # shared, out, err and status come from helpers.bash

load helpers

setup_file()
{
    cluster_up --nodes 2 --cpus 4 --gpus 2 --mpi pmix
}

teardown_file()
{
    cluster_down
}

# finds N 'LINE': as many of its verdicts say so
finds()
{
    [ "$(grep -cxF "verdict   $2" "$out")" -eq "$1" ] || explain "no $1 verdicts '$2'"
}

@test "healthy steps, from each task, and the login node: nothing is found" {
    attempt 60 srun --ddp -N2 --ntasks-per-node=2 --gpus-per-node=2 rollcall doctor
    succeeded
    finds 4 'nothing found'
    said '^roll +2 of 2 nodes have answered$'
    unsaid 'D[0-9]|RC[0-9]'
    attempt 60 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 rollcall doctor
    succeeded
    finds 2 'nothing found'
    attempt 30 rollcall doctor
    succeeded
    said '^Slurm +[0-9.]+, with --ddp, --mpi: .*none'
}

@test "what is wrong with a step" {
    attempt 60 env NCCL_SOCKET_IFNAME=ib srun --ddp -N2 -n3 rollcall doctor
    failed
    finds 3 '1 error, 1 warning; begin with D204'
    said '^warning RC301'
    # the port is held by rank 0's task and somebody drops what comes for it
    attempt 60 srun --ddp -N2 --ntasks-per-node=1 sh -c '
        [ "$RANK" = 1 ] || exec rollcall doctor
        ip route add blackhole "$(getent ahostsv4 "$MASTER_ADDR" | { read -r address rest; echo "$address"; })/32"
        rollcall doctor
        ip route flush type blackhole
        exit 1'
    failed
    finds 1 'nothing found'
    said '^error D207'
}

@test "a job script, and the --mpi that its srun does not have" {
    printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=2' 'srun --ddp --mpi=pmix_v99 python train.py' > "$shared/job.sh"
    attempt 30 rollcall doctor --script "$shared/job.sh"
    failed
    said "^error D105  $shared/job.sh:3"
    finds 1 "1 error; begin with D105, $shared/job.sh:3"
}
