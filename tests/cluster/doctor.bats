#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# doctor.bats - rollcall doctor in steps of a real Slurm: nothing on a healthy one, and what is wrong with others.

load helpers
load faults

cluster=(--nodes 2 --cpus 4 --gpus 2 --mpi pmix)

# finds N 'LINE': as many of its verdicts say so
finds()
{
    [ "$(grep -cxF "verdict   $2" "$out")" -eq "$1" ] || explain "no $1 verdicts '$2'"
}

# bats test_tags=series
@test "healthy steps, from each task, and the login node: nothing is found" {
    succeeds 60 srun --ddp -N2 --ntasks-per-node=2 --gpus-per-node=2 rollcall doctor
    finds 4 'nothing found'
    said '^roll +2 of 2 nodes have answered$'
    unsaid 'D[0-9]|RC[0-9]'
    succeeds 60 srun --ddp -N2 --ntasks-per-node=1 --gpus-per-node=2 rollcall doctor
    finds 2 'nothing found'
    succeeds 30 rollcall doctor
    said '^Slurm +[0-9.]+, with --ddp, --mpi: .*none'
}

# bats test_tags=series
@test "what is wrong with a step" {
    fails 60 env NCCL_SOCKET_IFNAME=ib srun --ddp -N2 -n3 rollcall doctor
    finds 3 '1 error, 1 warning; begin with D204'
    said '^warning RC301'
    # the port is held by rank 0's task and somebody drops what comes for it
    fails 60 srun --ddp -N2 --ntasks-per-node=1 sh -c '
        [ "$RANK" = 1 ] || exec rollcall doctor
        ip route add blackhole "$(getent ahostsv4 "$MASTER_ADDR" | { read -r address rest; echo "$address"; })/32"
        rollcall doctor
        ip route flush type blackhole
        exit 1'
    finds 1 'nothing found'
    said '^error D207'
}

# firewall NODE TARGET...: what NODE does with a connection to a port of the user's range from now on
firewall()
{
    local node=$1
    shift
    on "$node" iptables -A INPUT -p tcp --dport 20001:20400 -j "$@"
}

needs_firewall()
{
    [ -z "${SERIES:-}" ] || skip "the nodes of another series have no iptables"
    on n1 iptables -A INPUT -p tcp --dport 1 -j REJECT --reject-with tcp-reset || skip "this kernel has no such firewall"
    on n1 iptables -F
    reached=(srun --ddp=port=20001-20400 -N2 --ntasks-per-node=2)
}

# bats test_tags=series
@test "another version of rollcall on one node" {
    faults_up
    inject n2 <<< "sed 's/^version=.*/version=0.0.9/' | exec \$real \"\$@\""
    attempt 60 srun --ddp -N2 --ntasks-per-node=1 rollcall doctor
    faults_end
    failed
    finds 1 'nothing found'
    finds 1 '1 warning; begin with RC608'
}

# bats test_tags=all,newest
@test "a firewall that drops, and one that looks like a port that is only held" {
    needs_firewall
    firewall n1 REJECT --reject-with tcp-reset
    attempt 60 "${reached[@]}" rollcall doctor
    on n1 iptables -F
    succeeded
    finds 4 'nothing found'
    firewall n1 DROP
    attempt 60 "${reached[@]}" rollcall doctor
    on n1 iptables -F
    failed
    finds 3 'nothing found'
    finds 1 '1 error; begin with D207'
    said 'cannot be reached from here'
}

# bats test_tags=series
@test "a job script, and the --mpi that its srun does not have" {
    printf '%s\n' '#!/bin/bash' '#SBATCH -N 2 --ntasks-per-node=2' 'srun --ddp --mpi=pmix_v99 python train.py' > "$shared/job.sh"
    fails 30 rollcall doctor --script "$shared/job.sh"
    said "^error D105  $shared/job.sh:3"
    finds 1 "1 error; begin with D105, $shared/job.sh:3"
}

# Open MPI 4 is refused loudly or works; from 5 on each task would be a world of one.
# bats test_tags=series
@test "an MPI program for srun without PMIx, with the Open MPI that is here" {
    local line=(srun -N2 --ntasks-per-node=2)
    echo 'from mpi4py import MPI' > "$shared/train.py"
    attempt 30 rollcall doctor "$shared/train.py" -- "${line[@]}" --mpi=none python train.py
    if login mpirun --version | grep -q 'Open MPI) 4'; then
        succeeded
    else
        failed
        said '^warning D108'
    fi
    # Slurm's default
    attempt 30 rollcall doctor "$shared/train.py" -- "${line[@]}" python train.py
    if [ "$mpi" = pmix ]; then
        succeeded
    else
        failed
        said '^ +change +mpirun'
    fi
}
